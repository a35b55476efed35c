//! Vibration modes (FC 2.1.3, corrected): K w = λ M w with wᵀ M w = 1, the lowest ones.
//!
//! Small bodies are decomposed as dense matrices. Large ones by a block Lanczos iteration with the inverse of K + σ M,
//! with full reorthogonalisation; rigid motions are kept out of the Krylov space, so that no zero mode has to be told
//! from a low one. Blocks find modes of one frequency that a single vector finds only through rounding errors.

use crate::body::{Body, Statics, orthonormalise};
use crate::error::{ReduceError, positive};
use crate::linalg::{Dense, Factor, Sparse, dot};
use std::f64::consts::PI;

/// Unknowns below which a body is decomposed as a dense matrix.
const DENSE: usize = 600;
/// Vectors of a block.
const BLOCK: usize = 8;
/// Residual of a mode relative to its eigenvalue; the eigenvalue's error is of the order of its square.
const TOLERANCE: f64 = 1e-9;

/// How many modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// The lowest ones.
    Count(usize),
    /// All up to a frequency [Hz].
    UpTo(f64),
}

/// Vibration modes of a body, M-orthonormal to each other and to its rigid motions.
///
/// ```
/// use sinew_reduce::{Body, Mass, Material, Modes, TetMesh, Wanted};
/// let nodes = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mesh = TetMesh { nodes, tets: vec![[0, 1, 2, 3]] };
/// let body = Body::new(mesh, &Material::isotropic(1e6, 0.3, 1000.0)?, Mass::Lumped, &[])?;
/// // twelve unknowns, six rigid motions
/// assert_eq!(Modes::new(&body, Wanted::Count(6))?.lambda().len(), 6);
/// assert!(Modes::new(&body, Wanted::Count(7)).is_err());
/// # Ok::<(), sinew_reduce::ReduceError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    pub(crate) lambda: Vec<f64>,
    pub(crate) shapes: Dense,
}

impl Modes {
    /// The lowest elastic modes of a body; its fixed nodes do not move.
    pub fn new(body: &Body, wanted: Wanted) -> Result<Self, ReduceError> {
        let available = body.mode_count();
        match wanted {
            Wanted::Count(wanted) if wanted == 0 || wanted > available => {
                return Err(ReduceError::Modes { wanted, available });
            }
            Wanted::UpTo(limit) => positive("the frequency limit", limit)?,
            Wanted::Count(_) => {}
        }
        let mut modes = if body.free().len() <= DENSE { dense(body)? } else { lanczos(body, wanted)? };
        let count = match wanted {
            Wanted::Count(count) => count,
            Wanted::UpTo(limit) => modes.lambda.iter().filter(|&&l| frequency(l) <= limit).count(),
        };
        if let (0, Wanted::UpTo(limit)) = (count, wanted) {
            let lowest = modes.lambda.first().map_or(f64::INFINITY, |&l| frequency(l));
            return Err(ReduceError::NoModeBelow { limit, lowest });
        }
        modes.keep(count);
        Ok(modes)
    }

    /// λ = ω² in ascending order [1/s²].
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Frequencies [Hz].
    pub fn frequencies(&self) -> Vec<f64> {
        self.lambda.iter().map(|&l| frequency(l)).collect()
    }

    /// W, one column a mode, over all unknowns of the body [1/√kg].
    pub fn shapes(&self) -> &Dense {
        &self.shapes
    }

    /// Displacements W z of all unknowns [m].
    pub fn displacements(&self, z: &[f64]) -> Vec<f64> {
        self.shapes.apply(z)
    }

    /// Loads on modes, Wᵀ f.
    pub fn loads(&self, f: &[f64]) -> Vec<f64> {
        self.shapes.apply_transposed(f)
    }

    /// What the modes lack of the static answer to loads, C f − W Λ⁻¹ Wᵀ f: local dents (static correction) [m].
    pub fn correction(&self, statics: &Statics<'_>, loads: &Dense) -> Dense {
        let mut out = statics.solve(loads);
        let mut z = self.shapes.transposed_times(loads);
        for j in 0..z.columns() {
            z.column_mut(j).iter_mut().zip(&self.lambda).for_each(|(z, l)| *z /= l);
        }
        out.subtract(&self.shapes.times(&z));
        out
    }

    fn keep(&mut self, count: usize) {
        self.lambda.truncate(count);
        self.shapes = self.shapes.pick_columns(0..count);
    }
}

/// Frequency of an eigenvalue [Hz].
fn frequency(lambda: f64) -> f64 {
    lambda.max(0.0).sqrt() / (2.0 * PI)
}

