//! Two contacts that pinch one vertex, edge or triangle of a sheet or cord between them, solved together.
//!
//! With the inverse mass w of the pinched nodes and those of the bodies, 1/M_a and 1/M_b, the normals of both contacts are
//! coupled by
//!
//! ```text
//!   K = | w + 1/M_a     −w      |        one after the other, the error falls in a visit by  1/((1 + 1/(w M_a)) (1 + 1/(w M_b)))
//!       |    −w      w + 1/M_b  |
//! ```
//!
//! A node of 16 mg under a plate of 50 g on the ground takes thousands of visits: the plate saw the inertia of the node and
//! not the ground behind it, and swung by the thickness of the sheet. Together they are one problem of two unknowns, λ ≥ 0
//! and residual ≥ 0, with four cases. The mass of the nodes cancels in it. Both friction forces are solved at once too
//! while both stick; a contact that slips transmits a known force, and then they are solved one after the other.
//!
//! In double precision: impulses of the bodies are larger than those of the nodes by the ratio of the masses.

use crate::constraint::{RowBuffer, RowId};
use crate::math::{Block, Real};
use crate::solver::pgs::{self, Pass};
use crate::tuning::pinch::IMMOVABLE;

/// Two contacts of three rows each: two tangents and the normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pinch {
    first: [RowId; 2],
    /// Responses of the normals: K_aa, K_bb, K_ab [1/kg].
    normal: [f64; 3],
    /// Inverse of the responses of the tangents, a then b [kg].
    tangents: [[f64; 4]; 4],
}

impl Pinch {
    /// None for contacts that do not act on common nodes, or between bodies that do not move.
    pub fn new(rows: &RowBuffer, first: [RowId; 2]) -> Option<Self> {
        let [a, b] = first;
        let k = |i: RowId, j: RowId| response(rows, i, j);
        let normal = [k(a + 2, a + 2), k(b + 2, b + 2), k(a + 2, b + 2)];
        let solvable = normal[0] * normal[1] - normal[2] * normal[2] > IMMOVABLE * normal[0] * normal[1];
        let ids = [a, a + 1, b, b + 1];
        let tangents = inverse(ids.map(|i| ids.map(|j| k(i, j))));
        let friction = rows.rows()[a as usize].diagonal.is_finite() && rows.rows()[b as usize].diagonal.is_finite();
        (solvable && friction && normal[2] != 0.0).then_some(())?;
        Some(Self { first, normal, tangents: tangents? })
    }

    /// A visit of both contacts. Returns the sum of squared impulse changes [N²·s²].
    pub fn visit(&self, rows: &mut RowBuffer, v: &mut [Block], pass: Pass) -> Real {
        self.slide(rows, v, pass) + self.press(rows, v, pass)
    }

    /// Friction of both.
    fn slide(&self, rows: &mut RowBuffer, v: &mut [Block], pass: Pass) -> Real {
        let [a, b] = self.first;
        let ids = [a, a + 1, b, b + 1];
        let reach = [a, b].map(|id| pgs::disc_radius(rows, id));
        let error = ids.map(|id| residual(rows, id, v, pass));
        let old = ids.map(|id| wide(rows.rows()[id as usize].impulse));
        let new: [f64; 4] =
            std::array::from_fn(|i| old[i] - (0..4).map(|j| self.tangents[i][j] * error[j]).sum::<f64>());
        let inside = |k: usize| new[2 * k].hypot(new[2 * k + 1]) <= wide(reach[k]);
        if inside(0) && inside(1) {
            return apply(rows, ids, new, v);
        }
        [a, b].into_iter().zip(reach).map(|(id, reach)| pgs::relax_disc(rows, id, reach, v, pass)).sum()
    }

    /// Normal impulses of both.
    fn press(&self, rows: &mut RowBuffer, v: &mut [Block], pass: Pass) -> Real {
        let ids = self.first.map(|id| id + 2);
        let error = ids.map(|id| residual(rows, id, v, pass));
        let old = ids.map(|id| wide(rows.rows()[id as usize].impulse));
        apply(rows, ids, complementary(self.normal, error, old), v)
    }
}

