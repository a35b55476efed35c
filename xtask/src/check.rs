//! `check`: the jobs of CI. Without a package name a job runs on the default members of the workspace; `benches` is not
//! among them, because it depends on Rapier.

use crate::job::{Job, Step};
use crate::{browser, docs, python, setup, tidy};

const FORMAT: Job = Job { name: "fmt", steps: &[Step::Cargo(&["fmt", "--all", "--check"])] };

const LINTS: Job = Job {
    name: "clippy",
    steps: &[
        Step::Cargo(&["clippy", "--all-targets", "--", "-D", "warnings"]),
        Step::Cargo(&["clippy", "--package", "xtask", "--all-targets", "--", "-D", "warnings"]),
        // pyo3 needs no interpreter for this
        Step::Cargo(&["clippy", "--package", "sinew-python", "--", "-D", "warnings"]),
    ],
};

/// Includes doc tests.
const TESTS_F32: Job = Job { name: "tests f32", steps: &[Step::Cargo(&["test", "--no-fail-fast"])] };

/// Tests of the house rules; xtask is not a default member.
const TESTS_XTASK: Job = Job { name: "tests xtask", steps: &[Step::Cargo(&["test", "--package", "xtask"])] };

// The same target directory as f32: cargo keeps the artefacts of both feature sets side by side, and alternating
// between them recompiles nothing (tried with cargo 1.95).
const TESTS_F64: Job = Job {
    name: "tests f64",
    steps: &[Step::Cargo(&[
        "test",
        "--no-fail-fast",
        "--package=sinew-math",
        "--package=sinew-spec",
        "--package=sinew-friction",
        "--package=sinew",
        "--package=sinew-mesh",
        "--package=sinew-scene",
        "--package=sinew-wire",
        "--no-default-features",
        "--features=f64",
    ])],
};

/// All of `check`, cheapest first.
pub const JOBS: &[Job] =
    &[setup::JOB, FORMAT, tidy::JOB, LINTS, TESTS_XTASK, TESTS_F32, TESTS_F64, browser::JOB, python::JOB, docs::JOB];

/// `check --quick`: for use during development.
pub const QUICK: &[Job] = &[setup::JOB, FORMAT, tidy::JOB, LINTS, TESTS_F32];
