//! S6: a soft cantilever of 15,066 tetrahedra under its own weight, beside MuJoCo's flex.

use sinew::trial::fem::Params;
use sinew::trial::{
    BodyMut, BodyRef, Corotational, Deformable, Placed, Scratch, Settings, StepContext, System, solve, stiffen,
};
use sinew::{Block, Real, RowBuffer, TetMesh, Vec3};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Static corotational answer on this very mesh [m].
const REFERENCE: f64 = 0.317;
/// When the tip is read [s].
const READ_AT: f64 = 8.0;
/// Steps in turn when a peer runs beside.
const TURN: usize = 10;
/// Repeats of a kernel; the best is printed.
const REPEATS: usize = 200;

/// Runs the scene at 20 ms, the kernels alone on the bent beam, then the scene at 1 ms, read at 8 s and at 16 s.
pub fn run(peer: Option<(&Path, &Path)>) {
    println!("S6, cantilever 1 m x 0.29 m x 0.29 m, E 5e5 Pa, nu 0.4, 1000 kg/m3, beta 20 ms, tip read at {READ_AT} s");
    println!(
        "{:>6} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9} {:>9} {:>8} {:>8} {:>9}",
        "h ms",
        "median ms",
        "p99 ms",
        "mean ms",
        "max ms",
        "predict ms",
        "solve ms",
        "start ms",
        "its",
        "most its",
        "tip m"
    );
    let mut mujoco = peer.and_then(|(python, peers)| MuJoCo::start(python, peers));
    let mut peer_ms = Vec::new();
    let mut bar = Bar::new(0.02);
    let total = (READ_AT / 0.02) as usize;
    let mut done = 0;
    while done < total {
        for _ in 0..TURN.min(total - done) {
            bar.step();
        }
        done += TURN;
        // the peer's step takes ten times as long: a part of the run is enough for a median
        if let Some(mujoco) = mujoco.as_mut().filter(|_| done <= 100) {
            peer_ms.extend(mujoco.steps(TURN));
        }
    }
    bar.print();
    if !peer_ms.is_empty() {
        let (ours, theirs) = (super::median(&bar.ms()), super::median(&peer_ms));
        println!("mujoco flex, discrete, CG 50: median {theirs:.3} ms; sinew / mujoco {:.3} x", ours / theirs);
    }
    kernels(&mut bar);
    // at 1 ms the beam swings longer: implicit Euler damps in proportion to the step
    let mut bar = Bar::new(0.001);
    for _ in 0..2 {
        for _ in 0..(READ_AT / 0.001) as usize {
            bar.step();
        }
        bar.print();
    }
}

/// The beam with its state, stepped as a world would, each phase timed.
struct Bar {
    model: Corotational,
    h: Real,
    x: Vec<Block>,
    v: Vec<Block>,
    weight: Vec<Vec3>,
    tip: Vec<usize>,
    rows: RowBuffer,
    scratch: Scratch,
    settings: Settings,
    predict_ms: Vec<f64>,
    solve_ms: Vec<f64>,
    iterations: Vec<u32>,
}

impl Bar {
    fn new(h: Real) -> Self {
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
            // as the reference and the peers: every node carries the same part of the weight
            weight: vec![Vec3::new(0.0, -9.81, 0.0) * (84.1 / masses.len() as Real); masses.len()],
            tip: (0..mesh.vertices.len()).filter(|&i| mesh.vertices[i].x > 0.499).collect(),
            model,
            rows: RowBuffer::default(),
            scratch: Scratch::default(),
            settings: Settings::default(),
            predict_ms: Vec::new(),
            solve_ms: Vec::new(),
            iterations: Vec::new(),
        }
    }

    fn predict(&mut self, substep: u32) {
        let Self { model, x, v, weight, h, .. } = self;
        model.predict(&StepContext::new(*h, substep), BodyMut { x, v, force: weight, inner: &mut [] });
    }

    fn step(&mut self) {
        let clock = Instant::now();
        self.predict(0);
        self.predict_ms.push(clock.elapsed().as_secs_f64() * 1e3);
        let clock = Instant::now();
        let Self { model, x, v, weight, rows, scratch, settings, h, .. } = self;
        let operator = model.operator().expect("the model is implicit");
        let placed = [Placed { first: 0, operator }];
        let system = System { operators: &placed, lumps: &[] };
        stiffen(&system, rows, v.len(), settings, scratch);
        let outcome = solve(&system, rows, v, settings, scratch);
        model.advance(&StepContext::new(*h, 0), BodyMut { x, v, force: weight, inner: &mut [] });
        self.solve_ms.push(clock.elapsed().as_secs_f64() * 1e3);
        self.iterations.push(outcome.iterations);
    }

    /// Milliseconds of each step, without the first: it makes the coarse space.
    fn ms(&self) -> Vec<f64> {
        self.predict_ms.iter().zip(&self.solve_ms).skip(1).map(|(p, s)| p + s).collect()
    }

    fn tip(&self) -> f64 {
        -self.tip.iter().map(|&i| f64::from(self.x[i][1])).sum::<f64>() / self.tip.len() as f64
    }

    fn print(&self) {
        let mut ms = self.ms();
        ms.sort_by(f64::total_cmp);
        let count = self.iterations.len() as f64;
        println!(
            "{:>6.1} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>10.3} {:>9.3} {:>9.1} {:>8.1} {:>8} {:>9.4} ({:+.2} % of {REFERENCE})",
            self.h * 1e3,
            super::quantile(&ms, 0.5),
            super::quantile(&ms, 0.99),
            ms.iter().sum::<f64>() / ms.len() as f64,
            ms[ms.len() - 1],
            super::median(&self.predict_ms),
            super::median(&self.solve_ms),
            self.predict_ms[0],
            f64::from(self.iterations.iter().sum::<u32>()) / count,
            self.iterations.iter().max().expect("steps were made"),
            self.tip(),
            (self.tip() / REFERENCE - 1.0) * 100.0
        );
    }
}

