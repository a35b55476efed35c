//! `setup`: installs the parts of the toolchain that `check` needs and a minimal machine lacks.

use crate::job::{Job, Step, cargo_command};
use std::path::Path;
use std::process::{Command, Stdio};

/// The job.
pub const JOB: Job = Job { name: "setup", steps: &[Step::Call(setup)] };

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

fn has(subcommand: &str, root: &Path) -> bool {
    let mut command = cargo_command(root);
    command.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
