//! `browser`: tests of the viewer's page in a real browser, driven by the Playwright library on the system's Chromium.
//! No browser is downloaded: `setup` installs the one of Debian. Without npm or Chromium the job prints this and is
//! skipped.

use crate::job::{Job, Step, cargo_command};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The job.
pub const JOB: Job = Job { name: "browser", steps: &[Step::Call(browser)] };

/// Usual paths of Chromium; `CHROMIUM` sets another.
const PLACES: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// Time limit of all tests [ms].
const LIMIT: &str = "--test-timeout=240000";

fn browser(root: &Path) -> bool {
    if let Some(missing) = missing() {
        println!("   SKIPPED: {missing}");
        return true;
    }
    let tests = root.join("web/tests");
    let built = run(cargo_command(root).args(["build", "-p", "sinew-cli"]));
    // the locked versions, and no install scripts of packages
    let there = |module: &str| tests.join("node_modules").join(module).is_dir();
    let fetched = (there("playwright-core") && there("gltf-validator"))
        || run(npm().args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&tests));
    built
        && fetched
        && run(Command::new("node")
            .args(["--test", LIMIT, "viewer.test.mjs", "gltf.test.mjs"])
            .env("SINEW_BIN", binary(root))
            .current_dir(&tests))
}

/// The missing requirement of the job, or `None`.
fn missing() -> Option<&'static str> {
    if !answers("node") || !answers(npm().get_program().to_str().unwrap_or("npm")) {
        Some("Node.js with npm is missing; install Node.js 20 to test the viewer's page")
    } else if chromium().is_none() {
        Some("Chromium is missing; install it (Debian: apt-get install chromium) or name it in CHROMIUM")
    } else {
        None
    }
}

/// The browser to use.
pub fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    named.into_iter().chain(PLACES.map(PathBuf::from)).find(|path| path.is_file())
}

/// The binary built by `cargo build`.
fn binary(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    root.join(target).join("debug").join(format!("sinew{}", std::env::consts::EXE_SUFFIX))
}

fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// True when a program can be started.
pub fn answers(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot start {}: {error}", command.get_program().to_string_lossy());
            false
        }
    }
}
