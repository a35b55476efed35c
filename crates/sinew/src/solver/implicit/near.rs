//! Selection of the rows of a solve. A cloth or a lattice has thousands of slack strings and open gaps: their impulses
//! are zero in every pass, and evaluating them costs more than the CG.
//!
//! A row is left out when at the initial velocities of the solve it is open by more than forces could close. Before a
//! solve ends it checks all rows left out and adds those that would close. (A solve that reaches its limit of passes or
//! iterations does not: those rows then become active a substep late, and the guard acts on gaps that would close.)

use super::System;
use super::space::{Space, relative_velocity};
use crate::constraint::{Bounds, RowBuffer, RowId};
use crate::math::{Block, Real, Vec3, vec};
use crate::tuning::near::REACH;

impl Space {
    /// Leaves out rows that are too far open to become active in this solve; must be called after `begin`.
    pub(super) fn leave_out(&mut self, system: &System<'_>, rows: &RowBuffer, v: &[Block]) {
        let kick = self.largest_kick(system);
        let Self { near, far, .. } = self;
        near.clear();
        far.clear();
        let mut open = false;
        for (id, row) in rows.rows().iter().enumerate() {
            // friction follows its normal row
            open = match row.bounds {
                Bounds::Disc { normal, .. } => open && normal as usize + 1 == id,
                Bounds::Mate => open,
                _ => row.impulse == 0.0 && opening(rows, id as RowId, v) > REACH * kick,
            };
            if open { far.push(id as u32) } else { near.push(id as u32) }
        }
    }

    /// Adds the rows left out that would close; true when there are any.
    pub(super) fn wake(&mut self, rows: &RowBuffer, v: &[Block]) -> bool {
        let Self { near, far, .. } = self;
        let asleep = far.len();
        let mut closes = false;
        far.retain(|&id| {
            if !matches!(rows.rows()[id as usize].bounds, Bounds::Disc { .. } | Bounds::Mate) {
                closes = opening(rows, id, v) < 0.0;
            }
            if closes {
                near.push(id);
            }
            !closes
        });
        let woken = far.len() < asleep;
        if woken {
            near.sort_unstable();
        }
        woken
    }

    /// The largest velocity change of a body's centre of mass by forces [m/s]: elastic forces do not contribute.
    fn largest_kick(&self, system: &System<'_>) -> Real {
        let mut largest: Real = 0.0;
        for placed in system.operators {
            let (mut push, mut total) = (Vec3::ZERO, 0.0);
            let points = placed.blocks().zip(placed.operator.mass()).take(placed.operator.point_count());
            for (b, mass) in points.filter(|(_, mass)| mass.is_finite()) {
                (push, total) = (push + vec(self.forces[b]), total + mass);
            }
            largest = largest.max(push.length() / total.max(Real::MIN_POSITIVE));
        }
        for unknown in system.rigid_unknowns {
            largest = largest.max(vec(self.forces[unknown.block as usize]).length() / unknown.mass);
        }
        largest
    }
}

/// Distance of a row from becoming active, as a velocity [m/s]; minus infinity for a two-sided row.
fn opening(rows: &RowBuffer, id: RowId, v: &[Block]) -> Real {
    let row = &rows.rows()[id as usize];
    let sign = match row.bounds {
        Bounds::AtLeast(0.0) | Bounds::Between { low: 0.0, .. } => 1.0,
        Bounds::Between { high: 0.0, .. } => -1.0,
        _ => return Real::NEG_INFINITY,
    };
    sign * (relative_velocity(rows.terms(id), v) + row.bias)
}

#[cfg(test)]
mod tests {
    use super::super::{RigidUnknown, Scratch, Settings, regularize, solve};
    use super::*;
    use crate::constraint::Term;

    /// Three balls of 1 kg in a row, the first at 2 m/s; between neighbours a gap row with friction.
    fn row_of_balls(gaps: [Real; 2]) -> (Vec<RigidUnknown>, RowBuffer, Vec<Block>) {
        let speeds = [2.0, 0.0, 0.0].map(|v| Vec3::X * v);
        let rigid_unknowns =
            (0..3).map(|k| RigidUnknown { block: k, mass: 1.0, inertia: None, free: [speeds[k as usize], Vec3::ZERO] });
        let mut rows = RowBuffer::default();
        for (k, gap) in gaps.into_iter().enumerate() {
            let terms = |axis: Vec3| {
                [(k as u32, -axis), (k as u32 + 1, axis)].map(|(block, j)| Term { block, jacobian: j, response: j })
            };
            let normal = rows.push(&terms(Vec3::X), gap, 0.0, 0.0, Bounds::AtLeast(0.0));
            let disc = Bounds::Disc { normal, friction: 0.5, radius: 0.0 };
            rows.push(&terms(Vec3::Y), 0.0, 0.0, 0.0, disc);
            rows.push(&terms(Vec3::Z), 0.0, 0.0, 0.0, Bounds::Mate);
        }
        (rigid_unknowns.collect(), rows, speeds.map(|v| [v.x, v.y, v.z, 0.0]).to_vec())
    }

    fn solved(gaps: [Real; 2]) -> (Vec<Real>, usize) {
        let (rigid_unknowns, mut rows, mut v) = row_of_balls(gaps);
        let (settings, mut scratch) = (Settings { guard: 0, ..Settings::default() }, Scratch::default());
        let system = System { operators: &[], rigid_unknowns: &rigid_unknowns };
        regularize(&system, &mut rows, v.len(), &settings, &mut scratch);
        solve(&system, &mut rows, &mut v, &settings, &mut scratch);
        (v.iter().map(|v| v[0]).collect(), scratch.fine.far.len())
    }

    #[test]
    fn a_gap_that_stays_open_is_left_out_with_its_friction() {
        // the first pair collides and continues with 1 m/s; the second may close by 5 m/s
        let (v, far) = solved([0.0, 5.0]);
        assert_eq!(far, 3);
        assert!((v[0] - 1.0).abs() < 2e-3 && (v[1] - 1.0).abs() < 2e-3 && v[2] == 0.0, "{v:?}");
    }

    #[test]
    fn a_gap_that_closes_only_by_an_impact_is_added_again() {
        // at the start the second pair is at rest: only after the collision of the first does it approach, by more than
        // its gap
        let (v, far) = solved([0.0, 0.1]);
        assert_eq!(far, 0);
        // 2 = a + a + b with b = a - 0.1
        let (a, b) = (0.7, 0.6);
        assert!((v[0] - a).abs() < 3e-3 && (v[1] - a).abs() < 3e-3 && (v[2] - b).abs() < 3e-3, "{v:?}");
    }

    #[test]
    fn a_string_is_open_while_it_is_slack_and_a_joint_never() {
        let v = [[2.0, 0.0, 0.0, 0.0]];
        let mut rows = RowBuffer::default();
        let term = [Term { block: 0, jacobian: Vec3::X, response: Vec3::X }];
        for bounds in [Bounds::Between { low: -9.0, high: 0.0 }, Bounds::AtLeast(0.0), Bounds::Free] {
            rows.push(&term, -3.0, 0.0, 0.0, bounds);
        }
        // J·v + bias = 2 - 3: a string is open by 1 m/s, a gap is closed by the same amount
        assert_eq!([0, 1, 2].map(|id| opening(&rows, id, &v)), [1.0, -1.0, Real::NEG_INFINITY]);
    }
}
