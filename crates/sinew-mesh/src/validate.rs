//! Strict validation of meshes for the physics, with the reasons for a refusal.

use crate::geometry::volume;
use crate::inspect::{is_flat_tet, is_flat_triangle};
use crate::mesh::{Mesh, narrow};
use sinew::{TetMesh, TetMeshError, TriMesh, TriMeshError};

/// Maximum number of offending elements listed in one message.
const NAMED: usize = 3;

/// Why a mesh is refused by the physics.
///
/// ```
/// use sinew_mesh::{Mesh, repair};
/// // inside out: it may be looked at, but not enter the physics
/// let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mesh = Mesh::from_tets(vertices, vec![[0, 2, 1, 3]]);
/// assert!(mesh.tet_mesh().is_err());
/// assert!(repair(&mesh, None).mesh.tet_mesh().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ValidationError {
    /// Invalid geometry or topology.
    #[error("{}; run 'sinew mesh repair'", reasons.join("; "))]
    Refused {
        /// All reasons.
        reasons: Vec<String>,
    },
    /// No tetrahedra.
    #[error("the mesh has no tetrahedra, only {triangles} triangles; run 'sinew mesh tetrahedralize'")]
    NoTets {
        /// Number of triangles.
        triangles: usize,
    },
    /// Valid in f64, but not in the precision of the build.
    #[error("in the precision of this build: {0}")]
    Tet(#[from] TetMeshError),
    /// Valid in f64, but not in the precision of the build.
    #[error("in the precision of this build: {0}")]
    Tri(#[from] TriMeshError),
}

impl Mesh {
    /// Refuses a mesh without tetrahedra, repeated ids, and tetrahedra that are inverted, degenerate or duplicated; all
    /// reasons at once, with the offending elements.
    pub fn check_tets(&self) -> Result<(), ValidationError> {
        if self.tets.is_empty() {
            return Err(ValidationError::NoTets { triangles: self.triangles.len() });
        }
        let mut reasons = Vec::new();
        if let Some(id) = self.notes.repeated_id {
            reasons.push(format!("{} elements repeat the id of an earlier one (id {id})", self.notes.repeated_ids));
        }
        let describe = |t: usize| format!("{t} (volume {:.3e} m³)", volume(self.tet(self.tets[t])));
        let flat = |t: &usize| is_flat_tet(self.tet(self.tets[*t]));
        let (flat, rest): (Vec<usize>, Vec<usize>) = (0..self.tets.len()).partition(flat);
        let inverted: Vec<usize> = rest.into_iter().filter(|&t| volume(self.tet(self.tets[t])) < 0.0).collect();
        for (list, what) in [(inverted, "inverted"), (flat, "flat")] {
            if !list.is_empty() {
                let named: Vec<String> = list.iter().take(NAMED).map(|&t| describe(t)).collect();
                let more = if list.len() > NAMED { ", .." } else { "" };
                reasons.push(format!("{} tetrahedra are {what}: {}{more}", list.len(), named.join(", ")));
            }
        }
        let twice = crate::inspect::drop_duplicates(&mut self.clone())[1];
        if twice > 0 {
            reasons.push(format!("{twice} tetrahedra have the vertices of an earlier one"));
        }
        if reasons.is_empty() { Ok(()) } else { Err(ValidationError::Refused { reasons }) }
    }

    /// The tetrahedra for the physics, with the vertices that they use, in the order of the file.
    pub fn tet_mesh(&self) -> Result<TetMesh, ValidationError> {
        self.check_tets()?;
        let mut mesh = Mesh { triangles: Vec::new(), ..self.clone() };
        mesh.drop_unused();
        let tets = TetMesh { vertices: mesh.vertices.iter().map(|&v| narrow(v)).collect(), tets: mesh.tets };
        tets.check()?;
        Ok(tets)
    }

    /// Refuses triangles without area.
    pub fn check_triangles(&self) -> Result<(), ValidationError> {
        let surface = self.surface();
        let flat: Vec<usize> = (0..surface.len()).filter(|&t| is_flat_triangle(self.triangle(surface[t]))).collect();
        match flat.first() {
            None => Ok(()),
            Some(first) => Err(ValidationError::Refused {
                reasons: vec![format!("{} triangles have no area, first triangle {first}", flat.len())],
            }),
        }
    }

    /// The surface for the physics: the triangles, or the boundary of the tetrahedra, with the vertices that it uses,
    /// in the order of the file.
    pub fn tri_mesh(&self) -> Result<TriMesh, ValidationError> {
        self.check_triangles()?;
        let mesh = self.to_surface();
        let surface =
            TriMesh { vertices: mesh.vertices.iter().map(|&v| narrow(v)).collect(), triangles: mesh.triangles };
        surface.check()?;
        Ok(surface)
    }
}
