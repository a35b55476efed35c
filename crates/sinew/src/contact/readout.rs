//! The readout of a step: the impulses that contacts and constraints transmitted, summed over the substeps by every
//! route. Reported forces are these sums divided by the step, hence means over the step: Σ F dt is the momentum that
//! was exchanged.

use crate::math::{Real, Vec3};
use crate::state::{ContactMemory, contact_flag};
use crate::work::PointForce;

/// Impulse at one contact point in a substep or a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointImpulse {
    /// On b [N·s].
    pub impulse: Vec3,
    /// Its part along the normal [N·s].
    pub normal: Real,
}

/// Impulse and angular impulse of a constraint on its second body [N·s, N·m·s].
pub(crate) type Wrench = [Vec3; 2];

/// Sums of a step while it runs; mean forces once it is closed.
#[derive(Debug, Default)]
pub(crate) struct Readout {
    /// Of each contact. (contacts)
    contacts: Vec<PointImpulse>,
    /// Of each point; empty unless `Settings::point_forces`. (contacts)
    points: Vec<[PointForce; 4]>,
    /// Of each constraint row [N·s, N·m·s, Pa·s]. (as State)
    rows: Vec<Real>,
    /// Of each constraint. (slots of constraints)
    wrenches: Vec<Wrench>,
}

impl Readout {
    /// Begins a step with this many contacts, constraint rows and constraints.
    pub fn begin(&mut self, contacts: usize, rows: usize, constraints: usize, by_point: bool) {
        self.contacts.clear();
        self.contacts.resize(contacts, PointImpulse::default());
        self.points.clear();
        if by_point {
            self.points.resize(contacts, [PointForce::default(); 4]);
        }
        self.rows.clear();
        self.rows.resize(rows, 0.0);
        self.wrenches.clear();
        self.wrenches.resize(constraints, [Vec3::ZERO; 2]);
    }

    /// Adds an impulse at a point of a contact.
    pub fn add(&mut self, contact: u32, point: u32, more: PointImpulse) {
        self.add_manifold(contact, more);
        self.add_point(contact, point, more);
    }

    /// Adds the impulse of all points of a contact, for routes that sum points only on request.
    pub fn add_manifold(&mut self, contact: u32, more: PointImpulse) {
        let sum = &mut self.contacts[contact as usize];
        (sum.impulse, sum.normal) = (sum.impulse + more.impulse, sum.normal + more.normal);
    }

    /// Adds the impulse of a point whose contact was added as a whole.
    pub fn add_point(&mut self, contact: u32, point: u32, more: PointImpulse) {
        if let Some(points) = self.points.get_mut(contact as usize) {
            let sum = &mut points[point as usize];
            (sum.force, sum.normal) = (sum.force + more.impulse, sum.normal + more.normal);
        }
    }

    /// Position [m], normal and gap [m] of a point at the end of the step.
    pub fn locate(&mut self, contact: u32, point: u32, at: Vec3, direction: Vec3, gap: Real) {
        if let Some(points) = self.points.get_mut(contact as usize) {
            let to = &mut points[point as usize];
            (to.point, to.direction, to.gap) = (at, direction, gap);
        }
    }

    /// Appends a contact that was found after the step began.
    pub fn push(&mut self, sum: PointImpulse, at: Vec3, direction: Vec3, gap: Real, by_point: bool) {
        self.contacts.push(sum);
        if by_point {
            let mut points = [PointForce::default(); 4];
            points[0] = PointForce { point: at, direction, gap, normal: sum.normal, force: sum.impulse };
            self.points.push(points);
        }
    }

    /// Exchanges two contacts, when the list of contacts is sorted.
    pub fn swap(&mut self, a: usize, b: usize) {
        self.contacts.swap(a, b);
        if !self.points.is_empty() {
            self.points.swap(a, b);
        }
    }

    /// Adds the linear and angular impulse of a row of a constraint.
    pub fn add_constraint(&mut self, constraint: u32, wrench: Wrench) {
        let sum = &mut self.wrenches[constraint as usize];
        *sum = [sum[0] + wrench[0], sum[1] + wrench[1]];
    }

    /// Adds the impulse of a constraint row.
    pub fn add_row(&mut self, row: usize, impulse: Real) {
        self.rows[row] += impulse;
    }

    /// Sets or clears the flag of a contact that transmitted an impulse in the step. The impulse of a contact that opens may
    /// be friction alone: its normal row is solved after its tangents.
    pub fn mark_touching(&self, contact: u32, m: &mut ContactMemory) {
        let sum = self.contacts[contact as usize];
        let pressed = sum.normal > 0.0 || sum.impulse != Vec3::ZERO;
        m.flags = if pressed { m.flags | contact_flag::TOUCHING } else { m.flags & !contact_flag::TOUCHING };
    }

    /// Ends the step: sums become means over `dt` [s].
    pub fn close(&mut self, dt: Real) {
        let per = 1.0 / dt;
        for c in &mut self.contacts {
            (c.impulse, c.normal) = (c.impulse * per, c.normal * per);
        }
        for p in self.points.iter_mut().flatten() {
            (p.force, p.normal) = (p.force * per, p.normal * per);
        }
        self.rows.iter_mut().for_each(|r| *r *= per);
        self.wrenches.iter_mut().for_each(|w| *w = w.map(|v| v * per));
    }

    /// Mean force on b of a contact and its normal part [N]. After `close`.
    pub fn force(&self, contact: usize) -> (Vec3, Real) {
        let c = self.contacts[contact];
        (c.impulse, c.normal)
    }

    /// Mean forces at the points of a contact; empty unless requested. After `close`.
    pub fn points(&self, contact: usize, count: u32) -> &[PointForce] {
        self.points.get(contact).map_or(&[][..], |points| &points[..count as usize])
    }

    /// Drops the forces of constraint rows: rows were renumbered since the step.
    pub fn forget_rows(&mut self) {
        self.rows.clear();
    }

    /// Mean forces of constraint rows [N, N·m, Pa]. After `close`.
    pub fn rows(&self) -> &[Real] {
        &self.rows
    }

    /// Mean force and torque of a constraint [N, N·m]. After `close`.
    pub fn wrench(&self, constraint: u32) -> Wrench {
        self.wrenches[constraint as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_are_means_over_the_step() {
        let mut readout = Readout::default();
        readout.begin(2, 1, 1, true);
        for k in 0..4 {
            let more = PointImpulse { impulse: Vec3::new(0.0, k as Real, 0.5), normal: k as Real };
            readout.add(1, 2, more);
            readout.add_row(0, 0.25);
            readout.add_constraint(0, [Vec3::X, Vec3::Y]);
        }
        readout.close(0.5);
        assert_eq!(readout.force(0), (Vec3::ZERO, 0.0));
        assert_eq!(readout.force(1), (Vec3::new(0.0, 12.0, 4.0), 12.0));
        assert_eq!(readout.points(1, 3)[2].force, Vec3::new(0.0, 12.0, 4.0));
        assert_eq!(readout.rows(), [2.0]);
        assert_eq!(readout.wrench(0), [Vec3::X * 8.0, Vec3::Y * 8.0]);
    }
}
