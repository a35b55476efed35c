//! Bare particles: nodes with mass and gravity, the simplest body.

use super::{Groups, Material};
use crate::math::{Real, Vec3};

/// Particles to be added.
///
/// ```
/// use sinew::{Particles, Vec3};
/// let dust = Particles::new(vec![Vec3::ZERO, Vec3::X]).mass(0.01).radius(0.005);
/// ```
#[derive(Clone, Debug)]
pub struct Particles {
    /// Where they are [m].
    pub positions: Vec<Vec3>,
    /// Common start velocity [m/s].
    pub velocity: Vec3,
    /// Masses, one each; empty: all the same [kg].
    pub masses: Vec<Real>,
    /// Mass of each when `masses` is empty [kg].
    pub mass: Real,
    /// Radius at which they touch rigid bodies [m].
    pub radius: Real,
    /// Those that stay where they are.
    pub pinned: Vec<u32>,
    /// Their surface.
    pub material: Material,
    /// Whom they meet.
    pub groups: Groups,
    /// Factor on gravity.
    pub gravity_scale: Real,
    /// Rate at which velocity decays [1/s].
    pub damping: Real,
    /// For messages.
    pub name: String,
}

impl Particles {
    /// At these places [m], 1 g each, 1 mm radius.
    pub fn new(positions: impl Into<Vec<Vec3>>) -> Self {
        Self {
            positions: positions.into(),
            velocity: Vec3::ZERO,
            masses: Vec::new(),
            mass: 1e-3,
            radius: 1e-3,
            pinned: Vec::new(),
            material: Material::default(),
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

    /// Their own masses [kg], one a particle.
    pub fn masses(mut self, masses: impl Into<Vec<Real>>) -> Self {
        self.masses = masses.into();
        self
    }

    /// Radius at which they touch rigid bodies [m]; 0 touches nothing.
    pub fn radius(mut self, radius: Real) -> Self {
        self.radius = radius;
        self
    }

    /// Common start velocity [m/s].
    pub fn velocity(mut self, velocity: impl Into<Vec3>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// These stay where they are.
    pub fn pinned(mut self, nodes: impl Into<Vec<u32>>) -> Self {
        self.pinned = nodes.into();
        self
    }

    /// Their surface.
    pub fn material(mut self, material: Material) -> Self {
        self.material = material;
        self
    }

    /// Whom they meet.
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
