//! Element copies and node copies: what the parts of a body consist of now.

use crate::NONE;
use crate::exact::{self, Levels, Line};
use crate::matter::{Clip, MAX_PLANES, Matter};
use crate::mesh::Mesh;

/// A plane of a cut in an element copy; the matter is on its positive side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// The cut that made it.
    pub cut: u32,
    /// Level values at the corners.
    pub levels: Levels,
}

/// A part of an element: four node copies, and the share of the element's volume, mass and stiffness that it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// The element of the rest mesh.
    pub parent: u32,
    /// Node copies at the corners, in the order of the parent's corners.
    pub nodes: [u32; 4],
    /// Volume as a fraction of the parent's; mass and stiffness are this fraction of the parent's too.
    pub fill: f64,
    /// Next copy of the same parent, or `NONE`.
    pub(crate) next: u32,
    /// Its planes, or `NONE` for a whole element.
    pub(crate) block: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct Block {
    count: usize,
    planes: [Plane; MAX_PLANES],
}

impl Block {
    const EMPTY: Self = Self { count: 0, planes: [Plane { cut: 0, levels: [0; 4] }; MAX_PLANES] };

    pub fn planes(&self) -> &[Plane] {
        &self.planes[..self.count]
    }

    /// The planes of a copy and one more.
    fn with(planes: &[Plane], plane: Plane) -> Self {
        let mut block = Self::EMPTY;
        block.planes[..planes.len()].copy_from_slice(planes);
        block.planes[planes.len()] = plane;
        block.count = planes.len() + 1;
        block
    }

    /// Builds the matter; drops planes that have no face on it.
    fn settle(&mut self, matter: &mut Matter) {
        build(self.planes(), matter);
        let mut used = 0_u32;
        matter.faces().iter().filter(|face| face.plane >= 4).for_each(|face| used |= 1 << (face.plane - 4));
        if used.count_ones() as usize == self.count {
            return;
        }
        let mut kept = 0;
        for k in 0..self.count {
            if used >> k & 1 == 1 {
                self.planes[kept] = self.planes[k];
                kept += 1;
            }
        }
        self.count = kept;
        build(self.planes(), matter);
    }
}

/// The matter that planes leave of an element. Plane k has the faces of plane number 4 + k.
pub(crate) fn build(planes: &[Plane], matter: &mut Matter) {
    matter.reset();
    for (k, plane) in planes.iter().enumerate() {
        let clip = matter.clip(&plane.levels, k);
        debug_assert_ne!(clip, Clip::Empty, "a copy has matter");
    }
}

/// All parts of a body.
pub(crate) struct Parts {
    pub elements: Vec<Element>,
    /// First copy of each element of the rest mesh, or `NONE`. (tets)
    pub heads: Vec<u32>,
    blocks: Vec<Block>,
    free_blocks: Vec<u32>,
    /// Node of the rest mesh of each node copy.
    pub node_parents: Vec<u32>,
    pub limits: Limits,
}

/// Sizes of the pools.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub elements: usize,
    pub nodes: usize,
    pub blocks: usize,
}

/// What a split has made.
pub(crate) struct Halves {
    /// The new copy, on the negative side.
    pub below: u32,
}

impl Parts {
    pub fn new(mesh: &Mesh, limits: Limits) -> Self {
        let mut elements = Vec::with_capacity(limits.elements);
        elements.extend(mesh.tets.iter().enumerate().map(|(t, &nodes)| Element {
            parent: t as u32,
            nodes,
            fill: 1.0,
            next: NONE,
            block: NONE,
        }));
        let mut node_parents = Vec::with_capacity(limits.nodes);
        node_parents.extend(0..mesh.rest.len() as u32);
        Self {
            elements,
            heads: (0..mesh.tets.len() as u32).collect(),
            blocks: Vec::with_capacity(limits.blocks),
            free_blocks: Vec::with_capacity(limits.blocks),
            node_parents,
            limits,
        }
    }

    pub fn planes(&self, copy: u32) -> &[Plane] {
        match self.elements[copy as usize].block {
            NONE => &[],
            block => self.blocks[block as usize].planes(),
        }
    }

    /// Copies of an element of the rest mesh.
    pub fn copies(&self, tet: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.heads[tet as usize];
        std::iter::from_fn(move || {
            let copy = at;
            at = self.elements.get(copy as usize)?.next;
            Some(copy)
        })
    }

    pub fn has_cut(&self, copy: u32, cut: u32) -> bool {
        self.planes(copy).iter().any(|plane| plane.cut == cut)
    }

    pub fn matter(&self, copy: u32, matter: &mut Matter) {
        build(self.planes(copy), matter);
    }

    pub fn removed(&self, copy: u32) -> bool {
        self.elements[copy as usize].fill == 0.0
    }

    /// The pool that has no room for `splits` more splits, and its size. One split makes one element and at most one
    /// node copy at each corner.
    pub fn used_up(&self, splits: usize) -> Option<(&'static str, usize)> {
        let room = |len: usize, size: usize, need: usize| len + need > size;
        if room(self.elements.len(), self.limits.elements, splits) {
            return Some(("elements", self.limits.elements));
        }
        if room(self.node_parents.len(), self.limits.nodes, 4 * splits) {
            return Some(("nodes", self.limits.nodes));
        }
        let blocks = self.blocks.len() - self.free_blocks.len();
        room(blocks, self.limits.blocks, 2 * splits).then_some(("cut elements", self.limits.blocks))
    }

