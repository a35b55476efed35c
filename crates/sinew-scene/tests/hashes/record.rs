//! The record of state hashes in `docs/hashes.json`: read, written, computed. Shared by the test and by the example that
//! writes the record.

use serde_json::{Map, Value, json};
use sinew::Error;
use sinew_scene::AnyScene;
use sinew_scene::gallery::{Scene, scenes};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ticks at which a scene is hashed.
pub const TICKS: [u64; 3] = [1, 60, 300];

/// The precision of this build, as the record names it.
pub const PRECISION: &str = if cfg!(feature = "f64") { "f64" } else { "f32" };

/// Where the record is.
pub fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hashes.json"))
}

/// The state hashes of a scene at [`TICKS`], in hexadecimal.
pub fn of_scene(scene: &'static Scene) -> Result<Vec<String>, Error> {
    let scene = AnyScene::from(scene);
    let mut world = scene.build()?;
    let mut out = Vec::new();
    for tick in 0..TICKS[TICKS.len() - 1] {
        let input = scene.input(&world, tick);
        world.step(&input);
        if TICKS.contains(&(tick + 1)) {
            out.push(format!("{:016x}", world.hash()));
        }
    }
    Ok(out)
}

/// The hashes of all gallery scenes, in the order of the gallery; two scenes at a time.
pub fn of_gallery() -> Vec<(&'static str, Result<Vec<String>, Error>)> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut found = Vec::new();
        while let Some(scene) = scenes().get(next.fetch_add(1, Ordering::Relaxed)) {
            found.push((scene.name, of_scene(scene)));
        }
        found
    };
    let mut all = std::thread::scope(|scope| {
        let other = scope.spawn(run);
        let mut own = run();
        own.extend(other.join().expect("no scene panics"));
        own
    });
    let place = |name: &str| scenes().iter().position(|s| s.name == name);
    all.sort_by_key(|(name, _)| place(name));
    all
}

/// The record as it is, or an empty one.
pub fn read() -> Map<String, Value> {
    let text = std::fs::read_to_string(path()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Writes the record with the hashes of this precision replaced. One line a scene, by name, so that a change is one line
/// of a diff.
#[allow(dead_code, reason = "the test only reads")]
pub fn write(hashes: &[(&'static str, Vec<String>)]) -> std::io::Result<()> {
    let mut record = read();
    let scenes: Map<String, Value> = hashes.iter().map(|(name, h)| ((*name).to_owned(), json!(h))).collect();
    record.insert(PRECISION.to_owned(), Value::Object(scenes));
    let mut text = format!("{{\n  \"ticks\": {}", json!(TICKS));
    for precision in ["f32", "f64"] {
        let Some(Value::Object(scenes)) = record.get(precision) else { continue };
        let lines: Vec<String> = scenes.iter().map(|(name, h)| format!("    {}: {h}", json!(name))).collect();
        text += &format!(",\n  \"{precision}\": {{\n{}\n  }}", lines.join(",\n"));
    }
    std::fs::write(path(), text + "\n}\n")
}
