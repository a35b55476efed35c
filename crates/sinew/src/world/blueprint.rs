//! The model as plain data: the contents of a save file, from which the same world can be rebuilt with the same ids.

use super::{World, edit};
use crate::constraint::ConstraintSpec;
use crate::error::Error;
use crate::model::{Body, Model, NodeSource, Nodes, Particles, Rigid, RigidBody, Slots, SoftBody};
use crate::settings::Settings;
use crate::state::State;
use sinew_spec::kinds;

/// The description from which a body was added.
///
/// An example is at [`Blueprint`](crate::Blueprint).
#[derive(Clone, Debug)]
pub enum BodySpec {
    /// A rigid body.
    Rigid(RigidBody),
    /// Bare particles.
    Particles(Particles),
    /// A deformable body.
    Soft(Box<SoftBody>),
}

/// A numbered slot for a body or constraint: its generation, and its item.
///
/// An example is at [`Blueprint`](crate::Blueprint).
#[derive(Clone, Debug)]
pub struct Slot<T> {
    /// Generation of the slot's next or present id.
    pub generation: u32,
    /// The item, if the slot is occupied.
    pub item: Option<T>,
}

/// Settings and model as plain data.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).named("ball"))?;
/// // the same world again, with other settings
/// let mut blueprint = world.blueprint()?;
/// blueprint.settings.substeps = 8;
/// let Some(BodySpec::Rigid(ball)) = &blueprint.bodies[0].item else { panic!("one rigid body") };
/// assert_eq!(ball.name, "ball");
/// let twin = World::build(blueprint, world.state())?;
/// assert_eq!(twin.state(), world.state());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// The settings.
    pub settings: Settings,
    /// Bodies by slot.
    pub bodies: Vec<Slot<BodySpec>>,
    /// Constraints by slot.
    pub constraints: Vec<Slot<ConstraintSpec>>,
    /// Order of the node ranges, by body slot.
    pub node_order: Vec<u32>,
}

impl World {
    /// The model as plain data. Custom rows are code and cannot be serialised: they are an error.
    pub fn blueprint(&self) -> Result<Blueprint, Error> {
        let model = &self.model;
        let mut bodies = Vec::new();
        for (slot, (generation, _)) in model.bodies.layout().enumerate() {
            let item = model.bodies.at(slot as u32).map(|body| match body {
                Body::Rigid(r) => BodySpec::Rigid((*r.source).clone()),
                Body::Nodes(n) => match &n.source {
                    NodeSource::Particles(p) => BodySpec::Particles(p.clone()),
                    NodeSource::Soft(s) => BodySpec::Soft(s.clone()),
                },
            });
            bodies.push(Slot { generation, item });
        }
        let mut constraints = Vec::new();
        for (slot, (generation, _)) in model.constraints.layout().enumerate() {
            let item = match model.constraints.at(slot as u32) {
                None => None,
                Some(constraint) => match constraint.source() {
                    Some(source) => Some(source),
                    None => {
                        let reason = "custom rows are code and cannot be saved: remove them first".to_owned();
                        return Err(Error::BadConstraint { constraint: "custom rows", reason });
                    }
                },
            };
            constraints.push(Slot { generation, item });
        }
        let mut node_order: Vec<u32> =
            model.bodies.iter().filter(|(_, b)| matches!(b, Body::Nodes(_))).map(|(s, _)| s).collect();
        node_order.sort_unstable_by_key(|&s| model.nodes_at(s).map(|n| n.start));
        Ok(Blueprint { settings: self.settings.clone(), bodies, constraints, node_order })
    }

