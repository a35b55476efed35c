//! The contact kernel: sixteen manifolds of up to four points at a time, one colour after the other.
//!
//! One contact point between bodies a and b with lever arms r_a, r_b, normal n (from a to b) and tangents t₁, t₂ = n ×
//! t₁ is three rows with
//!
//! ```text
//!   J_n = [−n, −(r_a × n), n, r_b × n],   J_n·v = n·(v_b + ω_b × r_b − v_a − ω_a × r_a)
//!   normal:   J_n·v + bias + softness·λ_n = 0,  λ_n ≥ 0
//!   tangents: J_t·v + rate·s + softness·λ_t = 0,  |λ_t| ≤ μ λ_n   (s: tangential displacement since it stuck)
//! ```
//!
//! (ICD 4.3, 4.4 with the errata: cone bound by the normal impulse, bias −β·gap.) The rows are never stored: lever arms
//! and effective masses are, and impulses are applied through inverse mass and inverse inertia. Lever arms, normal and
//! gap are recomputed in every substep from the body-fixed positions of the points. The kernel exists once, generic
//! over [`Number`]; with one lane it is the scalar path, and `contact/kernel/rigid_oracle.rs` checks it against plain
//! rows.

use crate::contact::kernel::rigid_batch::{ContactBatch, ContactParams, PointLanes};
use crate::contact::kernel::rigid_law::{
    advance_bristles, align, own_friction, second_tangent, settle_by_law, visit_of,
};
use crate::contact::law;
use crate::math::lane3::{V3, add, cross, dot, load3, scale, store3, sub};
use crate::math::{Blocks, Number, Real, Sixteen, Sixteen3};

/// The arrays of the bodies: velocities (v, 1/m | ω, –), poses (x, – | q), inverse inertia (xx yy zz xy | xz yz – –).
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyBlocks<'a> {
    pub velocity: Blocks<'a>,
    /// Velocities at the start of the step, while the first substep is prepared; in the relaxing sweeps those that
    /// positions are integrated with.
    pub position_velocity: Blocks<'a>,
    pub pose: Blocks<'a>,
    pub inertia: Blocks<'a>,
}

/// Rotates v by the quaternion q: v + 2 q_v × (q_v × v + q_w v).
#[inline(always)]
pub(super) fn rotate<L: Number>(q: [L; 4], v: V3<L>) -> V3<L> {
    let axis = [q[0], q[1], q[2]];
    let t = add(cross(axis, v), scale(v, q[3]));
    let u = cross(axis, t);
    add(v, add(u, u))
}

/// Inverse inertia times a vector.
#[inline(always)]
fn turn<L: Number>(i: &[L; 8], v: V3<L>) -> V3<L> {
    [
        i[0] * v[0] + i[3] * v[1] + i[4] * v[2],
        i[3] * v[0] + i[1] * v[1] + i[5] * v[2],
        i[4] * v[0] + i[5] * v[1] + i[2] * v[2],
    ]
}

/// Velocities and inverse masses of both bodies of a batch, in registers. Inertia is loaded only where a torque or a
/// tangential impulse needs it: a correcting sweep has its angular responses precomputed.
pub(super) struct Pair<L> {
    pub(super) va: V3<L>,
    pub(super) wa: V3<L>,
    pub(super) vb: V3<L>,
    pub(super) wb: V3<L>,
    inv_mass_a: L,
    inv_mass_b: L,
    spare_a: L,
    spare_b: L,
    inertia_a: [L; 8],
    inertia_b: [L; 8],
}

impl<L: Number> Pair<L> {
    #[inline(always)]
    pub(super) fn load(t: L::Token, batch: &ContactBatch, at: usize, bodies: BodyBlocks<'_>) -> Self {
        let a = L::load_rows8(t, bodies.velocity, &batch.load_a[at..]);
        let b = L::load_rows8(t, bodies.velocity, &batch.load_b[at..]);
        let none = L::splat(t, 0.0);
        Self {
            va: [a[0], a[1], a[2]],
            wa: [a[4], a[5], a[6]],
            vb: [b[0], b[1], b[2]],
            wb: [b[4], b[5], b[6]],
            inv_mass_a: a[3],
            inv_mass_b: b[3],
            spare_a: a[7],
            spare_b: b[7],
            inertia_a: [none; 8],
            inertia_b: [none; 8],
        }
    }

    #[inline(always)]
    fn load_inertia(&mut self, t: L::Token, batch: &ContactBatch, at: usize, bodies: BodyBlocks<'_>) {
        self.inertia_a = L::load_rows8(t, bodies.inertia, &batch.load_a[at..]);
        self.inertia_b = L::load_rows8(t, bodies.inertia, &batch.load_b[at..]);
    }

