//! The rotation nearest to a matrix, eigenvectors of small symmetric matrices, and roots and angles without the
//! platform's math library: the same bits on every machine.
//!
//! The rotation R nearest to A has the largest tr(RᵀA). With R written in a unit quaternion q = (w, x, y, z) this is
//! qᵀ K q with a symmetric 4x4 matrix K that is linear in A (Davenport's q-method, Horn 1987): q is the eigenvector of
//! the largest eigenvalue. Three properties follow. R is proper for any A: where det A < 0 the direction of the
//! smallest singular value is flipped. No quantity is squared, so that f32 keeps its digits for rank-deficient A. And
//! it is a function of A alone, without an initial guess: a rotation stored from the previous step would be a hidden
//! part of the state.

use super::{Mat3, Quat, Real, Sym3, Vec3, integrate_rotation};

/// Sweeps of Jacobi's method. It converges quadratically: five are enough for 4x4, seven for 9x9.
const SWEEPS: usize = 12;
/// Iterations of Newton's method from a guess before the fallback to the eigenvector.
const ROUNDS: usize = 4;
/// Largest rotation increment [rad] of such an iteration: beyond it Newton's method may diverge.
const LONGEST: Real = 0.7;

/// The rotation nearest to `a`: the largest tr(RᵀA), proper for every finite matrix.
///
/// A planar `a` (rank 2) has a unique solution. For rank 1 the rotation about the line is undetermined, for the zero
/// matrix the entire rotation: then one of the maximisers is returned, always the same; for zero the identity. Error:
/// rounding times σ₁/(σ₂ + σ₃).
#[inline]
pub fn nearest_rotation(a: &Mat3) -> Quat {
    let [c0, c1, c2] = [a.x_axis, a.y_axis, a.z_axis];
    let top = c0.abs().max(c1.abs()).max(c2.abs()).max_element();
    if !(top > 0.0) || !a.is_finite() {
        return Quat::IDENTITY;
    }
    // scaled so that small inertias do not underflow
    let [c0, c1, c2] = [c0 / top, c1 / top, c2 / top];
    let (wx, wy, wz) = (c1.z - c2.y, c2.x - c0.z, c0.y - c1.x);
    let (xy, xz, yz) = (c1.x + c0.y, c2.x + c0.z, c2.y + c1.z);
    let mut k = [
        [c0.x + c1.y + c2.z, wx, wy, wz],
        [wx, c0.x - c1.y - c2.z, xy, xz],
        [wy, xy, c1.y - c0.x - c2.z, yz],
        [wz, xz, yz, c2.z - c0.x - c1.y],
    ];
    let vectors = eigenvectors(&mut k);
    // the first of equal eigenvalues, so that a matrix without a preferred rotation gives the identity
    let best = (1..4).fold(0, |best, i| if k[i][i] > k[best][best] { i } else { best });
    let [w, x, y, z] = vectors[best];
    Quat::from_xyzw(x, y, z, w).normalize()
}

/// As [`nearest_rotation`], from a guess that is likely near, at a fraction of its cost.
///
/// Newton's method on R ← exp(ω) R, ω = H⁻¹ Σ r_k × a_k with H = tr S 1 − sym S, S = A Rᵀ. Where it converges with a
/// positive definite H it is at the unique maximum; where it does not converge in a few iterations the eigenvector is
/// used.
#[inline]
pub fn nearest_rotation_from(a: &Mat3, guess: Quat) -> Quat {
    let mut q = guess;
    for _ in 0..ROUNDS {
        let r = Mat3::from_quat(q);
        let axial = r.x_axis.cross(a.x_axis) + r.y_axis.cross(a.y_axis) + r.z_axis.cross(a.z_axis);
        let s = *a * r.transpose();
        let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
        let h = Sym3::from_mat(&(Mat3::from_diagonal(Vec3::splat(trace)) - s));
        let positive = h.xx > 0.0 && h.xx * h.yy - h.xy * h.xy > 0.0;
        let Some(inverse) = h.inverse().filter(|_| positive) else { break };
        let turn = inverse.mul(axial);
        if !(turn.length_squared() < LONGEST * LONGEST) {
            break;
        }
        q = integrate_rotation(q, turn);
        // quadratic convergence: the next increment would be the square of this one
        if turn.length_squared() < Real::EPSILON {
            return q;
        }
    }
    nearest_rotation(a)
}

