//! One tick: forces at the contact points and poses of the proxies, by a fixed number of Gauss-Seidel sweeps.
//!
//! Unknowns are the force f_i on the tool at each point and the pose g of each proxy. With the pose d of the device:
//!
//! ```text
//!   g    = d + K_c⁻¹ Σ J_iᵀ f_i                        (the proxy has no mass)
//!   x_i  = x_ik + u_i (t − t_k) − Σ_j C_ij (e_j − e_jk)  (surface point; forces are those on the tool)
//!   e_j  = (T f_j + β e_j(last tick))/(T + β)           (Kelvin-Voigt)
//!   gap_i(g, x_i) ≥ 0,  f_n ≥ 0,  complementary;   |f_t| ≤ μ f_n,  stick relative to the anchor
//! ```
//!
//! Features are evaluated anew after every third sweep, or after each when few touch; between, gaps are linear. The
//! anchors of friction live here and nowhere else: an anchor predicted by the physics overshoots on reversal.

use super::points::{Anchor, Points};
use crate::geometry::Touch;
use crate::snapshot::{MOST_POINTS, MOST_TOOLS, Snapshot};
use sinew_math::Wide3;
use sinew_math::{Frame, Motion, Wrench};

/// Sweeps between two evaluations of all features.
const RENEW: u32 = 3;
/// Up to so many active points are evaluated in every sweep. On an edge of radius R under a coupling stretched by d the
/// normal converges by d/R an evaluation only; many points at once are on soft matter, where it hardly turns.
const FEW: usize = 8;
/// Points with a larger gap are left out until the next evaluation [m].
const REACH: f64 = 2e-3;

/// One tool while it is solved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proxy {
    /// Pose of the device that counts.
    pub device: Frame,
    /// Displacement of the proxy from it.
    pub away: Motion,
    /// Value of `away` at which features were evaluated.
    base: Motion,
    /// 1/K_c and 1/K_r [m/N, rad/(N·m)].
    pub compliance: (f64, f64),
}

impl Proxy {
    pub fn frame(&self) -> Frame {
        self.device.moved(&self.away)
    }

    /// Motion of a point at an arm since the features were evaluated.
    fn drift(&self, arm: Wide3) -> Wide3 {
        self.away.linear - self.base.linear + (self.away.angular - self.base.angular).cross(arm)
    }

    fn push(&mut self, force: Wide3, arm: Wide3) {
        self.away.linear += force * self.compliance.0;
        self.away.angular += arm.cross(force) * self.compliance.1;
    }

    /// Displacement of a point at an arm along an axis for a unit force along it.
    fn answer(&self, arm: Wide3, axis: Wide3) -> f64 {
        self.compliance.0 + arm.cross(axis).length_squared() * self.compliance.1
    }
}

/// Contact point as it stands at the last evaluation.
#[derive(Clone, Copy, Debug)]
struct Linear {
    gap: f64,
    normal: Wide3,
    /// Arms from the origins of the proxies.
    arm: Wide3,
    other_arm: Wide3,
    /// Tangential displacement from the anchor.
    slip: Wide3,
    /// Displacement of the matter at the evaluation: along the normal, and as a vector across it.
    sunk: f64,
    shifted: Wide3,
    /// Inverse stiffness along and across the normal [m/N].
    answer: [f64; 2],
    active: bool,
}

/// The solver and its memory. Nothing allocates.
#[derive(Clone, Debug)]
pub(super) struct Solver {
    pub proxies: [Proxy; MOST_TOOLS],
    pub points: Points,
    lines: [Linear; MOST_POINTS],
    /// Time since the snapshot [s].
    pub age: f64,
    /// Length of a tick [s].
    tick: f64,
    sweeps: u32,
}

/// What the contacts of one tool took in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Loss {
    /// By friction and viscosity [J].
    pub energy: f64,
    /// Slip, weighted by normal forces [m].
    pub slip: Wide3,
    /// Sum of the normal forces [N].
    pressed: f64,
}

/// Totals of a tick for one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub wrench: Wrench,
    pub pressed: u32,
}

impl Solver {
    pub fn new(tick: f64, sweeps: u32) -> Self {
        let line = Linear {
            gap: 0.0,
            normal: Wide3::Y,
            arm: Wide3::ZERO,
            other_arm: Wide3::ZERO,
            slip: Wide3::ZERO,
            sunk: 0.0,
            shifted: Wide3::ZERO,
            answer: [0.0; 2],
            active: false,
        };
        Self {
            proxies: [Proxy::default(); MOST_TOOLS],
            points: Points::default(),
            lines: [line; MOST_POINTS],
            age: 0.0,
            tick,
            sweeps,
        }
    }

    /// Solves for the present poses of the devices. `elastic`: as if matter had no viscosity. Memory of friction and
    /// relaxation does not change before [`Self::commit`].
    pub fn solve(&mut self, snapshot: &Snapshot, elastic: bool) {
        self.points.set_share(snapshot, self.tick, elastic);
        for sweep in 0..self.sweeps {
            let all = sweep % RENEW == 0;
            if all || self.lines[..snapshot.points().len()].iter().filter(|l| l.active).count() <= FEW {
                self.renew(snapshot, all);
            }
            for i in 0..snapshot.points().len() {
                if self.lines[i].active {
                    self.relax(snapshot, i);
                }
            }
        }
        // the pose that belongs to the forces, with arms at that pose
        self.sum_forces(snapshot);
    }

