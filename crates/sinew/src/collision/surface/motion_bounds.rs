//! Bounding boxes around moving features: positions at both ends of a time interval, and the normals of faces during
//! it.
//!
//! *Relative motion.* Layers that fall together do not approach each other, however fast they are. Corners move along
//! straight lines, so that two features stay separated between two times when along one axis they are so at both of
//! them, on the same side:
//!
//! ```text
//!   low_b(t) − high_a(t) > reach,   t = 0, end
//! ```
//!
//! All boxes refer to the same two times. A node whose trajectory was replaced after the first time has the new one
//! extrapolated back to that time: its box may be larger than necessary, never smaller.
//!
//! *Normals.* A connected patch does not meet itself while there is a direction along which all its normals have a
//! positive component (Volino and Magnenat-Thalmann 1994; the contour is not tested, see `self_contact_tree.rs`). When
//! corners move along straight lines, a normal is a quadratic polynomial in time with Bernstein coefficients (Provot
//! 1997), from positions at the start and at the end, and displacements u, w of the corners relative to each other
//!
//! ```text
//!   n₀ = e × f,   n₁ = e' × f',   m = (n₀ + n₁ − u × w)/2
//! ```
//!
//! If all coefficients of a patch have a positive component along a direction, so have its normals at all times in
//! between. A fixed set of axes is tested, and the set of two joined patches is the intersection of their sets.

use crate::math::{Block, Eight, LANES, Lane, Real, vec};

/// Positions of nodes at time 0 and at the end of the search interval, by slot [m].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways<'a> {
    pub x: &'a [Block],
    pub to: &'a [Block],
}

/// Search distance and time interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Features up to this distance apart are searched [m].
    pub reach: Real,
    /// Start of the interval [s].
    pub start: Real,
    /// End of the interval [s].
    pub end: Real,
}

impl Look {
    /// Fraction of its displacement that a node has completed at the start.
    pub fn gone(&self) -> Real {
        self.start / self.end
    }
}

/// All lanes, one bit each.
const EIGHT: u32 = (1 << LANES) - 1;
/// Larger than any coordinate [m].
const FAR_AWAY: Real = 1e30;

/// Box around positions at time 0 and at the end, three components and one of padding each.
#[derive(Clone, Copy, Debug)]
pub(super) struct MotionBounds {
    low: [Block; 2],
    high: [Block; 2],
}

#[inline(always)]
fn least(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|k| if a[k] < b[k] { a[k] } else { b[k] })
}

#[inline(always)]
fn most(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|k| if a[k] > b[k] { a[k] } else { b[k] })
}

impl MotionBounds {
    pub const NOTHING: Self = Self { low: [[Real::INFINITY; 4]; 2], high: [[-Real::INFINITY; 4]; 2] };

    /// Box around nodes.
    #[inline(always)]
    pub fn around(ways: Ways<'_>, slots: &[u32]) -> Self {
        let mut motion_bounds = Self::NOTHING;
        for &n in slots {
            for (k, x) in [&ways.x[n as usize], &ways.to[n as usize]].into_iter().enumerate() {
                (motion_bounds.low[k], motion_bounds.high[k]) =
                    (least(&motion_bounds.low[k], x), most(&motion_bounds.high[k], x));
            }
        }
        // the fourth component is padding and must not count as a gap
        motion_bounds.low.iter_mut().chain(&mut motion_bounds.high).for_each(|side| side[3] = 0.0);
        motion_bounds
    }

    #[inline(always)]
    pub fn join(&self, other: &Self) -> Self {
        Self {
            low: [least(&self.low[0], &other.low[0]), least(&self.low[1], &other.low[1])],
            high: [most(&self.high[0], &other.high[0]), most(&self.high[1], &other.high[1])],
        }
    }

    /// True when no point of one comes within reach of the other. Four components are tested as fast as three.
    #[inline(always)]
    pub fn is_apart(&self, other: &Self, look: Look) -> bool {
        let gap = |low: &Block, high: &Block| -> Block { std::array::from_fn(|k| low[k] - high[k]) };
        let above = least(&gap(&other.low[0], &self.high[0]), &gap(&other.low[1], &self.high[1]));
        let below = least(&gap(&self.low[0], &other.high[0]), &gap(&self.low[1], &other.high[1]));
        most(&above, &below).map(|gap| gap > look.reach).contains(&true)
    }
}

