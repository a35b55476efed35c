//! A solid of tetrahedra: any law, four or ten nodes, implicit or explicit.
//!
//! At each quadrature point with weight w and rest gradients G_i (of the plastically relaxed shape, see `plastic.rs`):
//!
//! ```text
//!   F = Σ x_i G_iᵀ,   f_i = −w P(F) G_i,   K_ij = w G_i · ∂P/∂F · G_j
//! ```
//!
//! Implicit: one Newton step of backward Euler per substep (`system/mod.rs`). Explicit: v ← v + h M⁻¹
//! (f − β K v + f_ext), then x ← x + h v (symplectic Euler), stable up to `stable_step`.
//!
//! Averaged elements (Bonet and Burton 1998 for the nodal volume; here for any law's dilatation θ): the energy U(θ) is
//! not evaluated with each element's θ but at the corners, with the mean over the adjacent elements,
//!
//! ```text
//!   Σ_a V_a U(θ_a),   V_a θ_a = Σ_points w φ_a θ(F),   V_a = Σ_points w φ_a
//! ```
//!
//! It is an energy, so that forces are conservative and the tangent is symmetric; a uniform strain equals its average,
//! so that the patch test is passed. The shear part stays in the elements and suppresses oscillations of the averaged
//! pressure.

use super::element::{ElementMesh, Elements, Face, MOST_NODES, gradient_of};
use super::law::{Elastic, Law, Strained, green, symmetric};
use super::plastic::{MEMORY, Plasticity, flow, unload};
use super::scheme::Scheme;
use crate::deformable::limit::{StabilityLimit, is_held, largest_step, shear_share};
use crate::deformable::system::EulerSystem;
use crate::deformable::{BodyMut, BodyRef, Conditioning, Deformable, ElementStress, Operator, StepContext, Traits};
use crate::math::{Block, Mat3, Real, Sym3, Vec3, add, outer, polar_rotation, vec};
use crate::model::tet_mesh::{TetMesh, TetMeshError};
use sinew_spec::{ANY, NOT_NEGATIVE, POISSON, POSITIVE, record, words};

/// Iterations of the power method on an element's stiffness.
const POWER_STEPS: usize = 40;
/// Margin for the error of the power method in the largest eigenvalue.
const POWER_MARGIN: Real = 1.05;
/// Lower bound of the volume ratio by which a stress is divided in output.
const LEAST_VOLUME: Real = 1e-3;

/// Time integrator of a body.
///
/// An example is at [`fem::SolidParams`](crate::fem::SolidParams).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Linearly implicit Euler: stable for any step, damps frequencies that the step does not resolve.
    Implicit,
    /// Symplectic Euler: conserves energy, needs steps below `stable_step`.
    Explicit,
}

/// Material and method of a solid.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let params = fem::SolidParams {
///     law: fem::Law::NeoHookean,
///     elements: fem::Elements::Tet10,
///     plasticity: Some(fem::Plasticity { yield_stress: 5e3, creep: 10.0, max_strain: 0.3 }),
///     ..fem::SolidParams::default()
/// };
/// let model = SoftModel::Solid(params);
/// let mut world = World::default();
/// let body = world.add_soft(SoftBody::new(Geometry::Tets(block), model).pin_region([-1.0, 0.049, -1.0], [1.0, 1.0, 1.0]))?;
/// for _ in 0..5 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(body)?.node_positions().iter().all(|x| x.is_finite()));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Young's modulus [Pa].
    pub youngs_modulus: Real,
    /// Poisson's ratio, from 0 up to below 0.5. From 0.45 on choose averaged elements.
    pub poisson_ratio: Real,
    /// Density [kg/m³].
    pub density: Real,
    /// Mass-proportional damping α [1/s]: damps all motion, including rigid motion.
    pub mass_damping: Real,
    /// Stiffness-proportional damping β [s]: damps deformation only.
    pub stiffness_damping: Real,
    /// Constitutive law.
    pub law: Law,
    /// Element type.
    pub elements: Elements,
    /// Time integrator.
    pub integrator: Integrator,
    /// Yield and creep; none: elastic.
    pub plasticity: Option<Plasticity>,
}

