//! Friction of a contact point as rows of the solver.
//!
//! Every law, Coulomb's among them, is a pair of tangential rows in a common disc. With the slip u, the friction impulse
//! λ and the response k (change of slip per unit impulse, [1/kg]) a visit solves
//!
//! ```text
//!   u + bias + softness·λ = 0,   |λ| ≤ radius
//! ```
//!
//! - Coulomb, stiction: bias = rate·s, a spring from the stick point; radius = μ λ_n.
//! - Laws without a bristle: the same spring; radius = h |F| where the law slips, μ_s λ_n (μ_k λ_n if it slipped before)
//!   where it holds.
//! - Laws with a bristle: force and slip are solved simultaneously (`bristle.rs`), λ* = −h F; the bias is the one
//!   whose solution is λ*, without softness or bound. In an implicit island, where rows are linear, the bristle is a
//!   damped spring ([`Law::linear_traction`]).

use super::{Coefficients, Contact, Eight, Law, Memory};
use sinew_math::{LANES, Real};

/// Two tangential rows in a disc.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traction {
    /// Velocity that is removed in addition to the slip [m/s].
    pub bias: [Real; 2],
    /// Change of slip that is left per unit impulse [1/kg].
    pub softness: Real,
    /// Largest impulse [N·s].
    pub radius: Real,
}

/// The spring from the stick point: displacement to velocity [1/s], and its softness [1/kg].
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StickSpring {
    /// Rate [1/s].
    pub rate: Real,
    /// Softness [1/kg].
    pub softness: Real,
}

/// Eight contact points of one law, as a kernel visits them; arrays by point.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct VisitLanes {
    /// Substep [s].
    pub h: Real,
    /// Normal impulses [N·s].
    pub normal: [Real; LANES],
    /// μ_s and μ_k.
    pub coefficients: [[Real; LANES]; 2],
    /// Slip with the present friction impulses [m/s].
    pub slip: [[Real; LANES]; 2],
    /// Present friction impulses [N·s].
    pub impulse: [[Real; LANES]; 2],
    /// Change of slip per unit impulse [1/kg].
    pub response: [Real; LANES],
    /// Tangential displacements since the points stuck, or stretch of the bristles [m].
    pub displacement: [[Real; LANES]; 2],
    /// 1 while slipping.
    pub slipping: [Real; LANES],
}

impl Default for VisitLanes {
    #[inline]
    fn default() -> Self {
        const ZERO: [Real; LANES] = [0.0; LANES];
        Self {
            h: 1.0,
            normal: ZERO,
            coefficients: [ZERO; 2],
            slip: [ZERO; 2],
            impulse: [ZERO; 2],
            response: ZERO,
            displacement: [ZERO; 2],
            slipping: ZERO,
        }
    }
}

/// One contact point, as a kernel visits it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Visit {
    /// Substep [s].
    pub h: Real,
    /// Normal impulse [N·s].
    pub normal: Real,
    /// μ_s and μ_k.
    pub coefficients: Coefficients,
    /// Slip with the present friction impulse [m/s].
    pub slip: [Real; 2],
    /// Present friction impulse [N·s].
    pub impulse: [Real; 2],
    /// Change of slip per unit impulse [1/kg].
    pub response: Real,
    /// State of the law.
    pub memory: Memory,
}

impl Visit {
    /// Slip without the present impulse [m/s].
    #[inline]
    fn free(&self) -> [Real; 2] {
        [0, 1].map(|k| self.slip[k] - self.response * self.impulse[k])
    }

    /// As input of a law.
    #[inline]
    fn contact(&self) -> Contact {
        let (normal, response) = (self.normal / self.h, self.response * self.h);
        Contact { h: self.h, normal, coefficients: self.coefficients, free: self.free(), response }
    }
}

impl VisitLanes {
    /// One of the points.
    #[inline]
    pub fn point(&self, lane: usize) -> Visit {
        let two = |a: &[[Real; LANES]; 2]| [a[0][lane], a[1][lane]];
        let [holding, slipping] = two(&self.coefficients);
        Visit {
            h: self.h,
            normal: self.normal[lane],
            coefficients: Coefficients { holding, slipping },
            slip: two(&self.slip),
            impulse: two(&self.impulse),
            response: self.response[lane],
            memory: Memory { stretch: two(&self.displacement), slipping: self.slipping[lane] > 0.5 },
        }
    }

