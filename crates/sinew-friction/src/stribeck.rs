//! Stribeck: sticks up to μ_s N; in slip F = N f(|v|) with the curve of FC 5.6, sign erratum applied.

use super::plain::hold_or_slide;
use super::{Answer, Ask, Coefficients, Curve, Rule};
use sinew_math::{Lane, NumberError, Real};
use sinew_spec::{ANY, check, record};

/// Iterations on the decreasing branch. Near the end of the branch, where the slope of the curve equals that of the
/// response of the body, they stop before convergence; the force is then that of a slightly too high speed.
const ROUNDS: usize = 6;

/// Stiction with a continuous decrease.
///
/// An example is at [`friction::Curve`](crate::Curve).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stribeck {
    /// The decrease, and the increase with speed.
    pub curve: Curve,
}

record!(Stribeck, "Stribeck friction", "Falls as slip begins.", Stribeck::default(), {
    curve: ANY, "The fall, and the rise with speed.";
});

impl Stribeck {
    /// Checked.
    pub fn new(curve: Curve) -> Result<Self, NumberError> {
        check(&curve, "stribeck.curve").map(|()| Self { curve })
    }
}

impl Rule for Stribeck {
    #[inline(always)]
    fn answer<L: Lane>(&self, t: L::Token, ask: &Ask<L>) -> Answer<L> {
        let sliding = self.curve.sliding(t, ask, ROUNDS);
        // a slipping contact slips as long as its branch exists; a sticking one sticks up to μ_s
        let holding = ask.slipping.select_gt(L::splat(t, 0.5), sliding, ask.holding);
        hold_or_slide(t, ask, holding, sliding)
    }

    fn steady(&self, c: Coefficients, speed: Real) -> Real {
        self.curve.steady(c, speed)
    }
}
