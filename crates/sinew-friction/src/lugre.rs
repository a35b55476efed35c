//! LuGre: ż = v − σ₀ |v|/g(v) z, F = N (σ₀ z + σ₁ ż + v_c v), g(v) = μ_k + (μ_s − μ_k) exp(−(v/v_s)^δ) (FC 5.13-5.15;
//! Canudas de Wit, Olsson, Åström and Lischinsky 1995).
//!
//! It yields at any load, however small: under a force that oscillates below break-away a body creeps. That is a
//! property of the law, not of the solver; the elasto-plastic law avoids it.

use super::bristle::{At, Numbers, Yields, drag};
use super::{Answer, Ask, Bristle, Coefficients, Curve, Rule};
use sinew_math::{Lane, NumberError, Real};
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, check, record};

/// A bristle with damping and the Stribeck curve.
///
/// ```
/// # use sinew_friction::*;
/// # fn main() -> Result<(), NumberError> {
/// let bristle = LuGre::new(1e5, 100.0, Curve::default())?;
/// assert_eq!(Law::LuGre(bristle).damping(), 100.0);
/// assert!(ElastoPlastic::new(bristle, 0.7).is_ok() && ElastoPlastic::new(bristle, 2.0).is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LuGre {
    /// Stiffness per newton of normal force σ₀ [1/m].
    pub stiffness: Real,
    /// Damping of the bristle per newton of normal force σ₁ [s/m].
    pub damping: Real,
    /// Curve of its steady stretch, and the viscous part.
    pub curve: Curve,
}

record!(LuGre, "LuGre friction", "A bristle with damping.", LuGre::default(), {
    stiffness: POSITIVE, "Stiffness per newton of normal force [1/m].";
    damping: NOT_NEGATIVE, "Damping of the bristle per newton of normal force [s/m].";
    curve: ANY, "Where it yields, and the viscous part.";
});

impl Default for LuGre {
    /// The figures of the 1995 paper: σ₀ = 1e5, σ₁ = √1e5, v_c = 0.4, v_s = 1 mm/s, at a load of 1 N.
    fn default() -> Self {
        Self { stiffness: 1e5, damping: 316.227_77, curve: Curve::default() }
    }
}

impl LuGre {
    /// Checked.
    pub fn new(stiffness: Real, damping: Real, curve: Curve) -> Result<Self, NumberError> {
        let law = Self { stiffness, damping, curve };
        check(&law, "lugre").map(|()| law)
    }

    #[inline(always)]
    pub(super) fn numbers<L: Lane>(&self, t: L::Token) -> Numbers<L> {
        Numbers {
            stiffness: L::splat(t, self.stiffness),
            damping: L::splat(t, self.damping),
            viscosity: L::splat(t, self.curve.viscosity),
        }
    }

    /// σ₀/g: the inverse of the steady stretch [1/m].
    #[inline(always)]
    pub(super) fn full_rate<L: Lane>(&self, t: L::Token, ask: &Ask<L>, speed: L) -> L {
        let limit = self.curve.dry(t, ask.holding, ask.kinetic, speed);
        L::splat(t, self.stiffness).div(limit.max(L::splat(t, Real::MIN_POSITIVE)))
    }
}

impl Yields for LuGre {
    #[inline(always)]
    fn rate<L: Lane>(&self, t: L::Token, ask: &Ask<L>, at: At<L>) -> L {
        self.full_rate(t, ask, at.speed)
    }
}

impl Rule for LuGre {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        drag(t, ask, self.numbers(t), self)
    }

    fn steady(&self, c: Coefficients, speed: Real) -> Real {
        self.curve.steady(c, speed)
    }

    fn bristle(&self) -> Option<Bristle> {
        Some(Bristle { stiffness: self.stiffness, damping: self.damping })
    }
}
