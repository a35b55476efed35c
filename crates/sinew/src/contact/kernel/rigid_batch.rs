//! Contacts laid out for the kernel: sixteen manifolds in lanes, and the results that are read from them.

use crate::contact::kernel::rigid_law::LaneLaws;
use crate::contact::readout::PointImpulse;
use crate::math::{BROAD, Real, Sixteen, Sixteen3, Vec3};

/// One point of sixteen manifolds. Aligned to 64 bytes: no load of sixteen values crosses a cache line.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub(crate) struct PointLanes {
    /// Points on the bodies, body axes [m].
    pub core_a: Sixteen3,
    pub core_b: Sixteen3,
    /// Lever arms in world axes [m]. Written by `prepare`.
    pub(crate) arm_a: Sixteen3,
    pub(crate) arm_b: Sixteen3,
    /// r × n of both bodies, and their angular response I⁻¹ (r × n) to a unit impulse along the normal.
    pub(crate) twist_a: Sixteen3,
    pub(crate) twist_b: Sixteen3,
    pub(crate) answer_a: Sixteen3,
    pub(crate) answer_b: Sixteen3,
    /// Effective mass along the normal [kg]; 0 for unused points. Computed in the first substep of a step, as those of
    /// the tangents.
    pub(crate) mass: Sixteen,
    /// Effective mass matrix of the tangents, the inverse of their 2x2 response matrix K: 11, 12, 22 [kg].
    pub(crate) tangent_mass: Sixteen3,
    /// 1 / the largest eigenvalue of K [kg]: the step that preserves the direction of slip.
    pub(crate) slip_mass: Sixteen,
    /// Impulses along n, t₁, t₂ [N·s].
    pub impulse: Sixteen3,
    /// Sum over the substeps of the impulse on b, world axes, and of its normal part [N·s]. Only with `by_point`.
    pub total: Sixteen3,
    pub total_normal: Sixteen,
    /// Tangential displacement since it stuck, along the tangents [m].
    pub tangential_displacement: [Sixteen; 2],
    /// 1 while slipping; 1 when the last relaxing sweep limited friction to its disc.
    pub slipping: Sixteen,
    pub slips: Sixteen,
    /// Largest friction of the last relaxing sweep [N·s].
    pub reach: Sixteen,
    /// Most negative normal velocity before a solve [m/s]. Only with restitution.
    pub approach: Sixteen,
    /// Largest normal impulse of the step [N·s]. Only with restitution.
    pub peak: Sixteen,
    /// Gap at the start of the substep [m].
    pub gap: Sixteen,
    /// 1 for points in use.
    pub used: Sixteen,
}

/// Sixteen manifolds of one colour. The order of fields is fixed, for the same reason.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub(crate) struct ContactBatch {
    /// First velocity block of each body.
    pub load_a: [u32; BROAD],
    pub load_b: [u32; BROAD],
    /// Where to write: `u32::MAX` for bodies that are not active.
    pub store_a: [u32; BROAD],
    pub store_b: [u32; BROAD],
    /// Manifold of each lane, `u32::MAX` when empty.
    pub origin: [u32; BROAD],
    /// Normal and tangent in axes of the frame body.
    pub local_normal: Sixteen3,
    pub local_tangent: Sixteen3,
    /// 1 when the frame body is b.
    pub frame_b: Sixteen,
    pub radius_a: Sixteen,
    pub radius_b: Sixteen,
    /// Position of the common point between those of the surfaces: 0 at a's, 1 at b's. With one round side it is on the
    /// surface of that one: there u_t = ẋ_core − r ω × n, relative to the flat side, does not depend on the gap, so that
    /// its time integral is a function of the path on the surfaces. Half way, ½ ∮ gap dφ of a body that rocks remains in
    /// every cycle: a pinched capsule climbed with 130 µm/s against its weight.
    pub lean: Sixteen,
    pub static_friction: Sixteen,
    pub kinetic_friction: Sixteen,
    pub restitution: Sixteen,
    /// Penetration that is not corrected [m].
    pub slop: Sixteen,
    /// Fraction of its stiffness that a contact keeps because its bodies have other contacts too, up to 1.
    pub ease: Sixteen,
    /// Position error to velocity [1/s], fraction of the effective mass used and fraction of λ subtracted (soft
    /// contact). First substep of a step.
    pub(crate) bias_rate: Sixteen,
    pub(crate) mass_scale: Sixteen,
    pub(crate) impulse_scale: Sixteen,
    /// Lever arms of rolling and spinning resistance [m].
    pub rolling: Sixteen,
    pub spinning: Sixteen,
    /// Fraction of each impulse that is applied (1, or ICD's averaging).
    pub share: Sixteen,
    /// Largest friction per point when it is independent of the normal impulse [N·s]; negative: it is proportional to
    /// it.
    pub weight_bound: Sixteen,
    /// Impulses against rolling along t₁, t₂ and spinning [N·m·s].
    pub roll: Sixteen3,
    /// Sums of the impulses of all points, like those of a point. Without `by_point`.
    pub(crate) total: Sixteen3,
    pub(crate) total_normal: Sixteen,
    pub(crate) normal: Sixteen3,
    pub(crate) tangent: Sixteen3,
    pub(crate) roll_mass: Sixteen,
    pub(crate) spin_mass: Sixteen,
    /// Works over the substeps of the step: of normal impulses, of friction, and of the side that does not answer [J].
    pub(crate) work: Sixteen3,
    /// Angular impulse about the origin from the side that does not answer [N·m·s].
    pub(crate) outside: Sixteen3,
    /// 1 when only a does not answer, −1 when only b; else 0. Only for lanes of which the ledger needs it.
    pub(crate) lean_side: Sixteen,
    pub points: [PointLanes; 4],
    /// Largest number of points in use of any lane.
    pub count: usize,
    /// Any rolling or spinning resistance among the lanes.
    pub rolls: bool,
    /// Any lane whose two sides are both round.
    pub rounds: bool,
    /// Any lane with a `lean_side`.
    pub leans: bool,
    /// Any restitution among the lanes.
    pub bounces: bool,
    /// Whether impulses are summed by point, or by manifold, which needs less memory traffic.
    pub by_point: bool,
    /// Any lane with a friction law other than Coulomb's, or with anisotropic friction; then `laws` is there.
    pub by_law: bool,
    pub(crate) laws: Option<Box<LaneLaws>>,
}

