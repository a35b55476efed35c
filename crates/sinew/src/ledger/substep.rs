//! Works of a substep on bodies by themselves: gravity, commands, loads, air, damping, and the internal forces of linearly
//! implicit bodies.

use super::{contacts, rows, wide};
use crate::deformable::{Approximation, Deformable};
use crate::island::free_motion::decay;
use crate::math::{Block, Quat, Real, Wide3, narrow, quat, vec, widen};
use crate::model::{Model, Nodes, Rigid};
use crate::settings::{ContactMethod, Settings};
use crate::work::{
    BodyWork, ContactWork, ImplicitIsland, Inside, IslandWork, LedgerWork, Setup, SoftWork, SubstepContext,
};

/// Bodies of a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members<'a> {
    pub rigid: &'a [u32],
    pub nodes: &'a [u32],
}

/// Stores the velocities at the start of a substep.
pub(crate) fn open(setup: &Setup, bodies: &BodyWork, soft: &SoftWork, ledger: &mut LedgerWork, members: Members<'_>) {
    if !ledger.is_on() {
        return;
    }
    let model = setup.model;
    let LedgerWork { before, cloth_pushes, commands, .. } = ledger;
    cloth_pushes.clear();
    commands.clear();
    if setup.settings.contact_method != ContactMethod::Rows {
        // a classic method adds its forces to those of commands
        commands.extend_from_slice(&bodies.force);
    }
    for &slot in members.rigid {
        let at = 2 * slot as usize;
        before[at..at + 2].copy_from_slice(&bodies.velocity[at..at + 2]);
    }
    for nodes in members.nodes.iter().filter_map(|&slot| stored(model, soft, slot)) {
        for range in ranges(model, nodes) {
            before[range.clone()].copy_from_slice(&bodies.velocity[range]);
        }
    }
}

/// The nodes of a body whose velocities are in the arrays of the step.
fn stored<'a>(model: &'a Model, soft: &SoftWork, slot: u32) -> Option<&'a Nodes> {
    let out = soft.models[slot as usize].as_ref().is_some_and(|held| held.cloth.residence.is_resident());
    model.nodes_at(slot).filter(|_| !out)
}

/// Blocks of a body: positions of its nodes, and their rotations.
fn ranges(model: &Model, nodes: &Nodes) -> [std::ops::Range<usize>; 2] {
    let spins = if nodes.radii.is_empty() { 0 } else { model.spin_block(nodes.start) as usize };
    [model.blocks_of(nodes), spins..spins + nodes.radii.len()]
}

/// Works of a substep of the swept islands. Runs after the solve, before positions move.
pub(crate) fn close_swept(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    island: &mut IslandWork,
    soft: &SoftWork,
    ledger: &mut LedgerWork,
) {
    if !ledger.is_on() {
        return;
    }
    let (rigid, nodes) = (std::mem::take(&mut bodies.active_rigid), std::mem::take(&mut bodies.active_nodes));
    let members = Members { rigid: &rigid, nodes: &nodes };
    means(setup.model, bodies, soft, ledger, members);
    rows::swept(ctx.h, setup.model, bodies, island, ledger);
    contacts::surfaces(setup.model, bodies, contact, ledger);
    contacts::light_nodes(setup.model, bodies, contact, ledger);
    contacts::of_cloth(setup.model, bodies, ledger);
    each_body(ctx, setup, bodies, soft, ledger, members);
    (bodies.active_rigid, bodies.active_nodes) = (rigid, nodes);
    contacts::rigid(ctx, setup, bodies, contact, ledger);
}

/// Works of a substep of an implicit island.
pub(crate) fn close_implicit(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &BodyWork,
    island: &IslandWork,
    soft: &SoftWork,
    ledger: &mut LedgerWork,
    (members, spans, touches): (&ImplicitIsland, usize, usize),
) {
    if !ledger.is_on() {
        return;
    }
    let of = Members { rigid: &members.rigid, nodes: &members.nodes };
    means(setup.model, bodies, soft, ledger, of);
    for &slot in of.nodes {
        let sums = &mut ledger.bodies[slot as usize];
        (sums.exchange_now, sums.exchange_end) = (0.0, 0.0);
    }
    rows::implicit(ctx.h, setup, bodies, island, ledger, (spans, touches));
    each_body(ctx, setup, bodies, soft, ledger, of);
}

