//! Forces of the local model against closed forms: series springs, friction, edges, arms, first touch, stall and return.

use sinew_haptic::*;

mod common;
use common::{Wall, plane, push, tool, usual};

const RATE_60: VirtualSettings = VirtualSettings { ticks_per_step: 17, late: true };
const DIRECT: VirtualSettings = VirtualSettings { ticks_per_step: 1, late: false };

fn scripted(stiffness: f64, rates: VirtualSettings, wall: Wall) -> VirtualLoop<Wall> {
    let device = SimulatedDevice::new(usual(), Hand::Scripted).expect("usual");
    let fast = FastLoop::new(LocalSettings::default(), &[tool(stiffness, false)]).expect("usual");
    VirtualLoop::new(rates, fast, vec![device], wall).expect("one device")
}

fn run_path(run: &mut VirtualLoop<Wall>, ticks: u32, path: impl Fn(f64) -> Wide3) -> Vec<Wide3> {
    let at = |k: u32| Frame::at(path(1e-3 * f64::from(k)));
    (0..ticks).map(|k| run.tick(&[at(k)]).expect("the wall steps").wrenches[0].force).collect()
}

/// H01-H04 style: nothing pulls on a hand in free air, and the tool is where the device is.
#[test]
fn a_free_tool_follows_the_hand_without_force() {
    let mut run = scripted(960.0, RATE_60, Wall::default());
    for k in 0..500 {
        let t = 1e-3 * f64::from(k);
        let target = Frame::at(Wide3::new(0.1 * t, 0.05 + 0.02 * t, 0.0))
            .moved(&Motion { linear: Wide3::ZERO, angular: Wide3::new(t, -2.0 * t, 0.5) });
        let sent = run.tick(&[target]).expect("the wall steps").wrenches[0];
        assert_eq!(sent, Wrench::ZERO);
        // the pose that was read is that of the tick before
        assert_eq!(run.fast().report(0).force.proxy, run.fast().report(0).pose);
    }
    assert!((run.fast().report(0).pose.position.x - 0.0498).abs() < 1e-12);
}

/// H08, H09: K_c d on a rigid wall, the series of both springs on a soft one; tool depth 0 on the rigid one.
#[test]
fn static_forces_are_those_of_springs_in_series() {
    for (compliance, depth, force) in [(0.0, 0.002, 1.0), (1.0 / 200.0, 0.005, 0.714_285_7)] {
        for rates in [DIRECT, RATE_60] {
            let wall = Wall { compliance, relaxation: 0.002, coupling: 500.0, ..Wall::default() };
            let mut run = scripted(500.0, rates, wall);
            let forces = run_path(&mut run, 600, |t| Wide3::Y * -(depth * (10.0 * t).min(1.0)));
            let last = forces[599].y;
            assert!((last / force - 1.0).abs() < 0.005, "{compliance} {rates:?}: {last} N, {force} N");
            if compliance == 0.0 {
                assert!(run.fast().report(0).force.proxy.position.y.abs() < 1e-6);
            }
        }
    }
}

/// H15: a tip of 0.1 m pressed with 1 N, in any orientation of the tool.
#[test]
fn the_wrench_of_a_tip_has_the_torque_of_its_arm() {
    let floor = Geometry::OnFace { tip: Wide3::X * 0.1, radius: 0.0, face: plane() };
    let mut snapshot = Snapshot::new(0.02);
    snapshot.push(ContactPoint::new(1, floor)).expect("there is room");
    // rotation follows the device: the arm is that of the device
    let coupling = Coupling { stiffness: 1000.0, turn_stiffness: f64::INFINITY, ..Coupling::default() };
    let mut model = LocalModel::new(LocalSettings::default(), &[coupling]).expect("usual");
    model.arrive(&snapshot);
    let turned = Frame::default().moved(&Motion { linear: Wide3::ZERO, angular: Wide3::new(0.2, 0.7, -0.3) });
    let arm = turned.rotation * (Wide3::X * 0.1);
    let device = Frame { position: Wide3::Y * (-arm.y - 0.001), ..turned };
    let mut force = ToolForce::default();
    for k in 0..20 {
        force = model.tick(&[device], 1e-3 * f64::from(k))[0];
    }
    assert!((force.hand.force - Wide3::Y).length() < 1e-9, "{:?}", force.hand);
    assert!((force.hand.torque - arm.cross(Wide3::Y)).length() < 1e-9);
    // with a spring of rotation the tip yields: 1/K = 1/K_c + r²/K_r
    let coupling = Coupling { turn_stiffness: 2.0, max_torque: 10.0, ..coupling };
    let mut model = LocalModel::new(LocalSettings { sweeps: 30, ..Default::default() }, &[coupling]).expect("usual");
    model.arrive(&snapshot);
    for k in 0..20 {
        force = model.tick(&[Frame::at(Wide3::Y * -0.001)], 1e-3 * f64::from(k))[0];
    }
    let law = 0.001 / (1.0 / 1000.0 + 0.01 / 2.0);
    assert!((force.hand.force.y / law - 1.0).abs() < 1e-3, "{} N, law {law} N", force.hand.force.y);
}