    #[inline(always)]
    fn store(&self, batch: &ContactBatch, at: usize, velocity: Blocks<'_>) {
        let (v, w) = (self.va, self.wa);
        let a = [v[0], v[1], v[2], self.inv_mass_a, w[0], w[1], w[2], self.spare_a];
        L::store_rows8(a, velocity, &batch.store_a[at..]);
        let (v, w) = (self.vb, self.wb);
        let b = [v[0], v[1], v[2], self.inv_mass_b, w[0], w[1], w[2], self.spare_b];
        L::store_rows8(b, velocity, &batch.store_b[at..]);
    }

    /// Velocity of b's contact point relative to a's.
    #[inline(always)]
    pub(super) fn relative(&self, arm_a: V3<L>, arm_b: V3<L>) -> V3<L> {
        let b = add(self.vb, cross(self.wb, arm_b));
        let a = add(self.va, cross(self.wa, arm_a));
        sub(b, a)
    }

    /// Impulse p on b at its lever arm, −p on a at its lever arm.
    #[inline(always)]
    fn push(&mut self, p: V3<L>, arm_a: V3<L>, arm_b: V3<L>) {
        self.va = sub(self.va, scale(p, self.inv_mass_a));
        self.wa = sub(self.wa, turn(&self.inertia_a, cross(arm_a, p)));
        self.vb = add(self.vb, scale(p, self.inv_mass_b));
        self.wb = add(self.wb, turn(&self.inertia_b, cross(arm_b, p)));
    }

    /// Angular impulse on b, the opposite on a.
    #[inline(always)]
    fn twist(&mut self, p: V3<L>) {
        self.wa = sub(self.wa, turn(&self.inertia_a, p));
        self.wb = add(self.wb, turn(&self.inertia_b, p));
    }
}

/// Poses of both bodies of a batch, and the contact frame at them.
struct Placement<L> {
    turn_a: [L; 4],
    turn_b: [L; 4],
    between: V3<L>,
    radius_a: L,
    radius_b: L,
    lean: L,
    normal: V3<L>,
    tangent: V3<L>,
}

impl<L: Number> Placement<L> {
    #[inline(always)]
    fn load(t: L::Token, batch: &ContactBatch, at: usize, bodies: BodyBlocks<'_>) -> Self {
        let zero = L::splat(t, 0.0);
        let pose_a = L::load_rows8(t, bodies.pose, &batch.load_a[at..]);
        let pose_b = L::load_rows8(t, bodies.pose, &batch.load_b[at..]);
        let turn_a = [pose_a[4], pose_a[5], pose_a[6], pose_a[7]];
        let turn_b = [pose_b[4], pose_b[5], pose_b[6], pose_b[7]];
        // the normal rotates with its frame body
        let frame_b = L::load(t, &batch.frame_b[at..]);
        let mut frame = turn_a;
        for k in 0..4 {
            frame[k] = frame_b.select_gt(zero, turn_b[k], turn_a[k]);
        }
        let between = [pose_b[0] - pose_a[0], pose_b[1] - pose_a[1], pose_b[2] - pose_a[2]];
        let mut normal = rotate(frame, load3(t, &batch.local_normal, at));
        let mut tangent = rotate(frame, load3(t, &batch.local_tangent, at));
        let (radius_a, radius_b) = (L::load(t, &batch.radius_a[at..]), L::load(t, &batch.radius_b[at..]));
        if batch.rounds {
            // two round sides: the normal joins their cores, which rotate about each other within the step
            let core_a = rotate(turn_a, load3(t, &batch.points[0].core_a, at));
            let core_b = rotate(turn_b, load3(t, &batch.points[0].core_b, at));
            let line = add(between, sub(core_b, core_a));
            let length = dot(line, line).sqrt();
            let both = radius_a.min(radius_b).select_gt(zero, length, zero);
            let far = (radius_a + radius_b) * L::splat(t, 0.1);
            let inverse = L::splat(t, 1.0).div(length.max(L::splat(t, Real::MIN_POSITIVE)));
            for k in 0..3 {
                normal[k] = both.select_gt(far, line[k] * inverse, normal[k]);
            }
            // the tangent stays orthogonal to it; that of a pair with a flat side is unchanged, whatever the other
            // lanes of the batch contain
            let along = dot(tangent, normal);
            let across = sub(tangent, scale(normal, along));
            let shrink = L::splat(t, 1.0).div(dot(across, across).sqrt().max(L::splat(t, Real::MIN_POSITIVE)));
            for k in 0..3 {
                tangent[k] = both.select_gt(far, across[k] * shrink, tangent[k]);
            }
        }
        let lean = L::load(t, &batch.lean[at..]);
        Self { turn_a, turn_b, between, radius_a, radius_b, lean, normal, tangent }
    }

