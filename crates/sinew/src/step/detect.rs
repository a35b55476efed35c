//! Detect: from poses to contacts, matched with the contacts in State; then islands, and which bodies are active.

use crate::classic::in_world;
use crate::collision::{Candidate, NarrowScratch, PairSide, find_manifolds};
use crate::contact::sort::put_in_order;
use crate::math::{Pose, Real, Vec3};
use crate::model::{Body, Model, Motion, Nodes, Rigid};
use crate::report::Event;
use crate::settings::Settings;
use crate::solver::pool::Pool;
use crate::solver::pool::Span;
use crate::state::{ContactKey, ContactMemory, State, contact_flag, flag, of_pair};
use crate::work::{BodyWork, ColliderRef, ContactWork, DetectWork, OutputWork, Setup, SoftWork};

/// Number of candidates that a thread takes at once.
const GRAIN: usize = 32;

pub(crate) fn detect(
    setup: &Setup,
    state: &mut State,
    bodies: &mut BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, pool } = *setup;
    refresh_colliders(model, bodies, detect);
    bodies.moves.clear();
    bodies.moves.extend((0..model.bodies.slot_count() as u32).map(|slot| moves(model, state, slot)));
    place_bounds(model, state, detect, settings);
    let slack = 4.0 * settings.contact_margin;
    detect.broad.update(model.revision, &detect.bounds, &detect.unbounded, slack);
    pick_candidates(model, state, bodies, detect, contact, output, settings);
    // the result of `narrow` is sorted
    let in_order = contact.contacts.is_empty() && model.node_count == 0;
    narrow(model, state, pool, detect, contact, output, settings);
    if bodies.node_owners.is_empty() {
        detect.skins.clear();
    } else {
        detect.inside = 0.0;
        find_soft(setup, state, bodies, detect, contact, soft);
        output.report.penetration = output.report.penetration.max(detect.inside);
    }
    if !in_order {
        put_in_order(&mut contact.contacts, &mut contact.order, |_, _| {});
    }
    join_contacts(model, state, bodies, detect, contact, soft);
    join_constraints(model, state, bodies);
    wake_islands(model, state, bodies, output);
    list_active(model, state, bodies, output);
    output.report.counts.awake = (bodies.active_rigid.len() + bodies.active_nodes.len()) as u32;
    load_bodies(model, state, pool, bodies);
}

/// Contacts of bodies made of nodes.
fn find_soft(
    setup: &Setup,
    state: &mut State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    soft: &mut SoftWork,
) {
    let Setup { model, settings, pool } = *setup;
    for slot in (0..model.bodies.slot_count() as u32).filter(|&slot| !bodies.moves[slot as usize]) {
        crate::contact::cloth::memory::spell_out(model, state, settings, slot);
    }
    keep_still(model, state, bodies, contact);
    crate::contact::find::surface::follow(model, state, pool, detect, settings);
    crate::contact::find::surfel::find(model, state, bodies, detect, contact, soft, settings);
    crate::contact::find::surface::find(model, state, bodies, detect, contact, soft, settings);
    crate::contact::find::surfel::widen(model, state, bodies, detect, contact, soft, settings);
    crate::contact::find::ellipsoid::find(model, state, bodies, detect, contact, settings);
}