impl Default for Params {
    /// Firm rubber-like tissue: 0.1 MPa, ν = 0.3, water's density, no damping, corotational Tet4, implicit, elastic.
    fn default() -> Self {
        Self {
            youngs_modulus: 1e5,
            poisson_ratio: 0.3,
            density: 1000.0,
            mass_damping: 0.0,
            stiffness_damping: 0.0,
            law: Law::Corotational,
            elements: Elements::Tet4,
            integrator: Integrator::Implicit,
            plasticity: None,
        }
    }
}

/// Reason why a solid is rejected.
///
/// An example is at [`fem::SolidParams`](crate::fem::SolidParams).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolidError {
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
    /// Plastic flow needs a law that separates rotation from strain.
    #[error("plasticity: the linear law cannot flow, choose another law")]
    LinearPlasticity,
    /// A vertex that belongs to no tetrahedron would have no mass.
    #[error("vertex {vertex} belongs to no tetrahedron")]
    Loose {
        /// Index of the vertex.
        vertex: usize,
    },
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Mesh(#[from] TetMeshError),
}

impl Params {
    fn check(&self) -> Result<(), SolidError> {
        let positive = |v: Real| v > 0.0 && v.is_finite();
        let damping = |v: Real| v >= 0.0 && v.is_finite();
        let (nu, alpha, beta) = (self.poisson_ratio, self.mass_damping, self.stiffness_damping);
        let mut checks = vec![
            ("youngs_modulus", self.youngs_modulus, positive(self.youngs_modulus), "positive and finite [Pa]"),
            ("poisson_ratio", nu, (0.0..0.5).contains(&nu), "from 0 up to below 0.5"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m³]"),
            ("mass_damping", alpha, damping(alpha), "0 or more and finite [1/s]"),
            ("stiffness_damping", beta, damping(beta), "0 or more and finite [s]"),
        ];
        if let Some(p) = self.plasticity {
            checks.extend([
                ("plasticity.yield_stress", p.yield_stress, damping(p.yield_stress), "0 or more and finite [Pa]"),
                ("plasticity.creep", p.creep, p.creep > 0.0, "positive, or infinite [1/s]"),
                ("plasticity.max_strain", p.max_strain, p.max_strain > 0.0, "positive, or infinite"),
            ]);
            if self.law == Law::Linear {
                return Err(SolidError::LinearPlasticity);
            }
        }
        match checks.into_iter().find(|c| !c.2) {
            Some((name, value, _, range)) => Err(SolidError::OutOfRange { name, value, range }),
            None => Ok(()),
        }
    }
}

/// A body of tetrahedra.
#[derive(Clone, Debug)]
pub struct Solid {
    rest: Rest,
    scheme: Scheme,
    /// The matrix, when the body is implicit or has been before.
    system: Option<Box<EulerSystem>>,
    /// Internal forces of an explicit body. Written by `predict`. (node_count) [N]
    forces: Vec<Vec3>,
    /// U'(θ_a) and U''(θ_a) at nodes when averaged, else empty. Written by `predict`. (node_count) [Pa]
    pressures: Vec<[Real; 2]>,
    /// True when pinned nodes suppress its rigid motions. Written by `refresh`.
    held: bool,
}

/// Constants since the last edit.
#[derive(Clone, Debug)]
struct Rest {
    mesh: ElementMesh,
    /// Constants of the current step, possibly softened. Written by `predict`.
    elastic: Elastic,
    /// Constants of the parameters.
    given: Elastic,
    params: Params,
    /// Lumped masses. (node_count) [kg]
    masses: Vec<Real>,
    /// V_a; empty when not averaged. (node_count) [m³]
    patches: Vec<Real>,
    /// Highest ω² of each element in isolation at rest; empty when chosen implicit. (element_count) [1/s²]
    highest: Vec<Real>,
    /// Upper bound of ω² at rest [1/s²].
    bound: Real,
}

/// A quadrature point in the current configuration.
struct Point {
    gradients: [Vec3; MOST_NODES],
    strained: Strained,
}

