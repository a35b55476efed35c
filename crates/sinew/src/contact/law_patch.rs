//! Contacts with a friction law other than Coulomb's, beside friction at a point: the sums of a step, restitution at
//! its end, and the torque against rolling and spinning of a patch. The same laws as in lanes
//! (`contact/kernel/rigid.rs`).

use crate::constraint::{Bounds, RowBuffer, RowId, Term};
use crate::contact::law;
use crate::math::{Real, Sym3, Vec3};
use crate::model::SurfaceMaterial;
use crate::solver::pgs;
use crate::state::{ContactMemory, contact_flag};
use crate::work::{BodyWork, ContactWork, LawPatch, LawSum, SubstepContext};

/// Index of the sums of a point.
pub(crate) fn slot(manifold: u32, point: u32) -> usize {
    4 * manifold as usize + point as usize
}

/// Begins a step: all sums are zero.
pub(crate) fn clear(contact: &mut ContactWork) {
    contact.law_sums.clear();
    contact.law_sums.resize(4 * contact.contacts.len(), LawSum::default());
}

/// Stores the approach velocity of a point before any impulse acts [m/s].
pub(crate) fn note(contact: &mut ContactWork, manifold: usize, point: u32, approach: Real) {
    contact.law_sums[slot(manifold as u32, point)].approach = approach;
}

/// Rows of a patch against rolling along both tangents and spinning about the normal, after the points from `first` on.
pub(crate) fn patch_rows(
    bodies: &BodyWork,
    contact: &mut ContactWork,
    rows: &mut RowBuffer,
    m: &ContactMemory,
    (material, axes): (&SurfaceMaterial, [Vec3; 3]),
    (manifold, first): (usize, usize),
) {
    let resists = material.rolling_resistance > 0.0 || material.spinning_resistance > 0.0;
    if !resists || m.has(contact_flag::NODE) || contact.law_contacts.len() == first {
        return;
    }
    let row = rows.len() as RowId;
    for (axis, roll) in axes.into_iter().zip(m.roll) {
        let id = rows.push(&[turn(bodies, m.key.b, axis), turn(bodies, m.key.a, -axis)], 0.0, 0.0, 0.0, Bounds::Free);
        rows.rows_mut()[id as usize].impulse = roll;
    }
    contact.law_patches.push(LawPatch {
        manifold: manifold as u32,
        row,
        points: [first as u32, contact.law_contacts.len() as u32],
        levers: [material.rolling_resistance, material.spinning_resistance],
    });
}

/// The angular term of a rigid body about an axis.
fn turn(bodies: &BodyWork, body: u32, axis: Vec3) -> Term {
    let block = 2 * body as usize;
    let (a, b) = (bodies.inertia[block], bodies.inertia[block + 1]);
    let inverse = Sym3 { xx: a[0], yy: a[1], zz: a[2], xy: a[3], xz: b[0], yz: b[1] };
    Term { block: block as u32 + 1, jacobian: axis, response: inverse.mul(axis) }
}

/// Torques of all patches: rolling in a disc, spinning in an interval, both bounded by lever arm times normal impulse.
/// Returns squared changes.
pub(crate) fn resist(bodies: &mut BodyWork, contact: &mut ContactWork) -> Real {
    let ContactWork { law_patches, law_contacts, law_rows, .. } = contact;
    let velocity = &mut bodies.velocity;
    let mut squares = 0.0;
    for patch in law_patches.iter() {
        let points = &law_contacts[patch.points[0] as usize..patch.points[1] as usize];
        let pressed: Real = points.iter().map(|c| law_rows.rows()[c.row as usize + 2].impulse).sum();
        let [roll, spin] = patch.levers.map(|lever| lever * pressed);
        let answer = law_rows.rows()[patch.row as usize].diagonal.max(law_rows.rows()[patch.row as usize + 1].diagonal);
        let wanted = |k: RowId, answer: Real| {
            law_rows.rows()[(patch.row + k) as usize].impulse
                - law_rows.relative_velocity(patch.row + k, velocity) / answer
        };
        let [a, b] = within([wanted(0, answer), wanted(1, answer)], roll);
        let c = wanted(2, law_rows.rows()[patch.row as usize + 2].diagonal).clamp(-spin, spin);
        for (k, impulse) in [a, b, c].into_iter().enumerate() {
            let change = pgs::set(law_rows, patch.row + k as RowId, impulse, velocity);
            squares += change * change;
        }
    }
    squares
}

/// A vector scaled back into a disc.
fn within([a, b]: [Real; 2], radius: Real) -> [Real; 2] {
    let back = law::onto_disc((), a * a + b * b, radius);
    [a * back, b * back]
}

/// Adds the impulses of a substep to the sums, and stores those of the patches for the next one.
pub(crate) fn store_impulses(contact: &mut ContactWork) {
    let ContactWork { law_contacts, law_patches, law_rows, law_sums, contacts, .. } = contact;
    for c in law_contacts.iter() {
        let [a, b, n] = [0, 1, 2].map(|k| law_rows.rows()[c.row as usize + k].impulse);
        let sum = &mut law_sums[slot(c.manifold, c.point)];
        sum.add(n, [a, b]);
        sum.peak = sum.peak.max(n);
    }
    for patch in law_patches.iter() {
        let roll = [0, 1, 2].map(|k| law_rows.rows()[patch.row as usize + k].impulse);
        contacts[patch.manifold as usize].roll = roll;
    }
}

/// Newton's law of impact, once at the end of a step: points whose approach velocity exceeded the threshold and that
/// transmitted an impulse separate with e times that velocity. The impulse of restitution allows friction: Coulomb's
/// law holds for the impact as a whole.
pub(crate) fn bounce(ctx: &SubstepContext, bodies: &mut BodyWork, contact: &mut ContactWork) {
    let ContactWork { law_contacts, law_rows, law_sums, .. } = contact;
    let velocity = &mut bodies.velocity;
    for c in law_contacts.iter().filter(|c| c.restitution > 0.0) {
        let sum = &mut law_sums[slot(c.manifold, c.point)];
        let [a, b, n] = [0, 1, 2].map(|k| law_rows.rows()[c.row as usize + k].impulse);
        let fast = -sum.approach > ctx.contact.restitution_speed;
        let rigid =
            |k: RowId| law_rows.rows()[(c.row + k) as usize].diagonal - law_rows.rows()[(c.row + k) as usize].softness;
        let answers = [0, 1, 2].map(rigid);
        if !fast || sum.peak.max(n) <= 0.0 || !answers.iter().all(|k| k.is_finite()) {
            continue;
        }
        let speed = law_rows.relative_velocity(c.row + 2, velocity);
        let push = (n - (speed + c.restitution * sum.approach) / answers[2]).max(0.0) - n;
        pgs::apply(law_rows, c.row + 2, push, velocity);
        sum.add(push, [0.0; 2]);
        let [slip_a, slip_b] = [0, 1].map(|k| law_rows.relative_velocity(c.row + k, velocity));
        let used = ((sum.slide[0] + a).powi(2) + (sum.slide[1] + b).powi(2)).sqrt();
        let left = (c.pair.slipping * (sum.normal + n) - used).max(0.0);
        let answer = answers[0].max(answers[1]);
        let solve_friction = within([-slip_a / answer, -slip_b / answer], left);
        for (k, solve_friction) in solve_friction.into_iter().enumerate() {
            pgs::apply(law_rows, c.row + k as RowId, solve_friction, velocity);
        }
        sum.add(0.0, solve_friction);
    }
}
