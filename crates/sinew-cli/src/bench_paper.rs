//! `sinew bench jelly cloth teapots scaling`: the scenes of the coupled paper (ICD) beside what it printed.
//!
//! Each scene is run with the paper's settings (one step of 20 ms, 2 + 2 iterations) and with its own, on one thread and
//! never asleep. RMS Δλ by iteration is ICD Fig. 1, time against the number of rows Fig. 5 and 6.

use crate::failure::Failure;
use crate::interrupt;
use crate::measure::{Measure, Summary};
use crate::output::{Table, ms};
use crate::place;
use crate::play::play;
use crate::plot::{Pen, Plot, Scale};
use crate::screen::screen;
use serde::Serialize;
use sinew::{Input, Order, Phase, Real, Settings, World};
use sinew_scene::census::{Census, edges};
use sinew_scene::validate::tools::num;
use sinew_scene::{AnyScene, gallery};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Scenes that the paper has.
pub const SCENES: [&str; 3] = ["jelly", "cloth", "teapots"];
/// The word for many cloths.
pub const SCALING: &str = "scaling";
/// Iterations shown of ICD Fig. 1.
const ITERATIONS: u32 = 20;
/// Step of the cloths [ms].
const STEP_MS: f64 = 20.0;
/// How many cloths, and how many squares along a side: a thousand rows to a million.
const SIZES: [[u32; 2]; 7] = [[1, 14], [1, 25], [1, 50], [4, 50], [16, 50], [32, 50], [72, 50]];

/// Values of a scene in the paper; zero: not given.
struct Printed {
    counts: Census,
    most_rows: u64,
    /// Mean and worst step [ms].
    times: [f64; 2],
}

fn printed(scene: &str) -> Printed {
    let none = Census::default();
    match scene {
        "jelly" => Printed {
            counts: Census {
                nodes: 1720,
                faces: 2296,
                springs: 6784,
                tets: 1701,
                inextensibility: 3115,
                bending: 861,
                ..none
            },
            most_rows: 7595,
            times: [6.0, 14.0],
        },
        "cloth" => Printed {
            counts: Census { nodes: 2601, inextensibility: 5000, bending: 7400, ..none },
            most_rows: 20_492,
            times: [0.0; 2],
        },
        "teapots" => Printed {
            counts: Census { nodes: 50, faces: 48, inextensibility: 121, bending: 47, ..none },
            most_rows: 0,
            times: [0.0; 2],
        },
        _ => Printed { counts: none, most_rows: 0, times: [0.0; 2] },
    }
}

/// One scene with one set of settings, as JSON: a run object and more.
#[derive(Serialize)]
pub struct PaperRun {
    #[serde(flatten)]
    summary: Summary,
    /// Constraints as built: inextensibility, bending, springs that are rows, anchors (three rows each).
    built: [usize; 4],
    #[serde(skip)]
    census: Census,
    /// RMS change of force by iteration, mean over the steps [N]; empty where implicit islands have no sweeps.
    rms_by_iteration: Vec<f64>,
}

/// One size of the row of sizes.
#[derive(Serialize)]
pub struct Size {
    scene: &'static str,
    copies: u32,
    /// Squares along a side of each.
    cells: u32,
    /// Mean number of rows, contacts too.
    rows: f64,
    /// Mean time of a step with one thread and with two [ms].
    ms: f64,
    ms_two_threads: f64,
    /// Longest edge of all steps beyond its length, as a share of it.
    stretch: f64,
    steps: u64,
}

/// The paper's settings: one step of 20 ms, two iterations over rigid rows and two over those with nodes.
fn paper(own: &Settings) -> Settings {
    let order = Order::Staggered { rigid: 2, deformable: 2 };
    Settings { dt: 0.02, substeps: 1, sweeps: 1, relax_sweeps: 1, order, ..own.clone() }
}

