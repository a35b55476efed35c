//! The sender as a state machine: frames, packets and times go in, datagrams come out.

mod ledger;
mod member;
mod receive;
mod stream;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::limit::Bucket;
use crate::payload::{Header, Kind};
use crate::points::{self, Layout};
use crate::secret::{Keys, Secret};
use crate::state::{self, State};
use crate::topology::{Change, Limits, Scene};
use crate::{Error, Frame, Key, Outbox};
use ledger::{Lack, Ledger};
use member::Member;
pub use member::Viewer;
use stream::{Clock, Stream};

/// A receiver that is silent for so long is forgotten.
const SILENT: Duration = Duration::from_secs(10);
/// Time between repetitions of what is not acknowledged.
const REPEAT: Duration = Duration::from_millis(33);
/// Packets of scene and topology in that time, for each stream.
const RECORDS: usize = 8;
/// Hellos that are answered in a second, and at once.
const HELLOS: (u64, u64) = (500, 200);

/// Settings of a sender.
///
/// An example is at [`Sender`].
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// Shared key; without one packets are neither signed nor checked.
    pub key: Option<Key>,
    /// 32 random bytes, new for every run.
    pub seed: [u8; 32],
    /// Format of points.
    pub layout: Layout,
    /// Sizes that receivers accept.
    pub limits: Limits,
    /// Most receivers.
    pub receivers: usize,
    /// Largest rate to a receiver, or to the group, with UDP and IPv4 headers [bit/s]. Frames beyond it are left out.
    pub bit_rate: u64,
    /// Multicast group for receivers that want it.
    pub group: Option<SocketAddr>,
    /// TCP port where whole scenes are served; 0 for none.
    pub scene_port: u16,
    /// Time since 1970 at time zero, for the NTP time of reports.
    pub unix_time: Duration,
}

impl SenderConfig {
    /// Settings with a seed: no key, 256 receivers, 16 Mbit/s each, no group.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self {
            key: None,
            seed,
            layout: Layout::default(),
            limits: Limits::default(),
            receivers: 256,
            bit_rate: 16_000_000,
            group: None,
            scene_port: 0,
            unix_time: Duration::ZERO,
        }
    }
}

/// Counters of a sender.
///
/// An example is at [`Sender`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Frames given.
    pub frames: u64,
    /// Frames that some receiver did not get because of its rate or loss.
    pub skipped: u64,
    /// Numbers that were not finite and were left out.
    pub not_finite: u64,
    /// Packets received.
    pub received: u64,
    /// Packets that could not be decoded.
    pub malformed: u64,
    /// Packets with a wrong hash or ticket.
    pub forged: u64,
    /// Packets that were there before.
    pub duplicates: u64,
    /// Packets of addresses that have not said hello.
    pub strangers: u64,
    /// Packets beyond the rate.
    pub limited: u64,
    /// Receivers turned away because there were too many.
    pub refused: u64,
}

/// Sends frames, the scene and its changes to any number of receivers.
///
/// ```
/// use std::time::Duration;
/// use sinew_stream::topology::{Scene, Surface};
/// use sinew_stream::{BodyPoints, Frame, Outbox, Receiver, ReceiverConfig, Sender, SenderConfig};
///
/// let (here, there) = ("10.0.0.1:5004".parse().unwrap(), "10.0.0.2:6000".parse().unwrap());
/// let surface = Surface { body: 1, points: 200, triangles: vec![] };
/// let scene = Scene { surfaces: vec![surface], ..Scene::default() };
/// let mut sender = Sender::new(SenderConfig::new([1; 32]), scene)?;
/// let mut receiver = Receiver::new(ReceiverConfig::new(here, [2; 32]));
///
/// let (mut up, mut down) = (Outbox::default(), Outbox::default());
/// for number in 0..30 {
///     let now = Duration::from_millis(number * 33);
///     let body = BodyPoints { body: 1, points: vec![[0.5; 3]; 200] };
///     sender.frame(now, &Frame { tick: number as u32, bodies: vec![body], ..Frame::default() }, &mut down)?;
///     sender.poll(now, &mut down);
///     down.iter().for_each(|(_, packet)| receiver.receive(now, here, packet));
///     receiver.poll(now, &mut up);
///     down.clear();
///     up.iter().for_each(|(_, packet)| sender.receive(now, there, packet, &mut down));
///     up.clear();
/// }
/// assert_eq!(sender.viewers().count(), 1);
/// assert_eq!(receiver.picture().bodies()[0].points()[7], [0.5; 3]);
/// # Ok::<(), sinew_stream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sender {
    config: SenderConfig,
    keys: Option<Keys>,
    down: Option<Key>,
    secret: Secret,
    session: u64,
    clock: Clock,
    ledger: Ledger,
    members: BTreeMap<SocketAddr, Member>,
    group: Option<Stream>,
    hellos: Bucket,
    next_records: Duration,
    last_served: Option<SocketAddr>,
    /// Payloads of the present frame, and where they end.
    payloads: (Vec<u8>, Vec<usize>),
    stats: SenderStats,
}

