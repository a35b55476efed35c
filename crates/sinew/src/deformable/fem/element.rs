//! Tetrahedral elements: nodes, quadrature points, gradients of shape functions, lumped volumes, faces.
//!
//! Tet4 has linear shape functions φ_c and one point. It locks: in bending, and in volume near ν = ½. Tet10 has
//! quadratic ones, φ_c (2φ_c − 1) at corners and 4 φ_a φ_b at the midpoints of edges, and four points (degree 2, exact
//! for straight edges at rest). Its mass is lumped as the diagonal of the consistent mass, scaled (Hinton, Rock and
//! Zienkiewicz 1976): 1/36 at corners, 4/27 at midpoints, all positive; with row sums the corners would be negative.

use super::tet_kernel::RestTet;
use crate::math::{Block, Mat3, Real, Vec3};
use crate::model::tet_mesh::TetMesh;
use sinew_spec::words;

/// Corners of the six edges, in the order of the mid-edge nodes.
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
/// Maximum number of nodes of an element.
pub(super) const MOST_NODES: usize = 10;
/// Shape function of the nearest corner at a point of the four-point rule: (5 + 3√5)/20; the other corners have equal
/// values.
#[allow(clippy::excessive_precision, reason = "f64 needs all digits")]
const NEAR: Real = 0.585_410_196_624_968_5;
const FAR: Real = (1.0 - NEAR) / 3.0;

/// Type of finite element.
///
/// An example is at [`fem::SolidParams`](crate::fem::SolidParams).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Four nodes: cheap, but too stiff in bending and near incompressibility.
    Tet4,
    /// Four nodes, dilatation averaged over the elements around each node: for Poisson ratios near one half.
    Tet4Averaged,
    /// Ten nodes: accurate in bending on coarse meshes.
    Tet10,
    /// Ten nodes with the dilatation averaged at corners: accurate in bending and near incompressibility.
    Tet10Averaged,
}

impl Elements {
    /// True for elements with mid-edge nodes, which follow those of the mesh.
    pub fn quadratic(self) -> bool {
        matches!(self, Self::Tet10 | Self::Tet10Averaged)
    }

    pub(super) fn averaged(self) -> bool {
        matches!(self, Self::Tet4Averaged | Self::Tet10Averaged)
    }
}

/// A face of the boundary, oriented outward: three corners, and for ten-node elements the midpoints of ab, bc, ca.
///
/// ```
/// use sinew::*;
/// // a pressure of 10 Pa on a triangle of half a square metre: 5 N against its normal
/// let corners = [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
/// let mut force = [Vec3::ZERO; 3];
/// fem::pressure(&[fem::Face { corners: [0, 1, 2], middles: None }], &corners, 10.0, &mut force);
/// assert!((force.iter().sum::<Vec3>() - Vec3::NEG_Z * 5.0).length() < 1e-5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Face {
    /// Corners a, b, c.
    pub corners: [u32; 3],
    /// Midpoints of ab, bc, ca.
    pub middles: Option<[u32; 3]>,
}

/// Elements of a body with their constant data.
#[derive(Clone, Debug)]
pub(super) struct ElementMesh {
    /// Nodes at rest; the mesh's vertices come first. [m]
    pub(super) nodes: Vec<Vec3>,
    /// Nodes of each element, corners first. (element_count · node_count)
    indices: Vec<u32>,
    /// Nodes and quadrature points of an element.
    pub(super) node_count: usize,
    pub(super) point_count: usize,
    /// Gradients of the shape functions at rest. (element_count · point_count · node_count) [1/m]
    gradients: Vec<Vec3>,
    /// Quadrature weight: volume per point. (element_count) [m³]
    weights: Vec<Real>,
    /// Outer faces.
    pub(super) faces: Vec<Face>,
}

impl ElementMesh {
    /// Largest Σ w |∇φ|² over the smallest lumped volume of a node, over all elements [1/m²]: an upper bound of ω²
    /// after multiplication by (2μ + λ)/ρ.
    pub(super) fn stiffness_bound(&self) -> Real {
        let of = |element: usize| {
            let squares =
                |point: usize| self.gradients(element, point).iter().map(|g| g.length_squared()).sum::<Real>();
            let least = (0..self.node_count).map(|local| self.lump(local)).fold(Real::INFINITY, Real::min);
            let points = self.point_count as Real;
            (0..self.point_count).map(squares).sum::<Real>() / (points * least)
        };
        (0..self.element_count()).map(of).fold(0.0, Real::max)
    }

