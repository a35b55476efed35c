//! Exchange of the deformation model of a body while the world runs.

use super::World;
use crate::collision::surface::point_triangle;
use crate::constraint::Site;
use crate::error::Error;
use crate::math::{Block, Mat3, Real, Vec3, nearest_rotation, outer};
use crate::model::exchange::{Exchange, SourceState, TargetBody, exchange};
use crate::model::surface::BindOptions;
use crate::model::topology::TriangleIndex;
use crate::model::{BodyId, NodeSource, Nodes, Remap, SoftBody, Start, mean_edge};

impl World {
    /// Replaces the model of a soft body: other elements, another mesh, another family. Shape, position, velocity,
    /// linear and angular momentum are transferred from the old nodes to the new ones, see
    /// [`exchange`](fn@crate::exchange); when both have an embedded surface mesh (skin) with the same number of points,
    /// that mesh keeps its shape.
    ///
    /// `body` is in the coordinates of the old rest shape; its pose, velocity and spin are not used. The new body has a
    /// new id in the same slot. Constraints follow: a node, surface point or triangle that the new rest shape has at the
    /// same place keeps what is attached to it, with its impulses; other points of the surface become the nearest points
    /// of the new one, up to a mean edge length away. What cannot follow is in [`Exchange::constraints`]. Contacts keep
    /// their memory where their features remain. The internal variables of the old model (plastic flow) are dropped.
    /// Pinned nodes and loads are those of the new body; its `pinned_axes` are not used, because those of the old body
    /// are constraints that follow. On an error the world is unchanged.
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let block = |cells| TetMesh::block([cells; 3], Vec3::splat(0.1));
    /// let matter = ElasticMaterial::new(2e4, 0.3, 1000.0);
    /// let coarse = SoftBody::corotational(block(2)?, matter).at([0.0, 1.0, 0.0]).velocity([1.0, 0.0, 0.0]);
    /// let coarse = world.add_soft(coarse)?;
    /// world.step(&Input::none());
    /// let (fine, report) = world.exchange_model(coarse, SoftBody::corotational(block(4)?, matter))?;
    /// assert!(world.body(coarse).is_err() && world.body(fine)?.node_positions().len() == 125);
    /// assert!((report.kinetic[0] - report.kinetic[1]).abs() < 1e-3 * report.kinetic[0]);
    /// # Ok(()) }
    /// ```
    pub fn exchange_model(&mut self, id: BodyId, body: SoftBody) -> Result<(BodyId, Exchange), Error> {
        let old = self.soft_nodes(id)?;
        let NodeSource::Soft(source) = &old.source else {
            return Err(Error::WrongKind(id, "set of particles", "soft body"));
        };
        let refuse = |reason: String| Error::BadShape { shape: "exchanged model".into(), reason };
        let both_skinned = source.skin.is_some() && body.skin.is_some();
        let old_rest = source.build("soft body")?.rest;
        let rest = body.build("exchanged model")?.rest;
        let body = SoftBody { pinned_axes: Vec::new(), ..body };
        let (mut new, mut begin) = Nodes::of_soft(body, old.start, old.internal_state_start)?;
        new.topology = old.topology.wrapping_add(1);
        new.surface_topology = new.topology;

        let block = |v: &Vec3, w: Real| -> Block { [v.x, v.y, v.z, w] };
        let x: Vec<Block> = self.state.node_x[old.span()].iter().map(|x| block(x, 0.0)).collect();
        let v: Vec<Block> = self.state.node_v[old.span()].iter().map(|v| block(v, 0.0)).collect();
        let same_skin = both_skinned && old.surface.len() == new.surface.len();
        let leaving = SourceState {
            rest: &old_rest,
            masses: &old.mass,
            x: &x,
            v: &v,
            surface: same_skin.then_some(&old.surface),
        };
        let entering = TargetBody { rest: &rest, masses: &new.mass, surface: same_skin.then_some(&new.surface) };
        let mut done = exchange(&leaving, &entering, BindOptions::default()).map_err(|e| refuse(e.to_string()))?;
        begin.positions = done.x.iter().map(|x| Vec3::new(x[0], x[1], x[2])).collect();
        let moving = done.v.iter().zip(&new.inv_mass);
        begin.velocities =
            moving.map(|(v, &m)| if m > 0.0 { Vec3::new(v[0], v[1], v[2]) } else { Vec3::ZERO }).collect();
        turn_particles(&new, &rest, &mut begin);

        let places = Places::new((old, &old_rest), (&new, &rest), same_skin);
        done.remap = places.remap();
        let elements = match &new.source {
            NodeSource::Soft(source) => source.geometry.element_count(),
            NodeSource::Particles(_) => 0,
        };
        let generation = self.model.bodies.renew(id.index);
        let fresh = BodyId { index: id.index, generation };
        let near = |site: Site| places.near(site, fresh);
        done.constraints = self.replace_nodes(id, fresh, (new, begin), &done.remap, Some(&near));
        self.state.flags[id.index as usize] = 0;
        self.state.set_topology(id.index, self.model.stamp(id.index).topology);
        self.tell_topology(fresh, elements);
        Ok((fresh, done))
    }
}

