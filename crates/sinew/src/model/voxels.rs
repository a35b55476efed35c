//! Occupancy voxels of a triangle mesh (FC 7.3.1): fixed scenery with any number of triangles as filled cells of a
//! grid.
//!
//! A cell is filled when a triangle intersects it, by the separating axis test of a box and a triangle, or when it is
//! not connected to the outside. The cost of contact then depends on the number of cells and no longer on that of
//! triangles. The cells contain the mesh and extend beyond it by less than the diagonal of a cell.

use super::Shape;
use crate::error::Error;
use crate::math::{Real, Vec3};

/// Maximum number of cells of the grid around a mesh: one byte each during filling.
const MOST_CELLS: f64 = (1 << 22) as f64;
/// Relative enlargement of a cell in the intersection test: rounding must not exclude triangles between two cells.
const ROUND: Real = 1e-4;

const EMPTY: u8 = 0;
const FILLED: u8 = 1;
const OUTSIDE: u8 = 2;

impl Shape {
    /// The voxels occupied by a triangle mesh, with cubic cells of an edge length [m]: for fixed scenery with many
    /// triangles.
    ///
    /// ```
    /// # use sinew::{Shape, TriMesh};
    /// let bone = TriMesh::ball(0.05, 24)?;
    /// let Shape::Voxels { cells, .. } = Shape::voxelized(&bone.vertices, &bone.triangles, 0.01)? else { panic!() };
    /// assert!(cells.contains(&[0, 0, 0]) && !cells.contains(&[7, 0, 0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A cell size that is not above zero, more cells than 2²² in the box around the mesh, no triangles, or indices out
    /// of range.
    pub fn voxelized(vertices: &[Vec3], triangles: &[[u32; 3]], cell: Real) -> Result<Self, Error> {
        let bad = |reason: String| Error::BadShape { shape: "voxels of a mesh".into(), reason };
        if !(cell > 0.0 && cell.is_finite()) {
            return Err(bad(format!("the cell size is {cell}, but must be above 0 and finite")));
        }
        if triangles.is_empty() {
            return Err(bad("there are no triangles".into()));
        }
        let mut corners = Vec::with_capacity(triangles.len());
        for (i, t) in triangles.iter().enumerate() {
            let at = t.map(|v| vertices.get(v as usize).filter(|x| x.is_finite()).map(|x| *x / cell));
            let [Some(a), Some(b), Some(c)] = at else {
                return Err(bad(format!("triangle {i} names a vertex that is missing or not finite")));
            };
            corners.push([a, b, c]);
        }
        let mut grid = Grid::around(&corners).ok_or_else(|| {
            bad("the mesh has more than 2^22 cells in its box, or lies too far out: take larger cells".into())
        })?;
        corners.iter().for_each(|t| grid.touch(t));
        grid.flood();
        Ok(Self::Voxels { size: Vec3::splat(cell), cells: grid.filled().into() })
    }
}

/// Cells around a mesh with one additional layer on all sides, in units of a cell.
struct Grid {
    low: [i32; 3],
    count: [usize; 3],
    cells: Vec<u8>,
}

impl Grid {
    fn around(triangles: &[[Vec3; 3]]) -> Option<Self> {
        let all = || triangles.iter().flatten();
        let (min, max) =
            (all().fold(Vec3::INFINITY, |m, x| m.min(*x)), all().fold(Vec3::NEG_INFINITY, |m, x| m.max(*x)));
        // voxels of a body lie within 2^20 cells of its origin
        if min.abs().max(max.abs()).max_element() > 1e6 {
            return None;
        }
        let (low, high) = (min.floor().to_array().map(|c| c as i32 - 1), max.floor().to_array().map(|c| c as i32 + 1));
        let count = [0, 1, 2].map(|k| (high[k] - low[k] + 1) as usize);
        let total = count.iter().map(|&c| c as f64).product::<f64>();
        (total <= MOST_CELLS).then(|| Self { low, count, cells: vec![EMPTY; count.iter().product()] })
    }

    fn place(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.count[1] + y) * self.count[2] + z
    }

    /// Fills all cells that a triangle intersects.
    fn touch(&mut self, t: &[Vec3; 3]) {
        let (min, max) = (t[0].min(t[1]).min(t[2]), t[0].max(t[1]).max(t[2]));
        let range = |k: usize| {
            let cell = |x: Real| (x.floor() as i32 - self.low[k]) as usize;
            // a triangle in the plane between two layers intersects both
            cell(min[k] - ROUND)..=cell(max[k] + ROUND)
        };
        let (xs, ys, zs) = (range(0), range(1), range(2));
        for x in xs {
            for y in ys.clone() {
                for z in zs.clone() {
                    let cell = [x, y, z];
                    let centre = Vec3::from_array([0, 1, 2].map(|k| (cell[k] as i32 + self.low[k]) as Real + 0.5));
                    if touches(t.map(|p| p - centre)) {
                        let at = self.place(cell);
                        self.cells[at] = FILLED;
                    }
                }
            }
        }
    }

    /// Marks the cells connected to the outermost layer, which no triangle intersects.
    fn flood(&mut self) {
        let mut reached = vec![[0; 3]];
        self.cells[0] = OUTSIDE;
        while let Some(cell) = reached.pop() {
            for k in 0..6 {
                let (axis, up) = (k / 2, k % 2 == 1);
                let mut beside = cell;
                if up && cell[axis] + 1 < self.count[axis] {
                    beside[axis] += 1;
                } else if !up && cell[axis] > 0 {
                    beside[axis] -= 1;
                }
                let at = self.place(beside);
                if self.cells[at] == EMPTY {
                    self.cells[at] = OUTSIDE;
                    reached.push(beside);
                }
            }
        }
    }

    /// Cells that are intersected or enclosed, in order.
    fn filled(&self) -> Vec<[i32; 3]> {
        let mut out = Vec::new();
        for (at, _) in self.cells.iter().enumerate().filter(|(_, c)| **c != OUTSIDE) {
            let (z, rest) = (at % self.count[2], at / self.count[2]);
            let cell = [rest / self.count[1], rest % self.count[1], z];
            out.push([0, 1, 2].map(|k| cell[k] as i32 + self.low[k]));
        }
        out
    }
}

