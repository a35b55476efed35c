//! Collision detection: pairs that may be in contact (broad), contact points (narrow), and spatial queries (query).

mod broad;
pub(crate) mod continuous;
mod ellipsoid;
mod narrow;
mod parry;
mod sdf;
pub(crate) mod surface;

pub(crate) use broad::BroadPhase;
pub(crate) use ellipsoid::{Ellipsoid, apart};
pub(crate) use narrow::{Candidate, NarrowScratch, PairSide, find_manifolds};
pub(crate) use parry::{Found, Geometry, ManifoldScratch, RawPoint, TriangleMeet};
pub use sdf::*;

use crate::math::Vec3;

/// An axis-aligned box [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds3 {
    /// Minimum corner.
    pub min: Vec3,
    /// Maximum corner.
    pub max: Vec3,
}

impl Bounds3 {
    /// True when the two overlap.
    pub fn meets(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Grown by `margin` on every side [m].
    pub fn grown(&self, margin: crate::math::Real) -> Self {
        Self { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// True when `other` lies inside.
    pub fn contains(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }
}
