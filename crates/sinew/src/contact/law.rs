//! The law of a contact point, as pure functions over [`Number`]: bias from the gap, normal impulse, friction in its disc,
//! tangential displacement, stick and slip. All kernels and the implicit islands use these; only the layout of their data
//! differs.
//!
//! With the normal n from a to b, relative velocity u, effective masses m_n and m_t, impulses λ_n and λ_t:
//!
//! ```text
//!   normal:   λ_n ← max(0, λ_n − m_n (n·u + bias)),        bias = gap/h (open), max(rate·overlap, −push_speed) (overlap)
//!   friction: λ_t ← onto the disc |λ_t| ≤ μ λ_n of  λ_t − m_t (u_t + rate·s)
//!   settle:   s ← onto the disc |s| ≤ s_max of  s + h u_t,  s_max = μ λ_n · stretch / m_t   (return mapping)
//!   slip:     at the cone, and slipping before or creeping by more than BREAK_AWAY·s_max in a substep
//! ```
//!
//! s is the tangential displacement since the point stuck: a spring that static friction pulls back (ICD 4.4 with the
//! errata: the cone is bounded by the normal impulse).

use crate::contact::kernel::rigid_batch::ContactParams;
use crate::math::{Number, Real};
use crate::tuning::friction::{AT_CONE, BREAK_AWAY};

/// Bias velocity of the normal in a correcting sweep [m/s]. An open gap may close within the substep and no more. Overlap
/// beyond `slop` [m] is removed with `rate` [1/s], at most with `push_speed`.
#[inline(always)]
pub(crate) fn normal_bias<L: Number>(t: L::Token, gap: L, slop: L, rate: L, p: &ContactParams) -> L {
    let zero = L::splat(t, 0.0);
    let overlap = (gap + slop).min(zero);
    let push = (overlap * rate).max(L::splat(t, -p.push_speed));
    gap.select_gt(zero, gap * L::splat(t, p.inv_h), push)
}

/// Bias velocity of a hard normal row [m/s], for implicit islands: what [`normal_bias`] is at the largest rate, 1/h. Written
/// as a division, which rounds once.
pub(crate) fn hard_bias(gap: Real, slop: Real, h: Real, push_speed: Real) -> Real {
    let overlap = if gap < 0.0 { (gap + slop).min(0.0) } else { gap };
    (overlap / h).max(-push_speed)
}

/// The part of the bias that stays in relaxing sweeps: an open gap may close, overlap is not corrected [m/s].
#[inline(always)]
pub(crate) fn open_bias<L: Number>(t: L::Token, gap: L, p: &ContactParams) -> L {
    let zero = L::splat(t, 0.0);
    gap.select_gt(zero, gap * L::splat(t, p.inv_h), zero)
}

/// Normal impulse after a visit [N·s]: contacts only push. `error`: normal velocity plus bias [m/s].
#[inline(always)]
pub(crate) fn normal_impulse<L: Number>(t: L::Token, old: L, mass: L, error: L) -> L {
    (old - mass * error).max(L::splat(t, 0.0))
}

/// Coefficient of friction of a point that sticks (0) or slips (1).
#[inline(always)]
pub(crate) fn coefficient<L: Number>(t: L::Token, slipping: L, [still, moving]: [L; 2]) -> L {
    slipping.select_gt(L::splat(t, 0.0), moving, still)
}

/// Factor that projects a vector, whose length has this square, onto a disc.
#[inline(always)]
pub(crate) fn onto_disc<L: Number>(t: L::Token, square: L, radius: L) -> L {
    radius.div(square.sqrt().max(L::splat(t, Real::MIN_POSITIVE))).min(L::splat(t, 1.0))
}

/// Largest tangential displacement that a friction impulse `limit` [N·s] holds, for a point with this response [1/kg]; [m].
#[inline(always)]
pub(crate) fn displacement_limit<L: Number>(t: L::Token, limit: L, response: L, p: &ContactParams) -> L {
    limit * L::splat(t, p.friction_stretch) * response
}

/// 1 for a friction impulse, whose length has this square, that is at its limit; else 0.
#[inline(always)]
pub(crate) fn at_cone<L: Number>(t: L::Token, square: L, limit: L) -> L {
    let edge = limit * L::splat(t, AT_CONE);
    (edge * edge).select_gt(square, L::splat(t, 0.0), L::splat(t, 1.0))
}

