//! Smooth motions of an island: the coarse part of its preconditioner while bodies are in contact.
//!
//! Block Jacobi treats one node at a time; a body under a uniform load then needs as many iterations as it has layers
//! of elements, times the increase by the rows' stiffness. Soft bodies therefore provide a few dozen smooth motions,
//! rigid bodies all six of theirs, and with Z all of them
//!
//! ```text
//!   z += Z E⁻¹ Zᵀ r,   E = Zᵀ (A₀ + Jᵀ rate J) Z = L Lᵀ
//! ```
//!
//! The rows are in E, and both bodies of each row: without them such a space is worse than none
//! (`docs/design-trial.md`). L is stored from the first entry of each row on (the envelope; Jennings 1966): bodies
//! without a common contact share no entries, and rigid bodies come last, so that soft ones around a rigid one give an
//! arrow matrix. With rigid bodies alone, as in the momentum correction, E is the complete matrix and the CG converges
//! in one iteration.

use super::space::block;
use super::{RigidUnknown, System};
use crate::constraint::{RowBuffer, RowId, Term};
use crate::math::{Block, Kernel, LANES, Lane, Real, Vec3, hold, run_wide, vec};
use crate::tuning::smooth::{DEPENDENT, MOST_WORK, NEARLY};
use std::ops::Range;

/// Unknowns of a rigid body: three and three, and two that pad the lanes.
const RIGID: usize = LANES;
/// Marks a block or operator without unknowns.
const NOWHERE: u32 = u32::MAX;
/// Rows on the same bodies that are added together: each entry of E is then loaded and stored once for all of them.
const GROUP: usize = 8;
/// Independent partial sums in a product of rows.
const SIDE: usize = 4;

/// The space and its factor; the memory is reused from solve to solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Smooth {
    /// Too large, or no body has smooth motions: block Jacobi alone.
    off: bool,
    /// First unknown of each operator. (operator_count)
    of_operator: Vec<u32>,
    /// First unknown of each block's operator, or of the block itself in a rigid body. (block_count)
    of_block: Vec<u32>,
    /// The member that each block belongs to. (block_count)
    members: Vec<u32>,
    /// Unknowns of each member: ranges that are multiples of the lanes.
    spans: Vec<Range<u32>>,
    /// The operator of each member; the members after these are rigid bodies.
    operators: Vec<u32>,
    /// First column of each row, a multiple of the lanes, and its index in `entries`. (size)
    low: Vec<u32>,
    start: Vec<u32>,
    /// L below the diagonal, row after row padded to full lanes, zero from the diagonal on.
    entries: Vec<Real>,
    /// Diagonal of E, then 1/diagonal of L, zero for a motion left out. (size)
    diagonal: Vec<Real>,
    /// Zᵀ j of each row of a group. (size)
    seen: [Vec<Real>; GROUP],
    /// Number of rows in `seen`, their members, ascending, and those of the next row.
    held: usize,
    met: Vec<u32>,
    meets: Vec<u32>,
    /// Zᵀ r, then E⁻¹ Zᵀ r. (size)
    answer: Vec<Real>,
    /// E was built in this solve, and the rates of the rows that it was built with. (row_count)
    made: bool,
    made_with: Vec<Real>,
}

/// The linear model of the rows in this pass, from `Space`.
#[derive(Clone, Copy)]
pub(super) struct Rates<'a> {
    /// Rows that may have a rate, ascending.
    pub(super) near: &'a [u32],
    pub(super) rate: &'a [Real],
    pub(super) cross: &'a [Real],
}

impl Smooth {
    /// True when the rigid body with this linear block is solved here, and Jacobi leaves it out.
    pub(super) fn holds(&self, block: u32) -> bool {
        !self.off && self.of_block.get(block as usize).is_some_and(|&at| at != NOWHERE)
    }

    /// True when E was built with nearly these rates: a preconditioner need not be exact. Only within one solve.
    pub(super) fn fits(&self, rates: Rates<'_>) -> bool {
        let change: Real = self.made_with.iter().zip(rates.rate).map(|(was, is)| (was - is).abs()).sum();
        let all: Real = self.made_with.iter().sum();
        self.made && change <= NEARLY * all
    }

