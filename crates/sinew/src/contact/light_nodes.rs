//! Contacts of single light nodes with rigid bodies: put into lanes once a step, read back at its end.

use crate::contact::kernel::node::{NodeBatch, TouchBlocks};
use crate::contact::point;
use crate::contact::readout::PointImpulse;
use crate::contact::route::{Route, single_node};
use crate::math::{Quat, Real, Vec3, vec};
use crate::model::{Model, PairRules, SurfaceMaterial};
use crate::settings::Settings;
use crate::solver::pgs::Pass;
use crate::state::ContactMemory;
use crate::work::{BodyWork, ContactWork, OutputWork, SubstepContext};

/// Fills the lanes with the contacts of their route.
pub(crate) fn build(model: &Model, rules: &PairRules, contact: &mut ContactWork) {
    let ContactWork { contacts, routes, node_touches, .. } = contact;
    node_touches.clear();
    // the previous pair of colliders and its material
    let mut last: Option<((u32, u32, u32), SurfaceMaterial)> = None;
    for (index, (m, _)) in contacts.iter().zip(routes.iter()).enumerate().filter(|(_, (_, r))| **r == Route::Node) {
        let (a, b) = (m.key.a, m.key.b);
        let Some(nodes) = model.nodes_at(b) else { continue };
        let Some(node) = single_node(nodes, m.key.sub_b) else { continue };
        // one pair of colliders a batch: one material, and each node at most once
        let pair = (a, b, m.key.collider_a);
        let known = last.filter(|(p, _)| *p == pair);
        let material = known.map_or_else(|| point::pair_material(model, rules, m), |(_, material)| material);
        last = Some((pair, material));
        let (batch, lane) = node_touches.lane(a, known.is_none());
        batch.static_friction = material.static_friction;
        batch.kinetic_friction = material.kinetic_friction;
        batch.law = material.law;
        fill(batch, lane, index as u32, model.node_block(nodes.start + node), m);
    }
}

fn fill(batch: &mut NodeBatch, lane: usize, index: u32, block: u32, m: &ContactMemory) {
    if lane == 0 {
        // empty lanes read a valid block
        batch.node = [block; 8];
    }
    (batch.node[lane], batch.store[lane], batch.origin[lane]) = (block, block, index);
    let point = &m.points[0];
    let bitangent = m.normal.cross(m.tangent);
    let tangential_displacement =
        m.tangent * point.tangential_displacement[0] + bitangent * point.tangential_displacement[1];
    for k in 0..3 {
        batch.core[k][lane] = point.local_a[k];
        batch.flat_normal[k][lane] = m.normal[k];
        batch.tangential_displacement[k][lane] = tangential_displacement[k];
    }
    batch.flat[lane] = if m.radius[0] > 0.0 { 0.0 } else { 1.0 };
    batch.radius[lane] = m.radius[0] + m.radius[1];
    batch.slipping[lane] = if point.slipping != 0 { 1.0 } else { 0.0 };
}

/// One sweep.
pub(crate) fn sweep(
    ctx: &SubstepContext,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    settings: &Settings,
    pass: Pass,
) -> Real {
    let node_touches = &mut contact.node_touches;
    let BodyWork { velocity, pose, inertia, v_remainder, .. } = bodies;
    node_touches.sweep(TouchBlocks { velocity, pose, inertia, rest: v_remainder }, &ctx.contact, pass, settings.lanes)
}

/// Impulses, tangential displacements and normals back into the contacts, and the sums of the step into the readout.
pub(crate) fn read(bodies: &BodyWork, contact: &mut ContactWork, output: &mut OutputWork) {
    let mut deepest: Real = 0.0;
    let ContactWork { node_touches, contacts, .. } = contact;
    let pose = &bodies.pose;
    let readout = &mut output.readout;
    for batch in node_touches.batches() {
        let q = Quat::from_array(pose[2 * batch.slot as usize + 1]).inverse();
        for (lane, &origin) in batch.origin.iter().enumerate().filter(|(_, o)| **o != u32::MAX) {
            let m = &mut contacts[origin as usize];
            let sum = read_lane(batch, lane, q, m);
            readout.add(origin, 0, sum);
            let (at, normal) = (vec(pose[batch.node[lane] as usize]), pick(&batch.normal, lane));
            readout.locate(origin, 0, at, normal, -batch.deepest[lane]);
            readout.mark_touching(origin, m);
            deepest = deepest.max(batch.deepest[lane]);
        }
    }
    output.report.penetration = output.report.penetration.max(deepest);
}

fn pick(a: &[[Real; 8]; 3], lane: usize) -> Vec3 {
    Vec3::new(a[0][lane], a[1][lane], a[2][lane])
}

/// Writes one contact of a completed step to memory; `q` rotates into the axes of the body. Returns its impulse over
/// all substeps: a node may separate from the body and return within a step.
fn read_lane(batch: &NodeBatch, lane: usize, q: Quat, m: &mut ContactMemory) -> PointImpulse {
    let (normal, across) = (pick(&batch.normal, lane), pick(&batch.across, lane));
    let local = q * normal;
    m.tangent = point::level(m.tangent, local);
    m.normal = local;
    let bitangent = m.normal.cross(m.tangent);
    let (tangential_displacement, along) = (pick(&batch.tangential_displacement, lane), q * across);
    let push = batch.impulse[lane];
    let point = &mut m.points[0];
    point.impulse = [push, along.dot(m.tangent), along.dot(bitangent)];
    point.tangential_displacement = [tangential_displacement.dot(m.tangent), tangential_displacement.dot(bitangent)];
    point.slipping = u32::from(batch.slipping[lane] > 0.0);
    PointImpulse { impulse: pick(&batch.sum, lane) + normal * push + across, normal: batch.normal_sum[lane] + push }
}
