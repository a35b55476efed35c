//! The ledger over a step: what bodies have at its start and its end, and the entries in between.

use super::stock::{elastic_of, springs, stock_of, take, take_after};
use super::substep::free_mass;
use super::{contacts, wide};
use crate::deformable::{Approximation, BodyRef, Coordinates};
use crate::input::{Command, Input};
use crate::island::free_motion::decay;
use crate::math::{Block, Real, Vec3, Wide3, vec, widen};
use crate::model::{Body, Model, Motion, Nodes};
use crate::report::{BodyLedger, Ledger, LedgerDetail, Report};
use crate::settings::Settings;
use crate::state::State;
use crate::work::{BodySums, BodyWork, ContactWork, Inside, LedgerWork, OutputWork, Setup, SoftWork, Stock, StockMark};

/// Before the input: the stock of the last step, or one that is taken now when the world was edited in between.
pub(crate) fn enter(model: &Model, state: &State, settings: &Settings, input: &Input, ledger: &mut LedgerWork) {
    if !ledger.is_on() {
        return;
    }
    let mark = StockMark { revision: model.revision, tick: state.tick, gravity: settings.gravity };
    let known = ledger.mark == Some(mark);
    ledger.book = Ledger::default();
    ledger.outside = [Wide3::ZERO; 2];
    ledger.turned = Wide3::ZERO;
    ledger.spring_work = [0.0; 2];
    if known {
        std::mem::swap(&mut ledger.start, &mut ledger.end);
        ledger.springs[0] = ledger.springs[1];
        return;
    }
    ledger.mark = None;
    ledger.start.clear();
    if input.commands.iter().any(changes_state) {
        let slots = 0..model.bodies.slot_count() as u32;
        ledger.start.extend(slots.map(|slot| stock_of(model, state, settings, ledger.detail, slot)));
    }
}

/// True for commands that change more than forces and the velocities of driven bodies.
fn changes_state(command: &Command) -> bool {
    !matches!(
        command,
        Command::Force { .. }
            | Command::ForceAt { .. }
            | Command::NodeForce { .. }
            | Command::NodeTorque { .. }
            | Command::NodeTarget { .. }
            | Command::Target { .. }
            | Command::Motor { .. }
    )
}

/// Before the first substep: what commands and the fault checks changed, and empty sums.
pub(crate) fn begin(
    setup: &Setup,
    state: &State,
    input: &Input,
    bodies: &mut BodyWork,
    soft: &SoftWork,
    output: &mut OutputWork,
) {
    let model = setup.model;
    let OutputWork { ledger, report, .. } = output;
    if !ledger.is_on() {
        return;
    }
    let slots = model.bodies.slot_count();
    let edited = input.commands.iter().any(changes_state);
    let repaired = !report.faults.is_empty() || !report.tangles.is_empty();
    if ledger.mark.is_none() || edited || repaired {
        retake(setup, state, bodies, soft, ledger, edited);
    }
    ledger.mark = None;
    ledger.bodies.clear();
    ledger.bodies.resize(slots, BodySums::default());
    list_owners(model, bodies, ledger);
    for (slot, _) in model.bodies.iter().filter(|(slot, _)| bodies.active[*slot as usize]) {
        let resident = soft.models[slot as usize].as_ref().is_some_and(|held| held.cloth.residence.is_resident());
        let inside = inside(model, bodies, soft, slot);
        ledger.bodies[slot as usize] = BodySums { inside, resident, ..BodySums::default() };
    }
}

/// Takes the stock after commands and fault checks; the difference to the one before is theirs.
fn retake(setup: &Setup, state: &State, bodies: &BodyWork, soft: &SoftWork, ledger: &mut LedgerWork, edited: bool) {
    let mut now = std::mem::take(&mut ledger.end);
    now.clear();
    now.resize(setup.model.bodies.slot_count(), Stock::default());
    take(setup, state, bodies, Some(soft), &mut now, ledger.detail);
    let springs_now = springs(setup, state, bodies, soft, ledger);
    if !ledger.start.is_empty() {
        let elastic_known = ledger.mark.is_some();
        let (mut change, mut momentum, mut angular) = (Ledger::default(), Wide3::ZERO, Wide3::ZERO);
        let none = Stock::default();
        for k in 0..now.len().max(ledger.start.len()) {
            let (a, b) = (ledger.start.get(k).unwrap_or(&none), now.get(k).unwrap_or(&none));
            change.kinetic += b.kinetic - a.kinetic;
            change.gravity += b.gravity - a.gravity;
            change.elastic += if elastic_known { b.elastic - a.elastic } else { 0.0 };
            momentum += b.momentum - a.momentum;
            angular += b.angular - a.angular;
        }
        change.elastic += if elastic_known { springs_now - ledger.springs[0] } else { 0.0 };
        *(if edited { &mut change.commands } else { &mut change.guards }) = change.stored();
        ledger.book.add(&change);
        ledger.given = [momentum, angular];
    } else {
        ledger.given = [Wide3::ZERO; 2];
    }
    ledger.springs[0] = springs_now;
    ledger.end = std::mem::replace(&mut ledger.start, now);
}

