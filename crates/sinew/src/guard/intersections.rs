//! Scenes with initial intersections, under `Settings::intersection_free`: two bodies whose surfaces intersect are separated,
//! or frozen.
//!
//! Intersections are found by edges that pierce triangles, whatever the depth. The lighter of the two bodies that can
//! move is translated: along the line of centres, the axes and the normals of the pierced triangles, each by the
//! shortest translation at which the two neither intersect nor touch; the shortest of these is used. Bodies that only
//! touch are separated by the same rule, since without a gap the side is undefined. A body that intersects itself, or
//! for which no translation within its own size is found, is refused: it is frozen and named in the report.
//!
//! This is done in every step, so that no state needs to be stored; a step that ended without intersections is
//! unchanged.

use crate::collision::continuous::cross::pierces;
use crate::guard::ccd::{features, groups_meet, keep, look, may_meet, place_start};
use crate::math::{Real, Vec3, Wide3, narrow, widen};
use crate::model::{Body, Model};
use crate::report::{Fault, FaultKind, Phase, Tangle, TangleEnd};
use crate::settings::Settings;
use crate::state::{State, flag};
use crate::tuning::intersections::{HALVINGS, ROUNDS};
use crate::work::{GuardBody, GuardWork, Meeting, Near, OutputWork, SoftWork};

/// Relation of two surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    Apart,
    Touching,
    /// With the normal of a pierced triangle, or of a plane.
    Crossing(Wide3),
}

/// Separates intersecting bodies, or freezes them.
pub(crate) fn resolve_intersections(
    model: &Model,
    state: &mut State,
    soft: &mut SoftWork,
    guard: &mut GuardWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    if !settings.intersection_free {
        return;
    }
    place_start(model, state, guard);
    guard.bodies.iter_mut().flatten().for_each(|b| b.refit(0.0));
    for _ in 0..ROUNDS {
        let mut moved = false;
        for a in 0..guard.bodies.len() as u32 {
            for b in a..guard.bodies.len() as u32 {
                moved |= sort_out(model, state, soft, guard, output, settings, (a, b));
            }
        }
        if !moved {
            return;
        }
    }
}

/// Checks one pair; true when a body was moved.
fn sort_out(
    model: &Model,
    state: &mut State,
    soft: &mut SoftWork,
    guard: &mut GuardWork,
    output: &mut OutputWork,
    settings: &Settings,
    (a, b): (u32, u32),
) -> bool {
    let bodies = &guard.bodies;
    let (Some(body_a), Some(body_b)) = (&bodies[a as usize], &bodies[b as usize]) else { return false };
    if a == b && !body_a.is_nodes() || !may_meet(model, state, a, b) {
        return false;
    }
    let test = Test { model, settings, a, b, body_a, body_b, shift: Wide3::ZERO };
    let lie = test.lie();
    if lie == Lie::Apart || a == b && lie == Lie::Touching {
        return false;
    }
    let found = if a == b { None } else { shortest(model, state, &test, lie) };
    let (id_a, id_b) = (model.body_id(a), model.body_id(b));
    match found {
        Some((slot, by)) => {
            let end = TangleEnd::Untangled { moved: model.body_id(slot), by };
            output.report.tangles.push(Tangle { a: id_a, b: id_b, end });
            shift(model, state, soft, guard, slot, by);
            true
        }
        None if lie == Lie::Touching => false,
        None => {
            output.report.tangles.push(Tangle { a: id_a, b: id_b, end: TangleEnd::Refused });
            hold(model, state, output, a);
            if a != b {
                hold(model, state, output, b);
            }
            false
        }
    }
}

/// The body to move and the shortest translation that separates the pair.
fn shortest(model: &Model, state: &State, test: &Test<'_>, lie: Lie) -> Option<(u32, Vec3)> {
    let slot = mover(model, state, test.a, test.b)?;
    let (moving, other) = if slot == test.a { (test.body_a, test.body_b) } else { (test.body_b, test.body_a) };
    let away = centre(moving)? - centre(other).unwrap_or(centre(moving)?);
    let normal = if let Lie::Crossing(n) = lie { n } else { Wide3::ZERO };
    let axes =
        [away.normalize_or_zero(), normal, -normal, Wide3::Y, -Wide3::Y, Wide3::X, -Wide3::X, Wide3::Z, -Wide3::Z];
    let sign = if slot == test.a { 1.0 } else { -1.0 };
    let free = |by: Wide3| Test { shift: by * sign, ..*test }.lie() == Lie::Apart;
    // `f64::from` is not usable in the f64 build
    let gap = widen(Vec3::splat(test.settings.standoff())).x;
    let most = size(moving) + 2.0 * gap;
    let mut best: Option<(f64, Wide3)> = None;
    for axis in axes.into_iter().filter(|a| *a != Wide3::ZERO) {
        let limit = best.map_or(most, |(length, _)| length);
        let mut high = gap.min(limit);
        while high < limit && !free(axis * high) {
            high = (2.0 * high).min(limit);
        }
        if !free(axis * high) {
            continue;
        }
        let mut low = if high > gap { 0.5 * high } else { 0.0 };
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if free(axis * middle) { high = middle } else { low = middle }
        }
        best = Some((high, axis));
    }
    // one gap more, so that contacts begin with clearance
    best.map(|(length, axis)| (slot, narrow(axis * (length + gap))))
}

