//! Deformable bodies: the trait that every model implements, and the linear operator of the implicit models.
//!
//! A user's own model implements [`Deformable`] and enters a world as [`SoftModel::Custom`](crate::SoftModel::Custom);
//! `docs/adding-a-model.md` is the guide.
//!
//! The solver calls a body in the order of the step: `predict`, `operator` (the body's block of the implicit system),
//! `lower` and `respond` for the rows on it, `advance`; and `refresh` after a restore or an edit. A body has no access to
//! constraint rows, contacts or other bodies. Its nodes are passed as a span of their own, so that a body does not depend
//! on its offset in the island. The complete state from step to step is x, v and `internal_state`: they are stored in
//! State. Data inside the model is either constant since the last edit or rebuilt by `predict`.

mod alone;
#[doc(hidden)]
pub mod cloth;
#[cfg(test)]
mod conformance;
#[doc(hidden)]
pub mod fem;
mod limit;
#[doc(hidden)]
pub mod meshless;
#[doc(hidden)]
pub mod oriented;
#[doc(hidden)]
pub mod particle;
pub(crate) mod parts;
#[doc(hidden)]
pub mod pbd;
pub(crate) mod reserved;
pub mod rotation;
#[doc(hidden)]
pub mod shape_matching;
#[doc(hidden)]
pub mod spring;
mod system;
mod traits;

pub use alone::Alone;
pub use traits::{Approximation, Conditioning, Coordinates, SurfacePoint, Traits};

use crate::math::{Block, Mat3, Quat, Real, Sym3, Vec3, add, outer, vec};
use crate::solver::pool::Pool;

/// Data that every phase of a substep needs.
///
/// An example is at [`CustomModel`](crate::CustomModel).
#[derive(Clone, Copy, Debug)]
pub struct StepContext<'a> {
    /// Substep [s].
    pub h: Real,
    /// Index of the substep in the step; A is built when it is 0.
    pub substep: u32,
    /// True in the last substep of the step: limits are enforced there.
    pub last: bool,
    /// Use eight-wide kernels; the scalar path gives the same bits.
    pub lanes: bool,
    /// Reduce stiffness that exceeds the precision of a real at this h. Off in reference solves, which take steps of
    /// hours.
    pub resolve: bool,
    /// Threads for large loops; none: the calling thread only. The result does not depend on it.
    pub(crate) pool: Option<&'a Pool>,
}

impl<'a> StepContext<'a> {
    /// A substep of `h` [s] on the caller's thread, the last of its step.
    pub fn new(h: Real, substep: u32) -> Self {
        Self { h, substep, last: true, lanes: true, resolve: false, pool: None }
    }

    /// The same with large loops distributed over threads.
    pub fn shared(self, pool: &'a Pool) -> Self {
        Self { pool: Some(pool), ..self }
    }
}

/// A body's span of the state, read-only. Slices have one entry per node, except `internal_state`.
///
/// An example is at [`CustomModel`](crate::CustomModel).
#[derive(Clone, Copy, Debug)]
pub struct BodyRef<'a> {
    /// Positions [m]; the fourth number is unused.
    pub x: &'a [Block],
    /// Velocities [m/s] and, fourth, inverse mass [1/kg]; 0 is a pinned node: it moves with its velocity.
    pub v: &'a [Block],
    /// Internal state of the model, `Traits::internal_state_count` numbers.
    pub internal_state: &'a [Real],
}

/// A body's span of the state, mutable.
///
/// An example is at [`CustomModel`](crate::CustomModel).
#[derive(Debug)]
pub struct BodyMut<'a> {
    /// Positions [m]; the fourth number is unused.
    pub x: &'a mut [Block],
    /// Velocities [m/s] and, fourth, inverse mass [1/kg].
    pub v: &'a mut [Block],
    /// All external forces, including gravity [N].
    pub force: &'a [Vec3],
    /// Internal state of the model, `Traits::internal_state_count` numbers.
    pub internal_state: &'a mut [Real],
}

