//! Test whether surfaces cross: an edge of one passes through a triangle of the other. Independent of distances and
//! depths.

use crate::math::Wide3;

/// Rounding error of a signed volume, relative to the sum of the magnitudes of its products: (7 + 56 ε) ε with ε = 2⁻⁵³
/// (Shewchuk 1997, the static filter of his orientation test).
const ROUNDING: f64 = 7.772e-16;

/// True when the segment passes from one side of the triangle's plane to the other through the triangle, boundary
/// included. An end that lies in the plane, within rounding, is no crossing: in a flat face all edges lie in the planes
/// of their neighbours.
pub(crate) fn pierces([p, q]: [Wide3; 2], [a, b, c]: [Wide3; 3]) -> bool {
    let (low, high) = (volume(a, b, c, p), volume(a, b, c, q));
    if low * high >= 0.0 {
        return false;
    }
    // the line passes all three sides with the same orientation
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0)
}

/// Six times the volume of a tetrahedron; zero where its sign is uncertain because of rounding.
fn volume(a: Wide3, b: Wide3, c: Wide3, d: Wide3) -> f64 {
    let (u, v, w) = (b - a, c - a, d - a);
    let value = u.cross(v).dot(w);
    let sizes = |p: f64, q: f64, r: f64, s: f64| (p * q).abs() + (r * s).abs();
    let most = sizes(u.y, v.z, u.z, v.y) * w.x.abs()
        + sizes(u.z, v.x, u.x, v.z) * w.y.abs()
        + sizes(u.x, v.y, u.y, v.x) * w.z.abs();
    if value.abs() > ROUNDING * most { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a flat face, rounded, no edge goes through a triangle; slightly off the plane it does.
    #[test]
    fn a_segment_in_the_plane_of_a_triangle_does_not_pierce_it() {
        // a plane whose points are not exactly representable in f64
        let (e, f) = (Wide3::new(0.1, 0.7, 0.3).normalize(), Wide3::new(0.9, -0.2, 0.17).normalize());
        let at = |u: f64, v: f64| Wide3::splat(1.0 / 3.0) + e * u + f * v;
        let triangle = [at(0.0, 0.0), at(0.1, 0.0), at(0.0, 0.1)];
        for i in 0..40 {
            for j in 0..40 {
                let p = at(0.017 * f64::from(i) - 0.3, 0.013 * f64::from(j) - 0.25);
                assert!(!pierces([p, at(0.11, 0.07)], triangle), "{i} {j}");
            }
        }
        let up = e.cross(f).normalize() * 1e-12;
        assert!(pierces([at(0.03, 0.03) - up, at(0.031, 0.03) + up], triangle));
        assert!(!pierces([at(0.2, 0.03) - up, at(0.21, 0.03) + up], triangle));
    }
}