    fn holder(&self, snapshot: &Snapshot, i: usize) -> Frame {
        let point = &snapshot.points()[i];
        let held = point.other.map_or(Frame::default(), |o| self.proxies[o as usize].frame());
        Frame { position: held.position + point.velocity * self.age, ..held }
    }

    /// Position of the material point of the other side, and the frame that its anchor turns with [m].
    fn surface_point(&self, snapshot: &Snapshot, i: usize) -> (Wide3, Frame) {
        let holder = self.holder(snapshot, i);
        let sunk = self.points.normal[i] * self.points.sunk(i) + self.points.shifted(i);
        (holder.point(snapshot.points()[i].geometry.reference()) - sunk, holder)
    }

    /// Evaluates features at the present poses: all, or those of active points.
    fn renew(&mut self, snapshot: &Snapshot, all: bool) {
        self.points.displace(snapshot);
        let frames = self.proxies.map(|p| p.frame());
        let mut touches = [None; MOST_POINTS];
        for (i, point) in snapshot.points().iter().enumerate() {
            if !all && !self.lines[i].active {
                continue;
            }
            let mut holder = self.holder(snapshot, i);
            holder.position -= self.points.normal[i] * self.points.sunk(i) + self.points.shifted(i);
            touches[i] = Some(point.geometry.touch(&frames[point.tool as usize], &holder));
        }
        for proxy in &mut self.proxies {
            proxy.base = proxy.away;
        }
        for i in 0..snapshot.points().len() {
            if let Some(touch) = touches[i] {
                let chosen = is_nearest(snapshot, &touches, i);
                self.linearize(snapshot, i, &touch, &frames, chosen);
            }
        }
        // normals turned: displacements and proxies once more, from the forces in the new axes
        self.points.displace(snapshot);
        self.sum_forces(snapshot);
    }

    fn linearize(&mut self, snapshot: &Snapshot, i: usize, touch: &Touch, frames: &[Frame; MOST_TOOLS], chosen: bool) {
        let point = &snapshot.points()[i];
        let (tool, other) = (point.tool as usize, point.other.map(|o| o as usize));
        let normal = touch.normal;
        let arm = touch.point - frames[tool].position;
        let other_arm = other.map_or(Wide3::ZERO, |o| touch.point - normal * touch.gap - frames[o].position);
        let sunk = self.points.sunk(i);
        let shifted = self.points.shifted(i);
        let (place, holder) = self.surface_point(snapshot, i);

        // friction: displacement of the material points from where they stick together
        let anchor = self.points.anchor[i];
        let separation = frames[tool].point(anchor.local) - place - holder.rotation * anchor.offset;
        let slip = if anchor.held { across(separation, normal) } else { Wide3::ZERO };
        if !anchor.held {
            let local = frames[tool].unpoint(touch.point);
            let offset = holder.rotation.conjugate() * (touch.point - place);
            self.points.anchor[i] = Anchor { held: false, local, offset };
        }

        let proxy = &self.proxies[tool];
        let both =
            |axis: Wide3| proxy.answer(arm, axis) + other.map_or(0.0, |o| self.proxies[o].answer(other_arm, axis));
        // across: an upper bound of both directions, so that a sweep never overshoots
        let spin = |p: &Proxy, arm: Wide3| p.compliance.0 + arm.length_squared() * p.compliance.1;
        let sideways = spin(proxy, arm) + other.map_or(0.0, |o| spin(&self.proxies[o], other_arm));
        let [soft, soft_across] = self.points.own_compliance(snapshot, i);
        self.lines[i] = Linear {
            gap: touch.gap,
            normal,
            arm,
            other_arm,
            slip,
            sunk,
            shifted,
            answer: [both(normal) + soft, sideways + soft_across],
            active: chosen && (touch.gap < REACH || self.points.force[i] != Wide3::ZERO),
        };
        self.points.turn_force(i, normal, point.friction, chosen);
    }

    /// Displacements of the proxies from all forces: K_c⁻¹ Σ Jᵀ f.
    fn sum_forces(&mut self, snapshot: &Snapshot) {
        for proxy in &mut self.proxies {
            proxy.away = Motion::ZERO;
        }
        for (i, point) in snapshot.points().iter().enumerate() {
            let force = self.points.force[i];
            if force != Wide3::ZERO {
                let line = &self.lines[i];
                self.proxies[point.tool as usize].push(force, line.arm);
                if let Some(o) = point.other {
                    self.proxies[o as usize].push(-force, line.other_arm);
                }
            }
        }
    }

