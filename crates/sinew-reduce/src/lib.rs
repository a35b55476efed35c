//! Reduced models of elastic bodies: built once from a mesh and a material, cheap in every step.
//!
//! - [`SurfaceBody`]: static condensation to the surface, a dense compliance, inner nodes on request.
//! - [`BoundaryBody`]: the same compliance from the surface alone, by boundary elements.
//! - [`Modes`], [`CraigBampton`]: vibration modes of free, held and attached bodies; [`ModeStep`] moves them exactly.
//! - [`cache`]: bases in files.
//!
//! Linear elasticity in f64, small displacements in a frame that the caller carries along. The engine's core does not
//! know this crate: decompositions need a library of linear algebra, which only builds of bases pay for.

mod body;
mod boundary;
pub mod cache;
mod compliance;
mod condense;
mod craig_bampton;
mod error;
mod integrate;
mod kelvin;
mod linalg;
mod material;
mod mesh;
mod modes;
mod surface;

pub use body::{Body, Mass, Statics};
pub use boundary::{BoundaryBody, Side};
pub use compliance::{Capacitance, Compliance, Frame, NODE_CAP, SurfaceRow};
pub use condense::{Condensed, SurfaceBody};
pub use craig_bampton::CraigBampton;
pub use error::ReduceError;
pub use integrate::ModeStep;
pub use linalg::{Dense, Sparse};
pub use material::{Elasticity, Material, Rayleigh};
pub use mesh::{TetMesh, Vec3};
pub use modes::{Modes, Wanted};
pub use surface::Surface;