/// Mean velocities of the substep.
fn means(model: &Model, bodies: &BodyWork, soft: &SoftWork, ledger: &mut LedgerWork, members: Members<'_>) {
    let LedgerWork { before, mean, .. } = ledger;
    let mut put = |range: std::ops::Range<usize>| {
        for ((to, a), b) in mean[range.clone()].iter_mut().zip(&before[range.clone()]).zip(&bodies.velocity[range]) {
            *to = [0, 1, 2, 3].map(|k| 0.5 * (a[k] + b[k]));
        }
    };
    for &slot in members.rigid {
        put(2 * slot as usize..2 * slot as usize + 2);
    }
    for nodes in members.nodes.iter().filter_map(|&slot| stored(model, soft, slot)) {
        ranges(model, nodes).into_iter().for_each(&mut put);
    }
}

/// A rigid body, a set of particles or a soft body, one after the other.
fn each_body(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &BodyWork,
    soft: &SoftWork,
    ledger: &mut LedgerWork,
    members: Members<'_>,
) {
    let Setup { model, settings, .. } = *setup;
    for &slot in members.rigid {
        if let Some(body) = model.rigid_at(slot) {
            rigid(ctx.h, settings, bodies, ledger, (slot, body));
        }
    }
    for &slot in members.nodes {
        if let Some(nodes) = stored(model, soft, slot) {
            of_nodes(ctx.h, setup, bodies, soft, ledger, (slot, nodes));
        }
    }
}

fn rigid(h: Real, settings: &Settings, bodies: &BodyWork, ledger: &mut LedgerWork, (slot, body): (u32, &Rigid)) {
    let i = slot as usize;
    let (v, mean) = (vec(bodies.velocity[2 * i]), vec(ledger.mean[2 * i]));
    let pull = widen(settings.gravity) * (wide(body.mass) * wide(body.gravity_scale) * wide(h));
    let sums = &mut ledger.bodies[i];
    sums.gravity_mean += pull.dot(widen(mean));
    sums.gravity_end += pull.dot(widen(v));
    let [force, torque] = ledger.commands.get(i).copied().unwrap_or(bodies.force[i]);
    let turn = ledger.mean[2 * i + 1];
    if force != crate::math::Vec3::ZERO || torque != crate::math::Vec3::ZERO {
        let work = wide(h) * (widen(force).dot(widen(mean)) + widen(torque).dot(widen(vec(turn))));
        ledger.book.commands += work;
        sums.external += work;
        ledger.outside[0] += widen(force) * wide(h);
    }
    let mut drag = [Wide3::ZERO; 2];
    if body.is_damped() {
        let (q, w) = (quat(bodies.pose[2 * i + 1]), vec(bodies.velocity[2 * i + 1]));
        drag[0] = widen(v) * (-wide(h * body.linear_damping) * wide(body.mass));
        drag[1] = widen(q * body.inertia.mul(q.inverse() * w)) * -wide(h * body.angular_damping);
        let work = drag[0].dot(widen(mean)) + drag[1].dot(widen(vec(turn)));
        ledger.book.damping += work;
        sums.internal += work;
        ledger.outside[0] += drag[0];
    }
    if ledger.is_detailed() {
        let x = widen(vec(bodies.pose[2 * i]));
        let push = pull + widen(force) * wide(h) + drag[0];
        ledger.outside[1] += x.cross(push) + widen(torque) * wide(h) + drag[1];
        let c = [0, 1].map(|k| vec(bodies.position_velocity[2 * i + k]));
        ledger.turned += widen(c[0]).cross(widen(v)) * (wide(body.mass) * wide(h));
        if body.gyroscopic {
            let q = bodies.pose[2 * i + 1];
            let inertia = body.inertia.rotated(Quat::from_xyzw(q[0], q[1], q[2], q[3]));
            let w = vec(bodies.velocity[2 * i + 1]);
            let of = |w: Wide3| widen(inertia.mul(narrow(w)));
            let (w, more) = (widen(w), widen(c[1]) - widen(w));
            ledger.turned += (more.cross(of(w)) - of(more.cross(w))) * wide(h);
        }
    }
}

