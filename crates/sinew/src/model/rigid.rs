//! Rigid bodies: the public builder and the checked internal record.

use super::{Groups, Shape, SurfaceMaterial};
use crate::collision::{Geometry, Sdf};
use crate::error::{Error, check, finite_vec, gravity_factor, not_negative, weighable};
use crate::math::{FAR, Mat3, Pose, Quat, Real, Sym3, Vec3};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, from_to, record, words};
use std::sync::Arc;

/// Cause of the motion of a body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let lift = world.add_rigid(RigidBody::kinematic().shape(Shape::cuboid(0.5, 0.05, 0.5)))?;
/// assert_eq!(world.body(lift)?.motion(), Motion::Kinematic);
/// // follows its target, and pushes other bodies
/// world.step(&Input::none().target(lift, Pose::at(Vec3::Y * 0.01)));
/// assert!((world.body(lift)?.position().y - 0.01).abs() < 1e-6);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Forces and impulses.
    Dynamic,
    /// Its target pose or velocity; acts on others, is not affected by them.
    Kinematic,
    /// None: it does not move.
    Fixed,
}

/// One shape on a body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// // a hammer: a light handle and a heavy head
/// let handle = Collider::new(Shape::capsule(0.12, 0.01)).density(600.0);
/// let head = Collider::new(Shape::cuboid(0.05, 0.02, 0.02)).density(7800.0).at(Pose::at(Vec3::Y * 0.14));
/// let mut world = World::default();
/// let hammer = world.add_rigid(RigidBody::dynamic().collider(handle).collider(head))?;
/// assert!(world.body(hammer)?.center_of_mass().y > 0.1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Collider {
    /// Its shape.
    pub shape: Shape,
    /// Its pose in body coordinates.
    pub place: Pose,
    /// Its surface material.
    pub material: SurfaceMaterial,
    /// Collision groups.
    pub groups: Groups,
    /// Reports overlaps, exerts no force.
    pub sensor: bool,
    /// Density [kg/m³]; none: the body's.
    pub density: Option<Real>,
}

impl Collider {
    /// A shape at the body's origin with the default material.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            place: Pose::IDENTITY,
            material: SurfaceMaterial::default(),
            groups: Groups::ALL,
            sensor: false,
            density: None,
        }
    }

    /// Its pose in body coordinates.
    pub fn at(mut self, place: Pose) -> Self {
        self.place = place;
        self
    }

    /// Its surface material.
    pub fn material(mut self, material: SurfaceMaterial) -> Self {
        self.material = material;
        self
    }

    /// Collision groups.
    pub fn groups(mut self, groups: Groups) -> Self {
        self.groups = groups;
        self
    }

    /// A sensor reports overlaps and exerts no force.
    pub fn sensor(mut self, sensor: bool) -> Self {
        self.sensor = sensor;
        self
    }

    /// Density [kg/m³]; without it the body's.
    pub fn density(mut self, density: Real) -> Self {
        self.density = Some(density);
        self
    }
}

/// A rigid body to be added: all fields have defaults.
///
/// ```
/// use sinew::{RigidBody, Shape};
/// let brick = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.05)).at([0.0, 1.0, 0.0]).mass(2.0);
/// ```
#[derive(Clone, Debug)]
pub struct RigidBody {
    /// Cause of its motion.
    pub motion: Motion,
    /// Pose of its origin.
    pub pose: Pose,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity, world axes [rad/s].
    pub spin: Vec3,
    /// Its shapes.
    pub colliders: Vec<Collider>,
    /// Total mass [kg]; none: from the density.
    pub mass: Option<Real>,
    /// Density of colliders without their own [kg/m³].
    pub density: Real,
    /// Inertia about the centre of mass, body axes [kg·m²]; none: from the shapes.
    pub inertia: Option<Sym3>,
    /// Centre of mass, body coordinates [m]; none: from the shapes.
    pub center_of_mass: Option<Vec3>,
    /// Rate at which velocity decays [1/s].
    pub linear_damping: Real,
    /// Rate at which angular velocity decays [1/s].
    pub angular_damping: Real,
    /// Factor on gravity.
    pub gravity_scale: Real,
    /// Whether it may sleep.
    pub can_sleep: bool,
    /// Whether continuous collision detection is enabled.
    pub continuous: bool,
    /// Name used in messages.
    pub name: String,
}

impl RigidBody {
    fn new(motion: Motion) -> Self {
        Self {
            motion,
            pose: Pose::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            colliders: Vec::new(),
            mass: None,
            density: 1000.0,
            inertia: None,
            center_of_mass: None,
            linear_damping: 0.0,
            angular_damping: 0.0,
            gravity_scale: 1.0,
            can_sleep: true,
            continuous: false,
            name: String::new(),
        }
    }

