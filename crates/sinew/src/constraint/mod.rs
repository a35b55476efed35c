//! Constraints: each kind is one file that converts a relation between bodies into rows.

mod attach;
mod bend;
mod custom;
mod distance_set;
mod joint;
mod patch;
pub(crate) mod response;
mod row;
mod site;
mod volume;

pub(crate) use attach::BuiltAttach;
pub use attach::{AttachTarget, Attachment};
pub(crate) use bend::BuiltBending;
pub use bend::{BendLaw, Bending};
pub use custom::{RowWriter, Rows};
pub(crate) use distance_set::BuiltStrands;
pub use distance_set::DistanceSet;
pub(crate) use joint::{BuiltDistance, BuiltJoint, Side};
pub use joint::{Distance, Joint, JointKind, Motor};
pub(crate) use patch::BuiltPatchJoint;
pub use patch::{PatchJoint, PatchKind, PatchRest};
pub(crate) use row::Wish;
pub use row::{Bounds, Row, RowBuffer, RowId, Term};
pub(crate) use site::{Place, check_surfels, has_own_response};
pub use site::{Site, View};
pub(crate) use volume::BuiltVolume;
pub use volume::{Volume, VolumeLaw};

use crate::math::{Real, Vec3};
use crate::solver::soft::Softness;
use crate::tool::BuiltTool;
use std::sync::Arc;

/// Number of rows of custom constraints and of joints whose impulses are stored: a joint has at most three linear and
/// three angular rows, two limits and a motor.
const CUSTOM_ROWS: usize = 12;
const JOINT_ROWS: usize = 9;

/// A constraint of a world: a closed set, plus one variant for user-defined constraints.
#[derive(Clone, Debug)]
pub(crate) enum Constraint {
    Joint(BuiltJoint),
    Distance(BuiltDistance),
    Attachment(BuiltAttach),
    DistanceSet(BuiltStrands),
    Bending(BuiltBending),
    Volume(BuiltVolume),
    PatchJoint(BuiltPatchJoint),
    Tool(BuiltTool),
    Custom { rows: Arc<dyn Rows>, slots: Vec<u32>, nodes: bool },
}

impl Constraint {
    /// Slots of the bodies it links.
    pub fn slots(&self, mut found: impl FnMut(u32)) {
        match self {
            Self::Joint(j) => [j.a.slot, j.b.slot].into_iter().flatten().for_each(found),
            Self::Distance(d) => [d.a, d.b].iter().filter_map(Place::slot).for_each(found),
            Self::Attachment(a) => a.slots.iter().copied().for_each(found),
            Self::DistanceSet(s) => found(s.slot),
            Self::Bending(b) => found(b.slot),
            Self::Volume(v) => found(v.slot),
            Self::PatchJoint(p) => p.slots().for_each(found),
            Self::Tool(t) => t.slots(found),
            Self::Custom { slots, .. } => slots.iter().copied().for_each(found),
        }
    }

    /// True when its rows act between bodies only: none of its ends is a point of the world. Unknown, hence false, for
    /// custom rows.
    pub fn is_internal(&self) -> bool {
        match self {
            Self::Joint(j) => j.a.slot.is_some() && j.b.slot.is_some(),
            Self::Distance(d) => d.a.slot().is_some() && d.b.slot().is_some(),
            Self::Attachment(a) => a.is_internal(),
            Self::DistanceSet(_) | Self::Bending(_) | Self::Volume(_) => true,
            Self::PatchJoint(p) => p.to.is_some(),
            Self::Tool(_) | Self::Custom { .. } => false,
        }
    }

    /// Bodies of nodes that its reported force acts on: against it on the first, with it on the second. None where it
    /// acts on a rigid body or the world, or on several bodies.
    pub fn sides(&self) -> [Option<u32>; 2] {
        match self {
            Self::Distance(d) => [&d.a, &d.b].map(|p| p.slot().filter(|_| p.on_nodes())),
            Self::Attachment(a) => a.sides,
            Self::PatchJoint(p) => [None, Some(p.slot)],
            Self::Joint(_)
            | Self::DistanceSet(_)
            | Self::Bending(_)
            | Self::Volume(_)
            | Self::Tool(_)
            | Self::Custom { .. } => [None; 2],
        }
    }

    /// True for nodes held along axes of the world: a support, whose force is a reaction.
    pub fn is_support(&self) -> bool {
        matches!(self, Self::Attachment(a) if !a.source.axes.is_empty() && a.anchored)
    }

    /// True when it acts on nodes: such rows come later in a staggered sweep.
    pub fn has_nodes(&self) -> bool {
        match self {
            Self::Joint(_) | Self::Tool(_) => false,
            Self::Distance(d) => d.a.on_nodes() || d.b.on_nodes(),
            Self::Attachment(_) | Self::DistanceSet(_) | Self::Bending(_) | Self::Volume(_) | Self::PatchJoint(_) => {
                true
            }
            Self::Custom { nodes, .. } => *nodes,
        }
    }

