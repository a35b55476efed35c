//! Work: everything that can be rebuilt from Model and State. Never saved; its memory is reused from step to step. One
//! struct for each group of data that phases share: the signature of a function lists the ones that it uses.

mod bodies;
mod classic;
mod contact;
mod context;
mod detect;
mod guard;
mod hook;
mod implicit;
mod island;
mod ledger;
mod output;
mod skin;
mod soft;

pub(crate) use bodies::BodyWork;
pub(crate) use classic::{ClassicWork, Encounter, Mover};
pub(crate) use contact::{ContactWork, NodeContact};
pub(crate) use context::{Setup, SubstepContext};
pub(crate) use detect::{ColliderRef, DetectWork};
pub(crate) use guard::{GuardBody, GuardHit, GuardWork, Meeting, Near};
pub(crate) use hook::{Instant, SubstepHook};
pub(crate) use implicit::{ClothWork, EnergyBudget, ImplicitIsland, ImplicitSpan, ImplicitWork, SoftBodyWork, Touch};
pub(crate) use island::{IslandWork, RowSpan};
pub(crate) use ledger::{BodySums, Inside, LedgerWork, Stock, StockMark};
pub(crate) use output::{ClothPairForce, OutputWork, PointForce};
pub(crate) use skin::{EdgeGroup, SkinWork, Window};
pub(crate) use soft::SoftWork;

use crate::solver::pool::Pool;

/// Scratch of the step, by what it describes.
#[derive(Debug)]
pub(crate) struct Work {
    pub pool: Pool,
    pub bodies: BodyWork,
    pub detect: DetectWork,
    pub contact: ContactWork,
    pub island: IslandWork,
    pub soft: SoftWork,
    /// Surfaces and their motion in the step, for continuous collision detection.
    pub guard: GuardWork,
    pub output: OutputWork,
}

impl Work {
    pub fn new(threads: usize) -> Self {
        Self {
            pool: Pool::new(threads),
            bodies: BodyWork::default(),
            detect: DetectWork::default(),
            contact: ContactWork::default(),
            island: IslandWork::default(),
            soft: SoftWork::default(),
            guard: GuardWork::default(),
            output: OutputWork::default(),
        }
    }
}
