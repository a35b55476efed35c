//! Meshes for examples and tests.

use crate::Point;

/// Nodes and elements.
pub type Lattice = (Vec<Point>, Vec<[u32; 4]>);

fn nodes(cells: [usize; 3], size: f64) -> (Vec<Point>, impl Fn(usize, usize, usize) -> u32) {
    let [nx, ny, nz] = cells;
    let mut rest = Vec::with_capacity((nx + 1) * (ny + 1) * (nz + 1));
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                rest.push(Point::new(x as f64, y as f64, z as f64) * size);
            }
        }
    }
    (rest, move |x, y, z| ((z * (ny + 1) + y) * (nx + 1) + x) as u32)
}

/// A block of cubes with edges of `size` [m], five tetrahedra in each, mirrored from cube to cube.
pub fn five(cells: [usize; 3], size: f64) -> Lattice {
    let (rest, at) = nodes(cells, size);
    let mut tets = Vec::with_capacity(5 * cells.iter().product::<usize>());
    for z in 0..cells[2] {
        for y in 0..cells[1] {
            for x in 0..cells[0] {
                let c = |k: usize| at(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
                let corners = if (x + y + z) % 2 == 0 {
                    [[0, 1, 2, 4], [3, 1, 7, 2], [5, 1, 4, 7], [6, 2, 7, 4], [1, 2, 4, 7]]
                } else {
                    [[1, 0, 5, 3], [2, 0, 3, 6], [4, 0, 6, 5], [7, 3, 5, 6], [0, 3, 6, 5]]
                };
                tets.extend(corners.map(|tet| oriented(&rest, tet.map(c))));
            }
        }
    }
    (rest, tets)
}

/// A block of cubes with edges of `size` [m], six tetrahedra around a diagonal in each.
pub fn six(cells: [usize; 3], size: f64) -> Lattice {
    let (rest, at) = nodes(cells, size);
    let mut tets = Vec::with_capacity(6 * cells.iter().product::<usize>());
    for z in 0..cells[2] {
        for y in 0..cells[1] {
            for x in 0..cells[0] {
                let c = |k: usize| at(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
                for [p, q] in [[1, 3], [1, 5], [2, 3], [2, 6], [4, 5], [4, 6]] {
                    tets.push(oriented(&rest, [0, p, q, 7].map(c)));
                }
            }
        }
    }
    (rest, tets)
}

/// Cubes with a node in the middle of each and twelve tetrahedra around it: no edge of the faces goes through.
pub fn centred(cells: [usize; 3], size: f64) -> Lattice {
    let (mut rest, at) = nodes(cells, size);
    let mut tets = Vec::new();
    for z in 0..cells[2] {
        for y in 0..cells[1] {
            for x in 0..cells[0] {
                let c = |k: usize| at(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
                let middle = rest.len() as u32;
                rest.push((rest[c(0) as usize] + rest[c(7) as usize]) / 2.0);
                // diagonals of opposite faces are parallel, so that cubes agree
                for quad in [[0, 2, 6, 4], [1, 3, 7, 5], [0, 1, 5, 4], [2, 3, 7, 6], [0, 1, 3, 2], [4, 5, 7, 6]] {
                    for tri in [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]] {
                        tets.push(oriented(&rest, [c(tri[0]), c(tri[1]), c(tri[2]), middle]));
                    }
                }
            }
        }
    }
    (rest, tets)
}

fn oriented(rest: &[Point], tet: [u32; 4]) -> [u32; 4] {
    let [a, b, c, d] = tet.map(|node| rest[node as usize]);
    if (b - a).cross(c - a).dot(d - a) > 0.0 { tet } else { [tet[0], tet[2], tet[1], tet[3]] }
}
