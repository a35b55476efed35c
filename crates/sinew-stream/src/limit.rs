//! Rate limits by token buckets, in integers and with the time passed in.

use std::time::Duration;

/// A bucket of tokens that fills at a steady rate.
///
/// ```
/// use std::time::Duration;
/// use sinew_stream::limit::Bucket;
/// let mut bucket = Bucket::new(10, 2);
/// let start = Duration::ZERO;
/// assert_eq!([1, 1, 1].map(|n| bucket.take(n, start)), [true, true, false]);
/// assert!(bucket.take(1, Duration::from_millis(100)));
/// ```
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Tokens in a second.
    rate: u64,
    /// Most tokens, in units of 1e-9.
    most: u128,
    held: u128,
    last: Duration,
}

const UNIT: u128 = 1_000_000_000;

impl Bucket {
    /// A full bucket: `rate` tokens in a second, `burst` at once.
    #[must_use]
    pub fn new(rate: u64, burst: u64) -> Self {
        let most = u128::from(burst) * UNIT;
        Self { rate, most, held: most, last: Duration::ZERO }
    }

    /// Takes tokens if there are enough.
    pub fn take(&mut self, count: u64, now: Duration) -> bool {
        let passed = now.saturating_sub(self.last);
        self.last = self.last.max(now);
        self.held = (self.held + passed.as_nanos() * u128::from(self.rate)).min(self.most);
        let wanted = u128::from(count) * UNIT;
        let enough = self.held >= wanted;
        if enough {
            self.held -= wanted;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_is_kept_whatever_the_step() {
        for step in [1u64, 7, 333] {
            let mut bucket = Bucket::new(200, 10);
            let taken = (0..10_000 / step).filter(|n| bucket.take(1, Duration::from_millis(n * step))).count() as u64;
            let offered = 10_000 / step;
            assert!(taken <= 2010 && taken >= offered.min(1990), "{step}: {taken}");
        }
    }

    #[test]
    fn a_clock_that_steps_back_gives_nothing() {
        let mut bucket = Bucket::new(1, 1);
        assert!(bucket.take(1, Duration::from_secs(10)));
        assert!(!bucket.take(1, Duration::from_secs(5)));
        assert!(!bucket.take(1, Duration::from_secs(10)));
        assert!(bucket.take(1, Duration::from_secs(11)));
    }
}
