//! Implicit islands: islands with a body too stiff for sweeps. Each runs all its substeps by itself, `predict`,
//! `assemble`, `solve`, `advance` as in the sweep islands, but all its rows enter one CG (`solver/implicit.rs`).
//!
//! They run before the sweep islands: islands share no row, so that the order does not matter, and kinematic bodies are
//! then still at their poses of the start of the step.

use crate::constraint::{Bounds, Constraint, RowBuffer, View};
use crate::contact::point::slop;
use crate::contact::readout::PointImpulse;
use crate::contact::route::{BodyRoute, Route};
use crate::contact::{law, point};
use crate::friction::{AnisotropyFrame, Memory, Visit};
use crate::guard::energy_limiter;
use crate::island::{free_motion, soft_body};
use crate::ledger;
use crate::math::{Block, Real, Vec3, integrate_rotation, put, quat, rigid_pose, vec};
use crate::model::{Model, Motion};
use crate::report::Phase;
use crate::settings::Settings;
use crate::solver::implicit::{Placed, RigidUnknown, System, regularize, solve as solve_island};
use crate::solver::soft::Softness;
use crate::state::{State, contact_flag};
use crate::work::{
    BodyWork, ContactWork, ImplicitIsland, ImplicitSpan, ImplicitWork, Instant, IslandWork, OutputWork, Setup,
    SoftWork, SubstepContext, Touch,
};

/// Separates islands with an implicit body from those that sweeps solve. Runs after the islands are known.
pub(crate) fn sort_out(
    model: &Model,
    state: &State,
    bodies: &mut BodyWork,
    island: &mut IslandWork,
    soft: &mut SoftWork,
) {
    let slots = model.bodies.slot_count();
    let implicit = &mut island.implicit;
    let BodyWork { islands, active, active_nodes, body_routes, .. } = bodies;
    let soft = &mut soft.models;
    implicit.count = 0;
    implicit.of_root.clear();
    implicit.of_root.resize(slots, u32::MAX);
    body_routes.clear();
    body_routes.extend(active.iter().map(|&a| if a { BodyRoute::Swept } else { BodyRoute::Inactive }));
    // islands by their root, in the order of their first implicit body
    for &slot in active_nodes.iter() {
        let stiff = soft[slot as usize].as_ref().is_some_and(|s| s.model.operator().is_some());
        let root = islands.root(slot) as usize;
        if stiff && implicit.of_root[root] == u32::MAX {
            implicit.of_root[root] = implicit.count as u32;
            implicit.count += 1;
        }
    }
    if implicit.count == 0 {
        return;
    }
    // all bodies of these islands that can be are solved implicitly: a body with goal positions or explicit forces
    // would respond with the contact node alone
    for &slot in active_nodes.iter() {
        let among = implicit.of_root[islands.root(slot) as usize] != u32::MAX;
        if let Some(held) = soft[slot as usize].as_mut().filter(|_| among) {
            held.model.set_implicit(true);
        }
    }
    list_members(model, state, bodies, implicit);
}

/// Lists the bodies and constraints of each implicit island; its bodies leave the lists of the sweep.
fn list_members(model: &Model, state: &State, bodies: &mut BodyWork, implicit: &mut ImplicitWork) {
    let BodyWork { islands, active, active_rigid, active_nodes, body_routes, .. } = bodies;
    implicit.islands.resize_with(implicit.islands.len().max(implicit.count), ImplicitIsland::default);
    implicit.islands.iter_mut().for_each(ImplicitIsland::clear);
    for slot in 0..model.bodies.slot_count() {
        let island = implicit.of_root[islands.root(slot as u32) as usize];
        if active[slot] && island != u32::MAX {
            body_routes[slot] = BodyRoute::Implicit(island);
        }
    }
    let island_of = |slot: u32| body_routes[slot as usize].island();
    for (list, rigid) in [(active_rigid, true), (active_nodes, false)] {
        for &slot in list.iter() {
            let Some(island) = island_of(slot) else { continue };
            let island = &mut implicit.islands[island as usize];
            if rigid { island.rigid.push(slot) } else { island.nodes.push(slot) }
        }
        list.retain(|&slot| island_of(slot).is_none());
    }
    for (slot, constraint) in model.constraints.iter() {
        let mut island = None;
        constraint.slots(|s| island = island.or(island_of(s)));
        if let (Some(island), 0) = (island, state.broken[slot as usize]) {
            implicit.islands[island as usize].constraints.push(slot);
        }
    }
}

