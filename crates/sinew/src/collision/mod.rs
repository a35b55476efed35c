//! Collision: who might touch (broad), where and how (narrow), and questions about space (query).

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

/// A box along the axes [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds3 {
    /// Least corner.
    pub min: Vec3,
    /// Largest corner.
    pub max: Vec3,
}

impl Bounds3 {
    /// True when the two share a point.
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
