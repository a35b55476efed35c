//! From patches to pairs of features whose boxes overlap, eight boxes at a time.

use super::motion_bounds::{Look, MotionBounds, Normals, Pack, Ways, each_bit, turn};
use super::self_contact_finder::{FACES_FROM, Feature, Patch, span};
use super::self_contact_near::Draft;
use super::self_contact_tree::{Meeting, SelfContactTree};
use crate::math::{Kernel, LANES, Lane};

/// Current boxes and normals of the patches of a sheet.
#[derive(Debug, Default)]
pub(super) struct PatchBoxes {
    pub bounds: Vec<MotionBounds>,
    pub normals: Vec<Normals>,
    /// Boxes of the patches of each group of eight (bunch), and the box around it.
    pub packs: Vec<Pack>,
    pub bunches: Vec<MotionBounds>,
    /// A bit for each patch of a bunch whose boxes and normals have changed.
    pub stale: Vec<u8>,
}

/// Refits boxes and normals of patches that have changed.
pub(super) struct FitUp<'a> {
    pub patches: &'a [Patch],
    pub nodes: &'a [u32],
    pub faces: &'a [Feature<3>],
    pub ways: Ways<'a>,
    pub look: Look,
    pub boxes: &'a mut PatchBoxes,
    /// Whether the boxes of the features of a patch are up to date.
    pub boxed: &'a mut [bool],
}

impl Kernel for FitUp<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { patches, nodes, faces, ways, look, boxes, boxed } = self;
        for (at, patch) in patches.iter().enumerate() {
            if boxes.stale[at / LANES] & 1 << (at % LANES) == 0 {
                continue;
            }
            boxes.bounds[at] = MotionBounds::around(ways, &nodes[span(patch.nodes)]);
            boxes.packs[at / LANES].set(at % LANES, &boxes.bounds[at]);
            // a patch of one face contains it twice
            let [first, end] = patch.faces.map(|face| face as usize);
            let turns = [turn(ways, faces[first].slots, look), turn(ways, faces[end - 1].slots, look)];
            boxes.normals[at] = Normals::of::<L>(t, &turns);
            boxed[at] = false;
        }
    }
}

/// Lists the patches that may meet, from bunches that may.
pub(super) struct PairUp<'a> {
    pub meetings: &'a [Meeting],
    pub tree: &'a SelfContactTree,
    pub boxes: &'a PatchBoxes,
    pub patches: &'a [Patch],
    pub look: Look,
    pub out: &'a mut Vec<[u32; 2]>,
}

impl Kernel for PairUp<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { meetings, tree, boxes, patches, look, out } = self;
        for meeting in meetings {
            let [a, b] = meeting.bunches.map(|bunch| bunch as usize);
            let (shared, of_b) = (tree.shared(meeting), &boxes.packs[b]);
            let mut rows = boxes.packs[a].near::<L>(t, &boxes.bunches[b], look);
            while rows != 0 {
                let lane = rows.trailing_zeros() as usize;
                rows &= rows - 1;
                let p = LANES * a + lane;
                // one of the two has changed, and no pair is tested twice
                let changed = if boxes.stale[a] & 1 << lane == 0 { boxes.stale[b] } else { u8::MAX };
                let asked = u32::from(changed) & if a == b { u32::MAX << lane } else { u32::MAX };
                if asked == 0 {
                    continue;
                }
                let beside = u32::from(shared[lane]);
                let near = of_b.near::<L>(t, &boxes.bounds[p], look);
                each_bit((near | beside) & asked, |k| {
                    let q = LANES * b + k;
                    let whole = patches[p].is_whole & patches[q].is_whole;
                    let flat = || whole && boxes.normals[p].join(boxes.normals[q]).are_one_way();
                    if beside & 1 << k == 0 || !flat() {
                        out.push([p as u32, q as u32]);
                    }
                });
            }
        }
    }
}

/// Which features of a patch have changed: a bit for each box of its pack, and for each vertex.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fresh {
    pub boxes: u8,
    pub vertices: u8,
}

impl Fresh {
    pub const ALL: Self = Self { boxes: u8::MAX, vertices: u8::MAX };
    pub const NONE: Self = Self { boxes: 0, vertices: 0 };
}

