//! Rest data of a meshless body: neighbours, gradient weights, volumes, and the pairs that suppress zero-energy modes.

use super::mls::{MlsError, MlsParams};
use crate::math::{Mat3, Real, Vec3, WideMat3, narrow, wide_outer, wide_pseudo_inverse, widen};
use crate::model::grid::{Grid, kernel, spacings};

/// Eigenvalue of a moment matrix, relative to its largest, below which the neighbours count as coplanar (or collinear):
/// the neighbourhood is then thinner than 1 % of its width, and a gradient across it would amplify noise a hundredfold.
const FLAT: f64 = 1e-4;
/// Radius of the stabilization pairs in spacings: the nearest shell, which is most sensitive to a checkerboard mode and
/// least to curvature.
const HOLD_RADIUS: Real = 1.5;
/// First moment over sum of weights of half a kernel, 2 · 315/2560 h: the value for a point in a plane surface.
const HALF_SPACE: f64 = 630.0 / 2560.0;

/// A neighbour of a phyxel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// The neighbour.
    pub node: u32,
    /// d_j = A⁻¹ X_ij w_ij: weight of u_j − u_i in ∇u [1/m].
    pub slope: Vec3,
    /// X_ij = X_j − X_i at rest [m].
    pub rest: Vec3,
    /// Stiffness against deviation from the affine field [N/m]; not zero for the first `holds` pairs of a phyxel.
    pub hold: Real,
}

/// Constants since the last edit.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// First Lamé parameter by rank of the neighbourhood [Pa]: stress normal to the span is relaxed to zero.
    pub lambda: [Real; 4],
    /// Shear modulus [Pa].
    pub mu: Real,
    /// Stiffness against change of volume [Pa].
    pub volume_stiffness: Real,
    /// Masses. (node_count) [kg]
    pub mass: Vec<Real>,
    /// Volumes. (node_count) [m³]
    pub volume: Vec<Real>,
    /// Rank of each moment matrix. (node_count)
    pub rank: Vec<u8>,
    /// Projector onto the directions that the neighbours span. (node_count)
    pub span: Vec<Mat3>,
    /// First pair of each phyxel, and the end. (node_count + 1)
    pub starts: Vec<u32>,
    /// Number of stabilization pairs of a phyxel; they come first. (node_count)
    pub holds: Vec<u32>,
    pub pairs: Vec<Pair>,
    /// Diagonal of the stabilization stiffness. (node_count) [N/m]
    pub hold_diagonal: Vec<Real>,
}

impl Rest {
    /// Neighbours and gradient weights of points with these volumes.
    #[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
    pub fn new(points: &[Vec3], volume: Vec<Real>, params: &MlsParams) -> Result<Self, MlsError> {
        let (e, nu) = (params.youngs_modulus, params.poisson_ratio);
        let mu = e / (2.0 * (1.0 + nu));
        let count = points.len();
        let mut rest = Self {
            // 3D, plane stress, uniaxial; the last makes 2μ + λ = E
            lambda: [0.0, 2.0 * mu * nu, 2.0 * mu * nu / (1.0 - nu), 2.0 * mu * nu / (1.0 - 2.0 * nu)],
            mu,
            volume_stiffness: params.volume_stiffness,
            mass: volume.iter().map(|v| v * params.density).collect(),
            volume,
            rank: Vec::with_capacity(count),
            span: Vec::with_capacity(count),
            starts: vec![0],
            holds: Vec::with_capacity(count),
            pairs: Vec::new(),
            hold_diagonal: vec![0.0; count],
        };
        let grid = Grid::of_points(points);
        let spacing = spacings(points, &grid);
        let mut found = Vec::new();
        for i in 0..count {
            grid.within(points, points[i], params.support * spacing[i], &mut found);
            found.retain(|&j| j as usize != i);
            if found.is_empty() {
                return Err(MlsError::Alone { point: i, support: params.support });
            }
            let near = (HOLD_RADIUS * spacing[i]).min(params.support * spacing[i]);
            rest.add_phyxel(points, i, [params.support * spacing[i], near], &found, params.stabilization);
        }
        Ok(rest)
    }

