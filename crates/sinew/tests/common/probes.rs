//! Thin tools pressed deep into soft blocks: scenes, samples of a run, and what must hold for them. Shared by
//! `tests/probe.rs` (a few) and `examples/probes.rs` (all of the 200).
#![allow(dead_code, reason = "each user takes its own part")]

use sinew::*;

/// Size of the block [m]; its top is at this height.
pub const SIZE: Vec3 = Vec3::new(0.2, 0.12, 0.2);
/// A tool by its shape, its lowest point at the origin of its pose.
#[derive(Clone, Copy, Debug)]
pub enum Tool {
    Capsule(Real),
    Ball(Real),
    /// A cone, apex down: radius of the base.
    Cone(Real),
    /// A box on one of its long edges: half width.
    Edge(Real),
}

impl Tool {
    const HALF: Real = 0.04;

    pub fn shape(self) -> Shape {
        match self {
            Self::Capsule(r) => Shape::capsule(Self::HALF, r),
            Self::Ball(r) => Shape::ball(r),
            Self::Cone(r) => Shape::cone(Self::HALF, r),
            Self::Edge(r) => Shape::cuboid(r, r, Self::HALF),
        }
    }

    /// Pose with the lowest point at `tip`.
    pub fn pose(self, tip: Vec3) -> Pose {
        let (up, turn) = match self {
            Self::Capsule(r) => (Self::HALF + r, Quat::IDENTITY),
            Self::Ball(r) => (r, Quat::IDENTITY),
            Self::Cone(_) => (Self::HALF, Quat::from_rotation_x(core::f64::consts::PI as Real)),
            Self::Edge(r) => ((2.0 as Real).sqrt() * r, Quat::from_rotation_z(core::f64::consts::FRAC_PI_4 as Real)),
        };
        Pose::new(tip + Vec3::Y * up, turn)
    }

