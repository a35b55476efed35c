//! The contact surface: surface points (surfels) bound to nodes by constant weights, and triangles between them.
//!
//! Displacements are interpolated, u_s = Σ N_sj u_j, and forces are distributed by the transpose, f_j = Σ N_sj f_s, so
//! that force, torque and work are preserved (erratum to FC 3.12). With Σ_j N_sj = 1 and Σ_j N_sj X_j = X_s positions
//! follow by the same weights.
//!
//! Bindings (FC 3.2): surfels that are nodes; barycentric in a coarse mesh; moving least squares over bare nodes. A
//! surfel above a sheet has an offset o along the normal n of its three nodes in addition to the weights, x_s = Σ N_sj
//! x_j + o n(x): its force is distributed by the transpose of the derivative of that map at x.
//!
//! *Inflation.* A skin outside its nodes is displaced along its rest normals before it is bound ([`offset`]): the
//! distance is then contained in the weights, which extrapolate, and the map stays linear and exact. (FC Fig. 3.9
//! varies another quantity with h: the support radius of the nodes, here [`BindOptions::support`].)

mod bind;
mod cells;
#[cfg(test)]
mod tests;

pub use bind::{BindError, BindOptions};
pub(crate) use bind::{Weights, meshless_weights};
pub(crate) use cells::{Cells, NONE};

use super::tet_mesh::TetMesh;
use super::tri_mesh::TriMesh;
use crate::math::{Block, Real, Vec3, vec};

/// One term of the interpolation of a surfel: a node of the body and its weight.
///
/// ```
/// use sinew::*;
/// let rope = Surface::rope(3);
/// assert_eq!(rope.shares(1), [Share { node: 1, weight: 1.0 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Node of the body.
    pub node: u32,
    /// Weight; a surfel's weights sum to one.
    pub weight: Real,
}

/// Surfels, the nodes they follow, and triangles over them.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([1, 1, 1], Vec3::ONE)?;
/// let surface = Surface::boundary(&block);
/// assert_eq!((surface.len(), surface.triangles().len()), (8, 12));
/// // a force on a surface point is distributed to its nodes, and the total is preserved
/// let mut forces = vec![Vec3::ZERO; block.vertices.len()];
/// surface.spread(0, Vec3::Y, &mut forces);
/// assert_eq!(forces.iter().sum::<Vec3>(), Vec3::Y);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Offset of the first entry of each surfel in `shares`, and the end. (surfel_count + 1)
    starts: Vec<u32>,
    shares: Vec<Share>,
    triangles: Vec<[u32; 3]>,
    /// Segments without triangles: ropes.
    segments: Vec<[u32; 2]>,
    /// True when it encloses a volume: normals then point out of the body.
    solid: bool,
    /// Height above the three nodes of each surfel; empty when weights alone determine the positions. (surfel_count)
    /// [m]
    offsets: Vec<Real>,
    /// Every surfel is a node: it has one entry of weight one.
    plain: bool,
}

impl Surface {
    /// Surfels that are nodes: `nodes` lists them, `triangles` are indices into that list.
    pub fn of_nodes(nodes: impl IntoIterator<Item = u32>, triangles: Vec<[u32; 3]>) -> Self {
        let shares: Vec<Share> = nodes.into_iter().map(|node| Share { node, weight: 1.0 }).collect();
        let starts = (0..=shares.len() as u32).collect();
        Self { starts, shares, triangles, plain: true, ..Self::default() }
    }

    /// Nodes in sequence, with a segment from each to the next.
    pub fn rope(count: u32) -> Self {
        let segments = (1..count).map(|i| [i - 1, i]).collect();
        Self { segments, ..Self::of_nodes(0..count, Vec::new()) }
    }

    /// Triangles and segments with the vertices and edges each owns.
    pub(crate) fn cells(&self) -> Cells {
        Cells::new(self.len(), &self.triangles, &self.segments)
    }

    /// A surface that encloses the body: outward triangles over nodes; surfels are the nodes they use, in order.
    pub(crate) fn enclosing(node_count: usize, triangles: Vec<[u32; 3]>) -> Self {
        let mut number = vec![u32::MAX; node_count];
        for &corner in triangles.iter().flatten() {
            number[corner as usize] = 0;
        }
        let nodes: Vec<u32> = (0..node_count as u32).filter(|&n| number[n as usize] == 0).collect();
        for (k, &n) in nodes.iter().enumerate() {
            number[n as usize] = k as u32;
        }
        let triangles = triangles.into_iter().map(|f| f.map(|n| number[n as usize])).collect();
        Self { solid: true, ..Self::of_nodes(nodes, triangles) }
    }

    /// The boundary of a tetrahedral mesh: faces of one tetrahedron only, with outward orientation, over the nodes they
    /// use.
    pub fn boundary(mesh: &TetMesh) -> Self {
        Self::enclosing(mesh.vertices.len(), mesh.boundary_faces())
    }

    /// All vertices and triangles of a sheet.
    pub fn sheet(mesh: &TriMesh) -> Self {
        Self::of_nodes(0..mesh.vertices.len() as u32, mesh.triangles.clone())
    }

