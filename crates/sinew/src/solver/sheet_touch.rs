//! Contacts of all nodes of a sheet with one ball or plane: every node is tried in every substep, eight at a time.
//!
//! Lists of candidates that are found once a step miss what a fold brings along (cloth study, section 4: 8 to 15 mm). A
//! node takes an impulse when its gap would close within the substep, n·u h + gap < 0, or is closed. With d the way from
//! the core and l = |d| that is d·u h + gap l < 0: one root and no division, so that trying all costs less than looking
//! them up. Groups of eight with such a node are visited as any batch of `node_touch.rs`, with the same numbers.

use super::contact_batch::ContactParams;
use super::node_touch::{Faced, NodeBatch, Side, Visit, again, answer, first, seen, turned, whole};
use super::pgs::Pass;
use crate::math::lane3::{V3, add, dot, splat3, sub};
use crate::math::{Block, Eight, Kernel, LANES, Lane, Real, Vec3, run};

/// The side that does not bend.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wall {
    /// Body and collider.
    pub slot: u32,
    pub collider: u32,
    pub static_friction: Real,
    pub kinetic_friction: Real,
    /// Middle of a ball or a point of a plane, and the outward normal of a plane; body axes [m].
    pub core: Vec3,
    pub normal: Vec3,
    pub flat: bool,
    /// Distance from the middle or from the plane at which a node touches [m].
    pub radius: Real,
}

/// Nodes of a sheet in groups of eight; places are from the origin [m, m/s, 1/kg].
#[derive(Debug)]
pub(crate) struct SheetNodes<'a> {
    pub x: [&'a mut [Eight]; 3],
    pub v: [&'a mut [Eight]; 3],
    pub w: &'a [Eight],
    pub origin: Vec3,
}

/// All nodes of a sheet and one wall, for a step.
#[derive(Debug, Default)]
pub(crate) struct SheetTouch {
    pub wall: Wall,
    /// Batch of each group of eight nodes, `u32::MAX` while it has not touched in this step.
    of_group: Vec<u32>,
    batches: Vec<NodeBatch>,
    count: usize,
    /// Groups with their batches that touch in this substep.
    live: Vec<(u32, u32)>,
    next: Visit,
}

impl SheetTouch {
    /// Forgets all but this wall; the sheet has so many groups.
    pub fn reset(&mut self, wall: Wall, groups: usize) {
        self.wall = wall;
        self.of_group.clear();
        self.of_group.resize(groups, u32::MAX);
        self.count = 0;
        self.live.clear();
        self.next = Visit::Plain;
    }

    /// What a node remembers: its slip since it stuck, in body axes [m].
    pub fn remember(&mut self, w: &[Eight], slot: u32, stick: Vec3, slipping: bool) {
        let (group, lane) = (slot as usize / LANES, slot as usize % LANES);
        let batch = self.batch(group, &w[group]);
        let batch = &mut self.batches[batch];
        for k in 0..3 {
            batch.stick[k][lane] = stick[k];
        }
        batch.slipping[lane] = if slipping { 1.0 } else { 0.0 };
    }

    /// The batch and lane of a node, when it touched in this step.
    pub fn find(&self, slot: u32) -> Option<(&NodeBatch, usize)> {
        let batch = self.of_group[slot as usize / LANES];
        (batch != u32::MAX).then(|| (&self.batches[batch as usize], slot as usize % LANES))
    }

    /// The batch of a group, made if there is none.
    fn batch(&mut self, group: usize, w: &Eight) -> usize {
        if self.of_group[group] == u32::MAX {
            self.of_group[group] = self.count as u32;
            let batch = new_batch(&self.wall, w);
            if self.count == self.batches.len() {
                self.batches.push(batch);
            } else {
                self.batches[self.count] = batch;
            }
            self.count += 1;
        }
        self.of_group[group] as usize
    }

    /// A group that does not touch now: who has let go forgets what it stuck to.
    #[inline(always)]
    fn let_go(&mut self, group: usize) {
        if let Some(batch) = self.batches[..self.count].get_mut(self.of_group[group] as usize) {
            (batch.stick, batch.slipping) = ([[0.0; LANES]; 3], [0.0; LANES]);
            (batch.impulse, batch.across) = ([0.0; LANES], [[0.0; LANES]; 3]);
        }
    }

    /// A new substep, or the end of the last: what touched is added up, and the next correcting sweep tries all nodes.
    pub fn renew(&mut self) {
        self.next = Visit::First;
        for &(_, batch) in &self.live {
            let batch = &mut self.batches[batch as usize];
            batch.add_up();
        }
        self.live.clear();
    }

    /// One sweep; `body`: velocities and what rounding left out of them, of a body that answers; `once`: one correcting
    /// and one relaxing sweep are all there are, and both are made in the first, of a body that stands still. Returns the
    /// sum of squared changes of impulse.
    pub fn sweep(
        &mut self,
        nodes: SheetNodes<'_>,
        mut side: Side,
        body: Option<(&mut [Block], &mut [Vec3])>,
        (params, pass, lanes, once): (&ContactParams, Pass, bool, bool),
    ) -> Real {
        let visit = self.next;
        self.next = if pass == Pass::Correct { Visit::Settle } else { Visit::Plain };
        if once && visit != Visit::First {
            return 0.0;
        }
        // places of the sheet are from its origin
        side.x -= nodes.origin;
        run(Sweep { touch: self, nodes, side, body, params, pass, visit, once }, lanes)
    }
}

#[cold]
fn new_batch(wall: &Wall, w: &Eight) -> NodeBatch {
    let mut batch = NodeBatch::empty(wall.slot);
    (batch.static_friction, batch.kinetic_friction) = (wall.static_friction, wall.kinetic_friction);
    for k in 0..3 {
        batch.core[k] = [wall.core[k]; LANES];
        batch.flat_normal[k] = [wall.normal[k]; LANES];
    }
    batch.flat = [if wall.flat { 1.0 } else { 0.0 }; LANES];
    for lane in (0..LANES).filter(|&lane| w[lane] > 0.0) {
        batch.radius[lane] = wall.radius;
    }
    batch
}

struct Sweep<'a> {
    touch: &'a mut SheetTouch,
    nodes: SheetNodes<'a>,
    side: Side,
    body: Option<(&'a mut [Block], &'a mut [Vec3])>,
    params: &'a ContactParams,
    pass: Pass,
    visit: Visit,
    once: bool,
}