    /// True when rows may have more than four blocks. They are swept with the rows of rigid bodies: among those of
    /// nodes one of them would prevent the SIMD lanes for all others.
    pub fn is_wide(&self) -> bool {
        match self {
            Self::Joint(_) | Self::DistanceSet(_) | Self::Bending(_) | Self::Custom { .. } => false,
            Self::Distance(d) => d.wide,
            Self::Attachment(a) => a.wide,
            Self::Volume(_) | Self::PatchJoint(_) | Self::Tool(_) => true,
        }
    }

    /// Number of rows whose impulses are stored in State.
    pub fn row_count(&self) -> usize {
        match self {
            Self::Joint(_) => JOINT_ROWS,
            Self::Distance(_) | Self::Volume(_) => 1,
            Self::Attachment(a) => a.axis_count() * a.source.pairs.len(),
            Self::DistanceSet(s) => s.source.pairs.len(),
            Self::Bending(b) => b.source.folds.len(),
            Self::PatchJoint(p) => p.row_count(),
            Self::Tool(t) => t.row_count(),
            Self::Custom { .. } => CUSTOM_ROWS,
        }
    }

    /// Appends the rows of a substep.
    pub fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        match self {
            Self::Joint(j) => j.rows(view, joint, out),
            Self::Distance(d) => d.rows(view, joint, out),
            Self::Attachment(a) => a.rows(view, joint, out),
            Self::DistanceSet(s) => s.rows(view, joint, out),
            Self::Bending(b) => b.rows(view, joint, out),
            Self::Volume(v) => v.rows(view, joint, out),
            Self::PatchJoint(p) => p.rows(view, joint, out),
            Self::Tool(t) => t.rows(view, joint, out),
            Self::Custom { rows, .. } => {
                let mut writer = RowWriter::new(*view, joint, out);
                // a custom constraint that returns an error is inactive for this substep; rows written before the error
                // remain valid
                let _ = rows.rows(view, &mut writer);
            }
        }
    }

    /// False for rows of many bodies and directions, of which no sum has a meaning.
    pub fn has_resultant(&self) -> bool {
        !matches!(self, Self::DistanceSet(_) | Self::Bending(_) | Self::Volume(_))
    }

    /// Force and torque that a unit impulse of its row `index` has on its second body.
    pub fn carried(&self, index: u32, terms: &[Term], linear: impl Fn(u32) -> bool) -> (Vec3, Vec3) {
        match self {
            Self::Joint(_) | Self::Distance(_) | Self::Custom { .. } => carried_by(terms, linear),
            Self::Attachment(a) => (a.carried(index, terms), Vec3::ZERO),
            Self::PatchJoint(p) => p.carried(index, terms),
            Self::Tool(t) => t.carried(index, terms),
            // rows of many bodies and directions: their sum has no meaning
            Self::DistanceSet(_) | Self::Bending(_) | Self::Volume(_) => (Vec3::ZERO, Vec3::ZERO),
        }
    }

    /// Pairs of bodies that do not collide because of this constraint.
    pub fn keeps_apart(&self, mut found: impl FnMut(u32, u32)) {
        match self {
            Self::Joint(j) if !j.source.collide => {
                if let (Some(a), Some(b)) = (j.a.slot, j.b.slot) {
                    found(a, b);
                }
            }
            Self::Attachment(a) if !a.source.collide => a.linked(found),
            Self::PatchJoint(p) if !p.source.collide => {
                if let Some(to) = p.to {
                    found(to, p.slot);
                }
            }
            _ => {}
        }
    }

    /// Force above which it breaks [N]; pressure for a volume [Pa].
    pub fn break_force(&self) -> Real {
        match self {
            Self::Joint(j) => j.source.break_force,
            Self::Distance(d) => d.source.break_force,
            Self::Attachment(a) => a.source.break_force,
            Self::DistanceSet(s) => s.source.break_force,
            Self::Volume(v) => v.source.burst,
            Self::PatchJoint(p) => p.source.break_force,
            Self::Bending(_) | Self::Tool(_) | Self::Custom { .. } => Real::INFINITY,
        }
    }

    /// The value compared with the break force, from the force on its second body and the forces of its rows.
    pub fn strain(&self, force: Vec3, rows: &[Real]) -> Real {
        let largest = |sizes: &mut dyn Iterator<Item = Real>| sizes.fold(0.0, Real::max);
        match self {
            // the pair with the largest force
            Self::Attachment(a) => {
                let size = |r: &[Real]| r.iter().map(|f| f * f).sum::<Real>().sqrt();
                largest(&mut rows.chunks_exact(a.axis_count()).map(size))
            }
            Self::DistanceSet(_) => largest(&mut rows.iter().map(|r| r.abs())),
            // only positive pressure bursts
            Self::Volume(_) => largest(&mut rows.iter().copied()),
            _ => force.length(),
        }
    }
}

/// Force and torque of a unit impulse of a row on its second body, the last body in the terms; a row that acts on no
/// centre of mass or node is a torque.
fn carried_by(terms: &[Term], linear: impl Fn(u32) -> bool) -> (Vec3, Vec3) {
    match terms.iter().rev().find(|t| linear(t.block)) {
        Some(t) => (t.jacobian, Vec3::ZERO),
        None => (Vec3::ZERO, terms.last().map_or(Vec3::ZERO, |t| t.jacobian)),
    }
}
