//! The world behind the page: it runs on a thread of its own at its own rate, takes orders and gives shots to the encoder.
//!
//! This thread never waits for a viewer: orders come through a bounded queue that it only polls, shots go through a
//! [`Mailbox`] whose locks it only tries. Nor does it wait for a build: worlds are built on another thread, one at a time,
//! and of those that are ordered meanwhile only the latest is kept. A world that cannot keep up runs slower and says so;
//! it never tries to catch up.

use crate::grab::Grab;
use crate::layer::{Demand, Layers};
use crate::mailbox::Mailbox;
use crate::order::Order;
use crate::shot::{Held, Pace, Shot, Status};
use crate::stage::{Built, Kind, Plan, Stage};
use crate::tune;
use crate::viewer::Viewer;
use sinew::{Command, Error, Input, Motion, Vec3, World};
use sinew_scene::validate::tools::num;
use sinew_scene::{AnyScene, gallery};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Longest sleep between two looks at the orders.
const NAP: Duration = Duration::from_millis(5);
/// How often a world that stands still is shown.
const STILL: Duration = Duration::from_millis(100);
/// Over which time the real-time factor is taken.
const WINDOW: Duration = Duration::from_millis(500);
/// Most orders that are obeyed before a step.
const ORDERS: usize = 256;
/// Pause from the end of a build to the next: so many times the time that it took.
const REST: u32 = 2;
/// Shortest and longest pause between builds.
const RESTS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// Knobs that may be turned for a world that is being built.
const LATER: usize = 64;

/// What a viewer said.
#[derive(Debug)]
pub struct Letter {
    /// The viewer.
    pub viewer: Viewer,
    /// Its order.
    pub order: Order,
}

/// What to show, and how.
#[derive(Clone, Debug)]
pub struct Show {
    /// The scene.
    pub scene: AnyScene,
    /// The file it was read from; none for a built-in scene.
    pub file: Option<PathBuf>,
    /// The changes it was read with: a slider that is turned comes on top of them.
    pub sets: Vec<String>,
    /// Frames a second at most.
    pub frames: f64,
    /// Do not begin before someone looks.
    pub wait: bool,
    /// Called on the world's thread after every step with the time that it took, for those who measure. It must not wait.
    pub watch: Option<fn(Duration)>,
}

impl Show {
    /// A scene, with 60 frames a second, from now on.
    pub fn new(scene: impl Into<AnyScene>) -> Self {
        Self { scene: scene.into(), file: None, sets: Vec::new(), frames: 60.0, wait: false, watch: None }
    }
}

/// A world that is ordered.
enum Wish {
    /// The scene from its start.
    Again,
    /// Another scene.
    Scene(String),
}

/// A build on its thread.
struct Build {
    since: Instant,
    /// It was wished for, and is no change of the model alone.
    wished: bool,
    done: Receiver<Result<Built, String>>,
}

/// A world and what is done to it.
pub struct Session {
    show: Arc<Show>,
    stage: Stage,
    /// The latest world that was ordered and is not being built yet.
    wish: Option<Wish>,
    /// Knobs that were turned after a wish: they are of the world that comes.
    later: Vec<(String, f64)>,
    build: Option<Build>,
    next_build: Instant,
    /// Number of the last picture.
    revision: u32,
    status: Arc<Status>,
    single: bool,
    /// A knob was turned: bodies that sleep must wake.
    nudge: bool,
    grabs: Vec<(Viewer, Grab)>,
    held: Vec<Held>,
    mailbox: Arc<Mailbox<Shot>>,
    demand: Arc<Demand>,
    pace: Pace,
    spent: Spent,
}

/// What the physics thread did, for the figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Steps made.
    pub steps: u64,
    /// Wall time in steps.
    pub stepping: Duration,
    /// Shots given to the encoder.
    pub shots: u64,
    /// Wall time for them.
    pub shooting: Duration,
    /// Shots that found no place: none, if all is well.
    pub missed: u64,
}

