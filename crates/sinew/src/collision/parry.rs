//! Interface to the geometry library; no other file uses it directly. Inputs are shapes (`parry/build.rs`), outputs are
//! manifolds, hits and volumes, all in types of this crate.

#[cfg(not(feature = "f64"))]
use parry3d as lib;
#[cfg(feature = "f64")]
use parry3d_f64 as lib;

mod build;

use super::surface::{blend, point_segment, point_triangle, segment_triangle};
use super::{Bounds3, Sdf};
use crate::error::Error;
use crate::math::{Mat3, Pose, Quat, Real, Sym3, Vec3};
use crate::model::Shape;
use lib::bounding_volume::Aabb;
use lib::mass_properties::MassProperties;
use lib::query::{
    ClosestPoints, ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, QueryDispatcher, Ray,
    ShapeCastOptions,
};
use lib::shape::SharedShape;
use std::sync::Arc;

use build::{bad, probe_points, solid};

pub(crate) use lib::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

pub(crate) fn lib_aabb(b: &Bounds3) -> Aabb {
    Aabb::new(b.min, b.max)
}

fn lib_pose(p: &Pose) -> lib::math::Pose {
    lib::math::Pose::from_parts(p.position, p.rotation)
}

/// One point of a computed manifold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawPoint {
    /// In the frame of collider a [m].
    pub local_a: Vec3,
    /// In the frame of collider b [m].
    pub local_b: Vec3,
    pub gap: Real,
    pub feature: [u32; 2],
}

/// A computed manifold, in collider frames; its points are stored in [`Found`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawManifold {
    pub sub: [u32; 2],
    /// From a to b, frame of collider a.
    pub normal: Vec3,
    start: u32,
    end: u32,
}

/// Manifolds of a pair, in memory reused for all pairs.
#[derive(Debug)]
pub(crate) struct Found {
    pub manifolds: Vec<RawManifold>,
    points: Vec<RawPoint>,
}

impl Default for Found {
    fn default() -> Self {
        Self { manifolds: Vec::with_capacity(4), points: Vec::with_capacity(32) }
    }
}

impl Found {
    pub fn clear(&mut self) {
        self.manifolds.clear();
        self.points.clear();
    }

    pub fn points(&self, m: &RawManifold) -> &[RawPoint] {
        &self.points[m.start as usize..m.end as usize]
    }

    fn push(&mut self, sub: [u32; 2], normal: Vec3, points: impl Iterator<Item = RawPoint>) {
        let start = self.points.len() as u32;
        self.points.extend(points);
        self.manifolds.push(RawManifold { sub, normal, start, end: self.points.len() as u32 });
    }
}

/// First intersection of a ray or a cast shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    /// Fraction of the displacement, or distance along a unit ray [m].
    pub at: Real,
    /// World normal of the surface hit.
    pub normal: Vec3,
}

#[derive(Clone)]
enum Kind {
    Solid(SharedShape),
    Field(Arc<Sdf>),
}

/// Rotational symmetry of a shape: whether its contact point does not rotate with it but follows the normal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Roundness {
    Flat,
    Ball(Real),
    /// A ball swept over a core (capsule).
    Swept(Real),
    /// Round about y only (lateral surface).
    Side(Real),
    /// A half-space with this outward normal, through its origin.
    Plane(Vec3),
}

/// Iterations between a distance field's surface and a triangle.
const FIELD_ROUNDS: usize = 8;

/// Square of a distance across a triangle that counts as inside, as a fraction of its doubled area: rounding.
const WITHIN: Real = 1e-8;

/// Nearest points of a triangle and a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriangleMeet {
    /// Weights of the triangle's corners.
    pub weights: [Real; 3],
    /// The point of the shape [m].
    pub on_shape: Vec3,
    /// From the shape to the triangle.
    pub normal: Vec3,
}

/// A shape prepared for queries.
#[derive(Clone)]
pub(crate) struct Geometry {
    kind: Kind,
    round: Roundness,
    convex: bool,
    bounded: bool,
    /// True when the probe points span the shape exactly.
    cornered: bool,
    /// Points with a radius that represent the shape against distance fields [m].
    probes: Arc<[(Vec3, Real)]>,
}

impl std::fmt::Debug for Geometry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Geometry").field("convex", &self.convex).finish_non_exhaustive()
    }
}

