//! Pairs of features by their true distance, eight at a time: who comes within reach in time.
//!
//! Points of two features part at no more than the fastest that their corners do, so that a pair with distance d at the
//! start may meet within time T while
//!
//! ```text
//!   d ≤ reach + T max |v_a − v_b|
//! ```

use super::drift::{Look, Ways};
use super::fold_finder::{Candidate, FoldPair};
use crate::math::lane3::{V3, along, dot, sub};
use crate::math::{Block, Kernel, LANES, Lane, Real};

/// What early tests leave to rounding.
const MORE: Real = 1.001;
/// Nothing is divided by less [m⁴].
const TINY: Real = 1e-30;
/// Below this share of the edges' lengths two segments count as parallel.
const PARALLEL: Real = 1e-6;

/// Eight pairs that are to be looked at; the last group may have fewer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    slots: [[u32; LANES]; 4],
    numbers: [[u32; LANES]; 2],
    count: u32,
}

impl Draft {
    const NONE: Self = Self { slots: [[0; LANES]; 4], numbers: [[0; LANES]; 2], count: 0 };

    /// Adds a pair to the last group, or to a new one.
    #[inline(always)]
    pub fn push(list: &mut Vec<Self>, [a, b]: [u32; 2], slots: [u32; 4]) {
        if list.last().is_none_or(|last| last.count as usize == LANES) {
            list.push(Self::NONE);
        }
        let Some(last) = list.last_mut() else { return };
        let lane = last.count as usize % LANES;
        (last.numbers[0][lane], last.numbers[1][lane]) = (a, b);
        for (to, slot) in last.slots.iter_mut().zip(slots) {
            to[lane] = slot;
        }
        last.count += 1;
    }
}

/// Bands of distance, the first at nothing and the last beyond reach: pairs that are as far from each other lie together.
pub(super) const BANDS: usize = 8;

/// Lists those of the drafts that may meet, by their distance at the start.
pub(super) struct Near<'a> {
    pub drafts: &'a [Draft],
    pub edges: bool,
    pub ways: Ways<'a>,
    pub look: Look,
    pub out: &'a mut [Vec<Candidate>; BANDS],
}

impl Kernel for Near<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { drafts, edges, ways, look, out } = self;
        let bands = BANDS as Real / look.reach;
        let (reach, more) = (L::splat(t, look.reach), L::splat(t, MORE));
        let (start, time) = (L::splat(t, look.start), L::splat(t, look.end - look.start));
        for draft in drafts {
            let (mut square, mut beyond) = ([0.0; LANES], [0.0; LANES]);
            let mut at = 0;
            while at < LANES {
                let x = four::<L>(t, ways.x, draft, at);
                let v = four::<L>(t, ways.v, draft, at);
                let x = [
                    along(x[0], v[0], start),
                    along(x[1], v[1], start),
                    along(x[2], v[2], start),
                    along(x[3], v[3], start),
                ];
                let (apart, fastest) = if edges {
                    let parting = square_of(sub(v[0], v[2])).max(square_of(sub(v[0], v[3])));
                    let parting = parting.max(square_of(sub(v[1], v[2]))).max(square_of(sub(v[1], v[3])));
                    (nearest_of_edges(t, x).0, parting)
                } else {
                    let parting = square_of(sub(v[0], v[1])).max(square_of(sub(v[0], v[2])));
                    (from_face(t, x), parting.max(square_of(sub(v[0], v[3]))))
                };
                let far = more * (reach + time * fastest.sqrt());
                apart.store(&mut square[at..]);
                (far * far - apart).store(&mut beyond[at..]);
                at += L::COUNT;
            }
            for lane in 0..draft.count as usize {
                if beyond[lane] >= 0.0 {
                    let pair = FoldPair { edges, a: draft.numbers[0][lane], b: draft.numbers[1][lane] };
                    let slots = [0, 1, 2, 3].map(|k| draft.slots[k][lane]);
                    // a cast of what is too large or no number comes out within bounds
                    let band = (square[lane].sqrt() * bands) as usize;
                    out[band.min(BANDS - 1)].push(Candidate { pair, slots });
                }
            }
        }
    }
}

#[inline(always)]
fn four<L: Lane>(t: L::Token, of: &[Block], draft: &Draft, at: usize) -> [V3<L>; 4] {
    [
        L::gather_xyz(t, of, &draft.slots[0][at..]),
        L::gather_xyz(t, of, &draft.slots[1][at..]),
        L::gather_xyz(t, of, &draft.slots[2][at..]),
        L::gather_xyz(t, of, &draft.slots[3][at..]),
    ]
}

#[inline(always)]
fn square_of<L: Lane>(v: V3<L>) -> L {
    dot(v, v)
}

/// Share of the way along a line of squared length `square` to the point nearest to one with this product with it.
#[inline(always)]
pub(crate) fn part<L: Lane>(t: L::Token, product: L, square: L) -> L {
    product.div(square.max(L::splat(t, TINY))).max(L::splat(t, 0.0)).min(L::splat(t, 1.0))
}

/// Squared distance of a point from a triangle: to its plane above its inside, else to the nearest of its sides.
#[inline(always)]
pub(super) fn from_face<L: Lane>(t: L::Token, [p, a, b, c]: [V3<L>; 4]) -> L {
    let (none, one, tiny) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, TINY));
    let (e, f, d) = (sub(b, a), sub(c, a), sub(p, a));
    let (ee, ef, ff) = (dot(e, e), dot(e, f), dot(f, f));
    let (de, df) = (dot(d, e), dot(d, f));
    let area = (ee * ff - ef * ef).max(tiny);
    let (v, w) = (ff * de - ef * df, ee * df - ef * de);
    let inside = v.min(w).min(area - v - w);
    let (g, gd) = (sub(c, b), sub(d, e));
    let on = [part(t, de, ee), part(t, df, ff), part(t, dot(gd, g), dot(g, g))];
    let sides = square_of(along(d, e, none - on[0])).min(square_of(along(d, f, none - on[1])));
    let sides = sides.min(square_of(along(gd, g, none - on[2])));
    let per = one.div(area);
    let plane = square_of(along(along(d, e, none - v * per), f, none - w * per));
    // where lengths are nothing the sides are nearest
    none.select_gt(inside, sides, plane.min(sides))
}

/// Squared distance of two segments and the shares of the way along them: nearest on the lines, kept on the first, nearest to
/// that on the second, and back.
#[inline(always)]
pub(super) fn nearest_of_edges<L: Lane>(t: L::Token, [a, b, c, d]: [V3<L>; 4]) -> (L, L, L) {
    let (none, one, half) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, 0.5));
    let (e, f, r) = (sub(b, a), sub(d, c), sub(a, c));
    let (ee, ef, ff) = (dot(e, e), dot(e, f), dot(f, f));
    let (er, fr) = (dot(e, r), dot(f, r));
    let area = ee * ff - ef * ef;
    let skew = (ef * fr - ff * er).div(area.max(L::splat(t, TINY))).max(none).min(one);
    // parallel: nearest to the middle of the second
    let beside = part(t, half * ef - er, ee);
    let s = area.select_gt(L::splat(t, PARALLEL) * ee * ff, skew, beside);
    let u = part(t, fr + ef * s, ff);
    let s = part(t, ef * u - er, ee);
    (square_of(along(along(r, e, s), f, none - u)), s, u)
}
