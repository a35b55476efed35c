//! Edits: the only operations that change the model. Each validates first and is then applied completely or not at all.

use crate::constraint::{Constraint, Motor};
use crate::error::Error;
use crate::math::{Pose, Quat, Vec3, is_turn};
use crate::model::{
    Air, Body, BodyId, ConstraintId, Load, Model, Motion, NodeSource, Nodes, Particles, Rigid, RigidBody, Shape,
    SoftBody, Start,
};
use crate::state::{ClothContactMemory, State, ToolMemory, anchors_of};
use crate::tool::{self, BuiltTool};

/// Unbounded shapes have no finite mass: they cannot be dynamic.
pub(crate) fn check_motion(spec: &RigidBody) -> Result<(), Error> {
    let endless = spec.colliders.iter().find(|c| matches!(c.shape, Shape::HalfSpace { .. } | Shape::Sdf(_)));
    if let (Some(c), Motion::Dynamic) = (endless, spec.motion) {
        let reason = format!("a {} cannot be part of a dynamic body: make it fixed or kinematic", c.shape.name());
        return Err(Error::BadMass { body: "rigid body".into(), reason });
    }
    Ok(())
}

pub(crate) fn add_rigid(model: &mut Model, state: &mut State, spec: RigidBody) -> Result<BodyId, Error> {
    check_motion(&spec)?;
    let rigid = Rigid::build(spec)?;
    let spec = &rigid.source;
    let rotation = spec.pose.rotation.normalize();
    let x = spec.pose.position + rotation * rigid.local_center;
    let (v, w) = if spec.motion == Motion::Fixed { (Vec3::ZERO, Vec3::ZERO) } else { (spec.velocity, spec.spin) };
    let (index, generation) = model.bodies.insert(Body::Rigid(rigid));
    fit(model, state);
    let i = index as usize;
    (state.x[i], state.q[i], state.v[i], state.w[i]) = (x, rotation, v, w);
    (state.x_remainder[i], state.v_remainder[i]) = (Vec3::ZERO, Vec3::ZERO);
    (state.sleep_timer[i], state.flags[i]) = (0.0, 0);
    model.revision += 1;
    Ok(BodyId { index, generation })
}

pub(crate) fn add_particles(model: &mut Model, state: &mut State, spec: Particles) -> Result<BodyId, Error> {
    let (nodes, start) = Nodes::of_particles(spec, model.node_count as u32, model.internal_state_count as u32)?;
    Ok(add_nodes(model, state, nodes, start))
}

/// Adds a soft body. Its nodes that are held in some directions are returned with a bit for each of x, y and z: they
/// become attachments, and the description of the body that is kept no longer has them.
pub(crate) fn add_soft(
    model: &mut Model,
    state: &mut State,
    spec: SoftBody,
) -> Result<(BodyId, Vec<(u32, u8)>), Error> {
    let (mut nodes, mut start) = Nodes::of_soft(spec, model.node_count as u32, model.internal_state_count as u32)?;
    let pins = std::mem::take(&mut start.axis_pins);
    if let NodeSource::Soft(source) = &mut nodes.source {
        source.pinned_axes.clear();
    }
    Ok((add_nodes(model, state, nodes, start), pins))
}

/// Appends a body with nodes after all others.
pub(super) fn add_nodes(model: &mut Model, state: &mut State, nodes: Nodes, start: Start) -> BodyId {
    state.node_x.extend(start.positions);
    state.node_v.extend(start.velocities);
    state.node_x.resize(model.node_count + nodes.room as usize, Vec3::ZERO);
    state.node_v.resize(model.node_count + nodes.room as usize, Vec3::ZERO);
    state.internal_state.extend(start.internal_state);
    model.node_count += nodes.room as usize;
    model.internal_state_count += nodes.internal_state_count as usize;
    let (index, generation) = model.bodies.insert(Body::Nodes(Box::new(nodes)));
    fit(model, state);
    let i = index as usize;
    (state.x[i], state.q[i], state.v[i], state.w[i]) = (Vec3::ZERO, Quat::IDENTITY, Vec3::ZERO, Vec3::ZERO);
    (state.sleep_timer[i], state.flags[i]) = (0.0, 0);
    model.revision += 1;
    BodyId { index, generation }
}

pub(crate) fn add_constraint(model: &mut Model, state: &mut State, constraint: Constraint) -> ConstraintId {
    let mut touched = Vec::new();
    constraint.slots(|s| touched.push(s));
    let (index, generation) = model.constraints.insert(constraint);
    fit(model, state);
    model.refresh_constraints();
    // the slot was empty: its rows begin where those of the next slot did
    let rows = model.rows_of(index);
    state.row_impulses.splice(rows.start..rows.start, std::iter::repeat_n(0.0, rows.len()));
    state.broken[index as usize] = 0;
    wake(state, &touched);
    model.revision += 1;
    ConstraintId { index, generation }
}

