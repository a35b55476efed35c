//! Tetrahedral meshes: vertices, tetrahedra, and the primitive block.
//!
//! A tetrahedron (a, b, c, d) is positive when (b − a) × (c − a) · (d − a) > 0; its volume is a sixth of that.

use crate::math::{Real, Vec3};
use sinew_spec::{ANY, FINITE, record};

/// Vertices and tetrahedra.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 3, 2], Vec3::new(0.2, 0.3, 0.2))?;
/// assert!((block.volume() - 0.012).abs() < 1e-6);
/// // a user-defined mesh is checked when a body is created from it
/// let flat = TetMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y], tets: vec![[0, 1, 2, 3]] };
/// assert!(flat.check().is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Vertices [m].
    pub vertices: Vec<Vec3>,
    /// Four vertices each, positive orientation.
    pub tets: Vec<[u32; 4]>,
}

/// Reason why a tetrahedral mesh was rejected.
///
/// An example is at [`TetMesh`](crate::TetMesh).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TetMeshError {
    /// No tetrahedron to simulate.
    #[error("the mesh has no tetrahedra")]
    Empty,
    /// A block needs a cell along every axis and a positive finite size.
    #[error("block of {cells:?} cells, {size:?} m: every axis needs at least one cell and a positive finite size")]
    BadBlock {
        /// Requested cells.
        cells: [u32; 3],
        /// Requested size [m].
        size: [Real; 3],
    },
    /// A tetrahedron refers to a vertex that does not exist.
    #[error("tetrahedron {tet}: vertex {vertex} does not exist (the mesh has {count})")]
    NoVertex {
        /// The tetrahedron.
        tet: usize,
        /// Missing vertex.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A tetrahedron is inverted, flat or not finite.
    #[error("tetrahedron {tet}: volume {volume:e} m³ is not positive; run 'sinew mesh repair'")]
    NotPositive {
        /// The tetrahedron.
        tet: usize,
        /// Its volume [m³].
        volume: Real,
    },
}

/// Seen from outside, the face opposite to each corner of a positive tetrahedron.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The six permutations of the axes. A path along a cube's edges in such an order from its lowest to its highest corner
/// passes the four corners of one tetrahedron (Kuhn's split); the tetrahedron is positive when the permutation is even.
const WALKS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([0, 2, 1], false),
    ([2, 1, 0], false),
    ([1, 0, 2], false),
];

