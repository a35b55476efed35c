//! Eight numbers at a time.
//!
//! A kernel is written once, generic over [`Lane`], and compiled twice: with `L = Real` it is the scalar path (and the
//! only one of the f64 build), with `L = f32x8` it does eight rows at once. Every operation is one IEEE operation, none
//! is fused, so that both give the same bits lane by lane.
//!
//! Kernels and their helpers must be plain `#[inline(always)]` functions, never closures: a closure around a SIMD call
//! is compiled without the CPU's vector features and runs nine times slower, silently (measured in the cloth study).

#[cfg(not(feature = "f64"))]
mod eight;
#[cfg(not(feature = "f64"))]
mod sixteen;
pub mod strip;
#[cfg(all(test, not(feature = "f64")))]
mod tests;
pub mod vector;

use super::{Block, Real};
use core::marker::PhantomData;
use core::ops::{Add, IndexMut, Mul, Neg, Sub};

/// Number of rows that the vectorised path processes at once.
pub const LANES: usize = 8;
/// Maximum number of manifolds that the contact kernel processes at once.
pub const BROAD: usize = 16;

/// Velocity, pose or inertia blocks that several threads may use at once, each its own rows.
///
/// Rows are copied in and out by value, no reference to the elements is ever created. A block index of `u32::MAX` is
/// never written.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    first: *mut Real,
    blocks: usize,
    owner: PhantomData<&'a mut [Block]>,
}

// SAFETY: a `Blocks` is a borrowed array; the solver assigns rows so that within one colour no two threads share a row
// that they write (checked by the colouring's debug assertion).
unsafe impl Send for Blocks<'_> {}
// SAFETY: as above.
unsafe impl Sync for Blocks<'_> {}

impl<'a> Blocks<'a> {
    /// Borrows blocks for reading and writing.
    #[inline]
    pub fn new(blocks: &'a mut [Block]) -> Self {
        Self { first: blocks.as_mut_ptr().cast(), blocks: blocks.len(), owner: PhantomData }
    }

    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.blocks
    }

    /// True when the length is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Blocks `start` to `end`.
    #[inline]
    pub fn part(&self, start: usize, end: usize) -> Self {
        if start > end || end > self.blocks {
            outside(end, self.blocks);
        }
        // SAFETY: in bounds by the check.
        Self { first: unsafe { self.first.add(start * 4) }, blocks: end - start, owner: PhantomData }
    }

    /// One block.
    #[inline]
    pub fn get(&self, index: u32) -> Block {
        self.read(index)
    }

    /// N numbers from a block on.
    #[inline(always)]
    fn read<const N: usize>(&self, index: u32) -> [Real; N] {
        let at = index as usize;
        if at * 4 + N > self.blocks * 4 {
            outside(at, self.blocks);
        }
        // SAFETY: in bounds by the assertion; the array is borrowed for 'a; no thread writes this row now (type's
        // contract).
        unsafe { self.first.add(at * 4).cast::<[Real; N]>().read() }
    }

    /// Reads a block without the bounds check. Only the vectorised path needs it.
    ///
    /// # Safety
    /// The index is below the number of blocks.
    #[cfg(not(feature = "f64"))]
    #[inline(always)]
    unsafe fn read_known(&self, index: u32) -> Block {
        // SAFETY: in bounds by the caller; the array is borrowed for 'a; no thread writes this row now (type's
        // contract).
        unsafe { self.first.add(index as usize * 4).cast::<Block>().read() }
    }

    /// Reads two adjacent blocks without the bounds check.
    ///
    /// # Safety
    /// The index is at least one below the last of the blocks.
    #[cfg(not(feature = "f64"))]
    #[inline(always)]
    unsafe fn read_row(&self, index: u32) -> [Real; 8] {
        // SAFETY: in bounds by the caller; the array is borrowed for 'a; no thread writes this row now (type's
        // contract).
        unsafe { self.first.add(index as usize * 4).cast::<[Real; 8]>().read() }
    }

    /// Writes two adjacent blocks without the bounds check.
    ///
    /// # Safety
    /// The index is at least one below the last of the blocks.
    #[cfg(not(feature = "f64"))]
    #[inline(always)]
    unsafe fn write_row(&self, index: u32, numbers: [Real; 8]) {
        // SAFETY: in bounds by the caller; the array is borrowed mutably for 'a; no other thread uses this row now.
        unsafe { self.first.add(index as usize * 4).cast::<[Real; 8]>().write(numbers) }
    }

    /// Writes a block without the bounds check.
    ///
    /// # Safety
    /// The index is below the number of blocks.
    #[cfg(not(feature = "f64"))]
    #[inline(always)]
    unsafe fn write_known(&self, index: u32, numbers: Block) {
        // SAFETY: in bounds by the caller; the array is borrowed mutably for 'a; no other thread uses this row now.
        unsafe { self.first.add(index as usize * 4).cast::<Block>().write(numbers) }
    }

    /// Writes N numbers from a block on.
    #[inline(always)]
    pub fn write<const N: usize>(&self, index: u32, numbers: [Real; N]) {
        if index == u32::MAX {
            return;
        }
        let at = index as usize;
        if at * 4 + N > self.blocks * 4 {
            outside(at, self.blocks);
        }
        // SAFETY: in bounds by the assertion; the array is borrowed mutably for 'a; no other thread uses this row now.
        unsafe { self.first.add(at * 4).cast::<[Real; N]>().write(numbers) }
    }
}

