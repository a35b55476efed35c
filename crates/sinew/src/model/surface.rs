//! The surface that the world touches: surfels tied to nodes by constant weights, and triangles between them.
//!
//! Displacements go out, u_s = Σ N_sj u_j, and forces come back by the transpose, f_j = Σ N_sj f_s, so that force, torque
//! and work are kept (erratum to FC 3.12). With Σ_j N_sj = 1 and Σ_j N_sj X_j = X_s positions follow by the same weights.

use super::tet_mesh::TetMesh;
use super::tri_mesh::TriMesh;
use crate::math::{Block, Real, Vec3};

/// One share of a surfel: a node of the body and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Node of the body.
    pub node: u32,
    /// Weight; a surfel's weights sum to one.
    pub weight: Real,
}

/// Surfels, the nodes they follow, and triangles over them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// First share of each surfel, and the end. (surfel_count + 1)
    starts: Vec<u32>,
    shares: Vec<Share>,
    triangles: Vec<[u32; 3]>,
    /// True when it encloses a volume: normals then point out of the body.
    solid: bool,
}

impl Surface {
    /// Surfels that are nodes: `nodes` lists them, `triangles` counts in that list.
    pub fn of_nodes(nodes: impl IntoIterator<Item = u32>, triangles: Vec<[u32; 3]>) -> Self {
        let shares: Vec<Share> = nodes.into_iter().map(|node| Share { node, weight: 1.0 }).collect();
        Self { starts: (0..=shares.len() as u32).collect(), shares, triangles, solid: false }
    }

    /// The boundary of a tetrahedral mesh: faces that one tetrahedron owns, outward, over the nodes they use.
    pub fn boundary(mesh: &TetMesh) -> Self {
        let faces = mesh.boundary_faces();
        let mut number = vec![u32::MAX; mesh.vertices.len()];
        for &corner in faces.iter().flatten() {
            number[corner as usize] = 0;
        }
        let nodes: Vec<u32> = (0..number.len() as u32).filter(|&n| number[n as usize] == 0).collect();
        for (k, &n) in nodes.iter().enumerate() {
            number[n as usize] = k as u32;
        }
        let triangles = faces.into_iter().map(|f| f.map(|n| number[n as usize])).collect();
        Self { solid: true, ..Self::of_nodes(nodes, triangles) }
    }

    /// All vertices and triangles of a sheet.
    pub fn sheet(mesh: &TriMesh) -> Self {
        Self::of_nodes(0..mesh.vertices.len() as u32, mesh.triangles.clone())
    }

    /// Number of surfels.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// True without surfels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Triangles over the surfels, outward.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// True when it encloses a volume: normals then point out of the body.
    pub fn is_solid(&self) -> bool {
        self.solid
    }

    /// The nodes a surfel follows.
    pub fn shares(&self, surfel: u32) -> &[Share] {
        &self.shares[self.starts[surfel as usize] as usize..self.starts[surfel as usize + 1] as usize]
    }

    /// Where a surfel is when the nodes are at `x` [m].
    pub fn position(&self, surfel: u32, x: &[Block]) -> Vec3 {
        self.shares(surfel).iter().fold(Vec3::ZERO, |sum, s| {
            let b = x[s.node as usize];
            sum + Vec3::new(b[0], b[1], b[2]) * s.weight
        })
    }
}
