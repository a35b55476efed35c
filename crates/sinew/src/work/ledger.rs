//! Sums of the ledger while a step runs (`ledger/`).

use crate::constraint::RowBuffer;
use crate::math::{Block, Real, Vec3, Wide3};
use crate::report::{Ledger, LedgerDetail};

/// Energy and momentum that a body has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stock {
    /// [J]
    pub kinetic: f64,
    pub gravity: f64,
    pub elastic: f64,
    /// [N·s]
    pub momentum: Wide3,
    /// About the origin [N·m·s]; zero unless detailed.
    pub angular: Wide3,
}

/// How the work of a body's internal forces is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Inside {
    /// It has none: rigid bodies and particles.
    #[default]
    None,
    /// By the formulas of the linearly implicit step.
    Formula,
    /// By the balance of the body alone.
    Balance,
}

/// Work on a body in the step [J].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodySums {
    pub external: f64,
    pub exchange: f64,
    /// Impulses of rows times the velocities at the end of the substep; of the present substep.
    pub exchange_end: f64,
    /// The part of `exchange` of the present substep.
    pub exchange_now: f64,
    pub internal: f64,
    /// Impulses of gravity times the mean velocities and those at the end of each substep.
    pub gravity_mean: f64,
    pub gravity_end: f64,
    /// Change of the potential of gravity by guards.
    pub guarded: f64,
    pub inside: Inside,
    /// Cloth in columns.
    pub resident: bool,
}

/// What the cached stock belongs to: it is computed anew when any of it differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StockMark {
    pub revision: u64,
    pub tick: u64,
    pub gravity: Vec3,
}

/// Sums of the ledger, and the velocities that works are evaluated with.
#[derive(Debug, Default)]
pub(crate) struct LedgerWork {
    pub detail: LedgerDetail,
    /// Entries of the step.
    pub book: Ledger,
    /// External impulse, and angular impulse about the origin.
    pub outside: [Wide3; 2],
    /// Angular momentum by position correction.
    pub turned: Wide3,
    /// Velocities at the start of the substep, and means over it. (as velocity)
    pub before: Vec<Block>,
    pub mean: Vec<Block>,
    /// Slot of the body that answers at each block; `u32::MAX` where none does. (as velocity)
    pub owner: Vec<u32>,
    /// (slots)
    pub bodies: Vec<BodySums>,
    /// Stock at the start and at the end of the step. (slots)
    pub start: Vec<Stock>,
    pub end: Vec<Stock>,
    /// Elastic energy of constraints at the start and at the end of the step [J].
    pub springs: [f64; 2],
    /// Constraints with springs, for a revision of the model.
    pub spring_slots: Vec<u32>,
    pub spring_revision: Option<u64>,
    pub spring_rows: RowBuffer,
    pub mark: Option<StockMark>,
    /// Elastic forces on the nodes of a body whose pinned nodes move [N].
    pub forces: Vec<Vec3>,
    /// Velocities of the free nodes of an implicit body, and its matrix times them.
    pub applied: [Vec<Block>; 2],
    /// Stocks before and after a guard.
    pub measured: [Vec<Stock>; 2],
    /// Work of the spring rows of the step, and the part of their dampers [J].
    pub spring_work: [f64; 2],
    /// Impulses of cloth in columns on rigid bodies in this substep: slots of both, change of velocity and of spin.
    pub cloth_pushes: Vec<(u32, u32, Vec3, Vec3)>,
    /// Forces of commands on rigid bodies while a classic contact method adds its own. (slots, or empty)
    pub commands: Vec<[Vec3; 2]>,
    /// Momentum and angular momentum that commands and fault checks added before the step.
    pub given: [Wide3; 2],
}

impl LedgerWork {
    /// True when steps make a ledger.
    pub fn is_on(&self) -> bool {
        self.detail != LedgerDetail::None
    }

    /// True when it has balances of bodies and angular momentum.
    pub fn is_detailed(&self) -> bool {
        self.detail == LedgerDetail::Bodies
    }

    /// Kinetic energy that the energy limiter added to a body; its internal work follows from its balance.
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    pub fn limited(&mut self, slot: u32, work: Real) {
        if !self.is_on() {
            return;
        }
        let work = work as f64;
        self.book.guards += work;
        let sums = &mut self.bodies[slot as usize];
        sums.internal += work;
        sums.inside = Inside::Balance;
    }

    /// Kinetic energy of a body that falls asleep.
    pub fn slept(&mut self, slot: u32, kinetic: f64) {
        if !self.is_on() {
            return;
        }
        self.book.sleep -= kinetic;
        self.bodies[slot as usize].internal -= kinetic;
    }
}
