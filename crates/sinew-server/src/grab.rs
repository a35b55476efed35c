//! The hand: a damped spring with a force limit between a point of a body and the mouse.
//!
//! f = k (target − p) − c v, with k = m ω² and c = 2 m ω for a body of mass m: the same feel for light and heavy bodies,
//! without overshoot. The force is never more than `STRENGTH` times the body's weight.

use sinew::{BodyId, Command, Input, Real, Vec3, World};

/// Angular frequency of the spring [rad/s].
const STIFFNESS: Real = 12.0;
/// Largest force in units of m·g, g = 9.81 m/s².
const STRENGTH: Real = 3.0;

/// A point of a body that is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grab {
    /// Whom.
    pub body: BodyId,
    /// Where: a surface point of a soft body, or a point of a rigid body in its own axes [m].
    pub hold: Hold,
    /// Where the mouse is [m].
    pub target: Vec3,
}

/// How a body is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hold {
    /// By a surface point.
    Surfel(u32),
    /// By a point in body axes [m].
    Local(Vec3),
}

impl Grab {
    /// Holds the body of a slot at the place nearest to `at` [m]; nothing when it cannot be held.
    pub fn at(world: &World, slot: u32, at: Vec3) -> Option<Self> {
        let body = world.bodies().find(|b| b.id().to_parts().0 == slot)?;
        if body.motion() != sinew::Motion::Dynamic {
            return None;
        }
        let hold = if body.is_rigid() {
            Hold::Local(body.pose().ok()?.unpoint(at))
        } else {
            let far = |k: &u32| body.surface_point(*k).map_or(Real::MAX, |p| p.distance_squared(at));
            let count = body.surface()?.len() as u32;
            Hold::Surfel((0..count).min_by(|a, b| far(a).total_cmp(&far(b)))?)
        };
        Some(Self { body: body.id(), hold, target: at })
    }

    /// Adds the force of the hand to a step's input.
    pub fn pull(&self, world: &World, mut input: Input) -> Input {
        let Ok(body) = world.body(self.body) else { return input };
        let mass = body.mass();
        let force = |p: Vec3, v: Vec3| {
            let wanted = (self.target - p) * (mass * STIFFNESS * STIFFNESS) - v * (2.0 * mass * STIFFNESS);
            wanted.clamp_length_max(STRENGTH * mass * 9.81)
        };
        match self.hold {
            Hold::Local(local) => {
                let Ok(pose) = body.pose() else { return input };
                let point = pose.point(local);
                let v = body.velocity() + body.spin().cross(point - body.center_of_mass());
                input = input.with(Command::ForceAt { body: self.body, force: force(point, v), point });
            }
            Hold::Surfel(k) => {
                let (Some(surface), Some(point)) = (body.surface(), body.surface_point(k)) else { return input };
                let pull = force(point, body.velocity());
                for share in surface.shares(k) {
                    let force = pull * share.weight;
                    input = input.with(Command::NodeForce { body: self.body, node: share.node, force });
                }
            }
        }
        input
    }
}
