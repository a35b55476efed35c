//! The leak observer: damping for the energy that sampling makes, and for nothing else.
//!
//! A spring that is computed from sampled poses and held over a tick gives out K dx²/2 more than it took. The observer
//! counts that leak alone:
//!
//! ```text
//!   E += F_(n−1)·dx + dU + dD − (b/2) (dx·n)²/T,     E = max(E, 0)
//!   F −= α (v·n) n,     α = min(E/(T (v·n)²), α_max)
//! ```
//!
//! Credit and damping count motion along the change of the force alone, n = dF/|dF|, without the direction in which contacts
//! slip: motion that meets no spring must not pay for a buzz across it (a spring of 1500 N/m rang with 1.3 N while it
//! slid at 0.35 m/s). Since |K dx|² ≤ K_max dx·K dx, a spring of any
//! shape with K_max T < b stays within this credit.
//!
//! with the force F that was really held, the energy U stored in coupling and matter, D taken by friction and viscosity,
//! and half of the device's damping b as credit. A spring with K T < b stays below the credit: the observer is silent
//! there, unlike one that counts all energy (Hannaford and Ryu 2002), which is also blind while something rubs, and
//! forgives debts when contact ends. |v|² = |v|² + L² |ω|² weighs rotation by a length L.
//!
//! It comes last, after blend, cap and limits. Encoder noise limits α_max: steps of α q/T.

use crate::error::{Error, require};
use sinew_math::Wide3;
use sinew_math::{Frame, Motion, Wrench};

/// Settings of the observer.
///
/// An example is at [`Passivity`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassivitySettings {
    /// Damping of the device b [N·s/m]; half of it is credit.
    pub device_damping: f64,
    /// Largest damping that is added [N·s/m]. Default 2.5: an encoder of 20 µm then makes steps of 0.05 N.
    pub most_damping: f64,
    /// Length that weighs rotation [m]. Default 0.1.
    pub length: f64,
    /// False: energies are reported, the force is not changed. Default true.
    pub active: bool,
}

impl Default for PassivitySettings {
    fn default() -> Self {
        Self { device_damping: 0.6, most_damping: 2.5, length: 0.1, active: true }
    }
}

/// What the observer saw and did.
///
/// An example is at [`Passivity`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PassivityReport {
    /// Leaked energy that damping has not taken back yet [J].
    pub leak: f64,
    /// Net energy given to the hand since the start [J].
    pub given: f64,
    /// Damping of the last tick [N·s/m].
    pub damping: f64,
    /// True when more damping was wanted than allowed.
    pub saturated: bool,
    /// Ticks in which it acted.
    pub acted: u64,
}

/// The leak observer of one tool.
///
/// ```
/// use sinew_haptic::*;
/// // a sampled spring of 1000 N/m, 10 mm in and out at 0.1 m/s: it leaks K v T d = 1 mJ
/// let settings = PassivitySettings { active: false, ..PassivitySettings::default() };
/// let mut observer = Passivity::new(settings, 1e-3)?;
/// for k in 0..=200 {
///     let depth = 1e-4 * f64::from(if k <= 100 { k } else { 200 - k });
///     let force = Wrench { force: Wide3::Y * (1000.0 * depth), torque: Wide3::ZERO };
///     observer.pass(&force, &Frame::at(Wide3::Y * -depth), &Work::default());
/// }
/// assert!((observer.report().given - 1e-3).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Passivity {
    settings: PassivitySettings,
    tick: f64,
    /// Largest force and torque of the device [N, N·m].
    most: (f64, f64),
    last: Option<Last>,
    report: PassivityReport,
}

/// The tick before.
#[derive(Clone, Copy, Debug)]
struct Last {
    device: Frame,
    /// Force without damping, and the one that was held.
    wanted: Wrench,
    held: Wrench,
}