/// The slot of the body that answers at each block, and mean velocities of those that do not.
fn list_owners(model: &Model, bodies: &BodyWork, ledger: &mut LedgerWork) {
    let LedgerWork { owner, before, mean, .. } = ledger;
    owner.clear();
    owner.resize(bodies.velocity.len(), u32::MAX);
    before.resize(bodies.velocity.len(), [0.0; 4]);
    mean.clone_from(&bodies.velocity);
    for (slot, body) in model.bodies.iter().filter(|(slot, _)| bodies.active[*slot as usize]) {
        match body {
            Body::Rigid(_) => owner[2 * slot as usize..2 * slot as usize + 2].fill(slot),
            Body::Nodes(nodes) => {
                for (n, block) in model.blocks_of(nodes).enumerate() {
                    if nodes.inv_mass[n] > 0.0 {
                        owner[block] = slot;
                        if !nodes.radii.is_empty() {
                            owner[model.spin_block(nodes.start + n as u32) as usize] = slot;
                        }
                    }
                }
            }
        }
    }
}

/// How the work of the internal forces of an active body is known.
fn inside(model: &Model, bodies: &BodyWork, soft: &SoftWork, slot: u32) -> Inside {
    let Some(nodes) = model.nodes_at(slot) else { return Inside::None };
    let Some(held) = soft.models[slot as usize].as_ref() else { return Inside::None };
    let linear = held.model.operator().is_some()
        && nodes.coordinates == Coordinates::Nodes
        && matches!(held.model.traits().response, Approximation::Lumped { .. });
    if linear && !moves_pins(model, bodies, slot) { Inside::Formula } else { Inside::Balance }
}

/// True for a body with a pinned node that moves.
fn moves_pins(model: &Model, bodies: &BodyWork, slot: u32) -> bool {
    let Some(nodes) = model.nodes_at(slot).filter(|n| n.pinned) else { return false };
    let blocks = model.blocks_of(nodes);
    nodes.inv_mass.iter().zip(&bodies.velocity[blocks]).any(|(inv, v)| *inv == 0.0 && vec(*v) != Vec3::ZERO)
}

/// Before results are stored: loss by flow of the internal state (plastic strain, dashpots),
/// U(x, state before) − U(x, state after).
pub(crate) fn flow(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    contact: &ContactWork,
    soft: &SoftWork,
    ledger: &mut LedgerWork,
) {
    if !ledger.is_on() {
        return;
    }
    contacts::collect(contact, ledger);
    for (slot, _) in model.bodies.iter().filter(|(slot, _)| bodies.active[*slot as usize]) {
        let Some(nodes) = model.nodes_at(slot).filter(|n| n.coordinates == Coordinates::Nodes) else { continue };
        let span = nodes.internal_state_span();
        let (before, after) = (&state.internal_state[span.clone()], &bodies.internal_state[span]);
        if before == after {
            continue;
        }
        let [a, b] = [before, after].map(|s| elastic_of(model, bodies, soft, slot, Some(s)).unwrap_or(0.0));
        ledger.book.plasticity += b - a;
        ledger.bodies[slot as usize].internal += b - a;
    }
}

/// After the step: the stock at its end, the entries, and the rest. Without a ledger, the energies alone.
pub(crate) fn end(setup: &Setup, state: &State, bodies: &mut BodyWork, soft: &SoftWork, output: &mut OutputWork) {
    if output.ledger.is_on() {
        take_after(setup, state, bodies, soft, &mut output.ledger);
        close(setup, state, bodies, soft, output);
    } else {
        let to = &mut output.ledger.end;
        to.resize(setup.model.bodies.slot_count(), Stock::default());
        take(setup, state, bodies, None, to, LedgerDetail::None);
    }
    let OutputWork { ledger, report, .. } = output;
    let sums = |of: fn(&Stock) -> f64| ledger.end.iter().map(of).sum::<f64>() as Real;
    (report.energies.kinetic, report.energies.gravity) = (sums(|s| s.kinetic), sums(|s| s.gravity));
}

