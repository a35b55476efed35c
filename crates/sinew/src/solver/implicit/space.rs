//! Data of a solve: the vectors of its CG, the linear model of every row, and the preconditioner.

use super::System;
use super::cg::mix;
use super::smooth::{Rates, Smooth};
use crate::constraint::{Bounds, Row, RowBuffer, RowId, Term};
use crate::math::{Block, Eight, Kernel, LANES, Lane, Mat3, Real, Sym3, Vec3, add, hold, outer, run_wide, vec};
use crate::tuning::implicit::LARGEST_KNOWN;
use crate::tuning::preconditioner::{LIFT, LIFTS};

/// No operator contains the block.
pub(super) const NOBODY: u32 = u32::MAX;

/// Role of a block in the CG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Prescribed,
    Single,
    Linear,
    Angular,
}

/// Vectors of one CG. Entries per block unless stated otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    pub(super) kind: Vec<Kind>,
    /// Diagonal blocks of A without rows [kg].
    pub(super) base: Vec<Mat3>,
    /// Their inverses; zero for prescribed blocks.
    pub(super) base_inverse: Vec<Mat3>,
    /// Rows act on the block in this pass.
    met: Vec<bool>,
    /// `inverse` of eight blocks at a time, in the order the CG reads it: entry after entry, by columns.
    /// (block_count/8, rounded up)
    handfuls: Vec<[Eight; 9]>,
    /// Preconditioner: inverse of base + rows; of a rigid body's angular block, of its Schur complement.
    pub(super) inverse: Vec<Mat3>,
    /// Linear-angular 3x3 of a rigid body, at its linear block.
    pub(super) coupling: Vec<Mat3>,
    /// b [N·s].
    pub(super) load: Vec<Block>,
    /// b − M v at the start of the solve: the effect of forces in the substep, independent of the speed of the bodies
    /// [N·s].
    pub(super) forces: Vec<Block>,
    pub(super) r: Vec<Block>,
    pub(super) z: Vec<Block>,
    pub(super) p: Vec<Block>,
    pub(super) q: Vec<Block>,
    /// Fraction by which radii approach the new normal impulse.
    pub(super) blend: Real,
    /// v at the start of a pass.
    pub(super) start: Vec<Block>,
    /// A times that, and A times the increment of the pass so far: the matrix is read once per iteration, and nowhere
    /// else. It is larger than the cache of a core for bodies of some thousand nodes.
    pub(super) applied: Vec<Block>,
    pub(super) moved: Vec<Block>,
    /// Size of the effect of forces and rows, in the norm of the first preconditioner of a solve [J].
    pub(super) reference: Option<Real>,
    /// The rates that the preconditioner was built for, followed by the cross rates. (2 row_count)
    made_for: Vec<Real>,
    /// The linear model of each row: λ = offset − rate·u − cross·u(mate), u = J·v + bias. (row_count)
    pub(super) rate: Vec<Real>,
    pub(super) cross: Vec<Real>,
    pub(super) offset: Vec<Real>,
    /// Radius of a disc in this pass, at its first row [N·s]. (row_count)
    pub(super) reach: Vec<Real>,
    /// u, or J·p, then rate·J·p. (row_count)
    pub(super) push: Vec<Real>,
    /// u at the start of a pass and its change. (row_count)
    pub(super) from: Vec<Real>,
    pub(super) step: Vec<Real>,
    /// Rows that may become active in this solve (`near.rs`), ascending; all loops over rows run over these.
    pub(super) near: Vec<u32>,
    /// The others: predicted to stay open in this substep.
    pub(super) far: Vec<u32>,
    /// The rows whose rate is not zero in this pass: the only ones in the CG's matrix product.
    pub(super) active: Active,
    /// The operator of each block, or [`NOBODY`].
    pub(super) owner: Vec<u32>,
    /// Rows act on this operator in this pass: its own coarse correction does not contain them. (operator_count)
    pub(super) touched: Vec<bool>,
    /// Smooth motions of all bodies with rows.
    pub(super) smooth: Smooth,
    /// No coarse corrections of individual bodies, until the next solve.
    pub(super) plain: bool,
    /// Fraction for discs whose normal rows began with an impulse, and which these are. (row_count)
    pub(super) blend_known: Real,
    pub(super) known: Vec<bool>,
}

