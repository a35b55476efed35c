//! The loop on a world of the engine: rigid floor, box and gel, at 60 Hz and at 1 kHz.

use sinew::{ElasticMaterial, RigidBody, Settings, Shape, SoftBody, TetMesh, Vec3, World};
use sinew_haptic::*;

mod common;
use common::{tool, usual};

fn world(dt: f64) -> World {
    World::new(Settings { dt: dt as sinew::Real, ..Settings::default() }).expect("settings in range")
}

fn run(physics: WorldPhysics, ticks: usize, stiffness: f64, start: Wide3) -> VirtualLoop<WorldPhysics> {
    let mut device = SimulatedDevice::new(usual(), Hand::Scripted).expect("usual");
    device.place(Frame::at(start));
    let fast = FastLoop::new(LocalSettings::default(), &[tool(stiffness, false)]).expect("usual");
    let rates = VirtualSettings { ticks_per_step: ticks, late: ticks > 1 };
    VirtualLoop::new(rates, fast, vec![device], physics).expect("one device")
}

/// Over a box and down its side: the force of the coupling on the top, none beside it, as with a step of 1 ms.
#[test]
fn a_box_is_felt_with_its_edge() {
    let trace = |ticks: usize| {
        let mut world = world(1e-3 * ticks as f64);
        let block = RigidBody::fixed().shape(Shape::cuboid(0.05, 0.02, 0.05));
        world.add_rigid(block).expect("a box");
        let coupling = Coupling { stiffness: 800.0, ..Coupling::default() };
        let mut physics = WorldPhysics::new(world);
        let start = Wide3::new(0.02, 0.03, 0.0);
        physics.add_tool(Probe { pose: Frame::at(start), ..Probe::ball(0.005, coupling) }).expect("a ball");
        let mut run = run(physics, ticks, 800.0, start);
        (0..700)
            .map(|k| {
                let t = 1e-3 * f64::from(k);
                let x = 0.02 + 0.1 * (t - 0.2).max(0.0);
                let y = 0.03 - 0.006 * (t / 0.1).min(1.0);
                run.tick(&[Frame::at(Wide3::new(x, y, 0.0))]).expect("it steps").wrenches[0].force
            })
            .collect::<Vec<Wide3>>()
    };
    let (direct, slow) = (trace(1), trace(17));
    assert!((slow[180].y - 0.8).abs() < 1e-4, "{}", slow[180]);
    assert!(slow[699].length() < 1e-6, "{}", slow[699]);
    for k in 20..700 {
        assert!((direct[k] - slow[k]).length() < 1e-3, "tick {k}: {} and {}", direct[k], slow[k]);
    }
}

/// A gel of 10 kPa, 60 x 60 x 30 mm, with its lower side pinned.
fn gel(ticks: usize) -> (WorldPhysics, sinew::BodyId) {
    let mut world = world(1e-3 * ticks as f64);
    let matter = ElasticMaterial::new(1e4, 0.45, 1000.0).damping(2e-3);
    let block = TetMesh::block([14, 7, 14], Vec3::new(0.06, 0.03, 0.06)).expect("a block");
    let body = SoftBody::corotational(block, matter).pin_region([-1.0; 3], [1.0, -0.0149, 1.0]);
    let body = world.add_soft(body).expect("a gel");
    let coupling = Coupling { stiffness: 960.0, ..Coupling::default() };
    let mut physics = WorldPhysics::new(world);
    physics.touch(body, &matter).expect("it has a surface");
    let pose = Frame::at(Wide3::Y * 0.021);
    physics.add_tool(Probe { pose, ..Probe::ball(0.005, coupling) }).expect("a ball");
    (physics, body)
}

fn press(ticks: usize) -> (Vec<f64>, f64, usize) {
    let (physics, body) = gel(ticks);
    let mut run = run(physics, ticks, 960.0, Wide3::Y * 0.021);
    let mut forces = Vec::new();
    for k in 0..400 {
        // 3 mm down at 0.03 m/s, hold, and up
        let t = 1e-3 * f64::from(k) - 0.05;
        let depth = (0.03 * t).clamp(0.0, 0.003).min((0.03 * (0.32 - t)).max(0.0));
        let target = Frame::at(Wide3::Y * (0.021 - depth));
        forces.push(run.tick(&[target]).expect("it steps").wrenches[0].force.y);
    }
    let scale = run.physics().scale(body).expect("it is touchable");
    (forces, scale, run.fast().report(0).force.pressed as usize)
}

/// H13 on the engine: the local model at 60 Hz against steps of 1 ms.
#[test]
fn a_gel_feels_the_same_at_60_hz_as_at_1_khz() {
    let (direct, scale_direct, _) = press(1);
    let (slow, scale, _) = press(17);
    let square = |f: &[f64]| f.iter().map(|x| x * x).sum::<f64>();
    let difference: Vec<f64> = direct.iter().zip(&slow).map(|(a, b)| a - b).collect();
    let error = (square(&difference) / square(&direct)).sqrt();
    let peak = direct.iter().fold(0.0_f64, |a, b| a.max(*b));
    let jump = slow.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f64::max);
    println!("peak {peak} N, rms error {error} of rms, largest change {jump} N, scales {scale_direct} {scale}");
    assert!(peak > 0.03 && error < 0.05 && jump < 0.05, "error {error}, jump {jump}, peak {peak}");
}
