//! Models of soft bodies with their parameters. Numbers of the matter (modulus, ratio, density, damping) are those of the
//! body's `material` unless the model has its own.

use super::form::{ANY, FINITE, NOT_NEGATIVE, POISSON, POSITIVE, Rule, SHARE, choice, from_to, kinds, record, words};
use sinew::fem::{
    Elements, Integrator, Law, MembraneParams, Params as CorotationalParams, PlaneStress, Plasticity, SolidParams,
};
use sinew::meshless::{Params as MlsParams, Scheme};
use sinew::oriented::{self, Groups as OrientedGroups};
use sinew::shape_matching::{Clusters, Damping, Group, Mode, Plasticity as MatchingPlasticity};
use sinew::spring::{
    Dashpot, Element, Integrator as SpringIntegrator, Mass, Params as SpringParams, Stiffness, VolumeForce,
};
use sinew::{ElasticMaterial, Real, SoftModel, Vec3, pbd, shape_matching};

const ITERATIONS: Rule = from_to(1.0, 10_000.0);
/// Softness of shape matching: 0 is rigid, 1 would be no shape at all.
const BETA: Rule = SHARE.below();

/// A model in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum ModelSpec {
    Corotational(CorotationalParams),
    Solid(SolidParams),
    Membrane(MembraneParams),
    Springs(SpringParams),
    PbdSolid(PbdSolid),
    PbdSheet(PbdSheet),
    PbdCord(PbdCord),
    ShapeMatching(Matching),
    Meshless(Meshless),
    Oriented(OrientedBody),
}

kinds!(ModelSpec, "model", "What holds a soft body together.", {
    "corotational" => Corotational(CorotationalParams), "Corotational linear tetrahedra, implicit: the fast one.";
    "solid" => Solid(SolidParams), "Finite elements of any law, with four or ten nodes.";
    "membrane" => Membrane(MembraneParams), "Plane-stress triangles.";
    "springs" => Springs(SpringParams), "Masses and springs, of tetrahedra, sheets and ropes.";
    "pbd_solid" => PbdSolid(PbdSolid), "Position based dynamics of tetrahedra.";
    "pbd_sheet" => PbdSheet(PbdSheet), "Position based dynamics of a sheet.";
    "pbd_cord" => PbdCord(PbdCord), "Position based dynamics of a rope.";
    "shape_matching" => ShapeMatching(Matching), "Shape matching of tetrahedra or sheets.";
    "meshless" => Meshless(Meshless), "Moving least squares, of tetrahedra's corners or bare points.";
    "oriented" => Oriented(OrientedBody), "Oriented particles: ellipsoids that turn, on any geometry.";
});

record!(CorotationalParams, "corotational model", "Corotational linear tetrahedra.", base corotational, {
    youngs_modulus: POSITIVE, "Young's modulus [Pa].";
    poisson_ratio: POISSON, "Poisson's ratio.";
    density: POSITIVE, "Density [kg/m³].";
    damping: NOT_NEGATIVE, "Stiffness-proportional damping [s].";
});

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

record!(SolidParams, "solid model", "Finite elements.", base solid, {
    youngs_modulus: POSITIVE, "Young's modulus [Pa].";
    poisson_ratio: POISSON, "Poisson's ratio. From 0.45 on choose averaged elements.";
    density: POSITIVE, "Density [kg/m³].";
    mass_damping: NOT_NEGATIVE, "Mass-proportional damping [1/s]: slows all motion.";
    stiffness_damping: NOT_NEGATIVE, "Stiffness-proportional damping [s]: slows deformation only.";
    law: ANY, "Constitutive law.";
    elements: ANY, "Which element.";
    integrator: ANY, "Time integration.";
    plasticity: ANY, "Yield and creep; without: elastic.";
});

