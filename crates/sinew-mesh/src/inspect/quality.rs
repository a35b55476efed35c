//! Size and shape of elements.

use crate::geometry::{Point, area, dihedral_angles, distance, triangle_angles, volume};
use crate::mesh::Mesh;

/// An element is degenerate when its area or volume is below this fraction of the maximum for its longest edge.
/// Coordinates in f64 round at 1e-16; a fraction of 1e-10 allows for offsets of up to a million edges.
const FLAT: f64 = 1e-10;

/// Quality measures of the elements of a mesh: of tetrahedra if there are any, else of triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Minimum and maximum dihedral angle of the tetrahedra [deg]; `None` without tetrahedra.
    pub dihedral: Option<[f64; 2]>,
    /// Minimum and maximum interior angle of the triangles [deg]; of the faces of tetrahedra if there are any.
    pub angle: Option<[f64; 2]>,
    /// Maximum of the longest edge over the radius of the inscribed sphere or circle, normalized to 1 for regular
    /// elements.
    pub aspect: Option<f64>,
    /// Minimum, mean and maximum edge length; an edge counts once per element that has it [m].
    pub edge: Option<[f64; 3]>,
}

/// True for a triangle without area.
pub fn is_flat_triangle(corners: [Point; 3]) -> bool {
    let longest = longest(&corners);
    !(area(corners) > FLAT * longest * longest)
}

/// True for a tetrahedron without volume, of either sign.
pub fn is_flat_tet(corners: [Point; 4]) -> bool {
    let longest = longest(&corners);
    !(volume(corners).abs() > FLAT * longest * longest * longest)
}

fn edges<const N: usize>(corners: &[Point; N]) -> impl Iterator<Item = f64> {
    (0..N).flat_map(move |i| (i + 1..N).map(move |j| distance(corners[i], corners[j])))
}

fn longest<const N: usize>(corners: &[Point; N]) -> f64 {
    edges(corners).fold(0.0, f64::max)
}

/// Updates a running minimum and maximum.
fn widen(range: &mut Option<[f64; 2]>, values: impl IntoIterator<Item = f64>) {
    for x in values {
        let [low, high] = range.unwrap_or([x, x]);
        *range = Some([low.min(x), high.max(x)]);
    }
}

/// Measures all elements; degenerate ones are left out, except for their edges.
pub fn quality(mesh: &Mesh) -> Quality {
    let mut q = Quality { dihedral: None, angle: None, aspect: None, edge: None };
    let (mut extent, mut sum, mut count) = (None, 0.0, 0.0);
    let mut note = |lengths: &mut dyn Iterator<Item = f64>| {
        for l in lengths {
            widen(&mut extent, [l]);
            sum += l;
            count += 1.0;
        }
    };
    for &tet in &mesh.tets {
        let corners = mesh.tet(tet);
        note(&mut edges(&corners));
        if !is_flat_tet(corners) {
            widen(&mut q.dihedral, dihedral_angles(corners));
            q.aspect = Some(tet_aspect(corners).max(q.aspect.unwrap_or(0.0)));
            let faces = crate::mesh::TET_FACES.map(|face| face.map(|i| corners[i]));
            widen(&mut q.angle, faces.into_iter().flat_map(triangle_angles));
        }
    }
    for &triangle in mesh.triangles.iter().filter(|_| mesh.tets.is_empty()) {
        let corners = mesh.triangle(triangle);
        note(&mut edges(&corners));
        if !is_flat_triangle(corners) {
            widen(&mut q.angle, triangle_angles(corners));
            q.aspect = Some(triangle_aspect(corners).max(q.aspect.unwrap_or(0.0)));
        }
    }
    q.edge = extent.map(|[low, high]| [low, sum / count, high]);
    q
}

/// Longest edge over 2√6 times the inradius r = 3V/A.
fn tet_aspect(corners: [Point; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let faces = area([a, b, c]) + area([a, b, d]) + area([a, c, d]) + area([b, c, d]);
    longest(&corners) * faces / (3.0 * volume(corners).abs() * 24f64.sqrt())
}

/// Longest edge over 2√3 times the inradius r = 2A/P.
fn triangle_aspect(corners: [Point; 3]) -> f64 {
    let around: f64 = edges(&corners).sum();
    longest(&corners) * around / (2.0 * area(corners) * 12f64.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_elements_have_aspect_one() {
        let h = 3f64.sqrt() / 2.0;
        assert!((triangle_aspect([[0.0; 3], [1.0, 0.0, 0.0], [0.5, h, 0.0]]) - 1.0).abs() < 1e-12);
        let regular = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        assert!((tet_aspect(regular) - 1.0).abs() < 1e-12);
        let q = quality(&Mesh::from_tets(regular.to_vec(), vec![[0, 1, 2, 3]]));
        let dihedral = (1f64 / 3.0).acos().to_degrees();
        assert!(q.dihedral.unwrap().iter().all(|d| (d - dihedral).abs() < 1e-9));
        assert!(q.edge.unwrap().iter().all(|e| (e - 8f64.sqrt()).abs() < 1e-12));
    }

    #[test]
    fn flatness_does_not_depend_on_size() {
        for size in [1e-6, 1.0, 1e6] {
            let at = |x: f64, y: f64, z: f64| [x * size, y * size, z * size];
            let triangle = |h: f64| [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.5, h, 0.0)];
            assert!(is_flat_triangle(triangle(1e-12)) && !is_flat_triangle(triangle(1e-6)));
            let tet = |h: f64| [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.0, 1.0, 0.0), at(0.3, 0.3, h)];
            assert!(is_flat_tet(tet(1e-12)) && !is_flat_tet(tet(-1e-6)));
        }
    }
}
