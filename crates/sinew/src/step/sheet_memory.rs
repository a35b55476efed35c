//! What sheets in columns leave behind: a contact for each node that touched, among those of the others, with its force.
//! Made once a step; while the step runs there are only grips (`solver/sheet_touch.rs`).

use super::sheet_folds;
use crate::collision::surface::feature;
use crate::math::{Mat3, Pose, Quat, Real, Vec3, any_orthonormal, vec};
use crate::model::Model;
use crate::settings::Settings;
use crate::solver::sheet_touch::SheetTouch;
use crate::state::{ContactKey, ContactMemory, contact_flag};
use crate::work::{PointForce, Work};
use bytemuck::Zeroable;

/// Adds the contacts of all sheets that were in columns. Comes when those of the others are read: they keep their order,
/// not their numbers.
pub(super) fn keep(model: &Model, work: &mut Work, settings: &Settings) {
    let Work { soft, sheet_pairs, contacts, .. } = work;
    sheet_pairs.clear();
    for (slot, held) in soft.iter().enumerate() {
        let Some(sheet) = held.as_ref().map(|held| &held.sheet).filter(|sheet| sheet.out) else { continue };
        let pair = |(k, touch): (usize, &SheetTouch)| (touch.wall.slot, slot as u32, touch.wall.collider, k as u32);
        sheet_pairs.extend(sheet.touches[..sheet.count].iter().enumerate().map(pair));
    }
    sheet_pairs.sort_unstable();
    let before = contacts.len();
    for at in 0..work.sheet_pairs.len() {
        keep_pair(model, work, settings, at);
    }
    for slot in 0..work.soft.len() as u32 {
        sheet_folds::keep(model, work, settings, slot);
    }
    let counts = &mut work.report.counts;
    let made = (work.contacts.len() - before) as u32;
    (counts.manifolds, counts.contacts) = (counts.manifolds + made, counts.contacts + made);
    counts.contact_rows += 3 * made;
    put_in_order(work);
}

/// The contacts of one sheet with one wall.
fn keep_pair(model: &Model, work: &mut Work, settings: &Settings, at: usize) {
    let (body, slot, collider, touch) = work.sheet_pairs[at];
    let Work { soft, contacts, forces, point_forces, pose, report, substeps, .. } = work;
    let (Some(nodes), Some(Some(held))) = (model.nodes_at(slot), soft.get(slot as usize)) else { return };
    let touch = &held.sheet.touches[touch as usize];
    let (inv_dt, share) = (1.0 / settings.dt, 1.0 / *substeps as Real);
    let placed = Pose::new(vec(pose[2 * body as usize]), Quat::from_array(pose[2 * body as usize + 1]));
    let (back, axes) = (Mat3::from_quat(placed.rotation.inverse()), Mat3::from_quat(touch.axes));
    let thick = nodes.traits.radius + settings.standoff();
    let first = model.node_block(nodes.start) as usize;
    let key =
        ContactKey { a: body, b: slot, collider_a: collider, collider_b: feature::VERTEX, ..ContactKey::zeroed() };
    let loud = if touch.loud { contact_flag::LOUD } else { 0 };
    for (node, &column) in held.sheet.columns[..nodes.inv_mass.len()].iter().enumerate() {
        let Some((grip, lane)) = touch.find(column) else { continue };
        let pick = |a: &[[Real; 8]; 3]| Vec3::new(a[0][lane], a[1][lane], a[2][lane]);
        report.penetration = report.penetration.max(grip.deepest[lane]);
        let (pressed, slipping, stick) = (grip.pressed[lane], grip.slipping[lane] > 0.0, pick(&grip.stick));
        if !(pressed > 0.0 || slipping || stick != Vec3::ZERO) {
            continue;
        }
        // where it is at the end of the step, in the axes of the body
        let x = vec(pose[first + node]);
        let local = back * (x - placed.position);
        let away = local - touch.wall.core;
        let normal = if touch.wall.flat { touch.wall.normal } else { away.normalize_or_zero() };
        let on = if touch.wall.flat { local - normal * normal.dot(away) } else { touch.wall.core };
        let tangent = any_orthonormal(normal);
        let across = [tangent, normal.cross(tangent)];
        // the mean of the substeps: in the last one the node may have been in the air
        let (stick, impulse) = (axes * stick, back * (pick(&grip.sum) * share));
        let touching = if pressed > 0.0 { contact_flag::TOUCHING } else { 0 };
        let flags = contact_flag::NODE | touching | loud;
        let key = ContactKey { sub_b: node as u32, ..key };
        // written where it stays: a record is large
        contacts.push(ContactMemory::zeroed());
        let Some(m) = contacts.last_mut() else { continue };
        (m.key, m.count, m.flags, m.normal, m.tangent) = (key, 1, flags, normal, tangent);
        m.radius = [touch.wall.radius - thick, thick];
        let point = &mut m.points[0];
        point.local_a = on;
        point.impulse = [normal.dot(impulse), across[0].dot(impulse), across[1].dot(impulse)];
        point.stick = across.map(|t| t.dot(stick));
        point.slipping = u32::from(slipping);
        // a node may leave its body and come back within a step: what counts is the sum of its substeps
        let force = pick(&grip.sum) * inv_dt;
        forces.push([force.x, force.y, force.z, pressed * inv_dt]);
        if settings.point_forces {
            let (direction, gap, normal) = (placed.rotation * normal, -grip.deepest[lane], pressed * inv_dt);
            let mut points = [PointForce::default(); 4];
            points[0] = PointForce { point: x, direction, gap, normal, force };
            point_forces.push(points);
        }
    }
}

/// Sorts contacts and what goes with them by key, when there are others behind which sheets belong.
fn put_in_order(work: &mut Work) {
    let Work { contacts, forces, point_forces, order, .. } = work;
    if contacts.is_sorted_by_key(|m| m.key) {
        return;
    }
    order.clear();
    order.extend(0..contacts.len() as u32);
    order.sort_unstable_by_key(|&k| contacts[k as usize].key);
    // cycle by cycle: what belongs here is fetched from where it is, which is then free
    for start in 0..order.len() {
        let mut at = start;
        while order[at] as usize != at {
            let from = std::mem::replace(&mut order[at], at as u32) as usize;
            if from == start {
                break;
            }
            contacts.swap(at, from);
            forces.swap(at, from);
            if !point_forces.is_empty() {
                point_forces.swap(at, from);
            }
            at = from;
        }
    }
}
