//! Pairs of features that may touch, told eight at a time: most pairs of cells whose boxes meet have none.
//!
//! Features outside of each other touch when their distance d is within reach. What has sunk in may be deeper:
//!
//! *A vertex behind a face* counts while the face is right above it, so that the way across the normal is no longer than a
//! share of the face. With the height z over the plane it is √(d² − z²) ≥ d − |z|.
//!
//! *Crossed edges* count while they are no deeper than a share of the shorter one, and meet between their ends.
//!
//! Who is left out would not have touched, and who is left in is looked at again by itself (`Finder`).

use super::fold_near::{from_face, nearest_of_edges};
use super::{DEEPEST_EDGE, END};
use crate::math::lane3::{V3, cross, dot, sub};
use crate::math::{Block, Kernel, LANES, Lane, Real, run};

/// What rounding may do to a distance, as a share of the features' size. Nearest points of narrow triangles and of segments
/// that are nearly parallel are badly known, their distance is known to less than this.
const ROUNDING: Real = 0.01;
/// Roundings of a place, in units of the last digit of the farthest.
const ROUNDINGS: Real = 32.0;
/// Below this squared sine of the angle between two sides a triangle has no plane.
const NARROW: Real = 1e-5;
/// What is divided by is no less [m⁴].
const TINY: Real = 1e-30;

/// Pairs of features with the surfels they have.
#[derive(Clone, Copy)]
pub(crate) enum Kind<'a> {
    /// Vertices and faces with these corners: places of both sides; the faces know which side is out.
    Faces(&'a [[u32; 3]], [&'a [Block]; 2], bool),
    /// Edges with these ends: places of both sides; some may touch with an end.
    Edges([&'a [[u32; 2]]; 2], [&'a [Block]; 2], bool),
}

/// Drops the pairs that cannot touch: vertices and faces, or edges of a and b.
pub(crate) fn sift(pairs: &mut Vec<[u32; 2]>, kind: Kind<'_>, reach: Real, lanes: bool) {
    run(Sift { pairs, kind, reach }, lanes);
}

struct Sift<'a> {
    pairs: &'a mut Vec<[u32; 2]>,
    kind: Kind<'a>,
    reach: Real,
}

impl Kernel for Sift<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { pairs, kind, reach } = self;
        let reach = L::splat(t, reach);
        let (mut kept, mut from) = (0, 0);
        while from < pairs.len() {
            let count = (pairs.len() - from).min(LANES);
            let mut slots = [[0; LANES]; 4];
            for lane in 0..LANES {
                let of_pair = slots_of(kind, pairs[from + lane.min(count - 1)]);
                for k in 0..4 {
                    slots[k][lane] = of_pair[k];
                }
            }
            let (mut far, mut at) = (0, 0);
            while at < LANES {
                let gap = match kind {
                    Kind::Faces(_, [points, faces], solid) => {
                        let x = [
                            L::gather_xyz(t, points, &slots[0][at..]),
                            L::gather_xyz(t, faces, &slots[1][at..]),
                            L::gather_xyz(t, faces, &slots[2][at..]),
                            L::gather_xyz(t, faces, &slots[3][at..]),
                        ];
                        gap_at_face(t, x, reach, solid)
                    }
                    Kind::Edges(_, [a, b], loose) => {
                        let x = [
                            L::gather_xyz(t, a, &slots[0][at..]),
                            L::gather_xyz(t, a, &slots[1][at..]),
                            L::gather_xyz(t, b, &slots[2][at..]),
                            L::gather_xyz(t, b, &slots[3][at..]),
                        ];
                        gap_of_edges(t, x, reach, loose)
                    }
                };
                far |= gap.bits_gt(L::splat(t, 0.0)) << at;
                at += L::COUNT;
            }
            for lane in 0..count {
                // written where it is or before
                pairs[kept] = pairs[from + lane];
                kept += usize::from(far & 1 << lane == 0);
            }
            from += count;
        }
        pairs.truncate(kept);
    }
}

/// Surfels of a pair: vertex and face, or two edges.
#[inline(always)]
fn slots_of(kind: Kind<'_>, [a, b]: [u32; 2]) -> [u32; 4] {
    match kind {
        Kind::Faces(corners, ..) => {
            let [i, j, k] = corners[b as usize];
            [a, i, j, k]
        }
        Kind::Edges([of_a, of_b], ..) => {
            let ([i, j], [k, l]) = (of_a[a as usize], of_b[b as usize]);
            [i, j, k, l]
        }
    }
}

/// What rounding may do between places of this kind [m].
#[inline(always)]
fn noise<L: Lane>(t: L::Token, [x, y, z]: V3<L>) -> L {
    L::splat(t, ROUNDINGS * Real::EPSILON) * size(x).max(size(y)).max(size(z))
}

