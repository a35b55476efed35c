//! The whole stability grid as Markdown tables, the source of `docs/stability.md`. Fails when a model does.
//!
//! `cargo run --release -p sinew --example stability [EVERY [NAME]]`: every EVERYth point (1: all), models with NAME in
//! their name.

#[path = "../tests/common/grid.rs"]
mod grid;
use grid::{Fate, Kind, Point, STEPS, kinds, points, run};
use std::process::ExitCode;

/// Counts of a model over the grid.
#[derive(Default)]
struct Tally {
    held: u32,
    grown: u32,
    softened: u32,
    switched: u32,
    crushed: u32,
    overlapped: u32,
    refused: u32,
    failed: u32,
    most_substeps: u32,
    failures: Vec<String>,
    notes: Vec<String>,
}

impl Tally {
    fn add(&mut self, at: Point, fate: Fate) {
        match fate {
            Fate::Refused(_) => self.refused += 1,
            Fate::Failed(what) => {
                self.failed += 1;
                self.failures.push(format!("{at:?}: {what}"));
            }
            Fate::Held { growth, softened, switched, substeps, sinking, overlap } => {
                self.held += 1;
                self.softened += u32::from(softened < 1.0);
                if growth > 1.0 {
                    self.grown += 1;
                    self.notes.push(format!("{at:?}: {growth:.2} times the energy allowed"));
                }
                self.switched += u32::from(switched);
                self.crushed += u32::from(sinking > 0.5);
                self.overlapped += u32::from(overlap > 0.005);
                self.most_substeps = self.most_substeps.max(substeps);
            }
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let every = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(1);
    let name = arguments.get(1).cloned().unwrap_or_default();
    let mut failures = Vec::new();
    println!(
        "| model | runs | held | softened | went implicit | most substeps | crushed | overlap > 5 mm | energy grew | refused | failed |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    for kind in kinds().iter().filter(|k| k.name.contains(&name)) {
        let t = tally(kind, every);
        let runs = t.held + t.refused + t.failed;
        println!(
            "| {} | {runs} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            kind.name,
            t.held,
            t.softened,
            t.switched,
            t.most_substeps,
            t.crushed,
            t.overlapped,
            t.grown,
            t.refused,
            t.failed
        );
        for note in t.notes {
            eprintln!("{}: {note}", kind.name);
        }
        failures.extend(t.failures.into_iter().map(|f| format!("{}: {f}", kind.name)));
    }
    for failure in &failures {
        eprintln!("{failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tally(kind: &Kind, every: usize) -> Tally {
    let mut tally = Tally::default();
    for at in points().into_iter().step_by(every) {
        tally.add(at, run(kind, at, STEPS));
    }
    tally
}
