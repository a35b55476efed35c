//! RC's penalty and impulse contact as the contact method of a world.

use sinew::classic::Penalty;
use sinew::*;

const G: Real = 9.81;

fn three() -> [Penalty; 3] {
    [
        Penalty::Quadratic { stiffness: 400.0 },
        Penalty::Buffered { stiffness: 400.0, buffer: 0.02 },
        Penalty::LogBarrier { strength: 1e-3, buffer: 0.02 },
    ]
}

fn awake(method: ContactMethod) -> Settings {
    Settings { contact_method: method, sleep_time: Real::INFINITY, ..Settings::default() }
}

fn world(settings: Settings, floor: RigidBody) -> Result<World, Error> {
    let mut world = World::new(settings)?;
    world.add_rigid(floor)?;
    Ok(world)
}

fn plane() -> RigidBody {
    RigidBody::fixed().shape(Shape::half_space(Vec3::Y))
}

/// A plane that rises towards +x by this angle [rad], and the direction down it.
fn slope(angle: Real, mu: Real) -> (RigidBody, Vec3) {
    let normal = Vec3::new(-angle.sin(), angle.cos(), 0.0);
    let floor = RigidBody::fixed().shape(Shape::half_space(normal)).material(SurfaceMaterial::friction(mu));
    (floor, Vec3::new(-angle.cos(), -angle.sin(), 0.0))
}

fn run(world: &mut World, seconds: Real) {
    for _ in 0..(seconds / world.settings().dt).round() as u32 {
        let faults = world.step(&Input::none()).faults.clone();
        assert_eq!(faults, [], "tick {}", world.state().tick);
    }
}

#[test]
fn a_particle_rests_where_the_penalty_force_equals_its_weight() -> Result<(), Error> {
    let (mass, radius) = (0.01, 0.01);
    let weight = mass * G;
    let rest = [-weight / 400.0, 0.02 - weight / 400.0, 1e-3 / weight];
    // every kind of surface with a signed distance, its top at y = 0
    let floors = [
        plane(),
        RigidBody::fixed().shape(Shape::cuboid(1.0, 0.5, 1.0)).at([0.0, -0.5, 0.0]),
        RigidBody::fixed().shape(Shape::ball(1.0)).at([0.0, -1.0, 0.0]),
        RigidBody::fixed().shape(Shape::cylinder(0.5, 1.0)).at([0.0, -0.5, 0.0]),
        RigidBody::fixed().shape(Shape::sdf(Sdf::plane(Vec3::ZERO, Vec3::Y))),
    ];
    for (law, rest) in three().into_iter().zip(rest) {
        for floor in &floors {
            let mut world = world(awake(ContactMethod::Penalty(law)), floor.clone())?;
            let grain = Particles::new([Vec3::Y * (radius + 0.021)]).mass(mass).radius(radius).damping(20.0);
            let grain = world.add_particles(grain)?;
            run(&mut world, 3.0);
            let gap = world.body(grain)?.position().y - radius;
            assert!((gap - rest).abs() < 2e-3 * rest.abs() + 1e-6, "{law:?}: {gap} m, not {rest} m");
            let force = world.report().contact_force_on(grain).y;
            assert!((force / weight - 1.0).abs() < 1e-3, "{law:?}: {force} N");
            let deepest = world.report().penetration;
            assert!((deepest - (-rest).max(0.0)).abs() < 2e-3 * rest.abs() + 1e-6, "{law:?}: {deepest} m deep");
        }
    }
    Ok(())
}

