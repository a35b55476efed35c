//! Bodies on joints: a wheel, a bridge.

use super::{Scene, floor, no_input};
use sinew::{
    Collider, Command, Error, Input, Joint, Motor, Pose, Quat, Real, RigidBody, Settings, Shape, SurfaceMaterial, Vec3,
    World,
};

/// A wheel that throws balls.
pub const WHEEL: Scene = Scene {
    name: "wheel",
    about: "A hinged wheel with a motor and eight paddles throws the balls that fall on it.",
    figure: "",
    build: wheel,
    input: wheel_input,
    seconds: 10.0,
    text: None,
};

/// A hanging bridge.
pub const BRIDGE: Scene = Scene {
    name: "bridge",
    about: "A hanging bridge of 30 planks on hinges swings under six boxes that drop on it; no gap may open.",
    figure: "",
    build: bridge,
    input: no_input,
    seconds: 10.0,
    text: None,
};

const HALF_PI: Real = std::f64::consts::FRAC_PI_2 as Real;

const WHEEL_RADIUS: Real = 1.0;
const WHEEL_HUB: [Real; 3] = [0.0, 2.0, 0.0];
const BALL_EVERY: u64 = 20;
const BALL_COUNT: u64 = 24;

fn wheel() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    floor(&mut world, SurfaceMaterial::default())?;
    // the disc's axis is z; the paddles stand out of its rim
    let disc =
        Collider::new(Shape::cylinder(0.4, WHEEL_RADIUS)).at(Pose::new(Vec3::ZERO, Quat::from_rotation_x(HALF_PI)));
    let mut wheel = RigidBody::dynamic().collider(disc).density(500.0).at(WHEEL_HUB).named("wheel");
    for k in 0..8 {
        let turn = Quat::from_rotation_z(k as Real * 0.5 * HALF_PI);
        let paddle = Collider::new(Shape::cuboid(0.2, 0.03, 0.4));
        wheel = wheel.collider(paddle.at(Pose::new(turn * Vec3::new(WHEEL_RADIUS + 0.15, 0.0, 0.0), turn)));
    }
    let wheel = world.add_rigid(wheel)?;
    // its top moves towards +x
    let motor = Motor::Velocity { target: -6.0, max_force: 5000.0 };
    world.add_joint(Joint::hinge(None, Some(wheel)).anchor(WHEEL_HUB).axis(Vec3::Z).motor(motor))?;
    Ok(world)
}

fn wheel_input(_: &World, tick: u64) -> Input {
    let count = tick / BALL_EVERY;
    if !tick.is_multiple_of(BALL_EVERY) || count == 0 || count > BALL_COUNT {
        return Input::none();
    }
    // not all on one line: they would stack on the floor
    let z = 0.1 * ((count % 5) as Real - 2.0);
    let ball = RigidBody::dynamic().shape(Shape::ball(0.12)).density(300.0).at([-0.3, 4.5, z]);
    Input::none().with(Command::AddRigid(Box::new(ball.named(format!("ball {count}")))))
}

const PLANK_COUNT: usize = 30;
const PLANK_LENGTH: Real = 0.4;
/// Slope of the first and last plank [rad].
const BRIDGE_SLOPE: Real = 0.4;

fn bridge() -> Result<World, Error> {
    // a long chain under load: more substeps keep its hinges closed
    let mut world = World::new(Settings { substeps: 8, ..Settings::default() })?;
    let wood = SurfaceMaterial::friction(0.6);
    floor(&mut world, wood)?;
    // the planks hang in an arc from the first post, p is the next hinge
    let mut p = Vec3::new(0.0, 4.0, 0.0);
    let mut last = None;
    let mut middles = Vec::new();
    for i in 0..PLANK_COUNT {
        let slope = BRIDGE_SLOPE * ((2 * i + 1) as Real / PLANK_COUNT as Real - 1.0);
        let turn = Quat::from_rotation_z(slope);
        let along = turn * Vec3::new(PLANK_LENGTH, 0.0, 0.0);
        let plank = RigidBody::dynamic().shape(Shape::cuboid(0.45 * PLANK_LENGTH, 0.05, 0.75)).density(500.0);
        let plank = plank.material(wood).at(p + along * 0.5).turned(turn).named(format!("plank {i}"));
        let id = world.add_rigid(plank)?;
        world.add_joint(Joint::hinge(last, Some(id)).anchor(p).axis(Vec3::Z))?;
        middles.push(p + along * 0.5);
        p += along;
        last = Some(id);
    }
    world.add_joint(Joint::hinge(last, None).anchor(p).axis(Vec3::Z))?;
    for k in 0..6 {
        let at = middles[4 + 4 * k] + Vec3::new(0.0, 0.8, 0.1 * (k % 3) as Real - 0.1);
        let load = RigidBody::dynamic().shape(Shape::cuboid(0.2, 0.2, 0.2)).density(300.0).material(wood);
        world.add_rigid(load.at(at).named(format!("load {k}")))?;
    }
    Ok(world)
}
