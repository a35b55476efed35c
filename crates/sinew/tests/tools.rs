//! Tools: the coupling against series of springs, action and reaction, friction grips, grips by anchors, and bad commands.

use sinew::tool::{Coupling, Grasper, Hold, ToolCommand, ToolIds, ToolSpec, Wide3};
use sinew::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn settings(dt: Real) -> Settings {
    Settings { dt, gravity: Vec3::ZERO, threads: 1, ..Settings::default() }
}

fn ball(at: impl Into<Vec3>) -> RigidBody {
    RigidBody::dynamic().shape(Shape::ball(5e-3)).mass(5e-3).at(at)
}

fn coupling(stiffness: f64) -> Coupling {
    Coupling { stiffness, ..Coupling::default() }
}

fn steps(world: &mut World, count: usize, input: &Input) {
    for _ in 0..count {
        world.step(input);
    }
}

/// Force and torque on tool and hand add up to nothing about any point.
fn assert_balanced(world: &World, ids: &ToolIds) {
    let tool = world.tool(ids.tool).expect("it was added");
    assert_eq!(tool.on_hand.force, -tool.on_tool.force);
    let wide = |v: Vec3| Wide3::from_array(v.to_array().map(|x| x as f64));
    let about = Wide3::new(0.4, -0.3, 0.2);
    let moment = |w: &tool::Wrench, at: Vec3| w.torque + (wide(at) - about).cross(w.force);
    let sum = moment(&tool.on_tool, tool.pose.position) + moment(&tool.on_hand, tool.commanded.position);
    let size = tool.on_tool.force.length() + tool.on_tool.torque.length();
    assert!(sum.length() < 1e-6 * (1.0 + size), "{sum}");
}

#[test]
fn a_tool_on_a_spring_has_the_force_of_two_springs_in_series_at_any_step() -> Outcome {
    for dt in [1e-3, 5e-3, 1.0 / 60.0, 0.1] {
        let mut world = World::new(settings(dt))?;
        let ids = world.add_tool(ToolSpec::new(ball(Vec3::ZERO)).coupling(coupling(500.0)))?;
        let tip = Site::Rigid { body: ids.body, local: Vec3::ZERO };
        for axis in [Vec3::Y, Vec3::Z] {
            // across: nothing but the coupling
            world.add_distance(Distance::spring(Site::World(axis), tip, 1.0, 1e-3, 0.0))?;
        }
        world.add_distance(Distance::spring(Site::World(-Vec3::X), tip, 1.0, 200.0, 1.0))?;
        steps(&mut world, (2.0 / dt) as usize, &Input::none().tool(ids.tool, Pose::at(Vec3::X * 5e-3)));
        // 5 mm of 500 and 200 N/m
        let force = world.tool(ids.tool)?.on_hand.force;
        assert!((force.x + 5e-3 / (1.0 / 500.0 + 1.0 / 200.0)).abs() < 2e-3, "{dt}: {force}");
        assert_balanced(&world, &ids);
    }
    Ok(())
}

#[test]
fn pulling_a_linear_body_agrees_with_its_static_compliance() -> Outcome {
    let mut world = World::new(settings(5e-3))?;
    let block = TetMesh::block([4, 4, 4], Vec3::splat(0.04))?;
    let top = (0..block.vertices.len()).find(|&k| (block.vertices[k] - Vec3::new(0.0, 0.02, 0.0)).length() < 1e-4);
    let bottom: Vec<u32> = (0..).zip(&block.vertices).filter(|(_, x)| x.y < -0.0199).map(|(k, _)| k).collect();
    let node = top.ok_or("a node in the middle of the top")? as u32;
    let material = ElasticMaterial::new(2e4, 0.3, 1000.0);
    let jelly = world.add_soft(SoftBody::corotational(block, material).pinned(bottom))?;
    let site = Site::Node { body: jelly, node };
    // for so long that inertia and damping do not count: at rest
    let options =
        ComplianceOptions { time: Some(100.0), iterations: 400, tolerance: 1e-5, ..ComplianceOptions::default() };
    let (mut scratch, mut found) = (ComplianceScratch::default(), Vec::new());
    world.compliance(&[SiteForce { site, force: Vec3::Y }], &options, &mut scratch, &mut found)?;
    let softness = found[0].displacement.y as f64;
    let start = world.site_position(&site)?;
    // without contact: the node is tied to the middle of the tool
    let handle = RigidBody::dynamic().mass(5e-3).inertia(Sym3::diagonal(Vec3::splat(5e-8))).at(start);
    let ids = world.add_tool(ToolSpec::new(handle).coupling(coupling(300.0)))?;
    world.add_attachment(Attachment::anchor(site, Some(ids.body)))?;
    let pull = 1e-3;
    steps(&mut world, 400, &Input::none().tool(ids.tool, Pose::at(start + Vec3::Y * pull)));
    let (force, want) = (-world.tool(ids.tool)?.on_hand.force.y, pull as f64 / (1.0 / 300.0 + softness));
    // the body is linear to the strain of 3 % at the node
    assert!((force / want - 1.0).abs() < 0.03, "{force} of {want} N, compliance {softness}");
    // a tool without weight at rest: what the body does is what the hand feels
    let tool = world.tool(ids.tool)?;
    assert!(tool.in_tool_axes(&tool.on_tool).force.y - force < 1e-9);
    Ok(())
}

