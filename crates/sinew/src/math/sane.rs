//! What can be a place and what a turn: asked at every door through which numbers come.

use super::{Quat, Real, Vec3};

/// Positions beyond this cannot be resolved by f32, and squares of such numbers leave its range soon [m].
pub const FAR: Real = 1e6;

/// Whether a body can be there.
pub fn is_place(x: Vec3) -> bool {
    x.is_finite() && x.abs().max_element() <= FAR
}

/// Whether this is a rotation, up to what rounding does to its length.
pub fn is_turn(q: Quat) -> bool {
    q.is_finite() && (q.length_squared() - 1.0).abs() <= 0.01
}