    /// Builds the world of a blueprint in a given state. Everything is validated as in the functions that add bodies
    /// and constraints.
    pub fn build(blueprint: Blueprint, state: &State) -> Result<Self, Error> {
        let mut world = World::new(blueprint.settings)?;
        let mut model = Model::default();
        let mut bodies = Vec::new();
        for slot in blueprint.bodies {
            let body = match slot.item {
                None => None,
                Some(BodySpec::Rigid(spec)) => {
                    edit::check_motion(&spec)?;
                    Some(Body::Rigid(Rigid::build(spec)?))
                }
                Some(BodySpec::Particles(spec)) => Some(Body::Nodes(Box::new(Nodes::of_particles(spec, 0, 0)?.0))),
                Some(BodySpec::Soft(spec)) => Some(Body::Nodes(Box::new(Nodes::of_soft(*spec, 0, 0)?.0))),
            };
            bodies.push((slot.generation, body));
        }
        model.bodies = Slots::from_parts(bodies);
        place_nodes(&mut model, &blueprint.node_order)?;
        for &[slot, number] in &state.topology {
            if let Some(Body::Nodes(nodes)) = model.bodies.at_mut(slot) {
                (nodes.topology, nodes.surface_topology) = (number, number);
            }
        }
        world.model = model;
        edit::fit(&world.model, &mut world.state);
        let poses = world.poses();
        let mut constraints = Vec::new();
        for slot in blueprint.constraints {
            let built = slot.item.map(|spec| spec.build(&world.view(&poses)));
            constraints.push((slot.generation, built.transpose()?));
        }
        world.model.constraints = Slots::from_parts(constraints);
        world.model.refresh_constraints();
        world.model.revision += 1;
        world.restore(state)?;
        Ok(world)
    }
}

/// Assigns the node ranges their offsets, in their original order.
fn place_nodes(model: &mut Model, order: &[u32]) -> Result<(), Error> {
    for &slot in order {
        let Some(Body::Nodes(nodes)) = model.bodies.at_mut(slot) else {
            return Err(Error::BadSnapshot(format!("node order names body {slot}, which has no nodes")));
        };
        (nodes.start, nodes.internal_state_start) = (model.node_count as u32, model.internal_state_count as u32);
        model.node_count += nodes.room as usize;
        model.internal_state_count += nodes.internal_state_count as usize;
    }
    if model.bodies.iter().filter(|(_, b)| matches!(b, Body::Nodes(_))).count() != order.len() {
        return Err(Error::BadSnapshot("node order does not name every body with nodes".into()));
    }
    Ok(())
}

// The order is that of saves: new kinds are appended.
kinds!(BodySpec, "body", "A body.", {
    "rigid" => Rigid(RigidBody), "A rigid body.";
    "particles" => Particles(Particles), "Bare particles.";
    "soft" => Soft(Box<SoftBody>), "A deformable body.";
});

#[cfg(test)]
mod tests {
    use crate::*;

    #[test]
    fn a_rebuilt_world_continues_bitwise_identically() -> Result<(), Error> {
        let mut world = World::new(Settings::default())?;
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
        let gone = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
        let a = world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.2, 0.1, 0.1)).at([0.0, 0.5, 0.0]))?;
        let b = world.add_rigid(RigidBody::dynamic().shape(Shape::capsule(0.1, 0.1)).at([0.5, 0.6, 0.0]))?;
        let dust = world.add_particles(Particles::new(vec![Vec3::new(0.0, 1.0, 0.0)]).radius(0.01))?;
        world.remove_body(gone)?;
        world.add_joint(Joint::hinge(Some(a), Some(b)).anchor([0.25, 0.5, 0.0]).axis(Vec3::Z))?;
        world.add_distance(Distance::rope(
            Site::Rigid { body: a, local: Vec3::ZERO },
            Site::Node { body: dust, node: 0 },
            0.6,
        ))?;
        for _ in 0..40 {
            world.step(&Input::none());
        }
        let mut twin = World::build(world.blueprint()?, world.state())?;
        assert_eq!(twin.hash(), world.hash());
        for _ in 0..60 {
            world.step(&Input::none());
            twin.step(&Input::none());
            assert_eq!(twin.state().first_difference(world.state()), None);
        }
        assert_eq!(twin.body(a)?.position(), world.body(a)?.position());
        Ok(())
    }
}
