//! Eight numbers at a time: the vectorised path.

use super::{Block, Blocks, LANES, Lane, Number, Pairs, Picked, PickedPairs, Real, head, head_mut};
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x4, f32x8, prelude::*, u32x8};

/// 4x4 transpose of four blocks.
#[inline(always)]
fn transpose4<S: Simd>(s: S, r: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    let (a0, a1) = s.interleave_f32x4(r[0], r[2]);
    let (a2, a3) = s.interleave_f32x4(r[1], r[3]);
    let (b0, b1) = s.interleave_f32x4(a0, a2);
    let (b2, b3) = s.interleave_f32x4(a1, a3);
    [b0, b1, b2, b3]
}

/// x, y and z of eight blocks.
#[inline(always)]
fn turn_xyz<S: Simd>(s: S, r: [f32x4<S>; 8]) -> [f32x8<S>; 3] {
    let [x, y, z, _] = join(s, r);
    [x, y, z]
}

/// The same vector under another token.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn cast<A: Simd, B: Simd>(to: B, v: f32x8<A>) -> f32x8<B> {
    f32x8::load_array_ref(to, &<[f32; 8]>::from(v))
}

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{_mm256_unpackhi_ps, _mm256_unpacklo_ps};
#[cfg(target_arch = "x86_64")]
type Eight = f32x8<fearless_simd::x86::Avx2>;
// Transposes four rows of two blocks into lanes, and lanes into rows. Eight shuffles (seven where the fourth number is
// not needed), none across the 128-bit halves. Written explicitly, because the compiler's output for the portable form
// depends on the surrounding code: sixteen shuffles in the kernel of springs, and a sixth of its time.
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn turn_avx2(token: Avx2, r0: Eight, r1: Eight, r2: Eight, r3: Eight) -> [Eight; 4] {
        let (a, b) = (_mm256_unpacklo_ps(r0.into(), r2.into()), _mm256_unpackhi_ps(r0.into(), r2.into()));
        let (c, d) = (_mm256_unpacklo_ps(r1.into(), r3.into()), _mm256_unpackhi_ps(r1.into(), r3.into()));
        let (x, y, z, w) =
            (_mm256_unpacklo_ps(a, c), _mm256_unpackhi_ps(a, c), _mm256_unpacklo_ps(b, d), _mm256_unpackhi_ps(b, d));
        [x.simd_into(token), y.simd_into(token), z.simd_into(token), w.simd_into(token)]
    }
);

/// Transposes eight blocks stored two per vector, k beside k + 4, into lanes of their four numbers; and back: it is its
/// own inverse.
#[inline(always)]
fn turn_twos<S: Simd>(s: S, r: [f32x8<S>; 4]) -> [f32x8<S>; 4] {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = s.level().as_avx2() {
        let [x, y, z, w] = turn_avx2(avx2, cast(avx2, r[0]), cast(avx2, r[1]), cast(avx2, r[2]), cast(avx2, r[3]));
        return [cast(s, x), cast(s, y), cast(s, z), cast(s, w)];
    }
    let ((l0, h0), (l1, h1)) = (s.split_f32x8(r[0]), s.split_f32x8(r[1]));
    let ((l2, h2), (l3, h3)) = (s.split_f32x8(r[2]), s.split_f32x8(r[3]));
    let (lo, hi) = (transpose4(s, [l0, l1, l2, l3]), transpose4(s, [h0, h1, h2, h3]));
    [
        s.combine_f32x4(lo[0], hi[0]),
        s.combine_f32x4(lo[1], hi[1]),
        s.combine_f32x4(lo[2], hi[2]),
        s.combine_f32x4(lo[3], hi[3]),
    ]
}

/// Eight blocks as stored in memory.
#[inline(always)]
fn side_by_side<S: Simd>(s: S, from: [&Block; LANES]) -> [f32x4<S>; LANES] {
    let mut out = [f32x4::splat(s, 0.0); LANES];
    for k in 0..LANES {
        out[k] = f32x4::load_array_ref(s, from[k]);
    }
    out
}

