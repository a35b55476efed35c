//! `python`: the package `sinew-physics`, built into an environment of its own and tested there. Skipped only where Python
//! or pip is missing.

use crate::job::{Job, Step};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The job.
pub const JOB: Job = Job { name: "python", steps: &[Step::Call(python)] };

/// What the build and the tests need.
const NEEDED: [&str; 5] = ["maturin>=1.9,<2", "numpy", "pytest", "gymnasium>=1.0", "scipy"];

/// Modules that show whether they are there.
const MODULES: &str = "import maturin, numpy, pytest, gymnasium, scipy";

fn python(root: &Path) -> bool {
    let home = root.join("target/python");
    if !quiet("python3", &["-c", "import ensurepip, venv"]) {
        println!("   SKIPPED: python3 with venv and pip is missing; install it (Debian: apt-get install python3-venv)");
        return true;
    }
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let made = python.is_file() || run(Command::new("python3").args(["-m", "venv"]).arg(&home));
    let filled = || {
        quiet(&python, &["-c", MODULES])
            || run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(NEEDED))
    };
    made && filled() && build(root, &home, &python) && test(root, &python)
}

/// The module in the development profile with the optimisation of tests: the crates that tests have built serve it too.
/// The profile of tests itself would make a test program of it.
fn build(root: &Path, home: &Path, python: &Path) -> bool {
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "develop", "--quiet"]);
    run(maturin.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2").env("VIRTUAL_ENV", home).current_dir(root.join("python")))
}

fn test(root: &Path, python: &Path) -> bool {
    run(Command::new(python).args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).current_dir(root.join("python")))
}

fn quiet(program: impl AsRef<std::ffi::OsStr>, words: &[&str]) -> bool {
    let asked = Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> bool {
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    println!("   {} {}", PathBuf::from(command.get_program()).display(), words.join(" "));
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot start {}: {error}", command.get_program().to_string_lossy());
            false
        }
    }
}