/// Memory for the manifolds of one thread, reused for all pairs.
pub(crate) struct ManifoldScratch {
    /// For boxes, whose manifold search reuses the memory passed in; that of other shapes discards it.
    boxes: ContactManifold<(), ()>,
    other: ContactManifold<(), ()>,
    many: Vec<ContactManifold<(), ()>>,
}

impl Default for ManifoldScratch {
    fn default() -> Self {
        let mut boxes = ContactManifold::default();
        // capacity for two faces of four corners, so that no allocation occurs in steady state
        boxes.points.reserve(16);
        Self { boxes, other: ContactManifold::default(), many: Vec::new() }
    }
}

impl std::fmt::Debug for ManifoldScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ManifoldScratch")
    }
}

impl Geometry {
    /// Checks and builds a shape; `who` names it in errors.
    pub fn build(shape: &Shape, who: &str) -> Result<Self, Error> {
        let mut probes = Vec::new();
        let kind = match shape {
            Shape::Sdf(sdf) => {
                sdf.check().map_err(|e| bad(who, shape, e.to_string()))?;
                Kind::Field(sdf.clone())
            }
            _ => Kind::Solid(solid(shape, who, 0)?),
        };
        probe_points(shape, &Pose::IDENTITY, &mut probes);
        let convex = match &kind {
            Kind::Solid(s) => {
                s.as_composite_shape().is_none() && s.as_heightfield().is_none() && s.as_voxels().is_none()
            }
            Kind::Field(_) => false,
        };
        let bounded = !matches!(shape, Shape::HalfSpace { .. } | Shape::Sdf(_));
        let round = match shape {
            Shape::Ball { radius } => Roundness::Ball(*radius),
            Shape::Capsule { radius, .. } => Roundness::Swept(*radius),
            Shape::Cylinder { radius, .. } => Roundness::Side(*radius),
            Shape::HalfSpace { normal, .. } => Roundness::Plane(normal.normalize_or_zero()),
            _ => Roundness::Flat,
        };
        let cornered = matches!(shape, Shape::Box { .. } | Shape::Capsule { .. } | Shape::ConvexHull { .. });
        Ok(Self { kind, round, convex, bounded, cornered, probes: probes.into() })
    }

    /// A triangle without thickness, for queries on soft surfaces.
    pub fn triangle([a, b, c]: [Vec3; 3]) -> Self {
        let kind = Kind::Solid(SharedShape::triangle(a, b, c));
        Self { kind, round: Roundness::Flat, convex: true, bounded: true, cornered: false, probes: Arc::new([]) }
    }

    /// Splits a surface point into a core point that rotates with the body and a radius along the outward normal that
    /// does not: the contact point of a rolling ball moves over its surface, so the contact must not be fixed to one
    /// material point.
    pub fn core(&self, local: Vec3, outward: Vec3) -> (Vec3, Real) {
        match self.round {
            Roundness::Ball(r) | Roundness::Swept(r) => (local - outward * r, r),
            Roundness::Side(r) if outward.y.abs() < 0.02 => (local - outward * r, r),
            _ => (local, 0.0),
        }
    }

    /// Bounds in the world; unbounded shapes get a box that overlaps all valid coordinates.
    pub fn bounds(&self, pose: &Pose) -> Bounds3 {
        const FAR: Real = 1e9;
        match &self.kind {
            Kind::Solid(s) if self.bounded => {
                let b = s.compute_aabb(&lib_pose(pose));
                Bounds3 { min: b.mins, max: b.maxs }
            }
            _ => Bounds3 { min: Vec3::splat(-FAR), max: Vec3::splat(FAR) },
        }
    }

    /// Points with a radius that represent the shape against distance fields [m].
    pub fn probes(&self) -> &[(Vec3, Real)] {
        &self.probes
    }

    /// True for unbounded shapes: half-spaces and distance fields.
    pub fn is_unbounded(&self) -> bool {
        !self.bounded
    }

    /// Largest distance of the surface from the shape's origin [m]; 0 for unbounded shapes.
    pub fn reach(&self) -> Real {
        match &self.kind {
            Kind::Solid(s) if self.bounded => {
                let b = s.compute_local_bounding_sphere();
                b.center().length() + b.radius()
            }
            _ => 0.0,
        }
    }

    /// Smallest half width [m].
    pub fn thickness(&self) -> Real {
        match &self.kind {
            Kind::Solid(s) if self.bounded => s.compute_local_aabb().half_extents().min_element(),
            _ => Real::INFINITY,
        }
    }