/// Lists all colliders by body slot, and the nodes by body.
fn refresh_colliders(model: &Model, bodies: &mut BodyWork, detect: &mut DetectWork) {
    if detect.revision == Some(model.revision) {
        return;
    }
    detect.revision = Some(model.revision);
    detect.colliders.clear();
    detect.collider_start.clear();
    detect.unbounded.clear();
    detect.surfaces.clear();
    for slot in 0..model.bodies.slot_count() as u32 {
        detect.collider_start.push(detect.colliders.len() as u32);
        let Some(rigid) = model.rigid_at(slot) else { continue };
        for (k, c) in rigid.colliders.iter().enumerate() {
            if detect.surfaces.last() != Some(&c.material) {
                detect.surfaces.push(c.material);
            }
            detect.colliders.push(ColliderRef {
                body: slot,
                collider: k as u32,
                surface: detect.surfaces.len() as u32 - 1,
                groups: c.groups,
                sensor: c.sensor,
                motion: rigid.motion,
            });
            detect.unbounded.push(c.geometry.is_unbounded());
        }
    }
    detect.collider_start.push(detect.colliders.len() as u32);
    let span = |&slot: &u32| model.nodes_at(slot).map_or(0..0, Nodes::span);
    bodies.node_owners.clear();
    bodies.node_owners.extend((0..model.bodies.slot_count() as u32).filter(|&slot| model.nodes_at(slot).is_some()));
    bodies.node_owners.sort_unstable_by_key(|slot| span(slot).start);
    bodies.node_spans.clear();
    bodies
        .node_spans
        .extend(bodies.node_owners.iter().map(|slot| Span { start: span(slot).start, end: span(slot).end }));
}

/// Largest displacement of a body's surface within the step, limited to the look-ahead distance [m].
fn motion(rigid: &Rigid, state: &State, slot: usize, settings: &Settings) -> Real {
    if rigid.motion == Motion::Fixed || state.is_asleep(slot) || state.is_frozen(slot) {
        return 0.0;
    }
    let fall = settings.gravity.length() * rigid.gravity_scale.abs() * settings.dt * settings.dt;
    let travel = settings.dt * (state.v[slot].length() + state.w[slot].length() * rigid.radius) + fall;
    // a large look-ahead distance finds ghost contacts: with bodies that it would have passed. Continuous bodies are
    // swept instead
    if settings.intersection_free { travel } else { travel.min(0.5 * rigid.thickness) }
}

fn place_bounds(model: &Model, state: &State, detect: &mut DetectWork, settings: &Settings) {
    detect.motion.clear();
    for slot in 0..model.bodies.slot_count() {
        detect.motion.push(model.rigid_at(slot as u32).map_or(0.0, |r| motion(r, state, slot, settings)));
    }
    detect.bounds.clear();
    for c in &detect.colliders {
        let Some(rigid) = model.rigid_at(c.body) else { continue };
        let i = c.body as usize;
        let collider = &rigid.colliders[c.collider as usize];
        let pose = Pose::new(state.x[i], state.q[i]).then_inner(&collider.place);
        let mut bounds = collider.geometry.bounds(&pose);
        let ahead = detect.motion[i].max(in_world::look_ahead(settings, rigid, state, i));
        let grow = 0.5 * settings.contact_margin + ahead;
        bounds = bounds.grown(grow);
        if rigid.continuous || settings.intersection_free {
            let sweep = state.v[i] * settings.dt;
            bounds.min = bounds.min.min(bounds.min + sweep);
            bounds.max = bounds.max.max(bounds.max + sweep);
        }
        detect.bounds.push(bounds);
    }
}

/// True when the body may move in the step, as far as is known before contacts are found. Pairs of which no side moves
/// keep their contacts unchanged.
fn moves(model: &Model, state: &State, slot: u32) -> bool {
    let i = slot as usize;
    let by_forces = match model.bodies.at(slot) {
        Some(Body::Rigid(rigid)) => rigid.is_dynamic(),
        Some(Body::Nodes(_)) => true,
        None => false,
    };
    by_forces && !state.is_asleep(i) && !state.is_frozen(i) || stirs(model, state, slot)
}

/// Contacts of soft bodies of which no side moves, copied from State: a sleeping soft body is not tested.
fn keep_still(model: &Model, state: &State, bodies: &BodyWork, contact: &mut ContactWork) {
    let still = |m: &&ContactMemory| !m.key.anyone(&bodies.moves);
    let soft = |m: &&ContactMemory| model.nodes_at(m.key.b).is_some() && (m.has(contact_flag::CLASSIC) || m.is_valid());
    contact.contacts.extend(state.contacts.iter().filter(still).filter(soft));
}

