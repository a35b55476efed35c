//! Dahl: dF/dx = σ (1 − F/F_C sign v)^α (FC 5.8; 5.9 with the erratum). With p = F·v̂/F_C, the fraction of the limit
//! that is reached:
//!
//! ```text
//!   1D: dz/dx = (1 − p)^α = 1 − κ(p) p,   κ = (1 − |1 − p|^α sign(1 − p))/p     (κ = 1 for α = 1)
//!   plane: ż = v − κ(p) (σ/μ_k) |v| z
//! ```

use super::bristle::{At, Numbers, Yields, drag};
use super::curve::power;
use super::{Answer, Ask, Bristle, Coefficients, Rule};
use sinew_math::{Lane, NumberError, Real};
use sinew_spec::{POSITIVE, check, record};

/// A bristle that yields with displacement only.
///
/// ```
/// # use sinew_friction::*;
/// # fn main() -> Result<(), NumberError> {
/// let law = Law::Dahl(Dahl::new(1e5, 1.0)?);
/// // bristles that bend before they slip
/// assert!(law.has_bristle() && law.stiffness() == 1e5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dahl {
    /// Stiffness per newton of normal force σ [1/m].
    pub stiffness: Real,
    /// Exponent α: above 1 ductile, below 1 brittle.
    pub exponent: Real,
}

record!(Dahl, "Dahl friction", "A bristle that yields with displacement.", Dahl::default(), {
    stiffness: POSITIVE, "Stiffness per newton of normal force [1/m].";
    exponent: POSITIVE, "Exponent of the yield: above 1 ductile, below 1 brittle.";
});

impl Default for Dahl {
    fn default() -> Self {
        Self { stiffness: 1e5, exponent: 1.0 }
    }
}

impl Dahl {
    /// Checked.
    pub fn new(stiffness: Real, exponent: Real) -> Result<Self, NumberError> {
        let law = Self { stiffness, exponent };
        check(&law, "dahl").map(|()| law)
    }
}

impl Yields for Dahl {
    #[inline(always)]
    fn rate<L: Lane>(&self, t: L::Token, ask: &Ask<L>, at: At<L>) -> L {
        let (zero, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
        let tiny = L::splat(t, Real::MIN_POSITIVE);
        let rate = L::splat(t, self.stiffness).div(ask.kinetic.max(tiny));
        if self.exponent == 1.0 {
            return rate;
        }
        let along = at.stretch[0] * at.slip[0] + at.stretch[1] * at.slip[1];
        let p = (along * rate).div(at.speed.max(tiny)).min(one).max(-one);
        let left = power(t, (one - p).max(zero), self.exponent);
        // near p = 0 the quotient is the derivative, α
        let small = L::splat(t, 1e-2);
        let size = p.max(-p);
        let exponent = L::splat(t, self.exponent);
        let safe = size.select_gt(small, p, one);
        let series = exponent - exponent * (exponent - one) * p * L::splat(t, 0.5);
        rate * size.select_gt(small, (one - left).div(safe), series).max(zero)
    }
}

impl Rule for Dahl {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        let zero = L::splat(t, 0.0);
        drag(t, ask, Numbers { stiffness: L::splat(t, self.stiffness), damping: zero, viscosity: zero }, self)
    }

    fn steady(&self, c: Coefficients, _: Real) -> Real {
        c.slipping
    }

    fn bristle(&self) -> Option<Bristle> {
        Some(Bristle { stiffness: self.stiffness, damping: 0.0 })
    }
}
