//! Sites: one noun for "a point of a body". Constraints do not depend on the kind of the body.

use super::response::{ActsOn, BodyModels, Models};
use super::row::Term;
use crate::deformable::Coordinates;
use crate::error::{Error, finite_vec};
use crate::math::{Block, Pose, Quat, Real, Sym3, Vec3, beyond_tangent, rigid_pose, vec};
use crate::model::surface::Share;
use crate::model::{Body, BodyId, Model, Nodes};
use crate::state::{ToolAnchor, ToolMemory};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, Via, choice, record};

/// A point that a constraint acts on.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let crane = world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(1.0, 0.1, 0.1)).at([0.0, 5.0, 0.0]))?;
/// let tip = Site::Rigid { body: crane, local: Vec3::X };
/// assert_eq!(world.site_position(&tip)?, Vec3::new(1.0, 5.0, 0.0));
/// assert_eq!(Site::World(Vec3::ZERO).body(), None);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Site {
    /// A position in the world [m].
    World(Vec3),
    /// A point of a rigid body, in body coordinates [m].
    Rigid {
        /// Which body.
        body: BodyId,
        /// Relative to the body's origin, body axes [m].
        local: Vec3,
    },
    /// A node of a particle body.
    Node {
        /// Which body.
        body: BodyId,
        /// Which of its nodes.
        node: u32,
    },
    /// A point of a body's surface, by its number.
    Surfel {
        /// Which body.
        body: BodyId,
        /// Which of its surface points.
        surfel: u32,
    },
    /// A point on a triangle of a body's surface.
    Face {
        /// Which body.
        body: BodyId,
        /// Which of the triangles of its surface.
        triangle: u32,
        /// Weights of its corners; they sum to one.
        weights: [Real; 3],
    },
}

impl Site {
    /// The body, if it is on one.
    pub fn body(&self) -> Option<BodyId> {
        match *self {
            Site::World(_) => None,
            Site::Rigid { body, .. }
            | Site::Node { body, .. }
            | Site::Surfel { body, .. }
            | Site::Face { body, .. } => Some(body),
        }
    }

    /// Checks the site and determines its indices.
    pub(crate) fn resolve(&self, model: &Model) -> Result<Place, Error> {
        match *self {
            Site::World(at) => {
                finite_vec("site", at)?;
                Ok(Place::World(at))
            }
            Site::Rigid { body, local } => {
                finite_vec("site.local", local)?;
                Ok(Place::Rigid { slot: body.index, local: local - model.rigid(body)?.local_center })
            }
            Site::Node { body, node } => {
                let nodes = model.nodes(body)?;
                if node as usize >= nodes.inv_mass.len() {
                    let reason = format!("node {node} does not exist, the body has {}", nodes.inv_mass.len());
                    return Err(Error::BadConstraint { constraint: "site", reason });
                }
                Ok(Place::Node { body: body.index, node })
            }
            Site::Surfel { body, surfel } => {
                let place = Place::Surface { body: body.index, surfels: [surfel; 3], weights: [1.0, 0.0, 0.0] };
                check_surfels(model.nodes(body)?, &[surfel])?;
                Ok(place)
            }
            Site::Face { body, triangle, weights } => {
                let nodes = model.nodes(body)?;
                let triangles = nodes.surface.triangles();
                let Some(&surfels) = triangles.get(triangle as usize) else {
                    return Err(bad(format!(
                        "triangle {triangle} does not exist, the surface has {}",
                        triangles.len()
                    )));
                };
                let sum: Real = weights.iter().sum();
                if !((sum - 1.0).abs() < 1e-3 && weights.iter().all(|w| w.abs() < 1e3)) {
                    return Err(bad(format!("weights {weights:?} must sum to 1")));
                }
                check_surfels(nodes, &surfels)?;
                Ok(Place::Surface { body: body.index, surfels, weights })
            }
        }
    }
}

fn bad(reason: String) -> Error {
    Error::BadConstraint { constraint: "site", reason }
}

/// Rejects surface points that do not exist or do not follow their nodes linearly.
pub(crate) fn check_surfels(nodes: &Nodes, surfels: &[u32]) -> Result<(), Error> {
    for &surfel in surfels {
        if surfel as usize >= nodes.surface.len() {
            return Err(bad(format!("surfel {surfel} does not exist, the surface has {}", nodes.surface.len())));
        }
        if nodes.surface.offset(surfel) != 0.0 {
            return Err(bad(format!("surfel {surfel} lies above its sheet: name one that lies in it, or a node")));
        }
    }
    Ok(())
}

