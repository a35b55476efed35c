//! Nodes of a particle body as a structure of arrays, and the passes over all of them in SIMD lanes: positions x*
//! before the sweeps, velocities from the goals after them.
//!
//! Positions are relative to an origin near the body: the precision is then relative to the size of the body, not to
//! its distance from the world origin.
//!
//! The rigid component is removed from the change of velocity, as `parts.rs` does for several parts. With arms r from
//! any origin, the sums M, Σ m r, Σ m r rᵀ, Σ m u and Σ m r × u give the centre of mass c, the inertia about it, linear
//! and angular momentum (parallel axis theorem), and so the rigid motion a + ω × (r − c) with the linear and angular
//! momentum of u.

use crate::deformable::cloth::fused_substep::{After, Land, Touched};
use crate::deformable::parts::spin_of;
use crate::math::lane3::{V3, add, along, cross, scale, splat3, sub};
use crate::math::{Block, Blocks, Columns, Eight, Kernel, LANES, Lane, Mat3, Real, Sym3, Vec3, run};

/// Positions p, inverse mass w, then x, v, acceleration of external forces, mass.
const COUNT: usize = 14;
const INVERSE: usize = 3;
const X: usize = 4;
const V: usize = 7;
const MASS: usize = 13;
/// Number of position moments; each is summed per lane, so that the SIMD and the scalar path add in the same order.
const MOMENTS: usize = 10;

/// The nodes, in an internal order: *slots*.
#[derive(Clone, Debug)]
pub struct ParticleSoa {
    columns: Columns<COUNT>,
    /// Node of each slot; slots after the last node repeat it with zero mass. (slot_count)
    nodes: Vec<u32>,
    /// Slots without a node.
    spare: Vec<bool>,
    /// Positions are relative to this point [m].
    pub origin: Vec3,
    /// True when an inverse mass is 0: a pinned node absorbs momentum.
    held: bool,
    /// Node that each slot is written to, `u32::MAX` for none. (slot_count)
    writes: Vec<u32>,
    /// For a step in the structure of arrays (`fused_substep.rs`): moments of the positions at its start, the linear
    /// and angular momentum added by the rows, and the motion that removes it.
    moments: [Real; MOMENTS],
    gained: [Real; 6],
    rigid: Rigid,
    /// Inverse masses have changed since `take_stale`.
    stale: bool,
    /// Acceleration of all nodes that are not pinned, when it is uniform: the acceleration columns are not read then
    /// [m/s²].
    fall: Option<Vec3>,
}

/// velocity + spin × r.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rigid {
    pub velocity: Vec3,
    pub spin: Vec3,
}

/// Eight values of each of three columns.
pub(crate) type Three<'a> = [&'a [Eight]; 3];
pub(crate) type ThreeMut<'a> = [&'a mut [Eight]; 3];

impl ParticleSoa {
    /// Nodes in this order, `u32::MAX` for a slot without a node, with their masses [kg].
    pub fn new(order: &[u32], masses: &[Real]) -> Self {
        let mut columns = Columns::<COUNT>::new(order.len());
        let mut nodes = order.to_vec();
        nodes.resize(columns.len(), u32::MAX);
        let spare: Vec<bool> = nodes.iter().map(|&n| n == u32::MAX).collect();
        let last = masses.len().saturating_sub(1) as u32;
        nodes.iter_mut().filter(|n| **n == u32::MAX).for_each(|n| *n = last);
        let [.., mass] = columns.columns_mut();
        for (slot, to) in mass.as_flattened_mut().iter_mut().enumerate() {
            *to = if spare[slot] { 0.0 } else { masses[nodes[slot] as usize] };
        }
        // an invalid inverse mass: the first step sets the true one
        let [_, _, _, inverse, ..] = columns.columns_mut();
        inverse.as_flattened_mut().fill(-1.0);
        let writes = nodes.iter().zip(&spare).map(|(&n, &spare)| if spare { u32::MAX } else { n }).collect();
        let (moments, gained, rigid) = ([0.0; MOMENTS], [0.0; 6], Rigid::default());
        let (origin, held, stale) = (Vec3::ZERO, false, true);
        Self { columns, nodes, spare, origin, held, writes, moments, gained, rigid, stale, fall: None }
    }