const ZERO: Sixteen = [0.0; BROAD];
const ZERO3: Sixteen3 = [ZERO; 3];

impl Default for PointLanes {
    fn default() -> Self {
        Self {
            core_a: ZERO3,
            core_b: ZERO3,
            arm_a: ZERO3,
            arm_b: ZERO3,
            twist_a: ZERO3,
            twist_b: ZERO3,
            answer_a: ZERO3,
            answer_b: ZERO3,
            mass: ZERO,
            tangent_mass: ZERO3,
            slip_mass: ZERO,
            impulse: ZERO3,
            total: ZERO3,
            total_normal: ZERO,
            tangential_displacement: [ZERO; 2],
            slipping: ZERO,
            slips: ZERO,
            reach: ZERO,
            approach: ZERO,
            peak: ZERO,
            gap: [Real::MAX; BROAD],
            used: ZERO,
        }
    }
}

impl Default for ContactBatch {
    fn default() -> Self {
        Self {
            load_a: [0; BROAD],
            load_b: [0; BROAD],
            store_a: [u32::MAX; BROAD],
            store_b: [u32::MAX; BROAD],
            origin: [u32::MAX; BROAD],
            count: 0,
            rolls: false,
            rounds: false,
            leans: false,
            bounces: false,
            by_point: false,
            by_law: false,
            laws: None,
            local_normal: ZERO3,
            local_tangent: ZERO3,
            frame_b: ZERO,
            radius_a: ZERO,
            radius_b: ZERO,
            lean: ZERO,
            static_friction: ZERO,
            kinetic_friction: ZERO,
            restitution: ZERO,
            slop: ZERO,
            ease: [1.0; BROAD],
            bias_rate: ZERO,
            mass_scale: ZERO,
            impulse_scale: ZERO,
            rolling: ZERO,
            spinning: ZERO,
            share: [1.0; BROAD],
            weight_bound: [-1.0; BROAD],
            roll: ZERO3,
            total: ZERO3,
            total_normal: ZERO,
            normal: ZERO3,
            tangent: ZERO3,
            roll_mass: ZERO,
            spin_mass: ZERO,
            work: ZERO3,
            outside: ZERO3,
            lean_side: ZERO,
            points: std::array::from_fn(|_| PointLanes::default()),
        }
    }
}

impl ContactBatch {
    /// Makes all lanes empty, without writing what `fill` or the first substep overwrite.
    pub fn reset(&mut self) {
        self.store_a = [u32::MAX; BROAD];
        self.store_b = [u32::MAX; BROAD];
        self.load_a = [0; BROAD];
        self.load_b = [0; BROAD];
        self.origin = [u32::MAX; BROAD];
        (self.count, self.rolls, self.bounces, self.rounds, self.by_point) = (0, false, false, false, false);
        (self.by_law, self.leans, self.lean_side) = (false, false, ZERO);
        (self.work, self.outside) = (ZERO3, ZERO3);
        (self.roll, self.total, self.total_normal) = (ZERO3, ZERO3, ZERO);
        (self.rolling, self.spinning, self.restitution) = (ZERO, ZERO, ZERO);
        for point in &mut self.points {
            point.used = ZERO;
            point.impulse = ZERO3;
            point.tangential_displacement = [ZERO; 2];
            point.slipping = ZERO;
            point.slips = ZERO;
            point.reach = ZERO;
        }
    }
}

