//! Tools that a hand moves: contact of probes with soft and rigid matter, the loop of 1 kHz with its limits of stability,
//! grips.
//!
//! The simulated device has the mass 0.1 kg and the damping b = 0.6 N·s/m; times of the loop are virtual.

use super::soft_tools::refused;
use super::tools::{G, bisect, floor, free_space, num, real, vec3};
use super::{Case, Reading, Readings};
use sinew::tool::{Coupling, Grasper, ToolIds, ToolSpec};
use sinew::{
    ElasticMaterial, Error, Input, Pose, RigidBody, Settings, Shape, SoftBody, Stabilization, SurfaceMaterial, TetMesh,
    Vec3, World,
};
use sinew_haptic::{
    FastLoop, Frame, Hand, LocalSettings, Passivity, PassivitySettings, Probe, SimulatedDevice, SimulatedSettings,
    ToolSettings, VirtualLoop, VirtualSettings, Wide3, Work, WorkspaceSettings, WorldPhysics, Wrench,
};

const COARSE: &str = "8.6 % of the rms on cells of 5 mm, as large as the ball; 3.6 % on cells of 4.3 mm (tests/world.rs of sinew-haptic)";

/// H03 to H10, H12 to H15.
pub const CASES: &[Case] = &[
    Case::tool("H03", "Passivity of a virtual wall", h03),
    Case::tool("H04", "Continuity of the force across updates at 60 Hz", h04),
    Case::tool("H05", "Largest stable stiffness of a sampled wall", h05),
    Case::tool("H06", "Largest stable stiffness with one tick of delay", h06),
    Case::tool("H07", "Leak of a sampled spring", h07),
    Case::tool("H08", "Virtual coupling on a fixed wall", h08),
    Case::tool("H09", "Virtual coupling on a spring", h09),
    Case::tool("H10", "Two grips hold a weight", h10),
    Case::tool("H12", "First touch at 0.2 m/s", h12),
    Case::tool("H13", "Local model at 60 Hz against 1 kHz", h13).known(COARSE),
    Case::tool("H14", "Stall of the world while pressed", h14),
    Case::tool("H15", "Wrench of an off-centre tip", h15),
];

fn smooth() -> SurfaceMaterial {
    SurfaceMaterial::friction(0.0)
}

fn coupling(stiffness: f64) -> Coupling {
    Coupling { stiffness, max_force: 1e3, max_torque: 1e3, ..Coupling::default() }
}

/// A ball of 5 mm above a rigid floor, with the loop of 1 kHz: the world in steps of a number of ticks.
fn over_floor(stiffness: f64, ticks: usize, device: SimulatedDevice) -> Result<VirtualLoop<WorldPhysics>, Error> {
    let mut world = World::new(Settings { dt: real(1e-3 * ticks as f64), ..free_space() })?;
    floor(&mut world, smooth())?;
    looped(WorldPhysics::new(world), stiffness, ticks, device, 5e-3)
}

fn told(error: sinew_haptic::Error) -> Error {
    Error::BadConstraint { constraint: "loop", reason: error.to_string() }
}

fn looped(
    mut physics: WorldPhysics,
    stiffness: f64,
    ticks: usize,
    mut device: SimulatedDevice,
    height: f64,
) -> Result<VirtualLoop<WorldPhysics>, Error> {
    let start = Frame::at(Wide3::Y * height);
    device.place(start);
    physics.add_tool(Probe { pose: start, ..Probe::ball(5e-3, coupling(stiffness)) }).map_err(told)?;
    let tool = ToolSettings {
        coupling: coupling(stiffness),
        workspace: WorkspaceSettings { max_force: 1e3, max_torque: 1e3, ..WorkspaceSettings::default() },
        passivity: PassivitySettings { active: false, ..PassivitySettings::default() },
        ..ToolSettings::default()
    };
    let fast = FastLoop::new(LocalSettings::default(), &[tool]).map_err(told)?;
    VirtualLoop::new(VirtualSettings { ticks_per_step: ticks, late: ticks > 1 }, fast, vec![device], physics)
        .map_err(told)
}