/// Adds a tool that is held where it is.
pub(crate) fn add_tool(model: &mut Model, state: &mut State, built: BuiltTool) -> Result<ConstraintId, Error> {
    let slot = built.slot();
    if state.tools.iter().any(|m| m.body == slot) {
        let reason = "its body is a tool already".to_owned();
        return Err(Error::BadConstraint { constraint: "tool", reason });
    }
    let (x, q) = (state.x[slot as usize], state.q[slot as usize]);
    let frame = tool::wide_pose(&model.rigid_at(slot).map_or(Pose::new(x, q), |r| r.origin(x, q)));
    let opening = built.opening(|s| (state.x[s as usize], state.q[s as usize]));
    let at = state.tools.partition_point(|m| m.body < slot);
    state.tools.insert(at, ToolMemory::at(slot, &frame, opening));
    Ok(add_constraint(model, state, Constraint::Tool(built)))
}

pub(crate) fn remove_body(model: &mut Model, state: &mut State, id: BodyId) -> Result<(), Error> {
    model.body(id)?;
    // anchors on it are released
    let mut holders: Vec<u32> = state.tool_anchors.iter().filter(|a| a.body == id.index).map(|a| a.tool).collect();
    holders.dedup();
    for slot in holders {
        tool::release(model, state, slot, |a| a.body == id.index);
    }
    // its constraints are removed with it
    let held: Vec<u32> = model
        .constraints
        .iter()
        .filter(|(_, c)| {
            let mut named = false;
            c.slots(|s| named |= s == id.index);
            named
        })
        .map(|(slot, _)| slot)
        .collect();
    for slot in held {
        let constraint = model.constraint_id(slot);
        remove_constraint(model, state, constraint)?;
    }
    // its contacts are removed too, and the bodies in contact with it wake up
    let mut neighbours = Vec::new();
    state.contacts.retain(|m| {
        let named = m.key.a == id.index || m.key.b == id.index;
        if named {
            neighbours.push(if m.key.a == id.index { m.key.b } else { m.key.a });
        }
        !named
    });
    state.cloth_contacts.retain(|g| {
        let named = g.body == id.index || g.sheet == id.index;
        if named {
            neighbours.push(if g.body == id.index { g.sheet } else { g.body });
        }
        !named
    });
    wake(state, &neighbours);
    if let Some(Body::Nodes(gone)) = model.bodies.remove(id.index, id.generation) {
        remove_span(model, state, &gone);
    }
    let i = id.index as usize;
    (state.x[i], state.q[i], state.v[i], state.w[i]) = (Vec3::ZERO, Quat::IDENTITY, Vec3::ZERO, Vec3::ZERO);
    (state.sleep_timer[i], state.flags[i]) = (0.0, 0);
    state.set_topology(id.index, 0);
    model.revision += 1;
    Ok(())
}

/// Removes the range of the deleted nodes from the state columns.
fn remove_span(model: &mut Model, state: &mut State, gone: &Nodes) {
    state.node_x.drain(gone.room_span());
    state.node_v.drain(gone.room_span());
    state.internal_state.drain(gone.internal_state_span());
    model.node_count -= gone.room as usize;
    model.internal_state_count -= gone.internal_state_count as usize;
    for slot in 0..model.bodies.slot_count() as u32 {
        if let Some(Body::Nodes(n)) = model.bodies.at_mut(slot)
            && n.start > gone.start
        {
            n.start -= gone.room;
            n.internal_state_start -= gone.internal_state_count;
        }
    }
}

pub(crate) fn remove_constraint(model: &mut Model, state: &mut State, id: ConstraintId) -> Result<(), Error> {
    let rows = model.rows_of(id.index);
    if let Some(Constraint::Tool(tool)) = model.constraints.get(id.index, id.generation) {
        let slot = tool.slot();
        state.tools.retain(|m| m.body != slot);
        state.tool_anchors.retain(|a| a.tool != slot);
    }
    let gone = model.constraints.remove(id.index, id.generation).ok_or(Error::StaleConstraint(id))?;
    let mut touched = Vec::new();
    gone.slots(|s| touched.push(s));
    wake(state, &touched);
    state.row_impulses.drain(rows);
    state.broken[id.index as usize] = 0;
    model.refresh_constraints();
    model.revision += 1;
    Ok(())
}

pub(crate) fn set_motor(
    model: &mut Model,
    state: &mut State,
    id: ConstraintId,
    motor: Option<Motor>,
) -> Result<(), Error> {
    if let Some(m) = &motor {
        m.check()?;
    }
    let constraint = model.constraints.get_mut(id.index, id.generation).ok_or(Error::StaleConstraint(id))?;
    let Constraint::Joint(joint) = constraint else {
        return Err(Error::BadConstraint { constraint: "motor", reason: "only joints take a motor".into() });
    };
    joint.source.motor = motor;
    model.revision += 1;
    let Some(constraint) = model.constraints.at(id.index) else { return Err(Error::StaleConstraint(id)) };
    let mut touched = Vec::new();
    constraint.slots(|s| touched.push(s));
    wake(state, &touched);
    Ok(())
}