/// Tangential displacement after a substep with this slip [m/s], returned onto the disc of radius `limit` [m]; and how far
/// the point moved in the substep [m].
#[inline(always)]
pub(crate) fn settle<L: Number, const N: usize>(
    t: L::Token,
    displacement: [L; N],
    slip: [L; N],
    limit: L,
    h: Real,
) -> ([L; N], L) {
    let h = L::splat(t, h);
    let mut moved = displacement;
    let (mut square, mut speed) = (L::splat(t, 0.0), L::splat(t, 0.0));
    for k in 0..N {
        moved[k] = displacement[k] + h * slip[k];
        square = if k == 0 { moved[k] * moved[k] } else { square + moved[k] * moved[k] };
        speed = if k == 0 { slip[k] * slip[k] } else { speed + slip[k] * slip[k] };
    }
    let scale = onto_disc(t, square, limit);
    for part in &mut moved {
        *part = *part * scale;
    }
    (moved, h * speed.sqrt())
}

/// 1 for a point that slips: at its cone, and slipping before or moved by more than [`BREAK_AWAY`] of what its spring holds.
#[inline(always)]
pub(crate) fn slips<L: Number>(t: L::Token, at_cone: L, slid: L, creep: L, limit: L) -> L {
    let (zero, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    at_cone * (creep - limit * L::splat(t, BREAK_AWAY)).select_gt(zero, one, slid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> ContactParams {
        ContactParams { h: 0.01, inv_h: 100.0, push_speed: 3.0, friction_stretch: 2.0, ..ContactParams::default() }
    }

    #[test]
    fn an_open_gap_may_close_and_overlap_is_pushed_out_slowly() {
        let p = params();
        let bias = |gap: Real| normal_bias((), gap, 1e-3, 20.0, &p);
        assert_eq!(bias(0.02), 2.0);
        assert_eq!(bias(-0.5e-3), 0.0, "overlap within the slop is left");
        assert!((bias(-0.051) + 1.0).abs() < 1e-5);
        assert_eq!(bias(-10.0), -3.0, "never faster than push_speed");
        assert_eq!((open_bias((), 0.02, &p), open_bias((), -0.02, &p)), (2.0, 0.0));
        for gap in [0.02, -0.5e-3, -0.011, -10.0] {
            let soft = normal_bias((), gap, 1e-3, p.inv_h, &p);
            assert!((hard_bias(gap, 1e-3, p.h, p.push_speed) - soft).abs() < 1e-5, "{gap}");
        }
    }

    #[test]
    fn a_contact_never_pulls() {
        assert_eq!(normal_impulse((), 1.0, 2.0, 0.25), 0.5);
        assert_eq!(normal_impulse((), 1.0, 2.0, 4.0), 0.0);
    }

    #[test]
    fn vectors_are_projected_onto_the_disc_and_keep_their_direction() {
        for (vector, radius) in [([3.0, 4.0], 10.0), ([3.0, 4.0], 1.0), ([0.0, 0.0], 0.0), ([1e-20, 0.0], 1.0)] {
            let [x, y]: [Real; 2] = vector;
            let scale = onto_disc((), x * x + y * y, radius);
            let length = (x * x + y * y).sqrt();
            assert!((scale * length - length.min(radius)).abs() < 1e-6, "{vector:?} {radius}");
        }
    }

    #[test]
    fn a_point_slips_at_its_cone_only_when_it_moves_or_slipped_before() {
        let moved = |slip: Real| settle((), [0.0, 0.0], [slip, 0.0], 1e-3, 0.01);
        let ([s, _], creep) = moved(0.05);
        assert!((s - 5e-4).abs() < 1e-8 && (creep - 5e-4).abs() < 1e-8);
        assert!((moved(1.0).0[0] - 1e-3).abs() < 1e-8, "returned onto the disc");
        assert_eq!(slips((), 1.0, 0.0, 0.5e-4, 1e-3), 0.0, "creep below the break-away fraction");
        assert_eq!(slips((), 1.0, 0.0, 2e-4, 1e-3), 1.0);
        assert_eq!(slips((), 1.0, 1.0, 0.0, 1e-3), 1.0);
        assert_eq!(slips((), 0.0, 1.0, 1.0, 1e-3), 0.0, "inside the cone it sticks");
        assert_eq!((at_cone((), 0.99, 1.0), at_cone((), 1.0, 1.0)), (0.0, 1.0));
    }
}
