//! Random strokes through random bodies, with all invariants checked after every tick.
//!
//! `cargo run --profile test -p sinew-cut --example strokes -- --count 10000 --seed 1`
//!
//! A stroke is carried out if what it was to separate is separated: for each full cut so far, no piece has matter well
//! on both sides of it. It fails if an invariant is broken, or if it is not carried out and nothing was reported.

#[path = "support/strokes.rs"]
mod strokes;

fn main() {
    let mut count = 1000;
    let mut seed = 1;
    let mut loud = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse::<u64>().ok()).expect("--count N, --seed N need a number");
        match arg.as_str() {
            "--count" => count = number() as usize,
            "--seed" => seed = number(),
            "--loud" => loud = true,
            other => panic!("unknown option {other}: there are --count N, --seed N and --loud"),
        }
    }
    let start = std::time::Instant::now();
    let tally = strokes::run(count, seed, loud);
    println!("{tally:#?}");
    println!("{:.1} s", start.elapsed().as_secs_f64());
    if tally.failures > 0 {
        std::process::exit(1);
    }
}
