//! Eight numbers at a time.
//!
//! A kernel is written once, generic over [`Lane`], and compiled twice: with `L = Real` it is the scalar path (and the
//! whole f64 build), with `L = f32x8` it does eight rows at once. Every operation is one IEEE operation, none is fused,
//! so that both give the same bits lane by lane.
//!
//! Kernels and their helpers must be plain `#[inline(always)]` functions, never closures: a closure around a SIMD call is
//! compiled without the CPU's vector features and runs nine times slower, silently (measured in the cloth study).

use super::{Block, Real};
use core::marker::PhantomData;
use core::ops::{Add, Mul, Neg, Sub};

/// How many rows the wide path handles at once.
pub const LANES: usize = 8;

/// Velocity, pose or inertia blocks that several threads may use at once, each its own rows.
///
/// Rows are copied in and out by value, no reference to the inside is ever made. A block index of `u32::MAX` is never
/// written.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    first: *mut Real,
    blocks: usize,
    owner: PhantomData<&'a mut [Block]>,
}

// SAFETY: a `Blocks` is a borrowed array; the solver hands out rows so that within one colour no two threads share a row
// they write (checked by the colouring's debug assertion).
unsafe impl Send for Blocks<'_> {}
// SAFETY: as above.
unsafe impl Sync for Blocks<'_> {}

impl<'a> Blocks<'a> {
    /// Borrows blocks for reading and writing.
    pub fn new(blocks: &'a mut [Block]) -> Self {
        Self { first: blocks.as_mut_ptr().cast(), blocks: blocks.len(), owner: PhantomData }
    }

    /// N numbers from a block on.
    #[inline(always)]
    fn read<const N: usize>(&self, index: u32) -> [Real; N] {
        let at = index as usize;
        if at * 4 + N > self.blocks * 4 {
            outside(at, self.blocks);
        }
        // SAFETY: in bounds by the assertion; the array is borrowed for 'a; nobody writes this row now (type's contract).
        unsafe { self.first.add(at * 4).cast::<[Real; N]>().read() }
    }

    /// Writes N numbers from a block on.
    #[inline(always)]
    fn write<const N: usize>(&self, index: u32, numbers: [Real; N]) {
        if index == u32::MAX {
            return;
        }
        let at = index as usize;
        if at * 4 + N > self.blocks * 4 {
            outside(at, self.blocks);
        }
        // SAFETY: in bounds by the assertion; the array is borrowed mutably for 'a; nobody else uses this row now.
        unsafe { self.first.add(at * 4).cast::<[Real; N]>().write(numbers) }
    }
}

/// Rows of eight block indices, checked once instead of at every load.
#[derive(Clone, Debug, Default)]
pub struct Picks {
    rows: Vec<[u32; LANES]>,
    /// One more than the largest index.
    limit: usize,
}

impl Picks {
    /// Adds a row.
    pub fn push(&mut self, row: [u32; LANES]) {
        self.limit = row.iter().fold(self.limit, |limit, &i| limit.max(i as usize + 1));
        self.rows.push(row);
    }

    /// The rows, to be picked from these blocks.
    pub fn from<'a>(&'a self, base: Blocks<'a>) -> Picked<'a> {
        if self.limit > base.blocks {
            outside(self.limit - 1, base.blocks);
        }
        Picked { rows: &self.rows, base }
    }
}

/// Rows of indices with the blocks that hold them all.
#[derive(Clone, Copy, Debug)]
pub struct Picked<'a> {
    rows: &'a [[u32; LANES]],
    base: Blocks<'a>,
}

impl Picked<'_> {
    /// The block that a lane of a row picks.
    #[inline(always)]
    fn read(&self, row: &[u32; LANES], lane: usize) -> Block {
        // SAFETY: `row` is one of `rows`, all of whose indices `Picks::from` found inside the blocks; they are borrowed,
        // and nobody writes them now (contract of `Blocks`).
        unsafe { self.base.first.add(row[lane] as usize * 4).cast::<Block>().read() }
    }
}

/// The panic of a bad index, out of line: an assertion with a message in place keeps its arguments on the stack, three
/// stores a load, which took 40 % of a kernel's time.
#[cold]
#[inline(never)]
fn outside(at: usize, blocks: usize) -> ! {
    panic!("block {at} of {blocks}")
}

