//! Contacts of a sheet in columns with itself: its vertices with its faces and its edges with each other.
//!
//! *Who may touch* is listed for some substeps: pairs that come within reach and twice a margin of each other while all go
//! on as they do. The list holds as long as every node stays within the margin of the way that it had then: who is not on
//! it cannot touch. It is made again when one strays, and at the latest when the ends of a usual edge, which tremble,
//! would have left each other by the margin. Lists do not live from step to step.
//!
//! *What they do* is done on the goals p of a substep, between the rows and the walls, one pair after the other. With
//! k = Σ c² w, u = Σ c (p − x), now = n·Σ c x and u_t the tangent part of u
//!
//! ```text
//!   λ = max(0, min(now, reach) − now − n·u)/k,   p += c w λ n
//!   p −= c w u_t min(1, μ λ k/|u_t|)/k
//! ```
//!
//! Nothing is pushed apart by that: it would fly. What is nearer than reach comes apart by places alone, x and p
//! together, at the rate of all contacts. Shares sum to zero, so that momentum holds.

use crate::collision::surface::{
    FoldFinder, FoldPair, Look, Ways, blend, point_triangle, segment_segment, way_between,
};
use crate::math::{Block, LANES, Real, Vec3, run, vec};
use crate::model::surface::Cells;
use crate::solver::contact_batch::ContactParams;
use crate::solver::fold_lanes::{FoldGroup, Try};

/// Substeps that a list is made for at most.
const LONGEST: u32 = 16;

/// How a sheet meets itself, for a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FoldRules {
    /// Distance of two layers that touch [m].
    pub thick: Real,
    /// How far nodes may leave their ways until the next list [m].
    pub stray: Real,
    pub static_friction: Real,
    pub kinetic_friction: Real,
}

/// A pair and what is known of it.
#[derive(Clone, Copy, Debug)]
struct Known {
    pair: FoldPair,
    side: Real,
    /// Impulses, their normal parts, deepest overlap.
    sum: [Real; 5],
}

/// A pair that touched, for the records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folded {
    pub pair: FoldPair,
    /// From the first feature to the second.
    pub normal: Vec3,
    /// Of the corners of the first and of the second.
    pub shares: [Vec3; 2],
    pub reach: Real,
    /// Impulse of the step on the second, its normal part [N·s], and the deepest overlap [m].
    pub sum: Vec3,
    pub pressed: Real,
    pub deepest: Real,
    /// It touches at the end of the step.
    pub stays: bool,
}

/// A sheet and itself.
#[derive(Debug)]
pub(crate) struct FoldTouch {
    finder: FoldFinder,
    /// Slots of faces and edges, and slots and places at rest of nodes, by number.
    faces: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    slots: Vec<u32>,
    rest: Vec<Vec3>,
    corners: Vec<[u32; 3]>,
    ends: Vec<[u32; 2]>,
    rules: FoldRules,
    pairs: Vec<FoldPair>,
    /// Pairs in lanes: vertices, filled up to eight, then edges.
    groups: Vec<FoldGroup>,
    vertex_pairs: usize,
    active: Vec<u32>,
    known: Vec<Known>,
    /// Places and goals of this substep. (slot_count) [m]
    pub x: Vec<Block>,
    pub p: Vec<Block>,
    /// Places and velocities that the list was made with. (slot_count) [m, m/s]
    from: Vec<Block>,
    ways: Vec<Block>,
    /// Substeps of the step that are over, the one with the list, and the one with the next.
    done: u32,
    listed: u32,
    due: u32,
}

/// Numbers of a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldStep<'a> {
    pub params: &'a ContactParams,
    /// The same substep comes again: nobody moves yet.
    pub again: bool,
    pub lanes: bool,
}

