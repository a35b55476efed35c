//! The scene, its last changes, and what a receiver lacks of them.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Error;
use crate::payload::Kind;
use crate::record::{self, Progress};
use crate::topology::{Change, Limits, Scene};

/// Changes that are kept.
const KEPT: usize = 256;
/// Bytes of changes that are kept.
const KEPT_BYTES: usize = 8 << 20;
/// Changes that a receiver may lack before it gets the whole scene.
const BEHIND: u32 = 64;
/// Changes after which an encoded scene is too old. A transfer in pieces takes a while, and begins anew with a new one.
const STALE: u32 = 192;
/// The same where the scene is sent in one go.
pub(super) const STALE_AT_ONCE: u32 = 32;

#[derive(Clone, Debug)]
pub(super) struct Ledger {
    limits: Limits,
    scene: Scene,
    /// Encoded changes up to the present revision.
    log: VecDeque<Vec<u8>>,
    bytes: usize,
    snapshot: Option<(u32, Arc<[u8]>)>,
}

/// What a receiver lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    Nothing,
    /// Changes from this revision on.
    Events(u32),
    /// A large change.
    Event(u32),
    Scene,
}

impl Ledger {
    pub fn new(scene: Scene, limits: Limits) -> Result<Self, Error> {
        scene.check(&limits)?;
        let ledger = Self { limits, scene, log: VecDeque::new(), bytes: 0, snapshot: None };
        let size = ledger.scene.write().len();
        if size > limits.scene_bytes || record::pieces(size).is_none() {
            let most = limits.scene_bytes.min(record::PIECE * usize::from(u16::MAX));
            return Err(Error::new(format!("scene: {size} bytes, at most {most}: shorten its description")));
        }
        Ok(ledger)
    }

    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    pub fn replace(&mut self, mut scene: Scene) -> Result<(), Error> {
        scene.revision = self.scene.revision.wrapping_add(1);
        *self = Self::new(scene, self.limits)?;
        Ok(())
    }

    pub fn change(&mut self, change: &Change) -> Result<u32, Error> {
        let bytes = change.write();
        if bytes.len() > self.limits.change_bytes {
            let most = self.limits.change_bytes;
            return Err(Error::new(format!(
                "change of body {}: {} bytes, at most {most}: split it, or raise `change_bytes` of both sides",
                change.body,
                bytes.len()
            )));
        }
        let applied = self.scene.apply(change, &self.limits);
        applied.map_err(|error| Error::new(format!("change of body {}: {error}", change.body)))?;
        self.bytes += bytes.len();
        self.log.push_back(bytes);
        while self.log.len() > KEPT || self.bytes > KEPT_BYTES {
            self.bytes -= self.log.pop_front().map_or(0, |event| event.len());
        }
        Ok(self.scene.revision)
    }

    /// Encoded change that leads to a revision.
    fn event(&self, revision: u32) -> Option<&[u8]> {
        let back = self.scene.revision.wrapping_sub(revision) as usize;
        Some(self.log.get(self.log.len().checked_sub(back + 1)?)?)
    }

    pub fn lack(&self, applied: Option<u32>) -> Lack {
        let Some(applied) = applied else { return Lack::Scene };
        let behind = self.scene.revision.wrapping_sub(applied);
        if behind == 0 {
            return Lack::Nothing;
        }
        // a receiver that just got the snapshot goes on from there, however old that is
        let from_snapshot = self.snapshot.as_ref().is_some_and(|(revision, _)| *revision <= applied);
        match self.event(applied.wrapping_add(1)) {
            Some(event) if behind <= BEHIND || from_snapshot => {
                if record::is_large(event) {
                    Lack::Event(applied + 1)
                } else {
                    Lack::Events(applied + 1)
                }
            }
            _ => Lack::Scene,
        }
    }

    /// The encoded scene, which may be some changes old; what is missing follows as events.
    pub fn snapshot(&mut self, stale: u32) -> (u32, Arc<[u8]>) {
        let now = self.scene.revision;
        if let Some((revision, bytes)) = &self.snapshot {
            let behind = now.wrapping_sub(*revision);
            if behind <= stale && behind as usize <= self.log.len() {
                return (*revision, bytes.clone());
            }
        }
        let bytes: Arc<[u8]> = self.scene.write().into();
        self.snapshot = Some((now, bytes.clone()));
        (now, bytes)
    }

    /// Appends at most `most` payloads of what is lacking and calls `end` after each. `cursor` is the next piece.
    pub fn write(
        &mut self,
        lack: Lack,
        sent: (Option<Progress>, &mut u16),
        most: usize,
        mut end: impl FnMut(&mut Vec<u8>),
    ) {
        let mut out = Vec::new();
        match lack {
            Lack::Nothing => {}
            Lack::Events(mut first) => {
                for _ in 0..most {
                    let events = (first..=self.scene.revision).map_while(|revision| self.event(revision));
                    let count = record::write_events(first, events, &mut out);
                    if count == 0 {
                        break;
                    }
                    end(&mut out);
                    first += u32::from(count);
                }
            }
            Lack::Event(revision) => {
                let Some(event) = self.event(revision) else { return };
                write_pieces((Kind::EventPiece, revision, event), sent, most, &mut end);
            }
            Lack::Scene => {
                let (revision, bytes) = self.snapshot(STALE);
                write_pieces((Kind::ScenePiece, revision, &bytes), sent, most, &mut end);
            }
        }
    }
}

/// Pieces that have not arrived, in turn.
fn write_pieces(
    (kind, revision, bytes): (Kind, u32, &[u8]),
    (progress, cursor): (Option<Progress>, &mut u16),
    most: usize,
    end: &mut impl FnMut(&mut Vec<u8>),
) {
    let count = record::pieces(bytes.len()).unwrap_or(u16::MAX);
    let progress = progress.filter(|progress| (progress.kind, progress.revision) == (kind, revision));
    let (base, window) = (progress.map_or(0, |progress| progress.base), record::MAP as u16);
    let last = count.min(base.saturating_add(window));
    let mut out = Vec::new();
    let mut left = most;
    for _ in base..last {
        if *cursor < base || *cursor >= last {
            *cursor = base;
        }
        let number = *cursor;
        *cursor += 1;
        if progress.is_some_and(|progress| progress.has(number)) {
            continue;
        }
        record::write_piece(kind, revision, bytes, number, &mut out);
        end(&mut out);
        left -= 1;
        if left == 0 {
            return;
        }
    }
}
