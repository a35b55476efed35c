//! Accelerators for the sweeps, measured: `cargo run --release -p sinew --example accelerators` (f32), or with
//! `--no-default-features --features f64` for the iterations to 1e-6. Results and verdict: `docs/accelerators.md`.
//!
//! Every method uses one sweep of `pgs` as its map λ → g(λ) and extrapolates its next start from g(λ); impulses are
//! clamped to their bounds after that, and velocities are updated. The residual is ‖D½ (P(λ − D⁻¹(Jv + b)) − λ‖ over
//! that of the start, D the rows' diagonals and P the clamp: zero at the solution, the same for all methods.
//!
//! - Nesterov: y = λ + β (λ − λ⁻), momentum restarted where it points uphill (O'Donoghue & Candès 2015).
//! - NNCG: the change of a sweep is used as the gradient, Fletcher-Reeves directions, restart where β > 1 (Silcowitz,
//!   Niebe & Erleben 2010).
//! - Anderson: least squares over the last m changes (Walker & Ni 2011), restarted where the change doubles.
//! - Chebyshev: semi-iterative weights by an estimated spectral radius, lowered where the change grows (Wang 2015).

use sinew::kernels::{Pass, sweep};
use sinew::{
    Block, Bounds, Error, Input, Joint, Real, RigidBody, RowBuffer, RowId, Settings, Shape, Stabilization, Term, Vec3,
    World,
};
use std::time::Instant;

/// Gravity times a substep [m/s]: the initial velocity of every body.
const KICK: Real = -9.81 / 240.0;
/// Maximum number of sweeps of a method.
const CAP: usize = 30_000;
const GOALS: [Real; 2] = [1e-3, 1e-6];
/// Maximum number of previous changes that Anderson uses.
const MEMORY: usize = 5;

#[derive(Clone, Copy, Debug)]
enum Method {
    Plain,
    Nesterov,
    Nncg,
    Anderson,
    Chebyshev,
}

struct Problem {
    name: &'static str,
    rows: RowBuffer,
    v: Vec<Block>,
}

fn main() -> Result<(), Error> {
    kernels();
    in_the_world()
}

/// Upper limit of the gain by an accelerator: ten times the sweeps, compared with more substeps at the cost of the
/// plain ones.
fn in_the_world() -> Result<(), Error> {
    let heads = ["sweeps", "boxes sink m", "joints gape m", "rigid rows m"];
    println!("\n{:<34} {:>14} {:>12} {:>13} {:>12}", "a step has", heads[0], heads[1], heads[2], heads[3]);
    for (name, substeps, sweeps) in [
        ("4 substeps of 1 + 1 (default)", 4, 1),
        ("4 substeps of 8 + 8", 4, 8),
        ("4 substeps of 80 + 80", 4, 80),
        ("32 substeps of 1 + 1", 32, 1),
    ] {
        let settings = Settings { substeps, sweeps, relax_sweeps: sweeps, ..Settings::default() };
        let rigid = Settings { joint: Stabilization::Baumgarte(0.2), ..settings.clone() };
        let (sink, soft, rigid) = (sink(&settings)?, gape(&settings)?, gape(&rigid)?);
        println!("{name:<34} {:>14} {sink:>12.5} {soft:>13.5} {rigid:>12.5}", 2 * substeps * sweeps);
    }
    Ok(())
}

/// Ten boxes of 1 m and 1 kg, the top one of 1000 kg: displacement of the top after 2 s [m].
fn sink(settings: &Settings) -> Result<Real, Error> {
    let mut world = World::new(settings.clone())?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    for i in 0..10 {
        let mass = if i == 9 { 1000.0 } else { 1.0 };
        let body = RigidBody::dynamic().shape(Shape::cuboid(0.5, 0.5, 0.5)).mass(mass);
        world.add_rigid(body.at([0.0, 0.5 + i as Real, 0.0]))?;
    }
    for _ in 0..120 {
        world.step(&Input::none());
    }
    Ok(9.5 - world.bodies().last().map_or(0.0, |b| b.position().y))
}

