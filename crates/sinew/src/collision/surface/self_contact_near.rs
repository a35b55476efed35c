//! Pairs of features by their true distance, eight at a time: those that come within the search distance during the
//! interval.
//!
//! Corners move along straight lines from positions x to positions x'. With n the vector between the nearest points at
//! the start, two features are separated by planes perpendicular to n during the interval if they are so at its start
//! and at its end:
//!
//! ```text
//!   n·(x_a − x_b) > reach |n|  and  n·(x'_a − x'_b) > reach |n|  for all corners a of one, b of the other
//! ```

use super::motion_bounds::{Look, Ways};
use super::self_contact_finder::{Candidate, FeaturePair};
use crate::math::lane3::{V3, along, dot, sub};
use crate::math::{Block, Kernel, LANES, Lane, Real};

/// Tolerance of early tests for rounding.
const MORE: Real = 1.001;
/// Lower limit of denominators [m⁴].
const TINY: Real = 1e-30;
/// Below this fraction of the edges' lengths two segments count as parallel.
const PARALLEL: Real = 1e-6;

/// Eight pairs to be tested; the last group may have fewer.
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

/// Bands of distance, the first at zero distance and the last beyond the search distance: pairs of similar distance are
/// stored together.
pub(super) const BANDS: usize = 8;