impl FoldTouch {
    /// For a surface of triangles whose surfels are its nodes; `slots`: the slot of each.
    pub fn new(cells: &Cells, rest: &[Vec3], slots: &[u32]) -> Self {
        let finder = FoldFinder::new(cells, rest, slots);
        let slot = |n: u32| slots[n as usize];
        Self {
            finder,
            faces: cells.corners.iter().map(|c| c.map(slot)).collect(),
            edges: cells.edges.iter().map(|c| c.map(slot)).collect(),
            slots: slots.to_vec(),
            rest: rest.to_vec(),
            corners: cells.corners.clone(),
            ends: cells.edges.clone(),
            rules: FoldRules::default(),
            pairs: Vec::new(),
            groups: Vec::new(),
            vertex_pairs: 0,
            active: Vec::new(),
            known: Vec::new(),
            x: Vec::new(),
            p: Vec::new(),
            from: Vec::new(),
            ways: Vec::new(),
            done: 0,
            listed: 0,
            due: 0,
        }
    }

    /// Begins a step. Sides are those that are remembered next.
    pub fn begin(&mut self, rules: FoldRules) {
        (self.rules, self.done, self.due) = (rules, 0, 0);
        self.known.clear();
        self.pairs.clear();
        self.groups.clear();
    }

    /// What State has of a pair that touched: its normal from the first feature to the second. Pairs come sorted.
    pub fn remember(&mut self, pair: FoldPair, normal: Vec3, x: impl Fn(u32) -> Vec3) {
        let axis = if pair.edges {
            let (Some(a), Some(b)) = (self.ends.get(pair.a as usize), self.ends.get(pair.b as usize)) else { return };
            (x(a[1]) - x(a[0])).cross(x(b[1]) - x(b[0]))
        } else {
            let (Some(c), true) = (self.corners.get(pair.b as usize), (pair.a as usize) < self.slots.len()) else {
                return;
            };
            (x(c[2]) - x(c[0])).cross(x(c[1]) - x(c[0]))
        };
        let side = if normal.dot(axis) < 0.0 { -1.0 } else { 1.0 };
        if self.known.last().is_none_or(|last| last.pair < pair) {
            self.known.push(Known { pair, side, sum: [0.0; 5] });
        }
    }

    /// A substep is over.
    pub fn pass(&mut self) {
        self.done += 1;
    }

    /// True when the list does not hold for this substep of h [s], at whose end nodes want to be at `p`.
    pub fn is_stale(&self, p: &[Block], h: Real) -> bool {
        if self.done >= self.due {
            return true;
        }
        let time = h * (self.done + 1 - self.listed) as Real;
        let far = self.rules.stray * self.rules.stray;
        let mut holds = true;
        for ((p, x), v) in p.iter().zip(&self.from).zip(&self.ways) {
            let [a, b, c] = [0, 1, 2].map(|k| p[k] - (x[k] + v[k] * time));
            // not a number is far too
            holds &= a * a + b * b + c * c <= far;
        }
        !holds
    }

    /// True when there is nobody to look at.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Lists the pairs that may touch before the next list, with goals `p` a substep h after places `x`.
    pub fn list(&mut self, p: &[Block], h: Real, lanes: bool) {
        // what State knows is there in the first substep
        if self.done > 0 {
            self.keep_known();
        }
        self.from.clear();
        self.from.extend_from_slice(&self.x);
        self.ways.clear();
        let rate = 1.0 / h;
        let speed = |(p, x): (&Block, &Block)| [(p[0] - x[0]) * rate, (p[1] - x[1]) * rate, (p[2] - x[2]) * rate, 0.0];
        self.ways.extend(p.iter().zip(&self.x).map(speed));
        let count = self.patience(h);
        (self.listed, self.due) = (self.done, self.done + count);
        let look = Look { reach: self.rules.thick + 2.0 * self.rules.stray, time: h * count as Real };
        self.finder.find(Ways { x: &self.x, v: &self.ways }, look, lanes, &mut self.pairs);
        self.lay_out();
    }

    /// Substeps h [s] in which the ends of edges leave each other by the margin, by the mean square of their speeds.
    fn patience(&self, h: Real) -> u32 {
        let apart = |&[a, b]: &[u32; 2]| (vec(self.ways[a as usize]) - vec(self.ways[b as usize])).length_squared();
        let mean = self.edges.iter().map(apart).sum::<Real>() / self.edges.len().max(1) as Real;
        // a cast of what is not a number, or too large, comes out within bounds
        ((self.rules.stray / (h * mean.sqrt())) as u32).clamp(1, LONGEST)
    }

