//! Implicit islands: one preconditioned CG over all bodies of an island with all its rows inside, then a momentum audit
//! and a push-only guard. Knows numbers only: operators, masses and rows; no kinds of body, no kinds of constraint.
//!
//! Every body is unknown, rigid ones too. With A the bodies' systems, b their loads and the *law* of a row
//!
//! ```text
//!   λ = project( −(J·v + bias) / softness )        onto the row's bounds; a disc has radius μ λ(normal) + radius
//! ```
//!
//! we seek A v = b + Jᵀλ(v). The law is piecewise linear, λ ≈ offset − rate (J·v + bias), so that each pass is one
//! symmetric positive solve (A + Jᵀ rate J) v = b + Jᵀ(offset − rate bias), by CG with block Jacobi; then the rows are
//! looked at again (Newton on a semismooth equation; Alart and Curnier 1991, with the disc's radius held for a pass so
//! that the matrix stays symmetric). In steady contact the first guess is right and one pass is enough.
//!
//! 1. `stiffen`: a hard row (softness 0) cannot enter a CG. It gets the softness 1/(stiffness · mass it meets) and is told
//!    to start from last step's impulse: J·v + bias + softness (λ − λ_last) = 0, the method of multipliers with one
//!    iteration a step (Hestenes 1969). At rest the softness then costs no penetration at all.
//! 2. passes of CG.
//! 3. *audit*: a truncated CG leaves a residual, and M⁻¹ times a residual is a kick. We therefore move every body along its
//!    rigid modes Z, the rows' stiffness included, (ZᵀMZ + ZᵀJᵀ rate J Z) y = momentum defect: the same problem with each
//!    body rigid, solved by the same CG. What is left is rounding and is put into the velocities as it stands: then
//!    momentum, spin and action = reaction hold to rounding for the impulses that the rows report.
//! 4. *guard*: sweeps that only ever push, with the lumped response, against what would still penetrate.
//!
//! What was tried and failed is in `docs/design-trial.md`: setting velocities straight from the residual (a kick of the
//! stiffness ratio A_ii/m: explodes), two-sided sweeps after a truncated CG (explode the same way), a secant for sliding
//! friction (too slow to let a body begin to slide).

mod audit;
mod cg;
mod near;
mod smooth;
mod space;
mod stiffen;

use crate::constraint::{Bounds, RowBuffer, RowId, Term};
use crate::deformable::Operator;
use crate::error::{Error, check};
use crate::math::{Block, Real, Sym3, Vec3, add};
use audit::{Seat, balance, settle};
use cg::{Plan, Radii, conjugate_gradient, dot};
use space::{Space, apply_bodies, bounded, drift};
pub use stiffen::stiffen;

/// An implicit body at its place in the island.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    /// Its first velocity block.
    pub first: u32,
    /// Its system.
    pub operator: &'a dyn Operator,
}

/// A body without elastic forces of its own: a particle on one block, or a rigid body on two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lump {
    /// Its block, or the first of its two.
    pub block: u32,
    /// Mass [kg].
    pub mass: Real,
    /// Inertia in world axes [kg·m²]; none for a particle.
    pub inertia: Option<Sym3>,
    /// Velocity after external forces, as if there were no rows [m/s], [rad/s].
    pub free: [Vec3; 2],
}

/// All bodies of an island. A block that none of them owns keeps its velocity.
#[derive(Clone, Copy)]
pub struct System<'a> {
    /// Implicit bodies.
    pub operators: &'a [Placed<'a>],
    /// All others.
    pub lumps: &'a [Lump],
}

impl std::fmt::Debug for Placed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Placed({}..{})", self.first, self.first + self.operator.block_count() as u32)
    }
}

impl Placed<'_> {
    /// Its velocity blocks in the island.
    fn blocks(&self) -> std::ops::Range<usize> {
        let first = self.first as usize;
        first..first + self.operator.block_count()
    }
}

