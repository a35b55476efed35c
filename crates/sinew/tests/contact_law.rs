//! One contact law for all bodies: slides, break-away, rolling, impacts and forces are those of closed forms, whichever
//! kernel solves the contact.

use sinew::friction::{Karnopp, Law, LuGre, Stribeck};
use sinew::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const G: Real = 9.81;

fn settings(dt: Real, gravity: Vec3) -> Settings {
    Settings { dt, gravity, sleep_time: Real::INFINITY, ..Settings::default() }
}

fn floor(world: &mut World, material: SurfaceMaterial) -> Result<BodyId, Error> {
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(material))
}

/// Gravity of a slope with this tangent.
fn slope(tangent: Real) -> Vec3 {
    let angle = tangent.atan();
    Vec3::new(angle.sin(), -angle.cos(), 0.0) * G
}

fn run(world: &mut World, seconds: Real) {
    for _ in 0..(seconds / world.settings().dt).round() as u32 {
        world.step(&Input::none());
        assert!(world.report().faults.is_empty(), "{:?}", world.report().faults);
    }
}

/// Acceleration along x between two times, in units of that of a rigid block.
fn slides(world: &mut World, body: BodyId, [from, to]: [Real; 2], mu: Real) -> Result<Real, Error> {
    run(world, from);
    let before = world.body(body)?.velocity().x;
    run(world, to - from);
    let gravity = world.settings().gravity;
    let free = gravity.x + mu * gravity.y;
    Ok((world.body(body)?.velocity().x - before) / ((to - from) * free))
}

/// Small bodies had no smooth motions in the preconditioner; a pass took 88 iterations, and a solve ran out of them.
#[test]
fn a_small_elastic_block_slides_as_a_rigid_one_in_one_long_substep() -> Outcome {
    for (youngs, dt, mu, tangent) in [(2e6, 0.02, 0.45, 0.7), (5e5, 1.0 / 60.0, 0.75, 1.05), (2e7, 0.015, 0.3, 0.5)] {
        let mut world = World::new(settings(dt, slope(tangent)))?;
        let material = SurfaceMaterial::friction(mu);
        floor(&mut world, material)?;
        let mesh = TetMesh::block([4, 3, 4], Vec3::new(0.12, 0.08, 0.12))?;
        let block = SoftBody::corotational(mesh, ElasticMaterial::new(youngs, 0.35, 1100.0)).material(material);
        let block = world.add_soft(block.at([0.0, 0.04, 0.0]))?;
        let mut iterations = 0;
        let steps = (0.5 / dt).round();
        for _ in 0..steps as u32 {
            iterations += world.step(&Input::none()).counts.iterations;
        }
        let gravity = world.settings().gravity;
        let right = (gravity.x + mu * gravity.y) * steps * dt;
        let speed = world.body(block)?.velocity().x;
        // it leaves rest within a few steps
        assert!((speed / right - 1.0).abs() < 0.03, "{youngs:e} Pa, mu {mu}: {speed} m/s, right {right}");
        assert!((iterations as Real) < 60.0 * steps, "{youngs:e} Pa, mu {mu}: {} a step", iterations as Real / steps);
    }
    Ok(())
}

