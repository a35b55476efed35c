//! Repairs what can be repaired without inventing geometry: weld, remove, orient. Holes are not filled.

use crate::geometry::{bounds, distance};
use crate::inspect::{drop_degenerate, drop_duplicates, flip_inverted, orient, weld};
use crate::mesh::{Mesh, Notes};

/// Default tolerance of welding as a fraction of the mesh's diagonal: ten times the resolution of coordinates in f32.
const WELD: f64 = 1e-6;

/// A repaired mesh.
///
/// ```
/// use sinew_mesh::{Mesh, repair};
/// // a vertex that nothing names, and a triangle that is there twice
/// let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [9.0, 9.0, 9.0]];
/// let mended = repair(&Mesh::from_triangles(vertices, vec![[0, 1, 2], [0, 1, 2]]), None);
/// assert_eq!((mended.mesh.vertices.len(), mended.mesh.triangles.len()), (3, 1));
/// assert!(mended.did.len() >= 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The mesh.
    pub mesh: Mesh,
    /// The changes, one per line; empty when nothing was wrong.
    pub did: Vec<String>,
    /// Defects that cannot be repaired here.
    pub left: Vec<String>,
}

/// Merges vertices nearer than `tolerance` [m] (`None`: a millionth of the diagonal), removes degenerate and repeated
/// elements, reorients inverted tetrahedra, orients triangles outward, removes unused vertices.
pub fn repair(mesh: &Mesh, tolerance: Option<f64>) -> Repaired {
    let mut mesh = mesh.clone();
    let mut did = Vec::new();
    let mut note = |count: usize, what: String| {
        if count > 0 {
            did.push(format!("{what}: {count}"));
        }
    };
    let diagonal = bounds(&mesh.vertices).map_or(0.0, |[low, high]| distance(low, high));
    let tolerance = tolerance.unwrap_or(WELD * diagonal);
    let welded = weld(&mut mesh, tolerance);
    note(welded, format!("vertices joined with one within {tolerance:.3e} m"));
    let [triangles, tets] = drop_degenerate(&mut mesh);
    note(triangles, "triangles without area dropped".to_owned());
    note(tets, "tetrahedra without volume dropped".to_owned());
    let [triangles, tets] = drop_duplicates(&mut mesh);
    note(triangles, "repeated triangles dropped".to_owned());
    note(tets, "repeated tetrahedra dropped".to_owned());
    note(flip_inverted(&mut mesh), "inverted tetrahedra turned".to_owned());
    let oriented = orient(&mut mesh);
    note(oriented.turned, "triangles turned over".to_owned());
    note(mesh.drop_unused(), "vertices that no element named dropped".to_owned());
    note(mesh.notes.repeated_ids as usize, "elements with a repeated id numbered anew".to_owned());
    mesh.notes = Notes::default();

    let mut left = Vec::new();
    if oriented.one_sided > 0 {
        left.push(format!("{} patches have one side only and cannot be oriented", oriented.one_sided));
    }
    if oriented.open > 0 {
        left.push(format!("{} patches are open: their outside is a guess", oriented.open));
    }
    Repaired { mesh, did, left }
}
