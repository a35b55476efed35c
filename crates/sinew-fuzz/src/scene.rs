//! Scene files, from any bytes and from a grammar; and the worlds they make.

use crate::grammar::Draw;
use crate::{assert_finite, is_quick};
use sinew::World;
use sinew_scene::file::{self, About, SceneFile, Syntax, read_text};

/// Steps that a scene of the grammar makes, and when it ends before them: pairs of features that were followed and rows
/// that were solved, all steps together. What touches itself everywhere under `guaranteed` takes a second a step.
pub const STEPS: u32 = 60;
const WORK: u64 = 60_000;
/// Worlds with more nodes or bodies are built and not stepped: a file may ask for half a million.
const SMALL: usize = 150;
/// How often culprits are taken out of a scene that was refused.
const ROUNDS: usize = 8;

/// A scene file in TOML: refused, or a world that can be stepped and written down.
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
            assert!(!problems.render().is_empty(), "refused without a word");
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
    assert_eq!(copy.hash(), world.hash(), "a world that was written down is another one");
}

/// Runs a scene until so many steps, or so much work, are done; tells how many steps.
fn run(scene: &SceneFile, world: &mut World, steps: u32, most: u64) -> u32 {
    let mut work = 0;
    for step in 0..steps {
        if work > most {
            return step;
        }
        let input = scene.input(world.settings(), world.state().tick);
        let counts = world.step(&input).counts;
        let rows = counts.contact_rows + counts.constraint_rows + counts.inner_rows;
        work += u64::from(counts.near_features) + u64::from(rows);
        assert_finite(world);
    }
    steps
}

/// A scene of the grammar: what is refused is taken out, the rest runs for a second.
pub fn step(bytes: &[u8]) {
    steps(bytes);
}

/// The same, and how many steps it made: none when it is too large to be run; nothing when nothing is left of it.
pub fn steps(bytes: &[u8]) -> Option<u32> {
    let (scene, _) = generated(bytes)?;
    let mut world = scene.build().expect("it was built once");
    let quick = scene.counts().nodes <= SMALL && is_quick(world.settings());
    Some(if quick { run(&scene, &mut world, STEPS, WORK) } else { 0 })
}

/// The scene that these bytes stand for, and its text.
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
        // keys that stand twice, and the like: told by line, not by path
        if tables.len() == before {
            tables.pop();
        }
    }
    None
}