    /// Lever arms of both bodies to the common point, and the gap.
    #[inline(always)]
    fn arms(&self, t: L::Token, point: &PointLanes, at: usize) -> (V3<L>, V3<L>, L) {
        let n = self.normal;
        let arm_a = add(rotate(self.turn_a, load3(t, &point.core_a, at)), scale(n, self.radius_a));
        let arm_b = sub(rotate(self.turn_b, load3(t, &point.core_b, at)), scale(n, self.radius_b));
        let apart = add(self.between, sub(arm_b, arm_a));
        let gap = dot(n, apart);
        // the impulse acts on both bodies at one point, otherwise the couple would add angular momentum: at the surface
        // of the round side, or half way (`lean` in `contact/kernel/rigid_batch.rs`)
        let one = L::splat(t, 1.0);
        (add(arm_a, scale(apart, self.lean)), sub(arm_b, scale(apart, one - self.lean)), gap)
    }
}

/// The job of a pass over the contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Lever arms, gap, masses and bias at the current poses; then the warm start.
    Prepare,
    /// A sweep with position correction.
    Correct,
    /// Tangential displacement of each point by the velocities that positions are integrated with, and whether it
    /// sticks; then a sweep without correction. One job, so that the data of a point is loaded once.
    SettleRelax,
    /// A sweep without correction.
    Relax,
    /// Restitution: once, at the end of the step, at the poses at that time.
    Restitute,
    /// Works of the impulses at the mean velocities of the substep (`contact/kernel/rigid_ledger.rs`).
    Account,
}

impl Job {
    /// The job of a repeated sweep: tangential displacements are updated once.
    pub fn again(self) -> Self {
        if self == Job::SettleRelax { Job::Relax } else { self }
    }
}

/// Does the job of number `JOB` on sixteen manifolds (`at` = 0) or one of them. Returns the squared impulse changes of a
/// sweep.
#[inline(always)]
pub(crate) fn work<L: Number, const JOB: u8>(
    t: L::Token,
    batch: &mut ContactBatch,
    at: usize,
    bodies: BodyBlocks<'_>,
    params: &ContactParams,
) -> L {
    if JOB == Job::Prepare as u8 {
        prepare::<L>(t, batch, at, bodies, params);
    } else if JOB == Job::Correct as u8 {
        return sweep::<L, true>(t, batch, at, bodies, params);
    } else if JOB == Job::SettleRelax as u8 {
        settle::<L>(t, batch, at, bodies, params);
        return sweep::<L, false>(t, batch, at, bodies, params);
    } else if JOB == Job::Relax as u8 {
        return sweep::<L, false>(t, batch, at, bodies, params);
    } else if JOB == Job::Account as u8 {
        super::rigid_ledger::account::<L>(t, batch, at, bodies);
    } else if batch.bounces {
        restitute::<L>(t, batch, at, bodies, params);
    }
    L::splat(t, 0.0)
}

#[inline(always)]
fn prepare<L: Number>(t: L::Token, batch: &mut ContactBatch, at: usize, bodies: BodyBlocks<'_>, p: &ContactParams) {
    let mut pair = Pair::<L>::load(t, batch, at, bodies);
    pair.load_inertia(t, batch, at, bodies);
    let place = Placement::<L>::load(t, batch, at, bodies);
    let old = {
        let (n, t1) = (load3::<L>(t, &batch.normal, at), load3::<L>(t, &batch.tangent, at));
        [n, t1, second_tangent(t, batch, at, n, t1)]
    };
    let n = place.normal;
    let t1 = if batch.by_law {
        align(t, batch, at, ([place.turn_a, place.turn_b], n, place.tangent))
    } else {
        place.tangent
    };
    let t2 = second_tangent(t, batch, at, n, t1);
    store3(n, &mut batch.normal, at);
    store3(t1, &mut batch.tangent, at);
    let share = L::load(t, &batch.share[at..]);
    let inv_masses = pair.inv_mass_a + pair.inv_mass_b;
    if p.first {
        ease::<L>(t, batch, at, p);
    } else if batch.by_law {
        advance_bristles::<L>(t, batch, at);
    }
    let mut sum = [L::splat(t, 0.0); 3];
    if batch.rolls {
        let t2 = cross(n, t1);
        let roll_answer = dot(t1, turn(&pair.inertia_a, t1)) + dot(t1, turn(&pair.inertia_b, t1));
        let roll_answer2 = dot(t2, turn(&pair.inertia_a, t2)) + dot(t2, turn(&pair.inertia_b, t2));
        let spin_answer = dot(n, turn(&pair.inertia_a, n)) + dot(n, turn(&pair.inertia_b, n));
        invert(t, roll_answer.max(roll_answer2)).store(&mut batch.roll_mass[at..]);
        invert(t, spin_answer).store(&mut batch.spin_mass[at..]);
        let roll = load3::<L>(t, &batch.roll, at);
        pair.twist(add(add(scale(t1, roll[0]), scale(t2, roll[1])), scale(n, roll[2])));
    }

    for point in &mut batch.points[..batch.count] {
        let used = L::load(t, &point.used[at..]);
        let (arm_a, arm_b, gap) = place.arms(t, point, at);
        store3(arm_a, &mut point.arm_a, at);
        store3(arm_b, &mut point.arm_b, at);
        gap.store(&mut point.gap[at..]);

        // angular responses of both bodies along n; those along the tangents, and the masses, are constant within the
        // step
        let (an, bn) = (cross(arm_a, n), cross(arm_b, n));
        let (ian, ibn) = (turn(&pair.inertia_a, an), turn(&pair.inertia_b, bn));
        store3(an, &mut point.twist_a, at);
        store3(bn, &mut point.twist_b, at);
        store3(ian, &mut point.answer_a, at);
        store3(ibn, &mut point.answer_b, at);
        if p.first {
            let kn = inv_masses + dot(an, ian) + dot(bn, ibn);
            (invert(t, kn) * used).store(&mut point.mass[at..]);
            tangent_masses(t, point, at, &pair, [arm_a, arm_b], [t1, t2]);
        }

        // impulses of the previous substep: added to the sum along the axes they had, and used as warm start along the
        // new ones
        let impulse = load3::<L>(t, &point.impulse, at);
        if batch.by_point && p.first {
            let none = L::splat(t, 0.0);
            store3([none; 3], &mut point.total, at);
            none.store(&mut point.total_normal[at..]);
        } else if batch.by_point {
            tally(t, (&mut point.total, &mut point.total_normal), at, old, scale(impulse, share));
        }
        sum = add(sum, impulse);
        let guess = add(add(scale(n, impulse[0]), scale(t1, impulse[1])), scale(t2, impulse[2]));
        pair.push(scale(guess, share), arm_a, arm_b);
    }
    if !batch.by_point && !p.first {
        tally(t, (&mut batch.total, &mut batch.total_normal), at, old, scale(sum, share));
    }
    pair.store(batch, at, bodies.velocity);
    if p.first && batch.bounces {
        see_approach(t, batch, at, bodies, n);
    }
}

