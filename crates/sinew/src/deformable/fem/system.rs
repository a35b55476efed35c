//! The linear system of an implicit body: blocks in compressed rows, assembled in the order of the elements.
//!
//! Linearly implicit Euler (Baraff and Witkin 1998) with Rayleigh damping, α on mass and β on stiffness:
//!
//! ```text
//!   A v⁺ = b,   A = (1 + h α) M + h (h + β) K,   b = M v + h (f(x) + f_ext)
//! ```
//!
//! Averaged dilatations add h (h + β) Σ_a k_a B_a B_aᵀ, B_a = ∂θ_a/∂x over the nodes around a. Multiplied out it would join
//! neighbours of neighbours; it is applied as it stands, B_a lying in the pattern of row a.

use crate::deformable::{BodyMut, Modes, Operator, RigidSums, StepContext, add, outer, vec};
use crate::math::{Block, Mat3, Real, Vec3};

/// Who integrates: what the parameters say, and whether an explicit body goes implicit for now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scheme {
    Implicit,
    /// The largest stable step [s].
    Explicit {
        stable: Real,
        lent: bool,
    },
}

impl Scheme {
    pub(super) fn is_implicit(self) -> bool {
        !matches!(self, Self::Explicit { lent: false, .. })
    }

    pub(super) fn stable_step(self) -> Real {
        if let Self::Explicit { stable, lent: false } = self { stable } else { Real::INFINITY }
    }

    /// Lends an explicit body the implicit integrator, or takes it back.
    pub(super) fn lend(&mut self, on: bool) {
        if let Self::Explicit { lent, .. } = self {
            *lent = on;
        }
    }
}

/// A, b and what the solver asks beside them.
#[derive(Clone, Debug)]
pub(super) struct EulerSystem {
    /// First entry of each block row, and the end. (node_count + 1)
    row_start: Vec<u32>,
    /// Block column of each entry, ascending in a row. (entry_count)
    column: Vec<u32>,
    /// Entry of each node with itself. (node_count)
    diagonal: Vec<u32>,
    /// Entries of an element's pairs of nodes, row by row. (element_count · nodes²)
    entries: Vec<u32>,
    nodes_per_element: usize,
    /// Blocks of A. Written by `predict` in the first substep. (entry_count) [kg]
    values: Vec<Mat3>,
    /// Slopes of the averaged dilatations; empty without. Written as `values`. (entry_count) [1/m]
    spread: Vec<Vec3>,
    /// Weight of each averaged dilatation in A. Written as `values`. (node_count) [kg·m²]
    bulk: Vec<Real>,
    /// b. Written by `predict`. (node_count) [N·s]
    pub(super) load: Vec<Block>,
    /// Masses, infinite where pinned. Written by `predict`. (node_count) [kg]
    mass: Vec<Real>,
    /// (1 + h α) m, the part of A that is not stiffness. Written as `values`. (node_count) [kg]
    inertia: Vec<Real>,
    sums: RigidSums,
    /// What mass damping leaves of a momentum in a substep. Written by `predict`.
    kept: Real,
}

impl EulerSystem {
    /// The pattern of elements with `per` nodes each; `averaged` makes room for averaged dilatations.
    pub(super) fn new(masses: &[Real], indices: &[u32], per: usize, averaged: bool) -> Self {
        let nodes = masses.len();
        let mut neighbours: Vec<Vec<u32>> = (0..nodes as u32).map(|i| vec![i]).collect();
        for element in indices.chunks_exact(per) {
            for &i in element {
                neighbours[i as usize].extend(element);
            }
        }
        let (mut row_start, mut column) = (vec![0], Vec::new());
        for row in &mut neighbours {
            row.sort_unstable();
            row.dedup();
            column.extend_from_slice(row);
            row_start.push(column.len() as u32);
        }
        let find = |i: u32, j: u32| row_start[i as usize] + neighbours[i as usize].partition_point(|&n| n < j) as u32;
        let mut entries = Vec::with_capacity(indices.len() * per);
        for element in indices.chunks_exact(per) {
            for &i in element {
                entries.extend(element.iter().map(|&j| find(i, j)));
            }
        }
        let count = column.len();
        Self {
            diagonal: (0..nodes as u32).map(|i| find(i, i)).collect(),
            row_start,
            column,
            entries,
            nodes_per_element: per,
            values: vec![Mat3::ZERO; count],
            spread: vec![Vec3::ZERO; if averaged { count } else { 0 }],
            bulk: vec![0.0; if averaged { nodes } else { 0 }],
            load: vec![[0.0; 4]; nodes],
            mass: masses.to_vec(),
            inertia: masses.to_vec(),
            sums: RigidSums::default(),
            kept: 1.0,
        }
    }

