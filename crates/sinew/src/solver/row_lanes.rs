//! Plain rows eight at a time: rows of one shape (number of blocks) are stored together, coloured.
//!
//! The same relaxation as `pgs.rs`, for rows with an interval of impulses; discs remain in the reference loop. A row of
//! T blocks costs T loads and T stores of 16 bytes, 6T numbers of Jacobian and response, and 8 further numbers.

use crate::constraint::{Bounds, Row, RowBuffer, RowId};
use crate::math::{Block, Blocks, Eight, Kernel, LANES, Lane, Real, run};
use crate::solver::colour::Colouring;
use crate::solver::node_pairs::{PairBatch, is_pair};
use crate::solver::pgs::Pass;

/// The numbers of a row in the form used by the lanes.
pub(super) struct RowNumbers {
    pub bias: Real,
    pub relax_bias: Real,
    pub softness: Real,
    /// Softness that stays when relaxing: that of a spring.
    pub relax_softness: Real,
    /// 1/diagonal, and the same without softness for relaxing.
    pub inverse: Real,
    pub relax_inverse: Real,
    pub low: Real,
    pub high: Real,
}

impl RowNumbers {
    pub fn of(row: &Row) -> Self {
        let (low, high) = match row.bounds {
            Bounds::Free => (Real::NEG_INFINITY, Real::INFINITY),
            Bounds::AtLeast(low) => (low, Real::INFINITY),
            Bounds::Between { low, high } => (low, high),
            Bounds::Disc { .. } | Bounds::Mate => unreachable!("discs are not stored in lanes"),
        };
        let inverse = 1.0 / row.diagonal;
        let (relax_bias, relax_softness, relax_inverse) = if row.spring {
            (row.bias, row.softness, inverse)
        } else {
            (row.bias - row.correction, 0.0, 1.0 / (row.diagonal - row.softness))
        };
        Self { bias: row.bias, relax_bias, softness: row.softness, relax_softness, inverse, relax_inverse, low, high }
    }
}

/// Eight rows of T blocks each, of one colour.
#[derive(Clone, Debug)]
struct RowBatch<const T: usize> {
    load: [[u32; LANES]; T],
    /// `u32::MAX` where the block has no response.
    store: [[u32; LANES]; T],
    jacobian: [[Eight; 3]; T],
    response: [[Eight; 3]; T],
    bias: Eight,
    relax_bias: Eight,
    softness: Eight,
    relax_softness: Eight,
    /// 1/diagonal, and the same without softness for relaxing.
    inverse: Eight,
    relax_inverse: Eight,
    low: Eight,
    high: Eight,
    impulse: Eight,
    row: [RowId; LANES],
}

impl<const T: usize> LaneBatch for RowBatch<T> {
    fn empty() -> Self {
        let none = [0.0; LANES];
        Self {
            load: [[0; LANES]; T],
            store: [[u32::MAX; LANES]; T],
            jacobian: [[none; 3]; T],
            response: [[none; 3]; T],
            bias: none,
            relax_bias: none,
            softness: none,
            relax_softness: none,
            inverse: none,
            relax_inverse: none,
            low: none,
            high: none,
            impulse: none,
            row: [RowId::MAX; LANES],
        }
    }

    fn fill(&mut self, lane: usize, id: RowId, rows: &RowBuffer) {
        let row = rows.rows()[id as usize];
        for (k, term) in rows.terms(id).iter().enumerate() {
            self.load[k][lane] = term.block;
            self.store[k][lane] = if term.response.length_squared() > 0.0 { term.block } else { u32::MAX };
            for axis in 0..3 {
                self.jacobian[k][axis][lane] = term.jacobian[axis];
                self.response[k][axis][lane] = term.response[axis];
            }
        }
        let numbers = RowNumbers::of(&row);
        self.bias[lane] = numbers.bias;
        self.softness[lane] = numbers.softness;
        self.relax_softness[lane] = numbers.relax_softness;
        self.inverse[lane] = numbers.inverse;
        self.relax_bias[lane] = numbers.relax_bias;
        self.relax_inverse[lane] = numbers.relax_inverse;
        (self.low[lane], self.high[lane]) = (numbers.low, numbers.high);
        self.impulse[lane] = row.impulse;
        self.row[lane] = id;
    }

    fn lanes(&self) -> (&[RowId; LANES], &[Real; LANES]) {
        (&self.row, &self.impulse)
    }

