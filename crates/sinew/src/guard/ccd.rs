//! Continuous collision detection at the end of a step: motion that would cross a surface is stopped before it.
//!
//! It runs between the solve and the update of State: every surface has its position at the start of the step (State)
//! and at the end (Work). Pairs of features that may collide in between are followed from one to the other
//! (`collision/continuous/`). Where a pair would collide, its nodes and bodies stop at that time; features that share
//! these nodes then move differently, so the pairs of all stopped points are followed again, until no pair collides. If
//! nothing else helps, everything ends where it began: that is free of crossings because the previous step ended so.
//!
//! *Momentum.* Stopping changes positions, not velocities. The approach velocity of a stopped pair is then removed by
//! an impulse at the contact, equal and opposite on both sides: linear and angular momentum are conserved, the energy
//! of approach is lost as in an inelastic impact.

use crate::collision::continuous::{Keep, Look, edge_edge, vertex_face};
use crate::constraint::response::{ActsOn, merge};
use crate::constraint::{Bounds, Term};
use crate::contact::point;
use crate::deformable::Coordinates;
use crate::guard::time_of_contact::{meeting, resting_depth};
use crate::math::{Block, Real, Vec3, Wide3, narrow, narrow_rotation, put, rigid_pose, vec, widen, widen_rotation};
use crate::model::surface::Share;
use crate::model::{Body, Model, Motion, Nodes};
use crate::settings::Settings;
use crate::solver::pgs;
use crate::state::State;
use crate::tuning::ccd::{HELD_BACK, LOOKS, LOOKS_A_CELL, PUT_BACK_ROUNDS, ROUNDS, SLOWED, SWEEPS};
use crate::tuning::energy_limiter::CHANGE;
use crate::work::{BodyWork, GuardBody, GuardHit, GuardWork, Meeting, Near, OutputWork, SoftWork};

/// Stops motion that would cross a surface. Runs after the last substep.
pub(crate) fn guard(
    model: &Model,
    state: &State,
    bodies: &mut BodyWork,
    soft: &SoftWork,
    guard: &mut GuardWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    if !(settings.intersection_free || settings.stop_at_impact) {
        return;
    }
    place_start(model, state, guard);
    place_end(model, state, bodies, guard);
    let most = budget(guard, settings);
    list_within_budget(model, state, bodies, guard, output, settings, most);
    guard.hits.clear();
    guard.looks = 0;
    guard.unseen.clear();
    let last = if settings.intersection_free { ROUNDS + model.bodies.slot_count() } else { PUT_BACK_ROUNDS };
    let mut rounds = 0;
    // when the limit of evaluations is exceeded, no pair is followed further: from then on bodies keep their initial
    // positions
    while rounds < last && find_cuts(model, bodies, guard, settings, most, rounds >= ROUNDS) {
        apply_cuts(model, state, bodies, guard, output);
        rounds += 1;
        // every round stops one more body, and these rounds are in addition to the previous ones
        rounds = if guard.looks > most { rounds.max(ROUNDS) } else { rounds };
    }
    for (slot, _) in guard.unseen.iter().enumerate().filter(|(_, unseen)| **unseen) {
        slow_down(model, &mut bodies.velocity, slot as u32);
        output.report.counts.held_back += 1;
    }
    output.report.counts.near_features = guard.near.len() as u32;
    output.report.counts.guard_rounds = rounds as u32;
    part(model, bodies, soft, guard);
}

/// Surfaces at the start of the step; bodies that take part in no collision have none.
pub(crate) fn place_start(model: &Model, state: &State, guard: &mut GuardWork) {
    let bodies = &mut guard.bodies;
    bodies.resize_with(model.bodies.slot_count(), || None);
    for (slot, held) in bodies.iter_mut().enumerate() {
        let Some(body) = model.bodies.at(slot as u32).filter(|b| touches(b)) else {
            *held = None;
            continue;
        };
        let stamp = model.surface_stamp(slot as u32);
        if held.as_ref().is_none_or(|h| !h.is_of(stamp)) {
            *held = Some(GuardBody::new(stamp, body));
        }
        let Some(to) = held else { continue };
        match body {
            Body::Rigid(rigid) => {
                to.fixed = rigid.motion == Motion::Fixed;
                let (x, q) = (widen(state.x[slot]), widen_rotation(state.q[slot]));
                to.pivot = crate::collision::continuous::Pivot::new((x, q), (x, q));
                to.start.iter_mut().zip(&to.local).for_each(|(at, local)| *at = x + q * *local);
            }
            Body::Nodes(nodes) => {
                let x = &state.node_x[nodes.span()];
                let at = |s: usize| widen(nodes.surface.position(s as u32, x));
                to.start.iter_mut().enumerate().for_each(|(s, to)| *to = at(s));
            }
        }
        to.end.copy_from_slice(&to.start);
        to.travel.fill(0.0);
        to.fresh.fill(true);
    }
}

