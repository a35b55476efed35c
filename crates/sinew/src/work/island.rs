//! The solution of islands: substeps, rows of constraints, implicit islands, conserved momenta.

use super::ImplicitWork;
use crate::constraint::RowBuffer;
use crate::island::momentum::FreeIslands;
use crate::math::Real;
use crate::solver::direct::DirectRows;
use crate::solver::row_lanes::RowLanes;

/// The rows of a constraint: their range in the buffer, and which buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSpan {
    pub constraint: u32,
    pub start: u32,
    pub end: u32,
    /// In `node_rows`: rows on nodes, short enough for lanes.
    pub nodes: bool,
    /// Index of its first row impulse in State.
    pub first: u32,
    pub count: u32,
}

impl RowSpan {
    /// Range of its row impulses in State.
    pub fn kept(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Substeps, rows of constraints, implicit islands, and islands that conserve their momentum.
#[derive(Debug, Default)]
pub(crate) struct IslandWork {
    /// Substeps of the sweep islands in this step. Written by `plan`.
    pub substeps: u32,
    /// Islands that are solved by CG. Written by `plan`.
    pub implicit: ImplicitWork,
    /// Sweep islands without contact or constraint to a fixed body. Written by `plan`.
    pub free_islands: FreeIslands,
    /// Rows of constraints and node contacts. Written by `assemble`. Rigid ones first.
    pub rows: RowBuffer,
    pub node_rows: RowBuffer,
    /// Joints among `rows` that are solved together. Written by `plan` and `assemble`.
    pub direct: DirectRows,
    /// `node_rows` in lanes, if there are many; `laid`: whether they are.
    pub node_lanes: RowLanes,
    pub laid: bool,
    pub spans: Vec<RowSpan>,
    /// Impulses of constraint rows carried from substep to substep [N·s]. (as State)
    pub warm: Vec<Real>,
}
