//! Loss, reordering, blackouts and cuts, in virtual time: the cases RT01, RT02, RT03, RT05 and RT06.

mod common;

use std::time::Duration;

use common::{BODY, Network, RATE};
use sinew_stream::relay::{Faults, Relay};

const LOSSY: Faults = Faults {
    loss: 0.3,
    burst: None,
    delay: Duration::ZERO,
    jitter: Duration::ZERO,
    reorder: 0.0,
    hold: Duration::from_millis(50),
    duplicate: 0.0,
};
const CLEAN: Faults = Faults { loss: 0.0, ..LOSSY };
const BLACK: Faults = Faults { loss: 1.0, ..LOSSY };

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

#[test]
fn rt01_and_rt02_ages_at_30_percent_loss() {
    let mut network = Network::new(2430, 1);
    let peer = network.join(LOSSY);
    network.steps = 2;
    (0..120).for_each(|_| network.step());
    let (frames, packets) = (8000, 16);
    let mut older = [0u64; 7];
    let (mut sum, mut fresh) = (0u64, [0u64; 2]);
    for _ in 0..frames {
        network.step();
        let ages = network.ages(peer);
        // the first sixteen points are in sixteen packets
        let ages = &ages[..packets];
        sum += ages.iter().sum::<u64>();
        for (least, count) in older.iter_mut().enumerate() {
            *count += ages.iter().filter(|age| **age >= least as u64).count() as u64;
        }
        for (count, within) in fresh.iter_mut().zip([4, 6]) {
            *count += u64::from(ages.iter().all(|age| *age < within));
        }
    }
    let samples = (frames * packets) as f64;
    let mean = sum as f64 / samples;
    let share = older.map(|count| count as f64 / samples);
    println!("mean {mean:.4}, P(age >= k) {share:.4?}");
    assert!((mean / (0.3 / 0.7) - 1.0).abs() < 0.05, "{mean}");
    for (age, share) in share.iter().enumerate().take(4) {
        assert!((share / 0.3f64.powi(age as i32) - 1.0).abs() < 0.05, "{age} {share}");
    }
    // drawn just before the next frame, a point is one frame older: 99 of 100 are at most 4 frames old, 999 at most 6
    assert!(share[3] > 0.01 && share[4] < 0.01 && share[5] > 0.001 && share[6] < 0.001, "{share:?}");
    let p99 = share.iter().position(|share| *share <= 0.01).unwrap() as u64;
    assert!(ms(1000 * p99 / RATE) <= ms(150), "{p99} frames");
    for (count, right) in fresh.iter().zip([0.878, 0.988]) {
        let share = *count as f64 / frames as f64;
        assert!((share / right - 1.0).abs() < 0.02, "{share} {right}");
    }
    network.check(peer);
}

#[test]
fn rt03_one_parity_packet_leaves_most_of_the_loss() {
    for (data, right) in [(1, 0.090), (2, 0.153), (4, 0.228)] {
        let mut relay = Relay::new(LOSSY, 3).unwrap();
        let (groups, mut lost) = (200_000, 0);
        for _ in 0..groups {
            let missing: Vec<bool> = (0..=data)
                .map(|_| {
                    relay.push(Duration::ZERO, ());
                    relay.pop(Duration::ZERO).is_none()
                })
                .collect();
            // the parity restores one packet of its group
            if missing.iter().filter(|missing| **missing).count() > 1 {
                lost += missing[..data].iter().filter(|missing| **missing).count();
            }
        }
        let share = lost as f64 / (groups * data) as f64;
        assert!((share / right - 1.0).abs() < 0.03, "{data} {share}");
    }
}

#[test]
fn rt05_wraps_reordering_and_duplicates_corrupt_nothing() {
    let mut network = Network::new(400, 2);
    // the time stamp wraps 10 s after the start
    let left = u64::from(u32::MAX - network.sender.timestamp(Duration::ZERO)) / 90;
    network.start = ms(left) - ms(10_000);
    let faults = Faults { loss: 0.1, jitter: ms(50), reorder: 0.05, duplicate: 0.02, ..LOSSY };
    let peer = network.join(faults);
    network.steps = 4;
    for _ in 0..24_000 {
        network.step();
        network.check(peer);
    }
    let (stats, (expected, _)) = (network.peers[peer].receiver.stats(), network.peers[peer].receiver.packets());
    println!("{stats:?}, {expected} packets");
    assert!(expected > 70_000, "the sequence number has wrapped: {expected}");
    assert!(stats.duplicates > 1000 && stats.late > 500);
    assert_eq!((stats.malformed, stats.forged, stats.implausible, stats.bad_changes), (0, 0, 0, 0));
    assert!(network.ages(peer).iter().all(|age| *age < 20));
}

