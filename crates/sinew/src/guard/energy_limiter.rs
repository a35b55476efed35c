//! Means: no step leaves a soft body with more energy than it had and was given.
//!
//! One Newton step of backward Euler, or one explicit step, is right while shapes change little in it. Laws that stiffen with
//! strain hold far more at the end of a large change than their slope at its start foretold: blocks whose nodes flew
//! apart by a hundred times their size in a step had 5·10⁴ times their energy after it, and nobody was told.
//!
//! *Explicit* bodies take substeps in which no edge changes by more than `CHANGE` of its rest length, or go implicit
//! (`soft::choose_integrators`); bodies of goals go implicit when they are flung apart. Matter may become stiffer within the
//! step than it was at its start: a block of springs that was crushed had 80 times its energy after 57 substeps. So what
//! they have in motion is counted,
//!
//! ```text
//!   E = K + U(x) at the start of a step,   E += Σ max(0, m (v − v₋)·v) over nodes, for what others gave since the last kick,
//!   E += v⁺·h f for external forces, and after each kick  K⁺ ≤ SWING E + what trembling does
//! ```
//!
//! all of it against the centre of mass. Who breaks this with the first kick already goes implicit.
//! Symplectic Euler swings by 1/(1 − (h ω/2)²) about the energy it keeps, 2.8 at the share of the stable step that is used.
//! Who has more in motion alone is cut to what strain leaves of E.
//!
//! *Implicit* ones are looked at where an edge changes by more. Solved to the end, and without damping, backward Euler has
//!
//! ```text
//!   U(x + h v⁺) + K(v⁺)  ≤  U(x) + K(v) + v⁺·(h f + Jᵀλ)          for pushes h f + Jᵀλ from outside
//! ```
//!
//! A step that breaks this is cut: the motion against the centre of mass c is halved until it holds. It always does in the
//! end, for a body at rest against its centre has U(x) and ½ M c⁺² ≤ ½ M c² + P·c⁺ with the whole push P = M (c⁺ − c).
//! Momentum is kept. Spin is not; nor is the tie between impulses of rows and velocities, until the next step.

use crate::constraint::{RowBuffer, RowId};
use crate::deformable::BodyRef;
use crate::guard::motion_sums::{Energy, Fastest, Gift, Momentum, Motion};
use crate::math::{Block, Real, Vec3, add, put, run_wide, vec};
use crate::model::{Model, Nodes};
use crate::work::{EnergyBudget, ImplicitIsland, SoftWork, Work};
use std::ops::Range;

/// Part of its rest length by which an edge may change in a substep before the energy is looked at.
pub(crate) const CHANGE: Real = 0.5;
/// The same for bodies that follow goals, which hold at any change and only lose the way: then they are solved as a whole.
pub(crate) const FLUNG: Real = 5.0;
/// How often its energy an explicit body may have in motion.
const SWING: Real = 4.0;
/// Way within a substep, in shortest edges, below which nobody is cut: bodies at rest tremble by their last digits.
const TREMBLE: Real = 1e-3;
/// Part of the energy that sums in single precision may be off by.
const ROUNDING: Real = 1e-3;
/// Most halvings: what moves a thousand times the size of a body is then within rounding.
const HALVINGS: u32 = 30;

/// The most by which an edge of a body's surface becomes longer or shorter within h [s], by its rest length; 0 when none
/// can change by `least`. Lengths, not vectors: what spins is not strained by it.
pub(crate) fn change(h: Real, nodes: &Nodes, x: &[Block], v: &[Block], least: Real) -> Real {
    let Some(&first) = v.first() else { return 0.0 };
    // nobody is faster against a neighbour than twice the fastest against the first
    let fastest = run_wide(Fastest { v, against: vec(first) });
    if 2.0 * h * fastest.sqrt() <= least * nodes.shortest {
        return 0.0;
    }
    let edge = |&[a, b]: &[u32; 2]| {
        let now = nodes.surface.position(b, x) - nodes.surface.position(a, x);
        let then = now + (nodes.surface.velocity(b, x, v) - nodes.surface.velocity(a, x, v)) * h;
        let rest = (nodes.rest[b as usize] - nodes.rest[a as usize]).length();
        (then.length() - now.length()).abs() / rest.max(Real::MIN_POSITIVE)
    };
    nodes.cells.edges.iter().map(edge).fold(0.0, Real::max)
}

/// Cuts the steps of an island's implicit bodies that would leave them with more than their means. Comes between the solve
/// and `keep`: `velocity` is that of before the substep.
pub(crate) fn keep_within(h: Real, model: &Model, work: &mut Work, island: &ImplicitIsland) {
    for &slot in &island.nodes {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        // energy of particles that turn hangs on turns that come later in the substep
        let implicit = work.soft[slot as usize].as_ref().is_some_and(|held| held.model.operator().is_some());
        if !implicit || !nodes.radii.is_empty() {
            continue;
        }
        let first = model.node_block(nodes.start) as usize;
        let blocks = first..first + nodes.inv_mass.len();
        let local = work.implicit.first_of[slot as usize] as usize;
        let seats = local..local + nodes.inv_mass.len();
        if change(h, nodes, &work.pose[blocks.clone()], &work.implicit.v[seats.clone()], CHANGE) > CHANGE {
            cut(h, nodes, slot, work, [blocks, seats]);
        }
    }
}

