//! Several joints at once: the impulses that give all joints their target relative velocities simultaneously.
//!
//! ```text
//! Joint i connects a point of side a and a point of side b. Its relative velocity is u_i = v_a − v_b; its
//! impulse j_i acts on a, −j_i on b. With s_X(i) = +1 where X is side a of joint i, −1 where it is side b:
//!
//!     Σ_k A_ik j_k = target_i − u_i,      A_ik = Σ_X s_X(i) s_X(k) K_X,ik     over the bodies X that both joints share
//!     K_X,ik = (1/M) 1 − [r_i]× I⁻¹ [r_k]×
//! ```
//! A in [1/kg], j in [N·s], u and target in [m/s]; r_i lever arm of joint i on body X [m], M mass [kg], I inertia
//! [kg·m²]. Source: RC, *Rigid Body Collision Response by Impulse* (relative velocity at joints), with the matrix of
//! our errata: for a joined to b (0) and to c (1), b and c joined to the world (2, 3) the rows are [K_a00 + K_b00,
//! K_a01, −K_b02, 0], [K_a10, K_a11 + K_c11, 0, −K_c13], [−K_b20, 0, K_b22, 0], [0, −K_c31, 0, K_c33].
//!
//! A is symmetric and positive semidefinite; it is singular when a joint has no response or is redundant (two joints
//! between the same two bodies both fix the distance of their anchors). Solved dense by L D Lᵀ, 9 n³ operations for n
//! joints: for a few joints, not for large systems.
//!
//! Where the two anchors of a joint coincide the solve conserves linear and angular momentum. For anchors that have
//! drifted apart the two impulses act at two points: put the drift into `target` (−drift/h) to bring them together.

use super::{Body, ClassicError, require};
use crate::math::{Mat3, Real, Vec3};

/// Anchor of a joint on one side.
///
/// An example is at [`classic::Joint`](crate::classic::Joint).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// A point of the world: it is fixed.
    World,
    /// A point of a body.
    Body {
        /// Index in the list of bodies.
        index: usize,
        /// The point in body axes, from the centre of mass [m].
        local: Vec3,
    },
}

/// A ball joint between two anchors.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), sinew::classic::ClassicError> {
/// use sinew::classic::*;
/// let mut bodies = [Body::new(Pose::IDENTITY, 1.0, Sym3::diagonal(Vec3::ONE))?];
/// bodies[0].velocity = Vec3::X;
/// // fixed to the world at its centre: the joint removes all of its momentum
/// let joints = [Joint::hold(Anchor::Body { index: 0, local: Vec3::ZERO }, Anchor::World)];
/// let impulses = solve_joints(&bodies, &joints)?;
/// apply_joints(&mut bodies, &joints, &impulses);
/// assert!(bodies[0].velocity.length() < 1e-6);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// Side that gets +j.
    pub a: Anchor,
    /// Side that gets −j.
    pub b: Anchor,
    /// Target relative velocity, that of a minus that of b [m/s]; zero for a joint without drive.
    pub target: Vec3,
}

impl Joint {
    /// A joint with target zero.
    pub fn hold(a: Anchor, b: Anchor) -> Self {
        Self { a, b, target: Vec3::ZERO }
    }

    /// Velocity of side a minus that of side b [m/s]. Panics when a body is not in the list.
    pub fn relative_velocity(&self, bodies: &[Body]) -> Vec3 {
        self.sides(bodies).into_iter().flatten().map(|s| bodies[s.index].velocity_at(s.arm) * s.sign).sum()
    }

    /// The sides that are bodies.
    fn sides(&self, bodies: &[Body]) -> [Option<Side>; 2] {
        let side = |anchor, sign| match anchor {
            Anchor::World => None,
            Anchor::Body { index, local } => Some(Side { index, arm: bodies[index].pose.rotation * local, sign }),
        };
        [side(self.a, 1.0), side(self.b, -1.0)]
    }

    fn check(&self, joint: usize, count: usize) -> Result<(), ClassicError> {
        require(self.target.is_finite(), "target of a joint", "finite")?;
        for anchor in [self.a, self.b] {
            if let Anchor::Body { index: body, local } = anchor {
                require(local.is_finite(), "anchor of a joint", "finite")?;
                if body >= count {
                    return Err(ClassicError::NoSuchBody { joint, body, count });
                }
            }
        }
        Ok(())
    }
}

/// Contribution of one body to a joint: its lever arm in world axes [m] and s_X.
#[derive(Clone, Copy)]
struct Side {
    index: usize,
    arm: Vec3,
    sign: Real,
}

