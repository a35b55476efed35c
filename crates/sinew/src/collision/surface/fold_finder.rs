//! Which vertices and faces, and which edges, of one sheet may come near each other within some time.
//!
//! *Ways, not places.* Layers that fall together do not approach each other, however fast they are. So a box holds places
//! and velocities, and two of them stay apart for the time T when along one axis
//!
//! ```text
//!   gap − T max(0, closing speed) > reach
//! ```
//!
//! *Patches* of two faces are sorted along the axis on which the sheet is longest, by the start of the interval that each
//! sweeps, seen from the sheet as a whole. Whoever overlaps comes soon after, and eight are tried at once.
//!
//! *Patches that are not folded.* Faces that are neighbours are always near each other. A connected patch does not meet
//! itself while there is a direction which all its normals have a part along (Volino and Magnenat-Thalmann 1994; the
//! contour is not looked at). Corners that move straight on turn a normal as a parabola of Bernstein coefficients
//! (Provot 1997), with places at the start and at the end, and corners' ways u, w from each other
//!
//! ```text
//!   n₀ = e × f,   n₁ = e' × f',   m = (n₀ + n₁ − T² u × w)/2
//! ```
//!
//! A box around the coefficients of a patch that a plane through the origin does not cut has such a direction for all
//! times in between. Patches that share a vertex are one patch; others lie on each other with the same normals.

use super::closest::{blend, point_triangle, segment_segment, way_between};
use crate::math::{Block, Kernel, LANES, Lane, Real, Vec3, run, vec};
use crate::model::surface::Cells;

/// Faces of a patch at most.
const PATCH: usize = 2;
/// What early tests leave to rounding.
const MORE: Real = 1.001;

/// A pair of features that may meet, in the order of contact keys: a vertex and a face, or two edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoldPair {
    /// Two edges; vertices and faces come first.
    pub edges: bool,
    /// The vertex, or the edge with the smaller number.
    pub a: u32,
    /// The face, or the other edge.
    pub b: u32,
}

/// Places and velocities of nodes, by slot [m, m/s].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways<'a> {
    pub x: &'a [Block],
    pub v: &'a [Block],
}

/// How far is near, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Features this far apart are wanted [m].
    pub reach: Real,
    /// From now on [s].
    pub time: Real,
}

/// Around places and velocities, three numbers and a spare one each.
#[derive(Clone, Copy, Debug)]
struct Drift {
    low: Block,
    high: Block,
    slow: Block,
    fast: Block,
}

const NOTHING: Drift = Drift {
    low: [Real::INFINITY; 4],
    high: [-Real::INFINITY; 4],
    slow: [Real::INFINITY; 4],
    fast: [-Real::INFINITY; 4],
};

#[inline(always)]
fn least(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|k| if a[k] < b[k] { a[k] } else { b[k] })
}

#[inline(always)]
fn most(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|k| if a[k] > b[k] { a[k] } else { b[k] })
}

impl Drift {
    #[inline(always)]
    fn add(&mut self, x: &Block, v: &Block) {
        (self.low, self.high) = (least(&self.low, x), most(&self.high, x));
        (self.slow, self.fast) = (least(&self.slow, v), most(&self.fast, v));
    }

    fn join(&self, other: &Self) -> Self {
        Self {
            low: least(&self.low, &other.low),
            high: most(&self.high, &other.high),
            slow: least(&self.slow, &other.slow),
            fast: most(&self.fast, &other.fast),
        }
    }

    /// True when no point of one comes within reach of the other in time. Four numbers are tried as fast as three.
    #[inline(always)]
    fn is_apart(&self, other: &Self, look: Look) -> bool {
        let up: Block = std::array::from_fn(|k| self.fast[k] - other.slow[k]);
        let down: Block = std::array::from_fn(|k| other.fast[k] - self.slow[k]);
        let (up, down) = (most(&up, &[0.0; 4]), most(&down, &[0.0; 4]));
        let above: Block = std::array::from_fn(|k| other.low[k] - self.high[k] - look.time * up[k]);
        let below: Block = std::array::from_fn(|k| self.low[k] - other.high[k] - look.time * down[k]);
        let widest = most(&above, &below);
        widest.map(|gap| gap > look.reach).contains(&true)
    }
}

