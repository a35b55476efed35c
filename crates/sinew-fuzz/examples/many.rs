//! Many scenes of the grammar, from seeded bytes, each run for a second: the target `scene_step` without a fuzzer, at full speed.
//!
//! `cargo run --release -p sinew-fuzz --example many -- COUNT [SEED]`. What breaks is written to `fuzz/artifacts/scene_step`;
//! exit 1 when there was any.

use sinew_fuzz::scene;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Bytes of a scene: more than the longest one takes.
const LENGTH: usize = 600;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>().unwrap_or(1));
    let (count, seed) = (words.next().unwrap_or(1000), words.next().unwrap_or(1));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/artifacts/scene_step");
    let (mut broken, mut built, mut slowest) = (0, 0, 0.0_f64);
    for i in 0..count {
        let bytes = bytes(seed.wrapping_mul(1_000_003).wrapping_add(i));
        built += u64::from(scene::generated(&bytes).is_some());
        let begin = Instant::now();
        if catch_unwind(|| scene::step(&bytes)).is_err() {
            broken += 1;
            let written = std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::write(folder.join(format!("{seed}-{i}")), &bytes));
            println!("scene {i} of seed {seed} broke: {written:?}");
        }
        let seconds = begin.elapsed().as_secs_f64();
        if seconds > slowest {
            slowest = seconds;
            println!("scene {i} of seed {seed}: {seconds:.2} s, the slowest so far");
        }
    }
    println!("{count} scenes, {built} with something in them, {broken} broke, the slowest took {slowest:.1} s");
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Bytes from a seed (splitmix64).
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..LENGTH / 8).flat_map(|_| word().to_le_bytes()).collect()
}
