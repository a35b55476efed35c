//! Reliability gates, each printed with its measurements: `cargo run --release -p sinew-fuzz --example gates --
//! [GATE..] [--quick]`; exit 1 when one is not met. `--quick` does a twentieth of the work.
//!
//! ```text
//!   d1  12 scenes, threads 1 to 4, 600 steps, three times: hash of state, layout and events at every 100th step
//!   d2  100 pairs of a scene and a step: saved, loaded with other threads, 60 steps: the same hash after each
//!   d5  200 times the same 60 steps with two threads
//!   e1  1,000 random scenes of mixed bodies: a hundredth of the exchanged energy unexplained at most; only when it is named
//!   l2  36,000 steps of a scene at rest: resident memory at the end and after a tenth of them
//!   n1  bad numbers in commands and states of 12 scenes: refused, or found within a step, and no other body frozen
//!   n2  4,000 worlds that diverge: found within two steps, reset, nothing that is not finite, bystanders unaffected
//!   n3  the adversarial scenes of `crates/sinew-scene/tests/adversarial.rs` (by cargo)
//!   p3  Debian's test models through the mesh readers (by cargo xtask)
//!   p4  files of megabytes: time and memory by their size; small files with large claims: refused in 10 ms
//!   w5  100 viewers that read slowly or never, connections and commands by the hundred: the world's step and memory
//!   w5-long  the same for ten minutes, a quarter of an hour in all; only when it is named
//! ```

mod energy;
mod explode;
mod faults;
mod large;
mod limits;
mod same;
mod small;
mod viewers;

use sinew_tally::Tally;
use std::process::ExitCode;
use std::time::Instant;

/// The memory counter of `p4` and `w5`.
#[global_allocator]
static TALLY: Tally = Tally::new();

/// Does one n-th of the work; returns the measurements, or why the gate is not met.
type Gate = fn(u32) -> Result<String, String>;

/// The gates that run only when they are named: one takes a quarter of an hour, one is not met yet (`docs/reliability.md`).
const LONG: &str = "w5-long";
const ENERGY: &str = "e1";

const GATES: [(&str, Gate); 12] = [
    ("d1", same::d1),
    ("d2", same::d2),
    ("d5", same::d5),
    (ENERGY, energy::e1),
    ("l2", same::l2),
    ("n1", faults::n1),
    ("n2", explode::n2),
    ("n3", faults::n3),
    ("p3", faults::p3),
    ("p4", limits::p4),
    ("w5", viewers::w5),
    (LONG, viewers::w5_long),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "--quick");
    let named: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "--quick").collect();
    if let Some(word) = named.iter().find(|word| GATES.iter().all(|(name, _)| name != *word)) {
        let known = GATES.map(|(name, _)| name).join(", ");
        eprintln!("gates: no gate '{word}'; there are {known}, and --quick for a twentieth of the work");
        return ExitCode::from(2);
    }
    let mut table = Vec::new();
    let wanted = |name: &str| if named.is_empty() { ![LONG, ENERGY].contains(&name) } else { named.contains(&name) };
    for (name, gate) in GATES.iter().filter(|(name, _)| wanted(name)) {
        let clock = Instant::now();
        let message = gate(if quick { 20 } else { 1 });
        table.push((name, clock.elapsed().as_secs_f64(), message));
    }
    println!("gate  seconds  result");
    for (name, seconds, message) in &table {
        let message = message.as_ref().map_or_else(|why| format!("NOT MET: {why}"), |what| format!("met: {what}"));
        println!("{name:<4}  {seconds:>7.1}  {message}");
    }
    if table.iter().all(|(_, _, message)| message.is_ok()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