    /// A new solve: E must be rebuilt.
    pub(super) fn forget(&mut self) {
        self.made = false;
    }

    /// Memory for any number of rows up to `rows` on these bodies, with so many blocks in total.
    pub(super) fn reserve(&mut self, system: &System<'_>, blocks: usize, rows: usize) {
        let motions = system.operators.iter().filter_map(|placed| placed.operator.smooth());
        let rigid = system.rigid_unknowns.iter().filter(|l| l.inertia.is_some()).count();
        let size = motions.map(|m| m.count()).sum::<usize>() + RIGID * rigid;
        let members = system.operators.len() + rigid;
        [&mut self.of_block, &mut self.members].into_iter().for_each(|list| hold(list, blocks));
        [&mut self.of_operator, &mut self.operators].into_iter().for_each(|list| hold(list, system.operators.len()));
        [&mut self.met, &mut self.meets].into_iter().for_each(|list| hold(list, members));
        hold(&mut self.spans, members);
        [&mut self.low, &mut self.start].into_iter().for_each(|list| hold(list, size));
        [&mut self.diagonal, &mut self.answer].into_iter().chain(&mut self.seen).for_each(|list| hold(list, size));
        hold(&mut self.made_with, rows);
        // a full triangle; or rows of equal width w with n w²/2 = MOST_WORK, which have the most entries for that work
        let full = size * (size + 2 * LANES) / 2;
        hold(&mut self.entries, full.min((2 * MOST_WORK * size).isqrt()));
    }

    /// E for the rows of this pass, and its factor. `touched` marks the operators with rows.
    pub(super) fn build(
        &mut self,
        system: &System<'_>,
        rows: &RowBuffer,
        rates: Rates<'_>,
        blocks: usize,
        touched: &[bool],
    ) {
        // members are those in contact: their number changes from pass to pass
        self.reserve(system, blocks, rows.rows().len());
        self.made = true;
        self.made_with.clear();
        self.made_with.extend_from_slice(rates.rate);
        self.take_places(system, blocks, touched);
        self.off = self.spans.is_empty() || !self.lay_out(rows, rates);
        if self.off {
            return;
        }
        for (k, placed) in system.operators.iter().enumerate() {
            let at = self.of_operator[k];
            if let (Some(motions), true) = (placed.operator.smooth(), at != NOWHERE) {
                self.add_own(at as usize, motions.count(), motions.stiffness());
            }
        }
        for unknown in system.rigid_unknowns {
            self.add_lump(unknown);
        }
        self.add_rows(system, rows, rates);
        let Self { low, start, entries, diagonal, .. } = self;
        run_wide(Factor { low, start, entries, diagonal });
    }

    /// Unknowns of all members: operators first, rigid bodies last.
    fn take_places(&mut self, system: &System<'_>, blocks: usize, touched: &[bool]) {
        let Self { of_operator, of_block, members, spans, operators, .. } = self;
        members.clear();
        members.resize(blocks, NOWHERE);
        spans.clear();
        operators.clear();
        of_operator.clear();
        of_block.clear();
        of_block.resize(blocks, NOWHERE);
        let mut next = 0;
        let mut take = |count: usize, blocks: Range<usize>| {
            let first = next;
            next += count as u32;
            members[blocks].fill(spans.len() as u32);
            spans.push(first..next);
            first
        };
        for (k, (placed, touched)) in system.operators.iter().zip(touched).enumerate() {
            let motions = placed.operator.smooth().filter(|_| *touched);
            let first = motions.map_or(NOWHERE, |m| take(m.count(), placed.blocks()));
            operators.extend(motions.map(|_| k as u32));
            of_operator.push(first);
            of_block[placed.blocks()].fill(first);
        }
        for unknown in system.rigid_unknowns.iter().filter(|l| l.inertia.is_some()) {
            let b = unknown.block as usize;
            let first = take(RIGID, b..b + 2);
            (of_block[b], of_block[b + 1]) = (first, first + 3);
        }
    }

    /// The member that a block belongs to.
    fn member(&self, block: u32) -> Option<usize> {
        let member = self.members[block as usize];
        (member != NOWHERE).then_some(member as usize)
    }