/// The lighter of the two bodies that can be translated.
fn mover(model: &Model, state: &State, a: u32, b: u32) -> Option<u32> {
    let mass = |slot: u32| -> Option<Real> {
        if state.is_frozen(slot as usize) {
            return None;
        }
        match model.bodies.at(slot)? {
            Body::Rigid(r) => r.is_dynamic().then_some(r.mass),
            Body::Nodes(n) => n.inv_mass.iter().all(|m| *m > 0.0).then(|| n.mass.iter().sum()),
        }
    };
    match (mass(a), mass(b)) {
        (Some(x), Some(y)) => Some(if x < y { a } else { b }),
        (Some(_), None) => Some(a),
        (None, Some(_)) => Some(b),
        (None, None) => None,
    }
}

fn centre(body: &GuardBody) -> Option<Wide3> {
    let count = body.start.len() as f64;
    (count > 0.0).then(|| body.start.iter().fold(Wide3::ZERO, |s, x| s + *x) / count)
}

/// Diameter of a body's box [m].
fn size(body: &GuardBody) -> f64 {
    let bounds = body.tree.as_ref().and_then(|t| t.bounds());
    bounds.map_or(0.0, |b| widen(b.max - b.min).length())
}

fn shift(model: &Model, state: &mut State, soft: &mut SoftWork, guard: &mut GuardWork, slot: u32, by: Vec3) {
    let i = slot as usize;
    match model.bodies.at(slot) {
        Some(Body::Rigid(_)) => {
            state.x[i] += by;
            state.x_remainder[i] = Vec3::ZERO;
        }
        Some(Body::Nodes(nodes)) => state.node_x[nodes.span()].iter_mut().for_each(|x| *x += by),
        None => {}
    }
    state.flags[i] &= !flag::ASLEEP;
    state.sleep_timer[i] = 0.0;
    soft.stale = true;
    place_start(model, state, guard);
    if let Some(body) = &mut guard.bodies[i] {
        body.refit(0.0);
    }
}

/// Freezes a body at its position, as one with a fault.
fn hold(model: &Model, state: &mut State, output: &mut OutputWork, slot: u32) {
    let i = slot as usize;
    match model.bodies.at(slot) {
        Some(Body::Rigid(r)) if !r.is_dynamic() => return,
        Some(Body::Rigid(_)) => (state.v[i], state.w[i]) = (Vec3::ZERO, Vec3::ZERO),
        Some(Body::Nodes(nodes)) => state.node_v[nodes.span()].fill(Vec3::ZERO),
        None => return,
    }
    state.flags[i] |= flag::FROZEN;
    let (body, what) = (model.body_id(slot), FaultKind::Tangled);
    output.report.faults.push(Fault { body, phase: Phase::Intake, what, field: "x" });
}

/// One pair, with a translated by `shift` [m].
#[derive(Clone, Copy)]
struct Test<'a> {
    model: &'a Model,
    settings: &'a Settings,
    a: u32,
    b: u32,
    body_a: &'a GuardBody,
    body_b: &'a GuardBody,
    shift: Wide3,
}

