//! A program of others: run until it ends, takes too long, or the user has seen enough.

use crate::interrupt;
use crate::peers::line::tame;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How a run went.
pub struct Outcome {
    /// What it printed.
    pub text: String,
    /// Why that may not be all.
    pub trouble: Option<String>,
}

/// Bytes that are kept of what a program prints; a table of results has some ten thousand.
const KEPT: usize = 1 << 20;
/// Interval at which it is polled.
const GLANCE: Duration = Duration::from_millis(20);
/// How long the rest of what an ended program printed is waited for. A process it left behind may hold the pipe open.
const REST: Duration = Duration::from_secs(1);

/// The core that all are pinned to, when that can be done: the last, because the first has the system's chores.
pub fn pin() -> Option<usize> {
    let core = thread::available_parallelism().map_or(0, |n| n.get() - 1);
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string(), "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success()).then_some(core)
}

/// Runs a program.
pub fn run(mut command: Command, limit: Duration) -> Outcome {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => return Outcome { text: String::new(), trouble: Some(format!("cannot be started: {e}")) },
    };
    let (out, err) = (child.stdout.take().map(drain), child.stderr.take().map(drain));
    let mut trouble = wait(&mut child, limit);
    let text = out.map(collect).unwrap_or_default();
    let words = err.map(collect).unwrap_or_default();
    if let (Some(trouble), Some(last)) = (&mut trouble, words.lines().rev().find(|l| !l.trim().is_empty())) {
        trouble.push_str(&format!(" ({})", tame(last, 100)));
    }
    Outcome { text, trouble }
}

/// Waits for the end, or makes one.
fn wait(child: &mut Child, limit: Duration) -> Option<String> {
    let clock = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return Some(format!("ended with {status}")),
            Ok(None) => {}
            Err(e) => return Some(format!("cannot be waited for: {e}")),
        }
        let stopped = interrupt::requested();
        if stopped || clock.elapsed() > limit {
            // this child only; it may have ended by itself in the meantime
            let _ = child.kill();
            let _ = child.wait();
            let why = if stopped { "stopped".to_owned() } else { format!("ended after {} s", limit.as_secs()) };
            return Some(why);
        }
        thread::sleep(GLANCE);
    }
}

/// Reads in a thread of its own: a full pipe would stop the program.
fn drain(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (give, take) = channel();
    thread::spawn(move || {
        let (mut piece, mut given) = ([0; 4096], 0);
        while let Ok(count @ 1..) = from.read(&mut piece) {
            // beyond that it is read and dropped
            if given < KEPT {
                given += count;
                let _ = give.send(piece[..count].to_vec());
            }
        }
    });
    take
}

/// What was read, until the pipe is closed or the time for the rest is over.
fn collect(pieces: Receiver<Vec<u8>>) -> String {
    let clock = Instant::now();
    let mut all = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(REST.saturating_sub(clock.elapsed())) {
        all.extend(piece);
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit_ms: u64) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, Duration::from_millis(limit_ms))
    }

    #[test]
    fn what_was_printed_before_the_end_is_kept() {
        let good = shell("echo yes", 10_000);
        assert_eq!((good.text.as_str(), good.trouble), ("yes\n", None));
        let bad = shell("echo yes; echo why >&2; exit 3", 10_000);
        let trouble = bad.trouble.expect("it failed");
        assert!(bad.text == "yes\n" && trouble.contains('3') && trouble.contains("(why)"), "{trouble}");
        let none = run(Command::new("./no-such-program"), Duration::from_secs(1));
        assert!(none.trouble.is_some_and(|t| t.starts_with("cannot be started")));
    }

    #[test]
    fn who_hangs_is_ended_and_who_floods_is_cut() {
        let clock = Instant::now();
        let hung = shell("echo first; sleep 60", 300);
        assert!(clock.elapsed() < Duration::from_secs(20));
        assert_eq!((hung.text.as_str(), hung.trouble.as_deref()), ("first\n", Some("ended after 0 s")));
        let flood = shell("yes rubbish", 300);
        assert!(flood.text.len() <= KEPT + 4096, "{}", flood.text.len());
    }
}
