//! Loads on faces and reactions at pinned nodes: functions of the positions, for the force array of a body.
//!
//! Body loads need no function here: they are forces at nodes, mass times acceleration.

use super::element::Face;
use crate::deformable::{BodyRef, Deformable};
use crate::math::{Block, Real, Vec3, vec};

/// Adds the nodal forces of a pressure [Pa] that acts inward on faces in the current configuration (a follower load)
/// [N].
///
/// f_i = −p ∫ N_i (∂x/∂ξ × ∂x/∂η) dξ dη; for six nodes by the three-point rule of degree 2. Flat six-node faces have
/// forces at their midpoints only.
pub fn pressure(faces: &[Face], x: &[Block], pressure: Real, force: &mut [Vec3]) {
    let at = |i: u32| vec(x[i as usize]);
    for face in faces {
        let [a, b, c] = face.corners.map(at);
        let Some(middles) = face.middles else {
            let push = (b - a).cross(c - a) * (-pressure / 6.0);
            for node in face.corners {
                force[node as usize] += push;
            }
            continue;
        };
        let [ab, bc, ca] = middles.map(at);
        for point in 0..3 {
            let mut l: [Real; 3] = [1.0 / 6.0; 3];
            l[point] = 2.0 / 3.0;
            let [la, lb, lc] = l;
            // derivatives along b − a and c − a
            let along_b = b * (4.0 * lb - 1.0) - a * (4.0 * la - 1.0) + (ab * (la - lb) + bc * lc - ca * lc) * 4.0;
            let along_c = c * (4.0 * lc - 1.0) - a * (4.0 * la - 1.0) + (ca * (la - lc) + bc * lb - ab * lb) * 4.0;
            let push = along_b.cross(along_c) * (-pressure / 6.0);
            let corners = face.corners.into_iter().zip(l.map(|l| l * (2.0 * l - 1.0)));
            let sides = middles.into_iter().zip([4.0 * la * lb, 4.0 * lb * lc, 4.0 * lc * la]);
            for (node, shape) in corners.chain(sides) {
                force[node as usize] += push * shape;
            }
        }
    }
}

/// Reaction force at each pinned node that balances the elastic forces [N]; zero at free nodes. External forces on a
/// pinned node itself are carried by its support directly and are not included.
pub fn reactions(model: &dyn Deformable, body: BodyRef<'_>) -> Vec<Vec3> {
    let mut forces = vec![Vec3::ZERO; body.x.len()];
    model.forces(body, &mut forces);
    let held = |(f, v): (Vec3, &Block)| if v[3] == 0.0 { -f } else { Vec3::ZERO };
    forces.into_iter().zip(body.v).map(held).collect()
}
