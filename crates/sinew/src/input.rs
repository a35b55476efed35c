//! Input of a step: plain data, so that it can be recorded and replayed.

use crate::math::{Pose, Real, Vec3};
use crate::model::{BodyId, ConstraintId, RigidBody};
use crate::settings::Settings;
use sinew_spec::{ANY, FINITE, choice};

/// One command to the world.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).mass(2.0))?;
/// let blow = Command::Impulse { body: ball, impulse: Vec3::X * 6.0, point: Vec3::ZERO };
/// world.step(&Input::none().with(blow));
/// assert!((world.body(ball)?.velocity().x - 3.0).abs() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Command {
    /// A force on the centre of mass and a torque, during this step only [N, N·m].
    Force {
        /// The body.
        body: BodyId,
        /// Force [N].
        force: Vec3,
        /// Torque [N·m].
        torque: Vec3,
    },
    /// A force at a world point, during this step only [N].
    ForceAt {
        /// The body.
        body: BodyId,
        /// Force [N].
        force: Vec3,
        /// Point of application [m].
        point: Vec3,
    },
    /// An impulse at a world point [N·s].
    Impulse {
        /// The body.
        body: BodyId,
        /// Impulse [N·s].
        impulse: Vec3,
        /// Point of application [m].
        point: Vec3,
    },
    /// Sets velocity and spin [m/s, rad/s].
    Velocity {
        /// The body.
        body: BodyId,
        /// Of the centre of mass [m/s].
        velocity: Vec3,
        /// World axes [rad/s].
        spin: Vec3,
    },
    /// Sets the pose of a body immediately.
    Teleport {
        /// The body.
        body: BodyId,
        /// New pose of its origin.
        pose: Pose,
    },
    /// Pose of a kinematic body at the end of the step; it pushes other bodies during the motion.
    Target {
        /// The body.
        body: BodyId,
        /// Pose of its origin at the end of the step.
        pose: Pose,
    },
    /// Adds a rigid body; its id is in the report's events.
    AddRigid(Box<RigidBody>),
    /// Removes a body with its joints.
    RemoveBody(BodyId),
    /// Removes a constraint.
    RemoveConstraint(ConstraintId),
    /// Changes the drive of a joint: target speed or position, and the maximum force or torque.
    Motor {
        /// The joint.
        joint: ConstraintId,
        /// The new motor, or none.
        motor: Option<crate::constraint::Motor>,
    },
    /// Replaces all settings.
    Settings(Box<Settings>),
    /// A force on one node of a particle body, during this step only [N].
    NodeForce {
        /// The body.
        body: BodyId,
        /// Index of the node.
        node: u32,
        /// Force [N].
        force: Vec3,
    },
    /// A torque on one ellipsoidal node (oriented particle), during this step only [N·m].
    NodeTorque {
        /// The body.
        body: BodyId,
        /// Index of the particle.
        node: u32,
        /// Torque, world axes [N·m].
        torque: Vec3,
    },
    /// The angular velocity of one ellipsoidal node from now on: a pinned one keeps it.
    NodeSpin {
        /// The body.
        body: BodyId,
        /// Index of the particle.
        node: u32,
        /// Angular velocity, world axes [rad/s].
        spin: Vec3,
    },
    /// Position of a pinned node at the end of the step; it pulls its neighbours during the motion. It continues at the
    /// same velocity until it gets another target.
    NodeTarget {
        /// The body.
        body: BodyId,
        /// Index of the node; it must be pinned.
        node: u32,
        /// Its position at the end of the step [m].
        position: Vec3,
    },
    /// Pose and opening that a hand asks of a tool; it holds until the next one.
    Tool {
        /// The tool, by the id of `World::add_tool`.
        tool: ConstraintId,
        /// What is asked.
        command: crate::tool::ToolCommand,
    },
}

/// All commands of one step.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).mass(1.0))?;
/// // its own weight is compensated, for one step
/// world.step(&Input::none().force(ball, [0.0, 9.81, 0.0]));
/// assert!(world.body(ball)?.velocity().length() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The commands, in order.
    pub commands: Vec<Command>,
}

impl Input {
    /// No commands.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a command.
    pub fn with(mut self, command: Command) -> Self {
        self.commands.push(command);
        self
    }

    /// A force on the centre of mass [N].
    pub fn force(self, body: BodyId, force: impl Into<Vec3>) -> Self {
        self.with(Command::Force { body, force: force.into(), torque: Vec3::ZERO })
    }

    /// A pose of a tool, reached at the end of the step.
    pub fn tool(self, tool: ConstraintId, pose: Pose) -> Self {
        let command = crate::tool::ToolCommand { pose, opening: None, time: 0.0 };
        self.with(Command::Tool { tool, command })
    }

    /// A pose and an opening [m] of a tool, reached at the end of the step.
    pub fn grasp(self, tool: ConstraintId, pose: Pose, opening: Real) -> Self {
        let command = crate::tool::ToolCommand { pose, opening: Some(opening), time: 0.0 };
        self.with(Command::Tool { tool, command })
    }

