//! Self-contact search: vertices and faces, and pairs of edges, of one sheet that may come near each other within some
//! time.
//!
//! *Patches* of two faces, in groups of eight (bunches), are the leaves of a tree (`self_contact_tree.rs`). Features of
//! patches that may meet are tested by their boxes (`self_contact_boxes.rs`), and the remaining ones by their exact
//! distance (`self_contact_near.rs`).
//!
//! Nodes that deviate from their predicted trajectories get new ones, and only the patches around them are searched
//! again.

use super::motion_bounds::{Look, MotionBounds, Normals, Pack, Ways};
use super::self_contact_boxes::{DraftUp, FitUp, Fresh, PairUp, PatchBoxes};
use super::self_contact_near::{BANDS, Draft, Near};
use super::self_contact_tree::{Leaf, Meeting, Rim, SelfContactTree, gathered};
use crate::math::{LANES, Vec3, run};
use crate::model::surface::{Cells, NONE};

/// Faces of a patch: three edges and three vertices of each.
const PATCH: usize = 2;
/// Eight boxes of a patch: those of its edges first, then those of its faces.
pub(super) const FACES_FROM: usize = 6;

/// A pair of features that may meet, in the order of contact keys: a vertex and a face, or two edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FeaturePair {
    /// Two edges; vertices and faces come first.
    pub edges: bool,
    /// The vertex, or the edge with the smaller index.
    pub a: u32,
    /// The face, or the other edge.
    pub b: u32,
}

/// A pair with the slots of its nodes: vertex and face, or two edges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub pair: FeaturePair,
    pub slots: [u32; 4],
}

/// Pairs found, vertices with faces and edges with edges, sorted into bands of distance.
#[derive(Debug, Default)]
pub(crate) struct FoldList {
    vertices: [Vec<Candidate>; BANDS],
    edges: [Vec<Candidate>; BANDS],
}

impl FoldList {
    fn clear(&mut self) {
        self.vertices.iter_mut().chain(&mut self.edges).for_each(Vec::clear);
    }

    /// All of them, near ones first.
    pub fn each(&self) -> impl Iterator<Item = &Candidate> {
        self.vertices.iter().chain(&self.edges).flatten()
    }
}

/// A patch of faces, and the vertices and edges that it owns: ranges of the lists of the finder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patch {
    pub faces: [u32; 2],
    pub edges: [u32; 2],
    pub vertices: [u32; 2],
    /// All nodes of its faces.
    pub nodes: [u32; 2],
    /// Its faces are connected.
    pub is_whole: bool,
}

pub(super) fn span(range: [u32; 2]) -> std::ops::Range<usize> {
    range[0] as usize..range[1] as usize
}

/// A feature with its index and the slots of its nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feature<const N: usize> {
    pub number: u32,
    pub slots: [u32; N],
}

/// Patches of the faces of a sheet. They are those of the sheet at rest; boxes are refitted for each search.
#[derive(Debug, Default)]
pub(crate) struct SelfContactFinder {
    faces: Vec<Feature<3>>,
    edges: Vec<Feature<2>>,
    vertices: Vec<Feature<1>>,
    nodes: Vec<u32>,
    patches: Vec<Patch>,
    tree: SelfContactTree,
    /// Patches around each slot: start offsets, and the concatenated lists.
    around: (Vec<u32>, Vec<u32>),
    boxes: PatchBoxes,
    /// Whether the boxes of the features of a patch are up to date.
    boxed: Vec<bool>,
    edge_drifts: Vec<MotionBounds>,
    vertex_drifts: Vec<MotionBounds>,
    packs: Vec<Pack>,
    fresh: Vec<Fresh>,
    meetings: Vec<Meeting>,
    pairs: Vec<[u32; 2]>,
    /// Candidate pairs whose boxes overlap: vertices, edges.
    drafts: [Vec<Draft>; 2],
}

