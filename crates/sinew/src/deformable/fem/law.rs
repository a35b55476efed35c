//! Material laws of solids: energy density ψ(F), stress P = ∂ψ/∂F and a positive tangent ∂P/∂F.
//!
//! Every law is the sum of a shear part, scaled by Lamé's μ, and an energy U of a dilatation θ(F), scaled by λ:
//!
//! ```text
//!   law                  shear part                                            θ            U
//!   Linear               μ |ε|²,  ε = sym F − I                                tr ε         λ θ²/2
//!   Corotational         μ |S − I|²,  F = R S                                  tr S − 3     λ θ²/2
//!   StVenantKirchhoff    μ |E|²,  E = (FᵀF − I)/2                              tr E         λ θ²/2
//!   NeoHookean           ⅔μ (I₁ − 3 − ln((I₁ + 1)/4)) − μ θ + 5/12 μ θ²        J − 1        λ θ²/2
//!   LogNeoHookean        ½μ (I₁ − 3) − μ ln J                                  J − 1        λ ln²J/2
//! ```
//!
//! with I₁ = tr FᵀF and J = det F. The split allows an element to take θ from the average over its neighbours, the
//! remedy for volumetric locking. `NeoHookean` is the stable one (Smith, de Goes and Kim 2018), its two constants
//! chosen such that the small-strain limit is Hooke's law with the given λ and μ: their λ' = λ + 5/6 μ and μ' = 4/3 μ,
//! multiplied out.
//!
//! Tangent: with F = U diag(σ) Vᵀ every isotropic law has the Hessian of ψ(σ) for the three stretches, and for each
//! pair of axes (ψ_i − ψ_j)/(σ_i − σ_j) for the symmetric and (ψ_i + ψ_j)/(σ_i + σ_j) for the antisymmetric change.
//! Negative eigenvalues are set to zero, so that an implicit step is solvable from any state; in crushed elements their
//! absolute value is used (the absolute filter of Chen et al. 2024). The quotients are written out per law: as
//! differences they would lose all precision near rest.
//!
//! Two laws are not defined or not stable for crushed elements and are extended: below a stretch of one half St
//! Venant-Kirchhoff gets a spring (2μ + λ)(½ − σ)²/2 per axis, without which an inverted element would be in
//! equilibrium; below J = 0.2 the logarithm is continued as its Taylor polynomial of second order.

use crate::deformable::limit::soften;
use crate::math::{Mat3, Real, Svd, Sym3, Vec3, cofactor, natural_log, outer, polar_rotation, positive_part, trace};
use sinew_spec::words;

/// Stretch below which St Venant-Kirchhoff gets its spring; without it the law loses stability at 0.577.
const CRUSH: Real = 0.5;
/// Volume ratio below which the logarithm is continued.
const LOG_END: Real = 0.2;
/// Lower bound of the sum of two stretches in a tangent: the sum passes through zero when an element inverts.
const LEAST_SUM: Real = 0.1;

/// Green's strain up to which every law is stiffer than at rest by at most a third.
const LITTLE_STRAIN: Real = 0.05;

/// Constitutive law.
///
/// An example is at [`fem::SolidParams`](crate::fem::SolidParams).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Hooke's law of the displacement gradient: for small strain and small rotation only.
    Linear,
    /// Hooke's law in the co-rotated frame: any rotation, small strain.
    Corotational,
    /// Hooke's law of Green's strain: any rotation, moderate stretch; weak in compression.
    StVenantKirchhoff,
    /// Stable neo-Hookean: any strain, inversion included.
    NeoHookean,
    /// Textbook neo-Hookean with ln J: any strain without inversion.
    LogNeoHookean,
}

/// A law with its constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elastic {
    pub(super) law: Law,
    /// Lamé's first parameter [Pa].
    pub(super) lambda: Real,
    /// Shear modulus [Pa].
    pub(super) mu: Real,
}

/// A deformation gradient with the quantities that every law derives from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strained {
    pub(super) f: Mat3,
    /// Polar rotation, for the corotational law only.
    rotation: Mat3,
    /// Dilatation.
    pub(super) theta: Real,
}

/// ∂P/∂F, positive semidefinite, in the frames of the singular vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tangent {
    u: Mat3,
    v: Mat3,
    /// Second derivatives by the stretches [Pa].
    stretch: Sym3,
    /// ∂P_ij/∂F_ij and ∂P_ij/∂F_ji off the diagonal, indexed by the axis that is neither i nor j [Pa].
    same: [Real; 3],
    cross: [Real; 3],
}

