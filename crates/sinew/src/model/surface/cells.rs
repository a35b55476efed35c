//! The cells of a surface for contact detection: triangles, and segments without triangles (ropes); and the assignment
//! of vertices and edges to cells.
//!
//! For two cells that may meet, the vertices and edges assigned to them are tested. A feature is assigned to one cell,
//! so that each pair of features is tested once, for any number of cells around it (representative triangles, Curtis et
//! al. 2008).

/// Invalid index: no vertex, edge or cell.
pub(crate) const NONE: u32 = u32::MAX;

/// Cells with their features. Constant since the last edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cells {
    /// Surfels of each cell; a segment repeats its second one.
    pub corners: Vec<[u32; 3]>,
    /// Surfels of each edge, the smaller first, sorted.
    pub edges: Vec<[u32; 2]>,
    /// The two cells adjacent to each edge; `NONE` where there is no second.
    pub beside: Vec<[u32; 2]>,
    /// Features assigned to each cell.
    pub owned: Vec<Owned>,
}

/// Features assigned to a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Owned {
    /// Surfels, `NONE` for those assigned to other cells.
    pub vertices: [u32; 3],
    /// Edges, likewise.
    pub edges: [u32; 3],
}

impl Cells {
    /// From triangles and loose segments over `surfels` surfels. Each feature is assigned to the first cell that has
    /// it.
    pub fn new(surfels: usize, triangles: &[[u32; 3]], segments: &[[u32; 2]]) -> Self {
        let mut corners = triangles.to_vec();
        corners.extend(segments.iter().map(|&[a, b]| [a, b, b]));
        // every side of every cell, sorted so that entries of the same edge are consecutive and its first cell comes
        // first
        let mut sides = Vec::new();
        for (cell, &[a, b, c]) in corners.iter().enumerate() {
            let ends: &[[u32; 2]] = if b == c { &[[a, b]] } else { &[[a, b], [b, c], [c, a]] };
            sides.extend(ends.iter().map(|&[p, q]| ([p.min(q), p.max(q)], cell as u32)));
        }
        sides.sort_unstable();
        let mut owned = vec![Owned { vertices: [NONE; 3], edges: [NONE; 3] }; corners.len()];
        let (mut edges, mut beside): (Vec<[u32; 2]>, Vec<[u32; 2]>) = (Vec::new(), Vec::new());
        for (ends, cell) in sides {
            if edges.last() == Some(&ends) {
                let last = beside.last_mut().expect("one entry an edge");
                if last[1] == NONE {
                    last[1] = cell;
                }
                continue;
            }
            let free = owned[cell as usize].edges.iter_mut().find(|e| **e == NONE);
            *free.expect("a cell has three sides") = edges.len() as u32;
            edges.push(ends);
            beside.push([cell, NONE]);
        }
        let mut taken = vec![false; surfels];
        for (cell, corners) in corners.iter().enumerate() {
            for (k, &v) in corners.iter().enumerate() {
                if !std::mem::replace(&mut taken[v as usize], true) {
                    owned[cell].vertices[k] = v;
                }
            }
        }
        Self { corners, edges, beside, owned }
    }

    /// True for a triangle, false for a segment.
    pub fn is_triangle(&self, cell: u32) -> bool {
        let [_, b, c] = self.corners[cell as usize];
        b != c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_and_edge_is_assigned_to_one_cell() {
        // two triangles with a common edge and an attached segment
        let cells = Cells::new(5, &[[0, 1, 2], [2, 1, 3]], &[[3, 4]]);
        assert_eq!(cells.edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [3, 4]]);
        let shared = cells.edges.iter().position(|e| *e == [1, 2]).unwrap();
        assert_eq!(cells.beside[shared], [0, 1]);
        assert!(!cells.is_triangle(2) && cells.is_triangle(1));
        let all = |pick: fn(&Owned) -> [u32; 3]| {
            let mut all: Vec<u32> = cells.owned.iter().flat_map(pick).filter(|&f| f != NONE).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(all(|o| o.vertices), [0, 1, 2, 3, 4]);
        assert_eq!(all(|o| o.edges), [0, 1, 2, 3, 4, 5]);
    }
}
