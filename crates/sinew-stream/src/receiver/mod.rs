//! The receiver as a state machine: packets and times go in, a picture and datagrams come out.

mod clock;
mod picture;
mod records;
mod session;

use std::net::SocketAddr;
use std::time::Duration;

use crate::commands::Outgoing;
use crate::control::{Cookie, Message, NAME, Report, Welcome};
use crate::payload::{self, Kind};
use crate::rtcp::{self, Packet, write_description, write_receiver_report};
use crate::rtp;
use crate::secret::{HANDSHAKE, Keys, Secret};
use crate::state;
use crate::topology::Limits;
use crate::{DecodeError, Error, Key, Outbox};
use clock::SenderClock;
use picture::Placed;
pub use picture::{Body, NEVER, Picture};
pub(crate) use records::REQUEST;
use records::Records;
pub use records::SceneRequest;
use session::{Drop, Session};

/// Time without a packet after which the receiver says hello again.
const SILENT: Duration = Duration::from_secs(2);
/// Time between hellos.
const HELLO: Duration = Duration::from_millis(100);
/// Time between reports with statistics.
const REPORT: Duration = Duration::from_secs(1);
/// Time between reports while something is missing, and between news.
const MISSING: Duration = Duration::from_millis(50);
const NEWS: Duration = Duration::from_millis(20);

/// Settings of a receiver.
///
/// An example is at [`Sender`](crate::Sender).
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// Address of the sender, or of a relay before it.
    pub sender: SocketAddr,
    /// Shared key.
    pub key: Option<Key>,
    /// 32 random bytes, new for every run.
    pub seed: [u8; 32],
    /// What is accepted from the sender.
    pub limits: Limits,
    /// The stream comes by a multicast group that the caller has joined.
    pub group: bool,
    /// Whole scenes can be fetched over TCP: the caller answers [`Receiver::scene_request`].
    pub fetch: bool,
}

impl ReceiverConfig {
    /// Settings with the sender's address and a seed: no key, no group, no TCP.
    #[must_use]
    pub fn new(sender: SocketAddr, seed: [u8; 32]) -> Self {
        Self { sender, key: None, seed, limits: Limits::default(), group: false, fetch: false }
    }
}

/// Counters of a receiver.
///
/// An example is at [`Sender`](crate::Sender).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Packets received.
    pub received: u64,
    /// Bytes received, without headers of UDP and IP.
    pub bytes: u64,
    /// Packets before the sender's welcome.
    pub early: u64,
    /// Packets that could not be decoded.
    pub malformed: u64,
    /// Packets of another address, source or session, or with a wrong hash.
    pub forged: u64,
    /// Packets that were there before, or are too old to know.
    pub duplicates: u64,
    /// Packets whose sequence number or time stamp is far from the last ones.
    pub implausible: u64,
    /// Packets of points that came after later ones of the same points.
    pub late: u64,
    /// Packets of points of a body that is not known yet.
    pub unknown: u64,
    /// Changes and scenes that were not consistent.
    pub bad_changes: u64,
    /// Commands that were dropped because the sender began anew.
    pub lost_commands: u64,
}

/// Ages of all points beyond the least delay of the network.
///
/// An example is at [`Receiver`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ages {
    /// Mean.
    pub mean: Duration,
    /// 99 of 100 points are not older.
    pub p99: Duration,
    /// Oldest point.
    pub worst: Duration,
    /// Points that never arrived.
    pub missing: usize,
}

/// Receives a stream. An example is at [`Sender`](crate::Sender).
///
/// ```
/// use sinew_stream::{Receiver, ReceiverConfig};
/// let receiver = Receiver::new(ReceiverConfig::new("127.0.0.1:5004".parse().unwrap(), [3; 32]));
/// assert!(!receiver.is_joined() && receiver.picture().scene().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    keys: Option<Keys>,
    secret: Secret,
    ssrc: u32,
    nonce: u64,
    cookie: Cookie,
    next_hello: Duration,
    session: Option<Session>,
    heard: Duration,
    clock: SenderClock,
    picture: Picture,
    records: Records,
    commands: Outgoing,
    next_report: Duration,
    next_news: Duration,
    stats: ReceiverStats,
}

