//! Corotational linear tetrahedra with linearly implicit Euler.
//!
//! Small strain in the co-rotated frame of each element (Müller and Gross 2004; Hauth and Strasser 2004):
//!
//! ```text
//!   F = Σ x_i G_iᵀ,   R = rotation of F,   ε = sym(RᵀF) − I,   σ = 2μ ε + λ tr(ε) I,   f_i = −V R σ G_i
//! ```
//!
//! G_i is the rest gradient of shape function i [1/m]. With g_i = R G_i the stiffness is
//! K_ij = V (λ g_i g_jᵀ + μ g_j g_iᵀ + μ (g_i·g_j) I), rotations held constant (Baraff and Witkin 1998 for the time
//! step):
//!
//! ```text
//!   A v⁺ = b,   A = M + h (h + β) K,   b = M v + h (f(x) + f_ext)
//! ```
//!
//! β is stiffness-proportional damping [s]. Mass is lumped. In Gauss-Seidel sweeps the response is the lumped inverse
//! mass: a deliberate approximation, exact for momentum and too compliant by A_ii/m; see `solver/implicit.rs`.
//!
//! R is a pure function of x, computed without a start value: a rotation stored from the last step would be hidden
//! state.
//!
//! Eight elements are processed at a time (`tet_kernel.rs`), A is stored in slices of eight rows (`system/rows.rs`),
//! and while no constraint row acts on the body coarse spaces accelerate the convergence of smooth motions in the CG
//! (`system/two_level.rs`).

use super::law::symmetric;
use super::sparse::{Assemble, Contributions, pattern};
use super::tet_kernel::{RestTet, TetBatch, TetPass, energy, lay_out, strained};
use crate::deformable::limit::{is_held, shear_share, soften};
use crate::deformable::system::{Product, Rows, TwoLevel};
use crate::deformable::{
    Approximation, BodyMut, BodyRef, Conditioning, Deformable, ElementStress, Modes, Operator, RigidSums,
    SmoothMotions, StepContext, Traits,
};
use crate::math::{Block, Blocks, LANES, Mat3, Real, Sym3, Vec3, run, vec};
use crate::model::tet_mesh::{TetMesh, TetMeshError};
use sinew_spec::{NOT_NEGATIVE, POISSON, POSITIVE, record};

/// Material of a corotational body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let params = fem::Params { youngs_modulus: 2e4, poisson_ratio: 0.4, density: 1000.0, damping: 0.01 };
/// let model = SoftModel::Corotational(params);
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
    /// Poisson's ratio, from 0 up to below 0.5.
    pub poisson_ratio: Real,
    /// Density [kg/m³].
    pub density: Real,
    /// Stiffness-proportional damping β [s].
    pub damping: Real,
}

/// Reason why a body is rejected.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([1, 1, 1], Vec3::splat(0.1))?;
/// let told = World::default().add_soft(SoftBody::corotational(block, ElasticMaterial::new(1e4, 0.5, 1000.0))).unwrap_err();
/// assert!(told.to_string().contains("poisson_ratio"), "{told}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamsError {
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
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Mesh(#[from] TetMeshError),
}

/// A body of linear tetrahedra.
#[derive(Clone, Debug)]
pub struct Corotational {
    rest: Rest,
    /// A. Written by `predict` in the first substep.
    matrix: Rows,
    /// The contributions to its entries.
    contributions: Contributions,
    /// √V R G_i of all corners, and a block of zeros. Written by `predict` in the first substep. (32 batch_count + 1)
    /// [m^½]
    turned: Vec<Block>,
    /// b. Written by `predict`. (node_count) [N·s]
    load: Vec<Block>,
    /// Masses, infinite where pinned. Written by `predict`. (node_count) [kg]
    mass: Vec<Real>,
    /// Sums over the body. Written by `predict`.
    sums: RigidSums,
    /// Written by `predict` when the step length or the pinned nodes change.
    smooth: TwoLevel,
    /// Eight lanes are in use. Written by `predict`.
    lanes: bool,
    /// True when pinned nodes suppress its rigid motions. Written by `refresh`.
    held: bool,
}

