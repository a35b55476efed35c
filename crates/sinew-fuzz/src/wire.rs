//! Saves, snapshots and recordings. A fuzzer cannot guess checksums, so they are corrected before the bytes are read:
//! the code under test lies behind them.

use crate::{assert_finite, is_quick};
use sinew::{Input, RigidBody, Shape, Vec3, World};
use sinew_wire::{Replay, load, restore};

/// The seed of the first checksum (`docs/save-format.md`).
const SEED: u64 = 0x243f_6a88_85a3_08d3;
/// Maximum number of replayed steps of a recording.
const REPLAYED: usize = 20;

/// The same bytes with matching checksums. Lengths beyond the end of the data are left as they are.
pub fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mix = twox_hash::XxHash3_64::oneshot_with_seed;
    let header = 10 + usize::from(bytes.get(9).copied().unwrap_or(0));
    if bytes.len() < header + 8 {
        return bytes.to_vec();
    }
    let mut out = bytes[..header].to_vec();
    let mut chain = mix(SEED, &out);
    out.extend(chain.to_le_bytes());
    let mut rest = &bytes[header + 8..];
    while rest.len() >= 13 {
        let claimed = rest[1..9].iter().rev().fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
        let length = claimed.min(rest.len() as u64 - 13) as usize;
        let start = out.len();
        out.extend(&rest[..9]);
        let check = mix(chain, &out[start..]) as u32;
        out.extend(check.to_le_bytes());
        out.extend(&rest[13..13 + length]);
        chain = mix(chain, &out[start..]);
        out.extend(chain.to_le_bytes());
        rest = rest.get(13 + length + 8..).unwrap_or_default();
    }
    out
}

fn step(world: &mut World) {
    if is_quick(world.settings()) {
        for _ in 0..2 {
            world.step(&Input::none());
            assert_finite(world);
        }
    }
}

/// A save: refused, or a world that can be stepped and saved again.
pub fn save(bytes: &[u8]) {
    let Ok(mut world) = load(&sealed(bytes)) else { return };
    step(&mut world);
    let twin = load(&sinew_wire::save(&world).expect("what was loaded has no rows of its own")).expect("our own save");
    assert_eq!(twin.hash(), world.hash(), "the save of a loaded world differs from it");
}

/// The world into which snapshots are restored.
///
/// # Panics
/// Never: the scene is constant.
pub fn small_world() -> World {
    build_small().expect("a plain scene")
}

fn build_small() -> Result<World, sinew::Error> {
    let mut world = World::default();
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
    let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 0.1, 0.0]))?;
    world.add_joint(sinew::Joint::slider(None, Some(ball)))?;
    world.add_particles(sinew::Particles::new(vec![Vec3::Y]))?;
    for _ in 0..3 {
        world.step(&Input::none());
    }
    Ok(world)
}

/// A snapshot: refused without changes, or a state that can be stepped.
pub fn snapshot(bytes: &[u8]) {
    let mut world = small_world();
    let before = world.hash();
    match restore(&mut world, &sealed(bytes)) {
        Err(_) => assert_eq!(world.hash(), before, "a refused snapshot changed the world"),
        Ok(()) => step(&mut world),
    }
}

/// A recording: refused, or replayed as far as its hashes match.
pub fn recording(bytes: &[u8]) {
    let bytes = sealed(bytes);
    let Ok(mut replay) = Replay::open(&bytes) else { return };
    for _ in 0..REPLAYED {
        if !is_quick(replay.world().settings()) || !matches!(replay.next(), Some(Ok(_))) {
            break;
        }
        assert_finite(replay.world());
    }
    if is_quick(replay.world().settings()) && replay.step_count() <= REPLAYED {
        _ = replay.seek(1);
        assert_finite(replay.world());
    }
}
