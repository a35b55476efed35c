//! Points of convex shapes that are farthest in a direction, and contacts of triangles that follow from them.

use super::{Geometry, Kind, Roundness, TriangleMeet};
use crate::collision::surface::{blend, point_segment, point_triangle, segment_triangle};
use crate::math::{Pose, Real, Vec3};

/// Square of a distance across a triangle that counts as inside, as a fraction of its doubled area: rounding.
const WITHIN: Real = 1e-8;

/// Weights of a triangle's corners at a point that is above or below it along the unit normal; corners and point are
/// relative to the first corner.
fn above(near: [Vec3; 3], outward: Vec3, x: Vec3) -> Option<[Real; 3]> {
    let w = point_triangle(x, near);
    let off = blend(near, w) - x;
    let across = off - outward * outward.dot(off);
    (across.length_squared() <= WITHIN * (near[1].cross(near[2])).length()).then_some(w)
}

impl Geometry {
    /// True for a convex shape with edges or corners: its farthest point along a direction describes it.
    pub fn is_cornered(&self) -> bool {
        let Kind::Solid(solid) = &self.kind else { return false };
        self.convex
            && self.bounded
            && !matches!(self.round, Roundness::Ball(_) | Roundness::Swept(_))
            && solid.as_support_map().is_some()
    }

    /// Where the point of a convex shape that is farthest behind a triangle with this outward normal is above or below
    /// it. The distance along the normal, negative in penetration, is then that of shape and triangle, at any angle of
    /// the sides at that point: the search for nearest points of a slender cone was wrong by its length. None for a
    /// distance above `reach` or a depth above `most` [m], and for a shape that is behind the plane by more than half.
    pub fn meet_face(
        &self,
        pose: &Pose,
        corners: [Vec3; 3],
        outward: Vec3,
        [reach, most]: [Real; 2],
    ) -> Option<TriangleMeet> {
        let (on_shape, top) = (self.support(pose, -outward)?, self.support(pose, outward)?);
        let depth = outward.dot(corners[0] - on_shape);
        if depth > most || -depth > reach || 2.0 * depth > outward.dot(top - on_shape) {
            return None;
        }
        let near = corners.map(|x| x - corners[0]);
        let weights = above(near, outward, on_shape - corners[0])?;
        Some(TriangleMeet { weights, on_shape, normal: -outward })
    }

    /// Where a triangle with this outward normal meets a convex shape that has passed it: the point of the shape
    /// farthest behind the triangle, and the point of the triangle above it, or where the core of a capsule crosses it.
    /// None where neither is in the triangle.
    pub fn meet_behind(&self, pose: &Pose, corners: [Vec3; 3], outward: Vec3) -> Option<TriangleMeet> {
        let a = corners[0];
        let near = corners.map(|x| x - a);
        let on_shape = self.support(pose, -outward)?;
        let depth = outward.dot(a - on_shape);
        if !(depth > 0.0) {
            return None;
        }
        let crossing = || {
            let ([p, q], _) = self.round_core(pose)?;
            let (t, w) = segment_triangle([p - a, q - a], near);
            let off = blend(near, w) - (p - a) - (q - p) * t;
            (off.length_squared() <= WITHIN * (near[1].cross(near[2])).length()).then_some(w)
        };
        let weights = crossing().or_else(|| above(near, outward, on_shape - a))?;
        Some(TriangleMeet { weights, on_shape, normal: -outward })
    }

    /// The point of a convex shape farthest along a unit direction.
    pub fn support(&self, pose: &Pose, along: Vec3) -> Option<Vec3> {
        let Kind::Solid(s) = &self.kind else { return None };
        match self.round_core(pose) {
            Some(([p, q], r)) => Some(if along.dot(p - q) > 0.0 { p } else { q } + along * r),
            None => Some(pose.point(s.as_support_map()?.local_support_point(pose.rotation.inverse() * along))),
        }
    }

    /// The segment in the world and the radius that sweeps a ball or capsule [m].
    pub fn round_core(&self, pose: &Pose) -> Option<([Vec3; 2], Real)> {
        match (self.round, &self.kind) {
            (Roundness::Ball(r), _) => Some(([pose.position; 2], r)),
            (Roundness::Swept(r), Kind::Solid(s)) => {
                let segment = s.as_capsule()?.segment;
                Some(([pose.point(segment.a), pose.point(segment.b)], r))
            }
            _ => None,
        }
    }

    /// The point of a capsule nearest to a point outside its core, and the outward normal there.
    pub fn nearest_round(&self, pose: &Pose, point: Vec3) -> Option<(Vec3, Vec3)> {
        let ([p, q], r) = self.round_core(pose)?;
        let from = p + (q - p) * point_segment(point, [p, q]);
        let normal = (point - from).try_normalize()?;
        Some((from + normal * r, normal))
    }
}
