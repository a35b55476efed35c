//! Quality of a mesh: dihedral angles, volume, distance between its boundary and the original surface.

use super::stuff::Tets;
use super::tree::{Surface, Tree};
use super::vector::{Vector, orient};
use std::collections::BTreeMap;

/// Faces of a positive tetrahedron, outward; face k is opposite to corner k.
pub(super) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Pairs of faces, one for each edge.
const PAIRS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Cosines and sines of the six dihedral angles; sines are negative in an inverted tetrahedron.
fn dihedrals(p: [Vector; 4]) -> [(f64, f64); 6] {
    let normals = FACES.map(|f| (p[f[1]] - p[f[0]]).cross(p[f[2]] - p[f[0]]));
    let lengths = normals.map(Vector::length);
    let six = orient(p[0], p[1], p[2], p[3]);
    PAIRS.map(|[i, j]| {
        // the edge between faces i and j joins the two other corners
        let mut ends = (0..4).filter(|&k| k != i && k != j);
        let edge = match (ends.next(), ends.next()) {
            (Some(a), Some(b)) => p[b] - p[a],
            _ => Vector::ZERO,
        };
        let areas = (lengths[i] * lengths[j]).max(f64::MIN_POSITIVE);
        // V = 2 A B sin / (3 L): sin = six · L / (4 A B), and the lengths of the normals are twice the areas
        (-normals[i].dot(normals[j]) / areas, six * edge.length() / areas)
    })
}

/// The minimum sine of a dihedral angle: small for angles near 0 and near π, negative for an inverted tetrahedron.
pub(super) fn worst_sine(p: [Vector; 4]) -> f64 {
    dihedrals(p).into_iter().map(|d| d.1).fold(f64::INFINITY, f64::min)
}

/// Minimum and maximum dihedral angle [rad].
pub(super) fn extreme_dihedrals(p: [Vector; 4]) -> (f64, f64) {
    let angles = dihedrals(p).map(|(cos, sin)| sin.atan2(cos));
    (angles.into_iter().fold(f64::INFINITY, f64::min), angles.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

impl Tets {
    pub fn corners(&self, tet: usize) -> [Vector; 4] {
        self.tets[tet].map(|i| self.vertices[i as usize])
    }

    pub fn volume(&self) -> f64 {
        let six = |t| {
            let [a, b, c, d] = self.corners(t);
            orient(a, b, c, d)
        };
        (0..self.tets.len()).map(six).sum::<f64>() / 6.0
    }

    /// Faces of only one tetrahedron, outward.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        let mut faces: Vec<([u32; 3], [u32; 3])> = Vec::with_capacity(4 * self.tets.len());
        for tet in &self.tets {
            for face in FACES {
                let face = face.map(|i| tet[i]);
                let mut key = face;
                key.sort_unstable();
                faces.push((key, face));
            }
        }
        faces.sort_unstable();
        faces.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() == 1).map(|group| group[0].1).collect()
    }
}

/// Topology of the boundary of a mesh.
#[derive(Debug)]
pub(super) struct Shape {
    /// Vertices − edges + triangles.
    pub euler: i64,
    /// Components connected by edges.
    pub pieces: usize,
    /// Edges with more than two triangles.
    pub pinched: usize,
}

/// Counts components, pinched edges and the Euler characteristic of a boundary.
pub(super) fn shape(faces: &[[u32; 3]]) -> Shape {
    let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    let mut parent: BTreeMap<u32, u32> = BTreeMap::new();
    for face in faces {
        for k in 0..3 {
            let (a, b) = (face[k], face[(k + 1) % 3]);
            *edges.entry([a.min(b), a.max(b)]).or_insert(0) += 1;
            parent.entry(a).or_insert(a);
        }
    }
    for &[a, b] in edges.keys() {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent.insert(a.max(b), a.min(b));
    }
    Shape {
        euler: parent.len() as i64 - edges.len() as i64 + faces.len() as i64,
        pieces: parent.iter().filter(|(a, b)| a == b).count(),
        pinched: edges.values().filter(|&&n| n > 2).count(),
    }
}

fn root(parent: &mut BTreeMap<u32, u32>, mut at: u32) -> u32 {
    while let Some(&up) = parent.get(&at).filter(|&&up| up != at) {
        let over = parent.get(&up).copied().unwrap_or(up);
        parent.insert(at, over);
        at = over;
    }
    at
}

/// The maximum distance of `surface` from `tree`, sampled at vertices, midpoints of edges and centres of triangles:
/// distance [m] and position.
pub(super) fn farthest(surface: &Surface, tree: &Tree) -> (f64, Vector) {
    let mut worst = (0.0, Vector::ZERO);
    for t in 0..surface.triangles.len() {
        let [a, b, c] = surface.corners(t);
        let samples = [a, b, c, (a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5, (a + b + c) * (1.0 / 3.0)];
        for p in samples {
            let distance = tree.nearest(p).distance;
            if distance > worst.0 {
                worst = (distance, p);
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_tetrahedron_has_six_equal_angles() {
        let p = [[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]].map(Vector);
        let (low, high) = extreme_dihedrals(p);
        let expected = (1.0_f64 / 3.0).acos();
        assert!((low - expected).abs() < 1e-12 && (high - expected).abs() < 1e-12, "{low} {high}");
        assert!((worst_sine(p) - expected.sin()).abs() < 1e-12);
    }

    #[test]
    fn a_corner_of_a_cube_has_right_angles_and_an_inverted_one_negative_sines() {
        let p = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vector);
        let (low, high) = extreme_dihedrals(p);
        assert!((low - (1.0 / 3.0_f64.sqrt()).acos()).abs() < 1e-12);
        assert!((high - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
        assert!(worst_sine([p[1], p[0], p[2], p[3]]) < 0.0);
    }
}