    #[inline(always)]
    fn relax<L: Lane>(&mut self, t: L::Token, at: usize, v: Blocks<'_>, pass: Pass) -> L {
        let mut blocks = [[L::splat(t, 0.0); 4]; T];
        let mut relative_velocity = L::splat(t, 0.0);
        for k in 0..T {
            blocks[k] = L::load_rows4(t, v, &self.load[k][at..]);
            for axis in 0..3 {
                relative_velocity = relative_velocity + L::load(t, &self.jacobian[k][axis][at..]) * blocks[k][axis];
            }
        }
        let old = L::load(t, &self.impulse[at..]);
        let wanted = if pass == Pass::Correct {
            let push = relative_velocity + L::load(t, &self.bias[at..]) + L::load(t, &self.softness[at..]) * old;
            old - push * L::load(t, &self.inverse[at..])
        } else {
            let push =
                relative_velocity + L::load(t, &self.relax_bias[at..]) + L::load(t, &self.relax_softness[at..]) * old;
            old - push * L::load(t, &self.relax_inverse[at..])
        };
        let new = wanted.max(L::load(t, &self.low[at..])).min(L::load(t, &self.high[at..]));
        new.store(&mut self.impulse[at..]);
        let change = new - old;
        for k in 0..T {
            for axis in 0..3 {
                blocks[k][axis] = blocks[k][axis] + L::load(t, &self.response[k][axis][at..]) * change;
            }
            L::store_rows4(blocks[k], v, &self.store[k][at..]);
        }
        change * change
    }
}

/// Eight rows of one shape and colour.
pub(super) trait LaneBatch {
    /// All lanes empty.
    fn empty() -> Self;
    /// Writes a row into a lane.
    fn fill(&mut self, lane: usize, id: RowId, rows: &RowBuffer);
    /// The row of each lane, `RowId::MAX` when empty, and its impulse.
    fn lanes(&self) -> (&[RowId; LANES], &[Real; LANES]);
    /// One relaxation of the lanes from `at` on. Returns the squared changes. Must be `#[inline(always)]`.
    fn relax<L: Lane>(&mut self, token: L::Token, at: usize, v: Blocks<'_>, pass: Pass) -> L;
}

/// All batches of one shape, colour after colour.
#[derive(Clone, Debug)]
struct Shape<B> {
    batches: Vec<B>,
    /// (colour, row) in sweep order.
    order: Vec<(u8, RowId)>,
}

impl<B> Default for Shape<B> {
    fn default() -> Self {
        Self { batches: Vec::new(), order: Vec::new() }
    }
}

/// Number of rows in a batch: one in the serial colour.
fn width(group: &[(u8, RowId)]) -> usize {
    if group[0].0 as usize == crate::solver::colour::COLOURS { 1 } else { LANES }
}

impl<B: LaneBatch> Shape<B> {
    /// An empty batch for every eight rows of a colour.
    fn lay(&mut self) {
        self.order.sort_unstable();
        self.batches.clear();
        for group in self.order.chunk_by(|a, b| a.0 == b.0) {
            self.batches.resize_with(self.batches.len() + group.len().div_ceil(width(group)), B::empty);
        }
    }

    fn fill(&mut self, rows: &RowBuffer) {
        let groups = self.order.chunk_by(|a, b| a.0 == b.0);
        let lanes = groups.flat_map(|group| group.chunks(width(group)));
        for (batch, lanes) in self.batches.iter_mut().zip(lanes) {
            for (lane, &(_, id)) in lanes.iter().enumerate() {
                batch.fill(lane, id, rows);
            }
        }
    }

    fn sweep(&mut self, velocity: Blocks<'_>, pass: Pass, lanes: bool) -> Real {
        let sweep = Sweep { batches: &mut self.batches, velocity, pass };
        run(sweep, lanes)
    }

    fn store_impulses(&self, rows: &mut RowBuffer) {
        for batch in &self.batches {
            let (ids, impulses) = batch.lanes();
            for (&id, &impulse) in ids.iter().zip(impulses).filter(|(id, _)| **id != RowId::MAX) {
                rows.rows_mut()[id as usize].impulse = impulse;
            }
        }
    }
}

struct Sweep<'a, B> {
    batches: &'a mut [B],
    velocity: Blocks<'a>,
    pass: Pass,
}

impl<B: LaneBatch> Kernel for Sweep<'_, B> {
    type Output = Real;

    #[inline(always)]
    fn run<L: Lane>(self, token: L::Token) -> Real {
        // one sum per lane, so that eight lanes and a single lane add in the same order
        let mut squares = [0.0; LANES];
        for batch in self.batches {
            let mut at = 0;
            while at < LANES {
                if L::COUNT > 1 || batch.lanes().0[at] != RowId::MAX {
                    let change = batch.relax::<L>(token, at, self.velocity, self.pass);
                    (L::load(token, &squares[at..]) + change).store(&mut squares[at..]);
                }
                at += L::COUNT;
            }
        }
        squares.iter().sum()
    }
}

