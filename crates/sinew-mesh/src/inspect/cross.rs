//! Pairs of intersecting triangles of a surface.
//!
//! Two triangles intersect when an edge of one passes from one side of the other's plane to the other side within the
//! other triangle, or when they are coplanar and overlap. Signs come from exact predicates (Shewchuk 1997, crate
//! `robust`), so the result does not depend on rounding. Triangles that share an edge can only intersect by folding
//! onto each other, which is not tested. Touching is not an intersection.

use super::clean::weld;
use super::tree::Tree;
use crate::geometry::{Point, bounds, cross, sub};
use crate::mesh::Mesh;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Maximum number of listed pairs.
const MAX_PAIRS: usize = 10_000;
/// Maximum number of search steps per triangle on average before the search is aborted: many triangles at the same
/// position would take quadratic time.
const STEPS_A_TRIANGLE: u64 = 2_000;
/// Cost of a test of two triangles, in steps.
const STEPS_A_TEST: u64 = 20;

/// Intersecting triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossings {
    /// Two triangles each, the lower index first, in ascending order.
    pub pairs: Vec<[u32; 2]>,
    /// False when the search was aborted: there may be more.
    pub complete: bool,
}

/// Finds the pairs of intersecting triangles. Vertices at the same position count as one.
pub fn crossings(vertices: &[Point], triangles: &[[u32; 3]]) -> Crossings {
    let mut mesh = Mesh::from_triangles(vertices.to_vec(), triangles.to_vec());
    weld(&mut mesh, 0.0);
    let boxes: Vec<[Point; 2]> =
        mesh.triangles.iter().map(|&t| bounds(&mesh.triangle(t)).unwrap_or_default()).collect();
    let tree = Tree::new(&boxes);
    let mut found = Crossings { pairs: Vec::new(), complete: true };
    let (mut steps, mut tests) = (0, 0);
    let budget = STEPS_A_TRIANGLE * (triangles.len() as u64 + 1_000);
    for (i, probe) in boxes.iter().enumerate() {
        let from = found.pairs.len();
        tree.meeting(probe, &mut steps, |j| {
            if j as usize > i {
                tests += STEPS_A_TEST;
                if do_cross(&mesh, mesh.triangles[i], mesh.triangles[j as usize]) {
                    found.pairs.push([i as u32, j]);
                }
            }
            found.pairs.len() < MAX_PAIRS && tests < budget
        });
        found.pairs[from..].sort_unstable();
        if steps + tests > budget || found.pairs.len() >= MAX_PAIRS {
            found.complete = false;
            break;
        }
    }
    found
}

fn do_cross(mesh: &Mesh, a: [u32; 3], b: [u32; 3]) -> bool {
    let shared = a.iter().filter(|i| b.contains(i)).count();
    if shared >= 2 || a[0] == a[1] || a[1] == a[2] || a[2] == a[0] || b[0] == b[1] || b[1] == b[2] || b[2] == b[0] {
        return false;
    }
    let pierces = |a: [u32; 3], b: [u32; 3]| {
        // an edge that shares a corner with the other triangle ends in its plane
        let edges = [[a[0], a[1]], [a[1], a[2]], [a[2], a[0]]].into_iter().filter(|e| e.iter().all(|i| !b.contains(i)));
        edges.map(|e| e.map(|i| mesh.vertices[i as usize])).any(|edge| edge_pierces(edge, mesh.triangle(b)))
    };
    if pierces(a, b) || pierces(b, a) {
        return true;
    }
    let [p, q] = [mesh.triangle(a), mesh.triangle(b)];
    q.iter().all(|&v| side(p, v) == 0.0) && overlap_in_plane(p, q)
}

