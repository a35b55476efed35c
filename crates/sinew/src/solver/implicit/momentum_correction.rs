//! The momentum correction ("audit"): the island solved again with every body rigid, then velocities exactly from
//! impulses.

use super::cg::{Plan, conjugate_gradient};
use super::space::{Space, apply_bodies, block};
use super::{LAW_TOLERANCE, MOMENTUM_CORRECTION, RigidUnknown, Scratch, System, cut, linearise, mismatch};
use crate::constraint::{Bounds, RowBuffer, RowId, Term};
use crate::math::{Block, Real, Vec3, add, vec};
use crate::tuning::momentum_correction::{ROUNDING, SAME};

/// Block of the coarse space, and for a node of an operator its lever arm from the centre of mass [m].
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) block: Option<u32>,
    pub(super) arm: Option<Vec3>,
}

/// Moves every body along its rigid modes until the momentum balance holds with the rows' law. It is the island solved
/// again with each body rigid, by the same passes from rest; the load is the momentum defect of the bodies. Its last
/// pass keeps the model's impulses: they balance exactly, where the law's would leave a velocity error. They may
/// therefore be outside their bounds by the residual mismatch of the passes. Returns the iterations.
pub(super) fn balance(
    system: &System<'_>,
    rows: &mut RowBuffer,
    v: &mut [Block],
    passes: u32,
    scratch: &mut Scratch,
) -> u32 {
    let count = take_seats(system, v.len(), &mut scratch.seats, &mut scratch.coarse_lumps);

    project_rows(rows, v, scratch);
    let Scratch { coarse, coarse_rows, coarse_of, coarse_lumps, coarse_v, seats, .. } = scratch;
    let island = System { operators: &[], rigid_unknowns: coarse_lumps };
    coarse.reset(&island, count, coarse_rows.len());
    load_defects(system, v, seats, coarse);

    // passes with the law, one more with the model
    coarse_v.clear();
    coarse_v.resize(count, [0.0; 4]);
    coarse.begin(&island, coarse_v);
    let iterations = pass(&island, coarse_rows, coarse_v, Plan { passes, ..MOMENTUM_CORRECTION }, coarse);
    for (k, &id) in coarse_of.iter().enumerate() {
        rows.rows_mut()[id as usize].impulse = coarse.model(coarse_rows, k);
    }
    for (v, seat) in v.iter_mut().zip(seats.iter()) {
        let Some(block) = seat.block else { continue };
        let turn = seat.arm.map_or(Vec3::ZERO, |arm| vec(coarse_v[block as usize + 1]).cross(arm));
        add(v, vec(coarse_v[block as usize]) + turn);
    }
    iterations
}

/// The rows on the rigid modes, linearised at v.
fn project_rows(rows: &RowBuffer, v: &[Block], scratch: &mut Scratch) {
    let Scratch { fine, coarse_rows, coarse_of, coarse_terms, seats, .. } = scratch;
    coarse_rows.clear();
    coarse_of.clear();
    fine.drifts(rows, v);
    for &id in &fine.near {
        let row = &rows.rows()[id as usize];
        coarse_terms.clear();
        let mut size = 0.0;
        for t in rows.terms(id) {
            let Some(block) = seats[t.block as usize].block else { continue };
            meet(coarse_terms, block, t.jacobian);
            size += t.jacobian.length_squared();
            if let Some(arm) = seats[t.block as usize].arm {
                let lever = arm.cross(t.jacobian);
                meet(coarse_terms, block + 1, lever);
                size += lever.length_squared();
            }
        }
        let mut bounds = row.bounds;
        // internal forces of a body do not act on its rigid modes, and friction follows its normal row
        let inner = match &mut bounds {
            Bounds::Disc { normal, .. } => coarse_of.binary_search(normal).map(|k| *normal = k as RowId).is_err(),
            Bounds::Mate => coarse_of.last() != Some(&(id - 1)),
            _ => is_internal(coarse_terms, size),
        };
        if inner {
            continue;
        }
        coarse_rows.push(coarse_terms, fine.push[id as usize], 0.0, row.softness, bounds);
        coarse_of.push(id);
        let coarse_row = coarse_rows.rows_mut().last_mut().expect("just pushed");
        (coarse_row.impulse, coarse_row.diagonal) = (row.impulse, row.diagonal);
    }
}

