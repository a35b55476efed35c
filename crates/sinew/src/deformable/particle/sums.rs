//! Passes over all nodes of a particle body, in lanes: places x* before the sweeps, and velocities from the goals after them.
//!
//! Places are flat lists of numbers here: what is done to x, y and z is done to the fourth number too, with a factor that
//! makes the inverse mass of it.
//!
//! The change of velocity is freed of its rigid part: what `parts.rs` does for many parts. With arms r from any origin, the
//! sums M, Σ m r, Σ m r rᵀ, Σ m u and Σ m r × u give centre c, inertia about it, momentum and spin (parallel axes), and so
//! the rigid motion a + ω × (r − c) with the momentum and spin of u.

use super::parts::spin_of;
use crate::math::{Block, Kernel, LANES, Lane, Mat3, Real, Sym3, Vec3, run};

/// How many sums; each is kept in every lane, so that lanes and scalar add in the same order.
const COUNT: usize = 16;

/// velocity + spin × r.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rigid {
    pub velocity: Vec3,
    pub spin: Vec3,
}

/// What the passes share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub origin: Vec3,
    /// [s]
    pub h: Real,
    pub lanes: bool,
}

impl Frame {
    /// places = x − origin + h v, with the inverse masses of v.
    pub fn place(self, x: &[Block], v: &[Block], places: &mut [Block]) {
        run(Star { frame: self, x, v, places, job: StarJob::Place }, self.lanes);
    }

    /// shift = (places − (x − origin + h v))/h: x* again by the same sum gives the same bits.
    pub fn shift(self, x: &[Block], v: &[Block], places: &[Block], shift: &mut [Block]) {
        run(Star { frame: self, x, v, places: shift, job: StarJob::Shift(places) }, self.lanes);
    }

    /// The rigid motion in `field` [m/s] of nodes at x with these masses [kg], arms from the origin.
    pub fn rigid_part(self, x: &[Block], masses: &[Real], field: &[Block]) -> Rigid {
        let sums = run(Add { origin: self.origin, x, masses, field }, self.lanes);
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

    /// v += shift − motion.
    pub fn take(self, x: &[Block], shift: &[Block], v: &mut [Block], motion: Rigid) {
        run(Take { origin: self.origin, x, shift, v, motion }, self.lanes);
    }
}

enum StarJob<'a> {
    Place,
    Shift(&'a [Block]),
}

/// x − origin + h v of all numbers, two blocks at a time.
struct Star<'a> {
    frame: Frame,
    x: &'a [Block],
    v: &'a [Block],
    places: &'a mut [Block],
    job: StarJob<'a>,
}

impl Kernel for Star<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let count = self.x.len();
        let Frame { origin: o, h, .. } = self.frame;
        let (x, v) = (&self.x[..count], &self.v[..count]);
        let (x, v, out) = (x.as_flattened(), v.as_flattened(), self.places[..count].as_flattened_mut());
        // the fourth number: 0 · spare − 0 + 1 · w
        let keep = [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0];
        let from = [o.x, o.y, o.z, 0.0, o.x, o.y, o.z, 0.0];
        let step = [h, h, h, 1.0, h, h, h, 1.0];
        let inv_h = 1.0 / h;
        let rate = [inv_h, inv_h, inv_h, 0.0, inv_h, inv_h, inv_h, 0.0];
        let whole = x.len() - x.len() % LANES;
        let mut at = 0;
        while at < whole {
            let k = at % LANES;
            let star = star::<L>(t, (&x[at..], &v[at..]), (&keep[k..], &from[k..], &step[k..]));
            match self.job {
                StarJob::Place => star.store(&mut out[at..]),
                StarJob::Shift(goals) => {
                    let way = L::load(t, &goals.as_flattened()[at..]) - star;
                    (way * L::load(t, &rate[k..])).store(&mut out[at..]);
                }
            }
            at += L::COUNT;
        }
        // an odd node
        for at in whole..x.len() {
            let k = at % LANES;
            let star = star::<Real>((), (&x[at..], &v[at..]), (&keep[k..], &from[k..], &step[k..]));
            out[at] = match self.job {
                StarJob::Place => star,
                StarJob::Shift(goals) => (goals.as_flattened()[at] - star) * rate[k],
            };
        }
    }
}

#[inline(always)]
fn star<L: Lane>(t: L::Token, (x, v): (&[Real], &[Real]), (keep, from, step): (&[Real], &[Real], &[Real])) -> L {
    L::load(t, x) * L::load(t, keep) - L::load(t, from) + L::load(t, v) * L::load(t, step)
}

struct Add<'a> {
    origin: Vec3,
    x: &'a [Block],
    masses: &'a [Real],
    field: &'a [Block],
}

impl Kernel for Add<'_> {
    type Output = [Real; COUNT];

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> [Real; COUNT] {
        let Self { origin: o, x, masses, field } = self;
        let (count, whole) = (x.len(), x.len() - x.len() % LANES);
        let (masses, field) = (&masses[..count], &field[..count]);
        let mut sums = [[L::splat(t, 0.0); COUNT]; LANES];
        let mut at = 0;
        while at < whole {
            let sums = &mut sums[at % LANES];
            one::<L>(t, o, (&x[at..], &masses[at..], &field[at..]), sums);
            at += L::COUNT;
        }
        // lane by lane from the first on, as one sum, and what is left over at its end
        let mut out = [0.0; COUNT];
        for k in 0..COUNT {
            let mut lane = 0;
            while lane < LANES {
                let mut numbers = [0.0; LANES];
                sums[lane][k].store(&mut numbers);
                for number in &numbers[..L::COUNT] {
                    out[k] += number;
                }
                lane += L::COUNT;
            }
        }
        for at in whole..count {
            one::<Real>((), o, (&x[at..], &masses[at..], &field[at..]), &mut out);
        }
        out
    }
}

