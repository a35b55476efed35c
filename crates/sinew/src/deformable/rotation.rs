//! Nodes that are ellipsoids ([`Coordinates::Ellipsoids`](super::Coordinates::Ellipsoids)): each has an orientation and
//! an angular velocity. They are the first numbers of the body's internal state, ten per node: orientation (4), angular
//! velocity (3) [rad/s], external torque of this step (3) [N·m]. Of the coordinates of the body, 0..n are the positions
//! of its n nodes and n..2n their rotations.

use super::{BodyRef, SurfacePoint};
use crate::math::{Quat, Real, Sym3, Vec3, vec};

/// Numbers of internal state of one node.
pub const SPAN: usize = 10;

/// Moments of inertia of an ellipsoid about its axes [kg·m²].
pub fn inertia_of(mass: Real, radii: Vec3) -> Vec3 {
    let r = radii * radii;
    Vec3::new(r.y + r.z, r.z + r.x, r.x + r.y) * (0.2 * mass)
}

/// Kinetic energy [J] and angular momentum [kg·m²/s] of the rotation of a particle about its own centre.
pub fn rotation_of(internal: &[Real], node: usize, mass: Real, radii: Vec3) -> (Real, Vec3) {
    let (q, w) = (orientation(internal, node), spin(internal, node));
    let momentum = Sym3::diagonal(inertia_of(mass, radii)).rotated(q).mul(w);
    (0.5 * momentum.dot(w), momentum)
}

/// Orientation of a particle in the internal state of its body.
pub fn orientation(internal_state: &[Real], node: usize) -> Quat {
    let [x, y, z, w] = [0, 1, 2, 3].map(|k| internal_state[SPAN * node + k]);
    let q = Quat::from_xyzw(x, y, z, w);
    // internal state that was cleared after a fault has no orientation
    if (q.length_squared() - 1.0).abs() < 0.1 { q } else { Quat::IDENTITY }
}

/// Angular velocity of a particle in the internal state of its body [rad/s].
pub fn spin(internal_state: &[Real], node: usize) -> Vec3 {
    Vec3::from_slice(&internal_state[SPAN * node + 4..])
}

/// Writes orientation and angular velocity.
pub fn put(internal_state: &mut [Real], node: usize, q: Quat, w: Vec3) {
    internal_state[SPAN * node..SPAN * node + 4].copy_from_slice(&q.to_array());
    w.write_to_slice(&mut internal_state[SPAN * node + 4..]);
}

/// [`Deformable::lower`](super::Deformable::lower) of ellipsoidal nodes: an impulse on a surface point that coincides
/// with a node acts on its position and, by its lever, on its rotation; one between nodes on their positions.
pub fn lower(body: BodyRef<'_>, point: SurfacePoint<'_>, impulse: Vec3, add: &mut dyn FnMut(u32, Vec3)) {
    for share in point.shares {
        add(share.node, impulse * share.weight);
    }
    if let [share] = point.shares
        && body.v[share.node as usize][3] > 0.0
    {
        let lever = point.at - vec(body.x[share.node as usize]);
        add(body.x.len() as u32 + share.node, lever.cross(impulse));
    }
}

/// [`Deformable::respond`](super::Deformable::respond) of ellipsoidal nodes with these masses [kg] and semi-axes [m]:
/// p/m of a position, R I⁻¹ Rᵀ of a rotation.
pub fn respond(
    body: BodyRef<'_>,
    (masses, radii): (&[Real], &[Vec3]),
    impulses: &[(u32, Vec3)],
    add: &mut dyn FnMut(u32, Vec3),
) {
    for &(coordinate, impulse) in impulses {
        let Some(node) = (coordinate as usize).checked_sub(body.x.len()) else {
            add(coordinate, impulse * body.v[coordinate as usize][3]);
            continue;
        };
        if body.v[node][3] > 0.0 {
            let q = orientation(body.internal_state, node);
            add(coordinate, q * ((q.inverse() * impulse) / inertia_of(masses[node], radii[node])));
        }
    }
}
