//! Bare sheets in columns: for the whole step their nodes stay in lanes (`deformable/cloth/network.rs`), and so do their
//! contacts with balls and planes (`contact/kernel/cloth.rs`). One that touches only what stands still runs all its substeps
//! at once, while it is in cache, beside others on other threads. Whatever else holds on to a sheet (constraints, laws of
//! friction, surfaces, heavy nodes, shapes with corners) leaves it to `soft.rs` and the rows.

pub(crate) mod memory;
pub(crate) mod self_contact;

use crate::collision::surface::feature;

use crate::contact::find::surface::corners_hold;
use crate::contact::find::surfel::Reach;
use crate::contact::find::{surface, surfel};
use crate::contact::kernel::cloth::{ClothCollider, CoupledBody, SheetTouch};
use crate::contact::kernel::node::{BodyBlocks, Side};
use crate::contact::light_nodes::{is_light, light_share};
use crate::contact::sort::put_in_order;
use crate::contact::{law_rows, point};
use crate::deformable::cloth::{DistanceNetwork, Touched};
use crate::island::SubstepContext;
use crate::math::{Blocks, LANES, Pose, Quat, Real, Vec3, add, put};
use crate::model::{Model, Motion, Nodes};
use crate::settings::{ContactMethod, Order, Settings};
use crate::solver::pgs::Pass;
use crate::state::{ContactKey, ContactMemory, State, contact_flag, of_pair, of_wall};
use crate::step::predict::decay;
use crate::work::{ColliderRef, SheetWork, SoftWork, Work};
use bytemuck::Zeroable;

/// True for a sheet that is in columns now.
pub(crate) fn is_out(work: &Work, slot: u32) -> bool {
    work.soft[slot as usize].as_ref().is_some_and(|s| s.sheet.out)
}

/// True for a sheet that can be taken out, as far as can be told before contacts are known.
pub(crate) fn may_be_out(model: &Model, state: &State, work: &mut Work, settings: &Settings, slot: u32) -> bool {
    let (Some(nodes), Some(held)) = (model.nodes_at(slot), work.soft[slot as usize].as_mut()) else { return false };
    let plain = nodes.inner_span().is_empty() && work.skins[slot as usize].as_ref().is_some_and(|s| s.all_nodes);
    let usual = settings.contact_method == ContactMethod::Rows && !settings.guaranteed && settings.impact_substeps <= 1;
    // one that sleeps has the contacts that it fell asleep with, which may be of any kind
    let usual = usual && work.moves[slot as usize];
    // air pushes otherwise in each substep
    let mut may = usual && plain && nodes.traits.air.is_none() && held.model.network().is_some();
    for (_, constraint) in model.constraints.iter().filter(|(k, _)| state.broken[*k as usize] == 0) {
        if may {
            constraint.slots(|s| may &= s != slot);
        }
    }
    held.sheet.has_self_contact = self_contact::self_contact(nodes);
    may &= !held.sheet.has_self_contact || self_contact::may_be_in_columns(model, settings, slot);
    held.sheet.tight = may;
    may
}

/// Inverse mass of the heaviest node that moves [1/kg].
fn heaviest(nodes: &Nodes) -> Real {
    // eight at once: one chain would wait for each of thousands
    let mut least = [Real::INFINITY; LANES];
    for eight in nodes.inv_mass.chunks(LANES) {
        for (least, &w) in least.iter_mut().zip(eight) {
            *least = if w > 0.0 && w < *least { w } else { *least };
        }
    }
    least.into_iter().fold(Real::INFINITY, Real::min)
}

/// A contact of any node of a sheet with a collider.
fn contact_of(ColliderRef { body, collider, .. }: ColliderRef, slot: u32) -> ContactMemory {
    let kind = feature::VERTEX;
    let key = ContactKey { a: body, b: slot, collider_a: collider, collider_b: kind, ..ContactKey::zeroed() };
    ContactMemory { key, count: 1, flags: contact_flag::NODE, ..ContactMemory::zeroed() }
}

