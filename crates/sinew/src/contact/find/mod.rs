//! Finding contacts of bodies made of nodes: surfels on shapes, surfaces on surfaces, edges over rims, ellipsoids on
//! each other. Contacts of rigid bodies are found by `collision/narrow.rs`.

pub(crate) mod ellipsoid;
pub(crate) mod inside;
pub(crate) mod rim;
pub(crate) mod surface;
pub(crate) mod surfel;
