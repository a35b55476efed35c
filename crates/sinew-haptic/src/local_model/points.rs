//! Memory of the contact points between ticks, and the displacement of the matter below them.

use crate::snapshot::{MOST_POINTS, Snapshot};
use sinew_math::Wide3;

/// Where two material points stick together: the plastic state of friction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Anchor {
    /// False without contact: the next contact sets it.
    pub held: bool,
    /// Material point of the tool, in tool axes [m].
    pub local: Wide3,
    /// From the material point of the other side to it while nothing slips, in axes of the other side [m].
    pub offset: Wide3,
}

/// Forces, relaxed forces and anchors by contact point. Displacements are f32: 1e-10 m, and twice as many at a time.
#[derive(Clone, Debug)]
pub(super) struct Points {
    identity: [u64; MOST_POINTS],
    count: usize,
    /// Force on the tool [N].
    pub force: [Wide3; MOST_POINTS],
    /// Force that was held since the last tick [N].
    pub held: [Wide3; MOST_POINTS],
    /// Elastic force at the end of the last tick [N].
    elastic: [Wide3; MOST_POINTS],
    /// Normal at the last evaluation.
    pub normal: [Wide3; MOST_POINTS],
    pub anchor: [Anchor; MOST_POINTS],
    /// T/(T + β): part of a change of force that is elastic within a tick.
    share: [f64; MOST_POINTS],
    /// Displacement into the body along the normals, Σ C (e − e_k) [m].
    sunk: [f32; MOST_POINTS],
    /// The same across them, by axis [m].
    shifted: [[f32; MOST_POINTS]; 3],
    /// C e_k, along and across: with the displacement, C e [m].
    start: [(f64, Wide3); MOST_POINTS],
    /// Displacement at the end of the last tick.
    last: [(f64, Wide3); MOST_POINTS],
}

impl Default for Points {
    fn default() -> Self {
        let zero = [Wide3::ZERO; MOST_POINTS];
        Self {
            identity: [0; MOST_POINTS],
            count: 0,
            force: zero,
            held: zero,
            elastic: zero,
            normal: [Wide3::Y; MOST_POINTS],
            anchor: [Anchor::default(); MOST_POINTS],
            share: [1.0; MOST_POINTS],
            sunk: [0.0; MOST_POINTS],
            shifted: [[0.0; MOST_POINTS]; 3],
            start: [(0.0, Wide3::ZERO); MOST_POINTS],
            last: [(0.0, Wide3::ZERO); MOST_POINTS],
        }
    }
}

impl Points {
    /// Takes over a new snapshot: memory follows the identities, points that are new start from the world's forces.
    pub fn follow(&mut self, snapshot: &Snapshot) {
        let (old_identity, old_force, old_anchor) = (self.identity, self.force, self.anchor);
        let old_count = self.count;
        self.count = snapshot.points().len();
        snapshot.normals(&mut self.normal);
        for (i, point) in snapshot.points().iter().enumerate() {
            let before = (0..old_count).find(|&k| old_identity[k] == point.identity);
            self.identity[i] = point.identity;
            self.force[i] = before.map_or(point.force, |k| old_force[k]);
            self.anchor[i] = before.map_or(Anchor::default(), |k| old_anchor[k]);
            self.elastic[i] = point.elastic;
        }
        for i in 0..self.count {
            let (mut sunk, mut shifted) = (0.0, Wide3::ZERO);
            for (j, point) in snapshot.points().iter().enumerate() {
                let along = point.elastic.dot(self.normal[j]);
                sunk += f64::from(snapshot.normal_row(i)[j]) * along;
                shifted += (point.elastic - self.normal[j] * along) * f64::from(snapshot.tangential_row(i)[j]);
            }
            self.start[i] = (sunk, shifted);
        }
    }

    /// Forces all at once become the relaxed ones: the state without viscosity.
    pub fn settle(&mut self) {
        self.elastic = self.force;
    }

    /// What friction takes in a tick is the work of the force that was held.
    pub fn begin_tick(&mut self) {
        self.held = self.force;
    }

    pub fn set_share(&mut self, snapshot: &Snapshot, tick: f64, elastic: bool) {
        for i in 0..self.count {
            let time = if elastic { 0.0 } else { snapshot.relaxation(i) };
            self.share[i] = tick / (tick + time);
        }
    }

