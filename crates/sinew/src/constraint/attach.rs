//! Attached points: nodes and surface points to the world, to rigid bodies, to each other (ICD 4.1).
//!
//! With p_a, p_b the two points and t one of three axes, d = p_b − p_a, a pair has three rows
//!
//! ```text
//!   C = d·t,   Ċ = t·(ṗ_b − v_a − ω_a × (r_a + d)),   ṗ_b = Σ w_j v_j on a surface
//! ```
//!
//! ICD eq. 8, 15 and 20 have one row ½|d|² instead, whose Jacobian vanishes where it is satisfied; and ICD applies the
//! mean of its anchors' impulses to a rigid body, which does not conserve momentum (errata): impulses of rows are
//! summed here as everywhere.
//!
//! The axes are those of the rigid body if there is one, so that the result rotates with the scene; without one the
//! rows are not coupled and any axes can be used.

use super::row::{Bounds, RowBuffer, Term, Wish};
use super::site::Spring;
use super::site::{Place, Site, View, has_own_response};
use super::{Kind, Traits};
use crate::error::{Error, check, not_negative, positive};
use crate::math::{Real, Vec3};
use crate::model::{BodyId, Model};
use crate::solver::soft::Softness;
use sinew_spec::{ANY, FINITE, POSITIVE, Via, choice, record};

/// The target that a point is attached to.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let cloth = world.add_particles(Particles::new(vec![Vec3::ZERO, Vec3::X]))?;
/// // one node at its present position, the other at a position in the world
/// let hook = |node| Site::Node { body: cloth, node };
/// let pairs = [(hook(0), AttachTarget::Here(None)), (hook(1), AttachTarget::At(Site::World(Vec3::X)))];
/// world.add_attachment(Attachment::new(pairs))?;
/// for _ in 0..60 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(cloth)?.node_positions()[1].y > -1e-3);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttachTarget {
    /// Another point, which may be at a distance: they are pulled together.
    At(Site),
    /// The present position when the constraint is added: fixed in the world, or in a rigid body.
    Here(Option<BodyId>),
}

/// Points attached to others: an anchor, or a seam of many pairs. Three rows per pair.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let drop = world.add_particles(Particles::new(vec![Vec3::ZERO]).mass(2.0))?;
/// let anchor = world.add_attachment(Attachment::anchor(Site::Node { body: drop, node: 0 }, None))?;
/// for _ in 0..20 {
///     world.step(&Input::none());
/// }
/// let weight = 2.0 * 9.81;
/// let carried = world.report().constraints.iter().find(|c| c.id == anchor).map_or(0.0, |c| c.force.y);
/// assert!((carried - weight).abs() < 1e-3 * weight);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Attached points, and the target of each. The reported force acts on the attached points.
    pub pairs: Vec<(Site, AttachTarget)>,
    /// A spring in every direction instead of a rigid attachment: stiffness [N/m], damping [N·s/m], each pair.
    pub spring: Option<(Real, Real)>,
    /// All of it breaks when the force of one pair exceeds this [N].
    pub break_force: Real,
    /// Directions that are held, orthogonal unit vectors: of the world, or of the rigid body of a pair that has one. Empty:
    /// all. One row per pair and direction. With axes, points held to the world are held exactly, as a boundary condition.
    pub axes: Vec<Vec3>,
    /// Let soft bodies that are stitched together collide: a seam lies on both surfaces, and contacts push against it.
    /// Rigid bodies and bodies anchored to them collide in any case.
    pub collide: bool,
}

impl Attachment {
    /// Attaches points; see the fields.
    pub fn new(pairs: impl IntoIterator<Item = (Site, AttachTarget)>) -> Self {
        Self {
            pairs: pairs.into_iter().collect(),
            spring: None,
            break_force: Real::INFINITY,
            axes: Vec::new(),
            collide: false,
        }
    }

    /// Attaches a point at its present position, to a rigid body or to the world.
    pub fn anchor(point: Site, to: Option<BodyId>) -> Self {
        Self::new([(point, AttachTarget::Here(to))])
    }

    /// Attaches a point to another one.
    pub fn pair(point: Site, to: Site) -> Self {
        Self::new([(point, AttachTarget::At(to))])
    }

    /// Stitches points to others; [`crate::World::seam`] finds such pairs on two surfaces.
    pub fn stitch(pairs: impl IntoIterator<Item = (Site, Site)>) -> Self {
        Self::new(pairs.into_iter().map(|(a, b)| (a, AttachTarget::At(b))))
    }

