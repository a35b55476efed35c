//! Remember: the results of the step are stored in State. Bodies that gate 2 rolls back (`guard/rollback.rs`) keep
//! their values in State.

use crate::classic::in_world;
use crate::contact::cloth::memory;
use crate::contact::find::surfel;
use crate::contact::readout::PointImpulse;
use crate::contact::route::Route;
use crate::contact::{light_nodes, point};
use crate::deformable::rotation;
use crate::guard::rollback;
use crate::island::{implicit, joints};
use crate::ledger;
use crate::math::{Block, Pose, Real, Vec3, quat, rigid_pose, vec};
use crate::model::{Body, Model};
use crate::report::{ConstraintForce, Event};
use crate::settings::Settings;
use crate::solver::pool::Pool;
use crate::state::{ClothContactMemory, ContactMemory, State, contact_flag, flag};
use crate::step::assemble;
use crate::tool;
use crate::work::{BodyWork, ContactWork, IslandWork, OutputWork, Setup, SoftWork};

pub(crate) fn remember(
    setup: &Setup,
    state: &mut State,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, pool } = *setup;
    assemble::store_impulses(model, contact, island, output);
    read_contacts(model, bodies, contact, island, output, settings);
    in_world::report(model, state, bodies, contact, output);
    memory::keep(setup, bodies, contact, island, soft, output);
    output.readout.close(settings.dt);
    rollback::look(setup, state, bodies, contact, island, output);
    joints::report_open(model, state, bodies, island, output);
    store_bodies(model, state, pool, bodies);
    state.row_impulses.copy_from_slice(&island.warm);
    touch_events(model, state, contact, output);
    std::mem::swap(&mut state.contacts, &mut contact.contacts);
    std::mem::swap(&mut state.cloth_contacts, &mut contact.cloth_contacts);
    break_constraints(model, state, island, output);
    tool::end(model, state, &mut output.report.events, settings.dt);
    fall_asleep(model, state, bodies, output, settings);
    state.h = settings.dt / island.substeps as Real;
    state.tick += 1;
}

/// Impulses transmitted by all routes in the step, into contact memory and readout.
fn read_contacts(
    model: &Model,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    island: &IslandWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    read_rigid(model, bodies, contact, output, settings);
    implicit::read(contact, island, output);
    light_nodes::read(bodies, contact, output);
    surfel::read(model, bodies, contact, output, settings);
    read_sleepers(model, bodies, contact, island, output, settings);
    if contact.any_flags & contact_flag::SENSOR != 0 {
        let sensed = contact.contacts.iter_mut().filter(|m| m.has(contact_flag::SENSOR));
        sensed.for_each(|m| m.flags |= contact_flag::TOUCHING);
    }
}

/// Manifolds of rigid bodies.
fn read_rigid(
    model: &Model,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    let ContactWork { set, contacts, .. } = contact;
    let OutputWork { readout, report, .. } = output;
    let pose = &bodies.pose;
    for batch in set.batches() {
        let sums = batch.impulses();
        for (lane, &origin) in batch.origin.iter().enumerate().filter(|(_, o)| **o != u32::MAX) {
            let m = &mut contacts[origin as usize];
            m.roll = [batch.roll[0][lane], batch.roll[1][lane], batch.roll[2][lane]];
            for (point, from) in m.points.iter_mut().zip(&batch.points).take(m.count as usize) {
                point.impulse = [from.impulse[0][lane], from.impulse[1][lane], from.impulse[2][lane]];
                point.tangential_displacement =
                    [from.tangential_displacement[0][lane], from.tangential_displacement[1][lane]];
                point.slipping = u32::from(from.slipping[lane] > 0.0);
                report.penetration = report.penetration.max(-from.gap[lane]);
            }
            if batch.by_law {
                for (k, point) in m.points.iter_mut().enumerate().take(m.count as usize) {
                    point.tangential_displacement = batch.stretch(lane, k).unwrap_or(point.tangential_displacement);
                }
                leave_grain(model, pose, m);
            }
            let impulse = Vec3::new(sums[0][lane], sums[1][lane], sums[2][lane]);
            readout.add_manifold(origin, PointImpulse { impulse, normal: sums[3][lane] });
            readout.mark_touching(origin, m);
            if settings.point_forces {
                let x = vec(pose[2 * m.key.a as usize]);
                for k in 0..m.count {
                    let (sum, arm, gap) = batch.point(lane, k as usize);
                    readout.add_point(origin, k, sum);
                    let n = Vec3::new(batch.normal[0][lane], batch.normal[1][lane], batch.normal[2][lane]);
                    readout.locate(origin, k, x + arm, n, gap);
                }
            }
        }
    }
}

