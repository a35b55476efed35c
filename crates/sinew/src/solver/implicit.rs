//! Implicit islands: one preconditioned CG over all bodies of an island including all its rows, then a momentum
//! correction ("audit") and one-sided sweeps against penetration ("guard"). Numbers only: operators, masses and rows;
//! no kinds of body, no kinds of constraint.
//!
//! Every body is an unknown, including rigid ones. With A the systems of the bodies, b their loads and the *law* of a
//! row
//!
//! ```text
//!   λ = project( −(J·v + bias) / softness )        onto the row's bounds; a disc has radius μ λ(normal) + radius
//! ```
//!
//! we seek A v = b + Jᵀλ(v). The law is piecewise linear, λ ≈ offset − rate (J·v + bias), so that each pass is one
//! symmetric positive definite solve (A + Jᵀ rate J) v = b + Jᵀ(offset − rate bias), by CG with block Jacobi; then the
//! rows are linearised again (Newton on a semismooth equation; Alart and Curnier 1991, with the disc's radius constant
//! during a pass so that the matrix stays symmetric). In steady contact the first linearisation is correct and one pass
//! is enough.
//!
//! 1. `regularize`: a hard row (softness 0) cannot enter a CG. It gets the softness 1/(stiffness · effective mass of
//!    its blocks) and starts from the impulse of the previous step: J·v + bias + softness (λ − λ_last) = 0, the method
//!    of multipliers with one iteration per step (Hestenes 1969). At rest the softness then causes no penetration at
//!    all.
//! 2. passes of CG.
//! 3. *audit*: a truncated CG leaves a residual, and M⁻¹ times a residual is a large velocity error. We therefore move
//!    every body along its rigid modes Z, including the stiffness of the rows, (ZᵀMZ + ZᵀJᵀ rate J Z) y = momentum
//!    defect: the same problem with each body rigid, solved by the same CG. The remainder is rounding error and is
//!    added to the velocities directly: then linear and angular momentum and action = reaction hold to rounding for the
//!    impulses that the rows report.
//! 4. *guard*: one-sided sweeps with impulses ≥ 0 only, with the lumped response, against the remaining penetration
//!    velocity.
//!
//! Rejected alternatives are in `docs/design-trial.md`: setting velocities directly from the residual (a velocity error
//! scaled by the stiffness ratio A_ii/m: unstable), two-sided sweeps after a truncated CG (unstable in the same way), a
//! secant for sliding friction (converges too slowly for a body to begin to slide).

mod cg;
mod compliance;
mod momentum_correction;
mod near;
mod regularize;
mod smooth;
mod space;

use crate::constraint::{Bounds, RowBuffer, RowId, Term};
use crate::deformable::Operator;
use crate::math::{Block, Real, Sym3, Vec3, add, hold};
use crate::tuning::implicit::{CUT_STEPS, LAW_TOLERANCE, LEVEL, PATIENCE, QUICK_PASSES, RADIUS_BLEND, STALL};
use cg::{Plan, Radii, conjugate_gradient, dot};
pub use compliance::{Effort, linearise_active, product, residual, respond};
use momentum_correction::{Seat, balance, settle};
pub use regularize::regularize;
use sinew_spec::{Rule, SHARE, from_to, record};
use space::{Space, apply_bodies, bounded, relative_velocity};

/// An implicit body and its position among the velocity blocks of the island.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    /// Its first velocity block.
    pub first: u32,
    /// Its system.
    pub operator: &'a dyn Operator,
}

/// A body without internal elastic forces: a particle on one block, or a rigid body on two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidUnknown {
    /// Its block, or the first of its two.
    pub block: u32,
    /// Mass [kg].
    pub mass: Real,
    /// Inertia in world axes [kg·m²]; none for a particle.
    pub inertia: Option<Sym3>,
    /// Velocity after external forces, without rows [m/s], [rad/s].
    pub free: [Vec3; 2],
}