    /// Volume [m³], centre [m] and inertia at unit density about that centre [m⁵]; none for shapes without volume.
    pub fn volume_properties(&self) -> Option<(Real, Vec3, Sym3)> {
        let Kind::Solid(s) = &self.kind else { return None };
        if !self.bounded {
            return None;
        }
        let m: MassProperties = s.mass_properties(1.0);
        if !(m.inv_mass > 0.0) || !m.inv_mass.is_finite() {
            return None;
        }
        // an open mesh encloses no volume, and its computed centre may be anywhere: no digits of f32 would be left
        if !(m.local_com.length() <= self.reach()) {
            return None;
        }
        let principal = m.principal_inertia();
        let r = Mat3::from_quat(m.principal_inertia_local_frame);
        let inertia = Sym3::from_mat(&(r * Mat3::from_diagonal(principal) * r.transpose()));
        Some((m.mass(), m.local_com, inertia))
    }

    /// True when two placed shapes overlap.
    pub fn overlaps(&self, pose: &Pose, other: &Geometry, other_pose: &Pose) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Solid(a), Kind::Solid(b)) => {
                let relative = lib_pose(&pose.relative(other_pose));
                DefaultQueryDispatcher.intersection_test(&relative, &**a, &**b).is_ok_and(|hit| hit.intersecting)
            }
            (Kind::Field(f), _) => field_depth(f, pose, other, other_pose) < 0.0,
            (_, Kind::Field(f)) => field_depth(f, other_pose, self, pose) < 0.0,
        }
    }

    /// First intersection of a ray (unit direction) within `reach` [m].
    pub fn cast_ray(&self, pose: &Pose, origin: Vec3, direction: Vec3, reach: Real) -> Option<Hit> {
        match &self.kind {
            Kind::Solid(s) => {
                let hit = s.cast_ray_and_get_normal(&lib_pose(pose), &Ray::new(origin, direction), reach, true)?;
                Some(Hit { at: hit.time_of_impact, normal: hit.normal })
            }
            Kind::Field(f) => march(f, pose, origin, direction, reach),
        }
    }

    /// Fraction of a displacement at which it leaves a shape that it starts in; none when it ends inside, or does not
    /// start inside.
    pub fn way_out(&self, pose: &Pose, from: Vec3, way: Vec3) -> Option<Real> {
        let Kind::Solid(solid) = &self.kind else { return None };
        if !solid.contains_point(&lib_pose(pose), from) {
            return None;
        }
        solid.cast_ray(&lib_pose(pose), &Ray::new(from, way), 1.0, false)
    }

    /// Closest point of the solid (a point inside is its own projection), and whether the point is inside.
    pub fn project(&self, pose: &Pose, point: Vec3) -> (Vec3, bool) {
        match &self.kind {
            Kind::Solid(s) => {
                let p = s.project_point(&lib_pose(pose), point, false);
                (p.point, p.is_inside)
            }
            Kind::Field(f) => {
                let s = f.sample(pose.unpoint(point));
                (point - (pose.rotation * s.normal) * s.distance, s.distance < 0.0)
            }
        }
    }

    /// Vertices and outward triangles of a convex hull; none for other shapes.
    pub fn hull(&self) -> Option<(Vec<Vec3>, Vec<[u32; 3]>)> {
        let Kind::Solid(s) = &self.kind else { return None };
        Some(s.as_convex_polyhedron()?.to_trimesh())
    }

    /// True for a convex solid.
    pub fn is_convex(&self) -> bool {
        self.convex
    }

    /// Nearest points of a triangle and the shape, when nearer than `reach` [m].
    ///
    /// The triangle is displaced by `inward`, that is into its own body, before the query: a triangle that penetrates
    /// the shape slightly is then separated from it, and nearest points are exact. None where the two overlap even so:
    /// a search for the penetration depth is noisy, and a face that rests on the shape with its edge overlaps by
    /// rounding.
    ///
    /// A ball or capsule is represented by its core, which is exact without that displacement. (The iterative search of
    /// the library was off by 0.7 mm along a capsule of 5 mm, and the contact was lost.)
    pub fn meet_triangle(&self, pose: &Pose, corners: [Vec3; 3], inward: Vec3, reach: Real) -> Option<TriangleMeet> {
        let [a, b, c] = corners;
        if let Some((core, radius)) = self.round_core(pose) {
            // relative to its first corner: large coordinates would lose digits
            let near = [Vec3::ZERO, b - a, c - a];
            let [p, q] = core.map(|x| x - a);
            let (t, weights) = segment_triangle([p, q], near);
            let from = p + (q - p) * t;
            let away = blend(near, weights) - from;
            if away.length() > radius + reach {
                return None;
            }
            let normal = away.try_normalize()?;
            return Some(TriangleMeet { weights, on_shape: a + from + normal * radius, normal });
        }
        match &self.kind {
            Kind::Solid(s) => {
                // relative to its first corner: large coordinates would lose digits
                let triangle = lib::shape::Triangle::new(Vec3::ZERO, b - a, c - a);
                let at = lib_pose(&Pose::new(a + inward, Quat::IDENTITY));
                let far = reach + inward.length();
                let found = lib::query::closest_points(&lib_pose(pose), &**s, &at, &triangle, far).ok()?;
                let ClosestPoints::WithinMargin(on_shape, on_triangle) = found else { return None };
                let weights = point_triangle(on_triangle - inward, corners);
                let normal = (on_triangle - on_shape).try_normalize()?;
                Some(TriangleMeet { weights, on_shape, normal })
            }
            Kind::Field(f) => {
                // alternating projection: to the field's surface and back to the triangle
                let mut weights = [1.0 / 3.0; 3];
                let mut last = None;
                for _ in 0..FIELD_ROUNDS {
                    let p = a * weights[0] + b * weights[1] + c * weights[2];
                    let s = f.sample(pose.unpoint(p));
                    let normal = pose.rotation * s.normal;
                    let on_shape = p - normal * s.distance;
                    last = (s.distance < reach).then_some(TriangleMeet { weights, on_shape, normal });
                    weights = point_triangle(on_shape, corners);
                }
                last
            }
        }
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
        let in_it = |x: Vec3| {
            let w = point_triangle(x, near);
            let off = blend(near, w) - x;
            let across = off - outward * outward.dot(off);
            (across.length_squared() <= WITHIN * (near[1].cross(near[2])).length()).then_some(w)
        };
        let crossing = || {
            let ([p, q], _) = self.round_core(pose)?;
            let (t, w) = segment_triangle([p - a, q - a], near);
            let off = blend(near, w) - (p - a) - (q - p) * t;
            (off.length_squared() <= WITHIN * (near[1].cross(near[2])).length()).then_some(w)
        };
        let weights = crossing().or_else(|| in_it(on_shape - a))?;
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

    /// Fraction of the displacement `motion` at which `self` first meets `other`.
    pub fn cast(&self, pose: &Pose, motion: Vec3, other: &Geometry, other_pose: &Pose) -> Option<Hit> {
        let (Kind::Solid(a), Kind::Solid(b)) = (&self.kind, &other.kind) else { return None };
        let options =
            ShapeCastOptions { max_time_of_impact: 1.0, stop_at_penetration: false, ..ShapeCastOptions::default() };
        let hit =
            lib::query::cast_shapes(&lib_pose(pose), motion, &**a, &lib_pose(other_pose), Vec3::ZERO, &**b, options);
        let hit = hit.ok().flatten()?;
        Some(Hit { at: hit.time_of_impact, normal: other_pose.rotation * hit.normal2 })
    }

    /// All manifolds between two placed shapes whose gap is below `reach` [m], appended to `out`.
    ///
    /// A pure function of its arguments: no state is kept between calls, so that a restored world finds the same
    /// manifolds.
    pub fn manifolds(
        &self,
        other: &Geometry,
        relative: &Pose,
        reach: Real,
        scratch: &mut ManifoldScratch,
        out: &mut Found,
    ) {
        match (&self.kind, &other.kind) {
            (Kind::Solid(a), Kind::Solid(b)) => {
                let pose = lib_pose(relative);
                if self.convex && other.convex {
                    // balls and planes have short closed-form solutions, and the library allocates for them
                    if self.ball_manifold(other, relative, reach, out)
                        || self.plane_manifold(other, relative, reach, out)
                    {
                        return;
                    }
                    let thickness = self.thickness().min(other.thickness());
                    convex_manifold([&**a, &**b], relative, (reach, thickness), scratch, out);
                } else if self.voxels_on_plane(other, relative, reach, out) {
                    // the library panics on this pair
                } else {
                    scratch.many.clear();
                    let mut memory = None;
                    let found = DefaultQueryDispatcher.contact_manifolds(
                        &pose,
                        &**a,
                        &**b,
                        reach,
                        &mut scratch.many,
                        &mut memory,
                    );
                    if found.is_ok() {
                        for m in &scratch.many {
                            take(m, reach, out);
                        }
                    }
                }
            }
            (Kind::Field(f), _) => field_manifolds(f, other, relative, reach, false, out),
            (_, Kind::Field(f)) => field_manifolds(f, self, &relative.inverse(), reach, true, out),
        }
    }
}

