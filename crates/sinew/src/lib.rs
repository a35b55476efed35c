//! Sinew.
pub mod constraint;
pub mod math;
pub mod solver;
