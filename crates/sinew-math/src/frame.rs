//! Poses, motions and wrenches in f64 in every build: a tick of a force loop adds forces of a newton to steps of an encoder
//! of 1e-5 m, and energies of a microjoule decide about damping.
//!
//! Rotations are computed without the sine of the platform, so that results have the same bits everywhere.
use crate::{Wide3, WideQuat};

/// Position and orientation.
///
/// ```
/// use sinew_math::{Frame, Wide3};
/// let (start, motion) = (Frame::at(Wide3::X), Motion { linear: Wide3::Y, angular: Wide3::Z * 0.3 });
/// # use sinew_math::Motion;
/// let end = start.moved(&motion);
/// let back = end.error_from(&start);
/// assert!((back.linear - motion.linear).length() < 1e-15 && (back.angular - motion.angular).length() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Origin [m].
    pub position: Wide3,
    /// Orientation, a unit quaternion.
    pub rotation: WideQuat,
}

/// A displacement [m, rad] or a velocity [m/s, rad/s], in world axes. The angular part of a displacement is a rotation
/// vector.
///
/// An example is at [`Frame`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Of the origin [m or m/s].
    pub linear: Wide3,
    /// Rotation vector or angular velocity [rad or rad/s].
    pub angular: Wide3,
}

/// A force and a torque, in world axes.
///
/// ```
/// use sinew_math::{Wide3, Wrench};
/// // 1 N across an arm of 0.1 m
/// let tip = Wrench::of_force_at(Wide3::Y, Wide3::X * 0.1);
/// assert_eq!(tip.torque, Wide3::Z * 0.1);
/// assert_eq!(tip.limited(0.5, 1.0).force, Wide3::Y * 0.5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force [N].
    pub force: Wide3,
    /// Torque about the origin of the frame it belongs to [N·m].
    pub torque: Wide3,
}

impl Default for Frame {
    fn default() -> Self {
        Self { position: Wide3::ZERO, rotation: WideQuat::IDENTITY }
    }
}

impl Frame {
    /// A position, without rotation.
    pub fn at(position: Wide3) -> Self {
        Self { position, ..Self::default() }
    }

    /// World position of a point given in the frame [m].
    #[inline]
    pub fn point(&self, local: Wide3) -> Wide3 {
        self.position + self.rotation * local
    }

    /// A world position in the frame [m].
    #[inline]
    pub fn unpoint(&self, world: Wide3) -> Wide3 {
        self.rotation.conjugate() * (world - self.position)
    }

    /// The frame after a displacement in world axes.
    pub fn moved(&self, by: &Motion) -> Self {
        let rotation =
            if by.angular == Wide3::ZERO { self.rotation } else { (turn(by.angular) * self.rotation).normalize() };
        Self { position: self.position + by.linear, rotation }
    }

    /// The displacement that moves `start` to this frame: a difference and the rotation vector log(q q_start⁻¹), of at
    /// most half a turn.
    pub fn error_from(&self, start: &Self) -> Motion {
        Motion {
            linear: self.position - start.position,
            angular: rotation_vector(self.rotation * start.rotation.conjugate()),
        }
    }

    /// True when all numbers are finite and the quaternion has unit length within 1 %.
    pub fn is_valid(&self) -> bool {
        self.position.is_finite() && self.rotation.is_finite() && (self.rotation.length_squared() - 1.0).abs() < 0.02
    }
}

impl Motion {
    /// No motion.
    pub const ZERO: Self = Self { linear: Wide3::ZERO, angular: Wide3::ZERO };

    /// Scaled by a number.
    pub fn scaled(&self, by: f64) -> Self {
        Self { linear: self.linear * by, angular: self.angular * by }
    }

    /// |linear|² + L² |angular|²: the square that weighs rotation by a length L [m].
    pub fn square(&self, length: f64) -> f64 {
        self.linear.length_squared() + length * length * self.angular.length_squared()
    }
}

impl Wrench {
    /// No force.
    pub const ZERO: Self = Self { force: Wide3::ZERO, torque: Wide3::ZERO };

    /// A force on a point `arm` away from the origin.
    pub fn of_force_at(force: Wide3, arm: Wide3) -> Self {
        Self { force, torque: arm.cross(force) }
    }

    /// Work along a displacement [J], or power of a velocity [W].
    #[inline]
    pub fn dot(&self, motion: &Motion) -> f64 {
        self.force.dot(motion.linear) + self.torque.dot(motion.angular)
    }

    /// Both parts added.
    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self { force: self.force + other.force, torque: self.torque + other.torque }
    }

    /// Scaled by a number.
    pub fn scaled(&self, by: f64) -> Self {
        Self { force: self.force * by, torque: self.torque * by }
    }

    /// Shortened to at most these magnitudes [N, N·m]; directions stay.
    pub fn limited(&self, force: f64, torque: f64) -> Self {
        Self { force: shortened(self.force, force), torque: shortened(self.torque, torque) }
    }

    /// True when all numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.force.is_finite() && self.torque.is_finite()
    }
}

/// A vector shortened to at most a length.
#[inline]
pub fn shortened(v: Wide3, most: f64) -> Wide3 {
    let square = v.length_squared();
    if square > most * most { v * (most / square.sqrt()) } else { v }
}

/// The rotation exp(v) of a rotation vector: the series of half an angle below 1/4, then squared.
pub fn turn(v: Wide3) -> WideQuat {
    let mut half = v * 0.5;
    let mut squarings = 0;
    while half.length_squared() > 0.0625 && squarings < 64 {
        half *= 0.5;
        squarings += 1;
    }
    // sin a/a and cos a to a^12: below the last bit for a < 1/4
    let s = half.length_squared();
    let sine = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0))));
    let cosine = 1.0 - s / 2.0 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0))));
    let axis = half * sine;
    let mut q = WideQuat::from_xyzw(axis.x, axis.y, axis.z, cosine).normalize();
    for _ in 0..squarings {
        q = q * q;
    }
    q
}

/// The rotation vector log(q), of at most half a turn: four halvings of the angle, then the series of the arc sine.
pub fn rotation_vector(q: WideQuat) -> Wide3 {
    let mut q = if q.w < 0.0 { -q } else { q };
    // an angle of at most π/2 between q and 1 becomes at most π/32
    for _ in 0..4 {
        q.w += 1.0;
        q = q.normalize();
    }
    let v = Wide3::new(q.x, q.y, q.z);
    let s = v.length_squared();
    // asin(a)/a, coefficients 1, 1/6, 3/40, 15/336, 105/3456, 945/42240, 10395/599040
    let arc = 1.0
        + s * (1.0 / 6.0
            + s * (3.0 / 40.0
                + s * (15.0 / 336.0 + s * (105.0 / 3456.0 + s * (945.0 / 42240.0 + s * (10395.0 / 599_040.0))))));
    v * (32.0 * arc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_exponential_are_inverse_and_agree_with_the_platform() {
        for k in 1..60 {
            let angle = 0.05 * f64::from(k);
            let axis = Wide3::new(1.0, -2.0, 0.5).normalize();
            let q = turn(axis * angle);
            assert!((q.w - (angle / 2.0).cos()).abs() < 1e-15, "{angle}");
            assert!((rotation_vector(q) - axis * angle).length() < 1e-14, "{angle}");
        }
        assert_eq!(rotation_vector(WideQuat::IDENTITY), Wide3::ZERO);
    }

    #[test]
    fn a_turn_of_more_than_half_comes_back_the_short_way() {
        let v = rotation_vector(turn(Wide3::Z * 4.0));
        assert!((v.z - (4.0 - std::f64::consts::TAU)).abs() < 1e-13);
    }
}