/// True when a triangle intersects the cube of edge 1 around the origin: no axis of the cube, no normal of the
/// triangle's plane and no cross product of two edges separates them (Akenine-Möller 2001).
fn touches(t: [Vec3; 3]) -> bool {
    let edges = [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let parts = |axis: Vec3| {
        let along = t.map(|p| axis.dot(p));
        let (low, high) = (along[0].min(along[1]).min(along[2]), along[0].max(along[1]).max(along[2]));
        let reach = (0.5 + ROUND) * (axis.x.abs() + axis.y.abs() + axis.z.abs());
        low > reach || high < -reach
    };
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    let across = edges.iter().flat_map(|e| axes.iter().map(move |a| a.cross(*e)));
    !axes.into_iter().chain([edges[0].cross(edges[1])]).chain(across).any(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tri_mesh::TriMesh;

    fn cells(mesh: &TriMesh, cell: Real) -> Vec<[i32; 3]> {
        let Shape::Voxels { cells, .. } = Shape::voxelized(&mesh.vertices, &mesh.triangles, cell).unwrap() else {
            panic!()
        };
        cells.to_vec()
    }

    /// The cells contain the ball and nothing farther from it than their diagonal.
    #[test]
    fn the_voxels_of_a_ball_contain_it_and_exceed_it_by_less_than_a_diagonal() {
        for (cells_across, cell) in [(16, 0.02), (24, 0.01)] {
            let mesh = TriMesh::ball(0.1, cells_across).unwrap();
            let filled = cells(&mesh, cell);
            let centre = |c: &[i32; 3]| Vec3::from_array(c.map(|c| c as Real + 0.5)) * cell;
            let diagonal = 3.0_f64.sqrt() as Real * cell;
            assert!(filled.iter().all(|c| centre(c).length() < 0.1 + 0.5 * diagonal + 1e-5));
            let mut inside = 0;
            let reach = (0.1 / cell) as i32 + 2;
            for x in -reach..reach {
                for y in -reach..reach {
                    for z in -reach..reach {
                        if centre(&[x, y, z]).length() < 0.1 - diagonal {
                            inside += 1;
                            assert!(filled.binary_search(&[x, y, z]).is_ok(), "a hole at {x} {y} {z}");
                        }
                    }
                }
            }
            assert!(inside > 100);
            let volume = filled.len() as Real * cell * cell * cell;
            assert!(volume > mesh.volume(), "{volume} and {}", mesh.volume());
        }
    }

    /// The cells depend on the surface, not on its triangulation.
    #[test]
    fn finer_triangles_give_the_same_voxels() {
        use crate::model::tet_mesh::TetMesh;
        let block = |n: u32| {
            let tets = TetMesh::block([n; 3], Vec3::splat(0.205)).unwrap();
            TriMesh { triangles: tets.boundary_faces(), vertices: tets.vertices }
        };
        let (coarse, fine) = (block(1), block(16));
        assert!(fine.triangles.len() > 200 * coarse.triangles.len());
        assert_eq!(cells(&coarse, 0.01), cells(&fine, 0.01));
    }

    /// An open sheet is one or two layers thick, and invalid meshes are rejected.
    #[test]
    fn sheets_have_no_interior_and_invalid_meshes_are_rejected() {
        let at = |x: Real, z: Real| Vec3::new(x, 0.004, z);
        let (square, halves) = ([at(0.0, 0.0), at(0.1, 0.0), at(0.1, 0.1), at(0.0, 0.1)], [[0, 1, 2], [0, 2, 3]]);
        let Shape::Voxels { cells, .. } = Shape::voxelized(&square, &halves, 0.01).unwrap() else { panic!() };
        assert!(cells.iter().all(|c| c[1] == 0) && cells.len() >= 100);
        for (vertices, triangles, cell) in [
            (&square[..], &halves[..], 0.0),
            (&square, &halves, Real::NAN),
            (&square, &halves, 1e-7),
            (&square, &[], 0.01),
            (&square, &[[0, 1, 9]], 0.01),
            (&[Vec3::NAN; 3], &[[0, 1, 2]], 0.01),
        ] {
            assert!(matches!(Shape::voxelized(vertices, triangles, cell), Err(Error::BadShape { .. })));
        }
    }
}