/// The manifold of two convex shapes.
fn convex_manifold(
    [a, b]: [&dyn lib::shape::Shape; 2],
    relative: &Pose,
    (reach, thickness): (Real, Real),
    scratch: &mut ManifoldScratch,
    out: &mut Found,
) {
    let both_boxes = a.as_cuboid().is_some() && b.as_cuboid().is_some();
    let m = if both_boxes { &mut scratch.boxes } else { &mut scratch.other };
    let mut find = |pose: &Pose| {
        m.clear();
        m.local_n1 = Vec3::ZERO;
        m.local_n2 = Vec3::ZERO;
        let pose = lib_pose(pose);
        let found = DefaultQueryDispatcher.contact_manifold_convex_convex(&pose, a, b, None, None, reach, m);
        let deepest = m.points.iter().map(|p| p.dist).fold(Real::INFINITY, Real::min);
        if found.is_ok() { deepest } else { Real::INFINITY }
    };
    let deepest = find(relative);
    // faces in exact contact can be reported with the normal of another face and a depth of half the body: repeat the
    // query with the bodies slightly farther apart, and take the shallower result
    if deepest < -0.25 * thickness {
        let hair = relative.position.normalize_or(Vec3::Y) * (1e-3 * thickness);
        if find(&Pose::new(relative.position + hair, relative.rotation)) < deepest {
            find(relative);
        }
    }
    take(m, reach, out);
}

