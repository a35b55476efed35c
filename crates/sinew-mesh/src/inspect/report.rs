//! The report on a mesh, as text and as JSON.

use super::clean::repeats;
use super::cross::crossings;
use super::quality::{is_flat_tet, is_flat_triangle, quality};
use super::topology::{pieces, topology};
use crate::geometry::{area, bounds, volume};
use crate::mesh::{Mesh, Notes};
use serde::Serialize;

/// Properties of a mesh. Topology and intersections are those of the surface: the triangles, or the boundary of the
/// tetrahedra if there are any.
///
/// ```
/// use sinew_mesh::{Mesh, inspect};
/// let mesh = Mesh::from_triangles(vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]);
/// let report = inspect(&mesh);
/// assert_eq!((report.closed, report.boundary_edges, report.volume), (false, 3, None));
/// assert_eq!(report.area, 0.5);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Vertices in the file.
    pub vertices: usize,
    /// Triangles in the file.
    pub triangles: usize,
    /// Tetrahedra in the file.
    pub tets: usize,
    /// Minimum and maximum corner of the bounding box [m].
    pub bounds: Option<[[f64; 3]; 2]>,
    /// No edge of the surface has an odd number of triangles.
    pub closed: bool,
    /// Volume of the tetrahedra, inverted ones counted negative, or of the closed surface; else `None` [m³].
    pub volume: Option<f64>,
    /// Area of the surface [m²].
    pub area: f64,
    /// Connected components by shared vertices.
    pub components: usize,
    /// Minimum dihedral angle of the tetrahedra [deg].
    pub min_dihedral_deg: Option<f64>,
    /// Maximum dihedral angle of the tetrahedra [deg].
    pub max_dihedral_deg: Option<f64>,
    /// Minimum interior angle of the triangles [deg].
    pub min_angle_deg: Option<f64>,
    /// Maximum interior angle of the triangles [deg].
    pub max_angle_deg: Option<f64>,
    /// Maximum of the longest edge over the radius of the inscribed sphere or circle, normalized to 1 for regular
    /// elements.
    pub max_aspect: Option<f64>,
    /// Shortest edge [m].
    pub min_edge: Option<f64>,
    /// Mean edge [m].
    pub mean_edge: Option<f64>,
    /// Longest edge [m].
    pub max_edge: Option<f64>,
    /// Tetrahedra with negative volume.
    pub inverted: usize,
    /// Triangles without area and tetrahedra without volume.
    pub degenerate: usize,
    /// Triangles and tetrahedra with the same vertices as an earlier one.
    pub duplicate: usize,
    /// Vertices that no element uses.
    pub unused_vertices: usize,
    /// Elements whose id an earlier one had in the file.
    pub repeated_ids: u64,
    /// Boundary loops of the surface.
    pub holes: usize,
    /// Edges with one triangle.
    pub boundary_edges: usize,
    /// Edges with more than two triangles.
    pub non_manifold_edges: usize,
    /// Edges whose two triangles have inconsistent orientations.
    pub turned_edges: usize,
    /// Pairs of intersecting triangles.
    pub self_intersections: usize,
    /// False when the search for intersections was aborted: there may be more.
    pub self_intersections_complete: bool,
    /// What reading the file changed or left out.
    pub notes: Notes,
}

/// Inspects a mesh completely.
pub fn inspect(mesh: &Mesh) -> Report {
    let surface = mesh.surface();
    let shape = topology(&surface);
    let crossing = crossings(&mesh.vertices, &surface);
    let quality = quality(mesh);
    let flat_tets = mesh.tets.iter().filter(|&&t| is_flat_tet(mesh.tet(t))).count();
    let flat_triangles = mesh.triangles.iter().filter(|&&t| is_flat_triangle(mesh.triangle(t))).count();
    let inverted = |t: &&[u32; 4]| !is_flat_tet(mesh.tet(**t)) && volume(mesh.tet(**t)) < 0.0;
    let again = repeats(&mesh.triangles).into_iter().chain(repeats(&mesh.tets));
    let components = if mesh.tets.is_empty() { shape.components } else { pieces(&mesh.tets).1 };
    Report {
        vertices: mesh.vertices.len(),
        triangles: mesh.triangles.len(),
        tets: mesh.tets.len(),
        bounds: bounds(&mesh.vertices),
        closed: shape.closed,
        volume: total_volume(mesh, &surface, shape.closed),
        area: surface.iter().map(|&t| area(mesh.triangle(t))).fold(0.0, |sum, a| sum + a),
        components,
        min_dihedral_deg: quality.dihedral.map(|d| d[0]),
        max_dihedral_deg: quality.dihedral.map(|d| d[1]),
        min_angle_deg: quality.angle.map(|a| a[0]),
        max_angle_deg: quality.angle.map(|a| a[1]),
        max_aspect: quality.aspect,
        min_edge: quality.edge.map(|e| e[0]),
        mean_edge: quality.edge.map(|e| e[1]),
        max_edge: quality.edge.map(|e| e[2]),
        inverted: mesh.tets.iter().filter(inverted).count(),
        degenerate: flat_tets + flat_triangles,
        duplicate: again.filter(|&r| r).count(),
        unused_vertices: mesh.clone().drop_unused(),
        repeated_ids: mesh.notes.repeated_ids,
        holes: shape.holes.len(),
        boundary_edges: shape.boundary_edges,
        non_manifold_edges: shape.non_manifold_edges,
        turned_edges: shape.turned_edges,
        self_intersections: crossing.pairs.len(),
        self_intersections_complete: crossing.complete,
        notes: mesh.notes.clone(),
    }
}