fn down(force: f64) -> Hand {
    Hand::Push(Wrench { force: Wide3::NEG_Y * force, torque: Wide3::ZERO })
}

fn usual(delay: f64, hand: Hand) -> Result<SimulatedDevice, Error> {
    SimulatedDevice::new(SimulatedSettings { delay, ..SimulatedSettings::default() }, hand).map_err(told)
}

/// A hand of 0.5 N lets go 2 mm above the wall: K T/2 = 0.5 N·s/m is below b, and the swing dies with b − K T/2 = 0.1 N·s/m,
/// in a time of 2 s. What a sampled spring leaks, at most K dx²/2 a tick, is less than what the device takes, b dx²/T.
fn h03() -> Readings {
    let mut run = over_floor(1000.0, 1, usual(0.0, down(0.5))?)?;
    run.devices_mut()[0].place(Frame::at(Wide3::Y * 7e-3));
    let rest = 5e-3 - 0.5 / 1000.0;
    let (mut work, mut swing) = (0.0, 0.0_f64);
    let mut last = run.devices()[0].pose().position.y;
    let damping = SimulatedSettings::default().damping;
    for k in 0..40_000 {
        let force = run.tick(&[Frame::default()]).map_err(told)?.wrenches[0].force.y;
        let now = run.devices()[0].pose().position.y;
        // the force is held over the tick
        if force > 0.0 {
            work += force * (now - last) - damping * (now - last).powi(2) / 1e-3;
        }
        last = now;
        if k >= 39_800 {
            swing = swing.max((now - rest).abs());
        }
    }
    // what the wall gave beyond the damping of the device, and what the coupling still stores
    let stored = 0.5 * 0.5 * 0.5 / 1000.0;
    Ok(vec![
        Reading::absolute("place at the end", last, rest, 1e-6),
        Reading::at_most("swing at the end", swing, 1e-6),
        Reading::at_most("energy out beyond that in", (work + stored).max(0.0), 1e-6),
    ])
}

/// Swing of the device around its rest after a small disturbance, late over early: above 1 it grows.
fn grows(stiffness: f64, delay: f64) -> Result<bool, Error> {
    let mut run = over_floor(stiffness, 1, usual(delay, Hand::Scripted)?)?;
    let rest = 5e-3 - 0.5 / stiffness;
    let begin = Frame::at(Wide3::Y * (rest + 0.02 * 0.5 / stiffness));
    run.devices_mut()[0].place(begin);
    let mut swings = [0.0_f64; 2];
    for k in 0..2400 {
        if k == 60 {
            run.devices_mut()[0].set_hand(down(0.5));
        }
        run.tick(&[begin]).map_err(told)?;
        let swing = (run.devices()[0].pose().position.y - rest).abs();
        if (260..660).contains(&k) {
            swings[0] = swings[0].max(swing);
        } else if k >= 2000 {
            swings[1] = swings[1].max(swing);
        }
    }
    Ok(swings[1] >= swings[0])
}

fn h05() -> Readings {
    let limit = bisect(1000.0, 1400.0, 7, |stiffness| grows(stiffness, 0.0))?;
    Ok(vec![Reading::relative("K at 1 kHz", limit, 1201.2, 0.02)])
}

fn h06() -> Readings {
    let late = bisect(320.0, 500.0, 7, |stiffness| grows(stiffness, 1e-3))?;
    let little = bisect(850.0, 1200.0, 7, |stiffness| grows(stiffness, 1e-4))?;
    Ok(vec![
        Reading::relative("K at 1 kHz", late, 400.7, 0.02),
        Reading::relative("K at 1 kHz, 0.1 ms of delay", little, 1000.8, 0.02),
    ])
}

