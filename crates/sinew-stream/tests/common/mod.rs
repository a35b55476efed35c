//! A simulated network in virtual time, and a scene whose right picture is known for every frame.
#![allow(dead_code, reason = "every test uses a part")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use sinew_stream::random::Random;
use sinew_stream::relay::{Faults, Relay};
use sinew_stream::topology::{Born, Change, Scene, Surface, Triangle};
use sinew_stream::{BodyPoints, Frame, Key, Outbox, Receiver, ReceiverConfig, Sender, SenderConfig};

/// Frames in a second.
pub const RATE: u64 = 30;
/// Size of the body's box [m].
pub const SIZE: f32 = 0.2;
pub const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 5004);

pub struct Peer {
    pub receiver: Receiver,
    pub address: SocketAddr,
    pub down: Relay<Vec<u8>>,
    pub up: Relay<Vec<u8>>,
}

pub struct Network {
    pub sender: Sender,
    pub peers: Vec<Peer>,
    /// Number of the next frame.
    pub frame: u64,
    /// Steps of the network in a frame.
    pub steps: u64,
    /// Time of frame 0.
    pub start: Duration,
    /// Bytes on the way to receivers, with UDP and IPv4 headers.
    pub bytes_down: u64,
    /// The scene of every revision.
    pub scenes: BTreeMap<u32, Scene>,
    pub random: Random,
    pub key: Option<Key>,
    out: Outbox,
}

/// Number of the body.
pub const BODY: u16 = 3;

pub fn strip(points: u32) -> Scene {
    let face = |n: u32| Triangle { corners: [n, n + 1, n + 2], ..Triangle::default() };
    let triangles = (0..points.saturating_sub(2)).map(face).collect();
    let surface = Surface { body: BODY, points, triangles };
    Scene { revision: 0, description: b"{\"name\":\"strip\"}".to_vec(), surfaces: vec![surface] }
}

/// Where a point is in a frame: random in the box, so that a point of another frame or number shows.
pub fn place(frame: u64, point: usize) -> [f32; 3] {
    if point < 2 {
        return [SIZE * point as f32; 3];
    }
    let bits = Random::new(frame << 24 | point as u64).next();
    [0, 21, 42].map(|shift| SIZE * (bits >> shift & 0x1F_FFFF) as f32 / 2_097_152.0)
}

impl Network {
    pub fn new(points: u32, seed: u64) -> Self {
        Self::with(SenderConfig::new([seed as u8; 32]), points, seed)
    }

    pub fn with(config: SenderConfig, points: u32, seed: u64) -> Self {
        let key = config.key.clone();
        let scene = strip(points);
        Self {
            sender: Sender::new(config, scene.clone()).unwrap(),
            peers: Vec::new(),
            frame: 0,
            steps: 8,
            start: Duration::ZERO,
            bytes_down: 0,
            scenes: BTreeMap::from([(0, scene)]),
            random: Random::new(seed),
            key,
            out: Outbox::default(),
        }
    }

    pub fn join(&mut self, faults: Faults) -> usize {
        let number = self.peers.len();
        let mut config = ReceiverConfig::new(HERE, [100u8.wrapping_add(number as u8); 32]);
        config.key = self.key.clone();
        self.add(config, faults)
    }

    pub fn add(&mut self, config: ReceiverConfig, faults: Faults) -> usize {
        let number = self.peers.len();
        let address = SocketAddr::from(([10, 0, 1, number as u8], 6000));
        let mut relay = || Relay::new(faults, self.random.next()).unwrap();
        let (down, up) = (relay(), relay());
        self.peers.push(Peer { receiver: Receiver::new(config), address, down, up });
        number
    }

    pub fn time(&self, frame: u64, step: u64) -> Duration {
        self.start + Duration::from_nanos((frame * self.steps + step) * 1_000_000_000 / (RATE * self.steps))
    }

    /// Time of the next frame.
    pub fn now(&self) -> Duration {
        self.time(self.frame, 0)
    }

    pub fn faults(&mut self, faults: Faults) {
        for peer in &mut self.peers {
            peer.down.set_faults(faults).unwrap();
            peer.up.set_faults(faults).unwrap();
        }
    }

