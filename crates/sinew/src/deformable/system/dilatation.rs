//! Averaged dilatations in a body's matrix: Σ_a k_a B_a B_aᵀ, B_a = ∂θ_a/∂x over the nodes around a.
//!
//! B_a is stored in the pattern of row a, and once more mirrored in the rows of its columns, so that both halves of the
//! product gather and eight rows are processed at a time:
//!
//! ```text
//!   r_a = k_a Σ_j B_aj · (v_j − v_a),   out_i += Σ_a (B_ai r_a − B_ia r_i)
//! ```
//!
//! The gradients of a dilatation sum to zero (a translation changes no volume); B_aa is minus the sum of the others and
//! is not stored.

use super::rows::{Rows, Slot};
use crate::math::{Block, Blocks, Eight, Kernel, LANES, Lane, Mat3, Real, Vec3, outer, run};

/// Eight vectors.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
struct Eight3([Eight; 3]);

const ZERO: Eight3 = Eight3([[0.0; LANES]; 3]);

/// Gradients and weights.
#[derive(Clone, Debug)]
pub(in crate::deformable) struct Dilatations {
    /// B_aj in row a. (entry_count) [1/m]
    slope: Vec<Eight3>,
    /// B_ai in row i. (entry_count) [1/m]
    mirror: Vec<Eight3>,
    /// k_a, zero where nothing is averaged. (node_count) [kg·m²]
    pub weight: Vec<Real>,
}

impl Dilatations {
    /// Allocates for the pattern of a matrix.
    pub fn new(rows: &Rows, nodes: usize) -> Self {
        Self { slope: vec![ZERO; rows.off.len()], mirror: vec![ZERO; rows.off.len()], weight: vec![0.0; nodes] }
    }

    /// All zero.
    pub fn reset(&mut self) {
        self.slope.fill(ZERO);
        self.mirror.fill(ZERO);
        self.weight.fill(0.0);
    }

    /// Adds to a gradient, given its slot and that of its mirror.
    pub fn add(&mut self, [own, mirrored]: [Slot; 2], slope: Vec3) {
        let ((entry, lane), (other, other_lane)) = (own.split(), mirrored.split());
        for (axis, part) in slope.to_array().into_iter().enumerate() {
            self.slope[entry].0[axis][lane] += part;
            self.mirror[other].0[axis][other_lane] += part;
        }
    }

    /// Calls `on(node, slope)` for all gradients of a node's dilatation, the node itself last.
    pub fn slopes(&self, rows: &Rows, node: usize, mut on: impl FnMut(usize, Vec3)) {
        let mut own = Vec3::ZERO;
        rows.columns(node, |column, slot| {
            let (entry, lane) = slot.split();
            let slope = Vec3::from_array(self.slope[entry].0.map(|axis| axis[lane]));
            own -= slope;
            on(column, slope);
        });
        on(node, own);
    }

    /// Adds the diagonal blocks.
    pub fn diagonal(&self, rows: &Rows, out: &mut [Mat3]) {
        for (node, &weight) in self.weight.iter().enumerate().filter(|(_, k)| **k > 0.0) {
            self.slopes(rows, node, |column, b| out[column] += outer(b, b) * weight);
        }
    }

    /// Adds the product with v to `out`, whose fourth numbers are 0 before and after.
    pub fn apply(&self, rows: &Rows, v: &[Block], out: &mut [Block], lanes: bool) {
        run(Rates { of: self, rows, v, out: Blocks::new(out) }, lanes);
        run(Pushes { of: self, rows, out: Blocks::new(out) }, lanes);
        out.iter_mut().for_each(|out| out[3] = 0.0);
    }
}

/// r_a into the fourth numbers of `out`.
struct Rates<'a> {
    of: &'a Dilatations,
    rows: &'a Rows,
    v: &'a [Block],
    out: Blocks<'a>,
}

impl Kernel for Rates<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Rows { row, column, .. } = self.rows;
        let nodes = row.rows();
        let (row, column) = (row.over(self.v), column.over(self.v));
        for s in 0..self.rows.slice_count() {
            let mut at = 0;
            while at < LANES {
                let own = L::pick_xyz(t, row, s, at);
                let mut rate = L::splat(t, 0.0);
                for k in self.rows.entries(s) {
                    let v = L::pick_xyz(t, column, k, at);
                    for axis in 0..3 {
                        rate = rate + L::load(t, &self.of.slope[k].0[axis][at..]) * (v[axis] - own[axis]);
                    }
                }
                let mut out = L::load_rows4(t, self.out, &nodes[s][at..]);
                out[3] = rate * L::gather(t, &self.of.weight, &nodes[s][at..]);
                L::store_rows4(out, self.out, &self.rows.nodes(s)[at..]);
                at += L::COUNT;
            }
        }
    }
}

/// The forces of the dilatations, from their rates.
struct Pushes<'a> {
    of: &'a Dilatations,
    rows: &'a Rows,
    out: Blocks<'a>,
}

impl Kernel for Pushes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let (row, column) = (self.rows.row.rows(), self.rows.column.rows());
        for s in 0..self.rows.slice_count() {
            let mut at = 0;
            while at < LANES {
                let mut out = L::load_rows4(t, self.out, &row[s][at..]);
                for k in self.rows.entries(s) {
                    let other = L::load_rows4(t, self.out, &column[k][at..])[3];
                    for axis in 0..3 {
                        let mirror = L::load(t, &self.of.mirror[k].0[axis][at..]);
                        let slope = L::load(t, &self.of.slope[k].0[axis][at..]);
                        out[axis] = out[axis] + (mirror * other - slope * out[3]);
                    }
                }
                L::store_rows4(out, self.out, &self.rows.nodes(s)[at..]);
                at += L::COUNT;
            }
        }
    }
}