    /// A detailed mesh in a coarse tetrahedral one, both at rest: each vertex follows the tetrahedron that contains it
    /// by its barycentric weights, or the nearest one by extrapolated weights.
    pub fn embedded(host: &TetMesh, mesh: &TriMesh) -> Result<Self, BindError> {
        host.check()?;
        mesh.check()?;
        Ok(Self::bound(bind::tet_weights(host, &mesh.vertices), mesh, Vec::new()))
    }

    /// A detailed mesh on or near a coarse sheet, both at rest: each vertex follows the nearest triangle by the weights
    /// of its projection and keeps its height above it.
    pub fn embedded_in_sheet(host: &TriMesh, mesh: &TriMesh) -> Result<Self, BindError> {
        host.check()?;
        mesh.check()?;
        let (weights, offsets) = bind::sheet_weights(host, &mesh.vertices);
        Ok(Self::bound(weights, mesh, offsets))
    }

    /// A mesh over bare nodes, both at rest, by moving least squares of first order: FC 3.9 with its ∇u term included
    /// in constant weights.
    pub fn meshless(nodes: &[Vec3], mesh: &TriMesh, wrap: BindOptions) -> Result<Self, BindError> {
        mesh.check()?;
        Ok(Self::bound(meshless_weights(nodes, &mesh.vertices, wrap)?, mesh, Vec::new()))
    }

