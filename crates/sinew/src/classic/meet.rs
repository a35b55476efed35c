//! One body against several surfaces, for a substep of the world: integration under penalty forces, or collisions by
//! impulse.
//!
//! A body is represented by its probes (corners, or centres with a radius) against signed distance functions that may
//! move. A particle is a body with one probe at its centre and infinite inertia: K = (1/m) 1.
//! ```text
//! flight   v½ = v + ½ s (g + Σf/m)       x' = x + s v½       v' = v½ + ½ s (g + Σf'/m)
//!          ω½ = ω + ½ s I⁻¹ (τ + Σ r×f)  q' = exp(s ω½) q    ω' likewise
//! strike   r = mean of the probes with φ < slop and −h v_i·n_i > max(φ, 0),  j from `Bounce::impulse`
//! ```
//! s sub-step [s], f force of a probe [N], r lever arm from the centre of mass [m], φ signed distance minus the radius
//! [m]. Source: RC, as in `penalty` and `impulse`. Ours: forces of several surfaces are summed; a moving surface is
//! sampled at its pose at that time; the sub-steps of the quadratic laws follow ω² ≤ k Σ (1/m + (r×n)·I⁻¹(r×n)) over
//! the probes with possible contact, the trace of M⁻¹K; collisions are iterated over all surfaces, at most [`ROUNDS`]
//! times.

use super::penalty::{GAP_PART, LIMIT_PART};
use super::{Body, Bounce, ClassicError, Penalty, SUBSTEP_CAP};
use crate::collision::{Sample, Sdf};
use crate::math::{Pose, Quat, Real, Vec3, integrate_rotation};

/// Iterations of the collisions. One suffices for a flat landing; a box that rocks on its corners needs a few more.
const ROUNDS: usize = 8;

/// Bisections of a displacement that would cross a barrier; after that the displacement is discarded.
const HALVINGS: usize = 24;

/// A body's probes and one surface, at the start of the substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting<'a> {
    /// The surface, in the frame `pose`.
    pub field: &'a Sdf,
    pub pose: Pose,
    /// Centre [m], velocity [m/s] and spin [rad/s] of the body that carries the surface.
    pub center: Vec3,
    pub velocity: Vec3,
    pub spin: Vec3,
    /// Points with their radii [m], in the frame `place` of the probed body (relative to its centre of mass).
    pub probes: &'a [(Vec3, Real)],
    pub place: Pose,
    /// Added to every radius [m].
    pub grow: Real,
}

/// Action of a surface on the body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Push {
    /// Impulse on the body [N·s], and its component along the normals.
    pub impulse: Vec3,
    pub normal: Real,
    /// Last point of application [m], and the normal there.
    pub point: Vec3,
    pub direction: Vec3,
    /// Smallest gap [m].
    pub gap: Real,
    /// Present force [N], its normal component; scratch of an integration.
    force: Vec3,
    strength: Real,
}

/// Loads other than those of the surfaces, constant over the substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pull {
    /// [m/s²].
    pub acceleration: Vec3,
    /// [N·m].
    pub torque: Vec3,
    /// Substep [s].
    pub h: Real,
}

/// Result of an integration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flown {
    /// Impulse of the surfaces [N·s] and its moment about the centre of mass [N·m·s].
    pub impulse: Vec3,
    pub twist: Vec3,
    /// Displacement of the end of the integration from x + h v' [m], and the rotation from exp(h ω') q to its end.
    pub way: Vec3,
    pub turn: Quat,
}

/// Parameters of a collision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strike {
    /// Restitution and friction of the pair.
    pub bounce: Bounce,
    /// Approach speed below which there is no restitution [m/s].
    pub least_speed: Real,
    /// Gap below which probes count as in contact [m]: else a resting body is in contact in every other substep only,
    /// and creeps.
    pub slop: Real,
    /// Substep [s]: an open gap may close within it, but not become negative.
    pub h: Real,
}

/// Force and torque of all surfaces at one pose.
struct Load {
    force: Vec3,
    torque: Vec3,
}

/// One probe at one time.
struct At {
    arm: Vec3,
    sample: Sample,
    /// Velocity of the surface there [m/s].
    drift: Vec3,
}

impl<'a> Meeting<'a> {
    /// A surface at rest without probes.
    pub fn still(field: &'a Sdf, pose: Pose) -> Self {
        let (center, velocity, spin) = (pose.position, Vec3::ZERO, Vec3::ZERO);
        Self { field, pose, center, velocity, spin, probes: &[], place: Pose::IDENTITY, grow: 0.0 }
    }