/// 20 links of 1 kg with 100 kg at the end, released from a horizontal position: the maximum joint error in 2 s [m].
fn gape(settings: &Settings) -> Result<Real, Error> {
    let mut world = World::new(settings.clone())?;
    let mut links = Vec::new();
    for i in 0..20 {
        let mass = if i == 19 { 100.0 } else { 1.0 };
        let link =
            RigidBody::dynamic().shape(Shape::capsule(0.1, 0.03)).mass(mass).at([0.2 * i as Real + 0.1, 0.0, 0.0]);
        let link = world.add_rigid(link.turned(sinew::Quat::from_rotation_z(-core::f64::consts::FRAC_PI_2 as Real)))?;
        world.add_joint(Joint::ball(links.last().copied(), Some(link)).anchor([0.2 * i as Real, 0.0, 0.0]))?;
        links.push(link);
    }
    let mut widest: Real = 0.0;
    for _ in 0..120 {
        world.step(&Input::none());
        let mut end = Vec3::ZERO;
        for &link in &links {
            let pose = world.body(link)?.pose()?;
            widest = widest.max((pose.point(-Vec3::Y * 0.1) - end).length());
            end = pose.point(Vec3::Y * 0.1);
        }
    }
    Ok(widest)
}

fn kernels() {
    println!(
        "{:<28} {:<10} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10}",
        "rows", "method", "to 1e-3", "ms", "to 1e-6", "ms", "after 2", "after 16"
    );
    for problem in [chain(1.0), chain(100.0), stack(20, 1.0), stack(10, 1000.0), cloth(false), cloth(true)] {
        for method in [Method::Plain, Method::Nesterov, Method::Nncg, Method::Anderson, Method::Chebyshev] {
            let seen = measure(&problem, method);
            let name = format!("{} ({})", problem.name, problem.rows.len());
            let count = |n: Option<(usize, f64)>| n.map_or("-".into(), |(n, _)| n.to_string());
            let ms = |n: Option<(usize, f64)>| n.map_or("-".into(), |(_, s)| format!("{:.2}", 1e3 * s));
            println!(
                "{name:<28} {:<10} {:>9} {:>9} {:>9} {:>9} {:>10.1e} {:>10.1e}",
                format!("{method:?}"),
                count(seen.reached[0]),
                ms(seen.reached[0]),
                count(seen.reached[1]),
                ms(seen.reached[1]),
                seen.after[0],
                seen.after[1]
            );
        }
    }
}

struct Seen {
    /// Sweeps and seconds to each goal.
    reached: [Option<(usize, f64)>; 2],
    /// Residual after 2 and 16 sweeps.
    after: [Real; 2],
}

fn measure(problem: &Problem, method: Method) -> Seen {
    let mut run = Run::new(problem, method);
    let first = run.residual();
    let (mut reached, mut after, mut seconds) = ([None; 2], [0.0; 2], 0.0);
    for n in 1..=CAP {
        let clock = Instant::now();
        run.iterate();
        seconds += clock.elapsed().as_secs_f64();
        let residual = run.residual() / first;
        for (slot, goal) in reached.iter_mut().zip(GOALS) {
            if slot.is_none() && residual < goal {
                *slot = Some((n, seconds));
            }
        }
        for (slot, at) in after.iter_mut().zip([2, 16]) {
            if n == at {
                *slot = residual;
            }
        }
        if reached[1].is_some() && n >= 16 || !residual.is_finite() {
            break;
        }
    }
    Seen { reached, after }
}

/// The state of a running method.
struct Run {
    method: Method,
    rows: RowBuffer,
    v: Vec<Block>,
    n: usize,
    /// Start and result of the last sweep.
    start: Vec<Real>,
    swept: Vec<Real>,
    /// Start and result of the sweep before.
    old_start: Vec<Real>,
    old_swept: Vec<Real>,
    /// Norm² of the last change.
    old_size: Real,
    /// NNCG's direction.
    direction: Vec<Real>,
    /// Nesterov's θ, Chebyshev's ω and ρ.
    theta: Real,
    omega: Real,
    rho: Real,
    /// Anderson's differences of changes and of results.
    change_steps: Vec<Vec<Real>>,
    result_steps: Vec<Vec<Real>>,
}

