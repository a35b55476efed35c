//! Models of soft bodies and their parameters.

use serde::{Deserialize, Serialize};
use sinew::fem::Params as CorotationalParams;
use sinew::fem::{Elements, Integrator, Law, MembraneParams, PlaneStress, Plasticity, SolidParams};
use sinew::meshless::{Params as MeshlessParams, Scheme};
use sinew::oriented::{Ellipsoid, Groups as OrientedGroups, Params as OrientedParams};
use sinew::pbd::{Cord, Damping, Params as PbdParams, Sheet, Solid, Structure};
use sinew::shape_matching::{Clusters, Group, Mode, Params as MatchingParams, Plasticity as MatchingPlasticity};
use sinew::spring::{
    Dashpot, Element, Integrator as SpringIntegrator, Mass, Params as SpringParams, Stiffness, VolumeForce,
};
use sinew::{CustomModel, Real, SoftModel};

mirror! {
    CorotationalForm of CorotationalParams {
        youngs_modulus: Real,
        poisson_ratio: Real,
        density: Real,
        damping: Real,
    }
}

mirror_enum! { LawForm of Law { Linear, Corotational, StVenantKirchhoff, NeoHookean, LogNeoHookean } }
mirror_enum! { ElementsForm of Elements { Tet4, Tet4Averaged, Tet10, Tet10Averaged } }
mirror_enum! { IntegratorForm of Integrator { Implicit, Explicit } }
mirror! { PlasticityForm of Plasticity { yield_stress: Real, creep: Real, max_strain: Real } }

/// [`SolidParams`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SolidForm {
    youngs_modulus: Real,
    poisson_ratio: Real,
    density: Real,
    mass_damping: Real,
    stiffness_damping: Real,
    law: LawForm,
    elements: ElementsForm,
    integrator: IntegratorForm,
    plasticity: Option<PlasticityForm>,
}

impl From<SolidParams> for SolidForm {
    fn from(p: SolidParams) -> Self {
        let SolidParams { youngs_modulus, poisson_ratio, density, mass_damping, stiffness_damping, .. } = p;
        let SolidParams { law, elements, integrator, plasticity, .. } = p;
        let (law, elements, integrator) = (law.into(), elements.into(), integrator.into());
        let plasticity = plasticity.map(Into::into);
        Self {
            youngs_modulus,
            poisson_ratio,
            density,
            mass_damping,
            stiffness_damping,
            law,
            elements,
            integrator,
            plasticity,
        }
    }
}

impl From<SolidForm> for SolidParams {
    fn from(p: SolidForm) -> Self {
        Self {
            youngs_modulus: p.youngs_modulus,
            poisson_ratio: p.poisson_ratio,
            density: p.density,
            mass_damping: p.mass_damping,
            stiffness_damping: p.stiffness_damping,
            law: p.law.into(),
            elements: p.elements.into(),
            integrator: p.integrator.into(),
            plasticity: p.plasticity.map(Into::into),
        }
    }
}

mirror_enum! {
    PlaneStressForm of PlaneStress {
        Isotropic { youngs_modulus: Real, poisson_ratio: Real },
        Orthotropic { youngs_x: Real, youngs_y: Real, poisson_xy: Real, shear: Real },
    }
}

mirror! {
    MembraneForm of MembraneParams {
        material: PlaneStressForm,
        grain: [Real; 3],
        thickness: Real,
        density: Real,
        mass_damping: Real,
        stiffness_damping: Real,
        integrator: IntegratorForm,
    }
}

