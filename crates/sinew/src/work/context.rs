//! Parameters of a substep that every phase shares.

use crate::contact::kernel::rigid_batch::ContactParams;
use crate::math::Real;
use crate::model::Model;
use crate::settings::Settings;
use crate::solver::pool::Pool;
use crate::solver::soft::{Softness, soften, soften_below};

/// Parameters of a substep that every phase shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubstepContext {
    /// Substep [s].
    pub h: Real,
    /// Which substep of the step.
    pub substep: u32,
    /// True in the last substep of the step.
    pub last: bool,
    pub joint: Softness,
    /// For joints that are solved together: no sweep has to resolve their stiffness.
    pub direct_joint: Softness,
    pub contact: ContactParams,
}

impl SubstepContext {
    /// Time from the start of the step to that of the substep [s].
    pub fn elapsed(&self) -> Real {
        self.substep as Real * self.h
    }

    /// Substep `substep` of as many as fit into the step.
    pub fn new(settings: &Settings, h: Real, substep: u32) -> Self {
        let contact = soften(settings.contact, h);
        // above a 24th of the substep rate the spring oscillates in tall stacks
        let friction = soften_below(settings.friction, h, 1.0 / 24.0);
        let gravity_speed = 2.0 * settings.gravity.length() * settings.dt;
        Self {
            h,
            substep,
            last: (substep + 1) as Real * h > settings.dt - 0.5 * h,
            joint: soften(settings.joint, h),
            direct_joint: soften_below(settings.joint, h, Real::INFINITY),
            contact: ContactParams {
                first: substep == 0,
                h,
                inv_h: 1.0 / h,
                bias_rate: contact.rate,
                softness: contact.relative,
                mass_scale: contact.mass_scale(),
                impulse_scale: contact.impulse_scale(),
                push_speed: settings.push_speed,
                friction_rate: friction.rate,
                friction_mass: friction.mass_scale(),
                friction_impulse: friction.impulse_scale(),
                friction_stretch: friction.impulse_scale()
                    / (friction.mass_scale() * friction.rate).max(Real::MIN_POSITIVE),
                restitution_speed: settings.restitution_speed.max(gravity_speed),
            },
        }
    }
}

/// What a phase reads and never writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup<'a> {
    pub model: &'a Model,
    pub settings: &'a Settings,
    pub pool: &'a Pool,
}
