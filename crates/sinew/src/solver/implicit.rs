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

use crate::constraint::{Bounds, Row, RowBuffer, RowId, Term};
use crate::deformable::{Modes, Operator};
use crate::math::{Block, Mat3, Real, Sym3, Vec3};

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

impl System<'_> {
    /// The operator that owns a block.
    fn owner(&self, block: u32) -> Option<usize> {
        self.operators.iter().position(|o| (o.first..o.first + o.operator.block_count() as u32).contains(&block))
    }
}

/// Counts and tolerances of an implicit solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Stiffness of a hard row on an implicit body, in units of the implicit mass it meets. Larger: less penetration in
    /// impact, more iterations, and a sliding soft body chatters.
    pub stiffness: Real,
    /// The same for a row between particles and rigid bodies, whose masses have no elasticity in them. It must exceed the
    /// number of bodies that lie on the row.
    pub rigid_stiffness: Real,
    /// Stiffness of friction's springs relative to the above.
    pub tangential: Real,
    /// Part of the way that the impulse a hard row starts from goes to its impulse, each substep. 0: a penalty, it sinks
    /// under load. Larger: sinking is gone sooner; unstable above the ratio of row stiffness to the mass on the row.
    pub carry: Real,
    /// CG stops when its residual has this size relative to the right-hand side.
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
        Self { stiffness: 5.0, rigid_stiffness: 1000.0, tangential: 1.0, carry: 0.2, tolerance: 1e-4, iterations: 200, passes: 20, audit_passes: 30, guard: 2 }
    }
}

impl Settings {
    /// The impulse that a hard row shall start from next substep, from the one it started from and the one it came to.
    /// This is what contact memory keeps: its fixed point is the impulse itself, and the gap there is zero.
    pub fn carried(&self, start: Real, impulse: Real) -> Real {
        start + self.carry * (impulse - start)
    }
}

/// A pass is right when the impulses of law and model differ by less than this times the CG's tolerance.
const LAW_TOLERANCE: Real = 10.0;
/// The audit's passes: rigid modes only, no operator is applied, so that iterations are cheap.
const AUDIT: Plan = Plan { tolerance: 1e-5, iterations: 1000, passes: 30 };
/// Iterations between two looks at the rows within a pass, and the mismatch at which the pass is given up. A pass that is
/// finished for rows that are wrong is work for nothing; restarting at every look would lose what CG has learned.
const CHECK: u32 = 8;
const WRONG: Real = 0.1;
/// Part of the way that disc radii go to μ λ(normal) from pass to pass. With 1 radii and normal impulses of a sliding soft
/// body chase each other (E = 1e6 Pa, 17 ms: never settles); 0.3 is the largest value tried that always settled.
const RADIUS_BLEND: Real = 0.3;
/// Halvings of a step that is cut.
const CUT_STEPS: u32 = 10;

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
    coarse_lumps: Vec<Lump>,
    coarse_terms: Vec<Term>,
    coarse_v: Vec<Block>,
    /// Where each block lies in the coarse space. (block_count)
    seats: Vec<Seat>,
}

/// Block of the coarse space, and for a node of an operator its arm from the centre [m].
#[derive(Clone, Copy, Debug)]
struct Seat {
    block: Option<u32>,
    arm: Option<Vec3>,
}

/// What a block is to the CG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Prescribed,
    Single,
    Linear,
    Angular,
}

