//! Connected parts of a particle body, and the rigid component of a velocity field on each.
//!
//! For masses m at arms r from the centre of mass, the rigid motion with the linear and angular momentum of a field u
//! is
//!
//! ```text
//!   a = Σ m u / Σ m,   ω = I⁻¹ Σ m r × u,   I = Σ m (r² 1 − r rᵀ)
//! ```
//!
//! A field minus its rigid component has neither linear nor angular momentum. The projection is per connected part and
//! not per body: momentum must not be transferred between parts that are not connected.

use crate::math::{Block, Mat3, Real, Sym3, Vec3, add, outer, vec};

/// Rounds of iterative refinement of an angular velocity: they leave the fraction (softening / inertia)⁵ about an axis.
/// That is rounding error where a rope is bent by some hundredths of its length, and still zero about the axis of a
/// straight rope.
const ROUNDS: usize = 4;

/// Nodes sorted by part, and the results of `frame`.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// First entry of each part in `nodes`, and the end. (part_count + 1)
    start: Vec<u32>,
    /// Nodes of the parts, one part after the other. (node_count)
    nodes: Vec<u32>,
    /// Position relative to the part's centre; in the order of `nodes`. Written by `frame`. (node_count) [m]
    arms: Vec<Vec3>,
    /// Written by `frame`. (part_count)
    frames: Vec<Frame>,
}

/// Mass properties of a part at the start of the substep; pinned nodes are excluded.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    /// [kg]
    mass: Real,
    /// About the centre of mass [kg·m²].
    inertia: Sym3,
    /// Its inverse, regularised along axes about which the part has no extent [1/(kg·m²)].
    inverse: Sym3,
    /// True when the part has a pinned node, which absorbs momentum.
    held: bool,
}

/// Rigid motion of a part.
#[derive(Clone, Copy)]
struct Motion {
    velocity: Vec3,
    spin: Vec3,
}

