//! Ellipsoids: the farthest point in a direction (support point), and the direction in which two of them are farthest
//! apart.
//!
//! With B = R diag(a²) Rᵀ the farthest point along a unit n is c + B n/√(nᵀ B n), at the distance ρ(n) = √(nᵀ B n), the
//! support function (OP 4.4.3; the lowest point over a plane is always the one with −n, for any depth of the centre).
//! The separation of two ellipsoids is
//!
//! ```text
//!   s(n) = n·(c_b − c_a) − ρ_a(n) − ρ_b(n)
//! ```
//!
//! along n. The largest s is their distance, or, if negative, minus the smallest displacement that separates them. The
//! gradient of s is the vector g between the two support points; n ascends along the part of g perpendicular to n.

use crate::math::{Quat, Real, Vec3};

/// Iterations of the gradient ascent. Ten are enough for axis ratios of 1 : 2, all of them for 1 : 4.
const ROUNDS: usize = 40;

/// A rotated ellipsoid without its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ellipsoid {
    /// Semi-axes [m].
    pub radii: Vec3,
    pub rotation: Quat,
}

impl Ellipsoid {
    /// From the centre to the farthest point along a unit direction [m].
    pub fn farthest(&self, n: Vec3) -> Vec3 {
        let local = self.radii * (self.rotation.inverse() * n);
        let reach = local.length();
        if reach > 0.0 { self.rotation * (self.radii * local / reach) } else { Vec3::ZERO }
    }

    /// Support function: extent along a unit direction [m].
    pub fn reach(&self, n: Vec3) -> Real {
        (self.radii * (self.rotation.inverse() * n)).length()
    }

    /// Upper bound on the second derivative of the support function over unit directions [m].
    fn bend(&self) -> Real {
        self.radii.max_element() * self.radii.max_element() / self.radii.min_element()
    }
}

/// The unit direction from a to b of largest separation, and that separation, negative in penetration [m].
pub(crate) fn apart(a: &Ellipsoid, b: &Ellipsoid, between: Vec3) -> (Vec3, Real) {
    let mut n = between.normalize_or(Vec3::Y);
    let most = a.bend() + b.bend() + between.length();
    for _ in 0..ROUNDS {
        let slope = between - a.farthest(n) - b.farthest(n);
        let across = slope - n * n.dot(slope);
        if across.length_squared() <= Real::EPSILON * Real::EPSILON * most * most {
            break;
        }
        // twice the safe step: the bound is that of the worst direction
        n = (n + across * (2.0 / most)).normalize();
    }
    (n, n.dot(between) - a.reach(n) - b.reach(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Ellipsoid {
        let rotation = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -1.0).normalize(), 0.9);
        Ellipsoid { radii: Vec3::new(0.3, 0.2, 0.1), rotation }
    }

    #[test]
    fn no_surface_point_lies_beyond_the_support_point() {
        let e = some();
        let n = Vec3::new(0.2, -1.0, 0.4).normalize();
        let far = e.farthest(n);
        assert!((n.dot(far) - e.reach(n)).abs() < 10.0 * Real::EPSILON);
        for k in 0..400 {
            let [u, v] = [(k % 20) as Real * 0.314, (k / 20) as Real * 0.157];
            let unit = Vec3::new(u.cos() * v.sin(), u.sin() * v.sin(), v.cos());
            let point = e.rotation * (e.radii * unit);
            assert!(n.dot(point) <= e.reach(n) + 10.0 * Real::EPSILON);
        }
    }

    #[test]
    fn separation_of_balls_is_the_centre_distance_less_the_radii() {
        let ball = |r: Real| Ellipsoid { radii: Vec3::splat(r), rotation: Quat::IDENTITY };
        let d = Vec3::new(0.3, -0.2, 0.6);
        let (n, gap) = apart(&ball(0.2), &ball(0.1), d);
        assert!((n - d.normalize()).length() < 10.0 * Real::EPSILON);
        assert!((gap - (0.7 - 0.3)).abs() < 10.0 * Real::EPSILON);
    }

    #[test]
    fn no_other_direction_has_a_larger_separation() {
        let (a, b) = (some(), Ellipsoid { radii: Vec3::new(0.1, 0.25, 0.12), rotation: Quat::from_rotation_x(0.5) });
        // separated, touching, and in deep penetration
        for d in [Vec3::new(0.5, 0.3, -0.2), Vec3::new(0.3, 0.15, 0.05), Vec3::new(0.12, 0.1, 0.02)] {
            let (n, gap) = apart(&a, &b, d);
            let s = |n: Vec3| n.dot(d) - a.reach(n) - b.reach(n);
            for k in 0..400 {
                let [u, v] = [(k % 20) as Real * 0.314, (k / 20) as Real * 0.157];
                let other = (n + Vec3::new(u.cos() * v.sin(), u.sin() * v.sin(), v.cos()) * 0.3).normalize();
                assert!(s(other) < gap + 1e-4 * d.length(), "{d}: {} > {gap}", s(other));
            }
        }
    }
}
