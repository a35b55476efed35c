//! Scene files, from any bytes and from a grammar; and the worlds they make.

use crate::grammar::Draw;
use crate::{assert_finite, is_quick};
use sinew::World;
use sinew_scene::file::{self, About, SceneFile, Syntax, read_text};

/// Steps that a scene of the grammar makes.
const STEPS: u32 = 60;
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
    run(&scene, &mut world, 2);
    let written = file::write(&world, &About::default(), syntax).expect("no rows of its own");
    let copy = read_text(&written, name, syntax).unwrap_or_else(|problems| panic!("our own file: {problems}"));
    let copy = copy.build().expect("it was built once");
    assert_eq!(copy.hash(), world.hash(), "a world that was written down is another one");
}

fn run(scene: &SceneFile, world: &mut World, steps: u32) {
    for _ in 0..steps {
        let input = scene.input(world.settings(), world.state().tick);
        world.step(&input);
        assert_finite(world);
    }
}

/// A scene of the grammar: what is refused is taken out, the rest runs for a second.
pub fn step(bytes: &[u8]) {
    let Some((scene, _)) = generated(bytes) else { return };
    let mut world = scene.build().expect("it was built once");
    if scene.counts().nodes <= SMALL && is_quick(world.settings()) {
        run(&scene, &mut world, STEPS);
    }
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