/// In and out by 10 mm at 0.1 m/s: a sampled spring gives out K v T d.
fn h07() -> Readings {
    let settings = PassivitySettings { active: false, ..PassivitySettings::default() };
    let mut observer = Passivity::new(settings, 1e-3).map_err(told)?;
    let stiffness = 1000.0;
    for k in 0..=200 {
        let depth = 1e-4 * f64::from(if k <= 100 { k } else { 200 - k });
        let wrench = Wrench { force: Wide3::Y * (stiffness * depth), torque: Wide3::ZERO };
        observer.pass(&wrench, &Frame::at(Wide3::NEG_Y * depth), &Work::default());
    }
    Ok(vec![Reading::absolute("energy given out", observer.report().given, 1e-3, 1e-6)])
}

fn steps(world: &mut World, count: usize, input: &Input) {
    for _ in 0..count {
        world.step(input);
    }
}

/// Contacts without the softness of the settings: the depth of a rigid contact is not of interest here.
fn hard() -> Settings {
    Settings { contact: Stabilization::Baumgarte(0.2), ..free_space() }
}

fn light(at: Vec3) -> RigidBody {
    RigidBody::dynamic().shape(Shape::ball(5e-3)).mass(5e-3).material(smooth()).at(at)
}

fn h08() -> Readings {
    let mut world = World::new(hard())?;
    floor(&mut world, smooth())?;
    let ids = world.add_tool(ToolSpec::new(light(vec3(0.0, 5e-3, 0.0))).coupling(coupling(500.0)))?;
    steps(&mut world, 500, &Input::none().tool(ids.tool, Pose::at(vec3(0.0, 3e-3, 0.0))));
    let tool = world.tool(ids.tool)?;
    Ok(vec![
        Reading::relative("F on the hand", tool.on_hand.force.y, 1.0, 0.005),
        Reading::relative("F of the contact", tool.contact.force.y, 1.0, 0.005),
        Reading::at_most("depth of the tool", 5e-3 - num(tool.pose.position.y), 1e-6),
    ])
}

fn h09() -> Readings {
    let mut world = World::new(free_space())?;
    let ids = world.add_tool(ToolSpec::new(light(Vec3::ZERO)).coupling(coupling(500.0)))?;
    let tip = sinew::Site::Rigid { body: ids.body, local: Vec3::ZERO };
    world.add_distance(sinew::Distance::spring(sinew::Site::World(-Vec3::X), tip, 1.0, 200.0, 1.0))?;
    steps(&mut world, 1500, &Input::none().tool(ids.tool, Pose::at(vec3(5e-3, 0.0, 0.0))));
    Ok(vec![Reading::relative("F", -world.tool(ids.tool)?.on_hand.force.x, 0.714_285_7, 0.005)])
}

/// A grasper whose jaws close on what lies 40 mm below its origin.
fn grasper(world: &mut World, at: Vec3) -> Result<ToolIds, Error> {
    let rough = SurfaceMaterial::friction(1.0);
    let jaw = |x: f64| {
        let shape = Shape::cuboid(2e-3, 5e-3, 8e-3);
        RigidBody::dynamic().shape(shape).mass(0.02).material(rough).at(vec3(x, -0.04, 0.0))
    };
    let shaft = RigidBody::dynamic().shape(Shape::capsule(0.01, 3e-3)).mass(0.05).at(at);
    let jaws = [jaw(2e-3), jaw(-2e-3)];
    let grasper = Grasper { max_opening: 0.04, opening: 0.03, force: 8.0, ..Grasper::new(jaws) };
    let stiff = Coupling { turn_stiffness: 20.0, ..coupling(2000.0) };
    world.add_tool(ToolSpec::new(shaft).coupling(stiff).grasper(grasper))
}

