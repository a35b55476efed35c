//! Pairs of features of two surfaces, or of one, that may be in contact: from cells whose boxes overlap, by their
//! distance.

use super::cell_tree::{CellTree, Meeting};
use super::contact_reduction::Sorter;
use super::feature_prefilter::{Edges, Faces};
use crate::math::{Block, Real, run};
use crate::model::surface::Cells;

/// A surface to be searched: its cells, with boxes and positions in lanes.
#[derive(Clone, Copy)]
pub(crate) struct Boxed<'a> {
    pub cells: &'a Cells,
    pub tree: &'a CellTree,
    /// Positions of the surfels, and their search distances in addition to that at rest [m].
    pub x: &'a [Block],
    /// It encloses a volume.
    pub solid: bool,
}

/// Pairs found, and scratch memory of the search.
#[derive(Debug, Default)]
pub(crate) struct NearPairs {
    open: Vec<Meeting>,
    cells: Vec<(u32, u32)>,
    /// Vertices of a and faces of b, and vertices of b and faces of a.
    pub vertices: [Vec<[u32; 2]>; 2],
    /// Edges of a and of b.
    pub edges: Vec<[u32; 2]>,
    /// Sorts the contacts.
    pub sorter: Sorter,
}

impl NearPairs {
    /// Lists the pairs that a `Finder` with this search distance has to test; of one surface each pair once.
    pub fn find(&mut self, [a, b]: [Boxed<'_>; 2], reach: Real, lanes: bool) {
        let Self { open, cells, vertices: [of_a, of_b], edges, .. } = self;
        a.tree.pairs(b.tree, open, cells);
        let pairs = &cells[..];
        run(Faces { pairs, swapped: false, points: a, faces: b, reach, out: of_a }, lanes);
        run(Faces { pairs, swapped: true, points: b, faces: a, reach, out: of_b }, lanes);
        run(Edges { pairs, sides: [a, b], reach, out: edges }, lanes);
    }

    /// The surfels of a (0) or b (1) whose normals a `Finder` needs, some of them repeatedly.
    pub fn surfels<'a>(&'a self, side: usize, cells: &'a Cells) -> impl Iterator<Item = u32> + 'a {
        let ends = self.edges.iter().flat_map(move |pair| cells.edges[pair[side] as usize]);
        self.vertices[side].iter().map(|pair| pair[0]).chain(ends)
    }
}
