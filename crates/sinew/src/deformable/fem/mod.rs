//! Finite elements on tetrahedra.

mod corotational;

pub use corotational::{Corotational, Params, ParamsError};
