//! Data of the classic contact methods within a step.

use crate::classic::meet::Push;
use crate::math::{Pose, Quat, Vec3};

/// A particle or rigid body that a classic method acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mover {
    /// Its velocity block.
    pub block: u32,
    /// Its body, and the node for particles.
    pub slot: u32,
    pub node: Option<u32>,
    /// Range of its encounters.
    pub start: u32,
    pub end: u32,
    /// Input force and torque that the mean contact force was added to [N, N·m].
    pub input: [Vec3; 2],
    /// Pose at the start of the substep.
    pub from: Pose,
    /// Difference of its ballistic flight from a plain step: displacement [m] and rotation. None without a flight.
    pub flight: Option<(Vec3, Quat)>,
}

/// A mover near a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encounter {
    /// Velocity block of the mover.
    pub block: u32,
    /// The contact in `Work::contacts`.
    pub manifold: u32,
}

/// Scratch of `classic/in_world.rs`. Lists are written by `plan`.
#[derive(Debug, Default)]
pub(crate) struct ClassicWork {
    /// Ascending by block.
    pub movers: Vec<Mover>,
    /// By mover, then by contact.
    pub encounters: Vec<Encounter>,
    /// Impulses of the surfaces in this step. (encounters)
    pub pushes: Vec<Push>,
    /// The same for the velocities that positions are integrated with; not used further. (encounters of one mover)
    pub spare: Vec<Push>,
    /// Slots of bodies that the method could not handle.
    pub refused: Vec<u32>,
}
