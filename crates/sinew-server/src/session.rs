//! The world behind the page: it runs on a thread of its own at its own rate, takes commands and publishes frames.

use crate::frame;
use crate::grab::Grab;
use serde::Deserialize;
use sinew::{Error, Real, Vec3, World};
use sinew_scene::validate::tools::num;
use sinew_scene::{AnyScene, gallery};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What the page may say.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase", deny_unknown_fields)]
pub enum Order {
    /// Stop or go on.
    Pause {
        /// True stops.
        on: bool,
    },
    /// One step while paused.
    Step,
    /// The scene from its start.
    Reset,
    /// Simulated seconds in a second.
    Speed {
        /// From 0.05 to 4.
        value: f64,
    },
    /// Another scene.
    Scene {
        /// Its name.
        name: String,
    },
    /// Take hold of a body.
    Grab {
        /// Slot of the body.
        slot: u32,
        /// Where it was hit [m].
        at: [Real; 3],
    },
    /// Move the hand.
    Drag {
        /// To there [m].
        to: [Real; 3],
    },
    /// Let go.
    Release,
    /// Gravity along y [m/s²].
    Gravity {
        /// From −50 to 50.
        value: Real,
    },
}

/// What the world publishes: the latest of each.
#[derive(Clone, Debug)]
pub struct Published {
    /// The scene as JSON; a new one for every scene and reset.
    pub scene: watch::Receiver<Arc<String>>,
    /// The latest frame.
    pub frame: watch::Receiver<Arc<Vec<u8>>>,
}

/// A world and what is done to it.
pub struct Session {
    scene: AnyScene,
    world: World,
    paused: bool,
    single: bool,
    speed: f64,
    grab: Option<Grab>,
    scenes: watch::Sender<Arc<String>>,
    frames: watch::Sender<Arc<Vec<u8>>>,
}

impl Session {
    /// A session of this scene, and what it publishes.
    pub fn new(scene: AnyScene) -> Result<(Self, Published), Error> {
        let world = scene.build()?;
        let (scenes, scene_receiver) = watch::channel(Arc::new(String::new()));
        let (frames, frame) = watch::channel(Arc::new(Vec::new()));
        let published = Published { scene: scene_receiver, frame };
        let mut session = Self { scene, world, paused: false, single: false, speed: 1.0, grab: None, scenes, frames };
        session.show();
        Ok((session, published))
    }

    /// Runs until the page's side hangs up.
    pub fn run(mut self, orders: &Receiver<Order>) {
        let mut next = Instant::now();
        loop {
            let wait = next.saturating_duration_since(Instant::now());
            match orders.recv_timeout(wait) {
                Ok(order) => {
                    self.obey(order);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let dt = Duration::from_secs_f64(num(self.world.settings().dt) / self.speed);
            if !self.paused || self.single {
                self.single = false;
                self.step();
            }
            // a world that cannot keep up runs slower; it never tries to catch up
            next = (next + dt).max(Instant::now());
        }
    }

    fn step(&mut self) {
        let clock = Instant::now();
        let mut input = self.scene.input(&self.world, self.world.state().tick);
        if let Some(grab) = self.grab {
            input = grab.pull(&self.world, input);
        }
        self.world.step(&input);
        let ms = 1e3 * clock.elapsed().as_secs_f64();
        self.frames.send_replace(Arc::new(frame::encode(&self.world, ms)));
    }

    /// Publishes the scene and its first frame.
    fn show(&mut self) {
        let text = serde_json::to_string(&frame::describe(&self.scene, &self.world)).unwrap_or_default();
        self.scenes.send_replace(Arc::new(text));
        self.frames.send_replace(Arc::new(frame::encode(&self.world, 0.0)));
    }

    fn load(&mut self, scene: AnyScene) {
        // built-in scenes build; if one did not, the page keeps the old one
        if let Ok(world) = scene.build() {
            (self.scene, self.world, self.grab) = (scene, world, None);
            self.show();
        }
    }

    /// Carries out one order; what makes no sense is ignored.
    pub fn obey(&mut self, order: Order) {
        let vector = Vec3::from_array;
        match order {
            Order::Pause { on } => self.paused = on,
            Order::Step => self.single = true,
            Order::Reset => self.load(self.scene.clone()),
            Order::Speed { value } if value.is_finite() => self.speed = value.clamp(0.05, 4.0),
            Order::Scene { name } => {
                if let Some(scene) = gallery::find(&name) {
                    self.load(scene.into());
                }
            }
            Order::Grab { slot, at } => {
                self.grab = Grab::at(&self.world, slot, vector(at)).filter(|g| g.target.is_finite());
            }
            Order::Drag { to } => {
                if let Some(grab) = self.grab.as_mut().filter(|_| vector(to).is_finite()) {
                    grab.target = vector(to);
                }
            }
            Order::Release => self.grab = None,
            Order::Gravity { value } if value.is_finite() => {
                let mut settings = self.world.settings().clone();
                settings.gravity.y = value.clamp(-50.0, 50.0);
                // clamped above: the door lets it in
                let _ = self.world.set_settings(settings);
            }
            Order::Speed { .. } | Order::Gravity { .. } => {}
        }
    }
}