impl TetMesh {
    /// A block of `cells` cells, `size` long [m], centred on the origin; six tetrahedra per cell (Kuhn's split, so that
    /// the faces of neighbouring cells match).
    pub fn block(cells: [u32; 3], size: Vec3) -> Result<Self, TetMeshError> {
        if cells.contains(&0) || !size.is_finite() || size.min_element() <= 0.0 {
            return Err(TetMeshError::BadBlock { cells, size: size.to_array() });
        }
        let [nx, ny, nz] = cells;
        let index = |c: [u32; 3]| c[0] + (nx + 1) * (c[1] + (ny + 1) * c[2]);
        let mut mesh = Self::default();

        // vertices, x fastest
        for k in 0..=nz {
            for j in 0..=ny {
                for i in 0..=nx {
                    let part = Vec3::new(i as Real / nx as Real, j as Real / ny as Real, k as Real / nz as Real);
                    mesh.vertices.push((part - Vec3::splat(0.5)) * size);
                }
            }
        }

        // six paths per cell
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    for (walk, even) in WALKS {
                        let mut corner = [i, j, k];
                        let mut tet = [index(corner); 4];
                        for (step, axis) in walk.into_iter().enumerate() {
                            corner[axis] += 1;
                            tet[step + 1] = index(corner);
                        }
                        if !even {
                            tet.swap(1, 2);
                        }
                        mesh.tets.push(tet);
                    }
                }
            }
        }
        Ok(mesh)
    }

    /// Signed volume of one tetrahedron [m³].
    pub fn tet_volume(&self, tet: usize) -> Real {
        let [a, b, c, d] = self.tets[tet].map(|i| self.vertices[i as usize]);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    /// Volume of all tetrahedra [m³].
    pub fn volume(&self) -> Real {
        (0..self.tets.len()).map(|t| self.tet_volume(t)).sum()
    }

    /// The faces behind which there is no tetrahedron, with outward orientation, in the order of their tetrahedra.
    pub fn boundary_faces(&self) -> Vec<[u32; 3]> {
        self.boundary_sides().into_iter().map(|side| self.side(side)).collect()
    }

    /// The corners of a side: four times its tetrahedron, plus the corner opposite to it. Outward.
    pub(crate) fn side(&self, side: u32) -> [u32; 3] {
        FACES[side as usize % 4].map(|i| self.tets[side as usize / 4][i])
    }

    /// The sides behind which there is no tetrahedron, ascending. Of copies of one tetrahedron that share a side, all in
    /// front of it, the first has it.
    pub(crate) fn boundary_sides(&self) -> Vec<u32> {
        // sorted corners, the side, and whether its corners turn the other way round
        let mut faces: Vec<([u32; 3], u32, bool)> = Vec::with_capacity(4 * self.tets.len());
        for (t, tet) in self.tets.iter().enumerate() {
            for (k, face) in FACES.iter().enumerate() {
                let [a, b, c] = face.map(|i| tet[i]);
                let mut key = [a, b, c];
                key.sort_unstable();
                faces.push((key, (4 * t + k) as u32, (a < b) ^ (b < c) ^ (c < a)));
            }
        }
        faces.sort_unstable();
        let outer = faces.chunk_by(|a, b| a.0 == b.0).filter(|group| group.iter().all(|face| face.2 == group[0].2));
        let mut sides: Vec<u32> = outer.map(|group| group[0].1).collect();
        sides.sort_unstable();
        sides
    }

    /// Rejects an empty mesh, a missing vertex and a tetrahedron without positive volume, and names the element.
    pub fn check(&self) -> Result<(), TetMeshError> {
        if self.tets.is_empty() {
            return Err(TetMeshError::Empty);
        }
        let count = self.vertices.len();
        for (tet, corners) in self.tets.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&i| i as usize >= count) {
                return Err(TetMeshError::NoVertex { tet, vertex, count });
            }
            let volume = self.tet_volume(tet);
            if !(volume > 0.0 && volume.is_finite()) {
                return Err(TetMeshError::NotPositive { tet, volume });
            }
        }
        Ok(())
    }
}

record!(TetMesh, "tetrahedra", "A mesh of tetrahedra.", TetMesh { vertices: Vec::new(), tets: Vec::new() }, {
    vertices [required]: FINITE, "Vertices [m].";
    tets [required]: ANY, "Four vertices each, positive orientation.";
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_volume_and_only_positive_tetrahedra() {
        let mesh = TetMesh::block([2, 3, 4], Vec3::new(0.2, 0.3, 0.4)).unwrap();
        assert_eq!(mesh.vertices.len(), 3 * 4 * 5);
        assert_eq!(mesh.tets.len(), 6 * 24);
        mesh.check().unwrap();
        assert!((mesh.volume() - 0.024).abs() < 1e-6);
    }

    #[test]
    fn inner_faces_are_shared_by_two_tetrahedra() {
        let mesh = TetMesh::block([2, 2, 2], Vec3::ONE).unwrap();
        let mut faces = std::collections::BTreeMap::new();
        for t in &mesh.tets {
            for skip in 0..4 {
                let mut face: Vec<u32> = (0..4).filter(|&i| i != skip).map(|i| t[i]).collect();
                face.sort_unstable();
                *faces.entry(face).or_insert(0) += 1;
            }
        }
        // the boundary is closed, outward, and encloses the volume
        let outside =
            super::super::tri_mesh::TriMesh { vertices: mesh.vertices.clone(), triangles: mesh.boundary_faces() };
        assert!((outside.volume() - 1.0).abs() < 1e-5);
        // 6 sides of 4 squares, two triangles each, are on the outside
        assert_eq!(faces.values().filter(|&&n| n == 1).count(), 48);
        assert!(faces.values().all(|&n| n <= 2));
    }

    #[test]
    fn invalid_meshes_are_rejected_with_a_named_cause() {
        assert!(matches!(TetMesh::block([0, 1, 1], Vec3::ONE), Err(TetMeshError::BadBlock { .. })));
        let mut mesh = TetMesh::block([1, 1, 1], Vec3::ONE).unwrap();
        mesh.tets[3].swap(0, 1);
        assert!(matches!(mesh.check(), Err(TetMeshError::NotPositive { tet: 3, .. })));
        mesh.tets[2][1] = 99;
        assert!(matches!(mesh.check(), Err(TetMeshError::NoVertex { tet: 2, vertex: 99, count: 8 })));
    }
}