impl Run {
    fn new(problem: &Problem, method: Method) -> Self {
        let none = vec![0.0; problem.rows.len()];
        Self {
            method,
            rows: problem.rows.clone(),
            v: problem.v.clone(),
            n: 0,
            start: none.clone(),
            swept: none.clone(),
            old_start: none.clone(),
            old_swept: none.clone(),
            old_size: Real::INFINITY,
            direction: none,
            theta: 1.0,
            omega: 1.0,
            rho: 0.0,
            change_steps: Vec::new(),
            result_steps: Vec::new(),
        }
    }

    fn iterate(&mut self) {
        std::mem::swap(&mut self.start, &mut self.old_start);
        std::mem::swap(&mut self.swept, &mut self.old_swept);
        read(&self.rows, &mut self.start);
        sweep(&mut self.rows, &mut self.v, Pass::Correct);
        read(&self.rows, &mut self.swept);
        let size = self.size();
        match self.method {
            Method::Plain => {}
            Method::Nesterov => self.nesterov(),
            Method::Nncg => self.nncg(size),
            Method::Anderson => self.anderson(size),
            Method::Chebyshev => self.chebyshev(size),
        }
        self.old_size = size;
        self.n += 1;
    }

    /// Norm² of the last change, weighted by the rows' diagonals: rows of heavy and light bodies then have equal
    /// weight.
    fn size(&self) -> Real {
        let rows = self.rows.rows().iter();
        rows.zip(self.swept.iter().zip(&self.start)).map(|(r, (b, a))| r.diagonal * (b - a) * (b - a)).sum()
    }

    fn nesterov(&mut self) {
        if self.n == 0 {
            return;
        }
        let uphill: Real = (0..self.swept.len())
            .map(|i| {
                let weight = self.rows.rows()[i].diagonal;
                weight * (self.start[i] - self.swept[i]) * (self.swept[i] - self.old_swept[i])
            })
            .sum();
        if uphill > 0.0 {
            self.theta = 1.0;
            return;
        }
        let t = self.theta * self.theta;
        let next = 0.5 * ((t * t + 4.0 * t).sqrt() - t);
        let beta = self.theta * (1.0 - self.theta) / (t + next);
        self.theta = next;
        for i in 0..self.swept.len() {
            move_to(&mut self.rows, &mut self.v, i, self.swept[i] + beta * (self.swept[i] - self.old_swept[i]));
        }
    }

    fn nncg(&mut self, size: Real) {
        let beta = if self.n == 0 { 0.0 } else { size / self.old_size };
        let restart = !(beta <= 1.0);
        for i in 0..self.swept.len() {
            let change = self.swept[i] - self.start[i];
            if restart {
                self.direction[i] = 0.0;
            } else {
                let push = beta * self.direction[i];
                self.direction[i] = push + change;
                if self.n > 0 {
                    move_to(&mut self.rows, &mut self.v, i, self.swept[i] + push);
                }
            }
        }
    }

    fn anderson(&mut self, size: Real) {
        if self.n == 0 {
            return;
        }
        if size > 4.0 * self.old_size {
            self.change_steps.clear();
            self.result_steps.clear();
            return;
        }
        if self.change_steps.len() == MEMORY {
            self.change_steps.remove(0);
            self.result_steps.remove(0);
        }
        // weighted by √D, like the norm
        let weight: Vec<Real> = self.rows.rows().iter().map(|r| r.diagonal).collect();
        let change = |i: usize| self.swept[i] - self.start[i];
        let count = self.swept.len();
        self.change_steps.push((0..count).map(|i| change(i) - (self.old_swept[i] - self.old_start[i])).collect());
        self.result_steps.push((0..count).map(|i| self.swept[i] - self.old_swept[i]).collect());
        // normal equations of min |f − ΔF γ|², with a small ridge regularisation
        let m = self.change_steps.len();
        let dot = |a: &dyn Fn(usize) -> Real, b: &dyn Fn(usize) -> Real| -> Real {
            (0..count).map(|i| weight[i] * a(i) * b(i)).sum()
        };
        let steps = &self.change_steps;
        let (mut a, mut gamma) = ([[0.0; MEMORY]; MEMORY], [0.0; MEMORY]);
        for j in 0..m {
            for k in 0..m {
                a[j][k] = dot(&|i| steps[j][i], &|i| steps[k][i]);
            }
            gamma[j] = dot(&|i| steps[j][i], &change);
        }
        let ridge = 10.0 * Real::EPSILON * (0..m).map(|j| a[j][j]).sum::<Real>();
        for j in 0..m {
            a[j][j] += ridge;
        }
        eliminate(&mut a, &mut gamma, m);
        for i in 0..count {
            let step: Real = (0..m).map(|j| gamma[j] * self.result_steps[j][i]).sum();
            move_to(&mut self.rows, &mut self.v, i, self.swept[i] - step);
        }
    }