/// Eight blocks of a list, by index.
#[inline(always)]
fn listed<'a>(from: &'a [Block], index: &[u32]) -> [&'a Block; LANES] {
    let index = &index[..LANES];
    let mut out = [&[0.0; 4]; LANES];
    for k in 0..LANES {
        out[k] = &from[index[k] as usize];
    }
    out
}

/// Eight blocks as lanes of their four numbers.
#[inline(always)]
fn join<S: Simd>(s: S, b: [f32x4<S>; 8]) -> [f32x8<S>; 4] {
    turn_twos(
        s,
        [
            s.combine_f32x4(b[0], b[4]),
            s.combine_f32x4(b[1], b[5]),
            s.combine_f32x4(b[2], b[6]),
            s.combine_f32x4(b[3], b[7]),
        ],
    )
}

/// The inverse of `join`.
#[inline(always)]
fn part<S: Simd>(rows: [f32x8<S>; 4]) -> [f32x4<S>; 8] {
    let s = rows[0].simd;
    let r = turn_twos(s, rows);
    let ((b0, b4), (b1, b5)) = (s.split_f32x8(r[0]), s.split_f32x8(r[1]));
    let ((b2, b6), (b3, b7)) = (s.split_f32x8(r[2]), s.split_f32x8(r[3]));
    [b0, b1, b2, b3, b4, b5, b6, b7]
}

/// Block `index + next` of each body. Panics when one is out of bounds: one comparison for all of them.
#[inline(always)]
fn known_blocks<S: Simd>(s: S, base: Blocks<'_>, index: &[u32; LANES], next: u32) -> [f32x4<S>; LANES] {
    let end = u32x8::splat(s, u32::try_from(base.blocks).unwrap_or(u32::MAX).saturating_sub(next));
    if !u32x8::load_array_ref(s, index).simd_lt(end).all_true() {
        super::outside(index.iter().max().map_or(0, |&i| i as usize), base.blocks);
    }
    let mut out = [f32x4::splat(s, 0.0); LANES];
    for k in 0..LANES {
        // SAFETY: index + next is below the number of blocks by the check above.
        out[k] = f32x4::load_array_ref(s, &unsafe { base.read_known(index[k] + next) });
    }
    out
}

#[inline(always)]
fn block<S: Simd>(s: S, base: Blocks<'_>, index: u32) -> f32x4<S> {
    f32x4::load_array_ref(s, &base.read::<4>(index))
}

#[inline(always)]
fn put<S: Simd>(v: f32x4<S>, base: Blocks<'_>, index: u32) {
    let mut numbers = [0.0; 4];
    v.store_array(&mut numbers);
    base.write(index, numbers);
}

/// Panics when one of the eight blocks is out of bounds: one comparison for all of them.
#[inline(always)]
fn check_all<S: Simd>(s: S, base: Blocks<'_>, index: &[u32; LANES]) {
    let end = u32x8::splat(s, u32::try_from(base.blocks).unwrap_or(u32::MAX));
    let known = u32x8::load_array_ref(s, index).simd_lt(end);
    assert!(known.all_true(), "a block of {index:?} is not among {}", base.blocks);
}

/// Products u (b − a) of one pair, number by number.
///
/// # Safety
/// Both indices are below the number of blocks.
#[inline(always)]
unsafe fn products<S: Simd>(s: S, base: Blocks<'_>, a: u32, b: u32, axis: &Block) -> f32x4<S> {
    // SAFETY: in bounds by the caller.
    let (a, b) = unsafe { (base.read_known(a), base.read_known(b)) };
    f32x4::load_array_ref(s, axis) * (f32x4::load_array_ref(s, &b) - f32x4::load_array_ref(s, &a))
}

