//! S4: a lattice of 28³ nodes and 144,423 springs, forces and integration of one step, beside the peers' plain C++ loops.
//!
//! The nodes are shuffled: a mesh comes in any order, and the model must find its own.

use sinew::kernels::Pool;
use sinew::trial::spring::{Element, Integrator, Mass, MassSpring, Params, Spring};
use sinew::trial::{BodyMut, Deformable, StepContext};
use sinew::{Block, Vec3};
use std::process::Command;
use std::time::Instant;

/// Nodes along an edge of the lattice.
const SIDE: usize = 28;
/// Distance of neighbours [m].
const SPACING: f32 = 0.05;
/// Stiffness of every spring [N/m].
const STIFFNESS: f32 = 1000.0;
/// Mass of every node [kg].
const NODE_MASS: f32 = 0.01;
/// Step [s].
const STEP: f32 = 1e-4;
/// All lengths at the start, as a share of the rest lengths: the peers' start.
const STRETCH: f32 = 1.01;
/// Damping ratio of the damped variant.
const RATIO: f32 = 0.05;
/// Turns of ours and theirs.
const ROUNDS: usize = 3;
/// Loops of the baseline that a ratio is given for; all run on one thread.
const LOOPS: [&str; 2] = ["scatter-AoS3", "scatter-xyzw-SSE"];

/// Runs ours, and the baseline in turn with it when there is one.
pub fn run(steps: usize, threads: usize, baseline: Option<&str>) {
    let pool = Pool::new(threads);
    let mut plain = Body::new(0.0, &pool);
    let mut damped = Body::new(RATIO, &pool);
    println!(
        "S4, {} nodes (shuffled), {} springs, {threads} thread(s), {ROUNDS} rounds of {steps} steps",
        plain.x.len(),
        plain.springs
    );
    println!("{:<36} {:>9} {:>9} {:>10}", "", "min ms", "median ms", "ns/spring");
    let mut ours = [Vec::new(), Vec::new()];
    let mut theirs = LOOPS.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        ours[0].push(plain.time(steps));
        ours[1].push(damped.time(steps));
        let table = baseline.and_then(baseline_table).unwrap_or_default();
        for (name, times) in LOOPS.iter().zip(&mut theirs) {
            times.extend(times_of(&table, name));
        }
    }
    let springs = plain.springs as f64;
    let mut best = Vec::new();
    for (name, times) in ["sinew, springs", "sinew, springs and dashpots"].iter().zip(&ours) {
        best.push(print(name, times, springs));
    }
    for (name, times) in LOOPS.iter().zip(&theirs).filter(|(_, times)| !times.is_empty()) {
        let [min, median] = print(&format!("baseline {name}"), times, springs);
        println!("{:<36} {:>9.2} {:>9.2}", "  sinew, springs / baseline", best[0][0] / min, best[0][1] / median);
    }
    println!(
        "bytes a spring: 2 x 12 (index, k, kL) streamed, 2 x 16 gathered; flops 2 x 18, of them a root and a division each"
    );
    println!("largest |x|: springs {:.4} m, springs and dashpots {:.4} m", plain.reach(), damped.reach());
}

/// Prints the best of each column; returns them [ms].
fn print(name: &str, times: &[[f64; 2]], springs: f64) -> [f64; 2] {
    let best = [0, 1].map(|k| times.iter().map(|t| t[k]).fold(f64::INFINITY, f64::min));
    println!("{name:<36} {:>9.4} {:>9.4} {:>10.2}", best[0], best[1], best[0] * 1e6 / springs);
    best
}

/// What the baseline prints.
fn baseline_table(path: &str) -> Option<String> {
    let output = Command::new(path).arg("S4").output().map_err(|error| eprintln!("{path}: {error}")).ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The columns `ms_min` and `ms_median` of the peers' table.
fn times_of(table: &str, name: &str) -> Option<[f64; 2]> {
    let line = table.lines().find(|line| line.split(',').nth(2) == Some(name))?;
    let mut columns = line.split(',').skip(10).map(str::parse);
    Some([columns.next()?.ok()?, columns.next()?.ok()?])
}

/// The lattice with its state.
struct Body<'a> {
    model: MassSpring,
    springs: usize,
    x: Vec<Block>,
    v: Vec<Block>,
    force: Vec<Vec3>,
    pool: &'a Pool,
}

