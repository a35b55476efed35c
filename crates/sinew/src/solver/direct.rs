//! Direct solution of rows that hold bodies together in trees and short loops: joints.
//!
//! A sweep moves an impulse by one joint against its order, so that a chain of n links needs n sweeps while its motion
//! changes: a whipping chain came apart. With all two-sided rows J of linked joints together the impulses of a pass are
//!
//! ```text
//!   (J M⁻¹ Jᵀ + S) Δλ = −(J·v + bias + S λ),
//! ```
//!
//! S the softness of the rows, 0 in relaxing passes. The matrix is factorised as L D Lᵀ within its envelope (the columns
//! from the first non-zero of a row to the diagonal; George & Liu, Computer Solution of Large Sparse Positive Definite
//! Systems, 1981), in breadth-first order from an end: a chain has an envelope of two joints, a tree that of its width. A
//! row that depends on others has a pivot of rounding errors and is left out. Sums are in double precision: redundant
//! rows differ by the rounding of their Jacobians only.
//!
//! # Energy
//!
//! The velocities of a pass satisfy J v⁺ = −b, b the motion of the joints beyond their tangents in the substep; before the
//! rows they had J v = c. With K = J M⁻¹ Jᵀ the kinetic energy changes by
//!
//! ```text
//!   ½ v⁺·M v⁺ − ½ v·M v = ½ (b·K⁻¹ b − c·K⁻¹ c)
//! ```
//!
//! which is nearly zero where substeps resolve the rotation, c being the b of the substep before, and grows without bound
//! where they do not. There b is scaled in relaxing passes until the change is not positive: then they are a projection,
//! which never adds energy. Correcting passes, by which positions move, keep all of b.

use crate::constraint::{Bounds, RowBuffer, RowId, Term};
use crate::math::{Block, Real};
use crate::solver::pgs::{self, Pass};
use crate::tuning::direct::{DEPENDENT, FAST, MOST_WORK, TURN};
use std::ops::Range;

/// No body, and no place in the order.
pub(crate) const NONE: u32 = u32::MAX;
/// Place of a link in a component whose factorisation would be too large: it is swept.
const SWEPT: u32 = u32::MAX - 1;
/// Largest number of rows of a link that are solved here: a fixed joint.
const ROWS: usize = 6;

/// A joint: a key of the caller, the bodies that respond to it ([`NONE`] for others), and its rows in this substep.
#[derive(Clone, Debug)]
struct Link {
    key: u32,
    sides: [u32; 2],
    rows: Range<RowId>,
    /// Its rotation in this substep may not add energy.
    fast: bool,
    /// A substep of the step did not resolve its rotation.
    unresolved: bool,
}

/// L D Lᵀ, one envelope after the other.
#[derive(Clone, Debug, Default)]
struct Factor {
    values: Vec<f64>,
    /// 1/D; 0 for a row that depends on others.
    inverse: Vec<f64>,
}

/// The links that are solved together, and their factors in this substep.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectRows {
    links: Vec<Link>,
    /// Pairs of body and link, sorted.
    at_body: Vec<(u32, u32)>,
    /// Links in the order of elimination; and the place of each link in it.
    order: Vec<u32>,
    place: Vec<u32>,
    /// First place of each component.
    parts: Vec<u32>,
    /// Row ids in the order of elimination, the first column of each envelope, and its start in the values.
    ids: Vec<RowId>,
    first: Vec<u32>,
    start: Vec<usize>,
    /// Index of the first row of each place.
    base: Vec<u32>,
    correct: Factor,
    relax: Factor,
    change: Vec<f64>,
    other: Vec<f64>,
}

impl DirectRows {
    /// Removes all links.
    pub fn clear(&mut self) {
        self.links.clear();
    }

    /// Adds a link; keys ascend.
    pub fn add(&mut self, key: u32, sides: [u32; 2]) {
        self.links.push(Link { key, sides, rows: 0..0, fast: false, unresolved: false });
    }

    /// Orders the links; those of components that would cost too much are left to the sweeps.
    pub fn order(&mut self) {
        let Self { links, at_body, order, place, parts, .. } = self;
        parts.clear();
        at_body.clear();
        for (k, link) in (0..).zip(links.iter()) {
            at_body.extend(link.sides.iter().filter(|s| **s != NONE).map(|&side| (side, k)));
        }
        at_body.sort_unstable();
        order.clear();
        place.clear();
        place.resize(links.len(), NONE);
        for seed in 0..self.links.len() {
            if self.place[seed] != NONE {
                continue;
            }
            let from = self.order.len();
            self.walk(seed as u32);
            // again from the far end, where a chain has the narrowest envelope
            let end = self.order[self.order.len() - 1];
            self.unplace(from, NONE);
            self.walk(end);
            if self.work(from) > MOST_WORK {
                self.unplace(from, SWEPT);
            } else {
                self.parts.push(from as u32);
            }
        }
    }