    /// The same surface `h` [s] ago.
    pub fn earlier(&self, h: Real) -> Self {
        Self { pose: self.pose_after(-h), center: self.center - self.velocity * h, ..*self }
    }

    /// Pose of the surface after `t` [s].
    fn pose_after(&self, t: Real) -> Pose {
        if self.velocity == Vec3::ZERO && self.spin == Vec3::ZERO {
            return self.pose;
        }
        let turn = integrate_rotation(Quat::IDENTITY, self.spin * t);
        let arm = turn * (self.pose.position - self.center);
        Pose::new(self.center + self.velocity * t + arm, turn * self.pose.rotation)
    }

    /// Distance and normal of every probe of a body in `pose` after `t` [s].
    fn each(&self, pose: &Pose, t: Real, mut tell: impl FnMut(At)) {
        let surface = self.pose_after(t);
        for &(local, radius) in self.probes {
            let arm = pose.rotation * self.place.point(local);
            let x = pose.position + arm;
            let s = self.field.sample(surface.unpoint(x));
            let sample = Sample { distance: s.distance - radius - self.grow, normal: surface.rotation * s.normal };
            let on = x - sample.normal * radius;
            let drift = self.velocity + self.spin.cross(on - self.center - self.velocity * t);
            tell(At { arm: arm - sample.normal * radius, sample, drift });
        }
    }

    /// Smallest gap of all probes of a body in `pose`, at the present time [m].
    pub fn gap(&self, pose: &Pose) -> Real {
        let mut least = Real::INFINITY;
        self.each(pose, 0.0, |at| least = least.min(at.sample.distance));
        least
    }
}

/// Constants of an integration.
struct Flight<'f, F> {
    law: &'f Penalty,
    pull: &'f Pull,
    meet: &'f F,
    count: usize,
}

/// Integrates a body for `pull.h` under the forces of the surfaces `meet(0..out.len())`. None when no contact is
/// possible.
///
/// # Errors
/// More than [`SUBSTEP_CAP`] sub-steps; for the barrier a body that is not outside.
pub(crate) fn fly<'a, F: Fn(usize) -> Meeting<'a>>(
    law: &Penalty,
    start: &Body,
    pull: &Pull,
    meet: &F,
    out: &mut [Push],
) -> Result<Option<Flown>, ClassicError> {
    let flight = Flight { law, pull, meet, count: out.len() };
    match flight.reach(start) {
        Some(squared_frequency) => flight.run(start, squared_frequency, out).map(Some),
        None => Ok(None),
    }
}