fn touches(body: &Body) -> bool {
    match body {
        Body::Rigid(r) => r.colliders.iter().any(|c| !c.sensor),
        Body::Nodes(n) => n.touches(),
    }
}

/// Surfaces at the end of the step, and boxes around their paths.
fn place_end(model: &Model, state: &State, bodies: &mut BodyWork, guard: &mut GuardWork) {
    let pose = &bodies.pose;
    for (slot, body) in guard.bodies.iter_mut().enumerate() {
        let Some(body) = body else { continue };
        follow(model, state, pose, slot, body);
        body.fresh.fill(true);
        body.refit(0.0);
    }
}

/// Sets the end positions of a body from the poses; marks the vertices whose end positions have changed.
fn follow(model: &Model, state: &State, pose: &[Block], slot: usize, body: &mut GuardBody) {
    match model.bodies.at(slot as u32) {
        Some(Body::Rigid(_)) => {
            let (x, q) = (widen(state.x[slot]), widen_rotation(state.q[slot]));
            let (to, turned) = rigid_pose(pose, slot as u32);
            body.pivot = crate::collision::continuous::Pivot::new((x, q), (widen(to), widen_rotation(turned)));
            let pivot = body.pivot;
            let (centre, rotation) = (pivot.centre(1.0), pivot.rotation(1.0));
            for (k, local) in body.local.iter().enumerate() {
                body.end[k] = centre + rotation * *local;
                body.travel[k] = pivot.travel(local.length());
                body.fresh[k] = true;
            }
        }
        Some(Body::Nodes(nodes)) => {
            let first = model.node_block(nodes.start) as usize;
            let x = &pose[first..first + nodes.inv_mass.len()];
            for k in 0..body.end.len() {
                let end = widen(nodes.surface.position(k as u32, x));
                body.fresh[k] |= end != body.end[k];
                body.end[k] = end;
                body.travel[k] = (end - body.start[k]).length();
            }
        }
        None => {}
    }
}

/// True for two bodies that collide with each other.
pub(crate) fn may_meet(model: &Model, state: &State, a: u32, b: u32) -> bool {
    let free = |slot: u32| match model.bodies.at(slot) {
        Some(Body::Rigid(r)) => r.motion == Motion::Dynamic,
        Some(Body::Nodes(_)) => true,
        None => false,
    };
    let held = |slot: u32| !free(slot) || state.is_frozen(slot as usize);
    let nodes = model.nodes_at(a).zip(model.nodes_at(b));
    !(held(a) && held(b)) && nodes.is_none_or(|(a, b)| a.meets(b)) && !model.collision_excluded(a, b)
}

/// True when the collision groups of the cells' colliders allow contact.
pub(crate) fn groups_meet(model: &Model, (a, cell_a): (u32, Option<u32>), (b, cell_b): (u32, Option<u32>)) -> bool {
    let group = |slot: u32, collider: Option<u32>| match model.bodies.at(slot)? {
        Body::Rigid(r) => r.colliders.get(collider? as usize).map(|c| c.groups),
        Body::Nodes(n) => Some(n.traits.groups),
    };
    matches!((group(a, cell_a), group(b, cell_b)), (Some(x), Some(y)) if x.meets(y))
}

/// Limit of the cost of listing and following in this step.
fn budget(guard: &GuardWork, settings: &Settings) -> usize {
    let cells: usize = guard.bodies.iter().flatten().map(|b| b.cells.corners.len()).sum();
    if settings.intersection_free { LOOKS + LOOKS_A_CELL * cells } else { usize::MAX }
}

