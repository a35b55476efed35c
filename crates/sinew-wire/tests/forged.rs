//! Forged files: the checksums fit, the content is not ours. No panic, and a world that was built can be stepped.

mod common;

use common::{Random, forge, input, open, scene, seal};
use sinew::Input;
use sinew_wire::{Recorder, Replay, load, restore, save, snapshot};

#[test]
fn the_container_is_as_documented() {
    let (world, _) = scene(1).unwrap();
    let bytes = save(&world).unwrap();
    let (header, sections) = open(&bytes);
    assert_eq!(sections.iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 4, 7]);
    assert_eq!(seal(&header, &sections), bytes);
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
    for n in 0..3000 {
        let forged = forge(&bytes, &mut random);
        let outcome = std::panic::catch_unwind(|| match load(&forged) {
            Err(_) => false,
            Ok(mut world) => {
                if world.settings().substeps > 20 || world.settings().sweeps > 20 || world.settings().relax_sweeps > 20
                {
                    return false;
                }
                world.step(&Input::none());
                world.step(&Input::none());
                true
            }
        });
        match outcome {
            Ok(true) => ran += 1,
            Ok(false) => refused += 1,
            Err(_) => eprintln!("PANIC {n}"),
        }
    }
    eprintln!("{refused} {ran}");
    assert!(refused > 300 && ran > 300, "{refused} refused, {ran} ran: the test tests little");
}
