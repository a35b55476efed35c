//! Soft bodies in the world, against analytical solutions (validation group M and the scenes of the design trial).

use sinew::*;

const G: Real = 9.81;

fn settings(dt: Real) -> Settings {
    Settings { dt, sleep_time: Real::INFINITY, ..Settings::default() }
}

fn ground(world: &mut World, friction: Real) -> BodyId {
    world
        .add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(SurfaceMaterial::friction(friction)))
        .unwrap()
}

/// A cube of 0.1 m standing on the ground, ν = 0, 1 kg.
fn cube(world: &mut World, youngs_modulus: Real, friction: Real) -> BodyId {
    cube_at(world, youngs_modulus, friction, 0.05)
}

/// The same with its centre at this height [m].
fn cube_at(world: &mut World, youngs_modulus: Real, friction: Real, height: Real) -> BodyId {
    let mesh = TetMesh::block([4; 3], Vec3::splat(0.1)).unwrap();
    let body = SoftBody::corotational(mesh, ElasticMaterial::new(youngs_modulus, 0.0, 1000.0)).at([0.0, height, 0.0]);
    world.add_soft(body.material(SurfaceMaterial::friction(friction))).unwrap()
}

fn run(world: &mut World, seconds: Real) {
    let steps = (seconds / world.settings().dt).round() as u32;
    for _ in 0..steps {
        let report = world.step(&Input::none());
        assert!(report.faults.is_empty(), "{:?}", report.faults);
    }
}

fn near(got: Real, want: Real, part: Real, what: &str) {
    assert!((got - want).abs() <= part * want.abs(), "{what}: {got}, should be {want}");
}

fn pair_force(world: &World, a: BodyId, b: BodyId) -> Vec3 {
    let pairs = &world.report().pairs;
    pairs.iter().find(|p| (p.a, p.b) == (a, b)).map_or(Vec3::ZERO, |p| p.force)
}

fn top_of(world: &World, body: BodyId) -> Real {
    world.body(body).unwrap().node_positions().iter().map(|x| x.y).fold(Real::MIN, Real::max)
}

#[test]
fn a_block_on_a_soft_cube_sinks_by_mgl_over_ea() {
    for (dt, mass, youngs) in [(0.005, 2.0, 1e5), (1.0 / 60.0, 2.0, 1e5), (1.0 / 60.0, 100.0, 1e7)] {
        let mut world = World::new(settings(dt)).unwrap();
        let floor = ground(&mut world, 0.5);
        let soft = cube(&mut world, youngs, 0.5);
        let size = Shape::cuboid(0.05, 0.05, 0.05);
        let block =
            RigidBody::dynamic().shape(size).mass(mass).material(SurfaceMaterial::friction(0.5)).at([0.0, 0.15, 0.0]);
        let block = world.add_rigid(block).unwrap();
        run(&mut world, 4.0);
        let own = 1000.0 * G * 0.01 / (2.0 * youngs);
        let sinking = 0.15 - own - world.body(block).unwrap().position().y;
        near(sinking, mass * G * 0.1 / (youngs * 0.01), 0.03, "sinking");
        near(-pair_force(&world, block, soft).y, mass * G, 0.005, "force between block and cube");
        near(pair_force(&world, floor, soft).y, (mass + 1.0) * G, 0.005, "force of the floor");
        let speed = world.body(block).unwrap().velocity().length();
        assert!(speed < 1e-4, "jitter {speed} m/s");
        assert!(world.report().penetration < 1e-6, "penetration {}", world.report().penetration);
    }
}

#[test]
fn soft_bodies_stick_below_the_friction_angle_and_slide_above_it() {
    for youngs in [1e5, 1e6] {
        let mu: Real = 0.4;
        for (share, slides) in [(0.8, false), (1.4, true)] {
            let tangent: Real = share * mu;
            let angle = tangent.atan();
            let gravity = Vec3::new(angle.sin(), -angle.cos(), 0.0) * G;
            let mut world = World::new(Settings { gravity, ..settings(0.005) }).unwrap();
            ground(&mut world, mu);
            let soft = cube(&mut world, youngs, mu);
            run(&mut world, 0.5);
            let (x0, v0) = (world.body(soft).unwrap().position(), world.body(soft).unwrap().velocity());
            run(&mut world, if slides { 0.5 } else { 5.0 });
            let (x1, v1) = (world.body(soft).unwrap().position(), world.body(soft).unwrap().velocity());
            if slides {
                near((v1 - v0).x / 0.5, G * (angle.sin() - mu * angle.cos()), 0.03, "acceleration");
            } else {
                assert!((x1 - x0).length() < 1e-5, "crept by {}", (x1 - x0).length());
            }
        }
    }
}

