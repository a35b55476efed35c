//! Penalty methods: a force that increases as a particle approaches or enters a surface.
//!
//! ```text
//! quadratic             E = ½ k φ²         f = −k φ n         for φ < 0
//! with a buffer         E = ½ k (ε − φ)²   f = k (ε − φ) n    for φ < ε
//! log barrier           E = −ρ ln(φ/ε)     f = (ρ/φ) n        for 0 < φ < ε, and φ ≤ 0 must never happen
//! ```
//! φ signed distance [m], n its gradient, k stiffness [N/m], ε buffer [m], ρ barrier strength [J], f force [N],
//! E energy [J].
//! Source: RC, *Quadratic Penalty Method*, *… with a Buffer*, *Log-Barrier Penalty Method*, *A Short Summary*; the
//! formulas, missing in the scan, are those of our errata.
//!
//! Equilibrium. A mass m at rest on a quadratic surface has the depth m g/k, with a buffer it is at φ = ε − m g/k, on a
//! barrier at φ = ρ/(m g) (choose ρ < m g ε, or it hovers at the edge of the buffer, where the force jumps by ρ/ε).
//! There is no dissipation except the error of the sub-steps: a particle leaves at its speed of approach. There is no
//! friction ("difficult to handle", RC).
//!
//! Time. Each sub-step is kick, drift, kick (velocity Verlet):
//! ```text
//! v½ = v + ½ s (f(x)/m + g)     x' = x + s v½     v' = v½ + ½ s (f(x')/m + g)
//! ```
//! s sub-step [s], g gravity [m/s²]. It is stable for s < 2/√(k/m). "The use of step size adjustment is a must" (RC):
//! - the quadratic ones divide a step with possible contact into equal sub-steps of at most [`LIMIT_PART`] of that
//!   limit (for curved surfaces no curvature of E exceeds k, as long as ε is below the radius of a hollow);
//! - the barrier, whose stiffness ρ/φ² is unbounded, allows in each sub-step a displacement of at most [`GAP_PART`] of
//!   the gap φ (or of ε, in addition to the remaining distance to the buffer). As |φ(x) − φ(y)| ≤ |x − y| (see
//!   `collision::Sdf`), the gap after it is still above zero. Near the turning point this is also about a fifth of the
//!   stability limit.
//!
//! A particle stopped by the barrier approaches to ε exp(−m v²/(2ρ)): the number of sub-steps grows with m v²/ρ, and
//! with a gap below the rounding of the position there is no solution. Both end in a typed error, never in a crossing.

use super::{ClassicError, Particle, positive, require};
use crate::collision::{Sample, Sdf};
use crate::math::{Real, Vec3};

/// Maximum number of sub-steps of one step. More: stiffer surfaces are accepted, a step may take longer.
pub const SUBSTEP_CAP: u32 = 4096;

/// Fraction of the stability limit 2/√(k/m) that a sub-step uses. At 0.1 a contact lasts 15 sub-steps and a rebound
/// conserves its speed to half a percent.
pub(super) const LIMIT_PART: Real = 0.1;

/// Fraction of the gap that a sub-step of the barrier may use. Any value below 1 is safe; 0.1 also conserves the speed
/// of a rebound to three percent (the force jumps at the edge of the buffer).
pub(super) const GAP_PART: Real = 0.1;

/// The three penalty methods.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), sinew::classic::ClassicError> {
/// use sinew::classic::*;
/// let floor = Sdf::plane(Vec3::ZERO, Vec3::Y);
/// let grain = Particle { position: Vec3::Y * 0.005, velocity: Vec3::NEG_Y, mass: 0.01 };
/// let law = Penalty::Buffered { stiffness: 1e3, buffer: 0.01 };
/// let stepped: Stepped = law.step(&grain, &floor, Vec3::ZERO, 1e-3)?;
/// assert!(stepped.mean_force.y > 0.0 && stepped.particle.velocity.y > -1.0);
/// let wrong = Particle { mass: -1.0, ..grain };
/// assert!(law.step(&wrong, &floor, Vec3::ZERO, 1e-3).is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Penalty {
    /// f = −k φ n inside: penetration in inverse proportion to the stiffness.
    Quadratic {
        /// k [N/m].
        stiffness: Real,
    },
    /// f = k (ε − φ) n within the buffer: acts before contact, can still be penetrated.
    Buffered {
        /// k [N/m].
        stiffness: Real,
        /// ε: gap at which the force begins [m].
        buffer: Real,
    },
    /// f = (ρ/φ) n within the buffer: never penetrated.
    LogBarrier {
        /// ρ [J].
        strength: Real,
        /// ε: gap at which the force begins [m].
        buffer: Real,
    },
}

