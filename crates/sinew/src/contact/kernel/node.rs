//! Contacts of light nodes with one rigid body, eight at a time: for example a cloth on a ball.
//!
//! A contact is a point of the body (body axes) and either a plane through it or a sphere around it, so that the normal
//! n follows the shape in every substep: with normals fixed for a step, a cloth sank 28 mm into a ball (cloth study).
//! With r the lever arm of the node at the body, u = v − V − ω × r and w the node's inverse mass, one visit is
//!
//! ```text
//!   λ_n ← max(0, λ_n − (n·u + bias)/k),   λ_t ← (λ_t − (u_t + rate·s)/k) cut back to |λ_t| ≤ μ λ_n
//!   k = w + 1/M + r² max(I⁻¹)
//! ```
//!
//! normal first, because a node is coupled to its one contact and hardly to the body: k is its response along all
//! directions to within `LIGHT`/8, and the impulses of the previous substep are no useful warm start. Lanes of a batch
//! share one body: they all use its velocity before the batch, their impulses are added up in the order of lanes, and
//! the body is updated before the next batch (Gauss-Seidel between batches, Jacobi inside, stable while eight nodes are
//! light). s is the tangential displacement since the contact stuck, as in `contact/kernel/rigid.rs`.

use crate::contact::kernel::node_law::{NodeLaw, NodeVisit};
use crate::contact::kernel::rigid_batch::ContactParams;
use crate::contact::law;
use crate::friction::{Coefficients, Law};
use crate::math::lane3::{V3, along, cross, dot, load3, splat3, store3, sub};
use crate::math::{Block, Blocks, Eight, Eight3, Kernel, LANES, Lane, Mat3, Quat, Real, Sym3, Vec3, put, run, vec};
use crate::solver::pgs::Pass;

/// Largest relative reduction of the response of eight nodes by the motion of their body.
pub(crate) const LIGHT: Real = 0.25;

/// Eight contacts with one body.
#[derive(Clone, Debug)]
pub(crate) struct NodeBatch {
    /// Velocity block of each node, and the block to write to: `u32::MAX` in empty lanes.
    pub node: [u32; LANES],
    pub store: [u32; LANES],
    /// Contact of each lane, `u32::MAX` when empty.
    pub origin: [u32; LANES],
    /// The body.
    pub slot: u32,
    pub static_friction: Real,
    pub kinetic_friction: Real,
    pub law: Law,
    /// Point of the body, and the normal there for flat ones; body axes [m].
    pub core: Eight3,
    pub flat_normal: Eight3,
    /// 1 for planes, 0 for balls.
    pub flat: Eight,
    /// Distance from the core, or from the plane, at which the node is in contact [m].
    pub radius: Eight,
    /// Tangential displacement since it stuck, body axes [m].
    pub tangential_displacement: Eight3,
    /// 1 while slipping.
    pub slipping: Eight,
    /// Normal and lever arm of this substep, world axes. Written by the first sweep.
    pub normal: Eight3,
    pub arm: Eight3,
    bias: Eight,
    relax_bias: Eight,
    inverse: Eight,
    /// Impulses on the node [N·s]: along the normal, and tangential in world axes.
    pub impulse: Eight,
    pub across: Eight3,
    /// Impulses of the previous substeps, as vectors in world axes and along the normals [N·s].
    pub sum: Eight3,
    pub normal_sum: Eight,
    /// Largest penetration of the step [m].
    pub deepest: Eight,
    /// Linear and angular impulses on the body by this visit.
    push: Eight3,
    twist: Eight3,
}

const ZERO: Eight = [0.0; LANES];
const ZERO3: Eight3 = [ZERO; 3];

impl NodeBatch {
    pub fn empty(slot: u32) -> Self {
        Self {
            node: [0; LANES],
            store: [u32::MAX; LANES],
            origin: [u32::MAX; LANES],
            slot,
            static_friction: 0.0,
            kinetic_friction: 0.0,
            law: Law::default(),
            core: ZERO3,
            flat_normal: ZERO3,
            flat: ZERO,
            // an empty lane has a large gap
            radius: [-1e9; LANES],
            tangential_displacement: ZERO3,
            slipping: ZERO,
            normal: ZERO3,
            arm: ZERO3,
            bias: ZERO,
            relax_bias: ZERO,
            inverse: ZERO,
            impulse: ZERO,
            across: ZERO3,
            sum: ZERO3,
            normal_sum: ZERO,
            deepest: ZERO,
            push: ZERO3,
            twist: ZERO3,
        }
    }

