//! Bytes that were cut, flipped or made by others: refused with a reason, never a panic, never a world.

mod common;

use common::{Random, scene};
use sinew::*;
use sinew_wire::{Kind, Section, WireError, load, restore, save, snapshot};

/// A small save with something in every section.
fn small() -> Vec<u8> {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y))).unwrap();
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 0.1, 0.0])).unwrap();
    world.add_joint(Joint::slider(None, Some(ball))).unwrap();
    world.add_particles(Particles::new(vec![Vec3::Y])).unwrap();
    for _ in 0..3 {
        world.step(&Input::none());
    }
    save(&world).unwrap()
}

#[test]
fn a_save_cut_anywhere_is_refused() {
    let bytes = small();
    assert!(load(&bytes).is_ok());
    for length in 0..bytes.len() {
        match load(&bytes[..length]) {
            Err(WireError::Truncated { .. }) => {}
            other => panic!("cut at {length} of {}: {other:?}", bytes.len()),
        }
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(load(&longer).is_err());
}

#[test]
fn every_flipped_byte_is_found() {
    let (world, _) = scene(1).unwrap();
    let mut random = Random(7);
    for bytes in [small(), save(&world).unwrap()] {
        assert!(load(&bytes).is_ok());
        for _ in 0..2000 {
            let mut bad = bytes.clone();
            let at = random.below(bad.len());
            bad[at] ^= 1 + random.below(255) as u8;
            assert!(load(&bad).is_err(), "byte {at} became {}", bad[at]);
        }
    }
}

#[test]
fn the_header_says_what_is_wrong() {
    let bytes = small();
    let with = |at: usize, value: u8| {
        let mut bad = bytes.clone();
        bad[at] = value;
        load(&bad).unwrap_err()
    };
    assert_eq!(with(0, b's'), WireError::Foreign);
    assert_eq!(load(b"GIF89a").unwrap_err(), WireError::Foreign);
    assert_eq!(load(b"").unwrap_err(), WireError::Truncated { section: Section::Header });
    assert_eq!(with(6, 10), WireError::Version { found: 10, known: 9 });
    assert_eq!(with(5, 3), WireError::WrongKind { found: Kind::Recording, wanted: Kind::Save });
    let real = size_of::<Real>() as u8;
    let error = with(8, 12 - real);
    assert_eq!(error, WireError::Precision { found: 12 - real, known: real });
    let message = error.to_string();
    let other = if real == 4 { "f64" } else { "f32" };
    assert!(message.contains(other) && message.contains("bytes"), "{message}");
    let mut world = World::default();
    let snapshot = snapshot(&world);
    assert_eq!(load(&snapshot).unwrap_err(), WireError::WrongKind { found: Kind::Snapshot, wanted: Kind::Save });
    assert!(restore(&mut world, &bytes).is_err());
}