/// True for a collider that columns know: a ball or a plane without bounce or law of its own, and heavy beside the nodes.
fn is_wall(model: &Model, collider: ColliderRef, slot: u32, heaviest: Real, settings: &Settings) -> bool {
    let Some(rigid) = model.rigid_at(collider.body) else { return false };
    let built = &rigid.colliders[collider.collider as usize];
    let light = is_light(model, rigid.is_dynamic(), collider.body, heaviest);
    let m = contact_of(collider, slot);
    let bounces = point::pair_material(model, &settings.pairs, &m).restitution > 0.0;
    let round = built.geometry.ball().is_some() || built.geometry.plane().is_some();
    round && light && !bounces && !law_rows::takes(model, &settings.pairs, &m)
}

/// Lists the walls that a sheet may come to in this step. False when something else is near: then it is left to the rows.
pub(crate) fn find_walls(model: &Model, state: &State, work: &mut Work, settings: &Settings, slot: u32) -> bool {
    let (Some(nodes), Some(skin)) = (model.nodes_at(slot), work.skins[slot as usize].as_ref()) else { return false };
    let fall = settings.gravity.length() * settings.dt * settings.dt;
    let reach = settings.contact_margin + fall + 2.0 * settings.dt * skin.fastest;
    if let Some(around) = skin.bounds.map(|b| b.grown(reach)) {
        surfel::near_colliders(model, work, (slot, nodes), &around);
    } else {
        work.near_colliders.clear();
    }
    let Work { soft, skins, colliders, near_colliders, motion, .. } = work;
    let (Some(held), Some(skin)) = (soft[slot as usize].as_mut(), skins[slot as usize].as_ref()) else { return false };
    held.sheet.walls.clear();
    held.sheet.heaviest = if near_colliders.is_empty() { 0.0 } else { heaviest(nodes) };
    held.sheet.nearest.resize(near_colliders.len(), 0);
    for (k, &c) in near_colliders.iter().enumerate() {
        let ColliderRef { body, collider, .. } = colliders[c as usize];
        let Some(rigid) = model.rigid_at(body) else { continue };
        let (built, i) = (&rigid.colliders[collider as usize], body as usize);
        let holds = built.geometry.plane().is_some() || corners_hold(built, skin, nodes.traits.radius, settings);
        if !holds || !is_wall(model, colliders[c as usize], slot, held.sheet.heaviest, settings) {
            held.sheet.tight = false;
            return false;
        }
        let placed = Pose::new(state.x[i], state.q[i]).then_inner(&built.place);
        let far = nodes.traits.radius + settings.standoff() + reach + motion[i];
        let Some(reach) = Reach::of(&built.geometry, &placed, far) else { continue };
        // who was near before is asked first: it does not matter who is
        let (first, count) = (&mut held.sheet.nearest[k], skin.x.len());
        let mut order = (*first..count).chain(0..count.min(*first));
        if let Some(n) = order.find(|&n| !reach.is_beyond(skin.x[n])) {
            *first = n;
            held.sheet.walls.push(c);
        }
    }
    true
}

/// Calls `see` with each pair of a wall's body and a sheet that may be in columns.
pub(crate) fn each_pair(soft: &[Option<SoftWork>], colliders: &[ColliderRef], mut see: impl FnMut(u32, u32)) {
    for (slot, held) in soft.iter().enumerate() {
        let Some(sheet) = held.as_ref().map(|held| &held.sheet).filter(|sheet| sheet.tight) else { continue };
        sheet.walls.iter().for_each(|&wall| see(colliders[wall as usize].body, slot as u32));
    }
}

/// Leaves sheets to the rows that cannot be in columns after all: those that rest, and those that are solved with implicit
/// bodies. Comes when islands are known; their contacts are looked for then, in full.
pub(crate) fn leave(model: &Model, state: &mut State, work: &mut Work, settings: &Settings) {
    if !work.soft.iter().flatten().any(|held| held.sheet.tight) {
        return;
    }
    let mut stiff = std::mem::take(&mut work.touches);
    stiff.clear();
    stiff.resize(model.bodies.slot_count(), 0);
    for &slot in &work.active_nodes {
        if work.soft[slot as usize].as_ref().is_some_and(|held| held.model.operator().is_some()) {
            stiff[work.islands.root(slot) as usize] = 1;
        }
    }
    let mut more = false;
    for slot in 0..work.soft.len() as u32 {
        let apart = !work.active[slot as usize] || stiff[work.islands.root(slot) as usize] == 1;
        let Some(held) = work.soft[slot as usize].as_mut().filter(|held| held.sheet.tight && apart) else { continue };
        held.sheet.tight = false;
        memory::spell_out(model, state, settings, slot);
        surfel::find_again(model, state, work, settings, slot);
        surface::find_own(model, state, work, settings, slot);
        more = true;
    }
    work.touches = stiff;
    if more {
        put_in_order(&mut work.contacts, &mut work.order, |_, _| {});
        work.any_flags = work.contacts.iter().fold(0, |flags, m| flags | m.flags);
    }
}

