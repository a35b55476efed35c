//! Linearly implicit Euler for springs (Baraff and Witkin 1998): stiffness sets no limit to the step.
//!
//! ```text
//!   A v⁺ = b,   A = M + h² K + h C,   b = M v + h (f(x) + f_ext)
//!   K of a spring = k û ûᵀ + max(0, T/l)(1 − û ûᵀ),   C = c û ûᵀ
//! ```
//!
//! The part across the spring is the geometric stiffness; under compression it is negative and is left out, which keeps A
//! positive. An arm brings `decay` times its spring: over the step its dashpot flows. Volume forces bring k_V g gᵀ; the
//! second derivative of the measure, which may be negative, is left out.
//!
//! The rotation of a step is linearised: a body that turns by more than some tenths of a radian a step is stretched by it, and
//! a free bar pulled off its axis with h = 1 s was seen to tear itself apart; at 0.2 s it came to rest.

use super::element::Link;
use super::volume::Volume;
use crate::deformable::{BodyMut, Modes, Operator, RigidSums, StepContext, add, outer, vec};
use crate::math::{Block, Mat3, Real, Vec3};

/// A as blocks by rows, and b.
#[derive(Clone, Debug)]
pub(super) struct Implicit {
    masses: Vec<Real>,
    /// First entry of each block row, and the end. (node_count + 1)
    row_start: Vec<u32>,
    /// Block column of each entry, ascending in a row. (entry_count)
    column: Vec<u32>,
    /// Entry of each node's diagonal block. (node_count)
    diagonal: Vec<u32>,
    /// Entries (a, b) and (b, a) of each link. (link_count)
    pairs: Vec<[u32; 2]>,
    /// Entries of each pair of corners. (keeper_count)
    corners: Vec<[[u32; 4]; 4]>,
    /// Blocks of A. Written by `assemble` in the first substep. (entry_count) [kg]
    matrix: Vec<Mat3>,
    /// b. Written by `assemble`. (node_count) [N·s]
    load: Vec<Block>,
    /// Masses, infinite where pinned. Written by `assemble`. (node_count) [kg]
    mass: Vec<Real>,
    sums: RigidSums,
}

impl Implicit {
    pub fn new(masses: &[Real], links: &[Link], volume: Option<&Volume>) -> Self {
        let keepers = volume.map_or(&[][..], |v| &v.keepers);
        let mut neighbours: Vec<Vec<u32>> = (0..masses.len() as u32).map(|i| vec![i]).collect();
        for link in links {
            let [a, b] = link.nodes;
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        for keeper in keepers {
            for &i in &keeper.corners {
                neighbours[i as usize].extend(keeper.corners);
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
        Self {
            diagonal: (0..masses.len() as u32).map(|i| find(i, i)).collect(),
            pairs: links.iter().map(|l| [find(l.nodes[0], l.nodes[1]), find(l.nodes[1], l.nodes[0])]).collect(),
            corners: keepers.iter().map(|k| k.corners.map(|i| k.corners.map(|j| find(i, j)))).collect(),
            matrix: vec![Mat3::ZERO; column.len()],
            load: vec![[0.0; 4]; masses.len()],
            mass: masses.to_vec(),
            sums: RigidSums::default(),
            masses: masses.to_vec(),
            row_start,
            column,
        }
    }

    /// b, and A in the first substep; springs and volume forces with these parts of their stiffness.
    pub fn assemble(
        &mut self,
        ctx: &StepContext<'_>,
        links: &[Link],
        volume: Option<&Volume>,
        parts: [Real; 2],
        body: &BodyMut<'_>,
    ) {
        for (node, load) in self.load.iter_mut().enumerate() {
            let mass = self.masses[node];
            let push = vec(body.v[node]) * mass + body.force[node] * ctx.h;
            *load = [push.x, push.y, push.z, 0.0];
            self.mass[node] = if body.v[node][3] == 0.0 { Real::INFINITY } else { mass };
        }
        let rebuild = ctx.substep == 0;
        if rebuild {
            self.matrix.fill(Mat3::ZERO);
            for (&entry, &mass) in self.diagonal.iter().zip(&self.masses) {
                self.matrix[entry as usize] = Mat3::from_diagonal(Vec3::splat(mass));
            }
        }
        for (index, link) in links.iter().enumerate() {
            let Link { k, c, arm, .. } = *link;
            let link = Link { k: k * parts[0], c: c * parts[0], arm: arm * parts[0], ..*link };
            self.add_link(ctx.h, rebuild, index, &link, body);
        }
        if let Some(volume) = volume {
            self.add_volume([ctx.h, parts[1]], rebuild, volume, body.x);
        }
        self.sums.sum_up(&self.masses, ctx.h, body);
    }

    fn add_link(&mut self, h: Real, rebuild: bool, index: usize, link: &Link, body: &BodyMut<'_>) {
        let (d, length) = link.span(body.x);
        let axis = d / length;
        let share = link.decay(h);
        let tension = link.tension(length, body.inner.get(index).copied().unwrap_or(0.0), share);
        let [a, b] = link.nodes.map(|i| i as usize);
        add(&mut self.load[a], axis * (h * tension));
        add(&mut self.load[b], axis * (-h * tension));
        if rebuild {
            let across = (tension / length).max(0.0);
            let along = link.k + share * link.arm - across;
            let block =
                outer(axis, axis) * (h * h * along + h * link.c) + Mat3::from_diagonal(Vec3::splat(h * h * across));
            self.matrix[self.diagonal[a] as usize] += block;
            self.matrix[self.diagonal[b] as usize] += block;
            for entry in self.pairs[index] {
                self.matrix[entry as usize] -= block;
            }
        }
    }

    fn add_volume(&mut self, [h, part]: [Real; 2], rebuild: bool, volume: &Volume, x: &[Block]) {
        for (index, keeper) in volume.keepers.iter().enumerate() {
            let (over, g) = volume.gradients(keeper, x);
            for (i, &node) in keeper.corners.iter().enumerate() {
                add(&mut self.load[node as usize], g[i] * (-h * part * keeper.k * over));
                if rebuild {
                    for j in 0..4 {
                        self.matrix[self.corners[index][i][j] as usize] +=
                            outer(g[i], g[j]) * (h * h * part * keeper.k);
                    }
                }
            }
        }
    }
}

impl Operator for Implicit {
    fn block_count(&self) -> usize {
        self.masses.len()
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        for (node, out) in out.iter_mut().enumerate() {
            let row = self.row_start[node] as usize..self.row_start[node + 1] as usize;
            // K v as Σ K_ij (v_j − v_i): a common velocity costs no digits, however stiff the body
            let own = vec(v[node]);
            let mut sum = own * self.masses[node];
            for (block, &column) in self.matrix[row.clone()].iter().zip(&self.column[row]) {
                sum += *block * (vec(v[column as usize]) - own);
            }
            *out = [sum.x, sum.y, sum.z, 0.0];
        }
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        for (entry, out) in self.diagonal.iter().zip(out) {
            *out = self.matrix[*entry as usize];
        }
    }

    fn load(&self) -> &[Block] {
        &self.load
    }

    fn mass(&self) -> &[Real] {
        &self.mass
    }

    fn modes(&self) -> Option<Modes<'_>> {
        self.sums.modes()
    }
}
