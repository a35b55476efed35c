//! `full`: jobs that take too long for every change. Add a job here for each new kind of long run (grids, fuzzing,
//! soak, oracles); its results go to `docs/` with date, machine and commit.

use crate::job::{Job, Step};
use crate::{foreign, fuzz, oracle};

/// Tests marked `#[ignore]` because of their length, in a release build.
const LONG_TESTS: Job =
    Job { name: "long tests", steps: &[Step::Cargo(&["test", "--release", "--", "--include-ignored"])] };

/// Every stiffness, Poisson ratio, step and mass ratio with every model; the table of `docs/stability.md`.
const STABILITY: Job = Job {
    name: "stability grid",
    steps: &[Step::Cargo(&["run", "--release", "-p", "sinew", "--example", "stability"])],
};

/// The gates that are met; `n2` is not met yet (`docs/reliability.md`), `n3` and `p3` are separate jobs.
const GATES: Job = Job {
    name: "gates",
    steps: &[Step::Cargo(&[
        "run",
        "--release",
        "-p",
        "sinew-fuzz",
        "--example",
        "gates",
        "--",
        "d1",
        "d2",
        "d5",
        "l2",
        "n1",
        "p4",
        "w5",
    ])],
};

/// The fuzz targets with seeded mutations of the corpus, and scenes of the grammar.
const SEEDED: Job = Job {
    name: "seeded inputs",
    steps: &[
        Step::Cargo(&["run", "--release", "-p", "sinew-fuzz", "--example", "mutate", "--", "all", "100000"]),
        Step::Cargo(&["run", "--release", "-p", "sinew-fuzz", "--example", "many", "--", "1000"]),
    ],
};

/// The long runs, after those of `check`.
pub const JOBS: &[Job] = &[LONG_TESTS, STABILITY, foreign::JOB, oracle::JOB, GATES, SEEDED, fuzz::JOB];
