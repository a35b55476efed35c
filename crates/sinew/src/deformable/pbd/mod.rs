//! Position based dynamics with compliance (ICD section 3, OP 4.3; Macklin et al. 2016).
//!
//! From x* = x + h (v + h f/m), constraints (`rows.rs`) are swept in a fixed order of colours; the corrected positions
//! are the goals g, and v⁺ = v + h f/m + (g − x*)/h (ICD eq. 3, with the external force counted once). Constraints have
//! a compliance in physical units, so that stiffness depends neither on the substep nor, once converged, on the number
//! of sweeps.
//!
//! Stiffness of edges from a material (van Gelder 1998): k = E Σ V / L² over the tetrahedra at an edge, E t Σ A / L²
//! over its triangles. Springs alone model a solid of Poisson's ratio 1/4 (a sheet: 1/3); volume constraints add the
//! remaining bulk modulus:
//!
//! ```text
//!   E_edges = 5/4 · E/(1 + ν)  (same shear modulus),   K_rows = E/(3(1 − 2ν)) − ⅔ E_edges,   α = V/K_rows
//! ```
//!
//! Bending: hinge stiffness D |e|²/(A_L + A_R) gives a cylinder of curvature κ the energy ½ D κ² per area on square and
//! on equilateral meshes. Rope: E A / L along, E I / l̄ at each interior node.
//!
//! Inextensible cloth in few sweeps (cloth study): edges that are compliant in compression, so that folds do not slow
//! the convergence; *braces*, unilateral (tension-only) constraints between second neighbours; and in the last substep
//! of a step some sweeps over the edges that still exceed a stretch limit.
//!
//! Positions are relative to the middle node: the precision is then relative to the size of the body, not to its
//! distance from the origin.

pub(crate) mod implicit;
pub(crate) mod rows;
record!(Params, "pbd parameters", "Numbers of the method.", Params::default(), {
    iterations: ITERATIONS, "Sweeps a substep.";
    damping: ANY, "Loss of motion that is not rigid.";
    row_damping: NOT_NEGATIVE, "Time constant of a dashpot beside every constraint [s]; 0: none.";
    limit_sweeps: ITERATIONS, "Sweeps that limit the stretch of a sheet at the end of a step.";
});

/// The numbers of the finite elements.
fn usual() -> Solid {
    let solid = crate::deformable::fem::SolidParams::default();
    Solid { youngs_modulus: solid.youngs_modulus, poisson_ratio: solid.poisson_ratio, density: solid.density }
}

record!(Solid, "pbd solid", "Tetrahedra.", usual(), {
    youngs_modulus: POSITIVE, "Young's modulus [Pa].";
    poisson_ratio: from_to(0.25, 0.5), "Poisson's ratio, from springs alone to incompressible.";
    density: POSITIVE, "Density [kg/m³].";
});

record!(Sheet, "pbd sheet", "A sheet.",
    Sheet { stretch: 1.0, bend: 0.0, density: 1.0, compression: 1.0, skip_stiffness: 0.0, stretch_limit: Real::INFINITY }, {
    stretch [required]: POSITIVE.or_infinite(), "Young's modulus times thickness [N/m]; inf is inextensible.";
    bend: NOT_NEGATIVE, "Flexural rigidity [N·m]; 0 does not resist.";
    density [required]: POSITIVE, "Mass per area [kg/m²].";
    compression: SHARE, "Stiffness of shortened edges by that of stretched ones, 0 (slack) to 1.";
    skip_stiffness: NOT_NEGATIVE.or_infinite(), "Modulus of rows between second neighbours, which only pull [N/m]; 0: none.";
    stretch_limit: NOT_NEGATIVE.or_infinite(), "Limit of the stretch at the end of a step, as a fraction; inf: none.";
});

record!(Cord, "pbd cord", "A rope.", Cord { stretch: 1.0, bend: 0.0, density: 1.0, compression: 1.0 }, {
    stretch [required]: POSITIVE.or_infinite(), "Young's modulus times cross section [N]; inf is inextensible.";
    bend: NOT_NEGATIVE, "Young's modulus times second moment of area [N·m²]; 0 does not resist.";
    density [required]: POSITIVE, "Mass per length [kg/m].";
    compression: SHARE, "Stiffness of shortened edges by that of stretched ones, 0 (slack) to 1.";
});