    /// Moved by forces.
    pub fn dynamic() -> Self {
        Self::new(Motion::Dynamic)
    }

    /// Moved by its target or velocity only.
    pub fn kinematic() -> Self {
        Self::new(Motion::Kinematic)
    }

    /// Does not move.
    pub fn fixed() -> Self {
        Self::new(Motion::Fixed)
    }

    /// Adds a shape with the default material.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.colliders.push(Collider::new(shape));
        self
    }

    /// Adds a collider.
    pub fn collider(mut self, collider: Collider) -> Self {
        self.colliders.push(collider);
        self
    }

    /// Position of the body's origin [m].
    pub fn at(mut self, position: impl Into<Vec3>) -> Self {
        self.pose.position = position.into();
        self
    }

    /// Orientation.
    pub fn turned(mut self, rotation: Quat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Velocity of the centre of mass [m/s].
    pub fn velocity(mut self, velocity: impl Into<Vec3>) -> Self {
        self.velocity = velocity.into();
        self
    }

    /// Angular velocity, world axes [rad/s].
    pub fn spin(mut self, spin: impl Into<Vec3>) -> Self {
        self.spin = spin.into();
        self
    }

    /// Total mass [kg]; overrides the density, and scales the inertia.
    pub fn mass(mut self, mass: Real) -> Self {
        self.mass = Some(mass);
        self
    }

    /// Density of all colliders without their own [kg/m³]. Default 1000.
    pub fn density(mut self, density: Real) -> Self {
        self.density = density;
        self
    }

    /// Inertia tensor about the centre of mass, body axes [kg·m²]; overrides that of the shapes.
    pub fn inertia(mut self, inertia: Sym3) -> Self {
        self.inertia = Some(inertia);
        self
    }

    /// Centre of mass in body coordinates [m]; overrides that of the shapes.
    pub fn center_of_mass(mut self, local: impl Into<Vec3>) -> Self {
        self.center_of_mass = Some(local.into());
        self
    }

    /// Sets the surface material of all colliders added so far.
    pub fn material(mut self, material: SurfaceMaterial) -> Self {
        for c in &mut self.colliders {
            c.material = material;
        }
        self
    }

    /// Sets the collision groups of all colliders added so far.
    pub fn groups(mut self, groups: Groups) -> Self {
        for c in &mut self.colliders {
            c.groups = groups;
        }
        self
    }

    /// Rates at which velocity and angular velocity decay [1/s].
    pub fn damping(mut self, linear: Real, angular: Real) -> Self {
        self.linear_damping = linear;
        self.angular_damping = angular;
        self
    }

    /// Factor on gravity. Default 1.
    pub fn gravity_scale(mut self, scale: Real) -> Self {
        self.gravity_scale = scale;
        self
    }

    /// Whether it may sleep when at rest. Default true.
    pub fn can_sleep(mut self, yes: bool) -> Self {
        self.can_sleep = yes;
        self
    }

    /// Continuous collision detection: the body is swept along its path, so that it cannot pass through thin objects.
    pub fn continuous(mut self, yes: bool) -> Self {
        self.continuous = yes;
        self
    }

    /// A name for messages and reports.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

/// A collider as used by the step.
#[derive(Clone, Debug)]
pub(crate) struct BuiltCollider {
    pub geometry: Geometry,
    /// Pose relative to the centre of mass, body axes.
    pub place: Pose,
    pub material: SurfaceMaterial,
    pub groups: Groups,
    pub sensor: bool,
    /// Its signed distance, for the contact methods of `Settings::contact_method`; none for dynamic bodies and shapes
    /// without one.
    pub field: Option<Arc<Sdf>>,
}

/// A rigid body as used by the step: constants since the last edit.
#[derive(Clone, Debug)]
pub(crate) struct Rigid {
    pub motion: Motion,
    pub colliders: Vec<BuiltCollider>,
    /// Centre of mass in body coordinates [m].
    pub local_center: Vec3,
    /// Mass [kg]; 0 for bodies that are not dynamic.
    pub mass: Real,
    /// Inertia about the centre of mass, body axes [kg·m²].
    pub inertia: Sym3,
    pub inv_mass: Real,
    pub inv_inertia: Sym3,
    /// True when the gyroscopic term is significant.
    pub gyroscopic: bool,
    pub linear_damping: Real,
    pub angular_damping: Real,
    pub gravity_scale: Real,
    pub can_sleep: bool,
    pub continuous: bool,
    /// Largest distance of a surface point from the centre of mass [m].
    pub radius: Real,
    /// Smallest half width [m]: the displacement that the body may have without continuous detection.
    pub thickness: Real,
    /// The user's input, as stored in a save file.
    pub source: Box<RigidBody>,
}

impl Rigid {
    pub fn is_dynamic(&self) -> bool {
        self.motion == Motion::Dynamic
    }

    /// True when linear or angular velocity decays.
    pub fn is_damped(&self) -> bool {
        self.linear_damping > 0.0 || self.angular_damping > 0.0
    }

    /// Pose of the origin from the centre of mass.
    pub fn origin(&self, x: Vec3, q: Quat) -> Pose {
        Pose::new(x - q * self.local_center, q)
    }

    /// Checks a builder and computes the data for the step.
    pub fn build(spec: RigidBody) -> Result<Self, Error> {
        let who = if spec.name.is_empty() { "rigid body".to_owned() } else { format!("rigid body '{}'", spec.name) };
        check_numbers(&spec, &who)?;
        let mut geometries = Vec::with_capacity(spec.colliders.len());
        for (i, c) in spec.colliders.iter().enumerate() {
            c.material.check(&format!("{who}.colliders[{i}].material"))?;
            finite_vec(&format!("{who}.colliders[{i}].position"), c.place.position)?;
            check_rotation(&format!("{who}.colliders[{i}].rotation"), c.place.rotation)?;
            if let Some(d) = c.density {
                not_negative(&format!("{who}.colliders[{i}].density"), d)?;
            }
            let place = Pose::new(c.place.position, c.place.rotation.normalize());
            let geometry = Geometry::build(&c.shape, &format!("{who}.colliders[{i}]"))?;
            let reach = geometry.reach() + place.position.length();
            let what = format!("{who}.colliders[{i}]: its reach from the body's origin [m]");
            // no body can be farther away, and collision detection multiplies squares of lengths
            check(&what, reach, reach <= FAR, "at most 1e6")?;
            geometries.push((geometry, place));
        }
        let mass = MassProperties::of(&spec, &geometries, &who)?;
        let mut radius: Real = 0.0;
        let mut thickness = Real::INFINITY;
        let mut colliders = Vec::with_capacity(geometries.len());
        for ((geometry, place), c) in geometries.into_iter().zip(&spec.colliders) {
            let place = Pose::new(place.position - mass.center, place.rotation);
            radius = radius.max(geometry.reach() + place.position.length());
            thickness = thickness.min(geometry.thickness());
            let field = if spec.motion == Motion::Dynamic { None } else { c.shape.signed_distance() };
            let (material, groups, sensor) = (c.material, c.groups, c.sensor);
            colliders.push(BuiltCollider { geometry, place, material, groups, sensor, field });
        }
        Ok(Self {
            motion: spec.motion,
            colliders,
            local_center: mass.center,
            mass: mass.mass,
            inertia: mass.inertia,
            inv_mass: if mass.mass > 0.0 { 1.0 / mass.mass } else { 0.0 },
            inv_inertia: mass.inv_inertia,
            gyroscopic: mass.inertia.anisotropy() > 1e-4,
            linear_damping: spec.linear_damping,
            angular_damping: spec.angular_damping,
            gravity_scale: spec.gravity_scale,
            can_sleep: spec.can_sleep,
            continuous: spec.continuous,
            radius,
            thickness: if thickness.is_finite() { thickness } else { 0.0 },
            source: Box::new(spec),
        })
    }
}

fn check_rotation(what: &str, q: Quat) -> Result<(), Error> {
    let n = q.length();
    crate::error::check(what, n, n.is_finite() && (n - 1.0).abs() < 1e-2, "a unit quaternion (its length is shown)")
}

fn check_numbers(spec: &RigidBody, who: &str) -> Result<(), Error> {
    finite_vec(&format!("{who}.position"), spec.pose.position)?;
    check_rotation(&format!("{who}.rotation"), spec.pose.rotation)?;
    finite_vec(&format!("{who}.velocity"), spec.velocity)?;
    finite_vec(&format!("{who}.spin"), spec.spin)?;
    not_negative(&format!("{who}.linear_damping"), spec.linear_damping)?;
    not_negative(&format!("{who}.angular_damping"), spec.angular_damping)?;
    gravity_factor(&format!("{who}.gravity_scale"), spec.gravity_scale)?;
    not_negative(&format!("{who}.density"), spec.density)?;
    if let Some(m) = spec.mass {
        weighable(&format!("{who}.mass"), m)?;
    }
    if let Some(c) = spec.center_of_mass {
        finite_vec(&format!("{who}.center_of_mass"), c)?;
    }
    Ok(())
}

/// Inertia of a point mass `m` at `r` about the origin: m(r·r 1 − r rᵀ) [kg·m²].
fn steiner(m: Real, r: Vec3) -> Mat3 {
    (Mat3::IDENTITY * r.length_squared() - Mat3::from_cols(r * r.x, r * r.y, r * r.z)) * m
}

/// Mass, centre and inertia of an entire body.
struct MassProperties {
    mass: Real,
    center: Vec3,
    inertia: Sym3,
    inv_inertia: Sym3,
}

impl MassProperties {
    fn of(spec: &RigidBody, geometries: &[(Geometry, Pose)], who: &str) -> Result<Self, Error> {
        // sum of the colliders: m, first moment, inertia about the body origin (parallel axes)
        let mut mass = 0.0;
        let mut moment = Vec3::ZERO;
        let mut parts = Vec::new();
        for ((geometry, place), c) in geometries.iter().zip(&spec.colliders) {
            if c.sensor {
                continue;
            }
            let Some((volume, center, unit_inertia)) = geometry.volume_properties() else { continue };
            let density = c.density.unwrap_or(spec.density);
            let m = density * volume;
            let center = place.point(center);
            mass += m;
            moment += m * center;
            parts.push((m, center, unit_inertia.rotated(place.rotation), density));
        }
        let center = spec.center_of_mass.unwrap_or(if mass > 0.0 { moment / mass } else { Vec3::ZERO });
        let mut inertia = Sym3::ZERO.to_mat();
        for (m, c, unit, density) in parts {
            inertia += unit.to_mat() * density + steiner(m, c - center);
        }
        if spec.motion != Motion::Dynamic {
            return Ok(Self { mass: 0.0, center, inertia: Sym3::ZERO, inv_inertia: Sym3::ZERO });
        }
        // a given mass scales the inertia of the shapes; a given inertia replaces it
        let total = spec.mass.unwrap_or(mass);
        if !(total > 0.0) || !total.is_finite() {
            let reason =
                "a dynamic body needs a mass above 0: give .mass(kg), or a solid shape with a density".to_owned();
            return Err(Error::BadMass { body: who.to_owned(), reason });
        }
        weighable(&format!("{who}.mass"), total)?;
        if mass > 0.0 {
            inertia *= total / mass;
        }
        let inertia = spec.inertia.unwrap_or(Sym3::from_mat(&inertia));
        let Some(inv_inertia) = inertia.inverse() else {
            let reason = format!(
                "its inertia {:?} kg·m² is not positive definite: give .inertia(..), or a shape with a volume",
                inertia.to_array()
            );
            return Err(Error::BadMass { body: who.to_owned(), reason });
        };
        Ok(Self { mass: total, center, inertia, inv_inertia })
    }
}

words!(Motion, {
    "dynamic" => Dynamic, "A rigid body that forces move.";
    "kinematic" => Kinematic, "A rigid body with prescribed motion.";
    "fixed" => Fixed, "A rigid body that stays.";
});

// The order of the fields is that of saves: new ones are appended.
record!(Collider, "collider", "A shape of a rigid body with all that belongs to it.", Collider::new(Shape::ball(1.0)), {
    shape [required]: ANY, "Its shape.";
    place [flat]: FINITE, "Its pose in the body.";
    material as surface: ANY, "Friction and restitution; without: those of the body.";
    groups: ANY, "Its collision groups; without: those of the body.";
    sensor: ANY, "It is felt but does not push.";
    density: NOT_NEGATIVE, "Its own density [kg/m³].";
});

record!(RigidBody, "rigid body", "A rigid body.", RigidBody::dynamic(), {
    motion: ANY, "Cause of its motion.";
    pose [flat]: FINITE, "Pose of its origin.";
    velocity: FINITE, "Start velocity of its centre of mass [m/s].";
    spin: FINITE, "Start spin, world axes [rad/s].";
    colliders: ANY, "Several shapes, each with its pose, surface and density.";
    mass: POSITIVE, "Mass [kg]; without: density times volume.";
    density: NOT_NEGATIVE, "Density [kg/m³].";
    inertia: FINITE, "Inertia about its centre of mass, [xx, yy, zz, xy, xz, yz] [kg·m²]; without: from its shapes.";
    center_of_mass: FINITE, "Centre of mass in body coordinates [m]; without: from its shapes.";
    linear_damping: NOT_NEGATIVE, "Rate at which velocity decays [1/s].";
    angular_damping: NOT_NEGATIVE, "Rate at which spin decays [1/s].";
    gravity_scale: from_to(-1e5, 1e5), "Factor on gravity.";
    can_sleep: ANY, "Whether it may fall asleep.";
    continuous: ANY, "Swept along its path: fast bodies do not pass thin walls.";
    name: ANY, "Its name in reports; without: the name of the table.";
});
