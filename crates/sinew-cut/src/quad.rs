//! A small piece of the area that an edge of a blade has swept: a quadrilateral between two places of a segment.

use crate::Point;

/// Swept by one segment of the blade, in rest space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quad {
    pub centre: Point,
    /// The blade's own normal. The strip's would follow each tremble of the blade.
    pub normal: Point,
    pub radius: f64,
    /// Path of the stroke when this was swept [m].
    pub path: f64,
    /// Copies at the ends of the segment; `NONE` outside of the body.
    pub seeds: [u32; 2],
    /// Only matter that hangs together with the seeds is cut.
    pub local: bool,
    u: Point,
    v: Point,
    corners: [[f64; 2]; 4],
}

impl Quad {
    /// Between the segment `old` and the segment `new`.
    pub fn new(old: [Point; 2], new: [Point; 2], normal: Point, path: f64) -> Self {
        let corners = [old[0], old[1], new[1], new[0]];
        let centre = corners.iter().sum::<Point>() / 4.0;
        let along = (old[1] - old[0]) + (new[1] - new[0]);
        let flat = along - normal * along.dot(normal);
        let u = flat.try_normalize().unwrap_or_else(|| normal.any_orthonormal_vector());
        let v = normal.cross(u);
        let radius = corners.iter().map(|c| c.distance(centre)).fold(0.0, f64::max);
        let corners = corners.map(|c| [(c - centre).dot(u), (c - centre).dot(v)]);
        Self { centre, normal, radius, path, seeds: [crate::NONE; 2], local: false, u, v, corners }
    }

    /// Signed distance to the plane through the centre [m].
    pub fn height(&self, at: Point) -> f64 {
        (at - self.centre).dot(self.normal)
    }

    /// Whether a point lies above or below the quadrilateral, widened by `margin`, and not farther than `reach`.
    pub fn covers(&self, at: Point, margin: f64, reach: f64) -> bool {
        let d = at - self.centre;
        if d.dot(self.normal).abs() > reach {
            return false;
        }
        let p = [d.dot(self.u), d.dot(self.v)];
        if p[0] * p[0] + p[1] * p[1] > (self.radius + margin) * (self.radius + margin) {
            return false;
        }
        let [a, b, c, e] = self.corners;
        inside(p, a, b, c)
            || inside(p, a, c, e)
            || [(a, b), (b, c), (c, e), (e, a)].iter().any(|&(s, t)| beside(p, s, t) <= margin * margin)
    }
}

fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// In a triangle of either orientation.
fn inside(p: [f64; 2], a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> bool {
    let signs = [turn(a, b, p), turn(b, c, p), turn(c, a, p)];
    signs.iter().all(|&s| s >= 0.0) || signs.iter().all(|&s| s <= 0.0)
}

/// Squared distance to a segment.
fn beside(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let d = [b[0] - a[0], b[1] - a[1]];
    let length = d[0] * d[0] + d[1] * d[1];
    let t = ((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / length;
    // a segment of no length has t NaN: take its start
    let t = if t > 0.0 { t.min(1.0) } else { 0.0 };
    let e = [p[0] - a[0] - t * d[0], p[1] - a[1] - t * d[1]];
    e[0] * e[0] + e[1] * e[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swept_quadrilateral_covers_its_inside_and_a_margin() {
        let at = |x, y| Point::new(x, y, 0.3);
        let quad = Quad::new([at(0.0, 0.0), at(1.0, 0.0)], [at(0.0, 0.5), at(1.0, 0.5)], Point::Z, 0.0);
        assert!((quad.height(Point::new(5.0, 5.0, 0.4)) - 0.1).abs() < 1e-15);
        assert!(quad.covers(Point::new(0.1, 0.49, 0.4), 0.0, 0.2));
        assert!(!quad.covers(Point::new(0.1, 0.49, 0.6), 0.0, 0.2));
        assert!(!quad.covers(Point::new(0.1, 0.51, 0.4), 0.0, 0.2));
        assert!(quad.covers(Point::new(0.1, 0.51, 0.4), 0.02, 0.2));
        assert!(quad.covers(Point::new(0.1, 0.01, 0.3), 0.0, 0.2));
    }
}
