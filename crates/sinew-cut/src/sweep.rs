//! What a blade sweeps in one tick, for things that are crossed at once: ropes, springs, pairs of particles.

use crate::Point;
use crate::error::{CutError, finite};

/// The area between two places of the edge of a blade.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'a> {
    old: &'a [Point],
    new: &'a [Point],
}

impl<'a> Sweep<'a> {
    /// From the polyline `old` to the polyline `new`, of as many points.
    ///
    /// # Errors
    ///
    /// Fewer than two points, numbers that are not finite, different counts, a blade of no length.
    pub fn new(old: &'a [Point], new: &'a [Point]) -> Result<Self, CutError> {
        finite("point of the blade", old)?;
        finite("point of the blade", new)?;
        if old.len() != new.len() {
            return Err(CutError::WrongCount { what: "points", given: new.len(), wanted: old.len() });
        }
        let still = |line: &[Point]| line.windows(2).all(|pair| pair[0] == pair[1]);
        if old.len() < 2 || (still(old) && still(new)) {
            return Err(CutError::NoLength);
        }
        Ok(Self { old, new })
    }

    /// Where a segment from `a` to `b` is first crossed: 0 at `a`, 1 at `b`.
    pub fn crossing(&self, a: Point, b: Point) -> Option<f64> {
        let mut first: Option<f64> = None;
        for k in 0..self.old.len() - 1 {
            let [p, q, r, s] = [self.old[k], self.old[k + 1], self.new[k + 1], self.new[k]];
            for triangle in [[p, q, r], [p, r, s]] {
                if let Some(at) = pierced(a, b, triangle) {
                    first = Some(first.map_or(at, |other| other.min(at)));
                }
            }
        }
        first
    }
}

/// Where a segment goes through a triangle. A segment in its plane does not.
fn pierced(a: Point, b: Point, [p, q, r]: [Point; 3]) -> Option<f64> {
    let normal = (q - p).cross(r - p);
    let (above, below) = ((a - p).dot(normal), (b - p).dot(normal));
    // one end on the plane counts with its positive side
    if (above >= 0.0) == (below >= 0.0) {
        return None;
    }
    let at = above / (above - below);
    let x = a.lerp(b, at);
    let inside = |u: Point, v: Point| (v - u).cross(x - u).dot(normal) >= 0.0;
    (inside(p, q) && inside(q, r) && inside(r, p)).then_some(at)
}
