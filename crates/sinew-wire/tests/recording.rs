//! Recordings: replayed bit for bit with any number of threads, cut off, tampered with, changed.

mod common;

use common::{Random, hammer, input, scene};
use sinew::*;
use sinew_wire::{Outcome, Recorder, Replay, WireError, replay};

type Done = Result<(), Box<dyn std::error::Error>>;

/// 300 steps of the scene, with edits outside of the input as well.
fn record(threads: u32) -> Result<(Vec<u8>, Vec<u64>), Box<dyn std::error::Error>> {
    let (mut world, ids) = scene(threads)?;
    let mut recorder = Recorder::new(&world)?;
    let mut hashes = vec![world.hash()];
    for i in 0..300 {
        match i {
            70 => _ = world.add_rigid(hammer().at([0.5, 3.0, 0.0]))?,
            90 => _ = world.add_particles(Particles::new(vec![Vec3::Y, Vec3::Y * 2.0]).radius(0.01))?,
            120 => world.remove_body(ids.dust)?,
            210 => world.set_settings(Settings { threads, sweeps: 2, ..world.settings().clone() })?,
            _ => {}
        }
        let report = recorder.step(&mut world, &input(&ids, i))?;
        assert!(report.faults.is_empty(), "step {i}: {:?}", report.faults);
        let refused = report.events.iter().any(|e| matches!(e, Event::Refused { .. }));
        // the second removal of a joint, and forces on dust that is gone
        assert!(!refused || i == 170 || i >= 120, "step {i} refuses {:?}", input(&ids, i));
        hashes.push(world.hash());
    }
    assert!(world.state().contacts.len() > 10, "the scene tests little: {} contacts", world.state().contacts.len());
    Ok((recorder.finish(), hashes))
}

#[test]
fn one_thread_records_and_two_replay() -> Done {
    let (bytes, hashes) = record(1)?;
    let mut replay = Replay::open(&bytes)?.threads(2)?;
    assert!(replay.is_complete());
    assert_eq!(replay.step_count(), 300);
    for (i, &hash) in hashes.iter().enumerate().skip(1) {
        assert_eq!(replay.next(), Some(Ok(Outcome::Matched { tick: i as u64 })));
        assert_eq!(replay.world().hash(), hash);
        assert_eq!(replay.world().settings().threads, 2);
    }
    assert!(replay.next().is_none());
    let summary = sinew_wire::replay(&bytes)?;
    assert_eq!((summary.steps, summary.matched, summary.complete), (300, 300, true));
    assert_eq!(summary.first_divergence, None);
    Ok(())
}

#[test]
fn seeking_finds_every_tick_in_any_order() -> Done {
    let (bytes, hashes) = record(1)?;
    let mut replay = Replay::open(&bytes)?;
    for tick in [300, 0, 99, 100, 101, 71, 70, 211, 210, 200, 5, 121] {
        replay.seek(tick)?;
        assert_eq!(replay.world().state().tick, tick);
        assert_eq!(replay.world().hash(), hashes[tick as usize], "tick {tick}");
        if tick < 300 {
            assert_eq!(replay.next(), Some(Ok(Outcome::Matched { tick: tick + 1 })));
        } else {
            assert!(replay.next().is_none());
        }
    }
    let here = replay.world().hash();
    assert_eq!(replay.seek(301), Err(WireError::NoSuchTick { tick: 301, first: 0, last: 300 }));
    assert_eq!(replay.world().hash(), here);
    Ok(())
}

#[test]
fn a_tampered_recording_is_refused() -> Done {
    let (bytes, _) = record(1)?;
    let mut random = Random(3);
    for _ in 0..2000 {
        let mut bad = bytes.clone();
        let at = random.below(bad.len());
        bad[at] ^= 1 << random.below(8);
        assert!(Replay::open(&bad).is_err(), "byte {at}");
    }
    Ok(())
}

#[test]
fn a_recording_that_was_cut_off_replays_up_to_there() -> Done {
    let mut world = World::default();
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
    let mut recorder = Recorder::new(&world)?.keyframe_every(4);
    let mut parts = vec![recorder.take()];
    for _ in 0..10 {
        recorder.step(&mut world, &Input::none().force(ball, [0.0, 1.0, 0.0]))?;
        parts.push(recorder.take());
    }
    parts.push(recorder.finish());
    let (whole, start) = (parts.concat(), parts[0].len());
    for length in 0..whole.len() {
        let cut = &whole[..length];
        if length < start {
            assert!(matches!(replay(cut), Err(WireError::Truncated { .. })), "cut at {length}");
            continue;
        }
        let summary = replay(cut)?;
        assert!(!summary.complete);
        assert_eq!(summary.matched, summary.steps);
        // all steps whose record is complete, and those of which only the keyframe is incomplete
        let whole_parts = (1..parts.len()).filter(|&n| parts[..n].concat().len() <= length).count() as u64 - 1;
        assert!(summary.steps == whole_parts || summary.steps == whole_parts + 1, "cut at {length}");
    }
    assert_eq!(replay(&whole)?.steps, 10);
    Ok(())
}