/// Both runs of a scene.
pub fn measure(name: &str, steps: u64) -> Result<Vec<PaperRun>, Failure> {
    let scene = gallery::find(name).map(AnyScene::from).ok_or_else(|| Failure::input(format!("no scene '{name}'")))?;
    let mut runs = Vec::new();
    for variant in ["paper's settings", "own settings"] {
        if interrupt::requested() {
            break;
        }
        let mut world = scene.build()?;
        let own = Settings { threads: 1, sleep_time: Real::INFINITY, point_forces: false, ..world.settings().clone() };
        let settings = if variant.starts_with("paper") { paper(&own) } else { own };
        world.set_settings(settings.clone())?;
        let census = Census::of(&world)?;
        let measured = play(&scene, &mut world, steps, |_, _| Ok(()))?;
        let summary = Summary { variant: Some(variant.to_owned()), ..measured.summary(scene.name(), &world) };
        let rms_by_iteration = residuals(&scene, &settings, steps.min(100))?;
        let built = [census.inextensibility, census.bending, census.spring_rows, census.anchors];
        runs.push(PaperRun { summary, built, census, rms_by_iteration });
    }
    Ok(runs)
}

/// RMS Δλ of each iteration [N], with many of them: a run of its own, so that it costs the times nothing.
fn residuals(scene: &AnyScene, settings: &Settings, steps: u64) -> Result<Vec<f64>, Failure> {
    let mut world = scene.build()?;
    let order = Order::Staggered { rigid: 1, deformable: 1 };
    world.set_settings(Settings { sweeps: ITERATIONS, order, residuals: true, ..settings.clone() })?;
    let (mut sums, mut count) = (vec![0.0; ITERATIONS as usize], 0.0);
    for _ in 0..steps {
        let input = scene.input(&world, world.state().tick);
        let report = world.step(&input);
        let h = num(settings.dt) / f64::from(report.counts.substeps.max(1));
        // the sweeps of a substep, then those that relax
        let each = (ITERATIONS + settings.relax_sweeps) as usize;
        for substep in report.residuals.chunks_exact(each) {
            count += 1.0;
            sums.iter_mut().zip(substep).for_each(|(sum, r)| *sum += num(*r) / h);
        }
    }
    Ok(if count > 0.0 { sums.into_iter().map(|sum| sum / count).collect() } else { Vec::new() })
}

/// Time against the number of rows.
pub fn scaling(steps: u64) -> Result<Vec<Size>, Failure> {
    let mut sizes = Vec::new();
    for [copies, cells] in SIZES {
        if interrupt::requested() {
            break;
        }
        // as much time for each size, but all live through the fall and the first folds
        let steps = (4 * steps / u64::from(copies)).max(50).min(steps);
        let (one, two) = (drape([copies, cells], steps, 1)?, drape([copies, cells], steps, 2)?);
        let [stretch, ..] = one;
        sizes.push(Size {
            scene: SCALING,
            copies,
            cells,
            rows: one[2],
            ms: one[1],
            ms_two_threads: two[1],
            stretch,
            steps,
        });
    }
    Ok(sizes)
}

/// Largest stretch, mean time of a step [ms] and mean number of rows of so many cloths.
fn drape([copies, cells]: [u32; 2], steps: u64, threads: u32) -> Result<[f64; 3], Failure> {
    let mut world = gallery::scaling(copies, cells)?;
    let own = world.settings().clone();
    world.set_settings(Settings { threads, sleep_time: Real::INFINITY, point_forces: false, ..own })?;
    let (mut measure, edges) = (Measure::new(&world), Edges::of(&world));
    let mut stretch: f64 = 0.0;
    for _ in 0..steps {
        let clock = Instant::now();
        world.step(&Input::none());
        measure.note(&world, &Input::none(), 1e3 * clock.elapsed().as_secs_f64());
        stretch = stretch.max(edges.stretch(&world));
    }
    let summary = measure.summary(SCALING, &world);
    Ok([stretch, summary.ms.mean, summary.constraints.mean])
}

/// Edges of one sheet, which all others are copies of.
struct Edges(Vec<([u32; 2], Real)>);

impl Edges {
    fn of(world: &World) -> Self {
        let Some(sheet) = world.bodies().find(|b| !b.is_rigid()) else { return Self(Vec::new()) };
        let x = sheet.node_positions();
        let pairs = sheet.surface().map_or(Vec::new(), |s| edges(s.triangles().iter().map(<[u32; 3]>::as_slice)));
        Self(pairs.into_iter().map(|e| (e, x[e[0] as usize].distance(x[e[1] as usize]))).collect())
    }