impl Session {
    /// A session of this scene.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn new(show: Show, mailbox: Arc<Mailbox<Shot>>, demand: Arc<Demand>) -> Result<Self, Error> {
        let stage = Stage::new(show.scene.clone(), 1)?;
        let mut session = Self {
            show: Arc::new(show),
            stage,
            wish: None,
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

    /// Runs until it is over or the page's side hangs up. The end is looked for before the orders: it does not wait for them.
    pub fn run(mut self, letters: &Receiver<Letter>, over: &AtomicBool) -> Spent {
        while self.show.wait && self.demand.viewers() == 0 {
            std::thread::sleep(NAP);
            if over.load(Ordering::Relaxed) || self.read(letters).is_err() {
                return self.spent;
            }
        }
        let mut next = Instant::now();
        // no status is sent yet: the first order may have come while the world waited for a viewer
        let (mut shown, mut told) = (next, Arc::<Status>::default());
        let (mut since, mut made) = (next, 0_u32);
        loop {
            if over.load(Ordering::Relaxed) || self.read(letters).is_err() {
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
            // half a millisecond early is on time: sleeps end late
            // a state that changed is shown as soon as a frame: a pause that is obeyed must not look like one that is not
            let soon = stepping || !Arc::ptr_eq(&self.status, &told);
            let due = if soon { Duration::from_secs_f64(1.0 / self.show.frames) } else { STILL };
            if now + Duration::from_micros(500) >= shown + due {
                shown = (shown + due).max(now - due);
                told = self.status.clone();
                self.shoot();
            }
            next = (next + budget).max(now);
        }
    }

    /// Obeys what was ordered; an error when nobody can order any more.
    fn read(&mut self, letters: &Receiver<Letter>) -> Result<(), ()> {
        for _ in 0..ORDERS {
            match letters.try_recv() {
                Ok(Letter { viewer, order }) => {
                    viewer.dequeue();
                    self.obey(viewer, order);
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
        // after a build, because that may come later
        if self.nudge && !self.stage.stale {
            self.nudge = false;
            wake(&self.stage.world, &mut input);
        }
        let residuals = self.demand.layers().has(Layers::RESIDUALS);
        if self.stage.world.settings().residuals != residuals {
            let mut settings = self.stage.world.settings().clone();
            settings.residuals = residuals;
            // nothing but this flag changes: the door lets it in
            let _ = self.stage.world.set_settings(settings);
        }
        self.stage.world.step(&input);
        let took = clock.elapsed();
        self.pace.step = took.as_secs_f64();
        self.spent.steps += 1;
        self.spent.stepping += took;
        if let Some(watch) = self.show.watch {
            watch(took);
        }
    }

    /// Gives the encoder what it needs for a frame; nobody looks, nothing is copied.
    fn shoot(&mut self) {
        if self.demand.viewers() == 0 {
            return;
        }
        let clock = Instant::now();
        let layers = self.demand.layers();
        let (world, picture, status) = (&self.stage.world, &self.stage.picture, &self.status);
        let (held, pace) = (&self.held, self.pace);
        let sent = self.mailbox.write(|shot| {
            shot.take(world, layers);
            shot.picture.clone_from(picture);
            shot.status.clone_from(status);
            shot.held.clone_from(held);
            shot.pace = pace;
        });
        self.spent.shots += 1;
        self.spent.missed += u64::from(!sent);
        self.spent.shooting += clock.elapsed();
    }

    /// Publishes values and a word for people.
    fn tell(&mut self, message: String) {
        let knobs = tune::values(&self.stage.knobs);
        self.status = Arc::new(Status { knobs, message, ..(*self.status).clone() });
    }

    /// Carries out one order; what makes no sense in this scene is told and changes nothing.
    pub fn obey(&mut self, viewer: impl Into<Viewer>, order: Order) {
        let (viewer, vector) = (viewer.into(), Vec3::from_array);
        let number = viewer.number;
        let change = |status: &Arc<Status>, f: &dyn Fn(&mut Status)| {
            let mut new = (**status).clone();
            f(&mut new);
            Arc::new(new)
        };
        match order {
            Order::Pause { on } => self.status = change(&self.status, &|s| s.paused = on),
            Order::Speed { value } => self.status = change(&self.status, &|s| s.speed = value),
            Order::Step => self.single = self.status.paused,
            Order::Reset => self.wish(Wish::Again),
            Order::Scene { name } => {
                if name == self.show.scene.name() || gallery::find(&name).is_some() {
                    self.wish(Wish::Scene(name));
                } else {
                    self.tell(format!("there is no scene '{name}'"));
                }
            }
            Order::Layers { .. } => {}
            Order::Grab { slot, at } => {
                self.grabs.retain(|(v, _)| v.number != number);
                self.grabs.extend(Grab::at(&self.stage.world, slot, vector(at)).map(|grab| (viewer, grab)));
            }
            Order::Drag { to } => {
                if let Some((_, grab)) = self.grabs.iter_mut().find(|(v, _)| v.number == number) {
                    grab.target = vector(to);
                }
            }
            Order::Release => self.grabs.retain(|(v, _)| v.number != number),
            Order::Tune { knob, value } => self.tune(knob, value),
        }
    }

    /// A wish takes the place of the one that waits. A reset of a scene that waits to be built is that scene.
    fn wish(&mut self, wish: Wish) {
        if !(matches!(wish, Wish::Again) && matches!(self.wish, Some(Wish::Scene(_)))) {
            self.wish = Some(wish);
        }
    }

    /// Turns a knob: of this world, or of the one that was ordered.
    fn tune(&mut self, name: String, value: f64) {
        if self.wish.is_some() || self.build.as_ref().is_some_and(|b| b.wished) {
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

    /// Takes what was built, and begins the next build when it is time: the world that was ordered, or this one in the
    /// state it is in when knobs of the model were turned. The pause counts from the end of a build, so that orders
    /// without end leave most of the processor to the steps.
    pub fn rebuild(&mut self) {
        if let Some(build) = &self.build {
            let built = match build.done.try_recv() {
                Ok(built) => built,
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => Err("the scene could not be built".to_owned()),
            };
            self.next_build = Instant::now() + (build.since.elapsed() * REST).clamp(RESTS[0], RESTS[1]);
            let wished = build.wished;
            self.build = None;
            match built {
                Ok(built) => self.enter(built),
                Err(why) => self.tell(why),
            }
            if wished && self.wish.is_none() {
                for (name, value) in std::mem::take(&mut self.later) {
                    self.tune(name, value);
                }
            }
        }
        if Instant::now() >= self.next_build {
            self.start();
        }
    }

    /// Begins the build that waits.
    fn start(&mut self) {
        let wished = self.wish.is_some();
        let kind = match self.wish.take() {
            Some(Wish::Again) => Kind::Again(self.stage.scene.clone(), self.stage.knobs.clone()),
            Some(Wish::Scene(name)) => Kind::Scene(name),
            None if self.stage.stale => Kind::Turned(Box::new(self.stage.base())),
            None => return,
        };
        self.stage.stale = false;
        self.revision += 1;
        let plan = Plan { show: self.show.clone(), revision: self.revision, kind };
        let (tell, done) = channel();
        let build = move || _ = tell.send(plan.build());
        // a thread that cannot be had drops its sender: the build fails
        let _ = std::thread::Builder::new().name("sinew-build".into()).spawn(build);
        self.build = Some(Build { since: Instant::now(), wished, done });
    }

    /// Goes over to what was built.
    fn enter(&mut self, built: Built) {
        let Built { mut stage, goes_on, note } = built;
        if goes_on {
            // the world went on meanwhile, and knobs may have been turned
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

    /// Waits until all that was ordered is built. For tests.
    pub fn settle(&mut self) {
        while self.wish.is_some() || self.build.is_some() || self.stage.stale {
            self.next_build = Instant::now();
            self.rebuild();
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// A force of nothing on every body that forces move: it wakes them.
fn wake(world: &World, input: &mut Input) {
    let force = Vec3::ZERO;
    for body in world.bodies().filter(|b| b.motion() == Motion::Dynamic) {
        let (id, rigid) = (body.id(), body.is_rigid());
        let nothing = Command::NodeForce { body: id, node: 0, force };
        input.commands.push(if rigid { Command::Force { body: id, force, torque: force } } else { nothing });
    }
}