/// Lists the pairs of features that may collide within the step. Where they are too many, the two bodies keep their
/// initial positions: that needs no proof except against their neighbours, whose paths are followed as usual.
fn list_within_budget(
    model: &Model,
    state: &State,
    bodies: &mut BodyWork,
    guard: &mut GuardWork,
    output: &mut OutputWork,
    settings: &Settings,
    most: usize,
) {
    for _ in 0..HELD_BACK {
        let Some((a, b)) = list(model, state, guard, settings, most) else { return };
        hold_back(model, state, bodies, guard, output, a);
        hold_back(model, state, bodies, guard, output, b);
    }
    if list(model, state, guard, settings, most).is_some() {
        (0..guard.bodies.len() as u32).for_each(|slot| hold_back(model, state, bodies, guard, output, slot));
        guard.near.clear();
    }
}

/// Resets a body to its pose at the start of the step, and reduces its velocity.
fn hold_back(
    model: &Model,
    state: &State,
    bodies: &mut BodyWork,
    guard: &mut GuardWork,
    output: &mut OutputWork,
    slot: u32,
) {
    let report = &mut output.report;
    let Some(body) = guard.bodies[slot as usize].as_mut().filter(|b| !b.is_still()) else { return };
    let i = slot as usize;
    match model.bodies.at(slot) {
        Some(Body::Rigid(_)) => {
            bodies.put_rigid(model, i, state.x[i], state.q[i]);
            bodies.x_remainder[i] = state.x_remainder[i];
        }
        Some(Body::Nodes(nodes)) => {
            let first = model.node_block(nodes.start) as usize;
            for (n, at) in nodes.span().zip(&mut bodies.pose[first..]) {
                let x = state.node_x[n];
                put(at, x);
            }
        }
        None => return,
    }
    slow_down(model, &mut bodies.velocity, slot);
    follow(model, state, &bodies.pose, i, body);
    body.refit(0.0);
    report.counts.held_back += 1;
}

/// Reduces the velocity of a body that keeps its initial position.
fn slow_down(model: &Model, velocity: &mut [Block], slot: u32) {
    let blocks = match model.bodies.at(slot) {
        Some(Body::Rigid(_)) => 2 * slot as usize..2 * slot as usize + 2,
        Some(Body::Nodes(nodes)) => {
            let first = model.node_block(nodes.start) as usize;
            first..first + nodes.inv_mass.len()
        }
        None => return,
    };
    for v in &mut velocity[blocks] {
        *v = [v[0] * SLOWED, v[1] * SLOWED, v[2] * SLOWED, v[3]];
    }
}

/// All pairs of features that may collide within the step, into `near`; or the two bodies with which their number
/// exceeds `most`.
fn list(model: &Model, state: &State, guard: &mut GuardWork, settings: &Settings, most: usize) -> Option<(u32, u32)> {
    let GuardWork { bodies, cell_pairs, near, .. } = guard;
    near.clear();
    for a in 0..bodies.len() as u32 {
        let Some(body_a) = &bodies[a as usize] else { continue };
        for b in a..bodies.len() as u32 {
            let Some(body_b) = &bodies[b as usize] else { continue };
            let own = a == b;
            if own && !body_a.is_nodes() || body_a.is_still() && body_b.is_still() || !may_meet(model, state, a, b) {
                continue;
            }
            if own && !(settings.intersection_free || model.nodes_at(a).is_some_and(|n| n.traits.self_contact)) {
                continue;
            }
            list_planes(model, (a, body_a), (b, body_b), near, settings);
            list_planes(model, (b, body_b), (a, body_a), near, settings);
            let (Some(tree_a), Some(tree_b)) = (&body_a.tree, &body_b.tree) else { continue };
            if own {
                tree_a.own_pairs(cell_pairs);
            } else if tree_a.bounds().zip(tree_b.bounds()).is_some_and(|(x, y)| x.meets(&y)) {
                tree_a.pairs(tree_b, cell_pairs);
            } else {
                continue;
            }
            for &(cell_a, cell_b) in cell_pairs.iter() {
                let collider = |body: &GuardBody, cell: u32| body.collider.get(cell as usize).copied();
                if groups_meet(model, (a, collider(body_a, cell_a)), (b, collider(body_b, cell_b))) {
                    features((a, body_a, cell_a), (b, body_b, cell_b), &mut |pair| {
                        near.extend(within_reach(bodies, pair, settings));
                    });
                }
                if near.len() > most {
                    return Some((a, b));
                }
            }
        }
    }
    None
}

