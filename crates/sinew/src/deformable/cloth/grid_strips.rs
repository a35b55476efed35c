//! Sheets that are regular grids, recognised by their node numbers, and arranged in strips.
//!
//! Where all edges of a sheet connect nodes whose numbers differ by 1, C, C − 1 or C + 1, node n is in row i = n/C and
//! column j = n mod C. The columns are divided into eight strips of T, and node (i, l T + t) is element l of vector (i,
//! t). Constraints of one direction (Δi, Δj) that begin in a vector then end in one vector: (i + Δi, t + Δj), or across
//! the border of two strips the same shifted by one element. So eight constraints are two contiguous loads, without
//! indices or shuffles (cloth study, section 3).
//!
//! Groups are sorted by direction and colour, the fastest order in the study: in mesh order each waits for the stores
//! of the previous one.

use crate::deformable::pbd::Distance;
use crate::math::LANES;

/// Eight adjacent rows: the slots at which their ends begin, and the indices of the rows; `u32::MAX`: none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Strand {
    pub ends: [u32; 2],
    pub rows: [u32; LANES],
}

/// A sheet in strips.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridStrips {
    /// Node of each slot, `u32::MAX` for none.
    pub order: Vec<u32>,
    /// For each list of rows.
    pub strands: [Vec<Strand>; 2],
}

/// Assignment of nodes to vectors.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Number of nodes along the numbering, and across.
    columns: usize,
    lines: usize,
    /// Strips run across the numbering instead of along.
    turned: bool,
    /// T: vectors per line.
    width: usize,
}

impl Layout {
    /// Line and column of a node.
    fn place(&self, node: u32) -> [i64; 2] {
        let (i, j) = ((node as usize / self.columns) as i64, (node as usize % self.columns) as i64);
        if self.turned { [j, i] } else { [i, j] }
    }

    /// Number of lines of vectors.
    fn count(&self) -> usize {
        if self.turned { self.columns } else { self.lines }
    }

    /// Vector and lane of a node.
    fn vector(&self, [i, j]: [i64; 2]) -> (i64, i64) {
        let width = self.width as i64;
        (i * width + j % width, j / width)
    }

    fn order(&self, nodes: usize) -> Vec<u32> {
        let mut order = vec![u32::MAX; self.count() * self.width * LANES];
        for node in 0..nodes as u32 {
            let (vector, lane) = self.vector(self.place(node));
            order[vector as usize * LANES + lane as usize] = node;
        }
        order
    }
}

/// The sheet of these rows in strips, if it is a regular grid; `lists`: edges, and other constraints between their
/// nodes.
pub(crate) fn grid_strips(nodes: usize, lists: [&[Distance]; 2]) -> Option<GridStrips> {
    let columns = stride(nodes, lists[0])?;
    let lines = nodes / columns;
    let mut best: Option<(usize, GridStrips)> = None;
    for turned in [false, true] {
        let across = if turned { lines } else { columns };
        let least = across.div_ceil(LANES);
        // one vector wider leaves unused lanes, but allows alternating diagonals to fill complete vectors
        for width in [least, least + 1] {
            let layout = Layout { columns, lines, turned, width };
            let Some(strands) = all(&layout, lists) else { continue };
            let cost = strands[0].len() + strands[1].len();
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, GridStrips { order: layout.order(nodes), strands }));
            }
        }
    }
    best.map(|(_, grid_strips)| grid_strips)
}

/// The number of columns C, when every edge connects neighbours of a grid.
fn stride(nodes: usize, edges: &[Distance]) -> Option<usize> {
    let apart = |row: &Distance| row.nodes[0].abs_diff(row.nodes[1]) as usize;
    let fits = |columns: usize| {
        edges.iter().all(|row| {
            let [a, b] = row.nodes.map(|n| [n as usize / columns, n as usize % columns]);
            a[0].abs_diff(b[0]) <= 1 && a[1].abs_diff(b[1]) <= 1
        })
    };
    let farthest = edges.iter().map(apart).max()?;
    [farthest - 1, farthest].into_iter().find(|&c| c >= 2 && nodes.is_multiple_of(c) && fits(c))
}

/// All lists in strips; none where two rows of a vector would have a common node.
fn all(layout: &Layout, lists: [&[Distance]; 2]) -> Option<[Vec<Strand>; 2]> {
    Some([strands(layout, lists[0])?, strands(layout, lists[1])?])
}

/// A row for sorting: direction, colour and vector, then lane and index of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    direction: [i64; 2],
    colour: i64,
    /// Sort key: along the strips by line, across them by vector of a line.
    turn: [i64; 2],
    lane: i64,
    ends: [i64; 2],
    row: u32,
}