/// All bodies of an island. A block that belongs to none of them keeps its velocity.
#[derive(Clone, Copy)]
pub struct System<'a> {
    /// Implicit bodies.
    pub operators: &'a [Placed<'a>],
    /// All other bodies.
    pub rigid_unknowns: &'a [RigidUnknown],
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

/// Iteration counts and tolerances of an implicit solve.
///
/// ```
/// use sinew::*;
/// let implicit = Implicit { tolerance: 1e-4, ..Settings::default().implicit };
/// assert!(World::new(Settings { implicit, ..Settings::default() }).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Stiffness of a hard row on an implicit body, in units of the implicit mass of its blocks. Larger: less
    /// penetration in impact, more iterations, and a sliding soft body chatters.
    pub stiffness: Real,
    /// The same for a contact between two soft bodies, or for self-contact: both sides are compliant, and the load on
    /// them is their own weight. Larger: more iterations and passes, and no less penetration. Smaller: heavy bodies on
    /// soft bodies on soft bodies begin to rock (see `carry`).
    pub soft_stiffness: Real,
    /// The same for a row between particles and rigid bodies, whose masses contain no elasticity. Smaller: stacks sag
    /// by g h²/stiffness times the number of bodies above, and tall ones begin to rock (see `carry`).
    pub rigid_stiffness: Real,
    /// Stiffness of the friction springs relative to the above. Larger: less tangential displacement before slip, more
    /// iterations.
    pub tangential: Real,
    /// Fraction by which the start impulse of a hard row approaches its impulse, each substep. 0: a penalty method with
    /// penetration under load. Larger: the penetration vanishes sooner. This is integral control, which reduces the
    /// damping of a mode unless the row is stiffer than 1/carry times the stiffness of the loaded body, and c/m > carry
    /// for the mass m of the mode.
    pub carry: Real,
    /// CG stops when its residual has this size relative to the effect of forces and rows in the substep.
    pub tolerance: Real,
    /// Maximum number of CG iterations in all passes together. Smaller: slower motion, but no loss of momentum.
    pub iterations: u32,
    /// Maximum number of passes over the bounds. Smaller: transitions of rows between open, stick and slip occur a step
    /// late.
    pub passes: u32,
    /// Passes of the momentum correction. 0: the residual becomes a velocity error; only for a CG solved to rounding.
    pub audit_passes: u32,
    /// Guard sweeps. 0: the penetration in impact is determined by the stiffness.
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

/// A stiffness without unit.
const RELATIVE: Rule = from_to(0.0, 1e9).above();
const AT_LEAST_ONE: Rule = from_to(1.0, 100_000.0);
const AT_MOST: Rule = from_to(0.0, 100_000.0);

record!(Settings, "implicit settings", "Counts and tolerances of implicit islands.", Settings::default(), {
    stiffness: RELATIVE, "Stiffness of a hard row on an implicit body, in units of the implicit mass it meets.";
    soft_stiffness: RELATIVE, "The same for a contact between two soft bodies.";
    rigid_stiffness: RELATIVE, "The same for a row between particles and rigid bodies.";
    tangential: RELATIVE, "Stiffness of friction's springs relative to the above.";
    carry: SHARE, "Fraction by which the start impulse of a hard row approaches its impulse in each substep.";
    tolerance: SHARE.above().below(), "CG stops when its residual has this size relative to the right-hand side.";
    iterations: AT_LEAST_ONE, "Largest number of CG iterations in all passes together.";
    passes: AT_LEAST_ONE, "Largest number of passes over the bounds.";
    audit_passes: AT_MOST, "Passes of the audit.";
    guard: AT_MOST, "Guard sweeps.";
});

impl Settings {
    /// The start impulse of a hard row in the next substep, from its present start impulse and its solved impulse. This
    /// value is stored in the contact cache: its fixed point is the impulse itself, and the gap there is zero.
    pub fn carried(&self, start: Real, impulse: Real) -> Real {
        start + self.carry * (impulse - start)
    }
}

