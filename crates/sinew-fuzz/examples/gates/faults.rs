//! Invalid numbers (N1), and the two gates that are separate programs (N3, P3).

use crate::same::{SCENES, build};
use sinew_scene::faults::{Faults, is_finite};
use std::process::{Command, Stdio};

/// Steps of each scene, and the injection probability of each input at each step: about 100 injections of each kind per
/// scene.
const STEPS: u32 = 120;
const RATE: f64 = 0.8;

/// Injects invalid numbers into commands and states of running scenes.
pub fn n1(less: u32) -> Result<String, String> {
    let (mut commands, mut states) = (0, 0);
    for (name, seed) in SCENES.into_iter().zip(1..) {
        let (scene, mut world) = build(name, 1)?;
        let mut faults = Faults::new(RATE, seed);
        for _ in 0..(STEPS / less).max(1) {
            faults.wound(&mut world).map_err(|why| format!("{name}: {why}"))?;
            let mut input = scene.input(&world, world.state().tick);
            let bad = faults.speak(&world, &mut input);
            world.step(&input);
            if bad && !Faults::was_refused(&world, &input) {
                return Err(format!("{name}: a bad command was taken: {:?}", input.commands.last()));
            }
            if !is_finite(&world) {
                return Err(format!("{name}: not finite after step {}", world.state().tick));
            }
        }
        (commands, states) = (commands + faults.injected.commands, states + faults.injected.states);
    }
    let wanted = u64::from(1000 / less);
    if commands + states < wanted {
        return Err(format!("only {} injections of {wanted}", commands + states));
    }
    let scenes = SCENES.len();
    Ok(format!("{commands} bad commands refused, {states} bad states found within a step, {scenes} scenes"))
}

/// Runs cargo in the repository; details are in its own output.
fn cargo(words: &[&str]) -> Result<String, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).stdout(Stdio::piped());
    let output = command.output().map_err(|e| format!("cargo: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(format!("cargo {} failed:\n{text}", words.join(" "))) }
}

/// The adversarial scenes.
pub fn n3(_: u32) -> Result<String, String> {
    let text = cargo(&["test", "--release", "--package", "sinew-scene", "--test", "adversarial"])?;
    let message = text.lines().find(|line| line.starts_with("test result")).unwrap_or("no result");
    Ok(message.trim_start_matches("test result: ").to_owned())
}

/// Foreign files.
pub fn p3(_: u32) -> Result<String, String> {
    let text = cargo(&["xtask", "foreign"])?;
    if text.contains("SKIPPED") {
        return Err("Debian's assimp-testmodels are not there: apt-get install assimp-testmodels".to_owned());
    }
    let rows = text.lines().filter(|line| line.starts_with('|')).collect::<Vec<_>>().join("\n");
    Ok(format!("all loaded or refused with a reason\n{rows}"))
}
