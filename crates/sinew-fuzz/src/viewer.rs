//! Commands of a viewer, line by line: refused, or executed by a world that continues.

use crate::assert_finite;
use sinew_scene::file::{SceneFile, Syntax, read_text};
use sinew_scene::gallery;
use sinew_server::command::ViewerCommand;
use sinew_server::session::{Session, Show};
use std::sync::{Arc, OnceLock};

/// A body of each kind to grab, and a parameter for a slider.
const SCENE: &str = "
[parameters.height]
value = 0.3
low = 0.1
high = 1
[bodies.floor]
kind = 'fixed'
shape = 'half_space'
[bodies.ball]
kind = 'dynamic'
shape = { kind = 'ball', radius = 0.1 }
position = [0, '$height', 0]
[bodies.jelly]
kind = 'soft'
geometry = { kind = 'block', cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }
material = 'jelly'
position = [0.5, 0.1, 0]
";
/// Maximum number of lines that are read.
const LINES: usize = 12;

/// Commands, one per line; the first character of a line, if it is a digit, selects the viewer.
pub fn commands(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let commands: Vec<(u32, ViewerCommand)> = text.lines().take(LINES).filter_map(read).collect();
    if commands.is_empty() {
        return;
    }
    static READ: OnceLock<SceneFile> = OnceLock::new();
    let scene = READ.get_or_init(|| read_text(SCENE, "fuzz.toml", Syntax::Toml).expect("our own scene"));
    let mut session = Session::new(Show::new(scene.clone()), Arc::default(), Arc::default()).expect("our own scene");
    for (viewer, command) in commands {
        session.apply(viewer, command);
        session.settle();
        session.step();
        assert_finite(session.world());
    }
}

fn read(line: &str) -> Option<(u32, ViewerCommand)> {
    let viewer = line.chars().next().and_then(|c| c.to_digit(10));
    let command = ViewerCommand::read(&line[usize::from(viewer.is_some())..]).ok()?;
    // the gallery has its own tests, and its large scenes take a second to build
    let large = |name: &str| name != "stack" && gallery::find(name).is_some();
    match &command {
        ViewerCommand::Scene { name } if large(name) => None,
        _ => Some((viewer.unwrap_or(0), command)),
    }
}