/// Result of a step.
///
/// An example is at [`classic::Penalty`](crate::classic::Penalty).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stepped {
    /// The particle after the step.
    pub particle: Particle,
    /// Mean force of the surface over the step [N]: m Δv = h (mean_force + m g).
    pub mean_force: Vec3,
    /// Sub-steps used, including rejected ones of the barrier; at most [`SUBSTEP_CAP`].
    pub substeps: u32,
}

impl Penalty {
    /// Force at a point with this distance and normal [N]. The barrier is undefined at φ ≤ 0 and returns NaN there.
    pub fn force(&self, sample: Sample) -> Vec3 {
        let Sample { distance, normal } = sample;
        match *self {
            Self::Quadratic { stiffness } if distance < 0.0 => normal * (-stiffness * distance),
            Self::Buffered { stiffness, buffer } if distance < buffer => normal * (stiffness * (buffer - distance)),
            Self::LogBarrier { .. } if distance <= 0.0 => Vec3::NAN,
            Self::LogBarrier { strength, buffer } if distance < buffer => normal * (strength / distance),
            _ => Vec3::ZERO,
        }
    }

    /// Energy stored at this distance [J]: the force is minus its gradient. Infinite for the barrier at φ ≤ 0.
    pub fn energy(&self, distance: Real) -> Real {
        match *self {
            Self::Quadratic { stiffness } => 0.5 * stiffness * distance.min(0.0).powi(2),
            Self::Buffered { stiffness, buffer } => 0.5 * stiffness * (buffer - distance).max(0.0).powi(2),
            Self::LogBarrier { .. } if distance <= 0.0 => Real::INFINITY,
            Self::LogBarrier { strength, buffer } => strength * (buffer / distance).ln().max(0.0),
        }
    }

    /// Advances a particle by `h` [s] under `gravity` [m/s²] against `surface` (validated by its constructor).
    ///
    /// # Errors
    /// A number that is not finite or not above zero; more than [`SUBSTEP_CAP`] sub-steps; for the barrier a particle
    /// that is not outside.
    pub fn step(&self, particle: &Particle, surface: &Sdf, gravity: Vec3, h: Real) -> Result<Stepped, ClassicError> {
        self.check()?;
        require(particle.position.is_finite(), "position", "finite")?;
        require(particle.velocity.is_finite(), "velocity", "finite")?;
        require(gravity.is_finite(), "gravity", "finite")?;
        positive("mass", particle.mass)?;
        positive("step", h)?;

        let now = surface.sample(particle.position);
        require(now.distance.is_finite(), "distance to the surface", "finite")?;
        let flight = Flight { law: *self, surface, gravity, h };

        // no contact possible in the whole step: free flight, which one sub-step integrates exactly
        let reach = particle.velocity.length() * h + 0.5 * gravity.length() * h * h;
        if now.distance - self.buffer() > reach {
            return flight.even(particle, now, 1);
        }
        match *self {
            Self::Quadratic { stiffness } | Self::Buffered { stiffness, .. } => {
                let limit = 2.0 / (stiffness / particle.mass).sqrt();
                let count = (h / (LIMIT_PART * limit)).ceil().max(1.0);
                if count > SUBSTEP_CAP as Real {
                    return Err(ClassicError::TooManySubsteps { h, done: 0.0, cap: SUBSTEP_CAP });
                }
                flight.even(particle, now, count as u32)
            }
            Self::LogBarrier { .. } if now.distance <= 0.0 => Err(ClassicError::Inside { depth: -now.distance }),
            Self::LogBarrier { .. } => flight.guarded(particle, now),
        }
    }

    /// Gap at which the force begins [m].
    pub(crate) fn buffer(&self) -> Real {
        match *self {
            Self::Quadratic { .. } => 0.0,
            Self::Buffered { buffer, .. } | Self::LogBarrier { buffer, .. } => buffer,
        }
    }

    /// Largest curvature of the energy [N/m]; 0 for the barrier, whose curvature is unbounded and which has its own
    /// step control.
    pub(super) fn stiffness(&self) -> Real {
        match *self {
            Self::Quadratic { stiffness } | Self::Buffered { stiffness, .. } => stiffness,
            Self::LogBarrier { .. } => 0.0,
        }
    }

    fn check(&self) -> Result<(), ClassicError> {
        match *self {
            Self::Quadratic { stiffness } => positive("stiffness", stiffness),
            Self::Buffered { stiffness, buffer } => {
                positive("stiffness", stiffness)?;
                positive("buffer", buffer)
            }
            Self::LogBarrier { strength, buffer } => {
                positive("strength", strength)?;
                positive("buffer", buffer)
            }
        }
    }
}