impl SelfContactFinder {
    /// Over the triangles of `cells` with these rest positions; `slots`: the slot of each node.
    pub fn new(cells: &Cells, rest: &[Vec3], slots: &[u32]) -> Self {
        let mut finder = Self::default();
        let middle = |c: u32| cells.corners[c as usize].iter().fold(Vec3::ZERO, |sum, &i| sum + rest[i as usize]);
        let mut faces: Vec<(u32, Vec3)> =
            (0..cells.corners.len() as u32).filter(|&c| cells.is_triangle(c)).map(|c| (c, middle(c))).collect();
        if faces.is_empty() {
            return finder;
        }
        let mut leaves = Vec::new();
        finder.split(&mut faces, (cells, rest, slots), &mut leaves);
        finder.tree = SelfContactTree::new(&leaves);
        let count = finder.patches.len();
        finder.boxes = PatchBoxes {
            bounds: vec![MotionBounds::NOTHING; count],
            normals: vec![Normals::NONE; count],
            packs: vec![Pack::NOBODY; count.div_ceil(LANES)],
            bunches: vec![MotionBounds::NOTHING; count.div_ceil(LANES)],
            stale: vec![u8::MAX; count.div_ceil(LANES)],
        };
        finder.boxed = vec![false; count];
        finder.packs = vec![Pack::NOBODY; count];
        finder.fresh = vec![Fresh::ALL; count];
        finder.vertex_drifts = vec![MotionBounds::NOTHING; finder.vertices.len()];
        finder.edge_drifts = vec![MotionBounds::NOTHING; finder.edges.len()];
        finder.list_around(slots.iter().max().map_or(0, |&last| last as usize + 1));
        finder
    }

    /// Halves faces along the longest axis of their centroids until there are patches. All bunches but the last are
    /// full, and all patches of a bunch but the last.
    fn split(&mut self, faces: &mut [(u32, Vec3)], of: (&Cells, &[Vec3], &[u32]), leaves: &mut Vec<Leaf>) {
        if faces.len() <= PATCH {
            leaves.push(self.add_patch(of, faces));
            return;
        }
        let (low, high) =
            faces.iter().fold((faces[0].1, faces[0].1), |(low, high), (_, at)| (low.min(*at), high.max(*at)));
        let wide = high - low;
        let axis = (0..3).fold(0, |best, k| if wide[k] > wide[best] { k } else { best });
        // ties are resolved by index: the same patches on all machines
        faces.sort_unstable_by(|p, q| p.1[axis].total_cmp(&q.1[axis]).then(p.0.cmp(&q.0)));
        let unit = if faces.len() > PATCH * LANES { PATCH * LANES } else { PATCH };
        let (left, right) = faces.split_at_mut(faces.len().div_ceil(unit) / 2 * unit);
        self.split(left, of, leaves);
        self.split(right, of, leaves);
    }

    fn add_patch(&mut self, (cells, rest, slots): (&Cells, &[Vec3], &[u32]), here: &[(u32, Vec3)]) -> Leaf {
        let starts = [self.faces.len(), self.edges.len(), self.vertices.len(), self.nodes.len()].map(|n| n as u32);
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (mut triples, mut rim) = (Vec::new(), Vec::new());
        for &(cell, _) in here {
            let numbers = cells.corners[cell as usize];
            let corners = numbers.map(|n| slots[n as usize]);
            self.faces.push(Feature { number: cell, slots: corners });
            let owned = &cells.owned[cell as usize];
            let edges = owned.edges.iter().filter_map(|&e| cells.edges.get(e as usize).map(|ends| (e, ends)));
            self.edges.extend(edges.map(|(number, ends)| Feature { number, slots: ends.map(|n| slots[n as usize]) }));
            let vertices = owned.vertices.iter().filter_map(|&v| slots.get(v as usize).map(|&slot| (v, slot)));
            self.vertices.extend(vertices.map(|(number, slot)| Feature { number, slots: [slot] }));
            let mut triple = corners.to_vec();
            triple.sort_unstable();
            triples.push(triple);
            let [a, b, c] = numbers.map(|n| rest[n as usize]);
            (low, high) = (low.min(a).min(b).min(c), high.max(a).max(b).max(c));
            let is_rim = |e: &&u32| cells.beside.get(**e as usize).is_some_and(|faces| faces[1] == NONE);
            for &edge in owned.edges.iter().filter(is_rim) {
                let [p, q] = cells.edges[edge as usize].map(|n| rest[n as usize]);
                let (at, along) = ((p + q) * 0.5, (q - p).normalize_or_zero());
                let out = at - (a + b + c) / 3.0;
                rim.push(Rim { at, out: (out - along * along.dot(out)).normalize_or_zero() });
            }
        }
        let pieces = gathered(triples.iter());
        self.nodes.extend(pieces.iter().flatten());
        self.patches.push(Patch {
            faces: [starts[0], self.faces.len() as u32],
            edges: [starts[1], self.edges.len() as u32],
            vertices: [starts[2], self.vertices.len() as u32],
            nodes: [starts[3], self.nodes.len() as u32],
            is_whole: pieces.len() == 1,
        });
        Leaf { pieces, rim, low, high }
    }

