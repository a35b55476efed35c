//! Joints on deformables: a patch of surface attached to a rigid body or to the world.
//!
//! The patch is a set of surface points with weights; through them it is a set of nodes with weights w, Σ w = 1. Its
//! position is c = Σ w x, and its orientation R is the rotation nearest to Σ w (x − c) rᵀ, r the nodes' offsets from c
//! when the joint was added. While the nodes move, R rotates with
//!
//! ```text
//!   ω = G Σ w (R r) × v,   G = (tr S·1 − S)⁻¹,   S = Σ w (x − c)(R r)ᵀ
//! ```
//!
//! (the derivative of the polar factor; S is symmetric), so that a row about t has J_j = w_j (G t) × R r_j. As Σ w r =
//! 0 such a row exerts no net force. The patch can deform freely: only its mean position and orientation are
//! constrained.
//!
//! Ball: three rows on c. Hinge: also two on the tilt of the axis. Fixed: also three on the orientation.

use super::row::{Bounds, RowBuffer, Term, Wish};
use super::site::{View, check_surfels};
use super::{Kind, Traits};
use crate::error::{Error, check, finite_vec};
use crate::math::{Mat3, Pose, Quat, Real, Sym3, Vec3, any_orthonormal, nearest_rotation};
use crate::model::{BodyId, Nodes};
use crate::solver::soft::Softness;
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, record, words};

/// The degrees of freedom that a joint on a patch leaves free.
///
/// An example is at [`PatchJoint`](crate::PatchJoint).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// All rotations about the centre of the patch.
    Ball,
    /// The rotation about the axis through the centre of the patch.
    Hinge,
    /// Nothing.
    Fixed,
}

/// A joint between a patch of a body's surface and a rigid body or the world.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.2))?;
/// let mut world = World::default();
/// let jelly = world.add_soft(SoftBody::corotational(block, ElasticMaterial::jelly()))?;
/// // the mean position and orientation of its first surface points are fixed in the world
/// world.add_patch_joint(PatchJoint::fixed(jelly, [0, 1, 2, 3], None))?;
/// for _ in 0..30 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(jelly)?.position().y > -0.5);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PatchJoint {
    /// The degrees of freedom left free.
    pub kind: PatchKind,
    /// The body with the surface.
    pub body: BodyId,
    /// Surface points of the patch.
    pub surfels: Vec<u32>,
    /// Their weights; empty: all equal. They need not sum to one.
    pub weights: Vec<Real>,
    /// The rigid body; none: the world.
    pub to: Option<BodyId>,
    /// Axis of a hinge, world axes at the time the joint is added.
    pub axis: Vec3,
    /// Breaks when its force exceeds this [N].
    pub break_force: Real,
    /// Let the two bodies collide.
    pub collide: bool,
    /// Relative pose of the two sides when the joint was added; computed at that time if none.
    pub rest: Option<PatchRest>,
}

/// Configuration of a patch when its joint was added.
///
/// An example is at [`PatchJoint`](crate::PatchJoint).
#[derive(Clone, Debug, PartialEq)]
pub struct PatchRest {
    /// Centre and orientation of the patch in the frame of the other side.
    pub place: Pose,
    /// Offsets of the nodes from the centre, in ascending order of node index [m].
    pub offsets: Vec<Vec3>,
}

impl PatchJoint {
    fn new(kind: PatchKind, body: BodyId, surfels: impl Into<Vec<u32>>, to: Option<BodyId>) -> Self {
        Self {
            kind,
            body,
            surfels: surfels.into(),
            weights: Vec::new(),
            to,
            axis: Vec3::X,
            break_force: Real::INFINITY,
            collide: false,
            rest: None,
        }
    }

    /// Fixes the centre of a patch.
    pub fn ball(body: BodyId, surfels: impl Into<Vec<u32>>, to: Option<BodyId>) -> Self {
        Self::new(PatchKind::Ball, body, surfels, to)
    }

    /// Lets a patch rotate about an axis through its centre, world axes.
    pub fn hinge(body: BodyId, surfels: impl Into<Vec<u32>>, to: Option<BodyId>, axis: impl Into<Vec3>) -> Self {
        Self { axis: axis.into(), ..Self::new(PatchKind::Hinge, body, surfels, to) }
    }

