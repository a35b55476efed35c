//! The type that all formats are read into and written from.

use serde::Serialize;
use sinew::{Real, TetMesh, TriMesh, Vec3};
use std::collections::BTreeMap;

/// Faces of a positive tetrahedron, counter-clockwise seen from outside; face k is opposite to corner k.
pub(crate) const TET_FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Vertices, triangles and tetrahedra of a file. Readers ensure that indices are in range and coordinates finite.
///
/// ```
/// use sinew_mesh::{Encoding, Format, Mesh, read_bytes, write_bytes};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mesh = Mesh::from_tets(vertices, vec![[0, 1, 2, 3]]);
/// assert_eq!(mesh.to_surface().triangles.len(), 4);
/// // through any format and back
/// let bytes = write_bytes(&mesh, Format::Vtk, Encoding::Text)?;
/// assert_eq!(read_bytes(&bytes, Format::Vtk, "corner.vtk")?.tets, mesh.tets);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices, in the units of the file; Sinew takes them as metres [m].
    pub vertices: Vec<[f64; 3]>,
    /// Three vertices each; counter-clockwise seen from outside in a valid mesh.
    pub triangles: Vec<[u32; 3]>,
    /// Four vertices each; positive when (b − a) × (c − a) · (d − a) > 0.
    pub tets: Vec<[u32; 4]>,
    /// Other content of the file.
    pub notes: Notes,
}

/// What reading a file changed or left out.
///
/// ```
/// use sinew_mesh::{Format, read_bytes};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // a square: read as two triangles, which is noted
/// let file = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
/// let mesh = read_bytes(file.as_bytes(), Format::Obj, "square.obj")?;
/// assert_eq!((mesh.triangles.len(), mesh.notes.polygons), (2, 1));
/// assert_eq!(mesh.notes.lines().len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Notes {
    /// Elements of higher order that were reduced to their corners.
    pub quadratic: u64,
    /// Faces with more than three corners that were split into triangle fans.
    pub polygons: u64,
    /// Elements that are neither triangles nor tetrahedra, by kind.
    pub left_out: BTreeMap<String, u64>,
    /// Elements whose id an earlier element had.
    pub repeated_ids: u64,
    /// The first id that is used more than once.
    pub repeated_id: Option<i64>,
}

impl Notes {
    /// The notes as text, one per line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.quadratic > 0 {
            lines.push(format!("{} elements of higher order reduced to their corners", self.quadratic));
        }
        if self.polygons > 0 {
            lines.push(format!("{} polygons split into triangles", self.polygons));
        }
        for (kind, count) in &self.left_out {
            lines.push(format!("{count} elements left out: {kind}"));
        }
        if let Some(id) = self.repeated_id {
            lines.push(format!("{} elements repeat the id of an earlier one, first id {id}", self.repeated_ids));
        }
        lines
    }
}

impl Mesh {
    /// A mesh of vertices and triangles.
    pub fn from_triangles(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Self {
        Self { vertices, triangles, ..Self::default() }
    }

    /// A mesh of vertices and tetrahedra.
    pub fn from_tets(vertices: Vec<[f64; 3]>, tets: Vec<[u32; 4]>) -> Self {
        Self { vertices, tets, ..Self::default() }
    }

    /// Corners of a triangle [m].
    pub(crate) fn triangle(&self, corners: [u32; 3]) -> [[f64; 3]; 3] {
        corners.map(|i| self.vertices[i as usize])
    }

    /// Corners of a tetrahedron [m].
    pub(crate) fn tet(&self, corners: [u32; 4]) -> [[f64; 3]; 4] {
        corners.map(|i| self.vertices[i as usize])
    }

    /// The faces that belong to only one tetrahedron, outward for positive tetrahedra, in the order of their
    /// tetrahedra.
    pub fn tet_boundary(&self) -> Vec<[u32; 3]> {
        let mut faces: Vec<([u32; 3], usize)> = Vec::with_capacity(4 * self.tets.len());
        for (t, tet) in self.tets.iter().enumerate() {
            for (k, face) in TET_FACES.iter().enumerate() {
                let mut key = face.map(|i| tet[i]);
                key.sort_unstable();
                faces.push((key, 4 * t + k));
            }
        }
        faces.sort_unstable();
        let mut owners: Vec<usize> =
            faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0].1).collect();
        owners.sort_unstable();
        owners.into_iter().map(|o| TET_FACES[o % 4].map(|i| self.tets[o / 4][i])).collect()
    }

    /// The surface: the triangles, or the boundary of the tetrahedra if there are any.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        if self.tets.is_empty() { self.triangles.clone() } else { self.tet_boundary() }
    }

    /// The surface as a separate mesh, without interior vertices.
    pub fn to_surface(&self) -> Mesh {
        let mut mesh = Mesh { vertices: self.vertices.clone(), triangles: self.surface(), ..Self::default() };
        mesh.drop_unused();
        mesh
    }

    /// Removes vertices that no element uses; the others keep their order. Returns the number of removed vertices.
    pub fn drop_unused(&mut self) -> usize {
        let mut new_index = vec![u32::MAX; self.vertices.len()];
        for &i in self.triangles.iter().flatten().chain(self.tets.iter().flatten()) {
            new_index[i as usize] = 0;
        }
        for (next, index) in new_index.iter_mut().filter(|index| **index == 0).enumerate() {
            *index = next as u32;
        }
        let before = self.vertices.len();
        let mut at = 0;
        self.vertices.retain(|_| {
            at += 1;
            new_index[at - 1] != u32::MAX
        });
        for i in self.triangles.iter_mut().flatten().chain(self.tets.iter_mut().flatten()) {
            *i = new_index[*i as usize];
        }
        before - self.vertices.len()
    }
}

impl From<&TriMesh> for Mesh {
    fn from(mesh: &TriMesh) -> Self {
        Mesh::from_triangles(mesh.vertices.iter().map(wide).collect(), mesh.triangles.clone())
    }
}

impl From<&TetMesh> for Mesh {
    fn from(mesh: &TetMesh) -> Self {
        Mesh::from_tets(mesh.vertices.iter().map(wide).collect(), mesh.tets.clone())
    }
}

#[allow(clippy::useless_conversion, reason = "a conversion only where reals are f32")]
fn wide(v: &Vec3) -> [f64; 3] {
    v.to_array().map(f64::from)
}

/// A point in the precision of the build.
pub(crate) fn narrow(v: [f64; 3]) -> Vec3 {
    Vec3::from_array(v.map(|x| x as Real))
}