/// Vectors of one CG. Entries per block unless said otherwise.
#[derive(Clone, Debug, Default)]
struct Space {
    kind: Vec<Kind>,
    /// Diagonal blocks of A without rows [kg].
    base: Vec<Mat3>,
    /// Preconditioner: inverse of base + rows; of a rigid body's angular block, of its Schur complement.
    inverse: Vec<Mat3>,
    /// Linear-angular 3x3 of a rigid body, at its linear block.
    coupling: Vec<Mat3>,
    /// b [N·s].
    load: Vec<Block>,
    r: Vec<Block>,
    z: Vec<Block>,
    p: Vec<Block>,
    q: Vec<Block>,
    /// Part of the way that radii go to the new normal impulse.
    blend: Real,
    /// v at the start of a pass.
    start: Vec<Block>,
    /// The linear model of each row: λ = offset − rate·u − cross·u(mate), u = J·v + bias. (row_count)
    rate: Vec<Real>,
    cross: Vec<Real>,
    offset: Vec<Real>,
    /// Radius of a disc in this pass, at its first row [N·s]. (row_count)
    reach: Vec<Real>,
    /// u, or J·p, then rate·J·p. (row_count)
    push: Vec<Real>,
    /// u at the start of a pass and its change. (row_count)
    from: Vec<Real>,
    step: Vec<Real>,
}

#[derive(Clone, Copy)]
struct Plan {
    tolerance: Real,
    iterations: u32,
    passes: u32,
}

/// Loads the bodies and gives every hard row (softness 0) a softness; must come before [`solve`] with the same rows.
///
/// softness = Σ jᵀ A_bb⁻¹ j / stiffness, A_bb the implicit mass (elasticity included) of each block the row meets. The
/// row's impulse on entry is last step's: it goes into the bias, never into v. Disc rows hold a spring from their stick
/// point instead and carry nothing.
pub fn stiffen(system: &System<'_>, rows: &mut RowBuffer, block_count: usize, settings: &Settings, scratch: &mut Scratch) {
    let s = &mut scratch.fine;
    s.reset(system, block_count, rows.len());
    for id in 0..rows.len() {
        if rows.rows()[id].softness != 0.0 {
            continue;
        }
        let terms = rows.terms(id as RowId);
        let give: Real = terms
            .iter()
            .filter(|t| s.kind[t.block as usize] != Kind::Prescribed)
            .map(|t| t.jacobian.dot(s.base[t.block as usize].inverse() * t.jacobian))
            .sum();
        let answer: Real = terms.iter().map(|t| t.jacobian.dot(t.response)).sum();
        let soft = terms.iter().any(|t| system.owner(t.block).is_some());
        let row = &mut rows.rows_mut()[id];
        if !(give > 0.0 && answer > 0.0) {
            continue;
        }
        let tangential = matches!(row.bounds, Bounds::Disc { .. } | Bounds::Mate);
        let stiffness = if soft { settings.stiffness } else { settings.rigid_stiffness };
        row.softness = give / (stiffness * if tangential { settings.tangential } else { 1.0 });
        row.diagonal = answer + row.softness;
        if !tangential {
            let carried = row.softness * row.impulse;
            row.bias -= carried;
            row.correction -= carried;
        }
    }
}

/// Solves the island: v from a first guess (last step's velocities) to the end of the substep, impulses into the rows.
pub fn solve(
    system: &System<'_>,
    rows: &mut RowBuffer,
    v: &mut [Block],
    settings: &Settings,
    scratch: &mut Scratch,
) -> Outcome {
    let plan = Plan { tolerance: settings.tolerance, iterations: settings.iterations, passes: settings.passes };
    let mut outcome = run_passes(system, rows, v, plan, &mut scratch.fine);
    if settings.audit_passes > 0 {
        outcome.audit_iterations = balance(system, rows, v, settings.audit_passes, scratch);
    }
    settle(system, rows, v);

    for _ in 0..settings.guard {
        guard(rows, v);
    }
    outcome
}