choice!(Structure, "pbd structure", "Of what.", {
    "solid" => Solid, "of tetrahedra.", { 0 solid: Solid [flat], ANY, "Its numbers."; };
    "sheet" => Sheet, "of a sheet.", { 0 sheet: Sheet [flat], ANY, "Its numbers."; };
    "cord" => Cord, "of a rope.", { 0 cord: Cord [flat], ANY, "Its numbers."; };
});

#[cfg(test)]
mod tests;

pub use rows::{Distance, Enclosed, Hinge, Kink, Rows, Volume};

use crate::deformable::cloth::network::DistanceNetwork;
use crate::deformable::cloth::skip_constraints::skip_constraints;
use crate::deformable::particle::{Damping, ITERATIONS, ParticleError, check, check_nodes, not_negative, positive};
use crate::deformable::parts::Parts;
use crate::deformable::pbd::implicit::Made;
use crate::deformable::pbd::rows::{Memory, Pace, begin, hinge_angle, pull, sweep};
use crate::deformable::system::EulerSystem;
use crate::deformable::{Approximation, BodyMut, BodyRef, Deformable, Operator, StepContext, Traits};
use crate::math::{Block, Blocks, Real, Vec3, add, vec};
use crate::model::tet_mesh::TetMesh;
use crate::model::tri_mesh::TriMesh;
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, SHARE, choice, from_to, record};

/// Parameters of the constraint solver.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let solid = pbd::Solid { youngs_modulus: 1e4, poisson_ratio: 0.3, density: 1000.0 };
/// let params = pbd::Params { iterations: 2, ..pbd::Params::default() };
/// let model = SoftModel::Pbd(pbd::Structure::Solid(solid), params);
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
    /// Sweeps per substep, 1 or more. More: stiff constraints converge; fewer: they are softer than specified.
    pub iterations: u32,
    /// Damping of non-rigid motion.
    pub damping: Damping,
    /// Time constant of a dashpot parallel to every compliant constraint [s]; 0: none.
    pub row_damping: Real,
    /// Sweeps at the end of a step over the edges beyond `stretch_limit`. More: closer to the limit.
    pub limit_sweeps: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { iterations: 8, damping: Damping::Internal { rate: 0.0 }, row_damping: 0.0, limit_sweeps: 8 }
    }
}

/// Material of a solid of tetrahedra.
///
/// An example is at [`pbd::Params`](crate::pbd::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Young's modulus [Pa].
    pub youngs_modulus: Real,
    /// Poisson's ratio, from 0.25 (springs alone) to 0.5 (incompressible).
    pub poisson_ratio: Real,
    /// Density [kg/m³].
    pub density: Real,
}

/// Material of a sheet of triangles.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cloth = pbd::Sheet {
///     stretch: 2e3,
///     bend: 1e-5,
///     density: 0.15,
///     compression: 0.1,
///     skip_stiffness: 0.0,
///     stretch_limit: Real::INFINITY,
/// };
/// let mesh = TriMesh::sheet([6, 6], [0.5, 0.5], Diagonals::Alternating)?;
/// let mut world = World::default();
/// let model = SoftModel::Pbd(pbd::Structure::Sheet(cloth), pbd::Params::default());
/// let cloth = world.add_soft(SoftBody::new(Geometry::Sheet(mesh), model).pinned([0, 6]))?;
/// for _ in 0..10 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(cloth)?.position().y < 0.0);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheet {
    /// Young's modulus times thickness [N/m]; infinite is inextensible.
    pub stretch: Real,
    /// Flexural rigidity D = E t³/12 [N·m]; 0: no bending resistance.
    pub bend: Real,
    /// Mass per area [kg/m²].
    pub density: Real,
    /// Ratio of the stiffness of shortened edges to that of stretched ones, 0 (slack) to 1: below 1 the sheet can
    /// buckle between nodes.
    pub compression: Real,
    /// Young's modulus times thickness of the tension-only constraints between second neighbours [N/m]; 0: none,
    /// infinite: rigid. They propagate tension by two edges per sweep, and add to `stretch` along the edges.
    pub skip_stiffness: Real,
    /// Stretch limit of an edge, as a fraction of its length, enforced in the last substep of a step; infinite: no
    /// limit.
    pub stretch_limit: Real,
}

