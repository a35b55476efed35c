//! Intersection test of two triangles of a surface.
//!
//! Triangles without a common corner intersect when an edge of one passes through the other (its border included: an
//! edge may hit the common edge of two triangles exactly), or when they are coplanar and overlap. Those with one common
//! corner intersect when the edge opposite to it passes through the other. Neighbours along an edge can only fold flat,
//! which does not cover any part of the interior twice. Sides are decided with a tolerance for rounding; touching
//! without passing through is not an intersection.

use super::tree::Surface;
use super::vector::{Vector, orient};

/// Rounding error of a volume relative to the cube of the size of the triangles.
const FLAT: f64 = 1e-13;
/// Tolerance of coplanar overlap relative to the size of the triangles.
const OVERLAP: f64 = 1e-6;

/// Whether two triangles intersect.
pub(super) fn cross(surface: &Surface, s: usize, t: usize) -> bool {
    let (names_s, names_t) = (surface.triangles[s], surface.triangles[t]);
    let (a, b) = (surface.corners(s), surface.corners(t));
    let shared: Vec<usize> = (0..3).filter(|&i| names_t.contains(&names_s[i])).collect();
    match shared[..] {
        [] => {
            let edges = |c: [Vector; 3]| [[c[0], c[1]], [c[1], c[2]], [c[2], c[0]]];
            edges(a).into_iter().any(|e| pierces(e, b))
                || edges(b).into_iter().any(|e| pierces(e, a))
                || overlap_in_plane(a, b)
        }
        [i] => {
            let j = (0..3).find(|&j| names_t[j] == names_s[i]).unwrap_or(0);
            pierces([a[(i + 1) % 3], a[(i + 2) % 3]], b) || pierces([b[(j + 1) % 3], b[(j + 2) % 3]], a)
        }
        _ => false,
    }
}

fn size(points: &[Vector]) -> f64 {
    points.iter().map(|&p| (p - points[0]).length()).fold(0.0, f64::max)
}

/// Whether an edge passes through a triangle from one side to the other.
fn pierces([p, q]: [Vector; 2], [a, b, c]: [Vector; 3]) -> bool {
    let slack = FLAT * size(&[a, b, c, p, q]).powi(3);
    let (above, below) = (orient(a, b, c, p), orient(a, b, c, q));
    if above.abs() <= slack || below.abs() <= slack || (above > 0.0) == (below > 0.0) {
        return false;
    }
    let turns = [orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a)];
    turns.iter().all(|&t| t >= -slack) || turns.iter().all(|&t| t <= slack)
}

/// Whether two triangles are coplanar and overlap.
fn overlap_in_plane(a: [Vector; 3], b: [Vector; 3]) -> bool {
    let scale = size(&[a[0], a[1], a[2], b[0], b[1], b[2]]);
    let slack = FLAT * scale.powi(3);
    let normal = (a[1] - a[0]).cross(a[2] - a[0]);
    // a degenerate triangle has no plane
    if normal.length() <= OVERLAP * scale * scale || b.iter().any(|&p| normal.dot(p - a[0]).abs() > slack) {
        return false;
    }
    // separating axis test with the normals of the edges
    let spread = |t: [Vector; 3], axis: Vector| {
        let along = t.map(|p| p.dot(axis));
        (along.into_iter().fold(f64::INFINITY, f64::min), along.into_iter().fold(f64::NEG_INFINITY, f64::max))
    };
    [a, b].into_iter().all(|t| {
        (0..3).all(|k| {
            let axis = normal.cross(t[(k + 1) % 3] - t[k]);
            let axis = axis * (1.0 / axis.length().max(f64::MIN_POSITIVE));
            let (low_a, high_a) = spread(a, axis);
            let (low_b, high_b) = spread(b, axis);
            high_a.min(high_b) - low_a.max(low_b) > OVERLAP * scale
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(other: [[f64; 3]; 3]) -> bool {
        let first = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let vertices = first.into_iter().chain(other).map(Vector).collect();
        let surface = Surface { vertices, triangles: vec![[0, 1, 2], [3, 4, 5]] };
        let there = cross(&surface, 0, 1);
        assert_eq!(there, cross(&surface, 1, 0));
        there
    }

    #[test]
    fn an_edge_through_a_face_or_through_its_border_crosses() {
        assert!(pair([[0.2, 0.2, -1.0], [0.2, 0.2, 1.0], [3.0, 3.0, 1.0]]));
        assert!(pair([[0.5, 0.5, -1.0], [0.5, 0.5, 1.0], [3.0, 3.0, 1.0]]));
        assert!(pair([[-1.0, 0.2, -0.1], [2.0, 0.2, -0.1], [0.2, 0.2, 0.5]]));
    }

    #[test]
    fn touching_and_separate_triangles_do_not_cross() {
        assert!(!pair([[0.2, 0.2, 0.0], [0.2, 0.2, 1.0], [3.0, 3.0, 1.0]]));
        assert!(!pair([[0.2, 0.2, 0.1], [0.4, 0.2, 0.1], [0.2, 0.4, 0.1]]));
        assert!(!pair([[2.0, 2.0, -1.0], [2.0, 2.0, 1.0], [3.0, 3.0, 1.0]]));
    }

    #[test]
    fn coplanar_overlap_crosses_and_a_shared_border_does_not() {
        assert!(pair([[0.1, 0.1, 0.0], [2.0, 0.1, 0.0], [0.1, 2.0, 0.0]]));
        assert!(!pair([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]));
        assert!(!pair([[2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [2.0, 1.0, 0.0]]));
    }
}
