//! Static condensation (FC 2.1.1): unknowns without loads are eliminated.
//!
//! ```text
//!   K'_ss = K_ss − K_si K_ii⁻¹ K_is,   u_i = K_ii⁻¹ (f_i − K_is u_s)      (FC 2.16)
//! ```
//!
//! A body that is free as a whole has a singular K'. With Q = (M_s + Xᵀ M_i X) R_s, X = K_ii⁻¹ K_is, its compliance in the
//! frame that falls and turns with the load (`body.rs`) is, for any generalised inverse of K',
//!
//! ```text
//!   C = (1 − R_s Qᵀ) K'⁺ (1 − Q R_sᵀ) + R_s (R_iᵀ M_i K_ii⁻¹ M_i R_i) R_sᵀ
//! ```

use crate::body::Body;
use crate::compliance::{Compliance, check_cap};
use crate::error::ReduceError;
use crate::linalg::{Dense, Factor, Sparse};

/// Columns that are solved at once: bounds memory.
const BATCH: usize = 96;

/// A stiffness condensed to some unknowns.
///
/// ```
/// use sinew_reduce::{Condensed, Sparse};
/// // springs of 100 and 300 N/m in series: 75 N/m
/// let k = vec![(0, 0, 100.0), (0, 1, -100.0), (1, 0, -100.0), (1, 1, 400.0), (1, 2, -300.0), (2, 1, -300.0), (2, 2, 300.0)];
/// let ends = Condensed::new(&Sparse::from_entries(3, 3, k), &[0, 2]).unwrap();
/// assert!((ends.stiffness().get(0, 1) + 75.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug)]
pub struct Condensed {
    kept: Vec<usize>,
    inner: Vec<usize>,
    /// K_is.
    across: Sparse,
    factor: Factor,
    stiffness: Dense,
}

impl Condensed {
    /// Keeps these unknowns of K and eliminates the others.
    pub fn new(stiffness: &Sparse, kept: &[usize]) -> Result<Self, ReduceError> {
        let all: Vec<usize> = (0..stiffness.rows()).collect();
        Self::of(stiffness, &all, kept)
    }

    /// Keeps some of the listed unknowns; those that are not listed are zero.
    fn of(stiffness: &Sparse, among: &[usize], kept: &[usize]) -> Result<Self, ReduceError> {
        let mut is_kept = vec![false; stiffness.rows()];
        kept.iter().for_each(|&u| is_kept[u] = true);
        let inner: Vec<usize> = among.iter().copied().filter(|&u| !is_kept[u]).collect();
        let remedy = "unknowns that are eliminated must be held by the others";
        let factor = Factor::new(&stiffness.part(&inner, &inner))
            .ok_or(ReduceError::Singular { system: "the stiffness of the inner nodes", remedy })?;
        let across = stiffness.part(&inner, kept);
        let mut whole = stiffness.part(kept, kept).dense();
        let back = stiffness.part(kept, &inner);
        for first in (0..kept.len()).step_by(BATCH) {
            let batch: Vec<usize> = (first..kept.len().min(first + BATCH)).collect();
            let mut x = columns(&across, &batch);
            factor.solve(&mut x);
            let part = back.times(&x);
            for (k, &column) in batch.iter().enumerate() {
                whole.column_mut(column).iter_mut().zip(part.column(k)).for_each(|(k, p)| *k -= p);
            }
        }
        whole.symmetrise();
        Ok(Self { kept: kept.to_vec(), inner, across, factor, stiffness: whole })
    }

    /// K', of the kept unknowns [N/m].
    pub fn stiffness(&self) -> &Dense {
        &self.stiffness
    }

    /// All unknowns from the kept ones and the loads on all (FC 2.16); loads may be empty [m].
    pub fn recover(&self, kept: &[f64], loads: &[f64]) -> Vec<f64> {
        let count = self.across.rows() + self.kept.len();
        let size = self.kept.iter().chain(&self.inner).max().map_or(0, |u| u + 1).max(count);
        let mut out = vec![0.0; size];
        let pull = self.across.apply(kept);
        let right: Vec<f64> =
            self.inner.iter().zip(pull).map(|(&u, p)| loads.get(u).copied().unwrap_or(0.0) - p).collect();
        let inner = self.factor.solve_one(&right);
        self.kept.iter().zip(kept).for_each(|(&u, x)| out[u] = *x);
        self.inner.iter().zip(inner).for_each(|(&u, x)| out[u] = x);
        out
    }
}

