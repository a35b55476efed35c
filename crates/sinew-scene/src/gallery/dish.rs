//! ICD Fig. 2: four jellies of four models, a bar of chocolate, a dish.
//!
//! Counts are those of the paper within 5%. A jelly is a bar of 4 x 5 x 14 cells with a rounded section: 450 nodes, 584
//! faces, 1680 tetrahedra with 2421 edges (paper: 430, 574, 1701). Springs are the edges of the mass-spring and of the
//! position based jelly, and the diagonals of the cells that are not edges: a distance set of 1826 pairs with a stiffness, which make the
//! mesh of the first a lattice of 4247 springs.
//! Inextensibility bounds the stretch of its 1155 sides and 1972 diagonals of faces; bending is on the 876 edges of its
//! surface.
//!
//! Two lie on the dish, the bar on them, and two on the bar: one island with all four models, solved as one.

use super::cylinders::rounded_bar;
use super::{Scene, no_input};
use crate::census::edges;
use sinew::shape_matching::{Clusters, Damping, Mode};
use sinew::{
    Bending, BodyId, Collider, DistanceSet, ElasticMaterial, Error, Geometry, Pose, Real, RigidBody, Settings, Shape,
    SoftBody, SoftModel, SurfaceMaterial, TetMesh, TriMesh, Vec3, World, fem, pbd, shape_matching, spring,
};

/// Four jellies.
pub(super) const JELLY: Scene = Scene {
    name: "jelly",
    about: "Four jellies of four models: two on a dish carry a bar of chocolate with the other two.",
    figure: "ICD Fig. 2",
    build: jelly,
    input: no_input,
    seconds: 5.0,
    text: None,
};

/// Cells across, up and along a jelly.
const CELLS: [u32; 3] = [4, 5, 14];
/// Width, height and length of a jelly [m].
const SIZE: [Real; 3] = [0.12, 0.12, 0.36];
/// Distance of the jellies' middles from that of the dish [m].
const APART: Real = 0.1;
/// Half sizes of the bar [m].
const BAR: [Real; 3] = [0.19, 0.012, 0.17];
/// Stretch above which a side or diagonal of the mass-spring jelly is held.
const SLACK: Real = 1.2;

fn jelly() -> Result<World, Error> {
    let settings = Settings { dt: 0.02, substeps: 4, ..Settings::default() };
    let mut world = World::new(settings)?;
    let matter = ElasticMaterial::new(2e4, 0.3, 1000.0).friction(0.6);
    let surface = matter.surface();
    world.add_rigid(dish(surface))?;
    let mesh = rounded_bar(CELLS, SIZE)?;
    let x = APART;
    let (below, above) = (0.5 * SIZE[1] + 0.005, 1.5 * SIZE[1] + 2.0 * BAR[1] + 0.015);
    let places = [[-x, below], [x, below], [-x, above], [x, above]].map(|[x, y]| [x, y, 0.0]);
    for ((name, model), at) in recipes(matter).into_iter().zip(places) {
        let body = SoftBody::new(Geometry::Tets(mesh.clone()), model).material(surface).at(at).named(name);
        let id = world.add_soft(body)?;
        if name == "springs" {
            hold(&mut world, id, &mesh)?;
        }
    }
    let bar = RigidBody::dynamic().shape(Shape::cuboid(BAR[0], BAR[1], BAR[2])).mass(0.5).material(surface);
    world.add_rigid(bar.at([0.0, SIZE[1] + BAR[1] + 0.01, 0.0]).named("chocolate"))?;
    Ok(world)
}

/// Models in the order of the paper's figure: below left and right, above left and right.
fn recipes(matter: ElasticMaterial) -> [(&'static str, SoftModel); 4] {
    let ElasticMaterial { youngs_modulus, poisson_ratio, density, damping, .. } = matter;
    let internal = Damping::Internal { rate: 5.0 };
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(youngs_modulus),
        dashpot: spring::Dashpot::Ratio(0.1),
        mass: spring::Mass::Density(density),
        ..Default::default()
    };
    let follow = shape_matching::Params {
        mode: Mode::Quadratic { beta: 0.7 },
        damping: internal,
        frequency: 60.0,
        ..Default::default()
    };
    [
        ("springs", SoftModel::Springs(springs)),
        ("corotational", SoftModel::Corotational(fem::Params { youngs_modulus, poisson_ratio, density, damping })),
        (
            "pbd",
            SoftModel::Pbd(
                pbd::Structure::Solid(pbd::Solid { youngs_modulus, poisson_ratio: 0.35, density }),
                pbd::Params { iterations: 4, damping: internal, ..Default::default() },
            ),
        ),
        ("shape-matching", SoftModel::ShapeMatching(density, Clusters::One, follow)),
    ]
}