impl ContactBatch {
    /// The laws of the lanes, for a batch in which a lane has one of its own.
    pub fn own_laws(&mut self) -> &mut LaneLaws {
        let laws = self.laws.get_or_insert_with(Box::default);
        if !self.by_law {
            **laws = LaneLaws::default();
            self.by_law = true;
        }
        laws
    }

    /// True when a lane has a friction law with a bristle.
    pub fn has_bristles(&self) -> bool {
        self.by_law && self.laws.as_ref().is_some_and(|laws| laws.bristles)
    }

    /// The stretch of the bristle of a point after the step, if its lane has one [m].
    pub fn stretch(&self, lane: usize, point: usize) -> Option<[Real; 2]> {
        let laws = self.laws.as_ref().filter(|laws| self.by_law && laws.laws[lane].has_bristle())?;
        Some([laws.stretch[point][0][lane], laws.stretch[point][1][lane]])
    }

    /// Lengths of the second tangents: 1 without anisotropy.
    pub(super) fn second_length(&self, lane: usize) -> Real {
        self.laws.as_ref().filter(|_| self.by_law).map_or(1.0, |laws| laws.length[lane])
    }

    /// Impulse on b in the last substep, world axes [N·s], in all lanes, from its parts along n, t₁, t₂.
    fn last_impulse(&self, impulse: &Sixteen3) -> Sixteen3 {
        let (n, t) = (&self.normal, &self.tangent);
        let mut out = ZERO3;
        for lane in 0..BROAD {
            let length = self.second_length(lane);
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                let t2 = n[i][lane] * t[j][lane] - n[j][lane] * t[i][lane];
                let [pn, p1, p2] = [impulse[0][lane], impulse[1][lane], length * impulse[2][lane]];
                out[k][lane] = (n[k][lane] * pn + t[k][lane] * p1 + t2 * p2) * self.share[lane];
            }
        }
        out
    }

    /// Impulse of each manifold over the step, vector and normal part [N·s].
    pub fn impulses(&self) -> [Sixteen; 4] {
        let (mut total, mut total_normal, mut sum) = (self.total, self.total_normal, ZERO3);
        for p in &self.points[..self.count] {
            for lane in 0..BROAD {
                for k in 0..3 {
                    sum[k][lane] += p.impulse[k][lane] * p.used[lane];
                }
                if self.by_point {
                    for k in 0..3 {
                        total[k][lane] += p.total[k][lane] * p.used[lane];
                    }
                    total_normal[lane] += p.total_normal[lane] * p.used[lane];
                }
            }
        }
        let last = self.last_impulse(&sum);
        let mut out = [ZERO; 4];
        for lane in 0..BROAD {
            for k in 0..3 {
                out[k][lane] = total[k][lane] + last[k][lane];
            }
            out[3][lane] = total_normal[lane] + sum[0][lane] * self.share[lane];
        }
        out
    }

    /// Impulse of a point over the step, its lever arm from the centre of a [m], and its gap [m].
    pub fn point(&self, lane: usize, k: usize) -> (PointImpulse, Vec3, Real) {
        let p = &self.points[k];
        let pick = |a: &Sixteen3| Vec3::new(a[0][lane], a[1][lane], a[2][lane]);
        let impulse = pick(&p.total) + pick(&self.last_impulse(&p.impulse));
        let normal = p.total_normal[lane] + p.impulse[0][lane] * self.share[lane];
        (PointImpulse { impulse, normal }, pick(&p.arm_a), p.gap[lane])
    }
}

/// Parameters of a substep that all contacts share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactParams {
    /// True in the first substep of a step.
    pub first: bool,
    pub h: Real,
    pub inv_h: Real,
    /// Position error to velocity [1/s].
    pub bias_rate: Real,
    /// Softness as a fraction of the row's inverse effective mass.
    pub softness: Real,
    pub mass_scale: Real,
    pub impulse_scale: Real,
    pub push_speed: Real,
    /// Tangential displacement to velocity [1/s].
    pub friction_rate: Real,
    pub friction_mass: Real,
    pub friction_impulse: Real,
    /// Stretch of the friction spring per unit impulse and inverse mass: impulse_scale/(mass_scale · rate) [s].
    pub friction_stretch: Real,
    pub restitution_speed: Real,
}
