//! Moving least squares: phyxels without connectivity (FC 2.3.1, after Müller et al. 2004).
//!
//! The gradient of the displacement at phyxel i is that of the affine least-squares fit to its neighbours (FC
//! 2.39-2.44):
//!
//! ```text
//!   A = Σ_j w_ij X_ij X_ijᵀ,   d_j = A⁻¹ X_ij w_ij,   F = J = Σ_j x_ij d_jᵀ,   E = ½ (FᵀF − 1),   S = 2μ E + λ tr(E) 1
//!   energy v_i (μ E:E + ½ λ tr²E),   f_j = −v_i F S d_j,   f_i = −Σ_j f_j
//! ```
//!
//! with x_ij = x_j − x_i, capital letters at rest, the kernel w of FC 3.11 and its radius h_i = 3 r̄_i from the ten
//! nearest neighbours. Differences from the publication: E with its factor ½, forces times the volume v_i and on the
//! neighbours, and the weight multiplies the error in 2.41. Forces are the exact negative gradient of the energy, so
//! that linear and angular momentum are conserved.
//!
//! *Flat neighbourhoods.* Where the neighbours are in a plane or on a line A is singular. Its pseudo-inverse gives the
//! gradient along their span; E = ½ (FᵀF − P) with the projector P onto it, and λ is that of plane or uniaxial stress.
//! So a sheet of points is a membrane and a line of points a rope.
//!
//! *Zero-energy modes.* ∇u at i does not depend on u_i itself when the neighbours are symmetric: a checkerboard mode
//! has no energy, and it accumulates in explicit runs. The residual of the affine fit, r_ij = x_ij − F X_ij, is
//! penalised by springs:
//!
//! ```text
//!   energy ½ Σ_j k_ij |r_ij|²,   k_ij = α μ v_i ω_ij / Σ_j ω_ij |X_ij|²,   ω within 1.5 r̄_i
//! ```
//!
//! It is quadratic in x, invariant to rigid motion and zero for every affine field, so that uniform strain keeps its
//! exact stress. It does resist curvature, by about α μ r̄² per unit volume: keep α small.
//!
//! *Inversion.* Saint Venant-Kirchhoff material softens in compression and can invert. The volume force of Müller et
//! al., energy ½ v_i k_V (det F − 1)², counteracts it; it adds k_V to the bulk stiffness, and is off by default.
//!
//! *Damping* β [s] adds the viscous stress β C:Ė, and to the stabilization force the factor 1 + β (Σ k r·ṙ)/(Σ k r²):
//! both conserve angular momentum.
//!
//! *Choice of the radius.* The 3 r̄ of the source is the default. On a regular lattice 1.5 r̄ is more accurate and
//! cheaper: at a surface point a wide fit yields the strain half a kernel inside. A cantilever four cells thick
//! deflects 1.54 times as far as Timoshenko's with 3 r̄, 1.07 times with 2 r̄, 0.96 times with 1.5 r̄ (eight cells:
//! 1.01 and 0.98). On irregular points a narrow fit is too soft, because sums over points do not integrate its
//! gradients well: a bar in tension of points displaced by up to 0.3 of a cell stretches 1.74 times too far with 1.5
//! r̄, 1.10 times with 2 r̄, 1.01 times with 3 r̄.
//!
//! Time: explicit (v first, then x) up to `stable_step`, or linearly implicit, see `tangent.rs`.

use super::rest::{Rest, share_volume};
use super::tangent::Tangent;
use crate::deformable::{
    Approximation, BodyMut, BodyRef, Deformable, ElementStress, Operator, RigidSums, StepContext, Traits,
};
use crate::math::{Block, Mat3, Real, Sym3, Vec3, add, outer, vec};
use crate::model::tet_mesh::{TetMesh, TetMeshError};
use sinew_spec::{ANY, NOT_NEGATIVE, POISSON, POSITIVE, from_to, record, words};

/// Stretch up to which `stable_step` is valid: Saint Venant-Kirchhoff stiffness grows as (3 s² − 1)/2 along a stretch
/// s.
const STRETCH: Real = 1.3;
/// Margin: the power iteration ends slightly below the highest frequency.
const POWER_MARGIN: Real = 1.05;
/// Steps of the power iteration.
const POWER_STEPS: usize = 60;