fn dense(body: &Body) -> Result<Modes, ReduceError> {
    let free = body.free();
    let (k, m) = (body.stiffness().part(free, free).dense(), body.mass().part(free, free).dense());
    let (lambda, vectors) = k.eigen_of_pair(&m, "the stiffness")?;
    // the rigid motions come first
    let rigid = body.rigid().columns();
    let mut shapes = Dense::zeros(body.stiffness().rows(), free.len() - rigid);
    for j in 0..shapes.columns() {
        for (at, &u) in free.iter().enumerate() {
            shapes.set(u, j, vectors.get(at, j + rigid));
        }
    }
    let mut modes = Modes { lambda: lambda[rigid..].to_vec(), shapes };
    polish(body, &mut modes);
    Ok(modes)
}

/// Signs that do not depend on the method, and modes orthonormal to the rigid motions to rounding.
fn polish(body: &Body, modes: &mut Modes) {
    let rigid = body.rigid().columns();
    let mut all = body.rigid().clone().beside(&modes.shapes);
    orthonormalise(body.mass(), &mut all, rigid);
    modes.shapes = all.pick_columns(rigid..all.columns());
    for j in 0..modes.shapes.columns() {
        let column = modes.shapes.column_mut(j);
        let largest = column.iter().fold(0.0, |a: f64, b| if b.abs() > a.abs() * (1.0 + 1e-6) { *b } else { a });
        if largest < 0.0 {
            column.iter_mut().for_each(|x| *x = -*x);
        }
    }
}

/// The Krylov space of (K + σ M)⁻¹ M, on the free unknowns, grown block by block.
struct Krylov {
    mass: Sparse,
    factor: Factor,
    /// Rigid motions, then the space.
    basis: Dense,
    rigid: usize,
    /// Products of the space with its image: (K + σ M)⁻¹ in the space.
    image: Dense,
}

fn lanczos(body: &Body, wanted: Wanted) -> Result<Modes, ReduceError> {
    let free = body.free();
    let shift = body.shift();
    let mass = body.mass().part(free, free);
    let shifted = body.stiffness().part(free, free).plus(shift, &mass);
    let remedy = "repair elements that are nearly flat";
    let factor = Factor::new(&shifted).ok_or(ReduceError::Singular { system: "the stiffness", remedy })?;
    let rigid = body.rigid().pick_rows(free);
    let mut space = Krylov { mass, factor, rigid: rigid.columns(), basis: rigid, image: Dense::zeros(0, 0) };
    let limit = body.mode_count();
    let mut seed = 1;
    space.grow(&Dense::from_fn(free.len(), BLOCK, |i, j| draw(i * BLOCK + j)));
    loop {
        let last = space.last_block();
        let size = space.basis.columns() - space.rigid;
        let (ritz, converged) = space.ritz(&last, shift)?;
        let enough = match wanted {
            Wanted::Count(count) => converged >= count,
            Wanted::UpTo(hertz) => ritz.lambda[..converged].iter().any(|&l| frequency(l) > hertz),
        };
        if enough || size >= limit {
            let count = if size >= limit { ritz.lambda.len() } else { converged };
            return finish(body, ritz, count, wanted);
        }
        // nothing new in the image: a random direction
        if !space.grow(&last) {
            seed += 1;
            let count = BLOCK.min(limit - size);
            if !space.grow(&Dense::from_fn(free.len(), count, |i, j| draw(i * BLOCK + j + seed * 7919))) {
                return finish(body, ritz, converged, wanted);
            }
        }
    }
}

fn finish(body: &Body, mut ritz: Modes, count: usize, wanted: Wanted) -> Result<Modes, ReduceError> {
    if let Wanted::Count(wanted) = wanted
        && count < wanted
    {
        return Err(ReduceError::NotConverged { found: count, wanted });
    }
    ritz.keep(count);
    let mut shapes = Dense::zeros(body.stiffness().rows(), count);
    for j in 0..count {
        for (at, &u) in body.free().iter().enumerate() {
            shapes.set(u, j, ritz.shapes.get(at, j));
        }
    }
    ritz.shapes = shapes;
    polish(body, &mut ritz);
    Ok(ritz)
}

impl Krylov {
    /// Adds directions, orthonormal to all before; false when none of them is new.
    fn grow(&mut self, directions: &Dense) -> bool {
        let before = self.basis.columns();
        for j in 0..directions.columns() {
            let mut v = directions.column(j).to_vec();
            let start = dot(&v, &self.mass.apply(&v)).max(0.0).sqrt();
            for _ in 0..2 {
                let parts = self.basis.apply_transposed(&self.mass.apply(&v));
                let along = self.basis.apply(&parts);
                v.iter_mut().zip(along).for_each(|(v, a)| *v -= a);
            }
            let norm = dot(&v, &self.mass.apply(&v)).max(0.0).sqrt();
            if norm > 1e-10 * start && norm > 0.0 {
                v.iter_mut().for_each(|v| *v /= norm);
                if let Some(column) = Dense::from_data(v.len(), 1, v) {
                    self.basis = std::mem::replace(&mut self.basis, Dense::zeros(0, 0)).beside(&column);
                }
            }
        }
        self.basis.columns() > before
    }

