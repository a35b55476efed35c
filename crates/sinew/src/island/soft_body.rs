//! Soft bodies inside the phases: their models are taken from the Model, evaluated for their velocity, and advanced.

use crate::deformable::{BodyMut, BodyRef, Deformable, StepContext, rotation};
use crate::guard::energy_limiter;
use crate::island::free_motion::decay;
use crate::island::{loads, reaction};
use crate::math::{Real, Vec3, vec};
use crate::model::{Body, Model, Nodes};
use crate::report::SoftReport;
use crate::settings::Settings;
use crate::solver::pool::Pool;
use crate::state::State;
use crate::tuning::energy_limiter::{CHANGE, FLUNG};
use crate::tuning::soft_body::STABLE_SHARE;
use crate::work::{BodyWork, EnergyBudget, OutputWork, Setup, SoftBodyWork, SoftWork, SubstepContext};

/// Takes models of new bodies and rebuilds those that are missing; drops those whose body was removed.
pub(crate) fn adopt(model: &mut Model, state: &State, soft: &mut SoftWork) {
    let slots = model.bodies.slot_count();
    soft.models.resize_with(slots, || None);
    for slot in 0..slots as u32 {
        let stamp = model.stamp(slot);
        let held = &mut soft.models[slot as usize];
        let Some(Body::Nodes(nodes)) = model.bodies.at_mut(slot) else {
            *held = None;
            continue;
        };
        if !nodes.is_soft() {
            *held = None;
            continue;
        }
        if held.as_ref().is_some_and(|h| h.stamp == stamp && nodes.fresh.is_none()) {
            continue;
        }
        let built = nodes.fresh.take().or_else(|| nodes.rebuild());
        *held = built.map(|model| SoftBodyWork {
            stamp,
            model,
            stable_step: Real::INFINITY,
            diverges: false,
            energy_budget: EnergyBudget::default(),
            cloth: Default::default(),
        });
        soft.stale = true;
    }
    if soft.stale {
        soft.stale = false;
        refresh(model, state, soft);
    }
}

/// Loads the state into every model: after a restore, an edit or when it is new.
fn refresh(model: &Model, state: &State, soft: &mut SoftWork) {
    for (slot, body) in model.bodies.iter() {
        let (Body::Nodes(nodes), Some(held)) = (body, soft.models[slot as usize].as_mut()) else { continue };
        let block = |v: Vec3, w: Real| [v.x, v.y, v.z, w];
        let x: Vec<_> = state.node_x[nodes.span()].iter().map(|&x| block(x, 0.0)).collect();
        let v: Vec<_> = state.node_v[nodes.span()].iter().zip(&nodes.inv_mass).map(|(&v, &m)| block(v, m)).collect();
        held.model.refresh(BodyRef {
            x: &x,
            v: &v,
            internal_state: &state.internal_state[nodes.internal_state_span()],
        });
    }
}

/// All external forces on the nodes of a body [N]: gravity, input and loads.
pub(crate) fn gather_forces(model: &Model, nodes: &Nodes, bodies: &mut BodyWork, settings: &Settings) {
    let gravity = settings.gravity * nodes.traits.gravity_scale;
    for (n, m) in nodes.span().zip(&nodes.mass) {
        bodies.node_total[n] = bodies.node_force[n] + gravity * *m;
    }
    loads::push(model, nodes, bodies);
}

/// Calls a model with its span of the work arrays.
fn with_body(
    model: &Model,
    slot: u32,
    pool: &Pool,
    bodies: &mut BodyWork,
    soft: &mut SoftWork,
    moved_by_carry: bool,
    call: impl FnOnce(&mut dyn Deformable, BodyMut<'_>, &Pool),
) {
    let Some(nodes) = model.nodes_at(slot) else { return };
    let first = model.node_block(nodes.start) as usize;
    let span = first..first + nodes.inv_mass.len();
    let soft = &mut soft.models;
    let BodyWork { pose, velocity, position_velocity, node_total, internal_state, .. } = bodies;
    let Some(held) = soft[slot as usize].as_mut() else { return };
    let velocity = if moved_by_carry { position_velocity } else { velocity };
    let body = BodyMut {
        x: &mut pose[span.clone()],
        v: &mut velocity[span],
        force: &node_total[nodes.span()],
        internal_state: &mut internal_state[nodes.internal_state_span()],
    };
    call(held.model.as_mut(), body, pool);
}

/// Copies angular velocities and orientations of particles to the blocks that rows act on.
pub(crate) fn show_spins(model: &Model, nodes: &Nodes, bodies: &mut BodyWork) {
    let internal_state = &bodies.internal_state[nodes.internal_state_span()];
    for k in 0..nodes.radii.len() {
        let block = model.spin_block(nodes.start + k as u32) as usize;
        let w = rotation::spin(internal_state, k);
        bodies.velocity[block] = [w.x, w.y, w.z, 0.0];
        bodies.pose[block] = rotation::orientation(internal_state, k).to_array();
    }
}

/// Copies angular velocities back from the blocks that rows act on.
fn take_spins(model: &Model, nodes: &Nodes, bodies: &mut BodyWork) {
    let internal_state = &mut bodies.internal_state[nodes.internal_state_span()];
    for k in 0..nodes.radii.len() {
        let spin = vec(bodies.velocity[model.spin_block(nodes.start + k as u32) as usize]);
        let turned = rotation::orientation(internal_state, k);
        rotation::put(internal_state, k, turned, spin);
    }
}

/// The substep that a model is evaluated for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    /// [s]
    pub h: Real,
    pub substep: u32,
    pub last: bool,
    /// The external forces of the previous substep are still valid.
    pub same_forces: bool,
}

