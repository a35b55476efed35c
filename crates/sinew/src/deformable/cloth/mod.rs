//! Cloth as a structure of arrays: nodes in SIMD lanes, distance constraints between them, contacts and self-contact
//! solved while the sheet is in cache. Position based bodies use it when they are in contact with spheres and planes
//! only.

pub(crate) mod cuthill_mckee;
pub(crate) mod distance_lanes;
pub(crate) mod fused_substep;
pub(crate) mod grid_strips;
pub(crate) mod network;
pub(crate) mod self_contact;
pub(crate) mod skip_constraints;
pub(crate) mod soa;

pub(crate) use fused_substep::Touched;
pub use network::DistanceNetwork;
pub(crate) use self_contact::{Grip, SelfContact, SelfContactRules};
pub use soa::ParticleSoa;
