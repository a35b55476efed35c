//! Second neighbours of a sheet: pairs of edges that continue straight through a node.
//!
//! One sweep per substep propagates tension by one edge, so that a cloth that is stopped at one point stretches by the
//! impact speed over the number of edges per second (cloth study, section 2). Constraints between second neighbours
//! propagate it twice as far and remove most of that stretch. They are tension-only: a sheet that folds between its
//! nodes has no force in them.

use crate::math::{Real, Vec3};
use crate::model::tri_mesh::TriMesh;

/// Minimum cosine between two edges that count as straight: 30 degrees. With a larger angle the constraint would force
/// the node onto the line.
const STRAIGHT: Real = 0.866;

/// A pair of second neighbours with its rest length.
pub(crate) struct SkipConstraint {
    pub nodes: [u32; 2],
    /// [m]
    pub rest: Real,
}

/// At every node the two shortest pairs of straight edges without a common edge: along and across the grain.
pub(crate) fn skip_constraints(mesh: &TriMesh) -> Vec<SkipConstraint> {
    let count = mesh.vertices.len();
    let mut starts = vec![0u32; count + 1];
    let edges = mesh.edges();
    edges.iter().flatten().for_each(|&n| starts[n as usize + 1] += 1);
    for n in 0..count {
        starts[n + 1] += starts[n];
    }
    let mut ends = starts.clone();
    let mut others = vec![0u32; 2 * edges.len()];
    for &[a, b] in &edges {
        for (n, other) in [(a, b), (b, a)] {
            others[ends[n as usize] as usize] = other;
            ends[n as usize] += 1;
        }
    }
    let mut out = Vec::new();
    for n in 0..count {
        let near = &others[starts[n] as usize..starts[n + 1] as usize];
        straight_pairs(&mesh.vertices, n, near, &mut out);
    }
    // two middle nodes may have the same end nodes
    out.sort_by_key(|b: &SkipConstraint| b.nodes);
    out.dedup_by_key(|b| b.nodes);
    // no second constraint where the end nodes have an edge of their own
    out.retain(|b| edges.binary_search(&b.nodes).is_err());
    out
}

fn straight_pairs(places: &[Vec3], middle: usize, near: &[u32], out: &mut Vec<SkipConstraint>) {
    let arm = |n: u32| places[n as usize] - places[middle];
    let mut pairs: Vec<(Real, u32, u32)> = Vec::new();
    for (k, &a) in near.iter().enumerate() {
        for &b in &near[..k] {
            let (to_a, to_b) = (arm(a), arm(b));
            let (la, lb) = (to_a.length(), to_b.length());
            if -to_a.dot(to_b) > STRAIGHT * la * lb {
                pairs.push((la + lb, a.min(b), a.max(b)));
            }
        }
    }
    pairs.sort_by(|p, q| p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2))));
    let mut taken: Vec<u32> = Vec::new();
    for (_, a, b) in pairs {
        if taken.len() < 4 && !taken.contains(&a) && !taken.contains(&b) {
            taken.extend([a, b]);
            let rest = places[a as usize].distance(places[b as usize]);
            out.push(SkipConstraint { nodes: [a, b], rest });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_skip_constraints_along_its_rows_and_columns() {
        let mut mesh = TriMesh::default();
        for i in 0..5u32 {
            for j in 0..5 {
                mesh.vertices.push(Vec3::new(i as Real, 0.0, j as Real));
            }
        }
        for i in 0..4 {
            for j in 0..4 {
                let a = 5 * i + j;
                mesh.triangles.extend([[a, a + 1, a + 6], [a, a + 6, a + 5]]);
            }
        }
        let skip_constraints = skip_constraints(&mesh);
        // three in each row and column of five, and the two diagonals through the boundary nodes that have no row
        let straight = skip_constraints.iter().filter(|b| (b.rest - 2.0).abs() < 1e-6).count();
        assert_eq!(straight, 2 * 5 * 3);
        assert!(skip_constraints.iter().all(|b| b.rest < 3.0));
    }
}
