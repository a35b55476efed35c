//! The contact methods of the lecture *Rigid Contacts* (RC), small and pure: for teaching and comparison.
//!
//! The engine's own contacts are rows of one system (`solver`). Here each method is independent, as in the lecture,
//! with the corrections of our errata; a world uses them according to `Settings::contact_method`
//! (`classic/in_world.rs`):
//!
//! - [`Penalty`]: forces from a signed distance; quadratic, with a buffer, log barrier;
//! - [`Bounce`]: position and velocity changed instantaneously, for a particle and for a rigid body by its vertices;
//! - [`solve_joints`]: the impulses of several joints at once, by one system of K matrices.
//!
//! ```text
//! v_i = v + ω × r_i            r_i lever arm: from the centre of mass to point i, world axes (RC: R r_i) [m]
//! Δv_i = K_ij j_j              velocity change at point i by an impulse j_j [N·s] at point j
//! K_ij = (1/M) 1 − [r_i]× I⁻¹ [r_j]×
//! ```
//! M mass [kg], I inertia tensor in world axes [kg·m²], v velocity [m/s], ω spin [rad/s]; K in [1/kg].
//! Source: RC, *Rigid Body Collision Response by Impulse*.

mod impulse;
pub(crate) mod in_world;
mod joints;
pub(crate) mod meet;
mod penalty;

pub use impulse::{BodyHit, Bounce};
pub use joints::{Anchor, Joint, apply_joints, solve_joints};
pub use penalty::{Penalty, SUBSTEP_CAP, Stepped};

use crate::math::{Mat3, Pose, Real, Sym3, Vec3, cross_matrix};

/// A point with mass.
///
/// An example is at [`classic::Bounce`](crate::classic::Bounce).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// Position [m].
    pub position: Vec3,
    /// Velocity [m/s].
    pub velocity: Vec3,
    /// Mass [kg].
    pub mass: Real,
}

/// A rigid body. Inverses are stored: zero means that it is fixed.
///
/// An example is at [`classic::BodyHit`](crate::classic::BodyHit).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Centre of mass [m] and orientation.
    pub pose: Pose,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity, world axes [rad/s].
    pub spin: Vec3,
    /// One over the mass [1/kg].
    pub inv_mass: Real,
    /// Inverse inertia about the centre of mass, body axes [1/(kg·m²)].
    pub local_inv_inertia: Sym3,
}

/// Reason for the rejection by a classic method. The arguments are unchanged.
///
/// An example is at [`classic::Penalty`](crate::classic::Penalty).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassicError {
    /// A number out of its range.
    #[error("{what} must be {must}")]
    BadNumber {
        /// The field, by its public name.
        what: &'static str,
        /// The allowed values.
        must: &'static str,
    },
    /// An inertia tensor that is not positive definite.
    #[error("the inertia tensor has no inverse, all principal moments must be above 0")]
    BadInertia,
    /// A step too long for its stiffness or speed.
    #[error("{h} s need more than {cap} sub-steps ({done} s done): lower stiffness, speed or step, or raise the mass")]
    TooManySubsteps {
        /// The requested step [s].
        h: Real,
        /// Time covered when the cap was reached [s]; 0 when the count was known in advance.
        done: Real,
        /// Maximum number of sub-steps.
        cap: u32,
    },
    /// A log barrier is undefined inside.
    #[error("the particle starts {depth} m inside the surface, a log barrier needs it outside")]
    Inside {
        /// Depth [m].
        depth: Real,
    },
    /// A joint refers to a body that does not exist.
    #[error("joint {joint} names body {body}, but there are {count}")]
    NoSuchBody {
        /// Index of the joint.
        joint: usize,
        /// The index of the body.
        body: usize,
        /// Number of bodies.
        count: usize,
    },
    /// The joint has no response, or is redundant with another joint.
    #[error("joint {joint}, axis {axis}: nothing left to move it (fixed bodies, or the other joints fix it already)")]
    SingularJoints {
        /// Index of the joint.
        joint: usize,
        /// 0, 1, 2: world x, y, z.
        axis: usize,
    },
}

impl Body {
    /// A body at rest, from its mass [kg] and its inertia about the centre of mass in body axes [kg·m²].
    ///
    /// # Errors
    /// A pose that is not finite, a mass that is not above zero, an inertia without inverse.
    pub fn new(pose: Pose, mass: Real, inertia: Sym3) -> Result<Self, ClassicError> {
        require(pose.is_finite(), "pose", "finite")?;
        positive("mass", mass)?;
        let local_inv_inertia = inertia.inverse().ok_or(ClassicError::BadInertia)?;
        Ok(Self { pose, velocity: Vec3::ZERO, spin: Vec3::ZERO, inv_mass: 1.0 / mass, local_inv_inertia })
    }

    /// A fixed body.
    pub fn fixed(pose: Pose) -> Self {
        Self { pose, velocity: Vec3::ZERO, spin: Vec3::ZERO, inv_mass: 0.0, local_inv_inertia: Sym3::ZERO }
    }

