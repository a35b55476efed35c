//! `sinew bench`: time of a step on the benchmark scenes, and every deformable model on the same bar.

use crate::bench_models::{self, ModelRun};
use crate::failure::{Failure, unknown};
use crate::measure::Summary;
use crate::output::{Table, Target, ms};
use crate::play::play;
use crate::{interrupt, scenes};
use serde::Serialize;
use sinew::{Phase, Real, Settings};
use sinew_scene::{AnyScene, gallery};
use std::io::Write;

/// Which scenes.
#[derive(clap::Args)]
pub struct Args {
    /// Scenes to measure, or `models`: every deformable model on the same bar; none: stack, pyramid and pile
    names: Vec<String>,
    /// Write an array of run objects as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<Target>,
    /// Steps of each run; of `models`: at most, a test ends when the body is still
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Print the table of `models` in Markdown
    #[arg(long)]
    markdown: bool,
}

/// A run object of the array.
#[derive(Serialize)]
#[serde(untagged)]
enum Run<'a> {
    Scene(&'a Summary),
    Model(&'a ModelRun),
}

/// The word for all deformable models; the scene of that name is for the eye.
const MODELS: &str = "models";
const NAMES: [&str; 3] = ["stack", "pyramid", "pile"];
const THREADS: [u32; 2] = [1, 2];

/// Measures them.
pub fn bench(args: &Args) -> Result<(), Failure> {
    let names: Vec<&str> =
        if args.names.is_empty() { NAMES.to_vec() } else { args.names.iter().map(String::as_str).collect() };
    let scenes = names.iter().filter(|n| **n != MODELS).map(|n| find(n)).collect::<Result<Vec<_>, _>>()?;
    Target::check(&args.json)?;
    interrupt::install()?;
    let mut runs = Vec::new();
    for scene in scenes {
        for threads in THREADS {
            if !interrupt::requested() {
                runs.push(measure(&scene, threads, args.steps)?);
            }
        }
    }
    let models = if names.contains(&MODELS) { bench_models::measure(args.steps)? } else { Vec::new() };
    if let Some(target) = &args.json {
        let all: Vec<Run> = runs.iter().map(Run::Scene).chain(models.iter().map(Run::Model)).collect();
        target.write(&all)?;
    }
    if !Target::takes_stdout(&args.json) {
        if !runs.is_empty() {
            tell(&runs)?;
        }
        if !models.is_empty() {
            bench_models::tell(&models, args.markdown)?;
        }
    }
    Ok(())
}

fn find(name: &str) -> Result<AnyScene, Failure> {
    // words of the contract that need bodies this version does not have
    if ["grasp", "scaling"].contains(&name) {
        return Err(Failure::input(format!("'sinew bench {name}' comes with a later version")));
    }
    if scenes::is_file(name) {
        return Ok(scenes::find(name, &[])?.0);
    }
    gallery::find(name).map(AnyScene::from).ok_or_else(|| {
        let known = format!("benchmarks: {}, {MODELS}; any scene of 'sinew scenes' will do", NAMES.join(", "));
        unknown("benchmark", name, gallery::suggest(name), &known)
    })
}

/// One run. Nobody sleeps: what is measured is the step, not the rest.
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
    let mut out = std::io::stdout().lock();
    table.write(&mut out)?;
    writeln!(out, "times of a step in ms; phases: mean; never asleep, forces by pair only")?;
    out.flush()?;
    Ok(())
}
