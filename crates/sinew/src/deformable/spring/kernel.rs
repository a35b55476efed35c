//! Forces of all springs and the velocity updates, eight nodes at a time.
//!
//! Every node sums over its own springs, so each spring is evaluated twice and there is no scatter: ranges of nodes can
//! be processed by any thread without conflict, and sums do not depend on the number of threads. Eight nodes with
//! (nearly) the same number of springs form a chunk; slot s of a chunk holds the s-th spring of each of its nodes (a
//! sliced list, SELL-8). A slot costs eight loads of 16 bytes, 7 shuffles, one root and one division; there is no
//! transposition back, because sums stay in lanes.
//!
//! With tension k (l − L) along d/l the force on the node is (k − k L/l) d, so a slot stores k and k L.
//!
//! Nodes are renumbered along a Morton curve through the rest shape, so that neighbours are in the same cache lines for
//! any numbering of the mesh. Positions are gathered into that order before the sums, forces are gathered back after
//! them: writing velocities at the mesh indices directly from the sums took a sixth longer, because stores that miss
//! the cache wait for each other. Scattering each spring once was not tried: by instruction count its loads and stores
//! cost as much as the second evaluation costs here, and threads would need a second sum.

use super::element::{Link, TINY};
use crate::math::{Block, Blocks, Eight, Kernel, LANES, Lane, Picks, Real, Vec3, run};

/// Window of nodes within which chunks are sorted by their number of springs: small enough for locality, large enough
/// to leave few empty lanes (0.1 % in a lattice).
const WINDOW: usize = 256;

/// Number of nodes whose accelerations are gathered at once.
const STRETCH: usize = 64;

/// Eight nodes.
#[derive(Clone, Debug)]
struct Chunk {
    /// First slot, and number of slots.
    first: u32,
    width: u32,
}

/// One spring of each of eight nodes. Empty lanes refer to their own node and have zero stiffness.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
struct Slot {
    /// k [N/m].
    k: Eight,
    /// k L [N].
    pull: Eight,
}

/// Additional data for arms.
#[derive(Clone, Debug)]
struct ArmSlot {
    /// Index of the dashpot stretch.
    spring: [u32; LANES],
    /// k₂ [N/m].
    k: Eight,
    rest: Eight,
}

/// The springs in the layout of the kernel.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Index of each node in the internal order. (node_count)
    pub place: Vec<u32>,
    /// Node at each index of the internal order. (node_count)
    pub node: Vec<u32>,
    chunks: Vec<Chunk>,
    /// Internal indices of the other ends, and the springs to them. (slot_count)
    others: Picks,
    slots: Vec<Slot>,
    /// c of each slot [N·s/m]; empty when no spring has a parallel dashpot.
    damping: Vec<Eight>,
    /// Empty when no spring has an arm.
    arms: Vec<ArmSlot>,
}

impl Layout {
    /// Lays out springs between nodes at these rest positions.
    pub fn new(positions: &[Vec3], links: &[Link]) -> Self {
        let mut own = vec![Vec::new(); positions.len()];
        for (index, link) in links.iter().enumerate() {
            let [a, b] = link.nodes;
            own[a as usize].push((b, index as u32));
            own[b as usize].push((a, index as u32));
        }
        let mut node = along_curve(positions);
        for window in node.chunks_mut(WINDOW) {
            window.sort_by_key(|&n| own[n as usize].len());
        }
        let mut place = vec![0; node.len()];
        for (at, &n) in node.iter().enumerate() {
            place[n as usize] = at as u32;
        }
        let mut layout = Self {
            place,
            node,
            chunks: Vec::new(),
            others: Picks::default(),
            slots: Vec::new(),
            damping: Vec::new(),
            arms: Vec::new(),
        };
        layout.fill(&mut own, links);
        layout
    }