/// Time integration of a meshless body.
///
/// An example is at [`meshless::Params`](crate::meshless::Params).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Forces at the start of the substep; limited by `stable_step`.
    #[default]
    Explicit,
    /// Linearly implicit Euler; any substep.
    Implicit,
}

/// Material and kernel of a meshless body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let params = meshless::Params { youngs_modulus: 1e4, scheme: meshless::Scheme::Implicit, ..meshless::Params::default() };
/// let model = SoftModel::Meshless(params, 0.0);
/// let mut world = World::default();
/// let body = world.add_soft(SoftBody::new(Geometry::Tets(block), model).pin_region([-1.0, 0.049, -1.0], [1.0, 1.0, 1.0]))?;
/// for _ in 0..5 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(body)?.node_positions().iter().all(|x| x.is_finite()));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MlsParams {
    /// Young's modulus [Pa].
    pub youngs_modulus: Real,
    /// Poisson's ratio, from 0 up to below 0.5.
    pub poisson_ratio: Real,
    /// Density [kg/m³].
    pub density: Real,
    /// Stiffness-proportional damping β [s].
    pub damping: Real,
    /// Radius of the kernel in mean distances to the ten nearest neighbours, 1.2 to 6. Larger: smoother, softer in
    /// bending, cost grows with its cube.
    pub support: Real,
    /// α: stiffness against zero-energy modes, in shear moduli; 0: none.
    pub stabilization: Real,
    /// k_V: stiffness against change of volume, in addition to the material's [Pa].
    pub volume_stiffness: Real,
    /// Integration in time.
    pub scheme: Scheme,
}

impl Default for MlsParams {
    fn default() -> Self {
        Self {
            youngs_modulus: 1e5,
            poisson_ratio: 0.3,
            density: 1000.0,
            damping: 0.0,
            support: 3.0,
            stabilization: 0.1,
            volume_stiffness: 0.0,
            scheme: Scheme::Explicit,
        }
    }
}

/// Reason why a meshless body is rejected.
///
/// An example is at [`meshless::Params`](crate::meshless::Params).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MlsError {
    /// A number outside its range.
    #[error("{name} = {value}: must be {range}")]
    OutOfRange {
        /// Field of [`MlsParams`], or `mass`.
        name: &'static str,
        /// The given value.
        value: Real,
        /// The allowed range.
        range: &'static str,
    },
    /// A body needs at least two points.
    #[error("{count} points: at least 2 are needed")]
    TooFew {
        /// Points given.
        count: usize,
    },
    /// A coordinate of a point is not finite.
    #[error("point {point} is not finite")]
    NotFinite {
        /// Index of the point.
        point: usize,
    },
    /// Two points at the same position have no distance for the kernel.
    #[error("points {point} and {other} have the same position; remove one")]
    Coincident {
        /// Index of one point.
        point: usize,
        /// Index of the other.
        other: usize,
    },
    /// A point has no neighbour.
    #[error(
        "point {point} has no neighbour within support = {support} times its mean distance to the ten nearest; raise it"
    )]
    Alone {
        /// Index of the point.
        point: usize,
        /// Support given.
        support: Real,
    },
    /// A vertex that belongs to no tetrahedron has no mass.
    #[error("vertex {vertex} belongs to no tetrahedron: it has no mass")]
    NoMass {
        /// Index of the vertex.
        vertex: usize,
    },
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Mesh(#[from] TetMeshError),
}

/// A body of phyxels.
#[derive(Clone, Debug)]
pub struct Mls {
    pub(super) rest: Rest,
    damping: Real,
    scheme: Scheme,
    /// Scheme of the parameters; `scheme` differs from it after `go_implicit`.
    chosen: Scheme,
    /// Highest angular frequency at rest [rad/s].
    highest: Real,
    /// Elastic and viscous forces. Written by `predict`. (node_count) [N]
    force: Vec<Vec3>,
    /// A and b of an implicit body. Written by `predict`.
    pub(super) tangent: Tangent,
    /// Sums over the body. Written by `predict`.
    pub(super) sums: RigidSums,
}

