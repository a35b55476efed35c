//! Contacts by a classic method (`Settings::contact_method`) instead of rows.
//!
//! ```text
//! detect     pairs handled by the method become contacts with the flag CLASSIC; rows ignore them
//! push       before predict, penalty: an integration of the substep (`classic::meet`) gives the mean force, which is
//!            applied as a force: v' = (v + h (g + (f + f̄)/m)) / (1 + c h)
//! hit        after solve, impulse: velocities change at once, then particles and bodies are projected to the surface
//! follow     after advance, penalty: the end of the integration differs from x + h v' by a known displacement, which
//!            is added. A barrier is not crossed then either: a displacement through it by damping or rows is shortened
//! report     mean forces over the step, as those of rows
//! ```
//! Source: RC, through `classic`. The other side of the pair is fixed or kinematic, so there is no reaction on it.
//!
//! Soft bodies keep their rows. A body or particle that shares an implicit island with one is handled there, in the
//! substeps of that island.
//!
//! State keeps only key and flags of such a contact: the methods have no history.

use crate::classic::meet::{Meeting, Pull, Push, Strike, fly, hold_back, put_back, strike};
use crate::classic::{Body, Bounce, Penalty};
use crate::collision::Sdf;
use crate::contact::readout::PointImpulse;
use crate::contact::route::BodyRoute;
use crate::math::{Block, Pose, Real, Sym3, Vec3, put, quat, vec};
use crate::model::{BuiltCollider, Model, Motion, PairRules, Rigid, SurfaceMaterial};
use crate::report::{Fault, FaultKind, Phase};
use crate::settings::{ContactMethod, Settings};
use crate::state::{ContactKey, ContactMemory, State, contact_flag, flag};
use crate::work::{
    BodyWork, ClassicWork, ContactWork, Encounter, Instant, Mover, OutputWork, Setup, SubstepContext, SubstepHook,
};
use bytemuck::Zeroable;

/// A particle as probes: its radius is added to this one.
const POINT: [(Vec3, Real); 1] = [(Vec3::ZERO, 0.0)];
/// An empty union: infinitely far from everywhere.
static NOWHERE: Sdf = Sdf::Union(Vec::new());

/// One collider of a pair.
#[derive(Clone, Copy)]
struct Side<'m> {
    slot: u32,
    rigid: &'m Rigid,
    collider: &'m BuiltCollider,
}

/// The two sides of a contact: the dynamic one (none for a particle), and the surface. None when neither or both are
/// dynamic, or when the body is soft.
fn sides<'m>(model: &'m Model, key: &ContactKey) -> Option<(Option<Side<'m>>, Side<'m>)> {
    let side = |slot: u32, collider: u32| {
        let rigid = model.rigid_at(slot)?;
        Some(Side { slot, rigid, collider: rigid.colliders.get(collider as usize)? })
    };
    let a = side(key.a, key.collider_a)?;
    if let Some(nodes) = model.nodes_at(key.b) {
        return (!nodes.is_soft() && !a.rigid.is_dynamic()).then_some((None, a));
    }
    let b = side(key.b, key.collider_b)?;
    match (a.rigid.is_dynamic(), b.rigid.is_dynamic()) {
        (true, false) => Some((Some(a), b)),
        (false, true) => Some((Some(b), a)),
        _ => None,
    }
}

/// True when this pair is handled by the method, and not by rows.
pub(crate) fn takes(settings: &Settings, model: &Model, key: &ContactKey) -> bool {
    if settings.contact_method == ContactMethod::Rows {
        return false;
    }
    sides(model, key).is_some_and(|(body, surface)| {
        surface.collider.field.is_some() && body.is_none_or(|b| !b.collider.geometry.probes().is_empty())
    })
}

/// Search distance of the method beyond the tight bounding box of a body [m]; 0 for rows.
pub(crate) fn look_ahead(settings: &Settings, rigid: &Rigid, state: &State, slot: usize) -> Real {
    if settings.contact_method == ContactMethod::Rows {
        return 0.0;
    }
    settings.contact_method.buffer() + travel(settings, rigid, state, slot)
}