/// Rows of one to four blocks in lanes.
#[derive(Clone, Debug, Default)]
pub struct RowLanes {
    pairs: Shape<PairBatch>,
    one: Shape<RowBatch<1>>,
    two: Shape<RowBatch<2>>,
    three: Shape<RowBatch<3>>,
    four: Shape<RowBatch<4>>,
    colouring: Colouring,
    /// The data that determine the layout: of each row its kind and its blocks. From substep to substep, rows usually
    /// differ in their numbers only; colours and positions in the layout are then reused.
    plan: Vec<u32>,
    last_plan: Vec<u32>,
    len: usize,
}

/// Flag in a plan: the block has a non-zero response.
const ANSWERS: u32 = 1 << 31;
/// Flag in a plan: start of a row, with its number of terms and, as `PAIR`, whether it is a pair of nodes.
const ROW: u32 = 1 << 30;
const PAIR: u32 = 1 << 29;

impl RowLanes {
    /// Lays out all rows of a buffer over these velocity blocks. False, and nothing laid out, when one of them is a
    /// disc or has more than four blocks: such a buffer is swept by `pgs`.
    pub fn build(&mut self, rows: &RowBuffer, velocity: &[Block]) -> bool {
        std::mem::swap(&mut self.plan, &mut self.last_plan);
        if !self.plan(rows, velocity) {
            self.plan.clear();
            return false;
        }
        self.len = rows.len();
        if self.plan != self.last_plan {
            self.lay(velocity.len());
        }
        self.pairs.fill(rows);
        self.one.fill(rows);
        self.two.fill(rows);
        self.three.fill(rows);
        self.four.fill(rows);
        true
    }

    /// Writes the plan; false when the rows cannot be stored in lanes.
    fn plan(&mut self, rows: &RowBuffer, velocity: &[Block]) -> bool {
        self.plan.clear();
        for id in 0..rows.len() as RowId {
            let terms = rows.terms(id);
            let disc = matches!(rows.rows()[id as usize].bounds, Bounds::Disc { .. } | Bounds::Mate);
            if disc || !(1..=4).contains(&terms.len()) {
                return false;
            }
            let pair = terms.len() == 2 && is_pair(terms, |block| velocity[block as usize][3]);
            self.plan.push(ROW | if pair { PAIR } else { 0 } | terms.len() as u32);
            self.plan.extend(
                terms.iter().map(|t| if t.response.length_squared() > 0.0 { t.block | ANSWERS } else { t.block }),
            );
        }
        true
    }

    /// Colours the rows of the plan and sorts them into shapes.
    fn lay(&mut self, blocks: usize) {
        for order in [
            &mut self.pairs.order,
            &mut self.one.order,
            &mut self.two.order,
            &mut self.three.order,
            &mut self.four.order,
        ] {
            order.clear();
        }
        self.colouring.reset(blocks);
        let (mut at, mut id) = (0, 0);
        while let Some(&head) = self.plan.get(at) {
            let count = (head & !(ROW | PAIR)) as usize;
            let blocks = &self.plan[at + 1..at + 1 + count];
            let answering = blocks.iter().filter(|b| **b & ANSWERS != 0).map(|b| b & !ANSWERS);
            let colour = self.colouring.pick_all(answering) as u8;
            let order = match count {
                1 => &mut self.one.order,
                2 if head & PAIR != 0 => &mut self.pairs.order,
                2 => &mut self.two.order,
                3 => &mut self.three.order,
                _ => &mut self.four.order,
            };
            order.push((colour, id));
            (at, id) = (at + 1 + count, id + 1);
        }
        self.pairs.lay();
        self.one.lay();
        self.two.lay();
        self.three.lay();
        self.four.lay();
    }

    /// Rows in the order in which they are swept.
    pub fn order(&self) -> Vec<RowId> {
        let of = |order: &[(u8, RowId)]| order.iter().map(|o| o.1).collect::<Vec<_>>();
        [of(&self.pairs.order), of(&self.one.order), of(&self.two.order), of(&self.three.order), of(&self.four.order)]
            .concat()
    }

    /// One sweep, shape after shape, colour after colour. Returns the sum of squared impulse changes [N²·s²].
    pub fn sweep(&mut self, velocity: &mut [Block], pass: Pass, lanes: bool) -> Real {
        let velocity = Blocks::new(velocity);
        let mut squares = self.pairs.sweep(velocity, pass, lanes);
        squares += self.one.sweep(velocity, pass, lanes);
        squares += self.two.sweep(velocity, pass, lanes);
        squares += self.three.sweep(velocity, pass, lanes);
        squares += self.four.sweep(velocity, pass, lanes);
        squares
    }

