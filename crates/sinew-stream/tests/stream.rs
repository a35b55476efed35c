//! Rates, several receivers, late joins, whole scenes, commands, reports: without faults or with a few.

mod common;

use std::time::Duration;

use common::{BODY, HERE, Network, RATE};
use sinew_stream::points::Layout;
use sinew_stream::relay::Faults;
use sinew_stream::state::{Reading, Rigid, State, Tool};
use sinew_stream::topology::{Change, Triangle};
use sinew_stream::{Frame, Key, ReceiverConfig, SenderConfig};

const TURN: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Two tools, eight readings, and rigid bodies.
fn state(rigid: u16) -> State {
    State {
        rigid: (0..rigid).map(|body| Rigid { body, position: [0.1; 3], rotation: TURN }).collect(),
        tools: (0..2).map(|tool| Tool { tool, rotation: TURN, force: [1.0; 3], ..Tool::default() }).collect(),
        readings: (0..8).map(|reading| Reading { reading, value: 0.5 }).collect(),
    }
}

/// Mean rate [Mbit/s] over 10 s, with headers of UDP and IPv4.
fn rate(key: Option<Key>, layout: Layout, state: &State) -> f64 {
    let mut config = SenderConfig::new([1; 32]);
    (config.key, config.layout) = (key, layout);
    let mut network = Network::with(config, 2430, 1);
    network.join(Faults::default());
    (0..60).for_each(|_| network.step());
    network.bytes_down = 0;
    let seconds = 10;
    for _ in 0..seconds * RATE {
        let frame = Frame { state: state.clone(), ..network.picture_of(network.frame) };
        network.step_with(&frame);
    }
    let picture = network.peers[0].receiver.picture();
    assert_eq!(picture.rigid().count(), state.rigid.len());
    assert_eq!((picture.tools().count(), picture.readings().count()), (state.tools.len(), state.readings.len()));
    assert_eq!(picture.tick(), network.frame as u32 - 1);
    (network.bytes_down * 8 / seconds) as f64 / 1e6
}

#[test]
fn the_rate_of_2430_points_is_at_most_4_mbit_per_s() {
    // 2430 points of 6 bytes and 16 packets with 28 + 12 + 16 + 24 bytes before them, 30 times a second
    let exact = 8.0 * 30.0 * (2430.0 * 6.0 + 16.0 * 80.0) / 1e6;
    let points = rate(None, Layout::Quantised, &State::default());
    // a report of 28 + 28 + 16 bytes in a second
    assert!((points - exact - 8.0 * 72.0 / 1e6).abs() < 2e-4, "{points} {exact}");
    let signed = rate(Some(Key::new(b"secret")), Layout::Quantised, &State::default());
    let scene = rate(None, Layout::Quantised, &state(2));
    let float = rate(None, Layout::Float, &State::default());
    println!(
        "{points:.3} Mbit/s, signed {signed:.3}, with two bodies, two tools, eight readings {scene:.3}, f32 {float:.3}"
    );
    assert!(points <= 4.0 && signed <= 4.0 && scene <= 4.0, "{points} {signed} {scene}");
    // FC: 30 packets of 1008 bytes and headers, 7.3 Mbit/s; with 16 bytes more a packet
    assert!(float > 7.3 && float < 7.8, "{float}");
}

#[test]
fn several_receivers_see_the_same_each_with_its_own_loss() {
    let mut network = Network::new(800, 6);
    let losses = [0.0, 0.05, 0.1, 0.2, 0.3];
    for loss in losses {
        network.join(Faults { loss, jitter: ms(50), reorder: 0.05, duplicate: 0.02, ..Faults::default() });
    }
    for frame in 0..600 {
        if frame % 60 == 59 {
            network.cut();
        }
        network.step();
        (0..losses.len()).for_each(|peer| network.check(peer));
    }
    for (peer, loss) in losses.into_iter().enumerate() {
        let ages = network.peers[peer].receiver.ages(network.now());
        println!("loss {loss}: {ages:?}");
        assert!(ages.missing == 0 && ages.p99 < ms(500), "W3: {ages:?}");
    }
    let reported: Vec<u64> = network.sender.viewers().map(|viewer| viewer.block.lost.max(0) as u64).collect();
    assert!(reported.is_sorted() && reported[4] > 500, "{reported:?}");
    network.faults(Faults::default());
    (0..15).for_each(|_| network.step());
    let same = |peer: &common::Peer| peer.receiver.picture().scene() == Some(network.sender.scene());
    assert!(network.peers.iter().all(same));
}