/// Indices of blocks, eight by eight, whose largest is known: checked once for a whole kernel instead of at each load.
#[derive(Clone, Debug, Default)]
pub struct Lookups {
    list: Vec<[u32; LANES]>,
    end: usize,
}

impl Lookups {
    /// Appends eight indices.
    pub fn push(&mut self, index: [u32; LANES]) {
        self.end = index.iter().fold(self.end, |end, &i| end.max(i as usize + 1));
        self.list.push(index);
    }

    /// How many eights.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// All eights.
    pub fn list(&self) -> &[[u32; LANES]] {
        &self.list
    }

    /// Ready to look up these blocks; panics when an index lies outside of them.
    pub fn over<'a>(&'a self, blocks: &'a [Block]) -> Lookup<'a> {
        assert!(self.end <= blocks.len(), "index {} of {} blocks", self.end, blocks.len());
        Lookup { list: &self.list, blocks }
    }
}

/// Blocks and indices into them, checked.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    list: &'a [[u32; LANES]],
    /// Longer than every index in `list`.
    blocks: &'a [Block],
}

/// A number, or eight of them.
pub trait Lane:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> + Send + Sync
{
    /// How many numbers.
    const COUNT: usize;
    /// What is needed to make one (the CPU level of the SIMD crate).
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
    /// True when every lane of self is larger than that of other; not a number is never larger.
    fn all_gt(self, other: Self) -> bool;
    /// Sum over the lanes, in a fixed order.
    fn sum(self) -> Real;
    /// Loads blocks by index from a shared list: `out[k]` holds number k of every block.
    fn gather4(token: Self::Token, from: &[Block], index: &[u32]) -> [Self; 4];
    /// The same for the eight at `at`, from its lane `lane` on.
    fn look_up(token: Self::Token, from: Lookup<'_>, at: usize, lane: usize) -> [Self; 4];
    /// Writes `COUNT` blocks that lie side by side.
    fn store_blocks(rows: [Self; 4], to: &mut [Block]);
    /// Loads rows of eight numbers (two blocks of one rigid body) and turns them into eight lanes of numbers:
    /// `out[k]` holds number k of every row.
    fn load_rows8(token: Self::Token, base: Blocks<'_>, index: &[u32]) -> [Self; 8];
    /// The inverse of [`Lane::load_rows8`]; an index of `u32::MAX` is not written.
    fn store_rows8(rows: [Self; 8], base: Blocks<'_>, index: &[u32]);
    /// Loads rows of four numbers (one block).
    fn load_rows4(token: Self::Token, base: Blocks<'_>, index: &[u32]) -> [Self; 4];
    /// The first three numbers of rows of four: what positions are read by.
    fn load_xyz(token: Self::Token, base: Blocks<'_>, index: &[u32]) -> [Self; 3];
    /// As `load_xyz` for a row of picked blocks; one lane takes the index at `at`.
    fn pick_xyz(token: Self::Token, from: Picked<'_>, row: usize, at: usize) -> [Self; 3];
    /// One number of a list for each index.
    fn gather(token: Self::Token, from: &[Real], index: &[u32]) -> Self;
    /// The inverse of [`Lane::load_rows4`]; an index of `u32::MAX` is not written.
    fn store_rows4(rows: [Self; 4], base: Blocks<'_>, index: &[u32]);
    /// Adds to rows of four numbers, which differ; an index of `u32::MAX` is left out.
    fn add_rows4(rows: [Self; 4], base: Blocks<'_>, index: &[u32]);
}

impl Lane for Real {
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
    fn all_gt(self, other: Self) -> bool {
        self > other
    }
    #[inline(always)]
    fn sum(self) -> Real {
        self
    }
    #[inline(always)]
    fn gather4((): (), from: &[Block], index: &[u32]) -> [Self; 4] {
        from[index[0] as usize]
    }
    #[inline(always)]
    fn look_up((): (), from: Lookup<'_>, at: usize, lane: usize) -> [Self; 4] {
        from.blocks[from.list[at][lane] as usize]
    }
    #[inline(always)]
    fn store_blocks(rows: [Self; 4], to: &mut [Block]) {
        to[0] = rows;
    }
    #[inline(always)]
    fn load_rows8((): (), base: Blocks<'_>, index: &[u32]) -> [Self; 8] {
        base.read(index[0])
    }
    #[inline(always)]
    fn store_rows8(rows: [Self; 8], base: Blocks<'_>, index: &[u32]) {
        base.write(index[0], rows);
    }
    #[inline(always)]
    fn load_rows4((): (), base: Blocks<'_>, index: &[u32]) -> [Self; 4] {
        base.read(index[0])
    }
    #[inline(always)]
    fn load_xyz((): (), base: Blocks<'_>, index: &[u32]) -> [Self; 3] {
        let [x, y, z, _] = base.read(index[0]);
        [x, y, z]
    }
    #[inline(always)]
    fn pick_xyz((): (), from: Picked<'_>, row: usize, at: usize) -> [Self; 3] {
        let [x, y, z, _] = from.read(&from.rows[row], at);
        [x, y, z]
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
}

/// Work that is written once for one lane and for eight.
///
/// `run` must be `#[inline(always)]`, as everything it calls.
pub trait Kernel {
    /// What it returns.
    type Output;
    /// Does the work with lanes of type L.
    fn run<L: Lane>(self, token: L::Token) -> Self::Output;
}

/// Runs a kernel eight wide at the CPU's best level; in the f64 build it runs with one lane.
#[cfg(not(feature = "f64"))]
pub fn run_wide<K: Kernel>(kernel: K) -> K::Output {
    use fearless_simd::{Level, dispatch, f32x8};
    #[inline(always)]
    fn go<S: fearless_simd::Simd, K: Kernel>(s: S, kernel: K) -> K::Output {
        kernel.run::<f32x8<S>>(s)
    }
    dispatch!(Level::new(), s => go(s, kernel))
}

/// Runs a kernel eight wide at the CPU's best level; in the f64 build it runs with one lane.
#[cfg(feature = "f64")]
pub fn run_wide<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Real>(())
}

#[cfg(not(feature = "f64"))]
mod wide {
    use super::{Block, Blocks, Lane, Lookup, Picked, Real};
    use fearless_simd::{Simd, SimdBase, SimdFloat, f32x4, f32x8, prelude::*};

    /// Full 8x8 transpose by three rounds of interleaving halves.
    #[inline(always)]
    fn transpose8<S: Simd>(s: S, r: [f32x8<S>; 8]) -> [f32x8<S>; 8] {
        let (a0, a1) = s.interleave_f32x8(r[0], r[4]);
        let (a2, a3) = s.interleave_f32x8(r[1], r[5]);
        let (a4, a5) = s.interleave_f32x8(r[2], r[6]);
        let (a6, a7) = s.interleave_f32x8(r[3], r[7]);
        let (b0, b1) = s.interleave_f32x8(a0, a4);
        let (b2, b3) = s.interleave_f32x8(a1, a5);
        let (b4, b5) = s.interleave_f32x8(a2, a6);
        let (b6, b7) = s.interleave_f32x8(a3, a7);
        let (c0, c1) = s.interleave_f32x8(b0, b4);
        let (c2, c3) = s.interleave_f32x8(b1, b5);
        let (c4, c5) = s.interleave_f32x8(b2, b6);
        let (c6, c7) = s.interleave_f32x8(b3, b7);
        [c0, c1, c2, c3, c4, c5, c6, c7]
    }

    /// 4x4 transpose of four blocks.
    #[inline(always)]
    fn transpose4<S: Simd>(s: S, r: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
        let (a0, a1) = s.interleave_f32x4(r[0], r[2]);
        let (a2, a3) = s.interleave_f32x4(r[1], r[3]);
        let (b0, b1) = s.interleave_f32x4(a0, a2);
        let (b2, b3) = s.interleave_f32x4(a1, a3);
        [b0, b1, b2, b3]
    }

    /// Interleaves the lower and the upper four numbers each by themselves. On AVX it becomes two instructions: no
    /// number crosses the middle, so eight blocks are turned by 7 shuffles instead of 16.
    #[inline(always)]
    fn interleave_halves<S: Simd>(s: S, a: f32x8<S>, b: f32x8<S>) -> (f32x8<S>, f32x8<S>) {
        let (low, high) = s.interleave_f32x8(a, b);
        let (l0, l1) = s.split_f32x8(low);
        let (h0, h1) = s.split_f32x8(high);
        (s.combine_f32x4(l0, h0), s.combine_f32x4(l1, h1))
    }

    /// x, y and z of eight blocks.
    #[inline(always)]
    fn turn_xyz<S: Simd>(s: S, r: [f32x4<S>; 8]) -> [f32x8<S>; 3] {
        let r0 = s.combine_f32x4(r[0], r[4]);
        let r1 = s.combine_f32x4(r[1], r[5]);
        let r2 = s.combine_f32x4(r[2], r[6]);
        let r3 = s.combine_f32x4(r[3], r[7]);
        let (a, b) = interleave_halves(s, r0, r2);
        let (c, d) = interleave_halves(s, r1, r3);
        let (x, y) = interleave_halves(s, a, c);
        let (z, _) = interleave_halves(s, b, d);
        [x, y, z]
    }

    /// Eight blocks as lanes of their four numbers.
    #[inline(always)]
    fn join<S: Simd>(s: S, b: [f32x4<S>; 8]) -> [f32x8<S>; 4] {
        let lo = transpose4(s, [b[0], b[1], b[2], b[3]]);
        let hi = transpose4(s, [b[4], b[5], b[6], b[7]]);
        [
            s.combine_f32x4(lo[0], hi[0]),
            s.combine_f32x4(lo[1], hi[1]),
            s.combine_f32x4(lo[2], hi[2]),
            s.combine_f32x4(lo[3], hi[3]),
        ]
    }

    /// The inverse of `join`.
    #[inline(always)]
    fn part<S: Simd>(rows: [f32x8<S>; 4]) -> [f32x4<S>; 8] {
        let s = rows[0].simd;
        let (l0, h0) = s.split_f32x8(rows[0]);
        let (l1, h1) = s.split_f32x8(rows[1]);
        let (l2, h2) = s.split_f32x8(rows[2]);
        let (l3, h3) = s.split_f32x8(rows[3]);
        let [b0, b1, b2, b3] = transpose4(s, [l0, l1, l2, l3]);
        let [b4, b5, b6, b7] = transpose4(s, [h0, h1, h2, h3]);
        [b0, b1, b2, b3, b4, b5, b6, b7]
    }

    /// A block by an index of the same lookup's list.
    #[inline(always)]
    fn looked_up<S: Simd>(s: S, from: Lookup<'_>, index: u32) -> f32x4<S> {
        // SAFETY: `Lookups::over` made sure that every index of the list lies inside the blocks.
        f32x4::from_slice(s, unsafe { from.blocks.get_unchecked(index as usize) })
    }

    #[inline(always)]
    fn block<S: Simd>(s: S, base: Blocks<'_>, index: u32) -> f32x4<S> {
        f32x4::from_slice(s, &base.read::<4>(index))
    }

    #[inline(always)]
    fn put<S: Simd>(v: f32x4<S>, base: Blocks<'_>, index: u32) {
        let mut numbers = [0.0; 4];
        v.store_slice(&mut numbers);
        base.write(index, numbers);
    }

    impl<S: Simd> Lane for f32x8<S> {
        const COUNT: usize = 8;
        type Token = S;
        #[inline(always)]
        fn splat(s: S, value: Real) -> Self {
            <f32x8<S> as SimdBase<S>>::splat(s, value)
        }
        #[inline(always)]
        fn load(s: S, from: &[Real]) -> Self {
            f32x8::from_slice(s, &from[..8])
        }
        #[inline(always)]
        fn store(self, to: &mut [Real]) {
            self.store_slice(&mut to[..8]);
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            self / other
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            SimdFloat::sqrt(self)
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // select, not min: NaN and signed zero then behave as in the scalar path
            other.simd_lt(self).select(other, self)
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            other.simd_gt(self).select(other, self)
        }
        #[inline(always)]
        fn select_gt(self, other: Self, yes: Self, no: Self) -> Self {
            self.simd_gt(other).select(yes, no)
        }
        #[inline(always)]
        fn all_gt(self, other: Self) -> bool {
            self.simd_gt(other).all_true()
        }
        #[inline(always)]
        fn gather4(s: S, from: &[Block], i: &[u32]) -> [Self; 4] {
            let i = &i[..8];
            join(
                s,
                [
                    f32x4::from_slice(s, &from[i[0] as usize]),
                    f32x4::from_slice(s, &from[i[1] as usize]),
                    f32x4::from_slice(s, &from[i[2] as usize]),
                    f32x4::from_slice(s, &from[i[3] as usize]),
                    f32x4::from_slice(s, &from[i[4] as usize]),
                    f32x4::from_slice(s, &from[i[5] as usize]),
                    f32x4::from_slice(s, &from[i[6] as usize]),
                    f32x4::from_slice(s, &from[i[7] as usize]),
                ],
            )
        }
        #[inline(always)]
        fn look_up(s: S, from: Lookup<'_>, at: usize, _: usize) -> [Self; 4] {
            let i = &from.list[at];
            join(
                s,
                [
                    looked_up(s, from, i[0]),
                    looked_up(s, from, i[1]),
                    looked_up(s, from, i[2]),
                    looked_up(s, from, i[3]),
                    looked_up(s, from, i[4]),
                    looked_up(s, from, i[5]),
                    looked_up(s, from, i[6]),
                    looked_up(s, from, i[7]),
                ],
            )
        }
        #[inline(always)]
        fn store_blocks(rows: [Self; 4], to: &mut [Block]) {
            let (b, to) = (part(rows), &mut to[..8]);
            for k in 0..8 {
                b[k].store_slice(&mut to[k]);
            }
        }
        #[inline(always)]
        fn sum(self) -> Real {
            let mut n = [0.0; 8];
            self.store_slice(&mut n);
            n.iter().sum()
        }
        #[inline(always)]
        fn load_rows8(s: S, base: Blocks<'_>, i: &[u32]) -> [Self; 8] {
            let r = [
                f32x8::from_slice(s, &base.read::<8>(i[0])),
                f32x8::from_slice(s, &base.read::<8>(i[1])),
                f32x8::from_slice(s, &base.read::<8>(i[2])),
                f32x8::from_slice(s, &base.read::<8>(i[3])),
                f32x8::from_slice(s, &base.read::<8>(i[4])),
                f32x8::from_slice(s, &base.read::<8>(i[5])),
                f32x8::from_slice(s, &base.read::<8>(i[6])),
                f32x8::from_slice(s, &base.read::<8>(i[7])),
            ];
            transpose8(s, r)
        }
        #[inline(always)]
        fn store_rows8(rows: [Self; 8], base: Blocks<'_>, i: &[u32]) {
            let s = rows[0].simd;
            let r = transpose8(s, rows);
            for k in 0..8 {
                let mut numbers = [0.0; 8];
                r[k].store_slice(&mut numbers);
                base.write(i[k], numbers);
            }
        }
        #[inline(always)]
        fn load_rows4(s: S, base: Blocks<'_>, i: &[u32]) -> [Self; 4] {
            join(
                s,
                [
                    block(s, base, i[0]),
                    block(s, base, i[1]),
                    block(s, base, i[2]),
                    block(s, base, i[3]),
                    block(s, base, i[4]),
                    block(s, base, i[5]),
                    block(s, base, i[6]),
                    block(s, base, i[7]),
                ],
            )
        }
        #[inline(always)]
        fn load_xyz(s: S, base: Blocks<'_>, i: &[u32]) -> [Self; 3] {
            let i = &i[..8];
            turn_xyz(
                s,
                [
                    block(s, base, i[0]),
                    block(s, base, i[1]),
                    block(s, base, i[2]),
                    block(s, base, i[3]),
                    block(s, base, i[4]),
                    block(s, base, i[5]),
                    block(s, base, i[6]),
                    block(s, base, i[7]),
                ],
            )
        }
        #[inline(always)]
        fn pick_xyz(s: S, from: Picked<'_>, row: usize, _: usize) -> [Self; 3] {
            let i = &from.rows[row];
            turn_xyz(
                s,
                [
                    f32x4::from_slice(s, &from.read(i, 0)),
                    f32x4::from_slice(s, &from.read(i, 1)),
                    f32x4::from_slice(s, &from.read(i, 2)),
                    f32x4::from_slice(s, &from.read(i, 3)),
                    f32x4::from_slice(s, &from.read(i, 4)),
                    f32x4::from_slice(s, &from.read(i, 5)),
                    f32x4::from_slice(s, &from.read(i, 6)),
                    f32x4::from_slice(s, &from.read(i, 7)),
                ],
            )
        }
        #[inline(always)]
        fn gather(s: S, from: &[Real], i: &[u32]) -> Self {
            let i = &i[..8];
            let mut n = [0.0; 8];
            for k in 0..8 {
                n[k] = from[i[k] as usize];
            }
            f32x8::from_slice(s, &n)
        }
        #[inline(always)]
        fn store_rows4(rows: [Self; 4], base: Blocks<'_>, i: &[u32]) {
            let b = part(rows);
            for k in 0..8 {
                put(b[k], base, i[k]);
            }
        }
        #[inline(always)]
        fn add_rows4(rows: [Self; 4], base: Blocks<'_>, i: &[u32]) {
            let (s, b) = (rows[0].simd, part(rows));
            for k in 0..8 {
                if i[k] != u32::MAX {
                    put(block(s, base, i[k]) + b[k], base, i[k]);
                }
            }
        }
    }
}

#[cfg(all(test, not(feature = "f64")))]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch, f32x8};

    #[inline(always)]
    fn round_trip<S: fearless_simd::Simd>(s: S, base: Blocks<'_>, index: &[u32]) -> [[Real; 8]; 8] {
        let lanes = <f32x8<S> as Lane>::load_rows8(s, base, index);
        let mut out = [[0.0; 8]; 8];
        for k in 0..8 {
            lanes[k].store(&mut out[k]);
        }
        <f32x8<S> as Lane>::store_rows8(lanes, base, index);
        let four = <f32x8<S> as Lane>::load_rows4(s, base, index);
        let mut first = [0.0; 8];
        four[1].store(&mut first);
        assert_eq!(first, out[1]);
        let three = <f32x8<S> as Lane>::load_xyz(s, base, index);
        let mut picks = Picks::default();
        picks.push(index.try_into().unwrap());
        let picked = <f32x8<S> as Lane>::pick_xyz(s, picks.from(base), 0, 0);
        for k in 0..3 {
            three[k].store(&mut first);
            assert_eq!(first, out[k]);
            picked[k].store(&mut first);
            assert_eq!(first, out[k]);
        }
        <f32x8<S> as Lane>::store_rows4(four, base, index);
        let mut side = [[0.0; 4]; 8];
        <f32x8<S> as Lane>::store_blocks(four, &mut side);
        let order = [0, 1, 2, 3, 4, 5, 6, 7];
        <f32x8<S> as Lane>::gather4(s, &side, &order)[1].store(&mut first);
        assert_eq!(first, out[1]);
        <f32x8<S> as Lane>::add_rows4(four, base, &[u32::MAX; 8]);
        let none = <f32x8<S> as Lane>::splat(s, 0.0);
        <f32x8<S> as Lane>::add_rows4([none, none, four[0], none], base, index);
        <f32x8<S> as Lane>::add_rows4([none, none, -four[0], none], base, index);
        let mut lookups = Lookups::default();
        lookups.push([7; 8]);
        lookups.push(order);
        <f32x8<S> as Lane>::look_up(s, lookups.over(&side), 1, 0)[1].store(&mut first);
        assert_eq!(first, out[1]);
        out
    }

    #[test]
    fn transposes_put_number_k_into_lane_vector_k() {
        let mut base: Vec<Block> = (0..20).map(|i| core::array::from_fn(|k| (i * 4 + k) as Real)).collect();
        let before = base.clone();
        let index = [0, 2, 4, 6, 8, 10, 12, 14];
        let got = dispatch!(Level::new(), s => round_trip(s, Blocks::new(&mut base), &index));
        for k in 0..8 {
            for (lane, at) in index.iter().enumerate() {
                assert_eq!(got[k][lane], (at * 4) as Real + k as Real);
            }
        }
        assert_eq!(base, before);
    }

    #[test]
    #[should_panic(expected = "block 9 of 9")]
    fn picks_outside_the_blocks_are_refused() {
        let mut picks = Picks::default();
        picks.push([0, 1, 2, 9, 3, 4, 5, 6]);
        let mut base = vec![[0.0; 4]; 9];
        picks.from(Blocks::new(&mut base));
    }
}
