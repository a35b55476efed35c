//! `sinew haptic SCENE`: the force loop of 1 kHz beside the world of a scene, in virtual or in real time; and `sinew
//! device`, a simulated device for it.

use crate::failure::{Failure, unknown};
use crate::interrupt;
use crate::output::{Json, Table};
use crate::play::above_zero;
use crate::scenes;
use crate::screen::{note, screen};
use serde::Serialize;
use sinew::{BodySpec, Command, ConstraintId, ElasticMaterial, Real, Settings, SoftModel, World};
use sinew_haptic::limits::stiffness_limit;
use sinew_haptic::protocol::{DATAGRAM, FromDevice, ToDevice};
use sinew_haptic::{
    Device, FastLoop, Frame, Hand, Histogram, IntakeSettings, LocalSettings, MOST_TOOLS, Physics, RealTimeReport,
    RealTimeSettings, SimulatedDevice, SimulatedSettings, Snapshot, ToolSettings, UdpDevice, VirtualLoop,
    VirtualSettings, Wide3, WideQuat, WorkspaceSettings, WorldPhysics, Wrench, exchange, run_real_time,
};
use sinew_scene::AnyScene;
use std::io::Write;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Length of a tick [s].
const TICK: f64 = 1e-3;
/// Address of the loop for devices by UDP.
const ADDRESS: &str = "127.0.0.1:9471";
/// Longest step of the physics, in ticks.
const MOST_TICKS: f64 = 20.0;

