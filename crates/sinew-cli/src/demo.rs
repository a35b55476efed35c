//! `sinew` alone: a short scene without a picture, until there is a viewer.

use crate::failure::Failure;
use crate::play::{play, step_count};
use crate::{interrupt, run, scenes};
use std::io::Write;

const SCENE: &str = "domino";

/// Runs the demonstration.
pub fn demo() -> Result<(), Failure> {
    let scene = scenes::find(SCENE)?;
    let mut world = (scene.build)()?;
    interrupt::install()?;
    let steps = step_count(scene.seconds, world.settings());
    let measure = play(scene, &mut world, steps, |_, _| Ok(()))?;
    // stdout's lock may be taken twice by one thread
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n", scene.about)?;
    run::tell(&measure.summary(scene, &world))?;
    writeln!(out, "\nThe viewer comes later. Try 'sinew scenes', 'sinew run pyramid', 'sinew --help'.")?;
    out.flush()?;
    Ok(())
}
