//! Opening a scene by the word that names it: a built-in scene or a file, with changes as the command line has them.

use crate::escape::{escaped, excerpt};
use crate::file::{self, Problems, Syntax};
use crate::{AnyScene, gallery};
use sinew::friction::Law;
use sinew::{Error, World};
use std::fmt;
use std::path::Path;

/// The friction law of all surfaces of a built-in scene.
const LAW: &str = "parameters.law=";

/// Prefixes of changes of a scene file; all others are settings.
const TABLES: [&str; 6] = ["bodies.", "combined.", "joints.", "motions.", "parameters.", "camera."];

/// Characters of an unknown word that are shown.
const WORD: usize = 60;

/// A scene with the changes that were asked for.
///
/// ```
/// use sinew_scene::open::open;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let opened = open("pudding", &["parameters.stiffness=3e4".to_owned(), "settings.substeps=8".to_owned()])?;
/// let world = opened.world()?;
/// assert_eq!(world.settings().substeps, 8);
/// assert!(open("puding", &[]).unwrap_err().to_string().contains("did you mean 'pudding'?"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Opened {
    /// The scene.
    pub scene: AnyScene,
    /// Changes of settings, made when the world is built.
    pub sets: Vec<String>,
    /// Deprecated words that were read.
    pub warnings: Vec<Problems>,
}

/// A word that is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    kind: &'static str,
    word: String,
    meant: Option<String>,
    known: String,
}

/// Why a scene was not opened.
#[derive(Clone, Debug)]
pub enum OpenError {
    /// No scene or law of this name.
    Unknown(Unknown),
    /// Errors of the scene or of a change.
    Problems(Problems),
    /// An error of the engine.
    Engine(Error),
}

impl Unknown {
    /// A word of a kind, the one that was probably meant, and a text with all.
    pub fn new(kind: &'static str, word: &str, meant: Option<&str>, known: &str) -> Self {
        Self { kind, word: word.to_owned(), meant: meant.map(str::to_owned), known: known.to_owned() }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = excerpt(&self.word, WORD);
        write!(f, "unknown {} '{}'", self.kind, escaped(&word))?;
        if let Some(meant) = &self.meant {
            write!(f, "; did you mean '{}'?", escaped(meant))?;
        }
        write!(f, "\n{}", self.known)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(unknown) => unknown.fmt(f),
            Self::Problems(problems) => f.write_str(&problems.render()),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<Problems> for OpenError {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Error> for OpenError {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// The friction law of a name, with its usual parameters.
///
/// # Errors
/// An unknown name.
pub fn law_named(name: &str) -> Result<Law, OpenError> {
    let law = Law::all().into_iter().find(|l| l.name() == name);
    law.ok_or_else(|| {
        let known = Law::all().map(|l| l.name()).join(", ");
        OpenError::Unknown(Unknown::new("law", name, None, &format!("laws are {known}")))
    })
}

/// The scene of a name: built-in, or a `.toml` or `.json` file; with changes, each as `path=value`.
///
/// # Errors
/// An unknown name, and all errors of the file and of the changes to its tables. Changes of settings are examined by
/// [`Opened::world`].
pub fn open(name: &str, sets: &[String]) -> Result<Opened, OpenError> {
    let (sets, old) = file::current_sets(sets)?;
    let mut warnings = vec![old];
    if let Some(scene) = gallery::find(name) {
        let (laws, plain): (Vec<String>, Vec<String>) = sets.into_iter().partition(|set| set.starts_with(LAW));
        let (scene, sets) = match laws.last() {
            Some(law) => (AnyScene::WithLaw(scene, law_named(law[LAW.len()..].trim())?), plain),
            None => built_in(scene, plain)?,
        };
        return Ok(Opened { scene, sets, warnings });
    }
    if Syntax::of(Path::new(name)).is_some() {
        let (sets, inner): (Vec<String>, Vec<String>) = sets.into_iter().partition(|set| file::is_setting(set));
        let scene = file::read_with(name, &inner)?;
        warnings.push(scene.warnings().clone());
        return Ok(Opened { scene: scene.into(), sets, warnings });
    }
    let known: Vec<&str> = gallery::scenes().iter().map(|s| s.name).collect();
    let known = format!("built-in scenes: {}\nor name a .toml or .json file", known.join(", "));
    Err(OpenError::Unknown(Unknown::new("scene", name, gallery::suggest(name), &known)))
}

/// The scene of a text; relative paths in it start at the folder of `name`.
///
/// # Errors
/// All errors of the text and of the changes.
pub fn open_text(text: &str, name: &str, syntax: Syntax, sets: &[String]) -> Result<Opened, OpenError> {
    let (sets, old) = file::current_sets(sets)?;
    let (sets, inner): (Vec<String>, Vec<String>) = sets.into_iter().partition(|set| file::is_setting(set));
    let scene = file::read_text_with(text, name, syntax, &inner)?;
    let warnings = vec![old, scene.warnings().clone()];
    Ok(Opened { scene: scene.into(), sets, warnings })
}

/// A scene of the gallery; one that is a file takes changes like a file.
fn built_in(scene: &'static gallery::Scene, sets: Vec<String>) -> Result<(AnyScene, Vec<String>), OpenError> {
    let of_file = |set: &String| TABLES.iter().any(|table| set.trim_start().starts_with(table));
    match scene.text {
        Some(text) if sets.iter().any(of_file) => {
            let (inner, plain): (Vec<String>, Vec<String>) = sets.into_iter().partition(of_file);
            let read = file::read_text_with(text, &format!("{}.toml", scene.name), Syntax::Toml, &inner)?;
            Ok((read.into(), plain))
        }
        _ => Ok((scene.into(), sets)),
    }
}

impl Opened {
    /// Builds the world with the changes of settings.
    ///
    /// # Errors
    /// Errors of the changes, and of the engine.
    pub fn world(&self) -> Result<World, OpenError> {
        let mut world = self.scene.build()?;
        let (settings, _) = file::override_settings(world.settings(), &self.sets)?;
        world.set_settings(settings)?;
        Ok(world)
    }
}