    /// The mesh must have passed its check.
    pub(super) fn new(mesh: &TetMesh, elements: Elements) -> Self {
        let quadratic = elements.quadratic();
        let edges = if quadratic { edges(mesh) } else { Vec::new() };
        let first = mesh.vertices.len();
        let middle = |a: u32, b: u32| {
            let at = edges.partition_point(|e| *e < [a.min(b), a.max(b)]);
            (first + at) as u32
        };
        let mut nodes = mesh.vertices.clone();
        nodes.extend(edges.iter().map(|e| (mesh.vertices[e[0] as usize] + mesh.vertices[e[1] as usize]) * 0.5));

        let (node_count, point_count) = if quadratic { (10, 4) } else { (4, 1) };
        let count = mesh.tets.len();
        let mut indices = Vec::with_capacity(count * node_count);
        let mut gradients = Vec::with_capacity(count * node_count * point_count);
        let mut weights = Vec::with_capacity(count);
        for (tet, corners) in mesh.tets.iter().enumerate() {
            indices.extend_from_slice(corners);
            if quadratic {
                indices.extend(EDGES.map(|[a, b]| middle(corners[a], corners[b])));
            }
            // gradients of φ are the columns of Dm⁻ᵀ, the first is minus their sum
            let [a, b, c, d] = corners.map(|i| mesh.vertices[i as usize]);
            let g = Mat3::from_cols(b - a, c - a, d - a).inverse().transpose();
            let linear = [-(g.x_axis + g.y_axis + g.z_axis), g.x_axis, g.y_axis, g.z_axis];
            for point in 0..point_count {
                push_gradients(&mut gradients, &linear, quadratic.then(|| shares(point, 4)));
            }
            weights.push(mesh.tet_volume(tet) / point_count as Real);
        }
        let face = |[a, b, c]: [u32; 3]| Face {
            corners: [a, b, c],
            middles: quadratic.then(|| [middle(a, b), middle(b, c), middle(c, a)]),
        };
        let faces = mesh.boundary_faces().into_iter().map(face).collect();
        Self { nodes, indices, node_count, point_count, gradients, weights, faces }
    }

    pub(super) fn element_count(&self) -> usize {
        self.weights.len()
    }

    /// Nodes of an element, corners first.
    pub(super) fn nodes_of(&self, element: usize) -> &[u32] {
        &self.indices[element * self.node_count..][..self.node_count]
    }

    /// The straight-edged tetrahedra of all elements' corners.
    pub(super) fn corner_tets(&self) -> Vec<RestTet> {
        let of = |element: usize| {
            let nodes = self.nodes_of(element);
            RestTet::new(&self.nodes, [nodes[0], nodes[1], nodes[2], nodes[3]])
        };
        (0..self.element_count()).map(of).collect()
    }

    /// Nodes of all elements in one list.
    pub(super) fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Quadrature weight: volume per point of an element [m³].
    pub(super) fn weight(&self, element: usize) -> Real {
        self.weights[element]
    }

    /// Gradients at a point [1/m].
    pub(super) fn gradients(&self, element: usize, point: usize) -> &[Vec3] {
        &self.gradients[(element * self.point_count + point) * self.node_count..][..self.node_count]
    }

    /// Linear shape functions of the corners at a point: its weights in the averages.
    pub(super) fn shares(&self, point: usize) -> [Real; 4] {
        shares(point, self.point_count)
    }

    /// Fraction of an element's mass at each of its nodes.
    pub(super) fn lump(&self, local: usize) -> Real {
        match (self.node_count, local < 4) {
            (4, _) => 0.25,
            (_, true) => 1.0 / 36.0,
            (_, false) => 4.0 / 27.0,
        }
    }

    /// Lumped volume of each node [m³].
    pub(super) fn volumes(&self) -> Vec<Real> {
        let mut volumes = vec![0.0; self.nodes.len()];
        for element in 0..self.element_count() {
            let volume = self.weight(element) * self.point_count as Real;
            for (local, &node) in self.nodes_of(element).iter().enumerate() {
                volumes[node as usize] += volume * self.lump(local);
            }
        }
        volumes
    }
}