words!(Law, {
    "linear" => Linear, "Hooke's law of the displacement as it is: small strain and small turns only.";
    "corotational" => Corotational, "Hooke's law in the turned frame: any turn, small strain.";
    "st_venant_kirchhoff" => StVenantKirchhoff, "Hooke's law of Green's strain: moderate stretch; weak in compression.";
    "neo_hookean" => NeoHookean, "Stable neo-Hookean: any strain, inversion included.";
    "log_neo_hookean" => LogNeoHookean, "Textbook neo-Hookean with ln J: any strain without inversion.";
});

words!(Elements, {
    "tet4" => Tet4, "Four nodes: cheap, and too stiff in bending and near incompressibility.";
    "tet4_averaged" => Tet4Averaged, "Four nodes, dilatation averaged: for Poisson ratios near one half.";
    "tet10" => Tet10, "Ten nodes: right in bending on coarse meshes.";
    "tet10_averaged" => Tet10Averaged, "Ten nodes with the dilatation averaged.";
});

words!(Integrator, {
    "implicit" => Implicit, "Linearly implicit Euler: any step.";
    "explicit" => Explicit, "Symplectic Euler: keeps energy, needs small steps.";
});

record!(Plasticity, "plasticity", "Yield and creep.",
    base |_| Plasticity { yield_stress: 1.0, creep: Real::INFINITY, max_strain: Real::INFINITY },
    needs { yield_stress: POSITIVE, "Von Mises stress at which flow begins [Pa]."; },
    {
        creep: POSITIVE.or_infinite(), "Rate at which stress above yield relaxes [1/s]; inf: at once.";
        max_strain: POSITIVE.or_infinite(), "Equivalent plastic strain at which flow ends; inf: never.";
    }
);

record!(MembraneParams, "membrane model", "Plane-stress triangles.", base membrane, {
    material: ANY, "Elastic constants.";
    grain: FINITE, "Direction of the grain at rest.";
    thickness: POSITIVE, "Thickness [m].";
    density: POSITIVE, "Density [kg/m³].";
    mass_damping: NOT_NEGATIVE, "Mass-proportional damping [1/s].";
    stiffness_damping: NOT_NEGATIVE, "Stiffness-proportional damping [s].";
    integrator: ANY, "Time integration.";
});

fn membrane(matter: Option<ElasticMaterial>) -> MembraneParams {
    let plain = MembraneParams::default();
    let Some(ElasticMaterial { youngs_modulus, poisson_ratio, density, damping, .. }) = matter else { return plain };
    let material = PlaneStress::Isotropic { youngs_modulus, poisson_ratio };
    MembraneParams { material, density, stiffness_damping: damping, ..plain }
}

choice!(PlaneStress, "plane stress", "Elastic constants of a sheet.", {
    "isotropic" => Isotropic, "The same along all directions.", {
        youngs_modulus youngs_modulus: Real, POSITIVE, "Young's modulus [Pa].";
        poisson_ratio poisson_ratio: Real, from_to(-1.0, 0.5), "Poisson's ratio.";
    };
    "orthotropic" => Orthotropic, "Other along the grain x than across it, y.", {
        youngs_x youngs_x: Real, POSITIVE, "Young's modulus along the grain [Pa].";
        youngs_y youngs_y: Real, POSITIVE, "Young's modulus across the grain [Pa].";
        poisson_xy poisson_xy: Real, FINITE, "Contraction along y under a pull along x.";
        shear shear: Real, POSITIVE, "Shear modulus [Pa].";
    };
});

record!(SpringParams, "spring model", "Masses and springs.", base springs, {
    stiffness: ANY, "Stiffness of the springs.";
    element: ANY, "Arrangement of spring and dashpot.";
    dashpot: ANY, "Strength of the dashpots.";
    volume: ANY, "Volume preservation, for bodies of tetrahedra.";
    mass: ANY, "Mass.";
    thickness: POSITIVE, "Thickness of a sheet [m].";
    cross_section: POSITIVE, "Cross-section of a rope [m²].";
    bending: NOT_NEGATIVE, "Stiffness of springs between second neighbours, as a share; 0: none.";
    integrator: ANY, "Time integration.";
});

