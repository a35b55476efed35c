//! All kinds of bodies at once: a cloth over two jellies that carry a box with a stack of five on it.

use super::{Scene, floor, no_input, refused};
use sinew::{
    Diagonals, Error, Geometry, Material, Matter, Real, RigidBody, Settings, Shape, SoftBody, SoftModel, TetMesh,
    TriMesh, Vec3, World, fem,
};

/// Everything touches everything.
pub(super) const MIXED: Scene = Scene {
    name: "mixed",
    about: "A cloth lies over two jellies that carry a box, and a stack of five stands on the box.",
    figure: "",
    build: mixed,
    input: no_input,
    seconds: 10.0,
};

/// Half of a box of the stack [m].
const HALF: Real = 0.05;

fn mixed() -> Result<World, Error> {
    let mut world = World::new(Settings { dt: 0.02, ..Settings::default() })?;
    let surface = Material::friction(0.6);
    floor(&mut world, surface)?;
    let matter = Matter::new(5e4, 0.4, 1000.0).damping(0.02).friction(0.6);
    for (name, x) in [("left jelly", -0.17), ("right jelly", 0.17)] {
        let mesh = TetMesh::block([6, 4, 6], Vec3::new(0.24, 0.16, 0.24)).map_err(refused("jelly"))?;
        world.add_soft(SoftBody::corotational(mesh, matter).at([x, 0.0805, 0.0]).named(name))?;
    }
    let sheet = TriMesh::sheet([12, 8], [0.6, 0.26], Diagonals::Alternating).map_err(refused("cloth"))?;
    let cloth = fem::MembraneParams { density: 300.0, thickness: 1e-3, ..Default::default() };
    let body = SoftBody::new(Geometry::Sheet(sheet), SoftModel::Membrane(cloth)).thickness(0.003).material(surface);
    world.add_soft(body.damping(0.5).at([0.0, 0.1645, 0.0]).named("cloth"))?;
    let tray = RigidBody::dynamic().shape(Shape::cuboid(0.27, 0.02, 0.1)).mass(1.0).material(surface);
    world.add_rigid(tray.at([0.0, 0.1885, 0.0]).named("tray"))?;
    for i in 0..5 {
        let y = 0.209 + HALF * (1.0 + 2.005 * i as Real);
        let cube = RigidBody::dynamic().shape(Shape::cuboid(HALF, HALF, HALF)).mass(0.5).material(surface);
        world.add_rigid(cube.at([0.0, y, 0.0]).named(format!("box {i}")))?;
    }
    Ok(world)
}