/// Where the parts of an exchanged body are at rest.
struct Places {
    /// Nodes and surface points of the old and the new body at rest [m].
    nodes: [Vec<Vec3>; 2],
    surfels: [Vec<Vec3>; 2],
    triangles: [Vec<[u32; 3]>; 2],
    /// Mean edge of the new surface [m].
    edge: Real,
    /// Both have the same skin.
    same_skin: bool,
}

/// Distance below which two places are the same, in mean edge lengths.
const SAME: Real = 1e-3;

impl Places {
    fn new((old, old_rest): (&Nodes, &[Vec3]), (new, rest): (&Nodes, &[Vec3]), same_skin: bool) -> Self {
        Self {
            nodes: [old_rest.to_vec(), rest.to_vec()],
            surfels: [old.rest.clone(), new.rest.clone()],
            triangles: [old.surface.triangles().to_vec(), new.surface.triangles().to_vec()],
            edge: mean_edge(&new.cells, &new.rest),
            same_skin,
        }
    }

    /// The point of a list at each place of another, none where there is none.
    fn coincident(&self, [old, new]: &[Vec<Vec3>; 2]) -> Vec<Option<u32>> {
        let bound = SAME * if self.edge > 0.0 { self.edge } else { 1.0 };
        // sorted by x: only those within the bound are compared
        let mut sorted: Vec<(Real, u32)> = new.iter().zip(0..).map(|(p, k)| (p.x, k)).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let find = |p: &Vec3| {
            let from = sorted.partition_point(|s| s.0 < p.x - bound);
            let near = sorted[from..].iter().take_while(|s| s.0 <= p.x + bound);
            near.map(|s| s.1).find(|&k| new[k as usize].distance(*p) <= bound)
        };
        old.iter().map(find).collect()
    }

    fn remap(&self) -> Remap {
        let nodes = self.coincident(&self.nodes);
        let surfels = if self.same_skin {
            (0..self.surfels[0].len() as u32).map(Some).collect()
        } else {
            self.coincident(&self.surfels)
        };
        let after = TriangleIndex::new(self.triangles[1].iter().copied().zip(0..));
        let follow = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|s| surfels[s as usize]);
            after.find([a?, b?, c?])
        };
        let cells: Vec<_> = self.triangles[0].iter().map(follow).collect();
        Remap { nodes, surfels, ..Remap::default() }.with_cells(cells.into_iter())
    }

    /// The point of the new surface nearest to a site at rest.
    fn near(&self, site: Site, body: BodyId) -> Option<Site> {
        let at = match site {
            Site::Node { node, .. } => *self.nodes[0].get(node as usize)?,
            Site::Surfel { surfel, .. } => *self.surfels[0].get(surfel as usize)?,
            Site::Face { triangle, weights, .. } => {
                let corners = self.triangles[0].get(triangle as usize)?;
                corners.iter().zip(weights).fold(Vec3::ZERO, |sum, (&s, w)| sum + self.surfels[0][s as usize] * w)
            }
            Site::World(_) | Site::Rigid { .. } => return Some(site),
        };
        let nearest = self.triangles[1].iter().zip(0..).map(|(corners, triangle)| {
            let [a, b, c] = corners.map(|s| self.surfels[1][s as usize]);
            let weights = point_triangle(at, [a, b, c]);
            let on = a * weights[0] + b * weights[1] + c * weights[2];
            (on.distance(at), triangle, weights)
        });
        let (distance, triangle, weights) = nearest.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance <= self.edge).then_some(Site::Face { body, triangle, weights })
    }
}

/// Oriented particles get the mean rotation of the body; the old model contains no more information.
fn turn_particles(new: &Nodes, rest: &[Vec3], begin: &mut Start) {
    let Some(model) = new.fresh.as_ref().filter(|_| !new.radii.is_empty()) else { return };
    let (mut total, mut from, mut to) = (0.0, Vec3::ZERO, Vec3::ZERO);
    for ((&m, &r), &x) in new.mass.iter().zip(rest).zip(&begin.positions) {
        (total, from, to) = (total + m, from + r * m, to + x * m);
    }
    let (from, to) = (from / total, to / total);
    let parts = new.mass.iter().zip(rest).zip(&begin.positions);
    let moment = parts.fold(Mat3::ZERO, |sum, ((&m, &r), &x)| sum + outer(x - to, r - from) * m);
    model.start(nearest_rotation(&moment), Vec3::ZERO, &mut begin.internal_state);
}
