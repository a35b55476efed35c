//! What bodies have: kinetic energy, potentials and momentum.

use super::wide;
use crate::constraint::{Bounds, RowBuffer};
use crate::deformable::{BodyRef, rotation};
use crate::math::{Real, Wide3, quat, vec, widen};
use crate::model::{Body, Model};
use crate::report::LedgerDetail;
use crate::settings::Settings;
use crate::solver::soft::Softness;
use crate::state::State;
use crate::work::{BodyWork, LedgerWork, Setup, SoftWork, Stock};

/// Energy without its elastic part, and momentum, of a body in State.
pub(super) fn stock_of(model: &Model, state: &State, settings: &Settings, detail: LedgerDetail, slot: u32) -> Stock {
    let (i, mut s) = (slot as usize, Stock::default());
    let detailed = detail == LedgerDetail::Bodies;
    match model.bodies.at(slot) {
        Some(Body::Rigid(r)) if r.is_dynamic() => {
            let local = state.q[i].inverse() * state.w[i];
            let (m, v, turning) = (wide(r.mass), widen(state.v[i]), r.inertia.mul(local));
            s.kinetic = 0.5 * (m * v.length_squared() + widen(local).dot(widen(turning)));
            s.gravity = -m * wide(r.gravity_scale) * widen(settings.gravity).dot(widen(state.x[i]));
            s.momentum = v * m;
            if detailed {
                s.angular = widen(state.x[i]).cross(s.momentum) + widen(state.q[i] * turning);
            }
        }
        Some(Body::Nodes(nodes)) => {
            let pull = settings.gravity * nodes.traits.gravity_scale;
            let moving = state.node_x[nodes.span()].iter().zip(&state.node_v[nodes.span()]);
            for ((x, v), (_, &m)) in
                moving.zip(nodes.inv_mass.iter().zip(&nodes.mass)).filter(|(_, (inv, _))| **inv > 0.0)
            {
                // a product of a node is rounded once; sums are f64
                s.kinetic += wide(0.5 * m * v.length_squared());
                s.gravity -= wide(m * pull.dot(*x));
                if detail != LedgerDetail::None {
                    s.momentum += widen(*v * m);
                }
                if detailed {
                    s.angular += widen(*x).cross(widen(*v)) * wide(m);
                }
            }
            let internal = &state.internal_state[nodes.internal_state_span()];
            for (node, &radii) in nodes.radii.iter().enumerate().filter(|(node, _)| nodes.inv_mass[*node] > 0.0) {
                let (energy, spin) = rotation::rotation_of(internal, node, nodes.mass[node], radii);
                s.kinetic += wide(energy);
                s.angular += if detailed { widen(spin) } else { Wide3::ZERO };
            }
        }
        _ => {}
    }
    s
}

/// Kinetic energy of a body in State [J].
pub(crate) fn kinetic_of(model: &Model, state: &State, settings: &Settings, slot: u32) -> f64 {
    stock_of(model, state, settings, LedgerDetail::None, slot).kinetic
}

/// The stocks of all bodies, elastic energies included where the arrays of the step have the present positions.
pub(super) fn take(
    setup: &Setup,
    state: &State,
    bodies: &BodyWork,
    soft: Option<&SoftWork>,
    to: &mut [Stock],
    detail: LedgerDetail,
) {
    let Setup { model, settings, pool } = *setup;
    pool.chunks(to, 1, &|slot, to| {
        let kept = to[0].elastic;
        to[0] = stock_of(model, state, settings, detail, slot as u32);
        to[0].elastic = match soft {
            Some(soft) => elastic_of(model, bodies, soft, slot as u32, None).unwrap_or(0.0),
            None => kept,
        };
    });
}

/// The same after a step: elastic energy of bodies that did not move is that of the start.
pub(super) fn take_after(setup: &Setup, state: &State, bodies: &BodyWork, soft: &SoftWork, ledger: &mut LedgerWork) {
    let Setup { model, settings, pool } = *setup;
    let detail = ledger.detail;
    let LedgerWork { start, end, .. } = ledger;
    end.resize(model.bodies.slot_count(), Stock::default());
    let start = &*start;
    pool.chunks(end, 1, &|slot, to| {
        to[0] = stock_of(model, state, settings, detail, slot as u32);
        to[0].elastic = if bodies.active[slot] {
            elastic_of(model, bodies, soft, slot as u32, None).unwrap_or(0.0)
        } else {
            start[slot].elastic
        };
    });
}

/// Elastic energy of a soft body at the positions of the step's arrays, with their internal state or another [J].
pub(super) fn elastic_of(
    model: &Model,
    bodies: &BodyWork,
    soft: &SoftWork,
    slot: u32,
    internal: Option<&[Real]>,
) -> Option<f64> {
    let (nodes, held) = (model.nodes_at(slot)?, soft.models.get(slot as usize)?.as_ref()?);
    let blocks = model.blocks_of(nodes);
    let internal_state = internal.unwrap_or(&bodies.internal_state[nodes.internal_state_span()]);
    let body = BodyRef { x: &bodies.pose[blocks.clone()], v: &bodies.velocity[blocks], internal_state };
    Some(wide(held.model.energy(body)))
}

