//! Boxes around features that move: places and velocities, and the normals that faces have on their way.
//!
//! *Ways, not places.* Layers that fall together do not approach each other, however fast they are. So a box holds places
//! and velocities, and two of them stay apart between two times when along one axis they do so at both of them:
//!
//! ```text
//!   gap − t · closing speed > reach,   t = start, end
//! ```
//!
//! *Normals.* A connected patch does not meet itself while there is a direction which all its normals have a part along
//! (Volino and Magnenat-Thalmann 1994; the contour is not looked at, see `fold_tree.rs`). Corners that move straight on
//! turn a normal as a parabola of Bernstein coefficients (Provot 1997), with places at the start and at the end, and
//! corners' ways u, w from each other
//!
//! ```text
//!   n₀ = e × f,   n₁ = e' × f',   m = (n₀ + n₁ − u × w)/2
//! ```
//!
//! What all coefficients of a patch have a part along, its normals have at all times in between. Some axes are tried, and
//! those of two patches together are the axes that both have.

use crate::math::{Block, Eight, LANES, Lane, Real, vec};

/// Places of nodes at time 0 and velocities, by slot [m, m/s].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways<'a> {
    pub x: &'a [Block],
    pub v: &'a [Block],
}

/// How far is near, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Features this far apart are wanted [m].
    pub reach: Real,
    /// From now [s].
    pub start: Real,
    /// Until then [s].
    pub end: Real,
}

/// A bit for each lane.
const EIGHT: u32 = (1 << LANES) - 1;
/// Farther than anything [m].
const FAR_AWAY: Real = 1e30;

/// Around places and velocities, three numbers and a spare one each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drift {
    low: Block,
    high: Block,
    slow: Block,
    fast: Block,
}

#[inline(always)]
fn least(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|k| if a[k] < b[k] { a[k] } else { b[k] })
}

#[inline(always)]
fn most(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|k| if a[k] > b[k] { a[k] } else { b[k] })
}

impl Drift {
    pub const NOTHING: Self = Self {
        low: [Real::INFINITY; 4],
        high: [-Real::INFINITY; 4],
        slow: [Real::INFINITY; 4],
        fast: [-Real::INFINITY; 4],
    };

    /// Around nodes.
    #[inline(always)]
    pub fn around(ways: Ways<'_>, slots: &[u32]) -> Self {
        let mut drift = Self::NOTHING;
        for &n in slots {
            let (x, v) = (&ways.x[n as usize], &ways.v[n as usize]);
            (drift.low, drift.high) = (least(&drift.low, x), most(&drift.high, x));
            (drift.slow, drift.fast) = (least(&drift.slow, v), most(&drift.fast, v));
        }
        // what comes after the three is no gap
        for side in [&mut drift.low, &mut drift.high, &mut drift.slow, &mut drift.fast] {
            side[3] = 0.0;
        }
        drift
    }

    #[inline(always)]
    pub fn join(&self, other: &Self) -> Self {
        Self {
            low: least(&self.low, &other.low),
            high: most(&self.high, &other.high),
            slow: least(&self.slow, &other.slow),
            fast: most(&self.fast, &other.fast),
        }
    }

    /// True when no point of one comes within reach of the other. Four numbers are tried as fast as three.
    #[inline(always)]
    pub fn is_apart(&self, other: &Self, look: Look) -> bool {
        let up: Block = std::array::from_fn(|k| other.slow[k] - self.fast[k]);
        let down: Block = std::array::from_fn(|k| self.slow[k] - other.fast[k]);
        let above: Block = std::array::from_fn(|k| other.low[k] - self.high[k]);
        let below: Block = std::array::from_fn(|k| self.low[k] - other.high[k]);
        let at =
            |gap: Block, opening: Block, time: Real| -> Block { std::array::from_fn(|k| gap[k] + opening[k] * time) };
        let above = least(&at(above, up, look.start), &at(above, up, look.end));
        let below = least(&at(below, down, look.start), &at(below, down, look.end));
        most(&above, &below).map(|gap| gap > look.reach).contains(&true)
    }
}

