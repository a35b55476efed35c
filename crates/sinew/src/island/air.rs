//! Air: drag and wind on the triangles of a soft body.
//!
//! With u the velocity of a triangle's corner relative to the wind, n its normal and A its area, each corner gets a
//! third of
//!
//! ```text
//!   F = −½ ρ A (C_n |u_n| u_n + C_t |u_t| u_t),   u_n = (u·n) n,   u_t = u − u_n
//! ```
//!
//! An open sheet has drag on both sides; of a closed body only the windward faces have. The force is that of the
//! velocities at the start of the substep, limited to the force that stops the node relative to the air: light cloth in
//! a storm then moves with the air instead of being accelerated beyond it.

use crate::math::{Real, Vec3};
use crate::model::{Model, Nodes};
use crate::work::{BodyWork, SoftWork};

/// Adds the drag on a body's nodes to their external forces.
pub(crate) fn push(h: Real, model: &Model, nodes: &Nodes, bodies: &mut BodyWork, soft: &mut SoftWork) {
    let Some(air) = nodes.traits.air else { return };
    let first = model.node_block(nodes.start) as usize;
    let blocks = first..first + nodes.inv_mass.len();
    let (x, v) = (&bodies.pose[blocks.clone()], &bodies.velocity[blocks]);
    soft.drag.clear();
    soft.drag.resize(nodes.inv_mass.len(), (Vec3::ZERO, 0.0));
    let surface = &nodes.surface;
    for triangle in surface.triangles() {
        let [a, b, c] = triangle.map(|s| surface.position(s, x));
        let doubled = (b - a).cross(c - a);
        let size = doubled.length();
        if !(size > 0.0) {
            continue;
        }
        let n = doubled / size;
        // a third of the triangle's area
        let dynamic = 0.5 * air.density * (size / 6.0);
        for &surfel in triangle {
            let u = surface.velocity(surfel, x, v) - air.wind;
            let through = u.dot(n);
            let along = u - n * through;
            // the leeward side of a closed body has no drag
            let meets = if surface.is_solid() && through < 0.0 { 0.0 } else { 1.0 };
            let normal = dynamic * air.normal * through.abs() * meets;
            let tangential = dynamic * air.tangential * along.length() * meets;
            let force = -(n * (through * normal) + along * tangential);
            for share in surface.shares(surfel) {
                let to = &mut soft.drag[share.node as usize];
                to.0 += force * share.weight;
                to.1 += normal.max(tangential) * share.weight.abs();
            }
        }
    }
    for ((n, &mass), &(force, rate)) in nodes.span().zip(&nodes.mass).zip(&soft.drag) {
        let scale = if h * rate > mass { mass / (h * rate) } else { 1.0 };
        bodies.node_total[n] += force * scale;
    }
}
