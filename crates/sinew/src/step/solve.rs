//! Solve: correcting sweeps remove position errors; relaxing sweeps leave velocities that satisfy the constraints.

use crate::contact::find::surfel;
use crate::contact::kernel::rigid::{BodyBlocks, Job};
use crate::contact::kernel::rigid_set::Task;
use crate::contact::light_nodes;
use crate::island::free_motion;
use crate::island::momentum;
use crate::ledger;
use crate::math::{Blocks, Real};
use crate::model::Model;
use crate::report::Phase;
use crate::settings::{Order, Settings};
use crate::solver::pgs;
use crate::solver::pool::Pool;
use crate::step::cloth;
use crate::work::{BodyWork, ContactWork, IslandWork, LedgerWork, OutputWork, Setup, SoftWork, SubstepContext};

pub(crate) fn solve(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, .. } = *setup;
    for _ in 0..settings.sweeps {
        if sweep(ctx, setup, bodies, contact, island, soft, output, Job::Correct) {
            break;
        }
    }
    surfel::settle(ctx, model, &settings.pairs, bodies, contact);
    // positions move with the corrected velocities; the relaxing sweeps then remove the correction from the velocities
    cloth::copy_position_velocity(model, bodies, soft);
    let mut job = Job::SettleRelax;
    for _ in 0..settings.relax_sweeps {
        if sweep(ctx, setup, bodies, contact, island, soft, output, job) {
            break;
        }
        job = job.again();
    }
    let (rigid, nodes) = (std::mem::take(&mut bodies.active_rigid), std::mem::take(&mut bodies.active_nodes));
    free_motion::restore_inertia(model, bodies, &rigid, &nodes);
    (bodies.active_rigid, bodies.active_nodes) = (rigid, nodes);
    momentum::conserve_angular_momentum(ctx.h, model, bodies, island);
}

/// Restitution, once at the end of the step, with inertia and lever arms at that time.
pub(crate) fn bounce(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    work: &mut LedgerWork,
) {
    let Setup { model, settings, pool } = *setup;
    if contact.set.bounces() {
        let slots = std::mem::take(&mut bodies.active_rigid);
        bodies.turn_inertia(model, &slots);
        bodies.active_rigid = slots;
        ledger::around(model, settings, bodies, work, true, |bodies| {
            contacts(ctx, pool, bodies, contact, settings, Job::Restitute);
        });
    }
}

/// One sweep over all rows, contacts last. True when the residual is below the stopping threshold.
#[expect(clippy::too_many_arguments, reason = "a sweep passes over the rows of all routes: each group by its name")]
fn sweep(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
    job: Job,
) -> bool {
    let Setup { model, settings, pool } = *setup;
    let pass = if job == Job::Correct { pgs::Pass::Correct } else { pgs::Pass::Relax };
    let mut squares: Real = 0.0;
    match settings.order {
        Order::Interleaved => {
            squares += rigid_rows(bodies, island, pass);
            squares += node_rows(bodies, island, settings, pass);
            squares += contact.contact_rows.sweep(&mut bodies.velocity, pass);
            squares += light_nodes::sweep(ctx, bodies, contact, settings, pass);
            squares += resident_cloth(ctx, model, bodies, soft, output, settings, pass);
            squares += contacts(ctx, pool, bodies, contact, settings, job);
        }
        Order::Staggered { rigid, deformable } => {
            let mut job = job;
            for _ in 0..rigid {
                squares += rigid_rows(bodies, island, pass);
                squares += contacts(ctx, pool, bodies, contact, settings, job);
                job = job.again();
            }
            for _ in 0..deformable {
                squares += node_rows(bodies, island, settings, pass);
                squares += contact.contact_rows.sweep(&mut bodies.velocity, pass);
                squares += light_nodes::sweep(ctx, bodies, contact, settings, pass);
                squares += resident_cloth(ctx, model, bodies, soft, output, settings, pass);
            }
        }
    }
    output.report.counts.sweeps += 1;
    if !wants_residual(settings) {
        return false;
    }
    let rows = output.report.counts.constraint_rows + output.report.counts.contact_rows;
    let rms = (squares / rows.max(1) as Real).sqrt();
    if settings.residuals {
        output.report.residuals.push(rms);
    }
    rms < settings.stop_residual
}

/// Cloth in SoA that shares its substeps with others; none in a world without bodies of nodes.
fn resident_cloth(
    ctx: &SubstepContext,
    model: &Model,
    bodies: &mut BodyWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
    settings: &Settings,
    pass: pgs::Pass,
) -> Real {
    if bodies.node_owners.is_empty() || pass != pgs::Pass::Correct {
        return 0.0;
    }
    output.clock.mark(Phase::Solve);
    let squares = cloth::sweep(ctx, model, bodies, soft, &mut output.ledger, settings);
    output.clock.mark(Phase::Cloth);
    squares
}

/// Whether a sweep computes its change of impulses.
fn wants_residual(settings: &Settings) -> bool {
    settings.residuals || settings.stop_residual > 0.0
}

/// Rows of constraints on rigid bodies: limits, motors and the like one by one, then joints together.
fn rigid_rows(bodies: &mut BodyWork, island: &mut IslandWork, pass: pgs::Pass) -> Real {
    let IslandWork { rows, direct, .. } = island;
    let squares = pgs::sweep(rows, &mut bodies.velocity, pass);
    squares + direct.solve(rows, &mut bodies.velocity, pass)
}

/// Rows of constraints on nodes, in lanes when there are many.
fn node_rows(bodies: &mut BodyWork, island: &mut IslandWork, settings: &Settings, pass: pgs::Pass) -> Real {
    if island.laid {
        island.node_lanes.sweep(&mut bodies.velocity, pass, settings.lanes)
    } else {
        pgs::sweep(&mut island.node_rows, &mut bodies.velocity, pass)
    }
}

/// A pass over the contact batches.
fn contacts(
    ctx: &SubstepContext,
    pool: &Pool,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    settings: &Settings,
    job: Job,
) -> Real {
    let bodies = BodyBlocks {
        velocity: Blocks::new(&mut bodies.velocity),
        position_velocity: Blocks::new(&mut bodies.position_velocity),
        pose: Blocks::new(&mut bodies.pose),
        inertia: Blocks::new(&mut bodies.inertia),
    };
    let task = Task { job, bodies, params: &ctx.contact, wanted: wants_residual(settings) };
    contact.set.run(task, pool, settings.lanes)
}

/// Lever arms, masses and bias of the contacts in this substep, and their warm start.
pub(crate) fn prepare_contacts(
    ctx: &SubstepContext,
    pool: &Pool,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    settings: &Settings,
) {
    contacts(ctx, pool, bodies, contact, settings, Job::Prepare);
}
