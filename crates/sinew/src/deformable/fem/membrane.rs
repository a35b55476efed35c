//! A membrane of triangles in space: plane stress, isotropic or orthotropic, Green's strain. It has no bending
//! stiffness: it resists stretch and shear in its plane only, and folds freely.
//!
//! With the material axes as coordinates of the rest plane and g_i the gradients of the shape functions there:
//!
//! ```text
//!   F = Σ x_i g_iᵀ = [f₁ f₂],   E = (E₁₁, E₂₂, γ) = ((f₁·f₁ − 1)/2, (f₂·f₂ − 1)/2, f₁·f₂),   S = D E
//!
//!             1       ⎡ E_x       E_x ν_yx          0        ⎤
//!   D = ───────────── ⎢ E_y ν_xy  E_y               0        ⎥      E_x ν_yx = E_y ν_xy
//!       1 − ν_xy ν_yx ⎣ 0         0      G (1 − ν_xy ν_yx)   ⎦
//!
//!   f_i = −t A B_iᵀ S,   K_ij = t A (B_iᵀ D B_j + (g_i·S⁺ g_j) I),   B_i = ∂E/∂x_i
//! ```
//!
//! D is FC eq. 6.1 with G outside the factor, where the publication has it inside. ν_xy follows the usual definition,
//! the contraction along y under tension along x; the μ_xy of the publication is ν_yx ([`PlaneStress::printed`]). S⁺ is
//! the tensile part of the stress: under compression a membrane buckles, and the negative part would make A indefinite.

use super::scheme::Scheme;
use super::solid::Integrator;
use crate::deformable::limit::{StabilityLimit, largest_step};
use crate::deformable::system::EulerSystem;
use crate::deformable::{BodyMut, BodyRef, Conditioning, Deformable, ElementStress, Operator, StepContext, Traits};
use crate::math::{Block, Mat3, Real, Sym3, Vec3, add, outer, vec};
use crate::model::tri_mesh::{TriMesh, TriMeshError};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, choice, from_to, record};

/// Iterations of the power method on an element's stiffness.
const POWER_STEPS: usize = 40;
/// Margin for the error of the power method in the largest eigenvalue.
const POWER_MARGIN: Real = 1.05;

/// Elastic constants of a sheet.
///
/// An example is at [`fem::MembraneParams`](crate::fem::MembraneParams).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlaneStress {
    /// The same along all directions.
    Isotropic {
        /// Young's modulus [Pa].
        youngs_modulus: Real,
        /// Poisson's ratio, above −1 and up to 0.5.
        poisson_ratio: Real,
    },
    /// Different along the grain x and across it, y.
    Orthotropic {
        /// Young's modulus along the grain [Pa].
        youngs_x: Real,
        /// Young's modulus across the grain [Pa].
        youngs_y: Real,
        /// ν_xy: contraction along y under tension along x; ν_xy² below E_x/E_y.
        poisson_xy: Real,
        /// Shear modulus G [Pa].
        shear: Real,
    },
}

impl PlaneStress {
    /// The orthotropic sheet of FC eq. 6.1 with its μ_xy as printed: the contraction along x under tension along y.
    pub fn printed(youngs_x: Real, youngs_y: Real, mu_xy: Real, shear: Real) -> Self {
        Self::Orthotropic { youngs_x, youngs_y, poisson_xy: mu_xy * youngs_x / youngs_y, shear }
    }

    /// D₁₁, D₂₂, D₁₂, D₃₃ [Pa].
    pub fn stiffness(self) -> [Real; 4] {
        let (x, y, xy, shear) = match self {
            Self::Isotropic { youngs_modulus: e, poisson_ratio: nu } => (e, e, nu, e / (2.0 * (1.0 + nu))),
            Self::Orthotropic { youngs_x, youngs_y, poisson_xy, shear } => (youngs_x, youngs_y, poisson_xy, shear),
        };
        let factor = 1.0 / (1.0 - xy * xy * y / x);
        [x * factor, y * factor, xy * y * factor, shear]
    }
}

