//! Jobs: what they are, running them in order, and the table at the end.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// One line of the table.
#[derive(Clone, Copy)]
pub struct Job {
    /// Its name in the table.
    pub name: &'static str,
    /// All are run, also after a failure.
    pub steps: &'static [Step],
}

/// A part of a job.
#[derive(Clone, Copy)]
pub enum Step {
    /// Cargo with these arguments.
    Cargo(&'static [&'static str]),
    /// A function of xtask; takes the repository's root, returns true on success.
    Call(fn(&Path) -> bool),
}

struct Outcome {
    name: &'static str,
    seconds: f64,
    ok: bool,
}

/// Runs all jobs and prints the table. A failure stops nothing: jobs do not depend on each other, and one run should
/// report all failures. True if none failed.
pub fn run_all(jobs: &[Job], root: &Path) -> bool {
    let outcomes: Vec<Outcome> = jobs.iter().map(|job| run(job, root)).collect();
    print!("{}", table(&outcomes));
    outcomes.iter().all(|outcome| outcome.ok)
}

fn run(job: &Job, root: &Path) -> Outcome {
    println!("== {}", job.name);
    let clock = Instant::now();
    let mut ok = true;
    for step in job.steps {
        ok &= match *step {
            Step::Cargo(args) => cargo(args, root),
            Step::Call(call) => call(root),
        };
    }
    Outcome { name: job.name, seconds: clock.elapsed().as_secs_f64(), ok }
}

fn cargo(args: &[&str], root: &Path) -> bool {
    println!("   cargo {}", args.join(" "));
    match cargo_command(root).args(args).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot start cargo: {error}");
            false
        }
    }
}

/// The cargo that started xtask, else the one on the path.
pub fn cargo_command(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

fn table(outcomes: &[Outcome]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.name.len()).max().unwrap_or(0).max("job".len());
    let mut text = format!("\n{:<width$}  {:>8}  result\n", "job", "seconds");
    for Outcome { name, seconds, ok } in outcomes {
        let result = if *ok { "ok" } else { "FAILED" };
        text += &format!("{name:<width$}  {seconds:>8.1}  {result}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_job_seconds_and_result() {
        let outcomes =
            [Outcome { name: "fmt", seconds: 0.44, ok: true }, Outcome { name: "tests f32", seconds: 71.0, ok: false }];
        let lines: Vec<Vec<String>> = table(&outcomes)
            .lines()
            .skip(1)
            .map(|line| line.split("  ").filter(|s| !s.is_empty()).map(|s| s.trim().into()).collect())
            .collect();
        assert_eq!(lines, [["job", "seconds", "result"], ["fmt", "0.4", "ok"], ["tests f32", "71.0", "FAILED"]]);
    }

    #[test]
    fn a_failed_step_fails_its_job_and_the_later_jobs_still_run() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        fn good(_: &Path) -> bool {
            CALLS.fetch_add(1, Ordering::Relaxed);
            true
        }
        fn bad(_: &Path) -> bool {
            CALLS.fetch_add(1, Ordering::Relaxed);
            false
        }
        let jobs = [
            Job { name: "mixed", steps: &[Step::Call(bad), Step::Call(good)] },
            Job { name: "good", steps: &[Step::Call(good)] },
        ];
        assert!(!run_all(&jobs, Path::new(".")));
        assert_eq!(CALLS.load(Ordering::Relaxed), 3);
        assert!(run_all(&jobs[1..], Path::new(".")));
    }
}