/// Rows of eight block indices whose largest is known: checked once per kernel instead of at each load.
#[derive(Clone, Debug, Default)]
pub struct Picks {
    rows: Vec<[u32; LANES]>,
    /// One more than the largest index.
    limit: usize,
}

impl Picks {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: [u32; LANES]) {
        self.limit = row.iter().fold(self.limit, |limit, &i| limit.max(i as usize + 1));
        self.rows.push(row);
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True when the length is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows.
    #[inline]
    pub fn rows(&self) -> &[[u32; LANES]] {
        &self.rows
    }

    /// The rows with the blocks they index; panics when an index is out of bounds.
    #[inline]
    pub fn over<'a>(&'a self, blocks: &'a [Block]) -> Picked<'a> {
        if self.limit > blocks.len() {
            outside(self.limit - 1, blocks.len());
        }
        Picked { rows: &self.rows, blocks }
    }
}

/// Rows of indices with the blocks that they index, checked.
#[derive(Clone, Copy, Debug)]
pub struct Picked<'a> {
    rows: &'a [[u32; LANES]],
    /// Its length exceeds every index in `rows`.
    blocks: &'a [Block],
}

impl<'a> Picked<'a> {
    /// The block that a lane of a row indexes.
    #[inline(always)]
    fn block(&self, row: usize, lane: usize) -> &'a Block {
        // SAFETY: `Picks::over` has checked that every index of the rows lies inside the blocks.
        unsafe { self.blocks.get_unchecked(self.rows[row][lane] as usize) }
    }

    /// All blocks of a row.
    #[cfg(not(feature = "f64"))]
    #[inline(always)]
    fn row(&self, row: usize) -> [&'a Block; LANES] {
        let index = &self.rows[row];
        let mut out = [&[0.0; 4]; LANES];
        for lane in 0..LANES {
            // SAFETY: as above.
            out[lane] = unsafe { self.blocks.get_unchecked(index[lane] as usize) };
        }
        out
    }
}

/// Groups of eight pairs of blocks whose largest index is known; the pairs of a group share no block.
#[derive(Clone, Debug, Default)]
pub struct PairPicks {
    groups: Vec<PairGroup>,
    /// One more than the largest index.
    limit: usize,
}

/// Byte offsets of block a and block b of eight pairs: the sweep then needs no multiplication.
#[derive(Clone, Copy, Debug)]
struct PairGroup {
    a: [u32; LANES],
    b: [u32; LANES],
}

