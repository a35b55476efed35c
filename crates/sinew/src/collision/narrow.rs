//! Narrow phase: from a pair of colliders to manifolds of at most four points, matched with the contacts stored in
//! State.

use super::{Found, Geometry, ManifoldScratch, RawPoint};
use crate::math::{Pose, Quat, Real, Vec3, any_orthonormal};
use crate::state::{ContactKey, ContactMemory, MAX_POINTS, PointMemory};
use bytemuck::Zeroable;

/// Two colliders whose boxes overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub key: ContactKey,
    /// Gap below which contact points are generated [m].
    pub reach: Real,
    /// Contact flags: sensor.
    pub flags: u32,
    /// Separation that is maintained between the two surfaces [m].
    pub standoff: Real,
}

/// One side of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairSide<'a> {
    pub geometry: &'a Geometry,
    /// Pose of the collider relative to the centre of mass.
    pub place: Pose,
    /// Pose of the centre of mass in the world.
    pub pose: Pose,
    /// Largest distance of the surface from the centre of mass [m].
    pub radius: Real,
}

/// Scratch memory of one thread.
#[derive(Debug)]
pub(crate) struct NarrowScratch {
    found: Found,
    manifolds: ManifoldScratch,
    /// Manifolds found by this thread, in order.
    pub out: Vec<ContactMemory>,
    /// Number of them that were computed anew.
    pub fresh: u32,
}

impl Default for NarrowScratch {
    fn default() -> Self {
        // one manifold per pair is the usual case
        let out = Vec::with_capacity(64);
        Self { found: Found::default(), manifolds: ManifoldScratch::default(), out, fresh: 0 }
    }
}

/// Appends the manifolds of a pair to `scratch.out`. `old` are the contacts of this pair of colliders stored in State.
pub(crate) fn find_manifolds(
    candidate: &Candidate,
    a: &PairSide<'_>,
    b: &PairSide<'_>,
    old: &[ContactMemory],
    recycle: Real,
    scratch: &mut NarrowScratch,
) {
    let relative = a.pose.relative(&b.pose);
    // contact points of round shapes move with every step, and a stale normal in a bowl acts as negative damping: they
    // are recycled only at rest
    let near = |first: &ContactMemory| if first.radius == [0.0, 0.0] { recycle } else { 0.01 * recycle };
    if let Some(first) = old.first()
        && moved(first, &relative, b.radius) < near(first)
    {
        scratch.out.extend_from_slice(old);
        return;
    }

    // query the geometry library in collider frames
    let between = a.place.inverse().then_inner(&relative).then_inner(&b.place);
    scratch.found.clear();
    a.geometry.manifolds(b.geometry, &between, candidate.reach, &mut scratch.manifolds, &mut scratch.found);
    scratch.fresh += 1;

    let start = scratch.out.len();
    for raw in &scratch.found.manifolds {
        let key = ContactKey { sub_a: raw.sub[0], sub_b: raw.sub[1], ..candidate.key };
        let before = old.iter().find(|m| m.key == key).map(|m| carried(m, &relative));
        let normal = (a.place.rotation * raw.normal).normalize_or_zero();
        if normal == Vec3::ZERO {
            continue;
        }
        let mut memory = ContactMemory { key, flags: candidate.flags, normal, ..ContactMemory::zeroed() };
        memory.tangent = before
            .as_ref()
            .and_then(|m| (m.tangent - normal * normal.dot(m.tangent)).try_normalize())
            .unwrap_or_else(|| any_orthonormal(normal));
        memory.found_position = relative.position;
        memory.found_rotation = relative.rotation.to_array();
        fill_points(&mut memory, scratch.found.points(raw), raw.normal, a, b, &relative);
        if candidate.standoff > 0.0 {
            stand_off(&mut memory, candidate.standoff);
        }
        if let Some(before) = &before {
            memory.flags |=
                before.flags & (crate::state::contact_flag::TOUCHING | crate::state::contact_flag::ABOVE_THRESHOLD);
            memory.roll = before.roll;
            match_points(&mut memory, before, a.radius.min(b.radius));
        }
        scratch.out.push(memory);
    }
    // composite shapes return their parts in any order
    scratch.out[start..].sort_unstable_by_key(|m| m.key);
}