impl BodyMut<'_> {
    /// The same span, read-only.
    pub fn read(&self) -> BodyRef<'_> {
        BodyRef { x: self.x, v: self.v, internal_state: self.internal_state }
    }

    /// v += h f/m of the external forces, for bodies that are not implicit.
    pub fn kick(&mut self, h: Real) {
        for (v, f) in self.v.iter_mut().zip(self.force) {
            add(v, *f * (v[3] * h));
        }
    }
}

/// A deformable model. One file each.
///
/// The conformance suite (`deformable/conformance.rs`) tests every model of the engine; `docs/adding-a-model.md`
/// describes how a user's own model enters a world through [`SoftModel::Custom`](crate::SoftModel::Custom).
///
/// An example is at [`CustomModel`](crate::CustomModel).
pub trait Deformable: std::fmt::Debug + Send + Sync {
    /// Lumped masses [kg], one per node: the source of the inverse masses in State, and of the weight.
    fn masses(&self) -> &[Real];

    /// Properties of the model as it is integrated now.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// Velocity after internal and external forces; an implicit body leaves `v` as the initial guess of the solve and
    /// builds A, b.
    fn predict(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>);

    /// The system of an implicit body; none for a body that is solved by Gauss-Seidel sweeps.
    fn operator(&self) -> Option<&dyn Operator> {
        None
    }

    /// The impulse at a surface point as impulses on coordinates: `add` gets coordinate and impulse [N·s], for a rotation
    /// the angular impulse [N·m·s]. A coordinate that the body does not have is ignored. Called unless
    /// `Traits::coordinates` is `Nodes`; this is what the engine computes then.
    fn lower(&self, _body: BodyRef<'_>, point: SurfacePoint<'_>, impulse: Vec3, add: &mut dyn FnMut(u32, Vec3)) {
        for share in point.shares {
            add(share.node, impulse * share.weight);
        }
    }

    /// Velocity change of the coordinates by impulses on some of them [N·s]: `add` gets coordinate and change [m/s], for
    /// a rotation [rad/s]; changes of one coordinate are summed, those of a coordinate that the body does not have are
    /// ignored. Linear and symmetric in the impulses. Its error within a
    /// substep is declared as `Traits::response`. Called unless `Traits::coordinates` is `Nodes`; this is what the engine
    /// computes then.
    fn respond(&self, body: BodyRef<'_>, impulses: &[(u32, Vec3)], add: &mut dyn FnMut(u32, Vec3)) {
        for &(coordinate, impulse) in impulses {
            add(coordinate, impulse * body.v[coordinate as usize][3]);
        }
    }

    /// Positions after a substep, and the internal state of the model.
    fn advance(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        for (x, v) in body.x.iter_mut().zip(body.v.iter()) {
            add(x, vec(*v) * ctx.h);
        }
    }

