//! Softness: conversion of position error to velocity in a row, without instability.
//!
//! A spring of frequency f and damping ratio ζ on the effective mass m, integrated implicitly over h, is a row with
//!
//! ```text
//!   J·v + (ω/(2ζ + hω))·C + (K/(hω(2ζ + hω)))·λ = 0,     ω = 2πf,  K = J M⁻¹ Jᵀ = 1/m
//! ```
//!
//! As f → ∞ the rate approaches 1/h and the softness 0: it saturates into a rigid row (Catto 2011; the derivation is
//! the implicit Euler step of m ẍ = −k x − c ẋ with k = mω², c = 2mζω).

use crate::math::Real;
use crate::settings::Stabilization;

/// Numbers of a soft row for one substep.
///
/// ```
/// use sinew::*;
/// // limited to the stiffness that the substep can resolve
/// let hard = soften(Stabilization::Soft { frequency: 1e6, damping_ratio: 1.0 }, 1e-3);
/// let soft = soften(Stabilization::Soft { frequency: 5.0, damping_ratio: 1.0 }, 1e-3);
/// assert!(hard.rate.is_finite() && soft.rate < hard.rate);
/// assert!(soft.relative > hard.relative);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Softness {
    /// Position error to velocity [1/s].
    pub rate: Real,
    /// Softness as a fraction of the row's response K: absolute softness = this · K.
    pub relative: Real,
}

impl Softness {
    /// Fraction of the effective mass used by a soft row: 1/(1 + relative).
    pub fn mass_scale(self) -> Real {
        1.0 / (1.0 + self.relative)
    }

    /// Fraction of the accumulated impulse that a soft row removes in an iteration.
    pub fn impulse_scale(self) -> Real {
        self.relative / (1.0 + self.relative)
    }
}

/// The row of a stabilisation at substep `h` [s]. Frequencies above a quarter of the substep rate cannot be resolved
/// and are clamped to it.
pub fn soften(stabilization: Stabilization, h: Real) -> Softness {
    soften_below(stabilization, h, 0.25)
}

/// The same with another fraction of the substep rate as the maximum frequency.
pub fn soften_below(stabilization: Stabilization, h: Real, share: Real) -> Softness {
    match stabilization {
        Stabilization::Baumgarte(share) => Softness { rate: share / h, relative: 0.0 },
        Stabilization::Soft { frequency, damping_ratio } => {
            let frequency = frequency.min(share / h);
            let omega = std::f64::consts::TAU as Real * frequency;
            let a = 2.0 * damping_ratio + h * omega;
            Softness { rate: omega / a, relative: 1.0 / (h * omega * a) }
        }
    }
}

/// A physical spring of stiffness k [N/m] and damping c [N·s/m]: rate [1/s] and absolute softness [1/kg].
pub fn spring(k: Real, c: Real, h: Real) -> (Real, Real) {
    let d = c + h * k;
    (k / d, 1.0 / (h * d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturates_into_a_rigid_row() {
        let h = 0.001;
        let s = soften(Stabilization::Soft { frequency: 1e9, damping_ratio: 1.0 }, h);
        assert!(s.rate <= 1.0 / h && s.rate > 0.3 / h && s.relative < 0.3);
        let weak = soften(Stabilization::Soft { frequency: 1.0, damping_ratio: 1.0 }, h);
        assert!(weak.rate < 4.0 && weak.relative > 50.0);
    }

    #[test]
    fn spring_row_is_implicit_euler() {
        // m ẍ = −k x − c ẋ over one step from (x, v): v' = (v − h k x/m)/(1 + h c/m + h² k/m)
        let (m, k, c, h, x, v) = (2.0, 300.0, 5.0, 0.01, 0.1, 0.3);
        let (rate, softness) = spring(k, c, h);
        let answer = 1.0 / m;
        let lambda = -(v + rate * x) / (answer + softness);
        let want: Real = (v - h * k * x / m) / (1.0 + h * c / m + h * h * k / m);
        assert!((v + lambda / m - want).abs() < 1e-5);
    }
}