#[test]
fn a_box_rests_on_its_four_corners_and_a_ball_on_one_point() -> Result<(), Error> {
    let stiffness = 2000.0;
    for (shape, height, corners) in [(Shape::cuboid(0.2, 0.1, 0.3), 0.1, 4.0), (Shape::ball(0.1), 0.1, 1.0)] {
        let mut world = world(awake(ContactMethod::Penalty(Penalty::Quadratic { stiffness })), plane())?;
        let body = RigidBody::dynamic().shape(shape).mass(1.0).at([0.0, 0.15, 0.0]).damping(10.0, 10.0);
        let body = world.add_rigid(body)?;
        run(&mut world, 4.0);
        let (depth, rest) = (height - world.body(body)?.position().y, G / (corners * stiffness));
        assert!((depth / rest - 1.0).abs() < 2e-3, "{depth} m, not {rest} m");
        let force = world.report().contact_force_on(body);
        assert!((force - Vec3::Y * G).length() < 1e-2, "{force} N");
        assert!(world.body(body)?.velocity().length() < 1e-4);
    }
    Ok(())
}

#[test]
fn stiffness_far_beyond_the_substep_is_stable_and_without_penetration() -> Result<(), Error> {
    // √(k/m) h = 10⁴·(1/240): twenty times beyond the stability limit of an explicit substep
    let mut world = world(awake(ContactMethod::Penalty(Penalty::Quadratic { stiffness: 1e6 })), plane())?;
    let grain = world.add_particles(Particles::new([Vec3::Y * 0.3]).mass(0.01).radius(0.01))?;
    let brick = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.1)).mass(0.5).at([1.0, 0.3, 0.0]);
    let brick = world.add_rigid(brick.turned(Quat::from_rotation_z(0.3)))?;
    for _ in 0..240 {
        world.step(&Input::none());
        assert_eq!(world.report().faults, []);
        let (y, z) = (world.body(grain)?.position().y, world.body(brick)?.position().y);
        assert!(y > 0.009 && y < 0.31 && z > 0.03 && z < 0.35, "{y} {z}");
    }
    Ok(())
}

#[test]
fn a_particle_and_a_ball_rebound_to_e_squared_of_their_height() -> Result<(), Error> {
    for e in [0.0, 0.5, 0.8] {
        let bounce = SurfaceMaterial::friction(0.3).restitution(e);
        let settings = Settings { dt: 1e-3, substeps: 2, ..awake(ContactMethod::Impulse) };
        let mut world = world(settings, plane().material(bounce))?;
        let grain = Particles::new([Vec3::new(1.0, 1.01, 0.0)]).radius(0.01).material(bounce);
        let grain = world.add_particles(grain)?;
        let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 1.1, 0.0]).material(bounce);
        let ball = world.add_rigid(ball)?;
        for (body, radius) in [(grain, 0.01), (ball, 0.1)] {
            let (mut top, mut risen) = (0.0 as Real, false);
            let snapshot = world.snapshot();
            for _ in 0..900 {
                world.step(&Input::none());
                let b = world.body(body)?;
                risen |= b.velocity().y > 0.0;
                if risen {
                    top = top.max(b.position().y - radius);
                }
                assert!(b.position().y - radius > -0.003);
            }
            assert!((top - e * e).abs() < 0.012, "{top} m after e = {e}");
            world.restore(&snapshot)?;
        }
    }
    Ok(())
}

