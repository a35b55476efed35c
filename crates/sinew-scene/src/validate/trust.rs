//! Contact that can be trusted: thin tools, grips, whips, needles, capstans and cradles, each against its law. Each was a
//! fault that nothing reported.

use super::ropes::Make;
use super::ropes_contact::capstan;
use super::soft_tools::refused;
use super::tools::{G, block, num, real, sleepless, turn, vec3};
use super::{Case, Reading, Readings};
use sinew::{
    BodyId, Command, Diagonals, ElasticMaterial, Error, Geometry, Input, Joint, Pose, Quat, RigidBody, Settings, Shape,
    SoftBody, SoftModel, SurfaceMaterial, TetMesh, TriMesh, Vec3, World, fem,
};
use std::f64::consts::{FRAC_PI_2, PI};

const PROBE: &str = "Thin probe pressed into a soft block";
const GRIP: &str = "Pinched between two plates";
const SHEET: &str = "Sheet pinched between two plates";
const WHIP: &str = "Folded chain released at one end";
const NEEDLE: &str = "Needle that falls on a held sheet";
const CAPSTAN: &str = "Capstan equation, three quarters of a turn";
const CRADLE: &str = "Cradle of balls that touch";

const SEQUENCE: &str = "approach speeds are those before the impact: pairs that touch at rest have none, and pass the impact on \
     without restitution; two balls alone are right (R06)";

const START: &str = "Let go in a closed grip";

const PUSHED_OUT: &str =
    "the sheet moves by 0.8 mm across the pinch in the first step, and swings; the mean force is right";

const SAG: &str = "static friction is a spring of at most a 24th of the substep rate, 10 Hz at 1/60 s with 4 substeps: it gives by \
     g/ω² = 2.5 mm for a particle; at 1/240 s it is 0.3 mm";

/// T01 to T09.
pub const CASES: &[Case] = &[
    Case::trust("T01", PROBE, "corotational", t01),
    Case::trust("T02", GRIP, "ball", || grip(Shape::ball(0.02), 5.0)),
    Case::trust("T03", GRIP, "capsule", || grip(Shape::capsule(0.03, 0.02), 20.0)),
    Case::trust("T04", SHEET, "membrane", t04).known(PUSHED_OUT),
    Case::trust("T05", WHIP, "rigid", t05),
    Case::trust("T06", NEEDLE, "membrane", t06),
    Case::trust("T07", CAPSTAN, "springs implicit", t07),
    Case::trust("T08", CRADLE, "rigid", t08).known(SEQUENCE),
    Case::trust("T09", START, "rigid", t09).known(SAG),
];

/// As shipped but awake: sleep would hide creep.
fn shipped() -> Settings {
    Settings { dt: real(1.0 / 60.0), ..sleepless() }
}

/// Contact force on a body along an axis [N].
fn force_on(world: &World, body: BodyId, axis: Vec3) -> f64 {
    let pairs = world.report().pairs.iter();
    let sum = pairs.fold(Vec3::ZERO, |sum, p| match () {
        () if p.b == body => sum + p.force,
        () if p.a == body => sum - p.force,
        () => sum,
    });
    num(sum.dot(axis))
}

fn t01() -> Readings {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..shipped() })?;
    let mesh = TetMesh::block([10, 6, 10], vec3(0.2, 0.12, 0.2)).map_err(|e| refused(&e))?;
    let flesh = SoftBody::corotational(mesh, ElasticMaterial::new(5000.0, 0.45, 1000.0));
    world.add_soft(flesh.at([0.0, 0.06, 0.0]).pin_region([-0.2, -0.07, -0.2], [0.2, -0.059, 0.2]))?;
    // the lowest point of a capsule that stands
    let (radius, half) = (0.005, 0.04);
    let height = |depth: f64| vec3(0.003, 0.12 - depth + radius + half, 0.002);
    let shape = Shape::capsule(real(half), real(radius));
    let probe = world.add_rigid(RigidBody::kinematic().shape(shape).at(height(-0.005)))?;
    let (speed, dt) = (0.02, num(world.settings().dt));
    let (mut last, mut drop, mut lost) = (0.0, 0.0f64, 0);
    let every = (1e-3 / (speed * dt)).round() as usize;
    for step in 1..=(0.045 / (speed * dt)) as usize {
        let depth = speed * dt * step as f64 - 0.005;
        world.step(&Input::none().target(probe, Pose::new(height(depth), Quat::IDENTITY)));
        if step % every == 0 && depth > 1e-3 {
            let force = force_on(&world, probe, Vec3::Y);
            lost += usize::from(force <= 0.0);
            if last > 0.0 {
                drop = drop.max(1.0 - force / last);
            }
            last = force;
        }
    }
    Ok(vec![
        Reading::at_most("samples without a force, 1 to 40 mm", lost as f64, 0.0),
        Reading::at_most("largest drop of the force between samples 1 mm apart", drop, 0.1),
    ])
}

/// A body between a fixed plate and one on a slider, in a scene that is turned.
struct Pinch {
    world: World,
    held: BodyId,
    turned: Quat,
    press: Input,
}

