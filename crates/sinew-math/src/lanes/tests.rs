use super::*;
use fearless_simd::{Level, dispatch, f32x8, f32x16};

#[inline(always)]
fn round_trip<S: fearless_simd::Simd>(s: S, base: Blocks<'_>, index: &[u32]) -> [[Real; 8]; 8] {
    let lanes = <f32x8<S> as Number>::load_rows8(s, base, index);
    let mut out = [[0.0; 8]; 8];
    for k in 0..8 {
        lanes[k].store(&mut out[k]);
    }
    <f32x8<S> as Number>::store_rows8(lanes, base, index);
    let four = <f32x8<S> as Lane>::load_rows4(s, base, index);
    let mut first = [0.0; 8];
    four[1].store(&mut first);
    assert_eq!(first, out[1]);
    <f32x8<S> as Lane>::store_rows4(four, base, index);
    let mut side = [[0.0; 4]; 8];
    <f32x8<S> as Lane>::store_blocks(four, &mut side);
    let order = [0, 1, 2, 3, 4, 5, 6, 7];
    <f32x8<S> as Lane>::gather4(s, &side, &order)[1].store(&mut first);
    assert_eq!(first, out[1]);
    <f32x8<S> as Lane>::add_rows4(four, base, &[u32::MAX; 8]);
    let none = <f32x8<S> as Number>::splat(s, 0.0);
    <f32x8<S> as Lane>::add_rows4([none, none, four[0], none], base, index);
    <f32x8<S> as Lane>::add_rows4([none, none, -four[0], none], base, index);
    let mut picks = Picks::default();
    picks.push([7; 8]);
    picks.push(order);
    let four = <f32x8<S> as Lane>::pick(s, picks.over(&side), 1, 0);
    let picked = <f32x8<S> as Lane>::pick_xyz(s, picks.over(&side), 1, 0);
    let three = <f32x8<S> as Lane>::gather_xyz(s, &side, &order);
    for k in 0..3 {
        for lanes in [four[k], picked[k], three[k]] {
            lanes.store(&mut first);
            assert_eq!(first, out[k]);
        }
    }
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
fn picks_outside_the_blocks_panic() {
    let mut picks = Picks::default();
    picks.push([0, 1, 2, 9, 3, 4, 5, 6]);
    picks.over(&[[0.0; 4]; 9]);
}

/// Loads sixteen rows, adds 1 to every number and stores those with a valid index.
#[inline(always)]
fn add_one<S: fearless_simd::Simd>(s: S, base: Blocks<'_>, load: &[u32], store: &[u32]) -> [[Real; 16]; 8] {
    let mut lanes = <f32x16<S> as Number>::load_rows8(s, base, load);
    let mut out = [[0.0; 16]; 8];
    for k in 0..8 {
        lanes[k].store(&mut out[k]);
        lanes[k] += <f32x16<S> as Number>::splat(s, 1.0);
    }
    <f32x16<S> as Number>::store_rows8(lanes, base, store);
    out
}

#[test]
fn sixteen_rows_are_loaded_from_and_stored_to_their_own_blocks() {
    let before: Vec<Block> = (0..40).map(|i| core::array::from_fn(|k| (i * 4 + k) as Real)).collect();
    // unordered, and some that are only read
    let load: [u32; 16] = core::array::from_fn(|lane| 2 * (lane as u32 * 7 % 19));
    let store: [u32; 16] = core::array::from_fn(|lane| if lane % 5 == 2 { u32::MAX } else { load[lane] });
    for level in [Level::new(), Level::baseline()] {
        let mut base = before.clone();
        let got = dispatch!(level, s => add_one(s, Blocks::new(&mut base), &load, &store));
        let mut want = before.clone();
        for lane in 0..16 {
            for k in 0..8 {
                assert_eq!(got[k][lane], (load[lane] * 4) as Real + k as Real);
                if store[lane] != u32::MAX {
                    want[load[lane] as usize + k / 4][k % 4] += 1.0;
                }
            }
        }
        assert_eq!(base, want);
    }
}

#[test]
#[should_panic(expected = "of 20")]
fn sixteen_rows_outside_the_blocks_are_not_read() {
    let mut base = vec![[0.0; 4]; 20];
    let mut load = [0; 16];
    load[9] = 19;
    dispatch!(Level::new(), s => add_one(s, Blocks::new(&mut base), &load, &[u32::MAX; 16]));
}

#[test]
#[should_panic(expected = "of 20")]
fn sixteen_rows_outside_the_blocks_are_not_written() {
    let mut base = vec![[0.0; 4]; 20];
    let mut store = [u32::MAX; 16];
    store[3] = 19;
    dispatch!(Level::new(), s => add_one(s, Blocks::new(&mut base), &[0; 16], &store));
}