impl Elastic {
    /// From Young's modulus [Pa] and Poisson's ratio.
    pub(super) fn new(law: Law, youngs_modulus: Real, poisson_ratio: Real) -> Self {
        let (e, nu) = (youngs_modulus, poisson_ratio);
        Self { law, lambda: e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu: e / (2.0 * (1.0 + nu)) }
    }

    /// With this fraction of the stiffness 2μ + λ.
    pub(super) fn softened(self, share: Real) -> Self {
        if share >= 1.0 {
            return self;
        }
        let [twice, lambda] = soften([2.0 * self.mu, self.lambda], share);
        Self { lambda, mu: 0.5 * twice, ..self }
    }

    /// Rotation and dilatation of F.
    pub(super) fn look(&self, f: Mat3) -> Strained {
        let mut rotation = Mat3::IDENTITY;
        let theta = match self.law {
            Law::Linear => trace(&f) - 3.0,
            Law::Corotational => {
                rotation = polar_rotation(&f);
                f.x_axis.dot(rotation.x_axis) + f.y_axis.dot(rotation.y_axis) + f.z_axis.dot(rotation.z_axis) - 3.0
            }
            Law::StVenantKirchhoff => 0.5 * (square(&f) - 3.0),
            Law::NeoHookean | Law::LogNeoHookean => f.determinant() - 1.0,
        };
        Strained { f, rotation, theta }
    }

    /// U, U' and U'' of a dilatation [Pa].
    pub(super) fn bulk(&self, theta: Real) -> [Real; 3] {
        let lambda = self.lambda;
        match self.law {
            Law::LogNeoHookean => {
                let [l, slope, bend] = logarithm(1.0 + theta);
                [0.5 * lambda * l * l, lambda * l * slope, lambda * (slope * slope + l * bend)]
            }
            _ => [0.5 * lambda * theta * theta, lambda * theta, lambda],
        }
    }

    /// Energy density of the shear part [J/m³].
    pub(super) fn shear_energy(&self, s: &Strained) -> Real {
        let mu = self.mu;
        match self.law {
            Law::Linear => mu * square(&(symmetric(&s.f) - Mat3::IDENTITY)),
            Law::Corotational => mu * square(&(s.f - s.rotation)),
            Law::StVenantKirchhoff => mu * square(&green(&s.f)) + self.crush_energy(&s.f),
            Law::NeoHookean => {
                let i1 = square(&s.f);
                let log = natural_log(0.25 * (i1 + 1.0));
                mu * (2.0 / 3.0 * (i1 - 3.0 - log) - s.theta + 5.0 / 12.0 * s.theta * s.theta)
            }
            Law::LogNeoHookean => mu * (0.5 * (square(&s.f) - 3.0) - logarithm(1.0 + s.theta)[0]),
        }
    }

    /// ψ [J/m³].
    #[cfg(test)]
    pub(super) fn energy(&self, f: Mat3) -> Real {
        let s = self.look(f);
        self.shear_energy(&s) + self.bulk(s.theta)[0]
    }

    /// P of the shear part and of a pressure p = U' conjugate to the dilatation [Pa].
    pub(super) fn stress(&self, s: &Strained, p: Real) -> Mat3 {
        let (mu, f) = (self.mu, &s.f);
        match self.law {
            Law::Linear => (symmetric(f) - Mat3::IDENTITY) * (2.0 * mu) + Mat3::IDENTITY * p,
            Law::Corotational => (*f - s.rotation) * (2.0 * mu) + s.rotation * p,
            Law::StVenantKirchhoff => {
                let stress = *f * (green(f) * (2.0 * mu) + Mat3::IDENTITY * p);
                if crushed(f) { stress + self.crush_stress(f) } else { stress }
            }
            Law::NeoHookean | Law::LogNeoHookean => {
                let [w, _, g, _] = self.hooke(square(f), 1.0 + s.theta);
                *f * w + cofactor(f) * (g + p)
            }
        }
    }

    /// ∂θ/∂F.
    pub(super) fn dilatation_slope(&self, s: &Strained) -> Mat3 {
        match self.law {
            Law::Linear => Mat3::IDENTITY,
            Law::Corotational => s.rotation,
            Law::StVenantKirchhoff => s.f,
            Law::NeoHookean | Law::LogNeoHookean => cofactor(&s.f),
        }
    }

