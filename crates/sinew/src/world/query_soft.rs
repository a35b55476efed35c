//! Soft bodies, ropes and particles in queries: triangles without thickness, ropes and isolated nodes with their
//! thickness.
//!
//! They are evaluated at their present positions, cell by cell; nothing is cached between queries, so that an edit or a
//! restore needs no invalidation. A cell costs some 10 ns when its bounding box does not overlap.

use super::World;
use super::query::{PointHit, QueryFilter, RayHit};
use crate::collision::surface::point_triangle;
use crate::collision::{Bounds3, Geometry};
use crate::math::{Pose, Quat, Real, Vec3, angle_of};
use crate::model::{BodyId, Nodes, Shape};

/// A body with nodes at its present position.
pub(super) struct SoftNow<'a> {
    pub id: BodyId,
    nodes: &'a Nodes,
    /// Positions of the surfels [m].
    x: Vec<Vec3>,
    bounds: Bounds3,
}

impl World {
    /// Bodies with nodes that pass the filter, by slot.
    pub(super) fn soft_now<'a>(&'a self, filter: &'a QueryFilter) -> impl Iterator<Item = SoftNow<'a>> {
        self.model.bodies.iter().filter_map(move |(slot, _)| {
            let nodes = self.model.nodes_at(slot)?;
            let id = self.model.body_id(slot);
            let touches = nodes.touches() && nodes.traits.groups.meets(filter.groups);
            if filter.except == Some(id) || !touches {
                return None;
            }
            let mut x = Vec::new();
            nodes.surface.positions(&self.state.node_x[nodes.span()], &mut x);
            let first = *x.first()?;
            let around = x
                .iter()
                .fold(Bounds3 { min: first, max: first }, |b, &p| Bounds3 { min: b.min.min(p), max: b.max.max(p) });
            Some(SoftNow { id, nodes, x, bounds: around.grown(nodes.traits.radius) })
        })
    }
}

impl SoftNow<'_> {
    /// Calls `look` for each cell that may be within `bounds`, as a shape with its pose; triangles come with their
    /// index.
    pub fn each_cell(&self, bounds: &Bounds3, mut look: impl FnMut(Option<u32>, &Geometry, &Pose)) {
        if !self.bounds.meets(bounds) {
            return;
        }
        let radius = self.nodes.traits.radius;
        let cells = &self.nodes.cells;
        for (cell, corners) in cells.corners.iter().enumerate() {
            let [a, b, c] = corners.map(|i| self.x[i as usize]);
            let thick = if cells.is_triangle(cell as u32) { 0.0 } else { radius };
            let around = Bounds3 { min: a.min(b).min(c), max: a.max(b).max(c) };
            if !around.grown(thick).meets(bounds) {
                continue;
            }
            if cells.is_triangle(cell as u32) {
                look(Some(cell as u32), &Geometry::triangle([Vec3::ZERO, b - a, c - a]), &place(a));
            } else if let Some((shape, pose)) = thread(a, b, radius)
                && let Ok(built) = Geometry::build(&shape, "rope")
            {
                look(None, &built, &pose);
            }
        }
        if cells.corners.is_empty()
            && radius > 0.0
            && let Ok(ball) = Geometry::build(&Shape::Ball { radius }, "node")
        {
            for &x in self.x.iter().filter(|x| (Bounds3 { min: **x, max: **x }).grown(radius).meets(bounds)) {
                look(None, &ball, &place(x));
            }
        }
    }

    /// True when the body encloses a volume and the point lies in it.
    ///
    /// The solid angles of all triangles sum to 4π inside and to 0 outside (van Oosterom and Strackee 1983).
    pub fn holds(&self, point: Vec3) -> bool {
        let here = Bounds3 { min: point, max: point };
        if !self.nodes.surface.is_solid() || !self.bounds.meets(&here) {
            return false;
        }
        let half: Real = self
            .nodes
            .surface
            .triangles()
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| self.x[i as usize] - point);
                let (la, lb, lc) = (a.length(), b.length(), c.length());
                let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
                angle_of(a.dot(b.cross(c)), below)
            })
            .sum();
        half > core::f64::consts::PI as Real
    }

    /// The nearest point within a distance; the distance is negative inside, at any depth.
    pub fn nearest(&self, point: Vec3, within: Real) -> Option<PointHit> {
        let inside = self.holds(point);
        let near = Bounds3 { min: point, max: point }.grown(within);
        let bounds = if inside { self.bounds } else { near };
        let mut best: Option<PointHit> = None;
        self.each_cell(&bounds, |triangle, geometry, pose| {
            let on = match triangle {
                Some(cell) => {
                    let at = self.nodes.cells.corners[cell as usize].map(|i| self.x[i as usize]);
                    let w = point_triangle(point, at);
                    at[0] * w[0] + at[1] * w[1] + at[2] * w[2]
                }
                None => geometry.project(pose, point).0,
            };
            let distance = (on - point).length();
            if best.is_none_or(|b| distance < b.distance) {
                best = Some(PointHit { body: self.id, point: on, distance });
            }
        });
        let best = best.filter(|b| inside || b.distance <= within)?;
        Some(PointHit { distance: if inside { -best.distance } else { best.distance }, ..best })
    }

    /// The first cell on a ray, if nearer than `reach` [m].
    pub fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: Real) -> Option<RayHit> {
        let end = origin + direction * reach;
        let bounds = Bounds3 { min: origin.min(end), max: origin.max(end) };
        let mut best: Option<RayHit> = None;
        self.each_cell(&bounds, |_, geometry, pose| {
            let reach = best.map_or(reach, |b| b.distance);
            if let Some(hit) = geometry.cast_ray(pose, origin, direction, reach)
                && best.is_none_or(|b| hit.at < b.distance)
            {
                let point = origin + direction * hit.at;
                best = Some(RayHit { body: self.id, distance: hit.at, point, normal: hit.normal });
            }
        });
        best
    }
}

fn place(at: Vec3) -> Pose {
    Pose::new(at, Quat::IDENTITY)
}

/// A segment of a rope as a capsule; none without thickness, a ball where its ends coincide.
fn thread(a: Vec3, b: Vec3, radius: Real) -> Option<(Shape, Pose)> {
    if !(radius > 0.0) {
        return None;
    }
    let middle = (a + b) * 0.5;
    match (b - a).try_normalize() {
        Some(along) => {
            let half_height = 0.5 * (b - a).length();
            Some((Shape::Capsule { half_height, radius }, Pose::new(middle, Quat::from_rotation_arc(Vec3::Y, along))))
        }
        None => Some((Shape::Ball { radius }, place(middle))),
    }
}