impl<'a> Body<'a> {
    fn new(ratio: f32, pool: &'a Pool) -> Self {
        let (points, edges) = lattice();
        let spring = |&[a, b]: &[u32; 2]| {
            let rest = (points[b as usize] - points[a as usize]).length();
            // c = 2 ζ √(k μ) with the reduced mass μ = m/2
            let damping = 2.0 * ratio * (STIFFNESS * 0.5 * NODE_MASS).sqrt();
            Spring { nodes: [a, b], rest, stiffness: STIFFNESS, damping }
        };
        let springs: Vec<Spring> = edges.iter().map(spring).collect();
        let params = Params {
            mass: Mass::Total(NODE_MASS * points.len() as f32),
            element: Element::Voigt,
            integrator: Integrator::SymplecticEuler,
            ..Params::default()
        };
        let model = MassSpring::from_springs(&points, &springs, &params).expect("a sane lattice");
        assert!(model.stable_step() > STEP, "{} s", model.stable_step());
        Self {
            springs: springs.len(),
            x: points.iter().map(|p| [p.x * STRETCH, p.y * STRETCH, p.z * STRETCH, 0.0]).collect(),
            v: model.masses().iter().map(|m| [0.0, 0.0, 0.0, 1.0 / m]).collect(),
            force: vec![Vec3::ZERO; points.len()],
            model,
            pool,
        }
    }

    /// Least and median milliseconds of a step.
    fn time(&mut self, steps: usize) -> [f64; 2] {
        let mut ms: Vec<f64> = (0..steps).map(|_| self.step()).collect();
        ms.sort_by(f64::total_cmp);
        [ms[0], ms[ms.len() / 2]]
    }

    fn step(&mut self) -> f64 {
        let ctx = StepContext::new(STEP, 0);
        let ctx = if self.pool.threads() > 1 { ctx.shared(self.pool) } else { ctx };
        let Self { model, x, v, force, .. } = self;
        let clock = Instant::now();
        model.predict(&ctx, BodyMut { x, v, force, inner: &mut [] });
        model.advance(&ctx, BodyMut { x, v, force, inner: &mut [] });
        clock.elapsed().as_secs_f64() * 1e3
    }

    fn reach(&self) -> f32 {
        self.x.iter().map(|x| x[0].abs().max(x[1].abs()).max(x[2].abs())).fold(0.0, f32::max)
    }
}

/// Positions and springs: the seven neighbours of each node towards higher coordinates, with nodes in a shuffled order.
fn lattice() -> (Vec<Vec3>, Vec<[u32; 2]>) {
    let count = SIDE * SIDE * SIDE;
    let mut number: Vec<u32> = (0..count as u32).collect();
    let mut state = 1u32;
    for i in (1..count).rev() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        number.swap(i, (state >> 8) as usize % (i + 1));
    }
    let at = |a: usize, b: usize, c: usize| number[(a * SIDE + b) * SIDE + c];
    let (mut points, mut edges) = (vec![Vec3::ZERO; count], Vec::new());
    for cell in 0..count {
        let [a, b, c] = [cell / (SIDE * SIDE), cell / SIDE % SIDE, cell % SIDE];
        points[at(a, b, c) as usize] = Vec3::new(a as f32, b as f32, c as f32) * SPACING;
        for way in 1..8 {
            let [x, y, z] = [a + (way >> 2), b + (way >> 1 & 1), c + (way & 1)];
            if x.max(y).max(z) < SIDE {
                edges.push([at(a, b, c), at(x, y, z)]);
            }
        }
    }
    (points, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lattice_has_the_peers_size() {
        let (points, edges) = lattice();
        assert_eq!([points.len(), edges.len()], [21_952, 144_423]);
    }

    #[test]
    fn the_peers_table_is_read_by_the_name_of_the_loop() {
        let table = "# x\nbaseline-cpp,S4,loop,1,2,0,0,3,0.100,1,0.6016,0.6267,9.05,\"note\"";
        assert_eq!(times_of(table, "loop"), Some([0.6016, 0.6267]));
        assert_eq!(times_of(table, "other"), None);
    }
}
