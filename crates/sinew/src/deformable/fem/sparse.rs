//! The body's matrix in slices of eight rows (SELL-8): block columns 3x3, diagonal apart.
//!
//! Entry k of eight rows lies side by side, so that a product runs eight rows at a time. Each entry is gathered from the
//! tetrahedra around its edge,
//!
//! ```text
//!   O = Σ g_i g_jᵀ,   A_ij = λ O + μ Oᵀ + μ tr(O) I,   A_ii = m I − Σ_j A_ij
//! ```
//!
//! with g_i = √V R G_i: nine products a contribution instead of a full element matrix, and no two lanes ever write the
//! same entry. The diagonal follows from Σ_i g_i = 0: a body that is moved as a whole feels its mass only.

use super::tet_kernel::{Eight, TetBatch};
use crate::math::{Block, Blocks, Kernel, LANES, Lane, Mat3, Picked, Picks, Real, Vec3};

/// Rows that are sorted by length together. Larger: less padding; smaller: neighbours stay close.
const WINDOW: usize = 512;

/// Eight 3x3 blocks, rows first.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
struct Eight9([Eight; 9]);

const ZERO: Eight9 = Eight9([[0.0; LANES]; 9]);

/// Eight rows.
#[derive(Clone, Debug)]
struct Slice {
    /// Node of each row, `u32::MAX` in an empty lane.
    store: [u32; LANES],
    /// Its first entry; the next slice's ends it.
    first: u32,
}

/// Matrix of a body of tetrahedra.
#[derive(Clone, Debug)]
pub(super) struct Sparse {
    slices: Vec<Slice>,
    /// Node of each row; an empty lane repeats the first. (slice_count)
    row: Picks,
    /// Column of each entry. Padding is the row itself with a block of zeros. (entry_count)
    column: Picks,
    /// First contribution of each entry, and the end. (entry_count + 1)
    first: Vec<u32>,
    /// The two turned gradients of each contribution. Padding names the block of zeros at their end.
    pairs: [Picks; 2],
    /// Blocks off the diagonal. Written by `assemble`. (entry_count) [kg]
    off: Vec<Eight9>,
    /// Diagonal blocks. Written by `assemble`. (slice_count) [kg]
    diagonal: Vec<Eight9>,
    /// Slice and lane of each node. (node_count)
    seat: Vec<(u32, u32)>,
}

/// A block off the diagonal while the pattern is made: its column and the pairs of gradients it sums.
type Entry = (u32, Vec<[u32; 2]>);

impl Sparse {
    /// The pattern of a body of these tetrahedra.
    pub fn new(node_count: usize, batches: &[TetBatch]) -> Self {
        let nothing = (batches.len() * 4 * LANES) as u32;
        let mut rows = entries(node_count, batches);
        for row in &mut rows {
            // entries of many contributions first, so that lanes have about the same number
            row.sort_by_key(|(column, pairs)| (usize::MAX - pairs.len(), *column));
        }
        let mut order: Vec<u32> = (0..node_count as u32).collect();
        for window in order.chunks_mut(WINDOW) {
            window.sort_by_key(|&node| usize::MAX - rows[node as usize].len());
        }
        let mut sparse = Self {
            slices: Vec::new(),
            row: Picks::default(),
            column: Picks::default(),
            first: vec![0],
            pairs: [Picks::default(), Picks::default()],
            off: Vec::new(),
            diagonal: Vec::new(),
            seat: vec![(0, 0); node_count],
        };
        for nodes in order.chunks(LANES) {
            sparse.push_slice(nodes, &rows, nothing);
        }
        sparse.slices.push(Slice { store: [u32::MAX; LANES], first: sparse.column.len() as u32 });
        sparse.off = vec![ZERO; sparse.column.len()];
        sparse.diagonal = vec![ZERO; sparse.slices.len() - 1];
        sparse
    }

