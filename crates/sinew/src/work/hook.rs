//! A contact method that acts in every substep beside the rows.

use super::{BodyWork, ContactWork, Setup, SubstepContext};
use crate::contact::route::BodyRoute;

/// Instants of a substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instant {
    /// Before velocities are predicted.
    BeforePredict,
    /// After the rows are solved.
    AfterSolve,
    /// After positions are integrated.
    AfterAdvance,
}

/// Acts on the bodies of one implicit island, or on those of all sweep islands.
pub(crate) type SubstepHook =
    fn(Instant, &SubstepContext, &Setup<'_>, &mut BodyWork, &mut ContactWork, route: BodyRoute);

impl ContactWork {
    /// Runs the hook that `plan` chose, if any.
    pub fn run_hook(
        &mut self,
        instant: Instant,
        ctx: &SubstepContext,
        setup: &Setup<'_>,
        bodies: &mut BodyWork,
        route: BodyRoute,
    ) {
        if let Some(hook) = self.substep_hook {
            hook(instant, ctx, setup, bodies, self, route);
        }
    }
}
