//! Fills a body's matrix (`system/rows.rs`) by gathering: each entry from the tetrahedra around its edge,
//!
//! ```text
//!   O = Σ g_i g_jᵀ,   A_ij = λ O + μ Oᵀ + μ tr(O) I,   A_ii = m I − Σ_j A_ij
//! ```
//!
//! with g_i = √V R G_i: nine products per contribution instead of a full element matrix, and no two lanes write the
//! same entry. The diagonal follows from Σ_i g_i = 0: for a translation A reduces to the mass.

use super::tet_kernel::TetBatch;
use crate::deformable::system::{Eight9, Rows};
use crate::math::{Block, Kernel, LANES, Lane, Picked, Picks, Real};

/// The contributions to every entry of the matrix.
#[derive(Clone, Debug)]
pub(super) struct Contributions {
    /// First contribution of each entry, and the end. (entry_count + 1)
    first: Vec<u32>,
    /// The two rotated gradients of each contribution. Padding refers to the block of zeros at their end.
    pairs: [Picks; 2],
}

/// A block off the diagonal while the pattern is built: its column and the pairs of gradients that it sums.
type Entry = (u32, Vec<[u32; 2]>);

/// The matrix of a body of these tetrahedra and the contributions to its entries.
pub(super) fn pattern(node_count: usize, batches: &[TetBatch]) -> (Rows, Contributions) {
    let nothing = (batches.len() * 4 * LANES) as u32;
    let mut rows = entries(node_count, batches);
    for row in &mut rows {
        // entries with many contributions first, so that the lanes of a group have about the same number
        row.sort_by_key(|(column, pairs)| (usize::MAX - pairs.len(), *column));
    }
    let columns: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().map(|e| e.0).collect()).collect();
    let matrix = Rows::new(&columns);
    let mut sums = Contributions { first: vec![0], pairs: [Picks::default(), Picks::default()] };
    for slice in 0..matrix.slice_count() {
        for k in 0..matrix.entries(slice).len() {
            sums.push(matrix.nodes(slice).map(|node| rows.get(node as usize).and_then(|row| row.get(k))), nothing);
        }
    }
    (matrix, sums)
}

impl Contributions {
    /// Adds an entry of every lane.
    fn push(&mut self, entries: [Option<&Entry>; LANES], nothing: u32) {
        let count = entries.iter().flatten().map(|e| e.1.len()).max().unwrap_or(0);
        for k in 0..count {
            let pair = entries.map(|entry| entry.and_then(|e| e.1.get(k)).copied().unwrap_or([nothing; 2]));
            self.pairs[0].push(pair.map(|p| p[0]));
            self.pairs[1].push(pair.map(|p| p[1]));
        }
        self.first.push(self.pairs[0].len() as u32);
    }
}

/// Blocks off the diagonal of every row, columns ascending, contributions in the order of batches.
fn entries(node_count: usize, batches: &[TetBatch]) -> Vec<Vec<Entry>> {
    let mut all: Vec<(u32, u32, [u32; 2])> = Vec::new();
    for (k, batch) in batches.iter().enumerate() {
        for lane in 0..batch.used {
            let corners = batch.corners(lane);
            let gradient = |corner: usize| ((k * 4 + corner) * LANES + lane) as u32;
            for i in 0..4 {
                for j in (0..4).filter(|&j| j != i) {
                    all.push((corners[i], corners[j], [gradient(i), gradient(j)]));
                }
            }
        }
    }
    all.sort_unstable();
    let mut rows: Vec<Vec<Entry>> = vec![Vec::new(); node_count];
    for (i, j, pair) in all {
        let row = &mut rows[i as usize];
        match row.last_mut() {
            Some((column, pairs)) if *column == j => pairs.push(pair),
            _ => row.push((j, vec![pair])),
        }
    }
    rows
}

/// Fills a matrix from rotated gradients.
pub(super) struct Assemble<'a> {
    pub matrix: &'a mut Rows,
    pub sums: &'a Contributions,
    /// √V R G_i, and a block of zeros at the end.
    pub turned: &'a [Block],
    /// Lamé parameters λ, μ times h (h + β) [kg/m].
    pub lame: [Real; 2],
    /// (node_count) [kg]
    pub mass: &'a [Real],
}

impl Kernel for Assemble<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Contributions { first, pairs } = self.sums;
        let pairs = [pairs[0].over(self.turned), pairs[1].over(self.turned)];
        for s in 0..self.matrix.slice_count() {
            let entries = self.matrix.entries(s);
            let Rows { row, off, diagonal, .. } = self.matrix;
            let mut at = 0;
            while at < LANES {
                let mut sum = [L::splat(t, 0.0); 9];
                for k in entries.clone() {
                    let part = first[k] as usize..first[k + 1] as usize;
                    let block = gather::<L>(t, pairs, part, at, self.lame);
                    for n in 0..9 {
                        block[n].store(&mut off[k].0[n][at..]);
                        sum[n] = sum[n] - block[n];
                    }
                }
                store_diagonal::<L>(t, sum, &row.rows()[s], self.mass, (&mut diagonal[s], at));
                at += L::COUNT;
            }
        }
    }
}

/// One entry of every lane.
#[inline(always)]
fn gather<L: Lane>(
    t: L::Token,
    pairs: [Picked<'_>; 2],
    part: std::ops::Range<usize>,
    at: usize,
    [lambda, mu]: [Real; 2],
) -> [L; 9] {
    let mut o = [L::splat(t, 0.0); 9];
    for k in part {
        let a = L::pick(t, pairs[0], k, at);
        let b = L::pick(t, pairs[1], k, at);
        for row in 0..3 {
            for column in 0..3 {
                o[3 * row + column] = o[3 * row + column] + a[row] * b[column];
            }
        }
    }
    let (lambda, mu) = (L::splat(t, lambda), L::splat(t, mu));
    let shear = (o[0] + o[4] + o[8]) * mu;
    let mut block = o;
    for row in 0..3 {
        for column in 0..3 {
            block[3 * row + column] = o[3 * row + column] * lambda + o[3 * column + row] * mu;
        }
        block[4 * row] = block[4 * row] + shear;
    }
    block
}

/// m I + sum, symmetrised: rounding error makes the sum of blocks slightly asymmetric.
#[inline(always)]
fn store_diagonal<L: Lane>(
    t: L::Token,
    sum: [L; 9],
    nodes: &[u32; LANES],
    mass: &[Real],
    (diagonal, at): (&mut Eight9, usize),
) {
    let mut masses = [0.0; LANES];
    for (mass_of, node) in masses.iter_mut().zip(nodes) {
        *mass_of = mass[*node as usize];
    }
    let (m, half) = (L::load(t, &masses[at..]), L::splat(t, 0.5));
    for row in 0..3 {
        for column in 0..3 {
            let mean = (sum[3 * row + column] + sum[3 * column + row]) * half;
            let value = if row == column { mean + m } else { mean };
            value.store(&mut diagonal.0[3 * row + column][at..]);
        }
    }
}
