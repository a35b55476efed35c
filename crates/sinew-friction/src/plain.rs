//! Common part of laws without a bristle: the contact sticks, or it slides along the free slip.

use super::{Answer, Ask, length};
use sinew_math::{Lane, Real};

/// Sticks when the free slip V ≤ give · holding, with `give` the compliance; otherwise slides with the coefficient
/// `sliding`.
///
/// Sticking removes all of V: the coefficient is V / give and the slip is exactly zero, so that there is no creep
/// (erratum of FC 5.7). Sliding keeps the direction of V, since friction only reduces it.
#[inline(always)]
pub(super) fn hold_or_slide<L: Lane>(t: L::Token, ask: &Ask<L>, holding: L, sliding: L) -> Answer<L> {
    let (zero, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    let tiny = L::splat(t, Real::MIN_POSITIVE);
    let speed = length(ask.free);
    let slides = speed - ask.give * holding;
    let inverse = one.div(speed.max(tiny));
    // an imposed slip of zero needs no friction: the compliance may be 0
    let held = speed.div(ask.give.max(tiny)).min(holding);
    let size = slides.select_gt(zero, sliding, held) * inverse;
    // friction decelerates, it never reverses the slip
    let kept = one - ask.give * sliding * inverse;
    let kept = slides.select_gt(zero, kept.max(zero), zero);
    Answer {
        traction: [ask.free[0] * size, ask.free[1] * size],
        velocity: [ask.free[0] * kept, ask.free[1] * kept],
        stretch: ask.stretch,
        slipping: slides.select_gt(zero, one, zero),
    }
}
