//! Plastic flow: F = F_e F_p, the law depends on F_e only (Lee 1969; Irving, Teran and Fedkiw 2004 for tetrahedra).
//!
//! With the stretches σ of F_e and their deviator e = σ − mean σ, Hooke's equivalent stress is q = √6 μ |e|. Above the
//! yield stress the excess of e flows at the creep rate c, by implicit Euler:
//!
//! ```text
//!   e ← (1 − γ) e,   γ = (1 − yield/q) · h c/(1 + h c)
//! ```
//!
//! An infinite c is rate-independent plasticity (von Mises), a finite c is creep. det F_p = 1: flow is isochoric. Flow
//! stops where the equivalent plastic strain √(2/3) |(F_pᵀF_p − I)/2| reaches its maximum. The yield condition uses
//! Hooke's stress of the stretches for every law: exact for the corotational one.
//!
//! Internal state per point: F_p⁻¹ − I, nine numbers by columns, zero without plastic deformation.

use super::law::{green, square};
use crate::math::{Mat3, Real, Svd, Vec3, cofactor};
use sinew_spec::{POSITIVE, record};

/// Numbers of internal state per point.
pub(super) const MEMORY: usize = 9;
/// Stretch below which there is no flow: a crushed element must recover first.
const LEAST_STRETCH: Real = 0.1;

/// Yield stress, creep rate and limit of plastic flow.
///
/// An example is at [`fem::SolidParams`](crate::fem::SolidParams).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plasticity {
    /// Equivalent (von Mises) stress at which flow begins [Pa].
    pub yield_stress: Real,
    /// Rate at which stress above yield relaxes [1/s]; infinite: immediately.
    pub creep: Real,
    /// Equivalent plastic strain at which flow stops; infinite: no limit.
    pub max_strain: Real,
}

/// F_p⁻¹ from a point's internal state.
pub(super) fn unload(memory: &[Real]) -> Mat3 {
    let m = |k: usize| Vec3::new(memory[k], memory[k + 1], memory[k + 2]);
    Mat3::IDENTITY + Mat3::from_cols(m(0), m(3), m(6))
}

/// Advances the plastic flow of a point by a time h [s] at the current total F; μ [Pa].
pub(super) fn flow(plasticity: &Plasticity, mu: Real, h: Real, f: &Mat3, memory: &mut [Real]) {
    let back = unload(memory);
    let Svd { sigma, v, .. } = Svd::new(&(*f * back));
    let mean = (sigma.x + sigma.y + sigma.z) / 3.0;
    let e = sigma - Vec3::splat(mean);
    let stress = Real::sqrt(6.0) * mu * e.length();
    if !(stress > plasticity.yield_stress && sigma.z > LEAST_STRETCH) {
        return;
    }
    let part = h / (h + 1.0 / plasticity.creep);
    let mut amount = (1.0 - plasticity.yield_stress / stress) * part;
    let mut next = back * relaxed(sigma, e, amount, &v);
    let (old, new) = (equivalent(&back), equivalent(&next));
    if new > plasticity.max_strain {
        amount *= ((plasticity.max_strain - old) / (new - old)).clamp(0.0, 1.0);
        next = back * relaxed(sigma, e, amount, &v);
    }
    let change = next - Mat3::IDENTITY;
    for (column, axis) in [change.x_axis, change.y_axis, change.z_axis].into_iter().enumerate() {
        memory[3 * column..3 * column + 3].copy_from_slice(&axis.to_array());
    }
}

/// Equivalent plastic strain of F_p⁻¹; det = 1, so that the inverse is the transposed cofactor.
pub(super) fn equivalent(back: &Mat3) -> Real {
    (2.0 / 3.0 * square(&green(&cofactor(back).transpose()))).sqrt()
}

/// The stretch with determinant 1 that leaves the fraction 1 − `amount` of e.
fn relaxed(sigma: Vec3, e: Vec3, amount: Real, v: &Mat3) -> Mat3 {
    let (mut d, mut root, mut cut) = (Vec3::ONE, 1.0, amount);
    // dividing by the cube root preserves the volume but scales e as well: three iterations compensate
    for _ in 0..3 {
        d = (sigma - e * cut) / sigma;
        root = cube_root(d.x * d.y * d.z);
        cut = 1.0 - (1.0 - amount) * root;
    }
    *v * Mat3::from_diagonal(d / root) * v.transpose()
}

/// Cube root of a number near 1 by Newton's method: that of the platform is not reproducible in the last bit.
fn cube_root(x: Real) -> Real {
    let mut root = 1.0 + (x - 1.0) / 3.0;
    for _ in 0..4 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

record!(Plasticity, "plasticity", "Yield and creep.",
    Plasticity { yield_stress: 1.0, creep: Real::INFINITY, max_strain: Real::INFINITY }, {
    yield_stress [required]: POSITIVE, "Von Mises stress at which flow begins [Pa].";
    creep: POSITIVE.or_infinite(), "Rate at which stress above yield relaxes [1/s]; inf: at once.";
    max_strain: POSITIVE.or_infinite(), "Equivalent plastic strain at which flow ends; inf: never.";
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stress_above_yield_relaxes_to_yield_at_constant_volume() {
        let material = Plasticity { yield_stress: 0.2, creep: Real::INFINITY, max_strain: Real::INFINITY };
        let f = Mat3::from_diagonal(Vec3::new(1.3, 0.9, 0.9));
        let mut memory = [0.0; MEMORY];
        for _ in 0..20 {
            flow(&material, 1.0, 0.01, &f, &mut memory);
        }
        let back = unload(&memory);
        let sigma = Svd::new(&(f * back)).sigma;
        let e = sigma - Vec3::splat((sigma.x + sigma.y + sigma.z) / 3.0);
        assert!((Real::sqrt(6.0) * e.length() - 0.2).abs() < 1e-5);
        assert!((back.determinant() - 1.0).abs() < 40.0 * Real::EPSILON);
    }

    #[test]
    fn creep_follows_its_rate_and_flow_stops_at_the_maximum_strain() {
        let material = Plasticity { yield_stress: 0.0, creep: 2.0, max_strain: Real::INFINITY };
        let f = Mat3::from_diagonal(Vec3::new(1.02, 0.99, 0.99));
        let mut memory = [0.0; MEMORY];
        for _ in 0..1000 {
            flow(&material, 1.0, 1e-3, &f, &mut memory);
        }
        // relaxes as exp(−2 t); at 1 s the deviator of the elastic stretch has decreased to e⁻²
        let sigma = Svd::new(&(f * unload(&memory))).sigma;
        let left = (sigma.x - sigma.y) / 0.03;
        assert!((left - Real::exp(-2.0)).abs() < 0.01 * Real::exp(-2.0), "{left}");

        let material = Plasticity { yield_stress: 0.0, creep: Real::INFINITY, max_strain: 0.01 };
        let mut memory = [0.0; MEMORY];
        for _ in 0..50 {
            flow(&material, 1.0, 1e-3, &f, &mut memory);
        }
        assert!((equivalent(&unload(&memory)) - 0.01).abs() < 1e-4);
    }
}
