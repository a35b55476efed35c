//! The same bar and the same load for every deformable model: what `sinew bench models` measures.
//!
//! A bar of length L along x is held at its left end and settles under its own weight, slowed by a drag that is gone once
//! it is still. Reference values:
//!
//! ```text
//!   hung (gravity along x):      growth of the part ℓ = L − a beyond x = a:   ρ g ℓ²/2E
//!   across (gravity along −y):   sinking of the tip, Timoshenko:              q L⁴/8EI + q L²/2κGA,   q = ρ g A
//! ```
//!
//! a is the width of the bar: nearer to the held end the contraction is held too, which the formula neglects. κ is
//! Cowper's 10(1 + ν)/(12 + 11ν). Strips and ropes have no stiffness in bending worth the name and are only hung. Across,
//! gravity is a tenth, or the tip would sink so far that the formula itself is off by 0.7%.

use crate::validate::soft_tools::{Kind, Rig, Stuff, TEN, TEN_NEO, cells, plane, refused};
use crate::validate::tools::{G, real, vec3};
use sinew::fem::{self, Elements, Law, PlaneStress};
use sinew::{
    Diagonals, Error, Geometry, Polyline, Real, Settings, SoftBody, SoftModel, SoftReport, TriMesh, Vec3, World,
    meshless, pbd, shape_matching, spring,
};

/// Length, and width and height of the bar [m].
pub const SIZE: [f64; 2] = [0.4, 0.1];
/// What it is made of: 1 MPa, so that explicit models can take part at 60 steps a second.
pub const STUFF: Stuff = Stuff { e: 1e6, nu: 0.3, rho: 1000.0 };
/// Cells across the width: the two resolutions.
pub const FINENESS: [u32; 2] = [2, 4];
/// Thickness of the strip [m].
const THICKNESS: f64 = 1e-3;
/// Cross-section of the rope [m²].
const SECTION: f64 = 1e-4;
/// Twice the angular frequency of the bar's slowest vibration: critical damping [1/s].
const DRAG: Real = 40.0;

/// What the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 0.4 x 0.1 x 0.1 m of tetrahedra.
    Bar,
    /// 0.4 x 0.1 m of triangles, 1 mm thick.
    Strip,
    /// 0.4 m of segments, 1 cm² thick.
    Rope,
}

/// How the weight acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Along the bar.
    Hung,
    /// A tenth of it, across.
    Across,
}

/// A model with its variant.
#[derive(Clone, Copy, Debug)]
pub struct Specimen {
    /// Model and variant.
    pub name: &'static str,
    /// What it can be.
    pub form: Form,
    /// It takes a modulus, so that there is a reference value.
    pub elastic: bool,
    /// Substeps of a step, for models that are solved by sweeps.
    substeps: u32,
    recipe: Recipe,
}

#[derive(Clone, Copy, Debug)]
enum Recipe {
    /// A model of a volume as the validation cases have it, and what is different here.
    Volume(Kind, fn(&mut SoftModel)),
    Flat(fn() -> SoftModel),
}

const fn bar(name: &'static str, kind: Kind, tune: fn(&mut SoftModel)) -> Specimen {
    Specimen { name, form: Form::Bar, elastic: true, substeps: 4, recipe: Recipe::Volume(kind, tune) }
}

/// Position based, with the sweeps of a step spread over more substeps.
const fn finer(name: &'static str, tune: fn(&mut SoftModel)) -> Specimen {
    Specimen { substeps: 32, ..bar(name, Kind::Pbd, tune) }
}

/// A model with goals and no modulus.
const fn shaped(name: &'static str, tune: fn(&mut SoftModel)) -> Specimen {
    Specimen { name, form: Form::Bar, elastic: false, substeps: 4, recipe: Recipe::Volume(Kind::Shape, tune) }
}

const fn flat(name: &'static str, form: Form, make: fn() -> SoftModel) -> Specimen {
    Specimen { name, form, elastic: true, substeps: 4, recipe: Recipe::Flat(make) }
}

const fn tet(law: Law, elements: Elements) -> Kind {
    Kind::Solid(law, elements)
}

