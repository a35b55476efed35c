//! Convex hull of points, for drawing. Incremental: points are added one after the other; faces visible from the new
//! point are replaced by a fan from the point to the horizon edges. Quadratic in the number of points, in f64 for
//! either precision of the engine.

use crate::figure::Triangles;
use sinew::{Real, Vec3};
use std::collections::BTreeSet;

type Point = [f64; 3];

fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Convex hull of points; without triangles when all points are coplanar.
pub(crate) fn hull(points: &[Vec3]) -> Triangles {
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    let p: Vec<Point> = points.iter().map(|v| v.to_array().map(|x| x as f64)).collect();
    let vertices = points.to_vec();
    let triangles = grow(&p).unwrap_or_default();
    // keep only the vertices that are used
    let used: BTreeSet<u32> = triangles.iter().flatten().copied().collect();
    let number = |k: u32| used.range(..k).count() as u32;
    let triangles = triangles.iter().map(|t: &[u32; 3]| t.map(number)).collect();
    Triangles { vertices: used.iter().map(|&k| vertices[k as usize]).collect(), triangles }
}

fn grow(p: &[Point]) -> Option<Vec<[u32; 3]>> {
    let size = p.iter().flat_map(|a| a.iter().map(|x| x.abs())).fold(0.0, f64::max);
    // Points are given in the precision of the engine: a point closer to a plane than the rounding error counts as
    // coplanar.
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    let flat = 8.0 * Real::EPSILON as f64 * size;
    let height = |f: &[u32; 3], x: Point| {
        let [a, b, c] = f.map(|k| p[k as usize]);
        let n = cross(sub(b, a), sub(c, a));
        dot(n, sub(x, a)) / dot(n, n).sqrt().max(f64::MIN_POSITIVE)
    };
    let mut faces = first_tetrahedron(p, flat)?;
    for (k, &x) in p.iter().enumerate() {
        let (seen, kept): (Vec<[u32; 3]>, Vec<[u32; 3]>) = faces.iter().partition(|f| height(f, x) > flat);
        if seen.is_empty() {
            continue;
        }
        let edges: BTreeSet<(u32, u32)> = seen.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
        faces = kept;
        // the horizon: edges between a visible and an invisible face
        for &(a, b) in edges.iter().filter(|&&(a, b)| !edges.contains(&(b, a))) {
            faces.push([a, b, k as u32]);
        }
    }
    Some(faces)
}

/// Four points far apart, as a tetrahedron with outward faces.
fn first_tetrahedron(p: &[Point], flat: f64) -> Option<Vec<[u32; 3]>> {
    let farthest = |f: &dyn Fn(Point) -> f64| (0..p.len()).max_by(|&i, &j| f(p[i]).total_cmp(&f(p[j])));
    let a = farthest(&|x| x[0])?;
    let b = farthest(&|x| dot(sub(x, p[a]), sub(x, p[a])))?;
    let along = sub(p[b], p[a]);
    let c = farthest(&|x| dot(cross(sub(x, p[a]), along), cross(sub(x, p[a]), along)))?;
    let n = cross(along, sub(p[c], p[a]));
    let length = dot(n, n).sqrt();
    let d = farthest(&|x| dot(n, sub(x, p[a])).abs())?;
    let high = dot(n, sub(p[d], p[a]));
    if !(high.abs() > flat * length) {
        return None;
    }
    let [a, b, c, d] = [a, b, c, d].map(|k| k as u32);
    let [b, c] = if high > 0.0 { [c, b] } else { [b, c] };
    Some(vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
}
