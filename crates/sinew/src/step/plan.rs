//! Plan: how the step is solved. The integrator of each body, the islands by solver, substeps, warm start, the route of
//! each contact, the residence of each cloth, and the layout of contacts in colours and lanes. Later phases read it.

use crate::classic::in_world;
use crate::contact::kernel::rigid_batch::ContactBatch;
use crate::contact::point::slop;
use crate::contact::route::{Route, Router, mark_shared};
use crate::contact::{cloth, light_nodes, point};
use crate::island::{cloth_substeps, impact_substeps, implicit, joints, momentum, soft_body};
use crate::math::{Block, Quat, Real, Sixteen, Vec3};
use crate::model::{Model, Motion, SurfaceMaterial};
use crate::settings::{FrictionBound, Settings};
use crate::state::{ContactMemory, State, contact_flag};
use crate::tuning::friction::{PATCH, TORSION};
use crate::tuning::stack::MOST_HELD;
use crate::work::{BodyWork, ContactWork, DetectWork, IslandWork, OutputWork, Setup, SoftWork};

#[expect(clippy::too_many_arguments, reason = "the phase reads all data of the step: each group by its name")]
pub(crate) fn plan(
    setup: &Setup,
    state: &mut State,
    bodies: &mut BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, pool } = *setup;
    soft_body::choose_integrators(model, pool, bodies, soft, settings);
    cloth::leave_for_rows(model, state, bodies, detect, contact, soft, settings);
    implicit::sort_out(model, state, bodies, island, soft);
    output.report.counts.impact_substeps = impact_substeps::needed(model, state, bodies, detect, contact, settings);
    let of_cloth = cloth_substeps::ask(model, state, pool, bodies, detect, soft, settings);
    let of_joints = joints::gather(model, state, bodies, island, settings);
    choose_substeps(model, bodies, island, soft, output, settings, of_cloth.max(of_joints));
    route_contacts(model, bodies, contact, island, settings);
    in_world::gather(model, bodies, contact);
    contact.substep_hook = in_world::substep_hook(contact);
    warm_from_state(state, bodies, contact, island, settings);
    if !bodies.node_owners.is_empty() {
        cloth::settle_residence(setup, state, bodies, detect, soft, output);
    }
    momentum::list(model, state, bodies, contact, island, soft);
    output.readout.begin(
        contact.contacts.len(),
        model.row_count(),
        model.constraints.slot_count(),
        settings.point_forces,
    );
    batch_contacts(model, bodies, detect, contact, island, output, settings);
    light_nodes::build(model, &settings.pairs, contact);
}

/// Substeps of the swept islands: as many as settings, impacts, cloth, joints and explicit bodies need.
fn choose_substeps(
    model: &Model,
    bodies: &mut BodyWork,
    island: &mut IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
    settings: &Settings,
    others: u32,
) {
    let least = settings.substeps.max(output.report.counts.impact_substeps).max(others);
    island.substeps = soft_body::substeps(&bodies.active_nodes, soft, settings, least);
    let active = std::mem::take(&mut bodies.active_nodes);
    soft_body::report(&active, model, soft, output, settings.dt, island.substeps);
    bodies.active_nodes = active;
    output.report.counts.substeps = island.substeps;
    output.report.counts.implicit_islands = island.implicit.count as u32;
}

/// The route of every contact, and the lists that later phases use.
fn route_contacts(
    model: &Model,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    settings: &Settings,
) {
    let ContactWork { contacts, routes, row_contacts, by_feature, shared_nodes, .. } = contact;
    let body_routes = &bodies.body_routes;
    mark_shared(model, body_routes, contacts, shared_nodes);
    let router = Router { model, rules: &settings.pairs, bodies: body_routes, shared: shared_nodes };
    routes.clear();
    routes.extend(contacts.iter().map(|m| router.choose(m)));
    let of_surfaces = |&index: &u32| routes[index as usize] == Route::Surface;
    let of_surfaces = (0..routes.len() as u32).filter(of_surfaces);
    list_by_rows(model, contacts, &bodies.pose, of_surfaces, by_feature, row_contacts);
    implicit::list_contacts(bodies, contact, island);
}