/// Sums over the free nodes of a body.
#[derive(Clone, Copy, Debug, Default)]
struct NodeSums {
    /// Σ m v̄, Σ m v⁺, Σ m v⁻.
    mean: Wide3,
    end: Wide3,
    start: Wide3,
    /// Σ of m v⁺·v̄, m v⁻·v̄, m Δv·v⁺, m Δv·Δv, m v⁺·v⁺ and m v⁻·v⁺.
    products: [f64; 6],
    /// Σ f·v̄, Σ f·v⁺ and Σ f of all external forces, and Σ f·v̄ of commands.
    forces: [f64; 2],
    force: Wide3,
    commands: f64,
}

fn of_nodes(
    h: Real,
    setup: &Setup,
    bodies: &BodyWork,
    soft: &SoftWork,
    ledger: &mut LedgerWork,
    (slot, nodes): (u32, &Nodes),
) {
    let Setup { model, settings, .. } = *setup;
    let held = soft.models[slot as usize].as_ref();
    let blocks = model.blocks_of(nodes);
    let range = || blocks.clone();
    let gathered = held.is_some();
    let sum = sum_up(
        nodes,
        [&ledger.before[range()], &ledger.mean[range()], &bodies.velocity[range()]],
        gathered.then(|| &bodies.node_total[nodes.span()]),
        bodies.nodes_pushed.then(|| &bodies.node_force[nodes.span()]),
    );
    let (h, pull) = (wide(h), widen(settings.gravity * nodes.traits.gravity_scale));
    let keep = wide(decay(nodes.traits.damping, narrow_real(h)));
    let (gravity_mean, gravity_end) = (h * pull.dot(sum.mean), h * pull.dot(sum.end));
    let commands = h * sum.commands;
    let others = if gathered { h * sum.forces[0] - gravity_mean - commands } else { 0.0 };
    // a bare particle has its damping in the mass, a soft body loses velocity before its forces act
    let (damping, drag) = if gathered {
        (-(1.0 - keep) * sum.products[1], sum.start * -(1.0 - keep))
    } else {
        (-(1.0 / keep - 1.0) * sum.products[0], sum.end * -(1.0 / keep - 1.0))
    };
    let book = &mut ledger.book;
    book.commands += commands;
    if !nodes.loads.is_empty() {
        book.loads += others;
    } else if nodes.traits.air.is_some() {
        book.air += others;
    }
    let acts = !nodes.loads.is_empty() || nodes.traits.air.is_some();
    book.damping += damping;
    let sums = &mut ledger.bodies[slot as usize];
    sums.gravity_mean += gravity_mean;
    sums.gravity_end += gravity_end;
    sums.external += commands + if acts { others } else { 0.0 };
    sums.internal += damping;
    ledger.outside[0] += drag;
    if gathered {
        let free = pull * free_mass(nodes) * h;
        ledger.outside[0] += sum.force * h - free;
    } else if bodies.nodes_pushed {
        ledger.outside[0] += sum.force * h;
    }
    if let (Some(held), Inside::Formula) = (held, sums.inside) {
        let rows = [sums.exchange_now, sums.exchange_end];
        let [damping, integrator, drag] =
            internal(&*held.model, &bodies.velocity[range()], &sum, (h, keep, rows), ledger);
        ledger.book.damping += damping;
        ledger.book.integrator += integrator;
        ledger.outside[0] -= sum.end * drag;
        ledger.bodies[slot as usize].internal += damping + integrator;
    }
    if ledger.is_detailed() {
        turn(h, setup, bodies, ledger, nodes, (pull, keep, gathered));
    }
}

/// Mass of the nodes that are not pinned [kg].
pub(super) fn free_mass(nodes: &Nodes) -> f64 {
    nodes.mass.iter().zip(&nodes.inv_mass).filter(|(_, inv)| **inv > 0.0).map(|(m, _)| wide(*m)).sum()
}

fn narrow_real(x: f64) -> Real {
    x as Real
}