impl PairPicks {
    /// Adds a group. Panics when two of its pairs share a block: they are written at once.
    #[inline]
    pub fn push(&mut self, a: [u32; LANES], b: [u32; LANES]) {
        let mut all = [a, b].concat();
        all.sort_unstable();
        assert!(all.windows(2).all(|w| w[0] != w[1]), "pairs of a group share a block: {a:?} {b:?}");
        self.limit = self.limit.max(all[2 * LANES - 1] as usize + 1);
        assert!(self.limit < u32::MAX as usize / size_of::<Block>(), "too many blocks: {}", self.limit);
        let place = |i: u32| i * size_of::<Block>() as u32;
        self.groups.push(PairGroup { a: a.map(place), b: b.map(place) });
    }

    /// The pair in a lane of a group.
    #[inline]
    pub fn pair(&self, group: usize, lane: usize) -> [u32; 2] {
        [self.groups[group].a[lane], self.groups[group].b[lane]].map(|place| place / size_of::<Block>() as u32)
    }

    /// The groups with the blocks they read and write; panics when an index is out of bounds.
    #[inline]
    pub fn over<'a>(&'a self, blocks: &'a mut [Block]) -> PickedPairs<'a> {
        if self.limit > blocks.len() {
            outside(self.limit - 1, blocks.len());
        }
        PickedPairs { groups: &self.groups, blocks: Blocks::new(blocks) }
    }
}

/// Pairs of blocks with the blocks that they index, checked.
#[derive(Clone, Copy, Debug)]
pub struct PickedPairs<'a> {
    groups: &'a [PairGroup],
    /// Its length exceeds every index in `groups`.
    blocks: Blocks<'a>,
}

impl PickedPairs<'_> {
    /// Reads a block of the pairs at its byte offset.
    #[inline(always)]
    fn read(&self, place: u32) -> Block {
        // SAFETY: `PairPicks::over` has checked that every offset of the groups lies inside the blocks, which are
        // borrowed.
        unsafe { self.blocks.first.byte_add(place as usize).cast::<Block>().read() }
    }

    /// Writes a block of the pairs at its byte offset.
    #[inline(always)]
    fn write(&self, place: u32, block: Block) {
        // SAFETY: as above; they are borrowed mutably.
        unsafe { self.blocks.first.byte_add(place as usize).cast::<Block>().write(block) }
    }
}

/// The panic of an invalid index, out of line: an inline assertion with a message keeps its arguments on the stack,
/// three stores per load, which took 40 % of a kernel's time.
#[cold]
#[inline(never)]
fn outside(at: usize, blocks: usize) -> ! {
    panic!("block {at} of {blocks}")
}

/// The first N numbers of a slice, as an array. Panics when there are fewer.
///
/// `try_into` and `first_chunk` return a reference or nothing, and where the compiler does not know that the pointer is
/// not null it compares each with null: six comparisons per eight distance constraints.
#[cfg(not(feature = "f64"))]
#[inline(always)]
fn head<const N: usize>(from: &[Real]) -> &[Real; N] {
    let from = &from[..N];
    // SAFETY: N numbers, by the line above; an array is aligned as its elements.
    unsafe { &*from.as_ptr().cast() }
}

/// The same, mutable.
#[cfg(not(feature = "f64"))]
#[inline(always)]
fn head_mut<const N: usize>(to: &mut [Real]) -> &mut [Real; N] {
    let to = &mut to[..N];
    // SAFETY: as above; borrowed mutably.
    unsafe { &mut *to.as_mut_ptr().cast() }
}

