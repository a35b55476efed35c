//! Stiction: sticks up to μ_s N, then slips with μ_k N until it stops (FC 5.4).

use super::plain::hold_or_slide;
use super::{Answer, Ask, Coefficients, Rule};
use sinew_math::{Lane, Real};
use sinew_spec::record;

/// Two coefficients, and a flag for slip.
///
/// ```
/// # use sinew_friction::*;
/// let law = Law::Stiction(Stiction);
/// // in slip the force does not depend on the speed
/// let pair = Coefficients { holding: 0.6, slipping: 0.4 };
/// assert_eq!([0.1, 10.0].map(|speed| law.steady(pair, speed)), [0.4, 0.4]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stiction;

record!(Stiction, "stiction", "Holds more than it rubs.", Stiction, {});

impl Rule for Stiction {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        let half = L::splat(t, 0.5);
        hold_or_slide(t, ask, ask.slipping.select_gt(half, ask.kinetic, ask.holding), ask.kinetic)
    }

    fn steady(&self, c: Coefficients, _: Real) -> Real {
        c.slipping
    }
}