    /// Lists what is known of the pairs that there are.
    fn keep_known(&mut self) {
        self.known.clear();
        for (at, &pair) in self.pairs.iter().enumerate() {
            let (group, lane) = self.seat(at);
            let g = &self.groups[group];
            if g.side[lane] != 0.0 || g.pressed[lane] > 0.0 {
                let sum = [g.sum[0][lane], g.sum[1][lane], g.sum[2][lane], g.pressed[lane], g.deepest[lane]];
                self.known.push(Known { pair, side: g.side[lane], sum });
            }
        }
    }

    /// Group and lane of a pair.
    fn seat(&self, at: usize) -> (usize, usize) {
        let at = if at < self.vertex_pairs {
            at
        } else {
            self.vertex_pairs.next_multiple_of(LANES) + at - self.vertex_pairs
        };
        (at / LANES, at % LANES)
    }

    /// Pairs into lanes, with what is known of them.
    fn lay_out(&mut self) {
        self.vertex_pairs = self.pairs.partition_point(|p| !p.edges);
        let edges = self.pairs.len() - self.vertex_pairs;
        self.groups.clear();
        self.groups.resize(self.vertex_pairs.div_ceil(LANES) + edges.div_ceil(LANES), FoldGroup::NONE);
        let mut known = &self.known[..];
        for at in 0..self.pairs.len() {
            let (pair, (group, lane)) = (self.pairs[at], self.seat(at));
            let (reach, slots) = (self.reach(pair), self.nodes(pair));
            let g = &mut self.groups[group];
            for (to, slot) in g.slots.iter_mut().zip(slots) {
                to[lane] = slot;
            }
            g.reach[lane] = reach;
            while known.first().is_some_and(|k| k.pair < pair) {
                known = &known[1..];
            }
            if let Some(k) = known.first().filter(|k| k.pair == pair) {
                g.side[lane] = k.side;
                [g.sum[0][lane], g.sum[1][lane], g.sum[2][lane], g.pressed[lane], g.deepest[lane]] = k.sum;
            }
        }
    }

    fn nodes(&self, pair: FoldPair) -> [u32; 4] {
        if pair.edges {
            let ([a, b], [c, d]) = (self.edges[pair.a as usize], self.edges[pair.b as usize]);
            return [a, b, c, d];
        }
        let [a, b, c] = self.faces[pair.b as usize];
        [self.slots[pair.a as usize], a, b, c]
    }

    /// Distance at which two features touch: no more than at rest, and none where they meet at rest.
    fn reach(&self, pair: FoldPair) -> Real {
        let at = |n: u32| self.rest[n as usize];
        let apart = if pair.edges {
            let (a, b) = (self.ends[pair.a as usize].map(at), self.ends[pair.b as usize].map(at));
            // far away, told without roots
            let (far, long) = (a[0] - b[0], (a[1] - a[0]).abs() + (b[1] - b[0]).abs());
            if far.abs().max_element() > self.rules.thick + long.max_element() {
                return self.rules.thick;
            }
            way_between(a, b, segment_segment(a, b))
        } else {
            let (p, c) = (at(pair.a), self.corners[pair.b as usize].map(at));
            let long = (c[1] - c[0]).abs().max((c[2] - c[0]).abs());
            if (p - c[0]).abs().max_element() > self.rules.thick + long.max_element() {
                return self.rules.thick;
            }
            p - blend(c, point_triangle(p, c))
        };
        let rest = apart.length();
        if rest > 0.0 { self.rules.thick.min(rest) } else { -1.0 }
    }

    /// Tries all pairs, and lets those push that touch: goals `p` change, and places in `x`. Goals have inverse masses.
    pub fn touch(&mut self, p: &mut [Block], step: FoldStep<'_>) {
        self.active.clear();
        let vertices = self.vertex_pairs.div_ceil(LANES);
        let tries = Try { groups: &mut self.groups, vertices, x: &self.x, p, active: &mut self.active };
        run(tries, step.lanes);
        for at in 0..self.active.len() {
            self.press(self.active[at] as usize, p, step);
        }
    }

