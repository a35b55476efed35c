//! The energy ledger against laws with known answers.

use sinew::{
    Command, Diagonals, Distance, ElasticMaterial, Geometry, Input, Joint, Ledger, LedgerDetail, Motor, Pose, Quat,
    Real, RigidBody, Settings, Shape, Site, SoftBody, SoftModel, SurfaceMaterial, TetMesh, TriMesh, Vec3, World, fem,
    pbd, spring,
};

fn world(gravity: Vec3) -> World {
    with(Settings { gravity, ..Settings::default() })
}

fn with(settings: Settings) -> World {
    let mut world = World::new(settings).unwrap();
    world.set_ledger(LedgerDetail::World);
    world
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn num(x: Real) -> f64 {
    x as f64
}

const DOWN: Vec3 = Vec3::new(0.0, -10.0, 0.0);

fn surface(friction: Real, restitution: Real) -> SurfaceMaterial {
    SurfaceMaterial::friction(friction).restitution(restitution)
}

fn floor(world: &mut World, material: SurfaceMaterial) {
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(material)).unwrap();
}

fn cube(half: Real) -> RigidBody {
    RigidBody::dynamic().shape(Shape::cuboid(half, half, half)).mass(2.0)
}

/// Runs a number of steps and returns the totals, with their scale.
fn run(world: &mut World, steps: usize) -> (Ledger, f64) {
    for _ in 0..steps {
        world.step(&Input::none());
    }
    let report = &world.report().ledger;
    (report.total, report.turnover)
}

/// The unexplained rest of all steps is below this fraction of the energy that changed its form.
#[track_caller]
fn explained(name: &str, (total, turnover): (Ledger, f64), most: f64) {
    let list: Vec<String> = Ledger::NAMES
        .iter()
        .zip(total.values())
        .filter(|(_, v)| *v != 0.0)
        .map(|(n, v)| format!("{n} {v:.4}"))
        .collect();
    println!("{name}: rest {:.1e} of {turnover:.4}; {}", total.unexplained / turnover, list.join(", "));
    assert!(total.unexplained.abs() <= most * turnover, "{name}: {total:?} of {turnover}");
}

#[track_caller]
fn near(what: &str, value: f64, want: f64, tolerance: f64) {
    assert!((value - want).abs() <= tolerance * want.abs(), "{what}: {value}, not {want}");
}

/// Rounding of velocities: a few hundred steps of some parts in 10⁷ each.
const ROUNDING: f64 = 1e-5;

#[test]
fn free_fall_changes_potential_into_kinetic_energy() {
    let mut world = world(DOWN);
    world.add_rigid(cube(0.1).at([0.0, 100.0, 0.0]).spin([1.0, 2.0, 3.0])).unwrap();
    let found = run(&mut world, 60);
    explained("free fall", found, ROUNDING);
    // semi-implicit Euler falls ½ g h t too far: ½ m g h v in energy
    let (h, v) = (num(world.settings().h()), 10.0);
    near("integrator", found.0.integrator, -0.5 * 2.0 * 10.0 * h * v, 1e-3);
    near("kinetic", found.0.kinetic, 0.5 * 2.0 * v * v, 1e-3);
}

#[test]
fn an_impact_loses_what_restitution_does_not_return() {
    for e in [0.0, 0.5, 0.9] {
        let mut world = world(Vec3::ZERO);
        floor(&mut world, surface(0.0, e));
        let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).mass(2.0).material(surface(0.0, e));
        world.add_rigid(ball.at([0.0, 0.5, 0.0]).velocity([0.0, -3.0, 0.0])).unwrap();
        let found = run(&mut world, 30);
        explained("bouncing ball", found, ROUNDING);
        near("restitution", found.0.restitution, -0.5 * 2.0 * 9.0 * (1.0 - num(e).powi(2)), 0.01);
    }
}

#[test]
fn a_ball_that_bounces_under_gravity_is_explained() {
    let mut world = world(DOWN);
    floor(&mut world, surface(0.3, 0.8));
    let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).mass(2.0).material(surface(0.3, 0.8));
    world.add_rigid(ball.at([0.0, 1.0, 0.0]).velocity([1.0, 0.0, 0.0]).spin([0.0, 0.0, 20.0])).unwrap();
    explained("bouncing and spinning", run(&mut world, 300), ROUNDING);
}