/// True for a body that is moved on by its forces: those of goals have no energy, and turns come later in the substep.
fn is_kicked(held: &SoftWork, nodes: &Nodes) -> bool {
    held.stable_step.is_finite() && held.model.operator().is_none() && nodes.radii.is_empty()
}

/// True for an explicit body that a single kick within h [s] would give more than it may have: the step that it holds to be
/// stable is not. That of a meshless block whose nodes were flung through each other was forty times too long.
pub(crate) fn kick_unstable(h: Real, nodes: &Nodes, held: &SoftWork, body: BodyRef<'_>, kick: &mut Vec<Vec3>) -> bool {
    if !is_kicked(held, nodes) || held.model.sees_strain() {
        return false;
    }
    kick.clear();
    kick.resize(nodes.inv_mass.len(), Vec3::ZERO);
    if !held.model.forces(body, kick) {
        return false;
    }
    let (centre, mut after) = (centre_of(nodes, body.v), 0.0);
    for ((force, v), (m, inv)) in kick.iter().zip(body.v).zip(nodes.mass.iter().zip(&nodes.inv_mass)) {
        after += 0.5 * m * (vec(*v) - centre + *force * (*inv * h)).length_squared();
    }
    after > SWING * (kinetic(nodes, body.v, centre) + held.model.energy(body)) + tremble(h, nodes)
}

/// Energy of motion that does no harm [J].
fn tremble(h: Real, nodes: &Nodes) -> Real {
    let speed = TREMBLE * nodes.shortest / h;
    0.5 * nodes.total_mass * speed * speed
}

/// Counts what an explicit body may have before its own forces move it on: at the start of a substep, and of its way when
/// there is a kick at the end of that.
pub(crate) fn count(first: bool, model: &Model, slot: u32, work: &mut Work) {
    let Work { soft, velocity, kicked, .. } = work;
    let (Some(nodes), Some(held)) = (model.nodes_at(slot), soft[slot as usize].as_mut()) else { return };
    if !is_kicked(held, nodes) {
        return;
    }
    kicked.resize(velocity.len(), [0.0; 4]);
    let start = model.node_block(nodes.start) as usize;
    let span = start..start + nodes.inv_mass.len();
    let (v, last) = (&velocity[span.clone()], &mut kicked[span]);
    let centre = centre_of(nodes, v);
    if first {
        held.energy_budget = EnergyBudget { motion: kinetic(nodes, v, centre), strain: None, centre };
        return;
    }
    // node by node: what is pressed gets from one side what the other takes. A push works on the way that comes after it,
    // and what it takes is not counted: a kick into a wall is taken back by it, and nothing was lost
    let before = std::mem::replace(&mut held.energy_budget.centre, centre);
    let [given, ..] = run_wide(Motion { nodes, v, what: Gift { last, centre, before } });
    held.energy_budget.motion += given;
    last.copy_from_slice(v);
}

/// Cuts the motion that an explicit body's own forces gave it, if it is more than it may have.
pub(crate) fn keep_kick(h: Real, model: &Model, slot: u32, work: &mut Work) {
    let Work { soft, pose, velocity, inner, node_total, kicked, report, .. } = work;
    let (Some(nodes), Some(held)) = (model.nodes_at(slot), soft[slot as usize].as_mut()) else { return };
    if !is_kicked(held, nodes) {
        return;
    }
    let start = model.node_block(nodes.start) as usize;
    let span = start..start + nodes.inv_mass.len();
    let (x, v, last) = (&pose[span.clone()], &mut velocity[span.clone()], &mut kicked[span]);
    let centre = centre_of(nodes, v);
    let given = node_total[nodes.span()].iter().zip(&*v).map(|(force, v)| h * force.dot(vec(*v) - centre));
    let (given, now) = (given.sum::<Real>(), kinetic(nodes, v, centre));
    held.energy_budget.motion += given;
    held.energy_budget.centre = centre;
    last.copy_from_slice(v);
    let allowed = |energy: Real| SWING * energy.max(0.0) + tremble(h, nodes);
    // the first is told without a look at the nodes
    if !(now > SWING * held.energy_budget.motion.max(0.0))
        || !(now > allowed(held.energy_budget.motion))
        || is_driven(nodes, v)
    {
        return;
    }
    // strain is asked for when motion alone does not tell: most steps do without
    let stored = held.model.energy(BodyRef { x, v, inner: &inner[nodes.inner_span()] });
    let most = held.energy_budget.motion.max(0.0) + *held.energy_budget.strain.get_or_insert(stored);
    if !(now > allowed(most)) {
        return;
    }
    let share = ((most - stored) / now).clamp(0.0, 1.0).sqrt();
    for (v, _) in v.iter_mut().zip(&nodes.inv_mass).filter(|(_, m)| **m > 0.0) {
        let kept = centre + (vec(*v) - centre) * share;
        put(v, kept);
    }
    last.copy_from_slice(v);
    report.counts.cut_short += 1;
}

