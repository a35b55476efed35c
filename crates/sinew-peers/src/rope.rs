//! S3: a rope of 50 nodes over a hinged wheel, with 2 kg and 1 kg at its ends, as in the peers' scene.
//!
//! With m the masses, μ the rope's mass per length and J the wheel's moment of inertia, a rope that runs at radius r without
//! slipping moves by s̈ = ((m₂ − m₁) g + 2 μ g s)/M with M = m₁ + m₂ + rope + J/r², so v = (a/k) sinh k t with
//! a = (m₂ − m₁) g/M and k² = 2 μ g/M.

use crate::{Reading, Record, Scene, Times};
use sinew::{
    Attachment, BodyId, DistanceSet, Geometry, Groups, Input, Joint, Particles, Quat, Real, RigidBody, Settings, Shape,
    Site, SoftBody, SoftModel, SurfaceMaterial, Vec3, World, spring,
};
use std::time::Instant;

const NODES: usize = 50;
/// Radius of the wheel [m].
pub const WHEEL: f64 = 0.3;
/// Radius of the centre line of the rope on the wheel [m].
pub const RUN: f64 = 0.32;
/// Length of the rope beside the wheel on each side [m].
const SIDE: f64 = 1.5;
/// Mass of the rope [kg].
const MASS: f64 = 0.5;
/// E A of the rope of springs [N]: 20 N stretch it by 0.4%.
const STIFFNESS: f64 = 5e3;
/// Height of the axle [m].
const AXLE: f64 = 3.0;

/// Speed of the weights [m/s] and of the wheel [rad/s] after a time, for a rope that runs at this radius [m].
pub fn ideal(radius: f64, time: f64) -> [f64; 2] {
    let g = 9.81;
    let inertia = 0.5 * 2.0 * WHEEL * WHEEL;
    let all = 3.0 + MASS + inertia / (radius * radius);
    let density = MASS / (2.0 * SIDE + std::f64::consts::PI * RUN);
    let k = (2.0 * density * g / all).sqrt();
    let v = g / all / k * (k * time).sinh();
    [v, v / radius]
}

/// Nodes of the rope, from the heavy end to the light one [m].
fn nodes() -> Vec<Vec3> {
    let arc = std::f64::consts::PI * RUN;
    let place = |i: usize| {
        let s = (2.0 * SIDE + arc) * i as f64 / (NODES - 1) as f64;
        let turned = ((s - SIDE) / RUN).clamp(0.0, std::f64::consts::PI);
        let below = (SIDE - s).max(s - SIDE - arc).max(0.0);
        Vec3::new((-RUN * turned.cos()) as Real, (AXLE + RUN * turned.sin() - below) as Real, 0.0)
    };
    (0..NODES).map(place).collect()
}

/// The model of the rope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// Particles and rigid links, solved by sweeps.
    DistanceSet,
    /// Springs, solved by conjugate gradients together with the attached weights.
    Springs,
}

impl Make {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Springs, Self::DistanceSet];

    /// Steps [s] and a sufficient number of substeps for each.
    pub fn steps(self) -> [(Real, u32); 2] {
        let [slow, fast] = if self == Make::Springs { [10, 4] } else { [96, 20] };
        [(0.02, slow), (1.0 / 240.0, fast)]
    }

    fn add(self, world: &mut World, points: Vec<Vec3>, rough: SurfaceMaterial) -> Result<BodyId, sinew::Error> {
        let radius = (RUN - WHEEL) as Real;
        if self == Make::DistanceSet {
            let nodes = Particles::new(points).mass((MASS / NODES as f64) as Real).radius(radius);
            let rope = world.add_particles(nodes.material(rough))?;
            world.add_distance_set(DistanceSet::chain(rope, NODES as u32).pull_only())?;
            return Ok(rope);
        }
        let link = f64::from(points[0].distance(points[1]));
        let model = SoftModel::Springs(spring::Params {
            stiffness: spring::Stiffness::Uniform((STIFFNESS / link) as Real),
            dashpot: spring::Dashpot::Time(5e-3),
            mass: spring::Mass::Total(MASS as Real),
            bending: 0.0,
            integrator: spring::Integrator::Implicit,
            ..spring::Params::default()
        });
        world.add_soft(SoftBody::new(Geometry::Rope(points), model).thickness(radius).material(rough))
    }
}

