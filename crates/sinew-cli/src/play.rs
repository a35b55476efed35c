//! The step loop of `run`, `bench` and the demonstration, and its duration.

use crate::failure::Failure;
use crate::interrupt;
use crate::measure::Measure;
use crate::output::cell;
use indicatif::{ProgressBar, ProgressStyle};
use sinew::{Input, Settings, World};
use sinew_scene::AnyScene;
use sinew_scene::validate::tools::num;
use std::io::IsTerminal;
use std::time::Instant;

/// How long a run is; without either, as long as the scene is worth watching.
#[derive(clap::Args)]
pub struct Length {
    /// Simulated time [s]
    #[arg(long, value_name = "S", value_parser = above_zero, conflicts_with = "steps")]
    pub seconds: Option<f64>,
    /// Number of steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
}

impl Length {
    /// Number of steps of this scene.
    pub fn count(&self, scene: &AnyScene, settings: &Settings) -> u64 {
        self.steps.unwrap_or_else(|| step_count(self.seconds.unwrap_or(scene.seconds()), settings))
    }
}

/// Steps of a time [s], at least one.
pub fn step_count(seconds: f64, settings: &Settings) -> u64 {
    steps_until(seconds, settings).max(1)
}

/// Steps until a time [s]: none until 0.
pub fn steps_until(seconds: f64, settings: &Settings) -> u64 {
    (seconds / num(settings.dt)).round() as u64
}

/// A finite number above zero, for clap.
pub fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err("give a finite number above 0".to_owned()),
    }
}

/// Steps a world by the scene's script. `after` is called behind each step; its time is not measured. Ctrl-C ends the
/// loop early, and what was done until then counts.
pub fn play(
    scene: &AnyScene,
    world: &mut World,
    steps: u64,
    mut after: impl FnMut(&World, &Input) -> Result<(), Failure>,
) -> Result<Measure, Failure> {
    let mut measure = Measure::new(world);
    let bar = progress(steps, scene.name());
    let start = Instant::now();
    for _ in 0..steps {
        if interrupt::requested() {
            break;
        }
        let input = scene.input(world, world.state().tick);
        let clock = Instant::now();
        world.step(&input);
        measure.note(world, &input, 1e3 * clock.elapsed().as_secs_f64());
        after(world, &input)?;
        bar.inc(1);
        bar.set_message(pace(scene.name(), world.time(), start.elapsed().as_secs_f64()));
    }
    bar.finish_and_clear();
    Ok(measure)
}

/// Simulated time, and how much of it passes in a second.
fn pace(name: &str, simulated: f64, real: f64) -> String {
    let name = cell(name);
    format!("{name} {simulated:.2} s, {:.2} x real time", simulated / real.max(1e-9))
}

/// A progress bar on stderr, when that is a terminal.
pub fn progress(length: u64, what: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    let bar = ProgressBar::new(length).with_message(cell(what));
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
