//! Coulomb: F = μ_k N along the slip (FC 5.1, 5.2); at rest the force that prevents slip, up to the same limit.

use super::plain::hold_or_slide;
use super::{Answer, Ask, Coefficients, Rule};
use sinew_math::{Lane, Real};
use sinew_spec::record;

/// A single coefficient. At contacts of a world this is the default law, and there it has μ_s too.
///
/// ```
/// # use sinew_friction::*;
/// let law = Law::Coulomb(Coulomb);
/// // in slip the force does not depend on the speed
/// let pair = Coefficients { holding: 0.6, slipping: 0.4 };
/// assert_eq!([0.1, 10.0].map(|speed| law.steady(pair, speed)), [0.4, 0.4]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coulomb;

record!(Coulomb, "Coulomb friction", "The same at every speed, with both coefficients and a stick point.", Coulomb, {});

impl Rule for Coulomb {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        hold_or_slide(t, ask, ask.kinetic, ask.kinetic)
    }

    fn steady(&self, c: Coefficients, _: Real) -> Real {
        c.slipping
    }
}
