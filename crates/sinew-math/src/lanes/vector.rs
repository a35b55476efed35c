//! Vectors of lanes: three numbers of eight rows each, or of one.

use super::{BROAD, LANES, Number};
use crate::{Real, Vec3};

/// One number of eight rows.
pub type Eight = [Real; LANES];
/// Three numbers of eight rows.
pub type Eight3 = [Eight; 3];
/// One number of sixteen rows.
pub type Sixteen = [Real; BROAD];
/// Three numbers of sixteen rows.
pub type Sixteen3 = [Sixteen; 3];
/// Three lanes.
pub type V3<L> = [L; 3];

/// a·b.
#[inline(always)]
pub fn dot<L: Number>(a: V3<L>, b: V3<L>) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
#[inline(always)]
pub fn cross<L: Number>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a + b.
#[inline(always)]
pub fn add<L: Number>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// a − b.
#[inline(always)]
pub fn sub<L: Number>(a: V3<L>, b: V3<L>) -> V3<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a s.
#[inline(always)]
pub fn scale<L: Number>(a: V3<L>, s: L) -> V3<L> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// a + b s.
#[inline(always)]
pub fn along<L: Number>(a: V3<L>, b: V3<L>, s: L) -> V3<L> {
    [a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s]
}

/// √q and 1/√q = √q (1/q) of numbers above 0. A division by the root would depend on its latency: kernels with few
/// other operations take a fifth longer.
#[inline(always)]
pub fn root_and_inverse<L: Number>(t: L::Token, q: L) -> (L, L) {
    let root = q.sqrt();
    (root, root * L::splat(t, 1.0).div(q))
}

/// The same vector in every lane.
#[inline(always)]
pub fn splat3<L: Number>(t: L::Token, v: Vec3) -> V3<L> {
    [L::splat(t, v.x), L::splat(t, v.y), L::splat(t, v.z)]
}

/// Vectors from lane `at` on.
#[inline(always)]
pub fn load3<L: Number>(t: L::Token, a: &[impl AsRef<[Real]>; 3], at: usize) -> V3<L> {
    [L::load(t, &a[0].as_ref()[at..]), L::load(t, &a[1].as_ref()[at..]), L::load(t, &a[2].as_ref()[at..])]
}

/// Writes vectors from lane `at` on.
#[inline(always)]
pub fn store3<L: Number>(v: V3<L>, a: &mut [impl AsMut<[Real]>; 3], at: usize) {
    v[0].store(&mut a[0].as_mut()[at..]);
    v[1].store(&mut a[1].as_mut()[at..]);
    v[2].store(&mut a[2].as_mut()[at..]);
}
