//! `fuzz`: runs the libFuzzer programs of `fuzz/`, with the address sanitizer, on a nightly toolchain. cargo-fuzz is
//! installed when it is missing.
//!
//! New inputs of a fuzzer go to `fuzz/found` (not kept), failing inputs to `fuzz/artifacts`: fix the cause, copy the
//! input to `fuzz/corpus/TARGET` under a descriptive name, and describe the cause in
//! `crates/sinew-fuzz/tests/found.rs`.

use crate::job::{Job, Step, cargo_command};
use std::path::Path;
use std::process::{Command, Stdio};

/// Every target, with the number of runs of `full`, which fits into one night.
pub const JOB: Job = Job { name: "fuzz", steps: &[Step::Call(short)] };

/// Runs in `full`: of a reader, and of a stepped scene.
const SHORT: [u64; 2] = [100_000, 1_000];
/// Default number of runs: those before a release.
const LONG: [u64; 2] = [1_000_000, 10_000];

/// Parsed arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// One target, or all.
    pub target: Option<String>,
    /// Number of runs.
    pub runs: Option<u64>,
}

impl Wish {
    /// Parses the arguments after `fuzz`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(words: &[&str]) -> Result<Self, String> {
        let number = |word: &str| word.parse::<u64>().map_err(|_| format!("runs: `{word}`, a whole number is allowed"));
        match *words {
            [] => Ok(Self::default()),
            ["all"] => Ok(Self::default()),
            ["all", runs] => Ok(Self { target: None, runs: Some(number(runs)?) }),
            [target] => Ok(Self { target: Some(target.to_owned()), runs: None }),
            [target, runs] => Ok(Self { target: Some(target.to_owned()), runs: Some(number(runs)?) }),
            [_, _, extra, ..] => Err(format!("unknown option `{extra}`")),
        }
    }
}

fn short(root: &Path) -> bool {
    install(root) && each(root, &targets(root), |target| SHORT[usize::from(is_slow(target))])
}

/// Runs all of these targets, also after a failure.
fn each(root: &Path, targets: &[String], runs: impl Fn(&str) -> u64) -> bool {
    let fine: Vec<bool> = targets.iter().map(|target| one(root, target, runs(target))).collect();
    !fine.contains(&false)
}

/// Runs the requested targets; true when nothing was found.
pub fn run(wish: &Wish, root: &Path) -> bool {
    let all = targets(root);
    let chosen: Vec<String> =
        all.iter().filter(|name| wish.target.as_ref().is_none_or(|w| w == *name)).cloned().collect();
    if chosen.is_empty() {
        eprintln!("xtask: there is no such target; known: {}", all.join(", "));
        return false;
    }
    let runs = |target: &str| wish.runs.unwrap_or(LONG[usize::from(is_slow(target))]);
    install(root) && each(root, &chosen, runs)
}

/// True for targets that step a scene, which takes a thousand times longer than reading a file.
fn is_slow(target: &str) -> bool {
    target == "scene_step"
}

fn targets(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("fuzz/fuzz_targets")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn install(root: &Path) -> bool {
    let there = nightly(root).args(["fuzz", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return true;
    }
    println!("   cargo install cargo-fuzz");
    let done =
        cargo_command(root).args(["install", "--locked", "cargo-fuzz"]).status().is_ok_and(|status| status.success());
    if !done {
        eprintln!("cargo-fuzz could not be installed; it needs a network, and `rustup toolchain install nightly`");
    }
    done
}

/// Cargo of the nightly toolchain: the cargo that started xtask is stable.
fn nightly(root: &Path) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).current_dir(root);
    command
}

fn one(root: &Path, target: &str, runs: u64) -> bool {
    let (found, corpus) = (format!("fuzz/found/{target}"), format!("fuzz/corpus/{target}"));
    if let Err(error) = std::fs::create_dir_all(root.join(&found)) {
        eprintln!("{found}: {error}");
        return false;
    }
    println!("   {target}: {runs} runs");
    let mut command = nightly(root);
    command.args(["fuzz", "run", target, &found, &corpus, "--"]);
    // a step of a scene is slow under the sanitizer; a reader has to be fast
    let (length, patience) = if is_slow(target) { (600, 60) } else { (4096, 20) };
    command.args([format!("-runs={runs}"), format!("-max_len={length}"), format!("-timeout={patience}")]);
    command.args(["-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"]);
    if target.starts_with("scene_") && !is_slow(target) {
        command.arg("-dict=fuzz/scene.dict");
    }
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_and_a_number_of_runs_may_be_given() {
        assert_eq!(Wish::read(&[]), Ok(Wish::default()));
        let wish = Wish { target: Some("mesh_obj".to_owned()), runs: Some(50) };
        assert_eq!(Wish::read(&["mesh_obj", "50"]), Ok(wish));
        assert_eq!(Wish::read(&["all", "50"]), Ok(Wish { target: None, runs: Some(50) }));
        assert!(Wish::read(&["mesh_obj", "many"]).unwrap_err().contains("many"));
    }
}
