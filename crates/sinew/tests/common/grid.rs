//! The stability grid: one scene, every model, all combinations of stiffness, Poisson's ratio, step and mass ratio.
//!
//! A block of 0.1 m, 4 cells per edge, 1 kg, falls 5 mm onto the ground with a rigid box on it. The membrane is a sheet
//! pinned at its rim instead. Shared by `tests/stability.rs` (a sample) and `examples/stability.rs` (all of it).
#![allow(dead_code, reason = "each user takes its own part")]

use sinew::*;

/// Edge of the block [m].
const SIZE: Real = 0.1;
/// Cells per edge.
const CELLS: u32 = 4;
/// Steps of a run.
pub const STEPS: u32 = 60;

/// Young's moduli [Pa].
pub const YOUNG: [Real; 8] = [1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// Poisson's ratios.
pub const POISSON: [Real; 4] = [0.0, 0.3, 0.45, 0.499];
/// Steps [s].
pub const DT: [Real; 4] = [1e-3, 4e-3, 1.0 / 60.0, 33e-3];
/// Ratio of the mass of the box to that of the block.
pub const RATIO: [Real; 5] = [1.0, 10.0, 1e2, 1e3, 1e4];

/// One point of the grid.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub young: Real,
    pub poisson: Real,
    pub dt: Real,
    pub ratio: Real,
}

/// All points, in a fixed order.
pub fn points() -> Vec<Point> {
    let mut all = Vec::new();
    for young in YOUNG {
        for poisson in POISSON {
            for dt in DT {
                all.extend(RATIO.map(|ratio| Point { young, poisson, dt, ratio }));
            }
        }
    }
    all
}

/// A model of the grid: its name and its body for a point.
pub struct Kind {
    pub name: &'static str,
    pub make: fn(Point) -> SoftBody,
}

fn block() -> Geometry {
    Geometry::Tets(TetMesh::block([CELLS; 3], Vec3::splat(SIZE)).unwrap())
}

fn solid(at: Point, law: fem::Law, elements: fem::Elements, integrator: fem::Integrator) -> SoftBody {
    let params = fem::SolidParams {
        youngs_modulus: at.young,
        poisson_ratio: at.poisson,
        law,
        elements,
        integrator,
        ..fem::SolidParams::default()
    };
    SoftBody::new(block(), SoftModel::Solid(params))
}

fn springs(at: Point, element: spring::Element, integrator: spring::Integrator) -> SoftBody {
    // springs have ν = 1/4 and a bulk modulus of E/1.5; a volume force adds the remainder
    let bulk = at.young / (3.0 * (1.0 - 2.0 * at.poisson)) - at.young / 1.5;
    let params = spring::Params {
        stiffness: spring::Stiffness::Young(at.young),
        element,
        dashpot: match element {
            spring::Element::Voigt => spring::Dashpot::Ratio(0.05),
            _ => spring::Dashpot::Time(0.1),
        },
        volume: if bulk > 0.0 { spring::VolumeForce::Bulk { modulus: bulk } } else { spring::VolumeForce::None },
        integrator,
        ..spring::Params::default()
    };
    SoftBody::new(block(), SoftModel::Springs(params))
}

fn meshless(at: Point, scheme: meshless::Scheme) -> SoftBody {
    let (youngs_modulus, poisson_ratio) = (at.young, at.poisson);
    let params = meshless::Params { youngs_modulus, poisson_ratio, scheme, ..meshless::Params::default() };
    SoftBody::new(block(), SoftModel::Meshless(params, 0.0))
}

fn membrane(at: Point, integrator: fem::Integrator) -> SoftBody {
    let material = fem::PlaneStress::Isotropic { youngs_modulus: at.young, poisson_ratio: at.poisson };
    let params = fem::MembraneParams { material, thickness: 0.02, integrator, ..fem::MembraneParams::default() };
    let mesh = TriMesh::sheet([12, 12], [0.3, 0.3], Diagonals::Alternating).unwrap();
    let rim = |p: &Vec3| p.x.abs() > 0.149 || p.y.abs() > 0.149 || p.z.abs() > 0.149;
    let pinned: Vec<u32> = (0..mesh.vertices.len() as u32).filter(|&i| rim(&mesh.vertices[i as usize])).collect();
    SoftBody::new(Geometry::Sheet(mesh), SoftModel::Membrane(params)).pinned(pinned)
}

