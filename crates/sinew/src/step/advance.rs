//! Advance: positions are integrated with the corrected velocities; rotating bodies conserve their angular momentum.

use crate::island::Setup;
use crate::island::{SubstepContext, soft_body};
use crate::math::{Real, Vec3, integrate_rotation, put, quat, turn_free, vec};
use crate::model::{Model, Motion};
use crate::settings::Settings;
use crate::step::cloth;
use crate::work::{BodyWork, SoftWork};

pub(crate) fn advance(ctx: &SubstepContext, setup: &Setup, bodies: &mut BodyWork, soft: &mut SoftWork) {
    let Setup { model, settings, .. } = *setup;
    let (rigid, nodes) = (std::mem::take(&mut bodies.active_rigid), std::mem::take(&mut bodies.active_nodes));
    let kinematic = model.bodies.iter().filter_map(|(s, _)| Some((s, model.rigid_at(s)?)));
    for (slot, _) in kinematic.filter(|(_, r)| r.motion == Motion::Kinematic) {
        move_rigid(ctx.h, model, bodies, settings, slot);
    }
    for &slot in &rigid {
        move_rigid(ctx.h, model, bodies, settings, slot);
    }
    for &slot in &nodes {
        if cloth::is_resident(soft, slot) {
            // its positions were integrated together with its contacts
        } else if soft.models[slot as usize].is_some() {
            soft_body::advance(ctx.into(), setup, slot, bodies, soft);
        } else {
            move_particles(ctx.h, model, bodies, slot);
        }
    }
    (bodies.active_rigid, bodies.active_nodes) = (rigid, nodes);
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
        put(&mut bodies.velocity[2 * i + 1], after);
        integrate_rotation(free, turn - spin * h)
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

/// Limits a rotation to the largest one of a substep.
fn cap(turn: Vec3, most: Real) -> Vec3 {
    // clearly below: no square root
    if turn.length_squared() < 0.99 * most * most {
        return turn;
    }
    let length = turn.length();
    if length > most { turn * (most / length) } else { turn }
}