impl Kernel for Sweep<'_> {
    type Output = Real;

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> Real {
        match self.visit {
            Visit::First => self.look::<L>(t),
            _ => self.go_on::<L>(t),
        }
    }
}

impl Sweep<'_> {
    /// Tries all nodes, and visits the groups with one that meets the wall.
    #[inline(always)]
    fn look<L: Lane>(self, t: L::Token) -> Real {
        let Self { touch, nodes: SheetNodes { mut x, mut v, w, .. }, mut side, mut body, params, once, .. } = self;
        let Wall { core, normal, flat, radius, .. } = touch.wall;
        let faced = Faced {
            core: turned(t, &side.turn, splat3::<L>(t, core)),
            plane: turned(t, &side.turn, splat3::<L>(t, normal)),
            flat: L::splat(t, if flat { 1.0 } else { 0.0 }),
            radius: L::splat(t, radius),
        };
        let mut squares = 0.0;
        for group in 0..w.len() {
            let (mut at, mut clear) = (0, true);
            while at < LANES {
                let nodes = (load(t, &x, group, at), load(t, &v, group, at), L::load(t, &w[group][at..]));
                clear &= is_clear(t, &faced, flat, nodes, (&side, params.h));
                at += L::COUNT;
            }
            if clear {
                touch.let_go(group);
                continue;
            }
            let index = touch.batch(group, &w[group]);
            let batch = &mut touch.batches[index];
            let (mut at, mut sums) = (0, [0.0; LANES]);
            while at < LANES {
                let (there, moving, weight) =
                    (load(t, &x, group, at), load(t, &v, group, at), weight(t, &w[group], at));
                let (change, after) = if once {
                    let faced = Faced { radius: L::load(t, &batch.radius[at..]), ..faced };
                    let (change, after, shift) = whole(t, batch, at, (&faced, there, moving, weight), &side, params);
                    store(add(there, shift), &mut x, group, at);
                    (change, after)
                } else {
                    first::<L>(t, batch, at, (there, moving, weight), &side, params)
                };
                store(after, &mut v, group, at);
                (change * change).store(&mut sums[at..]);
                at += L::COUNT;
            }
            squares += sums.iter().sum::<Real>();
            hand_on(batch, &mut body, &mut side);
            if !once {
                touch.live.push((group as u32, index as u32));
            }
        }
        squares
    }

    /// Visits those again that met it.
    #[inline(always)]
    fn go_on<L: Lane>(self, t: L::Token) -> Real {
        let Self { touch, nodes: SheetNodes { mut v, w, .. }, mut side, mut body, params, pass, visit, .. } = self;
        let mut squares = 0.0;
        for &(group, batch) in &touch.live {
            let (group, batch) = (group as usize, &mut touch.batches[batch as usize]);
            let (mut at, mut sums) = (0, [0.0; LANES]);
            while at < LANES {
                let nodes = (load(t, &v, group, at), weight(t, &w[group], at));
                let (change, after) = again::<L>(t, batch, at, nodes, &side, (params, pass, visit));
                store(after, &mut v, group, at);
                (change * change).store(&mut sums[at..]);
                at += L::COUNT;
            }
            squares += sums.iter().sum::<Real>();
            hand_on(batch, &mut body, &mut side);
        }
        squares
    }
}