    /// Fixes centre and orientation of a patch.
    pub fn fixed(body: BodyId, surfels: impl Into<Vec<u32>>, to: Option<BodyId>) -> Self {
        Self::new(PatchKind::Fixed, body, surfels, to)
    }

    /// Weights of the surface points, such as the areas they represent.
    pub fn weights(mut self, weights: impl Into<Vec<Real>>) -> Self {
        self.weights = weights.into();
        self
    }

    /// Breaks above this force [N].
    pub fn break_force(mut self, force: Real) -> Self {
        self.break_force = force;
        self
    }

    /// Lets the two bodies collide.
    pub fn collide(mut self, yes: bool) -> Self {
        self.collide = yes;
        self
    }

    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltPatchJoint, Error> {
        let bad = |reason: &str| Error::BadConstraint { constraint: "patch joint", reason: reason.to_owned() };
        let nodes = view.model.nodes(self.body)?;
        super::site::check_lumped("patch joint", nodes)?;
        check("patch.break_force", self.break_force, self.break_force > 0.0, "above 0 (infinity: never breaks)")?;
        finite_vec("patch.axis", self.axis)?;
        let shares = self.shares(nodes)?;
        let slot = self.body.index;
        let c = shares.iter().fold(Vec3::ZERO, |sum, &(node, w)| sum + view.node(slot, node) * w);
        let (on, other) = match self.to {
            None => (None, Pose::IDENTITY),
            Some(id) => (Some((id.index, view.model.rigid(id)?.local_center)), view.body_pose(id)?),
        };
        let rest = self.rest.clone().unwrap_or_else(|| PatchRest {
            place: other.relative(&Pose::at(c)),
            offsets: shares.iter().map(|&(node, _)| view.node(slot, node) - c).collect(),
        });
        if rest.offsets.len() != shares.len() || !rest.place.is_finite() || rest.offsets.iter().any(|r| !r.is_finite())
        {
            return Err(bad("its stored rest configuration does not match the patch"));
        }
        let axis = self.axis.try_normalize().ok_or_else(|| bad("its axis has no direction"))?;
        let built = BuiltPatchJoint {
            slot,
            to: on.map(|o| o.0),
            local: rest.place.position - on.map_or(Vec3::ZERO, |o| o.1),
            // the patch's own axes were the world's when the joint was added
            axis: rest.place.rotation * axis,
            shares: shares.iter().zip(&rest.offsets).map(|(&(node, w), &r)| (node, w, r)).collect(),
            source: Self { rest: Some(rest), ..self.clone() },
        };
        if self.kind != PatchKind::Ball && built.stiffness_of_frame(Quat::IDENTITY, None).is_none() {
            return Err(bad("its patch is a point or a line: its orientation is undefined"));
        }
        Ok(built)
    }

    /// Nodes of the patch, ascending, with weights that sum to one.
    fn shares(&self, nodes: &Nodes) -> Result<Vec<(u32, Real)>, Error> {
        let bad = |reason: String| Error::BadConstraint { constraint: "patch joint", reason };
        if self.surfels.is_empty() {
            return Err(bad("its patch has no surface points".into()));
        }
        if !self.weights.is_empty() && self.weights.len() != self.surfels.len() {
            return Err(bad(format!("{} weights for {} surface points", self.weights.len(), self.surfels.len())));
        }
        check_surfels(nodes, &self.surfels)?;
        let weight = |k: usize| self.weights.get(k).copied().unwrap_or(1.0);
        let total: Real = (0..self.surfels.len()).map(weight).sum();
        let sane = (0..self.surfels.len()).all(|k| weight(k) >= 0.0 && weight(k).is_finite());
        if !(sane && total > 0.0 && total.is_finite()) {
            return Err(bad("its weights must not be negative, and not all zero".into()));
        }
        let mut all = Vec::new();
        for (k, &surfel) in self.surfels.iter().enumerate() {
            all.extend(nodes.surface.shares(surfel).iter().map(|s| (s.node, s.weight * (weight(k) / total))));
        }
        all.sort_by_key(|s| s.0);
        let mut shares: Vec<(u32, Real)> = Vec::new();
        for (node, w) in all {
            match shares.last_mut() {
                Some(last) if last.0 == node => last.1 += w,
                _ => shares.push((node, w)),
            }
        }
        Ok(shares)
    }
}

