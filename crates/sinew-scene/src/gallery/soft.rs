//! Soft bodies.

use super::{Scene, floor, no_input};
use sinew::{Error, Matter, Real, RigidBody, Settings, Shape, SoftBody, TetMesh, Vec3, World};

/// A jelly to pull.
pub(super) const JELLY: Scene = Scene {
    name: "jelly",
    about: "A jelly lands on the floor and wobbles; a bar of chocolate sinks into it.",
    figure: "ICD Fig. 2",
    build: jelly,
    input: no_input,
    seconds: 5.0,
};

fn jelly() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let matter = Matter::jelly();
    floor(&mut world, matter.surface())?;
    let shape = |e: sinew::TetMeshError| Error::BadShape { shape: "jelly".into(), reason: e.to_string() };
    let mesh = TetMesh::block([8, 6, 8], Vec3::new(0.2, 0.15, 0.2)).map_err(shape)?;
    world.add_soft(SoftBody::corotational(mesh, matter).at([0.0, 0.2, 0.0]).named("jelly"))?;
    let bar = Shape::cuboid(0.07, 0.01, 0.035);
    let chocolate = RigidBody::dynamic().shape(bar).mass(0.15 as Real).material(matter.surface());
    world.add_rigid(chocolate.at([0.0, 0.4, 0.0]).named("chocolate"))?;
    Ok(world)
}
