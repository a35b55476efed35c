//! Poses, symmetric 3x3 tensors and the update of a rotation.

use super::{Mat3, Quat, Real, Vec3};

/// A rigid placement: first rotate, then translate.
///
/// ```
/// # use sinew_math::*;
/// let shelf = Pose::new(Vec3::Y, Quat::from_rotation_y(std::f64::consts::FRAC_PI_2 as Real));
/// assert!((shelf.point(Vec3::X) - Vec3::new(0.0, 1.0, -1.0)).length() < 1e-6);
/// assert!((shelf.inverse().point(shelf.point(Vec3::Z)) - Vec3::Z).length() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Translation [m].
    pub position: Vec3,
    /// Rotation, unit quaternion.
    pub rotation: Quat,
}

impl Pose {
    /// No translation, no rotation.
    pub const IDENTITY: Self = Self { position: Vec3::ZERO, rotation: Quat::IDENTITY };

    /// From a translation [m] and a rotation.
    #[inline]
    pub fn new(position: Vec3, rotation: Quat) -> Self {
        Self { position, rotation }
    }

    /// A pure translation [m].
    #[inline]
    pub fn at(position: Vec3) -> Self {
        Self { position, rotation: Quat::IDENTITY }
    }

    /// A local point in the world [m].
    #[inline]
    pub fn point(&self, local: Vec3) -> Vec3 {
        self.rotation * local + self.position
    }

    /// A world point in local coordinates [m].
    #[inline]
    pub fn unpoint(&self, world: Vec3) -> Vec3 {
        self.rotation.inverse() * (world - self.position)
    }

    /// `self` after `inner`: the composition that applies `inner` first.
    #[inline]
    pub fn then_inner(&self, inner: &Pose) -> Pose {
        Pose { position: self.point(inner.position), rotation: self.rotation * inner.rotation }
    }

    /// The inverse placement.
    #[inline]
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.inverse();
        Pose { position: rotation * -self.position, rotation }
    }

    /// `other` in the frame of `self`.
    #[inline]
    pub fn relative(&self, other: &Pose) -> Pose {
        let back = self.rotation.inverse();
        Pose { position: back * (other.position - self.position), rotation: back * other.rotation }
    }

    /// True when all numbers are finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite()
    }
}

/// A symmetric 3x3 tensor by its six components; used for inverse inertia.
///
/// ```
/// # use sinew_math::*;
/// let inertia = Sym3::diagonal(Vec3::new(1.0, 2.0, 4.0));
/// assert_eq!(inertia.mul(Vec3::ONE), Vec3::new(1.0, 2.0, 4.0));
/// assert_eq!(inertia.inverse().map(|i| i.zz), Some(0.25));
/// assert!(Sym3::ZERO.inverse().is_none());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names are the matrix entries")]
pub struct Sym3 {
    pub xx: Real,
    pub yy: Real,
    pub zz: Real,
    pub xy: Real,
    pub xz: Real,
    pub yz: Real,
}

impl Sym3 {
    /// The zero tensor: the inverse inertia of a body that cannot rotate.
    pub const ZERO: Self = Self { xx: 0.0, yy: 0.0, zz: 0.0, xy: 0.0, xz: 0.0, yz: 0.0 };

    /// The tensor times a number.
    #[inline]
    pub fn scaled(self, by: Real) -> Self {
        let Self { xx, yy, zz, xy, xz, yz } = self;
        Self { xx: xx * by, yy: yy * by, zz: zz * by, xy: xy * by, xz: xz * by, yz: yz * by }
    }

    /// A diagonal tensor.
    #[inline]
    pub fn diagonal(d: Vec3) -> Self {
        Self { xx: d.x, yy: d.y, zz: d.z, ..Self::ZERO }
    }

    /// The symmetric part of a matrix.
    #[inline]
    pub fn from_mat(m: &Mat3) -> Self {
        Self {
            xx: m.x_axis.x,
            yy: m.y_axis.y,
            zz: m.z_axis.z,
            xy: 0.5 * (m.x_axis.y + m.y_axis.x),
            xz: 0.5 * (m.x_axis.z + m.z_axis.x),
            yz: 0.5 * (m.y_axis.z + m.z_axis.y),
        }
    }