    /// Number of slots, a multiple of eight.
    pub fn slot_count(&self) -> usize {
        self.columns.len()
    }

    /// The slot of every node.
    pub fn slots(&self) -> Vec<u32> {
        let mut slots = vec![0; self.nodes.last().map_or(0, |&n| n as usize + 1).max(self.nodes.len())];
        for (slot, (&node, &spare)) in self.nodes.iter().zip(&self.spare).enumerate() {
            if !spare {
                slots[node as usize] = slot as u32;
            }
        }
        slots
    }

    /// All columns, those of positions and inverse masses first: the storage that strips operate on.
    pub fn columns_mut(&mut self) -> &mut Columns<COUNT> {
        &mut self.columns
    }

    /// Inverse masses by slot [1/kg].
    pub fn inverse_masses(&self) -> &[Real] {
        self.columns.column(INVERSE).as_flattened()
    }

    /// Updates inverse masses and with them the pinned nodes; they are constant within a step.
    pub fn learn_pins(&mut self, inverse_mass: impl Fn(u32) -> Real) {
        let (mut stale, mut held) = (self.stale, false);
        let [_, _, _, inverse, ..] = self.columns.columns_mut();
        for ((to, &node), &spare) in inverse.as_flattened_mut().iter_mut().zip(&self.nodes).zip(&self.spare) {
            let w = if spare { 0.0 } else { inverse_mass(node) };
            stale |= *to != w;
            held |= w == 0.0 && !spare;
            *to = w;
        }
        (self.held, self.stale) = (held, stale);
    }

