//! Devices: what a hand holds. A device gives readings and takes wrenches, both without waiting.

mod intake;
mod sim;
mod workspace;

pub use intake::{Intake, IntakeReport, IntakeSettings};
pub use sim::{Hand, SimulatedDevice, SimulatedSettings};
pub use workspace::{Workspace, WorkspaceSettings};

use sinew_math::{Frame, Wrench};

/// A reading of a device, in its own axes.
///
/// An example is at [`Device`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Pose [m].
    pub pose: Frame,
    /// Buttons, one bit each.
    pub buttons: u16,
    /// Opening of a gripper from 0 (closed) to 1.
    pub gripper: f64,
}

/// A force-feedback device. Implementations must return at once: what talks to hardware or a socket does so on its own
/// thread and exchanges values by [`crate::exchange`].
///
/// ```
/// use sinew_haptic::*;
/// /// A device that stands still and feels nothing.
/// struct Rock;
/// impl Device for Rock {
///     fn read(&mut self) -> Option<Reading> { Some(Reading::default()) }
///     fn write(&mut self, _: &Wrench) {}
/// }
/// assert_eq!(Rock.read(), Some(Reading::default()));
/// ```
pub trait Device {
    /// The newest reading; none when nothing new came.
    fn read(&mut self) -> Option<Reading>;
    /// Force and torque on the hand, in the axes of the device, to hold until the next call.
    fn write(&mut self, wrench: &Wrench);
}
