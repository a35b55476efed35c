//! Ropes that touch: over wheels with and without friction, off a table, wound on a cylinder.

use super::ropes::{Line, Make, Rope, carried};
use super::tools::{G, Track, bare, num, real, sleepless, step_count, turn, vec3, wide};
use super::{Case, Reading, Readings};
use sinew::{
    Attachment, BodyId, Command, ConstraintId, Error, Input, Joint, Pose, RigidBody, Settings, Shape, SurfaceMaterial,
    Sym3, Vec3, World,
};
use std::f64::consts::{FRAC_PI_2, PI};

const ATWOOD: &str = "Atwood machine, ideal and with wheel inertia";
const CAPSTAN: &str = "Capstan equation";
const TABLE: &str = "Rope sliding off a frictionless table";
const YOYO: &str = "Yo-yo";

const LIGHT: &str = "nodes of 0.13 g carry 2 kg: rigid rows of 1000 Hz give by 2T/(m ω²), 5 mm a link of 13 mm, and stiffer ones were worse or no better (4000 and 8000 Hz at 1 sweep, Baumgarte at 1 and 4); implicit ropes do it";

const BOUNCES: &str = "the cylinder bounces on its rope by a third of the pull, and rounding changes the mean over four bounces: 0.4 to 1.8 % in versions that differ in the order of sums";

/// C02, C03, C07, C11.
pub const CASES: &[Case] = &[
    Case::rope("C02", ATWOOD, "springs implicit", || c02(Make::Implicit(1e4))),
    Case::rope("C02", ATWOOD, "strands", || c02(Make::Strands)).known(LIGHT),
    Case::rope("C03", CAPSTAN, "springs implicit", || c03(Make::Implicit(1e3))),
    Case::rope("C03", CAPSTAN, "strands", || c03(Make::Strands)),
    Case::rope("C07", TABLE, "strands", || c07(Make::Strands)),
    // a link that turns by ωh in a step is drawn out by (ωh)²/2: E A times that, here 0.2 N, must be small beside the tension
    Case::rope("C11", YOYO, "springs implicit", || c11(Make::Implicit(1e3))).known(BOUNCES),
];

/// Radius at which the nodes of ropes touch [m].
const THIN: f64 = 5e-4;

/// A rope: a straight part, a clockwise arc about the origin, a straight part.
#[derive(Clone, Copy, Debug)]
struct Wrap {
    /// Radius of its middle line [m].
    radius: f64,
    /// Where it begins to turn, from x towards y [rad].
    from: f64,
    /// By how much it turns [rad].
    angle: f64,
    /// Links on the turn.
    links: u32,
    /// Links before and after it.
    tails: [u32; 2],
}

impl Wrap {
    /// Length of a link [m].
    fn link(&self) -> f64 {
        self.radius * self.angle / f64::from(self.links)
    }

    /// Its nodes [m].
    fn points(&self) -> Vec<Vec3> {
        let [before, after] = self.tails;
        let place = |k: u32| {
            let along = f64::from(k) - f64::from(before);
            let turned = along.clamp(0.0, f64::from(self.links)) / f64::from(self.links) * self.angle;
            let straight = (along - along.clamp(0.0, f64::from(self.links))) * self.link();
            let (sin, cos) = (self.from - turned).sin_cos();
            vec3(self.radius * cos + straight * sin, self.radius * sin - straight * cos, 0.0)
        };
        (0..=before + self.links + after).map(place).collect()
    }

    /// The cylinder in it, across z: the links touch it in their middles, so that nothing is stretched at the start.
    fn wheel(&self, body: RigidBody, material: SurfaceMaterial) -> RigidBody {
        let middle = self.radius * (0.5 * self.angle / f64::from(self.links)).cos();
        let shape = Shape::cylinder(0.05, real(middle - THIN));
        body.shape(shape).turned(turn(Vec3::X, FRAC_PI_2)).material(material)
    }

    /// The rope.
    fn rope(&self, world: &mut World, make: Make, density: f64, material: SurfaceMaterial) -> Result<Rope, Error> {
        let points = self.points();
        let mass = density * self.link() * (points.len() - 1) as f64;
        let mut line = Line::new(points, mass);
        // the jerk of the start is gone within 50 ms
        (line.thickness, line.material, line.creep) = (THIN, material, 2e-3);
        line.add(world, make)
    }
}

/// A disc of 1 kg about z, by its radius [m]: its moment of inertia is that of the radius at which the rope runs. The
/// axis of a cylinder's own frame is y.
fn disc(radius: f64) -> Sym3 {
    Sym3::diagonal(vec3(0.25, 0.5, 0.25) * real(radius * radius))
}

fn dot(axis: Vec3, v: [f64; 3]) -> f64 {
    wide(axis).iter().zip(v).map(|(a, b)| a * b).sum()
}