/// Material and method of a membrane.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cotton = fem::PlaneStress::Orthotropic { youngs_x: 1e6, youngs_y: 3e5, poisson_xy: 0.2, shear: 1e5 };
/// let params = fem::MembraneParams { material: cotton, thickness: 5e-4, ..fem::MembraneParams::default() };
/// let mesh = TriMesh::sheet([4, 4], [0.4, 0.4], Diagonals::Alternating)?;
/// let mut world = World::default();
/// world.add_soft(SoftBody::new(Geometry::Sheet(mesh), SoftModel::Membrane(params)))?;
/// world.step(&Input::none());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Elastic constants.
    pub material: PlaneStress,
    /// Direction of the grain at rest, projected onto each triangle.
    pub grain: Vec3,
    /// Thickness [m].
    pub thickness: Real,
    /// Density [kg/m³].
    pub density: Real,
    /// Mass-proportional damping α [1/s].
    pub mass_damping: Real,
    /// Stiffness-proportional damping β [s].
    pub stiffness_damping: Real,
    /// Time integrator.
    pub integrator: Integrator,
}

impl Default for Params {
    /// A rubber sheet of 1 mm: 1 MPa, ν = 0.45, water's density, no damping, implicit.
    fn default() -> Self {
        Self {
            material: PlaneStress::Isotropic { youngs_modulus: 1e6, poisson_ratio: 0.45 },
            grain: Vec3::X,
            thickness: 1e-3,
            density: 1000.0,
            mass_damping: 0.0,
            stiffness_damping: 0.0,
            integrator: Integrator::Implicit,
        }
    }
}

/// Reason why a membrane is rejected.
///
/// An example is at [`fem::MembraneParams`](crate::fem::MembraneParams).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MembraneError {
    /// A number outside its range.
    #[error("{name} = {value}: must be {range}")]
    OutOfRange {
        /// Field of [`Params`].
        name: &'static str,
        /// The given value.
        value: Real,
        /// The allowed range.
        range: &'static str,
    },
    /// The grain is normal to a triangle.
    #[error("grain: triangle {triangle} is at right angles to it; choose a direction that lies along the sheet")]
    Grain {
        /// Index of the triangle.
        triangle: usize,
    },
    /// A vertex that belongs to no triangle would have no mass.
    #[error("vertex {vertex} belongs to no triangle")]
    Loose {
        /// Index of the vertex.
        vertex: usize,
    },
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Mesh(#[from] TriMeshError),
}

impl Params {
    fn check(&self) -> Result<(), MembraneError> {
        let positive = |v: Real| v > 0.0 && v.is_finite();
        let damping = |v: Real| v >= 0.0 && v.is_finite();
        let modulus = "positive and finite [Pa]";
        let mut checks = vec![
            ("thickness", self.thickness, positive(self.thickness), "positive and finite [m]"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m³]"),
            ("mass_damping", self.mass_damping, damping(self.mass_damping), "0 or more and finite [1/s]"),
            ("stiffness_damping", self.stiffness_damping, damping(self.stiffness_damping), "0 or more and finite [s]"),
        ];
        match self.material {
            PlaneStress::Isotropic { youngs_modulus: e, poisson_ratio: nu } => checks.extend([
                ("material.youngs_modulus", e, positive(e), modulus),
                ("material.poisson_ratio", nu, nu > -1.0 && nu <= 0.5, "above −1 and up to 0.5"),
            ]),
            PlaneStress::Orthotropic { youngs_x: x, youngs_y: y, poisson_xy: nu, shear } => checks.extend([
                ("material.youngs_x", x, positive(x), modulus),
                ("material.youngs_y", y, positive(y), modulus),
                ("material.poisson_xy", nu, nu * nu * y < x, "less than √(youngs_x/youngs_y) in size"),
                ("material.shear", shear, positive(shear), modulus),
            ]),
        }
        match checks.into_iter().find(|c| !c.2) {
            Some((name, value, _, range)) => Err(MembraneError::OutOfRange { name, value, range }),
            None => Ok(()),
        }
    }
}

/// A sheet of triangles.
#[derive(Clone, Debug)]
pub struct Membrane {
    rest: Rest,
    scheme: Scheme,
    /// The matrix, when the body is implicit or has been before.
    system: Option<Box<EulerSystem>>,
    /// Internal forces of an explicit body. Written by `predict`. (node_count) [N]
    forces: Vec<Vec3>,
}