    /// As a full matrix.
    #[inline]
    pub fn to_mat(self) -> Mat3 {
        Mat3::from_cols(
            Vec3::new(self.xx, self.xy, self.xz),
            Vec3::new(self.xy, self.yy, self.yz),
            Vec3::new(self.xz, self.yz, self.zz),
        )
    }

    /// Tensor times vector.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "a tensor is not multiplied by tensors here")]
    pub fn mul(self, v: Vec3) -> Vec3 {
        Vec3::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// R T Rᵀ: the tensor of a rotated body.
    #[inline]
    pub fn rotated(self, q: Quat) -> Self {
        let r = Mat3::from_quat(q);
        Self::from_mat(&(r * self.to_mat() * r.transpose()))
    }

    /// The inverse, or none when the tensor is singular or not positive.
    #[inline]
    pub fn inverse(self) -> Option<Self> {
        let m = self.to_mat();
        let det = m.determinant();
        let scale = self.xx.max(self.yy).max(self.zz);
        if !(det > 0.0) || !(scale > 0.0) || det <= 1e-18 * scale * scale * scale {
            return None;
        }
        Some(Self::from_mat(&m.inverse()))
    }

    /// Largest difference between the three diagonal entries and off-diagonals, relative to the largest: 0 for a ball.
    #[inline]
    pub fn anisotropy(self) -> Real {
        let top = self.xx.max(self.yy).max(self.zz);
        let low = self.xx.min(self.yy).min(self.zz);
        let off = self.xy.abs().max(self.xz.abs()).max(self.yz.abs());
        if top > 0.0 { ((top - low).max(off)) / top } else { 0.0 }
    }

    /// The six components xx, yy, zz, xy, xz, yz.
    #[inline]
    pub fn to_array(self) -> [Real; 6] {
        [self.xx, self.yy, self.zz, self.xy, self.xz, self.yz]
    }
}

/// a bᵀ.
#[inline]
pub fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The matrix of `r ×`.
#[inline]
pub fn cross_matrix(r: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, r.z, -r.y), Vec3::new(-r.z, 0.0, r.x), Vec3::new(r.y, -r.x, 0.0))
}

/// A unit vector at right angles to the unit vector `n`, continuous away from one pole (Duff et al. 2017 frame).
#[inline]
pub fn any_orthonormal(n: Vec3) -> Vec3 {
    let sign: Real = if n.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x)
}

/// Rotates `q` by the rotation vector `angle` [rad] given in world axes: q' = exp(angle/2) q.
///
/// The exponential is computed by a series so that no platform sine is called; the argument is the rotation of a
/// substep, far below 1 rad, and the result is normalised.
#[inline]
pub fn integrate_rotation(q: Quat, angle: Vec3) -> Quat {
    let half = 0.5 * angle;
    let (sinc, cos) = sinc_cos(half.length_squared());
    let v = half * sinc;
    (Quat::from_xyzw(v.x, v.y, v.z, cos) * q).normalize()
}

/// sin(s)/s and cos(s) from s²: enough terms that the error is below f32 rounding for s < 1.
#[inline]
fn sinc_cos(s2: Real) -> (Real, Real) {
    // the inner brackets are then 1 to the last bit: this avoids eight divisions for bodies nearly at rest
    if s2 < 3.0 * Real::EPSILON {
        return (1.0 - s2 / 6.0, 1.0 - s2 / 2.0);
    }
    (
        1.0 - s2 / 6.0 * (1.0 - s2 / 20.0 * (1.0 - s2 / 42.0 * (1.0 - s2 / 72.0 * (1.0 - s2 / 110.0)))),
        1.0 - s2 / 2.0 * (1.0 - s2 / 12.0 * (1.0 - s2 / 30.0 * (1.0 - s2 / 56.0 * (1.0 - s2 / 90.0)))),
    )
}

/// Motion of a point at `arm` that a rotation by `turn` adds to `turn × arm`: (R − 1) arm − turn × arm, without
/// cancellation for small angles. Beyond 3 rad it is that of 3 rad: the series ends there.
#[inline]
pub fn beyond_tangent(turn: Vec3, arm: Vec3) -> Vec3 {
    const MOST: Real = 3.0;
    let whole = turn.length_squared();
    let turn = if whole > MOST * MOST { turn * (MOST / whole.sqrt()) } else { turn };
    let s2 = whole.min(MOST * MOST);
    // sin θ/θ − 1 and (1 − cos θ)/θ²
    let sine = -s2 / 6.0 * (1.0 - s2 / 20.0 * (1.0 - s2 / 42.0 * (1.0 - s2 / 72.0 * (1.0 - s2 / 110.0))));
    let cosine = 0.5 - s2 / 24.0 * (1.0 - s2 / 30.0 * (1.0 - s2 / 56.0 * (1.0 - s2 / 90.0)));
    let across = turn.cross(arm);
    across * sine + turn.cross(across) * cosine
}

