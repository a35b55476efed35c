//! The commanded motion of tools: commands become targets, and in each step the commanded pose goes towards its target
//! with a limited speed.

use super::rows::BuiltTool;
use super::spec::ToolCommand;
use super::{grip, wide_pose};
use crate::constraint::Constraint;
use crate::error::Error;
use crate::math::{FAR, Real, shortened};
use crate::model::{ConstraintId, Model};
use crate::report::Event;
use crate::state::{State, ToolMemory};

/// Stores a command. Returns how far the pose is beyond what the largest speed reaches until it is due [m]; 0: it is
/// reached in time.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(crate) fn accept(
    model: &Model,
    state: &mut State,
    tool: ConstraintId,
    command: &ToolCommand,
    dt: Real,
) -> Result<Real, Error> {
    let built = find(model, tool)?;
    let target = wide_pose(&command.pose);
    let position = command.pose.position;
    let turn = command.pose.rotation.length();
    crate::error::finite_vec("tool.pose.position", position)?;
    let far = position.abs().max_element();
    crate::error::check("tool.pose.position", far, far <= FAR, "within 1e6 m of the origin")?;
    crate::error::check("tool.pose.rotation", turn, (turn - 1.0).abs() < 1e-2, "a unit quaternion")?;
    super::require("tool.time", command.time, f64::is_finite, "a time [s]")?;
    let at = index(state, built.slot()).ok_or(Error::StaleConstraint(tool))?;
    let memory = &state.tools[at];
    super::require("tool.time", command.time, |t| t >= memory.stamp, "not before that of the last pose")?;
    let opening = match (command.opening, &built.source.grip) {
        (None, _) => memory.target_opening,
        (Some(wanted), Some(grip)) => {
            crate::error::finite("tool.opening", wanted)?;
            f64::from(wanted.clamp(0.0, grip.max_opening))
        }
        (Some(_), None) => {
            let reason = "it has no jaws: leave the opening out".to_owned();
            return Err(Error::BadConstraint { constraint: "tool", reason });
        }
    };
    let left = (command.time - state.tick as f64 * dt as f64).max(dt as f64);
    let reach = built.source.max_speed * left;
    let beyond = ((target.position - memory.commanded().position).length() - reach).max(0.0);
    let memory = &mut state.tools[at];
    (memory.stamp, memory.due, memory.target_opening) = (command.time, command.time, opening);
    (memory.target_place, memory.target_turn) = (target.position.to_array(), target.rotation.to_array());
    Ok(beyond as Real)
}

/// The tool of a constraint.
pub(super) fn find(model: &Model, tool: ConstraintId) -> Result<&BuiltTool, Error> {
    match model.constraints.get(tool.index, tool.generation) {
        Some(Constraint::Tool(built)) => Ok(built),
        Some(_) => {
            let reason = "that constraint is another kind: name the id that `add_tool` returned".to_owned();
            Err(Error::BadConstraint { constraint: "tool", reason })
        }
        None => Err(Error::StaleConstraint(tool)),
    }
}

pub(super) fn index(state: &State, slot: u32) -> Option<usize> {
    state.tools.binary_search_by_key(&slot, |m| m.body).ok()
}

/// The motion of each commanded pose in this step, and grips that begin or end with it.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(crate) fn begin(model: &Model, state: &mut State, events: &mut Vec<Event>, dt: Real) {
    if state.tools.is_empty() {
        return;
    }
    let (now, dt) = (state.tick as f64 * dt as f64, dt as f64);
    for (slot, constraint) in model.constraints.iter() {
        let Constraint::Tool(tool) = constraint else { continue };
        let Some(at) = index(state, tool.slot()) else { continue };
        if !state.tools[at].is_sane() {
            let frame =
                super::wide_pose(&crate::math::Pose::new(state.x[tool.slot() as usize], state.q[tool.slot() as usize]));
            state.tools[at] = ToolMemory::at(tool.slot(), &frame, 0.0);
        }
        steer(&mut state.tools[at], tool, now, dt);
        grip::begin(model, state, at, (tool, model.constraint_id(slot)), events, dt);
    }
}

/// Velocity towards the target, reached when it is due and not faster than allowed.
fn steer(memory: &mut ToolMemory, tool: &BuiltTool, now: f64, dt: f64) {
    let error = memory.target().error_from(&memory.commanded());
    let left = (memory.due - now).max(dt);
    let velocity = shortened(error.linear / left, tool.source.max_speed);
    let spin = shortened(error.angular / left, tool.source.max_spin);
    (memory.velocity, memory.spin) = (velocity.to_array(), spin.to_array());
    let fastest = tool.source.grip.as_ref().map_or(0.0, |grip| f64::from(grip.speed));
    memory.opening_rate = ((memory.target_opening - memory.opening) / dt).clamp(-fastest, fastest);
}

/// The commanded poses at the end of the step. Points that slid out of a gripper are lost.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(crate) fn end(model: &Model, state: &mut State, events: &mut Vec<Event>, dt: Real) {
    for memory in &mut state.tools {
        let at = memory.commanded_after(dt as f64);
        memory.set_commanded(&at);
        memory.opening += memory.opening_rate * dt as f64;
    }
    if !state.tool_anchors.is_empty() {
        grip::drop_lost(model, state, events);
    }
}