impl Parts {
    /// Parts of `count` nodes; the nodes of one entry of `links` are connected.
    pub fn new<'a>(count: usize, links: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut root: Vec<u32> = (0..count as u32).collect();
        let find = |root: &mut Vec<u32>, mut i: u32| {
            while root[i as usize] != i {
                root[i as usize] = root[root[i as usize] as usize];
                i = root[i as usize];
            }
            i
        };
        for link in links {
            for pair in link.windows(2) {
                let (a, b) = (find(&mut root, pair[0]), find(&mut root, pair[1]));
                root[a.max(b) as usize] = a.min(b);
            }
        }
        // parts sorted by their lowest node, nodes ascending
        let mut keyed: Vec<(u32, u32)> = (0..count as u32).map(|i| (find(&mut root, i), i)).collect();
        keyed.sort_unstable();
        let mut start: Vec<u32> =
            (0..count).filter(|&k| k == 0 || keyed[k].0 != keyed[k - 1].0).map(|k| k as u32).collect();
        let parts = start.len();
        start.push(count as u32);
        Self {
            start,
            nodes: keyed.into_iter().map(|k| k.1).collect(),
            arms: vec![Vec3::ZERO; count],
            frames: vec![Frame::default(); parts],
        }
    }

    /// Number of parts.
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    /// Centres, arms and inertias at x.
    pub fn frame(&mut self, x: &[Block], v: &[Block]) {
        for part in 0..self.frames.len() {
            let range = self.start[part] as usize..self.start[part + 1] as usize;
            let (nodes, arms) = (&self.nodes[range.clone()], &mut self.arms[range]);
            // relative to the first node: large coordinates would cost precision
            let origin = vec(x[nodes[0] as usize]);
            let mut frame = Frame::default();
            let mut moment = Vec3::ZERO;
            for (arm, &node) in arms.iter_mut().zip(nodes) {
                *arm = vec(x[node as usize]) - origin;
                let mass = free_mass(&v[node as usize]);
                frame.held |= mass == 0.0;
                frame.mass += mass;
                moment += *arm * mass;
            }
            if frame.mass > 0.0 {
                let centre = moment / frame.mass;
                let mut inertia = Mat3::ZERO;
                for (arm, &node) in arms.iter_mut().zip(nodes) {
                    *arm -= centre;
                    let spread = Mat3::from_diagonal(Vec3::splat(arm.length_squared())) - outer(*arm, *arm);
                    inertia += spread * free_mass(&v[node as usize]);
                }
                frame.inertia = Sym3::from_mat(&inertia);
                frame.inverse = softened_inverse(frame.inertia);
            }
            self.frames[part] = frame;
        }
    }

    /// Removes the rigid component from `change` in every part without a pinned node.
    pub fn balance(&self, v: &[Block], change: &mut [Vec3]) {
        for part in (0..self.frames.len()).filter(|&p| !self.frames[p].held) {
            let motion = self.motion(part, v, |node| change[node]);
            self.visit(part, |node, arm| change[node] -= motion.at(arm));
        }
    }

    /// Removes the fraction `loss` (0..1) of all non-rigid motion from v; `change` is scratch space.
    pub fn slow(&self, v: &mut [Block], loss: Real, change: &mut [Vec3]) {
        if loss > 0.0 {
            change.fill(Vec3::ZERO);
            self.damp(v, loss, change);
            v.iter_mut().zip(change).for_each(|(v, change)| add(v, *change));
        }
    }

    /// Adds to `change` the velocity change that removes the fraction `loss` (0..1) of the non-rigid motion of
    /// v + change.
    pub fn damp(&self, v: &[Block], loss: Real, change: &mut [Vec3]) {
        for part in 0..self.frames.len() {
            let motion = self.motion(part, v, |node| vec(v[node]) + change[node]);
            self.visit(part, |node, arm| {
                if v[node][3] > 0.0 {
                    let internal_state = vec(v[node]) + change[node] - motion.at(arm);
                    change[node] -= internal_state * loss;
                }
            });
        }
    }

    /// `frame` for nodes with an inertia of their own [kg·m²].
    pub fn frame_spinning(&mut self, x: &[Block], v: &[Block], own: &[Sym3]) {
        self.frame(x, v);
        for part in 0..self.frames.len() {
            let range = self.start[part] as usize..self.start[part + 1] as usize;
            let mut sum = self.frames[part].inertia.to_mat();
            for &node in self.nodes[range].iter().filter(|&&n| v[n as usize][3] > 0.0) {
                sum += own[node as usize].to_mat();
            }
            self.frames[part].inertia = Sym3::from_mat(&sum);
            self.frames[part].inverse = softened_inverse(self.frames[part].inertia);
        }
    }

    /// `balance` with the angular velocities of the nodes included in the field.
    pub fn balance_spinning(&self, v: &[Block], own: &[Sym3], change: &mut [Vec3], twist: &mut [Vec3]) {
        for part in (0..self.frames.len()).filter(|&p| !self.frames[p].held) {
            let motion = self.motion_spinning(part, v, own, |node| (change[node], twist[node]));
            self.visit(part, |node, arm| {
                change[node] -= motion.at(arm);
                twist[node] -= motion.spin;
            });
        }
    }

    /// `damp` with the angular velocities of the nodes included in the field; `out` is the change of velocity and of
    /// angular velocity.
    pub fn damp_spinning(
        &self,
        v: &[Block],
        spin: impl Fn(usize) -> Vec3,
        own: &[Sym3],
        loss: Real,
        (change, twist): (&mut [Vec3], &mut [Vec3]),
    ) {
        for part in 0..self.frames.len() {
            let motion =
                self.motion_spinning(part, v, own, |node| (vec(v[node]) + change[node], spin(node) + twist[node]));
            self.visit(part, |node, arm| {
                if v[node][3] > 0.0 {
                    let internal_state = vec(v[node]) + change[node] - motion.at(arm);
                    change[node] -= internal_state * loss;
                    twist[node] -= (spin(node) + twist[node] - motion.spin) * loss;
                }
            });
        }
    }

    fn motion_spinning(&self, part: usize, v: &[Block], own: &[Sym3], field: impl Fn(usize) -> (Vec3, Vec3)) -> Motion {
        let frame = &self.frames[part];
        if !(frame.mass > 0.0) {
            return Motion { velocity: Vec3::ZERO, spin: Vec3::ZERO };
        }
        let (mut momentum, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        self.visit(part, |node, arm| {
            let mass = free_mass(&v[node]);
            if mass > 0.0 {
                let (velocity, spin) = field(node);
                momentum += velocity * mass;
                moment += arm.cross(velocity * mass) + own[node].mul(spin);
            }
        });
        Motion { velocity: momentum / frame.mass, spin: refined(frame.inverse, frame.inertia, moment) }
    }

    fn motion(&self, part: usize, v: &[Block], field: impl Fn(usize) -> Vec3) -> Motion {
        let frame = &self.frames[part];
        if !(frame.mass > 0.0) {
            return Motion { velocity: Vec3::ZERO, spin: Vec3::ZERO };
        }
        let (mut momentum, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        self.visit(part, |node, arm| {
            let push = field(node) * free_mass(&v[node]);
            momentum += push;
            moment += arm.cross(push);
        });
        Motion { velocity: momentum / frame.mass, spin: refined(frame.inverse, frame.inertia, moment) }
    }

    fn visit(&self, part: usize, mut call: impl FnMut(usize, Vec3)) {
        let range = self.start[part] as usize..self.start[part + 1] as usize;
        for (&node, &arm) in self.nodes[range.clone()].iter().zip(&self.arms[range]) {
            call(node as usize, arm);
        }
    }
}

impl Motion {
    fn at(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.spin.cross(arm)
    }
}

/// The angular velocity for this angular momentum.
pub(crate) fn spin_of(inertia: Sym3, moment: Vec3) -> Vec3 {
    refined(softened_inverse(inertia), inertia, moment)
}

/// Each round multiplies the error of the regularised inverse by the ratio of the regularisation to the inertia.
fn refined(inverse: Sym3, inertia: Sym3, moment: Vec3) -> Vec3 {
    let mut spin = inverse.mul(moment);
    for _ in 0..ROUNDS {
        spin += inverse.mul(moment - inertia.mul(spin));
    }
    spin
}

/// 0 for a pinned node.
fn free_mass(v: &Block) -> Real {
    if v[3] > 0.0 { 1.0 / v[3] } else { 0.0 }
}

/// (I + ε tr I 1)⁻¹: a straight rope has no inertia about its axis, and rounding error must not spin it.
fn softened_inverse(inertia: Sym3) -> Sym3 {
    let more = Real::EPSILON.sqrt() * (inertia.xx + inertia.yy + inertia.zz);
    let soft = Sym3 { xx: inertia.xx + more, yy: inertia.yy + more, zz: inertia.zz + more, ..inertia };
    soft.inverse().unwrap_or(Sym3::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(points: &[Vec3]) -> Vec<Block> {
        points.iter().map(|p| [p.x, p.y, p.z, 0.5]).collect()
    }

    #[test]
    fn links_define_parts_and_an_isolated_node_is_a_part() {
        let parts = Parts::new(6, [[0u32, 2].as_slice(), &[4, 2], &[1, 5]].into_iter());
        assert_eq!(parts.count(), 3);
        assert_eq!(parts.nodes, [0, 2, 4, 1, 5, 3]);
        assert_eq!(parts.start, [0, 3, 5, 6]);
    }

    #[test]
    fn a_balanced_change_has_no_linear_or_angular_momentum_in_any_part() {
        let places = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(5.0, 0.0, 1.0), Vec3::new(6.0, 1.0, 1.0)];
        let mut parts = Parts::new(5, [[0u32, 1].as_slice(), &[1, 2], &[3, 4]].into_iter());
        let (x, v) = (blocks(&places), blocks(&[Vec3::ZERO; 5]));
        parts.frame(&x, &v);
        let mut change: Vec<Vec3> = (0..5).map(|k| Vec3::new(k as Real, 1.0 - k as Real, 0.3 * k as Real)).collect();
        parts.balance(&v, &mut change);
        for nodes in [0..3, 3..5] {
            let push: Vec3 = nodes.clone().map(|i| change[i]).sum();
            let turn: Vec3 = nodes.map(|i| places[i].cross(change[i])).sum();
            assert!(push.length() < 1e-5 && turn.length() < 1e-5, "{push} {turn}");
        }
    }

    #[test]
    fn rigid_motion_is_not_damped_and_the_rest_decays() {
        let places = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let mut parts = Parts::new(4, [[0u32, 1, 2, 3].as_slice()].into_iter());
        let spin = Vec3::new(1.0, -2.0, 0.5);
        let mut v = blocks(&places.map(|p| Vec3::new(3.0, 0.0, 1.0) + spin.cross(p)));
        let x = blocks(&places);
        parts.frame(&x, &v);
        let mut change = vec![Vec3::ZERO; 4];
        parts.damp(&v, 0.5, &mut change);
        assert!(change.iter().all(|c| c.length() < 20.0 * Real::EPSILON), "{change:?}");
        // a dilatation about the centre is not a rigid motion: half of it is removed
        let centre = Vec3::splat(0.25);
        for (v, p) in v.iter_mut().zip(&places) {
            crate::math::add(v, (*p - centre) * 0.1);
        }
        let mut change = vec![Vec3::ZERO; 4];
        parts.damp(&v, 0.5, &mut change);
        for (change, p) in change.iter().zip(places) {
            assert!((*change + (p - centre) * 0.05).length() < 20.0 * Real::EPSILON);
        }
    }
}