impl Geometry {
    /// Outward normal of a half-space through the shape's origin.
    pub fn plane(&self) -> Option<Vec3> {
        if let Roundness::Plane(n) = self.round { Some(n) } else { None }
    }

    /// Radius of a ball about the shape's origin [m].
    pub fn ball(&self) -> Option<Real> {
        if let Roundness::Ball(r) = self.round { Some(r) } else { None }
    }

    /// A ball against any convex solid: the nearest point of the solid. False when neither side is a ball.
    fn ball_manifold(&self, other: &Geometry, relative: &Pose, reach: Real, out: &mut Found) -> bool {
        let (ball_is_a, radius, solid) = match (self.ball(), other.ball()) {
            (Some(r), _) => (true, r, &other.kind),
            (None, Some(r)) => (false, r, &self.kind),
            (None, None) => return false,
        };
        let Kind::Solid(solid) = solid else { return false };
        // centre of the ball in the frame of the solid
        let center = if ball_is_a { relative.inverse().position } else { relative.position };
        let near = solid.project_local_point(center, false);
        let away = if near.is_inside { near.point - center } else { center - near.point };
        let distance = if near.is_inside { -away.length() } else { away.length() };
        let gap = distance - radius;
        if !(gap < reach) {
            return true;
        }
        // on the surface itself, or at the centre of a ball, any direction is valid
        let outward = away.try_normalize().unwrap_or(center.normalize_or(Vec3::Y));
        let on_ball = center - outward * radius;
        let point = if ball_is_a {
            RawPoint { local_a: relative.point(on_ball), local_b: near.point, gap, feature: [0, 0] }
        } else {
            RawPoint { local_a: near.point, local_b: relative.unpoint(on_ball), gap, feature: [0, 0] }
        };
        let normal = if ball_is_a { -(relative.rotation * outward) } else { outward };
        out.push([0, 0], normal, std::iter::once(point));
        true
    }

