//! Motion of rigid bodies and bare particles by themselves: velocities after gravity, input and damping; positions with
//! the corrected velocities.

use crate::math::{Block, Real, Sym3, Vec3, beyond_tangent, integrate_rotation, put, quat, turn_free, vec};
use crate::model::Model;
use crate::settings::Settings;
use crate::work::BodyWork;

/// Gravity, input and damping on rigid bodies. Damping is implicit and part of the mass,
///
/// ```text
///   m (1 + c h) v⁺ = m v + h f + rows,
/// ```
///
/// so that until `restore_inertia` the rows see the inverse mass 1/(m (1 + c h)) and the inverse inertia likewise: a
/// damped body at rest weighs m g. With the plain mass in the rows it weighed m g/(1 + c h).
pub(crate) fn kick_rigid(h: Real, model: &Model, bodies: &mut BodyWork, settings: &Settings, slots: &[u32]) {
    for &slot in slots {
        let i = slot as usize;
        let Some(rigid) = model.rigid_at(slot) else { continue };
        let [force, torque] = bodies.force[i];
        let kick = (settings.gravity * rigid.gravity_scale + force * rigid.inv_mass) * h;
        // compensated sum: the same small increment 4,000 times a second is rounded the same way each time
        let v = vec(bodies.velocity[2 * i]);
        let whole = kick + bodies.v_remainder[i];
        let after = v + whole;
        bodies.v_remainder[i] = whole - (after - v);
        let [keep, keep_spin] = [decay(rigid.linear_damping, h), decay(rigid.angular_damping, h)];
        add(&mut bodies.velocity[2 * i], after - v, keep);
        let twist = if torque == Vec3::ZERO { Vec3::ZERO } else { answer(&bodies.inertia[2 * i..], torque) * h };
        add(&mut bodies.velocity[2 * i + 1], twist, keep_spin);
        if rigid.is_damped() {
            bodies.velocity[2 * i][3] *= keep;
            bodies.inertia[2 * i..2 * i + 2].as_flattened_mut().iter_mut().for_each(|part| *part *= keep_spin);
        }
    }
}

/// The inverse masses and inertias of damped bodies without their damping, after the rows of a substep.
pub(crate) fn restore_inertia(model: &Model, bodies: &mut BodyWork, rigid: &[u32], nodes: &[u32]) {
    for slot in rigid {
        let Some(body) = model.rigid_at(*slot).filter(|r| r.is_damped()) else { continue };
        bodies.velocity[2 * *slot as usize][3] = body.inv_mass;
        bodies.turn_inertia(model, std::slice::from_ref(slot));
    }
    for &slot in nodes {
        let Some(nodes) = model.nodes_at(slot).filter(|n| n.is_bare() && n.traits.damping > 0.0) else { continue };
        for (block, &inverse) in bodies.velocity[model.blocks_of(nodes)].iter_mut().zip(&nodes.inv_mass) {
            block[3] = inverse;
        }
    }
}

/// Gravity, input and damping on bare particles; damping as in `kick_rigid`.
pub(crate) fn kick_particles(h: Real, model: &Model, bodies: &mut BodyWork, settings: &Settings, slot: u32) {
    let Some(nodes) = model.nodes_at(slot) else { return };
    let gravity = settings.gravity * nodes.traits.gravity_scale;
    let keep = decay(nodes.traits.damping, h);
    for n in nodes.span() {
        let block = &mut bodies.velocity[model.node_block(n as u32) as usize];
        if block[3] > 0.0 {
            let kick = (gravity + bodies.node_force[n] * block[3]) * h;
            add(block, kick, keep);
            block[3] *= keep;
        }
    }
}

/// Angular acceleration by a torque.
fn answer(inertia: &[Block], torque: Vec3) -> Vec3 {
    let (a, b) = (inertia[0], inertia[1]);
    Sym3 { xx: a[0], yy: a[1], zz: a[2], xy: a[3], xz: b[0], yz: b[1] }.mul(torque)
}

/// Fraction of a velocity after damping for h: the implicit Euler solution 1/(1 + c h), never negative.
pub(crate) fn decay(damping: Real, h: Real) -> Real {
    1.0 / (1.0 + damping * h)
}

fn add(block: &mut Block, kick: Vec3, keep: Real) {
    block[0] = (block[0] + kick.x) * keep;
    block[1] = (block[1] + kick.y) * keep;
    block[2] = (block[2] + kick.z) * keep;
}

/// Moves a rigid body with its corrected velocity, a kinematic one with its velocity.
pub(crate) fn move_rigid(h: Real, model: &Model, bodies: &mut BodyWork, settings: &Settings, slot: u32) {
    let i = slot as usize;
    let Some(rigid) = model.rigid_at(slot) else { return };
    let position_velocity = if bodies.active[i] { &bodies.position_velocity } else { &bodies.velocity };
    let (v, w) = (vec(position_velocity[2 * i]), vec(position_velocity[2 * i + 1]));
    // compensated sum: at 1 km from the origin a substep of slow motion is below the last bit of f32
    let (x, way) = (vec(bodies.pose[2 * i]), v * h + bodies.x_remainder[i]);
    let there = x + way;
    bodies.x_remainder[i] = way - (there - x);
    put(&mut bodies.pose[2 * i], there);
    let q = quat(bodies.pose[2 * i + 1]);
    let turn = cap(w * h, settings.max_turn);
    let end = if bodies.active[i] && rigid.gyroscopic {
        // rotate with the corrected angular velocity; the relaxed one follows the rotated inertia, angular momentum
        // conserved
        let spin = cap(vec(bodies.velocity[2 * i + 1]) * h, settings.max_turn) / h;
        let (free, after) = turn_free(q, spin, rigid.inertia, h);
        let correction = turn - spin * h;
        // turned with the body, so that ω·I ω stays: a needle whose inertia turned alone gained energy without bound
        put(&mut bodies.velocity[2 * i + 1], turned_by(after, correction));
        integrate_rotation(free, correction)
    } else {
        integrate_rotation(q, turn)
    };
    bodies.pose[2 * i + 1] = end.to_array();
}

/// Moves bare particles with their corrected velocities.
pub(crate) fn move_particles(h: Real, model: &Model, bodies: &mut BodyWork, slot: u32) {
    let Some(nodes) = model.nodes_at(slot) else { return };
    for n in nodes.span() {
        let block = model.node_block(n as u32) as usize;
        let (v, x) = (bodies.position_velocity[block], &mut bodies.pose[block]);
        (x[0], x[1], x[2]) = (x[0] + h * v[0], x[1] + h * v[1], x[2] + h * v[2]);
    }
}

/// A vector after a rotation.
fn turned_by(v: Vec3, turn: Vec3) -> Vec3 {
    if turn == Vec3::ZERO { v } else { v + turn.cross(v) + beyond_tangent(turn, v) }
}

/// Limits a rotation to the largest one of a substep.
fn cap(turn: Vec3, most: Real) -> Vec3 {
    // clearly below: no square root
    if turn.length_squared() < 0.99 * most * most {
        return turn;
    }
    let length = turn.length();
    if length > most { turn * (most / length) } else { turn }
}