#[test]
fn friction_takes_the_kinetic_energy_of_a_sliding_box() {
    let mut world = world(DOWN);
    floor(&mut world, surface(0.4, 0.0));
    world.add_rigid(cube(0.1).material(surface(0.4, 0.0)).at([0.0, 0.1, 0.0]).velocity([2.0, 0.0, 0.0])).unwrap();
    let found = run(&mut world, 120);
    explained("sliding box", found, ROUNDING);
    near("friction", found.0.friction, -0.5 * 2.0 * 4.0, 0.01);
}

#[test]
fn friction_on_a_slope_takes_its_part_of_the_fall() {
    // a slope of 0.5 with µ = 0.3: friction takes µ cos/sin of the work of gravity
    let (sin, cos) = (0.5_f32.atan().sin(), 0.5_f32.atan().cos());
    let gravity = Vec3::new(10.0 * sin as Real, -10.0 * cos as Real, 0.0);
    let mut world = world(gravity);
    floor(&mut world, surface(0.3, 0.0));
    world.add_rigid(cube(0.1).material(surface(0.3, 0.0)).at([0.0, 0.1, 0.0])).unwrap();
    let found = run(&mut world, 120);
    explained("slope", found, ROUNDING);
    near("friction", found.0.friction, 0.3 / 0.5 * found.0.gravity, 0.01);
}

#[test]
fn a_pendulum_exchanges_its_energies() {
    let mut world = world(DOWN);
    let bob = world.add_rigid(cube(0.05).at([1.0, 0.0, 0.0]).can_sleep(false)).unwrap();
    world.add_joint(Joint::hinge(None, Some(bob)).anchor([0.0, 0.0, 0.0]).axis(Vec3::Z)).unwrap();
    explained("pendulum", run(&mut world, 300), 1e-4);
}

#[test]
fn the_work_of_a_motor_is_torque_times_angle() {
    let mut world = world(Vec3::ZERO);
    let wheel = world.add_rigid(cube(0.2).can_sleep(false)).unwrap();
    // weaker than needed: it exerts its largest torque
    let motor = Motor::Velocity { target: 1e3, max_force: 0.5 };
    let joint = world.add_joint(Joint::hinge(None, Some(wheel)).axis(Vec3::Z).motor(motor)).unwrap();
    let (mut angle, mut last) = (0.0, 0.0);
    for _ in 0..60 {
        world.step(&Input::none());
        let now = num(world.joint_place(joint).unwrap());
        angle += (now - last).rem_euclid(std::f64::consts::TAU);
        last = now;
    }
    let ledger = &world.report().ledger;
    explained("motor", (ledger.total, ledger.turnover), 1e-4);
    // positions follow the velocities at the end of each substep: half a substep of speed more
    near("motor", ledger.total.motors, 0.5 * angle, 0.01);
}

#[test]
fn a_platform_that_lifts_a_box_does_the_work_of_its_weight() {
    let mut world = world(DOWN);
    let platform = RigidBody::kinematic().shape(Shape::cuboid(0.5, 0.1, 0.5)).at([0.0, -0.1, 0.0]);
    let platform = world.add_rigid(platform).unwrap();
    world.add_rigid(cube(0.1).at([0.0, 0.1, 0.0]).can_sleep(false)).unwrap();
    for k in 0..180 {
        let height = 0.5 * (1.0 - Real::cos(std::f64::consts::PI as Real * (k + 1) as Real / 180.0));
        let pose = Pose::new(Vec3::new(0.0, height - 0.1, 0.0), Quat::IDENTITY);
        world.step(&Input { commands: vec![Command::Target { body: platform, pose }] });
    }
    let ledger = &world.report().ledger;
    explained("platform", (ledger.total, ledger.turnover), 1e-3);
    near("kinematic", ledger.total.kinematic, 2.0 * 10.0 * 1.0, 0.01);
}

