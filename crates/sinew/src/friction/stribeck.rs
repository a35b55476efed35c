//! Stribeck: holds up to μ_s N; in slip F = N f(|v|) with the curve of FC 5.6, sign erratum applied.

use super::plain::hold_or_slide;
use super::{Answer, Ask, Coefficients, Curve, Rule};
use crate::error::Error;
use crate::math::{Lane, Real};

/// Rounds on the falling branch. Near the tip, where the curve falls as fast as the body answers, they end early; the force
/// is then that of a speed a little too high.
const ROUNDS: usize = 6;

/// Stiction with a continuous fall.
///
/// An example is at [`friction::Curve`](crate::friction::Curve).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stribeck {
    /// The fall, and the rise with speed.
    pub curve: Curve,
}

impl Stribeck {
    /// Checked.
    pub fn new(curve: Curve) -> Result<Self, Error> {
        curve.check("stribeck").map(|()| Self { curve })
    }
}

impl Rule for Stribeck {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        let sliding = self.curve.sliding(t, ask, ROUNDS);
        // what slips goes on as long as its branch reaches; what holds holds up to μ_s
        let holding = ask.slipping.select_gt(L::splat(t, 0.5), sliding, ask.holding);
        hold_or_slide(t, ask, holding, sliding)
    }

    fn steady(&self, c: Coefficients, speed: Real) -> Real {
        self.curve.steady(c, speed)
    }

    fn check(&self, whose: &str) -> Result<(), Error> {
        self.curve.check(whose)
    }
}
