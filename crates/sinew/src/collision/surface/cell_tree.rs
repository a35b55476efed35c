//! Bounding boxes over the cells of a deforming surface, eight at a time: a tree with eight children per node, refitted
//! in every step.
//!
//! The tree topology is that of the surface at rest and never changes, and the cells returned are those whose own boxes
//! overlap: a restored world finds the same. Leaves are packs of eight adjacent cells; a pack of the next level has the
//! boxes of eight packs, up to the single pack at the root.
//!
//! The boxes are the tight ones of this step. The former binary tree had fattened boxes that cells left every second
//! step: refitting and traversing it took a third of detection, and pairs of cells were kept for nothing.

use crate::collision::Bounds3;
use crate::math::lane3::{V3, add, cross, dot, scale, sub};
use crate::math::{Block, Eight, Kernel, LANES, Lane, Real, Vec3, run};
use crate::model::surface::Cells;

/// Larger than any coordinate [m].
const FAR_AWAY: Real = 1e30;
/// All lanes, one bit each.
const EIGHT: u32 = (1 << LANES) - 1;

/// Eight boxes: for each axis the low and the high ends.
#[derive(Clone, Copy, Debug)]
struct Pack([[Eight; 2]; 3]);

impl Pack {
    /// Boxes that overlap no other box.
    const NOBODY: Self = Self([[[FAR_AWAY; LANES], [-FAR_AWAY; LANES]]; 3]);

    fn lane(&self, lane: usize) -> Bounds3 {
        let [x, y, z] = &self.0;
        let end = |k: usize| Vec3::new(x[k][lane], y[k][lane], z[k][lane]);
        Bounds3 { min: end(0), max: end(1) }
    }

    fn set(&mut self, lane: usize, bounds: &Bounds3) {
        for (axis, ends) in self.0.iter_mut().enumerate() {
            (ends[0][lane], ends[1][lane]) = (bounds.min[axis], bounds.max[axis]);
        }
    }

    /// Box around all eight.
    fn around(&self) -> Bounds3 {
        let low = self.0.map(|[low, _]| low.into_iter().fold(low[0], |a, b| if b < a { b } else { a }));
        let high = self.0.map(|[_, high]| high.into_iter().fold(high[0], |a, b| if b > a { b } else { a }));
        Bounds3 { min: Vec3::from_array(low), max: Vec3::from_array(high) }
    }

    /// A bit for each box that overlaps `bounds`.
    #[inline(always)]
    fn meeting<L: Lane>(&self, t: L::Token, bounds: &Bounds3) -> u32 {
        let (min, max) = (bounds.min.to_array(), bounds.max.to_array());
        let (mut apart, mut at) = (0, 0);
        while at < LANES {
            let mut axis = 0;
            while axis < 3 {
                let [low, high] = &self.0[axis];
                let above = L::load(t, &low[at..]).bits_gt(L::splat(t, max[axis]));
                let below = L::splat(t, min[axis]).bits_gt(L::load(t, &high[at..]));
                apart |= (above | below) << at;
                axis += 1;
            }
            at += L::COUNT;
        }
        !apart & EIGHT
    }
}

/// Eight adjacent cells; the last pack repeats its last cell.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    cells: [u32; LANES],
    corners: [[u32; LANES]; 3],
    /// 1 for triangles, 0 for segments.
    faces: Eight,
    count: usize,
}

/// Input of refitting.
#[derive(Clone, Copy)]
pub(crate) struct Fit<'a> {
    /// Positions of the surfels now and at the end of the step [m].
    pub now: &'a [Block],
    pub then: &'a [Block],
    /// Expansion on all sides: of triangles, and of segments [m].
    pub face: Real,
    pub segment: Real,
    /// Additional expansion of triangles behind their face [m].
    pub deeper: Real,
    /// Only behind the face; otherwise on both sides.
    pub one_sided: bool,
}

/// A tree over the boxes of cells.
pub(crate) struct CellTree {
    leaves: Vec<Leaf>,
    /// Lane of each cell among the leaves.
    places: Vec<u32>,
    /// Boxes of cells, of packs of cells, and so on; the last level has one pack.
    levels: Vec<Vec<Pack>>,
    /// The surface has segments.
    pub loose: bool,
    /// Vectorised in lanes or scalar.
    lanes: bool,
}

impl std::fmt::Debug for CellTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CellTree({} cells)", self.places.len())
    }
}

/// Two packs whose boxes overlap: levels and indices.
pub(crate) type Meeting = [(u32, u32); 2];

