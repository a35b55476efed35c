//! Rotation and stretch of a 3x3 matrix: singular values, polar rotation, the positive part of a symmetric matrix, and
//! a logarithm that is the same on every platform.
//!
//! All are functions of their argument alone: there is no warm start, so no state has to be stored between steps.

use super::{Mat3, Quat, Real, Sym3, Vec3, any_orthonormal, integrate_rotation};

/// Sweeps of Jacobi rotations. Three are enough in f32, five in f64; more have no effect.
const SWEEPS: usize = 6;
/// Newton steps on a rotation before the fallback to singular values. Two are enough below 10 % strain.
const NEWTON_STEPS: usize = 6;
/// Rotation increment [rad] below which Newton's method has converged, a few units of rounding.
const FOUND: Real = 4.0 * Real::EPSILON;
/// Longest Newton step [rad]: the series of the exponential holds up to 1.
const LONGEST_TURN: Real = 0.7;

/// F = U diag(σ) Vᵀ with proper rotations U and V, σ.x ≥ σ.y ≥ |σ.z|; σ.z has the sign of det F.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svd {
    /// Left rotation.
    pub u: Mat3,
    /// Stretches, descending; the last is negative for an inverted F.
    pub sigma: Vec3,
    /// Right rotation.
    pub v: Mat3,
}

impl Svd {
    /// Singular values by one-sided Jacobi (Hestenes 1958): rotations from the right make the columns of F orthogonal.
    /// F is never squared, so small stretches keep their digits.
    #[inline]
    pub fn new(f: &Mat3) -> Self {
        let mut b = [f.x_axis, f.y_axis, f.z_axis];
        let mut v = [Vec3::X, Vec3::Y, Vec3::Z];
        for _ in 0..SWEEPS {
            let mut turned = false;
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                let (a, c, off) = (b[p].length_squared(), b[q].length_squared(), b[p].dot(b[q]));
                if off * off > Real::EPSILON * Real::EPSILON * a * c {
                    let turn = jacobi(a, c, off);
                    rotate(&mut b, p, q, turn);
                    rotate(&mut v, p, q, turn);
                    turned = true;
                }
            }
            if !turned {
                break;
            }
        }
        // longest first; a swap with one sign changed is a rotation
        for (p, q) in [(0, 1), (1, 2), (0, 1)] {
            if b[p].length_squared() < b[q].length_squared() {
                (b[p], b[q]) = (b[q], -b[p]);
                (v[p], v[q]) = (v[q], -v[p]);
            }
        }
        let x = b[0].normalize_or(Vec3::X);
        let y = (b[1] - x * x.dot(b[1])).normalize_or(any_orthonormal(x));
        let z = x.cross(y);
        Self {
            u: Mat3::from_cols(x, y, z),
            sigma: Vec3::new(x.dot(b[0]), y.dot(b[1]), z.dot(b[2])),
            v: Mat3::from_cols(v[0], v[1], v[2]),
        }
    }
}

/// The proper rotation R nearest to F: the largest tr(RᵀF). For an inverted F it reflects along the shortest stretch.
///
/// Newton's method on R ← exp(ω) R, ω = (tr S I − sym S)⁻¹ Σ r_i × f_i with S = F Rᵀ (Müller et al. 2016 for the
/// quantity, not for the step), from the frame of F's first two columns. Where S is not positive definite, which is the
/// condition for the unique polar rotation, the singular value decomposition is used.
#[inline]
pub fn polar_rotation(f: &Mat3) -> Mat3 {
    let x = f.x_axis.normalize_or(Vec3::X);
    let z = f.x_axis.cross(f.y_axis).normalize_or(any_orthonormal(x));
    let mut q = Quat::from_mat3(&Mat3::from_cols(x, z.cross(x), z));
    for _ in 0..NEWTON_STEPS {
        let r = Mat3::from_quat(q);
        let axial = r.x_axis.cross(f.x_axis) + r.y_axis.cross(f.y_axis) + r.z_axis.cross(f.z_axis);
        let s = *f * r.transpose();
        let hessian = Sym3::from_mat(&(Mat3::from_diagonal(Vec3::splat(trace(&s))) - s));
        let Some(inverse) = hessian.inverse() else { break };
        let turn = inverse.mul(axial).clamp_length_max(LONGEST_TURN);
        q = integrate_rotation(q, turn);
        if turn.length_squared() < FOUND * FOUND {
            let r = Mat3::from_quat(q);
            if is_positive(Sym3::from_mat(&(r.transpose() * *f))) {
                return r;
            }
            break;
        }
    }
    let svd = Svd::new(f);
    svd.u * svd.v.transpose()
}