/// Acceleration of the heavy side [m/s²] and tensions at 2 kg and 1 kg [N].
fn atwood(make: Make, turning: bool) -> Result<[f64; 3], Error> {
    let mut world = World::new(sleepless())?;
    let wrap = Wrap { radius: 0.1, from: PI, angle: PI, links: 24, tails: [20, 20] };
    let material = SurfaceMaterial::friction(if turning { 1.0 } else { 0.0 });
    if turning {
        let body = RigidBody::dynamic().mass(1.0).inertia(disc(0.1));
        let wheel = world.add_rigid(wrap.wheel(body, material))?;
        world.add_joint(Joint::hinge(None, Some(wheel)).anchor(Vec3::ZERO).axis(Vec3::Z))?;
    } else {
        world.add_rigid(wrap.wheel(RigidBody::fixed(), material))?;
    }
    let rope = wrap.rope(&mut world, make, 0.01, material)?;
    let places = rope.places(&world)?;
    let mut load = |node: u32, mass: f64| -> Result<(BodyId, ConstraintId), Error> {
        let [x, y, z] = places[node as usize];
        let id = world.add_rigid(bare(mass, [1e-3; 3]).at(vec3(x, y, z)))?;
        Ok((id, world.add_attachment(Attachment::anchor(rope.node(node), Some(id)))?))
    };
    let (heavy, pull) = load(0, 2.0)?;
    let (_, light) = load(rope.last, 1.0)?;
    let (mut way, mut tensions, mut count) = (Track::default(), [0.0; 2], 0.0);
    for _ in 0..step_count(&world, 0.3) {
        world.step(&Input::none());
        way.push(world.time(), -num(world.body(heavy)?.center_of_mass().y));
        if world.time() > 0.1 {
            // both carry along y; the mean of sizes would count jitter as tension
            tensions[0] -= carried(&world, pull)[1];
            tensions[1] -= carried(&world, light)[1];
            count += 1.0;
        }
    }
    Ok([way.between(0.1, 0.3).acceleration(), tensions[0] / count, tensions[1] / count])
}

/// Fitted over 0.2 s: a rope of 12 g changes the right values by 0.4% at most.
fn c02(make: Make) -> Readings {
    let ideal = atwood(make, false)?;
    let wheel = atwood(make, true)?;
    Ok(vec![
        Reading::relative("a ideal", ideal[0], 3.27, 0.01),
        Reading::relative("T ideal", 0.5 * (ideal[1] + ideal[2]), 13.08, 0.01),
        Reading::relative("a wheel", wheel[0], 2.802_857, 0.01),
        Reading::relative("T1", wheel[1], 14.014_286, 0.01),
        Reading::relative("T2", wheel[2], 12.612_857, 0.01),
    ])
}

/// A rope about a fixed cylinder, 1 N at one end, is pulled at 5 cm/s at the other: what that takes [N].
fn capstan(make: Make, degrees: f64) -> Result<f64, Error> {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..sleepless() })?;
    let angle = degrees.to_radians();
    // 7.5 degrees a link
    let wrap = Wrap { radius: 0.1, from: PI, angle, links: (degrees / 7.5) as u32, tails: [20, 8] };
    let rough = SurfaceMaterial::friction(0.3);
    world.add_rigid(wrap.wheel(RigidBody::fixed(), rough))?;
    let rope = wrap.rope(&mut world, make, 0.1, rough)?;
    let end = rope.places(&world)?[rope.last as usize];
    let at = vec3(end[0], end[1], end[2]);
    let (sin, cos) = (PI - angle).sin_cos();
    let along = vec3(sin, -cos, 0.0);
    let hand = world.add_rigid(RigidBody::kinematic().at(at))?;
    let held = world.add_attachment(Attachment::anchor(rope.node(rope.last), Some(hand)))?;
    let hold = Command::NodeForce { body: rope.id, node: 0, force: Vec3::NEG_Y };
    let (mut sum, mut count) = (0.0, 0.0);
    let steps = step_count(&world, 2.0);
    for k in 1..=steps {
        let pose = Pose::at(at + along * real(0.05 * 1e-3 * k as f64));
        let input = Input::none().with(hold.clone()).with(Command::Target { body: hand, pose });
        world.step(&input);
        // over whole links, as they come and go
        if k > steps / 2 {
            sum += dot(along, carried(&world, held));
            count += 1.0;
        }
    }
    Ok(sum / count)
}

fn c03(make: Make) -> Readings {
    let mut readings = Vec::new();
    for (degrees, right, tolerance) in
        [(90.0, 1.601_98, 0.05), (180.0, 2.566_33, 0.05), (360.0, 6.586_06, 0.1), (540.0, 16.902_03, 0.1)]
    {
        let ratio = capstan(make, degrees)?;
        readings.push(Reading::relative(&format!("{degrees} deg"), ratio, right, tolerance));
    }
    Ok(readings)
}

