//! Columns of numbers (structure of arrays), and pairs of nodes that are contiguous in them: the ends of eight pairs
//! are two full vectors, without indices.

use super::{LANES, Lane, Real, outside};
use bytemuck::{Pod, Zeroable};
use core::marker::PhantomData;

/// A cache line of numbers (two in the f64 build): columns are aligned to it, so that no vector crosses two lines.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Line([Real; 16]);

/// N columns of equal length, one after the other. Each is an integral number of lines, with at least one of padding
/// after its `len` numbers: vectors that begin at a used number stay in bounds.
#[derive(Clone, Debug)]
pub struct Columns<const N: usize> {
    lines: Vec<Line>,
    len: usize,
}

impl<const N: usize> Columns<N> {
    /// Zeros; `len` is rounded up to full vectors.
    #[inline]
    pub fn new(len: usize) -> Self {
        let len = len.next_multiple_of(LANES);
        let lines = vec![Line([0.0; 16]); N * (len / 16 + 2)];
        Self { lines, len }
    }

    /// Numbers in use of each column, a multiple of eight.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when the length is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stride: from the start of a column to that of the next.
    #[inline]
    fn stride(&self) -> usize {
        self.lines.len() / N * 16
    }

    /// A column in groups of eight.
    #[inline]
    pub fn column(&self, column: usize) -> &[[Real; LANES]] {
        let start = column * self.stride();
        let all: &[Real] = bytemuck::cast_slice(&self.lines);
        all[start..start + self.len].as_chunks().0
    }

    /// All columns in groups of eight, to write.
    #[inline]
    pub fn columns_mut(&mut self) -> [&mut [[Real; LANES]]; N] {
        let (stride, len) = (self.stride(), self.len);
        let mut rest: &mut [Real] = bytemuck::cast_slice_mut(&mut self.lines);
        core::array::from_fn(|_| {
            let (this, after) = core::mem::take(&mut rest).split_at_mut(stride);
            rest = after;
            this[..len].as_chunks_mut().0
        })
    }
}

/// Groups of eight pairs: entries a.. and b.. of the columns, with known maximum.
///
/// Lanes that are no pair are left unchanged by a factor (`share`) of 0; their entries may be those of other lanes, but
/// no entry is changed by two lanes of a group.
#[derive(Clone, Debug, Default)]
pub struct StripPairs {
    groups: Vec<[u32; 2]>,
    /// One more than the largest first entry.
    limit: usize,
}

impl StripPairs {
    /// Adds a group.
    #[inline]
    pub fn push(&mut self, a: u32, b: u32) {
        self.limit = self.limit.max(a.max(b) as usize + 1);
        self.groups.push([a, b]);
    }

    /// The pair in a lane of a group.
    #[inline]
    pub fn pair(&self, group: usize, lane: usize) -> [u32; 2] {
        self.groups[group].map(|first| first + lane as u32)
    }

    /// The groups, in columns x, y, z and inverse mass.
    #[inline]
    pub fn over<'a, const N: usize>(&'a self, columns: &'a mut Columns<N>) -> Strips<'a> {
        assert!(N >= 4, "x, y, z and inverse mass");
        if self.limit > columns.len {
            outside(self.limit - 1, columns.len);
        }
        let stride = columns.stride();
        let all: &mut [Real] = bytemuck::cast_slice_mut(&mut columns.lines);
        Strips { groups: &self.groups, first: all.as_mut_ptr(), stride, owner: PhantomData }
    }
}

/// Pairs in strips, with the columns that contain them, checked.
#[derive(Clone, Copy, Debug)]
pub struct Strips<'a> {
    groups: &'a [[u32; 2]],
    first: *mut Real,
    stride: usize,
    owner: PhantomData<&'a mut [Real]>,
}

/// Both ends of a group and their difference, kept between `span` and `pull`.
#[derive(Clone, Copy, Debug)]
pub struct StripSpan<L> {
    a: [L; 3],
    b: [L; 3],
    d: [L; 3],
    w: [L; 2],
}

impl Strips<'_> {
    #[inline(always)]
    fn read<L: Lane>(&self, t: L::Token, column: usize, at: usize) -> L {
        // SAFETY: `StripPairs::over` has checked that every group begins at an entry in use, after which there is a
        // full vector in each of the first four columns; they are borrowed.
        unsafe { L::load(t, core::slice::from_raw_parts(self.first.add(column * self.stride + at), L::COUNT)) }
    }

    #[inline(always)]
    fn write<L: Lane>(&self, column: usize, at: usize, numbers: L) {
        // SAFETY: as above; they are borrowed mutably, and no other reference to them exists.
        unsafe { numbers.store(core::slice::from_raw_parts_mut(self.first.add(column * self.stride + at), L::COUNT)) }
    }

    /// Ends of a group from its lane `at` on, and b − a.
    #[inline(always)]
    pub fn span<L: Lane>(&self, t: L::Token, group: usize, at: usize) -> (StripSpan<L>, [L; 3]) {
        let [from, to] = self.groups[group];
        let (from, to) = (from as usize + at, to as usize + at);
        let a = [self.read(t, 0, from), self.read(t, 1, from), self.read(t, 2, from)];
        let b = [self.read(t, 0, to), self.read(t, 1, to), self.read(t, 2, to)];
        let d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        (StripSpan { a, b, d, w: [self.read(t, 3, from), self.read(t, 3, to)] }, d)
    }

    /// Moves the ends towards each other by a multiple of d, weighted by their inverse masses: a += d (share w_a), b −=
    /// d (share w_b).
    #[inline(always)]
    pub fn pull<L: Lane>(&self, share: L, group: usize, at: usize, span: StripSpan<L>) {
        let [from, to] = self.groups[group];
        let (from, to) = (from as usize + at, to as usize + at);
        let (pull_a, pull_b) = (share * span.w[0], share * span.w[1]);
        // b first: an unused lane of b may coincide with an entry of a and writes its old value
        for k in 0..3 {
            self.write(k, to, span.b[k] - span.d[k] * pull_b);
        }
        for k in 0..3 {
            self.write(k, from, span.a[k] + span.d[k] * pull_a);
        }
    }
}
