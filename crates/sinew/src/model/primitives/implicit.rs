//! Closed surfaces of functions: positive inside, zero on the surface.
//!
//! A grid of cubes, each split into six tetrahedra (Kuhn), is cut where the function changes sign (marching
//! tetrahedra). Every inner edge of the result has two triangles, for any function. The raw triangles are uneven;
//! therefore vertices are moved to the mean of their neighbours and back onto the surface by Newton steps, a few times.
//!
//! Functions are made of polynomials and roots only, so that a shape is the same on every platform.

use super::super::tri_mesh::TriMesh;
use super::{Check, PrimitiveError};
use crate::math::{Real, Vec3};
use std::collections::BTreeMap;

/// A point in f64: grids are fine, and cuts must not depend on the precision of the build.
type Point = [f64; 3];

/// Iterations of smoothing.
const ROUNDS: usize = 6;
/// Cuts stay this far from the ends of an edge, as a fraction of its length, so that no triangle is without area.
const MARGIN: f64 = 0.15;

/// The six permutations of the axes; a path along them from the lowest corner of a cube passes a tetrahedron's corners.
/// Even permutations first: they give positive orientation.
const WALKS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];

/// A shape within the box from -1 to 1 along x, with the half extents `reach` along y and z.
pub(super) struct Field {
    pub inside: fn(Point) -> f64,
    pub reach: [f64; 2],
}

/// The surface of a field, scaled from 2 units to `length`.
pub(super) fn extract(
    name: &'static str,
    field: fn() -> Field,
    length: Real,
    cells: u32,
) -> Result<TriMesh, PrimitiveError> {
    let check = Check(name);
    check.length("length", length)?;
    check.count("cells", cells, 8)?;
    let field = field();
    let (mut points, triangles) = march(&field, cells);
    even_out(&mut points, &triangles, &field, 2.0 / f64::from(cells));
    let half = 0.5 * length;
    let vertices = points.iter().map(|p| Vec3::from_array(p.map(|x| x as Real * half))).collect();
    Ok(TriMesh { vertices, triangles })
}

struct Grid {
    counts: [u32; 3],
    low: Point,
    step: f64,
}

impl Grid {
    fn around(field: &Field, cells: u32) -> Self {
        // one cell of margin on every side
        let step = 2.0 / f64::from(cells);
        let reach = [1.0, field.reach[0], field.reach[1]];
        let counts = reach.map(|r| (2.0 * r / step).ceil() as u32 + 2);
        let low = [0, 1, 2].map(|i: usize| -0.5 * step * f64::from(counts[i]));
        Self { counts, low, step }
    }

    fn index(&self, c: [u32; 3]) -> u32 {
        c[0] + (self.counts[0] + 1) * (c[1] + (self.counts[1] + 1) * c[2])
    }

    fn place(&self, c: [u32; 3]) -> Point {
        [0, 1, 2].map(|i: usize| self.low[i] + self.step * f64::from(c[i]))
    }

    fn each(counts: [u32; 3], mut visit: impl FnMut([u32; 3])) {
        for k in 0..counts[2] {
            for j in 0..counts[1] {
                for i in 0..counts[0] {
                    visit([i, j, k]);
                }
            }
        }
    }
}

struct Marcher {
    places: Vec<Point>,
    values: Vec<f64>,
    cuts: BTreeMap<[u32; 2], u32>,
    points: Vec<Point>,
    triangles: Vec<[u32; 3]>,
}

fn march(field: &Field, cells: u32) -> (Vec<Point>, Vec<[u32; 3]>) {
    let grid = Grid::around(field, cells);
    let mut places = Vec::new();
    Grid::each(grid.counts.map(|n| n + 1), |c| places.push(grid.place(c)));
    let values = places.iter().map(|&p| (field.inside)(p)).collect();
    let mut marcher = Marcher { places, values, cuts: BTreeMap::new(), points: Vec::new(), triangles: Vec::new() };
    Grid::each(grid.counts, |cell| {
        for (w, walk) in WALKS.into_iter().enumerate() {
            let mut corner = cell;
            let mut tet = [grid.index(corner); 4];
            for (k, axis) in walk.into_iter().enumerate() {
                corner[axis] += 1;
                tet[k + 1] = grid.index(corner);
            }
            if w >= 3 {
                tet.swap(1, 2);
            }
            marcher.cut_tet(tet);
        }
    });
    (marcher.points, marcher.triangles)
}

