//! The virtual coupling: a spring and damper of six degrees of freedom between the pose of the device and the tool.
//!
//! ```text
//!   F = K_c (x_d − x_t) + B_c (v_d − v_t),     T = K_r log(q_d q_t⁻¹) + B_r (ω_d − ω_t)
//! ```
//!
//! acts on the tool; the hand gets the opposite (Colgate, Stanley and Brown 1995). The rotation vector log q has no
//! singularity below half a turn, unlike angles about axes. Force and torque are limited in length.

use super::{Frame, Motion, Wrench};
use crate::error::Error;
use crate::math::shortened;
use sinew_spec::{NOT_NEGATIVE, POSITIVE, Wide, record};

/// Stiffness, damping and limits of a virtual coupling.
///
/// ```
/// use sinew::tool::{Coupling, Frame, Motion, Wide3};
/// let coupling = Coupling { stiffness: 500.0, ..Coupling::default() };
/// // 2 mm into a fixed wall: 1 N
/// let (device, tool) = (Frame::at(Wide3::new(0.0, -0.002, 0.0)), Frame::default());
/// let pair = coupling.wrenches(&device, &tool, &Motion::ZERO, &Motion::ZERO);
/// assert!((pair.hand.force.y - 1.0).abs() < 1e-12 && pair.hand.force == -pair.tool.force);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupling {
    /// Of translation [N/m]. Stable on a device of damping b and a tick T: below b/(T/2 + delay) (`docs/haptics.md`).
    pub stiffness: f64,
    /// Of translation [N·s/m].
    pub damping: f64,
    /// Of rotation [N·m/rad]. Infinite: the tool turns with the device and the hand gets torque without compliance.
    pub turn_stiffness: f64,
    /// Of rotation [N·m·s/rad].
    pub turn_damping: f64,
    /// Largest force [N].
    pub max_force: f64,
    /// Largest torque [N·m].
    pub max_torque: f64,
}

/// What a coupling does at its two ends.
///
/// An example is at [`Coupling`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CouplingWrenches {
    /// On the tool, about its origin.
    pub tool: Wrench,
    /// On the hand, about the origin of the device.
    pub hand: Wrench,
}

impl Default for Coupling {
    /// Of a light desktop device with b = 0.6 N·s/m: 80 % of the stable stiffness at 1 kHz.
    fn default() -> Self {
        Self { stiffness: 960.0, damping: 0.0, turn_stiffness: 1.0, turn_damping: 0.0, max_force: 8.0, max_torque: 0.3 }
    }
}

impl Coupling {
    /// Force and torque on both ends. They add up to nothing, also about any common point: the part of the force across
    /// the line of the two origins (damping) has an arm, which the torque on the hand makes up for.
    pub fn wrenches(&self, device: &Frame, tool: &Frame, device_v: &Motion, tool_v: &Motion) -> CouplingWrenches {
        let error = device.error_from(tool);
        let force = error.linear * self.stiffness + (device_v.linear - tool_v.linear) * self.damping;
        let stiff = if self.turn_stiffness.is_finite() { self.turn_stiffness } else { 0.0 };
        let torque = error.angular * stiff + (device_v.angular - tool_v.angular) * self.turn_damping;
        let on_tool = Wrench { force, torque }.limited(self.max_force, self.max_torque);
        let hand = Wrench { force: -on_tool.force, torque: error.linear.cross(on_tool.force) - on_tool.torque };
        CouplingWrenches { tool: on_tool, hand }
    }

    /// The coupling with at least this damping on a tool of a mass and a moment of inertia: 70 % of critical. A spring on
    /// a tool alone rings.
    pub fn damped(&self, mass: f64, inertia: f64) -> Self {
        let least = |stiffness: f64, mass: f64| 1.4 * (stiffness * mass).sqrt();
        Self {
            damping: self.damping.max(least(self.stiffness, mass)),
            turn_damping: self.turn_damping.max(least(self.turn_stiffness, inertia)),
            ..*self
        }
    }