/// Lists candidate pairs of features of patches that may meet and of which one has changed.
pub(super) struct DraftUp<'a> {
    pub pairs: &'a [[u32; 2]],
    pub patches: &'a [Patch],
    pub edges: &'a [Feature<2>],
    pub faces: &'a [Feature<3>],
    pub vertices: &'a [Feature<1>],
    pub bounds: &'a [MotionBounds],
    pub edge_drifts: &'a [MotionBounds],
    pub vertex_drifts: &'a [MotionBounds],
    /// Boxes of the edges and faces of each patch.
    pub packs: &'a [Pack],
    pub fresh: &'a [Fresh],
    pub look: Look,
    /// Vertices with faces, edges.
    pub out: &'a mut [Vec<Draft>; 2],
}

impl Kernel for DraftUp<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { pairs, patches, edges, faces, vertices, bounds, edge_drifts, vertex_drifts, packs, fresh, .. } =
            self;
        let (look, [of_vertices, of_edges]) = (self.look, self.out);
        for &[p, q] in pairs {
            // a patch that has changed comes first
            let [p, q] = if fresh[p as usize].boxes == 0 { [q as usize, p as usize] } else { [p as usize, q as usize] };
            // features of each that come near the other patch; a changed vertex belongs to a changed face
            let near_p = packs[p].near::<L>(t, &bounds[q], look);
            if near_p & u32::from(fresh[p].boxes) == 0 && fresh[q].boxes == 0 {
                continue;
            }
            let near_q = if p == q { near_p } else { packs[q].near::<L>(t, &bounds[p], look) };
            if near_p == 0 || near_q == 0 {
                continue;
            }
            for (mine, other, near) in [(p, q, near_q), (q, p, near_p)] {
                let (near_faces, theirs) = (near >> FACES_FROM & filled(patches[other].faces), patches[other].faces);
                let of_mine = patches[mine].vertices;
                for at in span(of_mine).filter(|_| near_faces != 0) {
                    let is_fresh = fresh[mine].vertices & 1 << (at - of_mine[0] as usize) != 0;
                    let asked =
                        if is_fresh { near_faces } else { near_faces & u32::from(fresh[other].boxes >> FACES_FROM) };
                    if asked == 0 {
                        continue;
                    }
                    let (number, [slot]) = (vertices[at].number, vertices[at].slots);
                    let close = packs[other].near::<L>(t, &vertex_drifts[at], look) >> FACES_FROM;
                    each_bit(close & asked, |k| {
                        let Feature { number: face, slots: [a, b, c] } = faces[theirs[0] as usize + k];
                        if !((slot == a) | (slot == b) | (slot == c)) {
                            Draft::push(of_vertices, [number, face], [slot, a, b, c]);
                        }
                    });
                }
                if p == q {
                    break;
                }
            }
            let (first_p, first_q) = (patches[p].edges[0] as usize, patches[q].edges[0] as usize);
            let near_q = near_q & filled(patches[q].edges);
            let mut near_p = near_p & filled(patches[p].edges);
            while near_p != 0 && near_q != 0 {
                let lane = near_p.trailing_zeros() as usize;
                near_p &= near_p - 1;
                let changed = if fresh[p].boxes & 1 << lane != 0 { near_q } else { near_q & u32::from(fresh[q].boxes) };
                // no pair is tested twice
                let asked = changed & if p == q { u32::MAX << (lane + 1) } else { u32::MAX };
                if asked == 0 {
                    continue;
                }
                let (edge, close) = (edges[first_p + lane], packs[q].near::<L>(t, &edge_drifts[first_p + lane], look));
                each_bit(close & asked, |k| {
                    let other = edges[first_q + k];
                    let ([a, b], [c, d]) = (edge.slots, other.slots);
                    if (a == c) | (a == d) | (b == c) | (b == d) {
                    } else if edge.number < other.number {
                        Draft::push(of_edges, [edge.number, other.number], [a, b, c, d]);
                    } else {
                        Draft::push(of_edges, [other.number, edge.number], [c, d, a, b]);
                    }
                });
            }
        }
    }
}

/// A bit for each feature of a range.
fn filled([first, end]: [u32; 2]) -> u32 {
    (1 << (end - first)) - 1
}