    /// Calls `see` with the slot of every node that may have been pushed, some of them more than once.
    pub fn each_pushed(&self, mut see: impl FnMut(usize)) {
        for &at in &self.active {
            let (group, lane) = (at as usize / LANES, at as usize % LANES);
            self.groups[group].slots.iter().for_each(|slots| see(slots[lane] as usize));
        }
    }

    /// One pair.
    fn press(&mut self, at: usize, p: &mut [Block], step: FoldStep<'_>) {
        let (g, lane) = (&mut self.groups[at / LANES], at % LANES);
        let slots = g.slots.map(|s| s[lane] as usize);
        let shares = g.shares.map(|c| c[lane]);
        let normal = Vec3::new(g.normal[0][lane], g.normal[1][lane], g.normal[2][lane]);
        let (reach, h) = (g.reach[lane], step.params.h);
        let (mut apart, mut way, mut k) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for (&slot, &c) in slots.iter().zip(&shares) {
            let x = vec(self.x[slot]);
            apart += x * c;
            way += (vec(p[slot]) - x) * c;
            k += c * c * p[slot][3];
        }
        if !(k > 0.0) {
            return;
        }
        // other pairs may have taken them apart: what each adds to that for itself is too much together, and cloth flew
        let now = normal.dot(apart);
        let soon = now + normal.dot(way);
        let press = (now.min(reach) - soon).max(0.0) / k;
        // friction: what it can take off the way along each other
        let slip = way - normal * normal.dot(way);
        let (length, hold) = (slip.length(), self.rules.static_friction * press * k);
        let most = if length > hold { self.rules.kinetic_friction * press * k } else { length };
        let rub = if length > 0.0 { most.min(length) / (length * k) } else { 0.0 };
        let push = normal * press - slip * rub;
        // what is too near comes apart by places alone
        let depth = reach - soon.max(now.min(reach));
        let speed = (depth * step.params.bias_rate).min(step.params.push_speed).max(0.0);
        let lift = if step.again { 0.0 } else { speed * h / k };
        let both = push + normal * lift;
        for (&slot, &c) in slots.iter().zip(&shares) {
            let goal = &mut p[slot];
            let w = c * goal[3];
            let to = &mut self.x[slot];
            for (axis, (both, lift)) in both.to_array().into_iter().zip((normal * lift).to_array()).enumerate() {
                goal[axis] += both * w;
                to[axis] += lift * w;
            }
        }
        let impulse = push / h;
        for (to, more) in g.sum.iter_mut().zip(impulse.to_array()) {
            to[lane] += more;
        }
        g.pressed[lane] += press / h;
        g.deepest[lane] = g.deepest[lane].max(reach - now);
    }

    /// Calls `see` with every pair that touched in the step, in the order of keys.
    pub fn each_folded(&self, mut see: impl FnMut(Folded)) {
        for (at, &pair) in self.pairs.iter().enumerate() {
            let (group, lane) = self.seat(at);
            let Some(g) = self.groups.get(group).filter(|g| g.pressed[lane] > 0.0 || g.side[lane] != 0.0) else {
                continue;
            };
            let pick = |a: &[[Real; LANES]; 3]| Vec3::new(a[0][lane], a[1][lane], a[2][lane]);
            let c = g.shares.map(|c| c[lane]);
            // a vertex comes first in its key: its face pushes the other way
            let sign = if pair.edges { 1.0 } else { -1.0 };
            let shares = if pair.edges {
                [Vec3::new(-c[0], -c[1], 0.0), Vec3::new(c[2], c[3], 0.0)]
            } else {
                [Vec3::X, Vec3::new(-c[1], -c[2], -c[3])]
            };
            see(Folded {
                pair,
                normal: pick(&g.normal) * sign,
                shares,
                reach: g.reach[lane],
                sum: pick(&g.sum) * sign,
                pressed: g.pressed[lane],
                deepest: g.deepest[lane],
                stays: g.side[lane] != 0.0,
            });
        }
    }
}
