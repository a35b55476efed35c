//! The solver: numbers only. It knows neither bodies nor kinds of constraint.

pub mod pgs;
