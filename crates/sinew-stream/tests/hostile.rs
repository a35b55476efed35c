//! Forged, replayed, malformed and too many packets: neither side panics, takes much memory or answers more than it got.

mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::{HERE, Network};
use sinew_stream::random::Random;
use sinew_stream::relay::Faults;
use sinew_stream::topology::{Change, Limits, Scene};
use sinew_stream::{
    Key, Outbox, Receiver, ReceiverConfig, Sender, SenderConfig, payload, points, record, rtcp, rtp, state,
};
use sinew_tally::Tally;

#[global_allocator]
static TALLY: Tally = Tally::new();

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn secret() -> Key {
    Key::new(b"a key of 128 random bits or more")
}

/// Both sides early in a session, and the time.
type Early = (Sender, Receiver, Duration);

/// Packets of a session, down and up, with cuts and commands; both sides early in the session and at its end.
fn capture(key: Option<Key>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, Network, Early) {
    let mut config = SenderConfig::new([1; 32]);
    config.key = key;
    let mut network = Network::with(config, 400, 1);
    let peer = network.join(Faults { loss: 0.2, ..Faults::default() });
    let (mut down, mut up, mut out) = (Vec::new(), Vec::new(), Outbox::default());
    (0..30).for_each(|_| network.step());
    let early = (network.sender.clone(), network.peers[peer].receiver.clone(), network.now());
    for frame in 30..120 {
        if frame % 10 == 9 {
            network.cut();
            _ = network.peers[peer].receiver.command(b"{\"command\":\"pause\",\"on\":true}");
        }
        network.step();
        // the packets of one more turn on both sides
        let now = network.now();
        let mut sender = network.sender.clone();
        sender.frame(now, &network.picture_of(frame), &mut out).unwrap();
        sender.poll(now + ms(40), &mut out);
        down.extend(out.iter().map(|(_, packet)| packet.to_vec()));
        out.clear();
        let mut receiver = network.peers[peer].receiver.clone();
        receiver.poll(now + ms(1500), &mut out);
        receiver.poll(now + ms(4000), &mut out);
        up.extend(out.iter().map(|(_, packet)| packet.to_vec()));
        out.clear();
    }
    network.faults(Faults::default());
    (0..15).for_each(|_| network.step());
    while network.sender.command().is_some() {}
    (down, up, network, early)
}

/// A packet with bits, bytes or length changed, or parts of two packets.
fn mutate(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut packet = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(packet.len().max(1));
        match random.below(6) {
            0 if !packet.is_empty() => packet[at] ^= 1 << random.below(8),
            1 if !packet.is_empty() => packet[at] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)],
            2 => packet.truncate(at),
            3 => packet.extend((0..random.below(64)).map(|_| random.next() as u8)),
            4 => {
                let other = &corpus[random.below(corpus.len())];
                packet.truncate(at);
                packet.extend(&other[random.below(other.len().max(1)).min(other.len())..]);
            }
            // fields of lengths and counts are near the front
            _ if packet.len() > 40 => packet[random.below(40)] = random.next() as u8,
            _ => {}
        }
    }
    packet.truncate(2000);
    packet
}

fn decode_all(packet: &[u8], limits: &Limits) {
    _ = rtcp::read(packet);
    _ = Scene::read(packet, limits);
    _ = Change::read(packet);
    if let Ok((_, body)) = rtp::Header::read(packet)
        && let Ok((header, contents)) = payload::Header::read(body)
    {
        _ = points::read(&header, contents, |_, _| {});
        _ = state::read(contents);
        _ = record::read_events(&header, contents, |_, event| _ = Change::read(event));
        _ = record::Assembly::new(&header, limits.change_bytes).map(|mut assembly| assembly.put(&header, contents));
    }
}

