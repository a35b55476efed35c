//! Soft bodies: one pudding, every model side by side, a cloth, ropes, a body that keeps its dents.

use super::{Scene, floor, no_input};
use sinew::fem::{Elements, Law, Plasticity, SolidParams};
use sinew::shape_matching::{Clusters, Damping, Mode};
use sinew::{
    Diagonals, Error, Geometry, Material, Matter, Polyline, Real, RigidBody, Settings, Shape, SoftBody, SoftModel,
    TetMesh, TriMesh, Vec3, World, meshless, pbd, shape_matching, spring,
};

/// A pudding to pull.
pub(super) const PUDDING: Scene = Scene {
    name: "pudding",
    about: "A pudding lands on the floor and wobbles; a bar of chocolate sinks into it.",
    figure: "",
    build: pudding,
    input: no_input,
    seconds: 5.0,
};

/// All models on one task.
pub(super) const MODELS: Scene = Scene {
    name: "models",
    about: "The same cylinder in seven models, each with the same plate dropped on it.",
    figure: "ICD Fig. 2",
    build: models,
    input: no_input,
    seconds: 4.0,
};

/// A sheet over a ball.
pub(super) const DRAPE: Scene = Scene {
    name: "drape",
    about: "A cloth of 31 x 31 nodes falls over a ball and hangs in folds.",
    figure: "",
    build: drape,
    input: no_input,
    seconds: 5.0,
};

/// Ropes that hold something.
pub(super) const ROPES: Scene = Scene {
    name: "ropes",
    about: "Three ropes of rising stiffness are pinned at one end and swing against a post.",
    figure: "",
    build: ropes,
    input: no_input,
    seconds: 5.0,
};

/// Plastic flow.
pub(super) const DENT: Scene = Scene {
    name: "dent",
    about: "A heavy ball falls into a block of putty; the dent stays.",
    figure: "",
    build: dent,
    input: no_input,
    seconds: 4.0,
};

fn bad(what: &'static str) -> impl Fn(String) -> Error {
    move |reason| Error::BadShape { shape: what.to_owned(), reason }
}

fn pudding() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let matter = Matter::jelly();
    floor(&mut world, matter.surface())?;
    let mesh = TetMesh::block([8, 6, 8], Vec3::new(0.2, 0.15, 0.2)).map_err(|e| bad("jelly")(e.to_string()))?;
    world.add_soft(SoftBody::corotational(mesh, matter).at([0.0, 0.2, 0.0]).named("pudding"))?;
    let bar = Shape::cuboid(0.07, 0.01, 0.035);
    let chocolate = RigidBody::dynamic().shape(bar).mass(0.15 as Real).material(matter.surface());
    world.add_rigid(chocolate.at([0.0, 0.4, 0.0]).named("chocolate"))?;
    Ok(world)
}

fn models() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let matter = Matter::new(2e4, 0.3, 1000.0);
    floor(&mut world, matter.surface())?;
    let Matter { youngs_modulus, poisson_ratio, density, damping, .. } = matter;
    let solid =
        SolidParams { youngs_modulus, poisson_ratio, density, stiffness_damping: damping, ..Default::default() };
    let internal = Damping::Internal { rate: 3.0 };
    let all = [
        SoftBody::corotational(cylinder()?, matter).model,
        SoftModel::Solid(SolidParams { law: Law::NeoHookean, ..solid }),
        SoftModel::Solid(SolidParams { elements: Elements::Tet10, ..solid }),
        SoftModel::Springs(spring::Params {
            stiffness: spring::Stiffness::Young(youngs_modulus),
            ..Default::default()
        }),
        SoftModel::Pbd(
            pbd::Matter::Solid(pbd::Solid { youngs_modulus, poisson_ratio, density }),
            pbd::Params { damping: internal, ..Default::default() },
        ),
        SoftModel::ShapeMatching(
            density,
            Clusters::One,
            shape_matching::Params {
                mode: Mode::Quadratic { beta: 0.7 },
                damping: internal,
                frequency: 15.0,
                ..Default::default()
            },
        ),
        SoftModel::Meshless(
            meshless::Params { youngs_modulus, poisson_ratio, density, damping, ..Default::default() },
            0.0,
        ),
    ];
    for (k, model) in all.into_iter().enumerate() {
        let x = 0.25 * (k as Real - 3.0);
        let name = model.name();
        let body = SoftBody::new(Geometry::Tets(cylinder()?), model).material(matter.surface());
        world.add_soft(body.at([x, 0.0505, 0.0]).named(name))?;
        let plate = RigidBody::dynamic().shape(Shape::cylinder(0.01, 0.08)).mass(0.5).material(matter.surface());
        world.add_rigid(plate.at([x, 0.2, 0.0]))?;
    }
    Ok(world)
}