/// Constants since the last edit.
#[derive(Clone, Debug)]
struct Rest {
    /// First and second Lamé parameter of the current step, possibly softened [Pa]. Written by `predict`.
    lame: [Real; 2],
    /// The same from the parameters [Pa].
    given: [Real; 2],
    /// Upper bound of ω² at rest [1/s²].
    bound: Real,
    damping: Real,
    batches: Vec<TetBatch>,
    /// Lumped masses. (node_count) [kg]
    mass: Vec<Real>,
    /// Vertices of the mesh. (node_count) [m]
    x: Vec<Block>,
}

impl Corotational {
    /// A body from a mesh and a material, at rest in the mesh's shape.
    pub fn new(mesh: &TetMesh, params: Params) -> Result<Self, ParamsError> {
        Self::filled(mesh, &[], params)
    }

    /// The same of elements that fill a fraction of their volume each; none: all are full.
    pub(crate) fn filled(mesh: &TetMesh, fill: &[Real], params: Params) -> Result<Self, ParamsError> {
        params.check()?;
        mesh.check()?;
        let mut tets = rest_tets(mesh);
        tets.iter_mut().zip(fill).for_each(|(tet, fill)| tet.volume *= fill);
        let (rest, stiffness_a_mass) = Rest::new(mesh, &tets, params);
        let nodes = mesh.vertices.len();
        let (matrix, contributions) = pattern(nodes, &rest.batches);
        Ok(Self {
            matrix,
            contributions,
            turned: vec![[0.0; 4]; rest.batches.len() * 4 * LANES + 1],
            load: vec![[0.0; 4]; nodes],
            mass: rest.mass.clone(),
            sums: RigidSums::default(),
            smooth: TwoLevel::new(&mesh.vertices, &tets, stiffness_a_mass),
            lanes: true,
            held: false,
            rest,
        })
    }

    /// Elastic impulses at x into `load` and, if a factor is given, A at x with factor h (h + β).
    fn assemble(&mut self, x: Option<&[Block]>, h: Real, factor: Option<Real>) {
        let Self { rest, load, turned, matrix, contributions: sums, lanes, .. } = self;
        let [lambda, mu] = rest.lame;
        let gradients = if factor.is_some() { &mut turned[..] } else { &mut [] };
        let x = x.unwrap_or(&rest.x);
        let pass = TetPass {
            batches: &rest.batches,
            x,
            lame: [lambda * h, mu * h],
            load: Blocks::new(load),
            turned: gradients,
        };
        run(pass, *lanes);
        if let Some(factor) = factor {
            let lame = [lambda * factor, mu * factor];
            run(Assemble { matrix, sums, turned, lame, mass: &rest.mass }, *lanes);
        }
    }

    /// Rebuilds the coarse spaces when they are worthwhile and their inputs have changed.
    fn prepare_smooth(&mut self, factor: Real, v: &[Block]) {
        if self.smooth.prepare(factor, v) {
            // elements at rest have no force: h = 0 leaves the load unchanged
            self.assemble(None, 0.0, Some(factor));
            self.smooth.rebuild(factor, v, &self.matrix, None);
        }
    }
}

impl Deformable for Corotational {
    fn masses(&self) -> &[Real] {
        &self.rest.mass
    }

    fn traits(&self) -> Traits {
        let (stiffness, damping) = (self.rest.bound, self.rest.damping);
        let shear = || shear_share(self.rest.stiffnesses());
        Traits {
            response: Approximation::Lumped { stiffness, damping, decay: 0.0 },
            implicit_form: true,
            conditioning: (!self.held).then(|| Conditioning { stiffness, damping, shear: shear() }),
            ..Traits::default()
        }
    }