#[test]
fn w1_mutated_packets_neither_panic_nor_fill_the_memory() {
    let (down, up, network, (sender, receiver, start)) = capture(None);
    let mut random = Random::new(42);
    let limits =
        Limits { scene_bytes: 1 << 20, change_bytes: 1 << 16, points: 10_000, triangles: 10_000, readings: 64 };
    let (mut out, address) = (Outbox::default(), network.peers[0].address);
    TALLY.forget_peak();
    let held = TALLY.held();
    let (rounds, packets) = (500u32, 2000u32);
    let (mut to_sender, mut to_receiver) = ([0; 3], [0; 3]);
    for _ in 0..rounds {
        // five seconds, in which the rate limits let the packets through
        let (mut sender, mut receiver) = (sender.clone(), receiver.clone());
        for n in 0..packets {
            let now = start + Duration::from_micros(u64::from(n) * 2500);
            // packets of about this time: others would be dropped for their numbers already
            let part = |corpus: &[Vec<u8>]| {
                let first = (corpus.len() - 64) * n as usize / packets as usize;
                first..first + 64
            };
            if n % 2 == 0 {
                let packet = mutate(&mut random, &down[part(&down)]);
                decode_all(&packet, &limits);
                receiver.receive(now, HERE, &packet);
            } else {
                let packet = mutate(&mut random, &up[part(&up)]);
                decode_all(&packet, &limits);
                sender.receive(now, address, &packet, &mut out);
                let answer: usize = out.iter().map(|(_, packet)| packet.len()).sum();
                assert!(answer <= packet.len(), "an answer is longer than its question");
                out.clear();
            }
            if n % 64 == 0 {
                receiver.poll(now, &mut out);
                sender.poll(now, &mut out);
                while sender.command().is_some() {}
                out.clear();
            }
        }
        let (s, r) = (sender.stats(), receiver.stats());
        for (sum, part) in to_sender.iter_mut().zip([s.malformed, s.forged, s.limited]) {
            *sum += part;
        }
        for (sum, part) in to_receiver.iter_mut().zip([r.malformed, r.forged, r.implausible]) {
            *sum += part;
        }
    }
    let grown = TALLY.peak() - held;
    println!("malformed, forged, limited {to_sender:?}; malformed, forged, implausible {to_receiver:?}; {grown} bytes");
    assert!(to_sender[0] > 50_000 && to_sender[1] > 5000 && to_sender[2] < 100_000);
    assert!(to_receiver[0] > 10_000 && to_receiver[1] > 10_000 && to_receiver[2] > 1000);
    // limits of the default configuration: 32 MiB for a scene that is announced, 1 MiB for an event
    assert!(grown < 48 << 20, "{grown}");
}

#[test]
fn packets_of_others_without_the_key_change_nothing() {
    let (down, up, mut network, _) = capture(Some(secret()));
    let mut random = Random::new(7);
    let (mut out, address) = (Outbox::default(), network.peers[0].address);
    let (forged_before, now) = (network.peers[0].receiver.stats().forged, network.now());
    let picture = network.peers[0].receiver.picture().clone();
    let viewers: Vec<_> = network.sender.viewers().collect();
    for n in 0..100_000u32 {
        let now = now + Duration::from_micros(u64::from(n));
        let original = &down[random.below(down.len())];
        let packet = mutate(&mut random, &down);
        // a mutation may leave the packet as it was, or cut it where another ends
        if !down.contains(&packet) && packet != *original {
            network.peers[0].receiver.receive(now, HERE, &packet);
        }
        let packet = mutate(&mut random, &up);
        if !up.contains(&packet) {
            network.sender.receive(now, address, &packet, &mut out);
        }
    }
    assert_eq!(*network.peers[0].receiver.picture(), picture);
    let receiver = network.peers[0].receiver.stats();
    assert!(receiver.forged - forged_before > 90_000, "{receiver:?}");
    assert_eq!(network.sender.viewers().collect::<Vec<_>>(), viewers);
    assert_eq!(out.iter().count(), 0, "no answer to what is not signed");
    assert_eq!(network.sender.command(), None);
}

#[test]
fn replayed_packets_are_dropped_and_counted() {
    for key in [None, Some(secret())] {
        let (_, _, mut network, _) = capture(key.clone());
        let (now, mut out) = (network.now(), Outbox::default());
        network.sender.frame(now, &network.picture_of(network.frame), &mut out).unwrap();
        let packets: Vec<Vec<u8>> = out.iter().map(|(_, packet)| packet.to_vec()).collect();
        let receiver = &mut network.peers[0].receiver;
        packets.iter().for_each(|packet| receiver.receive(now, HERE, packet));
        let (picture, before) = (receiver.picture().clone(), receiver.stats().duplicates);
        packets.iter().for_each(|packet| receiver.receive(now + ms(900), HERE, packet));
        assert_eq!(*receiver.picture(), picture);
        assert_eq!(receiver.stats().duplicates - before, packets.len() as u64);
        // commands and reports: once, whatever the key
        let mut out = Outbox::default();
        receiver.command(b"cut").unwrap();
        receiver.poll(now, &mut out);
        let up: Vec<Vec<u8>> = out.iter().map(|(_, packet)| packet.to_vec()).collect();
        while network.sender.command().is_some() {}
        for packet in up.iter().chain(&up).chain(&up) {
            network.sender.receive(now, network.peers[0].address, packet, &mut Outbox::default());
        }
        assert_eq!(network.sender.command().map(|(_, command)| command), Some(b"cut".to_vec()));
        assert_eq!(network.sender.command(), None);
        assert!(network.sender.stats().duplicates >= 2 || key.is_none());
    }
}

#[test]
fn a_capture_of_one_session_is_of_no_use_in_another() {
    let (down, up, _, _) = capture(Some(secret()));
    let mut config = SenderConfig::new([9; 32]);
    config.key = Some(secret());
    let mut network = Network::with(config, 400, 5);
    network.join(Faults::default());
    (0..30).for_each(|_| network.step());
    let (now, mut out) = (network.now(), Outbox::default());
    let picture = network.peers[0].receiver.picture().clone();
    for packet in &down {
        network.peers[0].receiver.receive(now, HERE, packet);
    }
    for packet in &up {
        network.sender.receive(now, network.peers[0].address, packet, &mut out);
    }
    assert_eq!(*network.peers[0].receiver.picture(), picture);
    assert_eq!(network.sender.command(), None);
    // replayed hellos get challenges, which are useless without the key
    assert!(out.iter().all(|(_, answer)| answer.len() <= 76 + 24));
    assert_eq!(network.sender.viewers().count(), 1);
}