impl Solid {
    /// A body from a mesh and a material, at rest in the mesh's shape. Ten-node elements add a node at the middle of
    /// each edge: [`Solid::nodes`] returns their positions.
    pub fn new(mesh: &TetMesh, params: Params) -> Result<Self, SolidError> {
        params.check()?;
        mesh.check()?;
        let elements = ElementMesh::new(mesh, params.elements);
        let masses: Vec<Real> = elements.volumes().into_iter().map(|v| v * params.density).collect();
        if let Some(vertex) = masses.iter().position(|m| !(*m > 0.0)) {
            return Err(SolidError::Loose { vertex });
        }
        let averaged = params.elements.averaged();
        let elastic = Elastic::new(params.law, params.youngs_modulus, params.poisson_ratio);
        let bound = elements.stiffness_bound() * (elastic.lambda + 2.0 * elastic.mu) / params.density;
        let (patches, highest) = (Vec::new(), Vec::new());
        let mut rest = Rest { mesh: elements, elastic, given: elastic, params, masses, patches, highest, bound };
        if averaged {
            rest.patches = rest.averages(|_, _| 1.0).into_iter().map(|[sum, _]| sum).collect();
        }
        let (scheme, system) = match params.integrator {
            Integrator::Implicit => (Scheme::Implicit, Some(rest.system())),
            Integrator::Explicit => {
                rest.highest = rest.frequencies();
                (Scheme::Explicit { stable: rest.stable_step(|_| 1.0), on_request: false }, None)
            }
        };
        let forces = vec![Vec3::ZERO; if system.is_none() { rest.masses.len() } else { 0 }];
        let pressures = vec![[0.0; 2]; rest.patches.len()];
        Ok(Self { rest, scheme, system, forces, pressures, held: false })
    }

    /// Nodes at rest: the mesh's vertices, then the midpoints of its edges for ten-node elements [m].
    pub fn nodes(&self) -> &[Vec3] {
        &self.rest.mesh.nodes
    }

    /// Faces of the boundary, oriented outward: the faces on which pressure acts.
    pub fn faces(&self) -> &[Face] {
        &self.rest.mesh.faces
    }
}

impl Deformable for Solid {
    fn masses(&self) -> &[Real] {
        &self.rest.masses
    }

    fn traits(&self) -> Traits {
        let Rest { params, given, bound, mesh, .. } = &self.rest;
        let (stiffness, damping) = (*bound, params.stiffness_damping);
        let implicit = self.scheme.is_implicit();
        Traits {
            internal_state_count: params.plasticity.map_or(0, |_| MEMORY * mesh.element_count() * mesh.point_count),
            response: self.scheme.response([stiffness, damping, params.mass_damping]),
            stable_step: self.scheme.stable_step(),
            implicit_form: true,
            conditioning: (implicit && !self.held).then(|| Conditioning {
                stiffness,
                damping,
                shear: shear_share([2.0 * given.mu, given.lambda]),
            }),
            ..Traits::default()
        }
    }

