//! Intake: input becomes edits, forces and targets; nothing else changes the model. Gate 1: invalid numbers are
//! rejected.

use crate::deformable::rotation::SPAN;
use crate::error::Error;
use crate::input::{Command, Input};
use crate::island::reaction;
use crate::math::{FAR, Pose, Quat, Real, Vec3, is_place, is_turn};
use crate::model::{Body, BodyId, Model, Motion, Rigid};
use crate::report::{Event, Fault, FaultKind, Phase};
use crate::settings::Settings;
use crate::solver::pool::Pool;
use crate::state::{State, flag};
use crate::tool;
use crate::work::{BodyWork, OutputWork};
use crate::world::edit;
use bytemuck::cast_slice;

pub(crate) fn intake(
    input: &Input,
    model: &mut Model,
    state: &mut State,
    pool: &mut Pool,
    bodies: &mut BodyWork,
    output: &mut OutputWork,
    settings: &mut Settings,
) {
    output.report.clear();
    output.report.events.append(&mut output.announced);
    gate(model, state, pool, bodies, output, settings);
    fit(model, bodies);
    bodies.force.fill([Vec3::ZERO; 2]);
    if std::mem::take(&mut bodies.nodes_pushed) {
        bodies.node_force.fill(Vec3::ZERO);
    }
    drop_torques(model, state);
    time_loads(model, state, bodies, settings.dt);
    for (number, command) in input.commands.iter().enumerate() {
        if apply(command, model, state, pool, bodies, output, settings).is_err() {
            output.report.events.push(Event::Refused { command: number as u32 });
        }
    }
    tool::begin(model, state, &mut output.report.events, settings.dt);
    reaction::begin(model, state, bodies);
}

/// The time that loads of this step depend on; a body whose load still rises does not sleep.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn time_loads(model: &Model, state: &mut State, bodies: &mut BodyWork, dt: Real) {
    let [before, after] = [state.tick, state.tick + 1].map(|tick| (tick as f64 * dt as f64) as Real);
    bodies.time = after;
    for (slot, _) in model.bodies.iter() {
        if model.nodes_at(slot).is_some_and(|n| n.loads.iter().any(|load| load.source.ramp > before)) {
            wake(state, slot as usize);
        }
    }
}

/// Torques on ellipsoidal nodes last for one step.
fn drop_torques(model: &Model, state: &mut State) {
    for (slot, _) in model.bodies.iter() {
        let Some(nodes) = model.nodes_at(slot).filter(|n| !n.radii.is_empty()) else { continue };
        for particle in
            state.internal_state[nodes.internal_state_span()][..SPAN * nodes.radii.len()].chunks_exact_mut(SPAN)
        {
            particle[7..].fill(0.0);
        }
    }
}

/// Index of the first component of an ellipsoidal node's internal state in State.
fn particle_of(model: &Model, body: BodyId, node: u32, command: &'static str) -> Result<usize, Error> {
    node_of(model, body, node, command)?;
    let nodes = model.nodes(body)?;
    if nodes.radii.is_empty() {
        let reason = "its nodes are points, which do not turn: only ellipsoids (oriented particles) do".to_owned();
        return Err(Error::BadConstraint { constraint: command, reason });
    }
    Ok(nodes.internal_state_start as usize + SPAN * node as usize)
}

/// Resizes the arrays of the input to the size of the model.
fn fit(model: &Model, bodies: &mut BodyWork) {
    let slots = model.bodies.slot_count();
    bodies.force.resize(slots, [Vec3::ZERO; 2]);
    bodies.node_force.resize(model.node_count, Vec3::ZERO);
    bodies.node_total.resize(model.node_count, Vec3::ZERO);
    bodies.previous.resize(slots, Pose::IDENTITY);
    bodies.good.resize(slots, Pose::IDENTITY);
}

