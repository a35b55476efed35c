//! S2 and S7: soft bodies that carry a box, and soft on soft, as the peers have them.

use sinew::{
    BodyId, Geometry, Input, Material, Phase, Quat, Real, RigidBody, Settings, Shape, SoftBody, SoftModel, TetMesh,
    Vec3, World, fem,
};
use std::time::Instant;

/// Step of both scenes [s].
const STEP: Real = 0.02;

/// A bar of `across` x `across` x `along` cells along y, its section between square and round, `radius` wide [m].
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
struct Run {
    world: World,
    mesh: TetMesh,
    soft: Vec<BodyId>,
    ms: Vec<f64>,
    phases: [f64; 3],
    deepest: Real,
    inverted: usize,
    iterations: u64,
    passes: u64,
    contacts: u32,
}

impl Run {
    fn new(mesh: TetMesh) -> Self {
        let settings = Settings { dt: STEP, sleep_time: Real::INFINITY, ..Settings::default() };
        let mut world = World::new(settings).expect("settings");
        let ground = RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(Material::friction(0.5));
        world.add_rigid(ground).expect("ground");
        let (soft, ms) = (Vec::new(), Vec::new());
        Self {
            world,
            mesh,
            soft,
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
        let body = body.turned(turn).at(at).material(Material::friction(0.5));
        self.soft.push(self.world.add_soft(body).expect("soft body"));
    }

    fn steps(&mut self, count: usize) {
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
        for &id in &self.soft {
            let x = self.world.body(id).expect("body").node_positions();
            self.inverted += (0..self.mesh.tets.len()).filter(|&t| volume(&self.mesh, x, t) <= 0.0).count();
        }
    }

    fn height(&self, body: usize) -> Real {
        self.world.body(self.soft[body]).expect("body").center_of_mass().y
    }

    fn print(&self, name: &str) {
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
        let n = self.ms.len() as f64;
        println!(
            "{name}: median {:.2} ms, p99 {:.2}, max {:.2}; detect {:.2}, predict {:.2}, solve {:.2}; {:.1} iterations in {:.2} passes a step, at most {} contacts; penetration at most {:.2} mm, {} inverted",
            at(0.5),
            at(0.99),
            at(1.0),
            self.phases[0] / n,
            self.phases[1] / n,
            self.phases[2] / n,
            self.iterations as f64 / n,
            self.passes as f64 / n,
            self.contacts,
            self.deepest * 1e3,
            self.inverted
        );
    }
}

/// Four soft cylinders, two below and two above a free box of 4 kg; 5 s.
pub fn s2() {
    let mut run = Run::new(cylinder(5, 11, 0.2, 0.4));
    for (x, y) in [(-0.35, 0.22), (0.35, 0.22), (-0.35, 0.80), (0.35, 0.80)] {
        run.add(10.0, 5e4, Quat::IDENTITY, Vec3::new(x, y, 0.0));
    }
    let load = RigidBody::dynamic().shape(Shape::cuboid(0.6, 0.05, 0.3)).mass(4.0).at([0.0, 0.51, 0.0]);
    let load = run.world.add_rigid(load.material(Material::friction(0.5))).expect("box");
    run.steps(245);
    let y = |run: &Run| run.world.body(load).expect("box").position().y;
    let mut jitter: Real = 0.0;
    for _ in 0..5 {
        let before = y(&run);
        run.steps(1);
        jitter = jitter.max((y(&run) - before).abs());
    }
    run.print("S2");
    let force: Real = run.world.report().pairs.iter().filter(|p| p.b == load || p.a == load).map(|p| p.force.y).sum();
    println!(
        "    box at {:.4} m (right: 0.440), moves {:.1e} m a step, upper cylinders at {:.3} and {:.3} m; forces on it sum to {force:.2} N",
        y(&run),
        jitter,
        run.height(2),
        run.height(3)
    );
}

/// A soft cylinder falls across another; 2 s, fine and coarse.
pub fn s7() {
    for (name, across, along) in [("S7 coarse", 5, 15), ("S7 fine", 9, 31)] {
        let mut run = Run::new(cylinder(across, along, 0.25, 1.2));
        let quarter = 0.5 * std::f64::consts::PI as Real;
        run.add(200.0 * 0.2356, 1e5, Quat::from_rotation_z(-quarter), Vec3::new(0.0, 0.27, 0.0));
        run.add(200.0 * 0.2356, 1e5, Quat::from_rotation_x(quarter), Vec3::new(0.0, 0.97, 0.0));
        run.steps(100);
        run.print(name);
        println!("    lower at {:.3} m, upper at {:.3} m", run.height(0), run.height(1));
    }
}
