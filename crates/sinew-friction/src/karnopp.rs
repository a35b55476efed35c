//! Karnopp: below the speed Δv the contact counts as at rest and friction is the force that prevents slip, clamped to
//! μ_s N; above, F = N f(|v|) with FC 5.6 (FC 5.7 with the errata: |v| ≤ Δv, and F = clamp(F_∥ + m v/h), which stops
//! the body and does not only balance the applied force).

use super::plain::hold_or_slide;
use super::{Answer, Ask, Coefficients, Curve, Rule, length};
use sinew_math::{Lane, NumberError, Real};
use sinew_spec::{ANY, POSITIVE, check, record};

/// Iterations on the sliding branch: the dead band is as wide as the decrease of the curve, so that two are enough.
const ROUNDS: usize = 2;

/// A dead band about rest.
///
/// ```
/// # use sinew_friction::*;
/// assert!(Karnopp::new(1e-3, Curve::default()).is_ok());
/// assert!(Karnopp::new(-1.0, Curve::default()).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Karnopp {
    /// Half width Δv of the band [m/s].
    pub dead_band: Real,
    /// The curve outside of it.
    pub curve: Curve,
}

record!(Karnopp, "Karnopp friction", "A dead band about rest.", Karnopp::default(), {
    dead_band: POSITIVE, "Speed below which it is at rest [m/s].";
    curve: ANY, "The curve outside of the band.";
});

impl Default for Karnopp {
    fn default() -> Self {
        Self { dead_band: 0.001, curve: Curve::default() }
    }
}

impl Karnopp {
    /// Checked.
    pub fn new(dead_band: Real, curve: Curve) -> Result<Self, NumberError> {
        let law = Self { dead_band, curve };
        check(&law, "karnopp").map(|()| law)
    }
}

impl Rule for Karnopp {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        let (zero, one, half) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, 0.5));
        let sliding = self.curve.sliding(t, ask, ROUNDS);
        let force = ask.slipping.select_gt(half, sliding, ask.holding);
        let mut answer = hold_or_slide(t, ask, force, force);
        let beyond = length(answer.velocity) - L::splat(t, self.dead_band);
        answer.slipping = beyond.select_gt(zero, one, zero);
        answer
    }

    fn steady(&self, c: Coefficients, speed: Real) -> Real {
        if speed > self.dead_band { self.curve.steady(c, speed) } else { c.holding }
    }
}