/// Material of a rope.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cord = pbd::Cord { stretch: 5e3, bend: 0.0, density: 0.1, compression: 0.2 };
/// let rope = Polyline::rope(Vec3::ZERO, Vec3::X, 10)?;
/// let mut world = World::default();
/// let model = SoftModel::Pbd(pbd::Structure::Cord(cord), pbd::Params::default());
/// let rope = world.add_soft(SoftBody::new(Geometry::Rope(rope.points), model).pinned([0]))?;
/// for _ in 0..10 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(rope)?.node_positions()[10].y < 0.0);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cord {
    /// Young's modulus times cross section [N]; infinite is inextensible.
    pub stretch: Real,
    /// Young's modulus times second moment of area [N·m²]; 0: no bending resistance.
    pub bend: Real,
    /// Mass per length [kg/m].
    pub density: Real,
    /// Ratio of the stiffness of shortened segments to that of stretched ones, 0 (slack) to 1.
    pub compression: Real,
}

/// Material of the body, by the dimension of its shape.
///
/// An example is at [`pbd::Params`](crate::pbd::Params).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Structure {
    /// A volume.
    Solid(Solid),
    /// A sheet.
    Sheet(Sheet),
    /// A rope.
    Cord(Cord),
}

/// A body of particles under constraints.
#[derive(Clone, Debug)]
pub struct Pbd {
    params: Params,
    rows: Rows,
    /// (node_count) [kg]
    masses: Vec<Real>,
    parts: Parts,
    /// Nodes with `rows.distances` and `rows.skip_constraints`, in SIMD lanes; positions relative to the middle node.
    /// Written by `predict`.
    network: DistanceNetwork,
    /// Change of velocity; temporarily gradients of enclosed volumes. Written by `predict`. (node_count) [m/s]
    change: Vec<Vec3>,
    /// Multipliers by kind of constraint. Written by `predict`. (rows of each kind)
    memory: [Vec<Memory>; 6],
    /// Tetrahedra of a solid, which has an implicit form; none for other bodies.
    mesh: Option<TetMesh>,
    /// Its linear system when solved with implicit bodies, once it has been built.
    implicit_system: Option<Box<EulerSystem>>,
    /// True while the body is solved with implicit bodies.
    implicit: bool,
}

impl Pbd {
    /// A body from nodes [m], masses [kg] and constraints.
    pub fn new(positions: &[Vec3], masses: Vec<Real>, mut rows: Rows, params: Params) -> Result<Self, ParticleError> {
        check_nodes(positions, &masses)?;
        params.check()?;
        rows.check(masses.len())?;
        let count = masses.len();
        rows.colour(count);
        let thin = [rows.distances.len(), rows.skip_constraints.len(), rows.kinks.len(), rows.hinges.len()];
        let kinds = [thin[0], thin[1], thin[2], thin[3], rows.volumes.len(), rows.enclosed.len()];
        Ok(Self {
            params,
            parts: Parts::new(count, rows.links()),
            network: DistanceNetwork::new(&rows, &masses, (Real::INFINITY, params.limit_sweeps)),
            change: vec![Vec3::ZERO; count],
            memory: kinds.map(|n| vec![Memory::default(); n]),
            mesh: None,
            implicit_system: None,
            implicit: false,
            masses,
            rows,
        })
    }

    /// A solid: a distance constraint on every edge, a volume constraint in every tetrahedron.
    pub fn solid(mesh: &TetMesh, solid: Solid, params: Params) -> Result<Self, ParticleError> {
        solid.check()?;
        mesh.check()?;
        let (e, nu) = (solid.youngs_modulus, solid.poisson_ratio);
        let springs = 1.25 * e / (1.0 + nu);
        // 1/K of the volume constraints, 0 when incompressible and infinite when the springs provide the full bulk
        // modulus
        let soft = (1.0 - 2.0 * nu) / (e / 3.0 - 2.0 / 3.0 * springs * (1.0 - 2.0 * nu));
        let mut masses = vec![0.0; mesh.vertices.len()];
        let mut shares = Vec::with_capacity(6 * mesh.tets.len());
        let mut rows = Rows::default();
        for (tet, &corners) in mesh.tets.iter().enumerate() {
            let volume = mesh.tet_volume(tet);
            for (k, &a) in corners.iter().enumerate() {
                masses[a as usize] += 0.25 * volume * solid.density;
                shares.extend(corners[..k].iter().map(|&b| ([a.min(b), a.max(b)], volume)));
            }
            if nu > 0.25 {
                rows.volumes.push(Volume { nodes: corners, rest: volume, compliance: volume * soft });
            }
        }
        rows.distances = edges(&mesh.vertices, shares, springs, 1.0);
        let model = Self::new(&mesh.vertices, masses, rows, params)?;
        Ok(Self { mesh: Some(mesh.clone()), ..model })
    }