    /// Adds the impulses of a completed substep to the sums.
    pub fn add_up(&mut self) {
        for lane in 0..LANES {
            let impulse = self.impulse[lane];
            self.normal_sum[lane] += impulse;
            for k in 0..3 {
                self.sum[k][lane] += self.normal[k][lane] * impulse + self.across[k][lane];
            }
        }
    }
}

/// All contacts of light nodes of a step.
#[derive(Debug, Default)]
pub(crate) struct NodeTouches {
    batches: Vec<NodeBatch>,
    len: usize,
    next: Visit,
}

/// Additional work of the next visit of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Visit {
    /// Computes normals and gaps.
    First,
    /// Updates the tangential displacement, when the visit is a relaxing one.
    Settle,
    #[default]
    Plain,
}

/// Arrays of bodies and nodes.
pub(crate) struct TouchBlocks<'a> {
    pub velocity: &'a mut [Block],
    pub pose: &'a mut [Block],
    pub inertia: &'a [Block],
    /// Rounding remainders of the velocities of bodies [m/s], by slot.
    pub rest: &'a mut [Vec3],
}

impl TouchBlocks<'_> {
    fn side(&self, slot: u32) -> Side {
        Side::load(&BodyBlocks { velocity: self.velocity, pose: self.pose, inertia: self.inertia }, slot)
    }
}

impl NodeTouches {
    /// Removes all contacts.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// A lane for a contact: in the last batch if that is of the same `slot`, has an empty lane and `new` is false,
    /// otherwise in a new batch.
    pub fn lane(&mut self, slot: u32, new: bool) -> (&mut NodeBatch, usize) {
        let last = self.len.checked_sub(1).map(|k| &self.batches[k]).filter(|b| !new && b.slot == slot);
        let free = last.and_then(|b| b.origin.iter().position(|&o| o == u32::MAX));
        if free.is_none() {
            if self.batches.len() == self.len {
                self.batches.push(NodeBatch::empty(slot));
            } else {
                self.batches[self.len] = NodeBatch::empty(slot);
            }
            self.len += 1;
        }
        (&mut self.batches[self.len - 1], free.unwrap_or(0))
    }

    /// Batches in sweep order.
    pub fn batches(&self) -> &[NodeBatch] {
        &self.batches[..self.len]
    }

    /// Begins a substep: the next correcting sweep computes normals and gaps.
    pub fn renew(&mut self) {
        self.next = Visit::First;
        self.batches[..self.len].iter_mut().for_each(NodeBatch::add_up);
    }

    /// One sweep. Returns the sum of squared changes of impulse.
    pub fn sweep(&mut self, blocks: TouchBlocks<'_>, params: &ContactParams, pass: Pass, lanes: bool) -> Real {
        if self.len == 0 {
            return 0.0;
        }
        let visit = self.next;
        self.next = if pass == Pass::Correct { Visit::Settle } else { Visit::Plain };
        let sweep = Sweep { batches: &mut self.batches[..self.len], blocks, params, pass, visit };
        run(sweep, lanes)
    }
}

/// The arrays that a body is loaded from.
pub(crate) struct BodyBlocks<'a> {
    pub velocity: &'a [Block],
    pub pose: &'a [Block],
    pub inertia: &'a [Block],
}

/// The body of a batch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub x: Vec3,
    pub turn: Mat3,
    pub v: Vec3,
    pub w: Vec3,
    pub inv_mass: Real,
    pub inertia: Sym3,
    /// Upper bound of the eigenvalues of the inverse inertia [1/(kg·m²)].
    pub most: Real,
}

impl Side {
    pub fn load(blocks: &BodyBlocks<'_>, slot: u32) -> Self {
        let at = 2 * slot as usize;
        let (a, b) = (blocks.inertia[at], blocks.inertia[at + 1]);
        let inertia = Sym3 { xx: a[0], yy: a[1], zz: a[2], xy: a[3], xz: b[0], yz: b[1] };
        Self {
            x: vec(blocks.pose[at]),
            turn: Mat3::from_quat(Quat::from_array(blocks.pose[at + 1])),
            v: vec(blocks.velocity[at]),
            w: vec(blocks.velocity[at + 1]),
            inv_mass: blocks.velocity[at][3],
            most: largest(&inertia),
            inertia,
        }
    }
}

