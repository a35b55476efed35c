//! The CG of a pass (Hestenes and Stiefel 1952), and its vector products; all sums in a fixed order.

use super::space::{Space, apply_bodies};
use super::{System, mismatch};
use crate::constraint::RowBuffer;
use crate::math::{Block, Kernel, LANES, Lane, Real, run_wide};
use crate::tuning::cg::{CHECK, EARLY, LEAST, UNSURE, WRONG};

/// Stopping criteria.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) tolerance: Real,
    pub(super) iterations: u32,
    pub(super) passes: u32,
    pub(super) radii: Radii,
    /// Iterations before the rows are checked for the first time.
    pub(super) unlooked: u32,
}

/// Update of the friction discs from pass to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radii {
    /// They follow the normal impulses.
    Follow,
    /// They stay as computed at the first linearisation.
    Held,
}

/// (A + Jᵀ rate J) v = b + Jᵀ(offset − rate bias) from the v given, at which the pass began; A times the increment of v
/// is in `moved` afterwards. Returns iterations and relative residual.
pub(super) fn conjugate_gradient(
    system: &System<'_>,
    rows: &RowBuffer,
    v: &mut [Block],
    plan: Plan,
    s: &mut Space,
) -> (u32, Real) {
    let (iterations, residual) = iterate(system, rows, v, plan, s);
    if residual.is_nan() && !s.plain {
        // a coarse correction beyond the precision of a real is not positive definite: continue without it for the rest
        // of this solve
        s.plain = true;
        s.reference = None;
        let (more, residual) = iterate(system, rows, v, plan, s);
        return (iterations + more, residual);
    }
    (iterations, residual)
}

/// The residual is NaN when the preconditioner turns out not to be positive definite.
fn iterate(system: &System<'_>, rows: &RowBuffer, v: &mut [Block], plan: Plan, s: &mut Space) -> (u32, Real) {
    let forces = s.reference.is_none().then(|| size_of_load(system, s));

    // r = b + Jᵀλ − A v, with λ the model's impulse
    for ((r, l), (a, m)) in s.r.iter_mut().zip(&s.load).zip(s.applied.iter().zip(&s.moved)) {
        *r = [l[0] - a[0] - m[0], l[1] - a[1] - m[1], l[2] - a[2] - m[2], 0.0];
    }
    s.drifts(rows, v);
    s.respond(rows);
    s.scatter_model(rows);
    s.apply_inverse(system);
    s.p.copy_from_slice(&s.z);

    let mut rz = dot(&s.r, &s.z);
    // the scale of the solve: the effect of the forces, or that of the rows against the motion; at rest rows cancel the
    // forces. Without rows the residual measures the error of the first guess: with it as the scale, a body with large
    // nodal velocity errors would be left unsolved
    let rows_do = if s.near.is_empty() || !rz.is_finite() { 0.0 } else { rz };
    let reference = *s.reference.get_or_insert_with(|| rows_do.max(forces.unwrap_or(Real::MIN_POSITIVE)));
    // below the floor products of small numbers underflow, and no further accuracy can be gained [J]
    let floor = Real::MIN_POSITIVE / Real::EPSILON;
    let goal = (plan.tolerance * plan.tolerance * reference).max(floor);
    let mut iterations = 0;
    let mut looked = false;
    while rz > goal && iterations < plan.iterations {
        // z = A p, q = (A + Jᵀ rate J) p; subtracted from r one after the other the two would leave more rounding error
        apply_bodies(system, &s.p, &mut s.z);
        s.q.copy_from_slice(&s.z);
        s.active.add_product(&s.p, &mut s.q);

        // below the resolution of the numbers, or not a number: keep the present v
        let pq = dot(&s.p, &s.q);
        if !(pq > 0.0 && pq.is_finite()) {
            break;
        }
        let alpha = rz / pq;
        mix(v, 1.0, &s.p, alpha);
        mix(&mut s.moved, 1.0, &s.z, alpha);
        mix(&mut s.r, 1.0, &s.q, -alpha);
        s.apply_inverse(system);
        let next = dot(&s.r, &s.z);
        let beta = next / rz;
        rz = next;
        mix(&mut s.p, beta, &s.z, 1.0);
        iterations += 1;

        // rows changed their branch: start a new pass, do not complete this one
        let soon = !looked && iterations >= LEAST && rz <= EARLY * EARLY * goal;
        looked |= soon;
        let allowed = if soon { UNSURE } else { WRONG };
        let looks = iterations >= plan.unlooked && (soon || iterations % CHECK == 0);
        if looks && mismatch(rows, v, s) > allowed {
            break;
        }
    }
    (iterations, (rz / reference).sqrt())
}

/// Size of the effect of forces in this substep, in the norm of the preconditioner [J].
fn size_of_load(system: &System<'_>, s: &mut Space) -> Real {
    s.r.copy_from_slice(&s.forces);
    s.apply_inverse(system);
    dot(&s.r, &s.z).max(Real::MIN_POSITIVE)
}

/// Σ a·b. The last component of a block is included: it is zero in every vector of the CG.
pub(super) fn dot(a: &[Block], b: &[Block]) -> Real {
    run_wide(Dot { a: a.as_flattened(), b: b.as_flattened() })
}

/// Independent partial sums in a product of vectors: a single one would be limited by the latency of the addition.
const SIDE: usize = 4;

struct Dot<'a> {
    a: &'a [Real],
    b: &'a [Real],
}

impl Kernel for Dot<'_> {
    type Output = Real;

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> Real {
        let mut sums = [[0.0; LANES]; SIDE];
        let packed = self.a.len() / (LANES * SIDE) * (LANES * SIDE);
        let mut at = 0;
        while at < LANES {
            let mut sum = [L::splat(t, 0.0); SIDE];
            for first in (0..packed).step_by(LANES * SIDE) {
                for (k, sum) in sum.iter_mut().enumerate() {
                    let i = first + k * LANES + at;
                    *sum = *sum + L::load(t, &self.a[i..]) * L::load(t, &self.b[i..]);
                }
            }
            for (sum, sums) in sum.into_iter().zip(&mut sums) {
                sum.store(&mut sums[at..]);
            }
            at += L::COUNT;
        }
        let tail: Real = self.a[packed..].iter().zip(&self.b[packed..]).map(|(a, b)| a * b).sum();
        sums.as_flattened().iter().sum::<Real>() + tail
    }
}

/// to ← keep to + scale from. The last component of the blocks of `from` is zero: that of `to` does not change for keep
/// = 1.
pub(super) fn mix(to: &mut [Block], keep: Real, from: &[Block], scale: Real) {
    run_wide(Mix { to: to.as_flattened_mut(), keep, from: from.as_flattened(), scale });
}

struct Mix<'a> {
    to: &'a mut [Real],
    keep: Real,
    from: &'a [Real],
    scale: Real,
}

impl Kernel for Mix<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let (keep, scale) = (L::splat(t, self.keep), L::splat(t, self.scale));
        let (to, rest) = self.to.as_chunks_mut::<LANES>();
        let (from, left) = self.from.as_chunks::<LANES>();
        for (to, from) in to.iter_mut().zip(from) {
            let mut at = 0;
            while at < LANES {
                (keep * L::load(t, &to[at..]) + scale * L::load(t, &from[at..])).store(&mut to[at..]);
                at += L::COUNT;
            }
        }
        for (to, from) in rest.iter_mut().zip(left) {
            *to = self.keep * *to + self.scale * from;
        }
    }
}
