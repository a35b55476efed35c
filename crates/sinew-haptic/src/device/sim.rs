//! A simulated device: mass and viscous damping, an encoder, a delay, and a hand that holds it by a spring.
//!
//! ```text
//!   m v' = F(t − delay) − b v + k_h (x_h(t) − x) − b_h (v − v_h)
//! ```
//!
//! F is held between writes. The equation is linear with constant coefficients over a substep; the midpoint rule with
//! [`SUBSTEPS`] substeps a tick has errors of 1e-9 in its eigenvalues for usual devices.

use super::{Device, Reading};
use crate::error::{Error, require};
use sinew_math::Wide3;
use sinew_math::{Frame, Motion, Wrench};

/// Substeps of a tick.
const SUBSTEPS: u32 = 16;
/// Wrenches that are on their way.
const QUEUE: usize = 32;

/// Mechanics of a simulated device.
///
/// An example is at [`SimulatedDevice`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedSettings {
    /// Mass at the handle [kg].
    pub mass: f64,
    /// Viscous damping [N·s/m].
    pub damping: f64,
    /// Moment of inertia about all axes [kg·m²].
    pub inertia: f64,
    /// Viscous damping of rotation [N·m·s/rad].
    pub turn_damping: f64,
    /// Step of the encoder [m]; 0: exact.
    pub resolution: f64,
    /// Step of the encoders of rotation [rad]; 0: exact.
    pub turn_resolution: f64,
    /// Time from the reading of a pose to the force that answers it, besides the hold [s]; at most 30 ticks.
    pub delay: f64,
    /// Length of a tick [s].
    pub tick: f64,
}

impl Default for SimulatedSettings {
    fn default() -> Self {
        Self {
            mass: 0.1,
            damping: 0.6,
            inertia: 1e-4,
            turn_damping: 6e-4,
            resolution: 0.0,
            turn_resolution: 0.0,
            delay: 0.0,
            tick: 1e-3,
        }
    }
}

/// What moves the device.
///
/// An example is at [`SimulatedDevice`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hand {
    /// No hand: the device is free.
    Free,
    /// The handle follows a path exactly, whatever the force.
    Scripted,
    /// A spring and damper to the path, of translation [N/m, N·s/m] and rotation [N·m/rad, N·m·s/rad].
    Spring {
        /// Stiffness of translation [N/m].
        stiffness: f64,
        /// Damping of translation [N·s/m].
        damping: f64,
        /// Stiffness of rotation [N·m/rad].
        turn_stiffness: f64,
        /// Damping of rotation [N·m·s/rad].
        turn_damping: f64,
    },
    /// A constant force and torque.
    Push(Wrench),
}

/// A device without hardware, by one clock with the loop.
///
/// ```
/// use sinew_haptic::*;
/// // a push of 1 N against b = 0.6 N·s/m ends at 1.67 m/s
/// let hand = Hand::Push(Wrench { force: Wide3::X, torque: Wide3::ZERO });
/// let mut device = SimulatedDevice::new(SimulatedSettings::default(), hand)?;
/// (0..2000).for_each(|_| device.advance(&Frame::default()));
/// assert!((device.velocity().linear.x - 1.0 / 0.6).abs() < 1e-4);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SimulatedDevice {
    settings: SimulatedSettings,
    hand: Hand,
    pose: Frame,
    velocity: Motion,
    target: Frame,
    /// Newest first.
    sent: [Wrench; QUEUE],
    /// Set by [`SimulatedDevice::silence`].
    silent: bool,
    /// Buttons of the next readings.
    pub buttons: u16,
}