impl Mls {
    /// Points that fill a body of this total mass [kg], each at the centre of its volume; volumes from the kernel
    /// density.
    pub fn new(points: &[Vec3], mass: Real, params: MlsParams) -> Result<Self, MlsError> {
        params.check()?;
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(MlsError::OutOfRange { name: "mass", value: mass, range: "positive and finite [kg]" });
        }
        check_points(points)?;
        Self::build(points, share_volume(points, mass / params.density), params)
    }

    /// The vertices of a tetrahedral mesh, each with a quarter of the volume of its tetrahedra; the mesh is not stored.
    pub fn from_mesh(mesh: &TetMesh, params: MlsParams) -> Result<Self, MlsError> {
        params.check()?;
        mesh.check()?;
        check_points(&mesh.vertices)?;
        let mut volume = vec![0.0; mesh.vertices.len()];
        for (tet, corners) in mesh.tets.iter().enumerate() {
            corners.iter().for_each(|&c| volume[c as usize] += 0.25 * mesh.tet_volume(tet));
        }
        match volume.iter().position(|&v| v == 0.0) {
            Some(vertex) => Err(MlsError::NoMass { vertex }),
            None => Self::build(&mesh.vertices, volume, params),
        }
    }

    fn build(points: &[Vec3], volume: Vec<Real>, params: MlsParams) -> Result<Self, MlsError> {
        let rest = Rest::new(points, volume, &params)?;
        let count = points.len();
        let highest = Tangent::highest_frequency(&rest, POWER_STEPS) * POWER_MARGIN;
        Ok(Self {
            tangent: Tangent::new(&rest, params.scheme == Scheme::Implicit),
            rest,
            damping: params.damping,
            scheme: params.scheme,
            chosen: params.scheme,
            highest,
            force: vec![Vec3::ZERO; count],
            sums: RigidSums::default(),
        })
    }

    /// Volume of each phyxel [m³].
    pub fn volumes(&self) -> &[Real] {
        &self.rest.volume
    }

    /// Dimension of the span of each phyxel's neighbours: 3 inside a body, 2 in a sheet, 1 in a line.
    pub fn ranks(&self) -> &[u8] {
        &self.rest.rank
    }

    /// Deformation gradient at a phyxel; zero in directions outside the span of a flat neighbourhood.
    pub fn gradient(&self, phyxel: usize, x: &[Block]) -> Mat3 {
        self.rest.gradient(phyxel, x)
    }

    /// The largest stable step of the explicit scheme [s]: h² ω² + 2 h β ω² < 4 for symplectic Euler (v first, then x),
    /// with damping at the old v.
    fn explicit_step(&self) -> Real {
        let omega = self.highest * (0.5 * (3.0 * STRETCH * STRETCH - 1.0)).sqrt();
        4.0 / (omega * omega) / (self.damping + (self.damping * self.damping + 4.0 / (omega * omega)).sqrt())
    }
}

impl Deformable for Mls {
    fn masses(&self) -> &[Real] {
        &self.rest.mass
    }

    fn traits(&self) -> Traits {
        let implicit = self.scheme == Scheme::Implicit;
        let response = match self.scheme {
            Scheme::Explicit => Approximation::Exact,
            Scheme::Implicit => {
                Approximation::Lumped { stiffness: self.highest * self.highest, damping: self.damping, decay: 0.0 }
            }
        };
        Traits {
            response,
            stable_step: if implicit { Real::INFINITY } else { self.explicit_step() },
            step_follows_shape: false,
            implicit_form: true,
            ..Traits::default()
        }
    }

    fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        self.force.fill(Vec3::ZERO);
        match self.scheme {
            Scheme::Explicit => {
                let rate = (self.damping > 0.0).then_some((&*body.v, self.damping));
                self.rest.forces(body.x, rate, &mut self.force);
                for (v, f) in body.v.iter_mut().zip(&self.force) {
                    add(v, *f * (v[3] * ctx.h));
                }
                body.kick(ctx.h);
            }
            Scheme::Implicit => {
                self.rest.forces(body.x, None, &mut self.force);
                self.tangent.build(&self.rest, self.damping, ctx, body.x);
                self.tangent.load(&self.rest, ctx.h, &body, &self.force);
                self.sums.sum_up(&self.rest.mass, ctx.h, &body);
            }
        }
    }

    fn operator(&self) -> Option<&dyn Operator> {
        (self.scheme == Scheme::Implicit).then_some(self)
    }

    fn set_implicit(&mut self, on: bool) -> bool {
        self.scheme = if on { Scheme::Implicit } else { self.chosen };
        if on && self.tangent.is_empty() {
            self.tangent = Tangent::new(&self.rest, true);
        }
        self.scheme == Scheme::Implicit
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        (0..self.rest.mass.len()).map(|i| self.rest.energy(i, body.x)).sum()
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        self.rest.forces(body.x, None, out);
        true
    }

    fn element_stress(&self, body: BodyRef<'_>, out: &mut Vec<ElementStress>) {
        for i in 0..self.rest.mass.len() {
            let f = self.rest.gradient(i, body.x);
            let (strain, stress) = self.rest.strain_stress(i, &f);
            // det F, or the ratio of areas or lengths where the neighbours are coplanar or collinear
            let missing = Mat3::IDENTITY - self.rest.span[i];
            let size = (f.transpose() * f + missing).determinant().max(0.0).sqrt().max(Real::MIN_POSITIVE);
            let mut cauchy = f * stress * f.transpose() * (1.0 / size);
            if self.rest.rank[i] == 3 {
                let pressure = self.rest.volume_stiffness * (f.determinant() - 1.0);
                cauchy += Mat3::from_diagonal(Vec3::splat(pressure));
            }
            out.push(ElementStress {
                at: vec(body.x[i]),
                strain: Sym3::from_mat(&strain),
                stress: Sym3::from_mat(&cauchy),
            });
        }
    }
}

