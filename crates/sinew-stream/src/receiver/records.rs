//! Scene and topology at a receiver: pieces, events out of order, what is missing.

use std::collections::BTreeMap;
use std::time::Duration;

use super::picture::Picture;
use crate::DecodeError;
use crate::control::Welcome;
use crate::payload::{Header, Kind};
use crate::record::{Assembly, Progress, read_events};
use crate::secret::Keys;
use crate::topology::{Change, Limits, Scene};

/// First bytes of a request for the scene.
pub(crate) const REQUEST: &[u8; 4] = b"SNRQ";
/// Events that are kept before an earlier one arrives.
const EARLY: u32 = 256;
/// Changes that may lack before the whole scene is fetched.
const BEHIND: u32 = 64;
/// Time between attempts over TCP.
const AGAIN: Duration = Duration::from_secs(5);

/// A request for the whole scene over TCP.
///
/// ```
/// use sinew_stream::receiver::SceneRequest;
/// let request = SceneRequest { port: 5005, bytes: b"SNRQ".to_vec() };
/// assert_eq!(request.port, 5005);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneRequest {
    /// Port at the sender.
    pub port: u16,
    /// What to send; the answer is a length u32 and as many bytes.
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    pub session: Option<u64>,
    pub newest: Option<u32>,
    pub fetching: bool,
    ticket: u64,
    next_fetch: Duration,
    /// Events ahead of the next one.
    early: BTreeMap<u32, Vec<u8>>,
    scene: Option<Assembly>,
    event: Option<Assembly>,
    /// What the last report said, and when the next is due while something is missing.
    reported: Option<Option<u32>>,
    next: Duration,
}

impl Records {
    pub fn new(session: u64) -> Self {
        Self { session: Some(session), ..Self::default() }
    }

    /// Notes the revision of a packet.
    pub fn seen(&mut self, revision: u32) {
        self.newest = Some(self.newest.map_or(revision, |newest| newest.max(revision)));
    }

    /// True if a report is due before its second: another revision, or something that is still missing.
    pub fn has_news(&self, applied: Option<u32>, now: Duration) -> bool {
        self.reported != Some(applied) || (now >= self.next && self.newest > applied)
    }

    pub fn reported(&mut self, applied: Option<u32>, next: Duration) {
        self.reported = Some(applied);
        self.next = next;
    }

    pub fn progress(&self) -> Option<Progress> {
        self.scene.as_ref().or(self.event.as_ref()).map(Assembly::progress)
    }

    /// Takes a packet of records and applies what is complete; returns the number of changes that did not fit.
    pub fn take(
        &mut self,
        header: &Header,
        contents: &[u8],
        picture: &mut Picture,
        limits: &Limits,
    ) -> Result<u64, DecodeError> {
        let applied = picture.revision();
        match header.kind {
            Kind::Events => read_events(header, contents, |revision, event| {
                self.seen(revision);
                let ahead = applied.map_or(u32::MAX, |applied| revision.wrapping_sub(applied));
                if (1..=EARLY).contains(&ahead) {
                    self.early.entry(revision).or_insert_with(|| event.to_vec());
                }
            })?,
            Kind::EventPiece => {
                self.seen(header.revision);
                if applied.is_some_and(|applied| header.revision == applied.wrapping_add(1)) {
                    put(&mut self.event, header, contents, limits.change_bytes)?;
                }
                if let Some(event) = self.event.as_ref().filter(|event| event.whole().is_some()) {
                    let bytes = event.whole().unwrap_or_default().to_vec();
                    self.early.insert(event.revision(), bytes);
                    self.event = None;
                }
            }
            _ => {
                self.seen(header.revision);
                if applied.is_none_or(|applied| header.revision > applied) {
                    put(&mut self.scene, header, contents, limits.scene_bytes)?;
                }
                if let Some(whole) = self.scene.as_ref().and_then(Assembly::whole) {
                    let scene = Scene::read(whole, limits);
                    self.scene = None;
                    return Ok(u64::from(!self.install(scene, picture, limits)));
                }
            }
        }
        Ok(self.advance(picture, limits))
    }

    fn install(&mut self, scene: Result<Scene, DecodeError>, picture: &mut Picture, limits: &Limits) -> bool {
        let Ok(scene) = scene else { return false };
        if picture.revision().is_some_and(|applied| scene.revision <= applied) {
            return false;
        }
        self.seen(scene.revision);
        self.event = None;
        self.scene = None;
        picture.replace(scene);
        self.advance(picture, limits);
        true
    }

    /// Applies the events that follow the picture's revision.
    fn advance(&mut self, picture: &mut Picture, limits: &Limits) -> u64 {
        let mut bad = 0;
        while let Some(next) = picture.revision().map(|revision| revision.wrapping_add(1)) {
            let Some(bytes) = self.early.remove(&next) else { break };
            if Change::read(&bytes).and_then(|change| picture.change(&change, limits)).is_err() {
                // the sender's topology is another one: only the whole scene helps
                bad += 1;
                picture.forget_scene();
                self.early.clear();
            }
        }
        if let Some(applied) = picture.revision() {
            self.early.retain(|&revision, _| revision > applied);
            self.event = self.event.take().filter(|event| event.revision() == applied.wrapping_add(1));
            self.scene = self.scene.take().filter(|scene| scene.revision() > applied);
        }
        bad
    }

    pub fn request(
        &mut self,
        welcome: &Welcome,
        keys: Option<&Keys>,
        applied: Option<u32>,
        now: Duration,
    ) -> Option<SceneRequest> {
        let far =
            applied.is_none_or(|applied| self.newest.is_some_and(|newest| newest > applied.saturating_add(BEHIND)));
        if !far || self.fetching || now < self.next_fetch || welcome.scene_port == 0 {
            return None;
        }
        self.fetching = true;
        self.ticket = welcome.ticket;
        let mut bytes = REQUEST.to_vec();
        bytes.extend(welcome.ticket.to_be_bytes());
        if let Some(keys) = keys {
            keys.scene(welcome.session, welcome.ticket).seal(&mut bytes, 0, 0);
        }
        Some(SceneRequest { port: welcome.scene_port, bytes })
    }

    /// True if the answer was a scene that is newer than the present one.
    pub fn response(
        &mut self,
        now: Duration,
        answer: Option<&[u8]>,
        keys: Option<&Keys>,
        picture: &mut Picture,
        limits: &Limits,
    ) -> bool {
        self.fetching = false;
        self.next_fetch = now + AGAIN;
        let body = match (answer, keys, self.session) {
            (Some(answer), Some(keys), Some(session)) => {
                let opened = keys.scene(session, self.ticket).open(answer);
                opened.filter(|(_, counter)| *counter == 1).map(|(body, _)| body)
            }
            (answer, _, _) => answer,
        };
        body.is_some_and(|body| self.install(Scene::read(body, limits), picture, limits))
    }
}

/// Puts a piece into the assembly of its record; a newer record takes the place of an older one.
fn put(place: &mut Option<Assembly>, header: &Header, contents: &[u8], limit: usize) -> Result<(), DecodeError> {
    if place.as_ref().is_none_or(|assembly| assembly.revision() < header.revision) {
        *place = Some(Assembly::new(header, limit)?);
    }
    place.as_mut().map_or(Ok(()), |assembly| assembly.put(header, contents))
}