#[test]
fn an_impact_on_a_free_cube_conserves_momentum_for_any_number_of_cg_iterations() {
    for iterations in [5, 20, 200] {
        hit(iterations);
    }
}

/// M01: a ball of 1 kg at 2 m/s against a free cube of 1 kg, off centre.
fn hit(iterations: u32) {
    let mut settings = Settings { gravity: Vec3::ZERO, ..settings(0.002) };
    settings.implicit.iterations = iterations;
    let mut world = World::new(settings).unwrap();
    let soft = cube(&mut world, 1e5, 0.5);
    let ball =
        RigidBody::dynamic().shape(Shape::ball(0.05)).mass(1.0).at([-0.12, 0.08, 0.01]).velocity([2.0, 0.0, 0.0]);
    let ball = world.add_rigid(ball).unwrap();
    let total = |world: &World| {
        let (b, s) = (world.body(ball).unwrap(), world.body(soft).unwrap());
        let mut p = b.velocity() * b.mass();
        let mut l = b.position().cross(b.velocity() * b.mass()) + b.angular_momentum();
        for ((x, v), m) in s.node_positions().iter().zip(s.node_velocities()).zip(s.node_masses()) {
            p += *v * *m;
            l += x.cross(*v * *m);
        }
        (p, l)
    };
    let (p0, l0) = total(&world);
    run(&mut world, 0.5);
    let (p1, l1) = total(&world);
    assert!(world.body(ball).unwrap().velocity().x < 1.5, "they did not collide");
    assert!((p1 - p0).length() < 1e-5 * p0.length(), "{p0} {p1}");
    assert!((l1 - l0).length() < 1e-4 * l0.length(), "{l0} {l1}");
}

/// Rows that start from the impulse of the previous step reduce the damping of bodies that rock on them: contacts with
/// rigid bodies and between soft ones must be stiff enough for that.
#[test]
fn a_stack_on_a_plate_on_one_or_two_jellies_is_stable() {
    for jellies in [1, 2] {
        let mut world = World::new(settings(1.0 / 60.0)).unwrap();
        ground(&mut world, 0.5);
        for k in 0..jellies {
            cube_at(&mut world, 1e6, 0.5, 0.05 + 0.1 * k as Real);
        }
        let foot = 0.1 * jellies as Real;
        let wood = SurfaceMaterial::friction(0.5);
        let plate = RigidBody::dynamic().shape(Shape::cuboid(0.06, 0.005, 0.06)).mass(0.2).material(wood);
        world.add_rigid(plate.at([0.0, foot + 0.005, 0.0])).unwrap();
        let mut last = None;
        for k in 0..5 {
            let brick = RigidBody::dynamic().shape(Shape::cuboid(0.02, 0.02, 0.02)).mass(0.2).material(wood);
            last = Some(world.add_rigid(brick.at([0.0, foot + 0.03 + 0.04 * k as Real, 0.0])).unwrap());
        }
        run(&mut world, 4.0);
        let top = world.body(last.unwrap()).unwrap();
        let still = Vec3::new(0.0, foot + 0.19, 0.0);
        assert!((top.position() - still).length() < 2e-3, "{jellies}: {}", top.position());
        assert!(top.velocity().length() < 1e-3, "{jellies}: {}", top.velocity());
    }
}

#[test]
fn contact_forces_of_particles_on_a_box_on_a_jelly_equal_their_weight() {
    let mut world = World::new(settings(1.0 / 60.0)).unwrap();
    ground(&mut world, 0.5);
    let soft = cube(&mut world, 1e5, 0.5);
    let lid = RigidBody::dynamic().shape(Shape::cuboid(0.06, 0.02, 0.06)).mass(1.0).at([0.0, 0.12, 0.0]);
    let lid = world.add_rigid(lid).unwrap();
    let grid = (0..9).map(|k| Vec3::new((k % 3 - 1) as Real * 0.03, 0.145, (k / 3 - 1) as Real * 0.03));
    let dust = world.add_particles(Particles::new(grid.collect::<Vec<_>>()).mass(0.02).radius(0.005)).unwrap();
    run(&mut world, 4.0);
    near(pair_force(&world, lid, dust).y, 9.0 * 0.02 * G, 0.005, "weight of the particles");
    near(-pair_force(&world, lid, soft).y, 1.18 * G, 0.005, "weight on the jelly");
    assert!(world.body(dust).unwrap().velocity().length() < 1e-4);
}

