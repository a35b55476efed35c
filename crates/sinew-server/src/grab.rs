//! The hand: a damped spring with a force limit between a point of a body and the mouse.
//!
//! f = k (target − p) − c v, with k = m ω² and c = 2 m ω for a body of mass m: the same feel for light and heavy bodies,
//! without overshoot. The force is never more than `STRENGTH` times the body's weight. A soft body is held by a patch of its
//! surface: the whole force on one node would pull out a spike. Its v is that of the centre of mass, because damping for the
//! mass of the body would shake the light patch.

use crate::shot::Held;
use sinew::{BodyId, BodyView, Command, Input, Real, Vec3, World};

/// Angular frequency of the spring [rad/s].
const STIFFNESS: Real = 12.0;
/// Largest force in units of m·g, g = 9.81 m/s².
const STRENGTH: Real = 5.0;
/// Radius of the patch by which a soft body is held, as a share of the size of its box.
const PATCH: Real = 0.15;

/// A point of a body that is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Grab {
    /// Whom.
    pub body: BodyId,
    /// Where.
    pub hold: Hold,
    /// Where the mouse is [m].
    pub target: Vec3,
}

/// How a body is held.
#[derive(Clone, Debug, PartialEq)]
pub enum Hold {
    /// By nodes with weights that sum to one; the hand is this far from their mean [m].
    Patch(Vec<(u32, Real)>, Vec3),
    /// By a point in body axes [m].
    Local(Vec3),
}

impl Grab {
    /// Holds the body of a slot near `at` [m]; nothing when it cannot be held.
    pub fn at(world: &World, slot: u32, at: Vec3) -> Option<Self> {
        let body = world.bodies().find(|b| b.id().to_parts().0 == slot)?;
        if body.motion() != sinew::Motion::Dynamic || !at.is_finite() {
            return None;
        }
        let hold = if body.is_rigid() { Hold::Local(body.pose().ok()?.unpoint(at)) } else { patch(&body, at)? };
        Some(Self { body: body.id(), hold, target: at })
    }

    /// Adds the force of the hand to a step's input, and tells what it is.
    pub fn pull(&self, world: &World, viewer: u32, input: &mut Input) -> Option<Held> {
        let body = world.body(self.body).ok()?;
        let mass = body.mass();
        let force = |p: Vec3, v: Vec3| {
            let wanted = (self.target - p) * (mass * STIFFNESS * STIFFNESS) - v * (2.0 * mass * STIFFNESS);
            wanted.clamp_length_max(STRENGTH * mass * 9.81)
        };
        let (point, force) = match &self.hold {
            Hold::Local(local) => {
                let point = body.pose().ok()?.point(*local);
                let v = body.velocity() + body.spin().cross(point - body.center_of_mass());
                let force = force(point, v);
                input.commands.push(Command::ForceAt { body: self.body, force, point });
                (point, force)
            }
            Hold::Patch(nodes, offset) => {
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

/// The nodes under the surface around a point, less with distance.
fn patch(body: &BodyView<'_>, at: Vec3) -> Option<Hold> {
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
    Some(Hold::Patch(nodes, offset))
}
