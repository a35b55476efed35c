//! Commanded motion of tools, and the surface points that their grippers hold.

use crate::math::{Frame, Motion, Real, Vec3, Wide3, WideQuat};
use bytemuck::{Pod, Zeroable};

/// Bits of `ToolMemory::flags`.
pub(crate) mod flag {
    /// The commanded opening is below the one at which points are taken.
    pub const CLOSED: u32 = 1;
}

/// Commanded motion of a tool. In f64 in every build: a tick of a device moves it by micrometres.
///
/// ```
/// use sinew::tool::ToolSpec;
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let probe = RigidBody::dynamic().shape(Shape::ball(5e-3)).mass(5e-3);
/// let ids = world.add_tool(ToolSpec::new(probe))?;
/// world.step(&Input::none().tool(ids.tool, Pose::at(Vec3::X * 1e-3)));
/// let memory = world.state().tools[0];
/// assert!((memory.place[0] - 1e-3).abs() < 1e-9 && memory.body == ids.body.to_parts().0);
/// # Ok(()) }
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ToolMemory {
    /// Slot of its body. The column is sorted by it.
    pub body: u32,
    /// Whether its gripper is closed.
    pub flags: u32,
    /// Time stamp of the last command [s].
    pub stamp: f64,
    /// World time at which the target is reached [s].
    pub due: f64,
    /// Commanded position at the end of the last step [m].
    pub place: [f64; 3],
    /// Commanded orientation there: x, y, z, w.
    pub turn: [f64; 4],
    /// Velocity of the commanded position in this step [m/s].
    pub velocity: [f64; 3],
    /// Its angular velocity, world axes [rad/s].
    pub spin: [f64; 3],
    /// Position of the last command [m].
    pub target_place: [f64; 3],
    /// Its orientation: x, y, z, w.
    pub target_turn: [f64; 4],
    /// Commanded opening at the end of the last step [m].
    pub opening: f64,
    /// Its rate in this step [m/s].
    pub opening_rate: f64,
    /// Opening of the last command [m].
    pub target_opening: f64,
}

impl ToolMemory {
    /// A tool that is held where it is.
    pub(crate) fn at(body: u32, frame: &Frame, opening: f64) -> Self {
        let (place, turn) = (frame.position.to_array(), frame.rotation.to_array());
        Self {
            body,
            place,
            turn,
            target_place: place,
            target_turn: turn,
            opening,
            target_opening: opening,
            stamp: f64::NEG_INFINITY,
            due: f64::NEG_INFINITY,
            ..Self::zeroed()
        }
    }

    /// Commanded pose at the end of the last step.
    pub(crate) fn commanded(&self) -> Frame {
        Frame { position: Wide3::from_array(self.place), rotation: WideQuat::from_array(self.turn) }
    }

    /// Pose of the last command.
    pub(crate) fn target(&self) -> Frame {
        Frame { position: Wide3::from_array(self.target_place), rotation: WideQuat::from_array(self.target_turn) }
    }

    /// Velocity of the commanded pose in this step.
    pub(crate) fn motion(&self) -> Motion {
        Motion { linear: Wide3::from_array(self.velocity), angular: Wide3::from_array(self.spin) }
    }

    /// Commanded pose some time after the start of the step [s].
    pub(crate) fn commanded_after(&self, time: f64) -> Frame {
        self.commanded().moved(&self.motion().scaled(time))
    }

    pub(crate) fn set_commanded(&mut self, frame: &Frame) {
        (self.place, self.turn) = (frame.position.to_array(), frame.rotation.to_array());
    }

    /// True when all numbers can be used.
    pub(crate) fn is_sane(&self) -> bool {
        let numbers = [&self.place[..], &self.velocity, &self.spin, &self.target_place];
        let opening = [self.opening, self.opening_rate, self.target_opening];
        let turns = [self.commanded(), self.target()];
        numbers.iter().all(|list| list.iter().all(|x| x.is_finite()))
            && opening.iter().all(|x| x.is_finite())
            && turns.iter().all(Frame::is_valid)
            && !self.stamp.is_nan()
            && !self.due.is_nan()
    }
}

/// A surface point that is anchored to a tool.
///
/// An example is at [`ToolMemory`](crate::ToolMemory).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ToolAnchor {
    /// Slot of the tool's body. The column is sorted by it; anchors of one tool are in the order in which they were taken.
    pub tool: u32,
    /// Slot of the body that is held.
    pub body: u32,
    /// Surface points whose weighted sum is the anchored one.
    pub surfels: [u32; 3],
    /// Unused.
    pub spare: u32,
    /// Weights of the surface points; they sum to 1.
    pub weights: [Real; 3],
    /// Place on the tool, relative to its centre of mass, axes of the body [m].
    pub local: [Real; 3],
}

impl ToolAnchor {
    pub(crate) fn local(&self) -> Vec3 {
        Vec3::from_array(self.local)
    }
}

/// The anchors of a tool; `anchors` is sorted.
pub(crate) fn anchors_of(anchors: &[ToolAnchor], tool: u32) -> &[ToolAnchor] {
    let first = anchors.partition_point(|a| a.tool < tool);
    let count = anchors[first..].partition_point(|a| a.tool == tool);
    &anchors[first..first + count]
}