/// Jacobi's method: `a` becomes diagonal (the eigenvalues), and row i of the result is the unit eigenvector of
/// `a[i][i]`.
fn eigenvectors<const N: usize>(a: &mut [[Real; N]; N]) -> [[Real; N]; N] {
    let mut vectors = [[0.0; N]; N];
    for (i, row) in vectors.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    let size: Real = a.iter().flatten().map(|v| v * v).sum();
    for _ in 0..SWEEPS {
        let off: Real = (0..N).flat_map(|p| a[p][p + 1..].iter()).map(|v| v * v).sum();
        if off <= size * Real::EPSILON * Real::EPSILON {
            break;
        }
        for p in 0..N {
            for q in p + 1..N {
                turn_pair(a, &mut vectors, p, q);
            }
        }
    }
    vectors
}

/// One plane rotation that makes `a[p][q]` zero; the smaller of the two angles that do.
fn turn_pair<const N: usize>(a: &mut [[Real; N]; N], vectors: &mut [[Real; N]; N], p: usize, q: usize) {
    let apq = a[p][q];
    if apq == 0.0 {
        return;
    }
    let half = (a[q][q] - a[p][p]) / (2.0 * apq);
    let sign: Real = if half < 0.0 { -1.0 } else { 1.0 };
    let t = sign / (half.abs() + (1.0 + half * half).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    for i in 0..N {
        let (aip, aiq) = (a[i][p], a[i][q]);
        a[i][p] = c * aip - s * aiq;
        a[i][q] = s * aip + c * aiq;
    }
    for i in 0..N {
        let (api, aqi) = (a[p][i], a[q][i]);
        a[p][i] = c * api - s * aqi;
        a[q][i] = s * api + c * aqi;
        let (vp, vq) = (vectors[p][i], vectors[q][i]);
        vectors[p][i] = c * vp - s * vq;
        vectors[q][i] = s * vp + c * vq;
    }
    a[p][q] = 0.0;
    a[q][p] = 0.0;
}

/// The inverse of a symmetric matrix without negative eigenvalues, with eigenvalues below `cut` times the largest
/// treated as zero: only the directions spanned by a planar cloud of points are inverted.
pub fn pseudo_inverse<const N: usize>(mut a: [[Real; N]; N], cut: Real) -> [[Real; N]; N] {
    let vectors = eigenvectors(&mut a);
    let top = (0..N).map(|i| a[i][i]).fold(0.0, Real::max);
    let mut inverse = [[0.0; N]; N];
    for (k, v) in vectors.iter().enumerate() {
        if a[k][k] > cut * top {
            for i in 0..N {
                for j in 0..N {
                    inverse[i][j] += v[i] * v[j] / a[k][k];
                }
            }
        }
    }
    inverse
}

/// The n-th root of a number that is not negative, by Newton's method from above.
#[inline]
pub fn root(value: Real, n: u32) -> Real {
    if !(value > 0.0) || n == 0 {
        return 0.0;
    }
    let degree = n as Real;
    // never below the root (Bernoulli); from above every iterate decreases, until rounding stops it
    let mut y = 1.0 + (value - 1.0) / degree;
    for _ in 0..400 {
        let below = (1..n).fold(1.0, |power, _| power * y);
        let next = y - (y - value / below) / degree;
        if !(next < y) {
            break;
        }
        y = next;
    }
    y
}

const COUNT: usize = if Real::EPSILON > 1e-10 { 5 } else { 12 };
/// 1, 1/3, 1/5 …: for t < 0.2 the first omitted term is below rounding.
const TERMS: [Real; COUNT] = {
    let mut terms = [0.0; COUNT];
    let mut k = 0;
    while k < terms.len() {
        terms[k] = 1.0 / (2 * k + 1) as Real;
        k += 1;
    }
    terms
};

/// The angle of the point (x, y) [rad], from −π to π: `atan2`. At most two halvings of the angle, then its
/// series.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
#[inline]
pub fn angle_of(y: Real, x: Real) -> Real {
    const PI: Real = std::f64::consts::PI as Real;
    let (low, high) = (x.abs().min(y.abs()), x.abs().max(y.abs()));
    if !(high > 0.0) {
        return 0.0;
    }
    let (mut t, mut times) = (low / high, 1.0);
    while t > 0.2 {
        t /= 1.0 + (1.0 + t * t).sqrt();
        times *= 2.0;
    }
    let t2 = t * t;
    let series = TERMS.iter().rev().fold(0.0, |sum, term| term - t2 * sum);
    let mut angle = times * t * series;
    if y.abs() > x.abs() {
        angle = 0.5 * PI - angle;
    }
    if x < 0.0 {
        angle = PI - angle;
    }
    if y < 0.0 { -angle } else { angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Real = 20.0 * Real::EPSILON;

    fn turns() -> [Quat; 4] {
        let axis = Vec3::new(1.0, -2.0, 0.5).normalize();
        [0.0, 0.7, 2.0, 3.1].map(|angle| Quat::from_axis_angle(axis, angle))
    }

    fn distance(a: &Mat3, b: &Mat3) -> Real {
        let d = *a - *b;
        (d.x_axis.length_squared() + d.y_axis.length_squared() + d.z_axis.length_squared()).sqrt()
    }

    fn stretch(along: Vec3) -> Mat3 {
        let frame = Mat3::from_quat(Quat::from_axis_angle(Vec3::new(0.3, 1.0, 2.0).normalize(), 1.1));
        frame * Mat3::from_diagonal(along) * frame.transpose()
    }

    #[test]
    fn the_rotation_of_a_rotated_stretch_is_recovered_at_every_scale() {
        for q in turns() {
            for scale in [1e-15, 1.0, 1e12] {
                let r = Mat3::from_quat(q);
                let a = r * stretch(Vec3::new(3.0, 1.0, 0.2)) * scale;
                assert!(distance(&Mat3::from_quat(nearest_rotation(&a)), &r) < FEW, "{q} {scale}");
            }
        }
    }

    #[test]
    fn near_and_far_guesses_converge_to_the_same_rotation() {
        for q in turns() {
            for along in [Vec3::new(3.0, 1.0, 0.2), Vec3::new(3.0, 2.0, -0.5), Vec3::new(2.0, 1.0, 0.0)] {
                let a = Mat3::from_quat(q) * stretch(along);
                let best = Mat3::from_quat(nearest_rotation(&a));
                for off in [0.0, 0.01, 0.4, 3.0] {
                    let guess = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), off) * q;
                    let found = Mat3::from_quat(nearest_rotation_from(&a, guess));
                    assert!(distance(&found, &best) < 2.0 * FEW, "{q} {along} {off}");
                }
            }
        }
    }

    #[test]
    fn a_planar_cloud_has_a_unique_rotation() {
        for q in turns() {
            let r = Mat3::from_quat(q);
            let a = r * stretch(Vec3::new(2.0, 1.0, 0.0));
            assert!(distance(&Mat3::from_quat(nearest_rotation(&a)), &r) < FEW, "{q}");
        }
    }

    #[test]
    fn an_inverted_matrix_gets_the_proper_rotation_that_flips_the_smallest_direction() {
        for q in turns() {
            let r = Mat3::from_quat(q);
            // tr(RᵀA) = σ₁ + σ₂ − σ₃ is the maximum over proper rotations
            let a = r * stretch(Vec3::new(3.0, 2.0, -0.5));
            let found = Mat3::from_quat(nearest_rotation(&a));
            assert!(distance(&found, &r) < FEW, "{found}");
            assert!((found.determinant() - 1.0).abs() < FEW);
        }
    }

    #[test]
    fn rank_deficient_and_reflected_matrices_have_an_optimal_proper_rotation() {
        let line = Mat3::from_cols(Vec3::new(0.0, 2.0, 0.0), Vec3::ZERO, Vec3::ZERO);
        let found = Mat3::from_quat(nearest_rotation(&line));
        assert!((found.x_axis - Vec3::Y).length() < FEW && (found.determinant() - 1.0).abs() < FEW);
        // the point reflection −1: rotations have tr R = −1 … 3, the maximum of tr(RᵀA) is σ₁ + σ₂ − σ₃ = 1
        let found = Mat3::from_quat(nearest_rotation(&-Mat3::IDENTITY));
        let trace = found.x_axis.x + found.y_axis.y + found.z_axis.z;
        assert!((trace + 1.0).abs() < FEW && (found.determinant() - 1.0).abs() < FEW);
        assert_eq!(nearest_rotation(&Mat3::ZERO), Quat::IDENTITY);
        assert_eq!(nearest_rotation(&Mat3::from_diagonal(Vec3::splat(Real::NAN))), Quat::IDENTITY);
    }

    #[test]
    fn no_other_rotation_is_nearer() {
        let a = Mat3::from_cols(Vec3::new(1.0, 0.3, -0.2), Vec3::new(0.1, -0.7, 0.4), Vec3::new(-0.6, 0.2, 0.9));
        let best = nearest_rotation(&a);
        let gain = |q: Quat| {
            let r = Mat3::from_quat(q);
            r.x_axis.dot(a.x_axis) + r.y_axis.dot(a.y_axis) + r.z_axis.dot(a.z_axis)
        };
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            for angle in [-2.0, -0.1, 0.1, 1.0, 3.0] {
                assert!(gain(Quat::from_axis_angle(axis, angle) * best) < gain(best));
            }
        }
    }

    #[test]
    fn eigenvectors_diagonalise_a_matrix_and_the_pseudo_inverse_ignores_its_null_space() {
        let m = stretch(Vec3::new(5.0, 2.0, 0.0));
        let rows = [m.x_axis, m.y_axis, m.z_axis].map(|c| c.to_array());
        let inverse = pseudo_inverse(rows, 1e-4);
        let inverse = Mat3::from_cols(inverse[0].into(), inverse[1].into(), inverse[2].into());
        assert!(distance(&inverse, &stretch(Vec3::new(0.2, 0.5, 0.0))) < FEW);
        let mut diagonal = rows;
        let vectors = eigenvectors(&mut diagonal);
        for k in 0..3 {
            let v = Vec3::from(vectors[k]);
            assert!((m * v - v * diagonal[k][k]).length() < 5.0 * FEW);
        }
    }

    #[test]
    fn angles_and_roots_agree_with_the_platform() {
        for k in -40..=40 {
            let angle = k as Real * 0.0785;
            let (y, x) = (3.0 * angle.sin(), 3.0 * angle.cos());
            assert!((angle_of(y, x) - angle).abs() < FEW, "{angle}");
        }
        assert_eq!(angle_of(0.0, 0.0), 0.0);
        for value in [1e-6, 0.1, 0.999, 1.0, 8.0, 1e6] as [Real; 6] {
            for n in 1..9 {
                let want = value.powf(1.0 / n as Real);
                assert!((root(value, n) / want - 1.0).abs() < FEW, "{value} {n}");
            }
        }
        assert_eq!(root(0.0, 3), 0.0);
    }
}
