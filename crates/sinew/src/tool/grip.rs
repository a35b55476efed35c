//! Gripping by anchors: which surface points are taken, when they are released or lost.

use super::rows::{BuiltTool, MOST_ANCHORS};
use super::spec::Hold;
use crate::constraint::Constraint;
use crate::math::{Pose, Real, Vec3};
use crate::model::{ConstraintId, Model, Nodes};
use crate::report::Event;
use crate::state::{State, ToolAnchor, anchors_of, tool_flag};

/// Distance of a third point from the line of the first two, as a fraction of their distance, below which a grip could
/// turn about that line.
const OFF_LINE: Real = 0.05;

/// Takes points when the commanded opening passes that of the hold, and releases them when it passes it again.
pub(super) fn begin(
    model: &Model,
    state: &mut State,
    at: usize,
    (tool, id): (&BuiltTool, ConstraintId),
    events: &mut Vec<Event>,
    dt: f64,
) {
    let Some(hold) = tool.source.grip.as_ref().and_then(|grip| grip.hold.as_ref()) else { return };
    let memory = &mut state.tools[at];
    let closed = memory.opening + memory.opening_rate * dt <= f64::from(hold.engage);
    if closed == (memory.flags & tool_flag::CLOSED != 0) {
        return;
    }
    memory.flags ^= tool_flag::CLOSED;
    if closed {
        let points = take(model, state, tool, hold);
        if points > 0 {
            events.push(Event::Gripped { tool: id, points });
        }
    } else {
        let points = release(model, state, tool.slot(), |_| true);
        if points > 0 {
            events.push(Event::Released { tool: id, points });
        }
    }
}

/// A point that may be taken.
#[derive(Clone, Copy)]
struct Candidate {
    body: u32,
    surfels: [u32; 3],
    weights: [Real; 3],
    /// Axes of the tool's body, relative to its centre of mass [m].
    local: Vec3,
}

/// Anchors the points in the box of a hold; returns how many.
fn take(model: &Model, state: &mut State, tool: &BuiltTool, hold: &Hold) -> u32 {
    let slot = tool.slot();
    let Some(rigid) = model.rigid_at(slot) else { return 0 };
    let body = Pose::new(state.x[slot as usize], state.q[slot as usize]);
    let center = hold.center - rigid.local_center;
    let mut found: Vec<Candidate> = Vec::new();
    for (other, nodes) in model.bodies.iter().filter_map(|(s, _)| Some((s, model.nodes_at(s)?))) {
        let points: Vec<Option<Vec3>> =
            (0..nodes.surface.len() as u32).map(|s| Some(body.unpoint(surfel(nodes, state, s)?))).collect();
        let inside = |p: Vec3| (p - center).abs().cmple(hold.half).all();
        for (s, &p) in (0..).zip(&points) {
            if let Some(local) = p.filter(|p| inside(*p)) {
                found.push(Candidate { body: other, surfels: [s; 3], weights: [1.0, 0.0, 0.0], local });
            }
        }
        let mut edges: Vec<[u32; 2]> = nodes.surface.triangles().iter().flat_map(|t| edges_of(*t)).collect();
        edges.sort_unstable();
        edges.dedup();
        for [a, b] in edges {
            let (Some(p), Some(q)) = (points[a as usize], points[b as usize]) else { continue };
            let local = (p + q) * 0.5;
            if inside(local) {
                found.push(Candidate { body: other, surfels: [a, b, b], weights: [0.5, 0.5, 0.0], local });
            }
        }
    }
    let chosen = spread_out(&found, center);
    if !holds_turns(&chosen) {
        return 0;
    }
    let first = state.tool_anchors.partition_point(|a| a.tool < slot);
    let anchors = chosen.iter().map(|c| ToolAnchor {
        tool: slot,
        body: c.body,
        surfels: c.surfels,
        spare: 0,
        weights: c.weights,
        local: c.local.to_array(),
    });
    state.tool_anchors.splice(first..first, anchors);
    for c in &chosen {
        wake(state, c.body);
    }
    chosen.len() as u32
}

fn wake(state: &mut State, slot: u32) {
    state.flags[slot as usize] &= !crate::state::flag::ASLEEP;
    state.sleep_timer[slot as usize] = 0.0;
}

fn edges_of([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a.min(b), a.max(b)], [b.min(c), b.max(c)], [a.min(c), a.max(c)]]
}

