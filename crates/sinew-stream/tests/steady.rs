//! A steady exchange allocates nothing: neither the thread of the physics nor the sender.

use std::time::Duration;

use sinew_stream::mailbox::{Delivery, Publisher, mailbox};
use sinew_stream::relay::Faults;
use sinew_stream::{BodyPoints, Outbox};
use sinew_tally::Tally;

mod common;

#[global_allocator]
static TALLY: Tally = Tally::new();

fn fill(physics: &mut Publisher, tick: u32) {
    let frame = physics.frame();
    frame.tick = tick;
    frame.bodies.resize_with(1, BodyPoints::default);
    frame.bodies[0].body = common::BODY;
    frame.bodies[0].points.clear();
    frame.bodies[0].points.extend((0..800).map(|point| common::place(u64::from(tick), point)));
}

#[test]
fn a_steady_exchange_allocates_nothing() {
    let mut network = common::Network::new(800, 1);
    network.join(Faults::default());
    (0..60).for_each(|_| network.step());
    let (mut physics, inbox) = mailbox();
    let (mut delivery, mut out) = (Delivery::default(), Outbox::default());
    let mut count = 0;
    for tick in 0..100u64 {
        let before = TALLY.count();
        inbox.want();
        fill(&mut physics, tick as u32);
        assert!(physics.publish());
        inbox.take(&mut delivery);
        let now = network.now() + Duration::from_millis(tick * 33);
        network.sender.frame(now, &delivery.frame, &mut out).unwrap();
        network.sender.poll(now, &mut out);
        assert!(out.iter().count() >= 6);
        out.clear();
        // the three frames that change places and the buffers of the sender have their sizes by then
        if tick >= 10 {
            count += TALLY.count() - before;
        }
    }
    assert_eq!(count, 0);
}