/// Sums x + y + z of four rows, one per lane.
#[inline(always)]
fn sum_rows<S: Simd>(s: S, r: [f32x4<S>; 4]) -> f32x4<S> {
    let (a0, a1) = s.interleave_f32x4(r[0], r[2]);
    let (a2, a3) = s.interleave_f32x4(r[1], r[3]);
    let (x, y) = s.interleave_f32x4(a0, a2);
    x + y + s.zip_low_f32x4(a1, a3)
}

/// One pair of [`Lane::pair_push`].
///
/// # Safety
/// Both indices are below the number of blocks.
#[inline(always)]
unsafe fn push_pair<S: Simd>(s: S, base: Blocks<'_>, (a, b): (u32, u32), axis: &Block, change: Real, answers: u32) {
    let u = f32x4::load_array_ref(s, axis);
    if answers & 1 != 0 {
        // SAFETY: in bounds by the caller.
        let block = unsafe { base.read_known(a) };
        let push = f32x4::splat(s, change * block[3]);
        let mut out = [0.0; 4];
        (f32x4::load_array_ref(s, &block) - u * push).store_array(&mut out);
        // SAFETY: in bounds by the caller.
        unsafe { base.write_known(a, out) };
    }
    if answers & 2 != 0 {
        // SAFETY: in bounds by the caller.
        let block = unsafe { base.read_known(b) };
        let push = f32x4::splat(s, change * block[3]);
        let mut out = [0.0; 4];
        (f32x4::load_array_ref(s, &block) + u * push).store_array(&mut out);
        // SAFETY: in bounds by the caller.
        unsafe { base.write_known(b, out) };
    }
}

/// Blocks a and b of eight pairs, two pairs (k and k + 4) per vector, and b − a with a fourth number of 0.
#[derive(Clone, Copy)]
pub struct Spans<S: Simd> {
    a: [f32x8<S>; 4],
    b: [f32x8<S>; 4],
    d: [f32x8<S>; 4],
}

/// Two blocks in one vector.
#[inline(always)]
fn two<S: Simd>(s: S, pairs: PickedPairs<'_>, low: u32, high: u32) -> f32x8<S> {
    let (low, high) = (pairs.read(low), pairs.read(high));
    s.combine_f32x4(f32x4::load_array_ref(s, &low), f32x4::load_array_ref(s, &high))
}

/// Writes two blocks of one vector.
#[inline(always)]
fn put_two<S: Simd>(v: f32x8<S>, pairs: PickedPairs<'_>, low: u32, high: u32) {
    let (l, h) = v.simd.split_f32x8(v);
    pairs.write(low, <[f32; 4]>::from(l));
    pairs.write(high, <[f32; 4]>::from(h));
}

/// Number k of each half, broadcast to its four lanes.
#[inline(always)]
fn spread<S: Simd, const K: usize>(s: S, v: f32x8<S>) -> f32x8<S> {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = s.level().as_avx2() {
        let v = cast(avx2, v);
        let out = match K {
            0 => spread0(avx2, v),
            1 => spread1(avx2, v),
            2 => spread2(avx2, v),
            _ => spread3(avx2, v),
        };
        return cast(s, out);
    }
    let n = <[f32; 8]>::from(v);
    s.combine_f32x4(f32x4::splat(s, n[K]), f32x4::splat(s, n[K + 4]))
}

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{_mm256_blend_ps, _mm256_permute_ps, _mm256_setzero_ps};
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn spread0(token: Avx2, v: Eight) -> Eight {
        _mm256_permute_ps::<0x00>(v.into()).simd_into(token)
    }
);
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn spread1(token: Avx2, v: Eight) -> Eight {
        _mm256_permute_ps::<0x55>(v.into()).simd_into(token)
    }
);
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn spread2(token: Avx2, v: Eight) -> Eight {
        _mm256_permute_ps::<0xaa>(v.into()).simd_into(token)
    }
);
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn spread3(token: Avx2, v: Eight) -> Eight {
        _mm256_permute_ps::<0xff>(v.into()).simd_into(token)
    }
);
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn clear_fourth_avx2(token: Avx2, v: Eight) -> Eight {
        _mm256_blend_ps::<0x88>(v.into(), _mm256_setzero_ps()).simd_into(token)
    }
);

