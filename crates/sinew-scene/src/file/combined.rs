//! Combined bodies: bones in tissue (`docs/combined.md`). Bones and tissue are bodies like others once they are made:
//! joints, motions and readings name them `NAME BONE` and `NAME tissue K`.

use super::body::{RigidSpec, SoftSpec};
use super::document::{Placed, read_entries};
use super::form::{ANY, FINITE, FieldInfo, Fields, Form, NOT_NEGATIVE, POSITIVE, Reader, Record, Rule};
use super::form::{from_to, kinds, put, record, tell};
use super::models::corotational;
use super::schema::Schemas;
use super::tree::{Entry, Node, Value};
use sinew::fem::{Params as CorotationalParams, SolidParams};
use sinew::oriented;
use sinew::shape_matching::Plasticity;
use sinew::spring::Params as SpringParams;
use sinew::{Combined, ElasticMaterial, Motion, Real, SoftModel, SurfaceMaterial, Tissue, TissueModel, Vec3};

/// Cells across a layer.
const CELLS: Rule = from_to(1.0, 100.0);
/// Particles of a group.
const GROUP_SIZE: Rule = from_to(1.0, 100.0);

/// The model of a layer in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum TissueModelSpec {
    Corotational(CorotationalParams),
    Solid(SolidParams),
    Springs(SpringParams),
    Oriented(Balls),
}

kinds!(TissueModelSpec, "tissue model", "What holds a layer of tissue together.", {
    "corotational" => Corotational(CorotationalParams), "Corotational linear tetrahedra, implicit: the most robust model.";
    "solid" => Solid(SolidParams), "Finite elements of any law, with four or ten nodes.";
    "springs" => Springs(SpringParams), "Masses and springs.";
    "oriented" => Oriented(Balls), "Balls of oriented particles, in groups of a sheet and those above and below.";
});

/// Balls of oriented particles.
#[derive(Clone, Debug)]
pub(crate) struct Balls {
    density: Real,
    group_size: u32,
    frequency: Real,
    iterations: u32,
    damping: Real,
    plasticity: Option<Plasticity>,
    implicit: bool,
}

record!(Balls, "oriented tissue", "Balls of oriented particles; their size follows from spacing and thickness.",
    base |matter| {
        let oriented::Params { frequency, iterations, damping, plasticity, implicit } = oriented::Params::default();
        let (density, group_size) = (corotational(matter).density, 5);
        Balls { density, group_size, frequency, iterations, damping, plasticity, implicit }
    },
    {
        density: POSITIVE, "Mass of the tissue by its volume [kg/m³].";
        group_size: GROUP_SIZE, "Particles of a sheet in a group, the middle one among them.";
        frequency: POSITIVE, "Frequency at which a free group vibrates about its shape [Hz].";
        iterations: from_to(1.0, 10_000.0), "Passes a substep.";
        damping: NOT_NEGATIVE, "Rate at which motion and spin that are not rigid decay [1/s].";
        plasticity: ANY, "Lasting deformation, if any.";
        implicit: ANY, "One system with bones and all that touches: for tissue that has to hold something.";
    }
);

impl From<TissueModelSpec> for TissueModel {
    fn from(spec: TissueModelSpec) -> Self {
        match spec {
            TissueModelSpec::Corotational(params) => Self::Solid(SoftModel::Corotational(params)),
            TissueModelSpec::Solid(params) => Self::Solid(SoftModel::Solid(params)),
            TissueModelSpec::Springs(params) => Self::Solid(SoftModel::Springs(params)),
            TissueModelSpec::Oriented(balls) => {
                let Balls { density, group_size, frequency, iterations, damping, plasticity, implicit } = balls;
                let params = oriented::Params { frequency, iterations, damping, plasticity, implicit };
                Self::Oriented { density, group_size, params }
            }
        }
    }
}

/// A layer of tissue.
#[derive(Clone, Debug)]
pub(crate) struct TissueSpec {
    spacing: Real,
    thickness: Real,
    cells: u32,
    facing: Option<Vec3>,
    material: Option<ElasticMaterial>,
    model: Option<TissueModelSpec>,
    surface: Option<SurfaceMaterial>,
}

record!(TissueSpec, "tissue", "A layer of tissue on a bone.",
    base |_| TissueSpec {
        spacing: 0.01, thickness: 0.01, cells: 1, facing: None, material: None, model: None, surface: None
    },
    needs {
        spacing: POSITIVE, "Distance of neighbouring points on the bone [m].";
        thickness: POSITIVE, "From the bone to the surface [m].";
    },
    {
        cells: CELLS, "Cells across the thickness.";
        facing: FINITE, "A pad instead of a coat: only on faces within 60 degrees of this direction, in body axes.";
        material: ANY, "Its material: the defaults of model and surface.";
        model: ANY, "Its deformable model; without: corotational finite elements of the material.";
        surface: ANY, "Friction and restitution; without: the friction of the material.";
    }
);

impl TissueSpec {
    fn build(self) -> Tissue {
        let usual = TissueModelSpec::Corotational(corotational(self.material));
        Tissue {
            model: self.model.unwrap_or(usual).into(),
            spacing: self.spacing,
            thickness: self.thickness,
            cells: self.cells,
            facing: self.facing,
            material: self.surface.or(self.material.map(|m| m.surface())).unwrap_or_default(),
        }
    }
}

