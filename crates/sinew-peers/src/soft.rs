//! S2 and S7: soft bodies that carry a box, and soft-soft contact, as in the peers' scenes.

use crate::{Reading, Record, Scene, Times};
use sinew::{
    BodyId, Geometry, Implicit, Input, Phase, Quat, Real, RigidBody, Settings, Shape, SoftBody, SoftModel,
    SurfaceMaterial, TetMesh, Vec3, World, fem,
};
use std::time::Instant;

/// Step of both scenes [s].
const STEP: Real = 0.02;
/// Tolerance of the CG in both scenes: ten times the default. Interactive graphics need no more: rest positions,
/// contact forces and jitter are the same, and momentum is conserved to rounding at any tolerance (`docs/peers.md`).
pub const TOLERANCE: Real = 1e-2;

/// A bar of `across` x `across` x `along` cells along y, with a cross-section between square and circle, of this
/// `radius` [m].
fn cylinder(across: u32, along: u32, radius: Real, length: Real) -> TetMesh {
    let mut mesh = TetMesh::block([across, along, across], Vec3::new(2.0, length, 2.0)).expect("a block");
    for p in &mut mesh.vertices {
        let (u, v) = (p.x, p.z);
        let round = Vec3::new(u * (1.0 - v * v / 2.0).sqrt(), 0.0, v * (1.0 - u * u / 2.0).sqrt());
        let section = round * 0.7 + Vec3::new(u, 0.0, v) * (0.3 * 0.86);
        *p = Vec3::new(section.x * radius, p.y, section.z * radius);
    }
    mesh
}

fn volume(mesh: &TetMesh, x: &[Vec3], tet: usize) -> Real {
    let [a, b, c, d] = mesh.tets[tet].map(|i| x[i as usize]);
    (b - a).cross(c - a).dot(d - a) / 6.0
}

/// A scene with its readings.
pub struct Run {
    world: World,
    mesh: TetMesh,
    soft: Vec<BodyId>,
    scene: Scene,
    variant: &'static str,
    /// Readings of this scene at the end.
    end: Vec<Reading>,
    /// Times of the steps [ms].
    pub ms: Vec<f64>,
    /// Total wall times of detect, predict and solve [ms].
    pub phases: [f64; 3],
    /// Maximum penetration of a contact in any step [m].
    pub deepest: Real,
    /// Tetrahedra of negative volume at the end.
    pub inverted: usize,
    /// CG iterations, total of all steps.
    pub iterations: u64,
    /// Passes of the island solver, total of all steps.
    pub passes: u64,
    /// Maximum number of contacts in a step.
    pub contacts: u32,
}

impl Run {
    fn new(scene: Scene, variant: &'static str, mesh: TetMesh, tolerance: Real) -> Self {
        let implicit = Implicit { tolerance, ..Settings::default().implicit };
        let settings = Settings { dt: STEP, sleep_time: Real::INFINITY, implicit, ..Settings::default() };
        let mut world = World::new(settings).expect("settings");
        let ground = RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(0.5));
        world.add_rigid(ground).expect("ground");
        let (soft, ms, end) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            world,
            mesh,
            soft,
            scene,
            variant,
            end,
            ms,
            phases: [0.0; 3],
            deepest: 0.0,
            inverted: 0,
            iterations: 0,
            passes: 0,
            contacts: 0,
        }
    }

    fn add(&mut self, mass: Real, young: Real, turn: Quat, at: Vec3) {
        let volume: Real = (0..self.mesh.tets.len()).map(|t| volume(&self.mesh, &self.mesh.vertices, t)).sum();
        let params = fem::Params { youngs_modulus: young, poisson_ratio: 0.4, density: mass / volume, damping: 0.0 };
        let body = SoftBody::new(Geometry::Tets(self.mesh.clone()), SoftModel::Corotational(params));
        let body = body.turned(turn).at(at).material(SurfaceMaterial::friction(0.5));
        self.soft.push(self.world.add_soft(body).expect("soft body"));
    }

    /// Steps the world and measures.
    pub fn steps(&mut self, count: usize) {
        for _ in 0..count {
            let start = Instant::now();
            let report = self.world.step(&Input::none());
            self.ms.push(start.elapsed().as_secs_f64() * 1e3);
            assert!(report.faults.is_empty(), "{:?}", report.faults);
            self.deepest = self.deepest.max(report.penetration);
            self.iterations += u64::from(report.counts.iterations);
            self.passes += u64::from(report.counts.passes);
            self.contacts = self.contacts.max(report.counts.contacts);
            for (sum, phase) in self.phases.iter_mut().zip([Phase::Detect, Phase::Predict, Phase::Solve]) {
                *sum += report.seconds[phase as usize] * 1e3;
            }
        }
        self.inverted = 0;
        for &id in &self.soft {
            let x = self.world.body(id).expect("body").node_positions();
            self.inverted += (0..self.mesh.tets.len()).filter(|&t| volume(&self.mesh, x, t) <= 0.0).count();
        }
    }

    /// The world, for another driver.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Height of the centre of mass of a soft body [m].
    pub fn height(&self, body: usize) -> Real {
        self.world.body(self.soft[body]).expect("body").center_of_mass().y
    }

    /// The record for the comparison.
    pub fn record(&self) -> Record {
        let mut readings = vec![
            Reading::new("pen_contacts", 1e3 * f64::from(self.deepest), "mm"),
            Reading::new("inverted", self.inverted as u32, ""),
        ];
        readings.extend(&self.end);
        let count = self.soft.len();
        Record {
            scene: self.scene,
            variant: self.variant.to_owned(),
            sizes: [count * self.mesh.vertices.len(), 0, count * self.mesh.tets.len(), 0],
            h_ms: 1e3 * f64::from(STEP),
            effort: "1 substep".to_owned(),
            ms: Times::of(&self.ms),
            steps: self.ms.len(),
            readings,
        }
    }
}