/// Rows of a pass with a rate, packed: the CG iterates over them repeatedly.
#[derive(Clone, Debug, Default)]
pub(super) struct Active {
    rows: Vec<ActiveRow>,
    /// Terms of all rows: block, and Jacobian with a last component of zero, so that a term is four lanes.
    blocks: Vec<u32>,
    jacobians: Vec<Block>,
    /// J·p. (active row_count)
    push: Vec<Real>,
}

#[derive(Clone, Copy, Debug)]
struct ActiveRow {
    /// End of its terms.
    end: u32,
    rate: Real,
    /// Coupling with the next row.
    cross: Real,
}

impl Active {
    fn gather(&mut self, rows: &RowBuffer, near: &[u32], rate: &[Real], cross: &[Real]) {
        self.rows.clear();
        self.blocks.clear();
        self.jacobians.clear();
        for id in near.iter().map(|&id| id as usize) {
            // of a pair that slides along an axis one component may have no rate, but both are coupled
            let coupled = cross[id] != 0.0 || id > 0 && cross[id - 1] != 0.0;
            if rate[id] == 0.0 && !coupled {
                continue;
            }
            for t in rows.terms(id as RowId) {
                self.blocks.push(t.block);
                self.jacobians.push(block(t.jacobian));
            }
            self.rows.push(ActiveRow { end: self.blocks.len() as u32, rate: rate[id], cross: cross[id] });
        }
        self.push.resize(self.rows.len(), 0.0);
    }

    /// q += Jᵀ rate J p.
    pub(super) fn add_product(&mut self, p: &[Block], q: &mut [Block]) {
        let mut first = 0;
        for (push, row) in self.push.iter_mut().zip(&self.rows) {
            let span = first..row.end as usize;
            let mut sum = [0.0; 4];
            for (&b, j) in self.blocks[span.clone()].iter().zip(&self.jacobians[span]) {
                let p = &p[b as usize];
                for k in 0..4 {
                    sum[k] += p[k] * j[k];
                }
            }
            *push = (sum[0] + sum[1]) + sum[2];
            first = row.end as usize;
        }
        let (mut first, mut from_before) = (0, 0.0);
        for (k, row) in self.rows.iter().enumerate() {
            let next = if row.cross == 0.0 { 0.0 } else { self.push[k + 1] };
            let answer = row.rate * self.push[k] + row.cross * next + from_before;
            from_before = row.cross * self.push[k];
            let span = first..row.end as usize;
            for (&b, j) in self.blocks[span.clone()].iter().zip(&self.jacobians[span]) {
                let q = &mut q[b as usize];
                for k in 0..4 {
                    q[k] += j[k] * answer;
                }
            }
            first = row.end as usize;
        }
    }
}

impl Space {
    /// Identifier of the body of a block: the index of its operator, or a number beyond these.
    pub(super) fn body(&self, block: u32) -> u32 {
        match (self.owner[block as usize], self.kind[block as usize]) {
            (NOBODY, Kind::Angular) => NOBODY - block,
            (NOBODY, _) => NOBODY - block - 1,
            (owner, _) => owner,
        }
    }