    /// Largest of all sheets, as a share.
    fn stretch(&self, world: &World) -> f64 {
        let of = |x: &[sinew::Vec3]| {
            let longer = |(e, rest): &([u32; 2], Real)| x[e[0] as usize].distance(x[e[1] as usize]) / rest - 1.0;
            self.0.iter().map(longer).fold(0.0, Real::max)
        };
        num(world.bodies().filter(|b| !b.is_rigid()).map(|b| of(b.node_positions())).fold(0.0, Real::max))
    }
}

/// Exponent and factor of the power law through points, by least squares of the logarithms.
fn power_law(points: &[[f64; 2]]) -> [f64; 2] {
    let logs: Vec<[f64; 2]> = points.iter().map(|p| p.map(f64::ln)).collect();
    let n = logs.len() as f64;
    let mean = [0, 1].map(|k: usize| logs.iter().map(|p| p[k]).sum::<f64>() / n);
    let [mut xx, mut xy] = [0.0; 2];
    for p in &logs {
        xx += (p[0] - mean[0]) * (p[0] - mean[0]);
        xy += (p[0] - mean[0]) * (p[1] - mean[1]);
    }
    [xy / xx, (mean[1] - xy / xx * mean[0]).exp()]
}

/// The tables for people.
pub fn tell(runs: &[PaperRun], sizes: &[Size]) -> Result<(), Failure> {
    let mut out = screen();
    if !runs.is_empty() {
        tell_counts(runs, &mut out)?;
        tell_times(runs, &mut out)?;
        tell_residuals(runs, &mut out)?;
    }
    if !sizes.is_empty() {
        tell_sizes(sizes, &mut out)?;
    }
    out.flush()?;
    Ok(())
}

fn tell_counts(runs: &[PaperRun], out: &mut impl Write) -> Result<(), Failure> {
    let head = ["scene", "nodes", "faces", "springs", "tets", "inextensibility", "bending", "most rows"];
    let mut table = Table::new(1, head);
    for run in runs.iter().filter(|r| r.summary.variant.as_deref() == Some("own settings")) {
        let (ours, theirs) = (run.census, printed(&run.summary.scene));
        let of = |c: &Census| [c.nodes, c.faces, c.springs, c.tets, c.inextensibility, c.bending].map(|n| n as u64);
        let pairs = of(&ours).into_iter().zip(of(&theirs.counts));
        let pairs = pairs.chain([(run.summary.constraints.max, theirs.most_rows)]);
        let cell = |(ours, theirs): (u64, u64)| {
            if theirs == 0 { ours.to_string() } else { format!("{ours} ({theirs})") }
        };
        table.row(std::iter::once(run.summary.scene.clone()).chain(pairs.map(cell)).collect());
    }
    table.write(out)?;
    writeln!(out, "in brackets: the paper's count\n")?;
    Ok(())
}

fn tell_times(runs: &[PaperRun], out: &mut impl Write) -> Result<(), Failure> {
    let mut head = vec!["scene", "settings", "contact rows", "other rows", "mean", "worst", "paper"];
    head.extend(Phase::ALL.map(Phase::name));
    let mut table = Table::with_head(2, head);
    for run in runs {
        let s = &run.summary;
        let kind = |k: &str| s.constraints.by_kind.get(k).copied().unwrap_or(0).to_string();
        let mut cells = vec![s.scene.clone(), s.variant.clone().unwrap_or_default(), kind("contact"), kind("joint")];
        let [mean, worst] = printed(&s.scene).times;
        let theirs = if mean > 0.0 { format!("{mean}, {worst}") } else { "-".to_owned() };
        cells.extend([ms(s.ms.mean), ms(s.ms.max), theirs]);
        let total: f64 = s.ms.by_phase.0.iter().sum();
        cells.extend(s.ms.by_phase.0.map(|t| format!("{:.0}%", 1e2 * t / total.max(1e-12))));
        table.row(cells);
    }
    table.write(out)?;
    writeln!(out, "ms of a step of 20 ms, one thread; share of each phase; rows of the step with the most\n")?;
    Ok(())
}