    /// A sheet: a distance constraint on every edge, a hinge constraint between adjacent triangles.
    pub fn sheet(mesh: &TriMesh, sheet: Sheet, params: Params) -> Result<Self, ParticleError> {
        sheet.check()?;
        mesh.check()?;
        let mut masses = vec![0.0; mesh.vertices.len()];
        let mut shares = Vec::with_capacity(3 * mesh.triangles.len());
        // edge, and for each of its triangles: area, opposite corner, whether the triangle traverses the sorted edge
        // forward
        let mut sides = Vec::with_capacity(3 * mesh.triangles.len());
        for (triangle, corners) in mesh.triangles.iter().enumerate() {
            let area = mesh.area(triangle);
            for k in 0..3 {
                let (a, b, c) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
                masses[a as usize] += area * sheet.density / 3.0;
                shares.push(([a.min(b), a.max(b)], area));
                sides.push(([a.min(b), a.max(b)], triangle, area, c, a < b));
            }
        }
        sides.sort_by_key(|s| (s.0, s.1));
        let mut rows =
            Rows { distances: edges(&mesh.vertices, shares, sheet.stretch, sheet.compression), ..Rows::default() };
        for group in sides.chunk_by(|s, t| s.0 == t.0) {
            let [a, b] = group[0].0;
            if group.len() > 2 {
                return Err(ParticleError::Branched { a, b, count: group.len() });
            }
            if let [one, two] = group
                && sheet.bend > 0.0
            {
                let (left, right) = if one.4 { (one.3, two.3) } else { (two.3, one.3) };
                let nodes = [a, b, left, right];
                let corners = nodes.map(|n| mesh.vertices[n as usize]);
                let stiffness = sheet.bend * corners[0].distance_squared(corners[1]) / (one.2 + two.2);
                rows.hinges.push(Hinge { nodes, rest: hinge_angle(corners), compliance: 1.0 / stiffness });
            }
        }
        let modulus = sheet.skip_stiffness;
        if modulus > 0.0 {
            // the same area of sheet per constraint as for an edge: two triangles of the mean area
            let area: Real = (0..mesh.triangles.len()).map(|t| mesh.area(t)).sum();
            let share = 2.0 * area / mesh.triangles.len() as Real;
            rows.skip_constraints = skip_constraints(mesh)
                .into_iter()
                .map(|b| Distance {
                    nodes: b.nodes,
                    rest: b.rest,
                    compliance: b.rest * b.rest / (modulus * share),
                    compression: Real::INFINITY,
                })
                .collect();
        }
        let mut model = Self::new(&mesh.vertices, masses, rows, params)?;
        model.network.limit.0 = sheet.stretch_limit;
        if model.is_bare() {
            model.network.lay_strips(&model.rows, &model.masses);
        }
        Ok(model)
    }

    /// A rope through these points [m], at rest in this shape.
    pub fn rope(points: &[Vec3], cord: Cord, params: Params) -> Result<Self, ParticleError> {
        cord.check()?;
        let mut masses = vec![0.0; points.len()];
        let mut rows = Rows::default();
        for (k, pair) in points.windows(2).enumerate() {
            let rest = pair[0].distance(pair[1]);
            if !positive(rest) {
                let (list, name, range) = ("points", "distance to the next", "positive and finite [m]");
                return Err(ParticleError::BadEntry { list, index: k, name, value: rest, range });
            }
            masses[k] += 0.5 * rest * cord.density;
            masses[k + 1] += 0.5 * rest * cord.density;
            let compliance = rest / cord.stretch;
            let nodes = [k as u32, k as u32 + 1];
            rows.distances.push(Distance {
                nodes,
                rest,
                compliance,
                compression: softer(compliance, cord.compression),
            });
        }
        for k in 1..points.len().saturating_sub(1) {
            if cord.bend > 0.0 {
                let (a, m, c) = (points[k - 1], points[k], points[k + 1]);
                let (la, lc) = (a.distance(m), c.distance(m));
                let rest = ((a - m) / la + (c - m) / lc).length();
                let node = k as u32;
                let (nodes, weights) = ([node - 1, node, node + 1], [1.0 / la, 1.0 / lc]);
                rows.kinks.push(Kink { nodes, weights, rest, compliance: 0.5 * (la + lc) / cord.bend });
            }
        }
        Self::new(points, masses, rows, params)
    }

