//! S3: a rope of 50 nodes over a hinged wheel, 2 kg and 1 kg at its ends, as the peers have it.
//!
//! With m the masses, μ the rope's mass per length and J the wheel's moment of inertia, a rope that runs at radius r without
//! slipping moves by s̈ = ((m₂ − m₁) g + 2 μ g s)/M with M = m₁ + m₂ + rope + J/r², so v = (a/k) sinh k t with
//! a = (m₂ − m₁) g/M and k² = 2 μ g/M.

use sinew::{
    Attach, BodyId, Geometry, Groups, Input, Joint, Material, Particles, Quat, Real, RigidBody, Settings, Shape, Site,
    SoftBody, SoftModel, Strands, Vec3, World, spring,
};
use std::time::Instant;

const NODES: usize = 50;
/// Radius of the wheel and of the rope's middle line on it [m].
const WHEEL: f64 = 0.3;
const RUN: f64 = 0.32;
/// Length of the rope beside the wheel on each side [m].
const SIDE: f64 = 1.5;
/// Mass of the rope [kg].
const MASS: f64 = 0.5;
/// E A of the rope of springs [N]: 20 N stretch it by 0.4%.
const STIFFNESS: f64 = 5e3;
/// Height of the axle [m].
const AXLE: f64 = 3.0;

/// Speed of the weights [m/s] and of the wheel [rad/s] after a time, for a rope that runs at this radius [m].
fn ideal(radius: f64, time: f64) -> [f64; 2] {
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

/// How the rope is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Make {
    /// Particles and rigid links, swept.
    Strands,
    /// Springs, solved by the CG with all that hangs on them.
    Springs,
}

impl Make {
    fn add(self, world: &mut World, points: Vec<Vec3>, rough: Material) -> Result<BodyId, sinew::Error> {
        let radius = (RUN - WHEEL) as Real;
        if self == Make::Strands {
            let nodes = Particles::new(points).mass((MASS / NODES as f64) as Real).radius(radius);
            let rope = world.add_particles(nodes.material(rough))?;
            world.add_strands(Strands::chain(rope, NODES as u32).pull_only())?;
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
    let rough = Material::friction(1.0);
    let upright = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2 as Real);
    let wheel = RigidBody::dynamic().shape(Shape::cylinder(0.1, WHEEL as Real)).mass(2.0).turned(upright);
    let axle = Vec3::Y * AXLE as Real;
    let wheel = world.add_rigid(wheel.at(axle).material(rough))?;
    world.add_joint(Joint::hinge(None, Some(wheel)).anchor(axle).axis(Vec3::Z))?;
    let points = nodes();
    let rope = make.add(&mut world, points.clone(), rough)?;
    // the ends of the rope overlap the weights, which touch nothing
    let mut weight = |node: usize, mass: Real| -> Result<BodyId, sinew::Error> {
        let body = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.1, 0.1)).mass(mass);
        let id = world.add_rigid(body.at(points[node] - Vec3::Y * 0.1).groups(Groups::NONE))?;
        world.add_attach(Attach::anchor(Site::Node { body: rope, node: node as u32 }, Some(id)))?;
        Ok(id)
    };
    let weights = [weight(0, 2.0)?, weight(NODES - 1, 1.0)?];
    Ok(Machine { world, rope, wheel, weights })
}

/// Runs it for 0.8 s at 20 ms and at 1/240 s.
pub fn s3(substeps: Option<u32>) {
    let [near, far] = [ideal(WHEEL, 0.8), ideal(RUN, 0.8)];
    println!(
        "S3, after 0.8 s without slip: {:.3} m/s, {:.3} rad/s with the rope at {WHEEL} m; {:.3}, {:.3} at {RUN} m",
        near[0], near[1], far[0], far[1]
    );
    for (make, enough) in [(Make::Springs, [10, 4]), (Make::Strands, [48, 10])] {
        run(make, 0.02, substeps.unwrap_or(enough[0]));
        run(make, 1.0 / 240.0, substeps.unwrap_or(enough[1]));
    }
}

fn run(make: Make, step: Real, substeps: u32) {
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
    ms.sort_by(f64::total_cmp);
    let [heavy, light] = m.weights.map(|id| m.world.body(id).expect("weight").velocity().y);
    println!(
        "S3 {make:?}, {:.2} ms, {substeps} substeps: median {:.3} ms, p99 {:.3}; heavy {heavy:.3} m/s, light {light:.3}, wheel {:.3} rad/s, stretch at most {:.2} %, {:.2} mm into the wheel",
        1e3 * step,
        super::quantile(&ms, 0.5),
        super::quantile(&ms, 0.99),
        m.world.body(m.wheel).expect("wheel").spin().z,
        100.0 * stretch,
        1e3 * depth
    );
}
