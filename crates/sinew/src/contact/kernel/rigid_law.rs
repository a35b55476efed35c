//! Friction laws and anisotropic friction of the manifolds of a batch (`contact/kernel/rigid.rs`).
//!
//! Lanes of one batch may have different laws: each law is evaluated for the lanes that have it. With anisotropy the
//! first tangent of a lane is the direction of the grain and the second has the length of the ratio, so that the friction
//! ellipse is a disc (`friction/anisotropy.rs`).

use crate::contact::kernel::rigid::rotate;
use crate::contact::kernel::rigid_batch::{ContactBatch, ContactParams};
use crate::contact::law;
use crate::friction::{Law, StickSpring, Traction, VisitLanes};
use crate::math::lane3::{V3, cross, dot, load3, scale, sub};
use crate::math::{BROAD, LANES, Number, Real, Sixteen, Sixteen3};
use std::ops::Range;

/// Laws and grain of the lanes of a batch.
#[derive(Clone, Debug)]
pub(crate) struct LaneLaws {
    pub laws: [Law; BROAD],
    /// Direction of the grain in the axes of its body; 1 in `grain_b` when that is b; ratio of the coefficient across it
    /// to that along it, 1 without grain.
    pub direction: Sixteen3,
    pub grain_b: Sixteen,
    pub across: Sixteen,
    /// Length of the second tangent in this substep. Written by `prepare`.
    pub length: Sixteen,
    /// Any law with a bristle among the lanes. Friction of those is solved in correcting sweeps too: positions move with
    /// the velocities after these, and a bristle is stiff, so that its stretch must be that of its own impulse.
    pub bristles: bool,
    /// Stretch of the bristles of each point after the substep; the sweeps of a substep evaluate the one before it.
    pub stretch: [[Sixteen; 2]; 4],
}

impl Default for LaneLaws {
    fn default() -> Self {
        Self {
            laws: [Law::default(); BROAD],
            direction: [[0.0; BROAD]; 3],
            grain_b: [0.0; BROAD],
            across: [1.0; BROAD],
            length: [1.0; BROAD],
            bristles: false,
            stretch: [[[0.0; BROAD]; 2]; 4],
        }
    }
}

/// One point of the lanes of a batch, as a sweep visits it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointVisit {
    pub normal: Sixteen,
    pub coefficients: [Sixteen; 2],
    pub slip: [Sixteen; 2],
    pub impulse: [Sixteen; 2],
    /// 1 / response [kg]; 0 where no body responds.
    pub slip_mass: Sixteen,
    pub displacement: [Sixteen; 2],
    pub slipping: Sixteen,
}

const ZERO: Sixteen = [0.0; BROAD];

impl Default for PointVisit {
    fn default() -> Self {
        Self {
            normal: ZERO,
            coefficients: [ZERO; 2],
            slip: [ZERO; 2],
            impulse: [ZERO; 2],
            slip_mass: ZERO,
            displacement: [ZERO; 2],
            slipping: ZERO,
        }
    }
}

impl PointVisit {
    /// Eight lanes from `first` on.
    fn half(&self, first: usize, h: Real) -> VisitLanes {
        let pick = |a: &Sixteen| std::array::from_fn::<Real, LANES, _>(|k| a[first + k]);
        let two = |a: &[Sixteen; 2]| [pick(&a[0]), pick(&a[1])];
        VisitLanes {
            h,
            normal: pick(&self.normal),
            coefficients: two(&self.coefficients),
            slip: two(&self.slip),
            impulse: two(&self.impulse),
            response: pick(&self.slip_mass).map(|m| if m > 0.0 { 1.0 / m } else { 0.0 }),
            displacement: two(&self.displacement),
            slipping: pick(&self.slipping),
        }
    }
}

/// Rows of one point of the lanes of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneTractions {
    pub bias: [Sixteen; 2],
    pub radius: Sixteen,
    /// 1 where the rows hold the impulse of a bristle.
    pub bristle: Sixteen,
}