/// λ ≥ 0 with residual ≥ 0 and one of both zero, from the residuals at the present λ.
fn complementary([aa, bb, ab]: [f64; 3], [ra, rb]: [f64; 2], [a, b]: [f64; 2]) -> [f64; 2] {
    let det = aa * bb - ab * ab;
    let both = [a - (bb * ra - ab * rb) / det, b - (aa * rb - ab * ra) / det];
    if both[0] >= 0.0 && both[1] >= 0.0 {
        return both;
    }
    // residuals without any impulse
    let (fa, fb) = (ra - aa * a - ab * b, rb - ab * a - bb * b);
    let [only_a, only_b] = [-fa / aa, -fb / bb];
    if only_a >= 0.0 && fb + ab * only_a >= 0.0 {
        [only_a, 0.0]
    } else if only_b >= 0.0 && fa + ab * only_b >= 0.0 {
        [0.0, only_b]
    } else {
        [0.0, 0.0]
    }
}

/// Velocity along row i by a unit impulse of row j [1/kg].
fn response(rows: &RowBuffer, i: RowId, j: RowId) -> f64 {
    let (of, by) = (rows.terms(i), rows.terms(j));
    let of_block = |t: &crate::constraint::Term| {
        let on = by.iter().find(|s| s.block == t.block);
        on.map_or(0.0, |s| (0..3).map(|k| wide(t.jacobian[k]) * wide(s.response[k])).sum())
    };
    of.iter().map(of_block).sum()
}

/// Velocity along a row plus its bias [m/s].
fn residual(rows: &RowBuffer, id: RowId, v: &[Block], pass: Pass) -> f64 {
    let row = rows.rows()[id as usize];
    let along = |t: &crate::constraint::Term| {
        let v = v[t.block as usize];
        (0..3).map(|k| wide(t.jacobian[k]) * wide(v[k])).sum::<f64>()
    };
    let bias = if pass == Pass::Correct { row.bias } else { row.bias - row.correction };
    rows.terms(id).iter().map(along).sum::<f64>() + wide(bias)
}

/// Stores impulses and applies their changes, those on a common block as one sum.
fn apply<const N: usize>(rows: &mut RowBuffer, ids: [RowId; N], new: [f64; N], v: &mut [Block]) -> Real {
    let mut change = [0.0; N];
    for k in 0..N {
        let row = &mut rows.rows_mut()[ids[k] as usize];
        // the rounding of the stored impulse is large beside the mass of a node
        change[k] = new[k] - wide(row.impulse);
        row.impulse = narrow(new[k]);
    }
    for k in 0..N {
        for t in rows.terms(ids[k]) {
            let has = |id: RowId| rows.terms(id).iter().find(|s| s.block == t.block);
            if (0..k).any(|before| has(ids[before]).is_some()) {
                continue;
            }
            let block = &mut v[t.block as usize];
            let mut sum = [wide(block[0]), wide(block[1]), wide(block[2])];
            for (id, change) in ids.iter().zip(change).skip(k) {
                if let Some(s) = has(*id) {
                    (0..3).for_each(|c| sum[c] += wide(s.response[c]) * change);
                }
            }
            (block[0], block[1], block[2]) = (narrow(sum[0]), narrow(sum[1]), narrow(sum[2]));
        }
    }
    narrow(change.iter().map(|c| c * c).sum())
}

