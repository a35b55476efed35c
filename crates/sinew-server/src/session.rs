//! The simulation thread: steps the world at its own rate, executes commands and passes snapshots to the encoder.
//!
//! This thread never waits for a viewer: commands come through a bounded queue that is only polled, snapshots go
//! through a [`Mailbox`] whose locks are only tried. Nor does it wait for a build: worlds are built on another thread,
//! one at a time, and of several requested builds only the latest is kept. A world that is slower than real time
//! reports its real-time factor; it never tries to catch up.

use crate::command::ViewerCommand;
use crate::grab::Grab;
use crate::layer::{Demand, Layers};
use crate::mailbox::Mailbox;
use crate::snapshot::{Held, Pace, Snapshot, Status};
use crate::stage::{Built, Kind, Plan, Stage};
use crate::tune;
use crate::viewer::Viewer;
use sinew::{Command, Error, Input, LedgerDetail, Motion, Vec3, World};
use sinew_scene::validate::tools::num;
use sinew_scene::{AnyScene, gallery};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Longest sleep between two polls of the command queue.
const NAP: Duration = Duration::from_millis(5);
/// Interval of frames while the world is paused.
const STILL: Duration = Duration::from_millis(100);
/// Averaging time of the real-time factor.
const WINDOW: Duration = Duration::from_millis(500);
/// Maximum number of commands executed before a step.
const ORDERS: usize = 256;
/// Pause between the end of a build and the next build, as a multiple of the build time.
const REST: u32 = 2;
/// Minimum and maximum pause between builds.
const RESTS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// Maximum number of knob changes stored for a world that is being built.
const LATER: usize = 64;

/// A queued command of a viewer.
#[derive(Debug)]
pub struct QueuedCommand {
    /// The sender.
    pub viewer: Viewer,
    /// The command.
    pub command: ViewerCommand,
}

/// The scene to serve, and its options.
#[derive(Clone, Debug)]
pub struct Show {
    /// The scene.
    pub scene: AnyScene,
    /// The file it was read from; `None` for a built-in scene.
    pub file: Option<PathBuf>,
    /// The overrides it was read with; knob changes are applied on top of them.
    pub sets: Vec<String>,
    /// Maximum frame rate [1/s].
    pub frames: f64,
    /// Do not start before the first viewer connects.
    pub wait: bool,
    /// Called on the simulation thread after every step with its wall time, for measurements. It must not block.
    pub watch: Option<fn(Duration)>,
}

impl Show {
    /// A scene with 60 frames per second that starts at once.
    pub fn new(scene: impl Into<AnyScene>) -> Self {
        Self { scene: scene.into(), file: None, sets: Vec::new(), frames: 60.0, wait: false, watch: None }
    }
}

/// A requested build.
enum BuildRequest {
    /// The current scene from its initial state.
    Again,
    /// Another scene.
    Scene(String),
}

/// A build in progress on its thread.
struct Build {
    since: Instant,
    /// True when a viewer requested it, false when only a knob of the model changed.
    requested: bool,
    done: Receiver<Result<Built, String>>,
}

/// A world and the state of its session.
pub struct Session {
    show: Arc<Show>,
    stage: Stage,
    /// The latest requested world whose build has not started.
    request: Option<BuildRequest>,
    /// Knob changes that came after the request: they apply to the requested world.
    later: Vec<(String, f64)>,
    build: Option<Build>,
    next_build: Instant,
    /// Revision number of the latest scene data.
    revision: u32,
    status: Arc<Status>,
    single: bool,
    /// A knob was changed: sleeping bodies must wake up.
    nudge: bool,
    grabs: Vec<(Viewer, Grab)>,
    held: Vec<Held>,
    mailbox: Arc<Mailbox<Snapshot>>,
    demand: Arc<Demand>,
    pace: Pace,
    spent: Spent,
}

