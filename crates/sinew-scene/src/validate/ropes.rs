//! Ropes, chains and springs: shapes at rest, modes, stretch, landing, swinging.
//!
//! A rope of *strands* is a chain of particles with rigid links that only pull; a rope of *springs* is elastic, with E A in
//! newtons; *pbd* is the cord of position based dynamics.

use super::tools::{G, Track, bare, distance, floor, num, real, run, sleepless, step_count, vec3, wide};
use super::{Case, Reading, Readings};
use sinew::{
    Attachment, BodyId, Command, ConstraintId, Distance, DistanceSet, Error, Geometry, Input, Particles, Real,
    Settings, Site, SoftBody, SoftModel, Stabilization, SurfaceMaterial, Vec3, World, pbd, spring,
};
use std::f64::consts::{PI, TAU};

const CATENARY: &str = "Catenary";
const HANGING: &str = "Hanging chain swing modes";
const TAUT: &str = "Taut string";
const ELASTIC: &str = "Elastic rope under its weight and a load";
const SCALE: &str = "Chain dropped on a scale";
const SPRING: &str = "Mass on spring, with spring mass and damping";
const BOUNCE: &str = "Pendulum on a soft rope";

/// C01, C04, C05, C06, C08, C09, C10.
pub const CASES: &[Case] = &[
    Case::rope("C01", CATENARY, "strands", || c01(Make::Strands)),
    Case::rope("C01", CATENARY, "pbd", || c01(Make::Pbd(1e4))),
    Case::rope("C04", HANGING, "strands", || c04(Make::Strands)),
    Case::rope("C04", HANGING, "pbd", || c04(Make::Pbd(1e4))),
    Case::rope("C04", HANGING, "springs", || c04(Make::Springs(1e3))),
    Case::rope("C05", TAUT, "springs", || c05(Make::Springs(2e3))),
    Case::rope("C05", TAUT, "pbd", || c05(Make::Pbd(2e3))),
    Case::rope("C06", ELASTIC, "springs", || c06(Make::Springs(100.0))),
    Case::rope("C06", ELASTIC, "pbd", || c06(Make::Pbd(100.0))),
    Case::rope("C08", SCALE, "strands", c08),
    Case::rope("C09", SPRING, "springs", c09),
    Case::rope("C09", SPRING, "distance", c09_distance),
    Case::rope("C10", BOUNCE, "springs", c10),
    Case::rope("C10", BOUNCE, "distance", c10_distance),
];

/// How a rope is made. Numbers are E A [N].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Make {
    /// Particles and rigid links that only pull.
    Strands,
    /// Springs, explicit.
    Springs(f64),
    /// Springs, implicit.
    Implicit(f64),
    /// The cord of position based dynamics.
    Pbd(f64),
}

/// A rope to be made.
#[derive(Clone, Debug)]
pub struct Line {
    /// Nodes in order [m]; their distances are the rest lengths of the links.
    pub points: Vec<Vec3>,
    /// Mass of the whole [kg].
    pub mass: f64,
    /// Radius at which it touches [m].
    pub thickness: f64,
    /// Friction.
    pub material: SurfaceMaterial,
    /// Rate at which velocity decays [1/s].
    pub damping: f64,
    /// Time of the dashpots beside its springs [s].
    pub creep: f64,
    /// Nodes that are held.
    pub pinned: Vec<u32>,
}

/// A rope in a world, and the constraint of its strands if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Rope {
    /// The body.
    pub id: BodyId,
    /// Its links; strands only.
    pub links: Option<ConstraintId>,
    /// Number of its last node.
    pub last: u32,
}

impl Rope {
    /// One of its nodes.
    pub fn node(&self, node: u32) -> Site {
        Site::Node { body: self.id, node }
    }

    /// Places of its nodes [m].
    pub fn places(&self, world: &World) -> Result<Vec<[f64; 3]>, Error> {
        Ok(world.body(self.id)?.node_positions().iter().map(|p| wide(*p)).collect())
    }
}

