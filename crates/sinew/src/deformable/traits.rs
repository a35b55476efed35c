//! Properties of a model as plain data, and the surface points that its coordinates carry.

use super::limit;
use crate::math::{Real, Vec3};
use crate::model::surface::Share;

/// Properties of a model as it is integrated now. They may change only in
/// [`Deformable::set_implicit`](super::Deformable::set_implicit) and
/// [`Deformable::refresh`](super::Deformable::refresh).
///
/// ```
/// use sinew::deformable::{Approximation, Traits};
/// // an explicit model with one number of internal state, stable below 2 ms
/// let traits = Traits { internal_state_count: 1, stable_step: 2e-3, ..Traits::default() };
/// assert_eq!(traits.response, Approximation::Exact);
/// assert_eq!(traits.softening(1e-2), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    /// Count of numbers of internal state that the model stores in State (plastic strain, stretch of dashpots). Constant.
    pub internal_state_count: usize,
    /// Number of constraint rows that the model iterates over itself. Constant.
    pub internal_rows: usize,
    /// What the coordinates of the body are. Constant.
    pub coordinates: Coordinates,
    /// How far [`Deformable::respond`](super::Deformable::respond) is from the velocity change in a substep.
    pub response: Approximation,
    /// The largest stable step at any shape, or at the rest shape when `step_follows_shape` [s]; infinite when any step
    /// is stable.
    pub stable_step: Real,
    /// True when [`Deformable::stable_step_at`](super::Deformable::stable_step_at) depends on the shape. Bodies for
    /// which it does not are tested with a velocity increment first.
    pub step_follows_shape: bool,
    /// True when [`Deformable::advance`](super::Deformable::advance) changes velocities (the second half kick of
    /// Verlet), so that the step must account for it.
    pub kicks_in_advance: bool,
    /// True when the model has an implicit form: [`Deformable::set_implicit`](super::Deformable::set_implicit) then
    /// returns true for true. Constant.
    pub implicit_form: bool,
    /// Stretch limit of an edge, as a fraction of its length, of a model in which a Gauss-Seidel sweep propagates
    /// tension by one edge; infinite: no limit. Such a body may request substeps (`Settings::sheet_substeps`).
    pub stretch_limit: Option<Real>,
    /// Stiffness of an implicit body whose rounding errors exceed its mass in long steps; none when any step is resolved.
    pub conditioning: Option<Conditioning>,
}

impl Default for Traits {
    /// An explicit model on nodes, without internal state, stable at any step.
    fn default() -> Self {
        Self {
            internal_state_count: 0,
            internal_rows: 0,
            coordinates: Coordinates::Nodes,
            response: Approximation::Exact,
            stable_step: Real::INFINITY,
            step_follows_shape: true,
            kicks_in_advance: false,
            implicit_form: false,
            stretch_limit: None,
            conditioning: None,
        }
    }
}

impl Traits {
    /// Fraction of its stiffness that the body keeps in a step of h [s] with `StepContext::resolve` set; below 1 when the
    /// full stiffness would exceed the precision of a real (`limit.rs`).
    pub fn softening(&self, h: Real) -> Real {
        self.conditioning.map_or(1.0, |c| limit::softening(h, c.damping, c.stiffness))
    }

    /// The largest step in which softening removes no more than the excess of the bulk stiffness over the shear
    /// stiffness [s].
    pub fn resolved_step(&self) -> Real {
        let sheared = self.conditioning.filter(|c| c.shear > 0.0);
        sheared.map_or(Real::INFINITY, |c| limit::resolved_step(c.damping, c.stiffness, c.shear))
    }
}

/// Stiffness of an implicit body relative to its mass.
///
/// ```
/// use sinew::deformable::{Conditioning, Traits};
/// let stiff = Conditioning { stiffness: 1e12, damping: 0.0, shear: 1.0 };
/// let traits = Traits { conditioning: Some(stiff), ..Traits::default() };
/// // the step in which its full stiffness is resolved
/// let h = traits.resolved_step();
/// assert!((traits.softening(h) - 1.0).abs() < 1e-3 && traits.softening(2.0 * h) < 0.3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditioning {
    /// Bound of the highest ω² [1/s²].
    pub stiffness: Real,
    /// Stiffness-proportional damping β [s].
    pub damping: Real,
    /// Fraction of the stiffness that remains when the bulk stiffness is reduced to the shear stiffness; 0: the body has
    /// none, and no step is too long.
    pub shear: Real,
}

/// Coordinates of a body: velocity blocks that impulses act on. The first are the nodes, in their order.
///
/// ```
/// use sinew::deformable::{Coordinates, Traits};
/// assert_eq!(Traits::default().coordinates, Coordinates::Nodes);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// Nodes that are points: the response is one inverse mass per node, and a surface point is the sum of nodes that
    /// the surface is bound to. The engine computes both without a call.
    #[default]
    Nodes,
    /// Nodes that are ellipsoids, then as many rotations of them (`rotation.rs`). The engine calls `lower` and
    /// `respond`.
    Ellipsoids,
    /// Nodes with a response of their own, for instance control points with a full mass matrix. The engine calls `lower`
    /// and `respond`.
    Own,
}

/// How far [`Deformable::respond`](super::Deformable::respond) is from the velocity change Δv that an impulse p causes
/// in one substep h, internal forces included. The conformance suite measures it for every model.
///
/// ```
/// use sinew::deformable::Approximation;
/// // A = M + h² K: the lumped response is too large by up to 1 + h² ω²
/// let implicit = Approximation::Lumped { stiffness: 1e4, damping: 0.0, decay: 0.0 };
/// assert!((implicit.least(0.01) - 0.5).abs() < 1e-6);
/// assert_eq!(Approximation::Exact.least(0.01), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Approximation {
    /// Δv is that of `respond` up to rounding.
    Exact,
    /// `respond` has the inertia of the body and no internal force. With A = (1 + h α) M + h (h + β) K ≥ M
    ///
    /// ```text
    ///   1/(1 + h α + h (h + β) ω²) ≤ p·Δv / p·respond(p) ≤ 1
    /// ```
    Lumped {
        /// Bound of the highest ω² [1/s²]; infinite: no lower bound (rigid constraints).
        stiffness: Real,
        /// Stiffness-proportional damping β [s].
        damping: Real,
        /// Rate α at which motion decays [1/s].
        decay: Real,
    },
}

impl Approximation {
    /// The declared lower bound of p·Δv / p·respond(p) in a substep of h [s].
    pub fn least(self, h: Real) -> Real {
        match self {
            Self::Exact => 1.0,
            Self::Lumped { stiffness, damping, decay } => 1.0 / (1.0 + h * decay + h * (h + damping) * stiffness),
        }
    }
}

/// A point of a body's surface that an impulse acts on.
///
/// ```
/// use sinew::{Share, Vec3};
/// use sinew::deformable::SurfacePoint;
/// // half way between two nodes
/// let shares = [Share { node: 0, weight: 0.5 }, Share { node: 1, weight: 0.5 }];
/// let point = SurfacePoint { shares: &shares, at: Vec3::ZERO };
/// assert_eq!(point.shares.len(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint<'a> {
    /// Nodes that the point is bound to, with their weights.
    pub shares: &'a [Share],
    /// Point of action of the impulse in the world [m].
    pub at: Vec3,
}
