//! Joints of swept islands: which are solved together, how many substeps their motion needs, and which came apart.

use crate::constraint::{BuiltJoint, Constraint, Side, View};
use crate::contact::route::BodyRoute;
use crate::math::{Quat, Real, Vec3, rigid_pose, vec};
use crate::model::Model;
use crate::report::{Fault, FaultKind, Phase};
use crate::settings::Settings;
use crate::solver::direct::NONE;
use crate::state::State;
use crate::tuning::direct::{LOOSE, TURN};
use crate::work::{BodyWork, IslandWork, OutputWork};

/// Lists the joints of swept islands for the direct solution; returns the substeps that they need: as many as keep the
/// rotation of every arm in a substep below a limit, up to `Settings::max_substeps`.
pub(crate) fn gather(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    island: &mut IslandWork,
    settings: &Settings,
) -> u32 {
    let direct = &mut island.direct;
    direct.clear();
    let mut fastest: Real = 0.0;
    for (slot, joint) in active_joints(model, state) {
        let sides = [joint.a.slot, joint.b.slot];
        let route = |s: Option<u32>| s.map(|s| bodies.body_routes[s as usize]);
        if sides.iter().any(|&s| route(s).is_some_and(|r| r.island().is_some())) {
            continue;
        }
        let swept = sides.map(|s| s.filter(|_| route(s) == Some(BodyRoute::Swept)));
        if swept == [None; 2] {
            continue;
        }
        direct.add(slot, swept.map(|s| s.unwrap_or(NONE)));
        for side in [&joint.a, &joint.b] {
            let Some(i) = side.slot.map(|s| s as usize) else { continue };
            fastest = fastest.max(turn_rate(model, side, state.w[i], state.q[i]));
        }
    }
    direct.order();
    let needed = (fastest * settings.dt / TURN).ceil();
    needed.min(settings.max_substeps as Real) as u32
}

fn active_joints<'a>(model: &'a Model, state: &'a State) -> impl Iterator<Item = (u32, &'a BuiltJoint)> {
    model.constraints.iter().filter(|(slot, _)| state.broken[*slot as usize] == 0).filter_map(|(slot, c)| match c {
        Constraint::Joint(joint) => Some((slot, joint)),
        _ => None,
    })
}

/// Rate at which the arm of a joint turns [rad/s], weighted by its length where the body is larger: a wheel that spins on
/// its axle has none.
fn turn_rate(model: &Model, side: &Side, spin: Vec3, turned: Quat) -> Real {
    let Some(rigid) = side.slot.and_then(|s| model.rigid_at(s)) else { return 0.0 };
    let size = side.local.length().max(rigid.radius);
    if size > 0.0 { spin.cross(turned * side.local).length() / size } else { 0.0 }
}

/// Largest rotation of an arm of a joint in the substep [rad].
pub(crate) fn turn(view: &View<'_>, constraint: &Constraint) -> Real {
    let Constraint::Joint(joint) = constraint else { return 0.0 };
    let of = |side: &Side| {
        let slot = side.slot?;
        Some(turn_rate(view.model, side, vec(view.velocity[2 * slot as usize + 1]), view.center(slot).1) * view.h)
    };
    [&joint.a, &joint.b].into_iter().filter_map(of).fold(0.0, Real::max)
}

/// Reports the joints that came apart in the step: open by more than their bodies reach, or by a fraction of it where a
/// substep did not resolve their rotation. Runs before the new poses are stored.
pub(crate) fn report_open(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    island: &IslandWork,
    output: &mut OutputWork,
) {
    for (slot, joint) in active_joints(model, state) {
        let changed = |s: &u32| bodies.active[*s as usize] && !bodies.rolled_back[*s as usize];
        let Some(body) = [joint.b.slot, joint.a.slot].into_iter().flatten().find(changed) else { continue };
        let share = if island.direct.is_unresolved(slot) { LOOSE } else { 1.0 };
        let most = share * (reach(model, &joint.a) + reach(model, &joint.b));
        let before = joint.opening(|s| (state.x[s as usize], state.q[s as usize]));
        if before <= most && joint.opening(|s| rigid_pose(&bodies.pose, s)) > most {
            let what = FaultKind::JointOpen { joint: model.constraint_id(slot) };
            output.report.faults.push(Fault { body: model.body_id(body), phase: Phase::Advance, what, field: "x" });
        }
    }
}

/// Distance that a body reaches from its centre: its arm, or its rim where the joint is near the centre; 0 for the world.
fn reach(model: &Model, side: &Side) -> Real {
    let rigid = side.slot.and_then(|s| model.rigid_at(s)).filter(|r| r.is_dynamic());
    rigid.map_or(0.0, |r| side.local.length().max(r.radius))
}
