//! Bodies on joints and rods: a cradle, a wheel, a chain, a bridge, a top.

use super::{Scene, floor, no_input};
use sinew::{
    BodyId, Collider, Command, Distance, Error, Input, Joint, Material, Motor, Pose, Quat, Real, RigidBody, Settings,
    Shape, Site, Vec3, World,
};

/// Newton's cradle.
pub const CRADLE: Scene = Scene {
    name: "cradle",
    about: "Newton's cradle, five balls on rods: one ball comes, one ball goes, the others hardly move.",
    figure: "",
    build: cradle,
    input: no_input,
    seconds: 6.0,
};

/// A wheel that throws balls.
pub const WHEEL: Scene = Scene {
    name: "wheel",
    about: "A hinged wheel with a motor and eight paddles throws the balls that fall on it.",
    figure: "",
    build: wheel,
    input: wheel_input,
    seconds: 10.0,
};

/// A chain of capsules on stairs.
pub const CHAIN: Scene = Scene {
    name: "chain",
    about: "Ten capsules on ball joints, like a rag doll's limbs, fall on stairs and slide down.",
    figure: "",
    build: chain,
    input: no_input,
    seconds: 6.0,
};

/// A hanging bridge.
pub const BRIDGE: Scene = Scene {
    name: "bridge",
    about: "A hanging bridge of 30 planks on hinges swings under six boxes that drop on it; no gap may open.",
    figure: "",
    build: bridge,
    input: no_input,
    seconds: 10.0,
};

/// A heavy top.
pub const GYROSCOPE: Scene = Scene {
    name: "gyroscope",
    about: "A fast disc on a tilted axle does not fall but walks around its pivot once in about seven seconds.",
    figure: "",
    build: gyroscope,
    input: no_input,
    seconds: 10.0,
};

const HALF_PI: Real = std::f64::consts::FRAC_PI_2 as Real;

const CRADLE_BALLS: usize = 5;
const CRADLE_RADIUS: Real = 0.1;
/// Between two balls at rest [m]: what lets the impacts follow one another.
const CRADLE_GAP: Real = 0.002;
/// Height of the beams over the balls, and half the distance between the two beams [m].
const CRADLE_DROP: Real = 1.0;
const CRADLE_HALF_WIDTH: Real = 0.3;

fn cradle() -> Result<World, Error> {
    // the gap takes two steps or more: where a ball can cross it in one, impacts fall into the same step
    let mut world = World::new(Settings { dt: 0.0005, ..Settings::default() })?;
    let steel = Material::friction(0.0).restitution(1.0);
    for i in 0..CRADLE_BALLS {
        let x = (i as Real - 0.5 * (CRADLE_BALLS - 1) as Real) * (2.0 * CRADLE_RADIUS + CRADLE_GAP);
        // the first is held up at 30 degrees
        let swing = if i == 0 { Vec3::new(-0.5, -0.75f64.sqrt() as Real, 0.0) } else { -Vec3::Y };
        let at = Vec3::new(x, 2.0, 0.0) + swing * CRADLE_DROP;
        let ball = RigidBody::dynamic().shape(Shape::ball(CRADLE_RADIUS)).mass(1.0).material(steel);
        let body = world.add_rigid(ball.at(at).can_sleep(false).named(format!("ball {i}")))?;
        let length = CRADLE_DROP.hypot(CRADLE_HALF_WIDTH);
        for z in [-CRADLE_HALF_WIDTH, CRADLE_HALF_WIDTH] {
            let beam = Site::World(Vec3::new(x, 2.0, z));
            world.add_distance(Distance::rod(beam, Site::Rigid { body, local: Vec3::ZERO }, length))?;
        }
    }
    Ok(world)
}

const WHEEL_RADIUS: Real = 1.0;
const WHEEL_HUB: [Real; 3] = [0.0, 2.0, 0.0];
const BALL_EVERY: u64 = 20;
const BALL_COUNT: u64 = 24;

fn wheel() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    floor(&mut world, Material::default())?;
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
    // its top goes towards +x
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

const LINK_COUNT: usize = 10;
const LINK_HALF_HEIGHT: Real = 0.15;
const LINK_RADIUS: Real = 0.08;

fn chain() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let surface = Material::friction(0.4);
    floor(&mut world, surface)?;
    // eight steps down to the floor, towards +x
    for i in 0..8 {
        let top = 2.4 - 0.3 * i as Real;
        let step = RigidBody::fixed().shape(Shape::cuboid(0.25, 0.5 * top, 1.0)).material(surface);
        world.add_rigid(step.at([0.5 * i as Real, 0.5 * top, 0.0]).named(format!("step {i}")))?;
    }
    // the chain lies along x in the air, a little askew, and moves downstairs
    let length = 2.0 * (LINK_HALF_HEIGHT + LINK_RADIUS);
    let mut last: Option<BodyId> = None;
    for i in 0..LINK_COUNT {
        let at = Vec3::new(-1.5 + length * i as Real, 3.6, 0.02 * i as Real);
        let link = RigidBody::dynamic().shape(Shape::capsule(LINK_HALF_HEIGHT, LINK_RADIUS)).material(surface);
        let link = link.turned(Quat::from_rotation_z(-HALF_PI)).at(at).velocity([1.5, 0.0, 0.0]);
        let id = world.add_rigid(link.named(format!("link {i}")))?;
        if let Some(before) = last {
            let anchor = at - Vec3::new(0.5 * length, 0.0, 0.01);
            world.add_joint(Joint::ball(Some(before), Some(id)).anchor(anchor))?;
        }
        last = Some(id);
    }
    Ok(world)
}

const PLANK_COUNT: usize = 30;
const PLANK_LENGTH: Real = 0.4;
/// Slope of the first and last plank [rad].
const BRIDGE_SLOPE: Real = 0.4;

fn bridge() -> Result<World, Error> {
    // a long chain under load: more substeps keep its hinges closed
    let mut world = World::new(Settings { substeps: 8, ..Settings::default() })?;
    let wood = Material::friction(0.6);
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

fn gyroscope() -> Result<World, Error> {
    // 100 rad/s on a soft joint: with larger steps the pivot's damping makes it sink
    let mut world = World::new(Settings { dt: 0.001, ..Settings::default() })?;
    let pivot = Vec3::new(0.0, 1.0, 0.0);
    // the axle is y of the body, its origin the pivot; 60 degrees from the vertical
    let turn = Quat::from_rotation_z(-HALF_PI * 2.0 / 3.0);
    let disc = Collider::new(Shape::cylinder(0.03, 0.3)).at(Pose::at(Vec3::new(0.0, 0.4, 0.0)));
    let axle = Collider::new(Shape::cylinder(0.25, 0.015)).at(Pose::at(Vec3::new(0.0, 0.25, 0.0)));
    let top = RigidBody::dynamic().collider(disc).collider(axle).density(2700.0).at(pivot).turned(turn);
    let spin = turn * Vec3::new(0.0, 100.0, 0.0);
    let top = world.add_rigid(top.spin(spin).can_sleep(false).named("top"))?;
    world.add_joint(Joint::ball(None, Some(top)).anchor(pivot))?;
    Ok(world)
}
