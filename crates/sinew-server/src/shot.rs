//! A shot: what one frame needs of a world, copied out of it between two steps. The physics thread pays for this copy and for
//! nothing else of a frame.

use crate::layer::Layers;
use crate::picture::Picture;
use serde_json::{Map, Value};
use sinew::{ConstraintForce, ContactForce, Counts, Phase, Quat, Real, Vec3, World};
use std::sync::Arc;

/// A held point.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Who holds it.
    pub viewer: u32,
    /// Where it is [m].
    pub point: Vec3,
    /// Where the hand is [m].
    pub target: Vec3,
    /// Force of the hand on the body in the last step [N].
    pub force: Vec3,
}

/// How the session runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Whether time stands still.
    pub paused: bool,
    /// Simulated seconds in a second that were asked for.
    pub speed: f64,
    /// Values of the knobs.
    pub knobs: Map<String, Value>,
    /// The last trouble, for people.
    pub message: String,
}

/// Numbers of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Simulated seconds in a second that were reached.
    pub real_time_factor: f64,
    /// Wall time of the last step [s].
    pub step: f64,
    /// Wall time that a step may take at the asked speed [s].
    pub budget: f64,
}

/// What one frame needs.
#[derive(Debug, Default)]
pub struct Shot {
    /// What is constant.
    pub picture: Arc<Picture>,
    /// How it runs.
    pub status: Arc<Status>,
    /// Numbers of the run.
    pub pace: Pace,
    /// Which layers to make.
    pub layers: Layers,
    /// Number of the step.
    pub tick: u64,
    /// Time [s].
    pub time: f64,
    /// Poses and velocities of rigid bodies.
    pub rigid: Vec<(Vec3, Quat, Vec3)>,
    /// Nodes of all bodies [m].
    pub x: Vec<Vec3>,
    /// How oriented particles are turned, body by body.
    pub turns: Vec<Quat>,
    /// Velocities of the nodes, when wanted [m/s].
    pub v: Vec<Vec3>,
    /// Contact points, when wanted.
    pub contacts: Vec<ContactForce>,
    /// Constraint forces, when wanted.
    pub constraints: Vec<ConstraintForce>,
    /// Residuals, when wanted [N·s].
    pub residuals: Vec<Real>,
    /// Counts.
    pub counts: Counts,
    /// Seconds by phase.
    pub phases: [f64; Phase::ALL.len()],
    /// Kinetic, of gravity, elastic [J]; the last is NaN when nobody wants it.
    pub energies: [Real; 3],
    /// Deepest penetration [m].
    pub penetration: Real,
    /// Held points.
    pub held: Vec<Held>,
}

impl Shot {
    /// Copies what the layers need. Nothing is allocated once the lists have grown.
    pub fn take(&mut self, world: &World, layers: Layers) {
        let report = world.report();
        self.layers = layers;
        (self.tick, self.time) = (world.state().tick, world.time());
        (self.counts, self.phases, self.penetration) = (report.counts, report.seconds, report.penetration);
        self.energies = [report.energies.kinetic, report.energies.gravity, Real::NAN];
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
