//! Time of contact of a pair of features on their present paths, by the method of the settings.

use crate::collision::continuous::{Keep, Look, RootMethod, advance, first_meeting};
use crate::guard::ccd::{keep, look};
use crate::math::Wide3;
use crate::model::Model;
use crate::settings::{Settings, TimeOfContact};
use crate::tuning::ccd::{RESTING, SHORT};
use crate::work::{GuardBody, Meeting, Near};

/// Approach within the step that `stop_at_impact` leaves to the contact rows [m]: that of a pair at rest on each other,
/// slower than gravity makes it in two steps (the same limit as for restitution), and at most half of the half width of
/// the thinner body, so that it cannot pass. A body that is stopped by the last micrometre of each step could not slide.
/// Zero where both sides are soft: a sheet has no inside from which contacts return it.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
pub(super) fn resting_depth(model: &Model, pair: &Near, settings: &Settings) -> f64 {
    let width = |slot: u32| model.rigid_at(slot).map(|r| r.thickness);
    let half_width = match (width(pair.a), width(pair.b)) {
        (Some(a), Some(b)) if a > 0.0 && b > 0.0 => a.min(b),
        // a half space or a body of nodes has no half width
        (a, b) => a.unwrap_or(0.0).max(b.unwrap_or(0.0)),
    };
    (2.0 * settings.gravity.length() * settings.dt * settings.dt).min(RESTING * half_width) as f64
}

/// Time of contact of a pair on its present path. Contacts by less than `depth` do not count [m].
pub(super) fn meeting(
    pair: &Near,
    a: &GuardBody,
    b: &GuardBody,
    settings: &Settings,
    depth: f64,
    looks: &mut usize,
) -> Option<(f64, Look)> {
    let method = match settings.time_of_contact {
        TimeOfContact::Bisection => RootMethod::Bisection,
        TimeOfContact::RegulaFalsi => RootMethod::RegulaFalsi,
        TimeOfContact::Brent => RootMethod::Brent,
        TimeOfContact::Conservative => return follow_pair(pair, a, b, settings, depth, looks),
    };
    let round = keep(pair, a, b, settings).touch > 0.0;
    if settings.intersection_free || round || pair.kind == Meeting::VertexPlane {
        return follow_pair(pair, a, b, settings, depth, looks);
    }
    let place = |at: fn(&GuardBody) -> &[Wide3]| -> [Wide3; 4] {
        std::array::from_fn(|k| at(if k < pair.split() { a } else { b })[pair.corners[k] as usize])
    };
    let (from, to) = (place(|b| &b.start), place(|b| &b.end));
    let time = first_meeting(method, &from, &to, pair.kind == Meeting::EdgeEdge)?;
    // the side at the start of the step
    let met = look(pair, a, b, time * SHORT);
    (met.closing * (1.0 - time) >= depth).then_some((time * SHORT, met))
}

fn follow_pair(
    pair: &Near,
    a: &GuardBody,
    b: &GuardBody,
    settings: &Settings,
    depth: f64,
    looks: &mut usize,
) -> Option<(f64, Look)> {
    let start = look(pair, a, b, 0.0);
    // features that touch exactly have no side: that is resolved at the start of the step (`guard/intersections.rs`)
    if start.normal == Wide3::ZERO {
        return None;
    }
    let count_and_look = |t: f64| {
        *looks += 1;
        look(pair, a, b, t)
    };
    let keep = keep(pair, a, b, settings);
    if depth <= 0.0 {
        return advance(count_and_look, &keep);
    }
    // a pair that begins deeper is left to the rows as long as its cores do not cross; a half space has no other side
    let deep = keep.touch - if keep.touch > 0.0 { depth.min(0.5 * keep.touch) } else { depth };
    let touch = if start.width > deep { deep } else { 0.5 * start.width };
    if start.width <= deep && pair.kind == Meeting::VertexPlane {
        return None;
    }
    let mut count_and_look = count_and_look;
    let crossed = advance(&mut count_and_look, &Keep { touch, gap: 0.0, ..keep })?;
    if start.width <= keep.touch {
        Some(crossed)
    } else {
        advance(&mut count_and_look, &Keep { gap: 0.0, ..keep }).or(Some(crossed))
    }
}