/// A manifold of the previous step in the present axes of a.
fn carried(memory: &ContactMemory, relative: &Pose) -> ContactMemory {
    if !memory.follows_b() {
        return *memory;
    }
    let turned = relative.rotation * Quat::from_array(memory.found_rotation).inverse();
    ContactMemory { normal: turned * memory.normal, tangent: turned * memory.tangent, ..*memory }
}

/// Upper bound on the displacement of a point of b relative to a since the manifold was computed [m].
fn moved(memory: &ContactMemory, relative: &Pose, radius: Real) -> Real {
    let turned = Quat::from_array(memory.found_rotation).inverse() * relative.rotation;
    let sine = turned.xyz().length();
    (relative.position - memory.found_position).length() + 2.0 * sine * radius
}

/// Converts the raw points to body frames, at most four of them.
fn fill_points(
    memory: &mut ContactMemory,
    raw: &[RawPoint],
    raw_normal: Vec3,
    a: &PairSide<'_>,
    b: &PairSide<'_>,
    relative: &Pose,
) {
    let normal_b = b.place.rotation.inverse() * (relative.rotation.inverse() * memory.normal);
    let picked = pick(raw);
    for &i in picked.iter().flatten() {
        let p = &raw[i];
        let (core_a, radius_a) = a.geometry.core(p.local_a, raw_normal);
        let (core_b, radius_b) = b.geometry.core(p.local_b, -normal_b);
        memory.radius = [radius_a, radius_b];
        memory.points[memory.count as usize] = PointMemory {
            local_a: a.place.point(core_a),
            local_b: b.place.point(core_b),
            feature: p.feature,
            ..PointMemory::zeroed()
        };
        memory.count += 1;
    }
}

/// Offsets the surfaces by this distance: in the radius of a round side, else in the points of a.
fn stand_off(memory: &mut ContactMemory, distance: Real) {
    match memory.radius.iter().position(|r| *r > 0.0) {
        Some(side) => memory.radius[side] += distance,
        None => {
            let shift = memory.normal * distance;
            let count = memory.count as usize;
            memory.points[..count].iter_mut().for_each(|p| p.local_a += shift);
        }
    }
}

/// Four points that best span the contact area: the deepest, the farthest from it, the farthest from their line, and
/// the one that adds the most area on the other side. Ties go to the lower index.
fn pick(raw: &[RawPoint]) -> [Option<usize>; MAX_POINTS] {
    if raw.len() <= MAX_POINTS {
        let len = raw.len() - usize::from(is_line(raw));
        return std::array::from_fn(|i| (i < len).then_some(i));
    }
    let best = |score: &dyn Fn(usize) -> Real| {
        let mut top = 0;
        for i in 1..raw.len() {
            if score(i) > score(top) {
                top = i;
            }
        }
        top
    };
    let at = |i: usize| raw[i].local_a;
    let first = best(&|i| -raw[i].gap);
    let second = best(&|i| (at(i) - at(first)).length_squared());
    let line = at(second) - at(first);
    let third = best(&|i| line.cross(at(i) - at(first)).length_squared());
    let up = line.cross(at(third) - at(first));
    // the largest triangle on the other side of the first line
    let fourth = best(&|i| -line.cross(at(i) - at(first)).dot(up));
    let mut out = [Some(first), None, None, None];
    for (slot, i) in [second, third, fourth].into_iter().enumerate() {
        if !out.contains(&Some(i)) {
            out[slot + 1] = Some(i);
        }
    }
    out
}

/// Largest distance of a point from a line that counts as on it, as a fraction of the length of the line: it covers the
/// tolerance of the geometry library, and a point so near adds no support.
const ON_LINE: Real = 0.01;

