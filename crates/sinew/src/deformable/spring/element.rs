//! One spring with its dashpot: Voigt, Maxwell and Kelvin (standard linear) elements in one form.
//!
//! With the stretch e = ‖x_b − x_a‖ − L, its rate ė along the spring, and the stretch d of the dashpot in series with
//! the arm:
//!
//! ```text
//!   T = k e + c ė + k₂ (e − d),   ḋ = k₂ (e − d)/c₂
//! ```
//!
//! Voigt is (k, c), Maxwell (k₂, c₂), Kelvin (k, k₂, c₂) (FC 2.2.1, Fig. 2.5). The printed damping force (FC 2.26) has
//! no direction: here it acts along the unit vector û of the spring, f_a = c((v_b − v_a)·û) û, so that rigid motion is
//! not damped.
//!
//! d is internal state and is stored in State. Over a step with constant e, d relaxes to e as e + (d − e) exp(−z),
//! z = h k₂/c₂. The exponential is replaced by 1/(1 + z + z²/2): accurate to second order, positive and decreasing to 0
//! for any z, and the same bits on every machine.

use super::network::Spring;
use super::params::Element;
use crate::math::{Block, Real, Vec3, vec};

/// Added to squared lengths [m²]: two coincident nodes then have no force instead of NaN.
pub(super) const TINY: Real = 1e-30;

/// A spring with the constants of its element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    /// Ends.
    pub nodes: [u32; 2],
    /// Rest length [m].
    pub rest: Real,
    /// Parallel spring [N/m].
    pub k: Real,
    /// Parallel dashpot [N·s/m].
    pub c: Real,
    /// Spring of the arm [N/m].
    pub arm: Real,
    /// k₂/c₂ of the arm [1/s]; 0 without one.
    pub rate: Real,
}

impl Link {
    /// The element made of a spring's k and c.
    pub fn new(spring: &Spring, element: Element) -> Self {
        let Spring { nodes, rest, stiffness, damping } = *spring;
        let bare = Self { nodes, rest, k: stiffness, c: 0.0, arm: 0.0, rate: 0.0 };
        let rate = |arm: Real| if arm > 0.0 { arm / damping } else { 0.0 };
        match element {
            Element::Voigt => Self { c: damping, ..bare },
            Element::Maxwell => Self { k: 0.0, arm: stiffness, rate: rate(stiffness), ..bare },
            Element::Kelvin { arm } => Self { arm: arm * stiffness, rate: rate(arm * stiffness), ..bare },
        }
    }

    /// Fraction of the arm's force that remains after a step of h [s] with fixed ends [1].
    pub fn decay(&self, h: Real) -> Real {
        let z = h * self.rate;
        1.0 / (1.0 + z + 0.5 * z * z)
    }

    /// From the first end to the second [m], and the length [m].
    pub fn span(&self, x: &[Block]) -> (Vec3, Real) {
        let d = vec(x[self.nodes[1] as usize]) - vec(x[self.nodes[0] as usize]);
        (d, (d.length_squared() + TINY).sqrt())
    }

    /// Elastic tension at a length, with the fraction `share` of the arm's spring [N].
    pub fn tension(&self, length: Real, dashpot: Real, share: Real) -> Real {
        let stretch = length - self.rest;
        self.k * stretch + share * self.arm * (stretch - dashpot)
    }

    /// Elastic energy [J].
    pub fn energy(&self, length: Real, dashpot: Real) -> Real {
        let stretch = length - self.rest;
        0.5 * (self.k * stretch * stretch + self.arm * (stretch - dashpot) * (stretch - dashpot))
    }
}