/// Maximum displacement of a point of a body within the step [m], for points at most its radius from its centre.
fn travel(settings: &Settings, rigid: &Rigid, state: &State, slot: usize) -> Real {
    if rigid.motion == Motion::Fixed {
        return 0.0;
    }
    let fall = settings.gravity.length() * rigid.gravity_scale.abs() * settings.dt;
    settings.dt * (state.v[slot].length() + state.w[slot].length() * rigid.radius + fall)
}

/// True when contact of a pair of rigid bodies is possible within the step.
pub(crate) fn is_near(settings: &Settings, model: &Model, state: &State, key: &ContactKey) -> bool {
    let Some((Some(body), surface)) = sides(model, key) else { return false };
    let (i, j) = (body.slot as usize, surface.slot as usize);
    let pose = |slot: usize| Pose::new(state.x[slot], state.q[slot]);
    // an unbounded surface rotates about its own centre, at any distance
    let swing = state.w[j].length() * (state.x[i] - state.x[j]).length() * settings.dt;
    let reach = travel(settings, body.rigid, state, i) + travel(settings, surface.rigid, state, j) + swing;
    let gap = before_surface(&body, &surface, &pose(j)).gap(&pose(i));
    gap < settings.contact_method.buffer() + settings.contact_margin + reach
}

/// True when contact of a particle at `x` with a surface is possible within the search distance `reach` [m].
pub(crate) fn is_node_near(model: &Model, key: &ContactKey, placed: &Pose, x: Vec3, reach: Real) -> bool {
    let Some((None, surface)) = sides(model, key) else { return false };
    let radius = model.nodes_at(key.b).map_or(0.0, |n| n.traits.radius);
    surface.collider.field.as_ref().is_some_and(|f| f.sample(placed.unpoint(x)).distance - radius < reach)
}

/// A contact handled by the method, with the flags of the previous step.
pub(crate) fn memory(state: &State, key: ContactKey) -> ContactMemory {
    let old = state.contacts.binary_search_by_key(&key, |m| m.key).map_or(0, |i| state.contacts[i].flags);
    let flags = contact_flag::CLASSIC | (old & (contact_flag::TOUCHING | contact_flag::ABOVE_THRESHOLD));
    ContactMemory { key, count: 1, flags, ..ContactMemory::zeroed() }
}

/// Lists the bodies and particles handled by the method in this step.
pub(crate) fn gather(model: &Model, bodies: &BodyWork, contact: &mut ContactWork) {
    let ContactWork { classic, contacts, any_flags, .. } = contact;
    let BodyWork { active, velocity, .. } = bodies;
    let ClassicWork { movers, encounters, pushes, refused, .. } = classic;
    movers.clear();
    encounters.clear();
    refused.clear();
    let who = |key: &ContactKey| match sides(model, key)? {
        (Some(body), _) => Some((body.slot, None, 2 * body.slot)),
        (None, _) => {
            let nodes = model.nodes_at(key.b).filter(|n| (key.sub_b as usize) < n.inv_mass.len())?;
            let node = nodes.start + key.sub_b;
            Some((key.b, Some(node), model.node_block(node)))
        }
    };
    let some = if *any_flags & contact_flag::CLASSIC != 0 { &contacts[..] } else { &[] };
    for (index, m) in some.iter().enumerate().filter(|(_, m)| m.has(contact_flag::CLASSIC)) {
        let Some((slot, _, block)) = who(&m.key) else { continue };
        if active[slot as usize] && velocity[block as usize][3] > 0.0 {
            encounters.push(Encounter { block, manifold: index as u32 });
        }
    }
    encounters.sort_unstable_by_key(|t| (t.block, t.manifold));
    pushes.clear();
    pushes.resize(encounters.len(), Push::default());
    for (i, touch) in encounters.iter().enumerate() {
        let at = i as u32;
        match movers.last_mut() {
            Some(mover) if mover.block == touch.block => mover.end = at + 1,
            _ => {
                let Some((slot, node, block)) = who(&contacts[touch.manifold as usize].key) else { continue };
                let (input, from) = ([Vec3::ZERO; 2], Pose::IDENTITY);
                movers.push(Mover { block, slot, node, start: at, end: at + 1, input, from, flight: None });
            }
        }
    }
}