impl From<&SubstepContext> for When {
    fn from(ctx: &SubstepContext) -> Self {
        Self { h: ctx.h, substep: ctx.substep, last: ctx.last, same_forces: ctx.substep > 0 }
    }
}

impl When {
    fn context<'a>(self, settings: &Settings, pool: &'a Pool) -> StepContext<'a> {
        let (lanes, resolve) = (settings.lanes, settings.max_substeps > 1);
        StepContext { h: self.h, substep: self.substep, last: self.last, lanes, resolve, pool: Some(pool) }
    }
}

/// Computes the velocity of a body after internal and external forces, or its system when it is implicit.
pub(crate) fn predict(
    when: When,
    setup: &Setup,
    slot: u32,
    bodies: &mut BodyWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, pool } = *setup;
    let h = when.h;
    let Some(nodes) = model.nodes_at(slot) else { return };
    // only air drag and pressure change within a step
    if !when.same_forces || nodes.traits.air.is_some() || !nodes.loads.is_empty() {
        gather_forces(model, nodes, bodies, settings);
        crate::island::air::push(h, model, nodes, bodies, soft);
    }
    energy_limiter::count(when.substep == 0, model, slot, bodies, soft);
    let keep = decay(nodes.traits.damping, h);
    reaction::note_push(h, keep, model, slot, nodes, bodies);
    with_body(model, slot, pool, bodies, soft, false, |m, body, pool| {
        if keep < 1.0 {
            for v in body.v.iter_mut().filter(|v| v[3] > 0.0) {
                *v = [v[0] * keep, v[1] * keep, v[2] * keep, v[3]];
            }
        }
        m.predict(&when.context(settings, pool), body);
    });
    energy_limiter::keep_kick(h, model, slot, bodies, soft, output);
    show_spins(model, nodes, bodies);
    if when.substep == 0 {
        output.report.counts.internal_rows +=
            soft.models[slot as usize].as_ref().map_or(0, |held| held.model.traits().internal_rows) as u32;
    }
}

/// Advances a body. It moves with the corrected velocities; what the model adds to them in the position update (the
/// second half kick of Verlet) is a change of the velocity as well.
pub(crate) fn advance(when: When, setup: &Setup, slot: u32, bodies: &mut BodyWork, soft: &mut SoftWork) {
    let Setup { model, settings, pool } = *setup;
    let Some(nodes) = model.nodes_at(slot) else { return };
    let first = model.node_block(nodes.start) as usize;
    let span = first..first + nodes.inv_mass.len();
    let kicks = soft.models[slot as usize].as_ref().is_some_and(|held| held.model.traits().kicks_in_advance);
    if kicks {
        energy_limiter::count(false, model, slot, bodies, soft);
        soft.before_advance.clear();
        soft.before_advance.extend_from_slice(&bodies.position_velocity[span.clone()]);
    }
    take_spins(model, nodes, bodies);
    with_body(model, slot, pool, bodies, soft, true, |m, body, pool| m.advance(&when.context(settings, pool), body));
    show_spins(model, nodes, bodies);
    if !kicks {
        return;
    }
    energy_limiter::see_kick(span.clone(), bodies, soft);
    let BodyWork { velocity, position_velocity, .. } = bodies;
    let before_advance = &mut soft.before_advance;
    for ((v, after), before) in
        velocity[span.clone()].iter_mut().zip(&position_velocity[span]).zip(before_advance.iter())
    {
        if after != before {
            *v = [0, 1, 2, 3].map(|k| if k < 3 { v[k] + (after[k] - before[k]) } else { v[k] });
        }
    }
}