/// Calls `see` with the index of each bit that is set.
#[inline(always)]
pub(super) fn each_bit(mut bits: u32, mut see: impl FnMut(usize)) {
    while bits != 0 {
        see(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// Eight boxes: for each axis low and high at time 0, low and high at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack([[Eight; 4]; 3]);

impl Pack {
    /// Boxes that are far from all others.
    pub const NOBODY: Self = Self([[[FAR_AWAY; LANES], [-FAR_AWAY; LANES], [FAR_AWAY; LANES], [-FAR_AWAY; LANES]]; 3]);

    #[inline(always)]
    pub fn set(&mut self, lane: usize, motion_bounds: &MotionBounds) {
        for (axis, [low, high, end_low, end_high]) in self.0.iter_mut().enumerate() {
            (low[lane], high[lane]) = (motion_bounds.low[0][axis], motion_bounds.high[0][axis]);
            (end_low[lane], end_high[lane]) = (motion_bounds.low[1][axis], motion_bounds.high[1][axis]);
        }
    }

    /// A bit for each box that may come within reach of `motion_bounds`, by the test of `MotionBounds::is_apart`.
    #[inline(always)]
    pub fn near<L: Lane>(&self, t: L::Token, motion_bounds: &MotionBounds, look: Look) -> u32 {
        let (mut far, mut at) = (0, 0);
        while at < LANES {
            far |= self.gaps::<L>(t, motion_bounds, at).bits_gt(L::splat(t, look.reach)) << at;
            at += L::COUNT;
        }
        !far & EIGHT
    }

    /// The widest gap between a box and those of the lanes from `at` on.
    #[inline(always)]
    fn gaps<L: Lane>(&self, t: L::Token, motion_bounds: &MotionBounds, at: usize) -> L {
        let mut widest = L::splat(t, -FAR_AWAY);
        let mut axis = 0;
        while axis < 3 {
            let [low, high, end_low, end_high] = &self.0[axis];
            let above = L::load(t, &low[at..]) - L::splat(t, motion_bounds.high[0][axis]);
            let below = L::splat(t, motion_bounds.low[0][axis]) - L::load(t, &high[at..]);
            let end_above = L::load(t, &end_low[at..]) - L::splat(t, motion_bounds.high[1][axis]);
            let end_below = L::splat(t, motion_bounds.low[1][axis]) - L::load(t, &end_high[at..]);
            widest = widest.max(above.min(end_above)).max(below.min(end_below));
            axis += 1;
        }
        widest
    }
}

/// Bernstein coefficients of the normal of a face during the interval [m²].
pub(super) type Turn = [Block; 3];

/// The coefficients for the face with these corners.
#[inline(always)]
pub(super) fn turn(ways: Ways<'_>, [a, b, c]: [u32; 3], look: Look) -> Turn {
    let gone = look.gone();
    let whole = |slot: u32| vec(ways.to[slot as usize]) - vec(ways.x[slot as usize]);
    let place = |slot: u32| vec(ways.x[slot as usize]) + whole(slot) * gone;
    let way = |slot: u32| whole(slot) * (1.0 - gone);
    let (e, f) = (place(b) - place(a), place(c) - place(a));
    let (u, w) = (way(b) - way(a), way(c) - way(a));
    let (start, end) = (e.cross(f), (e + u).cross(f + w));
    [start, (start + end - u.cross(w)) * 0.5, end].map(|n| n.extend(0.0).to_array())
}

/// Smallest cosine between an axis and a normal that counts as along it. Sharper folds are tested pair by pair: with a
/// smaller value, small patches bent over an edge met themselves.
const STEEP: Real = 0.6;
/// Axes along which normals are compared: those of a cube's faces, edges and corners, and three more to fill sixteen
/// lanes. No direction is farther than 27 degrees from one of them.
const AXES: [[Real; AXIS_COUNT]; 3] = [
    [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 0.0, 0.0, 1.0],
];
const AXIS_COUNT: usize = 16;

/// Axes along which, and against which, all normals of a patch have a component of at least `STEEP`: a bit for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normals(u32);

impl Normals {
    /// Of an empty patch.
    pub const NONE: Self = Self(u32::MAX);

    #[inline(always)]
    pub fn of<L: Lane>(t: L::Token, turns: &[Turn; 2]) -> Self {
        let (none, far) = (L::splat(t, 0.0), L::splat(t, FAR_AWAY));
        let (mut along, mut against, mut at) = (0, 0, 0);
        while at < AXIS_COUNT {
            let axes = [L::load(t, &AXES[0][at..]), L::load(t, &AXES[1][at..]), L::load(t, &AXES[2][at..])];
            let square = (axes[0] * axes[0] + axes[1] * axes[1] + axes[2] * axes[2]) * L::splat(t, STEEP * STEEP);
            let (mut low, mut high) = (far, none - far);
            for n in turns.as_flattened() {
                let part = axes[0] * L::splat(t, n[0]) + axes[1] * L::splat(t, n[1]) + axes[2] * L::splat(t, n[2]);
                let (signed, least) =
                    (part * part.max(none - part), square * L::splat(t, n[0] * n[0] + n[1] * n[1] + n[2] * n[2]));
                (low, high) = (low.min(signed - least), high.max(signed + least));
            }
            along |= low.bits_gt(none) << at;
            against |= none.bits_gt(high) << at;
            at += L::COUNT;
        }
        Self(along | against << AXIS_COUNT)
    }

    /// The set of two joined patches.
    #[inline(always)]
    pub fn join(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True when there is an axis along which all normals have a component.
    #[inline(always)]
    pub fn are_one_way(self) -> bool {
        self.0 != 0
    }
}