    /// A target for a kinematic body.
    pub fn target(self, body: BodyId, pose: Pose) -> Self {
        self.with(Command::Target { body, pose })
    }
}

/// Converts frame times to a number of fixed steps, and gives the interpolation factor for rendering between two of
/// them.
///
/// ```
/// use sinew::FixedStep;
/// let mut clock = FixedStep::new(1.0 / 60.0);
/// assert_eq!(clock.advance(0.04), 2);
/// assert!((clock.blend() - 0.4).abs() < 1e-4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedStep {
    dt: Real,
    left: Real,
    /// Maximum number of steps per frame: beyond it time is dropped, so that a slow frame does not make the next one
    /// slower.
    pub max_steps: u32,
}

impl FixedStep {
    /// For steps of `dt` [s].
    pub fn new(dt: Real) -> Self {
        Self { dt, left: 0.0, max_steps: 8 }
    }

    /// Adds the time of a frame [s]; returns the number of steps to make now.
    pub fn advance(&mut self, frame: Real) -> u32 {
        if frame.is_finite() && frame > 0.0 {
            self.left += frame;
        }
        let steps = (self.left / self.dt).floor().min(self.max_steps as Real);
        self.left = (self.left - steps * self.dt).min(self.dt);
        steps as u32
    }

    /// Interpolation factor for rendering, between the last step (0) and the next (1).
    pub fn blend(&self) -> Real {
        (self.left / self.dt).clamp(0.0, 1.0)
    }
}

// The order is that of recordings: new commands are appended.
choice!(Command, "command", "One command to the world.", {
    "force" => Force, "A force on the centre of mass and a torque, during one step.", {
        body body: BodyId, ANY, "The body.";
        force force: Vec3, FINITE => Vec3::ZERO, "Force [N].";
        torque torque: Vec3, FINITE => Vec3::ZERO, "Torque [N·m].";
    };
    "force_at" => ForceAt, "A force at a world point, during one step.", {
        body body: BodyId, ANY, "The body.";
        force force: Vec3, FINITE, "Force [N].";
        point point: Vec3, FINITE, "Point of application [m].";
    };
    "impulse" => Impulse, "An impulse at a world point.", {
        body body: BodyId, ANY, "The body.";
        impulse impulse: Vec3, FINITE, "Impulse [N·s].";
        point point: Vec3, FINITE, "Point of application [m].";
    };
    "velocity" => Velocity, "Sets velocity and spin.", {
        body body: BodyId, ANY, "The body.";
        velocity velocity: Vec3, FINITE => Vec3::ZERO, "Velocity of the centre of mass [m/s].";
        spin spin: Vec3, FINITE => Vec3::ZERO, "Angular velocity, world axes [rad/s].";
    };
    "teleport" => Teleport, "Sets the pose of a body immediately.", {
        body body: BodyId, ANY, "The body.";
        pose pose: Pose, ANY, "New pose of its origin.";
    };
    "target" => Target, "Pose of a kinematic body at the end of the step.", {
        body body: BodyId, ANY, "The body.";
        pose pose: Pose, ANY, "Pose of its origin at the end of the step.";
    };
    "add_rigid" => AddRigid, "Adds a rigid body.", { 0 rigid: Box<RigidBody>, ANY, "The body."; };
    "remove_body" => RemoveBody, "Removes a body with its joints.", { 0 body: BodyId, ANY, "The body."; };
    "remove_joint" => RemoveConstraint, "Removes a constraint.", { 0 joint: ConstraintId, ANY, "The constraint."; };
    "motor" => Motor, "Changes the drive of a joint.", {
        joint joint: ConstraintId, ANY, "The joint.";
        motor motor: Option<crate::constraint::Motor>, ANY => None, "The new motor; without: none.";
    };
    "settings" => Settings, "Replaces all settings.", { 0 settings: Box<Settings>, ANY, "The settings."; };
    "node_force" => NodeForce, "A force on one node, during one step.", {
        body body: BodyId, ANY, "The body.";
        node node: u32, ANY, "Index of the node.";
        force force: Vec3, FINITE, "Force [N].";
    };
    "node_target" => NodeTarget, "Position of a pinned node at the end of the step.", {
        body body: BodyId, ANY, "The body.";
        node node: u32, ANY, "Index of the node; it must be pinned.";
        position position: Vec3, FINITE, "Its position at the end of the step [m].";
    };
    "node_torque" => NodeTorque, "A torque on one ellipsoidal node, during one step.", {
        body body: BodyId, ANY, "The body.";
        node node: u32, ANY, "Index of the particle.";
        torque torque: Vec3, FINITE, "Torque, world axes [N·m].";
    };
    "node_spin" => NodeSpin, "The angular velocity of one ellipsoidal node from now on.", {
        body body: BodyId, ANY, "The body.";
        node node: u32, ANY, "Index of the particle.";
        spin spin: Vec3, FINITE, "Angular velocity, world axes [rad/s].";
    };
    "tool" => Tool, "Pose and opening that a hand asks of a tool; it holds until the next one.", {
        tool tool: ConstraintId, ANY, "The tool.";
        command command: crate::tool::ToolCommand [flat], ANY, "What is asked.";
    };
});
