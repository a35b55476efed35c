//! `docs`: rustdoc without warnings, except those about units in brackets.
//!
//! Units are written in brackets, and rustdoc interprets a bare `[m]` as a link to an item `m`. Plain `-D warnings`
//! would require escaping every unit; disabling the lint would let broken links pass. So the warnings are filtered
//! here.

use crate::job::{Job, Step, cargo_command};
use std::path::Path;

/// The job.
pub const JOB: Job = Job { name: "docs", steps: &[Step::Call(docs)] };

/// Units that rustdoc interprets as names. Others (`m/s`, `m³`, `1`) are not paths and cause no warning.
const UNITS: [&str; 20] = [
    "m", "m²", "m³", "mm", "s", "ms", "us", "µs", "kg", "g", "N", "J", "W", "Pa", "Hz", "rad", "deg", "K", "byte",
    "bytes",
];

fn docs(root: &Path) -> bool {
    // one line per warning; cargo repeats the warnings of cached crates
    let args = ["doc", "--no-deps", "--message-format", "short"];
    println!("   cargo {}", args.join(" "));
    let output = match cargo_command(root).args(args).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("cannot start cargo: {error}");
            return false;
        }
    };
    let text = String::from_utf8_lossy(&output.stderr);
    let bad: Vec<&str> = text.lines().filter(|line| is_bad(line)).collect();
    for line in &bad {
        eprintln!("   {line}");
    }
    // a failure without a recognized line is printed completely
    if !output.status.success() && bad.is_empty() {
        eprintln!("{text}");
    }
    output.status.success() && bad.is_empty()
}

/// Errors, and warnings that are not about a unit. Cargo's own last line only contains the count of the others.
fn is_bad(line: &str) -> bool {
    let is_count = line.starts_with("warning: ") && line.contains(" generated ");
    let is_message = ["warning: ", "error: ", "error["].iter().any(|kind| line.contains(kind));
    is_message && !is_count && !is_unit(line)
}

fn is_unit(line: &str) -> bool {
    let rest = line.split_once("warning: unresolved link to `").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split('`').next()).is_some_and(|target| UNITS.contains(&target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_no_broken_link() {
        assert!(!is_bad(
            "crates/sinew/src/math/tensor.rs:8:22: warning: unresolved link to `m`: no item named `m` in scope"
        ));
        assert!(!is_bad("warning: `sinew` (lib doc) generated 6 warnings"));
        assert!(!is_bad(" Documenting sinew v0.1.0"));
    }

    #[test]
    fn every_other_warning_counts() {
        assert!(is_bad(
            "crates/sinew/src/world.rs:8:22: warning: unresolved link to `Wrold`: no item named `Wrold` in scope"
        ));
        assert!(is_bad("crates/sinew/src/world.rs:8:22: warning: unclosed HTML tag `b`"));
        assert!(is_bad("crates/sinew/src/world.rs:8:22: error[E0432]: unresolved import `x`"));
        assert!(is_bad("warning: output filename collision."));
    }
}
