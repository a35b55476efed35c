//! Contacts of nodes as rows, in the order of their keys: two tangents, which are one vector in a disc, then the
//! normal.
//!
//! Between soft surfaces the three rows of a contact have the same structure: with the weights w of its nodes and an
//! axis u
//!
//! ```text
//!   J_i = w_i u,   response_i = w_i u / m_i
//! ```
//!
//! so that axes, weights and inverse masses are stored and not thirty numbers a node. All other contacts are rows as in
//! `solver/pgs.rs`. Both give the same bits: `tests` compares them.

use crate::constraint::{Bounds, RowBuffer, RowId, Term};
use crate::contact::kernel::pinch::Pinch;
use crate::friction::{Coefficients, Law, Memory, StickSpring, Traction, Visit};
use crate::math::{Block, Real, Vec3, vec};
use crate::solver::pgs;
use crate::solver::pgs::Pass;

/// The contribution of a node to a contact of two soft surfaces: its block, its weight (+ on b, − on a) and its inverse
/// mass [1/kg]. The same for all axes.
pub(crate) type Part = (u32, Real, Real);

/// Right-hand side, friction and warm start of a contact. Triples are in the order: two tangents, normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wants {
    pub bias: [Real; 3],
    /// Part of the normal's bias that only corrects positions; the bias of the tangents does nothing else [m/s].
    pub correction: Real,
    /// Coefficient of friction; of a pair with a law of its own, `law`, while its point holds.
    pub friction: Real,
    /// Impulses, initially those of the warm start [N·s].
    pub impulse: [Real; 3],
    /// Friction law other than Coulomb's, coefficients of the pair and memory at the start of the substep.
    pub law: Option<OwnLaw>,
}

/// Friction law of a contact, evaluated in every sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnLaw {
    pub law: Law,
    pub coefficients: Coefficients,
    pub memory: Memory,
    /// Substep [s].
    pub h: Real,
}

impl OwnLaw {
    /// The rows of a point with this normal impulse, slip, friction impulse and response. `bias`: that of the spring from
    /// the stick point in this pass.
    fn traction(&self, normal: Real, slip: [Real; 2], impulse: [Real; 2], response: Real, bias: [Real; 2]) -> Traction {
        let (h, coefficients, memory) = (self.h, self.coefficients, self.memory);
        let visit = Visit { h, normal, coefficients, slip, impulse, response, memory };
        let traction = self.law.traction(&visit, StickSpring::default());
        if self.law.has_bristle() { traction } else { Traction { bias, ..traction } }
    }
}

/// Where the rows of a contact are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Index among the contacts of two soft surfaces.
    Touch(u32),
    /// The first of three rows, and the index of its friction law or `u32::MAX`.
    Rows(RowId, u32),
}

/// A contact of two soft surfaces.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// Tangents and normal, padded to four components.
    axes: [Block; 3],
    /// The transpose: the x, y and z components of the axes, padded.
    columns: [Block; 3],
    /// Range of its nodes in `parts`.
    parts: [u32; 2],
    wants: Wants,
    /// Inverse effective masses of tangents and normal, and the coupling of the tangents [1/kg].
    diagonal: [Real; 3],
    between: Real,
    /// Largest friction of the last sweep [N·s].
    radius: Real,
}

/// Rows of contacts of nodes.
#[derive(Debug, Default)]
pub(crate) struct TouchRows {
    order: Vec<Place>,
    /// Pairs of contacts that are solved together, by the index of their second contact in `order`, ascending.
    pinches: Vec<(u32, Pinch)>,
    touches: Vec<Touch>,
    parts: Vec<Part>,
    rows: RowBuffer,
    /// Friction laws of contacts that are rows, with the radius of the last sweep [N·s].
    laws: Vec<(OwnLaw, Real)>,
    /// Terms of the row that is being written.
    terms: Vec<Term>,
}

impl TouchRows {
    pub fn clear(&mut self) {
        self.order.clear();
        self.pinches.clear();
        self.touches.clear();
        self.parts.clear();
        self.rows.clear();
        self.laws.clear();
    }

