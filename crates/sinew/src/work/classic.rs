//! What the classic contact methods need within a step.

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
    /// Its encounters, from and to.
    pub start: u32,
    pub end: u32,
    /// Input force and torque that the mean contact force was added to [N, N·m].
    pub input: [Vec3; 2],
    /// Pose at the start of the substep.
    pub from: Pose,
    /// What its flight adds to a plain step: way [m] and turn. None without a flight.
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

/// Scratch of `step::classic_contact`. Lists are written by `detect`.
#[derive(Debug, Default)]
pub(crate) struct ClassicWork {
    /// Ascending by block.
    pub movers: Vec<Mover>,
    /// By mover, then by contact.
    pub encounters: Vec<Encounter>,
    /// What the surfaces did in this step. (encounters)
    pub pushes: Vec<Push>,
    /// The same for the carrying velocities, which nobody reads. (encounters of one mover)
    pub spare: Vec<Push>,
    /// Slots of bodies that the method could not follow.
    pub refused: Vec<u32>,
}