/// Pairs of vertices of a and planes of b.
fn list_planes(
    model: &Model,
    (a, body_a): (u32, &GuardBody),
    (b, body_b): (u32, &GuardBody),
    near: &mut Vec<Near>,
    settings: &Settings,
) {
    for (number, plane) in body_b.planes.iter().enumerate() {
        for (cell, owned) in body_a.cells.owned.iter().enumerate() {
            let collider = body_a.collider.get(cell).copied();
            if !groups_meet(model, (a, collider), (b, Some(plane.collider))) {
                continue;
            }
            for &vertex in owned.vertices.iter().filter(|v| **v != crate::model::surface::NONE) {
                let pair = Near { a, b, kind: Meeting::VertexPlane, corners: [vertex, number as u32, 0, 0] };
                let now = look_plane(&pair, body_a, body_b, 0.0);
                let keep = keep(&pair, body_a, body_b, settings);
                let travel =
                    body_a.travel[vertex as usize] + body_b.pivot.travel((now.at - widen_centre(body_b)).length());
                if now.look.width - keep.least(now.look.width) <= travel {
                    near.push(pair);
                }
            }
        }
    }
}

fn widen_centre(body: &GuardBody) -> Wide3 {
    body.pivot.x
}

/// All pairs of features that two cells own.
pub(crate) fn features(
    (a, body_a, cell_a): (u32, &GuardBody, u32),
    (b, body_b, cell_b): (u32, &GuardBody, u32),
    found: &mut dyn FnMut(Near),
) {
    const NONE: u32 = crate::model::surface::NONE;
    let (own_a, own_b) = (body_a.cells.owned[cell_a as usize], body_b.cells.owned[cell_b as usize]);
    let (face_a, face_b) = (body_a.cells.is_triangle(cell_a), body_b.cells.is_triangle(cell_b));
    let mut vertex_face = |(p, vertices): (u32, [u32; 3]), (f, corners): (u32, [u32; 3])| {
        for &v in vertices.iter().filter(|v| **v != NONE) {
            if p != f || !corners.contains(&v) {
                let corners = [v, corners[0], corners[1], corners[2]];
                found(Near { a: p, b: f, kind: Meeting::VertexFace, corners });
            }
        }
    };
    if face_b {
        vertex_face((a, own_a.vertices), (b, body_b.cells.corners[cell_b as usize]));
    }
    if face_a {
        vertex_face((b, own_b.vertices), (a, body_a.cells.corners[cell_a as usize]));
    }
    for &edge_a in own_a.edges.iter().filter(|e| **e != NONE) {
        for &edge_b in own_b.edges.iter().filter(|e| **e != NONE) {
            let ([p, q], [r, s]) = (body_a.cells.edges[edge_a as usize], body_b.cells.edges[edge_b as usize]);
            let shared = a == b && (p == r || p == s || q == r || q == s);
            // a point cell collides with a triangle as a vertex
            let covered = p == q && face_b || r == s && face_a;
            if !shared && !covered {
                found(Near { a, b, kind: Meeting::EdgeEdge, corners: [p, q, r, s] });
            }
        }
    }
}

/// The pair, if it can collide wherever its points stop on their paths.
fn within_reach(bodies: &[Option<GuardBody>], pair: Near, settings: &Settings) -> Option<Near> {
    let (a, b) = (bodies[pair.a as usize].as_ref()?, bodies[pair.b as usize].as_ref()?);
    let width = look(&pair, a, b, 0.0).width;
    let most = |body: &GuardBody, corners: &[u32]| corners.iter().map(|&k| body.travel[k as usize]).fold(0.0, f64::max);
    let travel = most(a, &pair.corners[..pair.split()]) + most(b, &pair.corners[pair.split()..]);
    (width - keep(&pair, a, b, settings).least(width) <= travel).then_some(pair)
}

