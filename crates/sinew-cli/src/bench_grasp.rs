//! `sinew bench grasp`: seeded grasps with badly aimed fingers, of bone and tissue and of bare bone (OP 7).
//!
//! Even seeds take the block, odd ones the cylinder. A grasp holds when the object comes up with the wrist (0.3 m within
//! 1 cm: the pads give way a little) and then does not move against the fingers by a millimetre.

use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Table, ms};
use crate::screen::screen;
use serde::Serialize;
use sinew_scene::gallery::grasp::{Finger, Grasp, Object, Outcome, play};
use sinew_scene::validate::tools::num;
use std::io::Write;
use std::time::Instant;

/// The word for it.
pub const GRASP: &str = "grasp";

/// One line of the tables, as JSON.
#[derive(Serialize)]
pub struct GraspRun {
    scene: &'static str,
    finger: &'static str,
    object: &'static str,
    trials: u64,
    held: u64,
    dropped: u64,
    /// Median and largest slip of those that came up [mm].
    slip_mm: [f64; 2],
    /// Force of the fingers by the weight, of those that were held: least and largest.
    carried: [f64; 2],
    /// Mean time of a step of 5 ms [ms].
    ms: f64,
    /// Seeds that did not hold.
    lost: Vec<u64>,
}

/// Plays all trials with each finger.
pub fn measure(trials: u64, seconds: f64) -> Result<Vec<GraspRun>, Failure> {
    let mut runs = Vec::new();
    for (finger, name) in [(Finger::Elastic, "combined"), (Finger::Bare, "rigid")] {
        for (parity, (object, what)) in
            [(Object::Block, "block"), (Object::Cylinder, "cylinder")].into_iter().enumerate()
        {
            let seeds = (0..trials).filter(|seed| seed % 2 == parity as u64);
            runs.push(row((finger, name), (object, what), seeds, seconds)?);
        }
    }
    Ok(runs)
}

fn row(
    (finger, name): (Finger, &'static str),
    (object, what): (Object, &'static str),
    seeds: impl Iterator<Item = u64>,
    seconds: f64,
) -> Result<GraspRun, Failure> {
    let (mut outcomes, mut lost, mut steps) = (Vec::new(), Vec::new(), 0u64);
    let clock = Instant::now();
    for seed in seeds {
        if interrupt::requested() {
            break;
        }
        let outcome = play(&Grasp::random(seed, object, finger), seconds, |_| steps += 1)?;
        if !outcome.holds() {
            lost.push(seed);
        }
        outcomes.push(outcome);
    }
    let ms = 1e3 * clock.elapsed().as_secs_f64() / steps.max(1) as f64;
    let count = |pick: fn(&Outcome) -> bool| outcomes.iter().filter(|o| pick(o)).count() as u64;
    let mut slips: Vec<f64> = outcomes.iter().filter(|o| !o.dropped()).map(|o| 1e3 * num(o.slip)).collect();
    slips.sort_by(f64::total_cmp);
    let carried = outcomes.iter().filter(|o| o.holds()).map(|o| num(o.carried));
    let carried = carried.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], c| [low.min(c), high.max(c)]);
    Ok(GraspRun {
        scene: GRASP,
        finger: name,
        object: what,
        trials: outcomes.len() as u64,
        held: count(Outcome::holds),
        dropped: count(Outcome::dropped),
        slip_mm: [slips.get(slips.len() / 2), slips.last()].map(|s| s.copied().unwrap_or(0.0)),
        carried: carried.map(|c| if c.is_finite() { c } else { 0.0 }),
        ms,
        lost,
    })
}

/// The tables for people, one for each kind of finger.
pub fn tell(runs: &[GraspRun]) -> Result<(), Failure> {
    let mut out = screen();
    for name in ["combined", "rigid"] {
        let head =
            ["fingers", "object", "trials", "held", "dropped", "slip, mm", "largest", "force/weight", "ms a step"];
        let mut table = Table::with_head(2, head.to_vec());
        for run in runs.iter().filter(|r| r.finger == name) {
            let share = |n: u64| format!("{n} ({:.1}%)", 100.0 * n as f64 / run.trials.max(1) as f64);
            let carried = format!("{:.4} to {:.4}", run.carried[0], run.carried[1]);
            let mut cells = vec![name.to_owned(), run.object.to_owned(), run.trials.to_string()];
            cells.extend([share(run.held), share(run.dropped)]);
            cells.extend(run.slip_mm.map(|s| format!("{s:.3}")));
            cells.extend([carried, ms(run.ms)]);
            table.row(cells);
        }
        table.write(&mut out)?;
        for run in runs.iter().filter(|r| r.finger == name && !r.lost.is_empty() && r.held > 0) {
            writeln!(out, "{name} {}: not held {:?}", run.object, run.lost)?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "each finger turned by up to 15 degrees and shifted by up to 10 mm; friction 0.5 to 1, 0.1 to 0.5 kg, 10 N"
    )?;
    out.flush()?;
    Ok(())
}
