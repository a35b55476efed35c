//! Runs the cases with known answers and prints a table.
//!
//! `cargo run --release -p sinew-scene --example validate [part of an id or group]...`

use sinew_scene::validate::{Case, Reading, cases};
use std::time::Instant;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let (mut passed, mut failed) = (0, 0);
    println!(
        "{:<5} {:<44} {:>13} {:>13} {:>10} {:>10}  pass",
        "id", "quantity", "measured", "expected", "error", "tol"
    );
    for case in cases().filter(|c| is_wanted(c, &wanted)) {
        let start = Instant::now();
        let result = (case.run)();
        let seconds = start.elapsed().as_secs_f64();
        println!("{:<5} {} [{}] {seconds:.2} s", case.id, case.title, case.model);
        match result {
            Ok(readings) => {
                for r in &readings {
                    print_reading(case, r);
                    passed += usize::from(r.pass == Some(true));
                    failed += usize::from(r.pass == Some(false));
                }
            }
            Err(error) => {
                println!("{:<5} could not run: {error}", case.id);
                failed += 1;
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}

fn is_wanted(case: &Case, wanted: &[String]) -> bool {
    wanted.is_empty() || wanted.iter().any(|w| case.id.contains(w.as_str()) || case.group == w)
}

fn print_reading(case: &Case, r: &Reading) {
    let verdict = match r.pass {
        Some(true) => "ok",
        Some(false) => "FAIL",
        None => "n/a",
    };
    println!(
        "{:<5} {:<44} {:>13} {:>13} {:>10.2e} {:>10.2e}  {verdict}",
        case.id,
        r.quantity,
        number(r.measured),
        number(r.expected),
        r.error,
        r.tolerance
    );
}

/// Six digits, with a power of ten only where the number needs one.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.4e}") }
}
