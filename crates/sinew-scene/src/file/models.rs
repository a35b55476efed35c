//! Models of soft bodies. Numbers of the matter (modulus, ratio, density, damping) are those of the body's `material` unless
//! the model has its own.

use super::described;
use super::form::{FieldInfo, Fields, Form, Reader, Record, Rule};
use super::schema::Schemas;
use super::tree::{Entry, Node, Value};
use sinew::fem::{MembraneParams, Params as CorotationalParams, PlaneStress, SolidParams};
use sinew::meshless::Params as MlsParams;
use sinew::spec::Spec;
use sinew::spring::{Mass, Params as SpringParams, Stiffness};
use sinew::{ElasticMaterial, SoftModel, Vec3, oriented, pbd, shape_matching};

/// A model, its numbers from the material of the body. A user's own model has no form in a file.
impl Form for SoftModel {
    fn read(node: &Node, _: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let bases = reader.matter.map_or(Vec::new(), models);
        described::read_from(node, &bases, reader)
    }

    fn write(&self) -> Value {
        if let SoftModel::Custom(_) = self { Value::Nothing } else { described::write(self) }
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        described::plain_schema(&Self::kind(rule), schemas)
    }

    fn wants(_: &Rule) -> String {
        super::form::article("model")
    }
}

/// The models whose numbers a material determines.
fn models(matter: ElasticMaterial) -> Vec<SoftModel> {
    let CorotationalParams { youngs_modulus, poisson_ratio, density, damping } = corotational(Some(matter));
    let block = pbd::Structure::Solid(pbd::Solid { youngs_modulus, poisson_ratio, density });
    let mls = MlsParams { youngs_modulus, poisson_ratio, density, damping, ..MlsParams::default() };
    let ellipsoid = oriented::Ellipsoid { radii: Vec3::splat(0.01), density };
    vec![
        SoftModel::Corotational(corotational(Some(matter))),
        SoftModel::Solid(solid(Some(matter))),
        SoftModel::Membrane(membrane(matter)),
        SoftModel::Springs(springs(Some(matter))),
        SoftModel::Pbd(block, pbd::Params::default()),
        SoftModel::ShapeMatching(density, shape_matching::Clusters::One, shape_matching::Params::default()),
        SoftModel::Meshless(mls, 0.0),
        SoftModel::Oriented(ellipsoid, oriented::Groups::Neighbours, oriented::Params::default()),
    ]
}

/// The fast model of some matter; without, the numbers of `SolidParams`.
pub(crate) fn corotational(matter: Option<ElasticMaterial>) -> CorotationalParams {
    let SolidParams { youngs_modulus, poisson_ratio, density, stiffness_damping: damping, .. } = solid(matter);
    CorotationalParams { youngs_modulus, poisson_ratio, density, damping }
}

fn solid(matter: Option<ElasticMaterial>) -> SolidParams {
    let plain = SolidParams::default();
    let Some(ElasticMaterial { youngs_modulus, poisson_ratio, density, damping, .. }) = matter else { return plain };
    SolidParams { youngs_modulus, poisson_ratio, density, stiffness_damping: damping, ..plain }
}

fn membrane(matter: ElasticMaterial) -> MembraneParams {
    let ElasticMaterial { youngs_modulus, poisson_ratio, density, damping, .. } = matter;
    let material = PlaneStress::Isotropic { youngs_modulus, poisson_ratio };
    MembraneParams { material, density, stiffness_damping: damping, ..MembraneParams::default() }
}

fn springs(matter: Option<ElasticMaterial>) -> SpringParams {
    let plain = SpringParams::default();
    let Some(matter) = matter else { return plain };
    SpringParams { stiffness: Stiffness::Young(matter.youngs_modulus), mass: Mass::Density(matter.density), ..plain }
}

/// Numbers of a model as a record, for tissue.
macro_rules! params {
    ($($type:ty: $name:literal, $about:literal, $base:expr;)*) => {
        $(impl Record for $type {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;

            fn read_fields(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
                let base = $base(fields.reader.matter);
                described::read_fields(&base, &[], fields)
            }

            fn write_fields(&self, out: &mut Vec<Entry>) {
                described::write_fields(self, &[], out);
            }

            fn describe(out: &mut Vec<FieldInfo>, schemas: &mut Schemas) {
                described::describe::<Self>(&[], out, schemas);
            }
        })*
    };
}

params! {
    CorotationalParams: "corotational model", "Corotational linear tetrahedra.", corotational;
    SolidParams: "solid model", "Finite elements.", solid;
    SpringParams: "spring model", "Masses and springs.", springs;
}

described::described!(shape_matching::Plasticity);