#[test]
fn bodies_stick_below_the_friction_angle_and_slide_by_coulombs_law_above_it() -> Result<(), Error> {
    let angle: Real = 0.35;
    for mu in [0.30, 0.42] {
        let (floor, down) = slope(angle, mu);
        let up = Vec3::new(-angle.sin(), angle.cos(), 0.0);
        let mut world = world(awake(ContactMethod::Impulse), floor)?;
        let surface = SurfaceMaterial::friction(mu);
        let grain = world.add_particles(Particles::new([up * 0.01]).radius(0.01).material(surface))?;
        let slab = RigidBody::dynamic().shape(Shape::cuboid(0.3, 0.05, 0.3)).material(surface);
        let slab = slab.at(up * 0.05 + Vec3::Z * 2.0).turned(Quat::from_rotation_z(angle));
        let slab = world.add_rigid(slab)?;
        let start = [grain, slab].map(|b| world.body(b).map(|b| b.position()));
        run(&mut world, 1.0);
        let pull = G * (angle.sin() - mu * angle.cos());
        let want = if pull > 0.0 { 0.5 * pull } else { 0.0 };
        for (body, from) in [grain, slab].into_iter().zip(start) {
            let way = (world.body(body)?.position() - from?).dot(down);
            // 1 mm: the first substeps, before contact
            assert!((way - want).abs() < 2e-4 + 0.01 * want, "μ {mu}: {way} m, not {want} m");
        }
    }
    // penalty has no friction
    let (floor, down) = slope(angle, 1.0);
    let mut world = world(awake(ContactMethod::Penalty(three()[0])), floor)?;
    let grain = world.add_particles(Particles::new([-Vec3::X * angle.sin() * 0.01 + Vec3::Y * 0.01]).radius(0.01))?;
    let from = world.body(grain)?.position();
    run(&mut world, 1.0);
    let (way, want) = ((world.body(grain)?.position() - from).dot(down), 0.5 * G * angle.sin());
    assert!((way / want - 1.0).abs() < 0.02, "{way} m, not {want} m");
    Ok(())
}

#[test]
fn a_box_dropped_on_its_corner_comes_to_rest_by_impulses() -> Result<(), Error> {
    for k in 0..12 {
        let mut world = world(awake(ContactMethod::Impulse), plane())?;
        let tilt = Quat::from_axis_angle(Vec3::new(1.0, 0.3, 0.1 * k as Real).normalize(), 0.25 * k as Real + 0.1);
        let brick = RigidBody::dynamic().shape(Shape::cuboid(0.2, 0.1, 0.15)).mass(2.0).at([0.0, 1.0, 0.0]);
        // friction at the mean of its corners cannot reduce a spin about the vertical: damping does
        let brick = world.add_rigid(brick.turned(tilt).damping(0.0, 2.0))?;
        run(&mut world, 5.0);
        rests_on_a_face(&mut world, brick)?;
    }
    Ok(())
}

/// At rest, flat, with its weight on the floor; asleep after a while, and awake after a velocity command.
fn rests_on_a_face(world: &mut World, brick: BodyId) -> Result<(), Error> {
    let b = world.body(brick)?;
    assert!(b.velocity().length() < 0.01 && b.spin().length() < 0.05, "{} {}", b.velocity(), b.spin());
    let up = b.rotation().inverse() * Vec3::Y;
    let half = up.abs().dot(Vec3::new(0.2, 0.1, 0.15));
    assert!(up.abs().max_element() > 0.9999, "{up}");
    assert!((b.position().y - half).abs() < 2e-3, "{} {half}", b.position().y);
    let mut force = Vec3::ZERO;
    for _ in 0..60 {
        force += world.step(&Input::none()).contact_force_on(brick) / 60.0;
    }
    assert!((force - Vec3::Y * 2.0 * G).length() < 0.1, "{force} N");
    world.set_settings(Settings { sleep_time: 0.5, ..world.settings().clone() })?;
    run(world, 1.0);
    assert!(world.body(brick)?.is_asleep());
    let up = Command::Velocity { body: brick, velocity: Vec3::Y * 2.0, spin: Vec3::ZERO };
    world.step(&Input::none().with(up));
    assert!(!world.body(brick)?.is_asleep() && world.body(brick)?.position().y > half + 0.02);
    Ok(())
}