#[test]
fn a_command_does_the_work_of_its_force() {
    let mut world = world(Vec3::ZERO);
    let body = world.add_rigid(cube(0.1)).unwrap();
    for _ in 0..60 {
        world.step(&Input { commands: vec![Command::Force { body, force: Vec3::X * 4.0, torque: Vec3::Y * 0.1 }] });
    }
    world.step(&Input { commands: vec![Command::Impulse { body, impulse: Vec3::X * -2.0, point: Vec3::ZERO }] });
    let ledger = &world.report().ledger;
    explained("commands", (ledger.total, ledger.turnover), ROUNDING);
    near("commands", ledger.total.commands, ledger.total.kinetic, 1e-5);
}

#[test]
fn a_damper_takes_the_energy_of_a_spring() {
    let mut world = with(Settings { gravity: Vec3::ZERO, substeps: 20, ..Settings::default() });
    let body = world.add_rigid(cube(0.05).at([1.5, 0.0, 0.0]).can_sleep(false)).unwrap();
    let site = Site::Rigid { body, local: Vec3::ZERO };
    // 200 N/m, stretched by 0.5 m: 25 J; decays with c/2m = 5/s
    world.add_distance(Distance::spring(Site::World(Vec3::ZERO), site, 1.0, 200.0, 20.0)).unwrap();
    let found = run(&mut world, 240);
    explained("damped spring", found, 1e-3);
    near("elastic", found.0.elastic, -25.0, 1e-3);
    // implicit Euler takes its part: h ω/2ζ of it, 2 %
    near("damping", found.0.damping, -25.0, 0.05);
}

#[test]
fn damping_of_bodies_is_a_loss_with_a_name() {
    let mut world = world(DOWN);
    world.add_rigid(cube(0.1).damping(2.0, 3.0).velocity([3.0, 0.0, 0.0]).spin([0.0, 5.0, 1.0])).unwrap();
    let found = run(&mut world, 120);
    explained("damped body", found, 1e-4);
    assert!(found.0.damping < -9.0);
}

fn block(damping: Real) -> SoftBody {
    let mesh = TetMesh::block([3, 3, 3], Vec3::splat(0.2)).unwrap();
    let matter = fem::Params { youngs_modulus: 5e4, poisson_ratio: 0.3, density: 1000.0, damping };
    SoftBody::new(Geometry::Tets(mesh), SoftModel::Corotational(matter))
}

#[test]
fn a_soft_block_that_drops_loses_by_integration_and_damping() {
    for damping in [0.0, 0.01] {
        let mut world = world(DOWN);
        floor(&mut world, surface(0.3, 0.0));
        world.add_soft(block(damping).material(surface(0.3, 0.0)).at([0.0, 0.4, 0.0])).unwrap();
        explained("soft block", run(&mut world, 120), 0.01);
    }
}

fn sheet() -> SoftBody {
    let mesh = TriMesh::sheet([10; 2], [0.5; 2], Diagonals::Alternating).unwrap();
    let sheet = pbd::Sheet {
        stretch: 1e4,
        bend: 0.0,
        density: 0.25,
        compression: 1.0,
        skip_stiffness: 0.0,
        stretch_limit: Real::INFINITY,
    };
    SoftBody::new(Geometry::Sheet(mesh), SoftModel::Pbd(pbd::Structure::Sheet(sheet), pbd::Params::default()))
}

#[test]
fn cloth_on_a_ball_is_explained() {
    for moving in [false, true] {
        let mut world = world(DOWN);
        floor(&mut world, surface(0.5, 0.0));
        let ball = if moving { RigidBody::dynamic().mass(1.0) } else { RigidBody::fixed() };
        world.add_rigid(ball.shape(Shape::ball(0.2)).at([0.0, 0.2, 0.0])).unwrap();
        world.add_soft(sheet().at([0.0, 0.5, 0.0])).unwrap();
        explained("cloth", run(&mut world, 120), 0.01);
    }
}

#[test]
fn springs_are_explained() {
    let mut world = world(DOWN);
    floor(&mut world, surface(0.5, 0.0));
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(0.2)).unwrap();
    let body = SoftBody::new(Geometry::Tets(mesh), SoftModel::Springs(spring::Params::default()));
    world.add_soft(body.at([0.0, 0.3, 0.0])).unwrap();
    explained("springs", run(&mut world, 120), 0.01);
}