/// Stick below μ N with the stiffness of the coupling, slip at μ N, and on reversal a jump of at most K_c v T.
#[test]
fn friction_sticks_slips_and_reverses_without_a_jump() {
    let (stiffness, mu, depth, speed) = (800.0, 0.4, 0.002, 0.05);
    let wall = Wall { friction: mu, ..Wall::default() };
    let mut run = scripted(stiffness, RATE_60, wall);
    // down for 0.1 s, then to and fro
    let path = |t: f64| {
        let s = (t - 0.1).max(0.0);
        let way = if s < 0.2 { s } else { 0.4 - s };
        Wide3::new(speed * way, -depth * (t / 0.05).min(1.0), 0.0)
    };
    let forces = run_path(&mut run, 500, path);
    let normal = stiffness * depth;
    let slip_at = mu * normal / (stiffness * speed);
    for (k, force) in forces.iter().enumerate().skip(110).take(180) {
        let t = 1e-3 * k as f64 - 0.101;
        let law = -(stiffness * speed * t).min(mu * normal);
        let early = (t - slip_at).abs() < 0.002;
        assert!(early || (force.x - law).abs() < 0.01 * mu * normal, "{k}: {} N, law {law} N", force.x);
        assert!((force.y / normal - 1.0).abs() < 1e-3, "{k}: {force}");
    }
    let jumps = forces[110..].windows(2).map(|w| (w[1] - w[0]).length());
    let most = jumps.fold(0.0, f64::max);
    assert!(most <= stiffness * speed * 1e-3 * 1.01, "{most} N a tick");
    // after the reversal it slips the other way
    assert!((forces[499].x - mu * normal).abs() < 0.01 * mu * normal, "{}", forces[499]);
}

/// H12: the first tick in contact has at most K_c v T more than the one before, at 0.2 and 0.5 m/s, with late physics.
#[test]
fn first_touch_adds_at_most_what_the_coupling_allows() {
    for speed in [0.2, 0.5] {
        let mut run = scripted(1000.0, RATE_60, Wall::default());
        let forces = run_path(&mut run, 200, |t| Wide3::Y * (0.02 - speed * t));
        let most = forces.windows(2).map(|w| w[1].y - w[0].y).fold(0.0, f64::max);
        assert!(most > 0.0 && most <= 1000.0 * speed * 1e-3 * 1.0001, "{speed} m/s: {most} N in a tick");
    }
}

/// A tip of 5 mm over the edge of a box at 0.1 m/s: the same force with physics at 60 Hz and at 1 kHz.
#[test]
fn over_an_edge_the_force_is_that_of_direct_mode() {
    #[derive(Clone, Copy)]
    struct Edge(f64);
    impl Physics for Edge {
        fn step(&mut self, _: &[Frame], _: f64, snapshot: &mut Snapshot) -> Result<(), Error> {
            snapshot.clear();
            let faces = [(Wide3::Y, Wide3::X, -0.05), (Wide3::X, Wide3::Z, 0.0)];
            for (k, (normal, axis, x)) in faces.into_iter().enumerate() {
                let point = Wide3::new(x, if k == 0 { 0.0 } else { -0.05 }, 0.0);
                let face = Face { point, normal, axis, half: [0.05, 0.05] };
                let geometry = Geometry::OnFace { tip: Wide3::ZERO, radius: self.0, face };
                snapshot.push(ContactPoint { group: 1, ..ContactPoint::new(k as u64 + 1, geometry) })?;
            }
            Ok(())
        }
    }
    for (radius, depth) in [(0.005, 0.001), (0.001, 5e-4)] {
        let trace = |rates: VirtualSettings| {
            let device = SimulatedDevice::new(usual(), Hand::Scripted).expect("usual");
            let fast = FastLoop::new(LocalSettings::default(), &[tool(1000.0, false)]).expect("usual");
            let mut run = VirtualLoop::new(rates, fast, vec![device], Edge(radius)).expect("one device");
            run.devices_mut()[0].place(Frame::at(Wide3::new(-0.02, radius + 0.002, 0.0)));
            (0..500)
                .map(|k| {
                    let t = 1e-3 * f64::from(k);
                    let x = -0.02 + 0.1 * (t - 0.1).max(0.0);
                    let target = Frame::at(Wide3::new(x, radius + 0.002 - (0.002 + depth) * (t / 0.09).min(1.0), 0.0));
                    run.tick(&[target]).expect("it steps").wrenches[0].force
                })
                .collect::<Vec<Wide3>>()
        };
        let (direct, slow) = (trace(DIRECT), trace(RATE_60));
        for k in 0..500 {
            assert!((direct[k] - slow[k]).length() < 1e-3, "tick {k}: {} and {}", direct[k], slow[k]);
        }
        assert!(
            (direct[200].y - 1000.0 * depth).abs() < 1e-6 && direct[499].length() < 1e-9,
            "{} {}",
            direct[200],
            direct[499]
        );
    }
}

