//! Solid ball: a cube of cells at the centre, bulged, and shells from its surface out to the sphere.

use super::super::tet_mesh::TetMesh;
use super::super::tri_mesh::TriMesh;
use super::sweep::split;
use super::{compact, halve};
use crate::math::{Real, Vec3};

/// The surface of a cube grid from -1 to 1: the grid points on it, and its squares with outward orientation, by grid
/// point.
pub(super) struct CubeGrid {
    cells: u32,
}

impl CubeGrid {
    pub fn new(cells: u32) -> Self {
        Self { cells }
    }

    fn index(&self, c: [u32; 3]) -> u32 {
        let n = self.cells + 1;
        c[0] + n * (c[1] + n * c[2])
    }

    /// All points, x fastest.
    fn points(&self) -> Vec<Vec3> {
        let n = self.cells;
        let at = |k: u32| 2.0 * k as Real / n as Real - 1.0;
        let row = |k: u32| (0..=n).flat_map(move |j| (0..=n).map(move |i| Vec3::new(at(i), at(j), at(k))));
        (0..=n).flat_map(row).collect()
    }

    fn squares(&self) -> Vec<[u32; 4]> {
        let n = self.cells;
        let mut squares = Vec::new();
        for axis in 0..3 {
            for (level, outward) in [(0, false), (n, true)] {
                for j in 0..n {
                    for i in 0..n {
                        let corner = |i: u32, j: u32| {
                            let mut c = [level; 3];
                            c[(axis + 1) % 3] = i;
                            c[(axis + 2) % 3] = j;
                            self.index(c)
                        };
                        let mut square = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
                        if !outward {
                            square.reverse();
                        }
                        squares.push(square);
                    }
                }
            }
        }
        squares
    }

    fn hexahedra(&self) -> Vec<[u32; 8]> {
        let n = self.cells;
        let mut hexahedra = Vec::new();
        for k in 0..n {
            for j in 0..n {
                for i in 0..n {
                    let at = |x, y, z| self.index([i + x, j + y, k + z]);
                    let (low, high) = ([at(0, 0, 0), at(1, 0, 0), at(1, 1, 0), at(0, 1, 0)], [0, 1, 3, 2]);
                    let high = high.map(|q| at(q & 1, q >> 1, 1));
                    hexahedra.push([low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]]);
                }
            }
        }
        hexahedra
    }
}

/// From the surface of the cube to the unit sphere, with equal angles along the centre lines.
fn onto_sphere(p: Vec3) -> Vec3 {
    let tan = |x: Real| (std::f64::consts::FRAC_PI_4 * (x as f64)).tan() as Real;
    Vec3::new(tan(p.x), tan(p.y), tan(p.z)).normalize()
}

/// Maps the cube to the inner part of the ball, sides bulged outward. The two constants gave the best angles of those
/// tried: the smallest angle of a ball of 1 cell is 16 degrees, of finer ones 23.
fn bulge(p: Vec3) -> Vec3 {
    const HALF: Real = 0.32;
    const ROUND: Real = 0.14;
    let s = p * p;
    let out = Vec3::new(2.0 - s.y - s.z, 2.0 - s.z - s.x, 2.0 - s.x - s.y);
    p * HALF * (Vec3::ONE + out * ROUND)
}

/// The surface of a unit ball.
pub(super) fn sphere(cells: u32) -> TriMesh {
    let grid = CubeGrid::new(cells);
    let triangles = grid.squares().into_iter().flat_map(halve).collect();
    let mut mesh = compact(&grid.points(), triangles);
    mesh.vertices.iter_mut().for_each(|p| *p = onto_sphere(*p));
    mesh
}

/// A unit ball.
pub(super) fn ball(cells: u32) -> TetMesh {
    let grid = CubeGrid::new(cells);
    let points = grid.points();
    let squares = grid.squares();
    let mut mesh = TetMesh { vertices: points.iter().map(|&p| bulge(p)).collect(), tets: Vec::new() };
    mesh.tets.extend(grid.hexahedra().into_iter().flat_map(split));

    // shells over the surface of the cube
    let mut on_surface: Vec<u32> = squares.iter().flatten().copied().collect();
    on_surface.sort_unstable();
    on_surface.dedup();
    let layers = cells.div_ceil(2);
    let first = points.len() as u32;
    let count = on_surface.len() as u32;
    for layer in 1..=layers {
        let part = layer as Real / layers as Real;
        for &i in &on_surface {
            let (from, to) = (mesh.vertices[i as usize], onto_sphere(points[i as usize]));
            mesh.vertices.push(from + (to - from) * part);
        }
    }
    let at = |point: u32, layer: u32| match layer {
        0 => point,
        _ => first + (layer - 1) * count + on_surface.binary_search(&point).unwrap_or(0) as u32,
    };
    for layer in 0..layers {
        for square in &squares {
            let [a, b, c, d] = square.map(|p| at(p, layer));
            let [e, f, g, h] = square.map(|p| at(p, layer + 1));
            mesh.tets.extend(split([a, b, c, d, e, f, g, h]));
        }
    }
    mesh
}
