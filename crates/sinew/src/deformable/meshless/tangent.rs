//! The linearly implicit form of a meshless body: A v⁺ = b without a matrix.
//!
//! ```text
//!   A = M + h² K_S + h (h + β) K_E,   b = M v + h (f(x) + f_ext)
//!   K_E: δP_i = v_i F C:sym(FᵀδF) + v_i k_V cof F (cof F:δF), and the stabilization springs,   K_S: δP_i = v_i δF S⁺
//! ```
//!
//! S⁺ is the stress without its negative eigenvalues, and the derivative of cof F is omitted: so A is symmetric and
//! A − M positive semidefinite, as the CG requires. A pair (j, k) of neighbours of one phyxel is an entry of K: with a
//! hundred neighbours each a matrix would have a thousand entries per row, hence A is applied phyxel by phyxel from F
//! and S⁺.

use super::mls::{Mls, cofactor, leftover, trace};
use super::rest::Rest;
use crate::deformable::{BodyMut, Modes, Operator, StepContext};
use crate::math::{Block, Mat3, Real, Vec3, WideMat3, add, eigen, narrow, outer, vec, wide_outer, widen};

/// Data of a phyxel for the tangent.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Deformation gradient.
    f: Mat3,
    /// S⁺ h/(h + β): geometric stiffness is not damped [Pa].
    stress: Mat3,
}

/// A and b.
#[derive(Clone, Debug, Default)]
pub(super) struct Tangent {
    /// Written in the first substep. (node_count)
    frames: Vec<Frame>,
    /// h (h + β). Written in the first substep [s²].
    factor: Real,
    /// Diagonal blocks of A. Written in the first substep. (node_count) [kg]
    diagonal: Vec<Mat3>,
    /// b. (node_count) [N·s]
    load: Vec<Block>,
    /// Infinite where pinned. (node_count) [kg]
    mass: Vec<Real>,
}

impl Tangent {
    /// Allocates for an implicit body, nothing for an explicit one.
    pub fn new(rest: &Rest, implicit: bool) -> Self {
        let count = if implicit { rest.mass.len() } else { 0 };
        Self {
            frames: vec![Frame { f: Mat3::ZERO, stress: Mat3::ZERO }; count],
            factor: 0.0,
            diagonal: vec![Mat3::ZERO; count],
            load: vec![[0.0; 4]; count],
            mass: rest.mass.clone(),
        }
    }

    /// True for the tangent of an explicit body.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Lower estimate of the highest angular frequency of the body at rest, by `steps` of the power iteration [rad/s].
    pub fn highest_frequency(rest: &Rest, steps: usize) -> Real {
        let frames: Vec<Frame> = rest.span.iter().map(|&f| Frame { f, stress: Mat3::ZERO }).collect();
        let count = rest.mass.len();
        // a fixed start vector without symmetry
        let part = |k: usize| ((k * 7919 + 104_729) % 1009) as Real / 504.5 - 1.0;
        let mut u: Vec<Block> = (0..count).map(|i| [part(3 * i), part(3 * i + 1), part(3 * i + 2), 0.0]).collect();
        let mut ku = vec![[0.0; 4]; count];
        let mut square = 0.0;
        for _ in 0..steps {
            // normalised in the M-norm, then u ← M⁻¹ K u
            let norm: Real = u.iter().zip(&rest.mass).map(|(u, m)| m * vec(*u).length_squared()).sum();
            let scale = 1.0 / norm.sqrt();
            u.iter_mut().for_each(|u| *u = u.map(|c| c * scale));
            ku.fill([0.0; 4]);
            apply_stiffness(rest, &frames, 1.0, &u, &mut ku);
            square = u.iter().zip(&ku).map(|(u, k)| vec(*u).dot(vec(*k))).sum();
            for ((u, k), m) in u.iter_mut().zip(&ku).zip(&rest.mass) {
                *u = [k[0] / m, k[1] / m, k[2] / m, 0.0];
            }
            if u.iter().all(|u| vec(*u) == Vec3::ZERO) {
                break;
            }
        }
        square.max(Real::MIN_POSITIVE).sqrt()
    }

    /// A, in the first substep.
    pub fn build(&mut self, rest: &Rest, damping: Real, ctx: &StepContext<'_>, x: &[Block]) {
        if ctx.substep != 0 {
            return;
        }
        self.factor = ctx.h * (ctx.h + damping);
        let share = ctx.h / (ctx.h + damping);
        for (i, frame) in self.frames.iter_mut().enumerate() {
            let f = rest.gradient(i, x);
            let (_, stress) = rest.strain_stress(i, &f);
            *frame = Frame { f, stress: positive_part(&stress) * share };
        }
        self.build_diagonal(rest);
    }

