//! Common part of Dahl, LuGre and elasto-plastic: a bristle of stretch z that yields during slip.
//!
//! ```text
//!   ż = v − r |v| z,      f = σ₀ z + σ₁ ż + v_c v,      r = the law's yield per length [1/m]
//! ```
//!
//! Implicit Euler over a step: z' = θ (z + h v) with θ = 1/(1 + h r s), s = |v|, ż = (z' − z)/h. For a given θ force
//! and slip are linear in each other, and with v = v_free − give · f, where give is the compliance of the contact over
//! the step
//!
//! ```text
//!   v (1 + give [(σ₀ h + σ₁) θ + v_c]) = v_free − give [(σ₀ + σ₁/h) θ − σ₁/h] z
//! ```
//!
//! so that one unknown is left: θ (1 + h r s) = 1, by false position with Illinois' halving on (0, 1]. The left side is
//! nearly linear in θ both where the bristle sticks (θ ≈ 1) and where it slips (θ ≈ z/(h s), as small as 1e-5). Yield
//! only relaxes the stretch, for any h: |z'| stays below 1/r.

use super::{Answer, Ask, length};
use sinew_math::{Lane, Real};

/// Maximum number of iterations of false position: where a jump of the load starts the yield, an error of 1e-4 of θ
/// remains; most cases converge in two.
const ROUNDS: usize = 14;

/// Stiffness, damping and viscosity, per newton of normal force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers<L> {
    pub stiffness: L,
    pub damping: L,
    pub viscosity: L,
}

/// Yield function of a law.
pub(super) trait Yields {
    /// r: the yield per length [1/m] at the speed s, with the stretch z' at that speed and the slip.
    fn rate<L: Lane>(&self, t: L::Token, ask: &Ask<L>, at: At<L>) -> L;
}

/// Point at which the yield is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<L> {
    /// Speed of slip [m/s].
    pub speed: L,
    /// Stretch at the end of the step [m].
    pub stretch: [L; 2],
    /// Slip [m/s].
    pub slip: [L; 2],
}

/// The law over a step.
#[inline(always)]
pub(super) fn drag<L: Lane, Y: Yields>(t: L::Token, ask: &Ask<L>, n: Numbers<L>, law: &Y) -> Answer<L> {
    let (zero, one, half) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, 0.5));
    let (least, share) = (L::splat(t, 0.5 * Real::EPSILON), L::splat(t, 64.0 * Real::EPSILON));
    let (mut low, mut value_low) = (zero, one);
    let (mut high, mut theta) = (one, one);
    let held = excess(t, ask, n, law, one);
    let mut value_high = one - held;
    // no yield at all: θ = 1. A slow yield affects only the last bits of θ, but accumulates over minutes: it must not
    // be neglected
    let mut done = value_high.select_gt(-L::splat(t, Real::MIN_POSITIVE), one, zero);
    let mut last = zero;
    // initial guess: the θ of a bristle in steady slip, or of one that hardly yields
    let free = length(ask.free);
    let damp = one.div(one + ask.give * n.viscosity);
    let dragged = ((free - ask.give * ask.kinetic) * damp).max(zero);
    let far = law.rate(t, ask, At { speed: dragged, stretch: ask.free, slip: ask.free });
    let mut next = one.div((one + ask.h * dragged * far).max(held));
    for _ in 0..ROUNDS {
        if done.all_gt(half) {
            break;
        }
        theta = done.select_gt(half, theta, next);
        let value = one - theta * excess(t, ask, n, law, theta);
        // Illinois variant: the value at an end that is retained twice is halved
        let side = value.select_gt(zero, one, -one);
        let weight = (side * last).select_gt(zero, half, one);
        last = side;
        low = side.select_gt(zero, theta, low);
        high = side.select_gt(zero, high, theta);
        let (kept_low, kept_high) = (value_low * weight, value_high * weight);
        value_low = side.select_gt(zero, value, kept_low);
        value_high = side.select_gt(zero, kept_high, value);
        // tolerance relative to the yield 1 − θ: a slow yield needs the last bits
        let enough = least + share * (one - theta);
        done = value.max(-value).select_gt(enough, done, one);
        let span = value_low - value_high;
        next = (high * value_low - low * value_high).div(span.max(L::splat(t, Real::MIN_POSITIVE)));
    }
    let (slip, stretch) = at(t, ask, n, theta);
    let traction = [0, 1].map(|k| {
        n.stiffness * stretch[k] + n.damping * (stretch[k] - ask.stretch[k]) * ask.inv_h + n.viscosity * slip[k]
    });
    let yields = (one - theta).select_gt(L::splat(t, 1e-3), one, zero);
    Answer { traction, velocity: slip, stretch, slipping: yields }
}

/// 1 + h r s at a θ.
#[inline(always)]
fn excess<L: Lane, Y: Yields>(t: L::Token, ask: &Ask<L>, n: Numbers<L>, law: &Y, theta: L) -> L {
    let (slip, stretch) = at(t, ask, n, theta);
    let speed = length(slip);
    L::splat(t, 1.0) + ask.h * speed * law.rate(t, ask, At { speed, stretch, slip })
}

/// Slip and stretch at a θ.
#[inline(always)]
fn at<L: Lane>(t: L::Token, ask: &Ask<L>, n: Numbers<L>, theta: L) -> ([L; 2], [L; 2]) {
    let one = L::splat(t, 1.0);
    let stiff = one + ask.give * ((n.stiffness * ask.h + n.damping) * theta + n.viscosity);
    let pull = ask.give * ((n.stiffness + n.damping * ask.inv_h) * theta - n.damping * ask.inv_h);
    let inverse = one.div(stiff);
    let slip0 = (ask.free[0] - pull * ask.stretch[0]) * inverse;
    let slip1 = (ask.free[1] - pull * ask.stretch[1]) * inverse;
    let stretch = [(ask.stretch[0] + ask.h * slip0) * theta, (ask.stretch[1] + ask.h * slip1) * theta];
    ([slip0, slip1], stretch)
}
