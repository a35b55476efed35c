//! Deformable bodies: the one trait behind which every model hides, and the operator of the implicit ones.
//!
//! A body is asked, in the order of the step: `predict`, `operator` (the solver's part), `advance`; and `refresh` after a
//! restore or an edit. It never sees a row, a contact or another body. Its nodes are handed over as its own span, so that a
//! body does not know where it lies in its island. All that it remembers from step to step is x, v and `inner`: they are
//! State. What it keeps in itself is either constant since the last edit or rebuilt by `predict`.

pub mod alone;
pub mod cloth;
#[cfg(test)]
mod conformance;
pub mod fem;
mod limit;
pub mod meshless;
pub mod oriented;
pub mod particle;
pub(crate) mod parts;
pub mod pbd;
pub mod shape_matching;
pub mod spring;
mod system;

use crate::math::{Block, Mat3, Quat, Real, Sym3, Vec3, add, outer, vec};
use crate::solver::pool::Pool;

/// What every phase of a substep knows.
#[derive(Clone, Copy, Debug)]
pub struct StepContext<'a> {
    /// Substep [s].
    pub h: Real,
    /// Which substep of the step this is; A is built when it is 0.
    pub substep: u32,
    /// True in the last substep of the step: limits are enforced there.
    pub last: bool,
    /// Use eight-wide kernels; the scalar path gives the same bits.
    pub lanes: bool,
    /// Soften what is too stiff for the digits of a real at this h. Off in reference solves, which take steps of hours.
    pub resolve: bool,
    /// Threads to share large loops with; none: the caller alone. The result does not depend on it.
    pub(crate) pool: Option<&'a Pool>,
}

impl<'a> StepContext<'a> {
    /// A substep of `h` [s] on the caller's thread, the last of its step.
    pub fn new(h: Real, substep: u32) -> Self {
        Self { h, substep, last: true, lanes: true, resolve: false, pool: None }
    }

    /// The same with large loops shared among threads.
    pub fn shared(self, pool: &'a Pool) -> Self {
        Self { pool: Some(pool), ..self }
    }
}

/// A body's span of the state, to read. Slices have one entry a node, but for `inner`.
#[derive(Clone, Copy, Debug)]
pub struct BodyRef<'a> {
    /// Positions [m]; the last number is spare.
    pub x: &'a [Block],
    /// Velocities [m/s] and, last, inverse mass [1/kg]; 0 is pinned: the node follows its velocity.
    pub v: &'a [Block],
    /// The model's own memory, `inner_count` numbers.
    pub inner: &'a [Real],
}

/// A body's span of the state, to write.
#[derive(Debug)]
pub struct BodyMut<'a> {
    /// Positions [m]; the last number is spare.
    pub x: &'a mut [Block],
    /// Velocities [m/s] and, last, inverse mass [1/kg].
    pub v: &'a mut [Block],
    /// All external forces, gravity among them [N].
    pub force: &'a [Vec3],
    /// The model's own memory, `inner_count` numbers.
    pub inner: &'a mut [Real],
}

impl BodyMut<'_> {
    /// The same span, to read.
    pub fn read(&self) -> BodyRef<'_> {
        BodyRef { x: self.x, v: self.v, inner: self.inner }
    }

    /// v += h f/m of the external forces, for bodies that are not implicit.
    pub fn kick(&mut self, h: Real) {
        for (v, f) in self.v.iter_mut().zip(self.force) {
            add(v, *f * (v[3] * h));
        }
    }
}

/// A deformable model. One file each.
pub trait Deformable: std::fmt::Debug + Send + Sync {
    /// Lumped masses [kg], one a node: what State's inverse masses are made of.
    fn masses(&self) -> &[Real];

    /// Numbers of memory that the model needs in State (plastic strain, stretch of dashpots).
    fn inner_count(&self) -> usize {
        0
    }

    /// Rows that the model sweeps itself.
    fn inner_rows(&self) -> usize {
        0
    }

    /// The memory of a body that was never touched.
    fn rest_inner(&self, inner: &mut [Real]) {
        inner.fill(0.0);
    }

    /// The memory of a body that is turned and set spinning as a whole [rad/s].
    fn carry_inner(&self, _turn: Quat, _spin: Vec3, _inner: &mut [Real]) {}

    /// Semi-axes of nodes that are ellipsoids with an orientation and a spin of their own (`oriented/mod.rs`), one a
    /// node [m]; empty for nodes that are points.
    fn ellipsoids(&self) -> &[Vec3] {
        &[]
    }

    /// Angular momentum [kg·m²/s] and kinetic energy [J] that nodes hold by turning in themselves.
    fn own_spin(&self, _body: BodyRef<'_>) -> (Vec3, Real) {
        (Vec3::ZERO, 0.0)
    }

    /// The largest step that this model, as it is integrated now, can take [s]; infinite when any step is stable.
    fn stable_step(&self) -> Real {
        Real::INFINITY
    }

