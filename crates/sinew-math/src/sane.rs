//! Validity tests of positions and rotations, applied to all external input.

use super::{Quat, Real, Vec3};

/// Limit of coordinates: positions beyond this are not resolved in f32, and powers of such numbers exceed its range
/// [m].
pub const FAR: Real = 1e6;

/// Whether this is a valid position of a body.
#[inline]
pub fn is_place(x: Vec3) -> bool {
    x.is_finite() && x.abs().max_element() <= FAR
}

/// Whether this is a rotation, within the rounding error of its length.
#[inline]
pub fn is_turn(q: Quat) -> bool {
    q.is_finite() && (q.length_squared() - 1.0).abs() <= 0.01
}