#[test]
fn a_barrier_is_never_crossed_and_adds_no_energy() -> Result<(), Error> {
    let bowl = RigidBody::fixed().shape(Shape::sdf(Sdf::bowl(Vec3::Y, 1.0)));
    let law = Penalty::LogBarrier { strength: 0.5, buffer: 0.05 };
    let mut world = world(awake(ContactMethod::Penalty(law)), bowl)?;
    let grain = Particles::new([Vec3::new(0.3, 0.5, 0.0), Vec3::new(-0.2, 0.6, 0.1)]).mass(0.2).radius(0.01);
    world.add_particles(grain)?;
    let half = Vec3::new(0.1, 0.05, 0.08);
    let brick = RigidBody::dynamic().shape(Shape::cuboid(half.x, half.y, half.z)).mass(0.4).at([0.0, 0.4, 0.0]);
    let brick = world.add_rigid(brick.turned(Quat::from_rotation_x(0.4)))?;
    // grains may penetrate the brick: their contacts with it are rows
    let farthest = |world: &World| -> Result<Real, Error> {
        let pose = world.body(brick)?.pose()?;
        let corner = |k: u32| half * Vec3::from_array([1, 2, 4].map(|bit| if k & bit == 0 { -1.0 } else { 1.0 }));
        let corners = (0..8).map(|k| (pose.point(corner(k)) - Vec3::Y).length());
        let grains = world.state().node_x.iter().map(|&x| (x - Vec3::Y).length() + 0.01);
        Ok(corners.chain(grains).fold(0.0, Real::max))
    };
    let energy = |world: &World| world.report().energies.kinetic + world.report().energies.gravity;
    world.step(&Input::none());
    let first = energy(&world);
    let mut touched = 0;
    for _ in 0..600 {
        world.step(&Input::none());
        assert_eq!(world.report().faults, []);
        assert!(farthest(&world)? < 1.0, "{} m from the centre", farthest(&world)?);
        touched += world.report().counts.contacts;
        // 3% is the error of the barrier's own steps (`classic::penalty`)
        assert!(energy(&world) < first * 1.03, "{} J of {first} J", energy(&world));
    }
    assert!(touched > 100, "{touched}");
    Ok(())
}

#[test]
fn bodies_that_the_method_cannot_integrate_are_frozen_and_reported() -> Result<(), Error> {
    let law = Penalty::LogBarrier { strength: 1e-3, buffer: 0.02 };
    for (height, speed) in [(-0.01, 0.0), (0.3, -300.0)] {
        let mut world = world(awake(ContactMethod::Penalty(law)), plane())?;
        let grain = Particles::new([Vec3::Y * height]).mass(0.01).radius(0.001).velocity([0.0, speed, 0.0]);
        let grain = world.add_particles(grain)?;
        let faults = world.step(&Input::none()).faults.clone();
        assert_eq!(faults.len(), 1);
        assert_eq!((faults[0].body, faults[0].what), (grain, FaultKind::ContactRefused));
        assert!(world.body(grain)?.is_frozen());
    }
    for (law, field) in [
        (Penalty::Quadratic { stiffness: -1.0 }, "settings.contact_method.law.stiffness"),
        (Penalty::LogBarrier { strength: 1.0, buffer: Real::NAN }, "settings.contact_method.law.buffer"),
    ] {
        let error = World::new(awake(ContactMethod::Penalty(law))).expect_err("out of range");
        assert!(error.to_string().contains(field), "{error}");
    }
    Ok(())
}

#[test]
fn a_lift_carries_its_load_by_every_method() -> Result<(), Error> {
    let [a, b, c] = three();
    for method in
        [ContactMethod::Impulse, ContactMethod::Penalty(a), ContactMethod::Penalty(b), ContactMethod::Penalty(c)]
    {
        let lift = RigidBody::kinematic().shape(Shape::cuboid(1.0, 0.1, 1.0)).at([0.0, -0.1, 0.0]);
        let mut world = World::new(awake(method))?;
        let lift = world.add_rigid(lift.velocity([0.2, 0.5, 0.0]).spin([0.0, 0.0, 0.05]))?;
        let grain = Particles::new([Vec3::Y * 0.02]).mass(0.01).radius(0.01).damping(1.0);
        let grain = world.add_particles(grain)?;
        run(&mut world, 1.0);
        let pose = world.body(lift)?.pose()?;
        let above = pose.unpoint(world.body(grain)?.position()).y - 0.1 - 0.01;
        assert!(above > -2e-3 && above < 0.03, "{method:?}: {above} m");
        assert!(world.body(grain)?.position().y > 0.4);
    }
    Ok(())
}