    /// Signed distance of a point in the frame of the shape [m], negative inside.
    pub fn distance(self, p: Vec3) -> Real {
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
pub enum Model {
    Corotational,
    Springs,
    Pbd,
}

#[derive(Clone, Copy, Debug)]
pub struct Scene {
    pub tool: Tool,
    pub model: Model,
    pub cells: [u32; 3],
    pub dt: Real,
    /// Downward speed of the tool [m/s].
    pub speed: Real,
    /// Where the tip goes down, from the centre of the block [m].
    pub at: [Real; 2],
    pub guaranteed: bool,
}

pub fn block(model: Model, cells: [u32; 3]) -> SoftBody {
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
pub struct Sample {
    /// Depth of the tip below the undeformed top [m].
    pub depth: Real,
    /// Upward force on the tool [N].
    pub force: Real,
    /// Contact points that carry force.
    pub points: usize,
    /// Reported and true penetration [m].
    pub reported: Real,
    pub truth: Real,
    /// Mean normal of the contact points, by force, into the body.
    pub normal: Vec3,
}

/// The depth of the deepest point of the soft surface in the tool, by samples of all triangles [m].
pub fn deepest(world: &World, body: BodyId, tool: Tool, pose: &Pose) -> Real {
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

/// A world with the block and the tool, and its way down.
pub struct Run {
    pub world: World,
    pub body: BodyId,
    pub tool: BodyId,
    scene: Scene,
    steps: u32,
}

impl Run {
    /// Height of the tip above the block at the start [m].
    const START: Real = 1e-3;

    pub fn new(scene: Scene) -> Self {
        let settings = Settings {
            dt: scene.dt,
            gravity: Vec3::ZERO,
            intersection_free: scene.guaranteed,
            sleep_time: Real::INFINITY,
            ..Settings::default()
        };
        let mut world = World::new(settings).unwrap();
        let body = world.add_soft(block(scene.model, scene.cells)).unwrap();
        let first = Self::pose(&scene, 0);
        let tool = RigidBody::kinematic().shape(scene.tool.shape()).at(first.position).turned(first.rotation);
        let tool = world.add_rigid(tool).unwrap();
        Self { world, body, tool, scene, steps: 0 }
    }

    fn pose(scene: &Scene, step: u32) -> Pose {
        let height = SIZE.y + Self::START - scene.speed * step as Real * scene.dt;
        scene.tool.pose(Vec3::new(scene.at[0], height, scene.at[1]))
    }

    /// Depth of the tip below the undeformed top [m].
    pub fn depth(&self) -> Real {
        self.scene.speed * self.steps as Real * self.scene.dt - Self::START
    }

    /// The tool as it is now.
    fn now(&self) -> Pose {
        Self::pose(&self.scene, self.steps)
    }

    pub fn step(&mut self) {
        self.steps += 1;
        let pose = self.now();
        self.world.step(&Input::none().target(self.tool, pose));
        let faults = &self.world.report().faults;
        assert!(faults.is_empty(), "{:?}: {faults:?}", self.scene);
    }

    /// Makes a step and reads it. The true penetration is that of the start of the step, as the reported one is: within
    /// a step an inverted tetrahedron moves the surface by up to 0.9 mm (cells of 20 mm, 38 mm deep).
    pub fn sample(&mut self) -> Sample {
        let truth = deepest(&self.world, self.body, self.scene.tool, &self.now());
        self.step();
        let report = self.world.report();
        let force = report.pairs.iter().find(|p| p.a == self.tool || p.b == self.tool);
        let force = force.map_or(0.0, |p| if p.b == self.tool { p.force.y } else { -p.force.y });
        let pushing = || report.contacts.iter().filter(|c| c.normal_force() > 1e-6);
        Sample {
            depth: self.depth(),
            force,
            points: pushing().count(),
            reported: report.penetration,
            truth,
            normal: pushing().fold(Vec3::ZERO, |sum, c| sum + c.normal * c.normal_force()).normalize_or_zero(),
        }
    }
}

/// Samples every `every` [m] down to a depth [m].
pub fn run(scene: Scene, depth: Real, every: Real) -> Vec<Sample> {
    let mut run = Run::new(scene);
    let mut out = Vec::new();
    let mut next = every;
    while run.depth() < depth {
        if run.depth() + scene.speed * scene.dt < next {
            run.step();
        } else {
            next += every;
            out.push(run.sample());
        }
    }
    out
}

/// Deepest depth [m] to which each demand was met without interruption, and the largest excess.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// First depth without force; infinite: none [m].
    pub lost: Real,
    /// Largest drop of the force between samples, as a fraction, and the depth of the first above a tenth [m].
    pub drop: Real,
    pub dropped: Real,
    /// Largest difference between reported and true penetration, and the largest true one [m].
    pub error: Real,
    pub truth: Real,
    /// Force at the last sample [N].
    pub force: Real,
}

impl Verdict {
    /// Largest drop of the force between samples, as a fraction of the force before.
    pub const DROP: Real = 0.1;
    /// Largest error of the reported penetration [m].
    pub const ERROR: Real = 2e-4;

    pub fn of(samples: &[Sample]) -> Self {
        let mut verdict =
            Self { lost: Real::INFINITY, drop: 0.0, dropped: Real::INFINITY, error: 0.0, truth: 0.0, force: 0.0 };
        let mut before: Real = 0.0;
        for s in samples {
            if s.points == 0 || s.force <= 0.0 {
                verdict.lost = verdict.lost.min(s.depth);
            }
            let drop = if before > 0.0 { 1.0 - s.force / before } else { 0.0 };
            verdict.drop = verdict.drop.max(drop);
            if drop > Self::DROP {
                verdict.dropped = verdict.dropped.min(s.depth);
            }
            verdict.error = verdict.error.max((s.reported - s.truth).abs());
            verdict.truth = verdict.truth.max(s.truth);
            before = s.force;
            verdict.force = s.force;
        }
        verdict
    }

    pub fn is_held(&self) -> bool {
        self.lost.is_infinite()
    }

    pub fn is_steady(&self) -> bool {
        self.dropped.is_infinite()
    }

    pub fn is_true(&self) -> bool {
        self.error <= Self::ERROR
    }

    pub fn is_good(&self) -> bool {
        self.is_held() && self.is_steady() && self.is_true()
    }
}

/// Uniform numbers from 0 to 1, the same on every machine.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f64 / (1u64 << 24) as f64) as Real
    }

    pub fn place(&mut self) -> [Real; 2] {
        [0.04 * self.next() - 0.02, 0.04 * self.next() - 0.02]
    }

    /// A radius from 1 to 10 mm.
    pub fn radius(&mut self) -> Real {
        1e-3 + 9e-3 * self.next()
    }
}

/// A capsule of 5 mm over coarse cells, at 5 mm/s.
pub fn base() -> Scene {
    Scene {
        tool: Tool::Capsule(5e-3),
        model: Model::Corotational,
        cells: [10, 6, 10],
        dt: 1.0 / 60.0,
        speed: 5e-3,
        at: [3e-3, 2e-3],
        guaranteed: false,
    }
}

/// The random probes of the issue: every tool, model and mesh.
pub fn drawn(count: usize) -> impl Iterator<Item = Scene> {
    let mut numbers = Numbers(1);
    (0..count).map(move |k| {
        let (radius, at) = (numbers.radius(), numbers.place());
        let tool = [Tool::Capsule(radius), Tool::Ball(radius), Tool::Cone(radius), Tool::Edge(radius)][k % 4];
        let model = [Model::Corotational, Model::Springs, Model::Pbd][k / 4 % 3];
        let cells = [[10, 6, 10], [20, 12, 20], [40, 24, 40]][k / 12 % 3];
        Scene { tool, at, model, cells, ..base() }
    })
}