/// What the local model did in a tick, at the device.
///
/// An example is at [`Passivity`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// dU + dD: change of stored energy and energy taken by friction and viscosity [J].
    pub taken: f64,
    /// Displacement by which contacts slipped [m].
    pub slip: Wide3,
}

impl Passivity {
    /// An observer for ticks of a length [s].
    pub fn new(settings: PassivitySettings, tick: f64) -> Result<Self, Error> {
        require("tick", tick, |t| t.is_finite() && t > 0.0, "positive [s]")?;
        let size = |x: f64| x.is_finite() && x >= 0.0;
        require("passivity.device_damping", settings.device_damping, size, "not negative [N·s/m]")?;
        require("passivity.most_damping", settings.most_damping, size, "not negative [N·s/m]")?;
        require("passivity.length", settings.length, |l| l.is_finite() && l > 0.0, "positive [m]")?;
        let most = (f64::INFINITY, f64::INFINITY);
        Ok(Self { settings, tick, most, last: None, report: PassivityReport::default() })
    }

    /// With the limits of a device [N, N·m]: damping does not exceed them either.
    pub fn limited(mut self, force: f64, torque: f64) -> Self {
        self.most = (force, torque);
        self
    }

    /// The force to hold over the next tick.
    pub fn pass(&mut self, wanted: &Wrench, device: &Frame, work: &Work) -> Wrench {
        let Some(last) = self.last else {
            self.last = Some(Last { device: *device, wanted: *wanted, held: *wanted });
            return *wanted;
        };
        let moved = device.error_from(&last.device);
        let given = last.held.dot(&moved);
        let change = wanted.plus(&last.wanted.scaled(-1.0));
        self.report.given += given;
        let along = self.along_force(&moved, &change, work.slip);
        let credit = 0.5 * self.settings.device_damping * along.square(self.settings.length) / self.tick;
        self.report.leak = (self.report.leak + given + work.taken - credit).max(0.0);
        let held = self.damp(wanted, &along).limited(self.most.0, self.most.1);
        self.last = Some(Last { device: *device, wanted: *wanted, held });
        held
    }

    /// The part of a displacement along the change of the force, in the metric that weighs rotation by a length.
    fn along_force(&self, moved: &Motion, change: &Wrench, slip: Wide3) -> Motion {
        let length = self.settings.length;
        let (mut motion, mut force) = (moved.linear, change.force);
        if slip != Wide3::ZERO {
            let along = slip.normalize();
            motion -= along * motion.dot(along);
            force -= along * force.dot(along);
        }
        let turn = change.torque / length;
        let size = force.length_squared() + turn.length_squared();
        if !(size > 0.0) {
            return Motion { linear: motion, angular: moved.angular };
        }
        let shared = (force.dot(motion) + turn.dot(moved.angular) * length) / size;
        Motion { linear: force * shared, angular: turn * (shared / length) }
    }

    fn damp(&mut self, wanted: &Wrench, moved: &Motion) -> Wrench {
        let square = moved.square(self.settings.length);
        self.report.damping = 0.0;
        self.report.saturated = false;
        if self.report.leak <= 0.0 || square <= 0.0 {
            return *wanted;
        }
        // |v|² = |dx|²/T²
        let needed = self.report.leak * self.tick / square;
        self.report.saturated = needed > self.settings.most_damping;
        self.report.damping = needed.min(self.settings.most_damping);
        if !self.settings.active {
            return *wanted;
        }
        self.report.acted += 1;
        let factor = self.report.damping / self.tick;
        let turn = factor * self.settings.length * self.settings.length;
        wanted.plus(&Wrench { force: moved.linear * -factor, torque: moved.angular * -turn })
    }

    /// A pose that jumped without motion of the hand (a clutch): no work is done on the way.
    pub fn rebase(&mut self, device: &Frame) {
        if let Some(last) = &mut self.last {
            last.device = *device;
        }
    }

    /// Energies, damping, saturation.
    pub fn report(&self) -> PassivityReport {
        self.report
    }
}
