//! From the axes of a device to the world: scale, orientation, clutch.
//!
//! ```text
//!   x = o + s R x_d,     q = R q_d c,     F_d = f Rᵀ F,     T_d = (f/s) Rᵀ T
//! ```
//!
//! A clutch lets the hand move back without the tool: while it is open the pose in the world stands, and on closing the
//! offsets o and c change so that it does not jump. The stiffness that the device feels is that of the world times s f: that
//! number has the limit of stability.

use crate::error::{Error, require};
use sinew_math::{Frame, Wrench};
use sinew_math::{Wide3, WideQuat};

/// How a device is placed in the world.
///
/// An example is at [`Workspace`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkspaceSettings {
    /// Place and axes of the device in the world.
    pub base: Frame,
    /// World metres for each metre of the device.
    pub scale: f64,
    /// Newton at the device for each newton in the world.
    pub force_scale: f64,
    /// Largest force of the device [N].
    pub max_force: f64,
    /// Largest torque of the device [N·m]; 0 for one that has none.
    pub max_torque: f64,
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self { base: Frame::default(), scale: 1.0, force_scale: 1.0, max_force: 3.0, max_torque: 0.0 }
    }
}

/// The map between a device and the world, with the state of its clutch.
///
/// ```
/// use sinew_haptic::*;
/// let settings = WorkspaceSettings { scale: 2.0, force_scale: 0.5, ..WorkspaceSettings::default() };
/// let mut workspace = Workspace::new(settings)?;
/// assert_eq!(workspace.pose(&Frame::at(Wide3::X * 0.01)).position, Wide3::X * 0.02);
/// // the clutch opens, the hand goes back, the clutch closes: the tool has not moved
/// workspace.set_clutch(true);
/// assert_eq!(workspace.pose(&Frame::default()).position, Wide3::X * 0.02);
/// workspace.set_clutch(false);
/// assert_eq!(workspace.pose(&Frame::default()).position, Wide3::X * 0.02);
/// // what the device feels: scale times force scale
/// assert_eq!(workspace.stiffness(600.0), 600.0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Workspace {
    settings: WorkspaceSettings,
    offset: Wide3,
    turn: WideQuat,
    open: bool,
    world: Frame,
    /// Offsets are to be chosen so that the next pose is `world`.
    pending: bool,
}

impl Workspace {
    /// A map with a closed clutch.
    pub fn new(settings: WorkspaceSettings) -> Result<Self, Error> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let size = |x: f64| x.is_finite() && x >= 0.0;
        require("workspace.scale", settings.scale, positive, "positive")?;
        require("workspace.force_scale", settings.force_scale, size, "not negative")?;
        require("workspace.max_force", settings.max_force, size, "not negative [N]")?;
        require("workspace.max_torque", settings.max_torque, size, "not negative [N·m]")?;
        if !settings.base.is_valid() {
            let reason = "a number is not finite, or the quaternion is not of unit length".to_owned();
            return Err(Error::Message { place: "workspace.base".to_owned(), reason });
        }
        let (offset, turn) = (settings.base.position, WideQuat::IDENTITY);
        let world = Frame { position: offset, rotation: settings.base.rotation };
        Ok(Self { settings, offset, turn, open: false, world, pending: false })
    }

    /// Opens or closes the clutch.
    pub fn set_clutch(&mut self, open: bool) {
        if self.open && !open {
            self.pending = true;
        }
        self.open = open;
    }

    /// True while the hand moves without the tool.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The next pose of the device becomes the present pose in the world, wherever it is: after a jump or a silence.
    pub fn rebase(&mut self) {
        self.pending = true;
    }

    /// Pose in the world for a pose of the device.
    pub fn pose(&mut self, device: &Frame) -> Frame {
        if self.open {
            return self.world;
        }
        let base = self.settings.base.rotation;
        let moved = base * device.position * self.settings.scale;
        let turned = (base * device.rotation).normalize();
        if self.pending {
            self.pending = false;
            self.offset = self.world.position - moved;
            self.turn = (turned.conjugate() * self.world.rotation).normalize();
        }
        self.world = Frame { position: self.offset + moved, rotation: (turned * self.turn).normalize() };
        self.world
    }

    /// Wrench of the device for one in the world, within the device's limits; nothing while the clutch is open.
    pub fn wrench(&self, world: &Wrench) -> Wrench {
        if self.open || !world.is_finite() {
            return Wrench::ZERO;
        }
        let back = self.settings.base.rotation.conjugate();
        let f = self.settings.force_scale;
        // angles are not scaled: with f/s on torques both parts have the same ratio of energies
        let torque = world.torque * (f / self.settings.scale);
        Wrench { force: back * world.force * f, torque: back * torque }
            .limited(self.settings.max_force, self.settings.max_torque)
    }

    /// Energy at the device for an energy in the world.
    pub fn energy(&self, world: f64) -> f64 {
        if self.open { 0.0 } else { world * self.settings.force_scale / self.settings.scale }
    }

    /// Displacement at the device for one in the world [m].
    pub fn displacement(&self, world: Wide3) -> Wide3 {
        self.settings.base.rotation.conjugate() * world / self.settings.scale
    }

    /// Stiffness at the device for a stiffness in the world [N/m].
    pub fn stiffness(&self, world: f64) -> f64 {
        world * self.settings.scale * self.settings.force_scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::Motion;

    #[test]
    fn a_turned_device_feels_the_force_in_its_own_axes() {
        let turned =
            Frame::default().moved(&Motion { linear: Wide3::Y, angular: Wide3::Z * 0.5 * std::f64::consts::PI });
        let settings = WorkspaceSettings { base: turned, max_torque: 1.0, ..WorkspaceSettings::default() };
        let mut workspace = Workspace::new(settings).expect("usual settings");
        let pose = workspace.pose(&Frame::at(Wide3::X));
        assert!((pose.position - Wide3::Y * 2.0).length() < 1e-14);
        let felt = workspace.wrench(&Wrench { force: Wide3::Y, torque: Wide3::Z });
        assert!((felt.force - Wide3::X).length() < 1e-14 && (felt.torque - Wide3::Z).length() < 1e-14);
    }

    #[test]
    fn closing_the_clutch_moves_and_turns_nothing() {
        let mut workspace = Workspace::new(WorkspaceSettings { scale: 3.0, ..Default::default() }).expect("usual");
        let one = Frame::at(Wide3::new(0.1, 0.2, 0.3)).moved(&Motion { linear: Wide3::ZERO, angular: Wide3::X * 0.4 });
        let before = workspace.pose(&one);
        workspace.set_clutch(true);
        assert_eq!(workspace.wrench(&Wrench { force: Wide3::Y, torque: Wide3::ZERO }), Wrench::ZERO);
        let two = one.moved(&Motion { linear: Wide3::Y * -0.2, angular: Wide3::new(0.1, -1.0, 0.3) });
        workspace.pose(&two);
        workspace.set_clutch(false);
        let after = workspace.pose(&two).error_from(&before);
        assert!(after.linear.length() < 1e-15 && after.angular.length() < 1e-14);
    }
}