fn springs(matter: Option<ElasticMaterial>) -> SpringParams {
    let plain = SpringParams::default();
    let Some(matter) = matter else { return plain };
    SpringParams { stiffness: Stiffness::Young(matter.youngs_modulus), mass: Mass::Density(matter.density), ..plain }
}

choice!(Stiffness, "spring stiffness", "How stiff the springs are.", {
    "uniform" => Uniform, "The same for every spring.", { 0 value: Real, POSITIVE, "Stiffness [N/m]."; };
    "per_spring" => PerSpring, "One number a spring.", { 0 values: Vec<Real>, POSITIVE, "Stiffness [N/m] each."; };
    "young" => Young, "From Young's modulus and the volume around each spring.", {
        0 modulus: Real, POSITIVE, "Young's modulus [Pa].";
    };
});

choice!(Element, "spring element", "Arrangement of spring and dashpot.", {
    "voigt" => Voigt, "Spring beside dashpot: creeps.", {};
    "maxwell" => Maxwell, "Spring behind dashpot: flows.", {};
    "kelvin" => Kelvin, "Standard linear solid: stiff at first, softer in the long run.", {
        arm arm: Real, POSITIVE, "Stiffness of the arm as a share of the spring's.";
    };
});

choice!(Dashpot, "dashpot", "How strong the dashpots are.", {
    "none" => None, "Springs only.", {};
    "coefficient" => Coefficient, "The same for every spring.", { 0 value: Real, NOT_NEGATIVE, "Coefficient [N·s/m]."; };
    "ratio" => Ratio, "Damping ratio of each spring alone.", { 0 value: Real, NOT_NEGATIVE, "Damping ratio."; };
    "time" => Time, "Time of creep or relaxation.", { 0 value: Real, NOT_NEGATIVE, "Time [s]."; };
});

choice!(VolumeForce, "volume force", "What keeps the volume of tetrahedra.", {
    "none" => None, "Nothing.", {};
    "radial" => Radial, "Distances of the corners from the centre.", {
        stiffness stiffness: Real, NOT_NEGATIVE, "Stiffness [N/m].";
    };
    "gradient" => Gradient, "The volume itself, by its gradient.", {
        stiffness stiffness: Real, NOT_NEGATIVE, "Stiffness [N/m⁵].";
    };
    "bulk" => Bulk, "As gradient, but independent of the mesh.", { modulus modulus: Real, NOT_NEGATIVE, "Added bulk modulus [Pa]."; };
});

choice!(Mass, "mass", "Where the mass comes from.", {
    "density" => Density, "Density.", { 0 value: Real, POSITIVE, "Density [kg/m³]."; };
    "total" => Total, "Mass of the whole body.", { 0 value: Real, POSITIVE, "Mass [kg]."; };
    "per_node" => PerNode, "Mass of each node.", { 0 values: Vec<Real>, POSITIVE, "Masses [kg]."; };
});

words!(SpringIntegrator, {
    "symplectic_euler" => SymplecticEuler, "First order, keeps energy.";
    "verlet" => Verlet, "Second order.";
    "implicit" => Implicit, "Linearly implicit Euler: any step; damps by itself.";
});

choice!(Damping, "damping", "Loss of motion that is not rigid.", {
    "internal" => Internal, "Velocities that are not rigid motion decay with a rate.", {
        rate rate: Real, NOT_NEGATIVE, "Rate [1/s].";
    };
    "printed" => Printed, "As printed in ICD eq. 2 and 3; depends on the substep.", { gamma gamma: Real, SHARE, "Factor."; };
});

/// Position based dynamics of tetrahedra: matter and method in one table.
#[derive(Clone, Debug)]
pub(crate) struct PbdSolid {
    youngs_modulus: Real,
    poisson_ratio: Real,
    density: Real,
    iterations: u32,
    damping: Damping,
    row_damping: Real,
}

