//! Geometry and topology of cuts.
//!
//! [`Body`] cuts tetrahedra: each element of the rest mesh consists of copies with a fill fraction, so that the cut lies
//! where the blade went and no element changes its shape. [`sheet`] cuts triangles of cloth, [`chain`] ropes and
//! [`link`] springs, pairs and groups of particles. All of them take rest positions and return plain data; masses,
//! forces and velocities are the caller's. `docs/cutting.md` of the repository has the method and its limits.
//!
//! ```
//! use sinew_cut::{Body, Front, Move, Options, Point, lattice};
//! # fn main() -> Result<(), sinew_cut::CutError> {
//! let (rest, tets) = lattice::five([3, 3, 3], 0.1);
//! let mut body = Body::new(&rest, &tets, &Options::default())?;
//! // a straight edge along x, wider than the cube, moves along y in the plane z = 0.14 m
//! let edge = |y| [Point::new(-0.1, y, 0.14), Point::new(0.4, y, 0.14)];
//! let start = edge(-0.1);
//! let front = Front { points: &start, normals: &[Point::Z], ..Front::default() };
//! let stroke = body.begin(&front)?;
//! let mut area = 0.0;
//! for k in 1..=50 {
//!     let points = edge(-0.1 + 0.01 * k as f64);
//!     let edit = body.tick(&[Move { stroke, front: Front { points: &points, ..front }, last: k == 50 }])?;
//!     area += edit.report.area;
//! }
//! assert_eq!(body.pieces().len(), 2);
//! assert!((area - 0.09).abs() < 1e-12);
//! # Ok(()) }
//! ```

mod body;
pub mod chain;
mod check;
mod edit;
mod error;
mod exact;
mod join;
mod knife;
pub mod lattice;
mod levels;
pub mod link;
mod matter;
mod mesh;
mod parts;
mod pieces;
mod quad;
pub mod sheet;
mod stroke;
mod surface;
mod sweep;

pub use body::{Body, Move, Options};
pub use check::Broken;
pub use edit::{ChangedElement, Edit, NewElement, NewNode, Skin, SurfacePoint, TickReport, Triangle};
pub use error::CutError;
pub use exact::Levels;
pub use matter::MAX_PLANES;
pub use parts::{Element, Plane};
pub use pieces::Piece;
pub use stroke::{Front, StrokeId};
pub use sweep::Sweep;

/// A place or direction in rest space: three f64 [m].
pub type Point = sinew_math::Wide3;

/// No element, no node.
pub const NONE: u32 = u32::MAX;
