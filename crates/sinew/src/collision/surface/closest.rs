//! Closest points of points, segments and triangles, as weights of their corners.

use crate::math::{Real, Vec3};

/// Below this fraction of the edges' lengths two segments count as parallel.
const PARALLEL: Real = 1e-6;

/// Square of the distance from a triangle, as a fraction of its doubled area, below which a point of its plane is in it.
const ON_IT: Real = 1e-10;

/// The point of a triangle with these weights of its corners.
pub(crate) fn blend(corners: [Vec3; 3], w: [Real; 3]) -> Vec3 {
    corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2]
}

/// Vector from the point at parameter s of the first segment to the point at parameter t of the second.
pub(crate) fn way_between([a, b]: [Vec3; 2], [c, d]: [Vec3; 2], [s, t]: [Real; 2]) -> Vec3 {
    c + (d - c) * t - a - (b - a) * s
}

/// Weights of a triangle's corners at its point nearest to p.
///
/// p is projected onto the plane; where a weight is negative, the nearest point lies on an edge, and the nearest of the
/// edges' points is taken. A triangle without area has only edges.
pub(crate) fn point_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> [Real; 3] {
    let (e, f, d) = (b - a, c - a, p - a);
    let (ee, ef, ff) = (e.dot(e), e.dot(f), f.dot(f));
    let (de, df) = (d.dot(e), d.dot(f));
    let area = ee * ff - ef * ef;
    if area > PARALLEL * ee * ff {
        let (v, w) = ((ff * de - ef * df) / area, (ee * df - ef * de) / area);
        if v >= 0.0 && w >= 0.0 && v + w <= 1.0 {
            return [1.0 - v - w, v, w];
        }
    }
    let mut best = ([1.0, 0.0, 0.0], Real::INFINITY);
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let corners = [a, b, c];
        let t = point_segment(p, [corners[i], corners[j]]);
        let away = (corners[i] + (corners[j] - corners[i]) * t - p).length_squared();
        if away < best.1 {
            let mut weights = [0.0; 3];
            (weights[i], weights[j]) = (1.0 - t, t);
            best = (weights, away);
        }
    }
    best.0
}

/// Parameter along a segment of its point nearest to p.
pub(crate) fn point_segment(p: Vec3, [a, b]: [Vec3; 2]) -> Real {
    let e = b - a;
    let length = e.length_squared();
    if length > 0.0 { ((p - a).dot(e) / length).clamp(0.0, 1.0) } else { 0.0 }
}

/// Parameters along two segments of their nearest points. For parallel segments: one of the nearest pairs.
pub(crate) fn segment_segment([a, b]: [Vec3; 2], [c, d]: [Vec3; 2]) -> [Real; 2] {
    let (e, f, r) = (b - a, d - c, a - c);
    let (ee, ef, ff) = (e.dot(e), e.dot(f), f.dot(f));
    let area = ee * ff - ef * ef;
    let s = if area > PARALLEL * ee * ff {
        ((ef * f.dot(r) - ff * e.dot(r)) / area).clamp(0.0, 1.0)
    } else {
        point_segment((c + d) * 0.5, [a, b])
    };
    // nearest point on the second for this s, then nearest point on the first to that
    let t = point_segment(a + e * s, [c, d]);
    [point_segment(c + f * t, [a, b]), t]
}

/// Parameter along a segment, and weights of a triangle's corners, at their nearest points; where the segment crosses
/// the triangle, the crossing.
pub(crate) fn segment_triangle([p, q]: [Vec3; 2], corners: [Vec3; 3]) -> (Real, [Real; 3]) {
    let [a, b, c] = corners;
    let n = (b - a).cross(c - a);
    let (high, low) = (n.dot(p - a), n.dot(q - a));
    let at = |t: Real| p + (q - p) * t;
    if high * low < 0.0 {
        let t = high / (high - low);
        let w = point_triangle(at(t), corners);
        // the crossing is in the plane: its distance from the triangle is rounding, or the way to an edge
        let rest = (blend(corners, w) - at(t)).length_squared();
        if rest <= ON_IT * n.length() {
            return (t, w);
        }
    }
    let apart = |(t, w): &(Real, [Real; 3])| (blend(corners, *w) - at(*t)).length_squared();
    let mut best = (0.0, point_triangle(p, corners));
    let mut least = apart(&best);
    let mut look = |found: (Real, [Real; 3])| {
        let far = apart(&found);
        if far < least {
            (best, least) = (found, far);
        }
    };
    look((1.0, point_triangle(q, corners)));
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let [s, t] = segment_segment([p, q], [corners[i], corners[j]]);
        let mut w = [0.0; 3];
        (w[i], w[j]) = (1.0 - t, t);
        look((s, w));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Draws;

    /// No sampled pair of points of a segment and a triangle is nearer than the one found.
    #[test]
    fn no_sampled_point_of_a_segment_is_nearer_to_a_triangle() {
        let mut draws = Draws(11);
        let mut crossings = 0;
        for _ in 0..200 {
            let [p, q, a, b, c] = std::array::from_fn(|_| draws.vec());
            let (t, w) = segment_triangle([p, q], [a, b, c]);
            let found = (blend([a, b, c], w) - p - (q - p) * t).length();
            crossings += u32::from(found < 1e-6);
            for i in 0..=20 {
                let x = p + (q - p) * (i as Real / 20.0);
                let near = (blend([a, b, c], point_triangle(x, [a, b, c])) - x).length();
                assert!(near >= found - 1e-5, "{near} < {found}");
            }
        }
        assert!(crossings > 5, "{crossings}");
    }

    /// No sampled point of the two is nearer than the one found.
    #[test]
    fn no_sampled_point_is_nearer() {
        let mut draws = Draws(7);
        for _ in 0..200 {
            let [p, a, b, c, d] = std::array::from_fn(|_| draws.vec());
            let w = point_triangle(p, [a, b, c]);
            assert!((w.iter().sum::<Real>() - 1.0).abs() < 1e-5 && w.iter().all(|w| *w >= 0.0), "{w:?}");
            let found = (blend([a, b, c], w) - p).length();
            let apart = way_between([a, b], [c, d], segment_segment([a, b], [c, d])).length();
            for i in 0..=20 {
                for j in 0..=20 {
                    let (u, v) = (i as Real / 20.0, j as Real / 20.0);
                    let pair = way_between([a, b], [c, d], [u, v]).length();
                    assert!(pair >= apart - 1e-5);
                    if u + v <= 1.0 {
                        assert!((a + (b - a) * u + (c - a) * v - p).length() >= found - 1e-5);
                    }
                }
            }
        }
    }

    #[test]
    fn degenerate_features_still_have_a_nearest_point() {
        let a = Vec3::X;
        assert_eq!(point_triangle(Vec3::ZERO, [a; 3]), [1.0, 0.0, 0.0]);
        assert_eq!(segment_segment([a; 2], [Vec3::Y; 2]), [0.0, 0.0]);
        // parallel, side by side
        let [s, t] = segment_segment([Vec3::ZERO, Vec3::X], [Vec3::Y, Vec3::Y + Vec3::X]);
        assert!((s - t).abs() < 1e-6);
        // collinear, separated
        assert_eq!(segment_segment([Vec3::ZERO, Vec3::X], [Vec3::X * 2.0, Vec3::X * 3.0]), [1.0, 0.0]);
    }
}
