//! Sockets over loopback, with bounded counts and times.

mod common;

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{BODY, place, strip};
use sinew_stream::mailbox::Publisher;
use sinew_stream::net::{ReceiverSocket, SenderSocket, UdpRelay, seed, spawn};
use sinew_stream::relay::Faults;
use sinew_stream::topology::{Born, Change};
use sinew_stream::{BodyPoints, Key, ReceiverConfig, SenderConfig};

/// Longest time that a test waits for something that has to happen.
const PATIENCE: Duration = Duration::from_secs(60);

fn local() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// Fills in frame `tick` with random points of which every one is known.
fn fill(physics: &mut Publisher, tick: u32, count: usize) {
    let frame = physics.frame();
    frame.tick = tick;
    frame.bodies.resize_with(1, BodyPoints::default);
    frame.bodies[0].body = BODY;
    frame.bodies[0].points.clear();
    frame.bodies[0].points.extend((0..count).map(|point| place(u64::from(tick), point)));
}

/// Runs the receiver until something holds.
fn until(receiver: &mut ReceiverSocket, mut work: impl FnMut(), done: impl Fn(&ReceiverSocket) -> bool) {
    let start = Instant::now();
    while !done(receiver) {
        work();
        receiver.turn(Duration::from_millis(2)).unwrap();
        assert!(start.elapsed() < PATIENCE, "{:?}", receiver.receiver().stats());
    }
}

#[test]
fn frames_cuts_and_commands_over_a_lossy_relay() {
    let key = Key::new(b"secret");
    let mut config = SenderConfig::new(seed().unwrap());
    config.key = Some(key.clone());
    let interval = Duration::from_millis(5);
    let (mut physics, handle) = spawn(local(), config, strip(400), interval).unwrap();
    let faults =
        Faults { loss: 0.3, jitter: Duration::from_millis(3), reorder: 0.05, duplicate: 0.02, ..Faults::default() };
    let mut relay = UdpRelay::bind(local(), handle.address(), faults, 1).unwrap();
    let mut config = ReceiverConfig::new(relay.address().unwrap(), seed().unwrap());
    config.key = Some(key);
    let stop = Arc::new(AtomicBool::new(false));
    let end = stop.clone();
    let relaying = std::thread::spawn(move || {
        relay.run(&end).unwrap();
        relay.stats()
    });
    let mut receiver = ReceiverSocket::open(config, None).unwrap();
    let (mut tick, mut points, mut commands) = (0, 400, 0);
    let work = |tick: &mut u32, points: &mut usize, physics: &mut Publisher| {
        if physics.is_wanted() {
            if *tick % 50 == 49 {
                let born = vec![Born { a: 0, b: 1, weight: 0.5 }];
                physics.change(Change { body: BODY, born, ..Change::default() }).unwrap();
                *points += 1;
            }
            fill(physics, *tick, *points);
            *tick += u32::from(physics.publish());
        }
    };
    let mut sent = 0;
    let start = Instant::now();
    while tick < 400 || commands < 20 {
        work(&mut tick, &mut points, &mut physics);
        if sent < 20 && receiver.receiver().is_joined() {
            sent += u32::from(receiver.command(b"grab").is_ok());
        }
        while physics.command().is_some_and(|(_, body)| body == b"grab") {
            commands += 1;
        }
        receiver.turn(Duration::from_millis(1)).unwrap();
        assert!(start.elapsed() < PATIENCE, "{tick} frames, {commands} commands");
    }
    assert!(points > 400);
    until(
        &mut receiver,
        || {},
        |receiver| {
            let scene = receiver.receiver().picture().scene();
            scene.is_some_and(|scene| scene.surfaces[0].points == points as u32)
        },
    );
    // with nothing sent any more, what is there is right: points are of some frame of the last ones
    let picture = receiver.receiver().picture();
    for (at, point) in picture.bodies()[0].points().iter().enumerate().take(400) {
        let near = |tick: u32| {
            let right = place(u64::from(tick), at);
            (0..3).all(|axis| (point[axis] - right[axis]).abs() < 2e-6)
        };
        assert!((tick.saturating_sub(60)..tick).any(near), "point {at}");
    }
    receiver.leave();
    stop.store(true, Ordering::Relaxed);
    let [up, down] = relaying.join().unwrap();
    assert!(up.lost > 0 && down.lost > 100, "{up:?} {down:?}");
    let stats = handle.stop().unwrap();
    assert_eq!((stats.malformed, stats.forged), (0, 0));
}

#[test]
fn a_whole_scene_comes_over_tcp_and_slow_clients_hinder_nobody() {
    let mut config = SenderConfig::new(seed().unwrap());
    config.key = Some(Key::new(b"secret"));
    let mut sender = SenderSocket::bind(local(), config, strip(60_000)).unwrap();
    let mut config = ReceiverConfig::new(sender.address().unwrap(), seed().unwrap());
    (config.fetch, config.key) = (true, Some(Key::new(b"secret")));
    let mut receiver = ReceiverSocket::open(config, None).unwrap();
    // 780 kB: 850 pieces, which would take 3.5 s
    let start = Instant::now();
    until(
        &mut receiver,
        || sender.turn(Duration::from_millis(1)).unwrap(),
        |receiver| receiver.receiver().picture().scene().is_some(),
    );
    println!("scene after {:?}", start.elapsed());
    assert_eq!(receiver.receiver().picture().scene(), Some(sender.sender().scene()));
}