record!(PbdSolid, "pbd solid model", "Position based dynamics of tetrahedra.", base |matter| {
    let from = corotational(matter);
    let pbd::Params { iterations, damping, row_damping, .. } = pbd::Params::default();
    let CorotationalParams { youngs_modulus, poisson_ratio, density, .. } = from;
    PbdSolid { youngs_modulus, poisson_ratio, density, iterations, damping, row_damping }
}, {
    youngs_modulus: POSITIVE, "Young's modulus [Pa].";
    poisson_ratio: from_to(0.25, 0.5), "Poisson's ratio, from springs alone to incompressible.";
    density: POSITIVE, "Density [kg/m³].";
    iterations: ITERATIONS, "Sweeps a substep.";
    damping: ANY, "Loss of motion that is not rigid.";
    row_damping: NOT_NEGATIVE, "Time constant of a dashpot beside every constraint [s]; 0: none.";
});

/// Position based dynamics of a sheet.
#[derive(Clone, Debug)]
pub(crate) struct PbdSheet {
    stretch: Real,
    bend: Real,
    density: Real,
    compression: Real,
    skip_stiffness: Real,
    stretch_limit: Real,
    limit_sweeps: u32,
    iterations: u32,
    damping: Damping,
    row_damping: Real,
}

record!(PbdSheet, "pbd sheet model", "Position based dynamics of a sheet.", base |_| {
    let pbd::Params { iterations, damping, row_damping, limit_sweeps } = pbd::Params::default();
    let (stretch, bend, density, compression) = (1.0, 0.0, 1.0, 1.0);
    let (skip_stiffness, stretch_limit) = (0.0, Real::INFINITY);
    PbdSheet {
        stretch, bend, density, compression, skip_stiffness, stretch_limit, limit_sweeps, iterations, damping, row_damping,
    }
},
needs {
    stretch: POSITIVE.or_infinite(), "Young's modulus times thickness [N/m]; inf is inextensible.";
    density: POSITIVE, "Mass per area [kg/m²].";
},
{
    bend: NOT_NEGATIVE, "Flexural rigidity [N·m]; 0 does not resist.";
    compression: SHARE, "Stiffness of shortened edges by that of stretched ones, 0 (slack) to 1.";
    skip_stiffness: NOT_NEGATIVE.or_infinite(), "Modulus of rows between second neighbours, which only pull [N/m]; 0: none.";
    stretch_limit: NOT_NEGATIVE.or_infinite(), "Limit of the stretch at the end of a step, as a fraction; inf: none.";
    limit_sweeps: ITERATIONS, "Sweeps that do so.";
    iterations: ITERATIONS, "Sweeps a substep.";
    damping: ANY, "Loss of motion that is not rigid.";
    row_damping: NOT_NEGATIVE, "Time constant of a dashpot beside every constraint [s]; 0: none.";
});

/// Position based dynamics of a rope.
#[derive(Clone, Debug)]
pub(crate) struct PbdCord {
    stretch: Real,
    bend: Real,
    density: Real,
    compression: Real,
    iterations: u32,
    damping: Damping,
    row_damping: Real,
}

record!(PbdCord, "pbd cord model", "Position based dynamics of a rope.", base |_| {
    let pbd::Params { iterations, damping, row_damping, .. } = pbd::Params::default();
    PbdCord { stretch: 1.0, bend: 0.0, density: 1.0, compression: 1.0, iterations, damping, row_damping }
},
needs {
    stretch: POSITIVE.or_infinite(), "Young's modulus times cross section [N]; inf is inextensible.";
    density: POSITIVE, "Mass per length [kg/m].";
},
{
    bend: NOT_NEGATIVE, "Young's modulus times second moment of area [N·m²]; 0 does not resist.";
    compression: SHARE, "Stiffness of shortened edges by that of stretched ones, 0 (slack) to 1.";
    iterations: ITERATIONS, "Sweeps a substep.";
    damping: ANY, "Loss of motion that is not rigid.";
    row_damping: NOT_NEGATIVE, "Time constant of a dashpot beside every constraint [s]; 0: none.";
});

