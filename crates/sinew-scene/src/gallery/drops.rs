//! Bodies dropped on scenery: a bowl, a landscape with every kind of shape.

use super::{Scene, no_input};
use sinew::{Error, Pose, Quat, Real, RigidBody, Sdf, Settings, Shape, SurfaceMaterial, Vec3, World};
use std::sync::Arc;

/// Balls in a bowl.
pub const BOWL: Scene = Scene {
    name: "bowl",
    about: "64 balls fall into a bowl that is a signed distance function; none may leave through its wall.",
    figure: "",
    build: bowl,
    input: no_input,
    seconds: 10.0,
    text: None,
};

/// A landscape.
pub const TERRAIN: Scene = Scene {
    name: "terrain",
    about: "A height field with every kind of shape once: all come to rest on it and none falls through.",
    figure: "",
    build: terrain,
    input: no_input,
    seconds: 8.0,
    text: None,
};

const BOWL_RADIUS: Real = 2.0;
const BOWL_BALL: Real = 0.15;

fn bowl() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let center = Vec3::new(0.0, BOWL_RADIUS, 0.0);
    // all below the rim that is not in the sphere
    let hollow = Sdf::intersection([Sdf::bowl(center, BOWL_RADIUS), Sdf::plane(center, Vec3::Y)]);
    let surface = SurfaceMaterial::friction(0.3);
    world.add_rigid(RigidBody::fixed().shape(Shape::sdf(hollow)).material(surface).named("bowl"))?;
    for i in 0..64 {
        let [x, y, z] = [i % 4, i / 16, (i / 4) % 4].map(|k| k as Real);
        // layers are displaced: a ball exactly over another would balance
        let lean = 0.05 * y;
        let at = Vec3::new((x - 1.5) * 0.4 + lean, BOWL_RADIUS + 0.4 + 0.4 * y, (z - 1.5) * 0.4 - 0.7 * lean);
        let ball = RigidBody::dynamic().shape(Shape::ball(BOWL_BALL)).material(surface.restitution(0.2));
        world.add_rigid(ball.at(at))?;
    }
    Ok(world)
}

/// Points of the height field along each side.
const FIELD_SIDE: usize = 33;
/// Its size [m].
const FIELD_SIZE: Real = 16.0;

fn hills() -> Shape {
    let at = |i: usize| (i as Real / (FIELD_SIDE - 1) as Real - 0.5) * FIELD_SIZE;
    let height = |x: Real, z: Real| 0.35 * (0.7 * x).sin() * (0.6 * z).cos() + 0.01 * (x * x + z * z);
    let mut heights = Vec::new();
    for row in 0..FIELD_SIDE {
        for column in 0..FIELD_SIDE {
            heights.push(height(at(column), at(row)));
        }
    }
    Shape::HeightField { heights: heights.into(), rows: FIELD_SIDE, scale: Vec3::new(FIELD_SIZE, 1.0, FIELD_SIZE) }
}

/// A four-sided pyramid as a closed triangle mesh [m].
fn pyramid_mesh() -> Shape {
    let base = [[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [0.0, 0.8, 0.0]];
    let vertices: Vec<Vec3> = base.into_iter().map(Vec3::from).collect();
    Shape::tri_mesh(vertices, vec![[0, 1, 2], [0, 2, 3], [0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0]])
}

/// A stair of filled cells of 0.4 m.
fn voxel_stair() -> Shape {
    let cells: Vec<[i32; 3]> = (0..4).flat_map(|x| (0..=x).flat_map(move |y| (0..4).map(move |z| [x, y, z]))).collect();
    Shape::Voxels { size: Vec3::splat(0.4), cells: cells.into() }
}

/// A table: a slab on two walls.
fn table() -> Shape {
    let part = |x: Real, y: Real, half: [Real; 3]| {
        (Pose::at(Vec3::new(x, y, 0.0)), Shape::Box { half_extents: Vec3::from(half) })
    };
    let parts =
        [part(0.0, 0.2, [0.5, 0.05, 0.3]), part(-0.4, -0.1, [0.05, 0.25, 0.3]), part(0.4, -0.1, [0.05, 0.25, 0.3])];
    Shape::compound(parts.to_vec())
}

/// An octahedron.
fn gem() -> Shape {
    let r = 0.35;
    Shape::convex_hull(vec![Vec3::X * r, -Vec3::X * r, Vec3::Y * r, -Vec3::Y * r, Vec3::Z * r, -Vec3::Z * r])
}

fn terrain() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    // resistance of soft ground, or the round ones would roll for minutes
    let soil = SurfaceMaterial { rolling_resistance: 0.1, ..SurfaceMaterial::friction(0.7) };
    let scenery = [
        ("hills", hills(), [0.0, 0.0, 0.0]),
        ("abyss", Shape::half_space(Vec3::Y), [0.0, -5.0, 0.0]),
        ("pyramid", pyramid_mesh(), [-3.0, 0.2, 3.0]),
        ("stair", voxel_stair(), [3.0, -0.2, 2.0]),
        ("boulder", Shape::Sdf(Arc::new(Sdf::sphere(Vec3::ZERO, 1.0))), [3.0, 0.0, -3.0]),
    ];
    for (name, shape, at) in scenery {
        world.add_rigid(RigidBody::fixed().shape(shape).material(soil).at(at).named(name))?;
    }
    // the first three fall on pyramid, stair and boulder
    let falling = [
        ("capsule", Shape::capsule(0.3, 0.15), [-3.1, 2.0, 3.0]),
        ("box", Shape::cuboid(0.3, 0.2, 0.25), [4.1, 2.6, 2.7]),
        ("ball", Shape::ball(0.3), [3.2, 2.0, -3.1]),
        ("cylinder", Shape::cylinder(0.2, 0.3), [-1.0, 1.5, -1.0]),
        ("cone", Shape::cone(0.3, 0.3), [1.0, 1.5, 0.0]),
        ("gem", gem(), [-4.0, 2.0, -4.0]),
        ("table", table(), [0.0, 2.0, 4.0]),
    ];
    for (i, (name, shape, at)) in falling.into_iter().enumerate() {
        let tilt = Quat::from_rotation_z(0.3 + 0.2 * i as Real);
        world.add_rigid(RigidBody::dynamic().shape(shape).material(soil).at(at).turned(tilt).named(name))?;
    }
    Ok(world)
}