#[test]
fn a_soft_world_is_bitwise_identical_after_a_restore_and_a_rebuild() {
    let mut world = World::new(settings(1.0 / 60.0)).unwrap();
    ground(&mut world, 0.5);
    cube(&mut world, 1e5, 0.5);
    let brick = RigidBody::dynamic().shape(Shape::cuboid(0.03, 0.02, 0.03)).mass(0.5);
    world.add_rigid(brick.at([0.01, 0.2, 0.02])).unwrap();
    run(&mut world, 0.5);
    let saved = world.snapshot();
    let mut twin = World::build(world.blueprint().unwrap(), world.state()).unwrap();
    run(&mut world, 0.5);
    let hash = world.hash();
    world.restore(&saved).unwrap();
    run(&mut world, 0.5);
    run(&mut twin, 0.5);
    assert_eq!(world.hash(), hash);
    assert_eq!(twin.hash(), hash);
}

#[test]
fn a_hanging_jelly_stretches_under_its_weight_and_its_pinned_nodes_are_fixed() {
    let mut world = World::new(settings(0.01)).unwrap();
    let mesh = TetMesh::block([2, 10, 2], Vec3::new(0.1, 1.0, 0.1)).unwrap();
    let matter = ElasticMaterial::new(1e5, 0.0, 1000.0).damping(0.1);
    let body = SoftBody::corotational(mesh, matter).pin_region([-1.0, 0.499, -1.0], [1.0, 0.501, 1.0]);
    let bar = world.add_soft(body).unwrap();
    run(&mut world, 8.0);
    // ρ g L²/2E, E03; corotational strain is linear. The nodal masses of this mesh differ at the end: the mean is
    // compared
    let low = |x: &&Vec3| x.y < -0.5;
    let ends = world.body(bar).unwrap();
    let (sum, count) = ends.node_positions().iter().filter(low).fold((0.0, 0), |(s, n), x| (s + x.y, n + 1));
    assert_eq!(count, 9);
    near(-0.5 - sum / count as Real, 0.04905, 0.01, "stretch");
    assert_eq!(top_of(&world, bar), 0.5);
}

#[test]
fn a_bar_whose_pinned_end_is_moved_stores_the_work_of_its_elongation() {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..settings(0.02) }).unwrap();
    let mesh = TetMesh::block([10, 1, 1], Vec3::new(1.0, 0.1, 0.1)).unwrap();
    let bar = SoftBody::corotational(mesh, ElasticMaterial::new(1e5, 0.0, 1000.0)).damping(1e3);
    let bar = bar.pin_region([-0.51, -1.0, -1.0], [-0.49, 1.0, 1.0]).pin_region([0.49, -1.0, -1.0], [0.51, 1.0, 1.0]);
    let bar = world.add_soft(bar).unwrap();
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 5.0, 0.0])).unwrap();
    // only the rounding of positions
    assert!(world.elastic(bar).unwrap().energy() < 1e-9);
    let rest = world.body(bar).unwrap().node_positions().to_vec();
    let end: Vec<u32> = (0..rest.len() as u32).filter(|&n| rest[n as usize].x > 0.49).collect();
    for k in 1..=200 {
        let out = 0.01 * (k as Real / 50.0).min(1.0);
        let place = |&node: &u32| rest[node as usize] + Vec3::X * out;
        let aim = |node: &u32| Command::NodeTarget { body: bar, node: *node, position: place(node) };
        let report = world.step(&Input { commands: end.iter().map(aim).collect() });
        assert!(report.events.is_empty() && report.faults.is_empty(), "{:?} {:?}", report.events, report.faults);
    }
    let before = world.hash();
    let inside = world.elastic(bar).unwrap();
    // E A dL²/(2 L), and E A dL/L at either end
    near(inside.energy(), 0.05, 1e-3, "energy");
    let forces = inside.forces().unwrap();
    let pull: Real = end.iter().map(|&n| forces[n as usize].x).sum();
    near(pull, -10.0, 1e-3, "force of the moved end");
    near(inside.stress()[0].stress.to_mat().x_axis.x, 1000.0, 1e-3, "stress");
    // evaluation at other node positions, and an error for a body without elasticity
    assert!(inside.at(&rest).energy() < 1e-9);
    assert!(world.elastic(ball).is_err());
    assert_eq!(world.hash(), before);
    // targets are only for pinned nodes
    let aim = Command::NodeTarget {
        body: bar,
        node: (0..).find(|n| !end.contains(n) && rest[*n as usize].x > 0.0).unwrap(),
        position: Vec3::ZERO,
    };
    let report = world.step(&Input::none().with(aim));
    assert!(matches!(report.events[..], [Event::Refused { command: 0 }]), "{:?}", report.events);
}