/// Statistics of the simulation thread, for measurements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Number of steps.
    pub steps: u64,
    /// Wall time of the steps.
    pub stepping: Duration,
    /// Number of snapshots passed to the encoder.
    pub snapshots: u64,
    /// Wall time of the snapshots.
    pub copying_time: Duration,
    /// Snapshots for which no mailbox slot was free; zero in normal operation.
    pub missed: u64,
}

impl Session {
    /// A session of this scene.
    ///
    /// # Errors
    /// The error of the engine when it refuses the scene.
    pub fn new(show: Show, mailbox: Arc<Mailbox<Snapshot>>, demand: Arc<Demand>) -> Result<Self, Error> {
        let stage = Stage::new(show.scene.clone(), 1)?;
        let mut session = Self {
            show: Arc::new(show),
            stage,
            request: None,
            later: Vec::new(),
            build: None,
            next_build: Instant::now(),
            revision: 1,
            status: Arc::new(Status { speed: 1.0, ..Status::default() }),
            single: false,
            nudge: false,
            grabs: Vec::new(),
            held: Vec::new(),
            mailbox,
            demand,
            pace: Pace::default(),
            spent: Spent::default(),
        };
        session.tell(String::new());
        session.shoot();
        Ok(session)
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.stage.world
    }

    /// Runs until `over` is set or the command queue is disconnected. `over` is polled before the commands, so the end
    /// does not wait for them.
    pub fn run(mut self, commands: &Receiver<QueuedCommand>, over: &AtomicBool) -> Spent {
        while self.show.wait && self.demand.viewers() == 0 {
            std::thread::sleep(NAP);
            if over.load(Ordering::Relaxed) || self.read(commands).is_err() {
                return self.spent;
            }
        }
        let mut next = Instant::now();
        // no status is sent yet: the first command may have come while the world waited for a viewer
        let (mut shown, mut sent_status) = (next, Arc::<Status>::default());
        let (mut since, mut made) = (next, 0_u32);
        loop {
            if over.load(Ordering::Relaxed) || self.read(commands).is_err() {
                return self.spent;
            }
            let wait = next.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                std::thread::sleep(wait.min(NAP));
                continue;
            }
            self.rebuild();
            let stepping = !self.status.paused || std::mem::take(&mut self.single);
            if stepping {
                self.step();
                made += 1;
            }
            let now = Instant::now();
            let budget = Duration::from_secs_f64(num(self.stage.world.settings().dt) / self.status.speed);
            self.pace.budget = budget.as_secs_f64();
            if now - since >= WINDOW {
                self.pace.real_time_factor =
                    f64::from(made) * num(self.stage.world.settings().dt) / (now - since).as_secs_f64();
                (since, made) = (now, 0);
            }
            // A frame half a millisecond early counts as on time, because sleeps end late. A changed status is sent at
            // the frame rate even while paused, so that an executed pause is visible at once.
            let soon = stepping || !Arc::ptr_eq(&self.status, &sent_status);
            let due = if soon { Duration::from_secs_f64(1.0 / self.show.frames) } else { STILL };
            if now + Duration::from_micros(500) >= shown + due {
                shown = (shown + due).max(now - due);
                sent_status = self.status.clone();
                self.shoot();
            }
            next = (next + budget).max(now);
        }
    }

    /// Executes queued commands; an error when all senders are gone.
    fn read(&mut self, commands: &Receiver<QueuedCommand>) -> Result<(), ()> {
        for _ in 0..ORDERS {
            match commands.try_recv() {
                Ok(QueuedCommand { viewer, command }) => {
                    viewer.dequeue();
                    self.apply(viewer, command);
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(()),
            }
        }
        Ok(())
    }

    /// One step.
    pub fn step(&mut self) {
        let clock = Instant::now();
        let mut input = self.stage.scene.input(&self.stage.world, self.stage.world.state().tick);
        self.held.clear();
        self.grabs.retain(|(viewer, _)| viewer.is_here());
        for (viewer, grab) in &self.grabs {
            self.held.extend(grab.pull(&self.stage.world, viewer.number, &mut input));
        }
        // after a pending build, which would replace the world
        if self.nudge && !self.stage.stale {
            self.nudge = false;
            wake(&self.stage.world, &mut input);
        }
        let residuals = self.demand.layers().has(Layers::RESIDUALS);
        if self.stage.world.settings().residuals != residuals {
            let mut settings = self.stage.world.settings().clone();
            settings.residuals = residuals;
            // only this flag changes, so the settings stay valid
            let _ = self.stage.world.set_settings(settings);
        }
        let ledger = self.demand.layers().has(Layers::ENERGIES);
        self.stage.world.set_ledger(if ledger { LedgerDetail::World } else { LedgerDetail::None });
        self.stage.world.step(&input);
        let took = clock.elapsed();
        self.pace.step = took.as_secs_f64();
        self.spent.steps += 1;
        self.spent.stepping += took;
        if let Some(watch) = self.show.watch {
            watch(took);
        }
    }

    /// Passes a snapshot to the encoder; without viewers nothing is copied.
    fn shoot(&mut self) {
        if self.demand.viewers() == 0 {
            return;
        }
        let clock = Instant::now();
        self.stage.follow_topology(&mut self.revision);
        let layers = self.demand.layers();
        let (world, geometry, status) = (&self.stage.world, &self.stage.geometry, &self.status);
        let (held, pace) = (&self.held, self.pace);
        let sent = self.mailbox.write(|snapshot| {
            snapshot.take(world, layers);
            snapshot.geometry.clone_from(geometry);
            snapshot.status.clone_from(status);
            snapshot.held.clone_from(held);
            snapshot.pace = pace;
        });
        self.spent.snapshots += 1;
        self.spent.missed += u64::from(!sent);
        self.spent.copying_time += clock.elapsed();
    }

    /// Publishes the status with a message.
    fn tell(&mut self, message: String) {
        let knobs = tune::values(&self.stage.knobs);
        self.status = Arc::new(Status { knobs, message, ..(*self.status).clone() });
    }

    /// Executes one command; a command that is invalid in this scene is reported and changes nothing.
    pub fn apply(&mut self, viewer: impl Into<Viewer>, command: ViewerCommand) {
        let (viewer, vector) = (viewer.into(), Vec3::from_array);
        let number = viewer.number;
        let change = |status: &Arc<Status>, f: &dyn Fn(&mut Status)| {
            let mut new = (**status).clone();
            f(&mut new);
            Arc::new(new)
        };
        match command {
            ViewerCommand::Pause { on } => self.status = change(&self.status, &|s| s.paused = on),
            ViewerCommand::Speed { value } => self.status = change(&self.status, &|s| s.speed = value),
            ViewerCommand::Step => self.single = self.status.paused,
            ViewerCommand::Reset => self.request(BuildRequest::Again),
            ViewerCommand::Scene { name } => {
                if name == self.show.scene.name() || gallery::find(&name).is_some() {
                    self.request(BuildRequest::Scene(name));
                } else {
                    self.tell(format!("there is no scene '{name}'"));
                }
            }
            ViewerCommand::Layers { .. } => {}
            ViewerCommand::Grab { slot, at } => {
                self.grabs.retain(|(v, _)| v.number != number);
                self.grabs.extend(Grab::at(&self.stage.world, slot, vector(at)).map(|grab| (viewer, grab)));
            }
            ViewerCommand::Drag { to } => {
                if let Some((_, grab)) = self.grabs.iter_mut().find(|(v, _)| v.number == number) {
                    grab.target = vector(to);
                }
            }
            ViewerCommand::Release => self.grabs.retain(|(v, _)| v.number != number),
            ViewerCommand::Tune { knob, value } => self.tune(knob, value),
        }
    }

    /// Requests a build in place of the pending one. A reset while another scene is pending is that scene.
    fn request(&mut self, request: BuildRequest) {
        if !(matches!(request, BuildRequest::Again) && matches!(self.request, Some(BuildRequest::Scene(_)))) {
            self.request = Some(request);
        }
    }

    /// Sets a knob of this world, or of the requested one.
    fn tune(&mut self, name: String, value: f64) {
        if self.request.is_some() || self.build.as_ref().is_some_and(|b| b.requested) {
            self.later.retain(|(n, _)| *n != name);
            if self.later.len() < LATER {
                self.later.push((name, value));
            }
            return;
        }
        let turned = self.stage.turn(&name, value);
        self.nudge |= turned.is_ok();
        self.tell(turned.err().unwrap_or_default());
    }

    /// Switches to a finished build, and starts the next one when it is due: the requested world, or the present one in
    /// its present state when knobs of the model were changed. The pause counts from the end of a build, so that an
    /// endless series of requests leaves most of the processor to the steps.
    pub fn rebuild(&mut self) {
        if let Some(build) = &self.build {
            let built = match build.done.try_recv() {
                Ok(built) => built,
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => Err("the scene could not be built".to_owned()),
            };
            self.next_build = Instant::now() + (build.since.elapsed() * REST).clamp(RESTS[0], RESTS[1]);
            let requested = build.requested;
            self.build = None;
            match built {
                Ok(built) => self.enter(built),
                Err(why) => self.tell(why),
            }
            if requested && self.request.is_none() {
                for (name, value) in std::mem::take(&mut self.later) {
                    self.tune(name, value);
                }
            }
        }
        if Instant::now() >= self.next_build {
            self.start();
        }
    }

    /// Starts the pending build.
    fn start(&mut self) {
        let requested = self.request.is_some();
        let kind = match self.request.take() {
            Some(BuildRequest::Again) => Kind::Again(self.stage.scene.clone(), self.stage.knobs.clone()),
            Some(BuildRequest::Scene(name)) => Kind::Scene(name),
            None if self.stage.stale => Kind::Turned(Box::new(self.stage.base())),
            None => return,
        };
        self.stage.stale = false;
        self.revision += 1;
        let plan = Plan { show: self.show.clone(), revision: self.revision, kind };
        let (tell, done) = channel();
        let build = move || _ = tell.send(plan.build());
        // a thread that cannot be started drops its sender: the build then counts as failed
        let _ = std::thread::Builder::new().name("sinew-build".into()).spawn(build);
        self.build = Some(Build { since: Instant::now(), requested, done });
    }

    /// Switches to a finished build.
    fn enter(&mut self, built: Built) {
        let Built { mut stage, goes_on, note } = built;
        if goes_on {
            // the world was stepped meanwhile, and knobs may have been changed
            let before = &mut self.stage;
            let fits = stage.world.restore(before.world.state());
            let fits = fits.and_then(|()| stage.world.set_settings(before.world.settings().clone()));
            if let Err(error) = fits {
                return self.tell(error.to_string());
            }
            stage.knobs = std::mem::take(&mut before.knobs);
            stage.stale = before.stale;
            self.stage = stage;
        } else {
            self.stage = stage;
            self.grabs.clear();
            self.held.clear();
        }
        self.tell(note);
        self.shoot();
    }

    /// Waits until all requested builds are done. For tests.
    pub fn settle(&mut self) {
        while self.request.is_some() || self.build.is_some() || self.stage.stale {
            self.next_build = Instant::now();
            self.rebuild();
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Applies a zero force to every dynamic body, which wakes it up.
fn wake(world: &World, input: &mut Input) {
    let force = Vec3::ZERO;
    for body in world.bodies().filter(|b| b.motion() == Motion::Dynamic) {
        let (id, rigid) = (body.id(), body.is_rigid());
        let nothing = Command::NodeForce { body: id, node: 0, force };
        input.commands.push(if rigid { Command::Force { body: id, force, torque: force } } else { nothing });
    }
}
