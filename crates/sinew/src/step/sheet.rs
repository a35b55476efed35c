//! Bare sheets in columns: for the whole step their nodes stay in lanes (`deformable/particle/net.rs`), and so do their
//! contacts with balls and planes (`solver/sheet_touch.rs`). One that touches only what stands still runs all its substeps
//! at once, while it is in cache, beside others on other threads. Whatever else holds on to a sheet (constraints, laws of
//! friction, surfaces, heavy nodes, shapes with corners) leaves it to `soft.rs` and the rows.

use super::node_lanes::{Out, is_light, is_ours, read_lane};
use super::predict::decay;
use super::{StepContext, law_contact, touch};
use crate::collision::surface::feature;
use crate::deformable::particle::Net;
use crate::math::{Blocks, Quat, Real, Vec3};
use crate::model::{Model, Motion, Nodes};
use crate::settings::{ContactMethod, Order, Settings};
use crate::solver::node_touch::{BodyBlocks, Side};
use crate::solver::pgs::Pass;
use crate::solver::sheet_touch::{SheetTouch, Wall};
use crate::state::{ContactKey, ContactMemory, State, contact_flag};
use crate::work::{ColliderRef, SheetWork, SoftWork, Work};
use bytemuck::Zeroable;

/// True for a sheet that is in columns now.
pub(super) fn is_out(work: &Work, slot: u32) -> bool {
    work.soft[slot as usize].as_ref().is_some_and(|s| s.sheet.out)
}

/// True for a sheet that can be taken out, as far as can be told before contacts are known.
pub(super) fn may_be_out(model: &Model, state: &State, work: &mut Work, settings: &Settings, slot: u32) -> bool {
    let (Some(nodes), Some(held)) = (model.nodes_at(slot), work.soft[slot as usize].as_mut()) else { return false };
    let plain = nodes.inner_span().is_empty() && work.skins[slot as usize].as_ref().is_some_and(|s| s.all_nodes);
    let usual = settings.contact_method == ContactMethod::Rows && !settings.guaranteed;
    // one that sleeps has the contacts that it fell asleep with, which may be of any kind
    let usual = usual && work.moves[slot as usize];
    // air pushes otherwise in each substep
    let mut may = usual && plain && nodes.traits.air.is_none() && held.model.net().is_some();
    for (_, constraint) in model.constraints.iter().filter(|(k, _)| state.broken[*k as usize] == 0) {
        if may {
            constraint.slots(|s| may &= s != slot);
        }
    }
    held.sheet.tight = may;
    may
}

/// True for a collider that columns know: a ball or a plane without bounce or law of its own, and heavy beside the nodes.
pub(super) fn is_wall(model: &Model, collider: ColliderRef, slot: u32, settings: &Settings) -> bool {
    let (Some(nodes), Some(rigid)) = (model.nodes_at(slot), model.rigid_at(collider.body)) else { return false };
    let built = &rigid.colliders[collider.collider as usize];
    let lightest = nodes.inv_mass.iter().filter(|w| **w > 0.0).fold(Real::INFINITY, |least, w| least.min(*w));
    let light = is_light(model, rigid.is_dynamic(), collider.body, lightest);
    let key = ContactKey {
        a: collider.body,
        b: slot,
        collider_a: collider.collider,
        collider_b: feature::VERTEX,
        ..ContactKey::zeroed()
    };
    let m = ContactMemory { key, flags: contact_flag::NODE, ..ContactMemory::zeroed() };
    let bounces = touch::pair_material(model, &settings.pairs, &m).restitution > 0.0;
    let round = built.geometry.ball().is_some() || built.geometry.plane().is_some();
    round && light && !bounces && !law_contact::takes(model, &settings.pairs, &m)
}