/// A box around coefficients of normals [m²].
#[derive(Clone, Copy, Debug)]
struct Normals {
    low: Vec3,
    high: Vec3,
}

impl Normals {
    const NONE: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    fn join(&self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// True when all have a part along the middle of the box: c·n ≥ c² − |c|·half > 0.
    fn are_one_way(&self) -> bool {
        let (middle, half) = ((self.low + self.high) * 0.5, (self.high - self.low) * 0.5);
        middle.length_squared() > middle.abs().dot(half)
    }
}

/// A patch of faces, and the vertices and edges that it owns: ranges of the lists of the finder.
#[derive(Clone, Copy, Debug, Default)]
struct Patch {
    faces: [u32; 2],
    edges: [u32; 2],
    vertices: [u32; 2],
    /// All nodes of its faces.
    nodes: [u32; 2],
    /// Patches that share a node with it.
    near: [u32; 2],
}

fn span(range: [u32; 2]) -> std::ops::Range<usize> {
    range[0] as usize..range[1] as usize
}

/// A feature with its number and the slots of its nodes.
#[derive(Clone, Copy, Debug)]
struct Feature<const N: usize> {
    number: u32,
    slots: [u32; N],
}

/// Patches of the faces of a sheet. They are those of the sheet at rest; boxes are fitted whenever it is asked.
#[derive(Debug, Default)]
pub(crate) struct FoldFinder {
    faces: Vec<Feature<3>>,
    edges: Vec<Feature<2>>,
    vertices: Vec<Feature<1>>,
    nodes: Vec<u32>,
    near: Vec<u32>,
    patches: Vec<Patch>,
    drifts: Vec<Drift>,
    normals: Vec<Normals>,
    /// Boxes of features, by their order in the lists.
    face_drifts: Vec<Drift>,
    edge_drifts: Vec<Drift>,
    vertex_drifts: Vec<Drift>,
    boxed: Vec<bool>,
    /// Start of each patch's interval and its number, sorted.
    order: Vec<(Real, u32)>,
    sweep: Sweep,
    overlaps: Vec<[u32; 2]>,
}

impl FoldFinder {
    /// Over the triangles of `cells` with these places at rest; `slots`: the slot of each node.
    pub fn new(cells: &Cells, rest: &[Vec3], slots: &[u32]) -> Self {
        let mut finder = Self::default();
        let middle = |c: u32| cells.corners[c as usize].iter().fold(Vec3::ZERO, |sum, &i| sum + rest[i as usize]);
        let mut faces: Vec<(u32, Vec3)> =
            (0..cells.corners.len() as u32).filter(|&c| cells.is_triangle(c)).map(|c| (c, middle(c))).collect();
        if faces.is_empty() {
            return finder;
        }
        finder.split(&mut faces, (cells, slots));
        finder.drifts = vec![NOTHING; finder.patches.len()];
        finder.normals = vec![Normals::NONE; finder.patches.len()];
        finder.face_drifts = vec![NOTHING; finder.faces.len()];
        finder.vertex_drifts = vec![NOTHING; finder.vertices.len()];
        finder.edge_drifts = vec![NOTHING; finder.edges.len()];
        finder.boxed = vec![false; finder.patches.len()];
        finder.order = (0..finder.patches.len() as u32).map(|k| (0.0, k)).collect();
        finder.find_neighbours();
        finder
    }

    /// Halves faces along the longest axis of their middles until there are patches.
    fn split(&mut self, faces: &mut [(u32, Vec3)], of: (&Cells, &[u32])) {
        if faces.len() <= PATCH {
            self.add_patch(of.0, of.1, faces);
            return;
        }
        let (low, high) =
            faces.iter().fold((faces[0].1, faces[0].1), |(low, high), (_, at)| (low.min(*at), high.max(*at)));
        let axis = longest((high - low).to_array());
        // ties by number: the same patches everywhere
        faces.sort_unstable_by(|p, q| p.1[axis].total_cmp(&q.1[axis]).then(p.0.cmp(&q.0)));
        let (left, right) = faces.split_at_mut(faces.len() / 2);
        self.split(left, of);
        self.split(right, of);
    }

