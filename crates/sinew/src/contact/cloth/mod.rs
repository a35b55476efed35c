//! Which cloth is solved in SoA in a step, and with which colliders.
//!
//! A resident cloth has its nodes in lanes for the complete step (`deformable/cloth/network.rs`), and so have its
//! contacts with balls and planes (`contact/kernel/cloth.rs`). A cloth with constraints, anisotropic
//! friction, contacts with surfaces or shapes with corners, or nodes that are heavy compared with the rigid body, is
//! solved by rows instead (`island/soft_body.rs`). `step/cloth.rs` runs the resident ones.

pub(crate) mod memory;
pub(crate) mod self_contact;

use crate::collision::surface::feature;
use crate::contact::find::surface::corners_hold;
use crate::contact::find::surfel::Reach;
use crate::contact::find::{surface, surfel};
use crate::contact::kernel::cloth::{ClothCollider, ClothContacts, CoupledBody};
use crate::contact::kernel::node::Side;
use crate::contact::point;
use crate::contact::route::{Residence, is_light, light_ratio};
use crate::contact::sort::put_in_order;
use crate::math::{LANES, Pose, Quat, Real, Vec3};
use crate::model::{BuiltCollider, Model, Motion, Nodes, SurfaceMaterial};
use crate::settings::{ContactMethod, Order, Settings};
use crate::state::{ContactKey, ContactMemory, State, contact_flag, of_pair, of_wall};
use crate::work::{
    BodyWork, ClothWork, ColliderRef, ContactWork, DetectWork, OutputWork, Setup, SoftBodyWork, SoftWork,
};
use bytemuck::Zeroable;

/// True for a cloth that can be resident, as far as is known before contacts are found.
pub(crate) fn is_eligible(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &DetectWork,
    soft: &mut SoftWork,
    settings: &Settings,
    slot: u32,
) -> bool {
    let (Some(nodes), Some(held)) = (model.nodes_at(slot), soft.models[slot as usize].as_mut()) else { return false };
    let plain =
        nodes.internal_state_span().is_empty() && detect.skins[slot as usize].as_ref().is_some_and(|s| s.all_nodes);
    let usual =
        settings.contact_method == ContactMethod::Rows && !settings.intersection_free && settings.impact_substeps <= 1;
    // a sleeping cloth keeps the contacts it fell asleep with, which may be of any kind
    let usual = usual && bodies.moves[slot as usize];
    // air drag and pressure change in every substep
    let steady = nodes.traits.air.is_none() && nodes.loads.is_empty();
    let mut may = usual && plain && steady && held.model.network().is_some();
    for (_, constraint) in model.constraints.iter().filter(|(k, _)| state.broken[*k as usize] == 0) {
        if may {
            constraint.slots(|s| may &= s != slot);
        }
    }
    may &= !state.tool_anchors.iter().any(|a| a.body == slot);
    held.cloth.has_self_contact = self_contact::self_contact(nodes);
    may &= !held.cloth.has_self_contact || self_contact::is_eligible(model, settings, slot);
    held.cloth.eligible = may;
    may
}

/// Inverse mass of the heaviest node that moves [1/kg].
fn heaviest(nodes: &Nodes) -> Real {
    // eight at a time: a single chain of minima has the latency of each of thousands
    let mut least = [Real::INFINITY; LANES];
    for eight in nodes.inv_mass.chunks(LANES) {
        for (least, &w) in least.iter_mut().zip(eight) {
            *least = if w > 0.0 && w < *least { w } else { *least };
        }
    }
    least.into_iter().fold(Real::INFINITY, Real::min)
}

/// A contact of any node of a cloth with a collider.
fn contact_of(ColliderRef { body, collider, .. }: ColliderRef, slot: u32) -> ContactMemory {
    let kind = feature::VERTEX;
    let key = ContactKey { a: body, b: slot, collider_a: collider, collider_b: kind, ..ContactKey::zeroed() };
    ContactMemory { key, count: 1, flags: contact_flag::NODE, ..ContactMemory::zeroed() }
}

/// True for a collider that the SoA kernel solves: a ball or a plane with isotropic friction, without restitution, and
/// heavy compared with the nodes.
fn is_cloth_collider(model: &Model, collider: ColliderRef, slot: u32, heaviest: Real, settings: &Settings) -> bool {
    let Some(rigid) = model.rigid_at(collider.body) else { return false };
    let built = &rigid.colliders[collider.collider as usize];
    let light = is_light(model, rigid.is_dynamic(), collider.body, heaviest);
    let m = contact_of(collider, slot);
    let material = point::pair_material(model, &settings.pairs, &m);
    let round = built.geometry.ball().is_some() || built.geometry.plane().is_some();
    round && light && material.restitution <= 0.0 && material.grain.is_none()
}