/// The minimum gaps of a pair.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(crate) fn keep(pair: &Near, a: &GuardBody, b: &GuardBody, settings: &Settings) -> Keep {
    let most = |body: &GuardBody, corners: &[u32]| corners.iter().map(|&k| body.radii[k as usize]).fold(0.0, f64::max);
    let on_b = if pair.kind == Meeting::VertexPlane { 0.0 } else { most(b, &pair.corners[pair.split()..]) };
    let touch = most(a, &pair.corners[..pair.split()]) + on_b;
    // several times the resolution of State at this distance from the origin; a fixed body has no rounding error, even
    // a corner of the ground a hundred metres away
    let first_of_b = (pair.kind != Meeting::VertexPlane).then(|| pair.corners[pair.split()]);
    let from = |body: &GuardBody, corner: u32| {
        let x = body.start[corner as usize];
        if body.fixed { 0.0 } else { x.abs().max_element() }
    };
    let far = from(a, pair.corners[0]).max(first_of_b.map_or(0.0, |corner| from(b, corner))) + touch;
    // single precision in both builds: gaps of the size of double rounding errors allowed features to pass each other
    let floor = 16.0 * f64::from(f32::EPSILON) * far.max(1e-3);
    Keep { touch, gap: settings.minimum_gap as f64, floor }
}

/// Distance and approach velocity of a pair at time t.
pub(crate) fn look(pair: &Near, a: &GuardBody, b: &GuardBody, t: f64) -> Look {
    if pair.kind == Meeting::VertexPlane {
        return look_plane(pair, a, b, t).look;
    }
    let split = pair.split();
    let tracks: [_; 4] = std::array::from_fn(|k| if k < split { a } else { b }.track(pair.corners[k]).at(t));
    let x = tracks.map(|(x, ..)| x);
    let slab = if pair.kind == Meeting::EdgeEdge { edge_edge(&x) } else { vertex_face(&x) };
    let along = |k: usize| slab.normal.dot(tracks[k].1);
    let bend = |range: std::ops::Range<usize>| range.map(|k| tracks[k].2).fold(0.0, f64::max);
    let toward = (0..split).map(along).fold(f64::NEG_INFINITY, f64::max);
    let away = (split..4).map(along).fold(f64::INFINITY, f64::min);
    Look {
        width: slab.width,
        closing: toward - away,
        bend: bend(0..split) + bend(split..4),
        normal: slab.normal,
        weights: slab.weights,
    }
}

struct PlaneLook {
    look: Look,
    /// Position of the vertex [m].
    at: Wide3,
}

/// A vertex p above a plane through x with normal n: d = n·(p − x), d' = n·(p' − x') + (ω × n)·(p − x).
fn look_plane(pair: &Near, a: &GuardBody, b: &GuardBody, t: f64) -> PlaneLook {
    let plane = &b.planes[pair.corners[1] as usize];
    let (p, v, bend) = a.track(pair.corners[0]).at(t);
    let (rotation, spin) = (b.pivot.rotation(t), b.pivot.spin(t));
    let (n, arm) = (rotation * plane.normal, rotation * plane.point);
    let apart = p - (b.pivot.centre(t) + arm);
    let closing = -(n.dot(v - b.pivot.way - spin.cross(arm)) + spin.cross(n).dot(apart));
    // of a rotating plane: bound on the change of n over the remaining motion
    let reach = apart.length() + a.travel[pair.corners[0] as usize] + b.pivot.travel(arm.length());
    let turning = if spin == Wide3::ZERO { 0.0 } else { b.pivot.bend(reach) + 4.0 * spin.length() * reach };
    let look = Look { width: n.dot(apart), closing, bend: bend + turning, normal: -n, weights: [1.0, 1.0, 0.0, 0.0] };
    PlaneLook { look, at: p }
}