    pub fn sunk(&self, i: usize) -> f64 {
        f64::from(self.sunk[i])
    }

    /// Across the present normal [m].
    pub fn shifted(&self, i: usize) -> Wide3 {
        let [x, y, z] = &self.shifted;
        let v = Wide3::new(f64::from(x[i]), f64::from(y[i]), f64::from(z[i]));
        v - self.normal[i] * v.dot(self.normal[i])
    }

    /// Compliance of a point on itself within a tick, along and across [m/N].
    pub fn own_compliance(&self, snapshot: &Snapshot, i: usize) -> [f64; 2] {
        [snapshot.normal_row(i)[i], snapshot.tangential_row(i)[i]].map(|c| f64::from(c) * self.share[i])
    }

    /// Elastic force at the end of this tick for the present force [N].
    fn relaxed(&self, i: usize) -> Wide3 {
        self.force[i] * self.share[i] + self.elastic[i] * (1.0 - self.share[i])
    }

    /// Displacements of all points from all elastic forces, without what rounding left from change to change.
    pub fn displace(&mut self, snapshot: &Snapshot) {
        self.sunk = [0.0; MOST_POINTS];
        self.shifted = [[0.0; MOST_POINTS]; 3];
        for (i, point) in snapshot.points().iter().enumerate() {
            let change = self.relaxed(i) - point.elastic;
            if change != Wide3::ZERO {
                self.add(snapshot, i, change);
            }
        }
    }

    /// A change of force at a point displaces all of its body.
    pub fn spread(&mut self, snapshot: &Snapshot, i: usize, change: Wide3) {
        self.add(snapshot, i, change * self.share[i]);
    }

    fn add(&mut self, snapshot: &Snapshot, i: usize, change: Wide3) {
        if snapshot.normal_row(i)[i] == 0.0 {
            return;
        }
        let along = change.dot(self.normal[i]);
        axpy(along as f32, snapshot.normal_row(i), &mut self.sunk);
        let rest = change - self.normal[i] * along;
        if rest.length_squared() > 1e-24 * along * along {
            let row = snapshot.tangential_row(i);
            for (column, part) in self.shifted.iter_mut().zip(rest.to_array()) {
                axpy(part as f32, row, column);
            }
        }
    }

    /// The force of a point in the axes of a new normal: it pushes, and friction stays in its disc.
    pub fn turn_force(&mut self, i: usize, normal: Wide3, friction: f64, active: bool) {
        self.normal[i] = normal;
        let force = self.force[i];
        if !active || force == Wide3::ZERO {
            self.force[i] = Wide3::ZERO;
            return;
        }
        let push = force.dot(normal).max(0.0);
        let rub = sinew_math::shortened(force - normal * force.dot(normal), friction * push);
        self.force[i] = normal * push + rub;
    }

    /// The displacement from which the work of the next tick counts: what a snapshot changes is no work.
    pub fn settle_displacements(&mut self, snapshot: &Snapshot) {
        self.displace(snapshot);
        for i in 0..self.count {
            self.last[i] = (self.sunk(i), self.shifted(i));
        }
    }

    /// Ends the tick for a point; returns the energy that viscosity took [J].
    pub fn relax_elastic(&mut self, snapshot: &Snapshot, i: usize, tick: f64) -> f64 {
        let relaxed = self.relaxed(i);
        let change = relaxed - self.elastic[i];
        self.elastic[i] = relaxed;
        let now = (self.sunk(i), self.shifted(i));
        let (sunk, shifted) = (now.0 - self.last[i].0, now.1 - self.last[i].1);
        self.last[i] = now;
        let work = change.dot(self.normal[i]) * sunk + change.dot(shifted);
        (work * snapshot.relaxation(i) / tick).max(0.0)
    }

    /// ½ e C e of a point's row [J].
    pub fn stored(&self, i: usize) -> f64 {
        let e = self.elastic[i];
        let (sunk, shifted) = self.start[i];
        0.5 * (e.dot(self.normal[i]) * (self.sunk(i) + sunk) + e.dot(self.shifted(i) + shifted))
    }
}

/// y += a x: without a sum that waits for itself, so that it runs in lanes.
fn axpy(a: f32, x: &[f32; MOST_POINTS], y: &mut [f32; MOST_POINTS]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}