/// Contacts that rows solve in the order of their keys, but two that press a feature of a sheet or cord from opposite sides
/// next to each other.
fn list_by_rows(
    model: &Model,
    contacts: &[ContactMemory],
    pose: &[Block],
    of_surfaces: impl Iterator<Item = u32> + Clone,
    by_feature: &mut Vec<([u32; 3], u32)>,
    out: &mut Vec<(u32, Option<u32>)>,
) {
    by_feature.clear();
    out.clear();
    let thin = |slot: u32| model.nodes_at(slot).is_some_and(|nodes| !nodes.surface.is_solid());
    let rigid = |&index: &u32| {
        let m = &contacts[index as usize];
        !m.has(contact_flag::SURFACE) && thin(m.key.b)
    };
    by_feature.extend(of_surfaces.clone().filter(rigid).map(|index| {
        let key = contacts[index as usize].key;
        ([key.b, key.collider_b, key.sub_b], index)
    }));
    by_feature.sort_unstable();
    let normal = |index: u32| {
        let m = &contacts[index as usize];
        rotation(pose, m.key.a as usize) * m.normal
    };
    // the partner of a contact: of the others on its feature the one that looks most against it
    let partner = |index: u32| {
        let key = contacts[index as usize].key;
        let feature = [key.b, key.collider_b, key.sub_b];
        let first = by_feature.partition_point(|of| of.0 < feature);
        let others = by_feature[first..].iter().take_while(|of| of.0 == feature).map(|of| of.1);
        let against = others.map(|other| (normal(other).dot(normal(index)), other));
        against.filter(|of| of.0 < 0.0).reduce(|a, b| if b.0 < a.0 { b } else { a }).map(|of| of.1)
    };
    for index in of_surfaces {
        let mate = if rigid(&index) { partner(index).filter(|&mate| partner(mate) == Some(index)) } else { None };
        match mate {
            Some(mate) if mate < index => {}
            Some(mate) => out.extend([(index, None), (mate, Some(index))]),
            None => out.push((index, None)),
        }
    }
}

/// Impulses of the previous step, rescaled when the substep changed.
fn warm_from_state(
    state: &State,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    settings: &Settings,
) {
    let h = settings.dt / island.substeps as Real;
    // sleeping contacts are not solved: a warm-start factor below 1 would reduce their impulses in every step
    let asleep = if state.h > 0.0 { h / state.h } else { 1.0 };
    let awake = asleep * settings.warm_start;
    island.warm.clear();
    island.warm.extend(state.row_impulses.iter().map(|v| v * awake));
    if awake != 1.0 {
        for m in &mut contact.contacts {
            let ratio = if m.key.anyone(&bodies.active) { awake } else { asleep };
            m.roll = m.roll.map(|v| v * ratio);
            for p in &mut m.points {
                p.impulse = p.impulse.map(|v| v * ratio);
            }
        }
    }
}

/// Colours the contacts, and counts the contact points of each body.
fn colour_contacts(model: &Model, bodies: &BodyWork, contact: &mut ContactWork, output: &mut OutputWork) {
    let slots = model.bodies.slot_count();
    contact.colouring.reset(slots);
    contact.colours.clear();
    contact.point_counts.clear();
    contact.point_counts.resize(slots, 0);
    contact.effective_mass_sums.clear();
    contact.effective_mass_sums.resize(slots, 0.0);
    let (mut manifolds, mut points) = (0, 0);
    for (m, route) in contact.contacts.iter().zip(&contact.routes) {
        let (a, b) = (m.key.a, m.key.b);
        let responds = |slot: u32| bodies.active[slot as usize].then_some(slot);
        if route.is_swept() {
            manifolds += 1;
            points += m.count;
            contact.point_counts[a as usize] += m.count;
            contact.point_counts[b as usize] += m.count;
            if !m.has(contact_flag::NODE) {
                // the effective mass of the pair, in units of the mass of each body
                let [inv_a, inv_b] = [a, b].map(|slot| bodies.velocity[2 * slot as usize][3]);
                contact.effective_mass_sums[a as usize] += inv_a / (inv_a + inv_b);
                contact.effective_mass_sums[b as usize] += inv_b / (inv_a + inv_b);
            }
        }
        let colour = (*route == Route::Rigid).then(|| contact.colouring.pick(responds(a), responds(b)) as u8);
        contact.colours.push(colour.map(|colour| (colour, m.count as u8)));
    }
    let counts = &mut output.report.counts;
    counts.manifolds += manifolds;
    counts.contacts += points;
    counts.contact_rows += 3 * points;
}

