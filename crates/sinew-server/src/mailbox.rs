//! Non-blocking handover of a value from the physics to the encoder: a triple buffer, of which the writer fills a slot
//! that is in use by neither side.
//!
//! The newest slot is never written, and the reader locks at most one; so of three slots one is always free, and the
//! writer never waits: it only tries locks. A value that was not read in time is overwritten.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::Thread;

/// Three slots; `newest` is four times the sequence number of the last value, plus the index of its slot.
#[derive(Debug, Default)]
pub struct Mailbox<T> {
    places: [Mutex<T>; 3],
    newest: AtomicU64,
    reader: OnceLock<Thread>,
}

impl<T> Mailbox<T> {
    /// Fills a free slot and makes it the newest. There is one writer thread. False when no slot was free, which does
    /// not happen with one reader thread.
    pub fn write(&self, fill: impl FnOnce(&mut T)) -> bool {
        let newest = self.newest.load(Ordering::Acquire);
        let held = (newest & 3) as usize;
        for k in 0..self.places.len() {
            if k == held && newest > 3 {
                continue;
            }
            let Ok(mut place) = self.places[k].try_lock() else { continue };
            fill(&mut place);
            drop(place);
            self.newest.store(((newest >> 2) + 1) << 2 | k as u64, Ordering::Release);
            if let Some(reader) = self.reader.get() {
                reader.unpark();
            }
            return true;
        }
        false
    }

    /// Passes the newest value to `look`, if its sequence number is above `seen`; returns that number. There is one
    /// reader thread.
    pub fn read(&self, seen: u64, look: impl FnOnce(&T)) -> Option<u64> {
        let _ = self.reader.get_or_init(std::thread::current);
        loop {
            let newest = self.newest.load(Ordering::Acquire);
            if newest >> 2 <= seen {
                return None;
            }
            let Ok(place) = self.places[(newest & 3) as usize].try_lock() else { continue };
            // a slow reader may have locked a slot that is no longer the newest: its value is complete nevertheless
            look(&place);
            return Some(newest >> 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_writer_always_finds_a_free_slot_and_values_are_never_torn() {
        let mailbox: Arc<Mailbox<[u64; 32]>> = Arc::default();
        let other = mailbox.clone();
        let reader = std::thread::spawn(move || {
            let (mut seen, mut last) = (0, 0);
            while last < 20_000 {
                if let Some(number) = other.read(seen, |value| {
                    assert!(value.iter().all(|x| *x == value[0]), "torn");
                    assert!(value[0] >= last, "older than before");
                    last = value[0];
                }) {
                    assert!(number > seen);
                    seen = number;
                }
            }
        });
        for k in 1..=20_000 {
            assert!(mailbox.write(|value| value.fill(k)));
        }
        reader.join().expect("the reader got complete values");
    }
}