/// Kernels alone on the bent beam, best of many.
fn kernels(bar: &mut Bar) {
    let body = BodyRef { x: &bar.x, v: &bar.v, inner: &[] };
    println!("elastic energy {:.3} J; kernels, best of {REPEATS}:", bar.model.energy(body));
    let best = |run: &mut dyn FnMut()| {
        let time = |run: &mut dyn FnMut()| {
            let clock = Instant::now();
            run();
            clock.elapsed().as_secs_f64() * 1e6
        };
        (0..REPEATS).map(|_| time(run)).fold(f64::INFINITY, f64::min)
    };
    let force = best(&mut || bar.predict(1));
    let all = best(&mut || bar.predict(0));
    let operator = bar.model.operator().expect("the model is implicit");
    let residual = operator.load().to_vec();
    let mut out = residual.clone();
    let product = best(&mut || operator.apply(&residual, &mut out));
    let correct = best(&mut || operator.correct(&residual, &mut out));
    let rows = [
        ("rotation + force", force),
        ("gradients + matrix + turns", all - force),
        ("product A v", product),
        ("coarse correction", correct),
    ];
    for (name, us) in rows {
        println!("{name:<28} {us:>8.1} us {:>7.2} ns/tet", us * 1e3 / 15_066.0);
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

/// The peer in a process of its own, which steps when it is told to.
struct MuJoCo {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

/// Builds the scene with the peers' own script and answers each number n with the times of n steps.
const SCRIPT: &str = r#"
import sys, time
peers = sys.argv[1]; sys.argv = sys.argv[:1] + ["none"]
sys.path[:0] = [peers + "/mujoco", peers + "/common"]
import numpy as np, mujoco, bench_mujoco as b, peerscenes as ps
M = ps.bar(9, 31, .145, 1.0, 0); x = np.stack([M.x[:, 1], -M.x[:, 0], M.x[:, 2]], 1); pin = np.where(x[:, 0] < -.499)[0]
ela = '<elasticity young="5e5" poisson="0.4" damping="0.001"/>'
m, d, _ = b.load(b.xml(b.flex("b", x, M.tets, 3, 84.1, .001, ela, "", pin), .02, "CG", 50, 9.81, 1e-6, "discrete"))
print("ready", flush=True)
for line in sys.stdin:
    t = []
    for _ in range(int(line)):
        s = time.perf_counter(); mujoco.mj_step(m, d); t.append((time.perf_counter() - s) * 1e3)
    print(*t, flush=True)
"#;

impl MuJoCo {
    fn start(python: &Path, peers: &Path) -> Option<Self> {
        let mut command = Command::new(python);
        command.arg("-c").arg(SCRIPT).arg(peers).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                eprintln!("sinew-benches: {}: {error}", python.display());
                return None;
            }
        };
        let mut peer = Self { lines: BufReader::new(child.stdout.take()?), child };
        if peer.line().starts_with("ready") {
            return Some(peer);
        }
        eprintln!("sinew-benches: {} could not build S6 with MuJoCo", peers.display());
        None
    }

    fn line(&mut self) -> String {
        let mut text = String::new();
        match self.lines.read_line(&mut text) {
            Ok(_) => text,
            Err(_) => String::new(),
        }
    }

    /// Times of the next steps [ms].
    fn steps(&mut self, count: usize) -> Vec<f64> {
        if let Some(input) = self.child.stdin.as_mut() {
            let _ = writeln!(input, "{count}");
        }
        self.line().split_whitespace().filter_map(|ms| ms.parse().ok()).collect()
    }
}

impl Drop for MuJoCo {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