/// Counts and tolerances of an implicit solve.
///
/// ```
/// use sinew::*;
/// let implicit = Implicit { tolerance: 1e-4, ..Settings::default().implicit };
/// assert!(World::new(Settings { implicit, ..Settings::default() }).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Stiffness of a hard row on an implicit body, in units of the implicit mass it meets. Larger: less penetration in
    /// impact, more iterations, and a sliding soft body chatters.
    pub stiffness: Real,
    /// The same for a contact between two soft bodies, or of one with itself: both sides give way, and the load on them is their own. Larger: more iterations and
    /// passes, and no less penetration. Smaller: heavy things on soft bodies on soft bodies begin to rock (see `carry`).
    pub soft_stiffness: Real,
    /// The same for a row between particles and rigid bodies, whose masses have no elasticity in them. Smaller: stacks
    /// sag by g h²/stiffness times the bodies above, and tall ones begin to rock (see `carry`).
    pub rigid_stiffness: Real,
    /// Stiffness of friction's springs relative to the above. Larger: less play before slip, more iterations.
    pub tangential: Real,
    /// Part of the way that the impulse a hard row starts from goes to its impulse, each substep. 0: a penalty, it sinks
    /// under load. Larger: sinking is gone sooner. This is integral control, which takes damping from a mode unless the
    /// row is stiffer than 1/carry times what it presses on, and c/m > carry for the mass m of the mode.
    pub carry: Real,
    /// CG stops when its residual has this size relative to what forces and rows do in the substep.
    pub tolerance: Real,
    /// Largest number of CG iterations in all passes together. Smaller: slower motion, not lost momentum.
    pub iterations: u32,
    /// Largest number of passes over the bounds. Smaller: rows that begin or end to touch or slide do so a step late.
    pub passes: u32,
    /// Passes of the audit. 0: the residual becomes a kick; only for a CG solved to rounding.
    pub audit_passes: u32,
    /// Guard sweeps. 0: penetration in impact is what the stiffness leaves.
    pub guard: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stiffness: 20.0,
            soft_stiffness: 5.0,
            rigid_stiffness: 1000.0,
            tangential: 0.2,
            carry: 0.5,
            tolerance: 1e-3,
            iterations: 200,
            passes: 20,
            audit_passes: 30,
            guard: 2,
        }
    }
}

impl Settings {
    /// Refuses absurd values, naming the first.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (what, size) in [
            ("settings.implicit.stiffness", self.stiffness),
            ("settings.implicit.soft_stiffness", self.soft_stiffness),
            ("settings.implicit.rigid_stiffness", self.rigid_stiffness),
            ("settings.implicit.tangential", self.tangential),
        ] {
            check(what, size, size > 0.0 && size <= 1e9, "above 0, at most 1e9")?;
        }
        check("settings.implicit.carry", self.carry, (0.0..=1.0).contains(&self.carry), "between 0 and 1")?;
        let tolerance = self.tolerance;
        check("settings.implicit.tolerance", tolerance, tolerance > 0.0 && tolerance < 1.0, "between 0 and 1")?;
        let counts = [
            ("settings.implicit.iterations", self.iterations, 1, "from 1 to 100000"),
            ("settings.implicit.passes", self.passes, 1, "from 1 to 100000"),
            ("settings.implicit.audit_passes", self.audit_passes, 0, "from 0 to 100000"),
            ("settings.implicit.guard", self.guard, 0, "from 0 to 100000"),
        ];
        for (what, n, low, must) in counts {
            check(what, n as Real, (low..=100_000).contains(&n), must)?;
        }
        Ok(())
    }

    /// The impulse that a hard row shall start from next substep, from the one it started from and the one it came to.
    /// This is what contact memory keeps: its fixed point is the impulse itself, and the gap there is zero.
    pub fn carried(&self, start: Real, impulse: Real) -> Real {
        start + self.carry * (impulse - start)
    }
}