impl Marcher {
    /// The vertex on an edge between inside and outside.
    fn cut(&mut self, a: u32, b: u32) -> u32 {
        let key = [a.min(b), a.max(b)];
        let [p, q] = key.map(|i| self.places[i as usize]);
        let [u, v] = key.map(|i| self.values[i as usize]);
        let points = &mut self.points;
        *self.cuts.entry(key).or_insert_with(|| {
            let part = (u / (u - v)).clamp(MARGIN, 1.0 - MARGIN);
            points.push([0, 1, 2].map(|i: usize| p[i] + part * (q[i] - p[i])));
            points.len() as u32 - 1
        })
    }

    /// Triangles of a positive tetrahedron, outward.
    fn cut_tet(&mut self, tet: [u32; 4]) {
        let is_in = |i: u32| self.values[i as usize] > 0.0;
        let mut front: Vec<usize> = (0..4).filter(|&k| is_in(tet[k])).collect();
        let mut back: Vec<usize> = (0..4).filter(|&k| !is_in(tet[k])).collect();
        let inward = front.len() == 3;
        if inward {
            std::mem::swap(&mut front, &mut back);
        }
        if front.is_empty() || back.is_empty() {
            return;
        }
        // the single corner (or the two inside) first, as an even permutation: the orientation stays positive
        let order: Vec<usize> = front.iter().chain(&back).copied().collect();
        let swaps = (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))).filter(|&(i, j)| order[i] > order[j]).count();
        if swaps % 2 == 1 {
            let last = back.len() - 1;
            back.swap(last - 1, last);
        }
        let [front, back] = [front, back].map(|side| side.into_iter().map(|k| tet[k]).collect::<Vec<_>>());
        if let (&[a], &[b, c, d]) = (&front[..], &back[..]) {
            let mut triangle = [self.cut(a, b), self.cut(a, c), self.cut(a, d)];
            if inward {
                triangle.reverse();
            }
            self.triangles.push(triangle);
        } else if let (&[a, b], &[c, d]) = (&front[..], &back[..]) {
            let [p, q, r, s] = [self.cut(a, c), self.cut(a, d), self.cut(b, d), self.cut(b, c)];
            self.triangles.extend([[p, q, r], [p, r, s]]);
        }
    }
}

/// Moves vertices to the mean of their neighbours and back onto the surface.
fn even_out(points: &mut [Point], triangles: &[[u32; 3]], field: &Field, step: f64) {
    for _ in 0..ROUNDS {
        let mut sums = vec![([0.0; 3], 0.0); points.len()];
        for t in triangles {
            for k in 0..3 {
                let (sum, count) = &mut sums[t[k] as usize];
                let next = points[t[(k + 1) % 3] as usize];
                (0..3).for_each(|i| sum[i] += next[i]);
                *count += 1.0;
            }
        }
        for (point, (sum, count)) in points.iter_mut().zip(sums) {
            let middle = sum.map(|x| x / count);
            *point = onto_surface(middle, field, step);
        }
    }
}