/// Lists the contacts of each island. Runs after the routes are chosen.
pub(crate) fn list_contacts(bodies: &BodyWork, contact: &ContactWork, island: &mut IslandWork) {
    let implicit = &mut island.implicit;
    let body_routes = &bodies.body_routes;
    let ContactWork { contacts, routes, .. } = contact;
    for (index, (m, _)) in contacts.iter().zip(routes.iter()).enumerate().filter(|(_, (_, r))| **r == Route::Implicit) {
        let [a, b] = [m.key.a, m.key.b].map(|slot| body_routes[slot as usize].island());
        if let Some(island) = a.or(b) {
            implicit.islands[island as usize].contacts.push(index as u32);
        }
    }
}

/// All implicit islands, one after the other, each with all its substeps.
pub(crate) fn run(
    setup: &Setup,
    state: &State,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    work: &mut IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
) {
    let Setup { model, settings, .. } = *setup;
    work.implicit.spans.clear();
    work.implicit.touches.clear();
    for k in 0..work.implicit.count {
        let members = std::mem::take(&mut work.implicit.islands[k]);
        let least = settings.implicit_substeps.max(output.report.counts.impact_substeps);
        let count = soft_body::substeps(&members.nodes, soft, settings, least);
        soft_body::report(&members.nodes, model, soft, output, settings.dt, count);
        let h = settings.dt / count as Real;
        let (spans, touches) = (work.implicit.spans.len(), work.implicit.touches.len());
        list(model, contact, work, &members);
        let island = Island { members: &members, spans, touches, scale: h * work.substeps as Real / settings.dt };
        for substep in 0..count {
            let joint = Softness { rate: 1.0 / h, relative: 0.0 };
            let ctx = SubstepContext { joint, ..SubstepContext::new(settings, h, substep) };
            let route = BodyRoute::Implicit(k as u32);
            let of = ledger::Members { rigid: &members.rigid, nodes: &members.nodes };
            ledger::open(setup, bodies, soft, &mut output.ledger, of);
            contact.run_hook(Instant::BeforePredict, &ctx, setup, bodies, route);
            begin(&ctx, setup, bodies, work, soft, output, &island);
            output.clock.mark(Phase::Predict);
            assemble(&ctx, setup, bodies, contact, work, soft, output, &island);
            output.clock.mark(Phase::Assemble);
            solve(work, soft, output, settings, &island);
            energy_limiter::keep_within(h, model, bodies, work, soft, output, island.members);
            keep(&ctx, setup, bodies, contact, work, output, &island);
            contact.run_hook(Instant::AfterSolve, &ctx, setup, bodies, route);
            let parts = (&members, spans, touches);
            ledger::close_implicit(&ctx, setup, bodies, work, soft, &mut output.ledger, parts);
            output.clock.mark(Phase::Solve);
            end(&ctx, setup, bodies, soft, &island);
            place_kinematic(model, state, bodies, h * (substep + 1) as Real);
            contact.run_hook(Instant::AfterAdvance, &ctx, setup, bodies, route);
            output.clock.mark(Phase::Advance);
        }
        place_kinematic(model, state, bodies, 0.0);
        work.implicit.islands[k] = members;
    }
}

/// An island that is being solved: its members, where its constraints and contact points begin in the lists of the
/// step, and the ratio of its substep to that of the sweep islands, in which State stores impulses.
struct Island<'a> {
    members: &'a ImplicitIsland,
    spans: usize,
    touches: usize,
    scale: Real,
}

/// Lists the constraints and contact points of an island.
fn list(model: &Model, contact: &ContactWork, island: &mut IslandWork, members: &ImplicitIsland) {
    let implicit = &mut island.implicit;
    let contacts = &contact.contacts;
    for &constraint in &members.constraints {
        let kept = model.rows_of(constraint);
        let (first, count) = (kept.start as u32, kept.len() as u32);
        implicit.spans.push(ImplicitSpan { constraint, start: 0, end: 0, first, count });
    }
    for &manifold in &members.contacts {
        for point in 0..contacts[manifold as usize].count {
            implicit.touches.push(Touch { manifold, point, ..Touch::default() });
        }
    }
}