/// Takes the sheets out that can be, with their walls and what they remember. Comes last in `detect`.
pub(crate) fn sort_out(model: &Model, state: &State, work: &mut Work, settings: &Settings) {
    // residuals are told sweep by sweep of all
    let together = settings.residuals || settings.stop_residual > 0.0 || settings.order != Order::Joint;
    let Work { pool, soft, colliders, active, report, .. } = work;
    pool.chunks(soft, 1, &|slot, held| {
        let Some(held) = &mut held[0] else { return };
        (held.sheet.out, held.sheet.alone, held.sheet.count) = (held.sheet.tight && active[slot], !together, 0);
        held.sheet.partners.clear();
        if held.sheet.out {
            let walls = std::mem::take(&mut held.sheet.walls);
            for &wall in &walls {
                add_wall(model, state, held, (colliders[wall as usize], slot as u32), settings, active);
            }
            held.sheet.walls = walls;
            self_contact::begin(model, state, held, settings, slot as u32);
        }
    });
    for held in soft.iter().flatten().filter(|held| held.sheet.out) {
        report.counts.inner_rows += held.model.inner_rows() as u32;
    }
}

/// A wall, and what nodes remember of it.
fn add_wall(
    model: &Model,
    state: &State,
    held: &mut SoftWork,
    (collider, slot): (ColliderRef, u32),
    settings: &Settings,
    active: &[bool],
) {
    let (Some(nodes), Some(rigid)) = (model.nodes_at(slot), model.rigid_at(collider.body)) else { return };
    let built = &rigid.colliders[collider.collider as usize];
    let like = contact_of(collider, slot);
    let material = point::pair_material(model, &settings.pairs, &like);
    let normal = built.geometry.plane();
    let wall = ClothCollider {
        slot: collider.body,
        collider: collider.collider,
        static_friction: material.static_friction,
        kinetic_friction: material.kinetic_friction,
        core: built.place.position,
        normal: normal.map_or(Vec3::ZERO, |n| built.place.rotation * n),
        flat: normal.is_some(),
        radius: built.geometry.ball().unwrap_or(0.0) + nodes.traits.radius + settings.standoff(),
    };
    let Some(network) = held.model.network() else { return };
    let SheetWork { alone, touches, count, columns, partners, heaviest, .. } = &mut held.sheet;
    let moves = active[collider.body as usize] || rigid.motion == Motion::Kinematic;
    *alone &= !moves;
    if columns.is_empty() {
        *columns = network.soa.slots();
    }
    if touches.len() == *count {
        touches.push(SheetTouch::default());
    }
    let touch = &mut touches[*count];
    *count += 1;
    touch.reset(wall, network.soa.slot_count() / 8);
    touch.partner = partners.iter().position(|p| p.slot == collider.body).unwrap_or(partners.len());
    if touch.partner == partners.len() {
        let jacobi_groups = light_share(model, collider.body, *heaviest).max(1.0) as u32;
        partners.push(CoupledBody::new(collider.body, Side::default(), moves, jacobi_groups, Vec3::ZERO));
    }
    // a body that stands still does not turn: its nodes hold on in the axes of the world
    let into_grips = if moves { Quat::IDENTITY } else { state.q[collider.body as usize] };
    touch.axes = into_grips.inverse();
    // of the step before: grips, or contacts of a sheet that was not in columns then
    for m in of_pair(&state.contacts, &like.key) {
        touch.loud |= m.has(contact_flag::LOUD);
        let point = &m.points[0];
        let stick = m.tangent * point.stick[0] + m.normal.cross(m.tangent) * point.stick[1];
        if let Some(&column) = columns[..nodes.inv_mass.len()].get(m.key.sub_b as usize) {
            touch.remember(column, into_grips * stick, point.slipping != 0);
        }
    }
    for g in of_wall(&state.grips, collider.body, slot, collider.collider) {
        touch.loud |= g.has(contact_flag::LOUD);
        if let Some(&column) = columns[..nodes.inv_mass.len()].get(g.node as usize) {
            touch.remember(column, into_grips * g.stick, g.slipping != 0);
        }
    }
}