    /// Rebuilds data that depends on State and on the set of pinned nodes, after a restore or an edit. The next step
    /// must not differ whether or not this was called.
    fn refresh(&mut self, _body: BodyRef<'_>) {}

    /// Elastic energy [J]; 0 for models that have none (goal positions instead of forces).
    fn energy(&self, body: BodyRef<'_>) -> Real;

    /// Elastic forces at x, without damping [N], added to `out`. Returns false for models with goal positions instead.
    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool;

    /// The internal state of a body in its rest shape, rotated and with an angular velocity [rad/s] as a whole.
    fn start(&self, _rotation: Quat, _spin: Vec3, internal_state: &mut [Real]) {
        internal_state.fill(0.0);
    }

    /// As `Traits::stable_step`, for the current shape of the body: strained material is stiffer [s].
    fn stable_step_at(&mut self, _body: BodyRef<'_>) -> Real {
        self.traits().stable_step
    }

    /// Switches to an implicit integrator instead of the explicit one that the model was built with (true), or back
    /// (false). The step calls it when `stable_step_at` needs more substeps than allowed. Returns whether the model is
    /// implicit now; a model without an implicit form is unchanged. An integrator chosen implicit by the user is never
    /// switched back.
    fn set_implicit(&mut self, _on: bool) -> bool {
        self.operator().is_some()
    }

    /// Strain and stress of each element, appended; nothing for models without elements.
    fn element_stress(&self, _body: BodyRef<'_>, _out: &mut Vec<ElementStress>) {}

    /// Semi-axes of the nodes of a body whose `Traits::coordinates` are `Ellipsoids` [m].
    fn ellipsoids(&self) -> &[Vec3] {
        &[]
    }

    /// The body as one whose elements are edited in place, when it was made with a reserve.
    #[doc(hidden)]
    fn reserved(&mut self) -> Option<&mut dyn reserved::Reserved> {
        None
    }

    /// The body as nodes under distance constraints, when it has no others: a step may then store it as a structure of
    /// arrays.
    #[doc(hidden)]
    fn network(&mut self) -> Option<&mut cloth::DistanceNetwork> {
        None
    }
}

/// State of strain and stress of an element.
///
/// An example is at [`ElasticView`](crate::ElasticView).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementStress {
    /// Centre of the element in the current configuration [m].
    pub at: Vec3,
    /// Strain in the co-rotated frame of the element (Green's for hyperelastic models).
    pub strain: Sym3,
    /// Cauchy stress, world axes [Pa].
    pub stress: Sym3,
}

/// A v = b of one implicit body, as the CG uses it. Slices have one entry for each of the body's blocks.
///
/// An example is at [`RigidSums`].
pub trait Operator: Send + Sync {
    /// Number of blocks.
    fn block_count(&self) -> usize;
    /// out = A v [N·s]; v is zero on pinned blocks, and the values written there are not read.
    fn apply(&self, v: &[Block], out: &mut [Block]);
    /// The 3x3 diagonal blocks of A [kg].
    fn diagonal(&self, out: &mut [Mat3]);
    /// The right-hand side b = M v + h f [N·s].
    fn load(&self) -> &[Block];
    /// Mass of each block [kg], for a rotational block a moment of inertia of its size [kg·m²]; infinite when pinned.
    fn mass(&self) -> &[Real];
    /// Number of translational blocks; the blocks after them are angular velocities.
    fn point_count(&self) -> usize {
        self.block_count()
    }
    /// Momentum of a block that is not pinned at velocity or angular velocity v: M v [N·s, N·m·s].
    fn momentum(&self, block: usize, v: Vec3) -> Vec3 {
        v * self.mass()[block]
    }
    /// b − M v of every block, zero where pinned: the impulse of the forces in the substep [N·s].
    fn force_impulse(&self, v: &[Block], out: &mut [Block]) {
        let given = self.load().iter().zip(v).zip(self.mass());
        for (k, (out, ((load, v), mass))) in out.iter_mut().zip(given).enumerate() {
            let push = vec(*load) - self.momentum(k, vec(*v));
            *out = if mass.is_finite() { [push.x, push.y, push.z, 0.0] } else { [0.0; 4] };
        }
    }
    /// Linear and angular momentum missing at v with respect to the target of the rigid modes, constraint rows excluded
    /// [N·s], [N·m·s].
    ///
    /// M is used here, not A: the corotational K produces a torque when it rotates a strained body, and the residual of
    /// A would retain it.
    fn momentum_defect(&self, modes: &Modes<'_>, v: &[Block]) -> (Vec3, Vec3) {
        let (mut momentum, mut spin) = (modes.momentum, modes.spin);
        for (k, v) in v.iter().enumerate() {
            let (push, twist) = modes.to_wrench(k, self.momentum(k, vec(*v)));
            momentum -= push;
            spin -= twist;
        }
        (momentum, spin)
    }
    /// The six rigid modes, for the momentum correction; none when a pinned block absorbs momentum.
    fn modes(&self) -> Option<Modes<'_>>;
    /// Adds a coarse correction of the residual to z, symmetric and positive. It is called only while no constraint row
    /// acts on the body, because a coarse space without the rows' stiffness is worse than none
    /// (`docs/design-trial.md`).
    fn correct(&self, _residual: &[Block], _z: &mut [Block]) {}
    /// A few smooth motions of the body, for the coarse space of the body together with the bodies in contact with it.
    fn smooth(&self) -> Option<&dyn SmoothMotions> {
        None
    }
}

/// Smooth motions Z of a body at its current shape: a coarse space of its velocities.
///
/// An example is at [`RigidSums`].
pub trait SmoothMotions {
    /// Number of motions; a multiple of eight.
    fn count(&self) -> usize;
    /// Approximation of Zᵀ A Z, row by row. (count²) [kg]
    fn stiffness(&self) -> &[Real];
    /// Adds Zᵀ of an impulse on one block. (count)
    fn see(&self, block: usize, push: Vec3, out: &mut [Real]);
    /// out = Zᵀ r. (count)
    fn gather(&self, r: &[Block], out: &mut [Real]);
    /// z += Z y.
    fn spread(&self, y: &[Real], z: &mut [Block]);
}

/// The six rigid modes of a free body and the momentum that they must have when no constraint row acts.
///
/// An example is at [`RigidSums`].
#[derive(Clone, Copy, Debug)]
pub struct Modes<'a> {
    /// Position of each translational block relative to the centre of mass at the start of the substep [m]. The blocks
    /// after them are angular velocities.
    pub arms: &'a [Vec3],
    /// Total mass [kg].
    pub mass: Real,
    /// Inertia about the centre of mass [kg·m²].
    pub inertia: Sym3,
    /// Σ m v + h f over external forces only [N·s]. Not Σ b: internal forces cancel in exact arithmetic only.
    pub momentum: Vec3,
    /// Σ arm × (m v + h f), external forces only [N·m·s].
    pub spin: Vec3,
}

impl Modes<'_> {
    /// Linear and angular momentum of the body for an impulse on one block.
    pub fn to_wrench(&self, block: usize, push: Vec3) -> (Vec3, Vec3) {
        self.arms.get(block).map_or((Vec3::ZERO, push), |arm| (push, arm.cross(push)))
    }