    /// The positive semidefinite part of ∂P/∂F of the shear part, a pressure p = U' and a bulk stiffness k = U'' [Pa].
    pub(super) fn tangent(&self, f: &Mat3, p: Real, k: Real) -> Tangent {
        let mu = self.mu;
        if self.law == Law::Linear {
            let stretch = Mat3::from_diagonal(Vec3::splat(2.0 * mu)) + outer(Vec3::ONE, Vec3::ONE) * k;
            let (same, cross) = ([mu; 3], [mu; 3]);
            return Tangent { u: Mat3::IDENTITY, v: Mat3::IDENTITY, stretch: Sym3::from_mat(&stretch), same, cross };
        }
        let Svd { u, sigma, v } = Svd::new(f);
        let (stretch, flips, twists) = self.principal(sigma, p, k);
        // with the eigenvalues of a crushed element set to zero, only its mass would resist, and it would be ejected
        let mirror = if sigma.z < CRUSH { 1.0 } else { 0.0 };
        let (mut same, mut cross) = ([0.0; 3], [0.0; 3]);
        for axis in 0..3 {
            let (flip, twist) = (flips[axis].max(-mirror * flips[axis]), twists[axis].max(-mirror * twists[axis]));
            (same[axis], cross[axis]) = (0.5 * (flip + twist), 0.5 * (flip - twist));
        }
        Tangent { u, v, stretch: positive_part(Sym3::from_mat(&stretch), mirror), same, cross }
    }

    /// Ratio of the stiffness to that at rest: the largest eigenvalue of ∂P/∂F, bounded by row sums, over 2μ + 3λ at
    /// rest.
    pub(super) fn growth(&self, s: &Strained, p: Real, k: Real) -> Real {
        if self.law == Law::Linear || square(&green(&s.f)) < LITTLE_STRAIN * LITTLE_STRAIN {
            return 1.0;
        }
        let (stretch, flips, twists) = self.principal(Svd::new(&s.f).sigma, p, k);
        let rows = stretch.x_axis.abs() + stretch.y_axis.abs() + stretch.z_axis.abs();
        rows.max(flips).max(twists).max_element() / (2.0 * self.mu + 3.0 * self.lambda)
    }

    /// Second derivatives in the principal frame: by the stretches, and for each pair of axes of the symmetric and of
    /// the antisymmetric change.
    fn principal(&self, s: Vec3, p: Real, k: Real) -> (Mat3, Vec3, Vec3) {
        let mu = self.mu;
        let (next, last) = (Vec3::new(s.y, s.z, s.x), Vec3::new(s.z, s.x, s.y));
        match self.law {
            Law::Linear | Law::Corotational => {
                let stretch = Mat3::from_diagonal(Vec3::splat(2.0 * mu)) + outer(Vec3::ONE, Vec3::ONE) * k;
                let sum = (next + last).max(Vec3::splat(LEAST_SUM));
                let twists = ((sum - Vec3::splat(2.0)) * (2.0 * mu) + Vec3::splat(2.0 * p)) / sum;
                (stretch, Vec3::splat(2.0 * mu), twists)
            }
            Law::StVenantKirchhoff => {
                let diagonal = (s * s * 3.0 - Vec3::ONE) * mu + Vec3::splat(p);
                let stretch = Mat3::from_diagonal(diagonal) + outer(s, s) * k;
                let squares = (next * next + last * last - Vec3::ONE) * mu + Vec3::splat(p);
                let product = next * last * mu;
                let (stretch_more, flips, twists) = self.crush_tangent(s);
                (stretch + stretch_more, squares + product + flips, squares - product + twists)
            }
            Law::NeoHookean | Law::LogNeoHookean => {
                let c = next * last;
                let [w, w_more, g, g_more] = self.hooke(s.length_squared(), s.x * c.x);
                let push = s * (g + p);
                let off = Mat3::from_cols(
                    Vec3::new(0.0, push.z, push.y),
                    Vec3::new(push.z, 0.0, push.x),
                    Vec3::new(push.y, push.x, 0.0),
                );
                let stretch =
                    Mat3::from_diagonal(Vec3::splat(w)) + outer(s, s) * w_more + outer(c, c) * (g_more + k) + off;
                (stretch, Vec3::splat(w) - push, Vec3::splat(w) + push)
            }
        }
    }

