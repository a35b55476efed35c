//! Meshes: tetrahedra from a closed triangle surface.

pub mod tetrahedralize;
