//! The fuzz targets without a fuzzer: seeded mutations of the corpus, at the speed of a release build.
//!
//! `cargo run --release -p sinew-fuzz --example mutate -- [TARGET|all [RUNS [SEED]]]`; by default a million runs of
//! each target except `scene_step`. Inputs that panic, or take more than two seconds, are written to
//! `fuzz/artifacts/TARGET`; exit 1 when there was any. The same seed gives the same inputs. `mutate TARGET FILE` runs
//! one file and shows its panic message.

use sinew_fuzz::mutate::mutated;
use sinew_fuzz::{TARGETS, Target};
use sinew_scene::Rng;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// A run that takes longer counts as a hang [s].
const PATIENCE: f64 = 2.0;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, usual: u64| words.get(k).map_or(Ok(usual), |word| word.parse());
    let name = words.first().map_or("all", String::as_str);
    let chosen: Vec<_> =
        TARGETS.iter().filter(|(target, _)| *target == name || name == "all" && *target != "scene_step").collect();
    if let ([(_, target)], Some(bytes)) = (&chosen[..], words.get(1).and_then(|file| std::fs::read(file).ok())) {
        let clock = Instant::now();
        target(&bytes);
        println!("{name}: {:.3} s", clock.elapsed().as_secs_f64());
        return ExitCode::SUCCESS;
    }
    let (Ok(runs), Ok(seed), false) = (number(1, 1_000_000), number(2, 1), chosen.is_empty()) else {
        let known: Vec<&str> = TARGETS.iter().map(|(target, _)| *target).collect();
        eprintln!("usage: mutate [TARGET|all [RUNS [SEED]]]; targets: {}", known.join(", "));
        return ExitCode::from(2);
    };
    // caught panics are reported below, once
    std::panic::set_hook(Box::new(|_| {}));
    let broken: u64 = chosen.iter().map(|(name, target)| run(name, *target, runs, seed)).sum();
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether a target returned without a panic, and its run time [s].
fn timed(target: Target, bytes: &[u8]) -> (bool, f64) {
    let clock = Instant::now();
    let fine = catch_unwind(|| target(bytes)).is_ok();
    (fine, clock.elapsed().as_secs_f64())
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// All runs of one target; returns the number of failures.
fn run(name: &str, target: Target, runs: u64, seed: u64) -> u64 {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(fuzz().join("corpus").join(name)).into_iter().flatten().flatten().map(|e| e.path()).collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().filter_map(|path| std::fs::read(path).ok()).collect();
    let mut rng = Rng::new(seed);
    let (mut broken, mut slowest, begin) = (0, 0.0_f64, Instant::now());
    for i in 0..runs {
        let bytes = mutated(&seeds, &mut rng);
        let (fine, mut seconds) = timed(target, &bytes);
        if seconds > PATIENCE {
            // other load on the machine makes a run longer, never shorter
            seconds = timed(target, &bytes).1.min(timed(target, &bytes).1);
        }
        slowest = slowest.max(seconds);
        if !fine || seconds > PATIENCE {
            broken += 1;
            let folder = fuzz().join("artifacts").join(name);
            let file = folder.join(format!("{seed}-{i}"));
            let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, &bytes));
            println!("{name}: run {i} {}, {seconds:.2} s, {written:?}", if fine { "hung" } else { "panicked" });
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let pace = runs as f64 / seconds;
    println!(
        "{name}: {runs} runs of seed {seed} in {seconds:.0} s ({pace:.0}/s), {broken} broke, slowest {slowest:.3} s"
    );
    broken
}
