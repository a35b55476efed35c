//! Friction laws at work: a block on a belt, soft balls on a slope, crossed cylinders, soft pads that lift a plate. Each has its law
//! and runs with any other one ([`with_law`]; `--set parameters.law=NAME` on the command line).

use super::cylinders::cylinders_of;
use super::{Scene, floor, named, no_input, refused};
use sinew::friction::{Curve, ElastoPlastic, Karnopp, Law, LuGre};
use sinew::{
    BodySpec, Command, Distance, Error, Input, Material, Matter, Quat, Real, RigidBody, Settings, Shape, Site,
    SoftBody, TetMesh, Vec3, World,
};

/// A block that a belt carries until its spring is stronger.
pub(super) const STICK_SLIP: Scene = Scene {
    name: "stick-slip",
    about: "A belt carries a block until the spring pulls it back, over and over (LuGre).",
    figure: "",
    build: stick_slip,
    input: no_input,
    seconds: 20.0,
};

/// Three balls, three frictions.
pub(super) const BALL_INCLINE: Scene = Scene {
    name: "ball-incline",
    about: "Soft balls on a slope: the slippery one slides, those with friction roll, with twice of it hardly slower.",
    figure: "FC Fig. 5.17",
    build: ball_incline,
    input: no_input,
    seconds: 3.0,
};

/// The upper cylinder stays.
pub(super) const CYLINDERS_FRICTION: Scene = Scene {
    name: "cylinders-friction",
    about: "A soft cylinder slides along one that is held at both ends until friction stops it (Karnopp).",
    figure: "FC Fig. 5.16",
    build: || sliding_cylinders(0.6),
    input: no_input,
    seconds: 2.0,
};

/// The upper cylinder leaves.
pub(super) const CYLINDERS_SLIPPERY: Scene = Scene {
    name: "cylinders-slippery",
    about: "The same two cylinders without friction: the upper one slides off the end.",
    figure: "FC Fig. 5.16",
    build: || sliding_cylinders(0.0),
    input: no_input,
    seconds: 2.0,
};

/// Two soft pads and a plate.
pub(super) const GRIP: Scene = Scene {
    name: "grip",
    about: "Soft pads close on a plate of 8 kg and lift it; friction alone holds it (elasto-plastic).",
    figure: "",
    build: grip,
    input: grip_input,
    seconds: 6.0,
};

/// The same world with another friction law on all its surfaces; coefficients stay.
///
/// # Errors
/// A law with parameters that cannot be, or a world with rows of its own.
pub fn with_law(world: &World, law: Law) -> Result<World, Error> {
    let mut plan = world.blueprint()?;
    for spec in plan.bodies.iter_mut().filter_map(|slot| slot.item.as_mut()) {
        match spec {
            BodySpec::Rigid(body) => body.colliders.iter_mut().for_each(|c| c.material.law = law),
            BodySpec::Particles(body) => body.material.law = law,
            BodySpec::Soft(body) => body.material.law = law,
        }
    }
    World::build(plan, world.state())
}

fn stick_slip() -> Result<World, Error> {
    let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
    // the viscosity of greased metal would let it glide where the spring balances it
    let law = Law::LuGre(dry_bristle());
    let material = Material { static_friction: 0.45, kinetic_friction: 0.3, law, ..Material::default() };
    let belt = RigidBody::kinematic().shape(Shape::cuboid(4.0, 0.05, 0.2)).material(material);
    world.add_rigid(belt.at([-3.0, -0.05, 0.0]).velocity([0.1, 0.0, 0.0]).named("belt"))?;
    let block = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.1)).mass(1.0).material(material);
    let body = world.add_rigid(block.at([0.0, 0.05, 0.0]).named("block"))?;
    let (wall, hook) = (Site::World(Vec3::new(-1.0, 0.05, 0.0)), Site::Rigid { body, local: Vec3::ZERO });
    world.add_distance(Distance::spring(wall, hook, 1.0, 20.0, 0.0))?;
    Ok(world)
}