    fn unplace(&mut self, from: usize, mark: u32) {
        let Self { order, place, .. } = self;
        order.drain(from..).for_each(|k| place[k as usize] = mark);
    }

    /// Appends the component of a link to the order, breadth first.
    fn walk(&mut self, seed: u32) {
        let Self { links, at_body, order, place, .. } = self;
        let mut at = order.len();
        place[seed as usize] = at as u32;
        order.push(seed);
        while let Some(&k) = order.get(at) {
            for &(_, near) in neighbours(at_body, links[k as usize].sides) {
                if place[near as usize] == NONE {
                    place[near as usize] = order.len() as u32;
                    order.push(near);
                }
            }
            at += 1;
        }
    }

    /// Place of the first neighbour of a link in the order.
    fn lowest(&self, k: u32) -> u32 {
        let near = neighbours(&self.at_body, self.links[k as usize].sides);
        near.map(|&(_, l)| self.place[l as usize]).fold(self.place[k as usize], u32::min)
    }

    /// Bound on the products of the factorisation of the links from a place on.
    fn work(&self, from: usize) -> usize {
        let wide = |p: usize| ROWS * (p + 1 - self.lowest(self.order[p]) as usize);
        (from..self.order.len()).map(|p| ROWS * wide(p) * wide(p)).sum()
    }

    /// Index of the link with a key, if it is solved here.
    pub fn find(&self, key: u32) -> Option<usize> {
        let k = self.links.binary_search_by_key(&key, |l| l.key).ok()?;
        (self.place[k] < SWEPT).then_some(k)
    }

    /// True for a link whose rotation a substep of this step did not resolve.
    pub fn is_unresolved(&self, key: u32) -> bool {
        self.find(key).is_some_and(|k| self.links[k].unresolved)
    }

    /// Takes the two-sided rows at the beginning of a range as those of a link in this substep; its arms turn by `turn` in
    /// it [rad].
    pub fn take(&mut self, link: usize, rows: &mut RowBuffer, range: Range<RowId>, turn: Real) {
        let span = &mut rows.rows_mut()[range.start as usize..range.end as usize];
        let count = span.iter().take_while(|r| r.bounds == Bounds::Free && !r.spring).count();
        span[..count].iter_mut().for_each(|r| r.direct = true);
        let link = &mut self.links[link];
        (link.rows, link.fast) = (range.start..range.start + count as RowId, turn > FAST);
        link.unresolved |= turn > TURN;
    }

    /// Factorises the rows of this substep.
    pub fn factorise(&mut self, rows: &RowBuffer) {
        self.lay_out();
        let Self { links, at_body, order, place, ids, first, start, base, correct, relax, .. } = self;
        let len = start.last().map_or(0, |s| s + ids.len() - first[ids.len() - 1] as usize);
        correct.values.clear();
        correct.values.resize(len, 0.0);
        for &k in order.iter() {
            let from = base[place[k as usize] as usize] as usize;
            for i in from..from + links[k as usize].rows.len() {
                let row = &mut correct.values[start[i]..];
                for &(_, near) in neighbours(at_body, links[k as usize].sides) {
                    let near_at = place[near as usize];
                    if near_at > place[k as usize] {
                        continue;
                    }
                    let column = base[near_at as usize] as usize;
                    for j in (column..column + links[near as usize].rows.len()).take_while(|&j| j <= i) {
                        row[j - first[i] as usize] = coupling(rows.terms(ids[i]), rows.terms(ids[j]));
                    }
                }
            }
        }
        relax.values.clone_from(&correct.values);
        for (i, &id) in ids.iter().enumerate() {
            correct.values[start[i] + i - first[i] as usize] += f64::from(rows.rows()[id as usize].softness);
        }
        correct.decompose(first, start);
        relax.decompose(first, start);
    }

    /// Numbers the rows of this substep and their envelopes.
    fn lay_out(&mut self) {
        self.ids.clear();
        self.first.clear();
        self.start.clear();
        self.base.clear();
        let mut end = 0;
        for p in 0..self.order.len() {
            let k = self.order[p];
            self.base.push(self.ids.len() as u32);
            let low = self.base[self.lowest(k) as usize];
            for id in self.links[k as usize].rows.clone() {
                self.first.push(low);
                self.start.push(end);
                end += self.ids.len() + 1 - low as usize;
                self.ids.push(id);
            }
        }
    }

