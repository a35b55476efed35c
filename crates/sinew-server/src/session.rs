//! The world behind the page: it runs on a thread of its own at its own rate, takes orders and gives shots to the encoder.
//!
//! This thread never waits for a viewer: orders come through a bounded queue that it only polls, shots go through a
//! [`Mailbox`] whose locks it only tries. A world that cannot keep up runs slower and says so; it never tries to catch up.

use crate::describe::describe;
use crate::grab::Grab;
use crate::layer::{Demand, Layers};
use crate::mailbox::Mailbox;
use crate::order::Order;
use crate::picture::Picture;
use crate::shot::{Held, Pace, Shot, Status};
use crate::tune::{self, Knob};
use sinew::{Blueprint, Command, Error, Input, Motion, Real, Vec3, World};
use sinew_scene::file::{self, Syntax};
use sinew_scene::validate::tools::num;
use sinew_scene::{AnyScene, gallery};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

/// Longest sleep between two looks at the orders.
const NAP: Duration = Duration::from_millis(5);
/// How often a world that stands still is shown.
const STILL: Duration = Duration::from_millis(100);
/// Over which time the real-time factor is taken.
const WINDOW: Duration = Duration::from_millis(500);
/// Most orders that are obeyed before a step.
const ORDERS: usize = 256;
/// After building a world anew, so many times the time it took pass before the next.
const PATIENCE: u32 = 10;