/// Rate and softness of the manifolds of a batch. A row of stiffness k and damping c, both per unit of mass, has the
/// rate k/(c + hk) and the softness 1/(h(c + hk)); eased by e it has e k and √e c, which preserves the damping ratio.
#[inline(always)]
fn ease<L: Number>(t: L::Token, batch: &mut ContactBatch, at: usize, p: &ContactParams) {
    let one = L::splat(t, 1.0);
    let ease = L::load(t, &batch.ease[at..]);
    let h = L::splat(t, p.h);
    // rigid rows have no softness to ease
    let both = if p.softness > 0.0 { 1.0 / (p.h * p.softness) } else { 0.0 };
    let k = p.bias_rate * both;
    let damping = L::splat(t, both - p.h * k) * ease.sqrt();
    let stiffness = L::splat(t, k) * ease;
    let eased = damping + h * stiffness;
    let rate = stiffness.div(eased.max(L::splat(t, Real::MIN_POSITIVE)));
    let softness = one.div((h * eased).max(L::splat(t, Real::MIN_POSITIVE)));
    let mass_scale = one.div(one + softness);
    let full = if p.softness > 0.0 { one } else { ease };
    full.select_gt(ease, rate, L::splat(t, p.bias_rate)).store(&mut batch.bias_rate[at..]);
    full.select_gt(ease, mass_scale, L::splat(t, p.mass_scale)).store(&mut batch.mass_scale[at..]);
    let impulse_scale = softness * mass_scale;
    full.select_gt(ease, impulse_scale, L::splat(t, p.impulse_scale)).store(&mut batch.impulse_scale[at..]);
}

/// Approach velocity before any impulse acts, warm starts of other contacts included; later substeps contain only a
/// part of the impact.
#[inline(always)]
fn see_approach<L: Number>(t: L::Token, batch: &mut ContactBatch, at: usize, bodies: BodyBlocks<'_>, n: V3<L>) {
    let a = L::load_rows8(t, bodies.position_velocity, &batch.load_a[at..]);
    let b = L::load_rows8(t, bodies.position_velocity, &batch.load_b[at..]);
    for point in &mut batch.points[..batch.count] {
        let (arm_a, arm_b) = (load3::<L>(t, &point.arm_a, at), load3::<L>(t, &point.arm_b, at));
        let on_a = add([a[0], a[1], a[2]], cross([a[4], a[5], a[6]], arm_a));
        let on_b = add([b[0], b[1], b[2]], cross([b[4], b[5], b[6]], arm_b));
        dot(n, sub(on_b, on_a)).store(&mut point.approach[at..]);
        L::splat(t, 0.0).store(&mut point.peak[at..]);
    }
}

