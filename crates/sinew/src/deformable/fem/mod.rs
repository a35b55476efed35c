//! Finite elements: solids of tetrahedra, membranes of triangles.

mod corotational;
mod element;
mod law;
mod loads;
mod membrane;
mod plastic;
mod reserved;
mod scheme;
mod solid;
mod sparse;
pub(super) mod tet_kernel;

pub use corotational::{Corotational, Params, ParamsError};
pub use element::{Elements, Face};
pub use law::Law;
pub use loads::{pressure, reactions};
pub use membrane::{Membrane, MembraneError, Params as MembraneParams, PlaneStress};
pub use plastic::Plasticity;
pub(crate) use reserved::ReservedCorotational;
pub use solid::{Integrator, Params as SolidParams, Solid, SolidError};
