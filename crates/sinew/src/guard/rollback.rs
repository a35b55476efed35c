//! Gate 2: a body with invalid numbers after the step is rolled back, stopped and frozen.
//!
//! All bodies of its island are rolled back to the start of the step as well, and remain active: the diverging body
//! acted on its complete island through joints and contacts. (A chain whose links were metres apart rotated until three
//! of four were too fast; the fourth was below the limit, and left with 1.5 km/s and four times the total energy.)

use crate::math::{FAR, Quat, Real, Vec3, rigid_pose, vec};
use crate::model::{Body, Model, Motion};
use crate::report::{Fault, FaultKind, Phase};
use crate::solver::pool::Pool;
use crate::state::{State, flag};
use crate::work::{BodyWork, ContactWork, IslandWork, OutputWork, Setup};

/// Freezes bodies with invalid numbers, and marks in `work.rolled_back` the bodies whose result is discarded. Runs
/// before anything is stored.
pub(crate) fn look(
    setup: &Setup,
    state: &mut State,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, pool } = *setup;
    look_at_nodes(model, pool, bodies, settings.max_speed);
    let before = output.report.faults.len();
    for (slot, body) in model.bodies.iter() {
        let i = slot as usize;
        let moved = match body {
            Body::Rigid(rigid) => bodies.active[i] || rigid.motion == Motion::Kinematic && !state.is_frozen(i),
            Body::Nodes(_) => bodies.active[i],
        };
        if !moved {
            continue;
        }
        if let Some((what, field)) = insane(model, slot, bodies, settings.max_speed) {
            output.report.faults.push(Fault { body: model.body_id(slot), phase: Phase::Advance, what, field });
            bodies.rolled_back[i] = true;
            hold(model, state, bodies, slot);
        }
    }
    if output.report.faults.len() > before {
        share(model, bodies, output);
        forget(model, bodies, contact, island);
    }
}

/// Marks active bodies with an invalid node, on all threads.
fn look_at_nodes(model: &Model, pool: &Pool, bodies: &mut BodyWork, max_speed: Real) {
    let BodyWork { rolled_back, active, pose, velocity, internal_state, .. } = bodies;
    rolled_back.clear();
    rolled_back.resize(model.bodies.slot_count(), false);
    // as for rigid bodies; comparisons with NaN are false. No early exit: normally all nodes are valid
    let most = max_speed * max_speed;
    pool.chunks(rolled_back, 1, &|slot, insane| {
        let Some(nodes) = model.nodes_at(slot as u32).filter(|_| active[slot]) else { return };
        let blocks = model.blocks_of(nodes);
        let sane = pose[blocks.clone()].iter().zip(&velocity[blocks]).fold(true, |all, (x, v)| {
            let near = (x[0].abs() <= FAR) & (x[1].abs() <= FAR) & (x[2].abs() <= FAR);
            all & near & (vec(*v).length_squared() <= most)
        });
        insane[0] = !(sane && internal_state[nodes.internal_state_span()].iter().all(|v| v.is_finite()));
    });
}

fn hold(model: &Model, state: &mut State, bodies: &BodyWork, slot: u32) {
    let i = slot as usize;
    match model.nodes_at(slot) {
        None => state.freeze_rigid(i, bodies.good[i]),
        Some(nodes) => {
            state.flags[i] |= flag::FROZEN;
            state.node_v[nodes.span()].fill(Vec3::ZERO);
        }
    }
}

/// The fault of a body after the step.
fn insane(model: &Model, slot: u32, bodies: &BodyWork, max_speed: Real) -> Option<(FaultKind, &'static str)> {
    let i = slot as usize;
    if model.nodes_at(slot).is_some() {
        return bodies.rolled_back[i].then_some((FaultKind::NonFinite, "node_x"));
    }
    let (x, q) = rigid_pose(&bodies.pose, slot);
    let (v, w) = (vec(bodies.velocity[2 * i]), vec(bodies.velocity[2 * i + 1]));
    moving(x, q, v, w, max_speed)
}

fn moving(x: Vec3, q: Quat, v: Vec3, w: Vec3, max_speed: Real) -> Option<(FaultKind, &'static str)> {
    if !x.is_finite() {
        Some((FaultKind::NonFinite, "x"))
    } else if !q.is_finite() {
        Some((FaultKind::NonFinite, "q"))
    } else if !v.is_finite() {
        Some((FaultKind::NonFinite, "v"))
    } else if !w.is_finite() {
        Some((FaultKind::NonFinite, "w"))
    } else if v.length() > max_speed || x.abs().max_element() > FAR {
        Some((FaultKind::TooFast, "v"))
    } else {
        None
    }
}

/// Marks all bodies of an island of which one is marked.
fn share(model: &Model, bodies: &mut BodyWork, output: &mut OutputWork) {
    let BodyWork { islands, rolled_back, active, .. } = bodies;
    let mut lost = vec![false; rolled_back.len()];
    for slot in (0..rolled_back.len()).filter(|&slot| rolled_back[slot]) {
        lost[islands.root(slot as u32) as usize] = true;
    }
    for (slot, _) in model.bodies.iter() {
        let i = slot as usize;
        if active[i] && !rolled_back[i] && lost[islands.root(slot) as usize] {
            rolled_back[i] = true;
            output.report.counts.rolled_back += 1;
        }
    }
}

/// Resets the impulses of a discarded step: they are no warm start for the next one.
fn forget(model: &Model, bodies: &BodyWork, contact: &mut ContactWork, island: &mut IslandWork) {
    for (id, constraint) in model.constraints.iter() {
        let mut touched = false;
        constraint.slots(|slot| touched |= bodies.rolled_back[slot as usize]);
        if touched {
            island.warm[model.rows_of(id)].fill(0.0);
        }
    }
    for g in &mut contact.cloth_contacts {
        if bodies.rolled_back[g.body as usize] || bodies.rolled_back[g.sheet as usize] {
            (g.impulse, g.tangential_displacement) = (Vec3::ZERO, Vec3::ZERO);
        }
    }
    for m in &mut contact.contacts {
        if bodies.rolled_back[m.key.a as usize] || bodies.rolled_back[m.key.b as usize] {
            m.roll = [0.0; 3];
            for point in &mut m.points {
                (point.impulse, point.tangential_displacement) = ([0.0; 3], [0.0; 2]);
            }
        }
    }
}
