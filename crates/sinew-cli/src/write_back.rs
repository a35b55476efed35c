//! `sinew run --write FILE`: the world at the end as a scene file that goes on from there.

use crate::failure::{Failure, named};
use crate::place::Place;
use sinew::World;
use sinew_scene::AnyScene;
use sinew_scene::file::{About, Syntax, write, write_scene};
use std::path::Path;

/// Where the world goes, known to be good before the run.
pub struct WriteBack {
    place: Place,
    syntax: Syntax,
}

impl WriteBack {
    /// Refuses names that do not tell the form of the file, and places that cannot be written.
    ///
    /// The scene itself may be replaced: it goes on from its end then. Files that it includes may not.
    pub fn to(path: &Path, scene: &Path) -> Result<Self, Failure> {
        let told = "a scene file ends in .toml or .json, which chooses its form; stdout has none";
        let syntax = Syntax::of(path).ok_or_else(|| Failure::input(format!("--write {}: {told}", named(path))))?;
        let is_scene = path.canonicalize().is_ok_and(|path| scene.canonicalize().is_ok_and(|scene| scene == path));
        let place = if is_scene { Place::open_over_input(path) } else { Place::open(path) }?;
        Ok(Self { place, syntax })
    }

    /// Where it goes.
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