    fn fill(&mut self, own: &mut [Vec<(u32, u32)>], links: &[Link]) {
        let damped = links.iter().any(|l| l.c > 0.0);
        let armed = links.iter().any(|l| l.arm > 0.0);
        for (index, nodes) in self.node.chunks(LANES).enumerate() {
            // springs sorted by internal index: adjacent lanes then read adjacent nodes
            for &n in nodes {
                own[n as usize].sort_by_key(|&(other, _)| self.place[other as usize]);
            }
            let width = nodes.iter().map(|&n| own[n as usize].len()).max().unwrap_or(0);
            self.chunks.push(Chunk { first: self.slots.len() as u32, width: width as u32 });
            for s in 0..width {
                let none = [0.0; LANES];
                let at = (index * LANES) as u32;
                let mut others: [u32; LANES] = std::array::from_fn(|l| at + l as u32);
                let mut slot = Slot { k: none, pull: none };
                let mut arm = ArmSlot { spring: [0; LANES], k: none, rest: none };
                let mut damping = none;
                for (lane, &n) in nodes.iter().enumerate() {
                    let Some(&(other, spring)) = own[n as usize].get(s) else { continue };
                    let link = &links[spring as usize];
                    others[lane] = self.place[other as usize];
                    (slot.k[lane], slot.pull[lane]) = (link.k, link.k * link.rest);
                    (arm.spring[lane], arm.k[lane], arm.rest[lane]) = (spring, link.arm, link.rest);
                    damping[lane] = link.c;
                }
                self.others.push(others);
                self.slots.push(slot);
                if damped {
                    self.damping.push(damping);
                }
                if armed {
                    self.arms.push(arm);
                }
            }
        }
    }

    /// Length of the copies of positions and velocities: a multiple of the chunk size.
    pub fn padded(&self) -> usize {
        self.chunks.len() * LANES
    }

    /// True when forces need velocities.
    pub fn is_damped(&self) -> bool {
        !self.damping.is_empty()
    }

    /// Forces of the springs on the nodes from internal index `first` on, complete chunks [N].
    pub fn sum(&self, first: usize, out: &mut [Block], on: &Motion<'_>, lanes: bool) {
        let first = first / LANES;
        match (self.is_damped(), self.arms.is_empty()) {
            (false, true) => run(Sum::<false, false> { layout: self, first, out, on }, lanes),
            (true, true) => run(Sum::<true, false> { layout: self, first, out, on }, lanes),
            (false, false) => run(Sum::<false, true> { layout: self, first, out, on }, lanes),
            (true, false) => run(Sum::<true, true> { layout: self, first, out, on }, lanes),
        }
    }
}

/// Input of the sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion<'a> {
    /// Positions in the internal order. (padded)
    pub x: &'a [Block],
    /// Velocities in the internal order, when there are dashpots. (padded)
    pub v: &'a [Block],
    /// Stretch of the dashpots in series with arms [m]. (link_count)
    pub dashpots: &'a [Real],
}

struct Sum<'a, const DAMPED: bool, const ARMED: bool> {
    layout: &'a Layout,
    first: usize,
    out: &'a mut [Block],
    on: &'a Motion<'a>,
}

impl<const DAMPED: bool, const ARMED: bool> Sum<'_, DAMPED, ARMED> {
    /// Sum of the forces on the nodes of a chunk, lanes from `at` on [N].
    #[inline(always)]
    fn chunk<L: Lane>(t: L::Token, layout: &Layout, on: &Motion<'_>, [chunk, at]: [usize; 2]) -> [L; 3] {
        let own: [u32; LANES] = own_places(chunk);
        let me = L::gather_xyz(t, on.x, &own[at..]);
        let mine = if DAMPED { L::gather_xyz(t, on.v, &own[at..]) } else { me };
        let (near, near_v) = (layout.others.over(on.x), layout.others.over(on.v));
        let tiny = L::splat(t, TINY);
        let mut f = [L::splat(t, 0.0); 3];
        let first = layout.chunks[chunk].first as usize;
        let slots = &layout.slots[first..][..layout.chunks[chunk].width as usize];
        for (s, slot) in slots.iter().enumerate() {
            let p = L::pick_xyz(t, near, first + s, at);
            let d = [p[0] - me[0], p[1] - me[1], p[2] - me[2]];
            let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + tiny;
            let length = square.sqrt();
            let mut scale = L::load(t, &slot.k[at..]) - L::load(t, &slot.pull[at..]).div(length);
            if DAMPED {
                // c ė/l with ė = (v_b − v_a)·d/l
                let q = L::pick_xyz(t, near_v, first + s, at);
                let closing = d[0] * (q[0] - mine[0]) + d[1] * (q[1] - mine[1]) + d[2] * (q[2] - mine[2]);
                scale = scale + L::load(t, &layout.damping[first + s][at..]) * closing.div(square);
            }
            if ARMED {
                let arm = &layout.arms[first + s];
                let dashpot = L::gather(t, on.dashpots, &arm.spring[at..]);
                let tension = L::load(t, &arm.k[at..]) * (length - L::load(t, &arm.rest[at..]) - dashpot);
                scale = scale + tension.div(length);
            }
            f = [f[0] + scale * d[0], f[1] + scale * d[1], f[2] + scale * d[2]];
        }
        f
    }
}

