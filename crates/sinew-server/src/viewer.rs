//! A viewer as the world knows it: a number, whether it is still there, and how many of its orders wait.

use crate::limits::WAITING;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A viewer. Copies share what they know.
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
    /// A viewer that has come.
    pub fn new(number: u32) -> Self {
        Self { number, shared: Arc::default() }
    }

    /// True until it leaves.
    pub fn is_here(&self) -> bool {
        !self.shared.gone.load(Ordering::Relaxed)
    }

    /// It leaves. The world sees it before the next step; no message is needed that could find a full queue.
    pub fn leave(&self) {
        self.shared.gone.store(true, Ordering::Relaxed);
    }

    /// Takes a place in the queue of the world; false when this viewer has no more.
    pub fn queue(&self) -> bool {
        let more = |n| (n < WAITING).then_some(n + 1);
        self.shared.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Gives a place in the queue back.
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
    fn a_viewer_has_its_own_share_of_the_queue() {
        let viewer = Viewer::new(3);
        let copy = viewer.clone();
        assert!((0..WAITING).all(|_| copy.queue()) && !viewer.queue());
        viewer.dequeue();
        assert!(copy.queue());
        copy.leave();
        assert!(!viewer.is_here());
    }
}