/// A bound on the eigenvalues of a symmetric matrix.
pub(crate) fn largest(m: &Sym3) -> Real {
    let rows = [
        m.xx.abs() + m.xy.abs() + m.xz.abs(),
        m.xy.abs() + m.yy.abs() + m.yz.abs(),
        m.xz.abs() + m.yz.abs() + m.zz.abs(),
    ];
    rows[0].max(rows[1]).max(rows[2])
}

struct Sweep<'a> {
    batches: &'a mut [NodeBatch],
    blocks: TouchBlocks<'a>,
    params: &'a ContactParams,
    pass: Pass,
    visit: Visit,
}

impl Kernel for Sweep<'_> {
    type Output = Real;

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> Real {
        let Self { batches, blocks, params, pass, visit } = self;
        let mut squares = 0.0;
        let mut side = blocks.side(batches[0].slot);
        let mut of = batches[0].slot;
        for batch in batches {
            if batch.slot != of {
                of = batch.slot;
                side = blocks.side(of);
            }
            let (mut at, mut sums) = (0, [0.0; LANES]);
            while at < LANES {
                let (velocity, pose) = (Blocks::new(blocks.velocity), Blocks::new(blocks.pose));
                let [vx, vy, vz, w] = L::load_rows4(t, velocity, &batch.node[at..]);
                let v = [vx, vy, vz];
                let (change, v) = if visit == Visit::First {
                    let [x, y, z, _] = L::load_rows4(t, pose, &batch.node[at..]);
                    first::<L>(t, batch, at, ([x, y, z], v, w), &side, params)
                } else {
                    again::<L>(t, batch, at, (v, w), &side, (params, pass, visit))
                };
                L::store_rows4([v[0], v[1], v[2], w], velocity, &batch.store[at..]);
                (change * change).store(&mut sums[at..]);
                at += L::COUNT;
            }
            squares += sums.iter().sum::<Real>();
            if side.inv_mass > 0.0 {
                answer(batch, (blocks.velocity, blocks.rest), &mut side);
            }
        }
        squares
    }
}

/// Applies the impulses of a batch to the body.
#[inline(always)]
fn answer(batch: &NodeBatch, (velocity, rest): (&mut [Block], &mut [Vec3]), side: &mut Side) {
    let sum = |a: &Eight3| Vec3::new(a[0].iter().sum(), a[1].iter().sum(), a[2].iter().sum());
    // compensated sum: hundreds of impulses in a substep, each below the last bit, would be lost for the body but not
    // for the nodes
    let rest = &mut rest[batch.slot as usize];
    let whole = *rest - sum(&batch.push) * side.inv_mass;
    let after = side.v + whole;
    *rest = whole - (after - side.v);
    side.v = after;
    side.w -= side.inertia.mul(sum(&batch.twist));
    let at = 2 * batch.slot as usize;
    for (block, v) in [(at, side.v), (at + 1, side.w)] {
        put(&mut velocity[block], v);
    }
}

/// Matrix times vector.
#[inline(always)]
pub(crate) fn turned<L: Lane>(t: L::Token, m: &Mat3, v: V3<L>) -> V3<L> {
    let (x, y, z) = (splat3::<L>(t, m.x_axis), splat3::<L>(t, m.y_axis), splat3::<L>(t, m.z_axis));
    let along_x = [x[0] * v[0], x[1] * v[0], x[2] * v[0]];
    along(along(along_x, y, v[1]), z, v[2])
}

/// Velocity of the node relative to the material point of the body.
#[inline(always)]
pub(crate) fn seen<L: Lane>(t: L::Token, side: &Side, arm: V3<L>, v: V3<L>) -> V3<L> {
    let spin = cross(splat3::<L>(t, side.w), arm);
    sub(sub(v, splat3::<L>(t, side.v)), spin)
}

/// A vector, given with its squared length, scaled back into a disc of radius `reach`.
#[inline(always)]
pub(crate) fn cut<L: Lane>(t: L::Token, p: V3<L>, square: L, reach: L) -> V3<L> {
    // most resting contacts need no square root and no division
    if !square.any_gt(reach * reach) {
        return p;
    }
    let scale = law::onto_disc(t, square, reach);
    [p[0] * scale, p[1] * scale, p[2] * scale]
}

