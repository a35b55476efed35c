//! The step on one page: eight phases, one file each. What a phase may touch is in its signature.

mod advance;
mod air;
mod assemble;
mod caught;
mod classic_contact;
mod continuous;
mod detect;
pub(crate) mod ellipsoid_contact;
mod impact;
mod implicit;
mod in_order;
pub(crate) mod intake;
mod law_contact;
mod law_whole;
mod means;
mod motion_sums;
mod node_contact;
mod node_lanes;
mod observe;
mod predict;
mod put_back;
mod remember;
mod rim_contact;
mod sheet;
mod sheet_folds;
mod sheet_memory;
mod soft;
mod solve;
mod surface_contact;
mod tangle;
pub(crate) mod touch;
pub(crate) mod untwist;

use crate::debug::timing::PhaseClock;
use crate::input::Input;
use crate::math::Real;
use crate::model::Model;
use crate::report::Phase;
use crate::settings::Settings;
use crate::solver::contact_batch::ContactParams;
use crate::solver::soft::{Softness, soften, soften_below};
use crate::state::State;
use crate::work::{SWEEPS, Work};

/// Numbers of a substep that every phase shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepContext {
    /// Substep [s].
    pub h: Real,
    /// Which substep of the step.
    pub substep: u32,
    /// True in the last substep of the step.
    pub last: bool,
    pub joint: Softness,
    pub contact: ContactParams,
}

impl StepContext {
    /// Substep `substep` of as many as fit into the step.
    fn new(settings: &Settings, h: Real, substep: u32) -> Self {
        let contact = soften(settings.contact, h);
        // stiffer than a 24th of the substep rate the spring rings in tall stacks
        let friction = soften_below(settings.friction, h, 1.0 / 24.0);
        let gravity_speed = 2.0 * settings.gravity.length() * settings.dt;
        Self {
            h,
            substep,
            last: (substep + 1) as Real * h > settings.dt - 0.5 * h,
            joint: soften(settings.joint, h),
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

impl From<&StepContext> for soft::When {
    fn from(ctx: &StepContext) -> Self {
        Self { h: ctx.h, substep: ctx.substep, last: ctx.last, same_forces: ctx.substep > 0 }
    }
}

/// One step of the world. Never fails; trouble is in the report.
pub(crate) fn step(model: &mut Model, state: &mut State, work: &mut Work, settings: &mut Settings, input: &Input) {
    let mut clock = PhaseClock::start();
    intake::intake(input, model, state, work, settings);
    tangle::untangle(model, state, work, settings);
    clock.mark(Phase::Intake);
    detect::detect(model, state, work, settings);
    clock.mark(Phase::Detect);
    implicit::run(model, state, work, settings, &mut clock);
    // a world of rigid bodies alone does not walk along its bodies to find no sheet
    let soft = !work.node_owners.is_empty();
    if soft {
        sheet::take_out(model, work, settings);
    }
    clock.mark(Phase::Predict);
    let h = settings.dt / work.substeps as Real;
    for substep in 0..work.substeps {
        let ctx = StepContext::new(settings, h, substep);
        classic_contact::push(&ctx, model, work, settings, SWEEPS);
        predict::predict(&ctx, model, work, settings);
        clock.mark(Phase::Predict);
        assemble::assemble(&ctx, model, state, work, settings);
        clock.mark(Phase::Assemble);
        solve::solve(&ctx, model, work, settings);
        classic_contact::hit(&ctx, model, work, settings, SWEEPS);
        clock.mark(Phase::Solve);
        advance::advance(&ctx, model, work, settings);
        classic_contact::follow(&ctx, model, work, settings, SWEEPS);
        clock.mark(Phase::Advance);
    }
    if soft {
        sheet::take_in(model, work, settings);
    }
    solve::bounce(&StepContext::new(settings, h, work.substeps), model, work, settings);
    clock.mark(Phase::Solve);
    continuous::guard(model, state, work, settings);
    clock.mark(Phase::Advance);
    remember::remember(model, state, work, settings);
    clock.mark(Phase::Remember);
    observe::observe(model, state, work, settings);
    clock.mark(Phase::Observe);
    work.report.seconds = clock.seconds;
}