/// The load of the substep was taken for slip: a box at rest held with its kinetic coefficient.
#[test]
fn a_box_in_an_implicit_island_breaks_away_at_its_static_coefficient() -> Outcome {
    let laws = [
        Law::default(),
        Law::Stribeck(Stribeck::default()),
        Law::Karnopp(Karnopp::default()),
        Law::LuGre(LuGre::default()),
    ];
    let (holding, slipping) = (0.7, 0.45);
    for (law, dt) in laws.into_iter().flat_map(|law| [(law, 1.0 / 60.0), (law, 0.005)]) {
        let material = SurfaceMaterial { static_friction: holding, kinetic_friction: slipping, ..Default::default() };
        let material = material.law(law);
        let mut world = World::new(settings(dt, Vec3::Y * -G))?;
        floor(&mut world, material)?;
        let shape = Shape::cuboid(0.15, 0.02, 0.12);
        let body =
            world.add_rigid(RigidBody::dynamic().shape(shape).mass(2.0).material(material).at([0.0, 0.02, 0.0]))?;
        // a light elastic cube on it makes the island implicit
        let mesh = TetMesh::block([1; 3], Vec3::splat(0.05))?;
        let cube = SoftBody::corotational(mesh, ElasticMaterial::new(1e6, 0.3, 80.0));
        world.add_soft(cube.material(SurfaceMaterial::friction(2.0)).at([0.0, 0.065, 0.0]))?;
        run(&mut world, 0.3);
        let (mut share, rate) = (0.0, 0.25);
        while world.body(body)?.velocity().x < 0.02 && share < 1.0 {
            share += rate * dt;
            world.set_settings(Settings { gravity: Vec3::new(share, -1.0, 0.0) * G, ..world.settings().clone() })?;
            world.step(&Input::none());
        }
        // it reaches 2 cm/s within 0.01 s after that
        assert!((share - holding).abs() < 0.03, "{} {dt} s: {share}", law.name());
    }
    Ok(())
}

/// The torques along two tangents were bounded one by one: a square and not a disc.
#[test]
fn rolling_resistance_in_an_implicit_island_is_the_same_in_all_directions() -> Outcome {
    let (lever, radius) = (0.002, 0.08);
    for degrees in [0.0, 45.0, 70.0_f64] {
        let angle = degrees.to_radians();
        let along = Vec3::new(angle.cos() as Real, 0.0, angle.sin() as Real);
        let material = SurfaceMaterial { rolling_resistance: lever, ..SurfaceMaterial::friction(0.6) };
        let mut world = World::new(settings(0.005, Vec3::Y * -G))?;
        floor(&mut world, material)?;
        let plate = RigidBody::dynamic().shape(Shape::cuboid(1.5, 0.05, 1.5)).mass(4000.0).material(material);
        let plate = world.add_rigid(plate.at([0.0, 0.05, 0.0]))?;
        let mesh = TetMesh::block([1; 3], Vec3::splat(0.05))?;
        world.add_soft(SoftBody::corotational(mesh, ElasticMaterial::new(1e6, 0.3, 100.0)).at([-1.2, 0.125, -1.2]))?;
        let ball = RigidBody::dynamic().shape(Shape::ball(radius)).mass(1.0).material(material);
        let ball = ball.at([0.0, 0.1 + radius, 0.0]).velocity(along).spin(Vec3::Y.cross(along) / radius);
        let ball = world.add_rigid(ball)?;
        run(&mut world, 0.1);
        let before = world.body(ball)?.velocity();
        run(&mut world, 0.5);
        let lost = before - world.body(ball)?.velocity();
        let right = 5.0 / 7.0 * lever / radius * G * 0.5;
        assert!((lost.dot(along) / right - 1.0).abs() < 0.03, "{degrees} degrees: {lost}, right {right}");
        let aside = lost.dot(along.cross(Vec3::Y));
        assert!(aside.abs() < 0.03 * right, "{degrees} degrees: {aside} aside of {right}");
        assert!(world.body(plate)?.velocity().length() < 1e-3);
    }
    Ok(())
}

/// The points of a face act on one body: solved one after the other they left it a part of its speed, and a spin.
#[test]
fn flat_boxes_rebound_with_their_restitution() -> Outcome {
    for (restitution, half) in [(0.4, [0.1, 0.1, 0.1]), (0.8, [0.25, 0.03, 0.1]), (0.95, [0.3, 0.04, 0.05])] {
        let [x, y, z]: [Real; 3] = half;
        let material = SurfaceMaterial::friction(0.4).restitution(restitution);
        let mut world = World::new(settings(1.0 / 60.0, Vec3::ZERO))?;
        floor(&mut world, material)?;
        let body = RigidBody::dynamic().shape(Shape::cuboid(x, y, z)).mass(1.5).material(material);
        let body = world.add_rigid(body.at([0.0, y + 0.07, 0.0]).velocity([0.0, -2.0, 0.0]))?;
        run(&mut world, 0.3);
        let body = world.body(body)?;
        let part = body.velocity().y / 2.0;
        assert!((part - restitution).abs() < 2e-3, "{half:?}: {part} instead of {restitution}");
        // friction of the sweeps that stop it, point by point, leaves 1.7 % of its speed at the rim
        let rim = body.spin().length() * (x * x + z * z).sqrt();
        assert!(rim < 0.025 * 2.0, "{half:?}: its rim turns with {rim} m/s");
    }
    Ok(())
}

