//! The way from the thread of the physics to that of the network and back, without waiting.
//!
//! One slot holds the latest frame; buffers are swapped, so that a steady exchange allocates nothing. The physics copies
//! its points (a cost linear in their number) and tries the lock once: if the network holds it, for the length of a
//! swap, the frame is left out and the next one goes. Changes of the topology are kept until they are through.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::topology::{Change, Scene};
use crate::{Error, Frame};

/// Changes that wait at most.
const CHANGES: usize = 4096;
/// Commands that wait at most.
const COMMANDS: usize = 256;

#[derive(Debug, Default)]
struct Slot {
    frame: Frame,
    fresh: bool,
    changes: Vec<Change>,
    scene: Option<Scene>,
    commands: VecDeque<(u64, Vec<u8>)>,
}

#[derive(Debug, Default)]
struct Shared {
    slot: Mutex<Slot>,
    wanted: AtomicBool,
}

/// Both ends of a mailbox.
#[must_use]
pub fn mailbox() -> (Publisher, Inbox) {
    let shared = Arc::new(Shared::default());
    let publisher = Publisher { shared: shared.clone(), frame: Frame::default(), changes: Vec::new(), scene: None };
    (publisher, Inbox { shared })
}

/// The end of the physics.
///
/// ```
/// use sinew_stream::mailbox::{Delivery, mailbox};
/// let (mut physics, network) = mailbox();
/// network.want();
/// assert!(physics.is_wanted());
/// physics.frame().tick = 7;
/// assert!(physics.publish());
/// let mut delivery = Delivery::default();
/// network.take(&mut delivery);
/// assert!(delivery.fresh && delivery.frame.tick == 7 && !physics.is_wanted());
/// ```
#[derive(Debug)]
pub struct Publisher {
    shared: Arc<Shared>,
    frame: Frame,
    changes: Vec<Change>,
    scene: Option<Scene>,
}

impl Publisher {
    /// True if the network wants a frame: before that copying one is wasted.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.shared.wanted.load(Ordering::Relaxed)
    }

    /// The frame to fill: it has the contents of an earlier one, so that its memory is used again.
    pub fn frame(&mut self) -> &mut Frame {
        &mut self.frame
    }

    /// Adds a change of the topology that goes out before the frame.
    ///
    /// # Errors
    /// More than 4096 changes that were not taken: give the scene anew with [`Self::replace`].
    pub fn change(&mut self, change: Change) -> Result<(), Error> {
        if self.changes.len() >= CHANGES {
            return Err(Error::new(format!("change: {CHANGES} changes wait: give the whole scene anew")));
        }
        self.changes.push(change);
        Ok(())
    }

    /// Another scene, which has all changes so far.
    pub fn replace(&mut self, scene: Scene) {
        self.changes.clear();
        self.scene = Some(scene);
    }

    /// Hands frame and changes over. False if the network had the slot in this instant: nothing is lost but the frame.
    pub fn publish(&mut self) -> bool {
        let mut slot = match self.shared.slot.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        if let Some(scene) = self.scene.take() {
            slot.scene = Some(scene);
            slot.changes.clear();
        }
        if slot.changes.len() + self.changes.len() > CHANGES {
            return false;
        }
        slot.changes.append(&mut self.changes);
        std::mem::swap(&mut slot.frame, &mut self.frame);
        slot.fresh = true;
        self.shared.wanted.store(false, Ordering::Relaxed);
        true
    }

    /// The next command of a viewer with its number; `None` if there is none, or the network has the slot.
    pub fn command(&mut self) -> Option<(u64, Vec<u8>)> {
        match self.shared.slot.try_lock() {
            Ok(mut slot) => slot.commands.pop_front(),
            Err(_) => None,
        }
    }
}

/// What the network takes out in one go.
///
/// An example is at [`Publisher`].
#[derive(Debug, Default)]
pub struct Delivery {
    /// Another scene: it comes before the changes.
    pub scene: Option<Scene>,
    /// Changes: they come before the frame.
    pub changes: Vec<Change>,
    /// The latest frame.
    pub frame: Frame,
    /// The frame is a new one.
    pub fresh: bool,
}

/// The end of the network.
///
/// An example is at [`Publisher`].
#[derive(Debug)]
pub struct Inbox {
    shared: Arc<Shared>,
}

impl Inbox {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        // a swap cannot panic half way: the contents of a poisoned slot are good
        self.shared.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the physics know that the next frame is wanted.
    pub fn want(&self) {
        self.shared.wanted.store(true, Ordering::Relaxed);
    }

    /// Takes what is there.
    pub fn take(&self, delivery: &mut Delivery) {
        let mut slot = self.slot();
        delivery.changes.clear();
        std::mem::swap(&mut slot.changes, &mut delivery.changes);
        delivery.scene = slot.scene.take();
        delivery.fresh = std::mem::take(&mut slot.fresh);
        if delivery.fresh {
            std::mem::swap(&mut slot.frame, &mut delivery.frame);
        }
    }

    /// Puts a command; false if too many wait.
    pub fn command(&self, viewer: u64, body: Vec<u8>) -> bool {
        let mut slot = self.slot();
        let room = slot.commands.len() < COMMANDS;
        if room {
            slot.commands.push_back((viewer, body));
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_is_not_taken_is_replaced_and_its_changes_stay() {
        let (mut publisher, inbox) = mailbox();
        for tick in 1..=3 {
            publisher.change(Change { tick, ..Change::default() }).unwrap();
            publisher.frame().tick = tick;
            assert!(publisher.publish());
        }
        let mut delivery = Delivery::default();
        inbox.take(&mut delivery);
        assert_eq!((delivery.frame.tick, delivery.changes.len()), (3, 3));
        inbox.take(&mut delivery);
        assert!(!delivery.fresh && delivery.changes.is_empty());
    }

    #[test]
    fn the_physics_does_not_wait_for_the_network() {
        let (mut publisher, inbox) = mailbox();
        let guard = inbox.slot();
        publisher.change(Change::default()).unwrap();
        assert!(!publisher.publish());
        assert_eq!(publisher.command(), None);
        drop(guard);
        assert!(publisher.publish());
        let mut delivery = Delivery::default();
        inbox.take(&mut delivery);
        assert_eq!(delivery.changes.len(), 1, "what did not go out at first");
    }

    #[test]
    fn both_directions_are_bounded() {
        let (mut publisher, inbox) = mailbox();
        let accepted = (0..10_000).filter(|_| publisher.change(Change::default()).is_ok()).count();
        assert_eq!(accepted, CHANGES);
        assert!(publisher.publish());
        publisher.change(Change::default()).unwrap();
        assert!(!publisher.publish(), "the network does not take anything");
        publisher.replace(Scene::default());
        assert!(publisher.publish());
        let mut delivery = Delivery::default();
        inbox.take(&mut delivery);
        assert!(delivery.scene.is_some() && delivery.changes.is_empty());
        assert_eq!((0..1000).filter(|n| inbox.command(*n, vec![])).count(), COMMANDS);
        assert_eq!(publisher.command(), Some((0, vec![])));
    }
}