    /// The envelope; false when it is too large.
    fn lay_out(&mut self, rows: &RowBuffer, rates: Rates<'_>) -> bool {
        let size = self.spans.last().map_or(0, |s| s.end as usize);
        // the first column of a member is stored at its first unknown until all rows are processed
        self.low.clear();
        self.low.extend(0..size as u32);
        for id in rates.near.iter().copied().filter(|&id| rates.rate[id as usize] != 0.0) {
            let members = rows.terms(id).iter().filter_map(|t| self.member(t.block));
            let first = members.min().map_or(NOWHERE, |m| self.spans[m].start);
            for t in rows.terms(id) {
                if let Some(member) = self.member(t.block) {
                    let low = &mut self.low[self.spans[member].start as usize];
                    *low = first.min(*low);
                }
            }
        }
        let (mut length, mut work) = (0, 0);
        self.start.clear();
        for span in &self.spans {
            let low = self.low[span.start as usize];
            for row in span.clone() {
                self.low[row as usize] = low;
                self.start.push(length as u32);
                let width = row.next_multiple_of(LANES as u32) as usize - low as usize;
                length += width;
                work += width * width / 2;
            }
        }
        if work > MOST_WORK {
            return false;
        }
        for (list, length) in [(&mut self.entries, length), (&mut self.diagonal, size), (&mut self.answer, size)] {
            list.clear();
            list.resize(length, 0.0);
        }
        for seen in &mut self.seen {
            seen.clear();
            seen.resize(size, 0.0);
        }
        true
    }

    /// The row below the diagonal.
    fn row(&mut self, row: usize) -> &mut [Real] {
        let (from, low) = (self.start[row] as usize, self.low[row] as usize);
        &mut self.entries[from..from + row - low]
    }

    /// The stiffness of a member between its own motions, row by row.
    fn add_own(&mut self, at: usize, count: usize, stiffness: &[Real]) {
        for (k, from) in stiffness.chunks_exact(count).enumerate() {
            let row = self.row(at + k);
            let first = row.len() - k;
            row[first..].copy_from_slice(&from[..k]);
            self.diagonal[at + k] = from[k];
        }
    }

    fn add_lump(&mut self, unknown: &RigidUnknown) {
        let (Some(inertia), true) = (unknown.inertia, self.holds(unknown.block)) else { return };
        let at = self.of_block[unknown.block as usize] as usize;
        let inertia = inertia.to_mat();
        for k in 0..3 {
            self.diagonal[at + k] = unknown.mass;
            self.diagonal[at + 3 + k] = inertia.col(k)[k];
            for j in 0..k {
                let row = self.row(at + 3 + k);
                let first = row.len() - k;
                row[first + j] = inertia.col(j)[k];
            }
        }
        for k in 6..RIGID {
            self.diagonal[at + k] = 1.0;
        }
    }

    /// Adds all rows, grouped by equal members.
    fn add_rows(&mut self, system: &System<'_>, rows: &RowBuffer, Rates { near, rate, cross }: Rates<'_>) {
        self.held = 0;
        self.met.clear();
        for id in near.iter().map(|&id| id as usize) {
            let slides = cross[id] != 0.0;
            if rate[id] == 0.0 && !slides || id > 0 && cross[id - 1] != 0.0 {
                continue;
            }
            self.meet(rows.terms(id as RowId));
            self.see(system, rows.terms(id as RowId), rate[id].sqrt());
            if slides {
                // a sliding pair resists motion perpendicular to its slip only: one row
                let scale = rate[id + 1].sqrt() * cross[id].signum();
                self.see(system, rows.terms(id as RowId + 1), scale);
            }
            self.held += 1;
        }
        self.flush();
    }

    /// Prepares for a row with these terms: the group is added first when its members differ, or when it is full.
    fn meet(&mut self, terms: &[Term]) {
        let mut meets = std::mem::take(&mut self.meets);
        meets.clear();
        for member in terms.iter().filter_map(|t| self.member(t.block)) {
            if !meets.contains(&(member as u32)) {
                meets.push(member as u32);
            }
        }
        meets.sort_unstable();
        if self.held == GROUP || meets != self.met {
            self.flush();
            self.met.clone_from(&meets);
        }
        self.meets = meets;
    }