#[test]
fn a_probe_on_a_wall_stops_there_and_the_hand_feels_the_coupling() -> Outcome {
    let mut world = World::new(Settings { contact: Stabilization::Baumgarte(0.2), ..settings(1e-3) })?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let ids = world.add_tool(ToolSpec::new(ball([0.0, 5e-3, 0.0])).coupling(coupling(500.0)))?;
    steps(&mut world, 500, &Input::none().tool(ids.tool, Pose::at(Vec3::Y * 3e-3)));
    let tool = world.tool(ids.tool)?;
    assert!((tool.on_hand.force.y - 1.0).abs() < 5e-3, "{}", tool.on_hand.force);
    assert!((tool.contact.force.y - 1.0).abs() < 5e-3, "{}", tool.contact.force);
    assert!((tool.pose.position.y - 5e-3).abs() < 2e-6, "{}", tool.pose.position);
    assert_balanced(&world, &ids);
    Ok(())
}

#[test]
fn an_off_centre_tip_gives_the_torque_of_its_arm() -> Outcome {
    let mut world = World::new(Settings { contact: Stabilization::Baumgarte(0.2), ..settings(1e-3) })?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    // a ball at 0.1 m from the origin, which turns stiffly with the hand
    let tip = Collider::new(Shape::ball(5e-3)).at(Pose::at(Vec3::X * 0.1));
    let inertia = Sym3::diagonal(Vec3::splat(1e-4));
    let body = RigidBody::dynamic().collider(tip).mass(0.05).inertia(inertia).at([0.0, 5e-3, 0.0]);
    let stiff = Coupling { stiffness: 500.0, turn_stiffness: 1000.0, max_torque: 10.0, ..Coupling::default() };
    let ids = world.add_tool(ToolSpec::new(body).coupling(stiff))?;
    steps(&mut world, 1500, &Input::none().tool(ids.tool, Pose::at(Vec3::Y * 3e-3)));
    let tool = world.tool(ids.tool)?;
    let force = tool.contact.force.y;
    assert!((force - 1.0).abs() < 0.02, "{force}");
    assert!((tool.contact.torque.z / force - 0.1).abs() < 1e-3, "{}", tool.contact.torque);
    // the hand is at the origin of the tool but for the millimetres of the coupling
    assert!((tool.on_hand.torque.z / force - 0.1).abs() < 1e-3, "{}", tool.on_hand.torque);
    Ok(())
}

fn jaw(x: Real, friction: Real) -> RigidBody {
    let side = RigidBody::dynamic().shape(Shape::cuboid(2e-3, 0.012, 8e-3)).mass(0.02);
    side.material(SurfaceMaterial::friction(friction)).at([x, -0.03, 0.0])
}

