//! Contacts of single nodes with rigid bodies: found, written as rows, and settled. They are three rows each in the one
//! sweep, on the node's block and the body's two.

use super::StepContext;
use crate::collision::Bounds3;
use crate::constraint::{Bounds, Term};
use crate::math::{Block, Pose, Quat, Real, Sym3, Vec3, any_orthonormal};
use crate::model::{Material, Model};
use crate::settings::Settings;
use crate::state::{ContactKey, ContactMemory, PointMemory, State, contact_flag};
use crate::work::{NodeContact, Work};
use bytemuck::Zeroable;

/// Finds contacts of all nodes; appends them to the step's contacts.
pub(super) fn find(model: &Model, state: &State, work: &mut Work, settings: &Settings) {
    let Work { broad, bounds, colliders, contacts, motion, .. } = work;
    for (slot, _) in model.bodies.iter() {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        if nodes.source.radius <= 0.0 {
            continue;
        }
        for (k, n) in nodes.span().enumerate() {
            let x = state.node_x[n];
            let fall = settings.gravity.length() * settings.dt * settings.dt;
            let travel = 2.0 * settings.dt * state.node_v[n].length() + fall;
            let reach = settings.contact_margin + travel;
            let around = Bounds3 { min: x, max: x }.grown(nodes.source.radius + reach);
            broad.overlapping(&around, |c| {
                let collider = colliders[c as usize];
                if !bounds[c as usize].meets(&around) {
                    return;
                }
                let Some(rigid) = model.rigid_at(collider.body) else { return };
                let built = &rigid.colliders[collider.collider as usize];
                if built.sensor || !built.groups.meets(nodes.source.groups) {
                    return;
                }
                let i = collider.body as usize;
                let pose = Pose::new(state.x[i], state.q[i]);
                let placed = pose.then_inner(&built.place);
                let (on, inside) = built.geometry.project(&placed, x);
                let away = if inside { on - x } else { x - on };
                let Some(normal) = away.try_normalize() else { return };
                let gap = if inside { -away.length() } else { away.length() } - nodes.source.radius;
                if gap > reach + motion[i] {
                    return;
                }
                let key = ContactKey {
                    a: collider.body,
                    b: slot,
                    collider_a: collider.collider,
                    collider_b: 0,
                    sub_a: 0,
                    sub_b: k as u32,
                };
                contacts.push(remember(state, key, &pose, on, normal, nodes.source.radius));
            });
        }
    }
}

/// The contact with what State has of it.
fn remember(state: &State, key: ContactKey, pose: &Pose, on: Vec3, normal: Vec3, radius: Real) -> ContactMemory {
    let normal = pose.rotation.inverse() * normal;
    let old = state.contacts.binary_search_by_key(&key, |m| m.key).ok().map(|i| state.contacts[i]);
    let mut m = ContactMemory { key, count: 1, flags: contact_flag::NODE, normal, ..ContactMemory::zeroed() };
    m.radius = [0.0, radius];
    m.points[0] = PointMemory { local_a: pose.unpoint(on), ..PointMemory::zeroed() };
    m.tangent = any_orthonormal(normal);
    if let Some(old) = old {
        m.flags |= old.flags & (contact_flag::TOUCHING | contact_flag::LOUD);
        m.tangent = (old.tangent - normal * normal.dot(old.tangent)).try_normalize().unwrap_or(m.tangent);
        m.points[0].impulse = old.points[0].impulse;
        m.points[0].stick = old.points[0].stick;
        m.points[0].slipping = old.points[0].slipping;
    }
    m
}

struct Geometry {
    normal: Vec3,
    tangents: [Vec3; 2],
    arm: Vec3,
    gap: Real,
}

/// Normal, arm and gap at the current poses.
fn geometry(m: &ContactMemory, pose: &[Block], block: usize) -> Geometry {
    let (x, q) = (pose[2 * m.key.a as usize], pose[2 * m.key.a as usize + 1]);
    let q = Quat::from_xyzw(q[0], q[1], q[2], q[3]);
    let normal = q * m.normal;
    let t1 = q * m.tangent;
    let arm = q * m.points[0].local_a;
    let node = vec(pose[block]);
    let gap = normal.dot(node - vec(x) - arm) - m.radius[1];
    Geometry { normal, tangents: [t1, normal.cross(t1)], arm, gap }
}

