//! Pairs of features of two surfaces, or of one, that may touch: of cells whose boxes meet, by their distance.

use super::cell_tree::{CellTree, Meeting};
use super::sift::{Kind, sift};
use super::{Finder, Skin};
use crate::math::Block;
use crate::model::surface::NONE;

/// Boxes and places of a surface in lanes.
#[derive(Clone, Copy)]
pub(crate) struct Boxed<'a> {
    pub tree: &'a CellTree,
    /// Positions of the surfels [m].
    pub x: &'a [Block],
}

/// What was found, and memory to look for it.
#[derive(Debug, Default)]
pub(crate) struct NearPairs {
    open: Vec<Meeting>,
    cells: Vec<(u32, u32)>,
    /// Vertices of a and faces of b, and vertices of b and faces of a.
    pub vertices: [Vec<[u32; 2]>; 2],
    /// Edges of a and of b.
    pub edges: Vec<[u32; 2]>,
}

impl NearPairs {
    /// Lists the pairs that `finder` has to look at; of one surface each pair once.
    pub fn find(&mut self, finder: &Finder<'_>, boxed: [Boxed<'_>; 2], lanes: bool) {
        let [a, b] = boxed;
        a.tree.pairs(b.tree, &mut self.open, &mut self.cells);
        self.fill([&finder.a, &finder.b]);
        let reach = finder.farthest();
        let kinds = [(&finder.b, [a.x, b.x]), (&finder.a, [b.x, a.x])];
        for (pairs, (face, x)) in self.vertices.iter_mut().zip(kinds) {
            sift(pairs, Kind::Faces(&face.cells.corners, x, face.solid), reach, lanes);
        }
        let loose = a.tree.loose || b.tree.loose;
        let ends = [&finder.a.cells.edges[..], &finder.b.cells.edges[..]];
        sift(&mut self.edges, Kind::Edges(ends, [a.x, b.x], loose), reach, lanes);
    }

    /// The features that the cells own.
    fn fill(&mut self, [a, b]: [&Skin<'_>; 2]) {
        let Self { cells, vertices: [of_a, of_b], edges, .. } = self;
        of_a.clear();
        of_b.clear();
        edges.clear();
        let there = |f: &&u32| **f != NONE;
        for &(cell_a, cell_b) in &*cells {
            let (own_a, own_b) = (&a.cells.owned[cell_a as usize], &b.cells.owned[cell_b as usize]);
            if b.cells.is_triangle(cell_b) {
                of_a.extend(own_a.vertices.iter().filter(there).map(|&vertex| [vertex, cell_b]));
            }
            if a.cells.is_triangle(cell_a) {
                of_b.extend(own_b.vertices.iter().filter(there).map(|&vertex| [vertex, cell_a]));
            }
            for &edge_a in own_a.edges.iter().filter(there) {
                edges.extend(own_b.edges.iter().filter(there).map(|&edge_b| [edge_a, edge_b]));
            }
        }
    }
}