fn tell_residuals(runs: &[PaperRun], out: &mut impl Write) -> Result<(), Failure> {
    let shown = [1, 2, 3, 4, 6, 8, 12, 16, 20];
    let mut head = vec!["scene".to_owned(), "settings".to_owned()];
    head.extend(shown.map(|k| k.to_string()));
    let mut table = Table::with_head(2, head.iter().map(String::as_str).collect());
    for run in runs.iter().filter(|r| !r.rms_by_iteration.is_empty()) {
        let mut cells = vec![run.summary.scene.clone(), run.summary.variant.clone().unwrap_or_default()];
        cells.extend(shown.map(|k| format!("{:.1e}", run.rms_by_iteration[k - 1])));
        table.row(cells);
    }
    table.write(out)?;
    writeln!(out, "RMS change of force by iteration [N] (ICD Fig. 1), mean over the substeps\n")?;
    Ok(())
}

fn tell_sizes(sizes: &[Size], out: &mut impl Write) -> Result<(), Failure> {
    let mut table =
        Table::new(0, ["cloths", "squares", "rows", "steps", "stretch", "ms a step", "two threads", "ns a row"]);
    for s in sizes {
        table.row(vec![
            s.copies.to_string(),
            format!("{0} x {0}", s.cells),
            format!("{:.0}", s.rows),
            s.steps.to_string(),
            format!("{:.1}%", 1e2 * s.stretch),
            ms(s.ms),
            ms(s.ms_two_threads),
            format!("{:.0}", 1e6 * s.ms / s.rows),
        ]);
    }
    table.write(out)?;
    for (what, points) in [("one thread", curve(sizes, |s| s.ms)), ("two threads", curve(sizes, |s| s.ms_two_threads))]
    {
        let [exponent, _] = power_law(&points);
        writeln!(out, "{what}: time grows as rows^{exponent:.3} (paper: linear; Fig. 5-6)")?;
    }
    let live = sizes.iter().filter(|s| s.ms_two_threads <= STEP_MS).map(|s| s.rows).fold(0.0, f64::max);
    writeln!(out, "in real time with two threads: {live:.0} rows (paper: 30,000)")?;
    Ok(())
}

fn curve(sizes: &[Size], time: impl Fn(&Size) -> f64) -> Vec<[f64; 2]> {
    sizes.iter().map(|s| [s.rows, time(s)]).collect()
}

/// Writes the figures into a folder.
pub fn draw(runs: &[PaperRun], sizes: &[Size], folder: &Path) -> Result<(), Failure> {
    place::folder(folder)?;
    let mut plot = Plot::new("Convergence (ICD Fig. 1)", "iteration", "RMS change of force, N");
    let shown = runs.iter().filter(|r| !r.rms_by_iteration.is_empty());
    for r in shown.clone() {
        let name = format!("{}, {}", r.summary.scene, r.summary.variant.as_deref().unwrap_or_default());
        let points = r.rms_by_iteration.iter().enumerate().map(|(k, r)| [(k + 1) as f64, *r]);
        plot = plot.drawn(&name, points, Pen::Marked);
    }
    if shown.count() > 0 {
        let plot = plot.scales(Scale::Linear, Scale::Log);
        place::save(&folder.join("convergence.svg"), plot.svg().as_bytes())?;
    }
    if sizes.len() > 1 {
        let whole = curve(sizes, |s| s.ms);
        let [exponent, factor] = power_law(&whole);
        let fit: Vec<[f64; 2]> = whole.iter().map(|p| [p[0], factor * p[0].powf(exponent)]).collect();
        let plot = Plot::new("Time against rows (ICD Fig. 5-6)", "constraint rows", "ms a step")
            .scales(Scale::Log, Scale::Log)
            .drawn("step", whole, Pen::Marked)
            .drawn("two threads", curve(sizes, |s| s.ms_two_threads), Pen::Marked)
            .drawn(&format!("rows^{exponent:.3}"), fit, Pen::Dashed);
        place::save(&folder.join("scaling.svg"), plot.svg().as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found_from_its_points() {
        let points: Vec<[f64; 2]> = [1.0, 7.0, 50.0].into_iter().map(|x: f64| [x, 3.0 * x.powf(1.25)]).collect();
        let [exponent, factor] = power_law(&points);
        assert!((exponent - 1.25).abs() < 1e-12 && (factor - 3.0).abs() < 1e-12, "{exponent} {factor}");
    }
}