/// The scene, the devices and the time.
#[derive(clap::Args)]
pub struct Args {
    /// A built-in scene or a scene file with tools
    scene: String,
    /// A device for a tool: `sim` follows the scene's own motion, `udp` listens for datagrams of a device at 127.0.0.1:9471
    /// or at ADDR; without TOOL: the first tool that has none
    #[arg(long = "device", value_name = "[TOOL=]sim|udp[=ADDR]", required = true)]
    devices: Vec<String>,
    /// Time of the loop [s]; without: as long as the scene is worth watching
    #[arg(long, value_name = "S", value_parser = above_zero)]
    seconds: Option<f64>,
    /// Device, loop and world by one clock: the same bits each time. For simulated devices
    #[arg(long = "virtual")]
    is_virtual: bool,
    /// Write what was measured as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

/// A simulated device for a loop that runs elsewhere.
#[derive(clap::Args)]
pub struct DeviceArgs {
    /// What it speaks, and where the loop listens: `udp` is 127.0.0.1:9471
    #[arg(long, value_name = "udp[=ADDR]")]
    serve: String,
    /// How long [s]
    #[arg(long, value_name = "S", value_parser = above_zero, default_value_t = 10.0)]
    seconds: f64,
    /// The hand goes down and up by this distance, once a second [m]
    #[arg(long, value_name = "M", value_parser = above_zero, default_value_t = 0.01)]
    stroke: f64,
}

/// Which device moves which tool.
enum Link {
    Simulated,
    Udp(String),
}

/// A tool with its device.
struct Port {
    name: String,
    tool: ConstraintId,
    link: Link,
}

/// What `--json` writes: the fields are a contract.
#[derive(Serialize)]
pub struct Summary {
    scene: String,
    seconds: f64,
    ticks: u64,
    rate_hz: f64,
    #[serde(rename = "virtual")]
    is_virtual: bool,
    physics_hz: f64,
    tools: Vec<ToolSummary>,
    step_ms: StepMs,
    #[serde(skip_serializing_if = "Option::is_none")]
    late_us: Option<Late>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<String>,
}

#[derive(Serialize)]
struct ToolSummary {
    tool: String,
    device: &'static str,
    force_max_n: f64,
    force_rms_n: f64,
    largest_change_n: f64,
    torque_max_nm: f64,
    energy_given_j: f64,
    damped_ticks: u64,
    limited_ticks: u64,
    stalled_ticks: u64,
    silent: bool,
    dropped_readings: u64,
    stiffness_n_per_m: f64,
    stiffness_limit_n_per_m: f64,
}

/// Times of a step of the physics [ms].
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StepMs {
    pub mean: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

/// Lateness of ticks [µs].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Late {
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl StepMs {
    pub fn of(times: &Histogram) -> Self {
        let at = |q: f64| 1e3 * times.quantile(q);
        Self { mean: 1e3 * times.mean(), p99: at(0.99), p999: at(0.999), max: 1e3 * times.max() }
    }
}

impl Late {
    pub fn of(times: &Histogram) -> Self {
        let at = |q: f64| 1e6 * times.quantile(q);
        Self { p99: at(0.99), p999: at(0.999), max: 1e6 * times.max() }
    }
}

/// What was felt at a tool.
#[derive(Clone, Copy, Debug, Default)]
struct Felt {
    largest: f64,
    squares: f64,
    change: f64,
    torque: f64,
    last: Wide3,
    ticks: u64,
    limited: u64,
    stalled: u64,
}

impl Felt {
    fn note(&mut self, wrench: &Wrench, limited: bool, stalled: bool) {
        let force = wrench.force.length();
        self.largest = self.largest.max(force);
        self.squares += force * force;
        self.change = self.change.max((wrench.force - self.last).length());
        self.torque = self.torque.max(wrench.torque.length());
        self.last = wrench.force;
        self.ticks += 1;
        self.limited += u64::from(limited);
        self.stalled += u64::from(stalled);
    }
}

/// The physics of a scene beside the loop, with the time of its steps.
pub struct ScenePhysics {
    inner: WorldPhysics,
    pub times: Histogram,
}

impl Physics for ScenePhysics {
    fn step(&mut self, targets: &[Frame], period: f64, snapshot: &mut Snapshot) -> Result<(), sinew_haptic::Error> {
        let begun = Instant::now();
        let done = self.inner.step(targets, period, snapshot);
        self.times.add(begun.elapsed().as_secs_f64());
        done
    }
}

/// A scene that is ready for the loop.
pub struct Prepared {
    pub name: String,
    pub seconds: f64,
    pub physics: ScenePhysics,
    pub settings: Vec<ToolSettings>,
    /// Ticks in a step.
    pub ticks: usize,
    scene: AnyScene,
    tools: Vec<ConstraintId>,
    starts: Vec<Frame>,
    /// The world alone, from which the paths of simulated hands are read.
    twin: World,
}

/// A pose of the world as a frame of the loop.
fn frame_of(pose: &sinew::Pose) -> Frame {
    let position = Wide3::from_array(pose.position.to_array().map(f64::from));
    let rotation = WideQuat::from_array(pose.rotation.to_array().map(f64::from)).normalize();
    Frame { position, rotation }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::input(error.to_string())
}

/// Builds the world of a scene with the tools that devices move; `pick` chooses among its tools by name.
pub fn prepare(
    scene: &AnyScene,
    pick: impl FnOnce(&[(String, ConstraintId)]) -> Result<Vec<ConstraintId>, Failure>,
) -> Result<Prepared, Failure> {
    let mut world = scene.build().map_err(failed)?;
    // a step is a whole number of ticks
    let dt = f64::from(world.settings().dt);
    let ticks = (dt / TICK).round().clamp(1.0, MOST_TICKS);
    let settings = Settings { dt: (ticks * TICK) as Real, ..world.settings().clone() };
    world.set_settings(settings).map_err(failed)?;
    let named: Vec<(String, ConstraintId)> = tool_names(&world);
    let tools = pick(&named)?;
    let twin = World::build(world.blueprint().map_err(failed)?, world.state()).map_err(failed)?;
    let mut starts = Vec::new();
    let mut couplings = Vec::new();
    for &tool in &tools {
        let commanded = world.tool(tool).map_err(failed)?.commanded;
        starts.push(frame_of(&commanded));
        couplings.push(world.tool_description(tool).map_err(failed)?.coupling);
    }
    let soft = soft_bodies(&world)?;
    let mut inner = WorldPhysics::new(world);
    for &tool in &tools {
        inner.adopt_tool(tool).map_err(failed)?;
    }
    for (body, material) in soft {
        inner.touch(body, &material).map_err(failed)?;
    }
    let script = scene.clone();
    inner.set_script(move |world| script.input(world, world.state().tick));
    let physics = ScenePhysics { inner, times: Histogram::default() };
    let tool = |coupling| ToolSettings {
        coupling,
        workspace: WorkspaceSettings::default(),
        intake: IntakeSettings::default(),
        ..ToolSettings::default()
    };
    let settings = couplings.into_iter().map(tool).collect();
    let (name, seconds, ticks) = (scene.name().to_owned(), scene.seconds(), ticks as usize);
    Ok(Prepared { name, seconds, physics, settings, ticks, scene: scene.clone(), tools, starts, twin })
}

/// The tools of a world by the names of their bodies.
fn tool_names(world: &World) -> Vec<(String, ConstraintId)> {
    let name = |tool: ConstraintId| {
        let body = world.tool(tool).ok()?.body;
        Some((world.body(body).ok()?.name().to_owned(), tool))
    };
    world.tools().filter_map(name).collect()
}

/// Soft bodies with the material that the loop begins with: that of finite elements, or of jelly.
fn soft_bodies(world: &World) -> Result<Vec<(sinew::BodyId, ElasticMaterial)>, Failure> {
    let mut found = Vec::new();
    let blueprint = world.blueprint().map_err(failed)?;
    for (index, slot) in blueprint.bodies.iter().enumerate() {
        let Some(BodySpec::Soft(body)) = &slot.item else { continue };
        let material = match &body.model {
            SoftModel::Corotational(p) => {
                ElasticMaterial::new(p.youngs_modulus, p.poisson_ratio, p.density).damping(p.damping)
            }
            _ => ElasticMaterial::jelly(),
        };
        found.push((sinew::BodyId::from_parts(index as u32, slot.generation), material));
    }
    Ok(found)
}

impl Prepared {
    /// The paths of the hands, tick by tick: the motions of the scene, straight from step to step. A tool without a motion
    /// stays.
    pub fn paths(&self, ticks: usize) -> Vec<[Frame; MOST_TOOLS]> {
        let mut from = [Frame::default(); MOST_TOOLS];
        from[..self.starts.len()].copy_from_slice(&self.starts);
        let mut out = Vec::with_capacity(ticks);
        let mut step = 0;
        while out.len() < ticks {
            let mut to = from;
            for command in self.scene.input(&self.twin, step).commands {
                if let Command::Tool { tool, command } = command
                    && let Some(k) = self.tools.iter().position(|t| *t == tool)
                {
                    to[k] = frame_of(&command.pose);
                }
            }
            for n in 1..=self.ticks {
                let share = n as f64 / self.ticks as f64;
                let mut now = from;
                for (now, to) in now.iter_mut().zip(&to) {
                    *now = now.moved(&to.error_from(now).scaled(share));
                }
                out.push(now);
            }
            (from, step) = (to, step + 1);
        }
        out.truncate(ticks);
        out
    }

    /// The loop for its tools.
    pub fn fast(&self) -> Result<FastLoop, Failure> {
        FastLoop::new(LocalSettings::default(), &self.settings).map_err(failed)
    }

    /// A simulated device for each of its tools.
    pub fn devices(&self) -> Result<Vec<SimulatedDevice>, Failure> {
        let device = |start: &Frame| {
            let hand = Hand::Spring { stiffness: 400.0, damping: 5.0, turn_stiffness: 2.0, turn_damping: 0.02 };
            let mut device = SimulatedDevice::new(SimulatedSettings::default(), hand).map_err(failed)?;
            device.place(*start);
            Ok(device)
        };
        self.starts.iter().map(device).collect()
    }
}

/// Runs the loop.
pub fn haptic(args: &Args) -> Result<(), Failure> {
    let (scene, rest) = scenes::find(&args.scene, &[])?;
    debug_assert!(rest.is_empty());
    let json = Json::open(&args.json)?;
    let mut ports = Vec::new();
    let mut prepared = prepare(&scene, |tools| {
        ports = link(&args.devices, tools)?;
        Ok(ports.iter().map(|p| p.tool).collect())
    })?;
    // a real device begins at its own origin, and its tool where the scene has it
    for (k, _) in ports.iter().enumerate().filter(|(_, p)| matches!(p.link, Link::Udp(_))) {
        prepared.settings[k].workspace.base = Frame::at(prepared.starts[k].position);
    }
    interrupt::install();
    let seconds = args.seconds.unwrap_or(prepared.seconds);
    let summary = if args.is_virtual {
        if let Some(port) = ports.iter().find(|p| matches!(p.link, Link::Udp(_))) {
            let message =
                format!("--virtual: the device of '{}' is real; give it `sim`, or leave --virtual out", port.name);
            return Err(Failure::input(message));
        }
        in_virtual_time(prepared, &ports, seconds)?
    } else {
        in_real_time(prepared, &ports, seconds)?
    };
    if !json.takes_stdout() {
        tell(&summary)?;
    }
    json.write(&summary)
}

/// The tools that the words of `--device` name.
fn link(words: &[String], tools: &[(String, ConstraintId)]) -> Result<Vec<Port>, Failure> {
    let names: Vec<&str> = tools.iter().map(|t| t.0.as_str()).collect();
    if tools.is_empty() {
        return Err(Failure::input("the scene has no tools: add a table [tools.NAME]"));
    }
    let mut ports: Vec<Port> = Vec::new();
    for word in words {
        let (name, kind) = match word.split_once('=') {
            Some((first, rest)) if !["sim", "udp"].contains(&first) => (Some(first), rest),
            _ => (None, word.as_str()),
        };
        let link = match kind.split_once('=') {
            None if kind == "sim" => Link::Simulated,
            None if kind == "udp" => Link::Udp(ADDRESS.to_owned()),
            Some(("udp", address)) => Link::Udp(address.to_owned()),
            _ => return Err(unknown("device", kind, None, "devices: sim, udp, udp=ADDRESS")),
        };
        let free = |name: &str| !ports.iter().any(|p| p.name == name);
        let found = match name {
            Some(name) if !names.contains(&name) => {
                let meant = sinew_scene::gallery::near_miss(name, names.iter().copied());
                return Err(unknown("tool", name, meant, &format!("tools: {}", names.join(", "))));
            }
            Some(name) if !free(name) => {
                return Err(Failure::input(format!("--device {word}: the tool '{name}' has a device already")));
            }
            Some(name) => tools.iter().find(|t| t.0 == name),
            None => tools.iter().find(|t| free(&t.0)),
        };
        let Some((name, tool)) = found else {
            return Err(Failure::input(format!("--device {word}: every tool has a device already")));
        };
        ports.push(Port { name: name.clone(), tool: *tool, link });
    }
    Ok(ports)
}

fn in_virtual_time(prepared: Prepared, ports: &[Port], seconds: f64) -> Result<Summary, Failure> {
    let ticks = (seconds / TICK).round() as usize;
    let paths = prepared.paths(ticks);
    let (fast, devices, settings) = (prepared.fast()?, prepared.devices()?, prepared.settings.clone());
    let rates = VirtualSettings { ticks_per_step: prepared.ticks, late: prepared.ticks > 1 };
    let (name, period) = (prepared.name, prepared.ticks as f64 * TICK);
    let mut run = VirtualLoop::new(rates, fast, devices, prepared.physics).map_err(failed)?;
    let mut felt = [Felt::default(); MOST_TOOLS];
    let mut done = 0;
    for path in &paths {
        if interrupt::requested() {
            break;
        }
        let record = run.tick(&path[..ports.len()]).map_err(failed)?;
        for (k, felt) in felt.iter_mut().enumerate().take(ports.len()) {
            let force = run.fast().report(k).force;
            felt.note(&record.wrenches[k], force.limited, force.stalled);
        }
        done += 1;
    }
    Ok(Summary {
        scene: name,
        seconds: done as f64 * TICK,
        ticks: done,
        rate_hz: 1.0 / TICK,
        is_virtual: true,
        physics_hz: 1.0 / period,
        tools: tools(run.fast(), ports, &settings, &felt),
        step_ms: StepMs::of(&run.physics().times),
        late_us: None,
        refused: Vec::new(),
    })
}

fn tools(fast: &FastLoop, ports: &[Port], settings: &[ToolSettings], felt: &[Felt]) -> Vec<ToolSummary> {
    let one = |(k, port): (usize, &Port)| {
        let (report, felt) = (fast.report(k), &felt[k]);
        ToolSummary {
            tool: port.name.clone(),
            device: if matches!(port.link, Link::Simulated) { "sim" } else { "udp" },
            force_max_n: felt.largest,
            force_rms_n: if felt.ticks > 0 { (felt.squares / felt.ticks as f64).sqrt() } else { 0.0 },
            largest_change_n: felt.change,
            torque_max_nm: felt.torque,
            energy_given_j: report.passivity.given,
            damped_ticks: report.passivity.acted,
            limited_ticks: felt.limited,
            stalled_ticks: felt.stalled,
            silent: report.intake.silent,
            dropped_readings: report.intake.invalid + report.intake.jumped,
            stiffness_n_per_m: settings[k].coupling.stiffness,
            stiffness_limit_n_per_m: report.stiffness_limit,
        }
    };
    ports.iter().enumerate().map(one).collect()
}

/// Where the tools shall be at the end of the next step.
#[derive(Clone, Copy)]
struct Ahead {
    targets: [Frame; MOST_TOOLS],
    /// Time of the loop for which they stand [s].
    time: f64,
}

/// What a run in real time gave.
pub struct RealTime {
    pub report: RealTimeReport,
    pub fast: FastLoop,
    pub times: Histogram,
}

/// The loop on its own thread and the physics on this one.
pub fn beside(
    prepared: Prepared,
    seconds: f64,
    settings: &RealTimeSettings,
    mut exchange_wrenches: impl FnMut(&mut FastLoop, f64) + Send,
) -> Result<RealTime, Failure> {
    let (count, period) = (prepared.settings.len(), prepared.ticks as f64 * TICK);
    let (mut fast, mut physics) = (prepared.fast()?, prepared.physics);
    let (mut snapshots, mut newest) = exchange(Snapshot::new(period));
    let mut start = [Frame::default(); MOST_TOOLS];
    start[..count].copy_from_slice(&prepared.starts);
    let (mut poses, mut wanted) = exchange(Ahead { targets: start, time: period });
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let ticks = prepared.ticks;
    let work = |dt: f64| {
        if let Some(snapshot) = newest.newest() {
            fast.arrive(&snapshot);
        }
        exchange_wrenches(&mut fast, dt);
        let ahead = Ahead { targets: fast.targets(ticks), time: fast.time() + period };
        poses.publish(|to| *to = ahead);
        if interrupt::requested() {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let mut snapshot = Snapshot::new(period);
    let (report, stepped) = std::thread::scope(|scope| {
        let looped = scope.spawn(|| {
            let report = run_real_time(settings, &stop, seconds, work);
            over.store(true, Ordering::Relaxed);
            report
        });
        let stepped = (|| {
            let (begun, mut n) = (Instant::now(), 0_u64);
            let mut ahead = Ahead { targets: start, time: period };
            while !over.load(Ordering::Relaxed) {
                if let Some(newer) = wanted.newest() {
                    ahead = *newer;
                }
                physics.step(&ahead.targets[..count], period, &mut snapshot)?;
                (snapshot.time, snapshot.period) = (ahead.time, period);
                snapshots.publish(|to| to.clone_from(&snapshot));
                n += 1;
                let next = begun + Duration::from_secs_f64(n as f64 * period);
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
            }
            Ok::<(), sinew_haptic::Error>(())
        })();
        if stepped.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        (looped.join(), stepped)
    });
    stepped.map_err(failed)?;
    let report = report.map_err(|_| Failure::input("the thread of the loop panicked"))?.map_err(failed)?;
    Ok(RealTime { report, fast, times: physics.times })
}

/// A device of any kind; the simulated one is moved by the loop itself.
#[allow(clippy::large_enum_variant, reason = "there is one for each tool, and it does not move")]
enum Any {
    Simulated(SimulatedDevice),
    Udp(UdpDevice),
}

fn in_real_time(prepared: Prepared, ports: &[Port], seconds: f64) -> Result<Summary, Failure> {
    let paths = prepared.paths((seconds / TICK).round() as usize + 1);
    let mut devices = Vec::new();
    for (number, (port, simulated)) in (0_u16..).zip(ports.iter().zip(prepared.devices()?)) {
        devices.push(match &port.link {
            Link::Simulated => Any::Simulated(simulated),
            Link::Udp(address) => {
                let device = UdpDevice::open(address.as_str(), number)
                    .map_err(|e| Failure::input(format!("--device udp={address}: {e}; name another address")))?;
                note(&format!("'{}' waits for device {number} at {}", port.name, device.address()));
                Any::Udp(device)
            }
        });
    }
    let (name, settings, period) = (prepared.name.clone(), prepared.settings.clone(), prepared.ticks as f64 * TICK);
    let mut felt = [Felt::default(); MOST_TOOLS];
    let mut tick = 0;
    let count = ports.len();
    let done = beside(prepared, seconds, &RealTimeSettings::default(), |fast, dt| {
        let mut readings = [None; MOST_TOOLS];
        for (reading, device) in readings.iter_mut().zip(&mut devices) {
            *reading = match device {
                Any::Simulated(device) => device.read(),
                Any::Udp(device) => device.read(),
            };
        }
        let mut wrenches = [Wrench::ZERO; MOST_TOOLS];
        wrenches[..count].copy_from_slice(fast.tick(&readings[..count], dt));
        let path = paths[tick.min(paths.len() - 1)];
        for (k, device) in devices.iter_mut().enumerate() {
            match device {
                Any::Simulated(device) => {
                    device.write(&wrenches[k]);
                    device.advance(&path[k]);
                }
                Any::Udp(device) => device.write(&wrenches[k]),
            }
            let force = fast.report(k).force;
            felt[k].note(&wrenches[k], force.limited, force.stalled);
        }
        tick += 1;
    })?;
    let ticks = done.report.lateness.count();
    Ok(Summary {
        scene: name,
        seconds: ticks as f64 * TICK,
        ticks,
        rate_hz: 1.0 / TICK,
        is_virtual: false,
        physics_hz: 1.0 / period,
        tools: tools(&done.fast, ports, &settings, &felt),
        step_ms: StepMs::of(&done.times),
        late_us: Some(Late::of(&done.report.lateness)),
        refused: done.report.scheduling.refused,
    })
}

fn tell(summary: &Summary) -> Result<(), Failure> {
    let mut out = screen();
    let clock = if summary.is_virtual { "virtual time" } else { "real time" };
    writeln!(out, "{}: {} ticks in {clock}, physics at {:.0} Hz", summary.scene, summary.ticks, summary.physics_hz)?;
    let head =
        ["tool", "device", "max N", "rms N", "max N/tick", "max N·m", "given mJ", "damped", "K N/m", "limit N/m"];
    let mut table = Table::new(2, head);
    for t in &summary.tools {
        let numbers = [t.force_max_n, t.force_rms_n, t.largest_change_n, t.torque_max_nm, 1e3 * t.energy_given_j];
        let mut row = vec![t.tool.clone(), t.device.to_owned()];
        row.extend(numbers.map(|x| format!("{x:.4}")));
        row.push(t.damped_ticks.to_string());
        row.extend([t.stiffness_n_per_m, t.stiffness_limit_n_per_m].map(|x| format!("{x:.0}")));
        table.row(row);
    }
    table.write(&mut out)?;
    if let Some(late) = summary.late_us {
        writeln!(out, "late: p99 {:.1}, p99.9 {:.1}, max {:.0} us", late.p99, late.p999, late.max)?;
    }
    summary.refused.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    out.flush()?;
    Ok(())
}

/// Runs a simulated device against a loop elsewhere: a hand on a spring goes down and up, and what comes back moves it.
pub fn device(args: &DeviceArgs) -> Result<(), Failure> {
    let address = match args.serve.split_once('=') {
        None if args.serve == "udp" => ADDRESS,
        Some(("udp", address)) => address,
        _ => return Err(unknown("protocol", &args.serve, None, "protocols: udp, udp=ADDRESS")),
    };
    let refused = |e: std::io::Error| Failure::input(format!("--serve udp={address}: {e}"));
    let link = UdpSocket::bind("0.0.0.0:0").map_err(refused)?;
    link.connect(address).map_err(refused)?;
    link.set_nonblocking(true).map_err(refused)?;
    interrupt::install();
    let hand = Hand::Spring { stiffness: 400.0, damping: 5.0, turn_stiffness: 2.0, turn_damping: 0.02 };
    let mut device = SimulatedDevice::new(SimulatedSettings::default(), hand).map_err(failed)?;
    let (start, mut answered, mut largest) = (Instant::now(), 0_u64, 0.0_f64);
    let ticks = (args.seconds / TICK).round() as u32;
    let mut wrench = Wrench::ZERO;
    for n in 0..ticks {
        if interrupt::requested() {
            break;
        }
        let pose = device.read().map_or_else(Frame::default, |r| r.pose);
        let velocity = device.velocity().linear;
        let time = start.elapsed().as_micros() as u64;
        let datagram =
            FromDevice { sequence: n, time, pose, velocity, gripper: u16::MAX, flags: 1, ..FromDevice::default() };
        // a loop that is not there yet loses this datagram; the next one replaces it
        let _ = link.send(&datagram.encode());
        let mut bytes = [0; DATAGRAM + 1];
        while let Ok(length) = link.recv(&mut bytes) {
            if let Ok(answer) = ToDevice::decode(&bytes[..length]) {
                (wrench, answered) = (answer.wrench, answered + 1);
                largest = largest.max(wrench.force.length());
            }
        }
        device.write(&wrench);
        let phase = f64::from(n) * TICK;
        // up at whole seconds, down by the stroke between them
        let down = 0.5 * args.stroke * (1.0 - (std::f64::consts::TAU * phase).cos());
        device.advance(&Frame::at(Wide3::NEG_Y * down));
        let next = start + Duration::from_millis(u64::from(n) + 1);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    let mut out = screen();
    writeln!(out, "{answered} answers, largest force {largest:.3} N")?;
    out.flush()?;
    if answered == 0 {
        return Err(Failure::Check(format!(
            "no loop answered at {address}: start `sinew haptic SCENE --device udp` first"
        )));
    }
    Ok(())
}

/// The limit of stiffness of the usual device, and that of this run [N/m].
pub fn limits(fast: &FastLoop) -> [f64; 2] {
    let damping = SimulatedSettings::default().damping;
    [fast.effective_tick().stiffness_limit(damping, 0.0), stiffness_limit(damping, TICK, 0.0)]
}