/// What the method does in a substep; none when it has no contacts.
pub(crate) fn substep_hook(contact: &ContactWork) -> Option<SubstepHook> {
    (!contact.classic.movers.is_empty()).then_some(act as SubstepHook)
}

fn act(
    instant: Instant,
    ctx: &SubstepContext,
    setup: &Setup<'_>,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    route: BodyRoute,
) {
    let Setup { model, settings, .. } = *setup;
    match instant {
        Instant::BeforePredict => push(ctx, model, bodies, contact, settings, route),
        Instant::AfterSolve => hit(ctx, model, bodies, contact, settings, route),
        Instant::AfterAdvance => follow(ctx, model, bodies, contact, settings, route),
    }
}

/// Penalty: the mean force of the substep is added to the input forces, which `predict` reads.
fn push(
    ctx: &SubstepContext,
    model: &Model,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    settings: &Settings,
    route: BodyRoute,
) {
    let ContactMethod::Penalty(law) = settings.contact_method else { return };
    let ContactWork { classic, contacts, .. } = contact;
    let BodyWork { body_routes, velocity, pose, force, node_force, .. } = bodies;
    let ClassicWork { movers, encounters, pushes, refused, .. } = classic;
    for mover in movers.iter_mut().filter(|m| body_routes[m.slot as usize] == route) {
        let body = body_of(model, mover, pose, velocity);
        let (input, gravity_scale) = match mover.node {
            Some(n) => {
                ([node_force[n as usize], Vec3::ZERO], model.nodes_at(mover.slot).map(|n| n.traits.gravity_scale))
            }
            None => (force[mover.slot as usize], model.rigid_at(mover.slot).map(|r| r.gravity_scale)),
        };
        let gravity = settings.gravity * gravity_scale.unwrap_or(1.0);
        let pull = Pull { acceleration: gravity + input[0] * body.inv_mass, torque: input[1], h: ctx.h };
        let range = mover.start as usize..mover.end as usize;
        let meet = |k: usize| meeting(model, &contacts[encounters[range.start + k].manifold as usize], pose, velocity);
        let out = &mut pushes[range.clone()];
        (mover.input, mover.from, mover.flight) = (input, body.pose, None);
        out.iter_mut().for_each(|p| p.gap = Real::INFINITY);
        let flown = match fly(&law, &body, &pull, &meet, out) {
            Ok(Some(flown)) => flown,
            Ok(None) => continue,
            Err(_) => {
                refused.push(mover.slot);
                continue;
            }
        };
        mover.flight = Some((flown.way, flown.turn));
        let mean = [input[0] + flown.impulse / ctx.h, input[1] + flown.twist / ctx.h];
        match mover.node {
            Some(n) => node_force[n as usize] = mean[0],
            None => force[mover.slot as usize] = mean,
        }
    }
}