pub(crate) fn set_air(model: &mut Model, state: &mut State, id: BodyId, air: Option<Air>) -> Result<(), Error> {
    model.nodes(id)?;
    if let Some(air) = &air {
        air.check("air")?;
    }
    let Some(Body::Nodes(nodes)) = model.bodies.at_mut(id.index) else { return Err(Error::StaleBody(id)) };
    let NodeSource::Soft(source) = &mut nodes.source else {
        return Err(Error::WrongKind(id, "set of particles", "soft body"));
    };
    source.air = air;
    nodes.traits.air = air;
    model.revision += 1;
    wake(state, &[id.index]);
    Ok(())
}

pub(crate) fn set_loads(model: &mut Model, state: &mut State, id: BodyId, loads: Vec<Load>) -> Result<(), Error> {
    model.nodes(id)?;
    let Some(Body::Nodes(nodes)) = model.bodies.at_mut(id.index).filter(|b| matches!(b, Body::Nodes(n) if n.is_soft()))
    else {
        return Err(Error::WrongKind(id, "set of particles", "soft body"));
    };
    nodes.set_loads(loads)?;
    model.revision += 1;
    wake(state, &[id.index]);
    Ok(())
}

pub(super) fn wake(state: &mut State, slots: &[u32]) {
    for &slot in slots {
        state.flags[slot as usize] &= !crate::state::flag::ASLEEP;
        state.sleep_timer[slot as usize] = 0.0;
    }
}

/// Resizes the columns to the size of the model.
pub(crate) fn fit(model: &Model, state: &mut State) {
    let slots = model.bodies.slot_count();
    state.x.resize(slots, Vec3::ZERO);
    state.x_remainder.resize(slots, Vec3::ZERO);
    state.q.resize(slots, Quat::IDENTITY);
    state.v.resize(slots, Vec3::ZERO);
    state.v_remainder.resize(slots, Vec3::ZERO);
    state.w.resize(slots, Vec3::ZERO);
    state.sleep_timer.resize(slots, 0.0);
    state.flags.resize(slots, 0);
    let constraints = model.constraints.slot_count();
    state.broken.resize(constraints, 0);
}

/// Rejects a state whose columns do not match this model, or whose values are invalid.
pub(crate) fn check_fit(model: &Model, state: &State) -> Result<(), Error> {
    check_topology(model, state)?;
    let slots = model.bodies.slot_count();
    let constraints = model.constraints.slot_count();
    let lengths = [
        ("x", state.x.len(), slots),
        ("x_remainder", state.x_remainder.len(), slots),
        ("q", state.q.len(), slots),
        ("v", state.v.len(), slots),
        ("v_remainder", state.v_remainder.len(), slots),
        ("w", state.w.len(), slots),
        ("sleep_timer", state.sleep_timer.len(), slots),
        ("flags", state.flags.len(), slots),
        ("node_x", state.node_x.len(), model.node_count),
        ("node_v", state.node_v.len(), model.node_count),
        ("internal_state", state.internal_state.len(), model.internal_state_count),
        ("row_impulses", state.row_impulses.len(), model.row_count()),
        ("broken", state.broken.len(), constraints),
    ];
    for (name, has, needs) in lengths {
        if has != needs {
            return Err(Error::BadSnapshot(format!("column {name} has {has} entries, this model needs {needs}")));
        }
    }
    let finite = |name: &str, ok: bool| {
        if ok { Ok(()) } else { Err(Error::BadSnapshot(format!("column {name} has a number that is not finite"))) }
    };
    finite("x", state.x.iter().all(|v| v.is_finite()))?;
    finite("x_remainder", state.x_remainder.iter().all(|v| v.is_finite()))?;
    finite("q", state.q.iter().all(|v| v.is_finite()))?;
    finite("v", state.v.iter().all(|v| v.is_finite()))?;
    finite("v_remainder", state.v_remainder.iter().all(|v| v.is_finite()))?;
    finite("w", state.w.iter().all(|v| v.is_finite()))?;
    finite("node_x", state.node_x.iter().all(|v| v.is_finite()))?;
    finite("node_v", state.node_v.iter().all(|v| v.is_finite()))?;
    finite("internal_state", state.internal_state.iter().all(|v| v.is_finite()))?;
    check_turns(model, state)?;
    if state.tick > u64::MAX / 2 {
        return Err(Error::BadSnapshot(format!("tick {} is out of range", state.tick)));
    }
    if !state.contacts.is_sorted_by_key(|m| m.key) {
        return Err(Error::BadSnapshot("column contacts is not sorted".into()));
    }
    for m in &state.contacts {
        let known = |slot: u32, collider: u32| match model.bodies.at(slot) {
            Some(Body::Rigid(r)) => (collider as usize) < r.colliders.len(),
            Some(Body::Nodes(_)) => true,
            None => false,
        };
        if m.count > 4 || !known(m.key.a, m.key.collider_a) || !known(m.key.b, m.key.collider_b) {
            return Err(Error::BadSnapshot(format!("contact {:?} does not belong to this model", m.key)));
        }
    }
    check_tools(model, state)?;
    check_grips(model, state)
}