#[test]
fn a_late_receiver_gets_the_scene_in_pieces() {
    let mut network = Network::new(3000, 8);
    (0..40).for_each(|_| network.cut());
    let peer = network.join(Faults { loss: 0.3, ..Faults::default() });
    let frames = (1..90).find(|_| {
        network.step();
        network.check(peer);
        network.peers[peer].receiver.picture().scene() == Some(network.sender.scene())
    });
    println!("the scene was there after {frames:?} frames");
    assert!(frames.is_some());
}

#[test]
fn a_receiver_far_behind_fetches_the_whole_scene() {
    for (fetch, answer, key) in
        [(true, true, Some(Key::new(b"k"))), (true, true, None), (true, false, None), (false, false, None)]
    {
        let mut config = SenderConfig::new([1; 32]);
        (config.scene_port, config.key) = (5005, key.clone());
        let mut network = Network::with(config, 300, 2);
        let mut config = ReceiverConfig::new(HERE, [9; 32]);
        (config.fetch, config.key) = (fetch, key);
        let peer = network.add(config, Faults::default());
        let mut requests = 0;
        let mut step = |network: &mut Network| {
            network.step();
            network.check(peer);
            let now = network.now();
            if let Some(request) = network.peers[peer].receiver.scene_request(now) {
                requests += 1;
                assert_eq!(request.port, 5005);
                assert_eq!(network.sender.scene_reply(&request.bytes[1..]), None);
                let reply = network.sender.scene_reply(&request.bytes).unwrap();
                assert_eq!(reply[..4], (reply.len() as u32 - 4).to_be_bytes());
                network.peers[peer].receiver.scene_response(now, answer.then_some(&reply[4..]));
            }
        };
        (0..30).for_each(|_| step(&mut network));
        assert!(network.peers[peer].receiver.picture().scene().is_some(), "without TCP it comes in datagrams");
        network.faults(Faults { loss: 1.0, ..Faults::default() });
        for _ in 0..150 {
            network.cut();
            network.cut();
            step(&mut network);
        }
        network.faults(Faults::default());
        let frames = (1..=15).find(|_| {
            step(&mut network);
            network.peers[peer].receiver.picture().scene() == Some(network.sender.scene())
        });
        assert!(frames.is_some(), "within 500 ms, fetch {fetch}, answer {answer}");
        assert_eq!(requests > 0, fetch);
    }
}

#[test]
fn a_large_change_goes_in_pieces() {
    let mut network = Network::new(5000, 3);
    let peer = network.join(Faults { loss: 0.3, ..Faults::default() });
    (0..60).for_each(|_| network.step());
    let added = vec![Triangle { corners: [0, 1, 2], inner: true, removed: false }; 2000];
    let change = Change { body: BODY, removed: (0..1000).collect(), added, ..Change::default() };
    let revision = network.sender.change(&change).unwrap();
    network.scenes.insert(revision, network.sender.scene().clone());
    network.cut();
    let frames = (1..=30).find(|_| {
        network.step();
        network.check(peer);
        network.peers[peer].receiver.picture().scene() == Some(network.sender.scene())
    });
    println!("30 kB of a change after {frames:?} frames");
    assert!(frames.is_some());
}

#[test]
fn another_scene_takes_the_place_of_the_first() {
    let mut network = Network::new(300, 3);
    let peer = network.join(Faults { loss: 0.1, ..Faults::default() });
    (0..30).for_each(|_| network.step());
    network.sender.replace(common::strip(500)).unwrap();
    network.scenes.insert(1, network.sender.scene().clone());
    for _ in 0..30 {
        network.step();
        network.check(peer);
    }
    assert_eq!(network.peers[peer].receiver.picture().bodies()[0].points().len(), 500);
    assert!(network.ages(peer).iter().all(|age| *age < 9));
}

