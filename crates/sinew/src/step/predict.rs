//! Predict: each body separately. Velocities after gravity, input forces and damping; inertia in world axes.

use crate::island::{free_motion, soft_body};
use crate::step::cloth;
use crate::work::{BodyWork, OutputWork, Setup, SoftWork, SubstepContext};

pub(crate) fn predict(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &mut BodyWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, .. } = *setup;
    let (rigid, nodes) = (std::mem::take(&mut bodies.active_rigid), std::mem::take(&mut bodies.active_nodes));
    bodies.turn_inertia(model, &rigid);
    free_motion::kick_rigid(ctx.h, model, bodies, settings, &rigid);
    for &slot in &nodes {
        if cloth::is_resident(soft, slot) {
            // resident cloth is predicted in SoA (`step/cloth.rs`)
        } else if soft.models[slot as usize].is_some() {
            soft_body::predict(ctx.into(), setup, slot, bodies, soft, output);
        } else {
            free_motion::kick_particles(ctx.h, model, bodies, settings, slot);
        }
    }
    (bodies.active_rigid, bodies.active_nodes) = (rigid, nodes);
}
