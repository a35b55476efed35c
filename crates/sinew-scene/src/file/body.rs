//! Bodies: rigid, soft, bare particles.

use super::form::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, Rule, from_to, kinds, record};
use super::models::{ModelSpec, corotational};
use sinew::{
    Air, BodySpec, Collider, ElasticMaterial, Geometry, Groups, Load, Motion, Particles, PinnedAxes, Pose, Quat, Real,
    Region, RigidBody, Shape, Skin, SoftBody, SoftModel, SurfaceMaterial, Sym3, TriMesh, Vec3,
};

/// Most copies along one direction.
const COPIES: Rule = from_to(1.0, 10_000.0);

/// A body in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Dynamic(Box<RigidSpec>),
    Kinematic(Box<RigidSpec>),
    Fixed(Box<RigidSpec>),
    Particles(Box<ParticlesSpec>),
    Soft(Box<SoftSpec>),
}

kinds!(Body, "body", "A body.", {
    "dynamic" => Dynamic(Box<RigidSpec>), "A rigid body that forces move.";
    "kinematic" => Kinematic(Box<RigidSpec>), "A rigid body with prescribed motion.";
    "fixed" => Fixed(Box<RigidSpec>), "A rigid body that stays.";
    "particles" => Particles(Box<ParticlesSpec>), "Bare particles.";
    "soft" => Soft(Box<SoftSpec>), "A deformable body.";
});

impl<T: super::form::Record> super::form::Record for Box<T> {
    const NAME: &'static str = T::NAME;
    const ABOUT: &'static str = T::ABOUT;

    fn read_fields(fields: &mut super::form::Fields<'_, '_, '_>) -> Option<Self> {
        T::read_fields(fields).map(Box::new)
    }

    fn write_fields(&self, out: &mut Vec<super::tree::Entry>) {
        T::write_fields(self, out);
    }

    fn describe(out: &mut Vec<super::form::FieldInfo>, schemas: &mut super::schema::Schemas) {
        T::describe(out, schemas);
    }
}

/// Copies of a body in a grid: "box" becomes "box 0", "box 1", .. with x running first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat {
    pub count: [u32; 3],
    pub step: Vec3,
}

record!(Repeat, "repeat", "Copies in a grid, named 'NAME 0', 'NAME 1', .., along x first.",
    base |_| Repeat { count: [1; 3], step: Vec3::ZERO },
    needs {
        count: COPIES, "Copies along x, y and z.";
        step: FINITE, "From one to the next along x, y and z [m].";
    },
    {}
);

/// A rigid body.
#[derive(Clone, Debug)]
pub(crate) struct RigidSpec {
    pub shape: Option<Shape>,
    pub colliders: Vec<ColliderSpec>,
    pub surface: SurfaceMaterial,
    pub groups: Groups,
    pub sensor: bool,
    pub position: Vec3,
    pub rotation: Quat,
    pub velocity: Vec3,
    pub spin: Vec3,
    pub mass: Option<Real>,
    pub density: Real,
    pub inertia: Option<Sym3>,
    pub center_of_mass: Option<Vec3>,
    pub linear_damping: Real,
    pub angular_damping: Real,
    pub gravity_scale: Real,
    pub can_sleep: bool,
    pub continuous: bool,
    pub name: Option<String>,
    pub repeat: Option<Repeat>,
}

fn rigid(_: Option<ElasticMaterial>) -> RigidSpec {
    RigidSpec {
        shape: None,
        colliders: Vec::new(),
        surface: SurfaceMaterial::default(),
        groups: Groups::ALL,
        sensor: false,
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        velocity: Vec3::ZERO,
        spin: Vec3::ZERO,
        mass: None,
        density: 1000.0,
        inertia: None,
        center_of_mass: None,
        linear_damping: 0.0,
        angular_damping: 0.0,
        gravity_scale: 1.0,
        can_sleep: true,
        continuous: false,
        name: None,
        repeat: None,
    }
}

record!(RigidSpec, "rigid body", "A rigid body.", base rigid, {
    shape: ANY, "Its shape.";
    colliders: ANY, "Several shapes, each with its pose, surface and density.";
    surface: ANY, "Friction and restitution.";
    groups: ANY, "Its collision groups.";
    sensor: ANY, "Its shape is felt but does not push.";
    position: FINITE, "Position of its origin [m].";
    rotation: ANY, "Its orientation.";
    velocity: FINITE, "Start velocity of its centre of mass [m/s].";
    spin: FINITE, "Start spin, world axes [rad/s].";
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
    repeat: ANY, "Copies of it.";
});

