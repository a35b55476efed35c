//! The time of contact by root finding. Four points that move in straight lines lie in one plane when
//!
//! ```text
//!   f(t) = u(t)·(v(t) × w(t)) = 0,   u, v, w linear in t
//! ```
//!
//! with u = p − a, v = b − a, w = c − a for a vertex p and a face a b c, and u = c − a, v = b − a, w = d − c for edges
//! a b and c d. (FC eq. 4.7 has the distance to the vertex with the plane's sign, which jumps at the root; with the
//! unnormalised normal it is this cubic.) It has up to three roots; the time of contact is the smallest at which all
//! barycentric weights are at least zero and sum to one, that is at which the features themselves meet.
//!
//! Between the roots of f' the cubic is monotone, so each monotone interval contains at most one root, bracketed by its
//! ends.

use super::roots::{RootMethod, find};
use super::{Slab, edge_edge, vertex_face};
use crate::math::Wide3;

/// Features count as meeting when nearer than this fraction of their size.
const MEETS: f64 = 1e-7;

/// The four points at the start and at the end of the step; `edges`: two edges instead of a vertex and a face.
/// Returns the time of contact.
pub(crate) fn first_meeting(method: RootMethod, from: &[Wide3; 4], to: &[Wide3; 4], edges: bool) -> Option<f64> {
    let cubic = Cubic::of(from, to, edges);
    let at = |t: f64| -> [Wide3; 4] { std::array::from_fn(|k| from[k].lerp(to[k], t)) };
    let size = (1..4).map(|k| (from[k] - from[0]).length().max((to[k] - to[0]).length())).fold(0.0, f64::max);
    let meets = |t: f64| {
        let x = at(t);
        let slab: Slab = if edges { edge_edge(&x) } else { vertex_face(&x) };
        slab.width <= MEETS * size
    };
    let (stops, count) = cubic.stretches();
    for pair in stops[..count].windows(2) {
        let (low, high) = (pair[0], pair[1]);
        let (f_low, f_high) = (cubic.value(low), cubic.value(high));
        let time = if f_low == 0.0 {
            low
        } else if (f_low < 0.0) != (f_high < 0.0) || f_high == 0.0 {
            find(method, |t| cubic.value(t), low, high).0
        } else {
            continue;
        };
        if meets(time) {
            return Some(time);
        }
    }
    None
}

/// c0 + c1 t + c2 t² + c3 t³.
struct Cubic([f64; 4]);

impl Cubic {
    fn of(from: &[Wide3; 4], to: &[Wide3; 4], edges: bool) -> Self {
        let vectors = |x: &[Wide3; 4]| match edges {
            false => [x[0] - x[1], x[2] - x[1], x[3] - x[1]],
            true => [x[2] - x[0], x[1] - x[0], x[3] - x[2]],
        };
        let [u, v, w] = vectors(from);
        let [u1, v1, w1] = vectors(to);
        let (du, dv, dw) = (u1 - u, v1 - v, w1 - w);
        let triple = |a: Wide3, b: Wide3, c: Wide3| a.dot(b.cross(c));
        Self([
            triple(u, v, w),
            triple(du, v, w) + triple(u, dv, w) + triple(u, v, dw),
            triple(du, dv, w) + triple(du, v, dw) + triple(u, dv, dw),
            triple(du, dv, dw),
        ])
    }

    fn value(&self, t: f64) -> f64 {
        let [a, b, c, d] = self.0;
        a + t * (b + t * (c + t * d))
    }

    /// 0, the roots of the derivative inside (0, 1), and 1: ascending.
    fn stretches(&self) -> ([f64; 4], usize) {
        let [_, b, c, d] = self.0;
        let mut stops = [0.0, 1.0, 1.0, 1.0];
        let mut count = 1;
        // 3 d t² + 2 c t + b = 0 without cancellation
        let disc = c * c - 3.0 * d * b;
        if disc > 0.0 {
            let q = -(c + disc.sqrt().copysign(c));
            let (r, s) = (q / (3.0 * d), b / q);
            let (first, second) = if r <= s || s.is_nan() { (r, s) } else { (s, r) };
            for root in [first, second] {
                if root > 0.0 && root < 1.0 {
                    stops[count] = root;
                    count += 1;
                }
            }
        }
        stops[count] = 1.0;
        (stops, count + 1)
    }
}
