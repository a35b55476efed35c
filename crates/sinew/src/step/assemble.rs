//! Assemble: constraints and contacts become rows, with J, response, bias, bounds and warm-start impulses.

use crate::constraint::{RowBuffer, View};
use crate::contact::find::surfel;
use crate::contact::route::BodyRoute;
use crate::island::{joints, momentum};

use crate::model::Model;
use crate::solver::pgs;
use crate::state::State;
use crate::step::solve;
use crate::work::{BodyWork, ContactWork, IslandWork, OutputWork, RowSpan, Setup, SoftWork, SubstepContext};

/// Number of rows from which lanes are faster.
const LAY_OUT: usize = 32;

#[expect(clippy::too_many_arguments, reason = "rows of all routes are written here: each group by its name")]
pub(crate) fn assemble(
    ctx: &SubstepContext,
    setup: &Setup,
    state: &State,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    soft: &SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, pool } = *setup;
    if ctx.substep > 0 {
        store_impulses(model, contact, island, output);
    }
    momentum::see(model, bodies, island);
    constraint_rows(ctx, model, state, bodies, island, soft);
    surfel::rows(ctx, model, &settings.pairs, bodies, contact, soft, output);
    contact.node_touches.renew();
    pgs::warm_start(&island.rows, &mut bodies.velocity);
    pgs::warm_start(&island.node_rows, &mut bodies.velocity);
    contact.contact_rows.warm_start(&mut bodies.velocity);
    // for few rows the layout in lanes costs more than it saves
    island.laid = island.node_rows.len() >= LAY_OUT && island.node_lanes.build(&island.node_rows, &bodies.velocity);
    solve::prepare_contacts(ctx, pool, bodies, contact, settings);
    if ctx.substep == 0 {
        let counts = &mut output.report.counts;
        counts.constraint_rows += (island.rows.len() + island.node_rows.len()) as u32;
    }
}

/// Stores the impulses of a substep: for the warm start of the next one, and in the readout.
pub(crate) fn store_impulses(
    model: &Model,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    output: &mut OutputWork,
) {
    if island.laid {
        island.node_lanes.store_impulses(&mut island.node_rows);
    }
    let node_base = 2 * model.bodies.slot_count() as u32;
    let linear = |block: u32| block >= node_base || block.is_multiple_of(2);
    let IslandWork { spans, node_rows, rows, warm, .. } = island;
    let readout = &mut output.readout;
    for span in spans.iter() {
        let buffer = if span.nodes { &*node_rows } else { &*rows };
        for (at, row) in span.kept().zip(&buffer.rows()[span.start as usize..span.end as usize]) {
            warm[at] = row.impulse;
            readout.add_row(at, row.impulse);
        }
        let Some(constraint) = model.constraints.at(span.constraint).filter(|c| c.traits().resultant) else { continue };
        for id in span.start..span.end {
            let (push, twist) = constraint.carried(id - span.start, buffer.terms(id), linear);
            let impulse = buffer.rows()[id as usize].impulse;
            readout.add_constraint(span.constraint, [push * impulse, twist * impulse]);
        }
    }
    surfel::store_impulses(contact, output);
}

fn constraint_rows(
    ctx: &SubstepContext,
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    island: &mut IslandWork,
    soft: &SoftWork,
) {
    let IslandWork { rows, node_rows, spans, warm, direct, .. } = island;
    let body_routes = &bodies.body_routes;
    rows.clear();
    node_rows.clear();
    spans.clear();
    let view = View { elapsed: ctx.elapsed(), ..bodies.view(model, soft, ctx.h) };
    for (slot, constraint) in model.constraints.iter() {
        let (mut swept, mut elsewhere) = (false, false);
        constraint.slots(|s| {
            swept |= body_routes[s as usize] == BodyRoute::Swept;
            elsewhere |= body_routes[s as usize].island().is_some();
        });
        if !swept || elsewhere || state.broken[slot as usize] != 0 {
            continue;
        }
        let traits = constraint.traits();
        let nodes = traits.nodes && !traits.wide;
        let out: &mut RowBuffer = if nodes { node_rows } else { rows };
        let start = out.len();
        let together = direct.find(slot);
        constraint.rows(&view, if together.is_some() { ctx.direct_joint } else { ctx.joint }, out);
        if let Some(link) = together {
            let turn = joints::turn(&view, constraint);
            direct.take(link, out, start as u32..out.len() as u32, turn);
        }
        let kept = model.rows_of(slot);
        for (row, &impulse) in out.rows_mut()[start..].iter_mut().zip(&warm[kept.clone()]) {
            row.impulse = impulse;
        }
        let (first, count) = (kept.start as u32, kept.len() as u32);
        spans.push(RowSpan { constraint: slot, start: start as u32, end: out.len() as u32, nodes, first, count });
    }
    direct.factorise(rows);
    direct.limit_energy(rows, &bodies.velocity);
}
