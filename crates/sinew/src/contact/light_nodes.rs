//! Contacts of single light nodes with rigid bodies: put into lanes once a step, read back at its end.

use crate::contact::kernel::node::{NodeBatch, TouchBlocks};
use crate::contact::point;
use crate::contact::route::{Route, single_node};
use crate::island::SubstepContext;
use crate::math::{Block, Quat, Real, Vec3};
use crate::model::{Material, Model, PairRules};
use crate::settings::Settings;
use crate::solver::pgs::Pass;
use crate::state::ContactMemory;
use crate::work::{PointForce, Work};

/// Fills the lanes with the contacts of their route.
pub(crate) fn build(model: &Model, rules: &PairRules, work: &mut Work) {
    let Work { contacts, routes, node_touches, .. } = work;
    node_touches.clear();
    // the previous pair of colliders and its material
    let mut last: Option<((u32, u32, u32), Material)> = None;
    for (index, (m, _)) in contacts.iter().zip(routes.iter()).enumerate().filter(|(_, (_, r))| **r == Route::Node) {
        let (a, b) = (m.key.a, m.key.b);
        let Some(nodes) = model.nodes_at(b) else { continue };
        let Some(node) = single_node(nodes, m.key.sub_b) else { continue };
        // one pair of colliders a batch: one material, and every node once
        let pair = (a, b, m.key.collider_a);
        let known = last.filter(|(p, _)| *p == pair);
        let material = known.map_or_else(|| point::pair_material(model, rules, m), |(_, material)| material);
        last = Some((pair, material));
        let (batch, lane) = node_touches.lane(a, known.is_none());
        batch.static_friction = material.static_friction;
        batch.kinetic_friction = material.kinetic_friction;
        fill(batch, lane, index as u32, model.node_block(nodes.start + node), m);
    }
}

fn fill(batch: &mut NodeBatch, lane: usize, index: u32, block: u32, m: &ContactMemory) {
    if lane == 0 {
        // empty lanes read what is there
        batch.node = [block; 8];
    }
    (batch.node[lane], batch.store[lane], batch.origin[lane]) = (block, block, index);
    let point = &m.points[0];
    let bitangent = m.normal.cross(m.tangent);
    let stick = m.tangent * point.stick[0] + bitangent * point.stick[1];
    for k in 0..3 {
        batch.core[k][lane] = point.local_a[k];
        batch.flat_normal[k][lane] = m.normal[k];
        batch.stick[k][lane] = stick[k];
    }
    batch.flat[lane] = if m.radius[0] > 0.0 { 0.0 } else { 1.0 };
    batch.radius[lane] = m.radius[0] + m.radius[1];
    batch.slipping[lane] = if point.slipping != 0 { 1.0 } else { 0.0 };
}

/// One sweep.
pub(crate) fn sweep(ctx: &SubstepContext, work: &mut Work, settings: &Settings, pass: Pass) -> Real {
    let Work { node_touches, velocity, pose, inertia, v_remainder, .. } = work;
    node_touches.sweep(TouchBlocks { velocity, pose, inertia, rest: v_remainder }, &ctx.contact, pass, settings.lanes)
}

/// Impulses, slip and normals back into the contacts, and the mean forces of the step.
pub(crate) fn read(work: &mut Work, settings: &Settings) {
    let inv_dt = 1.0 / settings.dt;
    let mut deepest: Real = 0.0;
    let Work { node_touches, contacts, pose, forces, point_forces, .. } = work;
    for batch in node_touches.batches() {
        let q = Quat::from_array(pose[2 * batch.slot as usize + 1]).inverse();
        for (lane, &origin) in batch.origin.iter().enumerate().filter(|(_, o)| **o != u32::MAX) {
            let out = Out { contact: &mut contacts[origin as usize], force: &mut forces[origin as usize] };
            let point = point_forces.get_mut(origin as usize).map(|p| (&mut p[0], pose[batch.node[lane] as usize]));
            deepest = deepest.max(read_lane(batch, lane, (q, inv_dt), out, point));
        }
    }
    work.report.penetration = work.report.penetration.max(deepest);
}

/// Where the reading of a contact goes.
struct Out<'a> {
    contact: &'a mut ContactMemory,
    force: &'a mut [Real; 4],
}

/// One contact of a step that is over; `q` turns into the axes of the body. Returns how deep it was [m].
fn read_lane(
    batch: &NodeBatch,
    lane: usize,
    (q, inv_dt): (Quat, Real),
    out: Out<'_>,
    at: Option<(&mut PointForce, Block)>,
) -> Real {
    let pick = |a: &[[Real; 8]; 3]| Vec3::new(a[0][lane], a[1][lane], a[2][lane]);
    let m = out.contact;
    let (normal, across) = (pick(&batch.normal), pick(&batch.across));
    let local = q * normal;
    m.tangent = point::level(m.tangent, local);
    m.normal = local;
    let bitangent = m.normal.cross(m.tangent);
    let (stick, along) = (pick(&batch.stick), q * across);
    let push = batch.impulse[lane];
    let point = &mut m.points[0];
    point.impulse = [push, along.dot(m.tangent), along.dot(bitangent)];
    point.stick = [stick.dot(m.tangent), stick.dot(bitangent)];
    point.slipping = u32::from(batch.slipping[lane] > 0.0);
    // a node may leave its body and come back within a step: what counts is the sum of its substeps
    let force = (pick(&batch.sum) + normal * push + across) * inv_dt;
    let pressed = (batch.normal_sum[lane] + push) * inv_dt;
    *out.force = [force.x, force.y, force.z, pressed];
    crate::step::remember::set_touching(m, pressed > 0.0);
    if let Some((to, at)) = at {
        *to = PointForce {
            point: Vec3::new(at[0], at[1], at[2]),
            direction: normal,
            gap: -batch.deepest[lane],
            normal: pressed,
            force,
        };
    }
    batch.deepest[lane]
}
