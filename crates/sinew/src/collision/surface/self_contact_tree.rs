//! A tree over the patches of one sheet in groups of eight (bunches), and the pairs of bunches that may meet.
//!
//! Faces that are neighbours are always near each other, so that boxes alone would open every branch down to the
//! leaves. Two branches that share a node are one patch (`Beside`, determined once), and a patch whose normals all have
//! a positive component along one direction does not meet itself (`motion_bounds.rs`). That holds for a patch that is
//! connected and has no concave boundary parts, slits or holes: the arms of a U may close in their plane. Therefore
//! only patches count that at rest lie behind each boundary edge of the sheet that they contain; others are opened.
//! Patch boundaries within the sheet may be ragged: there is cloth behind them.
//!
//! Branches are stored in post-order, children before parents: boxes are refitted in one pass.

use super::motion_bounds::{Look, MotionBounds, Normals};
use crate::math::{LANES, Real, Vec3};

/// Distance by which a patch may extend beyond the line of one of its boundary edges, in diagonals of its box.
const WAVY: Real = 0.05;
/// Invalid index.
const NONE: u32 = u32::MAX;

/// Which patches of two bunches share a node: bit j of entry i for patch i of the first and j of the second.
pub(super) type Shared = [u8; LANES];

/// An inner node of the tree (branch), or a bunch.
#[derive(Clone, Copy, Debug)]
struct Branch {
    /// Both children; a bunch has none and its own index.
    parts: [u32; 2],
    /// Number of bunches.
    size: u32,
    /// Connected and without concave boundary.
    is_whole: bool,
    /// Its parts as a pair that shares a node, or, for a bunch, the index of the table of patches that share nodes.
    between: u32,
}

/// Two branches that share a node, and the pairs that result when the larger is opened.
#[derive(Clone, Copy, Debug)]
struct Beside {
    pair: [u32; 2],
    /// Pairs of its children that share a node, none for others. For two bunches: the index of the table of patches
    /// that share nodes.
    inner: [u32; 2],
}

/// Rest configuration of a patch, a bunch or a branch.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Its nodes in connected components, each sorted.
    pub pieces: Vec<Vec<u32>>,
    pub rim: Vec<Rim>,
    pub low: Vec3,
    pub high: Vec3,
}

/// A boundary edge (of one face only): its midpoint, and the unit outward direction in the sheet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rim {
    pub at: Vec3,
    pub out: Vec3,
}

/// Two bunches that may meet, or one bunch with itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub bunches: [u32; 2],
    shared: u32,
}

#[derive(Debug, Default)]
pub(super) struct SelfContactTree {
    branches: Vec<Branch>,
    bounds: Vec<MotionBounds>,
    normals: Vec<Normals>,
    /// Whether a descendant has changed.
    stale: Vec<bool>,
    besides: Vec<Beside>,
    shared: Vec<Shared>,
}

impl SelfContactTree {
    /// Over patches, which are grouped in bunches; the range of bunches is halved recursively: each half is a branch.
    pub fn new(patches: &[Leaf]) -> Self {
        let mut tree = Self::default();
        let bunches: Vec<&[Leaf]> = patches.chunks(LANES).collect();
        if bunches.is_empty() {
            return tree;
        }
        let mut rest = Vec::new();
        tree.grow(&bunches, 0, &mut rest);
        for at in 0..tree.branches.len() {
            let Branch { parts: [left, right], size, .. } = tree.branches[at];
            if size == 1 {
                let bunch = bunches[right as usize];
                tree.branches[at].between = tree.share_out(bunch, bunch);
            } else if meet(&rest[left as usize], &rest[right as usize]) {
                tree.branches[at].between = tree.pair_up([left, right], &rest, &bunches);
            }
        }
        let count = tree.branches.len();
        (tree.bounds, tree.normals) = (vec![MotionBounds::NOTHING; count], vec![Normals::NONE; count]);
        tree.stale = vec![true; count];
        tree
    }