/// What a viewer said.
#[derive(Debug)]
pub enum Letter {
    /// An order.
    Order(u32, Order),
    /// The viewer is gone.
    Gone(u32),
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

/// A world to build.
enum Wish {
    /// The scene from its start.
    Again,
    /// Another scene.
    Scene(AnyScene),
}

/// A world and what is done to it.
pub struct Session {
    show: Show,
    scene: AnyScene,
    world: World,
    /// The model as the scene has it, without the factors of the knobs.
    plain: Option<Blueprint>,
    knobs: Vec<Knob>,
    /// Knobs of the model were turned: build anew when it is time.
    stale: bool,
    /// A world that was asked for, built when it is time; orders after it wait.
    wish: Option<Wish>,
    next_build: Instant,
    status: Arc<Status>,
    single: bool,
    /// A knob was turned: who sleeps must wake.
    nudge: bool,
    grabs: Vec<(u32, Grab)>,
    held: Vec<Held>,
    picture: Arc<Picture>,
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
        let scene = show.scene.clone();
        let world = scene.build()?;
        let status = Arc::new(Status { speed: 1.0, ..Status::default() });
        let mut session = Self {
            show,
            scene,
            world,
            plain: None,
            knobs: Vec::new(),
            stale: false,
            wish: None,
            next_build: Instant::now(),
            status,
            single: false,
            nudge: false,
            grabs: Vec::new(),
            held: Vec::new(),
            picture: Arc::default(),
            mailbox,
            demand,
            pace: Pace::default(),
            spent: Spent::default(),
        };
        session.begin();
        Ok(session)
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Runs until the page's side hangs up.
    pub fn run(mut self, letters: &Receiver<Letter>) -> Spent {
        while self.show.wait && self.demand.viewers() == 0 {
            std::thread::sleep(NAP);
            if self.read(letters).is_err() {
                return self.spent;
            }
        }
        let mut next = Instant::now();
        let mut shown = next;
        let (mut since, mut made) = (next, 0_u32);
        loop {
            if self.read(letters).is_err() {
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
            let budget = Duration::from_secs_f64(num(self.world.settings().dt) / self.status.speed);
            self.pace.budget = budget.as_secs_f64();
            if now - since >= WINDOW {
                self.pace.real_time_factor =
                    f64::from(made) * num(self.world.settings().dt) / (now - since).as_secs_f64();
                (since, made) = (now, 0);
            }
            // half a millisecond early is on time: sleeps end late
            let due = if stepping { Duration::from_secs_f64(1.0 / self.show.frames) } else { STILL };
            if now + Duration::from_micros(500) >= shown + due {
                shown = (shown + due).max(now - due);
                self.shoot();
            }
            next = (next + budget).max(now);
        }
    }

    /// Obeys what was ordered; an error when nobody can order any more.
    fn read(&mut self, letters: &Receiver<Letter>) -> Result<(), ()> {
        for _ in 0..ORDERS {
            if self.wish.is_some() {
                break;
            }
            match letters.try_recv() {
                Ok(Letter::Order(viewer, order)) => self.obey(viewer, order),
                Ok(Letter::Gone(viewer)) => self.grabs.retain(|(v, _)| *v != viewer),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(()),
            }
        }
        Ok(())
    }

    /// One step.
    pub fn step(&mut self) {
        let clock = Instant::now();
        let mut input = self.scene.input(&self.world, self.world.state().tick);
        self.held.clear();
        for (viewer, grab) in &self.grabs {
            self.held.extend(grab.pull(&self.world, *viewer, &mut input));
        }
        // after a build, because that may come later
        if self.nudge && !self.stale {
            self.nudge = false;
            wake(&self.world, &mut input);
        }
        let residuals = self.demand.layers().has(Layers::RESIDUALS);
        if self.world.settings().residuals != residuals {
            let mut settings = self.world.settings().clone();
            settings.residuals = residuals;
            // nothing but this flag changes: the door lets it in
            let _ = self.world.set_settings(settings);
        }
        self.world.step(&input);
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
        let (world, picture, status) = (&self.world, &self.picture, &self.status);
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

    /// A scene from its start: model, knobs and picture anew.
    fn begin(&mut self) {
        self.plain = self.world.blueprint().ok();
        self.knobs = tune::knobs(&self.scene, self.world.settings(), self.plain.as_ref());
        self.stale = false;
        self.grabs.clear();
        self.held.clear();
        self.tell(String::new());
        self.draw();
        self.shoot();
    }

    /// A new picture, for a model that changed.
    fn draw(&mut self) {
        let blueprint = self.plain.as_ref();
        let mut picture = Picture::new(&self.world, blueprint, self.picture.revision + 1);
        picture.text = describe(&self.scene, &self.world, blueprint, &self.knobs, picture.revision);
        self.picture = Arc::new(picture);
    }

    /// Publishes values and a word for people.
    fn tell(&mut self, message: String) {
        let knobs = tune::values(&self.knobs);
        self.status = Arc::new(Status { knobs, message, ..(*self.status).clone() });
    }

    fn load(&mut self, scene: AnyScene) {
        match scene.build() {
            Ok(world) => {
                (self.scene, self.world) = (scene, world);
                self.begin();
            }
            Err(error) => self.tell(format!("{}: {error}", scene.name())),
        }
    }

    /// Carries out one order; what makes no sense in this scene is told and changes nothing.
    pub fn obey(&mut self, viewer: u32, order: Order) {
        let vector = Vec3::from_array;
        let change = |status: &Arc<Status>, f: &dyn Fn(&mut Status)| {
            let mut new = (**status).clone();
            f(&mut new);
            Arc::new(new)
        };
        match order {
            Order::Pause { on } => self.status = change(&self.status, &|s| s.paused = on),
            Order::Speed { value } => self.status = change(&self.status, &|s| s.speed = value),
            Order::Step => self.single = self.status.paused,
            Order::Reset => {
                self.wish = Some(Wish::Again);
                self.grant();
            }
            Order::Scene { name } => {
                let given = Some(self.show.scene.clone()).filter(|s| s.name() == name);
                match given.or_else(|| gallery::find(&name).map(AnyScene::from)) {
                    Some(scene) => self.wish = Some(Wish::Scene(scene)),
                    None => self.tell(format!("there is no scene '{name}'")),
                }
                self.grant();
            }
            Order::Layers { .. } => {}
            Order::Grab { slot, at } => {
                self.grabs.retain(|(v, _)| *v != viewer);
                self.grabs.extend(Grab::at(&self.world, slot, vector(at)).map(|grab| (viewer, grab)));
            }
            Order::Drag { to } => {
                if let Some((_, grab)) = self.grabs.iter_mut().find(|(v, _)| *v == viewer) {
                    grab.target = vector(to);
                }
            }
            Order::Release => self.grabs.retain(|(v, _)| *v != viewer),
            Order::Tune { knob, value } => self.tune(&knob, value),
        }
    }

    /// The scene from its start; knobs stay where they were turned to.
    fn restart(&mut self) {
        let turned = std::mem::take(&mut self.knobs);
        let given = self.scene.name() == self.show.scene.name();
        self.load(if given { self.show.scene.clone() } else { self.scene.clone() });
        for old in turned {
            if self.knobs.iter().any(|k| k.name == old.name && k.value != old.value) {
                self.tune(&old.name, old.value);
            }
        }
        if self.stale {
            self.next_build = Instant::now();
            self.rebuild();
        }
    }

    /// Builds the world that was asked for, when it is time: no viewer can make this thread do nothing else.
    fn grant(&mut self) {
        let now = Instant::now();
        if now < self.next_build {
            return;
        }
        let Some(wish) = self.wish.take() else { return };
        match wish {
            Wish::Again => self.restart(),
            Wish::Scene(scene) => self.load(scene),
        }
        // a scene takes a moment to build; how long is not known before
        self.next_build = now + Duration::from_millis(100);
    }

    fn tune(&mut self, name: &str, value: f64) {
        let Some(knob) = self.knobs.iter_mut().find(|k| k.name == name) else {
            return self.tell(format!("this scene has no knob '{name}'"));
        };
        if !knob.takes(value) {
            let (low, high) = (knob.low, knob.high);
            return self.tell(format!("{name}: {value}, from {low} to {high} is allowed"));
        }
        knob.value = value;
        self.nudge = true;
        let mut settings = self.world.settings().clone();
        if tune::set(&mut settings, name, value) {
            // the knob's range is inside that of the settings
            let _ = self.world.set_settings(settings);
        } else {
            self.stale = true;
        }
        self.tell(String::new());
    }

    /// Builds what waits for its time: the world that was asked for, or this one in the state it is in when knobs of
    /// the model were turned.
    pub fn rebuild(&mut self) {
        self.grant();
        if !self.stale || Instant::now() < self.next_build {
            return;
        }
        let clock = Instant::now();
        self.stale = false;
        if let Err(why) = self.build_anew() {
            self.tell(why);
        }
        self.next_build = Instant::now() + clock.elapsed() * PATIENCE;
    }

    fn build_anew(&mut self) -> Result<(), String> {
        let value = |name: &str| self.knobs.iter().find(|k| k.name == name).map_or(1.0, |k| k.value) as Real;
        let (stiffness, friction) = (value("stiffness"), value("friction"));
        let settings = self.world.settings().clone();
        let scene = self.read_again()?;
        if let Some(scene) = &scene {
            let world = scene.build().map_err(|e| e.to_string())?;
            self.plain = world.blueprint().ok();
        }
        let mut blueprint = self.plain.clone().ok_or("this scene has rows of its own and cannot be changed")?;
        blueprint.settings = settings;
        tune::scale(&mut blueprint, stiffness, friction);
        match World::build(blueprint, self.world.state()) {
            Ok(world) => self.world = world,
            // a parameter made another model: it begins from its start
            Err(_) if scene.is_some() => {
                let knobs = self.knobs.clone();
                self.load(scene.clone().unwrap_or_else(|| self.scene.clone()));
                self.knobs = knobs;
                // the factors are not in it yet
                self.stale = stiffness != 1.0 || friction != 1.0;
                self.tell("the scene begins anew: this parameter changes its shape".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
        if let Some(scene) = scene {
            self.scene = scene;
            self.draw();
        }
        Ok(())
    }

    /// The scene's file with the parameters of the knobs; none when it has none.
    fn read_again(&self) -> Result<Option<AnyScene>, String> {
        let own = self.knobs.iter().filter_map(|k| Some((k.name.strip_prefix("scene.")?, k.value)));
        let own: Vec<String> = own.map(|(name, value)| format!("parameters.{name}.value={value}")).collect();
        let name = self.scene.name();
        // another scene may have been picked since
        let is_first = name == self.show.scene.name();
        let sets = if is_first { [&self.show.sets[..], &own].concat() } else { own.clone() };
        let text = gallery::find(name).and_then(|scene| scene.text);
        let read = match (self.show.file.as_ref().filter(|_| is_first), text) {
            _ if own.is_empty() => return Ok(None),
            (Some(path), _) => file::read_with(path, &sets),
            (None, Some(text)) => file::read_text_with(text, name, Syntax::Toml, &sets),
            (None, None) => return Ok(None),
        };
        read.map(|scene| Some(scene.into())).map_err(|problems| problems.to_string())
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