/// A patch joint in the form used by the step.
#[derive(Clone, Debug)]
pub(crate) struct BuiltPatchJoint {
    pub slot: u32,
    pub to: Option<u32>,
    /// Target of the centre, relative to the other side's centre of mass (or the world) [m].
    local: Vec3,
    /// The hinge axis in the frame of the other side.
    axis: Vec3,
    /// Nodes, weights and rest offsets.
    shares: Vec<(u32, Real, Vec3)>,
    pub source: PatchJoint,
}

impl BuiltPatchJoint {
    /// Rows it has.
    pub fn row_count(&self) -> usize {
        match self.source.kind {
            PatchKind::Ball => 3,
            PatchKind::Hinge => 5,
            PatchKind::Fixed => 6,
        }
    }

    /// (tr S·1 − S)⁻¹ at an orientation; without a view: at rest. None when the orientation of the patch is undefined.
    fn stiffness_of_frame(&self, turn: Quat, seen: Option<(&View<'_>, Vec3)>) -> Option<Sym3> {
        let mut s = Mat3::ZERO;
        for &(node, w, r) in &self.shares {
            let now = seen.map_or(r, |(view, c)| view.node(self.slot, node) - c);
            let (now, r) = (now * w, turn * r);
            s += Mat3::from_cols(now * r.x, now * r.y, now * r.z);
        }
        let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
        let m = Sym3::from_mat(&(Mat3::from_diagonal(Vec3::splat(trace)) - s));
        // a line can be rotated about itself without deformation: one direction has no stiffness
        let small = m.inverse()?;
        let largest = small.xx.max(small.yy).max(small.zz);
        (trace > 0.0 && largest * trace < 1e4).then_some(small)
    }

    /// The other side: target of the centre, its orientation, and the second-order motion of its point [m/s].
    fn other(&self, view: &View<'_>, at: Vec3) -> (Vec3, Quat, Vec3) {
        match self.to {
            None => (self.local, Quat::IDENTITY, Vec3::ZERO),
            Some(slot) => {
                let (x, q) = view.center(slot);
                (x + q * self.local, q, view.bend(slot, at - x))
            }
        }
    }

    /// Rows on the centre, then on the orientation.
    pub fn rows(&self, view: &View<'_>, soft: Softness, out: &mut RowBuffer) {
        let c = self.shares.iter().fold(Vec3::ZERO, |sum, &(node, w, _)| sum + view.node(self.slot, node) * w);
        let (goal, q, bend) = self.other(view, c);
        let first = view.node_block(self.slot, 0);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z].map(|t| q * t) {
            if let Some(slot) = self.to {
                view.rigid_terms(slot, -axis, c, |term| out.add_term(term));
            }
            for &(node, w, _) in &self.shares {
                out.add_term(view.node_term(first + node, axis * w));
            }
            out.close(Wish::Held((c - goal).dot(axis), -bend.dot(axis), soft), Bounds::Free);
        }
        if self.source.kind != PatchKind::Ball {
            self.turn_rows(view, c, q, soft, out);
        }
    }

