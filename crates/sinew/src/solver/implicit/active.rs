//! The rows that push in a pass, packed: the CG runs over them again and again.
//!
//! A pair of friction that slides resists across its way only, [rate, cross; cross, rate'] has rank one: it is one row. Jacobians are
//! not scaled by the roots of their rates: a row a thousand times as stiff as its bodies are heavy would leave rounding of that size
//! where they move together, and solves of three balls in a row did not end.

use super::space::block;
use crate::constraint::{RowBuffer, RowId};
use crate::math::{Block, Real, vec};

/// Rows of a pass with a rate.
#[derive(Clone, Debug, Default)]
pub(super) struct Active {
    /// End of the terms of each row, and its rate. (active row_count)
    rows: Vec<(u32, Real)>,
    /// Terms of all rows: block, and Jacobian with a last number of zero, so that a term is four lanes.
    blocks: Vec<u32>,
    jacobians: Vec<Block>,
}

/// The linear model of the rows in this pass, as `Space` has it.
#[derive(Clone, Copy)]
pub(super) struct Rates<'a> {
    /// Rows that may have one, ascending.
    pub(super) near: &'a [u32],
    pub(super) rate: &'a [Real],
    pub(super) cross: &'a [Real],
}

impl Active {
    pub(super) fn gather(&mut self, rows: &RowBuffer, Rates { near, rate, cross }: Rates<'_>) {
        self.rows.clear();
        self.blocks.clear();
        self.jacobians.clear();
        for id in near.iter().map(|&id| id as usize) {
            let slides = cross[id] != 0.0;
            // the second half of a pair that slides is in the first
            if rate[id] == 0.0 && !slides || id > 0 && cross[id - 1] != 0.0 {
                continue;
            }
            let first = self.blocks.len();
            for t in rows.terms(id as RowId) {
                self.blocks.push(t.block);
                self.jacobians.push(block(t.jacobian));
            }
            let mut all = rate[id];
            if slides {
                all += rate[id + 1];
                let along = (rate[id] / all).sqrt();
                let across = (rate[id + 1] / all).sqrt() * cross[id].signum();
                // both halves list the same blocks in the same order
                for (sum, t) in self.jacobians[first..].iter_mut().zip(rows.terms(id as RowId + 1)) {
                    *sum = block(vec(*sum) * along + t.jacobian * across);
                }
            }
            self.rows.push((self.blocks.len() as u32, all));
        }
    }

    /// Blocks, Jacobians and rate of every row.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&[u32], &[Block], Real)> {
        let first = std::iter::once(0).chain(self.rows.iter().map(|row| row.0));
        first.zip(&self.rows).map(|(first, &(end, rate))| {
            let span = first as usize..end as usize;
            (&self.blocks[span.clone()], &self.jacobians[span], rate)
        })
    }

    /// q += Jᵀ rate J p.
    pub(super) fn add_product(&self, p: &[Block], q: &mut [Block]) {
        for (blocks, jacobians, rate) in self.rows() {
            let mut sum = [0.0; 4];
            for (&b, j) in blocks.iter().zip(jacobians) {
                let p = &p[b as usize];
                for k in 0..4 {
                    sum[k] += p[k] * j[k];
                }
            }
            let push = rate * ((sum[0] + sum[1]) + sum[2]);
            for (&b, j) in blocks.iter().zip(jacobians) {
                let q = &mut q[b as usize];
                for k in 0..4 {
                    q[k] += j[k] * push;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::{drift, scatter};
    use super::*;
    use crate::constraint::{Bounds, Term};
    use crate::math::Vec3;

    #[test]
    fn a_sliding_pair_is_one_row_with_the_same_product() {
        let mut rows = RowBuffer::default();
        let mut push = |terms: [(u32, Vec3); 2]| {
            let terms = terms.map(|(block, jacobian)| Term { block, jacobian, response: Vec3::ZERO });
            rows.push(&terms, 0.0, 0.0, 1.0, Bounds::Free);
        };
        push([(0, Vec3::Y), (1, Vec3::new(0.1, -0.7, 0.0))]);
        push([(1, Vec3::X), (2, -Vec3::X)]);
        push([(1, Vec3::Z), (2, -Vec3::Z)]);
        push([(0, Vec3::X), (2, Vec3::Z)]);
        // the pair slides along (0.6, 0.8), the last row is open
        let rate = [3.0, 5.0 * 0.64, 5.0 * 0.36, 0.0];
        let cross = [0.0, -5.0 * 0.48, 0.0, 0.0];
        let mut active = Active::default();
        active.gather(&rows, Rates { near: &[0, 1, 2, 3], rate: &rate, cross: &cross });
        assert_eq!(active.rows().count(), 2);

        let p = [[0.3, -0.2, 0.7, 0.0], [1.0, 0.4, -0.6, 0.0], [-0.5, 0.9, 0.1, 0.0]];
        let (mut q, mut want) = (vec![[0.0; 4]; 3], vec![[0.0; 4]; 3]);
        active.add_product(&p, &mut q);
        let u: Vec<Real> = (0..4).map(|id| drift(rows.terms(id), &p)).collect();
        let mate = [0.0, cross[1] * u[2], cross[1] * u[1], 0.0];
        for id in 0..4 {
            scatter(rows.terms(id as RowId), rate[id] * u[id] + mate[id], &mut want);
        }
        for (q, want) in q.as_flattened().iter().zip(want.as_flattened()) {
            assert!((q - want).abs() < 1e2 * Real::EPSILON, "{q} {want}");
        }
    }
}