impl<const DAMPED: bool, const ARMED: bool> Kernel for Sum<'_, DAMPED, ARMED> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let chunks = self.out.len() / LANES;
        let Self { layout, first, out, on } = self;
        let (out, zero) = (Blocks::new(out), L::splat(t, 0.0));
        for index in 0..chunks {
            let own = own_places(index);
            let mut at = 0;
            while at < LANES {
                let [x, y, z] = Self::chunk::<L>(t, layout, on, [first + index, at]);
                L::store_rows4([x, y, z, zero], out, &own[at..]);
                at += L::COUNT;
            }
        }
    }
}

/// Internal indices of a chunk's own nodes.
#[inline(always)]
pub(super) fn own_places(chunk: usize) -> [u32; LANES] {
    let mut own = [0; LANES];
    for (lane, place) in own.iter_mut().enumerate() {
        *place = (chunk * LANES + lane) as u32;
    }
    own
}

/// Copies blocks into the internal order.
pub(super) fn gather(node: &[u32], from: &[Block], to: &mut [Block]) {
    for (to, &node) in to.iter_mut().zip(node) {
        *to = from[node as usize];
    }
}

/// v += h (f + f_ext)/m for a range of nodes.
#[derive(Debug)]
pub(super) struct Kick<'a> {
    /// Internal index of each node.
    pub place: &'a [u32],
    /// Forces of the body in the internal order [N].
    pub forces: &'a [Block],
    /// External forces [N].
    pub external: &'a [Vec3],
    pub v: &'a mut [Block],
    pub h: Real,
}

impl Kernel for Kick<'_> {
    type Output = ();

    /// Accelerations are gathered in blocks in a loop so short that many of its loads are in flight at once; gathering
    /// them one by one where they are used stalled on most of them.
    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let mut near = [[0.0; 4]; STRETCH];
        let stretches = self.v.chunks_mut(STRETCH).zip(self.place.chunks(STRETCH)).zip(self.external.chunks(STRETCH));
        for ((v, place), external) in stretches {
            for (((near, v), &place), e) in near.iter_mut().zip(v.iter()).zip(place).zip(external) {
                let (f, w) = (self.forces[place as usize], v[3]);
                *near = [(f[0] + e.x) * w, (f[1] + e.y) * w, (f[2] + e.z) * w, 0.0];
            }
            let count = v.len();
            Drift { x: v, v: &near[..count], h: self.h }.run::<L>(t);
        }
    }
}

/// x += h v for a range of nodes, or v += h a; the fourth numbers are unchanged.
pub(super) struct Drift<'a> {
    pub x: &'a mut [Block],
    pub v: &'a [Block],
    pub h: Real,
}

impl Kernel for Drift<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let h = self.h;
        let step = [h, h, h, 0.0, h, h, h, 0.0];
        let (x, v) = (self.x.as_flattened_mut(), self.v.as_flattened());
        let whole = x.len() / LANES * LANES;
        let mut at = 0;
        while at < whole {
            let moved = L::load(t, &x[at..]) + L::load(t, &v[at..]) * L::load(t, &step[at % LANES..]);
            moved.store(&mut x[at..]);
            at += L::COUNT;
        }
        for k in whole..x.len() {
            x[k] += v[k] * step[k % LANES];
        }
    }
}

/// Advances the dashpots of a range of links: d ← e + (d − e)·decay.
pub(super) struct Flow<'a> {
    pub links: &'a [Link],
    pub dashpots: &'a mut [Real],
    pub x: &'a [Block],
    pub h: Real,
}

impl Flow<'_> {
    /// Runs over the springs one by one.
    pub fn run(self) {
        for (link, d) in self.links.iter().zip(self.dashpots) {
            let (_, length) = link.span(self.x);
            let stretch = length - link.rest;
            *d = stretch + (*d - stretch) * link.decay(self.h);
        }
    }
}

/// Nodes in the order of a Morton curve through their positions: neighbours in space are mostly neighbours in the list.
fn along_curve(positions: &[Vec3]) -> Vec<u32> {
    let low = positions.iter().fold(Vec3::INFINITY, |m, &p| m.min(p));
    let high = positions.iter().fold(Vec3::NEG_INFINITY, |m, &p| m.max(p));
    let scale = 1023.0 / (high - low).max_element().max(Real::MIN_POSITIVE);
    let code = |p: Vec3| {
        let cell = ((p - low) * scale).to_array().map(|c| c as u32);
        (0..10).fold(0u32, |code, bit| {
            (0..3).fold(code, |code, axis| code | (cell[axis] >> bit & 1) << (3 * bit + axis as u32))
        })
    };
    let mut order: Vec<(u32, u32)> = positions.iter().enumerate().map(|(n, &p)| (code(p), n as u32)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, n)| n).collect()
}