/// The load: impulse of the external forces minus the present change of momentum.
fn load_defects(system: &System<'_>, v: &[Block], seats: &[Seat], coarse: &mut Space) {
    for placed in system.operators {
        let Some(modes) = placed.operator.modes() else { continue };
        let at = seats[placed.first as usize].block.expect("seated above") as usize;
        let (momentum, spin) = placed.operator.momentum_defect(&modes, &v[placed.blocks()]);
        (coarse.load[at], coarse.load[at + 1]) = (block(momentum), block(spin));
    }
    for unknown in system.rigid_unknowns {
        let b = unknown.block as usize;
        let at = seats[b].block.expect("seated above") as usize;
        coarse.load[at] = block((unknown.free[0] - vec(v[b])) * unknown.mass);
        if let Some(inertia) = unknown.inertia {
            coarse.load[at + 1] = block(inertia.mul(unknown.free[1] - vec(v[b + 1])));
        }
    }
}

/// Passes until the law agrees with the model of the last one; ends with the u of the rows in `push`, for that model.
/// Returns the iterations.
fn pass(island: &System<'_>, rows: &mut RowBuffer, v: &mut [Block], plan: Plan, s: &mut Space) -> u32 {
    s.blend = 1.0;
    linearise(rows, v, s);
    apply_bodies(island, v, &mut s.applied);
    s.blend = 0.0;
    let (mut iterations, mut last) = (0, false);
    for number in 1.. {
        s.precondition(island, rows);
        s.begin_pass(v);
        iterations += conjugate_gradient(island, rows, v, plan, s).0;
        let wrong = mismatch(rows, v, s);
        if last || wrong <= SAME {
            break;
        }
        // one more from where the law is nearly satisfied, so that impulses leave their bounds by less than that
        last = wrong <= LAW_TOLERANCE * plan.tolerance || number >= plan.passes || iterations >= plan.iterations;
        let part = if last { 1.0 } else { cut(rows, v, s) };
        s.end_pass(part);
        linearise(rows, v, s);
    }
    iterations
}

/// Assigns blocks of the coarse space to every free body; returns their number.
fn take_seats(
    system: &System<'_>,
    blocks: usize,
    seats: &mut Vec<Seat>,
    rigid_unknowns: &mut Vec<RigidUnknown>,
) -> usize {
    seats.clear();
    seats.resize(blocks, Seat { block: None, arm: None });
    rigid_unknowns.clear();
    let mut next = 0;
    for placed in system.operators {
        let Some(modes) = placed.operator.modes() else { continue };
        for (k, at) in placed.blocks().enumerate() {
            // an angular velocity rotates with the body like the angular block of a rigid one
            let arm = modes.arms.get(k).copied();
            seats[at] = Seat { block: Some(if arm.is_some() { next } else { next + 1 }), arm };
        }
        rigid_unknowns.push(RigidUnknown {
            block: next,
            mass: modes.mass,
            inertia: Some(modes.inertia),
            free: [Vec3::ZERO; 2],
        });
        next += 2;
    }
    for unknown in system.rigid_unknowns {
        rigid_unknowns.push(RigidUnknown { block: next, free: [Vec3::ZERO; 2], ..*unknown });
        let span = if unknown.inertia.is_some() { 2 } else { 1 };
        for k in 0..span {
            seats[(unknown.block + k) as usize].block = Some(next + k);
        }
        next += span;
    }
    next as usize
}

