//! Surface materials and who meets whom.

use crate::error::{Error, not_negative};
use crate::friction::Law;
use crate::math::Real;

/// How a surface rubs and bounces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Friction coefficient while sticking.
    pub static_friction: Real,
    /// Friction coefficient while slipping.
    pub kinetic_friction: Real,
    /// Speed after / before an impact, 0 (none) to 1 (elastic).
    pub restitution: Real,
    /// Lever of rolling resistance [m]: the torque against rolling is at most this times the normal force.
    pub rolling_resistance: Real,
    /// Lever of spinning resistance [m], about the contact normal.
    pub spinning_resistance: Real,
    /// How friction depends on slip. Coulomb, the default, knows both coefficients and a stick point.
    pub law: Law,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            static_friction: 0.5,
            kinetic_friction: 0.5,
            restitution: 0.0,
            rolling_resistance: 0.0,
            spinning_resistance: 0.0,
            law: Law::default(),
        }
    }
}

impl Material {
    /// The same coefficient for sticking and slipping, no bounce.
    pub fn friction(mu: Real) -> Self {
        Self { static_friction: mu, kinetic_friction: mu, ..Self::default() }
    }

    /// Sets the restitution.
    pub fn restitution(mut self, e: Real) -> Self {
        self.restitution = e;
        self
    }

    /// Sets the friction law.
    pub fn law(mut self, law: Law) -> Self {
        self.law = law;
        self
    }

    /// True when friction is more than Coulomb with stiction, which contacts know by themselves.
    pub(crate) fn has_own_law(&self) -> bool {
        !matches!(self.law, Law::Coulomb(_) | Law::Stiction(_))
    }

    /// Two surfaces together: the product of the square roots (geometric mean) of friction, the larger restitution and
    /// resistance, and the law that comes later in [`Law::all`] (of equal ones that of the first body).
    pub fn combine(&self, other: &Self) -> Self {
        Self {
            static_friction: (self.static_friction * other.static_friction).sqrt(),
            kinetic_friction: (self.kinetic_friction * other.kinetic_friction).sqrt(),
            restitution: self.restitution.max(other.restitution),
            rolling_resistance: self.rolling_resistance.max(other.rolling_resistance),
            spinning_resistance: self.spinning_resistance.max(other.spinning_resistance),
            law: if other.law.rank() > self.law.rank() { other.law } else { self.law },
        }
    }

    pub(crate) fn check(&self, whose: &str) -> Result<(), Error> {
        not_negative(&format!("{whose}.static_friction"), self.static_friction)?;
        not_negative(&format!("{whose}.kinetic_friction"), self.kinetic_friction)?;
        crate::error::check(
            &format!("{whose}.kinetic_friction"),
            self.kinetic_friction,
            self.kinetic_friction <= self.static_friction,
            "at most the static coefficient",
        )?;
        let e = self.restitution;
        crate::error::check(&format!("{whose}.restitution"), e, (0.0..=1.0).contains(&e), "between 0 and 1")?;
        not_negative(&format!("{whose}.rolling_resistance"), self.rolling_resistance)?;
        not_negative(&format!("{whose}.spinning_resistance"), self.spinning_resistance)?;
        self.law.check(&format!("{whose}.law"))
    }
}

/// Collision groups: two surfaces meet when each one's `member` has a bit in the other's `mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Groups this surface is in.
    pub member: u32,
    /// Groups it meets.
    pub mask: u32,
}

impl Groups {
    /// In all groups, meets all.
    pub const ALL: Self = Self { member: u32::MAX, mask: u32::MAX };
    /// Meets nothing.
    pub const NONE: Self = Self { member: 0, mask: 0 };

    /// True when the two meet.
    pub fn meets(self, other: Self) -> bool {
        self.member & other.mask != 0 && other.member & self.mask != 0
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self::ALL
    }
}