/// A pass is right when the impulses of law and model differ by less than this times the CG's tolerance.
const LAW_TOLERANCE: Real = 10.0;
/// The audit's passes: rigid modes only, no operator is applied, so that iterations are cheap. It changes impulses by what
/// the CG has left, a thousandth, and friction's radii by no more: they stay.
const AUDIT: Plan = Plan { tolerance: 1e-5, iterations: 1000, passes: 30, radii: Radii::Held, unlooked: 0 };
/// Part of the way that disc radii go to μ λ(normal) from pass to pass. With 1 radii and normal impulses of a sliding soft
/// body chase each other (E = 1e6 Pa, 17 ms: never settles); 0.3 is the largest value tried that always settled.
const RADIUS_BLEND: Real = 0.3;
/// Passes before that: an impact is over in a few.
const QUICK_PASSES: u32 = 4;
/// Part of its way below which a step was cut short.
const STALL: Real = 0.1;
/// Part of all iterations, one in so many, that the CG after the first step that was cut short makes without a look at the rows.
/// With all of them a rope around a wheel (C02, implicit springs) had none left for its other passes.
const PATIENCE: u32 = 3;
/// Most looks for the place where a step is cut, and the part of the steepest slope that is level.
const CUT_STEPS: u32 = 8;
const LEVEL: Real = 1e-2;

/// What a solve did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// CG iterations of all passes.
    pub iterations: u32,
    /// Passes over the bounds.
    pub passes: u32,
    /// CG iterations of the audit (rigid modes only: no operator is applied).
    pub audit_iterations: u32,
    /// Residual of the last pass, relative.
    pub residual: Real,
    /// How far the impulses of the last pass were from the law, relative.
    pub mismatch: Real,
}

/// Memory of a solve, kept by the caller: nothing is allocated once it has grown.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    fine: Space,
    /// The same island with every body rigid. Written by the audit.
    coarse: Space,
    coarse_rows: RowBuffer,
    /// The row that each coarse row stands for. (coarse row_count)
    coarse_of: Vec<RowId>,
    coarse_lumps: Vec<Lump>,
    coarse_terms: Vec<Term>,
    coarse_v: Vec<Block>,
    /// What presses each block. Written by `stiffen`. (block_count)
    pressed: Vec<stiffen::Pressed>,
    /// The most that a push moves each operator as a whole. Written by `stiffen`. (operator_count) [1/kg]
    gives: Vec<Real>,
    /// Where each block lies in the coarse space. (block_count)
    seats: Vec<Seat>,
    /// Momentum and spin that each operator lacks; none for one that something holds. (operator_count) [N·s], [N·m·s]
    lacks: Vec<Option<(Vec3, Vec3)>>,
}

/// Solves the island: v from a first guess (last step's velocities) to the end of the substep, impulses into the rows.
pub fn solve(
    system: &System<'_>,
    rows: &mut RowBuffer,
    v: &mut [Block],
    settings: &Settings,
    scratch: &mut Scratch,
) -> Outcome {
    let plan = Plan {
        tolerance: settings.tolerance,
        iterations: settings.iterations,
        passes: settings.passes,
        radii: Radii::Follow,
        unlooked: 0,
    };
    scratch.fine.begin(system, v);
    scratch.fine.leave_out(system, rows, v);
    let mut outcome = run_passes(system, rows, v, plan, &mut scratch.fine);
    if settings.audit_passes > 0 {
        outcome.audit_iterations = balance(system, rows, v, settings.audit_passes, scratch);
    }
    settle(system, rows, v, scratch);

    for _ in 0..settings.guard {
        guard(rows, v);
    }
    outcome
}