/// A shape of a rigid body with all that belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct ColliderSpec {
    pub shape: Shape,
    pub position: Vec3,
    pub rotation: Quat,
    pub surface: Option<SurfaceMaterial>,
    pub groups: Option<Groups>,
    pub sensor: bool,
    pub density: Option<Real>,
}

record!(ColliderSpec, "collider", "A shape of a rigid body with all that belongs to it.",
    base |_| ColliderSpec {
        shape: Shape::ball(1.0),
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        surface: None,
        groups: None,
        sensor: false,
        density: None,
    },
    needs { shape: ANY, "Its shape."; },
    {
        position: FINITE, "Its position in the body [m].";
        rotation: ANY, "Its turn in the body.";
        surface: ANY, "Friction and restitution; without: those of the body.";
        groups: ANY, "Its collision groups; without: those of the body.";
        sensor: ANY, "It is felt but does not push.";
        density: NOT_NEGATIVE, "Its own density [kg/m³].";
    }
);

impl RigidSpec {
    /// The engine's body; its name is that of the table unless `name` is given.
    pub fn build(self, motion: Motion, name: &str) -> RigidBody {
        let (surface, groups) = (self.surface, self.groups);
        let whole =
            |shape: Shape| Collider { sensor: self.sensor, ..Collider::new(shape).material(surface).groups(groups) };
        let part = |c: ColliderSpec| Collider {
            shape: c.shape,
            place: Pose::new(c.position, c.rotation),
            material: c.surface.unwrap_or(surface),
            groups: c.groups.unwrap_or(groups),
            sensor: c.sensor,
            density: c.density,
        };
        RigidBody {
            motion,
            pose: Pose::new(self.position, self.rotation),
            velocity: self.velocity,
            spin: self.spin,
            colliders: self.shape.map(whole).into_iter().chain(self.colliders.into_iter().map(part)).collect(),
            mass: self.mass,
            density: self.density,
            inertia: self.inertia,
            center_of_mass: self.center_of_mass,
            linear_damping: self.linear_damping,
            angular_damping: self.angular_damping,
            gravity_scale: self.gravity_scale,
            can_sleep: self.can_sleep,
            continuous: self.continuous,
            name: self.name.unwrap_or_else(|| name.to_owned()),
        }
    }

    /// A body in the form of a scene file.
    fn of(body: RigidBody) -> Self {
        let RigidBody { motion: _, pose, velocity, spin, colliders, mass, density, inertia, center_of_mass, .. } = body;
        let RigidBody { linear_damping, angular_damping, gravity_scale, can_sleep, continuous, name, .. } = body;
        let part = |c: Collider| ColliderSpec {
            shape: c.shape,
            position: c.place.position,
            rotation: c.place.rotation,
            surface: Some(c.material),
            groups: Some(c.groups).filter(|g| *g != Groups::ALL),
            sensor: c.sensor,
            density: c.density,
        };
        let mut it = Self {
            position: pose.position,
            rotation: pose.rotation,
            velocity,
            spin,
            mass,
            density,
            inertia,
            center_of_mass,
            linear_damping,
            angular_damping,
            gravity_scale,
            can_sleep,
            continuous,
            name: Some(name).filter(|n| !n.is_empty()),
            ..rigid(None)
        };
        let plain = |c: &Collider| c.place == Pose::IDENTITY && c.density.is_none();
        match <[Collider; 1]>::try_from(colliders) {
            Ok([c]) if plain(&c) => {
                (it.shape, it.surface, it.groups, it.sensor) = (Some(c.shape), c.material, c.groups, c.sensor);
            }
            Ok([c]) => it.colliders = vec![part(c)],
            Err(many) => it.colliders = many.into_iter().map(part).collect(),
        }
        it
    }
}

/// Bare particles.
#[derive(Clone, Debug)]
pub(crate) struct ParticlesSpec {
    pub positions: Vec<Vec3>,
    pub velocity: Vec3,
    pub masses: Vec<Real>,
    pub mass: Real,
    pub radius: Real,
    pub pinned: Vec<u32>,
    pub surface: SurfaceMaterial,
    pub groups: Groups,
    pub gravity_scale: Real,
    pub damping: Real,
    pub name: Option<String>,
}

record!(ParticlesSpec, "particles", "Bare particles.", base |_| ParticlesSpec::of(Particles::new(Vec::new())),
    needs { positions: FINITE, "Where they are [m]."; },
    {
        velocity: FINITE, "Common start velocity [m/s].";
        masses: POSITIVE, "Masses, one each [kg]; empty: all the same.";
        mass: POSITIVE, "Mass of each [kg].";
        radius: NOT_NEGATIVE, "Radius at which they touch rigid bodies [m]; 0 touches nothing.";
        pinned: ANY, "Numbers of those that stay where they are.";
        surface: ANY, "Friction and restitution.";
        groups: ANY, "Their collision groups.";
        gravity_scale: from_to(-1e5, 1e5), "Factor on gravity.";
        damping: NOT_NEGATIVE, "Rate at which velocity decays [1/s].";
        name: ANY, "Their name in reports; without: the name of the table.";
    }
);

