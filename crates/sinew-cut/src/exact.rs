//! Exact predicates on integer level values.
//!
//! A plane in an element is given by four integers, its level values at the corners: the matter on its positive side is
//! {b : level·b ≥ 0} in barycentric coordinates b. A point is the intersection of three planes, in homogeneous integer
//! coordinates with a positive sum. The side of a point is then the sign of an integer: no rounding, no tolerance, and
//! two elements that share a face decide alike.
//!
//! Bounds: |level| < 2^29, coordinates of a point below 6·2^87 < 2^90, their product with a plane below 2^121. In a
//! face, points are below 2^60 and products below 2^91.

/// Level values at the four corners of an element, in units of the body's resolution.
pub type Levels = [i32; 4];

/// Level values are below this in magnitude.
pub const LARGEST_LEVEL: i32 = (1 << 29) - 1;

/// The plane of the face opposite to a corner: b_corner ≥ 0.
pub(crate) fn face_plane(corner: usize) -> Levels {
    let mut plane = [0; 4];
    plane[corner] = 1;
    plane
}

/// The point where three planes meet; the sum of its coordinates is not negative. Zero if they have a line in common.
pub(crate) fn meet(p: &Levels, q: &Levels, r: &Levels) -> [i128; 4] {
    let minor = |a: usize, b: usize| i128::from(i64::from(p[a]) * i64::from(q[b]) - i64::from(p[b]) * i64::from(q[a]));
    let [r0, r1, r2, r3] = r.map(i128::from);
    let (m01, m02, m03) = (minor(0, 1), minor(0, 2), minor(0, 3));
    let (m12, m13, m23) = (minor(1, 2), minor(1, 3), minor(2, 3));
    let h = [
        r1 * m23 - r2 * m13 + r3 * m12,
        -(r0 * m23 - r2 * m03 + r3 * m02),
        r0 * m13 - r1 * m03 + r3 * m01,
        -(r0 * m12 - r1 * m02 + r2 * m01),
    ];
    if h.iter().sum::<i128>() < 0 { h.map(|x| -x) } else { h }
}

/// The sign of a plane at a point.
pub(crate) fn side(point: &[i128; 4], plane: &Levels) -> i8 {
    let sum: i128 = point.iter().zip(plane).map(|(&h, &l)| h * i128::from(l)).sum();
    sum.signum() as i8
}

/// Barycentric coordinates of a point, each correct to rounding.
pub(crate) fn weights(point: &[i128; 4]) -> [f64; 4] {
    let sum = point.iter().sum::<i128>() as f64;
    point.map(|h| h as f64 / sum)
}

/// Coordinates without common factor: two points are the same if and only if these are equal.
pub(crate) fn reduced(point: &[i128; 4]) -> [i128; 4] {
    let divisor = point.iter().fold(0_u128, |d, h| common_divisor(d, h.unsigned_abs()));
    if divisor <= 1 { *point } else { point.map(|h| h / divisor as i128) }
}

/// The greatest common divisor (binary algorithm: shifts and differences only).
fn common_divisor(mut a: u128, mut b: u128) -> u128 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    loop {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
        if b == 0 {
            return a << shift;
        }
        // the rest of the way fits the registers of the machine
        if a <= u128::from(u64::MAX) && b <= u128::from(u64::MAX) {
            return u128::from(small_divisor(a as u64, b as u64)) << shift;
        }
    }
}

fn small_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
    }
    a
}

/// A line in a face: level values at its three corners.
pub(crate) type Line = [i32; 3];

/// The point where two lines of a face meet, with a sum of coordinates that is not negative.
pub(crate) fn cross(p: &Line, q: &Line) -> [i64; 3] {
    let minor = |a: usize, b: usize| i64::from(p[a]) * i64::from(q[b]) - i64::from(p[b]) * i64::from(q[a]);
    let h = [minor(1, 2), minor(2, 0), minor(0, 1)];
    if h.iter().map(|&x| i128::from(x)).sum::<i128>() < 0 { h.map(|x| -x) } else { h }
}

/// The sign of a line at a point of its face.
pub(crate) fn line_side(point: &[i64; 3], line: &Line) -> i8 {
    let sum: i128 = point.iter().zip(line).map(|(&h, &l)| i128::from(h) * i128::from(l)).sum();
    sum.signum() as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_planes_meet_in_a_point_of_all_three() {
        let big = LARGEST_LEVEL;
        let planes = [[big, -big, big - 7, -3], [-big, 5, big, 11 - big], [big - 1, -big, -17, big]];
        let point = meet(&planes[0], &planes[1], &planes[2]);
        for plane in &planes {
            assert_eq!(side(&point, plane), 0);
        }
        assert_ne!(side(&point, &[1, 1, 1, 1]), -1);
    }

    #[test]
    fn a_point_has_one_reduced_form() {
        let point = [6_i128 << 80, 10 << 80, 0, 14 << 80];
        assert_eq!(reduced(&point), [3, 5, 0, 7]);
        let other = point.map(|h| h / 2 * 9);
        assert_eq!(reduced(&other), [3, 5, 0, 7]);
    }
}
