//! Vectors of f64, independent of the precision of the physics: meshes are measured before they are rounded.

use std::f64::consts::PI;

pub type Point = [f64; 3];

pub fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

pub fn distance(a: Point, b: Point) -> f64 {
    length(sub(a, b))
}

/// Area [m²].
pub fn area([a, b, c]: [Point; 3]) -> f64 {
    0.5 * length(cross(sub(b, a), sub(c, a)))
}

/// Signed volume of a tetrahedron [m³].
pub fn volume([a, b, c, d]: [Point; 4]) -> f64 {
    dot(cross(sub(b, a), sub(c, a)), sub(d, a)) / 6.0
}

/// Angle between two vectors [rad]; exact at 0 and π, where the arc cosine is not.
pub fn angle(a: Point, b: Point) -> f64 {
    length(cross(a, b)).atan2(dot(a, b))
}

/// Interior angles of a triangle [deg].
pub fn triangle_angles([a, b, c]: [Point; 3]) -> [f64; 3] {
    [(a, b, c), (b, c, a), (c, a, b)].map(|(p, q, r)| angle(sub(q, p), sub(r, p)) * 180.0 / PI)
}

/// The six dihedral angles of a tetrahedron [deg].
pub fn dihedral_angles(corners: [Point; 4]) -> [f64; 6] {
    // at edge pq, between the components of pr and ps perpendicular to the edge
    const EDGES: [[usize; 4]; 6] = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]];
    EDGES.map(|[p, q, r, s]| {
        let edge = sub(corners[q], corners[p]);
        let side = |t: usize| cross(edge, sub(corners[t], corners[p]));
        angle(side(r), side(s)) * 180.0 / PI
    })
}

/// Solid angle of a triangle seen from a point [sr], signed (van Oosterom and Strackee 1983, eq. 8).
pub fn solid_angle(eye: Point, corners: [Point; 3]) -> f64 {
    let [a, b, c] = corners.map(|p| sub(p, eye));
    let [la, lb, lc] = [a, b, c].map(length);
    let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    2.0 * dot(a, cross(b, c)).atan2(below)
}

/// Bounding box of points: minimum and maximum corner; `None` without points.
pub fn bounds<'a>(points: impl IntoIterator<Item = &'a Point>) -> Option<[Point; 2]> {
    points.into_iter().fold(None, |found: Option<[Point; 2]>, &p| {
        let [low, high] = found.unwrap_or([p, p]);
        Some([std::array::from_fn(|i| low[i].min(p[i])), std::array::from_fn(|i| high[i].max(p[i]))])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNER: [Point; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn the_corner_of_a_cube_has_three_right_angles_and_three_of_54_7_degrees() {
        assert!((volume(CORNER) - 1.0 / 6.0).abs() < 1e-15);
        let mut angles = dihedral_angles(CORNER);
        angles.sort_by(f64::total_cmp);
        let slanted = 2f64.sqrt().atan().to_degrees();
        for (angle, expected) in angles.into_iter().zip([slanted, slanted, slanted, 90.0, 90.0, 90.0]) {
            assert!((angle - expected).abs() < 1e-12, "{angle}");
        }
    }

    #[test]
    fn the_solid_angle_of_a_closed_surface_is_4_pi_inside_and_0_outside() {
        let faces = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        let sky = |eye: Point| faces.iter().map(|f| solid_angle(eye, f.map(|i: usize| CORNER[i]))).sum::<f64>();
        assert!((sky([0.1, 0.1, 0.1]) - 4.0 * PI).abs() < 1e-12);
        assert!(sky([1.0, 1.0, 1.0]).abs() < 1e-12);
    }
}