/// Coefficient of friction.
#[inline(always)]
fn coefficient<L: Lane>(t: L::Token, batch: &NodeBatch, slipping: L) -> L {
    law::coefficient(t, slipping, [L::splat(t, batch.static_friction), L::splat(t, batch.kinetic_friction)])
}

/// The shapes that nodes collide with, in world axes relative to the body.
#[derive(Clone, Copy)]
struct Faced<L> {
    core: V3<L>,
    plane: V3<L>,
    flat: L,
    radius: L,
}

/// Contacts at the start of a substep.
#[derive(Clone, Copy)]
struct Met<L> {
    n: V3<L>,
    arm: V3<L>,
    gap: L,
    bias: L,
    relax_bias: L,
    inverse: L,
}

/// Impulses: along the normal, and tangential.
type Held<L> = (L, V3<L>);

#[inline(always)]
fn meet<L: Lane>(t: L::Token, faced: &Faced<L>, (x, w): (V3<L>, L), side: &Side, p: &ContactParams) -> Met<L> {
    let none = L::splat(t, 0.0);
    let arm = sub(x, splat3::<L>(t, side.x));
    let d = sub(arm, faced.core);
    let length = dot(d, d).sqrt().max(L::splat(t, 1e-12));
    let per = L::splat(t, 1.0).div(length);
    // a plane keeps the normal it was found with
    let Faced { plane, flat, radius, .. } = *faced;
    let n = [
        flat.select_gt(none, plane[0], d[0] * per),
        flat.select_gt(none, plane[1], d[1] * per),
        flat.select_gt(none, plane[2], d[2] * per),
    ];
    let gap = flat.select_gt(none, dot(n, d), length) - radius;
    let bias = law::normal_bias(t, gap, none, L::splat(t, p.bias_rate), p);
    let relax_bias = law::open_bias(t, gap, p);
    let stiff = w + L::splat(t, side.inv_mass) + dot(arm, arm) * L::splat(t, side.most);
    Met { n, arm, gap, bias, relax_bias, inverse: L::splat(t, 1.0).div(stiff) }
}

/// Impulses after a visit: normal first, friction within its disc; `wish`: slip velocity to be removed.
#[inline(always)]
fn solve_normal<L: Lane>(
    t: L::Token,
    met: &Met<L>,
    (un, bias): (L, L),
    wish: V3<L>,
    old: Held<L>,
    friction: L,
) -> Held<L> {
    let none = L::splat(t, 0.0);
    let impulse = law::normal_impulse(t, old.0, met.inverse, un + bias);
    let wanted = along(old.1, wish, none - met.inverse);
    (impulse, cut(t, wanted, dot(wanted, wanted), friction * impulse))
}

/// The tangential part of a vector.
#[inline(always)]
pub(crate) fn level<L: Lane>(t: L::Token, n: V3<L>, v: V3<L>) -> V3<L> {
    along(v, n, L::splat(t, 0.0) - dot(n, v))
}

/// After the correcting sweeps: the tangential displacement since the contact stuck, limited to what the largest
/// friction can hold, and whether it slips.
#[inline(always)]
fn settled<L: Lane>(
    t: L::Token,
    met: &Met<L>,
    held: Held<L>,
    (tangential_displacement, slip): (V3<L>, V3<L>),
    (friction, slipping): (L, L),
    p: &ContactParams,
) -> (V3<L>, L) {
    let none = L::splat(t, 0.0);
    let reach = friction * held.0;
    let limit = law::displacement_limit(t, reach, L::splat(t, 1.0).div(met.inverse), p);
    let (tangential_displacement, creep) = law::settle(t, level(t, met.n, tangential_displacement), slip, limit, p.h);
    let slips = law::slips(t, law::at_cone(t, dot(held.1, held.1), reach), slipping, creep, limit);
    (tangential_displacement, held.0.select_gt(none, slips, none))
}

/// Slip, tangential displacement and whether it slips.
type Sliding<L> = (V3<L>, V3<L>, L);

