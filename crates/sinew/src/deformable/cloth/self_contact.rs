//! Self-contact of a sheet in a structure of arrays: its vertices with its faces and its edges with each other.
//!
//! *Candidate pairs* are listed once per step: pairs whose distance falls below the contact distance plus twice a
//! margin while all nodes follow straight trajectories at constant velocity. A pair that is not on the list cannot come
//! into contact as long as every node stays within the margin of its trajectory. A node that deviates by more gets a
//! new trajectory, and the pairs around it are listed again; no pair is removed. Lists are not kept from step to step.
//!
//! *Contacts* are solved on the goals p of a substep, between the rows and the contacts with other bodies, one pair
//! after the other (Gauss-Seidel). With k = Σ c² w, u = Σ c (p − x), now = n·Σ c x, u_t the tangential part of u and
//! reach the contact distance
//!
//! ```text
//!   λ = max(0, min(now, reach) − now − n·u)/k,   p += c w λ n
//!   f ← f − u_t/k, onto the disc |f| ≤ μ N,      p += c w Δf
//! ```
//!
//! *Friction memory.* The friction f of a pair starts from that of its last substep, which is applied to all pairs first.
//! From zero the friction of a substep is that of layers that are free: what holds the lower layer acts after it, and a
//! layer on a held layer crept with about the velocity that gravity adds in two substeps. N is the mean normal impulse of
//! the substeps of the previous step in which the pair was in contact: in a single substep a pair under load may have
//! none. A pair without it, which was not in contact, has the λ of the substep. With the weights a of the material points
//! that were opposite each other, and two tangents t that turn with the first edge of the pair,
//!
//! ```text
//!   s = s₀ + t·Σ a x
//! ```
//!
//! is the tangential displacement since the pair stuck, whatever moved the nodes. It is returned onto the disc that the
//! largest friction holds, and taken back in positions only, at the rate of all contacts, while the pair sticks. Memory
//! ends when a pair has no load for a complete step.
//!
//! This step does not separate the pair: a separating impulse would add energy. The overlap of a pair that is closer
//! than the contact distance is corrected in positions only, x and p together, at the correction rate of all contacts.
//! The weights c sum to zero, so that momentum is conserved.

use crate::collision::surface::{Candidate, FeaturePair, FoldList, Look, SelfContactFinder, Ways};
use crate::contact::kernel::rigid_batch::ContactParams;
use crate::contact::kernel::self_contact::{AtRest, FoldGroup, FoldPush, Try};
use crate::contact::law;
use crate::math::{Block, LANES, Real, Vec3, any_orthonormal, run, vec};
use crate::model::surface::Cells;

/// Relative margin of times for rounding error.
const MORE: Real = 1.001;
/// The complete list is rebuilt when more than one in this many nodes has left its trajectory: node by node is slower
/// then.
const MANY: usize = 8;
/// Flag of edge pairs among the active pairs.
const EDGES: u32 = 1 << 31;

/// Parameters of self-contact for a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SelfContactRules {
    /// Distance of two layers in contact [m].
    pub thick: Real,
    /// Deviation of a node from its trajectory above which the pairs around it are listed again [m].
    pub stray: Real,
    /// The step [s].
    pub time: Real,
    pub static_friction: Real,
    pub kinetic_friction: Real,
}

/// Pairs of one kind in lanes, and an index of the pairs of each feature.
#[derive(Debug, Default)]
struct Listed {
    groups: Vec<FoldGroup>,
    pushes: Vec<FoldPush>,
    count: usize,
    /// For each vertex or edge that is first in a pair its last pair; for each pair its second feature and the previous
    /// pair of the first. Indices are increased by one, 0 is none.
    last: Vec<u32>,
    before: Vec<[u32; 2]>,
}

impl Listed {
    fn clear(&mut self) {
        self.groups.clear();
        self.pushes.clear();
        self.before.clear();
        self.last.fill(0);
        self.count = 0;
    }

    /// Group and lane of a pair, if it is listed.
    fn seat(&self, [a, b]: [u32; 2]) -> Option<(usize, usize)> {
        let mut at = self.last[a as usize];
        while at > 0 {
            let seat = at as usize - 1;
            let [second, before] = self.before[seat];
            if second == b {
                return Some((seat / LANES, seat % LANES));
            }
            at = before;
        }
        None
    }

