//! Boundary elements (FC 2.1.2): the compliance of a body from its surface alone.
//!
//! ```text
//!   H u = G t,   H_ij = ∫ T N_j (i ≠ j),   G_ij = ∫ U N_j,   H_ii from rigid translations
//! ```
//!
//! Linear triangles, one equation a node. In a body the rows of H add up to zero, in infinite matter around a cavity to
//! one. With forces f = A t (A: a third of the triangles at each node) the compliance is C = S(H⁻¹ G A⁻¹). Collocation
//! does not make it symmetric, and a contact on a compliance that is not symmetric creates energy; S takes the symmetric
//! part and sets negative eigenvalues to zero. How much that changes is reported.

use crate::compliance::{Compliance, check_cap, scaled_motions};
use crate::error::ReduceError;
use crate::kelvin::{Kelvin, Sums, at_corner, away};
use crate::linalg::Dense;
use crate::material::Material;
use crate::mesh::{length, scale};
use crate::surface::Surface;

/// On which side of the surface the matter is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// A body; its compliance is floating.
    #[default]
    Inside,
    /// A cavity in infinite matter. Normals point out of the matter, that is, into the cavity.
    Outside,
}

/// A compliance from a surface, and what symmetry cost.
#[derive(Clone, Debug)]
pub struct BoundaryBody {
    /// Answer of the surface.
    pub compliance: Compliance,
    /// Size of the skew part that was removed, relative to the whole (Frobenius norms).
    pub asymmetry: f64,
    /// Count of negative eigenvalues that were set to zero.
    pub clipped: usize,
    /// The most negative of them, relative to the largest eigenvalue.
    pub most_negative: f64,
}

impl BoundaryBody {
    /// From a closed surface of an isotropic material, with at most `cap` nodes.
    pub fn new(surface: &Surface, material: &Material, side: Side, cap: usize) -> Result<Self, ReduceError> {
        let kelvin = isotropic(material)?;
        surface.check()?;
        check_cap(surface.nodes.len(), cap)?;
        let volume = surface.volume();
        if (volume > 0.0) != (side == Side::Inside) {
            return Err(ReduceError::InsideOut { volume });
        }
        let [mut h, g] = matrices(surface, &kelvin, side);
        let areas = surface.areas();
        let count = h.rows();
        // unknowns of one size: G by a length over the shear modulus, H by nothing
        let motions = (side == Side::Inside).then(|| area_motions(surface, &areas));
        if let Some([rigid, weighed]) = &motions {
            h.accumulate(&rigid.times_transposed(weighed));
        }
        let mut by_force = g;
        for j in 0..count {
            by_force.column_mut(j).iter_mut().for_each(|g| *g /= areas[j / 3]);
        }
        let mut matrix = h.solve_general(&by_force);
        if !matrix.data().iter().all(|c| c.is_finite()) {
            let remedy = "repair triangles that are nearly flat";
            return Err(ReduceError::Singular { system: "the matrix of the boundary elements", remedy });
        }
        if let Some([rigid, weighed]) = &motions {
            // only loads that balance, only displacements without rigid part
            matrix.subtract(&rigid.times(&weighed.transposed_times(&matrix)));
            matrix.subtract(&matrix.times(weighed).times_transposed(rigid));
        }
        let points = surface.nodes.clone();
        let nodes = (0..points.len() as u32).collect();
        let (matrix, asymmetry, clipped, most_negative) = symmetric_part(matrix)?;
        let compliance = Compliance::from_parts(nodes, points, matrix, side == Side::Inside);
        Ok(Self { compliance, asymmetry, clipped, most_negative })
    }
}

fn isotropic(material: &Material) -> Result<Kelvin, ReduceError> {
    let d = material.elasticity.moduli();
    let (shear, lambda) = (d[3][3], d[0][1]);
    let kelvin = Kelvin { shear, poisson: 0.5 * lambda / (lambda + shear) };
    let like = crate::material::Elasticity::isotropic(2.0 * shear * (1.0 + kelvin.poisson), kelvin.poisson)?;
    let far = d.iter().flatten().zip(like.moduli().iter().flatten()).any(|(a, b)| (a - b).abs() > 1e-9 * d[0][0]);
    if far {
        let range = "isotropic: Kelvin's solution is for isotropic matter";
        return Err(ReduceError::OutOfRange { name: "shear modulus of boundary elements", value: shear, range });
    }
    Ok(kelvin)
}

/// H and G.
pub(crate) fn matrices(surface: &Surface, kelvin: &Kelvin, side: Side) -> [Dense; 2] {
    let count = surface.nodes.len();
    let (mut h, mut g) = (Dense::zeros(3 * count, 3 * count), Dense::zeros(3 * count, 3 * count));
    for (t, triangle) in surface.triangles.iter().enumerate() {
        let (corners, double) = (surface.corners(t), surface.double_area(t));
        let area = 0.5 * length(double);
        let n = scale(double, 0.5 / area);
        for (source, &x) in surface.nodes.iter().enumerate() {
            let own = triangle.iter().position(|&i| i as usize == source);
            let sums: Sums = match own {
                Some(corner) => at_corner(kelvin, corner, corners, n, area),
                None => away(kelvin, x, corners, n, area),
            };
            for (k, &node) in triangle.iter().enumerate() {
                for i in 0..3 {
                    for j in 0..3 {
                        let at = (3 * source + i, 3 * node as usize + j);
                        g.add(at.0, at.1, sums[k][0][i][j]);
                        if own != Some(k) {
                            h.add(at.0, at.1, sums[k][1][i][j]);
                        }
                    }
                }
            }
        }
    }
    for source in 0..count {
        for i in 0..3 {
            for j in 0..3 {
                let row: f64 = (0..count).map(|node| h.get(3 * source + i, 3 * node + j)).sum();
                let whole = if side == Side::Outside && i == j { 1.0 } else { 0.0 };
                h.add(3 * source + i, 3 * source + j, whole - row);
            }
        }
    }
    [h, g]
}