/// Contacts of a batch as input of its friction law.
#[inline(always)]
fn visit_of<L: Lane>(
    t: L::Token,
    at: usize,
    met: &Met<L>,
    held: Held<L>,
    (slip, displacement, slipping): Sliding<L>,
) -> NodeVisit {
    let mut visit = NodeVisit::default();
    held.0.store(&mut visit.pressed[at..]);
    L::splat(t, 1.0).div(met.inverse).store(&mut visit.response[at..]);
    slipping.store(&mut visit.slipping[at..]);
    store3(met.n, &mut visit.normal, at);
    store3(slip, &mut visit.slip, at);
    store3(held.1, &mut visit.impulse, at);
    store3(level(t, met.n, displacement), &mut visit.displacement, at);
    visit
}

/// The friction law of a batch.
fn law_of(batch: &NodeBatch, h: Real) -> NodeLaw {
    let coefficients = Coefficients { holding: batch.static_friction, slipping: batch.kinetic_friction };
    NodeLaw { law: batch.law, coefficients, h }
}

/// Impulses after a visit, with the friction law of the batch; `rate`: of the spring from the stick point [1/s].
#[inline(always)]
fn solve_by_law<L: Lane>(
    t: L::Token,
    batch: &NodeBatch,
    (at, rate): (usize, Real),
    (met, un, bias): (&Met<L>, L, L),
    old: Held<L>,
    (state, p): (Sliding<L>, &ContactParams),
) -> Held<L> {
    let impulse = law::normal_impulse(t, old.0, met.inverse, un + bias);
    let visit = visit_of(t, at, met, (impulse, old.1), state);
    let of = law_of(batch, p.h).tractions(&visit, rate, at..at + L::COUNT);
    let wish = along(state.0, load3(t, &of.bias, at), L::splat(t, 1.0));
    let wanted = along(old.1, wish, L::splat(t, 0.0) - met.inverse);
    (impulse, cut(t, wanted, dot(wanted, wanted), L::load(t, &of.radius[at..])))
}

/// As `settled`, with the friction law of the batch.
#[inline(always)]
fn settled_by_law<L: Lane>(
    t: L::Token,
    batch: &NodeBatch,
    at: usize,
    met: &Met<L>,
    held: Held<L>,
    (state, p): (Sliding<L>, &ContactParams),
) -> (V3<L>, L) {
    let (none, lanes) = (L::splat(t, 0.0), at..at + L::COUNT);
    let own = law_of(batch, p.h);
    let mut visit = visit_of(t, at, met, held, state);
    let reach = L::load(t, &own.tractions(&visit, 0.0, lanes.clone()).radius[at..]);
    let limit = law::displacement_limit(t, reach, L::splat(t, 1.0).div(met.inverse), p);
    let (moved, creep) = law::settle(t, level(t, met.n, state.1), state.0, limit, p.h);
    let slips = law::slips(t, law::at_cone(t, dot(held.1, held.1), reach), state.2, creep, limit);
    let slips = held.0.select_gt(none, slips, none);
    own.follow(&mut visit, lanes);
    let moved = if batch.law.has_bristle() { load3(t, &visit.displacement, at) } else { moved };
    (moved, if batch.law.decides_slip() { L::load(t, &visit.slipping[at..]) } else { slips })
}