/// Impulse: removes approach velocities, and projects out the overlap.
fn hit(
    ctx: &SubstepContext,
    model: &Model,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    settings: &Settings,
    route: BodyRoute,
) {
    if settings.contact_method != ContactMethod::Impulse {
        return;
    }
    let ContactWork { classic, contacts, .. } = contact;
    let BodyWork { body_routes, velocity, position_velocity, pose, .. } = bodies;
    let ClassicWork { movers, encounters, pushes, spare, .. } = classic;
    for mover in movers.iter().filter(|m| body_routes[m.slot as usize] == route) {
        let range = mover.start as usize..mover.end as usize;
        let mut body = body_of(model, mover, pose, velocity);
        let carried = body_of(model, mover, pose, position_velocity);
        // a corner that was lifted by less than gravity falls within two substeps is still in contact: else boxes rock
        // indefinitely
        let fall = 2.0 * settings.gravity.length() * ctx.h * ctx.h;
        let slop = settings.contact_slop * half_width(model, mover) + fall;
        let meet = |k: usize| {
            let m = &contacts[encounters[range.start + k].manifold as usize];
            let material = material_of(model, &settings.pairs, m);
            let bounce = Bounce { restitution: material.restitution, friction: material.kinetic_friction };
            let law = Strike { bounce, least_speed: ctx.contact.restitution_speed, slop, h: ctx.h };
            (meeting(model, m, pose, velocity), law)
        };
        let out = &mut pushes[range.clone()];
        out.iter_mut().for_each(|p| p.gap = Real::INFINITY);
        let same = (carried.velocity, carried.spin) == (body.velocity, body.spin);
        strike(&mut body, &meet, out);
        // positions advance with separate velocities where rows corrected them
        let mut moved = if same { body } else { carried };
        if !same {
            spare.clear();
            spare.resize(range.len(), Push::default());
            strike(&mut moved, &meet, spare);
        }
        // a particle has no lever arms, so a shift causes no rotation: it is projected at once. A body shifted by its
        // deepest corner lifts the others, so a remainder of its overlap is left
        let particle = mover.node.is_some();
        let (leave, most) = if particle { (0.0, Real::INFINITY) } else { (slop, settings.push_speed * ctx.h) };
        put_back(&mut moved, &meet, range.len(), leave, most);
        store(mover, &body, velocity);
        store(mover, &moved, position_velocity);
        put(&mut pose[mover.block as usize], moved.pose.position);
    }
}

/// Penalty: applies the end of the integration, and prevents crossing of a barrier.
fn follow(
    ctx: &SubstepContext,
    model: &Model,
    bodies: &mut BodyWork,
    contact: &ContactWork,
    settings: &Settings,
    route: BodyRoute,
) {
    let ContactMethod::Penalty(law) = settings.contact_method else { return };
    let ContactWork { classic, contacts, .. } = contact;
    let BodyWork { body_routes, velocity, pose, force, node_force, .. } = bodies;
    let ClassicWork { movers, encounters, .. } = classic;
    for mover in movers.iter().filter(|m| body_routes[m.slot as usize] == route) {
        let Some((way, turn)) = mover.flight else { continue };
        match mover.node {
            Some(n) => node_force[n as usize] = mover.input[0],
            None => force[mover.slot as usize] = mover.input,
        }
        let mut end = body_of(model, mover, pose, velocity).pose;
        end.position += way;
        if mover.node.is_none() {
            end.rotation = (turn * end.rotation).normalize();
        }
        if matches!(law, Penalty::LogBarrier { .. }) {
            let count = (mover.end - mover.start) as usize;
            let at = |k: usize| &contacts[encounters[mover.start as usize + k].manifold as usize];
            let now = |k: usize| meeting(model, at(k), pose, velocity);
            let before = |k: usize| now(k).earlier(ctx.h);
            end = hold_back(&mover.from, &end, &before, &now, count);
        }
        put(&mut pose[mover.block as usize], end.position);
        if mover.node.is_none() {
            pose[mover.block as usize + 1] = end.rotation.to_array();
        }
    }
}

/// Mean forces into the report, contact flags, and bodies that the method could not integrate.
pub(crate) fn report(
    model: &Model,
    state: &mut State,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    output: &mut OutputWork,
) {
    let ContactWork { classic, contacts, .. } = contact;
    let OutputWork { readout, report, .. } = output;
    let BodyWork { active, good, .. } = bodies;
    for (touch, push) in classic.encounters.iter().zip(&classic.pushes) {
        let m = &mut contacts[touch.manifold as usize];
        // the report has the force on b, with a normal from a to b
        let sign = if model.nodes_at(m.key.b).is_some() || touch.block == 2 * m.key.b { 1.0 } else { -1.0 };
        readout.add(touch.manifold, 0, PointImpulse { impulse: push.impulse * sign, normal: push.normal });
        readout.locate(touch.manifold, 0, push.point, push.direction * sign, push.gap);
        readout.mark_touching(touch.manifold, m);
        let touching = push.normal > 0.0;
        report.penetration = report.penetration.max(-push.gap);
        report.counts.manifolds += u32::from(touching);
        report.counts.contacts += u32::from(touching);
    }
    classic.refused.sort_unstable();
    classic.refused.dedup();
    for &slot in &classic.refused {
        let (i, what) = (slot as usize, FaultKind::ContactRefused);
        report.faults.push(Fault { body: model.body_id(slot), phase: Phase::Predict, what, field: "contact_method" });
        active[i] = false;
        if let Some(nodes) = model.nodes_at(slot) {
            state.flags[i] |= flag::FROZEN;
            state.node_v[nodes.span()].fill(Vec3::ZERO);
        } else {
            state.freeze_rigid(i, good[i]);
        }
    }
}

