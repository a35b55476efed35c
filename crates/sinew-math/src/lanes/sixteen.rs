//! Sixteen numbers at a time, for the contact kernel: it is limited by the latency of dependent operations, one point
//! after the other, and the latency is the same for sixteen as for eight.

use super::{Blocks, Number, Real, head, head_mut};
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8, f32x16, prelude::*, u32x16};

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{
    _mm512_castpd_ps, _mm512_castps_pd, _mm512_permutex2var_pd, _mm512_setr_epi64, _mm512_shuffle_f32x4,
    _mm512_unpackhi_ps, _mm512_unpacklo_ps,
};
#[cfg(target_arch = "x86_64")]
type Broad = f32x16<fearless_simd::x86::Avx512>;

// A 4x4 transpose in each quarter.
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn turn_quarters(token: Avx512, r0: Broad, r1: Broad, r2: Broad, r3: Broad) -> [Broad; 4] {
        let (a, b) = (_mm512_unpacklo_ps(r0.into(), r2.into()), _mm512_unpackhi_ps(r0.into(), r2.into()));
        let (c, d) = (_mm512_unpacklo_ps(r1.into(), r3.into()), _mm512_unpackhi_ps(r1.into(), r3.into()));
        let (x, y, z, w) =
            (_mm512_unpacklo_ps(a, c), _mm512_unpackhi_ps(a, c), _mm512_unpacklo_ps(b, d), _mm512_unpackhi_ps(b, d));
        [x.simd_into(token), y.simd_into(token), z.simd_into(token), w.simd_into(token)]
    }
);
// Quarters 0 and 2 of both vectors, and quarters 1 and 3.
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn part_quarters(token: Avx512, a: Broad, b: Broad) -> [Broad; 2] {
        let even = _mm512_shuffle_f32x4::<0x88>(a.into(), b.into());
        let odd = _mm512_shuffle_f32x4::<0xdd>(a.into(), b.into());
        [even.simd_into(token), odd.simd_into(token)]
    }
);
// Quarters 0 and 1 of both vectors, interleaved, and quarters 2 and 3.
#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn zip_quarters(token: Avx512, a: Broad, b: Broad) -> [Broad; 2] {
        let (a, b) = (_mm512_castps_pd(a.into()), _mm512_castps_pd(b.into()));
        let low = _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
        let high = _mm512_permutex2var_pd(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
        [_mm512_castpd_ps(low).simd_into(token), _mm512_castpd_ps(high).simd_into(token)]
    }
);

/// The same vector under another token.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn cast<A: Simd, B: Simd>(to: B, v: f32x16<A>) -> f32x16<B> {
    f32x16::load_array_ref(to, &<[f32; 16]>::from(v))
}

/// Transposes rows of eight into lanes, from vectors of two rows each: k beside k + 4, then k + 8 beside k + 12. None
/// where the CPU has no such vectors.
#[inline(always)]
fn rows_to_lanes<S: Simd>(s: S, r: &[f32x16<S>; 8]) -> Option<[f32x16<S>; 8]> {
    #[cfg(target_arch = "x86_64")]
    if let Some(t) = s.level().as_avx512() {
        let mut out = *r;
        let a = turn_quarters(t, cast(t, r[0]), cast(t, r[1]), cast(t, r[2]), cast(t, r[3]));
        let b = turn_quarters(t, cast(t, r[4]), cast(t, r[5]), cast(t, r[6]), cast(t, r[7]));
        for k in 0..4 {
            let [low, high] = part_quarters(t, a[k], b[k]);
            (out[k], out[k + 4]) = (cast(s, low), cast(s, high));
        }
        return Some(out);
    }
    let _ = (s, r);
    None
}

