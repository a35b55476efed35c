//! The impulse method: a collision changes position and velocity instantaneously.
//!
//! ```text
//! particle    x' = x − φ n                               put back to the surface, where φ < 0
//!             v_N' = −μ_N v_N                            where v·n < 0
//!             v_T' = a v_T,  a = max(1 − μ_T (1 + μ_N) |v_N| / |v_T|, 0)
//! rigid body  r = mean of the vertices with φ < 0 and v_i·n_i < 0,   K = (1/M) 1 − [r]× I⁻¹ [r]×
//! stick       j = K⁻¹ (v_new − v),  v_new = −e v_N        taken where |j_T| ≤ μ j_N
//! slip        j = j_N (n − μ t),    j_N = −(1 + e) v_N·n / (nᵀ K (n − μ t))
//! ```
//! φ signed distance [m], n normal, v_N and v_T the components of v along and perpendicular to n [m/s], t = v_T/|v_T|,
//! μ_N = e restitution, μ_T = μ friction, j impulse [N·s], K [1/kg] (see `classic`), r lever arm [m].
//! Source: RC, *Impulse Method*, *Rigid Body Collision Detection*, *Rigid Body Collision Response by Impulse*,
//! *Some Implementation Details*.
//!
//! Deviation, by our errata: RC derives a from |Δv_T| ≤ μ |Δv_N| for bodies too. That is Coulomb's law only where K is
//! a multiple of 1, as for a particle; a ball would get 2/7 of its friction (K_T = 3.5 K_N). We bound the impulse.
//!
//! Reversal of slip. K couples normal and tangent, so a slip impulse against t may end with the slip reversed, or its
//! denominator may vanish (Painlevé), or Newton's restitution may add energy (Kane). We therefore use the first of:
//! stick, slip against t, slip along the tangential stick impulse, no friction, that does not act along the remaining
//! slip and adds no energy. The last one never does, so: v_N' = −e v_N, |j_T| ≤ μ j_N and no energy is added, for every
//! body.

use super::joints::solve_symmetric;
use super::{Body, ClassicError, Particle, require};
use crate::collision::Sdf;
use crate::math::{Mat3, Real, Vec3};

/// Maximum number of projections of a particle to the surface: one is enough where the distance is exact, the inside of
/// a union needs more.
const PUT_BACKS: usize = 8;

/// Response of a contact.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), sinew::classic::ClassicError> {
/// use sinew::classic::*;
/// // a grain that falls at 2 m/s on the ground, and rebounds with half of it
/// let floor = Sdf::plane(Vec3::ZERO, Vec3::Y);
/// let grain = Particle { position: Vec3::NEG_Y * 1e-4, velocity: Vec3::NEG_Y * 2.0, mass: 0.1 };
/// let after = Bounce { restitution: 0.5, friction: 0.0 }.particle(&grain, &floor)?;
/// assert!((after.velocity.y - 1.0).abs() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounce {
    /// μ_N: fraction of the approach speed after the collision, 0 to 1. Reduce it for a resting body that jitters (RC).
    pub restitution: Real,
    /// μ_T: bound of friction over normal impulse, 0 or more.
    pub friction: Real,
}

/// Response of a rigid body to a contact.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), sinew::classic::ClassicError> {
/// use sinew::classic::*;
/// let floor = Sdf::plane(Vec3::ZERO, Vec3::Y);
/// let mut stick = Body::new(Pose::IDENTITY, 1.0, Sym3::diagonal(Vec3::ONE))?;
/// stick.velocity = Vec3::NEG_Y;
/// // its left end hits the ground: it is pushed up, and begins to rotate
/// let hit = Bounce { restitution: 0.0, friction: 0.0 }.body(&stick, &[Vec3::new(-1.0, -0.01, 0.0)], &floor)?;
/// let hit = hit.expect("it is inside");
/// assert!(hit.impulse.y > 0.0 && hit.body.spin.length() > 0.1);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyHit {
    /// The body with its new velocity and spin; it is not moved ("the problem is nonlinear", RC).
    pub body: Body,
    /// Impulse of the surface on the body [N·s].
    pub impulse: Vec3,
    /// Point of application: mean of the vertices in contact [m].
    pub point: Vec3,
    /// Mean normal there.
    pub normal: Vec3,
    /// Number of vertices in contact.
    pub vertex_count: usize,
}