#[test]
fn without_tcp_at_the_other_end_the_scene_comes_in_datagrams() {
    let mut sender = SenderSocket::bind(local(), SenderConfig::new(seed().unwrap()), strip(3000)).unwrap();
    let target = sender.address().unwrap();
    // the relay forwards datagrams only
    let mut relay = UdpRelay::bind(SocketAddr::from(([127, 0, 0, 2], 0)), target, Faults::default(), 1).unwrap();
    let mut config = ReceiverConfig::new(relay.address().unwrap(), seed().unwrap());
    config.fetch = true;
    let mut receiver = ReceiverSocket::open(config, None).unwrap();
    let work = || {
        sender.turn(Duration::from_millis(1)).unwrap();
        relay.turn(Duration::from_millis(1)).unwrap();
    };
    until(&mut receiver, work, |receiver| receiver.receiver().picture().scene().is_some());
    assert_eq!(relay.clients(), 1);
}

#[test]
fn a_multicast_group_on_loopback_has_two_receivers_and_one_stream() {
    let group = SocketAddr::from(([239, 255, 83, 78], free_port()));
    let mut config = SenderConfig::new(seed().unwrap());
    config.group = Some(group);
    let mut sender = SenderSocket::bind(local(), config, strip(300)).unwrap();
    let open = |sender: &SenderSocket| {
        let config = ReceiverConfig::new(sender.address().unwrap(), seed().unwrap());
        ReceiverSocket::open(config, Some(group)).unwrap()
    };
    // two sockets of one host need an option that std does not have: the second receiver is unicast
    let mut first = open(&sender);
    let mut second =
        ReceiverSocket::open(ReceiverConfig::new(sender.address().unwrap(), seed().unwrap()), None).unwrap();
    let start = Instant::now();
    let mut tick = 0;
    let whole = |socket: &ReceiverSocket| {
        let bodies = socket.receiver().picture().bodies();
        bodies.first().is_some_and(|body| body.stamps().iter().all(|stamp| *stamp != sinew_stream::receiver::NEVER))
    };
    while !(whole(&first) && whole(&second)) {
        let points = (0..300).map(|point| place(tick, point)).collect();
        let bodies = vec![BodyPoints { body: BODY, points }];
        sender.frame(&sinew_stream::Frame { tick: tick as u32, bodies, ..Default::default() }).unwrap();
        sender.turn(Duration::from_millis(2)).unwrap();
        first.turn(Duration::from_millis(1)).unwrap();
        second.turn(Duration::from_millis(1)).unwrap();
        tick += 1;
        assert!(start.elapsed() < PATIENCE, "{:?} {:?}", first.receiver().stats(), second.receiver().stats());
    }
    assert_eq!(sender.sender().viewers().count(), 2);
    assert_eq!(first.receiver().picture().scene(), second.receiver().picture().scene());
}

fn free_port() -> u16 {
    UdpSocket::bind(local()).unwrap().local_addr().unwrap().port()
}

#[test]
fn a_hostile_host_does_not_hold_up_the_thread_of_the_physics() {
    let config = SenderConfig::new(seed().unwrap());
    let (mut physics, handle) = spawn(local(), config, strip(2430), Duration::from_millis(5)).unwrap();
    let (to, stop) = (handle.address(), Arc::new(AtomicBool::new(false)));
    let end = stop.clone();
    let flood = std::thread::spawn(move || {
        let socket = UdpSocket::bind(local()).unwrap();
        let mut count = 0u64;
        while !end.load(Ordering::Relaxed) {
            _ = socket.send_to(&[0x80, 201, 0, 1, 0, 0, 0, 0], to);
            // connections that never say anything
            if count.is_multiple_of(1000) {
                _ = TcpStream::connect_timeout(&to, Duration::from_millis(1));
            }
            count += 1;
            if count.is_multiple_of(64) {
                std::thread::yield_now();
            }
        }
        count
    });
    let (start, mut frames, mut longest) = (Instant::now(), 0, Duration::ZERO);
    while frames < 200 {
        if physics.is_wanted() {
            fill(&mut physics, frames, 2430);
            let before = Instant::now();
            frames += u32::from(physics.publish());
            longest = longest.max(before.elapsed());
        }
        std::thread::sleep(Duration::from_micros(200));
        assert!(start.elapsed() < PATIENCE, "{frames}");
    }
    stop.store(true, Ordering::Relaxed);
    println!("{} packets of the flood, longest hand-over {longest:?}", flood.join().unwrap());
    let stats = handle.stop().unwrap();
    assert!(stats.frames >= 190 && stats.limited > 0, "{stats:?}");
}
