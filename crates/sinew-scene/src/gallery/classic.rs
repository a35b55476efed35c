//! The contact methods of the lecture, on surfaces given by their distance.

use super::{Scene, no_input};
use sinew::{
    ContactMethod, Error, Particles, Quat, Real, RigidBody, Sdf, Settings, Shape, SurfaceMaterial, Vec3, World,
};

/// Particles and boxes on distance functions.
pub const CLASSIC: Scene = Scene {
    name: "classic",
    about: "Grains and boxes fall on distance functions by impulses; --set settings.contact_method=.. shows penalties.",
    figure: "",
    build: classic,
    input: no_input,
    seconds: 6.0,
    text: None,
};

const RAIN_SIDE: usize = 10;
const BOXES: usize = 9;
/// Radius of the dent in the ground, and of the boulder [m].
const DENT: Real = 1.2;
const BOULDER: Real = 0.5;

/// Ground with a round dent: what lies below y = 0 and outside of a ball.
fn ground() -> Sdf {
    let dent = Sdf::bowl(Vec3::new(-1.0, 0.6, 0.0), DENT);
    Sdf::intersection([Sdf::plane(Vec3::ZERO, Vec3::Y), dent])
}

fn classic() -> Result<World, Error> {
    let mut world = World::new(Settings { contact_method: ContactMethod::Impulse, ..Settings::default() })?;
    let surface = SurfaceMaterial::friction(0.4).restitution(0.4);
    let scenery = [
        ("ground", Shape::sdf(ground()), [0.0, 0.0, 0.0]),
        ("boulder", Shape::ball(BOULDER), [1.2, 0.1, 0.0]),
        ("block", Shape::cuboid(0.4, 0.2, 0.4), [1.2, 0.2, 1.5]),
        ("drum", Shape::cylinder(0.2, 0.5), [1.2, 0.2, -1.5]),
    ];
    for (name, shape, at) in scenery {
        world.add_rigid(RigidBody::fixed().shape(shape).material(surface).at(at).named(name))?;
    }
    // light ones, so that a barrier of a joule stops them
    for i in 0..BOXES {
        let [x, z] = [i % 3, i / 3].map(|k| k as Real - 1.0);
        let tilt = Quat::from_rotation_z(0.2 + 0.1 * i as Real);
        let block = RigidBody::dynamic().shape(Shape::cuboid(0.12, 0.08, 0.1)).mass(0.2).material(surface);
        world.add_rigid(
            block.at([0.5 * x - 1.0, 0.6 + 0.02 * i as Real, 0.5 * z]).turned(tilt).named(format!("box {i}")),
        )?;
    }
    let mut grains = Vec::new();
    for i in 0..RAIN_SIDE {
        for j in 0..RAIN_SIDE {
            let [x, z] = [i, j].map(|k| k as Real / (RAIN_SIDE - 1) as Real - 0.5);
            grains.push(Vec3::new(1.2 + 1.1 * x, 1.0 + 0.1 * z, 4.4 * z));
        }
    }
    world.add_particles(Particles::new(grains).mass(0.02).radius(0.03).material(surface).named("grains"))?;
    Ok(world)
}
