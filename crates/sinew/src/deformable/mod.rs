//! Deformable bodies: the one trait behind which every model hides, and the operator of the implicit ones.
//!
//! A body is asked six things, in the order of the step: `predict`, `operator`, `lower`, `respond`, `advance`, and
//! `refresh` after a restore or an edit. It never sees a row, a contact or another body. Velocity blocks are handed over
//! as the body's own span, so that a body does not know where it lies in its island.

pub mod fem;

use crate::constraint::Term;
use crate::math::{Block, Mat3, Real, Sym3, Vec3};

/// What every phase of a substep knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepContext {
    /// Substep [s].
    pub h: Real,
    /// Which substep of the step this is; A is built when it is 0.
    pub substep: u32,
    /// Acceleration of free fall [m/s²].
    pub gravity: Vec3,
}

/// A body's span of the state, to read. All slices have one entry a block.
#[derive(Clone, Copy, Debug)]
pub struct BodyRef<'a> {
    /// Positions [m] and, last, inverse mass [1/kg]; 0 is pinned: the node follows its `v`.
    pub x: &'a [Block],
    /// Velocities [m/s]; the last number is spare.
    pub v: &'a [Block],
    /// External forces without gravity [N].
    pub force: &'a [Block],
}

/// A body's span of the state, to write.
#[derive(Debug)]
pub struct BodyMut<'a> {
    /// Positions [m] and, last, inverse mass [1/kg].
    pub x: &'a mut [Block],
    /// Velocities [m/s].
    pub v: &'a mut [Block],
    /// External forces without gravity [N].
    pub force: &'a [Block],
}

/// A point of a body's surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SurfacePoint {
    /// A node.
    Node(u32),
    /// A point of a triangle by its barycentric weights.
    Face {
        /// Corners.
        nodes: [u32; 3],
        /// Weights, summing to one.
        weights: [Real; 3],
    },
}

/// A surface point as (block of the body, weight).
pub type Weights = Vec<(u32, Real)>;

/// A deformable model. One file each.
pub trait Deformable: Send + Sync {
    /// Velocity after internal and external forces; an implicit body leaves `v` as the start of the solve and builds A, b.
    fn predict(&mut self, ctx: &StepContext, body: BodyMut<'_>);
    /// The system of an implicit body; none for a body that sweeps can solve.
    fn operator(&self) -> Option<&dyn Operator>;
    /// A surface point as blocks and weights, appended to `out`.
    fn lower(&self, site: SurfacePoint, out: &mut Weights);
    /// Fills `response` of terms that hold `jacobian`, `block` being the body's own: inverse mass along a row, for sweeps.
    /// It must obey mass · response = jacobian summed over the body: the guard sweeps keep momentum only by this.
    fn respond(&self, body: BodyRef<'_>, terms: &mut [Term]);
    /// Positions after a substep.
    fn advance(&mut self, ctx: &StepContext, body: BodyMut<'_>);
    /// Rebuilds what depends on State alone after a restore or an edit.
    fn refresh(&mut self, body: BodyRef<'_>);
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
    /// Mass of each block [kg]; infinite when pinned.
    fn mass(&self) -> &[Real];
    /// The six rigid modes, for the momentum audit; none when a pinned block takes up momentum.
    fn modes(&self) -> Option<Modes<'_>>;
}

/// The six rigid modes of a free body and the momentum they must hold when no row acts.
#[derive(Clone, Copy, Debug)]
pub struct Modes<'a> {
    /// Position of each block from the centre of mass at the start of the substep [m].
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