    /// Attaches by springs of this stiffness [N/m] and damping [N·s/m], each pair.
    pub fn spring(mut self, stiffness: Real, damping: Real) -> Self {
        self.spring = Some((stiffness, damping));
        self
    }

    /// Holds these directions only: orthogonal unit vectors of the world, or of the rigid body of a pair that has one.
    pub fn along(mut self, axes: impl Into<Vec<Vec3>>) -> Self {
        self.axes = axes.into();
        self
    }

    /// Breaks when the force of a pair exceeds this [N].
    pub fn break_force(mut self, force: Real) -> Self {
        self.break_force = force;
        self
    }

    /// Lets soft bodies that are stitched together collide.
    pub fn collide(mut self, yes: bool) -> Self {
        self.collide = yes;
        self
    }

    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltAttach, Error> {
        let bad = |reason: String| Error::BadConstraint { constraint: "attachment", reason };
        check("attachment.break_force", self.break_force, self.break_force > 0.0, "above 0 (infinity: never breaks)")?;
        if let Some((k, c)) = self.spring {
            positive("attachment.stiffness", k)?;
            not_negative("attachment.damping", c)?;
        }
        if self.pairs.is_empty() {
            return Err(bad("it has no pairs".into()));
        }
        if !orthonormal(&self.axes) {
            return Err(bad("its axes are not orthogonal unit vectors".into()));
        }
        let mut built = BuiltAttach { source: self.clone(), ..BuiltAttach::default() };
        for (k, (held, to)) in self.pairs.iter().enumerate() {
            let place = held.resolve(view.model)?;
            let to = match *to {
                AttachTarget::At(site) => site,
                AttachTarget::Here(None) => Site::World(view.point(&place)),
                AttachTarget::Here(Some(body)) => {
                    Site::Rigid { body, local: view.body_pose(body)?.unpoint(view.point(&place)) }
                }
            };
            // stored, so that a rebuilt constraint is bitwise identical
            built.source.pairs[k].1 = AttachTarget::At(to);
            let to = to.resolve(view.model)?;
            if place.slot().is_none() && to.slot().is_none() {
                return Err(bad(format!("pair {k} holds the world to the world: name a body")));
            }
            let ends = [built.end(&to, view.model), built.end(&place, view.model)];
            if ends.iter().all(|e| matches!(e, End::Rigid { .. })) {
                return Err(bad(format!("pair {k} is between rigid bodies: use a ball joint")));
            }
            let own = [&to, &place].iter().any(|p| p.slot().is_some_and(|s| has_own_response(view.model, s)));
            built.wide |= own || ends.iter().map(End::term_count).sum::<usize>() > 4;
            built.pairs.push(ends);
        }
        built.slots.sort_unstable();
        built.slots.dedup();
        built.sides = built.find_sides();
        built.anchored = built.pairs.iter().all(|[to, _]| matches!(to, End::World(_)));
        Ok(built)
    }
}

/// One end of a pair.
#[derive(Clone, Copy, Debug)]
enum End {
    World(Vec3),
    /// Relative to the centre of mass.
    Rigid {
        slot: u32,
        local: Vec3,
    },
    /// A weighted sum of nodes, by their range in the list of weights.
    Nodes {
        body: u32,
        start: u32,
        end: u32,
    },
}

impl End {
    fn term_count(&self) -> usize {
        match *self {
            End::World(_) => 0,
            End::Rigid { .. } => 2,
            End::Nodes { start, end, .. } => (end - start) as usize,
        }
    }
}

/// An attachment in the form used by the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuiltAttach {
    /// Target end, then attached end.
    pairs: Vec<[End; 2]>,
    /// Nodes and their weights, one entry per node and end.
    shares: Vec<(u32, Real)>,
    pub slots: Vec<u32>,
    /// The body of nodes of all its targets, and that of all its attached points, where that is one body.
    pub sides: [Option<u32>; 2],
    /// Every pair has its target in the world.
    pub anchored: bool,
    pub wide: bool,
    pub source: Attachment,
}

impl Default for Attachment {
    fn default() -> Self {
        Self::new([])
    }
}

impl BuiltAttach {
    /// True when no pair has an end in the world.
    pub fn is_internal(&self) -> bool {
        !self.pairs.iter().flatten().any(|end| matches!(end, End::World(_)))
    }

