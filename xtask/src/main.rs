//! The development tasks of the project, as a program without dependencies: `cargo xtask COMMAND`.

#![forbid(unsafe_code)]

mod browser;
mod check;
mod counts;
mod docs;
mod foreign;
mod full;
mod fuzz;
mod hashes;
mod job;
mod oracle;
mod python;
mod setup;
mod tidy;

use job::Job;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  check          what CI runs: setup, format, lints, tests in f32 and f64, the page in a browser, Python, docs, tidy
  check --quick  format, lints, f32 tests, tidy
  full           check and the long runs
  browser        only the tests of the viewer's page in a browser
  python         only the Python package: builds it into an environment of its own and tests it there
  foreign        Debian's assimp-testmodels through the mesh readers, as a table
  oracle         frames of shots and of the gallery through ipctk (Python): no surface may cross another
  fuzz [TARGET|all [RUNS]]  runs fuzz targets; without RUNS a million each, ten thousand of scene_step
  hashes         writes docs/hashes.json: the state hashes of all gallery scenes, f32 and f64
  counts [--write]  instructions of a warm step of the reference scenes (callgrind), beside docs/instructions.json
  tidy           only the house rules: dependency arrows, forbidden words, file lengths, stray paths
  setup          installs what a fresh machine lacks (rustfmt, clippy, chromium)
  help           this text";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Command {
    Check,
    CheckQuick,
    Full,
    Browser,
    Foreign,
    Oracle,
    Python,
    Fuzz(fuzz::Wish),
    Hashes,
    Counts { write: bool },
    Tidy,
    Setup,
    Help,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let command = match parse(&args) {
        Ok(command) => command,
        Err(message) => {
            eprintln!("xtask: {message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if command == Command::Help {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let done = match &command {
        Command::Fuzz(wish) => fuzz::run(wish, &root()),
        Command::Counts { write } => counts::run(*write, &root()),
        other => job::run_all(&jobs(other), &root()),
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(args: &[String]) -> Result<Command, String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    if words.iter().any(|word| ["--help", "-h"].contains(word)) {
        return Ok(Command::Help);
    }
    match words[..] {
        ["check"] => Ok(Command::Check),
        ["check", "--quick"] => Ok(Command::CheckQuick),
        ["full"] => Ok(Command::Full),
        ["browser"] => Ok(Command::Browser),
        ["foreign"] => Ok(Command::Foreign),
        ["oracle"] => Ok(Command::Oracle),
        ["python"] => Ok(Command::Python),
        ["fuzz", ..] => fuzz::Wish::read(&words[1..]).map(Command::Fuzz),
        ["hashes"] => Ok(Command::Hashes),
        ["counts"] => Ok(Command::Counts { write: false }),
        ["counts", "--write"] => Ok(Command::Counts { write: true }),
        ["tidy"] => Ok(Command::Tidy),
        ["setup"] => Ok(Command::Setup),
        ["help"] => Ok(Command::Help),
        [] => Err("which command?".to_string()),
        [
            "check" | "full" | "browser" | "foreign" | "oracle" | "python" | "hashes" | "counts" | "tidy" | "setup"
            | "help",
            extra,
            ..,
        ] => Err(format!("unknown option `{extra}`")),
        [name, ..] => Err(format!("unknown command `{name}`")),
    }
}

fn jobs(command: &Command) -> Vec<Job> {
    match command {
        Command::Check => check::JOBS.to_vec(),
        Command::CheckQuick => check::QUICK.to_vec(),
        Command::Full => [check::JOBS, full::JOBS].concat(),
        Command::Tidy => vec![tidy::JOB],
        Command::Setup => vec![setup::JOB],
        Command::Browser => vec![browser::JOB],
        Command::Foreign => vec![foreign::JOB],
        Command::Oracle => vec![oracle::JOB],
        Command::Python => vec![python::JOB],
        Command::Hashes => vec![hashes::JOB],
        Command::Help | Command::Fuzz(_) | Command::Counts { .. } => Vec::new(),
    }
}

/// The root of the repository, found from the path of this package that cargo sets, independent of the working
/// directory.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).parent().expect("xtask lies in the repository").to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(parsed("check"), Ok(Command::Check));
        assert_eq!(parsed("check --quick"), Ok(Command::CheckQuick));
        assert_eq!(parsed("full"), Ok(Command::Full));
        assert_eq!(parsed("fuzz"), Ok(Command::Fuzz(fuzz::Wish::default())));
        assert_eq!(parsed("check --help"), Ok(Command::Help));
    }

    #[test]
    fn bad_commands_are_refused_with_the_offending_argument() {
        assert!(parsed("").is_err());
        assert!(parsed("chekc").unwrap_err().contains("`chekc`"));
        assert!(parsed("check --quik").unwrap_err().contains("`--quik`"));
        assert!(parsed("full --quick").unwrap_err().contains("`--quick`"));
    }

    #[test]
    fn quick_is_a_part_of_check_and_check_a_part_of_full() {
        let names = |command| jobs(&command).iter().map(|job| job.name).collect::<Vec<_>>();
        assert!(names(Command::CheckQuick).iter().all(|name| names(Command::Check).contains(name)));
        assert!(names(Command::Full).starts_with(&names(Command::Check)));
    }
}