/// Follows all pairs with a vertex whose end position has changed; stores the time at which each block stops. True when
/// any block is stopped. Beyond `most` evaluations no pair is followed: two bodies of which one moves keep their
/// initial positions.
fn find_cuts(
    model: &Model,
    bodies: &BodyWork,
    guard: &mut GuardWork,
    settings: &Settings,
    most: usize,
    last: bool,
) -> bool {
    let pose = &bodies.pose;
    let GuardWork { bodies, near, hits, cut, cut_bodies, looks, unseen, .. } = guard;
    cut.clear();
    cut.resize(pose.len(), 1.0);
    cut_bodies.clear();
    cut_bodies.resize(bodies.len(), false);
    unseen.resize(bodies.len(), false);
    let mut any = false;
    for pair in near.iter() {
        let (Some(a), Some(b)) = (&bodies[pair.a as usize], &bodies[pair.b as usize]) else { continue };
        if !is_fresh(pair, a, b) {
            continue;
        }
        let seen = *looks <= most;
        let (time, last) = if seen {
            let depth = if settings.intersection_free { 0.0 } else { resting_depth(model, pair, settings) };
            let Some((time, look)) = meeting(pair, a, b, settings, depth, looks) else { continue };
            hits.push(hit(pair, a, b, time, &look));
            (if last { 0.0 } else { time }, last)
        } else {
            if a.is_still() && b.is_still() {
                continue;
            }
            (unseen[pair.a as usize], unseen[pair.b as usize]) = (true, true);
            (0.0, true)
        };
        any = true;
        for (k, &vertex) in pair.corners[..pair.count()].iter().enumerate() {
            let slot = if k < pair.split() { pair.a } else { pair.b };
            stop(model, slot, vertex, time, last, cut);
            cut_bodies[slot as usize] = true;
        }
        if pair.kind == Meeting::VertexPlane {
            stop(model, pair.b, 0, time, last, cut);
            cut_bodies[pair.b as usize] = true;
        }
    }
    bodies.iter_mut().flatten().for_each(|b| b.fresh.fill(false));
    any
}

fn is_fresh(pair: &Near, a: &GuardBody, b: &GuardBody) -> bool {
    let corners = &pair.corners[..pair.count()];
    let (on_a, on_b) = corners.split_at(pair.split());
    let moved_plane = pair.kind == Meeting::VertexPlane && b.fresh.first().copied().unwrap_or(!b.pivot.is_still());
    on_a.iter().any(|&k| a.fresh[k as usize]) || on_b.iter().any(|&k| b.fresh[k as usize]) || moved_plane
}

fn hit(pair: &Near, a: &GuardBody, b: &GuardBody, time: f64, look: &Look) -> GuardHit {
    let weights = look.weights;
    let side = |body: &GuardBody, range: std::ops::Range<usize>| {
        range.fold(Wide3::ZERO, |sum, k| sum + body.track(pair.corners[k]).at(time).0 * weights[k])
    };
    let on_a = side(a, 0..pair.split());
    let on_b = if pair.kind == Meeting::VertexPlane { on_a } else { side(b, pair.split()..4) };
    GuardHit {
        near: *pair,
        normal: narrow(look.normal),
        weights: weights.map(|w| w as Real),
        at: narrow((on_a + on_b) * 0.5),
    }
}

/// Limits the motion of the blocks of a vertex to `time`; with `whole`, that of all blocks of its body.
fn stop(model: &Model, slot: u32, vertex: u32, time: f64, whole: bool, cut: &mut [f64]) {
    match model.bodies.at(slot) {
        Some(Body::Rigid(_)) => cut[2 * slot as usize] = cut[2 * slot as usize].min(time),
        Some(Body::Nodes(nodes)) => {
            let first = model.node_block(nodes.start) as usize;
            if whole {
                cut[first..first + nodes.inv_mass.len()].fill(time);
            }
            for share in nodes.surface.shares(vertex) {
                let at = &mut cut[first + share.node as usize];
                *at = at.min(time);
            }
        }
        None => {}
    }
}

/// Shortens the displacements of all blocks that were stopped.
fn apply_cuts(model: &Model, state: &State, bodies: &mut BodyWork, guard: &mut GuardWork, output: &mut OutputWork) {
    let report = &mut output.report;
    for slot in 0..guard.bodies.len() {
        if !guard.cut_bodies[slot] {
            continue;
        }
        let Some(body) = &mut guard.bodies[slot] else { continue };
        match model.bodies.at(slot as u32) {
            Some(Body::Rigid(_)) => {
                let time = guard.cut[2 * slot];
                if time >= 1.0 || body.pivot.is_still() {
                    continue;
                }
                let (x, q) = if time > 0.0 {
                    (narrow(body.pivot.centre(time)), narrow_rotation(body.pivot.rotation(time)))
                } else {
                    (state.x[slot], state.q[slot])
                };
                bodies.put_rigid(model, slot, x, q);
                bodies.x_remainder[slot] = Vec3::ZERO;
                report.counts.stopped += 1;
            }
            Some(Body::Nodes(nodes)) => {
                let first = model.node_block(nodes.start) as usize;
                let blocks = first..first + nodes.inv_mass.len();
                let most =
                    time_of_all(nodes, &state.node_x[nodes.span()], &bodies.pose[blocks.clone()], &guard.cut[blocks]);
                for n in nodes.span() {
                    let block = model.node_block(n as u32) as usize;
                    let time = guard.cut[block].min(most);
                    if time < 1.0 {
                        let (from, at) = (widen(state.node_x[n]), &mut bodies.pose[block]);
                        let to = narrow(from.lerp(widen(vec(*at)), time));
                        put(at, to);
                        report.counts.stopped += 1;
                    }
                }
            }
            None => continue,
        }
        follow(model, state, &bodies.pose, slot, body);
    }
}