/// Poses of kinematic bodies `time` after the start of the step.
fn place_kinematic(model: &Model, state: &State, bodies: &mut BodyWork, time: Real) {
    for (slot, _) in model.bodies.iter() {
        let i = slot as usize;
        if model.rigid_at(slot).is_none_or(|r| r.motion != Motion::Kinematic) || state.is_frozen(i) {
            continue;
        }
        // exactly at the start: sweep islands begin there
        let (x, q) = if time > 0.0 {
            (state.x[i] + state.v[i] * time, integrate_rotation(state.q[i], state.w[i] * time))
        } else {
            (state.x[i], state.q[i])
        };
        bodies.pose[2 * i] = [x.x, x.y, x.z, 0.0];
        bodies.pose[2 * i + 1] = q.to_array();
    }
}

/// Free velocities of rigid bodies and particles, systems of implicit bodies; and the local numbering of all blocks.
fn begin(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &mut BodyWork,
    work: &mut IslandWork,
    soft: &mut SoftWork,
    output: &mut OutputWork,
    island: &Island<'_>,
) {
    let Setup { model, settings, .. } = *setup;
    let island = island.members;
    // the initial guess is the velocity before this substep's forces: that of resting bodies hardly changes
    number(model, bodies, work, island);
    bodies.turn_inertia(model, &island.rigid);
    free_motion::kick_rigid(ctx.h, model, bodies, settings, &island.rigid);
    for &slot in &island.nodes {
        if soft.models[slot as usize].is_some() {
            // the matrix A is rebuilt in every substep: that of another shape moves strained material beyond its rest
            // shape
            let when = soft_body::When { substep: 0, same_forces: false, ..ctx.into() };
            soft_body::predict(when, setup, slot, bodies, soft, output);
        } else {
            free_motion::kick_particles(ctx.h, model, bodies, settings, slot);
        }
    }
    let implicit = &mut work.implicit;
    let BodyWork { velocity, pose, .. } = bodies;
    let soft = &mut soft.models;
    implicit.rigid_unknowns.clear();
    let free = |block: u32| vec(velocity[block as usize]);
    for &slot in &island.rigid {
        let Some(rigid) = model.rigid_at(slot) else { continue };
        let inertia = rigid.inertia.rotated(quat(pose[2 * slot as usize + 1]));
        implicit.rigid_unknowns.push(RigidUnknown {
            block: implicit.local[2 * slot as usize],
            mass: rigid.mass / free_motion::decay(rigid.linear_damping, ctx.h),
            inertia: Some(inertia.scaled(1.0 / free_motion::decay(rigid.angular_damping, ctx.h))),
            free: [free(2 * slot), free(2 * slot + 1)],
        });
    }
    for &slot in &island.nodes {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        if soft[slot as usize].as_ref().is_some_and(|s| s.model.operator().is_some()) {
            continue;
        }
        let keep = free_motion::decay(nodes.traits.damping, ctx.h);
        for (n, (&mass, &inv)) in nodes.span().zip(nodes.mass.iter().zip(&nodes.inv_mass)) {
            let block = model.node_block(n as u32);
            if inv > 0.0 {
                let free = [free(block), Vec3::ZERO];
                implicit.rigid_unknowns.push(RigidUnknown {
                    block: implicit.local[block as usize],
                    // damping is part of the mass of bare particles only (`free_motion::kick_rigid`)
                    mass: if nodes.is_bare() { mass / keep } else { mass },
                    inertia: None,
                    free,
                });
            }
        }
    }
}

/// Local numbers for the blocks of the island's bodies.
fn number(model: &Model, bodies: &BodyWork, work: &mut IslandWork, island: &ImplicitIsland) {
    let implicit = &mut work.implicit;
    let velocity = &bodies.velocity;
    implicit.local.clear();
    implicit.local.resize(velocity.len(), u32::MAX);
    implicit.global.clear();
    implicit.v.clear();
    implicit.first_of.resize(model.bodies.slot_count(), 0);
    for &slot in &island.rigid {
        implicit.local_index(2 * slot, velocity);
        implicit.local_index(2 * slot + 1, velocity);
    }
    for &slot in &island.nodes {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        implicit.first_of[slot as usize] = implicit.global.len() as u32;
        for n in nodes.span() {
            implicit.local_index(model.node_block(n as u32), velocity);
        }
        // the blocks of an operator are contiguous: positions, then angular velocities
        for k in 0..nodes.radii.len() {
            implicit.local_index(model.spin_block(nodes.start + k as u32), velocity);
        }
    }
}

