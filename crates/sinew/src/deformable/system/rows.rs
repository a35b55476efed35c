//! A body's matrix in slices of eight rows (SELL-8): blocks of 3x3, diagonal stored separately.
//!
//! Entry k of eight rows is contiguous, so that a product processes eight rows at a time:
//!
//! ```text
//!   (A v)_i = m_i v_i + Σ_j A_ij (v_j − v_i)
//! ```
//!
//! Stiffness blocks of a row sum to zero, so that the diagonal is needed by preconditioners only: a common velocity
//! causes no loss of precision, however stiff the body.

use crate::math::{Block, Blocks, Eight, Kernel, LANES, Lane, Mat3, Picks, Real, Vec3};

/// Number of rows that are sorted by length together. Larger: less padding; smaller: better locality.
const WINDOW: usize = 512;

/// Eight 3x3 blocks, row-major.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
pub(in crate::deformable) struct Eight9(pub [Eight; 9]);

const ZERO: Eight9 = Eight9([[0.0; LANES]; 9]);

impl Eight9 {
    /// The block in a lane.
    fn block(&self, lane: usize) -> Mat3 {
        let row = |k: usize| Vec3::new(self.0[3 * k][lane], self.0[3 * k + 1][lane], self.0[3 * k + 2][lane]);
        Mat3::from_cols(row(0), row(1), row(2)).transpose()
    }

    /// Adds a block in a lane.
    fn add(&mut self, lane: usize, block: &Mat3) {
        for column in 0..3 {
            let from = block.col(column).to_array();
            for (row, from) in from.into_iter().enumerate() {
                self.0[3 * row + column][lane] += from;
            }
        }
    }
}

/// Eight rows.
#[derive(Clone, Debug)]
struct Slice {
    /// Node of each row, `u32::MAX` in an empty lane.
    store: [u32; LANES],
    /// Its first entry; the first entry of the next slice is the end.
    first: u32,
}

/// Location of an entry off the diagonal: group of eight and lane.
#[derive(Clone, Copy, Debug)]
pub(in crate::deformable) struct Slot(u32);

impl Slot {
    fn new(entry: usize, lane: u32) -> Self {
        Self((entry * LANES) as u32 + lane)
    }

    /// Group of eight and lane.
    pub fn split(self) -> (usize, usize) {
        (self.0 as usize / LANES, self.0 as usize % LANES)
    }
}

/// A matrix of 3x3 blocks with a symmetric pattern.
#[derive(Clone, Debug)]
pub(in crate::deformable) struct Rows {
    slices: Vec<Slice>,
    /// Node of each row; an empty lane repeats the first. (slice_count)
    pub row: Picks,
    /// Column of each entry. Padding is the row itself with a block of zeros. (entry_count)
    pub column: Picks,
    /// Slice and lane of each node. (node_count)
    seat: Vec<(u32, u32)>,
    /// Blocks off the diagonal. (entry_count) [kg]
    pub off: Vec<Eight9>,
    /// Diagonal blocks. (slice_count) [kg]
    pub diagonal: Vec<Eight9>,
}

impl Rows {
    /// The pattern with these columns in each row, without the diagonal, in storage order.
    pub fn new(columns: &[Vec<u32>]) -> Self {
        let mut order: Vec<u32> = (0..columns.len() as u32).collect();
        for window in order.chunks_mut(WINDOW) {
            window.sort_by_key(|&node| usize::MAX - columns[node as usize].len());
        }
        let mut rows = Self {
            slices: Vec::new(),
            row: Picks::default(),
            column: Picks::default(),
            seat: vec![(0, 0); columns.len()],
            off: Vec::new(),
            diagonal: Vec::new(),
        };
        for nodes in order.chunks(LANES) {
            rows.push_slice(nodes, columns);
        }
        rows.slices.push(Slice { store: [u32::MAX; LANES], first: rows.column.len() as u32 });
        rows.off = vec![ZERO; rows.column.len()];
        rows.diagonal = vec![ZERO; rows.slice_count()];
        rows
    }

    fn push_slice(&mut self, nodes: &[u32], columns: &[Vec<u32>]) {
        let mut load = [nodes[0]; LANES];
        let mut slice = Slice { store: [u32::MAX; LANES], first: self.column.len() as u32 };
        for (lane, &node) in nodes.iter().enumerate() {
            (load[lane], slice.store[lane]) = (node, node);
            self.seat[node as usize] = (self.slices.len() as u32, lane as u32);
        }
        let width = nodes.iter().map(|&node| columns[node as usize].len()).max().unwrap_or(0);
        for k in 0..width {
            let mut column = load;
            for (column, &node) in column.iter_mut().zip(nodes) {
                *column = columns[node as usize].get(k).copied().unwrap_or(*column);
            }
            self.column.push(column);
        }
        self.row.push(load);
        self.slices.push(slice);
    }

