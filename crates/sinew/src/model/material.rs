//! Surface materials and collision groups.

use super::PairRules;
use crate::error::Error;
use crate::friction::Law;
use crate::math::{Real, Vec3};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, SHARE, from_to, record};

/// Friction and restitution of a surface.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let ice = SurfaceMaterial::friction(0.02);
/// world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(ice))?;
/// let puck = RigidBody::dynamic().shape(Shape::cylinder(0.02, 0.05)).material(ice).at([0.0, 0.02, 0.0]);
/// let puck = world.add_rigid(puck.velocity([2.0, 0.0, 0.0]))?;
/// for _ in 0..60 {
///     world.step(&Input::none());
/// }
/// // after a second it has lost 0.02 g of speed
/// assert!((world.body(puck)?.velocity().x - 1.8).abs() < 0.02);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceMaterial {
    /// Friction coefficient while sticking.
    pub static_friction: Real,
    /// Friction coefficient while slipping.
    pub kinetic_friction: Real,
    /// Speed after / before an impact, 0 (none) to 1 (elastic).
    pub restitution: Real,
    /// Lever arm of rolling resistance [m]: the torque against rolling is at most this times the normal force.
    pub rolling_resistance: Real,
    /// Lever arm of spinning resistance [m]: the torque about the contact normal is at most this times the normal
    /// force. A round body on one point has at least that of a patch with a thousandth of its radius.
    pub spinning_resistance: Real,
    /// Friction as a function of slip. Coulomb, the default, has both coefficients and a stick point.
    pub law: Law,
    /// Index of its family of surfaces, for [`crate::PairRules::table`]; 0: no family.
    pub family: u32,
    /// Anisotropic friction, with different coefficients along and across a direction; rigid bodies only. None:
    /// isotropic.
    pub grain: Option<Grain>,
}

/// Anisotropic friction: the coefficient along a direction in a surface differs from that across it, as for brushed
/// metal, wood, skates.
///
/// The friction disc becomes an ellipse with semi-axes μ N along the direction and `across` μ N across it. With the
/// tangents t₁ (along) and t₂ the contact is solved in the axes t₁ and `across` t₂, where the ellipse is a disc again
/// and any law holds: friction is then the force of the ellipse with maximum dissipation, and is opposite to the slip
/// only along the axes.
///
/// ```
/// use sinew::*;
/// // slides along z, and hardly across
/// let ski = SurfaceMaterial::friction(0.05).grain(Vec3::Z, 10.0);
/// assert_eq!(ski.grain, Some(Grain { direction: Vec3::Z, across: 10.0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// The direction, in the axes of the body; its component along the contact normal is ignored.
    pub direction: Vec3,
    /// Coefficient across it / coefficient along it.
    pub across: Real,
}

impl Default for SurfaceMaterial {
    fn default() -> Self {
        Self {
            static_friction: 0.5,
            kinetic_friction: 0.5,
            restitution: 0.0,
            rolling_resistance: 0.0,
            spinning_resistance: 0.0,
            law: Law::default(),
            family: 0,
            grain: None,
        }
    }
}

impl SurfaceMaterial {
    /// The same coefficient for sticking and slipping, no restitution.
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

    /// Sets the family used by the table of pairs.
    pub fn family(mut self, family: u32) -> Self {
        self.family = family;
        self
    }

    /// Sets anisotropic friction: `across` times the friction across a direction of the body.
    pub fn grain(mut self, direction: impl Into<Vec3>, across: Real) -> Self {
        self.grain = Some(Grain { direction: direction.into(), across });
        self
    }

    /// True when friction is more than Coulomb with stiction, which the contact solver handles directly.
    pub(crate) fn has_own_law(&self) -> bool {
        self.grain.is_some() || !matches!(self.law, Law::Coulomb(_) | Law::Stiction(_))
    }

