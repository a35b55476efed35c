//! Behaviour of a world at its public interface: shapes, joints, events, queries, commands.

use sinew::*;
use std::sync::Arc;

fn floor(world: &mut World) -> Result<BodyId, Error> {
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).named("floor"))
}

fn run(world: &mut World, seconds: Real) {
    let steps = (seconds / world.settings().dt).round() as u32;
    for _ in 0..steps {
        world.step(&Input::none());
    }
}

/// Sum of all contact forces on a body, mean over the next `steps` [N].
fn mean_force(world: &mut World, body: BodyId, steps: u32) -> Vec3 {
    (0..steps).map(|_| world.step(&Input::none()).contact_force_on(body)).sum::<Vec3>() / steps as Real
}

#[test]
fn every_shape_comes_to_rest_and_its_contact_force_is_its_weight() -> Result<(), Error> {
    let tetrahedron = vec![Vec3::ZERO, Vec3::X * 0.6, Vec3::Z * 0.6, Vec3::Y * 0.6];
    let faces = vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
    let two =
        vec![(Pose::at(Vec3::X * 0.3), Shape::ball(0.2)), (Pose::at(Vec3::X * -0.3), Shape::cuboid(0.2, 0.2, 0.2))];
    let shapes = [
        Shape::ball(0.3),
        Shape::cuboid(0.3, 0.2, 0.4),
        Shape::capsule(0.2, 0.2),
        Shape::cylinder(0.3, 0.3),
        Shape::cone(0.3, 0.3),
        Shape::convex_hull(tetrahedron.clone()),
        Shape::compound(two),
        Shape::tri_mesh(tetrahedron, faces),
        Shape::Voxels { size: Vec3::splat(0.2), cells: Arc::new([[0, 0, 0], [1, 0, 0], [0, 1, 0]]) },
    ];
    for shape in shapes {
        let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
        let ground = RigidBody::fixed().shape(Shape::cuboid(10.0, 0.5, 10.0)).at([0.0, -0.5, 0.0]);
        world.add_rigid(ground)?;
        let material =
            SurfaceMaterial { rolling_resistance: 0.02, spinning_resistance: 0.02, ..SurfaceMaterial::friction(0.6) };
        let name = shape.name();
        let body =
            world.add_rigid(RigidBody::dynamic().shape(shape).mass(2.0).at([0.0, 0.6, 0.0]).material(material))?;
        run(&mut world, 6.0);
        let b = world.body(body)?;
        assert!(b.velocity().length() < 0.05, "{name} still moves at {} m/s", b.velocity().length());
        assert!(b.center_of_mass().y > 0.05 && b.center_of_mass().y < 0.7, "{name} is at {}", b.center_of_mass());
        let force = mean_force(&mut world, body, 60);
        assert!((force.y / (2.0 * 9.81) - 1.0).abs() < 0.02, "{name} weighs {} N", force.y);
    }
    Ok(())
}

#[test]
fn a_ball_rests_on_a_height_field_and_in_a_bowl() -> Result<(), Error> {
    let heights: Vec<Real> = (0..25).map(|k| if k % 5 == 2 { 0.0 } else { 0.3 }).collect();
    let field = Shape::HeightField { heights: heights.into(), rows: 5, scale: Vec3::new(4.0, 1.0, 4.0) };
    let bowl = Shape::sdf(Sdf::bowl(Vec3::Y, 1.0));
    for (shape, low) in [(field, 0.4), (bowl, 0.12)] {
        let mut world = World::default();
        world.add_rigid(RigidBody::fixed().shape(shape))?;
        let material = SurfaceMaterial { rolling_resistance: 0.01, ..SurfaceMaterial::default() };
        let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.1, 0.6, 0.05]).material(material);
        let ball = world.add_rigid(ball)?;
        run(&mut world, 5.0);
        let y = world.body(ball)?.position().y;
        assert!(y > 0.08 && y < low, "{y}");
    }
    Ok(())
}

#[test]
fn a_bullet_does_not_pass_through_a_thin_wall() -> Result<(), Error> {
    for (speed, continuous) in [(100.0, true), (400.0, true)] {
        let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
        world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.01, 2.0, 2.0)))?;
        let bullet = RigidBody::dynamic().shape(Shape::ball(0.02)).at([-1.7, 0.1, 0.0]).velocity([speed, 0.0, 0.0]);
        let bullet = world.add_rigid(bullet.continuous(continuous))?;
        run(&mut world, 1.0);
        assert!(world.body(bullet)?.position().x < 0.0, "{speed} m/s went through");
    }
    Ok(())
}

