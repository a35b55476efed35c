//! Works of rows: constraints of the swept islands, and all rows of implicit islands.

use super::wide;
use crate::constraint::{Constraint, RowBuffer, RowId, Term, VolumeLaw};
use crate::math::{Block, Real, Wide3, vec, widen};
use crate::model::Model;
use crate::work::{BodySums, BodyWork, IslandWork, LedgerWork, Setup};

/// Work of impulses that act on blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Works {
    /// Σ p·v̄ over all blocks, kinematic ones among them: negative where energy is lost [J].
    pub relative: f64,
    /// Work that enters from blocks that do not answer [J].
    pub entered: f64,
}

/// The velocities and blocks that works are evaluated with.
pub(super) struct Blocks<'a> {
    pub model: &'a Model,
    pub mean: &'a [Block],
    pub end: &'a [Block],
    pub pose: &'a [Block],
    pub owner: &'a [u32],
    pub detailed: bool,
}

impl Blocks<'_> {
    /// Work of an impulse on a block [N·s or N·m·s].
    pub fn push(
        &self,
        (block, push): (u32, Wide3),
        works: &mut Works,
        sums: &mut [BodySums],
        outside: &mut [Wide3; 2],
    ) {
        let at = block as usize;
        let work = push.dot(widen(vec(self.mean[at])));
        works.relative += work;
        let owner = self.owner[at];
        if owner == u32::MAX {
            works.entered -= work;
            return;
        }
        let sums = &mut sums[owner as usize];
        sums.exchange += work;
        sums.exchange_now += work;
        sums.exchange_end += push.dot(widen(vec(self.end[at])));
        let linear = self.is_linear(block);
        outside[0] += if linear { push } else { Wide3::ZERO };
        if self.detailed {
            outside[1] += if linear { widen(vec(self.pose[at])).cross(push) } else { push };
        }
    }

    /// True for velocities of points, false for angular velocities.
    fn is_linear(&self, block: u32) -> bool {
        let bodies = 2 * self.model.bodies.slot_count() as u32;
        if block < bodies { block.is_multiple_of(2) } else { block < bodies + self.model.node_count as u32 }
    }
}

/// Work of a row with its terms on blocks numbered by `number`.
fn row(
    terms: &[Term],
    impulse: Real,
    number: impl Fn(u32) -> u32,
    (blocks, ledger): (&Blocks<'_>, (&mut [BodySums], &mut [Wide3; 2])),
) -> Works {
    let mut works = Works::default();
    let (sums, outside) = ledger;
    for t in terms {
        blocks.push((number(t.block), widen(t.jacobian) * wide(impulse)), &mut works, sums, outside);
    }
    works
}

/// Rows of the constraints of the swept islands.
pub(super) fn swept(h: Real, model: &Model, bodies: &BodyWork, island: &mut IslandWork, ledger: &mut LedgerWork) {
    if island.laid {
        island.node_lanes.store_impulses(&mut island.node_rows);
    }
    let IslandWork { rows, node_rows, spans, .. } = island;
    for span in spans.iter() {
        let Some(constraint) = model.constraints.at(span.constraint) else { continue };
        let buffer = if span.nodes { &*node_rows } else { &*rows };
        of_constraint(h, (model, constraint), bodies, (buffer, span.start..span.end), |block| block, ledger);
    }
}

/// All rows of an implicit island: constraints from `spans` on and contacts from `touches` on.
pub(super) fn implicit(
    h: Real,
    setup: &Setup,
    bodies: &BodyWork,
    island: &IslandWork,
    ledger: &mut LedgerWork,
    (spans, touches): (usize, usize),
) {
    let model = setup.model;
    let implicit = &island.implicit;
    let number = |block: u32| implicit.global[block as usize];
    for span in &implicit.spans[spans..] {
        let Some(constraint) = model.constraints.at(span.constraint) else { continue };
        of_constraint(h, (model, constraint), bodies, (&implicit.rows, span.start..span.end), number, ledger);
    }
    let detailed = ledger.is_detailed();
    let LedgerWork { book, mean, owner, bodies: sums, outside, .. } = ledger;
    let (end, pose) = (&bodies.velocity, &bodies.pose);
    let blocks = Blocks { model, mean, end, pose, owner, detailed };
    let mut add = |id: RowId, to: &mut f64, entered: &mut f64| {
        let impulse = implicit.rows.rows()[id as usize].impulse;
        if impulse != 0.0 {
            // linear impulses of contacts come from the readout (`ledger/book.rs`)
            let linear = outside[0];
            let works = row(implicit.rows.terms(id), impulse, number, (&blocks, (sums, outside)));
            outside[0] = linear;
            *to += works.relative;
            *entered += works.entered;
        }
    };
    for t in &implicit.touches[touches..] {
        add(t.row, &mut book.restitution, &mut book.kinematic);
        add(t.row + 1, &mut book.friction, &mut book.kinematic);
        add(t.row + 2, &mut book.friction, &mut book.kinematic);
    }
    for &(_, first) in &implicit.patches {
        (first..first + 3).for_each(|id| add(id, &mut book.friction, &mut book.kinematic));
    }
}

/// The entry of a constraint's rows.
#[derive(Clone, Copy, PartialEq)]
enum Entry {
    Constraint,
    Motor,
    Load,
}

fn of_constraint(
    h: Real,
    (model, constraint): (&Model, &Constraint),
    bodies: &BodyWork,
    (rows, span): (&RowBuffer, std::ops::Range<RowId>),
    number: impl Fn(u32) -> u32 + Copy,
    ledger: &mut LedgerWork,
) {
    let detailed = ledger.is_detailed();
    let LedgerWork { book, mean, owner, bodies: sums, outside, spring_work, .. } = ledger;
    let blocks = Blocks { model, mean, end: &bodies.velocity, pose: &bodies.pose, owner, detailed };
    // a support is part of the reaction of its body
    let support = constraint.traits().support;
    let last = span.end.wrapping_sub(1);
    for id in span {
        let r = &rows.rows()[id as usize];
        if r.impulse == 0.0 {
            continue;
        }
        let mut apart = *outside;
        let works = row(rows.terms(id), r.impulse, number, (&blocks, (sums, &mut apart)));
        if !support {
            outside[0] = apart[0];
        }
        outside[1] = apart[1];
        book.kinematic += works.entered;
        if r.stiffness > 0.0 {
            // J·v̄ from the work; the damper has c = 1/(h s) − h k
            let rate = works.relative / wide(r.impulse);
            let c = 1.0 / (wide(h) * wide(r.softness)) - wide(h) * wide(r.stiffness);
            spring_work[0] += works.relative;
            spring_work[1] -= wide(h) * c.max(0.0) * rate * rate;
            continue;
        }
        let to = match entry(constraint, id == last) {
            Entry::Constraint => &mut book.constraints,
            Entry::Motor => &mut book.motors,
            Entry::Load => &mut book.loads,
        };
        *to += works.relative;
    }
}

/// A motor is the last row of its joint; gas and pressure push like loads.
fn entry(constraint: &Constraint, last: bool) -> Entry {
    match constraint {
        Constraint::Joint(joint) if last && joint.source.motor.is_some() => Entry::Motor,
        // the work of the hand
        Constraint::Tool(_) => Entry::Motor,
        Constraint::Volume(volume) if !matches!(volume.source.law, VolumeLaw::Held { .. }) => Entry::Load,
        _ => Entry::Constraint,
    }
}
