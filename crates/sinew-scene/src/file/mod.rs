//! Scene files: TOML, or the same tables as JSON. `docs/scene-files.md` has every table.
//!
//! ```
//! use sinew_scene::file::{Syntax, read_text};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"
//! [bodies.floor]
//! kind = "fixed"
//! shape = "half_space"
//!
//! [bodies.ball]
//! kind = "dynamic"
//! shape = { kind = "ball", radius = 0.1 }
//! position = [0, 1, 0]
//! "#;
//! let scene = read_text(text, "ball.toml", Syntax::Toml)?;
//! let mut world = scene.build()?;
//! for _ in 0..120 {
//!     let input = scene.input(world.settings(), world.state().tick);
//!     world.step(&input);
//! }
//! assert!(world.bodies().all(|b| b.position().y < 0.11));
//! # Ok(()) }
//! ```
//!
//! Stages: text -> tree with positions (`toml_text`, `json_text`) -> one tree of all includes (`include`) -> changes of
//! the command line (`overrides`) -> parameters (`parameters`) -> words of the previous version (`deprecated`) -> typed
//! values and all errors (`form`, one file per family) -> a world that is built once as a check (`document`). `write` is
//! the inverse.

mod body;
mod combined;
mod deprecated;
mod described;
mod document;
mod form;
mod geometry;
mod include;
mod joint;
mod json_text;
mod keys;
mod models;
mod motion;
mod overrides;
mod parameters;
mod plain;
mod print;
mod problem;
mod schema;
mod seam;
mod settings;
mod settings_override;
mod shape;
mod state;
mod surface;
mod toml_scalar;
mod toml_table;
mod toml_text;
mod tool;
mod tree;
mod write;

pub use deprecated::current_sets;
pub use include::Syntax;
pub use parameters::Parameter;
pub use problem::{Problem, Problems};
pub use settings::Camera;
pub use settings_override::{is_setting, override_settings};
pub use write::{About, write, write_scene};

use crate::validate::tools::num;
use document::Document;
use include::Loader;
use problem::Source;
use sinew::{Error, Input, Settings, World};
use std::path::{Path, PathBuf};

/// Duration of a scene without `seconds` [s].
const USUAL_SECONDS: f64 = 5.0;

/// A scene that was read from a file and validated.
///
/// ```
/// use sinew_scene::file::{About, Syntax, read_text, write};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\n";
/// let scene = read_text(text, "ball.toml", Syntax::Toml)?;
/// assert_eq!(scene.counts().rigid, 1);
/// let mut world = scene.build()?;
/// let input = scene.input(world.settings(), 0);
/// world.step(&input);
/// // errors have line and path
/// let errors = read_text("[bodies.ball]\nkind = 'dynamik'\n", "ball.toml", Syntax::Toml).unwrap_err();
/// assert!(errors.iter().any(|problem| problem.path == "bodies.ball.kind"));
/// // a running world can be written to a file
/// let again = write(&world, &About::default(), Syntax::Json)?;
/// assert_eq!(read_text(&again, "ball.json", Syntax::Json)?.build()?.hash(), world.hash());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct SceneFile {
    document: Document,
    name: String,
    counts: Counts,
    files: Vec<PathBuf>,
    warnings: Problems,
}

/// Numbers of entities in a scene.
///
/// An example is at [`file::SceneFile`](crate::file::SceneFile).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rigid bodies, fixed ones too.
    pub rigid: usize,
    /// Soft bodies and sets of particles.
    pub soft: usize,
    /// Their nodes.
    pub nodes: usize,
    /// Joints, rods, ropes, springs.
    pub joints: usize,
    /// Scripted motions.
    pub motions: usize,
}

/// Reads a scene file.
///
/// # Errors
/// All errors of the file and of those that it includes.
pub fn read(path: impl AsRef<Path>) -> Result<SceneFile, Problems> {
    read_with(path, &[])
}

/// Reads a scene file with changes, each as `path=value`.
///
/// # Errors
/// All errors of the file, of those that it includes and of the changes.
pub fn read_with(path: impl AsRef<Path>, sets: &[String]) -> Result<SceneFile, Problems> {
    let path = path.as_ref();
    let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let mut loader = Loader::default();
    let tree = loader.file(path, None);
    finish(loader, tree, name, sets)
}

