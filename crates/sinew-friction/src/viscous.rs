//! Viscous: F = N (μ_k + v_c |v|^δ) along the slip (FC 5.3).
//!
//! The speed s solves s + give (μ_k + v_c s^δ) = V, with `give` the compliance and V the free slip. For δ ≥ 1 the left
//! side is convex in s, for δ < 1 convex in u = s^δ: Newton's method from above then descends to the root without
//! overshoot.

use super::curve::power;
use super::plain::hold_or_slide;
use super::{Answer, Ask, Coefficients, Rule, length};
use sinew_math::{Lane, NumberError, Real};
use sinew_spec::{NOT_NEGATIVE, POSITIVE, check, record};

/// Newton steps. The worst case found (δ = 3, all slip removed) has an error of 1e-6 after nine.
const STEPS: usize = 10;

/// Friction that increases with speed: oil, grease.
///
/// ```
/// # use sinew_friction::*;
/// # fn main() -> Result<(), NumberError> {
/// let law = Law::Viscous(Viscous::new(0.3, 1.0)?);
/// let pair = Coefficients::both(0.2);
/// assert!(law.steady(pair, 2.0) > law.steady(pair, 1.0));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viscous {
    /// Viscosity per newton of normal force, v_c [(s/m)^δ].
    pub viscosity: Real,
    /// Exponent δ of the speed.
    pub exponent: Real,
}

record!(Viscous, "viscous friction", "Grows with speed.", Viscous::default(), {
    viscosity: NOT_NEGATIVE, "Viscosity per newton of normal force [(s/m)^exponent].";
    exponent: POSITIVE, "Exponent of the speed.";
});

impl Default for Viscous {
    fn default() -> Self {
        Self { viscosity: 0.4, exponent: 1.0 }
    }
}

impl Viscous {
    /// Checked.
    pub fn new(viscosity: Real, exponent: Real) -> Result<Self, NumberError> {
        let law = Self { viscosity, exponent };
        check(&law, "viscous").map(|()| law)
    }

    /// v_c s^δ where s is the slip under friction.
    #[inline(always)]
    fn part<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> L {
        let zero = L::splat(t, 0.0);
        let viscosity = L::splat(t, self.viscosity);
        let left = (length(ask.free) - ask.give * ask.kinetic).max(zero);
        let slope = ask.give * viscosity;
        if self.exponent == 1.0 {
            return viscosity * left.div(L::splat(t, 1.0) + slope);
        }
        // the convex one of the two unknowns
        let steep = self.exponent > 1.0;
        let p = if steep { self.exponent } else { 1.0 / self.exponent };
        let one = L::splat(t, 1.0);
        let (linear, curved) = if steep { (one, slope) } else { (slope, one) };
        let mut x = if steep { left } else { power(t, left, self.exponent) };
        for _ in 0..STEPS {
            let lower = power(t, x, p - 1.0);
            let value = linear * x + curved * lower * x - left;
            let slope = linear + curved * lower * L::splat(t, p);
            x = (x - value.div(slope.max(L::splat(t, Real::MIN_POSITIVE)))).max(zero);
        }
        viscosity * if steep { power(t, x, self.exponent) } else { x }
    }
}

impl Rule for Viscous {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        let sliding = ask.kinetic + self.part(t, ask);
        hold_or_slide(t, ask, ask.kinetic, sliding)
    }

    fn steady(&self, c: Coefficients, speed: Real) -> Real {
        c.slipping + self.viscosity * power((), speed, self.exponent)
    }
}