impl Bounce {
    /// A particle against a surface (validated by its constructor): the same particle when it is outside.
    ///
    /// # Errors
    /// A restitution or friction outside its range, a particle that is not finite.
    pub fn particle(&self, particle: &Particle, surface: &Sdf) -> Result<Particle, ClassicError> {
        self.check()?;
        require(particle.position.is_finite(), "position", "finite")?;
        require(particle.velocity.is_finite(), "velocity", "finite")?;
        let mut particle = *particle;
        let hit = surface.sample(particle.position);

        // position: projected along the normal
        let mut now = hit;
        for _ in 0..PUT_BACKS {
            if now.distance >= 0.0 {
                break;
            }
            particle.position -= now.normal * now.distance;
            now = surface.sample(particle.position);
        }

        // velocity: only when it was inside and approaching
        let approach = particle.velocity.dot(hit.normal);
        if hit.distance < 0.0 && approach < 0.0 {
            let slip = particle.velocity - hit.normal * approach;
            let brake = self.friction * (1.0 + self.restitution) * -approach;
            let speed = slip.length();
            let keep = if speed > brake { 1.0 - brake / speed } else { 0.0 };
            particle.velocity = slip * keep - hit.normal * (self.restitution * approach);
        }
        Ok(particle)
    }

    /// A rigid body by its `local_vertices` [m] against a surface (validated by its constructor). None when no vertex
    /// is inside and approaching, when their mean is not approaching, or when the body is fixed.
    ///
    /// # Errors
    /// A restitution or friction outside its range, a body that is not finite.
    pub fn body(&self, body: &Body, local_vertices: &[Vec3], surface: &Sdf) -> Result<Option<BodyHit>, ClassicError> {
        self.check()?;
        require(body.is_finite(), "body", "finite")?;

        // mean lever arm and normal of the vertices that are inside and approaching
        let (mut arms, mut normals, mut vertex_count) = (Vec3::ZERO, Vec3::ZERO, 0);
        for &local in local_vertices {
            let arm = body.pose.rotation * local;
            let s = surface.sample(body.pose.position + arm);
            if s.distance < 0.0 && body.velocity_at(arm).dot(s.normal) < 0.0 {
                arms += arm;
                normals += s.normal;
                vertex_count += 1;
            }
        }
        if vertex_count == 0 {
            return Ok(None);
        }
        let arm = arms / vertex_count as Real;
        // normals of opposite walls cancel: the surface at the mean point is then used
        let normal = normals.try_normalize().unwrap_or_else(|| surface.sample(body.pose.position + arm).normal);

        // their mean need not approach where normals differ: then there is no impulse
        let k = body.response(arm, arm);
        let Some(impulse) = self.impulse(&k, normal, body.velocity_at(arm)) else {
            return Ok(None);
        };
        let mut pushed = *body;
        pushed.push(arm, impulse);
        Ok(Some(BodyHit { body: pushed, impulse, point: body.pose.position + arm, normal, vertex_count }))
    }

    /// Impulse [N·s] for the velocity `v` [m/s] of a point with response `k` [1/kg] on a surface with this unit normal.
    /// None when the point does not approach or has no response.
    ///
    /// The response may be the sum of two bodies' K, `v` then their relative velocity. The arguments are not validated
    /// here.
    pub fn impulse(&self, k: &Mat3, normal: Vec3, v: Vec3) -> Option<Vec3> {
        let approach = v.dot(normal);
        let k_normal = *k * normal;
        let direct = normal.dot(k_normal);
        // written so that NaN, too, gives no contact
        if !(approach < 0.0 && direct > 0.0) {
            return None;
        }
        let slip = v - normal * approach;
        let (e, mu) = (self.restitution, self.friction);

        // work of an impulse: the energy it adds [J]
        let work = |j: Vec3| j.dot(v) + 0.5 * j.dot(*k * j);
        let noise = 16.0 * Real::EPSILON * (approach * approach + slip.length_squared()) / direct;

        // stick: the slip ends
        let grip = solve(k, -normal * (e * approach) - v);
        let grip_slide = grip.map(|j| j - normal * j.dot(normal)).unwrap_or(Vec3::ZERO);
        if let Some(j) = grip
            && grip_slide.length() <= mu * j.dot(normal)
            && work(j) <= noise
        {
            return Some(j);
        }

        // slip: against the present slip, else along the tangential stick impulse (the slip reverses during the
        // collision)
        for tangent in [-slip.normalize_or_zero(), grip_slide.normalize_or_zero()] {
            let ray = normal + tangent * mu;
            let answer = k_normal.dot(ray);
            // no slip yet, or a jam (Painlevé): this option has no direction
            if tangent == Vec3::ZERO || answer <= Real::EPSILON * direct {
                continue;
            }
            let j = ray * (-(1.0 + e) * approach / answer);
            let slip_after = v + *k * j;
            let opposes = tangent.dot(slip_after) <= 4.0 * Real::EPSILON * v.length();
            if opposes && work(j) <= noise {
                return Some(j);
            }
        }
        Some(normal * (-(1.0 + e) * approach / direct))
    }