    fn chebyshev(&mut self, size: Real) {
        // plain sweeps first, to estimate their rate of convergence
        const LEARN: usize = 8;
        let ratio = (size / self.old_size).sqrt();
        if self.n < LEARN {
            self.rho = ratio.min(0.9999);
            self.omega = 1.0;
            return;
        }
        if ratio > 1.0 {
            self.rho *= 0.98;
            self.omega = 1.0;
            return;
        }
        let r = self.rho * self.rho;
        self.omega = if self.omega == 1.0 { 2.0 / (2.0 - r) } else { 4.0 / (4.0 - r * self.omega) };
        for i in 0..self.swept.len() {
            let back = self.old_start[i];
            move_to(&mut self.rows, &mut self.v, i, back + self.omega * (self.swept[i] - back));
        }
    }

    /// See the documentation at the top of the file.
    fn residual(&self) -> Real {
        let mut sum = 0.0;
        for id in 0..self.rows.len() as RowId {
            let row = self.rows.rows()[id as usize];
            let drift: Real = self.rows.terms(id).iter().map(|t| t.jacobian.dot(vec(self.v[t.block as usize]))).sum();
            let wanted = row.impulse - (drift + row.bias + row.softness * row.impulse) / row.diagonal;
            let off = clamp(row.bounds, wanted) - row.impulse;
            sum += row.diagonal * off * off;
        }
        sum.sqrt()
    }
}

fn read(rows: &RowBuffer, to: &mut [Real]) {
    for (to, row) in to.iter_mut().zip(rows.rows()) {
        *to = row.impulse;
    }
}

/// Sets the impulse of a row, within its bounds, and applies the change to its blocks.
fn move_to(rows: &mut RowBuffer, v: &mut [Block], i: usize, impulse: Real) {
    let row = &mut rows.rows_mut()[i];
    let impulse = clamp(row.bounds, impulse);
    let change = impulse - row.impulse;
    row.impulse = impulse;
    for t in rows.terms(i as RowId) {
        let push = t.response * change;
        for (to, from) in v[t.block as usize].iter_mut().zip(push.to_array()) {
            *to += from;
        }
    }
}

fn clamp(bounds: Bounds, impulse: Real) -> Real {
    match bounds {
        Bounds::AtLeast(low) => impulse.max(low),
        Bounds::Between { low, high } => impulse.clamp(low, high),
        _ => impulse,
    }
}

fn vec(b: Block) -> Vec3 {
    Vec3::new(b[0], b[1], b[2])
}

/// Gaussian elimination without pivoting: the matrix is a sum of squares with a ridge.
fn eliminate(a: &mut [[Real; MEMORY]; MEMORY], x: &mut [Real; MEMORY], m: usize) {
    for j in 0..m {
        for k in j + 1..m {
            let share = a[k][j] / a[j][j];
            for l in j..m {
                a[k][l] -= share * a[j][l];
            }
            x[k] -= share * x[j];
        }
    }
    for j in (0..m).rev() {
        for l in j + 1..m {
            x[j] -= a[j][l] * x[l];
        }
        x[j] /= a[j][j];
    }
}

/// A rigid body's two terms for a row along `axis` at `arm`, sign included.
fn side(body: u32, axis: Vec3, arm: Vec3, mass: Real, inertia: Real) -> [Term; 2] {
    let torque = arm.cross(axis);
    [
        Term { block: 2 * body, jacobian: axis, response: axis / mass },
        Term { block: 2 * body + 1, jacobian: torque, response: torque / inertia },
    ]
}

