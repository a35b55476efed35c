//! The model: constants since the last edit. Bodies, constraints, and their indices.

mod custom;
pub mod exchange;
pub(crate) mod grid;
mod ids;
pub(crate) mod layer;
pub(crate) mod load;
mod material;
mod matter;
mod nodes;
mod pairs;
pub mod particle_skin;
mod particles;
pub mod primitives;
mod reserve;
mod rigid;
mod shape;
mod soft;
pub mod surface;
pub mod tet_mesh;
pub(crate) mod topology;
pub mod tri_mesh;
mod voxels;

pub use custom::{CustomModel, ModelRegistry};
pub use ids::{BodyId, ConstraintId};
pub(crate) use ids::{Slots, Stamp};
pub use load::{Air, Load, PinnedAxes};
pub use material::{Grain, Groups, SurfaceMaterial};
pub use matter::{ElasticMaterial, Preset};
pub(crate) use nodes::{NodeSource, Nodes, Start, mean_edge};
pub use pairs::{PairRule, PairRules, Pairing};
pub use particles::Particles;
pub use reserve::{HeldFace, Reserve};
pub(crate) use rigid::{BuiltCollider, Rigid};
pub use rigid::{Collider, Motion, RigidBody};
pub use shape::Shape;
pub use soft::{Geometry, Region, Skin, SoftBody, SoftModel};
pub use topology::{Corners, LostConstraints, NewNode, Remap, TopologyEdit};

use crate::constraint::Constraint;
use crate::error::Error;
use std::ops::Range;

/// A body of either kind.
#[derive(Debug)]
pub(crate) enum Body {
    Rigid(Rigid),
    /// Boxed: every loop over rigid bodies traverses this list, and a rigid body is a tenth of that size.
    Nodes(Box<Nodes>),
}

/// Constants since the last edit.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let before = world.revision();
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
/// // the revision shows that data derived from the model are stale
/// assert_ne!(world.revision(), before);
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct Model {
    pub(crate) bodies: Slots<Body>,
    pub(crate) constraints: Slots<Constraint>,
    /// Number of nodes of all bodies.
    pub(crate) node_count: usize,
    /// Number of state variables of all deformable models.
    pub(crate) internal_state_count: usize,
    /// First row of each constraint among the impulses stored in State, and the end. (constraint slots + 1)
    pub(crate) row_start: Vec<u32>,
    /// Pairs of bodies whose joint disables their collision, sorted.
    pub(crate) apart: Vec<(u32, u32)>,
    /// Incremented by every edit but those of elements in place; all derived data compare it.
    pub(crate) revision: u64,
    /// Incremented by edits of elements in place.
    pub(crate) element_revision: u64,
}

impl Model {
    pub(crate) fn body(&self, id: BodyId) -> Result<&Body, Error> {
        self.bodies.get(id.index, id.generation).ok_or(Error::StaleBody(id))
    }

    pub(crate) fn rigid(&self, id: BodyId) -> Result<&Rigid, Error> {
        match self.body(id)? {
            Body::Rigid(r) => Ok(r),
            Body::Nodes(_) => Err(Error::WrongKind(id, "set of nodes", "rigid body")),
        }
    }

    pub(crate) fn nodes(&self, id: BodyId) -> Result<&Nodes, Error> {
        match self.body(id)? {
            Body::Nodes(n) => Ok(n),
            Body::Rigid(_) => Err(Error::WrongKind(id, "rigid body", "set of nodes")),
        }
    }

    /// Rigid body in a slot, for the inside of the step.
    pub(crate) fn rigid_at(&self, slot: u32) -> Option<&Rigid> {
        match self.bodies.at(slot) {
            Some(Body::Rigid(r)) => Some(r),
            _ => None,
        }
    }

    pub(crate) fn nodes_at(&self, slot: u32) -> Option<&Nodes> {
        match self.bodies.at(slot) {
            Some(Body::Nodes(n)) => Some(n),
            _ => None,
        }
    }

    /// The id of the body in a slot.
    pub(crate) fn body_id(&self, slot: u32) -> BodyId {
        BodyId { index: slot, generation: self.bodies.generation(slot) }
    }

    /// Identity of the body in a slot and of its topology: data derived from either compare it.
    pub(crate) fn stamp(&self, slot: u32) -> Stamp {
        let topology = self.nodes_at(slot).map_or(0, |n| n.topology);
        Stamp { generation: self.bodies.generation(slot), topology }
    }

    /// Identity of the body in a slot and of its surface.
    pub(crate) fn surface_stamp(&self, slot: u32) -> Stamp {
        let topology = self.nodes_at(slot).map_or(0, |n| n.surface_topology);
        Stamp { generation: self.bodies.generation(slot), topology }
    }

    pub(crate) fn constraint_id(&self, slot: u32) -> ConstraintId {
        ConstraintId { index: slot, generation: self.constraints.generation(slot) }
    }

    /// First velocity block of a node.
    pub(crate) fn node_block(&self, node: u32) -> u32 {
        2 * self.bodies.slot_count() as u32 + node
    }

    /// Blocks of all nodes of a body.
    pub(crate) fn blocks_of(&self, nodes: &Nodes) -> std::ops::Range<usize> {
        let first = self.node_block(nodes.start) as usize;
        first..first + nodes.inv_mass.len()
    }

    /// Block of an ellipsoidal node's angular velocity; in the pose array, the block of its orientation.
    pub(crate) fn spin_block(&self, node: u32) -> u32 {
        self.node_block(self.node_count as u32 + node)
    }

    /// True when a constraint disables collision between the two bodies.
    pub(crate) fn collision_excluded(&self, a: u32, b: u32) -> bool {
        !self.apart.is_empty() && self.apart.binary_search(&(a.min(b), a.max(b))).is_ok()
    }

    /// Range of the impulses of a constraint in State.
    pub(crate) fn rows_of(&self, constraint: u32) -> Range<usize> {
        let at = |k: usize| self.row_start.get(k).or(self.row_start.last()).copied().unwrap_or(0) as usize;
        at(constraint as usize)..at(constraint as usize + 1)
    }

    /// Number of rows of all constraints.
    pub(crate) fn row_count(&self) -> usize {
        self.row_start.last().copied().unwrap_or(0) as usize
    }

    /// Rebuilds the data derived from the constraints: the ranges of their rows, and the sorted list of pairs whose
    /// collision joints disable.
    pub(crate) fn refresh_constraints(&mut self) {
        self.row_start.clear();
        self.row_start.push(0);
        let mut rows = 0;
        for slot in 0..self.constraints.slot_count() as u32 {
            rows += self.constraints.at(slot).map_or(0, |constraint| constraint.traits().rows);
            self.row_start.push(rows as u32);
        }
        let mut apart: Vec<(u32, u32)> = Vec::new();
        for (_, constraint) in self.constraints.iter() {
            constraint.keeps_apart(|a, b| apart.push((a.min(b), a.max(b))));
        }
        apart.sort_unstable();
        apart.dedup();
        self.apart = apart;
    }
}
