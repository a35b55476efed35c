//! `sinew bench`: time of a step on the benchmark scenes, those of the coupled paper beside its figures, every deformable
//! model on the same bar, and (`peers/`) Sinew beside other engines.

use crate::bench_grasp::{self, GRASP, GraspRun};
use crate::bench_haptic::{self, HAPTIC, HapticRun};
use crate::bench_models::{self, ModelRun};
use crate::bench_paper::{self, PaperRun, Size};
use crate::failure::{Failure, unknown};
use crate::measure::Summary;
use crate::output::{Json, Table, ms};
use crate::play::play;
use crate::screen::screen;
use crate::{interrupt, peers, scenes};
use serde::Serialize;
use sinew::{Phase, Real, Settings};
use sinew_scene::{AnyScene, gallery};
use std::io::Write;
use std::path::PathBuf;

/// Which scenes.
#[derive(clap::Args)]
pub struct Args {
    /// Scenes to measure; `jelly`, `cloth`, `teapots`: beside the values of the paper; `scaling`: time against rows; `models`:
    /// every deformable model on the same bar; `grasp`: fingers that lift objects;
    /// `haptic`: the force loop beside the scenes with tools; none: stack, pyramid and pile
    names: Vec<String>,
    /// Write an array of run objects as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Steps of each run; of `models`: at most, a test ends when the body is still
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Write the figures of `jelly`, `cloth`, `teapots` and `scaling` as SVG into this folder
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Trials of `grasp`
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,
    /// How long `grasp` holds what it has lifted, and how long each scene of `haptic` runs
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    seconds: f64,
    /// Print the table of `models` or of `--with` in Markdown
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    peers: peers::Comparison,
}

/// A run object of the array.
#[derive(Serialize)]
#[serde(untagged)]
enum Run<'a> {
    Scene(&'a Summary),
    Model(&'a ModelRun),
    Paper(&'a PaperRun),
    Size(&'a Size),
    Grasp(&'a GraspRun),
    Haptic(&'a HapticRun),
}

/// The word for all deformable models; the scene of that name is for the eye.
const MODELS: &str = "models";
const NAMES: [&str; 3] = ["stack", "pyramid", "pile"];
const THREADS: [u32; 2] = [1, 2];

/// Measures them.
pub fn bench(args: &Args) -> Result<(), Failure> {
    if let Some(scene) = &args.peers.half {
        return peers::half(scene);
    }
    if let Some(folder) = &args.peers.with {
        return peers::compare(&args.peers, folder, args.markdown, &args.json);
    }
    let names: Vec<&str> =
        if args.names.is_empty() { NAMES.to_vec() } else { args.names.iter().map(String::as_str).collect() };
    let special = |n: &str| {
        n == HAPTIC || n == MODELS || n == GRASP || n == bench_paper::SCALING || bench_paper::SCENES.contains(&n)
    };
    let scenes = names.iter().filter(|n| !special(n)).map(|n| find(n)).collect::<Result<Vec<_>, _>>()?;
    let json = Json::open(&args.json)?;
    interrupt::install();
    let mut runs = Vec::new();
    for scene in scenes {
        for threads in THREADS {
            if !interrupt::requested() {
                runs.push(measure(&scene, threads, args.steps)?);
            }
        }
    }
    let models = if names.contains(&MODELS) { bench_models::measure(args.steps)? } else { Vec::new() };
    let mut papers = Vec::new();
    for name in bench_paper::SCENES.into_iter().filter(|n| names.contains(n)) {
        papers.extend(bench_paper::measure(name, args.steps)?);
    }
    let sizes = if names.contains(&bench_paper::SCALING) { bench_paper::scaling(args.steps)? } else { Vec::new() };
    if !(args.seconds >= 1.0 && args.seconds <= 3600.0) {
        return Err(Failure::input(format!("--seconds {}: 1 to 3600", args.seconds)));
    }
    let grasps = if names.contains(&GRASP) { bench_grasp::measure(args.trials, args.seconds)? } else { Vec::new() };
    let haptics = if names.contains(&HAPTIC) { bench_haptic::measure(args.seconds)? } else { Vec::new() };
    if let Some(folder) = &args.plots {
        bench_paper::draw(&papers, &sizes, folder)?;
    }
    let quiet = json.takes_stdout();
    let written = {
        let all = runs.iter().map(Run::Scene).chain(models.iter().map(Run::Model));
        let all: Vec<Run> = all
            .chain(papers.iter().map(Run::Paper))
            .chain(sizes.iter().map(Run::Size))
            .chain(grasps.iter().map(Run::Grasp))
            .chain(haptics.iter().map(Run::Haptic))
            .collect();
        json.write(&all)
    };
    if !quiet {
        if !runs.is_empty() {
            tell(&runs)?;
        }
        if !models.is_empty() {
            bench_models::tell(&models, args.markdown)?;
        }
        bench_paper::tell(&papers, &sizes)?;
        if !grasps.is_empty() {
            bench_grasp::tell(&grasps)?;
        }
        if !haptics.is_empty() {
            bench_haptic::tell(&haptics)?;
        }
    }
    written
}

fn find(name: &str) -> Result<AnyScene, Failure> {
    if scenes::is_file(name) {
        return Ok(scenes::find(name, &[])?.0);
    }
    gallery::find(name).map(AnyScene::from).ok_or_else(|| {
        let known = format!("benchmarks: {}, {MODELS}; any scene of 'sinew scenes' will do", NAMES.join(", "));
        unknown("benchmark", name, gallery::suggest(name), &known)
    })
}

/// One run. Sleeping is off, so that every step does the full work.
fn measure(scene: &AnyScene, threads: u32, steps: u64) -> Result<Summary, Failure> {
    let mut world = scene.build()?;
    let mut settings = world.settings().clone();
    settings = Settings { threads, dt: 1.0 / 60.0, sleep_time: Real::INFINITY, point_forces: false, ..settings };
    world.set_settings(settings)?;
    let measured = play(scene, &mut world, steps, |_, _| Ok(()))?;
    let variant = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    Ok(Summary { variant: Some(variant), ..measured.summary(scene.name(), &world) })
}

fn tell(runs: &[Summary]) -> Result<(), Failure> {
    let mut head = vec!["scene", "variant", "steps", "rows", "median", "p99"];
    head.extend(Phase::ALL.map(Phase::name));
    let mut table = Table::with_head(2, head);
    for run in runs {
        let variant = run.variant.clone().unwrap_or_default();
        let mut cells = vec![run.scene.clone(), variant, run.steps.to_string(), run.constraints.max.to_string()];
        cells.extend([ms(run.ms.p50), ms(run.ms.p99)]);
        cells.extend(run.ms.by_phase.0.map(ms));
        table.row(cells);
    }
    let mut out = screen();
    table.write(&mut out)?;
    writeln!(out, "times of a step in ms; phases: mean; never asleep, forces by pair only")?;
    out.flush()?;
    Ok(())
}