/// Inverse of a symmetric positive matrix, by elimination; none for a singular one.
fn inverse(mut m: [[f64; 4]; 4]) -> Option<[[f64; 4]; 4]> {
    let mut out = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    let size: [f64; 4] = std::array::from_fn(|k| m[k][k]);
    for k in 0..4 {
        let pivot = m[k][k];
        if !(pivot > IMMOVABLE * size[k]) {
            return None;
        }
        for j in 0..4 {
            (m[k][j], out[k][j]) = (m[k][j] / pivot, out[k][j] / pivot);
        }
        for i in (0..4).filter(|&i| i != k) {
            let share = m[i][k];
            for j in 0..4 {
                (m[i][j], out[i][j]) = (m[i][j] - share * m[k][j], out[i][j] - share * out[k][j]);
            }
        }
    }
    Some(out)
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn wide(x: Real) -> f64 {
    x as f64
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn narrow(x: f64) -> Real {
    x as Real
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::{Bounds, Term};
    use crate::math::{Draws, Vec3};

    /// A light node, block 0, between two bodies; their velocities along y.
    fn pinched(w: Real, inv_mass: [Real; 2], friction: Real) -> RowBuffer {
        let mut rows = RowBuffer::default();
        for (body, normal) in [Vec3::Y, -Vec3::Y].into_iter().enumerate() {
            let first = rows.len() as RowId;
            let disc = Bounds::Disc { normal: first + 2, friction, radius: 0.0 };
            for (axis, bounds) in [(Vec3::X, disc), (Vec3::Z, Bounds::Mate), (normal, Bounds::AtLeast(0.0))] {
                let term = |block: u32, jacobian: Vec3, w: Real| Term { block, jacobian, response: jacobian * w };
                let terms = [term(0, axis, w), term(1 + body as u32, -axis, inv_mass[body])];
                rows.push(&terms, 0.0, 0.0, 0.0, bounds);
            }
        }
        rows
    }

    /// Both contacts press or open in one visit, whatever the ratio of the masses.
    #[test]
    fn a_visit_solves_both_normals() {
        let mut draws = Draws(5);
        for case in 0..200 {
            let ratio = Real::powf(10.0, 3.0 * draws.number());
            let inv_mass = [if case % 3 == 0 { 0.0 } else { 1.0 + 0.5 * draws.number() }, 1.0 + 0.5 * draws.number()];
            let w = 10.0 * ratio;
            let mut rows = pinched(w, inv_mass, 0.5);
            let speeds = draws.vec() + draws.vec();
            let at = |y: Real| [0.0, y, 0.0, 0.0];
            let mut v = vec![at(speeds.x), at(speeds.y), at(speeds.z)];
            let momentum = |v: &[Block]| {
                v[0][1] / w + v[2][1] / inv_mass[1] + if inv_mass[0] > 0.0 { v[1][1] / inv_mass[0] } else { 0.0 }
            };
            let before = momentum(&v);
            let pinch = Pinch::new(&rows, [0, 3]).expect("a body moves");
            pinch.visit(&mut rows, &mut v, Pass::Correct);
            let impulses = [2, 5].map(|id: usize| rows.rows()[id].impulse);
            let gaps = [v[0][1] - v[1][1], v[2][1] - v[0][1]];
            for (impulse, gap) in impulses.into_iter().zip(gaps) {
                let rounding = 1e-5;
                assert!(impulse >= 0.0 && gap > -rounding, "{case}: {impulses:?} {gaps:?}");
                assert!(impulse == 0.0 || gap < rounding, "{case}: {impulses:?} {gaps:?}");
            }
            assert!(inv_mass[0] == 0.0 || (momentum(&v) - before).abs() < 1e-5, "{case}");
        }
    }

    /// A plate that slides over the node on fixed ground is held by friction of both contacts, up to the smaller cone.
    #[test]
    fn friction_is_transmitted_through_the_node() {
        for (push, sticks) in [(0.3, true), (0.8, false)] {
            let mut rows = pinched(1e4, [0.0, 1.0], 0.5);
            for id in [2, 5] {
                rows.rows_mut()[id].impulse = 1.0;
            }
            let mut v = vec![[0.0; 4], [0.0; 4], [push, 0.0, 0.0, 0.0]];
            let pinch = Pinch::new(&rows, [0, 3]).expect("the plate moves");
            pinch.visit(&mut rows, &mut v, Pass::Correct);
            let slip = v[2][0];
            assert!((slip.abs() < 1e-5) == sticks && (slip - push) <= 0.0, "{push}: {slip}");
            assert!((0..6).step_by(3).all(|id| rows.rows()[id].impulse.abs() <= 0.5 + 1e-6));
        }
    }

    #[test]
    fn between_immovable_bodies_there_is_no_pair() {
        assert!(Pinch::new(&pinched(1e4, [0.0; 2], 0.5), [0, 3]).is_none());
        // nor on different nodes
        let mut apart = RowBuffer::default();
        for block in 0..2 {
            let normal = apart.len() as RowId + 2;
            for (axis, bounds) in [
                (Vec3::X, Bounds::Disc { normal, friction: 0.5, radius: 0.0 }),
                (Vec3::Z, Bounds::Mate),
                (Vec3::Y, Bounds::AtLeast(0.0)),
            ] {
                apart.push(&[Term { block, jacobian: axis, response: axis }], 0.0, 0.0, 0.0, bounds);
            }
        }
        assert!(Pinch::new(&apart, [0, 3]).is_none());
    }
}
