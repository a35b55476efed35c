//! Bare particles among rigid bodies.

use super::{Scene, floor, no_input};
use sinew::{
    Distance, Error, Particles, Real, RigidBody, Settings, Shape, Site, Stabilization, SurfaceMaterial, Vec3, World,
};

/// Rain on boxes, and a rope.
pub const MIXED_PARTICLES: Scene = Scene {
    name: "mixed-particles",
    about: "Particles rain on boxes, and a rope of particles holds a swinging box: one solver for all.",
    figure: "",
    build: mixed,
    input: no_input,
    seconds: 6.0,
    text: None,
};

const RAIN_SIDE: usize = 12;
const RAIN_LAYERS: usize = 3;
const ROPE_NODES: usize = 20;
/// Length of one segment of the rope [m].
const ROPE_SEGMENT: Real = 0.1;

fn mixed() -> Result<World, Error> {
    // a rope of light nodes with a load: stiffer rows and the substeps that carry them keep its stretch at 3%
    let joint = Stabilization::Soft { frequency: 500.0, damping_ratio: 2.0 };
    let mut world = World::new(Settings { substeps: 16, joint, ..Settings::default() })?;
    let surface = SurfaceMaterial::friction(0.5);
    floor(&mut world, surface)?;
    // nine boxes, three of them two high
    for i in 0..12 {
        let [x, z] = if i < 9 { [i % 3, i / 3] } else { [i - 9, i - 9] }.map(|k| k as Real - 1.0);
        let y = if i < 9 { 0.25 } else { 0.75 };
        let block = RigidBody::dynamic().shape(Shape::cuboid(0.25, 0.25, 0.25)).mass(2.0).material(surface);
        world.add_rigid(block.at([0.8 * x, y, 0.8 * z]).named(format!("box {i}")))?;
    }
    let mut drops = Vec::new();
    for layer in 0..RAIN_LAYERS {
        for i in 0..RAIN_SIDE {
            for j in 0..RAIN_SIDE {
                let [x, z] = [i, j].map(|k| (k as Real - 0.5 * (RAIN_SIDE - 1) as Real) * 0.2);
                // no two layers fall on the same spots
                let shift = 0.07 * layer as Real;
                drops.push(Vec3::new(x + shift, 2.5 + 0.8 * layer as Real, z - shift));
            }
        }
    }
    world.add_particles(Particles::new(drops).mass(0.01).radius(0.03).material(surface).named("rain"))?;
    rope(&mut world, surface)?;
    Ok(world)
}

/// A rope from a fixed point, held out sideways, with a box at its end.
fn rope(world: &mut World, surface: SurfaceMaterial) -> Result<(), Error> {
    let top = Vec3::new(-1.0, 3.5, 2.0);
    let nodes: Vec<Vec3> = (0..ROPE_NODES).map(|i| top + Vec3::X * (ROPE_SEGMENT * i as Real)).collect();
    let end = nodes[ROPE_NODES - 1];
    let rope = Particles::new(nodes).mass(0.05).radius(0.03).material(surface).pinned([0]).named("rope");
    let rope = world.add_particles(rope)?;
    for node in 1..ROPE_NODES as u32 {
        let [a, b] = [node - 1, node].map(|node| Site::Node { body: rope, node });
        world.add_distance(Distance::rope(a, b, ROPE_SEGMENT))?;
    }
    let load = RigidBody::dynamic().shape(Shape::cuboid(0.15, 0.15, 0.15)).mass(0.5).material(surface);
    let body = world.add_rigid(load.at(end + Vec3::X * 0.3).named("load"))?;
    let hook = Site::Rigid { body, local: Vec3::new(-0.15, 0.0, 0.0) };
    world.add_distance(Distance::rope(Site::Node { body: rope, node: ROPE_NODES as u32 - 1 }, hook, 0.15))?;
    Ok(())
}