impl LaneLaws {
    /// The rows of a point of `lanes`.
    #[inline(never)]
    pub fn tractions(&self, visit: &PointVisit, p: &ContactParams, lanes: Range<usize>) -> LaneTractions {
        let mut out = LaneTractions { bias: [ZERO; 2], radius: ZERO, bristle: ZERO };
        let spring = StickSpring { rate: p.friction_rate, softness: 0.0 };
        self.each_law(lanes, |law, half, wanted| {
            let visits = visit.half(half, p.h);
            let write = |lane: usize, Traction { bias, radius, .. }: Traction| {
                let lane = half + lane;
                if self.laws[lane] == law {
                    (out.bias[0][lane], out.bias[1][lane], out.radius[lane]) = (bias[0], bias[1], radius);
                    out.bristle[lane] = if law.has_bristle() { 1.0 } else { 0.0 };
                }
            };
            law.tractions(&visits, |_| spring, wanted, write);
        });
        out
    }

    /// Displacement and slip of a point of `lanes` after a substep with the slip of `visit`, where the law decides it.
    #[inline(never)]
    pub fn follow(&self, visit: &mut PointVisit, h: Real, lanes: Range<usize>) {
        for lane in lanes.filter(|&lane| self.laws[lane].decides_slip()) {
            let point = visit.half(lane / LANES * LANES, h).point(lane % LANES);
            let seen = self.laws[lane].follow(h, point.normal, point.coefficients, point.memory, point.slip);
            visit.slipping[lane] = if seen.slipping && point.normal > 0.0 { 1.0 } else { 0.0 };
            if self.laws[lane].has_bristle() {
                (visit.displacement[0][lane], visit.displacement[1][lane]) = (seen.stretch[0], seen.stretch[1]);
            }
        }
    }

    /// Calls `see` once for each law of `lanes` in each half of a batch: with the law, the first lane of the half, and
    /// the lanes within it.
    fn each_law(&self, lanes: Range<usize>, mut see: impl FnMut(Law, usize, Range<usize>)) {
        for half in (0..BROAD).step_by(LANES) {
            let (from, to) = (lanes.start.max(half), lanes.end.min(half + LANES));
            for lane in from..to {
                let law = self.laws[lane];
                if !self.laws[from..lane].contains(&law) {
                    see(law, half, from - half..to - half);
                }
            }
        }
    }
}

/// Slip with the bias, largest friction and a mark of bristles, of the lanes with a friction law of their own; a lane
/// without one has Coulomb's.
#[inline(always)]
pub(super) fn own_friction<L: Number>(
    t: L::Token,
    batch: &ContactBatch,
    (at, index): (usize, usize),
    slip: [L; 2],
    p: &ContactParams,
) -> [L; 4] {
    let Some(laws) = &batch.laws else { return [slip[0], slip[1], L::splat(t, 0.0), L::splat(t, 0.0)] };
    let mut visit = visit_of(batch, index);
    slip[0].store(&mut visit.slip[0][at..]);
    slip[1].store(&mut visit.slip[1][at..]);
    let of = laws.tractions(&visit, p, at..at + L::COUNT);
    let load = |a: &Sixteen| L::load(t, &a[at..]);
    [slip[0] + load(&of.bias[0]), slip[1] + load(&of.bias[1]), load(&of.radius), load(&of.bristle)]
}

/// A point of a batch as input of its friction laws, without slip.
#[inline(always)]
pub(super) fn visit_of(batch: &ContactBatch, index: usize) -> PointVisit {
    let point = &batch.points[index];
    PointVisit {
        normal: point.impulse[0],
        coefficients: [batch.static_friction, batch.kinetic_friction],
        impulse: [point.impulse[1], point.impulse[2]],
        slip_mass: point.slip_mass,
        displacement: point.tangential_displacement,
        slipping: point.slipping,
        ..PointVisit::default()
    }
}

/// The second tangent n × t₁, in the scaled axes of anisotropic friction with the length of their ratio.
#[inline(always)]
pub(super) fn second_tangent<L: Number>(t: L::Token, batch: &ContactBatch, at: usize, n: V3<L>, t1: V3<L>) -> V3<L> {
    let t2 = cross(n, t1);
    match &batch.laws {
        Some(laws) if batch.by_law => scale(t2, L::load(t, &laws.length[at..])),
        _ => t2,
    }
}