    fn check(&self) -> Result<(), ClassicError> {
        require((0.0..=1.0).contains(&self.restitution), "restitution", "from 0 to 1")?;
        require(self.friction.is_finite() && self.friction >= 0.0, "friction", "finite and not below 0")
    }
}

/// K⁻¹ v, or none for a body pinned at its centre: without translation K has rank two.
fn solve(k: &Mat3, v: Vec3) -> Option<Vec3> {
    let mut x = v.to_array();
    solve_symmetric(&mut k.to_cols_array(), &mut x, &mut [0.0; 3]).ok().map(|()| Vec3::from_array(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::Dice;
    use crate::math::{Pose, Quat, Sym3};

    const G: Real = 10.0;

    fn floor() -> Sdf {
        Sdf::plane(Vec3::ZERO, Vec3::Y)
    }

    fn ball(velocity: Vec3) -> Body {
        // mass 2 kg, radius 0.5 m, slightly inside the floor
        let inertia = Sym3::diagonal(Vec3::splat(0.4 * 2.0 * 0.25));
        Body { velocity, ..Body::new(Pose::at(Vec3::Y * 0.4999), 2.0, inertia).unwrap() }
    }

    /// A thin rod of 3 kg and 2 m along x that does not rotate about its axis, falling at 4 m/s, one end in the floor.
    fn rod() -> Body {
        Body {
            velocity: Vec3::Y * -4.0,
            inv_mass: 1.0 / 3.0,
            local_inv_inertia: Sym3::diagonal(Vec3::new(0.0, 1.0, 1.0)),
            ..Body::fixed(Pose::at(Vec3::Y * -0.001))
        }
    }

    #[test]
    fn a_particle_rebounds_to_e_squared_of_its_height() {
        let (h, e) = (1e-4, 0.7);
        let law = Bounce { restitution: e, friction: 0.0 };
        let mut particle = Particle { position: Vec3::Y, velocity: Vec3::ZERO, mass: 1.0 };
        let mut tops = vec![];
        let mut rising = false;
        while tops.len() < 3 {
            particle.velocity.y -= G * h;
            particle.position += particle.velocity * h;
            particle = law.particle(&particle, &floor()).unwrap();
            assert!(particle.position.y >= 0.0);
            let up = particle.velocity.y > 0.0;
            if rising && !up {
                tops.push(particle.position.y);
            }
            rising = up;
        }
        for (top, want) in tops.iter().zip([e * e, e.powi(4), e.powi(6)]) {
            assert!((top / want - 1.0).abs() < 0.01, "{tops:?}");
        }
    }

    #[test]
    fn a_sliding_particle_stops_after_v_squared_over_two_mu_g() {
        let (h, mu, v0) = (1e-3, 0.4, 3.0);
        let law = Bounce { restitution: 0.0, friction: mu };
        let mut particle = Particle { position: Vec3::ZERO, velocity: Vec3::X * v0, mass: 1.0 };
        for _ in 0..2000 {
            particle.velocity.y -= G * h;
            particle.position += particle.velocity * h;
            particle = law.particle(&particle, &floor()).unwrap();
        }
        let want = v0 * v0 / (2.0 * mu * G);
        assert!((particle.position.x / want - 1.0).abs() < 0.01, "{} {want}", particle.position.x);
        assert_eq!(particle.velocity, Vec3::ZERO);
    }

    #[test]
    fn a_particle_outside_or_separating_keeps_its_velocity_and_is_projected() {
        let law = Bounce { restitution: 0.5, friction: 0.5 };
        let outside = Particle { position: Vec3::Y * 0.1, velocity: -Vec3::Y, mass: 1.0 };
        assert_eq!(law.particle(&outside, &floor()), Ok(outside));
        let leaving = Particle { position: Vec3::Y * -0.1, velocity: Vec3::Y, mass: 1.0 };
        assert_eq!(law.particle(&leaving, &floor()), Ok(Particle { position: Vec3::ZERO, ..leaving }));
        // inside a union the nearest part's surface may lie in the other part: projected all the same
        let steps = Sdf::union([Sdf::cuboid(Vec3::new(1.0, 0.2, 1.0)), Sdf::plane(Vec3::Y * 0.1, Vec3::Y)]);
        let deep = Particle { position: Vec3::new(0.5, 0.05, 0.0), ..leaving };
        assert!(steps.sample(law.particle(&deep, &steps).unwrap().position).distance > -1e-6);
    }

    #[test]
    fn a_sticking_ball_keeps_five_sevenths_of_its_tangential_speed() {
        let law = Bounce { restitution: 0.5, friction: 2.0 };
        let hit = law.body(&ball(Vec3::new(3.0, -4.0, 1.0)), &[Vec3::Y * -0.5], &floor()).unwrap().unwrap();
        let want = Vec3::new(3.0 * 5.0 / 7.0, 2.0, 5.0 / 7.0);
        assert!(hit.body.velocity.abs_diff_eq(want, 1e-5), "{}", hit.body.velocity);
        // it rolls: the contact point has no slip
        let slip = hit.body.velocity_at(Vec3::Y * -0.5);
        assert!(slip.x.abs() < 1e-5 && slip.z.abs() < 1e-5);
    }

    #[test]
    fn a_slipping_ball_gets_the_full_coulomb_friction() {
        // stick needs 2/7 m |v_t| = 2/7 · 2 · 7 = 4 N·s, the friction bound is 0.2 · 2 · 1.5 · 4 = 2.4 N·s
        let law = Bounce { restitution: 0.5, friction: 0.2 };
        let hit = law.body(&ball(Vec3::new(7.0, -4.0, 0.0)), &[Vec3::Y * -0.5], &floor()).unwrap().unwrap();
        assert!(hit.impulse.abs_diff_eq(Vec3::new(-2.4, 12.0, 0.0), 1e-4), "{}", hit.impulse);
        assert!((hit.body.velocity.x - 5.8).abs() < 1e-5);
        // for comparison, RC's own rule gives the impulse K⁻¹ Δv: 2/7 of it
        let grip_only = 0.2 * 1.5 * 4.0 / (3.5 / 2.0);
        assert!((grip_only / 2.4 - 2.0 / 7.0 as Real).abs() < 1e-5);
    }

    #[test]
    fn a_rod_hit_at_its_end_has_a_quarter_of_its_mass_as_effective_mass() {
        let law = Bounce { restitution: 0.0, friction: 0.0 };
        let hit = law.body(&rod(), &[Vec3::X], &floor()).unwrap().unwrap();
        // j = M v / 4, v' = ¾ v, ω = 3v / (2L)
        assert!(hit.impulse.abs_diff_eq(Vec3::Y * 3.0, 1e-5));
        assert!(hit.body.velocity.abs_diff_eq(Vec3::Y * -3.0, 1e-5));
        assert!(hit.body.spin.abs_diff_eq(Vec3::Z * 3.0, 1e-5));
        assert!(hit.body.velocity_at(Vec3::X).length() < 1e-5);
    }

    #[test]
    fn friction_opposes_the_slip_that_starts_when_a_slanted_rod_falls_straight() {
        // no slip before the collision, but the rotation moves the end along the floor: friction opposes that
        let law = Bounce { restitution: 0.0, friction: 0.1 };
        let slant = Quat::from_rotation_z(core::f64::consts::FRAC_PI_4 as Real);
        let body = Body { pose: Pose::new(Vec3::Y * 0.7, slant), ..rod() };
        let hit = law.body(&body, &[-Vec3::X], &floor()).unwrap().unwrap();
        let slip = hit.body.velocity_at(slant * -Vec3::X);
        assert!(slip.y.abs() < 1e-5 && slip.x < -0.1, "{slip}");
        assert!((hit.impulse.x - 0.1 * hit.impulse.y).abs() < 1e-5, "{}", hit.impulse);
    }

    #[test]
    fn contacts_at_both_ends_of_a_rod_act_at_their_mean() {
        let law = Bounce { restitution: 1.0, friction: 0.0 };
        let hit = law.body(&rod(), &[Vec3::X, -Vec3::X, Vec3::Y], &floor()).unwrap().unwrap();
        assert_eq!(hit.vertex_count, 2);
        assert!(hit.body.velocity.abs_diff_eq(Vec3::Y * 4.0, 1e-5) && hit.body.spin.length() < 1e-5);
        // a vertex that separates is not included: the spin lifts the left end faster than the rod falls
        let turning = Body { spin: Vec3::Z * -5.0, ..rod() };
        let hit = law.body(&turning, &[Vec3::X, -Vec3::X], &floor()).unwrap().unwrap();
        assert_eq!((hit.vertex_count, hit.point.x), (1, 1.0));
    }

    #[test]
    fn no_impulse_without_approach_or_penetration() {
        let law = Bounce { restitution: 0.5, friction: 0.5 };
        let rising = Body { velocity: Vec3::Y, ..rod() };
        assert_eq!(law.body(&rising, &[Vec3::X], &floor()), Ok(None));
        assert_eq!(law.body(&rod(), &[Vec3::Y], &floor()), Ok(None));
        assert_eq!(law.body(&rod(), &[], &floor()), Ok(None));
        let wall = Body { velocity: -Vec3::Y, ..Body::fixed(Pose::IDENTITY) };
        assert_eq!(law.body(&wall, &[-Vec3::Y], &floor()), Ok(None));
        let bouncy = Bounce { restitution: 1.5, friction: 0.0 };
        assert!(matches!(bouncy.body(&rod(), &[], &floor()), Err(ClassicError::BadNumber { what: "restitution", .. })));
    }

    #[test]
    fn a_body_pinned_at_its_centre_only_rotates() {
        // a wheel on its axle: K has no inverse, the impulse is finite all the same
        let law = Bounce { restitution: 0.3, friction: 0.8 };
        let wheel = Body { inv_mass: 0.0, velocity: Vec3::ZERO, spin: Vec3::new(0.0, 0.5, -2.0), ..rod() };
        let hit = law.body(&wheel, &[Vec3::X], &floor()).unwrap().unwrap();
        assert!(hit.body.velocity == Vec3::ZERO && hit.body.spin.is_finite());
        assert!((hit.body.velocity_at(Vec3::X).y - 0.6).abs() < 1e-5);
    }

    #[test]
    fn every_collision_has_restitution_e_stays_in_the_cone_and_adds_no_energy() {
        let mut dice = Dice(3);
        let (mut cloth_contacts, mut slides, mut smooth) = (0, 0, 0);
        let energy = |b: &Body| {
            let inertia = b.inv_inertia().inverse().unwrap();
            0.5 * b.velocity.length_squared() / b.inv_mass + 0.5 * b.spin.dot(inertia.mul(b.spin))
        };
        for _ in 0..20_000 {
            let (body, arm) = (dice.body(), dice.vec(1.0));
            let law = Bounce { restitution: dice.real(0.0, 1.0), friction: dice.real(0.0, 3.0) };
            let normal = (dice.vec(1.0) + Vec3::X * 0.001).normalize();
            let v = body.velocity_at(arm);
            let Some(j) = law.impulse(&body.response(arm, arm), normal, v) else {
                assert!(v.dot(normal) >= 0.0);
                continue;
            };
            let mut pushed = body;
            pushed.push(arm, j);
            let (j_n, j_t) = (j.dot(normal), (j - normal * j.dot(normal)).length());
            let tolerance = 2000.0 * Real::EPSILON;
            let returned = pushed.velocity_at(arm).dot(normal) + law.restitution * v.dot(normal);
            assert!(returned.abs() < tolerance * (1.0 + v.length()), "{returned}");
            assert!(j_t <= law.friction * j_n + tolerance * j.length());
            assert!(energy(&pushed) <= energy(&body) * (1.0 + tolerance), "{} {}", energy(&pushed), energy(&body));
            if j_t <= tolerance * j_n {
                smooth += 1;
            } else if j_t < 0.999 * law.friction * j_n {
                cloth_contacts += 1;
            } else {
                slides += 1;
            }
        }
        // even with these long lever arms (three times the body), μ to 3 and e to 1 few cases need the option without
        // friction
        assert!(
            cloth_contacts > 3000 && slides > 3000 && 20 * smooth < cloth_contacts + slides,
            "{cloth_contacts} {slides} {smooth}"
        );
    }

    #[test]
    fn the_collision_of_a_rotated_body_is_the_rotated_collision() {
        let law = Bounce { restitution: 0.2, friction: 0.3 };
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 2.0) / 3.0, 0.8);
        let plain = Body { velocity: Vec3::new(2.0, -3.0, 0.5), ..rod() };
        let turned =
            Body { pose: Pose::new(turn * plain.pose.position, turn), velocity: turn * plain.velocity, ..plain };
        let a = law.body(&plain, &[Vec3::X], &floor()).unwrap().unwrap();
        let b = law.body(&turned, &[Vec3::X], &Sdf::plane(Vec3::ZERO, turn * Vec3::Y)).unwrap().unwrap();
        assert!((turn * a.impulse).abs_diff_eq(b.impulse, 1e-4));
        assert!((turn * a.body.spin).abs_diff_eq(b.body.spin, 1e-4));
    }
}
