//! Continuous detection: when, within a step, a vertex first meets a face or an edge first meets an edge.
//!
//! Two ways. *Roots* (FC 4.2): the four points lie in one plane where the cubic of `cubic.rs` is zero; the least root at
//! which the features really meet is the time of contact. Fast, but a motion within a plane has no root. *Conservative*
//! (`conservative.rs`): goes forward by no more than the distance allows, so it cannot miss, and it keeps a gap. It also
//! follows points of turning bodies along their arcs; roots take the chord.
//!
//! All of it is in doubles whatever `Real` is: coordinates of State are then exact, and rounding is far below any gap.

mod conservative;
pub(crate) mod cover;
pub(crate) mod cross;
mod cubic;
mod distance;
mod path;
mod roots;
#[cfg(test)]
mod tests;

pub(crate) use conservative::{Keep, Look, advance};
pub(crate) use cubic::first_meeting;
pub(crate) use distance::{Slab, edge_edge, vertex_face};
pub(crate) use path::{Pivot, Track};
pub use roots::RootMethod;
