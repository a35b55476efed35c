//! Replay window: each number is taken once (RFC 4303, section 3.4.3, for 1024 numbers).

const WORDS: usize = 16;
/// Numbers below the highest by this many are refused.
pub const WINDOW: u64 = 64 * WORDS as u64;

/// Numbers that were seen lately.
///
/// ```
/// use sinew_stream::window::{Seen, Window};
/// let mut window = Window::default();
/// assert_eq!([5, 7, 6, 7].map(|n| window.insert(n)), [Seen::New, Seen::New, Seen::New, Seen::Before]);
/// window.insert(5000);
/// assert_eq!(window.insert(8), Seen::TooOld);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Highest number plus one; 0 for none.
    end: u64,
    bits: [u64; WORDS],
}

/// Answer of [`Window::insert`].
///
/// An example is at [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Not seen before; it is now.
    New,
    /// Seen before.
    Before,
    /// Too far below the highest number to know.
    TooOld,
}

impl Window {
    /// Notes a number.
    pub fn insert(&mut self, number: u64) -> Seen {
        // the last number has none above it: a window that has seen it would have no end
        if number == u64::MAX || number.saturating_add(WINDOW) < self.end {
            return Seen::TooOld;
        }
        if number >= self.end {
            self.advance(number);
        }
        let (word, bit) = place(number);
        let before = self.bits[word] & bit != 0;
        self.bits[word] |= bit;
        if before { Seen::Before } else { Seen::New }
    }

    /// Clears the places of the numbers that were skipped.
    fn advance(&mut self, number: u64) {
        let gap = number - self.end;
        if gap >= WINDOW {
            self.bits = [0; WORDS];
        } else {
            for skipped in self.end..=number {
                let (word, bit) = place(skipped);
                self.bits[word] &= !bit;
            }
        }
        self.end = number + 1;
    }
}

fn place(number: u64) -> (usize, u64) {
    ((number / 64) as usize % WORDS, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn it_agrees_with_a_set_of_all_numbers() {
        let mut random = Random::new(3);
        let (mut window, mut all, mut highest) = (Window::default(), BTreeSet::new(), 0u64);
        for _ in 0..100_000 {
            let jump = if random.chance(0.01) { random.below(3000) } else { random.below(4) } as u64;
            let reach = if random.chance(0.1) { 2000 } else { 20 };
            let number = (highest + jump).saturating_sub(random.below(reach) as u64);
            let seen = window.insert(number);
            if number + WINDOW < highest + 1 {
                assert_eq!(seen, Seen::TooOld);
            } else {
                assert_eq!(seen, if all.insert(number) { Seen::New } else { Seen::Before }, "{number} {highest}");
            }
            highest = highest.max(number);
        }
        assert_eq!(window.insert(u64::MAX), Seen::TooOld);
        assert_eq!(window.insert(u64::MAX - 1), Seen::New);
        assert_eq!(window.insert(u64::MAX - 1), Seen::Before);
    }
}