impl CellTree {
    /// Over cells with these rest positions; none without cells.
    pub fn new(cells: &Cells, rest: &[Vec3]) -> Option<Self> {
        let middle = |c: &[u32; 3]| c.iter().fold(Vec3::ZERO, |sum, &i| sum + rest[i as usize]);
        let mut order: Vec<_> = (0..).zip(cells.corners.iter().map(middle)).collect();
        if order.is_empty() {
            return None;
        }
        gather(&mut order);
        let leaf = |of: &[(u32, Vec3)]| {
            let numbers: [u32; LANES] = std::array::from_fn(|lane| of[lane.min(of.len() - 1)].0);
            let corners = [0, 1, 2].map(|k| numbers.map(|cell| cells.corners[cell as usize][k]));
            let faces = numbers.map(|cell| if cells.is_triangle(cell) { 1.0 } else { 0.0 });
            Leaf { cells: numbers, corners, faces, count: of.len() }
        };
        let leaves: Vec<_> = order.chunks(LANES).map(leaf).collect();
        let mut places = vec![0; order.len()];
        for (place, &(cell, _)) in (0..).zip(&order) {
            places[cell as usize] = place;
        }
        let mut levels = vec![vec![Pack::NOBODY; leaves.len()]];
        while let Some(count) = levels.last().map(Vec::len).filter(|&count| count > 1) {
            levels.push(vec![Pack::NOBODY; count.div_ceil(LANES)]);
        }
        let loose = (0..places.len() as u32).any(|cell| !cells.is_triangle(cell));
        Some(Self { leaves, places, levels, loose, lanes: false })
    }

    /// Refits all boxes to this step.
    pub fn fit(&mut self, to: Fit<'_>, lanes: bool) {
        self.lanes = lanes;
        let (boxes, above) = self.levels.split_first_mut().expect("a level with cells");
        run(FitLeaves { leaves: &self.leaves, boxes, to }, lanes);
        let mut below: &[Pack] = boxes;
        for level in above {
            for (pack, parts) in level.iter_mut().zip(below.chunks(LANES)) {
                parts.iter().enumerate().for_each(|(lane, part)| pack.set(lane, &part.around()));
            }
            below = level;
        }
    }

    /// The box of a cell.
    pub fn bounds(&self, cell: u32) -> Bounds3 {
        let place = self.places[cell as usize] as usize;
        self.levels[0][place / LANES].lane(place % LANES)
    }

    /// The box around a pack.
    fn around(&self, (level, number): (u32, u32)) -> Bounds3 {
        match self.levels.get(level as usize + 1) {
            Some(above) => above[number as usize / LANES].lane(number as usize % LANES),
            None => self.levels[level as usize][number as usize].around(),
        }
    }

    fn pack(&self, (level, number): (u32, u32)) -> &Pack {
        &self.levels[level as usize][number as usize]
    }

    /// A bit for each child of a pack whose box overlaps this one. An unbounded box, or one with NaN, overlaps unused
    /// lanes too: only lanes that are in use count.
    #[inline(always)]
    fn meeting<L: Lane>(&self, t: L::Token, at: (u32, u32), bounds: &Bounds3) -> u32 {
        let number = at.1 as usize;
        let count = match at.0.checked_sub(1) {
            Some(below) => self.levels[below as usize].len() - LANES * number,
            None => self.leaves[number].count,
        };
        self.pack(at).meeting::<L>(t, bounds) & (EIGHT >> (LANES - count.min(LANES)))
    }

    fn top(&self) -> (u32, u32) {
        (self.levels.len() as u32 - 1, 0)
    }

    /// Calls `found` for every cell whose box overlaps `bounds`, in no particular order.
    pub fn overlapping(&self, bounds: &Bounds3, found: impl FnMut(u32)) {
        run(Overlapping { tree: self, bounds, found }, self.lanes);
    }

    /// Pairs of cells of two surfaces whose boxes overlap, in no particular order, into `out`; of one surface each pair
    /// once, the smaller first.
    pub fn pairs(&self, other: &Self, open: &mut Vec<Meeting>, out: &mut Vec<(u32, u32)>) {
        out.clear();
        open.clear();
        run(Pairs { a: self, b: other, own: std::ptr::eq(self, other), open, out }, self.lanes);
    }
}

/// Sorts cells so that adjacent ones are consecutive: each run of 8, 64, … of them is one branch.
fn gather(cells: &mut [(u32, Vec3)]) {
    if cells.len() <= LANES {
        return;
    }
    let (low, high) = cells.iter().fold((cells[0].1, cells[0].1), |(low, high), (_, at)| (low.min(*at), high.max(*at)));
    let wide = high - low;
    let axis = (0..3).fold(0, |best, k| if wide[k] > wide[best] { k } else { best });
    // ties are resolved by index: the same branches on all machines
    cells.sort_unstable_by(|p, q| p.1[axis].total_cmp(&q.1[axis]).then(p.0.cmp(&q.0)));
    let mut unit = LANES;
    while unit * LANES < cells.len() {
        unit *= LANES;
    }
    let (left, right) = cells.split_at_mut(cells.len().div_ceil(unit) / 2 * unit);
    gather(left);
    gather(right);
}

