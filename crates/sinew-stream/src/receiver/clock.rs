//! Times of the sender at the receiver: extended time stamps and ages.

use std::time::Duration;

use crate::rtp::{CLOCK, extend, ticks};

/// Difference between the clocks above which a time stamp is not believed [1/90000 s].
const BELIEVED: u64 = 5 * CLOCK;
/// Time after which the least delay is measured anew: clocks drift, by 1 ms in 10 s at 100 ppm.
const DRIFT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Default)]
pub(super) struct SenderClock {
    /// Latest time stamp and when it came.
    latest: Option<(u64, Duration)>,
    /// Take the next time stamp whatever it is.
    anchored: bool,
    /// Least of arrival less time stamp, of this time and the one before.
    least: [Option<i64>; 2],
    since: Duration,
}

impl SenderClock {
    /// Extended time stamp of a packet; `None` if it is too far from the receiver's clock.
    pub fn stamp(&mut self, timestamp: u32, now: Duration) -> Option<u64> {
        let Some((latest, at)) = self.latest else {
            // one period up: no stamp is below zero, and none is that of a point that never came
            let stamp = (1 << 32) + u64::from(timestamp);
            self.latest = Some((stamp, now));
            self.anchored = true;
            self.arrival(stamp, now);
            return Some(stamp);
        };
        let expected = latest + ticks(now.saturating_sub(at));
        let stamp = extend(expected, timestamp, 32);
        if self.anchored && stamp.abs_diff(expected) > BELIEVED {
            return None;
        }
        self.anchored = true;
        if stamp > latest {
            self.latest = Some((stamp, now));
        }
        self.arrival(stamp, now);
        Some(stamp)
    }

    /// The next time stamp is believed: the stream began anew.
    pub fn release(&mut self) {
        self.anchored = false;
        self.least = [None; 2];
    }

    fn arrival(&mut self, stamp: u64, now: Duration) {
        if now.saturating_sub(self.since) > DRIFT {
            self.least = [None, self.least[0]];
            self.since = now;
        }
        let transit = ticks(now) as i64 - stamp as i64;
        self.least[0] = Some(self.least[0].map_or(transit, |least| least.min(transit)));
    }

    /// Age of a time stamp beyond the least delay of the network [1/90000 s].
    pub fn age(&self, stamp: u64, now: Duration) -> Option<u64> {
        let least = self.least.iter().flatten().min()?;
        Some((ticks(now) as i64 - stamp as i64 - least).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_go_on_over_the_wrap() {
        let mut clock = SenderClock::default();
        let start = u32::MAX - 3000;
        let mut last = 0;
        for frame in 0..10u64 {
            let now = Duration::from_millis(frame * 1000 / 30);
            let stamp = clock.stamp(start.wrapping_add(frame as u32 * 3000), now).unwrap();
            assert!(last == 0 || stamp == last + 3000, "{stamp} {last}");
            last = stamp;
        }
        // an old one is recognised as such
        assert_eq!(clock.stamp(start, Duration::from_millis(300)), Some((1 << 32) + u64::from(start)));
    }

    #[test]
    fn a_time_stamp_from_far_ahead_is_not_believed() {
        let mut clock = SenderClock::default();
        assert!(clock.stamp(0, Duration::ZERO).is_some());
        assert_eq!(clock.stamp(6 * 90_000, Duration::from_millis(100)), None);
        assert!(clock.stamp(9000, Duration::from_millis(100)).is_some());
        // after a gap it is what the receiver's clock says
        assert!(clock.stamp(60 * 90_000, Duration::from_secs(60)).is_some());
        clock.release();
        assert!(clock.stamp(3_000_000_000, Duration::from_secs(61)).is_some());
    }

    #[test]
    fn the_age_leaves_out_the_least_delay() {
        let mut clock = SenderClock::default();
        let first = clock.stamp(0, Duration::from_millis(50)).unwrap();
        let second = clock.stamp(3000, Duration::from_micros(50_000 + 33_334 + 20_000)).unwrap();
        let now = Duration::from_millis(150);
        assert_eq!(clock.age(first, now), Some(9000));
        assert_eq!(clock.age(second, now), Some(6000));
    }
}
