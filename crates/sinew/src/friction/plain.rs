//! What laws without a bristle share: they hold, or they slide along the free slip.

use super::{Answer, Ask, length};
use crate::math::{Lane, Real};

/// Holds when the free slip V ≤ give · holding; else slides with the coefficient `sliding`.
///
/// Holding takes all of V: the coefficient is V / give and the slip is exactly zero, so that nothing creeps (erratum of FC
/// 5.7). Sliding keeps the direction of V, since friction only takes from it.
#[inline(always)]
pub(super) fn hold_or_slide<L: Lane>(t: L::Token, ask: &Ask<L>, holding: L, sliding: L) -> Answer<L> {
    let (zero, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    let tiny = L::splat(t, Real::MIN_POSITIVE);
    let speed = length(ask.free);
    let slides = speed - ask.give * holding;
    let inverse = one.div(speed.max(tiny));
    // an imposed slip of zero asks for nothing: give may be 0
    let held = speed.div(ask.give.max(tiny)).min(holding);
    let size = slides.select_gt(zero, sliding, held) * inverse;
    // friction stops, it never drives
    let kept = one - ask.give * sliding * inverse;
    let kept = slides.select_gt(zero, kept.max(zero), zero);
    Answer {
        traction: [ask.free[0] * size, ask.free[1] * size],
        velocity: [ask.free[0] * kept, ask.free[1] * kept],
        stretch: ask.stretch,
        slipping: slides.select_gt(zero, one, zero),
    }
}
