//! Peer scene S5 in Rapier, set up as a user of Rapier would: its defaults, except for what the scene prescribes.
//!
//! The peers' table was made with `RUSTFLAGS="-C target-cpu=native"`: built so, drift, energy and contacts here are
//! those of the table (0.106 m, 3.1577 J, 8100 for the pyramid). Without it Rapier's results differ in the last bits
//! (0.104 m, 3.1029 J), and its times differ by some per cent: state the build together with a figure.

use rapier3d::prelude::*;
use sinew_peers::boxes::{self, Build, Run};
use std::time::Instant;

/// Rapier's substeps a step; 4 is also its default. The peers' table has 8: the pyramid takes 1.6 times as long and
/// drifts 0.07 m instead of 0.11 m.
const SOLVER_ITERATIONS: usize = 4;

/// One scene in Rapier, stepped by a driver that can alternate two engines on a noisy machine.
pub struct World {
    scene: Build,
    physics: PhysicsWorld,
    boxes: Vec<RigidBodyHandle>,
    start: Vec<[f32; 3]>,
    contacts: usize,
}

impl World {
    /// Builds a scene. More than one thread needs the cargo feature `parallel`.
    ///
    /// # Panics
    /// If `threads` is more than this build can use: a figure must not be reported for threads that were not used.
    pub fn new(scene: Build, threads: usize) -> World {
        let mut physics = PhysicsWorld::new();
        physics.gravity = Vector::new(0.0, boxes::GRAVITY, 0.0);
        physics.integration_parameters.dt = boxes::DT;
        physics.integration_parameters.num_solver_iterations = SOLVER_ITERATIONS;
        // enables the contact counters; without Rapier's feature `profiler` its timers stay off
        physics.physics_pipeline.counters.enable();
        use_threads(&mut physics, threads);

        add_ground(&mut physics);
        let start = scene.positions();
        let boxes = start.iter().map(|&centre| add_box(&mut physics, centre)).collect();
        World { scene, physics, boxes, start, contacts: 0 }
    }

    /// Advances by one step of [`boxes::DT`] and returns its wall time [ms].
    pub fn step(&mut self) -> f64 {
        let clock = Instant::now();
        self.physics.step();
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        self.contacts = self.contacts.max(self.physics.physics_pipeline.counters.solver.ncontacts);
        ms
    }

    /// Measures the final state; `ms` are the wall times of the steps [ms]
    pub fn finish(&self, ms: Vec<f64>) -> Run {
        let mut run =
            Run { name: self.scene.name(), ms, drift: 0.0, top: f64::MIN, kinetic: 0.0, contacts: self.contacts };
        for (&handle, start) in self.boxes.iter().zip(&self.start) {
            let body = &self.physics.bodies[handle];
            let centre = body.translation();
            let lateral = (centre.x - start[0]).hypot(centre.z - start[2]);
            run.drift = run.drift.max(f64::from(lateral));
            run.top = run.top.max(f64::from(centre.y));
            run.kinetic += 0.5 * f64::from(boxes::BOX_MASS * body.linvel().length_squared());
        }
        run
    }
}

fn add_ground(physics: &mut PhysicsWorld) {
    let [hx, hy, hz] = boxes::GROUND_HALF;
    let body = RigidBodyBuilder::fixed().translation(vector(boxes::GROUND_CENTRE));
    physics.insert(body, ColliderBuilder::cuboid(hx, hy, hz).friction(boxes::FRICTION));
}

fn add_box(physics: &mut PhysicsWorld, centre: [f32; 3]) -> RigidBodyHandle {
    let half = boxes::BOX_HALF;
    // sleeping is disabled: sleeping bodies would hide the cost of the solver
    let body = RigidBodyBuilder::dynamic().translation(vector(centre)).can_sleep(false);
    let shape = ColliderBuilder::cuboid(half, half, half).mass(boxes::BOX_MASS).friction(boxes::FRICTION);
    physics.insert(body, shape).0
}

fn vector([x, y, z]: [f32; 3]) -> Vector {
    Vector::new(x, y, z)
}

#[cfg(feature = "parallel")]
fn use_threads(physics: &mut PhysicsWorld, threads: usize) {
    physics.configure_thread_pool(threads).expect("the threads can be started");
}

#[cfg(not(feature = "parallel"))]
fn use_threads(_: &mut PhysicsWorld, threads: usize) {
    assert_eq!(threads, 1, "Rapier was built without the cargo feature `parallel`");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_stands_for_a_second() {
        let mut world = World::new(Build::Stack, 1);
        let ms = (0..60).map(|_| world.step()).collect();
        let run = world.finish(ms);
        assert_eq!(run.ms.len(), 60);
        assert_eq!(run.contacts, 80, "20 faces of 4 points");
        assert!(run.drift < 0.05 && run.top > 19.0, "drift {} m, top {} m", run.drift, run.top);
    }
}
