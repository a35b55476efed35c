//! Solve: correcting sweeps remove position errors; relaxing sweeps leave velocities that satisfy the constraints.

use crate::contact::find::surfel;
use crate::contact::kernel::rigid::{BodyBlocks, Job};
use crate::contact::kernel::rigid_set::Task;
use crate::contact::light_nodes;
use crate::debug::timing::PhaseClock;
use crate::island::{SubstepContext, momentum};
use crate::math::{Blocks, Real};
use crate::model::Model;
use crate::report::Phase;
use crate::settings::{Order, Settings};
use crate::solver::pgs;
use crate::step::cloth;
use crate::step::predict;
use crate::work::Work;

pub(crate) fn solve(ctx: &SubstepContext, model: &Model, work: &mut Work, settings: &Settings, clock: &mut PhaseClock) {
    for _ in 0..settings.sweeps {
        if sweep(ctx, model, work, settings, Job::Correct, clock) {
            break;
        }
    }
    surfel::settle(ctx, model, &settings.pairs, work);
    // positions move with the corrected velocities; the relaxing sweeps then remove the correction from the velocities
    cloth::copy_position_velocity(model, work);
    let mut job = Job::SettleRelax;
    for _ in 0..settings.relax_sweeps {
        if sweep(ctx, model, work, settings, job, clock) {
            break;
        }
        job = job.again();
    }
    momentum::conserve_angular_momentum(ctx.h, model, work);
}

/// Restitution, once at the end of the step, with inertia and lever arms at that time.
pub(crate) fn bounce(ctx: &SubstepContext, model: &Model, work: &mut Work, settings: &Settings) {
    if work.set.bounces() {
        let slots = std::mem::take(&mut work.active_rigid);
        predict::turn_inertia(model, work, &slots);
        work.active_rigid = slots;
        contacts(ctx, work, settings, Job::Restitute);
    }
}

/// One sweep over all rows, contacts last. True when the residual is below the stopping threshold.
fn sweep(
    ctx: &SubstepContext,
    model: &Model,
    work: &mut Work,
    settings: &Settings,
    job: Job,
    clock: &mut PhaseClock,
) -> bool {
    let pass = if job == Job::Correct { pgs::Pass::Correct } else { pgs::Pass::Relax };
    let mut squares: Real = 0.0;
    match settings.order {
        Order::Interleaved => {
            squares += pgs::sweep(&mut work.rows, &mut work.velocity, pass);
            squares += node_rows(work, settings, pass);
            squares += work.contact_rows.sweep(&mut work.velocity, pass);
            squares += light_nodes::sweep(ctx, work, settings, pass);
            squares += resident_cloth(ctx, model, work, settings, pass, clock);
            squares += contacts(ctx, work, settings, job);
        }
        Order::Staggered { rigid, deformable } => {
            let mut job = job;
            for _ in 0..rigid {
                squares += pgs::sweep(&mut work.rows, &mut work.velocity, pass);
                squares += contacts(ctx, work, settings, job);
                job = job.again();
            }
            for _ in 0..deformable {
                squares += node_rows(work, settings, pass);
                squares += work.contact_rows.sweep(&mut work.velocity, pass);
                squares += light_nodes::sweep(ctx, work, settings, pass);
                squares += resident_cloth(ctx, model, work, settings, pass, clock);
            }
        }
    }
    work.report.counts.sweeps += 1;
    if !wants_residual(settings) {
        return false;
    }
    let rows = work.report.counts.constraint_rows + work.report.counts.contact_rows;
    let rms = (squares / rows.max(1) as Real).sqrt();
    if settings.residuals {
        work.report.residuals.push(rms);
    }
    rms < settings.stop_residual
}

/// Cloth in SoA that shares its substeps with others; none in a world without bodies of nodes.
fn resident_cloth(
    ctx: &SubstepContext,
    model: &Model,
    work: &mut Work,
    settings: &Settings,
    pass: pgs::Pass,
    clock: &mut PhaseClock,
) -> Real {
    if work.node_owners.is_empty() || pass != pgs::Pass::Correct {
        return 0.0;
    }
    clock.mark(Phase::Solve);
    let squares = cloth::sweep(ctx, model, work, settings);
    clock.mark(Phase::Cloth);
    squares
}

/// Whether a sweep computes its change of impulses.
fn wants_residual(settings: &Settings) -> bool {
    settings.residuals || settings.stop_residual > 0.0
}

/// Rows of constraints on nodes, in lanes when there are many.
fn node_rows(work: &mut Work, settings: &Settings, pass: pgs::Pass) -> Real {
    if work.laid {
        work.node_lanes.sweep(&mut work.velocity, pass, settings.lanes)
    } else {
        pgs::sweep(&mut work.node_rows, &mut work.velocity, pass)
    }
}

/// A pass over the contact batches.
fn contacts(ctx: &SubstepContext, work: &mut Work, settings: &Settings, job: Job) -> Real {
    let bodies = BodyBlocks {
        velocity: Blocks::new(&mut work.velocity),
        position_velocity: Blocks::new(&mut work.position_velocity),
        pose: Blocks::new(&mut work.pose),
        inertia: Blocks::new(&mut work.inertia),
    };
    let task = Task { job, bodies, params: &ctx.contact, wanted: wants_residual(settings) };
    work.set.run(task, &work.pool, settings.lanes)
}

/// Lever arms, masses and bias of the contacts in this substep, and their warm start.
pub(crate) fn prepare_contacts(ctx: &SubstepContext, work: &mut Work, settings: &Settings) {
    contacts(ctx, work, settings, Job::Prepare);
}