/// Rows of constraints and contacts, without softness: they start from their previous impulses.
#[expect(clippy::too_many_arguments, reason = "rows need bodies, models and contacts: each group by its name")]
fn assemble(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    work: &mut IslandWork,
    soft: &SoftWork,
    output: &mut OutputWork,
    island: &Island<'_>,
) {
    let model = setup.model;
    let mut rows = std::mem::take(&mut work.implicit.rows);
    rows.clear();
    constraint_rows(ctx, model, bodies, work, soft, island, &mut rows);
    let constraints = rows.len() as u32;
    let deepest = contact_rows(ctx, setup, bodies, contact, work, soft, island, &mut rows);
    output.report.penetration = output.report.penetration.max(deepest);
    if ctx.substep == 0 {
        let counts = &mut output.report.counts;
        let points = (work.implicit.touches.len() - island.touches) as u32;
        counts.contacts += points;
        counts.contact_rows += 3 * points;
        counts.constraint_rows += constraints;
    }
    let implicit = &mut work.implicit;
    let velocity = &bodies.velocity;
    rows.renumber(|block| implicit.local_index(block, velocity));
    implicit.rows = rows;
}

fn constraint_rows(
    ctx: &SubstepContext,
    model: &Model,
    bodies: &BodyWork,
    work: &mut IslandWork,
    soft: &SoftWork,
    island: &Island<'_>,
    rows: &mut RowBuffer,
) {
    let IslandWork { implicit, warm, .. } = work;
    let view = View { elapsed: ctx.elapsed(), ..bodies.view(model, soft, ctx.h) };
    for span in &mut implicit.spans[island.spans..] {
        let Some(constraint) = model.constraints.at(span.constraint) else { continue };
        let start = rows.len();
        constraint.rows(&view, ctx.joint, rows);
        let warm = &warm[span.first as usize..(span.first + span.count) as usize];
        for (row, &impulse) in rows.rows_mut()[start..].iter_mut().zip(warm) {
            row.impulse = impulse * island.scale;
        }
        (span.start, span.end) = (start as u32, rows.len() as u32);
    }
}

/// Three rows a contact point: normal, and two of friction as a spring from the stick point. Returns the deepest
/// penetration [m].
#[expect(clippy::too_many_arguments, reason = "rows need bodies, models and contacts: each group by its name")]
fn contact_rows(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    work: &mut IslandWork,
    soft: &SoftWork,
    island: &Island<'_>,
    rows: &mut RowBuffer,
) -> Real {
    let Setup { model, settings, .. } = *setup;
    let mut deepest: Real = 0.0;
    let mut touches = std::mem::take(&mut work.implicit.touches);
    let mut terms = std::mem::take(&mut contact.terms);
    for t in &mut touches[island.touches..] {
        let m = &contact.contacts[t.manifold as usize];
        let Some(place) = point::place(model, &bodies.pose, m, t.point as usize) else { continue };
        let material = point::pair_material(model, &settings.pairs, m);
        let point = m.points[t.point as usize];
        t.friction = if point.slipping != 0 { material.kinetic_friction } else { material.static_friction };
        t.anisotropy = if material.grain.is_some() {
            point::anisotropy(model, &bodies.pose, m, place.tangents)
        } else {
            AnisotropyFrame::NONE
        };
        let tangential_displacement = t.anisotropy.way(point.tangential_displacement);
        (t.normal, t.tangents, t.at, t.gap) = (place.normal, t.anisotropy.axes(place.tangents), place.at, place.gap);
        t.row = rows.len() as u32;
        t.start = point.impulse[0] * island.scale;
        point::terms_at_one_point(model, bodies, soft, m, t.normal, t.at, &mut terms);
        let bias = law::hard_bias(t.gap, slop(model, m, settings), ctx.h, settings.push_speed);
        let n = rows.push(&terms, bias, bias.min(0.0), 0.0, Bounds::AtLeast(0.0));
        let (approach, least) = (rows.relative_velocity(n, &bodies.velocity), ctx.contact.restitution_speed);
        if let Some(bias) = point::rebound(material.restitution, approach, t.gap, ctx.h, least) {
            (rows.rows_mut()[n as usize].bias, rows.rows_mut()[n as usize].correction) = (bias, 0.0);
        }
        rows.rows_mut()[n as usize].impulse = t.start;
        (t.law, t.pair) = (material.law, point::coefficients(&material));
        let disc = Bounds::Disc { normal: n, friction: t.friction, radius: 0.0 };
        for (k, bounds) in [(0, disc), (1, Bounds::Mate)] {
            point::terms_at_one_point(model, bodies, soft, m, t.tangents[k], t.at, &mut terms);
            rows.push(&terms, tangential_displacement[k] / ctx.h, 0.0, 0.0, bounds);
        }
        t.seen = 1.0;
        if !material.law.is_plain() {
            let stiffest = settings.implicit.rigid_stiffness * settings.implicit.tangential;
            let memory = Memory { stretch: tangential_displacement, slipping: point.slipping != 0 };
            let slip = slip_before(&work.implicit, rows, t.row, &bodies.velocity);
            own_friction([ctx.h, stiffest], t, memory, rows, slip);
        }
        deepest = deepest.max(-t.gap);
    }
    let patches = &mut work.implicit.patches;
    rolling_rows(setup, bodies, contact, (&touches[island.touches..], island.scale), patches, rows);
    work.implicit.touches = touches;
    contact.terms = terms;
    deepest
}