    /// As input of a law in lanes.
    #[inline]
    fn eight(&self) -> Eight {
        let inv = |a: Real| a / self.h;
        let mut velocity = self.slip;
        for (v, impulse) in velocity.iter_mut().zip(&self.impulse) {
            for lane in 0..LANES {
                v[lane] -= self.response[lane] * impulse[lane];
            }
        }
        Eight {
            h: self.h,
            normal: self.normal.map(inv),
            holding: self.coefficients[0],
            kinetic: self.coefficients[1],
            velocity,
            response: self.response.map(|k| k * self.h),
            stretch: self.displacement,
            slipping: self.slipping,
            force: [[0.0; LANES]; 2],
        }
    }
}

impl Law {
    /// True for a law that every kernel contains: the coefficients of the pair are its only parameters.
    #[doc(hidden)]
    #[inline]
    pub fn is_plain(&self) -> bool {
        matches!(self, Law::Coulomb(_) | Law::Stiction(_))
    }

    /// The rows of a point.
    #[doc(hidden)]
    #[inline]
    pub fn traction(&self, visit: &Visit, spring: StickSpring) -> Traction {
        if self.is_plain() {
            return held(visit, spring);
        }
        let result = self.friction(&visit.contact(), visit.memory);
        self.rows_of(visit, spring, result.force, result.velocity)
    }

    /// The rows of the points `lanes`; the others are left out.
    #[inline]
    #[doc(hidden)]
    pub fn tractions(
        &self,
        visits: &VisitLanes,
        spring: impl Fn(usize) -> StickSpring,
        lanes: std::ops::Range<usize>,
        mut write: impl FnMut(usize, Traction),
    ) {
        if lanes.len() == 1 || self.is_plain() {
            lanes.for_each(|lane| write(lane, self.traction(&visits.point(lane), spring(lane))));
            return;
        }
        let mut eight = visits.eight();
        self.friction_eights(std::slice::from_mut(&mut eight));
        for lane in lanes {
            let two = |a: &[[Real; LANES]; 2]| [a[0][lane], a[1][lane]];
            write(lane, self.rows_of(&visits.point(lane), spring(lane), two(&eight.force), two(&eight.velocity)));
        }
    }

    /// The rows from the solution of the law: friction [N] and slip under it [m/s].
    #[inline]
    fn rows_of(&self, visit: &Visit, spring: StickSpring, force: [Real; 2], slip: [Real; 2]) -> Traction {
        if self.has_bristle() {
            let free = visit.free();
            let bias = [0, 1].map(|k| visit.response * visit.h * force[k] - free[k]);
            return Traction { bias, softness: 0.0, radius: Real::MAX };
        }
        let held = held(visit, spring);
        let size = (force[0] * force[0] + force[1] * force[1]).sqrt();
        Traction { radius: if slip == [0.0; 2] { held.radius } else { visit.h * size }, ..held }
    }

    /// The memory of a point after a substep in which it moved with `slip` [m/s] under a normal impulse [N·s].
    #[doc(hidden)]
    #[inline]
    pub fn follow(&self, h: Real, normal: Real, c: Coefficients, memory: Memory, slip: [Real; 2]) -> Memory {
        self.friction(&Contact { h, normal: normal / h, coefficients: c, free: slip, response: 0.0 }, memory).memory
    }

    /// True when [`Law::follow`] decides whether a point slips: a law with a bristle, or with a dead band of its own.
    #[doc(hidden)]
    #[inline]
    pub fn decides_slip(&self) -> bool {
        self.has_bristle() || matches!(self, Law::Karnopp(_))
    }

