//! How the points of bodies move within a step. Nodes go in straight lines. A rigid body's centre goes in a straight
//! line while its rotation follows the chord between two quaternions, normalised: no sine, and the angle α of half the
//! turn obeys tan α = k (t − ½), k = 2|q₁ − q₀|/|q₁ + q₀|. So
//!
//! ```text
//!   spin ω = 2 α' = 2k/(1 + k²(t − ½)²) ≤ 2k,   |α''| ≤ 0.65 k²,   |p''| ≤ (ω² + ω')|r| ≤ 5.3 k² |r|
//! ```
//!
//! The path need not be the one that the substeps took: free of crossings from the start of the step to its end, any
//! path proves that nothing went through.

use crate::math::{Wide3, WideQuat};

/// A rigid motion from one pose to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pivot {
    /// Centre at the start [m], and its way.
    pub x: Wide3,
    pub way: Wide3,
    /// Rotations at the start and at the end, less than half a turn of the quaternion apart.
    pub from: WideQuat,
    pub to: WideQuat,
    /// Unit axis of the turn; zero without one.
    axis: Wide3,
    k: f64,
}

impl Pivot {
    /// Between two poses.
    pub fn new((x, from): (Wide3, WideQuat), (end, to): (Wide3, WideQuat)) -> Self {
        let to = if from.dot(to) < 0.0 { -to } else { to };
        let turn = to * from.conjugate();
        let (apart, sum) = ((to - from).length(), (to + from).length());
        let axis = turn.xyz().try_normalize().unwrap_or(Wide3::ZERO);
        let k = if axis == Wide3::ZERO { 0.0 } else { 2.0 * apart / sum };
        Self { x, way: end - x, from, to, axis, k }
    }

    /// Without motion.
    pub fn still() -> Self {
        Self::new((Wide3::ZERO, WideQuat::IDENTITY), (Wide3::ZERO, WideQuat::IDENTITY))
    }

    /// True when it neither moves nor turns.
    pub fn is_still(&self) -> bool {
        self.way == Wide3::ZERO && self.k == 0.0
    }

    /// Rotation after a share of the step.
    pub fn rotation(&self, share: f64) -> WideQuat {
        if self.k == 0.0 || share <= 0.0 {
            return self.from;
        }
        (self.from * (1.0 - share) + self.to * share).normalize()
    }

    /// Centre after a share of the step [m].
    pub fn centre(&self, share: f64) -> Wide3 {
        self.x + self.way * share
    }

    /// Spin after a share of the step [rad a step].
    pub fn spin(&self, share: f64) -> Wide3 {
        let x = self.k * (share - 0.5);
        self.axis * (2.0 * self.k / (1.0 + x * x))
    }

    /// Largest acceleration of a point this far from the centre [m a step²].
    pub fn bend(&self, arm: f64) -> f64 {
        5.3 * self.k * self.k * arm
    }

    /// How far a point this far from the centre can come [m].
    pub fn travel(&self, arm: f64) -> f64 {
        self.way.length() + arm * (2.0 * self.k).min(2.0)
    }

    /// How far an arc of a point this far from the centre leaves its chord [m].
    pub fn bulge(&self, arm: f64) -> f64 {
        arm * (0.5 * self.k * self.k).min(2.0)
    }
}

/// One point on its way: of nodes, or of a rigid body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Track<'a> {
    /// From here, this far [m].
    Line(Wide3, Wide3),
    /// Of a body: the point in its axes from its centre [m].
    Arc(&'a Pivot, Wide3),
}

impl Track<'_> {
    /// Place [m], velocity [m a step] and largest acceleration at time t of the step.
    pub fn at(&self, t: f64) -> (Wide3, Wide3, f64) {
        match self {
            Self::Line(from, way) => (*from + *way * t, *way, 0.0),
            Self::Arc(pivot, local) => {
                let arm = pivot.rotation(t) * *local;
                let v = pivot.way + pivot.spin(t).cross(arm);
                (pivot.centre(t) + arm, v, pivot.bend(local.length()))
            }
        }
    }
}