    fn predict(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        self.lanes = ctx.lanes;
        let share = if ctx.resolve { self.traits().softening(ctx.h) } else { 1.0 };
        self.rest.lame = self.rest.given;
        if share < 1.0 {
            let [twice, lambda] = soften(self.rest.stiffnesses(), share);
            self.rest.lame = [lambda, 0.5 * twice];
        }
        let factor = ctx.h * (ctx.h + self.rest.damping);
        if ctx.substep == 0 {
            self.prepare_smooth(factor, body.v);
        }
        // b = M v + h f_ext, then the elastic part
        for (node, load) in self.load.iter_mut().enumerate() {
            let mass = self.rest.mass[node];
            let push = vec(body.v[node]) * mass + body.force[node] * ctx.h;
            *load = [push.x, push.y, push.z, 0.0];
            self.mass[node] = if body.v[node][3] == 0.0 { Real::INFINITY } else { mass };
        }
        self.assemble(Some(body.x), ctx.h, (ctx.substep == 0).then_some(factor));
        if ctx.substep == 0 {
            self.smooth.turn(body.x, ctx.lanes);
        }
        self.sums.sum_up(&self.rest.mass, ctx.h, &body);
    }

    fn operator(&self) -> Option<&dyn Operator> {
        Some(self)
    }

    fn refresh(&mut self, body: BodyRef<'_>) {
        self.held = is_held(body);
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let mut sum = 0.0;
        for batch in &self.rest.batches {
            for lane in 0..batch.used {
                sum += energy(batch, lane, body.x, self.rest.lame);
            }
        }
        sum
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        let mut load = vec![[0.0; 4]; out.len()];
        let pass = TetPass {
            batches: &self.rest.batches,
            x: body.x,
            lame: self.rest.lame,
            load: Blocks::new(&mut load),
            turned: &mut [],
        };
        run(pass, self.lanes);
        for (out, force) in out.iter_mut().zip(load) {
            *out += vec(force);
        }
        true
    }

    fn element_stress(&self, body: BodyRef<'_>, out: &mut Vec<ElementStress>) {
        let first = out.len();
        let [lambda, mu] = self.rest.lame;
        let none = ElementStress { at: Vec3::ZERO, strain: Sym3::ZERO, stress: Sym3::ZERO };
        out.resize(first + self.rest.batches.iter().map(|b| b.used).sum::<usize>(), none);
        for batch in &self.rest.batches {
            for lane in 0..batch.used {
                let (f, r) = strained(batch, lane, body.x);
                let strain = symmetric(&(r.transpose() * f)) - Mat3::IDENTITY;
                let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
                let inner = strain * (2.0 * mu) + Mat3::from_diagonal(Vec3::splat(lambda * trace));
                // in the frame of the element; the strain is small, so that the Cauchy stress is this one rotated
                let stress = r * inner * r.transpose();
                let corners = batch.corners(lane);
                let at = corners.iter().fold(Vec3::ZERO, |sum, &n| sum + vec(body.x[n as usize])) * 0.25;
                out[first + batch.tet[lane] as usize] =
                    ElementStress { at, strain: Sym3::from_mat(&strain), stress: Sym3::from_mat(&stress) };
            }
        }
    }
}

impl Operator for Corotational {
    fn block_count(&self) -> usize {
        self.rest.mass.len()
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        run(Product { matrix: &self.matrix, mass: &self.rest.mass, v, out: Blocks::new(out) }, self.lanes);
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        self.matrix.diagonal(out);
    }

    fn load(&self) -> &[Block] {
        &self.load
    }

    fn mass(&self) -> &[Real] {
        &self.mass
    }

    fn modes(&self) -> Option<Modes<'_>> {
        self.sums.modes()
    }

    fn correct(&self, residual: &[Block], z: &mut [Block]) {
        self.smooth.correct(residual, z);
    }

    fn smooth(&self) -> Option<&dyn SmoothMotions> {
        self.smooth.smooth()
    }
}