    /// Adds the rows of the group.
    fn flush(&mut self) {
        let Self { spans, met, seen, low, start, entries, diagonal, held, .. } = self;
        if *held > 0 {
            let seen_here = &*seen;
            run_wide(AddGroup { spans, met, seen: seen_here, held: *held, low, start, entries, diagonal });
            for &m in met.iter() {
                let span = spans[m as usize].start as usize..spans[m as usize].end as usize;
                for seen in &mut seen[..*held] {
                    seen[span.clone()].fill(0.0);
                }
            }
        }
        *held = 0;
    }

    /// Adds scale Zᵀ j of a row to the current row of the group.
    fn see(&mut self, system: &System<'_>, terms: &[Term], scale: Real) {
        for t in terms {
            let Some(member) = self.member(t.block) else { continue };
            let span = self.spans[member].start as usize..self.spans[member].end as usize;
            let jacobian = t.jacobian * scale;
            let seen = &mut self.seen[self.held];
            match self.operators.get(member) {
                Some(&operator) => {
                    let placed = &system.operators[operator as usize];
                    if let Some(motions) = placed.operator.smooth() {
                        motions.see((t.block - placed.first) as usize, jacobian, &mut seen[span]);
                    }
                }
                None => {
                    let first = self.of_block[t.block as usize] as usize;
                    for (into, j) in seen[first..].iter_mut().zip(jacobian.to_array()) {
                        *into += j;
                    }
                }
            }
        }
    }

    /// z += Z E⁻¹ Zᵀ r.
    pub(super) fn correct(&mut self, system: &System<'_>, r: &[Block], z: &mut [Block]) {
        if self.off {
            return;
        }
        let Self { answer, of_operator, of_block, .. } = self;
        for (placed, &at) in system.operators.iter().zip(&*of_operator) {
            if let (Some(motions), true) = (placed.operator.smooth(), at != NOWHERE) {
                motions.gather(&r[placed.blocks()], &mut answer[at as usize..][..motions.count()]);
            }
        }
        let rigid = |unknown: &&RigidUnknown| unknown.inertia.is_some();
        for unknown in system.rigid_unknowns.iter().filter(rigid) {
            let (b, at) = (unknown.block as usize, of_block[unknown.block as usize] as usize);
            answer[at..at + 3].copy_from_slice(&r[b][..3]);
            answer[at + 3..at + 6].copy_from_slice(&r[b + 1][..3]);
            answer[at + 6..at + RIGID].fill(0.0);
        }
        let Self { low, start, entries, diagonal, .. } = self;
        run_wide(Solve { low, start, entries, diagonal, y: &mut self.answer });
        let Self { answer, of_operator, of_block, .. } = self;
        for (placed, &at) in system.operators.iter().zip(&*of_operator) {
            if let (Some(motions), true) = (placed.operator.smooth(), at != NOWHERE) {
                motions.spread(&answer[at as usize..][..motions.count()], &mut z[placed.blocks()]);
            }
        }
        for unknown in system.rigid_unknowns.iter().filter(rigid) {
            let (b, at) = (unknown.block as usize, of_block[unknown.block as usize] as usize);
            z[b] = block(vec(z[b]) + Vec3::from_slice(&answer[at..]));
            z[b + 1] = block(vec(z[b + 1]) + Vec3::from_slice(&answer[at + 3..]));
        }
    }
}

/// E += Σ s sᵀ over the rows of a group, below the diagonal and on it. Entries beyond are cleared by `Factor`.
struct AddGroup<'a> {
    spans: &'a [Range<u32>],
    met: &'a [u32],
    seen: &'a [Vec<Real>; GROUP],
    /// Number of rows in the group.
    held: usize,
    low: &'a [u32],
    start: &'a [u32],
    entries: &'a mut [Real],
    diagonal: &'a mut [Real],
}

impl Kernel for AddGroup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        match self.held {
            1 => self.add::<L, 1>(t),
            2..=4 => self.add::<L, 4>(t),
            _ => self.add::<L, GROUP>(t),
        }
    }
}