    /// Adds one constraint on the volume inside closed faces, with its compliance [m³/Pa] and the target volume [m³].
    pub fn enclose(mut self, faces: Vec<[u32; 3]>, rest: Real, compliance: Real) -> Result<Self, ParticleError> {
        self.rows.enclosed.push(Enclosed { faces, rest, compliance });
        self.rows.check(self.masses.len())?;
        self.memory[5].push(Memory::default());
        self.parts = Parts::new(self.masses.len(), self.rows.links());
        self.network = DistanceNetwork::new(&self.rows, &self.masses, self.network.limit);
        Ok(self)
    }

    /// The constraints, in the order of sweeps.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// True for one connected part without damping: one rigid motion is removed from its change of velocity.
    fn is_simple(&self) -> bool {
        self.parts.count() == 1 && self.params.damping == Damping::Internal { rate: 0.0 }
    }

    /// True when there are constraints other than edges and braces.
    fn has_other_rows(&self) -> bool {
        let rows = &self.rows;
        rows.kinks.len() + rows.hinges.len() + rows.volumes.len() + rows.enclosed.len() > 0
    }

    /// True for one sweep of edges and braces per substep and nothing else.
    fn is_bare(&self) -> bool {
        let once = self.params.iterations == 1 && self.params.row_damping == 0.0;
        once && self.is_simple() && !self.has_other_rows()
    }

    /// Sweeps over all constraints: the positions become the goals.
    fn relax(&mut self, ctx: &StepContext<'_>) {
        let h = ctx.h;
        let pace = Pace { inverse_square: 1.0 / (h * h), drag: self.params.row_damping / h };
        let (rows, network, lanes) = (&self.rows, &mut self.network, ctx.lanes);
        let [distances, skip_constraints, kinks, hinges, volumes, enclosed] = &mut self.memory;
        let (once, drag) = (self.params.iterations == 1, self.params.row_damping > 0.0);
        if !once && !drag {
            network.forget();
        }
        for _ in 0..self.params.iterations {
            if drag {
                sweep(&rows.distances, &mut network.places, distances, pace);
                sweep(&rows.skip_constraints, &mut network.places, skip_constraints, pace);
            } else {
                network.sweep(once, lanes);
            }
            let p = &mut network.places;
            sweep(&rows.kinks, p, kinks, pace);
            sweep(&rows.hinges, p, hinges, pace);
            sweep(&rows.volumes, p, volumes, pace);
            for (row, memory) in rows.enclosed.iter().zip(enclosed.iter_mut()) {
                row.relax(p, memory, pace, &mut self.change);
            }
        }
        if ctx.last {
            network.hold_back(lanes);
        }
    }

    /// C of every constraint at the start of the substep, at the current positions; edges need it only for a dashpot.
    fn begin(&mut self) {
        let (rows, p) = (&self.rows, &self.network.places);
        let [distances, skip_constraints, kinks, hinges, volumes, enclosed] = &mut self.memory;
        let drag = self.params.row_damping > 0.0;
        if drag {
            begin(&rows.distances, p, distances, drag);
            begin(&rows.skip_constraints, p, skip_constraints, drag);
        }
        begin(&rows.kinks, p, kinks, drag);
        begin(&rows.hinges, p, hinges, drag);
        begin(&rows.volumes, p, volumes, drag);
        for (row, memory) in rows.enclosed.iter().zip(enclosed.iter_mut()) {
            row.begin(p, memory, &mut self.change);
        }
    }

    /// Positions of all nodes extrapolated by `h`, as blocks with their inverse masses.
    fn place(&mut self, body: &BodyMut<'_>, origin: Vec3, h: Real) {
        for (place, (x, v)) in self.network.places.iter_mut().zip(body.x.iter().zip(body.v.iter())) {
            let at = star(x, v, origin, h);
            *place = [at.x, at.y, at.z, v[3]];
        }
    }