impl Params {
    pub(super) fn check(&self) -> Result<(), ParamsError> {
        let positive = |v: Real| v > 0.0 && v.is_finite();
        let checks = [
            ("youngs_modulus", self.youngs_modulus, positive(self.youngs_modulus), "positive and finite [Pa]"),
            ("poisson_ratio", self.poisson_ratio, (0.0..0.5).contains(&self.poisson_ratio), "from 0 up to below 0.5"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m³]"),
            ("damping", self.damping, self.damping >= 0.0 && self.damping.is_finite(), "0 or more [s]"),
        ];
        match checks.into_iter().find(|c| !c.2) {
            Some((name, value, _, range)) => Err(ParamsError::OutOfRange { name, value, range }),
            None => Ok(()),
        }
    }

    /// First and second Lamé parameter [Pa].
    pub(super) fn lame(&self) -> [Real; 2] {
        let (e, nu) = (self.youngs_modulus, self.poisson_ratio);
        [e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu))]
    }
}

/// All tetrahedra at rest.
pub(super) fn rest_tets(mesh: &TetMesh) -> Vec<RestTet> {
    mesh.tets.iter().map(|corners| RestTet::new(&mesh.vertices, *corners)).collect()
}

impl Rest {
    /// 2μ and λ of the parameters.
    fn stiffnesses(&self) -> [Real; 2] {
        let [lambda, mu] = self.given;
        [2.0 * mu, lambda]
    }

    /// Also returns the mean of K_ii/m [1/s²].
    fn new(mesh: &TetMesh, tets: &[RestTet], params: Params) -> (Self, Real) {
        let [lambda, mu] = params.lame();
        let mut mass = vec![0.0; mesh.vertices.len()];
        // a third of the trace of K_ii = V (λ g gᵀ + μ g gᵀ + μ g² I)
        let (mut stiffness, mut bound): (Real, Real) = (0.0, 0.0);
        for tet in tets {
            for &node in &tet.corners {
                mass[node as usize] += 0.25 * tet.volume * params.density;
            }
            let squares = tet.squares();
            bound = bound.max(4.0 * squares * (lambda + 2.0 * mu) / params.density);
            stiffness += tet.volume * squares * (lambda + 4.0 * mu) / 3.0;
        }
        let stiffness_a_mass = stiffness / mass.iter().sum::<Real>();
        let rest = Self {
            lame: [lambda, mu],
            given: [lambda, mu],
            bound,
            damping: params.damping,
            batches: lay_out(tets),
            mass,
            x: mesh.vertices.iter().map(|x| [x.x, x.y, x.z, 0.0]).collect(),
        };
        (rest, stiffness_a_mass)
    }
}

/// The numbers of [`SolidParams`](super::SolidParams).
fn usual() -> Params {
    let solid = super::SolidParams::default();
    let super::SolidParams { youngs_modulus, poisson_ratio, density, stiffness_damping: damping, .. } = solid;
    Params { youngs_modulus, poisson_ratio, density, damping }
}