/// A cube of 20 mm between the jaws of a fixed hand.
fn gripped_cube(friction: Real, force: Real) -> Result<(World, ToolIds, BodyId), Error> {
    let mut world = World::new(settings(2e-3))?;
    let shaft = RigidBody::dynamic().shape(Shape::capsule(0.01, 3e-3)).mass(0.05).at([0.0, 0.1, 0.0]);
    let jaws = [jaw(2e-3, friction), jaw(-2e-3, friction)];
    let grasper = Grasper { max_opening: 0.04, force, opening: 0.03, ..Grasper::new(jaws) };
    let coupling = Coupling { stiffness: 2000.0, turn_stiffness: 20.0, max_force: 50.0, ..Coupling::default() };
    let ids = world.add_tool(ToolSpec::new(shaft).coupling(coupling).grasper(grasper))?;
    let cube = RigidBody::dynamic().shape(Shape::cuboid(0.01, 0.01, 0.01)).mass(0.05).at([0.0, 0.07, 0.0]);
    let cube = world.add_rigid(cube.material(SurfaceMaterial::friction(friction)).can_sleep(false))?;
    steps(&mut world, 200, &Input::none().grasp(ids.tool, Pose::at(Vec3::Y * 0.1), 0.0));
    Ok((world, ids, cube))
}

#[test]
fn jaws_press_with_their_force_and_friction_holds_up_to_its_cone() -> Outcome {
    let (friction, force) = (0.5, 4.0);
    let hold = Pose::at(Vec3::Y * 0.1);
    // two faces of μ N each: 4 N
    for (share, slips) in [(0.85, false), (1.2, true)] {
        let (mut world, ids, cube) = gripped_cube(friction, force)?;
        let tool = world.tool(ids.tool)?;
        assert!((tool.opening - 0.02).abs() < 3e-4, "{}", tool.opening);
        for f in tool.jaw_force {
            assert!((f + force).abs() < 0.02 * force, "{:?}", tool.jaw_force);
        }
        let pull = -Vec3::Y * (share * 2.0 * friction * force);
        let before = world.body(cube)?.position().y - world.tool(ids.tool)?.pose.position.y;
        steps(&mut world, 150, &Input::none().grasp(ids.tool, hold, 0.0).force(cube, pull));
        let after = world.body(cube)?.position().y - world.tool(ids.tool)?.pose.position.y;
        assert_eq!(before - after > 5e-3, slips, "{share}: {} m", before - after);
        if !slips {
            let tool = world.tool(ids.tool)?;
            assert!((tool.on_hand.force.y / pull.y as f64 - 1.0).abs() < 0.02, "{}", tool.on_hand.force);
            assert_balanced(&world, &ids);
        }
    }
    Ok(())
}

/// A block of jelly on its pinned bottom, and a gripper with anchors whose box reaches 8 mm into its top.
fn gripped_jelly(threads: u32, force: Real) -> Result<(World, ToolIds, BodyId), Box<dyn std::error::Error>> {
    let mut world = World::new(Settings { threads, ..settings(5e-3) })?;
    let block = TetMesh::block([4, 4, 4], Vec3::splat(0.04))?;
    let bottom: Vec<u32> = (0..).zip(&block.vertices).filter(|(_, x)| x.y < -0.0199).map(|(k, _)| k).collect();
    let body = SoftBody::corotational(block, ElasticMaterial::new(1e4, 0.4, 1000.0)).pinned(bottom);
    let jelly = world.add_soft(body)?;
    let hold = Hold { half: Vec3::new(0.012, 8e-3, 0.012), engage: 5e-3, force, slip: 4e-3, ..Hold::default() };
    let grasper = Grasper { hold: Some(hold), ..Grasper::new(None) };
    let shaft = RigidBody::dynamic().mass(0.02).inertia(Sym3::diagonal(Vec3::splat(2e-6))).at([0.0, 0.02, 0.0]);
    let ids = world.add_tool(ToolSpec::new(shaft).coupling(coupling(500.0)).grasper(grasper))?;
    steps(&mut world, 60, &Input::none().grasp(ids.tool, Pose::at(Vec3::Y * 0.02), 0.0));
    Ok((world, ids, jelly))
}