    fn push(&mut self, candidate: &Candidate) {
        let FeaturePair { a, b, .. } = candidate.pair;
        let (group, lane) = (self.count / LANES, self.count % LANES);
        if lane == 0 {
            self.groups.push(FoldGroup::NONE);
            self.pushes.push(FoldPush::NONE);
        }
        let (g, push) = (&mut self.groups[group], &mut self.pushes[group]);
        for (to, slot) in g.slots.iter_mut().zip(candidate.slots) {
            to[lane] = slot;
        }
        (push.numbers[0][lane], push.numbers[1][lane]) = (a, b);
        self.count += 1;
        self.before.push([b, std::mem::replace(&mut self.last[a as usize], self.count as u32)]);
    }
}

/// Friction memory of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grip {
    /// Normal impulse that bounds friction, and friction impulse of a substep along the tangents [N·s].
    pub load: Real,
    pub friction: [Real; 2],
    /// Tangential displacement since the pair stuck, along the tangents [m].
    pub displacement: [Real; 2],
    pub slipping: bool,
}

/// A pair that was in contact in the previous step.
#[derive(Clone, Copy, Debug)]
struct Known {
    pair: FeaturePair,
    /// 0 when it has separated.
    side: Real,
    /// Normal as in the kernel, and weights of the material points opposite each other.
    normal: Vec3,
    anchor: [Real; 4],
    grip: Grip,
}

/// A pair that was in contact, for the contact records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActivePair {
    pub pair: FeaturePair,
    /// From the first feature to the second.
    pub normal: Vec3,
    /// First tangent of its friction memory.
    pub tangent: Vec3,
    /// Weights of the corners of the first feature and of the second.
    pub shares: [Vec3; 2],
    pub reach: Real,
    /// Impulse of the step on the second, its normal part [N·s], and the maximum overlap [m].
    pub sum: Vec3,
    pub pressed: Real,
    pub deepest: Real,
    pub grip: Grip,
    /// True when the pair is in contact at the end of the step.
    pub stays: bool,
}

/// Self-contact of a sheet.
#[derive(Debug)]
pub(crate) struct SelfContact {
    finder: SelfContactFinder,
    /// Nodes of faces and edges by index, the slot of each node, and rest positions by slot.
    corners: Vec<[u32; 3]>,
    ends: Vec<[u32; 2]>,
    slots: Vec<u32>,
    rest: Vec<Block>,
    rules: SelfContactRules,
    found: FoldList,
    /// Vertices with faces, edges.
    listed: [Listed; 2],
    active: Vec<u32>,
    /// Pairs that were in contact in the step, with group and lane. Scratch of `each_pair`.
    touched: Vec<(FeaturePair, usize, usize)>,
    /// Pairs that were in contact in the previous step.
    known: Vec<Known>,
    /// Positions of this substep, each with the displacement of its node relative to the mean of the sheet, and goals.
    /// (slot_count) [m]
    pub x: Vec<Block>,
    pub p: Vec<Block>,
    /// Trajectory of each node: its positions at the start of the step and at its end. (slot_count) [m]
    from: Vec<Block>,
    to: Vec<Block>,
    /// Slots of nodes that have left their trajectories.
    strayed: Vec<u32>,
    /// Number of completed substeps of the step.
    done: u32,
    /// The list of the step has been built.
    is_listed: bool,
}

/// Parameters of a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SelfContactStep<'a> {
    pub params: &'a ContactParams,
    /// The same substep is repeated: positions are not advanced yet.
    pub again: bool,
    /// Goals are the final positions, independent of velocities: corrections are not counted as impulses.
    pub places_alone: bool,
    pub lanes: bool,
}

