//! Observe: forces into the report; energies follow with the ledger. Writes no State, except the flag of pairs whose force was above the
//! threshold.

use crate::contact::cloth::memory::key_of;
use crate::contact::point;
use crate::island::reaction;
use crate::math::{Real, Vec3};
use crate::model::Model;
use crate::report::{ContactForce, Event, PairForce};
use crate::state::{ContactMemory, State, contact_flag};
use crate::tool;
use crate::work::{BodyWork, OutputWork, PointForce, Setup};
use bytemuck::Zeroable;

pub(crate) fn observe(setup: &Setup, state: &mut State, bodies: &BodyWork, output: &mut OutputWork) {
    let Setup { model, settings, .. } = *setup;
    output.report.tick = state.tick;
    let counts = &mut output.report.counts;
    counts.asleep = state.flags.iter().filter(|f| *f & crate::state::flag::ASLEEP != 0).count() as u32;
    forces(model, state, output, settings.force_threshold);
    reaction::observe(model, state, bodies, output, settings);
    if !state.tools.is_empty() {
        tool::observe(model, state, output.readout.rows(), &mut output.report);
    }
}

/// Forces by point and by pair, in the order of the contacts.
fn forces(model: &Model, state: &mut State, output: &mut OutputWork, threshold: Real) {
    let mut pair_start = 0;
    for i in 0..state.contacts.len() {
        let m = &state.contacts[i];
        let (a, b) = (m.key.a, m.key.b);
        if m.has(contact_flag::TOUCHING) && !m.has(contact_flag::SENSOR) {
            let (id_a, id_b) = (model.body_id(a), model.body_id(b));
            let (force, normal) = output.readout.force(i);
            match output.report.pairs.last_mut() {
                Some(p) if p.a == id_a && p.b == id_b => {
                    p.force += force;
                    p.normal += normal;
                }
                _ => output.report.pairs.push(PairForce { a: id_a, b: id_b, force, normal }),
            }
            let OutputWork { report, readout, .. } = output;
            let pushing = readout.points(i, m.count).iter().filter(|f| f.normal > 0.0 || f.force != Vec3::ZERO);
            report.contacts.extend(pushing.map(|f| force_at(model, state, m, f)));
        }
        // last contact of the pair: was its force above the threshold?
        let last = state.contacts.get(i + 1).is_none_or(|n| (n.key.a, n.key.b) != (a, b));
        if last {
            mark_above_threshold(model, state, output, pair_start..i + 1, threshold);
            pair_start = i + 1;
        }
    }
    cloth_forces(model, state, output, threshold);
}

/// The same for nodes of cloths in SoA.
fn cloth_forces(model: &Model, state: &mut State, output: &mut OutputWork, threshold: Real) {
    let OutputWork { report, cloth_pair_forces, cloth_point_forces, .. } = output;
    for pair in cloth_pair_forces.iter() {
        let (a, b) = (model.body_id(pair.body), model.body_id(pair.sheet));
        let size = if pair.touching { pair.force.length() } else { 0.0 };
        if pair.touching {
            report.pairs.push(PairForce { a, b, force: pair.force, normal: pair.normal });
        }
        if threshold.is_finite() {
            if size > threshold && !pair.above_threshold {
                report.events.push(Event::ForceAbove { a, b, force: size });
            }
            let pair = (pair.body, pair.sheet);
            let first = state.cloth_contacts.partition_point(|g| (g.body, g.sheet) < pair);
            for g in state.cloth_contacts[first..].iter_mut().take_while(|g| (g.body, g.sheet) == pair) {
                g.flags = put_loud(g.flags, size > threshold);
            }
        }
    }
    if !cloth_pair_forces.is_empty() {
        report.pairs.sort_unstable_by_key(|p| (p.a.index, p.b.index));
    }
    for (g, f) in state.cloth_contacts.iter().zip(cloth_point_forces.iter()).filter(|(_, f)| f.normal > 0.0) {
        let m = ContactMemory { key: key_of(g), count: 1, flags: contact_flag::NODE, ..ContactMemory::zeroed() };
        report.contacts.push(force_at(model, state, &m, f));
    }
}

/// The force at one point of a contact, with the slip velocity there.
fn force_at(model: &Model, state: &State, m: &ContactMemory, f: &PointForce) -> ContactForce {
    let (a, b) = (m.key.a, m.key.b);
    let [spread_a, spread_b] = point::spread(model, m);
    let v_a = point::velocity(model, state, a, spread_a.as_ref(), f.point);
    let v_b = point::velocity(model, state, b, spread_b.as_ref(), f.point);
    ContactForce {
        a: model.body_id(a),
        b: model.body_id(b),
        point: f.point,
        normal: f.direction,
        gap: f.gap,
        force: f.force,
        velocity: v_b - v_a,
        spread_a,
        spread_b,
    }
}

fn put_loud(flags: u32, is: bool) -> u32 {
    if is { flags | contact_flag::ABOVE_THRESHOLD } else { flags & !contact_flag::ABOVE_THRESHOLD }
}

/// Events for pairs whose force rises above the threshold; the flag prevents their repetition.
fn mark_above_threshold(
    model: &Model,
    state: &mut State,
    output: &mut OutputWork,
    range: std::ops::Range<usize>,
    threshold: Real,
) {
    if !threshold.is_finite() {
        return;
    }
    let (a, b) = (state.contacts[range.start].key.a, state.contacts[range.start].key.b);
    let (id_a, id_b) = (model.body_id(a), model.body_id(b));
    let size = output.report.pairs.last().filter(|p| p.a == id_a && p.b == id_b).map_or(0.0, |p| p.force.length());
    let was = state.contacts[range.clone()].iter().any(|m| m.has(contact_flag::ABOVE_THRESHOLD));
    let is = size > threshold;
    if is && !was {
        output.report.events.push(Event::ForceAbove { a: id_a, b: id_b, force: size });
    }
    for m in &mut state.contacts[range] {
        m.flags = put_loud(m.flags, is);
    }
}
