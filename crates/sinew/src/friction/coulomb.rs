//! Coulomb: F = μ_k N along the slip (FC 5.1, 5.2); at rest the force that prevents slip, up to the same limit.

use super::plain::hold_or_slide;
use super::{Answer, Ask, Coefficients, Rule};
use crate::error::Error;
use crate::math::{Lane, Real};

/// A single coefficient. At contacts of a world this is the default law, and there it has μ_s too.
///
/// ```
/// use sinew::*;
/// use sinew::friction::*;
/// let law = Law::Coulomb(Coulomb);
/// let surface = SurfaceMaterial::friction(0.5).law(law);
/// assert_eq!(surface.law.name(), "coulomb");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coulomb;

impl Rule for Coulomb {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        hold_or_slide(t, ask, ask.kinetic, ask.kinetic)
    }

    fn steady(&self, c: Coefficients, _: Real) -> Real {
        c.slipping
    }

    fn check(&self, _: &str) -> Result<(), Error> {
        Ok(())
    }
}
