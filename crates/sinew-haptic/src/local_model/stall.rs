//! What happens when the physics stalls, and when it comes back.
//!
//! A stall: with faded stiffness the hand sinks in and 54 % of the force are left after 100 ms; a cap on the force that
//! falls exponentially leaves 2 %. The return: full force at once would be a blow of 8 N; so the effective device is put
//! where the force is what it was, and drawn back to the true one at a steady speed.

use sinew::tool::Coupling;
use sinew_math::{Motion, Wrench, shortened};

/// A cap on force and torque that falls while no snapshot comes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold {
    /// Largest force and torque now [N, N·m]; none before the stall.
    cap: Option<(f64, f64)>,
}

impl Hold {
    pub fn is_active(&self) -> bool {
        self.cap.is_some()
    }

    /// The wrench below the cap. `rate` is tick over time constant: dF/dt = −F/τ by implicit Euler.
    pub fn cap(&mut self, wrench: &Wrench, rate: f64) -> Wrench {
        let (force, torque) = match self.cap {
            Some((force, torque)) => (force / (1.0 + rate), torque / (1.0 + rate)),
            None => (wrench.force.length(), wrench.torque.length()),
        };
        self.cap = Some((force, torque));
        wrench.limited(force, torque)
    }
}

/// The displacement of the effective device from the true one after a stall.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Return {
    away: Motion,
    /// Length that counts for the speed [m], and what is left of it.
    length: f64,
    left: f64,
}

/// Radian of a pure rotation counts as this length [m].
const ARM: f64 = 0.1;

impl Return {
    pub fn begin(&mut self, away: &Motion) {
        self.away = *away;
        self.length = away.linear.length().max(ARM * away.angular.length());
        self.left = self.length;
    }

    pub fn is_active(&self) -> bool {
        self.left > 0.0
    }

    /// The displacement of the next tick, shorter by `way` [m].
    pub fn step(&mut self, way: f64) -> Motion {
        self.left = (self.left - way).max(0.0);
        if self.left > 0.0 { self.away.scaled(self.left / self.length) } else { Motion::ZERO }
    }
}

/// Length of a wrench in terms of the coupling: the root of twice the energy it stores there.
pub(super) fn size(wrench: &Wrench, coupling: &Coupling) -> f64 {
    let (linear, angular) = coupling.compliance();
    (linear * wrench.force.length_squared() + angular * wrench.torque.length_squared()).sqrt()
}

/// The displacement of the device that would take the whole force off a rigid contact.
pub(super) fn way_out(wrench: &Wrench, coupling: &Coupling) -> Motion {
    let (linear, angular) = coupling.compliance();
    let most = 0.05;
    Motion { linear: shortened(wrench.force * linear, most), angular: shortened(wrench.torque * angular, 1.0) }
}

/// The share of a displacement at which the size of the force is a target. The size falls along it; soft matter needs
/// more than the whole displacement. A fixed number of evaluations.
pub(super) fn share_for(target: f64, size_at: &mut impl FnMut(f64) -> f64) -> f64 {
    let (mut near, mut far) = (0.0, 1.0);
    for _ in 0..6 {
        if size_at(far) <= target {
            break;
        }
        near = far;
        far *= 2.0;
    }
    for _ in 0..12 {
        let middle = 0.5 * (near + far);
        if size_at(middle) > target {
            near = middle;
        } else {
            far = middle;
        }
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wide3;

    #[test]
    fn a_held_force_is_below_five_percent_after_three_time_constants() {
        let mut hold = Hold::default();
        let pushed = Wrench { force: Wide3::Y * 2.0, torque: Wide3::ZERO };
        let mut left = pushed;
        for _ in 0..=47 {
            left = hold.cap(&pushed, 1.0 / 15.0);
        }
        assert!(left.force.length() < 0.05 * 2.0 && left.force.y > 0.0);
    }

    #[test]
    fn the_share_for_a_force_is_found_beyond_the_coupling_too() {
        // a soft body in series: the force falls by a tenth for each whole displacement
        let share = share_for(0.55, &mut |share: f64| 1.0 - 0.1 * share);
        assert!((share - 4.5).abs() < 0.01, "{share}");
    }
}