/// More than nothing for a vertex that is too far from a face, and not right behind it [m].
#[inline(always)]
fn gap_at_face<L: Lane>(t: L::Token, [p, a, b, c]: [V3<L>; 4], reach: L, solid: bool) -> L {
    let tiny = L::splat(t, TINY);
    let (e, f, g) = (sub(b, a), sub(c, a), sub(c, b));
    let (ee, ff, gg) = (dot(e, e), dot(f, f), dot(g, g));
    let n = cross(e, f);
    let square = dot(n, n).max(tiny);
    let doubt = L::splat(t, ROUNDING + END) * ee.max(ff).max(gg).sqrt() + noise(t, p);
    let distance = from_face(t, [p, a, b, c]).sqrt() - doubt;
    let height = dot(n, sub(p, a)).div(square.sqrt());
    let beside = distance - size(height);
    // over a face that knows its outside nobody is behind it
    let not_behind = if solid { beside.max(height - doubt) } else { beside };
    let plain = square.select_gt(L::splat(t, NARROW) * ee * ff, not_behind, -tiny);
    (distance - reach).min(plain)
}

/// More than nothing for edges that are too far from each other, touching or crossed, or meet at an end [m].
#[inline(always)]
fn gap_of_edges<L: Lane>(t: L::Token, x: [V3<L>; 4], reach: L, loose: bool) -> L {
    let (e, f) = (sub(x[1], x[0]), sub(x[3], x[2]));
    let (long, other) = (dot(e, e).sqrt(), dot(f, f).sqrt());
    let doubt = L::splat(t, ROUNDING) * long.max(other) + noise(t, x[0]);
    let (square, s, u) = nearest_of_edges(t, x);
    let deepest = L::splat(t, DEEPEST_EDGE) * long.min(other);
    let far = square.sqrt() - doubt - reach.max(deepest);
    if loose {
        return far;
    }
    // shares of edges that cross at an angle worth the name are known to less
    let one = L::splat(t, 1.0);
    let inner = s.min(one - s).min(u.min(one - u));
    far.max(L::splat(t, 0.25 * END) - inner)
}

#[inline(always)]
fn size<L: Lane>(a: L) -> L {
    a.max(-a)
}

#[cfg(test)]
mod tests {
    use super::super::{blend, longest, point_triangle, segment_segment, way_between};
    use super::*;
    use crate::math::{Draws, Vec3};

    const REACH: Real = 0.1;

    #[test]
    fn a_vertex_that_is_left_out_is_not_near_and_not_right_behind() {
        let mut draws = Draws(11);
        let mut left_out = [0; 2];
        for round in 0..60_000 {
            let mut x: [Vec3; 4] = std::array::from_fn(|_| draws.vec());
            // near the face or not; some faces are narrow
            x[0] = x[1] + (x[0] - x[1]) * [1.0, 0.3, 0.05][round % 3];
            x[3] = x[2] + (x[3] - x[2]) * [1.0, 0.2, 0.01, 1e-4][round / 3 % 4];
            for solid in [false, true] {
                let gap = gap_at_face::<Real>((), x.map(|p| p.to_array()), REACH, solid);
                let [p, a, b, c] = x;
                let from = p - blend([a, b, c], point_triangle(p, [a, b, c]));
                let plane = (b - a).cross(c - a).normalize_or_zero();
                let height = plane.dot(from);
                let across = (from - plane * height).length();
                if gap > 0.0 {
                    let above = solid && height > 0.0;
                    assert!(from.length() > REACH, "{x:?}");
                    assert!(above || across > END * longest([a, b, c]), "{x:?}: {across} {height}");
                    left_out[usize::from(above)] += 1;
                }
            }
        }
        assert!(left_out.iter().all(|count| *count > 10_000), "{left_out:?}");
    }

    #[test]
    fn edges_that_are_left_out_are_not_near_or_meet_at_an_end() {
        let mut draws = Draws(12);
        let mut left_out = [0; 2];
        for round in 0..60_000 {
            let mut x: [Vec3; 4] = std::array::from_fn(|_| draws.vec());
            // some are nearly parallel
            x[3] = x[2] + (x[3] - x[2]).lerp(x[1] - x[0], [0.0, 0.9, 0.999, 1.0][round % 4]);
            let (a, b) = ([x[0], x[1]], [x[2], x[3]]);
            let (e, f) = (a[1] - a[0], b[1] - b[0]);
            let shares = segment_segment(a, b);
            let far = way_between(a, b, shares).length();
            let deepest = DEEPEST_EDGE * e.length().min(f.length());
            let inner = shares.iter().all(|s| *s > END && *s < 1.0 - END);
            let skew = e.cross(f).length() > super::super::SKEW * e.length() * f.length();
            for loose in [false, true] {
                if gap_of_edges::<Real>((), x.map(|p| p.to_array()), REACH, loose) > 0.0 {
                    let at_an_end = !(loose || inner && skew);
                    assert!(at_an_end || far > REACH.max(deepest), "{x:?}: {far} {shares:?}");
                    left_out[usize::from(loose)] += 1;
                }
            }
        }
        assert!(left_out.iter().all(|count| *count > 10_000), "{left_out:?}");
    }
}