/// True for a body whose model computes the response to impulses on its nodes.
pub(crate) fn has_own_response(model: &Model, slot: u32) -> bool {
    model.nodes_at(slot).is_some_and(|n| n.coordinates == Coordinates::Own)
}

/// Rejects a body whose model computes the response: a constraint with rows on its nodes uses their inverse masses.
pub(crate) fn check_lumped(constraint: &'static str, nodes: &Nodes) -> Result<(), Error> {
    if nodes.coordinates != Coordinates::Own {
        return Ok(());
    }
    let reason = "the coordinates of its model have a response of their own: attach sites of its surface".to_owned();
    Err(Error::BadConstraint { constraint, reason })
}

/// A site by its indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    World(Vec3),
    /// Relative to the centre of mass.
    Rigid {
        slot: u32,
        local: Vec3,
    },
    Node {
        body: u32,
        node: u32,
    },
    /// A weighted sum of surfels.
    Surface {
        body: u32,
        surfels: [u32; 3],
        weights: [Real; 3],
    },
}

impl Place {
    /// Slot of its body.
    pub fn slot(&self) -> Option<u32> {
        match *self {
            Place::World(_) => None,
            Place::Rigid { slot, .. } => Some(slot),
            Place::Node { body, .. } | Place::Surface { body, .. } => Some(body),
        }
    }

    /// True on a body with nodes.
    pub fn on_nodes(&self) -> bool {
        matches!(self, Place::Node { .. } | Place::Surface { .. })
    }

    /// Maximum number of terms that a row has here.
    pub fn term_count(&self, model: &Model) -> usize {
        match *self {
            Place::World(_) => 0,
            Place::Rigid { .. } => 2,
            // an impulse may change the velocity of every coordinate
            Place::Node { body, .. } | Place::Surface { body, .. } if has_own_response(model, body) => {
                model.nodes_at(body).map_or(0, |n| n.inv_mass.len())
            }
            Place::Node { .. } => 1,
            Place::Surface { .. } => {
                let mut count = 0;
                self.shares(model, |_, _| count += 1);
                count
            }
        }
    }

    /// Nodes that determine it, with their weights; a node may occur more than once.
    pub fn shares(&self, model: &Model, mut found: impl FnMut(u32, Real)) {
        match *self {
            Place::World(_) | Place::Rigid { .. } => {}
            Place::Node { node, .. } => found(node, 1.0),
            Place::Surface { body, surfels, weights } => {
                let Some(nodes) = model.nodes_at(body) else { return };
                for (&surfel, weight) in surfels.iter().zip(weights).filter(|(_, w)| *w != 0.0) {
                    for share in nodes.surface.shares(surfel) {
                        found(share.node, share.weight * weight);
                    }
                }
            }
        }
    }
}

/// Input of the constraint rows: poses, velocities and inverse masses of all bodies in this substep.
///
/// An example is at [`Rows`](crate::Rows).
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(crate) model: &'a Model,
    pub(crate) velocity: &'a [Block],
    pub(crate) pose: &'a [Block],
    pub(crate) inertia: &'a [Block],
    pub(crate) soft: &'a dyn BodyModels,
    pub(crate) internal_state: &'a [Real],
    pub(crate) tools: &'a [ToolMemory],
    pub(crate) anchors: &'a [ToolAnchor],
    /// Time since the start of the step [s].
    pub(crate) elapsed: Real,
    /// Substep [s].
    pub h: Real,
}