/// The numbers of the bits that are set.
#[inline(always)]
pub(super) fn each_bit(mut bits: u32, mut see: impl FnMut(usize)) {
    while bits != 0 {
        see(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// Eight boxes: for each axis low, high, slow, fast.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack([[Eight; 4]; 3]);

impl Pack {
    /// Nobody comes near these.
    pub const NOBODY: Self = Self([[[FAR_AWAY; LANES], [-FAR_AWAY; LANES], [0.0; LANES], [0.0; LANES]]; 3]);

    #[inline(always)]
    pub fn set(&mut self, lane: usize, drift: &Drift) {
        for (axis, [low, high, slow, fast]) in self.0.iter_mut().enumerate() {
            (low[lane], high[lane]) = (drift.low[axis], drift.high[axis]);
            (slow[lane], fast[lane]) = (drift.slow[axis], drift.fast[axis]);
        }
    }

    /// A bit for each box that a box may come within reach of, as `Drift::is_apart` looks at it.
    #[inline(always)]
    pub fn near<L: Lane>(&self, t: L::Token, drift: &Drift, look: Look) -> u32 {
        let (mut far, mut at) = (0, 0);
        while at < LANES {
            far |= self.gaps::<L>(t, drift, look, at).bits_gt(L::splat(t, look.reach)) << at;
            at += L::COUNT;
        }
        !far & EIGHT
    }

    /// The widest gap between a box and those of the lanes from `at` on.
    #[inline(always)]
    fn gaps<L: Lane>(&self, t: L::Token, drift: &Drift, look: Look, at: usize) -> L {
        let (start, end) = (L::splat(t, look.start), L::splat(t, look.end));
        let mut widest = L::splat(t, -FAR_AWAY);
        let mut axis = 0;
        while axis < 3 {
            let [low, high, slow, fast] = &self.0[axis];
            let up = L::load(t, &slow[at..]) - L::splat(t, drift.fast[axis]);
            let down = L::splat(t, drift.slow[axis]) - L::load(t, &fast[at..]);
            let above = L::load(t, &low[at..]) - L::splat(t, drift.high[axis]);
            let below = L::splat(t, drift.low[axis]) - L::load(t, &high[at..]);
            let above = (above + up * start).min(above + up * end);
            let below = (below + down * start).min(below + down * end);
            widest = widest.max(above).max(below);
            axis += 1;
        }
        widest
    }
}

/// The coefficients of the normal of a face on its way [m²].
pub(super) type Turn = [Block; 3];

/// Those of the face with these corners.
#[inline(always)]
pub(super) fn turn(ways: Ways<'_>, [a, b, c]: [u32; 3], look: Look) -> Turn {
    let place = |slot: u32| vec(ways.x[slot as usize]) + vec(ways.v[slot as usize]) * look.start;
    let way = |slot: u32| vec(ways.v[slot as usize]) * (look.end - look.start);
    let (e, f) = (place(b) - place(a), place(c) - place(a));
    let (u, w) = (way(b) - way(a), way(c) - way(a));
    let (start, end) = (e.cross(f), (e + u).cross(f + w));
    [start, (start + end - u.cross(w)) * 0.5, end].map(|n| n.extend(0.0).to_array())
}

/// Least cosine between an axis and a normal that has a part along it. Folds sharper than that are looked at one by one:
/// with less, small patches that were bent over an edge met themselves.
const STEEP: Real = 0.6;
/// Axes along which normals are compared, those of a cube's faces, edges and corners, and how many there are with the
/// three that fill up sixteen. No direction is farther than 27 degrees from one of them.
const AXES: [[Real; AXIS_COUNT]; 3] = [
    [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 0.0, 0.0, 1.0],
];
const AXIS_COUNT: usize = 16;

/// Along which axes, and against which, all normals of a patch have a part: a bit for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normals(u32);

impl Normals {
    /// Of no faces.
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

    /// Those of two patches together.
    #[inline(always)]
    pub fn join(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True when there is an axis that all have a part along.
    #[inline(always)]
    pub fn are_one_way(self) -> bool {
        self.0 != 0
    }
}
