//! Contacts of sweep islands whose pair has a friction law other than Coulomb's (`friction/`): rigid and node contacts
//! alike, three plain rows a point (two tangents, then the normal), one after the other.
//!
//! Coulomb friction and stiction are solved by the other routes. Here the law is evaluated in every sweep, with the
//! slip velocity without the point's own impulse and the response of the bodies along the tangents, so that law and row
//! are solved together. A law without a bristle gives the radius of the disc, and the stick point acts as on the other
//! routes; a law with one gives the impulse itself, and the bristle deflection is stored where the others store the
//! displacement from the stick point.
//!
//! Sums of the step, restitution and rolling resistance are in `contact/law_patch.rs`. No lanes here.

use crate::constraint::{Bounds, RowBuffer, RowId};
use crate::contact::point::slop;
use crate::contact::readout::PointImpulse;
use crate::contact::route::Route;
use crate::contact::{law, law_patch, point};
use crate::friction::{AnisotropyFrame, Coefficients, Contact, Law, Memory};
use crate::math::{Block, Real, quat};
use crate::model::{Model, PairRules, SurfaceMaterial};
use crate::settings::Settings;
use crate::solver::pgs;
use crate::state::{ContactMemory, contact_flag};
use crate::work::{BodyWork, ContactWork, LawContact, OutputWork, SubstepContext, Touch};

/// Coefficients of a pair.
pub(crate) fn coefficients(material: &SurfaceMaterial) -> Coefficients {
    Coefficients { holding: material.static_friction, slipping: material.kinetic_friction }
}

/// True for pairs that are solved here.
pub(crate) fn takes(model: &Model, rules: &PairRules, m: &ContactMemory) -> bool {
    point::pair_material(model, rules, m).has_own_law()
}

/// Writes the rows with their warm-start impulses.
pub(crate) fn rows(
    ctx: &SubstepContext,
    model: &Model,
    settings: &Settings,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    output: &mut OutputWork,
) {
    let rules = &settings.pairs;
    contact.law_contacts.clear();
    contact.law_rows.clear();
    contact.law_patches.clear();
    if !contact.any_laws {
        return;
    }
    if ctx.contact.first {
        law_patch::clear(contact);
    }
    let mut rows = std::mem::take(&mut contact.law_rows);
    let p = &ctx.contact;
    let mut terms = std::mem::take(&mut contact.terms);
    let contacts = std::mem::take(&mut contact.contacts);
    let routes = std::mem::take(&mut contact.routes);
    for (index, (m, _)) in contacts.iter().zip(&routes).enumerate().filter(|(_, (_, r))| **r == Route::Law) {
        let material = point::pair_material(model, rules, m);
        let first = contact.law_contacts.len();
        let mut axes_of_patch = None;
        for k in 0..m.count {
            let Some(at) = point::place(model, &bodies.pose, m, k as usize) else { continue };
            let point = m.points[k as usize];
            let anisotropy = if material.grain.is_some() {
                point::anisotropy(model, &bodies.pose, m, &at)
            } else {
                AnisotropyFrame::NONE
            };
            let (axes, tangential_displacement) =
                (anisotropy.axes(at.tangents), anisotropy.way(point.tangential_displacement));
            let row = rows.len() as u32;
            // a bristle deflection is no position error: only the stick point of the other laws is corrected
            let rate = if material.law.has_bristle() { 0.0 } else { p.friction_rate };
            let disc = Bounds::Disc { normal: row + 2, friction: material.static_friction, radius: 0.0 };
            for (axis, bounds) in [(0, disc), (1, Bounds::Mate)] {
                let bias = rate * tangential_displacement[axis];
                point::terms(model, bodies, m, axes[axis], at.at, &mut terms);
                rows.push(&terms, bias, bias, 0.0, bounds);
            }
            let bias = law::normal_bias((), at.gap, slop(model, m, settings), p.bias_rate, p);
            let correction = bias - law::open_bias((), at.gap, p);
            point::terms(model, bodies, m, at.normal, at.at, &mut terms);
            let id = rows.push(&terms, bias, correction, 0.0, Bounds::AtLeast(0.0));
            // soft like the contacts with Coulomb friction: the points of a patch distribute its load by their depths,
            // and not by the rounding errors of weights that cancel
            if at.gap <= 0.0 && !m.has(contact_flag::NODE) {
                rows.soften(id, p.impulse_scale / p.mass_scale);
            }
            if p.first {
                law_patch::note(contact, index, k, rows.relative_velocity(id, &bodies.velocity));
            }
            axes_of_patch = axes_of_patch.or(Some([at.tangents[0], at.tangents[1], at.normal]));
            let list = rows.rows_mut();
            let [n, a, b] = point.impulse;
            let [a, b] = anisotropy.push([a, b]);
            for (axis, impulse) in [a, b, n].into_iter().enumerate() {
                list[row as usize + axis].impulse = impulse;
            }
            let memory = Memory { stretch: tangential_displacement, slipping: point.slipping != 0 };
            let pair = coefficients(&material);
            contact.law_contacts.push(LawContact {
                manifold: index as u32,
                point: k,
                row,
                law: material.law,
                pair,
                memory,
                anisotropy,
                reach: 0.0,
                restitution: material.restitution,
            });
            output.report.penetration = output.report.penetration.max(-at.gap);
        }
        if let Some(axes) = axes_of_patch {
            law_patch::patch_rows(bodies, contact, &mut rows, m, (&material, axes), (index, first));
        }
    }
    contact.contacts = contacts;
    contact.routes = routes;
    contact.law_rows = rows;
    contact.terms = terms;
}

