//! Rows of a tool: its coupling to the hand, the drives of its jaws, the anchors of its gripper.
//!
//! ```text
//!   coupling   F = K (x_d − x_t) + B (v_d − v_t),   T = K_r log(q_d q_t⁻¹) + B_r (ω_d − ω_t)      at the end of the substep
//!   drive      (x_jaw − x_shaft)·a = opening/2, with at most the force of the grasper
//!   anchor     x_point = x_tool, with at most the force of the hold in each direction
//! ```
//!
//! The coupling is the implicit Euler step of a spring and damper whose other end moves with a given velocity: a row
//! J·v + bias + softness·λ = 0 with bias = rate·error − v_d (`solver/soft.rs`). The error at the start of the substep is
//! shortened to what the limit allows, and each of the three components is bounded by it.

use super::spec::{Grip, Tool};
use super::wide_pose;
use crate::constraint::{Bounds, Kind, Place, RowBuffer, Term, Traits, View, Wish, has_own_response};
use crate::error::Error;
use crate::math::{Real, Sym3, Vec3, Wide3, narrow, widen};
use crate::solver::soft::{Softness, spring};
use crate::state::{ToolAnchor, ToolMemory, anchors_of};

/// Rows of the coupling: three of force, three of torque.
pub(crate) const COUPLING_ROWS: usize = 6;
/// Most points that a gripper holds.
pub(crate) const MOST_ANCHORS: usize = 16;

const AXES: [Vec3; 3] = [Vec3::X, Vec3::Y, Vec3::Z];

/// A tool in the form used by the step.
#[derive(Clone, Debug)]
pub(crate) struct BuiltTool {
    pub source: Tool,
    /// Origin of the body relative to its centre of mass [m].
    origin: Vec3,
    /// Stiffness, damping and limit: of force, of torque.
    numbers: [[Real; 3]; 2],
    /// Its jaws: slot, origin relative to the centre of mass, place on the tool when closed relative to its centre [m].
    pub jaws: [Option<(u32, Vec3, Vec3)>; 2],
}

impl Tool {
    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltTool, Error> {
        let model = view.model;
        self.check()?;
        let bad = |reason: String| Error::BadConstraint { constraint: "tool", reason };
        let rigid = model.rigid(self.body)?;
        if !rigid.is_dynamic() {
            return Err(bad("its body does not move by forces: make it dynamic".into()));
        }
        let mut jaws = [None; 2];
        // what the coupling moves: the body with its jaws, about the origin of the body
        let spread = |mass: Real, arm: Vec3| wide(mass) * widen(arm).length_squared();
        let largest = |inertia: &Sym3| wide(inertia.xx.max(inertia.yy).max(inertia.zz));
        let mut mass = wide(rigid.mass);
        let mut inertia = largest(&rigid.inertia) + spread(rigid.mass, rigid.local_center);
        if let Some(Grip { jaws: Some(given), .. }) = &self.grip {
            for (to, (jaw, closed)) in jaws.iter_mut().zip(given) {
                let body = model.rigid(*jaw)?;
                if !body.is_dynamic() || *jaw == self.body {
                    return Err(bad("a jaw must be a dynamic body of its own".into()));
                }
                mass += wide(body.mass);
                inertia += largest(&body.inertia) + spread(body.mass, *closed);
                *to = Some((jaw.index, -body.local_center, *closed - rigid.local_center));
            }
        }
        let coupling = self.coupling.damped(mass, inertia);
        let numbers = [
            [coupling.stiffness, coupling.damping, coupling.max_force],
            [coupling.turn_stiffness, coupling.turn_damping, coupling.max_torque],
        ];
        let numbers = numbers.map(|list| list.map(|x| x as Real));
        Ok(BuiltTool { source: self.clone(), origin: -rigid.local_center, numbers, jaws })
    }
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn wide(x: Real) -> f64 {
    x as f64
}

impl BuiltTool {
    /// Slot of its body.
    pub fn slot(&self) -> u32 {
        self.source.body.index
    }

    /// First row of the anchors.
    pub fn anchor_row(&self) -> usize {
        COUPLING_ROWS + self.jaws.iter().flatten().count()
    }

    /// Position of the body's origin and of the closed place of each jaw, from the centre and orientation of bodies.
    pub fn jaw_place(&self, jaw: usize, center: impl Fn(u32) -> (Vec3, crate::math::Quat)) -> Option<Real> {
        let (slot, origin, closed) = self.jaws[jaw]?;
        let axis = self.source.grip.as_ref()?.axis;
        let ((x, q), (jaw_x, jaw_q)) = (center(self.slot()), center(slot));
        let sign = if jaw == 0 { 1.0 } else { -1.0 };
        Some((jaw_x + jaw_q * origin - x - q * closed).dot(q * axis) * sign)
    }

    /// Opening of the jaws, or the largest one without jaws [m].
    pub fn opening(&self, center: impl Fn(u32) -> (Vec3, crate::math::Quat) + Copy) -> f64 {
        let largest = self.source.grip.as_ref().map_or(0.0, |grip| grip.max_opening);
        let open = match [self.jaw_place(0, center), self.jaw_place(1, center)] {
            [Some(a), Some(b)] => (a + b).clamp(0.0, largest),
            _ => largest,
        };
        wide(open)
    }