impl ParticlesSpec {
    fn build(self, name: &str) -> Particles {
        Particles {
            positions: self.positions,
            velocity: self.velocity,
            masses: self.masses,
            mass: self.mass,
            radius: self.radius,
            pinned: self.pinned,
            material: self.surface,
            groups: self.groups,
            gravity_scale: self.gravity_scale,
            damping: self.damping,
            name: self.name.unwrap_or_else(|| name.to_owned()),
        }
    }

    fn of(particles: Particles) -> Self {
        let Particles { positions, velocity, masses, mass, radius, pinned, .. } = particles;
        let Particles { material: surface, groups, gravity_scale, damping, name, .. } = particles;
        let name = Some(name).filter(|n| !n.is_empty());
        Self { positions, velocity, masses, mass, radius, pinned, surface, groups, gravity_scale, damping, name }
    }
}

record!(Region, "region", "A box in the coordinates of the rest shape.",
    base |_| Region { min: Vec3::ZERO, max: Vec3::ZERO },
    needs {
        min: FINITE, "Least corner [m].";
        max: FINITE, "Largest corner [m].";
    },
    {}
);

record!(PinnedAxes, "pinned axes", "Nodes that are held along some axes of the rest shape and free along the others: symmetry planes, rollers.",
    base |_| PinnedAxes { region: Region { min: Vec3::ZERO, max: Vec3::ZERO }, x: false, y: false, z: false },
    needs { region: ANY, "All nodes inside this box."; },
    {
        x: ANY, "Held along x.";
        y: ANY, "Held along y.";
        z: ANY, "Held along z.";
    }
);

record!(Load, "load", "A pressure or a force on a part of the surface.", base |_| Load::default(), {
    region: ANY, "The triangles inside this box; for a force without a triangle there, its nodes.";
    faces: ANY, "Triangles of the surface, by number.";
    pressure: FINITE, "Pressure on the present surface, positive inward [Pa].";
    force: FINITE, "Total force, world axes, distributed by area at rest, or by mass over nodes [N].";
    ramp: NOT_NEGATIVE, "Time in which it rises linearly from 0 at time 0 [s]; 0: constant.";
});

record!(Skin, "skin", "A detailed surface on a coarse body.", base |_| Skin { mesh: TriMesh::default(), offset: 0.0 },
    needs { mesh: ANY, "The surface, in the coordinates of the rest shape."; },
    { offset: FINITE, "How far it is moved out along its normals before it is bound [m]."; }
);

record!(Air, "air", "The air around a surface: drag on its triangles, and wind.", base |_| Air::default(), {
    density: NOT_NEGATIVE, "Density [kg/m³]: air 1.2, water 1000.";
    normal: NOT_NEGATIVE, "Drag coefficient across a triangle: about 1.2 for a plate.";
    tangential: NOT_NEGATIVE, "Drag coefficient along a triangle: about 0.01 to 0.1 for cloth.";
    wind: FINITE, "Velocity of the air [m/s].";
});

/// A deformable body.
#[derive(Clone, Debug)]
pub(crate) struct SoftSpec {
    pub geometry: Geometry,
    pub material: Option<ElasticMaterial>,
    pub model: Option<ModelSpec>,
    pub surface: Option<SurfaceMaterial>,
    pub skin: Option<Skin>,
    pub position: Vec3,
    pub rotation: Quat,
    pub velocity: Vec3,
    pub spin: Vec3,
    pub pinned: Vec<u32>,
    pub pinned_regions: Vec<Region>,
    pub pinned_axes: Vec<PinnedAxes>,
    pub loads: Vec<Load>,
    pub thickness: Real,
    pub self_contact: bool,
    pub air: Option<Air>,
    pub groups: Groups,
    pub gravity_scale: Real,
    pub damping: Real,
    pub name: Option<String>,
    pub repeat: Option<Repeat>,
}