impl Rest {
    /// F = Σ x_ij d_jᵀ.
    #[inline]
    pub(super) fn gradient(&self, i: usize, x: &[Block]) -> Mat3 {
        // taking differences first avoids cancellation at large coordinates
        let own = vec(x[i]);
        self.phyxel(i).0.iter().fold(Mat3::ZERO, |f, p| f + outer(vec(x[p.node as usize]) - own, p.slope))
    }

    /// Green's strain and the second Piola-Kirchhoff stress (exact where it is multiplied by F or a gradient weight)
    /// [Pa].
    #[inline]
    pub(super) fn strain_stress(&self, i: usize, f: &Mat3) -> (Mat3, Mat3) {
        let strain = (f.transpose() * *f - self.span[i]) * 0.5;
        (strain, self.hooke(i, &strain))
    }

    /// 2μ ε + λ tr(ε) 1 [Pa].
    #[inline]
    pub(super) fn hooke(&self, i: usize, strain: &Mat3) -> Mat3 {
        let lambda = self.lambda[self.rank[i] as usize];
        *strain * (2.0 * self.mu) + Mat3::from_diagonal(Vec3::splat(lambda * trace(strain)))
    }

    fn energy(&self, i: usize, x: &[Block]) -> Real {
        let f = self.gradient(i, x);
        let (strain, _) = self.strain_stress(i, &f);
        let square: Real = (0..3).map(|k| strain.col(k).length_squared()).sum();
        let lambda = self.lambda[self.rank[i] as usize];
        let mut density = self.mu * square + 0.5 * lambda * trace(&strain) * trace(&strain);
        if self.rank[i] == 3 {
            let swell = f.determinant() - 1.0;
            density += 0.5 * self.volume_stiffness * swell * swell;
        }
        let held: Real = self.phyxel(i).1.iter().map(|p| p.hold * leftover(p, i, x, &f).length_squared()).sum();
        self.volume[i] * density + 0.5 * held
    }

    /// Elastic forces, and viscous ones when a rate (v, β) is given, added to `out` [N].
    pub(super) fn forces(&self, x: &[Block], rate: Option<(&[Block], Real)>, out: &mut [Vec3]) {
        for i in 0..self.mass.len() {
            let f = self.gradient(i, x);
            let (_, mut stress) = self.strain_stress(i, &f);
            let mut held = Mat3::ZERO;
            let mut factor = 1.0;
            let (pairs, holds) = self.phyxel(i);
            if let Some((v, damping)) = rate {
                // β C:Ė, and the rate of stretch of the springs
                let df = self.gradient(i, v);
                let turn = f.transpose() * df;
                stress += self.hooke(i, &((turn + turn.transpose()) * (0.5 * damping)));
                let (mut square, mut work) = (0.0, 0.0);
                for p in holds {
                    let r = leftover(p, i, x, &f);
                    square += p.hold * r.length_squared();
                    work += p.hold * r.dot(leftover(p, i, v, &df));
                }
                if square > Real::MIN_POSITIVE {
                    factor += damping * work / square;
                }
            }
            // contribution of the springs through F: r depends on it
            for p in holds {
                held += outer(leftover(p, i, x, &f) * (p.hold * factor), p.rest);
            }
            let mut pull = f * stress * self.volume[i] - held;
            if self.volume_stiffness > 0.0 && self.rank[i] == 3 {
                let pressure = self.volume_stiffness * (f.determinant() - 1.0);
                pull += cofactor(&f) * (pressure * self.volume[i]);
            }
            let mut own = Vec3::ZERO;
            for (k, p) in pairs.iter().enumerate() {
                let mut force = pull * p.slope;
                if k < holds.len() {
                    force += leftover(p, i, x, &f) * (p.hold * factor);
                }
                out[p.node as usize] -= force;
                own += force;
            }
            out[i] += own;
        }
    }
}

