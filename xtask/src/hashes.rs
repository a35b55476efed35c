//! `hashes`: writes the record of state hashes, `docs/hashes.json`. The test `hashes` of sinew-scene compares it.

use crate::job::{Job, Step};

/// The job.
pub const JOB: Job = Job {
    name: "hashes",
    steps: &[
        Step::Cargo(&["run", "--release", "-p", "sinew-scene", "--example", "hashes"]),
        Step::Cargo(&[
            "run",
            "--release",
            "-p",
            "sinew-scene",
            "--no-default-features",
            "--features=f64",
            "--example",
            "hashes",
        ]),
    ],
};