impl View<'_> {
    /// Pose of a rigid body's origin.
    pub fn body_pose(&self, body: BodyId) -> Result<Pose, Error> {
        let rigid = self.model.rigid(body)?;
        let (x, q) = self.center(body.index);
        Ok(rigid.origin(x, q))
    }

    /// World position of a site [m].
    pub fn position(&self, site: &Site) -> Result<Vec3, Error> {
        Ok(self.point(&site.resolve(self.model)?))
    }

    pub(crate) fn center(&self, slot: u32) -> (Vec3, Quat) {
        rigid_pose(self.pose, slot)
    }

    fn inv_inertia(&self, slot: u32) -> Sym3 {
        let (a, b) = (self.inertia[2 * slot as usize], self.inertia[2 * slot as usize + 1]);
        Sym3 { xx: a[0], yy: a[1], zz: a[2], xy: a[3], xz: b[0], yz: b[1] }
    }

    pub(crate) fn node_block(&self, body: u32, node: u32) -> u32 {
        let start = match self.model.bodies.at(body) {
            Some(Body::Nodes(n)) => n.start,
            _ => 0,
        };
        self.model.node_block(start + node)
    }

    pub(crate) fn point(&self, place: &Place) -> Vec3 {
        match *place {
            Place::World(at) => at,
            Place::Rigid { slot, local } => {
                let (x, q) = self.center(slot);
                x + q * local
            }
            Place::Node { body, node } => self.node(body, node),
            Place::Surface { body, .. } => self.blend(self.pose, place, body),
        }
    }

    /// Motion of a point of a rigid body at `arm` beyond its tangent, per substep: ½h ω × (ω × arm) in second order [m/s],
    /// towards the axis of rotation. A row with this term ends on the circular path instead of on its tangent, and a
    /// pendulum conserves its energy (SHAKE); without it a joint dissipates energy in proportion to the substep.
    pub(crate) fn bend(&self, slot: u32, arm: Vec3) -> Vec3 {
        let w = vec(self.velocity[2 * slot as usize + 1]);
        // a body with unequal principal moments of inertia also changes its angular velocity while it rotates: I ω̇ =
        // −ω × Iω
        let mut change = Vec3::ZERO;
        if let Some(rigid) = self.model.rigid_at(slot).filter(|r| r.gyroscopic && r.is_dynamic()) {
            let (_, q) = self.center(slot);
            let local = q.inverse() * w;
            change = q * rigid.inv_inertia.mul(rigid.inertia.mul(local).cross(local));
        }
        // the rotation is that of the middle of the substep
        let half = change * (0.5 * self.h);
        beyond_tangent((w + half) * self.h, arm) / self.h + half.cross(arm)
    }

    /// Velocity of a place [m/s].
    pub(crate) fn velocity_of(&self, place: &Place) -> Vec3 {
        let of = |block: u32| vec(self.velocity[block as usize]);
        match *place {
            Place::World(_) => Vec3::ZERO,
            Place::Rigid { slot, local } => {
                let (_, q) = self.center(slot);
                of(2 * slot) + of(2 * slot + 1).cross(q * local)
            }
            Place::Node { body, node } => of(self.node_block(body, node)),
            Place::Surface { body, .. } => self.blend(self.velocity, place, body),
        }
    }

    /// Position of a node [m].
    pub(crate) fn node(&self, body: u32, node: u32) -> Vec3 {
        vec(self.pose[self.node_block(body, node) as usize])
    }

    /// Term of an impulse along `axis` at a node or at a rigid body's centre of mass.
    pub(crate) fn node_term(&self, block: u32, axis: Vec3) -> Term {
        Term { block, jacobian: axis, response: axis * self.velocity[block as usize][3] }
    }

    /// Weighted sum of node vectors at a point of a surface.
    fn blend(&self, from: &[Block], place: &Place, body: u32) -> Vec3 {
        let mut sum = Vec3::ZERO;
        place.shares(self.model, |node, weight| {
            sum += vec(from[self.node_block(body, node) as usize]) * weight;
        });
        sum
    }

    /// Terms of an impulse along `axis` at a place; `point` is the point of application in the world.
    pub(crate) fn push_terms(&self, place: &Place, axis: Vec3, point: Vec3, out: &mut Terms) {
        match *place {
            Place::World(_) => {}
            Place::Rigid { slot, .. } => {
                self.rigid_terms(slot, axis, point, |term| out.add(term));
            }
            Place::Node { body, .. } | Place::Surface { body, .. } if has_own_response(self.model, body) => {
                place.shares(self.model, |node, weight| {
                    self.model_terms(body, (node, weight), axis, point, |term| out.add(term));
                });
            }
            Place::Node { body, node } => {
                out.add(self.node_term(self.node_block(body, node), axis));
            }
            Place::Surface { body, .. } => {
                place.shares(self.model, |node, weight| {
                    out.add(self.node_term(self.node_block(body, node), axis * weight));
                });
            }
        }
    }

    /// Terms of an impulse along `axis` on the node of a body whose model computes the response, with a weight. `merge`
    /// must add terms of the same block.
    pub(crate) fn model_terms(
        &self,
        slot: u32,
        (node, weight): (u32, Real),
        axis: Vec3,
        at: Vec3,
        merge: impl FnMut(Term),
    ) {
        let Some(nodes) = self.model.nodes_at(slot) else { return };
        let shares = [Share { node, weight }];
        let View { soft, pose, velocity, internal_state, .. } = *self;
        let models = Models { soft, pose, velocity, internal_state };
        models.terms(self.model, ActsOn { slot, nodes, shares: &shares, at }, axis, merge);
    }

    /// The two terms of an impulse along `axis` on a rigid body, applied at `point`: linear, then angular.
    pub(crate) fn rigid_terms(&self, slot: u32, axis: Vec3, point: Vec3, mut add: impl FnMut(Term)) {
        let (x, _) = self.center(slot);
        add(self.node_term(2 * slot, axis));
        add(self.twist_term(slot, (point - x).cross(axis)));
    }

    /// Term of a torque on a rigid body.
    pub(crate) fn twist_term(&self, slot: u32, axis: Vec3) -> Term {
        Term { block: 2 * slot + 1, jacobian: axis, response: self.inv_inertia(slot).mul(axis) }
    }

    /// Adds the term of a torque on a rigid body.
    pub(crate) fn twist_terms(&self, slot: u32, axis: Vec3, out: &mut Terms) {
        out.add(self.twist_term(slot, axis));
    }
}