    /// The rows of a point where they are linear over the substep (implicit islands), and the fraction of the slip that
    /// the bristle takes; `load` is the normal impulse of the previous substep [N·s], `softest` the least softness that
    /// the island resolves [1/kg].
    ///
    /// The radius is per unit of normal impulse, which the island solves for: that of the steady state at the present
    /// slip. A bristle is a damped spring,
    /// λ = −N h (σ₀ z + (σ₀ h + σ₁) u), no stiffer than the island resolves. Where it would be, a softer spring is in
    /// series with it and takes the remaining slip: the holding force is unchanged, only the displacement to reach it is
    /// larger. A bristle that took more deflection than its row reacts to would be an explicit spring, and oscillate.
    #[doc(hidden)]
    #[inline]
    pub fn linear_traction(&self, visit: &Visit, load: Real, softest: Real) -> (Traction, Real) {
        let speed = (visit.slip[0] * visit.slip[0] + visit.slip[1] * visit.slip[1]).sqrt();
        let radius = self.steady(visit.coefficients, speed);
        if !(self.has_bristle() && load > 0.0 && softest.is_finite()) {
            return (Traction { bias: visit.memory.stretch.map(|s| s / visit.h), softness: 0.0, radius }, 1.0);
        }
        let own = 1.0 / (load * (self.stiffness() * visit.h + self.damping()));
        let softness = own.max(softest);
        let bias = visit.memory.stretch.map(|z| softness * load * self.stiffness() * z);
        (Traction { bias, softness, radius }, own / softness)
    }
}

/// Coulomb friction with the spring from the stick point.
#[inline]
fn held(visit: &Visit, spring: StickSpring) -> Traction {
    let Coefficients { holding, slipping } = visit.coefficients;
    let coefficient = if visit.memory.slipping { slipping } else { holding };
    Traction {
        bias: visit.memory.stretch.map(|s| spring.rate * s),
        softness: spring.softness,
        radius: coefficient * visit.normal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(normal: Real, slip: Real) -> Visit {
        Visit {
            h: 1e-3,
            normal,
            coefficients: Coefficients { holding: 0.6, slipping: 0.4 },
            slip: [slip, 0.3 * slip],
            impulse: [0.002, -0.001],
            response: 0.5,
            memory: Memory { stretch: [2e-6, -1e-6], slipping: false },
        }
    }

    /// The impulse that solves the rows with the response k along both tangents.
    fn solved(v: &Visit, t: Traction) -> [Real; 2] {
        let free = v.free();
        let [a, b] = [0, 1].map(|k| -(free[k] + t.bias[k]) / (v.response + t.softness));
        let length = (a * a + b * b).sqrt();
        let scale = if length > t.radius { t.radius / length } else { 1.0 };
        [a * scale, b * scale]
    }

    #[test]
    fn the_rows_of_every_law_give_the_friction_of_the_law() {
        for law in Law::all() {
            for (normal, slip) in [(0.01, 1.0), (0.01, 1e-3), (5.0, 1e-4), (5.0, 3.0)] {
                let v = visit(normal, slip);
                let spring = StickSpring::default();
                let [a, b] = solved(&v, law.traction(&v, spring));
                let force = law.friction(&v.contact(), v.memory).force;
                // the bias of a bristle cancels the free slip: its rounding is left
                let rounding = 4.0 * Real::EPSILON * slip.abs() / v.response;
                let size = v.h * (force[0] * force[0] + force[1] * force[1]).sqrt();
                for (impulse, force) in [a, b].into_iter().zip(force) {
                    // Coulomb and stiction: a point of a world slips only once its spring has moved (`law::slips`)
                    let close = (impulse + v.h * force).abs() <= 1e-5 * size + rounding;
                    assert!(close || law.is_plain(), "{} {normal} {slip}: {a} {b} {force:?}", law.name());
                }
            }
        }
    }

    #[test]
    fn lanes_and_one_point_give_the_same_bits() {
        for law in Law::all() {
            let mut lanes = VisitLanes { h: 1e-3, coefficients: [[0.6; LANES], [0.4; LANES]], ..VisitLanes::default() };
            for k in 0..LANES {
                let v = visit(0.01 * (k * k) as Real, 10.0_f64.powi(-(k as i32)) as Real);
                (lanes.normal[k], lanes.response[k], lanes.slipping[k]) = (v.normal, v.response, (k % 2) as Real);
                for axis in 0..2 {
                    lanes.slip[axis][k] = v.slip[axis];
                    lanes.impulse[axis][k] = v.impulse[axis];
                    lanes.displacement[axis][k] = v.memory.stretch[axis];
                }
            }
            let spring = StickSpring { rate: 10.0, softness: 0.1 };
            law.tractions(
                &lanes,
                |_| spring,
                0..LANES,
                |k, of_lanes| {
                    assert_eq!(of_lanes, law.traction(&lanes.point(k), spring), "{} {k}", law.name());
                },
            );
        }
    }
}