    /// A half-space against a shape that is the convex hull of its corners. False for other pairs.
    fn plane_manifold(&self, other: &Geometry, relative: &Pose, reach: Real, out: &mut Found) -> bool {
        let plane = |g: &Geometry| match &g.kind {
            Kind::Solid(s) => s.as_halfspace().map(|h| h.normal),
            Kind::Field(_) => None,
        };
        let (plane_is_a, normal, shape) = match (plane(self), plane(other)) {
            (Some(n), _) if other.cornered => (true, n, other),
            (_, Some(n)) if self.cornered => (false, n, self),
            _ => return false,
        };
        // corners of the shape in the frame of the plane
        let place = if plane_is_a { *relative } else { relative.inverse() };
        let height = |&(corner, radius): &(Vec3, Real)| normal.dot(place.point(corner)) - radius;
        if !shape.probes.iter().any(|p| height(p) < reach) {
            return true;
        }
        let points = shape.probes.iter().enumerate().filter(|(_, p)| height(p) < reach).map(|(i, p)| {
            let gap = height(p);
            let on_shape = place.point(p.0) - normal * p.1;
            let on_plane = on_shape - normal * gap;
            let feature = 1 + i as u32;
            if plane_is_a {
                RawPoint { local_a: on_plane, local_b: place.unpoint(on_shape), gap, feature: [0, feature] }
            } else {
                RawPoint { local_a: place.unpoint(on_shape), local_b: on_plane, gap, feature: [feature, 0] }
            }
        });
        let outward = if plane_is_a { normal } else { -(place.rotation.inverse() * normal) };
        out.push([0, 0], outward, points);
        true
    }
}

impl Geometry {
    /// Voxels against a half-space: the corners of the cells. False for other pairs.
    fn voxels_on_plane(&self, other: &Geometry, relative: &Pose, reach: Real, out: &mut Found) -> bool {
        let plane = |g: &Geometry| match &g.kind {
            Kind::Solid(s) => s.as_halfspace().map(|h| Sdf::plane(Vec3::ZERO, h.normal)),
            Kind::Field(_) => None,
        };
        let voxels = |g: &Geometry| matches!(&g.kind, Kind::Solid(s) if s.as_voxels().is_some());
        match (plane(self), plane(other)) {
            (Some(field), _) if voxels(other) => field_manifolds(&field, other, relative, reach, false, out),
            (_, Some(field)) if voxels(self) => field_manifolds(&field, self, &relative.inverse(), reach, true, out),
            _ => return false,
        }
        true
    }
}

/// Copies a manifold of the library, with the poses of sub-shapes applied, without points beyond `reach`.
fn take(m: &ContactManifold<(), ()>, reach: Real, out: &mut Found) {
    if !m.points.iter().any(|p| p.dist < reach) {
        return;
    }
    let place = |pose: Option<&lib::math::Pose>, p: Vec3| pose.map_or(p, |pose| pose.transform_point(p));
    let normal = m.subshape_pos1().map_or(m.local_n1, |pose| pose.rotation * m.local_n1);
    let points = m.points.iter().filter(|p| p.dist < reach).map(|p| RawPoint {
        local_a: place(m.subshape_pos1(), p.local_p1),
        local_b: place(m.subshape_pos2(), p.local_p2),
        gap: p.dist,
        feature: [p.fid1.0, p.fid2.0],
    });
    out.push([m.subshape1, m.subshape2], normal, points);
}

/// Contacts of a distance field (first side) with the probe points of a shape.
fn field_manifolds(field: &Sdf, other: &Geometry, relative: &Pose, reach: Real, swapped: bool, out: &mut Found) {
    for (i, &(local, radius)) in other.probes.iter().enumerate() {
        let center = relative.point(local);
        let s = field.sample(center);
        let gap = s.distance - radius;
        if !(gap < reach) {
            continue;
        }
        let on_field = center - s.normal * s.distance;
        let on_other = relative.unpoint(center - s.normal * radius);
        let sub = i as u32;
        if swapped {
            let normal = relative.rotation.inverse() * -s.normal;
            let point = RawPoint { local_a: on_other, local_b: on_field, gap, feature: [sub, 0] };
            out.push([sub, 0], normal, std::iter::once(point));
        } else {
            let point = RawPoint { local_a: on_field, local_b: on_other, gap, feature: [0, sub] };
            out.push([0, sub], s.normal, std::iter::once(point));
        }
    }
}

fn field_depth(field: &Sdf, pose: &Pose, other: &Geometry, other_pose: &Pose) -> Real {
    other
        .probes
        .iter()
        .map(|&(p, r)| field.sample(pose.unpoint(other_pose.point(p))).distance - r)
        .fold(Real::INFINITY, Real::min)
}

/// Sphere tracing along a ray.
fn march(field: &Sdf, pose: &Pose, origin: Vec3, direction: Vec3, reach: Real) -> Option<Hit> {
    let mut at = 0.0;
    for _ in 0..256 {
        let s = field.sample(pose.unpoint(origin + direction * at));
        if s.distance <= 1e-5 * (1.0 + at) {
            return Some(Hit { at, normal: pose.rotation * s.normal });
        }
        at += s.distance;
        if !(at <= reach) {
            return None;
        }
    }
    None
}