    /// Adds a contact of two soft surfaces with these axes: two tangents and the normal.
    pub fn push_touch(&mut self, axes: [Vec3; 3], parts: &[Part], wants: Wants) -> Place {
        let from = self.parts.len() as u32;
        self.parts.extend_from_slice(parts);
        let [x, y, z] = [0, 1, 2].map(|k| [axes[0][k], axes[1][k], axes[2][k], 0.0]);
        // each axis with itself, and the first tangent with the second
        let (mates, first) = ([0, 1, 2, 1], [0, 1, 2, 0]);
        let [ours, theirs] = [first, mates].map(|of| [x, y, z].map(|of_axes| of.map(|k| of_axes[k])));
        let mut answers = [-0.0; 4];
        for &(_, weight, inv_mass) in parts {
            for k in 0..4 {
                let product = |c: usize| (ours[c][k] * weight) * (theirs[c][k] * weight * inv_mass);
                answers[k] += product(0) + product(1) + product(2);
            }
        }
        // a row without a free node keeps its impulse
        let held = |answer: Real| if answer > 0.0 { answer } else { Real::INFINITY };
        self.touches.push(Touch {
            axes: axes.map(|u| [u.x, u.y, u.z, 0.0]),
            columns: [x, y, z],
            parts: [from, self.parts.len() as u32],
            wants,
            diagonal: [0, 1, 2].map(|k| held(answers[k])),
            between: answers[3],
            radius: wants.friction * wants.impulse[2],
        });
        self.order.push(Place::Touch(self.touches.len() as u32 - 1));
        Place::Touch(self.touches.len() as u32 - 1)
    }

    /// Adds any other contact: `terms` writes the terms of an axis.
    pub fn push_rows(&mut self, axes: [Vec3; 3], wants: Wants, mut terms: impl FnMut(Vec3, &mut Vec<Term>)) -> Place {
        let first = self.rows.len() as RowId;
        let disc = Bounds::Disc { normal: first + 2, friction: wants.friction, radius: 0.0 };
        let [slide, across, normal] = wants.bias;
        let numbers =
            [(slide, slide, disc), (across, across, Bounds::Mate), (normal, wants.correction, Bounds::AtLeast(0.0))];
        for ((axis, (bias, correction, bounds)), impulse) in axes.into_iter().zip(numbers).zip(wants.impulse) {
            terms(axis, &mut self.terms);
            let row = self.rows.push(&self.terms, bias, correction, 0.0, bounds);
            self.rows.rows_mut()[row as usize].impulse = impulse;
        }
        let own = wants.law.map_or(u32::MAX, |law| {
            self.laws.push((law, 0.0));
            self.laws.len() as u32 - 1
        });
        self.order.push(Place::Rows(first, own));
        Place::Rows(first, own)
    }

    /// Solves the last two contacts together, where these pinch something between bodies (`pinch.rs`).
    pub fn pinch_last(&mut self) {
        if let [.., Place::Rows(a, u32::MAX), Place::Rows(b, u32::MAX)] = self.order[..]
            && let Some(pinch) = Pinch::new(&self.rows, [a, b])
        {
            self.pinches.push((self.order.len() as u32 - 1, pinch));
        }
    }

    /// Replaces the bias of the normal of a contact; it corrects no position.
    pub fn bounce(&mut self, place: Place, bias: Real) {
        match place {
            Place::Touch(at) => {
                let wants = &mut self.touches[at as usize].wants;
                (wants.bias[2], wants.correction) = (bias, 0.0);
            }
            Place::Rows(first, _) => {
                let row = &mut self.rows.rows_mut()[first as usize + 2];
                (row.bias, row.correction) = (bias, 0.0);
            }
        }
    }

    /// Impulses of a contact: two tangents and the normal [N·s].
    pub fn impulses(&self, place: Place) -> [Real; 3] {
        match place {
            Place::Touch(at) => self.touches[at as usize].wants.impulse,
            Place::Rows(first, _) => [0, 1, 2].map(|k| self.rows.rows()[first as usize + k].impulse),
        }
    }

