//! Meshes for the tests.
#![allow(dead_code)]

use sinew_reduce::*;

/// A box of `cells` cubes, each of six tetrahedra around its diagonal, from the origin to `size`.
pub fn block(cells: [usize; 3], size: [f64; 3]) -> TetMesh {
    let count = cells.map(|c| c + 1);
    let index = |p: [usize; 3]| (p[0] + count[0] * (p[1] + count[1] * p[2])) as u32;
    let mut nodes = Vec::new();
    for z in 0..count[2] {
        for y in 0..count[1] {
            for x in 0..count[0] {
                nodes.push([0, 1, 2].map(|a| [x, y, z][a] as f64 * size[a] / cells[a] as f64));
            }
        }
    }
    let mut tets = Vec::new();
    for cell in 0..cells[0] * cells[1] * cells[2] {
        let at = [cell % cells[0], cell / cells[0] % cells[1], cell / (cells[0] * cells[1])];
        for [a, b, c] in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
            let mut path = vec![at];
            for axis in [a, b, c] {
                let mut next = *path.last().unwrap();
                next[axis] += 1;
                path.push(next);
            }
            let even = [[0, 1, 2], [1, 2, 0], [2, 0, 1]].contains(&[a, b, c]);
            let p: Vec<u32> = path.into_iter().map(index).collect();
            tets.push(if even { [p[0], p[1], p[2], p[3]] } else { [p[0], p[2], p[1], p[3]] });
        }
    }
    TetMesh { nodes, tets }
}

/// Nodes at x = `at`.
pub fn face(mesh: &TetMesh, axis: usize, at: f64) -> Vec<u32> {
    (0..mesh.nodes.len() as u32).filter(|&i| (mesh.nodes[i as usize][axis] - at).abs() < 1e-9).collect()
}

/// An icosahedron divided `times` times: 20 · 4^times triangles.
pub fn sphere(radius: f64, times: usize) -> Surface {
    let g = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut nodes = Vec::new();
    for (a, b) in [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)] {
        nodes.push([a, b, 0.0]);
    }
    for (a, b) in [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)] {
        nodes.push([0.0, a, b]);
    }
    for (a, b) in [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)] {
        nodes.push([b, 0.0, a]);
    }
    let unit = |x: [f64; 3]| {
        let l = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
        x.map(|x| x * radius / l)
    };
    nodes.iter_mut().for_each(|x: &mut [f64; 3]| *x = unit(*x));
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..times {
        let mut middle = std::collections::BTreeMap::new();
        let mut next = Vec::new();
        for [a, b, c] in triangles {
            let mut between = |p: u32, q: u32| {
                *middle.entry([p.min(q), p.max(q)]).or_insert_with(|| {
                    let (p, q) = (nodes[p as usize], nodes[q as usize]);
                    nodes.push(unit([p[0] + q[0], p[1] + q[1], p[2] + q[2]]));
                    nodes.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (between(a, b), between(b, c), between(c, a));
            next.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = next;
    }
    let surface = Surface { nodes, triangles };
    if surface.volume() > 0.0 { surface } else { flipped(surface) }
}

/// The same surface with its normals turned.
pub fn flipped(mut surface: Surface) -> Surface {
    surface.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    surface
}

/// The surface of a mesh with nodes of its own, and the node of the mesh of each.
pub fn skin(mesh: &TetMesh) -> (Surface, Vec<u32>) {
    let nodes = mesh.surface_nodes();
    let place = |i: u32| nodes.binary_search(&i).unwrap() as u32;
    let triangles = mesh.surface().into_iter().map(|t| t.map(place)).collect();
    (Surface { nodes: nodes.iter().map(|&i| mesh.nodes[i as usize]).collect(), triangles }, nodes)
}

/// Numbers between −1 and 1.
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// The largest difference relative to the largest number of `b`.
pub fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / size
}
