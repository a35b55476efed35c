//! Weights of points over the nodes of a coarse mesh or of bare nodes.
//!
//! All weights have linear consistency, Σ N_j = 1 and Σ N_j X_j = X_s: an affine motion of the nodes moves the points
//! by the same motion. They are computed in f64 and rounded once.

use super::super::grid::{Grid, kernel, spacings};
use super::super::tet_mesh::{TetMesh, TetMeshError};
use super::super::tri_mesh::{TriMesh, TriMeshError};
use super::Share;
use crate::math::{Real, Vec3, Wide3, WideMat3, wide_outer, wide_pseudo_inverse, widen};

/// Ratio of an eigenvalue of the moment matrix of a surfel's nodes to the largest below which they count as coplanar.
const FLAT: f64 = 1e-4;
/// Maximum number of times that the support radius of nodes is enlarged, by a half each time, for a surfel within the
/// support of too few nodes.
const WIDENINGS: u32 = 24;

/// Parameters of the binding of a surface to nodes without a mesh.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let nodes: Vec<Vec3> = TetMesh::block([3, 3, 3], Vec3::splat(0.2))?.vertices;
/// // a ball that follows a cloud of points
/// let skin = Surface::meshless(&nodes, &TriMesh::ball(0.08, 3)?, BindOptions::default())?;
/// assert!((0..skin.len() as u32).all(|i| skin.shares(i).len() >= 4));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BindOptions {
    /// Support radius of a node in mean distances to its ten nearest neighbours, h_j = support · r̄_j. Larger: smoother
    /// and stiffer in contact (FC Fig. 3.9 shows 1.5, 3 and 4.5).
    pub support: Real,
    /// Largest number of nodes that determine a surfel; those with the largest kernel values are kept. Smaller: cheaper
    /// contacts.
    pub most: usize,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self { support: 3.0, most: 12 }
    }
}

/// Reason why a surface was rejected.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let host = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
/// let nothing = TriMesh { vertices: Vec::new(), triangles: Vec::new() };
/// assert!(Surface::embedded(&host, &nothing).is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BindError {
    /// A number outside its range.
    #[error("wrap.{name} = {value}: must be {range}")]
    OutOfRange {
        /// Field of [`BindOptions`].
        name: &'static str,
        /// The value given.
        value: Real,
        /// The allowed range.
        range: &'static str,
    },
    /// The list of nodes is empty.
    #[error("there are no nodes to bind to")]
    NoNodes,
    /// A node or point has a coordinate that is not finite.
    #[error("{what} {index} is not finite")]
    NotFinite {
        /// Node or surfel.
        what: &'static str,
        /// Its index.
        index: usize,
    },
    /// All nodes lie in a plane or a line, and the surfel does not: weights cannot represent it.
    #[error(
        "surfel {surfel} lies {distance:e} m off the plane or line in which all nodes lie; bind it to a sheet instead"
    )]
    OffPlane {
        /// The surfel.
        surfel: usize,
        /// Distance [m].
        distance: Real,
    },
    /// The coarse mesh is not usable.
    #[error("host: {0}")]
    Host(#[from] TetMeshError),
    /// A triangle mesh is not usable.
    #[error("surface: {0}")]
    Surface(#[from] TriMeshError),
}

/// Weights of points, as concatenated lists.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// Offset of the first entry of each point in `shares`, and the end. (point_count + 1)
    pub starts: Vec<u32>,
    pub shares: Vec<Share>,
}

impl Weights {
    fn new() -> Self {
        Self { starts: vec![0], shares: Vec::new() }
    }

    /// Adds a point.
    #[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
    fn push(&mut self, shares: impl IntoIterator<Item = (u32, f64)>) {
        self.shares.extend(shares.into_iter().map(|(node, weight)| Share { node, weight: weight as Real }));
        self.starts.push(self.shares.len() as u32);
    }

    /// The entries of a point.
    pub fn of(&self, point: usize) -> &[Share] {
        &self.shares[self.starts[point] as usize..self.starts[point + 1] as usize]
    }
}

/// Barycentric weights of points in the tetrahedra that contain them, or in the nearest ones.
pub(super) fn tet_weights(host: &TetMesh, points: &[Vec3]) -> Weights {
    let corners = |t: u32| host.tets[t as usize].map(|i| widen(host.vertices[i as usize]));
    let boxes: Vec<(Vec3, Vec3)> = host.tets.iter().map(|t| bounds(t.map(|i| host.vertices[i as usize]))).collect();
    let grid = Grid::new(&boxes);
    let mut weights = Weights::new();
    for &point in points {
        let at = widen(point);
        let tet = nearest_item(&grid, &boxes, point, |t| tet_distance(&corners(t), at));
        weights.push(host.tets[tet as usize].into_iter().zip(tet_coordinates(&corners(tet), at)));
    }
    weights
}

