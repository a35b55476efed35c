//! Motion beyond the tangent of implicit soft bodies that rotate.
//!
//! A linearly implicit step moves nodes along tangents, x + h v. A body that turns by θ in it is larger afterwards by the
//! factor 1 + θ²/2. That strain is stored as if forces had made it, and with stiffness damping β it relaxes within β, so
//! that θ²/2 of each substep adds up: a block of 500 kg with β = 0.1 s that turned by 0.19 rad a step held 40 kJ, five
//! times what it had fallen with. So positions follow the mean rotation ω of the body,
//!
//! ```text
//!   x⁺ = x + h v + d,   d = (R − 1) r − hω × r,   ω = I⁻¹ L,
//! ```
//!
//! with r from the centre of mass and R the free rotation of a rigid body with this inertia (`turn_free`: the exponential of
//! hω would lead to the axis of least inertia, where the energy is largest). d has no linear momentum; it is normal to v, so that angular momentum would change: v
//! gets the rotation δω × (r + h v + d) that keeps it.
//!
//! Material too soft to hold together within a substep moves along tangents indeed, and for it δω would be new energy. d
//! is the strain energy ½ (1 + β/h) d·K d that is not made; where that is less than the energy of δω, nothing is changed.

use crate::deformable::{Approximation, Coordinates};
use crate::math::{
    Quat, Real, Sym3, Vec3, Wide3, WideMat3, add, beyond_tangent, narrow, turn_free, vec, wide_outer,
    wide_pseudo_inverse, widen,
};
use crate::model::Model;
use crate::tuning::momentum::LINE;
use crate::tuning::rotation::LEAST;
use crate::work::{BodyWork, OutputWork, SoftWork};

/// Adds the motion beyond the tangent to `position_velocity`, which was `velocity`. Runs after the solve of a substep.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(crate) fn follow(
    h: Real,
    model: &Model,
    slot: u32,
    bodies: &mut BodyWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let SoftWork { models, heading, applied, .. } = soft;
    let (Some(nodes), Some(held)) = (model.nodes_at(slot), models[slot as usize].as_ref()) else { return };
    let Approximation::Lumped { decay, .. } = held.model.traits().response else { return };
    let Some(operator) = held.model.operator().filter(|_| nodes.coordinates == Coordinates::Nodes) else { return };
    let blocks = model.blocks_of(nodes);
    let BodyWork { pose, velocity, position_velocity, .. } = bodies;
    let (x, v) = (&pose[blocks.clone()], &mut velocity[blocks.clone()]);
    if v.iter().any(|v| v[3] == 0.0) {
        return;
    }
    let masses = || nodes.mass.iter().map(|m| *m as f64);
    let (mut mass, mut centre, mut mean) = (0.0, Wide3::ZERO, Wide3::ZERO);
    for ((m, x), v) in masses().zip(x).zip(v.iter()) {
        (mass, centre, mean) = (mass + m, centre + widen(vec(*x)) * m, mean + widen(vec(*v)) * m);
    }
    (centre, mean) = (centre / mass, mean / mass);
    let (mut spin, mut inertia) = (Wide3::ZERO, WideMat3::ZERO);
    for ((m, x), v) in masses().zip(x).zip(v.iter()) {
        let r = widen(vec(*x)) - centre;
        spin += r.cross(widen(vec(*v)) - mean) * m;
        inertia += moment(r, m);
    }
    let (inverse, whole) = (wide_pseudo_inverse(&inertia, LINE), symmetric(&inertia));
    let rate = narrow(inverse.inverse * spin);
    let turn = rate * h;
    if turn.length_squared() < LEAST * LEAST || !turn.is_finite() {
        return;
    }
    // what lies on a line has no inertia about it
    let free = if inverse.rank == 3 { angle_of(turn_free(Quat::IDENTITY, rate, whole, h).0) } else { turn };
    heading.clear();
    let (mut after, mut inertia, mut own) = (Wide3::ZERO, WideMat3::ZERO, 0.0);
    for ((m, x), v) in masses().zip(x).zip(v.iter()) {
        let (r, u) = (widen(vec(*x)) - centre, widen(vec(*v)) - mean);
        let beyond = beyond_tangent(free, narrow(r)) + (free - turn).cross(narrow(r));
        let there = r + u * h as f64 + widen(beyond);
        after += there.cross(u) * m;
        inertia += moment(there, m);
        own += m * widen(beyond).length_squared();
        heading.push([beyond.x, beyond.y, beyond.z, 0.0]);
    }
    let more = wide_pseudo_inverse(&inertia, LINE).inverse * (spin - after);
    let given = more.dot(after) + 0.5 * more.dot(inertia * more);
    applied.clear();
    applied.resize(heading.len(), [0.0; 4]);
    operator.apply(heading, applied);
    let along: f64 = heading.iter().zip(applied.iter()).map(|(d, p)| widen(vec(*d)).dot(widen(vec(*p)))).sum();
    let (h, decay) = (h as f64, decay as f64);
    let strain = 0.5 * (along - (1.0 + h * decay) * own) / (h * h);
    if !(strain > given) {
        return;
    }
    for (((x, v), c), beyond) in x.iter().zip(v).zip(&mut position_velocity[blocks]).zip(heading.iter()) {
        let there = widen(vec(*x)) - centre + (widen(vec(*v)) - mean) * h + widen(vec(*beyond));
        add(v, narrow(more.cross(there)));
        add(c, vec(*beyond) / h as Real);
    }
    output.ledger.integrated(slot, given);
}

/// Rotation vector of a rotation [rad].
fn angle_of(q: Quat) -> Vec3 {
    let sine = q.xyz().length();
    if sine > 0.0 { q.xyz() * (2.0 * sine.atan2(q.w) / sine) } else { Vec3::ZERO }
}

/// A symmetric matrix, rounded.
fn symmetric(m: &WideMat3) -> Sym3 {
    let (x, y, z) = (narrow(m.x_axis), narrow(m.y_axis), narrow(m.z_axis));
    Sym3 { xx: x.x, yy: y.y, zz: z.z, xy: x.y, xz: x.z, yz: y.z }
}

/// Moment of inertia of a mass at r [kg·m²].
fn moment(r: Wide3, mass: f64) -> WideMat3 {
    (WideMat3::from_diagonal(Wide3::splat(r.length_squared())) - wide_outer(r, r)) * mass
}