/// Terms of one row during its assembly.
#[derive(Clone, Debug)]
pub struct Terms {
    items: [Term; Self::MOST],
    len: usize,
}

impl Default for Terms {
    fn default() -> Self {
        Self { items: [Term { block: 0, jacobian: Vec3::ZERO, response: Vec3::ZERO }; Self::MOST], len: 0 }
    }
}

impl Terms {
    /// Maximum number of terms.
    pub(crate) const MOST: usize = 16;

    /// Adds a term, or adds to the one on the same block; beyond sixteen they are left out (constraints that might have
    /// more are rejected when they are added).
    pub(crate) fn add(&mut self, term: Term) {
        if let Some(t) = self.items[..self.len].iter_mut().find(|t| t.block == term.block) {
            (t.jacobian, t.response) = (t.jacobian + term.jacobian, t.response + term.response);
        } else if self.len < self.items.len() {
            self.items[self.len] = term;
            self.len += 1;
        }
    }

    /// The terms so far.
    pub(crate) fn as_slice(&self) -> &[Term] {
        &self.items[..self.len]
    }

    /// Sum of Jacobian · response: the response J·M⁻¹·Jᵀ of the row.
    pub(crate) fn answer(&self) -> Real {
        self.as_slice().iter().map(|t| t.jacobian.dot(t.response)).sum()
    }
}

choice!(Site, "site", "A point of a body or of the world.", {
    "world" => World, "A point of the world.", { 0 point: Vec3, FINITE, "Position [m]."; };
    "body" => Rigid, "A point of a rigid body.", {
        body body: BodyId, ANY, "Which body.";
        local local: Vec3, FINITE => Vec3::ZERO, "Relative to its origin, body axes [m].";
    };
    "node" => Node, "A node of particles or of a soft body.", {
        body body: BodyId, ANY, "Which body.";
        node node: u32, ANY, "Which of its nodes.";
    };
    "surfel" => Surfel, "A point of a body's surface, by its number.", {
        body body: BodyId, ANY, "Which body.";
        surfel surfel: u32, ANY, "Which of its surface points.";
    };
    "face" => Face, "A point on a triangle of a body's surface.", {
        body body: BodyId, ANY, "Which body.";
        triangle triangle: u32, ANY, "Which triangle of its surface.";
        weights weights: [Real; 3], FINITE, "Weights of its corners; they sum to one.";
    };
});

/// Stiffness and damping, as they are described.
pub(crate) struct Spring {
    stiffness: Real,
    damping: Real,
}

record!(Spring, "spring", "Stiffness and damping.", Spring { stiffness: 0.0, damping: 0.0 }, {
    stiffness [required]: NOT_NEGATIVE, "Stiffness [N/m]; without: rigid.";
    damping: NOT_NEGATIVE, "Damping beside the stiffness [N·s/m].";
});

impl Via<(Real, Real)> for Spring {
    fn of(&(stiffness, damping): &(Real, Real)) -> Self {
        Self { stiffness, damping }
    }

    fn back(self) -> (Real, Real) {
        (self.stiffness, self.damping)
    }
}