/// One sweep over all of them: the normal, then friction. Returns the sum of squared impulse changes.
pub(crate) fn sweep(ctx: &SubstepContext, bodies: &mut BodyWork, contact: &mut ContactWork, pass: pgs::Pass) -> Real {
    let ContactWork { law_contacts, law_rows, .. } = contact;
    let velocity = &mut bodies.velocity;
    let mut squares = 0.0;
    for c in law_contacts.iter_mut() {
        let normal = c.row + 2;
        let wanted = pgs::wanted(law_rows, normal, velocity, pass).max(0.0);
        let change = pgs::set(law_rows, normal, wanted, velocity);
        squares += change * change;
        squares += solve_friction(ctx.h, c, law_rows, velocity, pass);
    }
    squares + law_patch::resist(bodies, contact)
}

/// Friction of one point.
fn solve_friction(h: Real, c: &mut LawContact, rows: &mut RowBuffer, velocity: &mut [Block], pass: pgs::Pass) -> Real {
    let list = rows.rows();
    let [a, b, n] = [0, 1, 2].map(|k| list[c.row as usize + k].impulse);
    // the more compliant tangent: a step with the largest response never overshoots
    let answer = list[c.row as usize].diagonal.max(list[c.row as usize + 1].diagonal);
    if !answer.is_finite() {
        return 0.0;
    }
    let slip = [0, 1].map(|k| rows.relative_velocity(c.row + k, velocity));
    let free = [slip[0] - answer * a, slip[1] - answer * b];
    let contact = Contact { h, normal: n / h, coefficients: c.pair, free, response: answer * h };
    let result = c.law.friction(&contact, c.memory);
    if c.law.has_bristle() {
        let change_a = pgs::set(rows, c.row, -h * result.force[0], velocity);
        let change_b = pgs::set(rows, c.row + 1, -h * result.force[1], velocity);
        return change_a * change_a + change_b * change_b;
    }
    let force = (result.force[0] * result.force[0] + result.force[1] * result.force[1]).sqrt();
    let holds = result.velocity == [0.0; 2];
    let holding = if c.memory.slipping { c.pair.slipping } else { c.pair.holding };
    c.reach = if holds { holding * n } else { h * force };
    pgs::relax_disc(rows, c.row, c.reach, velocity, pass)
}

/// After the correcting sweeps: the memory of each point is updated with the motion.
pub(crate) fn settle(ctx: &SubstepContext, bodies: &BodyWork, contact: &mut ContactWork) {
    let ContactWork { law_contacts, law_rows, contacts, .. } = contact;
    let velocity = &bodies.velocity;
    for c in law_contacts.iter() {
        let row = c.row as usize;
        let [a, b, n] = [0, 1, 2].map(|k| law_rows.rows()[row + k].impulse);
        let slip = [0, 1].map(|k| law_rows.relative_velocity(c.row + k as RowId, velocity));
        let point = &mut contacts[c.manifold as usize].points[c.point as usize];
        let seen = follow(c.law, c.pair, c.memory, [ctx.h, n / ctx.h], slip);
        if c.law.has_bristle() {
            (point.tangential_displacement, point.slipping) =
                (c.anisotropy.way_back(seen.stretch), u32::from(seen.slipping));
            continue;
        }
        let limit = law::displacement_limit((), c.reach, law_rows.rows()[row].diagonal, &ctx.contact);
        let (tangential_displacement, creep) =
            law::settle((), c.anisotropy.way(point.tangential_displacement), slip, limit, ctx.h);
        point.tangential_displacement = c.anisotropy.way_back(tangential_displacement);
        let at_cone = if n > 0.0 { law::at_cone((), a * a + b * b, c.reach) } else { 0.0 };
        let slid = if point.slipping != 0 { 1.0 } else { 0.0 };
        // Karnopp's law has a band of its own
        let slides = match c.law {
            Law::Karnopp(_) => seen.slipping && n > 0.0,
            _ => law::slips((), at_cone, slid, creep, limit) > 0.0,
        };
        point.slipping = u32::from(slides);
    }
}