fn matched(at: Point, clusters: shape_matching::Clusters) -> SoftBody {
    // the lowest frequency of a free bar of this length: c/(2 L)
    let frequency = (at.young / 1000.0).sqrt() / (2.0 * SIZE);
    let params = shape_matching::Params { frequency, iterations: 2, ..shape_matching::Params::default() };
    SoftBody::new(block(), SoftModel::ShapeMatching(1000.0, clusters, params))
}

fn oriented(at: Point) -> SoftBody {
    let frequency = (at.young / 1000.0).sqrt() / (2.0 * SIZE);
    let grain = oriented::Ellipsoid { radii: Vec3::splat(0.5 * SIZE / CELLS as Real), density: 1000.0 };
    let params = oriented::Params { frequency, ..oriented::Params::default() };
    SoftBody::new(block(), SoftModel::Oriented(grain, oriented::Groups::Links, params))
}

/// Every model and its main variants.
pub fn kinds() -> Vec<Kind> {
    use fem::{Elements::*, Integrator::*, Law};
    use spring::{Element, Integrator as Spring};
    let kind = |name, make| Kind { name, make };
    vec![
        kind("corotational", |at| {
            let Point { young: youngs_modulus, poisson: poisson_ratio, .. } = at;
            let params = fem::Params { youngs_modulus, poisson_ratio, density: 1000.0, damping: 0.0 };
            SoftBody::new(block(), SoftModel::Corotational(params))
        }),
        kind("solid linear", |at| solid(at, Law::Linear, Tet4, Implicit)),
        kind("solid St Venant-Kirchhoff", |at| solid(at, Law::StVenantKirchhoff, Tet4, Implicit)),
        kind("solid neo-Hookean averaged", |at| solid(at, Law::NeoHookean, Tet4Averaged, Implicit)),
        kind("solid ln J neo-Hookean", |at| solid(at, Law::LogNeoHookean, Tet4, Implicit)),
        kind("solid corotational ten nodes", |at| solid(at, Law::Corotational, Tet10, Implicit)),
        kind("solid corotational explicit", |at| solid(at, Law::Corotational, Tet4, Explicit)),
        kind("solid St Venant-Kirchhoff explicit", |at| solid(at, Law::StVenantKirchhoff, Tet4, Explicit)),
        kind("solid neo-Hookean explicit", |at| solid(at, Law::NeoHookean, Tet4, Explicit)),
        kind("membrane", |at| membrane(at, Implicit)),
        kind("membrane explicit", |at| membrane(at, Explicit)),
        kind("springs", |at| springs(at, Element::Voigt, Spring::SymplecticEuler)),
        kind("springs Verlet", |at| springs(at, Element::Voigt, Spring::Verlet)),
        kind("springs Kelvin", |at| springs(at, Element::Kelvin { arm: 1.0 }, Spring::SymplecticEuler)),
        kind("springs implicit", |at| springs(at, Element::Voigt, Spring::Implicit)),
        kind("meshless", |at| meshless(at, meshless::Scheme::Explicit)),
        kind("meshless implicit", |at| meshless(at, meshless::Scheme::Implicit)),
        kind("pbd", |at| {
            let matter = pbd::Solid { youngs_modulus: at.young, poisson_ratio: at.poisson, density: 1000.0 };
            SoftBody::new(block(), SoftModel::Pbd(pbd::Structure::Solid(matter), pbd::Params::default()))
        }),
        kind("shape matching", |at| matched(at, shape_matching::Clusters::One)),
        kind("shape matching regions", |at| matched(at, shape_matching::Clusters::Regions { width: 2, spacing: 1 })),
        kind("oriented particles", oriented),
    ]
}

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// The body was rejected; the reason.
    Refused(String),
    /// A body was frozen or a value became non-finite; the fault.
    Failed(String),
    /// It ran to the end.
    Held {
        /// Maximum energy above that of the start, in units of the allowed increase: above 1 energy was created.
        growth: Real,
        /// Fraction of its stiffness that the body had in the last step.
        softened: Real,
        /// Integrated implicitly though declared explicit.
        switched: bool,
        /// Substeps of the last step.
        substeps: u32,
        /// Displacement of the box below its height on an unstrained block, in edges of the block.
        sinking: Real,
        /// Largest penetration at the end [m].
        overlap: Real,
    },
}

