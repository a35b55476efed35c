//! Scenes that several test files share.
#![allow(dead_code, reason = "each test file uses its own part")]

use sinew::*;

/// 40 steps of the world built by `make` are bitwise identical in lanes and without, with two threads, and when another
/// world continues from a snapshot at half the steps. Returns that world at its end.
pub fn same_bits(settings: Settings, make: impl Fn(Settings) -> Result<World, Error>) -> Result<World, Error> {
    let steps = |world: &mut World, count: u32| {
        for _ in 0..count {
            assert!(world.step(&Input::none()).faults.is_empty());
        }
    };
    let run = |settings: Settings| -> Result<u64, Error> {
        let mut world = make(settings)?;
        steps(&mut world, 40);
        Ok(world.hash())
    };
    let one = run(settings.clone())?;
    assert_eq!(one, run(Settings { lanes: false, ..settings.clone() })?, "lanes");
    assert_eq!(one, run(Settings { threads: 2, ..settings.clone() })?, "threads");
    let (mut first, mut second) = (make(settings.clone())?, make(settings)?);
    steps(&mut first, 20);
    second.restore(&first.snapshot())?;
    steps(&mut second, 20);
    assert_eq!(one, second.hash(), "restored");
    Ok(second)
}

/// A mixture of features: boxes, balls, capsules, hulls, joints, a motor, a rope with particles, a sensor, a kinematic
/// paddle, a jelly with a box on it.
pub struct Zoo {
    pub world: World,
    pub paddle: BodyId,
    pub boxes: Vec<BodyId>,
    pub dust: BodyId,
    pub jelly: BodyId,
}

pub fn zoo(threads: u32) -> Result<Zoo, Error> {
    let mut world = World::new(Settings { threads, ..Settings::default() })?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let mut boxes = Vec::new();
    for k in 0..60 {
        let (x, y, z) = ((k % 4) as Real * 0.55 - 0.8, 0.3 + (k / 8) as Real * 0.45, ((k / 4) % 2) as Real * 0.6);
        let shape = match k % 5 {
            0 | 1 => Shape::cuboid(0.2, 0.2, 0.2),
            2 => Shape::ball(0.2),
            3 => Shape::capsule(0.1, 0.15),
            _ => Shape::convex_hull(vec![
                Vec3::new(0.2, 0.0, 0.0),
                Vec3::new(-0.2, 0.0, 0.1),
                Vec3::new(-0.1, 0.25, -0.1),
                Vec3::new(0.0, 0.05, -0.2),
                Vec3::new(0.05, -0.15, 0.1),
            ]),
        };
        let material =
            SurfaceMaterial { restitution: if k % 3 == 0 { 0.4 } else { 0.0 }, ..SurfaceMaterial::friction(0.6) };
        boxes.push(world.add_rigid(RigidBody::dynamic().shape(shape).at([x, y, z]).material(material))?);
    }
    // a hinge with a motor, a pendulum chain, a rope with particles
    let wheel = world.add_rigid(RigidBody::dynamic().shape(Shape::cylinder(0.1, 0.3)).at([3.0, 1.0, 0.0]))?;
    let spin = Motor::Velocity { target: 4.0, max_force: 50.0 };
    world.add_joint(Joint::hinge(None, Some(wheel)).axis(Vec3::Y).motor(spin))?;
    let mut above = None;
    for k in 0..4 {
        let at = Vec3::new(-3.0 + 0.3 * k as Real, 2.0, 0.0);
        let link = world.add_rigid(RigidBody::dynamic().shape(Shape::capsule(0.1, 0.04)).at(at))?;
        world.add_joint(Joint::ball(above, Some(link)).anchor(at - Vec3::X * 0.15))?;
        above = Some(link);
    }
    let line: Vec<Vec3> = (0..10).map(|k| Vec3::new(2.0, 2.5 - 0.1 * k as Real, 1.0)).collect();
    let dust = world.add_particles(Particles::new(line).mass(0.05).radius(0.02).pinned(vec![0]))?;
    for k in 0..9 {
        let (a, b) = (Site::Node { body: dust, node: k }, Site::Node { body: dust, node: k + 1 });
        world.add_distance(Distance::rope(a, b, 0.1))?;
    }
    world.add_rigid(
        RigidBody::fixed().collider(Collider::new(Shape::cuboid(0.5, 0.5, 0.5)).sensor(true)).at([0.0, 0.5, 0.0]),
    )?;
    let paddle = world.add_rigid(RigidBody::kinematic().shape(Shape::cuboid(0.1, 0.5, 1.0)).at([-2.0, 0.5, 0.0]))?;
    let mesh = TetMesh::block([3; 3], Vec3::splat(0.3)).map_err(|e| Error::BadSnapshot(e.to_string()))?;
    let jelly = world.add_soft(
        SoftBody::corotational(mesh, ElasticMaterial::new(3e4, 0.3, 1000.0).damping(0.0))
            .at([5.0, 0.25, 0.0])
            .spin([0.3, 1.0, 0.0]),
    )?;
    world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.1)).at([5.05, 0.6, 0.02]))?;
    Ok(Zoo { world, paddle, boxes, dust, jelly })
}

/// The paddle moves through the heap; forces and impulses at intervals.
pub fn script(zoo: &Zoo, tick: u64) -> Input {
    let phase = (tick as Real * 0.02).min(3.0);
    let mut input = Input::none().target(zoo.paddle, Pose::at(Vec3::new(-2.0 + phase, 0.5, 0.0)));
    if tick % 40 == 7 {
        let body = zoo.boxes[(tick / 40) as usize % zoo.boxes.len()];
        let point = Vec3::new(0.1, 0.2, 0.0);
        input = input.with(Command::Impulse { body, impulse: Vec3::new(1.0, 20.0, -2.0), point });
    }
    input
}