/// The memory after a step with given slip velocity, under `[h, normal force]`.
pub(crate) fn follow(law: Law, pair: Coefficients, memory: Memory, [h, normal]: [Real; 2], slip: [Real; 2]) -> Memory {
    law.friction(&Contact { h, normal, coefficients: pair, free: slip, response: 0.0 }, memory).memory
}

/// Friction rows of a point in an implicit island: bias, softness and radius from the law; `[h, stiffest]` are the
/// substep and the largest stiffness in units of the effective mass.
///
/// The radius is the steady-state friction at the slip velocity at the start of the substep. A bristle is a spring:
/// λ = −h N (σ₀ z + (σ₀ h + σ₁) v), with the normal load of the previous substep, and no stiffer than a row between
/// rigid bodies may be. Where it would be, a softer spring is in series with it, which takes the remaining slip: the
/// holding force is unchanged, only the displacement to reach it is larger. The memory is updated with the part of the
/// slip that the bristle takes.
pub(crate) fn lower(
    [h, stiffest]: [Real; 2],
    t: &mut Touch,
    stretch: [Real; 2],
    rows: &mut RowBuffer,
    velocity: &[Block],
) {
    let slip = [1, 2].map(|k| rows.relative_velocity(t.row + k, velocity));
    let speed = (slip[0] * slip[0] + slip[1] * slip[1]).sqrt();
    t.friction = t.law.steady(t.pair, speed);
    let answer = rows.rows()[t.row as usize + 1].diagonal;
    let load = t.start;
    for k in 0..2 {
        let row = &mut rows.rows_mut()[t.row as usize + 1 + k];
        if let Bounds::Disc { friction, .. } = &mut row.bounds {
            *friction = t.friction;
        }
        if t.law.has_bristle() && load > 0.0 && answer.is_finite() {
            let own = 1.0 / (load * (t.law.stiffness() * h + t.law.damping()));
            let softness = own.max(answer / stiffest);
            // a bristle with more deflection than its row reacts to would be an explicit spring, and oscillate
            t.seen = own / softness;
            row.softness = softness;
            row.diagonal = answer + softness;
            row.bias = softness * load * t.law.stiffness() * stretch[k];
        }
    }
}

/// Reads the impulses back from the rows.
pub(crate) fn store_impulses(contact: &mut ContactWork) {
    law_patch::store_impulses(contact);
    for c in &contact.law_contacts {
        let rows = &contact.law_rows.rows()[c.row as usize..c.row as usize + 3];
        let point = &mut contact.contacts[c.manifold as usize].points[c.point as usize];
        let [a, b] = c.anisotropy.push_back([rows[0].impulse, rows[1].impulse]);
        point.impulse = [rows[2].impulse, a, b];
    }
}

/// Writes the sums of the step, restitution included, to the readout.
pub(crate) fn read(model: &Model, bodies: &BodyWork, contact: &mut ContactWork, output: &mut OutputWork) {
    let ContactWork { law_contacts, law_sums, contacts, .. } = contact;
    let readout = &mut output.readout;
    let pose = &bodies.pose;
    for c in law_contacts.iter() {
        let m = &mut contacts[c.manifold as usize];
        let q = quat(pose[2 * m.key.a as usize + 1]);
        let (n, t) = (q * m.normal, q * m.tangent);
        let of = law_sums[law_patch::slot(c.manifold, c.point)];
        let [along, across] = c.anisotropy.push_back(of.slide);
        let impulse = point::along(n, t, [of.normal, along, across]);
        readout.add(c.manifold, c.point, PointImpulse { impulse, normal: of.normal });
        let (at, gap) = point::place(model, pose, m, c.point as usize).map_or_else(Default::default, |p| (p.at, p.gap));
        readout.locate(c.manifold, c.point, at, n, gap);
        readout.mark_touching(c.manifold, m);
    }
}