    pub fn picture_of(&self, frame: u64) -> Frame {
        let count = self.sender.scene().surfaces[0].points as usize;
        let points = (0..count).map(|point| place(frame, point)).collect();
        Frame { tick: frame as u32, bodies: vec![BodyPoints { body: BODY, points }], ..Frame::default() }
    }

    /// Sends a frame and runs the network until just before the next one.
    pub fn step(&mut self) {
        let frame = self.picture_of(self.frame);
        self.step_with(&frame);
    }

    pub fn step_with(&mut self, frame: &Frame) {
        self.sender.frame(self.now(), frame, &mut self.out).unwrap();
        for step in 0..self.steps {
            self.turn(self.time(self.frame, step));
        }
        self.frame += 1;
    }

    pub fn turn(&mut self, now: Duration) {
        self.sender.poll(now, &mut self.out);
        for (to, packet) in self.out.iter() {
            self.bytes_down += 28 + packet.len() as u64;
            if let Some(peer) = self.peers.iter_mut().find(|peer| peer.address == to) {
                peer.down.push(now, packet.to_vec());
            }
        }
        self.out.clear();
        let mut up = Outbox::default();
        for peer in &mut self.peers {
            while let Some(packet) = peer.down.pop(now) {
                peer.receiver.receive(now, HERE, &packet);
            }
            peer.receiver.poll(now, &mut up);
            for (_, packet) in up.iter() {
                peer.up.push(now, packet.to_vec());
            }
            up.clear();
            while let Some(packet) = peer.up.pop(now) {
                self.sender.receive(now, peer.address, &packet, &mut self.out);
            }
        }
    }

    /// A cut: one triangle becomes two, over a new point on one of its edges.
    pub fn cut(&mut self) {
        let surface = &self.sender.scene().surfaces[0];
        let alive: Vec<usize> = (0..surface.triangles.len()).filter(|at| !surface.triangles[*at].removed).collect();
        let removed = alive[self.random.below(alive.len())];
        let (old, new) = (surface.triangles[removed], surface.points);
        let [a, b, c] = old.corners;
        let change = Change {
            body: BODY,
            tick: self.frame as u32,
            born: vec![Born { a, b, weight: self.random.unit() as f32 }],
            removed: vec![removed as u32],
            added: vec![
                Triangle { corners: [a, new, c], inner: true, removed: false },
                Triangle { corners: [new, b, c], inner: true, removed: false },
            ],
        };
        let revision = self.sender.change(&change).unwrap();
        self.scenes.insert(revision, self.sender.scene().clone());
    }

    /// Every point has the place of the frame that its time stamp names, and the topology is that of one revision.
    pub fn check(&self, peer: usize) {
        let picture = self.peers[peer].receiver.picture();
        if let Some(scene) = picture.scene() {
            assert!(self.scenes[&scene.revision] == *scene, "topology of revision {}", scene.revision);
        }
        let Some(body) = picture.bodies().first() else { return };
        // half a step of 16 bits, with the rounding of the step and of the result to f32
        let bound = f64::from(SIZE) * (1.0 / 131_070.0 + f64::from(f32::EPSILON));
        for (at, (point, &stamp)) in body.points().iter().zip(body.stamps()).enumerate() {
            let Some(frame) = self.frame_of(stamp) else { continue };
            let right = place(frame, at);
            let near = (0..3).all(|axis| (f64::from(point[axis]) - f64::from(right[axis])).abs() <= bound);
            // a new point lies between its parents until its first packet
            let born = at >= self.scenes[&0].surfaces[0].points as usize;
            assert!(near || born, "frame {frame} point {at}: {point:?} instead of {right:?}");
        }
    }

    /// The frame of an extended time stamp.
    pub fn frame_of(&self, stamp: u64) -> Option<u64> {
        if stamp == sinew_stream::receiver::NEVER {
            return None;
        }
        let ticks = (stamp as u32).wrapping_sub(self.sender.timestamp(self.start));
        // frames are 3000 ticks apart; time stamps are rounded down
        Some((u64::from(ticks) + 1500) / 3000)
    }

    /// Frames since each point was sent, just before the next frame is.
    pub fn ages(&self, peer: usize) -> Vec<u64> {
        let body = &self.peers[peer].receiver.picture().bodies()[0];
        body.stamps().iter().map(|&stamp| self.frame - 1 - self.frame_of(stamp).unwrap()).collect()
    }
}