impl Sender {
    /// A sender of a scene.
    ///
    /// # Errors
    /// A scene that receivers would refuse.
    pub fn new(config: SenderConfig, scene: Scene) -> Result<Self, Error> {
        let mut secret = Secret::new(&config.seed);
        let session = secret.number();
        let keys = config.key.as_ref().map(Keys::new);
        Ok(Self {
            ledger: Ledger::new(scene, config.limits)?,
            down: keys.as_ref().map(|keys| keys.down(session)),
            keys,
            session,
            clock: Clock { offset: secret.number() as u32, unix: config.unix_time },
            group: config.group.map(|to| Stream::new(to, secret.number(), config.bit_rate, Duration::ZERO)),
            members: BTreeMap::new(),
            hellos: Bucket::new(HELLOS.0, HELLOS.1),
            next_records: Duration::ZERO,
            last_served: None,
            payloads: Default::default(),
            stats: SenderStats::default(),
            secret,
            config,
        })
    }

    /// Records a change of the topology; returns its revision. Frames after it have the new points.
    ///
    /// # Errors
    /// A body, point or triangle that does not exist, or a size beyond the limits.
    pub fn change(&mut self, change: &Change) -> Result<u32, Error> {
        self.ledger.change(change)
    }

    /// Another scene in place of the present one.
    ///
    /// # Errors
    /// A scene that receivers would refuse; the old one stays.
    pub fn replace(&mut self, scene: Scene) -> Result<(), Error> {
        self.ledger.replace(scene)
    }