impl<'a, F: Fn(usize) -> Meeting<'a>> Flight<'_, F> {
    fn run(&self, start: &Body, squared_frequency: Real, out: &mut [Push]) -> Result<Flown, ClassicError> {
        let barrier = matches!(self.law, Penalty::LogBarrier { .. });
        let h = self.pull.h;
        let even = if barrier { self.check_outside(start)? } else { self.even_step(squared_frequency)? };
        let mut body = *start;
        let (mut impulse, mut twist) = (Vec3::ZERO, Vec3::ZERO);
        let (mut left, mut shrink) = (h, 1.0);
        let mut load = self.weigh(&body.pose, 0.0, out);
        for _ in 0..SUBSTEP_CAP {
            let t = h - left;
            let s = if barrier { shrink * self.safe_time(&body, &load, t) } else { even };
            // a remainder by rounding is merged with the last sub-step
            let s = if s > left * (1.0 - 1e-3) { left } else { s };
            let mut next = body;
            self.kick(&mut next, &load, 0.5 * s);
            next.pose.position += next.velocity * s;
            next.pose.rotation = integrate_rotation(next.pose.rotation, next.spin * s);
            // the displacement was safe by the rule; where rounding is as large as the gap, try half
            if barrier && crossed(&next.pose, t + s, self.meet, self.count) {
                shrink *= 0.5;
                continue;
            }
            for half in 0..2 {
                impulse += load.force * (0.5 * s);
                twist += load.torque * (0.5 * s);
                for p in out.iter_mut() {
                    p.impulse += p.force * (0.5 * s);
                    p.normal += p.strength * (0.5 * s);
                }
                if half == 0 {
                    load = self.weigh(&next.pose, t + s, out);
                }
            }
            self.kick(&mut next, &load, 0.5 * s);
            (body, shrink) = (next, 1.0);
            left -= s;
            if left <= 0.0 {
                return Ok(self.arrive(start, &body, impulse, twist));
            }
        }
        Err(ClassicError::TooManySubsteps { h, done: h - left, cap: SUBSTEP_CAP })
    }

    /// Compares the end of an integration with a plain step x + h v'.
    fn arrive(&self, start: &Body, end: &Body, impulse: Vec3, twist: Vec3) -> Flown {
        let Pull { acceleration, torque, h } = *self.pull;
        let velocity = start.velocity + acceleration * h + impulse * start.inv_mass;
        let spin = start.spin + start.inv_inertia().mul(twist + torque * h);
        let way = end.pose.position - (start.pose.position + velocity * h);
        let plain = integrate_rotation(start.pose.rotation, spin * h);
        Flown { impulse, twist, way, turn: (end.pose.rotation * plain.inverse()).normalize() }
    }

    /// Sum of k (1/m + (r×n)·I⁻¹(r×n)) over the probes that may reach the surface within the step [1/s²]; none without
    /// any.
    fn reach(&self, body: &Body) -> Option<Real> {
        let (inv_inertia, h) = (body.inv_inertia(), self.pull.h);
        let twist = inv_inertia.mul(self.pull.torque).length();
        let mut sum = None;
        for i in 0..self.count {
            (self.meet)(i).each(&body.pose, 0.0, |at| {
                let speed = (body.velocity_at(at.arm) - at.drift).length();
                let bend = (twist + 2.0 * body.spin.length_squared()) * at.arm.length();
                let way = (speed + (self.pull.acceleration.length() + bend) * h) * h;
                if at.sample.distance - self.law.buffer() <= way {
                    let lever = at.arm.cross(at.sample.normal);
                    let answer = body.inv_mass + lever.dot(inv_inertia.mul(lever));
                    sum = Some(sum.unwrap_or(0.0) + self.law.stiffness() * answer);
                }
            });
        }
        sum
    }

    /// Equal sub-steps of the quadratic laws [s].
    fn even_step(&self, squared_frequency: Real) -> Result<Real, ClassicError> {
        let h = self.pull.h;
        let parts = (h * squared_frequency.sqrt() / (2.0 * LIMIT_PART)).ceil().max(1.0);
        if parts > SUBSTEP_CAP as Real {
            return Err(ClassicError::TooManySubsteps { h, done: 0.0, cap: SUBSTEP_CAP });
        }
        Ok(h / parts)
    }

    /// A barrier requires the body outside; its longest sub-step is the complete substep [s].
    fn check_outside(&self, body: &Body) -> Result<Real, ClassicError> {
        let least = (0..self.count).map(|i| (self.meet)(i).gap(&body.pose)).fold(Real::INFINITY, Real::min);
        if least > 0.0 { Ok(self.pull.h) } else { Err(ClassicError::Inside { depth: -least }) }
    }

    /// Forces of all surfaces on a body in `pose`, after `t` [s].
    fn weigh(&self, pose: &Pose, t: Real, out: &mut [Push]) -> Load {
        let mut load = Load { force: Vec3::ZERO, torque: Vec3::ZERO };
        for (i, push) in out.iter_mut().enumerate() {
            (push.force, push.strength) = (Vec3::ZERO, 0.0);
            let mut strongest = 0.0;
            (self.meet)(i).each(pose, t, |at| {
                push.gap = push.gap.min(at.sample.distance);
                let force = self.law.force(at.sample);
                let size = force.dot(at.sample.normal);
                if !(size > 0.0) {
                    return;
                }
                load.force += force;
                load.torque += at.arm.cross(force);
                push.force += force;
                push.strength += size;
                if size > strongest {
                    strongest = size;
                    (push.point, push.direction) = (pose.position + at.arm, at.sample.normal);
                }
            });
        }
        load
    }

    /// Adds the velocity and spin increments of the forces over `t` [s].
    fn kick(&self, body: &mut Body, load: &Load, t: Real) {
        body.velocity += (load.force * body.inv_mass + self.pull.acceleration) * t;
        body.spin += body.inv_inertia().mul(load.torque + self.pull.torque) * t;
    }

    /// Time in which no probe moves farther than its allowed fraction of the gap (`penalty`, *Time*) [s].
    fn safe_time(&self, body: &Body, load: &Load, t: Real) -> Real {
        let linear = (load.force * body.inv_mass + self.pull.acceleration).length();
        let angular = body.inv_inertia().mul(load.torque + self.pull.torque).length();
        let mut least = self.pull.h;
        for i in 0..self.count {
            (self.meet)(i).each(&body.pose, t, |at| {
                let (gap, buffer) = (at.sample.distance, self.law.buffer());
                let way = GAP_PART * gap.min(buffer) + (gap - buffer).max(0.0);
                let speed = body.velocity.length() + body.spin.length() * at.arm.length() + at.drift.length();
                let pull = linear + angular * at.arm.length();
                least = least.min(2.0 * way / (speed + (speed * speed + 2.0 * pull * way).sqrt()));
            });
        }
        least
    }
}