record!(SoftSpec, "soft body", "A deformable body.", base |_| {
    let model = SoftModel::Corotational(corotational(None));
    SoftSpec { model: None, surface: None, ..SoftSpec::of(SoftBody::new(Geometry::Points(Vec::new()), model)) }
},
    needs { geometry: ANY, "The rest shape."; },
    {
        material: ANY, "Its material: the defaults of model and surface.";
        model: ANY, "Its deformable model; without: corotational finite elements of the material.";
        surface: ANY, "Friction and restitution; without: the friction of the material.";
        skin: ANY, "A surface of its own; without: its boundary.";
        position: FINITE, "Position of the origin of the rest shape [m].";
        rotation: ANY, "Orientation of the rest shape.";
        velocity: FINITE, "Start velocity [m/s].";
        spin: FINITE, "Start spin about its centre of mass [rad/s].";
        pinned: ANY, "Numbers of nodes that stay where they are.";
        pinned_regions: ANY, "All nodes inside these boxes stay where they are.";
        pinned_axes: ANY, "Nodes that are held along some axes only: symmetry planes, rollers.";
        loads: ANY, "Pressures and forces on parts of the surface.";
        thickness: NOT_NEGATIVE, "Contact distance of surface points [m]; of triangles at most twice their mean edge.";
        self_contact: ANY, "The surface touches itself.";
        air: ANY, "The air around its surface: drag and wind; without: vacuum.";
        groups: ANY, "Its collision groups.";
        gravity_scale: from_to(-1e5, 1e5), "Factor on gravity.";
        damping: NOT_NEGATIVE, "Rate at which velocity decays, as in a thin fluid [1/s].";
        name: ANY, "Its name in reports; without: the name of the table.";
        repeat: ANY, "Copies of it.";
    }
);

impl SoftSpec {
    /// The engine's body; its name is that of the table unless `name` is given.
    pub fn build(self, name: &str) -> SoftBody {
        let usual = ModelSpec::Corotational(corotational(self.material));
        SoftBody {
            geometry: self.geometry,
            model: self.model.unwrap_or(usual).into(),
            fill: Vec::new(),
            reserve: None,
            skin: self.skin,
            pose: Pose::new(self.position, self.rotation),
            velocity: self.velocity,
            spin: self.spin,
            pinned: self.pinned,
            pinned_regions: self.pinned_regions,
            pinned_axes: self.pinned_axes,
            loads: self.loads,
            thickness: self.thickness,
            self_contact: self.self_contact,
            air: self.air,
            material: self.surface.or(self.material.map(|m| m.surface())).unwrap_or_default(),
            groups: self.groups,
            gravity_scale: self.gravity_scale,
            damping: self.damping,
            name: self.name.unwrap_or_else(|| name.to_owned()),
        }
    }

    fn of(body: SoftBody) -> Self {
        let SoftBody { geometry, model, skin, pose, velocity, spin, pinned, pinned_regions, thickness, .. } = body;
        let SoftBody { pinned_axes, loads, self_contact, air, material, groups, gravity_scale, damping, name, .. } =
            body;
        Self {
            geometry,
            material: None,
            model: ModelSpec::of(model),
            surface: Some(material),
            skin,
            position: pose.position,
            rotation: pose.rotation,
            velocity,
            spin,
            pinned,
            pinned_regions,
            pinned_axes,
            loads,
            thickness,
            self_contact,
            air,
            groups,
            gravity_scale,
            damping,
            name: Some(name).filter(|n| !n.is_empty()),
            repeat: None,
        }
    }
}

impl Body {
    /// Copies wanted, if any.
    pub fn repeat(&self) -> Option<Repeat> {
        match self {
            Body::Dynamic(r) | Body::Kinematic(r) | Body::Fixed(r) => r.repeat,
            Body::Soft(s) => s.repeat,
            Body::Particles(_) => None,
        }
    }

    /// The engine's body.
    pub fn build(self, name: &str) -> BodySpec {
        match self {
            Body::Dynamic(r) => BodySpec::Rigid(r.build(Motion::Dynamic, name)),
            Body::Kinematic(r) => BodySpec::Rigid(r.build(Motion::Kinematic, name)),
            Body::Fixed(r) => BodySpec::Rigid(r.build(Motion::Fixed, name)),
            Body::Particles(p) => BodySpec::Particles(p.build(name)),
            Body::Soft(s) => BodySpec::Soft(Box::new(s.build(name))),
        }
    }

    /// The form of a body of the engine.
    pub fn of(spec: BodySpec) -> Self {
        match spec {
            BodySpec::Rigid(body) => {
                let motion = body.motion;
                let spec = Box::new(RigidSpec::of(body));
                match motion {
                    Motion::Dynamic => Body::Dynamic(spec),
                    Motion::Kinematic => Body::Kinematic(spec),
                    Motion::Fixed => Body::Fixed(spec),
                }
            }
            BodySpec::Particles(particles) => Body::Particles(Box::new(ParticlesSpec::of(particles))),
            BodySpec::Soft(body) => Body::Soft(Box::new(SoftSpec::of(*body))),
        }
    }
}