    /// Relaxes one point: normal force, then friction in the disc of the new normal force.
    fn relax(&mut self, snapshot: &Snapshot, i: usize) {
        let point = &snapshot.points()[i];
        let (tool, other) = (point.tool as usize, point.other.map(|o| o as usize));
        let line = self.lines[i];
        let mut drift = self.proxies[tool].drift(line.arm);
        if let Some(o) = other {
            drift -= self.proxies[o].drift(line.other_arm);
        }
        let old = self.points.force[i];
        let pressed = old.dot(line.normal);
        let gap = line.gap + drift.dot(line.normal) + self.points.sunk(i) - line.sunk;
        let push = (pressed - gap / line.answer[0]).max(0.0);
        let mut rub = Wide3::ZERO;
        if point.friction > 0.0 && push > 0.0 {
            let slip = line.slip + across(drift + self.points.shifted(i) - line.shifted, line.normal);
            let wanted = across(old, line.normal) - slip / line.answer[1];
            rub = sinew_math::shortened(wanted, point.friction * push);
        }
        let force = line.normal * push + rub;
        let change = force - old;
        if change == Wide3::ZERO {
            return;
        }
        self.points.force[i] = force;
        self.proxies[tool].push(change, line.arm);
        if let Some(o) = other {
            self.proxies[o].push(-change, line.other_arm);
        }
        self.points.spread(snapshot, i, change);
    }

    /// Force and torque on a tool about the origin of its device, and how many points press.
    pub fn totals(&self, snapshot: &Snapshot, tool: usize) -> Totals {
        let mut totals = Totals::default();
        for (i, point) in snapshot.points().iter().enumerate() {
            let (force, line) = (self.points.force[i], &self.lines[i]);
            if force == Wide3::ZERO {
                continue;
            }
            let mut add = |force: Wide3, arm: Wide3| {
                totals.wrench = totals.wrench.plus(&Wrench::of_force_at(force, arm));
                totals.pressed += 1;
            };
            if point.tool as usize == tool {
                add(force, line.arm);
            }
            if point.other == Some(tool as u32) {
                add(-force, line.other_arm);
            }
        }
        totals
    }

    /// Ends the tick: relaxed forces and anchors take up the solution.
    pub fn commit(&mut self, snapshot: &Snapshot) -> [Loss; MOST_TOOLS] {
        let mut losses = [Loss::default(); MOST_TOOLS];
        self.points.displace(snapshot);
        let frames = self.proxies.map(|p| p.frame());
        for (i, point) in snapshot.points().iter().enumerate() {
            let loss = &mut losses[point.tool as usize];
            loss.energy += self.points.relax_elastic(snapshot, i, self.tick);
            let (force, line) = (self.points.force[i], self.lines[i]);
            let pressed = force.dot(line.normal);
            if pressed <= 0.0 {
                self.points.anchor[i].held = false;
                continue;
            }
            let frame = &frames[point.tool as usize];
            let slides = across(force, line.normal).length() >= point.friction * pressed * (1.0 - 1e-9);
            let held = self.points.anchor[i].held;
            if !slides && held {
                continue;
            }
            let (place, holder) = self.surface_point(snapshot, i);
            let anchor = &mut self.points.anchor[i];
            if held {
                let moved = frame.point(anchor.local) - place - holder.rotation * anchor.offset;
                let slip = across(moved, line.normal);
                loss.energy += across(self.points.held[i], line.normal).dot(-slip).max(0.0);
                loss.slip += slip * pressed;
                loss.pressed += pressed;
            }
            let at = frame.position + line.arm;
            let offset = holder.rotation.conjugate() * (at - place);
            *anchor = Anchor { held: true, local: frame.unpoint(at), offset };
        }
        for loss in losses.iter_mut().filter(|l| l.pressed > 0.0) {
            loss.slip /= loss.pressed;
        }
        losses
    }

    /// Energy stored in the coupling of a tool and in the matter that it touches [J].
    pub fn stored(&self, snapshot: &Snapshot, tool: usize) -> f64 {
        let wrench = self.totals(snapshot, tool).wrench;
        let (linear, angular) = self.proxies[tool].compliance;
        let coupling = 0.5 * (linear * wrench.force.length_squared() + angular * wrench.torque.length_squared());
        let of_tool = |i: &usize| snapshot.points()[*i].tool as usize == tool;
        let matter = (0..snapshot.points().len()).filter(of_tool).map(|i| self.points.stored(i));
        coupling + matter.sum::<f64>()
    }
}

fn across(v: Wide3, normal: Wide3) -> Wide3 {
    v - normal * v.dot(normal)
}

/// True unless another face of the same convex body is the one that acts. In front of the body that is the nearest,
/// inside of it the one with the shortest way out.
fn is_nearest(snapshot: &Snapshot, touches: &[Option<Touch>; MOST_POINTS], i: usize) -> bool {
    let points = snapshot.points();
    let me = &points[i];
    if me.group == 0 {
        return true;
    }
    let Some(mine) = touches[i] else { return true };
    let same = |p: &crate::ContactPoint| p.group == me.group && p.tool == me.tool && p.other == me.other;
    !(0..points.len()).filter(|&j| j != i && same(&points[j])).any(|j| match touches[j] {
        Some(t) if t.outside != mine.outside => t.outside,
        Some(t) if t.gap == mine.gap => j < i,
        Some(t) => (t.gap < mine.gap) == mine.outside,
        None => false,
    })
}