#[test]
fn a_stack_with_soft_bodies_is_explained() {
    let mut world = world(DOWN);
    floor(&mut world, surface(0.5, 0.0));
    world.add_soft(block(0.0).at([0.0, 0.11, 0.0])).unwrap();
    world.add_rigid(cube(0.1).at([0.0, 0.4, 0.0]).spin([0.3, 0.1, 0.2])).unwrap();
    world.add_soft(sheet().at([0.0, 0.7, 0.0])).unwrap();
    world.add_rigid(cube(0.1).at([0.1, 1.0, 0.0])).unwrap();
    explained("stack", run(&mut world, 180), 0.01);
}

#[test]
fn pinned_nodes_that_lift_a_block_do_the_work_of_its_weight() {
    let mut world = world(DOWN);
    let mesh = TetMesh::block([2, 2, 2], Vec3::splat(0.2)).unwrap();
    let matter = ElasticMaterial::new(1e5, 0.3, 1000.0);
    let body = SoftBody::corotational(mesh, matter).pin_region([-1.0, 0.099, -1.0], [1.0, 1.0, 1.0]);
    let id = world.add_soft(body).unwrap();
    let pins: Vec<(u32, Vec3)> =
        (0..).zip(world.body(id).unwrap().node_positions().to_vec()).filter(|(_, x)| x.y > 0.099).collect();
    // hangs at rest first
    let before = run(&mut world, 120).0;
    for k in 0..120 {
        let height = 0.25 * (1.0 - Real::cos(std::f64::consts::PI as Real * (k + 1) as Real / 120.0));
        let to = |&(node, x): &(u32, Vec3)| Command::NodeTarget { body: id, node, position: x + Vec3::Y * height };
        world.step(&Input { commands: pins.iter().map(to).collect() });
    }
    let ledger = &world.report().ledger;
    explained("moved pins", (ledger.total, ledger.turnover), 0.01);
    // only free nodes have an energy
    let gained = ledger.total.gravity - before.gravity;
    near("kinematic", ledger.total.kinematic - before.kinematic, gained, 0.02);
}

#[test]
fn plastic_flow_takes_the_energy_of_a_stretched_bar() {
    let mut world = world(Vec3::ZERO);
    let mesh = TetMesh::block([6, 2, 2], Vec3::new(0.6, 0.2, 0.2)).unwrap();
    let params = fem::SolidParams {
        plasticity: Some(fem::Plasticity { yield_stress: 3e3, creep: Real::INFINITY, max_strain: Real::INFINITY }),
        ..fem::SolidParams::default()
    };
    let body = SoftBody::new(Geometry::Tets(mesh), SoftModel::Solid(params));
    let id = world.add_soft(body.pin_region([-1.0, -1.0, -1.0], [-0.29, 1.0, 1.0]).spin([0.0, 4.0, 0.0])).unwrap();
    let found = run(&mut world, 120);
    explained("plastic bar", found, 0.03);
    assert!(found.0.plasticity < -0.1, "{:?}", found.0);
    assert!(world.body(id).is_ok());
}

/// Adds a body at a place with a velocity.
type Visitor = fn(&mut World, Vec3, Vec3);

/// Bodies of every kind that meet in pairs, far from everything else and without gravity.
fn visitors() -> Vec<(&'static str, Visitor)> {
    fn soft(world: &mut World, body: SoftBody, at: Vec3, velocity: Vec3) {
        world.add_soft(body.at(at).velocity(velocity)).unwrap();
    }
    vec![
        ("box", |world, at, v| {
            world.add_rigid(cube(0.1).at(at).velocity(v).spin([0.3, 0.2, 0.1])).unwrap();
        }),
        ("bouncing ball", |world, at, v| {
            let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).mass(1.0).material(surface(0.4, 0.7));
            world.add_rigid(ball.at(at).velocity(v)).unwrap();
        }),
        ("block", |world, at, v| soft(world, block(0.0), at, v)),
        ("springs", |world, at, v| {
            let mesh = TetMesh::block([2, 2, 2], Vec3::splat(0.2)).unwrap();
            soft(world, SoftBody::new(Geometry::Tets(mesh), SoftModel::Springs(spring::Params::default())), at, v);
        }),
        ("sheet", |world, at, v| soft(world, sheet(), at, v)),
    ]
}