/// Reads a scene from text; `name` is for messages, and relative paths start at its folder.
///
/// # Errors
/// All errors of the text.
///
/// ```
/// use sinew_scene::file::{Syntax, read_text};
/// let errors = read_text("[bodies.ball]\nkind = 'dynamc'\n", "ball.toml", Syntax::Toml).unwrap_err();
/// assert_eq!(errors.to_string(), "ball.toml:2:8: bodies.ball.kind: unknown word 'dynamc'; did you mean 'dynamic'?");
/// ```
pub fn read_text(text: &str, name: &str, syntax: Syntax) -> Result<SceneFile, Problems> {
    read_text_with(text, name, syntax, &[])
}

/// Reads a scene from text with changes, each as `path=value`.
///
/// # Errors
/// All errors of the text and of the changes.
pub fn read_text_with(text: &str, name: &str, syntax: Syntax, sets: &[String]) -> Result<SceneFile, Problems> {
    let folder = Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
    let mut loader = Loader::default();
    let tree = loader.source(Source { name: name.to_owned(), folder, text: text.to_owned() }, syntax);
    let stem = Path::new(name).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    finish(loader, tree, stem, sets)
}

fn finish(mut loader: Loader, tree: Option<tree::Node>, name: String, sets: &[String]) -> Result<SceneFile, Problems> {
    let (sets, mut old_sets) = deprecated::current_sets(sets)?;
    let first_set = loader.sources.len();
    loader.sources.extend(sets.iter().map(|set| overrides::source(set)));
    let mut files = std::mem::take(&mut loader.files);
    let mut reader = loader.reader();
    let Some(mut tree) = tree else {
        reader.problems.sort();
        return Err(reader.problems);
    };
    for i in 0..sets.len() {
        overrides::apply(&mut tree, (first_set + i) as u16, &mut reader);
    }
    let parameters = parameters::resolve(&mut tree, &mut reader);
    reader.rename(&mut tree);
    match Document::read(tree, parameters, &mut reader) {
        Some((document, world)) => {
            let counts = Counts::of(&document, &world);
            let name = document.head.name.clone().unwrap_or(name);
            files.append(&mut reader.files);
            old_sets.append(reader.warnings);
            old_sets.sort();
            Ok(SceneFile { document, name, counts, files, warnings: old_sets })
        }
        None => {
            reader.problems.sort();
            Err(reader.problems)
        }
    }
}

impl Counts {
    fn of(document: &Document, world: &World) -> Self {
        let rigid = world.bodies().filter(|b| b.is_rigid()).count();
        Self {
            rigid,
            soft: world.bodies().count() - rigid,
            nodes: world.state().node_x.len(),
            joints: document.joints.len() + document.tools.len(),
            motions: document.motions.len(),
        }
    }
}

impl SceneFile {
    /// Its name, or that of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All files that it was read from: scene files with those that they include, and meshes.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Deprecated words that it contains, each with its place and the present word.
    pub fn warnings(&self) -> &Problems {
        &self.warnings
    }

    /// Description in one sentence.
    pub fn about(&self) -> &str {
        &self.document.head.about
    }

    /// The figure that it reproduces, or empty.
    pub fn figure(&self) -> &str {
        &self.document.head.figure
    }

    /// Its duration [s].
    pub fn seconds(&self) -> f64 {
        self.document.head.seconds.map_or(USUAL_SECONDS, |s| s.0)
    }

    /// Its camera, if it has one.
    pub fn camera(&self) -> Option<Camera> {
        self.document.head.camera
    }

    /// Its named values.
    pub fn parameters(&self) -> &[Parameter] {
        &self.document.parameters
    }

    /// Numbers of its entities.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Builds its world, identical each time.
    ///
    /// # Errors
    /// None in practice: the world was built once when the file was read.
    pub fn build(&self) -> Result<World, Error> {
        self.document.build()
    }

    /// The commands of the scripted motions in the step that begins at this tick, with the time step of `settings`. A
    /// pure function.
    pub fn input(&self, settings: &Settings, tick: u64) -> Input {
        let dt = num(settings.dt);
        let mut commands = Vec::new();
        for (spec, target) in &self.document.motions {
            spec.commands(*target, tick, dt, &mut commands);
        }
        Input { commands }
    }
}

/// The JSON Schema of scene files, as JSON.
pub fn json_schema() -> String {
    print::json(&document::schema())
}
