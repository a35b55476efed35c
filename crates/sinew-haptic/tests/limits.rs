//! Stability in virtual time against theory: the largest stiffness on a sampled device, through every path of the loop.

use sinew_haptic::limits::{EffectiveTick, stiffness_limit};
use sinew_haptic::*;

mod common;
use common::{Wall, push, tool, usual};

/// Swing of the device around its rest after a small disturbance, late over early; above 1 it grows.
fn growth(run: &mut VirtualLoop<Wall>, stiffness: f64) -> f64 {
    // the push of 0.5 N holds it at this depth; the swing stays inside the wall while it is small
    let rest = -0.5 / stiffness;
    // held there until the first snapshots have come
    run.devices_mut()[0].place(Frame::at(Wide3::Y * rest * 0.98));
    run.devices_mut()[0].set_hand(Hand::Scripted);
    let settle = 60;
    let mut swings = [0.0_f64; 2];
    let ticks = 3000;
    for k in 0..ticks {
        if k == settle {
            run.devices_mut()[0].set_hand(push(0.5));
        }
        run.tick(&[Frame::at(Wide3::Y * rest * 0.98)]).expect("the wall steps");
        let swing = (run.devices()[0].pose().position.y - rest).abs();
        if (settle + 200..settle + 600).contains(&k) {
            swings[0] = swings[0].max(swing);
        }
        if k >= ticks - 400 {
            swings[1] = swings[1].max(swing);
        }
    }
    // a swing that leaves the wall is no longer that of a spring: it grew
    if swings[1] > 0.1 * rest.abs() { f64::INFINITY } else { swings[1] / swings[0].max(1e-300) }
}

/// Largest stiffness of the coupling that does not swing up, by bisection to 0.1 %.
fn limit(delay: f64, rates: VirtualSettings) -> f64 {
    let stable = |stiffness: f64| {
        let settings = SimulatedSettings { delay, ..SimulatedSettings::default() };
        let device = SimulatedDevice::new(settings, push(0.5)).expect("a usual device");
        let fast = FastLoop::new(LocalSettings::default(), &[tool(stiffness, false)]).expect("usual settings");
        let mut run = VirtualLoop::new(rates, fast, vec![device], Wall::default()).expect("one device");
        growth(&mut run, stiffness) < 1.0
    };
    let (mut low, mut high) = (10.0, 3000.0);
    assert!(stable(low) && !stable(high));
    while high - low > 1e-3 * low {
        let middle = 0.5 * (low + high);
        if stable(middle) { low = middle } else { high = middle }
    }
    low
}

const DIRECT: VirtualSettings = VirtualSettings { ticks_per_step: 1, late: false };

/// H05, H06: 1201, 1000.8, 857.9, 600.7 and 400.6 N/m are the exact eigenvalues; the law is within 0.2 % of them.
#[test]
fn the_largest_stable_stiffness_is_that_of_theory_for_every_delay() {
    for (delay, exact) in [(0.0, 1201.1), (1e-4, 1000.8), (2e-4, 857.9), (5e-4, 600.7), (1e-3, 400.6)] {
        let found = limit(delay, DIRECT);
        let law = stiffness_limit(0.6, 1e-3, delay);
        assert!((found / exact - 1.0).abs() < 0.005, "delay {delay}: {found} N/m, exact {exact}");
        assert!(found >= 0.95 * law, "delay {delay}: {found} N/m, law {law}");
    }
}

#[test]
fn slow_physics_does_not_lower_the_limit_of_a_rigid_wall() {
    for ticks in [5, 17, 20] {
        let found = limit(0.0, VirtualSettings { ticks_per_step: ticks, late: true });
        assert!((found / 1201.1 - 1.0).abs() < 0.005, "{ticks} ticks a step: {found} N/m");
    }
}

