//! The step on one page: ten phases, one file each. The signature of a phase shows which data it may modify.

pub(crate) mod advance;
pub(crate) mod assemble;
mod cloth;
pub(crate) mod detect;
pub(crate) mod intake;
pub(crate) mod observe;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod remember;
mod solve;

use crate::classic::in_world;
use crate::contact::route::BodyRoute;
use crate::debug::timing::PhaseClock;
use crate::guard::{ccd, intersections};
use crate::input::Input;
use crate::island::{SubstepContext, implicit};
use crate::math::Real;
use crate::model::Model;
use crate::report::Phase;
use crate::settings::Settings;
use crate::state::State;
use crate::work::Work;

/// One step of the world. Never fails; faults are in the report.
pub(crate) fn step(model: &mut Model, state: &mut State, work: &mut Work, settings: &mut Settings, input: &Input) {
    let mut clock = PhaseClock::start();
    intake::intake(input, model, state, work, settings);
    intersections::resolve_intersections(model, state, work, settings);
    clock.mark(Phase::Intake);
    detect::detect(model, state, work, settings);
    clock.mark(Phase::Detect);
    plan::plan(model, state, work, settings);
    clock.mark(Phase::Plan);
    implicit::run(model, state, work, settings, &mut clock);
    // a world of rigid bodies alone skips the loops over its bodies that search for cloth
    let soft = !work.node_owners.is_empty();
    if soft {
        cloth::begin(model, work, settings);
    }
    clock.mark(Phase::Cloth);
    let h = settings.dt / work.substeps as Real;
    for substep in 0..work.substeps {
        let ctx = SubstepContext::new(settings, h, substep);
        in_world::push(&ctx, model, work, settings, BodyRoute::Swept);
        predict::predict(&ctx, model, work, settings);
        clock.mark(Phase::Predict);
        if soft {
            cloth::predict(work, settings);
            clock.mark(Phase::Cloth);
        }
        assemble::assemble(&ctx, model, state, work, settings);
        clock.mark(Phase::Assemble);
        solve::solve(&ctx, model, work, settings, &mut clock);
        in_world::hit(&ctx, model, work, settings, BodyRoute::Swept);
        clock.mark(Phase::Solve);
        advance::advance(&ctx, model, work, settings);
        in_world::follow(&ctx, model, work, settings, BodyRoute::Swept);
        clock.mark(Phase::Advance);
    }
    if soft {
        cloth::finish(model, work, settings);
    }
    clock.mark(Phase::Cloth);
    solve::bounce(&SubstepContext::new(settings, h, work.substeps), model, work, settings);
    clock.mark(Phase::Solve);
    ccd::guard(model, state, work, settings);
    clock.mark(Phase::Advance);
    remember::remember(model, state, work, settings);
    clock.mark(Phase::Remember);
    observe::observe(model, state, work, settings);
    clock.mark(Phase::Observe);
    work.report.seconds = clock.seconds;
}
