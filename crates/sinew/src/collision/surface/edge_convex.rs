//! An edge of a solid surface against a convex shape that is given by its farthest points.
//!
//! Both are projected along the edge: it becomes a point a, the shape a convex figure. The distance of the two along a
//! unit normal n of the shape, negative in penetration, is
//!
//! ```text
//!   g(n) = n·a − max_y n·y,   g′ = n′·(a − y(n)),   n ⟂ edge
//! ```
//!
//! and the separating direction is the one of largest g. Only normals between those of the two faces at the edge count,
//! its part of the Gauss map: beyond them one of the faces is nearer. So the direction is out of the body however deep
//! the edge is. At the maximum y jumps from one end of an edge of the shape to the other, and the two edges cross
//! between them.

use super::{segment_segment, way_between};
use crate::math::{Real, Vec3};
use crate::tuning::edge::{HALVINGS, LEAN, OPEN, SHORT};

/// Where an edge meets a convex shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeMeet {
    /// Fraction of the edge from its first end.
    pub share: Real,
    /// Point of the shape [m].
    pub on_shape: Vec3,
    /// Outward normal of the shape.
    pub normal: Vec3,
    /// Negative in penetration [m].
    pub gap: Real,
}

/// An edge of a solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ridge {
    pub ends: [Vec3; 2],
    /// Outward unit normals of the faces at the edge.
    pub faces: [Vec3; 2],
    /// The faces meet at less than a straight angle, seen from inside.
    pub convex: bool,
}

impl Ridge {
    /// The contact with a shape whose farthest point along a direction is `support`. None where a face is nearer, and for
    /// a gap above `reach` [m].
    pub fn meet(&self, support: impl Fn(Vec3) -> Vec3, reach: Real) -> Option<EdgeMeet> {
        let [a, b] = self.ends;
        let along = (b - a).try_normalize()?;
        let middle = -(self.faces[0] + self.faces[1]);
        let middle = (middle - along * along.dot(middle)).try_normalize()?;
        let side = along.cross(middle);
        // sine of half the angle between the faces
        let opening = self.faces[0].dot(side).abs();
        if !self.convex && opening > LEAN {
            return None;
        }
        let sine = (if self.convex { opening } else { 0.0 } + LEAN).min(OPEN);
        let slope = sine / (1.0 - sine * sine).sqrt();
        let direction = |s: Real| (middle + side * s).normalize_or(middle);
        // farthest point, g′ times a positive number, and g
        let look = |s: Real| {
            let n = direction(s);
            let y = support(n);
            (y, (side - middle * s).dot(a - y), n.dot(a - y))
        };
        let (mut low, mut high) = (-slope, slope);
        let ((mut under, rises, g_low), (mut over, falls, g_high)) = (look(low), look(high));
        if g_low > reach || g_high > reach || !(rises > 0.0 && falls < 0.0) {
            return None;
        }
        for _ in 0..HALVINGS {
            if high - low < 2.5 * LEAN {
                break;
            }
            let middle = 0.5 * (low + high);
            let (y, rate, g) = look(middle);
            if g > reach {
                return None;
            }
            if rate > 0.0 {
                (low, under) = (middle, y);
            } else {
                (high, over) = (middle, y);
            }
        }
        let [share, t] = segment_segment([a, b], [under, over]);
        let across = (over - under).cross(along);
        let normal = if across.length() > SHORT * (b - a).length() {
            let n = across.normalize_or(middle);
            if n.dot(middle) < 0.0 { -n } else { n }
        } else {
            direction(0.5 * (low + high))
        };
        let gap = -normal.dot(way_between([a, b], [under, over], [share, t]));
        let on_shape = under + (over - under) * t;
        (gap <= reach).then_some(EdgeMeet { share, on_shape, normal, gap })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with its centre at the origin, turned by 45 degrees about x: an edge along x is lowest.
    fn lowest_edge(half: Vec3, height: Real) -> impl Fn(Vec3) -> Vec3 {
        let c = (0.5 as Real).sqrt();
        let turn = move |v: Vec3| Vec3::new(v.x, c * (v.y - v.z), c * (v.y + v.z));
        let back = move |v: Vec3| Vec3::new(v.x, c * (v.y + v.z), c * (v.z - v.y));
        move |n: Vec3| {
            let n = back(n);
            turn(Vec3::new(half.x.copysign(n.x), half.y.copysign(n.y), half.z.copysign(n.z))) + Vec3::Y * height
        }
    }

    /// Edges that cross have the gap along their common normal, open or penetrating, on flat ground and on ridges.
    #[test]
    fn crossing_edges_have_the_gap_along_their_common_normal() {
        let half = Vec3::new(0.04, 0.005, 0.005);
        let low = (2.0 as Real).sqrt() * half.y;
        for (tilt, convex) in [(0.0, true), (0.3, true), (0.01, false)] {
            for gap in [1e-3, 0.0, -1e-3, -4e-3] {
                let faces = [Vec3::new(-tilt, 1.0, 0.0).normalize(), Vec3::new(tilt, 1.0, 0.0).normalize()];
                let ridge = Ridge { ends: [Vec3::new(3e-3, 0.0, -0.01), Vec3::new(3e-3, 0.0, 0.03)], faces, convex };
                let meet = ridge.meet(lowest_edge(half, low + gap), 5e-3).unwrap();
                assert!((meet.gap - gap).abs() < 1e-6 && (meet.share - 0.25).abs() < 1e-3, "{tilt} {gap} {meet:?}");
                assert!((meet.normal + Vec3::Y).length() < 1e-3, "{meet:?}");
            }
        }
    }

    /// The sides of a valley hold what is in it, and a shape beside a ridge is nearer to a face.
    #[test]
    fn valleys_and_shapes_beside_an_edge_have_no_contact() {
        let half = Vec3::new(0.04, 0.005, 0.005);
        let ends = [Vec3::new(0.0, 0.0, -0.01), Vec3::new(0.0, 0.0, 0.03)];
        let faces = [Vec3::new(-0.3, 1.0, 0.0).normalize(), Vec3::new(0.3, 1.0, 0.0).normalize()];
        let place = lowest_edge(half, 0.008);
        assert!(Ridge { ends, faces, convex: false }.meet(&place, 5e-3).is_none());
        let beside = |n: Vec3| place(n) + Vec3::X * 0.05;
        assert!(Ridge { ends, faces, convex: true }.meet(beside, 5e-3).is_none());
        // too far
        assert!(Ridge { ends, faces, convex: true }.meet(lowest_edge(half, 0.02), 5e-3).is_none());
    }
}
