//! `setup`: installs the parts of the toolchain that `check` needs and a minimal machine lacks.

use crate::browser;
use crate::job::{Job, Step, cargo_command};
use std::path::Path;
use std::process::{Command, Stdio};

/// The job.
pub const JOB: Job = Job { name: "setup", steps: &[Step::Call(setup), Step::Call(chromium)] };

fn setup(root: &Path) -> bool {
    if has("fmt", root) && has("clippy", root) {
        return true;
    }
    println!("   rustup component add rustfmt clippy");
    let added = Command::new("rustup").args(["component", "add", "rustfmt", "clippy"]).current_dir(root).status();
    let ok = added.is_ok_and(|status| status.success());
    if !ok {
        eprintln!(
            "rustup could not add rustfmt and clippy. Without rustup (https://rustup.rs), install the packages \
             `rustfmt` and `clippy` that belong to your Rust; without a network, use a toolchain that has them."
        );
    }
    ok
}

/// Installs Debian's Chromium, for the tests of the page, where permissions allow it; elsewhere they are skipped.
fn chromium(_: &Path) -> bool {
    if browser::chromium().is_none() && !install("chromium") {
        println!("   no chromium: the tests of the page will be skipped");
    }
    true
}

/// Installs a Debian package where that is possible without a prompt; true if it is installed now.
pub fn install(package: &str) -> bool {
    if !browser::answers("apt-get") || !is_root() {
        return false;
    }
    println!("   apt-get install {package}");
    let apt = |words: &[&str]| {
        let done = Command::new("apt-get").args(words).stdout(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    let done = apt(&["update"]) && apt(&["install", "-y", "--no-install-recommends", package]);
    if !done {
        eprintln!("apt-get could not install {package}");
    }
    done
}

/// Whether packages can be installed without a prompt.
fn is_root() -> bool {
    let asked = Command::new("id").arg("-u").output();
    asked.is_ok_and(|told| told.stdout.trim_ascii() == b"0")
}

fn has(subcommand: &str, root: &Path) -> bool {
    let mut command = cargo_command(root);
    command.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