/// Impulses and displacements of a manifold with anisotropic friction, from the axes of the grain into those of State.
fn leave_grain(model: &Model, pose: &[Block], m: &mut ContactMemory) {
    let frame = point::anisotropy_at(model, pose, m);
    for p in &mut m.points[..m.count as usize] {
        let [a, b] = frame.push_back([p.impulse[1], p.impulse[2]]);
        (p.impulse[1], p.impulse[2]) = (a, b);
        p.tangential_displacement = frame.way_back(p.tangential_displacement);
    }
}

/// Contacts between inactive bodies transmit the impulses of the step in which their bodies fell asleep: State has them
/// per substep.
fn read_sleepers(
    model: &Model,
    bodies: &BodyWork,
    contact: &ContactWork,
    island: &IslandWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    let substeps = island.substeps as Real;
    let ContactWork { contacts, routes, .. } = contact;
    let readout = &mut output.readout;
    let pose = &bodies.pose;
    for (index, m) in (0..).zip(contacts.iter()).filter(|(index, _)| routes[*index as usize] == Route::Asleep) {
        let q = quat(pose[2 * m.key.a as usize + 1]);
        let (n, t) = (q * m.normal, q * m.tangent);
        for (k, p) in (0..).zip(m.used()) {
            let impulse = point::along(n, t, p.impulse) * substeps;
            readout.add(index, k, PointImpulse { impulse, normal: p.impulse[0] * substeps });
            if let Some(at) = settings.point_forces.then(|| point::place(model, pose, m, k as usize)).flatten() {
                readout.locate(index, k, at.at, at.normal, at.gap);
            }
        }
    }
}

fn store_bodies(model: &Model, state: &mut State, pool: &Pool, bodies: &mut BodyWork) {
    for (slot, body) in model.bodies.iter() {
        let i = slot as usize;
        if bodies.rolled_back[i] {
            continue;
        }
        match body {
            Body::Rigid(rigid) => {
                let kinematic = rigid.motion == crate::model::Motion::Kinematic && !state.is_frozen(i);
                if !bodies.active[i] && !kinematic {
                    continue;
                }
                let (x, q) = rigid_pose(&bodies.pose, slot);
                let (v, w) = (vec(bodies.velocity[2 * i]), vec(bodies.velocity[2 * i + 1]));
                (state.x[i], state.q[i], state.x_remainder[i]) = (x, q, bodies.x_remainder[i]);
                if bodies.active[i] {
                    (state.v[i], state.w[i], state.v_remainder[i]) = (v, w, bodies.v_remainder[i]);
                }
                bodies.good[i] = Pose::new(x, q);
            }
            Body::Nodes(nodes) => {
                if !bodies.active[i] {
                    continue;
                }
                state.internal_state[nodes.internal_state_span()]
                    .copy_from_slice(&bodies.internal_state[nodes.internal_state_span()]);
            }
        }
    }
    store_nodes(model, state, pool, bodies);
}

/// Positions and velocities of nodes, on all threads.
fn store_nodes(model: &Model, state: &mut State, pool: &Pool, bodies: &BodyWork) {
    let BodyWork { pose, velocity, node_spans, node_owners, active, rolled_back, .. } = bodies;
    let bodies = 2 * model.bodies.slot_count();
    let store = |from: &[Block], k: usize, to: &mut [Vec3]| {
        let owner = node_owners[k] as usize;
        if active[owner] && !rolled_back[owner] {
            let from = &from[bodies + node_spans[k].start..];
            to.iter_mut().zip(from).for_each(|(to, block)| *to = vec(*block));
        }
    };
    pool.spans(&mut state.node_x, node_spans, &|k, to| store(pose, k, to));
    pool.spans(&mut state.node_v, node_spans, &|k, to| store(velocity, k, to));
}

