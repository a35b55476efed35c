//! Works of the impulses of a batch over a substep, for the ledger (`ledger/`). Velocities are the means of those before and
//! after all impulses of the substep: with them the works of all impulses add up to the change of kinetic energy exactly,
//!
//! ```text
//!   ½ m (v⁺² − v⁻²) = Σ p·(v⁻ + v⁺)/2,   Σ p = m (v⁺ − v⁻)
//! ```
//!
//! Sums over the points and substeps of a manifold are `Real`: fewer than a hundred terms, each a rounded product. All
//! further sums are f64.

use crate::contact::kernel::rigid::{BodyBlocks, Pair};
use crate::contact::kernel::rigid_batch::ContactBatch;
use crate::contact::kernel::rigid_law::second_tangent;
use crate::math::lane3::{V3, add, cross, dot, load3, scale, store3, sub};
use crate::math::{Number, Sixteen3, Vec3, Wide3, widen};

/// Adds the works of the impulses of a substep; `bodies.velocity` are mean velocities.
#[inline(always)]
pub(super) fn account<L: Number>(t: L::Token, batch: &mut ContactBatch, at: usize, bodies: BodyBlocks<'_>) {
    let zero = L::splat(t, 0.0);
    let pair = Pair::<L>::load(t, batch, at, bodies);
    let (n, t1) = (load3::<L>(t, &batch.normal, at), load3::<L>(t, &batch.tangent, at));
    let t2 = second_tangent(t, batch, at, n, t1);
    let share = L::load(t, &batch.share[at..]);
    let (mut normal, mut friction) = (zero, zero);
    let (mut push, mut twist) = ([zero; 3], [zero; 3]);
    for point in &batch.points[..batch.count] {
        let (arm_a, arm_b) = (load3::<L>(t, &point.arm_a, at), load3::<L>(t, &point.arm_b, at));
        let impulse = scale(load3::<L>(t, &point.impulse, at), share);
        let relative = pair.relative(arm_a, arm_b);
        normal = normal + impulse[0] * dot(n, relative);
        friction = friction + impulse[1] * dot(t1, relative) + impulse[2] * dot(t2, relative);
        if batch.leans {
            let p = add(add(scale(n, impulse[0]), scale(t1, impulse[1])), scale(t2, impulse[2]));
            push = add(push, p);
            twist = add(twist, cross(arm_a, p));
        }
    }
    if batch.rolls {
        let (roll, spin) = (load3::<L>(t, &batch.roll, at), sub(pair.wb, pair.wa));
        let torque = add(add(scale(t1, roll[0]), scale(cross(n, t1), roll[1])), scale(n, roll[2]));
        friction = friction + dot(torque, spin);
        twist = add(twist, torque);
    }
    (L::load(t, &batch.work[0][at..]) + normal).store(&mut batch.work[0][at..]);
    (L::load(t, &batch.work[1][at..]) + friction).store(&mut batch.work[1][at..]);
    if batch.leans {
        lean::<L>(t, batch, at, bodies, (&pair, push, twist));
    }
}

/// Impulse on the side that answers by the side that does not, its angular impulse about the origin, and the work of the
/// side that does not answer: p·v at its own velocity.
#[inline(always)]
fn lean<L: Number>(
    t: L::Token,
    batch: &mut ContactBatch,
    at: usize,
    bodies: BodyBlocks<'_>,
    (pair, push, twist): (&Pair<L>, V3<L>, V3<L>),
) {
    let zero = L::splat(t, 0.0);
    let side = L::load(t, &batch.lean_side[at..]);
    let a = L::load_rows8(t, bodies.pose, &batch.load_a[at..]);
    let b = L::load_rows8(t, bodies.pose, &batch.load_b[at..]);
    let (x_a, x_b) = ([a[0], a[1], a[2]], [b[0], b[1], b[2]]);
    // the same impulses about the centre of b
    let twist_b = add(twist, cross(sub(x_a, x_b), push));
    let by_a = dot(push, pair.va) + dot(twist, pair.wa);
    let by_b = dot(push, pair.vb) + dot(twist_b, pair.wb);
    let work = side.select_gt(zero, by_a, (-side).select_gt(zero, -by_b, zero));
    (L::load(t, &batch.work[2][at..]) + work).store(&mut batch.work[2][at..]);
    let about = add(cross(x_a, push), twist);
    store3(add(load3(t, &batch.outside, at), scale(about, side)), &mut batch.outside, at);
}

impl ContactBatch {
    /// Impulse and angular impulse about its centre on a (false) or b (true) of a lane in this substep [N·s, N·m·s].
    pub fn wrench(&self, lane: usize, on_b: bool) -> (Wide3, Wide3) {
        let pick = |v: &Sixteen3| Vec3::new(v[0][lane], v[1][lane], v[2][lane]);
        let (n, t1) = (pick(&self.normal), pick(&self.tangent));
        let (t2, sign) = (n.cross(t1), if on_b { 1.0 } else { -1.0 });
        let (mut push, mut twist) = (Wide3::ZERO, Wide3::ZERO);
        for point in &self.points[..self.count] {
            let [a, b, c] = [0, 1, 2].map(|k| point.impulse[k][lane] * self.share[lane]);
            let p = widen(n * a + t1 * b + t2 * (c * self.second_length(lane)));
            let arm = if on_b { &point.arm_b } else { &point.arm_a };
            push += p;
            twist += widen(pick(arm)).cross(p);
        }
        if self.rolls {
            twist += widen(t1 * self.roll[0][lane] + t2 * self.roll[1][lane] + n * self.roll[2][lane]);
        }
        (push * sign, twist * sign)
    }
}
