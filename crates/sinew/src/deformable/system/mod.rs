//! The linear system of an implicit body, assembled in the order of the elements.
//!
//! Linearly implicit Euler (Baraff and Witkin 1998) with Rayleigh damping, α on mass and β on stiffness:
//!
//! ```text
//!   A v⁺ = b,   A = (1 + h α) M + h (h + β) K,   b = M v + h (f(x) + f_ext)
//! ```
//!
//! Averaged dilatations add h (h + β) Σ_a k_a B_a B_aᵀ, B_a = ∂θ_a/∂x over the nodes around a. Multiplied out it would
//! couple neighbours of neighbours; it is applied in factored form (`dilatation.rs`).

mod affine;
mod coarse;
mod dilatation;
mod rows;
mod two_level;

pub(super) use affine::Affine;
#[cfg(test)]
pub(super) use coarse::DEPENDENT;
pub(super) use rows::{Eight9, Product, Rows};
pub(super) use two_level::TwoLevel;

use crate::deformable::fem::tet_kernel::RestTet;
use crate::deformable::{BodyMut, Modes, Operator, RigidSums, SmoothMotions, StepContext};
use crate::math::{Block, Blocks, Mat3, Real, Vec3, add, run, vec};
use dilatation::Dilatations;
use rows::Slot;

/// A, b and the other data of the solver.
#[derive(Clone, Debug)]
pub(super) struct EulerSystem {
    /// A. Written by `predict` in the first substep.
    matrix: Rows,
    /// Averaged dilatations, if any. Written with `matrix`.
    averaged: Option<Dilatations>,
    elements: Vec<Element>,
    /// Nodes of all elements.
    indices: Vec<u32>,
    /// Slots of the pairs of nodes of all elements, row by row; arbitrary for a node with itself.
    slots: Vec<Slot>,
    /// b. Written by `predict`. (node_count) [N·s]
    pub(super) load: Vec<Block>,
    /// Masses, infinite where pinned. Written by `predict`. (node_count) [kg]
    mass: Vec<Real>,
    /// (1 + h α) m, the part of A that is not stiffness. Written with `matrix`. (node_count) [kg]
    inertia: Vec<Real>,
    sums: RigidSums,
    /// Coarse spaces; none for bodies that do not benefit from them. Written by `predict` when the step length or the
    /// pinned nodes change.
    smooth: Option<TwoLevel>,
    /// Factor of mass damping on momentum in a substep. Written by `predict`.
    kept: Real,
    /// Eight lanes are in use. Written by `predict`.
    lanes: bool,
}

/// Offsets of an element's nodes and pairs of nodes.
#[derive(Clone, Copy, Debug)]
struct Element {
    count: u32,
    first: u32,
    pairs: u32,
}