    /// Whether inverse masses have changed since the last call.
    pub fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.stale)
    }

    /// Loads positions, relative to this origin, and velocities.
    pub fn load(&mut self, origin: Vec3, x: Blocks<'_>, v: Blocks<'_>, lanes: bool) {
        self.origin = origin;
        let [_, _, _, _, x0, x1, x2, v0, v1, v2, ..] = self.columns.columns_mut();
        let to = ([x0, x1, x2], [v0, v1, v2]);
        run(Load { nodes: &self.nodes, from: (x, v), to, origin }, lanes);
    }

    /// Acceleration by external forces [N], one per node or none at all, and by gravity [m/s²].
    pub fn push(&mut self, force: &[Vec3], gravity: Vec3) {
        // usually gravity alone
        let free = force.iter().fold(true, |none, f| none & (*f == Vec3::ZERO));
        self.fall = free.then_some(gravity);
        if free {
            return;
        }
        let [_, _, _, w, _, _, _, _, _, _, a0, a1, a2, m] = self.columns.columns_mut();
        let columns = [a0, a1, a2].map(|c| c.as_flattened_mut());
        let weights = w.as_flattened().iter().zip(m.as_flattened());
        for (slot, (&node, (&w, &m))) in self.nodes.iter().zip(weights).enumerate() {
            let a = (force[node as usize] + gravity * m) * w;
            (columns[0][slot], columns[1][slot], columns[2][slot]) = (a.x, a.y, a.z);
        }
    }

    /// v ← keep v + h a, of nodes that are not pinned, and p = x + h v.
    pub fn begin(&mut self, h: Real, keep: Real, lanes: bool) {
        let [p0, p1, p2, w, x0, x1, x2, v0, v1, v2, a0, a1, a2, _] = self.columns.columns_mut();
        let pull = Pull { fall: self.fall, a: [a0, a1, a2] };
        let from: (Three<'_>, Pull<'_>, &[Eight]) = ([x0, x1, x2], pull, w);
        run(Begin { from, p: [p0, p1, p2], v: [v0, v1, v2], h, keep }, lanes);
    }

    /// v += (p − (x + h v))/h without its rigid component: recomputing x* with the same sum gives the same bits.
    pub fn end(&mut self, h: Real, lanes: bool) {
        let held = self.held;
        let [p0, p1, p2, _, x0, x1, x2, v0, v1, v2, _, _, _, m] = self.columns.columns_mut();
        let x: Three<'_> = [x0, x1, x2];
        let v: Three<'_> = [&*v0, &*v1, &*v2];
        let shift = run(Shift { x, v, m, p: [&mut *p0, &mut *p1, &mut *p2], h }, lanes);
        let motion = if held { Rigid::default() } else { rigid_part(&run(Moments { x, m }, lanes), shift) };
        run(Take { x, shift: [p0, p1, p2], v: [v0, v1, v2], motion }, lanes);
    }

    /// Positions with inverse masses as blocks, in the order of slots.
    pub fn spill(&self, places: &mut [Block], lanes: bool) {
        let p = [0, 1, 2, INVERSE].map(|k| self.columns.column(k));
        run(Spill { p, places: &mut places[..self.columns.len()] }, lanes);
    }

    /// Positions x at the start of the substep, with inverse masses as blocks, in the order of slots.
    pub fn spill_x(&self, places: &mut [Block], lanes: bool) {
        let p = [X, X + 1, X + 2, INVERSE].map(|k| self.columns.column(k));
        run(Spill { p, places: &mut places[..self.columns.len()] }, lanes);
    }

    /// Positions from blocks.
    pub fn collect(&mut self, places: &[Block], lanes: bool) {
        let count = self.columns.len();
        let [p0, p1, p2, ..] = self.columns.columns_mut();
        run(Collect { p: [p0, p1, p2], places: &places[..count] }, lanes);
    }

    /// The same for the positions x at the start of the substep.
    pub fn collect_x(&mut self, places: &[Block], lanes: bool) {
        let count = self.columns.len();
        let [_, _, _, _, x0, x1, x2, ..] = self.columns.columns_mut();
        run(Collect { p: [x0, x1, x2], places: &places[..count] }, lanes);
    }

    /// Velocities into blocks.
    pub fn store_v(&self, v: &mut [Block]) {
        let columns = [V, V + 1, V + 2].map(|k| self.columns.column(k).as_flattened());
        for (slot, &node) in self.nodes.iter().enumerate().filter(|(slot, _)| !self.spare[*slot]) {
            let to = &mut v[node as usize];
            (to[0], to[1], to[2]) = (columns[0][slot], columns[1][slot], columns[2][slot]);
        }
    }

    /// Begins a step in the structure of arrays: no momentum added yet.
    pub fn start(&mut self, lanes: bool) {
        (self.gained, self.rigid) = ([0.0; 6], Rigid::default());
        self.moments = self.moments_now(lanes);
    }

    fn moments_now(&self, lanes: bool) -> [Real; MOMENTS] {
        let x = [X, X + 1, X + 2].map(|k| self.columns.column(k));
        run(Moments { x, m: self.columns.column(MASS) }, lanes)
    }

    /// From goals to the goals of the next phase (`fused_substep.rs`); goals are in `places`, or in columns. Returns
    /// the sum of squared impulses of contacts.
    pub(crate) fn fused_substep(
        &mut self,
        places: Option<&mut [Block]>,
        touched: Touched<'_>,
        (h, after, lanes): (Real, After, bool),
    ) -> Real {
        let (rigid, count, fall) = (self.rigid, self.columns.len(), self.fall);
        let [p0, p1, p2, w, x0, x1, x2, v0, v1, v2, a0, a1, a2, m] = self.columns.columns_mut();
        let (x, v): (ThreeMut<'_>, ThreeMut<'_>) = ([x0, x1, x2], [v0, v1, v2]);
        let pull = Pull { fall, a: [a0, a1, a2] };
        let (w, m): (&[Eight], &[Eight]) = (w, m);
        let (gained, squares) = match places {
            Some(places) => {
                let goals = &mut places[..count];
                run(Land { goals, x, v, w, m, pull, touched, rigid, h, after }, lanes)
            }
            None => run(Land { goals: [p0, p1, p2], x, v, w, m, pull, touched, rigid, h, after }, lanes),
        };
        if !self.held {
            self.gained = std::array::from_fn(|k| self.gained[k] + gained[k]);
            self.rigid = rigid_part(&self.moments, self.gained);
        }
        squares
    }

    /// Sets the positions to the goals; these are in `places`, or in columns.
    pub fn settle(&mut self, places: Option<&[Block]>, lanes: bool) {
        if let Some(places) = places {
            self.collect(places, lanes);
        }
        let [p0, p1, p2, _, x0, x1, x2, ..] = self.columns.columns_mut();
        for (x, p) in [(x0, p0), (x1, p1), (x2, p2)] {
            x.copy_from_slice(p);
        }
    }

    /// Ends a step in the structure of arrays: removes the momentum that the rows added in the last substep, and writes
    /// positions and velocities back.
    pub fn finish(&mut self, x: Blocks<'_>, v: Blocks<'_>, lanes: bool) {
        if self.held {
            return self.store(x, v);
        }
        let motion = rigid_part(&self.moments_now(lanes), self.gained);
        let column = |k: usize| self.columns.column(k);
        let from = ([X, X + 1, X + 2].map(column), [V, V + 1, V + 2].map(column), column(INVERSE));
        run(Give { from, nodes: &self.writes, to: (x, v), origin: self.origin, motion }, lanes);
    }

    /// Writes positions and velocities back; a pinned node with zero velocity keeps its position to the last bit.
    fn store(&self, x: Blocks<'_>, v: Blocks<'_>) {
        let column = |k: usize| self.columns.column(k).as_flattened();
        let (w, o) = (column(INVERSE), self.origin);
        let (at, speed) = ([X, X + 1, X + 2].map(column), [V, V + 1, V + 2].map(column));
        for (slot, &node) in self.nodes.iter().enumerate().filter(|(slot, _)| !self.spare[*slot]) {
            let u = [speed[0][slot], speed[1][slot], speed[2][slot]];
            v.write(node, [u[0], u[1], u[2], w[slot]]);
            if w[slot] > 0.0 || u != [0.0; 3] {
                x.write(node, [o.x + at[0][slot], o.y + at[1][slot], o.z + at[2][slot], w[slot]]);
            }
        }
    }
}