/// Takes sheets over into columns; those that stand alone run their whole step.
pub(crate) fn take_out(model: &Model, work: &mut Work, settings: &Settings) {
    let h = settings.dt / work.substeps as Real;
    let Work { pool, soft, pose, velocity, inertia, node_force, nodes_pushed, substeps, .. } = work;
    let bodies = 2 * model.bodies.slot_count();
    // bodies that stand still are read by all, nodes are their sheet's alone
    let ((velocity, v), (pose, x)) = (velocity.split_at_mut(bodies), pose.split_at_mut(bodies));
    let still = BodyBlocks { velocity, pose, inertia };
    let (x, v) = (Blocks::new(x), Blocks::new(v));
    let (force, substeps) = (nodes_pushed.then_some(&node_force[..]), *substeps);
    pool.chunks(soft, 1, &|slot, held| {
        let (Some(held), Some(nodes)) = (&mut held[0], model.nodes_at(slot as u32)) else { return };
        let (true, Some(network)) = (held.sheet.out, held.model.network()) else { return };
        let (x, v) = (part(model, nodes, x), part(model, nodes, v));
        let gravity = settings.gravity * nodes.traits.gravity_scale;
        let keep = decay(nodes.traits.damping, h);
        let force = force.map_or(&[][..], |force| &force[nodes.span()]);
        network.take_out(x, v, (force, gravity), (h, keep, settings.lanes));
        if held.sheet.alone {
            for substep in 0..substeps {
                let ctx = SubstepContext::new(settings, h, substep);
                network.sweep(true, settings.lanes);
                face(&mut held.sheet, network, &still, &[]);
                land(&ctx, settings, network, &mut held.sheet, nodes);
            }
            network.soa.finish(x, v, settings.lanes);
            memory::keep_touches(&mut held.sheet, (slot as u32, nodes), still.pose, substeps);
        }
    });
}

/// The blocks of a body among those of all nodes.
fn part<'a>(model: &Model, nodes: &Nodes, of_nodes: Blocks<'a>) -> Blocks<'a> {
    let first = model.node_block(nodes.start) as usize - 2 * model.bodies.slot_count();
    of_nodes.part(first, first + nodes.inv_mass.len())
}

/// Bodies and walls of a sheet as they are now, from its origin; `rest`: what rounding left out of velocities.
fn face(sheet: &mut SheetWork, network: &DistanceNetwork, blocks: &BodyBlocks<'_>, rest: &[Vec3]) {
    for partner in &mut sheet.partners {
        let mut side = Side::load(blocks, partner.slot);
        side.x -= network.soa.origin;
        let rest = rest.get(partner.slot as usize).copied().unwrap_or_default();
        *partner = CoupledBody::new(partner.slot, side, partner.moves, partner.jacobi_groups, rest);
    }
    for touch in &mut sheet.touches[..sheet.count] {
        touch.place(&sheet.partners[touch.partner].side);
    }
}

/// After the rows of a substep: velocities, contacts and places.
fn land(
    ctx: &SubstepContext,
    settings: &Settings,
    network: &mut DistanceNetwork,
    sheet: &mut SheetWork,
    nodes: &Nodes,
) -> Real {
    let keep = decay(nodes.traits.damping, ctx.h);
    let params = &ctx.contact;
    let (touches, partners) = (&mut sheet.touches[..sheet.count], &mut sheet.partners[..]);
    let self_contact = sheet.self_contact.as_deref_mut().filter(|_| sheet.has_self_contact);
    network.land(Touched { touches, partners, params, self_contact }, (ctx.h, keep, ctx.last, settings.lanes))
}