    /// Memory for so many blocks, and for any rows on these bodies up to so many rows and terms in total.
    pub(super) fn reserve(&mut self, system: &System<'_>, [blocks, rows, terms]: [usize; 3]) {
        hold(&mut self.kind, blocks);
        let Self { base, base_inverse, inverse, coupling, .. } = self;
        [base, base_inverse, inverse, coupling].into_iter().for_each(|list| hold(list, blocks));
        hold(&mut self.met, blocks);
        hold(&mut self.handfuls, blocks.div_ceil(LANES));
        hold(&mut self.owner, blocks);
        let Self { load, forces, r, z, p, q, start, applied, moved, .. } = self;
        [load, forces, r, z, p, q, start, applied, moved].into_iter().for_each(|list| hold(list, blocks));
        let Self { rate, cross, offset, reach, push, from, step, .. } = self;
        [rate, cross, offset, reach, push, from, step].into_iter().for_each(|list| hold(list, rows));
        hold(&mut self.made_for, 2 * rows);
        hold(&mut self.known, rows);
        [&mut self.near, &mut self.far].into_iter().for_each(|list| hold(list, rows));
        let Active { rows: packed, blocks: numbers, jacobians, push } = &mut self.active;
        hold(packed, rows);
        hold(numbers, terms);
        hold(jacobians, terms);
        hold(push, rows);
        hold(&mut self.touched, system.operators.len());
        self.smooth.reserve(system, blocks, rows);
    }

    /// Sizes all lists and reads the bodies: kinds, diagonal, load.
    pub(super) fn reset(&mut self, system: &System<'_>, blocks: usize, rows: usize) {
        self.plain = false;
        self.kind.clear();
        self.kind.resize(blocks, Kind::Prescribed);
        for list in [&mut self.base, &mut self.inverse, &mut self.coupling] {
            list.clear();
            list.resize(blocks, Mat3::ZERO);
        }
        self.reference = None;
        self.made_for.clear();
        let Self { load, forces, r, z, p, q, start, applied, moved, .. } = self;
        for list in [load, forces, r, z, p, q, start, applied, moved] {
            list.clear();
            list.resize(blocks, [0.0; 4]);
        }
        let Self { rate, cross, offset, reach, push, from, step, .. } = self;
        for list in [rate, cross, offset, reach, push, from, step] {
            list.clear();
            list.resize(rows, 0.0);
        }
        self.known.clear();
        self.known.resize(rows, false);
        self.near.clear();
        self.near.extend(0..rows as u32);
        self.far.clear();
        self.smooth.forget();
        self.owner.clear();
        self.owner.resize(blocks, NOBODY);
        for (k, placed) in system.operators.iter().enumerate() {
            let span = placed.blocks();
            self.owner[span.clone()].fill(k as u32);
            placed.operator.diagonal(&mut self.base[span.clone()]);
            self.load[span.clone()].copy_from_slice(placed.operator.load());
            for (kind, mass) in self.kind[span].iter_mut().zip(placed.operator.mass()) {
                *kind = if mass.is_finite() { Kind::Single } else { Kind::Prescribed };
            }
        }
        for unknown in system.rigid_unknowns {
            let b = unknown.block as usize;
            self.kind[b] = Kind::Single;
            self.base[b] = Mat3::from_diagonal(Vec3::splat(unknown.mass));
            self.load[b] = block(unknown.free[0] * unknown.mass);
            if let Some(inertia) = unknown.inertia {
                self.kind[b] = Kind::Linear;
                self.kind[b + 1] = Kind::Angular;
                self.base[b + 1] = inertia.to_mat();
                self.load[b + 1] = block(inertia.mul(unknown.free[1]));
            }
        }
        self.invert_base();
    }

    /// Reads the initial velocities of the solve.
    pub(super) fn begin(&mut self, system: &System<'_>, v: &[Block]) {
        self.forces.copy_from_slice(&self.load);
        for placed in system.operators {
            placed.operator.force_impulse(&v[placed.blocks()], &mut self.forces[placed.blocks()]);
        }
        for unknown in system.rigid_unknowns {
            let b = unknown.block as usize;
            add(&mut self.forces[b], vec(v[b]) * -unknown.mass);
            if let Some(inertia) = unknown.inertia {
                add(&mut self.forces[b + 1], -inertia.mul(vec(v[b + 1])));
            }
        }
    }

