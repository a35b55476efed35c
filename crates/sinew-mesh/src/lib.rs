//! Mesh files for Sinew: reading, writing, inspection and repair.
//!
//! [`read`] converts a file to a [`Mesh`]: vertices in f64, triangles, tetrahedra, and [`Notes`] about other content of
//! the file. [`inspect()`] measures it, [`repair`] fixes what can be fixed without inventing geometry, and the strict
//! conversions [`Mesh::tet_mesh`] and [`Mesh::tri_mesh`] pass it to the physics or return the reasons for a refusal.
//!
//! ```
//! use sinew_mesh::{Format, inspect, read_bytes};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
//! let mesh = read_bytes(file.as_bytes(), Format::Obj, "corner.obj")?;
//! let report = inspect(&mesh);
//! assert!(report.closed && (report.volume.unwrap_or(0.0) - 1.0 / 6.0).abs() < 1e-12);
//! let surface: sinew::TriMesh = mesh.tri_mesh()?;
//! # let _ = surface;
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

mod cells;
mod draft;
mod error;
mod format;
mod geometry;
pub mod inspect;
mod mesh;
mod repair;
mod scan;
pub mod tetrahedralize;
mod validate;

pub use error::{MeshError, Place};
pub use format::{Encoding, Format, files, read, read_bytes, write, write_as, write_bytes};
pub use inspect::{Report, inspect};
pub use mesh::{Mesh, Notes};
pub use repair::{Repaired, repair};
pub use validate::ValidationError;
