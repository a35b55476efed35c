//! S6: a soft cantilever of 15,066 tetrahedra under its own weight.

use crate::{Reading, Record, Scene, Times};
use sinew::trial::fem::Params;
use sinew::trial::{
    BodyMut, Corotational, Deformable, Placed, Scratch, Settings, StepContext, System, regularize, solve,
};
use sinew::{Block, Real, RowBuffer, TetMesh, Vec3};
use std::time::Instant;

/// Static corotational solution on the same mesh [m].
pub const REFERENCE: f64 = 0.317;
/// End of the peers' runs [s]; the beam still oscillates slightly.
const PEERS_END: f64 = 2.0;
/// Time at which the beam is at rest [s].
pub const READ_AT: f64 = 8.0;

/// Runs at 20 ms: wall times of the steps that the peers make; tip deflection at the end of the peers' runs, and at
/// rest.
pub fn record() -> Record {
    let mut bar = Bar::new(0.02);
    let steps = |seconds: f64| (seconds / 0.02).round() as usize;
    (0..steps(PEERS_END)).for_each(|_| bar.step());
    let (times, tip, inverted) = (bar.ms(), bar.tip(), bar.inverted());
    (0..steps(READ_AT - PEERS_END)).for_each(|_| bar.step());
    Record {
        scene: Scene::S6,
        variant: "corotational".to_owned(),
        sizes: [bar.x.len(), 0, bar.mesh.tets.len(), 0],
        h_ms: 20.0,
        effort: "1 substep".to_owned(),
        ms: Times::of(&times),
        steps: times.len(),
        readings: vec![
            Reading::new("inverted", inverted as u32, ""),
            Reading::new("tip_deflection", tip, ""),
            Reading::new("tip_at_8s", bar.tip(), ""),
        ],
    }
}

/// The beam with its state, stepped in the same way as by a world, each phase timed.
pub struct Bar {
    /// The model, for benchmarks of its kernels.
    pub model: Corotational,
    mesh: TetMesh,
    /// Step [s].
    pub h: Real,
    /// Positions of the nodes [m].
    pub x: Vec<Block>,
    /// Velocities [m/s] and inverse masses [1/kg] of the nodes.
    pub v: Vec<Block>,
    weight: Vec<Vec3>,
    tip: Vec<usize>,
    rows: RowBuffer,
    scratch: Scratch,
    settings: Settings,
    /// Times of predict [ms].
    pub predict_ms: Vec<f64>,
    /// Times of solve and advance [ms].
    pub solve_ms: Vec<f64>,
    /// Iterations of the conjugate gradient solver.
    pub iterations: Vec<u32>,
}

impl Bar {
    /// The undeformed beam, with this step [s].
    pub fn new(h: Real) -> Self {
        let mesh = mesh();
        let params = Params { youngs_modulus: 5e5, poisson_ratio: 0.4, density: 1000.0, damping: 0.02 };
        let model = Corotational::new(&mesh, params).expect("the scene is valid");
        let masses = model.masses();
        let pinned = |x: &Vec3| x.x < -0.499;
        let v = mesh.vertices.iter().zip(masses);
        Self {
            h,
            x: mesh.vertices.iter().map(|x| [x.x, x.y, x.z, 0.0]).collect(),
            v: v.map(|(x, m)| [0.0, 0.0, 0.0, if pinned(x) { 0.0 } else { 1.0 / m }]).collect(),
            // as in the reference and the peers: the weight is distributed equally over the nodes
            weight: vec![Vec3::new(0.0, -9.81, 0.0) * (84.1 / masses.len() as Real); masses.len()],
            tip: (0..mesh.vertices.len()).filter(|&i| mesh.vertices[i].x > 0.499).collect(),
            model,
            mesh,
            rows: RowBuffer::default(),
            scratch: Scratch::default(),
            settings: Settings::default(),
            predict_ms: Vec::new(),
            solve_ms: Vec::new(),
            iterations: Vec::new(),
        }
    }

    /// The prediction phase; substep 0 assembles the matrix, later substeps only the load.
    pub fn predict(&mut self, substep: u32) {
        let Self { model, x, v, weight, h, .. } = self;
        model.predict(&StepContext::new(*h, substep), BodyMut { x, v, force: weight, internal_state: &mut [] });
    }

    /// One step.
    pub fn step(&mut self) {
        let clock = Instant::now();
        self.predict(0);
        self.predict_ms.push(clock.elapsed().as_secs_f64() * 1e3);
        let clock = Instant::now();
        let Self { model, x, v, weight, rows, scratch, settings, h, .. } = self;
        let operator = model.operator().expect("the model is implicit");
        let placed = [Placed { first: 0, operator }];
        let system = System { operators: &placed, rigid_unknowns: &[] };
        regularize(&system, rows, v.len(), settings, scratch);
        let outcome = solve(&system, rows, v, settings, scratch);
        model.advance(&StepContext::new(*h, 0), BodyMut { x, v, force: weight, internal_state: &mut [] });
        self.solve_ms.push(clock.elapsed().as_secs_f64() * 1e3);
        self.iterations.push(outcome.iterations);
    }

    /// Wall time of each step [ms], without the first, which builds the coarse space.
    pub fn ms(&self) -> Vec<f64> {
        self.predict_ms.iter().zip(&self.solve_ms).skip(1).map(|(p, s)| p + s).collect()
    }

    /// Downward deflection of the tip [m].
    pub fn tip(&self) -> f64 {
        -self.tip.iter().map(|&i| f64::from(self.x[i][1])).sum::<f64>() / self.tip.len() as f64
    }

    fn inverted(&self) -> usize {
        let at = |i: u32| {
            let [x, y, z, _] = self.x[i as usize];
            Vec3::new(x, y, z)
        };
        let volume = |&[a, b, c, d]: &[u32; 4]| (at(b) - at(a)).cross(at(c) - at(a)).dot(at(d) - at(a));
        self.mesh.tets.iter().filter(|t| volume(t) <= 0.0).count()
    }
}

/// The peers' bar: 9 x 9 x 31 cells, six tetrahedra each, along x.
fn mesh() -> TetMesh {
    const SIDE: u32 = 9;
    const LONG: u32 = 31;
    const HALF: f64 = 0.145;
    const SPLIT: [[usize; 4]; 6] = [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];
    let mut mesh = TetMesh::default();
    let index = |l: u32, i: u32, j: u32| (l * (SIDE + 1) + i) * (SIDE + 1) + j;
    let across = |k: u32| -1.0 + 2.0 * f64::from(k) / f64::from(SIDE);
    for l in 0..=LONG {
        for i in 0..=SIDE {
            for j in 0..=SIDE {
                let along = -0.5 + f64::from(l) / f64::from(LONG);
                let place = [along, -across(i) * HALF, across(j) * HALF];
                mesh.vertices.push(Vec3::from(place.map(|x| x as Real)));
            }
        }
    }
    for l in 0..LONG {
        for i in 0..SIDE {
            for j in 0..SIDE {
                let corner = |b: u32| index(l + (b >> 2 & 1), i + (b >> 1 & 1), j + (b & 1));
                for split in SPLIT {
                    let mut tet = split.map(|b| corner(b as u32));
                    let [a, b, c, d] = tet.map(|k| mesh.vertices[k as usize]);
                    if (b - a).cross(c - a).dot(d - a) < 0.0 {
                        tet.swap(2, 3);
                    }
                    mesh.tets.push(tet);
                }
            }
        }
    }
    mesh
}