choice!(Mode, "matching mode", "Which deformations are followed.", {
    "rigid" => Rigid, "Turns only.", {};
    "linear" => Linear, "Turns, stretch and shear, volume kept.", { beta beta: Real, BETA, "0 (rigid) to below 1 (soft)."; };
    "quadratic" => Quadratic, "Also bend and twist.", { beta beta: Real, BETA, "0 (rigid) to below 1 (soft)."; };
});

record!(MatchingPlasticity, "matching plasticity", "Lasting deformation.",
    base |_| MatchingPlasticity { yield_strain: 0.0, creep: 0.0, max_strain: 0.0 },
    needs {
        yield_strain: NOT_NEGATIVE, "Strain up to which the body springs back.";
        creep: POSITIVE.or_infinite(), "Rate at which strain above it becomes lasting [1/s].";
        max_strain: NOT_NEGATIVE, "Largest plastic strain, below 1.";
    },
    {}
);

record!(Group, "cluster", "Nodes that keep a shape together.", base |_| Group { nodes: Vec::new(), weight: 1.0 },
    needs { nodes: ANY, "Its nodes."; },
    { weight: POSITIVE, "Its part in the mean of goals."; }
);

choice!(Clusters, "clusters", "Which nodes keep a shape together.", {
    "one" => One, "All nodes in one.", {};
    "blocks" => Blocks, "Cells of a regular grid over the rest shape.", {
        size size: Real, POSITIVE, "Edge of a cell [m].";
        overlap overlap: Real, NOT_NEGATIVE, "Overlap of a cluster beyond its cell [m].";
    };
    "regions" => Regions, "Nodes up to some edges from a seed.", {
        width width: u32, from_to(1.0, 1000.0), "Edges from the seed.";
        spacing spacing: u32, from_to(0.0, 1000.0), "Seeds are more than this many edges apart.";
    };
    "given" => Given, "As given.", { 0 groups: Vec<Group>, ANY, "The clusters."; };
});

/// Shape matching.
#[derive(Clone, Debug)]
pub(crate) struct Matching {
    density: Real,
    clusters: Clusters,
    frequency: Real,
    mode: Mode,
    iterations: u32,
    damping: Damping,
    plasticity: Option<MatchingPlasticity>,
}

record!(Matching, "shape matching model", "Shape matching.", base |matter| {
    let shape_matching::Params { frequency, mode, iterations, damping, plasticity } = shape_matching::Params::default();
    let density = corotational(matter).density;
    Matching { density, clusters: Clusters::One, frequency, mode, iterations, damping, plasticity }
}, {
    density: POSITIVE, "Density [kg/m³, of a sheet kg/m²].";
    clusters: ANY, "Which nodes keep a shape together.";
    frequency: POSITIVE.or_infinite(), "Frequency at which the body vibrates about its shape [Hz].";
    mode: ANY, "Which deformations are followed.";
    iterations: ITERATIONS, "Passes a substep.";
    damping: ANY, "Loss of motion that is not rigid.";
    plasticity: ANY, "Lasting deformation, if any.";
});

choice!(OrientedGroups, "oriented groups", "Which particles keep a shape together.", {
    "neighbours" => Neighbours, "Each particle with all that an edge joins to it.", {};
    "links" => Links, "The two particles of each edge.", {};
    "explicit" => Explicit, "As given.", { 0 groups: Vec<Group>, ANY, "The groups."; };
});

/// Oriented particles.
#[derive(Clone, Debug)]
pub(crate) struct OrientedBody {
    radii: Vec3,
    density: Real,
    group: OrientedGroups,
    frequency: Real,
    iterations: u32,
    damping: Real,
    plasticity: Option<MatchingPlasticity>,
    implicit: bool,
}