/// The symmetric matrix with its negative eigenvalues replaced by `mirror` times their absolute value: 0 gives the
/// nearest positive semidefinite matrix, 1 the absolute value of the matrix.
#[inline]
pub fn positive_part(m: Sym3, mirror: Real) -> Sym3 {
    if is_positive(m) {
        return m;
    }
    // eigenvectors by Jacobi rotations on both sides
    let mut a = m.to_mat();
    let mut v = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(p)[q];
            if off != 0.0 {
                let turn = jacobi(a.col(p)[p], a.col(q)[q], off);
                let mut columns = [a.x_axis, a.y_axis, a.z_axis];
                rotate(&mut columns, p, q, turn);
                let half = Mat3::from_cols(columns[0], columns[1], columns[2]).transpose();
                columns = [half.x_axis, half.y_axis, half.z_axis];
                rotate(&mut columns, p, q, turn);
                a = Mat3::from_cols(columns[0], columns[1], columns[2]);
                rotate(&mut v, p, q, turn);
            }
        }
    }
    let v = Mat3::from_cols(v[0], v[1], v[2]);
    let values = Vec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z);
    let kept = values.max(values * -mirror).max(Vec3::ZERO);
    Sym3::from_mat(&(v * Mat3::from_diagonal(kept) * v.transpose()))
}

/// True when all leading minors are positive.
#[inline]
fn is_positive(m: Sym3) -> bool {
    m.xx > 0.0 && m.xx * m.yy - m.xy * m.xy > 0.0 && m.to_mat().determinant() > 0.0
}

/// Cosine and sine of the rotation that makes two columns with squared lengths a, c and dot product `off` orthogonal.
#[inline]
fn jacobi(a: Real, c: Real, off: Real) -> (Real, Real) {
    let zeta = (c - a) / (2.0 * off);
    let sign: Real = if zeta >= 0.0 { 1.0 } else { -1.0 };
    let tangent = sign / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    (cosine, cosine * tangent)
}

#[inline]
fn rotate(columns: &mut [Vec3; 3], p: usize, q: usize, (cosine, sine): (Real, Real)) {
    let (a, b) = (columns[p], columns[q]);
    columns[p] = a * cosine - b * sine;
    columns[q] = a * sine + b * cosine;
}

/// Sum of the diagonal.
#[inline]
pub fn trace(m: &Mat3) -> Real {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// The matrix of cofactors, the derivative of the determinant.
#[inline]
pub fn cofactor(m: &Mat3) -> Mat3 {
    Mat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis))
}