/// The fourth number of each half set to 0.
#[inline(always)]
fn clear_fourth<S: Simd>(s: S, v: f32x8<S>) -> f32x8<S> {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = s.level().as_avx2() {
        return cast(s, clear_fourth_avx2(avx2, cast(avx2, v)));
    }
    let mut n = <[f32; 8]>::from(v);
    (n[3], n[7]) = (0.0, 0.0);
    f32x8::load_array_ref(s, &n)
}

/// Pair k and k + 4 of [`Lane::pair_pull`].
#[inline(always)]
fn pull_two<S: Simd, const K: usize>(share: f32x8<S>, pairs: PickedPairs<'_>, group: usize, spans: &Spans<S>) {
    let (s, g) = (share.simd, &pairs.groups[group]);
    let share = spread::<S, K>(s, share);
    let (a, b, d) = (spans.a[K], spans.b[K], spans.d[K]);
    put_two(a + d * (share * spread::<S, 3>(s, a)), pairs, g.a[K], g.a[K + 4]);
    put_two(b - d * (share * spread::<S, 3>(s, b)), pairs, g.b[K], g.b[K + 4]);
}

/// The first eight of a list.
#[inline(always)]
fn eight<T>(list: &[T]) -> &[T; LANES] {
    list.first_chunk().expect("eight lanes")
}

impl<S: Simd> Number for f32x8<S> {
    const COUNT: usize = 8;
    type Token = S;
    #[inline(always)]
    fn splat(s: S, value: Real) -> Self {
        <f32x8<S> as SimdBase<S>>::splat(s, value)
    }
    #[inline(always)]
    fn load(s: S, from: &[Real]) -> Self {
        f32x8::load_array_ref(s, head(from))
    }
    #[inline(always)]
    fn store(self, to: &mut [Real]) {
        self.store_array(head_mut(to));
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
    fn load_rows8(s: S, base: Blocks<'_>, i: &[u32]) -> [Self; 8] {
        let high = join(s, known_blocks(s, base, eight(i), 1));
        let low = join(s, known_blocks(s, base, eight(i), 0));
        [low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]]
    }
    #[inline(always)]
    fn store_rows8(rows: [Self; 8], base: Blocks<'_>, i: &[u32]) {
        let i = eight(i);
        let low = part([rows[0], rows[1], rows[2], rows[3]]);
        let high = part([rows[4], rows[5], rows[6], rows[7]]);
        for k in 0..8 {
            if i[k] != u32::MAX {
                put(low[k], base, i[k]);
                put(high[k], base, i[k] + 1);
            }
        }
    }
}