/// Selects the integrator of each explicit model: its own, or an implicit one when it needs more substeps than the
/// limit. Decided anew in every step from settings, model and positions alone, so that a restored world decides the
/// same.
pub(crate) fn choose_integrators(
    model: &Model,
    pool: &Pool,
    bodies: &BodyWork,
    soft: &mut SoftWork,
    settings: &Settings,
) {
    let BodyWork { active, active_nodes, pose, velocity, internal_state, .. } = bodies;
    let SoftWork { models: soft, heading, kick, .. } = soft;
    let h = settings.dt / settings.substeps as Real;
    pool.chunks(soft, 1, &|slot, held| {
        let (Some(held), Some(nodes)) = (&mut held[0], model.nodes_at(slot as u32).filter(|_| active[slot])) else {
            return;
        };
        held.model.set_implicit(false);
        held.stable_step = held.model.traits().stable_step;
        let blocks = model.blocks_of(nodes);
        let (x, v) = (&pose[blocks.clone()], &velocity[blocks]);
        held.diverges = !held.stable_step.is_finite()
            && held.model.operator().is_none()
            && energy_limiter::change(h, nodes, x, v, FLUNG) > FLUNG;
    });
    for &slot in active_nodes.iter() {
        let (Some(nodes), Some(held)) = (model.nodes_at(slot), soft[slot as usize].as_mut()) else { continue };
        let first = model.node_block(nodes.start) as usize;
        let span = first..first + nodes.inv_mass.len();
        let body = BodyRef {
            x: &pose[span.clone()],
            v: &velocity[span],
            internal_state: &internal_state[nodes.internal_state_span()],
        };
        if held.stable_step.is_finite() {
            // at the present strain, and at that at the end of the step without any obstacle
            heading.clear();
            heading.extend(body.x.iter().zip(body.v).map(|(x, v)| {
                let end = vec(*x) + vec(*v) * settings.dt;
                [end.x, end.y, end.z, x[3]]
            }));
            let [now, then] = [body.x, &heading[..]].map(|x| held.model.stable_step_at(BodyRef { x, ..body }));
            held.stable_step = now.min(then);
            // and no edge may change by more than the law is accurate for
            let change = energy_limiter::change(STABLE_SHARE * held.stable_step, nodes, body.x, body.v, CHANGE);
            if change > CHANGE {
                held.stable_step = (held.stable_step * (CHANGE / change)).max(Real::MIN_POSITIVE);
            }
        }
        let substeps = needed(held.stable_step, settings).max(settings.substeps);
        if held.diverges
            || substeps > settings.max_substeps
            || energy_limiter::kick_unstable(settings.dt / substeps as Real, nodes, held, body, kick)
        {
            held.model.set_implicit(true);
        }
    }
}

/// Substeps that a model with this stable step needs.
fn needed(stable_step: Real, settings: &Settings) -> u32 {
    if !(stable_step.is_finite() && stable_step > 0.0) {
        return 1;
    }
    (settings.dt / (STABLE_SHARE * stable_step)).ceil().min(1e6) as u32
}

/// Substeps that these bodies need, explicit ones to be stable, implicit ones to be resolved, at least `least` and at
/// most the limit of the settings.
pub(crate) fn substeps(slots: &[u32], soft: &SoftWork, settings: &Settings, least: u32) -> u32 {
    let held = slots.iter().filter_map(|&slot| soft.models[slot as usize].as_ref());
    let needs = held.map(|h| {
        let implicit = h.model.operator().is_some();
        let largest = if implicit { h.model.traits().resolved_step() / STABLE_SHARE } else { h.stable_step };
        needed(largest, settings).min(settings.max_substeps)
    });
    needs.fold(least, u32::max)
}

/// Reports how these bodies are integrated.
pub(crate) fn report(
    slots: &[u32],
    model: &Model,
    soft: &mut SoftWork,
    output: &mut OutputWork,
    dt: Real,
    substeps: u32,
) {
    let soft = &mut soft.models;
    let report = &mut output.report;
    for &slot in slots {
        let Some(held) = soft[slot as usize].as_ref() else { continue };
        report.soft.push(SoftReport {
            body: model.body_id(slot),
            implicit: held.model.operator().is_some(),
            stable_step: held.stable_step,
            softened: held.model.traits().softening(dt / substeps as Real),
            substeps,
        });
    }
}
