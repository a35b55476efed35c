//! Time integration scheme of a body, and its largest stable step.

use crate::math::Real;

/// Time integration scheme: the one of the parameters, and whether an explicit body is temporarily implicit.
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

    /// Switches an explicit body to the implicit integrator temporarily, or back.
    pub(super) fn lend(&mut self, on: bool) {
        if let Self::Explicit { on_request, .. } = self {
            *on_request = on;
        }
    }
}