    fn push_slice(&mut self, nodes: &[u32], rows: &[Vec<Entry>], nothing: u32) {
        let mut load = [nodes[0]; LANES];
        let mut slice = Slice { store: [u32::MAX; LANES], first: self.column.len() as u32 };
        for (lane, &node) in nodes.iter().enumerate() {
            (load[lane], slice.store[lane]) = (node, node);
            self.seat[node as usize] = (self.slices.len() as u32, lane as u32);
        }
        let row = |lane: usize| nodes.get(lane).map_or(&[][..], |&node| &rows[node as usize][..]);
        let width = (0..LANES).map(|lane| row(lane).len()).max().unwrap_or(0);
        for k in 0..width {
            let mut column = load;
            let count = (0..LANES).filter_map(|lane| row(lane).get(k)).map(|e| e.1.len()).max().unwrap_or(0);
            let mut pairs = vec![[[nothing; LANES]; 2]; count];
            for (lane, column) in column.iter_mut().enumerate() {
                let Some(entry) = row(lane).get(k) else { continue };
                *column = entry.0;
                for (to, from) in pairs.iter_mut().zip(&entry.1) {
                    (to[0][lane], to[1][lane]) = (from[0], from[1]);
                }
            }
            self.column.push(column);
            for pair in pairs {
                self.pairs[0].push(pair[0]);
                self.pairs[1].push(pair[1]);
            }
            self.first.push(self.pairs[0].len() as u32);
        }
        self.row.push(load);
        self.slices.push(slice);
    }

    /// The diagonal block of every node [kg].
    pub fn diagonal(&self, out: &mut [Mat3]) {
        for (out, &(slice, lane)) in out.iter_mut().zip(&self.seat) {
            *out = block(&self.diagonal[slice as usize], lane as usize);
        }
    }

    /// Calls `on(column, block)` for every block of a row, the diagonal first.
    pub fn row(&self, node: usize, mut on: impl FnMut(usize, Mat3)) {
        let (slice, lane) = (self.seat[node].0 as usize, self.seat[node].1 as usize);
        on(node, block(&self.diagonal[slice], lane));
        for k in self.slices[slice].first as usize..self.slices[slice + 1].first as usize {
            // padding
            let column = self.column.rows()[k][lane] as usize;
            if column != node {
                on(column, block(&self.off[k], lane));
            }
        }
    }
}

fn block(b: &Eight9, lane: usize) -> Mat3 {
    let row = |k: usize| Vec3::new(b.0[3 * k][lane], b.0[3 * k + 1][lane], b.0[3 * k + 2][lane]);
    Mat3::from_cols(row(0), row(1), row(2)).transpose()
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

/// Fills a matrix from turned gradients.
pub(super) struct Assemble<'a> {
    pub matrix: &'a mut Sparse,
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
        let Sparse { slices, row, first, pairs, off, diagonal, .. } = self.matrix;
        let pairs = [pairs[0].over(self.turned), pairs[1].over(self.turned)];
        for (s, diagonal) in diagonal.iter_mut().enumerate() {
            let entries = slices[s].first as usize..slices[s + 1].first as usize;
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
                store_diagonal::<L>(t, sum, &row.rows()[s], self.mass, (diagonal, at));
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

/// m I + sum, made symmetric: rounding leaves the sum of blocks a little off.
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

/// out = A v.
pub(super) struct Product<'a> {
    pub matrix: &'a Sparse,
    pub v: &'a [Block],
    pub out: Blocks<'a>,
}

impl Kernel for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Sparse { slices, row, column, off, diagonal, .. } = self.matrix;
        let (row, column) = (row.over(self.v), column.over(self.v));
        for (s, diagonal) in diagonal.iter().enumerate() {
            let slice = &slices[s];
            let entries = slice.first as usize..slices[s + 1].first as usize;
            let mut at = 0;
            while at < LANES {
                let mut sum = [L::splat(t, 0.0); 4];
                multiply(t, diagonal, L::pick(t, row, s, at), at, &mut sum);
                for k in entries.clone() {
                    multiply(t, &off[k], L::pick(t, column, k, at), at, &mut sum);
                }
                L::store_rows4(sum, self.out, &slice.store[at..]);
                at += L::COUNT;
            }
        }
    }
}

/// sum += block · v.
#[inline(always)]
fn multiply<L: Lane>(t: L::Token, block: &Eight9, v: [L; 4], at: usize, sum: &mut [L; 4]) {
    for row in 0..3 {
        for column in 0..3 {
            sum[row] = sum[row] + L::load(t, &block.0[3 * row + column][at..]) * v[column];
        }
    }
}