    /// The complete substep of a body of one part without damping, in lanes.
    fn predict_simple(&mut self, ctx: &StepContext<'_>, origin: Vec3, body: &mut BodyMut<'_>) {
        let (h, lanes) = (ctx.h, ctx.lanes);
        self.network.soa.load(origin, Blocks::new(body.x), Blocks::new(body.v), lanes);
        self.network.soa.push(body.force, Vec3::ZERO);
        self.network.soa.begin(h, 1.0, lanes);
        self.network.spill(lanes);
        self.relax(ctx);
        self.network.collect(lanes);
        self.network.soa.end(h, lanes);
        self.network.soa.store_v(body.v);
    }

    /// The displacement from x* to the goals as a velocity, without its rigid component, for several parts, pinned
    /// nodes and damping.
    fn finish_parts(&mut self, ctx: &StepContext<'_>, origin: Vec3, body: &mut BodyMut<'_>) {
        let h = ctx.h;
        for (k, change) in self.change.iter_mut().enumerate() {
            let from = star(&body.x[k], &body.v[k], origin, h);
            *change = (vec(self.network.places[k]) - from) / h;
        }
        match self.params.damping {
            Damping::Internal { rate } if rate > 0.0 => {
                self.parts.damp(body.v, rate * h / (1.0 + rate * h), &mut self.change);
            }
            Damping::Internal { .. } => {}
            Damping::Printed { gamma } => self.change.iter_mut().for_each(|c| *c *= 1.0 - gamma),
        }
        self.parts.balance(body.v, &mut self.change);
        for (v, change) in body.v.iter_mut().zip(&self.change) {
            add(v, *change);
        }
    }

    fn made(&self) -> Made<'_> {
        Made { masses: &self.masses, rows: &self.rows, row_damping: self.params.row_damping }
    }

    /// A and b when solved with implicit bodies.
    fn assemble(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        if let Damping::Internal { rate } = self.params.damping
            && rate > 0.0
        {
            self.parts.frame(body.x, body.v);
            self.parts.slow(body.v, rate * ctx.h / (1.0 + rate * ctx.h), &mut self.change);
        }
        if let Some(mut system) = self.implicit_system.take() {
            self.made().assemble(ctx, &body, &mut system);
            self.implicit_system = Some(system);
        }
    }

    /// Energy [J], forces into `out`, and whether all of them are defined.
    fn pull(&self, x: &[Block], mut out: Option<&mut [Vec3]>) -> (Real, bool) {
        let rows = &self.rows;
        let sums = [
            pull(&rows.distances, x, out.as_deref_mut()),
            pull(&rows.skip_constraints, x, out.as_deref_mut()),
            pull(&rows.kinks, x, out.as_deref_mut()),
            pull(&rows.hinges, x, out.as_deref_mut()),
            pull(&rows.volumes, x, out.as_deref_mut()),
        ];
        let (mut energy, mut known) = sums.into_iter().fold((0.0, true), |s, t| (s.0 + t.0, s.1 && t.1));
        for row in &rows.enclosed {
            // queries may allocate, the step may not
            let mut gradient = vec![Vec3::ZERO; x.len()];
            let c = row.measure(x, &mut gradient) - row.rest;
            known &= row.compliance > 0.0;
            if row.compliance > 0.0 {
                energy += 0.5 * c * c / row.compliance;
                if let Some(out) = out.as_deref_mut() {
                    out.iter_mut().zip(gradient).for_each(|(out, g)| *out -= g * (c / row.compliance));
                }
            }
        }
        (energy, known)
    }

    fn has_implicit_form(&self) -> bool {
        // the printed damping is defined for goals only, and an enclosed volume couples all nodes
        let can = matches!(self.params.damping, Damping::Internal { .. }) && self.rows.enclosed.is_empty();
        can && self.mesh.is_some()
    }
}

impl Deformable for Pbd {
    fn masses(&self) -> &[Real] {
        &self.masses
    }

    fn traits(&self) -> Traits {
        let thin = self.rows.volumes.is_empty();
        Traits {
            internal_rows: self.rows.len(),
            // constraints may be rigid
            response: Approximation::Lumped { stiffness: Real::INFINITY, damping: 0.0, decay: 0.0 },
            implicit_form: self.has_implicit_form(),
            stretch_limit: (!self.implicit && thin).then_some(self.network.limit.0),
            ..Traits::default()
        }
    }

    fn operator(&self) -> Option<&dyn Operator> {
        self.implicit_system.as_ref().filter(|_| self.implicit).map(|system| &**system as &dyn Operator)
    }

