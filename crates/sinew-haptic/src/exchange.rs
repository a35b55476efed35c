//! A triple buffer: one thread publishes values, another takes the newest. Neither ever waits for the other.
//!
//! Three slots: one belongs to the writer, one to the reader, one lies between with a mark when it is fresh. Publishing
//! and taking exchange the own slot with the one between, by one atomic swap. A slot is thus used by one side only; the
//! mutex around it is there for the borrow checker, is only ever tried, and always free.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

const FRESH: usize = 4;
const SLOT: usize = 3;

#[derive(Debug)]
struct Shared<T> {
    slots: [Mutex<T>; 3],
    /// Number of the slot between, and whether it is fresh.
    between: AtomicUsize,
}

/// The side that publishes.
///
/// An example is at [`exchange`].
#[derive(Debug)]
pub struct Publisher<T> {
    shared: Arc<Shared<T>>,
    own: usize,
}

/// The side that takes the newest value.
///
/// An example is at [`exchange`].
#[derive(Debug)]
pub struct Subscriber<T> {
    shared: Arc<Shared<T>>,
    own: usize,
}

/// A triple buffer, filled with copies of a value.
///
/// ```
/// let (mut publisher, mut subscriber) = sinew_haptic::exchange(0);
/// assert!(subscriber.newest().is_none());
/// publisher.publish(|value| *value = 1);
/// publisher.publish(|value| *value = 2);
/// assert_eq!(subscriber.newest().as_deref(), Some(&2));
/// assert!(subscriber.newest().is_none());
/// ```
pub fn exchange<T: Clone>(value: T) -> (Publisher<T>, Subscriber<T>) {
    let slots = [Mutex::new(value.clone()), Mutex::new(value.clone()), Mutex::new(value)];
    let shared = Arc::new(Shared { slots, between: AtomicUsize::new(1) });
    (Publisher { shared: Arc::clone(&shared), own: 0 }, Subscriber { shared, own: 2 })
}

/// The slot of one side. A panic of that side in the middle of a write leaves the value as it is.
fn open<T>(slot: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match slot.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(PoisonError::into_inner(poisoned)),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl<T> Publisher<T> {
    /// Fills a slot and publishes it. The slot holds an older value: write all of it.
    pub fn publish(&mut self, fill: impl FnOnce(&mut T)) {
        if let Some(mut value) = open(&self.shared.slots[self.own]) {
            fill(&mut value);
        } else {
            return;
        }
        self.own = self.shared.between.swap(self.own | FRESH, Ordering::AcqRel) & SLOT;
    }
}

impl<T> Subscriber<T> {
    /// The newest value, if one was published since the last call.
    pub fn newest(&mut self) -> Option<MutexGuard<'_, T>> {
        if self.shared.between.load(Ordering::Acquire) & FRESH == 0 {
            return None;
        }
        self.own = self.shared.between.swap(self.own, Ordering::AcqRel) & SLOT;
        open(&self.shared.slots[self.own])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_whole_and_in_order_between_threads() {
        let (mut publisher, mut subscriber) = exchange([0_u64; 64]);
        let last = 20_000;
        let writer = std::thread::spawn(move || {
            for k in 1..=last {
                publisher.publish(|value| value.fill(k));
            }
        });
        let mut seen = 0;
        while seen < last {
            if let Some(value) = subscriber.newest() {
                assert!(value.iter().all(|x| *x == value[0]), "torn");
                assert!(value[0] > seen, "{} after {seen}", value[0]);
                seen = value[0];
            } else {
                std::thread::yield_now();
            }
        }
        writer.join().expect("the writer ends");
    }
}
