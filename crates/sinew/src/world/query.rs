//! Spatial queries: ray casts, nearest points, overlaps and shape casts.
//!
//! They test every collider and every cell of a soft surface whose bounding box overlaps; the world is not changed.
//! Soft bodies are in `query_soft.rs`.

use super::World;
use crate::collision::{Bounds3, Geometry};
use crate::error::{Error, finite_vec};
use crate::math::{Pose, Real, Vec3};
use crate::model::{Body, BodyId, Groups, Rigid, Shape};

/// The bodies that a query includes.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let wall = world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.1, 1.0, 1.0)).at([2.0, 0.0, 0.0]))?;
/// let all = QueryFilter::default();
/// let hit = world.cast_ray(Vec3::ZERO, Vec3::X, 10.0, &all)?.expect("the wall");
/// assert!(hit.body == wall && (hit.distance - 1.9).abs() < 1e-5 && hit.normal.x < 0.0);
/// let near = world.nearest(Vec3::X, 5.0, &all)?.expect("the wall");
/// assert!((near.distance - 0.9).abs() < 1e-5);
/// let ball = Shape::ball(0.5);
/// let meets = world.cast_shape(&ball, Pose::IDENTITY, Vec3::X * 2.0, &all)?.expect("on its way");
/// assert!((meets.fraction - 0.7).abs() < 1e-3);
/// assert_eq!(world.overlaps(&ball, Pose::at(Vec3::X * 1.6), &all)?[0].body, wall);
/// // without the wall itself
/// let others = QueryFilter { except: Some(wall), ..all };
/// assert!(world.cast_ray(Vec3::ZERO, Vec3::X, 10.0, &others)?.is_none());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryFilter {
    /// Collision groups of the query.
    pub groups: Groups,
    /// A body to leave out.
    pub except: Option<BodyId>,
    /// Whether sensors are included.
    pub sensors: bool,
}

/// Result of a ray cast.
///
/// An example is at [`QueryFilter`](crate::QueryFilter).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The body that was hit.
    pub body: BodyId,
    /// Distance along the ray [m].
    pub distance: Real,
    /// Position of the hit [m].
    pub point: Vec3,
    /// Surface normal there.
    pub normal: Vec3,
}

/// The nearest surface to a point.
///
/// An example is at [`QueryFilter`](crate::QueryFilter).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointHit {
    /// The body of the surface.
    pub body: BodyId,
    /// Nearest point of the surface [m].
    pub point: Vec3,
    /// Distance, negative inside [m].
    pub distance: Real,
}

/// A body that a shape overlaps.
///
/// An example is at [`QueryFilter`](crate::QueryFilter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The body.
    pub body: BodyId,
}

/// Result of a shape cast.
///
/// An example is at [`QueryFilter`](crate::QueryFilter).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeHit {
    /// The body that was hit.
    pub body: BodyId,
    /// Fraction of the motion, 0 to 1.
    pub fraction: Real,
    /// Surface normal of the body that was hit.
    pub normal: Vec3,
}