/// True for the two ends of a line and a deepest point on it, which the geometry library adds without features. That
/// point jumps between the ends when the body rocks, and doubles the stiffness of the lower one: a pinched cylinder rocked
/// by a degree, the other way in every step.
fn is_line(raw: &[RawPoint]) -> bool {
    let [first, second, deepest] = raw else { return false };
    if deepest.feature != [0, 0] || first.feature == [0, 0] || second.feature == [0, 0] {
        return false;
    }
    let (line, to) = (second.local_a - first.local_a, deepest.local_a - first.local_a);
    let share = (line.dot(to) / line.length_squared().max(Real::MIN_POSITIVE)).clamp(0.0, 1.0);
    (to - line * share).length_squared() <= ON_LINE * ON_LINE * line.length_squared()
}

/// Transfers impulses and stick points to the points that match those of the previous step.
fn match_points(memory: &mut ContactMemory, before: &ContactMemory, size: Real) {
    let near = (0.05 * size) * (0.05 * size);
    let mut taken = [false; MAX_POINTS];
    // a new point of a manifold that slips has the kinetic coefficient from its first substep
    let mut pressed = before.used().iter().filter(|p| p.impulse[0] > 0.0).peekable();
    let slips = u32::from(pressed.peek().is_some() && pressed.all(|p| p.slipping != 0));
    for k in 0..memory.count as usize {
        memory.points[k].slipping = slips;
        let point = memory.points[k];
        let only = memory.count == 1 && before.count == 1;
        let same = before
            .used()
            .iter()
            .enumerate()
            .position(|(j, old)| !taken[j] && (only || (old.feature == point.feature && old.feature != [0, 0])));
        let found = same.or_else(|| {
            let distance = |j: usize| (before.points[j].local_b - point.local_b).length_squared();
            (0..before.count as usize)
                .filter(|&j| !taken[j] && distance(j) < near)
                .min_by(|&i, &j| distance(i).total_cmp(&distance(j)))
        });
        let Some(j) = found else { continue };
        taken[j] = true;
        let old = before.points[j];
        memory.points[k].impulse = turn(old.impulse, before, memory);
        let tangential_displacement =
            turn([0.0, old.tangential_displacement[0], old.tangential_displacement[1]], before, memory);
        memory.points[k].tangential_displacement = [tangential_displacement[1], tangential_displacement[2]];
        memory.points[k].slipping = old.slipping;
    }
}

/// Transforms a vector given along normal and tangents of one manifold to those of another (both in axes of a).
fn turn(v: [Real; 3], from: &ContactMemory, to: &ContactMemory) -> [Real; 3] {
    let tangential = from.tangent * v[1] + from.normal.cross(from.tangent) * v[2];
    [v[0], tangential.dot(to.tangent), tangential.dot(to.normal.cross(to.tangent))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: Real, z: Real, gap: Real) -> RawPoint {
        RawPoint { local_a: Vec3::new(x, 0.0, z), local_b: Vec3::ZERO, gap, feature: [0, 0] }
    }

    #[test]
    fn reduction_to_four_points_keeps_the_corners() {
        let mut raw: Vec<_> = (0..16)
            .map(|k| {
                let angle = k as Real * 0.39;
                point(angle.cos() * 0.2, angle.sin() * 0.2, 0.0)
            })
            .collect();
        for (x, z) in [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)] {
            raw.push(point(x, z, -0.001));
        }
        let mut picked: Vec<_> = pick(&raw).into_iter().flatten().collect();
        picked.sort_unstable();
        assert_eq!(picked, [16, 17, 18, 19]);
    }

    #[test]
    fn change_of_contact_frame_preserves_the_tangential_vector() {
        let mut a = ContactMemory::zeroed();
        (a.normal, a.tangent) = (Vec3::Y, Vec3::X);
        let mut b = a;
        b.tangent = Vec3::new(0.6, 0.0, 0.8);
        let v = turn([3.0, 1.0, 2.0], &a, &b);
        let world = b.tangent * v[1] + b.normal.cross(b.tangent) * v[2];
        assert!((world - (Vec3::X - Vec3::Z * 2.0)).length() < 1e-6);
    }
}
