//! Signals. SIGINT (Ctrl-C), SIGTERM and SIGHUP are a flag: loops read it between two steps and end cleanly.

use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of what was stopped, as the shell reports a process ended by Ctrl-C.
pub const STOPPED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);
/// True when a loop reads the flag.
static READ: AtomicBool = AtomicBool::new(false);

/// At the start of the process: a signal ends it with [`STOPPED`], until [`install`] is called. Opening a FIFO may wait
/// for ever, and no loop reads the flag then.
pub fn begin() -> Result<(), Failure> {
    refuse_long_files();
    ctrlc::set_handler(|| {
        if !READ.load(Ordering::Relaxed) || STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(STOPPED));
        }
    })
    .map_err(|e| Failure::input(format!("cannot listen to Ctrl-C: {e}")))
}

/// From now on a signal only sets the flag; the second one ends the process at once.
pub fn install() {
    READ.store(true, Ordering::Relaxed);
}

/// True when a signal has come.
pub fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Blocks SIGXFSZ in this thread and all that it starts. A write beyond the limit of `ulimit -f` fails then, as on a
/// full disk, and does not end the process.
#[cfg(unix)]
fn refuse_long_files() {
    use nix::sys::signal::{SigSet, Signal};
    // without it the system's default holds, which loses no more than before
    _ = SigSet::from(Signal::SIGXFSZ).thread_block();
}

#[cfg(not(unix))]
fn refuse_long_files() {}
