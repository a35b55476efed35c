//! `foreign`: reads the mesh files of Debian's `assimp-testmodels`. The package is installed where that is possible
//! without a prompt; elsewhere the job prints this and is skipped.

use crate::job::{Job, Step, cargo_command};
use crate::setup;
use std::path::Path;

/// The job.
pub const JOB: Job = Job { name: "foreign files", steps: &[Step::Call(foreign)] };

/// Folder of the package's files.
const MODELS: &str = "/usr/share/assimp/models";

fn foreign(root: &Path) -> bool {
    if !Path::new(MODELS).is_dir() && !setup::install("assimp-testmodels") {
        println!("   SKIPPED: {MODELS} is missing; install it (Debian: apt-get install assimp-testmodels)");
        return true;
    }
    let mut command = cargo_command(root);
    command.args(["run", "--release", "-p", "sinew-mesh", "--example", "foreign", "--", MODELS]);
    command.status().is_ok_and(|status| status.success())
}