impl SelfContact {
    /// For a surface of triangles whose surfels are its nodes; `slots`: the slot of each.
    pub fn new(cells: &Cells, rest: &[Vec3], slots: &[u32]) -> Self {
        let mut by_slot = vec![[0.0; 4]; slots.iter().max().map_or(0, |&last| last as usize + 1)];
        rest.iter().zip(slots).for_each(|(&at, &slot)| by_slot[slot as usize] = at.extend(0.0).to_array());
        Self {
            finder: SelfContactFinder::new(cells, rest, slots),
            corners: cells.corners.clone(),
            ends: cells.edges.clone(),
            slots: slots.to_vec(),
            rest: by_slot,
            rules: SelfContactRules::default(),
            found: FoldList::default(),
            listed: [rest.len(), cells.edges.len()].map(|count| Listed { last: vec![0; count], ..Listed::default() }),
            active: Vec::new(),
            touched: Vec::new(),
            known: Vec::new(),
            x: Vec::new(),
            p: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
            strayed: Vec::new(),
            done: 0,
            is_listed: false,
        }
    }

    /// Begins a step. The sides of the previous step are passed with `remember` next.
    pub fn begin(&mut self, rules: SelfContactRules) {
        (self.rules, self.done, self.is_listed) = (rules, 0, false);
        self.known.clear();
        self.listed.iter_mut().for_each(Listed::clear);
    }

    /// Registers a pair that was in contact in State: its normal from the first feature to the second, whether it is still
    /// in contact, the weights of its corners and its friction memory. Pairs must be sorted.
    pub fn remember(
        &mut self,
        pair: FeaturePair,
        (normal, touching): (Vec3, bool),
        (shares, grip): ([Vec3; 2], Grip),
        x: impl Fn(u32) -> Vec3,
    ) {
        let axis = if pair.edges {
            let (Some(a), Some(b)) = (self.ends.get(pair.a as usize), self.ends.get(pair.b as usize)) else { return };
            (x(a[1]) - x(a[0])).cross(x(b[1]) - x(b[0]))
        } else {
            let (Some(c), true) = (self.corners.get(pair.b as usize), (pair.a as usize) < self.listed[0].last.len())
            else {
                return;
            };
            (x(c[2]) - x(c[0])).cross(x(c[1]) - x(c[0]))
        };
        let side = if normal.dot(axis) < 0.0 { -1.0 } else { 1.0 };
        let side = if touching { side } else { 0.0 };
        let [a, b] = shares;
        let (normal, anchor, grip) = if pair.edges {
            (normal, [-a.x, -a.y, b.x, b.y], grip)
        } else {
            (-normal, [1.0, -b.x, -b.y, -b.z], grip.seen_from_the_other_side())
        };
        self.known.push(Known { pair, side, normal, anchor, grip });
    }

    /// Completes a substep.
    pub fn pass(&mut self) {
        self.done += 1;
    }

    /// True when the list is not valid for this substep of h [s], whose goals are `p`.
    pub fn is_stale(&mut self, p: &[Block], h: Real) -> bool {
        self.strayed.clear();
        if !self.is_listed {
            return true;
        }
        let gone = h * (self.done + 1) as Real / (MORE * self.rules.time);
        let far = self.rules.stray * self.rules.stray;
        for (slot, ((p, x), to)) in p.iter().zip(&self.from).zip(&self.to).enumerate() {
            let [a, b, c] = [0, 1, 2].map(|k| p[k] - (x[k] + (to[k] - x[k]) * gone));
            // NaN counts as deviated
            if !(a * a + b * b + c * c <= far) {
                self.strayed.push(slot as u32);
            }
        }
        !self.strayed.is_empty()
    }

    /// True when there are no candidate pairs.
    pub fn is_empty(&self) -> bool {
        self.listed.iter().all(|listed| listed.groups.is_empty())
    }