#[test]
fn hinges_stop_at_their_limits_and_motors_reach_their_targets() -> Result<(), Error> {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
    let bar = || RigidBody::dynamic().shape(Shape::cuboid(0.5, 0.05, 0.05)).mass(1.0);
    let a = world.add_rigid(bar().at([0.5, 0.0, 0.0]).spin([0.0, 0.0, 3.0]).velocity([0.0, 1.5, 0.0]))?;
    let limited = world.add_joint(Joint::hinge(None, Some(a)).anchor(Vec3::ZERO).axis(Vec3::Z).limits(-0.5, 0.5))?;
    let b = world.add_rigid(bar().at([5.0, 0.0, 0.0]))?;
    let drive = Motor::Velocity { target: 2.0, max_force: 10.0 };
    world.add_joint(Joint::hinge(None, Some(b)).axis(Vec3::Y).motor(drive))?;
    let c = world.add_rigid(bar().at([10.0, 0.0, 0.0]))?;
    let place = Motor::Position { target: 0.7, frequency: 3.0, damping_ratio: 1.0, max_force: 1000.0 };
    let slider = world.add_joint(Joint::slider(None, Some(c)).axis(Vec3::X).motor(place))?;
    run(&mut world, 3.0);
    assert!(world.joint_place(limited)? <= 0.51, "{}", world.joint_place(limited)?);
    assert!((world.body(b)?.spin().y - 2.0).abs() < 1e-3);
    assert!((world.joint_place(slider)? - 0.7).abs() < 1e-2, "{}", world.joint_place(slider)?);
    world.set_motor(slider, Some(Motor::Velocity { target: -1.0, max_force: 100.0 }))?;
    run(&mut world, 0.5);
    assert!((world.body(c)?.velocity().x + 1.0).abs() < 1e-2);
    Ok(())
}

#[test]
fn a_joint_carries_the_weight_it_reports_and_breaks_above_its_strength() -> Result<(), Error> {
    for (kind, strength, breaks) in [("rope", 30.0, false), ("rope", 15.0, true), ("fixed", 15.0, true)] {
        let mut world = World::new(Settings { sleep_time: Real::INFINITY, ..Settings::default() })?;
        let load = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).mass(2.0).at([0.0, -1.0, 0.0]))?;
        let site = Site::Rigid { body: load, local: Vec3::ZERO };
        let id = if kind == "rope" {
            world.add_distance(Distance::rope(Site::World(Vec3::ZERO), site, 1.0).break_force(strength))?
        } else {
            world.add_joint(Joint::fixed(None, Some(load)).break_force(strength))?
        };
        let mut reported = false;
        for _ in 0..60 {
            let report = world.step(&Input::none());
            reported |= report.events.iter().any(|e| matches!(e, Event::Broke { constraint, .. } if *constraint == id));
        }
        assert_eq!(world.is_broken(id)?, breaks);
        assert_eq!(reported, breaks);
        if !breaks {
            let force = world.report().constraints[0].force;
            assert!((force.length() - 2.0 * 9.81).abs() < 0.05, "{force}");
        }
    }
    Ok(())
}

#[test]
fn events_of_a_fall_are_reported_in_order() -> Result<(), Error> {
    let mut world = World::new(Settings { force_threshold: 30.0, ..Settings::default() })?;
    floor(&mut world)?;
    let zone = Collider::new(Shape::cuboid(1.0, 0.2, 1.0)).sensor(true);
    let gate = world.add_rigid(RigidBody::fixed().collider(zone).at([0.0, 2.0, 0.0]))?;
    let body =
        world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.2, 0.2, 0.2)).mass(1.0).at([0.0, 4.0, 0.0]))?;
    let mut story = Vec::new();
    for _ in 0..240 {
        for event in &world.step(&Input::none()).events {
            story.push(match event {
                Event::SensorBegan { sensor, other } if *sensor == gate && *other == body => "in",
                Event::SensorEnded { .. } => "out",
                Event::ContactBegan { .. } => "touch",
                Event::ForceAbove { .. } => "loud",
                Event::Slept(_) => "sleep",
                _ => "other",
            });
        }
    }
    story.dedup();
    assert_eq!(story, ["in", "out", "touch", "loud", "sleep"]);
    assert!(world.body(body)?.is_asleep());
    // an impulse wakes it, and it leaves the ground
    let up = Command::Velocity { body, velocity: Vec3::Y * 3.0, spin: Vec3::ZERO };
    let lift = world.step(&Input::none().with(up));
    let mut ended = lift.events.iter().any(|e| matches!(e, Event::ContactEnded { .. }));
    assert!(!world.body(body)?.is_asleep());
    for _ in 0..30 {
        ended |= world.step(&Input::none()).events.iter().any(|e| matches!(e, Event::ContactEnded { .. }));
    }
    assert!(ended);
    Ok(())
}

