//! Rows between two nodes, the most common of all (strings, springs, cloth edges), eight at a time and half the size.
//!
//! Such a row is J = [−u, u] with responses −u/m_a and u/m_b, so one axis stands for both, and the inverse masses lie in
//! the fourth number of the nodes' velocity blocks, which the sweep loads anyway.

use super::pgs::Pass;
use super::row_lanes::{LaneBatch, RowNumbers};
use crate::constraint::{RowBuffer, RowId, Term};
use crate::math::{Blocks, LANES, Lane, Real};

type Eight = [Real; LANES];

/// Eight rows of one colour between two nodes each.
#[derive(Clone, Debug)]
pub(super) struct PairBatch {
    load: [[u32; LANES]; 2],
    store: [[u32; LANES]; 2],
    axis: [Eight; 3],
    /// Bias, softness and 1/diagonal of a correcting sweep; bias and 1/diagonal of a relaxing one.
    correct: [Eight; 3],
    relax: [Eight; 2],
    low: Eight,
    high: Eight,
    impulse: Eight,
    row: [RowId; LANES],
}

/// True when a row's terms are those of two nodes with the inverse masses that their blocks hold.
pub(super) fn is_pair(terms: &[Term], inv_mass: impl Fn(u32) -> Real) -> bool {
    let [a, b] = terms else { return false };
    a.jacobian == -b.jacobian
        && a.response == a.jacobian * inv_mass(a.block)
        && b.response == b.jacobian * inv_mass(b.block)
}

impl LaneBatch for PairBatch {
    fn empty() -> Self {
        let none = [0.0; LANES];
        Self {
            load: [[0; LANES]; 2],
            store: [[u32::MAX; LANES]; 2],
            axis: [none; 3],
            correct: [none; 3],
            relax: [none; 2],
            low: none,
            high: none,
            impulse: none,
            row: [RowId::MAX; LANES],
        }
    }

    fn fill(&mut self, lane: usize, id: RowId, rows: &RowBuffer) {
        let (row, terms) = (&rows.rows()[id as usize], rows.terms(id));
        for (k, term) in terms.iter().enumerate() {
            self.load[k][lane] = term.block;
            self.store[k][lane] = if term.response.length_squared() > 0.0 { term.block } else { u32::MAX };
        }
        for axis in 0..3 {
            self.axis[axis][lane] = terms[1].jacobian[axis];
        }
        let numbers = RowNumbers::of(row);
        for (to, from) in self.correct.iter_mut().zip([numbers.bias, numbers.softness, numbers.inverse]) {
            to[lane] = from;
        }
        for (to, from) in self.relax.iter_mut().zip([numbers.relax_bias, numbers.relax_inverse]) {
            to[lane] = from;
        }
        (self.low[lane], self.high[lane]) = (numbers.low, numbers.high);
        self.impulse[lane] = row.impulse;
        self.row[lane] = id;
    }

    fn lanes(&self) -> (&[RowId; LANES], &[Real; LANES]) {
        (&self.row, &self.impulse)
    }

    #[inline(always)]
    fn relax<L: Lane>(&mut self, t: L::Token, at: usize, v: Blocks<'_>, pass: Pass) -> L {
        let mut a = L::load_rows4(t, v, &self.load[0][at..]);
        let mut b = L::load_rows4(t, v, &self.load[1][at..]);
        let u = [L::load(t, &self.axis[0][at..]), L::load(t, &self.axis[1][at..]), L::load(t, &self.axis[2][at..])];
        let drift = u[0] * (b[0] - a[0]) + u[1] * (b[1] - a[1]) + u[2] * (b[2] - a[2]);
        let old = L::load(t, &self.impulse[at..]);
        let wanted = if pass == Pass::Correct {
            let push = drift + L::load(t, &self.correct[0][at..]) + L::load(t, &self.correct[1][at..]) * old;
            old - push * L::load(t, &self.correct[2][at..])
        } else {
            old - (drift + L::load(t, &self.relax[0][at..])) * L::load(t, &self.relax[1][at..])
        };
        let new = wanted.max(L::load(t, &self.low[at..])).min(L::load(t, &self.high[at..]));
        new.store(&mut self.impulse[at..]);
        let change = new - old;
        let (push_a, push_b) = (change * a[3], change * b[3]);
        for axis in 0..3 {
            a[axis] = a[axis] - u[axis] * push_a;
            b[axis] = b[axis] + u[axis] * push_b;
        }
        L::store_rows4(a, v, &self.store[0][at..]);
        L::store_rows4(b, v, &self.store[1][at..]);
        change * change
    }
}
