//! Linearly implicit Euler for springs (Baraff and Witkin 1998): stiffness does not limit the step.
//!
//! ```text
//!   A v⁺ = b,   A = M + h² K + h C,   b = M v + h (f(x) + f_ext)
//!   K of a spring = k û ûᵀ + max(0, T/l)(1 − û ûᵀ),   C = c û ûᵀ
//! ```
//!
//! The part across the spring is the geometric stiffness; under compression it is negative and is omitted, which keeps
//! A positive definite. An arm contributes `decay` times its spring: its dashpot flows during the step. Volume forces
//! contribute k_V g gᵀ; the second derivative of the measure, which may be negative, is omitted.
//!
//! The rotation of a step is linearised: a body that rotates by more than some tenths of a radian per step is stretched
//! by it, and a free bar loaded off its axis with h = 1 s was torn apart; at 0.2 s it came to rest.

use super::element::Link;
use super::volume::Volume;
use crate::deformable::fem::tet_kernel::RestTet;
use crate::deformable::system::EulerSystem;
use crate::deformable::{BodyMut, StepContext};
use crate::math::{Block, Mat3, Real, Vec3, outer};

/// Force elements of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulls<'a> {
    pub masses: &'a [Real],
    pub links: &'a [Link],
    pub volume: Option<&'a Volume>,
    /// Fractions of the stiffness that springs and volume forces keep.
    pub parts: [Real; 2],
}

impl Pulls<'_> {
    /// The system of links, then of the tetrahedra with volume forces; with coarse spaces for a body of tetrahedra.
    pub fn system(&self, nodes: &[Vec3], tets: &[[u32; 4]]) -> EulerSystem {
        let keepers = self.volume.map_or(&[][..], |v| &v.keepers);
        let elements = self.links.iter().map(|l| &l.nodes[..]).chain(keepers.iter().map(|k| &k.corners[..]));
        let system = EulerSystem::new(self.masses, elements, false);
        if tets.is_empty() {
            return system;
        }
        let tets: Vec<RestTet> = tets.iter().map(|tet| RestTet::new(nodes, *tet)).collect();
        // a third of the trace of K_ii, over all nodes; without the volume forces, which are the smaller part
        let stiffness: Real = self.links.iter().map(|l| 2.0 * (l.k + l.arm)).sum();
        system.with_smooth(nodes, &tets, stiffness / (3.0 * self.masses.iter().sum::<Real>()))
    }

    /// b, and A in the first substep.
    pub fn assemble(&self, ctx: &StepContext<'_>, body: &BodyMut<'_>, system: &mut EulerSystem) {
        let factor = ctx.h * ctx.h;
        system.prepare(ctx, factor, self.masses, body, |x, system| self.pull(ctx, x, &[], system));
        system.begin(ctx, self.masses, 0.0, body);
        self.pull(ctx, body.x, body.internal_state, system);
    }

    /// Forces and stiffness at x, with the stretch of the dashpots; that is zero for an empty `internal_state`.
    fn pull(&self, ctx: &StepContext<'_>, x: &[Block], internal_state: &[Real], system: &mut EulerSystem) {
        let part = self.parts[0];
        for (index, link) in self.links.iter().enumerate() {
            let Link { k, c, arm, .. } = *link;
            let link = Link { k: k * part, c: c * part, arm: arm * part, ..*link };
            let stretch = internal_state.get(index).copied().unwrap_or(0.0);
            add_link(ctx, index, &link, (x, stretch), system);
        }
        if let Some(volume) = self.volume {
            add_volume(ctx, self, volume, x, system);
        }
    }
}

fn add_link(
    ctx: &StepContext<'_>,
    index: usize,
    link: &Link,
    (x, stretch): (&[Block], Real),
    system: &mut EulerSystem,
) {
    let h = ctx.h;
    let (d, length) = link.span(x);
    let axis = d / length;
    let share = link.decay(h);
    let tension = link.tension(length, stretch, share);
    system.push(link.nodes[0], axis * (h * tension));
    system.push(link.nodes[1], axis * (-h * tension));
    if ctx.substep == 0 {
        let across = (tension / length).max(0.0);
        let along = link.k + share * link.arm - across;
        let block = outer(axis, axis) * (h * h * along + h * link.c) + Mat3::from_diagonal(Vec3::splat(h * h * across));
        system.add_link(index, block);
    }
}

fn add_volume(ctx: &StepContext<'_>, pulls: &Pulls<'_>, volume: &Volume, x: &[Block], system: &mut EulerSystem) {
    let (h, first, part) = (ctx.h, pulls.links.len(), pulls.parts[1]);
    for (index, keeper) in volume.keepers.iter().enumerate() {
        let (over, g) = volume.gradients(keeper, x);
        for (i, &node) in keeper.corners.iter().enumerate() {
            system.push(node, g[i] * (-h * part * keeper.k * over));
            for j in i..if ctx.substep == 0 { 4 } else { 0 } {
                system.add_block(first + index, i, j, outer(g[i], g[j]) * (h * h * part * keeper.k));
            }
        }
    }
}