mirror_enum! { StiffnessForm of Stiffness { Uniform(k: Real), PerSpring(k: Vec<Real>), Young(modulus: Real) } }
mirror_enum! { ElementForm of Element { Voigt, Maxwell, Kelvin { arm: Real } } }
mirror_enum! { DashpotForm of Dashpot { None, Coefficient(c: Real), Ratio(ratio: Real), Time(time: Real) } }
mirror_enum! {
    VolumeForceForm of VolumeForce {
        None,
        Radial { stiffness: Real },
        Gradient { stiffness: Real },
        Bulk { modulus: Real },
    }
}
mirror_enum! { MassForm of Mass { Density(density: Real), Total(mass: Real), PerNode(masses: Vec<Real>) } }
mirror_enum! { SpringIntegratorForm of SpringIntegrator { SymplecticEuler, Verlet, Implicit } }

mirror! {
    SpringForm of SpringParams {
        stiffness: StiffnessForm,
        element: ElementForm,
        dashpot: DashpotForm,
        volume: VolumeForceForm,
        mass: MassForm,
        thickness: Real,
        cross_section: Real,
        bending: Real,
        integrator: SpringIntegratorForm,
    }
}

mirror_enum! { DampingForm of Damping { Internal { rate: Real }, Printed { gamma: Real } } }
mirror! { PbdForm of PbdParams { iterations: u32, damping: DampingForm, row_damping: Real, limit_sweeps: u32 } }
mirror! { PbdSolidForm of Solid { youngs_modulus: Real, poisson_ratio: Real, density: Real } }
mirror! {
    PbdSheetForm of Sheet {
        stretch: Real,
        bend: Real,
        density: Real,
        compression: Real,
        skip_stiffness: Real,
        stretch_limit: Real,
    }
}
mirror! { PbdCordForm of Cord { stretch: Real, bend: Real, density: Real, compression: Real } }
mirror_enum! {
    PbdMatterForm of Structure { Solid(m: PbdSolidForm), Sheet(m: PbdSheetForm), Cord(m: PbdCordForm) }
}

mirror_enum! { ModeForm of Mode { Rigid, Linear { beta: Real }, Quadratic { beta: Real } } }
mirror! { MatchingPlasticityForm of MatchingPlasticity { yield_strain: Real, creep: Real, max_strain: Real } }

/// [`Clusters`]; a group as its nodes and weight.
#[derive(Serialize, Deserialize)]
pub(crate) enum ClustersForm {
    One,
    Blocks { size: Real, overlap: Real },
    Regions { width: u32, spacing: u32 },
    Given(Vec<(Vec<u32>, Real)>),
}

impl From<Clusters> for ClustersForm {
    fn from(clusters: Clusters) -> Self {
        match clusters {
            Clusters::One => Self::One,
            Clusters::Blocks { size, overlap } => Self::Blocks { size, overlap },
            Clusters::Regions { width, spacing } => Self::Regions { width, spacing },
            Clusters::Given(groups) => {
                Self::Given(groups.into_iter().map(|Group { nodes, weight }| (nodes, weight)).collect())
            }
        }
    }
}

impl From<ClustersForm> for Clusters {
    fn from(form: ClustersForm) -> Self {
        match form {
            ClustersForm::One => Self::One,
            ClustersForm::Blocks { size, overlap } => Self::Blocks { size, overlap },
            ClustersForm::Regions { width, spacing } => Self::Regions { width, spacing },
            ClustersForm::Given(groups) => {
                Self::Given(groups.into_iter().map(|(nodes, weight)| Group { nodes, weight }).collect())
            }
        }
    }
}

/// [`MatchingParams`].
#[derive(Serialize, Deserialize)]
pub(crate) struct MatchingForm {
    frequency: Real,
    mode: ModeForm,
    iterations: u32,
    damping: DampingForm,
    plasticity: Option<MatchingPlasticityForm>,
}

impl From<MatchingParams> for MatchingForm {
    fn from(p: MatchingParams) -> Self {
        let MatchingParams { frequency, mode, iterations, damping, plasticity } = p;
        Self {
            frequency,
            mode: mode.into(),
            iterations,
            damping: damping.into(),
            plasticity: plasticity.map(Into::into),
        }
    }
}