/// The rigid motion with these sums.
fn rigid_part(moments: &[Real; MOMENTS], [px, py, pz, lx, ly, lz]: [Real; 6]) -> Rigid {
    let [mass, mx, my, mz, xx, yy, zz, xy, xz, yz] = *moments;
    if !(mass > 0.0) {
        return Rigid::default();
    }
    let centre = Vec3::new(mx, my, mz) / mass;
    let momentum = Vec3::new(px, py, pz);
    // about the centre of mass: second moments minus those of the total mass there
    let second = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
        - crate::math::outer(centre, centre) * mass;
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    let inertia = Sym3::from_mat(&(Mat3::from_diagonal(Vec3::splat(trace)) - second));
    let spin = spin_of(inertia, Vec3::new(lx, ly, lz) - centre.cross(momentum));
    Rigid { velocity: momentum / mass - spin.cross(centre), spin }
}

/// Three values of each lane from `at` of a group on.
#[inline(always)]
pub(crate) fn three<L: Lane>(t: L::Token, c: &[&[Eight]; 3], group: usize, at: usize) -> V3<L> {
    [L::load(t, &c[0][group][at..]), L::load(t, &c[1][group][at..]), L::load(t, &c[2][group][at..])]
}

#[inline(always)]
pub(crate) fn three_mut<L: Lane>(t: L::Token, c: &ThreeMut<'_>, group: usize, at: usize) -> V3<L> {
    [L::load(t, &c[0][group][at..]), L::load(t, &c[1][group][at..]), L::load(t, &c[2][group][at..])]
}

#[inline(always)]
pub(crate) fn put<L: Lane>(v: V3<L>, c: &mut ThreeMut<'_>, group: usize, at: usize) {
    v[0].store(&mut c[0][group][at..]);
    v[1].store(&mut c[1][group][at..]);
    v[2].store(&mut c[2][group][at..]);
}

struct Load<'a> {
    nodes: &'a [u32],
    from: (Blocks<'a>, Blocks<'a>),
    to: (ThreeMut<'a>, ThreeMut<'a>),
    origin: Vec3,
}