    fn set_implicit(&mut self, on: bool) -> bool {
        self.implicit = on && self.has_implicit_form();
        if let (true, None, Some(mesh)) = (self.implicit, &self.implicit_system, &self.mesh) {
            self.implicit_system = Some(Box::new(self.made().system(mesh)));
        }
        self.implicit
    }

    fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        if self.implicit {
            self.assemble(ctx, body);
            return;
        }
        let h = ctx.h;
        let origin = vec(body.x[body.x.len() / 2]);
        if self.has_other_rows() || self.params.row_damping > 0.0 {
            self.place(&body, origin, 0.0);
            self.begin();
        }
        if ctx.substep == 0 {
            self.network.soa.learn_pins(|node| body.v[node as usize][3]);
        }
        self.network.prepare(h, ctx.lanes);
        if self.is_simple() {
            self.predict_simple(ctx, origin, &mut body);
            return;
        }
        body.kick(h);
        self.place(&body, origin, h);
        self.parts.frame(body.x, body.v);
        self.relax(ctx);
        self.finish_parts(ctx, origin, &mut body);
    }

    fn network(&mut self) -> Option<&mut DistanceNetwork> {
        (!self.implicit && self.is_bare()).then_some(&mut self.network)
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        self.pull(body.x, None).0
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        self.pull(body.x, Some(out)).1
    }
}

/// x − origin + h v.
#[inline(always)]
fn star(x: &Block, v: &Block, origin: Vec3, h: Real) -> Vec3 {
    vec(*x) - origin + vec(*v) * h
}

/// Compliance of a shortened edge.
fn softer(compliance: Real, factor: Real) -> Real {
    if factor > 0.0 { compliance / factor } else { Real::INFINITY }
}

/// Edge constraints by van Gelder's rule: volume (or area) per edge, modulus in the matching unit.
fn edges(places: &[Vec3], mut shares: Vec<([u32; 2], Real)>, modulus: Real, compression: Real) -> Vec<Distance> {
    // stable sort: the order of summation is that of the mesh
    shares.sort_by_key(|s| s.0);
    let mut rows = Vec::new();
    for group in shares.chunk_by(|s, t| s.0 == t.0) {
        let nodes = group[0].0;
        let rest = places[nodes[0] as usize].distance(places[nodes[1] as usize]);
        let share: Real = group.iter().map(|s| s.1).sum();
        let compliance = rest * rest / (modulus * share);
        rows.push(Distance { nodes, rest, compliance, compression: softer(compliance, compression) });
    }
    rows
}

impl Params {
    fn check(&self) -> Result<(), ParticleError> {
        check(&[
            ("iterations", self.iterations as Real, self.iterations > 0, "1 or more"),
            ("row_damping", self.row_damping, not_negative(self.row_damping), "0 or more [s]"),
        ])?;
        self.damping.check()
    }
}

impl Solid {
    fn check(&self) -> Result<(), ParticleError> {
        let nu = self.poisson_ratio;
        check(&[
            ("youngs_modulus", self.youngs_modulus, positive(self.youngs_modulus), "positive and finite [Pa]"),
            ("poisson_ratio", nu, (0.25..=0.5).contains(&nu), "from 0.25 (springs alone) to 0.5"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m³]"),
        ])
    }
}

impl Sheet {
    fn check(&self) -> Result<(), ParticleError> {
        check(&[
            ("stretch", self.stretch, self.stretch > 0.0, "positive [N/m]; infinite is inextensible"),
            ("bend", self.bend, not_negative(self.bend), "0 or more, finite [N·m]"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m²]"),
            ("compression", self.compression, (0.0..=1.0).contains(&self.compression), "from 0 to 1"),
            ("skip_stiffness", self.skip_stiffness, self.skip_stiffness >= 0.0, "0 or more [N/m]; infinite is rigid"),
            ("stretch_limit", self.stretch_limit, self.stretch_limit >= 0.0, "0 or more; infinite is none"),
        ])
    }
}

impl Cord {
    fn check(&self) -> Result<(), ParticleError> {
        check(&[
            ("stretch", self.stretch, self.stretch > 0.0, "positive [N]; infinite is inextensible"),
            ("bend", self.bend, not_negative(self.bend), "0 or more, finite [N·m²]"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m]"),
            ("compression", self.compression, (0.0..=1.0).contains(&self.compression), "from 0 to 1"),
        ])
    }
}