/// S2 with the measures of its box.
pub struct Carried {
    /// The run.
    pub run: Run,
    /// Height of the box at the end [m].
    pub height: Real,
    /// Maximum displacement of the box in one of the last five steps [m].
    pub jitter: Real,
    /// Total vertical force on the box [N].
    pub force: Real,
}

impl Carried {
    /// The record for the comparison.
    pub fn record(&self) -> Record {
        self.run.record()
    }
}

/// Four soft cylinders, two below and two above a free box of 4 kg, and the box; before the first step.
pub fn build_s2(tolerance: Real) -> (Run, BodyId) {
    let mut run = Run::new(Scene::S2, "corotational", cylinder(5, 11, 0.2, 0.4), tolerance);
    for (x, y) in [(-0.35, 0.22), (0.35, 0.22), (-0.35, 0.80), (0.35, 0.80)] {
        run.add(10.0, 5e4, Quat::IDENTITY, Vec3::new(x, y, 0.0));
    }
    let load = RigidBody::dynamic().shape(Shape::cuboid(0.6, 0.05, 0.3)).mass(4.0).at([0.0, 0.51, 0.0]);
    let load = run.world.add_rigid(load.material(SurfaceMaterial::friction(0.5))).expect("box");
    (run, load)
}

/// The scene of [`build_s2`]; 5 s.
pub fn s2(tolerance: Real) -> Carried {
    let (mut run, load) = build_s2(tolerance);
    run.steps(245);
    let y = |run: &Run| run.world.body(load).expect("box").position().y;
    let mut jitter: Real = 0.0;
    for _ in 0..5 {
        let before = y(&run);
        run.steps(1);
        jitter = jitter.max((y(&run) - before).abs());
    }
    let force = run.world.report().pairs.iter().filter(|p| p.b == load || p.a == load).map(|p| p.force.y).sum();
    let height = y(&run);
    let upper = 0.5 * (run.height(2) + run.height(3));
    run.end = vec![Reading::new("box_y_end", height, ""), Reading::new("topcyl_meanY", upper, "")];
    Carried { run, height, jitter, force }
}

/// Mesh resolution of the cylinders of S7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fineness {
    /// 576 nodes and 2250 tetrahedra each.
    Coarse,
    /// 3200 nodes and 15,066 tetrahedra each.
    Fine,
}

impl Fineness {
    /// Both resolutions.
    pub const ALL: [Self; 2] = [Self::Coarse, Self::Fine];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        if self == Self::Coarse { "coarse" } else { "fine" }
    }
}

/// A soft cylinder above another, perpendicular to it; before the first step.
pub fn build_s7(fineness: Fineness, tolerance: Real) -> Run {
    let [across, along] = if fineness == Fineness::Coarse { [5, 15] } else { [9, 31] };
    let mut run = Run::new(Scene::S7, fineness.name(), cylinder(across, along, 0.25, 1.2), tolerance);
    let quarter = 0.5 * std::f64::consts::PI as Real;
    run.add(200.0 * 0.2356, 1e5, Quat::from_rotation_z(-quarter), Vec3::new(0.0, 0.27, 0.0));
    run.add(200.0 * 0.2356, 1e5, Quat::from_rotation_x(quarter), Vec3::new(0.0, 0.97, 0.0));
    run
}

/// The scene of [`build_s7`]: the upper cylinder falls; 2 s.
pub fn s7(fineness: Fineness, tolerance: Real) -> Run {
    let mut run = build_s7(fineness, tolerance);
    run.steps(100);
    run.end = vec![Reading::new("lower_meanY", run.height(0), ""), Reading::new("upper_meanY", run.height(1), "")];
    run
}