/// True when a probe is not outside.
fn crossed<'a>(pose: &Pose, t: Real, meet: &impl Fn(usize) -> Meeting<'a>, count: usize) -> bool {
    let mut inside = false;
    for i in 0..count {
        meet(i).each(pose, t, |at| inside |= !(at.sample.distance > 0.0));
    }
    inside
}

/// The farthest pose between `from` and `to` that crosses no surface, `to` itself when it crosses none. The surfaces
/// are at their present poses; `from` is the body before the substep, transported with the surface it would cross.
pub(crate) fn hold_back<'a>(
    from: &Pose,
    to: &Pose,
    before: &impl Fn(usize) -> Meeting<'a>,
    now: &impl Fn(usize) -> Meeting<'a>,
    count: usize,
) -> Pose {
    let Some(wall) = (0..count).find(|&i| !(now(i).gap(to) > 0.0)) else { return *to };
    // transported with the surface, the body keeps its previous gap
    let carried = now(wall).pose.then_inner(&before(wall).pose.inverse().then_inner(from));
    let mut share = 1.0;
    for _ in 0..HALVINGS {
        share *= 0.5;
        let turned = if carried.rotation.dot(to.rotation) < 0.0 { -to.rotation } else { to.rotation };
        let position = carried.position + (to.position - carried.position) * share;
        let rotation = carried.rotation * (1.0 - share) + turned * share;
        let pose = Pose::new(position, rotation.normalize());
        if !crossed(&pose, 0.0, now, count) {
            return pose;
        }
    }
    carried
}

/// Applies collision impulses to a body until no probe moves into its surface, at most [`ROUNDS`] times.
pub(crate) fn strike<'a>(body: &mut Body, meet: &impl Fn(usize) -> (Meeting<'a>, Strike), out: &mut [Push]) {
    for _ in 0..ROUNDS {
        let mut any = false;
        for (i, push) in out.iter_mut().enumerate() {
            let (meeting, law) = meet(i);
            any |= strike_once(body, &meeting, &law, push);
        }
        if !any {
            break;
        }
    }
}

/// One impulse at the mean of the approaching probes. False when there are none.
fn strike_once(body: &mut Body, meeting: &Meeting<'_>, law: &Strike, push: &mut Push) -> bool {
    let (mut arms, mut normals, mut drifts, mut gaps, mut count) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, 0.0, 0);
    meeting.each(&body.pose, 0.0, |at| {
        let Sample { distance, normal } = at.sample;
        push.gap = push.gap.min(distance);
        let open = distance.max(0.0);
        let approach = -(body.velocity_at(at.arm) - at.drift).dot(normal);
        if distance < law.slop && approach * law.h > open {
            arms += at.arm;
            normals += normal;
            drifts += at.drift;
            gaps += open;
            count += 1;
        }
    });
    if count == 0 {
        return false;
    }
    let share = 1.0 / count as Real;
    let (arm, drift) = (arms * share, drifts * share);
    // normals of opposite walls cancel: the impulse has no direction
    let Some(normal) = normals.try_normalize() else { return false };
    let velocity = body.velocity_at(arm) - drift;
    let slow = -velocity.dot(normal) < law.least_speed;
    // stopped at once above the surface, a resting box would rise a little in every substep, and hop
    let (bounce, velocity) = if slow {
        (Bounce { restitution: 0.0, ..law.bounce }, velocity + normal * (gaps * share / law.h))
    } else {
        (law.bounce, velocity)
    };
    let Some(impulse) = bounce.impulse(&body.response(arm, arm), normal, velocity) else { return false };
    body.push(arm, impulse);
    push.impulse += impulse;
    push.normal += impulse.dot(normal);
    (push.point, push.direction) = (body.pose.position + arm, normal);
    true
}

/// Moves a body out along the normal of its deepest probe, down to a depth of `leave` [m], by at most `most` [m] per
/// surface; velocities are unchanged.
pub(crate) fn put_back<'a>(
    body: &mut Body,
    meet: &impl Fn(usize) -> (Meeting<'a>, Strike),
    count: usize,
    leave: Real,
    most: Real,
) {
    for i in 0..count {
        let (mut depth, mut normal) = (leave, Vec3::ZERO);
        meet(i).0.each(&body.pose, 0.0, |at| {
            if -at.sample.distance > depth {
                (depth, normal) = (-at.sample.distance, at.sample.normal);
            }
        });
        body.pose.position += normal * (depth - leave).min(most);
    }
}
