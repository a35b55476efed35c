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
//!   λ ← max(0, λ + (min(now, reach) − now − n·u)/k)
//!   f ← f − u_t/k, onto the disc |f| ≤ μ λ,          p += c w (Δλ n + Δf)
//! ```
//!
//! *Memory.* λ and f of a pair start from those of the last substep (in the first, from the mean of the last step, which is
//! part of State), applied to all active pairs first: layers at rest then have the impulses that hold them, and nothing is
//! left to correct. That needs the velocities at the end of the substep, but contacts with other bodies are solved after
//! this: a lower layer that falls with the upper one until the ground stops it would leave the pair without a load, and
//! layers crept by the velocity that gravity adds in two substeps. The displacement that those contacts will give to the
//! nodes that have met them is therefore computed first ([`Foreseen`]), added to the goals, and taken away afterwards.
//!
//! This step does not separate the pair: a separating impulse would add energy. The overlap of a pair that is closer
//! than the contact distance is corrected in positions only, x and p together, at the correction rate of all contacts.
//! The weights c sum to zero, so that momentum is conserved.

use crate::collision::surface::{Candidate, FeaturePair, FoldList, Look, SelfContactFinder, Ways};
use crate::contact::kernel::cloth::{ClothContacts, CoupledBody};
use crate::contact::kernel::rigid_batch::ContactParams;
use crate::contact::kernel::self_contact::{AtRest, FoldGroup, FoldPush, Try};
use crate::contact::law;
use crate::math::{Block, Eight3, LANES, Real, Vec3, run, vec};
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

/// A pair that was in contact in the previous step.
#[derive(Clone, Copy, Debug)]
struct Known {
    pair: FeaturePair,
    /// 0 when it has separated.
    side: Real,
    /// Mean impulse of its substeps, signed as in the kernel [N·s].
    warm: Vec3,
    slipping: bool,
}

/// What other contacts of the sheet will do in a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foreseen<'a> {
    pub touches: &'a [ClothContacts],
    pub coupled: &'a [CoupledBody],
}

impl Foreseen<'_> {
    /// Displacements of the nodes that have met a collider, added to the goals `p` and listed by slot.
    fn add(&self, (x, p): (&[Block], &mut [Block]), params: &ContactParams, list: &mut Vec<(u32, Vec3)>) {
        list.clear();
        for touch in self.touches {
            let coupled = &self.coupled[touch.coupled];
            for group in (0..p.len() / LANES).filter(|&group| touch.has_met(group)) {
                for slot in LANES * group..LANES * (group + 1) {
                    let weight = p[slot][3];
                    if weight > 0.0 {
                        let moved = touch.foresee(coupled, [vec(x[slot]), vec(p[slot])], weight, params);
                        if moved != Vec3::ZERO {
                            move_by(&mut p[slot], moved);
                            list.push((slot as u32, moved));
                        }
                    }
                }
            }
        }
    }
}