/// Constants since the last edit.
#[derive(Clone, Debug)]
struct Rest {
    params: Params,
    /// D₁₁, D₂₂, D₁₂, D₃₃ of the current step, possibly softened. Written by `predict` [Pa].
    stiffness: [Real; 4],
    /// Upper bound of ω² at rest [1/s²].
    bound: Real,
    triangles: Vec<[u32; 3]>,
    /// Gradients along and across the grain. (triangle_count) [1/m]
    gradients: Vec<[[Real; 2]; 3]>,
    /// Thickness times area. (triangle_count) [m³]
    volumes: Vec<Real>,
    /// Lumped masses. (node_count) [kg]
    masses: Vec<Real>,
    /// Highest ω² of each triangle in isolation at rest; empty when chosen implicit. (triangle_count) [1/s²]
    highest: Vec<Real>,
}

/// A triangle in the current configuration: columns of F, strain, stress.
struct Stretched {
    f: [Vec3; 2],
    strain: [Real; 3],
    /// S₁₁, S₂₂, S₁₂ [Pa].
    stress: [Real; 3],
}

impl Membrane {
    /// A sheet from a mesh and a material, at rest in the mesh's shape, which need not be flat.
    pub fn new(mesh: &TriMesh, params: Params) -> Result<Self, MembraneError> {
        params.check()?;
        mesh.check()?;
        let mut rest = Rest::new(mesh, params)?;
        let (scheme, system) = match params.integrator {
            Integrator::Implicit => (Scheme::Implicit, Some(rest.system())),
            Integrator::Explicit => {
                rest.highest = rest.frequencies(mesh);
                (Scheme::Explicit { stable: rest.stable_step(|_| 1.0), on_request: false }, None)
            }
        };
        let forces = vec![Vec3::ZERO; if system.is_none() { rest.masses.len() } else { 0 }];
        Ok(Self { rest, scheme, system, forces })
    }
}

impl Deformable for Membrane {
    fn masses(&self) -> &[Real] {
        &self.rest.masses
    }

    fn traits(&self) -> Traits {
        let Rest { params, bound, .. } = &self.rest;
        let (stiffness, damping) = (*bound, params.stiffness_damping);
        let implicit = self.scheme.is_implicit();
        Traits {
            response: self.scheme.response([stiffness, damping, params.mass_damping]),
            stable_step: self.scheme.stable_step(),
            implicit_form: true,
            conditioning: implicit.then_some(Conditioning { stiffness, damping, shear: 1.0 }),
            ..Traits::default()
        }
    }

    fn stable_step_at(&mut self, body: BodyRef<'_>) -> Real {
        if self.scheme.is_implicit() {
            return Real::INFINITY;
        }
        self.rest.stiffness = self.rest.params.material.stiffness();
        self.rest.stable_step(|triangle| self.rest.growth(&self.rest.stretched(triangle, body.x)))
    }

    fn set_implicit(&mut self, on: bool) -> bool {
        self.scheme.lend(on);
        if on && self.system.is_none() {
            self.system = Some(self.rest.system());
        }
        self.scheme.is_implicit()
    }

    fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        let share = if ctx.resolve { self.traits().softening(ctx.h) } else { 1.0 };
        let Self { rest, scheme, system, forces } = self;
        rest.stiffness = rest.params.material.stiffness().map(|d| d * share);
        match system {
            Some(system) if scheme.is_implicit() => {
                system.begin(ctx, &rest.masses, rest.params.mass_damping, &body);
                rest.assemble(ctx, body.x, system);
            }
            _ => {
                forces.fill(Vec3::ZERO);
                rest.pull(body.read(), Some(StabilityLimit::explicit(ctx.h, rest.params.stiffness_damping)), forces);
                // before the forces: rows act on the plain mass and carry all of the weight
                let kept = 1.0 / (1.0 + ctx.h * rest.params.mass_damping);
                for v in body.v.iter_mut().filter(|v| kept < 1.0 && v[3] > 0.0) {
                    *v = [v[0] * kept, v[1] * kept, v[2] * kept, v[3]];
                }
                body.kick(ctx.h);
                for (v, f) in body.v.iter_mut().zip(forces.iter()).filter(|(v, _)| v[3] > 0.0) {
                    add(v, *f * (v[3] * ctx.h));
                }
            }
        }
    }

    fn operator(&self) -> Option<&dyn Operator> {
        let system = self.system.as_ref().filter(|_| self.scheme.is_implicit());
        system.map(|s| &**s as &dyn Operator)
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let energy = |t: usize| {
            let Stretched { strain: e, stress: s, .. } = self.rest.stretched(t, body.x);
            0.5 * self.rest.volumes[t] * (e[0] * s[0] + e[1] * s[1] + e[2] * s[2])
        };
        (0..self.rest.triangles.len()).map(energy).sum()
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        self.rest.pull(body, None, out);
        true
    }

    fn element_stress(&self, body: BodyRef<'_>, out: &mut Vec<ElementStress>) {
        for (triangle, corners) in self.rest.triangles.iter().enumerate() {
            let Stretched { f: [a, b], strain: e, stress: s } = self.rest.stretched(triangle, body.x);
            let pull = outer(a, a) * s[0] + outer(b, b) * s[1] + (outer(a, b) + outer(b, a)) * s[2];
            let area = a.cross(b).length().max(Real::MIN_POSITIVE);
            out.push(ElementStress {
                at: corners.iter().fold(Vec3::ZERO, |sum, &n| sum + vec(body.x[n as usize])) / 3.0,
                strain: Sym3 { xx: e[0], yy: e[1], xy: 0.5 * e[2], ..Sym3::ZERO },
                stress: Sym3::from_mat(&(pull * (1.0 / area))),
            });
        }
    }
}

impl Rest {
    /// Allocates A and b.
    fn system(&self) -> Box<EulerSystem> {
        let indices: Vec<u32> = self.triangles.iter().flatten().copied().collect();
        Box::new(EulerSystem::new(&self.masses, indices.chunks_exact(3), false))
    }

    fn new(mesh: &TriMesh, params: Params) -> Result<Self, MembraneError> {
        let mut rest = Self {
            params,
            stiffness: params.material.stiffness(),
            bound: 0.0,
            triangles: mesh.triangles.clone(),
            gradients: Vec::with_capacity(mesh.triangles.len()),
            volumes: Vec::with_capacity(mesh.triangles.len()),
            masses: vec![0.0; mesh.vertices.len()],
            highest: Vec::new(),
        };
        for (triangle, corners) in mesh.triangles.iter().enumerate() {
            // axes of the rest plane: the grain projected, and across it
            let [a, b, c] = mesh.corners(triangle);
            let normal = (b - a).cross(c - a).normalize();
            let along = params.grain - normal * params.grain.dot(normal);
            if !(along.length() > 1e-3 * params.grain.length()) {
                return Err(MembraneError::Grain { triangle });
            }
            let along = along.normalize();
            let across = normal.cross(along);
            // ∇φ of a corner: the opposite edge rotated by 90°, over twice the area
            let twice = 2.0 * mesh.area(triangle);
            let gradient = |edge: Vec3| {
                let g = normal.cross(edge) / twice;
                [g.dot(along), g.dot(across)]
            };
            rest.gradients.push([gradient(c - b), gradient(a - c), gradient(b - a)]);
            let volume = params.thickness * mesh.area(triangle);
            rest.volumes.push(volume);
            // (D₁₁ + 2 G) Σ g² V over the third of the mass at a corner
            let squares: Real = rest.gradients[triangle].iter().flatten().map(|g| g * g).sum();
            let [d11, d22, _, d33] = rest.stiffness;
            rest.bound = rest.bound.max((d11.max(d22) + 2.0 * d33) * squares * 3.0 / params.density);
            for &node in corners {
                rest.masses[node as usize] += params.density * volume / 3.0;
            }
        }
        match rest.masses.iter().position(|m| !(*m > 0.0)) {
            Some(vertex) => Err(MembraneError::Loose { vertex }),
            None => Ok(rest),
        }
    }

