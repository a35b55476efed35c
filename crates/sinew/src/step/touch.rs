//! One contact point as rows see it: normal, tangents, gap and the common point, and the terms of a push there.

use crate::constraint::{Term, Terms};
use crate::math::{Block, Quat, Real, Sym3, Vec3};
use crate::model::{Material, Model};
use crate::state::{ContactMemory, contact_flag};
use crate::work::Work;

/// A contact point at the present poses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// From a to b.
    pub normal: Vec3,
    pub tangents: [Vec3; 2],
    /// Where both sides are pushed [m]. With two points the pair of forces would make spin.
    pub at: Vec3,
    /// Negative in penetration [m].
    pub gap: Real,
}

/// Where a contact point is now; the normal turns with a.
pub(super) fn place(model: &Model, pose: &[Block], m: &ContactMemory, k: usize) -> Option<Place> {
    let (x_a, q_a) = rigid_pose(pose, m.key.a);
    let normal = q_a * m.normal;
    let tangent = q_a * m.tangent;
    let on_a = x_a + q_a * m.points[k].local_a;
    if m.has(contact_flag::NODE) {
        let nodes = model.nodes_at(m.key.b)?;
        let first = model.node_block(nodes.start) as usize;
        // the surfel itself is the common point: a node cannot take a torque
        let at = nodes.surface.position(m.key.sub_b, &pose[first..first + nodes.inv_mass.len()]);
        let gap = normal.dot(at - on_a) - m.radius[1];
        return Some(Place { normal, tangents: [tangent, normal.cross(tangent)], at, gap });
    }
    let (x_b, q_b) = rigid_pose(pose, m.key.b);
    let on_a = on_a + normal * m.radius[0];
    let on_b = x_b + q_b * m.points[k].local_b - normal * m.radius[1];
    let apart = on_b - on_a;
    let gap = normal.dot(apart);
    let across = apart - normal * gap;
    // across the normal at the point of the round side: a rolling ball leaves the other one behind
    let lean = match (m.radius[0] > 0.0, m.radius[1] > 0.0) {
        (true, false) => 0.0,
        (false, true) => 1.0,
        _ => 0.5,
    };
    let at = on_a + normal * (0.5 * gap) + across * lean;
    Some(Place { normal, tangents: [tangent, normal.cross(tangent)], at, gap })
}

/// Terms of a push along `axis` at a point: + on b, − on a.
pub(super) fn terms(model: &Model, work: &Work, m: &ContactMemory, axis: Vec3, at: Vec3, out: &mut Terms) {
    out.clear();
    if m.has(contact_flag::NODE) {
        let Some(nodes) = model.nodes_at(m.key.b) else { return };
        for share in nodes.surface.shares(m.key.sub_b) {
            let block = model.node_block(nodes.start + share.node);
            let jacobian = axis * share.weight;
            out.add(Term { block, jacobian, response: jacobian * work.velocity[block as usize][3] });
        }
    } else {
        rigid_terms(work, m.key.b, axis, at, out);
    }
    rigid_terms(work, m.key.a, -axis, at, out);
}

fn rigid_terms(work: &Work, slot: u32, axis: Vec3, at: Vec3, out: &mut Terms) {
    let block = 2 * slot;
    let (x, _) = rigid_pose(&work.pose, slot);
    let (a, b) = (work.inertia[block as usize], work.inertia[block as usize + 1]);
    let inverse = Sym3 { xx: a[0], yy: a[1], zz: a[2], xy: a[3], xz: b[0], yz: b[1] };
    let torque = (at - x).cross(axis);
    out.add(Term { block, jacobian: axis, response: axis * work.velocity[block as usize][3] });
    out.add(Term { block: block + 1, jacobian: torque, response: inverse.mul(torque) });
}

fn rigid_pose(pose: &[Block], slot: u32) -> (Vec3, Quat) {
    let (x, q) = (pose[2 * slot as usize], pose[2 * slot as usize + 1]);
    (Vec3::new(x[0], x[1], x[2]), Quat::from_xyzw(q[0], q[1], q[2], q[3]))
}

/// Friction and restitution of the pair.
pub(super) fn pair_material(model: &Model, m: &ContactMemory) -> Material {
    let rigid = |slot: u32, collider: u32| {
        model.rigid_at(slot).and_then(|r| Some(r.colliders.get(collider as usize)?.material))
    };
    let a = rigid(m.key.a, m.key.collider_a);
    let b = if m.has(contact_flag::NODE) {
        model.nodes_at(m.key.b).map(|n| n.traits.material)
    } else {
        rigid(m.key.b, m.key.collider_b)
    };
    a.unwrap_or_default().combine(&b.unwrap_or_default())
}