/// Weights of the projections of points onto the nearest triangles, and the heights above them [m].
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(super) fn sheet_weights(host: &TriMesh, points: &[Vec3]) -> (Weights, Vec<Real>) {
    let corners = |t: u32| host.triangles[t as usize].map(|i| widen(host.vertices[i as usize]));
    let boxes: Vec<(Vec3, Vec3)> = (0..host.triangles.len()).map(|t| bounds(host.corners(t))).collect();
    let grid = Grid::new(&boxes);
    let mut weights = Weights::new();
    let mut heights = Vec::with_capacity(points.len());
    for &point in points {
        let at = widen(point);
        let triangle = nearest_item(&grid, &boxes, point, |t| triangle_distance(corners(t), at));
        let [a, b, c] = corners(triangle);
        weights.push(host.triangles[triangle as usize].into_iter().zip(foot([a, b, c], at)));
        let height = (at - a).dot((b - a).cross(c - a).normalize()) as Real;
        // for a point in the sheet a height within rounding is zero
        let size = (b - a).length().max((c - a).length()) as Real;
        heights.push(if height.abs() < 4.0 * Real::EPSILON * (size + point.length()) { 0.0 } else { height });
    }
    (weights, heights)
}

fn bounds<const N: usize>(corners: [Vec3; N]) -> (Vec3, Vec3) {
    (corners.iter().fold(Vec3::INFINITY, |m, c| m.min(*c)), corners.iter().fold(Vec3::NEG_INFINITY, |m, c| m.max(*c)))
}

/// The item of smallest distance; the lowest index among equals.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
fn nearest_item(grid: &Grid, boxes: &[(Vec3, Vec3)], at: Vec3, distance: impl Fn(u32) -> f64) -> u32 {
    let mut best = (f64::INFINITY, u32::MAX);
    for ring in 0.. {
        grid.shell(at, ring, |item| {
            // most items are rejected by their box
            let (low, high) = boxes[item as usize];
            if widen(at - at.clamp(low, high)).length() > best.0 || (best.0 == 0.0 && item >= best.1) {
                return;
            }
            let d = distance(item);
            if d < best.0 || (d == best.0 && item < best.1) {
                best = (d, item);
            }
        });
        let reach = grid.reach(at, ring);
        if reach == Real::INFINITY || best.0 <= reach as f64 {
            break;
        }
    }
    best.1
}

/// Barycentric coordinates of a point; they sum to one.
fn tet_coordinates(corners: &[Wide3; 4], at: Wide3) -> [f64; 4] {
    let [a, b, c, d] = *corners;
    let local = WideMat3::from_cols(b - a, c - a, d - a).inverse() * (at - a);
    [1.0 - local.x - local.y - local.z, local.x, local.y, local.z]
}

/// Distance of a point from a tetrahedron, 0 inside.
fn tet_distance(corners: &[Wide3; 4], at: Wide3) -> f64 {
    if tet_coordinates(corners, at).iter().all(|&w| w >= 0.0) {
        return 0.0;
    }
    let [a, b, c, d] = *corners;
    let faces = [[a, b, c], [a, b, d], [a, c, d], [b, c, d]];
    faces.into_iter().map(|f| triangle_distance(f, at)).fold(f64::INFINITY, f64::min)
}

/// Barycentric coordinates of the projection of a point onto the plane of a triangle; they sum to one.
fn foot([a, b, c]: [Wide3; 3], at: Wide3) -> [f64; 3] {
    let n = (b - a).cross(c - a);
    let size = n.length_squared();
    let v = (at - a).cross(c - a).dot(n) / size;
    let w = (b - a).cross(at - a).dot(n) / size;
    [1.0 - v - w, v, w]
}

fn triangle_distance(corners: [Wide3; 3], at: Wide3) -> f64 {
    let [a, b, c] = corners;
    if foot(corners, at).iter().all(|&w| w >= 0.0) {
        return (at - a).dot((b - a).cross(c - a).normalize()).abs();
    }
    let edge = |p: Wide3, q: Wide3| {
        let along = ((at - p).dot(q - p) / (q - p).length_squared()).clamp(0.0, 1.0);
        (at - p - (q - p) * along).length()
    };
    edge(a, b).min(edge(b, c)).min(edge(c, a))
}

/// Weights of moving least squares of first order:
///
/// ```text
///   c = Σ ω X / Σ ω,   A = Σ ω (X − c)(X − c)ᵀ,   N_j = ω_j (1/Σ ω + (X_s − c)ᵀ A⁻¹ (X_j − c))
/// ```
///
/// ω is the kernel of FC 3.11 at rest, with the support radius h_j of the node. Where a surfel is within the support of
/// no node or of too few, all radii are enlarged for it (Σ ω = 0 would divide by zero). Of more than `most` nodes those
/// with the largest ω are kept, and ω of the first omitted node is subtracted from theirs, so that weights vary
/// continuously along the surface.
pub(crate) fn meshless_weights(nodes: &[Vec3], points: &[Vec3], wrap: BindOptions) -> Result<Weights, BindError> {
    wrap.check()?;
    if nodes.is_empty() {
        return Err(BindError::NoNodes);
    }
    for (what, set) in [("node", nodes), ("surfel", points)] {
        if let Some(index) = set.iter().position(|p| !p.is_finite()) {
            return Err(BindError::NotFinite { what, index });
        }
    }
    let grid = Grid::of_points(nodes);
    let mut reach: Vec<Real> = spacings(nodes, &grid).iter().map(|r| r * wrap.support).collect();
    // the support of a single node covers all points
    reach.iter_mut().filter(|r| **r == 0.0).for_each(|r| *r = 1.0);
    let finder =
        Finder { nodes, widest: reach.iter().fold(0.0, |m, r| r.max(m)), reach, grid, rank: rank_of(nodes), wrap };
    let mut weights = Weights::new();
    for (surfel, &point) in points.iter().enumerate() {
        weights.push(finder.shares(surfel, point)?);
    }
    Ok(weights)
}