/// Refits the boxes of cells.
struct FitLeaves<'a> {
    leaves: &'a [Leaf],
    boxes: &'a mut [Pack],
    to: Fit<'a>,
}

impl Kernel for FitLeaves<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { leaves, boxes, to } = self;
        for (leaf, pack) in leaves.iter().zip(boxes) {
            let mut at = 0;
            while at < LANES {
                let (low, high) = cell_boxes::<L>(t, leaf, to, at);
                for axis in 0..3 {
                    low[axis].store(&mut pack.0[axis][0][at..]);
                    high[axis].store(&mut pack.0[axis][1][at..]);
                }
                at += L::COUNT;
            }
            for lane in leaf.count..LANES {
                for [low, high] in &mut pack.0 {
                    (low[lane], high[lane]) = (FAR_AWAY, -FAR_AWAY);
                }
            }
        }
    }
}

/// Boxes around the trajectories of the corners of cells from lane `at` on, with the expansions of the step.
#[inline(always)]
fn cell_boxes<L: Lane>(t: L::Token, leaf: &Leaf, to: Fit<'_>, at: usize) -> (V3<L>, V3<L>) {
    let (none, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    let mut x = [[none; 3]; 3];
    let (mut low, mut high) = ([none; 3], [none; 3]);
    for k in 0..3 {
        let corners = &leaf.corners[k][at..];
        let (now, then) = (L::gather_xyz(t, to.now, corners), L::gather_xyz(t, to.then, corners));
        for axis in 0..3 {
            let (least, most) = (now[axis].min(then[axis]), now[axis].max(then[axis]));
            low[axis] = if k == 0 { least } else { low[axis].min(least) };
            high[axis] = if k == 0 { most } else { high[axis].max(most) };
        }
        x[k] = now;
    }
    let grow = L::load(t, &leaf.faces[at..]).select_gt(none, L::splat(t, to.face), L::splat(t, to.segment));
    let (low, high) = (sub(low, [grow; 3]), add(high, [grow; 3]));
    let n = cross(sub(x[1], x[0]), sub(x[2], x[0]));
    let per = one.div(dot(n, n).sqrt());
    // a cell without area has no direction behind it
    let per = L::splat(t, Real::INFINITY).select_gt(per, per, none);
    let behind = scale(scale(n, -per), L::splat(t, to.deeper));
    let (mut reach_low, mut reach_high) = ([none; 3], [none; 3]);
    for axis in 0..3 {
        let (least, most) = (behind[axis].min(none), behind[axis].max(none));
        reach_low[axis] = if to.one_sided { least } else { least.min(-most) };
        reach_high[axis] = if to.one_sided { most } else { most.max(-least) };
    }
    (add(low, reach_low), add(high, reach_high))
}

struct Overlapping<'a, F> {
    tree: &'a CellTree,
    bounds: &'a Bounds3,
    found: F,
}

impl<F: FnMut(u32)> Kernel for Overlapping<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { tree, bounds, mut found } = self;
        // depth first: the lanes still to be visited, of each level
        let top = tree.levels.len() - 1;
        let (mut level, mut number) = (top, 0);
        let mut open = [0; 16];
        open[level] = tree.meeting::<L>(t, tree.top(), bounds);
        loop {
            if open[level] == 0 {
                if level == top {
                    return;
                }
                (level, number) = (level + 1, number / LANES);
                continue;
            }
            let lane = open[level].trailing_zeros() as usize;
            open[level] &= open[level] - 1;
            if level == 0 {
                found(tree.leaves[number].cells[lane]);
                continue;
            }
            (level, number) = (level - 1, LANES * number + lane);
            open[level] = tree.meeting::<L>(t, (level as u32, number as u32), bounds);
        }
    }
}

struct Pairs<'a> {
    a: &'a CellTree,
    b: &'a CellTree,
    own: bool,
    open: &'a mut Vec<Meeting>,
    out: &'a mut Vec<(u32, u32)>,
}

