//! `sinew replay`: plays a recording and compares the hash of every step.

use crate::failure::{Failure, named};
use crate::interrupt;
use crate::play::progress;
use crate::screen::screen;
use sinew_wire::{Divergence, Outcome, Replay};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Bytes that are read of what is no plain file.
const PIPED: u64 = 1 << 30;

/// Which recording.
#[derive(clap::Args)]
pub struct Args {
    /// A file that `sinew run --record` wrote
    file: PathBuf,
    /// Worker threads; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
}

/// Replays it. A divergence, or a recording that was cut off, is a failed check; a damaged file is bad input.
pub fn replay(args: &Args) -> Result<(), Failure> {
    let refused = |e| Failure::input(format!("{}: {e}", named(&args.file)));
    let bytes = load(&args.file)?;
    let mut replay = Replay::open(&bytes).map_err(refused)?;
    if let Some(threads) = args.threads {
        replay = replay.threads(threads).map_err(refused)?;
    }
    interrupt::install();
    let total = replay.step_count();
    let bar = progress(total as u64, "replay");
    let (mut steps, mut matched) = (0u64, 0u64);
    let mut first: Option<Divergence> = None;
    for outcome in replay.by_ref() {
        steps += 1;
        match outcome.map_err(refused)? {
            Outcome::Matched { .. } => matched += 1,
            Outcome::Diverged(d) => _ = first.get_or_insert(d),
        }
        bar.inc(1);
        if interrupt::requested() {
            break;
        }
    }
    bar.finish_and_clear();
    let mut out = screen();
    writeln!(out, "{matched} of {total} steps match bit for bit, hash {:016x}", replay.world().hash())?;
    out.flush()?;
    if let Some(d) = first {
        return Err(Failure::Check(story(&d)));
    }
    if steps < total as u64 {
        return Err(Failure::Check(format!("stopped after {steps} of {total} steps: the rest was not checked")));
    }
    if !replay.is_complete() {
        return Err(Failure::Check(format!("the recording was cut off after step {total}: it has no end mark")));
    }
    Ok(())
}

/// The bytes of a recording. What is not one is refused by its first bytes; a pipe or a device may have no end.
fn load(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = Failure::file(path);
    let file = File::open(path).map_err(&failed)?;
    let facts = file.metadata().map_err(&failed)?;
    let mut bytes = Vec::new();
    (&file).take(Replay::START as u64).read_to_end(&mut bytes).map_err(&failed)?;
    Replay::check_start(&bytes).map_err(|e| Failure::input(format!("{}: {e}", named(path))))?;
    let limit = if facts.is_file() { facts.len() } else { PIPED };
    let left = limit.saturating_sub(bytes.len() as u64);
    bytes.try_reserve_exact(if facts.is_file() { left as usize } else { 0 }).map_err(|e| failed(e.into()))?;
    (&file).take(left).read_to_end(&mut bytes).map_err(&failed)?;
    // a plain file that still grows ends where it ended when it was opened
    if !facts.is_file() && (&file).read(&mut [0]).map_err(&failed)? > 0 {
        return Err(Failure::input(format!("{}: of a pipe at most {} MiB are read", named(path), PIPED >> 20)));
    }
    Ok(bytes)
}

/// Where and in what the replay left the recording.
fn story(d: &Divergence) -> String {
    let what = d.column.map_or("the numbering of bodies or constraints".to_owned(), |c| format!("column {c}"));
    let mut text = format!(
        "diverged at tick {}: {what} differs first (recorded hash {:016x}, replayed {:016x})",
        d.tick, d.recorded, d.replayed
    );
    for c in &d.columns {
        text.push_str(&format!(
            "\n  {} [{}]: {} entries differ, the first is {}",
            c.column, c.unit, c.differing, c.first
        ));
    }
    text
}
