//! The time of contact that cannot be missed: conservative advancement with a gap that is kept (additive CCD after Li et
//! al. 2021, with the motion along the slab's normal as in Mirtich 1996, and with arcs).
//!
//! At time t the features have a slab of width s between them. Along its normal they come nearer at most at V now, and
//! with accelerations of at most A (arcs of turning bodies; zero for nodes), so that within δ the slab loses no more than
//! V δ + ½ A δ². With m the gap to keep, going on by
//!
//! ```text
//!   V δ + ½ A δ² = s − m,   δ = 2 (s − m) / (V + √(V² + 2 A (s − m)))
//! ```
//!
//! never brings them nearer than m. It is repeated until the room s − m has shrunk to a tenth (a contact: nine tenths
//! of the way to it), or t = 1.
//! Motion along the surface costs nothing: only V counts.

use crate::math::Wide3;

/// What two features are to each other at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Width of the slab between them [m].
    pub width: f64,
    /// Largest speed along its normal at which they come nearer [m a step]; negative when they part.
    pub closing: f64,
    /// Largest acceleration of that [m a step²].
    pub bend: f64,
    /// From a to b.
    pub normal: Wide3,
    /// Of the corners at the nearest points.
    pub weights: [f64; 4],
}

/// Gaps to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    /// Distance at which the two touch: radii of round bodies [m].
    pub touch: f64,
    /// Gap beyond that [m].
    pub gap: f64,
    /// Gaps below this cannot be told from rounding: nothing may come nearer at all [m].
    pub floor: f64,
}

/// Share of the first room at which a contact is called.
const ENOUGH: f64 = 0.1;
/// Near the gap to keep: what a pair keeps of its distance in a step, so that pressure brings it there slowly.
const CREEP: f64 = 0.9;
/// Where that begins, in gaps.
const NEAR: f64 = 2.0;
/// Most rounds; what has not ended by then is a contact at the time reached, which is safe.
const ROUNDS: usize = 256;

impl Keep {
    /// Least distance that a pair may have in this step when it begins at `width` [m].
    pub fn least(&self, width: f64) -> f64 {
        let (gap, firm) = (width - self.touch, self.gap.max(self.floor));
        // nearer than that already: no nearer
        self.touch + if gap <= firm { gap } else { (CREEP * gap).min(NEAR * firm).max(firm) }
    }
}

/// The time until which the pair may go on, when it cannot go to the end, and how it looks then.
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
        // not all the way: who is stopped there is not stopped again by rounding
        let step = if room > enough { time_to_lose(room - 0.5 * enough, &now) } else { free };
        if step <= 0.0 {
            return Some((t, now));
        }
        t += step;
        now = look(t);
    }
    Some((t, now))
}

/// How long the slab surely takes to lose `room`: the positive root of V δ + ½ A δ² = room.
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