    /// Adds the branch of a range of bunches that starts with index `first`, after its children. Returns its index.
    fn grow(&mut self, bunches: &[&[Leaf]], first: u32, rest: &mut Vec<Leaf>) -> u32 {
        let (parts, leaf) = if let [bunch] = bunches {
            let leaf = bunch[1..].iter().fold(bunch[0].clone(), |all, patch| joined(&all, patch));
            ([NONE, first], leaf)
        } else {
            let (left, right) = bunches.split_at(bunches.len() / 2);
            let parts = [self.grow(left, first, rest), self.grow(right, first + left.len() as u32, rest)];
            (parts, joined(&rest[parts[0] as usize], &rest[parts[1] as usize]))
        };
        let wavy = WAVY * (leaf.high - leaf.low).length();
        let is_behind = |rim: &Rim| leaf.rim.iter().all(|other| (other.at - rim.at).dot(rim.out) <= wavy);
        let is_whole = leaf.pieces.len() == 1 && leaf.rim.iter().all(is_behind);
        self.branches.push(Branch { parts, size: bunches.len() as u32, is_whole, between: NONE });
        rest.push(leaf);
        self.branches.len() as u32 - 1
    }

    /// Adds a pair that shares a node, and those within it. Returns its index.
    fn pair_up(&mut self, pair: [u32; 2], rest: &[Leaf], bunches: &[&[Leaf]]) -> u32 {
        let number = self.besides.len();
        self.besides.push(Beside { pair, inner: [NONE; 2] });
        if let Some(opened) = self.open(pair) {
            for (k, inner) in opened.into_iter().enumerate() {
                if meet(&rest[inner[0] as usize], &rest[inner[1] as usize]) {
                    self.besides[number].inner[k] = self.pair_up(inner, rest, bunches);
                }
            }
        } else {
            let [a, b] = pair.map(|at| bunches[self.branches[at as usize].parts[1] as usize]);
            self.besides[number].inner[0] = self.share_out(a, b);
        }
        number as u32
    }

    /// Records which patches of two bunches share a node. Returns the index of the table.
    fn share_out(&mut self, a: &[Leaf], b: &[Leaf]) -> u32 {
        let mut shared = [0; LANES];
        for (row, one) in shared.iter_mut().zip(a) {
            for (bit, two) in b.iter().enumerate() {
                *row |= u8::from(meet(one, two)) << bit;
            }
        }
        self.shared.push(shared);
        self.shared.len() as u32 - 1
    }

    /// The children of the larger branch of a pair, each with the other branch; none for two bunches.
    #[inline(always)]
    fn open(&self, [a, b]: [u32; 2]) -> Option<[[u32; 2]; 2]> {
        let (one, two) = (&self.branches[a as usize], &self.branches[b as usize]);
        if one.size >= two.size {
            (one.size > 1).then(|| one.parts.map(|part| [part, b]))
        } else {
            Some(two.parts.map(|part| [a, part]))
        }
    }

    /// Refits boxes and normals; `bunch` gives those of a bunch, if they have changed.
    pub fn fit(&mut self, mut bunch: impl FnMut(u32) -> Option<(MotionBounds, Normals)>) {
        for (at, branch) in self.branches.iter().enumerate() {
            let [left, right] = branch.parts.map(|part| part as usize);
            let fitted = if branch.size == 1 {
                bunch(branch.parts[1])
            } else {
                let changed = self.stale[left] | self.stale[right];
                changed.then(|| {
                    (self.bounds[left].join(&self.bounds[right]), self.normals[left].join(self.normals[right]))
                })
            };
            self.stale[at] = fitted.is_some();
            if let Some((motion_bounds, normals)) = fitted {
                (self.bounds[at], self.normals[at]) = (motion_bounds, normals);
            }
        }
    }

    /// Which patches of two bunches share a node.
    #[inline(always)]
    pub fn shared(&self, meeting: &Meeting) -> Shared {
        self.shared.get(meeting.shared as usize).copied().unwrap_or_default()
    }

