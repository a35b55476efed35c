//! Rows between two nodes, the most frequent kind (strings, springs, cloth edges), eight at a time and in half the
//! memory.
//!
//! Such a row is J = [−u, u] with responses −u/m_a and u/m_b, so one axis is stored for both ends, and the inverse
//! masses are the fourth components of the nodes' velocity blocks, which the sweep loads anyway.
//!
//! Velocities and axes stay in blocks of four numbers. Only the products u (v_b − v_a) are transposed into lanes, to
//! sum them; the impulse is applied by a broadcast. Transposing both ends into lanes and back took 32 shuffles for
//! eight rows instead of 14.

use crate::constraint::{RowBuffer, RowId, Term};
use crate::math::{Block, Blocks, Eight, LANES, Lane, Pairs, Real};
use crate::solver::pgs::Pass;
use crate::solver::row_lanes::{LaneBatch, RowNumbers};

/// Eight rows of one colour between two nodes each.
#[derive(Clone, Debug)]
pub(super) struct PairBatch {
    /// Velocity blocks of the two ends.
    a: [u32; LANES],
    b: [u32; LANES],
    /// The fourth components are 0.
    axis: [Block; LANES],
    /// Bias, softness and 1/diagonal of a correcting sweep, and of a relaxing one.
    correct: [Eight; 3],
    relax: [Eight; 3],
    low: Eight,
    high: Eight,
    impulse: Eight,
    row: [RowId; LANES],
    /// Bit 2k: end a of lane k has a non-zero response; bit 2k + 1: end b.
    answers: u32,
}

/// True when a row's terms are those of two nodes with the inverse masses stored in their blocks.
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
            a: [0; LANES],
            b: [0; LANES],
            axis: [[0.0; 4]; LANES],
            correct: [none; 3],
            relax: [none; 3],
            low: none,
            high: none,
            impulse: none,
            row: [RowId::MAX; LANES],
            answers: 0,
        }
    }

    fn fill(&mut self, lane: usize, id: RowId, rows: &RowBuffer) {
        let (row, terms) = (&rows.rows()[id as usize], rows.terms(id));
        (self.a[lane], self.b[lane]) = (terms[0].block, terms[1].block);
        for (k, term) in terms.iter().enumerate() {
            self.answers |= u32::from(term.response.length_squared() > 0.0) << (2 * lane + k);
        }
        let axis = terms[1].jacobian;
        self.axis[lane] = [axis.x, axis.y, axis.z, 0.0];
        let numbers = RowNumbers::of(row);
        for (to, from) in self.correct.iter_mut().zip([numbers.bias, numbers.softness, numbers.inverse]) {
            to[lane] = from;
        }
        let relax = [numbers.relax_bias, numbers.relax_softness, numbers.relax_inverse];
        for (to, from) in self.relax.iter_mut().zip(relax) {
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
        let (a, b, axis) = (&self.a[at..], &self.b[at..], &self.axis[at..]);
        let relative_velocity = L::pair_drift(t, v, &Pairs { a, b, axis, answers: 0 });
        let old = L::load(t, &self.impulse[at..]);
        let [bias, softness, inverse] = if pass == Pass::Correct { &self.correct } else { &self.relax };
        let push = relative_velocity + L::load(t, &bias[at..]) + L::load(t, &softness[at..]) * old;
        let wanted = old - push * L::load(t, &inverse[at..]);
        let new = wanted.max(L::load(t, &self.low[at..])).min(L::load(t, &self.high[at..]));
        new.store(&mut self.impulse[at..]);
        let change = new - old;
        let (a, b, axis) = (&self.a[at..], &self.b[at..], &self.axis[at..]);
        change.pair_push(v, &Pairs { a, b, axis, answers: self.answers >> (2 * at) });
        change * change
    }
}