fn strands(layout: &Layout, rows: &[Distance]) -> Option<Vec<Strand>> {
    let mut threads: Vec<Thread> = rows.iter().enumerate().map(|(k, row)| thread(layout, k as u32, row)).collect();
    threads.sort_unstable();
    let same = |s: &Thread, t: &Thread| (s.direction, s.colour, s.turn) == (t.direction, t.colour, t.turn);
    threads.chunk_by(same).map(strand).collect()
}

fn thread(layout: &Layout, row: u32, distance: &Distance) -> Thread {
    let mut ends = distance.nodes.map(|n| layout.place(n));
    ends.sort_unstable();
    let [[i, j], to] = ends;
    let direction = [to[0] - i, to[1] - j];
    let (from, lane) = layout.vector([i, j]);
    let (target, far) = layout.vector(to);
    let t = j % layout.width as i64;
    let (colour, turn) =
        if direction[0] > 0 { ((i / direction[0]) % 2, [i, t]) } else { ((t / direction[1].abs().max(1)) % 2, [t, i]) };
    let ends = [from * LANES as i64, target * LANES as i64 + far - lane];
    Thread { direction, colour, turn, lane, ends, row }
}

/// The rows of one vector; none when they do not end in one vector, or have a common node.
fn strand(threads: &[Thread]) -> Option<Strand> {
    let [a, b] = threads[0].ends;
    let mut rows = [u32::MAX; LANES];
    for thread in threads {
        let lane = thread.lane as usize;
        let end = b + thread.lane;
        // a node of a vector must not be the end of a row that begins there
        if thread.ends != [a, b] || rows[lane] != u32::MAX || (a..a + LANES as i64).contains(&end) {
            return None;
        }
        rows[lane] = thread.row;
    }
    (b >= 0).then_some(Strand { ends: [a as u32, b as u32], rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::model::primitives::Diagonals;
    use crate::model::tri_mesh::TriMesh;

    fn rows(pairs: Vec<[u32; 2]>) -> Vec<Distance> {
        pairs.into_iter().map(|nodes| Distance { nodes, rest: 1.0, compliance: 0.0, compression: 0.0 }).collect()
    }

    #[test]
    fn every_row_of_a_grid_is_in_one_lane_and_connects_its_nodes() {
        for diagonals in [Diagonals::Alternating, Diagonals::Parallel] {
            let mesh = TriMesh::sheet([50, 30], [1.0, 0.6], diagonals).expect("a sheet");
            let edges = rows(mesh.edges());
            let skip_constraints = rows(
                crate::deformable::cloth::skip_constraints::skip_constraints(&mesh)
                    .into_iter()
                    .map(|b| b.nodes)
                    .collect(),
            );
            let grid_strips = grid_strips(mesh.vertices.len(), [&edges, &skip_constraints]).expect("a grid");
            let mut nodes: Vec<u32> = grid_strips.order.iter().copied().filter(|n| *n != u32::MAX).collect();
            nodes.sort_unstable();
            assert!(nodes.iter().enumerate().all(|(k, n)| k == *n as usize) && nodes.len() == mesh.vertices.len());
            for (list, strands) in [&edges, &skip_constraints].into_iter().zip(&grid_strips.strands) {
                let mut seen = vec![0; list.len()];
                for strand in strands {
                    for (lane, &row) in strand.rows.iter().enumerate().filter(|(_, r)| **r != u32::MAX) {
                        seen[row as usize] += 1;
                        let mut ends = strand.ends.map(|end| grid_strips.order[end as usize + lane]);
                        ends.sort_unstable();
                        let mut want = list[row as usize].nodes;
                        want.sort_unstable();
                        assert_eq!(ends, want);
                    }
                }
                assert!(seen.iter().all(|s| *s == 1));
            }
        }
    }

    #[test]
    fn a_mesh_that_is_no_grid_has_no_strips() {
        let mut mesh = TriMesh::sheet([20, 20], [1.0, 1.0], Diagonals::Alternating).expect("a sheet");
        // an additional vertex in the middle of a triangle
        let [a, b, c] = mesh.triangles[7];
        let middle = mesh.vertices.len() as u32;
        mesh.vertices.push(Vec3::ZERO);
        mesh.triangles[7] = [a, b, middle];
        mesh.triangles.extend([[b, c, middle], [c, a, middle]]);
        assert_eq!(grid_strips(mesh.vertices.len(), [&rows(mesh.edges()), &[]]), None);
        // a grid with too few columns for strips is rejected too
        let small = TriMesh::sheet([5, 5], [1.0, 1.0], Diagonals::Alternating).expect("a sheet");
        let skip_constraints = rows(
            crate::deformable::cloth::skip_constraints::skip_constraints(&small).into_iter().map(|b| b.nodes).collect(),
        );
        assert_eq!(grid_strips(small.vertices.len(), [&rows(small.edges()), &skip_constraints]), None);
    }
}