/// Takes the sheets out that can be, with their walls and what they remember. Comes last in `detect`.
pub(super) fn sort_out(model: &Model, work: &mut Work, settings: &Settings) {
    // residuals are told sweep by sweep of all
    let together = settings.residuals || settings.stop_residual > 0.0 || settings.order != Order::Joint;
    let Work { soft, contacts, active, .. } = work;
    for (slot, held) in soft.iter_mut().enumerate() {
        let Some(SoftWork { sheet, .. }) = held else { continue };
        (sheet.out, sheet.alone, sheet.count) = (sheet.tight && active[slot], !together, 0);
    }
    for m in contacts.iter().filter(|m| !is_ours(m) || m.key.collider_b != feature::VERTEX) {
        for slot in [m.key.a, m.key.b] {
            if let Some(Some(held)) = soft.get_mut(slot as usize) {
                held.sheet.out = false;
            }
        }
    }
    let mut at = 0;
    while at < contacts.len() {
        let pair = |m: &ContactMemory| (m.key.a, m.key.b, m.key.collider_a);
        let end = at + contacts[at..].iter().take_while(|m| pair(m) == pair(&contacts[at])).count();
        if let Some(Some(held)) = soft.get_mut(contacts[at].key.b as usize)
            && held.sheet.out
        {
            add_wall(model, held, &contacts[at..end], settings, active);
        }
        at = end;
    }
}

/// A wall from its contacts, and what their nodes remember.
fn add_wall(model: &Model, held: &mut SoftWork, contacts: &[ContactMemory], settings: &Settings, active: &[bool]) {
    let key = contacts[0].key;
    let (Some(nodes), Some(rigid)) = (model.nodes_at(key.b), model.rigid_at(key.a)) else { return };
    let built = &rigid.colliders[key.collider_a as usize];
    let material = touch::pair_material(model, &settings.pairs, &contacts[0]);
    let normal = built.geometry.plane();
    let wall = Wall {
        slot: key.a,
        collider: key.collider_a,
        static_friction: material.static_friction,
        kinetic_friction: material.kinetic_friction,
        core: built.place.position,
        normal: normal.map_or(Vec3::ZERO, |n| built.place.rotation * n),
        flat: normal.is_some(),
        radius: built.geometry.ball().unwrap_or(0.0) + nodes.traits.radius + settings.standoff(),
    };
    let Some(net) = held.model.net() else { return };
    let SheetWork { alone, touches, count, columns, .. } = &mut held.sheet;
    *alone &= !active[key.a as usize] && rigid.motion != Motion::Kinematic;
    if columns.is_empty() {
        *columns = net.flock.slots();
    }
    if touches.len() == *count {
        touches.push(SheetTouch::default());
    }
    let touch = &mut touches[*count];
    *count += 1;
    touch.reset(wall, net.flock.slot_count() / 8);
    net.flock.learn_pins(|node| nodes.inv_mass[node as usize]);
    let inverse = net.flock.nodes().w;
    for m in contacts {
        let point = &m.points[0];
        if point.stick == [0.0; 2] && point.slipping == 0 {
            continue;
        }
        let stick = m.tangent * point.stick[0] + m.normal.cross(m.tangent) * point.stick[1];
        touch.remember(inverse, columns[m.key.sub_b as usize], stick, point.slipping != 0);
    }
}