impl Line {
    /// Nodes at these places; no friction, no damping.
    pub fn new(points: Vec<Vec3>, mass: f64) -> Self {
        let material = SurfaceMaterial::friction(0.0);
        Self { points, mass, thickness: 1e-3, material, damping: 0.0, creep: 0.0, pinned: Vec::new() }
    }

    /// From a place to another in equal links.
    pub fn straight(from: Vec3, to: Vec3, links: u32, mass: f64) -> Self {
        let at = |k: u32| from + (to - from) * real(f64::from(k) / f64::from(links));
        Self::new((0..=links).map(at).collect(), mass)
    }

    /// Adds it.
    pub fn add(&self, world: &mut World, make: Make) -> Result<Rope, Error> {
        let last = self.points.len() as u32 - 1;
        let share = self.mass / f64::from(last);
        let masses: Vec<_> = (0..=last).map(|k| real(if k % last == 0 { 0.5 * share } else { share })).collect();
        let link = distance(wide(self.points[0]), wide(self.points[1]));
        let model = match make {
            Make::Strands => {
                let nodes = Particles::new(self.points.clone()).masses(masses).pinned(self.pinned.clone());
                let nodes = nodes.radius(real(self.thickness)).material(self.material).damping(real(self.damping));
                let id = world.add_particles(nodes)?;
                let links = world.add_distance_set(DistanceSet::chain(id, last + 1).pull_only())?;
                return Ok(Rope { id, links: Some(links), last });
            }
            Make::Springs(ea) => springs(ea / link, masses, SYMPLECTIC, spring::Dashpot::Time(real(self.creep))),
            Make::Implicit(ea) => {
                springs(ea / link, masses, spring::Integrator::Implicit, spring::Dashpot::Time(real(self.creep)))
            }
            Make::Pbd(ea) => {
                let (stretch, density) = (real(ea), real(share / link));
                let cord = pbd::Cord { stretch, bend: 0.0, density, compression: 1.0 };
                SoftModel::Pbd(pbd::Structure::Cord(cord), pbd::Params::default())
            }
        };
        let body = SoftBody::new(Geometry::Rope(self.points.clone()), model).damping(real(self.damping));
        let body = body.thickness(real(self.thickness)).material(self.material).pinned(self.pinned.clone());
        Ok(Rope { id: world.add_soft(body)?, links: None, last })
    }
}

const SYMPLECTIC: spring::Integrator = spring::Integrator::SymplecticEuler;

/// Springs of a stiffness [N/m] without bending.
fn springs(stiffness: f64, masses: Vec<Real>, integrator: spring::Integrator, dashpot: spring::Dashpot) -> SoftModel {
    SoftModel::Springs(spring::Params {
        stiffness: spring::Stiffness::Uniform(real(stiffness)),
        dashpot,
        mass: spring::Mass::PerNode(masses),
        bending: 0.0,
        integrator,
        ..spring::Params::default()
    })
}

/// Force that a constraint has on what it holds [N].
pub fn carried(world: &World, id: ConstraintId) -> [f64; 3] {
    world.report().constraints.iter().find(|c| c.id == id).map_or([f64::NAN; 3], |c| wide(c.force))
}

fn size(v: [f64; 3]) -> f64 {
    distance(v, [0.0; 3])
}