/// Writes the rows of all node contacts with their warm impulses.
pub(super) fn rows(ctx: &StepContext, model: &Model, work: &mut Work) {
    work.node_contacts.clear();
    work.contact_rows.clear();
    let p = &ctx.contact;
    for (index, m) in work.contacts.iter().enumerate() {
        if !m.has(contact_flag::NODE) {
            continue;
        }
        let Some(nodes) = model.nodes_at(m.key.b) else { continue };
        let block = model.node_block(nodes.start + m.key.sub_b) as usize;
        let g = geometry(m, &work.pose, block);
        let material = pair_material(model, m);
        let point = m.points[0];
        let a = 2 * m.key.a as usize;
        let inv = Sym3 {
            xx: work.inertia[a][0],
            yy: work.inertia[a][1],
            zz: work.inertia[a][2],
            xy: work.inertia[a][3],
            xz: work.inertia[a + 1][0],
            yz: work.inertia[a + 1][1],
        };
        let (inv_a, inv_n) = (work.velocity[a][3], work.velocity[block][3]);
        let terms = |axis: Vec3| {
            let torque = g.arm.cross(axis);
            [
                Term { block: block as u32, jacobian: axis, response: axis * inv_n },
                Term { block: a as u32, jacobian: -axis, response: -axis * inv_a },
                Term { block: a as u32 + 1, jacobian: -torque, response: -inv.mul(torque) },
            ]
        };
        let row = work.contact_rows.len() as u32;
        let friction = if point.slipping != 0 { material.kinetic_friction } else { material.static_friction };
        let bounds = Bounds::Disc { normal: row + 2, friction, radius: 0.0 };
        for (k, bounds) in [(0, bounds), (1, Bounds::Mate)] {
            let bias = p.friction_rate * point.stick[k];
            work.contact_rows.push(&terms(g.tangents[k]), bias, bias, 0.0, bounds);
        }
        let overlap = g.gap.min(0.0);
        let push = (overlap * p.bias_rate).max(-p.push_speed);
        let (bias, correction) = if g.gap > 0.0 { (g.gap * p.inv_h, 0.0) } else { (push, push) };
        work.contact_rows.push(&terms(g.normal), bias, correction, 0.0, Bounds::AtLeast(0.0));
        let rows = work.contact_rows.rows_mut();
        rows[row as usize].impulse = point.impulse[1];
        rows[row as usize + 1].impulse = point.impulse[2];
        rows[row as usize + 2].impulse = point.impulse[0];
        work.node_contacts.push(NodeContact { manifold: index as u32, row });
    }
}

/// After the correcting sweeps: how far each contact slipped, and whether it sticks.
pub(super) fn settle(ctx: &StepContext, model: &Model, work: &mut Work) {
    for c in &work.node_contacts {
        let m = work.contacts[c.manifold as usize];
        let Some(nodes) = model.nodes_at(m.key.b) else { continue };
        let block = model.node_block(nodes.start + m.key.sub_b) as usize;
        let g = geometry(&m, &work.pose, block);
        let a = 2 * m.key.a as usize;
        let body = vec(work.velocity[a]) + vec(work.velocity[a + 1]).cross(g.arm);
        let relative = vec(work.velocity[block]) - body;
        let rows = work.contact_rows.rows();
        let (t1, t2) = (rows[c.row as usize].impulse, rows[c.row as usize + 1].impulse);
        let n = rows[c.row as usize + 2].impulse;
        let material = pair_material(model, &m);
        let point = &mut work.contacts[c.manifold as usize].points[0];
        let mu = if point.slipping != 0 { material.kinetic_friction } else { material.static_friction };
        let sticks = t1 * t1 + t2 * t2 < (0.9999 * mu * n) * (0.9999 * mu * n);
        for (stick, t) in point.stick.iter_mut().zip(g.tangents) {
            *stick += ctx.h * t.dot(relative);
        }
        // returned onto the cone: the stretch that the largest friction can hold
        let answer = rows[c.row as usize].diagonal;
        let most = mu * n * ctx.contact.friction_stretch * answer;
        let length = (point.stick[0] * point.stick[0] + point.stick[1] * point.stick[1]).sqrt();
        if length > most {
            point.stick = point.stick.map(|s| s * (most / length));
        }
        point.slipping = u32::from(!sticks && n > 0.0);
    }
}

/// Reads the impulses back from the rows.
pub(super) fn harvest(work: &mut Work) {
    for c in &work.node_contacts {
        let rows = work.contact_rows.rows();
        let point = &mut work.contacts[c.manifold as usize].points[0];
        let at = c.row as usize;
        point.impulse = [rows[at + 2].impulse, rows[at].impulse, rows[at + 1].impulse];
    }
}

fn pair_material(model: &Model, m: &ContactMemory) -> Material {
    let body = model.rigid_at(m.key.a).map(|r| r.colliders[m.key.collider_a as usize].material);
    let nodes = model.nodes_at(m.key.b).map(|n| n.source.material);
    body.unwrap_or_default().combine(&nodes.unwrap_or_default())
}

fn vec(b: Block) -> Vec3 {
    Vec3::new(b[0], b[1], b[2])
}