    fn list_around(&mut self, slot_count: usize) {
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for (patch, p) in self.patches.iter().enumerate() {
            pairs.extend(self.nodes[span(p.nodes)].iter().map(|&slot| [slot, patch as u32]));
        }
        pairs.sort_unstable();
        let start = |slot| pairs.partition_point(|pair| (pair[0] as usize) < slot) as u32;
        self.around = ((0..=slot_count).map(start).collect(), pairs.iter().map(|pair| pair[1]).collect());
    }

    /// Lists all pairs that may come within the search distance during the interval.
    pub fn find(&mut self, ways: Ways<'_>, look: Look, lanes: bool, out: &mut FoldList) {
        self.boxes.stale.fill(u8::MAX);
        self.fresh.fill(Fresh::ALL);
        self.look_around(ways, look, lanes, out);
    }

    /// The same for pairs with one of these slots in their patches: those slots have new trajectories, all others are
    /// unchanged.
    pub fn find_again(&mut self, strayed: &[u32], (ways, look): (Ways<'_>, Look), lanes: bool, out: &mut FoldList) {
        self.boxes.stale.fill(0);
        self.fresh.fill(Fresh::NONE);
        for &slot in strayed {
            let around = [slot, slot + 1].map(|at| self.around.0.get(at as usize).copied().unwrap_or(0));
            for patch in self.around.1[span(around)].iter().map(|&patch| patch as usize) {
                self.boxes.stale[patch / LANES] |= 1 << (patch % LANES);
                let (p, fresh) = (&self.patches[patch], &mut self.fresh[patch]);
                fresh.boxes |= having(&self.edges[span(p.edges)], slot);
                fresh.boxes |= having(&self.faces[span(p.faces)], slot) << FACES_FROM;
                fresh.vertices |= having(&self.vertices[span(p.vertices)], slot);
            }
        }
        self.look_around(ways, look, lanes, out);
    }

    fn look_around(&mut self, ways: Ways<'_>, look: Look, lanes: bool, out: &mut FoldList) {
        out.clear();
        self.fit(ways, look, lanes);
        self.tree.find(look, &mut self.meetings);
        self.pairs.clear();
        let Self { patches, tree, boxes, meetings, pairs, .. } = self;
        run(PairUp { meetings, tree, boxes, patches, look, out: pairs }, lanes);
        for at in 0..self.pairs.len() {
            let [p, q] = self.pairs[at];
            self.box_features(ways, p as usize);
            self.box_features(ways, q as usize);
        }
        self.drafts.iter_mut().for_each(Vec::clear);
        let Self { pairs, patches, edges, faces, vertices, edge_drifts, vertex_drifts, packs, fresh, drafts, .. } =
            self;
        let bounds = &self.boxes.bounds;
        run(
            DraftUp {
                pairs,
                patches,
                edges,
                faces,
                vertices,
                bounds,
                edge_drifts,
                vertex_drifts,
                packs,
                fresh,
                look,
                out: drafts,
            },
            lanes,
        );
        let [vertices, edges] = &*drafts;
        run(Near { drafts: vertices, edges: false, ways, look, out: &mut out.vertices }, lanes);
        run(Near { drafts: edges, edges: true, ways, look, out: &mut out.edges }, lanes);
    }

    /// Boxes and normals of patches that have changed, and of the tree.
    fn fit(&mut self, ways: Ways<'_>, look: Look, lanes: bool) {
        let Self { tree, boxes, patches, nodes, faces, boxed, .. } = self;
        run(FitUp { patches, nodes, faces, ways, look, boxes, boxed }, lanes);
        tree.fit(|bunch| {
            let bunch = bunch as usize;
            let span = bunch * LANES..((bunch + 1) * LANES).min(patches.len());
            (boxes.stale[bunch] != 0).then(|| {
                let motion_bounds = boxes.bounds[span.clone()]
                    .iter()
                    .fold(MotionBounds::NOTHING, |all, motion_bounds| all.join(motion_bounds));
                boxes.bunches[bunch] = motion_bounds;
                (motion_bounds, boxes.normals[span].iter().fold(Normals::NONE, |all, normals| all.join(*normals)))
            })
        });
    }

    /// Updates the boxes of the features of a patch.
    fn box_features(&mut self, ways: Ways<'_>, patch: usize) {
        if std::mem::replace(&mut self.boxed[patch], true) {
            return;
        }
        let (p, pack) = (self.patches[patch], &mut self.packs[patch]);
        for (lane, face) in self.faces[span(p.faces)].iter().enumerate() {
            pack.set(FACES_FROM + lane, &MotionBounds::around(ways, &face.slots));
        }
        for (lane, at) in span(p.edges).enumerate() {
            self.edge_drifts[at] = MotionBounds::around(ways, &self.edges[at].slots);
            pack.set(lane, &self.edge_drifts[at]);
        }
        for at in span(p.vertices) {
            self.vertex_drifts[at] = MotionBounds::around(ways, &self.vertices[at].slots);
        }
    }
}

/// A bit for each feature that has this slot.
fn having<const N: usize>(features: &[Feature<N>], slot: u32) -> u8 {
    features.iter().enumerate().fold(0, |bits, (k, feature)| bits | u8::from(feature.slots.contains(&slot)) << k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Diagonals;
    use crate::collision::surface::{blend, point_triangle, segment_segment, way_between};
    use crate::math::{Block, Draws, Real, vec};
    use crate::model::surface::Surface;
    use crate::model::tri_mesh::TriMesh;

    struct Sheet {
        cells: Cells,
        finder: SelfContactFinder,
        rest: Vec<Vec3>,
    }

    fn sheet(mesh: &TriMesh) -> Sheet {
        let cells = Surface::sheet(mesh).cells();
        let slots: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
        let finder = SelfContactFinder::new(&cells, &mesh.vertices, &slots);
        Sheet { cells, finder, rest: mesh.vertices.clone() }
    }

    fn block(v: Vec3) -> Block {
        [v.x, v.y, v.z, 1.0]
    }

    /// Positions at the end of nodes at x with velocities v.
    fn ends(x: &[Block], v: &[Block], look: Look) -> Vec<Block> {
        x.iter().zip(v).map(|(x, v)| block(vec(*x) + vec(*v) * look.end)).collect()
    }

    /// Every pair of features that comes within reach, found by testing all pairs at many times.
    fn near(cells: &Cells, ways: Ways<'_>, look: Look) -> Vec<FeaturePair> {
        let mut near = Vec::new();
        for step in 0..=10 {
            let t = look.start + 0.1 * (look.end - look.start) * step as Real;
            let at = |n: u32| vec(ways.x[n as usize]).lerp(vec(ways.to[n as usize]), t / look.end);
            for (face, c) in cells.corners.iter().enumerate() {
                for vertex in (0..ways.x.len() as u32).filter(|n| !c.contains(n)) {
                    let (corners, p) = (c.map(at), at(vertex));
                    if (p - blend(corners, point_triangle(p, corners))).length() < look.reach {
                        near.push(FeaturePair { edges: false, a: vertex, b: face as u32 });
                    }
                }
            }
            for (i, a) in cells.edges.iter().enumerate() {
                for (j, b) in
                    cells.edges.iter().enumerate().skip(i + 1).filter(|(_, b)| !b.iter().any(|n| a.contains(n)))
                {
                    let (p, q) = (a.map(at), b.map(at));
                    if way_between(p, q, segment_segment(p, q)).length() < look.reach {
                        near.push(FeaturePair { edges: true, a: i as u32, b: j as u32 });
                    }
                }
            }
        }
        near.sort_unstable();
        near.dedup();
        near
    }

    fn sorted(found: &FoldList) -> Vec<FeaturePair> {
        let mut listed: Vec<FeaturePair> = found.each().map(|candidate| candidate.pair).collect();
        listed.sort_unstable();
        assert!(listed.windows(2).all(|two| two[0] < two[1]), "one pair, one entry");
        listed
    }

    fn assert_all(near: &[FeaturePair], listed: &[FeaturePair]) {
        let missed: Vec<_> = near.iter().filter(|pair| listed.binary_search(pair).is_err()).collect();
        assert!(missed.is_empty(), "{} of {}: {missed:?}", missed.len(), near.len());
    }

    #[test]
    fn a_flat_sheet_has_no_self_contact_pairs_for_any_translation() {
        let mut flat = sheet(&TriMesh::sheet([12, 5], [1.2, 0.5], Diagonals::Alternating).expect("mesh"));
        let (x, mut found): (Vec<Block>, _) = (flat.rest.iter().map(|v| block(*v)).collect(), FoldList::default());
        let v = vec![[3.0, -2.0, 1.0, 0.0]; x.len()];
        let look = Look { reach: 0.01, start: 0.0, end: 0.1 };
        flat.finder.find(Ways { x: &x, to: &ends(&x, &v, look) }, look, true, &mut found);
        assert!(found.each().count() == 0, "{found:?}");
    }

    /// A sheet rolled up, with noise; then some nodes get other trajectories, and only the patches around them are
    /// searched.
    #[test]
    fn no_near_pair_is_missed_before_or_after_a_change_of_trajectories() {
        let mut rolled = sheet(&TriMesh::sheet([12, 5], [1.2, 0.5], Diagonals::Alternating).expect("mesh"));
        let (mut draws, mut found) = (Draws(5), FoldList::default());
        let look = Look { reach: 0.01, start: 0.0, end: 0.1 };
        // angle and radius grow with the coordinate along the sheet
        let roll = |v: &Vec3| {
            let (angle, radius) = (9.0 * v.x, 0.09 + 0.01 * v.x);
            Vec3::new(radius * angle.cos(), radius * angle.sin(), v.z + v.y)
        };
        let mut x: Vec<Block> = rolled.rest.iter().map(|v| block(roll(v) + draws.vec() * 0.001)).collect();
        let mut v: Vec<Block> = x.iter().map(|_| block(draws.vec() * 0.15)).collect();
        let to = ends(&x, &v, look);
        rolled.finder.find(Ways { x: &x, to: &to }, look, true, &mut found);
        let expected = near(&rolled.cells, Ways { x: &x, to: &to }, look);
        let mut listed = sorted(&found);
        assert!(expected.len() > 100, "{}", expected.len());
        assert_all(&expected, &listed);
        assert!(listed.len() < 4 * expected.len(), "{} for {}", listed.len(), expected.len());

        let look = Look { start: 0.04, ..look };
        let strayed: Vec<u32> = (0..x.len() as u32).filter(|slot| slot % 7 == 3).collect();
        for slot in strayed.iter().map(|&slot| slot as usize) {
            // the current position, with another velocity from there
            let (now, other) = (vec(x[slot]) + vec(v[slot]) * look.start, draws.vec() * 0.5);
            (x[slot], v[slot]) = (block(now - other * look.start), block(other));
        }
        let to = ends(&x, &v, look);
        let ways = Ways { x: &x, to: &to };
        rolled.finder.find_again(&strayed, (ways, look), true, &mut found);
        let again = sorted(&found);
        assert!(again.len() < listed.len(), "{} of {}", again.len(), listed.len());
        listed.extend(again);
        listed.sort_unstable();
        assert_all(&near(&rolled.cells, ways, look), &listed);
    }

    /// The arms of a U that close in their plane: all normals are the same, and the sheet is in one piece.
    #[test]
    fn a_non_convex_planar_patch_meets_itself() {
        let mut mesh = TriMesh::sheet([12, 12], [1.2, 1.2], Diagonals::Alternating).expect("mesh");
        let middle = |t: &[u32; 3]| t.iter().map(|&n| mesh.vertices[n as usize]).sum::<Vec3>() / 3.0;
        let kept: Vec<[u32; 3]> =
            mesh.triangles.iter().filter(|t| middle(t).x.abs() > 0.1 || middle(t).z < -0.2).copied().collect();
        mesh.triangles = kept;
        let mut bay = sheet(&mesh);
        let (mut found, look) = (FoldList::default(), Look { reach: 0.01, start: 0.0, end: 0.1 });
        let x: Vec<Block> = bay.rest.iter().map(|v| block(*v)).collect();
        let close = |v: &Vec3| if v.z > 0.1 { Vec3::new(-v.x.signum(), 0.0, 0.0) } else { Vec3::ZERO };
        let v: Vec<Block> = bay.rest.iter().map(|at| block(close(at))).collect();
        bay.finder.find(Ways { x: &x, to: &ends(&x, &v, look) }, look, true, &mut found);
        let arms = |c: &Candidate| {
            let sides = c.slots.map(|slot| bay.rest[slot as usize].x > 0.0);
            if c.pair.edges { sides[0] != sides[2] } else { sides[0] != sides[1] }
        };
        assert!(found.each().filter(|c| arms(c)).count() > 10, "{}", found.each().count());
    }
}