impl Pinch {
    /// Pressed with `margin` times the force that its weight needs.
    fn new(shape: Shape, margin: f64) -> Result<Self, Error> {
        let turned = Quat::from_xyzw(0.3, -0.5, 0.2, 0.7).normalize();
        let mut world = World::new(Settings { gravity: turned * vec3(0.0, -G, 0.0), ..shipped() })?;
        let (mass, mu, half) = (0.0287, 0.7, 0.02);
        let place = |body: RigidBody, x: f64| {
            body.at(turned * vec3(x, 0.0, 0.0)).turned(turned).material(SurfaceMaterial::friction(real(mu)))
        };
        let plate = Shape::cuboid(0.01, 0.06, 0.06);
        world.add_rigid(place(RigidBody::fixed().shape(plate.clone()), -half - 0.01))?;
        let hand = world.add_rigid(place(RigidBody::dynamic().shape(plate).mass(0.1), half + 0.01))?;
        let slider = Joint::slider(None, Some(hand)).anchor(turned * vec3(half + 0.01, 0.0, 0.0));
        world.add_joint(slider.axis(turned * Vec3::X))?;
        let held = world.add_rigid(place(RigidBody::dynamic().shape(shape).mass(real(mass)), 0.0))?;
        let force = turned * vec3(-margin * mass * G / (2.0 * mu), 0.0, 0.0);
        let press = Input::none().with(Command::Force { body: hand, force, torque: Vec3::ZERO });
        Ok(Self { world, held, turned, press })
    }

    /// Place in the axes of the scene, and orientation, after so many steps.
    fn pose(&mut self, steps: u32) -> Result<(Vec3, Quat), Error> {
        for _ in 0..steps {
            self.world.step(&self.press);
        }
        let body = self.world.body(self.held)?;
        Ok((self.turned.inverse() * body.position(), body.rotation()))
    }
}

/// Held for half a minute.
fn grip(shape: Shape, margin: f64) -> Readings {
    let mut pinch = Pinch::new(shape, margin)?;
    let (x, q) = pinch.pose(60)?;
    let (end, after) = pinch.pose(1800)?;
    let twist = q.inverse() * after;
    let angle = 2.0 * num(twist.xyz().length()).atan2(num(twist.w.abs()));
    Ok(vec![
        Reading::at_most("creep in 30 s [m/s]", num((end - x).length()) / 30.0, 1e-6),
        Reading::at_most("turn in 30 s [deg]", angle.to_degrees(), 0.1),
    ])
}

fn t09() -> Readings {
    let mut readings = Vec::new();
    for (name, shape) in [("box", Shape::cuboid(0.02, 0.02, 0.02)), ("ball", Shape::ball(0.02))] {
        let mut pinch = Pinch::new(shape, 5.0)?;
        let (start, _) = pinch.pose(0)?;
        let (end, _) = pinch.pose(60)?;
        readings.push(Reading::at_most(&format!("{name}: way until it holds [m]"), num((end - start).length()), 1e-4));
    }
    Ok(readings)
}

fn t04() -> Readings {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..shipped() })?;
    let half = 0.5e-3;
    let mesh = TriMesh::sheet([6, 20], [0.06, 0.2], Diagonals::Alternating).map_err(|e| refused(&e))?;
    let params = fem::MembraneParams { density: 0.2, ..fem::MembraneParams::default() };
    let sheet = SoftBody::new(Geometry::Sheet(mesh), SoftModel::Membrane(params)).thickness(real(2.0 * half));
    let sheet = world.add_soft(sheet)?;
    let plate = Shape::cuboid(0.02, 0.005, 0.02);
    let gap = half + 0.005;
    world.add_rigid(RigidBody::fixed().shape(plate.clone()).at(vec3(0.0, -gap, 0.0)))?;
    let hand = world.add_rigid(RigidBody::dynamic().shape(plate).mass(0.05).at(vec3(0.0, gap, 0.0)))?;
    world.add_joint(Joint::slider(None, Some(hand)).anchor(vec3(0.0, gap, 0.0)).axis(Vec3::Y))?;
    let pressed = 0.5;
    let press = Input::none().with(Command::Force { body: hand, force: vec3(0.0, -pressed, 0.0), torque: Vec3::ZERO });
    let (mut felt, mut low, mut high) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
    for step in 0..360 {
        world.step(&press);
        if step >= 180 {
            felt += force_on(&world, hand, Vec3::Y) / 180.0;
            let y = num(world.body(hand)?.position().y);
            (low, high) = (low.min(y), high.max(y));
        }
    }
    let away = num(world.body(sheet)?.center_of_mass().length());
    Ok(vec![
        Reading::relative("mean force on the plate [N]", felt, pressed, 0.02),
        Reading::at_most("swing of the plate [m]", high - low, 1e-5),
        Reading::at_most("way of the sheet [m]", away, 1e-3),
    ])
}