/// A number, or eight or sixteen of them: the operations of the contact kernel.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> + Send + Sync
{
    /// Number of lanes.
    const COUNT: usize;
    /// Token needed to create a value (the CPU level of the SIMD crate).
    type Token: Copy;
    /// The same number in every lane.
    fn splat(token: Self::Token, value: Real) -> Self;
    /// Reads `COUNT` numbers.
    fn load(token: Self::Token, from: &[Real]) -> Self;
    /// Writes `COUNT` numbers.
    fn store(self, to: &mut [Real]);
    /// Division.
    fn div(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Lane-wise smaller.
    fn min(self, other: Self) -> Self;
    /// Lane-wise larger.
    fn max(self, other: Self) -> Self;
    /// `self > other ? yes : no`, lane by lane.
    fn select_gt(self, other: Self, yes: Self, no: Self) -> Self;
    /// Loads rows of eight numbers (two blocks of one rigid body) and transposes them into lanes of numbers: `out[k]`
    /// holds number k of every row.
    fn load_rows8(token: Self::Token, base: Blocks<'_>, index: &[u32]) -> [Self; 8];
    /// The inverse of [`Number::load_rows8`]; an index of `u32::MAX` is not written.
    fn store_rows8(rows: [Self; 8], base: Blocks<'_>, index: &[u32]);
}

/// A number, or eight of them.
pub trait Lane: Number {
    /// Pairs of blocks with their differences, kept between [`Lane::pair_span`] and [`Lane::pair_pull`].
    type Spans: Copy;
    /// One value for each part of a group of eight, indexed by the first lane of the part: one where a register holds the
    /// whole group, so that the value stays in registers. An array of eight of which one is used was filled in memory in
    /// every group: 2.2 kB for the nodes of a cloth.
    type Parts<T: Copy>: Copy + IndexMut<usize, Output = T>;
    /// The same value for all parts of a group.
    fn parts<T: Copy>(value: T) -> Self::Parts<T>;
    /// True when every lane of self is larger than that of other; NaN is never larger.
    fn all_gt(self, other: Self) -> bool;
    /// True when a lane of self is larger than that of other.
    fn any_gt(self, other: Self) -> bool;
    /// Bit k is set when lane k of self is larger than that of other.
    fn bits_gt(self, other: Self) -> u32;
    /// Loads blocks by index from a shared list: `out[k]` holds number k of every block.
    fn gather4(token: Self::Token, from: &[Block], index: &[u32]) -> [Self; 4];
    /// The same for a row of picked blocks, from its lane `at` on.
    fn pick(token: Self::Token, from: Picked<'_>, row: usize, at: usize) -> [Self; 4];
    /// The first three numbers of them, for positions.
    fn pick_xyz(token: Self::Token, from: Picked<'_>, row: usize, at: usize) -> [Self; 3];
    /// The first three numbers of blocks by index from a shared list.
    fn gather_xyz(token: Self::Token, from: &[Block], index: &[u32]) -> [Self; 3];
    /// Writes `COUNT` blocks that are contiguous.
    fn store_blocks(rows: [Self; 4], to: &mut [Block]);
    /// Loads rows of four numbers (one block).
    fn load_rows4(token: Self::Token, base: Blocks<'_>, index: &[u32]) -> [Self; 4];
    /// One number of a list for each index.
    fn gather(token: Self::Token, from: &[Real], index: &[u32]) -> Self;
    /// The inverse of [`Lane::load_rows4`]; an index of `u32::MAX` is not written.
    fn store_rows4(rows: [Self; 4], base: Blocks<'_>, index: &[u32]);
    /// Adds to rows of four numbers with distinct indices; an index of `u32::MAX` is skipped.
    fn add_rows4(rows: [Self; 4], base: Blocks<'_>, index: &[u32]);
    /// Separation velocity of pairs of blocks along their axes: u·(b − a) over the first three numbers, for `COUNT`
    /// pairs.
    ///
    /// Blocks and axes stay in rows of four; only the products are transposed into lanes.
    fn pair_drift(token: Self::Token, base: Blocks<'_>, pairs: &Pairs<'_>) -> Self;
    /// Applies opposite impulses to pairs of blocks: a −= u (change w_a), b += u (change w_b), with w the fourth number
    /// of a block. Pairs are processed sequentially: they may share blocks.
    fn pair_push(self, base: Blocks<'_>, pairs: &Pairs<'_>);
    /// Pairs of a group from its lane `at` on, and b − a of their first three numbers.
    fn pair_span(token: Self::Token, pairs: PickedPairs<'_>, group: usize, at: usize) -> (Self::Spans, [Self; 3]);
    /// Moves the same pairs towards each other by a multiple of d = b − a: a += d (share w_a), b −= d (share w_b), with
    /// w the fourth number of a block, and writes them.
    fn pair_pull(self, pairs: PickedPairs<'_>, group: usize, at: usize, spans: Self::Spans);
    /// Reads `COUNT` blocks that are contiguous: `out[k]` holds number k of every block.
    fn load_blocks(token: Self::Token, from: &[Block]) -> [Self; 4];
}

/// Pairs of blocks with an axis each, for [`Lane::pair_drift`] and [`Lane::pair_push`].
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a> {
    /// Block a of each pair.
    pub a: &'a [u32],
    /// Block b of each pair.
    pub b: &'a [u32],
    /// The axis u of each pair, its fourth number 0.
    pub axis: &'a [Block],
    /// Bit 2k: a of pair k has a non-zero inverse mass and is written; bit 2k + 1: b.
    pub answers: u32,
}

impl Number for Real {
    const COUNT: usize = 1;
    type Token = ();
    #[inline(always)]
    fn splat((): (), value: Real) -> Self {
        value
    }
    #[inline(always)]
    fn load((): (), from: &[Real]) -> Self {
        from[0]
    }
    #[inline(always)]
    fn store(self, to: &mut [Real]) {
        to[0] = self;
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self / other
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Real::sqrt(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
    #[inline(always)]
    fn select_gt(self, other: Self, yes: Self, no: Self) -> Self {
        if self > other { yes } else { no }
    }
    #[inline(always)]
    fn load_rows8((): (), base: Blocks<'_>, index: &[u32]) -> [Self; 8] {
        base.read(index[0])
    }
    #[inline(always)]
    fn store_rows8(rows: [Self; 8], base: Blocks<'_>, index: &[u32]) {
        base.write(index[0], rows);
    }
}

impl Lane for Real {
    type Spans = [Block; 3];
    type Parts<T: Copy> = [T; LANES];
    #[inline(always)]
    fn parts<T: Copy>(value: T) -> [T; LANES] {
        [value; LANES]
    }
    #[inline(always)]
    fn all_gt(self, other: Self) -> bool {
        self > other
    }
    #[inline(always)]
    fn any_gt(self, other: Self) -> bool {
        self > other
    }
    #[inline(always)]
    fn bits_gt(self, other: Self) -> u32 {
        u32::from(self > other)
    }
    #[inline(always)]
    fn gather4((): (), from: &[Block], index: &[u32]) -> [Self; 4] {
        from[index[0] as usize]
    }
    #[inline(always)]
    fn pick((): (), from: Picked<'_>, row: usize, at: usize) -> [Self; 4] {
        *from.block(row, at)
    }
    #[inline(always)]
    fn pick_xyz((): (), from: Picked<'_>, row: usize, at: usize) -> [Self; 3] {
        let [x, y, z, _] = *from.block(row, at);
        [x, y, z]
    }
    #[inline(always)]
    fn gather_xyz((): (), from: &[Block], index: &[u32]) -> [Self; 3] {
        let [x, y, z, _] = from[index[0] as usize];
        [x, y, z]
    }
    #[inline(always)]
    fn store_blocks(rows: [Self; 4], to: &mut [Block]) {
        to[0] = rows;
    }
    #[inline(always)]
    fn load_rows4((): (), base: Blocks<'_>, index: &[u32]) -> [Self; 4] {
        base.read(index[0])
    }
    #[inline(always)]
    fn gather((): (), from: &[Real], index: &[u32]) -> Self {
        from[index[0] as usize]
    }
    #[inline(always)]
    fn store_rows4(rows: [Self; 4], base: Blocks<'_>, index: &[u32]) {
        base.write(index[0], rows);
    }
    #[inline(always)]
    fn add_rows4(rows: [Self; 4], base: Blocks<'_>, index: &[u32]) {
        if index[0] != u32::MAX {
            let old: Block = base.read(index[0]);
            base.write(index[0], [old[0] + rows[0], old[1] + rows[1], old[2] + rows[2], old[3] + rows[3]]);
        }
    }
    #[inline(always)]
    fn pair_drift((): (), base: Blocks<'_>, pairs: &Pairs<'_>) -> Self {
        let (a, b, u): (Block, Block, _) = (base.read(pairs.a[0]), base.read(pairs.b[0]), pairs.axis[0]);
        u[0] * (b[0] - a[0]) + u[1] * (b[1] - a[1]) + u[2] * (b[2] - a[2])
    }
    #[inline(always)]
    fn pair_push(self, base: Blocks<'_>, pairs: &Pairs<'_>) {
        let u = pairs.axis[0];
        // the fourth number too, as in the vectorised path: the same result for values that are not finite
        if pairs.answers & 1 != 0 {
            let mut a: Block = base.read(pairs.a[0]);
            let push = self * a[3];
            for k in 0..4 {
                a[k] -= u[k] * push;
            }
            base.write(pairs.a[0], a);
        }
        if pairs.answers & 2 != 0 {
            let mut b: Block = base.read(pairs.b[0]);
            let push = self * b[3];
            for k in 0..4 {
                b[k] += u[k] * push;
            }
            base.write(pairs.b[0], b);
        }
    }
    #[inline(always)]
    fn pair_span((): (), pairs: PickedPairs<'_>, group: usize, at: usize) -> ([Block; 3], [Self; 3]) {
        let g = &pairs.groups[group];
        let (a, b) = (pairs.read(g.a[at]), pairs.read(g.b[at]));
        let d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        ([a, b, [d[0], d[1], d[2], 0.0]], d)
    }
    #[inline(always)]
    fn pair_pull(self, pairs: PickedPairs<'_>, group: usize, at: usize, [a, b, d]: [Block; 3]) {
        let g = &pairs.groups[group];
        let (mut on_a, mut on_b) = (a, b);
        for k in 0..3 {
            on_a[k] += d[k] * (self * a[3]);
            on_b[k] -= d[k] * (self * b[3]);
        }
        pairs.write(g.a[at], on_a);
        pairs.write(g.b[at], on_b);
    }
    #[inline(always)]
    fn load_blocks((): (), from: &[Block]) -> [Self; 4] {
        from[0]
    }
}

/// Work that is written once for one lane and for eight.
///
/// `run` must be `#[inline(always)]`, as everything it calls.
pub trait Kernel {
    /// Result of the kernel.
    type Output;
    /// Does the work with lanes of type L.
    fn run<L: Lane>(self, token: L::Token) -> Self::Output;
}

/// Runs a kernel vectorised or scalar, with the same bits.
pub fn run<K: Kernel>(kernel: K, lanes: bool) -> K::Output {
    if lanes { wide::<K, true>(kernel) } else { run_scalar(kernel) }
}

/// The scalar path, compiled once for all its callers.
#[cfg_attr(not(feature = "f64"), inline(never))]
fn run_scalar<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Real>(())
}

/// Runs a kernel eight wide at the CPU's best level; in the f64 build it runs with one lane.
pub fn run_wide<K: Kernel>(kernel: K) -> K::Output {
    wide::<K, true>(kernel)
}

/// A level costs a copy of every kernel: a processor older than SSE 4.2 (2008) takes the scalar path. `ALL`: all levels, or
/// AVX2 alone.
#[cfg(all(not(feature = "f64"), target_arch = "x86_64"))]
fn wide<K: Kernel, const ALL: bool>(kernel: K) -> K::Output {
    let level = fearless_simd::Level::new();
    if ALL && let Some(s) = level.as_avx512() {
        return eight_wide(s, kernel);
    }
    if let Some(s) = level.as_avx2() {
        return eight_wide(s, kernel);
    }
    if ALL && let Some(s) = level.as_sse4_2() {
        return eight_wide(s, kernel);
    }
    run_scalar(kernel)
}

#[cfg(all(not(feature = "f64"), not(target_arch = "x86_64")))]
fn wide<K: Kernel, const ALL: bool>(kernel: K) -> K::Output {
    fearless_simd::dispatch!(fearless_simd::Level::new(), s => eight_wide(s, kernel))
}

#[cfg(not(feature = "f64"))]
#[inline(always)]
fn eight_wide<S: fearless_simd::Simd, K: Kernel>(s: S, kernel: K) -> K::Output {
    s.vectorize(
        #[inline(always)]
        || kernel.run::<fearless_simd::f32x8<S>>(s),
    )
}

#[cfg(feature = "f64")]
fn wide<K: Kernel, const ALL: bool>(kernel: K) -> K::Output {
    run_scalar(kernel)
}

/// Work that is written once for one number and for eight or sixteen of them, with the same rules as [`Kernel`].
pub trait BroadKernel {
    /// Does the work with numbers of type L.
    fn run<L: Number>(self, token: L::Token);
}

/// Runs a kernel at the CPU's best level or scalar, with the same bits. Sixteen wide only where sixteen numbers fit
/// into a register: with two registers for each there are not enough of them.
pub fn run_broad<K: BroadKernel>(kernel: K, lanes: bool) {
    run_broad_at::<K, true>(kernel, lanes);
}

/// Levels as in `wide`.
fn run_broad_at<K: BroadKernel, const ALL: bool>(kernel: K, lanes: bool) {
    #[cfg(all(not(feature = "f64"), target_arch = "x86_64"))]
    if lanes {
        use fearless_simd::{Level, f32x8};
        let level = Level::new();
        if ALL && let Some(s) = level.as_avx512() {
            return broad::<_, fearless_simd::f32x16<_>, _>(s, kernel);
        }
        if let Some(s) = level.as_avx2() {
            return broad::<_, f32x8<_>, _>(s, kernel);
        }
        if ALL && let Some(s) = level.as_sse4_2() {
            return broad::<_, f32x8<_>, _>(s, kernel);
        }
    }
    #[cfg(all(not(feature = "f64"), not(target_arch = "x86_64")))]
    if lanes {
        use fearless_simd::{Level, Simd, dispatch, f32x8};
        #[inline(always)]
        fn go<S: Simd, K: BroadKernel>(s: S, kernel: K) {
            broad::<S, f32x8<S>, K>(s, kernel);
        }
        return dispatch!(Level::new(), s => go(s, kernel));
    }
    let _ = lanes;
    kernel.run::<Real>(());
}

#[cfg(not(feature = "f64"))]
#[inline(always)]
fn broad<S: fearless_simd::Simd, L: Number<Token = S>, K: BroadKernel>(s: S, kernel: K) {
    s.vectorize(
        #[inline(always)]
        || kernel.run::<L>(s),
    );
}

/// The functions that run kernels, for AVX2 and the scalar path alone: for unit tests of the core, where each further level
/// costs a copy of every kernel.
#[doc(hidden)]
pub mod one_level {
    use super::{BroadKernel, Kernel};

    /// As [`super::run`].
    pub fn run<K: Kernel>(kernel: K, lanes: bool) -> K::Output {
        if lanes { run_wide(kernel) } else { super::run_scalar(kernel) }
    }

    /// As [`super::run_wide`].
    pub fn run_wide<K: Kernel>(kernel: K) -> K::Output {
        super::wide::<K, false>(kernel)
    }

    /// As [`super::run_broad`].
    pub fn run_broad<K: BroadKernel>(kernel: K, lanes: bool) {
        super::run_broad_at::<K, false>(kernel, lanes);
    }
}