#[inline(always)]
fn one<L: Lane>(t: L::Token, o: Vec3, (x, m, u): (&[Block], &[Real], &[Block]), sums: &mut [L; COUNT]) {
    let [x, y, z, _] = L::load_blocks(t, x);
    let (x, y, z) = (x - L::splat(t, o.x), y - L::splat(t, o.y), z - L::splat(t, o.z));
    let [u, v, w, _] = L::load_blocks(t, u);
    let m = L::load(t, m);
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

struct Take<'a> {
    origin: Vec3,
    x: &'a [Block],
    shift: &'a [Block],
    v: &'a mut [Block],
    motion: Rigid,
}

impl Kernel for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let Self { origin, x, shift, v, motion } = self;
        let (count, whole) = (v.len(), v.len() - v.len() % LANES);
        let (x, shift) = (&x[..count], &shift[..count]);
        let mut at = 0;
        while at < whole {
            less::<L>(t, (&x[at..], &shift[at..]), &mut v[at..], (origin, motion));
            at += L::COUNT;
        }
        for at in whole..count {
            less::<Real>((), (&x[at..], &shift[at..]), &mut v[at..], (origin, motion));
        }
    }
}

#[inline(always)]
fn less<L: Lane>(t: L::Token, (x, shift): (&[Block], &[Block]), v: &mut [Block], (o, motion): (Vec3, Rigid)) {
    let Rigid { velocity: a, spin } = motion;
    let [x, y, z, _] = L::load_blocks(t, x);
    let (x, y, z) = (x - L::splat(t, o.x), y - L::splat(t, o.y), z - L::splat(t, o.z));
    let [du, dv, dw, _] = L::load_blocks(t, shift);
    let [u, v0, w, m] = L::load_blocks(t, v);
    let (sx, sy, sz) = (L::splat(t, spin.x), L::splat(t, spin.y), L::splat(t, spin.z));
    let (ax, ay, az) = (L::splat(t, a.x), L::splat(t, a.y), L::splat(t, a.z));
    let rigid = [ax + (sy * z - sz * y), ay + (sz * x - sx * z), az + (sx * y - sy * x)];
    let out = [u + (du - rigid[0]), v0 + (dv - rigid[1]), w + (dw - rigid[2]), m];
    L::store_blocks(out, v);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rigid_part_of_a_rigid_motion_is_that_motion_in_lanes_as_in_single_numbers() {
        let (velocity, spin) = (Vec3::new(0.3, -1.0, 2.0), Vec3::new(1.0, 0.5, -2.0));
        let mut arms = vec![[0.0; 4]; 37];
        let mut field = arms.clone();
        let masses: Vec<Real> = (0..37).map(|k| 0.01 * (1 + k % 4) as Real).collect();
        for k in 0..37 {
            let r = Vec3::new((k % 5) as Real, (k % 7) as Real * 0.3, (k % 3) as Real) * 0.1;
            let u = velocity + spin.cross(r);
            arms[k] = [r.x, r.y, r.z, 0.5];
            field[k] = [u.x, u.y, u.z, 0.0];
        }
        let frame = |lanes| Frame { origin: Vec3::ZERO, h: 0.01, lanes };
        let [wide, slow] = [true, false].map(|lanes| frame(lanes).rigid_part(&arms, &masses, &field));
        assert_eq!((wide.velocity, wide.spin), (slow.velocity, slow.spin));
        let slip = 1000.0 * Real::EPSILON;
        assert!((wide.velocity - velocity).length() < slip && (wide.spin - spin).length() < slip, "{wide:?}");
        // and taking it away leaves nothing
        let mut v = vec![[0.0; 4]; 37];
        frame(true).take(&arms, &field, &mut v, wide);
        assert!(v.iter().flatten().all(|c| c.abs() < slip), "{v:?}");
    }

    #[test]
    fn places_and_shifts_are_the_same_in_lanes_as_in_single_numbers() {
        let x: Vec<Block> = (0..13).map(|k| [k as Real * 0.37, 1.0 / (1 + k) as Real, -0.1 * k as Real, 9.0]).collect();
        let v: Vec<Block> = (0..13).map(|k| [1.0 / (2 + k) as Real, k as Real * 0.11, 0.3, 2.0]).collect();
        let origin = Vec3::new(0.1, 0.2, 0.3);
        let made = [true, false].map(|lanes| {
            let frame = Frame { origin, h: 0.013, lanes };
            let (mut places, mut shift) = (vec![[0.0; 4]; 13], vec![[0.0; 4]; 13]);
            frame.place(&x, &v, &mut places);
            frame.shift(&x, &v, &places, &mut shift);
            assert!(shift.iter().flatten().all(|s| *s == 0.0) && places.iter().all(|p| p[3] == 2.0));
            places
        });
        assert_eq!(made[0], made[1]);
    }
}
