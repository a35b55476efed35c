//! FC 4.3 and 5.4.4: a cylinder is held at both ends, another one falls across it.
//!
//! Each is a mass-spring bar with a rounded section, with tetrahedra and faces within 2% of the paper's: 2760 and 908
//! coarse (2729, 906), 15,000 and 2400 detailed (15,092, 2386). It has more points than the paper's, 720 and 3146 (554,
//! 2579): by Euler's formula T = E − V − F/2 + 1 the paper's surface points would have 7 and 9 interior edges, twice
//! as many as those of well shaped tetrahedra; and its table of springs (11,321, where Euler's formula gives 18,863) does not fit
//! them either.

use super::{Scene, floor, no_input, refused};
use sinew::{
    Error, Geometry, Quat, Real, Settings, SoftBody, SoftModel, SurfaceMaterial, TetMesh, Vec3, World, spring,
};

/// Few points.
pub(super) const COARSE: Scene = Scene {
    name: "cylinders-coarse",
    about: "A soft cylinder falls across one that is held at both ends, and tips off it.",
    figure: "FC Fig. 4.6",
    build: || cylinders([4, 5, 23], 0.6),
    input: no_input,
    seconds: 2.0,
    text: None,
};

/// Many points.
pub(super) const DETAILED: Scene = Scene {
    name: "cylinders-detailed",
    about: "The same two cylinders with 15,000 tetrahedra each, in steps of a millisecond.",
    figure: "FC Fig. 4.6",
    build: || cylinders([10, 10, 25], 0.6),
    input: no_input,
    seconds: 2.0,
    text: None,
};

/// Width and length of a cylinder [m].
const SIZE: [Real; 2] = [0.1, 0.25];

/// Two crossed cylinders of these cells with this friction.
///
/// # Errors
/// Cells or a friction that the engine refuses.
pub fn cylinders(cells: [u32; 3], friction: Real) -> Result<World, Error> {
    cylinders_of(cells, 3e4, SurfaceMaterial::friction(friction), Vec3::new(0.1, 0.0, 0.0))
}

/// The same with any Young's modulus [Pa] and surface, and the velocity of the falling one [m/s].
pub(super) fn cylinders_of(
    cells: [u32; 3],
    young: Real,
    surface: SurfaceMaterial,
    velocity: Vec3,
) -> Result<World, Error> {
    let mut world = World::new(Settings { dt: 1e-3, substeps: 1, ..Settings::default() })?;
    floor(&mut world, SurfaceMaterial::friction(0.6))?;
    let [width, length] = SIZE;
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(young),
        dashpot: spring::Dashpot::Ratio(0.1),
        mass: spring::Mass::Density(500.0),
        ..Default::default()
    };
    let body = SoftBody::new(Geometry::Tets(rounded_bar(cells, [width, width, length])?), SoftModel::Springs(springs));
    let body = body.material(surface);
    let end = 0.5 * length + 1e-3;
    let held = body.clone().pin_region([-1.0, -1.0, -end], [1.0, 1.0, 2e-3 - end]);
    let held = held.pin_region([-1.0, -1.0, end - 2e-3], [1.0, 1.0, end]);
    world.add_soft(held.at([0.0, 0.3, 0.0]).named("held"))?;
    let across = Quat::from_rotation_y(std::f64::consts::FRAC_PI_2 as Real);
    let falling = body.turned(across).at([0.0, 0.302 + width, 0.0]).velocity(velocity);
    world.add_soft(falling.named("falling"))?;
    Ok(world)
}

/// A bar along z whose square section is half way to a disc: a full disc would make its corner cells flat.
pub(super) fn rounded_bar(cells: [u32; 3], size: [Real; 3]) -> Result<TetMesh, Error> {
    let mut mesh = TetMesh::block(cells, Vec3::from(size)).map_err(refused("rounded bar"))?;
    for p in &mut mesh.vertices {
        let [x, y] = [2.0 * p.x / size[0], 2.0 * p.y / size[1]];
        let round = |a: Real, b: Real| 0.5 * a * (1.0 + (1.0 - 0.5 * b * b).sqrt());
        (p.x, p.y) = (0.5 * size[0] * round(x, y), 0.5 * size[1] * round(y, x));
    }
    Ok(mesh)
}