record!(OrientedBody, "oriented model", "Oriented particles.", base |matter| {
    let oriented::Params { frequency, iterations, damping, plasticity, implicit } = oriented::Params::default();
    let (radii, density) = (Vec3::splat(0.01), corotational(matter).density);
    let group = OrientedGroups::Neighbours;
    OrientedBody { radii, density, group, frequency, iterations, damping, plasticity, implicit }
}, {
    radii: POSITIVE, "Semi-axes of the ellipsoids [m]: the first along a rope, the last along the normal of a sheet.";
    density: POSITIVE, "Mass by volume of the ellipsoids [kg/m³].";
    group: ANY, "Which particles keep a shape together.";
    frequency: POSITIVE, "Frequency at which a free group vibrates about its shape [Hz].";
    iterations: ITERATIONS, "Passes a substep.";
    damping: NOT_NEGATIVE, "Rate at which motion and spin that are not rigid decay [1/s].";
    plasticity: ANY, "Lasting deformation, if any.";
    implicit: ANY, "One implicit system with all bodies in contact with it or attached to it: for bodies that carry loads.";
});

words!(Scheme, {
    "explicit" => Explicit, "Forces at the start of the substep.";
    "implicit" => Implicit, "Linearly implicit Euler; any substep.";
});

/// Moving least squares.
#[derive(Clone, Debug)]
pub(crate) struct Meshless {
    youngs_modulus: Real,
    poisson_ratio: Real,
    density: Real,
    damping: Real,
    support: Real,
    stabilization: Real,
    volume_stiffness: Real,
    scheme: Scheme,
    volume: Real,
}

record!(Meshless, "meshless model", "Moving least squares.", base |matter| {
    let MlsParams { support, stabilization, volume_stiffness, scheme, .. } = MlsParams::default();
    let CorotationalParams { youngs_modulus, poisson_ratio, density, damping } = corotational(matter);
    Meshless {
        youngs_modulus, poisson_ratio, density, damping, support, stabilization, volume_stiffness, scheme, volume: 0.0,
    }
}, {
    youngs_modulus: POSITIVE, "Young's modulus [Pa].";
    poisson_ratio: POISSON, "Poisson's ratio.";
    density: POSITIVE, "Density [kg/m³].";
    damping: NOT_NEGATIVE, "Stiffness-proportional damping [s].";
    support: from_to(1.2, 6.0), "Radius of the kernel in mean distances to the ten nearest neighbours.";
    stabilization: NOT_NEGATIVE, "Stiffness against zero-energy patterns, in shear moduli.";
    volume_stiffness: NOT_NEGATIVE, "Stiffness against change of volume, beside the material's [Pa].";
    scheme: ANY, "Integration in time.";
    volume: NOT_NEGATIVE, "Volume of bare points [m³]; tetrahedra know theirs.";
});