/// R with Rᵀ A R = 1 and A R, for the areas A as weights in place of masses: a surface has no inner nodes.
fn area_motions(surface: &Surface, areas: &[f64]) -> [Dense; 2] {
    let six = scaled_motions(&surface.nodes);
    let weigh = |m: &Dense| Dense::from_fn(m.rows(), m.columns(), |i, j| areas[i / 3] * m.get(i, j));
    let gram = six.transposed_times(&weigh(&six));
    // R L⁻ᵀ by the eigenvectors of the Gram matrix
    let rigid = match gram.eigen("the rigid motions") {
        Ok((values, vectors)) => {
            six.times(&Dense::from_fn(6, 6, |i, j| vectors.get(i, j) / values[j].max(f64::MIN_POSITIVE).sqrt()))
        }
        Err(_) => six,
    };
    let weighed = weigh(&rigid);
    [rigid, weighed]
}

/// Nearest symmetric matrix without negative eigenvalues, with the sizes of what was removed.
fn symmetric_part(mut matrix: Dense) -> Result<(Dense, f64, usize, f64), ReduceError> {
    let norm = |m: &Dense| m.data().iter().map(|c| c * c).sum::<f64>().sqrt();
    let mut skew = matrix.clone();
    let whole = norm(&matrix);
    matrix.symmetrise();
    skew.subtract(&matrix);
    let (values, vectors) = matrix.eigen("the compliance")?;
    let largest = values.last().copied().unwrap_or(0.0);
    // what rounding leaves of the rigid motions is not counted
    let negative: Vec<usize> = (0..values.len()).filter(|&j| values[j] < 0.0).collect();
    let clipped = negative.iter().filter(|&&j| values[j] < -1e-12 * largest).count();
    let parts = vectors.pick_columns(negative.iter().copied());
    let weighed = Dense::from_fn(parts.rows(), parts.columns(), |i, j| parts.get(i, j) * values[negative[j]]);
    matrix.subtract(&weighed.times_transposed(&parts));
    matrix.symmetrise();
    Ok((matrix, norm(&skew) / whole, clipped, (values[0] / largest).min(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Vec3, dot3, plus};

    /// Tractions on a sphere around a unit force balance it, whichever point inside it has.
    #[test]
    fn the_tractions_of_a_point_force_balance_it() {
        let kelvin = Kelvin { shear: 2.0, poisson: 0.3 };
        let ball = sphere(3);
        let mut sum = [[0.0; 3]; 3];
        for t in 0..ball.triangles.len() {
            let double = ball.double_area(t);
            let area = 0.5 * length(double);
            let sums = away(&kelvin, [0.2, -0.1, 0.3], ball.corners(t), scale(double, 0.5 / area), area);
            for k in &sums {
                (0..3).for_each(|i| (0..3).for_each(|j| sum[i][j] += k[1][i][j]));
            }
        }
        for i in 0..3 {
            for j in 0..3 {
                let wanted = if i == j { -1.0 } else { 0.0 };
                assert!((sum[i][j] - wanted).abs() < 1e-4, "{i} {j}: {}", sum[i][j]);
            }
        }
    }

    /// T is the traction of U: σ·n by differences.
    #[test]
    fn the_second_kernel_is_the_traction_of_the_first() {
        let (kelvin, x, y) = (Kelvin { shear: 3.0, poisson: 0.25 }, [0.1, 0.2, -0.3], [0.9, -0.4, 0.5]);
        let n: Vec3 = scale([1.0, 2.0, -2.0], 1.0 / 3.0);
        let d = 1e-5;
        let [_, traction] = kelvin.kernels(x, y, n);
        let lambda = 2.0 * kelvin.shear * kelvin.poisson / (1.0 - 2.0 * kelvin.poisson);
        for i in 0..3 {
            let slope = |axis: usize| -> Vec3 {
                let mut e = [0.0; 3];
                e[axis] = d;
                let ends = [plus(y, e), plus(y, scale(e, -1.0))].map(|y| kelvin.kernels(x, y, n)[0][i]);
                [0, 1, 2].map(|j| (ends[0][j] - ends[1][j]) / (2.0 * d))
            };
            let g = [slope(0), slope(1), slope(2)];
            let divergence = g[0][0] + g[1][1] + g[2][2];
            for j in 0..3 {
                let row: Vec3 = [0, 1, 2].map(|k| kelvin.shear * (g[k][j] + g[j][k]));
                let wanted = dot3(row, n) + lambda * divergence * n[j];
                assert!((traction[i][j] - wanted).abs() < 1e-8, "{i} {j}: {} {wanted}", traction[i][j]);
            }
        }
    }

    /// An octahedron divided `times` times, on the unit sphere.
    fn sphere(times: usize) -> Surface {
        let nodes =
            [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];
        let mut triangles: Vec<[Vec3; 3]> = Vec::new();
        for [a, b, c] in [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]] {
            triangles.push([nodes[a], nodes[b], nodes[c]]);
        }
        let unit = |x: Vec3| scale(x, 1.0 / length(x));
        for _ in 0..times {
            triangles = triangles
                .into_iter()
                .flat_map(|[a, b, c]| {
                    let (ab, bc, ca) = (unit(plus(a, b)), unit(plus(b, c)), unit(plus(c, a)));
                    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
                })
                .collect();
        }
        let all: Vec<Vec3> = triangles.into_iter().flatten().collect();
        let triangles = (0..all.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Surface { nodes: all, triangles }
    }
}