/// The impulses [N·s], one per joint, that give every joint its `target`. Apply them with [`apply_joints`].
///
/// # Errors
/// A number that is not finite, a body that is not in the list, joints without response or redundant joints.
pub fn solve_joints(bodies: &[Body], joints: &[Joint]) -> Result<Vec<Vec3>, ClassicError> {
    require(bodies.iter().all(Body::is_finite), "bodies", "finite")?;
    joints.iter().enumerate().try_for_each(|(i, joint)| joint.check(i, bodies.len()))?;

    let mut matrix = assemble(bodies, joints);
    let mut impulses: Vec<Real> =
        joints.iter().flat_map(|joint| (joint.target - joint.relative_velocity(bodies)).to_array()).collect();
    let mut scale = vec![0.0; impulses.len()];
    solve_symmetric(&mut matrix, &mut impulses, &mut scale)
        .map_err(|row| ClassicError::SingularJoints { joint: row / 3, axis: row % 3 })?;
    Ok(impulses.chunks_exact(3).map(Vec3::from_slice).collect())
}

/// Applies each joint's impulse to its bodies: +j to side a, −j to side b. Panics when a body is not in the list.
pub fn apply_joints(bodies: &mut [Body], joints: &[Joint], impulses: &[Vec3]) {
    for (joint, &impulse) in joints.iter().zip(impulses) {
        for side in joint.sides(bodies).into_iter().flatten() {
            bodies[side.index].push(side.arm, impulse * side.sign);
        }
    }
}

/// The matrix A, rows one after the other.
fn assemble(bodies: &[Body], joints: &[Joint]) -> Vec<Real> {
    let width = 3 * joints.len();
    let mut matrix = vec![0.0; width * width];
    for (i, row) in joints.iter().enumerate() {
        for (k, column) in joints.iter().enumerate() {
            // every pair of sides on the same body
            let mut block = Mat3::ZERO;
            for s in row.sides(bodies).into_iter().flatten() {
                for t in column.sides(bodies).into_iter().flatten().filter(|t| t.index == s.index) {
                    block += bodies[s.index].response(s.arm, t.arm) * (s.sign * t.sign);
                }
            }
            for axis in 0..3 {
                let start = (3 * i + axis) * width + 3 * k;
                matrix[start..start + 3].copy_from_slice(&block.row(axis).to_array());
            }
        }
    }
    matrix
}

