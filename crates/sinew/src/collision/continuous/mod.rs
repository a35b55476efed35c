//! Continuous collision detection: the first time within a step at which a vertex meets a face or an edge meets an
//! edge.
//!
//! Two methods. *Roots* (FC 4.2): the four points lie in one plane where the cubic of `cubic.rs` is zero; the smallest
//! root at which the features really meet is the time of contact. Fast, but a motion within a plane has no root.
//! *Conservative* (`conservative.rs`): advances by no more than the distance allows, so it cannot miss a contact, and
//! it maintains a gap. It also follows points of rotating bodies along their arcs; root finding uses the chord.
//!
//! All of it is computed in f64 whatever `Real` is: coordinates of State are then exact, and rounding is far below any
//! gap.

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