/// Takes sheets over into columns; those that stand alone run their whole step.
pub(super) fn take_out(model: &Model, work: &mut Work, settings: &Settings) {
    let h = settings.dt / work.substeps as Real;
    let Work { pool, soft, pose, velocity, inertia, node_force, substeps, report, .. } = work;
    for held in soft.iter().flatten().filter(|held| held.sheet.out) {
        report.counts.inner_rows += held.model.inner_rows() as u32;
    }
    let bodies = 2 * model.bodies.slot_count();
    // bodies that stand still are read by all, nodes are their sheet's alone
    let ((velocity, v), (pose, x)) = (velocity.split_at_mut(bodies), pose.split_at_mut(bodies));
    let still = BodyBlocks { velocity, pose, inertia };
    let (x, v) = (Blocks::new(x), Blocks::new(v));
    let (force, substeps) = (&node_force[..], *substeps);
    pool.chunks(soft, 1, &|slot, held| {
        let (Some(held), Some(nodes)) = (&mut held[0], model.nodes_at(slot as u32)) else { return };
        let (true, Some(net)) = (held.sheet.out, held.model.net()) else { return };
        let (x, v) = (part(model, nodes, x), part(model, nodes, v));
        let gravity = settings.gravity * nodes.traits.gravity_scale;
        net.take_out(x, v, (&force[nodes.span()], gravity), (h, settings.lanes));
        if held.sheet.alone {
            let touches = &mut held.sheet.touches[..held.sheet.count];
            run_alone(settings, net, touches, &still, (substeps, decay(nodes.traits.damping, h)));
            net.flock.store(x, v);
        }
    });
}

/// The blocks of a body among those of all nodes.
fn part<'a>(model: &Model, nodes: &Nodes, of_nodes: Blocks<'a>) -> Blocks<'a> {
    let first = model.node_block(nodes.start) as usize - 2 * model.bodies.slot_count();
    of_nodes.part(first, first + nodes.inv_mass.len())
}

/// All substeps of a sheet whose walls stand still, `keep` of its velocities left by damping in each.
fn run_alone(
    settings: &Settings,
    net: &mut Net,
    touches: &mut [SheetTouch],
    still: &BodyBlocks<'_>,
    (substeps, keep): (u32, Real),
) {
    let (h, lanes) = (settings.dt / substeps as Real, settings.lanes);
    for substep in 0..substeps {
        let ctx = StepContext::new(settings, h, substep);
        net.predict(h, keep, ctx.last, lanes);
        touches.iter_mut().for_each(SheetTouch::renew);
        for sweep in 0..settings.sweeps + settings.relax_sweeps {
            if sweep == settings.sweeps {
                net.flock.advance(h, lanes);
            }
            let pass = if sweep < settings.sweeps { Pass::Correct } else { Pass::Relax };
            for touch in touches.iter_mut() {
                let side = Side::load(still, touch.wall.slot);
                touch.sweep(net.flock.nodes(), side, None, (&ctx.contact, pass, lanes, once(settings)));
            }
        }
    }
}

/// One sweep of each kind a substep: both are made at once.
fn once(settings: &Settings) -> bool {
    settings.sweeps == 1 && settings.relax_sweeps == 1
}

/// Sheets that share their substeps with others.
fn shared(soft: &mut [Option<SoftWork>]) -> impl Iterator<Item = &mut SoftWork> {
    soft.iter_mut().flatten().filter(|held| held.sheet.out && !held.sheet.alone)
}

/// Velocity after external forces and rows.
pub(super) fn predict(ctx: &StepContext, model: &Model, slot: u32, work: &mut Work, settings: &Settings) {
    let (Some(held), Some(nodes)) = (work.soft[slot as usize].as_mut(), model.nodes_at(slot)) else { return };
    if let Some(net) = held.model.net().filter(|_| !held.sheet.alone) {
        net.predict(ctx.h, decay(nodes.traits.damping, ctx.h), ctx.last, settings.lanes);
    }
}

/// A new substep of their contacts.
pub(super) fn renew(work: &mut Work) {
    for held in shared(&mut work.soft) {
        held.sheet.touches[..held.sheet.count].iter_mut().for_each(SheetTouch::renew);
    }
}

/// One sweep over their contacts. Returns the sum of squared changes of impulse.
pub(super) fn sweep(ctx: &StepContext, work: &mut Work, settings: &Settings, pass: Pass) -> Real {
    let Work { soft, velocity, pose, inertia, kick_rest, .. } = work;
    let mut squares = 0.0;
    for SoftWork { model, sheet, .. } in shared(soft) {
        let Some(net) = model.net() else { continue };
        for touch in &mut sheet.touches[..sheet.count] {
            let side = Side::load(&BodyBlocks { velocity, pose, inertia }, touch.wall.slot);
            let how = (&ctx.contact, pass, settings.lanes, false);
            squares += touch.sweep(net.flock.nodes(), side, Some((velocity, kick_rest)), how);
        }
    }
    squares
}