    /// Radii of the first pass from the impulses that the normal rows begin with. (The law at the first guess amplifies
    /// its errors by the stiffness of the rows.)
    pub(super) fn start_radii(&mut self, rows: &RowBuffer) {
        for &id in &self.near {
            if let Bounds::Disc { normal, friction, radius } = rows.rows()[id as usize].bounds {
                let start = rows.rows()[normal as usize].impulse;
                // with a larger coefficient an error of the impulse is more than all friction that the bodies can have
                if friction > LARGEST_KNOWN {
                    continue;
                }
                self.known[id as usize] = start > 0.0;
                self.reach[id as usize] = (friction * start + radius).max(0.0);
            }
        }
    }

    /// Begins a pass at v.
    pub(super) fn begin_pass(&mut self, v: &[Block]) {
        self.start.copy_from_slice(v);
        self.moved.fill([0.0; 4]);
    }

    /// Ends a pass after this fraction of its step.
    pub(super) fn end_pass(&mut self, part: Real) {
        mix(&mut self.applied, 1.0, &self.moved, part);
    }

    /// push ← u = J·v + bias of every row that is near.
    pub(super) fn drifts(&mut self, rows: &RowBuffer, v: &[Block]) {
        for &id in &self.near {
            self.push[id as usize] = relative_velocity(rows.terms(id), v) + rows.rows()[id as usize].bias;
        }
    }

    /// r += Jᵀ (offset − push).
    pub(super) fn scatter_model(&mut self, rows: &RowBuffer) {
        for &id in &self.near {
            scatter(rows.terms(id), self.offset[id as usize] - self.push[id as usize], &mut self.r);
        }
    }

    /// The law's impulse at the u in `push`, with the radius of this pass. A row without response keeps its impulse.
    pub(super) fn law(&self, rows: &RowBuffer, id: usize) -> Real {
        let row = &rows.rows()[id];
        if row.diagonal == Real::INFINITY {
            return row.impulse;
        }
        let first = match row.bounds {
            Bounds::Disc { .. } => id,
            Bounds::Mate => id - 1,
            _ => return bounded(row, -self.push[id] / row.softness).0,
        };
        let length = length(self.push[first], self.push[first + 1]);
        let scale =
            if length <= self.reach[first] * row.softness { 1.0 / row.softness } else { self.reach[first] / length };
        -scale * self.push[id]
    }

    /// The model's impulse at the u in `push`.
    pub(super) fn model(&self, rows: &RowBuffer, id: usize) -> Real {
        let own = self.offset[id] - self.rate[id] * self.push[id];
        match rows.rows()[id].bounds {
            Bounds::Disc { .. } => own - self.cross[id] * self.push[id + 1],
            Bounds::Mate => own - self.cross[id - 1] * self.push[id - 1],
            _ => own,
        }
    }

    /// The model of a disc pair at the u in `push`.
    pub(super) fn linearise_pair(&mut self, id: usize, stiff: Real) {
        let (u, w, reach) = (self.push[id], self.push[id + 1], self.reach[id]);
        let length = length(u, w);
        let turned = self.offset[id] * u + self.offset[id + 1] * w > 0.0;
        let (rate, offset) = if length * stiff <= reach {
            ([stiff, stiff, 0.0], [0.0; 2])
        } else if turned {
            ([reach / length, reach / length, 0.0], [0.0; 2])
        } else {
            let (a, b, side) = (u / length, w / length, reach / length);
            ([side * b * b, side * a * a, -side * a * b], [-reach * a, -reach * b])
        };
        (self.rate[id], self.rate[id + 1], self.cross[id]) = (rate[0], rate[1], rate[2]);
        (self.offset[id], self.offset[id + 1]) = (offset[0], offset[1]);
    }

