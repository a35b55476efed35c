//! Projected Gauss-Seidel over rows: the reference solver. Numbers only; every faster path is tested against this file.
//!
//! For each row in id order, with Δ the change of its impulse λ:
//!
//! ```text
//!   Δ = −(J·v + bias + softness·λ) / diagonal,   λ ← clamp(λ + Δ),   v ← v + response·(change of λ)
//! ```
//!
//! (ICD Alg. 1 with the errata: λ is an impulse and v already contains external and internal forces.)

use crate::constraint::{Bounds, Row, RowBuffer, RowId};
use crate::math::{Block, Real};
use std::ops::Range;

/// Which part of the bias a sweep uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Full bias: corrects position errors.
    Correct,
    /// No correction and no softness: removes the velocity added by the correction.
    Relax,
}

/// Applies the impulses stored in the rows (warm start).
pub fn warm_start(rows: &RowBuffer, v: &mut [Block]) {
    for id in 0..rows.len() as RowId {
        apply(rows, id, rows.rows()[id as usize].impulse, v);
    }
}

/// One pass over all rows in id order but those of `direct.rs`. Returns the sum of squared impulse changes [N²·s²] for the reported residual.
pub fn sweep(rows: &mut RowBuffer, v: &mut [Block], pass: Pass) -> Real {
    let all = 0..rows.len() as RowId;
    sweep_some(rows, all, v, pass, 0.0)
}

/// The same over a range of rows, added to the given sum. A disc must not be split.
pub(crate) fn sweep_some(rows: &mut RowBuffer, some: Range<RowId>, v: &mut [Block], pass: Pass, squares: Real) -> Real {
    let mut squares = squares;
    let mut id = some.start;
    while id < some.end {
        let Row { bounds, direct, .. } = rows.rows()[id as usize];
        if direct {
            id += 1;
            continue;
        }
        if let Bounds::Disc { .. } = bounds {
            squares += relax_disc(rows, id, disc_radius(rows, id), v, pass);
            id += 2;
        } else {
            let wanted = wanted(rows, id, v, pass);
            let clamped = match bounds {
                Bounds::Free => wanted,
                Bounds::AtLeast(low) => wanted.max(low),
                Bounds::Between { low, high } => wanted.clamp(low, high),
                Bounds::Disc { .. } | Bounds::Mate => unreachable!("handled above"),
            };
            let change = set(rows, id, clamped, v);
            squares += change * change;
            id += 1;
        }
    }
    squares
}

/// Radius of the disc that begins with this row, at the present normal impulse [N·s]; 0 for other rows.
pub(crate) fn disc_radius(rows: &RowBuffer, id: RowId) -> Real {
    let Bounds::Disc { normal, friction, radius } = rows.rows()[id as usize].bounds else { return 0.0 };
    (friction * rows.rows()[normal as usize].impulse + radius).max(0.0)
}

/// The impulse that would satisfy this row alone.
pub(crate) fn wanted(rows: &RowBuffer, id: RowId, v: &[Block], pass: Pass) -> Real {
    let row = rows.rows()[id as usize];
    let relative_velocity = rows.relative_velocity(id, v);
    if pass == Pass::Correct || row.spring {
        row.impulse - (relative_velocity + row.bias + row.softness * row.impulse) / row.diagonal
    } else {
        row.impulse - (relative_velocity + row.bias - row.correction) / (row.diagonal - row.softness)
    }
}

/// Two tangential rows together. Inside the disc both are solved at once through the 2x2 matrix of their responses;
/// outside, a step with its largest eigenvalue, projected onto the disc, keeps friction opposite to slip (maximal
/// dissipation).
pub(crate) fn relax_disc(rows: &mut RowBuffer, id: RowId, reach: Real, v: &mut [Block], pass: Pass) -> Real {
    let slip = |row: RowId| {
        let r = rows.rows()[row as usize];
        rows.relative_velocity(row, v) + if pass == Pass::Correct { r.bias } else { r.bias - r.correction }
    };
    let (slip_a, slip_b) = (slip(id), slip(id + 1));
    let [old_a, old_b] = [rows.rows()[id as usize].impulse, rows.rows()[id as usize + 1].impulse];
    let (k11, k22) = (rows.rows()[id as usize].diagonal, rows.rows()[id as usize + 1].diagonal);
    let k12: Real = rows.terms(id).iter().zip(rows.terms(id + 1)).map(|(a, b)| a.jacobian.dot(b.response)).sum();
    let Some([a, b]) = held_in_disc([old_a, old_b], [slip_a, slip_b], [k11, k22, k12], reach) else { return 0.0 };
    let (change_a, change_b) = (set(rows, id, a, v), set(rows, id + 1, b, v));
    change_a * change_a + change_b * change_b
}

