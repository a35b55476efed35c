//! Constraints: each kind is one file that turns a relation between bodies into rows.

mod row;

pub use row::{Bounds, Row, RowBuffer, RowId, Term};
