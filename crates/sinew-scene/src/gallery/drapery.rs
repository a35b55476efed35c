//! ICD Fig. 3: a cloth of rows over a sphere; and many small ones, for time against the number of rows (ICD Fig. 5).
//!
//! The many are position based sheets, the fastest cloth here (docs/cloth.md).
//!
//! The sides of the squares are a distance set and every inner edge has a bending row: 51 x 51 nodes have 5100 and 7400 (paper:
//! about 5000, 7400). Weak springs along all edges resist shear.

use super::{Scene, no_input, refused};
use sinew::{
    Bending, BodyId, Diagonals, DistanceSet, Error, Geometry, Real, RigidBody, Settings, Shape, SoftBody, SoftModel,
    SurfaceMaterial, TriMesh, Vec3, World, pbd, spring,
};

/// The sheet of the paper.
pub(super) const CLOTH: Scene = Scene {
    name: "cloth",
    about: "A cloth of 51 x 51 nodes, held by 12,500 rows, falls over a ball and hangs in folds.",
    figure: "ICD Fig. 3",
    build: cloth,
    input: no_input,
    seconds: 4.0,
    text: None,
};

/// Sheets that can be counted.
pub(super) const SCALING: Scene = Scene {
    name: "scaling",
    about: "Sixteen small cloths over sixteen balls: time grows as the number of rows.",
    figure: "ICD Fig. 5-6",
    build: || scaling(16, SMALL),
    input: no_input,
    seconds: 3.0,
    text: None,
};

/// A cloth and the ball under it.
#[derive(Clone, Copy, Debug)]
struct Drape {
    /// Squares along a side.
    cells: u32,
    /// Length of a side [m].
    side: Real,
    /// [kg/m²]
    density: Real,
    radius: Real,
    /// How far the cloth falls [m].
    drop: Real,
}

const FRICTION: Real = 0.3;
const PAPER: Drape = Drape { cells: 50, side: 2.0, density: 0.25, radius: 0.5, drop: 0.1 };
/// A square of it is as wide as one of the large cloth, so that it lies on its ball as closely.
const SMALL: u32 = 14;

fn settings(substeps: u32) -> Settings {
    Settings { dt: 0.02, substeps, ..Settings::default() }
}

fn cloth() -> Result<World, Error> {
    let mut world = World::new(settings(8))?;
    let Drape { cells, side, density, .. } = PAPER;
    let springs = spring::Params {
        stiffness: spring::Stiffness::Uniform(0.3),
        dashpot: spring::Dashpot::None,
        mass: spring::Mass::Total(density * side * side),
        ..Default::default()
    };
    let mesh = TriMesh::sheet([cells; 2], [side; 2], Diagonals::Alternating).map_err(refused("cloth"))?;
    let folds = mesh.folds();
    let body = SoftBody::new(Geometry::Sheet(mesh), SoftModel::Springs(springs)).thickness(0.005).damping(0.3);
    let cloth = add(&mut world, PAPER, Vec3::ZERO, body)?;
    world.add_distance_set(DistanceSet::new(cloth, sides(cells)))?;
    world.add_bending(Bending::new(cloth, folds, 2e-5).damping(0.01))?;
    Ok(world)
}

/// So many cloths of `cells` x `cells` squares over as many balls, in a square: 1006 rows each for 14, 12,600 for 50.
///
/// # Errors
/// Values that the engine refuses.
pub fn scaling(copies: u32, cells: u32) -> Result<World, Error> {
    // short substeps while cloths are caught
    let mut world = World::new(Settings { sheet_substeps: 20, ..settings(9) })?;
    let drape = Drape { cells, side: PAPER.side * cells as Real / PAPER.cells as Real, ..PAPER };
    let (stretch, skip_stiffness) = (1e5, 1e5);
    let sheet = pbd::Sheet {
        stretch,
        bend: 0.0,
        density: drape.density,
        compression: 1e-4,
        skip_stiffness,
        stretch_limit: 0.03,
    };
    let model = SoftModel::Pbd(pbd::Structure::Sheet(sheet), pbd::Params { iterations: 1, ..pbd::Params::default() });
    let mesh = TriMesh::sheet([cells; 2], [drape.side; 2], Diagonals::Alternating).map_err(refused("cloth"))?;
    let body = SoftBody::new(Geometry::Sheet(mesh), model).thickness(5e-4);
    let row = f64::from(copies).sqrt().ceil() as u32;
    let apart = 0.2 + drape.side.max(2.0 * drape.radius);
    for k in 0..copies {
        let at = [k % row, k / row].map(|i| apart * (i as Real - 0.5 * (row - 1) as Real));
        add(&mut world, drape, Vec3::new(at[0], 0.0, at[1]), body.clone())?;
    }
    Ok(world)
}

/// A ball and a cloth above it.
fn add(world: &mut World, drape: Drape, at: Vec3, cloth: SoftBody) -> Result<BodyId, Error> {
    let surface = SurfaceMaterial::friction(FRICTION);
    let ball = RigidBody::fixed().shape(Shape::ball(drape.radius));
    world.add_rigid(ball.at(at).material(surface).named("ball"))?;
    world.add_soft(cloth.material(surface).named("cloth").at(at + Vec3::Y * (drape.radius + drape.drop)))
}

/// Sides of the squares of a sheet, by the numbers of its nodes.
fn sides(cells: u32) -> Vec<[u32; 2]> {
    let across = cells + 1;
    let mut sides = Vec::new();
    for node in 0..across * across {
        if node % across < cells {
            sides.push([node, node + 1]);
        }
        if node / across < cells {
            sides.push([node, node + across]);
        }
    }
    sides
}