/// Solve with the rows as they seem, look at them again, until they are as they seemed. Ends with the law's impulses.
///
/// For given disc radii v is the minimum of a convex function, φ(v) = ½ vᵀA v − bᵀv + Σ (energy of the rows' laws); a
/// Newton step that lands among other rows than it was made for is cut where φ is least along it. Without the cut the
/// rows of a sliding soft body flip for ever and feed it energy.
fn run_passes(system: &System<'_>, rows: &mut RowBuffer, v: &mut [Block], plan: Plan, s: &mut Space) -> Outcome {
    let mut outcome = Outcome::default();
    let enough = LAW_TOLERANCE * plan.tolerance;
    s.blend = 1.0;
    linearise(rows, v, s);
    loop {
        s.precondition(system, rows);
        s.start.copy_from_slice(v);
        let left = Plan { iterations: plan.iterations - outcome.iterations, ..plan };
        let (iterations, residual) = conjugate_gradient(system, rows, v, left, s);
        outcome.passes += 1;
        outcome.iterations += iterations;
        outcome.residual = residual;
        if mismatch(rows, v, s) > enough {
            cut(system, rows, v, s);
        }
        s.blend = RADIUS_BLEND;
        outcome.mismatch = linearise(rows, v, s);
        let done = outcome.mismatch <= enough && residual <= plan.tolerance;
        if done || outcome.passes >= plan.passes || outcome.iterations >= plan.iterations {
            return outcome;
        }
    }
}

/// How far the model's impulses at v are from the law's with the same radii, relative.
fn mismatch(rows: &RowBuffer, v: &[Block], s: &mut Space) -> Real {
    let (mut wrong, mut all) = (0.0, 0.0);
    s.drifts(rows, v);
    for id in 0..rows.len() {
        let (law, model) = (s.law(rows, id), s.model(rows, id));
        wrong += (law - model) * (law - model);
        all += law * law;
    }
    if all > 0.0 { (wrong / all).sqrt() } else { 0.0 }
}