    fn add_patch(&mut self, cells: &Cells, slots: &[u32], here: &[(u32, Vec3)]) {
        let starts = [self.faces.len(), self.edges.len(), self.vertices.len(), self.nodes.len()].map(|n| n as u32);
        for &(cell, _) in here {
            let corners = cells.corners[cell as usize].map(|n| slots[n as usize]);
            self.faces.push(Feature { number: cell, slots: corners });
            let owned = &cells.owned[cell as usize];
            let edges = owned.edges.iter().filter_map(|&e| cells.edges.get(e as usize).map(|ends| (e, ends)));
            self.edges.extend(edges.map(|(number, ends)| Feature { number, slots: ends.map(|n| slots[n as usize]) }));
            let vertices = owned.vertices.iter().filter_map(|&v| slots.get(v as usize).map(|&slot| (v, slot)));
            self.vertices.extend(vertices.map(|(number, slot)| Feature { number, slots: [slot] }));
            self.nodes.extend(corners);
        }
        let first = starts[3] as usize;
        self.nodes[first..].sort_unstable();
        let mut kept = first;
        for at in first..self.nodes.len() {
            if at == first || self.nodes[at] != self.nodes[kept - 1] {
                self.nodes[kept] = self.nodes[at];
                kept += 1;
            }
        }
        self.nodes.truncate(kept);
        self.patches.push(Patch {
            faces: [starts[0], self.faces.len() as u32],
            edges: [starts[1], self.edges.len() as u32],
            vertices: [starts[2], self.vertices.len() as u32],
            nodes: [starts[3], self.nodes.len() as u32],
            near: [0; 2],
        });
    }

    /// Lists of the patches that share nodes.
    fn find_neighbours(&mut self) {
        let mut by_node: Vec<(u32, u32)> = Vec::new();
        for (patch, p) in self.patches.iter().enumerate() {
            by_node.extend(self.nodes[span(p.nodes)].iter().map(|&n| (n, patch as u32)));
        }
        by_node.sort_unstable();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for around in by_node.chunk_by(|p, q| p.0 == q.0) {
            pairs.extend(around.iter().flat_map(|p| around.iter().map(|q| (p.1, q.1))).filter(|(p, q)| p != q));
        }
        pairs.sort_unstable();
        pairs.dedup();
        for (patch, p) in self.patches.iter_mut().enumerate() {
            let start = pairs.partition_point(|q| (q.0 as usize) < patch);
            p.near = [start, pairs.partition_point(|q| q.0 as usize <= patch)].map(|at| at as u32);
        }
        self.near = pairs.into_iter().map(|(_, q)| q).collect();
    }

    /// Boxes and normals of all patches.
    fn fit(&mut self, ways: Ways<'_>, time: Real) {
        let place = |slot: u32| vec(ways.x[slot as usize]);
        let way = |slot: u32| vec(ways.v[slot as usize]) * time;
        self.boxed.fill(false);
        for (at, patch) in self.patches.iter().enumerate() {
            self.drifts[at] = around(ways, &self.nodes[span(patch.nodes)]);
            let mut normals = Normals::NONE;
            for Feature { slots: [a, b, c], .. } in &self.faces[span(patch.faces)] {
                let (e, f) = (place(*b) - place(*a), place(*c) - place(*a));
                let (u, w) = (way(*b) - way(*a), way(*c) - way(*a));
                let (start, end) = (e.cross(f), (e + u).cross(f + w));
                for n in [start, (start + end - u.cross(w)) * 0.5, end] {
                    normals = normals.join(&Normals { low: n, high: n });
                }
            }
            self.normals[at] = normals;
        }
    }

