//! Bodies in free space: nothing outside them takes or gives momentum.

use super::stacks::Lcg;
use super::{Scene, no_input};
use sinew::{Error, Real, RigidBody, Settings, Shape, SurfaceMaterial, Vec3, World};

/// Bodies that meet in the middle.
pub const SWARM: Scene = Scene {
    name: "swarm",
    about: "64 balls, boxes and capsules collide in free space: total momentum stays what it was.",
    figure: "",
    build: swarm,
    input: no_input,
    seconds: 6.0,
    text: None,
};

fn swarm() -> Result<World, Error> {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
    let surface = SurfaceMaterial::friction(0.3).restitution(0.5);
    let mut rng = Lcg(7);
    for i in 0..64 {
        let at = Vec3::from([i % 4, (i / 4) % 4, i / 16].map(|k| 1.5 * (k as Real - 1.5)));
        let shape = match i % 3 {
            0 => Shape::ball(0.3),
            1 => Shape::cuboid(0.25, 0.25, 0.25),
            _ => Shape::capsule(0.2, 0.2),
        };
        // all towards the middle, and the whole of it slowly along x
        let stray = Vec3::new(rng.draw(), rng.draw(), rng.draw());
        let body = RigidBody::dynamic().shape(shape).density(100.0).material(surface).at(at);
        world.add_rigid(body.velocity(stray - at * 0.8 + Vec3::X * 0.5).spin(stray * 4.0))?;
    }
    Ok(world)
}
