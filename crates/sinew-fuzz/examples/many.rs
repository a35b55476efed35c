//! Many scenes of the grammar, from seeded bytes, each run for one second: the target `scene_step` without a fuzzer, at
//! full speed.
//!
//! `cargo run --release -p sinew-fuzz --example many -- COUNT [SEED]`. Failing inputs are written to
//! `fuzz/artifacts/scene_step`; exit 1 when there was any.

use sinew_fuzz::scene;
use sinew_scene::Rng;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Bytes per scene: more than the longest scene consumes.
const LENGTH: usize = 600;

fn main() -> ExitCode {
    let words: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let (count, seed) = match words.as_deref() {
        Ok([]) => (1000, 1),
        Ok([count]) => (*count, 1),
        Ok([count, seed]) => (*count, *seed),
        _ => {
            eprintln!("usage: many [COUNT [SEED]], whole numbers");
            return ExitCode::from(2);
        }
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/artifacts/scene_step");
    let (mut broken, mut empty, mut large, mut short, mut slowest) = (0, 0, 0, 0, 0.0_f64);
    for i in 0..count {
        let bytes = bytes(seed.wrapping_mul(1_000_003).wrapping_add(i));
        let begin = Instant::now();
        match catch_unwind(|| scene::steps(&bytes)) {
            Ok(None) => empty += 1,
            Ok(Some(0)) => large += 1,
            Ok(Some(steps)) => short += u64::from(steps < scene::STEPS),
            Err(_) => {
                broken += 1;
                let written = std::fs::create_dir_all(&folder)
                    .and_then(|()| std::fs::write(folder.join(format!("{seed}-{i}")), &bytes));
                println!("scene {i} of seed {seed} broke: {written:?}");
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        if seconds > slowest {
            slowest = seconds;
            println!("scene {i} of seed {seed}: {seconds:.2} s, the slowest so far");
        }
    }
    println!(
        "{count} scenes, {broken} broke; nothing was left of {empty}, {large} were built and too large to run, {short} ended before \
         {} steps for their work; the slowest took {slowest:.1} s",
        scene::STEPS
    );
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Pseudo-random bytes from a seed.
fn bytes(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    (0..LENGTH / 8).flat_map(|_| rng.bits().to_le_bytes()).collect()
}