    /// Lists all pairs that may come within reach in time, sorted.
    pub fn find(&mut self, ways: Ways<'_>, look: Look, lanes: bool, out: &mut Vec<FoldPair>) {
        out.clear();
        self.fit(ways, look.time);
        let mut whole = Normals::NONE;
        self.normals.iter().for_each(|n| whole = whole.join(n));
        if self.patches.is_empty() || whole.are_one_way() {
            return;
        }
        self.sweep(look, lanes);
        let overlaps = std::mem::take(&mut self.overlaps);
        for &[p, q] in &overlaps {
            let (at, to) = (p as usize, q as usize);
            if self.drifts[at].is_apart(&self.drifts[to], look) {
                continue;
            }
            let near = &self.near[span(self.patches[at].near)];
            let one_way = self.normals[at].join(&self.normals[to]).are_one_way();
            if !(one_way && near.binary_search(&q).is_ok()) {
                self.meet(ways, look, [p, q], out);
            }
        }
        self.overlaps = overlaps;
        for at in 0..self.patches.len() {
            if !self.normals[at].are_one_way() {
                self.meet(ways, look, [at as u32; 2], out);
            }
        }
        out.sort_unstable();
    }

    /// Pairs of patches whose swept boxes meet.
    fn sweep(&mut self, look: Look, lanes: bool) {
        let mut mean = [0.0; 3];
        let mut all = NOTHING;
        for d in &self.drifts {
            mean = std::array::from_fn(|k| mean[k] + 0.5 * (d.slow[k] + d.fast[k]));
            all = all.join(d);
        }
        let mean = mean.map(|sum| sum / self.drifts.len() as Real);
        let first = longest(std::array::from_fn(|k| all.high[k] - all.low[k]));
        let axes = [first, (first + 1) % 3, (first + 2) % 3];
        let half = 0.5 * MORE * look.reach;
        let swept = |d: &Drift, k: usize| {
            let (slow, fast) = ((d.slow[k] - mean[k]) * look.time, (d.fast[k] - mean[k]) * look.time);
            (d.low[k] + slow.min(0.0) - half, d.high[k] + fast.max(0.0) + half)
        };
        for (start, patch) in &mut self.order {
            *start = swept(&self.drifts[*patch as usize], first).0;
        }
        self.order.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
        let Sweep { low, high } = &mut self.sweep;
        for (low, high) in low.iter_mut().zip(high.iter_mut()) {
            low.clear();
            high.clear();
        }
        for &(_, patch) in &self.order {
            for (k, axis) in axes.into_iter().enumerate() {
                let (from, to) = swept(&self.drifts[patch as usize], axis);
                low[k].push(from);
                high[k].push(to);
            }
        }
        // behind the last are some that nobody meets
        for (low, high) in low.iter_mut().zip(high.iter_mut()) {
            low.extend([Real::INFINITY; LANES]);
            high.extend([Real::INFINITY; LANES]);
        }
        self.overlaps.clear();
        run(Overlap { sweep: &self.sweep, order: &self.order, out: &mut self.overlaps }, lanes);
    }

    /// Boxes of the features of a patch.
    fn box_features(&mut self, ways: Ways<'_>, patch: u32) {
        if std::mem::replace(&mut self.boxed[patch as usize], true) {
            return;
        }
        let p = self.patches[patch as usize];
        for (feature, to) in self.faces[span(p.faces)].iter().zip(&mut self.face_drifts[span(p.faces)]) {
            *to = around(ways, &feature.slots);
        }
        for (feature, to) in self.vertices[span(p.vertices)].iter().zip(&mut self.vertex_drifts[span(p.vertices)]) {
            *to = around(ways, &feature.slots);
        }
        for (feature, to) in self.edges[span(p.edges)].iter().zip(&mut self.edge_drifts[span(p.edges)]) {
            *to = around(ways, &feature.slots);
        }
    }