/// Adds a substep's impulse to the sums of the step: as a vector, and its normal part.
#[inline(always)]
fn tally<L: Number>(
    t: L::Token,
    (total, total_normal): (&mut Sixteen3, &mut Sixteen),
    at: usize,
    [n, t1, t2]: [V3<L>; 3],
    impulse: V3<L>,
) {
    let push = add(add(scale(n, impulse[0]), scale(t1, impulse[1])), scale(t2, impulse[2]));
    store3(add(load3(t, total, at), push), total, at);
    (L::load(t, &total_normal[at..]) + impulse[0]).store(&mut total_normal[at..]);
}

/// Effective mass matrix of the tangents, the inverse of their 2x2 response matrix K, and 1 / the largest eigenvalue of
/// K.
#[inline(always)]
fn tangent_masses<L: Number>(
    t: L::Token,
    point: &mut PointLanes,
    at: usize,
    pair: &Pair<L>,
    [arm_a, arm_b]: [V3<L>; 2],
    [t1, t2]: [V3<L>; 2],
) {
    let used = L::load(t, &point.used[at..]);
    let inv_masses = pair.inv_mass_a + pair.inv_mass_b;
    let (a1, b1) = (cross(arm_a, t1), cross(arm_b, t1));
    let (a2, b2) = (cross(arm_a, t2), cross(arm_b, t2));
    let (ia2, ib2) = (turn(&pair.inertia_a, a2), turn(&pair.inertia_b, b2));
    let k11 = inv_masses + dot(a1, turn(&pair.inertia_a, a1)) + dot(b1, turn(&pair.inertia_b, b1));
    let k22 = inv_masses + dot(a2, ia2) + dot(b2, ib2);
    let k12 = dot(a1, ia2) + dot(b1, ib2);
    let det = invert(t, k11 * k22 - k12 * k12) * used;
    store3([k22 * det, -k12 * det, k11 * det], &mut point.tangent_mass, at);
    let half = L::splat(t, 0.5);
    let (mean, difference) = ((k11 + k22) * half, (k11 - k22) * half);
    let largest = mean + (difference * difference + k12 * k12).sqrt();
    (invert(t, largest) * used).store(&mut point.slip_mass[at..]);
}

/// 1/x, or 0 where x is 0: no body responds.
#[inline(always)]
fn invert<L: Number>(t: L::Token, x: L) -> L {
    let zero = L::splat(t, 0.0);
    let one = L::splat(t, 1.0);
    let safe = x.select_gt(zero, x, one);
    x.select_gt(zero, one.div(safe), zero)
}

#[inline(always)]
fn sweep<L: Number, const CORRECT: bool>(
    t: L::Token,
    batch: &mut ContactBatch,
    at: usize,
    bodies: BodyBlocks<'_>,
    p: &ContactParams,
) -> L {
    let zero = L::splat(t, 0.0);
    let mut pair = Pair::<L>::load(t, batch, at, bodies);
    let n = load3::<L>(t, &batch.normal, at);
    let t1 = load3::<L>(t, &batch.tangent, at);
    let mut squares = zero;

    if batch.rolls {
        pair.load_inertia(t, batch, at, bodies);
        squares = squares + resist_rolling(t, batch, at, &mut pair, n, t1, cross(n, t1));
    }

    squares = squares + solve_normal::<L, CORRECT>(t, batch, at, &mut pair, (n, p));
    // friction only when relaxing: it needs the complete normal impulse, of which the soft correction removes a part.
    // (With friction in both sweeps the pile of 1024 kept 8 J at 10 s instead of 2 J, in single runs)
    if !CORRECT {
        pair.load_inertia(t, batch, at, bodies);
        let t2 = second_tangent(t, batch, at, n, t1);
        squares = squares + solve_friction::<L, false>(t, batch, at, &mut pair, [t1, t2], p);
    } else if batch.has_bristles() {
        pair.load_inertia(t, batch, at, bodies);
        let t2 = second_tangent(t, batch, at, n, t1);
        squares = squares + solve_friction::<L, true>(t, batch, at, &mut pair, [t1, t2], p);
    }
    pair.store(batch, at, bodies.velocity);
    squares
}