/// Lists the colliders within the search distance of a cloth. False when one of them needs rows.
pub(crate) fn find_colliders(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    soft: &mut SoftWork,
    settings: &Settings,
    slot: u32,
) -> bool {
    let (Some(nodes), Some(skin)) = (model.nodes_at(slot), detect.skins[slot as usize].as_ref()) else { return false };
    let fall = settings.gravity.length() * settings.dt * settings.dt;
    let reach = settings.contact_margin + fall + 2.0 * settings.dt * skin.fastest;
    if let Some(around) = skin.bounds.map(|b| b.grown(reach)) {
        surfel::near_colliders(model, bodies, detect, (slot, nodes), &around);
    } else {
        detect.near_colliders.clear();
    }
    let soft = &mut soft.models;
    let DetectWork { skins, colliders, near_colliders, motion, .. } = detect;
    let (Some(held), Some(skin)) = (soft[slot as usize].as_mut(), skins[slot as usize].as_ref()) else { return false };
    held.cloth.colliders.clear();
    held.cloth.heaviest = if near_colliders.is_empty() { 0.0 } else { heaviest(nodes) };
    held.cloth.nearest.resize(near_colliders.len(), 0);
    for (k, &c) in near_colliders.iter().enumerate() {
        let ColliderRef { body, collider, .. } = colliders[c as usize];
        let Some(rigid) = model.rigid_at(body) else { continue };
        let (built, i) = (&rigid.colliders[collider as usize], body as usize);
        let holds = built.geometry.plane().is_some() || corners_hold(built, skin, nodes.traits.radius, settings);
        if !holds || !is_cloth_collider(model, colliders[c as usize], slot, held.cloth.heaviest, settings) {
            held.cloth.eligible = false;
            return false;
        }
        let placed = Pose::new(state.x[i], state.q[i]).then_inner(&built.place);
        let far = nodes.traits.radius + settings.standoff() + reach + motion[i];
        let Some(reach) = Reach::of(&built.geometry, &placed, far) else { continue };
        // one near node is enough: the search begins at the one of the previous step
        let (first, count) = (&mut held.cloth.nearest[k], skin.x.len());
        let mut order = (*first..count).chain(0..count.min(*first));
        if let Some(n) = order.find(|&n| !reach.is_beyond(skin.x[n])) {
            *first = n;
            held.cloth.colliders.push(c);
        }
    }
    true
}

/// Calls `see` with each pair of a collider's body and an eligible cloth.
pub(crate) fn each_pair(soft: &[Option<SoftBodyWork>], colliders: &[ColliderRef], mut see: impl FnMut(u32, u32)) {
    for (slot, held) in soft.iter().enumerate() {
        let Some(sheet) = held.as_ref().map(|held| &held.cloth).filter(|sheet| sheet.eligible) else { continue };
        sheet.colliders.iter().for_each(|&collider| see(colliders[collider as usize].body, slot as u32));
    }
}

/// Withdraws eligibility from cloths that are inactive or share an island with an implicit body, and finds their
/// contacts one by one. Runs after the islands are known.
pub(crate) fn leave_for_rows(
    model: &Model,
    state: &mut State,
    bodies: &mut BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    soft: &mut SoftWork,
    settings: &Settings,
) {
    if !soft.models.iter().flatten().any(|held| held.cloth.eligible) {
        return;
    }
    let mut stiff = std::mem::take(&mut soft.stiff_islands);
    stiff.clear();
    stiff.resize(model.bodies.slot_count(), 0);
    for &slot in &bodies.active_nodes {
        if soft.models[slot as usize].as_ref().is_some_and(|held| held.model.operator().is_some()) {
            stiff[bodies.islands.root(slot) as usize] = 1;
        }
    }
    let mut more = false;
    for slot in 0..soft.models.len() as u32 {
        let apart = !bodies.active[slot as usize] || stiff[bodies.islands.root(slot) as usize] == 1;
        let Some(held) = soft.models[slot as usize].as_mut().filter(|held| held.cloth.eligible && apart) else {
            continue;
        };
        held.cloth.eligible = false;
        memory::spell_out(model, state, settings, slot);
        surfel::find_again(model, state, bodies, detect, contact, settings, slot);
        surface::find_own(model, state, bodies, detect, contact, settings, slot);
        more = true;
    }
    soft.stiff_islands = stiff;
    if more {
        put_in_order(&mut contact.contacts, &mut contact.order, |_, _| {});
        contact.any_flags = contact.contacts.iter().fold(0, |flags, m| flags | m.flags);
    }
}