/// Pairs whose tight boxes overlap and that are allowed to collide.
fn pick_candidates(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    detect.candidates.clear();
    contact.contacts.clear();
    let mut kept = false;
    for &(i, j) in detect.broad.pairs() {
        let (ca, cb) = (detect.colliders[i as usize], detect.colliders[j as usize]);
        if ca.body == cb.body || !detect.bounds[i as usize].meets(&detect.bounds[j as usize]) {
            continue;
        }
        let sensor = ca.sensor || cb.sensor;
        let both_fixed = ca.motion == Motion::Fixed && cb.motion == Motion::Fixed;
        let nobody_moves = ca.motion != Motion::Dynamic && cb.motion != Motion::Dynamic;
        if both_fixed || (nobody_moves && !sensor) || !ca.groups.meets(cb.groups) {
            continue;
        }
        if model.collision_excluded(ca.body, cb.body) {
            continue;
        }
        let key =
            ContactKey { a: ca.body, b: cb.body, collider_a: ca.collider, collider_b: cb.collider, sub_a: 0, sub_b: 0 };
        if !sensor && !key.anyone(&bodies.moves) {
            contact.contacts.extend_from_slice(of_pair(&state.contacts, &key));
            kept = true;
            continue;
        }
        let flags = match sensor {
            true => contact_flag::SENSOR,
            false if in_world::takes(settings, model, &key) => contact_flag::CLASSIC,
            false => 0,
        };
        detect.candidates.push(Candidate { key, reach: 0.0, flags, standoff: settings.standoff() });
    }
    detect.candidates.sort_unstable_by_key(|c| c.key);
    output.report.counts.pairs = detect.candidates.len() as u32 + u32::from(kept);
}

/// Manifolds of all candidates, in the same order, on all threads.
fn narrow(
    model: &Model,
    state: &State,
    pool: &Pool,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    // a single thread writes directly into the list, each of several into its own
    let alone = pool.threads() == 1;
    let grain = if alone { detect.candidates.len().max(1) } else { GRAIN };
    let pieces = detect.candidates.len().div_ceil(grain);
    if detect.narrow.len() < pieces {
        detect.narrow.resize_with(pieces, NarrowScratch::default);
    }
    for scratch in &mut detect.narrow[..pieces] {
        scratch.out.clear();
        scratch.fresh = 0;
        if alone {
            std::mem::swap(&mut scratch.out, &mut contact.contacts);
        }
    }
    let (candidates, motion) = (&detect.candidates, &detect.motion);
    let contacts = &state.contacts;
    pool.chunks(&mut detect.narrow[..pieces], 1, &|piece, scratch| {
        let scratch = &mut scratch[0];
        let end = ((piece + 1) * grain).min(candidates.len());
        // both lists are sorted: merge with the stored contacts
        let mut at = contacts.partition_point(|m| m.key.pair() < candidates[piece * grain].key.pair());
        for candidate in &candidates[piece * grain..end] {
            let pair = candidate.key.pair();
            while at < contacts.len() && contacts[at].key.pair() < pair {
                at += 1;
            }
            let count = contacts[at..].iter().take_while(|m| m.key.pair() == pair).count();
            let ahead = |slot: u32| {
                let way = motion[slot as usize];
                let half = || model.rigid_at(slot).map_or(0.0, |r| 0.5 * r.thickness);
                if settings.intersection_free { way.min(half()) } else { way }
            };
            let reach = settings.contact_margin + ahead(candidate.key.a) + ahead(candidate.key.b);
            let candidate = Candidate { reach, ..*candidate };
            one_pair(model, state, settings, &candidate, &contacts[at..at + count], scratch);
        }
    });
    for scratch in &mut detect.narrow[..pieces] {
        if alone {
            std::mem::swap(&mut scratch.out, &mut contact.contacts);
        } else {
            contact.contacts.extend_from_slice(&scratch.out);
        }
        output.report.counts.fresh_manifolds += scratch.fresh;
    }
}