/// Lists those of the candidates that may meet, by their distance at the start.
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
        let (reach, gone) = (L::splat(t, MORE * look.reach), L::splat(t, look.gone()));
        for draft in drafts {
            let (mut square, mut beyond) = ([0.0; LANES], [0.0; LANES]);
            let mut at = 0;
            while at < LANES {
                let x = four::<L>(t, ways.x, draft, at);
                let to = four::<L>(t, ways.to, draft, at);
                let x = [
                    along(x[0], sub(to[0], x[0]), gone),
                    along(x[1], sub(to[1], x[1]), gone),
                    along(x[2], sub(to[2], x[2]), gone),
                    along(x[3], sub(to[3], x[3]), gone),
                ];
                let (apart, gap) = if edges {
                    let (_, s, u) = nearest_of_edges(t, x);
                    let n = way_from_edge(t, x, (s, u));
                    (square_of(n), edge_gap(t, n, x).min(edge_gap(t, n, to)))
                } else {
                    let n = way_from_face(t, x);
                    (square_of(n), face_gap(n, x).min(face_gap(n, to)))
                };
                apart.store(&mut square[at..]);
                (reach * apart.sqrt() - gap).store(&mut beyond[at..]);
                at += L::COUNT;
            }
            for lane in 0..draft.count as usize {
                if beyond[lane] >= 0.0 {
                    let pair = FeaturePair { edges, a: draft.numbers[0][lane], b: draft.numbers[1][lane] };
                    let slots = [0, 1, 2, 3].map(|k| draft.slots[k][lane]);
                    // the cast saturates: values that are too large and NaN give an index within bounds
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

/// Parameter, clamped to 0 … 1, along a line of squared length `square` of the point nearest to one with this dot
/// product with it.
#[inline(always)]
pub(crate) fn part<L: Lane>(t: L::Token, product: L, square: L) -> L {
    product.div(square.max(L::splat(t, TINY))).max(L::splat(t, 0.0)).min(L::splat(t, 1.0))
}

/// The smallest component along n of the vectors from corners of a face to a vertex.
#[inline(always)]
fn face_gap<L: Lane>(n: V3<L>, [p, a, b, c]: [V3<L>; 4]) -> L {
    dot(n, sub(p, a)).min(dot(n, sub(p, b))).min(dot(n, sub(p, c)))
}

/// The same from ends of the second edge to those of the first.
#[inline(always)]
fn edge_gap<L: Lane>(t: L::Token, n: V3<L>, [a, b, c, d]: [V3<L>; 4]) -> L {
    let none = L::splat(t, 0.0);
    dot(n, sub(a, c)) + dot(n, sub(b, a)).min(none) - dot(n, sub(d, c)).max(none)
}

/// Vector from the nearest point of the second edge to that of the first.
#[inline(always)]
fn way_from_edge<L: Lane>(t: L::Token, [a, b, c, d]: [V3<L>; 4], (s, u): (L, L)) -> V3<L> {
    along(along(sub(a, c), sub(b, a), s), sub(d, c), L::splat(t, 0.0) - u)
}

/// Vector from the nearest point of a triangle to a point.
#[inline(always)]
fn way_from_face<L: Lane>(t: L::Token, [p, a, b, c]: [V3<L>; 4]) -> V3<L> {
    let (none, one, tiny) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, TINY));
    let (e, f, d) = (sub(b, a), sub(c, a), sub(p, a));
    let (ee, ef, ff) = (dot(e, e), dot(e, f), dot(f, f));
    let sides = FaceSides { e, f, d, ee, ff, de: dot(d, e), df: dot(d, f) };
    let per = one.div((ee * ff - ef * ef).max(tiny));
    let (v, w, _) =
        nearest_on_face(t, &sides, ((ff * sides.de - ef * sides.df) * per, (ee * sides.df - ef * sides.de) * per));
    along(along(d, e, none - v), f, none - w)
}

/// Two sides e, f of a triangle from its first corner, the vector d from there to a point, and their dot products.
pub(crate) struct FaceSides<L> {
    pub e: V3<L>,
    pub f: V3<L>,
    pub d: V3<L>,
    pub ee: L,
    pub ff: L,
    pub de: L,
    pub df: L,
}

/// Parameters v, w along e and f of the nearest point of a triangle, from those of the projection onto its plane; the
/// last is 1 where both are the same.
#[inline(always)]
pub(crate) fn nearest_on_face<L: Lane>(t: L::Token, sides: &FaceSides<L>, (v, w): (L, L)) -> (L, L, L) {
    let (none, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    let &FaceSides { e, f, d, ee, ff, de, df } = sides;
    let inside = none.select_gt(v.min(w).min(one - v - w), none, one);
    // otherwise the nearest of the points on the three sides
    let (g, gd) = (sub(f, e), sub(d, e));
    let (on_e, on_f, on_g) = (part(t, de, ee), part(t, df, ff), part(t, dot(gd, g), dot(g, g)));
    let (far_e, far_f, far_g) = (along(d, e, none - on_e), along(d, f, none - on_f), along(gd, g, none - on_g));
    let (to_e, to_f, to_g) = (dot(far_e, far_e), dot(far_f, far_f), dot(far_g, far_g));
    let (side_v, side_w) = (to_e.select_gt(to_f, none, on_e), to_e.select_gt(to_f, on_f, none));
    let nearest = to_e.min(to_f);
    let side_v = nearest.select_gt(to_g, one - on_g, side_v);
    let side_w = nearest.select_gt(to_g, on_g, side_w);
    (inside.select_gt(none, v, side_v), inside.select_gt(none, w, side_w), inside)
}

/// Squared distance of a point from a triangle: to its plane where the projection is inside, otherwise to the nearest
/// of its sides.
#[inline(always)]
pub(crate) fn from_face<L: Lane>(t: L::Token, [p, a, b, c]: [V3<L>; 4]) -> L {
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
    // where lengths are zero the sides are nearest
    none.select_gt(inside, sides, plane.min(sides))
}

/// Squared distance of two segments and the parameters of the nearest points: nearest on the lines, clamped to the
/// first, nearest to that on the second, and back.
#[inline(always)]
pub(crate) fn nearest_of_edges<L: Lane>(t: L::Token, [a, b, c, d]: [V3<L>; 4]) -> (L, L, L) {
    let (none, one, half) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, 0.5));
    let (e, f, r) = (sub(b, a), sub(d, c), sub(a, c));
    let (ee, ef, ff) = (dot(e, e), dot(e, f), dot(f, f));
    let (er, fr) = (dot(e, r), dot(f, r));
    let area = ee * ff - ef * ef;
    let skew = (ef * fr - ff * er).div(area.max(L::splat(t, TINY))).max(none).min(one);
    // parallel: nearest to the midpoint of the second
    let beside = part(t, half * ef - er, ee);
    let s = area.select_gt(L::splat(t, PARALLEL) * ee * ff, skew, beside);
    let u = part(t, fr + ef * s, ff);
    let s = part(t, ef * u - er, ee);
    (square_of(along(along(r, e, s), f, none - u)), s, u)
}
