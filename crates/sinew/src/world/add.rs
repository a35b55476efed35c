//! Adding bodies and constraints: one function, whose argument says what is added.

use super::{BodySpec, Combined, CombinedIds, World, edit};
use crate::constraint::{AttachTarget, Attachment, BuiltCustom, Constraint, ConstraintSpec, Rows, Site};
use crate::error::Error;
use crate::math::Vec3;
use crate::model::{BodyId, ConstraintId, Particles, RigidBody, SoftBody};
use crate::tool::{ToolIds, ToolSpec};
use std::sync::Arc;

/// What can be added to a world ([`World::add`]), and the id that it gets there.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let ball: BodyId = world.add(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, -0.5, 0.0]))?;
/// let hinge: ConstraintId = world.add(Joint::hinge(None, Some(ball)))?;
/// // descriptions of either kind, from a blueprint or a file
/// let twin: ConstraintId = world.add(ConstraintSpec::from(Joint::ball(None, Some(ball))))?;
/// assert!(hinge != twin && !world.is_internal(hinge)?);
/// # Ok(()) }
/// ```
pub trait Addition {
    /// Its id in the world.
    type Id;

    /// Checks it and adds it.
    fn add_to(self, world: &mut World) -> Result<Self::Id, Error>;
}

impl World {
    /// Adds a body, a constraint or a combined body. The functions `add_*` are the same, each for one type.
    ///
    /// An example is at [`Addition`](crate::Addition).
    pub fn add<T: Addition>(&mut self, item: T) -> Result<T::Id, Error> {
        item.add_to(self)
    }
}

impl Addition for RigidBody {
    type Id = BodyId;

    fn add_to(self, world: &mut World) -> Result<BodyId, Error> {
        edit::add_rigid(&mut world.model, &mut world.state, self)
    }
}

impl Addition for Particles {
    type Id = BodyId;

    fn add_to(self, world: &mut World) -> Result<BodyId, Error> {
        edit::add_particles(&mut world.model, &mut world.state, self)
    }
}

impl Addition for SoftBody {
    type Id = BodyId;

    fn add_to(self, world: &mut World) -> Result<BodyId, Error> {
        let rotation = self.pose.rotation;
        let (id, pins) = edit::add_soft(&mut world.model, &mut world.state, self)?;
        // one attachment for each set of directions
        for bits in 1..8 {
            let pairs = pins.iter().filter(|(_, b)| *b == bits);
            let pairs: Vec<_> =
                pairs.map(|&(node, _)| (Site::Node { body: id, node }, AttachTarget::Here(None))).collect();
            if !pairs.is_empty() {
                let held = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1);
                let axes = held.map(|(_, axis)| (rotation * axis).normalize()).collect();
                world.add(Attachment { axes, ..Attachment::new(pairs) })?;
            }
        }
        Ok(id)
    }
}

impl Addition for BodySpec {
    type Id = BodyId;

    fn add_to(self, world: &mut World) -> Result<BodyId, Error> {
        match self {
            BodySpec::Rigid(rigid) => world.add(rigid),
            BodySpec::Particles(particles) => world.add(particles),
            BodySpec::Soft(soft) => world.add(*soft),
        }
    }
}

/// Every kind of constraint.
impl<T: Into<ConstraintSpec>> Addition for T {
    type Id = ConstraintId;

    fn add_to(self, world: &mut World) -> Result<ConstraintId, Error> {
        let spec: ConstraintSpec = self.into();
        match spec.build(&world.view(&world.poses()))? {
            Constraint::Tool(tool) => edit::add_tool(&mut world.model, &mut world.state, tool),
            built => Ok(edit::add_constraint(&mut world.model, &mut world.state, built)),
        }
    }
}

/// A tool with its bodies.
impl Addition for ToolSpec {
    type Id = ToolIds;

    fn add_to(self, world: &mut World) -> Result<ToolIds, Error> {
        world.add_tool(self)
    }
}

/// User-defined rows.
impl Addition for Arc<dyn Rows> {
    type Id = ConstraintId;

    fn add_to(self, world: &mut World) -> Result<ConstraintId, Error> {
        let mut slots = Vec::new();
        let mut nodes = false;
        for id in self.bodies() {
            world.model.body(id)?;
            nodes |= world.model.nodes_at(id.index).is_some();
            slots.push(id.index);
        }
        let built = Constraint::Custom(BuiltCustom { rows: self, slots, nodes });
        Ok(edit::add_constraint(&mut world.model, &mut world.state, built))
    }
}

impl Addition for Combined {
    type Id = CombinedIds;

    fn add_to(self, world: &mut World) -> Result<CombinedIds, Error> {
        world.add_combined(self)
    }
}