/// Colours the contacts and fills the batches, once a step.
fn batch_contacts(
    model: &Model,
    bodies: &BodyWork,
    detect: &DetectWork,
    contact: &mut ContactWork,
    island: &IslandWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    let (on, detailed) = (output.ledger.is_on(), output.ledger.is_detailed());
    let h = settings.dt / island.substeps as Real;
    colour_contacts(model, bodies, contact, output);
    let ContactWork { set, colours, contacts, point_counts, effective_mass_sums, .. } = contact;
    let BodyWork { active, pose, .. } = bodies;
    let DetectWork { colliders, collider_start, surfaces, .. } = detect;
    let surface = |slot: u32, collider: u32| colliders[(collider_start[slot as usize] + collider) as usize].surface;
    // the previous pair of materials and their combination: most pairs of a world are alike
    let mut last: Option<([u32; 2], SurfaceMaterial)> = None;
    set.build(colours, |batch, lane, i| {
        let m = &contacts[i];
        let sides = [surface(m.key.a, m.key.collider_a), surface(m.key.b, m.key.collider_b)];
        let known = last.filter(|(pair, _)| *pair == sides);
        let combine = || settings.pairs.combine(&surfaces[sides[0] as usize], &surfaces[sides[1] as usize]);
        let material = known.map_or_else(combine, |(_, material)| material);
        last = Some((sides, material));
        fill_lane(batch, lane, i as u32, m, &material);
        if material.has_own_law() {
            fill_law(batch, lane, m, (model, pose), &material);
        }
        batch.by_point = settings.point_forces || batch.bounces;
        batch.slop[lane] = slop(model, m, settings);
        let (a, b) = (m.key.a as usize, m.key.b as usize);
        batch.ease[lane] = (MOST_HELD / effective_mass_sums[a].max(effective_mass_sums[b])).min(1.0);
        batch.store_a[lane] = if active[a] { 2 * m.key.a } else { u32::MAX };
        batch.store_b[lane] = if active[b] { 2 * m.key.b } else { u32::MAX };
        // the normal rotates with a, unless only a is round (a rolling ball must not rotate it) or b is inactive
        let into_b = if m.follows_b() {
            // of the time when they were found: what is carried by the spin of a ball turns its friction with it
            Some(Quat::from_array(m.found_rotation).inverse())
        } else {
            (!active[b]).then(|| rotation(pose, b).inverse() * rotation(pose, a))
        };
        orient(batch, lane, m, into_b);
        if (detailed || on && kinematic(model, m)) && active[a] != active[b] {
            batch.lean_side[lane] = if active[b] { 1.0 } else { -1.0 };
            batch.leans = true;
        }
        batch.share[lane] =
            if settings.average_impulses { 1.0 / point_counts[a].max(point_counts[b]) as Real } else { 1.0 };
        if settings.friction_bound == FrictionBound::Weight {
            let normal = rotation(pose, a) * m.normal;
            let bound = batch.static_friction[lane] * lighter_mass(m, model) * settings.gravity.dot(normal).abs();
            batch.weight_bound[lane] = bound * h / m.count as Real;
        } else {
            batch.weight_bound[lane] = -1.0;
        }
    });
    output.report.counts.colours = contact.set.colour_count() as u32;
}

/// True when a kinematic body is part of a contact.
fn kinematic(model: &Model, m: &ContactMemory) -> bool {
    [m.key.a, m.key.b].iter().any(|&slot| model.rigid_at(slot).is_some_and(|r| r.motion == Motion::Kinematic))
}

/// Orientation of a body in the arrays of the sweeps.
fn rotation(pose: &[Block], slot: usize) -> Quat {
    let q = pose[2 * slot + 1];
    Quat::from_xyzw(q[0], q[1], q[2], q[3])
}

/// Normal and tangent in the axes of the frame body: b if a rotation into its axes is given, else a.
fn orient(batch: &mut ContactBatch, lane: usize, m: &ContactMemory, into_b: Option<Quat>) {
    let (n, t) = into_b.map_or((m.normal, m.tangent), |turn| (turn * m.normal, turn * m.tangent));
    batch.frame_b[lane] = if into_b.is_some() { 1.0 } else { 0.0 };
    put(&mut batch.local_normal, lane, n);
    put(&mut batch.local_tangent, lane, t);
}