/// Rows against rolling along both tangents and spinning about the normal, for manifolds of rigid bodies that resist it.
/// The torques along the tangents are one vector in a disc. A row of an island is bounded by a number or by one other row:
/// the disc follows the most pressed point, with the ratio of the impulse of all points to its own in the previous
/// substep; the torque about the normal is bounded by the impulse of the previous substep.
fn rolling_rows(
    setup: &Setup,
    bodies: &BodyWork,
    contact: &ContactWork,
    (touches, scale): (&[Touch], Real),
    patches: &mut Vec<(u32, u32)>,
    rows: &mut RowBuffer,
) {
    let Setup { model, settings, .. } = *setup;
    patches.clear();
    for points in touches.chunk_by(|a, b| a.manifold == b.manifold) {
        let m = &contact.contacts[points[0].manifold as usize];
        let material = point::pair_material(model, &settings.pairs, m);
        let levers = [material.rolling_resistance, material.spinning_resistance];
        if m.has(contact_flag::NODE) || levers == [0.0; 2] {
            continue;
        }
        let pressed: Real = points.iter().map(|t| t.start.max(0.0)).sum();
        let most = points.iter().fold(&points[0], |most, t| if t.start > most.start { t } else { most });
        let ratio = if most.start > 0.0 { pressed / most.start } else { 1.0 };
        let (_, q) = rigid_pose(&bodies.pose, m.key.a);
        let (n, t) = (q * m.normal, q * m.tangent);
        let row = rows.len() as u32;
        let high = material.spinning_resistance * pressed;
        let bounds = [
            Bounds::Disc { normal: most.row, friction: material.rolling_resistance * ratio, radius: 0.0 },
            Bounds::Mate,
            Bounds::Between { low: -high, high },
        ];
        let reach = material.rolling_resistance * pressed;
        let back = law::onto_disc((), m.roll[0] * m.roll[0] + m.roll[1] * m.roll[1], reach / scale);
        let starts = [m.roll[0] * back * scale, m.roll[1] * back * scale, (m.roll[2] * scale).clamp(-high, high)];
        for ((axis, bounds), start) in [t, n.cross(t), n].into_iter().zip(bounds).zip(starts) {
            let terms = [point::turn_term(bodies, m.key.b, axis), point::turn_term(bodies, m.key.a, -axis)];
            let id = rows.push(&terms, 0.0, 0.0, 0.0, bounds);
            rows.rows_mut()[id as usize].impulse = start;
        }
        patches.push((points[0].manifold, row));
    }
}

/// Slip of a point before the forces of the substep: with their velocity a point at rest would be taken for one that
/// slips, and hold with its kinetic coefficient.
fn slip_before(implicit: &ImplicitWork, rows: &RowBuffer, row: u32, velocity: &[Block]) -> [Real; 2] {
    let before = |block: u32| match implicit.local[block as usize] {
        u32::MAX => vec(velocity[block as usize]),
        local => vec(implicit.v[local as usize]),
    };
    [1, 2].map(|k| rows.terms(row + k).iter().map(|t| t.jacobian.dot(before(t.block))).sum())
}