/// Friction of all points, or of those with a bristle only; returns squared changes.
#[inline(always)]
fn solve_friction<L: Number, const BRISTLES: bool>(
    t: L::Token,
    batch: &mut ContactBatch,
    at: usize,
    pair: &mut Pair<L>,
    [t1, t2]: [V3<L>; 2],
    p: &ContactParams,
) -> L {
    let zero = L::splat(t, 0.0);
    let one = L::splat(t, 1.0);
    let share = L::load(t, &batch.share[at..]);
    let mut squares = zero;
    let static_friction = L::load(t, &batch.static_friction[at..]);
    let kinetic_friction = L::load(t, &batch.kinetic_friction[at..]);
    let weight_bound = L::load(t, &batch.weight_bound[at..]);
    for k in 0..batch.count {
        let index = batch.count - 1 - k;
        let point = &mut batch.points[index];
        let (arm_a, arm_b) = (load3::<L>(t, &point.arm_a, at), load3::<L>(t, &point.arm_b, at));
        let relative = pair.relative(arm_a, arm_b);
        let rate = L::splat(t, p.friction_rate);
        let mut slip1 = dot(t1, relative) + L::load(t, &point.tangential_displacement[0][at..]) * rate;
        let mut slip2 = dot(t2, relative) + L::load(t, &point.tangential_displacement[1][at..]) * rate;
        let [normal_impulse, old1, old2] = load3::<L>(t, &point.impulse, at);
        let slipping = L::load(t, &point.slipping[at..]);
        let coefficient = law::coefficient(t, slipping, [static_friction, kinetic_friction]);
        let touching = normal_impulse.select_gt(zero, weight_bound, zero);
        let (mut limit, mut bristle) = (coefficient * normal_impulse, zero);
        if batch.by_law {
            [slip1, slip2, limit, bristle] =
                own_friction(t, batch, (at, index), [dot(t1, relative), dot(t2, relative)], p);
        }
        let reach = weight_bound.select_gt(-L::splat(t, 0.5), touching, limit);
        let point = &mut batch.points[index];

        // sticking: both tangents at once; slipping: a step that preserves the direction of slip, projected onto the
        // disc
        let m = load3::<L>(t, &point.tangent_mass, at);
        let slip_mass = L::load(t, &point.slip_mass[at..]);
        // soft, like the normal: a rigid return oscillates in tall stacks
        let (mass_scale, impulse_scale) = (L::splat(t, p.friction_mass), L::splat(t, p.friction_impulse));
        let stick1 = (m[0] * slip1 + m[1] * slip2) * mass_scale + old1 * impulse_scale;
        let stick2 = (m[1] * slip1 + m[2] * slip2) * mass_scale + old2 * impulse_scale;
        let (stick1, stick2) = (old1 - stick1, old2 - stick2);
        let mut inside = reach * reach - (stick1 * stick1 + stick2 * stick2);
        if batch.by_law {
            inside = bristle.select_gt(zero, -one, inside);
        }
        let slide1 = old1 - slip_mass * slip1;
        let slide2 = old2 - slip_mass * slip2;
        let back = law::onto_disc(t, slide1 * slide1 + slide2 * slide2, reach);
        if !BRISTLES {
            (-inside).select_gt(zero, one, zero).store(&mut point.slips[at..]);
            reach.store(&mut point.reach[at..]);
        }
        let mut new1 = (-inside).select_gt(zero, slide1 * back, stick1);
        let mut new2 = (-inside).select_gt(zero, slide2 * back, stick2);
        if BRISTLES {
            (new1, new2) = (bristle.select_gt(zero, new1, old1), bristle.select_gt(zero, new2, old2));
        }
        new1.store(&mut point.impulse[1][at..]);
        new2.store(&mut point.impulse[2][at..]);
        let (d1, d2) = (new1 - old1, new2 - old2);
        squares = squares + d1 * d1 + d2 * d2;
        pair.push(scale(add(scale(t1, d1), scale(t2, d2)), share), arm_a, arm_b);
    }

    squares
}

/// Normal impulses of all points; returns squared changes.
#[inline(always)]
fn solve_normal<L: Number, const CORRECT: bool>(
    t: L::Token,
    batch: &mut ContactBatch,
    at: usize,
    pair: &mut Pair<L>,
    (n, p): (V3<L>, &ContactParams),
) -> L {
    let zero = L::splat(t, 0.0);
    let one = L::splat(t, 1.0);
    let share = L::load(t, &batch.share[at..]);
    let slop = L::load(t, &batch.slop[at..]);
    let bias_rate = L::load(t, &batch.bias_rate[at..]);
    let (soft_mass, soft_impulse) = (L::load(t, &batch.mass_scale[at..]), L::load(t, &batch.impulse_scale[at..]));
    let mut squares = zero;
    for k in 0..batch.count {
        let point = &mut batch.points[if CORRECT { k } else { batch.count - 1 - k }];
        let (twist_a, twist_b) = (load3::<L>(t, &point.twist_a, at), load3::<L>(t, &point.twist_b, at));
        let speed = dot(n, sub(pair.vb, pair.va)) + dot(twist_b, pair.wb) - dot(twist_a, pair.wa);
        let mass = L::load(t, &point.mass[at..]);
        let old = L::load(t, &point.impulse[0][at..]);
        // an open gap may close within the substep; penetration is corrected softly and at a limited velocity
        let gap = L::load(t, &point.gap[at..]);
        let new = if CORRECT {
            let bias = law::normal_bias(t, gap, slop, bias_rate, p);
            let mass_scale = gap.select_gt(zero, one, soft_mass);
            let impulse_scale = gap.select_gt(zero, zero, soft_impulse);
            (old - mass * mass_scale * (speed + bias) - impulse_scale * old).max(zero)
        } else {
            law::normal_impulse(t, old, mass, speed + law::open_bias(t, gap, p))
        };
        new.store(&mut point.impulse[0][at..]);
        if batch.bounces {
            let peak = L::load(t, &point.peak[at..]).max(new);
            peak.store(&mut point.peak[at..]);
        }
        let change = new - old;
        squares = squares + change * change;
        let push = change * share;
        pair.va = sub(pair.va, scale(n, push * pair.inv_mass_a));
        pair.vb = add(pair.vb, scale(n, push * pair.inv_mass_b));
        pair.wa = sub(pair.wa, scale(load3(t, &point.answer_a, at), push));
        pair.wb = add(pair.wb, scale(load3(t, &point.answer_b, at), push));
    }
    squares
}

