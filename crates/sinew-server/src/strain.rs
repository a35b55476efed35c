//! Strain of a body, for colouring: the norm |E| of the Green strain E = ½ (FᵀF − 1), which is invariant under rigid
//! motion.
//!
//! F maps the rest edges of an element to its present edges. Of a segment only the stretch counts, E = ½ (l²/L² − 1);
//! of a triangle the in-plane part. A node has the mean of its elements. It is computed from the shape alone, so it
//! works for every model; it is not the elastic strain of a model whose rest shape changes (plastic flow).

use sinew::{Geometry, Mat3, Real, Vec3};

/// The elements of a body with their rest shapes.
#[derive(Debug, Default)]
pub struct Elements {
    tets: Vec<([u32; 4], Mat3)>,
    /// Corners, and the inverse of the upper triangular matrix of the two rest edges in their plane: a, b, d of [a b; 0 d].
    triangles: Vec<([u32; 3], [Real; 3])>,
    segments: Vec<([u32; 2], Real)>,
    /// 1 / number of elements of each node.
    share: Vec<Real>,
}

impl Elements {
    /// The elements of a rest shape.
    pub fn new(geometry: &Geometry) -> Self {
        let mut out = Self::default();
        match geometry {
            Geometry::Tets(mesh) => {
                out.tets = mesh.tets.iter().map(|&t| (t, edges(t, &mesh.vertices).inverse())).collect();
                out.count(mesh.vertices.len());
            }
            Geometry::Sheet(mesh) => {
                out.triangles = mesh.triangles.iter().filter_map(|&t| Some((t, flat(t, &mesh.vertices)?))).collect();
                out.count(mesh.vertices.len());
            }
            Geometry::Rope(points) => {
                let lengths = points.windows(2).enumerate();
                out.segments =
                    lengths.map(|(i, p)| ([i as u32, i as u32 + 1], 1.0 / p[0].distance_squared(p[1]))).collect();
                out.count(points.len());
            }
            Geometry::Points(_) => {}
        }
        out
    }

    /// True when there are no elements.
    pub fn is_empty(&self) -> bool {
        self.tets.is_empty() && self.triangles.is_empty() && self.segments.is_empty()
    }

    fn count(&mut self, nodes: usize) {
        let mut count = vec![0.0; nodes];
        self.each(|node| count[node as usize] += 1.0);
        self.share = count.into_iter().map(|n: Real| 1.0 / n.max(1.0)).collect();
    }

    fn each(&self, mut look: impl FnMut(u32)) {
        self.tets.iter().flat_map(|(t, _)| t).for_each(|&n| look(n));
        self.triangles.iter().flat_map(|(t, _)| t).for_each(|&n| look(n));
        self.segments.iter().flat_map(|(t, _)| t).for_each(|&n| look(n));
    }

    /// |E| of each node when the nodes are at `x` [m]; nodes without elements have 0.
    pub fn sizes(&self, x: &[Vec3]) -> Vec<Real> {
        let mut out = vec![0.0; x.len()];
        let mut add = |nodes: &[u32], size: Real| {
            for &n in nodes {
                out[n as usize] += size * self.share[n as usize];
            }
        };
        for (nodes, inverse) in &self.tets {
            let f = edges(*nodes, x) * *inverse;
            let e = (f.transpose() * f - Mat3::IDENTITY) * 0.5;
            let columns = e.to_cols_array();
            add(nodes, columns.iter().map(|c| c * c).sum::<Real>().sqrt());
        }
        for (nodes, [a, b, d]) in &self.triangles {
            let [p, q, r] = nodes.map(|n| x[n as usize]);
            let first = (q - p) * *a;
            let second = (q - p) * *b + (r - p) * *d;
            let e = [first.length_squared() - 1.0, first.dot(second), second.length_squared() - 1.0].map(|c| 0.5 * c);
            add(nodes, (e[0] * e[0] + 2.0 * e[1] * e[1] + e[2] * e[2]).sqrt());
        }
        for (nodes, inverse) in &self.segments {
            let [p, q] = nodes.map(|n| x[n as usize]);
            add(nodes, (0.5 * (p.distance_squared(q) * inverse - 1.0)).abs());
        }
        out
    }
}

/// The three edges from the first corner, as columns.
fn edges(nodes: [u32; 4], x: &[Vec3]) -> Mat3 {
    let [a, b, c, d] = nodes.map(|n| x[n as usize]);
    Mat3::from_cols(b - a, c - a, d - a)
}

/// Inverse of the rest edges in the plane of the triangle; none for a triangle without area.
fn flat(nodes: [u32; 3], x: &[Vec3]) -> Option<[Real; 3]> {
    let [p, q, r] = nodes.map(|n| x[n as usize]);
    let along = (q - p).try_normalize()?;
    let (length, side) = ((q - p).length(), r - p);
    let height = (side - along * side.dot(along)).length();
    (height > 0.0).then(|| [1.0 / length, -side.dot(along) / (length * height), 1.0 / height])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::{Quat, TetMesh, TriMesh};

    fn turned(x: &[Vec3], stretch: Vec3) -> Vec<Vec3> {
        let turn = Quat::from_rotation_y(1.0) * Quat::from_rotation_x(0.4);
        x.iter().map(|&p| turn * (p * stretch) + Vec3::new(3.0, -2.0, 1.0)).collect()
    }

    #[test]
    fn a_rigid_motion_is_no_strain_and_a_stretch_is_the_strain_of_its_gradient() {
        let block = TetMesh::block([2, 2, 2], Vec3::ONE).expect("a block");
        let sheet =
            TriMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::new(0.3, 0.0, 0.7)], triangles: vec![[0, 1, 2]] };
        let rope = vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0];
        // F = diag(1.2, 1, 1): |E| = ½ (1.44 − 1)
        let wanted = 0.22;
        for (rest, geometry) in [
            (block.vertices.clone(), Geometry::Tets(block)),
            (sheet.vertices.clone(), Geometry::Sheet(sheet)),
            (rope.clone(), Geometry::Rope(rope)),
        ] {
            let elements = Elements::new(&geometry);
            assert!(elements.sizes(&turned(&rest, Vec3::ONE)).iter().all(|e| e.abs() < 1e-5));
            let sizes = elements.sizes(&turned(&rest, Vec3::new(1.2, 1.0, 1.0)));
            assert!(sizes.iter().all(|e| (e - wanted).abs() < 1e-5), "{sizes:?}");
        }
    }
}