    /// The shear part of a neo-Hookean law is ½ W(I₁) + G(J): dW/dI₁, 2 d²W/dI₁², G' and G'' [Pa].
    fn hooke(&self, i1: Real, j: Real) -> [Real; 4] {
        let mu = self.mu;
        if self.law == Law::NeoHookean {
            let (m, part) = (4.0 / 3.0 * mu, 1.0 / (i1 + 1.0));
            let g_more = 5.0 / 6.0 * mu;
            [m * (1.0 - part), 2.0 * m * part * part, g_more * (j - 1.0) - mu, g_more]
        } else {
            let [_, slope, bend] = logarithm(j);
            [mu, 0.0, -mu * slope, -mu * bend]
        }
    }

    fn crush_energy(&self, f: &Mat3) -> Real {
        if !crushed(f) {
            return 0.0;
        }
        let deficit = (Vec3::splat(CRUSH) - Svd::new(f).sigma).max(Vec3::ZERO);
        0.5 * (2.0 * self.mu + self.lambda) * deficit.length_squared()
    }

    fn crush_stress(&self, f: &Mat3) -> Mat3 {
        let Svd { u, sigma, v } = Svd::new(f);
        let deficit = (Vec3::splat(CRUSH) - sigma).max(Vec3::ZERO);
        u * Mat3::from_diagonal(deficit * -(2.0 * self.mu + self.lambda)) * v.transpose()
    }

    fn crush_tangent(&self, s: Vec3) -> (Mat3, Vec3, Vec3) {
        let stiffness = 2.0 * self.mu + self.lambda;
        let slope = |s: Real| stiffness * (s - CRUSH).min(0.0);
        let bend = |s: Real| if s < CRUSH { stiffness } else { 0.0 };
        let pair = |a: Real, b: Real| {
            let flip = if (a - b).abs() > 1e-3 { (slope(a) - slope(b)) / (a - b) } else { bend(0.5 * (a + b)) };
            (flip, (slope(a) + slope(b)) / (a + b).max(LEAST_SUM))
        };
        let (x, y, z) = (pair(s.y, s.z), pair(s.z, s.x), pair(s.x, s.y));
        let stretch = Mat3::from_diagonal(Vec3::new(bend(s.x), bend(s.y), bend(s.z)));
        (stretch, Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1))
    }
}

impl Tangent {
    /// Gradient of a shape function in the frame that `block` expects.
    pub(super) fn turned(&self, gradient: Vec3) -> Vec3 {
        self.v.transpose() * gradient
    }

    /// Stiffness between two nodes whose rotated gradients are g and h: g · ∂P/∂F · h [Pa/m²].
    pub(super) fn block(&self, g: Vec3, h: Vec3) -> Mat3 {
        let (a, same, cross) = (&self.stretch, &self.same, &self.cross);
        let gh = g * h;
        let diagonal = Vec3::new(
            a.xx * gh.x + same[2] * gh.y + same[1] * gh.z,
            a.yy * gh.y + same[2] * gh.x + same[0] * gh.z,
            a.zz * gh.z + same[1] * gh.x + same[0] * gh.y,
        );
        let m = Mat3::from_cols(
            Vec3::new(diagonal.x, a.xy * g.y * h.x + cross[2] * g.x * h.y, a.xz * g.z * h.x + cross[1] * g.x * h.z),
            Vec3::new(a.xy * g.x * h.y + cross[2] * g.y * h.x, diagonal.y, a.yz * g.z * h.y + cross[0] * g.y * h.z),
            Vec3::new(a.xz * g.x * h.z + cross[1] * g.z * h.x, a.yz * g.y * h.z + cross[0] * g.z * h.y, diagonal.z),
        );
        self.u * m * self.u.transpose()
    }

    /// The same without the resistance to rotation: damping by the stress of an element would damp rigid rotation.
    pub(super) fn without_twist(mut self) -> Self {
        for axis in 0..3 {
            let half = 0.5 * (self.same[axis] + self.cross[axis]);
            (self.same[axis], self.cross[axis]) = (half, half);
        }
        self
    }

    /// The change of stress for a change of F [Pa].
    pub(super) fn apply(&self, change: &Mat3) -> Mat3 {
        let d = self.u.transpose() * *change * self.v;
        let (same, cross) = (&self.same, &self.cross);
        let axial = self.stretch.mul(Vec3::new(d.x_axis.x, d.y_axis.y, d.z_axis.z));
        let pair = |axis: usize, own: Real, other: Real| same[axis] * own + cross[axis] * other;
        let p = Mat3::from_cols(
            Vec3::new(axial.x, pair(2, d.x_axis.y, d.y_axis.x), pair(1, d.x_axis.z, d.z_axis.x)),
            Vec3::new(pair(2, d.y_axis.x, d.x_axis.y), axial.y, pair(0, d.y_axis.z, d.z_axis.y)),
            Vec3::new(pair(1, d.z_axis.x, d.x_axis.z), pair(0, d.z_axis.y, d.y_axis.z), axial.z),
        );
        self.u * p * self.v.transpose()
    }
}