fn sum_up(
    nodes: &Nodes,
    [before, mean, after]: [&[Block]; 3],
    forces: Option<&[crate::math::Vec3]>,
    commands: Option<&[crate::math::Vec3]>,
) -> NodeSums {
    let mut s = NodeSums::default();
    for (n, &m) in nodes.mass.iter().enumerate() {
        if after[n][3] == 0.0 {
            continue;
        }
        let m = wide(m);
        let [a, mid, b] = [before, mean, after].map(|v| widen(vec(v[n])));
        (s.mean, s.end, s.start) = (s.mean + mid * m, s.end + b * m, s.start + a * m);
        if let Some(f) = forces {
            let (f, change) = (widen(f[n]), b - a);
            let p = [b.dot(mid), a.dot(mid), change.dot(b), change.dot(change), b.dot(b), a.dot(b)];
            s.products.iter_mut().zip(p).for_each(|(to, p)| *to += m * p);
            s.forces = [s.forces[0] + f.dot(mid), s.forces[1] + f.dot(b)];
            s.force += f;
        } else {
            s.products[0] += m * b.dot(mid);
        }
        if let Some(f) = commands {
            s.commands += widen(f[n]).dot(mid);
            s.force += if forces.is_some() { Wide3::ZERO } else { widen(f[n]) };
        }
    }
    s
}

/// Works of damping and of the integration in the internal forces of a linearly implicit body in a substep, and its rate α
/// times h (`ledger/mod.rs`); zero for other models.
fn internal(
    model: &dyn Deformable,
    v: &[Block],
    sum: &NodeSums,
    (h, keep, [rows_mean, rows_end]): (f64, f64, [f64; 2]),
    ledger: &mut LedgerWork,
) -> [f64; 3] {
    let (Some(operator), Approximation::Lumped { damping, decay, .. }) = (model.operator(), model.traits().response)
    else {
        return [0.0; 3];
    };
    let (beta, alpha) = (wide(damping), wide(decay));
    let [free, applied] = &mut ledger.applied;
    free.clear();
    free.extend(v.iter().map(|v| if v[3] > 0.0 { [v[0], v[1], v[2], 0.0] } else { [0.0; 4] }));
    applied.clear();
    applied.resize(v.len(), [0.0; 4]);
    operator.apply(free, applied);
    let along = |of: &[Block]| free.iter().zip(of).map(|(v, p)| widen(vec(*v)).dot(widen(vec(*p)))).sum::<f64>();
    let [_, _, change_end, change_change, end_end, start_end] = sum.products;
    let full = along(applied);
    let q = full - (1.0 + h * alpha) * end_end;
    // what the solve left: A v⁺ − b − Jᵀλ
    let left = full - along(operator.load()) - rows_end;
    // p·Δv with p = M Δv − h f − rows + (1 − keep) M v⁻ and Δv = 2 (v⁺ − v̄)
    let doubled = |at_end: f64, at_mean: f64| 2.0 * (at_end - at_mean);
    let start_change = start_end - (end_end - 2.0 * change_end + change_change);
    let change = change_change - h * doubled(sum.forces[1], sum.forces[0]) - doubled(rows_end, rows_mean)
        + (1.0 - keep) * start_change;
    let damping = -h * alpha * end_end - q * beta / (h + beta);
    [damping, left - 0.5 * q * h / (h + beta) - 0.5 * change, h * alpha]
}

/// Angular impulse of gravity, forces and damping on nodes, and the change of angular momentum by their displacements.
fn turn(
    h: f64,
    setup: &Setup,
    bodies: &BodyWork,
    ledger: &mut LedgerWork,
    nodes: &Nodes,
    (pull, keep, gathered): (Wide3, f64, bool),
) {
    let blocks = setup.model.blocks_of(nodes);
    for ((n, block), &m) in nodes.span().zip(blocks).zip(&nodes.mass) {
        let v = bodies.velocity[block];
        if v[3] == 0.0 {
            continue;
        }
        let (x, m) = (widen(vec(bodies.pose[block])), wide(m));
        let (before, v) = (widen(vec(ledger.before[block])), widen(vec(v)));
        let force = if gathered { widen(bodies.node_total[n]) } else { pull * m + widen(bodies.node_force[n]) };
        let drag = if gathered { before * -(m * (1.0 - keep)) } else { v * -(m * (1.0 / keep - 1.0)) };
        ledger.outside[1] += x.cross(force * h + drag);
        ledger.turned += widen(vec(bodies.position_velocity[block])).cross(v) * (m * h);
    }
}