fn put(to: &mut [Sixteen; 3], lane: usize, v: Vec3) {
    (to[0][lane], to[1][lane], to[2][lane]) = (v.x, v.y, v.z);
}

/// Copies a manifold into a lane.
fn fill_lane(batch: &mut ContactBatch, lane: usize, index: u32, m: &ContactMemory, material: &SurfaceMaterial) {
    batch.origin[lane] = index;
    batch.load_a[lane] = 2 * m.key.a;
    batch.load_b[lane] = 2 * m.key.b;
    batch.count = batch.count.max(m.count as usize);
    batch.radius_a[lane] = m.radius[0];
    batch.radius_b[lane] = m.radius[1];
    batch.lean[lane] = match (m.radius[0] > 0.0, m.radius[1] > 0.0) {
        (true, false) => 0.0,
        (false, true) => 1.0,
        _ => 0.5,
    };
    batch.static_friction[lane] = material.static_friction;
    batch.kinetic_friction[lane] = material.kinetic_friction;
    batch.restitution[lane] = material.restitution;
    batch.rolling[lane] = material.rolling_resistance;
    batch.spinning[lane] = material.spinning_resistance.max(torsion(m, material));
    batch.rolls |= material.rolling_resistance > 0.0 || batch.spinning[lane] > 0.0;
    batch.bounces |= material.restitution > 0.0;
    batch.rounds |= m.radius[0] > 0.0 && m.radius[1] > 0.0;
    for k in 0..3 {
        batch.roll[k][lane] = m.roll[k];
    }
    for (k, p) in m.used().iter().enumerate() {
        let point = &mut batch.points[k];
        put(&mut point.core_a, lane, p.local_a);
        put(&mut point.core_b, lane, p.local_b);
        for (to, from) in point.impulse.iter_mut().zip(p.impulse) {
            to[lane] = from;
        }
        point.tangential_displacement[0][lane] = p.tangential_displacement[0];
        point.tangential_displacement[1][lane] = p.tangential_displacement[1];
        point.slipping[lane] = if p.slipping != 0 { 1.0 } else { 0.0 };
        // the state after the last relaxing sweep, from State and not from the batch of the previous step
        point.slips[lane] = point.slipping[lane];
        let friction = if p.slipping != 0 { material.kinetic_friction } else { material.static_friction };
        point.reach[lane] = friction * p.impulse[0];
        point.used[lane] = 1.0;
    }
}

/// Lever arm of the friction against spin of a round body on one point [m], from the radius of its patch.
fn torsion(m: &ContactMemory, material: &SurfaceMaterial) -> Real {
    let radius = match m.radius {
        _ if m.count != 1 => 0.0,
        [a, b] if a > 0.0 && b > 0.0 => a * b / (a + b),
        [a, b] => a.max(b),
    };
    TORSION * PATCH * material.kinetic_friction * radius
}

/// The friction law of a manifold and its grain, with the memory in the axes of the grain.
fn fill_law(
    batch: &mut ContactBatch,
    lane: usize,
    m: &ContactMemory,
    (model, pose): (&Model, &[Block]),
    material: &SurfaceMaterial,
) {
    let laws = batch.own_laws();
    laws.laws[lane] = material.law;
    laws.bristles |= material.law.has_bristle();
    let Some((side, grain)) = point::grain(model, m) else { return };
    put(&mut laws.direction, lane, grain.direction);
    (laws.grain_b[lane], laws.across[lane]) = (side as Real, grain.across);
    let frame = point::anisotropy_at(model, pose, m);
    for (k, p) in m.used().iter().enumerate() {
        let to = &mut batch.points[k];
        let ([x, y], [a, b]) = (frame.way(p.tangential_displacement), frame.push([p.impulse[1], p.impulse[2]]));
        (to.tangential_displacement[0][lane], to.tangential_displacement[1][lane]) = (x, y);
        (to.impulse[1][lane], to.impulse[2][lane]) = (a, b);
    }
}

/// Mass of the lighter dynamic body [kg], for ICD eq. 32.
fn lighter_mass(m: &ContactMemory, model: &Model) -> Real {
    let mass = |slot: u32| model.rigid_at(slot).filter(|r| r.motion == Motion::Dynamic).map(|r| r.mass);
    match (mass(m.key.a), mass(m.key.b)) {
        (Some(a), Some(b)) => a.min(b),
        (Some(a), None) | (None, Some(a)) => a,
        (None, None) => 0.0,
    }
}