    /// Lists the pairs that may come into contact until the end of the step, with goals `p` a substep h after positions
    /// `x`.
    pub fn list(&mut self, p: &[Block], h: Real, lanes: bool) {
        self.from.resize(self.x.len(), [0.0; 4]);
        self.to.resize(self.x.len(), [0.0; 4]);
        let start = h * self.done as Real;
        let reach = self.rules.thick + 2.0 * self.rules.stray;
        let look = Look { reach, start, end: MORE * self.rules.time };
        let Self { x, from, to, .. } = self;
        // straight line from the current position, extrapolated back to the start of the step
        let mut set_out = |slot: usize| {
            let (x, way) = (vec(x[slot]), (vec(p[slot]) - vec(x[slot])) / h);
            from[slot] = (x - way * start).extend(0.0).to_array();
            to[slot] = (x + way * (look.end - start)).extend(0.0).to_array();
        };
        let was_listed = std::mem::replace(&mut self.is_listed, true);
        if was_listed && MANY * self.strayed.len() < x.len() {
            self.strayed.iter().for_each(|&slot| set_out(slot as usize));
            let ways = Ways { x: &self.from, to: &self.to };
            self.finder.find_again(&self.strayed, (ways, look), lanes, &mut self.found);
            self.add(true, &[], lanes);
            return;
        }
        (0..x.len()).for_each(set_out);
        let ways = Ways { x: &self.from, to: &self.to };
        self.finder.find(ways, look, lanes, &mut self.found);
        let mut known = std::mem::take(&mut self.known);
        self.add(was_listed, &known, lanes);
        known.clear();
        self.known = known;
    }

    /// Adds the pairs found to the lists, unless they are listed, and pairs that were in contact before with their
    /// sides: a pair that has penetrated by more than the search distance would otherwise be lost.
    fn add(&mut self, may_be_there: bool, known: &[Known], lanes: bool) {
        let new = [0, 1].map(|kind| self.listed[kind].count / LANES);
        for candidate in self.found.each() {
            let FeaturePair { edges, a, b } = candidate.pair;
            let listed = &mut self.listed[usize::from(edges)];
            if !may_be_there || listed.seat([a, b]).is_none() {
                listed.push(candidate);
            }
        }
        for &Known { pair, side, normal, anchor, grip } in known {
            let slots = self.slots_of(pair);
            let listed = &mut self.listed[usize::from(pair.edges)];
            let (group, lane) = listed.seat([pair.a, pair.b]).unwrap_or_else(|| {
                listed.push(&Candidate { pair, slots });
                ((listed.count - 1) / LANES, (listed.count - 1) % LANES)
            });
            listed.groups[group].side[lane] = side;
            let push = &mut listed.pushes[group];
            let corners = slots.map(|slot| vec(self.x[slot as usize]));
            let (apart, tangents) = (apart(corners, anchor), tangents(normal, corners));
            (push.load[lane], push.anchored[lane]) = (grip.load, 1.0);
            push.slipping[lane] = if grip.slipping { 1.0 } else { 0.0 };
            (0..4).for_each(|k| push.anchor[k][lane] = anchor[k]);
            for k in 0..2 {
                push.friction[k][lane] = grip.friction[k];
                push.offset[k][lane] = grip.displacement[k] - tangents[k].dot(apart);
            }
        }
        for (kind, (Listed { groups, .. }, new)) in self.listed.iter_mut().zip(new).enumerate() {
            run(
                AtRest { groups: &mut groups[new..], edges: kind == 1, rest: &self.rest, thick: self.rules.thick },
                lanes,
            );
        }
    }

    /// Slots of the nodes of a pair.
    fn slots_of(&self, pair: FeaturePair) -> [u32; 4] {
        self.nodes_of(pair).map(|node| self.slots[node as usize])
    }

    fn nodes_of(&self, FeaturePair { edges, a, b }: FeaturePair) -> [u32; 4] {
        if edges {
            let ([p, q], [r, s]) = (self.ends[a as usize], self.ends[b as usize]);
            [p, q, r, s]
        } else {
            let [p, q, r] = self.corners[b as usize];
            [a, p, q, r]
        }
    }

    /// Tests all pairs, and solves those in contact: goals `p` change, and positions in `x`. Goals include inverse
    /// masses. Returns false when no pair is in contact.
    pub fn touch(&mut self, p: &mut [Block], step: SelfContactStep<'_>) -> bool {
        self.active.clear();
        self.see_how_far(p);
        for (kind, Listed { groups, pushes, .. }) in self.listed.iter_mut().enumerate() {
            let marks = if kind == 0 { 0 } else { EDGES };
            run(Try { groups, pushes, edges: kind == 1, x: &self.x, p, active: &mut self.active, marks }, step.lanes);
        }
        if !step.places_alone {
            (0..self.active.len()).for_each(|at| self.warm_start(self.active[at], p, step.params.h));
        }
        for at in 0..self.active.len() {
            self.solve(self.active[at], p, step);
        }
        !self.active.is_empty()
    }