impl EulerSystem {
    /// The pattern of elements with these nodes each; `averaged` allocates averaged dilatations.
    pub(super) fn new<'a>(masses: &[Real], elements: impl Iterator<Item = &'a [u32]> + Clone, averaged: bool) -> Self {
        let nodes = masses.len();
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for element in elements.clone() {
            for &i in element {
                neighbours[i as usize].extend(element.iter().filter(|&&j| j != i));
            }
        }
        for row in &mut neighbours {
            row.sort_unstable();
            row.dedup();
        }
        let matrix = Rows::new(&neighbours);
        let slot = |i: u32, j: u32| matrix.slot(i as usize, neighbours[i as usize].partition_point(|&n| n < j));
        let (mut list, mut indices, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for element in elements {
            let (first, pairs) = (indices.len() as u32, slots.len() as u32);
            list.push(Element { count: element.len() as u32, first, pairs });
            indices.extend_from_slice(element);
            slots.extend(element.iter().flat_map(|&i| element.iter().map(move |&j| (i, j))).map(|(i, j)| slot(i, j)));
        }
        Self {
            elements: list,
            slots,
            averaged: averaged.then(|| Dilatations::new(&matrix, nodes)),
            matrix,
            indices,
            load: vec![[0.0; 4]; nodes],
            mass: masses.to_vec(),
            inertia: masses.to_vec(),
            sums: RigidSums::default(),
            smooth: None,
            kept: 1.0,
            lanes: true,
        }
    }

    /// b = M v + h f_ext; in the first substep A = (1 + h α) M and all else zero.
    pub(super) fn begin(&mut self, ctx: &StepContext<'_>, masses: &[Real], mass_damping: Real, body: &BodyMut<'_>) {
        for (node, (load, &mass)) in self.load.iter_mut().zip(masses).enumerate() {
            let push = vec(body.v[node]) * mass + body.force[node] * ctx.h;
            *load = [push.x, push.y, push.z, 0.0];
            self.mass[node] = if body.v[node][3] == 0.0 { Real::INFINITY } else { mass };
        }
        self.lanes = ctx.lanes;
        self.kept = 1.0 / (1.0 + ctx.h * mass_damping);
        self.sums.sum_up(masses, ctx.h, body);
        if ctx.substep == 0 {
            if let Some(smooth) = &mut self.smooth {
                smooth.turn(body.x, ctx.lanes);
            }
            for (inertia, &mass) in self.inertia.iter_mut().zip(masses) {
                *inertia = mass * (1.0 + ctx.h * mass_damping);
            }
            self.matrix.reset(&self.inertia);
            if let Some(averaged) = &mut self.averaged {
                averaged.reset();
            }
        }
    }

    /// With coarse spaces for a body of these tetrahedra and this mean of K_ii/m [1/s²].
    pub(super) fn with_smooth(self, nodes: &[Vec3], tets: &[RestTet], stiffness_a_mass: Real) -> Self {
        Self { smooth: Some(TwoLevel::new(nodes, tets, stiffness_a_mass)), ..self }
    }

    /// Rebuilds the coarse spaces when they reduce the cost at this factor h (h + β) and their inputs have changed:
    /// `pull` adds the stiffness of A at the rest positions. Call before `begin`, in the first substep.
    pub(super) fn prepare(
        &mut self,
        ctx: &StepContext<'_>,
        factor: Real,
        masses: &[Real],
        body: &BodyMut<'_>,
        pull: impl FnOnce(&[Block], &mut Self),
    ) {
        let Some(mut smooth) = self.smooth.take() else { return };
        if ctx.substep == 0 && smooth.prepare(factor, body.v) {
            self.begin(ctx, masses, 0.0, body);
            pull(&smooth.rest, self);
            smooth.rebuild(factor, body.v, &self.matrix, self.averaged.as_ref());
        }
        self.smooth = Some(smooth);
    }

    /// Slot of the block between two local nodes of an element.
    fn slot(&self, element: usize, i: usize, j: usize) -> Slot {
        let Element { count, pairs, .. } = self.elements[element];
        self.slots[pairs as usize + i * count as usize + j]
    }

    /// Adds the block between two local nodes of an element and its transpose.
    pub(super) fn add_block(&mut self, element: usize, i: usize, j: usize, block: Mat3) {
        if i == j {
            self.matrix.add_diagonal(self.indices[self.elements[element].first as usize + i] as usize, &block);
        } else {
            self.matrix.add(self.slot(element, i, j), &block);
            self.matrix.add(self.slot(element, j, i), &block.transpose());
        }
    }

    /// Adds a spring between the two nodes of an element: `block` to both, its negative between them.
    pub(super) fn add_link(&mut self, element: usize, block: Mat3) {
        self.add_block(element, 0, 0, block);
        self.add_block(element, 1, 1, block);
        self.add_block(element, 0, 1, -block);
    }

    /// Adds an impulse to b.
    pub(super) fn push(&mut self, node: u32, impulse: Vec3) {
        add(&mut self.load[node as usize], impulse);
    }

    /// Adds to the gradient of local node i's averaged dilatation at local node j. The gradients of a dilatation sum to
    /// zero: that at the node itself is omitted.
    pub(super) fn add_spread(&mut self, element: usize, i: usize, j: usize, slope: Vec3) {
        let slots = [self.slot(element, i, j), self.slot(element, j, i)];
        if let Some(averaged) = self.averaged.as_mut().filter(|_| i != j) {
            averaged.add(slots, slope);
        }
    }

    /// Sets the weight of an averaged dilatation.
    pub(super) fn set_bulk(&mut self, node: usize, weight: Real) {
        if let Some(averaged) = &mut self.averaged {
            averaged.weight[node] = weight;
        }
    }
}

