//! `sinew scenes`: the gallery, one scene a line. Also: finding a scene by name.

use crate::failure::{Failure, unknown};
use crate::screen::{note, screen};
use crate::{friction, inputs};
use sinew::Settings;
use sinew_scene::file::{self, Problems, Syntax};
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

/// The friction law of all surfaces of a built-in scene.
const LAW: &str = "parameters.law=";

/// Prefixes of changes of a scene file; all others are settings.
const TABLES: [&str; 6] = ["bodies.", "combined.", "joints.", "motions.", "parameters.", "camera."];

/// Whether a word names a file.
pub fn is_file(name: &str) -> bool {
    Syntax::of(Path::new(name)).is_some()
}

/// The scene of a name, and the remaining `--set`: in a file all but plain settings are part of the scene.
pub fn find(name: &str, sets: &[String]) -> Result<(AnyScene, Vec<String>), Failure> {
    let (sets, old) = file::current_sets(sets).map_err(|problems| Failure::input(problems.render()))?;
    warn(&old);
    if let Some(scene) = gallery::find(name) {
        let (laws, plain): (Vec<String>, Vec<String>) = sets.iter().cloned().partition(|set| set.starts_with(LAW));
        let Some(law) = laws.last() else { return built_in(scene, &plain) };
        return Ok((AnyScene::WithLaw(scene, friction::find(law[LAW.len()..].trim())?), plain));
    }
    if is_file(name) {
        let (plain, inner): (Vec<String>, Vec<String>) = sets.iter().cloned().partition(|set| file::is_setting(set));
        let scene = file::read_with(name, &inner).map_err(|problems| Failure::input(problems.render()))?;
        warn(scene.warnings());
        scene.files().iter().for_each(|path| inputs::note(path));
        return Ok((scene.into(), plain));
    }
    let known: Vec<&str> = gallery::scenes().iter().map(|s| s.name).collect();
    let known = format!("built-in scenes: {}\nor name a .toml or .json file", known.join(", "));
    Err(unknown("scene", name, gallery::suggest(name), &known))
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

/// A scene of the gallery; one that is a file takes changes like a file.
fn built_in(scene: &'static gallery::Scene, sets: &[String]) -> Result<(AnyScene, Vec<String>), Failure> {
    let of_file = |set: &String| TABLES.iter().any(|table| set.trim_start().starts_with(table));
    let (inner, plain): (Vec<String>, Vec<String>) = sets.iter().cloned().partition(of_file);
    match scene.text {
        Some(text) if !inner.is_empty() => {
            let read = file::read_text_with(text, &format!("{}.toml", scene.name), Syntax::Toml, &inner);
            Ok((read.map_err(|problems| Failure::input(problems.render()))?.into(), plain))
        }
        _ => Ok((scene.into(), sets.to_vec())),
    }
}