#[test]
fn rt06_cuts_in_a_blackout_are_there_within_500_ms() {
    let mut worst = 0;
    for seed in 0..20 {
        let mut network = Network::new(300, seed);
        let peer = network.join(LOSSY);
        while network.peers[peer].receiver.picture().scene().is_none() {
            network.step();
        }
        network.faults(BLACK);
        for frame in 0..60 {
            if frame % 2 == 0 {
                network.cut();
            }
            network.step();
            network.check(peer);
        }
        network.faults(LOSSY);
        let wanted = network.sender.scene().revision;
        let mut frames = 0;
        while network.peers[peer].receiver.picture().scene().unwrap().revision < wanted {
            network.step();
            network.check(peer);
            frames += 1;
            assert!(frames <= 15, "seed {seed}: not within 500 ms");
        }
        worst = worst.max(frames);
    }
    println!("worst {worst} frames");
}

#[test]
fn rt06_cuts_under_loss_never_mix_revisions() {
    for (burst, cuts) in [(None, 400), (Some(10.0), 400)] {
        let mut network = Network::new(300, 9);
        let faults = Faults { burst, jitter: ms(40), reorder: 0.05, duplicate: 0.02, ..LOSSY };
        let peer = network.join(faults);
        (0..60).for_each(|_| network.step());
        let mut lag = 0;
        for _ in 0..cuts {
            network.cut();
            network.step();
            network.check(peer);
            // every drawn triangle has three corners with places
            let picture = network.peers[peer].receiver.picture();
            let points = picture.bodies().first().map_or(0, |body| body.points().len() as u32);
            assert!(picture.triangles(BODY).all(|(corners, _)| corners.iter().all(|corner| *corner < points)));
            let applied = picture.scene().map_or(0, |scene| scene.revision);
            lag = lag.max(network.sender.scene().revision - applied);
        }
        network.faults(CLEAN);
        (0..15).for_each(|_| network.step());
        let scene = network.peers[peer].receiver.picture().scene().unwrap();
        assert_eq!(scene, network.sender.scene());
        println!("burst {burst:?}: at most {lag} revisions behind");
    }
}

#[test]
fn a_blackout_of_2_s_is_healed_within_500_ms() {
    // after more than 2 s the receiver says hello again
    for (after, frames) in [(CLEAN, 60), (LOSSY, 60), (CLEAN, 63), (CLEAN, 150)] {
        for seed in 0..10 {
            let mut network = Network::new(2430, seed);
            let peer = network.join(CLEAN);
            (0..30).for_each(|_| network.step());
            network.faults(BLACK);
            let end = network.frame + frames;
            (0..frames).for_each(|_| network.step());
            network.faults(after);
            let mut frames = 0;
            loop {
                network.step();
                frames += 1;
                let ages = network.ages(peer);
                let old = ages.iter().filter(|age| network.frame - 1 - **age < end).count();
                if old == 0 {
                    break;
                }
                assert!(frames < 15, "{old} points are still from before the blackout");
            }
            assert!(frames <= 2 || after.loss > 0.0);
        }
    }
}

#[test]
fn after_a_long_blackout_and_a_restart_the_receiver_joins_again() {
    let mut network = Network::new(300, 4);
    let peer = network.join(CLEAN);
    (0..30).for_each(|_| network.step());
    network.faults(BLACK);
    // the sender forgets the receiver after 10 s
    (0..400).for_each(|_| network.step());
    assert_eq!(network.sender.viewers().count(), 0);
    network.cut();
    network.faults(CLEAN);
    let frames = (1..=15).find(|_| {
        network.step();
        network.ages(peer).iter().all(|age| *age < 2)
    });
    assert!(frames.is_some(), "healed within 500 ms");
    // another run of the sender: other keys, session and topology
    let fresh = Network::new(100, 77);
    (network.sender, network.scenes) = (fresh.sender, fresh.scenes);
    (0..90).for_each(|_| network.step());
    let picture = network.peers[peer].receiver.picture();
    assert_eq!(picture.scene(), Some(network.sender.scene()));
    network.check(peer);
}

#[test]
fn bursts_are_survived_and_the_statistics_are_those_of_the_relay() {
    let mut network = Network::new(2430, 5);
    let peer = network.join(Faults { loss: 0.2, burst: Some(8.0), delay: ms(20), jitter: ms(10), ..LOSSY });
    (0..900).for_each(|_| network.step());
    network.check(peer);
    let (expected, received) = network.peers[peer].receiver.packets();
    let loss = 1.0 - received as f64 / expected as f64;
    // 14,000 packets in bursts of 8: a standard deviation of about 0.012
    assert!((loss - 0.2).abs() < 0.04, "{loss}");
    let viewer = network.sender.viewers().next().unwrap();
    let reported = f64::from(viewer.block.lost) / expected as f64;
    assert!((reported - loss).abs() < 0.02, "{reported} {loss}");
    // 20 to 30 ms each way, and up to 4.2 ms until the next step of the network on either side
    let trip = viewer.round_trip.unwrap();
    assert!(trip >= ms(40) && trip <= ms(70), "{trip:?}");
    let jitter = network.peers[peer].receiver.jitter();
    assert!(jitter > ms(0) && jitter < ms(15), "{jitter:?}");
}
