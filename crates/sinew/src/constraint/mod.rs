//! Constraints: each kind is one file that turns a relation between bodies into rows.

mod custom;
mod joint;
mod row;
mod site;

pub use custom::{RowWriter, Rows};
pub(crate) use joint::{BuiltDistance, BuiltJoint};
pub use joint::{Distance, Joint, JointKind, Motor};
pub use row::{Bounds, Row, RowBuffer, RowId, Term};
pub(crate) use site::Place;
pub use site::{Site, View};

use crate::math::Real;
use std::sync::Arc;

/// A constraint of a world: a closed set, and one door for the user's own.
#[derive(Clone, Debug)]
pub(crate) enum Constraint {
    Joint(BuiltJoint),
    Distance(BuiltDistance),
    Custom { rows: Arc<dyn Rows>, slots: Vec<u32>, nodes: bool },
}

impl Constraint {
    /// Slots of the bodies it links.
    pub fn slots(&self, mut found: impl FnMut(u32)) {
        match self {
            Self::Joint(j) => [j.a.slot, j.b.slot].into_iter().flatten().for_each(found),
            Self::Distance(d) => {
                for place in [d.a, d.b] {
                    match place {
                        Place::World(_) => {}
                        Place::Rigid { slot, .. } => found(slot),
                        Place::Node { body, .. } => found(body),
                    }
                }
            }
            Self::Custom { slots, .. } => slots.iter().copied().for_each(found),
        }
    }

    /// True when nodes take part: such rows come later in a staggered sweep.
    pub fn has_nodes(&self) -> bool {
        match self {
            Self::Joint(_) => false,
            Self::Distance(d) => matches!(d.a, Place::Node { .. }) || matches!(d.b, Place::Node { .. }),
            Self::Custom { nodes, .. } => *nodes,
        }
    }

    /// The two bodies that shall not collide because of this joint.
    pub fn keeps_apart(&self) -> Option<(u32, u32)> {
        match self {
            Self::Joint(j) if !j.source.collide => Some((j.a.slot?, j.b.slot?)),
            _ => None,
        }
    }

    /// Force above which it breaks [N].
    pub fn break_force(&self) -> Real {
        match self {
            Self::Joint(j) => j.source.break_force,
            Self::Distance(d) => d.source.break_force,
            Self::Custom { .. } => Real::INFINITY,
        }
    }
}
