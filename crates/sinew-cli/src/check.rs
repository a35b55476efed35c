//! `sinew check`: reads scene files and builds them. All errors are reported at once, each with its line.

use crate::failure::Failure;
use crate::screen::screen;
use crate::{advice, scenes};
use sinew_scene::{AnyScene, file};
use std::io::Write;

/// Arguments.
#[derive(clap::Args)]
pub struct Args {
    /// Scene files, or names of built-in scenes
    #[arg(value_name = "SCENE", required_unless_present = "schema")]
    scenes: Vec<String>,
    /// Change a value of the scene first, as in bodies.ball.mass=2; may be given often
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Print the JSON Schema of scene files, for editors
    #[arg(long)]
    schema: bool,
}

/// Checks all scenes before it returns.
pub fn check(args: &Args) -> Result<(), Failure> {
    let mut out = screen();
    if args.schema {
        write!(out, "{}", file::json_schema())?;
    }
    let mut faults = Vec::new();
    for name in &args.scenes {
        match look(name, &args.set) {
            Ok((summary, scene)) => {
                writeln!(out, "ok: {name}: {summary}")?;
                advice::tell(&scene, name);
            }
            Err(Failure::Input(message)) => faults.push(message),
            Err(other) => return Err(other),
        }
    }
    out.flush()?;
    if faults.is_empty() { Ok(()) } else { Err(Failure::Input(faults.join("\n"))) }
}

/// Summary of a scene.
fn look(name: &str, sets: &[String]) -> Result<(String, AnyScene), Failure> {
    let (scene, plain) = scenes::find(name, sets)?;
    let mut world = scene.build()?;
    world.set_settings(scenes::with_sets(world.settings(), &plain)?)?;
    let rigid = world.bodies().filter(|b| b.is_rigid()).count();
    let bodies = world.bodies().count();
    let joints = match &scene {
        AnyScene::File(file) => file.counts().joints,
        AnyScene::BuiltIn(_) | AnyScene::WithLaw(..) => world.blueprint()?.constraints.len(),
    };
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let bodies = if bodies == 1 { "1 body".to_owned() } else { format!("{bodies} bodies") };
    let nodes = plural(world.state().node_x.len(), "node");
    Ok((format!("{bodies} ({rigid} rigid), {nodes}, {}", plural(joints, "joint")), scene))
}