    /// Displacement of each node in the substep relative to the mean of the sheet.
    fn see_how_far(&mut self, p: &[Block]) {
        let mut mean = Vec3::ZERO;
        for (p, x) in p.iter().zip(&self.x) {
            mean += vec(*p) - vec(*x);
        }
        mean /= self.x.len().max(1) as Real;
        for (p, x) in p.iter().zip(&mut self.x) {
            x[3] = (vec(*p) - vec(*x) - mean).length();
        }
    }

    /// Applies the friction impulse of the last substep of a pair, once in a substep.
    fn warm_start(&mut self, at: u32, p: &mut [Block], h: Real) {
        let (kind, group, lane) = seat_of(at);
        let Listed { groups, pushes, .. } = &mut self.listed[kind];
        let g = &mut pushes[group];
        let now = (self.done + 1) as Real;
        if g.visited[lane] == now {
            return;
        }
        (g.visited[lane], g.visits[lane]) = (now, g.visits[lane] + 1.0);
        let friction = g.friction.map(|f| f[lane]);
        if friction == [0.0; 2] {
            return;
        }
        let (slots, shares) = (groups[group].slots.map(|s| s[lane] as usize), g.shares.map(|c| c[lane]));
        let [t, u] = tangents(pick(&g.normal, lane), slots.map(|slot| vec(self.x[slot])));
        let impulse = t * friction[0] + u * friction[1];
        for (&slot, &c) in slots.iter().zip(&shares) {
            let w = c * p[slot][3];
            move_by(&mut p[slot], impulse * (h * w));
        }
        add(&mut g.sum, lane, impulse);
    }

    /// Solves one pair.
    fn solve(&mut self, at: u32, p: &mut [Block], step: SelfContactStep<'_>) {
        let (kind, group, lane) = seat_of(at);
        let Listed { groups, pushes, .. } = &mut self.listed[kind];
        let (slots, reach) = (groups[group].slots.map(|s| s[lane] as usize), groups[group].reach[lane]);
        let (g, h) = (&mut pushes[group], step.params.h);
        let shares = g.shares.map(|c| c[lane]);
        let normal = pick(&g.normal, lane);
        let corners = slots.map(|slot| vec(self.x[slot]));
        let apart = apart(corners, shares);
        let (mut way, mut k) = (Vec3::ZERO, 0.0);
        for ((&slot, &c), x) in slots.iter().zip(&shares).zip(corners) {
            way += (vec(p[slot]) - x) * c;
            k += c * c * p[slot][3];
        }
        if !(k > 0.0) {
            return;
        }
        // the current distance: other pairs may have separated them already. With the full correction of every pair the
        // sum was too large, and cloth was ejected
        let now = normal.dot(apart);
        let soon = now + normal.dot(way);
        let lambda = (now.min(reach) - soon).max(0.0) / k;
        let slip = Slip { corners, normal, way, k, pressed: lambda / h };
        let [friction, displacement] = if step.places_alone {
            [slip.rub(&self.rules, h), Vec3::ZERO]
        } else {
            slip.stick(g, lane, &self.rules, step.params)
        };
        let push = normal * lambda + friction * h;
        // overlap is corrected in positions only
        let depth = reach - soon.max(now.min(reach));
        let speed = -law::normal_bias((), -depth.max(0.0), 0.0, step.params.bias_rate, step.params);
        let moved = normal * speed - displacement * step.params.friction_rate;
        let moved = if step.again { Vec3::ZERO } else { moved * (h / k) };
        for (&slot, &c) in slots.iter().zip(&shares) {
            let w = c * p[slot][3];
            move_by(&mut p[slot], (push + moved) * w);
            move_by(&mut self.x[slot], moved * w);
        }
        if step.places_alone {
            return;
        }
        add(&mut g.sum, lane, push / h);
        g.pressed[lane] += lambda / h;
        g.deepest[lane] = g.deepest[lane].max(reach - now);
    }

