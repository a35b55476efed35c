//! Energy limiter: no step leaves a soft body with more energy than it had plus the work done on it.
//!
//! One Newton step of backward Euler, or one explicit step, is accurate while shapes change little in it. Laws that
//! stiffen with strain store far more energy at the end of a large change than their tangent at its start predicts:
//! blocks whose nodes moved apart by a hundred times their size in a step had 5·10⁴ times their energy after it,
//! without any report.
//!
//! *Explicit* bodies take substeps in which no edge changes by more than `CHANGE` of its rest length, or are integrated
//! implicitly (`island/soft_body.rs`, `choose_integrators`); bodies with goal positions are integrated implicitly when
//! their nodes move apart too fast. Material may become stiffer within the step than it was at its start: a block of
//! springs that was crushed had 80 times its energy after 57 substeps. So the kinetic energy is monitored,
//!
//! ```text
//!   E = K + U(x) at the start of a step,
//!   E += Σ max(0, m (v − v₋)·v) over nodes, the work of others since the last kick,
//!   E += v⁺·h f for external forces, and after each kick  K⁺ ≤ SWING E + energy of vibration by rounding
//! ```
//!
//! all of it relative to the centre of mass. A body that violates this in its first kick is integrated implicitly.
//! Symplectic Euler oscillates by a factor 1/(1 − (h ω/2)²) about the energy it conserves, 2.8 at the fraction of the
//! stable step that is used. If the kinetic energy alone is larger, it is reduced to E minus the strain energy.
//!
//! *Implicit* bodies are checked where an edge changes by more than that. Solved to convergence, and without damping,
//! backward Euler satisfies
//!
//! ```text
//!   U(x + h v⁺) + K(v⁺)  ≤  U(x) + K(v) + v⁺·(h f + Jᵀλ)          for external impulses h f + Jᵀλ
//! ```
//!
//! A step that violates this is reduced: the motion relative to the centre of mass c is halved until it holds. It
//! always does in the end, since a body at rest relative to its centre has U(x) and ½ M c⁺² ≤ ½ M c² + P·c⁺ with the
//! total external impulse P = M (c⁺ − c). Linear momentum is conserved. Angular momentum is not; nor is the consistency
//! of row impulses and velocities, until the next step.

use crate::constraint::{RowBuffer, RowId};
use crate::deformable::{BodyRef, Coordinates};
use crate::guard::motion_sums::{Energy, Fastest, Gift, Momentum, Motion};
use crate::math::{Block, Real, Vec3, add, put, run_wide, vec};
use crate::model::{Model, Nodes};
use crate::tuning::energy_limiter::{CHANGE, HALVINGS, ROUNDING, SWING, TREMBLE};
use crate::work::{BodyWork, EnergyBudget, ImplicitIsland, IslandWork, OutputWork, SoftBodyWork, SoftWork};
use std::ops::Range;