/// A catenary starts as two straight halves; its ends are anchored, so that what they carry is known.
fn c01(make: Make) -> Readings {
    let (links, length, span, w) = (80u32, 2.0, 1.5, 0.1 * G);
    let mut world = World::new(sleepless())?;
    let deep = (1.0f64 - 0.75 * 0.75).sqrt();
    let corner = vec3(0.0, -deep, 0.0);
    let ends = [vec3(-0.5 * span, 0.0, 0.0), vec3(0.5 * span, 0.0, 0.0)];
    let half = links / 2;
    let left = Line::straight(ends[0], corner, half, 0.0).points;
    let right = Line::straight(corner, ends[1], half, 0.0).points;
    let mut line = Line::new(left.into_iter().chain(right.into_iter().skip(1)).collect(), 0.1 * length);
    line.damping = 3.0;
    let rope = line.add(&mut world, make)?;
    let anchors = [0, rope.last].map(|n| world.add_attachment(Attachment::anchor(rope.node(n), None)));
    let [start, end] = anchors;
    let (start, end) = (start?, end?);
    run(&mut world, 8.0);
    let x = rope.places(&world)?;
    let a = 0.555_044_f64;
    // the node after the share s of the rope is at a asinh((s − 1/2) S/a), and so high
    let off = |(k, p): (usize, &[f64; 3])| {
        let along = (k as f64 / f64::from(links) - 0.5) * length;
        let right = [a * (along / a).asinh(), (a * a + along * along).sqrt() - a * (0.5 * span / a).cosh(), 0.0];
        distance(*p, right)
    };
    let worst = x.iter().enumerate().map(off).fold(0.0, f64::max);
    let angle = |k: usize| (x[k][1] - x[k + 1][1]).atan2(x[k + 1][0] - x[k][0]).to_degrees();
    let lengths: f64 = x.windows(2).map(|p| distance(p[0], p[1])).sum();
    let sag = -x[half as usize][1];
    // what is horizontal in the ends is the tension in the middle
    let (t0, t1) = (carried(&world, start), carried(&world, end));
    let mid = match rope.links {
        Some(links) => -num(world.row_forces(links)?[half as usize]),
        None => 0.5 * (t1[0] - t0[0]),
    };
    Ok(vec![
        Reading::relative("a", mid / w, 0.555_044, 0.02),
        Reading::relative("sag", sag, 0.588_671, 0.005),
        Reading::at_most("largest distance from the curve, by the sag", worst / 0.588_671, 0.005),
        Reading::relative("T end", 0.5 * (size(t0) + size(t1)), 1.121_986, 0.02),
        Reading::relative("T mid", mid, 0.544_498, 0.02),
        // from the middles of the two last links out to the end
        Reading::relative("end slope", 1.5 * angle(0) - 0.5 * angle(1), 60.968, 0.005),
        Reading::at_most("stretch", lengths / length - 1.0, 0.005),
    ])
}

/// Bessel's J₀ by its series; arguments up to 10.
fn bessel0(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..40 {
        term *= -0.25 * x * x / f64::from(k * k);
        sum += term;
    }
    sum
}

/// Kicks each node of a rope to a velocity along an axis within a step [m/s].
fn kick(world: &mut World, rope: Rope, axis: Vec3, speed: impl Fn(usize) -> f64) -> Result<(), Error> {
    let dt = num(world.settings().dt);
    let masses = world.body(rope.id)?.node_masses();
    let mut input = Input::none();
    for (k, m) in masses.iter().enumerate() {
        let force = axis * real(speed(k) * num(*m) / dt);
        input = input.with(Command::NodeForce { body: rope.id, node: k as u32, force });
    }
    world.step(&input);
    Ok(())
}

/// Frequency of a small swing along z in a shape given by node: by the zeros of its projection on the shape [Hz].
fn frequency(world: &mut World, rope: Rope, seconds: f64, shape: impl Fn(usize) -> f64) -> Result<f64, Error> {
    let mut track = Track::default();
    for _ in 0..step_count(world, seconds) {
        world.step(&Input::none());
        let body = world.body(rope.id)?;
        let pairs = body.node_positions().iter().zip(body.node_masses()).enumerate();
        track.push(world.time(), pairs.map(|(k, (x, m))| shape(k) * num(x.z) * num(*m)).sum());
    }
    Ok(1.0 / track.period())
}

