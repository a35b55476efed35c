//! S6: prints the soft cantilever, its kernels, and MuJoCo's flex beside it.

use sinew::trial::{BodyRef, Deformable};
use sinew_peers::beam::{Bar, READ_AT, REFERENCE};
use sinew_peers::{median, quantile};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Steps per turn when a peer runs alternately.
const TURN: usize = 10;
/// Repeats of a kernel; the best is printed.
const REPEATS: usize = 200;

/// Runs the scene at 20 ms, the kernels alone on the bent beam, then the scene at 1 ms with readings at 8 s and at 16
/// s.
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
        // the peer's step takes ten times as long: the first part of the run is enough for a median
        if let Some(mujoco) = mujoco.as_mut().filter(|_| done <= 100) {
            peer_ms.extend(mujoco.steps(TURN));
        }
    }
    print(&bar);
    if !peer_ms.is_empty() {
        let (ours, theirs) = (median(&bar.ms()), median(&peer_ms));
        println!("mujoco flex, discrete, CG 50: median {theirs:.3} ms; sinew / mujoco {:.3} x", ours / theirs);
    }
    kernels(&mut bar);
    // at 1 ms the beam oscillates longer: the numerical damping of implicit Euler is proportional to the step
    let mut bar = Bar::new(0.001);
    for _ in 0..2 {
        for _ in 0..(READ_AT / 0.001) as usize {
            bar.step();
        }
        print(&bar);
    }
}

fn print(bar: &Bar) {
    let mut ms = bar.ms();
    ms.sort_by(f64::total_cmp);
    let count = bar.iterations.len() as f64;
    println!(
        "{:>6.1} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>10.3} {:>9.3} {:>9.1} {:>8.1} {:>8} {:>9.4} ({:+.2} % of {REFERENCE})",
        bar.h * 1e3,
        quantile(&ms, 0.5),
        quantile(&ms, 0.99),
        ms.iter().sum::<f64>() / ms.len() as f64,
        ms[ms.len() - 1],
        median(&bar.predict_ms),
        median(&bar.solve_ms),
        bar.predict_ms[0],
        f64::from(bar.iterations.iter().sum::<u32>()) / count,
        bar.iterations.iter().max().expect("steps were made"),
        bar.tip(),
        (bar.tip() / REFERENCE - 1.0) * 100.0
    );
}

/// Kernels alone on the bent beam, minimum of many repeats.
fn kernels(bar: &mut Bar) {
    let body = BodyRef { x: &bar.x, v: &bar.v, internal_state: &[] };
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

/// The peer in a separate process, which steps on request.
struct MuJoCo {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

/// Builds the scene with the script of the peers and replies to each number n with the times of n steps.
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