    fn turn_rows(&self, view: &View<'_>, c: Vec3, q: Quat, soft: Softness, out: &mut RowBuffer) {
        let mut shape = Mat3::ZERO;
        for &(node, w, r) in &self.shares {
            let now = (view.node(self.slot, node) - c) * w;
            shape += Mat3::from_cols(now * r.x, now * r.y, now * r.z);
        }
        let turn = nearest_rotation(&shape);
        // a patch collapsed to a line has no defined orientation: the rows have a zero Jacobian on its nodes
        let g = self.stiffness_of_frame(turn, Some((view, c)));
        let g = g.unwrap_or(Sym3::diagonal(Vec3::ZERO));
        let rest = self.source.rest.as_ref().map_or(Quat::IDENTITY, |r| r.place.rotation);
        let axis = q * self.axis;
        let (angle, held) = match self.source.kind {
            PatchKind::Hinge => {
                let own = turn * (rest.inverse() * self.axis);
                let side = q * any_orthonormal(self.axis);
                (axis.cross(own), [Some(side), Some(axis.cross(side)), None])
            }
            _ => {
                let off = turn * (q * rest).inverse();
                let off = if off.w < 0.0 { -off } else { off };
                (off.xyz() * 2.0, [Vec3::X, Vec3::Y, Vec3::Z].map(|t| Some(q * t)))
            }
        };
        let first = view.node_block(self.slot, 0);
        for t in held.into_iter().flatten() {
            if let Some(slot) = self.to {
                out.add_term(view.twist_term(slot, -t));
            }
            let lever = g.mul(t);
            for &(node, w, r) in &self.shares {
                out.add_term(view.node_term(first + node, lever.cross(turn * r) * w));
            }
            out.close(Wish::Held(angle.dot(t), 0.0, soft), Bounds::Free);
        }
    }

    /// Force and torque that a unit impulse of a row has on the patch: its axis.
    pub fn carried(&self, index: u32, terms: &[Term]) -> (Vec3, Vec3) {
        let axis = match (self.to, index) {
            (Some(_), _) => terms.first().map_or(Vec3::ZERO, |t| -t.jacobian),
            (None, 0..3) => [Vec3::X, Vec3::Y, Vec3::Z][index as usize],
            (None, _) if self.source.kind == PatchKind::Fixed => [Vec3::X, Vec3::Y, Vec3::Z][index as usize % 3],
            (None, _) => {
                let side = any_orthonormal(self.axis);
                if index == 3 { side } else { self.axis.cross(side) }
            }
        };
        if index < 3 { (axis, Vec3::ZERO) } else { (Vec3::ZERO, axis) }
    }
}

words!(PatchKind, {
    "ball" => Ball, "The centre of the patch is fixed.";
    "hinge" => Hinge, "It turns about an axis through its middle.";
    "fixed" => Fixed, "Centre and orientation are fixed.";
});

record!(PatchRest, "patch rest", "How a patch lay when its joint was added; written by Sinew.",
    PatchRest { place: Pose::IDENTITY, offsets: Vec::new() }, {
    place [required]: ANY, "Middle and turn of the patch seen from the other side.";
    offsets [required]: FINITE, "Offsets of its nodes from the middle [m].";
});

// The order of the fields is that of saves: new ones are appended.
record!(PatchJoint, "patch", "A joint between a patch of surface and a rigid body or the world.",
    PatchJoint::fixed(BodyId::NONE, [], None), {
    kind as free: ANY, "Directions that remain free.";
    body [required]: ANY, "The body with the surface.";
    surfels [required]: ANY, "Surface points of the patch.";
    weights: NOT_NEGATIVE, "Weights of the points; without: all the same.";
    to: ANY, "The rigid body; without: the world.";
    axis: FINITE, "Axis of a hinge, world axes at the start.";
    break_force: POSITIVE.or_infinite(), "Breaks above this force [N].";
    collide: ANY, "Whether the two bodies still collide.";
    rest: ANY, "Rest pose of the patch; without: the initial one.";
});

impl Kind for BuiltPatchJoint {
    fn traits(&self) -> Traits {
        Traits {
            rows: self.row_count(),
            internal: self.to.is_some(),
            nodes: true,
            wide: true,
            sides: [None, Some(self.slot)],
            break_force: self.source.break_force,
            ..Traits::default()
        }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        [self.to, Some(self.slot)].into_iter().flatten().for_each(found);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        BuiltPatchJoint::rows(self, view, joint, out);
    }

    fn carried(&self, index: u32, terms: &[Term], _: &dyn Fn(u32) -> bool) -> (Vec3, Vec3) {
        BuiltPatchJoint::carried(self, index, terms)
    }

    fn keeps_apart(&self, found: &mut dyn FnMut(u32, u32)) {
        if let (Some(to), false) = (self.to, self.source.collide) {
            found(to, self.slot);
        }
    }
}