/// A chain hangs along −y and is kicked in the shape of a mode, J₀(j √(1 − s)) at the share s from the top.
fn c04(make: Make) -> Readings {
    let links = 60u32;
    let mut readings = Vec::new();
    let right = [(2.404_825_6, 0.599_386, 0.01), (5.520_078_1, 1.375_846, 0.02), (8.653_727_9, 2.156_886, 0.04)];
    for (n, (root, right, tolerance)) in right.into_iter().enumerate() {
        let mut world = World::new(sleepless())?;
        let mut line = Line::straight(Vec3::ZERO, vec3(0.0, -1.0, 0.0), links, 0.1);
        line.pinned = vec![0];
        let rope = line.add(&mut world, make)?;
        run(&mut world, 0.2);
        let shape = |k: usize| bessel0(root * (1.0 - k as f64 / f64::from(links)).sqrt());
        // a few millimetres at the tip
        kick(&mut world, rope, Vec3::Z, |k| 0.005 * TAU * right * shape(k))?;
        let f = frequency(&mut world, rope, 4.2 / right, shape)?;
        readings.push(Reading::relative(&format!("f{}", n + 1), f, right, tolerance));
    }
    Ok(readings)
}

/// A string is drawn to 1 m with 100 N, and then plucked in the shape of a mode.
fn c05(make: Make) -> Readings {
    let (links, ea, tension) = (40u32, 2e3, 100.0);
    let rest = 1.0 / (1.0 + tension / ea);
    let mut readings = Vec::new();
    for (n, right) in [(1.0, 50.0), (2.0, 100.0)] {
        let mut world = World::new(Settings { dt: 2.5e-4, gravity: Vec3::ZERO, ..sleepless() })?;
        let mut line = Line::straight(Vec3::ZERO, Vec3::X * real(rest), links, 0.01);
        line.pinned = vec![0, links];
        let rope = line.add(&mut world, make)?;
        let count = 2000;
        for k in 1..=count {
            let position = Vec3::X * real(rest + (1.0 - rest) * f64::from(k) / f64::from(count));
            let draw = Command::NodeTarget { body: rope.id, node: links, position };
            world.step(&Input::none().with(draw));
        }
        let stop = Command::NodeTarget { body: rope.id, node: links, position: Vec3::X };
        world.step(&Input::none().with(stop));
        let shape = |k: usize| (n * PI * k as f64 / f64::from(links)).sin();
        // slopes of a thousandth or two: the tension does not feel them
        kick(&mut world, rope, Vec3::Z, |k| 5e-4 * TAU * right * shape(k))?;
        let f = frequency(&mut world, rope, 8.2 / right, shape)?;
        readings.push(Reading::relative(&format!("f{n}"), f, right, 0.02));
    }
    Ok(readings)
}

/// A rope of 1 m hangs, alone and with a body of 1 kg.
fn c06(make: Make) -> Readings {
    let hang = |load: f64| -> Result<f64, Error> {
        let mut world = World::new(sleepless())?;
        let mut line = Line::straight(Vec3::ZERO, vec3(0.0, -1.0, 0.0), 20, 0.1);
        line.pinned = vec![0];
        line.damping = 2.0;
        let rope = line.add(&mut world, make)?;
        if load > 0.0 {
            let body = bare(load, [1e-3; 3]).at([0.0, -1.0, 0.0]).damping(2.0, 2.0);
            let body = world.add_rigid(body)?;
            world.add_attachment(Attachment::anchor(rope.node(rope.last), Some(body)))?;
        }
        run(&mut world, 8.0);
        Ok(-1.0 - rope.places(&world)?[20][1])
    };
    Ok(vec![
        Reading::relative("self weight", hang(0.0)?, 0.004_905, 0.01),
        Reading::relative("total", hang(1.0)?, 0.103_005, 0.01),
    ])
}

