//! `full`: what takes too long for every change. Add a job here for each new kind of long run (grids, fuzzing, soak,
//! oracles); its results go to `docs/` with date, machine and commit.

use crate::job::{Job, Step};
use crate::{foreign, fuzz, oracle};

/// Tests marked `#[ignore]` for their length, at the speed of a release.
const LONG_TESTS: Job =
    Job { name: "long tests", steps: &[Step::Cargo(&["test", "--release", "--", "--include-ignored"])] };

/// Every stiffness, Poisson ratio, step and mass ratio with every model; the table of `docs/stability.md`.
const STABILITY: Job = Job {
    name: "stability grid",
    steps: &[Step::Cargo(&["run", "--release", "-p", "sinew", "--example", "stability"])],
};

/// The long runs, after those of `check`.
pub const JOBS: &[Job] = &[LONG_TESTS, STABILITY, foreign::JOB, oracle::JOB, fuzz::JOB];