    /// The pairs of two patches, or of one.
    fn meet(&mut self, ways: Ways<'_>, look: Look, [p, q]: [u32; 2], out: &mut Vec<FoldPair>) {
        self.box_features(ways, p);
        self.box_features(ways, q);
        let (one, two) = (self.patches[p as usize], self.patches[q as usize]);
        let drift = |patch: u32| &self.drifts[patch as usize];
        // vertices of each against faces of the other
        for (vertices, faces, other) in [(one, two, q), (two, one, p)] {
            for at in span(vertices.vertices) {
                let (vertex, point) = (self.vertices[at], &self.vertex_drifts[at]);
                if point.is_apart(drift(other), look) {
                    continue;
                }
                for at in span(faces.faces) {
                    let face = &self.faces[at];
                    let apart = face.slots.contains(&vertex.slots[0]) || point.is_apart(&self.face_drifts[at], look);
                    if !apart && vertex_near(ways, look, vertex.slots[0], face.slots) {
                        out.push(FoldPair { edges: false, a: vertex.number, b: face.number });
                    }
                }
            }
            if p == q {
                break;
            }
        }
        for at in span(one.edges) {
            let (edge, line) = (self.edges[at], self.edge_drifts[at]);
            if line.is_apart(drift(q), look) {
                continue;
            }
            for to in span(two.edges) {
                let other = self.edges[to];
                let ([a, b], [c, d]) = (edge.slots, other.slots);
                let shares = (a == c) | (a == d) | (b == c) | (b == d);
                if shares || p == q && to <= at || line.is_apart(&self.edge_drifts[to], look) {
                    continue;
                }
                if edges_near(ways, look, edge.slots, other.slots) {
                    let [a, b] = [edge.number.min(other.number), edge.number.max(other.number)];
                    out.push(FoldPair { edges: true, a, b });
                }
            }
        }
    }
}

/// Intervals of patches on three axes, in their order; the first is sorted.
#[derive(Debug, Default)]
struct Sweep {
    low: [Vec<Real>; 3],
    high: [Vec<Real>; 3],
}

struct Overlap<'a> {
    sweep: &'a Sweep,
    order: &'a [(Real, u32)],
    out: &'a mut Vec<[u32; 2]>,
}

impl Kernel for Overlap<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { sweep: Sweep { low, high }, order, out } = self;
        let none = L::splat(t, 0.0);
        for (i, &(_, patch)) in order.iter().enumerate() {
            let end = high[0][i];
            let (low1, high1) = (L::splat(t, low[1][i]), L::splat(t, high[1][i]));
            let (low2, high2) = (L::splat(t, low[2][i]), L::splat(t, high[2][i]));
            let mut at = i + 1;
            // numbers that are none have no end
            while at < order.len() && low[0][at] <= end {
                let gap = (L::load(t, &low[1][at..]) - high1).max(low1 - L::load(t, &high[1][at..]));
                let gap = gap.max(L::load(t, &low[2][at..]) - high2).max(low2 - L::load(t, &high[2][at..]));
                if !gap.all_gt(none) {
                    let mut gaps = [1.0; LANES];
                    gap.store(&mut gaps);
                    for (k, gap) in gaps[..L::COUNT].iter().enumerate() {
                        if *gap <= 0.0 && low[0][at + k] <= end {
                            let other = order[at + k].1;
                            out.push([patch.min(other), patch.max(other)]);
                        }
                    }
                }
                at += L::COUNT;
            }
        }
    }
}

fn longest(wide: [Real; 3]) -> usize {
    (0..3).fold(0, |best, k| if wide[k] > wide[best] { k } else { best })
}

fn around(ways: Ways<'_>, slots: &[u32]) -> Drift {
    let mut drift = NOTHING;
    for &n in slots {
        drift.add(&ways.x[n as usize], &ways.v[n as usize]);
    }
    // what comes after the three is no gap
    for side in [&mut drift.low, &mut drift.high, &mut drift.slow, &mut drift.fast] {
        side[3] = 0.0;
    }
    drift
}

/// True when points at `apart` [m] from each other, of features with these corners, may come within reach in time.
fn reaches(ways: Ways<'_>, look: Look, apart: Vec3, (a, b): (&[u32], &[u32])) -> bool {
    let mut fastest: Real = 0.0;
    for &i in a {
        for &j in b {
            fastest = fastest.max((vec(ways.v[i as usize]) - vec(ways.v[j as usize])).length_squared());
        }
    }
    let far = MORE * (look.reach + look.time * fastest.sqrt());
    apart.length_squared() <= far * far
}