    /// One phyxel with its neighbours; `radii` are those of the kernel and of the stabilization pairs [m].
    #[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
    fn add_phyxel(&mut self, points: &[Vec3], i: usize, radii: [Real; 2], found: &[u32], stabilization: Real) {
        let [h, near] = radii;
        let offset = |j: u32| widen(points[j as usize]) - widen(points[i]);
        // lengths in units of h, so that the moment matrix is of order one
        let wide_h = h as f64;
        let moment = found.iter().fold(WideMat3::ZERO, |sum, &j| {
            let a = offset(j) / wide_h;
            sum + wide_outer(a, a) * kernel(narrow(a), 1.0)
        });
        let moment = wide_pseudo_inverse(&moment, FLAT);

        // stabilization pairs come first
        let first = self.pairs.len();
        let mut second = 0.0;
        for holding in [true, false] {
            for &j in found {
                let x = offset(j);
                let hold = kernel(narrow(x / near as f64), 1.0);
                if (hold > 0.0) == holding {
                    let a = x / wide_h;
                    let slope = moment.inverse * a * (kernel(narrow(a), 1.0) / wide_h);
                    self.pairs.push(Pair { node: j, slope: narrow(slope), rest: narrow(x), hold: hold as Real });
                    second += hold * x.length_squared();
                }
            }
            if holding {
                self.holds.push((self.pairs.len() - first) as u32);
            }
        }

        // k_ij = α μ v_i ω_ij / Σ ω |X|²
        let scale = if second > 0.0 { stabilization * self.mu * self.volume[i] / second as Real } else { 0.0 };
        self.pairs[first..].iter_mut().for_each(|p| p.hold *= scale);
        self.span.push(Mat3::from_cols(
            narrow(moment.span.x_axis),
            narrow(moment.span.y_axis),
            narrow(moment.span.z_axis),
        ));
        self.rank.push(moment.rank as u8);
        self.starts.push(self.pairs.len() as u32);
        self.add_hold_diagonal(i);
    }

    /// Diagonal of ½ Σ_j k_ij |r_ij|², r_ij = u_ij − ∇u X_ij, for the phyxel and each neighbour.
    fn add_hold_diagonal(&mut self, i: usize) {
        let (pairs, holds) = self.phyxel(i);
        let sum = pairs.iter().fold(Vec3::ZERO, |s, p| s + p.slope);
        let own: Real = holds.iter().map(|p| p.hold * (1.0 - p.rest.dot(sum)) * (1.0 - p.rest.dot(sum))).sum();
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.hold_diagonal[i] += own;
        for k in range.clone() {
            let slope = self.pairs[k].slope;
            let mut sum = 0.0;
            for (j, p) in self.pairs[range.start..range.start + self.holds[i] as usize].iter().enumerate() {
                let part = if range.start + j == k { 1.0 } else { 0.0 } - p.rest.dot(slope);
                sum += p.hold * part * part;
            }
            self.hold_diagonal[self.pairs[k].node as usize] += sum;
        }
    }

    /// The pairs of a phyxel, and those of them that stabilize.
    #[inline]
    pub fn phyxel(&self, i: usize) -> (&[Pair], &[Pair]) {
        let pairs = &self.pairs[self.starts[i] as usize..self.starts[i + 1] as usize];
        (pairs, &pairs[..self.holds[i] as usize])
    }
}

/// Distributes a volume [m³] by the inverse of the number density n_i = Σ_j w_ij / φ_i.
///
/// φ is the fraction of the kernel inside the body. A plain sum (φ = 1, as printed) underestimates the density of a
/// point near the surface and gives it up to eight times its volume. The surface is not known, but a half kernel has
/// the first moment |Σ w X| = 0.246 h Σ w, and an edge or a corner has two or three such along its normals, so that φ =
/// 2^−(|Σ w X| / 0.246 h Σ w)² is correct inside, on faces, edges and corners.
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(super) fn share_volume(points: &[Vec3], total: Real) -> Vec<Real> {
    let grid = Grid::of_points(points);
    let mut found = Vec::new();
    let mut shares = Vec::with_capacity(points.len());
    for (&at, spacing) in points.iter().zip(spacings(points, &grid)) {
        let h = 3.0 * spacing;
        grid.within(points, at, h, &mut found);
        let (mut sum, mut first) = (0.0, crate::math::Wide3::ZERO);
        for &j in &found {
            let x = points[j as usize] - at;
            let w = kernel(x, h);
            sum += w;
            first += widen(x) * w;
        }
        let lean = first.length() / (HALF_SPACE * h as f64 * sum);
        shares.push((-std::f64::consts::LN_2 * lean * lean).exp() / sum);
    }
    let sum: f64 = shares.iter().sum();
    shares.iter().map(|s| (s / sum * total as f64) as Real).collect()
}
