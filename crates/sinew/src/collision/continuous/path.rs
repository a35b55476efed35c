//! Trajectories of points of bodies within a step. Nodes move along straight lines. A rigid body's centre moves along a
//! straight line while its rotation follows the chord between two quaternions, normalised: no sine, and the half angle
//! α of the rotation obeys tan α = k (t − ½), k = 2|q₁ − q₀|/|q₁ + q₀|. So
//!
//! ```text
//!   spin ω = 2 α' = 2k/(1 + k²(t − ½)²) ≤ 2k,   |α''| ≤ 0.65 k²,   |p''| ≤ (ω² + ω')|r| ≤ 5.3 k² |r|
//! ```
//!
//! The path need not be the one that the substeps followed: any path from the start of the step to its end that is free
//! of crossings proves that nothing has passed through.

use crate::math::{Wide3, WideQuat};

/// A rigid motion from one pose to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pivot {
    /// Centre at the start [m], and its displacement [m].
    pub x: Wide3,
    pub way: Wide3,
    /// Rotations at the start and at the end, with a non-negative dot product of the quaternions.
    pub from: WideQuat,
    pub to: WideQuat,
    /// Unit axis of the rotation; zero without one.
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

    /// True when it neither moves nor rotates.
    pub fn is_still(&self) -> bool {
        self.way == Wide3::ZERO && self.k == 0.0
    }

    /// Rotation after a fraction of the step.
    pub fn rotation(&self, share: f64) -> WideQuat {
        if self.k == 0.0 || share <= 0.0 {
            return self.from;
        }
        (self.from * (1.0 - share) + self.to * share).normalize()
    }

    /// Centre after a fraction of the step [m].
    pub fn centre(&self, share: f64) -> Wide3 {
        self.x + self.way * share
    }

    /// Angular velocity after a fraction of the step [rad/step].
    pub fn spin(&self, share: f64) -> Wide3 {
        let x = self.k * (share - 0.5);
        self.axis * (2.0 * self.k / (1.0 + x * x))
    }

    /// Largest acceleration of a point at distance `arm` from the centre [m/step²].
    pub fn bend(&self, arm: f64) -> f64 {
        5.3 * self.k * self.k * arm
    }

    /// Upper bound on the displacement of a point at distance `arm` from the centre [m].
    pub fn travel(&self, arm: f64) -> f64 {
        self.way.length() + arm * (2.0 * self.k).min(2.0)
    }

    /// Largest distance between the arc and the chord of a point at distance `arm` from the centre [m].
    pub fn bulge(&self, arm: f64) -> f64 {
        arm * (0.5 * self.k * self.k).min(2.0)
    }
}

/// Trajectory of one point: of a node, or of a rigid body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Track<'a> {
    /// Start position and displacement [m].
    Line(Wide3, Wide3),
    /// Of a rigid body: the point in body axes relative to the centre [m].
    Arc(&'a Pivot, Wide3),
}

impl Track<'_> {
    /// Position [m], velocity [m/step] and bound on the acceleration [m/step²] at time t of the step.
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