pub fn build(kind: &Kind, at: Point) -> Result<(World, BodyId), Error> {
    let settings = Settings { dt: at.dt, sleep_time: Real::INFINITY, ..Settings::default() };
    let mut world = World::new(settings)?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(0.5)))?;
    let mut body = (kind.make)(at);
    // particles extend beyond their mesh
    let skin = if let SoftModel::Oriented(grain, ..) = &body.model { grain.radii.y } else { 0.0 };
    let mut top = 0.005 + SIZE + 2.0 * skin;
    if matches!(body.geometry, Geometry::Sheet(_)) {
        // horizontal, high above the ground
        let turn = Quat::from_rotation_arc(normal(&body), Vec3::Y);
        body = body.turned(turn).at([0.0, 1.0, 0.0]);
        top = 1.0 + 0.005;
    } else {
        body = body.at([0.0, 0.005 + skin + 0.5 * SIZE, 0.0]);
    }
    world.add_soft(body.material(SurfaceMaterial::friction(0.5)))?;
    let half = 0.5 * SIZE + skin;
    let load = RigidBody::dynamic().shape(Shape::cuboid(half, half, half)).mass(at.ratio);
    let load = world.add_rigid(load.material(SurfaceMaterial::friction(0.5)).at([0.0, top + half, 0.0]))?;
    Ok((world, load))
}

fn normal(body: &SoftBody) -> Vec3 {
    let Geometry::Sheet(mesh) = &body.geometry else { return Vec3::Y };
    let [a, b, c] = mesh.corners(0);
    (b - a).cross(c - a).normalize()
}

/// Runs a point with a model.
pub fn run(kind: &Kind, at: Point, steps: u32) -> Fate {
    let (mut world, load) = match build(kind, at) {
        Ok(built) => built,
        Err(error) => return Fate::Refused(error.to_string()),
    };
    let start = world.body(load).unwrap().position().y;
    let energy = |report: &Report| report.energies.kinetic + report.energies.gravity;
    let mut first = None;
    // maximum energy released by gravity so far, without the ground: contacts and elasticity only reduce it
    let (mut fall, mut growth): (Real, Real) = (0.0, 0.0);
    for step in 0..steps {
        let report = world.step(&Input::none());
        if let Some(fault) = report.faults.first() {
            return Fate::Failed(format!("step {step}: {:?} in {}", fault.what, fault.field));
        }
        let now = energy(report);
        if !now.is_finite() {
            return Fate::Failed(format!("step {step}: energy {now} J"));
        }
        let first = *first.get_or_insert(now);
        fall = fall.max(first - report.energies.gravity);
        // ten per cent of the released energy, and a small amount for the first contact
        let most = 0.1 * fall.max(0.0) + 0.02 * (1.0 + at.ratio) * 9.81 * SIZE;
        growth = growth.max((now - first) / most);
    }
    let y = world.body(load).unwrap().position().y;
    let soft = world.report().soft[0];
    Fate::Held {
        growth,
        softened: soft.softened,
        switched: soft.implicit && soft.stable_step.is_finite(),
        substeps: soft.substeps,
        sinking: (start - 0.005 - y) / SIZE,
        overlap: world.report().penetration,
    }
}