/// Largest change of length of an edge of a body's surface within h [s], relative to its rest length; 0 when none can
/// change by `least`. Lengths, not vectors: rotation is no strain.
pub(crate) fn change(h: Real, nodes: &Nodes, x: &[Block], v: &[Block], least: Real) -> Real {
    let Some(&first) = v.first() else { return 0.0 };
    // no node is faster relative to a neighbour than twice the fastest relative to the first node
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

/// Reduces the motion of an island's implicit bodies that would exceed their energy budget. Runs between the solve and
/// `keep`: `velocity` is that before the substep.
pub(crate) fn keep_within(
    h: Real,
    model: &Model,
    bodies: &BodyWork,
    work: &mut IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
    island: &ImplicitIsland,
) {
    for &slot in &island.nodes {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        // the kinetic energy is that of lumped point nodes
        let implicit = soft.models[slot as usize].as_ref().is_some_and(|held| held.model.operator().is_some());
        if !implicit || nodes.coordinates != Coordinates::Nodes {
            continue;
        }
        let first = model.node_block(nodes.start) as usize;
        let blocks = first..first + nodes.inv_mass.len();
        let local = work.implicit.first_of[slot as usize] as usize;
        let seats = local..local + nodes.inv_mass.len();
        if change(h, nodes, &bodies.pose[blocks.clone()], &work.implicit.v[seats.clone()], CHANGE) > CHANGE {
            let found = kinetic(nodes, &work.implicit.v[seats.clone()], Vec3::ZERO);
            let shortened = cut(h, nodes, slot, bodies, work, soft, [blocks, seats.clone()]);
            if shortened {
                output.ledger.limited(slot, kinetic(nodes, &work.implicit.v[seats], Vec3::ZERO) - found);
            }
            output.report.counts.cut_short += u32::from(shortened);
        }
    }
}

/// True for a body of point nodes that is integrated explicitly with its forces: goal positions have no energy.
fn is_kicked(held: &SoftBodyWork, nodes: &Nodes) -> bool {
    held.stable_step.is_finite() && held.model.operator().is_none() && nodes.coordinates == Coordinates::Nodes
}

/// True for an explicit body that would exceed its energy budget by a single kick within h [s]: its estimate of the
/// stable step is wrong. That of a meshless block whose nodes were thrown through each other was forty times too long.
pub(crate) fn kick_unstable(
    h: Real,
    nodes: &Nodes,
    held: &SoftBodyWork,
    body: BodyRef<'_>,
    kick: &mut Vec<Vec3>,
) -> bool {
    if !is_kicked(held, nodes) || held.model.traits().step_follows_shape {
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

/// Kinetic energy that is always allowed [J].
fn tremble(h: Real, nodes: &Nodes) -> Real {
    let speed = TREMBLE * nodes.shortest / h;
    0.5 * nodes.total_mass * speed * speed
}

/// Updates the energy budget of an explicit body before its own forces act: at the start of a substep, and of its
/// position update when that ends with a kick.
pub(crate) fn count(first: bool, model: &Model, slot: u32, bodies: &BodyWork, soft: &mut SoftWork) {
    let SoftWork { models: soft, kicked, .. } = soft;
    let velocity = &bodies.velocity;
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
    // node by node: a compressed body gets from one side the energy that the other takes. An impulse does work on the
    // displacement after it, and negative work is not counted: a kick into a wall is taken back by the wall, and no
    // energy was lost
    let before = std::mem::replace(&mut held.energy_budget.centre, centre);
    let [given, ..] = run_wide(Motion { nodes, v, what: Gift { last, centre, before } });
    held.energy_budget.motion += given;
    last.copy_from_slice(v);
}

/// Reduces the motion of an explicit body after its own forces acted, if it exceeds the budget.
pub(crate) fn keep_kick(
    h: Real,
    model: &Model,
    slot: u32,
    bodies: &mut BodyWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let SoftWork { models: soft, kicked, .. } = soft;
    let BodyWork { pose, velocity, internal_state, node_total, .. } = bodies;
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
    // the first test needs no pass over the nodes
    if !(now > SWING * held.energy_budget.motion.max(0.0))
        || !(now > allowed(held.energy_budget.motion))
        || is_driven(nodes, v)
    {
        return;
    }
    // strain energy is evaluated only when the kinetic energy alone does not decide: most steps do without
    let stored = held.model.energy(BodyRef { x, v, internal_state: &internal_state[nodes.internal_state_span()] });
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
    output.ledger.limited(slot, now * (share * share - 1.0));
    output.report.counts.cut_short += 1;
}

/// The half kicks of Verlet at the end of a position update are by the body's own forces as well: `position_velocity`
/// includes them, `before_advance` does not.
pub(crate) fn see_kick(span: Range<usize>, bodies: &BodyWork, soft: &mut SoftWork) {
    let SoftWork { kicked, before_advance, .. } = soft;
    let position_velocity = &bodies.position_velocity;
    let Some(kicked) = kicked.get_mut(span.clone()) else { return };
    for ((last, after), before) in kicked.iter_mut().zip(&position_velocity[span]).zip(before_advance.iter()) {
        add(last, vec(*after) - vec(*before));
    }
}

/// True when pinned nodes are moved.
fn is_driven(nodes: &Nodes, v: &[Block]) -> bool {
    nodes.inv_mass.iter().zip(v).any(|(m, v)| *m == 0.0 && vec(*v) != Vec3::ZERO)
}

/// Velocity of the centre of mass; zero for a body with pinned nodes [m/s].
fn centre_of(nodes: &Nodes, v: &[Block]) -> Vec3 {
    if nodes.pinned {
        return Vec3::ZERO;
    }
    let momentum = Vec3::from_array(run_wide(Motion { nodes, v, what: Momentum }));
    momentum / nodes.total_mass
}

/// Energy of a body and work done on it in a substep, as functions of the fraction of its relative motion that it
/// keeps.
struct Account {
    /// Energy before the substep [J].
    had: Real,
    /// Kinetic energy of the centre of mass and of the motion relative to it [J].
    kinetic: [Real; 2],
    /// Work of external impulses on both [J].
    work: [Real; 2],
}

impl Account {
    /// Allowed strain energy at this fraction [J].
    fn left(&self, share: Real) -> Real {
        let given = self.had + self.work[0] + share * self.work[1];
        given - self.kinetic[0] - share * share * self.kinetic[1]
    }
}

/// Reduces the motion of one body, if necessary; true if it was.
fn cut(
    h: Real,
    nodes: &Nodes,
    slot: u32,
    bodies: &BodyWork,
    island: &mut IslandWork,
    soft: &mut SoftWork,
    [blocks, seats]: [Range<usize>; 2],
) -> bool {
    let implicit = &mut island.implicit;
    let SoftWork { models: soft, heading, .. } = soft;
    let BodyWork { pose, velocity, node_total, internal_state, .. } = bodies;
    let Some(held) = soft[slot as usize].as_ref() else { return false };
    let (x, before, after) = (&pose[blocks.clone()], &velocity[blocks], &mut implicit.v[seats.clone()]);
    if is_driven(nodes, after) {
        // moved pinned nodes do an unlimited amount of work
        return false;
    }
    let centre = centre_of(nodes, after);
    let energy = |x: &[Block]| {
        held.model.energy(BodyRef { x, v: before, internal_state: &internal_state[nodes.internal_state_span()] })
    };
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
        return false;
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
    true
}

/// Kinetic energy of the free nodes relative to a velocity [J].
fn kinetic(nodes: &Nodes, v: &[Block], against: Vec3) -> Real {
    run_wide(Motion { nodes, v, what: Energy { against } })[0]
}

/// Work of rows on a body's centre of mass and on the motion relative to it [J].
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
