//! Thin tools pressed deep into soft blocks: the contact is kept, its force grows with the depth, and the reported
//! penetration is that of a search over the whole surface.

use sinew::*;

/// Size of the block [m]; its top is at this height.
const SIZE: Vec3 = Vec3::new(0.2, 0.12, 0.2);
/// Speed of the tool [m/s].
const SPEED: Real = 5e-3;

/// A tool by its shape, its lowest point at the origin of its pose.
#[derive(Clone, Copy, Debug)]
enum Tool {
    Capsule(Real),
    Ball(Real),
    /// A cone, apex down: radius of the base.
    Cone(Real),
    /// A box on one of its long edges: half width.
    Edge(Real),
}

impl Tool {
    const HALF: Real = 0.04;

    fn shape(self) -> Shape {
        match self {
            Self::Capsule(r) => Shape::capsule(Self::HALF, r),
            Self::Ball(r) => Shape::ball(r),
            Self::Cone(r) => Shape::cone(Self::HALF, r),
            Self::Edge(r) => Shape::cuboid(r, r, Self::HALF),
        }
    }

    /// Pose with the lowest point at `tip`.
    fn pose(self, tip: Vec3) -> Pose {
        let (up, turn) = match self {
            Self::Capsule(r) => (Self::HALF + r, Quat::IDENTITY),
            Self::Ball(r) => (r, Quat::IDENTITY),
            Self::Cone(_) => (Self::HALF, Quat::from_rotation_x(core::f64::consts::PI as Real)),
            Self::Edge(r) => ((2.0 as Real).sqrt() * r, Quat::from_rotation_z(core::f64::consts::FRAC_PI_4 as Real)),
        };
        Pose::new(tip + Vec3::Y * up, turn)
    }