/// Passes of the momentum correction: rigid modes only, no operator is applied, so that iterations are cheap. It
/// changes impulses by the residual of the CG, a thousandth, and friction radii by no more: the radii are constant.
const MOMENTUM_CORRECTION: Plan =
    Plan { tolerance: 1e-5, iterations: 1000, passes: 30, radii: Radii::Held, unlooked: 0 };

/// Result of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// CG iterations of all passes.
    pub iterations: u32,
    /// Passes over the bounds.
    pub passes: u32,
    /// CG iterations of the momentum correction (rigid modes only: no operator is applied).
    pub audit_iterations: u32,
    /// Residual of the last pass, relative.
    pub residual: Real,
    /// Relative difference between the impulses of the last pass and the law.
    pub mismatch: Real,
}

/// Buffers of a solve, owned by the caller: nothing is allocated once they have grown.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    fine: Space,
    /// The same island with every body rigid. Written by the momentum correction.
    coarse: Space,
    coarse_rows: RowBuffer,
    /// The row that each coarse row represents. (coarse row_count)
    coarse_of: Vec<RowId>,
    coarse_lumps: Vec<RigidUnknown>,
    coarse_terms: Vec<Term>,
    coarse_v: Vec<Block>,
    /// The bodies in contact with each block. Written by `regularize`. (block_count)
    pressed: Vec<regularize::Pressed>,
    /// Largest inverse effective mass of each operator for an impulse on its rigid modes. Written by `regularize`.
    /// (operator_count) [1/kg]
    gives: Vec<Real>,
    /// Position of each block in the coarse space. (block_count)
    seats: Vec<Seat>,
    /// Defect of linear and angular momentum of each operator; none for one with pinned nodes. (operator_count) [N·s],
    /// [N·m·s]
    lacks: Vec<Option<(Vec3, Vec3)>>,
}

impl Scratch {
    /// Memory for a response ([`respond`]) of these bodies, with so many blocks, rows and terms in total.
    pub(crate) fn reserve(&mut self, system: &System<'_>, sizes: [usize; 3]) {
        self.fine.reserve(system, sizes);
        hold(&mut self.pressed, sizes[0]);
    }
}

/// Solves the island: v from a first guess (velocities of the previous step) to the end of the substep, impulses into
/// the rows.
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

