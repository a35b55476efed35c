//! Cloth: resident cloths (`contact/cloth/mod.rs`) in SoA. A cloth that touches only bodies at rest runs all its
//! substeps at once, while its data is in cache, in parallel with others. Other cloths share the substeps of the swept
//! islands.

use crate::contact::cloth::memory::keep_touches;
use crate::contact::kernel::cloth::CoupledBody;
use crate::contact::kernel::node::{BodyBlocks, Side};
use crate::contact::route::Residence;
use crate::deformable::cloth::{DistanceNetwork, Touched};
use crate::island::free_motion::decay;
use crate::math::{Blocks, Real, Vec3, add, put, vec};
use crate::model::{Model, Nodes};
use crate::settings::Settings;
use crate::work::{BodyWork, ClothWork, IslandWork, LedgerWork, Setup, SoftBodyWork, SoftWork, SubstepContext};

/// True for a cloth that is in SoA in this step.
pub(crate) fn is_resident(soft: &SoftWork, slot: u32) -> bool {
    soft.models[slot as usize].as_ref().is_some_and(|s| s.cloth.residence.is_resident())
}

/// Loads resident cloths into SoA; those without moving colliders run all their substeps.
pub(crate) fn begin(setup: &Setup, bodies: &mut BodyWork, island: &IslandWork, soft: &mut SoftWork) {
    let Setup { model, settings, pool } = *setup;
    let h = settings.dt / island.substeps as Real;
    let soft = &mut soft.models;
    let BodyWork { pose, velocity, inertia, node_force, nodes_pushed, .. } = bodies;
    let substeps = &island.substeps;
    let bodies = 2 * model.bodies.slot_count();
    // bodies at rest are read by all cloths; the nodes of a cloth are written by it alone
    let ((velocity, v), (pose, x)) = (velocity.split_at_mut(bodies), pose.split_at_mut(bodies));
    let still = BodyBlocks { velocity, pose, inertia };
    let (x, v) = (Blocks::new(x), Blocks::new(v));
    let (force, substeps) = (nodes_pushed.then_some(&node_force[..]), *substeps);
    pool.chunks(soft, 1, &|slot, held| {
        let (Some(held), Some(nodes)) = (&mut held[0], model.nodes_at(slot as u32)) else { return };
        let (true, Some(network)) = (held.cloth.residence.is_resident(), held.model.network()) else { return };
        let (x, v) = (part(model, nodes, x), part(model, nodes, v));
        let gravity = settings.gravity * nodes.traits.gravity_scale;
        let keep = decay(nodes.traits.damping, h);
        let force = force.map_or(&[][..], |force| &force[nodes.span()]);
        network.load(x, v, (force, gravity), (h, keep, settings.lanes));
        if held.cloth.residence == Residence::Alone {
            for substep in 0..substeps {
                let ctx = SubstepContext::new(settings, h, substep);
                network.sweep(true, settings.lanes);
                face(&mut held.cloth, network, &still, &[]);
                fused_substep(&ctx, settings, network, &mut held.cloth, nodes);
            }
            network.soa.finish(x, v, settings.lanes);
            keep_touches(&mut held.cloth, (slot as u32, nodes), still.pose, substeps);
        }
    });
}

/// The blocks of a body among those of all nodes.
fn part<'a>(model: &Model, nodes: &Nodes, of_nodes: Blocks<'a>) -> Blocks<'a> {
    let first = model.node_block(nodes.start) as usize - 2 * model.bodies.slot_count();
    of_nodes.part(first, first + nodes.inv_mass.len())
}

/// Poses of the colliders of a cloth, from its origin; `rest`: rounding remainders of the velocities [m/s].
fn face(sheet: &mut ClothWork, network: &DistanceNetwork, blocks: &BodyBlocks<'_>, rest: &[Vec3]) {
    for coupled in &mut sheet.coupled {
        let mut side = Side::load(blocks, coupled.slot);
        side.x -= network.soa.origin;
        let rest = rest.get(coupled.slot as usize).copied().unwrap_or_default();
        *coupled = CoupledBody::new(coupled.slot, side, coupled.moves, coupled.jacobi_groups, rest);
    }
    for touch in &mut sheet.touches[..sheet.count] {
        touch.place(&sheet.coupled[touch.coupled].side);
    }
}

/// After the internal constraints of a substep: velocities, contacts and positions.
fn fused_substep(
    ctx: &SubstepContext,
    settings: &Settings,
    network: &mut DistanceNetwork,
    sheet: &mut ClothWork,
    nodes: &Nodes,
) -> Real {
    let keep = decay(nodes.traits.damping, ctx.h);
    let params = &ctx.contact;
    let (touches, coupled) = (&mut sheet.touches[..sheet.count], &mut sheet.coupled[..]);
    let self_contact = sheet.self_contact.as_deref_mut().filter(|_| sheet.has_self_contact);
    network.fused_substep(Touched { touches, coupled, params, self_contact }, (ctx.h, keep, ctx.last, settings.lanes))
}

