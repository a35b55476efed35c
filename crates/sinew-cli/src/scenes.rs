//! `sinew scenes`: the gallery, one scene a line. Also: finding the scene a user named.

use crate::failure::{Failure, unknown};
use sinew_scene::gallery::{self, Scene};
use std::io::Write;

/// Lists the scenes.
pub fn scenes() -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    for scene in gallery::scenes() {
        let figure = if scene.figure.is_empty() { String::new() } else { format!("  [{}]", scene.figure) };
        writeln!(out, "{:<16} {}{figure}", scene.name, scene.about)?;
    }
    out.flush()?;
    Ok(())
}

/// The scene a user named.
pub fn find(name: &str) -> Result<&'static Scene, Failure> {
    if let Some(scene) = gallery::find(name) {
        return Ok(scene);
    }
    if name.ends_with(".toml") || name.ends_with(".json") {
        return Err(Failure::input(format!(
            "'{name}': scene files come with a later version; 'sinew scenes' lists the built-in ones"
        )));
    }
    let known: Vec<&str> = gallery::scenes().iter().map(|s| s.name).collect();
    Err(unknown("scene", name, gallery::suggest(name), &format!("built-in scenes: {}", known.join(", "))))
}
