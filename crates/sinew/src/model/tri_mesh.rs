//! Triangle meshes: a surface as vertices and triangles, outward normal by the right-hand rule.

use crate::math::{Real, Vec3};
use sinew_spec::{ANY, FINITE, record};

/// Vertices and triangles.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ball = TriMesh::ball(0.1, 8)?;
/// assert!(ball.is_closed() && ball.volume() > 0.003 && ball.volume() < 0.0042);
/// let missing = TriMesh { vertices: vec![Vec3::ZERO], triangles: vec![[0, 1, 2]] };
/// assert!(missing.check().is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertices [m].
    pub vertices: Vec<Vec3>,
    /// Three vertices each, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Reason why a triangle mesh was rejected.
///
/// An example is at [`TriMesh`](crate::TriMesh).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TriMeshError {
    /// The mesh has no triangles.
    #[error("the mesh has no triangles")]
    Empty,
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle}: vertex {vertex} does not exist (the mesh has {count})")]
    NoVertex {
        /// The triangle.
        triangle: usize,
        /// Missing vertex.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A vertex has a coordinate that is not finite.
    #[error("vertex {vertex} is not finite")]
    NotFinite {
        /// The vertex.
        vertex: usize,
    },
    /// A triangle has no area.
    #[error("triangle {triangle}: area {area:e} m² is not positive; run 'sinew mesh repair'")]
    NoArea {
        /// The triangle.
        triangle: usize,
        /// Its area [m²].
        area: Real,
    },
}

impl TriMesh {
    /// Corners of a triangle [m].
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|i| self.vertices[i as usize])
    }

    /// Area of a triangle [m²].
    pub fn area(&self, triangle: usize) -> Real {
        let [a, b, c] = self.corners(triangle);
        0.5 * (b - a).cross(c - a).length()
    }

    /// Enclosed volume, positive when normals point outward [m³]; defined for a closed mesh only.
    pub fn volume(&self) -> Real {
        let sum: Real = (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t);
                a.dot(b.cross(c))
            })
            .sum();
        sum / 6.0
    }

    /// True when every edge is traversed once in each direction: the mesh is closed and consistently oriented.
    pub fn is_closed(&self) -> bool {
        let mut edges: Vec<[u32; 2]> = self.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        edges.sort_unstable();
        let once = edges.windows(2).all(|w| w[0] != w[1]);
        !edges.is_empty() && once && edges.iter().all(|&[a, b]| edges.binary_search(&[b, a]).is_ok())
    }

    /// Every edge once, ascending.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let sides = self.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mut edges: Vec<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Edges between two triangles, with the vertices beside them: i, j, then left and right of the direction from i to
    /// j seen from outside. Edges of more than two triangles, or of two with inconsistent orientation, are omitted.
    pub fn folds(&self) -> Vec<[u32; 4]> {
        let sides = self.triangles.iter().flat_map(|&[a, b, c]| [[a, b, c], [b, c, a], [c, a, b]]);
        // edge from its smaller vertex, the direction in which the triangle traverses it, and the vertex beside it
        let mut sides: Vec<(u32, u32, bool, u32)> =
            sides.map(|[a, b, beside]| if a < b { (a, b, false, beside) } else { (b, a, true, beside) }).collect();
        sides.sort_unstable();
        let mut folds = Vec::new();
        for group in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            if let &[(i, j, false, left), (_, _, true, right)] = group {
                folds.push([i, j, left, right]);
            }
        }
        folds
    }

    /// Rejects an empty mesh, missing or non-finite vertices and triangles without area, and names the element.
    pub fn check(&self) -> Result<(), TriMeshError> {
        if self.triangles.is_empty() {
            return Err(TriMeshError::Empty);
        }
        if let Some(vertex) = self.vertices.iter().position(|v| !v.is_finite()) {
            return Err(TriMeshError::NotFinite { vertex });
        }
        let count = self.vertices.len();
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&i| i as usize >= count) {
                return Err(TriMeshError::NoVertex { triangle, vertex, count });
            }
            let area = self.area(triangle);
            if !(area > 0.0 && area.is_finite()) {
                return Err(TriMeshError::NoArea { triangle, area });
            }
        }
        Ok(())
    }
}

record!(TriMesh, "surface mesh", "A mesh of triangles.", TriMesh { vertices: Vec::new(), triangles: Vec::new() }, {
    vertices [required]: FINITE, "Vertices [m].";
    triangles [required]: ANY, "Three vertices each, counter-clockwise seen from outside.";
});