/// Two graspers hold a bar of 0.2 kg at its ends.
fn h10() -> Readings {
    let mut world = World::new(Settings { dt: 2e-3, gravity: Vec3::ZERO, ..free_space() })?;
    let rough = SurfaceMaterial::friction(1.0);
    let bar = RigidBody::dynamic().shape(Shape::cuboid(0.01, 0.01, 0.06)).mass(0.2).material(rough);
    let bar = world.add_rigid(bar)?;
    let places = [vec3(0.0, 0.04, 0.045), vec3(0.0, 0.04, -0.045)];
    let mut tools = Vec::new();
    for at in places {
        tools.push(grasper(&mut world, at)?);
    }
    let hold = |opening: f64| {
        tools.iter().zip(places).fold(Input::none(), |input, (t, at)| input.grasp(t.tool, Pose::at(at), real(opening)))
    };
    steps(&mut world, 200, &hold(0.0));
    // its weight comes when it is held
    let weight = vec3(0.0, -0.2 * G, 0.0);
    let loaded = hold(0.0).force(bar, weight);
    steps(&mut world, 2000, &loaded);
    let (mut force, mut torque) = (0.0, 0.0);
    let (count, middle) = (500, world.body(bar)?.center_of_mass());
    for _ in 0..count {
        world.step(&loaded);
        for t in &tools {
            let tool = world.tool(t.tool)?;
            force -= tool.on_hand.force.y;
            let arm = tool.commanded.position - middle;
            // about x through the centre of the bar
            let hand = tool.on_hand.torque.x + num(arm.y) * tool.on_hand.force.z - num(arm.z) * tool.on_hand.force.y;
            torque += hand;
        }
    }
    let per = 1.0 / f64::from(count);
    Ok(vec![
        Reading::relative("sum of forces", force * per, 0.2 * G, 0.002),
        Reading::at_most("torque about the centre", torque * per, 1e-3),
    ])
}

/// The hand goes into the wall at 0.2 m/s: the force rises by at most K v T a tick.
fn h12() -> Readings {
    let (speed, stiffness) = (0.2, 1000.0);
    let mut readings = Vec::new();
    for ticks in [1, 17] {
        let mut run = over_floor(stiffness, ticks, usual(0.0, Hand::Scripted)?)?;
        let start = 5e-3 + 0.02;
        run.devices_mut()[0].place(Frame::at(Wide3::Y * start));
        let (mut jump, mut last, mut largest) = (0.0_f64, 0.0, 0.0_f64);
        for k in 0..115 {
            let y = start - speed * 1e-3 * f64::from(k);
            let force = run.tick(&[Frame::at(Wide3::Y * y)]).map_err(told)?.wrenches[0].force.y;
            (jump, last, largest) = (jump.max(force - last), force, largest.max(force));
        }
        let label = if ticks == 1 { "jump, step of 1 ms" } else { "jump, step of 17 ms" };
        readings.push(Reading::relative(label, jump, stiffness * speed * 1e-3, 0.05));
        readings.push(Reading::holds("it was pressed", largest > 2.0));
    }
    Ok(readings)
}

/// A gel of 10 kPa, 60 x 30 x 60 mm, on its held lower side.
fn gel(ticks: usize, hand: SimulatedDevice) -> Result<VirtualLoop<WorldPhysics>, Error> {
    let mut world = World::new(Settings { dt: real(1e-3 * ticks as f64), ..free_space() })?;
    let matter = ElasticMaterial::new(1e4, 0.45, 1000.0).damping(2e-3);
    let block = TetMesh::block([12, 6, 12], vec3(0.06, 0.03, 0.06)).map_err(|e| refused(&e))?;
    let body = SoftBody::corotational(block, matter).pin_region([-1.0; 3], [1.0, -0.0149, 1.0]);
    let body = world.add_soft(body)?;
    let mut physics = WorldPhysics::new(world);
    physics.touch(body, &matter).map_err(told)?;
    looped(physics, 960.0, ticks, hand, 0.021)
}

/// The probe presses by 2 mm and slides at 0.1 m/s.
fn slid(ticks: usize) -> Result<Vec<Wide3>, Error> {
    let mut run = gel(ticks, usual(0.0, Hand::Scripted)?)?;
    let mut forces = Vec::new();
    for k in 0..420 {
        let t = 1e-3 * f64::from(k);
        let depth = (0.03 * (t - 0.05)).clamp(0.0, 2.5e-3);
        let along = (0.1 * (t - 0.25)).clamp(0.0, 0.015) - 5e-3;
        let target = Frame::at(Wide3::new(along, 0.021 - depth, 0.0));
        forces.push(run.tick(&[target]).map_err(told)?.wrenches[0].force);
    }
    Ok(forces)
}

