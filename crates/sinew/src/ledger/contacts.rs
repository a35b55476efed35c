//! Works of contacts of the swept islands: manifolds of rigid bodies, light nodes, surfaces as rows, cloth in columns.

use super::rows::{Blocks, Works};
use super::wide;
use crate::contact::kernel::rigid::{BodyBlocks, Job};
use crate::contact::kernel::rigid_set::Task;
use crate::math::{BROAD, Blocks as Shared, Wide3, quat, vec, widen};
use crate::model::Model;
use crate::work::{BodyWork, ContactWork, LedgerWork, Setup, SubstepContext};

/// Manifolds of rigid bodies: in lanes.
pub(super) fn rigid(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    ledger: &mut LedgerWork,
) {
    if contact.set.batches().is_empty() {
        return;
    }
    if ledger.is_detailed() {
        by_body(contact, ledger);
    }
    let blocks = BodyBlocks {
        velocity: Shared::new(&mut ledger.mean),
        position_velocity: Shared::new(&mut bodies.position_velocity),
        pose: Shared::new(&mut bodies.pose),
        inertia: Shared::new(&mut bodies.inertia),
    };
    let task = Task { job: Job::Account, bodies: blocks, params: &ctx.contact, wanted: false };
    contact.set.run(task, setup.pool, setup.settings.lanes);
}

/// Works on each body of the present substep, for its own balance.
fn by_body(contact: &ContactWork, ledger: &mut LedgerWork) {
    let LedgerWork { mean, owner, bodies: sums, .. } = ledger;
    for batch in contact.set.batches() {
        for lane in (0..BROAD).filter(|&lane| batch.origin[lane] != u32::MAX) {
            for (first, side) in [(batch.load_a[lane], false), (batch.load_b[lane], true)] {
                let at = first as usize;
                let slot = owner[at];
                if slot == u32::MAX {
                    continue;
                }
                let (push, twist) = batch.wrench(lane, side);
                sums[slot as usize].exchange += push.dot(widen(vec(mean[at]))) + twist.dot(widen(vec(mean[at + 1])));
            }
        }
    }
}

/// Adds the sums of the lanes to the entries. Runs after the last substep, before restitution.
pub(super) fn collect(contact: &ContactWork, ledger: &mut LedgerWork) {
    for batch in contact.set.batches() {
        for lane in 0..BROAD {
            ledger.book.restitution += wide(batch.work[0][lane]);
            ledger.book.friction += wide(batch.work[1][lane]);
            if batch.leans {
                ledger.book.kinematic += wide(batch.work[2][lane]);
                let [x, y, z] = [0, 1, 2].map(|k| wide(batch.outside[k][lane]));
                ledger.outside[1] += Wide3::new(x, y, z);
            }
        }
    }
}

/// Contacts of nodes as rows.
pub(super) fn surfaces(model: &Model, bodies: &BodyWork, contact: &ContactWork, ledger: &mut LedgerWork) {
    let detailed = ledger.is_detailed();
    let LedgerWork { book, mean, owner, bodies: sums, outside, .. } = ledger;
    let (end, pose) = (&bodies.velocity, &bodies.pose);
    let blocks = Blocks { model, mean, end, pose, owner, detailed };
    for c in &contact.node_contacts {
        // linear impulses of contacts come from the readout (`ledger/book.rs`)
        let mut pushed = [Wide3::ZERO; 2];
        contact.contact_rows.pushes(c.place, |block, [normal, across]| {
            for (push, to) in [(normal, &mut book.restitution), (across, &mut book.friction)] {
                let mut works = Works::default();
                blocks.push((block, widen(push)), &mut works, sums, &mut pushed);
                *to += works.relative;
                book.kinematic += works.entered;
            }
        });
        outside[1] += pushed[1];
    }
}

/// Light nodes on rigid bodies.
pub(super) fn light_nodes(model: &Model, bodies: &BodyWork, contact: &ContactWork, ledger: &mut LedgerWork) {
    let detailed = ledger.is_detailed();
    let LedgerWork { book, mean, owner, bodies: sums, outside, .. } = ledger;
    let blocks = Blocks { model, mean, end: &bodies.velocity, pose: &bodies.pose, owner, detailed };
    for batch in contact.node_touches.batches() {
        for lane in (0..batch.origin.len()).filter(|&lane| batch.origin[lane] != u32::MAX) {
            let pick =
                |a: &[[crate::math::Real; 8]; 3]| Wide3::new(wide(a[0][lane]), wide(a[1][lane]), wide(a[2][lane]));
            let (normal, across, arm) =
                (pick(&batch.normal) * wide(batch.impulse[lane]), pick(&batch.across), pick(&batch.arm));
            for (push, to) in [(normal, &mut book.restitution), (across, &mut book.friction)] {
                if push == Wide3::ZERO {
                    continue;
                }
                let mut works = Works::default();
                let mut pushed = [Wide3::ZERO; 2];
                blocks.push((batch.node[lane], push), &mut works, sums, &mut pushed);
                blocks.push((2 * batch.slot, -push), &mut works, sums, &mut pushed);
                blocks.push((2 * batch.slot + 1, -arm.cross(push)), &mut works, sums, &mut pushed);
                outside[1] += pushed[1];
                *to += works.relative;
                book.kinematic += works.entered;
            }
        }
    }
}

/// Impulses of cloth in columns on rigid bodies: what the bodies gain, the cloth loses with what is lost between them.
pub(super) fn of_cloth(model: &Model, bodies: &BodyWork, ledger: &mut LedgerWork) {
    let LedgerWork { mean, cloth_pushes, bodies: sums, .. } = ledger;
    for &(slot, sheet, v, w) in cloth_pushes.iter() {
        let Some(body) = model.rigid_at(slot) else { continue };
        let at = 2 * slot as usize;
        let q = quat(bodies.pose[at + 1]);
        let twist = q * body.inertia.mul(q.inverse() * w);
        let work = wide(body.mass) * widen(v).dot(widen(vec(mean[at]))) + widen(twist).dot(widen(vec(mean[at + 1])));
        sums[slot as usize].exchange += work;
        sums[sheet as usize].exchange -= work;
    }
}
