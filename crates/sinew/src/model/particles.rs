//! Bare particles: nodes with mass and gravity, the simplest body.

use super::{Groups, SurfaceMaterial};
use crate::math::{Real, Vec3};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, from_to, record};

/// Particles to be added.
///
/// ```
/// use sinew::{Particles, Vec3};
/// let dust = Particles::new(vec![Vec3::ZERO, Vec3::X]).mass(0.01).radius(0.005);
/// ```
#[derive(Clone, Debug)]
pub struct Particles {
    /// Positions [m].
    pub positions: Vec<Vec3>,
    /// Common initial velocity [m/s].
    pub velocity: Vec3,
    /// Masses, one each; empty: all the same [kg].
    pub masses: Vec<Real>,
    /// Mass of each when `masses` is empty [kg].
    pub mass: Real,
    /// Radius at which they contact rigid bodies [m].
    pub radius: Real,
    /// Indices of pinned particles.
    pub pinned: Vec<u32>,
    /// Their surface material.
    pub material: SurfaceMaterial,
    /// Collision groups.
    pub groups: Groups,
    /// Factor on gravity.
    pub gravity_scale: Real,
    /// Rate at which velocity decays [1/s].
    pub damping: Real,
    /// Name used in messages.
    pub name: String,
}

impl Particles {
    /// At these positions [m], 1 g each, 1 mm radius.
    pub fn new(positions: impl Into<Vec<Vec3>>) -> Self {
        Self {
            positions: positions.into(),
            velocity: Vec3::ZERO,
            masses: Vec::new(),
            mass: 1e-3,
            radius: 1e-3,
            pinned: Vec::new(),
            material: SurfaceMaterial::default(),
            groups: Groups::ALL,
            gravity_scale: 1.0,
            damping: 0.0,
            name: String::new(),
        }
    }

    /// Mass of each [kg].
    pub fn mass(mut self, mass: Real) -> Self {
        self.mass = mass;
        self
    }

    /// Their own masses [kg], one per particle.
    pub fn masses(mut self, masses: impl Into<Vec<Real>>) -> Self {
        self.masses = masses.into();
        self
    }

    /// Radius at which they contact rigid bodies [m]; 0: no contacts.
    pub fn radius(mut self, radius: Real) -> Self {
        self.radius = radius;
        self
    }

    /// Common initial velocity [m/s].
    pub fn velocity(mut self, velocity: impl Into<Vec3>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Pins these particles.
    pub fn pinned(mut self, nodes: impl Into<Vec<u32>>) -> Self {
        self.pinned = nodes.into();
        self
    }

    /// Their surface material.
    pub fn material(mut self, material: SurfaceMaterial) -> Self {
        self.material = material;
        self
    }

    /// Collision groups.
    pub fn groups(mut self, groups: Groups) -> Self {
        self.groups = groups;
        self
    }

    /// Factor on gravity.
    pub fn gravity_scale(mut self, scale: Real) -> Self {
        self.gravity_scale = scale;
        self
    }

    /// Rate at which velocity decays [1/s].
    pub fn damping(mut self, damping: Real) -> Self {
        self.damping = damping;
        self
    }

    /// A name for messages.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

// The order of the fields is that of saves: new ones are appended.
record!(Particles, "particles", "Bare particles.", Particles::new(Vec::new()), {
    positions [required]: FINITE, "Where they are [m].";
    velocity: FINITE, "Common start velocity [m/s].";
    masses: POSITIVE, "Masses, one each [kg]; empty: all the same.";
    mass: POSITIVE, "Mass of each [kg].";
    radius: NOT_NEGATIVE, "Radius at which they touch rigid bodies [m]; 0 touches nothing.";
    pinned: ANY, "Numbers of those that stay where they are.";
    material as surface: ANY, "Friction and restitution.";
    groups: ANY, "Their collision groups.";
    gravity_scale: from_to(-1e5, 1e5), "Factor on gravity.";
    damping: NOT_NEGATIVE, "Rate at which velocity decays [1/s].";
    name: ANY, "Their name in reports; without: the name of the table.";
});