    /// b = M v + h f_ext; in the first substep A = (1 + h α) M and all else zero.
    pub(super) fn begin(&mut self, ctx: &StepContext<'_>, masses: &[Real], mass_damping: Real, body: &BodyMut<'_>) {
        for (node, (load, &mass)) in self.load.iter_mut().zip(masses).enumerate() {
            let push = vec(body.v[node]) * mass + body.force[node] * ctx.h;
            *load = [push.x, push.y, push.z, 0.0];
            self.mass[node] = if body.v[node][3] == 0.0 { Real::INFINITY } else { mass };
        }
        self.kept = 1.0 / (1.0 + ctx.h * mass_damping);
        self.sums.sum_up(masses, ctx.h, body);
        if ctx.substep == 0 {
            self.values.fill(Mat3::ZERO);
            self.spread.fill(Vec3::ZERO);
            for (node, (&entry, &mass)) in self.diagonal.iter().zip(masses).enumerate() {
                self.inertia[node] = mass * (1.0 + ctx.h * mass_damping);
                self.values[entry as usize] = Mat3::from_diagonal(Vec3::splat(self.inertia[node]));
            }
        }
    }

    fn entries_of(&self, element: usize) -> &[u32] {
        let count = self.nodes_per_element * self.nodes_per_element;
        &self.entries[element * count..][..count]
    }

    /// Adds the block between two local nodes of an element and its mirror.
    pub(super) fn add_block(&mut self, element: usize, i: usize, j: usize, block: Mat3) {
        let per = self.nodes_per_element;
        let (entry, mirror) = (self.entries_of(element)[i * per + j], self.entries_of(element)[j * per + i]);
        self.values[entry as usize] += block;
        if i != j {
            self.values[mirror as usize] += block.transpose();
        }
    }

    /// Adds to the slope of local node i's averaged dilatation at local node j.
    pub(super) fn add_spread(&mut self, element: usize, i: usize, j: usize, slope: Vec3) {
        let entry = self.entries_of(element)[i * self.nodes_per_element + j];
        self.spread[entry as usize] += slope;
    }

    /// Sets the weight of an averaged dilatation.
    pub(super) fn set_bulk(&mut self, node: usize, weight: Real) {
        self.bulk[node] = weight;
    }

    fn row(&self, node: usize) -> std::ops::Range<usize> {
        self.row_start[node] as usize..self.row_start[node + 1] as usize
    }
}

impl Operator for EulerSystem {
    fn block_count(&self) -> usize {
        self.mass.len()
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        // K v as Σ K_ij (v_j − v_i): a common velocity costs no digits, however stiff the body
        for (node, out) in out.iter_mut().enumerate() {
            let row = self.row(node);
            let own = vec(v[node]);
            let mut sum = own * self.inertia[node];
            for (block, &column) in self.values[row.clone()].iter().zip(&self.column[row]) {
                sum += *block * (vec(v[column as usize]) - own);
            }
            *out = [sum.x, sum.y, sum.z, 0.0];
        }
        // k B (Bᵀ v) of each averaged dilatation
        for (node, &weight) in self.bulk.iter().enumerate().filter(|(_, k)| **k > 0.0) {
            let row = self.row(node);
            let pairs = || self.spread[row.clone()].iter().zip(&self.column[row.clone()]);
            let own = vec(v[node]);
            let rate: Real = pairs().map(|(b, &column)| b.dot(vec(v[column as usize]) - own)).sum();
            for (b, &column) in pairs() {
                add(&mut out[column as usize], *b * (weight * rate));
                add(&mut out[node], *b * -(weight * rate));
            }
        }
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        for (out, &entry) in out.iter_mut().zip(&self.diagonal) {
            *out = self.values[entry as usize];
        }
        for (node, &weight) in self.bulk.iter().enumerate().filter(|(_, k)| **k > 0.0) {
            let row = self.row(node);
            for (b, &column) in self.spread[row.clone()].iter().zip(&self.column[row]) {
                out[column as usize] += outer(*b, *b) * weight;
            }
        }
    }

    fn load(&self) -> &[Block] {
        &self.load
    }

    fn mass(&self) -> &[Real] {
        &self.mass
    }

    fn modes(&self) -> Option<Modes<'_>> {
        let modes = self.sums.modes()?;
        Some(Modes { momentum: modes.momentum * self.kept, spin: modes.spin * self.kept, ..modes })
    }
}