fn total_volume(mesh: &Mesh, surface: &[[u32; 3]], closed: bool) -> Option<f64> {
    if !mesh.tets.is_empty() {
        return Some(mesh.tets.iter().map(|&t| volume(mesh.tet(t))).sum());
    }
    // relative to a vertex, to avoid cancellation when the origin is far away
    let eye = surface.first().filter(|_| closed).map(|t| mesh.vertices[t[0] as usize])?;
    Some(surface.iter().map(|&t| mesh.triangle(t)).map(|[a, b, c]| volume([eye, a, b, c])).sum())
}

impl Report {
    /// The defects, as text; empty for a valid mesh. Holes alone are not a defect: cloth has them.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut note = |count: usize, what: &str| {
            if count > 0 {
                found.push(format!("{count} {what}"));
            }
        };
        note(self.inverted, "inverted tetrahedra (negative volume)");
        note(self.degenerate, "degenerate elements (no area or volume)");
        note(self.duplicate, "elements with the vertices of an earlier one");
        note(self.repeated_ids as usize, "elements that repeat the id of an earlier one");
        note(self.unused_vertices, "vertices that no element names");
        note(self.non_manifold_edges, "edges with more than two triangles");
        note(self.turned_edges, "edges whose triangles look to opposite sides");
        let crossing = if self.self_intersections_complete {
            "pairs of triangles that cross"
        } else {
            "pairs of triangles that cross, or more: the search was given up"
        };
        note(self.self_intersections, crossing);
        if self.tets == 0 && self.volume.is_some_and(|v| v < 0.0) {
            found.push("triangles look inward (negative volume)".to_owned());
        }
        found
    }

    /// Names and values for a table of the main properties.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![(
            "elements",
            format!("{} vertices, {} triangles, {} tetrahedra", self.vertices, self.triangles, self.tets),
        )];
        if let Some([low, high]) = self.bounds {
            let size: [f64; 3] = std::array::from_fn(|i| high[i] - low[i]);
            rows.push(("size", format!("{} m, from {} to {}", triple(size), triple(low), triple(high))));
        }
        rows.push(("surface", self.surface_words()));
        rows.push(("area", format!("{:.6e} m²", self.area)));
        if let Some(volume) = self.volume {
            rows.push(("volume", format!("{volume:.6e} m³")));
        }
        if let (Some(low), Some(mean), Some(high)) = (self.min_edge, self.mean_edge, self.max_edge) {
            rows.push(("edges", format!("{low:.4e} to {high:.4e} m, mean {mean:.4e}")));
        }
        if let (Some(low), Some(high)) = (self.min_angle_deg, self.max_angle_deg) {
            rows.push(("angles", format!("{low:.2} to {high:.2} degrees in triangles")));
        }
        if let (Some(low), Some(high)) = (self.min_dihedral_deg, self.max_dihedral_deg) {
            rows.push(("dihedral", format!("{low:.2} to {high:.2} degrees between faces of tetrahedra")));
        }
        if let Some(aspect) = self.max_aspect {
            rows.push(("aspect", format!("at worst {aspect:.2} (1 is regular)")));
        }
        rows.extend(self.notes.lines().into_iter().map(|line| ("note", line)));
        rows.extend(self.problems().into_iter().map(|problem| ("problem", problem)));
        rows
    }

    fn surface_words(&self) -> String {
        let pieces = if self.components == 1 { "1 piece".to_owned() } else { format!("{} pieces", self.components) };
        if self.closed {
            return format!("closed, {pieces}");
        }
        format!("open, {pieces}, {} holes with {} edges", self.holes, self.boundary_edges)
    }
}

fn triple(v: [f64; 3]) -> String {
    format!("({:.6}, {:.6}, {:.6})", v[0], v[1], v[2])
}
