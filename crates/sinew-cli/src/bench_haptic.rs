//! `sinew bench haptic`: the loop of 1 kHz in real time beside the physics of the scenes with tools, and the bare loop in
//! every other second.

use crate::failure::Failure;
use crate::haptic::{Late, StepMs, beside, limits, prepare};
use crate::interrupt;
use crate::output::Table;
use crate::screen::screen;
use serde::Serialize;
use sinew_haptic::{MOST_TOOLS, Reading, RealTimeSettings};
use sinew_scene::census::Census;
use sinew_scene::{AnyScene, gallery};
use std::io::Write;

/// The word on the command line.
pub const HAPTIC: &str = "haptic";
/// Scenes that are measured.
const SCENES: [&str; 3] = ["probe-cube", "palpation", "two-tools"];

/// A run object of the array: the fields are a contract.
#[derive(Serialize)]
pub struct HapticRun {
    scene: String,
    springs: usize,
    tets: usize,
    tools: usize,
    rate_hz: f64,
    step_ms: StepMs,
    /// Lateness of ticks with work.
    loop_us: Late,
    /// Lateness of ticks without work.
    bare_us: Late,
    /// From the ticks as they came, 2b/T_eff of the usual device.
    stiffness_limit_n_per_m: f64,
    /// 2b/T.
    stiffness_theory_n_per_m: f64,
    effective_tick_ms: f64,
    /// Ticks later than one period.
    misses: u64,
}

/// Measures all scenes, each for a time [s].
pub fn measure(seconds: f64) -> Result<Vec<HapticRun>, Failure> {
    SCENES.iter().take_while(|_| !interrupt::requested()).map(|name| run(name, seconds)).collect()
}

fn run(name: &str, seconds: f64) -> Result<HapticRun, Failure> {
    let scene = gallery::find(name).ok_or_else(|| Failure::input(format!("no scene '{name}'")))?;
    let scene = AnyScene::from(scene);
    let world = scene.build().map_err(|e| Failure::input(e.to_string()))?;
    let census = Census::of(&world).map_err(|e| Failure::input(e.to_string()))?;
    let prepared = prepare(&scene, |tools| Ok(tools.iter().map(|t| t.1).take(MOST_TOOLS).collect()))?;
    let tools = prepared.settings.len();
    let paths = prepared.paths((seconds * 1e3) as usize + 1);
    let settings = RealTimeSettings { alternate: true, ..RealTimeSettings::default() };
    let mut tick = 0;
    let done = beside(prepared, seconds, &settings, |fast, dt| {
        let path = &paths[tick.min(paths.len() - 1)];
        let mut readings = [None; MOST_TOOLS];
        for (reading, pose) in readings.iter_mut().zip(path) {
            *reading = Some(Reading { pose: *pose, ..Reading::default() });
        }
        fast.tick(&readings[..tools], dt);
        tick += 1;
    })?;
    let [limit, theory] = limits(&done.fast);
    Ok(HapticRun {
        scene: name.to_owned(),
        springs: census.springs,
        tets: census.tets,
        tools,
        rate_hz: 1e3,
        step_ms: StepMs::of(&done.times),
        loop_us: Late::of(&done.report.lateness),
        bare_us: Late::of(&done.report.bare),
        stiffness_limit_n_per_m: limit,
        stiffness_theory_n_per_m: theory,
        effective_tick_ms: 1e3 * done.fast.effective_tick().seconds(),
        misses: done.report.missed,
    })
}

/// A table for people.
pub fn tell(runs: &[HapticRun]) -> Result<(), Failure> {
    let head = ["scene", "tets", "tools", "step ms", "p99", "late p99 us", "p99.9", "bare p99", "p99.9", "misses"];
    let mut table = Table::new(1, head);
    for r in runs {
        let mut row = vec![r.scene.clone(), r.tets.to_string(), r.tools.to_string()];
        row.extend([r.step_ms.mean, r.step_ms.p99].map(|x| format!("{x:.3}")));
        row.extend([r.loop_us.p99, r.loop_us.p999, r.bare_us.p99, r.bare_us.p999].map(|x| format!("{x:.1}")));
        row.push(r.misses.to_string());
        table.row(row);
    }
    let mut out = screen();
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}