/// Two Newton steps along the gradient, each at most half a cell.
fn onto_surface(mut p: Point, field: &Field, step: f64) -> Point {
    let reach = 1e-4 * step;
    for _ in 0..2 {
        let value = (field.inside)(p);
        let slope = [0, 1, 2].map(|i: usize| {
            let (mut low, mut high) = (p, p);
            low[i] -= reach;
            high[i] += reach;
            ((field.inside)(high) - (field.inside)(low)) / (2.0 * reach)
        });
        let square = dot(slope, slope);
        if square > 0.0 {
            let length = (value / square.sqrt()).clamp(-0.5 * step, 0.5 * step) / square.sqrt();
            p = [0, 1, 2].map(|i: usize| p[i] - length * slope[i]);
        }
    }
    p
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// Approximate depth inside an ellipsoid.
fn ellipsoid(p: Point, middle: Point, radii: Point) -> f64 {
    let scaled = [0, 1, 2].map(|i: usize| (p[i] - middle[i]) / radii[i]);
    (1.0 - length(scaled)) * radii.into_iter().fold(f64::INFINITY, f64::min)
}

/// Depth inside a rod with round ends whose radius varies linearly between its ends.
fn rod(p: Point, [a, b]: [Point; 2], [first, last]: [f64; 2]) -> f64 {
    let way = [0, 1, 2].map(|i: usize| b[i] - a[i]);
    let from = [0, 1, 2].map(|i: usize| p[i] - a[i]);
    let part = (dot(from, way) / dot(way, way)).clamp(0.0, 1.0);
    let off = [0, 1, 2].map(|i: usize| from[i] - part * way[i]);
    first + part * (last - first) - length(off)
}

/// Union with a fillet about as wide as `width`.
fn blend(a: f64, b: f64, width: f64) -> f64 {
    let near = (width - (a - b).abs()).max(0.0) / width;
    a.max(b) + 0.25 * width * near * near
}

/// Two unequal lobes with a notch between, flat below: similar to a liver, but not of an individual.
pub(super) fn organ() -> Field {
    fn inside(p: Point) -> f64 {
        let right = ellipsoid(p, [-0.38, 0.02, 0.0], [0.6, 0.44, 0.5]);
        let left = ellipsoid(p, [0.42, 0.1, 0.1], [0.56, 0.24, 0.34]);
        let tail = ellipsoid(p, [-0.5, -0.25, 0.12], [0.36, 0.3, 0.32]);
        let whole = blend(blend(right, left, 0.3), tail, 0.25);
        // the hollow on the underside, where vessels would enter
        let hollow = ellipsoid(p, [0.1, -0.42, -0.08], [0.42, 0.38, 0.6]);
        -blend(-whole, hollow, 0.12)
    }
    Field { inside, reach: [0.65, 0.65] }
}

/// Stations of the spout, which bends upward and gets thinner: centre and radius.
const SPOUT: [(Point, f64); 4] =
    [([0.36, -0.14, 0.0], 0.16), ([0.6, -0.05, 0.0], 0.12), ([0.74, 0.12, 0.0], 0.09), ([0.93, 0.36, 0.0], 0.07)];

/// Stations of the handle, a bow from the upper to the lower body.
const HANDLE: [(Point, f64); 8] = [
    ([-0.44, 0.2, 0.0], 0.07),
    ([-0.66, 0.25, 0.0], 0.07),
    ([-0.8, 0.22, 0.0], 0.07),
    ([-0.9, 0.13, 0.0], 0.07),
    ([-0.93, 0.02, 0.0], 0.07),
    ([-0.88, -0.09, 0.0], 0.07),
    ([-0.76, -0.17, 0.0], 0.07),
    ([-0.44, -0.22, 0.0], 0.07),
];

/// Depth inside rods end to end.
fn hose(p: Point, stations: &[(Point, f64)]) -> f64 {
    let part = |ends: &[(Point, f64)]| rod(p, [ends[0].0, ends[1].0], [ends[0].1, ends[1].1]);
    stations.windows(2).map(part).fold(f64::NEG_INFINITY, f64::max)
}

/// Body, foot, lid, knob, spout and handle.
pub(super) fn teapot() -> Field {
    fn inside(p: Point) -> f64 {
        let body = ellipsoid(p, [-0.04, 0.0, 0.0], [0.52, 0.42, 0.52]);
        let foot = ellipsoid(p, [-0.04, -0.36, 0.0], [0.34, 0.1, 0.34]);
        let lid = ellipsoid(p, [-0.04, 0.36, 0.0], [0.3, 0.12, 0.3]);
        let knob = ellipsoid(p, [-0.04, 0.52, 0.0], [0.09, 0.08, 0.09]);
        let pot = blend(blend(blend(body, foot, 0.08), lid, 0.05), knob, 0.05);
        let spout = hose(p, &SPOUT);
        let handle = hose(p, &HANDLE);
        blend(blend(pot, spout, 0.1), handle, 0.06)
    }
    Field { inside, reach: [0.66, 0.6] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surface_of_a_ball_has_its_volume_and_lies_on_the_sphere() {
        let ball = || Field { inside: |p| 0.8 - length(p), reach: [1.0, 1.0] };
        let mesh = extract("ball", ball, 2.0, 32).unwrap();
        mesh.check().unwrap();
        let expected = 4.0 / 3.0 * std::f64::consts::PI as Real * 0.512;
        // chords of 1/16 on a radius of 0.8: (1/16)²/(4·0.64) of the volume
        assert!((mesh.volume() / expected - 1.0).abs() < 4e-3, "{} {expected}", mesh.volume());
        // every vertex on the sphere
        for v in &mesh.vertices {
            assert!((v.length() - 0.8).abs() < 1e-4);
        }
    }
}