/// Cuts the step from `start` to v where φ is least: φ'(t) = d·(A v − b) − Σ λ(u) J·d, d the step, rises with t.
fn cut(system: &System<'_>, rows: &RowBuffer, v: &mut [Block], s: &mut Space) {
    for (p, (v, start)) in s.p.iter_mut().zip(v.iter().zip(&s.start)) {
        *p = [v[0] - start[0], v[1] - start[1], v[2] - start[2], 0.0];
    }
    apply_bodies(system, &s.p, &mut s.q);
    let bend = dot(&s.p, &s.q);
    apply_bodies(system, &s.start, &mut s.q);
    let slope = dot(&s.p, &s.q) - dot(&s.p, &s.load);
    for id in 0..rows.len() {
        s.step[id] = drift(rows.terms(id as RowId), &s.p);
        s.from[id] = drift(rows.terms(id as RowId), &s.start) + rows.rows()[id].bias;
    }
    let mut climb = |t: Real| {
        for ((u, from), step) in s.push.iter_mut().zip(&s.from).zip(&s.step) {
            *u = from + t * step;
        }
        let rows_part: Real = (0..rows.len()).map(|id| s.law(rows, id) * s.step[id]).sum();
        slope + t * bend - rows_part
    };
    // bisection with a fixed count: same work, same bits
    let (mut low, mut high) = (0.0, 1.0);
    if climb(1.0) <= 0.0 {
        return;
    }
    for _ in 0..CUT_STEPS {
        let t = 0.5 * (low + high);
        if climb(t) > 0.0 { high = t } else { low = t }
    }
    let t = 0.5 * (low + high);
    for (v, (start, p)) in v.iter_mut().zip(s.start.iter().zip(&s.p)) {
        *v = [start[0] + t * p[0], start[1] + t * p[1], start[2] + t * p[2], v[3]];
    }
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
    for id in 0..rows.len() {
        let row = rows.rows()[id];
        let old = s.model(rows, id);
        if let Bounds::Disc { normal, friction, radius } = row.bounds {
            let wanted = (friction * rows.rows()[normal as usize].impulse + radius).max(0.0);
            let blend = s.blend;
            s.reach[id] += blend * (wanted - s.reach[id]);
        }
        let new = s.law(rows, id);
        wrong += (new - old) * (new - old);
        all += new * new;
        rows.rows_mut()[id].impulse = new;
        match row.bounds {
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

/// An impulse within the row's bounds, and whether it was inside them. A row that nobody answers keeps its impulse.
fn bounded(row: &Row, wanted: Real) -> (Real, bool) {
    let (low, high) = match row.bounds {
        _ if row.diagonal == Real::INFINITY => (row.impulse, row.impulse),
        Bounds::AtLeast(low) => (low, Real::INFINITY),
        Bounds::Between { low, high } => (low, high),
        Bounds::Free | Bounds::Disc { .. } | Bounds::Mate => (Real::NEG_INFINITY, Real::INFINITY),
    };
    (wanted.max(low).min(high), wanted > low && wanted < high)
}

/// (A + Jᵀ rate J) v = b + Jᵀ(offset − rate bias) from the v given; the rows hold the model's impulses at that v.
/// Returns iterations and relative residual. (Hestenes and Stiefel 1952; all sums in a fixed order.)
fn conjugate_gradient(
    system: &System<'_>,
    rows: &RowBuffer,
    v: &mut [Block],
    plan: Plan,
    s: &mut Space,
) -> (u32, Real) {
    // size of the right-hand side in the preconditioner's norm
    s.r.copy_from_slice(&s.load);
    for (push, row) in s.push.iter_mut().zip(rows.rows()) {
        *push = row.bias;
    }
    s.respond(rows);
    for id in 0..rows.len() {
        scatter(rows.terms(id as RowId), s.offset[id] - s.push[id], &mut s.r);
    }
    s.apply_inverse(system);
    let reference = dot(&s.r, &s.z).max(Real::MIN_POSITIVE);

    // r = b + Jᵀλ − A v, with λ the model's impulse
    apply_bodies(system, v, &mut s.q);
    for (r, (l, q)) in s.r.iter_mut().zip(s.load.iter().zip(&s.q)) {
        *r = [l[0] - q[0], l[1] - q[1], l[2] - q[2], 0.0];
    }
    for id in 0..rows.len() {
        s.push[id] = drift(rows.terms(id as RowId), v) + rows.rows()[id].bias;
    }
    s.respond(rows);
    for id in 0..rows.len() {
        scatter(rows.terms(id as RowId), s.offset[id] - s.push[id], &mut s.r);
    }
    s.apply_inverse(system);
    s.p.copy_from_slice(&s.z);

    let mut rz = dot(&s.r, &s.z);
    let goal = plan.tolerance * plan.tolerance * reference;
    let mut iterations = 0;
    while rz > goal && iterations < plan.iterations {
        // q = (A + Jᵀ rate J) p
        apply_bodies(system, &s.p, &mut s.q);
        for id in 0..rows.len() {
            s.push[id] = drift(rows.terms(id as RowId), &s.p);
        }
        s.respond(rows);
        for id in 0..rows.len() {
            scatter(rows.terms(id as RowId), s.push[id], &mut s.q);
        }

        // nothing left that the numbers can resolve, or not a number: keep what we have
        let pq = dot(&s.p, &s.q);
        if !(pq > 0.0 && pq.is_finite()) {
            break;
        }
        let alpha = rz / pq;
        add_scaled(v, &s.p, alpha);
        add_scaled(&mut s.r, &s.q, -alpha);
        s.apply_inverse(system);
        let next = dot(&s.r, &s.z);
        let beta = next / rz;
        rz = next;
        for (p, z) in s.p.iter_mut().zip(&s.z) {
            *p = [z[0] + beta * p[0], z[1] + beta * p[1], z[2] + beta * p[2], 0.0];
        }
        iterations += 1;

        // rows that turn out other than they seemed: start a new pass, do not finish this one
        if iterations % CHECK == 0 && mismatch(rows, v, s) > WRONG {
            break;
        }
    }
    (iterations, (rz / reference).sqrt())
}

/// The audit: moves every body along its rigid modes until momentum holds by the rows' law. It is the island over
/// again with each body rigid, solved by the same passes from rest, the load being the momentum that the bodies lack.
/// Its last pass keeps the model's impulses: they balance exactly, where the law's would leave a kick. They may therefore
/// be outside their bounds by what the passes have left. Returns the iterations.
fn balance(system: &System<'_>, rows: &mut RowBuffer, v: &mut [Block], passes: u32, scratch: &mut Scratch) -> u32 {
    let Scratch { fine, coarse, coarse_rows, coarse_lumps, coarse_terms, coarse_v, seats } = scratch;
    let count = take_seats(system, v.len(), seats, coarse_lumps);

    // the rows as rigid bodies see them, from where v is
    coarse_rows.clear();
    fine.drifts(rows, v);
    for (id, row) in rows.rows().iter().enumerate() {
        coarse_terms.clear();
        for t in rows.terms(id as RowId) {
            let Some(block) = seats[t.block as usize].block else { continue };
            meet(coarse_terms, block, t.jacobian);
            if let Some(arm) = seats[t.block as usize].arm {
                meet(coarse_terms, block + 1, arm.cross(t.jacobian));
            }
        }
        coarse_rows.push(coarse_terms, fine.push[id], 0.0, row.softness, row.bounds);
        let coarse_row = &mut coarse_rows.rows_mut()[id];
        (coarse_row.impulse, coarse_row.diagonal) = (row.impulse, row.diagonal);
    }

    // the load: what external forces have given less what is there
    let island = System { operators: &[], lumps: coarse_lumps };
    coarse.reset(&island, count, rows.len());
    for placed in system.operators {
        let Some(modes) = placed.operator.modes() else { continue };
        let at = seats[placed.first as usize].block.expect("seated above") as usize;
        let (momentum, spin) = lack(placed, &modes, v);
        (coarse.load[at], coarse.load[at + 1]) = (block(momentum), block(spin));
    }
    for lump in system.lumps {
        let b = lump.block as usize;
        let at = seats[b].block.expect("seated above") as usize;
        coarse.load[at] = block((lump.free[0] - vec(v[b])) * lump.mass);
        if let Some(inertia) = lump.inertia {
            coarse.load[at + 1] = block(inertia.mul(lump.free[1] - vec(v[b + 1])));
        }
    }

    // passes by the law, one more by the model
    coarse_v.clear();
    coarse_v.resize(count, [0.0; 4]);
    let mut iterations = run_passes(&island, coarse_rows, coarse_v, Plan { passes, ..AUDIT }, coarse).iterations;
    coarse.precondition(&island, coarse_rows);
    iterations += conjugate_gradient(&island, coarse_rows, coarse_v, AUDIT, coarse).0;
    coarse.drifts(coarse_rows, coarse_v);
    for (id, row) in rows.rows_mut().iter_mut().enumerate() {
        row.impulse = coarse.model(coarse_rows, id);
    }
    for (v, seat) in v.iter_mut().zip(seats.iter()) {
        let Some(block) = seat.block else { continue };
        let turn = seat.arm.map_or(Vec3::ZERO, |arm| vec(coarse_v[block as usize + 1]).cross(arm));
        add(v, vec(coarse_v[block as usize]) + turn);
    }
    iterations
}

/// Gives every free body its blocks in the coarse space; returns their number.
fn take_seats(system: &System<'_>, blocks: usize, seats: &mut Vec<Seat>, lumps: &mut Vec<Lump>) -> usize {
    seats.clear();
    seats.resize(blocks, Seat { block: None, arm: None });
    lumps.clear();
    let mut next = 0;
    for placed in system.operators {
        let Some(modes) = placed.operator.modes() else { continue };
        for (k, &arm) in modes.arms.iter().enumerate() {
            seats[placed.first as usize + k] = Seat { block: Some(next), arm: Some(arm) };
        }
        lumps.push(Lump { block: next, mass: modes.mass, inertia: Some(modes.inertia), free: [Vec3::ZERO; 2] });
        next += 2;
    }
    for lump in system.lumps {
        lumps.push(Lump { block: next, free: [Vec3::ZERO; 2], ..*lump });
        let span = if lump.inertia.is_some() { 2 } else { 1 };
        for k in 0..span {
            seats[(lump.block + k) as usize].block = Some(next + k);
        }
        next += span;
    }
    next as usize
}

/// Adds a Jacobian to a list of terms, one a block. A rigid body's angular term follows its linear one.
fn meet(terms: &mut Vec<Term>, block: u32, jacobian: Vec3) {
    match terms.iter_mut().find(|t| t.block == block) {
        Some(term) => term.jacobian += jacobian,
        None => terms.push(Term { block, jacobian, response: Vec3::ZERO }),
    }
}

/// Momentum and spin that an operator's blocks lack, rows left out [N·s], [N·m·s].
///
/// M stands here, not A: the corotational K makes a torque when it turns a strained body, and the residual of A would
/// keep it.
fn lack(placed: &Placed<'_>, modes: &Modes<'_>, v: &[Block]) -> (Vec3, Vec3) {
    let (mut momentum, mut spin) = (modes.momentum, modes.spin);
    let blocks = &v[placed.first as usize..];
    for ((b, &mass), arm) in blocks.iter().zip(placed.operator.mass()).zip(modes.arms) {
        let push = vec(*b) * mass;
        momentum -= push;
        spin -= arm.cross(push);
    }
    (momentum, spin)
}

/// End of the audit: velocities exactly from the impulses that the rows hold. After `balance` this moves by rounding.
fn settle(system: &System<'_>, rows: &RowBuffer, v: &mut [Block]) {
    for lump in system.lumps {
        let span = if lump.inertia.is_some() { 2 } else { 1 };
        for k in 0..span {
            v[lump.block as usize + k] = block(lump.free[k]);
        }
    }
    for id in 0..rows.len() {
        let impulse = rows.rows()[id].impulse;
        for t in rows.terms(id as RowId) {
            if system.owner(t.block).is_none() {
                add(&mut v[t.block as usize], t.response * impulse);
            }
        }
    }
    for placed in system.operators {
        let Some(modes) = placed.operator.modes() else { continue };
        let Some(inverse) = modes.inertia.inverse() else { continue };
        let first = placed.first as usize;
        let span = first..first + placed.operator.block_count();
        let (mut momentum, mut spin) = lack(placed, &modes, v);
        for id in 0..rows.len() {
            for t in rows.terms(id as RowId).iter().filter(|t| span.contains(&(t.block as usize))) {
                let push = t.jacobian * rows.rows()[id].impulse;
                momentum += push;
                spin += modes.arms[t.block as usize - first].cross(push);
            }
        }
        let (shift, turn) = (momentum / modes.mass, inverse.mul(spin));
        for (b, arm) in v[span].iter_mut().zip(modes.arms) {
            add(b, shift + turn.cross(*arm));
        }
    }
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

impl Space {
    /// Sizes all lists and reads the bodies: kinds, diagonal, load.
    fn reset(&mut self, system: &System<'_>, blocks: usize, rows: usize) {
        self.kind.clear();
        self.kind.resize(blocks, Kind::Prescribed);
        for list in [&mut self.base, &mut self.inverse, &mut self.coupling] {
            list.clear();
            list.resize(blocks, Mat3::ZERO);
        }
        for list in [&mut self.load, &mut self.r, &mut self.z, &mut self.p, &mut self.q, &mut self.start] {
            list.clear();
            list.resize(blocks, [0.0; 4]);
        }
        let Self { rate, cross, offset, reach, push, from, step, .. } = self;
        for list in [rate, cross, offset, reach, push, from, step] {
            list.clear();
            list.resize(rows, 0.0);
        }
        for placed in system.operators {
            let span = placed.first as usize..placed.first as usize + placed.operator.block_count();
            placed.operator.diagonal(&mut self.base[span.clone()]);
            self.load[span.clone()].copy_from_slice(placed.operator.load());
            for (kind, mass) in self.kind[span].iter_mut().zip(placed.operator.mass()) {
                *kind = if mass.is_finite() { Kind::Single } else { Kind::Prescribed };
            }
        }
        for lump in system.lumps {
            let b = lump.block as usize;
            self.kind[b] = Kind::Single;
            self.base[b] = Mat3::from_diagonal(Vec3::splat(lump.mass));
            self.load[b] = block(lump.free[0] * lump.mass);
            if let Some(inertia) = lump.inertia {
                self.kind[b] = Kind::Linear;
                self.kind[b + 1] = Kind::Angular;
                self.base[b + 1] = inertia.to_mat();
                self.load[b + 1] = block(inertia.mul(lump.free[1]));
            }
        }
    }

    /// push ← u = J·v + bias of every row.
    fn drifts(&mut self, rows: &RowBuffer, v: &[Block]) {
        for (id, row) in rows.rows().iter().enumerate() {
            self.push[id] = drift(rows.terms(id as RowId), v) + row.bias;
        }
    }

    /// The law's impulse at the u in `push`, with this pass's radius.
    fn law(&self, rows: &RowBuffer, id: usize) -> Real {
        let row = &rows.rows()[id];
        let first = match row.bounds {
            Bounds::Disc { .. } => id,
            Bounds::Mate => id - 1,
            _ => return bounded(row, -self.push[id] / row.softness).0,
        };
        let length = self.push[first].hypot(self.push[first + 1]);
        let scale = if length <= self.reach[first] * row.softness { 1.0 / row.softness } else { self.reach[first] / length };
        -scale * self.push[id]
    }

    /// The model's impulse at the u in `push`.
    fn model(&self, rows: &RowBuffer, id: usize) -> Real {
        let own = self.offset[id] - self.rate[id] * self.push[id];
        match rows.rows()[id].bounds {
            Bounds::Disc { .. } => own - self.cross[id] * self.push[id + 1],
            Bounds::Mate => own - self.cross[id - 1] * self.push[id - 1],
            _ => own,
        }
    }

    /// The model of a disc pair at the u in `push`.
    fn linearise_pair(&mut self, id: usize, stiff: Real) {
        let (u, w, reach) = (self.push[id], self.push[id + 1], self.reach[id]);
        let length = u.hypot(w);
        let turned = self.offset[id] * u + self.offset[id + 1] * w > 0.0;
        let (rate, offset) = if length * stiff <= reach {
            ([stiff, stiff, 0.0], [0.0; 2])
        } else if turned {
            ([reach / length, reach / length, 0.0], [0.0; 2])
        } else {
            let (a, b, side) = (u / length, w / length, reach / length);
            ([side * b * b, side * a * a, -side * a * b], [-reach * a, -reach * b])
        };
        (self.rate[id], self.rate[id + 1], self.cross[id]) = (rate[0], rate[1], rate[2]);
        (self.offset[id], self.offset[id + 1]) = (offset[0], offset[1]);
    }

    /// push ← rate · push for single rows, the 2x2 of the model for pairs.
    fn respond(&mut self, rows: &RowBuffer) {
        for (id, row) in rows.rows().iter().enumerate() {
            match row.bounds {
                Bounds::Disc { .. } => {
                    let (u, w, cross) = (self.push[id], self.push[id + 1], self.cross[id]);
                    self.push[id] = self.rate[id] * u + cross * w;
                    self.push[id + 1] = self.rate[id + 1] * w + cross * u;
                }
                Bounds::Mate => {}
                _ => self.push[id] *= self.rate[id],
            }
        }
    }

    /// Block Jacobi of A + Jᵀ rate J: 3x3 for a node, 6x6 by its Schur complement for a rigid body.
    fn precondition(&mut self, system: &System<'_>, rows: &RowBuffer) {
        self.inverse.copy_from_slice(&self.base);
        self.coupling.fill(Mat3::ZERO);
        for id in 0..rows.len() {
            let terms = rows.terms(id as RowId);
            self.add_outer(terms, terms, self.rate[id]);
            if self.cross[id] != 0.0 {
                let mate = rows.terms(id as RowId + 1);
                self.add_outer(terms, mate, self.cross[id]);
                self.add_outer(mate, terms, self.cross[id]);
            }
        }
        for (inverse, kind) in self.inverse.iter_mut().zip(&self.kind) {
            match kind {
                Kind::Prescribed => *inverse = Mat3::ZERO,
                Kind::Single | Kind::Linear => *inverse = inverse.inverse(),
                Kind::Angular => {}
            }
        }
        for lump in system.lumps.iter().filter(|l| l.inertia.is_some()) {
            let b = lump.block as usize;
            let c = self.coupling[b];
            let angular = self.inverse[b + 1];
            let schur = angular - c.transpose() * self.inverse[b] * c;
            // rounding can make the complement singular; then the two blocks go uncoupled
            if let Some(inverse) = Sym3::from_mat(&schur).inverse() {
                self.inverse[b + 1] = inverse.to_mat();
            } else {
                self.coupling[b] = Mat3::ZERO;
                self.inverse[b + 1] = angular.inverse();
            }
        }
    }

    /// rate · j kᵀ on the diagonal blocks; `terms` and `mate` list the same blocks in the same order.
    fn add_outer(&mut self, terms: &[Term], mate: &[Term], rate: Real) {
        if rate == 0.0 {
            return;
        }
        for (k, (t, m)) in terms.iter().zip(mate).enumerate() {
            let b = t.block as usize;
            self.inverse[b] += outer(t.jacobian, m.jacobian) * rate;
            if self.kind[b] == Kind::Linear && mate.get(k + 1).is_some_and(|next| next.block == t.block + 1) {
                self.coupling[b] += outer(t.jacobian, mate[k + 1].jacobian) * rate;
            }
        }
    }

    /// z = P⁻¹ r.
    fn apply_inverse(&mut self, system: &System<'_>) {
        for ((z, r), inverse) in self.z.iter_mut().zip(&self.r).zip(&self.inverse) {
            *z = block(*inverse * vec(*r));
        }
        for lump in system.lumps.iter().filter(|l| l.inertia.is_some()) {
            let b = lump.block as usize;
            let c = self.coupling[b];
            let turn = self.inverse[b + 1] * (vec(self.r[b + 1]) - c.transpose() * vec(self.z[b]));
            self.z[b] = block(self.inverse[b] * (vec(self.r[b]) - c * turn));
            self.z[b + 1] = block(turn);
        }
    }
}

/// out = A v over all bodies, without rows.
fn apply_bodies(system: &System<'_>, v: &[Block], out: &mut [Block]) {
    for placed in system.operators {
        let span = placed.first as usize..placed.first as usize + placed.operator.block_count();
        placed.operator.apply(&v[span.clone()], &mut out[span]);
    }
    for lump in system.lumps {
        let b = lump.block as usize;
        out[b] = block(vec(v[b]) * lump.mass);
        if let Some(inertia) = lump.inertia {
            out[b + 1] = block(inertia.mul(vec(v[b + 1])));
        }
    }
}

/// J·v of one row.
fn drift(terms: &[Term], v: &[Block]) -> Real {
    terms.iter().map(|t| t.jacobian.dot(vec(v[t.block as usize]))).sum()
}

/// out += Jᵀ impulse of one row.
fn scatter(terms: &[Term], impulse: Real, out: &mut [Block]) {
    for t in terms {
        add(&mut out[t.block as usize], t.jacobian * impulse);
    }
}

fn dot(a: &[Block], b: &[Block]) -> Real {
    a.iter().zip(b).map(|(a, b)| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).sum()
}

fn add_scaled(a: &mut [Block], b: &[Block], scale: Real) {
    for (a, b) in a.iter_mut().zip(b) {
        add(a, vec(*b) * scale);
    }
}

fn add(b: &mut Block, v: Vec3) {
    b[0] += v.x;
    b[1] += v.y;
    b[2] += v.z;
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn vec(b: Block) -> Vec3 {
    Vec3::new(b[0], b[1], b[2])
}

fn block(v: Vec3) -> Block {
    [v.x, v.y, v.z, 0.0]
}