    fn stretched(&self, triangle: usize, x: &[Block]) -> Stretched {
        let g = &self.gradients[triangle];
        let [a, b, c] = self.triangles[triangle].map(|n| vec(x[n as usize]));
        let column = |k: usize| (b - a) * g[1][k] + (c - a) * g[2][k];
        let f = [column(0), column(1)];
        let strain = [0.5 * (f[0].length_squared() - 1.0), 0.5 * (f[1].length_squared() - 1.0), f[0].dot(f[1])];
        Stretched { f, strain, stress: self.hooke(strain) }
    }

    /// D times a strain.
    fn hooke(&self, e: [Real; 3]) -> [Real; 3] {
        let [d11, d22, d12, d33] = self.stiffness;
        [d11 * e[0] + d12 * e[1], d12 * e[0] + d22 * e[1], d33 * e[2]]
    }

    /// K_ij of a triangle, positive semidefinite as a 9×9 matrix [N/m].
    fn blocks(&self, triangle: usize, s: &Stretched) -> [[Mat3; 3]; 3] {
        let g = &self.gradients[triangle];
        let volume = self.volumes[triangle];
        let [p, q, r] = pulling(s.stress);
        // rows of ∂E/∂x_i
        let slopes = g.map(|[u, v]| [s.f[0] * u, s.f[1] * v, s.f[1] * u + s.f[0] * v]);
        let [d11, d22, d12, d33] = self.stiffness;
        std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let (a, b) = (&slopes[i], &slopes[j]);
                let stretch = outer(a[0], b[0]) * d11 + outer(a[1], b[1]) * d22;
                let mixed = (outer(a[0], b[1]) + outer(a[1], b[0])) * d12 + outer(a[2], b[2]) * d33;
                let [[u, v], [w, z]] = [g[i], g[j]];
                let tension = p * u * w + q * v * z + r * (u * z + v * w);
                (stretch + mixed + Mat3::from_diagonal(Vec3::splat(tension))) * volume
            })
        })
    }

    /// Adds elastic forces to `out` [N]; with a stability limit also −β K v, and limited to what the step can
    /// integrate.
    fn pull(&self, body: BodyRef<'_>, room: Option<StabilityLimit>, out: &mut [Vec3]) {
        let damping = self.params.stiffness_damping;
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let s = self.stretched(triangle, body.x);
            let share = room.map_or(1.0, |room| room.share(self.highest[triangle], self.growth(&s)));
            for (corner, force) in self.corner_forces(triangle, &s).into_iter().enumerate() {
                out[corners[corner] as usize] += force * share;
            }
            if room.is_some() && damping > 0.0 {
                let blocks = self.blocks(triangle, &s);
                for i in 0..3 {
                    for j in 0..3 {
                        let rate = vec(body.v[corners[j] as usize]);
                        out[corners[i] as usize] -= blocks[i][j] * rate * (damping * share);
                    }
                }
            }
        }
    }

    /// Ratio of the stiffness to that at rest: Bᵀ D B grows with the square of the largest stretch, the tension
    /// contributes S⁺ over D.
    fn growth(&self, s: &Stretched) -> Real {
        let [a, b, half] = [s.f[0].length_squared(), s.f[1].length_squared(), s.f[0].dot(s.f[1])];
        let stretch = largest(a, b, half);
        let tension = largest(s.stress[0], s.stress[1], s.stress[2]).max(0.0);
        stretch + tension / self.stiffness[0].min(self.stiffness[1])
    }

    /// −t A B_iᵀ S [N].
    fn corner_forces(&self, triangle: usize, s: &Stretched) -> [Vec3; 3] {
        let [p, q, r] = s.stress;
        let (a, b) = (s.f[0] * p + s.f[1] * r, s.f[0] * r + s.f[1] * q);
        self.gradients[triangle].map(|[u, v]| (a * u + b * v) * -self.volumes[triangle])
    }

    /// h f into b and, in the first substep, h (h + β) K into A.
    fn assemble(&self, ctx: &StepContext<'_>, x: &[Block], system: &mut EulerSystem) {
        let factor = ctx.h * (ctx.h + self.params.stiffness_damping);
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let s = self.stretched(triangle, x);
            for (corner, force) in self.corner_forces(triangle, &s).into_iter().enumerate() {
                add(&mut system.load[corners[corner] as usize], force * ctx.h);
            }
            if ctx.substep == 0 {
                let blocks = self.blocks(triangle, &s);
                for i in 0..3 {
                    for j in i..3 {
                        system.add_block(triangle, i, j, blocks[i][j] * factor);
                    }
                }
            }
        }
    }

    /// Largest step of symplectic Euler for triangles with this ratio of stiffness to that at rest.
    fn stable_step(&self, growth: impl Fn(usize) -> Real) -> Real {
        let top = self.highest.iter().enumerate().map(|(triangle, square)| square * growth(triangle));
        largest_step(top.fold(0.0, Real::max), self.params.stiffness_damping)
    }

    /// Highest ω² of each triangle in isolation at rest.
    fn frequencies(&self, mesh: &TriMesh) -> Vec<Real> {
        let x: Vec<Block> = mesh.vertices.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect();
        let of = |triangle: usize| {
            let blocks = self.blocks(triangle, &self.stretched(triangle, &x));
            let mass = self.params.density * self.volumes[triangle] / 3.0;
            let mut mode = [Vec3::new(1.0, 0.3, -0.5), Vec3::new(-0.4, 1.0, 0.2), Vec3::new(0.1, -0.8, 1.0)];
            let mut growth = 0.0;
            for _ in 0..POWER_STEPS {
                let next = blocks.map(|row| (row[0] * mode[0] + row[1] * mode[1] + row[2] * mode[2]) / mass);
                growth = next.iter().map(|u| u.length_squared()).sum::<Real>().sqrt();
                mode = next.map(|u| u / growth);
            }
            growth * POWER_MARGIN
        };
        (0..self.triangles.len()).map(of).collect()
    }
}

