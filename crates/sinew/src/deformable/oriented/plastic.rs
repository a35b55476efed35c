//! Plastic rest states: each member of a group has a rest position r and a rest orientation R̄ of its own.
//!
//! In the co-rotated frame of the group a member deviates by d = Rᵀ(x − c) − (r − c̄) and by the rotation vector θ of
//! Rᵀ R_i R̄⁻¹. With ℓ the size of the group (root of its second moment over its mass, including that of the particles)
//! and e the root mean square of |d|²/ℓ² + |θ|²,
//!
//! ```text
//!   e > yield:  r ← r + s d,   R̄ ← exp(s θ) R̄,   s = c h/(1 + c h) · (1 − yield/e)
//! ```
//!
//! until the same measure between r, R̄ and the initial rest state is `max_strain`.

use crate::deformable::BodyMut;
use crate::deformable::oriented::fit::{Member, Placement, moment};
use crate::deformable::oriented::{Oriented, between, turned};
use crate::deformable::rotation::{SPAN, orientation};
use crate::math::{Quat, Real, Vec3, angle_of, vec};

/// Numbers of internal state of a member: rest position, rest orientation.
const EACH: usize = 7;

impl Oriented {
    pub(crate) fn plastic_count(&self) -> usize {
        if self.params.plasticity.is_some() { EACH * self.sets.nodes.len() } else { 0 }
    }

    /// Initial rest state of a member.
    fn first_rest(&self, k: usize) -> (Vec3, Quat) {
        let p = &self.particles[self.sets.nodes[k] as usize];
        (p.position - self.particles[0].position, p.rotation.normalize())
    }

    /// The part of the internal state with the rest states.
    pub(crate) fn kept<'a>(&self, internal_state: &'a [Real]) -> &'a [Real] {
        &internal_state[SPAN * self.masses.len()..]
    }

    /// Current rest state of a member.
    pub(crate) fn rest_of(&self, k: usize, kept: &[Real]) -> (Vec3, Quat) {
        if self.params.plasticity.is_none() {
            return (self.rests[k], self.frames[k]);
        }
        let at = EACH * k;
        let [x, y, z, w] = [3, 4, 5, 6].map(|i| kept[at + i]);
        let q = Quat::from_xyzw(x, y, z, w);
        // internal state that was cleared after a fault
        if (q.length_squared() - 1.0).abs() < 0.1 { (Vec3::from_slice(&kept[at..]), q) } else { self.first_rest(k) }
    }

    fn put_rest(&self, k: usize, (place, frame): (Vec3, Quat), kept: &mut [Real]) {
        let at = EACH * k;
        place.write_to_slice(&mut kept[at..]);
        kept[at + 3..at + EACH].copy_from_slice(&frame.to_array());
    }

    pub(crate) fn rest_plastic(&self, internal_state: &mut [Real]) {
        if self.params.plasticity.is_some() {
            let kept = &mut internal_state[SPAN * self.masses.len()..];
            for k in 0..self.sets.nodes.len() {
                self.put_rest(k, self.first_rest(k), kept);
            }
        }
    }

    /// Rest states of all members from State.
    pub(crate) fn load_plastic(&mut self, internal_state: &[Real]) {
        if self.params.plasticity.is_none() {
            return;
        }
        for k in 0..self.sets.nodes.len() {
            let (rest, frame) = self.rest_of(k, self.kept(internal_state));
            (self.rests[k], self.frames[k]) = (rest, frame);
            self.moments[k] = moment(self.radii[self.sets.nodes[k] as usize], frame);
        }
    }

    /// Advances the plastic flow of the rest states after a substep.
    pub(crate) fn flow(&mut self, h: Real, body: BodyMut<'_>) {
        let Some(law) = self.params.plasticity else { return };
        let origin = vec(body.x[0]);
        let (own, kept) = body.internal_state.split_at_mut(SPAN * self.masses.len());
        for group in 0..self.sets.count() {
            let members = self.sets.members(group);
            let see = |k: usize| {
                let node = self.sets.nodes[k] as usize;
                Member {
                    weight: self.masses[node] * self.sets.shares[k],
                    place: vec(body.x[node]) - origin,
                    turn: orientation(own, node),
                    rest: self.rests[k],
                    moment: self.moments[k],
                }
            };
            let guess = see(members.start).turn * self.frames[members.start].inverse();
            let found = Placement::find(members.clone().map(see), guess);
            let back = found.rotation.inverse();
            let off = |k: usize| {
                let m = see(k);
                let way = back * (m.place - found.centre) - (m.rest - found.rest_centre);
                (way, whole_turn(self.frames[k], back * m.turn))
            };
            let size = self.size(group, &found);
            let strain = self.strain(group, size, off);
            if !(strain > law.yield_strain) {
                continue;
            }
            let share = law.creep * h / (1.0 + law.creep * h) * (1.0 - law.yield_strain / strain);
            for k in members.clone() {
                let (way, turn) = off(k);
                let new = (self.rests[k] + way * share, turned(self.frames[k], turn * share));
                self.put_rest(k, new, kept);
            }
            self.limit(group, size, law.max_strain, kept);
        }
    }

    /// Scales rest states beyond the maximum strain back towards the initial ones.
    fn limit(&self, group: usize, size: Real, most: Real, kept: &mut [Real]) {
        let lasting = |k: usize, kept: &[Real]| {
            let ((first, frame), (rest, now)) = (self.first_rest(k), self.rest_of(k, kept));
            (rest - first, whole_turn(frame, now))
        };
        let strain = self.strain(group, size, |k| lasting(k, kept));
        if strain > most {
            for k in self.sets.members(group) {
                let (way, turn) = lasting(k, kept);
                let ((first, frame), share) = (self.first_rest(k), most / strain);
                self.put_rest(k, (first + way * share, turned(frame, turn * share)), kept);
            }
        }
    }

    /// Root of the second moment of a group over its mass [m].
    fn size(&self, group: usize, found: &Placement) -> Real {
        let (mut mass, mut moment) = (0.0, 0.0);
        for k in self.sets.members(group) {
            let node = self.sets.nodes[k] as usize;
            let m = self.masses[node] * self.sets.shares[k];
            let own = self.radii[node].length_squared() * 0.2;
            mass += m;
            moment += m * ((self.first_rest(k).0 - found.rest_centre).length_squared() + own);
        }
        (moment / mass).sqrt()
    }

    /// Root of the mean of |d|²/ℓ² + |θ|².
    fn strain(&self, group: usize, size: Real, off: impl Fn(usize) -> (Vec3, Vec3)) -> Real {
        let (mut mass, mut sum) = (0.0, 0.0);
        for k in self.sets.members(group) {
            let m = self.masses[self.sets.nodes[k] as usize] * self.sets.shares[k];
            let (way, turn) = off(k);
            mass += m;
            sum += m * (way.length_squared() / (size * size) + turn.length_squared());
        }
        (sum / mass).sqrt()
    }
}

/// The complete rotation vector by the smaller angle [rad].
fn whole_turn(from: Quat, to: Quat) -> Vec3 {
    let (axis, sin, cos) = between(from, to);
    axis * angle_of(sin, cos)
}