/// Friction rows of a point by its law; `[h, stiffest]` are the substep and the largest stiffness in units of the
/// effective mass.
fn own_friction([h, stiffest]: [Real; 2], t: &mut Touch, memory: Memory, rows: &mut RowBuffer, slip: [Real; 2]) {
    let visit = Visit { h, coefficients: t.pair, slip, memory, ..Visit::default() };
    let answer = rows.rows()[t.row as usize + 1].diagonal;
    let (traction, seen) = t.law.linear_traction(&visit, t.start, answer / stiffest);
    (t.friction, t.seen) = (traction.radius, seen);
    for k in 0..2 {
        let row = &mut rows.rows_mut()[t.row as usize + 1 + k];
        if let Bounds::Disc { friction, .. } = &mut row.bounds {
            *friction = t.friction;
        }
        if traction.softness > 0.0 {
            (row.softness, row.diagonal, row.bias) = (traction.softness, answer + traction.softness, traction.bias[k]);
        }
    }
}

/// Solves the island by conjugate gradients.
fn solve(work: &mut IslandWork, soft: &SoftWork, output: &mut OutputWork, settings: &Settings, island: &Island<'_>) {
    let implicit = &mut work.implicit;
    let soft = &soft.models;
    // reuses the same allocation for every solve: an empty list may change its lifetime
    let mut placed: Vec<Placed<'_>> =
        std::mem::take(&mut implicit.placed).into_iter().map(|_| unreachable!("empty")).collect();
    for &slot in &island.members.nodes {
        let operator = soft[slot as usize].as_ref().and_then(|s| s.model.operator());
        if let (Some(operator), Some(&first)) = (operator, implicit.first_of.get(slot as usize)) {
            placed.push(Placed { first, operator });
        }
    }
    let system = System { operators: &placed, rigid_unknowns: &implicit.rigid_unknowns };
    regularize(&system, &mut implicit.rows, implicit.v.len(), &settings.implicit, &mut implicit.scratch);
    let outcome = solve_island(&system, &mut implicit.rows, &mut implicit.v, &settings.implicit, &mut implicit.scratch);
    implicit.outcome = outcome;
    output.report.counts.iterations += outcome.iterations;
    output.report.counts.passes += outcome.passes;
    placed.clear();
    implicit.placed = placed.into_iter().map(|_| unreachable!("empty")).collect();
}

/// Stores velocities, impulses and stick points.
fn keep(
    ctx: &SubstepContext,
    setup: &Setup,
    bodies: &mut BodyWork,
    contact: &mut ContactWork,
    work: &mut IslandWork,
    output: &mut OutputWork,
    island: &Island<'_>,
) {
    let Setup { model, settings, .. } = *setup;
    keep_impulses(model, work, output, settings, island);
    keep_contacts(ctx, contact, work, output, settings, island);
    let implicit = &work.implicit;
    let BodyWork { velocity, position_velocity, .. } = bodies;
    for (&block, v) in implicit.global.iter().zip(&implicit.v) {
        let to = &mut velocity[block as usize];
        put(to, vec(*v));
        position_velocity[block as usize] = *to;
    }
    free_motion::restore_inertia(model, bodies, &island.members.rigid, &island.members.nodes);
}

/// Advances positions.
fn end(ctx: &SubstepContext, setup: &Setup, bodies: &mut BodyWork, soft: &mut SoftWork, island: &Island<'_>) {
    let Setup { model, settings, .. } = *setup;
    for &slot in &island.members.rigid {
        free_motion::move_rigid(ctx.h, model, bodies, settings, slot);
    }
    for &slot in &island.members.nodes {
        if soft.models[slot as usize].is_some() {
            soft_body::advance(ctx.into(), setup, slot, bodies, soft);
        } else {
            free_motion::move_particles(ctx.h, model, bodies, slot);
        }
    }
}