/// Torque against rolling (in a disc) and spinning (in an interval), bounded by lever arm times normal impulse.
#[inline(always)]
fn resist_rolling<L: Number>(
    t: L::Token,
    batch: &mut ContactBatch,
    at: usize,
    pair: &mut Pair<L>,
    n: V3<L>,
    t1: V3<L>,
    t2: V3<L>,
) -> L {
    let mut normal_impulse = L::splat(t, 0.0);
    for point in &batch.points[..batch.count] {
        normal_impulse = normal_impulse + L::load(t, &point.impulse[0][at..]);
    }
    let spin = sub(pair.wb, pair.wa);
    let old = load3::<L>(t, &batch.roll, at);
    let roll_mass = L::load(t, &batch.roll_mass[at..]);
    let spin_mass = L::load(t, &batch.spin_mass[at..]);
    let reach = L::load(t, &batch.rolling[at..]) * normal_impulse;
    let (r1, r2) = (old[0] - roll_mass * dot(t1, spin), old[1] - roll_mass * dot(t2, spin));
    let back = law::onto_disc(t, r1 * r1 + r2 * r2, reach);
    let spin_reach = L::load(t, &batch.spinning[at..]) * normal_impulse;
    let s = (old[2] - spin_mass * dot(n, spin)).min(spin_reach).max(-spin_reach);
    let new = [r1 * back, r2 * back, s];
    store3(new, &mut batch.roll, at);
    let d = sub(new, old);
    pair.twist(add(add(scale(t1, d[0]), scale(t2, d[1])), scale(n, d[2])));
    dot(d, d)
}

/// After the correcting sweeps: adds the slip of this substep, computed with the velocities that positions are
/// integrated with, to the tangential displacement, and returns it onto the cone.
#[inline(always)]
fn settle<L: Number>(t: L::Token, batch: &mut ContactBatch, at: usize, bodies: BodyBlocks<'_>, p: &ContactParams) {
    let zero = L::splat(t, 0.0);
    let pair = Pair::<L>::load(t, batch, at, BodyBlocks { velocity: bodies.position_velocity, ..bodies });
    let n = load3::<L>(t, &batch.normal, at);
    let t1 = load3::<L>(t, &batch.tangent, at);
    let t2 = second_tangent(t, batch, at, n, t1);
    for index in 0..batch.count {
        let point = &mut batch.points[index];
        let (arm_a, arm_b) = (load3::<L>(t, &point.arm_a, at), load3::<L>(t, &point.arm_b, at));
        let relative = pair.relative(arm_a, arm_b);
        let normal_impulse = L::load(t, &point.impulse[0][at..]);
        let tangential_displacement =
            [L::load(t, &point.tangential_displacement[0][at..]), L::load(t, &point.tangential_displacement[1][at..])];
        // return mapping onto the cone: the spring keeps the displacement that the largest friction can hold
        let reach = L::load(t, &point.reach[at..]);
        let limit = law::displacement_limit(t, reach, invert(t, L::load(t, &point.slip_mass[at..])), p);
        let slip = [dot(t1, relative), dot(t2, relative)];
        if batch.by_law {
            let mut visit = visit_of(batch, index);
            slip[0].store(&mut visit.slip[0][at..]);
            slip[1].store(&mut visit.slip[1][at..]);
            settle_by_law(t, batch, (at, index), &mut visit, (limit, p));
            continue;
        }
        let (tangential_displacement, creep) = law::settle(t, tangential_displacement, slip, limit, p.h);
        tangential_displacement[0].store(&mut point.tangential_displacement[0][at..]);
        tangential_displacement[1].store(&mut point.tangential_displacement[1][at..]);
        let slips = normal_impulse.select_gt(zero, L::load(t, &point.slips[at..]), zero);
        law::slips(t, slips, L::load(t, &point.slipping[at..]), creep, limit).store(&mut point.slipping[at..]);
    }
}

