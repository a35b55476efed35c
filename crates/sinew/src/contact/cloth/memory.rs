//! Contact memory of cloths that are solved in SoA: one record (`ClothContactMemory`) for each node that was in contact, and
//! the sums of their forces. Written once a step from the lanes of the step (`contact/kernel/cloth.rs`), for each cloth
//! separately. A cloth that is not in SoA has ordinary contacts: its records are *expanded* into contacts before
//! contacts are searched.

use crate::collision::surface::feature;
use crate::contact::cloth::self_contact;
use crate::contact::kernel::cloth::ClothContacts;
use crate::contact::route::Residence;
use crate::contact::sort::put_in_order;
use crate::math::{Block, Pose, Quat, Vec3, any_orthonormal, vec};
use crate::model::{Model, Nodes};
use crate::settings::Settings;
use crate::solver::pool::Span;
use crate::state::{ClothContactMemory, ContactKey, ContactMemory, State, contact_flag};
use crate::work::{
    BodyWork, ClothPairForce, ClothWork, ContactWork, IslandWork, OutputWork, PointForce, Setup, SoftWork,
};
use bytemuck::Zeroable;

/// Collects the node contacts of all cloths that were in SoA, and their self-contacts. Runs after the contacts of the
/// other routes have been read: appending the self-contacts preserves the order of those, not their indices.
pub(crate) fn keep(
    setup: &Setup,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    island: &IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, pool } = *setup;
    let models = &mut soft.models;
    let ContactWork { cloth_pairs, cloth_contacts, cloth_pair_spans, .. } = contact;
    let OutputWork { cloth_point_forces, cloth_pair_forces, .. } = output;
    let (pose, substeps) = (&bodies.pose[..], island.substeps);
    pool.chunks(models, 1, &|slot, held| {
        let (Some(held), Some(nodes)) = (&mut held[0], model.nodes_at(slot as u32)) else { return };
        if held.cloth.residence == Residence::Shared {
            keep_touches(&mut held.cloth, (slot as u32, nodes), pose, substeps);
        }
    });
    cloth_pairs.clear();
    for (slot, held) in models.iter().enumerate() {
        let Some(sheet) = held.as_ref().map(|held| &held.cloth).filter(|sheet| sheet.residence.is_resident()) else {
            continue;
        };
        let pair =
            |(k, touch): (usize, &ClothContacts)| (touch.collider.slot, slot as u32, touch.collider.collider, k as u32);
        cloth_pairs.extend(sheet.touches[..sheet.count].iter().enumerate().map(pair));
    }
    cloth_pairs.sort_unstable();
    let kept = |k: usize| {
        let (_, slot, _, touch) = cloth_pairs[k];
        models[slot as usize].as_ref().map_or(&[][..], |held| &held.cloth.touches[touch as usize].kept)
    };
    let mut end = 0;
    cloth_pair_spans.clear();
    cloth_pair_spans.extend((0..cloth_pairs.len()).map(|k| {
        let start = end;
        end += kept(k).len();
        Span { start, end }
    }));
    // data of the previous step is overwritten
    cloth_contacts.resize(end, ClothContactMemory::zeroed());
    pool.spans(cloth_contacts, cloth_pair_spans, &|k, to| to.copy_from_slice(kept(k)));
    cloth_point_forces.clear();
    cloth_pair_forces.clear();
    for at in 0..contact.cloth_pairs.len() {
        keep_pair(model, bodies, contact, soft, output, settings, at);
    }
    let before = contact.contacts.len();
    for slot in 0..soft.models.len() as u32 {
        self_contact::keep(setup, bodies, contact, soft, output, slot);
    }
    let counts = &mut output.report.counts;
    let made = (contact.cloth_contacts.len() + contact.contacts.len() - before) as u32;
    (counts.manifolds, counts.contacts) = (counts.manifolds + made, counts.contacts + made);
    counts.contact_rows += 3 * made;
    let ContactWork { contacts, order, .. } = contact;
    let readout = &mut output.readout;
    put_in_order(contacts, order, |a, b| readout.swap(a, b));
}

/// Writes the contact memory of one cloth, at the poses that bodies have at the end of the step. A cloth that runs its
/// substeps alone writes it right after its last substep, while its data is in cache.
pub(crate) fn keep_touches(sheet: &mut ClothWork, (slot, nodes): (u32, &Nodes), pose: &[Block], substeps: u32) {
    for touch in &mut sheet.touches[..sheet.count] {
        let back = Quat::from_array(pose[2 * touch.collider.slot as usize + 1]).inverse();
        touch.keep(slot, &sheet.slots[..nodes.inv_mass.len()], back, substeps);
    }
}