struct Machine {
    world: World,
    rope: BodyId,
    wheel: BodyId,
    weights: [BodyId; 2],
}

fn machine(make: Make, step: Real, substeps: u32) -> Result<Machine, sinew::Error> {
    let sleep_time = Real::INFINITY;
    let settings = Settings { dt: step, substeps, implicit_substeps: substeps, sleep_time, ..Settings::default() };
    let mut world = World::new(settings)?;
    let rough = SurfaceMaterial::friction(1.0);
    let upright = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2 as Real);
    let wheel = RigidBody::dynamic().shape(Shape::cylinder(0.1, WHEEL as Real)).mass(2.0).turned(upright);
    let axle = Vec3::Y * AXLE as Real;
    let wheel = world.add_rigid(wheel.at(axle).material(rough))?;
    world.add_joint(Joint::hinge(None, Some(wheel)).anchor(axle).axis(Vec3::Z))?;
    let points = nodes();
    let rope = make.add(&mut world, points.clone(), rough)?;
    // the ends of the rope overlap the weights, which have contacts switched off
    let mut weight = |node: usize, mass: Real| -> Result<BodyId, sinew::Error> {
        let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).mass(mass);
        let id = world.add_rigid(body.at(points[node] - Vec3::Y * 0.1).groups(Groups::NONE))?;
        world.add_attachment(Attachment::anchor(Site::Node { body: rope, node: node as u32 }, Some(id)))?;
        Ok(id)
    };
    let weights = [weight(0, 2.0)?, weight(NODES - 1, 1.0)?];
    Ok(Machine { world, rope, wheel, weights })
}

/// A run of 0.8 s with its readings.
pub struct Run {
    /// Times of the steps [ms].
    pub ms: Vec<f64>,
    /// Maximum stretch of a link, as a fraction of its length.
    pub stretch: f64,
    /// Maximum depth of the centre of a node in the wheel [m].
    pub depth: f64,
    /// Upward velocity of the heavy end and of the light end [m/s].
    pub ends: [Real; 2],
    /// Angular velocity of the wheel [rad/s].
    pub wheel: Real,
}

/// Runs the scene for 0.8 s.
pub fn run(make: Make, step: Real, substeps: u32) -> Run {
    let mut m = machine(make, step, substeps).expect("sane");
    let rest = nodes();
    let (mut ms, mut stretch, mut depth) = (Vec::new(), 0.0f64, 0.0f64);
    for _ in 0..(0.8 / step).round() as usize {
        let start = Instant::now();
        m.world.step(&Input::none());
        ms.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(m.world.report().faults.is_empty(), "{:?}", m.world.report().faults);
        let x = m.world.body(m.rope).expect("rope").node_positions();
        for (now, was) in x.windows(2).zip(rest.windows(2)) {
            stretch = stretch.max(f64::from(now[0].distance(now[1]) / was[0].distance(was[1])) - 1.0);
        }
        for p in x {
            depth = depth.max(WHEEL - f64::from(p.x).hypot(f64::from(p.y) - AXLE));
        }
    }
    let ends = m.weights.map(|id| m.world.body(id).expect("weight").velocity().y);
    let wheel = m.world.body(m.wheel).expect("wheel").spin().z;
    Run { ms, stretch, depth, ends, wheel }
}

/// Both ropes with both steps.
pub fn records(give: &mut dyn FnMut(Record)) {
    for make in Make::ALL {
        for (step, substeps) in make.steps() {
            let run = run(make, step, substeps);
            // the hinge turns as the heavy end, on the side of -x, goes down: positive in the sign convention of the
            // peers
            give(Record {
                scene: Scene::S3,
                variant: format!("{make:?}").to_lowercase(),
                sizes: [NODES, 0, 0, NODES - 1],
                h_ms: 1e3 * f64::from(step),
                effort: format!("{substeps} substeps"),
                ms: Times::of(&run.ms),
                steps: run.ms.len(),
                readings: vec![
                    Reading::new("stretch_max", 1e2 * run.stretch, "%"),
                    Reading::new("heavy_vy", run.ends[0], ""),
                    Reading::new("light_vy", run.ends[1], ""),
                    Reading::new("wheel_w", run.wheel, ""),
                    Reading::new("pen_wheel", 1e3 * run.depth, "mm"),
                ],
            });
        }
    }
}