/// r = x_ij − F X_ij, of positions or of velocities.
#[inline]
pub(super) fn leftover(p: &super::rest::Pair, i: usize, x: &[Block], f: &Mat3) -> Vec3 {
    vec(x[p.node as usize]) - vec(x[i]) - *f * p.rest
}

/// ∂ det F / ∂F.
#[inline]
pub(super) fn cofactor(f: &Mat3) -> Mat3 {
    Mat3::from_cols(f.y_axis.cross(f.z_axis), f.z_axis.cross(f.x_axis), f.x_axis.cross(f.y_axis))
}

#[inline]
pub(super) fn trace(m: &Mat3) -> Real {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

impl MlsParams {
    fn check(&self) -> Result<(), MlsError> {
        let positive = |v: Real| v > 0.0 && v.is_finite();
        let not_negative = |v: Real| v >= 0.0 && v.is_finite();
        let checks = [
            ("youngs_modulus", self.youngs_modulus, positive(self.youngs_modulus), "positive and finite [Pa]"),
            ("poisson_ratio", self.poisson_ratio, (0.0..0.5).contains(&self.poisson_ratio), "from 0 up to below 0.5"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m³]"),
            ("damping", self.damping, not_negative(self.damping), "0 or more [s]"),
            ("support", self.support, (1.2..=6.0).contains(&self.support), "from 1.2 to 6 mean distances"),
            ("stabilization", self.stabilization, not_negative(self.stabilization), "0 or more"),
            ("volume_stiffness", self.volume_stiffness, not_negative(self.volume_stiffness), "0 or more [Pa]"),
        ];
        match checks.into_iter().find(|c| !c.2) {
            Some((name, value, _, range)) => Err(MlsError::OutOfRange { name, value, range }),
            None => Ok(()),
        }
    }
}

/// Returns an error for points that are too few, not finite or coincident.
fn check_points(points: &[Vec3]) -> Result<(), MlsError> {
    if points.len() < 2 {
        return Err(MlsError::TooFew { count: points.len() });
    }
    if let Some(point) = points.iter().position(|p| !p.is_finite()) {
        return Err(MlsError::NotFinite { point });
    }
    // sorted by position, coincident points are adjacent
    let mut order: Vec<usize> = (0..points.len()).collect();
    let key = |i: usize| points[i].to_array();
    order.sort_by(|&a, &b| {
        let (a_at, b_at) = (key(a), key(b));
        let by_place = (0..3).map(|k| (a_at[k] + 0.0).total_cmp(&(b_at[k] + 0.0))).find(|o| o.is_ne());
        by_place.unwrap_or(a.cmp(&b))
    });
    match order.windows(2).find(|w| points[w[0]] == points[w[1]]) {
        Some(w) => Err(MlsError::Coincident { point: w[0], other: w[1] }),
        None => Ok(()),
    }
}

record!(MlsParams, "meshless model", "Moving least squares.", MlsParams::default(), {
    youngs_modulus: POSITIVE, "Young's modulus [Pa].";
    poisson_ratio: POISSON, "Poisson's ratio.";
    density: POSITIVE, "Density [kg/m³].";
    damping: NOT_NEGATIVE, "Stiffness-proportional damping [s].";
    support: from_to(1.2, 6.0), "Radius of the kernel in mean distances to the ten nearest neighbours.";
    stabilization: NOT_NEGATIVE, "Stiffness against zero-energy patterns, in shear moduli.";
    volume_stiffness: NOT_NEGATIVE, "Stiffness against change of volume, beside the material's [Pa].";
    scheme: ANY, "Integration in time.";
});

words!(Scheme, {
    "explicit" => Explicit, "Forces at the start of the substep.";
    "implicit" => Implicit, "Linearly implicit Euler; any substep.";
});
