//! Mouse grab: a damped spring with a force limit between a point of a body and the mouse position.
//!
//! f = k (target − p) − c v, with k = m ω² and c = 2 m ω (critical damping) for a body of mass m: the same response for
//! light and heavy bodies, without overshoot. The force is limited to `STRENGTH` times the weight of the body. On a
//! soft body the force is distributed over a patch of the surface: the whole force on one node would pull out a spike.
//! There v is the velocity of the centre of mass, because damping scaled with the mass of the body would make the light
//! patch oscillate.

use crate::snapshot::Held;
use sinew::{BodyId, BodyView, Command, Input, Real, Vec3, World};

/// Angular frequency of the spring [rad/s].
const STIFFNESS: Real = 12.0;
/// Maximum force in units of m·g, g = 9.81 m/s².
const STRENGTH: Real = 5.0;
/// Radius of the patch over which the force on a soft body is distributed, as a fraction of the size of its bounding
/// box.
const PATCH: Real = 0.15;

/// A grabbed point of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Grab {
    /// The grabbed body.
    pub body: BodyId,
    /// Its topology number: nodes are numbered as they were then.
    pub topology: u32,
    /// The grabbed point of the body.
    pub hold: GrabTarget,
    /// Position of the mouse [m].
    pub target: Vec3,
}

/// The point of the body on which the force acts.
#[derive(Clone, Debug, PartialEq)]
pub enum GrabTarget {
    /// Nodes with weights that sum to one, and the offset of the grabbed point from their weighted mean [m].
    Patch(Vec<(u32, Real)>, Vec3),
    /// A point in body axes [m].
    Local(Vec3),
}

impl Grab {
    /// Grabs the body of a slot near `at` [m]; `None` when the body cannot be grabbed.
    pub fn at(world: &World, slot: u32, at: Vec3) -> Option<Self> {
        let body = world.bodies().find(|b| b.id().to_parts().0 == slot)?;
        if body.motion() != sinew::Motion::Dynamic || !at.is_finite() {
            return None;
        }
        let hold = if body.is_rigid() { GrabTarget::Local(body.pose().ok()?.unpoint(at)) } else { patch(&body, at)? };
        Some(Self { body: body.id(), topology: body.topology(), hold, target: at })
    }

    /// Adds the spring force to the input of a step and returns it; none when the body or its topology is another.
    pub fn pull(&self, world: &World, viewer: u32, input: &mut Input) -> Option<Held> {
        let body = world.body(self.body).ok().filter(|body| body.topology() == self.topology)?;
        let mass = body.mass();
        let force = |p: Vec3, v: Vec3| {
            let wanted = (self.target - p) * (mass * STIFFNESS * STIFFNESS) - v * (2.0 * mass * STIFFNESS);
            wanted.clamp_length_max(STRENGTH * mass * 9.81)
        };
        let (point, force) = match &self.hold {
            GrabTarget::Local(local) => {
                let point = body.pose().ok()?.point(*local);
                let v = body.velocity() + body.spin().cross(point - body.center_of_mass());
                let force = force(point, v);
                input.commands.push(Command::ForceAt { body: self.body, force, point });
                (point, force)
            }
            GrabTarget::Patch(nodes, offset) => {
                let point = mean(nodes, body.node_positions())? + *offset;
                let pull = force(point, body.velocity());
                for &(node, weight) in nodes {
                    input.commands.push(Command::NodeForce { body: self.body, node, force: pull * weight });
                }
                (point, pull)
            }
        };
        Some(Held { viewer, point, target: self.target, force })
    }
}

fn mean(nodes: &[(u32, Real)], x: &[Vec3]) -> Option<Vec3> {
    nodes.iter().try_fold(Vec3::ZERO, |sum, &(n, w)| Some(sum + *x.get(n as usize)? * w))
}

/// The nodes below the surface around a point, with weights that decrease with distance.
fn patch(body: &BodyView<'_>, at: Vec3) -> Option<GrabTarget> {
    let surface = body.surface()?;
    let points: Vec<Vec3> = (0..surface.len() as u32).filter_map(|k| body.surface_point(k)).collect();
    let first = *points.first()?;
    let (least, most) = points.iter().fold((first, first), |(a, b), p| (a.min(*p), b.max(*p)));
    let nearest = points.iter().map(|p| p.distance(at)).fold(Real::INFINITY, Real::min);
    let radius = (PATCH * (most - least).length()).max(1.001 * nearest + Real::MIN_POSITIVE);
    let mut weights = vec![0.0; body.node_positions().len()];
    for (k, p) in points.iter().enumerate() {
        let near = (1.0 - p.distance(at) / radius).max(0.0);
        for share in surface.shares(k as u32) {
            weights[share.node as usize] += near * near * share.weight;
        }
    }
    let total: Real = weights.iter().sum();
    if !(total > 0.0) {
        return None;
    }
    let held = weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
    let nodes: Vec<(u32, Real)> = held.map(|(n, w)| (n as u32, w / total)).collect();
    let offset = at - mean(&nodes, body.node_positions())?;
    Some(GrabTarget::Patch(nodes, offset))
}