/// Rows of a sheet that shares its substeps with others.
pub(crate) fn predict(slot: u32, work: &mut Work, settings: &Settings) {
    let Some(held) = work.soft[slot as usize].as_mut() else { return };
    held.sheet.landed = false;
    if let Some(network) = held.model.network().filter(|_| !held.sheet.alone) {
        network.sweep(true, settings.lanes);
    }
}

/// The contacts of sheets that share their substeps, once in each: in its first correcting sweep. A node feels its one
/// contact and hardly the body, so that nothing is gained from a second visit. Returns the sum of squared impulses.
pub(crate) fn sweep(ctx: &SubstepContext, model: &Model, work: &mut Work, settings: &Settings, pass: Pass) -> Real {
    if pass != Pass::Correct {
        return 0.0;
    }
    let Work { soft, velocity, pose, inertia, v_remainder, .. } = work;
    let mut squares = 0.0;
    for (slot, held) in soft.iter_mut().enumerate() {
        let (Some(SoftWork { model: matter, sheet, .. }), Some(nodes)) = (held, model.nodes_at(slot as u32)) else {
            continue;
        };
        if !sheet.out || sheet.alone || std::mem::replace(&mut sheet.landed, true) {
            continue;
        }
        let Some(network) = matter.network() else { continue };
        face(sheet, network, &BodyBlocks { velocity, pose, inertia }, v_remainder);
        squares += land(ctx, settings, network, sheet, nodes);
        for partner in sheet.partners.iter().filter(|p| p.side.inv_mass > 0.0) {
            let at = 2 * partner.slot as usize;
            v_remainder[partner.slot as usize] = partner.rest;
            for (block, v) in [(at, partner.side.v), (at + 1, partner.side.w)] {
                put(&mut velocity[block], v);
            }
        }
    }
    squares
}

/// Bodies follow what corrects the places of sheets, as the nodes did.
fn lift(work: &mut Work) {
    let Work { soft, position_velocity, .. } = work;
    for SoftWork { sheet, .. } in soft.iter().flatten().filter(|held| held.sheet.out && !held.sheet.alone) {
        for partner in sheet.partners.iter().filter(|p| p.side.inv_mass > 0.0) {
            let at = 2 * partner.slot as usize;
            for (block, more) in [(at, partner.lift[0]), (at + 1, partner.lift[1])] {
                add(&mut position_velocity[block], more);
            }
        }
    }
}

/// Gives the sheets of shared substeps back to the others.
pub(crate) fn take_in(model: &Model, work: &mut Work, settings: &Settings) {
    let bodies = 2 * model.bodies.slot_count();
    let Work { soft, pose, velocity, .. } = work;
    let (x, v) = (Blocks::new(&mut pose[bodies..]), Blocks::new(&mut velocity[bodies..]));
    for (slot, held) in soft.iter_mut().enumerate() {
        let (Some(held), Some(nodes)) = (held, model.nodes_at(slot as u32)) else { continue };
        if let Some(network) = held.model.network().filter(|_| held.sheet.out && !held.sheet.alone) {
            network.soa.finish(part(model, nodes, x), part(model, nodes, v), settings.lanes);
        }
    }
}

/// carry ← velocity after the correcting sweeps, but for nodes in columns, which have none.
pub(crate) fn copy_position_velocity(model: &Model, work: &mut Work) {
    let Work { position_velocity, velocity, soft, active_nodes, .. } = work;
    let bodies = 2 * model.bodies.slot_count();
    let of_nodes = bodies + model.node_count;
    position_velocity[..bodies].copy_from_slice(&velocity[..bodies]);
    position_velocity[of_nodes..].copy_from_slice(&velocity[of_nodes..]);
    for &slot in active_nodes.iter() {
        let out = soft[slot as usize].as_ref().is_some_and(|held| held.sheet.out);
        if let Some(nodes) = model.nodes_at(slot).filter(|_| !out) {
            let first = model.node_block(nodes.start) as usize;
            let span = first..first + nodes.inv_mass.len();
            position_velocity[span.clone()].copy_from_slice(&velocity[span]);
        }
    }
    lift(work);
}