/// Begins a substep: the bristles of a point have the stretch of the substep before.
#[inline(always)]
pub(super) fn advance_bristles<L: Number>(t: L::Token, batch: &mut ContactBatch, at: usize) {
    let ContactBatch { laws, points, count, .. } = batch;
    let Some(laws) = laws.as_ref().filter(|laws| laws.bristles) else { return };
    let lanes = laws.laws.map(|law| if law.has_bristle() { 1.0 } else { 0.0 });
    let bristle = L::load(t, &lanes[at..]);
    for (point, stretch) in points[..*count].iter_mut().zip(&laws.stretch) {
        for (to, from) in point.tangential_displacement.iter_mut().zip(stretch) {
            bristle.select_gt(L::splat(t, 0.0), L::load(t, &from[at..]), L::load(t, &to[at..])).store(&mut to[at..]);
        }
    }
}

/// The first tangent, along the grain where there is one; writes the lengths of the second ones. A grain perpendicular
/// to the surface has no direction in it.
#[inline(always)]
pub(super) fn align<L: Number>(
    t: L::Token,
    batch: &mut ContactBatch,
    at: usize,
    ([turn_a, turn_b], normal, tangent): ([[L; 4]; 2], V3<L>, V3<L>),
) -> V3<L> {
    let Some(laws) = &mut batch.laws else { return tangent };
    let (zero, one) = (L::splat(t, 0.0), L::splat(t, 1.0));
    let local = load3::<L>(t, &laws.direction, at);
    let (of_a, of_b) = (rotate(turn_a, local), rotate(turn_b, local));
    let grain_b = L::load(t, &laws.grain_b[at..]);
    let direction = [0, 1, 2].map(|k| grain_b.select_gt(zero, of_b[k], of_a[k]));
    let level = sub(direction, scale(normal, dot(normal, direction)));
    let (square, least) = (dot(level, level), dot(direction, direction) * L::splat(t, 1e-6));
    let inverse = one.div(square.sqrt().max(L::splat(t, Real::MIN_POSITIVE)));
    square.select_gt(least, L::load(t, &laws.across[at..]), one).store(&mut laws.length[at..]);
    [0, 1, 2].map(|k| square.select_gt(least, level[k] * inverse, tangent[k]))
}

/// Tangential displacement and slip after the correcting sweeps, where lanes have friction laws of their own: a law with a
/// bristle or with a dead band decides itself.
#[inline(always)]
pub(super) fn settle_by_law<L: Number>(
    t: L::Token,
    batch: &mut ContactBatch,
    (at, index): (usize, usize),
    visit: &mut PointVisit,
    (limit, p): (L, &ContactParams),
) {
    let zero = L::splat(t, 0.0);
    let load = |a: &Sixteen| L::load(t, &a[at..]);
    let (old, slip) = (visit.displacement, visit.slip);
    let (moved, creep) = law::settle(t, [load(&old[0]), load(&old[1])], [load(&slip[0]), load(&slip[1])], limit, p.h);
    let point = &mut batch.points[index];
    let slips = load(&visit.normal).select_gt(zero, load(&point.slips), zero);
    let slips = law::slips(t, slips, load(&visit.slipping), creep, limit);
    let Some(laws) = &mut batch.laws else { return };
    laws.follow(visit, p.h, at..at + L::COUNT);
    let lanes = laws.laws.map(|law| {
        if law.has_bristle() {
            2.0
        } else if law.decides_slip() {
            1.0
        } else {
            0.0
        }
    });
    let (own, half) = (load(&lanes), L::splat(t, 0.5));
    for k in 0..2 {
        let bristle = own - L::splat(t, 1.0);
        let displacement = bristle.select_gt(half, load(&old[k]), moved[k]);
        displacement.store(&mut point.tangential_displacement[k][at..]);
        load(&visit.displacement[k]).store(&mut laws.stretch[index][k][at..]);
    }
    own.select_gt(half, load(&visit.slipping), slips).store(&mut point.slipping[at..]);
}
