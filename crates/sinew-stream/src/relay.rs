//! A relay that loses, delays, reorders and doubles packets, from a seed and in virtual time.
//!
//! Loss is Gilbert's model: two states, every packet of the bad one is lost. With a share of lost packets p and a mean
//! burst of L packets, P(bad -> good) = 1/L and P(good -> bad) = p/(L (1 - p)). L = 1/(1 - p) makes the losses
//! independent. Delay and jitter keep the order; a reordered packet is held back longer and overtaken.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::Error;
use crate::random::Random;

/// Packets that a relay holds at most; more are dropped, as a router's queue does.
const HELD: usize = 65_536;

/// What a relay does to packets.
///
/// An example is at [`Relay`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// Share of packets that are lost, 0 to 1.
    pub loss: f64,
    /// Mean number of packets lost in a row; `None` for independent losses.
    pub burst: Option<f64>,
    /// Delay of every packet.
    pub delay: Duration,
    /// Further delay, uniform from zero to this; the order stays.
    pub jitter: Duration,
    /// Share of packets that are held back out of order, 0 to 1.
    pub reorder: f64,
    /// Longest time that a reordered packet is held back, uniform from zero.
    pub hold: Duration,
    /// Share of packets that arrive twice, 0 to 1; the copy is delayed by itself.
    pub duplicate: f64,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            loss: 0.0,
            burst: None,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            reorder: 0.0,
            hold: Duration::from_millis(50),
            duplicate: 0.0,
        }
    }
}

impl Faults {
    /// Checks all numbers.
    ///
    /// # Errors
    /// A share outside 0 to 1, or a burst that this loss cannot have.
    pub fn check(&self) -> Result<(), Error> {
        for (name, share) in [("loss", self.loss), ("reorder", self.reorder), ("duplicate", self.duplicate)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::new(format!("{name}: {share} is not a share from 0 to 1")));
            }
        }
        if let Some(burst) = self.burst {
            // P(good -> bad) is at most one
            let most = burst / (burst + 1.0);
            if !(burst >= 1.0) || !burst.is_finite() || (self.loss > most && self.loss < 1.0) {
                let loss = self.loss;
                return Err(Error::new(format!(
                    "burst: {burst} packets, must be at least 1 and, with a loss of {loss}, at least {:.2}",
                    (loss / (1.0 - loss)).max(1.0)
                )));
            }
        }
        Ok(())
    }
}

/// Counters of a relay.
///
/// An example is at [`Relay`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayStats {
    /// Packets given.
    pub given: u64,
    /// Packets lost by the seed.
    pub lost: u64,
    /// Packets held back out of order.
    pub reordered: u64,
    /// Packets doubled.
    pub doubled: u64,
    /// Packets dropped because the relay holds too many.
    pub dropped: u64,
}

#[derive(Clone, Debug)]
struct Held<T> {
    release: Duration,
    number: u64,
    packet: T,
}

impl<T> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<T> Eq for Held<T> {}
impl<T> PartialOrd for Held<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Held<T> {
    // the heap gives the largest first: the earliest is the largest
    fn cmp(&self, other: &Self) -> Ordering {
        (other.release, other.number).cmp(&(self.release, self.number))
    }
}

/// One direction of a lossy network, for packets of any type.
///
/// ```
/// use std::time::Duration;
/// use sinew_stream::relay::{Faults, Relay};
/// let faults = Faults { loss: 0.3, delay: Duration::from_millis(20), ..Faults::default() };
/// let mut relay = Relay::new(faults, 1)?;
/// (0..1000).for_each(|packet| relay.push(Duration::ZERO, packet));
/// assert_eq!(relay.pop(Duration::from_millis(19)), None);
/// let through = std::iter::from_fn(|| relay.pop(Duration::from_millis(20))).count() as u64;
/// assert_eq!(through, 1000 - relay.stats().lost);
/// # Ok::<(), sinew_stream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Relay<T> {
    faults: Faults,
    random: Random,
    bad: bool,
    held: BinaryHeap<Held<T>>,
    /// Release of the last packet in order.
    last: Duration,
    number: u64,
    stats: RelayStats,
}

impl<T: Clone> Relay<T> {
    /// A relay; equal seeds and packets give equal results.
    ///
    /// # Errors
    /// Those of [`Faults::check`].
    pub fn new(faults: Faults, seed: u64) -> Result<Self, Error> {
        faults.check()?;
        let mut random = Random::new(seed);
        let bad = random.chance(faults.loss);
        let stats = RelayStats::default();
        Ok(Self { faults, random, bad, held: BinaryHeap::new(), last: Duration::ZERO, number: 0, stats })
    }

    /// Takes other faults from now on: a blackout is a loss of 1.
    ///
    /// # Errors
    /// Those of [`Faults::check`]; the old faults stay.
    pub fn set_faults(&mut self, faults: Faults) -> Result<(), Error> {
        faults.check()?;
        self.faults = faults;
        Ok(())
    }

