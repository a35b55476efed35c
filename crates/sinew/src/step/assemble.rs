//! Assemble: constraints and contacts become rows, with J, response, bias, bounds and warm-start impulses.

use crate::constraint::{RowBuffer, View};
use crate::contact::find::surfel;
use crate::contact::law_rows;
use crate::contact::route::BodyRoute;
use crate::island::{SubstepContext, momentum};
use crate::math::Real;
use crate::model::Model;
use crate::settings::Settings;
use crate::solver::pgs;
use crate::state::{ContactMemory, State, contact_flag};
use crate::step::cloth;
use crate::step::solve;
use crate::work::{RowSpan, Work};

/// Number of rows from which lanes are faster.
const LAY_OUT: usize = 32;

pub(crate) fn assemble(ctx: &SubstepContext, model: &Model, state: &State, work: &mut Work, settings: &Settings) {
    if ctx.substep == 0 {
        // contacts need the approach velocity before any impulse is applied
        cloth::copy_position_velocity(model, work);
    } else {
        store_impulses(model, work);
    }
    momentum::see(model, work);
    constraint_rows(ctx, model, state, work);
    surfel::rows(ctx, model, &settings.pairs, work);
    work.node_touches.renew();
    law_rows::rows(ctx, model, settings, work);
    pgs::warm_start(&work.rows, &mut work.velocity);
    pgs::warm_start(&work.node_rows, &mut work.velocity);
    work.contact_rows.warm_start(&mut work.velocity);
    pgs::warm_start(&work.law_rows, &mut work.velocity);
    // for few rows the layout in lanes costs more than it saves
    work.laid = work.node_rows.len() >= LAY_OUT && work.node_lanes.build(&work.node_rows, &work.velocity);
    solve::prepare_contacts(ctx, work, settings);
    if ctx.substep == 0 {
        let counts = &mut work.report.counts;
        counts.constraint_rows += (work.rows.len() + work.node_rows.len()) as u32;
    }
}

/// Stores the impulses of a substep: for the warm start of the next one, and in the readout.
pub(crate) fn store_impulses(model: &Model, work: &mut Work) {
    if work.laid {
        work.node_lanes.store_impulses(&mut work.node_rows);
    }
    let node_base = 2 * model.bodies.slot_count() as u32;
    let linear = |block: u32| block >= node_base || block.is_multiple_of(2);
    let Work { spans, node_rows, rows, warm, readout, .. } = work;
    for span in spans.iter() {
        let buffer = if span.nodes { &*node_rows } else { &*rows };
        for (at, row) in span.kept().zip(&buffer.rows()[span.start as usize..span.end as usize]) {
            warm[at] = row.impulse;
            readout.add_row(at, row.impulse);
        }
        let Some(constraint) = model.constraints.at(span.constraint).filter(|c| c.has_resultant()) else { continue };
        for id in span.start..span.end {
            let (push, twist) = constraint.carried(id - span.start, buffer.terms(id), linear);
            let impulse = buffer.rows()[id as usize].impulse;
            readout.add_constraint(span.constraint, [push * impulse, twist * impulse]);
        }
    }
    surfel::store_impulses(work);
    law_rows::store_impulses(work);
}

fn constraint_rows(ctx: &SubstepContext, model: &Model, state: &State, work: &mut Work) {
    let Work { rows, node_rows, spans, velocity, pose, inertia, body_routes, warm, soft, internal_state, .. } = work;
    rows.clear();
    node_rows.clear();
    spans.clear();
    let view = View { model, velocity, pose, inertia, soft, internal_state, h: ctx.h };
    for (slot, constraint) in model.constraints.iter() {
        let (mut swept, mut elsewhere) = (false, false);
        constraint.slots(|s| {
            swept |= body_routes[s as usize] == BodyRoute::Swept;
            elsewhere |= body_routes[s as usize].island().is_some();
        });
        if !swept || elsewhere || state.broken[slot as usize] != 0 {
            continue;
        }
        let nodes = constraint.has_nodes() && !constraint.is_wide();
        let out: &mut RowBuffer = if nodes { node_rows } else { rows };
        let start = out.len();
        constraint.rows(&view, ctx.joint, out);
        let kept = model.rows_of(slot);
        for (row, &impulse) in out.rows_mut()[start..].iter_mut().zip(&warm[kept.clone()]) {
            row.impulse = impulse;
        }
        let (first, count) = (kept.start as u32, kept.len() as u32);
        spans.push(RowSpan { constraint: slot, start: start as u32, end: out.len() as u32, nodes, first, count });
    }
}

/// Penetration of rigid pairs that is not corrected [m]; zero for soft surfaces.
pub(crate) fn slop(model: &Model, m: &ContactMemory, settings: &Settings) -> Real {
    if m.has(contact_flag::NODE) { 0.0 } else { settings.contact_slop * half_width(m, model) }
}

/// Half width of the smaller side [m].
fn half_width(m: &ContactMemory, model: &Model) -> Real {
    let of = |slot: u32| model.rigid_at(slot).map_or(0.0, |r| r.thickness);
    // unbounded shapes have none
    match (of(m.key.a), of(m.key.b)) {
        (a, b) if a > 0.0 && b > 0.0 => a.min(b),
        (a, b) => a.max(b),
    }
}
