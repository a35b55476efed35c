//! The steady curve of FC 5.6 and 5.15: f(s) = μ_k + (μ_s − μ_k) exp(−(s/v_s)^δ) + v_c s; and the powers it needs.
//!
//! Exponential and powers are implemented here: those of platform libraries differ in the last bit, and there are none
//! for SIMD lanes.

use super::Coefficients;
use sinew_math::{Lane, Real, natural_log};
use sinew_spec::{NOT_NEGATIVE, POSITIVE, record};

/// Stribeck curve: friction decreases from μ_s to μ_k as slip begins, and increases again with speed.
///
/// ```
/// # use sinew_friction::*;
/// # fn main() -> Result<(), NumberError> {
/// // decreases from μ_s to μ_k within 1 mm/s, then increases with speed
/// let curve = Curve { speed: 1e-3, exponent: 2.0, viscosity: 0.1 };
/// let law = Law::Stribeck(Stribeck::new(curve)?);
/// let pair = Coefficients { holding: 0.6, slipping: 0.4 };
/// assert!(law.steady(pair, 1e-6) > 0.59 && law.steady(pair, 0.01) < 0.45);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Stribeck speed v_s, at which most of the decrease has occurred [m/s].
    pub speed: Real,
    /// Exponent δ of the decrease: 2 (Gauss) or 1 (Tustin); others are slower to compute.
    pub exponent: Real,
    /// Viscosity per newton of normal force, v_c [s/m].
    pub viscosity: Real,
}

record!(Curve, "friction curve", "How friction falls as slip begins, and rises again with speed.", Curve::default(), {
    speed: POSITIVE, "Stribeck speed: width of the transition from static to kinetic friction [m/s].";
    exponent: POSITIVE, "Exponent of the fall: 2 (Gauss) or 1 (Tustin).";
    viscosity: NOT_NEGATIVE, "Viscosity per newton of normal force [s/m].";
});

impl Default for Curve {
    fn default() -> Self {
        Self { speed: 0.001, exponent: 2.0, viscosity: 0.4 }
    }
}

impl Curve {
    /// Without the viscous part.
    #[inline(always)]
    pub(super) fn dry<L: Lane>(&self, t: L::Token, holding: L, kinetic: L, speed: L) -> L {
        let x = speed * L::splat(t, 1.0 / self.speed);
        let x = if self.exponent == 2.0 { x * x } else { power(t, x, self.exponent) };
        kinetic + (holding - kinetic) * decay(t, x)
    }

    pub(super) fn steady(&self, c: Coefficients, speed: Real) -> Real {
        self.dry((), c.holding, c.slipping, speed) + self.viscosity * speed
    }

    /// Coefficient on the sliding branch: fixed-point iteration of s = V − give f(s) from above, `rounds` times.
    ///
    /// The dry part decreases with s, so that the iteration descends to the largest root, the branch of a contact that
    /// is already slipping, or below zero when there is none. The viscous part is solved exactly.
    #[inline(always)]
    pub(super) fn sliding<L: Lane>(&self, t: L::Token, ask: &super::Ask<L>, rounds: usize) -> L {
        let zero = L::splat(t, 0.0);
        let viscosity = L::splat(t, self.viscosity);
        let free = super::length(ask.free);
        let damp = L::splat(t, 1.0).div(L::splat(t, 1.0) + ask.give * viscosity);
        let mut dry = ask.kinetic;
        let mut speed = ((free - ask.give * dry) * damp).max(zero);
        for _ in 0..rounds {
            dry = self.dry(t, ask.holding, ask.kinetic, speed);
            speed = ((free - ask.give * dry) * damp).max(zero);
        }
        dry + viscosity * speed
    }
}

/// exp(−x), x ≥ 0: Taylor's series of exp(x/16), squared four times, inverted. Beyond 20, where it is below 2.1e-9,
/// the result is zero.
#[inline(always)]
pub(super) fn decay<L: Lane>(t: L::Token, x: L) -> L {
    let far = L::splat(t, 20.0);
    let zero = L::splat(t, 0.0);
    if x.all_gt(far) {
        return zero;
    }
    let r = x.min(far) * L::splat(t, 1.0 / 16.0);
    // Estrin's scheme: a short chain of dependent operations
    let (r2, one) = (r * r, L::splat(t, 1.0));
    let r4 = r2 * r2;
    let low = (one + r) + r2 * (L::splat(t, 0.5) + r * L::splat(t, 1.0 / 6.0));
    let high = (L::splat(t, 1.0 / 24.0) + r * L::splat(t, 1.0 / 120.0))
        + r2 * (L::splat(t, 1.0 / 720.0) + r * L::splat(t, 1.0 / 5040.0));
    let mut sum = low + r4 * high;
    for _ in 0..4 {
        sum = sum * sum;
    }
    x.select_gt(far, zero, one.div(sum))
}

/// x^p, x ≥ 0.
#[inline(always)]
pub(super) fn power<L: Lane>(t: L::Token, x: L, p: Real) -> L {
    if p == 1.0 {
        return x;
    }
    if p == 2.0 {
        return x * x;
    }
    // lane by lane: other exponents are rare and may be slow
    let (mut from, mut to) = ([0.0; sinew_math::LANES], [0.0; sinew_math::LANES]);
    x.store(&mut from);
    for k in 0..L::COUNT {
        to[k] = power_of(from[k], p);
    }
    L::load(t, &to)
}

fn power_of(x: Real, p: Real) -> Real {
    if x <= 0.0 {
        return if p == 0.0 { 1.0 } else { 0.0 };
    }
    let y = (p * natural_log(x)).clamp(-80.0, 80.0);
    // exp(−|y|) in factors within the range of the series, then the reciprocal for y > 0
    let part = decay((), y.abs() * 0.0625);
    let two = part * part;
    let four = two * two;
    let eight = four * four;
    let small = eight * eight;
    if y > 0.0 { 1.0 / small } else { small }
}