    /// Signed distance of a point in the frame of the shape [m], negative inside.
    fn distance(self, p: Vec3) -> Real {
        match self {
            Self::Capsule(r) => (p - Vec3::Y * p.y.clamp(-Self::HALF, Self::HALF)).length() - r,
            Self::Ball(r) => p.length() - r,
            Self::Cone(r) => {
                // in the half plane through the axis: base at -HALF, apex at HALF
                let (rho, base) = ((p.x * p.x + p.z * p.z).sqrt(), -Self::HALF - p.y);
                let slope = 2.0 * Self::HALF;
                let length = (slope * slope + r * r).sqrt();
                let side = (rho * slope + (p.y - Self::HALF) * r) / length;
                base.max(side)
            }
            Self::Edge(r) => {
                let q = p.abs() - Vec3::new(r, r, Self::HALF);
                q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Model {
    Corotational,
    Springs,
    Pbd,
}

#[derive(Clone, Copy, Debug)]
struct Scene {
    tool: Tool,
    model: Model,
    cells: [u32; 3],
    dt: Real,
    /// Where the tip goes down, from the centre of the block [m].
    at: [Real; 2],
    guaranteed: bool,
}

fn block(model: Model, cells: [u32; 3]) -> SoftBody {
    let mesh = TetMesh::block(cells, SIZE).unwrap();
    let (youngs_modulus, poisson_ratio, density) = (5e3, 0.45, 1000.0);
    let body = match model {
        Model::Corotational => {
            SoftBody::corotational(mesh, ElasticMaterial::new(youngs_modulus, poisson_ratio, density))
        }
        Model::Springs => {
            let params = spring::Params {
                stiffness: spring::Stiffness::Young(youngs_modulus),
                volume: spring::VolumeForce::Bulk { modulus: youngs_modulus / 0.3 - youngs_modulus / 1.5 },
                dashpot: spring::Dashpot::Ratio(0.05),
                ..spring::Params::default()
            };
            SoftBody::new(Geometry::Tets(mesh), SoftModel::Springs(params))
        }
        Model::Pbd => {
            let matter = pbd::Solid { youngs_modulus, poisson_ratio, density };
            SoftBody::new(Geometry::Tets(mesh), SoftModel::Pbd(pbd::Structure::Solid(matter), pbd::Params::default()))
        }
    };
    let half = SIZE * 0.5;
    body.at([0.0, half.y, 0.0]).pin_region(-half - Vec3::splat(0.01), [0.11, -half.y + 1e-3, 0.11])
}

/// One sample of a run.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Depth of the tip below the undeformed top [m].
    depth: Real,
    /// Upward force on the tool [N].
    force: Real,
    /// Contact points that carry force.
    points: usize,
    /// Reported and true penetration [m].
    reported: Real,
    truth: Real,
    /// Mean normal of the contact points, by force, into the body.
    normal: Vec3,
}

/// The deepest point of the soft surface in the tool, by samples of all triangles [m].
fn deepest(world: &World, body: BodyId, tool: Tool, pose: &Pose) -> Real {
    let view = world.body(body).unwrap();
    let surface = view.surface().unwrap();
    let x: Vec<Vec3> = (0..surface.len() as u32).map(|s| pose.unpoint(view.surface_point(s).unwrap())).collect();
    let mut most: Real = 0.0;
    for t in surface.triangles() {
        let [a, b, c] = t.map(|k| x[k as usize]);
        let mid = (a + b + c) / 3.0;
        let size = (a - mid).length().max((b - mid).length()).max((c - mid).length());
        if tool.distance(mid) > size {
            continue;
        }
        let parts = (size / 2e-4).ceil().clamp(4.0, 80.0) as i32;
        for i in 0..=parts {
            for j in 0..=parts - i {
                let (u, v) = (i as Real / parts as Real, j as Real / parts as Real);
                most = most.max(-tool.distance(a + (b - a) * u + (c - a) * v));
            }
        }
    }
    most
}

fn run(scene: Scene, depth: Real, every: Real) -> Vec<Sample> {
    let settings = Settings {
        dt: scene.dt,
        gravity: Vec3::ZERO,
        intersection_free: scene.guaranteed,
        sleep_time: Real::INFINITY,
        ..Settings::default()
    };
    let mut world = World::new(settings).unwrap();
    let body = world.add_soft(block(scene.model, scene.cells)).unwrap();
    let start = 1e-3;
    let tip = |time: Real| Vec3::new(scene.at[0], SIZE.y + start - SPEED * time, scene.at[1]);
    let first = scene.tool.pose(tip(0.0));
    let tool = RigidBody::kinematic().shape(scene.tool.shape()).at(first.position).turned(first.rotation);
    let tool = world.add_rigid(tool).unwrap();
    let mut out = Vec::new();
    let mut next = every;
    for step in 1.. {
        let time = step as Real * scene.dt;
        let pose = scene.tool.pose(tip(time));
        world.step(&Input::none().target(tool, pose));
        assert!(world.report().faults.is_empty(), "{scene:?}: {:?}", world.report().faults);
        let now = SPEED * time - start;
        if now < next {
            continue;
        }
        next += every;
        let force = world.report().pairs.iter().find(|p| p.a == tool || p.b == tool);
        let force = force.map_or(0.0, |p| if p.b == tool { p.force.y } else { -p.force.y });
        let pushing = || world.report().contacts.iter().filter(|c| c.normal_force() > 1e-6);
        out.push(Sample {
            depth: now,
            force,
            points: pushing().count(),
            reported: world.report().penetration,
            truth: deepest(&world, body, scene.tool, &pose),
            normal: pushing().fold(Vec3::ZERO, |sum, c| sum + c.normal * c.normal_force()).normalize_or_zero(),
        });
        if now >= depth {
            break;
        }
    }
    out
}

fn show(scene: Scene, samples: &[Sample]) {
    println!("{scene:?}");
    for s in samples {
        println!(
            "{:5.1} mm {:8.4} N {:3} points, penetration {:7.3} mm, true {:7.3} mm, normal {:5.2} {:5.2} {:5.2}",
            s.depth * 1e3,
            s.force,
            s.points,
            s.reported * 1e3,
            s.truth * 1e3,
            s.normal.x,
            s.normal.y,
            s.normal.z
        );
    }
}

/// The first thing that is wrong in a run: a lost contact, a force that drops by more than a tenth between samples while
/// the tool goes deeper, or a penetration that is not reported.
fn judge(samples: &[Sample]) -> Result<(), String> {
    is_held(samples, 2e-4)?;
    let drop = samples.windows(2).find(|pair| pair[1].force < 0.9 * pair[0].force);
    drop.map_or(Ok(()), |pair| Err(format!("force drops from {} N: {:?}", pair[0].force, pair[1])))
}

/// The contact is never lost, and the penetration is the true one to a tolerance [m].
fn is_held(samples: &[Sample], tolerance: Real) -> Result<(), String> {
    for s in samples {
        let at = s.depth * 1e3;
        if s.points == 0 || s.force <= 0.0 {
            return Err(format!("contact lost at {at:.1} mm: {s:?}"));
        }
        if (s.reported - s.truth).abs() > tolerance {
            return Err(format!("wrong penetration at {at:.1} mm: {s:?}"));
        }
    }
    Ok(())
}

/// Uniform numbers from 0 to 1, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f64 / (1u64 << 24) as f64) as Real
    }

    fn place(&mut self) -> [Real; 2] {
        [0.04 * self.next() - 0.02, 0.04 * self.next() - 0.02]
    }

    /// A radius from 1 to 10 mm.
    fn radius(&mut self) -> Real {
        1e-3 + 9e-3 * self.next()
    }
}

fn base() -> Scene {
    Scene {
        tool: Tool::Capsule(5e-3),
        model: Model::Corotational,
        cells: [10, 6, 10],
        dt: 1.0 / 60.0,
        at: [3e-3, 2e-3],
        guaranteed: false,
    }
}

/// A kinematic capsule of 5 mm was pushed into a block of 5 kPa with cells of 20 mm: the force fell to 0 at 16 mm, and
/// the report said that nothing penetrates. The nearest points of capsule and triangle were wrong by 0.7 mm.
#[test]
fn issue_024_a_round_tool_pressed_deep_keeps_its_contact() {
    // the scene of the report; elsewhere on coarse cells the force still drops by up to 23 % where the tool passes from
    // one triangle to another (docs/accuracy.md), and `random_probes` prints it
    judge(&run(base(), 0.04, 1e-3)).unwrap();
    let mut numbers = Numbers(24);
    let mut wrong = Vec::new();
    let mut count = 0;
    for k in 0..11 {
        let (radius, at) = (numbers.radius(), numbers.place());
        let tool = if k % 2 == 0 { Tool::Ball(radius) } else { Tool::Capsule(radius) };
        let scene = Scene { tool, at, ..base() };
        let samples = run(scene, 0.04, 1e-3);
        for sample in &samples {
            let s = std::slice::from_ref(sample);
            wrong.extend(is_held(s, 2e-4).err().map(|what| format!("{scene:?}: {what}")));
            is_held(s, 5e-4).unwrap_or_else(|what| panic!("{scene:?}: {what}"));
        }
        count += samples.len();
    }
    // the goal is none; a ball of 2.3 mm between three triangles of 20 mm is 0.31 mm off (docs/accuracy.md)
    assert!(100 * wrong.len() <= count, "{}", wrong.join("\n"));
}

/// A ball that began inside a jelly was accepted, and a penetration of 4e-9 m reported.
#[test]
fn issue_024_a_shape_that_begins_inside_is_reported() {
    for (tool, deepest) in [(Tool::Ball(0.01), 0.0), (Tool::Ball(0.02), 0.0), (Tool::Edge(5e-3), 1e-3)] {
        for depth in [0.045, 0.055] {
            let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
            world.add_soft(block(Model::Corotational, [10, 6, 10])).unwrap();
            let pose = tool.pose(Vec3::new(3e-3, SIZE.y - depth, 2e-3));
            let rigid = RigidBody::fixed().shape(tool.shape()).at(pose.position).turned(pose.rotation);
            world.add_rigid(rigid).unwrap();
            let found = world.step(&Input::none()).penetration;
            // nearest surface: the top, above the lowest point
            assert!((found - depth).abs() < 2e-4 + deepest, "{tool:?} at {depth} m: {found} m");
        }
    }
}

/// The random probes of the issue: every tool, model and mesh. Counts what is wrong and prints it.
#[test]
#[ignore = "hours in the finest mesh"]
fn random_probes() {
    let mut numbers = Numbers(1);
    let count = std::env::var("PROBES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let finest = std::env::var("FINEST").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let mut wrong = Vec::new();
    for k in 0..count {
        let (radius, at) = (numbers.radius(), numbers.place());
        let tool = [Tool::Capsule(radius), Tool::Ball(radius), Tool::Cone(radius), Tool::Edge(radius)][k % 4];
        let model = [Model::Corotational, Model::Springs, Model::Pbd][k / 4 % 3];
        let cells = [[10, 6, 10], [20, 12, 20], [40, 24, 40]][k / 12 % finest];
        let scene = Scene { tool, at, model, cells, ..base() };
        if let Err(what) = judge(&run(scene, 0.04, 1e-3)) {
            println!("{scene:?}: {what}");
            wrong.push(k);
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong: {wrong:?}", wrong.len());
}

/// Prints force, points and penetration by depth; `LOOK` selects the scenes.
#[test]
#[ignore = "prints"]
fn look() {
    let base = base();
    let scenes = match std::env::var("LOOK").unwrap_or_default().as_str() {
        "all" => vec![
            Scene { tool: Tool::Cone(1e-2), ..base },
            Scene { tool: Tool::Edge(5e-3), ..base },
            Scene { model: Model::Springs, ..base },
            Scene { model: Model::Pbd, ..base },
        ],
        "fine" => vec![Scene { cells: [20, 12, 20], ..base }],
        "sure" => vec![Scene { guaranteed: true, ..base }],
        _ => vec![base],
    };
    for scene in scenes {
        show(scene, &run(scene, 0.04, 1e-3));
    }
}