fn h04() -> Readings {
    let forces = slid(17)?;
    let jump = forces.windows(2).map(|w| (w[1] - w[0]).length()).fold(0.0, f64::max);
    let peak = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
    Ok(vec![Reading::at_most("largest change in a tick", jump, 0.05), Reading::holds("it was pressed", peak > 0.03)])
}

/// The probe presses by 2 mm, holds and leaves.
fn h13() -> Readings {
    let trace = |ticks: usize| -> Result<Vec<f64>, Error> {
        let mut run = gel(ticks, usual(0.0, Hand::Scripted)?)?;
        let mut forces = Vec::new();
        for k in 0..350 {
            let t = 1e-3 * f64::from(k) - 0.05;
            let depth = (0.03 * t).clamp(0.0, 0.0025).min((0.03 * (0.27 - t)).max(0.0));
            let target = Frame::at(Wide3::Y * (0.021 - depth));
            forces.push(run.tick(&[target]).map_err(told)?.wrenches[0].force.y);
        }
        Ok(forces)
    };
    let (direct, slow) = (trace(1)?, trace(17)?);
    let square = |f: &mut dyn Iterator<Item = f64>| f.map(|x| x * x).sum::<f64>();
    let difference = square(&mut direct.iter().zip(&slow).map(|(a, b)| a - b));
    let size = square(&mut direct.iter().copied());
    Ok(vec![Reading::at_most("rms difference of the rms", (difference / size).sqrt(), 0.05)])
}

/// The world stands still for 500 ms while the wall is pressed by 1 N.
fn h14() -> Readings {
    let mut run = over_floor(500.0, 17, usual(0.0, Hand::Scripted)?)?;
    let target = Frame::at(Wide3::Y * 3e-3);
    let path = |k: u32| Frame::at(Wide3::Y * (5e-3 - 2e-3 * (f64::from(k) / 100.0).min(1.0)));
    let mut before = 0.0;
    for k in 0..400 {
        before = run.tick(&[path(k)]).map_err(told)?.wrenches[0].force.y;
    }
    run.stall(true);
    let (mut faded, mut rise, mut last) = (0.0, 0.0_f64, before);
    for k in 0..500 {
        let force = run.tick(&[target]).map_err(told)?.wrenches[0].force.y;
        if k == 100 + 51 {
            faded = force;
        }
        (rise, last) = (rise.max(force - last), force);
    }
    run.stall(false);
    for _ in 0..1000 {
        let force = run.tick(&[target]).map_err(told)?.wrenches[0].force.y;
        (rise, last) = (rise.max(force - last), force);
    }
    Ok(vec![
        Reading::relative("F before", before, 1.0, 0.005),
        // the stall is noticed 40 ms after the last snapshot
        Reading::at_most("F after 100 ms of fading", faded, 0.05),
        Reading::at_most("largest rise in a tick", rise, 0.05),
        Reading::relative("F afterwards", last, 1.0, 0.01),
    ])
}

/// A tip 0.1 m from the origin, pressed with 1 N.
fn h15() -> Readings {
    let mut world = World::new(hard())?;
    floor(&mut world, smooth())?;
    let tip = sinew::Collider::new(Shape::ball(5e-3)).at(Pose::at(vec3(0.1, 0.0, 0.0))).material(smooth());
    let inertia = sinew::Sym3::diagonal(Vec3::splat(1e-4));
    let body = RigidBody::dynamic().collider(tip).mass(0.05).inertia(inertia).at(vec3(0.0, 5e-3, 0.0));
    let stiff = Coupling { turn_stiffness: 1000.0, ..coupling(500.0) };
    let ids = world.add_tool(ToolSpec::new(body).coupling(stiff))?;
    steps(&mut world, 2000, &Input::none().tool(ids.tool, Pose::at(vec3(0.0, 3e-3, 0.0))));
    let tool = world.tool(ids.tool)?;
    // the arm turns with the tool by a tenth of a milliradian
    Ok(vec![Reading::relative("T/F", tool.contact.torque.z / tool.contact.force.y, 0.1, 1e-4)])
}