    /// The displacement of a device against a tool, shortened to what the limits of force and torque allow.
    pub fn limited_error(&self, device: &Frame, tool: &Frame) -> Motion {
        let Motion { linear, angular } = device.error_from(tool);
        Motion {
            linear: shortened(linear, self.max_force / self.stiffness),
            angular: shortened(angular, self.max_torque / self.turn_stiffness),
        }
    }

    /// The name of the first number that is out of range, and what it must be.
    pub fn check(&self) -> Result<(), Error> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        require("coupling.stiffness", self.stiffness, positive, "positive [N/m]")?;
        require("coupling.damping", self.damping, |x| x.is_finite() && x >= 0.0, "not negative [N·s/m]")?;
        require("coupling.turn_stiffness", self.turn_stiffness, |x| x > 0.0, "positive [N·m/rad]")?;
        require("coupling.turn_damping", self.turn_damping, |x| x.is_finite() && x >= 0.0, "not negative")?;
        require("coupling.max_force", self.max_force, positive, "positive [N]")?;
        require("coupling.max_torque", self.max_torque, positive, "positive [N·m]")
    }

    /// Displacement of the proxy against the device under a wrench: linear and angular compliance [m/N, rad/(N·m)].
    pub fn compliance(&self) -> (f64, f64) {
        (1.0 / self.stiffness, 1.0 / self.turn_stiffness)
    }
}

/// Refuses a number that does not satisfy a condition; NaN satisfies none.
pub(crate) fn require(
    what: &str,
    value: f64,
    holds: impl FnOnce(f64) -> bool,
    must: &'static str,
) -> Result<(), Error> {
    if holds(value) { Ok(()) } else { Err(Error::BadNumber { what: what.to_owned(), value, must: must.into() }) }
}

// The order of the fields is that of saves: new ones are appended.
record!(Coupling, "coupling", "The spring and damper between hand and tool.", Coupling::default(), {
    stiffness via Wide: POSITIVE, "Of translation [N/m].";
    damping via Wide: NOT_NEGATIVE, "Of translation [N·s/m]; at least 70 % of critical is taken.";
    turn_stiffness via Wide: POSITIVE, "Of rotation [N·m/rad].";
    turn_damping via Wide: NOT_NEGATIVE, "Of rotation [N·m·s/rad]; at least 70 % of critical is taken.";
    max_force via Wide: POSITIVE, "Largest force [N].";
    max_torque via Wide: POSITIVE, "Largest torque [N·m].";
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Wide3;

    #[test]
    fn action_is_reaction_about_any_point() {
        let coupling = Coupling { damping: 3.0, turn_damping: 0.02, max_force: 2.0, ..Coupling::default() };
        let device = Frame::at(Wide3::new(0.01, 0.02, -0.03));
        let tool =
            device.moved(&Motion { linear: Wide3::new(0.004, -0.001, 0.02), angular: Wide3::new(0.1, 0.2, 0.3) });
        let v = Motion { linear: Wide3::new(0.3, -0.2, 0.1), angular: Wide3::new(1.0, 0.0, -2.0) };
        let pair = coupling.wrenches(&device, &tool, &v, &Motion::ZERO);
        assert_eq!(pair.tool.force, -pair.hand.force);
        assert!(pair.tool.force.length() <= 2.0 + 1e-12);
        let about = Wide3::new(0.5, -0.7, 0.2);
        let moment = |w: &Wrench, at: Wide3| w.torque + (at - about).cross(w.force);
        let sum = moment(&pair.tool, tool.position) + moment(&pair.hand, device.position);
        assert!(sum.length() < 1e-15, "{sum}");
    }

    #[test]
    fn torque_follows_the_rotation_vector() {
        let coupling = Coupling { turn_stiffness: 0.5, max_torque: 10.0, ..Coupling::default() };
        let angle = Wide3::new(0.6, -1.2, 0.9);
        let device = Frame::default().moved(&Motion { linear: Wide3::ZERO, angular: angle });
        let pair = coupling.wrenches(&device, &Frame::default(), &Motion::ZERO, &Motion::ZERO);
        assert!((pair.tool.torque - angle * 0.5).length() < 1e-13);
    }
}
