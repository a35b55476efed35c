//! The solver: numbers only. It knows neither bodies nor kinds of constraint.

pub(crate) mod colour;
pub(crate) mod contact;
pub(crate) mod contact_batch;
#[cfg(test)]
mod contact_oracle;
pub(crate) mod contact_set;
pub(crate) mod fold_lanes;
pub mod implicit;
mod node_pairs;
pub(crate) mod node_touch;
pub mod pgs;
pub(crate) mod pool;
pub mod row_lanes;
pub(crate) mod sheet_touch;
pub mod soft;
pub(crate) mod touch_rows;