    /// Takes a packet.
    pub fn push(&mut self, now: Duration, packet: T) {
        self.stats.given += 1;
        if self.is_lost() {
            self.stats.lost += 1;
            return;
        }
        if self.random.chance(self.faults.duplicate) {
            self.stats.doubled += 1;
            self.hold(now, packet.clone());
        }
        self.hold(now, packet);
    }

    fn is_lost(&mut self) -> bool {
        let Faults { loss, burst, .. } = self.faults;
        let Some(burst) = burst.filter(|_| loss > 0.0 && loss < 1.0) else { return self.random.chance(loss) };
        let change = if self.bad { 1.0 / burst } else { loss / (burst * (1.0 - loss)) };
        self.bad ^= self.random.chance(change);
        self.bad
    }

    fn hold(&mut self, now: Duration, packet: T) {
        if self.held.len() >= HELD {
            self.stats.dropped += 1;
            return;
        }
        let mut release = now + self.faults.delay + self.faults.jitter.mul_f64(self.random.unit());
        if self.random.chance(self.faults.reorder) {
            self.stats.reordered += 1;
            release += self.faults.hold.mul_f64(self.random.unit());
        } else {
            release = release.max(self.last);
            self.last = release;
        }
        self.number += 1;
        self.held.push(Held { release, number: self.number, packet });
    }

    /// The next packet whose time has come.
    pub fn pop(&mut self, now: Duration) -> Option<T> {
        if self.held.peek()?.release > now {
            return None;
        }
        self.held.pop().map(|held| held.packet)
    }

    /// When the next packet comes out.
    #[must_use]
    pub fn next_release(&self) -> Option<Duration> {
        self.held.peek().map(|held| held.release)
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> RelayStats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(faults: Faults, count: usize) -> Vec<bool> {
        let mut relay = Relay::new(faults, 5).unwrap();
        (0..count)
            .map(|_| {
                let before = relay.stats().lost;
                relay.push(Duration::ZERO, ());
                relay.pop(Duration::ZERO);
                relay.stats().lost > before
            })
            .collect()
    }

    fn loss_and_burst(fates: &[bool]) -> (f64, f64) {
        let lost = fates.iter().filter(|lost| **lost).count() as f64;
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        (lost / fates.len() as f64, lost / bursts)
    }

    #[test]
    fn loss_and_mean_burst_are_those_that_were_wanted() {
        for (loss, burst) in [(0.3, None), (0.3, Some(1.0)), (0.1, Some(4.0)), (0.3, Some(20.0)), (0.5, Some(1.0))] {
            let (measured, length) = loss_and_burst(&fates(Faults { loss, burst, ..Faults::default() }, 1_000_000));
            // 1e6 packets, about 1e6 loss/burst bursts: five standard deviations of either
            let expected = burst.unwrap_or(1.0 / (1.0 - loss));
            let bursts = 1e6 * loss / expected;
            assert!((measured / loss - 1.0).abs() < 5.0 * (2.0 / bursts).sqrt(), "{loss} {measured}");
            assert!((length / expected - 1.0).abs() < 5.0 / bursts.sqrt(), "{expected} {length}");
        }
        assert!(fates(Faults { loss: 1.0, burst: Some(3.0), ..Faults::default() }, 1000).iter().all(|lost| *lost));
        assert!(!fates(Faults { burst: Some(3.0), ..Faults::default() }, 1000).iter().any(|lost| *lost));
    }

    #[test]
    fn delay_and_jitter_keep_the_order_and_reordering_does_not() {
        let ms = Duration::from_millis;
        for (reorder, ordered) in [(0.0, true), (0.05, false)] {
            let faults = Faults { delay: ms(20), jitter: ms(30), reorder, duplicate: 0.02, ..Faults::default() };
            let mut relay = Relay::new(faults, 8).unwrap();
            let mut out = Vec::new();
            for n in 0..10_000u64 {
                relay.push(ms(n), n);
                while let Some(packet) = relay.pop(ms(n)) {
                    assert!(n >= packet + 20 && n <= packet + 101, "{n} {packet}");
                    out.push(packet);
                }
            }
            assert_eq!(out.is_sorted(), ordered);
            let stats = relay.stats();
            assert!((150..250).contains(&stats.doubled), "{stats:?}");
            assert!((400..620).contains(&stats.reordered) || ordered, "{stats:?}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut relay = Relay::new(Faults { delay: Duration::from_secs(1), ..Faults::default() }, 1).unwrap();
        (0..100_000).for_each(|n| relay.push(Duration::ZERO, n));
        assert_eq!(relay.stats().dropped, 100_000 - HELD as u64);
    }

    #[test]
    fn impossible_faults_are_named() {
        let message = |faults: Faults| faults.check().unwrap_err().to_string();
        assert!(message(Faults { duplicate: -0.1, ..Faults::default() }).starts_with("duplicate"));
        assert!(message(Faults { loss: f64::NAN, ..Faults::default() }).starts_with("loss"));
        assert!(message(Faults { burst: Some(0.5), ..Faults::default() }).starts_with("burst"));
        assert!(message(Faults { loss: 0.9, burst: Some(2.0), ..Faults::default() }).contains("9.00"));
    }
}