    /// Velocity of a block in a rigid motion of the body.
    pub fn part(&self, block: usize, shift: Vec3, turn: Vec3) -> Vec3 {
        self.arms.get(block).map_or(turn, |arm| shift + turn.cross(*arm))
    }
}

/// Sums over a free body for its rigid modes; stored by implicit models.
///
/// ```
/// use sinew::Vec3;
/// use sinew::deformable::{BodyMut, RigidSums};
/// // two nodes of 1 kg that turn about their centre, without forces
/// let mut x = [[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]];
/// let mut v = [[0.0, 2.0, 0.0, 1.0], [0.0, -2.0, 0.0, 1.0]];
/// let mut sums = RigidSums::default();
/// let body = BodyMut { x: &mut x, v: &mut v, force: &[Vec3::ZERO; 2], internal_state: &mut [] };
/// sums.sum_up(&[1.0, 1.0], 0.01, &body);
/// let modes = sums.modes().expect("no node is pinned");
/// assert_eq!((modes.mass, modes.spin), (2.0, Vec3::Z * 4.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RigidSums {
    arms: Vec<Vec3>,
    totals: Option<(Real, Sym3, Vec3, Vec3)>,
}

impl RigidSums {
    /// Empty sums, with room for this many nodes.
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        Self { arms: Vec::with_capacity(nodes), totals: None }
    }

    /// Centre of mass, arms, inertia and the momentum after external forces alone.
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

    /// Adds the nodes' own rotation: inertia, and angular momentum with external torques. Call after `sum_up`.
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
