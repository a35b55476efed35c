//! Advance: positions are integrated with the corrected velocities; rotating bodies conserve their angular momentum.

use crate::island::{free_motion, soft_body};
use crate::model::Motion;
use crate::step::cloth;
use crate::work::{BodyWork, Setup, SoftWork, SubstepContext};

pub(crate) fn advance(ctx: &SubstepContext, setup: &Setup, bodies: &mut BodyWork, soft: &mut SoftWork) {
    let Setup { model, settings, .. } = *setup;
    let (rigid, nodes) = (std::mem::take(&mut bodies.active_rigid), std::mem::take(&mut bodies.active_nodes));
    let kinematic = model.bodies.iter().filter_map(|(s, _)| Some((s, model.rigid_at(s)?)));
    for (slot, _) in kinematic.filter(|(_, r)| r.motion == Motion::Kinematic) {
        free_motion::move_rigid(ctx.h, model, bodies, settings, slot);
    }
    for &slot in &rigid {
        free_motion::move_rigid(ctx.h, model, bodies, settings, slot);
    }
    for &slot in &nodes {
        if cloth::is_resident(soft, slot) {
            // its positions were integrated together with its contacts
        } else if soft.models[slot as usize].is_some() {
            soft_body::advance(ctx.into(), setup, slot, bodies, soft);
        } else {
            free_motion::move_particles(ctx.h, model, bodies, slot);
        }
    }
    (bodies.active_rigid, bodies.active_nodes) = (rigid, nodes);
}