/// Adds a Jacobian to a list of terms, one per block. A rigid body's angular term follows its linear one.
fn meet(terms: &mut Vec<Term>, block: u32, jacobian: Vec3) {
    match terms.iter_mut().find(|t| t.block == block) {
        Some(term) => term.jacobian += jacobian,
        None => terms.push(Term { block, jacobian, response: Vec3::ZERO }),
    }
}

/// True for a row whose Jacobians cancel to rounding on every rigid body.
fn is_internal(terms: &[Term], size: Real) -> bool {
    let left: Real = terms.iter().map(|t| t.jacobian.length_squared()).sum();
    left <= ROUNDING * ROUNDING * size
}

/// End of the correction: velocities exactly from the impulses of the rows. After `balance` the change is rounding
/// error.
pub(super) fn settle(system: &System<'_>, rows: &RowBuffer, v: &mut [Block], scratch: &mut Scratch) {
    let Scratch { fine, lacks, .. } = scratch;
    let owner = &fine.owner;
    for unknown in system.rigid_unknowns {
        let span = if unknown.inertia.is_some() { 2 } else { 1 };
        for k in 0..span {
            v[unknown.block as usize + k] = block(unknown.free[k]);
        }
    }
    lacks.clear();
    lacks.extend(system.operators.iter().map(|placed| {
        let free = placed.operator.modes().filter(|m| m.inertia.inverse().is_some());
        free.map(|modes| placed.operator.momentum_defect(&modes, &v[placed.blocks()]))
    }));
    for (id, row) in rows.rows().iter().enumerate().filter(|(_, row)| row.impulse != 0.0) {
        for t in rows.terms(id as RowId) {
            let Some(placed) = system.operators.get(owner[t.block as usize] as usize) else {
                add(&mut v[t.block as usize], t.response * row.impulse);
                continue;
            };
            let (Some((momentum, spin)), Some(modes)) =
                (&mut lacks[owner[t.block as usize] as usize], placed.operator.modes())
            else {
                continue;
            };
            let (push, twist) = modes.to_wrench((t.block - placed.first) as usize, t.jacobian * row.impulse);
            *momentum += push;
            *spin += twist;
        }
    }
    for (placed, momentum_defect) in system.operators.iter().zip(&*lacks) {
        let (Some((momentum, spin)), Some(modes)) = (momentum_defect, placed.operator.modes()) else { continue };
        let Some(inverse) = modes.inertia.inverse() else { continue };
        let (shift, turn) = (*momentum / modes.mass, inverse.mul(*spin));
        for (k, b) in v[placed.blocks()].iter_mut().enumerate() {
            add(b, modes.part(k, shift, turn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms of a row in the coarse space: two nodes of one body, blocks 0 and 1, or a node and the world.
    fn met(ends: &[(Vec3, Vec3)]) -> (Vec<Term>, Real) {
        let (mut terms, mut size) = (Vec::new(), 0.0);
        for &(arm, jacobian) in ends {
            meet(&mut terms, 0, jacobian);
            meet(&mut terms, 1, arm.cross(jacobian));
            size += jacobian.length_squared() + arm.cross(jacobian).length_squared();
        }
        (terms, size)
    }

    #[test]
    fn an_internal_row_has_no_effect_on_rigid_modes_unlike_an_anchor_or_a_couple() {
        let (a, b) = (Vec3::new(0.3, -0.2, 0.9), Vec3::new(-0.1, 0.4, 0.5));
        let axis = (b - a).normalize();
        let (strand, size) = met(&[(a, -axis), (b, axis)]);
        assert!(is_internal(&strand, size));
        let (anchor, size) = met(&[(a, axis)]);
        assert!(!is_internal(&anchor, size));
        // equal and opposite, but not along the line between them: a torque on the body
        let (couple, size) = met(&[(a, -Vec3::X), (b, Vec3::X)]);
        assert!(!is_internal(&couple, size));
    }
}
