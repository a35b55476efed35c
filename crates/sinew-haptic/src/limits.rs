//! Limits of stability of a sampled spring on a device, and the tick that counts when ticks come late.
//!
//! A device of damping b holds a force for a tick T that was computed from a pose read a time `delay` earlier. A spring
//! K on it is stable while
//!
//! ```text
//!   K < b/(T/2 + delay)
//! ```
//!
//! for any mass that is not tiny (the law of Colgate and Schenkel 1997 with the delay added; exact eigenvalues agree
//! within 0.1 % for 0.01 to 1 kg). With damping B in the controller, by backward difference of the pose, the device alone
//! is stable below 2(b + B)/T for small B, but passive for *any* hand only below 2(b − B)/T: both are given.

/// Largest stiffness that is stable on a device [N/m], without damping in the controller.
///
/// ```
/// use sinew_haptic::limits::stiffness_limit;
/// assert!((stiffness_limit(0.6, 1e-3, 0.0) - 1200.0).abs() < 1e-9);
/// // one tick of delay takes two thirds of it
/// assert!((stiffness_limit(0.6, 1e-3, 1e-3) - 400.0).abs() < 1e-9);
/// ```
pub fn stiffness_limit(device_damping: f64, tick: f64, delay: f64) -> f64 {
    device_damping / (0.5 * tick + delay)
}

/// Largest stiffness that is passive for any hand, with damping B in the controller [N/m].
pub fn passive_stiffness(device_damping: f64, controller_damping: f64, tick: f64) -> f64 {
    2.0 * (device_damping - controller_damping).max(0.0) / tick
}

/// Largest amount by which a body may be stiffer than its local model [N/m]: the law of mismatch of the two rates,
/// before the factor ((K_c + K)/K_c)² of the coupling. `period` is the step of the physics, `late` the time between the
/// pose it reads and its result, `predicted` how far that pose is extrapolated, `blend` the time over which a snapshot is
/// taken up [s].
pub fn mismatch_limit(device_damping: f64, period: f64, late: f64, predicted: f64, blend: f64) -> f64 {
    device_damping / (0.5 * period + late - predicted + 0.5 * blend)
}

/// Mean tick that stability feels: `E[dt²]/E[dt]`. A force held over a long tick leaks with the square of its length.
///
/// ```
/// use sinew_haptic::limits::EffectiveTick;
/// let mut tick = EffectiveTick::default();
/// for k in 0..100 {
///     tick.add(if k == 0 { 5e-3 } else { 1e-3 });
/// }
/// assert!((tick.seconds() - 124e-6 / 104e-3).abs() < 1e-12);
/// assert!(tick.stiffness_limit(0.6, 0.0) < 1200.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffectiveTick {
    sum: f64,
    squares: f64,
}

impl EffectiveTick {
    /// Counts a tick of this length [s].
    pub fn add(&mut self, dt: f64) {
        if dt.is_finite() && dt > 0.0 {
            self.sum += dt;
            self.squares += dt * dt;
        }
    }

    /// The effective tick [s]; 0 before the first.
    pub fn seconds(&self) -> f64 {
        if self.sum > 0.0 { self.squares / self.sum } else { 0.0 }
    }

    /// The limit of stiffness that follows [N/m]; infinite before the first tick.
    pub fn stiffness_limit(&self, device_damping: f64, delay: f64) -> f64 {
        stiffness_limit(device_damping, self.seconds(), delay)
    }
}
