//! A tick of the fast loop allocates nothing, snapshots and real time included.

use sinew_haptic::*;
use sinew_tally::Tally;

mod common;
use common::{Wall, tool};

#[global_allocator]
static TALLY: Tally = Tally::new();

#[test]
fn ticks_and_snapshots_allocate_nothing() {
    let tools = [tool(900.0, true), tool(900.0, true)];
    let mut fast = FastLoop::new(LocalSettings::default(), &tools).expect("two tools");
    let mut wall = Wall { compliance: 0.01, relaxation: 0.002, friction: 0.3, ..Wall::default() };
    let (mut publisher, mut subscriber) = exchange(Snapshot::new(0.005));
    let mut ticks = |count: u32, fast: &mut FastLoop| {
        for k in 0..count {
            let t = 1e-3 * f64::from(k);
            let pose = Frame::at(Wide3::new(0.02 * t, -0.002, 0.0));
            let readings = [Some(Reading { pose, ..Reading::default() }); 2];
            if k % 5 == 0 {
                let targets = fast.targets(5);
                publisher.publish(|snapshot| wall.step(&targets, 0.005, snapshot).expect("the wall steps"));
            }
            if let Some(snapshot) = subscriber.newest() {
                fast.arrive(&snapshot);
            }
            fast.tick(&readings, 1e-3);
        }
    };
    ticks(50, &mut fast);
    // the threads of the test program allocate too, now and then: what a tick allocates is in every run
    let mut counted = [0; 5].map(|_| {
        let before = TALLY.count();
        ticks(2000, &mut fast);
        TALLY.count() - before
    });
    counted.sort_unstable();
    assert_eq!(counted[0], 0, "{counted:?}");
    assert!(fast.report(0).sent.force.y > 0.1, "it was in contact: {:?}", fast.report(0));

    // and the loop in real time: from the first to the last tick
    let settings = RealTimeSettings { priority: None, ..RealTimeSettings::default() };
    let readings = [Some(Reading::default()); 2];
    let mut run = || {
        let (mut first, mut last) = (None, 0);
        let report = run_real_time(&settings, &Default::default(), 0.1, |dt| {
            first.get_or_insert_with(|| TALLY.count());
            fast.tick(&readings, dt);
            last = TALLY.count();
        });
        (report.expect("it runs"), last - first.expect("at least one tick"))
    };
    let (report, mut least) = run();
    for _ in 0..4 {
        least = least.min(run().1);
    }
    assert_eq!(least, 0);
    assert!(report.lateness.count() + report.skipped >= 99 && report.effective.seconds() >= 0.9e-3);
}