    /// Calls `see` with every pair that was in contact in the step, in the order of keys; `x`: positions of the nodes at
    /// its end.
    pub fn each_pair(&mut self, x: impl Fn(u32) -> Vec3, mut see: impl FnMut(ActivePair)) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        for (kind, Listed { groups, pushes, .. }) in self.listed.iter().enumerate() {
            for (group, (g, push)) in groups.iter().zip(pushes).enumerate() {
                let lanes = (0..LANES).filter(|&lane| push.pressed[lane] > 0.0 || g.side[lane] != 0.0);
                let pair =
                    |lane: usize| FeaturePair { edges: kind == 1, a: push.numbers[0][lane], b: push.numbers[1][lane] };
                touched.extend(lanes.map(|lane| (pair(lane), group, lane)));
            }
        }
        touched.sort_unstable();
        for &(pair, group, lane) in &touched {
            let Listed { groups, pushes, .. } = &self.listed[usize::from(pair.edges)];
            let (tried, g) = (&groups[group], &pushes[group]);
            let c = g.shares.map(|c| c[lane]);
            // a vertex is first in its key: the normal of its face has the opposite direction
            let sign = if pair.edges { 1.0 } else { -1.0 };
            let shares = if pair.edges {
                [Vec3::new(-c[0], -c[1], 0.0), Vec3::new(c[2], c[3], 0.0)]
            } else {
                [Vec3::X, Vec3::new(-c[1], -c[2], -c[3])]
            };
            let corners = self.nodes_of(pair).map(&x);
            let (grip, [tangent, _]) = (Grip::of(g, lane, corners), tangents(pick(&g.normal, lane), corners));
            see(ActivePair {
                pair,
                normal: pick(&g.normal, lane) * sign,
                tangent,
                shares,
                reach: tried.reach[lane],
                sum: pick(&g.sum, lane) * sign,
                grip: if pair.edges { grip } else { grip.seen_from_the_other_side() },
                pressed: g.pressed[lane],
                deepest: g.deepest[lane],
                stays: tried.side[lane] != 0.0,
            });
        }
        self.touched = touched;
    }
}

impl Grip {
    /// The memory of a pair after a step, with its corners at the end of it.
    fn of(g: &FoldPush, lane: usize, corners: [Vec3; 4]) -> Self {
        let load = if g.visits[lane] > 0.0 { g.pressed[lane] / g.visits[lane] } else { 0.0 };
        if !(load > 0.0) {
            return Self::default();
        }
        let normal = pick(&g.normal, lane);
        let (apart, tangents) = (apart(corners, g.anchor.map(|a| a[lane])), tangents(normal, corners));
        let displacement = [0, 1].map(|k| g.offset[k][lane] + tangents[k].dot(apart));
        Self { load, friction: g.friction.map(|f| f[lane]), displacement, slipping: g.slipping[lane] > 0.0 }
    }

    /// The same with the normal and the order of the features reversed: the first tangent is kept, the second changes its
    /// sign, and so do all vectors.
    fn seen_from_the_other_side(self) -> Self {
        let turned = |[t, u]: [Real; 2]| [-t, u];
        Self { friction: turned(self.friction), displacement: turned(self.displacement), ..self }
    }
}

/// A pair in a substep, before friction.
struct Slip {
    /// Positions of its nodes [m].
    corners: [Vec3; 4],
    normal: Vec3,
    /// Relative displacement in the substep [m].
    way: Vec3,
    /// Response [1/kg].
    k: Real,
    /// Normal impulse of the substep [N·s].
    pressed: Real,
}

impl Slip {
    /// Friction without memory [N·s]: it reduces the slip.
    fn rub(&self, rules: &SelfContactRules, h: Real) -> Vec3 {
        let slip = self.way - self.normal * self.normal.dot(self.way);
        let needed = slip.length() / (h * self.k);
        let slides = if needed > rules.static_friction * self.pressed { 1.0 } else { 0.0 };
        let limit = law::coefficient((), slides, [rules.static_friction, rules.kinetic_friction]) * self.pressed;
        slip * (-law::onto_disc((), needed * needed, limit) / (h * self.k))
    }