    fn stable_step_at(&mut self, body: BodyRef<'_>) -> Real {
        if self.scheme.is_implicit() {
            return Real::INFINITY;
        }
        let Self { rest, pressures, .. } = self;
        rest.elastic = rest.given;
        rest.pressures(body.x, body.internal_state, pressures);
        rest.stable_step(|element| {
            let points = 0..rest.mesh.point_count;
            points.map(|point| rest.growth(element, point, body, pressures)).fold(1.0, Real::max)
        })
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
        let Self { rest, scheme, system, forces, pressures, .. } = self;
        rest.elastic = rest.given.softened(share);
        if let Some(system) = system.as_mut().filter(|_| scheme.is_implicit()) {
            let factor = ctx.h * (ctx.h + rest.params.stiffness_damping);
            system.prepare(ctx, factor, &rest.masses, &body, |x, system| {
                // without plastic deformation
                rest.pressures(x, &[], pressures);
                rest.assemble(ctx, BodyRef { x, internal_state: &[], ..body.read() }, pressures, system);
            });
        }
        rest.pressures(body.x, body.internal_state, pressures);
        match system {
            Some(system) if scheme.is_implicit() => {
                system.begin(ctx, &rest.masses, rest.params.mass_damping, &body);
                rest.assemble(ctx, body.read(), pressures, system);
            }
            _ => {
                forces.fill(Vec3::ZERO);
                let room = StabilityLimit::explicit(ctx.h, rest.params.stiffness_damping);
                rest.pull(body.read(), pressures, Some(room), forces);
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

    fn advance(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        for (x, v) in body.x.iter_mut().zip(body.v.iter()) {
            add(x, vec(*v) * ctx.h);
        }
        let Some(plasticity) = self.rest.params.plasticity else { return };
        let mesh = &self.rest.mesh;
        let points = (0..mesh.element_count()).flat_map(|e| (0..mesh.point_count).map(move |q| (e, q)));
        for ((element, point), memory) in points.zip(body.internal_state.chunks_exact_mut(MEMORY)) {
            let f = gradient_of(mesh.nodes_of(element), mesh.gradients(element, point), body.x);
            flow(&plasticity, self.rest.elastic.mu, ctx.h, &f, memory);
        }
    }

    fn refresh(&mut self, body: BodyRef<'_>) {
        self.held = is_held(body);
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let rest = &self.rest;
        let mut energy = 0.0;
        for element in 0..rest.mesh.element_count() {
            for point in 0..rest.mesh.point_count {
                let s = rest.point(element, point, body.x, body.internal_state).strained;
                let bulk = if rest.patches.is_empty() { rest.elastic.bulk(s.theta)[0] } else { 0.0 };
                energy += rest.mesh.weight(element) * (rest.elastic.shear_energy(&s) + bulk);
            }
        }
        if !rest.patches.is_empty() {
            let averages = rest.averages(|e, q| rest.point(e, q, body.x, body.internal_state).strained.theta);
            let patches = rest.patches.iter().zip(averages).filter(|(v, _)| **v > 0.0);
            energy += patches.map(|(v, [sum, _])| v * rest.elastic.bulk(sum / v)[0]).sum::<Real>();
        }
        energy
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        let mut pressures = vec![[0.0; 2]; self.rest.patches.len()];
        self.rest.pressures(body.x, body.internal_state, &mut pressures);
        self.rest.pull(body, &pressures, None, out);
        true
    }

    fn element_stress(&self, body: BodyRef<'_>, out: &mut Vec<ElementStress>) {
        let mut pressures = vec![[0.0; 2]; self.rest.patches.len()];
        self.rest.pressures(body.x, body.internal_state, &mut pressures);
        out.extend((0..self.rest.mesh.element_count()).map(|e| self.rest.element_stress(e, body, &pressures)));
    }
}

impl Rest {
    /// Allocates A and b.
    fn system(&self) -> Box<EulerSystem> {
        let (mesh, averaged) = (&self.mesh, self.params.elements.averaged());
        let system = EulerSystem::new(&self.masses, mesh.indices().chunks_exact(mesh.node_count), averaged);
        Box::new(system.with_smooth(&mesh.nodes, &mesh.corner_tets(), self.stiffness_a_mass()))
    }

    /// Mean of K_ii/m [1/s²], a third of the trace of K_ii = Σ w (λ g gᵀ + μ g gᵀ + μ g² I).
    fn stiffness_a_mass(&self) -> Real {
        let squares = |element: usize, point: usize| -> Real {
            self.mesh.gradients(element, point).iter().map(|g| g.length_squared()).sum()
        };
        let of = |element: usize| -> Real {
            let points = (0..self.mesh.point_count).map(|point| squares(element, point));
            self.mesh.weight(element) * points.sum::<Real>()
        };
        let sum: Real = (0..self.mesh.element_count()).map(of).sum();
        sum * (self.given.lambda + 4.0 * self.given.mu) / (3.0 * self.masses.iter().sum::<Real>())
    }

    /// A point at x: gradients of the plastically relaxed shape and F. With an empty `internal_state` there is no plastic
    /// deformation.
    fn point(&self, element: usize, point: usize, x: &[Block], internal_state: &[Real]) -> Point {
        let nodes = self.mesh.nodes_of(element);
        let mut gradients = [Vec3::ZERO; MOST_NODES];
        gradients[..nodes.len()].copy_from_slice(self.mesh.gradients(element, point));
        if self.params.plasticity.is_some() && !internal_state.is_empty() {
            let at = (element * self.mesh.point_count + point) * MEMORY;
            let back = unload(&internal_state[at..at + MEMORY]).transpose();
            for g in &mut gradients[..nodes.len()] {
                *g = back * *g;
            }
        }
        let strained = self.elastic.look(gradient_of(nodes, &gradients[..nodes.len()], x));
        Point { gradients, strained }
    }

    /// Σ_points w φ_a value(element, point) at each node; the second number is zero, space for the caller.
    fn averages(&self, value: impl Fn(usize, usize) -> Real) -> Vec<[Real; 2]> {
        let mut sums = vec![[0.0; 2]; self.masses.len()];
        self.average_into(value, &mut sums);
        sums
    }

    fn average_into(&self, value: impl Fn(usize, usize) -> Real, sums: &mut [[Real; 2]]) {
        sums.fill([0.0; 2]);
        for element in 0..self.mesh.element_count() {
            for point in 0..self.mesh.point_count {
                let part = self.mesh.weight(element) * value(element, point);
                for (&node, share) in self.mesh.nodes_of(element).iter().zip(self.mesh.shares(point)) {
                    sums[node as usize][0] += part * share;
                }
            }
        }
    }

    /// U'(θ_a) and U''(θ_a) at the corners; nothing when not averaged.
    fn pressures(&self, x: &[Block], internal_state: &[Real], out: &mut [[Real; 2]]) {
        if self.patches.is_empty() {
            return;
        }
        self.average_into(|e, q| self.point(e, q, x, internal_state).strained.theta, out);
        for (p, patch) in out.iter_mut().zip(&self.patches).filter(|(_, v)| **v > 0.0) {
            let [_, slope, bend] = self.elastic.bulk(p[0] / patch);
            *p = [slope, bend];
        }
    }

    /// Pressure and bulk stiffness at an element's point: its own, or the average over its corners; in the averaged
    /// case the bulk stiffness is not part of the element (zero).
    fn bulk(&self, element: usize, point: usize, s: &Strained, pressures: &[[Real; 2]]) -> [Real; 2] {
        if pressures.is_empty() {
            let [_, p, k] = self.elastic.bulk(s.theta);
            return [p, k];
        }
        let corners = self.mesh.nodes_of(element).iter().zip(self.mesh.shares(point));
        [corners.map(|(&node, share)| share * pressures[node as usize][0]).sum(), 0.0]
    }

    /// Adds elastic forces to `out` [N]; with a stability limit also −β K v, and limited to what the step can
    /// integrate. Damping uses each element's own bulk stiffness, also when averaged: it remains symmetric and
    /// dissipative.
    fn pull(&self, body: BodyRef<'_>, pressures: &[[Real; 2]], room: Option<StabilityLimit>, out: &mut [Vec3]) {
        let beta = self.params.stiffness_damping;
        for element in 0..self.mesh.element_count() {
            let nodes = self.mesh.nodes_of(element);
            for point in 0..self.mesh.point_count {
                let Point { gradients, strained } = self.point(element, point, body.x, body.internal_state);
                let [p, _] = self.bulk(element, point, &strained, pressures);
                let mut stress = self.elastic.stress(&strained, p);
                if room.is_some() && beta > 0.0 {
                    let rate = gradient_of(nodes, &gradients[..nodes.len()], body.v);
                    let stiffness = self.elastic.bulk(strained.theta)[2];
                    let tangent = self.elastic.tangent(&strained.f, p, stiffness).without_twist();
                    stress += tangent.apply(&rate) * beta;
                }
                if let Some(room) = room {
                    let stiffness = self.elastic.bulk(strained.theta)[2];
                    stress *= room.share(self.highest[element], self.elastic.growth(&strained, p, stiffness));
                }
                for (&node, g) in nodes.iter().zip(gradients) {
                    out[node as usize] -= stress * g * self.mesh.weight(element);
                }
            }
        }
    }

    /// h f into b and, in the first substep, h (h + β) K into A.
    fn assemble(&self, ctx: &StepContext<'_>, body: BodyRef<'_>, pressures: &[[Real; 2]], system: &mut EulerSystem) {
        let factor = ctx.h * (ctx.h + self.params.stiffness_damping);
        let room = StabilityLimit::implicit(ctx, self.params.stiffness_damping);
        let bound =
            self.bound * (self.elastic.lambda + 2.0 * self.elastic.mu) / (self.given.lambda + 2.0 * self.given.mu);
        let mut stiffness = [[Mat3::ZERO; MOST_NODES]; MOST_NODES];
        for element in 0..self.mesh.element_count() {
            let nodes = self.mesh.nodes_of(element);
            let count = nodes.len();
            let weight = self.mesh.weight(element);
            for point in 0..self.mesh.point_count {
                let Point { mut gradients, strained } = self.point(element, point, body.x, body.internal_state);
                let [p, k] = self.bulk(element, point, &strained, pressures);
                // crushed beyond the precision of a real
                let weight = weight * room.share(bound, self.elastic.growth(&strained, p, k));
                let stress = self.elastic.stress(&strained, p) * (-weight * ctx.h);
                for (&node, g) in nodes.iter().zip(gradients) {
                    add(&mut system.load[node as usize], stress * g);
                }
                if ctx.substep > 0 {
                    continue;
                }
                if !pressures.is_empty() {
                    self.spread(element, point, &strained, &gradients, system);
                }
                let tangent = self.elastic.tangent(&strained.f, p, k);
                for g in &mut gradients[..count] {
                    *g = tangent.turned(*g);
                }
                for i in 0..count {
                    for j in i..count {
                        stiffness[i][j] += tangent.block(gradients[i], gradients[j]) * (factor * weight);
                    }
                }
            }
            // blocks are accumulated per element and added to the matrix once, not once per point
            for i in 0..if ctx.substep == 0 { count } else { 0 } {
                for j in i..count {
                    system.add_block(element, i, j, std::mem::replace(&mut stiffness[i][j], Mat3::ZERO));
                }
            }
        }
        if ctx.substep == 0 {
            for (node, &patch) in self.patches.iter().enumerate().filter(|(_, v)| **v > 0.0) {
                system.set_bulk(node, factor * patch * pressures[node][1].max(0.0));
            }
        }
    }

    /// ∂θ_a/∂x of a point's corners.
    fn spread(&self, element: usize, point: usize, s: &Strained, gradients: &[Vec3], system: &mut EulerSystem) {
        let slope = self.elastic.dilatation_slope(s) * self.mesh.weight(element);
        let nodes = self.mesh.nodes_of(element);
        for (corner, share) in self.mesh.shares(point).into_iter().enumerate() {
            let part = share / self.patches[nodes[corner] as usize];
            for (local, g) in gradients[..nodes.len()].iter().enumerate() {
                system.add_spread(element, corner, local, slope * *g * part);
            }
        }
    }

    /// Ratio of the stiffness of an element's point to that at rest. Averaged elements use their own bulk stiffness:
    /// averaging only lowers frequencies.
    fn growth(&self, element: usize, point: usize, body: BodyRef<'_>, pressures: &[[Real; 2]]) -> Real {
        let strained = self.point(element, point, body.x, body.internal_state).strained;
        let [p, _] = self.bulk(element, point, &strained, pressures);
        self.elastic.growth(&strained, p, self.elastic.bulk(strained.theta)[2])
    }

    /// Largest step of symplectic Euler for elements with this ratio of stiffness to that at rest.
    fn stable_step(&self, growth: impl Fn(usize) -> Real) -> Real {
        let top = self.highest.iter().enumerate().map(|(element, square)| square * growth(element));
        largest_step(top.fold(0.0, Real::max), self.params.stiffness_damping)
    }

    /// Highest ω² of each element in isolation at rest.
    fn frequencies(&self) -> Vec<Real> {
        let [_, p, k] = self.elastic.bulk(0.0);
        let tangent = self.elastic.tangent(&Mat3::IDENTITY, p, k);
        let mut mode = [Vec3::ZERO; MOST_NODES];
        let of = |element: usize| {
            let count = self.mesh.node_count;
            for (local, u) in mode[..count].iter_mut().enumerate() {
                *u = Vec3::new(1.0, -0.7, 0.4) * (local as Real - 1.3) + Vec3::splat((local % 3) as Real);
            }
            let mut growth = 0.0;
            for _ in 0..POWER_STEPS {
                let mut next = [Vec3::ZERO; MOST_NODES];
                for point in 0..self.mesh.point_count {
                    let g = self.mesh.gradients(element, point);
                    let change = mode.iter().zip(g).fold(Mat3::ZERO, |f, (u, g)| f + outer(*u, *g));
                    let stress = tangent.apply(&change) * self.mesh.weight(element);
                    next.iter_mut().zip(g).for_each(|(n, g)| *n += stress * *g);
                }
                let mass = self.params.density * self.mesh.weight(element) * self.mesh.point_count as Real;
                (0..count).for_each(|local| next[local] /= mass * self.mesh.lump(local));
                growth = next.iter().map(|u| u.length_squared()).sum::<Real>().sqrt();
                mode = next.map(|u| u / growth);
            }
            growth * POWER_MARGIN
        };
        (0..self.mesh.element_count()).map(of).collect()
    }

    /// Means over an element's points.
    fn element_stress(&self, element: usize, body: BodyRef<'_>, pressures: &[[Real; 2]]) -> ElementStress {
        let nodes = self.mesh.nodes_of(element);
        let (mut strain, mut stress) = (Mat3::ZERO, Mat3::ZERO);
        for point in 0..self.mesh.point_count {
            let f = gradient_of(nodes, self.mesh.gradients(element, point), body.x);
            strain += match self.params.law {
                Law::Linear => symmetric(&f) - Mat3::IDENTITY,
                Law::Corotational => symmetric(&(polar_rotation(&f).transpose() * f)) - Mat3::IDENTITY,
                _ => green(&f),
            };
            let s = self.point(element, point, body.x, body.internal_state).strained;
            let [p, _] = self.bulk(element, point, &s, pressures);
            let first = self.elastic.stress(&s, p);
            let volume = s.f.determinant();
            let volume = if volume.abs() < LEAST_VOLUME { LEAST_VOLUME.copysign(volume) } else { volume };
            stress += if self.params.law == Law::Linear { first } else { first * s.f.transpose() * (1.0 / volume) };
        }
        let part = 1.0 / self.mesh.point_count as Real;
        let at = nodes[..4].iter().fold(Vec3::ZERO, |sum, &n| sum + vec(body.x[n as usize])) * 0.25;
        ElementStress { at, strain: Sym3::from_mat(&(strain * part)), stress: Sym3::from_mat(&(stress * part)) }
    }
}

record!(Params, "solid model", "Finite elements.", Params::default(), {
    youngs_modulus: POSITIVE, "Young's modulus [Pa].";
    poisson_ratio: POISSON, "Poisson's ratio. From 0.45 on choose averaged elements.";
    density: POSITIVE, "Density [kg/m³].";
    mass_damping: NOT_NEGATIVE, "Mass-proportional damping [1/s]: slows all motion.";
    stiffness_damping: NOT_NEGATIVE, "Stiffness-proportional damping [s]: slows deformation only.";
    law: ANY, "Constitutive law.";
    elements: ANY, "Which element.";
    integrator: ANY, "Time integration.";
    plasticity: ANY, "Yield and creep; without: elastic.";
});

words!(Integrator, {
    "implicit" => Implicit, "Linearly implicit Euler: any step.";
    "explicit" => Explicit, "Symplectic Euler: keeps energy, needs small steps.";
});
