//! Conservative time of contact, which cannot be missed: conservative advancement that maintains a minimum gap
//! (additive CCD after Li et al. 2021, with the motion along the slab's normal as in Mirtich 1996, and with arcs).
//!
//! At time t the features have a slab of width s between them. Along its normal they approach each other at a speed of
//! at most V, with accelerations of at most A (arcs of rotating bodies; zero for nodes), so that within δ the slab
//! loses no more than V δ + ½ A δ². With m the minimum gap, advancing by
//!
//! ```text
//!   V δ + ½ A δ² = s − m,   δ = 2 (s − m) / (V + √(V² + 2 A (s − m)))
//! ```
//!
//! never brings them nearer than m. It is repeated until the margin s − m has shrunk to a tenth (then a contact is
//! reported, at nine tenths of the distance to it), or t = 1. Motion along the surface costs nothing: only V counts.

use crate::math::Wide3;

/// Separation and relative motion of two features at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Width of the slab between them [m].
    pub width: f64,
    /// Largest approach speed along its normal [m/step]; negative when they separate.
    pub closing: f64,
    /// Largest acceleration of the approach [m/step²].
    pub bend: f64,
    /// From a to b.
    pub normal: Wide3,
    /// Weights of the corners at the nearest points.
    pub weights: [f64; 4],
}

/// Minimum gaps of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// Distance at which the two are in contact: sum of the radii of round bodies [m].
    pub touch: f64,
    /// Gap beyond that [m].
    pub gap: f64,
    /// Gaps below this are indistinguishable from rounding errors: then no further approach is allowed [m].
    pub floor: f64,
}

/// Fraction of the initial margin at which a contact is reported.
const ENOUGH: f64 = 0.1;
/// Near the minimum gap: the fraction of its distance that a pair keeps in a step, so that pressure closes the gap
/// slowly.
const CREEP: f64 = 0.9;
/// Distance at which that begins, in units of the minimum gap.
const NEAR: f64 = 2.0;
/// Maximum number of iterations; a pair not finished by then is reported as a contact at the time reached, which is
/// safe.
const ROUNDS: usize = 256;

impl Keep {
    /// Minimum distance that a pair may have in this step when it starts at `width` [m].
    pub fn least(&self, width: f64) -> f64 {
        let (gap, firm) = (width - self.touch, self.gap.max(self.floor));
        // already nearer than the minimum: no further approach
        self.touch + if gap <= firm { gap } else { (CREEP * gap).min(NEAR * firm).max(firm) }
    }
}

/// The time up to which the pair may advance, when it cannot advance to the end of the step, and its state then.
pub(crate) fn advance(mut look: impl FnMut(f64) -> Look, keep: &Keep) -> Option<(f64, Look)> {
    let mut now = look(0.0);
    let least = keep.least(now.width);
    let enough = (ENOUGH * (now.width - least)).max(keep.floor);
    let mut t = 0.0;
    for _ in 0..ROUNDS {
        let room = now.width - least;
        if room <= enough && now.closing > 0.0 {
            return Some((t, now));
        }
        let free = time_to_lose(room, &now);
        if t + free >= 1.0 {
            return None;
        }
        // not the full step: a pair stopped there is then not stopped again by rounding
        let step = if room > enough { time_to_lose(room - 0.5 * enough, &now) } else { free };
        if step <= 0.0 {
            return Some((t, now));
        }
        t += step;
        now = look(t);
    }
    Some((t, now))
}

/// Guaranteed time for the slab to lose `room`: the positive root of V δ + ½ A δ² = room.
fn time_to_lose(room: f64, now: &Look) -> f64 {
    let (v, a) = (now.closing, now.bend);
    if room > 0.0 {
        let root = v + (v * v + 2.0 * a * room).sqrt();
        if root > 0.0 { 2.0 * room / root } else { f64::INFINITY }
    } else if v > 0.0 {
        0.0
    } else if a > 0.0 {
        -2.0 * v / a
    } else {
        f64::INFINITY
    }
}