fn one_pair(
    model: &Model,
    state: &State,
    settings: &Settings,
    candidate: &Candidate,
    old: &[ContactMemory],
    scratch: &mut NarrowScratch,
) {
    let key = &candidate.key;
    let (Some(a), Some(b)) = (model.rigid_at(key.a), model.rigid_at(key.b)) else { return };
    let side = |rigid: &'_ Rigid, slot: u32, collider: u32| {
        let c = &rigid.colliders[collider as usize];
        (c.place, Pose::new(state.x[slot as usize], state.q[slot as usize]))
    };
    let (place_a, pose_a) = side(a, key.a, key.collider_a);
    let (place_b, pose_b) = side(b, key.b, key.collider_b);
    let geometry_a = &a.colliders[key.collider_a as usize].geometry;
    let geometry_b = &b.colliders[key.collider_b as usize].geometry;
    let side_a = PairSide { geometry: geometry_a, place: place_a, pose: pose_a, radius: a.radius };
    let side_b = PairSide { geometry: geometry_b, place: place_b, pose: pose_b, radius: b.radius };

    // sensors: overlap test only
    if candidate.flags & contact_flag::SENSOR != 0 {
        let (in_world_a, in_world_b) = (pose_a.then_inner(&place_a), pose_b.then_inner(&place_b));
        if geometry_a.overlaps(&in_world_a, geometry_b, &in_world_b) {
            let touching = old.first().map_or(0, |m| m.flags & contact_flag::TOUCHING);
            let empty: ContactMemory = bytemuck::Zeroable::zeroed();
            scratch.out.push(ContactMemory { key: *key, flags: candidate.flags | touching, ..empty });
        }
        return;
    }

    if candidate.flags & contact_flag::CLASSIC != 0 {
        if in_world::is_near(settings, model, state, key) {
            scratch.out.push(in_world::memory(state, *key));
        }
        return;
    }
    let old = if old.iter().all(ContactMemory::is_valid) { old } else { &[] };
    let before = scratch.out.len();
    find_manifolds(candidate, &side_a, &side_b, old, settings.recycle_distance, scratch);
    if scratch.out.len() > before || !(a.continuous || b.continuous || settings.intersection_free) {
        return;
    }
    // no contact nearby, but one body is fast: sweep it, and use the contact at the first time of impact
    let travel = (state.v[key.b as usize] - state.v[key.a as usize]) * settings.dt;
    let (in_world_a, in_world_b) = (pose_a.then_inner(&place_a), pose_b.then_inner(&place_b));
    if let Some(hit) = geometry_b.cast(&in_world_b, travel, geometry_a, &in_world_a) {
        let moved = Pose::new(pose_b.position + travel * hit.at, pose_b.rotation);
        let side_b = PairSide { pose: moved, ..side_b };
        find_manifolds(candidate, &side_a, &side_b, &[], 0.0, scratch);
    }
}