#[test]
fn a_sender_amplifies_nothing() {
    for key in [None, Some(secret())] {
        let mut config = SenderConfig::new([1; 32]);
        config.key = key.clone();
        let mut network = Network::with(config, 2430, 1);
        let mut random = Random::new(1);
        // hellos with the addresses of victims, which never answer
        let (mut out, mut given) = (Outbox::default(), 0);
        for n in 0..20_000u64 {
            let victim = SocketAddr::from(([10, 9, (n / 200) as u8, (n % 200) as u8], 53));
            let mut config = ReceiverConfig::new(HERE, [random.next() as u8; 32]);
            config.key = key.clone();
            let mut hello = Outbox::default();
            Receiver::new(config).poll(Duration::ZERO, &mut hello);
            for (_, packet) in hello.iter() {
                given += packet.len();
                network.sender.receive(ms(n), victim, packet, &mut out);
            }
            network.sender.poll(ms(n), &mut out);
            let frame = network.picture_of(n);
            if n % 33 == 0 {
                network.sender.frame(ms(n), &frame, &mut out).unwrap();
            }
        }
        let sent: usize = out.iter().map(|(_, packet)| packet.len()).sum();
        println!("{given} bytes given, {sent} sent");
        assert!(sent > 0 && sent < given, "{sent} {given}");
        assert_eq!(network.sender.viewers().count(), 0);
    }
}

#[test]
fn a_flood_of_hellos_does_not_disturb_those_that_are_in() {
    let mut network = Network::new(400, 3);
    let peer = network.join(Faults::default());
    (0..30).for_each(|_| network.step());
    let mut hello = Outbox::default();
    Receiver::new(ReceiverConfig::new(HERE, [5; 32])).poll(Duration::ZERO, &mut hello);
    let hello: Vec<u8> = hello.iter().next().unwrap().1.to_vec();
    for frame in 0..90u64 {
        let mut out = Outbox::default();
        for n in 0..2000 {
            let from = SocketAddr::from(([10, 8, (n / 250) as u8, (n % 250) as u8], frame as u16 + 1));
            network.sender.receive(network.now(), from, &hello, &mut out);
        }
        assert!(out.iter().count() <= 200 + 17, "answers are limited");
        network.step();
    }
    assert!(network.ages(peer).iter().all(|age| *age == 0));
    assert!(network.sender.stats().limited > 100_000);
    network.check(peer);
}

#[test]
fn receivers_beyond_the_most_are_refused_and_leave_room_when_they_go() {
    let mut config = SenderConfig::new([1; 32]);
    config.receivers = 2;
    let mut network = Network::with(config, 50, 1);
    (0..3).for_each(|_| _ = network.join(Faults::default()));
    (0..30).for_each(|_| network.step());
    assert_eq!(network.sender.viewers().count(), 2);
    assert!(network.sender.stats().refused > 0);
    let mut out = Outbox::default();
    network.peers[0].receiver.leave(&mut out);
    let leave: Vec<u8> = out.iter().next().unwrap().1.to_vec();
    network.sender.receive(network.now(), network.peers[0].address, &leave, &mut Outbox::default());
    let left = network.peers.remove(0);
    (0..30).for_each(|_| network.step());
    assert!(network.sender.viewers().all(|viewer| viewer.address != left.address));
    assert!(network.peers.iter().all(|peer| peer.receiver.picture().scene().is_some()));
}

#[test]
fn a_wrong_key_joins_nothing() {
    let mut config = SenderConfig::new([1; 32]);
    config.key = Some(secret());
    let mut network = Network::with(config, 50, 1);
    for key in [None, Some(Key::new(b"guess"))] {
        let mut config = ReceiverConfig::new(HERE, [4; 32]);
        config.key = key;
        network.add(config, Faults::default());
    }
    (0..60).for_each(|_| network.step());
    assert_eq!(network.sender.viewers().count(), 0);
    assert!(network.peers.iter().all(|peer| !peer.receiver.is_joined()));
    assert!(network.sender.stats().strangers > 10);
}

#[test]
fn a_bad_scene_or_frame_is_refused_by_name() {
    let mut scene = common::strip(10);
    scene.surfaces.push(scene.surfaces[0].clone());
    let error = Sender::new(SenderConfig::new([1; 32]), scene).unwrap_err().to_string();
    assert!(error.contains("body 3 is there twice"), "{error}");
    let mut network = Network::new(10, 1);
    let mut frame = network.picture_of(0);
    frame.bodies[0].points.pop();
    let error = network.sender.frame(ms(0), &frame, &mut Outbox::default()).unwrap_err().to_string();
    assert!(error.contains("body 3 has 9 points and has 10 points there"), "{error}");
    let change = Change { body: 4, ..Change::default() };
    assert!(network.sender.change(&change).unwrap_err().to_string().contains("body 4"));
}