#[test]
fn a_grip_by_anchors_pulls_twists_and_lets_go() -> Outcome {
    let (mut world, ids, _) = gripped_jelly(1, 2.0)?;
    assert!(world.tool(ids.tool)?.anchors >= 3);
    let up = Vec3::Y * 0.026;
    steps(&mut world, 150, &Input::none().grasp(ids.tool, Pose::at(up), 0.0));
    let pulled = world.tool(ids.tool)?;
    assert!(pulled.on_hand.force.y < -0.05, "{}", pulled.on_hand.force);
    // a light tool at rest: the anchors carry the force of the coupling
    assert!((pulled.contact.force.y / pulled.on_hand.force.y - 1.0).abs() < 0.02, "{:?}", pulled.contact);
    assert_balanced(&world, &ids);
    // turned about the pull
    let turned = Pose::new(up, Quat::from_rotation_y(0.3));
    steps(&mut world, 150, &Input::none().grasp(ids.tool, turned, 0.0));
    let twisted = world.tool(ids.tool)?;
    assert!(twisted.on_hand.torque.y < -2e-4, "{}", twisted.on_hand.torque);
    assert!((twisted.contact.torque.y / twisted.on_hand.torque.y - 1.0).abs() < 0.03, "{:?}", twisted.contact);
    // opened: released at once, and nothing is felt
    world.step(&Input::none().grasp(ids.tool, turned, 0.02));
    let mut released = world.report().events.iter().any(|e| matches!(e, Event::Released { .. }));
    for _ in 0..200 {
        world.step(&Input::none().grasp(ids.tool, turned, 0.02));
        released |= world.report().events.iter().any(|e| matches!(e, Event::Released { .. }));
    }
    let free = world.tool(ids.tool)?;
    assert!(released && free.anchors == 0 && free.on_hand.force.length() < 2e-3, "{free:?}");
    Ok(())
}

#[test]
fn points_slide_out_of_a_weak_grip() -> Outcome {
    let (mut world, ids, _) = gripped_jelly(1, 0.01)?;
    let count = world.tool(ids.tool)?.anchors;
    assert!(count >= 3);
    let mut most: f64 = 0.0;
    for k in 0..200 {
        let up = Vec3::Y * (0.02 + 0.03 * (k as Real / 100.0).min(1.0));
        world.step(&Input::none().grasp(ids.tool, Pose::at(up), 0.0));
        most = most.max(world.tool(ids.tool)?.contact.force.y.abs());
    }
    assert_eq!(world.tool(ids.tool)?.anchors, 0);
    assert!(most <= 0.01 * f64::from(count) * 1.001 && most > 0.01, "{most} with {count} points");
    Ok(())
}

/// A motion that pulls, turns and opens.
fn wander(ids: &ToolIds, k: usize) -> Input {
    let t = k as Real * 0.05;
    let place = Vec3::new(3e-3 * t.sin(), 0.022 + 3e-3 * (1.3 * t).sin(), 2e-3 * (0.7 * t).cos());
    let turn = Quat::from_rotation_y(0.2 * (0.9 * t).sin());
    Input::none().grasp(ids.tool, Pose::new(place, turn), if k < 60 { 0.0 } else { 0.02 })
}

