//! A scene of the gallery or of a file.

use crate::file::{SceneFile, Syntax, read_text};
use crate::gallery::{Scene, with_law};
use sinew::friction::Law;
use sinew::{Error, Input, World};
use std::sync::Arc;

/// A scene of any origin.
///
/// ```
/// use sinew_scene::{AnyScene, gallery};
/// # fn main() -> Result<(), sinew::Error> {
/// let scene = AnyScene::from(gallery::find("stack").expect("it is in the gallery"));
/// let mut world = scene.build()?;
/// let input = scene.input(&world, world.state().tick);
/// world.step(&input);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub enum AnyScene {
    /// One of the gallery that is not a file.
    BuiltIn(&'static Scene),
    /// One of the gallery with another friction law on all surfaces.
    WithLaw(&'static Scene, Law),
    /// One of a file.
    File(Arc<SceneFile>),
}

impl From<&'static Scene> for AnyScene {
    /// A scene of the gallery that is a file keeps its parameters and its camera.
    fn from(scene: &'static Scene) -> Self {
        match scene.text.map(|text| read_text(text, &format!("{}.toml", scene.name), Syntax::Toml)) {
            Some(Ok(file)) => file.into(),
            _ => Self::BuiltIn(scene),
        }
    }
}

impl From<SceneFile> for AnyScene {
    fn from(file: SceneFile) -> Self {
        Self::File(Arc::new(file))
    }
}

impl AnyScene {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(scene) | Self::WithLaw(scene, _) => scene.name,
            Self::File(file) => file.name(),
        }
    }

    /// Description in one sentence.
    pub fn about(&self) -> &str {
        match self {
            Self::BuiltIn(scene) | Self::WithLaw(scene, _) => scene.about,
            Self::File(file) => file.about(),
        }
    }

    /// Its duration [s].
    pub fn seconds(&self) -> f64 {
        match self {
            Self::BuiltIn(scene) | Self::WithLaw(scene, _) => scene.seconds,
            Self::File(file) => file.seconds(),
        }
    }

    /// Builds its world, identical each time.
    ///
    /// # Errors
    /// An error of the engine; a scene that was read from a file has been built once already.
    pub fn build(&self) -> Result<World, Error> {
        match self {
            Self::BuiltIn(scene) => (scene.build)(),
            Self::WithLaw(scene, law) => with_law(&(scene.build)()?, *law),
            Self::File(file) => file.build(),
        }
    }

    /// The external input of the step that begins at this tick. A pure function.
    pub fn input(&self, world: &World, tick: u64) -> Input {
        match self {
            Self::BuiltIn(scene) | Self::WithLaw(scene, _) => (scene.input)(world, tick),
            Self::File(file) => file.input(world.settings(), tick),
        }
    }
}