    /// The grain of a pair and the index of its body: the one with the larger ratio between along and across; of equal
    /// ones that of the first body.
    pub(crate) fn stronger_grain(a: &Self, b: &Self) -> Option<(usize, Grain)> {
        let contrast = |g: &Grain| g.across.max(1.0 / g.across);
        match (a.grain, b.grain) {
            (Some(x), Some(y)) => Some(if contrast(&y) > contrast(&x) { (1, y) } else { (0, x) }),
            (Some(x), None) => Some((0, x)),
            (None, y) => y.map(|y| (1, y)),
        }
    }

    /// The combined material of two surfaces, by the default rules of a world ([`crate::PairRules`]).
    pub fn combine(&self, other: &Self) -> Self {
        PairRules::default().combine(self, other)
    }

    pub(crate) fn check(&self, whose: &str) -> Result<(), Error> {
        sinew_spec::check(self, whose)?;
        let (kinetic, most) = (self.kinetic_friction, self.static_friction);
        let must = "at most the static coefficient";
        crate::error::check(&format!("{whose}.kinetic_friction"), kinetic, kinetic <= most, must)?;
        if let Some(Grain { direction, .. }) = self.grain {
            let size = direction.length();
            crate::error::check(&format!("{whose}.grain.direction"), size, size > 0.0, "a direction, not zero")?;
        }
        Ok(())
    }

    /// The same for bodies of nodes, which have no body axes for a grain.
    pub(crate) fn check_nodes(&self, whose: &str) -> Result<(), Error> {
        let across = self.grain.map_or(0.0, |g| g.across);
        crate::error::check(&format!("{whose}.grain"), across, self.grain.is_none(), "rigid bodies only")?;
        self.check(whose)
    }
}

// The order is that of saves: new fields are appended.
record!(SurfaceMaterial, "surface", "How a surface rubs and bounces.", SurfaceMaterial::default(), {
    static_friction: NOT_NEGATIVE, "Friction coefficient while sticking.";
    kinetic_friction: NOT_NEGATIVE, "Friction coefficient while slipping.";
    restitution: SHARE, "Speed after / before an impact.";
    rolling_resistance: NOT_NEGATIVE, "Lever of rolling resistance [m].";
    spinning_resistance: NOT_NEGATIVE, "Lever of spinning resistance [m].";
    law: ANY, "How friction depends on slip.";
    family: ANY, "The number of its family, for the table of pairs; 0: none in particular.";
    grain: ANY, "Another friction across a direction than along it; rigid bodies only.";
});

record!(Grain, "grain", "Another friction across a direction than along it.", Grain { direction: Vec3::X, across: 1.0 }, needs {
    direction: FINITE, "The direction, in the axes of the body; not zero.";
    across: from_to(0.01, 100.0), "Coefficient across it / coefficient along it.";
}, {});

/// Collision groups: two surfaces collide when the `member` of each has a bit in the `mask` of the other.
///
/// ```
/// use sinew::*;
/// let (ghost, wall) = (Groups { member: 0b10, mask: 0b10 }, Groups { member: 0b01, mask: 0b01 });
/// assert!(!ghost.meets(wall) && ghost.meets(Groups::default()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Groups this surface is in.
    pub member: u32,
    /// Groups it collides with.
    pub mask: u32,
}

impl Groups {
    /// In all groups, collides with all.
    pub const ALL: Self = Self { member: u32::MAX, mask: u32::MAX };
    /// Collides with nothing.
    pub const NONE: Self = Self { member: 0, mask: 0 };

    /// True when the two collide.
    pub fn meets(self, other: Self) -> bool {
        self.member & other.mask != 0 && other.member & self.mask != 0
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self::ALL
    }
}

record!(Groups, "groups", "Collision groups, as bits: two surfaces meet when each one's member has a bit in the other's mask.",
    Groups::ALL, {
    member: ANY, "Groups this surface is in, as bits.";
    mask: ANY, "Groups it meets, as bits.";
});