/// The points of a hull are found anew as it slides: new ones slip as those before.
#[test]
fn a_hull_that_slides_has_its_kinetic_coefficient() -> Outcome {
    let (holding, slipping) = (0.8, 0.35);
    let material = SurfaceMaterial { static_friction: holding, kinetic_friction: slipping, ..Default::default() };
    for dt in [1.0 / 60.0, 0.004] {
        let mut world = World::new(settings(dt, slope(0.6)))?;
        floor(&mut world, material)?;
        let ring = (0..14).flat_map(|k| {
            let angle = std::f64::consts::TAU * f64::from(k) / 14.0;
            [-0.015, 0.015].map(|y| Vec3::new(0.12 * angle.cos() as Real, y, 0.12 * angle.sin() as Real))
        });
        let puck = RigidBody::dynamic().shape(Shape::convex_hull(ring.collect::<Vec<_>>())).mass(0.7);
        let puck = world.add_rigid(puck.material(material).at([0.0, 0.015, 0.0]).velocity([0.8, 0.0, 0.0]))?;
        let part = slides(&mut world, puck, [0.1, 0.7], slipping)?;
        assert!((part - 1.0).abs() < 0.02, "{dt} s: {part}");
    }
    Ok(())
}

/// Contacts that opened in a step were left out of the report with the friction that they had.
#[test]
fn forces_on_a_box_that_rocks_on_an_explicit_soft_body_are_the_change_of_its_momentum() -> Outcome {
    let springs = spring::Params {
        stiffness: spring::Stiffness::Young(8e4),
        mass: spring::Mass::Density(900.0),
        ..Default::default()
    };
    let matching = shape_matching::Params { frequency: 25.0, ..Default::default() };
    let models =
        [SoftModel::Springs(springs), SoftModel::ShapeMatching(900.0, shape_matching::Clusters::One, matching)];
    for model in models {
        let mut world = World::new(settings(1.0 / 60.0, Vec3::Y * -G))?;
        let material = SurfaceMaterial::friction(0.6);
        floor(&mut world, material)?;
        let mesh = TetMesh::block([3; 3], Vec3::splat(0.24))?;
        world.add_soft(SoftBody::new(Geometry::Tets(mesh), model).material(material).at([0.0, 0.121, 0.0]))?;
        let body = RigidBody::dynamic().shape(Shape::cuboid(0.09, 0.03, 0.07)).mass(2.5).material(material);
        let body = body.turned(Quat::from_rotation_y(0.5)).at([0.01, 0.28, 0.0]).velocity([0.6, 0.0, -0.2]);
        let body = world.add_rigid(body)?;
        for step in 0..80 {
            let before = world.body(body)?.velocity();
            world.step(&Input::none());
            let gained = (world.body(body)?.velocity() - before) * 2.5;
            let sum = |sum: Vec3, (a, b, force): (BodyId, BodyId, Vec3)| match () {
                () if b == body => sum + force,
                () if a == body => sum - force,
                () => sum,
            };
            let pairs = world.report().pairs.iter().map(|p| (p.a, p.b, p.force)).fold(Vec3::ZERO, sum);
            let points = world.report().contacts.iter().map(|c| (c.a, c.b, c.force)).fold(Vec3::ZERO, sum);
            let dt = world.settings().dt;
            for force in [pairs, points] {
                let residual = gained - (force + world.settings().gravity * 2.5) * dt;
                let allowed = 2e-4 * 2.5 * G * dt + 2e-5 * force.length() * dt;
                assert!(residual.length() < allowed, "step {step}: {residual} N s of {force} N");
            }
        }
    }
    Ok(())
}