fn rank_of(nodes: &[Vec3]) -> usize {
    let mean = nodes.iter().fold(Wide3::ZERO, |s, &n| s + widen(n)) / nodes.len() as f64;
    let moment = nodes.iter().fold(WideMat3::ZERO, |s, &n| s + wide_outer(widen(n) - mean, widen(n) - mean));
    wide_pseudo_inverse(&moment, FLAT).rank
}

struct Finder<'a> {
    nodes: &'a [Vec3],
    grid: Grid,
    /// Support radii h_j. (node_count) [m]
    reach: Vec<Real>,
    widest: Real,
    /// Dimension of the affine span of all nodes.
    rank: usize,
    wrap: BindOptions,
}

impl Finder<'_> {
    fn shares(&self, surfel: usize, point: Vec3) -> Result<Vec<(u32, f64)>, BindError> {
        let mut found = Vec::new();
        let mut widening = 1.0;
        let mut best = Vec::new();
        for _ in 0..WIDENINGS {
            self.grid.within(self.nodes, point, self.widest * widening, &mut found);
            let mut near: Vec<(f64, u32)> = found
                .iter()
                .map(|&j| (kernel(self.nodes[j as usize] - point, self.reach[j as usize] * widening), j))
                .filter(|n| n.0 > 0.0)
                .collect();
            near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            // those with the largest weights, and more of them where they are coplanar
            let mut keep = self.wrap.most;
            loop {
                let (shares, rank) = self.fit(point, &near, keep);
                if rank == self.rank {
                    return self.check(surfel, point, shares);
                }
                if keep >= near.len() {
                    best = shares;
                    break;
                }
                keep *= 2;
            }
            widening *= 1.5;
        }
        self.check(surfel, point, best)
    }

    /// Weights over the `keep` nodes of `near` with the largest kernel values, and the dimension they span.
    fn fit(&self, point: Vec3, near: &[(f64, u32)], keep: usize) -> (Vec<(u32, f64)>, usize) {
        let cut = near.get(keep).map_or(0.0, |n| n.0);
        let kept: Vec<(f64, Wide3, u32)> = near
            .iter()
            .take(keep)
            .filter(|n| n.0 > cut)
            .map(|n| (n.0 - cut, widen(self.nodes[n.1 as usize]) - widen(point), n.1))
            .collect();
        let sum: f64 = kept.iter().map(|k| k.0).sum();
        if !(sum > 0.0) {
            return (Vec::new(), usize::MAX);
        }
        let centre = kept.iter().fold(Wide3::ZERO, |s, k| s + k.1 * (k.0 / sum));
        let moment = kept.iter().fold(WideMat3::ZERO, |s, k| s + wide_outer(k.1 - centre, k.1 - centre) * (k.0 / sum));
        let moment = wide_pseudo_inverse(&moment, FLAT);
        // the surfel is the origin here
        let lean = moment.inverse * -centre;
        let mut shares: Vec<(u32, f64)> =
            kept.iter().map(|k| (k.2, k.0 / sum * (1.0 + lean.dot(k.1 - centre)))).collect();
        shares.sort_by_key(|s| s.0);
        (shares, moment.rank)
    }

    /// Rejects weights that do not reproduce the surfel's position.
    #[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
    fn check(&self, surfel: usize, point: Vec3, shares: Vec<(u32, f64)>) -> Result<Vec<(u32, f64)>, BindError> {
        let at = shares.iter().fold(Wide3::ZERO, |s, &(j, w)| s + (widen(self.nodes[j as usize]) - widen(point)) * w);
        let distance = at.length() as Real;
        if shares.is_empty() || distance > 1e-3 * self.widest {
            return Err(BindError::OffPlane { surfel, distance });
        }
        Ok(shares)
    }
}

impl BindOptions {
    fn check(&self) -> Result<(), BindError> {
        let refuse = |name, value, range| Err(BindError::OutOfRange { name, value, range });
        if !(1.0..=10.0).contains(&self.support) {
            return refuse("support", self.support, "from 1 to 10 mean distances");
        }
        if self.most < 4 {
            return refuse("most", self.most as Real, "4 or more: a solid takes four nodes to span");
        }
        Ok(())
    }
}
