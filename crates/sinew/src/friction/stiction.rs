//! Stiction: sticks up to μ_s N, then slips with μ_k N until it stops (FC 5.4).

use super::plain::hold_or_slide;
use super::{Answer, Ask, Coefficients, Rule};
use crate::error::Error;
use crate::math::{Lane, Real};

/// Two coefficients, and a flag for slip.
///
/// ```
/// use sinew::*;
/// use sinew::friction::*;
/// let law = Law::Stiction(Stiction);
/// let surface = SurfaceMaterial::friction(0.5).law(law);
/// assert_eq!(surface.law.name(), "stiction");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stiction;

impl Rule for Stiction {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        let half = L::splat(t, 0.5);
        hold_or_slide(t, ask, ask.slipping.select_gt(half, ask.kinetic, ask.holding), ask.kinetic)
    }

    fn steady(&self, c: Coefficients, _: Real) -> Real {
        c.slipping
    }

    fn check(&self, _: &str) -> Result<(), Error> {
        Ok(())
    }
}
