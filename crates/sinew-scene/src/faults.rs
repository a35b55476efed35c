//! Fault injection for `sinew soak --faults RATE` and the gate N1: non-finite numbers in commands and in the state of a running
//! world.
//!
//! *A command* with such a number must be refused and change nothing. *A state* with one must be detected in the next step,
//! and only its body reported and frozen; the world is then restored from a snapshot and continues unchanged.

use crate::Rng;
use sinew::{BodyId, Command, Event, Input, Motion, Pose, Quat, Real, Vec3, World};

/// Invalid values.
const POISON: [Real; 5] = [Real::NAN, Real::INFINITY, Real::NEG_INFINITY, 1e30, -1e30];

/// Numbers of injected faults.
///
/// An example is at [`faults::Faults`](crate::faults::Faults).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Injected {
    /// Bad commands.
    pub commands: u64,
    /// Bad numbers in the state.
    pub states: u64,
}

/// Injects faults at a rate.
///
/// ```
/// use sinew::{RigidBody, Shape, World};
/// use sinew_scene::faults::Faults;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)))?;
/// let mut faults = Faults::new(1.0, 7);
/// // a bad number is written into the state, found by the next step, and the world put back
/// let before = world.hash();
/// faults.wound(&mut world)?;
/// assert_eq!((faults.injected.states, world.hash()), (1, before));
/// # Ok(()) }
/// ```
pub struct Faults {
    /// Probability of each kind of fault in each step.
    rate: f64,
    rng: Rng,
    /// Done so far.
    pub injected: Injected,
}

/// A bad number in the state: whose, and in which column.
struct Wound {
    body: BodyId,
    column: &'static str,
}

impl Faults {
    /// With this probability per step, 0 to 1, and this seed.
    pub fn new(rate: f64, seed: u64) -> Self {
        Self { rate, rng: Rng::new(seed), injected: Injected::default() }
    }

    /// Adds a command that must be refused; true if it did.
    pub fn speak(&mut self, world: &World, input: &mut Input) -> bool {
        let bodies: Vec<BodyId> = movers(world).collect();
        if bodies.is_empty() || self.rng.share() >= self.rate {
            return false;
        }
        let body = bodies[self.rng.below(bodies.len())];
        let bad = Vec3::splat(POISON[self.rng.below(POISON.len())]);
        let node = u32::MAX;
        input.commands.push(match self.rng.below(6) {
            0 => Command::Force { body, force: bad, torque: Vec3::ZERO },
            1 => Command::Impulse { body, impulse: bad, point: Vec3::ZERO },
            2 => Command::Velocity { body, velocity: bad, spin: Vec3::ZERO },
            3 => Command::Teleport { body, pose: Pose::at(bad) },
            4 => Command::NodeForce { body, node, force: Vec3::X },
            _ => Command::RemoveBody(BodyId::from_parts(u32::MAX, 1)),
        });
        self.injected.commands += 1;
        true
    }

    /// Whether the last command of the input was refused in this step.
    pub fn was_refused(world: &World, input: &Input) -> bool {
        let last = input.commands.len() as u32 - 1;
        world.report().events.contains(&Event::Refused { command: last })
    }

    /// Corrupts the state, checks that the next step reports it, and restores the world.
    ///
    /// # Errors
    /// What was not as it must be.
    pub fn wound(&mut self, world: &mut World) -> Result<(), String> {
        if self.rng.share() >= self.rate {
            return Ok(());
        }
        let (before, calm) = (world.hash(), world.snapshot());
        let held: Vec<BodyId> = world.bodies().filter(|b| b.is_frozen()).map(|b| b.id()).collect();
        let Some(wound) = self.poison(world) else { return Ok(()) };
        self.injected.states += 1;
        let found = world.step(&Input::none()).faults.iter().any(|f| f.body == wound.body && f.field == wound.column);
        let others =
            world.bodies().filter(|b| b.is_frozen() && b.id() != wound.body && !held.contains(&b.id())).count();
        let finite = is_finite(world);
        world.restore(&calm).map_err(|e| e.to_string())?;
        let Wound { body, column } = wound;
        match (found, others, finite, world.hash() == before) {
            (false, ..) => Err(format!("a bad number in {column} of {body:?} went unseen")),
            (_, 1.., ..) => Err(format!("a bad number in {column} of {body:?} froze {others} other bodies")),
            (_, _, false, _) => Err(format!("a bad number in {column} of {body:?} was still there after the step")),
            (.., false) => Err(format!("after a bad number in {column} a snapshot did not bring the world back")),
            _ => Ok(()),
        }
    }

    /// Writes a bad number into a column that belongs to one body.
    fn poison(&mut self, world: &mut World) -> Option<Wound> {
        let bodies: Vec<BodyId> = movers(world).collect();
        let body = *bodies.get(self.rng.below(bodies.len()))?;
        let nodes = world.body(body).ok()?.node_span();
        let (bad, axis) = (POISON[self.rng.below(POISON.len())], self.rng.below(3));
        let choice = self.rng.below(4);
        let node = nodes.start + self.rng.below(nodes.len());
        let slot = body.to_parts().0 as usize;
        let state = world.tamper();
        let column = match (nodes.len(), choice) {
            (0, 0) => (state.x[slot][axis] = bad, "x").1,
            (0, 1) => (state.v[slot][axis] = bad, "v").1,
            (0, 2) => (state.w[slot][axis] = bad, "w").1,
            (0, _) => {
                let mut q = state.q[slot].to_array();
                q[axis] = bad;
                state.q[slot] = Quat::from_array(q);
                "q"
            }
            (_, 0 | 1) => (state.node_x[node][axis] = bad, "node_x").1,
            _ => (state.node_v[node][axis] = bad, "node_v").1,
        };
        Some(Wound { body, column })
    }
}

/// True when every place, orientation and velocity of the state is finite.
pub fn is_finite(world: &World) -> bool {
    let s = world.state();
    [&s.x, &s.v, &s.w, &s.node_x, &s.node_v].iter().all(|column| column.iter().all(|v| v.is_finite()))
        && s.q.iter().all(|q| q.is_finite())
}

/// Bodies that forces move and nothing holds.
fn movers(world: &World) -> impl Iterator<Item = BodyId> {
    world.bodies().filter(|b| b.motion() == Motion::Dynamic && !b.is_frozen()).map(|b| b.id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::{Particles, RigidBody, Shape};

    #[test]
    fn every_wound_is_found_and_the_world_goes_on_as_before() -> Result<(), Box<dyn std::error::Error>> {
        let mut world = World::default();
        world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
        world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 0.1, 0.0]))?;
        world.add_particles(Particles::new(vec![Vec3::Y, Vec3::X]))?;
        world.add_particles(Particles::new(vec![Vec3::Z + Vec3::Y]))?;
        let mut faults = Faults::new(1.0, 1);
        for _ in 0..200 {
            faults.wound(&mut world)?;
            let mut input = Input::none();
            assert!(faults.speak(&world, &mut input));
            world.step(&input);
            assert!(Faults::was_refused(&world, &input), "{input:?}");
        }
        assert_eq!((faults.injected.states, faults.injected.commands), (200, 200));
        assert!(world.bodies().all(|b| !b.is_frozen()));
        Ok(())
    }
}