/// 100 links of 1 kg and 0.2 m that hang from the first, the last one `heavy` times as heavy; ball joints.
fn chain(heavy: Real) -> Problem {
    const LINKS: u32 = 100;
    // slightly inclined, so that the three rows of a joint are coupled
    let arm = Vec3::new(0.03, -0.09, 0.03);
    let mut rows = RowBuffer::default();
    let mass = |i: u32| if i == LINKS - 1 { heavy } else { 1.0 };
    let inertia = |i: u32| mass(i) * 0.2 * 0.2 / 12.0;
    for i in 0..LINKS {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let mut terms = Vec::new();
            if i > 0 {
                terms.extend(side(i - 1, -axis, arm, mass(i - 1), inertia(i - 1)));
            }
            terms.extend(side(i, axis, -arm, mass(i), inertia(i)));
            rows.push(&terms, 0.0, 0.0, 0.0, Bounds::Free);
        }
    }
    let v = (0..2 * LINKS).map(|b| if b % 2 == 0 { [0.0, KICK, 0.0, 0.0] } else { [0.0; 4] }).collect();
    Problem { name: if heavy > 1.0 { "chain, end 100 times" } else { "chain of 100" }, rows, v }
}

/// Boxes of 1 m on each other, four points per face, the top one `heavy` times as heavy; friction bounded by a square
/// from the load.
fn stack(boxes: u32, heavy: Real) -> Problem {
    let mass = |i: u32| if i == boxes - 1 { heavy } else { 1.0 };
    let inertia = |i: u32| mass(i) / 6.0;
    let mut rows = RowBuffer::default();
    for i in 0..boxes {
        let load: Real = (i..boxes).map(mass).sum::<Real>() * -KICK;
        for (x, z) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            for (k, axis) in [Vec3::Y, Vec3::X, Vec3::Z].into_iter().enumerate() {
                let mut terms = Vec::new();
                if i > 0 {
                    terms.extend(side(i - 1, -axis, Vec3::new(x, 0.5, z), mass(i - 1), inertia(i - 1)));
                }
                terms.extend(side(i, axis, Vec3::new(x, -0.5, z), mass(i), inertia(i)));
                let most = 0.5 * load / 4.0;
                let bounds = if k == 0 { Bounds::AtLeast(0.0) } else { Bounds::Between { low: -most, high: most } };
                rows.push(&terms, 0.0, 0.0, 0.0, bounds);
            }
        }
    }
    // a lateral velocity at the top, so that friction and tilting are included
    let push = |i: u32| if i == boxes - 1 { 0.2 * KICK } else { 0.0 };
    let v = (0..2 * boxes).map(|b| if b % 2 == 0 { [push(b / 2), KICK, 0.0, 0.0] } else { [0.0; 4] }).collect();
    Problem { name: if heavy > 1.0 { "10 boxes, top 1000 times" } else { "stack of 20" }, rows, v }
}

/// Edges, diagonals and second neighbours of a 51 x 51 grid, two corners pinned; `soft` like the world's joints at 240
/// Hz.
fn cloth(soft: bool) -> Problem {
    const SIDE: u32 = 51;
    let inv_mass = |i: u32| if i == 0 || i == SIDE - 1 { 0.0 } else { 1000.0 };
    // a sheet with waves, so that the rows differ
    let at = |i: u32| {
        let (x, z) = ((i % SIDE) as Real, (i / SIDE) as Real);
        Vec3::new(x, (0.3 * x).sin() + (0.2 * z).cos(), z)
    };
    let mut rows = RowBuffer::default();
    for (dx, dz) in [(1, 0), (0, 1), (1, 1), (2, 0), (0, 2)] {
        for z in 0..SIDE - dz {
            for x in 0..SIDE - dx {
                let (a, b) = (z * SIDE + x, (z + dz) * SIDE + x + dx);
                let axis = (at(b) - at(a)).normalize();
                let end = |i: u32, axis: Vec3| Term { block: i, jacobian: axis, response: axis * inv_mass(i) };
                let softness = if soft { 0.05 * (inv_mass(a) + inv_mass(b)) } else { 0.0 };
                rows.push(&[end(a, -axis), end(b, axis)], 0.0, 0.0, softness, Bounds::Free);
            }
        }
    }
    let v = (0..SIDE * SIDE).map(|i| [0.0, if inv_mass(i) > 0.0 { KICK } else { 0.0 }, 0.0, inv_mass(i)]).collect();
    Problem { name: if soft { "cloth, soft rows" } else { "cloth, rigid rows" }, rows, v }
}