/// Events of contacts that began and ended, by pair, from the contacts before and after.
fn touch_events(model: &Model, state: &State, contact: &ContactWork, output: &mut OutputWork) {
    let list = |(contacts, cloth_contacts): (&[ContactMemory], &[ClothContactMemory]),
                sensor: bool,
                out: &mut Vec<(u32, u32)>| {
        out.clear();
        let mut flags = 0;
        for m in contacts {
            flags |= m.flags;
            if m.has(contact_flag::TOUCHING) && m.has(contact_flag::SENSOR) == sensor {
                let pair = (m.key.a, m.key.b);
                if out.last() != Some(&pair) && pair.0 != pair.1 {
                    out.push(pair);
                }
            }
        }
        let alone = out.len();
        if !sensor {
            each_cloth_pair(cloth_contacts, |pair| out.push(pair));
        }
        if out.len() > alone {
            out.sort_unstable();
            out.dedup();
        }
        flags
    };
    for sensor in [false, true] {
        let before = list((&state.contacts, &state.cloth_contacts), sensor, &mut output.touching);
        let flags = before | list((&contact.contacts, &contact.cloth_contacts), sensor, &mut output.touched);
        let alive = |slot: u32| model.bodies.at(slot).is_some();
        let events = &mut output.report.events;
        each_only_in(&output.touched, &output.touching, |(a, b)| {
            events.push(touch_event(model, a, b, sensor, true));
        });
        each_only_in(&output.touching, &output.touched, |(a, b)| {
            if alive(a) && alive(b) {
                events.push(touch_event(model, a, b, sensor, false));
            }
        });
        if flags & contact_flag::SENSOR == 0 {
            break;
        }
    }
}

/// Calls `see` once with each pair of a body and a cloth of which a node is in contact. Usually the first node is: the
/// others of its pair, which are hundreds, are skipped.
fn each_cloth_pair(cloth_contacts: &[ClothContactMemory], mut see: impl FnMut((u32, u32))) {
    let mut at = 0;
    while let Some(g) = cloth_contacts.get(at) {
        let pair = (g.body, g.sheet);
        at += if g.has(contact_flag::TOUCHING) {
            see(pair);
            cloth_contacts[at..].partition_point(|g| (g.body, g.sheet) <= pair)
        } else {
            1
        };
    }
}

/// Calls `see` with the pairs of one ascending list that the other one does not contain.
fn each_only_in(list: &[(u32, u32)], other: &[(u32, u32)], mut see: impl FnMut((u32, u32))) {
    let mut rest = other.iter().peekable();
    for &pair in list {
        while rest.next_if(|&&p| p < pair).is_some() {}
        if rest.next_if_eq(&&pair).is_none() {
            see(pair);
        }
    }
}

fn touch_event(model: &Model, a: u32, b: u32, sensor: bool, began: bool) -> Event {
    let (id_a, id_b) = (model.body_id(a), model.body_id(b));
    let a_senses = model.rigid_at(a).is_some_and(|r| r.colliders.iter().any(|c| c.sensor));
    let (sense, other) = if a_senses { (id_a, id_b) } else { (id_b, id_a) };
    match (sensor, began) {
        (false, true) => Event::ContactBegan { a: id_a, b: id_b },
        (false, false) => Event::ContactEnded { a: id_a, b: id_b },
        (true, true) => Event::SensorBegan { sensor: sense, other },
        (true, false) => Event::SensorEnded { sensor: sense, other },
    }
}

/// Forces of constraints into the report; constraints above their strength break.
fn break_constraints(model: &Model, state: &mut State, island: &IslandWork, output: &mut OutputWork) {
    let swept = island.spans.iter().map(|span| span.constraint);
    let OutputWork { readout, report, .. } = output;
    let implicit = &island.implicit;
    for constraint in swept.chain(implicit.spans.iter().map(|span| span.constraint)) {
        let Some(kind) = model.constraints.at(constraint) else { continue };
        let (id, kept) = (model.constraint_id(constraint), model.rows_of(constraint));
        let ([force, torque], rows) = (readout.wrench(constraint), &readout.rows()[kept.clone()]);
        let largest = rows.iter().fold(0.0, |max: Real, f| max.max(f.abs()));
        report.constraints.push(ConstraintForce { id, force, torque, largest });
        let size = kind.strain(force, rows);
        if size > kind.traits().break_force {
            state.broken[constraint as usize] = 1;
            state.row_impulses[kept].fill(0.0);
            report.events.push(Event::Broke { constraint: id, force: size });
        }
    }
}

