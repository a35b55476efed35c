//! `sinew scenes`: the gallery, one scene a line. Also: finding a scene by name.

use crate::failure::Failure;
use crate::inputs;
use crate::screen::{note, screen};
use sinew::Settings;
use sinew_scene::file::{self, Problems, Syntax};
use sinew_scene::open::{Opened, open};
use sinew_scene::{AnyScene, gallery};
use std::io::Write;
use std::path::Path;

/// Lists the scenes.
pub fn scenes() -> Result<(), Failure> {
    let mut out = screen();
    for scene in gallery::scenes() {
        let figure = if scene.figure.is_empty() { String::new() } else { format!("  [{}]", scene.figure) };
        writeln!(out, "{:<16} {}{figure}", scene.name, scene.about)?;
    }
    out.flush()?;
    Ok(())
}

/// Whether a word names a file.
pub fn is_file(name: &str) -> bool {
    Syntax::of(Path::new(name)).is_some()
}

/// The scene of a name, and the remaining `--set`: in a file all but plain settings are part of the scene.
pub fn find(name: &str, sets: &[String]) -> Result<(AnyScene, Vec<String>), Failure> {
    let Opened { scene, sets, warnings } = open(name, sets)?;
    warnings.iter().for_each(warn);
    if let AnyScene::File(file) = &scene {
        file.files().iter().for_each(|path| inputs::note(path));
    }
    Ok((scene, sets))
}

/// Settings with the changes that [`find`] left.
pub fn with_sets(settings: &Settings, sets: &[String]) -> Result<Settings, Failure> {
    let changed = file::override_settings(settings, sets);
    let (settings, old) = changed.map_err(|problems| Failure::input(problems.render()))?;
    warn(&old);
    Ok(settings)
}

/// Prints warnings about a scene on stderr.
fn warn(warnings: &Problems) {
    if !warnings.is_empty() {
        note(&warnings.render_warnings());
    }
}