impl AddGroup<'_> {
    /// The first N rows; those beyond the group are zero.
    #[inline(always)]
    fn add<L: Lane, const N: usize>(self, t: L::Token) {
        for (n, &member) in self.met.iter().enumerate() {
            let rows = self.spans[member as usize].clone();
            for row in rows.start as usize..rows.end as usize {
                let mut s = [0.0; N];
                for (s, seen) in s.iter_mut().zip(self.seen) {
                    *s = seen[row];
                }
                if s == [0.0; N] {
                    continue;
                }
                self.diagonal[row] += s.iter().map(|s| s * s).sum::<Real>();
                let s = s.map(|s| L::splat(t, s));
                let low = self.low[row] as usize;
                // up to full lanes at the diagonal
                let width = row.next_multiple_of(LANES) - low;
                let entries = &mut self.entries[self.start[row] as usize..][..width];
                for &other in &self.met[..=n] {
                    let columns = &self.spans[other as usize];
                    let (first, end) = (columns.start as usize, (columns.end as usize).min(low + width));
                    add_products::<L, N>(t, s, self.seen, first, &mut entries[first - low..end - low]);
                }
            }
        }
    }
}

/// e += Σ s a over full lanes, a from its entry `first` on.
#[inline(always)]
fn add_products<L: Lane, const N: usize>(t: L::Token, s: [L; N], a: &[Vec<Real>], first: usize, e: &mut [Real]) {
    let mut rows: [&[Real]; N] = [&[]; N];
    for (row, a) in rows.iter_mut().zip(a) {
        *row = &a[first..first + e.len()];
    }
    for (chunk, e) in e.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut at = 0;
        while at < LANES {
            let mut sum = L::load(t, &e[at..]);
            for (s, row) in s.iter().zip(&rows) {
                sum = sum + *s * L::load(t, &row[chunk * LANES + at..]);
            }
            sum.store(&mut e[at..]);
            at += L::COUNT;
        }
    }
}

/// E = L Lᵀ by rows (Cholesky), each row from its first entry on.
struct Factor<'a> {
    low: &'a [u32],
    start: &'a [u32],
    entries: &'a mut [Real],
    diagonal: &'a mut [Real],
}

impl Kernel for Factor<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        for i in 0..self.low.len() {
            let (low, from) = (self.low[i] as usize, self.start[i] as usize);
            let (before, rest) = self.entries.split_at_mut(from);
            let row = &mut rest[..i.next_multiple_of(LANES) - low];
            row[i - low..].fill(0.0);
            for j in low..i {
                let (low_j, from_j) = (self.low[j] as usize, self.start[j] as usize);
                let first = low.max(low_j);
                let end = j.next_multiple_of(LANES);
                let other = &before[from_j + first - low_j..from_j + end - low_j];
                let sum = product::<L>(t, &row[first - low..end - low], other);
                row[j - low] = (row[j - low] - sum) * self.diagonal[j];
            }
            let total = self.diagonal[i];
            let own = total - product::<L>(t, row, row);
            self.diagonal[i] = if own > DEPENDENT * total { 1.0 / own.sqrt() } else { 0.0 };
        }
    }
}

/// y ← (L Lᵀ)⁻¹ y.
struct Solve<'a> {
    low: &'a [u32],
    start: &'a [u32],
    entries: &'a [Real],
    diagonal: &'a [Real],
    y: &'a mut [Real],
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        for i in 0..self.low.len() {
            let (low, end) = (self.low[i] as usize, i.next_multiple_of(LANES));
            let row = &self.entries[self.start[i] as usize..][..end - low];
            self.y[i] = (self.y[i] - product::<L>(t, row, &self.y[low..end])) * self.diagonal[i];
        }
        for i in (0..self.low.len()).rev() {
            self.y[i] *= self.diagonal[i];
            let (low, end) = (self.low[i] as usize, i.next_multiple_of(LANES));
            let row = &self.entries[self.start[i] as usize..][..end - low];
            let y = L::splat(t, self.y[i]);
            for (to, row) in self.y[low..end].as_chunks_mut::<LANES>().0.iter_mut().zip(row.as_chunks::<LANES>().0) {
                let mut at = 0;
                while at < LANES {
                    (L::load(t, &to[at..]) - y * L::load(t, &row[at..])).store(&mut to[at..]);
                    at += L::COUNT;
                }
            }
        }
    }
}