/// Solve with the rows as they seem, look at them again, until they are as they seemed. Ends with the law's impulses. Comes
/// after `begin`.
///
/// For given disc radii v is the minimum of a convex function, φ(v) = ½ vᵀA v − bᵀv + Σ (energy of the rows' laws); a
/// Newton step that lands among other rows than it was made for is cut where φ is least along it. Without the cut the
/// rows of a sliding soft body flip for ever and feed it energy.
fn run_passes(system: &System<'_>, rows: &mut RowBuffer, v: &mut [Block], plan: Plan, s: &mut Space) -> Outcome {
    let mut outcome = Outcome::default();
    let enough = LAW_TOLERANCE * plan.tolerance;
    let (mut peeked, mut unlooked, mut patience) = (false, 0, plan.iterations / PATIENCE);
    s.blend = 1.0;
    linearise(rows, v, s);
    apply_bodies(system, v, &mut s.applied);
    loop {
        s.precondition(system, rows);
        s.begin_pass(v);
        let left = Plan { iterations: plan.iterations - outcome.iterations, unlooked, ..plan };
        let (iterations, residual) = conjugate_gradient(system, rows, v, left, s);
        outcome.passes += 1;
        outcome.iterations += iterations;
        outcome.residual = residual;
        let part = if mismatch(rows, v, s) > enough { cut(rows, v, s) } else { 1.0 };
        s.end_pass(part);
        // the way that a CG which was given up goes may be cut to nothing again and again
        unlooked = if part < STALL { std::mem::take(&mut patience) } else { 0 };
        if part < STALL && !peeked {
            peeked = outcome.passes < plan.passes && outcome.iterations < plan.iterations;
            if peeked {
                peek(rows, s);
                continue;
            }
        }
        peeked = false;
        s.blend = match plan.radii {
            Radii::Held => 0.0,
            Radii::Follow if outcome.passes < QUICK_PASSES => 1.0,
            Radii::Follow => RADIUS_BLEND,
        };
        outcome.mismatch = linearise(rows, v, s);
        let settled = outcome.mismatch <= enough && residual <= plan.tolerance;
        let woken = settled && s.wake(rows, v);
        if woken {
            outcome.mismatch = linearise(rows, v, s);
        }
        let done = settled && !woken;
        if done || outcome.passes >= plan.passes || outcome.iterations >= plan.iterations {
            return outcome;
        }
    }
}

/// Takes the model of the far end of a step that was cut short. It came from a model in which rows were open that close all
/// at once: who stops where the first one closes has the same model again. (A tray that sets down on a cloth moved by a
/// hundredth of its way in each of twenty passes.) The next step is cut by φ as well, so that it does not go up.
fn peek(rows: &mut RowBuffer, s: &mut Space) {
    let mut far = std::mem::take(&mut s.z);
    for (far, (start, p)) in far.iter_mut().zip(s.start.iter().zip(&s.p)) {
        *far = [start[0] + p[0], start[1] + p[1], start[2] + p[2], 0.0];
    }
    s.blend = 0.0;
    linearise(rows, &far, s);
    s.z = far;
}

/// How far the model's impulses at v are from the law's with the same radii, relative.
fn mismatch(rows: &RowBuffer, v: &[Block], s: &mut Space) -> Real {
    let (mut wrong, mut all) = (0.0, 0.0);
    s.drifts(rows, v);
    for id in s.near.iter().map(|&id| id as usize) {
        let (law, model) = (s.law(rows, id), s.model(rows, id));
        wrong += (law - model) * (law - model);
        all += law * law;
    }
    if all > 0.0 { (wrong / all).sqrt() } else { 0.0 }
}

/// Cuts the step from `start` to v where φ is least: φ'(t) = d·(A v − b) − Σ λ(u) J·d, d the step, rises with t. Returns t.
fn cut(rows: &RowBuffer, v: &mut [Block], s: &mut Space) -> Real {
    for (p, (v, start)) in s.p.iter_mut().zip(v.iter().zip(&s.start)) {
        *p = [v[0] - start[0], v[1] - start[1], v[2] - start[2], 0.0];
    }
    // from the residuals at both ends, rows would cancel to less than rounding leaves where they are much stiffer than A
    let bend = dot(&s.p, &s.moved);
    let slope = dot(&s.p, &s.applied) - dot(&s.p, &s.load);
    for id in s.near.iter().map(|&id| id as usize) {
        s.step[id] = drift(rows.terms(id as RowId), &s.p);
        s.from[id] = drift(rows.terms(id as RowId), &s.start) + rows.rows()[id].bias;
    }
    let mut climb = |t: Real| {
        for id in s.near.iter().map(|&id| id as usize) {
            s.push[id] = s.from[id] + t * s.step[id];
        }
        let rows_part: Real = s.near.iter().map(|&id| s.law(rows, id as usize) * s.step[id as usize]).sum();
        slope + t * bend - rows_part
    };
    let t = first_level(&mut climb);
    if t == 1.0 {
        return t;
    }
    for (v, (start, p)) in v.iter_mut().zip(s.start.iter().zip(&s.p)) {
        *v = [start[0] + t * p[0], start[1] + t * p[1], start[2] + t * p[2], v[3]];
    }
    t
}

