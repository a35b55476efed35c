//! Contacts of single light nodes with rigid bodies: put into lanes once a step, read back at its end.

use crate::collision::surface::feature;
use crate::contact::kernel::node::{LIGHT, NodeBatch, TouchBlocks, largest};
use crate::contact::{law_rows, point};
use crate::island::SubstepContext;
use crate::math::{Block, Quat, Real, Vec3};
use crate::model::{Material, Model, Nodes, PairRules};
use crate::settings::Settings;
use crate::solver::pgs::Pass;
use crate::state::{ContactMemory, contact_flag};
use crate::work::{PointForce, Work};

/// Sorts out the contacts that lanes take; the others stay rows.
pub(crate) fn build(model: &Model, rules: &PairRules, work: &mut Work) {
    let any_laws = work.any_laws;
    let Work { contacts, node_touches, in_lanes, by_rows, implicit, active, any_flags, .. } = work;
    node_touches.clear();
    in_lanes.clear();
    in_lanes.resize(contacts.len(), false);
    // the pair of colliders before, and its surface
    let mut last: Option<((u32, u32, u32), Material)> = None;
    let some = if *any_flags & contact_flag::NODE != 0 { &contacts[..] } else { &[] };
    for (index, m) in some.iter().enumerate() {
        let ours = is_ours(m);
        let (a, b) = (m.key.a, m.key.b);
        if !ours || m.key.collider_b != feature::VERTEX || implicit.holds(a) || implicit.holds(b) {
            continue;
        }
        if any_laws && law_rows::takes(model, rules, m) {
            continue;
        }
        // a particle that turns has more to answer with than its mass
        let Some(nodes) = model.nodes_at(b).filter(|n| active[b as usize] && n.radii.is_empty()) else { continue };
        let Some(node) = single(nodes, m.key.sub_b) else { continue };
        if !is_light(model, active[a as usize], a, nodes.inv_mass[node as usize]) {
            continue;
        }
        // one pair of colliders a batch: one material, and every node once
        let pair = (a, b, m.key.collider_a);
        let known = last.filter(|(p, _)| *p == pair);
        let material = known.map_or_else(|| point::pair_material(model, rules, m), |(_, material)| material);
        last = Some((pair, material));
        // lanes know no bounce
        if material.restitution > 0.0 {
            continue;
        }
        let (batch, lane) = node_touches.lane(a, known.is_none());
        batch.static_friction = material.static_friction;
        batch.kinetic_friction = material.kinetic_friction;
        fill(batch, lane, index as u32, model.node_block(nodes.start + node), m);
        in_lanes[index] = true;
    }
    by_rows.clear();
    by_rows.extend((0..some.len() as u32).filter(|&index| {
        let m = &contacts[index as usize];
        let elsewhere = implicit.holds(m.key.a) || implicit.holds(m.key.b);
        let left = m.has(contact_flag::NODE) && m.key.anyone(active) && !elsewhere && !in_lanes[index as usize];
        left && !(any_laws && law_rows::takes(model, rules, m))
    }));
}

/// Of a surfel with a rigid body, and answered by impulses.
pub(crate) fn is_ours(m: &ContactMemory) -> bool {
    m.has(contact_flag::NODE) && !m.has(contact_flag::SURFACE | contact_flag::CLASSIC)
}

/// The node that a surfel is, when it is one.
fn single(nodes: &Nodes, surfel: u32) -> Option<u32> {
    if surfel as usize >= nodes.surface.len() || nodes.surface.offset(surfel) != 0.0 {
        return None;
    }
    match nodes.surface.shares(surfel) {
        [share] if share.weight == 1.0 => Some(share.node),
        _ => None,
    }
}

/// True when eight such nodes hardly move the body.
pub(crate) fn is_light(model: &Model, active: bool, slot: u32, inv_mass: Real) -> bool {
    inv_mass > 0.0 && model.rigid_at(slot).is_some() && (!active || light_share(model, slot, inv_mass) > 1.0)
}

/// How many times eight such nodes hardly move the body.
pub(crate) fn light_share(model: &Model, slot: u32, inv_mass: Real) -> Real {
    let Some(rigid) = model.rigid_at(slot) else { return 0.0 };
    let answer = rigid.inv_mass + largest(&rigid.inv_inertia) * rigid.radius * rigid.radius;
    LIGHT * inv_mass / (8.0 * answer)
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
