//! Bodies: rigid ones with their colliders, particles.

use super::described::Described;
use super::shape::ShapeForm;
use super::soft::SoftForm;
use super::{PoseForm, V3, pose, pose_form, vectors, vectors_form};
use serde::{Deserialize, Serialize};
use sinew::{BodySpec, Collider, Groups, Motion, Particles, Real, RigidBody, SurfaceMaterial, Sym3, Vec3};

/// [`SurfaceMaterial`].
pub(super) type MaterialForm = Described<SurfaceMaterial>;

/// [`Motion`].
#[derive(Serialize, Deserialize)]
enum MotionForm {
    Dynamic,
    Kinematic,
    Fixed,
}

/// [`Collider`].
#[derive(Serialize, Deserialize)]
struct ColliderForm {
    shape: ShapeForm,
    place: PoseForm,
    material: MaterialForm,
    groups: Described<Groups>,
    sensor: bool,
    density: Option<Real>,
}

impl ColliderForm {
    fn of(collider: &Collider) -> Result<Self, String> {
        let Collider { shape, place, material, groups, sensor, density } = collider;
        Ok(Self {
            shape: ShapeForm::of(shape)?,
            place: pose_form(place),
            material: (*material).into(),
            groups: (*groups).into(),
            sensor: *sensor,
            density: *density,
        })
    }

    fn build(self) -> Result<Collider, String> {
        Ok(Collider {
            shape: self.shape.build()?,
            place: pose(self.place),
            material: self.material.into(),
            groups: self.groups.into(),
            sensor: self.sensor,
            density: self.density,
        })
    }
}

/// [`RigidBody`].
#[derive(Serialize, Deserialize)]
pub(crate) struct RigidForm {
    motion: MotionForm,
    pose: PoseForm,
    velocity: V3,
    spin: V3,
    colliders: Vec<ColliderForm>,
    mass: Option<Real>,
    density: Real,
    /// xx, yy, zz, xy, xz, yz.
    inertia: Option<[Real; 6]>,
    center_of_mass: Option<V3>,
    linear_damping: Real,
    angular_damping: Real,
    gravity_scale: Real,
    can_sleep: bool,
    continuous: bool,
    name: String,
}

impl RigidForm {
    pub fn of(body: &RigidBody) -> Result<Self, String> {
        let RigidBody { motion, pose, velocity, spin, colliders, mass, density, inertia, center_of_mass, .. } = body;
        let RigidBody { linear_damping, angular_damping, gravity_scale, can_sleep, continuous, name, .. } = body;
        let colliders: Result<_, String> = colliders.iter().map(ColliderForm::of).collect();
        Ok(Self {
            motion: match motion {
                Motion::Dynamic => MotionForm::Dynamic,
                Motion::Kinematic => MotionForm::Kinematic,
                Motion::Fixed => MotionForm::Fixed,
            },
            pose: pose_form(pose),
            velocity: velocity.to_array(),
            spin: spin.to_array(),
            colliders: colliders?,
            mass: *mass,
            density: *density,
            inertia: inertia.map(|Sym3 { xx, yy, zz, xy, xz, yz }| [xx, yy, zz, xy, xz, yz]),
            center_of_mass: center_of_mass.map(|c| c.to_array()),
            linear_damping: *linear_damping,
            angular_damping: *angular_damping,
            gravity_scale: *gravity_scale,
            can_sleep: *can_sleep,
            continuous: *continuous,
            name: name.clone(),
        })
    }

    // every field is named: one that the core adds breaks the build here
    pub fn build(self) -> Result<RigidBody, String> {
        let colliders: Result<_, String> = self.colliders.into_iter().map(ColliderForm::build).collect();
        Ok(RigidBody {
            motion: match self.motion {
                MotionForm::Dynamic => Motion::Dynamic,
                MotionForm::Kinematic => Motion::Kinematic,
                MotionForm::Fixed => Motion::Fixed,
            },
            pose: pose(self.pose),
            velocity: Vec3::from_array(self.velocity),
            spin: Vec3::from_array(self.spin),
            colliders: colliders?,
            mass: self.mass,
            density: self.density,
            inertia: self.inertia.map(|[xx, yy, zz, xy, xz, yz]| Sym3 { xx, yy, zz, xy, xz, yz }),
            center_of_mass: self.center_of_mass.map(Vec3::from_array),
            linear_damping: self.linear_damping,
            angular_damping: self.angular_damping,
            gravity_scale: self.gravity_scale,
            can_sleep: self.can_sleep,
            continuous: self.continuous,
            name: self.name,
        })
    }
}

/// [`Particles`].
#[derive(Serialize, Deserialize)]
pub(crate) struct ParticlesForm {
    positions: Vec<V3>,
    velocity: V3,
    masses: Vec<Real>,
    mass: Real,
    radius: Real,
    pinned: Vec<u32>,
    material: MaterialForm,
    groups: Described<Groups>,
    gravity_scale: Real,
    damping: Real,
    name: String,
}

impl ParticlesForm {
    fn of(particles: &Particles) -> Self {
        let Particles { positions, velocity, masses, mass, radius, pinned, .. } = particles;
        let Particles { material, groups, gravity_scale, damping, name, .. } = particles;
        Self {
            positions: vectors_form(positions),
            velocity: velocity.to_array(),
            masses: masses.clone(),
            mass: *mass,
            radius: *radius,
            pinned: pinned.clone(),
            material: (*material).into(),
            groups: (*groups).into(),
            gravity_scale: *gravity_scale,
            damping: *damping,
            name: name.clone(),
        }
    }

    fn build(self) -> Particles {
        Particles {
            positions: vectors(self.positions),
            velocity: Vec3::from_array(self.velocity),
            masses: self.masses,
            mass: self.mass,
            radius: self.radius,
            pinned: self.pinned,
            material: self.material.into(),
            groups: self.groups.into(),
            gravity_scale: self.gravity_scale,
            damping: self.damping,
            name: self.name,
        }
    }
}

/// [`BodySpec`]. Boxed: an empty slot takes two bytes in a file and shall not take hundreds in memory.
#[derive(Serialize, Deserialize)]
pub(crate) enum BodyForm {
    Rigid(Box<RigidForm>),
    Particles(Box<ParticlesForm>),
    Soft(Box<SoftForm>),
}

impl BodyForm {
    pub fn of(body: &BodySpec) -> Result<Self, String> {
        Ok(match body {
            BodySpec::Rigid(rigid) => Self::Rigid(Box::new(RigidForm::of(rigid)?)),
            BodySpec::Particles(particles) => Self::Particles(Box::new(ParticlesForm::of(particles))),
            BodySpec::Soft(soft) => Self::Soft(Box::new(SoftForm::of(soft))),
        })
    }

    pub fn build(self) -> Result<BodySpec, String> {
        Ok(match self {
            Self::Rigid(rigid) => BodySpec::Rigid(rigid.build()?),
            Self::Particles(particles) => BodySpec::Particles(particles.build()),
            Self::Soft(soft) => BodySpec::Soft(Box::new(soft.build())),
        })
    }
}