    /// Relative velocities of a contact along its tangents and its normal [m/s].
    pub fn relative_velocities(&self, place: Place, v: &[Block]) -> [Real; 3] {
        match place {
            Place::Touch(at) => {
                let touch = &self.touches[at as usize];
                let [slide, across, normal, _] = touch.relative_velocities(self.parts_of(touch), v);
                [slide, across, normal]
            }
            Place::Rows(first, _) => [0, 1, 2].map(|k| self.rows.relative_velocity(first + k, v)),
        }
    }

    /// Inverse effective mass of a contact along its first tangent [1/kg].
    pub fn answer(&self, place: Place) -> Real {
        match place {
            Place::Touch(at) => self.touches[at as usize].diagonal[0],
            Place::Rows(first, _) => self.rows.rows()[first as usize].diagonal,
        }
    }

    /// Largest friction of a contact in the last sweep [N·s]; none for a contact with Coulomb friction.
    pub fn radius(&self, place: Place) -> Option<Real> {
        match place {
            Place::Touch(at) => {
                let touch = &self.touches[at as usize];
                touch.wants.law.map(|_| touch.radius)
            }
            Place::Rows(_, own) => self.laws.get(own as usize).map(|(_, radius)| *radius),
        }
    }

    /// Calls `see` with the blocks of a contact, and the normal and the tangential impulse on each [N·s, N·m·s].
    pub fn pushes(&self, place: Place, mut see: impl FnMut(u32, [Vec3; 2])) {
        let [slide, across, normal] = self.impulses(place);
        match place {
            Place::Touch(at) => {
                let touch = &self.touches[at as usize];
                let [t1, t2, n] = touch.axes.map(vec);
                let tangential = t1 * slide + t2 * across;
                for &(block, weight, _) in self.parts_of(touch) {
                    see(block, [n * (normal * weight), tangential * weight]);
                }
            }
            Place::Rows(first, _) => {
                for (id, impulse) in [(first, slide), (first + 1, across), (first + 2, normal)] {
                    for t in self.rows.terms(id) {
                        let push = t.jacobian * impulse;
                        see(t.block, if id == first + 2 { [push, Vec3::ZERO] } else { [Vec3::ZERO, push] });
                    }
                }
            }
        }
    }

    fn parts_of(&self, touch: &Touch) -> &[Part] {
        &self.parts[touch.parts[0] as usize..touch.parts[1] as usize]
    }

    /// Applies the impulses that the contacts start with.
    pub fn warm_start(&self, v: &mut [Block]) {
        for &place in &self.order {
            match place {
                Place::Touch(at) => {
                    let touch = &self.touches[at as usize];
                    if touch.wants.impulse != [0.0; 3] {
                        touch.apply([0, 1, 2], touch.wants.impulse, self.parts_of(touch), v);
                    }
                }
                Place::Rows(first, _) => {
                    (first..first + 3)
                        .for_each(|id| pgs::apply(&self.rows, id, self.rows.rows()[id as usize].impulse, v));
                }
            }
        }
    }

    /// One pass over all contacts. Returns the sum of squared impulse changes [N²·s²].
    pub fn sweep(&mut self, v: &mut [Block], pass: Pass) -> Real {
        let Self { order, pinches, touches, parts, rows, laws, .. } = self;
        let mut squares = 0.0;
        let mut pinches = &pinches[..];
        for (at, &place) in (0..).zip(&*order) {
            match pinches {
                [(second, _), ..] if at + 1 == *second => continue,
                [(second, pinch), rest @ ..] if at == *second => {
                    squares += pinch.visit(rows, v, pass);
                    pinches = rest;
                    continue;
                }
                _ => {}
            }
            match place {
                Place::Touch(at) => {
                    let touch = &mut touches[at as usize];
                    let parts = &parts[touch.parts[0] as usize..touch.parts[1] as usize];
                    squares += touch.slide(parts, v, pass);
                    squares += touch.solve_normal(parts, v, pass);
                }
                Place::Rows(first, u32::MAX) => squares = pgs::sweep_some(rows, first..first + 3, v, pass, squares),
                Place::Rows(first, own) => {
                    squares += slide_rows(rows, first, v, pass, &mut laws[own as usize]);
                    squares = pgs::sweep_some(rows, first + 2..first + 3, v, pass, squares);
                }
            }
        }
        squares
    }
}

