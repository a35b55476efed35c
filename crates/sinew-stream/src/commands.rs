//! Commands from a viewer to the simulation: in order, each once, repeated until acknowledged, rate limited.
//!
//! A command is a few bytes whose meaning the application knows (the JSON of the viewer's protocol, for instance).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::Error;
use crate::control::LARGEST_COMMAND;
use crate::limit::Bucket;

/// Commands that are on the way at once.
const WINDOW: u32 = 16;
/// Commands that wait at most, on either side.
const QUEUE: usize = 64;
/// Time after which a command is sent again.
const AGAIN: Duration = Duration::from_millis(100);
/// Commands that a sender takes from one viewer in a second, and at once.
const RATE: (u64, u64) = (200, 50);

/// Commands on their way to the sender.
///
/// ```
/// use std::time::Duration;
/// use sinew_stream::commands::{Incoming, Outgoing};
/// let (mut outgoing, mut incoming) = (Outgoing::default(), Incoming::default());
/// outgoing.push(b"pause")?;
/// outgoing.poll(Duration::ZERO, |number, body| {
///     let next = incoming.receive(number, body, Duration::ZERO);
///     assert_eq!(next, 1);
/// });
/// outgoing.acknowledge(1);
/// assert_eq!(incoming.take(), Some(b"pause".to_vec()));
/// assert_eq!(outgoing.waiting(), 0);
/// # Ok::<(), sinew_stream::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// Number of the first command in the queue.
    first: u32,
    queue: VecDeque<(Vec<u8>, Option<Duration>)>,
}

impl Outgoing {
    /// Queues a command and returns its number.
    ///
    /// # Errors
    /// A command above 900 bytes, or 64 commands that wait already.
    pub fn push(&mut self, body: &[u8]) -> Result<u32, Error> {
        if body.len() > LARGEST_COMMAND {
            return Err(Error::new(format!("command: {} bytes, at most {LARGEST_COMMAND}", body.len())));
        }
        if self.queue.len() >= QUEUE {
            return Err(Error::new(format!("command: {QUEUE} commands wait for the sender: send this one later")));
        }
        self.queue.push_back((body.to_vec(), None));
        Ok(self.first.wrapping_add(self.queue.len() as u32 - 1))
    }

    /// Calls `send` for every command that is due.
    pub fn poll(&mut self, now: Duration, mut send: impl FnMut(u32, &[u8])) {
        for (at, (body, sent)) in self.queue.iter_mut().take(WINDOW as usize).enumerate() {
            if sent.is_none_or(|sent| now.saturating_sub(sent) >= AGAIN) {
                *sent = Some(now);
                send(self.first.wrapping_add(at as u32), body);
            }
        }
    }

    /// Drops commands below `next`; a number that was never sent changes nothing.
    pub fn acknowledge(&mut self, next: u32) {
        let done = next.wrapping_sub(self.first) as usize;
        if done <= self.queue.len().min(WINDOW as usize) {
            self.queue.drain(..done);
            self.first = next;
        }
    }

    /// Commands that are not acknowledged.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Starts the numbers anew, for another session; commands that wait are dropped and counted.
    pub fn restart(&mut self) -> usize {
        let dropped = self.queue.len();
        *self = Self::default();
        dropped
    }
}

/// Commands of one viewer at the sender.
///
/// An example is at [`Outgoing`].
#[derive(Clone, Debug)]
pub struct Incoming {
    next: u32,
    /// Commands that arrived before an earlier one.
    early: BTreeMap<u32, Vec<u8>>,
    ready: VecDeque<Vec<u8>>,
    bucket: Bucket,
    limited: u64,
}

impl Default for Incoming {
    fn default() -> Self {
        Self {
            next: 0,
            early: BTreeMap::new(),
            ready: VecDeque::new(),
            bucket: Bucket::new(RATE.0, RATE.1),
            limited: 0,
        }
    }
}

impl Incoming {
    /// Takes a command and returns the number to acknowledge. Above the rate, or with a full queue, it is not taken:
    /// the viewer sends it again.
    pub fn receive(&mut self, number: u32, body: &[u8], now: Duration) -> u32 {
        let ahead = number.wrapping_sub(self.next);
        if ahead >= WINDOW || self.early.contains_key(&number) {
            return self.next;
        }
        if self.ready.len() + self.early.len() >= QUEUE || !self.bucket.take(1, now) {
            self.limited += 1;
            return self.next;
        }
        self.early.insert(number, body.to_vec());
        while let Some(body) = self.early.remove(&self.next) {
            self.ready.push_back(body);
            self.next = self.next.wrapping_add(1);
        }
        self.next
    }

    /// The next command in order.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    /// Commands that were not taken at first because of the rate or the queue.
    #[must_use]
    pub fn limited(&self) -> u64 {
        self.limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn commands_arrive_once_and_in_order_whatever_is_lost() {
        let mut random = Random::new(11);
        let (mut outgoing, mut incoming) = (Outgoing::default(), Incoming::default());
        let (mut sent, mut found) = (0u32, Vec::new());
        for tick in 0..20_000u64 {
            let now = Duration::from_millis(tick * 10);
            if tick % 5 == 0 && sent < 1000 && outgoing.push(&sent.to_be_bytes()).is_ok() {
                sent += 1;
            }
            let mut acks = Vec::new();
            outgoing.poll(now, |number, body| {
                for _ in 0..random.below(3) {
                    acks.push(incoming.receive(number, body, now));
                }
            });
            // acknowledgements are lost and come in any order
            for at in 0..acks.len() {
                if random.chance(0.5) {
                    outgoing.acknowledge(acks[acks.len() - 1 - at]);
                }
            }
            found.extend(
                std::iter::from_fn(|| incoming.take()).map(|body| u32::from_be_bytes(body.try_into().unwrap())),
            );
        }
        assert_eq!(found, (0..1000).collect::<Vec<_>>());
        assert_eq!(outgoing.waiting(), 0);
    }

    #[test]
    fn a_flood_takes_no_memory_and_no_time() {
        let mut incoming = Incoming::default();
        for number in 0..100_000u32 {
            incoming.receive(number, b"x", Duration::from_millis(u64::from(number) / 100));
        }
        assert!(incoming.ready.len() + incoming.early.len() <= QUEUE);
        let mut outgoing = Outgoing::default();
        let refused = (0..100).filter(|_| outgoing.push(b"x").is_err()).count();
        assert_eq!(refused, 100 - QUEUE);
        assert!(outgoing.push(&[0; LARGEST_COMMAND + 1]).is_err());
    }

    #[test]
    fn the_rate_is_that_of_the_bucket() {
        let mut incoming = Incoming::default();
        let mut taken = 0;
        for ms in 0..10_000u64 {
            incoming.receive(incoming.next, b"x", Duration::from_millis(ms));
            taken += u64::from(incoming.take().is_some());
        }
        assert!((RATE.0 * 10 - 2..=RATE.0 * 10 + RATE.1).contains(&taken), "{taken}");
        assert_eq!(incoming.limited(), 10_000 - taken);
    }

    #[test]
    fn a_false_acknowledgement_drops_nothing() {
        let mut outgoing = Outgoing::default();
        outgoing.push(b"x").unwrap();
        outgoing.acknowledge(2);
        outgoing.acknowledge(u32::MAX);
        assert_eq!(outgoing.waiting(), 1);
    }
}