impl<S: Simd> Lane for f32x8<S> {
    type Spans = Spans<S>;
    type Parts<T: Copy> = [T; 1];
    #[inline(always)]
    fn parts<T: Copy>(value: T) -> [T; 1] {
        [value]
    }
    #[inline(always)]
    fn all_gt(self, other: Self) -> bool {
        self.simd_gt(other).all_true()
    }
    #[inline(always)]
    fn any_gt(self, other: Self) -> bool {
        self.simd_gt(other).any_true()
    }
    #[inline(always)]
    fn bits_gt(self, other: Self) -> u32 {
        self.simd_gt(other).to_bitmask() as u32
    }
    #[inline(always)]
    fn gather4(s: S, from: &[Block], i: &[u32]) -> [Self; 4] {
        join(s, side_by_side(s, listed(from, i)))
    }
    #[inline(always)]
    fn gather_xyz(s: S, from: &[Block], i: &[u32]) -> [Self; 3] {
        turn_xyz(s, side_by_side(s, listed(from, i)))
    }
    #[inline(always)]
    fn pick(s: S, from: Picked<'_>, row: usize, _: usize) -> [Self; 4] {
        join(s, side_by_side(s, from.row(row)))
    }
    #[inline(always)]
    fn pick_xyz(s: S, from: Picked<'_>, row: usize, _: usize) -> [Self; 3] {
        turn_xyz(s, side_by_side(s, from.row(row)))
    }
    #[inline(always)]
    fn store_blocks(rows: [Self; 4], to: &mut [Block]) {
        let (b, to) = (part(rows), &mut to[..8]);
        for k in 0..8 {
            b[k].store_array(&mut to[k]);
        }
    }
    #[inline(always)]
    fn load_rows4(s: S, base: Blocks<'_>, i: &[u32]) -> [Self; 4] {
        join(s, known_blocks(s, base, eight(i), 0))
    }
    #[inline(always)]
    fn gather(s: S, from: &[Real], i: &[u32]) -> Self {
        let i = &i[..8];
        let mut n = [0.0; 8];
        for k in 0..8 {
            n[k] = from[i[k] as usize];
        }
        f32x8::load_array_ref(s, &n)
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
    #[inline(always)]
    fn pair_drift(s: S, base: Blocks<'_>, pairs: &Pairs<'_>) -> Self {
        let (a, b, u) = (eight(pairs.a), eight(pairs.b), eight(pairs.axis));
        check_all(s, base, a);
        check_all(s, base, b);
        let none = f32x4::splat(s, 0.0);
        let mut parts = [none; LANES];
        for k in 0..LANES {
            // SAFETY: all indices are checked above.
            parts[k] = unsafe { products(s, base, a[k], b[k], &u[k]) };
        }
        let low = sum_rows(s, [parts[0], parts[1], parts[2], parts[3]]);
        let high = sum_rows(s, [parts[4], parts[5], parts[6], parts[7]]);
        s.combine_f32x4(low, high)
    }
    #[inline(always)]
    fn pair_push(self, base: Blocks<'_>, pairs: &Pairs<'_>) {
        let s = self.simd;
        let (a, b, u) = (eight(pairs.a), eight(pairs.b), eight(pairs.axis));
        check_all(s, base, a);
        check_all(s, base, b);
        let mut change = [0.0; LANES];
        self.store_array(&mut change);
        for k in 0..LANES {
            // SAFETY: all indices are checked above.
            unsafe { push_pair(s, base, (a[k], b[k]), &u[k], change[k], pairs.answers >> (2 * k)) };
        }
    }
    #[inline(always)]
    fn pair_span(s: S, pairs: PickedPairs<'_>, group: usize, _: usize) -> (Spans<S>, [Self; 3]) {
        let g = &pairs.groups[group];
        let none = <f32x8<S> as SimdBase<S>>::splat(s, 0.0);
        let mut spans = Spans { a: [none; 4], b: [none; 4], d: [none; 4] };
        for k in 0..4 {
            spans.a[k] = two(s, pairs, g.a[k], g.a[k + 4]);
            spans.b[k] = two(s, pairs, g.b[k], g.b[k + 4]);
            spans.d[k] = clear_fourth(s, spans.b[k] - spans.a[k]);
        }
        let [x, y, z, _] = turn_twos(s, spans.d);
        (spans, [x, y, z])
    }
    #[inline(always)]
    fn pair_pull(self, pairs: PickedPairs<'_>, group: usize, _: usize, spans: Spans<S>) {
        pull_two::<S, 0>(self, pairs, group, &spans);
        pull_two::<S, 1>(self, pairs, group, &spans);
        pull_two::<S, 2>(self, pairs, group, &spans);
        pull_two::<S, 3>(self, pairs, group, &spans);
    }
    #[inline(always)]
    fn load_blocks(s: S, from: &[Block]) -> [Self; 4] {
        let from = &from[..LANES];
        let none = f32x4::splat(s, 0.0);
        let mut b = [none; LANES];
        for k in 0..LANES {
            b[k] = f32x4::load_array_ref(s, &from[k]);
        }
        join(s, b)
    }
}