    fn build_diagonal(&mut self, rest: &Rest) {
        for (i, block) in self.diagonal.iter_mut().enumerate() {
            *block = Mat3::from_diagonal(Vec3::splat(rest.mass[i] + self.factor * rest.hold_diagonal[i]));
        }
        for (i, frame) in self.frames.iter().enumerate() {
            let stretch = frame.f * frame.f.transpose();
            let swell = swell_of(rest, i, &frame.f);
            let lambda = rest.lambda[rest.rank[i] as usize];
            let (pairs, _) = rest.phyxel(i);
            let block = |d: Vec3| {
                let (g, c) = (frame.f * d, swell * d);
                let plain = d.dot(frame.stress * d);
                (outer(g, g) * (lambda + rest.mu)
                    + stretch * (rest.mu * d.length_squared())
                    + Mat3::from_diagonal(Vec3::splat(plain))
                    + outer(c, c) * rest.volume_stiffness)
                    * (self.factor * rest.volume[i])
            };
            let mut sum = Vec3::ZERO;
            for p in pairs {
                self.diagonal[p.node as usize] += block(p.slope);
                sum += p.slope;
            }
            self.diagonal[i] += block(sum);
        }
    }

    /// b and the masses for the solver.
    pub fn load(&mut self, rest: &Rest, h: Real, body: &BodyMut<'_>, force: &[Vec3]) {
        for (node, load) in self.load.iter_mut().enumerate() {
            let push = vec(body.v[node]) * rest.mass[node] + (body.force[node] + force[node]) * h;
            *load = [push.x, push.y, push.z, 0.0];
            self.mass[node] = if body.v[node][3] == 0.0 { Real::INFINITY } else { rest.mass[node] };
        }
    }
}

/// out += factor K u.
fn apply_stiffness(rest: &Rest, frames: &[Frame], factor: Real, u: &[Block], out: &mut [Block]) {
    for (i, frame) in frames.iter().enumerate() {
        let df = rest.gradient(i, u);
        let turn = frame.f.transpose() * df;
        let stress = rest.hooke(i, &((turn + turn.transpose()) * 0.5));
        let (pairs, holds) = rest.phyxel(i);
        let swell = swell_of(rest, i, &frame.f);
        let mut pull = (frame.f * stress + df * frame.stress) * rest.volume[i];
        pull += swell * (rest.volume_stiffness * rest.volume[i] * trace(&(swell.transpose() * df)));
        for p in holds {
            pull -= outer(leftover(p, i, u, &df) * p.hold, p.rest);
        }
        let mut own = Vec3::ZERO;
        for (k, p) in pairs.iter().enumerate() {
            let mut force = pull * p.slope;
            if k < holds.len() {
                force += leftover(p, i, u, &df) * p.hold;
            }
            add(&mut out[p.node as usize], force * factor);
            own += force;
        }
        add(&mut out[i], own * -factor);
    }
}

/// cof F where the volume force acts, else zero.
fn swell_of(rest: &Rest, i: usize, f: &Mat3) -> Mat3 {
    if rest.rank[i] == 3 && rest.volume_stiffness > 0.0 { cofactor(f) } else { Mat3::ZERO }
}

/// The symmetric matrix without its negative eigenvalues.
fn positive_part(m: &Mat3) -> Mat3 {
    let wide = WideMat3::from_cols(widen(m.x_axis), widen(m.y_axis), widen(m.z_axis));
    let (values, axes) = eigen(&((wide + wide.transpose()) * 0.5));
    let mut part = WideMat3::ZERO;
    for k in 0..3 {
        part += wide_outer(axes.col(k), axes.col(k)) * values[k].max(0.0);
    }
    Mat3::from_cols(narrow(part.x_axis), narrow(part.y_axis), narrow(part.z_axis))
}

impl Operator for Mls {
    fn block_count(&self) -> usize {
        self.rest.mass.len()
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        for ((out, v), m) in out.iter_mut().zip(v).zip(&self.rest.mass) {
            *out = [v[0] * m, v[1] * m, v[2] * m, 0.0];
        }
        apply_stiffness(&self.rest, &self.tangent.frames, self.tangent.factor, v, out);
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        out.copy_from_slice(&self.tangent.diagonal);
    }

    fn load(&self) -> &[Block] {
        &self.tangent.load
    }

    fn mass(&self) -> &[Real] {
        &self.tangent.mass
    }

    fn modes(&self) -> Option<Modes<'_>> {
        self.sums.modes()
    }
}