/// Impulses of two tangential rows projected onto a disc, from their present impulses, their slip and their 2x2
/// response matrix.
#[inline(always)]
pub(crate) fn held_in_disc(
    [old_a, old_b]: [Real; 2],
    [slip_a, slip_b]: [Real; 2],
    [k11, k22, k12]: [Real; 3],
    reach: Real,
) -> Option<[Real; 2]> {
    let det = k11 * k22 - k12 * k12;
    if !det.is_finite() || det <= 0.0 {
        return None;
    }
    let mut a = old_a - (k22 * slip_a - k12 * slip_b) / det;
    let mut b = old_b - (k11 * slip_b - k12 * slip_a) / det;
    if a * a + b * b > reach * reach {
        let (mean, half) = (0.5 * (k11 + k22), 0.5 * (k11 - k22));
        let largest = mean + (half * half + k12 * k12).sqrt();
        (a, b) = (old_a - slip_a / largest, old_b - slip_b / largest);
        let length = (a * a + b * b).sqrt();
        let scale = if length > reach { reach / length } else { 1.0 };
        (a, b) = (a * scale, b * scale);
    }
    Some([a, b])
}

/// Stores an impulse and applies its change to every block of the row; returns the change.
pub(crate) fn set(rows: &mut RowBuffer, id: RowId, impulse: Real, v: &mut [Block]) -> Real {
    let row = &mut rows.rows_mut()[id as usize];
    let change = impulse - row.impulse;
    row.impulse = impulse;
    apply(rows, id, change, v);
    change
}

/// Applies an impulse to the blocks of a row without adding it to the accumulated impulse.
pub(crate) fn apply(rows: &RowBuffer, id: RowId, impulse: Real, v: &mut [Block]) {
    for t in rows.terms(id) {
        let block = &mut v[t.block as usize];
        block[0] += t.response.x * impulse;
        block[1] += t.response.y * impulse;
        block[2] += t.response.z * impulse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::Term;
    use crate::math::Vec3;

    fn node(block: u32, jacobian: Vec3, inv_mass: Real) -> Term {
        Term { block, jacobian, response: jacobian * inv_mass }
    }

    #[test]
    fn one_equality_row_is_exact_in_one_sweep() {
        let mut rows = RowBuffer::default();
        rows.push(&[node(0, -Vec3::X, 1.0), node(1, Vec3::X, 0.5)], 0.0, 0.0, 0.0, Bounds::Free);
        let mut v = [[1.0, 0.0, 0.0, 0.0], [0.0; 4]];
        sweep(&mut rows, &mut v, Pass::Correct);
        // inelastic collision of 1 kg at 1 m/s with 2 kg at rest
        assert!((v[0][0] - 1.0 / 3.0).abs() < 1e-6 && (v[1][0] - 1.0 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn disc_keeps_the_direction_of_slip() {
        let mut rows = RowBuffer::default();
        let n = rows.push(&[node(0, Vec3::Y, 1.0)], 0.0, 0.0, 0.0, Bounds::AtLeast(0.0));
        rows.push(&[node(0, Vec3::X, 1.0)], 0.0, 0.0, 0.0, Bounds::Disc { normal: n, friction: 0.5, radius: 0.0 });
        rows.push(&[node(0, Vec3::Z, 1.0)], 0.0, 0.0, 0.0, Bounds::Mate);
        let mut v = [[3.0, -1.0, 4.0, 0.0]];
        sweep(&mut rows, &mut v, Pass::Correct);
        // friction 0.5 · 1 N·s against (3, 4): 0.3 and 0.4
        assert!((v[0][0] - 2.7).abs() < 1e-5 && (v[0][2] - 3.6).abs() < 1e-5 && v[0][1].abs() < 1e-6);
    }

    #[test]
    fn a_row_without_response_does_nothing() {
        let mut rows = RowBuffer::default();
        rows.push(&[node(0, Vec3::X, 0.0)], 5.0, 0.0, 0.0, Bounds::Free);
        let mut v = [[1.0, 0.0, 0.0, 0.0]];
        sweep(&mut rows, &mut v, Pass::Correct);
        assert_eq!(v[0][0], 1.0);
        assert_eq!(rows.rows()[0].impulse, 0.0);
    }
}