impl From<ModelSpec> for SoftModel {
    fn from(spec: ModelSpec) -> Self {
        match spec {
            ModelSpec::Corotational(params) => Self::Corotational(params),
            ModelSpec::Solid(params) => Self::Solid(params),
            ModelSpec::Membrane(params) => Self::Membrane(params),
            ModelSpec::Springs(params) => Self::Springs(params),
            ModelSpec::PbdSolid(p) => {
                let PbdSolid { youngs_modulus, poisson_ratio, density, iterations, damping, row_damping } = p;
                let matter = pbd::Structure::Solid(pbd::Solid { youngs_modulus, poisson_ratio, density });
                Self::Pbd(matter, pbd::Params { iterations, damping, row_damping, ..Default::default() })
            }
            ModelSpec::PbdSheet(p) => {
                let PbdSheet { stretch, bend, density, compression, skip_stiffness, stretch_limit, .. } = p;
                let PbdSheet { iterations, damping, row_damping, limit_sweeps, .. } = p;
                let sheet = pbd::Sheet { stretch, bend, density, compression, skip_stiffness, stretch_limit };
                let params = pbd::Params { iterations, damping, row_damping, limit_sweeps };
                Self::Pbd(pbd::Structure::Sheet(sheet), params)
            }
            ModelSpec::PbdCord(p) => {
                let PbdCord { stretch, bend, density, compression, iterations, damping, row_damping } = p;
                let matter = pbd::Structure::Cord(pbd::Cord { stretch, bend, density, compression });
                Self::Pbd(matter, pbd::Params { iterations, damping, row_damping, ..Default::default() })
            }
            ModelSpec::ShapeMatching(p) => {
                let Matching { density, clusters, frequency, mode, iterations, damping, plasticity } = p;
                let params = shape_matching::Params { frequency, mode, iterations, damping, plasticity };
                Self::ShapeMatching(density, clusters, params)
            }
            ModelSpec::Oriented(p) => {
                let OrientedBody { radii, density, group, frequency, iterations, damping, plasticity, implicit } = p;
                let params = oriented::Params { frequency, iterations, damping, plasticity, implicit };
                Self::Oriented(oriented::Ellipsoid { radii, density }, group, params)
            }
            ModelSpec::Meshless(p) => {
                let Meshless { youngs_modulus, poisson_ratio, density, damping, support, .. } = p;
                let Meshless { stabilization, volume_stiffness, scheme, volume, .. } = p;
                let params = MlsParams {
                    youngs_modulus,
                    poisson_ratio,
                    density,
                    damping,
                    support,
                    stabilization,
                    volume_stiffness,
                    scheme,
                };
                Self::Meshless(params, volume)
            }
        }
    }
}

impl ModelSpec {
    /// The model in a scene file; none for a user's own, which has no form there.
    pub(super) fn of(model: SoftModel) -> Option<Self> {
        Some(match model {
            SoftModel::Custom(_) => return None,
            SoftModel::Corotational(params) => Self::Corotational(params),
            SoftModel::Solid(params) => Self::Solid(params),
            SoftModel::Membrane(params) => Self::Membrane(params),
            SoftModel::Springs(params) => Self::Springs(params),
            SoftModel::Pbd(matter, pbd::Params { iterations, damping, row_damping, limit_sweeps }) => match matter {
                pbd::Structure::Solid(pbd::Solid { youngs_modulus, poisson_ratio, density }) => {
                    Self::PbdSolid(PbdSolid {
                        youngs_modulus,
                        poisson_ratio,
                        density,
                        iterations,
                        damping,
                        row_damping,
                    })
                }
                pbd::Structure::Sheet(pbd::Sheet {
                    stretch,
                    bend,
                    density,
                    compression,
                    skip_stiffness,
                    stretch_limit,
                }) => Self::PbdSheet(PbdSheet {
                    stretch,
                    bend,
                    density,
                    compression,
                    skip_stiffness,
                    stretch_limit,
                    limit_sweeps,
                    iterations,
                    damping,
                    row_damping,
                }),
                pbd::Structure::Cord(pbd::Cord { stretch, bend, density, compression }) => {
                    Self::PbdCord(PbdCord { stretch, bend, density, compression, iterations, damping, row_damping })
                }
            },
            SoftModel::ShapeMatching(density, clusters, params) => {
                let shape_matching::Params { frequency, mode, iterations, damping, plasticity } = params;
                Self::ShapeMatching(Matching { density, clusters, frequency, mode, iterations, damping, plasticity })
            }
            SoftModel::Oriented(oriented::Ellipsoid { radii, density }, group, params) => {
                let oriented::Params { frequency, iterations, damping, plasticity, implicit } = params;
                let shared =
                    OrientedBody { radii, density, group, frequency, iterations, damping, plasticity, implicit };
                Self::Oriented(shared)
            }
            SoftModel::Meshless(params, volume) => {
                let MlsParams { youngs_modulus, poisson_ratio, density, damping, support, .. } = params;
                let MlsParams { stabilization, volume_stiffness, scheme, .. } = params;
                Self::Meshless(Meshless {
                    youngs_modulus,
                    poisson_ratio,
                    density,
                    damping,
                    support,
                    stabilization,
                    volume_stiffness,
                    scheme,
                    volume,
                })
            }
        })
    }
}