/// Solves with the rows linearised, linearises them again, until the linearisation does not change. Ends with the law's
/// impulses. Must be called after `begin`.
///
/// For given disc radii v is the minimum of a convex function, φ(v) = ½ vᵀA v − bᵀv + Σ (energy of the rows' laws); a
/// Newton step that ends on other branches of the rows' laws than it was linearised for is shortened to the minimum of
/// φ along it. Without this line search the rows of a sliding soft body alternate between branches indefinitely and add
/// energy.
fn run_passes(system: &System<'_>, rows: &mut RowBuffer, v: &mut [Block], plan: Plan, s: &mut Space) -> Outcome {
    let mut outcome = Outcome::default();
    let enough = LAW_TOLERANCE * plan.tolerance;
    let (mut peeked, mut unlooked, mut unchecked) = (false, 0, plan.iterations / PATIENCE);
    (s.blend, s.blend_known) = (1.0, 0.0);
    s.start_radii(rows);
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
        // the step of a CG that was stopped early may be shortened to zero again and again
        unlooked = if part < STALL { std::mem::take(&mut unchecked) } else { 0 };
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
        s.blend_known = s.blend.min(RADIUS_BLEND);
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

/// Linearises at the far end of a step that the line search has shortened. Its linearisation had open rows that close
/// all at once: stopping where the first one closes gives the same linearisation again. (A tray that is set down on a
/// cloth moved by a hundredth of the step in each of twenty passes.) The next step is also shortened by φ, so that φ
/// does not increase.
fn peek(rows: &mut RowBuffer, s: &mut Space) {
    let mut far = std::mem::take(&mut s.z);
    for (far, (start, p)) in far.iter_mut().zip(s.start.iter().zip(&s.p)) {
        *far = [start[0] + p[0], start[1] + p[1], start[2] + p[2], 0.0];
    }
    (s.blend, s.blend_known) = (0.0, 0.0);
    linearise(rows, &far, s);
    s.z = far;
}

/// Relative difference between the impulses of the linear model at v and those of the law with the same radii.
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

/// Line search: shortens the step from `start` to v to the minimum of φ: φ'(t) = d·(A v − b) − Σ λ(u) J·d, d the step,
/// increases with t. Returns t.
fn cut(rows: &RowBuffer, v: &mut [Block], s: &mut Space) -> Real {
    for (p, (v, start)) in s.p.iter_mut().zip(v.iter().zip(&s.start)) {
        *p = [v[0] - start[0], v[1] - start[1], v[2] - start[2], 0.0];
    }
    // computed from the residuals at both ends, the terms of rows much stiffer than A would cancel to below rounding
    let bend = dot(&s.p, &s.moved);
    let slope = dot(&s.p, &s.applied) - dot(&s.p, &s.load);
    for id in s.near.iter().map(|&id| id as usize) {
        s.step[id] = relative_velocity(rows.terms(id as RowId), &s.p);
        s.from[id] = relative_velocity(rows.terms(id as RowId), &s.start) + rows.rows()[id].bias;
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

/// Zero in [0, 1] of an increasing function, by regula falsi with the retained end halved (Illinois; Dowell and Jarratt
/// 1971): 1 when it is negative there, 0 when it is positive from the start. Times of contact are determined to the
/// last digit (`collision/continuous/roots.rs`); for a line search a hundredth of the slope is accurate enough.
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
        // overflow: bisect
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

/// Writes the impulses of the law at v into the rows, and the linear model of the next pass. Returns the relative error
/// of the impulses of the last model.
///
/// A sliding pair: λ = −reach û has the derivative −(reach/|u|)(I − û ûᵀ): friction resists a change of direction and
/// is constant along û. A pair whose slip reversed since the last pass has passed through rest and gets the secant
/// (reach/|u|) I, which stops it there; it also has the law's value, so that every model gives a descent direction of
/// φ.
fn linearise(rows: &mut RowBuffer, v: &[Block], s: &mut Space) -> Real {
    let (mut wrong, mut all) = (0.0, 0.0);
    s.drifts(rows, v);
    for at in 0..s.near.len() {
        let id = s.near[at] as usize;
        let row = rows.rows()[id];
        let old = s.model(rows, id);
        if let Bounds::Disc { normal, friction, radius } = row.bounds {
            let wanted = (friction * rows.rows()[normal as usize].impulse + radius).max(0.0);
            let blend = if s.known[id] { s.blend_known } else { s.blend };
            s.reach[id] += blend * (wanted - s.reach[id]);
        }
        let new = s.law(rows, id);
        wrong += (new - old) * (new - old);
        all += new * new;
        rows.rows_mut()[id].impulse = new;
        match row.bounds {
            // no response: the impulse does not change, the model is that constant
            _ if row.diagonal == Real::INFINITY => s.offset[id] = new,
            Bounds::Disc { .. } => {}
            // both components of a pair are known only now
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

/// One sweep that prevents open rows from closing and closed rows from closing further; impulses are never negative.
/// Momentum is conserved because response = mass⁻¹ jacobian.
fn guard(rows: &mut RowBuffer, v: &mut [Block]) {
    for id in 0..rows.len() {
        let row = rows.rows()[id];
        if !matches!(row.bounds, Bounds::AtLeast(_)) || row.diagonal == Real::INFINITY {
            continue;
        }
        let approach = relative_velocity(rows.terms(id as RowId), v) + row.bias - row.correction;
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

    fn unknown(block: u32, mass: Real, velocity: Vec3) -> RigidUnknown {
        RigidUnknown { block, mass, inertia: None, free: [velocity, Vec3::ZERO] }
    }

    fn term(block: u32, jacobian: Vec3, inverse_mass: Real) -> Term {
        Term { block, jacobian, response: jacobian * inverse_mass }
    }

    fn solved(rigid_unknowns: &[RigidUnknown], rows: &mut RowBuffer, v: &mut [Block]) -> Outcome {
        let (settings, mut scratch) = (Settings::default(), Scratch::default());
        let system = System { operators: &[], rigid_unknowns };
        regularize(&system, rows, v.len(), &settings, &mut scratch);
        solve(&system, rows, v, &settings, &mut scratch)
    }

    #[test]
    fn an_inelastic_collision_conserves_momentum_and_ends_with_nearly_equal_speeds() {
        let mut rows = RowBuffer::default();
        rows.push(&[term(0, -Vec3::X, 1.0), term(1, Vec3::X, 0.5)], 0.0, 0.0, 0.0, Bounds::AtLeast(0.0));
        let mut v = [[1.0, 0.0, 0.0, 0.0], [0.0; 4]];
        solved(&[unknown(0, 1.0, Vec3::X), unknown(1, 2.0, Vec3::ZERO)], &mut rows, &mut v);
        assert!((v[0][0] + 2.0 * v[1][0] - 1.0).abs() < 1e-6);
        assert!((v[0][0] - v[1][0]).abs() < 2e-3, "{v:?}");
    }

    #[test]
    fn friction_is_bounded_by_its_disc_and_opposes_slip() {
        let mut rows = RowBuffer::default();
        let n = rows.push(&[term(0, Vec3::Y, 1.0)], 0.0, 0.0, 0.0, Bounds::AtLeast(0.0));
        rows.push(&[term(0, Vec3::X, 1.0)], 0.0, 0.0, 0.0, Bounds::Disc { normal: n, friction: 0.5, radius: 0.0 });
        rows.push(&[term(0, Vec3::Z, 1.0)], 0.0, 0.0, 0.0, Bounds::Mate);
        let mut v = [[3.0, -1.0, 4.0, 0.0]];
        solved(&[unknown(0, 1.0, Vec3::new(3.0, -1.0, 4.0))], &mut rows, &mut v);
        // friction 0.5 · 1 N·s against (3, 4): 0.3 and 0.4
        assert!((v[0][0] - 2.7).abs() < 2e-3 && (v[0][2] - 3.6).abs() < 2e-3, "{v:?}");
    }

    #[test]
    fn an_impulse_at_its_bound_is_constant() {
        let mut rows = RowBuffer::default();
        rows.push(&[term(0, Vec3::X, 1.0)], 0.0, 0.0, 0.0, Bounds::Between { low: -0.25, high: 0.25 });
        let mut v = [[1.0, 0.0, 0.0, 0.0]];
        solved(&[unknown(0, 1.0, Vec3::X)], &mut rows, &mut v);
        assert!((v[0][0] - 0.75).abs() < 1e-6 && rows.rows()[0].impulse == -0.25);
    }

    #[test]
    fn a_prescribed_block_keeps_its_velocity_and_a_row_without_response_its_impulse() {
        let mut rows = RowBuffer::default();
        rows.push(&[term(0, -Vec3::X, 0.0), term(1, Vec3::X, 1.0)], 0.0, 0.0, 0.0, Bounds::Free);
        let n = rows.push(&[term(0, Vec3::X, 0.0)], 5.0, 0.0, 0.0, Bounds::Free);
        rows.push(&[term(0, Vec3::Y, 0.0)], 0.0, 0.0, 0.0, Bounds::Disc { normal: n, friction: 1.0, radius: 0.0 });
        rows.push(&[term(0, Vec3::Z, 0.0)], 0.0, 0.0, 0.0, Bounds::Mate);
        let mut v = [[2.0, 0.0, 0.0, 0.0], [0.0; 4]];
        solved(&[unknown(1, 1.0, Vec3::ZERO)], &mut rows, &mut v);
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