    /// Number of slices of eight rows.
    pub fn slice_count(&self) -> usize {
        self.slices.len() - usize::from(self.row.len() < self.slices.len())
    }

    /// Nodes of a slice's rows, `u32::MAX` in an empty lane.
    #[inline(always)]
    pub fn nodes(&self, slice: usize) -> &[u32; LANES] {
        &self.slices[slice].store
    }

    /// Entries of a slice.
    #[inline(always)]
    pub fn entries(&self, slice: usize) -> std::ops::Range<usize> {
        self.slices[slice].first as usize..self.slices[slice + 1].first as usize
    }

    /// Slot of the k-th column of a node.
    pub fn slot(&self, node: usize, k: usize) -> Slot {
        let (slice, lane) = self.seat[node];
        Slot::new(self.slices[slice as usize].first as usize + k, lane)
    }

    /// Sets all blocks to zero, except the diagonal ones to these masses.
    pub fn reset(&mut self, masses: &[Real]) {
        self.off.fill(ZERO);
        self.diagonal.fill(ZERO);
        for (node, &mass) in masses.iter().enumerate() {
            self.add_diagonal(node, &Mat3::from_diagonal(Vec3::splat(mass)));
        }
    }

    /// Adds to the block in a slot.
    pub fn add(&mut self, slot: Slot, block: &Mat3) {
        let (entry, lane) = slot.split();
        self.off[entry].add(lane, block);
    }

    /// Adds to a node's diagonal block.
    pub fn add_diagonal(&mut self, node: usize, block: &Mat3) {
        let (slice, lane) = self.seat[node];
        self.diagonal[slice as usize].add(lane as usize, block);
    }

    /// The diagonal block of every node [kg].
    pub fn diagonal(&self, out: &mut [Mat3]) {
        for (out, &(slice, lane)) in out.iter_mut().zip(&self.seat) {
            *out = self.diagonal[slice as usize].block(lane as usize);
        }
    }

    /// Calls `on(column, slot)` for every block of a row off the diagonal.
    pub fn columns(&self, node: usize, mut on: impl FnMut(usize, Slot)) {
        let (slice, lane) = self.seat[node];
        for k in self.entries(slice as usize) {
            // padding refers to the row itself
            let column = self.column.rows()[k][lane as usize] as usize;
            if column != node {
                on(column, Slot::new(k, lane));
            }
        }
    }

    /// Calls `on(column, block)` for every block of a row, the diagonal first.
    pub fn row(&self, node: usize, mut on: impl FnMut(usize, Mat3)) {
        let (slice, lane) = self.seat[node];
        on(node, self.diagonal[slice as usize].block(lane as usize));
        self.columns(node, |column, slot| {
            let (entry, lane) = slot.split();
            on(column, self.off[entry].block(lane));
        });
    }
}

/// out = A v; the fourth numbers of `out` are 0.
pub(in crate::deformable) struct Product<'a> {
    pub matrix: &'a Rows,
    /// (node_count) [kg]
    pub mass: &'a [Real],
    pub v: &'a [Block],
    pub out: Blocks<'a>,
}

impl Kernel for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Rows { row, column, off, .. } = self.matrix;
        let nodes = row.rows();
        let (row, column) = (row.over(self.v), column.over(self.v));
        for s in 0..self.matrix.slice_count() {
            let entries = self.matrix.entries(s);
            let mut at = 0;
            while at < LANES {
                let own = L::pick_xyz(t, row, s, at);
                let mass = L::gather(t, self.mass, &nodes[s][at..]);
                let mut sum = [own[0] * mass, own[1] * mass, own[2] * mass, L::splat(t, 0.0)];
                for k in entries.clone() {
                    let v = L::pick_xyz(t, column, k, at);
                    multiply(t, &off[k], [v[0] - own[0], v[1] - own[1], v[2] - own[2]], at, &mut sum);
                }
                L::store_rows4(sum, self.out, &self.matrix.nodes(s)[at..]);
                at += L::COUNT;
            }
        }
    }
}

/// sum += block · v.
#[inline(always)]
fn multiply<L: Lane>(t: L::Token, block: &Eight9, v: [L; 3], at: usize, sum: &mut [L; 4]) {
    for row in 0..3 {
        for column in 0..3 {
            sum[row] = sum[row] + L::load(t, &block.0[3 * row + column][at..]) * v[column];
        }
    }
}