/// Tube around a quarter turn: a cylinder inside, flat pieces outside, and plates above and beside.
fn bend(world: &mut World, radius: f64, room: f64) -> Result<(), Error> {
    let smooth = SurfaceMaterial::friction(0.0);
    let fixed = || RigidBody::fixed().material(smooth);
    world.add_rigid(fixed().shape(Shape::cylinder(0.05, real(radius - THIN))).turned(turn(Vec3::X, FRAC_PI_2)))?;
    let table = fixed().shape(Shape::cuboid(0.75, 0.05, 0.05));
    world.add_rigid(table.at(vec3(-0.75, radius - THIN - 0.05, 0.0)))?;
    let outside = radius + THIN + room;
    let pieces = 32;
    let mut parts = Vec::new();
    for k in 0..pieces {
        let angle = FRAC_PI_2 * (f64::from(k) + 0.5) / f64::from(pieces);
        let rotation = turn(Vec3::Z, angle - FRAC_PI_2);
        let (sin, cos) = angle.sin_cos();
        let at = vec3(cos, sin, 0.0) * real(outside + 0.02);
        let half = (outside + 0.04) * FRAC_PI_2 / f64::from(pieces) * 0.6;
        parts.push((Pose { position: at, rotation }, Shape::cuboid(real(half), 0.02, 0.05)));
    }
    parts.push((Pose::at(vec3(-0.75, outside + 0.02, 0.0)), Shape::cuboid(0.75, 0.02, 0.05)));
    parts.push((Pose::at(vec3(outside + 0.02, -0.75, 0.0)), Shape::cuboid(0.02, 0.75, 0.05)));
    world.add_rigid(fixed().shape(Shape::compound(parts)))?;
    Ok(())
}

/// A rope half off the table would leave a bare edge from x = 0.51 on, since the formula turns it with any speed: it runs
/// in a smooth tube. As long as the rope fills the bend, the bend weighs as an edge at (π/2 − 1) r from its start.
fn c07(make: Make) -> Readings {
    let mut world = World::new(sleepless())?;
    let (radius, links) = (0.03, 100u32);
    bend(&mut world, radius, 1e-3)?;
    let edge = (FRAC_PI_2 - 1.0) * radius;
    let place = |k: u32| {
        // length past the start of the bend
        let s = edge + 0.1 - f64::from(k) / f64::from(links);
        let turned = (s / radius).clamp(0.0, FRAC_PI_2);
        let rest = s - radius * turned;
        let (sin, cos) = turned.sin_cos();
        vec3(radius * sin + rest * cos, radius * cos - rest * sin, 0.0)
    };
    let mut line = Line::new((0..=links).map(place).collect(), 0.1);
    line.thickness = THIN;
    let rope = line.add(&mut world, make)?;
    let (mut way, mut speed) = (Track::default(), Track::default());
    for _ in 0..step_count(&world, 1.1) {
        world.step(&Input::none());
        let body = world.body(rope.id)?;
        let (tail, v) = (body.node_positions()[links as usize], body.node_velocities()[links as usize]);
        way.push(world.time(), num(tail.x));
        speed.push(world.time(), num(v.length()));
    }
    // the tail passes the edge's place in the bend
    let leave = way.first(|x| x > radius * (edge / radius).sin());
    Ok(vec![
        Reading::relative("t to leave", leave, 0.955_661, 0.02),
        Reading::relative("v then", speed.at(leave), 3.116_440, 0.02),
    ])
}

/// A cylinder of 1 kg on a rope that is wound on it once and a half, and held at the top.
fn c11(make: Make) -> Readings {
    let mut world = World::new(sleepless())?;
    let wrap = Wrap { radius: 0.1, from: PI, angle: 3.0 * PI, links: 72, tails: [10, 0] };
    let rough = SurfaceMaterial::friction(0.8);
    // the rope comes from above: everything turned upside down
    let body = RigidBody::dynamic().mass(1.0).inertia(disc(0.1));
    let cylinder = world.add_rigid(wrap.wheel(body, rough))?;
    let mut line = Line::new(wrap.points().iter().map(|p| Vec3::new(p.x, -p.y, p.z)).collect(), 0.005);
    (line.thickness, line.material) = (THIN, rough);
    let rope = line.add(&mut world, make)?;
    let top = world.add_attachment(Attachment::anchor(rope.node(0), None))?;
    world.add_attachment(Attachment::anchor(rope.node(rope.last), Some(cylinder)))?;
    let (mut way, mut pull) = (Track::default(), Track::default());
    for _ in 0..step_count(&world, 0.35) {
        world.step(&Input::none());
        way.push(world.time(), -num(world.body(cylinder)?.center_of_mass().y));
        pull.push(world.time(), carried(&world, top)[1]);
    }
    Ok(vec![
        Reading::relative("a", way.between(0.1, 0.35).acceleration(), 2.0 / 3.0 * G, 0.01),
        // the cylinder bounces on its rope, by a third of the pull and four times in the window
        Reading::relative("T per kg", pull.between(0.1, 0.35).smooth_mean(), G / 3.0, 0.01),
    ])
}
