//! Friction laws at work: a block on a belt, soft balls on a slope.

use super::{Scene, no_input};
use sinew::friction::{Karnopp, Law, LuGre};
use sinew::{
    Distance, Error, Material, Matter, Quat, Real, RigidBody, Settings, Shape, Site, SoftBody, TetMesh, Vec3, World,
};

/// A block that a belt carries until its spring is stronger.
pub(super) const STICK_SLIP: Scene = Scene {
    name: "stick-slip",
    about: "A belt carries a block until the spring pulls it back, over and over (LuGre).",
    figure: "",
    build: stick_slip,
    input: no_input,
    seconds: 20.0,
};

/// Three balls, three frictions.
pub(super) const BALL_INCLINE: Scene = Scene {
    name: "ball-incline",
    about: "Soft balls on a slope: the slippery one slides, those with friction roll, with twice of it hardly faster.",
    figure: "FC Fig. 5.17",
    build: ball_incline,
    input: no_input,
    seconds: 10.0,
};

fn stick_slip() -> Result<World, Error> {
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
    let law = Law::LuGre(LuGre::default());
    let material = Material { static_friction: 0.45, kinetic_friction: 0.3, law, ..Material::default() };
    let belt = RigidBody::kinematic().shape(Shape::cuboid(4.0, 0.05, 0.2)).material(material);
    world.add_rigid(belt.at([-3.0, -0.05, 0.0]).velocity([0.1, 0.0, 0.0]).named("belt"))?;
    let block = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.1)).mass(1.0).material(material);
    let body = world.add_rigid(block.at([0.0, 0.05, 0.0]).named("block"))?;
    let (wall, hook) = (Site::World(Vec3::new(-1.0, 0.05, 0.0)), Site::Rigid { body, local: Vec3::ZERO });
    world.add_distance(Distance::spring(wall, hook, 1.0, 20.0, 0.0))?;
    Ok(world)
}

fn ball_incline() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let turn = Quat::from_rotation_z(-0.26);
    let normal = turn * Vec3::Y;
    // the pair has the root of the product
    let slope = Material::friction(0.3);
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(normal)).material(slope).named("slope"))?;
    let balls = [("slippery", 0.0), ("rubbing", 0.3), ("rubbing twice", 1.2)];
    for (k, (name, friction)) in balls.into_iter().enumerate() {
        let mesh =
            TetMesh::ball(0.1, 6).map_err(|e| Error::BadShape { shape: name.to_owned(), reason: e.to_string() })?;
        let material = Material::friction(friction).law(Law::Karnopp(Karnopp::default()));
        let body = SoftBody::corotational(mesh, Matter::new(5e4, 0.3, 1000.0)).material(material);
        let across = Vec3::Z * (0.4 * (k as Real - 1.0));
        world.add_soft(body.at(normal * 0.12 + across).named(name))?;
    }
    Ok(world)
}
