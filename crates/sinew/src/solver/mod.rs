//! The solver: numbers only. It knows neither bodies nor kinds of constraint.

pub(crate) mod colour;
pub mod implicit;
mod node_pairs;
pub mod pgs;
pub(crate) mod pool;
pub mod row_lanes;
pub mod soft;