    /// Writes the impulses back to the rows.
    pub fn store_impulses(&self, rows: &mut RowBuffer) {
        debug_assert_eq!(self.len, rows.len());
        self.pairs.store_impulses(rows);
        self.one.store_impulses(rows);
        self.two.store_impulses(rows);
        self.three.store_impulses(rows);
        self.four.store_impulses(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::Term;
    use crate::math::Vec3;
    use crate::solver::pgs;
    use proptest::prelude::*;

    /// Some blocks have infinite mass.
    fn inv_mass(block: u32) -> Real {
        if block % 11 == 3 { 0.0 } else { 0.5 + 0.1 * (block % 7) as Real }
    }

    /// Random rows of 1 to 4 blocks on `blocks` blocks.
    fn any_rows(seeds: &[u32], blocks: u32) -> (RowBuffer, Vec<Block>) {
        let mut state = 12_345u32;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as Real / 8_388_608.0 - 1.0
        };
        let mut rows = RowBuffer::default();
        for &seed in seeds {
            let count = 1 + (seed % 4) as usize;
            let mut terms = Vec::new();
            for k in 0..count as u32 {
                let block = (seed / 7 + k * 5) % blocks;
                if terms.iter().any(|t: &Term| t.block == block) {
                    continue;
                }
                // half of the rows of two blocks are rows between nodes: opposite ends of one axis
                let jacobian = match terms.last() {
                    Some(first) if count == 2 && seed % 2 == 0 => -first.jacobian,
                    _ => Vec3::new(random(), random(), random()),
                };
                let inv_mass = inv_mass(block);
                terms.push(Term { block, jacobian, response: jacobian * inv_mass });
            }
            let bounds = match seed % 3 {
                0 => Bounds::Free,
                1 => Bounds::AtLeast(0.0),
                _ => Bounds::Between { low: -0.3, high: 0.2 },
            };
            let id = rows.push(&terms, random(), random(), random().abs(), bounds);
            // a third are springs, whose softness stays when relaxing
            rows.rows_mut()[id as usize].spring = seed % 5 < 2;
            rows.rows_mut()[id as usize].impulse = 0.1 * random().abs();
        }
        let v = (0..blocks).map(|b| [random(), random(), random(), inv_mass(b)]).collect();
        (rows, v)
    }

    /// The reference solver on the same rows in the same order.
    fn oracle(rows: &RowBuffer, order: &[RowId], v: &mut [Block], pass: Pass) -> Vec<Real> {
        let mut sorted = RowBuffer::default();
        for &id in order {
            let r = rows.rows()[id as usize];
            let new = sorted.push(rows.terms(id), r.bias, r.correction, r.softness, r.bounds);
            (sorted.rows_mut()[new as usize].impulse, sorted.rows_mut()[new as usize].spring) = (r.impulse, r.spring);
        }
        pgs::sweep(&mut sorted, v, pass);
        sorted.rows().iter().map(|r| r.impulse).collect()
    }

    proptest! {
        #[test]
        fn lanes_agree_with_the_reference_solver(seeds in prop::collection::vec(0u32..10_000, 1..200), blocks in 5u32..60) {
            let (mut rows, v) = any_rows(&seeds, blocks);
            for pass in [Pass::Correct, Pass::Relax] {
                let mut lanes = RowLanes::default();
                prop_assert!(lanes.build(&rows, &v));
                let laid = lanes.order();
                prop_assert!(lanes.build(&rows, &v));
                prop_assert_eq!(&laid, &lanes.order(), "laid out again");
                let (mut wide, mut narrow, mut want) = (v.clone(), v.clone(), v.clone());
                let mut one = lanes.clone();
                lanes.sweep(&mut wide, pass, true);
                one.sweep(&mut narrow, pass, false);
                // eight lanes and one: bitwise identical
                prop_assert_eq!(&wide, &narrow);
                // the reference divides where the lanes multiply by the inverse: equal up to rounding, which a dense
                // system of soft rows amplifies
                let order = lanes.order();
                let impulses = oracle(&rows, &order, &mut want, pass);
                let scale = want.iter().flatten().fold(1.0, |m: Real, x| m.max(x.abs()));
                for (a, b) in wide.iter().flatten().zip(want.iter().flatten()) {
                    prop_assert!((a - b).abs() <= 1e-4 * scale, "{} {}", a, b);
                }
                lanes.store_impulses(&mut rows);
                for (id, impulse) in order.iter().zip(impulses) {
                    prop_assert!((rows.rows()[*id as usize].impulse - impulse).abs() <= 1e-4 * scale);
                }
            }
        }
    }
}