impl World {
    /// True when contacts of two bodies are detected: their colliders are in groups that interact, and no joint or
    /// anchor disables collision of the two. For a body with itself: whether it is soft and has self-contact.
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Error> {
    /// let mut world = World::default();
    /// let ball = || RigidBody::dynamic().shape(Shape::ball(0.1));
    /// let [a, b, c] = [world.add_rigid(ball())?, world.add_rigid(ball())?, world.add_rigid(ball().groups(Groups::NONE))?];
    /// world.add_joint(Joint::ball(Some(a), Some(b)))?;
    /// assert!(!world.may_touch(a, b)? && !world.may_touch(a, c)?);
    /// let floor = world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    /// assert!(world.may_touch(a, floor)?);
    /// # Ok(()) }
    /// ```
    pub fn may_touch(&self, a: BodyId, b: BodyId) -> Result<bool, Error> {
        let felt = |rigid: &Rigid, groups: Groups| rigid.colliders.iter().any(|c| !c.sensor && c.groups.meets(groups));
        let meet = match (self.model.body(a)?, self.model.body(b)?) {
            (Body::Nodes(n), _) if a == b => n.touches() && (n.traits.self_contact || self.settings.intersection_free),
            (Body::Nodes(n), Body::Nodes(m)) => n.touches() && m.touches() && n.meets(m),
            (Body::Rigid(r), Body::Nodes(n)) | (Body::Nodes(n), Body::Rigid(r)) => {
                n.touches() && felt(r, n.traits.groups)
            }
            (Body::Rigid(_), Body::Rigid(_)) if a == b => false,
            (Body::Rigid(r), Body::Rigid(s)) => r.colliders.iter().any(|c| !c.sensor && felt(s, c.groups)),
        };
        Ok(meet && !self.model.collision_excluded(a.index, b.index))
    }

    /// The first body on a ray of a given length [m].
    pub fn cast_ray(
        &self,
        origin: Vec3,
        direction: Vec3,
        length: Real,
        filter: &QueryFilter,
    ) -> Result<Option<RayHit>, Error> {
        finite_vec("ray.origin", origin)?;
        finite_vec("ray.direction", direction)?;
        crate::error::not_negative("ray.length", length)?;
        let Some(direction) = direction.try_normalize() else {
            return Err(Error::BadNumber { what: "ray.direction".into(), value: 0.0, must: "longer than 0".into() });
        };
        let end = origin + direction * length;
        let bounds = Bounds3 { min: origin.min(end), max: origin.max(end) };
        let mut best: Option<RayHit> = None;
        self.each_collider(&bounds, filter, |body, geometry, pose| {
            let reach = best.map_or(length, |b| b.distance);
            if let Some(hit) = geometry.cast_ray(pose, origin, direction, reach)
                && best.is_none_or(|b| hit.at < b.distance)
            {
                let point = origin + direction * hit.at;
                best = Some(RayHit { body, distance: hit.at, point, normal: hit.normal });
            }
        });
        for soft in self.soft_now(filter) {
            let reach = best.map_or(length, |b| b.distance);
            let hit = soft.cast_ray(origin, direction, reach);
            best = hit.filter(|hit| best.is_none_or(|b| hit.distance < b.distance)).or(best);
        }
        Ok(best)
    }

    /// The nearest surface within a distance of a point [m].
    pub fn nearest(&self, point: Vec3, within: Real, filter: &QueryFilter) -> Result<Option<PointHit>, Error> {
        finite_vec("point", point)?;
        crate::error::not_negative("within", within)?;
        let bounds = Bounds3 { min: point, max: point }.grown(within);
        let mut best: Option<PointHit> = None;
        self.each_collider(&bounds, filter, |body, geometry, pose| {
            let (on, inside) = geometry.project(pose, point);
            let away = (on - point).length();
            let distance = if inside { -away } else { away };
            if distance <= within && best.is_none_or(|b| distance < b.distance) {
                best = Some(PointHit { body, point: on, distance });
            }
        });
        for soft in self.soft_now(filter) {
            let hit = soft.nearest(point, within);
            best = hit.filter(|hit| best.is_none_or(|b| hit.distance < b.distance)).or(best);
        }
        Ok(best)
    }

    /// Bodies that contain a point, by id.
    pub fn bodies_at(&self, point: Vec3, filter: &QueryFilter) -> Result<Vec<BodyId>, Error> {
        finite_vec("point", point)?;
        let bounds = Bounds3 { min: point, max: point }.grown(1e-4);
        let mut found = Vec::new();
        self.each_collider(&bounds, filter, |body, geometry, pose| {
            if geometry.project(pose, point).1 {
                found.push(body);
            }
        });
        found.extend(self.soft_now(filter).filter(|soft| soft.holds(point)).map(|soft| soft.id));
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Bodies that a shape overlaps, by id.
    pub fn overlaps(&self, shape: &Shape, pose: Pose, filter: &QueryFilter) -> Result<Vec<Overlap>, Error> {
        let asked = Geometry::build(shape, "query")?;
        finite_vec("query.position", pose.position)?;
        let mut found = Vec::new();
        self.each_collider(&asked.bounds(&pose), filter, |body, geometry, other| {
            if asked.overlaps(&pose, geometry, other) {
                found.push(Overlap { body });
            }
        });
        for soft in self.soft_now(filter) {
            // completely inside when it overlaps no cell: any of its points decides
            let mut meets = soft.holds(asked.project(&pose, pose.position).0);
            soft.each_cell(&asked.bounds(&pose), |_, cell, place| meets |= asked.overlaps(&pose, cell, place));
            found.extend(meets.then_some(Overlap { body: soft.id }));
        }
        found.sort_unstable_by_key(|o| o.body);
        found.dedup();
        Ok(found)
    }

    /// The first body that a shape hits during its motion.
    pub fn cast_shape(
        &self,
        shape: &Shape,
        pose: Pose,
        motion: Vec3,
        filter: &QueryFilter,
    ) -> Result<Option<ShapeHit>, Error> {
        let asked = Geometry::build(shape, "query")?;
        finite_vec("query.position", pose.position)?;
        finite_vec("query.motion", motion)?;
        let from = asked.bounds(&pose);
        let bounds = Bounds3 { min: from.min.min(from.min + motion), max: from.max.max(from.max + motion) };
        let mut best: Option<ShapeHit> = None;
        self.each_collider(&bounds, filter, |body, geometry, other| {
            if let Some(hit) = asked.cast(&pose, motion, geometry, other)
                && best.is_none_or(|b| hit.at < b.fraction)
            {
                best = Some(ShapeHit { body, fraction: hit.at, normal: hit.normal });
            }
        });
        for soft in self.soft_now(filter) {
            soft.each_cell(&bounds, |_, cell, place| {
                if let Some(hit) = asked.cast(&pose, motion, cell, place)
                    && best.is_none_or(|b| hit.at < b.fraction)
                {
                    best = Some(ShapeHit { body: soft.id, fraction: hit.at, normal: hit.normal });
                }
            });
        }
        Ok(best)
    }

    /// Calls `look` for each collider whose bounding box overlaps `bounds`, in the order of bodies.
    fn each_collider(&self, bounds: &Bounds3, filter: &QueryFilter, mut look: impl FnMut(BodyId, &Geometry, &Pose)) {
        for (slot, _) in self.model.bodies.iter() {
            let Some(rigid) = self.model.rigid_at(slot) else { continue };
            let body = self.model.body_id(slot);
            if filter.except == Some(body) {
                continue;
            }
            let i = slot as usize;
            let center = Pose::new(self.state.x[i], self.state.q[i]);
            for c in &rigid.colliders {
                if (c.sensor && !filter.sensors) || !c.groups.meets(filter.groups) {
                    continue;
                }
                let pose = center.then_inner(&c.place);
                if c.geometry.bounds(&pose).meets(bounds) {
                    look(body, &c.geometry, &pose);
                }
            }
        }
    }
}
