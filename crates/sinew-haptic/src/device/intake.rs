//! Watches what comes from a device: invalid poses, jumps, silence. The force stays bounded whatever comes.
//!
//! - A pose with numbers that are not finite or without a rotation is dropped.
//! - A pose that is farther than the device can move is dropped; when such poses persist, the device has moved (it was
//!   unplugged, it was homed): it is taken up where it is, and the tool stays (the workspace is rebased).
//! - Without a new reading for a while the device is silent: the force falls exponentially and does not grow again before
//!   the device speaks. When it speaks again the force rises in the same time.

use super::Reading;
use crate::error::{Error, require};
use sinew_math::{Frame, Wrench};

/// Settings of the intake.
///
/// An example is at [`Intake`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntakeSettings {
    /// Fastest motion of a hand [m/s]. Default 5.
    pub most_speed: f64,
    /// Fastest rotation of a hand [rad/s]. Default 60.
    pub most_spin: f64,
    /// Readings in a row that must be dropped before the device is taken up at its new place. Default 20.
    pub persistence: u32,
    /// Without a reading for this time the device is silent [s]. Default 20 ms.
    pub silence: f64,
    /// Time constant in which the force goes and comes back [s]. Default 30 ms.
    pub fade: f64,
    /// Length of a tick [s].
    pub tick: f64,
}

impl Default for IntakeSettings {
    fn default() -> Self {
        Self { most_speed: 5.0, most_spin: 60.0, persistence: 20, silence: 0.02, fade: 0.03, tick: 1e-3 }
    }
}

/// Counts of an intake.
///
/// An example is at [`Intake`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntakeReport {
    /// Readings that were used.
    pub used: u64,
    /// Readings with invalid numbers.
    pub invalid: u64,
    /// Readings that jumped.
    pub jumped: u64,
    /// Times that the device was taken up at a new place.
    pub rebased: u64,
    /// Times that it fell silent.
    pub silences: u64,
    /// True while it is silent.
    pub silent: bool,
}

/// The checked stream of readings of one device.
///
/// ```
/// use sinew_haptic::*;
/// let mut intake = Intake::new(IntakeSettings::default())?;
/// let place = |x: f64| Some(Reading { pose: Frame::at(Wide3::X * x), ..Reading::default() });
/// intake.take(place(0.0));
/// intake.take(place(1.0));
/// intake.take(place(f64::NAN));
/// assert_eq!(intake.reading().pose.position, Wide3::ZERO);
/// assert_eq!((intake.report().jumped, intake.report().invalid), (1, 1));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Intake {
    settings: IntakeSettings,
    reading: Reading,
    known: bool,
    /// Ticks since the last reading that was used, and readings dropped in a row.
    quiet: u32,
    dropped: u32,
    /// The last reading that jumped: a device that moved is consistent with itself.
    candidate: Frame,
    /// Part of the force that passes.
    gain: f64,
    report: IntakeReport,
}

