//! `sinew run --write FILE`: the world at the end as a scene file that continues from there.

use crate::failure::{Failure, named};
use crate::place::Place;
use sinew::World;
use sinew_scene::AnyScene;
use sinew_scene::file::{About, Syntax, write, write_scene};
use std::path::Path;

/// Destination of the world, checked before the run.
pub struct WriteBack {
    place: Place,
    syntax: Syntax,
}

impl WriteBack {
    /// Refuses names without the extension of a scene file, and destinations that cannot be written.
    ///
    /// The scene itself may be replaced: it then continues from its end. Files that it includes may not.
    pub fn to(path: &Path, scene: &Path) -> Result<Self, Failure> {
        let message = "a scene file ends in .toml or .json, which chooses its form; stdout has none";
        let syntax = Syntax::of(path).ok_or_else(|| Failure::input(format!("--write {}: {message}", named(path))))?;
        let is_scene = path.canonicalize().is_ok_and(|path| scene.canonicalize().is_ok_and(|scene| scene == path));
        let place = if is_scene { Place::open_over_input(path) } else { Place::open(path) }?;
        Ok(Self { place, syntax })
    }

    /// Its destination.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Writes the world as it is; motions of a scene file go with it.
    pub fn write(self, scene: &AnyScene, world: &World) -> Result<(), Failure> {
        let about = About { about: scene.about().to_owned(), seconds: scene.seconds(), ..About::default() };
        let text = match scene {
            AnyScene::File(file) => write_scene(world, &about, file, self.syntax)?,
            AnyScene::BuiltIn(_) | AnyScene::WithLaw(..) => write(world, &about, self.syntax)?,
        };
        self.place.save(text.as_bytes())
    }
}