#[test]
fn momentum_of_free_collisions_is_explained() {
    for (a, first) in visitors() {
        for (b, second) in visitors() {
            let mut world = world(Vec3::ZERO);
            world.set_ledger(LedgerDetail::Bodies);
            first(&mut world, Vec3::new(0.02, 0.2, 0.0), Vec3::Y * -1.0);
            second(&mut world, Vec3::new(0.0, -0.2, 0.01), Vec3::Y);
            let mass: f64 = world.bodies().map(|b| num(b.mass())).sum();
            let (mut most, mut turn, mut rest) = ([0.0_f64; 3], 0.0_f64, 0.0);
            for _ in 0..60 {
                let ledger = &world.step(&Input::none()).ledger;
                let found = ledger.momentum;
                rest += ledger.bodies.iter().map(|b| b.unexplained).sum::<f64>();
                for k in 0..3 {
                    most[k] = most[k].max(found.unexplained[k].abs());
                    turn = turn.max(found.angular_unexplained[k].abs());
                }
            }
            let worst = most.into_iter().fold(0.0, f64::max) / mass;
            println!("{a} on {b}: {worst:.1e} m/s, {:.1e} m²/s", turn / mass);
            // rounding of velocities of 1 m/s in a step
            assert!(worst < 1e-5, "{a} on {b}: {worst} m/s");
            let ledger = &world.report().ledger;
            // a soft body that stops in one step is not linear: its law beyond the tangent has no formula
            explained("collision", (ledger.total, ledger.turnover), 0.05);
            // the balances of bodies, evaluated one by one, have the same rest together
            let difference = (rest - ledger.total.unexplained).abs();
            assert!(difference < 1e-5 * ledger.turnover, "{a} on {b}: {rest} and {}", ledger.total.unexplained);
        }
    }
}

#[test]
fn the_ledger_changes_no_bit_and_does_not_depend_on_threads_or_lanes() {
    let play = |detail: LedgerDetail, threads: u32, lanes: bool| {
        let mut world = with(Settings { gravity: DOWN, threads, lanes, ..Settings::default() });
        world.set_ledger(detail);
        floor(&mut world, surface(0.5, 0.2));
        world.add_soft(block(0.01).at([0.0, 0.11, 0.0])).unwrap();
        world.add_soft(sheet().at([2.0, 0.3, 0.0])).unwrap();
        for k in 0..20 {
            let at = [2.0 + 0.25 * (k % 4) as Real, 0.1 + 0.22 * (k / 4) as Real, 0.0];
            world.add_rigid(cube(0.1).material(surface(0.5, 0.3)).at(at)).unwrap();
        }
        run(&mut world, 60);
        (world.hash(), world.report().ledger.total)
    };
    let (hash, none) = play(LedgerDetail::None, 1, true);
    let (same, total) = play(LedgerDetail::World, 1, true);
    assert_eq!((hash, none), (same, Ledger::default()));
    for (detail, threads, lanes) in
        [(LedgerDetail::World, 3, true), (LedgerDetail::World, 1, false), (LedgerDetail::Bodies, 2, true)]
    {
        assert_eq!(play(detail, threads, lanes), (hash, total), "{detail:?}, {threads} threads, lanes {lanes}");
    }
}

#[test]
fn a_restored_world_counts_on() {
    let mut world = world(DOWN);
    let body = world.add_rigid(cube(0.1).at([0.0, 10.0, 0.0])).unwrap();
    run(&mut world, 10);
    let kept = world.snapshot();
    run(&mut world, 20);
    world.restore(&kept).unwrap();
    // neither the restore nor an edit between steps is a change of energy in a step
    world.add_rigid(cube(0.1).at([5.0, 10.0, 0.0]).velocity([0.0, 3.0, 0.0])).unwrap();
    let found = run(&mut world, 20);
    explained("restored", found, ROUNDING);
    // a teleport is the work of a command: m g h
    let before = found.0.commands;
    let pose = Pose::new(Vec3::new(0.0, 20.0, 0.0), Quat::IDENTITY);
    let height = 20.0 - num(world.body(body).unwrap().position().y);
    world.step(&Input { commands: vec![Command::Teleport { body, pose }] });
    near("teleport", world.report().ledger.total.commands - before, 20.0 * height, 1e-4);
}
