//! Stiffness limits of a step.
//!
//! *Explicit.* Symplectic Euler with stiffness-proportional damping β at the old velocity is stable while h (h + 2β) ω²
//! ≤ 4 for every frequency ω. No frequency of a body is above the highest of a single element with its own fraction of
//! the mass (Irons 1971), so it is sufficient to examine elements. Strain makes them stiffer: ω² = ω²(rest) · growth.
//! The step is chosen for the shape at its start and the predicted shape at its end; the force of an element that
//! becomes too stiff before the end is scaled to the fraction that the step can integrate. The forces of an element
//! remain in equilibrium, so that linear and angular momentum are conserved; at rest nothing changes.
//!
//! *Implicit.* A = M + h (h + β) K of a free body has the eigenvalue m for rigid motions and h (h + β) ω² m for the
//! stiffest. When their ratio approaches 1/ε (the rounding unit), the rounding error of K is as large as M: A is no
//! longer positive definite, and the CG does not converge. Such a body gets substeps until shear is resolved; any
//! excess of the bulk stiffness over that is removed. The decision depends on the step and on constants alone. A body
//! with enough pinned nodes has no rigid motions and needs no limit, except a membrane, which moves freely normal to
//! its plane. In f64 the limit is reached at 5e8 times the stiffness.

use super::{BodyRef, StepContext};
use crate::math::Real;

/// Limit of the element stiffness that a step can integrate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StabilityLimit {
    /// Largest ω² [1/s²].
    most: Real,
}

impl StabilityLimit {
    /// For an explicit step h [s] with damping β [s].
    pub(crate) fn explicit(h: Real, damping: Real) -> Self {
        Self { most: 4.0 / (h * (h + 2.0 * damping)) }
    }

    /// For an implicit step with damping β [s]; infinite when `ctx.resolve` is not set.
    pub(crate) fn implicit(ctx: &StepContext<'_>, damping: Real) -> Self {
        let most = DIGITS / (Real::EPSILON * ctx.h * (ctx.h + damping));
        Self { most: if ctx.resolve { most } else { Real::INFINITY } }
    }

    /// Largest permitted ratio of the current to the rest stiffness of an element with this highest ω² at rest [1/s²].
    pub(crate) fn growth(self, rest: Real) -> Real {
        (self.most / rest).max(1.0)
    }

    /// Fraction of its force that an element keeps when its highest ω² at rest has grown by a factor.
    pub(crate) fn share(self, rest: Real, growth: Real) -> Real {
        let most = self.growth(rest);
        if growth > most { most / growth } else { 1.0 }
    }
}

/// The largest stable step for the highest ω² [1/s²] and β [s]: h = (√(1 + ζ²) − ζ) 2/ω with ζ = β ω/2, without the
/// difference of large numbers: for β of seconds it was 0, which counted as no limit.
pub(crate) fn largest_step(square: Real, damping: Real) -> Real {
    let omega = square.sqrt();
    let zeta = 0.5 * damping * omega;
    2.0 / (((1.0 + zeta * zeta).sqrt() + zeta) * omega)
}

/// Largest h (h + β) ω² of an implicit body, in units of 1/ε. With 1 heavy loads still gained energy from bodies of
/// E = 1e8 Pa, ν = 0.499 at 33 ms, with 10 they were thrown off.
const DIGITS: Real = 0.3;

/// Number of pinned nodes that suppress the rigid motions of a body.
const HOLDING: usize = 3;

/// Fraction of its stiffness that an implicit body keeps in a step h [s], with β [s] and the highest ω² [1/s²].
pub(crate) fn softening(h: Real, damping: Real, square: Real) -> Real {
    (DIGITS / (Real::EPSILON * h * (h + damping) * square)).min(1.0)
}

/// The largest step in which an implicit body keeps this fraction of its stiffness [s].
pub(crate) fn resolved_step(damping: Real, square: Real, share: Real) -> Real {
    let half = 0.5 * damping;
    let most = DIGITS / (Real::EPSILON * square * share);
    // root of h² + h β = most, without the difference of large numbers
    most / (half + (half * half + most).sqrt())
}

