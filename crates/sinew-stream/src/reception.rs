//! Statistics of a received stream: sequence numbers by RFC 3550 A.1, loss by A.3, interarrival jitter by A.8.

use std::time::Duration;

use crate::rtcp::Block;
use crate::rtp;

/// Largest gap of sequence numbers that is taken as loss (A.1).
const MAX_DROPOUT: u16 = 3000;
/// Largest step backwards that is taken as reordering (A.1).
const MAX_MISORDER: u16 = 100;

/// What a receiver knows about the packets of one source.
///
/// ```
/// use std::time::Duration;
/// use sinew_stream::reception::Reception;
///
/// let mut reception = Reception::new(65_534);
/// for (at, number) in [65_534u16, 65_535, 1].into_iter().enumerate() {
///     let at = at as u64;
///     reception.packet(number, 3000 * at as u32, Duration::from_millis(at * 100 / 3));
/// }
/// let block = reception.report(1, Duration::ZERO);
/// // number 0 is lost: one packet of four
/// assert_eq!((block.highest, block.lost, block.fraction_lost), (65_537, 1, 64));
/// ```
#[derive(Clone, Debug)]
pub struct Reception {
    base: u64,
    highest: u64,
    /// The next number after one that did not fit: two in a row are a restart of the sender.
    restart: Option<u16>,
    received: u64,
    expected_before: u64,
    received_before: u64,
    transit: Option<u32>,
    /// Sixteen times the jitter [1/90000 s].
    jitter: u32,
    /// Middle 32 bits of the NTP time of the last sender report, and its arrival.
    last_report: Option<(u32, Duration)>,
}

impl Reception {
    /// Statistics of a stream whose first received packet has this number.
    #[must_use]
    pub fn new(first: u16) -> Self {
        Self {
            base: u64::from(first),
            highest: u64::from(first),
            restart: None,
            received: 0,
            expected_before: 0,
            received_before: 0,
            transit: None,
            jitter: 0,
            last_report: None,
        }
    }

    /// Counts a packet and returns its extended number; `None` if the number is too far from the last ones.
    pub fn packet(&mut self, sequence: u16, timestamp: u32, now: Duration) -> Option<u64> {
        let ahead = sequence.wrapping_sub(self.highest as u16);
        let mut number = rtp::extend(self.highest, u32::from(sequence), 16);
        if ahead < MAX_DROPOUT {
            self.highest = number;
        } else if ahead <= u16::MAX - MAX_MISORDER {
            if self.restart != Some(sequence) {
                self.restart = Some(sequence.wrapping_add(1));
                return None;
            }
            // the sender began anew: the extended number goes on upward, so that windows of numbers stay valid
            number = (self.highest | 0xFFFF) + 1 + u64::from(sequence);
            *self = Self { base: number, highest: number, last_report: self.last_report, ..Self::new(sequence) };
        }
        self.restart = None;
        self.received += 1;
        self.arrival(timestamp, now);
        Some(number)
    }

    // A.8: J += (|D| - J)/16 in integers, with J stored sixteenfold
    fn arrival(&mut self, timestamp: u32, now: Duration) {
        let transit = (rtp::ticks(now) as u32).wrapping_sub(timestamp);
        if let Some(before) = self.transit {
            let change = (transit.wrapping_sub(before) as i32).unsigned_abs();
            self.jitter = self.jitter.saturating_add(change).saturating_sub((self.jitter + 8) >> 4);
        }
        self.transit = Some(transit);
    }

    /// Notes a sender report: middle 32 bits of its NTP time, and the time of its arrival.
    pub fn sender_report(&mut self, ntp_middle: u32, now: Duration) {
        self.last_report = Some((ntp_middle, now));
    }