fn t05() -> Readings {
    let mut world = World::new(shipped())?;
    let count = 33u32;
    let length = 1.0 / f64::from(count);
    let radius = 0.1 * length;
    let shape = Shape::capsule(real(0.5 * length - radius), real(radius));
    let (mut at, mut links, mut last) = (Vec3::ZERO, Vec::new(), None);
    for k in 0..count {
        let along = match k {
            k if k < count / 2 => -Vec3::Y,
            k if k == count / 2 => Vec3::X,
            _ => Vec3::Y,
        };
        let body = RigidBody::dynamic().shape(shape.clone()).mass(real(length)).groups(sinew::Groups::NONE);
        let body = body.turned(Quat::from_rotation_arc(Vec3::Y, along)).at(at + along * real(0.5 * length));
        let body = world.add_rigid(body)?;
        world.add_joint(Joint::ball(last, Some(body)).anchor(at))?;
        (at, last) = (at + along * real(length), Some(body));
        links.push(body);
    }
    let start = super::tools::energy(&world);
    let (mut gain, mut gap, mut lowest) = (0.0f64, 0.0f64, (0.0, 0.0));
    for _ in 0..60 {
        world.step(&Input::none());
        gain = gain.max((super::tools::energy(&world) - start) / (G / 4.0));
        let mut above = Vec3::ZERO;
        for &link in &links {
            let body = world.body(link)?;
            let arm = body.rotation() * vec3(0.0, 0.5 * length, 0.0);
            gap = gap.max(num((body.position() - arm - above).length()) / length);
            above = body.position() + arm;
        }
        if world.time() < 0.6 && num(above.y) < lowest.1 {
            lowest = (world.time(), num(above.y));
        }
    }
    Ok(vec![
        Reading::relative("tip is lowest [s]", lowest.0, 0.8472 * (2.0 / G).sqrt(), 0.08),
        Reading::at_most("growth of energy [M g L/4]", gain, 0.01),
        Reading::at_most("widest joint [links]", gap, 0.05),
    ])
}

fn t06() -> Readings {
    let mut worst = [0.0f64; 2];
    for (mode, worst) in [true, false].into_iter().zip(&mut worst) {
        let mut world = World::new(Settings { intersection_free: mode, ..shipped() })?;
        let mesh = TriMesh::sheet([6; 2], [0.6; 2], Diagonals::Alternating).map_err(|e| refused(&e))?;
        let border = |v: &Vec3| v.abs().max_element() > 0.2999;
        let pinned: Vec<u32> = (0..).zip(&mesh.vertices).filter(|(_, v)| border(v)).map(|(k, _)| k).collect();
        let sheet = SoftBody::new(Geometry::Sheet(mesh), SoftModel::Membrane(fem::MembraneParams::default()));
        world.add_soft(sheet.pinned(pinned))?;
        let (mass, speed) = (0.05, 2.0);
        let lean = turn(vec3(1.0, 0.0, 0.3).normalize(), 40f64.to_radians());
        let needle = block([1e-3, 0.12, 1e-3], mass).at(vec3(0.03, 0.15, 0.02)).turned(lean);
        let needle = world.add_rigid(needle.velocity(vec3(0.0, -speed, 0.0)))?;
        for _ in 0..120 {
            world.step(&Input::none());
            let body = world.body(needle)?;
            let fallen = 0.15 - num(body.center_of_mass().y);
            let explained = mass * (0.5 * speed * speed + G * fallen.max(0.0));
            *worst = worst.max(num(body.kinetic_energy()) / explained - 1.0);
        }
    }
    Ok(vec![
        Reading::at_most("kinetic energy beyond what it brought, never through", worst[0].max(0.0), 0.01),
        Reading::at_most("the same by default", worst[1].max(0.0), 0.01),
    ])
}

fn t07() -> Readings {
    let ratio = capstan(Make::Implicit(1e3), 270.0)?;
    Ok(vec![Reading::relative("ratio of the pulls, mu = 0.3", ratio, (0.3 * 3.0 * FRAC_PI_2).exp(), 0.1)])
}

fn t08() -> Readings {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..shipped() })?;
    let radius = 0.05f64;
    let steel = SurfaceMaterial::friction(0.0).restitution(1.0);
    let mut balls = Vec::new();
    for k in 0..5 {
        let (gap, speed) = if k == 0 { (0.02, 1.0) } else { (0.0, 0.0) };
        let mass = 4.0 / 3.0 * PI * radius.powi(3) * 7800.0;
        let at = vec3(2.0 * radius * f64::from(k) - gap, 0.0, 0.0);
        let ball = super::tools::ball(radius, mass).material(steel).at(at).velocity(vec3(speed, 0.0, 0.0));
        balls.push(world.add_rigid(ball)?);
    }
    super::tools::run(&mut world, 0.1);
    let speed = |k: usize| -> Result<f64, Error> { Ok(num(world.body(balls[k])?.velocity().x)) };
    let mut rest = 0.0f64;
    for k in 0..4 {
        rest = rest.max(speed(k)?.abs());
    }
    Ok(vec![
        Reading::relative("speed of the last ball [m/s]", speed(4)?, 1.0, 0.02),
        Reading::at_most("speed of the others [m/s]", rest, 0.02),
    ])
}
