//! Networks of springs from tetrahedra, triangles, polylines and explicit lists.
//!
//! Springs are placed along all edges. A sheet also has one across each interior edge, between the two opposite
//! corners, and a rope one between second neighbours: without them there is no bending resistance. Each spring has the
//! volume V around it; stiffness from Young's modulus is k = E V/L² for all kinds (van Gelder 1998), which is E A/L for
//! a rope.

use super::params::{Dashpot, Element, Mass, Params, SpringError, Stiffness, not_negative, positive};
use crate::math::{Real, Vec3};
use crate::model::tet_mesh::TetMesh;
use crate::model::tri_mesh::TriMesh;

/// A spring between two nodes, and its dashpot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Ends.
    pub nodes: [u32; 2],
    /// Rest length [m].
    pub rest: Real,
    /// Stiffness k [N/m].
    pub stiffness: Real,
    /// Dashpot c [N·s/m].
    pub damping: Real,
}

/// Nodes with mass, springs, and the tetrahedra for volume forces.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub positions: Vec<Vec3>,
    pub masses: Vec<Real>,
    pub springs: Vec<Spring>,
    pub tets: Vec<[u32; 4]>,
    /// Fill fraction of each of them; empty: all are full.
    pub fill: Vec<Real>,
}

/// An edge with the volume of the elements around it [m³].
type Edge = ([u32; 2], Real);

/// Geometry derived from a mesh.
struct Parts<'a> {
    points: &'a [Vec3],
    /// Volume of each node [m³].
    shares: Vec<Real>,
    edges: Vec<Edge>,
    /// Second neighbours.
    bends: Vec<Edge>,
    tets: &'a [[u32; 4]],
    fill: &'a [Real],
}

/// The six edges of a tetrahedron.
const TET_EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

impl Network {
    /// Springs along all edges of tetrahedra, each of which fills this fraction of its volume.
    pub fn from_tets(mesh: &TetMesh, fill: &[Real], params: &Params) -> Result<Self, SpringError> {
        mesh.check()?;
        if !fill.is_empty() && !matches!(params.stiffness, Stiffness::Young(_)) {
            let reason = "only springs with Young's modulus have a share in an element: give it for fill fractions";
            return Err(SpringError::Unfit { name: "stiffness", reason });
        }
        let mut shares = vec![0.0; mesh.vertices.len()];
        let mut edges = Vec::with_capacity(6 * mesh.tets.len());
        for (tet, corners) in mesh.tets.iter().enumerate() {
            let volume = mesh.tet_volume(tet) * fill.get(tet).copied().unwrap_or(1.0);
            edges.extend(TET_EDGES.map(|[i, j]| edge(corners[i], corners[j], volume)));
            for &node in corners {
                shares[node as usize] += 0.25 * volume;
            }
        }
        let edges = merged(edges);
        Self::build(&Parts { points: &mesh.vertices, shares, edges, bends: Vec::new(), tets: &mesh.tets, fill }, params)
    }

