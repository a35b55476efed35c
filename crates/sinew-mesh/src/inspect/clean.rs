//! Functions that remove superfluous or invalid elements, one kind each.

use super::quality::{is_flat_tet, is_flat_triangle};
use crate::geometry::{distance, volume};
use crate::mesh::Mesh;
use std::collections::BTreeMap;

/// Merges vertices that are no farther apart than `tolerance` [m]; 0 merges equal ones. A vertex is merged into the
/// first earlier one that is near enough. Returns the number of removed vertices.
pub fn weld(mesh: &mut Mesh, tolerance: f64) -> usize {
    // cells smaller than the rounding error would overflow integers
    let largest = mesh.vertices.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
    let near = if tolerance > 0.0 { tolerance.max(largest * 1e-15) } else { 0.0 };
    let new_index = if near > 0.0 { near_places(&mesh.vertices, near) } else { equal_places(&mesh.vertices) };
    let before = mesh.vertices.len();
    let mut kept = Vec::new();
    let mut at = vec![0u32; before];
    for (i, &first) in new_index.iter().enumerate() {
        if first as usize == i {
            at[i] = kept.len() as u32;
            kept.push(mesh.vertices[i]);
        } else {
            at[i] = at[first as usize];
        }
    }
    for i in mesh.triangles.iter_mut().flatten().chain(mesh.tets.iter_mut().flatten()) {
        *i = at[*i as usize];
    }
    mesh.vertices = kept;
    before - mesh.vertices.len()
}

/// For each vertex the first equal one.
fn equal_places(vertices: &[[f64; 3]]) -> Vec<u32> {
    // minus zero equals zero
    let key = |i: u32| vertices[i as usize].map(|x| (x + 0.0).to_bits());
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    order.sort_unstable_by_key(|&i| (key(i), i));
    let mut first = vec![0; vertices.len()];
    for same in order.chunk_by(|&a, &b| key(a) == key(b)) {
        for &i in same {
            first[i as usize] = same[0];
        }
    }
    first
}

/// For each vertex the first near one, which keeps its position.
fn near_places(vertices: &[[f64; 3]], near: f64) -> Vec<u32> {
    let cell = |v: [f64; 3]| v.map(|x| (x / near).floor() as i64);
    // remaining vertices; a cell contains few, because they are farther apart than the tolerance
    let mut grid: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    let mut first = Vec::with_capacity(vertices.len());
    for (i, &v) in vertices.iter().enumerate() {
        let [x, y, z] = cell(v);
        let around = (0..27).flat_map(|n| grid.get(&[x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1])).flatten();
        let found = around.copied().filter(|&j| distance(vertices[j as usize], v) <= near).min();
        first.push(found.unwrap_or(i as u32));
        if found.is_none() {
            grid.entry(cell(v)).or_default().push(i as u32);
        }
    }
    first
}

/// Removes triangles without area and tetrahedra without volume; returns the number of each.
pub fn drop_degenerate(mesh: &mut Mesh) -> [usize; 2] {
    let before = [mesh.triangles.len(), mesh.tets.len()];
    let vertices = &mesh.vertices;
    mesh.triangles.retain(|t| !is_flat_triangle(t.map(|i| vertices[i as usize])));
    mesh.tets.retain(|t| !is_flat_tet(t.map(|i| vertices[i as usize])));
    [before[0] - mesh.triangles.len(), before[1] - mesh.tets.len()]
}

/// Removes elements that have the same vertices as an earlier one, in any order; returns the number of each.
pub fn drop_duplicates(mesh: &mut Mesh) -> [usize; 2] {
    let marks = (repeats(&mesh.triangles), repeats(&mesh.tets));
    let count = |marks: &[bool]| marks.iter().filter(|&&m| m).count();
    let gone = [count(&marks.0), count(&marks.1)];
    let mut marks = (marks.0.into_iter(), marks.1.into_iter());
    mesh.triangles.retain(|_| marks.0.next() != Some(true));
    mesh.tets.retain(|_| marks.1.next() != Some(true));
    gone
}

/// Which elements repeat an earlier one.
pub(super) fn repeats<const N: usize>(elements: &[[u32; N]]) -> Vec<bool> {
    let mut order: Vec<([u32; N], usize)> = elements.iter().copied().zip(0..).collect();
    order.iter_mut().for_each(|(nodes, _)| nodes.sort_unstable());
    order.sort_unstable();
    let mut marks = vec![false; elements.len()];
    for same in order.chunk_by(|a, b| a.0 == b.0) {
        same[1..].iter().for_each(|(_, i)| marks[*i] = true);
    }
    marks
}

/// Swaps two corners of tetrahedra with negative volume; returns their number.
pub fn flip_inverted(mesh: &mut Mesh) -> usize {
    let vertices = &mesh.vertices;
    let inverted = |t: &[u32; 4]| volume(t.map(|i| vertices[i as usize])) < 0.0;
    let mut count = 0;
    for tet in mesh.tets.iter_mut().filter(|t| inverted(t)) {
        tet.swap(2, 3);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(xs: &[f64]) -> Mesh {
        let triangles = (0..xs.len() as u32).map(|i| [i, i, i]).collect();
        Mesh::from_triangles(xs.iter().map(|&x| [x, 0.0, 0.0]).collect(), triangles)
    }

    #[test]
    fn vertices_within_the_tolerance_are_merged() {
        let mut mesh = row(&[0.0, 1.0, 1.05, -0.0, 2.0]);
        assert_eq!(weld(&mut mesh, 0.0), 1);
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(weld(&mut mesh, 0.1), 1);
        assert_eq!(mesh.vertices, [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]);
        assert_eq!(mesh.triangles.iter().map(|t| t[0]).collect::<Vec<_>>(), [0, 1, 1, 0, 2]);
    }

    #[test]
    fn a_tolerance_far_below_rounding_merges_equal_vertices() {
        let mut mesh = row(&[1e300, 1e300, -1e300, 0.0]);
        assert_eq!(weld(&mut mesh, 1e-300), 1);
    }

    #[test]
    fn repeated_elements_are_removed_and_inverted_ones_reoriented() {
        let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut mesh = Mesh::from_tets(vertices, vec![[0, 2, 1, 3], [3, 1, 2, 0], [0, 0, 1, 2]]);
        assert_eq!(drop_degenerate(&mut mesh), [0, 1]);
        assert_eq!(drop_duplicates(&mut mesh), [0, 1]);
        assert_eq!(flip_inverted(&mut mesh), 1);
        assert!(volume(mesh.tet(mesh.tets[0])) > 0.0);
    }
}