#[test]
fn spatial_queries_return_the_nearest_bodies() -> Result<(), Error> {
    let mut world = World::default();
    let ground = floor(&mut world)?;
    let crate_ = world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.5, 0.5, 0.5)).at([0.0, 0.5, 0.0]))?;
    let all = QueryFilter::default();
    let hit = world.cast_ray(Vec3::new(0.0, 5.0, 0.0), -Vec3::Y, 10.0, &all)?.expect("the crate is below");
    assert_eq!(hit.body, crate_);
    assert!((hit.distance - 4.0).abs() < 1e-4 && hit.normal.y > 0.99);
    let except = QueryFilter { except: Some(crate_), ..all };
    let below = world.cast_ray(Vec3::new(0.0, 5.0, 0.0), -Vec3::Y, 10.0, &except)?.expect("the floor is below");
    assert_eq!(below.body, ground);
    assert!(world.cast_ray(Vec3::new(0.0, 5.0, 0.0), Vec3::Y, 10.0, &all)?.is_none());
    let near = world.nearest(Vec3::new(0.8, 0.5, 0.0), 1.0, &all)?.expect("the crate is near");
    assert_eq!(near.body, crate_);
    assert!((near.distance - 0.3).abs() < 1e-4);
    assert_eq!(world.bodies_at(Vec3::new(0.0, 0.5, 0.0), &all)?, [crate_]);
    let touched = world.overlaps(&Shape::ball(0.3), Pose::at(Vec3::new(0.7, 0.6, 0.0)), &all)?;
    assert_eq!(touched, [Overlap { body: crate_ }]);
    let fall = world.cast_shape(&Shape::ball(0.5), Pose::at(Vec3::Y * 4.0), Vec3::Y * -4.0, &all)?;
    let fall = fall.expect("the ball falls on the crate");
    assert_eq!(fall.body, crate_);
    assert!((fall.fraction - 2.5 / 4.0).abs() < 1e-3);
    assert!(world.cast_ray(Vec3::ZERO, Vec3::ZERO, 1.0, &all).is_err());
    Ok(())
}

#[test]
fn groups_forces_targets_and_edits_by_command() -> Result<(), Error> {
    let mut world = World::default();
    floor(&mut world)?;
    let ghost = Groups::NONE;
    let through = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.2)).at([0.0, 1.0, 0.0]).groups(ghost))?;
    let held = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.2)).at([2.0, 1.0, 0.0]).mass(1.0))?;
    let paddle = world.add_rigid(RigidBody::kinematic().shape(Shape::cuboid(0.2, 0.2, 0.2)).at([5.0, 1.0, 0.0]))?;
    for k in 0..60 {
        let there = Pose::at(Vec3::new(5.0 + 0.05 * (k + 1) as Real, 1.0, 0.0));
        world.step(&Input::none().force(held, [0.0, 9.81, 0.0]).target(paddle, there));
    }
    assert!(world.body(through)?.position().y < -2.0);
    assert!((world.body(held)?.position().y - 1.0).abs() < 1e-3);
    assert!((world.body(paddle)?.position().x - 8.0).abs() < 1e-3);
    // bodies are added and removed by command; ids of removed bodies stay invalid
    let add = Command::AddRigid(Box::new(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 3.0, 0.0])));
    let report = world.step(&Input::none().with(add).with(Command::RemoveBody(held)));
    let added = report.events.iter().find_map(|e| if let Event::Added(id) = e { Some(*id) } else { None });
    assert!(world.body(added.expect("reported")).is_ok());
    assert_eq!(world.body(held).unwrap_err(), Error::StaleBody(held));
    Ok(())
}

#[test]
fn damping_and_interpolation_between_steps() -> Result<(), Error> {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, dt: 0.01, ..Settings::default() })?;
    let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).velocity([2.0, 0.0, 0.0]).damping(1.0, 0.0);
    let ball = world.add_rigid(ball)?;
    run(&mut world, 1.0);
    // dv/dt = −v: 1/e after a second, first order in the substep
    let v = world.body(ball)?.velocity().x;
    assert!((v / (2.0 * (-1.0 as Real).exp()) - 1.0).abs() < 0.002, "{v}");
    let (before, after) = (world.pose_between(ball, 0.0)?.position.x, world.pose_between(ball, 1.0)?.position.x);
    let half = world.pose_between(ball, 0.5)?.position.x;
    assert!((half - 0.5 * (before + after)).abs() < 1e-6 && (after - before - 0.01 * v).abs() < 1e-4);
    Ok(())
}