    /// Velocity of the point at `arm` from the centre of mass, world axes [m] -> [m/s].
    pub fn velocity_at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(arm)
    }

    /// Inverse inertia in world axes [1/(kg·m²)].
    pub fn inv_inertia(&self) -> Sym3 {
        self.local_inv_inertia.rotated(self.pose.rotation)
    }

    /// K_ij: velocity change at `arm_i` by a unit impulse at `arm_j`, world axes [m] -> [1/kg].
    ///
    /// K_ji is the transpose of K_ij. K_ii is symmetric and, with a mass, positive definite.
    pub fn response(&self, arm_i: Vec3, arm_j: Vec3) -> Mat3 {
        let turned = cross_matrix(arm_i) * self.inv_inertia().to_mat() * cross_matrix(arm_j);
        Mat3::from_diagonal(Vec3::splat(self.inv_mass)) - turned
    }

    /// Changes velocity and spin by an impulse [N·s] at `arm` [m], world axes.
    pub fn push(&mut self, arm: Vec3, impulse: Vec3) {
        self.velocity += impulse * self.inv_mass;
        self.spin += self.inv_inertia().mul(arm.cross(impulse));
    }

    fn is_finite(&self) -> bool {
        self.pose.is_finite()
            && self.velocity.is_finite()
            && self.spin.is_finite()
            && self.inv_mass.is_finite()
            && self.local_inv_inertia.to_array().iter().all(|m| m.is_finite())
    }
}

fn require(good: bool, what: &'static str, must: &'static str) -> Result<(), ClassicError> {
    if good { Ok(()) } else { Err(ClassicError::BadNumber { what, must }) }
}

fn positive(what: &'static str, value: Real) -> Result<(), ClassicError> {
    require(value.is_finite() && value > 0.0, what, "finite and above 0")
}

/// Random numbers for the tests: the same on every machine.
#[cfg(test)]
struct Dice(u64);

#[cfg(test)]
impl Dice {
    /// Uniform in low .. high.
    fn real(&mut self, low: Real, high: Real) -> Real {
        // splitmix64 (Steele et al. 2014)
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((z ^ (z >> 31)) >> 40) as Real / (1u64 << 24) as Real;
        low + (high - low) * unit
    }

    /// Uniform in a cube of half edge `half`.
    fn vec(&mut self, half: Real) -> Vec3 {
        Vec3::new(self.real(-half, half), self.real(-half, half), self.real(-half, half))
    }

    /// A body of some kilograms and about a metre in size, with velocity and spin.
    fn body(&mut self) -> Body {
        let rotation =
            crate::math::Quat::from_axis_angle((self.vec(1.0) + Vec3::X * 1.1).normalize(), self.real(0.0, 6.0));
        let mass = self.real(0.5, 5.0);
        // the inertia of a solid box: physically possible principal moments
        let d = Vec3::new(self.real(0.3, 1.0), self.real(0.3, 1.0), self.real(0.3, 1.0));
        let d2 = d * d;
        let inertia = Sym3::diagonal(Vec3::new(d2.y + d2.z, d2.x + d2.z, d2.x + d2.y) * (mass / 12.0));
        let mut body = Body::new(Pose::new(self.vec(1.0), rotation), mass, inertia).unwrap();
        (body.velocity, body.spin) = (self.vec(3.0), self.vec(5.0));
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_symmetric_and_positive_definite() {
        let mut dice = Dice(1);
        for _ in 0..500 {
            let (body, r, s) = (dice.body(), dice.vec(2.0), dice.vec(2.0));
            let k = body.response(r, r);
            let top = k.x_axis.x.max(k.y_axis.y).max(k.z_axis.z);
            assert!(k.abs_diff_eq(k.transpose(), 8.0 * Real::EPSILON * top), "{k}");
            // the response in every direction is at least that of the mass alone
            let d = (dice.vec(1.0) + Vec3::splat(1.001)).normalize();
            assert!(d.dot(k * d) >= body.inv_mass - 8.0 * Real::EPSILON * top);
            let (rs, sr) = (body.response(r, s), body.response(s, r));
            assert!(rs.abs_diff_eq(sr.transpose(), 8.0 * Real::EPSILON * top));
        }
    }

    #[test]
    fn k_gives_the_velocity_change_of_an_impulse() {
        let mut dice = Dice(2);
        for _ in 0..200 {
            let (body, r, s, j) = (dice.body(), dice.vec(1.0), dice.vec(1.0), dice.vec(1.0));
            let mut pushed = body;
            pushed.push(s, j);
            let change = pushed.velocity_at(r) - body.velocity_at(r);
            assert!(change.abs_diff_eq(body.response(r, s) * j, 400.0 * Real::EPSILON * (1.0 + change.length())));
        }
    }

    #[test]
    fn a_body_without_mass_or_inertia_is_rejected() {
        let ball = Sym3::diagonal(Vec3::ONE);
        assert!(matches!(Body::new(Pose::IDENTITY, 0.0, ball), Err(ClassicError::BadNumber { what: "mass", .. })));
        assert_eq!(Body::new(Pose::IDENTITY, 1.0, Sym3::ZERO), Err(ClassicError::BadInertia));
        assert_eq!(Body::fixed(Pose::IDENTITY).response(Vec3::X, Vec3::Y), Mat3::ZERO);
    }
}