    /// Limits the second-order motion of fast components where it would add energy. Runs before the warm start.
    pub fn limit_energy(&mut self, rows: &mut RowBuffer, v: &[Block]) {
        let Self { links, order, parts, ids, first, start, base, relax, change, other, .. } = self;
        if links.iter().all(|l| !l.fast) {
            return;
        }
        let beyond = |rows: &RowBuffer, id: RowId| {
            f64::from(rows.rows()[id as usize].bias - rows.rows()[id as usize].correction)
        };
        change.clear();
        change.extend(ids.iter().map(|&id| beyond(rows, id)));
        relax.solve(first, start, change);
        other.clear();
        other.extend(ids.iter().map(|&id| f64::from(rows.relative_velocity(id, v))));
        relax.solve(first, start, other);
        for (part, &from) in parts.iter().enumerate() {
            let to = parts.get(part + 1).map_or(order.len(), |&p| p as usize);
            if order[from as usize..to].iter().all(|&k| !links[k as usize].fast) {
                continue;
            }
            let span = base[from as usize] as usize..base.get(to).map_or(ids.len(), |&b| b as usize);
            let of = |i: usize| rows.relative_velocity(ids[i], v);
            let taken: f64 = span.clone().map(|i| f64::from(of(i)) * other[i]).sum();
            let given: f64 = span.clone().map(|i| beyond(rows, ids[i]) * change[i]).sum();
            if given > taken {
                let cut = 1.0 - (taken.max(0.0) / given).sqrt();
                for &id in &ids[span] {
                    let part = (cut * beyond(rows, id)) as Real;
                    rows.rows_mut()[id as usize].correction += part;
                }
            }
        }
    }

    /// Solves all rows that were taken; the sum of squared impulse changes [N²·s²].
    pub fn solve(&mut self, rows: &mut RowBuffer, v: &mut [Block], pass: Pass) -> Real {
        let Self { ids, first, start, change, correct, relax, .. } = self;
        change.clear();
        change.extend(ids.iter().map(|&id| {
            let row = rows.rows()[id as usize];
            let law =
                if pass == Pass::Correct { row.bias + row.softness * row.impulse } else { row.bias - row.correction };
            -f64::from(rows.relative_velocity(id, v) + law)
        }));
        let factor = if pass == Pass::Correct { &*correct } else { &*relax };
        factor.solve(first, start, change);
        let mut squares = 0.0;
        for (&id, &change) in ids.iter().zip(change.iter()) {
            let change = pgs::set(rows, id, rows.rows()[id as usize].impulse + change as Real, v);
            squares += change * change;
        }
        squares
    }
}

/// The links at two bodies, each with its body; one at both occurs twice.
fn neighbours(at_body: &[(u32, u32)], sides: [u32; 2]) -> impl Iterator<Item = &(u32, u32)> {
    sides.into_iter().filter(|s| *s != NONE).flat_map(move |side| {
        let from = at_body.partition_point(|a| a.0 < side);
        at_body[from..].iter().take_while(move |a| a.0 == side)
    })
}

/// J_a M⁻¹ J_bᵀ of two rows.
fn coupling(a: &[Term], b: &[Term]) -> f64 {
    let mut sum = 0.0;
    for s in a {
        for t in b.iter().filter(|t| t.block == s.block) {
            sum += (0..3).map(|k| f64::from(s.jacobian[k]) * f64::from(t.response[k])).sum::<f64>();
        }
    }
    sum
}

impl Factor {
    /// L D Lᵀ in place of the matrix.
    fn decompose(&mut self, first: &[u32], start: &[usize]) {
        self.inverse.clear();
        for (i, &from) in first.iter().enumerate() {
            let low = from as usize;
            let (above, row) = self.values.split_at_mut(start[i]);
            let row = &mut row[..i + 1 - low];
            // u = L D of this row
            for j in low..i {
                let other = first[j] as usize;
                let both = low.max(other);
                let past = &above[start[j] + both - other..start[j] + j - other];
                let sum: f64 = row[both - low..j - low].iter().zip(past).map(|(u, l)| u * l).sum();
                row[j - low] -= sum;
            }
            let (whole, mut pivot) = (row[i - low], row[i - low]);
            for (value, inverse) in row[..i - low].iter_mut().zip(&self.inverse[low..i]) {
                let l = *value * inverse;
                pivot -= *value * l;
                *value = l;
            }
            self.inverse.push(if pivot > DEPENDENT * whole { 1.0 / pivot } else { 0.0 });
        }
    }

