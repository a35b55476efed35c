//! Tetrahedra, triangles, and small vectors.

use crate::error::ReduceError;
use crate::material::Material;
use std::collections::BTreeMap;
use twox_hash::XxHash3_64;

/// Three numbers.
pub type Vec3 = [f64; 3];

pub(crate) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn plus(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn scale(a: Vec3, s: f64) -> Vec3 {
    [a[0] * s, a[1] * s, a[2] * s]
}

pub(crate) fn dot3(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn length(a: Vec3) -> f64 {
    dot3(a, a).sqrt()
}

/// A mesh of tetrahedra with four nodes.
///
/// ```
/// use sinew_reduce::TetMesh;
/// let nodes = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mesh = TetMesh { nodes, tets: vec![[0, 1, 2, 3]] };
/// assert!((mesh.volume(0) - 1.0 / 6.0).abs() < 1e-15);
/// assert_eq!(mesh.surface().len(), 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Positions at rest [m].
    pub nodes: Vec<Vec3>,
    /// Nodes of the tetrahedra, of positive volume.
    pub tets: Vec<[u32; 4]>,
}

impl TetMesh {
    /// Volume of a tetrahedron [m³].
    pub fn volume(&self, tet: usize) -> f64 {
        let [a, b, c, d] = self.tets[tet].map(|i| self.nodes[i as usize]);
        dot3(cross(sub(b, a), sub(c, a)), sub(d, a)) / 6.0
    }

    /// Gradients of the four shape functions of a tetrahedron [1/m].
    pub(crate) fn gradients(&self, tet: usize) -> [Vec3; 4] {
        let [a, b, c, d] = self.tets[tet].map(|i| self.nodes[i as usize]);
        let by = 1.0 / (6.0 * self.volume(tet));
        let gb = scale(cross(sub(c, a), sub(d, a)), by);
        let gc = scale(cross(sub(d, a), sub(b, a)), by);
        let gd = scale(cross(sub(b, a), sub(c, a)), by);
        [scale(plus(plus(gb, gc), gd), -1.0), gb, gc, gd]
    }

    /// Triangles of the boundary, with normals outwards, in the order of the tetrahedra.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        let mut faces: BTreeMap<[u32; 3], (usize, [u32; 3], u32)> = BTreeMap::new();
        for (at, tet) in self.tets.iter().enumerate() {
            for (k, corners) in [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]].into_iter().enumerate() {
                let face = corners.map(|c: usize| tet[c]);
                let mut key = face;
                key.sort_unstable();
                faces.entry(key).or_insert((4 * at + k, face, 0)).2 += 1;
            }
        }
        let mut open: Vec<_> = faces.into_values().filter(|f| f.2 == 1).collect();
        open.sort_unstable();
        open.into_iter().map(|f| f.1).collect()
    }

    /// Nodes of the boundary in ascending order.
    pub fn surface_nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.surface().into_iter().flatten().collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Diagonal of the bounding box [m].
    pub(crate) fn size(&self) -> f64 {
        extent(&self.nodes)
    }

    /// Returns an error for a mesh that has no linear elastic solution.
    pub fn check(&self) -> Result<(), ReduceError> {
        let count = self.nodes.len();
        check_places(&self.nodes)?;
        let mut piece: Vec<usize> = (0..count).collect();
        let mut used = vec![false; count];
        for (index, tet) in self.tets.iter().enumerate() {
            if let Some(&node) = tet.iter().find(|&&i| i as usize >= count) {
                return Err(ReduceError::NoNode { element: "tetrahedron", index, node, count });
            }
            let volume = self.volume(index);
            if !(volume > 0.0) {
                return Err(ReduceError::Inverted { tet: index, volume });
            }
            let first = root(&mut piece, tet[0] as usize);
            for &node in tet {
                used[node as usize] = true;
                let other = root(&mut piece, node as usize);
                piece[other] = first;
            }
        }
        if let Some(node) = used.iter().position(|u| !u) {
            return Err(ReduceError::Loose { node });
        }
        let pieces = (0..count).filter(|&i| root(&mut piece, i) == i).count();
        if pieces == 1 { Ok(()) } else { Err(ReduceError::Pieces { pieces }) }
    }

    /// Hash of everything that a reduction of this mesh depends on: nodes, elements, material and which nodes are fixed.
    pub fn key(&self, material: &Material, fixed: &[u32]) -> u64 {
        let mut bytes = key_of_nodes(&self.nodes);
        self.tets.iter().flatten().chain(fixed).for_each(|i| bytes.extend(i.to_le_bytes()));
        key_of_material(&mut bytes, material);
        bytes.extend((self.tets.len() as u64).to_le_bytes());
        XxHash3_64::oneshot(&bytes)
    }
}

pub(crate) fn key_of_nodes(nodes: &[Vec3]) -> Vec<u8> {
    let mut bytes = (nodes.len() as u64).to_le_bytes().to_vec();
    nodes.iter().flatten().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

pub(crate) fn key_of_material(bytes: &mut Vec<u8>, material: &Material) {
    material.elasticity.moduli().iter().flatten().for_each(|m| bytes.extend(m.to_le_bytes()));
    bytes.extend(material.density.to_le_bytes());
}

pub(crate) fn check_places(nodes: &[Vec3]) -> Result<(), ReduceError> {
    let bad = nodes.iter().position(|x| !x.iter().all(|x| x.is_finite()));
    bad.map_or(Ok(()), |node| Err(ReduceError::NotFinite { node }))
}

pub(crate) fn extent(nodes: &[Vec3]) -> f64 {
    let range = |axis: usize| {
        let all = nodes.iter().map(|x| x[axis]);
        all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min)
    };
    length([range(0), range(1), range(2)])
}

fn root(piece: &mut [usize], mut node: usize) -> usize {
    while piece[node] != node {
        piece[node] = piece[piece[node]];
        node = piece[node];
    }
    node
}
