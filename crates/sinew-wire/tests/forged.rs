//! Forged files: the checksums fit, the content is not ours. No panic, and a world that was built can be stepped.

mod common;

use common::{Random, forge, input, open, scene, seal};
use sinew::{Input, Settings};
use sinew_wire::{Recorder, Replay, load, restore, save, snapshot};

#[test]
fn the_container_is_as_documented() {
    let (world, _) = scene(1).unwrap();
    let bytes = save(&world).unwrap();
    let (header, sections) = open(&bytes);
    assert_eq!(sections.iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 4, 7]);
    assert_eq!(seal(&header, &sections), bytes);
}

/// A forged file may contain 1000 substeps of 10,000 sweeps, which is valid but too slow for a test.
fn is_quick(s: &Settings) -> bool {
    s.substeps * (s.sweeps + s.relax_sweeps) < 200 && s.threads < 10
}

#[test]
fn forged_saves_are_refused_or_run() {
    let (mut world, ids) = scene(1).unwrap();
    for i in 0..60 {
        world.step(&input(&ids, i));
    }
    let bytes = save(&world).unwrap();
    let mut random = Random(11);
    let (mut refused, mut ran) = (0, 0);
    for _ in 0..2000 {
        match load(&forge(&bytes, &mut random)) {
            Err(_) => refused += 1,
            Ok(mut world) => {
                for _ in 0..if is_quick(world.settings()) { 2 } else { 0 } {
                    world.step(&Input::none());
                }
                ran += 1;
            }
        }
    }
    assert!(refused > 300 && ran > 300, "{refused} refused, {ran} ran: the test tests little");
}

#[test]
fn forged_snapshots_are_refused_or_run() {
    let (mut world, ids) = scene(1).unwrap();
    for i in 0..60 {
        world.step(&input(&ids, i));
    }
    let bytes = snapshot(&world);
    let mut random = Random(12);
    for _ in 0..1000 {
        let hash = world.hash();
        match restore(&mut world, &forge(&bytes, &mut random)) {
            Err(_) => assert_eq!(world.hash(), hash),
            Ok(()) => _ = world.step(&Input::none()),
        }
    }
}

#[test]
fn forged_recordings_are_refused_or_run() {
    let (mut world, ids) = scene(1).unwrap();
    let mut recorder = Recorder::new(&world).unwrap().keyframe_every(5);
    for i in 38..50 {
        recorder.step(&mut world, &input(&ids, i)).unwrap();
    }
    let bytes = recorder.finish();
    let mut random = Random(13);
    let (mut refused, mut ran) = (0, 0);
    for _ in 0..1000 {
        let forged = forge(&bytes, &mut random);
        let Ok(mut replay) = Replay::open(&forged) else {
            refused += 1;
            continue;
        };
        if is_quick(replay.world().settings()) {
            ran += usize::from(replay.all(|outcome| outcome.is_ok()));
            _ = replay.seek(11);
        }
    }
    assert!(refused > 100 && ran > 100, "{refused} refused, {ran} ran: the test tests little");
}