/// True when every point of a body is slower than `limit` [m/s], and it may sleep.
fn is_slow(body: &Body, state: &State, limit: Real, i: usize) -> bool {
    match body {
        Body::Rigid(r) => {
            // velocity that gravity adds and contacts remove within a step is no motion
            let speed = state.v[i].length().max(state.w[i].length() * r.radius);
            r.can_sleep && speed < limit
        }
        Body::Nodes(nodes) => {
            let internal_state = &state.internal_state[nodes.internal_state_span()];
            // the tip of a rotating particle moves too
            let tip = |(n, r): (usize, &Vec3)| rotation::spin(internal_state, n).length() * r.max_element();
            nodes.span().all(|n| state.node_v[n].length() < limit)
                && nodes.radii.iter().enumerate().all(|each| tip(each) < limit)
        }
    }
}

/// An island of which all bodies have been at rest long enough falls asleep.
fn fall_asleep(model: &Model, state: &mut State, bodies: &mut BodyWork, output: &mut OutputWork, settings: &Settings) {
    if !settings.sleep_time.is_finite() {
        return;
    }
    let slots = model.bodies.slot_count();
    // 1 marks islands with a body that is not ready
    bodies.restless.clear();
    bodies.restless.resize(slots, 0);
    for slot in 0..slots as u32 {
        if bodies.anchored[slot as usize] {
            let root = bodies.islands.root(slot);
            bodies.anchored[root as usize] = true;
        }
    }
    for (slot, body) in model.bodies.iter() {
        let i = slot as usize;
        if !bodies.active[i] {
            continue;
        }
        let still = is_slow(body, state, settings.sleep_speed, i);
        // a body drifting freely is not at rest, however slow (a Galilean boost must not change the result)
        let leans = bodies.anchored[bodies.islands.root(slot) as usize];
        let still = still && (leans || (state.v[i] == Vec3::ZERO && state.w[i] == Vec3::ZERO));
        state.sleep_timer[i] = if still { state.sleep_timer[i] + settings.dt } else { 0.0 };
        if state.sleep_timer[i] < settings.sleep_time {
            let root = bodies.islands.root(slot);
            bodies.restless[root as usize] = 1;
        }
    }
    for slot in 0..slots as u32 {
        let i = slot as usize;
        if bodies.active[i] && !state.is_frozen(i) && bodies.restless[bodies.islands.root(slot) as usize] == 0 {
            state.flags[i] |= flag::ASLEEP;
            output.ledger.slept(slot, ledger::kinetic_of(model, state, settings, slot));
            (state.v[i], state.w[i]) = (Vec3::ZERO, Vec3::ZERO);
            if let Some(nodes) = model.nodes_at(slot) {
                for n in nodes.span() {
                    state.node_v[n] = Vec3::ZERO;
                }
                let internal_state = &mut state.internal_state[nodes.internal_state_span()];
                for n in 0..nodes.radii.len() {
                    let turned = rotation::orientation(internal_state, n);
                    rotation::put(internal_state, n, turned, Vec3::ZERO);
                }
            }
            output.report.events.push(Event::Slept(model.body_id(slot)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn a_pair_with_any_touching_node_is_reported_once() {
        let grip = |(body, sheet, node, touching): (u32, u32, u32, bool)| ClothContactMemory {
            body,
            sheet,
            node,
            flags: if touching { contact_flag::TOUCHING } else { 0 },
            ..ClothContactMemory::zeroed()
        };
        let list =
            [(0, 1, 0, true), (0, 1, 1, true), (0, 3, 4, false), (0, 3, 5, true), (2, 1, 0, false), (2, 3, 0, true)];
        let (cloth_contacts, mut seen) = (list.map(grip), Vec::new());
        each_cloth_pair(&cloth_contacts, |pair| seen.push(pair));
        assert_eq!(seen, [(0, 1), (0, 3), (2, 3)]);
    }
}