#[test]
fn particles_hang_on_ropes_slide_on_slopes_and_push_back() -> Result<(), Error> {
    let mut world = World::new(Settings { dt: 0.005, sleep_time: Real::INFINITY, ..Settings::default() })?;
    // a rope of 10 links of 1 kg in total hanging from a pin: the top link carries the other nine
    let line: Vec<Vec3> = (0..11).map(|k| Vec3::new(0.0, -0.1 * k as Real, 0.0)).collect();
    let rope = world.add_particles(Particles::new(line).mass(0.1).radius(0.0).pinned(vec![0]))?;
    for node in 0..10 {
        let (a, b) = (Site::Node { body: rope, node }, Site::Node { body: rope, node: node + 1 });
        world.add_distance(Distance::rope(a, b, 0.1))?;
    }
    // a particle on the floor: it stays at rest
    floor(&mut world)?;
    let grain =
        Particles::new(vec![Vec3::new(2.0, 0.02, 0.0)]).mass(0.5).radius(0.02).material(SurfaceMaterial::friction(0.8));
    let grain = world.add_particles(grain)?;
    run(&mut world, 2.0);
    let top = world.report().constraints[0].force.length();
    assert!((top - 10.0 * 0.1 * 9.81).abs() < 0.02 * top, "{top} N");
    let stretch = (world.body(rope)?.node_positions()[10].y + 1.0).abs();
    assert!(stretch < 0.01, "{stretch}");
    let at = world.body(grain)?.position();
    assert!((at - Vec3::new(2.0, 0.02, 0.0)).length() < 1e-3, "{at}");
    let weight = mean_force(&mut world, grain, 10).y;
    assert!((weight - 0.5 * 9.81).abs() < 0.05, "{weight} N");
    Ok(())
}

#[test]
fn icd_options_and_residuals() -> Result<(), Error> {
    let stack = |settings: Settings| -> Result<World, Error> {
        let mut world = World::new(Settings { residuals: true, sleep_time: Real::INFINITY, ..settings })?;
        floor(&mut world)?;
        for k in 0..5 {
            let at = [0.0, 0.25 + 0.5 * k as Real, 0.0];
            world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.25, 0.25, 0.25)).mass(1.0).at(at))?;
        }
        Ok(world)
    };
    // the residual decreases from sweep to sweep of a substep
    let mut many = stack(Settings { sweeps: 12, relax_sweeps: 1, ..Settings::default() })?;
    let r = &many.step(&Input::none()).residuals;
    assert_eq!(r.len(), 4 * 13);
    assert!(r[11] < 0.3 * r[0], "{r:?}");
    // stopping by residual saves sweeps
    let early = Settings { sweeps: 50, relax_sweeps: 50, stop_residual: 1e-4, ..Settings::default() };
    let mut early = stack(early)?;
    run(&mut early, 1.0);
    assert!(early.report().counts.sweeps < 200);
    // staggered order, weight-bound friction and averaged impulses keep the stack standing
    for settings in [
        Settings { order: Order::Staggered { rigid: 2, deformable: 2 }, ..Settings::default() },
        Settings { friction_bound: FrictionBound::Weight, ..Settings::default() },
        Settings { average_impulses: true, sweeps: 20, relax_sweeps: 20, ..Settings::default() },
        Settings { contact: Stabilization::Baumgarte(0.1), sweeps: 4, relax_sweeps: 4, ..Settings::default() },
    ] {
        let mut world = stack(settings)?;
        run(&mut world, 1.0);
        let top = world.bodies().last().expect("five boxes").position();
        assert!((top.y - 2.25).abs() < 0.05 && top.x.abs() < 0.02, "{top}");
    }
    Ok(())
}

#[test]
fn phases_are_the_same_words_everywhere() {
    let docs =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/step.md")).expect("docs/step.md");
    let headings: Vec<&str> = docs.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    assert_eq!(headings, Phase::ALL.map(Phase::name));
    for phase in Phase::ALL {
        let file = format!("{}/src/step/{}.rs", env!("CARGO_MANIFEST_DIR"), phase.name());
        assert!(std::path::Path::new(&file).exists(), "{file}");
    }
}