/// The entries of the step.
fn close(setup: &Setup, state: &State, bodies: &mut BodyWork, soft: &SoftWork, output: &mut OutputWork) {
    let Setup { model, settings, .. } = *setup;
    output.ledger.springs[1] = springs(setup, state, bodies, soft, &mut output.ledger);
    of_cloth_colliders(model, state, bodies, output, settings);
    of_moved_pins(model, bodies, soft, output, settings);
    let ledger = &mut output.ledger;
    output.report.ledger.bodies.clear();
    for slot in 0..ledger.end.len() {
        of_body(model, bodies, ledger, slot, &mut output.report);
    }
    let book = &mut ledger.book;
    let changed = ledger.springs[1] - ledger.springs[0];
    book.elastic += changed;
    book.damping += ledger.spring_work[1];
    book.integrator += ledger.spring_work[0] + changed - ledger.spring_work[1];
    book.unexplained = book.stored() - book.explained();
    let rolled_back = bodies.rolled_back.contains(&true);
    if rolled_back {
        // the works of these bodies were not theirs
        book.guards += std::mem::take(&mut book.unexplained);
    }
    momentum(setup, state, bodies, output);
    let OutputWork { ledger, report, .. } = output;
    report.ledger.step = ledger.book;
    report.ledger.total.add(&ledger.book);
    report.ledger.turnover += ledger.book.turnover();
    let mark = StockMark { revision: model.revision, tick: state.tick, gravity: settings.gravity };
    ledger.mark = (!rolled_back).then_some(mark);
}

/// Balance of a body over the step.
fn of_body(model: &Model, bodies: &mut BodyWork, ledger: &mut LedgerWork, slot: usize, report: &mut Report) {
    let (a, b, detailed) = (ledger.start[slot], ledger.end[slot], ledger.is_detailed());
    let (book, sums) = (&mut ledger.book, &mut ledger.bodies[slot]);
    let gravity = b.gravity - a.gravity;
    let stored = b.kinetic - a.kinetic + gravity + b.elastic - a.elastic;
    book.kinetic += b.kinetic - a.kinetic;
    book.gravity += gravity;
    book.elastic += b.elastic - a.elastic;
    let Some(body) = model.bodies.at(slot as u32) else { return };
    if !bodies.active[slot] {
        return;
    }
    if sums.inside == Inside::Balance {
        let rest = stored - sums.external - sums.exchange - sums.internal;
        book.integrator += rest;
        sums.internal += rest;
    } else {
        let integrator = sums.gravity_mean - sums.gravity_end;
        let correction = sums.gravity_end + gravity - sums.guarded;
        book.integrator += integrator;
        book.correction += correction;
        sums.internal += integrator + correction;
    }
    if detailed && !matches!(body, Body::Rigid(r) if !r.is_dynamic()) {
        report.ledger.bodies.push(BodyLedger {
            body: model.body_id(slot as u32),
            island: bodies.islands.root(slot as u32),
            stored,
            external: sums.external,
            exchange: sums.exchange,
            internal: sums.internal,
            unexplained: stored - sums.external - sums.exchange - sums.internal,
        });
    }
}

/// Work of kinematic bodies on cloth in columns, from the force of the pair.
fn of_cloth_colliders(model: &Model, state: &State, bodies: &BodyWork, output: &mut OutputWork, settings: &Settings) {
    for pair in &output.cloth_pair_forces {
        let kinematic = model.rigid_at(pair.body).is_some_and(|r| r.motion == Motion::Kinematic);
        if kinematic && bodies.active[pair.sheet as usize] {
            let work = wide(settings.dt) * widen(pair.force).dot(widen(state.v[pair.body as usize]));
            output.ledger.book.kinematic += work;
            output.ledger.bodies[pair.sheet as usize].exchange += work;
        }
    }
}