/// Every model, and its main variants.
pub const SPECIMENS: &[Specimen] = &[
    bar("corotational", Kind::Fast, as_is),
    bar("solid tet4 linear", tet(Law::Linear, Elements::Tet4), as_is),
    bar("solid tet4 corotational", tet(Law::Corotational, Elements::Tet4), as_is),
    bar("solid tet4 corotational explicit", tet(Law::Corotational, Elements::Tet4), explicit),
    bar("solid tet4 st-venant-kirchhoff", tet(Law::StVenantKirchhoff, Elements::Tet4), as_is),
    bar("solid tet4 neo-hookean", tet(Law::NeoHookean, Elements::Tet4), as_is),
    bar("solid tet4 log-neo-hookean", tet(Law::LogNeoHookean, Elements::Tet4), as_is),
    bar("solid tet4 averaged neo-hookean", tet(Law::NeoHookean, Elements::Tet4Averaged), as_is),
    bar("solid tet10 corotational", TEN, as_is),
    bar("solid tet10 neo-hookean", TEN_NEO, as_is),
    bar("solid tet10 averaged neo-hookean", tet(Law::NeoHookean, Elements::Tet10Averaged), as_is),
    bar("springs", Kind::Springs, explicit),
    bar("springs verlet", Kind::Springs, verlet),
    bar("springs implicit", Kind::Springs, as_is),
    bar("pbd, 8 sweeps", Kind::Pbd, as_is),
    bar("pbd, 64 sweeps", Kind::Pbd, |m| sweeps(m, 64)),
    finer("pbd, 1 sweep, 32 substeps", |m| sweeps(m, 1)),
    shaped("shape matching rigid, 100 Hz", |m| follow(m, shape_matching::Mode::Rigid)),
    shaped("shape matching linear, 100 Hz", |m| follow(m, shape_matching::Mode::Linear { beta: 0.5 })),
    shaped("shape matching quadratic, 100 Hz", |m| follow(m, shape_matching::Mode::Quadratic { beta: 0.5 })),
    bar("meshless, support 3, explicit", Kind::Meshless, explicit),
    bar("meshless, support 3", Kind::Meshless, as_is),
    bar("meshless, support 2", Kind::Meshless, |m| support(m, 2.0)),
    bar("meshless, support 1.5", Kind::Meshless, |m| support(m, 1.5)),
    flat("membrane", Form::Strip, || membrane(fem::Integrator::Implicit)),
    flat("membrane explicit", Form::Strip, || membrane(fem::Integrator::Explicit)),
    flat("springs, bending 0.1", Form::Strip, || springs(0.1, spring::Integrator::SymplecticEuler)),
    flat("springs, bending 0", Form::Strip, || springs(0.0, spring::Integrator::SymplecticEuler)),
    flat("springs, bending 0, implicit", Form::Strip, || springs(0.0, spring::Integrator::Implicit)),
    flat("pbd, 8 sweeps", Form::Strip, || sheet(8)),
    flat("pbd, 64 sweeps", Form::Strip, || sheet(64)),
    flat("springs, bending 0.1", Form::Rope, || springs(0.1, spring::Integrator::SymplecticEuler)),
    flat("springs, bending 0", Form::Rope, || springs(0.0, spring::Integrator::SymplecticEuler)),
    flat("springs, bending 0, implicit", Form::Rope, || springs(0.0, spring::Integrator::Implicit)),
    flat("pbd, 8 sweeps", Form::Rope, || cord(8)),
    flat("pbd, 64 sweeps", Form::Rope, || cord(64)),
];

fn as_is(_: &mut SoftModel) {}

fn explicit(model: &mut SoftModel) {
    match model {
        SoftModel::Solid(p) => p.integrator = fem::Integrator::Explicit,
        SoftModel::Springs(p) => p.integrator = spring::Integrator::SymplecticEuler,
        SoftModel::Meshless(p, _) => p.scheme = meshless::Scheme::Explicit,
        _ => {}
    }
}

fn verlet(model: &mut SoftModel) {
    if let SoftModel::Springs(p) = model {
        p.integrator = spring::Integrator::Verlet;
    }
}

fn sweeps(model: &mut SoftModel, sweeps: u32) {
    if let SoftModel::Pbd(_, p) = model {
        p.iterations = sweeps;
    }
}

/// The default of 10 Hz is so soft that the bar would hang down.
fn follow(model: &mut SoftModel, mode: shape_matching::Mode) {
    if let SoftModel::ShapeMatching(_, _, p) = model {
        p.mode = mode;
        p.frequency = 100.0;
    }
}

fn support(model: &mut SoftModel, support: Real) {
    if let SoftModel::Meshless(p, _) = model {
        p.support = support;
    }
}

