//! Scene files, from any bytes and from a grammar, and the worlds that they define.

use crate::grammar::Draw;
use crate::{assert_finite, is_quick};
use sinew::World;
use sinew_scene::file::{self, About, SceneFile, Syntax, read_text};

/// Maximum number of steps of a scene of the grammar, and the work after which it ends earlier: tracked pairs of
/// features and solved rows, total of all steps. A body in self-contact everywhere under `intersection_free` takes a second
/// per step.
pub const STEPS: u32 = 60;
const WORK: u64 = 60_000;
/// Worlds with more nodes or bodies are built but not stepped: a file may define half a million.
const SMALL: usize = 150;
/// Maximum number of rounds in which refused tables are removed from a scene.
const ROUNDS: usize = 8;

/// A scene file in TOML: refused, or a world that can be stepped and written.
pub fn toml(bytes: &[u8]) {
    text(bytes, Syntax::Toml, "fuzz.toml");
}

/// The same in JSON.
pub fn json(bytes: &[u8]) {
    text(bytes, Syntax::Json, "fuzz.json");
}

fn text(bytes: &[u8], syntax: Syntax, name: &str) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let scene = match read_text(text, name, syntax) {
        Ok(scene) => scene,
        Err(problems) => {
            assert!(!problems.render().is_empty(), "refused without a message");
            return;
        }
    };
    let mut world = scene.build().expect("it was built once");
    let counts = scene.counts();
    if counts.rigid + counts.nodes > SMALL || !is_quick(world.settings()) {
        return;
    }
    run(&scene, &mut world, 2, u64::MAX);
    let written = file::write(&world, &About::default(), syntax).expect("no rows of its own");
    let copy = read_text(&written, name, syntax).unwrap_or_else(|problems| panic!("our own file: {problems}"));
    let copy = copy.build().expect("it was built once");
    assert_eq!(copy.hash(), world.hash(), "a written world differs from the original");
}

/// Runs a scene up to a number of steps or an amount of work; returns the number of steps.
fn run(scene: &SceneFile, world: &mut World, steps: u32, most: u64) -> u32 {
    let mut work = 0;
    for step in 0..steps {
        if work > most {
            return step;
        }
        let input = scene.input(world.settings(), world.state().tick);
        let counts = world.step(&input).counts;
        let rows = counts.contact_rows + counts.constraint_rows + counts.internal_rows;
        work += u64::from(counts.near_features) + u64::from(rows);
        assert_finite(world);
    }
    steps
}

/// A scene of the grammar: refused tables are removed, the remainder runs for one second.
pub fn step(bytes: &[u8]) {
    steps(bytes);
}

/// The same, with the number of steps: 0 when it is too large to run; `None` when nothing is left of it.
pub fn steps(bytes: &[u8]) -> Option<u32> {
    let (scene, _) = generated(bytes)?;
    let mut world = scene.build().expect("it was built once");
    let quick = scene.counts().nodes <= SMALL && is_quick(world.settings());
    Some(if quick { run(&scene, &mut world, STEPS, WORK) } else { 0 })
}

/// The scene that these bytes encode, and its text.
pub fn generated(bytes: &[u8]) -> Option<(SceneFile, String)> {
    let mut tables = Draw::new(bytes).tables();
    for _ in 0..ROUNDS {
        let text: String = tables.iter().map(|(head, body)| format!("[{head}]\n{body}")).collect();
        let problems = match read_text(&text, "fuzz.toml", Syntax::Toml) {
            Ok(scene) => return Some((scene, text)),
            Err(problems) => problems,
        };
        let before = tables.len();
        tables.retain(|(head, _)| !problems.iter().any(|p| p.path == *head || p.path.starts_with(&format!("{head}."))));
        // duplicate keys and similar errors are reported by line, not by path
        if tables.len() == before {
            tables.pop();
        }
    }
    None
}
