//! Sums over the nodes of a body, eight at a time: its kinetic energy and the work done on it by others. A single chain
//! of additions would have the latency of each of thousands of nodes.

use crate::math::lane3::{V3, add, dot, splat3, sub};
use crate::math::{Block, Kernel, LANES, Lane, Real, Vec3, vec};
use crate::model::Nodes;

/// Sums a quantity over nodes with these velocities.
pub(crate) struct Motion<'a, W> {
    pub(crate) nodes: &'a Nodes,
    pub(crate) v: &'a [Block],
    pub(crate) what: W,
}

/// The quantity that is summed, of `COUNT` nodes from `at` on: their masses, whether they are free (1 or 0), their
/// velocities.
pub(crate) trait Summed: Copy {
    fn add<L: Lane>(self, t: L::Token, at: usize, of: NodeLanes<L>, sums: &mut V3<L>);
}

#[derive(Clone, Copy)]
pub(crate) struct NodeLanes<L> {
    mass: L,
    /// Mass of free nodes; 0 for pinned ones.
    free: L,
    v: V3<L>,
}

/// m v [N·s].
#[derive(Clone, Copy)]
pub(crate) struct Momentum;

impl Summed for Momentum {
    #[inline(always)]
    fn add<L: Lane>(self, _: L::Token, _: usize, of: NodeLanes<L>, sums: &mut V3<L>) {
        for k in 0..3 {
            sums[k] = sums[k] + of.v[k] * of.mass;
        }
    }
}

/// Kinetic energy of the free nodes relative to a velocity [J].
#[derive(Clone, Copy)]
pub(crate) struct Energy {
    pub(crate) against: Vec3,
}

impl Summed for Energy {
    #[inline(always)]
    fn add<L: Lane>(self, t: L::Token, _: usize, of: NodeLanes<L>, sums: &mut V3<L>) {
        let v = sub(of.v, splat3(t, self.against));
        sums[0] = sums[0] + L::splat(t, 0.5) * of.free * dot(v, v);
    }
}

/// Work of others since the velocities were `last` and the velocity of the centre was `before`, summed over nodes where
/// it is positive [J].
#[derive(Clone, Copy)]
pub(crate) struct Gift<'a> {
    pub(crate) last: &'a [Block],
    pub(crate) centre: Vec3,
    pub(crate) before: Vec3,
}

impl Summed for Gift<'_> {
    #[inline(always)]
    fn add<L: Lane>(self, t: L::Token, at: usize, of: NodeLanes<L>, sums: &mut V3<L>) {
        let [x, y, z] = blocks::<L>(t, self.last, at);
        let now = sub(of.v, splat3(t, self.centre));
        let last = sub([x, y, z], splat3(t, self.before));
        sums[0] = sums[0] + of.mass * dot(sub(now, last), now).max(L::splat(t, 0.0));
    }
}

impl<W: Summed> Kernel for Motion<'_, W> {
    type Output = [Real; 3];

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> [Real; 3] {
        let Self { nodes, v, what } = self;
        let none = L::splat(t, 0.0);
        let mut sums = [[0.0; LANES]; 3];
        // lane by lane, so that one lane and eight give the same sums
        let mut lane = 0;
        while lane < LANES {
            let mut of_lanes = [none; 3];
            let mut at = lane;
            while at < v.len() {
                let (mass, inverse) = (numbers::<L>(t, &nodes.mass, at), numbers::<L>(t, &nodes.inv_mass, at));
                let free = inverse.select_gt(none, mass, none);
                what.add::<L>(t, at, NodeLanes { mass, free, v: blocks::<L>(t, v, at) }, &mut of_lanes);
                at += LANES;
            }
            for k in 0..3 {
                of_lanes[k].store(&mut sums[k][lane..]);
            }
            lane += L::COUNT;
        }
        sums.map(|of_lanes| of_lanes.iter().sum())
    }
}