/// Gate 1: a body with invalid numbers is reset to its last valid pose, stopped and frozen.
fn gate(
    model: &Model,
    state: &mut State,
    pool: &mut Pool,
    bodies: &mut BodyWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    let slots = model.bodies.slot_count();
    bodies.good.resize(slots, Pose::IDENTITY);
    mark_suspects(model, state, pool, bodies, settings.max_speed);
    for (slot, body) in model.bodies.iter() {
        let i = slot as usize;
        state.flags[i] &= flag::ASLEEP | flag::FROZEN;
        if !(state.sleep_timer[i] >= 0.0) {
            state.sleep_timer[i] = 0.0;
            fault(model, output, slot, FaultKind::NonFinite, "sleep_timer");
        }
        match body {
            Body::Rigid(_) => {
                if let Some((what, field)) = insane_rigid(state, i, settings.max_speed) {
                    fault(model, output, slot, what, field);
                    state.freeze_rigid(i, bodies.good[i]);
                }
                bodies.good[i] = Pose::new(state.x[i], state.q[i]);
            }
            Body::Nodes(nodes) if bodies.suspects[i] != 0 => {
                gate_nodes(model, state, output, settings, slot, nodes.span())
            }
            Body::Nodes(_) => {}
        }
    }
    for (slot, _) in model.constraints.iter() {
        let row = &mut state.row_impulses[model.rows_of(slot)];
        if row.iter().any(|v| !(v.abs() < 1e20)) {
            row.fill(0.0);
            if let Some(c) = model.constraints.at(slot) {
                let mut first = None;
                c.slots(|s| first = first.or(Some(s)));
                if let Some(s) = first {
                    fault(model, output, s, FaultKind::NonFinite, "row_impulses");
                }
            }
        }
    }
}

/// Marks bodies of nodes that may have an invalid number, by components alone and on all threads: normally there is
/// none, and the marked bodies are checked node by node.
fn mark_suspects(model: &Model, state: &State, pool: &mut Pool, bodies: &mut BodyWork, max_speed: Real) {
    let suspects = &mut bodies.suspects;
    suspects.clear();
    suspects.resize(model.bodies.slot_count(), 0);
    pool.chunks(suspects, 1, &|slot, mark| {
        let Some(nodes) = model.nodes_at(slot as u32) else { return };
        let [x, v] = [&state.node_x, &state.node_v].map(|column| cast_slice::<Vec3, Real>(&column[nodes.span()]));
        let internal_state = &state.internal_state[nodes.internal_state_span()];
        let sane = within(x, FAR) && within(v, 0.5 * max_speed) && internal_state.iter().all(|v| v.is_finite());
        mark[0] = u32::from(!sane);
    });
}

fn gate_nodes(
    model: &Model,
    state: &mut State,
    output: &mut OutputWork,
    settings: &Settings,
    slot: u32,
    span: std::ops::Range<usize>,
) {
    for n in span {
        let (x, v) = (state.node_x[n], state.node_v[n]);
        let bad_x = !is_place(x);
        let bad_v = !v.is_finite() || v.length() > settings.max_speed;
        if bad_x || bad_v {
            fault(model, output, slot, FaultKind::NonFinite, if bad_x { "node_x" } else { "node_v" });
            state.flags[slot as usize] |= flag::FROZEN;
            if bad_x {
                state.node_x[n] = Vec3::ZERO;
            }
            state.node_v[n] = Vec3::ZERO;
        }
    }
    if let Some(nodes) = model.nodes_at(slot) {
        let internal_state = &mut state.internal_state[nodes.internal_state_span()];
        if internal_state.iter().any(|v| !v.is_finite()) {
            internal_state.fill(0.0);
            state.flags[slot as usize] |= flag::FROZEN;
            fault(model, output, slot, FaultKind::NonFinite, "internal_state");
        }
    }
}

/// True when no absolute value is larger than `most`; false for NaN.
fn within(numbers: &[Real], most: Real) -> bool {
    numbers.iter().fold(true, |all, x| all & (x.abs() <= most))
}

fn insane_rigid(state: &State, i: usize, max_speed: Real) -> Option<(FaultKind, &'static str)> {
    if !is_place(state.x[i]) {
        Some((FaultKind::NonFinite, "x"))
    } else if !(state.x_remainder[i].length() < 1.0) {
        Some((FaultKind::NonFinite, "x_remainder"))
    } else if !(state.v_remainder[i].length() < 1.0) {
        Some((FaultKind::NonFinite, "v_remainder"))
    } else if !is_turn(state.q[i]) {
        Some((FaultKind::NonFinite, "q"))
    } else if !state.v[i].is_finite() {
        Some((FaultKind::NonFinite, "v"))
    } else if state.v[i].length() > max_speed {
        Some((FaultKind::TooFast, "v"))
    } else if !state.w[i].is_finite() {
        Some((FaultKind::NonFinite, "w"))
    } else if state.w[i].length() > 1e5 {
        Some((FaultKind::TooFast, "w"))
    } else {
        None
    }
}