/// The moving side of a contact and its surface, both at their present poses.
fn meeting<'m>(model: &'m Model, m: &ContactMemory, pose: &[Block], velocity: &[Block]) -> Meeting<'m> {
    // `gather` selected only contacts that have both
    let Some((body, surface)) = sides(model, &m.key) else { return Meeting::still(&NOWHERE, Pose::IDENTITY) };
    let at = 2 * surface.slot as usize;
    let frame = Pose::new(vec(pose[at]), quat(pose[at + 1]));
    let mut built = match body {
        Some(body) => before_surface(&body, &surface, &frame),
        None => {
            let field = surface.collider.field.as_deref().unwrap_or(&NOWHERE);
            let grow = model.nodes_at(m.key.b).map_or(0.0, |n| n.traits.radius);
            Meeting { probes: &POINT, grow, ..Meeting::still(field, frame.then_inner(&surface.collider.place)) }
        }
    };
    (built.center, built.velocity, built.spin) = (frame.position, vec(velocity[at]), vec(velocity[at + 1]));
    built
}

/// A rigid body's probes and a surface at rest, whose body is in `frame`.
fn before_surface<'m>(body: &Side<'m>, surface: &Side<'m>, frame: &Pose) -> Meeting<'m> {
    let field = surface.collider.field.as_deref().unwrap_or(&NOWHERE);
    let still = Meeting::still(field, frame.then_inner(&surface.collider.place));
    Meeting { probes: body.collider.geometry.probes(), place: body.collider.place, ..still }
}

/// A moving body or particle in the form used by the methods.
fn body_of(model: &Model, mover: &Mover, pose: &[Block], velocity: &[Block]) -> Body {
    let at = mover.block as usize;
    let (position, v, inv_mass) = (vec(pose[at]), vec(velocity[at]), velocity[at][3]);
    match model.rigid_at(mover.slot).filter(|_| mover.node.is_none()) {
        Some(rigid) => Body {
            pose: Pose::new(position, quat(pose[at + 1])),
            velocity: v,
            spin: vec(velocity[at + 1]),
            inv_mass,
            local_inv_inertia: rigid.inv_inertia,
        },
        None => {
            Body { pose: Pose::at(position), velocity: v, spin: Vec3::ZERO, inv_mass, local_inv_inertia: Sym3::ZERO }
        }
    }
}

fn store(mover: &Mover, body: &Body, velocity: &mut [Block]) {
    put(&mut velocity[mover.block as usize], body.velocity);
    if mover.node.is_none() {
        put(&mut velocity[mover.block as usize + 1], body.spin);
    }
}

/// Half width of a moving body [m]: its slop is a fraction of it.
fn half_width(model: &Model, mover: &Mover) -> Real {
    match model.nodes_at(mover.slot) {
        Some(nodes) => nodes.traits.radius,
        None => model.rigid_at(mover.slot).map_or(0.0, |r| r.thickness),
    }
}

fn material_of(model: &Model, rules: &PairRules, m: &ContactMemory) -> SurfaceMaterial {
    let of = |slot: u32, collider: u32| match model.nodes_at(slot) {
        Some(nodes) => nodes.traits.material,
        None => model.rigid_at(slot).map_or_else(SurfaceMaterial::default, |r| r.colliders[collider as usize].material),
    };
    rules.combine(&of(m.key.a, m.key.collider_a), &of(m.key.b, m.key.collider_b))
}
