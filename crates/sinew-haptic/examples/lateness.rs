//! Lateness of the loop in real time, with the fast loop as work and bare, in alternate seconds; and the time of a tick.
//!
//! `cargo run --release -p sinew-haptic --example lateness -- [SECONDS [PRIORITY [CORE]]]`

use sinew_haptic::*;

/// A ball on a soft half-space of 64 points.
fn dent() -> Result<Snapshot, Error> {
    let mut snapshot = Snapshot::new(0.016);
    let gel = snapshot.add_body(Relaxation { time: 2e-3 })?;
    let mut places = [Wide3::ZERO; MOST_POINTS];
    for k in 0..MOST_POINTS {
        let at = Wide3::new((k % 8) as f64 - 3.5, 0.0, (k / 8) as f64 - 3.5) * 5e-4;
        let pair = Geometry::Rounds { tool: [Wide3::ZERO; 2], other: [at; 2], radius: 5e-3 };
        let point = ContactPoint { body: gel, friction: 0.3, area: 2.5e-7, ..ContactPoint::new(k as u64, pair) };
        places[snapshot.push(point)?] = at;
    }
    HalfSpace { young: 1e4, poisson: 0.45 }.fill(&mut snapshot, gel, &places);
    Ok(snapshot)
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(10.0);
    let priority = arguments.next().and_then(|s| s.parse().ok());
    let core = arguments.next().and_then(|s| s.parse().ok());
    let mut fast = FastLoop::new(LocalSettings { sweeps: 5, ..LocalSettings::default() }, &[ToolSettings::default()])?;
    let mut snapshot = dent()?;
    let (mut tick, mut pressed) = (0_u32, 0);
    let settings = RealTimeSettings { priority, core, alternate: true, ..RealTimeSettings::default() };
    let report = run_real_time(&settings, &Default::default(), seconds, |dt| {
        if tick.is_multiple_of(16) {
            snapshot.time = fast.time();
            fast.arrive(&snapshot);
        }
        tick += 1;
        let pose = Frame::at(Wide3::new(1e-4 * f64::from(tick % 16), 0.003, 0.0));
        fast.tick(&[Some(Reading { pose, ..Reading::default() })], dt);
        pressed = pressed.max(fast.report(0).force.pressed);
    })?;
    println!("{:?}", report.scheduling);
    for (name, h) in [("late with work", &report.lateness), ("late, bare", &report.bare), ("work", &report.work)] {
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|q| 1e6 * h.quantile(q));
        let above = 100.0 * h.share_above(1e-4);
        let max = 1e6 * h.max();
        println!("{name}: p50 {p50:.1}, p99 {p99:.1}, p99.9 {p999:.1}, max {max:.0} us, {above:.2} % above 100 us");
    }
    let tick = 1e3 * report.effective.seconds();
    println!("pressed {pressed}, skipped {}, missed {}, effective tick {tick:.4} ms", report.skipped, report.missed);
    Ok(())
}
