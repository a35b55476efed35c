//! State: all that the next step depends on, and nothing else. A clone of it is a snapshot.

mod columns;
mod contact;
mod grip;
mod tool;

pub use columns::Column;
pub(crate) use columns::mix_bytes;
pub use contact::{ContactKey, ContactMemory, PointMemory};
pub(crate) use contact::{MAX_POINTS, flag as contact_flag, of_pair};
pub use grip::ClothContactMemory;
pub(crate) use grip::of_wall;
pub use tool::{ToolAnchor, ToolMemory};
pub(crate) use tool::{anchors_of, flag as tool_flag};

use crate::math::{Pose, Quat, Real, Vec3};

/// Bits of `State::flags`.
pub(crate) mod flag {
    /// The body is sleeping: not moved, its contacts are kept.
    pub const ASLEEP: u32 = 1;
    /// The body was rolled back after a fault and is held fixed.
    pub const FROZEN: u32 = 2;
}

/// All that the next step depends on. Indexed by body slot, node or constraint slot.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
/// let before: State = world.snapshot();
/// for _ in 0..10 {
///     world.step(&Input::none());
/// }
/// let hash = world.hash();
/// // restored and repeated: the same bits
/// world.restore(&before)?;
/// for _ in 0..10 {
///     world.step(&Input::none());
/// }
/// assert_eq!(world.hash(), hash);
/// assert_eq!(before.first_difference(&world.snapshot()).map(|(column, _)| column), Some("tick"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Steps since the start; time is tick · dt.
    pub tick: u64,
    /// Substep of the last step [s]: warm-start impulses are rescaled when it changes.
    pub h: Real,
    /// Centre of mass of each rigid body, world frame [m] (body slots).
    pub x: Vec<Vec3>,
    /// Rounding error of `x`, added in the next substep (compensated summation) [m] (body slots).
    pub x_remainder: Vec<Vec3>,
    /// Orientation of each rigid body (body slots).
    pub q: Vec<Quat>,
    /// Velocity of the centre of mass [m/s] (body slots).
    pub v: Vec<Vec3>,
    /// Rounding error of `v` when gravity was added [m/s] (body slots).
    pub v_remainder: Vec<Vec3>,
    /// Angular velocity, world axes [rad/s] (body slots).
    pub w: Vec<Vec3>,
    /// Time for which the body has been at rest [s] (body slots).
    pub sleep_timer: Vec<Real>,
    /// Sleeping, frozen (body slots).
    pub flags: Vec<u32>,
    /// Node positions [m] (nodes).
    pub node_x: Vec<Vec3>,
    /// Node velocities [m/s] (nodes).
    pub node_v: Vec<Vec3>,
    /// State variables of deformable models: plastic strain, stretch of dashpots (indexed by each model).
    pub internal_state: Vec<Real>,
    /// Impulses of constraint rows for the warm start [N·s] (rows of all constraints, in the order of their slots;
    /// their numbers are stored in the model).
    pub row_impulses: Vec<Real>,
    /// 1 when the constraint broke (constraint slots).
    pub broken: Vec<u32>,
    /// Contacts with their features, impulses and stick points, sorted by key.
    pub contacts: Vec<ContactMemory>,
    /// Compact contacts of nodes of sheets, sorted by body, sheet, collider and node.
    pub cloth_contacts: Vec<ClothContactMemory>,
    /// Slot and topology number of each body whose topology was edited, sorted: the numbering that the other columns
    /// belong to.
    pub topology: Vec<[u32; 2]>,
    /// Commanded motion of tools, sorted by the slot of their bodies.
    pub tools: Vec<ToolMemory>,
    /// Surface points that are anchored to tools, sorted by the slot of the tool's body.
    pub tool_anchors: Vec<ToolAnchor>,
}

impl State {
    pub(crate) fn is_asleep(&self, body: usize) -> bool {
        self.flags[body] & flag::ASLEEP != 0
    }

    pub(crate) fn is_frozen(&self, body: usize) -> bool {
        self.flags[body] & flag::FROZEN != 0
    }

    /// Records the topology number of the body in a slot; 0 removes the record.
    pub(crate) fn set_topology(&mut self, slot: u32, number: u32) {
        match (self.topology.binary_search_by_key(&slot, |t| t[0]), number) {
            (Ok(at), 0) => drop(self.topology.remove(at)),
            (Ok(at), _) => self.topology[at][1] = number,
            (Err(_), 0) => {}
            (Err(at), _) => self.topology.insert(at, [slot, number]),
        }
    }

    /// The topology number of the body in a slot; 0 until its first edit.
    pub(crate) fn topology_of(&self, slot: u32) -> u32 {
        self.topology.binary_search_by_key(&slot, |t| t[0]).map_or(0, |at| self.topology[at][1])
    }

    /// Resets a rigid body to its last valid pose and freezes it.
    pub(crate) fn freeze_rigid(&mut self, i: usize, good: Pose) {
        self.x[i] = if good.position.is_finite() { good.position } else { Vec3::ZERO };
        self.q[i] = if good.rotation.is_finite() { good.rotation } else { Quat::IDENTITY };
        (self.x_remainder[i], self.v_remainder[i]) = (Vec3::ZERO, Vec3::ZERO);
        (self.v[i], self.w[i]) = (Vec3::ZERO, Vec3::ZERO);
        self.flags[i] = flag::FROZEN;
    }
}