    fn coupling_rows(&self, view: &View<'_>, memory: &ToolMemory, out: &mut RowBuffer) {
        let slot = self.slot();
        let (x, q) = view.center(slot);
        let at = x + q * self.origin;
        let device = memory.commanded_after(wide(view.elapsed));
        let tool = wide_pose(&crate::math::Pose::new(at, q));
        let error = self.source.coupling.limited_error(&device, &tool);
        let rate = memory.motion();
        let parts = [(error.linear, rate.linear), (error.angular, rate.angular)];
        for (k, ((error, speed), [stiffness, damping, limit])) in parts.into_iter().zip(self.numbers).enumerate() {
            let (per_error, softness) = spring(stiffness, damping, view.h);
            let bound = limit * view.h;
            let bounds = Bounds::Between { low: -bound, high: bound };
            let (error, speed) = (narrow(error), narrow(speed));
            for axis in AXES {
                if k == 0 {
                    view.rigid_terms(slot, axis, at, |term| out.add_term(term));
                } else {
                    out.add_term(view.twist_term(slot, axis));
                }
                let bias = -error.dot(axis) * per_error - speed.dot(axis);
                out.close(Wish::Law(bias, softness), bounds);
            }
        }
    }

    #[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
    fn drive_rows(&self, view: &View<'_>, memory: &ToolMemory, joint: Softness, out: &mut RowBuffer) {
        let Some(grip) = &self.source.grip else { return };
        let (slot, bound) = (self.slot(), grip.force * view.h);
        let (_, q) = view.center(slot);
        let wanted = 0.5 * (memory.opening + memory.opening_rate * wide(view.elapsed));
        for jaw in 0..2 {
            let (Some((body, origin, _)), Some(place)) = (self.jaws[jaw], self.jaw_place(jaw, |s| view.center(s)))
            else {
                continue;
            };
            let axis = q * grip.axis * if jaw == 0 { 1.0 } else { -1.0 };
            let (jaw_x, jaw_q) = view.center(body);
            let at = jaw_x + jaw_q * origin;
            view.rigid_terms(slot, -axis, at, |term| out.add_term(term));
            view.rigid_terms(body, axis, at, |term| out.add_term(term));
            let wish = Wish::Held(place - wanted as Real, -0.5 * memory.opening_rate as Real, joint);
            out.close(wish, Bounds::Between { low: -bound, high: bound });
        }
    }

    fn anchor_rows(&self, view: &View<'_>, anchor: &ToolAnchor, joint: Softness, limit: Real, out: &mut RowBuffer) {
        let slot = self.slot();
        let place = place_of(anchor);
        let point = view.point(&place);
        let (x, q) = view.center(slot);
        let at = x + q * anchor.local();
        let bend = view.bend(slot, point - x);
        let own = has_own_response(view.model, anchor.body);
        for axis in AXES {
            view.rigid_terms(slot, -axis, point, |term| out.add_term(term));
            place.shares(view.model, |node, weight| {
                if own {
                    view.model_terms(anchor.body, (node, weight), axis, point, |term| out.merge_term(term));
                } else {
                    out.merge_term(view.node_term(view.node_block(anchor.body, node), axis * weight));
                }
            });
            let wish = Wish::Held((point - at).dot(axis), -bend.dot(axis), joint);
            out.close(wish, Bounds::Between { low: -limit, high: limit });
        }
    }
}

impl Kind for BuiltTool {
    fn traits(&self) -> Traits {
        let holds = self.source.grip.as_ref().is_some_and(|grip| grip.hold.is_some());
        let rows = self.anchor_row() + if holds { 3 * MOST_ANCHORS } else { 0 };
        Traits { rows, wide: true, ..Traits::default() }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        found(self.slot());
        self.jaws.iter().flatten().for_each(|jaw| found(jaw.0));
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        let Ok(at) = view.tools.binary_search_by_key(&self.slot(), |m| m.body) else { return };
        let memory = &view.tools[at];
        self.coupling_rows(view, memory, out);
        self.drive_rows(view, memory, joint, out);
        let Some(hold) = self.source.grip.as_ref().and_then(|grip| grip.hold.as_ref()) else { return };
        let limit = hold.force * view.h;
        for anchor in anchors_of(view.anchors, self.slot()).iter().take(MOST_ANCHORS) {
            self.anchor_rows(view, anchor, joint, limit, out);
        }
    }

    /// Force and torque of a unit impulse of a row of the coupling on the body.
    fn carried(&self, index: u32, terms: &[Term], _: &dyn Fn(u32) -> bool) -> (Vec3, Vec3) {
        let axis = terms.first().map_or(Vec3::ZERO, |t| t.jacobian);
        match index as usize {
            0..3 => (axis, Vec3::ZERO),
            3..COUPLING_ROWS => (Vec3::ZERO, axis),
            _ => (Vec3::ZERO, Vec3::ZERO),
        }
    }
}

/// The anchored point as a place.
pub(super) fn place_of(anchor: &ToolAnchor) -> Place {
    Place::Surface { body: anchor.body, surfels: anchor.surfels, weights: anchor.weights }
}

/// Mean force and torque of the coupling on the body, from the mean forces of its rows.
pub(super) fn wrench_of(rows: &[Real]) -> crate::math::Wrench {
    let part = |k: usize| rows.get(k..k + 3).map_or(Wide3::ZERO, |r| crate::math::widen(Vec3::from_slice(r)));
    crate::math::Wrench { force: part(0), torque: part(3) }
}
