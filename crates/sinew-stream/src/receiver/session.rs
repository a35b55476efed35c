//! A session of a receiver: keys, counters and statistics of one welcome.

use std::time::Duration;

use crate::control::Welcome;
use crate::reception::Reception;
use crate::rtp;
use crate::secret::Keys;
use crate::window::{Seen, Window};
use crate::{Key, Outbox};

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub welcome: Welcome,
    down: Option<Key>,
    up: Option<Key>,
    counter: u64,
    window: Window,
    pub reception: Option<Reception>,
    pub report_number: u32,
}

/// Reason for which a packet is dropped.
pub(super) enum Drop {
    /// There is no session yet.
    Early,
    Forged,
    Duplicate,
    Malformed,
    Implausible,
}

impl Session {
    pub fn new(welcome: Welcome, keys: Option<&Keys>) -> Self {
        Self {
            welcome,
            down: keys.map(|keys| keys.down(welcome.session)),
            up: keys.map(|keys| keys.up(welcome.session, welcome.ticket)),
            counter: 0,
            window: Window::default(),
            reception: None,
            report_number: 0,
        }
    }

    /// The packet without its trailer, if it is signed and new.
    pub fn open<'a>(&mut self, packet: &'a [u8]) -> Result<&'a [u8], Drop> {
        let Some(key) = &self.down else { return Ok(packet) };
        let (body, counter) = key.open(packet).ok_or(Drop::Forged)?;
        match self.window.insert(counter) {
            Seen::New => Ok(body),
            Seen::Before | Seen::TooOld => Err(Drop::Duplicate),
        }
    }

    /// Header and payload of an RTP packet of this session that has not been there before.
    pub fn rtp<'a>(&mut self, packet: &'a [u8], now: Duration) -> Result<(rtp::Header, &'a [u8]), Drop> {
        let body = self.open(packet)?;
        let (header, payload) = rtp::Header::read(body).map_err(|_| Drop::Malformed)?;
        if header.ssrc != self.welcome.ssrc {
            return Err(Drop::Forged);
        }
        if header.payload_type != rtp::PAYLOAD_TYPE {
            return Err(Drop::Malformed);
        }
        let reception = self.reception.get_or_insert_with(|| Reception::new(header.sequence));
        let number = reception.packet(header.sequence, header.timestamp, now).ok_or(Drop::Implausible)?;
        // with a key the window is over the counters of sealed packets
        if self.down.is_none() && self.window.insert(number) != Seen::New {
            return Err(Drop::Duplicate);
        }
        Ok((header, payload))
    }

    /// Appends a packet to the sender.
    pub fn send(&mut self, to: std::net::SocketAddr, out: &mut Outbox, fill: impl FnOnce(&mut Vec<u8>)) {
        let counter = self.counter;
        self.counter += 1;
        out.push(to, |bytes| {
            let start = bytes.len();
            fill(bytes);
            if let Some(key) = &self.up {
                key.seal(bytes, start, counter);
            }
        });
    }
}
