//! The input of one step, and the state hash after it.

use super::body::RigidForm;
use super::constraint::MotorForm;
use super::described::Described;
use super::tool::ToolCommandForm;
use super::{IdForm, PoseForm, V3, body_id, constraint_id, pose, pose_form};
use serde::{Deserialize, Serialize};
use sinew::{Command, Input, Settings, Vec3};

/// [`Command`].
#[derive(Serialize, Deserialize)]
pub(crate) enum CommandForm {
    Force { body: IdForm, force: V3, torque: V3 },
    ForceAt { body: IdForm, force: V3, point: V3 },
    Impulse { body: IdForm, impulse: V3, point: V3 },
    Velocity { body: IdForm, velocity: V3, spin: V3 },
    Teleport { body: IdForm, pose: PoseForm },
    Target { body: IdForm, pose: PoseForm },
    AddRigid(Box<RigidForm>),
    RemoveBody(IdForm),
    RemoveConstraint(IdForm),
    Motor { joint: IdForm, motor: Option<MotorForm> },
    Settings(Box<Described<Settings>>),
    NodeForce { body: IdForm, node: u32, force: V3 },
    NodeTarget { body: IdForm, node: u32, position: V3 },
    NodeTorque { body: IdForm, node: u32, torque: V3 },
    NodeSpin { body: IdForm, node: u32, spin: V3 },
    Tool { tool: IdForm, command: ToolCommandForm },
}

impl CommandForm {
    fn of(command: &Command) -> Result<Self, String> {
        Ok(match command {
            Command::Force { body, force, torque } => {
                Self::Force { body: body.to_parts(), force: force.to_array(), torque: torque.to_array() }
            }
            Command::ForceAt { body, force, point } => {
                Self::ForceAt { body: body.to_parts(), force: force.to_array(), point: point.to_array() }
            }
            Command::Impulse { body, impulse, point } => {
                Self::Impulse { body: body.to_parts(), impulse: impulse.to_array(), point: point.to_array() }
            }
            Command::Velocity { body, velocity, spin } => {
                Self::Velocity { body: body.to_parts(), velocity: velocity.to_array(), spin: spin.to_array() }
            }
            Command::Teleport { body, pose } => Self::Teleport { body: body.to_parts(), pose: pose_form(pose) },
            Command::Target { body, pose } => Self::Target { body: body.to_parts(), pose: pose_form(pose) },
            Command::AddRigid(spec) => Self::AddRigid(Box::new(RigidForm::of(spec)?)),
            Command::RemoveBody(id) => Self::RemoveBody(id.to_parts()),
            Command::RemoveConstraint(id) => Self::RemoveConstraint(id.to_parts()),
            Command::Motor { joint, motor } => Self::Motor { joint: joint.to_parts(), motor: motor.map(Into::into) },
            Command::Settings(settings) => Self::Settings(Box::new((**settings).clone().into())),
            Command::NodeForce { body, node, force } => {
                Self::NodeForce { body: body.to_parts(), node: *node, force: force.to_array() }
            }
            Command::NodeTarget { body, node, position } => {
                Self::NodeTarget { body: body.to_parts(), node: *node, position: position.to_array() }
            }
            Command::NodeTorque { body, node, torque } => {
                Self::NodeTorque { body: body.to_parts(), node: *node, torque: torque.to_array() }
            }
            Command::NodeSpin { body, node, spin } => {
                Self::NodeSpin { body: body.to_parts(), node: *node, spin: spin.to_array() }
            }
            Command::Tool { tool, command } => {
                Self::Tool { tool: tool.to_parts(), command: ToolCommandForm::of(command) }
            }
            other => return Err(format!("{other:?} has no form in this format")),
        })
    }

    fn build(self) -> Result<Command, String> {
        let vector = Vec3::from_array;
        Ok(match self {
            Self::Force { body, force, torque } => {
                Command::Force { body: body_id(body), force: vector(force), torque: vector(torque) }
            }
            Self::ForceAt { body, force, point } => {
                Command::ForceAt { body: body_id(body), force: vector(force), point: vector(point) }
            }
            Self::Impulse { body, impulse, point } => {
                Command::Impulse { body: body_id(body), impulse: vector(impulse), point: vector(point) }
            }
            Self::Velocity { body, velocity, spin } => {
                Command::Velocity { body: body_id(body), velocity: vector(velocity), spin: vector(spin) }
            }
            Self::Teleport { body, pose: to } => Command::Teleport { body: body_id(body), pose: pose(to) },
            Self::Target { body, pose: to } => Command::Target { body: body_id(body), pose: pose(to) },
            Self::AddRigid(spec) => Command::AddRigid(Box::new(spec.build()?)),
            Self::RemoveBody(id) => Command::RemoveBody(body_id(id)),
            Self::RemoveConstraint(id) => Command::RemoveConstraint(constraint_id(id)),
            Self::Motor { joint, motor } => {
                Command::Motor { joint: constraint_id(joint), motor: motor.map(Into::into) }
            }
            Self::Settings(settings) => Command::Settings(Box::new((*settings).into())),
            Self::NodeForce { body, node, force } => {
                Command::NodeForce { body: body_id(body), node, force: vector(force) }
            }
            Self::NodeTarget { body, node, position } => {
                Command::NodeTarget { body: body_id(body), node, position: vector(position) }
            }
            Self::NodeTorque { body, node, torque } => {
                Command::NodeTorque { body: body_id(body), node, torque: vector(torque) }
            }
            Self::NodeSpin { body, node, spin } => Command::NodeSpin { body: body_id(body), node, spin: vector(spin) },
            Self::Tool { tool, command } => Command::Tool { tool: constraint_id(tool), command: command.build() },
        })
    }
}

/// One step of a recording.
#[derive(Serialize, Deserialize)]
pub(crate) struct StepForm {
    /// Tick after the step. First, so that a reader can take it alone.
    pub tick: u64,
    /// Hash of the world after the step, little-endian.
    pub hash: [u8; 8],
    /// Two bytes of the hash of each column, to name the one that differs.
    pub prints: Vec<u8>,
    commands: Vec<CommandForm>,
}

impl StepForm {
    /// Input before the step; the result is filled in after it.
    pub fn of(input: &Input) -> Result<Self, String> {
        let Input { commands } = input;
        let commands: Result<_, String> = commands.iter().map(CommandForm::of).collect();
        Ok(Self { tick: 0, hash: [0; 8], prints: Vec::new(), commands: commands? })
    }

    /// The input again.
    pub fn input(self) -> Result<Input, String> {
        let commands: Result<_, String> = self.commands.into_iter().map(CommandForm::build).collect();
        Ok(Input { commands: commands? })
    }
}