    /// The solution in place of the right side.
    fn solve(&self, first: &[u32], start: &[usize], x: &mut [f64]) {
        for (i, &low) in first.iter().enumerate() {
            let (before, rest) = x.split_at_mut(i);
            let low = low as usize;
            let row = &self.values[start[i]..start[i] + i - low];
            rest[0] -= row.iter().zip(&before[low..]).map(|(l, y)| l * y).sum::<f64>();
        }
        x.iter_mut().zip(&self.inverse).for_each(|(y, inverse)| *y *= inverse);
        for (i, &low) in first.iter().enumerate().rev() {
            let (before, rest) = x.split_at_mut(i);
            let low = low as usize;
            let row = &self.values[start[i]..start[i] + i - low];
            row.iter().zip(&mut before[low..]).for_each(|(l, y)| *y -= l * rest[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    /// Rows between nodes: `pairs` of blocks, each with an axis; a mass of 1 kg but for block 0, which is fixed.
    fn rows_of(pairs: &[[u32; 2]], axes: &[Vec3], fast: bool) -> (RowBuffer, DirectRows) {
        let (mut rows, mut direct) = (RowBuffer::default(), DirectRows::default());
        let responds = |block: u32| if block == 0 { 0.0 } else { 1.0 };
        for (k, ends) in (0..).zip(pairs) {
            direct.add(k, ends.map(|b| if b == 0 { NONE } else { b }));
        }
        direct.order();
        for (k, ends) in pairs.iter().enumerate() {
            let start = rows.len() as RowId;
            for &axis in axes {
                let term = |block: u32, jacobian: Vec3| Term { block, jacobian, response: jacobian * responds(block) };
                rows.push(&[term(ends[0], -axis), term(ends[1], axis)], 0.0, 0.0, 0.0, Bounds::Free);
            }
            let (link, end) = (direct.find(k as u32).unwrap(), rows.len() as RowId);
            direct.take(link, &mut rows, start..end, if fast { 1.0 } else { 0.0 });
        }
        direct.factorise(&rows);
        (rows, direct)
    }

    fn velocities(count: u32) -> Vec<Block> {
        (0..count).map(|k| if k == 0 { [0.0; 4] } else { [k as Real, 0.3, -0.1 * k as Real, 1.0] }).collect()
    }

    #[test]
    fn a_chain_a_tree_and_a_ring_are_exact_in_one_pass() {
        let chain: Vec<_> = (0..40).map(|k| [k, k + 1]).collect();
        let tree: Vec<_> = (1..40).map(|k| [k / 3, k]).collect();
        let ring: Vec<_> = (1..40).map(|k| [k, k % 39 + 1]).collect();
        for pairs in [chain, tree, ring] {
            let (mut rows, mut direct) = rows_of(&pairs, &[Vec3::X, Vec3::Y, Vec3::Z], false);
            let mut v = velocities(41);
            let before: f64 = v.iter().map(|b| f64::from(b[0])).sum();
            direct.solve(&mut rows, &mut v, Pass::Relax);
            for id in 0..rows.len() as RowId {
                let left = rows.relative_velocity(id, &v);
                assert!(left.abs() < 1e-4, "row {id}: {left}");
            }
            // a ring moves on with the mean velocity: its last joint depends on the others
            if pairs[0][0] == 1 {
                assert!((f64::from(v[5][0]) - before / 39.0 + 40.0 / 39.0).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn a_fast_chain_gains_no_energy() {
        let pairs: Vec<_> = (0..20).map(|k| [k, k + 1]).collect();
        for (size, fast) in [(0.01, true), (30.0, true), (30.0, false)] {
            let (mut rows, mut direct) = rows_of(&pairs, &[Vec3::X, Vec3::Y, Vec3::Z], fast);
            for (k, row) in rows.rows_mut().iter_mut().enumerate() {
                row.bias = size * ((k * 7 % 5) as Real - 2.0);
            }
            let mut v = velocities(21);
            let energy = |v: &[Block]| v.iter().map(|b| b[0] * b[0] + b[1] * b[1] + b[2] * b[2]).sum::<Real>();
            let before = energy(&v);
            direct.limit_energy(&mut rows, &v);
            direct.solve(&mut rows, &mut v, Pass::Relax);
            assert_eq!(energy(&v) > 1.001 * before, !fast, "{size} {fast}: {} of {before}", energy(&v));
        }
    }

    #[test]
    fn two_links_of_one_pair_are_solved_once() {
        let (mut rows, mut direct) = rows_of(&[[1, 2], [1, 2], [0, 1]], &[Vec3::X], false);
        let mut v = velocities(3);
        direct.solve(&mut rows, &mut v, Pass::Relax);
        assert!(v[1][0].abs() < 1e-5 && v[2][0].abs() < 1e-5);
    }

    #[test]
    fn a_net_too_large_is_left_to_the_sweeps() {
        let mut direct = DirectRows::default();
        let side = 60;
        let mut key = 0;
        for y in 0..side {
            for x in 0..side {
                for near in [(x + 1, y), (x, y + 1)].into_iter().filter(|n| n.0 < side && n.1 < side) {
                    direct.add(key, [y * side + x, near.1 * side + near.0]);
                    key += 1;
                }
            }
        }
        // beside it a pair
        direct.add(key, [10_000, 10_001]);
        direct.order();
        assert!(direct.find(0).is_none() && direct.find(key).is_some());
    }
}
