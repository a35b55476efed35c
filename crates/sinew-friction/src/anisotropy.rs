//! Friction that depends on direction (`SurfaceMaterial::grain`): a friction ellipse is a disc in scaled axes.
//!
//! With μ along t₁ and k μ across it, f = t₁ p₁ + k t₂ p₂ turns the ellipse (f₁/μN)² + (f₂/kμN)² ≤ 1 into the disc |p|
//! ≤ μ N. Slip in the dual coordinates, u = (v₁, k v₂), does the same work, p·u = f·v. A law between p and u is
//! therefore the law of the ellipse, with the friction of maximum dissipation: f = −N M² v/|M v|, M = diag(μ, kμ)
//! (Goyal, Ruina and Papadopoulos 1991).

use sinew_math::{Real, Vec3};

/// A change of axes in the contact plane: t₁ = c t + s t', t₂ = k (c t' − s t). Displacements transform as projections
/// onto the axes, forces as coefficients of the axes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnisotropyFrame {
    /// Cosine and sine of the first axis.
    turn: [Real; 2],
    /// Length of the second axis.
    across: Real,
}

impl Default for AnisotropyFrame {
    #[inline]
    fn default() -> Self {
        Self::NONE
    }
}

impl AnisotropyFrame {
    /// No anisotropy.
    pub const NONE: Self = Self { turn: [1.0, 0.0], across: 1.0 };

    /// From cosine and sine of the first axis and the length of the second.
    #[inline]
    pub fn new(turn: [Real; 2], across: Real) -> Self {
        Self { turn, across }
    }

    /// No anisotropy, as for most contacts: the numbers keep every bit, including the sign of zero.
    #[inline]
    fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// The axes, from two orthonormal tangents.
    #[inline]
    pub fn axes(&self, [a, b]: [Vec3; 2]) -> [Vec3; 2] {
        if self.is_none() {
            return [a, b];
        }
        let [c, s] = self.turn;
        [a * c + b * s, (b * c - a * s) * self.across]
    }

    /// A displacement in the plane, projected onto the axes.
    #[inline]
    pub fn way(&self, [x, y]: [Real; 2]) -> [Real; 2] {
        if self.is_none() {
            return [x, y];
        }
        let [c, s] = self.turn;
        [c * x + s * y, self.across * (c * y - s * x)]
    }

    /// The inverse of [`AnisotropyFrame::way`].
    #[inline]
    pub fn way_back(&self, [x, y]: [Real; 2]) -> [Real; 2] {
        if self.is_none() {
            return [x, y];
        }
        self.turn_back([x, y / self.across])
    }

    /// A force in the plane, as coefficients of the axes.
    #[inline]
    pub fn push(&self, [x, y]: [Real; 2]) -> [Real; 2] {
        if self.is_none() {
            return [x, y];
        }
        let [c, s] = self.turn;
        [c * x + s * y, (c * y - s * x) / self.across]
    }

    /// The inverse of [`AnisotropyFrame::push`].
    #[inline]
    pub fn push_back(&self, [x, y]: [Real; 2]) -> [Real; 2] {
        if self.is_none() {
            return [x, y];
        }
        self.turn_back([x, y * self.across])
    }

    #[inline]
    fn turn_back(&self, [x, y]: [Real; 2]) -> [Real; 2] {
        let [c, s] = self.turn;
        [c * x - s * y, s * x + c * y]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_the_same_in_both_axes() {
        let anisotropy = AnisotropyFrame::new([0.6, -0.8], 0.3);
        let (push, way) = ([0.7, -1.9], [0.2, 0.5]);
        let (p, u) = (anisotropy.push(push), anisotropy.way(way));
        let work = |f: [Real; 2], d: [Real; 2]| f[0] * d[0] + f[1] * d[1];
        assert!((work(p, u) - work(push, way)).abs() < 1e-6);
        let (back, there) = (anisotropy.push_back(p), anisotropy.way_back(u));
        for k in 0..2 {
            assert!((back[k] - push[k]).abs() < 1e-6 && (there[k] - way[k]).abs() < 1e-6);
        }
    }
}
