//! The largest step of the explicit integrators.
//!
//! With stiffness K and dashpots C, symplectic Euler on M ẍ = −K x − C ẋ is stable while
//! xᵀ(4M − h²K − 2hC)x > 0 for all x (for one mass: h ω < 2(√(1 + ζ²) − ζ)). With λ_K, λ_C the largest eigenvalues of
//! M⁻¹K and M⁻¹C that holds for
//!
//! ```text
//!   h² λ_K + 2 h λ_C ≤ 4,   h = 4/(λ_C + √(λ_C² + 4 λ_K)),   and h = 2/ω_max without dashpots
//! ```
//!
//! Two estimates of λ: Rayleigh's quotient after some steps of power iteration at the rest shape, which is a lower
//! bound and is increased by 1 %; and the row sums of Gershgorin, max 2 Σ k/m over nodes, which are valid for any shape
//! and larger by a factor of 1.5 to 3 in three dimensions, where springs of a node have different directions. The
//! smaller one is used.
//!
//! FC 2.3 requires h < d_min/c: the travel time of sound along a spring, √(m/k) with m the nodal mass of a chain of
//! such springs. For a chain that is 2/ω_max; where springs share nodes it is too long, so it is reported but not used.

use super::element::Link;
use super::volume::Volume;
use crate::math::{Block, Real, Vec3};

/// Steps of power iteration.
const ITERATIONS: usize = 64;
/// Margin for the error of Rayleigh's quotient after them.
const MARGIN: Real = 1.01;

/// The step for λ_K [1/s²] and λ_C [1/s].
pub(super) fn largest_step(stiff: Real, damp: Real) -> Real {
    4.0 / (damp + (damp * damp + 4.0 * stiff).sqrt())
}

/// Travel time of sound along a spring, minimum over all springs (FC 2.3) [s]; infinite without springs.
pub(super) fn sound_step(links: &[Link], masses: &[Real]) -> Real {
    let time = |link: &Link| {
        let [a, b] = link.nodes.map(|i| masses[i as usize]);
        (2.0 * a * b / ((a + b) * (link.k + link.arm))).sqrt()
    };
    links.iter().map(time).fold(Real::INFINITY, Real::min)
}

/// A network at its rest shape.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    pub links: &'a [Link],
    pub volume: Option<&'a Volume>,
    pub masses: &'a [Real],
    pub x: &'a [Block],
}

impl Rest<'_> {
    /// λ_K and λ_C of the rest shape.
    pub fn spectrum(&self) -> [Real; 2] {
        let [bound_stiff, bound_damp] = self.row_sums();
        [self.power(true).min(bound_stiff), self.power(false).min(bound_damp)]
    }

    /// Upper bounds of λ_K and λ_C for any shape, except for volume forces, which are evaluated at the rest shape.
    pub fn row_sums(&self) -> [Real; 2] {
        let mut sums = vec![[0.0; 2]; self.masses.len()];
        for link in self.links {
            for node in link.nodes {
                sums[node as usize][0] += 2.0 * (link.k + link.arm);
                sums[node as usize][1] += 2.0 * link.c;
            }
        }
        if let Some(volume) = self.volume {
            for keeper in &volume.keepers {
                let (_, g) = volume.gradients(keeper, self.x);
                let total: Real = g.iter().map(|g| g.length()).sum();
                for (&node, g) in keeper.corners.iter().zip(g) {
                    sums[node as usize][0] += keeper.k * g.length() * total;
                }
            }
        }
        let largest = |which: usize| sums.iter().zip(self.masses).map(|(s, m)| s[which] / m).fold(0.0, Real::max);
        [largest(0), largest(1)]
    }

    /// Rayleigh's quotient of M⁻¹K (or M⁻¹C) after some steps, with its margin.
    fn power(&self, stiff: bool) -> Real {
        let axes: Vec<(Vec3, Real)> = self.links.iter().map(|link| self.axis(link, stiff)).collect();
        // a start vector that is not orthogonal to any mode, the same on every machine
        let mut u: Vec<Vec3> = (0..self.masses.len() as u32).map(start).collect();
        let mut image = vec![Vec3::ZERO; u.len()];
        let mut value = 0.0;
        for _ in 0..ITERATIONS {
            self.apply(&axes, stiff, &u, &mut image);
            let above: Real = u.iter().zip(&image).map(|(u, f)| u.dot(*f)).sum();
            let below: Real = u.iter().zip(self.masses).map(|(u, m)| u.length_squared() * m).sum();
            if !(above > 0.0) {
                return 0.0;
            }
            value = above / below;
            // next vector, normalised
            for ((u, f), m) in u.iter_mut().zip(&image).zip(self.masses) {
                *u = *f / (*m * value);
            }
        }
        value * MARGIN
    }

    fn axis(&self, link: &Link, stiff: bool) -> (Vec3, Real) {
        let (d, length) = link.span(self.x);
        (d / length, if stiff { link.k + link.arm } else { link.c })
    }

    /// image = K u or C u.
    fn apply(&self, axes: &[(Vec3, Real)], stiff: bool, u: &[Vec3], image: &mut [Vec3]) {
        image.fill(Vec3::ZERO);
        for (link, &(axis, k)) in self.links.iter().zip(axes) {
            let [a, b] = link.nodes.map(|i| i as usize);
            let f = axis * (k * axis.dot(u[b] - u[a]));
            image[a] -= f;
            image[b] += f;
        }
        if let Some(volume) = self.volume.filter(|_| stiff) {
            for keeper in &volume.keepers {
                let (_, g) = volume.gradients(keeper, self.x);
                let rate: Real = keeper.corners.iter().zip(&g).map(|(&i, g)| g.dot(u[i as usize])).sum();
                for (&node, g) in keeper.corners.iter().zip(g) {
                    image[node as usize] += g * (keeper.k * rate);
                }
            }
        }
    }
}

/// Numbers between −1 and 1 that are not correlated with the mesh.
fn start(node: u32) -> Vec3 {
    let draw = |axis: u32| {
        let mixed = (node * 3 + axis).wrapping_mul(2_654_435_761) ^ (node << 7);
        (mixed.wrapping_mul(1_664_525) >> 8) as Real / 8_388_608.0 - 1.0
    };
    Vec3::new(draw(0), draw(1), draw(2))
}