/// Normals and gaps of the substep, and its first correcting visit from zero impulses. Returns the change of impulse
/// and the velocities after it.
#[inline(always)]
fn first<L: Lane>(
    t: L::Token,
    batch: &mut NodeBatch,
    at: usize,
    (x, v, w): (V3<L>, V3<L>, L),
    side: &Side,
    p: &ContactParams,
) -> (L, V3<L>) {
    let none = L::splat(t, 0.0);
    let faced = Faced {
        core: turned(t, &side.turn, load3(t, &batch.core, at)),
        plane: turned(t, &side.turn, load3(t, &batch.flat_normal, at)),
        flat: L::load(t, &batch.flat[at..]),
        radius: L::load(t, &batch.radius[at..]),
    };
    let met = meet(t, &faced, (x, w), side, p);
    let (u, tangential_displacement) =
        (seen(t, side, met.arm, v), turned(t, &side.turn, load3(t, &batch.tangential_displacement, at)));
    let wish = along(level(t, met.n, u), level(t, met.n, tangential_displacement), L::splat(t, p.friction_rate));
    let slipping = L::load(t, &batch.slipping[at..]);
    let friction = coefficient(t, batch, slipping);
    let old = (none, [none; 3]);
    let (impulse, across) = if batch.law.is_plain() {
        solve_normal(t, &met, (dot(met.n, u), met.bias), wish, old, friction)
    } else {
        let state = (level(t, met.n, u), tangential_displacement, slipping);
        solve_by_law(t, batch, (at, p.friction_rate), (&met, dot(met.n, u), met.bias), old, (state, p))
    };

    store3(met.n, &mut batch.normal, at);
    store3(met.arm, &mut batch.arm, at);
    met.bias.store(&mut batch.bias[at..]);
    met.relax_bias.store(&mut batch.relax_bias[at..]);
    met.inverse.store(&mut batch.inverse[at..]);
    impulse.store(&mut batch.impulse[at..]);
    store3(across, &mut batch.across, at);
    L::load(t, &batch.deepest[at..]).max(none - met.gap).store(&mut batch.deepest[at..]);
    let change = along(across, met.n, impulse);
    (impulse, apply(batch, at, (v, w), (met.arm, change)))
}

/// A further visit. The first one of a relaxing pass also updates the tangential displacement.
#[inline(always)]
fn again<L: Lane>(
    t: L::Token,
    batch: &mut NodeBatch,
    at: usize,
    (v, w): (V3<L>, L),
    side: &Side,
    (p, pass, visit): (&ContactParams, Pass, Visit),
) -> (L, V3<L>) {
    let met = Met {
        n: load3(t, &batch.normal, at),
        arm: load3(t, &batch.arm, at),
        gap: L::splat(t, 0.0),
        bias: L::load(t, &batch.bias[at..]),
        relax_bias: L::load(t, &batch.relax_bias[at..]),
        inverse: L::load(t, &batch.inverse[at..]),
    };
    let old = (L::load(t, &batch.impulse[at..]), load3(t, &batch.across, at));
    let u = seen(t, side, met.arm, v);
    let slip = level(t, met.n, u);
    let mut slipping = L::load(t, &batch.slipping[at..]);
    let (bias, wish) = if pass == Pass::Correct {
        let tangential_displacement = turned(t, &side.turn, load3(t, &batch.tangential_displacement, at));
        (met.bias, along(slip, level(t, met.n, tangential_displacement), L::splat(t, p.friction_rate)))
    } else {
        if visit == Visit::Settle {
            let tangential_displacement = turned(t, &side.turn, load3(t, &batch.tangential_displacement, at));
            let of = (coefficient(t, batch, slipping), slipping);
            let (tangential_displacement, slips) = if batch.law.is_plain() {
                settled(t, &met, old, (tangential_displacement, slip), of, p)
            } else {
                settled_by_law(t, batch, at, &met, old, ((slip, tangential_displacement, slipping), p))
            };
            store3(turned(t, &side.turn.transpose(), tangential_displacement), &mut batch.tangential_displacement, at);
            slips.store(&mut batch.slipping[at..]);
            slipping = slips;
        }
        (met.relax_bias, slip)
    };
    let friction = coefficient(t, batch, slipping);
    let (impulse, across) = if batch.law.is_plain() {
        solve_normal(t, &met, (dot(met.n, u), bias), wish, old, friction)
    } else {
        let rate = if pass == Pass::Correct { p.friction_rate } else { 0.0 };
        let displacement = turned(t, &side.turn, load3(t, &batch.tangential_displacement, at));
        solve_by_law(t, batch, (at, rate), (&met, dot(met.n, u), bias), old, ((slip, displacement, slipping), p))
    };
    impulse.store(&mut batch.impulse[at..]);
    store3(across, &mut batch.across, at);
    let change = along(sub(across, old.1), met.n, impulse - old.0);
    (impulse - old.0, apply(batch, at, (v, w), (met.arm, change)))
}

/// Velocities of nodes after an impulse, whose reaction is stored for the body.
#[inline(always)]
fn apply<L: Lane>(batch: &mut NodeBatch, at: usize, (v, w): (V3<L>, L), (arm, change): (V3<L>, V3<L>)) -> V3<L> {
    store3(change, &mut batch.push, at);
    store3(cross(arm, change), &mut batch.twist, at);
    along(v, change, w)
}