    /// Lists pairs of bunches that may meet and of which one has changed, and bunches that may meet themselves.
    pub fn find(&self, look: Look, out: &mut Vec<Meeting>) {
        out.clear();
        if let Some(root) = self.branches.len().checked_sub(1) {
            self.within(root as u32, look, out);
        }
    }

    fn within(&self, at: u32, look: Look, out: &mut Vec<Meeting>) {
        let branch = &self.branches[at as usize];
        if !self.stale[at as usize] || branch.is_whole && self.normals[at as usize].are_one_way() {
            return;
        }
        let [left, right] = branch.parts;
        if branch.size == 1 {
            return out.push(Meeting { bunches: [right, right], shared: branch.between });
        }
        self.within(left, look, out);
        self.within(right, look, out);
        if branch.between == NONE {
            self.apart([left, right], look, out);
        } else {
            self.beside(branch.between, look, out);
        }
    }

    /// Two branches that share a node.
    fn beside(&self, number: u32, look: Look, out: &mut Vec<Meeting>) {
        let Beside { pair, inner } = self.besides[number as usize];
        let [a, b] = pair.map(|at| at as usize);
        let whole = self.branches[a].is_whole & self.branches[b].is_whole;
        let changed = self.stale[a] | self.stale[b];
        if !changed || whole && self.normals[a].join(self.normals[b]).are_one_way() {
            return;
        }
        let Some(opened) = self.open(pair) else {
            return self.push([a, b], inner[0], out);
        };
        for (pair, number) in opened.into_iter().zip(inner) {
            if number == NONE {
                self.apart(pair, look, out);
            } else {
                self.beside(number, look, out);
            }
        }
    }

    /// Two branches that share no node.
    fn apart(&self, pair: [u32; 2], look: Look, out: &mut Vec<Meeting>) {
        let [a, b] = pair.map(|at| at as usize);
        if !(self.stale[a] | self.stale[b]) || self.bounds[a].is_apart(&self.bounds[b], look) {
            return;
        }
        match self.open(pair) {
            Some(opened) => opened.into_iter().for_each(|pair| self.apart(pair, look, out)),
            None => self.push([a, b], NONE, out),
        }
    }

    fn push(&self, pair: [usize; 2], shared: u32, out: &mut Vec<Meeting>) {
        out.push(Meeting { bunches: pair.map(|at| self.branches[at].parts[1]), shared });
    }
}

/// Union of two rest configurations.
fn joined(a: &Leaf, b: &Leaf) -> Leaf {
    Leaf {
        pieces: gathered(a.pieces.iter().chain(&b.pieces)),
        rim: a.rim.iter().chain(&b.rim).copied().collect(),
        low: a.low.min(b.low),
        high: a.high.max(b.high),
    }
}

/// Sorted lists of nodes; lists that share a node are merged.
pub(super) fn gathered<'a>(lists: impl Iterator<Item = &'a Vec<u32>>) -> Vec<Vec<u32>> {
    let mut pieces: Vec<Vec<u32>> = Vec::new();
    for list in lists {
        let mut all = list.clone();
        pieces.retain(|piece| {
            let apart = !share(piece, &all);
            if !apart {
                all.extend_from_slice(piece);
                all.sort_unstable();
                all.dedup();
            }
            apart
        });
        pieces.push(all);
    }
    pieces
}

/// Whether two of them have a node in common.
fn meet(a: &Leaf, b: &Leaf) -> bool {
    a.pieces.iter().any(|one| b.pieces.iter().any(|two| share(one, two)))
}

/// Whether two sorted lists have an entry in common.
fn share(mut a: &[u32], mut b: &[u32]) -> bool {
    while let ([p, left @ ..], [q, right @ ..]) = (a, b) {
        match p.cmp(q) {
            std::cmp::Ordering::Less => a = left,
            std::cmp::Ordering::Greater => b = right,
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}