/// Impulses of constraint rows: stored as warm start of the next substep, and summed for the report.
fn keep_impulses(
    model: &Model,
    work: &mut IslandWork,
    output: &mut OutputWork,
    settings: &Settings,
    island: &Island<'_>,
) {
    let nodes_from = 2 * model.bodies.slot_count() as u32;
    let IslandWork { implicit, warm, .. } = work;
    let readout = &mut output.readout;
    for span in &implicit.spans[island.spans..] {
        let rows = &implicit.rows.rows()[span.start as usize..span.end as usize];
        let kept = span.first as usize..(span.first + span.count) as usize;
        for (at, row) in kept.zip(rows) {
            readout.add_row(at, row.impulse);
            let to = &mut warm[at];
            // the impulse of a spring row is determined by its own law and is stored as it is
            let start = *to * island.scale;
            let next = if row.spring { row.impulse } else { settings.implicit.carried(start, row.impulse) };
            *to = next / island.scale;
        }
        for id in span.start..span.end {
            let linear = |block: u32| {
                let block = implicit.global[block as usize];
                block >= nodes_from || block.is_multiple_of(2)
            };
            let terms = implicit.rows.terms(id);
            let (push, twist) = model
                .constraints
                .at(span.constraint)
                .map_or_else(Default::default, |c: &Constraint| c.carried(id - span.start, terms, linear));
            let impulse = implicit.rows.rows()[id as usize].impulse;
            readout.add_constraint(span.constraint, [push * impulse, twist * impulse]);
        }
    }
}

/// Impulses and stick points of contacts. The stick point moves only when its spring force would exceed the friction
/// limit.
fn keep_contacts(
    ctx: &SubstepContext,
    contact: &mut ContactWork,
    work: &mut IslandWork,
    output: &mut OutputWork,
    settings: &Settings,
    island: &Island<'_>,
) {
    let implicit = &mut work.implicit;
    let contacts = &mut contact.contacts;
    let readout = &mut output.readout;
    for &(manifold, row) in &implicit.patches {
        let roll = [0, 1, 2].map(|k| implicit.rows.rows()[row as usize + k].impulse / island.scale);
        contacts[manifold as usize].roll = roll;
    }
    for t in &mut implicit.touches[island.touches..] {
        let rows = &implicit.rows.rows()[t.row as usize..t.row as usize + 3];
        let [n, a, b] = [rows[0].impulse, rows[1].impulse, rows[2].impulse];
        let slip = [1, 2].map(|k| implicit.rows.relative_velocity(t.row + k, &implicit.v));
        let impulse = t.normal * n + t.tangents[0] * a + t.tangents[1] * b;
        readout.add(t.manifold, t.point, PointImpulse { impulse, normal: n });
        let point = &mut contacts[t.manifold as usize].points[t.point as usize];
        let [along, across] = t.anisotropy.push_back([a, b]);
        point.impulse = [settings.implicit.carried(t.start, n), along, across].map(|i| i / island.scale);
        let tangential_displacement = t.anisotropy.way(point.tangential_displacement);
        if t.law.has_bristle() {
            let memory = Memory { stretch: tangential_displacement, slipping: point.slipping != 0 };
            let slip = slip.map(|v| v * t.seen);
            let seen = t.law.follow(ctx.h, n, t.pair, memory, slip);
            (point.tangential_displacement, point.slipping) =
                (t.anisotropy.way_back(seen.stretch), u32::from(seen.slipping));
            continue;
        }
        // the spring of a row: softness·h per unit of its largest impulse
        let limit = rows[1].softness * ctx.h * t.friction * n;
        let before = tangential_displacement[0] + ctx.h * slip[0];
        let across = tangential_displacement[1] + ctx.h * slip[1];
        let at_cone = if n > 0.0 && before * before + across * across > limit * limit { 1.0 } else { 0.0 };
        let (tangential_displacement, creep) = law::settle((), tangential_displacement, slip, limit, ctx.h);
        point.tangential_displacement = t.anisotropy.way_back(tangential_displacement);
        let slid = if point.slipping != 0 { 1.0 } else { 0.0 };
        point.slipping = u32::from(law::slips((), at_cone, slid, creep, limit) > 0.0);
    }
}

/// Positions of the contact points at the end of the step, and which contacts transmitted a normal impulse in it.
pub(crate) fn read(contact: &mut ContactWork, island: &IslandWork, output: &mut OutputWork) {
    let implicit = &island.implicit;
    let contacts = &mut contact.contacts;
    let readout = &mut output.readout;
    for t in &implicit.touches {
        readout.locate(t.manifold, t.point, t.at, t.normal, t.gap);
        readout.mark_touching(t.manifold, &mut contacts[t.manifold as usize]);
    }
}
