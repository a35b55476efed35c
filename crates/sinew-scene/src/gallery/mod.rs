//! Built-in scenes: scene files, and Rust functions for worlds that a file cannot express, each with scripted inputs and a
//! description.
//!
//! ```
//! use sinew_scene::gallery;
//! # fn main() -> Result<(), sinew::Error> {
//! let scene = gallery::find("domino").expect("it is in the gallery");
//! let mut world = (scene.build)()?;
//! for _ in 0..60 {
//!     let input = (scene.input)(&world, world.state().tick);
//!     world.step(&input);
//! }
//! assert!(world.report().faults.is_empty());
//! # Ok(()) }
//! ```

mod classic;
mod cylinders;
mod dish;
mod drapery;
mod drops;
mod file_scenes;
mod free;
mod friction;
pub mod grasp;
mod machines;
mod near;
#[cfg(test)]
mod paper_tests;
mod particles;
mod stacks;
mod teapots;
#[cfg(test)]
mod tests;

pub use cylinders::cylinders;
pub use drapery::scaling;
pub use friction::with_law;
pub use near::near_miss;
pub use teapots::{Rig as TeapotRig, WHEEL as TEAPOT_WHEEL, teapots};

use sinew::{BodyId, Error, Input, RigidBody, Shape, SurfaceMaterial, World};

/// A built-in scene.
///
/// ```
/// use sinew_scene::gallery;
/// # fn main() -> Result<(), sinew::Error> {
/// let stack = gallery::find("stack").expect("a built-in scene");
/// assert!((stack.build)()?.bodies().count() > 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// The word that names it on the command line.
    pub name: &'static str,
    /// One sentence: what to look at.
    pub about: &'static str,
    /// The figure that it reproduces, or empty.
    pub figure: &'static str,
    /// Makes its world, the same one each time.
    pub build: fn() -> Result<World, Error>,
    /// The external input of the step that begins at this tick. A pure function: a restored world gets the same input.
    pub input: fn(&World, u64) -> Input,
    /// How long it is worth watching [s].
    pub seconds: f64,
    /// The scene file that it is, if it is one.
    pub text: Option<&'static str>,
}

/// All scenes, in the order in which they are listed.
static SCENES: [Scene; 45] = [
    dish::JELLY,
    drapery::CLOTH,
    teapots::TEAPOTS,
    file_scenes::MIXED,
    drapery::SCALING,
    cylinders::COARSE,
    cylinders::DETAILED,
    friction::CYLINDERS_FRICTION,
    friction::CYLINDERS_SLIPPERY,
    file_scenes::BALL_INCLINE,
    file_scenes::STICK_SLIP,
    file_scenes::GRIP,
    file_scenes::PUDDING,
    file_scenes::MODELS,
    file_scenes::DRAPE,
    file_scenes::ROPES,
    file_scenes::DENT,
    file_scenes::STACK,
    stacks::PYRAMID,
    stacks::PILE,
    stacks::DOMINO,
    stacks::ARCH,
    file_scenes::CRADLE,
    machines::WHEEL,
    file_scenes::CHAIN,
    machines::BRIDGE,
    file_scenes::GYROSCOPE,
    drops::BOWL,
    drops::TERRAIN,
    file_scenes::BULLET,
    particles::MIXED_PARTICLES,
    classic::CLASSIC,
    free::SWARM,
    file_scenes::TWIST_CHAIN,
    grasp::BLOCK,
    grasp::CYLINDER,
    grasp::CYLINDER_RIGID,
    grasp::TILTED,
    file_scenes::HAND,
    file_scenes::ARM,
    file_scenes::PRESS,
    file_scenes::PROBE_CUBE,
    file_scenes::PALPATION,
    file_scenes::TWO_TOOLS,
    file_scenes::GRAB_LIVER,
];

/// All built-in scenes.
pub fn scenes() -> &'static [Scene] {
    &SCENES
}

/// The scene of this name.
pub fn find(name: &str) -> Option<&'static Scene> {
    SCENES.iter().find(|s| s.name == name)
}

/// The name that was probably meant.
///
/// ```
/// assert_eq!(sinew_scene::gallery::suggest("pyramyd"), Some("pyramid"));
/// assert_eq!(sinew_scene::gallery::suggest("xyzzy"), None);
/// ```
pub fn suggest(name: &str) -> Option<&'static str> {
    near_miss(name, SCENES.iter().map(|s| s.name))
}

/// Names the body whose mesh was refused.
fn refused<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> Error {
    move |reason| Error::BadShape { shape: what.to_owned(), reason: reason.to_string() }
}

/// The script of a scene that runs by itself.
fn no_input(_: &World, _: u64) -> Input {
    Input::none()
}

/// Adds a fixed half-space whose surface is y = 0.
fn floor(world: &mut World, material: SurfaceMaterial) -> Result<BodyId, Error> {
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(sinew::Vec3::Y)).material(material).named("floor"))
}

/// The body of a name, for scripts: they cannot hold ids.
fn named(world: &World, name: &str) -> Option<BodyId> {
    world.bodies().find(|b| b.name() == name).map(|b| b.id())
}
