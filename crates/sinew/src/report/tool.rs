//! What the report says of a tool.

use crate::math::{Pose, Real, Wrench, widen_rotation};
use crate::model::{BodyId, ConstraintId};

/// A tool after a step: poses, wrenches as means over the step, in world axes.
///
/// ```
/// use sinew::tool::ToolSpec;
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings { dt: 1e-3, ..Settings::default() })?;
/// let ids = world.add_tool(ToolSpec::new(RigidBody::dynamic().shape(Shape::ball(5e-3)).mass(5e-3)))?;
/// for _ in 0..300 {
///     world.step(&Input::none().tool(ids.tool, Pose::at(Vec3::X * 0.01)));
/// }
/// // free air: the tool is at its commanded pose, and nothing is felt
/// let tool: tool::ToolReport = world.tool(ids.tool)?;
/// assert!((tool.pose.position.x - 0.01).abs() < 1e-5 && tool.on_hand.force.length() < 0.01);
/// assert_eq!(tool.in_tool_axes(&tool.on_tool).force, tool.on_tool.force);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolReport {
    /// The tool.
    pub tool: ConstraintId,
    /// The body that the hand moves.
    pub body: BodyId,
    /// Pose of the body's origin.
    pub pose: Pose,
    /// Commanded pose, of the hand.
    pub commanded: Pose,
    /// Of the coupling on the body, torque about its origin.
    pub on_tool: Wrench,
    /// Of the coupling on the hand, torque about the commanded position: the reaction of `on_tool`.
    pub on_hand: Wrench,
    /// Of contacts and anchors on the tool with its jaws, torque about the origin of the body. At rest the opposite of
    /// `on_tool`. The torque of contacts needs `Settings::point_forces`.
    pub contact: Wrench,
    /// Opening of the jaws [m].
    pub opening: Real,
    /// Force of the drive of each jaw, positive when it opens [N].
    pub jaw_force: [Real; 2],
    /// Points that are anchored.
    pub anchors: u32,
    /// Force or torque of the coupling is at its limit.
    pub saturated: bool,
}

impl ToolReport {
    /// A wrench in the axes of the tool.
    pub fn in_tool_axes(&self, wrench: &Wrench) -> Wrench {
        let back = widen_rotation(self.pose.rotation).conjugate();
        Wrench { force: back * wrench.force, torque: back * wrench.torque }
    }
}