/// Rounds over the points of a manifold at an impact: those of one face act on one body, and solved once, one after the
/// other, they would leave it a spin and a part of its speed.
const ROUNDS: usize = 12;

/// Normal impulses of restitution, solved for all points of a manifold together: the restitution of each point, zero where
/// it does not rebound, and its impulse.
#[inline(always)]
fn rebound<L: Number>(
    t: L::Token,
    batch: &ContactBatch,
    at: usize,
    pair: &mut Pair<L>,
    (place, p): (&Placement<L>, &ContactParams),
) -> ([L; 4], [L; 4]) {
    let zero = L::splat(t, 0.0);
    let n = place.normal;
    let restitution = L::load(t, &batch.restitution[at..]);
    let (mut active, mut changes) = ([zero; 4], [zero; 4]);
    for round in 0..ROUNDS {
        for (k, point) in batch.points[..batch.count].iter().enumerate() {
            let (arm_a, arm_b, _) = place.arms(t, point, at);
            let approach = L::load(t, &point.approach[at..]);
            if round == 0 {
                let peak = L::load(t, &point.peak[at..]);
                let fast = (-approach).select_gt(L::splat(t, p.restitution_speed), restitution, zero);
                active[k] = peak.select_gt(zero, fast, zero);
            }
            let speed = dot(n, pair.relative(arm_a, arm_b));
            let old = L::load(t, &point.impulse[0][at..]);
            let (an, bn) = (cross(arm_a, n), cross(arm_b, n));
            let answer = pair.inv_mass_a
                + pair.inv_mass_b
                + dot(an, turn(&pair.inertia_a, an))
                + dot(bn, turn(&pair.inertia_b, bn));
            let now = old + changes[k];
            let wanted = now - invert(t, answer) * (speed + active[k] * approach);
            let new = active[k].select_gt(zero, wanted.max(zero), now);
            pair.push(scale(n, new - now), arm_a, arm_b);
            changes[k] = new - old;
        }
    }
    (active, changes)
}

/// Newton's law of impact: points whose approach velocity exceeded the threshold and that transmitted an impulse
/// separate with e times that velocity.
#[inline(always)]
fn restitute<L: Number>(t: L::Token, batch: &mut ContactBatch, at: usize, bodies: BodyBlocks<'_>, p: &ContactParams) {
    let zero = L::splat(t, 0.0);
    let mut pair = Pair::<L>::load(t, batch, at, bodies);
    pair.load_inertia(t, batch, at, bodies);
    let place = Placement::<L>::load(t, batch, at, bodies);
    let n = place.normal;
    let t1 = if batch.by_law {
        align(t, batch, at, ([place.turn_a, place.turn_b], n, place.tangent))
    } else {
        place.tangent
    };
    let t2 = second_tangent(t, batch, at, n, t1);
    let (active, changes) = rebound::<L>(t, batch, at, &mut pair, (&place, p));
    for (k, point) in batch.points[..batch.count].iter_mut().enumerate() {
        // the bodies have moved since the last sweep
        let (arm_a, arm_b, _) = place.arms(t, point, at);
        let (old, active) = (L::load(t, &point.impulse[0][at..]), active[k]);
        // the impulse of restitution is added to the sums, not to the impulse that the next step is warm-started from
        let push = scale(n, changes[k]);
        store3(add(load3(t, &point.total, at), push), &mut point.total, at);
        (L::load(t, &point.total_normal[at..]) + changes[k]).store(&mut point.total_normal[at..]);

        // the impulse of restitution allows friction: friction for this part of the normal impulse
        tangent_masses(t, point, at, &pair, [arm_a, arm_b], [t1, t2]);
        let relative = pair.relative(arm_a, arm_b);
        let (slip1, slip2) = (dot(t1, relative), dot(t2, relative));
        let slip_mass = L::load(t, &point.slip_mass[at..]);
        let (r1, r2) = (-(slip_mass * slip1), -(slip_mass * slip2));
        // Coulomb holds for the impact as a whole: what the step's normal impulse allows, less what has been used
        let [_, last1, last2] = load3::<L>(t, &point.impulse, at);
        let before = sub(load3::<L>(t, &point.total, at), push);
        let (used1, used2) = (dot(t1, before) + last1, dot(t2, before) + last2);
        let used = (used1 * used1 + used2 * used2).sqrt();
        let pressed = L::load(t, &point.total_normal[at..]) + old;
        let allowed = L::load(t, &batch.kinetic_friction[at..]) * pressed - used;
        let reach = active.select_gt(zero, allowed.max(zero), zero);
        let back = law::onto_disc(t, r1 * r1 + r2 * r2, reach);
        let push = scale(add(scale(t1, r1), scale(t2, r2)), back);
        store3(add(load3(t, &point.total, at), push), &mut point.total, at);
        pair.push(push, arm_a, arm_b);
    }
    pair.store(batch, at, bodies.velocity);
}