/// Sign of the side of a plane.
fn side([a, b, c]: [Point; 3], p: Point) -> f64 {
    let at = |[x, y, z]: Point| Coord3D { x, y, z };
    let value = orient3d(at(a), at(b), at(c), at(p));
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

fn edge_pierces([p, q]: [Point; 2], triangle: [Point; 3]) -> bool {
    if side(triangle, p) * side(triangle, q) >= 0.0 {
        return false;
    }
    // the line passes all three edges on the same side
    let [a, b, c] = triangle;
    let turns = [side([p, q, a], b), side([p, q, b], c), side([p, q, c], a)];
    turns.iter().all(|&t| t >= 0.0) || turns.iter().all(|&t| t <= 0.0)
}

/// Coplanar triangles: edges that intersect, or a corner inside.
fn overlap_in_plane(p: [Point; 3], q: [Point; 3]) -> bool {
    // project along the axis with the largest component of the normal
    let n = cross(sub(p[1], p[0]), sub(p[2], p[0])).map(f64::abs);
    let axis = (0..3).fold(0, |best, i| if n[i] > n[best] { i } else { best });
    let flat = |v: Point| Coord { x: v[(axis + 1) % 3], y: v[(axis + 2) % 3] };
    let [p, q] = [p.map(flat), q.map(flat)];
    let turn = |a: Coord<f64>, b: Coord<f64>, c: Coord<f64>| {
        let t = orient2d(a, b, c);
        if t > 0.0 { 1 } else { -i32::from(t < 0.0) }
    };
    let edges = |t: [Coord<f64>; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let edges_cross = |[a, b]: [Coord<f64>; 2], [c, d]: [Coord<f64>; 2]| {
        turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0
    };
    let inside =
        |v: Coord<f64>, t: [Coord<f64>; 3]| edges(t).iter().map(|[a, b]| turn(*a, *b, v)).sum::<i32>().abs() == 3;
    edges(p).iter().any(|&e| edges(q).iter().any(|&f| edges_cross(e, f)))
        || p.iter().any(|&v| inside(v, q))
        || q.iter().any(|&v| inside(v, p))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(vertices: &[Point], triangles: &[[u32; 3]]) -> usize {
        crossings(vertices, triangles).pairs.len()
    }

    const FLOOR: [Point; 3] = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]];

    fn with(other: [Point; 3]) -> Vec<Point> {
        FLOOR.into_iter().chain(other).collect()
    }

    #[test]
    fn a_wall_through_a_floor_crosses_and_one_that_stands_on_it_does_not() {
        let wall = |low: f64| with([[0.5, 0.5, low], [0.6, 0.5, 1.0], [0.5, 0.6, 1.0]]);
        let both = [[0, 1, 2], [3, 4, 5]];
        assert_eq!(pairs(&wall(-0.1), &both), 1);
        assert_eq!(pairs(&wall(0.0), &both), 0);
        assert_eq!(pairs(&wall(f64::MIN_POSITIVE), &both), 0);
    }

    #[test]
    fn coplanar_triangles_cross_when_they_overlap() {
        let beside = |x: f64| with([[x, 0.5, 0.0], [x + 0.2, 0.5, 0.0], [x, 0.7, 0.0]]);
        assert_eq!(pairs(&beside(0.3), &[[0, 1, 2], [3, 4, 5]]), 1);
        assert_eq!(pairs(&beside(3.0), &[[0, 1, 2], [3, 4, 5]]), 0);
    }

    #[test]
    fn neighbours_do_not_cross_even_when_their_vertices_are_duplicated() {
        let doubled = with([[0.0; 3], [0.0, 2.0, 0.0], [-2.0, 0.0, 1.0]]);
        assert_eq!(pairs(&doubled, &[[0, 1, 2], [3, 4, 5]]), 0);
        // one shared corner, and the opposite edge passes through the other triangle
        let folded = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.5, 0.5, -1.0], [0.5, 0.6, 1.0]];
        assert_eq!(pairs(&folded, &[[0, 1, 2], [0, 3, 4]]), 1);
    }

    #[test]
    fn the_search_is_aborted_for_many_triangles_at_one_position() {
        let mut vertices = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..3000u32 {
            let t = f64::from(i);
            vertices.extend([[0.0, 0.0, t.sin()], [1.0, t.cos(), 0.0], [t.sin(), 1.0, t.cos()]]);
            triangles.push([3 * i, 3 * i + 1, 3 * i + 2]);
        }
        let found = crossings(&vertices, &triangles);
        assert!(!found.complete && found.pairs.len() <= MAX_PAIRS);
    }
}