impl From<MatchingForm> for MatchingParams {
    fn from(form: MatchingForm) -> Self {
        let MatchingForm { frequency, mode, iterations, damping, plasticity } = form;
        Self {
            frequency,
            mode: mode.into(),
            iterations,
            damping: damping.into(),
            plasticity: plasticity.map(Into::into),
        }
    }
}

mirror! { GrainForm of Ellipsoid { radii: [Real; 3], density: Real } }

/// [`OrientedGroups`]; a group as its particles and weight.
#[derive(Serialize, Deserialize)]
pub(crate) enum OrientedGroupsForm {
    Neighbours,
    Links,
    Explicit(Vec<(Vec<u32>, Real)>),
}

impl From<OrientedGroups> for OrientedGroupsForm {
    fn from(groups: OrientedGroups) -> Self {
        match groups {
            OrientedGroups::Neighbours => Self::Neighbours,
            OrientedGroups::Links => Self::Links,
            OrientedGroups::Explicit(groups) => {
                Self::Explicit(groups.into_iter().map(|Group { nodes, weight }| (nodes, weight)).collect())
            }
        }
    }
}

impl From<OrientedGroupsForm> for OrientedGroups {
    fn from(form: OrientedGroupsForm) -> Self {
        match form {
            OrientedGroupsForm::Neighbours => Self::Neighbours,
            OrientedGroupsForm::Links => Self::Links,
            OrientedGroupsForm::Explicit(groups) => {
                Self::Explicit(groups.into_iter().map(|(nodes, weight)| Group { nodes, weight }).collect())
            }
        }
    }
}

/// [`OrientedParams`].
#[derive(Serialize, Deserialize)]
pub(crate) struct OrientedForm {
    frequency: Real,
    iterations: u32,
    damping: Real,
    plasticity: Option<MatchingPlasticityForm>,
    implicit: bool,
}

impl From<OrientedParams> for OrientedForm {
    fn from(p: OrientedParams) -> Self {
        let OrientedParams { frequency, iterations, damping, plasticity, implicit } = p;
        Self { frequency, iterations, damping, plasticity: plasticity.map(Into::into), implicit }
    }
}

impl From<OrientedForm> for OrientedParams {
    fn from(form: OrientedForm) -> Self {
        let OrientedForm { frequency, iterations, damping, plasticity, implicit } = form;
        Self { frequency, iterations, damping, plasticity: plasticity.map(Into::into), implicit }
    }
}

mirror_enum! { SchemeForm of Scheme { Explicit, Implicit } }
mirror! {
    MeshlessForm of MeshlessParams {
        youngs_modulus: Real,
        poisson_ratio: Real,
        density: Real,
        damping: Real,
        support: Real,
        stabilization: Real,
        volume_stiffness: Real,
        scheme: SchemeForm,
    }
}

/// [`CustomModel`] without its constructor.
#[derive(Serialize, Deserialize)]
pub(crate) struct CustomForm {
    name: String,
    params: Vec<u8>,
}

impl From<CustomModel> for CustomForm {
    fn from(model: CustomModel) -> Self {
        Self { name: model.name().to_owned(), params: model.params().to_vec() }
    }
}

impl From<CustomForm> for CustomModel {
    fn from(form: CustomForm) -> Self {
        Self::unbound(form.name, form.params)
    }
}

mirror_enum! {
    SoftModelForm of SoftModel {
        Corotational(params: CorotationalForm),
        Solid(params: SolidForm),
        Membrane(params: MembraneForm),
        Springs(params: SpringForm),
        Pbd(matter: PbdMatterForm, params: PbdForm),
        ShapeMatching(density: Real, clusters: ClustersForm, params: MatchingForm),
        Meshless(params: MeshlessForm, volume: Real),
        Oriented(grain: GrainForm, groups: OrientedGroupsForm, params: OrientedForm),
        Custom(model: CustomForm),
    }
}