/// Rejects tools of another model.
fn check_tools(model: &Model, state: &State) -> Result<(), Error> {
    let mut tools: Vec<u32> = Vec::new();
    for (_, constraint) in model.constraints.iter() {
        if let Constraint::Tool(tool) = constraint {
            tools.push(tool.slot());
        }
    }
    tools.sort_unstable();
    if !state.tools.iter().map(|m| m.body).eq(tools.iter().copied()) {
        let reason =
            format!("column tools has {} entries, or others than the {} tools", state.tools.len(), tools.len());
        return Err(Error::BadSnapshot(reason));
    }
    if !state.tools.iter().all(ToolMemory::is_sane) {
        return Err(Error::BadSnapshot("column tools has a number that is not finite".into()));
    }
    if !state.tool_anchors.is_sorted_by_key(|a| a.tool) {
        return Err(Error::BadSnapshot("column tool_anchors is not sorted".into()));
    }
    for a in &state.tool_anchors {
        let count = anchors_of(&state.tool_anchors, a.tool).len();
        let on = model.nodes_at(a.body).is_some_and(|n| crate::constraint::check_surfels(n, &a.surfels).is_ok());
        let finite = a.weights.iter().chain(&a.local).all(|x| x.is_finite());
        if !on || !finite || count > tool::MOST_ANCHORS || tools.binary_search(&a.tool).is_err() {
            return Err(Error::BadSnapshot(format!("an anchor of tool {} does not belong to this model", a.tool)));
        }
    }
    Ok(())
}

/// Rejects a state of other numbers of nodes, elements or surface cells.
fn check_topology(model: &Model, state: &State) -> Result<(), Error> {
    if !state.topology.is_sorted_by(|a, b| a[0] < b[0]) {
        return Err(Error::BadSnapshot("column topology is not sorted".into()));
    }
    for (slot, _) in model.bodies.iter() {
        let (has, needs) = (state.topology_of(slot), model.stamp(slot).topology);
        if has != needs {
            let reason = format!(
                "body {slot} has topology {has}, in this world {needs}: it was taken before or after another edit of \
                 the topology; save the world instead, a save contains the edited body"
            );
            return Err(Error::BadSnapshot(reason));
        }
    }
    let count = model.bodies.slot_count();
    match state.topology.iter().find(|t| t[0] as usize >= count || model.nodes_at(t[0]).is_none()) {
        Some([slot, _]) => Err(Error::BadSnapshot(format!("column topology: body {slot} has no nodes"))),
        None => Ok(()),
    }
}

fn check_grips(model: &Model, state: &State) -> Result<(), Error> {
    if !state.cloth_contacts.is_sorted_by_key(ClothContactMemory::key) {
        return Err(Error::BadSnapshot("column cloth_contacts is not sorted".into()));
    }
    for g in &state.cloth_contacts {
        let holds = model.rigid_at(g.body).is_some_and(|r| (g.collider as usize) < r.colliders.len());
        if !holds || model.nodes_at(g.sheet).is_none_or(|n| g.node as usize >= n.inv_mass.len()) {
            return Err(Error::BadSnapshot(format!("grip {:?} does not belong to this model", g.key())));
        }
    }
    Ok(())
}

/// Rejects invalid rotations: intake resets a body to its last valid pose, and a snapshot counts as valid.
fn check_turns(model: &Model, state: &State) -> Result<(), Error> {
    let mut turns = model.bodies.iter().map(|(slot, _)| (slot, state.q[slot as usize]));
    match turns.find(|(_, q)| !is_turn(*q)) {
        Some((slot, q)) => Err(Error::BadSnapshot(format!("column q: {q} of body {slot} is not a unit quaternion"))),
        None => Ok(()),
    }
}

/// Combines generations and free slots with the hash of a state.
pub(crate) fn layout_hash(model: &Model, mut hash: u64) -> u64 {
    for (generation, taken) in model.bodies.layout().chain(model.constraints.layout()) {
        let mut word = [0; 8];
        word[..4].copy_from_slice(&generation.to_le_bytes());
        word[4] = u8::from(taken);
        hash = crate::state::mix_bytes(hash, &word);
    }
    hash
}