/// Transposes lanes into rows of eight: out[k] contains rows k and k + 4, out[k + 4] rows k + 8 and k + 12.
#[inline(always)]
fn lanes_to_rows<S: Simd>(s: S, n: &[f32x16<S>; 8]) -> Option<[f32x16<S>; 8]> {
    #[cfg(target_arch = "x86_64")]
    if let Some(t) = s.level().as_avx512() {
        let mut out = *n;
        let low = turn_quarters(t, cast(t, n[0]), cast(t, n[1]), cast(t, n[2]), cast(t, n[3]));
        let high = turn_quarters(t, cast(t, n[4]), cast(t, n[5]), cast(t, n[6]), cast(t, n[7]));
        for k in 0..4 {
            let [first, last] = zip_quarters(t, low[k], high[k]);
            (out[k], out[k + 4]) = (cast(s, first), cast(s, last));
        }
        return Some(out);
    }
    let _ = (s, n);
    None
}

/// Vector and half in which the two functions above store the row of a lane.
#[inline(always)]
fn place(lane: usize) -> (usize, usize) {
    (lane % 4 + lane / 8 * 4, lane / 4 % 2)
}

impl<S: Simd> Number for f32x16<S> {
    const COUNT: usize = 16;
    type Token = S;
    #[inline(always)]
    fn splat(s: S, value: Real) -> Self {
        <f32x16<S> as SimdBase<S>>::splat(s, value)
    }
    #[inline(always)]
    fn load(s: S, from: &[Real]) -> Self {
        f32x16::load_array_ref(s, head(from))
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
        let i: &[u32; 16] = i.first_chunk().expect("sixteen lanes");
        let blocks = u32::try_from(base.blocks).unwrap_or(u32::MAX);
        if !u32x16::load_array_ref(s, i).simd_lt(u32x16::splat(s, blocks.saturating_sub(1))).all_true() {
            super::outside(i.iter().max().map_or(0, |&i| i as usize), base.blocks);
        }
        let mut halves = [[<f32x8<S> as SimdBase<S>>::splat(s, 0.0); 2]; 8];
        for lane in 0..16 {
            let (k, half) = place(lane);
            // SAFETY: both blocks are in bounds by the check above.
            halves[k][half] = f32x8::load_array_ref(s, &unsafe { base.read_row(i[lane]) });
        }
        let mut rows = [<f32x16<S> as SimdBase<S>>::splat(s, 0.0); 8];
        for k in 0..8 {
            rows[k] = s.combine_f32x8(halves[k][0], halves[k][1]);
        }
        if let Some(lanes) = rows_to_lanes(s, &rows) {
            return lanes;
        }
        let low = <f32x8<S> as Number>::load_rows8(s, base, &i[..8]);
        let high = <f32x8<S> as Number>::load_rows8(s, base, &i[8..]);
        for k in 0..8 {
            rows[k] = s.combine_f32x8(low[k], high[k]);
        }
        rows
    }
    #[inline(always)]
    fn store_rows8(lanes: [Self; 8], base: Blocks<'_>, i: &[u32]) {
        let i: &[u32; 16] = i.first_chunk().expect("sixteen lanes");
        let s = lanes[0].simd;
        if let Some(rows) = lanes_to_rows(s, &lanes) {
            let blocks = u32::try_from(base.blocks).unwrap_or(u32::MAX);
            // u32::MAX + 1 wraps to 0 and passes the check: such a row is not written
            if !(u32x16::load_array_ref(s, i) + u32x16::splat(s, 1)).simd_lt(u32x16::splat(s, blocks)).all_true() {
                super::outside(blocks as usize, base.blocks);
            }
            for lane in 0..16 {
                let (k, half) = place(lane);
                let (low, high) = s.split_f32x16(rows[k]);
                if i[lane] != u32::MAX {
                    let row = if half == 0 { low } else { high };
                    // SAFETY: both blocks are in bounds by the check above.
                    unsafe { base.write_row(i[lane], <[f32; 8]>::from(row)) };
                }
            }
            return;
        }
        let none = <f32x8<S> as SimdBase<S>>::splat(s, 0.0);
        let (mut low, mut high) = ([none; 8], [none; 8]);
        for k in 0..8 {
            (low[k], high[k]) = s.split_f32x16(lanes[k]);
        }
        <f32x8<S> as Number>::store_rows8(low, base, &i[..8]);
        <f32x8<S> as Number>::store_rows8(high, base, &i[8..]);
    }
}
