//! One RTP stream: what is counted by target.

use std::net::SocketAddr;
use std::time::Duration;

use crate::limit::Bucket;
use crate::rtcp::{SenderInfo, write_description, write_sender_report};
use crate::rtp::{Header, PAYLOAD_TYPE, ticks};
use crate::{Key, Outbox};

/// Bytes of IPv4 and UDP headers, for rates.
const BELOW: u64 = 28;
/// Seconds from 1900 to 1970.
const NTP_TO_UNIX: u64 = 2_208_988_800;
const REPORTS: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub target: SocketAddr,
    pub ssrc: u32,
    sequence: u16,
    /// Counter of sealed packets.
    counter: u64,
    packets: u32,
    octets: u32,
    bucket: Bucket,
    next_report: Duration,
    /// Frames that the limit of the rate or the loss left out.
    pub skipped: u64,
    /// Every second frame is left out.
    pub halved: bool,
}

/// What all streams of a sender share.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// RTP time stamp of time zero.
    pub offset: u32,
    /// Time since 1970 at time zero.
    pub unix: Duration,
}

impl Clock {
    pub fn timestamp(&self, now: Duration) -> u32 {
        self.offset.wrapping_add(ticks(now) as u32)
    }

    pub fn ntp(&self, now: Duration) -> u64 {
        let wall = self.unix + now;
        ((wall.as_secs() + NTP_TO_UNIX) << 32) | ((u64::from(wall.subsec_nanos()) << 32) / 1_000_000_000)
    }
}

impl Stream {
    /// A stream with random numbers to start from, and a limit of its rate [bit/s].
    pub fn new(target: SocketAddr, random: u64, bit_rate: u64, now: Duration) -> Self {
        // a quarter of a second at once: a frame is sent in one go
        let bytes = bit_rate / 8;
        Self {
            target,
            ssrc: random as u32,
            sequence: (random >> 32) as u16,
            counter: 0,
            packets: 0,
            octets: 0,
            bucket: Bucket::new(bytes, (bytes / 4).max(4096)),
            next_report: now,
            skipped: 0,
            halved: false,
        }
    }

    /// True if a number of payloads of this size in sum may be sent now; they are counted then.
    pub fn may_send(&mut self, payloads: usize, bytes: usize, key: Option<&Key>, now: Duration) -> bool {
        let each = BELOW + Header::SIZE as u64 + key.map_or(0, |_| crate::key::TRAILER as u64);
        self.bucket.take(bytes as u64 + each * payloads as u64, now)
    }

    /// Appends an RTP packet.
    pub fn rtp(&mut self, payload: &[u8], marker: bool, timestamp: u32, key: Option<&Key>, out: &mut Outbox) {
        let header = Header { marker, payload_type: PAYLOAD_TYPE, sequence: self.sequence, timestamp, ssrc: self.ssrc };
        self.sequence = self.sequence.wrapping_add(1);
        self.packets = self.packets.wrapping_add(1);
        self.octets = self.octets.wrapping_add(payload.len() as u32);
        self.sealed(key, out, |bytes| {
            header.write(bytes);
            bytes.extend(payload);
        });
    }

    /// Appends a sender report if it is time.
    pub fn report(&mut self, clock: &Clock, now: Duration, key: Option<&Key>, out: &mut Outbox) {
        if now < self.next_report {
            return;
        }
        self.next_report = now + REPORTS;
        let info = SenderInfo {
            ntp: clock.ntp(now),
            timestamp: clock.timestamp(now),
            packets: self.packets,
            octets: self.octets,
        };
        let ssrc = self.ssrc;
        self.sealed(key, out, |bytes| {
            write_sender_report(bytes, ssrc, &info);
            write_description(bytes, ssrc, "sinew");
        });
    }

    /// Appends a datagram with the trailer of the key.
    pub fn sealed(&mut self, key: Option<&Key>, out: &mut Outbox, fill: impl FnOnce(&mut Vec<u8>)) {
        let counter = self.counter;
        self.counter += 1;
        out.push(self.target, |bytes| {
            let start = bytes.len();
            fill(bytes);
            if let Some(key) = key {
                key.seal(bytes, start, counter);
            }
        });
    }
}