/// Slip with bias, response matrix and radius of a contact with a friction law of its own. A bristle has one response
/// along both tangents, the larger: a step with it never overshoots.
fn by_law(
    law: &OwnLaw,
    normal: Real,
    slip: [Real; 2],
    impulse: [Real; 2],
    answers: [Real; 3],
    bias: [Real; 2],
) -> ([Real; 2], [Real; 3], Real) {
    let response = answers[0].max(answers[1]);
    if !response.is_finite() {
        return (slip, answers, 0.0);
    }
    let of = law.traction(normal, slip, impulse, response, bias);
    let answers = if law.law.has_bristle() { [response, response, 0.0] } else { answers };
    ([slip[0] + of.bias[0], slip[1] + of.bias[1]], answers, of.radius)
}

/// Both tangents of a contact that is rows, by its friction law.
fn slide_rows(rows: &mut RowBuffer, first: RowId, v: &mut [Block], pass: Pass, own: &mut (OwnLaw, Real)) -> Real {
    let [a, b, n] = [0, 1, 2].map(|k| rows.rows()[first as usize + k]);
    let k12: Real = rows.terms(first).iter().zip(rows.terms(first + 1)).map(|(a, b)| a.jacobian.dot(b.response)).sum();
    let bias = |row: &crate::constraint::Row| if pass == Pass::Correct { row.bias } else { row.bias - row.correction };
    let slip = [0, 1].map(|k| rows.relative_velocity(first + k, v));
    let (old, answers) = ([a.impulse, b.impulse], [a.diagonal, b.diagonal, k12]);
    let (slip, answers, radius) = by_law(&own.0, n.impulse, slip, old, answers, [bias(&a), bias(&b)]);
    own.1 = radius;
    let Some([a, b]) = pgs::held_in_disc(old, slip, answers, radius) else { return 0.0 };
    let (change_a, change_b) = (pgs::set(rows, first, a, v), pgs::set(rows, first + 1, b, v));
    change_a * change_a + change_b * change_b
}

impl Touch {
    /// Along tangents and normal; the fourth component is zero.
    #[inline(always)]
    fn relative_velocities(&self, parts: &[Part], v: &[Block]) -> Block {
        let [x, y, z] = &self.columns;
        let mut relative_velocities = [0.0; 4];
        for &(block, weight, _) in parts {
            let v = &v[block as usize];
            for k in 0..4 {
                relative_velocities[k] += (x[k] * weight) * v[0] + (y[k] * weight) * v[1] + (z[k] * weight) * v[2];
            }
        }
        relative_velocities
    }

    /// Applies impulses along some of the axes, one after the other.
    #[inline(always)]
    fn apply<const N: usize>(&self, axes: [usize; N], impulse: [Real; N], parts: &[Part], v: &mut [Block]) {
        for &(block, weight, inv_mass) in parts {
            let to = &mut v[block as usize];
            let mut after = *to;
            for (axis, impulse) in axes.into_iter().zip(impulse) {
                for k in 0..4 {
                    after[k] += ((self.axes[axis][k] * weight) * inv_mass) * impulse;
                }
            }
            // the fourth component is the inverse mass, which must not change
            *to = [after[0], after[1], after[2], to[3]];
        }
    }