fn membrane(integrator: fem::Integrator) -> SoftModel {
    let material = PlaneStress::Isotropic { youngs_modulus: real(STUFF.e), poisson_ratio: real(STUFF.nu) };
    let (thickness, density) = (real(THICKNESS), real(STUFF.rho));
    SoftModel::Membrane(fem::MembraneParams {
        material,
        thickness,
        density,
        integrator,
        ..fem::MembraneParams::default()
    })
}

fn springs(bending: Real, integrator: spring::Integrator) -> SoftModel {
    SoftModel::Springs(spring::Params {
        stiffness: spring::Stiffness::Young(real(STUFF.e)),
        mass: spring::Mass::Density(real(STUFF.rho)),
        thickness: real(THICKNESS),
        cross_section: real(SECTION),
        bending,
        integrator,
        ..spring::Params::default()
    })
}

fn sheet(iterations: u32) -> SoftModel {
    let matter = pbd::Sheet {
        stretch: real(STUFF.e * THICKNESS),
        bend: real(STUFF.e * THICKNESS.powi(3) / 12.0),
        density: real(STUFF.rho * THICKNESS),
        compression: 1.0,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    SoftModel::Pbd(pbd::Structure::Sheet(matter), pbd::Params { iterations, ..pbd::Params::default() })
}

fn cord(iterations: u32) -> SoftModel {
    let matter = pbd::Cord {
        stretch: real(STUFF.e * SECTION),
        // of a round one: A²/4π
        bend: real(STUFF.e * SECTION * SECTION / (4.0 * std::f64::consts::PI)),
        density: real(STUFF.rho * SECTION),
        compression: 1.0,
    };
    SoftModel::Pbd(pbd::Structure::Cord(matter), pbd::Params { iterations, ..pbd::Params::default() })
}

impl Specimen {
    /// Cells along each axis of the form, with so many across the width.
    pub fn cells(&self, across: u32) -> Vec<u32> {
        match self.form {
            Form::Bar => vec![4 * across, across, across],
            Form::Strip => vec![4 * across, across],
            Form::Rope => vec![4 * across],
        }
    }

    /// The body in a world of its own, at rest, before its first step.
    pub fn start(&self, across: u32, load: Load) -> Result<Test, Error> {
        let gravity = match load {
            Load::Hung => Vec3::X * real(G),
            Load::Across => Vec3::NEG_Y * real(0.1 * G),
        };
        let (sleep_time, substeps) = (Real::INFINITY, self.substeps);
        let settings = Settings { gravity, threads: 1, sleep_time, substeps, ..Settings::default() };
        let (body, corners, elements) = self.body(across)?;
        let root = real(-0.5 * SIZE[0]);
        let held = body.damping(DRAG).pin_region([root - 1e-4, -1.0, -1.0], [root + 1e-4, 1.0, 1.0]);
        let rig = Rig::of(settings, held, corners)?;
        Ok(Test { rig, load, elements, settling: Settling::default() })
    }

    /// The body, how many of its nodes are corners, and how many elements it has.
    fn body(&self, across: u32) -> Result<(SoftBody, usize, usize), Error> {
        let [length, width] = SIZE;
        let count = self.cells(across);
        let make = match self.recipe {
            Recipe::Volume(kind, tune) => {
                let mesh = cells([count[0], across, across], [length, width, width])?;
                let (corners, elements) = (kind.corners(&mesh), mesh.tets.len());
                let mut body = kind.body(mesh, STUFF);
                tune(&mut body.model);
                return Ok((body, corners, elements));
            }
            Recipe::Flat(make) => make,
        };
        let (geometry, elements) = if self.form == Form::Rope {
            let end = vec3(0.5 * length, 0.0, 0.0);
            let rope = Polyline::rope(-end, end, count[0]).map_err(|e| refused(&e))?;
            (Geometry::Rope(rope.points), rope.segments.len())
        } else {
            let size = [real(length), real(width)];
            let mesh = TriMesh::sheet([count[0], across], size, Diagonals::Alternating).map_err(|e| refused(&e))?;
            let triangles = mesh.triangles.len();
            (Geometry::Sheet(mesh), triangles)
        };
        Ok((SoftBody::new(geometry, make()), usize::MAX, elements))
    }
}

/// A specimen under its load.
#[derive(Debug)]
pub struct Test {
    rig: Rig,
    load: Load,
    /// Tetrahedra, triangles or segments.
    pub elements: usize,
    settling: Settling,
}

impl Test {
    /// Its world, to be stepped.
    pub fn world(&mut self) -> &mut World {
        &mut self.rig.world
    }

    /// Elongation or sinking now [m].
    pub fn reading(&self) -> Result<f64, Error> {
        let end = self.rig.moved(plane(0, 0.5 * SIZE[0]))?;
        match self.load {
            Load::Hung => Ok(end[0] - self.rig.moved(plane(0, SIZE[1] - 0.5 * SIZE[0]))?[0]),
            Load::Across => Ok(-end[1]),
        }
    }

    /// To be called after each step: true when it has come to rest.
    pub fn is_still(&mut self) -> Result<bool, Error> {
        let reading = self.reading()?;
        Ok(self.settling.note(reading))
    }

    /// The reference value [m].
    pub fn right(&self) -> f64 {
        let [length, width] = SIZE;
        let Stuff { e, nu, rho } = STUFF;
        match self.load {
            Load::Hung => rho * G * (length - width).powi(2) / (2.0 * e),
            Load::Across => {
                let (area, moment) = (width * width, width.powi(4) / 12.0);
                let (shear, kappa) = (e / (2.0 * (1.0 + nu)), 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu));
                let q = rho * 0.1 * G * area;
                q * length.powi(4) / (8.0 * e * moment) + q * length.powi(2) / (2.0 * kappa * shear * area)
            }
        }
    }

    /// How the body went through the last step.
    pub fn integration(&self) -> Option<SoftReport> {
        self.rig.world.report().soft.iter().find(|s| s.body == self.rig.id).copied()
    }
}

