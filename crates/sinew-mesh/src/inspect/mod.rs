//! Inspection of a mesh: counts, topological defects, intersections, quality. Nothing here changes a mesh except the
//! functions of [`clean`](drop_degenerate) and [`orient`], which `repair` combines.

mod clean;
mod cross;
mod orient;
mod quality;
mod report;
mod topology;
mod tree;

pub use clean::{drop_degenerate, drop_duplicates, flip_inverted, weld};
pub use cross::{Crossings, crossings};
pub use orient::{Oriented, orient};
pub use quality::{Quality, is_flat_tet, is_flat_triangle, quality};
pub use report::{Report, inspect};
pub use topology::{Topology, topology};
