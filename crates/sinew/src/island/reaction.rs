//! Reactions: the force that pinned nodes and pinned axes exert on a body, from its balance of momentum over the step.
//!
//! ```text
//!   R dt = ΔP − Σ (external impulses) − contacts − constraints
//! ```
//!
//! P is the momentum of the nodes that are not pinned; external impulses (gravity, commands, loads, air, damping) are those
//! on all nodes, since a force on a pinned node goes into its support. Like all reported forces R is a mean over the step.
//! The balance needs no elastic forces, so that it holds for models with goal positions too. Mass-proportional damping inside
//! a model (`Solid::mass_damping`) counts as part of R.

use crate::island::free_motion::decay;
use crate::math::{Real, Vec3, vec};
use crate::model::{Model, Nodes};
use crate::settings::Settings;
use crate::state::State;
use crate::work::{BodyWork, OutputWork};

/// Momentum of the nodes that are not pinned [N·s].
fn momentum(nodes: &Nodes, v: &[Vec3]) -> Vec3 {
    let free = nodes.inv_mass.iter().zip(&nodes.mass).zip(v).filter(|((inv, _), _)| **inv > 0.0);
    free.fold(Vec3::ZERO, |sum, ((_, m), v)| sum + *v * *m)
}

/// The bodies with supports, and their momenta at the start of the step. A body without supports has no reaction, and its
/// balance is not computed.
pub(crate) fn begin(model: &Model, state: &State, bodies: &mut BodyWork) {
    let slots = model.bodies.slot_count();
    let BodyWork { supported, momentum_before, pushed, .. } = bodies;
    supported.clear();
    supported.extend((0..slots as u32).map(|slot| model.nodes_at(slot).is_some_and(|n| n.pinned)));
    for (_, constraint) in model.constraints.iter().filter(|(_, c)| c.traits().support) {
        if let [_, Some(slot)] = constraint.traits().sides {
            supported[slot as usize] = true;
        }
    }
    momentum_before.clear();
    momentum_before.resize(slots, Vec3::ZERO);
    pushed.clear();
    pushed.resize(slots, None);
    for (slot, before) in momentum_before.iter_mut().enumerate().filter(|(slot, _)| supported[*slot]) {
        if let Some(nodes) = model.nodes_at(slot as u32) {
            *before = momentum(nodes, &state.node_v[nodes.span()]);
        }
    }
}

/// Adds the impulse of the gathered forces and of damping in a substep, before the model is evaluated.
pub(crate) fn note_push(h: Real, keep: Real, model: &Model, slot: u32, nodes: &Nodes, bodies: &mut BodyWork) {
    if !bodies.supported[slot as usize] {
        return;
    }
    let force = bodies.node_total[nodes.span()].iter().fold(Vec3::ZERO, |sum, f| sum + *f);
    let mut push = force * h;
    if keep < 1.0 {
        let v = &bodies.velocity[model.blocks_of(nodes)];
        let free = v.iter().zip(&nodes.mass).filter(|(v, _)| v[3] > 0.0);
        push -= free.fold(Vec3::ZERO, |sum, (v, m)| sum + vec(*v) * *m) * (1.0 - keep);
    }
    let sum = &mut bodies.pushed[slot as usize];
    *sum = Some(sum.unwrap_or_default() + push);
}

/// The reactions of the step; a body that sleeps keeps its last one.
pub(crate) fn observe(model: &Model, state: &State, bodies: &BodyWork, output: &mut OutputWork, settings: &Settings) {
    let OutputWork { reactions, report, readout, .. } = output;
    reactions.resize(model.bodies.slot_count(), Vec3::ZERO);
    // what the balance leaves without a support is rounding
    for (reaction, _) in reactions.iter_mut().zip(&bodies.supported).filter(|(_, supported)| !**supported) {
        *reaction = Vec3::ZERO;
    }
    let active = |slot: u32| bodies.active[slot as usize] && bodies.supported[slot as usize];
    for (slot, _) in model.bodies.iter().filter(|(slot, _)| active(*slot)) {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        let i = slot as usize;
        let after = momentum(nodes, &state.node_v[nodes.span()]);
        let pushed =
            bodies.pushed[i].unwrap_or_else(|| plain_push(nodes, bodies, (bodies.momentum_before[i], after), settings));
        reactions[i] = (after - bodies.momentum_before[i] - pushed) / settings.dt;
    }
    for pair in report.pairs.iter().filter(|p| p.a != p.b) {
        for (id, force) in [(pair.a, pair.force), (pair.b, -pair.force)] {
            if active(id.index) {
                reactions[id.index as usize] += force;
            }
        }
    }
    for (k, constraint) in model.constraints.iter().filter(|(_, c)| !c.traits().support) {
        let [force, _] = readout.wrench(k);
        let [a, b] = constraint.traits().sides;
        for (slot, force) in [(a, force), (b, -force)] {
            if let Some(slot) = slot.filter(|slot| active(*slot)) {
                reactions[slot as usize] += force;
            }
        }
    }
}

/// The same impulse of a body whose forces are constant in the step: particles, and cloth in SoA.
fn plain_push(nodes: &Nodes, bodies: &BodyWork, (before, after): (Vec3, Vec3), settings: &Settings) -> Vec3 {
    let weight = settings.gravity * (nodes.traits.gravity_scale * nodes.total_mass);
    let commands = if bodies.nodes_pushed { bodies.node_force[nodes.span()].iter().copied().sum() } else { Vec3::ZERO };
    // damping of the mean motion
    let drag = (before + after) * (0.5 * (1.0 - decay(nodes.traits.damping, settings.dt)));
    (weight + commands) * settings.dt - drag
}