    /// Friction with the memory of a pair, which is updated: the impulse in addition to that of the warm start [N·s], and
    /// the tangential displacement to be taken back [m].
    fn stick(&self, g: &mut FoldPush, lane: usize, rules: &SelfContactRules, p: &ContactParams) -> [Vec3; 2] {
        let (tangents, k) = (tangents(self.normal, self.corners), self.k);
        if g.anchored[lane] == 0.0 {
            // opposite each other now
            (0..4).for_each(|c| g.anchor[c][lane] = g.shares[c][lane]);
            let apart = apart(self.corners, g.shares.map(|c| c[lane]));
            (0..2).for_each(|c| g.offset[c][lane] = -tangents[c].dot(apart));
            g.anchored[lane] = 1.0;
        }
        let coefficient =
            law::coefficient((), g.slipping[lane], [rules.static_friction, rules.kinetic_friction]);
        let limit = coefficient * if g.load[lane] > 0.0 { g.load[lane] } else { self.pressed };
        let slip = tangents.map(|t| t.dot(self.way));
        let old = g.friction.map(|f| f[lane]);
        let wish = [0, 1].map(|c| old[c] - slip[c] / (p.h * k));
        let scale = law::onto_disc((), wish[0] * wish[0] + wish[1] * wish[1], limit);
        let new = wish.map(|f| f * scale);
        let left = [0, 1].map(|c| slip[c] + (new[c] - old[c]) * p.h * k);

        // tangential displacement since the pair stuck, returned onto the disc that the largest friction holds
        let apart = apart(self.corners, g.anchor.map(|a| a[lane]));
        let most = law::displacement_limit((), limit, k, p);
        let s = [0, 1].map(|c| g.offset[c][lane] + tangents[c].dot(apart));
        let kept = law::onto_disc((), s[0] * s[0] + s[1] * s[1], most);
        let at_cone = law::at_cone((), new[0] * new[0] + new[1] * new[1], limit);
        let creep = (left[0] * left[0] + left[1] * left[1]).sqrt();
        g.slipping[lane] = law::slips((), at_cone, g.slipping[lane], creep, most);
        for c in 0..2 {
            g.friction[c][lane] = new[c];
            g.offset[c][lane] += s[c] * (kept - 1.0);
        }
        let back = if g.slipping[lane] > 0.0 { 0.0 } else { kept };
        let vector = |c: [Real; 2]| tangents[0] * c[0] + tangents[1] * c[1];
        [vector([new[0] - old[0], new[1] - old[1]]), vector(s) * back]
    }
}

/// Tangents of a pair with this normal. They turn with an edge of its second feature.
fn tangents(normal: Vec3, [_, _, a, b]: [Vec3; 4]) -> [Vec3; 2] {
    let along = b - a;
    let level = (along - normal * normal.dot(along)).normalize_or_zero();
    let first = if level == Vec3::ZERO { any_orthonormal(normal) } else { level };
    [first, normal.cross(first)]
}

/// Vector between the points of both features with these weights [m].
fn apart(corners: [Vec3; 4], weights: [Real; 4]) -> Vec3 {
    corners.into_iter().zip(weights).fold(Vec3::ZERO, |sum, (x, c)| sum + x * c)
}

/// The vector of a lane.
fn pick(of: &[[Real; LANES]; 3], lane: usize) -> Vec3 {
    Vec3::new(of[0][lane], of[1][lane], of[2][lane])
}

/// Adds to the vector of a lane.
fn add(to: &mut [[Real; LANES]; 3], lane: usize, more: Vec3) {
    to.iter_mut().zip(more.to_array()).for_each(|(to, more)| to[lane] += more);
}

/// Moves a node; the fourth component stays.
fn move_by(to: &mut Block, way: Vec3) {
    to.iter_mut().zip(way.to_array()).for_each(|(to, more)| *to += more);
}

/// Kind, group and lane of an active pair.
fn seat_of(at: u32) -> (usize, usize, usize) {
    let seat = (at & !EDGES) as usize;
    (usize::from(at & EDGES != 0), seat / LANES, seat % LANES)
}