fn fault(model: &Model, output: &mut OutputWork, slot: u32, what: FaultKind, field: &'static str) {
    output.report.faults.push(Fault { body: model.body_id(slot), phase: Phase::Intake, what, field });
}

/// Executes one command, or returns the reason why it cannot be; the world is then unchanged.
fn apply(
    command: &Command,
    model: &mut Model,
    state: &mut State,
    pool: &mut Pool,
    bodies: &mut BodyWork,
    output: &mut OutputWork,
    settings: &mut Settings,
) -> Result<(), Error> {
    match command {
        Command::AddRigid(spec) => {
            let id = edit::add_rigid(model, state, (**spec).clone())?;
            fit(model, bodies);
            bodies.good[id.index as usize] = Pose::new(state.x[id.index as usize], state.q[id.index as usize]);
            output.report.events.push(Event::Added(id));
        }
        Command::RemoveBody(id) => edit::remove_body(model, state, *id)?,
        Command::RemoveConstraint(id) => edit::remove_constraint(model, state, *id)?,
        Command::Motor { joint, motor } => edit::set_motor(model, state, *joint, *motor)?,
        Command::Settings(new) => {
            new.check()?;
            if new.threads != settings.threads {
                *pool = crate::solver::pool::Pool::new(new.threads as usize);
            }
            *settings = (**new).clone();
        }
        Command::Tool { tool, command } => {
            let distance = tool::accept(model, state, *tool, command, settings.dt)?;
            if distance > 0.0 {
                output.report.events.push(Event::ToolHeldBack { tool: *tool, distance });
            }
        }
        Command::NodeForce { .. }
        | Command::NodeTorque { .. }
        | Command::NodeSpin { .. }
        | Command::NodeTarget { .. } => apply_to_node(command, model, state, bodies, settings.dt)?,
        _ => apply_to_rigid(command, model, state, bodies, settings.dt)?,
    }
    Ok(())
}

/// Executes a command on the motion of a rigid body.
fn apply_to_rigid(
    command: &Command,
    model: &Model,
    state: &mut State,
    bodies: &mut BodyWork,
    dt: Real,
) -> Result<(), Error> {
    match command {
        Command::Force { body, force, torque } => {
            sane(&[*force, *torque])?;
            let i = dynamic(model, *body)?;
            bodies.force[i][0] += *force;
            bodies.force[i][1] += *torque;
            wake(state, i);
        }
        Command::ForceAt { body, force, point } => {
            sane(&[*force, *point])?;
            let i = dynamic(model, *body)?;
            bodies.force[i][0] += *force;
            bodies.force[i][1] += (*point - state.x[i]).cross(*force);
            wake(state, i);
        }
        Command::Impulse { body, impulse, point } => {
            sane(&[*impulse, *point])?;
            let i = dynamic(model, *body)?;
            push(model.rigid(*body)?, state, i, *impulse, *point);
            wake(state, i);
        }
        Command::Velocity { body, velocity, spin } => {
            sane(&[*velocity, *spin])?;
            let i = model.rigid(*body).map(|_| body.index as usize)?;
            (state.v[i], state.w[i]) = (*velocity, *spin);
            wake(state, i);
        }
        Command::Teleport { body, pose } => {
            let rigid = model.rigid(*body)?;
            let pose = sane_pose(pose)?;
            let i = body.index as usize;
            (state.x[i], state.q[i]) = (pose.point(rigid.local_center), pose.rotation);
            state.x_remainder[i] = Vec3::ZERO;
            bodies.good[i] = Pose::new(state.x[i], state.q[i]);
            wake(state, i);
        }
        Command::Target { body, pose } => {
            let rigid = model.rigid(*body)?;
            if rigid.motion != Motion::Kinematic {
                return Err(Error::WrongKind(*body, "body moved by forces or fixed", "kinematic body"));
            }
            let pose = sane_pose(pose)?;
            let i = body.index as usize;
            // the velocity that reaches the target at the end of the step
            state.v[i] = (pose.point(rigid.local_center) - state.x[i]) / dt;
            state.w[i] = rotation_vector(pose.rotation * state.q[i].inverse()) / dt;
        }
        _ => {}
    }
    Ok(())
}