/// A pair that was in contact, for the contact records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActivePair {
    pub pair: FeaturePair,
    /// From the first feature to the second.
    pub normal: Vec3,
    /// Weights of the corners of the first feature and of the second.
    pub shares: [Vec3; 2],
    pub reach: Real,
    /// Impulse of the step on the second, its normal part [N·s], and the maximum overlap [m].
    pub sum: Vec3,
    pub pressed: Real,
    pub deepest: Real,
    /// True when the pair is in contact at the end of the step; whether it slips.
    pub stays: bool,
    pub slipping: bool,
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
    /// Displacements that other contacts will give to nodes in this substep, by slot [m].
    foreseen: Vec<(u32, Vec3)>,
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
            foreseen: Vec::new(),
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

    /// Registers a pair of State: its normal from the first feature to the second, whether it is still in contact, its mean
    /// impulse on the second [N·s] and whether it slips. Pairs must be sorted.
    pub fn remember(
        &mut self,
        pair: FeaturePair,
        (normal, touching): (Vec3, bool),
        (impulse, slipping): (Vec3, bool),
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
        let warm = if pair.edges { impulse } else { -impulse };
        self.known.push(Known { pair, side, warm, slipping });
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
        for &Known { pair, side, warm, slipping } in known {
            let slots = self.slots_of(pair);
            let listed = &mut self.listed[usize::from(pair.edges)];
            let (group, lane) = listed.seat([pair.a, pair.b]).unwrap_or_else(|| {
                listed.push(&Candidate { pair, slots });
                ((listed.count - 1) / LANES, (listed.count - 1) % LANES)
            });
            listed.groups[group].side[lane] = side;
            let push = &mut listed.pushes[group];
            set(&mut push.warm, lane, warm);
            push.slipping[lane] = if slipping { 1.0 } else { 0.0 };
        }
        for (kind, (Listed { groups, .. }, new)) in self.listed.iter_mut().zip(new).enumerate() {
            run(
                AtRest { groups: &mut groups[new..], edges: kind == 1, rest: &self.rest, thick: self.rules.thick },
                lanes,
            );
        }
    }

    /// Slots of the nodes of a pair.
    fn slots_of(&self, FeaturePair { edges, a, b }: FeaturePair) -> [u32; 4] {
        let nodes = if edges {
            let ([p, q], [r, s]) = (self.ends[a as usize], self.ends[b as usize]);
            [p, q, r, s]
        } else {
            let [p, q, r] = self.corners[b as usize];
            [a, p, q, r]
        };
        nodes.map(|node| self.slots[node as usize])
    }

    /// Tests all pairs, and solves those in contact: goals `p` change, and positions in `x`. Goals include inverse
    /// masses. Returns false when no pair is in contact.
    pub fn touch(&mut self, p: &mut [Block], step: SelfContactStep<'_>, beside: Foreseen<'_>) -> bool {
        self.active.clear();
        let mut foreseen = std::mem::take(&mut self.foreseen);
        beside.add((&self.x, p), step.params, &mut foreseen);
        self.see_how_far(p);
        for (kind, Listed { groups, pushes, .. }) in self.listed.iter_mut().enumerate() {
            let marks = if kind == 0 { 0 } else { EDGES };
            run(Try { groups, pushes, edges: kind == 1, x: &self.x, p, active: &mut self.active, marks }, step.lanes);
        }
        if !step.places_alone && !self.active.is_empty() {
            remove(p, &foreseen);
            (0..self.active.len()).for_each(|at| self.warm_start(self.active[at], p, step.params.h));
            beside.add((&self.x, p), step.params, &mut foreseen);
        }
        for at in 0..self.active.len() {
            self.solve_pair(self.active[at], p, step);
        }
        remove(p, &foreseen);
        self.foreseen = foreseen;
        !self.active.is_empty()
    }

    /// Applies the impulse of the last substep of a pair, once in a substep.
    fn warm_start(&mut self, at: u32, p: &mut [Block], h: Real) {
        let (kind, group, lane) = seat_of(at);
        let Listed { groups, pushes, .. } = &mut self.listed[kind];
        let g = &mut pushes[group];
        let now = self.done + 1;
        if std::mem::replace(&mut g.applied[lane], now) == now {
            return;
        }
        let (warm, normal) = (pick(&g.warm, lane), pick(&g.normal, lane));
        if warm == Vec3::ZERO {
            return;
        }
        // along the present normal; contacts only push
        let pressed = normal.dot(warm);
        let warm = if pressed > 0.0 { warm } else { Vec3::ZERO };
        set(&mut g.warm, lane, warm);
        for (slots, shares) in groups[group].slots.iter().zip(&g.shares) {
            let goal = &mut p[slots[lane] as usize];
            let w = shares[lane] * goal[3];
            move_by(goal, warm * (h * w));
        }
        add_to(&mut g.sum, lane, warm);
        g.pressed[lane] += pressed.max(0.0);
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

    /// Solves one pair.
    fn solve_pair(&mut self, at: u32, p: &mut [Block], step: SelfContactStep<'_>) {
        let (kind, group, lane) = seat_of(at);
        let Listed { groups, pushes, .. } = &mut self.listed[kind];
        let (slots, reach) = (groups[group].slots.map(|s| s[lane] as usize), groups[group].reach[lane]);
        let (g, h) = (&mut pushes[group], step.params.h);
        let shares = g.shares.map(|c| c[lane]);
        let normal = pick(&g.normal, lane);
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
        // the current distance: other pairs may have separated them already. With the full correction of every pair the
        // sum was too large, and cloth was ejected
        let now = normal.dot(apart);
        let along = normal.dot(way);
        let soon = now + along;
        // impulses of this substep so far, times h [kg·m]; goals that are final positions have none
        let before = if step.places_alone { Vec3::ZERO } else { pick(&g.warm, lane) * h };
        let pressed = normal.dot(before);
        let lambda = (pressed + (now.min(reach) - soon) / k).max(0.0);
        // friction: the slip that is left, within the disc
        let slip = way - normal * along;
        let wish = before - normal * pressed - slip / k;
        let coefficients = [self.rules.static_friction, self.rules.kinetic_friction];
        let square = wish.length_squared();
        let still = coefficients[0] * lambda;
        let slides = if square > still * still { 1.0 } else { 0.0 };
        let rub = wish * law::onto_disc((), square, law::coefficient((), slides, coefficients) * lambda);
        let push = normal * lambda + rub - before;
        // overlap is corrected in positions only
        let depth = reach - soon.max(now.min(reach));
        let speed = -law::normal_bias((), -depth.max(0.0), 0.0, step.params.bias_rate, step.params);
        let lift = normal * if step.again { 0.0 } else { speed * h / k };
        for (&slot, &c) in slots.iter().zip(&shares) {
            let w = c * p[slot][3];
            move_by(&mut p[slot], (push + lift) * w);
            move_by(&mut self.x[slot], lift * w);
        }
        if step.places_alone {
            return;
        }
        set(&mut g.warm, lane, (normal * lambda + rub) / h);
        g.slipping[lane] = slides;
        add_to(&mut g.sum, lane, push / h);
        g.pressed[lane] += (lambda - pressed) / h;
        g.deepest[lane] = g.deepest[lane].max(reach - now);
    }

    /// Calls `see` with every pair that was in contact in the step, in the order of keys.
    pub fn each_pair(&mut self, mut see: impl FnMut(ActivePair)) {
        let touched = &mut self.touched;
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
        for &(pair, group, lane) in touched.iter() {
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
            see(ActivePair {
                pair,
                normal: pick(&g.normal, lane) * sign,
                shares,
                reach: tried.reach[lane],
                sum: pick(&g.sum, lane) * sign,
                pressed: g.pressed[lane],
                deepest: g.deepest[lane],
                stays: tried.side[lane] != 0.0,
                slipping: g.slipping[lane] > 0.0,
            });
        }
    }
}

/// Takes the listed displacements away.
fn remove(p: &mut [Block], list: &[(u32, Vec3)]) {
    list.iter().for_each(|&(slot, moved)| move_by(&mut p[slot as usize], -moved));
}

/// The vector of a lane.
fn pick(of: &Eight3, lane: usize) -> Vec3 {
    Vec3::new(of[0][lane], of[1][lane], of[2][lane])
}

fn set(to: &mut Eight3, lane: usize, v: Vec3) {
    to.iter_mut().zip(v.to_array()).for_each(|(to, v)| to[lane] = v);
}

fn add_to(to: &mut Eight3, lane: usize, more: Vec3) {
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
