//! `counts`: instructions of warm steps of the reference scenes, counted by callgrind, compared with the record in
//! `docs/instructions.json`. A count is reproducible where a time is not; `--write` replaces the record.

use crate::job::cargo_command;
use std::path::Path;
use std::process::{Command, Stdio};

const RECORD: &str = "docs/instructions.json";
const PROGRAM: &str = "target/release/examples/warm_steps";

/// Counts all scenes and prints them beside the record; replaces the record when `write` is set. False when something
/// could not be run. A ratio above 1.02 is printed, not failed: a feature may justify it, which its commit message
/// states.
pub fn run(write: bool, root: &Path) -> bool {
    let mut build = cargo_command(root);
    build.args(["build", "--release", "-p", "sinew-cli", "--example", "warm_steps"]);
    if !build.status().is_ok_and(|status| status.success()) {
        return false;
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(std::path::PathBuf::from);
    let program = target.map_or_else(|| root.join(PROGRAM), |t| t.join("release/examples/warm_steps"));
    let Ok(list) = Command::new(&program).output() else { return false };
    let record = std::fs::read_to_string(root.join(RECORD)).unwrap_or_default();
    let mut counts = Vec::new();
    println!("{:<20} {:>14} {:>14} {:>7}", "scene", "instructions", "record", "ratio");
    for scene in String::from_utf8_lossy(&list.stdout).lines() {
        let Some(count) = count(&program, scene) else {
            eprintln!("callgrind did not count {scene}: is valgrind installed (`apt-get install valgrind`)?");
            return false;
        };
        let before = recorded(&record, scene);
        let ratio = before.map_or(String::from("-"), |b| format!("{:.4}", count as f64 / b as f64));
        println!("{scene:<20} {count:>14} {:>14} {ratio:>7}", before.map_or(String::from("-"), |b| b.to_string()));
        counts.push((scene.to_owned(), count));
    }
    !write || std::fs::write(root.join(RECORD), written(&counts)).is_ok()
}

/// Instructions of the counted steps of a scene. None when valgrind cannot be run.
fn count(program: &Path, scene: &str) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*warm_steps*counted*"]);
    let out = valgrind.arg(program).arg(scene).stdout(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&out.stderr);
    // "==123== Collected : 4711"
    text.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok()).filter(|&n| n > 0)
}

/// The recorded count of a scene.
fn recorded(record: &str, scene: &str) -> Option<u64> {
    let rest = record.split(&format!("\"{scene}\":")).nth(1)?;
    rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The record: one line per scene.
fn written(counts: &[(String, u64)]) -> String {
    let lines: Vec<String> = counts.iter().map(|(scene, count)| format!("  \"{scene}\": {count}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let text = written(&[("S1".to_owned(), 12), ("S5-pile".to_owned(), 3_400_000_000)]);
        assert_eq!(recorded(&text, "S1"), Some(12));
        assert_eq!(recorded(&text, "S5-pile"), Some(3_400_000_000));
        assert_eq!(recorded(&text, "S2"), None);
    }
}