/// Position of a surface point; none for one that does not follow its nodes linearly.
fn surfel(nodes: &Nodes, state: &State, surfel: u32) -> Option<Vec3> {
    let at =
        |sum: Vec3, s: &crate::model::surface::Share| sum + state.node_x[(nodes.start + s.node) as usize] * s.weight;
    (nodes.surface.offset(surfel) == 0.0).then(|| nodes.surface.shares(surfel).iter().fold(Vec3::ZERO, at))
}

/// At most sixteen points: the one nearest to the centre, then always the one farthest from all taken.
fn spread_out(found: &[Candidate], center: Vec3) -> Vec<Candidate> {
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut away: Vec<Real> = found.iter().map(|c| -(c.local - center).length_squared()).collect();
    while chosen.len() < MOST_ANCHORS.min(found.len()) {
        // the first of equal ones
        let best = (0..found.len()).fold(0, |best, k| if away[k] > away[best] { k } else { best });
        if !chosen.is_empty() && away[best] <= 0.0 {
            break;
        }
        let taken = found[best].local;
        for (away, c) in away.iter_mut().zip(found) {
            let d = (c.local - taken).length_squared();
            *away = if chosen.is_empty() { d } else { away.min(d) };
        }
        chosen.push(found[best]);
    }
    chosen
}

/// True for three points or more that are not in line.
fn holds_turns(chosen: &[Candidate]) -> bool {
    let [a, b, rest @ ..] = chosen else { return false };
    let line = b.local - a.local;
    rest.iter().any(|c| line.cross(c.local - a.local).length() > OFF_LINE * line.length_squared())
}

/// Removes anchors of a tool, and the impulses of their rows; returns how many. The impulses of those that remain move up.
pub(crate) fn release(model: &Model, state: &mut State, slot: u32, gone: impl Fn(&ToolAnchor) -> bool) -> u32 {
    let of_slot = |(_, c): &(u32, &Constraint)| matches!(c, Constraint::Tool(t) if t.slot() == slot);
    let Some((constraint, Constraint::Tool(tool))) = model.constraints.iter().find(of_slot) else { return 0 };
    let rows = model.rows_of(constraint);
    let mut impulses: Vec<Real> = Vec::new();
    let first = rows.start + tool.anchor_row();
    for (k, anchor) in anchors_of(&state.tool_anchors, slot).iter().enumerate() {
        let own = first + 3 * k..first + 3 * k + 3;
        if !gone(anchor) && own.end <= rows.end && own.end <= state.row_impulses.len() {
            impulses.extend_from_slice(&state.row_impulses[own]);
        }
    }
    let before = state.tool_anchors.len();
    state.tool_anchors.retain(|a| a.tool != slot || !gone(a));
    if first <= rows.end && rows.end <= state.row_impulses.len() {
        let kept = impulses.len().min(rows.end - first);
        state.row_impulses[first..first + kept].copy_from_slice(&impulses[..kept]);
        state.row_impulses[first + kept..rows.end].fill(0.0);
    }
    (before - state.tool_anchors.len()) as u32
}

/// Drops anchors that slid farther than their hold allows.
pub(super) fn drop_lost(model: &Model, state: &mut State, events: &mut Vec<Event>) {
    for (slot, constraint) in model.constraints.iter() {
        let Constraint::Tool(tool) = constraint else { continue };
        let Some(hold) = tool.source.grip.as_ref().and_then(|grip| grip.hold.as_ref()) else { continue };
        let (x, q) = (state.x[tool.slot() as usize], state.q[tool.slot() as usize]);
        let lost = |a: &ToolAnchor| point(model, state, a).is_none_or(|p| (p - x - q * a.local()).length() > hold.slip);
        if !anchors_of(&state.tool_anchors, tool.slot()).iter().any(lost) {
            continue;
        }
        let list: Vec<ToolAnchor> =
            anchors_of(&state.tool_anchors, tool.slot()).iter().copied().filter(|a| lost(a)).collect();
        let points = release(model, state, tool.slot(), |a| list.contains(a));
        events.push(Event::Released { tool: model.constraint_id(slot), points });
    }
}

/// Position of an anchored point.
pub(super) fn point(model: &Model, state: &State, anchor: &ToolAnchor) -> Option<Vec3> {
    let nodes = model.nodes_at(anchor.body)?;
    let mut sum = Vec3::ZERO;
    for (&s, weight) in anchor.surfels.iter().zip(anchor.weights).filter(|(_, w)| *w != 0.0) {
        if s as usize >= nodes.surface.len() {
            return None;
        }
        sum += surfel(nodes, state, s)? * weight;
    }
    Some(sum)
}
