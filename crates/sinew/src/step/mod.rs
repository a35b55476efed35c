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

use crate::contact::route::BodyRoute;
use crate::debug::timing::PhaseClock;
use crate::guard::{ccd, intersections};
use crate::input::Input;
use crate::island::{implicit, soft_body};
use crate::ledger;
use crate::math::Real;
use crate::model::Model;
use crate::report::Phase;
use crate::settings::Settings;
use crate::state::State;
use crate::work::{BodyWork, GuardWork, Instant, OutputWork, Setup, SoftWork, SubstepContext, Work};

/// One step of the world. Never fails; faults are in the report.
pub(crate) fn step(model: &mut Model, state: &mut State, work: &mut Work, settings: &mut Settings, input: &Input) {
    let Work { pool, bodies, detect, contact, island, soft, guard, output } = work;
    output.clock = PhaseClock::start();
    ledger::enter(model, state, settings, input, &mut output.ledger);
    intake::intake(input, model, state, pool, bodies, output, settings);
    soft_body::adopt(model, state, soft);
    intersections::resolve_intersections(model, state, soft, guard, output, settings);
    output.clock.mark(Phase::Intake);
    let setup = &Setup { model, settings, pool };
    detect::detect(setup, state, bodies, detect, contact, soft, output);
    output.clock.mark(Phase::Detect);
    plan::plan(setup, state, bodies, detect, contact, island, soft, output);
    ledger::begin(setup, state, input, bodies, soft, output);
    output.clock.mark(Phase::Plan);
    implicit::run(setup, state, bodies, contact, island, soft, output);
    // a world of rigid bodies alone skips the loops over its bodies that search for cloth
    let has_nodes = !bodies.node_owners.is_empty();
    if has_nodes {
        cloth::begin(setup, bodies, island, soft);
    }
    output.clock.mark(Phase::Cloth);
    let h = settings.dt / island.substeps as Real;
    for substep in 0..island.substeps {
        let ctx = SubstepContext::new(settings, h, substep);
        let swept = ledger::Members { rigid: &bodies.active_rigid, nodes: &bodies.active_nodes };
        ledger::open(setup, bodies, soft, &mut output.ledger, swept);
        contact.run_hook(Instant::BeforePredict, &ctx, setup, bodies, BodyRoute::Swept);
        predict::predict(&ctx, setup, bodies, soft, output);
        output.clock.mark(Phase::Predict);
        if has_nodes {
            cloth::predict(soft, settings);
            output.clock.mark(Phase::Cloth);
        }
        if substep == 0 {
            // contacts need the approach velocity before any impulse is applied
            cloth::copy_position_velocity(model, bodies, soft);
        }
        assemble::assemble(&ctx, setup, state, bodies, contact, island, soft, output);
        output.clock.mark(Phase::Assemble);
        solve::solve(&ctx, setup, bodies, contact, island, soft, output);
        contact.run_hook(Instant::AfterSolve, &ctx, setup, bodies, BodyRoute::Swept);
        ledger::close_swept(&ctx, setup, bodies, contact, island, soft, &mut output.ledger);
        output.clock.mark(Phase::Solve);
        advance::advance(&ctx, setup, bodies, soft);
        contact.run_hook(Instant::AfterAdvance, &ctx, setup, bodies, BodyRoute::Swept);
        output.clock.mark(Phase::Advance);
    }
    if has_nodes {
        cloth::finish(model, bodies, soft, settings);
    }
    output.clock.mark(Phase::Cloth);
    let last = SubstepContext::new(settings, h, island.substeps);
    solve::bounce(&last, setup, bodies, contact, &mut output.ledger);
    output.clock.mark(Phase::Solve);
    stop_crossings(setup, state, bodies, soft, guard, output);
    output.clock.mark(Phase::Advance);
    ledger::flow(model, state, bodies, contact, soft, &mut output.ledger);
    remember::remember(setup, state, bodies, contact, island, soft, output);
    output.clock.mark(Phase::Remember);
    observe::observe(setup, state, bodies, output);
    ledger::end(setup, state, bodies, soft, output);
    output.clock.mark(Phase::Observe);
    output.report.seconds = output.clock.seconds;
}

/// Continuous collision detection, where it is on; the ledger measures what it changes.
fn stop_crossings(
    setup: &Setup,
    state: &State,
    bodies: &mut BodyWork,
    soft: &SoftWork,
    guard: &mut GuardWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, .. } = *setup;
    if settings.intersection_free || settings.stop_at_impact {
        if !output.ledger.is_on() {
            return ccd::guard(model, state, bodies, soft, guard, output, settings);
        }
        let mut work = std::mem::take(&mut output.ledger);
        ledger::around(model, settings, bodies, &mut work, false, |bodies| {
            ccd::guard(model, state, bodies, soft, guard, output, settings);
        });
        output.ledger = work;
    }
}