fn ball_incline() -> Result<World, Error> {
    let mut world = World::new(Settings::default())?;
    let normal = Quat::from_rotation_z(-0.26) * Vec3::Y;
    // the pair has the root of the product
    let slope = Material::friction(0.3);
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(normal)).material(slope).named("slope"))?;
    let balls = [("slippery", 0.0), ("rubbing", 0.3), ("rubbing twice", 1.2)];
    for (k, (name, friction)) in balls.into_iter().enumerate() {
        let mesh = TetMesh::ball(0.1, 6).map_err(refused("ball"))?;
        let material = Material::friction(friction).law(dry_karnopp());
        let body = SoftBody::corotational(mesh, Matter::new(5e4, 0.3, 1000.0)).material(material);
        let across = Vec3::Z * (0.4 * (k as Real - 1.0));
        world.add_soft(body.at(normal * 0.12 + across).named(name))?;
    }
    Ok(world)
}

fn dry_bristle() -> LuGre {
    LuGre { damping: 0.0, curve: Curve { viscosity: 0.0, ..Curve::default() }, ..LuGre::default() }
}

/// FC leaves the Stribeck effect out for soft bodies.
fn dry_karnopp() -> Law {
    let curve = Curve { viscosity: 0.0, ..Curve::default() };
    Law::Karnopp(Karnopp { dead_band: 1e-3, curve })
}

/// The upper cylinder sets out along the lower one's axis: to its end there are 0.125 m. Twenty times as stiff as in
/// `cylinders-coarse`, where the lower one sags by 8 cm and throws the upper one off.
fn sliding_cylinders(friction: Real) -> Result<World, Error> {
    let surface = Material::friction(friction).law(dry_karnopp());
    cylinders_of([4, 5, 23], 6e5, surface, Vec3::new(0.0, 0.0, 0.3))
}

/// Half thickness of the plate and thickness of a pad [m].
const PLATE: Real = 0.02;
const PAD: Real = 0.04;
/// Cells of a pad.
const CELLS: [u32; 3] = [2, 4, 4];

fn pad() -> Result<TetMesh, Error> {
    TetMesh::block(CELLS, Vec3::new(PAD, 0.1, 0.1)).map_err(refused("pad"))
}

/// Where the middle of a pad is at a time [s]: it closes by 6 mm in half a second and rises by 0.15 m in the next.
fn pad_place(side: Real, time: f64) -> Vec3 {
    let along = |from: f64, to: f64| ((time - from) / (to - from)).clamp(0.0, 1.0) as Real;
    let x = PLATE + 0.5 * PAD + 1e-3 - 7e-3 * along(0.0, 0.5);
    Vec3::new(side * x, 0.12 + 0.15 * along(0.6, 1.6), 0.0)
}

fn grip() -> Result<World, Error> {
    let mut world = World::new(Settings { dt: 0.005, ..Settings::default() })?;
    floor(&mut world, Material::friction(0.6))?;
    let law = Law::ElastoPlastic(ElastoPlastic { bristle: dry_bristle(), elastic_share: 0.9 });
    let material = Material::friction(0.6).law(law);
    let plate = RigidBody::dynamic().shape(Shape::cuboid(PLATE, 0.12, 0.12)).mass(8.0).material(material);
    world.add_rigid(plate.at([0.0, 0.12, 0.0]).named("plate"))?;
    for (name, side) in [("left pad", -1.0), ("right pad", 1.0)] {
        let body = SoftBody::corotational(pad()?, Matter::new(1e5, 0.3, 1000.0)).material(material);
        // the outer face is that of the jaw
        let outer = 0.5 * side * PAD;
        let body = body.pin_region([outer - 1e-4, -1.0, -1.0], [outer + 1e-4, 1.0, 1.0]);
        world.add_soft(body.at(pad_place(side, 0.0)).named(name))?;
    }
    Ok(world)
}

/// The outer faces of the pads go where the jaws are.
fn grip_input(world: &World, tick: u64) -> Input {
    let time = (tick + 1) as f64 * crate::validate::tools::num(world.settings().dt);
    let mut input = Input::none();
    let Ok(mesh) = pad() else { return input };
    for (name, side) in [("left pad", -1.0), ("right pad", 1.0)] {
        let Some(body) = named(world, name) else { continue };
        let place = pad_place(side, time);
        for (node, vertex) in mesh.vertices.iter().enumerate() {
            if (vertex.x - 0.5 * side * PAD).abs() < 1e-4 {
                input = input.with(Command::NodeTarget { body, node: node as u32, position: place + *vertex });
            }
        }
    }
    input
}