    /// push ← rate · push for single rows, the 2x2 matrix of the model for pairs.
    pub(super) fn respond(&mut self, rows: &RowBuffer) {
        for id in self.near.iter().map(|&id| id as usize) {
            match rows.rows()[id].bounds {
                Bounds::Disc { .. } => {
                    let (u, w, cross) = (self.push[id], self.push[id + 1], self.cross[id]);
                    self.push[id] = self.rate[id] * u + cross * w;
                    self.push[id + 1] = self.rate[id + 1] * w + cross * u;
                }
                Bounds::Mate => {}
                _ => self.push[id] *= self.rate[id],
            }
        }
    }

    /// Inverts the diagonal blocks, once for all passes.
    fn invert_base(&mut self) {
        self.base_inverse.clear();
        self.base_inverse.extend(self.base.iter().zip(&self.kind).map(|(base, kind)| match kind {
            Kind::Prescribed => Mat3::ZERO,
            _ => inverse(base),
        }));
    }

    /// Block Jacobi of A + Jᵀ rate J: 3x3 for a node, 6x6 by its Schur complement for a rigid body; and the smooth
    /// motions.
    pub(super) fn precondition(&mut self, system: &System<'_>, rows: &RowBuffer) {
        let (was, is) = (self.made_for.split_at(self.made_for.len() / 2), (&self.rate[..], &self.cross[..]));
        if was == is && !self.made_for.is_empty() {
            return;
        }
        self.made_for.clear();
        self.made_for.extend_from_slice(&self.rate);
        self.made_for.extend_from_slice(&self.cross);
        self.add_rows(system, rows);
        self.invert_blocks(system);
        self.active.gather(rows, &self.near, &self.rate, &self.cross);
        let rates = Rates { near: &self.near, rate: &self.rate, cross: &self.cross };
        if !self.smooth.fits(rates) {
            self.smooth.build(system, rows, rates, self.kind.len(), &self.touched);
        }
        for unknown in system.rigid_unknowns.iter().filter(|l| self.smooth.holds(l.block)) {
            let b = unknown.block as usize;
            (self.inverse[b], self.inverse[b + 1], self.coupling[b]) = (Mat3::ZERO, Mat3::ZERO, Mat3::ZERO);
        }
        self.handfuls.resize(self.inverse.len().div_ceil(LANES), [[0.0; LANES]; 9]);
        for (handful, blocks) in self.handfuls.iter_mut().zip(self.inverse.chunks(LANES)) {
            for (lane, inverse) in blocks.iter().enumerate() {
                for (entry, number) in handful.iter_mut().zip(inverse.to_cols_array()) {
                    entry[lane] = number;
                }
            }
        }
    }

    /// Diagonal blocks of A + Jᵀ rate J; marks the blocks and operators that rows act on.
    fn add_rows(&mut self, system: &System<'_>, rows: &RowBuffer) {
        self.inverse.copy_from_slice(&self.base);
        self.coupling.fill(Mat3::ZERO);
        self.met.clear();
        self.met.resize(self.base.len(), false);
        self.touched.clear();
        self.touched.resize(system.operators.len(), false);
        for at in 0..self.near.len() {
            let id = self.near[at] as usize;
            if self.rate[id] != 0.0 || self.cross[id] != 0.0 {
                for t in rows.terms(id as RowId) {
                    if let Some(touched) = self.touched.get_mut(self.owner[t.block as usize] as usize) {
                        *touched = true;
                    }
                }
            }
            let terms = rows.terms(id as RowId);
            self.add_outer(terms, terms, self.rate[id]);
            if self.cross[id] != 0.0 {
                let mate = rows.terms(id as RowId + 1);
                self.add_outer(terms, mate, self.cross[id]);
                self.add_outer(mate, terms, self.cross[id]);
            }
        }
    }