impl Intake {
    /// An intake without a reading: no force passes before the first.
    pub fn new(settings: IntakeSettings) -> Result<Self, Error> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        require("intake.most_speed", settings.most_speed, positive, "positive [m/s]")?;
        require("intake.most_spin", settings.most_spin, positive, "positive [rad/s]")?;
        require("intake.silence", settings.silence, positive, "positive [s]")?;
        require("intake.fade", settings.fade, positive, "positive [s]")?;
        require("intake.tick", settings.tick, positive, "positive [s]")?;
        Ok(Self {
            settings,
            reading: Reading::default(),
            known: false,
            quiet: 0,
            dropped: 0,
            candidate: Frame::default(),
            gain: 0.0,
            report: IntakeReport::default(),
        })
    }

    /// One tick. Returns true when the device was taken up at another place: its workspace must be rebased.
    pub fn take(&mut self, reading: Option<Reading>) -> bool {
        self.quiet = self.quiet.saturating_add(1);
        let mut rebased = false;
        if let Some(reading) = reading {
            rebased = self.judge(&reading);
        }
        let silent = !self.known || f64::from(self.quiet) * self.settings.tick > self.settings.silence;
        self.report.silences += u64::from(silent && !self.report.silent && self.known);
        self.report.silent = silent;
        let rate = self.settings.tick / self.settings.fade;
        let goal = if silent { 0.0 } else { 1.0 };
        self.gain = (self.gain + rate * goal) / (1.0 + rate);
        if !silent && self.report.used == 1 {
            // the first reading ever: nothing to fade in from
            self.gain = 1.0;
        }
        rebased
    }

    fn judge(&mut self, reading: &Reading) -> bool {
        if !reading.pose.is_valid() || !reading.gripper.is_finite() {
            self.report.invalid += 1;
            return false;
        }
        let after_silence = self.report.silent && self.known;
        // after a pause a hand may be farther away, but no farther than it goes until the device counts as silent
        let time = (self.settings.tick * f64::from(self.quiet)).min(self.settings.silence);
        let near = |from: &Frame, time: f64| {
            let moved = reading.pose.error_from(from);
            moved.linear.length() <= self.settings.most_speed * time
                && moved.angular.length() <= self.settings.most_spin * time
        };
        let jumps = self.known && !near(&self.reading.pose, time);
        if jumps {
            self.report.jumped += 1;
            let consistent = self.dropped > 0 && near(&self.candidate, 2.0 * self.settings.tick);
            self.dropped = if consistent { self.dropped + 1 } else { 1 };
            self.candidate = reading.pose;
            if self.dropped < self.settings.persistence {
                return false;
            }
        }
        let rebased = jumps || after_silence;
        self.report.rebased += u64::from(rebased);
        self.report.used += 1;
        (self.reading, self.known, self.quiet, self.dropped) = (*reading, true, 0, 0);
        rebased
    }

    /// The last reading that was used.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// The wrench that may pass.
    pub fn pass(&self, wrench: &Wrench) -> Wrench {
        if wrench.is_finite() { wrench.scaled(self.gain) } else { Wrench::ZERO }
    }

    /// Counts.
    pub fn report(&self) -> IntakeReport {
        self.report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wide3;

    fn at(x: f64) -> Option<Reading> {
        Some(Reading { pose: Frame::at(Wide3::X * x), ..Reading::default() })
    }

    #[test]
    fn a_silent_device_lets_go_gently_and_comes_back_gently() {
        let mut intake = Intake::new(IntakeSettings::default()).expect("defaults");
        let push = Wrench { force: Wide3::Y, torque: Wide3::ZERO };
        intake.take(at(0.0));
        assert_eq!(intake.pass(&push).force.y, 1.0);
        let mut last = 1.0;
        for k in 0..140 {
            intake.take(None);
            let now = intake.pass(&push).force.y;
            // no tick takes more than T/fade
            assert!(now <= last && last - now < 1.0 / 30.0, "tick {k}");
            last = now;
        }
        assert!(last < 0.05 && intake.report().silent && intake.report().silences == 1);
        assert!(intake.take(at(0.0)), "the tool stays where it is");
        let now = intake.pass(&push).force.y;
        assert!(now > last && now - last < 1.0 / 30.0);
    }

    #[test]
    fn a_device_that_moved_is_taken_up_at_its_new_place() {
        let mut intake = Intake::new(IntakeSettings::default()).expect("defaults");
        intake.take(at(0.0));
        let rebased = (0..40).filter(|_| intake.take(at(1.0))).count();
        assert_eq!((rebased, intake.reading().pose.position.x), (1, 1.0));
        // readings that contradict each other never add up to a new place
        for k in 0..200 {
            intake.take(at(if k % 2 == 0 { 3.0 } else { -3.0 }));
            assert_eq!(intake.reading().pose.position.x, 1.0);
        }
    }
}