/// H14: below 5 % after 100 ms of a stall of 500 ms, no tick more than 0.1 N up; back without a blow.
#[test]
fn a_stall_fades_and_the_return_is_gentle() {
    for compliance in [0.0, 1.0 / 600.0] {
        let hand = Hand::Spring { stiffness: 300.0, damping: 4.0, turn_stiffness: 1.0, turn_damping: 0.01 };
        let device = SimulatedDevice::new(usual(), hand).expect("usual");
        let fast = FastLoop::new(LocalSettings::default(), &[tool(960.0, true)]).expect("usual");
        let wall = Wall { compliance, relaxation: 0.001, coupling: 960.0, ..Wall::default() };
        let mut run = VirtualLoop::new(RATE_60, fast, vec![device], wall).expect("one device");
        let goal = |t: f64| Frame::at(Wide3::Y * -(0.006 * (t / 0.3).min(1.0)));
        let mut forces = Vec::new();
        for k in 0..2200 {
            run.stall((800..1300).contains(&k));
            let t = 1e-3 * f64::from(k);
            forces.push(run.tick(&[goal(t)]).expect("the wall steps").wrenches[0].force.y);
        }
        let before = forces[790];
        assert!(before > 0.5, "{before}");
        // the last snapshot came at 816; the stall begins when the next one is due, at 833
        assert!(forces[933] < 0.05 * before, "c {compliance}: {} N of {before} N after 100 ms", forces[933]);
        assert!(forces[1000..1290].iter().all(|f| *f < 0.05 * before));
        let rise = forces[800..].windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
        let peak = forces[1300..].iter().fold(0.0_f64, |a, b| a.max(*b));
        assert!(rise <= 0.1, "c {compliance}: {rise} N up in a tick");
        assert!(peak < 1.7 * before, "c {compliance}: peak {peak} N, before {before} N");
        assert!((forces[2199] / before - 1.0).abs() < 0.02, "{} N, before {before} N", forces[2199]);
    }
}

/// A local model stiffer than the body is stable, one that is softer beyond the law of mismatch is not.
#[test]
fn the_law_of_mismatch_of_the_two_rates() {
    // K_s = 100 N/m, 17 ms, late, extrapolated and blended: 37 N/m of difference are allowed, seen through the coupling
    let swing = |claimed: f64| {
        let device = SimulatedDevice::new(usual(), push(0.2)).expect("usual");
        let fast = FastLoop::new(LocalSettings::default(), &[tool(960.0, false)]).expect("usual");
        let wall = Wall { compliance: 0.01, claimed, coupling: 960.0, ..Wall::default() };
        let mut run = VirtualLoop::new(RATE_60, fast, vec![device], wall).expect("one device");
        run.devices_mut()[0].place(Frame::at(Wide3::Y * -0.0018));
        let forces: Vec<f64> =
            (0..4000).map(|_| run.tick(&[Frame::default()]).expect("the wall steps").wrenches[0].force.y).collect();
        let span = |part: &[f64]| {
            part.iter().fold(0.0_f64, |a, b| a.max(*b)) - part.iter().fold(f64::INFINITY, |a, b| a.min(*b))
        };
        (span(&forces[300..1000]), span(&forces[3300..]))
    };
    // five times too stiff; exact
    for claimed in [0.2, 1.0] {
        let (_, late) = swing(claimed);
        assert!(late < 1e-2, "claimed {claimed}: {late} N");
    }
    // four times too soft: K_s − K_l = 75 N/m
    let (_, late) = swing(4.0);
    assert!(late > 0.05, "too soft: {late} N");
}
