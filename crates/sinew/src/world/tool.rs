//! Tools of a world.

use super::World;
use crate::constraint::{Constraint, Joint, Kind};
use crate::error::Error;
use crate::math::{Pose, Vec3};
use crate::model::{BodyId, ConstraintId, Motion, RigidBody};
use crate::report::ToolReport;
use crate::tool::{self, Grasper, Grip, Tool, ToolCommand, ToolIds, ToolSpec};

impl World {
    /// Adds a tool: its body, its jaws on sliders, and the coupling to the hand. Until the first command the hand holds it
    /// where it is.
    ///
    /// An example is at [`tool::ToolSpec`].
    pub fn add_tool(&mut self, spec: ToolSpec) -> Result<ToolIds, Error> {
        let carried = |body: RigidBody| body.gravity_scale(0.0).can_sleep(false);
        if spec.body.motion != Motion::Dynamic {
            let reason = "the body of a tool is moved by forces: make it dynamic".to_owned();
            return Err(Error::BadConstraint { constraint: "tool", reason });
        }
        let place = spec.body.pose;
        let body = self.add_rigid(carried(spec.body))?;
        let mut added = vec![body];
        let made = self.tool_parts(body, &place, spec.grasper, &mut added, carried).and_then(|grip| {
            let jaws = grip.as_ref().and_then(|g| g.jaws).map(|jaws| jaws.map(|(jaw, _)| jaw));
            let tool = Tool { body, coupling: spec.coupling, max_speed: spec.max_speed, max_spin: spec.max_spin, grip };
            Ok(ToolIds { tool: self.add_tool_coupling(&tool)?, body, jaws })
        });
        if made.is_err() {
            for id in added {
                self.remove_body(id)?;
            }
        }
        made
    }

    /// Ties a body that is there to a hand, which holds it where it is. The opening at the start is that of the jaws; the
    /// largest one without jaws. [`World::add_tool`] adds the bodies too.
    pub fn add_tool_coupling(&mut self, tool: &Tool) -> Result<ConstraintId, Error> {
        self.add(tool.clone())
    }

    /// Adds the jaws of a tool.
    fn tool_parts(
        &mut self,
        body: BodyId,
        place: &Pose,
        grasper: Option<Grasper>,
        added: &mut Vec<BodyId>,
        carried: impl Fn(RigidBody) -> RigidBody,
    ) -> Result<Option<Grip>, Error> {
        let Some(Grasper { jaws, axis, max_opening, force, speed, opening, hold }) = grasper else { return Ok(None) };
        crate::error::check("grasper.opening", opening, (0.0..=max_opening).contains(&opening), "within its range")?;
        let along = axis.try_normalize().ok_or_else(|| Error::BadConstraint {
            constraint: "grasper",
            reason: "its axis has no direction".to_owned(),
        })?;
        let mut ids: Option<[(BodyId, Vec3); 2]> = None;
        if let Some(jaws) = jaws {
            let mut pair = Vec::new();
            for (jaw, sign) in jaws.into_iter().zip([1.0, -1.0]) {
                let closed = jaw.pose;
                let pose =
                    place.then_inner(&Pose::new(closed.position + along * (0.5 * sign * opening), closed.rotation));
                let id = self.add_rigid(carried(jaw.at(pose.position).turned(pose.rotation)))?;
                added.push(id);
                // frames: x along the direction in which this jaw opens, the origin where it is closed
                let turn = crate::math::Quat::from_rotation_arc(Vec3::X, along * sign);
                let on_body = Pose::new(closed.position, turn);
                let on_jaw = Pose::new(Vec3::ZERO, closed.rotation.inverse() * turn);
                let slider = Joint::slider(Some(body), Some(id)).frames(on_body, on_jaw);
                self.add_joint(slider.limits(0.0, 0.5 * max_opening))?;
                pair.push((id, closed.position));
            }
            ids = pair.try_into().ok();
        }
        Ok(Some(Grip { jaws: ids, axis: along, max_opening, force, speed, hold }))
    }

    /// Removes a tool with its bodies.
    pub fn remove_tool(&mut self, tool: ConstraintId) -> Result<(), Error> {
        let Some(Constraint::Tool(built)) = self.model.constraints.get(tool.index, tool.generation) else {
            return Err(Error::StaleConstraint(tool));
        };
        let mut bodies = Vec::new();
        built.slots(&mut |slot| bodies.push(slot));
        for slot in bodies {
            self.remove_body(self.model.body_id(slot))?;
        }
        Ok(())
    }

    /// Commands a pose for the steps that follow, outside of the input: a recording does not have it.
    /// [`Command::Tool`](crate::Command::Tool) is the same as input.
    pub fn set_tool_pose(&mut self, tool: ConstraintId, command: &ToolCommand) -> Result<(), Error> {
        tool::accept(&self.model, &mut self.state, tool, command, self.settings.dt).map(drop)
    }

    /// A tool: its pose, its commanded pose and the wrenches of the last step.
    pub fn tool(&self, tool: ConstraintId) -> Result<ToolReport, Error> {
        tool::read(&self.model, &self.state, tool, &self.work.output.report)
    }

    /// The description of a tool.
    pub fn tool_description(&self, tool: ConstraintId) -> Result<&Tool, Error> {
        match self.model.constraints.get(tool.index, tool.generation) {
            Some(Constraint::Tool(built)) => Ok(&built.source),
            _ => Err(Error::StaleConstraint(tool)),
        }
    }

    /// All tools.
    pub fn tools(&self) -> impl Iterator<Item = ConstraintId> {
        let tools = self.model.constraints.iter().filter(|(_, c)| matches!(c, Constraint::Tool(_)));
        tools.map(|(slot, _)| self.model.constraint_id(slot))
    }
}
