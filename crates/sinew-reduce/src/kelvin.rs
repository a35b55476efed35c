//! Kelvin's solution: a point force in an infinite elastic body (Love 1927, FC 2.17-2.18).
//!
//! With r = y − x, its length r, G the shear modulus, ν Poisson's ratio, n the normal at y:
//!
//! ```text
//!   U_ij = ((3 − 4ν) δ_ij + r̂_i r̂_j)/(16π G (1 − ν) r)
//!   T_ij = −((r̂·n)((1 − 2ν) δ_ij + 3 r̂_i r̂_j) − (1 − 2ν)(r̂_i n_j − r̂_j n_i))/(8π (1 − ν) r²)
//! ```
//!
//! U is the displacement j at y by a unit force i at x, T the traction.

use crate::mesh::{Vec3, dot3, length, scale, sub};
use std::f64::consts::PI;

/// A 3 x 3 block.
pub type Block = [[f64; 3]; 3];

/// Constants of an isotropic material.
#[derive(Clone, Copy, Debug)]
pub struct Kelvin {
    /// Shear modulus G [Pa].
    pub shear: f64,
    /// Poisson's ratio.
    pub poisson: f64,
}

impl Kelvin {
    /// U and T at `y` with normal `n` for a force at `x`.
    pub fn kernels(&self, x: Vec3, y: Vec3, n: Vec3) -> [Block; 2] {
        let nu = self.poisson;
        let span = sub(y, x);
        let r = length(span);
        let e = scale(span, 1.0 / r);
        let along = dot3(e, n);
        let u = 1.0 / (16.0 * PI * self.shear * (1.0 - nu) * r);
        let t = -1.0 / (8.0 * PI * (1.0 - nu) * r * r);
        let delta = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        let of = |f: &dyn Fn(usize, usize) -> f64| [0, 1, 2].map(|i| [0, 1, 2].map(|j| f(i, j)));
        [
            of(&|i, j| u * ((3.0 - 4.0 * nu) * delta(i, j) + e[i] * e[j])),
            of(&|i, j| {
                let even = along * ((1.0 - 2.0 * nu) * delta(i, j) + 3.0 * e[i] * e[j]);
                t * (even - (1.0 - 2.0 * nu) * (e[i] * n[j] - e[j] * n[i]))
            }),
        ]
    }
}

/// Sums of kernels times each shape function over a triangle: U and T for three nodes.
pub(crate) type Sums = [[Block; 2]; 3];

/// Integrals over a triangle from a point that is not on it: it is divided until its parts are small against their
/// distance, seven points a part (degree 5).
pub(crate) fn away(kelvin: &Kelvin, x: Vec3, corners: [Vec3; 3], n: Vec3, area: f64) -> Sums {
    let mut sums = Sums::default();
    divide(kelvin, x, (corners, n), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], (area, 0), &mut sums);
    sums
}

/// Largest count of divisions: a part of a 64th of the edge.
const DEPTH: u32 = 6;

/// Parts are barycentric triangles `part` of the whole triangle.
fn divide(
    kelvin: &Kelvin,
    x: Vec3,
    whole: ([Vec3; 3], Vec3),
    part: [Vec3; 3],
    (area, depth): (f64, u32),
    sums: &mut Sums,
) {
    let middle = [0, 1, 2].map(|k| (part[0][k] + part[1][k] + part[2][k]) / 3.0);
    let distance = length(sub(blend(&whole.0, middle), x));
    // for a well shaped part: its edge against the distance
    if distance * distance < 6.0 * area && depth < DEPTH {
        let mid = |a: usize, b: usize| [0, 1, 2].map(|k| 0.5 * (part[a][k] + part[b][k]));
        let (ab, bc, ca) = (mid(0, 1), mid(1, 2), mid(2, 0));
        for piece in [[part[0], ab, ca], [ab, part[1], bc], [ca, bc, part[2]], [ab, bc, ca]] {
            divide(kelvin, x, whole, piece, (0.25 * area, depth + 1), sums);
        }
        return;
    }
    for (at, weight) in seven_points() {
        let shape = [0, 1, 2].map(|k| (0..3).map(|c| at[c] * part[c][k]).sum::<f64>());
        let kernels = kelvin.kernels(x, blend(&whole.0, shape), whole.1);
        accumulate(sums, &kernels, shape, weight * area);
    }
}

/// Integrals over a triangle from its own corner `from`, by Duffy's map, which takes one power of r away. The T of the
/// corner's own shape function is not integrable; the caller has it from rigid motions and ignores it here.
pub(crate) fn at_corner(kelvin: &Kelvin, from: usize, corners: [Vec3; 3], n: Vec3, area: f64) -> Sums {
    let mut sums = Sums::default();
    let x = corners[from];
    for (u, wu) in gauss() {
        for (v, wv) in gauss() {
            // u from the corner to the opposite edge, v along it
            let mut shape = [0.0; 3];
            shape[from] = 1.0 - u;
            shape[(from + 1) % 3] = u * (1.0 - v);
            shape[(from + 2) % 3] = u * v;
            let kernels = kelvin.kernels(x, blend(&corners, shape), n);
            accumulate(&mut sums, &kernels, shape, 2.0 * area * u * wu * wv);
        }
    }
    sums
}

fn blend(corners: &[Vec3; 3], shape: Vec3) -> Vec3 {
    [0, 1, 2].map(|a| shape[0] * corners[0][a] + shape[1] * corners[1][a] + shape[2] * corners[2][a])
}

fn accumulate(sums: &mut Sums, kernels: &[Block; 2], shape: Vec3, weight: f64) {
    for (sum, shape) in sums.iter_mut().zip(shape) {
        for (sum, kernel) in sum.iter_mut().zip(kernels) {
            for i in 0..3 {
                (0..3).for_each(|j| sum[i][j] += kernel[i][j] * shape * weight);
            }
        }
    }
}

/// Radon's rule: barycentric places and weights that add up to 1.
fn seven_points() -> [(Vec3, f64); 7] {
    let root = 15.0_f64.sqrt();
    let orbit = |sign: f64| {
        let (a, w) = ((6.0 + sign * root) / 21.0, (155.0 + sign * root) / 1200.0);
        [0, 1, 2].map(|k| {
            let mut at = [a; 3];
            at[k] = 1.0 - 2.0 * a;
            (at, w)
        })
    };
    let ([a, b, c], [d, e, f]) = (orbit(1.0), orbit(-1.0));
    [([1.0 / 3.0; 3], 0.225), a, b, c, d, e, f]
}

/// Legendre's rule of six points on 0 to 1.
fn gauss() -> [(f64, f64); 6] {
    let half = [
        (0.238_619_186_083_196_9, 0.467_913_934_572_691),
        (0.661_209_386_466_264_5, 0.360_761_573_048_138_6),
        (0.932_469_514_203_152, 0.171_324_492_379_170_4),
    ];
    let at = |k: usize| {
        let (x, w) = half[k / 2];
        (0.5 + if k.is_multiple_of(2) { 0.5 } else { -0.5 } * x, 0.5 * w)
    };
    [0, 1, 2, 3, 4, 5].map(at)
}
