//! Bodies: rigid, soft, bare particles. Their keys are those that the engine describes, except where a file has a shorter
//! form: one shape instead of a list of colliders, a material instead of a model.

use super::described;
use super::form::{
    ANY, FINITE, FieldInfo, Fields, Form, Reader, Record, Rule, from_to, kinds, put, record, record_form, tell,
};
use super::models::corotational;
use super::schema::Schemas;
use super::tree::{Entry, Node, Value};
use sinew::spec::Spec;
use sinew::{
    BodySpec, Collider, ElasticMaterial, Geometry, Groups, Motion, Particles, Pose, RigidBody, Shape, Skin, SoftBody,
    SoftModel, SurfaceMaterial, Vec3,
};

/// Most copies along one direction.
const COPIES: Rule = from_to(1.0, 10_000.0);

/// A body in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Dynamic(Box<RigidSpec>),
    Kinematic(Box<RigidSpec>),
    Fixed(Box<RigidSpec>),
    Particles(Box<Particles>),
    Soft(Box<SoftSpec>),
}

kinds!(Body, "body", "A body.", {
    "dynamic" => Dynamic(Box<RigidSpec>), "A rigid body that forces move.";
    "kinematic" => Kinematic(Box<RigidSpec>), "A rigid body with prescribed motion.";
    "fixed" => Fixed(Box<RigidSpec>), "A rigid body that stays.";
    "particles" => Particles(Box<Particles>), "Bare particles.";
    "soft" => Soft(Box<SoftSpec>), "A deformable body.";
});

impl<T: Record> Record for Box<T> {
    const NAME: &'static str = T::NAME;
    const ABOUT: &'static str = T::ABOUT;

    fn read_fields(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        T::read_fields(fields).map(Box::new)
    }

    fn write_fields(&self, out: &mut Vec<Entry>) {
        T::write_fields(self, out);
    }

    fn describe(out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
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

/// Key and sentence of what a file has beside the description.
const SHAPE: (&str, &str) = ("shape", "Its shape.");
const COLLIDERS: (&str, &str) = ("colliders", "Several shapes, each with its pose, surface and density.");
const SURFACE: (&str, &str) = ("surface", "Friction and restitution.");
const GROUPS: (&str, &str) = ("groups", "Its collision groups.");
const SENSOR: (&str, &str) = ("sensor", "Its shape is felt but does not push.");
const REPEAT: (&str, &str) = ("repeat", "Copies of it.");

/// A rigid body in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) struct RigidSpec {
    body: RigidBody,
    pub repeat: Option<Repeat>,
}

record_form!(RigidSpec);

impl Default for RigidSpec {
    fn default() -> Self {
        Self { body: RigidBody::dynamic(), repeat: None }
    }
}

/// Fields that a file has in another form: the motion is the kind.
const RIGID: [&str; 2] = ["motion", "colliders"];

impl Record for RigidSpec {
    const NAME: &'static str = "rigid body";
    const ABOUT: &'static str = "A rigid body.";

    fn read_fields(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let shape: Option<Shape> = fields.optional(SHAPE.0, &ANY);
        let material = fields.optional(SURFACE.0, &ANY).unwrap_or_default();
        let groups = fields.optional(GROUPS.0, &ANY).unwrap_or_default();
        let sensor = fields.optional(SENSOR.0, &ANY).unwrap_or(false);
        let whole = shape.map(|shape| Collider { sensor, ..Collider::new(shape).material(material).groups(groups) });
        let base = Collider::new(Shape::ball(1.0)).material(material).groups(groups);
        let parts = match fields.node(COLLIDERS.0) {
            Some(node) => fields.within(COLLIDERS.0, |r| colliders(node, &base, r)),
            None => None,
        };
        let repeat = fields.optional(REPEAT.0, &ANY);
        let body = described::read_fields(&RigidBody::dynamic(), &RIGID, fields)?;
        let colliders = whole.into_iter().chain(parts.into_iter().flatten()).collect();
        Some(Self { body: RigidBody { colliders, ..body }, repeat })
    }

    fn write_fields(&self, out: &mut Vec<Entry>) {
        match &self.body.colliders[..] {
            [c] if c.place == Pose::IDENTITY && c.density.is_none() => {
                put(out, SHAPE.0, c.shape.write(), None);
                put(out, SURFACE.0, c.material.write(), Some(SurfaceMaterial::default().write()));
                put(out, GROUPS.0, c.groups.write(), Some(Groups::default().write()));
                put(out, SENSOR.0, c.sensor.write(), Some(Value::Bool(false)));
            }
            [] => {}
            many => {
                let each = |c: &Collider| {
                    let mut part = Vec::new();
                    described::write_fields(c, &[], &mut part);
                    Value::Table(part.into())
                };
                put(out, COLLIDERS.0, Value::list(many.iter().map(each)), None);
            }
        }
        let bare = RigidBody { colliders: Vec::new(), ..self.body.clone() };
        described::write_fields(&bare, &RIGID, out);
        put(out, REPEAT.0, self.repeat.write(), None);
    }

