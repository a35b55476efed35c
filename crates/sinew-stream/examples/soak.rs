//! Long runs in virtual time: frames through the relay with every point checked, and attacks on the decoders; and the
//! time that the thread of the physics gives for a frame.
//!
//! `cargo run --release -p sinew-stream --example soak -- [frames N] [attack N] [seed N]`, by default 1e6 frames and
//! 1e7 packets. Ends with an error on the first wrong point.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use common::{HERE, Network};
use sinew_stream::mailbox::{Delivery, mailbox};
use sinew_stream::random::Random;
use sinew_stream::relay::Faults;
use sinew_stream::{BodyPoints, Outbox, payload, points, record, rtcp, rtp, state};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let seed = number("seed", 1);
    hand_over(2430);
    hand_over(7750);
    soak(number("frames", 1_000_000), seed);
    attack(number("attack", 10_000_000), seed);
}

/// Median and 99th percentile of the time to copy points and hand them over.
fn hand_over(count: usize) {
    let points: Vec<[f32; 3]> = (0..count).map(|point| common::place(1, point)).collect();
    let (mut physics, inbox) = mailbox();
    let mut delivery = Delivery::default();
    let mut times: Vec<Duration> = (0..10_000)
        .map(|tick| {
            let start = Instant::now();
            let frame = physics.frame();
            frame.tick = tick;
            frame.bodies.resize_with(1, BodyPoints::default);
            frame.bodies[0].points.clear();
            frame.bodies[0].points.extend_from_slice(&points);
            physics.publish();
            let time = start.elapsed();
            inbox.take(&mut delivery);
            time
        })
        .collect();
    times.sort_unstable();
    println!("hand over {count} points: median {:?}, p99 {:?}", times[5000], times[9900]);
}

fn soak(frames: u64, seed: u64) {
    let start = Instant::now();
    let mut network = Network::new(320, seed);
    network.steps = 4;
    let faults = Faults {
        loss: 0.1,
        delay: Duration::from_millis(20),
        jitter: Duration::from_millis(50),
        reorder: 0.05,
        duplicate: 0.02,
        ..Faults::default()
    };
    let peer = network.join(faults);
    let (mut ages, mut count) = ([0u64; 32], 0u64);
    for _ in 0..frames {
        network.step();
        network.check(peer);
        if let Some(body) = network.peers[peer].receiver.picture().bodies().first() {
            for age in body.stamps().iter().take(3).filter_map(|stamp| network.frame_of(*stamp)) {
                ages[((network.frame - 1 - age) as usize).min(31)] += 1;
                count += 1;
            }
        }
    }
    let percentile = |share: f64| {
        let mut left = (count as f64 * share) as u64;
        ages.iter()
            .position(|&of_age| {
                left < of_age || {
                    left -= of_age;
                    false
                }
            })
            .unwrap_or(31)
    };
    let mean = ages.iter().enumerate().map(|(age, &of_age)| age as u64 * of_age).sum::<u64>() as f64 / count as f64;
    println!(
        "{frames} frames, 0 corrupt; age in frames: mean {mean:.3}, p99 {}, p99.9 {}; {:?}; {:.1?}",
        percentile(0.99),
        percentile(0.999),
        network.peers[peer].receiver.stats(),
        start.elapsed()
    );
}

fn attack(packets: u64, seed: u64) {
    let start = Instant::now();
    let mut network = Network::new(400, seed);
    let peer = network.join(Faults { loss: 0.1, ..Faults::default() });
    let (mut corpus, mut out) = (Vec::new(), Outbox::default());
    for frame in 0..60 {
        network.step();
        if frame % 5 == 0 {
            network.cut();
            _ = network.peers[peer].receiver.command(b"pause");
        }
        let mut sender = network.sender.clone();
        sender.frame(network.now(), &network.picture_of(network.frame), &mut out).unwrap_or_default();
        sender.poll(network.now() + Duration::from_secs(1), &mut out);
        network.peers[peer].receiver.clone().poll(network.now() + Duration::from_secs(3), &mut out);
    }
    corpus.extend(out.iter().map(|(_, packet)| packet.to_vec()));
    let mut random = Random::new(seed);
    let (sender, receiver, now) = (network.sender.clone(), network.peers[peer].receiver.clone(), network.now());
    let (mut sides, mut decoded) = ((sender.clone(), receiver.clone()), 0u64);
    for n in 0..packets {
        if n % 2000 == 0 {
            sides = (sender.clone(), receiver.clone());
        }
        // packets of about this time: others would be dropped for their numbers already
        let first = (corpus.len() - 64) * (n % 2000) as usize / 2000;
        let mut packet = corpus[first + random.below(64)].clone();
        for _ in 0..=random.below(5) {
            let at = random.below(packet.len());
            match random.below(4) {
                0 => packet[at] = random.next() as u8,
                1 => packet[at] ^= 1 << random.below(8),
                2 => packet.truncate(at.max(1)),
                _ => packet.extend_from_within(..at.min(64)),
            }
        }
        decoded += u64::from(rtcp::read(&packet).is_ok());
        if let Ok((_, body)) = rtp::Header::read(&packet)
            && let Ok((header, contents)) = payload::Header::read(body)
        {
            decoded += u64::from(points::read(&header, contents, |_, _| {}).is_ok());
            decoded += u64::from(state::read(contents).is_ok());
            decoded += u64::from(record::read_events(&header, contents, |_, _| {}).is_ok());
        }
        let now = now + Duration::from_micros(n % 2000 * 2500);
        sides.1.receive(now, HERE, &packet);
        out.clear();
        sides.0.receive(now, network.peers[peer].address, &packet, &mut out);
        let answer: usize = out.iter().map(|(_, packet)| packet.len()).sum();
        assert!(answer <= packet.len(), "an answer is longer than its question");
    }
    println!("{packets} mutated packets, no panic, {decoded} times decoded; {:.1?}", start.elapsed());
}
