//! Closed surfaces for the tests.

use super::tree::Surface;
use super::vector::Vector;
use sinew::{Real, TriMesh, Vec3};
use std::f64::consts::{PI, TAU};

/// A grid of `columns` x `rows` quads mapped to space, with coincident points merged.
fn grid(columns: u32, rows: u32, map: impl Fn(f64, f64) -> [f64; 3]) -> Surface {
    let mut surface = Surface { vertices: Vec::new(), triangles: Vec::new() };
    let mut numbers = Vec::new();
    for j in 0..=rows {
        for i in 0..=columns {
            let p = Vector(map(f64::from(i) / f64::from(columns), f64::from(j) / f64::from(rows)));
            let known = surface.vertices.iter().position(|&q| (q - p).length() < 1e-9);
            numbers.push(known.unwrap_or_else(|| {
                surface.vertices.push(p);
                surface.vertices.len() - 1
            }) as u32);
        }
    }
    for j in 0..rows {
        for i in 0..columns {
            let at = |i: u32, j: u32| numbers[(i + (columns + 1) * j) as usize];
            for t in [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]] {
                if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
                    surface.triangles.push(t);
                }
            }
        }
    }
    surface
}

pub(super) fn ball(radius: f64, around: u32) -> Surface {
    grid(around, around / 2, |u, v| {
        let (s, c) = (TAU * u).sin_cos();
        let (up, out) = ((PI * (v - 0.5)).sin(), (PI * (v - 0.5)).cos());
        [radius * out * c, radius * out * s, radius * up]
    })
}

pub(super) fn torus(ring: f64, tube: f64, around: u32) -> Surface {
    grid(2 * around, around, |u, v| {
        let (s, c) = (TAU * u).sin_cos();
        let out = ring + tube * (TAU * v).cos();
        [out * c, out * s, tube * (TAU * v).sin()]
    })
}

pub(super) fn cuboid(size: [f64; 3]) -> Surface {
    let vertices = (0..8)
        .map(|k| {
            let bits = [k & 1, k >> 1 & 1, k >> 2];
            Vector(std::array::from_fn(|i| (f64::from(bits[i]) - 0.5) * size[i]))
        })
        .collect();
    let squares = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = squares.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Surface { vertices, triangles }
}

/// Translates a surface and rotates it slightly, so that nothing is aligned with the lattice.
pub(super) fn turned(mut surface: Surface, by: [f64; 3]) -> Surface {
    let ((s, c), (t, d)) = (0.4_f64.sin_cos(), 0.7_f64.sin_cos());
    for p in &mut surface.vertices {
        let q = Vector([c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]]);
        *p = Vector([q[0], d * q[1] - t * q[2], t * q[1] + d * q[2]]) + Vector(by);
    }
    surface
}

/// Several surfaces as one.
pub(super) fn joined(parts: &[Surface]) -> Surface {
    let mut all = Surface { vertices: Vec::new(), triangles: Vec::new() };
    for part in parts {
        let first = all.vertices.len() as u32;
        all.vertices.extend(&part.vertices);
        all.triangles.extend(part.triangles.iter().map(|t| t.map(|i| i + first)));
    }
    all
}

pub(super) fn mesh(surface: &Surface) -> TriMesh {
    let vertices = surface.vertices.iter().map(|p| Vec3::from_array(p.0.map(|x| x as Real))).collect();
    TriMesh { vertices, triangles: surface.triangles.clone() }
}