/// A chain of 1 kg falls on the floor: while it lands, the floor carries three times what lies on it.
fn c08() -> Readings {
    let mut world = World::new(sleepless())?;
    let ground = floor(&mut world, SurfaceMaterial::friction(0.3))?;
    let radius = 1e-3;
    let mut line = Line::straight(vec3(0.0, radius, 0.0), vec3(0.0, 1.0 + radius, 0.0), 100, 1.0);
    (line.thickness, line.material) = (radius, SurfaceMaterial::friction(0.3));
    let rope = line.add(&mut world, Make::Strands)?;
    let dt = num(world.settings().dt);
    let end = (2.0 / G).sqrt();
    let (mut force, mut landed) = (0.0, 0.0);
    for _ in 0..step_count(&world, end) {
        world.step(&Input::none());
        // filtered: the last third of the time, in which three quarters of the momentum arrive
        if world.time() > 0.67 * end {
            force += dt * support(&world, ground);
            landed += dt * 0.5 * G * world.time().powi(2);
        }
    }
    run(&mut world, 1.0);
    let mut rest = 0.0;
    for _ in 0..100 {
        world.step(&Input::none());
        rest += support(&world, ground) / 100.0;
    }
    let lying = rope.places(&world)?.iter().all(|p| p[1] < 0.05);
    Ok(vec![
        Reading::relative("F just before the end", force / landed, 3.0 * G, 0.1),
        Reading::relative("F after", rest, G, 0.01),
        Reading::holds("it lies on the floor", lying),
    ])
}

/// Vertical force on a body [N].
fn support(world: &World, ground: BodyId) -> f64 {
    num(world.report().contact_force_on(ground).y).abs()
}

/// Height of a body over its place at rest, from the time it is let go.
fn bounce(world: &mut World, id: BodyId, rest: f64, seconds: f64) -> Result<Track, Error> {
    let [track] = super::tools::track(world, seconds, |w| Ok([num(w.body(id)?.center_of_mass().y) - rest]))?;
    Ok(track)
}

/// Logarithm of the ratio of two swings to the same side, mean over all.
fn decrement(track: &Track) -> f64 {
    let zeros = track.crossings();
    let mut tops = Vec::new();
    for pair in zeros.windows(2) {
        let part = track.between(pair[0], pair[1]);
        tops.push(part.max().max(-part.min()));
    }
    let count = tops.len() - 1;
    2.0 * (tops[0] / tops[count]).ln() / count as f64
}

/// A spring along −y with a mass at its end: a rope of two nodes, or of many that weigh.
fn c09() -> Readings {
    let k = 100.0;
    let swing = |links: u32, own: f64, damping: f64| -> Result<Track, Error> {
        let mut world = World::new(Settings { gravity: Vec3::ZERO, ..sleepless() })?;
        let points = Line::straight(Vec3::ZERO, vec3(0.0, -1.0, 0.0), links, 0.0).points;
        let share = own / f64::from(links);
        let mass = |n: u32| if n == links { 1.0 + 0.5 * share } else { share.max(1e-3) };
        let masses = (0..=links).map(|n| real(mass(n))).collect();
        let dashpot = spring::Dashpot::Coefficient(real(damping));
        let model = springs(k * f64::from(links), masses, SYMPLECTIC, dashpot);
        let id = world.add_soft(SoftBody::new(Geometry::Rope(points), model).pinned(vec![0]))?;
        let rope = Rope { id, links: None, last: links };
        // kicked in the shape of the slow mode, which is nearly a line
        kick(&mut world, rope, Vec3::Y, |n| 0.05 * n as f64 / f64::from(links))?;
        let [track] = super::tools::track(&mut world, 3.0, |w| Ok([rope.places(w)?[links as usize][1] + 1.0]))?;
        Ok(track)
    };
    Ok(vec![
        Reading::relative("T no ms", swing(1, 0.0, 0.0)?.period(), 0.628_319, 0.005),
        Reading::relative("T ms", swing(20, 0.3, 0.0)?.period(), 0.658_993, 0.005),
        Reading::relative("log dec", decrement(&swing(1, 0.0, 1.0)?), 0.314_553, 0.005),
    ])
}

