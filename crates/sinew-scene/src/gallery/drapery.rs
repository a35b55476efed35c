//! ICD Fig. 3: a cloth of rows over a sphere; and many small ones, for time against the number of rows (ICD Fig. 5).
//!
//! The sides of the squares are held by strands and every inner edge has a fold: 51 x 51 nodes have 5100 and 7400 (paper:
//! about 5000, 7400). Weak springs along all edges take what little shear there is.

use super::{Scene, no_input, refused};
use sinew::{
    Bending, Diagonals, Error, Geometry, Material, Real, RigidBody, Settings, Shape, SoftBody, SoftModel, Strands,
    TriMesh, Vec3, World, spring,
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
    about: "Sixteen cloths over sixteen balls: time grows as the number of rows.",
    figure: "ICD Fig. 5-6",
    build: || scaling(16),
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

const PAPER: Drape = Drape { cells: 50, side: 2.0, density: 0.25, radius: 0.5, drop: 0.1 };
/// 420 strands and 560 folds.
const SMALL: Drape = Drape { cells: 14, side: 0.8, density: 0.25, radius: 0.25, drop: 0.05 };

fn settings() -> Settings {
    Settings { dt: 0.02, substeps: 8, ..Settings::default() }
}

fn cloth() -> Result<World, Error> {
    let mut world = World::new(settings())?;
    add(&mut world, PAPER, Vec3::ZERO)?;
    Ok(world)
}

/// So many cloths of 980 rows over as many balls, in a square.
///
/// # Errors
/// None that the engine could find reason for.
pub fn scaling(copies: u32) -> Result<World, Error> {
    let mut world = World::new(settings())?;
    let row = f64::from(copies).sqrt().ceil() as u32;
    for k in 0..copies {
        let at = [k % row, k / row].map(|i| 1.2 * (i as Real - 0.5 * (row - 1) as Real));
        add(&mut world, SMALL, Vec3::new(at[0], 0.0, at[1]))?;
    }
    Ok(world)
}

fn add(world: &mut World, drape: Drape, at: Vec3) -> Result<(), Error> {
    let Drape { cells, side, density, radius, drop } = drape;
    let surface = Material::friction(0.3);
    world.add_rigid(RigidBody::fixed().shape(Shape::ball(radius)).at(at).material(surface).named("ball"))?;
    let mesh = TriMesh::sheet([cells; 2], [side; 2], Diagonals::Alternating).map_err(refused("cloth"))?;
    let (sides, folds) = (sides(cells), mesh.folds());
    let springs = spring::Params {
        stiffness: spring::Stiffness::Uniform(0.3),
        dashpot: spring::Dashpot::None,
        mass: spring::Mass::Total(density * side * side),
        ..Default::default()
    };
    let body = SoftBody::new(Geometry::Sheet(mesh), SoftModel::Springs(springs));
    let body = body.thickness(0.005).material(surface).damping(0.3).named("cloth");
    let cloth = world.add_soft(body.at(at + Vec3::Y * (radius + drop)))?;
    world.add_strands(Strands::new(cloth, sides))?;
    world.add_bending(Bending::new(cloth, folds, 2e-5).damping(0.01))?;
    Ok(())
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