    /// Inverses of the diagonal blocks.
    fn invert_blocks(&mut self, system: &System<'_>) {
        for (b, inverse) in self.inverse.iter_mut().enumerate() {
            match self.kind[b] {
                Kind::Prescribed => *inverse = Mat3::ZERO,
                Kind::Single | Kind::Linear if self.met[b] => *inverse = self::inverse(inverse),
                Kind::Single | Kind::Linear => *inverse = self.base_inverse[b],
                Kind::Angular => {}
            }
        }
        for unknown in system.rigid_unknowns.iter().filter(|l| l.inertia.is_some()) {
            let b = unknown.block as usize;
            let c = self.coupling[b];
            let angular = self.inverse[b + 1];
            let schur = angular - c.transpose() * self.inverse[b] * c;
            // rounding can make the complement singular; then the two blocks are treated as uncoupled
            if let Some(inverse) = Sym3::from_mat(&schur).inverse() {
                self.inverse[b + 1] = inverse.to_mat();
            } else {
                self.coupling[b] = Mat3::ZERO;
                self.inverse[b + 1] = angular.inverse();
            }
        }
    }

    /// rate · j kᵀ on the diagonal blocks; `terms` and `mate` list the same blocks in the same order.
    fn add_outer(&mut self, terms: &[Term], mate: &[Term], rate: Real) {
        if rate == 0.0 {
            return;
        }
        for (k, (t, m)) in terms.iter().zip(mate).enumerate() {
            let b = t.block as usize;
            self.met[b] = true;
            self.inverse[b] += outer(t.jacobian, m.jacobian) * rate;
            if self.kind[b] == Kind::Linear && mate.get(k + 1).is_some_and(|next| next.block == t.block + 1) {
                self.coupling[b] += outer(t.jacobian, mate[k + 1].jacobian) * rate;
            }
        }
    }

    /// z = P⁻¹ r.
    pub(super) fn apply_inverse(&mut self, system: &System<'_>) {
        run_wide(ByBlocks { inverse: &self.handfuls, r: &self.r, z: &mut self.z });
        for unknown in system.rigid_unknowns.iter().filter(|l| l.inertia.is_some() && !self.smooth.holds(l.block)) {
            let b = unknown.block as usize;
            let c = self.coupling[b];
            let turn = self.inverse[b + 1] * (vec(self.r[b + 1]) - c.transpose() * vec(self.z[b]));
            self.z[b] = block(self.inverse[b] * (vec(self.r[b]) - c * turn));
            self.z[b + 1] = block(turn);
        }
        let plain = self.plain;
        for (placed, _) in system.operators.iter().zip(&self.touched).filter(|(_, touched)| !**touched && !plain) {
            placed.operator.correct(&self.r[placed.blocks()], &mut self.z[placed.blocks()]);
        }
        self.smooth.correct(system, &self.r, &mut self.z);
    }
}

/// z = D⁻¹ r, block by block.
struct ByBlocks<'a> {
    inverse: &'a [[Eight; 9]],
    r: &'a [Block],
    z: &'a mut [Block],
}

impl Kernel for ByBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let (full, rest) = self.r.as_chunks::<LANES>();
        let (to, left) = self.z.as_chunks_mut::<LANES>();
        for ((inverse, r), z) in self.inverse.iter().zip(full).zip(to) {
            by_eight::<L>(t, inverse, r, z);
        }
        if let Some(inverse) = self.inverse.last().filter(|_| !rest.is_empty()) {
            let (mut r, mut z) = ([[0.0; 4]; LANES], [[0.0; 4]; LANES]);
            r[..rest.len()].copy_from_slice(rest);
            by_eight::<L>(t, inverse, &r, &mut z);
            left.copy_from_slice(&z[..rest.len()]);
        }
    }
}

#[inline(always)]
fn by_eight<L: Lane>(t: L::Token, inverse: &[Eight; 9], r: &[Block; LANES], z: &mut [Block; LANES]) {
    let mut at = 0;
    while at < LANES {
        let [x, y, w, _] = L::load_blocks(t, &r[at..]);
        let entry = |k: usize| L::load(t, &inverse[k][at..]);
        let row = |k: usize| entry(k) * x + entry(3 + k) * y + entry(6 + k) * w;
        L::store_blocks([row(0), row(1), row(2), L::splat(t, 0.0)], &mut z[at..]);
        at += L::COUNT;
    }
}