/// The same with the spring between two sites, whose row is implicit and damps by ωh/2: small steps for the decrement.
fn c09_distance() -> Readings {
    let swing = |damping: f64, dt: f64| -> Result<Track, Error> {
        let mut world = World::new(Settings { gravity: Vec3::ZERO, dt: real(dt), ..sleepless() })?;
        let id = world.add_rigid(bare(1.0, [1e-3; 3]).at([0.0, -1.0, 0.0]).velocity([0.0, 0.5, 0.0]))?;
        let end = Site::Rigid { body: id, local: Vec3::ZERO };
        world.add_distance(Distance::spring(Site::World(Vec3::ZERO), end, 1.0, 100.0, real(damping)))?;
        bounce(&mut world, id, -1.0, 3.0)
    };
    Ok(vec![
        Reading::relative("T no ms", swing(0.0, 1e-3)?.period(), 0.628_319, 0.005),
        Reading::relative("log dec", decrement(&swing(1.0, 1e-4)?), 0.314_553, 0.005),
    ])
}

/// Rest, bounce and swing of a ball that hangs by its centre on something with a damping along it [N·s/m].
fn hung(hang: impl Fn(&mut World, BodyId, f64) -> Result<(), Error>) -> Readings {
    let make = |damping: f64| -> Result<(World, BodyId), Error> {
        // a hold of 1000 Hz on a node of 0.1 g would give as much as 1% of the rope
        let joint = Stabilization::Soft { frequency: 4000.0, damping_ratio: 2.0 };
        let mut world = World::new(Settings { substeps: 16, joint, ..sleepless() })?;
        // without a shape: it would push the rope away from its centre
        let id = world.add_rigid(bare(1.0, [1e-3; 3]).at([0.0, -1.0, 0.0]))?;
        hang(&mut world, id, damping)?;
        Ok((world, id))
    };
    let (mut world, id) = make(0.0)?;
    let f_bounce = 1.0 / bounce(&mut world, id, -1.0981, 4.0)?.period();
    // damped along the rope, a swing is not
    let (mut world, id) = make(5.0)?;
    run(&mut world, 5.0);
    let rest = num(world.body(id)?.center_of_mass().y);
    let push = Command::Velocity { body: id, velocity: Vec3::X * 0.06, spin: Vec3::ZERO };
    world.step(&Input::none().with(push));
    let [swing] = super::tools::track_body(&mut world, id, 8.0, |b| [num(b.center_of_mass().x)])?;
    Ok(vec![
        Reading::relative("dL", -1.0 - rest, 0.0981, 0.01),
        Reading::relative("f_bounce", f_bounce, 1.591_549, 0.01),
        Reading::relative("f_swing", 1.0 / swing.period(), 0.475_701, 0.01),
    ])
}

/// A rope of springs that weighs a thousandth of the ball.
fn c10() -> Readings {
    hung(|world, id, damping| {
        let links = 8u32;
        let points = Line::straight(Vec3::ZERO, vec3(0.0, -1.0, 0.0), links, 0.0).points;
        let masses = vec![real(1e-3 / f64::from(links)); links as usize + 1];
        let dashpot = spring::Dashpot::Coefficient(real(damping * f64::from(links)));
        let model = springs(100.0 * f64::from(links), masses, SYMPLECTIC, dashpot);
        let rope = world.add_soft(SoftBody::new(Geometry::Rope(points), model).pinned(vec![0]))?;
        world.add_attachment(Attachment::anchor(Site::Node { body: rope, node: links }, Some(id)))?;
        Ok(())
    })
}

/// One spring between two sites.
fn c10_distance() -> Readings {
    hung(|world, id, damping| {
        let end = Site::Rigid { body: id, local: Vec3::ZERO };
        world.add_distance(Distance::spring(Site::World(Vec3::ZERO), end, 1.0, 100.0, real(damping)))?;
        Ok(())
    })
}
