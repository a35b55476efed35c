//! The solver: numbers only. It depends neither on bodies nor on kinds of constraint.

pub(crate) mod colour;
pub(crate) mod direct;
pub mod implicit;
mod node_pairs;
pub mod pgs;
pub(crate) mod pool;
pub mod row_lanes;
pub mod soft;