/// Decides the residence of every cloth, and loads the colliders and contact memory of the resident ones.
pub(crate) fn settle_residence(
    setup: &Setup,
    state: &State,
    bodies: &BodyWork,
    detect: &DetectWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, pool } = *setup;
    // residuals are reported for each sweep over all rows
    let together = settings.residuals || settings.stop_residual > 0.0 || settings.order != Order::Interleaved;
    let soft = &mut soft.models;
    let colliders = &detect.colliders;
    let active = &bodies.active;
    let report = &mut output.report;
    pool.chunks(soft, 1, &|slot, held| {
        let Some(held) = &mut held[0] else { return };
        let resident = held.cloth.eligible && active[slot];
        held.cloth.residence = match (resident, together) {
            (false, _) => Residence::Rows,
            (true, true) => Residence::Shared,
            (true, false) => Residence::Alone,
        };
        held.cloth.count = 0;
        held.cloth.coupled.clear();
        if resident {
            let walls = std::mem::take(&mut held.cloth.colliders);
            for &collider in &walls {
                add_collider(model, state, held, (colliders[collider as usize], slot as u32), settings, active);
            }
            held.cloth.colliders = walls;
            self_contact::begin(model, state, held, settings, slot as u32);
        }
    });
    for held in soft.iter().flatten().filter(|held| held.cloth.residence.is_resident()) {
        report.counts.internal_rows += held.model.traits().internal_rows as u32;
    }
}

/// Shape and friction of a collider, grown by the radius of a node and the standoff of the contact [m].
fn shape_of(
    collider: ColliderRef,
    built: &BuiltCollider,
    material: &SurfaceMaterial,
    [radius, standoff]: [Real; 2],
) -> ClothCollider {
    let normal = built.geometry.plane();
    ClothCollider {
        slot: collider.body,
        collider: collider.collider,
        static_friction: material.static_friction,
        kinetic_friction: material.kinetic_friction,
        law: material.law,
        core: built.place.position,
        normal: normal.map_or(Vec3::ZERO, |n| built.place.rotation * n),
        flat: normal.is_some(),
        radius: built.geometry.ball().unwrap_or(0.0) + radius + standoff,
    }
}

/// Adds a collider with the contact memory of the nodes.
fn add_collider(
    model: &Model,
    state: &State,
    held: &mut SoftBodyWork,
    (collider, slot): (ColliderRef, u32),
    settings: &Settings,
    active: &[bool],
) {
    let (Some(nodes), Some(rigid)) = (model.nodes_at(slot), model.rigid_at(collider.body)) else { return };
    let like = contact_of(collider, slot);
    let material = point::pair_material(model, &settings.pairs, &like);
    let built = &rigid.colliders[collider.collider as usize];
    let shape = shape_of(collider, built, &material, [nodes.traits.radius, settings.standoff()]);
    let Some(network) = held.model.network() else { return };
    let ClothWork { residence, touches, count, slots, coupled, heaviest, .. } = &mut held.cloth;
    let moves = active[collider.body as usize] || rigid.motion == Motion::Kinematic;
    if moves {
        *residence = Residence::Shared;
    }
    if slots.is_empty() {
        *slots = network.soa.slots();
    }
    if touches.len() == *count {
        touches.push(ClothContacts::default());
    }
    let touch = &mut touches[*count];
    *count += 1;
    touch.reset(shape, network.soa.slot_count() / 8);
    touch.coupled = coupled.iter().position(|p| p.slot == collider.body).unwrap_or(coupled.len());
    if touch.coupled == coupled.len() {
        let jacobi_groups = light_ratio(model, collider.body, *heaviest).max(1.0) as u32;
        coupled.push(CoupledBody::new(collider.body, Side::default(), moves, jacobi_groups, Vec3::ZERO));
    }
    // a body at rest does not rotate: tangential displacements are kept in world axes
    let into_cloth_contacts = if moves { Quat::IDENTITY } else { state.q[collider.body as usize] };
    touch.axes = into_cloth_contacts.inverse();
    // of the previous step: node contacts, or contacts of a cloth that was solved by rows
    for m in of_pair(&state.contacts, &like.key) {
        touch.above_threshold |= m.has(contact_flag::ABOVE_THRESHOLD);
        let point = &m.points[0];
        let tangential_displacement =
            m.tangent * point.tangential_displacement[0] + m.normal.cross(m.tangent) * point.tangential_displacement[1];
        if let Some(&column) = slots[..nodes.inv_mass.len()].get(m.key.sub_b as usize) {
            touch.remember(column, into_cloth_contacts * tangential_displacement, point.slipping != 0);
        }
    }
    for g in of_wall(&state.cloth_contacts, collider.body, slot, collider.collider) {
        touch.above_threshold |= g.has(contact_flag::ABOVE_THRESHOLD);
        if let Some(&column) = slots[..nodes.inv_mass.len()].get(g.node as usize) {
            touch.remember(column, into_cloth_contacts * g.tangential_displacement, g.slipping != 0);
        }
    }
}