    fn describe(out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
        tell(out, schemas, SHAPE, &ANY, Ok(&None::<Shape>));
        let list = Value::table([
            ("type", Value::text("array")),
            ("items", described::schema(&Collider::kind(&ANY), schemas)),
        ]);
        let (name, about) = COLLIDERS;
        out.push(FieldInfo { name, about, schema: list, required: false, default: Value::Nothing });
        tell(out, schemas, SURFACE, &ANY, Ok(&SurfaceMaterial::default()));
        tell(out, schemas, GROUPS, &ANY, Ok(&Groups::default()));
        tell(out, schemas, SENSOR, &ANY, Ok(&false));
        described::describe::<RigidBody>(&RIGID, out, schemas);
        tell(out, schemas, REPEAT, &ANY, Ok(&None::<Repeat>));
    }
}

/// Colliders of a body; what they leave out is the body's.
fn colliders(node: &Node, base: &Collider, reader: &mut Reader<'_>) -> Option<Vec<Collider>> {
    let Value::List(items) = &node.value else { return reader.unexpected(node, "a list") };
    let mut all = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        all.extend(reader.at_index(i, |r| {
            let Value::Table(entries) = &item.value else { return r.unexpected(item, "a collider (a table)") };
            r.fields(entries, item.span, &[], |fields| described::read_fields(base, &[], fields))
        }));
    }
    (all.len() == items.len()).then_some(all)
}

impl RigidSpec {
    /// The engine's body; its name is that of the table unless it has one.
    pub fn build(self, motion: Motion, name: &str) -> RigidBody {
        RigidBody { motion, name: or_name(self.body.name, name), ..self.body }
    }
}

fn or_name(own: String, table: &str) -> String {
    if own.is_empty() { table.to_owned() } else { own }
}

impl Record for Particles {
    const NAME: &'static str = "particles";
    const ABOUT: &'static str = "Bare particles.";

    fn read_fields(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        described::read_fields(&Particles::new(Vec::new()), &[], fields)
    }

    fn write_fields(&self, out: &mut Vec<Entry>) {
        described::write_fields(self, &[], out);
    }

    fn describe(out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
        described::describe::<Self>(&[], out, schemas);
    }
}

/// A deformable body in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) struct SoftSpec {
    body: SoftBody,
    pub repeat: Option<Repeat>,
}

/// Meshes are read at once: as items they would take a multiple of their memory.
const MESHES: [&str; 2] = ["geometry", "skin"];
const GEOMETRY: (&str, &str) = ("geometry", "The rest shape.");
const SKIN: (&str, &str) = ("skin", "A surface of its own; without: its boundary.");
const MATERIAL: (&str, &str) = ("material", "Its material: the defaults of model and surface.");

fn nothing() -> Geometry {
    Geometry::Points(Vec::new())
}

impl Record for SoftSpec {
    const NAME: &'static str = "soft body";
    const ABOUT: &'static str = "A deformable body.";

    fn read_fields(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let geometry = fields.given(GEOMETRY.0, &ANY, None);
        let skin: Option<Skin> = fields.optional(SKIN.0, &ANY);
        // first: the model takes its numbers from it
        let matter: Option<ElasticMaterial> = fields.optional(MATERIAL.0, &ANY);
        let repeat = fields.optional(REPEAT.0, &ANY);
        let base = SoftBody::new(nothing(), SoftModel::Corotational(corotational(matter)))
            .material(matter.map(|m| m.surface()).unwrap_or_default());
        let body = described::read_fields(&base, &MESHES, fields);
        Some(Self { body: SoftBody { geometry: geometry?, skin, ..body? }, repeat })
    }

    fn write_fields(&self, out: &mut Vec<Entry>) {
        put(out, GEOMETRY.0, self.body.geometry.write(), None);
        put(out, SKIN.0, self.body.skin.write(), None);
        let bare = SoftBody { geometry: nothing(), skin: None, ..self.body.clone() };
        described::write_fields(&bare, &MESHES, out);
        put(out, REPEAT.0, self.repeat.write(), None);
    }

    fn describe(out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
        tell(out, schemas, GEOMETRY, &ANY, Err(&nothing()));
        tell(out, schemas, MATERIAL, &ANY, Ok(&None::<ElasticMaterial>));
        tell(out, schemas, SKIN, &ANY, Ok(&None::<Skin>));
        described::describe::<SoftBody>(&MESHES, out, schemas);
        tell(out, schemas, REPEAT, &ANY, Ok(&None::<Repeat>));
    }
}

described::described!(Skin);

impl SoftSpec {
    /// The engine's body; its name is that of the table unless it has one.
    pub fn build(self, name: &str) -> SoftBody {
        SoftBody { name: or_name(self.body.name, name), ..self.body }
    }

    /// Its rest shape.
    pub fn geometry(&self) -> &Geometry {
        &self.body.geometry
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
            Body::Particles(p) => BodySpec::Particles(Particles { name: or_name(p.name.clone(), name), ..*p }),
            Body::Soft(s) => BodySpec::Soft(Box::new(s.build(name))),
        }
    }

    /// The form of a body of the engine.
    pub fn of(spec: BodySpec) -> Self {
        match spec {
            BodySpec::Rigid(body) => {
                let motion = body.motion;
                let spec = Box::new(RigidSpec { body, repeat: None });
                match motion {
                    Motion::Dynamic => Body::Dynamic(spec),
                    Motion::Kinematic => Body::Kinematic(spec),
                    Motion::Fixed => Body::Fixed(spec),
                }
            }
            BodySpec::Particles(particles) => Body::Particles(Box::new(particles)),
            BodySpec::Soft(body) => Body::Soft(Box::new(SoftSpec { body: *body, repeat: None })),
        }
    }
}