/// Solves A x = b in place for a symmetric positive semidefinite A; `Err(row)` is the first row that depends on those
/// before it. Only the lower half of A is read. `scale` is scratch of the length of b.
///
/// Rows are scaled to a unit diagonal, so that a heavy body next to a light one is not mistaken for a singular system.
/// L D Lᵀ needs no pivoting here: no entry of a positive semidefinite matrix grows during elimination.
pub(super) fn solve_symmetric(a: &mut [Real], b: &mut [Real], scale: &mut [Real]) -> Result<(), usize> {
    let n = b.len();
    debug_assert!(a.len() == n * n && scale.len() == n);
    let tiny = 16.0 * n as Real * Real::EPSILON;

    // scale to a unit diagonal; the scale replaces the diagonal, which is now known to be one
    for i in 0..n {
        let d = a[i * n + i];
        if !(d.is_finite() && d > 0.0) {
            return Err(i);
        }
        a[i * n + i] = 1.0 / d.sqrt();
    }
    for i in 0..n {
        for k in 0..i {
            a[i * n + k] *= a[i * n + i] * a[k * n + k];
        }
    }
    for i in 0..n {
        scale[i] = a[i * n + i];
    }

    // factor: L below the diagonal, D on it
    for i in 0..n {
        let mut pivot = 1.0;
        for k in 0..i {
            // a[i,k] − Σ L_im D_m L_km, and its part of the pivot
            let mut sum = a[i * n + k];
            for m in 0..k {
                sum -= a[i * n + m] * a[m * n + m] * a[k * n + m];
            }
            a[i * n + k] = sum / a[k * n + k];
            pivot -= a[i * n + k] * sum;
        }
        // NaN is an error too: overflow of the entries is equivalent to a dependent row
        if pivot.is_nan() || pivot <= tiny {
            return Err(i);
        }
        a[i * n + i] = pivot;
    }

    // forward, diagonal, back
    for i in 0..n {
        b[i] *= scale[i];
        for k in 0..i {
            b[i] -= a[i * n + k] * b[k];
        }
    }
    for i in (0..n).rev() {
        b[i] /= a[i * n + i];
        for k in i + 1..n {
            b[i] -= a[k * n + i] * b[k];
        }
    }
    b.iter_mut().zip(scale.iter()).for_each(|(x, s)| *x *= s);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::Dice;
    use crate::math::{Pose, Sym3};

    fn on(bodies: &[Body], index: usize, world: Vec3) -> Anchor {
        Anchor::Body { index, local: bodies[index].pose.unpoint(world) }
    }

    fn momentum(bodies: &[Body]) -> (Vec3, Vec3) {
        bodies.iter().fold((Vec3::ZERO, Vec3::ZERO), |(linear, angular), b| {
            let p = b.velocity / b.inv_mass;
            let spin = b.inv_inertia().inverse().unwrap().mul(b.spin);
            (linear + p, angular + b.pose.position.cross(p) + spin)
        })
    }

    fn energy(bodies: &[Body]) -> Real {
        bodies
            .iter()
            .map(|b| {
                let spin = b.inv_inertia().inverse().unwrap().mul(b.spin);
                0.5 * (b.velocity.length_squared() / b.inv_mass + b.spin.dot(spin))
            })
            .sum()
    }

    /// Largest deviation from the targets [m/s].
    fn miss(bodies: &[Body], joints: &[Joint]) -> Real {
        joints.iter().map(|j| (j.relative_velocity(bodies) - j.target).length()).fold(0.0, Real::max)
    }

    /// The lecture's scene: a joined to b and c, which are joined to the world.
    fn lecture(dice: &mut Dice) -> (Vec<Body>, Vec<Joint>) {
        let bodies = vec![dice.body(), dice.body(), dice.body()];
        let points: Vec<Vec3> = (0..4).map(|_| dice.vec(1.5)).collect();
        let joints = vec![
            Joint::hold(on(&bodies, 0, points[0]), on(&bodies, 1, points[0])),
            Joint::hold(on(&bodies, 0, points[1]), on(&bodies, 2, points[1])),
            Joint::hold(on(&bodies, 1, points[2]), Anchor::World),
            Joint::hold(on(&bodies, 2, points[3]), Anchor::World),
        ];
        (bodies, joints)
    }

    #[test]
    fn the_matrix_has_the_rows_of_the_errata() {
        let mut dice = Dice(11);
        let (bodies, joints) = lecture(&mut dice);
        let [a, b, c] = [&bodies[0], &bodies[1], &bodies[2]];
        let arm = |joint: usize, body: usize| {
            joints[joint].sides(&bodies).into_iter().flatten().find(|s| s.index == body).unwrap().arm
        };
        let k = |body: &Body, x: usize, i: usize, j: usize| body.response(arm(i, x), arm(j, x));
        let none = Mat3::ZERO;
        let want = [
            [k(a, 0, 0, 0) + k(b, 1, 0, 0), k(a, 0, 0, 1), -k(b, 1, 0, 2), none],
            [k(a, 0, 1, 0), k(a, 0, 1, 1) + k(c, 2, 1, 1), none, -k(c, 2, 1, 3)],
            [-k(b, 1, 2, 0), none, k(b, 1, 2, 2), none],
            [none, -k(c, 2, 3, 1), none, k(c, 2, 3, 3)],
        ];
        let matrix = assemble(&bodies, &joints);
        for i in 0..12 {
            for j in 0..12 {
                let entry = want[i / 3][j / 3].row(i % 3)[j % 3];
                assert!((matrix[12 * i + j] - entry).abs() <= 1e-5 * entry.abs(), "{i} {j}");
                // symmetric up to rounding
                assert!((matrix[12 * i + j] - matrix[12 * j + i]).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn all_joints_of_the_lecture_have_zero_relative_velocity() {
        let mut dice = Dice(12);
        for _ in 0..300 {
            let (mut bodies, joints) = lecture(&mut dice);
            let before = (miss(&bodies, &joints), energy(&bodies));
            let impulses = solve_joints(&bodies, &joints).unwrap();
            apply_joints(&mut bodies, &joints, &impulses);
            // rounding, times the worst condition number among these scenes
            assert!(miss(&bodies, &joints) < 4000.0 * Real::EPSILON * before.0, "{}", miss(&bodies, &joints));
            assert!(energy(&bodies) <= before.1);
        }
    }

    #[test]
    fn a_free_chain_conserves_linear_and_angular_momentum() {
        let mut dice = Dice(13);
        for _ in 0..100 {
            let mut bodies: Vec<Body> = (0..6).map(|_| dice.body()).collect();
            let joints: Vec<Joint> = (0..5)
                .map(|i| {
                    let point = dice.vec(1.5);
                    let target = dice.vec(1.0);
                    Joint { target, ..Joint::hold(on(&bodies, i, point), on(&bodies, i + 1, point)) }
                })
                .collect();
            let (p, l) = momentum(&bodies);
            let impulses = solve_joints(&bodies, &joints).unwrap();
            apply_joints(&mut bodies, &joints, &impulses);
            let (p_after, l_after) = momentum(&bodies);
            let room = 400.0 * Real::EPSILON * (1.0 + impulses.iter().map(|j| j.length()).sum::<Real>());
            assert!(p.abs_diff_eq(p_after, room) && l.abs_diff_eq(l_after, 4.0 * room), "{p} {p_after} {l} {l_after}");
            // and the target relative velocities are reached
            assert!(miss(&bodies, &joints) < 4e4 * Real::EPSILON, "{}", miss(&bodies, &joints));
        }
    }

    #[test]
    fn two_pucks_joined_at_their_centres_share_their_momentum() {
        let puck = |mass: Real, speed: Real| Body {
            velocity: Vec3::X * speed,
            ..Body::new(Pose::IDENTITY, mass, Sym3::diagonal(Vec3::ONE)).unwrap()
        };
        let mut bodies = [puck(1.0, 3.0), puck(2.0, 0.0)];
        let joint = Joint::hold(on(&bodies, 0, Vec3::ZERO), on(&bodies, 1, Vec3::ZERO));
        let impulses = solve_joints(&bodies, &[joint]).unwrap();
        assert!(impulses[0].abs_diff_eq(Vec3::X * -2.0, 1e-5));
        apply_joints(&mut bodies, &[joint], &impulses);
        assert!(bodies.iter().all(|b| b.velocity.abs_diff_eq(Vec3::X, 1e-5)));
    }

    #[test]
    fn a_large_mass_ratio_is_not_a_singular_system() {
        let sized = |x: Real, mass: Real| {
            Body::new(Pose::at(Vec3::X * x), mass, Sym3::diagonal(Vec3::splat(0.1 * mass))).unwrap()
        };
        let mut bodies = [sized(0.0, 1e4), sized(1.0, 1e-2), sized(2.0, 1.0)];
        bodies[2].velocity = Vec3::new(0.3, -1.0, 2.0);
        let joints = [
            Joint::hold(on(&bodies, 0, Vec3::X * -0.5), Anchor::World),
            Joint::hold(on(&bodies, 0, Vec3::X * 0.5), on(&bodies, 1, Vec3::X * 0.5)),
            Joint::hold(on(&bodies, 1, Vec3::X * 1.5), on(&bodies, 2, Vec3::X * 1.5)),
        ];
        let impulses = solve_joints(&bodies, &joints).unwrap();
        apply_joints(&mut bodies, &joints, &impulses);
        assert!(miss(&bodies, &joints) < 1e-3, "{}", miss(&bodies, &joints));
    }

    #[test]
    fn redundant_joints_and_joints_without_response_are_reported() {
        let mut dice = Dice(14);
        let bodies = vec![dice.body(), dice.body(), Body::fixed(Pose::IDENTITY)];
        let at = |i: usize, x: Vec3| on(&bodies, i, x);
        let one = Joint::hold(at(0, Vec3::X), at(1, Vec3::X));
        let two = Joint::hold(at(0, Vec3::Y), at(1, Vec3::Y));
        // the same joint twice, two joints that both fix their distance, fixed against the world, one body with itself
        let fault = |joints: &[Joint]| match solve_joints(&bodies, joints) {
            Err(ClassicError::SingularJoints { joint, .. }) => Some(joint),
            _ => None,
        };
        assert_eq!(fault(&[one]), None);
        assert_eq!(fault(&[one, one]), Some(1));
        assert_eq!(fault(&[one, two]), Some(1));
        assert_eq!(fault(&[one, Joint::hold(at(2, Vec3::X), Anchor::World)]), Some(1));
        assert_eq!(fault(&[Joint::hold(at(0, Vec3::X), at(0, Vec3::X))]), Some(0));
        assert_eq!(fault(&[Joint::hold(Anchor::World, Anchor::World)]), Some(0));

        let stray = Joint::hold(Anchor::Body { index: 7, local: Vec3::ZERO }, Anchor::World);
        let said = solve_joints(&bodies, &[one, stray]).unwrap_err().to_string();
        assert_eq!(said, "joint 1 names body 7, but there are 3");
        let broken = Joint { target: Vec3::NAN, ..one };
        assert!(matches!(solve_joints(&bodies, &[broken]), Err(ClassicError::BadNumber { .. })));
        assert_eq!(solve_joints(&bodies, &[]), Ok(vec![]));
    }
}