/// The body answers before the next batch.
#[inline(always)]
fn hand_on(batch: &NodeBatch, body: &mut Option<(&mut [Block], &mut [Vec3])>, side: &mut Side) {
    if let Some((velocity, rest)) = body
        && side.inv_mass > 0.0
    {
        answer(batch, (velocity, rest), side);
    }
}

/// True when no node of these that can move comes to the wall within the substep h [s].
#[inline(always)]
fn is_clear<L: Lane>(
    t: L::Token,
    faced: &Faced<L>,
    flat: bool,
    (x, v, w): (V3<L>, V3<L>, L),
    (side, h): (&Side, Real),
) -> bool {
    let (none, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    let arm = sub(x, splat3::<L>(t, side.x));
    let d = sub(arm, faced.core);
    let u = seen(t, side, arm, v);
    let (length, rate) = if flat { (one, dot(faced.plane, u)) } else { (dot(d, d).sqrt(), dot(d, u)) };
    let gap = if flat { dot(faced.plane, d) } else { length } - faced.radius;
    let left = gap.min(rate * L::splat(t, h) + gap * length);
    w.select_gt(none, left, one).all_gt(none)
}

/// Inverse masses; lanes that do not answer have 1, since they are divided by, and are far from the wall.
#[inline(always)]
fn weight<L: Lane>(t: L::Token, w: &Eight, at: usize) -> L {
    let w = L::load(t, &w[at..]);
    w.select_gt(L::splat(t, 0.0), w, L::splat(t, 1.0))
}

#[inline(always)]
fn load<L: Lane>(t: L::Token, c: &[&mut [Eight]; 3], group: usize, at: usize) -> V3<L> {
    [L::load(t, &c[0][group][at..]), L::load(t, &c[1][group][at..]), L::load(t, &c[2][group][at..])]
}

#[inline(always)]
fn store<L: Lane>(v: V3<L>, c: &mut [&mut [Eight]; 3], group: usize, at: usize) {
    v[0].store(&mut c[0][group][at..]);
    v[1].store(&mut c[1][group][at..]);
    v[2].store(&mut c[2][group][at..]);
}