impl Operator for EulerSystem {
    fn block_count(&self) -> usize {
        self.mass.len()
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        run(Product { matrix: &self.matrix, mass: &self.inertia, v, out: Blocks::new(out) }, self.lanes);
        if let Some(averaged) = &self.averaged {
            averaged.apply(&self.matrix, v, out, self.lanes);
        }
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        self.matrix.diagonal(out);
        if let Some(averaged) = &self.averaged {
            averaged.diagonal(&self.matrix, out);
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
        Some(Modes { mass: modes.mass / self.kept, inertia: modes.inertia.scaled(1.0 / self.kept), ..modes })
    }

    /// With (1 + h α) M in place of M: rows act on that mass, and a damped body at rest weighs m g.
    fn momentum_defect(&self, modes: &Modes<'_>, v: &[Block]) -> (Vec3, Vec3) {
        let (mut momentum, mut spin) = (modes.momentum, modes.spin);
        for (k, v) in v.iter().enumerate() {
            let (push, twist) = modes.to_wrench(k, self.momentum(k, vec(*v)) / self.kept);
            momentum -= push;
            spin -= twist;
        }
        (momentum, spin)
    }

    fn correct(&self, residual: &[Block], z: &mut [Block]) {
        if let Some(smooth) = &self.smooth {
            smooth.correct(residual, z);
        }
    }

    fn smooth(&self) -> Option<&dyn SmoothMotions> {
        self.smooth.as_ref().and_then(TwoLevel::smooth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::outer;

    /// A fixed number in −1..1.
    fn part(k: usize) -> Real {
        ((k * 7919) % 1000) as Real / 500.0 - 1.0
    }

    fn vector(k: usize) -> Vec3 {
        Vec3::new(part(3 * k), part(3 * k + 1), part(3 * k + 2))
    }

    /// Gradients of one element or average by node.
    type Slopes = Vec<(usize, Vec3)>;

    /// A chain of tetrahedra whose blocks are outer products of gradients that sum to zero, with averaged dilatations.
    fn chain() -> (EulerSystem, Vec<Slopes>, Vec<Real>) {
        let elements = 23;
        let indices: Vec<u32> = (0..elements).flat_map(|e| [e, e + 1, e + 2, e + 3]).collect();
        let masses: Vec<Real> = (0..elements as usize + 3).map(|k| 1.5 + part(k)).collect();
        let mut system = EulerSystem::new(&masses, indices.chunks_exact(4), true);
        system.matrix.reset(&masses);
        let mut sums = Vec::new();
        let mut averages: Vec<Slopes> = vec![Vec::new(); masses.len()];
        for element in 0..elements as usize {
            let mut g = [vector(element), vector(element + 50), vector(element + 100), Vec3::ZERO];
            g[3] = -(g[0] + g[1] + g[2]);
            let nodes = [element, element + 1, element + 2, element + 3];
            for i in 0..4 {
                for j in i..4 {
                    system.add_block(element, i, j, outer(g[i], g[j]));
                }
                for j in 0..4 {
                    system.add_spread(element, i, j, g[j] * 0.5);
                    averages[nodes[i]].push((nodes[j], g[j] * 0.5));
                }
            }
            sums.push(nodes.into_iter().zip(g).collect());
        }
        let mut weights = vec![1.0; sums.len()];
        for (node, slopes) in averages.into_iter().enumerate() {
            system.set_bulk(node, 0.3 * node as Real);
            sums.push(slopes);
            weights.push(0.3 * node as Real);
        }
        (system, sums, weights)
    }

    #[test]
    fn a_product_is_the_sum_over_elements_and_averages_in_lanes_and_in_scalars() {
        let (mut system, sums, weights) = chain();
        let v: Vec<Block> = (0..system.block_count()).map(|k| [part(k), part(k + 7), part(k + 30), 9.0]).collect();
        let mut want: Vec<Vec3> = v.iter().zip(system.mass()).map(|(v, m)| vec(*v) * *m).collect();
        for (slopes, weight) in sums.iter().zip(weights) {
            let rate: Real = slopes.iter().map(|(node, g)| g.dot(vec(v[*node]))).sum();
            slopes.iter().for_each(|(node, g)| want[*node] += *g * (rate * weight));
        }
        let (mut wide, mut single) = (v.clone(), v.clone());
        system.apply(&v, &mut wide);
        system.lanes = false;
        system.apply(&v, &mut single);
        assert_eq!(wide, single);
        let scale = want.iter().map(|w| w.length()).fold(0.0, Real::max);
        for (got, want) in wide.iter().zip(&want) {
            assert!((vec(*got) - *want).length() < 100.0 * Real::EPSILON * scale && got[3] == 0.0, "{got:?} {want}");
        }
    }

    #[test]
    fn the_diagonal_agrees_with_the_product_of_a_unit_vector() {
        let (system, ..) = chain();
        let mut diagonal = vec![Mat3::ZERO; system.block_count()];
        system.diagonal(&mut diagonal);
        for (node, block) in diagonal.iter().enumerate() {
            let mut unit = vec![[0.0; 4]; system.block_count()];
            unit[node] = [0.0, 1.0, 0.0, 0.0];
            let mut column = unit.clone();
            system.apply(&unit, &mut column);
            let off = vec(column[node]) - block.y_axis;
            assert!(off.length() < 100.0 * Real::EPSILON * block.y_axis.length(), "{node}: {off}");
        }
    }
}