/// A tray with a rim.
fn dish(surface: SurfaceMaterial) -> RigidBody {
    let [x, z, rim] = [0.22, 0.45, 0.03];
    let part = |half: [Real; 3], at: [Real; 3]| {
        Collider::new(Shape::cuboid(half[0], half[1], half[2])).at(Pose::at(Vec3::from(at)))
    };
    RigidBody::fixed()
        .collider(part([x, 0.02, z], [0.0, -0.02, 0.0]))
        .collider(part([0.01, rim, z], [x + 0.01, rim - 0.04, 0.0]))
        .collider(part([0.01, rim, z], [-x - 0.01, rim - 0.04, 0.0]))
        .collider(part([x, rim, 0.01], [0.0, rim - 0.04, z + 0.01]))
        .collider(part([x, rim, 0.01], [0.0, rim - 0.04, -z - 0.01]))
        .material(surface)
        .named("dish")
}

/// Sides and diagonals of the cells of a bar, by the numbers of its nodes.
#[derive(Debug, Default)]
struct Lattice {
    sides: Vec<[u32; 2]>,
    face_diagonals: Vec<[u32; 2]>,
    body_diagonals: Vec<[u32; 2]>,
}

impl Lattice {
    fn new([nx, ny, nz]: [u32; 3]) -> Self {
        let index = |c: [u32; 3]| c[0] + (nx + 1) * (c[1] + (ny + 1) * c[2]);
        let inside = |c: &[u32; 3]| c[0] <= nx && c[1] <= ny && c[2] <= nz;
        let mut lattice = Self::default();
        for node in 0..(nx + 1) * (ny + 1) * (nz + 1) {
            let at = [node % (nx + 1), node / (nx + 1) % (ny + 1), node / (nx + 1) / (ny + 1)];
            // half of the 26 neighbours: those whose last nonzero step is positive
            for step in 14..27_u32 {
                let way = [step % 3, step / 3 % 3, step / 9];
                let to = [0, 1, 2].map(|k| (at[k] + way[k]).wrapping_sub(1));
                if inside(&to) {
                    let axes = way.iter().filter(|&&w| w != 1).count();
                    let list = [&mut lattice.sides, &mut lattice.face_diagonals, &mut lattice.body_diagonals];
                    list.into_iter().nth(axes - 1).into_iter().for_each(|l| l.push([node, index(to)]));
                }
            }
        }
        lattice
    }
}

/// The rows of the mass-spring jelly.
fn hold(world: &mut World, body: BodyId, mesh: &TetMesh) -> Result<(), Error> {
    let lattice = Lattice::new(CELLS);
    let have = edges(mesh.tets.iter().map(<[u32; 4]>::as_slice));
    let missing = |pair: &[u32; 2]| have.binary_search(&[pair[0].min(pair[1]), pair[0].max(pair[1])]).is_err();
    let diagonals = lattice.face_diagonals.iter().chain(&lattice.body_diagonals).copied();
    let cross: Vec<[u32; 2]> = diagonals.filter(missing).collect();
    world.add_distance_set(DistanceSet::new(body, cross).stiffness(40.0, 40.0, 0.1))?;
    let held: Vec<[u32; 2]> = lattice.sides.into_iter().chain(lattice.face_diagonals).collect();
    let length = |&[a, b]: &[u32; 2]| SLACK * mesh.vertices[a as usize].distance(mesh.vertices[b as usize]);
    let lengths: Vec<Real> = held.iter().map(length).collect();
    world.add_distance_set(DistanceSet::new(body, held).lengths(lengths).pull_only())?;
    let skin = TriMesh { vertices: mesh.vertices.clone(), triangles: mesh.boundary_faces() };
    world.add_bending(Bending::new(body, skin.folds(), 1e-3).damping(0.02))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_of_cells_has_the_sides_and_diagonals_of_its_cells() {
        let lattice = Lattice::new(CELLS);
        let counts = [lattice.sides.len(), lattice.face_diagonals.len(), lattice.body_diagonals.len()];
        assert_eq!(counts, [1155, 1972, 1120]);
    }
}