/// Half kicks of Verlet at the end of a way are a body's own as well: `position_velocity` has them, `before_advance` has not.
pub(crate) fn see_kick(span: Range<usize>, work: &mut Work) {
    let Work { kicked, position_velocity, before_advance, .. } = work;
    let Some(kicked) = kicked.get_mut(span.clone()) else { return };
    for ((last, after), before) in kicked.iter_mut().zip(&position_velocity[span]).zip(before_advance.iter()) {
        add(last, vec(*after) - vec(*before));
    }
}

/// True when somebody moves pinned nodes.
fn is_driven(nodes: &Nodes, v: &[Block]) -> bool {
    nodes.inv_mass.iter().zip(v).any(|(m, v)| *m == 0.0 && vec(*v) != Vec3::ZERO)
}

/// Velocity of the centre of mass; nothing when it is held somewhere [m/s].
fn centre_of(nodes: &Nodes, v: &[Block]) -> Vec3 {
    if nodes.pinned {
        return Vec3::ZERO;
    }
    let momentum = Vec3::from_array(run_wide(Motion { nodes, v, what: Momentum }));
    momentum / nodes.total_mass
}

/// What a body has and is given in a substep, as functions of the share of its inner motion that it keeps.
struct Account {
    /// Before the substep [J].
    had: Real,
    /// Of the centre and of the motion against it [J].
    kinetic: [Real; 2],
    /// What pushes from outside do on both [J].
    work: [Real; 2],
}

impl Account {
    /// What it may store at a share [J].
    fn left(&self, share: Real) -> Real {
        let given = self.had + self.work[0] + share * self.work[1];
        given - self.kinetic[0] - share * share * self.kinetic[1]
    }
}

/// Cuts the motion of one body, if it must be.
fn cut(h: Real, nodes: &Nodes, slot: u32, work: &mut Work, [blocks, seats]: [Range<usize>; 2]) {
    let Work { implicit, soft, pose, velocity, node_total, inner, heading, report, .. } = work;
    let Some(held) = soft[slot as usize].as_ref() else { return };
    let (x, before, after) = (&pose[blocks.clone()], &velocity[blocks], &mut implicit.v[seats.clone()]);
    if is_driven(nodes, after) {
        // who moves pinned nodes gives what it likes
        return;
    }
    let centre = centre_of(nodes, after);
    let energy = |x: &[Block]| held.model.energy(BodyRef { x, v: before, inner: &inner[nodes.inner_span()] });
    let mut account = Account {
        had: energy(x) + kinetic(nodes, before, Vec3::ZERO),
        kinetic: [
            if nodes.pinned { 0.0 } else { 0.5 * nodes.total_mass * centre.length_squared() },
            kinetic(nodes, after, centre),
        ],
        work: row_work(&implicit.rows, &seats, after, centre),
    };
    for (force, v) in node_total[nodes.span()].iter().zip(after.iter()) {
        account.work[0] += h * force.dot(centre);
        account.work[1] += h * force.dot(vec(*v) - centre);
    }
    let mut stored = |share: Real| {
        heading.clear();
        heading.extend(x.iter().zip(after.iter()).map(|(x, v)| {
            let there = vec(*x) + (vec(*v) - centre) * (h * share);
            [there.x, there.y, there.z, x[3]]
        }));
        energy(heading)
    };
    let mut holds = |share: Real| stored(share) <= account.left(share) + ROUNDING * account.had;
    if holds(1.0) {
        return;
    }
    let mut share = 0.5;
    let found = (0..HALVINGS).any(|_| {
        let enough = holds(share);
        share *= if enough { 1.0 } else { 0.5 };
        enough
    });
    let share = if found { share } else { 0.0 };
    for v in after.iter_mut() {
        let kept = centre + (vec(*v) - centre) * share;
        put(v, kept);
    }
    report.counts.cut_short += 1;
}

/// Energy of motion against a velocity, of nodes that are free [J].
fn kinetic(nodes: &Nodes, v: &[Block], against: Vec3) -> Real {
    run_wide(Motion { nodes, v, what: Energy { against } })[0]
}

/// What rows do on a body's centre and on its motion against that [J].
fn row_work(rows: &RowBuffer, seats: &Range<usize>, v: &[Block], centre: Vec3) -> [Real; 2] {
    let mut work = [0.0; 2];
    for (id, row) in rows.rows().iter().enumerate().filter(|(_, row)| row.impulse != 0.0) {
        for t in rows.terms(id as RowId).iter().filter(|t| seats.contains(&(t.block as usize))) {
            let push = t.jacobian * row.impulse;
            work[0] += push.dot(centre);
            work[1] += push.dot(vec(v[t.block as usize - seats.start]) - centre);
        }
    }
    work
}