impl Kernel for Pairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { a, b, own, open, out } = self;
        open.push([a.top(), b.top()]);
        while let Some([of_a, of_b]) = open.pop() {
            let mut rows = a.meeting::<L>(t, of_a, &b.around(of_b));
            if of_a.0 < of_b.0 {
                // the pack of the higher level is opened first
                let mut columns = b.meeting::<L>(t, of_b, &a.around(of_a));
                while let Some(column) = next(&mut columns) {
                    open.push([of_a, part(of_b, column)]);
                }
                continue;
            }
            while let Some(row) = next(&mut rows) {
                if of_b.0 < of_a.0 {
                    open.push([part(of_a, row), of_b]);
                    continue;
                }
                let mut columns = b.meeting::<L>(t, of_b, &a.pack(of_a).lane(row as usize));
                while let Some(column) = next(&mut columns) {
                    let (part_a, part_b) = (LANES as u32 * of_a.1 + row, LANES as u32 * of_b.1 + column);
                    if of_a.0 == 0 && (!own || part_a < part_b) {
                        let cell_a = a.leaves[of_a.1 as usize].cells[row as usize];
                        let cell_b = b.leaves[of_b.1 as usize].cells[column as usize];
                        let swap = own && cell_b < cell_a;
                        out.push(if swap { (cell_b, cell_a) } else { (cell_a, cell_b) });
                    } else if of_a.0 > 0 && (!own || part_a <= part_b) {
                        open.push([part(of_a, row), part(of_b, column)]);
                    }
                }
            }
        }
    }
}

/// The child pack of a lane of a pack.
#[inline(always)]
fn part((level, number): (u32, u32), lane: u32) -> (u32, u32) {
    (level - 1, LANES as u32 * number + lane)
}

/// Removes the lowest bit and returns its index.
#[inline(always)]
fn next(bits: &mut u32) -> Option<u32> {
    let lowest = (*bits != 0).then(|| bits.trailing_zeros());
    *bits &= bits.wrapping_sub(1);
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Draws;

    /// Random triangles, and a segment.
    fn triangles(count: usize, draws: &mut Draws) -> (Cells, Vec<Vec3>) {
        let x: Vec<Vec3> = (0..3 * count + 2).flat_map(|_| [draws.vec() * 5.0]).collect();
        let near = |k: usize| x[3 * (k / 3)] + (x[k] - x[3 * (k / 3)]) * 0.1;
        let faces: Vec<_> = (0..count as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let ends = 3 * count as u32;
        (Cells::new(x.len(), &faces, &[[ends, ends + 1]]), (0..x.len()).map(near).collect())
    }

    fn blocks(x: &[Vec3]) -> Vec<Block> {
        x.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect()
    }

    #[test]
    fn vectorised_and_scalar_searches_find_the_same_cells_as_brute_force() {
        let mut draws = Draws(3);
        for count in [1, 7, 8, 70, 600] {
            let bodies = [triangles(count, &mut draws), triangles(90, &mut draws)];
            let mut trees = bodies.each_ref().map(|(cells, rest)| CellTree::new(cells, rest).unwrap());
            for lanes in [true, false] {
                for (tree, (_, x)) in trees.iter_mut().zip(&bodies) {
                    let then: Vec<_> = x.iter().map(|&p| p + draws.vec() * 0.1).collect();
                    let to = Fit {
                        now: &blocks(x),
                        then: &blocks(&then),
                        face: 0.1,
                        segment: 0.3,
                        deeper: 0.2,
                        one_sided: true,
                    };
                    tree.fit(to, lanes);
                }
                let [a, b] = &trees;
                let cells = |tree: &CellTree| 0..tree.places.len() as u32;
                let all = |a: &CellTree, b: &CellTree| -> Vec<(u32, u32)> {
                    let both = cells(a).flat_map(|i| cells(b).map(move |j| (i, j)));
                    both.filter(|&(i, j)| a.bounds(i).meets(&b.bounds(j))).collect()
                };
                let (mut open, mut got) = (Vec::new(), Vec::new());
                let mut found = |a: &CellTree, b: &CellTree| {
                    a.pairs(b, &mut open, &mut got);
                    got.sort_unstable();
                    got.clone()
                };
                assert_eq!(found(a, b), all(a, b));
                assert_eq!(found(b, a), all(b, a));
                assert_eq!(found(a, a), all(a, a).into_iter().filter(|p| p.0 < p.1).collect::<Vec<_>>());
                let mut near = Vec::new();
                b.overlapping(&a.bounds(0), |cell| near.push((0, cell)));
                near.sort_unstable();
                assert_eq!(near, all(a, b).into_iter().filter(|p| p.0 == 0).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn an_unbounded_box_finds_every_cell_once_and_a_nan_box_finds_no_unused_lane() {
        for count in [1, 9, 70] {
            let (cells, x) = triangles(count, &mut Draws(5));
            let mut tree = CellTree::new(&cells, &x).unwrap();
            let at = blocks(&x);
            let to = Fit { now: &at, then: &at, face: 0.1, segment: 0.3, deeper: 0.2, one_sided: true };
            tree.fit(to, true);
            for end in [Real::INFINITY, Real::NAN] {
                let mut found = Vec::new();
                let endless = Bounds3 { min: Vec3::splat(-end), max: Vec3::splat(end) };
                tree.overlapping(&endless, |cell| found.push(cell));
                found.sort_unstable();
                assert_eq!(found, (0..count as u32 + 1).collect::<Vec<_>>());
            }
        }
    }
}
