//! Action of a finger on an object: force, contact area, pressure.
//!
//! A contact point has a force and no area. On a surface of triangles each surface point represents a third of its
//! present adjacent triangles; the pressure there is the normal force of the contacts nearest to it divided by that
//! area.

use super::World;
use crate::error::Error;
use crate::math::{Real, Vec3};
use crate::model::{Body, BodyId};
use crate::report::ContactForce;

/// One point of a finger that is in contact.
///
/// An example is at [`GraspForce`](crate::GraspForce).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressurePoint {
    /// Surface point of the finger; the index of the contact on rigid fingers.
    pub surfel: u32,
    /// Position [m].
    pub point: Vec3,
    /// Force on the object [N].
    pub force: Vec3,
    /// Component along the normals [N].
    pub normal: Real,
    /// Surface area that the point represents [m²]; 0 on rigid fingers.
    pub area: Real,
    /// Normal force per area [Pa]; 0 on rigid fingers.
    pub pressure: Real,
}

/// Action of a finger on an object, mean over the step.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let table = world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(1.0, 0.1, 1.0)))?;
/// let block = TetMesh::block([3, 3, 3], Vec3::splat(0.1))?;
/// let jelly = world.add_soft(SoftBody::corotational(block, ElasticMaterial::jelly()).at([0.0, 0.15, 0.0]))?;
/// for _ in 0..120 {
///     world.step(&Input::none());
/// }
/// let mut points: Vec<PressurePoint> = Vec::new();
/// let grip = world.grasp_force(jelly, table, &mut points)?;
/// let weight = 9.81 * world.body(jelly)?.mass();
/// assert!((grip.normal / weight - 1.0).abs() < 0.05, "{} of {weight}", grip.normal);
/// assert!(grip.area > 0.005 && !points.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GraspForce {
    /// Force on the object [N].
    pub force: Vec3,
    /// Sum of the normal forces [N].
    pub normal: Real,
    /// Contact area of the finger [m²]; 0 on rigid fingers.
    pub area: Real,
    /// Centre of pressure: mean of the points weighted by their normal forces [m].
    pub center: Vec3,
    /// Maximum pressure [Pa]; 0 on rigid fingers.
    pub peak: Real,
}

impl GraspForce {
    /// Action of `finger` on `object` from a list of contacts. `surface` has the positions [m] and triangles of the
    /// finger's surface points; none for a rigid one. For callers that have the contacts but not the world.
    pub fn of(
        contacts: &[ContactForce],
        finger: BodyId,
        object: BodyId,
        surface: Option<(&[Vec3], &[[u32; 3]])>,
        points: &mut Vec<PressurePoint>,
    ) -> Self {
        points.clear();
        let contacts = contacts.iter().filter(|c| side(finger, object, c.a, c.b) != 0.0);
        for (k, c) in contacts.enumerate() {
            let (force, normal) = (c.force * side(finger, object, c.a, c.b), c.force.dot(c.normal));
            let surfel = k as u32;
            points.push(PressurePoint { surfel, point: c.point, force, normal, area: 0.0, pressure: 0.0 });
        }
        let mut grip = Self {
            force: points.iter().fold(Vec3::ZERO, |sum, p| sum + p.force),
            // the sum of nothing is −0 otherwise
            normal: points.iter().fold(0.0, |sum, p| sum + p.normal),
            ..Self::default()
        };
        if grip.normal > 0.0 {
            grip.center = points.iter().fold(Vec3::ZERO, |sum, p| sum + p.point * p.normal) / grip.normal;
        }
        if let Some((places, triangles)) = surface {
            spread(places, triangles, points);
        }
        grip.area = points.iter().fold(0.0, |sum, p| sum + p.area);
        grip.peak = points.iter().map(|p| p.pressure).fold(0.0, Real::max);
        grip
    }
}

/// +1: the force of a pair acts on its second body.
fn side(finger: BodyId, object: BodyId, a: BodyId, b: BodyId) -> Real {
    match (a == finger && b == object, b == finger && a == object) {
        (true, _) => 1.0,
        (_, true) => -1.0,
        _ => 0.0,
    }
}

impl World {
    /// Action of `finger` (tissue, or a bare bone) on `object` in the last step; the points in contact are written to
    /// `points`, by surface point. Area, pressure and points need `Settings::point_forces`.
    pub fn grasp_force(
        &self,
        finger: BodyId,
        object: BodyId,
        points: &mut Vec<PressurePoint>,
    ) -> Result<GraspForce, Error> {
        points.clear();
        let body = self.model.body(finger)?;
        self.model.body(object)?;
        let mut places = Vec::new();
        let surface = if let Body::Nodes(nodes) = body {
            nodes.surface.positions(&self.state.node_x[nodes.span()], &mut places);
            Some((&places[..], nodes.surface.triangles()))
        } else {
            None
        };
        let mut grip = GraspForce::of(&self.report().contacts, finger, object, surface, points);
        // forces are available without points too
        (grip.force, grip.normal) = (Vec3::ZERO, 0.0);
        for pair in &self.report().pairs {
            let side = side(finger, object, pair.a, pair.b);
            grip.force += pair.force * side;
            grip.normal += pair.normal * side.abs();
        }
        Ok(grip)
    }
}

/// Assigns contacts to their nearest surface points.
fn spread(places: &[Vec3], triangles: &[[u32; 3]], points: &mut Vec<PressurePoint>) {
    for p in points.iter_mut() {
        let away = places.iter().map(|x| x.distance_squared(p.point)).enumerate();
        let nearest = away.reduce(|a, b| if a.1 <= b.1 { a } else { b });
        p.surfel = nearest.map_or(0, |n| n.0 as u32);
    }
    points.sort_by_key(|p| p.surfel);
    points.dedup_by(|next, kept| {
        let same = next.surfel == kept.surfel;
        if same {
            kept.force += next.force;
            kept.normal += next.normal;
        }
        same
    });
    for p in points.iter_mut() {
        p.point = places[p.surfel as usize];
    }
    for t in triangles {
        let [a, b, c] = t.map(|i| places[i as usize]);
        let third = (b - a).cross(c - a).length() / 6.0;
        for corner in t {
            if let Ok(k) = points.binary_search_by_key(corner, |p| p.surfel) {
                points[k].area += third;
            }
        }
    }
    for p in points.iter_mut().filter(|p| p.area > 0.0) {
        p.pressure = p.normal / p.area;
    }
}
