//! Self-contact of cloths in SoA: whether it can be solved there, and how it is read from and written to State.

use crate::collision::surface::{FeaturePair, feature};
use crate::contact::point;
use crate::contact::readout::PointImpulse;
use crate::deformable::cloth::{SelfContact, SelfContactRules};
use crate::math::{Real, Vec3, any_orthonormal, vec};
use crate::model::{Model, Nodes};
use crate::settings::Settings;
use crate::state::{ContactKey, ContactMemory, PointMemory, State, contact_flag};
use crate::work::{BodyWork, ContactWork, IslandWork, OutputWork, Setup, SoftBodyWork, SoftWork};
use bytemuck::Zeroable;

/// True for a cloth with self-contact.
pub(crate) fn self_contact(nodes: &Nodes) -> bool {
    nodes.traits.self_contact && nodes.touches() && !nodes.cells.corners.is_empty()
}

/// A self-contact of a cloth.
fn contact_of(slot: u32, pair: FeaturePair) -> ContactMemory {
    let (kind_a, kind_b) = if pair.edges { (feature::EDGE, feature::EDGE) } else { (feature::VERTEX, feature::FACE) };
    let key = ContactKey { a: slot, b: slot, collider_a: kind_a, collider_b: kind_b, sub_a: pair.a, sub_b: pair.b };
    let flags = contact_flag::NODE | contact_flag::SURFACE;
    ContactMemory { key, count: 1, flags, ..ContactMemory::zeroed() }
}

/// True when the SoA kernel can solve it: triangles only, no restitution and Coulomb friction.
pub(crate) fn is_eligible(model: &Model, settings: &Settings, slot: u32) -> bool {
    let Some(nodes) = model.nodes_at(slot) else { return false };
    let m = contact_of(slot, FeaturePair { edges: false, a: 0, b: 0 });
    let triangles = (0..nodes.cells.corners.len() as u32).all(|cell| nodes.cells.is_triangle(cell));
    let material = point::pair_material(model, &settings.pairs, &m);
    triangles && !nodes.surface.is_solid() && material.restitution <= 0.0 && !material.has_own_law()
}

/// Begins a step with the sides that State has of pairs that were in contact.
pub(crate) fn begin(model: &Model, state: &State, held: &mut SoftBodyWork, settings: &Settings, slot: u32) {
    let (Some(nodes), true) = (model.nodes_at(slot), held.cloth.has_self_contact) else { return };
    if held.cloth.self_contact.is_none() {
        let Some(network) = held.model.network() else { return };
        held.cloth.self_contact = Some(Box::new(SelfContact::new(&nodes.cells, &nodes.rest, &network.soa.slots())));
    }
    let Some(touch) = held.cloth.self_contact.as_mut() else { return };
    let material =
        point::pair_material(model, &settings.pairs, &contact_of(slot, FeaturePair { edges: false, a: 0, b: 0 }));
    let rules = SelfContactRules {
        thick: 2.0 * nodes.traits.radius,
        stray: settings.soft_margin(),
        time: settings.dt,
        static_friction: material.static_friction,
        kinetic_friction: material.kinetic_friction,
    };
    touch.begin(rules);
    let x = |n: u32| state.node_x[nodes.start as usize + n as usize];
    let first = state.contacts.partition_point(|m| (m.key.a, m.key.b) < (slot, slot));
    for m in state.contacts[first..].iter().take_while(|m| (m.key.a, m.key.b) == (slot, slot)) {
        let pair = match (m.key.collider_a, m.key.collider_b) {
            (feature::VERTEX, feature::FACE) => FeaturePair { edges: false, a: m.key.sub_a, b: m.key.sub_b },
            (feature::EDGE, feature::EDGE) => FeaturePair { edges: true, a: m.key.sub_a, b: m.key.sub_b },
            _ => continue,
        };
        // invalid numbers are discarded, as for manifolds
        let PointMemory { impulse: [pressed, f, g], slipping, .. } = m.points[0];
        let touching = m.has(contact_flag::TOUCHING);
        if (touching || pressed > 0.0) && m.is_valid() {
            let impulse = m.normal * pressed + m.tangent * f + m.normal.cross(m.tangent) * g;
            touch.remember(pair, (m.normal, touching), (impulse, slipping != 0), x);
        }
    }
}

/// Appends a contact, with its force, for each pair that was in contact in the step.
pub(crate) fn keep(
    setup: &Setup,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    island: &IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
    slot: u32,
) {
    let Setup { model, settings, .. } = *setup;
    let soft = &mut soft.models;
    let contacts = &mut contact.contacts;
    let OutputWork { readout, report, .. } = output;
    let pose = &bodies.pose;
    let substeps = &island.substeps;
    let Some(held) =
        soft[slot as usize].as_mut().filter(|held| held.cloth.residence.is_resident() && held.cloth.has_self_contact)
    else {
        return;
    };
    let (Some(nodes), Some(self_contact)) = (model.nodes_at(slot), &mut held.cloth.self_contact) else { return };
    let share = 1.0 / *substeps as Real;
    let first = model.node_block(nodes.start) as usize;
    let place = |n: u32| pose.get(first + n as usize).map_or(Vec3::ZERO, |b| vec(*b));
    self_contact.each_pair(|f| {
        let mut m = contact_of(slot, f.pair);
        report.penetration = report.penetration.max(f.deepest);
        let tangent = any_orthonormal(f.normal);
        let impulse = f.sum * share;
        // a pair that has separated keeps no side
        m.flags |= if f.stays { contact_flag::TOUCHING } else { 0 };
        (m.normal, m.tangent, m.radius) = (f.normal, tangent, [0.0, f.reach]);
        let point = &mut m.points[0];
        (point.local_a, point.local_b) = (f.shares[0], f.shares[1]);
        point.slipping = u32::from(f.slipping);
        point.impulse = [f.normal.dot(impulse), tangent.dot(impulse), f.normal.cross(tangent).dot(impulse)];
        contacts.push(m);
        let at = match nodes.cells.edges.get(f.pair.a as usize) {
            Some(&[a, b]) if f.pair.edges => place(a) * f.shares[0].x + place(b) * f.shares[0].y,
            _ => place(f.pair.a),
        };
        let sum = PointImpulse { impulse: f.sum, normal: f.pressed };
        readout.push(sum, at, f.normal, -f.deepest, settings.point_forces);
    });
}