/// Runs a ball with one force and writes down another in step `lie`.
fn liar(lie: u32, keyframes: u32) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut world = World::default();
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
    let mut recorder = Recorder::new(&world)?.keyframe_every(keyframes);
    let push = |force: Real| Input::none().force(ball, [force, 0.0, 0.0]);
    for i in 0..60 {
        world.step(&push(2.0));
        recorder.record(&push(if i == lie { 2.5 } else { 2.0 }), &world)?;
    }
    Ok(recorder.finish())
}

#[test]
fn changed_inputs_diverge_at_their_tick() -> Done {
    // step 36 goes from tick 36 to 37
    let summary = replay(&liar(36, 100)?)?;
    assert_eq!((summary.steps, summary.matched), (60, 36));
    let first = summary.first_divergence.expect("another force");
    assert_eq!((first.tick, first.column), (37, Some("x")));
    assert_ne!(first.recorded, first.replayed);
    assert!(first.columns.is_empty(), "no keyframe there");
    // with a keyframe at that tick the differing column is identified
    let first = replay(&liar(39, 20)?)?.first_divergence.expect("another force");
    assert_eq!((first.tick, first.column), (40, Some("x")));
    let names: Vec<_> = first.columns.iter().map(|d| (d.column, d.unit, d.differing, d.first)).collect();
    for moved in [("x", "m", 1, 0), ("v", "m/s", 1, 0)] {
        assert!(names.contains(&moved), "{names:?}");
    }
    assert!(names.iter().all(|d| !["tick", "q", "w", "contacts"].contains(&d.0)), "{names:?}");
    Ok(())
}

#[test]
fn a_refused_input_leaves_world_and_recording_alone() -> Done {
    let mut world = World::default();
    let mut recorder = Recorder::new(&world)?;
    recorder.step(&mut world, &Input::none())?;
    let deep = (0..40).fold(Sdf::sphere(Vec3::ZERO, 1.0), |inner, _| inner.complement());
    let body = RigidBody::fixed().shape(Shape::sdf(deep));
    let hash = world.hash();
    let refused = recorder.step(&mut world, &Input::none().with(Command::AddRigid(Box::new(body))));
    assert!(matches!(refused, Err(WireError::Unsupported { .. })));
    assert_eq!(world.hash(), hash);
    recorder.step(&mut world, &Input::none())?;
    assert_eq!(replay(&recorder.finish())?.matched, 2);
    Ok(())
}

#[test]
fn going_back_in_time_is_recorded_too() -> Done {
    let (mut world, ids) = scene(1)?;
    let mut recorder = Recorder::new(&world)?;
    for i in 0..20 {
        recorder.step(&mut world, &input(&ids, i))?;
    }
    let back = world.snapshot();
    for i in 20..30 {
        recorder.step(&mut world, &input(&ids, i))?;
    }
    world.restore(&back)?;
    for i in 100..110 {
        recorder.step(&mut world, &input(&ids, i))?;
    }
    let bytes = recorder.finish();
    let summary = replay(&bytes)?;
    assert_eq!((summary.steps, summary.matched), (40, 40));
    let mut replay = Replay::open(&bytes)?;
    replay.seek(25)?;
    assert_eq!(replay.next(), Some(Ok(Outcome::Matched { tick: 26 })));
    Ok(())
}

/// A gripper with anchors on a jelly, recorded, and saved in the middle of the grip.
#[test]
fn a_grip_is_recorded_and_saved_in_its_middle() -> Done {
    use sinew::tool::{Grasper, Hold, ToolSpec};
    let mut world = World::new(Settings { dt: 5e-3, gravity: Vec3::ZERO, ..Settings::default() })?;
    let block = TetMesh::block([3, 3, 3], Vec3::splat(0.04))?;
    let jelly = SoftBody::corotational(block, ElasticMaterial::new(1e4, 0.4, 1000.0));
    world.add_soft(jelly.pin_region([-1.0; 3], [1.0, -0.0199, 1.0]))?;
    let hold = Hold { half: Vec3::new(0.015, 8e-3, 0.015), engage: 5e-3, ..Hold::default() };
    let grasper = Grasper { hold: Some(hold), ..Grasper::new(None) };
    let shaft = RigidBody::dynamic().mass(0.02).inertia(Sym3::diagonal(Vec3::splat(2e-6))).at([0.0, 0.02, 0.0]);
    let ids = world.add_tool(ToolSpec::new(shaft).grasper(grasper))?;
    let hand = |k: u32| {
        let up = Vec3::Y * (0.02 + 5e-3 * (k as Real / 80.0).min(1.0));
        let turn = Quat::from_rotation_y(2e-3 * k as Real);
        Input::none().grasp(ids.tool, Pose::new(up, turn), if k < 120 { 0.0 } else { 0.02 })
    };
    let mut recorder = Recorder::new(&world)?;
    let mut twin = None;
    for k in 0..150 {
        if k == 100 {
            assert!(world.tool(ids.tool)?.anchors >= 3);
            twin = Some(sinew_wire::load(&sinew_wire::save(&world)?)?);
        }
        recorder.step(&mut world, &hand(k))?;
        if let Some(twin) = &mut twin {
            twin.step(&hand(k));
            assert_eq!(twin.hash(), world.hash(), "step {k}");
        }
    }
    assert_eq!(world.tool(ids.tool)?.anchors, 0);
    let summary = sinew_wire::replay(&recorder.finish())?;
    assert_eq!((summary.steps, summary.matched, summary.first_divergence), (150, 150, None));
    Ok(())
}
