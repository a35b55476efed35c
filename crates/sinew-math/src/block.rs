//! Vectors and rotations in blocks of four numbers, the layout of the solver.

use super::{Quat, Real, Vec3};

/// One velocity block of the solver: x, y, z and a fourth number (inverse mass of a node), 16 bytes in f32.
pub type Block = [Real; 4];

/// The first three numbers of a block.
#[inline(always)]
pub fn vec(b: Block) -> Vec3 {
    Vec3::new(b[0], b[1], b[2])
}

/// A block as a rotation.
#[inline(always)]
pub fn quat(b: Block) -> Quat {
    Quat::from_xyzw(b[0], b[1], b[2], b[3])
}

/// Writes the first three numbers of a block.
#[inline(always)]
pub fn put(b: &mut Block, v: Vec3) {
    (b[0], b[1], b[2]) = (v.x, v.y, v.z);
}

/// Adds to the first three numbers of a block.
#[inline(always)]
pub fn add(b: &mut Block, v: Vec3) {
    (b[0], b[1], b[2]) = (b[0] + v.x, b[1] + v.y, b[2] + v.z);
}

/// Memory of a list for this number of entries in total.
pub fn hold<T>(list: &mut Vec<T>, count: usize) {
    list.reserve(count.saturating_sub(list.len()));
}

/// Centre of mass and orientation of the rigid body in a slot, which has two blocks of a list of poses.
#[inline(always)]
pub fn rigid_pose(pose: &[Block], slot: u32) -> (Vec3, Quat) {
    let first = 2 * slot as usize;
    (vec(pose[first]), quat(pose[first + 1]))
}
