//! Bitwise identical results for any number of threads, in lanes or one by one, and after any restore.

mod common;
use common::{script, zoo};
use sinew::*;

fn hashes(threads: u32, lanes: bool, steps: u64) -> Result<Vec<u64>, Error> {
    let mut zoo = zoo(threads)?;
    let settings = Settings { lanes, ..zoo.world.settings().clone() };
    zoo.world.set_settings(settings)?;
    let mut out = Vec::new();
    for tick in 0..steps {
        let input = script(&zoo, tick);
        zoo.world.step(&input);
        out.push(zoo.world.hash());
    }
    assert!(zoo.world.report().faults.is_empty());
    Ok(out)
}

#[test]
fn results_are_bitwise_independent_of_the_number_of_threads() -> Result<(), Error> {
    let one = hashes(1, true, 240)?;
    for threads in [1, 2, 3, 4, 8] {
        for _repeat in 0..3 {
            assert_eq!(hashes(threads, true, 240)?, one, "{threads} threads");
        }
    }
    Ok(())
}

/// Bitwise identical with and without optimisation: `cargo test` and `cargo test --release` compare with one golden
/// hash. It changes whenever the physics does; then print the new one, and give the reason in the commit.
#[test]
#[cfg(not(feature = "f64"))]
fn debug_and_release_give_the_golden_hash() -> Result<(), Error> {
    let last = hashes(1, true, 240)?[239];
    assert_eq!(format!("{last:016x}"), GOLDEN);
    Ok(())
}
#[cfg(not(feature = "f64"))]
const GOLDEN: &str = "f01b9c255e7f14fb";

#[test]
fn eight_lanes_and_one_are_bitwise_identical() -> Result<(), Error> {
    assert_eq!(hashes(1, true, 300)?, hashes(1, false, 300)?);
    Ok(())
}

#[test]
fn a_restored_world_continues_bitwise_identically() -> Result<(), Error> {
    let steps = 200;
    let mut first = zoo(1)?;
    let mut snapshots = Vec::new();
    let mut want = Vec::new();
    for tick in 0..steps {
        snapshots.push(first.world.snapshot());
        let input = script(&first, tick);
        first.world.step(&input);
        want.push(first.world.hash());
    }
    // into a new world with another number of threads, at random steps
    let mut other = zoo(2)?;
    let mut seed = 7u64;
    for _ in 0..100 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let start = (seed >> 33) % (steps - 8);
        other.world.restore(&snapshots[start as usize])?;
        for tick in start..start + 8 {
            let input = script(&other, tick);
            other.world.step(&input);
            assert_eq!(other.world.hash(), want[tick as usize], "restored at {start}, step {tick}");
        }
    }
    Ok(())
}

#[test]
fn a_snapshot_of_another_world_is_rejected_and_changes_nothing() -> Result<(), Error> {
    let zoo = zoo(1)?;
    let mut other = World::new(Settings::default())?;
    other.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
    let before = other.hash();
    assert!(matches!(other.restore(zoo.world.state()), Err(Error::BadSnapshot(_))));
    let mut nan = other.snapshot();
    nan.v[0].x = Real::NAN;
    assert!(matches!(other.restore(&nan), Err(Error::BadSnapshot(_))));
    assert_eq!(other.hash(), before);
    Ok(())
}
