//! Time integration scheme of a body, and its largest stable step.

use crate::deformable::Approximation;
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

    /// How far the lumped response is from that of a body with these ω² [1/s²], β [s] and α [1/s]: an explicit substep
    /// contains no internal force of the impulse, and decay acts before it.
    pub(super) fn response(self, [stiffness, damping, decay]: [Real; 3]) -> Approximation {
        match self.is_implicit() {
            true => Approximation::Lumped { stiffness, damping, decay },
            false => Approximation::Exact,
        }
    }

    /// Switches an explicit body to the implicit integrator temporarily, or back.
    pub(super) fn lend(&mut self, on: bool) {
        if let Self::Explicit { on_request, .. } = self {
            *on_request = on;
        }
    }
}
