//! A snapshot of a world: the data of one frame, copied between two steps. This copy is the only cost of a frame on the
//! physics thread.

use crate::geometry::SceneGeometry;
use crate::layer::Layers;
use serde_json::{Map, Value};
use sinew::{ConstraintForce, ContactForce, Counts, Ledger, Phase, Quat, Real, Vec3, World};
use std::sync::Arc;

/// A grabbed point.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Number of the viewer that grabs it.
    pub viewer: u32,
    /// Its position [m].
    pub point: Vec3,
    /// Position of the mouse [m].
    pub target: Vec3,
    /// Force of the grab on the body in the last step [N].
    pub force: Vec3,
}

/// Status of the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Whether the simulation is paused.
    pub paused: bool,
    /// Requested speed [simulated seconds per second].
    pub speed: f64,
    /// Values of the adjustable parameters.
    pub knobs: Map<String, Value>,
    /// The last error message.
    pub message: String,
}

/// Timing of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Reached speed [simulated seconds per second].
    pub real_time_factor: f64,
    /// Wall time of the last step [s].
    pub step: f64,
    /// Wall time that a step may take at the requested speed [s].
    pub budget: f64,
}

/// The data of one frame.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The constant data of the scene.
    pub geometry: Arc<SceneGeometry>,
    /// Status of the session.
    pub status: Arc<Status>,
    /// Timing of the run.
    pub pace: Pace,
    /// Layers to encode.
    pub layers: Layers,
    /// Number of the step.
    pub tick: u64,
    /// Time [s].
    pub time: f64,
    /// Positions [m], orientations and velocities [m/s] of rigid bodies.
    pub rigid: Vec<(Vec3, Quat, Vec3)>,
    /// Positions of the nodes of all bodies [m].
    pub x: Vec<Vec3>,
    /// Orientations of oriented particles, body by body.
    pub turns: Vec<Quat>,
    /// Velocities of the nodes, if subscribed [m/s].
    pub v: Vec<Vec3>,
    /// Contact points, if subscribed.
    pub contacts: Vec<ContactForce>,
    /// Constraint forces, if subscribed.
    pub constraints: Vec<ConstraintForce>,
    /// Residuals, if subscribed [N·s].
    pub residuals: Vec<Real>,
    /// Counts.
    pub counts: Counts,
    /// Time by phase [s].
    pub phases: [f64; Phase::ALL.len()],
    /// Kinetic, gravitational and elastic energy [J]; the last is NaN when no viewer subscribes to it.
    pub energies: [Real; 3],
    /// Entries of the ledger since the scene began [J].
    pub ledger: [f64; Ledger::NAMES.len()],
    /// Deepest penetration [m].
    pub penetration: Real,
    /// Grabbed points.
    pub held: Vec<Held>,
}

impl Snapshot {
    /// Copies the data that the layers need. Nothing is allocated once the lists have reached their size.
    pub fn take(&mut self, world: &World, layers: Layers) {
        let report = world.report();
        self.layers = layers;
        (self.tick, self.time) = (world.state().tick, world.time());
        (self.counts, self.phases, self.penetration) = (report.counts, report.seconds, report.penetration);
        self.energies = [report.energies.kinetic, report.energies.gravity, Real::NAN];
        self.ledger = report.ledger.total.values();
        for list in [&mut self.x, &mut self.v] {
            list.clear();
        }
        self.rigid.clear();
        self.turns.clear();
        for body in world.bodies() {
            if body.is_rigid() {
                self.rigid.push((body.position(), body.rotation(), body.velocity()));
                continue;
            }
            self.x.extend_from_slice(body.node_positions());
            self.turns.extend((0..body.particle_radii().len() as u32).filter_map(|k| body.particle_rotation(k)));
            if layers.has(Layers::VELOCITIES) {
                self.v.extend_from_slice(body.node_velocities());
            }
        }
        copy(&mut self.contacts, &report.contacts, layers.has(Layers::CONTACTS) || layers.has(Layers::PRESSURE));
        copy(&mut self.constraints, &report.constraints, layers.has(Layers::CONSTRAINTS));
        copy(&mut self.residuals, &report.residuals, layers.has(Layers::RESIDUALS));
        if layers.has(Layers::ENERGIES) {
            let soft = world.bodies().filter(|b| b.is_soft());
            self.energies[2] = soft.filter_map(|b| Some(world.elastic(b.id()).ok()?.energy())).sum();
        }
    }
}

fn copy<T: Copy>(to: &mut Vec<T>, from: &[T], wanted: bool) {
    to.clear();
    to.extend_from_slice(if wanted { from } else { &[] });
}
