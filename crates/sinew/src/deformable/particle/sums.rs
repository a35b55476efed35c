//! Rigid part of a field of velocities on a whole body, in lanes: what `parts.rs` does for many parts, in one pass.
//!
//! With arms r from any origin, the sums M, Σ m r, Σ m r rᵀ, Σ m u and Σ m r × u give centre c, inertia about it,
//! momentum and spin (parallel axes), and so the rigid motion a + ω × (r − c) with the momentum and spin of u.

use super::parts::spin_of;
use crate::math::{Block, Kernel, LANES, Lane, Mat3, Real, Sym3, Vec3, run_wide};

/// Sums over all nodes; a running sum of each in every lane, so that lanes and scalar add in the same order.
const COUNT: usize = 16;

/// velocity + spin × r.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rigid {
    pub velocity: Vec3,
    pub spin: Vec3,
}

/// The rigid motion in `field` [m/s]; `arms` are places from any origin with masses in the fourth number. Both have a
/// multiple of eight entries, the last of them 0.
pub(super) fn rigid_part(arms: &[Block], field: &[Block], lanes: bool) -> Rigid {
    let add = Add { arms, field };
    let sums = if lanes { run_wide(add) } else { add.run::<Real>(()) };
    let [mass, mx, my, mz, xx, yy, zz, xy, xz, yz, px, py, pz, lx, ly, lz] = sums;
    if !(mass > 0.0) {
        return Rigid { velocity: Vec3::ZERO, spin: Vec3::ZERO };
    }
    let centre = Vec3::new(mx, my, mz) / mass;
    let momentum = Vec3::new(px, py, pz);
    // about the centre: second moments less those of the whole mass there
    let second = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
        - crate::deformable::outer(centre, centre) * mass;
    let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
    let inertia = Sym3::from_mat(&(Mat3::from_diagonal(Vec3::splat(trace)) - second));
    let spin = spin_of(inertia, Vec3::new(lx, ly, lz) - centre.cross(momentum));
    Rigid { velocity: momentum / mass - spin.cross(centre), spin }
}

struct Add<'a> {
    arms: &'a [Block],
    field: &'a [Block],
}

impl Kernel for Add<'_> {
    type Output = [Real; COUNT];

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> [Real; COUNT] {
        let mut sums = [[L::splat(t, 0.0); COUNT]; LANES];
        for (arms, field) in self.arms.chunks_exact(LANES).zip(self.field.chunks_exact(LANES)) {
            let mut at = 0;
            while at < LANES {
                one::<L>(t, &arms[at..], &field[at..], &mut sums[at]);
                at += L::COUNT;
            }
        }
        let mut out = [0.0; COUNT];
        for k in 0..COUNT {
            let mut lane = 0;
            while lane < LANES {
                // lane by lane from the first on, as one sum
                let mut numbers = [0.0; LANES];
                sums[lane][k].store(&mut numbers);
                for number in &numbers[..L::COUNT] {
                    out[k] += number;
                }
                lane += L::COUNT;
            }
        }
        out
    }
}

#[inline(always)]
fn one<L: Lane>(t: L::Token, arms: &[Block], field: &[Block], sums: &mut [L; COUNT]) {
    let [x, y, z, m] = L::load_blocks(t, arms);
    let [u, v, w, _] = L::load_blocks(t, field);
    let (mx, my, mz) = (m * x, m * y, m * z);
    let (pu, pv, pw) = (m * u, m * v, m * w);
    sums[0] = sums[0] + m;
    sums[1] = sums[1] + mx;
    sums[2] = sums[2] + my;
    sums[3] = sums[3] + mz;
    sums[4] = sums[4] + mx * x;
    sums[5] = sums[5] + my * y;
    sums[6] = sums[6] + mz * z;
    sums[7] = sums[7] + mx * y;
    sums[8] = sums[8] + mx * z;
    sums[9] = sums[9] + my * z;
    sums[10] = sums[10] + pu;
    sums[11] = sums[11] + pv;
    sums[12] = sums[12] + pw;
    sums[13] = sums[13] + (y * pw - z * pv);
    sums[14] = sums[14] + (z * pu - x * pw);
    sums[15] = sums[15] + (x * pv - y * pu);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rigid_part_of_a_rigid_motion_is_that_motion_in_lanes_as_in_single_numbers() {
        let (velocity, spin) = (Vec3::new(0.3, -1.0, 2.0), Vec3::new(1.0, 0.5, -2.0));
        let mut arms = vec![[0.0; 4]; 40];
        let mut field = arms.clone();
        for k in 0..37 {
            let r = Vec3::new((k % 5) as Real, (k % 7) as Real * 0.3, (k % 3) as Real) * 0.1;
            let u = velocity + spin.cross(r);
            arms[k] = [r.x, r.y, r.z, 0.01 * (1 + k % 4) as Real];
            field[k] = [u.x, u.y, u.z, 0.0];
        }
        let wide = rigid_part(&arms, &field, true);
        let slow = rigid_part(&arms, &field, false);
        assert_eq!((wide.velocity, wide.spin), (slow.velocity, slow.spin));
        let slip = 1000.0 * Real::EPSILON;
        assert!((wide.velocity - velocity).length() < slip && (wide.spin - spin).length() < slip, "{wide:?}");
    }
}