impl SimulatedDevice {
    /// A device at the origin, at rest.
    pub fn new(settings: SimulatedSettings, hand: Hand) -> Result<Self, Error> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let size = |x: f64| x.is_finite() && x >= 0.0;
        require("device.mass", settings.mass, positive, "positive [kg]")?;
        require("device.damping", settings.damping, size, "not negative [N·s/m]")?;
        require("device.inertia", settings.inertia, positive, "positive [kg·m²]")?;
        require("device.turn_damping", settings.turn_damping, size, "not negative [N·m·s/rad]")?;
        require("device.resolution", settings.resolution, size, "not negative [m]")?;
        require("device.turn_resolution", settings.turn_resolution, size, "not negative [rad]")?;
        require("device.tick", settings.tick, positive, "positive [s]")?;
        let most = settings.tick * (QUEUE as f64 - 2.0);
        require("device.delay", settings.delay, |t| (0.0..=most).contains(&t), "from 0 to 30 ticks [s]")?;
        let (pose, target) = (Frame::default(), Frame::default());
        let sent = [Wrench::ZERO; QUEUE];
        Ok(Self { settings, hand, pose, velocity: Motion::ZERO, target, sent, silent: false, buttons: 0 })
    }

    /// Places the handle at rest.
    pub fn place(&mut self, pose: Frame) {
        (self.pose, self.target, self.velocity) = (pose, pose, Motion::ZERO);
    }

    /// Exact pose, without the encoder.
    pub fn pose(&self) -> &Frame {
        &self.pose
    }

    /// Exact velocity.
    pub fn velocity(&self) -> &Motion {
        &self.velocity
    }

    /// Replaces the hand.
    pub fn set_hand(&mut self, hand: Hand) {
        self.hand = hand;
    }

    /// True: no more readings, as from a device whose cable was pulled. Its motors stop.
    pub fn silence(&mut self, silent: bool) {
        self.silent = silent;
    }

    /// One tick: the handle moves under the forces written so far while the hand goes to `target`.
    pub fn advance(&mut self, target: &Frame) {
        let tick = self.settings.tick;
        if self.hand == Hand::Scripted {
            let moved = target.error_from(&self.pose);
            (self.pose, self.velocity) = (*target, moved.scaled(1.0 / tick));
        } else {
            // the force that answers the present pose arrives within the tick
            let ticks = self.settings.delay / tick;
            let whole = (ticks + 1e-9).floor();
            let fraction = (ticks - whole).max(0.0);
            let [newer, older] = [whole as usize, whole as usize + 1].map(|k| self.sent[k.min(QUEUE - 1)]);
            let way = target.error_from(&self.target);
            let from = self.target;
            self.run(&older, (&from, &way), [0.0, fraction]);
            self.run(&newer, (&from, &way), [fraction, 1.0]);
        }
        self.target = *target;
        self.sent.copy_within(0..QUEUE - 1, 1);
    }

    /// A part of the tick under a constant wrench; `part` is from 0 to 1.
    fn run(&mut self, wrench: &Wrench, (from, way): (&Frame, &Motion), part: [f64; 2]) {
        if part[1] <= part[0] {
            return;
        }
        let wrench = if self.silent { Wrench::ZERO } else { *wrench };
        let share = (part[1] - part[0]) / f64::from(SUBSTEPS);
        let h = share * self.settings.tick;
        let hand_v = way.scaled(1.0 / self.settings.tick);
        for k in 0..SUBSTEPS {
            let at = |s: f64| from.moved(&way.scaled(part[0] + share * (f64::from(k) + s)));
            let start = self.acceleration(&wrench, &self.pose, &self.velocity, (&at(0.0), &hand_v));
            let middle_v = sum(&self.velocity, &start, 0.5 * h);
            let middle = self.pose.moved(&self.velocity.scaled(0.5 * h));
            let there = self.acceleration(&wrench, &middle, &middle_v, (&at(0.5), &hand_v));
            self.pose = self.pose.moved(&middle_v.scaled(h));
            self.velocity = sum(&self.velocity, &there, h);
        }
    }

    fn acceleration(&self, wrench: &Wrench, pose: &Frame, v: &Motion, (hand, hand_v): (&Frame, &Motion)) -> Motion {
        let s = &self.settings;
        let (mut force, mut torque) = (wrench.force - v.linear * s.damping, wrench.torque - v.angular * s.turn_damping);
        match self.hand {
            Hand::Free | Hand::Scripted => {}
            Hand::Push(push) => (force, torque) = (force + push.force, torque + push.torque),
            Hand::Spring { stiffness, damping, turn_stiffness, turn_damping } => {
                let error = hand.error_from(pose);
                force += error.linear * stiffness + (hand_v.linear - v.linear) * damping;
                torque += error.angular * turn_stiffness + (hand_v.angular - v.angular) * turn_damping;
            }
        }
        Motion { linear: force / s.mass, angular: torque / s.inertia }
    }

    /// The pose as the encoders give it.
    fn encoded(&self) -> Frame {
        let mut seen = self.pose;
        if self.settings.resolution > 0.0 {
            seen.position = quantized(seen.position, self.settings.resolution);
        }
        if self.settings.turn_resolution > 0.0 {
            let angle = quantized(seen.error_from(&Frame::default()).angular, self.settings.turn_resolution);
            seen.rotation = Frame::default().moved(&Motion { linear: Wide3::ZERO, angular: angle }).rotation;
        }
        seen
    }
}

fn sum(v: &Motion, a: &Motion, h: f64) -> Motion {
    Motion { linear: v.linear + a.linear * h, angular: v.angular + a.angular * h }
}

fn quantized(v: Wide3, step: f64) -> Wide3 {
    (v / step).round() * step
}

impl Device for SimulatedDevice {
    fn read(&mut self) -> Option<Reading> {
        let reading = Reading { pose: self.encoded(), buttons: self.buttons, gripper: 1.0 };
        (!self.silent).then_some(reading)
    }

    fn write(&mut self, wrench: &Wrench) {
        self.sent[0] = if wrench.is_finite() { *wrench } else { Wrench::ZERO };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_of_a_spring_holds_a_weight_at_its_static_place() {
        let hand = Hand::Spring { stiffness: 400.0, damping: 8.0, turn_stiffness: 1.0, turn_damping: 0.02 };
        let settings = SimulatedSettings { resolution: 2e-5, ..SimulatedSettings::default() };
        let mut device = SimulatedDevice::new(settings, hand).expect("usual settings");
        for _ in 0..3000 {
            device.write(&Wrench { force: Wide3::NEG_Y * 2.0, torque: Wide3::Z * 0.1 });
            device.advance(&Frame::default());
        }
        assert!((device.pose().position.y + 2.0 / 400.0).abs() < 1e-9);
        assert!((device.pose().error_from(&Frame::default()).angular.z - 0.1).abs() < 1e-9);
        let seen = device.read().expect("it speaks").pose.position.y;
        let steps = seen / 2e-5;
        assert!((steps - steps.round()).abs() < 1e-6 && (seen + 0.005).abs() <= 1e-5 + 1e-12);
    }

    #[test]
    fn a_force_arrives_after_its_delay() {
        let settings = SimulatedSettings { damping: 0.0, delay: 2.25e-3, ..SimulatedSettings::default() };
        let mut device = SimulatedDevice::new(settings, Hand::Free).expect("usual settings");
        for k in 0..5 {
            device.write(&Wrench { force: Wide3::X, torque: Wide3::ZERO });
            device.advance(&Frame::default());
            // 1 N on 0.1 kg from 2.25 ms on
            let speed = (f64::from(k + 1) * 1e-3 - 2.25e-3).max(0.0) * 10.0;
            assert!((device.velocity().linear.x - speed).abs() < 1e-12, "tick {k}");
        }
    }
}
