//! `oracle`: checks frames of worlds under `Settings::intersection_free` for intersections with an oracle that is independent
//! of the engine (PyPI `ipctk`): a thousand generated worlds, and all scenes of the gallery. No frame may have an
//! intersection. Without Python the job prints this and is skipped.

use crate::job::{Job, Step, cargo_command};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The job.
pub const JOB: Job = Job { name: "crossings", steps: &[Step::Call(shots), Step::Call(gallery)] };

fn shots(root: &Path) -> bool {
    look(root, &["shots", "1000"])
}

fn gallery(root: &Path) -> bool {
    look(root, &["gallery", "240"])
}

/// Pipes the frames of the exporter into the oracle.
fn look(root: &Path, what: &[&str]) -> bool {
    let Some(python) = python(root) else {
        println!("   SKIPPED: no Python with ipctk; python3 -m venv and pip are needed");
        return true;
    };
    println!("   crossings {}", what.join(" "));
    let mut export = cargo_command(root);
    export.args(["run", "--release", "-p", "sinew-scene", "--example", "crossings", "--"]).args(what);
    let Ok(mut frames) = export.stdout(Stdio::piped()).spawn() else { return false };
    let Some(pipe) = frames.stdout.take() else { return false };
    let seen = Command::new(python).arg(root.join("benches/oracle/crossings.py")).stdin(pipe).status();
    let exported = frames.wait();
    exported.is_ok_and(|s| s.success()) && seen.is_ok_and(|s| s.success())
}

/// A Python environment with the oracle, created where that is possible.
fn python(root: &Path) -> Option<PathBuf> {
    let home = root.join("target/oracle");
    let python = home.join("bin/python");
    let works = |program: &Path| {
        let asked = Command::new(program).args(["-c", "import ipctk"]).stderr(Stdio::null()).status();
        asked.is_ok_and(|s| s.success())
    };
    if !works(&python) {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&home).status();
        made.ok().filter(|s| s.success())?;
        let filled = Command::new(&python).args(["-m", "pip", "install", "--quiet", "ipctk"]).status();
        filled.ok().filter(|s| s.success())?;
    }
    works(&python).then_some(python)
}