/// Forces between one cloth and one collider.
fn keep_pair(
    model: &Model,
    bodies: &BodyWork,
    contact: &ContactWork,
    soft: &SoftWork,
    output: &mut OutputWork,
    settings: &Settings,
    at: usize,
) {
    let (body, slot, _, touch) = contact.cloth_pairs[at];
    let soft = &soft.models;
    let OutputWork { cloth_point_forces, cloth_pair_forces, report, .. } = output;
    let pose = &bodies.pose;
    let (Some(nodes), Some(Some(held))) = (model.nodes_at(slot), soft.get(slot as usize)) else { return };
    let (touch, inv_dt) = (&held.cloth.touches[touch as usize], 1.0 / settings.dt);
    report.penetration = report.penetration.max(touch.total.deepest);
    let (force, normal) = (touch.total.impulse * inv_dt, touch.total.pressed * inv_dt);
    match cloth_pair_forces.last_mut() {
        Some(pair) if (pair.body, pair.sheet) == (body, slot) => {
            (pair.force, pair.normal) = (pair.force + force, pair.normal + normal);
            (pair.touching, pair.above_threshold) =
                (pair.touching | touch.total.touching, pair.above_threshold | touch.above_threshold);
        }
        _ if touch.kept.is_empty() => {}
        _ => {
            let (touching, above_threshold) = (touch.total.touching, touch.above_threshold);
            cloth_pair_forces.push(ClothPairForce { body, sheet: slot, force, normal, touching, above_threshold });
        }
    }
    if !settings.point_forces {
        return;
    }
    let placed = Pose::new(vec(pose[2 * body as usize]), Quat::from_array(pose[2 * body as usize + 1]));
    let first = model.node_block(nodes.start) as usize;
    for g in &touch.kept {
        let Some((grip, lane)) = touch.find(held.cloth.slots[g.node as usize]) else { continue };
        // position at the end of the step
        let point = vec(pose[first + g.node as usize]);
        let away = placed.rotation.inverse() * (point - placed.position) - touch.collider.core;
        let direction = if touch.collider.flat { touch.collider.normal } else { away.normalize_or_zero() };
        // a node may separate from the body and return within a step: the force is the sum over its substeps
        let force = Vec3::new(grip.sum[0][lane], grip.sum[1][lane], grip.sum[2][lane]) * inv_dt;
        let (direction, gap) = (placed.rotation * direction, -grip.deepest[lane]);
        cloth_point_forces.push(PointForce { point, direction, gap, normal: grip.pressed[lane] * inv_dt, force });
    }
}

/// The key of the contact that a record corresponds to.
pub(crate) fn key_of(g: &ClothContactMemory) -> ContactKey {
    let (kind, node) = (feature::VERTEX, g.node);
    ContactKey { a: g.body, b: g.sheet, collider_a: g.collider, collider_b: kind, sub_a: 0, sub_b: node }
}

/// Converts the node contact records of a cloth into ordinary contacts: it is not in SoA.
pub(crate) fn spell_out(model: &Model, state: &mut State, settings: &Settings, sheet: u32) {
    let State { cloth_contacts, contacts, x, q, node_x, .. } = state;
    let Some(nodes) = model.nodes_at(sheet).filter(|_| cloth_contacts.iter().any(|g| g.sheet == sheet)) else { return };
    let thick = nodes.traits.radius + settings.standoff();
    for g in cloth_contacts.iter().filter(|g| g.sheet == sheet) {
        let Some(rigid) = model.rigid_at(g.body) else { continue };
        let (Some(built), Some(at)) =
            (rigid.colliders.get(g.collider as usize), node_x[nodes.span()].get(g.node as usize))
        else {
            continue;
        };
        let local = q[g.body as usize].inverse() * (*at - x[g.body as usize]);
        let (core, flat) = (built.place.position, built.geometry.plane());
        let away = local - core;
        let normal = flat.map_or(away.normalize_or_zero(), |n| built.place.rotation * n);
        let on = if flat.is_some() { local - normal * normal.dot(away) } else { core };
        let tangent = any_orthonormal(normal);
        let across = [tangent, normal.cross(tangent)];
        let flags = contact_flag::NODE | g.flags & (contact_flag::TOUCHING | contact_flag::ABOVE_THRESHOLD);
        let mut m = ContactMemory { key: key_of(g), count: 1, flags, normal, tangent, ..ContactMemory::zeroed() };
        m.radius = [built.geometry.ball().unwrap_or(0.0), thick];
        let point = &mut m.points[0];
        point.local_a = on;
        point.impulse = [normal.dot(g.impulse), across[0].dot(g.impulse), across[1].dot(g.impulse)];
        point.tangential_displacement = across.map(|t| t.dot(g.tangential_displacement));
        point.slipping = u32::from(g.slipping != 0);
        contacts.push(m);
    }
    cloth_contacts.retain(|g| g.sheet != sheet);
    contacts.sort_unstable_by_key(|m| m.key);
}