impl Test<'_> {
    fn lie(&self) -> Lie {
        let mut lie = self.planes();
        let (Some(_), Some(tree_b)) = (&self.body_a.tree, &self.body_b.tree) else { return lie };
        let collider = |body: &GuardBody, cell: u32| body.collider.get(cell as usize).copied();
        for cell_a in 0..self.body_a.cells.corners.len() as u32 {
            if matches!(lie, Lie::Crossing(_)) {
                break;
            }
            let bounds = self.bounds(cell_a);
            tree_b.overlapping(&bounds, |cell_b| {
                let own = self.a == self.b;
                let meets = groups_meet(
                    self.model,
                    (self.a, collider(self.body_a, cell_a)),
                    (self.b, collider(self.body_b, cell_b)),
                );
                if meets && (!own || cell_a != cell_b) && !matches!(lie, Lie::Crossing(_)) {
                    lie = worse(lie, self.cells(cell_a, cell_b));
                }
            });
        }
        lie
    }

    fn at_a(&self, k: u32) -> Wide3 {
        self.body_a.start[k as usize] + self.shift
    }

    fn at_b(&self, k: u32) -> Wide3 {
        self.body_b.start[k as usize]
    }

    fn bounds(&self, cell: u32) -> crate::collision::Bounds3 {
        let corners = self.body_a.cells.corners[cell as usize];
        let at = corners.map(|k| narrow(self.at_a(k)));
        let radius = corners.iter().map(|&k| self.body_a.radii[k as usize]).fold(0.0, f64::max);
        let far = at.iter().fold(0.0, |most: Real, x| most.max(x.abs().max_element()));
        let grow = radius as Real + 32.0 * Real::EPSILON * far;
        let (min, max) = (at[0].min(at[1]).min(at[2]), at[0].max(at[1]).max(at[2]));
        crate::collision::Bounds3 { min, max }.grown(grow)
    }

    /// Two cells: edges that pierce triangles, then features that touch or overlap by their radii.
    fn cells(&self, cell_a: u32, cell_b: u32) -> Lie {
        let (corners_a, corners_b) =
            (self.body_a.cells.corners[cell_a as usize], self.body_b.cells.corners[cell_b as usize]);
        let own = self.a == self.b;
        let (x, y) = (corners_a.map(|k| self.at_a(k)), corners_b.map(|k| self.at_b(k)));
        let normal = |[a, b, c]: [Wide3; 3]| (b - a).cross(c - a).normalize_or_zero();
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            let shares = |edge: [u32; 2], face: [u32; 3]| own && edge.iter().any(|k| face.contains(k));
            if self.body_b.cells.is_triangle(cell_b)
                && !shares([corners_a[i], corners_a[j]], corners_b)
                && pierces([x[i], x[j]], y)
            {
                return Lie::Crossing(normal(y));
            }
            if self.body_a.cells.is_triangle(cell_a)
                && !shares([corners_b[i], corners_b[j]], corners_a)
                && pierces([y[i], y[j]], x)
            {
                return Lie::Crossing(normal(x));
            }
        }
        let mut lie = Lie::Apart;
        if !own {
            features((self.a, self.body_a, cell_a), (self.b, self.body_b, cell_b), &mut |pair| {
                lie = worse(lie, self.pair(&pair));
            });
        }
        lie
    }

    /// Two features: apart, touching, or overlapping by the radii of round bodies.
    fn pair(&self, pair: &Near) -> Lie {
        let shifted = pair.a == self.a;
        let (first, second) = if shifted { (self.body_a, self.body_b) } else { (self.body_b, self.body_a) };
        let keep = keep(pair, first, second, self.settings);
        let now = look_shifted(pair, first, second, if shifted { self.shift } else { -self.shift });
        if keep.touch > 0.0 && now.0 < keep.touch - keep.floor {
            Lie::Crossing(now.1)
        } else if now.0 <= keep.touch + keep.floor {
            Lie::Touching
        } else {
            Lie::Apart
        }
    }

    /// Vertices against planes.
    fn planes(&self) -> Lie {
        let mut lie = Lie::Apart;
        for (point, face, slots, shift) in [
            (self.body_a, self.body_b, (self.a, self.b), self.shift),
            (self.body_b, self.body_a, (self.b, self.a), -self.shift),
        ] {
            for (number, plane) in face.planes.iter().enumerate() {
                for (cell, corners) in point.cells.corners.iter().enumerate() {
                    let collider = point.collider.get(cell).copied();
                    if !groups_meet(self.model, (slots.0, collider), (slots.1, Some(plane.collider))) {
                        continue;
                    }
                    for &vertex in corners {
                        let corners = [vertex, number as u32, 0, 0];
                        let pair = Near { a: slots.0, b: slots.1, kind: Meeting::VertexPlane, corners };
                        let keep = keep(&pair, point, face, self.settings);
                        let now = look(&pair, point, face, 0.0);
                        let width = now.width - now.normal.dot(shift);
                        if width < keep.touch - keep.floor {
                            lie = worse(lie, Lie::Crossing(-now.normal));
                        } else if width <= keep.touch + keep.floor {
                            lie = worse(lie, Lie::Touching);
                        }
                    }
                }
            }
        }
        lie
    }
}

/// Distance and direction of two features with the first one translated.
fn look_shifted(pair: &Near, a: &GuardBody, b: &GuardBody, shift: Wide3) -> (f64, Wide3) {
    use crate::collision::continuous::{edge_edge, vertex_face};
    let split = pair.split();
    let x: [Wide3; 4] = std::array::from_fn(|k| {
        let at = pair.corners[k] as usize;
        if k < split { a.start[at] + shift } else { b.start[at] }
    });
    let slab = if pair.kind == Meeting::EdgeEdge { edge_edge(&x) } else { vertex_face(&x) };
    (slab.width, slab.normal)
}

fn worse(x: Lie, y: Lie) -> Lie {
    match (x, y) {
        (Lie::Crossing(_), _) => x,
        (_, Lie::Crossing(_)) => y,
        (Lie::Touching, _) | (_, Lie::Touching) => Lie::Touching,
        _ => Lie::Apart,
    }
}
