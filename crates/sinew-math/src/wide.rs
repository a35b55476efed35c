//! f64 regardless of `Real`, for quantities that are computed once: moments, inverses, exchanges of bodies.

use super::{Quat, Real, Vec3};

/// Three f64.
pub type Wide3 = glam::DVec3;
/// A 3x3 matrix of f64, columns first.
pub type WideMat3 = glam::DMat3;

/// A rotation in f64.
pub type WideQuat = glam::DQuat;

/// A rotation in f64, of unit length.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
#[inline]
pub fn widen_rotation(q: Quat) -> WideQuat {
    WideQuat::from_xyzw(q.x as f64, q.y as f64, q.z as f64, q.w as f64).normalize()
}

/// A rotation rounded to `Real`.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
#[inline]
pub fn narrow_rotation(q: WideQuat) -> Quat {
    Quat::from_xyzw(q.x as Real, q.y as Real, q.z as Real, q.w as Real).normalize()
}

/// A vector in f64.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
#[inline]
pub fn widen(v: Vec3) -> Wide3 {
    Wide3::new(v.x as f64, v.y as f64, v.z as f64)
}

/// A vector rounded to `Real`.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
#[inline]
pub fn narrow(v: Wide3) -> Vec3 {
    Vec3::new(v.x as Real, v.y as Real, v.z as Real)
}

/// a bᵀ.
#[inline]
pub fn wide_outer(a: Wide3, b: Wide3) -> WideMat3 {
    WideMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Sweeps of Jacobi's method; a 3x3 matrix is diagonal to the last bit after five or six.
const SWEEPS: usize = 12;

/// Eigenvalues and orthonormal eigenvectors (columns) of a symmetric matrix, by Jacobi's cyclic rotations.
#[inline]
pub fn eigen(m: &WideMat3) -> (Wide3, WideMat3) {
    let mut a = m.to_cols_array_2d();
    let mut axes = WideMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            // the angle that makes a_pq zero: t = tan, the smaller root
            let half = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = half.signum() / (half.abs() + (half * half + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            for k in 0..3 {
                (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
            }
            for k in 0..3 {
                (axes[p][k], axes[q][k]) = (c * axes[p][k] - s * axes[q][k], s * axes[p][k] + c * axes[q][k]);
            }
        }
    }
    (Wide3::new(a[0][0], a[1][1], a[2][2]), WideMat3::from_cols_array_2d(&axes))
}

/// Pseudo-inverse of a symmetric, positive semidefinite matrix.
#[derive(Clone, Copy, Debug)]
pub struct PseudoInverse {
    /// Inverse on the span, zero on its orthogonal complement.
    pub inverse: WideMat3,
    /// Projector onto the span.
    pub span: WideMat3,
    /// Dimension of the span, 0 to 3.
    pub rank: usize,
}

/// The pseudo-inverse that treats eigenvalues below `least` times the largest as zero.
#[inline]
pub fn pseudo_inverse(m: &WideMat3, least: f64) -> PseudoInverse {
    let (values, axes) = eigen(m);
    let top = values.max_element();
    let mut result = PseudoInverse { inverse: WideMat3::ZERO, span: WideMat3::ZERO, rank: 0 };
    for k in 0..3 {
        if values[k] > 0.0 && values[k] >= least * top {
            let part = wide_outer(axes.col(k), axes.col(k));
            result.inverse += part * (1.0 / values[k]);
            result.span += part;
            result.rank += 1;
        }
    }
    if result.rank == 3 {
        result.span = WideMat3::IDENTITY;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_diagonalise_a_symmetric_matrix() {
        let (a, b) = (Wide3::new(1.0, 2.0, -3.0), Wide3::new(0.5, -1.0, 0.25));
        let m = wide_outer(a, a) + wide_outer(b, b) * 0.1;
        let (values, axes) = eigen(&m);
        for k in 0..3 {
            assert!((m * axes.col(k) - axes.col(k) * values[k]).length() < 1e-13);
        }
        assert!((axes * axes.transpose()).abs_diff_eq(WideMat3::IDENTITY, 1e-14));
    }

    #[test]
    fn a_pseudo_inverse_inverts_on_the_span_only() {
        let a = Wide3::new(1.0, 2.0, 2.0);
        let line = pseudo_inverse(&wide_outer(a, a), 1e-9);
        assert_eq!(line.rank, 1);
        assert!((line.inverse * a - a / 9.0).length() < 1e-15);
        assert!((line.span * a - a).length() < 1e-14);
        assert!((line.span * Wide3::new(0.0, 1.0, -1.0)).length() < 1e-14);
        assert_eq!(pseudo_inverse(&WideMat3::ZERO, 1e-9).rank, 0);
    }
}