/// Green's strain (FᵀF − I)/2.
pub(super) fn green(f: &Mat3) -> Mat3 {
    (f.transpose() * *f - Mat3::IDENTITY) * 0.5
}

/// True when the smallest stretch may be below `CRUSH`: FᵀF − CRUSH² I is not positive definite, or F is inverted.
fn crushed(f: &Mat3) -> bool {
    let m = f.transpose() * *f - Mat3::from_diagonal(Vec3::splat(CRUSH * CRUSH));
    let minor = m.x_axis.x * m.y_axis.y - m.x_axis.y * m.x_axis.y;
    !(f.determinant() > 0.0 && m.x_axis.x > 0.0 && minor > 0.0 && m.determinant() > 0.0)
}

/// ln J with its first two derivatives, continued below `LOG_END`.
fn logarithm(j: Real) -> [Real; 3] {
    if j >= LOG_END {
        return [natural_log(j), 1.0 / j, -1.0 / (j * j)];
    }
    let d = (j - LOG_END) / LOG_END;
    let one = 1.0 / LOG_END;
    [natural_log(LOG_END) + d - 0.5 * d * d, one * (1.0 - d), -one * one]
}

/// Sum of the squares of all entries.
pub(super) fn square(m: &Mat3) -> Real {
    m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()
}

pub(super) fn symmetric(m: &Mat3) -> Mat3 {
    (*m + m.transpose()) * 0.5
}