/// Inverse of a diagonal block of A. A block that rounding has made indefinite is shifted by that rounding on its
/// diagonal: a row on it would otherwise have a negative softness.
pub(super) fn inverse(block: &Mat3) -> Mat3 {
    let size = block.x_axis.x.abs() + block.y_axis.y.abs() + block.z_axis.z.abs();
    let (mut lifted, mut lift) = (*block, LIFT * Real::EPSILON * size);
    for _ in 0..LIFTS {
        let inverse = lifted.inverse();
        let sizes = inverse.x_axis.x.min(inverse.y_axis.y).min(inverse.z_axis.z);
        if sizes > 0.0 && lifted.determinant() > 0.0 {
            return inverse;
        }
        lifted += Mat3::from_diagonal(Vec3::splat(lift));
        lift *= LIFT;
    }
    Mat3::from_diagonal(Vec3::splat(1.0 / size))
}

/// An impulse clamped to the row's bounds, and whether it was inside them.
pub(super) fn bounded(row: &Row, wanted: Real) -> (Real, bool) {
    let (low, high) = match row.bounds {
        Bounds::AtLeast(low) => (low, Real::INFINITY),
        Bounds::Between { low, high } => (low, high),
        Bounds::Free | Bounds::Disc { .. } | Bounds::Mate => (Real::NEG_INFINITY, Real::INFINITY),
    };
    (wanted.max(low).min(high), wanted > low && wanted < high)
}

/// out = A v over all bodies, without rows.
pub(super) fn apply_bodies(system: &System<'_>, v: &[Block], out: &mut [Block]) {
    for placed in system.operators {
        placed.operator.apply(&v[placed.blocks()], &mut out[placed.blocks()]);
    }
    for unknown in system.rigid_unknowns {
        let b = unknown.block as usize;
        out[b] = block(vec(v[b]) * unknown.mass);
        if let Some(inertia) = unknown.inertia {
            out[b + 1] = block(inertia.mul(vec(v[b + 1])));
        }
    }
}

/// J·v of one row.
pub(super) fn relative_velocity(terms: &[Term], v: &[Block]) -> Real {
    terms.iter().map(|t| t.jacobian.dot(vec(v[t.block as usize]))).sum()
}

/// out += Jᵀ impulse of one row.
pub(super) fn scatter(terms: &[Term], impulse: Real, out: &mut [Block]) {
    for t in terms {
        add(&mut out[t.block as usize], t.jacobian * impulse);
    }
}

pub(super) fn block(v: Vec3) -> Block {
    [v.x, v.y, v.z, 0.0]
}

/// Not `hypot`: its result differs in the last bit between platforms.
fn length(a: Real, b: Real) -> Real {
    (a * a + b * b).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_give_the_same_result_in_lanes_and_one_by_one() {
        // 19 blocks: two full groups and three more
        let part = |k: usize| ((k * 7919) % 1000) as Real / 500.0 - 1.0;
        let r: Vec<Block> = (0..19).map(|k| [part(k), part(k + 5), part(k + 11), 0.0]).collect();
        let handfuls: Vec<[Eight; 9]> = (0..3)
            .map(|h| core::array::from_fn(|e| core::array::from_fn(|lane| part(100 * h + 9 * lane + e))))
            .collect();
        let (mut wide, mut single) = (vec![[7.0; 4]; 19], vec![[7.0; 4]; 19]);
        run_wide(ByBlocks { inverse: &handfuls, r: &r, z: &mut wide });
        ByBlocks { inverse: &handfuls, r: &r, z: &mut single }.run::<Real>(());
        assert_eq!(wide, single);
        for (k, (z, r)) in wide.iter().zip(&r).enumerate() {
            let inverse = Mat3::from_cols_array(&handfuls[k / LANES].map(|entry| entry[k % LANES]));
            assert!((vec(*z) - inverse * vec(*r)).length() < 10.0 * Real::EPSILON && z[3] == 0.0, "{k}: {z:?}");
        }
    }
}