#[test]
fn an_exchange_of_the_model_in_flight_conserves_momentum() {
    let mesh = |cells: u32| TetMesh::block([2 * cells, cells, cells], Vec3::new(0.2, 0.1, 0.1)).unwrap();
    let coarse = SoftBody::corotational(mesh(1), ElasticMaterial::new(1e5, 0.3, 1000.0));
    let springs = spring::Params { stiffness: spring::Stiffness::Young(1e5), ..spring::Params::default() };
    let others = [
        SoftBody::corotational(mesh(3), ElasticMaterial::new(1e5, 0.3, 1000.0)),
        SoftBody::new(Geometry::Tets(mesh(2)), SoftModel::Springs(springs)),
        SoftBody::new(Geometry::Tets(mesh(2)), SoftModel::Meshless(meshless::Params::default(), 0.0)),
    ];
    for other in others {
        let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
        let start = coarse.clone().at([1.0, 2.0, 3.0]).velocity([0.5, 0.0, -1.0]).spin([0.0, 3.0, 1.0]);
        let mut id = world.add_soft(start).unwrap();
        let sums = |world: &World, id: BodyId| {
            let body = world.body(id).unwrap();
            let nodes = body.node_positions().iter().zip(body.node_velocities()).zip(body.node_masses());
            nodes.fold((Vec3::ZERO, Vec3::ZERO), |(p, l), ((x, v), &m)| (p + *v * m, l + x.cross(*v) * m))
        };
        for _ in 0..20 {
            world.step(&Input::none());
        }
        let (p, l) = sums(&world, id);
        let centre = world.body(id).unwrap().center_of_mass();
        let old = id;
        id = world.exchange_model(id, other.clone()).unwrap().0;
        assert!(world.body(old).is_err());
        let (p1, l1) = sums(&world, id);
        // single precision at 4 m from the origin
        assert!((p1 - p).length() < 1e-5 * p.length() && (l1 - l).length() < 1e-5 * l.length(), "{p} {p1} {l} {l1}");
        assert!((world.body(id).unwrap().center_of_mass() - centre).length() < 1e-5);
        for _ in 0..20 {
            world.step(&Input::none());
        }
        assert!(world.report().faults.is_empty());
        let (p2, _) = sums(&world, id);
        assert!((p2 - p).length() < 1e-4 * p.length(), "{p} {p2}");
    }
    // an invalid exchange is rejected and changes nothing
    let mut world = World::default();
    let id = world.add_soft(coarse.clone()).unwrap();
    let rigid = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1))).unwrap();
    assert!(matches!(world.exchange_model(rigid, coarse.clone()), Err(Error::WrongKind(..))));
    let before = world.hash();
    let bad = SoftBody::corotational(mesh(1), ElasticMaterial::new(-1.0, 0.3, 1000.0));
    assert!(world.exchange_model(id, bad).is_err() && world.hash() == before);
}

#[test]
fn springs_fall_with_gravity_with_every_integrator() {
    use spring::Integrator::{Implicit, SymplecticEuler, Verlet};
    for integrator in [SymplecticEuler, Verlet, Implicit] {
        let mut world = World::new(settings(0.01)).unwrap();
        let mesh = TetMesh::block([2; 3], Vec3::splat(0.1)).unwrap();
        let params = spring::Params { integrator, ..spring::Params::default() };
        let id = world.add_soft(SoftBody::new(Geometry::Tets(mesh), SoftModel::Springs(params))).unwrap();
        for _ in 0..50 {
            world.step(&Input::none());
        }
        let body = world.body(id).unwrap();
        let total: Real = body.node_masses().iter().sum();
        let speed = body.node_velocities().iter().zip(body.node_masses()).map(|(v, m)| v.y * m).sum::<Real>() / total;
        near(speed, -9.81 * 0.5, 1e-4, "speed");
        // ½ g t², and at most g t h more
        let y = body.center_of_mass().y;
        assert!((-1.22625 - 9.81 * 0.5 * 0.01..=-1.22625 + 1e-3).contains(&y), "{integrator:?}: {y}");
    }
}

/// The CG's tolerance is relative to forces, not to momentum: a body under gravity alone does not deform.
#[test]
fn a_jelly_in_free_fall_keeps_its_shape_at_any_speed() {
    for speed in [0.0, 20.0] {
        let mut world = World::new(settings(1.0 / 60.0)).unwrap();
        let mesh = TetMesh::block([3, 2, 3], Vec3::splat(0.2)).unwrap();
        let jelly = SoftBody::corotational(mesh.clone(), ElasticMaterial::jelly()).velocity([speed, 0.0, 0.0]);
        let jelly = world.add_soft(jelly).unwrap();
        run(&mut world, 0.5);
        let x = world.body(jelly).unwrap().node_positions();
        let centre = world.body(jelly).unwrap().center_of_mass();
        let worst = x.iter().zip(&mesh.vertices).map(|(x, rest)| (*x - centre - *rest).length()).fold(0.0, Real::max);
        // each of the 30 steps rounds coordinates of some 10 m, and leaves a thousandth of the effect of gravity
        let step = 10.0 * Real::EPSILON + world.settings().implicit.tolerance * G / 3600.0;
        assert!(worst < 30.0 * step, "at {speed} m/s: {worst}");
    }
}