impl Receiver {
    /// A receiver that has not joined yet; [`Self::poll`] says hello.
    #[must_use]
    pub fn new(config: ReceiverConfig) -> Self {
        let mut secret = Secret::new(&config.seed);
        Self {
            keys: config.key.as_ref().map(Keys::new),
            ssrc: secret.number() as u32,
            nonce: secret.number(),
            cookie: [0; 16],
            next_hello: Duration::ZERO,
            session: None,
            heard: Duration::ZERO,
            clock: SenderClock::default(),
            picture: Picture::default(),
            records: Records::default(),
            commands: Outgoing::default(),
            next_report: Duration::ZERO,
            next_news: Duration::ZERO,
            stats: ReceiverStats::default(),
            secret,
            config,
        }
    }

    /// Takes a packet. What is not valid is dropped and counted.
    pub fn receive(&mut self, now: Duration, from: SocketAddr, packet: &[u8]) {
        self.stats.received += 1;
        self.stats.bytes += packet.len() as u64;
        let taken = if from != self.config.sender {
            Err(Drop::Forged)
        } else if rtp::is_rtcp(packet) {
            self.control(now, packet)
        } else {
            self.media(now, packet)
        };
        match taken {
            Ok(()) => {}
            Err(Drop::Early) => self.stats.early += 1,
            Err(Drop::Forged) => self.stats.forged += 1,
            Err(Drop::Duplicate) => self.stats.duplicates += 1,
            Err(Drop::Malformed) => self.stats.malformed += 1,
            Err(Drop::Implausible) => self.stats.implausible += 1,
        }
    }

    fn media(&mut self, now: Duration, packet: &[u8]) -> Result<(), Drop> {
        let session = self.session.as_mut().ok_or(Drop::Early)?;
        let (header, body) = session.rtp(packet, now)?;
        let stamp = self.clock.stamp(header.timestamp, now).ok_or(Drop::Implausible)?;
        let malformed = |_: DecodeError| Drop::Malformed;
        let (payload, contents) = payload::Header::read(body).map_err(malformed)?;
        match payload.kind {
            Kind::Quantised | Kind::Float => {
                match self.picture.place(&payload, contents, stamp).map_err(malformed)? {
                    Placed::Fresh => {}
                    Placed::Late => self.stats.late += 1,
                    Placed::Unknown => self.stats.unknown += 1,
                }
                self.records.seen(payload.revision);
            }
            Kind::State => {
                let state = state::read(contents).map_err(malformed)?;
                self.picture.state(&payload, state, stamp, &self.config.limits);
                self.records.seen(payload.revision);
            }
            Kind::Events | Kind::EventPiece | Kind::ScenePiece => {
                let limits = &self.config.limits;
                let bad = self.records.take(&payload, contents, &mut self.picture, limits).map_err(malformed)?;
                self.stats.bad_changes += bad;
            }
        }
        self.heard = now;
        Ok(())
    }