    fn bound(weights: Weights, mesh: &TriMesh, offsets: Vec<Real>) -> Self {
        let Weights { starts, shares } = weights;
        let (triangles, solid) = (mesh.triangles.clone(), mesh.is_closed());
        Self { starts, shares, triangles, solid, offsets, ..Self::default() }
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

    /// Segments over the surfels that belong to no triangle: ropes.
    pub fn segments(&self) -> &[[u32; 2]] {
        &self.segments
    }

    /// True when it encloses a volume: normals then point out of the body.
    pub fn is_solid(&self) -> bool {
        self.solid
    }

    /// The nodes that determine a surfel, with their weights.
    pub fn shares(&self, surfel: u32) -> &[Share] {
        &self.shares[self.starts[surfel as usize] as usize..self.starts[surfel as usize + 1] as usize]
    }

    /// Largest number of nodes that determine a surfel.
    pub(crate) fn most_shares(&self) -> usize {
        self.starts.windows(2).map(|span| (span[1] - span[0]) as usize).max().unwrap_or(0)
    }

    /// True when surfel k is node k of `count`, and there are no others.
    pub(crate) fn is_all_nodes(&self, count: usize) -> bool {
        let same = |(surfel, share): (usize, &Share)| share.node as usize == surfel && share.weight == 1.0;
        let single = self.shares.len() == count && self.len() == count;
        single && self.shares.iter().enumerate().all(same) && (0..count as u32).all(|s| self.offset(s) == 0.0)
    }

    /// The node of each surfel; none when some depend on several nodes.
    pub(crate) fn nodes(&self) -> Option<&[Share]> {
        self.plain.then_some(&self.shares[..])
    }

    /// Height of a surfel above the plane of its three nodes [m]; 0 when weights alone determine its position.
    pub fn offset(&self, surfel: u32) -> Real {
        self.offsets.get(surfel as usize).copied().unwrap_or(0.0)
    }

    /// Position of a surfel when the nodes are at `x` [m].
    #[inline]
    pub fn position<P: Coordinates>(&self, surfel: u32, x: &[P]) -> Vec3 {
        if let Some(nodes) = self.nodes() {
            return x[nodes[surfel as usize].node as usize].vector();
        }
        let foot = self.blend(surfel, x);
        match self.offset(surfel) {
            0.0 => foot,
            offset => foot + self.frame(surfel, x).2 * offset,
        }
    }

    /// Velocity of a surfel when the nodes are at `x` [m] and move with `v` [m/s].
    pub fn velocity<P: Coordinates>(&self, surfel: u32, x: &[P], v: &[P]) -> Vec3 {
        let foot = self.blend(surfel, v);
        let offset = self.offset(surfel);
        if offset == 0.0 {
            return foot;
        }
        // ṅ = (1 − n nᵀ) ȧ / |a| of the doubled area a = e × g
        let (e, g, n, size) = self.edges(surfel, x);
        let (de, dg, ..) = self.edges(surfel, v);
        let da = de.cross(g) + e.cross(dg);
        foot + (da - n * n.dot(da)) * (offset / size)
    }

    /// All positions, in the order of surfels [m]. No allocation once `out` has its capacity.
    pub fn positions<P: Coordinates>(&self, x: &[P], out: &mut Vec<Vec3>) {
        out.clear();
        match self.nodes() {
            Some(nodes) => out.extend(nodes.iter().map(|share| x[share.node as usize].vector())),
            None => out.extend((0..self.len() as u32).map(|s| self.position(s, x))),
        }
    }

    /// All velocities, in the order of surfels [m/s].
    pub(crate) fn velocities<P: Coordinates>(&self, x: &[P], v: &[P], out: &mut Vec<Vec3>) {
        out.clear();
        match self.nodes() {
            Some(nodes) => out.extend(nodes.iter().map(|share| v[share.node as usize].vector())),
            None => out.extend((0..self.len() as u32).map(|s| self.velocity(s, x, v))),
        }
    }

    /// Unit normals at the surfels from their `positions`, triangles weighted by area; zero for a surfel without
    /// triangles. No allocation once `out` has its capacity.
    pub fn normals(&self, positions: &[Vec3], out: &mut Vec<Vec3>) {
        out.clear();
        out.resize(positions.len(), Vec3::ZERO);
        add_normals(positions, &self.triangles, out);
        out.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    }

    /// The normal at a surfel as computed by `normals`, from the triangles around it in ascending order.
    pub(crate) fn normal_from(&self, positions: &[Vec3], around: &[u32]) -> Vec3 {
        let area = |sum: Vec3, &t: &u32| sum + doubled_area(positions, self.triangles[t as usize]);
        around.iter().fold(Vec3::ZERO, area).normalize_or_zero()
    }

    /// Adds a surfel's force [N] (or impulse) to its nodes, by the transpose of the weights. Exact in force, torque and
    /// power except for surfels with an offset, whose lever arm it neglects: see [`Surface::spread_at`].
    pub fn spread(&self, surfel: u32, force: Vec3, out: &mut [Vec3]) {
        for share in self.shares(surfel) {
            out[share.node as usize] += force * share.weight;
        }
    }

    /// [`Surface::spread`] with the lever arm of an offset, when the nodes are at `x` [m]: the transpose of
    /// [`Surface::velocity`].
    pub fn spread_at<P: Coordinates>(&self, surfel: u32, force: Vec3, x: &[P], out: &mut [Vec3]) {
        self.spread(surfel, force, out);
        let offset = self.offset(surfel);
        if offset == 0.0 {
            return;
        }
        // power of ṅ: w·(ė × g + e × ġ) with w = o (1 − n nᵀ) f / |a|
        let (e, g, n, size) = self.edges(surfel, x);
        let w = (force - n * n.dot(force)) * (offset / size);
        let (on_b, on_c) = (g.cross(w), w.cross(e));
        let nodes = self.shares(surfel);
        out[nodes[0].node as usize] -= on_b + on_c;
        out[nodes[1].node as usize] += on_b;
        out[nodes[2].node as usize] += on_c;
    }

    /// Σ N_sj y_j.
    #[inline]
    fn blend<P: Coordinates>(&self, surfel: u32, y: &[P]) -> Vec3 {
        let shares = self.shares(surfel);
        // a surfel that is a node
        if let [Share { node, weight: 1.0 }] = shares {
            return y[*node as usize].vector();
        }
        shares.iter().fold(Vec3::ZERO, |sum, s| sum + y[s.node as usize].vector() * s.weight)
    }

    /// Edges of the three nodes of a surfel with an offset, and their unit normal.
    fn frame<P: Coordinates>(&self, surfel: u32, x: &[P]) -> (Vec3, Vec3, Vec3) {
        let (e, g, n, _) = self.edges(surfel, x);
        (e, g, n)
    }

    /// Two edges of the three nodes, their unit normal and twice the area.
    fn edges<P: Coordinates>(&self, surfel: u32, x: &[P]) -> (Vec3, Vec3, Vec3, Real) {
        let [a, b, c] = [0, 1, 2].map(|k| x[self.shares(surfel)[k].node as usize].vector());
        let (e, g) = (b - a, c - a);
        let area = e.cross(g);
        let size = area.length().max(Real::MIN_POSITIVE);
        (e, g, area / size, size)
    }
}

/// A mesh with its vertices moved outward by `distance` [m] along their rest normals (triangles weighted by area); a
/// negative distance shrinks it.
pub fn offset(mesh: &TriMesh, distance: Real) -> TriMesh {
    let mut normals = vec![Vec3::ZERO; mesh.vertices.len()];
    add_normals(&mesh.vertices, &mesh.triangles, &mut normals);
    let vertices = mesh.vertices.iter().zip(&normals).map(|(&v, n)| v + n.normalize_or_zero() * distance).collect();
    TriMesh { vertices, triangles: mesh.triangles.clone() }
}

/// Adds twice the area vector of each triangle to its corners.
fn add_normals(positions: &[Vec3], triangles: &[[u32; 3]], out: &mut [Vec3]) {
    for &[i, j, k] in triangles {
        let area = doubled_area(positions, [i, j, k]);
        out[i as usize] += area;
        out[j as usize] += area;
        out[k as usize] += area;
    }
}

/// Twice the area vector of a triangle [m²].
fn doubled_area(positions: &[Vec3], corners: [u32; 3]) -> Vec3 {
    let [a, b, c] = corners.map(|i| positions[i as usize]);
    (b - a).cross(c - a)
}

/// Three coordinates, in the layout of State or of the solver.
pub trait Coordinates {
    /// The vector of the three coordinates.
    fn vector(&self) -> Vec3;
}

impl Coordinates for Vec3 {
    fn vector(&self) -> Vec3 {
        *self
    }
}

impl Coordinates for Block {
    fn vector(&self) -> Vec3 {
        vec(*self)
    }
}
