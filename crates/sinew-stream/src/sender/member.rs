//! A receiver as its sender sees it.

use std::net::SocketAddr;
use std::time::Duration;

use super::stream::{Clock, Stream};
use crate::Key;
use crate::commands::Incoming;
use crate::control::Report;
use crate::limit::Bucket;
use crate::record::Progress;
use crate::rtcp::Block;
use crate::window::Window;

/// Packets that are taken from a receiver in a second, and at once.
const RATE: (u64, u64) = (400, 100);
/// Part of lost packets above which every second frame is left out, and below which none is [1/256].
const MANY_LOST: u8 = 102;
const FEW_LOST: u8 = 77;

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub ticket: u64,
    pub nonce: u64,
    pub key: Option<Key>,
    /// `None`: it listens to the group.
    pub stream: Option<Stream>,
    pub window: Window,
    pub bucket: Bucket,
    pub heard: Duration,
    pub commands: Incoming,
    last_report: Option<u32>,
    pub applied: Option<u32>,
    pub fetching: bool,
    pub progress: Option<Progress>,
    /// Next piece of a record to send.
    pub cursor: u16,
    block: Block,
    round_trip: Option<Duration>,
}

/// A receiver, for people.
///
/// An example is at [`Sender`](crate::Sender).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewer {
    /// Where it is.
    pub address: SocketAddr,
    /// Number of the viewer, random.
    pub viewer: u64,
    /// Revision that it has completely.
    pub revision: Option<u32>,
    /// Its last report: loss, jitter, highest number.
    pub block: Block,
    /// Time for a packet to it and back, without the time that it waited there.
    pub round_trip: Option<Duration>,
    /// Frames that it did not get because of the rate or its loss.
    pub skipped: u64,
}

impl Member {
    pub fn new(ticket: u64, nonce: u64, key: Option<Key>, stream: Option<Stream>, now: Duration) -> Self {
        Self {
            ticket,
            nonce,
            key,
            stream,
            window: Window::default(),
            bucket: Bucket::new(RATE.0, RATE.1),
            heard: now,
            commands: Incoming::default(),
            last_report: None,
            applied: None,
            fetching: false,
            progress: None,
            cursor: 0,
            block: Block::default(),
            round_trip: None,
        }
    }

    /// Takes a report unless it is older than the last one.
    pub fn report(&mut self, report: &Report) {
        let newer = |last: u32| report.number.wrapping_sub(last) as i32 > 0;
        if self.last_report.is_none_or(newer) {
            self.last_report = Some(report.number);
            (self.applied, self.fetching, self.progress) = (report.applied, report.fetching, report.progress);
        }
    }

    /// Takes a report block about the stream.
    pub fn block(&mut self, block: Block, clock: &Clock, now: Duration) {
        self.block = block;
        if block.last_sr != 0 {
            // RFC 3550, 6.4.1: arrival less last report less delay, in 1/65536 s
            let middle = (clock.ntp(now) >> 16) as u32;
            let units = middle.wrapping_sub(block.last_sr).wrapping_sub(block.delay) as i32;
            self.round_trip = Some(Duration::from_nanos(units.max(0) as u64 * 1_000_000_000 / 65_536));
        }
        if let Some(stream) = &mut self.stream {
            stream.halved = block.fraction_lost > if stream.halved { FEW_LOST } else { MANY_LOST };
        }
    }

    pub fn viewer(&self, address: SocketAddr) -> Viewer {
        Viewer {
            address,
            viewer: self.ticket,
            revision: self.applied,
            block: self.block,
            round_trip: self.round_trip,
            skipped: self.stream.as_ref().map_or(0, |stream| stream.skipped),
        }
    }
}