/// The time until which all nodes of a body may move when some are stopped: no node may move away from its neighbours
/// by more than a fraction of the shortest edge. A soft body whose interior moved on by 0.2 m while its front was
/// stopped had the corresponding strain energy in the next step, and accelerated everything in contact with it.
fn time_of_all(nodes: &Nodes, from: &[Vec3], to: &[Block], cut: &[f64]) -> f64 {
    let first = cut.iter().fold(1.0, |least: f64, time| least.min(*time));
    let way = from.iter().zip(to).fold(0.0, |most: Real, (x, end)| most.max((vec(*end) - *x).length_squared())).sqrt();
    // displacements of particles without edges are independent
    if first >= 1.0 || nodes.shortest <= 0.0 || way <= CHANGE * nodes.shortest {
        return 1.0;
    }
    first + widen(Vec3::splat(CHANGE * nodes.shortest / way)).x
}

/// Removes the approach velocity of stopped pairs: an inelastic impact at each contact.
fn part(model: &Model, bodies: &mut BodyWork, soft: &SoftWork, guard: &mut GuardWork) {
    if guard.hits.is_empty() {
        return;
    }
    // at the poses in which the bodies were stopped: an inverse inertia of another orientation makes energy out of
    // impulses (a needle of 50 g had 5 kJ)
    for slot in guard.hits.iter().flat_map(|hit| [hit.near.a, hit.near.b]) {
        if bodies.active[slot as usize] {
            bodies.turn_inertia(model, &[slot]);
        }
    }
    let mut rows = std::mem::take(&mut guard.rows);
    let mut terms = std::mem::take(&mut guard.terms);
    rows.clear();
    for hit in &guard.hits {
        terms.clear();
        let split = hit.near.split();
        side_terms(model, bodies, soft, hit, (hit.near.b, split..4), 1.0, &mut terms);
        side_terms(model, bodies, soft, hit, (hit.near.a, 0..split), -1.0, &mut terms);
        rows.push(&terms, 0.0, 0.0, 0.0, Bounds::AtLeast(0.0));
    }
    for _ in 0..SWEEPS {
        pgs::sweep(&mut rows, &mut bodies.velocity, pgs::Pass::Correct);
    }
    guard.rows = rows;
    guard.terms = terms;
}

/// Terms of one side of a contact: of the rigid body, or of the nodes that its corners follow.
fn side_terms(
    model: &Model,
    bodies: &BodyWork,
    soft: &SoftWork,
    hit: &GuardHit,
    (slot, range): (u32, std::ops::Range<usize>),
    sign: Real,
    out: &mut Vec<Term>,
) {
    let axis = hit.normal * sign;
    let Some(nodes) = model.nodes_at(slot) else {
        point::rigid_terms(bodies, slot, axis, hit.at, out);
        return;
    };
    let models = bodies.models(soft);
    for k in range {
        for share in nodes.surface.shares(hit.near.corners[k]) {
            if nodes.coordinates == Coordinates::Own {
                let shares = [Share { node: share.node, weight: share.weight * hit.weights[k] }];
                let on = ActsOn { slot, nodes, shares: &shares, at: hit.at };
                models.terms(model, on, axis, |term| merge(out, term));
                continue;
            }
            let block = model.node_block(nodes.start + share.node);
            let jacobian = axis * (share.weight * hit.weights[k]);
            merge(out, Term { block, jacobian, response: jacobian * models.velocity[block as usize][3] });
        }
    }
}