/// Where in [0, 1] a function that rises comes to zero, by regula falsi with the staying end halved (Illinois; Dowell and
/// Jarratt 1971): 1 when it is below zero there, 0 when it is above from the start. Times of contact are looked for to the last
/// digit (`collision/continuous/roots.rs`); a step is cut well enough where a hundredth of its slope is left.
fn first_level(climb: &mut impl FnMut(Real) -> Real) -> Real {
    let (mut low, mut high) = ([0.0, climb(0.0)], [1.0, climb(1.0)]);
    if !(high[1] > 0.0) {
        return 1.0;
    }
    if !(low[1] < 0.0) {
        return 0.0;
    }
    let size = high[1].max(-low[1]);
    for _ in 0..CUT_STEPS {
        let t = low[0] - low[1] * ((high[0] - low[0]) / (high[1] - low[1]));
        // numbers beyond those of a real: half way is as good as any
        let t = if t > low[0] && t < high[0] { t } else { 0.5 * (low[0] + high[0]) };
        let at = [t, climb(t)];
        if at[1].abs() <= LEVEL * size {
            return t;
        }
        if at[1] > 0.0 {
            (high, low[1]) = (at, 0.5 * low[1]);
        } else {
            (low, high[1]) = (at, 0.5 * high[1]);
        }
    }
    0.5 * (low[0] + high[0])
}

/// The impulses of the law at v into the rows, and the linear model of the next pass. Returns how far the impulses of
/// the last model were off, relative.
///
/// A sliding pair: λ = −reach û has the derivative −(reach/|u|)(I − û ûᵀ): friction resists a change of direction and
/// is constant along û. A pair that slid the other way in the last pass passes through rest and gets the secant
/// (reach/|u|) I, which holds it there; it also has the law's value, so that every model is a descent of φ.
fn linearise(rows: &mut RowBuffer, v: &[Block], s: &mut Space) -> Real {
    let (mut wrong, mut all) = (0.0, 0.0);
    s.drifts(rows, v);
    for at in 0..s.near.len() {
        let id = s.near[at] as usize;
        let row = rows.rows()[id];
        let old = s.model(rows, id);
        if let Bounds::Disc { normal, friction, radius } = row.bounds {
            let wanted = (friction * rows.rows()[normal as usize].impulse + radius).max(0.0);
            s.reach[id] += s.blend * (wanted - s.reach[id]);
        }
        let new = s.law(rows, id);
        wrong += (new - old) * (new - old);
        all += new * new;
        rows.rows_mut()[id].impulse = new;
        match row.bounds {
            // nobody answers: the impulse stays, the model is that constant
            _ if row.diagonal == Real::INFINITY => s.offset[id] = new,
            Bounds::Disc { .. } => {}
            // both halves of a pair are known only now
            Bounds::Mate => s.linearise_pair(id - 1, 1.0 / row.softness),
            _ => {
                let (_, inside) = bounded(&row, -s.push[id] / row.softness);
                s.rate[id] = if inside { 1.0 / row.softness } else { 0.0 };
                s.offset[id] = if inside { 0.0 } else { new };
            }
        }
    }
    if all > 0.0 { (wrong / all).sqrt() } else { 0.0 }
}