/// Fraction of the sum of two stiffnesses that remains when the second is reduced to at most the first.
pub(crate) fn shear_share([first, second]: [Real; 2]) -> Real {
    (first + second.min(first)) / (first + second)
}

/// True when enough nodes are pinned to suppress rigid motions: K alone is then positive definite, and the rounding
/// error of K is small compared with it.
pub(crate) fn is_held(body: BodyRef<'_>) -> bool {
    body.v.iter().filter(|v| v[3] == 0.0).count() >= HOLDING
}

/// h² ω² of a body with goal positions, for ω² [1/s²]. An infinite frequency has the value `RIGID`. A finite one keeps its
/// value, however long the step: the static compliance of a held body must not depend on it. A free body keeps what the
/// rounding unit resolves beside its mass.
pub(crate) fn goal_stiffness(h: Real, square: Real, held: bool) -> Real {
    let stiffness = h * h * square;
    match (stiffness.is_finite(), held) {
        (false, _) => RIGID,
        (true, true) => stiffness,
        (true, false) => stiffness.min(DIGITS / Real::EPSILON),
    }
}

/// h² ω² used for an infinite frequency.
const RIGID: Real = 1e4;

/// Scales two stiffnesses of one body so that their sum is the fraction `share` of its former value: the second is
/// reduced down to the first, then both in proportion. With 2μ and λ of a solid, Poisson's ratio decreases to 1/3
/// before Young's modulus does.
pub(crate) fn soften([first, second]: [Real; 2], share: Real) -> [Real; 2] {
    let (most, level) = ((first + second) * share, second.min(first));
    if most >= first + level {
        return [first, second.min(most - first)];
    }
    let part = most / (first + level);
    [first * part, level * part]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_element_stiffer_than_the_step_can_integrate_has_its_force_scaled() {
        for damping in [0.0, 0.01] {
            let square = 1e4;
            let step = largest_step(square, damping);
            let room = StabilityLimit::explicit(step, damping);
            assert!((room.growth(square) - 1.0).abs() < 1e-5, "{}", room.growth(square));
            assert_eq!(StabilityLimit::explicit(2.0 * step, damping).share(square, 1.0), 1.0);
            assert_eq!(StabilityLimit::explicit(0.4 * step, damping).share(square, 2.0), 1.0);
            // ω² grown fourfold and the force scaled by one quarter: stiffness as at rest
            assert!((room.share(square, 4.0) - 0.25).abs() < 1e-5);
        }
    }

    #[test]
    fn softened_stiffnesses_have_the_given_sum_and_the_second_is_reduced_first() {
        for (both, share, expected) in [
            ([2.0, 8.0], 1.0, [2.0, 8.0]),
            ([2.0, 8.0], 0.5, [2.0, 3.0]),
            ([2.0, 8.0], 0.2, [1.0, 1.0]),
            ([2.0, 1.0], 0.5, [1.0, 0.5]),
            ([2.0, 0.0], 0.25, [0.5, 0.0]),
        ] {
            let got = soften(both, share);
            assert!((got[0] - expected[0]).abs() < 1e-6 && (got[1] - expected[1]).abs() < 1e-6, "{both:?} {got:?}");
        }
    }

    #[test]
    fn the_stiffness_of_goals_is_bounded_by_rounding_for_free_bodies_only() {
        assert_eq!(goal_stiffness(1e-3, Real::INFINITY, false), RIGID);
        assert_eq!(goal_stiffness(10.0, 1e4, true), 1e6);
        assert_eq!(goal_stiffness(1e6, 1e8, true), 1e20);
        assert_eq!(goal_stiffness(1e6, 1e8, false), DIGITS / Real::EPSILON);
    }

    #[test]
    fn only_stiffness_beyond_the_precision_of_a_real_is_softened() {
        let most = DIGITS / Real::EPSILON;
        assert_eq!(softening(0.1, 0.0, 99.0 * most), 1.0);
        assert!((softening(0.1, 0.1, 100.0 * most) - 0.5).abs() < 1e-5);
    }
}