#[test]
fn the_limit_of_the_rate_leaves_out_whole_frames() {
    let mut config = SenderConfig::new([1; 32]);
    config.bit_rate = 1_000_000;
    let mut network = Network::with(config, 2430, 1);
    let peer = network.join(Faults::default());
    (0..300).for_each(|_| network.step());
    let rate = network.bytes_down as f64 * 8.0 / 10.0 / 1e6;
    assert!(rate <= 1.03, "{rate} Mbit/s: the limit and the burst of a quarter of a second");
    assert!(rate > 0.8, "{rate}");
    let ages = network.ages(peer);
    assert!(ages.iter().all(|age| *age == ages[0]), "a frame is whole or not there");
    assert!(network.sender.stats().skipped > 150);
}

#[test]
fn above_40_percent_loss_every_second_frame_is_sent() {
    let mut network = Network::new(800, 1);
    network.join(Faults { loss: 0.3, ..Faults::default() });
    network.join(Faults { loss: 0.55, ..Faults::default() });
    (0..300).for_each(|_| network.step());
    let skipped: Vec<u64> = network.sender.viewers().map(|viewer| viewer.skipped).collect();
    assert!(skipped[0] == 0 && skipped[1] > 90, "{skipped:?}");
}

#[test]
fn commands_arrive_in_order_over_a_lossy_way() {
    for key in [None, Some(Key::new(b"k"))] {
        let mut config = SenderConfig::new([1; 32]);
        config.key = key;
        let mut network = Network::with(config, 50, 1);
        let faults = Faults { loss: 0.3, jitter: ms(40), reorder: 0.1, duplicate: 0.05, ..Faults::default() };
        let peers = [network.join(faults), network.join(faults)];
        let (mut sent, mut found) = ([0u32; 2], vec![Vec::new(); 2]);
        let mut viewers = Vec::new();
        for frame in 0..900 {
            for peer in peers {
                // the first commands wait for the welcome
                let receiver = &mut network.peers[peer].receiver;
                if frame < 600 && receiver.is_joined() && receiver.command(&sent[peer].to_be_bytes()).is_ok() {
                    sent[peer] += 1;
                }
            }
            network.step();
            while let Some((viewer, command)) = network.sender.command() {
                let at = viewers.iter().position(|known| *known == viewer).unwrap_or_else(|| {
                    viewers.push(viewer);
                    viewers.len() - 1
                });
                found[at].push(u32::from_be_bytes(command.try_into().unwrap()));
            }
        }
        let mut counts: Vec<u32> = found.iter().map(|list| list.len() as u32).collect();
        found.iter().for_each(|list| assert!(list.iter().copied().eq(0..list.len() as u32)));
        counts.sort_unstable();
        sent.sort_unstable();
        assert_eq!(counts, sent);
        assert!(sent[0] > 400, "{sent:?}");
        assert!(peers.iter().all(|peer| network.peers[*peer].receiver.commands_waiting() == 0));
    }
}

#[test]
fn numbers_that_are_not_finite_do_not_leave_the_sender() {
    let mut network = Network::new(50, 1);
    let peer = network.join(Faults::default());
    (0..10).for_each(|_| network.step());
    let mut state = state(10);
    state.rigid[3].position[1] = f32::NAN;
    state.tools[0].force[2] = f32::INFINITY;
    state.readings[5].value = f32::NAN;
    let frame = Frame { state, ..network.picture_of(network.frame) };
    network.step_with(&frame);
    let picture = network.peers[peer].receiver.picture();
    assert_eq!([picture.rigid().count(), picture.tools().count(), picture.readings().count()], [9, 1, 7]);
    assert_eq!(network.sender.stats().not_finite, 3);
    assert_eq!(network.peers[peer].receiver.stats().malformed, 0);
}

#[test]
fn a_steady_frame_is_decoded_at_200_receivers() {
    let mut config = SenderConfig::new([1; 32]);
    config.receivers = 200;
    let mut network = Network::with(config, 100, 1);
    (0..200).for_each(|_| _ = network.join(Faults { loss: 0.05, ..Faults::default() }));
    (0..60).for_each(|_| network.step());
    assert_eq!(network.sender.viewers().count(), 200);
    (0..200).for_each(|peer| network.check(peer));
}