#[test]
fn pairs_not_handled_by_the_method_keep_their_rows_bitwise() -> Result<(), Error> {
    let scene = |method| -> Result<u64, Error> {
        // a floor without signed distance, and boxes on top of each other
        let heights: Vec<Real> = vec![0.0; 9];
        let field = Shape::HeightField { heights: heights.into(), rows: 3, scale: Vec3::new(8.0, 1.0, 8.0) };
        let mut world = world(awake(method), RigidBody::fixed().shape(field))?;
        for k in 0..4 {
            let at = [0.03 * k as Real, 0.3 + 0.45 * k as Real, 0.0];
            world.add_rigid(RigidBody::dynamic().shape(Shape::cuboid(0.2, 0.2, 0.2)).at(at))?;
        }
        world.add_particles(Particles::new([Vec3::new(1.0, 0.5, 0.0), Vec3::new(0.0, 3.0, 0.0)]).radius(0.02))?;
        run(&mut world, 2.0);
        Ok(world.hash())
    };
    let rows = scene(ContactMethod::Rows)?;
    assert_eq!(scene(ContactMethod::Impulse)?, rows);
    assert_eq!(scene(ContactMethod::Penalty(three()[0]))?, rows);
    Ok(())
}

#[test]
fn threads_and_restores_are_bitwise_identical() -> Result<(), Error> {
    let law = Penalty::LogBarrier { strength: 3.0, buffer: 0.05 };
    for method in [ContactMethod::Impulse, ContactMethod::Penalty(three()[1]), ContactMethod::Penalty(law)] {
        let build = |threads| -> Result<World, Error> {
            let settings = Settings { threads, contact_method: method, ..Settings::default() };
            let mut world = world(settings, plane())?;
            world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.5)).at([0.2, 0.2, 0.0]))?;
            for k in 0..24 {
                let at = [0.5 * (k % 4) as Real - 0.8, 0.5 + 0.3 * (k / 4) as Real, 0.1 * k as Real];
                let shape = if k % 2 == 0 { Shape::cuboid(0.1, 0.05, 0.1) } else { Shape::ball(0.1) };
                world.add_rigid(RigidBody::dynamic().shape(shape).mass(0.3).at(at))?;
            }
            let rain: Vec<Vec3> =
                (0..40).map(|k| Vec3::new(0.1 * (k % 8) as Real, 0.8, 0.1 * (k / 8) as Real)).collect();
            world.add_particles(Particles::new(rain).mass(0.05).radius(0.01))?;
            Ok(world)
        };
        let (mut one, mut three) = (build(1)?, build(3)?);
        let mut middle = one.snapshot();
        for tick in 0..120 {
            if tick == 60 {
                middle = one.snapshot();
            }
            one.step(&Input::none());
            three.step(&Input::none());
            assert_eq!(one.hash(), three.hash(), "{method:?} at tick {tick}");
        }
        three.restore(&middle)?;
        run(&mut three, 1.0);
        assert_eq!(one.state().first_difference(three.state()), None);
    }
    Ok(())
}

#[test]
fn events_and_point_forces_are_reported_as_for_rows() -> Result<(), Error> {
    for method in [ContactMethod::Impulse, ContactMethod::Penalty(three()[0])] {
        let mut world = world(Settings { force_threshold: 0.5, ..awake(method) }, plane())?;
        let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).mass(0.1).at([0.0, 0.3, 0.0]).damping(3.0, 0.0);
        let ball = world.add_rigid(ball)?;
        let (mut began, mut loud) = (0, 0);
        for _ in 0..180 {
            for event in &world.step(&Input::none()).events {
                began += u32::from(matches!(event, Event::ContactBegan { b, .. } if *b == ball));
                loud += u32::from(matches!(event, Event::ForceAbove { b, .. } if *b == ball));
            }
        }
        assert!(began >= 1 && loud >= 1, "{method:?}: {began} {loud}");
        let point = world.report().contacts.first().expect("it lies on the floor");
        assert!((point.normal - Vec3::Y).length() < 1e-6 && point.point.length() < 0.01, "{point:?}");
    }
    Ok(())
}