impl Kernel for Load<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { nodes, from: (x, v), to: (mut to_x, mut to_v), origin } = self;
        let from = splat3::<L>(t, origin);
        for (group, nodes) in nodes.as_chunks::<LANES>().0.iter().enumerate() {
            let mut at = 0;
            while at < LANES {
                let [x, y, z, _] = L::load_rows4(t, x, &nodes[at..]);
                put(sub([x, y, z], from), &mut to_x, group, at);
                let [x, y, z, _] = L::load_rows4(t, v, &nodes[at..]);
                put([x, y, z], &mut to_v, group, at);
                at += L::COUNT;
            }
        }
    }
}

/// Acceleration of nodes: uniform for all free nodes, or per node [m/s²].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pull<'a> {
    pub fall: Option<Vec3>,
    pub a: Three<'a>,
}

impl Pull<'_> {
    /// h a of nodes with these inverse masses.
    #[inline(always)]
    pub fn kick<L: Lane>(&self, t: L::Token, w: L, h: L, group: usize, at: usize) -> V3<L> {
        let Some(fall) = self.fall else { return scale(three(t, &self.a, group, at), h) };
        let (none, kick) = (L::splat(t, 0.0), scale(splat3(t, fall), h));
        [w.select_gt(none, kick[0], none), w.select_gt(none, kick[1], none), w.select_gt(none, kick[2], none)]
    }
}

struct Begin<'a> {
    /// Positions, accelerations, inverse masses.
    from: (Three<'a>, Pull<'a>, &'a [Eight]),
    p: ThreeMut<'a>,
    v: ThreeMut<'a>,
    h: Real,
    keep: Real,
}

impl Kernel for Begin<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { from: (x, pull, w), mut p, mut v, h, keep } = self;
        let (one, none) = (L::splat(t, 1.0), L::splat(t, 0.0));
        let (h, keep) = (L::splat(t, h), L::splat(t, keep));
        for group in 0..w.len() {
            let mut at = 0;
            while at < LANES {
                let w = L::load(t, &w[group][at..]);
                let kept = scale(three_mut(t, &v, group, at), w.select_gt(none, keep, one));
                let after = add(kept, pull.kick(t, w, h, group, at));
                put(after, &mut v, group, at);
                put(along(three(t, &x, group, at), after, h), &mut p, group, at);
                at += L::COUNT;
            }
        }
    }
}

/// M, Σ m r and Σ m r rᵀ of positions.
struct Moments<'a> {
    x: Three<'a>,
    m: &'a [Eight],
}

impl Kernel for Moments<'_> {
    type Output = [Real; MOMENTS];

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> [Real; MOMENTS] {
        let Self { x, m } = self;
        let mut sums = L::parts([L::splat(t, 0.0); MOMENTS]);
        for group in 0..m.len() {
            let mut at = 0;
            while at < LANES {
                let (m, r) = (L::load(t, &m[group][at..]), three(t, &x, group, at));
                let (mr, sums) = (scale(r, m), &mut sums[at]);
                sums[0] = sums[0] + m;
                for k in 0..3 {
                    sums[1 + k] = sums[1 + k] + mr[k];
                    sums[4 + k] = sums[4 + k] + mr[k] * r[k];
                }
                sums[7] = sums[7] + mr[0] * r[1];
                sums[8] = sums[8] + mr[0] * r[2];
                sums[9] = sums[9] + mr[1] * r[2];
                at += L::COUNT;
            }
        }
        total::<L, MOMENTS>(sums)
    }
}

/// p ← (p − (x + h v))/h = u, and Σ m u and Σ m r × u. Separate from the moments: sixteen sums exceed the number of
/// registers.
struct Shift<'a> {
    x: Three<'a>,
    v: Three<'a>,
    m: &'a [Eight],
    p: ThreeMut<'a>,
    h: Real,
}