    /// Image of the vectors that have none yet, and their rows of the small matrix.
    fn last_block(&mut self) -> Dense {
        let (done, size) = (self.image.rows(), self.basis.columns() - self.rigid);
        let mut block = self.mass.times(&self.basis.pick_columns(self.rigid + done..self.basis.columns()));
        self.factor.solve(&mut block);
        let space = self.basis.pick_columns(self.rigid..self.basis.columns());
        let rows = space.transposed_times(&self.mass.times(&block));
        let old = &self.image;
        self.image = Dense::from_fn(size, size, |i, j| match (i < done, j < done) {
            (true, true) => old.get(i, j),
            (_, false) => rows.get(i, j - done),
            (false, true) => rows.get(j, i - done),
        });
        self.image.symmetrise();
        block
    }

    /// Modes of the space in ascending order, and how many of them, from the lowest on, have converged.
    fn ritz(&self, last: &Dense, shift: f64) -> Result<(Modes, usize), ReduceError> {
        let (theta, vectors) = self.image.eigen("the Krylov matrix")?;
        let size = theta.len();
        let space = self.basis.pick_columns(self.rigid..self.basis.columns());
        // the part of the last image that leaves the space: the residual of a mode is this times its last entries
        let mut rest = last.clone();
        let inside = self.basis.transposed_times(&self.mass.times(last));
        rest.subtract(&self.basis.times(&inside));
        let gram = rest.transposed_times(&self.mass.times(&rest));
        let first = size - last.columns();
        let residual = |j: usize| {
            let tail: Vec<f64> = (first..size).map(|i| vectors.get(i, j)).collect();
            dot(&tail, &gram.apply(&tail)).max(0.0).sqrt()
        };
        let order: Vec<usize> = (0..size).rev().collect();
        let converged = order.iter().take_while(|&&j| residual(j) <= TOLERANCE * theta[j]).count();
        let picked = vectors.pick_columns(order.iter().copied());
        let lambda = order.iter().map(|&j| 1.0 / theta[j] - shift).collect();
        Ok((Modes { lambda, shapes: space.times(&picked) }, converged))
    }
}

/// Numbers between −1 and 1 without a pattern, the same on every machine.
fn draw(index: usize) -> f64 {
    let mut z = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x632B_E59B_D9B4_E019);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::Material;
    use crate::{Mass, TetMesh};

    /// A cube of 5³ nodes cut so that it keeps the symmetry of its diagonal: pairs of equal frequencies.
    fn cube() -> Body {
        let (n, mut nodes, mut tets) = (5_u32, Vec::new(), Vec::new());
        for i in 0..n * n * n {
            nodes.push([i % n, i / n % n, i / (n * n)].map(|k| 0.1 * f64::from(k)));
        }
        let cells = (0..n * n * n).filter(|i| i % n < n - 1 && i / n % n < n - 1 && i / (n * n) < n - 1);
        for cell in cells {
            let step = [1, n, n * n];
            for [a, b, c] in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1], [2, 1, 0]] {
                let p = [cell, cell + step[a], cell + step[a] + step[b], cell + step[a] + step[b] + step[c]];
                let odd = (a + 1) % 3 != b;
                tets.push(if odd { [p[0], p[2], p[1], p[3]] } else { p });
            }
        }
        let material = Material::isotropic(1e5, 0.3, 1000.0).unwrap();
        Body::new(TetMesh { nodes, tets }, &material, Mass::Consistent, &[]).unwrap()
    }

    #[test]
    fn the_iteration_finds_the_modes_of_the_dense_matrix() {
        let body = cube();
        let (all, few) = (dense(&body).unwrap(), lanczos(&body, Wanted::Count(60)).unwrap());
        let twins = all.lambda[..60].windows(2).filter(|w| w[1] < w[0] * (1.0 + 1e-9)).count();
        assert!(twins > 5, "{twins}");
        for (a, b) in all.lambda.iter().zip(&few.lambda) {
            assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        }
        assert!(few.lambda.len() >= 60);
    }

    #[test]
    fn a_space_that_fills_the_body_gives_all_its_modes() {
        let mut body = cube();
        body = body.holding(&(25..125).collect::<Vec<u32>>()).unwrap();
        let count = body.mode_count();
        let (all, few) = (dense(&body).unwrap(), lanczos(&body, Wanted::Count(count)).unwrap());
        assert!(all.lambda.iter().zip(&few.lambda).all(|(a, b)| (a / b - 1.0).abs() < 1e-8));
        assert_eq!((few.lambda.len(), count), (75, 75));
    }
}