words!(Law, {
    "linear" => Linear, "Hooke's law of the displacement as it is: small strain and small turns only.";
    "corotational" => Corotational, "Hooke's law in the turned frame: any turn, small strain.";
    "st_venant_kirchhoff" => StVenantKirchhoff, "Hooke's law of Green's strain: moderate stretch; weak in compression.";
    "neo_hookean" => NeoHookean, "Stable neo-Hookean: any strain, inversion included.";
    "log_neo_hookean" => LogNeoHookean, "Textbook neo-Hookean with ln J: any strain without inversion.";
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    const LAWS: [Law; 5] =
        [Law::Linear, Law::Corotational, Law::StVenantKirchhoff, Law::NeoHookean, Law::LogNeoHookean];

    fn material(law: Law) -> Elastic {
        Elastic::new(law, 2.6, 0.3)
    }

    fn stress(m: &Elastic, f: Mat3) -> Mat3 {
        let s = m.look(f);
        m.stress(&s, m.bulk(s.theta)[1])
    }

    fn tangent(m: &Elastic, f: Mat3) -> Tangent {
        let [_, p, k] = m.bulk(m.look(f).theta);
        m.tangent(&f, p, k)
    }

    fn unit(k: usize) -> Mat3 {
        let mut m = [0.0; 9];
        m[k] = 1.0;
        Mat3::from_cols_array(&m)
    }

    /// Rotated stretches; the last two are crushed and inverted.
    fn states() -> Vec<Mat3> {
        let turn = |a: Real| Mat3::from_quat(Quat::from_axis_angle(Vec3::new(2.0, -1.0, 2.0) / 3.0, a));
        let stretch = |x, y, z| Mat3::from_diagonal(Vec3::new(x, y, z));
        vec![
            turn(0.4) * stretch(1.2, 1.1, 1.05) * turn(-1.0),
            turn(2.0) * stretch(1.5, 0.9, 1.1) * turn(0.3),
            turn(1.0) * stretch(1.0, 1.3, 0.3) * turn(0.7),
            turn(1.0) * stretch(1.2, 1.3, -0.4) * turn(0.7),
        ]
    }

    /// Step and error of a central difference at the precision of a real.
    fn difference() -> (Real, Real) {
        let h = Real::EPSILON.cbrt();
        (h, 100.0 * h * h)
    }

    #[test]
    fn stress_is_the_gradient_of_the_energy() {
        let (h, tolerance) = difference();
        for law in LAWS {
            let m = material(law);
            for f in states() {
                let p = stress(&m, f);
                for k in 0..9 {
                    let slope = (m.energy(f + unit(k) * h) - m.energy(f - unit(k) * h)) / (2.0 * h);
                    let scale = 1.0 + m.energy(f) + square(&p).sqrt();
                    assert!((slope - p.to_cols_array()[k]).abs() < tolerance * scale, "{law:?} {f} {k} {slope} {p}");
                }
            }
        }
    }

    #[test]
    fn the_tangent_is_the_derivative_of_the_stress_where_that_is_positive() {
        let (h, tolerance) = difference();
        for law in LAWS {
            let m = material(law);
            // under tension no eigenvalue is clamped
            for f in [Mat3::IDENTITY, states()[0]] {
                let t = tangent(&m, f);
                for k in 0..9 {
                    let slope = (stress(&m, f + unit(k) * h) - stress(&m, f - unit(k) * h)) * (0.5 / h);
                    assert!(t.apply(&unit(k)).abs_diff_eq(slope, 10.0 * tolerance), "{law:?} {f} {k}");
                }
            }
        }
    }

    #[test]
    fn the_tangent_is_positive_semidefinite_and_its_blocks_are_its_contractions() {
        for law in LAWS {
            let m = material(law);
            for f in states() {
                let t = tangent(&m, f);
                for k in 0..40_u32 {
                    let part = |i: u32| ((k * 31 + i * 17 + 5) % 23) as Real / 11.0 - 1.0;
                    let (u, g) = (Vec3::new(part(0), part(1), part(2)), Vec3::new(part(3), part(4), part(5)));
                    let change = outer(u, g) + outer(g, Vec3::new(u.y, u.z, u.x));
                    let dp = t.apply(&change);
                    let work: Real = (0..3).map(|i| dp.col(i).dot(change.col(i))).sum();
                    let top = square(&dp) + square(&change);
                    assert!(work > -20.0 * Real::EPSILON * top, "{law:?} {work}");
                    let (h, w) = (Vec3::new(part(6), part(7), part(8)), Vec3::new(part(9), part(10), part(11)));
                    let by_block = t.block(t.turned(h), t.turned(g)) * w;
                    let by_apply = t.apply(&outer(w, g)) * h;
                    assert!((by_block - by_apply).length() < 100.0 * Real::EPSILON * (1.0 + by_apply.length()));
                }
            }
        }
    }

    #[test]
    fn a_rotation_produces_no_stress_and_rotates_the_stress() {
        let r = Mat3::from_quat(Quat::from_axis_angle(Vec3::new(1.0, -2.0, 2.0) / 3.0, 2.7));
        for law in &LAWS[1..] {
            let m = material(*law);
            assert!(square(&stress(&m, r)).sqrt() < 40.0 * Real::EPSILON, "{law:?}");
            for f in states() {
                let (turned, p) = (stress(&m, r * f), r * stress(&m, f));
                assert!(turned.abs_diff_eq(p, 200.0 * Real::EPSILON * (1.0 + square(&p).sqrt())), "{law:?} {f}");
            }
        }
        // the linear law fails by definition: a rotation by 90° is a strain of −1
        let quarter = Mat3::from_quat(Quat::from_rotation_z(std::f64::consts::FRAC_PI_2 as Real));
        assert!((stress(&material(Law::Linear), quarter).x_axis.x + 2.0 + 3.0).abs() < 1e-5);
    }

    #[test]
    fn at_small_strain_every_law_is_hookes() {
        let strain = Sym3 { xx: 1.0, yy: -0.5, zz: 0.3, xy: 0.4, xz: -0.2, yz: 0.6 }.to_mat();
        for law in LAWS {
            let m = material(law);
            let hooke = strain * (2.0 * m.mu) + Mat3::IDENTITY * (m.lambda * trace(&strain));
            let got = tangent(&m, Mat3::IDENTITY).apply(&strain);
            assert!(got.abs_diff_eq(hooke, 40.0 * Real::EPSILON), "{law:?} {got} {hooke}");
        }
    }

    #[test]
    fn an_inverted_or_flat_element_has_a_restoring_stress() {
        for law in &LAWS[1..] {
            let m = material(*law);
            for depth in [0.0, -0.1, -0.3, -0.58, -1.0] {
                let f = Mat3::from_diagonal(Vec3::new(1.0, 1.0, depth));
                assert!(stress(&m, f).z_axis.z < -0.1 * m.mu, "{law:?} {depth}");
            }
        }
    }
}