    /// The bodies of nodes of all its targets and of all its attached points, where that is one body.
    fn find_sides(&self) -> [Option<u32>; 2] {
        [0, 1].map(|side| {
            let body = |pair: &[End; 2]| match pair[side] {
                End::Nodes { body, .. } => Some(body),
                End::World(_) | End::Rigid { .. } => None,
            };
            let first = self.pairs.first().and_then(body)?;
            self.pairs.iter().all(|pair| body(pair) == Some(first)).then_some(first)
        })
    }

    /// Pairs of different soft bodies that it links.
    pub fn linked(&self, mut found: impl FnMut(u32, u32)) {
        for [a, b] in &self.pairs {
            if let (End::Nodes { body: a, .. }, End::Nodes { body: b, .. }) = (a, b)
                && a != b
            {
                found(*a, *b);
            }
        }
    }

    /// Lists the nodes of a place, each once.
    fn end(&mut self, place: &Place, model: &Model) -> End {
        self.slots.extend(place.slot());
        let body = match *place {
            Place::World(at) => return End::World(at),
            Place::Rigid { slot, local } => return End::Rigid { slot, local },
            Place::Node { body, .. } | Place::Surface { body, .. } => body,
        };
        let start = self.shares.len();
        let shares = &mut self.shares;
        place.shares(model, |node, weight| match shares[start..].iter_mut().find(|s| s.0 == node) {
            Some(share) => share.1 += weight,
            None => shares.push((node, weight)),
        });
        End::Nodes { body, start: start as u32, end: self.shares.len() as u32 }
    }

    fn point(&self, end: &End, view: &View<'_>) -> Vec3 {
        match *end {
            End::World(at) => at,
            End::Rigid { slot, local } => {
                let (x, q) = view.center(slot);
                x + q * local
            }
            End::Nodes { body, start, end } => self.shares[start as usize..end as usize]
                .iter()
                .fold(Vec3::ZERO, |sum, &(node, weight)| sum + view.node(body, node) * weight),
        }
    }

    /// Terms of an impulse along `axis` applied at `point`.
    fn terms(&self, end: &End, axis: Vec3, point: Vec3, view: &View<'_>, out: &mut RowBuffer) {
        match *end {
            End::World(_) => {}
            End::Rigid { slot, .. } => view.rigid_terms(slot, axis, point, |term| out.add_term(term)),
            End::Nodes { body, start, end } => {
                let own = has_own_response(view.model, body);
                for &(node, weight) in &self.shares[start as usize..end as usize] {
                    if own {
                        view.model_terms(body, (node, weight), axis, point, |term| out.merge_term(term));
                        continue;
                    }
                    out.merge_term(view.node_term(view.node_block(body, node), axis * weight));
                }
            }
        }
    }

    /// Three rows per pair.
    pub fn rows(&self, view: &View<'_>, soft: Softness, out: &mut RowBuffer) {
        for pair in &self.pairs {
            let [a, b] = [self.point(&pair[0], view), self.point(&pair[1], view)];
            // a point of a rigid body is fixed in body coordinates: both lever arms end there
            let at = if matches!(pair[1], End::Rigid { .. }) { a } else { b };
            let bend = |end: &End| match *end {
                End::Rigid { slot, .. } => view.bend(slot, at - view.center(slot).0),
                End::World(_) | End::Nodes { .. } => Vec3::ZERO,
            };
            let bend = bend(&pair[1]) - bend(&pair[0]);
            // a boundary condition is exact: the axes are orthogonal and the world does not give way, so that no other
            // row of the attachment competes with it
            let held = !self.source.axes.is_empty() && matches!(pair[0], End::World(_));
            let soft = if held { Softness { rate: 1.0 / view.h, relative: 0.0 } } else { soft };
            for axis in self.axes(pair, view) {
                self.terms(&pair[0], -axis, at, view, out);
                self.terms(&pair[1], axis, at, view, out);
                let error = (b - a).dot(axis);
                let wish = match self.source.spring {
                    None => Wish::Held(error, bend.dot(axis), soft),
                    Some((k, c)) => Wish::Spring(error, k, c, view.h),
                };
                out.close(wish, Bounds::Free);
            }
        }
    }

    /// Force of a unit impulse of a row on the attached point: its axis.
    pub fn carried(&self, index: u32, terms: &[Term]) -> Vec3 {
        let count = self.axis_count();
        let Some(pair) = self.pairs.get(index as usize / count) else { return Vec3::ZERO };
        match pair {
            [End::Rigid { .. }, _] => terms.first().map_or(Vec3::ZERO, |t| -t.jacobian),
            // the last two terms are the linear and the angular block of the body
            [_, End::Rigid { .. }] => terms.iter().rev().nth(1).map_or(Vec3::ZERO, |t| t.jacobian),
            _ => self.held().nth(index as usize % count).unwrap_or_default(),
        }
    }

