//! Lengths of many pairs of nodes of one body as one constraint: the edges of a cloth, the links of a rope (ICD 4.2).
//!
//! With d = x_j − x_i and u = d/|d| each pair has one row
//!
//! ```text
//!   C = |d| − L,   Ċ = u·(v_j − v_i),   −pull·h ≤ λ ≤ push·h
//! ```
//!
//! The unit Jacobian makes the bounds forces (erratum to ICD 4.2). On the side where a bound is zero the row only
//! prevents the pair from passing L within the substep, with the bias C/h of a gap (erratum): a slack rope falls
//! freely.
//!
//! With a stiffness the row is an implicit spring, λ = −h k (|d| − L) at the end of the substep: k is in N/m and does
//! not depend on the substep. Compression may have a separate stiffness: cloth buckles instead of being compressed.

use super::row::{Bounds, RowBuffer, Wish};
use super::site::View;
use super::{Kind, Traits};
use crate::error::{Error, check, not_negative, positive};
use crate::math::{Real, Vec3, vec};
use crate::model::{BodyId, Nodes};
use crate::solver::soft::Softness;
use sinew_spec::{ANY, NOT_NEGATIVE, POSITIVE, record};

/// Lengths constrained between many pairs of nodes of a body. One row per pair.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let points: Vec<Vec3> = (0..10).map(|k| Vec3::new(0.1 * k as Real, 0.0, 0.0)).collect();
/// let rope = world.add_particles(Particles::new(points).mass(0.01).pinned([0]))?;
/// let links = world.add_distance_set(DistanceSet::chain(rope, 10).pull_only())?;
/// for _ in 0..60 {
///     world.step(&Input::none());
/// }
/// let tensions = world.row_forces(links)?;
/// assert_eq!(tensions.len(), 9);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceSet {
    /// The body.
    pub body: BodyId,
    /// Pairs of its nodes.
    pub pairs: Vec<[u32; 2]>,
    /// Length of each pair [m]; empty: as they are when the constraint is added.
    pub lengths: Vec<Real>,
    /// Maximum tension of a pair [N]; 0: no resistance to elongation.
    pub pull: Real,
    /// Maximum compressive force of a pair [N]; 0: no resistance to shortening, as a rope.
    pub push: Real,
    /// Stiffness in stretch and in compression [N/m]; none: rigid. A compression of 0 is that of a rope.
    pub stiffness: Option<[Real; 2]>,
    /// Damping of each pair, with a stiffness only [N·s/m].
    pub damping: Real,
    /// All of it breaks when the force of one pair exceeds this [N].
    pub break_force: Real,
}

impl DistanceSet {
    /// Pairs that keep their present lengths, two-sided and rigid.
    pub fn new(body: BodyId, pairs: impl Into<Vec<[u32; 2]>>) -> Self {
        Self {
            body,
            pairs: pairs.into(),
            lengths: Vec::new(),
            pull: Real::INFINITY,
            push: Real::INFINITY,
            stiffness: None,
            damping: 0.0,
            break_force: Real::INFINITY,
        }
    }

    /// Each of the first `count` nodes with the next.
    pub fn chain(body: BodyId, count: u32) -> Self {
        Self::new(body, (1..count).map(|k| [k - 1, k]).collect::<Vec<_>>())
    }

    /// Lengths other than the present ones [m], one per pair.
    pub fn lengths(mut self, lengths: impl Into<Vec<Real>>) -> Self {
        self.lengths = lengths.into();
        self
    }

    /// Pulls, never pushes.
    pub fn pull_only(mut self) -> Self {
        self.push = 0.0;
        self
    }

    /// Pushes, never pulls.
    pub fn push_only(mut self) -> Self {
        self.pull = 0.0;
        self
    }

    /// Slips above these forces: pull and push [N].
    pub fn strength(mut self, pull: Real, push: Real) -> Self {
        (self.pull, self.push) = (pull, push);
        self
    }

    /// Springs of these stiffnesses in stretch and in compression [N/m], with a damping [N·s/m].
    pub fn stiffness(mut self, stretch: Real, compression: Real, damping: Real) -> Self {
        self.stiffness = Some([stretch, compression]);
        self.damping = damping;
        self
    }

    /// Breaks when the force of a pair exceeds this [N].
    pub fn break_force(mut self, force: Real) -> Self {
        self.break_force = force;
        self
    }

    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltStrands, Error> {
        let bad = |reason: String| Error::BadConstraint { constraint: "distance_set", reason };
        let nodes = view.model.nodes(self.body)?;
        super::site::check_lumped("distance_set", nodes)?;
        check("distance_set.pull", self.pull, self.pull >= 0.0, "at least 0")?;
        check("distance_set.push", self.push, self.push >= 0.0, "at least 0")?;
        check(
            "distance_set.break_force",
            self.break_force,
            self.break_force > 0.0,
            "above 0 (infinity: never breaks)",
        )?;
        not_negative("distance_set.damping", self.damping)?;
        if self.pull == 0.0 && self.push == 0.0 {
            return Err(bad("it neither pulls nor pushes".into()));
        }
        if let Some([stretch, compression]) = self.stiffness {
            positive("distance_set.stiffness.stretch", stretch)?;
            not_negative("distance_set.stiffness.compression", compression)?;
        }
        if self.pairs.is_empty() {
            return Err(bad("it has no pairs".into()));
        }
        if !self.lengths.is_empty() && self.lengths.len() != self.pairs.len() {
            return Err(bad(format!("{} lengths for {} pairs", self.lengths.len(), self.pairs.len())));
        }
        let slot = self.body.index;
        let mut source = self.clone();
        for (k, pair) in self.pairs.iter().enumerate() {
            check_nodes("distance_set", k, pair, nodes)?;
            match self.lengths.get(k) {
                Some(&length) => positive(&format!("distance_set.lengths[{k}]"), length)?,
                None => {
                    let length = (view.node(slot, pair[1]) - view.node(slot, pair[0])).length();
                    positive(&format!("distance_set.lengths[{k}]"), length)?;
                    source.lengths.push(length);
                }
            }
        }
        Ok(BuiltStrands { slot, source })
    }
}

