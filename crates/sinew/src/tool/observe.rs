//! Wrenches of tools in the report.

use super::rows::{BuiltTool, wrench_of};
use super::{drive, grip, narrow_pose, wide_pose};
use crate::constraint::{Constraint, Kind};
use crate::math::{Frame, Pose, Real, Vec3, Wrench, widen};
use crate::model::{ConstraintId, Model};
use crate::report::{Report, ToolReport};
use crate::state::{State, anchors_of};

/// Reports all tools; `rows` are the mean forces of constraint rows.
pub(crate) fn observe(model: &Model, state: &State, rows: &[Real], report: &mut Report) {
    let mut tools = std::mem::take(&mut report.tools);
    for (slot, constraint) in model.constraints.iter() {
        let Constraint::Tool(tool) = constraint else { continue };
        let own = rows.get(model.rows_of(slot)).unwrap_or(&[]);
        tools.push(of(model, state, (tool, model.constraint_id(slot)), own, report));
    }
    report.tools = tools;
}

/// A tool at its present pose, without forces before the first step.
pub(crate) fn read(
    model: &Model,
    state: &State,
    id: ConstraintId,
    report: &Report,
) -> Result<ToolReport, crate::error::Error> {
    let tool = drive::find(model, id)?;
    let known = report.tools.iter().find(|t| t.tool == id).copied();
    Ok(known.unwrap_or_else(|| of(model, state, (tool, id), &[], &Report::default())))
}

fn of(
    model: &Model,
    state: &State,
    (tool, id): (&BuiltTool, ConstraintId),
    rows: &[Real],
    report: &Report,
) -> ToolReport {
    let slot = tool.slot();
    let center = |s: u32| (state.x[s as usize], state.q[s as usize]);
    let (x, q) = center(slot);
    let pose = model.rigid_at(slot).map_or(Pose::new(x, q), |r| r.origin(x, q));
    let frame = wide_pose(&pose);
    let commanded = drive::index(state, slot).map_or(frame, |at| state.tools[at].commanded());
    let on_tool = wrench_of(rows);
    let arm = commanded.position - frame.position;
    let on_hand = Wrench { force: -on_tool.force, torque: arm.cross(on_tool.force) - on_tool.torque };
    let coupling = &tool.source.coupling;
    let places = [0, 1].map(|jaw| tool.jaw_place(jaw, center));
    let drives = [0, 1].map(|jaw| rows.get(super::COUPLING_ROWS + jaw).filter(|_| places[jaw].is_some()).copied());
    ToolReport {
        tool: id,
        body: tool.source.body,
        pose,
        commanded: narrow_pose(&commanded),
        on_tool,
        on_hand,
        contact: contact(model, state, tool, &frame, rows, report),
        opening: places.iter().flatten().sum(),
        jaw_force: drives.map(|f| f.unwrap_or(0.0)),
        anchors: anchors_of(&state.tool_anchors, slot).len() as u32,
        // rows end at their bound to rounding
        saturated: on_tool.force.length() >= 0.999 * coupling.max_force
            || on_tool.torque.length() >= 0.999 * coupling.max_torque,
    }
}

/// Force of contacts and anchors on the tool with its jaws, torque about its origin. Without forces by point the torque
/// is that of the anchors alone.
fn contact(model: &Model, state: &State, tool: &BuiltTool, frame: &Frame, rows: &[Real], report: &Report) -> Wrench {
    let ours = |slot: u32| {
        let mut any = false;
        tool.slots(&mut |s| any |= s == slot);
        any
    };
    let mut sum = Wrench::ZERO;
    for pair in &report.pairs {
        match (ours(pair.a.index), ours(pair.b.index)) {
            (false, true) => sum.force += widen(pair.force),
            (true, false) => sum.force -= widen(pair.force),
            _ => {}
        }
    }
    for c in &report.contacts {
        let arm = widen(c.point) - frame.position;
        match (ours(c.a.index), ours(c.b.index)) {
            (false, true) => sum.torque += arm.cross(widen(c.force)),
            (true, false) => sum.torque -= arm.cross(widen(c.force)),
            _ => {}
        }
    }
    let first = tool.anchor_row();
    for (k, anchor) in anchors_of(&state.tool_anchors, tool.slot()).iter().enumerate() {
        let force = rows.get(first + 3 * k..first + 3 * k + 3);
        let (Some(force), Some(at)) = (force, grip::point(model, state, anchor)) else { continue };
        // the rows push the point along their axes, and the tool against them
        let on_tool = -widen(Vec3::from_slice(force));
        sum = sum.plus(&Wrench::of_force_at(on_tool, widen(at) - frame.position));
    }
    sum
}