    /// Rows of a pair.
    pub fn axis_count(&self) -> usize {
        if self.source.axes.is_empty() { 3 } else { self.source.axes.len() }
    }

    /// Directions that are held, of the world or of a rigid body.
    fn held(&self) -> impl Iterator<Item = Vec3> {
        let all = if self.source.axes.is_empty() { &[Vec3::X, Vec3::Y, Vec3::Z][..] } else { &self.source.axes };
        all.iter().copied()
    }

    /// Axes of a pair's rows in the world.
    fn axes(&self, pair: &[End; 2], view: &View<'_>) -> impl Iterator<Item = Vec3> {
        let turn = pair.iter().find_map(|end| match *end {
            End::Rigid { slot, .. } => Some(view.center(slot).1),
            End::World(_) | End::Nodes { .. } => None,
        });
        self.held().map(move |t| turn.map_or(t, |q| q * t))
    }
}

/// True for unit vectors at right angles to each other.
fn orthonormal(axes: &[Vec3]) -> bool {
    let right = |i: usize, j: usize| {
        let wanted = if i == j { 1.0 } else { 0.0 };
        (axes[i].dot(axes[j]) - wanted).abs() < 1e-3
    };
    axes.len() <= 3 && (0..axes.len()).all(|i| (0..=i).all(|j| right(i, j)))
}

choice!(AttachTarget, "hold", "What a point is held to.", {
    "at" => At, "Another point, which may be elsewhere: they are pulled together.", { 0 site: Site, ANY, "Which point."; };
    "here" => Here, "The point at its initial position: of the world, or of a rigid body.", {
        0 body: Option<BodyId>, ANY => None, "Which rigid body; without: the world.";
    };
});

/// An attached point with its target, as they are described.
struct Held {
    point: Site,
    to: AttachTarget,
}

record!(Held, "held point", "A point of nodes or of a surface, and what it is held to.",
    Held { point: Site::World(Vec3::ZERO), to: AttachTarget::Here(None) }, {
    point [required]: ANY, "The point that is held.";
    to: ANY, "What it is held to; without: where it is at the start.";
});

impl Via<(Site, AttachTarget)> for Held {
    fn of(&(point, to): &(Site, AttachTarget)) -> Self {
        Self { point, to }
    }

    fn back(self) -> (Site, AttachTarget) {
        (self.point, self.to)
    }
}

// The order of the fields is that of saves: new ones are appended.
record!(Attachment, "attach", "Points of nodes and surfaces held to others.", Attachment::new([]), {
    pairs via Vec<Held> [required]: ANY, "Held points, and what each is held to.";
    spring via Option<Spring> [flat]: ANY, "A spring of each pair; without: rigid.";
    break_force: POSITIVE.or_infinite(), "All of it breaks when one pair carries more than this [N].";
    collide: ANY, "Whether soft bodies that are stitched together collide.";
    axes: FINITE, "Directions that are held, orthogonal unit vectors, of the world or of the rigid body; empty: all.";
});

impl Kind for BuiltAttach {
    fn traits(&self) -> Traits {
        Traits {
            rows: self.axis_count() * self.source.pairs.len(),
            internal: self.is_internal(),
            nodes: true,
            wide: self.wide,
            support: !self.source.axes.is_empty() && self.anchored,
            sides: self.sides,
            break_force: self.source.break_force,
            ..Traits::default()
        }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        self.slots.iter().copied().for_each(found);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        BuiltAttach::rows(self, view, joint, out);
    }

    fn carried(&self, index: u32, terms: &[Term], _: &dyn Fn(u32) -> bool) -> (Vec3, Vec3) {
        (BuiltAttach::carried(self, index, terms), Vec3::ZERO)
    }

    fn keeps_apart(&self, found: &mut dyn FnMut(u32, u32)) {
        if !self.source.collide {
            self.linked(found);
        }
    }

    /// The pair with the largest force.
    fn strain(&self, _: Vec3, rows: &[Real]) -> Real {
        let size = |r: &[Real]| r.iter().map(|f| f * f).sum::<Real>().sqrt();
        rows.chunks_exact(self.axis_count()).map(size).fold(0.0, Real::max)
    }
}
