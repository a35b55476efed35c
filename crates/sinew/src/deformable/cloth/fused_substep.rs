//! The fused pass over the nodes of a bare sheet between the rows of two substeps, while eight nodes are in registers:
//! velocities from the goals, contacts, positions, and the goals of the next substep.
//!
//! ```text
//!   u = (p − (x + h v))/h − rigid,   v ← v + u,   contacts,   x ← x + h (v + e),   v ← keep v + h a,   p = x + h v
//! ```
//!
//! with e the velocity that corrects positions only (`contact/kernel/cloth.rs`). Recomputing x + h v with the same sum
//! gives the same bits. `rigid` is the motion with the linear and angular momentum E that the rows have added to the
//! sheet so far in the step: the forces of a pair are equal and opposite, so that E consists of rounding error and of
//! the rotation of the rows within a substep. It is removed one substep later, when its sums are known, with the
//! moments of the start of the step; the remainder is part of the next E. The last one is removed at the end of the
//! step with the moments at that time (`ParticleSoa::finish`), so that no error remains.

use crate::contact::kernel::cloth::{ClothContacts, CoupledBody, Eights, Turn};
use crate::contact::kernel::rigid_batch::ContactParams;
use crate::deformable::cloth::SelfContact;
use crate::deformable::cloth::soa::{Pull, Rigid, ThreeMut, put, three_mut, total};
use crate::math::lane3::{V3, add, along, cross, scale, splat3, sub};
use crate::math::{Block, Eight, Kernel, LANES, Lane, Real};

/// Possible contacts of a sheet in a substep.
#[derive(Debug)]
pub(crate) struct Touched<'a> {
    pub touches: &'a mut [ClothContacts],
    pub coupled: &'a mut [CoupledBody],
    pub params: &'a ContactParams,
    /// Self-contact of the sheet, if enabled.
    pub self_contact: Option<&'a mut SelfContact>,
}

impl Touched<'_> {
    /// The same for another round.
    pub fn again(&mut self) -> Touched<'_> {
        let self_contact = self.self_contact.as_deref_mut();
        Touched { touches: self.touches, coupled: self.coupled, params: self.params, self_contact }
    }
}

/// The phase after the contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum After {
    /// The same substep once more: goals from the velocities, positions are not advanced.
    Stay,
    /// The next substep; with the factor of damping on the velocities.
    Next(Real),
    /// The step ends; goals are the final positions.
    End,
}

/// Storage of the goals p of the nodes that the rows use.
pub(crate) trait Goals {
    fn read<L: Lane>(&self, t: L::Token, group: usize, at: usize) -> V3<L>;
    fn write<L: Lane>(&mut self, p: V3<L>, w: L, group: usize, at: usize);
}

impl Goals for ThreeMut<'_> {
    #[inline(always)]
    fn read<L: Lane>(&self, t: L::Token, group: usize, at: usize) -> V3<L> {
        three_mut(t, self, group, at)
    }
    #[inline(always)]
    fn write<L: Lane>(&mut self, p: V3<L>, _: L, group: usize, at: usize) {
        put(p, self, group, at);
    }
}

/// Blocks, with the inverse mass.
impl Goals for &mut [Block] {
    #[inline(always)]
    fn read<L: Lane>(&self, t: L::Token, group: usize, at: usize) -> V3<L> {
        let [x, y, z, _] = L::load_blocks(t, &self[group * LANES + at..]);
        [x, y, z]
    }
    #[inline(always)]
    fn write<L: Lane>(&mut self, p: V3<L>, w: L, group: usize, at: usize) {
        L::store_blocks([p[0], p[1], p[2], w], &mut self[group * LANES + at..]);
    }
}

pub(crate) struct Land<'a, G> {
    pub goals: G,
    pub x: ThreeMut<'a>,
    pub v: ThreeMut<'a>,
    /// Inverse masses, masses and accelerations.
    pub w: &'a [Eight],
    pub m: &'a [Eight],
    pub pull: Pull<'a>,
    pub touched: Touched<'a>,
    pub rigid: Rigid,
    pub h: Real,
    pub after: After,
}

impl<G: Goals> Kernel for Land<'_, G> {
    /// Σ m u and Σ m x × u, and the sum of squared impulses of contacts.
    type Output = ([Real; 6], Real);

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) -> ([Real; 6], Real) {
        let Self { mut goals, x: mut xs, v: mut vs, w, m, pull, touched, rigid, h, after } = self;
        let Touched { touches, coupled, params, .. } = touched;
        let (none, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
        let (back, spin) = (splat3::<L>(t, rigid.velocity), splat3::<L>(t, rigid.spin));
        let (stay, keep) = (after == After::Stay, if let After::Next(keep) = after { keep } else { 1.0 });
        let (keep, rate) = (L::splat(t, keep), L::splat(t, 1.0 / h));
        let h = L::splat(t, h);
        let (mut sums, mut squares) = (L::parts([none; 6]), L::parts([none]));
        for group in 0..w.len() {
            let mut nodes = Eights::<L> { x: L::parts([none; 3]), v: L::parts([none; 3]), e: L::parts([none; 3]) };
            let mut at = 0;
            while at < LANES {
                let (r, before) = (three_mut(t, &xs, group, at), three_mut(t, &vs, group, at));
                let star = along(r, before, h);
                let change = scale(sub(goals.read(t, group, at), star), rate);
                let change = sub(sub(change, back), cross(spin, r));
                let (mu, sums) = (scale(change, L::load(t, &m[group][at..])), &mut sums[at]);
                let twist = cross(r, mu);
                for k in 0..3 {
                    sums[k] = sums[k] + mu[k];
                    sums[3 + k] = sums[3 + k] + twist[k];
                }
                (nodes.x[at], nodes.v[at]) = (r, along(before, change, one));
                at += L::COUNT;
            }
            for (k, touch) in touches.iter_mut().enumerate() {
                let (body, turn) = (&mut coupled[touch.coupled], Turn { first: k == 0, again: stay });
                touch.meet(t, group, (&mut nodes, &w[group], &m[group]), (body, &mut squares), (params, turn));
            }
            let mut at = 0;
            while at < LANES {
                let (x, v, w) = (nodes.x[at], nodes.v[at], L::load(t, &w[group][at..]));
                if stay {
                    put(v, &mut vs, group, at);
                    goals.write(along(x, v, h), w, group, at);
                } else {
                    let there = along(x, add(v, nodes.e[at]), h);
                    put(there, &mut xs, group, at);
                    if after == After::End {
                        put(v, &mut vs, group, at);
                        goals.write(there, w, group, at);
                    } else {
                        let keep = w.select_gt(none, keep, one);
                        let soon = add(scale(v, keep), pull.kick(t, w, h, group, at));
                        put(soon, &mut vs, group, at);
                        goals.write(along(there, soon, h), w, group, at);
                    }
                }
                at += L::COUNT;
            }
        }
        coupled.iter_mut().for_each(CoupledBody::answer);
        let [squares] = total::<L, 1>(squares);
        (total::<L, 6>(sums), squares)
    }
}