/// A soft cube of 0.1 m and 1 kg, solved implicitly.
fn jelly(at: [Real; 3]) -> SoftBody {
    let mesh = TetMesh::block([2; 3], Vec3::splat(0.1)).expect("a block");
    SoftBody::corotational(mesh, ElasticMaterial::new(1e5, 0.3, 1000.0)).at(at)
}

#[test]
fn soft_bodies_keep_their_rows_bitwise() -> Result<(), Error> {
    let scene = |method| -> Result<Vec<Vec3>, Error> {
        let mut world = world(awake(method), plane())?;
        let soft = world.add_soft(jelly([0.0, 0.15, 0.0]))?;
        run(&mut world, 1.0);
        assert!(world.report().contact_force_on(soft).y > 0.0, "it lies on the plane");
        Ok(world.state().node_x.clone())
    };
    let rows = scene(ContactMethod::Rows)?;
    for method in [ContactMethod::Impulse, ContactMethod::Penalty(three()[1])] {
        assert_eq!(scene(method)?, rows, "{method:?}");
    }
    Ok(())
}

#[test]
fn a_tray_with_a_soft_body_on_it_rides_a_lift_by_every_method() -> Result<(), Error> {
    // the tray is solved in the implicit island of the soft body; its contact with the lift below is handled by the
    // method
    // total mass 2 kg; damping is relative to the world and adds m c v
    let (stiffness, buffer, strength, speed, rate) = (5000.0, 0.02, 0.1, 0.1, 5.0);
    let load = 2.0 * (G + rate * speed);
    let laws = [
        (ContactMethod::Impulse, 0.0),
        (ContactMethod::Penalty(Penalty::Quadratic { stiffness }), -load / (4.0 * stiffness)),
        (ContactMethod::Penalty(Penalty::Buffered { stiffness, buffer }), buffer - load / (4.0 * stiffness)),
        (ContactMethod::Penalty(Penalty::LogBarrier { strength, buffer: 0.05 }), 4.0 * strength / load),
    ];
    for (method, rest) in laws {
        // the penalty integration of the tray does not include its load: exact for √(k/m) h → 0, here 0.3
        let mut world = World::new(Settings { implicit_substeps: 8, ..awake(method) })?;
        // penalties do not dissipate
        let damping = if method == ContactMethod::Impulse { 0.0 } else { rate };
        let lift = RigidBody::kinematic().shape(Shape::cuboid(1.0, 0.1, 1.0)).at([0.0, -0.1, 0.0]);
        let lift = world.add_rigid(lift.velocity([0.0, speed, 0.0]))?;
        let tray = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.02, 0.1)).mass(1.0).at([0.0, 0.03 + rest, 0.0]);
        let tray = world.add_rigid(tray.damping(damping, damping))?;
        world.add_soft(jelly([0.0, 0.101 + rest, 0.0]).damping(damping))?;
        run(&mut world, 4.0);
        assert!(world.report().counts.implicit_islands == 1, "{method:?}");
        let carried = 2.0 * (G + damping * speed);
        let (mut mean, steps) = (0.0, 60);
        for _ in 0..steps {
            let report = world.step(&Input::none());
            assert_eq!(report.faults, []);
            let pair = report.pairs.iter().find(|p| (p.a, p.b) == (lift, tray));
            mean += pair.map_or(0.0, |p| p.force.y) / steps as Real;
        }
        assert!((mean / carried - 1.0).abs() < 0.02, "{method:?}: {mean} N, not {carried} N");
        let gap = world.body(tray)?.position().y - 0.02 - (world.body(lift)?.position().y + 0.1);
        assert!((gap - rest).abs() < 1e-4 + 0.02 * rest.abs(), "{method:?}: {gap} m, not {rest} m");
    }
    Ok(())
}