/// Changes the velocities of a body by an impulse at a point [N·s, m].
fn push(rigid: &Rigid, state: &mut State, i: usize, impulse: Vec3, point: Vec3) {
    state.v[i] += impulse * rigid.inv_mass;
    let q = state.q[i];
    let torque = (point - state.x[i]).cross(impulse);
    state.w[i] += q * rigid.inv_inertia.mul(q.inverse() * torque);
}

/// Executes a command on a node.
fn apply_to_node(
    command: &Command,
    model: &Model,
    state: &mut State,
    bodies: &mut BodyWork,
    dt: Real,
) -> Result<(), Error> {
    match command {
        Command::NodeForce { body, node, force } => {
            sane(&[*force])?;
            let n = node_of(model, *body, *node, "node force")?;
            bodies.node_force[n] += *force;
            bodies.nodes_pushed = true;
            wake(state, body.index as usize);
        }
        Command::NodeTorque { body, node, torque } => {
            sane(&[*torque])?;
            let at = particle_of(model, *body, *node, "node torque")? + 7;
            let sum = Vec3::from_slice(&state.internal_state[at..]) + *torque;
            sum.write_to_slice(&mut state.internal_state[at..]);
            wake(state, body.index as usize);
        }
        Command::NodeSpin { body, node, spin } => {
            sane(&[*spin])?;
            let at = particle_of(model, *body, *node, "node spin")? + 4;
            spin.write_to_slice(&mut state.internal_state[at..]);
            wake(state, body.index as usize);
        }
        Command::NodeTarget { body, node, position } => {
            sane_place("position", *position)?;
            let n = node_of(model, *body, *node, "node target")?;
            if model.nodes(*body)?.inv_mass[*node as usize] > 0.0 {
                let reason = format!("node {node} is not pinned: forces move it");
                return Err(Error::BadConstraint { constraint: "node target", reason });
            }
            state.node_v[n] = (*position - state.node_x[n]) / dt;
            wake(state, body.index as usize);
        }
        _ => {}
    }
    Ok(())
}

fn wake(state: &mut State, i: usize) {
    state.flags[i] &= !flag::ASLEEP;
    state.sleep_timer[i] = 0.0;
}

/// Index of a body's node among all nodes.
fn node_of(model: &Model, body: BodyId, node: u32, constraint: &'static str) -> Result<usize, Error> {
    let nodes = model.nodes(body)?;
    if node as usize >= nodes.inv_mass.len() {
        return Err(Error::BadConstraint { constraint, reason: format!("no node {node}") });
    }
    Ok(nodes.start as usize + node as usize)
}

fn dynamic(model: &Model, id: BodyId) -> Result<usize, Error> {
    if model.rigid(id)?.is_dynamic() {
        Ok(id.index as usize)
    } else {
        Err(Error::WrongKind(id, "body that no force moves", "dynamic body"))
    }
}

fn sane(vectors: &[Vec3]) -> Result<(), Error> {
    for v in vectors {
        crate::error::finite_vec("command", *v)?;
        crate::error::check("command", v.length(), v.length() < 1e15, "of a size that a body can take")?;
    }
    Ok(())
}

fn sane_place(name: &str, place: Vec3) -> Result<(), Error> {
    sane(&[place])?;
    let far = place.abs().max_element();
    crate::error::check(name, far, far <= FAR, "within 1e6 m of the origin")
}

fn sane_pose(pose: &Pose) -> Result<Pose, Error> {
    sane_place("pose.position", pose.position)?;
    let n = pose.rotation.length();
    crate::error::check("pose.rotation", n, n.is_finite() && (n - 1.0).abs() < 1e-2, "a unit quaternion")?;
    Ok(Pose::new(pose.position, pose.rotation.normalize()))
}

/// The rotation as a rotation vector of the shorter angle [rad].
fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let sine = q.xyz().length();
    if sine < 1e-6 { q.xyz() * 2.0 } else { q.xyz() * (2.0 * sine.atan2(q.w) / sine) }
}
