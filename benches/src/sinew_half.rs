//! Sinew on the scenes of S5, with its default settings and sleeping off.

use crate::rapier_half::Run;
use crate::scenes::{self, Scene};
use sinew::{BodyId, Input, Material, RigidBody, Settings, Shape, Vec3, World as Physics};
use std::time::Instant;

/// One scene in Sinew that a driver steps.
pub struct World {
    scene: Scene,
    physics: Physics,
    boxes: Vec<BodyId>,
    start: Vec<[f32; 3]>,
    contacts: usize,
}

impl World {
    /// Builds the scene.
    pub fn new(scene: Scene, threads: usize) -> Self {
        let settings = Settings {
            dt: scenes::DT,
            gravity: Vec3::new(0.0, scenes::GRAVITY, 0.0),
            threads: threads as u32,
            sleep_time: f32::INFINITY,
            // by pair is what Rapier keeps too
            point_forces: false,
            ..Settings::default()
        };
        let mut physics = Physics::new(settings).expect("sane settings");
        let surface = Material::friction(scenes::FRICTION);
        let [x, y, z] = scenes::GROUND_HALF;
        let ground = RigidBody::fixed().shape(Shape::cuboid(x, y, z)).at(scenes::GROUND_CENTRE).material(surface);
        physics.add_rigid(ground).expect("sane ground");
        let half = scenes::BOX_HALF;
        let start = scene.positions();
        let boxes = start
            .iter()
            .map(|&at| {
                let shape = Shape::cuboid(half, half, half);
                let body = RigidBody::dynamic().shape(shape).mass(scenes::BOX_MASS).at(at).material(surface);
                physics.add_rigid(body).expect("sane box")
            })
            .collect();
        Self { scene, physics, boxes, start, contacts: 0 }
    }

    /// Steps once; wall time [ms].
    pub fn step(&mut self) -> f64 {
        let clock = Instant::now();
        self.physics.step(&Input::none());
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        self.contacts = self.contacts.max(self.physics.report().counts.contacts as usize);
        ms
    }

    /// Measures the end state.
    pub fn finish(&self, ms: Vec<f64>) -> Run {
        let mut run =
            Run { name: self.scene.name(), ms, drift: 0.0, top: f64::MIN, kinetic: 0.0, contacts: self.contacts };
        for (&id, start) in self.boxes.iter().zip(&self.start) {
            let body = self.physics.body(id).expect("no box was removed");
            let at = body.position();
            run.drift = run.drift.max(f64::from((at.x - start[0]).hypot(at.z - start[2])));
            run.top = run.top.max(f64::from(at.y));
            run.kinetic += 0.5 * f64::from(scenes::BOX_MASS * body.velocity().length_squared());
        }
        run
    }
}