    /// Both tangents, as `pgs::relax_disc`.
    fn slide(&mut self, parts: &[Part], v: &mut [Block], pass: Pass) -> Real {
        let mut reach = (self.wants.friction * self.wants.impulse[2]).max(0.0);
        let relative_velocities = self.relative_velocities(parts, v);
        // relaxing sweeps omit a bias that only corrects positions
        let bias = |k: usize| if pass == Pass::Correct { self.wants.bias[k] } else { 0.0 };
        let mut slip = [relative_velocities[0] + bias(0), relative_velocities[1] + bias(1)];
        let [old_a, old_b, normal] = self.wants.impulse;
        let mut answers = [self.diagonal[0], self.diagonal[1], self.between];
        if let Some(law) = &self.wants.law {
            let plain = [relative_velocities[0], relative_velocities[1]];
            (slip, answers, reach) = by_law(law, normal, plain, [old_a, old_b], answers, [bias(0), bias(1)]);
            self.radius = reach;
        }
        let Some([a, b]) = pgs::held_in_disc([old_a, old_b], slip, answers, reach) else { return 0.0 };
        let change = [a - old_a, b - old_b];
        (self.wants.impulse[0], self.wants.impulse[1]) = (a, b);
        self.apply([0, 1], change, parts, v);
        change[0] * change[0] + change[1] * change[1]
    }

    /// The normal.
    fn solve_normal(&mut self, parts: &[Part], v: &mut [Block], pass: Pass) -> Real {
        let relative_velocity = self.relative_velocities(parts, v)[2] + self.wants.bias[2];
        let relative_velocity =
            if pass == Pass::Correct { relative_velocity } else { relative_velocity - self.wants.correction };
        let old = self.wants.impulse[2];
        let impulse = (old - relative_velocity / self.diagonal[2]).max(0.0);
        if impulse == old {
            return 0.0;
        }
        self.wants.impulse[2] = impulse;
        self.apply([2], [impulse - old], parts, v);
        (impulse - old) * (impulse - old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Draws;

    #[test]
    fn compact_contacts_give_the_same_bits_as_rows() {
        let mut draws = Draws(21);
        let mut v: Vec<Block> = (0..40).map(|_| draws.vec().extend(2.0 + draws.number()).to_array()).collect();
        // some nodes are pinned
        v.iter_mut().step_by(7).for_each(|b| b[3] = 0.0);
        let (mut touches, mut rows) = (TouchRows::default(), TouchRows::default());
        let mut places = Vec::new();
        for contact in 0..60_u32 {
            let count = 1 + contact % 5;
            let part = |k: u32, w: Real| {
                let block = (contact * 11 + k * 3) % 40;
                (block, if k == 0 { 1.0 } else { w }, v[block as usize][3])
            };
            let parts: Vec<Part> = (0..count).map(|k| part(k, draws.number())).collect();
            let axes = [draws.vec(), draws.vec(), draws.vec()].map(|u| u.normalize_or_zero());
            let [slide, across, normal] = draws.vec().to_array();
            let bias = [0.1 * slide, 0.1 * across, normal];
            let impulse = [draws.number(), draws.number(), draws.number().abs()].map(|i| 0.1 * i);
            let law = (contact % 3 == 0).then(|| {
                let law = Law::all()[contact as usize % 8];
                OwnLaw { law, coefficients: Coefficients::both(0.5), memory: Memory::default(), h: 1e-3 }
            });
            let wants = Wants { bias, correction: bias[2].min(0.0), friction: 0.5, impulse, law };
            let write = |axis: Vec3, out: &mut Vec<Term>| {
                out.clear();
                out.extend(parts.iter().map(|&(block, weight, inv_mass)| {
                    let jacobian = axis * weight;
                    Term { block, jacobian, response: jacobian * inv_mass }
                }));
            };
            places.push((touches.push_touch(axes, &parts, wants), rows.push_rows(axes, wants, write)));
        }
        let mut w = v.clone();
        touches.warm_start(&mut v);
        rows.warm_start(&mut w);
        assert_eq!(v, w);
        for pass in [Pass::Correct, Pass::Correct, Pass::Relax] {
            assert_eq!(touches.sweep(&mut v, pass), rows.sweep(&mut w, pass));
            assert_eq!(v, w);
            for &(touch, row) in &places {
                assert_eq!(touches.impulses(touch), rows.impulses(row));
                assert_eq!(touches.relative_velocities(touch, &v), rows.relative_velocities(row, &w));
                assert_eq!(touches.answer(touch), rows.answer(row));
            }
        }
    }
}