fn cylinder() -> Result<TetMesh, Error> {
    TetMesh::cylinder(0.07, 0.1, 3).map_err(|e| bad("cylinder")(e.to_string()))
}

fn drape() -> Result<World, Error> {
    let mut world = World::new(Settings { substeps: 12, ..Settings::default() })?;
    let surface = Material::friction(0.3);
    floor(&mut world, surface)?;
    world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.3)).at([0.0, 0.45, 0.0]).material(surface))?;
    let mesh = TriMesh::sheet([30, 30], [1.2, 1.2], Diagonals::Alternating).map_err(|e| bad("cloth")(e.to_string()))?;
    let sheet = pbd::Sheet {
        stretch: 2000.0,
        bend: 2e-5,
        density: 0.15,
        compression: 0.1,
        brace: 0.0,
        stretch_limit: Real::INFINITY,
    };
    let params = pbd::Params { iterations: 1, ..Default::default() };
    let model = SoftModel::Pbd(pbd::Matter::Sheet(sheet), params);
    let body = SoftBody::new(Geometry::Sheet(mesh), model).thickness(0.004).material(surface).damping(0.3);
    world.add_soft(body.at([0.03, 0.9, 0.02]).named("cloth"))?;
    Ok(world)
}

fn ropes() -> Result<World, Error> {
    let mut world = World::new(Settings { substeps: 10, ..Settings::default() })?;
    floor(&mut world, Material::friction(0.4))?;
    let post = RigidBody::fixed().shape(Shape::capsule(0.6, 0.05)).at([0.0, 0.9, 0.0]);
    world.add_rigid(post.turned(sinew::Quat::from_rotation_x(std::f64::consts::FRAC_PI_2 as Real)))?;
    for (k, bend) in [0.0, 1e-3, 1e-2].into_iter().enumerate() {
        let z = 0.3 * (k as Real - 1.0);
        let (from, to) = (Vec3::new(-0.6, 1.3, z), Vec3::new(0.6, 1.3, z));
        let rope = Polyline::rope(from, to, 24).map_err(|e| bad("rope")(e.to_string()))?;
        let cord = pbd::Cord { stretch: 5000.0, bend, density: 0.1, compression: 0.2 };
        let model = SoftModel::Pbd(pbd::Matter::Cord(cord), pbd::Params { iterations: 4, ..Default::default() });
        let body = SoftBody::new(Geometry::Rope(rope.points), model).thickness(0.012).pinned(vec![0]);
        world.add_soft(body.damping(0.1).named("rope"))?;
    }
    Ok(world)
}

fn dent() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let surface = Material::friction(0.6);
    floor(&mut world, surface)?;
    let mesh = TetMesh::block([10, 4, 10], Vec3::new(0.3, 0.12, 0.3)).map_err(|e| bad("putty")(e.to_string()))?;
    let plasticity = Some(Plasticity { yield_stress: 2e3, creep: 20.0, max_strain: 0.6 });
    let putty = SolidParams {
        youngs_modulus: 5e4,
        poisson_ratio: 0.3,
        density: 1200.0,
        stiffness_damping: 0.01,
        plasticity,
        ..Default::default()
    };
    let body = SoftBody::new(Geometry::Tets(mesh), SoftModel::Solid(putty)).material(surface);
    world.add_soft(body.at([0.0, 0.0605, 0.0]).named("putty"))?;
    let ball = RigidBody::dynamic().shape(Shape::ball(0.06)).mass(3.0).material(surface);
    world.add_rigid(ball.at([0.02, 0.3, 0.0]).named("ball"))?;
    Ok(world)
}