/// Joins bodies that share a contact into islands.
fn join_contacts(
    model: &Model,
    state: &mut State,
    bodies: &mut BodyWork,
    detect: &DetectWork,
    contact: &mut ContactWork,
    soft: &SoftWork,
) {
    let slots = model.bodies.slot_count();
    bodies.islands.reset(slots);
    bodies.anchored.clear();
    bodies.anchored.resize(slots, false);
    bodies.movable.clear();
    bodies.movable.extend((0..slots).map(|slot| match model.bodies.at(slot as u32) {
        Some(Body::Rigid(r)) => r.is_dynamic() && !state.is_frozen(slot),
        Some(Body::Nodes(_)) => !state.is_frozen(slot),
        None => false,
    }));
    let ContactWork { contacts, any_flags, .. } = contact;
    let soft = &soft.models;
    let colliders = &detect.colliders;
    let BodyWork { islands, anchored, movable, .. } = bodies;
    *any_flags = 0;
    let mut join = |a: u32, b: u32| {
        if movable[a as usize] && movable[b as usize] {
            islands.link(a, b);
            return;
        }
        for (this, other) in [(a, b), (b, a)] {
            if movable[this as usize] {
                anchored[this as usize] = true;
                if stirs(model, state, other) {
                    state.flags[this as usize] &= !flag::ASLEEP;
                }
            }
        }
    };
    for m in contacts.iter() {
        *any_flags |= m.flags;
        if !m.has(contact_flag::SENSOR) && m.count > 0 {
            join(m.key.a, m.key.b);
        }
    }
    crate::contact::cloth::each_pair(soft, colliders, join);
}

/// Joins bodies that share a constraint into islands.
fn join_constraints(model: &Model, state: &mut State, bodies: &mut BodyWork) {
    for (slot, constraint) in model.constraints.iter() {
        if state.broken[slot as usize] != 0 {
            continue;
        }
        let mut first: Option<u32> = None;
        let islands = &mut bodies.islands;
        let mut stirred = false;
        let mut ends = 0;
        constraint.slots(|s| {
            ends += u32::from(bodies.movable[s as usize]);
            stirred |= stirs(model, state, s);
            if bodies.movable[s as usize] {
                if let Some(f) = first {
                    islands.link(f, s);
                } else {
                    first = Some(s);
                }
            }
        });
        if let Some(f) = first {
            // a joint with the world or with a body that cannot move
            bodies.anchored[f as usize] |= ends == 1;
            if stirred {
                state.flags[f as usize] &= !flag::ASLEEP;
            }
        }
    }
    for anchor in &state.tool_anchors {
        if bodies.movable[anchor.tool as usize] && bodies.movable[anchor.body as usize] {
            bodies.islands.link(anchor.tool, anchor.body);
        }
    }
}

/// Wakes every island with an awake body.
fn wake_islands(model: &Model, state: &mut State, bodies: &mut BodyWork, output: &mut OutputWork) {
    let slots = model.bodies.slot_count();
    bodies.woken.clear();
    bodies.woken.resize(slots, 0);
    for slot in 0..slots as u32 {
        if bodies.movable[slot as usize] && !state.is_asleep(slot as usize) {
            let root = bodies.islands.root(slot);
            bodies.woken[root as usize] = 1;
        }
    }
    for slot in 0..slots as u32 {
        let i = slot as usize;
        if bodies.movable[slot as usize] && state.is_asleep(i) && bodies.woken[bodies.islands.root(slot) as usize] == 1
        {
            state.flags[i] &= !flag::ASLEEP;
            output.report.events.push(Event::Woke(model.body_id(slot)));
        }
    }
}

/// Lists the bodies that are solved in this step.
fn list_active(model: &Model, state: &State, bodies: &mut BodyWork, output: &mut OutputWork) {
    bodies.active.clear();
    bodies.active.resize(model.bodies.slot_count(), false);
    bodies.active_rigid.clear();
    bodies.active_nodes.clear();
    for (slot, body) in model.bodies.iter() {
        let i = slot as usize;
        if !bodies.movable[slot as usize] || state.is_asleep(i) {
            continue;
        }
        bodies.active[i] = true;
        match body {
            Body::Rigid(_) => bodies.active_rigid.push(slot),
            Body::Nodes(_) => bodies.active_nodes.push(slot),
        }
        if bodies.islands.root(slot) == slot {
            output.report.counts.islands += 1;
        }
    }
}

