//! Loads on soft bodies: pressure on the present surface, and dead forces.

use crate::deformable::fem;
use crate::model::{Model, Nodes};
use crate::work::BodyWork;

/// Adds the loads of a body to the external forces on its nodes.
pub(crate) fn push(model: &Model, nodes: &Nodes, bodies: &mut BodyWork) {
    if nodes.loads.is_empty() {
        return;
    }
    let BodyWork { pose, node_total, time, .. } = bodies;
    let first = model.node_block(nodes.start) as usize;
    let x = &pose[first..first + nodes.inv_mass.len()];
    let force = &mut node_total[nodes.span()];
    for load in &nodes.loads {
        let fraction = load.source.fraction(*time);
        let pressure = load.source.pressure * fraction;
        if pressure != 0.0 {
            fem::pressure(&load.faces, x, pressure, force);
            let surface = &nodes.surface;
            for &surfels in &load.skin {
                let [a, b, c] = surfels.map(|s| surface.position(s, x));
                let push = (b - a).cross(c - a) * (-pressure / 6.0);
                for s in surfels {
                    surface.spread_at(s, push, x, force);
                }
            }
        }
        let dead = load.source.force * fraction;
        for &(node, weight) in &load.shares {
            force[node as usize] += dead * weight;
        }
    }
}