    /// The scene with all changes.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        self.ledger.scene()
    }

    /// Sends a frame to all receivers.
    ///
    /// # Errors
    /// A body that is not in the scene, or has another number of points there.
    pub fn frame(&mut self, now: Duration, frame: &Frame, out: &mut Outbox) -> Result<(), Error> {
        let scene = self.ledger.scene();
        for body in &frame.bodies {
            let known = scene.surface(body.body).map(|surface| surface.points as usize);
            if known != Some(body.points.len()) {
                let (number, points) = (body.body, body.points.len());
                let known = known.map_or("not in the scene".to_string(), |known| format!("has {known} points there"));
                return Err(Error::new(format!(
                    "frame: body {number} has {points} points and {known}: send its change before the frame"
                )));
            }
        }
        self.stats.frames += 1;
        if !self.members.is_empty() {
            self.encode(frame);
            self.send_frame(now, out);
        }
        Ok(())
    }

    fn encode(&mut self, frame: &Frame) {
        let (bytes, ends) = &mut self.payloads;
        bytes.clear();
        ends.clear();
        let revision = self.ledger.scene().revision;
        let header = Header { kind: Kind::State, body: 0, revision, tick: frame.tick, first: 0, stride: 1 };
        let finite = finite_state(&frame.state, &mut self.stats.not_finite);
        state::write(header, finite.as_ref().unwrap_or(&frame.state), bytes, |bytes| ends.push(bytes.len()));
        let alone = if let [end] = ends[..] { Some(end) } else { None };
        for body in &frame.bodies {
            let header = Header { body: body.body, ..header };
            points::write(self.config.layout, header, &body.points, bytes, |bytes| ends.push(bytes.len()));
        }
        // a state of one packet is sent twice, at both ends of the frame: a short burst of losses leaves one of them
        if let Some(end) = alone {
            bytes.extend_from_within(..end);
            ends.push(bytes.len());
        }
    }

    fn send_frame(&mut self, now: Duration, out: &mut Outbox) {
        let (bytes, ends) = &self.payloads;
        let timestamp = self.clock.timestamp(now);
        let in_group = self.members.values().any(|member| member.stream.is_none());
        let group = self.group.as_mut().filter(|_| in_group);
        for stream in self.members.values_mut().filter_map(|member| member.stream.as_mut()).chain(group) {
            let left_out = stream.halved && self.stats.frames.is_multiple_of(2);
            if left_out || !stream.may_send(ends.len(), bytes.len(), self.down.as_ref(), now) {
                stream.skipped += 1;
                self.stats.skipped += 1;
                continue;
            }
            let mut start = 0;
            for (at, &end) in ends.iter().enumerate() {
                let marker = at + 1 == ends.len();
                stream.rtp(&bytes[start..end], marker, timestamp, self.down.as_ref(), out);
                start = end;
            }
        }
    }

    /// Sends what is due: reports, scene and changes that are not acknowledged. Call it every few milliseconds.
    pub fn poll(&mut self, now: Duration, out: &mut Outbox) {
        self.members.retain(|_, member| now.saturating_sub(member.heard) < SILENT);
        let key = self.down.as_ref();
        let streams = self.members.values_mut().filter_map(|member| member.stream.as_mut());
        for stream in streams.chain(self.group.as_mut()) {
            stream.report(&self.clock, now, key, out);
        }
        if now >= self.next_records {
            self.next_records = now + REPEAT;
            self.send_records(now, out);
        }
    }

    fn send_records(&mut self, now: Duration, out: &mut Outbox) {
        let (key, timestamp) = (self.down.as_ref(), self.clock.timestamp(now));
        let mut in_group: Vec<Lack> = Vec::new();
        for member in self.members.values_mut() {
            let lack = self.ledger.lack(member.applied);
            if lack == Lack::Nothing || (lack == Lack::Scene && member.fetching) {
                continue;
            }
            let stream = match &mut member.stream {
                Some(stream) => stream,
                // members of the group that lack the same get it once
                None if in_group.contains(&lack) || in_group.len() >= 4 => continue,
                None => {
                    in_group.push(lack);
                    let Some(group) = &mut self.group else { continue };
                    group
                }
            };
            self.ledger.write(lack, (member.progress, &mut member.cursor), RECORDS, |payload| {
                if stream.may_send(1, payload.len(), key, now) {
                    stream.rtp(payload, false, timestamp, key, out);
                }
                payload.clear();
            });
        }
    }

    /// Ends the stream: receivers learn that nothing more comes.
    pub fn leave(&mut self, out: &mut Outbox) {
        let key = self.down.as_ref();
        let streams = self.members.values_mut().filter_map(|member| member.stream.as_mut());
        for stream in streams.chain(self.group.as_mut()) {
            let ssrc = stream.ssrc;
            stream.sealed(key, out, |bytes| {
                crate::rtcp::write_receiver_report(bytes, ssrc, None);
                crate::rtcp::write_goodbye(bytes, ssrc);
            });
        }
        self.members.clear();
    }

    /// The next command with the number of its viewer; viewers in turn.
    pub fn command(&mut self) -> Option<(u64, Vec<u8>)> {
        let last = self.last_served;
        let after = |address: &SocketAddr| last.is_some_and(|last| *address > last);
        let order: Vec<SocketAddr> = self.members.keys().copied().filter(after).collect();
        let first: Vec<SocketAddr> = self.members.keys().copied().filter(|address| !after(address)).collect();
        for address in order.into_iter().chain(first) {
            let member = self.members.get_mut(&address)?;
            if let Some(command) = member.commands.take() {
                self.last_served = Some(address);
                return Some((member.ticket, command));
            }
        }
        None
    }

    /// All receivers, by address.
    pub fn viewers(&self) -> impl Iterator<Item = Viewer> {
        self.members.iter().map(|(address, member)| member.viewer(*address))
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> SenderStats {
        self.stats
    }

    /// RTP time stamp of a time, for tests and captures.
    #[must_use]
    pub fn timestamp(&self, now: Duration) -> u32 {
        self.clock.timestamp(now)
    }
}

/// A copy without what is not finite, if there is something.
fn finite_state(state: &State, count: &mut u64) -> Option<State> {
    let good = |values: &[f32]| values.iter().all(|value| value.is_finite());
    let pose = |position: &[f32; 3], rotation: &[f32; 4]| {
        good(position) && good(rotation) && rotation.iter().map(|part| part * part).sum::<f32>() > 0.5
    };
    let rigid = |rigid: &state::Rigid| pose(&rigid.position, &rigid.rotation);
    let tool = |tool: &state::Tool| pose(&tool.position, &tool.rotation) && good(&tool.force) && good(&tool.torque);
    let reading = |reading: &state::Reading| reading.value.is_finite();
    if state.rigid.iter().all(rigid) && state.tools.iter().all(tool) && state.readings.iter().all(reading) {
        return None;
    }
    let mut kept = state.clone();
    kept.rigid.retain(rigid);
    kept.tools.retain(tool);
    kept.readings.retain(reading);
    let sizes = |state: &State| state.rigid.len() + state.tools.len() + state.readings.len();
    *count += (sizes(state) - sizes(&kept)) as u64;
    Some(kept)
}