/// Internal constraints of the cloths that share their substeps.
pub(crate) fn predict(soft: &mut SoftWork, settings: &Settings) {
    for held in soft.models.iter_mut().flatten().filter(|held| held.cloth.residence == Residence::Shared) {
        held.cloth.contacts_done = false;
        if let Some(network) = held.model.network() {
            network.sweep(true, settings.lanes);
        }
    }
}

/// Contacts of the cloths that share their substeps, once in each substep: in its first correcting sweep. A node has
/// one contact and is light compared with the body, so that a second sweep gains nothing. Returns the sum of squared
/// impulses.
pub(crate) fn sweep(
    ctx: &SubstepContext,
    model: &Model,
    bodies: &mut BodyWork,
    soft: &mut SoftWork,
    ledger: &mut LedgerWork,
    settings: &Settings,
) -> Real {
    let soft = &mut soft.models;
    let BodyWork { velocity, pose, inertia, v_remainder, .. } = bodies;
    let mut squares = 0.0;
    for (slot, held) in soft.iter_mut().enumerate() {
        let (Some(SoftBodyWork { model: matter, cloth: sheet, .. }), Some(nodes)) = (held, model.nodes_at(slot as u32))
        else {
            continue;
        };
        if sheet.residence != Residence::Shared || std::mem::replace(&mut sheet.contacts_done, true) {
            continue;
        }
        let Some(network) = matter.network() else { continue };
        face(sheet, network, &BodyBlocks { velocity, pose, inertia }, v_remainder);
        squares += fused_substep(ctx, settings, network, sheet, nodes);
        for coupled in sheet.coupled.iter().filter(|p| p.side.inv_mass > 0.0) {
            let at = 2 * coupled.slot as usize;
            v_remainder[coupled.slot as usize] = coupled.rest;
            let (dv, dw) = (coupled.side.v - vec(velocity[at]), coupled.side.w - vec(velocity[at + 1]));
            if ledger.is_on() {
                ledger.cloth_pushes.push((coupled.slot, slot as u32, dv, dw));
            }
            for (block, v) in [(at, coupled.side.v), (at + 1, coupled.side.w)] {
                put(&mut velocity[block], v);
            }
        }
    }
    squares
}

/// Adds the position correction of contacts with cloth to the position velocity of the coupled bodies.
fn lift(bodies: &mut BodyWork, soft: &SoftWork) {
    let soft = &soft.models;
    let position_velocity = &mut bodies.position_velocity;
    for SoftBodyWork { cloth: sheet, .. } in
        soft.iter().flatten().filter(|held| held.cloth.residence == Residence::Shared)
    {
        for coupled in sheet.coupled.iter().filter(|p| p.side.inv_mass > 0.0) {
            let at = 2 * coupled.slot as usize;
            for (block, more) in [(at, coupled.lift[0]), (at + 1, coupled.lift[1])] {
                add(&mut position_velocity[block], more);
            }
        }
    }
}

/// Stores the cloths of shared substeps back into the blocks of all bodies.
pub(crate) fn finish(model: &Model, bodies: &mut BodyWork, soft: &mut SoftWork, settings: &Settings) {
    let first = 2 * model.bodies.slot_count();
    let soft = &mut soft.models;
    let BodyWork { pose, velocity, .. } = bodies;
    let (x, v) = (Blocks::new(&mut pose[first..]), Blocks::new(&mut velocity[first..]));
    for (slot, held) in soft.iter_mut().enumerate() {
        let (Some(held), Some(nodes)) = (held, model.nodes_at(slot as u32)) else { continue };
        if let Some(network) = held.model.network().filter(|_| held.cloth.residence == Residence::Shared) {
            network.soa.finish(part(model, nodes, x), part(model, nodes, v), settings.lanes);
        }
    }
}

/// Copies the velocities after the correcting sweeps to `position_velocity`. Nodes of resident cloths have none.
pub(crate) fn copy_position_velocity(model: &Model, bodies: &mut BodyWork, soft: &SoftWork) {
    let BodyWork { position_velocity, velocity, active_nodes, .. } = bodies;
    let first = 2 * model.bodies.slot_count();
    let of_nodes = first + model.node_count;
    position_velocity[..first].copy_from_slice(&velocity[..first]);
    position_velocity[of_nodes..].copy_from_slice(&velocity[of_nodes..]);
    for &slot in active_nodes.iter() {
        let out = soft.models[slot as usize].as_ref().is_some_and(|held| held.cloth.residence.is_resident());
        if let Some(nodes) = model.nodes_at(slot).filter(|_| !out) {
            let first = model.node_block(nodes.start) as usize;
            let span = first..first + nodes.inv_mass.len();
            position_velocity[span.clone()].copy_from_slice(&velocity[span]);
        }
    }
    lift(bodies, soft);
}