/// Rejects nodes that do not exist, and the same one twice.
pub(super) fn check_nodes(constraint: &'static str, item: usize, named: &[u32], nodes: &Nodes) -> Result<(), Error> {
    let count = nodes.inv_mass.len();
    for (k, &node) in named.iter().enumerate() {
        let reason = if node as usize >= count {
            format!("item {item}: node {node} does not exist, the body has {count}")
        } else if named[..k].contains(&node) {
            format!("item {item}: node {node} is named twice")
        } else {
            continue;
        };
        return Err(Error::BadConstraint { constraint, reason });
    }
    Ok(())
}

/// DistanceSet in the form used by the step.
#[derive(Clone, Debug)]
pub(crate) struct BuiltStrands {
    pub slot: u32,
    pub source: DistanceSet,
}

impl BuiltStrands {
    /// One row per pair.
    pub fn rows(&self, view: &View<'_>, soft: Softness, out: &mut RowBuffer) {
        let s = &self.source;
        let first = view.node_block(self.slot, 0);
        for (&[i, j], &rest) in s.pairs.iter().zip(&s.lengths) {
            let (a, b) = (first + i, first + j);
            let span = vec(view.pose[b as usize]) - vec(view.pose[a as usize]);
            let length = span.length();
            let axis = if length > 0.0 { span / length } else { Vec3::Y };
            out.add_term(view.node_term(a, -axis));
            out.add_term(view.node_term(b, axis));
            let error = length - rest;
            let (wish, low, high) = match s.stiffness {
                Some(stiffness) => self.spring(error, stiffness, view.h),
                None => {
                    let relative = vec(view.velocity[b as usize]) - vec(view.velocity[a as usize]);
                    let across = (relative - axis * axis.dot(relative)).length_squared();
                    // second-order motion: the ends rotate about each other
                    let bend = 0.5 * view.h * across / length.max(0.1 * rest);
                    let free = if error > 0.0 { s.pull == 0.0 } else { s.push == 0.0 };
                    let wish = if free { Wish::Gap(error / view.h + bend) } else { Wish::Held(error, bend, soft) };
                    (wish, s.pull, s.push)
                }
            };
            out.close(wish, Bounds::Between { low: -low * view.h, high: high * view.h });
        }
    }

    /// A spring with the stiffness of the present side (stretch or compression), and the maximum pull and push.
    fn spring(&self, error: Real, [stretch, compression]: [Real; 2], h: Real) -> (Wish, Real, Real) {
        let s = &self.source;
        let push = if compression > 0.0 { s.push } else { 0.0 };
        if error >= 0.0 && s.pull > 0.0 {
            (Wish::Spring(error, stretch, s.damping, h), s.pull, push)
        } else if error < 0.0 && push > 0.0 {
            (Wish::Spring(error, compression, s.damping, h), s.pull, push)
        } else {
            // on the free side: no force before the pair has returned to its rest length
            let k = if error < 0.0 { stretch } else { compression };
            (Wish::Spring(error, k, 0.0, h), s.pull, push)
        }
    }
}

// The order of the fields is that of saves: new ones are appended.
record!(DistanceSet, "distance_set", "Lengths of many pairs of nodes of a body.", DistanceSet::new(BodyId::NONE, []), {
    body [required]: ANY, "Which body.";
    pairs: ANY, "Pairs of its nodes; without: the edges of its surface.";
    lengths: NOT_NEGATIVE, "Length of each pair [m]; without: as at the start.";
    pull: NOT_NEGATIVE.or_infinite(), "Largest pull of a pair [N].";
    push: NOT_NEGATIVE.or_infinite(), "Largest push of a pair [N]; 0: as a rope.";
    stiffness: NOT_NEGATIVE, "Stiffness in stretch and in compression [N/m]; without: rigid.";
    damping: NOT_NEGATIVE, "Damping of each pair, with a stiffness only [N·s/m].";
    break_force: POSITIVE.or_infinite(), "All of it breaks when one pair carries more than this [N].";
});

impl Kind for BuiltStrands {
    fn traits(&self) -> Traits {
        Traits {
            rows: self.source.pairs.len(),
            internal: true,
            nodes: true,
            resultant: false,
            break_force: self.source.break_force,
            ..Traits::default()
        }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        found(self.slot);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        BuiltStrands::rows(self, view, joint, out);
    }

    /// The pair with the largest force.
    fn strain(&self, _: Vec3, rows: &[Real]) -> Real {
        rows.iter().map(|r| r.abs()).fold(0.0, Real::max)
    }
}