impl Kernel for Shift<'_> {
    type Output = [Real; 6];

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> [Real; 6] {
        let Self { x, v, m, mut p, h } = self;
        let mut sums = L::parts([L::splat(t, 0.0); 6]);
        let (h, rate) = (L::splat(t, h), L::splat(t, 1.0 / h));
        for group in 0..m.len() {
            let mut at = 0;
            while at < LANES {
                let r = three(t, &x, group, at);
                let star = along(r, three(t, &v, group, at), h);
                let u = scale(sub(three_mut(t, &p, group, at), star), rate);
                put(u, &mut p, group, at);
                let (mu, sums) = (scale(u, L::load(t, &m[group][at..])), &mut sums[at]);
                let spin = cross(r, mu);
                for k in 0..3 {
                    sums[k] = sums[k] + mu[k];
                    sums[3 + k] = sums[3 + k] + spin[k];
                }
                at += L::COUNT;
            }
        }
        total::<L, 6>(sums)
    }
}

/// Sums the lanes in order from the first, as one sum.
#[inline(always)]
pub(crate) fn total<L: Lane, const N: usize>(sums: L::Parts<[L; N]>) -> [Real; N] {
    let mut out = [0.0; N];
    for k in 0..N {
        let mut lane = 0;
        while lane < LANES {
            let mut numbers = [0.0; LANES];
            sums[lane][k].store(&mut numbers);
            for number in &numbers[..L::COUNT] {
                out[k] += number;
            }
            lane += L::COUNT;
        }
    }
    out
}

/// v += shift − (velocity + spin × x).
struct Take<'a> {
    x: Three<'a>,
    shift: ThreeMut<'a>,
    v: ThreeMut<'a>,
    motion: Rigid,
}

impl Kernel for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { x, shift, mut v, motion } = self;
        let (a, spin) = (splat3::<L>(t, motion.velocity), splat3::<L>(t, motion.spin));
        let one = L::splat(t, 1.0);
        for group in 0..x[0].len() {
            let mut at = 0;
            while at < LANES {
                let rigid = along(a, cross(spin, three(t, &x, group, at)), one);
                let change = sub(three_mut(t, &shift, group, at), rigid);
                put(along(three_mut(t, &v, group, at), change, one), &mut v, group, at);
                at += L::COUNT;
            }
        }
    }
}

/// Writes positions and velocities back to their nodes, without a rigid motion.
struct Give<'a> {
    /// Positions, velocities, inverse masses.
    from: (Three<'a>, Three<'a>, &'a [Eight]),
    nodes: &'a [u32],
    to: (Blocks<'a>, Blocks<'a>),
    origin: Vec3,
    motion: Rigid,
}

impl Kernel for Give<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { from: (x, v, w), nodes, to: (to_x, to_v), origin, motion } = self;
        let (origin, one) = (splat3::<L>(t, origin), L::splat(t, 1.0));
        let (a, spin) = (splat3::<L>(t, motion.velocity), splat3::<L>(t, motion.spin));
        for (group, nodes) in nodes.as_chunks::<LANES>().0.iter().enumerate() {
            let mut at = 0;
            while at < LANES {
                let (r, w) = (three(t, &x, group, at), L::load(t, &w[group][at..]));
                let u = sub(sub(three(t, &v, group, at), a), cross(spin, r));
                let there = along(origin, r, one);
                L::store_rows4([u[0], u[1], u[2], w], to_v, &nodes[at..]);
                L::store_rows4([there[0], there[1], there[2], w], to_x, &nodes[at..]);
                at += L::COUNT;
            }
        }
    }
}

struct Spill<'a> {
    p: [&'a [Eight]; 4],
    places: &'a mut [Block],
}

impl Kernel for Spill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { p: [x, y, z, w], places } = self;
        for (group, places) in places.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut at = 0;
            while at < LANES {
                let [x, y, z] = three(t, &[x, y, z], group, at);
                L::store_blocks([x, y, z, L::load(t, &w[group][at..])], &mut places[at..]);
                at += L::COUNT;
            }
        }
    }
}

struct Collect<'a> {
    p: ThreeMut<'a>,
    places: &'a [Block],
}

