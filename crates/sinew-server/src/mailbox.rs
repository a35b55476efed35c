//! The way of a value from the physics to the encoder: three places, of which the writer fills one that nobody holds.
//!
//! The newest place is never written, and the reader holds at most one; so of three places the writer always finds a free
//! one, and it never waits: it only tries locks. A value that the reader did not come to see is overwritten.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::Thread;

/// Three places; `newest` is the number of the last letter times four, plus its place.
#[derive(Debug, Default)]
pub struct Mailbox<T> {
    places: [Mutex<T>; 3],
    newest: AtomicU64,
    reader: OnceLock<Thread>,
}

impl<T> Mailbox<T> {
    /// Fills a free place and makes it the newest. One thread writes. False when no place was free, which does not happen
    /// while one thread reads.
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

    /// Looks at the newest value, if there is one after letter number `seen`; returns its number. One thread reads.
    pub fn read(&self, seen: u64, look: impl FnOnce(&T)) -> Option<u64> {
        let _ = self.reader.get_or_init(std::thread::current);
        loop {
            let newest = self.newest.load(Ordering::Acquire);
            if newest >> 2 <= seen {
                return None;
            }
            let Ok(place) = self.places[(newest & 3) as usize].try_lock() else { continue };
            // a slow reader may have got a place that is no longer the newest: the value is whole all the same
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
    fn the_writer_always_finds_a_place_and_values_are_never_torn() {
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
        reader.join().expect("the reader saw whole values");
    }
}