/// Σ x_i G_iᵀ from edges: taking differences first avoids cancellation at large coordinates.
pub(super) fn gradient_of(nodes: &[u32], gradients: &[Vec3], x: &[Block]) -> Mat3 {
    let at = |i: u32| crate::math::vec(x[i as usize]);
    let origin = at(nodes[0]);
    let pairs = nodes.iter().zip(gradients).skip(1);
    pairs.fold(Mat3::ZERO, |f, (&node, &g)| f + crate::math::outer(at(node) - origin, g))
}

/// Shape functions φ of the corners at a point of the rule.
fn shares(point: usize, point_count: usize) -> [Real; 4] {
    if point_count == 1 {
        return [0.25; 4];
    }
    let mut phi = [FAR; 4];
    phi[point] = NEAR;
    phi
}

/// Gradients at a point: those of φ, or, given the values of φ, those of the quadratic functions.
fn push_gradients(out: &mut Vec<Vec3>, linear: &[Vec3; 4], phi: Option<[Real; 4]>) {
    let Some(phi) = phi else {
        out.extend_from_slice(linear);
        return;
    };
    out.extend((0..4).map(|c| linear[c] * (4.0 * phi[c] - 1.0)));
    out.extend(EDGES.map(|[a, b]| (linear[b] * phi[a] + linear[a] * phi[b]) * 4.0));
}

/// All edges, low corner first, ascending.
fn edges(mesh: &TetMesh) -> Vec<[u32; 2]> {
    let mut edges = Vec::with_capacity(6 * mesh.tets.len());
    for corners in &mesh.tets {
        for [a, b] in EDGES {
            edges.push([corners[a].min(corners[b]), corners[a].max(corners[b])]);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

words!(Elements, {
    "tet4" => Tet4, "Four nodes: cheap, and too stiff in bending and near incompressibility.";
    "tet4_averaged" => Tet4Averaged, "Four nodes, dilatation averaged: for Poisson ratios near one half.";
    "tet10" => Tet10, "Ten nodes: right in bending on coarse meshes.";
    "tet10_averaged" => Tet10Averaged, "Ten nodes with the dilatation averaged.";
});

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(elements: Elements) -> ElementMesh {
        ElementMesh::new(&TetMesh::block([2, 1, 2], Vec3::new(0.4, 0.1, 0.3)).unwrap(), elements)
    }

    #[test]
    fn lumped_volumes_are_positive_and_sum_to_the_total() {
        for elements in [Elements::Tet4, Elements::Tet10] {
            let volumes = mesh(elements).volumes();
            assert!(volumes.iter().all(|v| *v > 0.0));
            assert!((volumes.iter().sum::<Real>() - 0.012).abs() < 1e-7);
        }
    }

    #[test]
    fn gradients_reproduce_a_linear_field_and_ten_nodes_a_quadratic_one() {
        let slope = Mat3::from_cols(Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 0.5, 2.0), Vec3::new(0.3, 0.2, -0.7));
        for elements in [Elements::Tet4, Elements::Tet10] {
            let mesh = mesh(elements);
            let field: Vec<Block> = mesh.nodes.iter().map(|p| (slope * *p).extend(0.0).to_array()).collect();
            for e in 0..mesh.element_count() {
                for q in 0..mesh.point_count {
                    let f = gradient_of(mesh.nodes_of(e), mesh.gradients(e, q), &field);
                    assert!(f.abs_diff_eq(slope, 100.0 * Real::EPSILON), "{f}");
                }
            }
        }
        // u = x²: its derivative at a point is 2x
        let mesh = mesh(Elements::Tet10);
        let field: Vec<Block> = mesh.nodes.iter().map(|p| [p.x * p.x, 0.0, 0.0, 0.0]).collect();
        for e in 0..mesh.element_count() {
            for q in 0..4 {
                let corners = mesh.nodes_of(e)[..4].iter().zip(mesh.shares(q));
                let at: Real = corners.map(|(n, phi)| mesh.nodes[*n as usize].x * phi).sum();
                let f = gradient_of(mesh.nodes_of(e), mesh.gradients(e, q), &field);
                assert!((f.x_axis.x - 2.0 * at).abs() < 1e-5 && f.y_axis.x.abs() < 1e-5);
            }
        }
    }
}