    /// The report block of A.3; the fraction is that since the last call.
    pub fn report(&mut self, ssrc: u32, now: Duration) -> Block {
        let expected = self.highest - self.base + 1;
        let lost = expected as i64 - self.received as i64;
        let expected_now = expected - self.expected_before;
        let received_now = self.received - self.received_before;
        (self.expected_before, self.received_before) = (expected, self.received);
        let lost_now = expected_now.saturating_sub(received_now);
        let fraction = (lost_now * 256).checked_div(expected_now).unwrap_or(0).min(255) as u8;
        let (last_sr, delay) = match self.last_report {
            Some((middle, at)) => (middle, (now.saturating_sub(at).as_nanos() * 65_536 / 1_000_000_000) as u32),
            None => (0, 0),
        };
        Block {
            ssrc,
            fraction_lost: fraction,
            lost: lost.clamp(-(1 << 23), (1 << 23) - 1) as i32,
            highest: self.highest as u32,
            jitter: self.jitter >> 4,
            last_sr,
            delay,
        }
    }

    /// Interarrival jitter.
    #[must_use]
    pub fn jitter(&self) -> Duration {
        rtp::duration(u64::from(self.jitter >> 4))
    }

    /// Packets received, duplicates included.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Packets expected since the first one.
    #[must_use]
    pub fn expected(&self) -> u64 {
        self.highest - self.base + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_micros(33_333);

    #[test]
    fn numbers_go_on_over_the_wrap_and_in_any_order() {
        let mut reception = Reception::new(65_534);
        let order = [65_534u16, 0, 65_535, 1, 1, 2];
        let extended: Vec<_> = order.iter().map(|&n| reception.packet(n, 0, STEP)).collect();
        let expected = [65_534u64, 65_536, 65_535, 65_537, 65_537, 65_538].map(Some);
        assert_eq!(extended, expected);
        let block = reception.report(1, STEP);
        // a duplicate hides a loss (A.3): five expected, six received
        assert_eq!((block.lost, block.fraction_lost, block.highest), (-1, 0, 65_538));
    }

    #[test]
    fn a_forged_number_is_dropped_and_a_restarted_sender_is_followed() {
        let mut reception = Reception::new(10);
        assert_eq!(reception.packet(10, 0, STEP), Some(10));
        assert_eq!(reception.packet(30_000, 0, STEP), None);
        assert_eq!(reception.packet(11, 0, STEP), Some(11));
        assert_eq!(reception.packet(30_001, 0, STEP), None, "two in a row are needed");
        assert_eq!(reception.packet(30_002, 0, STEP), Some(65_536 + 30_002));
        assert_eq!(reception.packet(30_003, 0, STEP), Some(65_536 + 30_003));
        assert_eq!(reception.report(1, STEP).lost, 0);
    }

    #[test]
    fn the_fraction_is_that_of_the_interval() {
        let mut reception = Reception::new(0);
        for number in (0..100).filter(|n| n % 4 != 3) {
            reception.packet(number, 0, STEP);
        }
        // 99 expected up to number 98, 75 received
        assert_eq!(reception.report(1, STEP).fraction_lost, (24 * 256 / 99) as u8);
        for number in 99..200 {
            reception.packet(number, 0, STEP);
        }
        let block = reception.report(1, STEP);
        assert_eq!((block.fraction_lost, block.lost), (0, 24));
        assert_eq!(reception.report(1, STEP).fraction_lost, 0, "nothing new");
    }

    #[test]
    fn jitter_follows_the_recurrence_of_the_rfc() {
        // arrivals alternate by 8 ms around the clock: |D| = 720 ticks each time
        let mut reception = Reception::new(0);
        let mut exact = 0.0f64;
        for number in 0..400u16 {
            let late = if number % 2 == 1 { Duration::from_millis(8) } else { Duration::ZERO };
            reception.packet(
                number,
                3000 * u32::from(number),
                Duration::from_nanos(u64::from(number) * 33_333_334) + late,
            );
            if number > 0 {
                exact += (720.0 - exact) / 16.0;
            }
        }
        let jitter = f64::from(reception.report(1, STEP).jitter);
        // integers round to 1/16 of a tick per packet, the clock to one tick: 2 + 16 * 0.5/16 ticks at most
        assert!((jitter - exact).abs() <= 3.0, "{jitter} {exact}");
    }

    #[test]
    fn the_delay_since_the_last_sender_report_is_in_65536ths() {
        let mut reception = Reception::new(0);
        reception.sender_report(0x1234_5678, Duration::from_secs(5));
        let block = reception.report(1, Duration::from_millis(5250));
        assert_eq!((block.last_sr, block.delay), (0x1234_5678, 16_384));
    }
}