/// Work of pinned nodes that move. With one velocity for all of them it is that of the reaction, which the balance of momentum
/// gives; else that of the elastic forces at the end of the step, where the model has such forces.
fn of_moved_pins(model: &Model, bodies: &BodyWork, soft: &SoftWork, output: &mut OutputWork, settings: &Settings) {
    let OutputWork { ledger, reactions, .. } = output;
    for (slot, _) in model.bodies.iter().filter(|(slot, _)| bodies.active[*slot as usize]) {
        let Some(nodes) = model.nodes_at(slot).filter(|_| moves_pins(model, bodies, slot)) else { continue };
        let blocks = model.blocks_of(nodes);
        let (x, v) = (&bodies.pose[blocks.clone()], &bodies.velocity[blocks]);
        let mut pins = v.iter().filter(|v| v[3] == 0.0).map(|v| vec(*v));
        let first = pins.next().unwrap_or_default();
        let work = if pins.all(|v| v == first) {
            // forces on the pins themselves go into their support
            (widen(reactions[slot as usize]) + on_pins(nodes, bodies, settings)).dot(widen(first))
        } else if let Some(held) = soft.models[slot as usize].as_ref() {
            let forces = &mut ledger.forces;
            forces.clear();
            forces.resize(v.len(), Vec3::ZERO);
            let internal_state = &bodies.internal_state[nodes.internal_state_span()];
            held.model.forces(BodyRef { x, v, internal_state }, forces);
            let of = |(f, v): (&Vec3, &Block)| widen(*f).dot(widen(vec(*v)));
            -forces.iter().zip(v).filter(|(_, v)| v[3] == 0.0).map(of).sum::<f64>()
        } else {
            0.0
        };
        ledger.book.kinematic += work * wide(settings.dt);
        ledger.bodies[slot as usize].exchange += work * wide(settings.dt);
    }
}

/// External forces on the pinned nodes of a body [N].
fn on_pins(nodes: &Nodes, bodies: &BodyWork, settings: &Settings) -> Wide3 {
    let gravity = settings.gravity * nodes.traits.gravity_scale;
    let pins = nodes.span().zip(nodes.inv_mass.iter().zip(&nodes.mass)).filter(|(_, (inv, _))| **inv == 0.0);
    let force =
        |(n, (_, m)): (usize, (&Real, &Real))| widen(if nodes.is_bare() { gravity * *m } else { bodies.node_total[n] });
    pins.map(force).sum()
}

/// Momentum: change and external impulses.
fn momentum(setup: &Setup, state: &State, bodies: &BodyWork, output: &mut OutputWork) {
    let Setup { model, settings, .. } = *setup;
    let dt = wide(settings.dt);
    let active = |slot: u32| bodies.active[slot as usize];
    let mut outside = output.ledger.outside[0] + output.ledger.given[0];
    for (slot, body) in model.bodies.iter().filter(|(slot, _)| active(*slot)) {
        let (mass, scale) = match body {
            Body::Rigid(r) => (wide(r.mass), r.gravity_scale),
            Body::Nodes(n) => (free_mass(n), n.traits.gravity_scale),
        };
        outside += widen(settings.gravity * scale) * (mass * dt);
        let Some(nodes) = model.nodes_at(slot) else { continue };
        if bodies.supported.get(slot as usize).copied().unwrap_or(false) {
            outside += (widen(output.reactions[slot as usize]) + on_pins(nodes, bodies, settings)) * dt;
        }
        let (a, b) = (&output.ledger.start[slot as usize], &output.ledger.end[slot as usize]);
        if output.ledger.bodies[slot as usize].resident {
            // damping of the mean motion, and commands
            outside -= (a.momentum + b.momentum) * (0.5 * (1.0 - wide(decay(nodes.traits.damping, settings.dt))));
            if bodies.nodes_pushed {
                outside += bodies.node_force[nodes.span()].iter().fold(Wide3::ZERO, |s, f| s + widen(*f)) * dt;
            }
        }
    }
    for (k, m) in state.contacts.iter().enumerate() {
        let sign = f64::from(active(m.key.b)) - f64::from(active(m.key.a));
        if sign != 0.0 {
            outside += widen(output.readout.force(k).0) * (sign * dt);
        }
    }
    for pair in output.cloth_pair_forces.iter().filter(|p| active(p.sheet) && !active(p.body)) {
        outside += widen(pair.force) * dt;
    }
    let detailed = output.ledger.is_detailed();
    let LedgerWork { start, end, turned, outside: sums, given, .. } = &output.ledger;
    let total = |of: &[Stock]| of.iter().fold([Wide3::ZERO; 2], |s, b| [s[0] + b.momentum, s[1] + b.angular]);
    let (a, b) = (total(start), total(end));
    let to = &mut output.report.ledger.momentum;
    let change = b[0] - a[0] + given[0];
    (to.linear, to.external) = (change.to_array(), outside.to_array());
    to.unexplained = (change - outside).to_array();
    if detailed {
        let (change, outside) = (b[1] - a[1] + given[1], sums[1] + given[1]);
        (to.angular, to.angular_external) = (change.to_array(), outside.to_array());
        to.angular_correction = turned.to_array();
        to.angular_unexplained = (change - outside - *turned).to_array();
    }
}