    fn control(&mut self, now: Duration, packet: &[u8]) -> Result<(), Drop> {
        let handshake = match &self.keys {
            None => true,
            Some(_) => crate::key::peek_counter(packet) == Some(HANDSHAKE),
        };
        let body = match (&self.keys, &mut self.session) {
            (None, _) => packet,
            (Some(keys), _) if handshake => keys.handshake.open(packet).ok_or(Drop::Forged)?.0,
            (Some(_), Some(session)) => session.open(packet)?,
            (Some(_), None) => return Err(Drop::Early),
        };
        for packet in rtcp::read(body).map_err(|_| Drop::Malformed)? {
            let ours = |ssrc: u32| self.session.as_ref().is_some_and(|session| session.welcome.ssrc == ssrc);
            match packet {
                Packet::SenderReport { ssrc, info, .. } if ours(ssrc) => {
                    let reception = self.session.as_mut().and_then(|session| session.reception.as_mut());
                    if let Some(reception) = reception {
                        reception.sender_report((info.ntp >> 16) as u32, now);
                    }
                    self.heard = now;
                }
                Packet::Goodbye { ssrc } if ours(ssrc) => {
                    self.session = None;
                    self.next_hello = now + SILENT;
                }
                Packet::SenderReport { .. } | Packet::Goodbye { .. } => {
                    return Err(if self.session.is_some() { Drop::Forged } else { Drop::Early });
                }
                Packet::Application { subtype, name: NAME, data, .. } => {
                    let message = Message::read(subtype, data).map_err(|_| Drop::Malformed)?;
                    self.message(now, &message, handshake)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn message(&mut self, now: Duration, message: &Message<'_>, handshake: bool) -> Result<(), Drop> {
        match message {
            Message::Challenge { nonce, cookie } if handshake && *nonce == self.nonce => {
                // the answer goes out with the next poll
                if self.cookie != *cookie {
                    self.cookie = *cookie;
                    self.next_hello = now;
                }
            }
            Message::Welcome(welcome) if handshake && welcome.nonce == self.nonce => self.welcome(now, *welcome),
            Message::CommandAck { ticket, next } => {
                let ours = self.session.as_ref().is_some_and(|session| session.welcome.ticket == *ticket);
                if !ours {
                    return Err(Drop::Forged);
                }
                self.commands.acknowledge(*next);
            }
            _ => return Err(Drop::Forged),
        }
        Ok(())
    }

    fn welcome(&mut self, now: Duration, welcome: Welcome) {
        let old = self.session.as_ref().map(|session| (session.welcome.session, session.welcome.ticket));
        if old == Some((welcome.session, welcome.ticket)) {
            return;
        }
        if self.records.session != Some(welcome.session) {
            self.clock = SenderClock::default();
            self.picture.forget_scene();
            self.records = Records::new(welcome.session);
        }
        // numbers of commands belong to a ticket
        self.stats.lost_commands += self.commands.restart() as u64;
        self.records.seen(welcome.revision);
        self.clock.release();
        self.session = Some(Session::new(welcome, self.keys.as_ref()));
        self.heard = now;
        self.next_report = now;
    }

    /// Sends what is due: hellos, reports, commands. Call it after packets and every few milliseconds.
    pub fn poll(&mut self, now: Duration, out: &mut Outbox) {
        // what was begun with a new nonce is ended, whatever is heard meanwhile: the sender may have changed the stream
        let joining = self.session.as_ref().is_none_or(|session| session.welcome.nonce != self.nonce);
        let silent = joining || now.saturating_sub(self.heard) > SILENT;
        if silent && now >= self.next_hello {
            self.hello(now, out);
        }
        self.report(now, out);
        let Some(session) = &mut self.session else { return };
        let (to, ssrc, ticket) = (self.config.sender, self.ssrc, session.welcome.ticket);
        self.commands.poll(now, |number, body| {
            session.send(to, out, |bytes| Message::Command { ticket, number, body }.write(ssrc, bytes));
        });
    }

    fn hello(&mut self, now: Duration, out: &mut Outbox) {
        if self.session.as_ref().is_some_and(|session| session.welcome.nonce == self.nonce) {
            // the sender is silent: another nonce asks for another ticket
            self.nonce = self.secret.number();
            self.cookie = [0; 16];
        }
        self.next_hello = now + HELLO;
        let message = Message::Hello { group: self.config.group, nonce: self.nonce, cookie: self.cookie };
        out.push(self.config.sender, |bytes| {
            let start = bytes.len();
            message.write(self.ssrc, bytes);
            if let Some(keys) = &self.keys {
                keys.handshake.seal(bytes, start, HANDSHAKE);
            }
        });
    }

    fn report(&mut self, now: Duration, out: &mut Outbox) {
        let applied = self.picture.revision();
        let Some(session) = &mut self.session else { return };
        let full = now >= self.next_report;
        if !full && (now < self.next_news || !self.records.has_news(applied, now)) {
            return;
        }
        self.next_news = now + NEWS;
        let mut block = None;
        if full {
            self.next_report = now + REPORT;
            block = session.reception.as_mut().map(|reception| reception.report(session.welcome.ssrc, now));
        }
        let report = Report {
            ticket: session.welcome.ticket,
            number: session.report_number,
            applied,
            fetching: self.records.fetching,
            progress: self.records.progress(),
        };
        session.report_number = session.report_number.wrapping_add(1);
        self.records.reported(applied, now + MISSING);
        let ssrc = self.ssrc;
        session.send(self.config.sender, out, |bytes| {
            write_receiver_report(bytes, ssrc, block.as_ref());
            if full {
                write_description(bytes, ssrc, "sinew");
            }
            Message::Report(report).write_alone(ssrc, bytes);
        });
    }

    /// Queues a command for the sender and returns its number.
    ///
    /// # Errors
    /// A command above 900 bytes, or 64 commands that wait already.
    pub fn command(&mut self, body: &[u8]) -> Result<u32, Error> {
        self.commands.push(body)
    }

    /// Commands that the sender has not acknowledged.
    #[must_use]
    pub fn commands_waiting(&self) -> usize {
        self.commands.waiting()
    }

    /// Tells the sender that this receiver leaves.
    pub fn leave(&mut self, out: &mut Outbox) {
        if let Some(mut session) = self.session.take() {
            let (ssrc, ticket) = (self.ssrc, session.welcome.ticket);
            session.send(self.config.sender, out, |bytes| Message::Leave { ticket }.write(ssrc, bytes));
        }
    }

    /// A request for the whole scene, once, if the caller serves them and one is needed. The caller opens the
    /// connection, sends the bytes, and gives the answer to [`Self::scene_response`].
    pub fn scene_request(&mut self, now: Duration) -> Option<SceneRequest> {
        let session = self.session.as_ref().filter(|_| self.config.fetch)?;
        self.records.request(&session.welcome, self.keys.as_ref(), self.picture.revision(), now)
    }

    /// The answer to a request without its length; `None` if there was none: the scene then comes in datagrams.
    pub fn scene_response(&mut self, now: Duration, answer: Option<&[u8]>) {
        let keys = self.keys.as_ref();
        let limits = &self.config.limits;
        if !self.records.response(now, answer, keys, &mut self.picture, limits) {
            self.stats.bad_changes += u64::from(answer.is_some());
        }
    }

    /// What has arrived.
    #[must_use]
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// True between the sender's welcome and its goodbye, or a newer session.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.session.is_some()
    }

    /// Topology revision of the newest packet; the picture has it once its scene has the same.
    #[must_use]
    pub fn newest_revision(&self) -> Option<u32> {
        self.records.newest
    }

    /// Interarrival jitter.
    #[must_use]
    pub fn jitter(&self) -> Duration {
        let reception = self.session.as_ref().and_then(|session| session.reception.as_ref());
        reception.map_or(Duration::ZERO, |reception| reception.jitter())
    }

    /// Packets that were expected and packets that were received, duplicates included, since the welcome.
    #[must_use]
    pub fn packets(&self) -> (u64, u64) {
        let reception = self.session.as_ref().and_then(|session| session.reception.as_ref());
        reception.map_or((0, 0), |reception| (reception.expected(), reception.received()))
    }

    /// Ages of all points.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use sinew_stream::{Receiver, ReceiverConfig};
    /// let receiver = Receiver::new(ReceiverConfig::new("127.0.0.1:5004".parse().unwrap(), [3; 32]));
    /// assert_eq!(receiver.ages(Duration::from_secs(1)).missing, 0);
    /// ```
    #[must_use]
    pub fn ages(&self, now: Duration) -> Ages {
        let stamps = self.picture.bodies().iter().flat_map(Body::stamps);
        let (mut ages, mut missing) = (Vec::new(), 0);
        for &stamp in stamps {
            match self.clock.age(stamp, now) {
                Some(age) if stamp != NEVER => ages.push(age),
                _ => missing += 1,
            }
        }
        ages.sort_unstable();
        let (Some(&worst), count) = (ages.last(), ages.len()) else { return Ages { missing, ..Ages::default() } };
        let p99 = ages[(count * 99).div_ceil(100) - 1];
        let mean = ages.iter().sum::<u64>() / count as u64;
        Ages { mean: rtp::duration(mean), p99: rtp::duration(p99), worst: rtp::duration(worst), missing }
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> ReceiverStats {
        self.stats
    }
}