/// Σ a b over full lanes; partial sums by lane, so that eight lanes and one add in the same order, and four of them
/// independent: a single one would be limited by the latency of the addition.
#[inline(always)]
fn product<L: Lane>(t: L::Token, a: &[Real], b: &[Real]) -> Real {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<SIDE>(), b.as_chunks::<SIDE>());
    let mut lane = 0;
    while lane < LANES {
        let mut side = [L::splat(t, 0.0); SIDE];
        for (a, b) in a.iter().zip(b) {
            for k in 0..SIDE {
                side[k] = side[k] + L::load(t, &a[k][lane..]) * L::load(t, &b[k][lane..]);
            }
        }
        for (k, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
            side[k] = side[k] + L::load(t, &a[lane..]) * L::load(t, &b[lane..]);
        }
        ((side[0] + side[1]) + (side[2] + side[3])).store(&mut sums[lane..]);
        lane += L::COUNT;
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))
}

#[cfg(test)]
mod tests {
    use super::super::space::{apply_bodies, relative_velocity, scatter};
    use super::*;
    use crate::constraint::Bounds;
    use crate::math::Sym3;

    fn unknown(block: u32, mass: Real) -> RigidUnknown {
        let inertia = Sym3::from_mat(&crate::math::Mat3::from_diagonal(Vec3::new(0.1, 0.2, 0.3) * mass));
        RigidUnknown { block, mass, inertia: Some(inertia), free: [Vec3::ZERO; 2] }
    }

    /// A row between points of two rigid bodies, or of one and the world.
    fn push(rows: &mut RowBuffer, axis: Vec3, bodies: &[(u32, Vec3)], bounds: Bounds) {
        let side = [1.0, -1.0];
        let terms: Vec<Term> = bodies
            .iter()
            .zip(side)
            .flat_map(|(&(block, arm), side)| {
                let j = axis * side;
                [(block, j), (block + 1, arm.cross(j))]
            })
            .map(|(block, jacobian)| Term { block, jacobian, response: Vec3::ZERO })
            .collect();
        rows.push(&terms, 0.0, 0.0, 1.0, bounds);
    }

    #[test]
    fn the_coarse_space_of_rigid_bodies_is_complete_and_its_inverse_exact() {
        let rigid_unknowns = [unknown(0, 2.0), unknown(2, 0.5), unknown(4, 1.0)];
        let system = System { operators: &[], rigid_unknowns: &rigid_unknowns };
        let mut rows = RowBuffer::default();
        push(&mut rows, Vec3::Y, &[(0, Vec3::new(0.3, 0.1, 0.0))], Bounds::AtLeast(0.0));
        let disc = Bounds::Disc { normal: 0, friction: 0.5, radius: 0.0 };
        push(&mut rows, Vec3::X, &[(0, Vec3::new(0.3, 0.1, 0.0))], disc);
        push(&mut rows, Vec3::Z, &[(0, Vec3::new(0.3, 0.1, 0.0))], Bounds::Mate);
        push(&mut rows, Vec3::X, &[(0, Vec3::Y * 0.2), (4, Vec3::Z * 0.1)], Bounds::Free);
        push(&mut rows, Vec3::Z, &[(2, Vec3::X * 0.2), (4, Vec3::Y * 0.4)], Bounds::Free);
        // the pair slides along (0.6, 0.8): it resists motion perpendicular to that only
        let rate = [3.0, 5.0 * 0.64, 5.0 * 0.36, 7.0, 2.0];
        let cross = [0.0, -5.0 * 0.48, 0.0, 0.0, 0.0];
        let mut smooth = Smooth::default();
        smooth.build(&system, &rows, Rates { near: &[0, 1, 2, 3, 4], rate: &rate, cross: &cross }, 6, &[]);

        let r: Vec<Block> = (0..6).map(|k| [1.0 + k as Real, -0.5 * k as Real, 0.7, 0.0]).collect();
        let (mut z, mut back) = (vec![[0.0; 4]; 6], vec![[0.0; 4]; 6]);
        smooth.correct(&system, &r, &mut z);
        apply_bodies(&system, &z, &mut back);
        let u: Vec<Real> = (0..5).map(|id| relative_velocity(rows.terms(id), &z)).collect();
        for id in 0..5 {
            let mate = if id == 1 {
                cross[1] * u[2]
            } else if id == 2 {
                cross[1] * u[1]
            } else {
                0.0
            };
            scatter(rows.terms(id as RowId), rate[id] * u[id] + mate, &mut back);
        }
        let size = r.iter().flatten().fold(0.0, |m: Real, v| m.max(v.abs()));
        for (back, r) in back.iter().zip(&r) {
            assert!((vec(*back) - vec(*r)).length() < 1e3 * Real::EPSILON * size, "{back:?} {r:?}");
        }
    }