/// The square of the largest of these velocities relative to `against` [m²/s²]. NaN is ignored.
pub(crate) struct Fastest<'a> {
    pub(crate) v: &'a [Block],
    pub(crate) against: Vec3,
}

impl Kernel for Fastest<'_> {
    type Output = Real;

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> Real {
        let (against, mut most) = (splat3::<L>(t, self.against), [0.0; LANES]);
        let mut lane = 0;
        while lane < LANES {
            let (mut of_lanes, mut at) = (L::splat(t, 0.0), lane);
            while at + L::COUNT <= self.v.len() {
                let [x, y, z, _] = L::load_blocks(t, &self.v[at..]);
                let v = sub([x, y, z], against);
                of_lanes = of_lanes.max(dot(v, v));
                at += LANES;
            }
            of_lanes.store(&mut most[lane..]);
            lane += L::COUNT;
        }
        // the remainder of the last group of eight, which the loop with one lane has included already
        let last = &self.v[self.v.len() / LANES * LANES..];
        let last = last.iter().map(|&v| (vec(v) - self.against).length_squared());
        most.into_iter().chain(last).fold(0.0, Real::max)
    }
}

/// The same, relative to their mean.
pub(crate) struct FastestFromMean<'a>(pub(crate) &'a [Block]);

impl Kernel for FastestFromMean<'_> {
    type Output = Real;

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> Real {
        let v = self.0;
        let (mut sums, mut lane) = ([[0.0; LANES]; 3], 0);
        while lane < LANES {
            let (mut of_lanes, mut at) = ([L::splat(t, 0.0); 3], lane);
            while at < v.len() {
                let more = blocks::<L>(t, v, at);
                of_lanes = add(of_lanes, more);
                at += LANES;
            }
            for k in 0..3 {
                of_lanes[k].store(&mut sums[k][lane..]);
            }
            lane += L::COUNT;
        }
        let against = Vec3::from_array(sums.map(|of_lanes| of_lanes.iter().sum())) / v.len() as Real;
        Fastest { v, against }.run::<L>(t)
    }
}

/// Values from `at` on; 0 beyond the last.
#[inline(always)]
fn numbers<L: Lane>(t: L::Token, of: &[Real], at: usize) -> L {
    if at + L::COUNT <= of.len() {
        return L::load(t, &of[at..]);
    }
    let mut some = [0.0; LANES];
    some[..of.len() - at].copy_from_slice(&of[at..]);
    L::load(t, &some)
}

/// The first three components of blocks from `at` on; 0 beyond the last.
#[inline(always)]
fn blocks<L: Lane>(t: L::Token, of: &[Block], at: usize) -> V3<L> {
    let [x, y, z, _] = if at + L::COUNT <= of.len() {
        L::load_blocks(t, &of[at..])
    } else {
        let mut some = [[0.0; 4]; LANES];
        some[..of.len() - at].copy_from_slice(&of[at..]);
        L::load_blocks(t, &some)
    };
    [x, y, z]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::run;

    #[test]
    fn largest_speed_is_the_same_in_lanes_and_in_scalar_code() {
        for count in [1, 7, 8, 9, 37] {
            let number = |k: usize| ((k * 7919) % 23) as Real - 11.0;
            let v: Vec<Block> = (0..count).map(|k| [number(k), number(k + 5), number(k + 11), 9.0]).collect();
            let mean = v.iter().map(|&v| vec(v)).sum::<Vec3>() / count as Real;
            let want = |against: Vec3| v.iter().map(|&v| (vec(v) - against).length_squared()).fold(0.0, Real::max);
            for lanes in [true, false] {
                // small integers: their sums are the same in any order
                assert_eq!(run(FastestFromMean(&v), lanes), want(mean), "{count} nodes");
                assert_eq!(run(Fastest { v: &v, against: Vec3::Y }, lanes), want(Vec3::Y), "{count} nodes");
            }
        }
    }
}