record!(Params, "corotational model", "Corotational linear tetrahedra.", usual(), {
    youngs_modulus: POSITIVE, "Young's modulus [Pa].";
    poisson_ratio: POISSON, "Poisson's ratio.";
    density: POSITIVE, "Density [kg/m³].";
    damping: NOT_NEGATIVE, "Stiffness-proportional damping [s].";
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, add};

    fn body() -> (Corotational, Vec<Block>) {
        let mesh = TetMesh::block([2, 2, 3], Vec3::new(0.1, 0.1, 0.15)).unwrap();
        let params = Params { youngs_modulus: 1e5, poisson_ratio: 0.3, density: 1000.0, damping: 0.0 };
        let body = Corotational::new(&mesh, params).unwrap();
        let x = mesh.vertices.iter().map(|x| [x.x, x.y, x.z, 0.0]).collect();
        (body, x)
    }

    fn predict(body: &mut Corotational, x: &mut [Block], v: &mut [Block]) {
        let ctx = StepContext::new(0.01, 0);
        let force = vec![Vec3::ZERO; x.len()];
        body.predict(&ctx, BodyMut { x, v, force: &force, internal_state: &mut [] });
    }

    fn strained(x: &mut [Block]) {
        for (k, x) in x.iter_mut().enumerate() {
            add(x, Vec3::new((k % 3) as Real, (k % 5) as Real, (k % 7) as Real) * 1e-3);
        }
    }

    #[test]
    fn mass_is_density_times_volume() {
        let (body, _) = body();
        assert!((body.masses().iter().sum::<Real>() - 1.5).abs() < 1e-5);
    }

    #[test]
    fn a_rotated_body_has_no_internal_force_at_any_angle() {
        for angle in [0.0, 0.5, 2.0, 3.1] {
            let (mut body, mut x) = body();
            let q = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -1.0).normalize(), angle);
            for x in &mut x {
                let p = q * vec(*x);
                (x[0], x[1], x[2]) = (p.x, p.y, p.z);
            }
            let mut v = vec![[0.0, 0.0, 0.0, 1.0]; x.len()];
            predict(&mut body, &mut x, &mut v);
            let worst = body.load().iter().map(|b| vec(*b).length()).fold(0.0, Real::max);
            // E · rounding error · area · h
            assert!(worst < 1e5 * 20.0 * Real::EPSILON * 0.01 * 0.01, "{angle}: {worst}");
            assert!(body.energy(BodyRef { x: &x, v: &v, internal_state: &[] }) < 1e-8);
        }
    }

    #[test]
    fn internal_forces_have_no_resultant_force_or_torque() {
        let (mut body, mut x) = body();
        strained(&mut x);
        let mut v = vec![[0.0, 0.0, 0.0, 1.0]; x.len()];
        predict(&mut body, &mut x, &mut v);
        let (mut push, mut turn, mut size) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for (b, x) in body.load().iter().zip(&x) {
            push += vec(*b);
            turn += vec(*x).cross(vec(*b));
            size += vec(*b).length();
        }
        assert!(push.length() < 1e-5 * size && turn.length() < 1e-6 * size, "{push} {turn} {size}");
    }

    #[test]
    fn the_operator_is_symmetric_and_bounded_below_by_the_mass() {
        let (mut body, mut x) = body();
        strained(&mut x);
        let mut v = vec![[0.0, 0.0, 0.0, 1.0]; x.len()];
        predict(&mut body, &mut x, &mut v);
        let wave = |seed: usize| -> Vec<Block> {
            let part = |k: usize| ((k * 7919 + seed * 104_729) % 1000) as Real / 500.0 - 1.0;
            (0..x.len()).map(|i| [part(3 * i), part(3 * i + 1), part(3 * i + 2), 0.0]).collect()
        };
        let dot = |a: &[Block], b: &[Block]| a.iter().zip(b).map(|(a, b)| vec(*a).dot(vec(*b))).sum::<Real>();
        let (a, b) = (wave(1), wave(2));
        let (mut ka, mut kb) = (a.clone(), b.clone());
        body.apply(&a, &mut ka);
        body.apply(&b, &mut kb);
        assert!((dot(&a, &kb) - dot(&b, &ka)).abs() < 1e-4 * dot(&a, &ka));
        let kinetic: Real = a.iter().zip(body.mass()).map(|(a, m)| vec(*a).length_squared() * m).sum();
        assert!(dot(&a, &ka) > kinetic);
        let mut diagonal = vec![Mat3::ZERO; x.len()];
        body.diagonal(&mut diagonal);
        let mut unit = vec![[0.0; 4]; x.len()];
        unit[5] = [0.0, 1.0, 0.0, 0.0];
        let mut column = unit.clone();
        body.apply(&unit, &mut column);
        let off = vec(column[5]) - diagonal[5].y_axis;
        assert!(off.length() < 4.0 * Real::EPSILON * diagonal[5].y_axis.length(), "{off}");
    }

    #[test]
    fn rigid_modes_have_the_momentum_and_a_pinned_body_has_no_modes() {
        let (mut body, mut x) = body();
        let mut v: Vec<Block> = x.iter().map(|x| [1.0 - 2.0 * x[1], 2.0 * x[0], 0.0, 1.0]).collect();
        predict(&mut body, &mut x, &mut v);
        let modes = body.modes().unwrap();
        assert!((modes.momentum - Vec3::new(1.5, 0.0, 0.0)).length() < 1e-5, "{}", modes.momentum);
        assert!((modes.inertia.mul(Vec3::new(0.0, 0.0, 2.0)) - modes.spin).length() < 1e-7);
        v[0][3] = 0.0;
        predict(&mut body, &mut x, &mut v);
        assert!(body.modes().is_none() && body.mass()[0] == Real::INFINITY);
    }

    /// A body large enough for a coarse space, one end pinned, bent laterally.
    fn beam(bend: Real) -> (Corotational, Vec<Block>, Vec<Block>) {
        let mesh = TetMesh::block([16, 4, 4], Vec3::new(0.8, 0.2, 0.2)).unwrap();
        let params = Params { youngs_modulus: 1e5, poisson_ratio: 0.4, density: 1000.0, damping: 0.01 };
        let body = Corotational::new(&mesh, params).unwrap();
        let x = mesh.vertices.iter().map(|x| [x.x, x.y + bend * (x.x + 0.4) * (x.x + 0.4), x.z, 0.0]).collect();
        let v = mesh.vertices.iter().map(|x| [0.0, 0.0, 0.0, if x.x < -0.399 { 0.0 } else { 1.0 }]).collect();
        (body, x, v)
    }

    fn wave(count: usize, seed: usize) -> Vec<Block> {
        let part = |k: usize| ((k * 7919 + seed * 104_729) % 1000) as Real / 500.0 - 1.0;
        (0..count).map(|i| [part(3 * i), part(3 * i + 1), part(3 * i + 2), 0.0]).collect()
    }

    #[test]
    fn the_coarse_correction_is_symmetric_positive_and_zero_at_pinned_nodes() {
        let (mut body, mut x, mut v) = beam(0.5);
        predict(&mut body, &mut x, &mut v);
        assert!(body.smooth().is_some());
        let dot = |a: &[Block], b: &[Block]| a.iter().zip(b).map(|(a, b)| vec(*a).dot(vec(*b))).sum::<Real>();
        let (a, b) = (wave(x.len(), 1), wave(x.len(), 2));
        let (mut za, mut zb) = (vec![[0.0; 4]; x.len()], vec![[0.0; 4]; x.len()]);
        body.correct(&a, &mut za);
        body.correct(&b, &mut zb);
        let (own, cross) = (dot(&a, &za), dot(&a, &zb) - dot(&b, &za));
        assert!(own > 0.0 && dot(&b, &zb) > 0.0 && cross.abs() < 1e-4 * own, "{own} {cross}");
        for (z, v) in za.iter().zip(&v) {
            assert!(v[3] > 0.0 || *z == [0.0; 4]);
        }
    }

    #[test]
    fn an_affine_motion_of_a_free_body_at_rest_is_solved_by_the_coarse_space_alone() {
        let (mut body, mut x, _) = beam(0.0);
        let mut v = vec![[0.0, 0.0, 0.0, 1.0]; x.len()];
        predict(&mut body, &mut x, &mut v);
        let motion: Vec<Block> = x.iter().map(|x| [0.3 - x[1], x[0] + 2.0 * x[2], 0.5 * x[0], 0.0]).collect();
        let (mut load, mut z) = (motion.clone(), vec![[0.0; 4]; x.len()]);
        body.apply(&motion, &mut load);
        body.correct(&load, &mut z);
        let worst = z.iter().zip(&motion).map(|(z, m)| (vec(*z) - vec(*m)).length()).fold(0.0, Real::max);
        // the error of an omitted mode is the square root of its independent fraction of energy
        assert!(worst < 10.0 * crate::deformable::system::DEPENDENT.sqrt() as Real, "{worst}");
    }

    #[test]
    fn lanes_and_the_scalar_path_give_the_same_bits_independent_of_history() {
        let results: Vec<_> = [(true, false), (false, false), (true, true)]
            .into_iter()
            .map(|(lanes, history)| {
                let (mut body, mut x, mut v) = beam(0.7);
                if history {
                    // other shape, step and pinned nodes: none of them may influence the result
                    let (_, mut other, mut loose) = beam(-0.2);
                    loose[0][3] = 1.0;
                    let ctx = StepContext::new(0.02, 0);
                    let force = vec![Vec3::X; x.len()];
                    body.predict(
                        &ctx,
                        BodyMut { x: &mut other, v: &mut loose, force: &force, internal_state: &mut [] },
                    );
                }
                let ctx = StepContext { lanes, ..StepContext::new(0.01, 0) };
                let force = vec![Vec3::ZERO; x.len()];
                body.predict(&ctx, BodyMut { x: &mut x, v: &mut v, force: &force, internal_state: &mut [] });
                let (mut product, mut z) = (wave(x.len(), 3), vec![[0.0; 4]; x.len()]);
                body.apply(&wave(x.len(), 1), &mut product);
                body.correct(&wave(x.len(), 2), &mut z);
                (body.load.clone(), product, z)
            })
            .collect();
        assert_eq!(results[0], results[1]);
        assert_eq!(results[0], results[2]);
    }

    #[test]
    fn a_fast_spinning_body_at_a_long_step_has_no_resultant_internal_force() {
        let (body, x, _) = beam(0.0);
        let places: Vec<Vec3> = x.iter().map(|x| vec(*x)).collect();
        let mut alone = crate::deformable::alone::Alone::new(body, &places);
        alone.push(Vec3::ZERO, Vec3::new(0.0, 18.0, 24.0), Vec3::ZERO);
        let start = alone.momentum().1;
        for _ in 0..50 {
            alone.step(0.02);
            let (mut push, mut turn, mut size) = (Vec3::ZERO, Vec3::ZERO, 0.0);
            for (force, x) in alone.forces().into_iter().zip(&alone.x) {
                push += force;
                turn += vec(*x).cross(force);
                size += force.length();
            }
            assert!(push.length() < 1e-5 * size && turn.length() < 1e-5 * size, "{push} {turn} {size}");
        }
        let left = alone.momentum().1;
        assert!((left - start).length() < 1e-3 * start.length(), "{start} {left}");
    }

    #[test]
    fn inverted_elements_recover() {
        let (body, x, _) = beam(0.0);
        let places: Vec<Vec3> = x.iter().map(|x| vec(*x)).collect();
        let mut alone = crate::deformable::alone::Alone::new(body, &places);
        // nodes moved past their neighbours
        let before = alone.energy();
        for x in alone.x.iter_mut().step_by(11) {
            x[0] += 0.08;
        }
        let tangled = alone.energy();
        for _ in 0..400 {
            alone.step(0.02);
        }
        let (rest, kinetic) = (alone.energy(), alone.kinetic());
        assert!(before < 1e-6 && rest + kinetic < 1e-4 * tangled, "{tangled} {rest} {kinetic}");
    }

    #[test]
    fn invalid_parameters_are_rejected_by_name() {
        let mesh = TetMesh::block([1; 3], Vec3::ONE).unwrap();
        let params = Params { youngs_modulus: 1e5, poisson_ratio: 0.5, density: 1000.0, damping: 0.0 };
        let error = Corotational::new(&mesh, params).unwrap_err();
        assert!(error.to_string().starts_with("poisson_ratio = 0.5"), "{error}");
    }
}