fn vertex_near(ways: Ways<'_>, look: Look, vertex: u32, face: [u32; 3]) -> bool {
    let at = face.map(|n| vec(ways.x[n as usize]));
    let p = vec(ways.x[vertex as usize]);
    reaches(ways, look, p - blend(at, point_triangle(p, at)), (&[vertex], &face))
}

fn edges_near(ways: Ways<'_>, look: Look, a: [u32; 2], b: [u32; 2]) -> bool {
    let (p, q) = (a.map(|n| vec(ways.x[n as usize])), b.map(|n| vec(ways.x[n as usize])));
    reaches(ways, look, way_between(p, q, segment_segment(p, q)), (&a, &b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Diagonals;
    use crate::math::Draws;
    use crate::model::surface::Surface;
    use crate::model::tri_mesh::TriMesh;

    /// A sheet rolled up, with noise: every pair of features that comes near, found by trying all at many times, is listed.
    #[test]
    fn nothing_that_comes_near_is_missed_and_a_flat_sheet_has_no_pairs() {
        let mesh = TriMesh::sheet([12, 5], [1.2, 0.5], Diagonals::Alternating).expect("mesh");
        let cells = Surface::sheet(&mesh).cells();
        let slots: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
        let mut finder = FoldFinder::new(&cells, &mesh.vertices, &slots);
        let (mut draws, mut found) = (Draws(5), Vec::new());
        let look = Look { reach: 0.01, time: 0.1 };
        let block = |v: Vec3| [v.x, v.y, v.z, 1.0];
        let flat: Vec<Block> = mesh.vertices.iter().map(|v| block(*v)).collect();
        let fall = vec![[3.0, -2.0, 1.0, 0.0]; flat.len()];
        finder.find(Ways { x: &flat, v: &fall }, look, true, &mut found);
        assert!(found.is_empty(), "{found:?}");
        // rolled up: the angle grows with the way along, the radius too
        let roll = |v: &Vec3| {
            let (angle, radius) = (9.0 * v.x, 0.09 + 0.01 * v.x);
            Vec3::new(radius * angle.cos(), radius * angle.sin(), v.z + v.y)
        };
        let x: Vec<Block> = mesh.vertices.iter().map(|v| block(roll(v) + draws.vec() * 0.001)).collect();
        let v: Vec<Block> = mesh.vertices.iter().map(|_| block(draws.vec() * 0.15)).collect();
        finder.find(Ways { x: &x, v: &v }, look, true, &mut found);
        let mut near = Vec::new();
        for step in 0..=10 {
            let t = 0.01 * step as Real;
            let at = |n: u32| vec(x[n as usize]) + vec(v[n as usize]) * t;
            for (face, c) in cells.corners.iter().enumerate() {
                for vertex in (0..x.len() as u32).filter(|n| !c.contains(n)) {
                    let (corners, p) = (c.map(at), at(vertex));
                    if (p - blend(corners, point_triangle(p, corners))).length() < look.reach {
                        near.push(FoldPair { edges: false, a: vertex, b: face as u32 });
                    }
                }
            }
            for (i, a) in cells.edges.iter().enumerate() {
                for (j, b) in
                    cells.edges.iter().enumerate().skip(i + 1).filter(|(_, b)| !b.iter().any(|n| a.contains(n)))
                {
                    let (p, q) = (a.map(at), b.map(at));
                    if way_between(p, q, segment_segment(p, q)).length() < look.reach {
                        near.push(FoldPair { edges: true, a: i as u32, b: j as u32 });
                    }
                }
            }
        }
        near.sort_unstable();
        near.dedup();
        assert!(near.len() > 100, "{}", near.len());
        let missed: Vec<_> = near.iter().filter(|pair| found.binary_search(pair).is_err()).collect();
        assert!(missed.is_empty(), "{} of {}: {missed:?}", missed.len(), near.len());
        assert!(found.len() < 4 * near.len(), "{} for {}", found.len(), near.len());
    }
}