/// Elastic energy of the constraints that are springs, at the poses of the step's arrays [J].
pub(super) fn springs(
    setup: &Setup,
    state: &State,
    bodies: &BodyWork,
    soft: &SoftWork,
    ledger: &mut LedgerWork,
) -> f64 {
    let Setup { model, settings, .. } = *setup;
    let LedgerWork { spring_slots, spring_revision, spring_rows, .. } = ledger;
    if *spring_revision != Some(model.revision) {
        *spring_revision = Some(model.revision);
        spring_slots.clear();
        spring_slots.extend(model.constraints.iter().map(|(slot, _)| slot));
    }
    let h = settings.dt;
    let (view, joint, mut sum) = (bodies.view(model, soft, h), Softness { rate: 0.0, relative: 0.0 }, 0.0);
    spring_slots.retain(|&slot| {
        let Some(constraint) = model.constraints.at(slot) else { return false };
        spring_rows.clear();
        constraint.rows(&view, joint, spring_rows);
        let elastic = spring_rows.rows().iter().any(|row| row.stiffness > 0.0);
        if elastic && state.broken[slot as usize] == 0 {
            sum += stored(spring_rows, h);
        }
        elastic
    });
    sum
}

/// Elastic energy in the rows of a constraint: ½ k C² with C from the bias C k/(c + h k) and the softness 1/(h (c + h k)).
fn stored(rows: &RowBuffer, h: Real) -> f64 {
    let of = |row: &crate::constraint::Row| {
        if !(row.stiffness > 0.0) || !(row.softness > 0.0) {
            return 0.0;
        }
        let error = wide(row.bias) / (wide(row.stiffness) * wide(row.softness) * wide(h));
        let force = -wide(row.stiffness) * error * wide(h);
        let holds = match row.bounds {
            Bounds::AtLeast(low) => force >= wide(low),
            Bounds::Between { low, high } => force >= wide(low) && force <= wide(high),
            _ => true,
        };
        if holds { 0.5 * wide(row.stiffness) * error * error } else { 0.0 }
    };
    rows.rows().iter().map(of).sum()
}

/// Energy [J] and momentum of the active bodies in the arrays of the step, by slot: to measure what a guard changes.
fn measure(model: &Model, bodies: &BodyWork, settings: &Settings, rigid_only: bool, to: &mut Vec<Stock>) {
    to.clear();
    to.resize(model.bodies.slot_count(), Stock::default());
    for (slot, body) in model.bodies.iter().filter(|(slot, _)| bodies.active[*slot as usize]) {
        let (at, s) = (2 * slot as usize, &mut to[slot as usize]);
        match body {
            Body::Rigid(r) => {
                let (m, v, x) = (wide(r.mass), widen(vec(bodies.velocity[at])), widen(vec(bodies.pose[at])));
                let q = quat(bodies.pose[at + 1]);
                let local = q.inverse() * vec(bodies.velocity[at + 1]);
                let turning = r.inertia.mul(local);
                s.kinetic = 0.5 * (m * v.length_squared() + widen(local).dot(widen(turning)));
                s.gravity = -m * wide(r.gravity_scale) * widen(settings.gravity).dot(x);
                s.momentum = v * m;
                s.angular = x.cross(s.momentum) + widen(q * turning);
            }
            Body::Nodes(nodes) if !rigid_only => {
                let pull = widen(settings.gravity * nodes.traits.gravity_scale);
                let blocks = model.blocks_of(nodes);
                let moving = bodies.pose[blocks.clone()].iter().zip(&bodies.velocity[blocks]).zip(&nodes.mass);
                for ((x, v), &m) in moving.filter(|((_, v), _)| v[3] > 0.0) {
                    let (x, v, m) = (widen(vec(*x)), widen(vec(*v)), wide(m));
                    s.kinetic += 0.5 * m * v.length_squared();
                    s.gravity -= m * pull.dot(x);
                    s.momentum += v * m;
                    s.angular += x.cross(v) * m;
                }
            }
            Body::Nodes(_) => {}
        }
    }
}

/// Calls `change`, which modifies velocities or positions of the step's arrays, and adds the change of energy to `guards`,
/// or to `restitution` when it is the phase of impacts.
pub(crate) fn around(
    model: &Model,
    settings: &Settings,
    bodies: &mut BodyWork,
    ledger: &mut LedgerWork,
    impacts: bool,
    change: impl FnOnce(&mut BodyWork),
) {
    if !ledger.is_on() {
        return change(bodies);
    }
    let (mut before, mut after) = (std::mem::take(&mut ledger.measured[0]), std::mem::take(&mut ledger.measured[1]));
    measure(model, bodies, settings, impacts, &mut before);
    change(bodies);
    measure(model, bodies, settings, impacts, &mut after);
    for (slot, (a, b)) in before.iter().zip(&after).enumerate() {
        let (kinetic, gravity) = (b.kinetic - a.kinetic, b.gravity - a.gravity);
        let sums = &mut ledger.bodies[slot];
        if impacts {
            ledger.book.restitution += kinetic;
            sums.exchange += kinetic;
        } else {
            ledger.book.guards += kinetic + gravity;
            sums.internal += kinetic + gravity;
            sums.guarded += gravity;
        }
        ledger.outside[0] += if impacts { Wide3::ZERO } else { b.momentum - a.momentum };
        ledger.outside[1] += b.angular - a.angular;
    }
    ledger.measured = [before, after];
}