/// One sweep that keeps what is open from closing and what is closed from closing further; it never pulls. Momentum is
/// kept because response = mass⁻¹ jacobian.
fn guard(rows: &mut RowBuffer, v: &mut [Block]) {
    for id in 0..rows.len() {
        let row = rows.rows()[id];
        if !matches!(row.bounds, Bounds::AtLeast(_)) || row.diagonal == Real::INFINITY {
            continue;
        }
        let approach = drift(rows.terms(id as RowId), v) + row.bias - row.correction;
        if approach < 0.0 {
            let push = -approach / (row.diagonal - row.softness);
            rows.rows_mut()[id].impulse += push;
            for t in rows.terms(id as RowId) {
                add(&mut v[t.block as usize], t.response * push);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lump(block: u32, mass: Real, velocity: Vec3) -> Lump {
        Lump { block, mass, inertia: None, free: [velocity, Vec3::ZERO] }
    }

    fn term(block: u32, jacobian: Vec3, inverse_mass: Real) -> Term {
        Term { block, jacobian, response: jacobian * inverse_mass }
    }

    fn solved(lumps: &[Lump], rows: &mut RowBuffer, v: &mut [Block]) -> Outcome {
        let (settings, mut scratch) = (Settings::default(), Scratch::default());
        let system = System { operators: &[], lumps };
        stiffen(&system, rows, v.len(), &settings, &mut scratch);
        solve(&system, rows, v, &settings, &mut scratch)
    }

    #[test]
    fn an_inelastic_collision_keeps_momentum_and_nearly_closes_the_gap_speed() {
        let mut rows = RowBuffer::default();
        rows.push(&[term(0, -Vec3::X, 1.0), term(1, Vec3::X, 0.5)], 0.0, 0.0, 0.0, Bounds::AtLeast(0.0));
        let mut v = [[1.0, 0.0, 0.0, 0.0], [0.0; 4]];
        solved(&[lump(0, 1.0, Vec3::X), lump(1, 2.0, Vec3::ZERO)], &mut rows, &mut v);
        assert!((v[0][0] + 2.0 * v[1][0] - 1.0).abs() < 1e-6);
        assert!((v[0][0] - v[1][0]).abs() < 2e-3, "{v:?}");
    }

    #[test]
    fn friction_stops_at_its_disc_and_points_against_slip() {
        let mut rows = RowBuffer::default();
        let n = rows.push(&[term(0, Vec3::Y, 1.0)], 0.0, 0.0, 0.0, Bounds::AtLeast(0.0));
        rows.push(&[term(0, Vec3::X, 1.0)], 0.0, 0.0, 0.0, Bounds::Disc { normal: n, friction: 0.5, radius: 0.0 });
        rows.push(&[term(0, Vec3::Z, 1.0)], 0.0, 0.0, 0.0, Bounds::Mate);
        let mut v = [[3.0, -1.0, 4.0, 0.0]];
        solved(&[lump(0, 1.0, Vec3::new(3.0, -1.0, 4.0))], &mut rows, &mut v);
        // friction 0.5 · 1 N·s against (3, 4): 0.3 and 0.4
        assert!((v[0][0] - 2.7).abs() < 2e-3 && (v[0][2] - 3.6).abs() < 2e-3, "{v:?}");
    }

    #[test]
    fn an_impulse_at_its_bound_is_a_constant_push() {
        let mut rows = RowBuffer::default();
        rows.push(&[term(0, Vec3::X, 1.0)], 0.0, 0.0, 0.0, Bounds::Between { low: -0.25, high: 0.25 });
        let mut v = [[1.0, 0.0, 0.0, 0.0]];
        solved(&[lump(0, 1.0, Vec3::X)], &mut rows, &mut v);
        assert!((v[0][0] - 0.75).abs() < 1e-6 && rows.rows()[0].impulse == -0.25);
    }

    #[test]
    fn a_prescribed_block_keeps_its_velocity_and_a_row_nobody_answers_its_impulse() {
        let mut rows = RowBuffer::default();
        rows.push(&[term(0, -Vec3::X, 0.0), term(1, Vec3::X, 1.0)], 0.0, 0.0, 0.0, Bounds::Free);
        let n = rows.push(&[term(0, Vec3::X, 0.0)], 5.0, 0.0, 0.0, Bounds::Free);
        rows.push(&[term(0, Vec3::Y, 0.0)], 0.0, 0.0, 0.0, Bounds::Disc { normal: n, friction: 1.0, radius: 0.0 });
        rows.push(&[term(0, Vec3::Z, 0.0)], 0.0, 0.0, 0.0, Bounds::Mate);
        let mut v = [[2.0, 0.0, 0.0, 0.0], [0.0; 4]];
        solved(&[lump(1, 1.0, Vec3::ZERO)], &mut rows, &mut v);
        assert_eq!(v[0], [2.0, 0.0, 0.0, 0.0]);
        assert!((v[1][0] - 2.0).abs() < 3e-3, "{v:?}");
        assert!(rows.rows()[1..].iter().all(|r| r.impulse == 0.0));
    }

    #[test]
    fn an_empty_island_is_solved() {
        let outcome = solved(&[], &mut RowBuffer::default(), &mut []);
        assert_eq!(outcome.iterations, 0);
    }
}