    /// True when `stable_step_at` knows the shape. Bodies that do not are tried with a kick before they are trusted.
    fn sees_strain(&self) -> bool {
        true
    }

    /// As `stable_step`, for the shape that the body is in: strained matter is stiffer [s].
    fn stable_step_at(&mut self, _body: BodyRef<'_>) -> Real {
        self.stable_step()
    }

    /// Takes an implicit integrator instead of the explicit one it was made with (true), or goes back to that (false). The
    /// step asks for it when `stable_step_at` needs more substeps than there may be. Returns whether the model is implicit
    /// now; one that cannot be stays as it is. An integrator chosen implicit is never undone.
    fn go_implicit(&mut self, _on: bool) -> bool {
        self.operator().is_some()
    }

    /// Part of its stiffness that the body has in a step of h [s] that resolves, as it is integrated now; below 1 when all
    /// of it would be beyond the digits of a real (`limit.rs`).
    fn softening(&self, _h: Real) -> Real {
        1.0
    }

    /// The largest step in which softening takes no more than the excess of compression over shear [s].
    fn resolved_step(&self) -> Real {
        Real::INFINITY
    }

    /// Velocity after internal and external forces; an implicit body leaves `v` as the start of the solve and builds A, b.
    fn predict(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>);

    /// The system of an implicit body; none for a body that sweeps can solve.
    fn operator(&self) -> Option<&dyn Operator> {
        None
    }

    /// The body as nodes under distance rows, when it is nothing else: a step may then keep it in columns.
    #[doc(hidden)]
    fn network(&mut self) -> Option<&mut cloth::DistanceNetwork> {
        None
    }

    /// Stretch of an edge, as a share of its length, that a model takes back whose pulls go on by one edge a sweep; infinite: none.
    /// Such a body may ask for substeps (`Settings::sheet_substeps`).
    fn stretch_limit(&self) -> Option<Real> {
        None
    }

    /// Positions after a substep, and what the model remembers.
    fn advance(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        for (x, v) in body.x.iter_mut().zip(body.v.iter()) {
            add(x, vec(*v) * ctx.h);
        }
    }

    /// True when `advance` changes velocities (the second half kick of Verlet), so that the step must look for it.
    fn kicks_in_advance(&self) -> bool {
        false
    }

    /// Rebuilds what depends on State and on who is pinned, after a restore or an edit. The next step must not differ
    /// whether or not this was called.
    fn refresh(&mut self, _body: BodyRef<'_>) {}

    /// Elastic energy [J]; 0 for models that have none (goals instead of forces).
    fn energy(&self, body: BodyRef<'_>) -> Real;

    /// Elastic forces at x, without damping [N], added to `out`. Returns false for models that have goals instead.
    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool;

    /// Strain and stress of each element, appended; nothing for models without elements.
    fn element_stress(&self, _body: BodyRef<'_>, _out: &mut Vec<ElementStress>) {}
}

/// What an element feels.
///
/// An example is at [`ElasticView`](crate::ElasticView).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementStress {
    /// Where: centre of the element now [m].
    pub at: Vec3,
    /// Strain in the turned frame of the element (Green's for hyperelastic models).
    pub strain: Sym3,
    /// Cauchy stress, world axes [Pa].
    pub stress: Sym3,
}

/// A v = b of one implicit body, as the CG sees it. Slices have one entry for each of the body's blocks.
pub trait Operator: Send + Sync {
    /// Number of blocks.
    fn block_count(&self) -> usize;
    /// out = A v [N·s]; v is zero on pinned blocks, and what is written there is not read.
    fn apply(&self, v: &[Block], out: &mut [Block]);
    /// The 3x3 diagonal blocks of A [kg].
    fn diagonal(&self, out: &mut [Mat3]);
    /// The right-hand side b = M v + h f [N·s].
    fn load(&self) -> &[Block];
    /// Mass of each block [kg], of a spin a moment of inertia of its size [kg·m²]; infinite when pinned.
    fn mass(&self) -> &[Real];
    /// Blocks that have a place; those behind them are spins.
    fn point_count(&self) -> usize {
        self.block_count()
    }
    /// What a block that is not pinned holds at velocity or spin v: M v [N·s, N·m·s].
    fn momentum(&self, block: usize, v: Vec3) -> Vec3 {
        v * self.mass()[block]
    }
    /// b − M v of every block, zero where pinned: what forces do in the substep [N·s].
    fn force_impulse(&self, v: &[Block], out: &mut [Block]) {
        let given = self.load().iter().zip(v).zip(self.mass());
        for (k, (out, ((load, v), mass))) in out.iter_mut().zip(given).enumerate() {
            let push = vec(*load) - self.momentum(k, vec(*v));
            *out = if mass.is_finite() { [push.x, push.y, push.z, 0.0] } else { [0.0; 4] };
        }
    }
    /// Momentum and spin that the blocks lack at v of what the modes must hold, rows left out [N·s], [N·m·s].
    ///
    /// M stands here, not A: the corotational K makes a torque when it turns a strained body, and the residual of A would
    /// keep it.
    fn momentum_defect(&self, modes: &Modes<'_>, v: &[Block]) -> (Vec3, Vec3) {
        let (mut momentum, mut spin) = (modes.momentum, modes.spin);
        for (k, v) in v.iter().enumerate() {
            let (push, twist) = modes.to_wrench(k, self.momentum(k, vec(*v)));
            momentum -= push;
            spin -= twist;
        }
        (momentum, spin)
    }
    /// The six rigid modes, for the momentum audit; none when a pinned block takes up momentum.
    fn modes(&self) -> Option<Modes<'_>>;
    /// Adds a coarse correction of the residual to z, symmetric and positive: asked only while no row touches the body,
    /// because a coarse space without the rows' stiffness is worse than none (`docs/design-trial.md`).
    fn correct(&self, _residual: &[Block], _z: &mut [Block]) {}
    /// A few smooth motions of the body, for the coarse space that it shares with what it touches.
    fn smooth(&self) -> Option<&dyn SmoothMotions> {
        None
    }
}

/// Smooth motions Z of a body at its present shape: a coarse space of its velocities.
pub trait SmoothMotions {
    /// How many; a multiple of eight.
    fn count(&self) -> usize;
    /// Zᵀ A Z, nearly: row after row. (count²) [kg]
    fn stiffness(&self) -> &[Real];
    /// Adds Zᵀ of a push on one block. (count)
    fn see(&self, block: usize, push: Vec3, out: &mut [Real]);
    /// out = Zᵀ r. (count)
    fn gather(&self, r: &[Block], out: &mut [Real]);
    /// z += Z y.
    fn spread(&self, y: &[Real], z: &mut [Block]);
}

/// The six rigid modes of a free body and the momentum they must hold when no row acts.
#[derive(Clone, Copy, Debug)]
pub struct Modes<'a> {
    /// Position of each block that has a place, from the centre of mass at the start of the substep [m]. Blocks behind
    /// them are spins.
    pub arms: &'a [Vec3],
    /// Total mass [kg].
    pub mass: Real,
    /// Inertia about the centre of mass [kg·m²].
    pub inertia: Sym3,
    /// Σ m v + h f over external forces only [N·s]. Not Σ b: inner forces cancel in exact arithmetic alone.
    pub momentum: Vec3,
    /// Σ arm × (m v + h f), external forces only [N·m·s].
    pub spin: Vec3,
}

impl Modes<'_> {
    /// Momentum and spin of the whole that a push on a block is.
    pub fn to_wrench(&self, block: usize, push: Vec3) -> (Vec3, Vec3) {
        self.arms.get(block).map_or((Vec3::ZERO, push), |arm| (push, arm.cross(push)))
    }