/// Two tools that press each other stand in series: each coupling has the limit of one.
#[test]
fn two_tools_that_press_each_other_have_the_limit_of_one() {
    /// The tip of tool 0 above a face of tool 1.
    struct Pair;
    impl Physics for Pair {
        fn step(&mut self, _: &[Frame], _: f64, snapshot: &mut Snapshot) -> Result<(), Error> {
            snapshot.clear();
            let face = Face { point: Wide3::ZERO, normal: Wide3::Y, axis: Wide3::X, half: [f64::INFINITY; 2] };
            let geometry = Geometry::OnFace { tip: Wide3::ZERO, radius: 0.0, face };
            snapshot.push(ContactPoint { other: Some(1), ..ContactPoint::new(1, geometry) })?;
            Ok(())
        }
    }
    // against each other both devices move by the same amount: a spring K_c/2 between them is one of K_c to the middle
    let stable = |stiffness: f64| {
        // each stands 0.5 N deep in its coupling, less 2 %, and is held there until the first snapshots have come
        let deep = [0.5, -0.5].map(|y| Frame::at(Wide3::Y * (-0.98 * y / stiffness)));
        let device = |k: usize| {
            let mut device = SimulatedDevice::new(SimulatedSettings::default(), Hand::Scripted).expect("usual");
            device.place(deep[k]);
            device
        };
        let tools = [tool(stiffness, false), tool(stiffness, false)];
        let fast = FastLoop::new(LocalSettings::default(), &tools).expect("two tools");
        let rates = VirtualSettings { ticks_per_step: 17, late: true };
        let devices = vec![device(0), device(1)];
        let mut run = VirtualLoop::new(rates, fast, devices, Pair).expect("two devices");
        let mut swings = [0.0_f64; 2];
        for k in 0..4000 {
            if k == 60 {
                for (device, y) in run.devices_mut().iter_mut().zip([0.5, -0.5]) {
                    device.set_hand(push(y));
                }
            }
            run.tick(&deep).expect("nothing fails");
            let force = run.fast().report(0).sent.force.y;
            assert!((force + run.fast().report(1).sent.force.y).abs() < 1e-9, "action is reaction");
            let swing = (force - 0.5).abs();
            if (300..800).contains(&k) {
                swings[0] = swings[0].max(swing);
            }
            if k >= 3500 {
                swings[1] = swings[1].max(swing);
            }
        }
        swings[1] <= swings[0] && swings[1] < 0.05
    };
    assert!(stable(0.97 * 1201.0) && !stable(1.03 * 1201.0));
}

/// One tick in a hundred comes 4 ms late: K < 2b/T_eff with T_eff = E[dt²]/E[dt].
#[test]
fn late_ticks_lower_the_limit_to_that_of_the_effective_tick() {
    // dt of a late tick, of the one after it
    let lengths = |k: u32| if k % 97 == 50 { 5 } else { 1 };
    let stable = |stiffness: f64| {
        let mut device = SimulatedDevice::new(SimulatedSettings::default(), push(0.5)).expect("usual");
        let rest = -0.5 / stiffness;
        device.place(Frame::at(Wide3::Y * rest * 0.99));
        let mut swings = [0.0_f64; 2];
        for k in 0..20_000 {
            let depth = device.read().expect("it speaks").pose.position.y;
            for _ in 0..lengths(k) {
                device.write(&Wrench { force: Wide3::Y * (-stiffness * depth), torque: Wide3::ZERO });
                device.advance(&Frame::default());
            }
            let swing = (device.pose().position.y - rest).abs();
            if (500..2500).contains(&k) {
                swings[0] = swings[0].max(swing);
            }
            if k >= 18_000 {
                swings[1] = swings[1].max(swing);
            }
        }
        swings[1] < swings[0]
    };
    let mut tick = EffectiveTick::default();
    (0..9700).for_each(|k| tick.add(1e-3 * f64::from(lengths(k))));
    let law = tick.stiffness_limit(0.6, 0.0);
    assert!((law / 1007.0 - 1.0).abs() < 0.03, "{law}");
    assert!(stable(0.95 * law) && !stable(1.05 * law), "law {law}");
}

/// The observer is silent where a spring is stable, and holds one that is not, also while something rubs.
#[test]
fn the_leak_observer_is_silent_below_the_limit_and_acts_above_it() {
    let swing = |stiffness: f64, friction: f64, active: bool| {
        let device = SimulatedDevice::new(usual(), push(0.5)).expect("usual");
        let fast = FastLoop::new(LocalSettings::default(), &[tool(stiffness, active)]).expect("usual");
        let wall = Wall { friction, ..Wall::default() };
        let mut run = VirtualLoop::new(DIRECT, fast, vec![device], wall).expect("one device");
        if friction > 0.0 {
            let rubbing = Wrench { force: Wide3::new(0.4, -0.5, 0.0), torque: Wide3::ZERO };
            run.devices_mut()[0].set_hand(Hand::Push(rubbing));
        }
        run.devices_mut()[0].place(Frame::at(Wide3::Y * 0.002));
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for k in 0..5000 {
            let force = run.tick(&[Frame::default()]).expect("the wall steps").wrenches[0].force.y;
            if k >= 4500 {
                (least, most) = (least.min(force), most.max(force));
            }
        }
        (most - least, run.fast().report(0).passivity)
    };
    let (ripple, report) = swing(500.0, 0.0, true);
    assert!(report.acted == 0 && ripple < 1e-3, "K T < b: {ripple} N, {report:?}");
    for stiffness in [1500.0, 2500.0, 5000.0] {
        let (without, _) = swing(stiffness, 0.0, false);
        let (with, report) = swing(stiffness, 0.0, true);
        assert!(without > 1.0 && with < 0.02 && report.acted > 0, "K {stiffness}: {without} N, {with} N with it");
        let (rubbed, _) = swing(stiffness, 0.4, true);
        assert!(rubbed < 0.02, "K {stiffness} while rubbing: {rubbed} N");
    }
}