/// Change of the angular velocity by the last iteration of the midpoint rule, as a fraction of it, from which a substep does
/// not resolve the rotation of a slim body.
const UNCONVERGED: f64 = 0.01;

/// Torque-free rotation of a body for a time `h`; returns its new orientation and angular velocity.
///
/// The angular momentum L = I(q)ω is conserved to rounding in world axes. The rotation uses the angular velocity at
/// mid-step, ω_m = I(q_m)⁻¹L with q_m = exp(½h ω_m) q (implicit midpoint rule on the rotation group, fixed-point
/// iterations), which is symmetric in time: the energy oscillates by O(h²ω²) without growth or decay. ICD eq. 39 drops
/// the term; an explicit one gains energy, an implicit Euler one loses it.
///
/// Computed in f64 whatever `Real` is: f32 rounding has a bias here that takes a percent of L within 20,000 substeps.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
#[inline]
pub fn turn_free(q: Quat, w: Vec3, inertia: Sym3, h: Real) -> (Quat, Vec3) {
    use glam::{DMat3, DQuat, DVec3};
    let wide = |t: Sym3| {
        let [xx, yy, zz, xy, xz, yz] = t.to_array().map(|v| v as f64);
        DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
    };
    let (inertia, h) = (wide(inertia), h as f64);
    // not the stored inverse: the two differ by rounding, and L → ω → L every substep would drift by it
    let inv = inertia.inverse();
    let [x, y, z, s] = q.to_array().map(|v| v as f64);
    let start = DQuat::from_xyzw(x, y, z, s).normalize();
    let spin = DVec3::from_array(w.to_array().map(|v| v as f64));
    let momentum = start * (inertia * (start.inverse() * spin));
    let at = |q: DQuat| q * (inv * (q.inverse() * momentum));
    // exp of a substep's rotation by its series
    let rotation = |w: DVec3, h: f64| {
        let half = w * (0.5 * h);
        let s2 = half.length_squared();
        let sinc = 1.0 - s2 / 6.0 * (1.0 - s2 / 20.0 * (1.0 - s2 / 42.0 * (1.0 - s2 / 72.0)));
        let cos = 1.0 - s2 / 2.0 * (1.0 - s2 / 12.0 * (1.0 - s2 / 30.0 * (1.0 - s2 / 56.0)));
        DQuat::from_xyzw(half.x * sinc, half.y * sinc, half.z * sinc, cos)
    };
    let turned = |w: DVec3, h: f64| (rotation(w, h) * start).normalize();
    let (mut w_mid, mut last) = (spin, spin);
    for _ in 0..3 {
        (last, w_mid) = (w_mid, at(turned(w_mid, 0.5 * h)));
    }
    let converged = (w_mid - last).length_squared() <= UNCONVERGED * UNCONVERGED * spin.length_squared();
    let (end, spin) = if converged {
        let end = turned(w_mid, h);
        (end, at(end))
    } else {
        // a slim body: an error of its axis by ε adds ε L/I_axis to ω. As a symmetric top about that axis, which has a
        // closed solution: it precesses about L with L/I_across and turns on itself
        let axis = (0..8).fold(inv * DVec3::ONE, |axis, _| (inv * axis).normalize_or_zero());
        let along = axis.dot(inertia * axis);
        let across = 0.5 * (inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z - along);
        let own = axis.dot(start.inverse() * spin) * (1.0 - along / across);
        let precession = momentum / across;
        let turn = rotation(precession, h).normalize();
        let (end, after) = ((turn * start * rotation(axis * own, h)).normalize(), turn * spin);
        let energy = |q: DQuat, w: DVec3| (q.inverse() * w).dot(inertia * (q.inverse() * w));
        // without symmetry across the axis the energy is kept, and the momentum nearly
        (end, after * (energy(start, spin) / energy(end, after)).sqrt())
    };
    (Quat::from_array(end.to_array().map(|v| v as Real)), Vec3::from_array(spin.to_array().map(|v| v as Real)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_series_matches_the_exponential() {
        for angle in [1e-4, 0.01, 0.3, 1.0] {
            let axis = Vec3::new(1.0, -2.0, 0.5).normalize();
            let got = integrate_rotation(Quat::IDENTITY, axis * angle);
            let want = Quat::from_axis_angle(axis, angle);
            assert!(got.dot(want) > 1.0 - 4.0 * Real::EPSILON, "{angle}: {got} {want}");
        }
    }

    #[test]
    fn motion_beyond_the_tangent_is_that_of_the_rotation() {
        let arm = Vec3::new(0.3, 0.1, -0.2);
        // the next terms of the series: θ¹²/12! of the arm
        for (angle, most) in [(1e-3, 4e-6), (0.1, 4e-6), (1.0, 4e-6), (2.5, 1e-4)] {
            let turn = Vec3::new(1.0, -2.0, 0.5).normalize() * angle;
            let want = Quat::from_axis_angle(turn / angle, angle) * arm - arm - turn.cross(arm);
            assert!((beyond_tangent(turn, arm) - want).length() < most, "{angle}");
        }
    }

    #[test]
    fn torque_free_rotation_conserves_angular_momentum_and_energy() {
        let inertia = Sym3::diagonal(Vec3::new(1.0, 2.0, 3.0));
        let (mut q, mut w) = (Quat::IDENTITY, Vec3::new(0.1, 5.0, 0.2));
        let l0 = inertia.mul(w);
        let e0 = 0.5 * w.dot(inertia.mul(w));
        let mut worst: Real = 0.0;
        for _ in 0..20_000 {
            (q, w) = turn_free(q, w, inertia, 1e-3);
            let l = q * inertia.mul(q.inverse() * w);
            let e = 0.5 * w.dot(l);
            worst = worst.max((e / e0 - 1.0).abs()).max((l - l0).length() / l0.length());
        }
        // q and ω are rounded to `Real` each time: a random walk of 20,000 rounding errors
        assert!(worst < 5e-4, "{worst}");
    }

    #[test]
    fn slim_bodies_keep_energy_and_momentum() {
        // a needle 0.12 m long and 1 mm thick, and one of 1 x 3 mm: 1/240 s does not resolve their rotation
        for (thin, wide, most) in [(1e-3, 1e-3, 1e-3), (1e-3, 3e-3, 0.05)] {
            let squares = Vec3::new(thin * thin, 0.12 * 0.12, wide * wide);
            let inertia = Sym3::diagonal((Vec3::splat(squares.element_sum()) - squares) * (0.05 / 12.0));
            let (mut q, mut w) = (Quat::IDENTITY, Vec3::new(15.0, 90.0, -8.0));
            let l0 = inertia.mul(w);
            let e0 = 0.5 * w.dot(inertia.mul(w));
            for _ in 0..240 {
                (q, w) = turn_free(q, w, inertia, 1.0 / 240.0);
                let l = q * inertia.mul(q.inverse() * w);
                let e = 0.5 * w.dot(l);
                assert!((e / e0 - 1.0).abs() < 1e-3, "{thin} {wide}: {e} J of {e0}");
                assert!((l - l0).length() < most * l0.length(), "{thin} {wide}: {l} of {l0}");
            }
        }
    }

    #[test]
    fn sym3_inverse_and_rotation() {
        let t = Sym3::diagonal(Vec3::new(1.0, 2.0, 3.0)).rotated(Quat::from_rotation_x(0.3));
        let id = t.inverse().unwrap().to_mat() * t.to_mat();
        assert!((id - Mat3::IDENTITY).abs_diff_eq(Mat3::ZERO, 1e-5));
        assert!(Sym3::diagonal(Vec3::new(1.0, 0.0, 1.0)).inverse().is_none());
    }

    #[test]
    fn orthonormal_frame() {
        for n in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::Z, Vec3::new(0.3, -0.5, -0.8).normalize()] {
            let t = any_orthonormal(n);
            assert!(t.dot(n).abs() < 1e-6 && (t.length() - 1.0).abs() < 1e-6);
        }
    }
}