/// Natural logarithm by a series: library functions of platforms differ in the last bit. Below the smallest normal
/// number, and at infinity, it is infinite.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
#[inline]
pub fn natural_log(x: Real) -> Real {
    if !(x >= Real::MIN_POSITIVE) {
        return if x.is_nan() { x } else { Real::NEG_INFINITY };
    }
    if x == Real::INFINITY {
        return x;
    }
    let (mut m, mut twos) = (x, 0.0);
    while m > 1.5 {
        m *= 0.5;
        twos += 1.0;
    }
    while m < 0.75 {
        m *= 2.0;
        twos -= 1.0;
    }
    // ln m = 2 artanh s, |s| ≤ 1/5
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let odd = [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0];
    let series = odd.into_iter().fold(0.0, |sum: Real, n: Real| (sum + 1.0 / n) * s2);
    2.0 * s * (1.0 + series) + twos * std::f64::consts::LN_2 as Real
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers between −1 and 1.
    fn noise(seed: u32) -> Mat3 {
        let part = |k: u32| ((k * 7919 + seed * 104_729 + 13) % 1999) as Real / 999.5 - 1.0;
        Mat3::from_cols(
            Vec3::new(part(1), part(2), part(3)),
            Vec3::new(part(4), part(5), part(6)),
            Vec3::new(part(7), part(8), part(9)),
        )
    }

    fn hard_cases() -> Vec<Mat3> {
        let mut cases: Vec<Mat3> = (0..200).map(noise).collect();
        let turn = Mat3::from_quat(Quat::from_axis_angle(Vec3::new(1.0, 2.0, -2.0) / 3.0, 3.1));
        for d in [[1.0, 1.0, 1.0], [2.0, 2.0, -1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3], [3.0, 1e-4, -1e-4]] {
            cases.push(turn * Mat3::from_diagonal(Vec3::from_array(d)));
        }
        cases
    }

    #[test]
    fn the_singular_value_decomposition_reproduces_the_matrix_with_proper_rotations() {
        for f in hard_cases() {
            let Svd { u, sigma, v } = Svd::new(&f);
            let back = u * Mat3::from_diagonal(sigma) * v.transpose();
            assert!(back.abs_diff_eq(f, 20.0 * Real::EPSILON * (1.0 + sigma.x)), "{f} {back}");
            for r in [u, v] {
                assert!((r.transpose() * r).abs_diff_eq(Mat3::IDENTITY, 20.0 * Real::EPSILON));
                assert!((r.determinant() - 1.0).abs() < 20.0 * Real::EPSILON);
            }
            let slack = 4.0 * Real::EPSILON * sigma.x;
            assert!(sigma.x + slack >= sigma.y && sigma.y + slack >= sigma.z.abs(), "{sigma}");
        }
    }

    #[test]
    fn the_polar_rotation_gives_a_symmetric_stretch_of_maximum_trace() {
        for f in hard_cases() {
            let r = polar_rotation(&f);
            let s = r.transpose() * f;
            let skew =
                (s.x_axis.y - s.y_axis.x).abs() + (s.x_axis.z - s.z_axis.x).abs() + (s.y_axis.z - s.z_axis.y).abs();
            assert!(skew < 40.0 * Real::EPSILON * 3.0, "{f} {skew}");
            let sigma = Svd::new(&f).sigma;
            assert!((trace(&s) - (sigma.x + sigma.y + sigma.z)).abs() < 40.0 * Real::EPSILON * (1.0 + sigma.x), "{f}");
        }
    }

    #[test]
    fn the_positive_part_drops_negative_eigenvalues_and_keeps_the_others() {
        let q = Quat::from_axis_angle(Vec3::new(2.0, -1.0, 2.0) / 3.0, 0.8);
        let m = Vec3::new(3.0, -1.0, 0.5);
        for (mirror, kept) in [(0.0, Vec3::new(3.0, 0.0, 0.5)), (1.0, m.abs())] {
            let got = positive_part(Sym3::diagonal(m).rotated(q), mirror).to_mat();
            assert!(got.abs_diff_eq(Sym3::diagonal(kept).rotated(q).to_mat(), 20.0 * Real::EPSILON), "{got}");
        }
    }

    #[test]
    fn the_logarithm_inverts_the_exponential() {
        for k in -40..40 {
            let y = k as Real * 0.37;
            assert!((natural_log(y.exp()) - y).abs() < 4.0 * Real::EPSILON * (1.0 + y.abs()), "{y}");
        }
    }
}