/// The larger eigenvalue of (a c; c b).
fn largest(a: Real, b: Real, c: Real) -> Real {
    let half = 0.5 * (a - b);
    0.5 * (a + b) + (half * half + c * c).sqrt()
}

/// Projection of a plane stress (S₁₁, S₂₂, S₁₂) onto non-negative eigenvalues.
fn pulling([p, q, r]: [Real; 3]) -> [Real; 3] {
    let (middle, half) = (0.5 * (p + q), 0.5 * (p - q));
    let radius = (half * half + r * r).sqrt();
    let (high, low) = ((middle + radius).max(0.0), (middle - radius).max(0.0));
    if !(radius > 0.0) {
        return [high, high, 0.0];
    }
    // mean of the two, and half their difference along the same axes
    let (mean, part) = (0.5 * (high + low), 0.5 * (high - low) / radius);
    [mean + part * half, mean - part * half, part * r]
}

record!(Params, "membrane model", "Plane-stress triangles.", Params::default(), {
    material: ANY, "Elastic constants.";
    grain: FINITE, "Direction of the grain at rest.";
    thickness: POSITIVE, "Thickness [m].";
    density: POSITIVE, "Density [kg/m³].";
    mass_damping: NOT_NEGATIVE, "Mass-proportional damping [1/s].";
    stiffness_damping: NOT_NEGATIVE, "Stiffness-proportional damping [s].";
    integrator: ANY, "Time integration.";
});

choice!(PlaneStress, "plane stress", "Elastic constants of a sheet.", {
    "isotropic" => Isotropic, "The same along all directions.", {
        youngs_modulus youngs_modulus: Real, POSITIVE, "Young's modulus [Pa].";
        poisson_ratio poisson_ratio: Real, from_to(-1.0, 0.5), "Poisson's ratio.";
    };
    "orthotropic" => Orthotropic, "Other along the grain x than across it, y.", {
        youngs_x youngs_x: Real, POSITIVE, "Young's modulus along the grain [Pa].";
        youngs_y youngs_y: Real, POSITIVE, "Young's modulus across the grain [Pa].";
        poisson_xy poisson_xy: Real, FINITE, "Contraction along y under a pull along x.";
        shear shear: Real, POSITIVE, "Shear modulus [Pa].";
    };
});