impl Kernel for Collect<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { mut p, places } = self;
        for (group, places) in places.as_chunks::<LANES>().0.iter().enumerate() {
            let mut at = 0;
            while at < LANES {
                let [x, y, z, _] = L::load_blocks(t, &places[at..]);
                put([x, y, z], &mut p, group, at);
                at += L::COUNT;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::kernel::rigid_batch::ContactParams;

    /// Thirty-seven nodes in an internal order, with gaps.
    fn soa() -> (ParticleSoa, Vec<Block>, Vec<Real>) {
        let masses: Vec<Real> = (0..37).map(|k| 0.01 * (1 + k % 4) as Real).collect();
        let order: Vec<u32> = (0..52).map(|k| if k % 4 == 3 { u32::MAX } else { k - k / 4 }).collect();
        let order: Vec<u32> = order.into_iter().map(|n| if n < 37 { n } else { u32::MAX }).collect();
        let x = (0..37).map(|k| [(k % 5) as Real * 0.1, (k % 7) as Real * 0.03, (k % 3) as Real * 0.1, 9.0]).collect();
        (ParticleSoa::new(&order, &masses), x, masses)
    }

    #[test]
    fn a_rigid_change_of_velocity_is_removed_completely_in_lanes_and_in_scalars() {
        let (velocity, spin) = (Vec3::new(0.3, -1.0, 2.0), Vec3::new(1.0, 0.5, -2.0));
        let h = 0.01;
        let made = [true, false].map(|lanes| {
            let (mut soa, mut x, masses) = soa();
            let mut v: Vec<Block> = masses.iter().map(|m| [0.0, 0.0, 0.0, 1.0 / m]).collect();
            soa.learn_pins(|node| 1.0 / masses[node as usize]);
            soa.load(Vec3::ZERO, Blocks::new(&mut x), Blocks::new(&mut v), lanes);
            soa.begin(h, 1.0, lanes);
            // goals: every node at its position after a rigid motion
            let [p0, p1, p2, ..] = soa.columns.columns_mut();
            let columns = [p0, p1, p2].map(|c| c.as_flattened_mut());
            for slot in 0..columns[0].len() {
                let r = Vec3::new(columns[0][slot], columns[1][slot], columns[2][slot]);
                let to = r + (velocity + spin.cross(r)) * h;
                (columns[0][slot], columns[1][slot], columns[2][slot]) = (to.x, to.y, to.z);
            }
            soa.end(h, lanes);
            soa.store_v(&mut v);
            v
        });
        assert_eq!(made[0], made[1]);
        // rounding error of positions of one metre, over h
        let slip = 1.0 / h * 4.0 * Real::EPSILON;
        assert!(made[0].iter().all(|v| v[..3].iter().all(|c| c.abs() < slip)), "{:?}", made[0]);
    }

    #[test]
    fn free_nodes_fall_and_pinned_nodes_keep_every_bit() {
        let (mut soa, mut x, masses) = soa();
        let was = x.clone();
        let pinned = 5;
        let weight = |node: u32| if node == pinned { 0.0 } else { 1.0 / masses[node as usize] };
        let mut v: Vec<Block> = (0..37).map(|k| [0.1, 0.2, 0.3, weight(k)]).collect();
        v[pinned as usize] = [0.0; 4];
        soa.learn_pins(weight);
        soa.load(Vec3::new(0.3, 0.7, 0.1), Blocks::new(&mut x), Blocks::new(&mut v), true);
        soa.push(&[Vec3::ZERO; 37], Vec3::new(0.0, -10.0, 0.0));
        soa.start(true);
        soa.begin(0.5, 1.0, true);
        let params = ContactParams { h: 0.5, ..ContactParams::default() };
        soa.fused_substep(
            None,
            Touched { touches: &mut [], coupled: &mut [], params: &params, self_contact: None },
            (0.5, After::End, true),
        );
        soa.finish(Blocks::new(&mut x), Blocks::new(&mut v), true);
        for k in 0..37 {
            if k == pinned as usize {
                assert_eq!((x[k], v[k]), (was[k], [0.0; 4]));
                continue;
            }
            let fell = [0.1, 0.2 - 5.0, 0.3];
            for c in 0..3 {
                assert!((v[k][c] - fell[c]).abs() < 1e-5 && (x[k][c] - was[k][c] - 0.5 * fell[c]).abs() < 1e-5);
            }
        }
    }
}