    /// What a block does while the body moves as one.
    pub fn part(&self, block: usize, shift: Vec3, turn: Vec3) -> Vec3 {
        self.arms.get(block).map_or(turn, |arm| shift + turn.cross(*arm))
    }
}

/// Sums over a free body that its rigid modes need; kept by implicit models.
#[derive(Clone, Debug, Default)]
pub struct RigidSums {
    arms: Vec<Vec3>,
    totals: Option<(Real, Sym3, Vec3, Vec3)>,
}

impl RigidSums {
    /// Centre, arms, inertia and the momentum that external forces alone would leave.
    pub fn sum_up(&mut self, masses: &[Real], h: Real, body: &BodyMut<'_>) {
        self.totals = None;
        if body.v.iter().any(|v| v[3] == 0.0) {
            return;
        }
        let total: Real = masses.iter().sum();
        let moment = masses.iter().zip(body.x.iter()).fold(Vec3::ZERO, |s, (&m, &x)| s + vec(x) * m);
        let centre = moment / total;
        let (mut inertia, mut momentum, mut spin) = (Mat3::ZERO, Vec3::ZERO, Vec3::ZERO);
        self.arms.clear();
        for (node, &mass) in masses.iter().enumerate() {
            let arm = vec(body.x[node]) - centre;
            let push = vec(body.v[node]) * mass + body.force[node] * h;
            self.arms.push(arm);
            momentum += push;
            spin += arm.cross(push);
            inertia += (Mat3::from_diagonal(Vec3::splat(arm.length_squared())) - outer(arm, arm)) * mass;
        }
        self.totals = Some((total, Sym3::from_mat(&inertia), momentum, spin));
    }

    /// Adds what nodes have by turning in themselves: inertia, and spin with external torques. Comes after `sum_up`.
    pub fn add_spins(&mut self, own: Sym3, turning: Vec3) {
        if let Some((_, inertia, _, spin)) = &mut self.totals {
            *inertia = Sym3::from_mat(&(inertia.to_mat() + own.to_mat()));
            *spin += turning;
        }
    }

    /// The modes, unless a node is pinned.
    pub fn modes(&self) -> Option<Modes<'_>> {
        let (mass, inertia, momentum, spin) = self.totals?;
        Some(Modes { arms: &self.arms, mass, inertia, momentum, spin })
    }
}
