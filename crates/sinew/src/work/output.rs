//! Results of the step: the report, and what it is made from.

use crate::contact::readout::Readout;
use crate::debug::timing::PhaseClock;
use crate::math::{Real, Vec3};
use crate::report::{Event, Report};
use crate::work::LedgerWork;

/// Forces between the nodes of a cloth and a body in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClothPairForce {
    pub body: u32,
    pub sheet: u32,
    /// Mean force on the cloth, and the sum of its normal parts [N].
    pub force: Vec3,
    pub normal: Real,
    pub touching: bool,
    /// Its force was above the threshold before.
    pub above_threshold: bool,
}

/// Force at a contact point, for the report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointForce {
    pub point: Vec3,
    pub direction: Vec3,
    pub gap: Real,
    /// Along the normal [N].
    pub normal: Real,
    /// On b [N].
    pub force: Vec3,
}

/// The report, and sums over the step that it is made from.
#[derive(Debug, Default)]
pub(crate) struct OutputWork {
    pub report: Report,
    /// Events of edits between steps, for the next report.
    pub announced: Vec<Event>,
    /// Impulses of the step, then mean forces. Begun by `plan`, written by all routes, closed by `remember`.
    pub readout: Readout,
    /// Mean force of each node contact, if requested. Written by `remember`. (cloth_contacts, or empty)
    pub cloth_point_forces: Vec<PointForce>,
    /// Their sums by pair of bodies. Written by `remember`.
    pub cloth_pair_forces: Vec<ClothPairForce>,
    /// Pairs in contact before this step, sorted; and those in contact now.
    pub touching: Vec<(u32, u32)>,
    pub touched: Vec<(u32, u32)>,
    /// Mean force of pinned nodes and axes on each body [N]. Written by `observe`. (slots)
    pub reactions: Vec<Vec3>,
    /// Sums of the ledger.
    pub ledger: LedgerWork,
    /// Time of each phase.
    pub clock: PhaseClock,
}
