//! Who integrates a body, and its largest step.

use crate::math::Real;

/// Who integrates: what the parameters say, and whether an explicit body goes implicit for now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scheme {
    Implicit,
    /// The largest stable step [s].
    Explicit {
        stable: Real,
        on_request: bool,
    },
}

impl Scheme {
    pub(super) fn is_implicit(self) -> bool {
        !matches!(self, Self::Explicit { on_request: false, .. })
    }

    pub(super) fn stable_step(self) -> Real {
        if let Self::Explicit { stable, on_request: false } = self { stable } else { Real::INFINITY }
    }

    /// Lends an explicit body the implicit integrator, or takes it back.
    pub(super) fn lend(&mut self, on: bool) {
        if let Self::Explicit { on_request, .. } = self {
            *on_request = on;
        }
    }
}