/// True for a moving kinematic body, which keeps its neighbours awake.
fn stirs(model: &Model, state: &State, slot: u32) -> bool {
    let i = slot as usize;
    model.rigid_at(slot).is_some_and(|r| r.motion == Motion::Kinematic)
        && (state.v[i] != Vec3::ZERO || state.w[i] != Vec3::ZERO)
}

/// Copies the state of bodies into the arrays of the sweeps.
fn load_bodies(model: &Model, state: &State, pool: &Pool, bodies: &mut BodyWork) {
    let slots = model.bodies.slot_count();
    // after the nodes, when some are oriented: angular velocities, and in `pose` their orientations
    let spins = model.bodies.iter().any(|(slot, _)| model.nodes_at(slot).is_some_and(|n| !n.radii.is_empty()));
    let blocks = 2 * slots + model.node_count * if spins { 2 } else { 1 };
    for array in [&mut bodies.velocity, &mut bodies.position_velocity, &mut bodies.pose] {
        array.resize(blocks, [0.0; 4]);
    }
    bodies.inertia.resize(2 * slots, [0.0; 4]);
    bodies.x_remainder.clear();
    bodies.x_remainder.extend_from_slice(&state.x_remainder);
    bodies.v_remainder.clear();
    bodies.v_remainder.extend_from_slice(&state.v_remainder);
    bodies.internal_state.clear();
    bodies.internal_state.extend_from_slice(&state.internal_state);
    bodies.load_tools(state);
    for slot in 0..slots {
        let (mut v, mut w, mut inv_mass) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        if let Some(rigid) = model.rigid_at(slot as u32) {
            if bodies.active[slot] || rigid.motion == Motion::Kinematic && !state.is_frozen(slot) {
                (v, w) = (state.v[slot], state.w[slot]);
            }
            if bodies.active[slot] {
                inv_mass = rigid.inv_mass;
            }
            bodies.previous[slot] = rigid.origin(state.x[slot], state.q[slot]);
        }
        let (x, q) = (state.x[slot], state.q[slot]);
        bodies.velocity[2 * slot] = [v.x, v.y, v.z, inv_mass];
        bodies.velocity[2 * slot + 1] = [w.x, w.y, w.z, 0.0];
        bodies.pose[2 * slot] = [x.x, x.y, x.z, 0.0];
        bodies.pose[2 * slot + 1] = q.to_array();
        bodies.inertia[2 * slot] = [0.0; 4];
        bodies.inertia[2 * slot + 1] = [0.0; 4];
    }
    load_nodes(model, state, pool, bodies);
    for (_, body) in model.bodies.iter() {
        if let Body::Nodes(nodes) = body {
            crate::island::soft_body::show_spins(model, nodes, bodies);
        }
    }
}

/// Positions and velocities of nodes with their inverse masses, on all threads.
fn load_nodes(model: &Model, state: &State, pool: &Pool, bodies: &mut BodyWork) {
    let BodyWork { pose, velocity, node_spans, node_owners, active, .. } = bodies;
    let bodies = 2 * model.bodies.slot_count();
    // a pinned node moves with its prescribed velocity; nodes of inactive bodies do not move
    pool.spans(&mut pose[bodies..], node_spans, &|k, to| {
        let (Some(nodes), active) = (model.nodes_at(node_owners[k]), active[node_owners[k] as usize]) else { return };
        for ((to, x), &w) in to.iter_mut().zip(&state.node_x[nodes.span()]).zip(&nodes.inv_mass) {
            *to = [x.x, x.y, x.z, if active { w } else { 0.0 }];
        }
    });
    pool.spans(&mut velocity[bodies..], node_spans, &|k, to| {
        let Some(nodes) = model.nodes_at(node_owners[k]) else { return };
        if !active[node_owners[k] as usize] {
            to.fill([0.0; 4]);
            return;
        }
        for ((to, v), &w) in to.iter_mut().zip(&state.node_v[nodes.span()]).zip(&nodes.inv_mass) {
            *to = [v.x, v.y, v.z, w];
        }
    });
}