    #[test]
    fn rows_of_one_pair_give_the_same_sum_in_any_grouping() {
        let rigid_unknowns = [unknown(0, 2.0), unknown(2, 0.5)];
        let system = System { operators: &[], rigid_unknowns: &rigid_unknowns };
        // 19 rows: two full groups and three more
        let arm = |k: usize| Vec3::new(0.1 * k as Real - 0.9, 0.05 * (k % 4) as Real, 0.3 - 0.02 * k as Real);
        let axis = |k: usize| Vec3::new(1.0, 0.2 * k as Real, (k % 3) as Real).normalize();
        let between = |k: usize| [(0, arm(k)), (2, arm(k + 1) * 0.5)];
        let rate: Vec<Real> = (0..19).map(|k| 1.0 + 0.3 * k as Real).collect();
        let answer = |order: &[usize], near: &[u32]| {
            let mut rows = RowBuffer::default();
            order.iter().for_each(|&k| push(&mut rows, axis(k), &between(k), Bounds::Free));
            let rate: Vec<Real> = order.iter().map(|&k| rate[k]).collect();
            let mut smooth = Smooth::default();
            smooth.build(&system, &rows, Rates { near, rate: &rate, cross: &vec![0.0; order.len()] }, 4, &[]);
            let r: Vec<Block> = (0..4).map(|k| [1.0 + k as Real, -0.5 * k as Real, 0.7, 0.0]).collect();
            let mut z = vec![[0.0; 4]; 4];
            smooth.correct(&system, &r, &mut z);
            z
        };
        let all: Vec<usize> = (0..19).collect();
        let near: Vec<u32> = (0..19).collect();
        let handfuls = answer(&all, &near);
        let backwards: Vec<usize> = all.iter().rev().copied().collect();
        let size = handfuls.as_flattened().iter().fold(0.0, |m: Real, x| m.max(x.abs()));
        for (a, b) in handfuls.as_flattened().iter().zip(answer(&backwards, &near).as_flattened()) {
            assert!((a - b).abs() < 1e3 * Real::EPSILON * size, "{a} {b}");
        }
        // and a row that is not near has no effect: the first 18 alone
        for (a, b) in
            answer(&all, &near[..18]).as_flattened().iter().zip(answer(&all[..18], &near[..18]).as_flattened())
        {
            assert_eq!(a, b);
        }
    }

    #[test]
    fn eight_lanes_and_one_give_bitwise_equal_factors() {
        let size = 40;
        let low: Vec<u32> = (0..size as u32).map(|i| if i < 16 { 0 } else { 8 }).collect();
        let mut start = Vec::new();
        let mut length = 0;
        for (i, low) in low.iter().enumerate() {
            start.push(length as u32);
            length += i.next_multiple_of(LANES) - *low as usize;
        }
        let make = || -> (Vec<Real>, Vec<Real>) {
            let part = |k: usize| ((k * 7919) % 1000) as Real / 1000.0 - 0.5;
            ((0..length).map(part).collect(), (0..size).map(|k| 30.0 + part(k)).collect())
        };
        let (mut wide, mut narrow) = (make(), make());
        run_wide(Factor { low: &low, start: &start, entries: &mut wide.0, diagonal: &mut wide.1 });
        Factor { low: &low, start: &start, entries: &mut narrow.0, diagonal: &mut narrow.1 }.run::<Real>(());
        assert_eq!(wide, narrow);
        let mut y: Vec<Real> = (0..size).map(|k| k as Real - 9.5).collect();
        let mut same = y.clone();
        run_wide(Solve { low: &low, start: &start, entries: &wide.0, diagonal: &wide.1, y: &mut y });
        Solve { low: &low, start: &start, entries: &wide.0, diagonal: &wide.1, y: &mut same }.run::<Real>(());
        assert_eq!(y, same);
    }
}
