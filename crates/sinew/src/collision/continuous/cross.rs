//! Whether surfaces cross: an edge of one goes through a triangle of the other. Independent of distances and depths.

use crate::math::Wide3;

/// True when the segment goes from one side of the triangle's plane to the other through the triangle, its rim included. An end
/// that touches the plane is no crossing.
pub(crate) fn pierces([p, q]: [Wide3; 2], [a, b, c]: [Wide3; 3]) -> bool {
    let volume = |a: Wide3, b: Wide3, c: Wide3, d: Wide3| (b - a).cross(c - a).dot(d - a);
    let (low, high) = (volume(a, b, c, p), volume(a, b, c, q));
    if low * high >= 0.0 {
        return false;
    }
    // the line passes all three sides the same way round
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0)
}