fn columns(a: &Sparse, list: &[usize]) -> Dense {
    let all: Vec<usize> = (0..a.rows()).collect();
    a.part(&all, list).dense()
}

/// A body condensed to the nodes of its surface.
#[derive(Clone, Debug)]
pub struct SurfaceBody {
    /// Answer of the surface to loads on it.
    pub compliance: Compliance,
    /// The condensed stiffness, for the inner nodes.
    pub condensed: Condensed,
}

impl SurfaceBody {
    /// Condenses to the surface nodes that are not fixed, at most `cap` of them. In a body that fixed nodes do not hold
    /// completely the compliance has the frame `Floating`.
    pub fn new(body: &Body, cap: usize) -> Result<Self, ReduceError> {
        let nodes: Vec<u32> = body.mesh().surface_nodes().into_iter().filter(|&i| !body.is_fixed(i)).collect();
        check_cap(nodes.len(), cap)?;
        if nodes.is_empty() {
            return Err(ReduceError::NothingFree);
        }
        let kept: Vec<usize> = nodes.iter().flat_map(|&i| (0..3).map(move |a| 3 * i as usize + a)).collect();
        let condensed = Condensed::of(body.stiffness(), body.free(), &kept)?;
        let matrix = if body.rigid().columns() == 0 {
            condensed.stiffness.inverse_of_positive().ok_or(SOFT)?
        } else {
            floating(body, &condensed)?
        };
        let points = nodes.iter().map(|&i| body.mesh().nodes[i as usize]).collect();
        let floats = body.rigid().columns() > 0;
        Ok(Self { compliance: Compliance::from_parts(nodes, points, matrix, floats), condensed })
    }

    /// Displacements of all nodes from those of the surface, without loads inside [m].
    pub fn inner(&self, surface: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let flat: Vec<f64> = surface.iter().flatten().copied().collect();
        let all = self.condensed.recover(&flat, &[]);
        all.chunks_exact(3).map(|u| [u[0], u[1], u[2]]).collect()
    }
}

const SOFT: ReduceError = ReduceError::Singular {
    system: "the condensed stiffness",
    remedy: "fix more nodes, or repair elements that are nearly flat",
};

fn floating(body: &Body, condensed: &Condensed) -> Result<Dense, ReduceError> {
    let (kept, inner) = (&condensed.kept, &condensed.inner);
    let rigid = body.rigid().pick_rows(kept);
    let weighed = body.mass().times(body.rigid());
    let inner_load = weighed.pick_rows(inner);
    // Q: the condensed inertia load of the rigid motions, f_s − K_si K_ii⁻¹ f_i
    let mut answer = inner_load.clone();
    condensed.factor.solve(&mut answer);
    let mut q = weighed.pick_rows(kept);
    let back = body.stiffness().part(kept, inner);
    q.subtract(&back.times(&answer));
    // K' + s Q Qᵀ is positive definite and has the wanted answer to loads that balance
    let mean = (0..kept.len()).map(|i| condensed.stiffness.get(i, i)).sum::<f64>() / kept.len() as f64;
    let size = (0..kept.len()).map(|i| (0..q.columns()).map(|j| q.get(i, j).powi(2)).sum::<f64>()).fold(0.0, f64::max);
    let mut held = condensed.stiffness.clone();
    let push = q.times_transposed(&q);
    let by = mean / size;
    for j in 0..kept.len() {
        held.column_mut(j).iter_mut().zip(push.column(j)).for_each(|(k, p)| *k += by * p);
    }
    let inverse = held.inverse_of_positive().ok_or(SOFT)?;
    // (1 − R Qᵀ) S (1 − Q Rᵀ)
    let mut out = inverse;
    out.subtract(&out.times(&q).times_transposed(&rigid));
    out.subtract(&rigid.times(&q.transposed_times(&out)));
    let z = inner_load.transposed_times(&answer);
    out.accumulate(&rigid.times(&z).times_transposed(&rigid));
    out.symmetrise();
    Ok(out)
}
