//! Friction laws of nodes in lanes (`contact/kernel/node.rs`, `contact/kernel/cloth.rs`). Tangential vectors are in world
//! axes there; a law is isotropic, so that any two axes of the contact plane serve.

use crate::friction::{Coefficients, Law, StickSpring, VisitLanes};
use crate::math::{Eight, Eight3, LANES, Real, Vec3, any_orthonormal};
use std::ops::Range;

/// Eight nodes as a kernel visits them; vectors in world axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeVisit {
    /// Normals, and impulses along them [N·s].
    pub normal: Eight3,
    pub pressed: Eight,
    /// Slip with the present friction impulses [m/s], these impulses [N·s] and the response to them [1/kg].
    pub slip: Eight3,
    pub impulse: Eight3,
    pub response: Eight,
    /// Tangential displacement since the node stuck, or stretch of its bristle [m]; 1 while slipping.
    pub displacement: Eight3,
    pub slipping: Eight,
}

const ZERO: Eight = [0.0; LANES];

impl Default for NodeVisit {
    fn default() -> Self {
        let [normal, slip, impulse, displacement] = [[ZERO; 3]; 4];
        Self { normal, pressed: ZERO, slip, impulse, response: ZERO, displacement, slipping: ZERO }
    }
}

/// Friction law of a pair of surfaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeLaw {
    pub law: Law,
    pub coefficients: Coefficients,
    /// Substep [s].
    pub h: Real,
}

/// Rows of eight nodes: bias [m/s] and radius of the disc [N·s].
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeTractions {
    pub bias: Eight3,
    pub radius: Eight,
}

fn pick(a: &Eight3, lane: usize) -> Vec3 {
    Vec3::new(a[0][lane], a[1][lane], a[2][lane])
}

fn put(a: &mut Eight3, lane: usize, v: Vec3) {
    (a[0][lane], a[1][lane], a[2][lane]) = (v.x, v.y, v.z);
}

/// Two axes of the contact plane of a node.
fn axes(visit: &NodeVisit, lane: usize) -> [Vec3; 2] {
    let n = pick(&visit.normal, lane);
    let t = any_orthonormal(n);
    [t, n.cross(t)]
}

impl NodeLaw {
    /// In two axes of the contact plane.
    fn lower(&self, visit: &NodeVisit, lanes: Range<usize>) -> VisitLanes {
        let Coefficients { holding, slipping } = self.coefficients;
        let mut out = VisitLanes {
            h: self.h,
            normal: visit.pressed,
            coefficients: [[holding; LANES], [slipping; LANES]],
            response: visit.response,
            slipping: visit.slipping,
            ..VisitLanes::default()
        };
        for lane in lanes {
            for (k, axis) in axes(visit, lane).into_iter().enumerate() {
                out.slip[k][lane] = axis.dot(pick(&visit.slip, lane));
                out.impulse[k][lane] = axis.dot(pick(&visit.impulse, lane));
                out.displacement[k][lane] = axis.dot(pick(&visit.displacement, lane));
            }
        }
        out
    }

    /// The rows of the nodes `lanes`; `rate`: of the spring from the stick point [1/s].
    #[inline(never)]
    pub fn tractions(&self, visit: &NodeVisit, rate: Real, lanes: Range<usize>) -> NodeTractions {
        let mut out = NodeTractions { bias: [ZERO; 3], radius: ZERO };
        let spring = StickSpring { rate, softness: 0.0 };
        let lowered = self.lower(visit, lanes.clone());
        self.law.tractions(
            &lowered,
            |_| spring,
            lanes,
            |lane, of| {
                let [a, b] = axes(visit, lane);
                put(&mut out.bias, lane, a * of.bias[0] + b * of.bias[1]);
                out.radius[lane] = of.radius;
            },
        );
        out
    }

    /// Updates displacement and slip of the nodes `lanes` after a substep with the slip of `visit`, where the law decides
    /// them.
    #[inline(never)]
    pub fn follow(&self, visit: &mut NodeVisit, lanes: Range<usize>) {
        if !self.law.decides_slip() {
            return;
        }
        let lowered = self.lower(visit, lanes.clone());
        for lane in lanes {
            let point = lowered.point(lane);
            let seen = self.law.follow(self.h, point.normal, point.coefficients, point.memory, point.slip);
            visit.slipping[lane] = if seen.slipping && point.normal > 0.0 { 1.0 } else { 0.0 };
            if self.law.has_bristle() {
                let [a, b] = axes(visit, lane);
                put(&mut visit.displacement, lane, a * seen.stretch[0] + b * seen.stretch[1]);
            }
        }
    }
}