/// Still: a third of a second without a change of more than 2e-4 of the reading. The drag takes 99.9% of a motion in that
/// time, so that what is left to come is far less.
#[derive(Debug, Default)]
struct Settling {
    /// The last readings, as a ring.
    recent: [f64; 20],
    count: usize,
}

impl Settling {
    fn note(&mut self, reading: f64) -> bool {
        self.recent[self.count % self.recent.len()] = reading;
        self.count += 1;
        let near = |r: &f64| (r - reading).abs() <= 2e-4 * reading.abs();
        self.count >= self.recent.len() && self.recent.iter().all(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::Input;

    fn settled(specimen: &Specimen, across: u32, load: Load) -> f64 {
        let mut test = specimen.start(across, load).expect(specimen.name);
        for _ in 0..600 {
            test.world().step(&Input::none());
            if test.is_still().expect("a reading") {
                return test.reading().expect("a reading") / test.right() - 1.0;
            }
        }
        panic!("{} does not come to rest", specimen.name);
    }

    fn named(name: &str) -> &'static Specimen {
        SPECIMENS.iter().find(|s| s.name == name).expect(name)
    }

    #[test]
    fn every_model_starts_at_both_resolutions_and_names_are_told_apart() {
        for (i, specimen) in SPECIMENS.iter().enumerate() {
            for across in FINENESS {
                let test = specimen.start(across, Load::Hung).expect(specimen.name);
                assert!(test.elements > 0 && test.reading().expect("a reading").abs() < 1e-7, "{}", specimen.name);
            }
            let twice = |s: &Specimen| s.name == specimen.name && s.form == specimen.form;
            assert!(!SPECIMENS[..i].iter().any(twice), "{} is there twice", specimen.name);
        }
    }

    #[test]
    fn a_hung_bar_of_finite_elements_grows_by_what_hooke_says() {
        // the tolerance of E01
        for name in ["corotational", "solid tet10 corotational", "membrane"] {
            let error = settled(named(name), 2, Load::Hung);
            assert!(error.abs() < 0.005, "{name}: {error}");
        }
    }

    #[test]
    fn four_nodes_lock_in_bending_and_ten_do_not() {
        let four = settled(named("corotational"), 2, Load::Across);
        let ten = settled(named("solid tet10 corotational"), 2, Load::Across);
        assert!(four < -0.3, "{four}");
        assert!(ten.abs() < 0.05, "{ten}");
    }

    #[test]
    fn a_body_is_still_only_after_a_third_of_a_second_without_change() {
        let mut settling = Settling::default();
        assert!((0..19).all(|_| !settling.note(1.0)));
        assert!(settling.note(1.0));
        assert!(!settling.note(1.1));
        assert_eq!((0..19).filter(|_| settling.note(1.1)).count(), 1);
    }
}
