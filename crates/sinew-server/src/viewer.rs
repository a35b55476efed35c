//! A viewer from the point of view of the simulation thread: a number, whether it is connected, and the number of its
//! queued commands.

use crate::limits::WAITING;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A viewer. Copies share their state.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// Its number.
    pub number: u32,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    gone: AtomicBool,
    waiting: AtomicU32,
}

impl Viewer {
    /// A viewer that has just connected.
    pub fn new(number: u32) -> Self {
        Self { number, shared: Arc::default() }
    }

    /// True while it is connected.
    pub fn is_here(&self) -> bool {
        !self.shared.gone.load(Ordering::Relaxed)
    }

    /// Marks it as disconnected. The flag is read before the next step; no message is needed that could find a full
    /// queue.
    pub fn leave(&self) {
        self.shared.gone.store(true, Ordering::Relaxed);
    }

    /// Reserves an entry of the command queue; false when the quota of this viewer is used up.
    pub fn queue(&self) -> bool {
        let more = |n| (n < WAITING).then_some(n + 1);
        self.shared.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Releases an entry of the command queue.
    pub fn dequeue(&self) {
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl From<u32> for Viewer {
    fn from(number: u32) -> Self {
        Self::new(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_viewer_has_its_own_quota_of_the_queue() {
        let viewer = Viewer::new(3);
        let copy = viewer.clone();
        assert!((0..WAITING).all(|_| copy.queue()) && !viewer.queue());
        viewer.dequeue();
        assert!(copy.queue());
        copy.leave();
        assert!(!viewer.is_here());
    }
}