fn play(world: &mut World, ids: &ToolIds, range: std::ops::Range<usize>) {
    for k in range {
        world.step(&wander(ids, k));
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_after_a_restore_in_the_grip() -> Outcome {
    let run = |threads: u32| -> Result<(u64, World), Box<dyn std::error::Error>> {
        let (mut world, ids, _) = gripped_jelly(threads, 0.3)?;
        play(&mut world, &ids, 0..80);
        Ok((world.hash(), world))
    };
    let (alone, _) = run(1)?;
    assert_eq!(run(2)?.0, alone);
    assert_eq!(run(4)?.0, alone);
    // restored in the same world, and in one that was built from the description
    let (mut world, ids, _) = gripped_jelly(1, 0.3)?;
    play(&mut world, &ids, 0..30);
    let middle = world.snapshot();
    assert!(!middle.tool_anchors.is_empty());
    let mut twin = World::build(world.blueprint()?, &middle)?;
    play(&mut world, &ids, 30..80);
    assert_eq!(world.hash(), alone);
    world.restore(&middle)?;
    play(&mut world, &ids, 30..80);
    play(&mut twin, &ids, 30..80);
    assert_eq!(world.hash(), alone);
    assert_eq!(twin.state().first_difference(world.state()), None);
    Ok(())
}

#[test]
fn a_body_that_is_gripped_can_be_removed_and_a_tool_too() -> Outcome {
    let (mut world, ids, jelly) = gripped_jelly(1, 1.0)?;
    world.remove_body(jelly)?;
    steps(&mut world, 5, &wander(&ids, 0));
    assert_eq!(world.tool(ids.tool)?.anchors, 0);
    world.remove_tool(ids.tool)?;
    steps(&mut world, 5, &Input::none());
    assert!(world.state().tools.is_empty() && world.tool(ids.tool).is_err());
    Ok(())
}

#[test]
fn bad_commands_are_refused_and_far_poses_are_approached_with_bounded_force() -> Outcome {
    let mut world = World::new(settings(2e-3))?;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let ids = world.add_tool(ToolSpec::new(ball([0.0, 0.02, 0.0])))?;
    let limit = 3.0_f64.sqrt() * 1.001 * Coupling::default().max_force;
    let bad = [
        Pose::at(Vec3::new(Real::NAN, 0.0, 0.0)),
        Pose::at(Vec3::splat(Real::INFINITY)),
        Pose::at(Vec3::X * 1e7),
        Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        Pose::new(Vec3::ZERO, Quat::from_xyzw(Real::NAN, 0.0, 0.0, 1.0)),
    ];
    for pose in bad {
        let before = world.state().tools[0];
        world.step(&Input::none().tool(ids.tool, pose));
        assert!(world.report().events.contains(&Event::Refused { command: 0 }), "{pose:?}");
        assert_eq!(world.state().tools[0].target_place, before.target_place);
    }
    // an opening without jaws, stamps that go back or are no number
    let command = |time: f64, opening| Command::Tool {
        tool: ids.tool,
        command: ToolCommand { pose: Pose::at(Vec3::Y * 0.02), opening, time },
    };
    world.step(&Input::none().with(command(2e-3, None)).with(command(1e-3, None)).with(command(f64::NAN, None)));
    assert!([1, 2].iter().all(|&command| world.report().events.contains(&Event::Refused { command })));
    world.step(&Input::none().with(command(2e-3, Some(0.01))));
    assert!(world.report().events.contains(&Event::Refused { command: 0 }));
    // jumps of a metre at random, through the floor too
    let mut seed = 7_u32;
    let mut draw = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as Real / 8_388_608.0 - 1.0
    };
    let mut held_back = 0;
    for _ in 0..600 {
        let place = Vec3::new(draw(), draw(), draw());
        let turn = Quat::from_xyzw(draw(), draw(), draw(), draw() + 1e-3).normalize();
        let command = ToolCommand { pose: Pose::new(place, turn), opening: None, time: 2e-3 };
        world.step(&Input::none().with(Command::Tool { tool: ids.tool, command }));
        held_back += world.report().events.iter().filter(|e| matches!(e, Event::ToolHeldBack { .. })).count();
        let tool = world.tool(ids.tool)?;
        assert!(tool.on_hand.force.length() <= limit, "{}", tool.on_hand.force);
        assert!(tool.pose.is_finite() && world.report().faults.is_empty(), "{:?}", world.report().faults);
    }
    assert!(held_back > 100, "{held_back}");
    Ok(())
}

#[test]
fn a_removed_tool_and_wrong_descriptions_are_refused_by_name() -> Outcome {
    let mut world = World::new(settings(2e-3))?;
    let count = world.bodies().count();
    let refused = |world: &mut World, spec: ToolSpec| world.add_tool(spec).expect_err("it is wrong").to_string();
    let weak = Coupling { max_force: -1.0, ..Coupling::default() };
    assert!(refused(&mut world, ToolSpec::new(ball(Vec3::ZERO)).coupling(weak)).contains("coupling.max_force"));
    let rigid = Coupling { turn_stiffness: f64::INFINITY, ..Coupling::default() };
    assert!(refused(&mut world, ToolSpec::new(ball(Vec3::ZERO)).coupling(rigid)).contains("turn_stiffness"));
    assert!(refused(&mut world, ToolSpec::new(RigidBody::fixed().shape(Shape::ball(0.1)))).contains("dynamic"));
    let axis = Grasper { axis: Vec3::ZERO, ..Grasper::new(None) };
    assert!(refused(&mut world, ToolSpec::new(ball(Vec3::ZERO)).grasper(axis)).contains("axis"));
    assert_eq!(world.bodies().count(), count);
    let slow = ToolSpec { max_speed: f64::NAN, ..ToolSpec::new(ball(Vec3::ZERO)) };
    assert!(refused(&mut world, slow).contains("tool.max_speed"));
    Ok(())
}
