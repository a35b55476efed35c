//! Removal of fragments and hinges, which stuffing leaves where the surface is thinner than a cell.
//!
//! A tip may end in tetrahedra that are connected to the rest by an edge or a corner only, or not at all. Such a part
//! would rotate about its hinge. The smaller part is removed, until no hinge is left; the loss is measured afterwards.

use super::stuff::Tets;
use super::vector::orient;
use std::collections::BTreeMap;

/// Maximum number of passes; each removes the tetrahedra at every hinge found.
const ROUNDS: usize = 20;

/// Removes hinges, and all but the `bodies` largest components.
pub(super) fn prune(mesh: &mut Tets, bodies: usize) {
    for _ in 0..ROUNDS {
        let doomed = hinges(mesh);
        if !doomed.iter().any(|&d| d) {
            break;
        }
        remove(mesh, &doomed);
    }
    let everything: Vec<u32> = (0..mesh.tets.len() as u32).collect();
    let mut groups = groups(mesh, &everything);
    if groups.len() > bodies {
        groups.sort_by(|a, b| volume(mesh, b).total_cmp(&volume(mesh, a)).then(a.cmp(b)));
        let mut doomed = vec![false; mesh.tets.len()];
        groups[bodies..].iter().flatten().for_each(|&t| doomed[t as usize] = true);
        remove(mesh, &doomed);
    }
    drop_unused(mesh);
}

fn volume(mesh: &Tets, group: &[u32]) -> f64 {
    let six = |&t: &u32| {
        let [a, b, c, d] = mesh.corners(t as usize);
        orient(a, b, c, d)
    };
    group.iter().map(six).sum()
}

fn remove(mesh: &mut Tets, doomed: &[bool]) {
    let mut at = 0;
    mesh.tets.retain(|_| {
        at += 1;
        !doomed[at - 1]
    });
}

/// Tetrahedra of the smaller parts at every vertex whose tetrahedra are not connected by faces. An edge that is a hinge
/// has such vertices at its ends.
fn hinges(mesh: &Tets) -> Vec<bool> {
    let mut stars = vec![Vec::new(); mesh.vertices.len()];
    for (t, tet) in mesh.tets.iter().enumerate() {
        tet.iter().for_each(|&i| stars[i as usize].push(t as u32));
    }
    // the tetrahedra of an interior vertex are always connected
    let mut on_boundary = vec![false; mesh.vertices.len()];
    mesh.boundary().iter().flatten().for_each(|&i| on_boundary[i as usize] = true);
    let mut doomed = vec![false; mesh.tets.len()];
    for (vertex, star) in stars.iter().enumerate().filter(|(v, _)| on_boundary[*v]) {
        let mut sides = groups_at(mesh, star, Some(vertex as u32));
        if sides.len() > 1 {
            sides.sort_by(|a, b| volume(mesh, b).total_cmp(&volume(mesh, a)).then(a.cmp(b)));
            sides[1..].iter().flatten().for_each(|&t| doomed[t as usize] = true);
        }
    }
    doomed
}

fn groups(mesh: &Tets, of: &[u32]) -> Vec<Vec<u32>> {
    groups_at(mesh, of, None)
}

/// Groups of tetrahedra connected by faces (by faces that contain `vertex`, if given).
fn groups_at(mesh: &Tets, of: &[u32], vertex: Option<u32>) -> Vec<Vec<u32>> {
    let mut parent: Vec<usize> = (0..of.len()).collect();
    let mut faces: Vec<([u32; 3], usize)> = Vec::with_capacity(4 * of.len());
    for (place, &t) in of.iter().enumerate() {
        for face in super::quality::FACES {
            let mut key = face.map(|i| mesh.tets[t as usize][i]);
            key.sort_unstable();
            if vertex.is_none_or(|v| key.contains(&v)) {
                faces.push((key, place));
            }
        }
    }
    faces.sort_unstable();
    for pair in faces.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (a, b) = (root(&mut parent, pair[0].1), root(&mut parent, pair[1].1));
        parent[a.max(b)] = a.min(b);
    }
    let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (place, &t) in of.iter().enumerate() {
        groups.entry(root(&mut parent, place)).or_default().push(t);
    }
    groups.into_values().collect()
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

fn drop_unused(mesh: &mut Tets) {
    const UNUSED: u32 = u32::MAX;
    let mut number = vec![UNUSED; mesh.vertices.len()];
    mesh.tets.iter().flatten().for_each(|&i| number[i as usize] = 0);
    let mut kept = Vec::with_capacity(mesh.vertices.len());
    for (new, &place) in number.iter_mut().zip(&mesh.vertices) {
        if *new != UNUSED {
            *new = kept.len() as u32;
            kept.push(place);
        }
    }
    mesh.vertices = kept;
    mesh.tets.iter_mut().flatten().for_each(|i| *i = number[*i as usize]);
}

#[cfg(test)]
mod tests {
    use super::super::vector::Vector;
    use super::*;

    /// Two tetrahedra with a common face, and a smaller one connected to them at a vertex or along an edge, or not at
    /// all.
    fn with_crumb(crumb: [u32; 4]) -> Tets {
        let vertices = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
            [-0.1, 0.0, 0.0],
            [-0.1, -0.1, 0.0],
            [-0.1, 0.0, -0.1],
            [-0.2, 0.0, 0.0],
        ];
        Tets { vertices: vertices.map(Vector).into(), tets: vec![[0, 1, 2, 3], [1, 2, 3, 4], crumb] }
    }

    #[test]
    fn a_fragment_on_a_hinge_is_removed_and_the_body_is_kept() {
        for crumb in [[0, 5, 6, 7], [0, 3, 5, 6], [5, 6, 7, 8]] {
            let mut mesh = with_crumb(crumb);
            prune(&mut mesh, 1);
            assert_eq!(mesh.tets, [[0, 1, 2, 3], [1, 2, 3, 4]], "{crumb:?}");
            assert_eq!(mesh.vertices.len(), 5);
        }
    }
}
