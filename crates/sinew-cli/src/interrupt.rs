//! Ctrl-C as a flag: loops look at it between two steps and end cleanly.

use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of what was stopped, as the shell reports a process ended by Ctrl-C.
pub const STOPPED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C only sets the flag; the second one ends the process at once.
pub fn install() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(STOPPED));
        }
    })
    .map_err(|e| Failure::input(format!("cannot listen to Ctrl-C: {e}")))
}

/// True when the user wants to stop.
pub fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}