/// A rigid body that may have tissue on it.
#[derive(Clone, Debug)]
pub(crate) struct Clad {
    rigid: RigidSpec,
    tissue: Option<TissueSpec>,
}

impl Record for Clad {
    const NAME: &'static str = "bone";
    const ABOUT: &'static str = "A bone: a rigid body, bare or with a layer of tissue.";

    fn read_fields(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        // tissue of this bone, not of the one before
        fields.reader.matter = None;
        let tissue = fields.optional("tissue", &ANY);
        let rigid = RigidSpec::read_fields(fields)?;
        if rigid.repeat.is_some() {
            fields.problem("repeat", "bones have no copies: each has a table");
        }
        Some(Self { rigid, tissue })
    }

    fn write_fields(&self, out: &mut Vec<Entry>) {
        self.rigid.write_fields(out);
        put(out, "tissue", self.tissue.write(), None);
    }

    fn describe(out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
        RigidSpec::describe(out, schemas);
        out.retain(|field| field.name != "repeat");
        let none: Option<TissueSpec> = None;
        tell(out, schemas, ("tissue", "A layer of tissue on it; without: bare."), &ANY, Ok(&none));
    }
}

/// A bone in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum Bone {
    Dynamic(Box<Clad>),
    Kinematic(Box<Clad>),
    Fixed(Box<Clad>),
}

kinds!(Bone, "bone", "A bone: a rigid body, bare or with a layer of tissue.", {
    "dynamic" => Dynamic(Box<Clad>), "A bone that forces move.";
    "kinematic" => Kinematic(Box<Clad>), "A bone with prescribed motion.";
    "fixed" => Fixed(Box<Clad>), "A bone that stays.";
});

/// Tissue with a mesh of its own.
#[derive(Clone, Debug)]
pub(crate) struct Flesh {
    soft: SoftSpec,
    reach: Real,
}

impl Record for Flesh {
    const NAME: &'static str = "flesh";
    const ABOUT: &'static str = "A soft body around the bones: nodes in a bone or near it are anchored to it.";

    fn read_fields(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        fields.reader.matter = None;
        let reach = fields.given("reach", &NOT_NEGATIVE, None);
        let soft = SoftSpec::read_fields(fields)?;
        if soft.repeat.is_some() {
            fields.problem("repeat", "flesh has no copies: each has a table");
        }
        Some(Self { soft, reach: reach? })
    }

    fn write_fields(&self, out: &mut Vec<Entry>) {
        put(out, "reach", self.reach.write(), None);
        self.soft.write_fields(out);
    }

    fn describe(out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
        let about = "Nodes inside a bone or at most this far from it are anchored to the nearest [m].";
        tell(out, schemas, ("reach", about), &NOT_NEGATIVE, Err(&Real::default()));
        SoftSpec::describe(out, schemas);
        out.retain(|field| field.name != "repeat");
    }
}

super::form::record_form!(Flesh);

/// Entries by name, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Table<T>(pub Vec<Placed<T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Form> Form for Table<T> {
    fn read(node: &Node, _: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Table(entries) = &node.value else { return reader.unexpected(node, "a table of names") };
        Some(Self(read_entries(entries, reader)))
    }

    fn write(&self) -> Value {
        Value::Table(self.0.iter().map(|p| Entry::new(p.name.clone(), p.item.write())).collect())
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        let each = T::schema(rule, schemas);
        Value::table([("type", Value::text("object")), ("additionalProperties", each)])
    }

    fn wants(_: &Rule) -> String {
        "a table of names".to_owned()
    }
}

/// A combined body in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) struct CombinedSpec {
    bones: Table<Bone>,
    flesh: Table<Flesh>,
    group: u32,
}

record!(CombinedSpec, "combined body", "Bones in tissue.",
    base |_| CombinedSpec { bones: Table::default(), flesh: Table::default(), group: 31 },
    needs { bones: ANY, "Its bones by name; joints and motions know them as 'NAME BONE'."; },
    {
        flesh: ANY, "Tissue with a mesh of its own, by name.";
        group: from_to(0.0, 31.0), "Collision group that it has for itself: bodies that shall touch need different ones.";
    }
);

impl CombinedSpec {
    /// The engine's builder, and the names of the bones.
    pub fn build(self, name: &str) -> (Combined, Vec<String>) {
        let mut combined = Combined::new(name).group(self.group);
        let mut names = Vec::new();
        for Placed { name: key, item, .. } in self.bones.0 {
            let (motion, clad) = match item {
                Bone::Dynamic(clad) => (Motion::Dynamic, clad),
                Bone::Kinematic(clad) => (Motion::Kinematic, clad),
                Bone::Fixed(clad) => (Motion::Fixed, clad),
            };
            let known = format!("{name} {key}");
            let bone = clad.rigid.build(motion, &known);
            names.push(known);
            combined = match clad.tissue {
                Some(tissue) => combined.covered(bone, tissue.build()),
                None => combined.bone(bone),
            };
        }
        for Placed { name: key, item, .. } in self.flesh.0 {
            combined = combined.flesh(item.soft.build(&format!("{name} {key}")), item.reach);
        }
        (combined, names)
    }

    /// Geometries of the flesh, for counting nodes before they are made.
    pub fn geometries(&self) -> impl Iterator<Item = &sinew::Geometry> {
        self.flesh.0.iter().map(|p| p.item.soft.geometry())
    }
}