/// Constants of one step.
struct Flight<'a> {
    law: Penalty,
    surface: &'a Sdf,
    gravity: Vec3,
    h: Real,
}

/// A particle during the step: its sample, and the impulse of the surface so far [N·s].
#[derive(Clone, Copy)]
struct Moving {
    particle: Particle,
    sample: Sample,
    impulse: Vec3,
}

impl Flight<'_> {
    /// Kick, drift, kick over `s` [s].
    fn advance(&self, from: &Moving, s: Real) -> Moving {
        let Moving { mut particle, sample, impulse } = *from;
        let before = self.law.force(sample);
        particle.velocity += (before / particle.mass + self.gravity) * (0.5 * s);
        particle.position += particle.velocity * s;
        let sample = self.surface.sample(particle.position);
        let after = self.law.force(sample);
        particle.velocity += (after / particle.mass + self.gravity) * (0.5 * s);
        Moving { particle, sample, impulse: impulse + (before + after) * (0.5 * s) }
    }

    /// The whole step in `count` equal parts.
    fn even(&self, particle: &Particle, sample: Sample, count: u32) -> Result<Stepped, ClassicError> {
        let mut moving = Moving { particle: *particle, sample, impulse: Vec3::ZERO };
        for _ in 0..count {
            moving = self.advance(&moving, self.h / count as Real);
        }
        Ok(self.arrive(&moving, count))
    }

    /// The whole step in parts that keep the gap above zero.
    fn guarded(&self, particle: &Particle, sample: Sample) -> Result<Stepped, ClassicError> {
        let mut moving = Moving { particle: *particle, sample, impulse: Vec3::ZERO };
        let (mut left, mut shrink) = (self.h, 1.0);
        for substeps in 1..=SUBSTEP_CAP {
            let s = left.min(shrink * self.safe_time(&moving));
            let next = self.advance(&moving, s);

            // the displacement was safe by the rule; where rounding of the position is as large as the gap, try half
            if next.sample.distance <= 0.0 {
                shrink *= 0.5;
                continue;
            }
            (moving, shrink) = (next, 1.0);
            if s >= left {
                return Ok(self.arrive(&moving, substeps));
            }
            left -= s;
        }
        Err(ClassicError::TooManySubsteps { h: self.h, done: self.h - left, cap: SUBSTEP_CAP })
    }

    /// Time in which the drift |v + ½ s a| s is at most the allowed displacement L [s].
    ///
    /// |v| s + ½ |a| s² = L  ⇒  s = 2L / (|v| + √(|v|² + 2|a|L)), the form that is valid for |a| = 0 and |v| = 0.
    fn safe_time(&self, moving: &Moving) -> Real {
        let (gap, buffer) = (moving.sample.distance, self.law.buffer());
        let way = GAP_PART * gap.min(buffer) + (gap - buffer).max(0.0);
        let speed = moving.particle.velocity.length();
        let pull = (self.law.force(moving.sample) / moving.particle.mass + self.gravity).length();
        2.0 * way / (speed + (speed * speed + 2.0 * pull * way).sqrt())
    }

    fn arrive(&self, moving: &Moving, substeps: u32) -> Stepped {
        Stepped { particle: moving.particle, mean_force: moving.impulse / self.h, substeps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::Dice;

    const GRAVITY: Vec3 = Vec3::new(0.0, -10.0, 0.0);

    fn floor() -> Sdf {
        Sdf::plane(Vec3::ZERO, Vec3::Y)
    }

    fn at(height: Real, speed: Real) -> Particle {
        Particle { position: Vec3::Y * height, velocity: Vec3::Y * speed, mass: 0.5 }
    }

    fn three() -> [Penalty; 3] {
        [
            Penalty::Quadratic { stiffness: 2000.0 },
            Penalty::Buffered { stiffness: 2000.0, buffer: 0.02 },
            Penalty::LogBarrier { strength: 0.05, buffer: 0.02 },
        ]
    }

    #[test]
    fn forces_are_those_of_the_formulas() {
        let sample = |distance| Sample { distance, normal: Vec3::Y };
        let [quadratic, buffered, barrier] = three();
        assert_eq!(quadratic.force(sample(0.01)), Vec3::ZERO);
        assert!(quadratic.force(sample(-0.01)).abs_diff_eq(Vec3::Y * 20.0, 1e-4));
        assert_eq!(buffered.force(sample(0.03)), Vec3::ZERO);
        assert!(buffered.force(sample(0.01)).abs_diff_eq(Vec3::Y * 20.0, 1e-4));
        assert!(buffered.force(sample(-0.01)).abs_diff_eq(Vec3::Y * 60.0, 1e-4));
        assert_eq!(barrier.force(sample(0.03)), Vec3::ZERO);
        assert!(barrier.force(sample(0.01)).abs_diff_eq(Vec3::Y * 5.0, 1e-4));
        assert!(barrier.force(sample(0.0)).is_nan() && barrier.energy(0.0) == Real::INFINITY);
    }

    #[test]
    fn force_is_minus_the_gradient_of_the_energy() {
        for law in three() {
            for distance in [-0.015, 0.003, 0.011, 0.017, 0.04] {
                let e = 1e-4;
                if distance < 0.0 && matches!(law, Penalty::LogBarrier { .. }) {
                    continue;
                }
                let slope = (law.energy(distance + e) - law.energy(distance - e)) / (2.0 * e);
                let force = law.force(Sample { distance, normal: Vec3::Y }).y;
                assert!((force + slope).abs() < 0.02 * (1.0 + force), "{law:?} {distance}: {force} {slope}");
            }
        }
    }

    #[test]
    fn the_depth_at_rest_is_weight_over_stiffness() {
        // start slightly displaced: the mean over whole periods of the free oscillation is the equilibrium position
        let weight = 5.0;
        let rest = [-weight / 2000.0, 0.02 - weight / 2000.0, 0.05 / weight];
        for (law, rest) in three().into_iter().zip(rest) {
            let mut particle = at(rest * 1.02, 0.0);
            let stiffness =
                if let Penalty::LogBarrier { strength, .. } = law { strength / (rest * rest) } else { 2000.0 };
            let period = core::f64::consts::TAU as Real / (stiffness / particle.mass).sqrt();
            let mut mean = 0.0;
            for _ in 0..400 {
                particle = law.step(&particle, &floor(), GRAVITY, period / 40.0).unwrap().particle;
                mean += particle.position.y / 400.0;
            }
            assert!((mean / rest - 1.0).abs() < 2e-3, "{law:?}: {mean} {rest}");
        }
    }

    #[test]
    fn a_falling_particle_rebounds_at_the_same_speed() {
        for law in three() {
            // from 50 mm, up to the highest point after the contact
            let mut particle = at(0.05, 0.0);
            let (mut top, mut touched) = (0.0 as Real, false);
            for _ in 0..250 {
                let done = law.step(&particle, &floor(), GRAVITY, 1e-3).unwrap();
                touched |= done.mean_force.y > 0.0;
                if touched && done.particle.velocity.y > 0.0 {
                    top = top.max(done.particle.position.y);
                }
                particle = done.particle;
            }
            // the buffer stores part of the energy at its edge: heights are compared well above it
            assert!((top / 0.05 - 1.0).abs() < 0.03, "{law:?}: {top}");
        }
    }

    #[test]
    fn the_longest_substeps_conserve_speed_to_the_documented_tolerance() {
        for (law, part) in three().into_iter().zip([0.005, 0.005, 0.03]) {
            for phase in 0..50 {
                let mut particle = at(0.03 + 1e-4 * phase as Real, -0.4);
                // just below one sub-step of the quadratic ones
                let h = 0.999 * LIMIT_PART * 2.0 / (2000.0 / particle.mass).sqrt();
                for _ in 0..200 {
                    particle = law.step(&particle, &floor(), Vec3::ZERO, h).unwrap().particle;
                }
                let change = particle.velocity.y / 0.4 - 1.0;
                assert!(change.abs() < part, "{law:?}: {change}");
            }
        }
    }

    #[test]
    fn the_mean_force_equals_the_change_of_momentum() {
        let bowl = Sdf::bowl(Vec3::Y, 1.0);
        let [quadratic, buffered, _] = three();
        // the descent gains 1 J: a barrier of 0.05 J would stop it below the rounding of f32
        for law in [quadratic, buffered, Penalty::LogBarrier { strength: 0.5, buffer: 0.02 }] {
            let mut particle = Particle { position: Vec3::new(0.3, 0.2, 0.0), velocity: Vec3::ZERO, mass: 0.5 };
            for _ in 0..200 {
                let done = law.step(&particle, &bowl, GRAVITY, 5e-3).unwrap();
                let gain = (done.particle.velocity - particle.velocity) * particle.mass;
                let want = (done.mean_force + GRAVITY * particle.mass) * 5e-3;
                assert!(gain.abs_diff_eq(want, 2e-5), "{law:?}: {gain} {want}");
                particle = done.particle;
            }
            // it slid down the bowl and stays in it
            assert!(bowl.sample(particle.position).distance > -0.02);
        }
    }

    #[test]
    fn stiffness_sets_the_number_of_substeps_and_free_flight_needs_one() {
        let step = |stiffness, height, h| Penalty::Quadratic { stiffness }.step(&at(height, 0.0), &floor(), GRAVITY, h);
        assert_eq!(step(2000.0, 1.0, 0.01).unwrap().substeps, 1);
        // √(k/m) = 63.2/s: the limit is 31.6 ms, a tenth of it used
        assert_eq!(step(2000.0, 0.0, 0.01).unwrap().substeps, 4);
        assert_eq!(step(200_000.0, 0.0, 0.01).unwrap().substeps, 32);
        let error = step(1e13, 0.0, 0.1).unwrap_err();
        assert_eq!(error, ClassicError::TooManySubsteps { h: 0.1, done: 0.0, cap: SUBSTEP_CAP });
        // free flight is the exact parabola
        let fallen = step(2000.0, 1.0, 0.1).unwrap().particle;
        assert!((fallen.position.y - 0.95).abs() < 1e-6 && (fallen.velocity.y + 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_stiff_surface_is_stable_at_a_long_step() {
        // h is 50 times the stability limit 2/√(k/m)
        let law = Penalty::Quadratic { stiffness: 5e5 };
        let mut particle = at(0.1, 0.0);
        for _ in 0..500 {
            particle = law.step(&particle, &floor(), GRAVITY, 0.1).unwrap().particle;
            assert!(particle.position.y < 0.12 && particle.position.y > -0.01, "{particle:?}");
        }
    }

    #[test]
    fn the_barrier_is_never_crossed_in_2000_random_drops() {
        let mut dice = Dice(7);
        let (mut most, mut refused) = (0, 0);
        for drop in 0..2000 {
            let surface = match drop % 4 {
                0 => Sdf::plane(dice.vec(0.5), Vec3::new(dice.real(-0.5, 0.5), 1.0, dice.real(-0.5, 0.5))),
                1 => Sdf::sphere(Vec3::new(0.0, -2.0, 0.0), dice.real(0.5, 1.5)),
                2 => Sdf::bowl(Vec3::Y, dice.real(2.5, 4.0)),
                _ => Sdf::union([Sdf::cuboid(Vec3::new(1.0, 0.2, 1.0)), Sdf::plane(-Vec3::Y, Vec3::Y)]),
            };
            let law = Penalty::LogBarrier { strength: dice.real(0.3, 3.0), buffer: dice.real(0.005, 0.1) };
            let h = dice.real(0.001, 0.03);
            let velocity = dice.vec(3.0);
            let mut particle = Particle { position: Vec3::Y * 1.2, velocity, mass: dice.real(0.02, 0.05) };
            for _ in 0..120 {
                // the few that hit the weakest barriers too fast are rejected: also no crossing
                let Ok(done) = law.step(&particle, &surface, GRAVITY, h) else {
                    refused += 1;
                    break;
                };
                particle = done.particle;
                most = most.max(done.substeps);
                assert!(surface.sample(particle.position).distance > 0.0, "drop {drop}: {particle:?}");
            }
        }
        assert!(most > 100, "the barrier was hardly reached: {most}");
        assert!(refused <= 5, "{refused}");
    }

    #[test]
    fn a_barrier_too_weak_for_the_speed_is_an_error_not_a_crossing() {
        // m v²/2ρ = 2500: the particle would stop e^-2500 m before the surface
        let law = Penalty::LogBarrier { strength: 1e-3, buffer: 0.01 };
        let fast = at(0.5, -100.0);
        let met = law.step(&Particle { mass: 5e-4, ..fast }, &floor(), Vec3::ZERO, 0.02);
        assert!(
            matches!(met, Err(ClassicError::TooManySubsteps { done, .. }) if done > 0.004 && done < 0.02),
            "{met:?}"
        );
        let inside = law.step(&at(-0.01, 0.0), &floor(), GRAVITY, 0.01);
        assert!(matches!(inside, Err(ClassicError::Inside { .. })));
    }

    #[test]
    fn invalid_numbers_are_reported_by_name() {
        let law = Penalty::Quadratic { stiffness: -1.0 };
        let error = law.step(&at(1.0, 0.0), &floor(), GRAVITY, 0.01).unwrap_err();
        assert_eq!(error.to_string(), "stiffness must be finite and above 0");
        let law = Penalty::Quadratic { stiffness: 1.0 };
        let error = law.step(&at(Real::NAN, 0.0), &floor(), GRAVITY, 0.01).unwrap_err();
        assert_eq!(error.to_string(), "position must be finite");
    }
}