    pub fn full(&self, copy: u32) -> bool {
        self.planes(copy).len() >= MAX_PLANES
    }

    /// Splits a copy along a plane that has matter on both sides: the positive side keeps the number.
    pub fn split(&mut self, copy: u32, plane: Plane, matter: &mut Matter) -> Halves {
        let old = self.elements[copy as usize];
        let mut below = Block::with(self.planes(copy), Plane { levels: plane.levels.map(|s| -s), ..plane });
        let mut above = Block::with(self.planes(copy), plane);
        below.settle(matter);
        let below_fill = matter.fill();
        above.settle(matter);
        let above_fill = matter.fill();

        let new = self.elements.len() as u32;
        let below_block = self.take_block(below);
        let above_block = match old.block {
            NONE => self.take_block(above),
            block => {
                self.blocks[block as usize] = above;
                block
            }
        };
        self.elements[copy as usize] = Element { fill: above_fill, block: above_block, next: new, ..old };
        self.elements.push(Element { fill: below_fill, block: below_block, ..old });
        Halves { below: new }
    }

    fn take_block(&mut self, block: Block) -> u32 {
        match self.free_blocks.pop() {
            Some(free) => {
                self.blocks[free as usize] = block;
                free
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        }
    }

    /// Takes a copy out of the body. Its number is not used again.
    pub fn remove(&mut self, copy: u32) {
        let old = self.elements[copy as usize];
        let tet = old.parent as usize;
        if self.heads[tet] == copy {
            self.heads[tet] = old.next;
        } else {
            let mut at = self.heads[tet];
            while self.elements[at as usize].next != copy {
                at = self.elements[at as usize].next;
            }
            self.elements[at as usize].next = old.next;
        }
        if old.block != NONE {
            self.free_blocks.push(old.block);
        }
        self.elements[copy as usize] = Element { fill: 0.0, next: NONE, block: NONE, ..old };
    }

    /// Whether the matter of two copies on both sides of a face overlaps on it. `a` sees the face in `order_a`, `b` in
    /// `order_b`, both by ascending nodes.
    pub fn overlap(&self, (a, order_a): (u32, [usize; 3]), (b, order_b): (u32, [usize; 3])) -> bool {
        let mut patch: Option<Patch> = None;
        for (copy, order) in [(a, order_a), (b, order_b)] {
            for plane in self.planes(copy) {
                let line = order.map(|k| plane.levels[k]);
                if line.iter().all(|&s| s >= 0) {
                    continue;
                }
                if line.iter().all(|&s| s <= 0) || !patch.get_or_insert_with(Patch::whole).clip(&line) {
                    return false;
                }
            }
        }
        true
    }
}

/// A convex polygon in a face, exactly.
#[derive(Clone, Copy)]
pub(crate) struct Patch {
    count: usize,
    /// Corners, and the line from each to the next.
    corners: [([i64; 3], Line); PATCH],
}

const PATCH: usize = 3 + 2 * MAX_PLANES + 1;

impl Patch {
    pub fn whole() -> Self {
        let mut corners = [([0; 3], [0; 3]); PATCH];
        corners[0] = ([1, 0, 0], [0, 0, 1]);
        corners[1] = ([0, 1, 0], [1, 0, 0]);
        corners[2] = ([0, 0, 1], [0, 1, 0]);
        Self { count: 3, corners }
    }

    pub fn corners(&self) -> impl Iterator<Item = &[i64; 3]> {
        self.corners[..self.count].iter().map(|c| &c.0)
    }

    /// Takes away the negative side of a line; false if nothing is left.
    pub fn clip(&mut self, line: &Line) -> bool {
        let old = *self;
        let mut side = [0_i8; PATCH];
        let (mut above, mut below) = (false, false);
        for k in 0..old.count {
            side[k] = exact::line_side(&old.corners[k].0, line);
            above |= side[k] > 0;
            below |= side[k] < 0;
        }
        if !above || !below {
            return above;
        }
        self.count = 0;
        for k in 0..old.count {
            let next = (k + 1) % old.count;
            let (corner, along) = old.corners[k];
            if side[k] > 0 || (side[k] == 0 && side[next] > 0) {
                self.push(corner, along);
            } else if side[k] == 0 {
                // the edge from here on is the line itself, or leaves it to the negative side
                self.push(corner, *line);
            }
            if side[k] * side[next] < 0 {
                let cut = exact::cross(&along, line);
                self.push(cut, if side[k] > 0 { *line } else { along });
            }
        }
        true
    }

    fn push(&mut self, corner: [i64; 3], along: Line) {
        self.corners[self.count] = (corner, along);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polygon_in_a_face_is_cut_exactly() {
        let mut patch = Patch::whole();
        assert!(patch.clip(&[1, -1, 0]));
        assert_eq!(patch.corners().count(), 3);
        assert!(patch.clip(&[5, 3, -4]));
        assert!(!patch.clip(&[-1, 1, 0]));
        let mut patch = Patch::whole();
        assert!(patch.clip(&[7, -3, 2]));
        assert_eq!(patch.corners().count(), 4);
        assert!(!patch.clip(&[-7, 3, -2]));
    }
}
