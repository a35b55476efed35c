//! Contacts of surfels with rigid bodies: found, written as rows, and settled. They are three rows each in the one sweep,
//! on the blocks of the nodes that the surfel follows and the body's two.

use super::{StepContext, classic_contact, surface_contact, touch};
use crate::collision::Bounds3;
use crate::constraint::Bounds;
use crate::math::{Pose, Real, Vec3, any_orthonormal};
use crate::model::Model;
use crate::settings::Settings;
use crate::state::{ContactKey, ContactMemory, State, contact_flag};
use crate::work::{NodeContact, Work};
use bytemuck::Zeroable;

/// Finds contacts of all surfels with rigid bodies; appends them to the step's contacts.
pub(super) fn find(model: &Model, state: &State, work: &mut Work, settings: &Settings) {
    for (slot, _) in model.bodies.iter() {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        if nodes.traits.radius < 0.0 {
            continue;
        }
        let start = work.contacts.len();
        for surfel in 0..nodes.surface.len() as u32 {
            let Some(skin) = work.skins[slot as usize].as_ref() else { break };
            let (x, v) = (skin.x[surfel as usize], skin.v[surfel as usize]);
            let inward = if nodes.surface.is_solid() { -skin.normals[surfel as usize] } else { Vec3::ZERO };
            find_one(model, state, work, settings, Probe { slot, surfel, x, v, inward });
        }
        surface_contact::find_rigid(model, state, work, settings, slot, start);
    }
}

/// A surfel that looks for what it touches.
struct Probe {
    slot: u32,
    surfel: u32,
    x: Vec3,
    v: Vec3,
    /// Into its own body; zero when that has no inside.
    inward: Vec3,
}

fn find_one(model: &Model, state: &State, work: &mut Work, settings: &Settings, probe: Probe) {
    let Work { broad, bounds, colliders, contacts, motion, .. } = work;
    let Some(nodes) = model.nodes_at(probe.slot) else { return };
    let x = probe.x;
    let fall = settings.gravity.length() * settings.dt * settings.dt;
    let travel = 2.0 * settings.dt * probe.v.length() + fall;
    let buffer = if nodes.is_soft() { 0.0 } else { settings.contact_method.buffer() };
    let reach = settings.contact_margin + buffer + travel;
    let around = Bounds3 { min: x, max: x }.grown(nodes.traits.radius + reach);
    broad.overlapping(&around, |c| {
        let collider = colliders[c as usize];
        if !bounds[c as usize].meets(&around) {
            return;
        }
        let Some(rigid) = model.rigid_at(collider.body) else { return };
        let built = &rigid.colliders[collider.collider as usize];
        if built.sensor || !built.groups.meets(nodes.traits.groups) || model.are_apart(collider.body, probe.slot) {
            return;
        }
        let i = collider.body as usize;
        let pose = Pose::new(state.x[i], state.q[i]);
        let placed = pose.then_inner(&built.place);
        let key = ContactKey {
            a: collider.body,
            b: probe.slot,
            collider_a: collider.collider,
            collider_b: 0,
            sub_a: 0,
            sub_b: probe.surfel,
        };
        if classic_contact::takes(settings, model, &key) {
            if classic_contact::is_node_near(model, &key, &placed, x, reach + motion[i]) {
                contacts.push(classic_contact::memory(state, key));
            }
            return;
        }
        // seen from inside its own body: a surfel on an edge of the shape has no normal, or any
        let from = x + probe.inward * settings.contact_margin;
        let (on, inside) = built.geometry.project(&placed, from);
        let away = if inside { on - from } else { from - on };
        let Some(normal) = away.try_normalize() else { return };
        let radius = nodes.traits.radius + settings.standoff();
        let gap = normal.dot(x - on) - radius;
        if gap > reach + motion[i] {
            return;
        }
        let mut m = remember(state, key, pose.rotation.inverse() * normal, radius);
        m.points[0].local_a = pose.unpoint(on);
        contacts.push(m);
    });
}

/// The contact with what State has of it; the normal in the axes of a.
pub(super) fn remember(state: &State, key: ContactKey, normal: Vec3, radius: Real) -> ContactMemory {
    let old = state.contacts.binary_search_by_key(&key, |m| m.key).ok().map(|i| state.contacts[i]);
    // numbers that cannot be are forgotten, as for manifolds
    let old = old.filter(super::detect::sane);
    let mut m = ContactMemory { key, count: 1, flags: contact_flag::NODE, normal, ..ContactMemory::zeroed() };
    m.radius = [0.0, radius];
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

/// Writes the rows of all node contacts of sweep islands with their warm impulses.
pub(super) fn rows(ctx: &StepContext, model: &Model, work: &mut Work) {
    work.node_contacts.clear();
    let mut rows = std::mem::take(&mut work.contact_rows);
    rows.clear();
    let p = &ctx.contact;
    let mut terms = std::mem::take(&mut work.terms);
    for (index, m) in work.contacts.iter().enumerate() {
        if !m.has(contact_flag::NODE) || work.implicit.holds(m.key.a) || work.implicit.holds(m.key.b) {
            continue;
        }
        let Some(at) = touch::place(model, &work.pose, m, 0) else { continue };
        let material = touch::pair_material(model, m);
        let point = m.points[0];
        let row = rows.len() as u32;
        let friction = if point.slipping != 0 { material.kinetic_friction } else { material.static_friction };
        let bounds = Bounds::Disc { normal: row + 2, friction, radius: 0.0 };
        for (k, bounds) in [(0, bounds), (1, Bounds::Mate)] {
            let bias = p.friction_rate * point.stick[k];
            touch::terms(model, work, m, at.tangents[k], at.at, &mut terms);
            rows.push(&terms, bias, bias, 0.0, bounds);
        }
        let overlap = at.gap.min(0.0);
        let push = (overlap * p.bias_rate).max(-p.push_speed);
        let (bias, correction) = if at.gap > 0.0 { (at.gap * p.inv_h, 0.0) } else { (push, push) };
        touch::terms(model, work, m, at.normal, at.at, &mut terms);
        rows.push(&terms, bias, correction, 0.0, Bounds::AtLeast(0.0));
        let list = rows.rows_mut();
        list[row as usize].impulse = point.impulse[1];
        list[row as usize + 1].impulse = point.impulse[2];
        list[row as usize + 2].impulse = point.impulse[0];
        work.node_contacts.push(NodeContact { manifold: index as u32, row });
        work.report.penetration = work.report.penetration.max(-at.gap);
    }
    work.contact_rows = rows;
    work.terms = terms;
}

/// After the correcting sweeps: how far each contact slipped, and whether it sticks.
pub(super) fn settle(ctx: &StepContext, model: &Model, work: &mut Work) {
    for c in &work.node_contacts {
        let m = work.contacts[c.manifold as usize];
        let rows = work.contact_rows.rows();
        let (t1, t2) = (rows[c.row as usize].impulse, rows[c.row as usize + 1].impulse);
        let n = rows[c.row as usize + 2].impulse;
        let slip = [0, 1].map(|k| work.contact_rows.drift(c.row + k, &work.velocity));
        let answer = rows[c.row as usize].diagonal;
        let material = touch::pair_material(model, &m);
        let point = &mut work.contacts[c.manifold as usize].points[0];
        let mu = if point.slipping != 0 { material.kinetic_friction } else { material.static_friction };
        let sticks = t1 * t1 + t2 * t2 < (0.9999 * mu * n) * (0.9999 * mu * n);
        for (stick, slip) in point.stick.iter_mut().zip(slip) {
            *stick += ctx.h * slip;
        }
        // returned onto the cone: the stretch that the largest friction can hold
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