/// Places follow the corrected velocities, before these are relaxed.
pub(super) fn advance(ctx: &StepContext, work: &mut Work, settings: &Settings) {
    for held in shared(&mut work.soft) {
        if let Some(net) = held.model.net() {
            net.flock.advance(ctx.h, settings.lanes);
        }
    }
}

/// Gives the sheets of shared substeps back to the others.
pub(super) fn put_back(model: &Model, work: &mut Work) {
    let bodies = 2 * model.bodies.slot_count();
    let Work { soft, pose, velocity, .. } = work;
    let (x, v) = (Blocks::new(&mut pose[bodies..]), Blocks::new(&mut velocity[bodies..]));
    for (slot, held) in soft.iter_mut().enumerate() {
        let (Some(held), Some(nodes)) = (held, model.nodes_at(slot as u32)) else { continue };
        if let Some(net) = held.model.net().filter(|_| held.sheet.out && !held.sheet.alone) {
            net.flock.store(part(model, nodes, x), part(model, nodes, v));
        }
    }
}

/// carry ← velocity, but for nodes in columns, which have none.
pub(super) fn carry_over(model: &Model, work: &mut Work) {
    let Work { carry, velocity, soft, active_nodes, .. } = work;
    let bodies = 2 * model.bodies.slot_count();
    let of_nodes = bodies + model.node_count;
    carry[..bodies].copy_from_slice(&velocity[..bodies]);
    carry[of_nodes..].copy_from_slice(&velocity[of_nodes..]);
    for &slot in active_nodes.iter() {
        let out = soft[slot as usize].as_ref().is_some_and(|held| held.sheet.out);
        if let Some(nodes) = model.nodes_at(slot).filter(|_| !out) {
            let first = model.node_block(nodes.start) as usize;
            let span = first..first + nodes.inv_mass.len();
            carry[span.clone()].copy_from_slice(&velocity[span]);
        }
    }
}

/// Impulses, slip and normals back into the contacts, and the mean forces of the step.
pub(super) fn read(model: &Model, work: &mut Work, settings: &Settings) {
    let inv_dt = 1.0 / settings.dt;
    let Work { soft, contacts, forces, point_forces, pose, report, .. } = work;
    soft.iter_mut().flatten().flat_map(|held| &mut held.sheet.touches).for_each(SheetTouch::renew);
    for index in 0..contacts.len() {
        let key = contacts[index].key;
        let Some(Some(SoftWork { sheet, .. })) = soft.get(key.b as usize) else { continue };
        let Some(nodes) = model.nodes_at(key.b).filter(|_| sheet.out) else { continue };
        let wall = |t: &&SheetTouch| (t.wall.slot, t.wall.collider) == (key.a, key.collider_a);
        let touch = sheet.touches[..sheet.count].iter().find(wall);
        let (Some(touch), node) = (touch, key.sub_b) else { continue };
        let out = Out { contact: &mut contacts[index], force: &mut forces[index] };
        let Some((batch, lane)) = touch.find(sheet.columns[node as usize]) else {
            out.contact.points[0].let_go();
            super::remember::set_touching(out.contact, false);
            continue;
        };
        let q = Quat::from_array(pose[2 * key.a as usize + 1]).inverse();
        let at = pose[model.node_block(nodes.start + node) as usize];
        let point = point_forces.get_mut(index).map(|p| (&mut p[0], at));
        let deep = read_lane(batch, lane, (q, inv_dt, false), out, point);
        report.penetration = report.penetration.max(deep);
    }
}