    /// Springs along all edges of a sheet, and across its interior edges.
    pub fn from_triangles(mesh: &TriMesh, params: &Params) -> Result<Self, SpringError> {
        mesh.check()?;
        let mut shares = vec![0.0; mesh.vertices.len()];
        let mut edges = Vec::with_capacity(3 * mesh.triangles.len());
        // (edge, corner opposite, volume of the triangle)
        let mut flaps: Vec<([u32; 2], u32, Real)> = Vec::with_capacity(3 * mesh.triangles.len());
        for (triangle, corners) in mesh.triangles.iter().enumerate() {
            let volume = mesh.area(triangle) * params.thickness;
            for k in 0..3 {
                let (side, weight) = edge(corners[k], corners[(k + 1) % 3], volume);
                edges.push((side, weight));
                flaps.push((side, corners[(k + 2) % 3], volume));
                shares[corners[k] as usize] += volume / 3.0;
            }
        }
        flaps.sort_by_key(|flap| (flap.0, flap.1));
        let across = flaps.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].1 != w[1].1);
        let bends = merged(across.map(|w| edge(w[0].1, w[1].1, w[0].2 + w[1].2)).collect());
        let edges = merged(edges);
        Self::build(&Parts { points: &mesh.vertices, shares, edges, bends, tets: &[], fill: &[] }, params)
    }

    /// Springs along a polyline and between second neighbours.
    pub fn from_rope(points: &[Vec3], params: &Params) -> Result<Self, SpringError> {
        if points.len() < 2 {
            return Err(SpringError::Unfit { name: "points", reason: "a rope needs two points or more" });
        }
        let volume = |a: usize, b: usize| params.cross_section * (points[b] - points[a]).length();
        let mut shares = vec![0.0; points.len()];
        let mut edges = Vec::with_capacity(points.len());
        for a in 0..points.len() - 1 {
            let piece = volume(a, a + 1);
            edges.push(edge(a as u32, a as u32 + 1, piece));
            shares[a] += 0.5 * piece;
            shares[a + 1] += 0.5 * piece;
        }
        let bends = (2..points.len()).map(|b| edge(b as u32 - 2, b as u32, volume(b - 2, b))).collect();
        Self::build(&Parts { points, shares, edges, bends, tets: &[], fill: &[] }, params)
    }

    /// Springs of an explicit list; stiffness and dashpots of the parameters are not used.
    pub fn from_springs(points: &[Vec3], springs: &[Spring], params: &Params) -> Result<Self, SpringError> {
        if matches!(params.mass, Mass::Density(_)) {
            let reason = "a list of springs has no volume: give a total mass or masses per node";
            return Err(SpringError::Unfit { name: "mass.density", reason });
        }
        let masses = masses(&vec![1.0; points.len()], &params.mass)?;
        let network =
            Self { positions: points.to_vec(), masses, springs: springs.to_vec(), tets: Vec::new(), fill: Vec::new() };
        network.check(params)?;
        Ok(network)
    }

    fn build(parts: &Parts<'_>, params: &Params) -> Result<Self, SpringError> {
        let Parts { points, shares, edges, bends, tets, fill } = parts;
        let masses = masses(shares, &params.mass)?;
        let bends = if params.bending > 0.0 { bends.as_slice() } else { &[] };
        let count = edges.len() + bends.len();
        if let Stiffness::PerSpring(list) = &params.stiffness
            && list.len() != count
        {
            let (name, of) = ("stiffness.per_spring", "springs");
            return Err(SpringError::Count { name, given: list.len(), wanted: count, of });
        }
        let weighted = edges.iter().map(|e| (e, 1.0)).chain(bends.iter().map(|e| (e, params.bending)));
        let mut springs = Vec::with_capacity(count);
        for (index, (&(nodes, volume), weight)) in weighted.enumerate() {
            let [a, b] = nodes.map(|i| i as usize);
            let rest = (points[b] - points[a]).length();
            let stiffness = match &params.stiffness {
                Stiffness::Uniform(k) => k * weight,
                Stiffness::PerSpring(list) => list[index],
                Stiffness::Young(modulus) => modulus * weight * volume / (rest * rest),
            };
            let damping = dashpot(params, stiffness, masses[a] * masses[b] / (masses[a] + masses[b]));
            springs.push(Spring { nodes, rest, stiffness, damping });
        }
        let network = Self { positions: points.to_vec(), masses, springs, tets: tets.to_vec(), fill: fill.to_vec() };
        network.check(params)?;
        Ok(network)
    }

    /// Returns an error for invalid springs and points, with their index.
    fn check(&self, params: &Params) -> Result<(), SpringError> {
        for (node, point) in self.positions.iter().enumerate() {
            for (axis, value) in ["x", "y", "z"].iter().zip(point.to_array()) {
                if !value.is_finite() {
                    let name = format!("points[{node}].{axis}");
                    return Err(SpringError::OutOfRange { name, value, range: "finite" });
                }
            }
        }
        let behind = params.element != Element::Voigt;
        let count = self.positions.len() as u32;
        for (spring, s) in self.springs.iter().enumerate() {
            let [a, b] = s.nodes;
            let refuse = |reason| Err(SpringError::Spring { spring, a, b, reason });
            if a >= count || b >= count {
                return refuse("a node does not exist");
            }
            if a == b {
                return refuse("both ends are one node");
            }
            if behind && !(s.damping > 0.0) {
                return refuse("a Maxwell or Kelvin element needs a dashpot above 0 (params.dashpot)");
            }
            not_negative(&format!("springs[{spring}].rest"), s.rest)?;
            not_negative(&format!("springs[{spring}].stiffness"), s.stiffness)?;
            not_negative(&format!("springs[{spring}].damping"), s.damping)?;
        }
        Ok(())
    }
}

fn edge(a: u32, b: u32, volume: Real) -> Edge {
    ([a.min(b), a.max(b)], volume)
}

/// Each edge once, sorted, with the volumes summed in the order given.
fn merged(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_by_key(|e| e.0);
    edges.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    edges
}

/// Mass of each node from its volume [m³].
fn masses(shares: &[Real], mass: &Mass) -> Result<Vec<Real>, SpringError> {
    if let Mass::PerNode(list) = mass {
        if list.len() != shares.len() {
            let (name, of) = ("mass.per_node", "nodes");
            return Err(SpringError::Count { name, given: list.len(), wanted: shares.len(), of });
        }
        for (node, &m) in list.iter().enumerate() {
            positive(&format!("mass.per_node[{node}]"), m)?;
        }
        return Ok(list.clone());
    }
    if let Some(node) = shares.iter().position(|&share| !(share > 0.0)) {
        return Err(SpringError::NoMass { node });
    }
    let density = match mass {
        Mass::Density(density) => *density,
        Mass::Total(total) => total / shares.iter().sum::<Real>(),
        Mass::PerNode(_) => unreachable!("handled above"),
    };
    Ok(shares.iter().map(|share| share * density).collect())
}

/// c of a spring of this stiffness [N/m] between nodes of this reduced mass [kg]; in an arm, of the arm's spring.
fn dashpot(params: &Params, stiffness: Real, mass: Real) -> Real {
    let arm = if let Element::Kelvin { arm } = params.element { arm } else { 1.0 };
    match params.dashpot {
        Dashpot::None => 0.0,
        Dashpot::Coefficient(c) => c,
        Dashpot::Ratio(zeta) => 2.0 * zeta * (arm * stiffness * mass).sqrt(),
        Dashpot::Time(time) => time * arm * stiffness,
    }
}
