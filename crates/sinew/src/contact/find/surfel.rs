//! Contacts of surfels with rigid bodies: found, written as rows, and updated after the solve. Each has three rows in
//! the common sweep, on the blocks of the nodes that the surfel follows and the two blocks of the rigid body.

use crate::classic::in_world;
use crate::collision::surface::feature;
use crate::collision::{Bounds3, Ellipsoid, Geometry};
use crate::contact::cloth::memory;
use crate::contact::find::{ellipsoid, inside, surface};
use crate::contact::kernel::surface::{OwnLaw, Wants};
use crate::contact::law;
use crate::contact::readout::PointImpulse;
use crate::contact::{cloth, point};
use crate::friction::{AnisotropyFrame, Memory};
use crate::math::{Pose, Real, Vec3, any_orthonormal};
use crate::model::{BuiltCollider, Model, Nodes, PairRules, SurfaceMaterial};
use crate::settings::Settings;
use crate::state::{ContactKey, ContactMemory, State, contact_flag, of_pair};
use crate::tuning::surfel::{AGREE, ROUNDING};
use crate::work::{
    BodyWork, ColliderRef, ContactWork, DetectWork, NodeContact, OutputWork, SkinWork, SoftWork, SubstepContext,
};
use bytemuck::Zeroable;

/// Finds contacts of all surfels with rigid bodies; appends them to the step's contacts.
pub(crate) fn find(
    model: &Model,
    state: &mut State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    soft: &mut SoftWork,
    settings: &Settings,
) {
    for (slot, _) in model.bodies.iter() {
        let Some(nodes) = model.nodes_at(slot) else { continue };
        let tight = cloth::is_eligible(model, state, bodies, detect, soft, settings, slot);
        if !nodes.touches() {
            continue;
        }
        if tight && cloth::find_colliders(model, state, bodies, detect, soft, settings, slot) {
            continue;
        }
        memory::spell_out(model, state, settings, slot);
        find_again(model, state, bodies, detect, contact, settings, slot);
    }
}

/// All contacts of a body's surface with rigid bodies.
pub(crate) fn find_again(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    settings: &Settings,
    slot: u32,
) {
    let Some(nodes) = model.nodes_at(slot) else { return };
    let start = contact.contacts.len();
    find_body(model, state, bodies, detect, contact, settings, (slot, nodes));
    surface::find_rigid(model, state, bodies, detect, contact, settings, (slot, start));
    inside::find(model, state, bodies, detect, settings, slot);
}

/// Finds the contacts of cloths that lost their eligibility for SoA: their surfaces are in contact with other surfaces.
pub(crate) fn widen(
    model: &Model,
    state: &mut State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    soft: &mut SoftWork,
    settings: &Settings,
) {
    for slot in 0..soft.models.len() as u32 {
        let Some(held) = soft.models[slot as usize].as_mut().filter(|held| held.cloth.eligible) else { continue };
        let of_it = |m: &ContactMemory| m.key.a == slot || m.key.b == slot;
        if contact.contacts.iter().any(|m| of_it(m) && m.has(contact_flag::SURFACE)) {
            held.cloth.eligible = false;
            memory::spell_out(model, state, settings, slot);
            find_again(model, state, bodies, detect, contact, settings, slot);
            surface::find_own(model, state, bodies, detect, contact, settings, slot);
        }
    }
}

/// Colliders that may touch a body within a box around its surface, ascending; for a body at rest only those of moving
/// bodies.
pub(crate) fn near_colliders(
    model: &Model,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    (slot, nodes): (u32, &Nodes),
    around: &Bounds3,
) {
    let DetectWork { broad, bounds, colliders, near_colliders, .. } = detect;
    let moves = &bodies.moves;
    let awake = moves[slot as usize];
    near_colliders.clear();
    broad.overlapping(around, |c| near_colliders.push(c));
    near_colliders.retain(|&c| bounds[c as usize].meets(around));
    near_colliders.sort_unstable();
    near_colliders.retain(|&c| {
        let ColliderRef { body, collider, .. } = colliders[c as usize];
        let built = model.rigid_at(body).map(|rigid| &rigid.colliders[collider as usize]);
        let may = built.is_some_and(|built| !built.sensor && built.groups.meets(nodes.traits.groups));
        may && !model.collision_excluded(body, slot) && (awake || moves[body as usize])
    });
}

/// Contacts of one body's surfels: first the colliders near its surface, then the surfels near each of them.
fn find_body(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    settings: &Settings,
    (slot, nodes): (u32, &Nodes),
) {
    let Some(skin) = detect.skins[slot as usize].as_ref() else { return };
    // largest displacement of each surfel
    let fall = settings.gravity.length() * settings.dt * settings.dt;
    let buffer = if nodes.is_soft() { 0.0 } else { settings.contact_method.buffer() };
    let still = settings.contact_margin + buffer + fall;
    let reach = |speed: Real| still + 2.0 * settings.dt * speed;
    let farthest = reach(skin.fastest);
    let size = nodes.radii.iter().fold(0.0, |most: Real, r| most.max(r.max_element()));
    let Some(tight) = box_of(&skin.x) else { return };
    let around = tight.grown(nodes.traits.radius + size + farthest);
    near_colliders(model, bodies, detect, (slot, nodes), &around);
    let DetectWork { bounds, colliders, motion, skins, near_colliders, reaches, .. } = detect;
    let contacts = &mut contact.contacts;
    let Some(skin) = skins[slot as usize].as_ref() else { return };
    reaches.clear();
    for &c in near_colliders.iter() {
        let collider = colliders[c as usize];
        let Some(rigid) = model.rigid_at(collider.body) else { continue };
        let built = &rigid.colliders[collider.collider as usize];
        let i = collider.body as usize;
        let pose = Pose::new(state.x[i], state.q[i]);
        let key = ContactKey {
            a: collider.body,
            b: slot,
            collider_a: collider.collider,
            collider_b: feature::VERTEX,
            sub_a: 0,
            sub_b: 0,
        };
        let side = Side { built, pose, placed: pose.then_inner(&built.place), bounds: bounds[c as usize], key };
        let most = nodes.traits.radius + settings.standoff() + size + farthest + motion[i];
        if side.is_far_from_all(&tight, most) {
            continue;
        }
        if reaches.is_empty() {
            reaches.extend(skin.v.iter().map(|v| reach(v.length())));
        }
        let near = Near { nodes, skin, reaches, motion: motion[i] };
        side.look(model, state, settings, &near, contacts);
    }
}

/// The bounding box of points.
fn box_of(points: &[Vec3]) -> Option<Bounds3> {
    let first = *points.first()?;
    Some(
        points
            .iter()
            .fold(Bounds3 { min: first, max: first }, |b, p| Bounds3 { min: b.min.min(*p), max: b.max.max(*p) }),
    )
}

/// A collider that surfels are tested against.
struct Side<'a> {
    built: &'a BuiltCollider,
    pose: Pose,
    placed: Pose,
    bounds: Bounds3,
    /// Key of its contacts, without the surfel.
    key: ContactKey,
}

/// The surfels under test.
struct Near<'a> {
    nodes: &'a Nodes,
    skin: &'a SkinWork,
    /// Largest displacement of each within the step [m].
    reaches: &'a [Real],
    /// Largest displacement of the collider within the step [m].
    motion: Real,
}

/// Where a surfel meets a collider.
struct Meet {
    /// Point on the surface, and the outward normal there.
    on: Vec3,
    normal: Vec3,
}

impl Side<'_> {
    fn look(
        &self,
        model: &Model,
        state: &State,
        settings: &Settings,
        near: &Near<'_>,
        contacts: &mut Vec<ContactMemory>,
    ) {
        let classic = in_world::takes(settings, model, &self.key);
        // contacts of this pair in State, sorted by surfel: merged
        let mut known = of_pair(&state.contacts, &self.key);
        let radius = near.nodes.traits.radius + settings.standoff();
        let is_ball = self.built.geometry.ball().is_some();
        for (surfel, (&x, &reach)) in near.skin.x.iter().zip(near.reaches).enumerate() {
            let reach = reach + near.motion;
            let shape = particle(near.nodes, surfel as u32).map(|n| ellipsoid::shape(near.nodes, state, n));
            let size = shape.map_or(0.0, |s| s.radii.max_element());
            if self.is_far(x, radius + size + reach) {
                continue;
            }
            let key = ContactKey { sub_b: surfel as u32, ..self.key };
            if classic {
                if in_world::is_node_near(model, &key, &self.placed, x, reach) {
                    contacts.push(in_world::memory(state, key));
                }
                continue;
            }
            let solid = near.nodes.surface.is_solid();
            // projected from inside its own body: for a surfel on an edge of the shape the normal is undefined
            let normal = |nodes: &Nodes| near.skin.normal(nodes, surfel as u32);
            let inward = if solid { normal(near.nodes) * -settings.contact_margin } else { Vec3::ZERO };
            let met = match &shape {
                Some(shape) => self.meet_ellipsoid(x, shape),
                // the core of a capsule gives the normal at any depth below its radius
                None if !is_ball => self
                    .built
                    .geometry
                    .nearest_round(&self.placed, x)
                    .map(|(on, normal)| Meet { on, normal })
                    .or_else(|| self.meet(x + inward)),
                None => self.meet(x + inward),
            };
            let Some(meet) = met else { continue };
            let size = shape.map_or(0.0, |s| s.reach(meet.normal));
            if meet.normal.dot(x - meet.on) - radius - size > reach {
                continue;
            }
            while known.first().is_some_and(|m| m.key < key) {
                known = &known[1..];
            }
            let old = known.first().filter(|m| m.key == key);
            contacts.push(self.contact(old, key, &meet, (radius, shape.is_some())));
        }
    }

    /// True for a point that is farther than `reach` [m], without square roots.
    fn is_far(&self, x: Vec3, reach: Real) -> bool {
        let round = Reach::of(&self.built.geometry, &self.placed, reach);
        round.map_or_else(|| !self.bounds.meets(&Bounds3 { min: x, max: x }.grown(reach)), |round| round.is_beyond(x))
    }

    /// True when all points of a box are farther than `reach` [m]: a plane has an unbounded box, which overlaps that of
    /// every body.
    fn is_far_from_all(&self, all: &Bounds3, reach: Real) -> bool {
        let Some(normal) = self.built.geometry.plane().map(|n| self.placed.rotation * n) else { return false };
        let (half, middle) = ((all.max - all.min) * 0.5, (all.max + all.min) * 0.5 - self.placed.position);
        let rounding = ROUNDING * (half.length() + middle.length());
        normal.dot(middle) - normal.abs().dot(half) > reach + rounding
    }

    fn meet(&self, from: Vec3) -> Option<Meet> {
        let geometry = &self.built.geometry;
        let centre = self.placed.position;
        if let Some(radius) = geometry.ball() {
            let normal = (from - centre).try_normalize()?;
            return Some(Meet { on: centre + normal * radius, normal });
        }
        if let Some(n) = geometry.plane() {
            let normal = self.placed.rotation * n;
            return Some(Meet { on: from - normal * normal.dot(from - centre), normal });
        }
        let (on, inside) = geometry.project(&self.placed, from);
        let away = if inside { on - from } else { from - on };
        Some(Meet { on, normal: away.try_normalize()? })
    }

    /// Where an ellipsoid meets the shape, by fixed-point iteration: the lowest point of the ellipsoid is projected
    /// onto the shape, which gives the normal and so the next lowest point.
    fn meet_ellipsoid(&self, x: Vec3, shape: &Ellipsoid) -> Option<Meet> {
        let mut meet = self.meet(x)?;
        for _ in 0..AGREE {
            let next = self.meet(x + shape.farthest(-meet.normal))?;
            let turned = 1.0 - next.normal.dot(meet.normal);
            // a lowest point that passed through a thin shape projects onto its far side
            if turned > 1.0 {
                break;
            }
            meet = next;
            if turned < Real::EPSILON {
                break;
            }
        }
        Some(meet)
    }

    /// Curved shapes are represented by their core: the normal then follows the surfel within the step. Contacts of
    /// ellipsoids keep a fixed normal.
    fn contact(
        &self,
        old: Option<&ContactMemory>,
        key: ContactKey,
        meet: &Meet,
        (radius, flat): (Real, bool),
    ) -> ContactMemory {
        let mut m = renew(old, key, self.pose.rotation.inverse() * meet.normal, radius);
        let outward = self.placed.rotation.inverse() * meet.normal;
        let (core, round) = self.built.geometry.core(self.placed.unpoint(meet.on), outward);
        if flat {
            m.points[0].local_a = self.pose.unpoint(meet.on);
            return m;
        }
        m.points[0].local_a = self.built.place.point(core);
        m.radius[0] = round;
        m
    }
}

/// The points within a distance of a ball or plane; tested without square roots.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach {
    /// Centre and squared distance [m²].
    Ball(Vec3, Real),
    /// Point, normal and distance of a plane [m].
    Plane(Vec3, Vec3, Real),
}

impl Reach {
    /// None for other shapes.
    pub fn of(geometry: &Geometry, placed: &Pose, reach: Real) -> Option<Self> {
        if let Some(radius) = geometry.ball() {
            let most = radius + reach;
            return Some(Self::Ball(placed.position, most * most));
        }
        Some(Self::Plane(placed.position, placed.rotation * geometry.plane()?, reach))
    }

    /// True for a point outside.
    pub fn is_beyond(self, x: Vec3) -> bool {
        match self {
            Self::Ball(middle, most) => (x - middle).length_squared() > most,
            Self::Plane(at, normal, reach) => normal.dot(x - at) > reach,
        }
    }
}

/// The ellipsoidal node that coincides with a surfel.
fn particle(nodes: &Nodes, surfel: u32) -> Option<u32> {
    match nodes.surface.shares(surfel) {
        [share] if !nodes.radii.is_empty() => Some(share.node),
        _ => None,
    }
}

/// A contact with the memory that State has of it; the normal in the axes of a.
pub(crate) fn remember(state: &State, key: ContactKey, normal: Vec3, radius: Real) -> ContactMemory {
    let old = state.contacts.binary_search_by_key(&key, |m| m.key).ok().map(|i| &state.contacts[i]);
    renew(old, key, normal, radius)
}

pub(crate) fn renew(old: Option<&ContactMemory>, key: ContactKey, normal: Vec3, radius: Real) -> ContactMemory {
    // invalid numbers are discarded, as for manifolds
    let old = old.filter(|m| m.is_valid());
    let mut m = ContactMemory { key, count: 1, flags: contact_flag::NODE, normal, ..ContactMemory::zeroed() };
    m.radius = [0.0, radius];
    let kept = old.and_then(|old| (old.tangent - normal * normal.dot(old.tangent)).try_normalize());
    m.tangent = kept.unwrap_or_else(|| any_orthonormal(normal));
    if let Some(old) = old {
        m.flags |= old.flags & (contact_flag::TOUCHING | contact_flag::ABOVE_THRESHOLD);
        m.points[0].impulse = old.points[0].impulse;
        m.points[0].tangential_displacement = old.points[0].tangential_displacement;
        m.points[0].slipping = old.points[0].slipping;
    }
    m
}

/// The combined material of a pair of bodies, cached while consecutive contacts belong to the same pair.
#[derive(Default)]
struct LastPair(Option<((u32, u32, u32), SurfaceMaterial)>);

impl LastPair {
    fn material(&mut self, model: &Model, rules: &PairRules, m: &ContactMemory) -> SurfaceMaterial {
        let pair = (m.key.a, m.key.b, if m.has(contact_flag::SURFACE) { u32::MAX } else { m.key.collider_a });
        let known = self.0.filter(|(p, _)| *p == pair);
        let material = known.map_or_else(|| point::pair_material(model, rules, m), |(_, material)| material);
        self.0 = Some((pair, material));
        material
    }
}

/// Writes the rows of all node contacts of sweep islands with their warm-start impulses.
pub(crate) fn rows(
    ctx: &SubstepContext,
    model: &Model,
    rules: &PairRules,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    soft: &SoftWork,
    output: &mut OutputWork,
) {
    contact.node_contacts.clear();
    let mut rows = std::mem::take(&mut contact.contact_rows);
    rows.clear();
    let p = &ctx.contact;
    let mut parts = std::mem::take(&mut contact.parts);
    let mut last = LastPair::default();
    let row_contacts = std::mem::take(&mut contact.row_contacts);
    let mut partner = None;
    for &(index, before) in &row_contacts {
        let m = &contact.contacts[index as usize];
        let Some(at) = point::place(model, &bodies.pose, m, 0) else { continue };
        let material = last.material(model, rules, m);
        let point = m.points[0];
        let bias = law::normal_bias((), at.gap, 0.0, p.bias_rate, p);
        let correction = bias - law::open_bias((), at.gap, p);
        let [normal, slide, across] = point.impulse;
        let frame = if material.grain.is_some() {
            point::anisotropy(model, &bodies.pose, m, at.tangents)
        } else {
            AnisotropyFrame::NONE
        };
        let (displacement, [slide, across]) = (frame.way(point.tangential_displacement), frame.push([slide, across]));
        let law = (!material.law.is_plain()).then(|| OwnLaw {
            law: material.law,
            coefficients: point::coefficients(&material),
            memory: Memory { stretch: displacement, slipping: point.slipping != 0 },
            h: ctx.h,
        });
        let wants = Wants {
            bias: [p.friction_rate * displacement[0], p.friction_rate * displacement[1], bias],
            correction,
            friction: if point.slipping != 0 { material.kinetic_friction } else { material.static_friction },
            impulse: [slide, across, normal],
            law,
        };
        let [t1, t2] = frame.axes(at.tangents);
        let axes = [t1, t2, at.normal];
        let place = if point::parts(model, &bodies.velocity, m, &mut parts) {
            rows.push_touch(axes, &parts, wants)
        } else {
            rows.push_rows(axes, wants, |axis, terms| point::terms(model, bodies, soft, m, axis, at.at, terms))
        };
        if material.restitution > 0.0 {
            let [.., approach] = rows.relative_velocities(place, &bodies.velocity);
            let bounce = point::rebound(material.restitution, approach, at.gap, ctx.h, p.restitution_speed);
            bounce.into_iter().for_each(|bias| rows.bounce(place, bias));
        }
        if before.is_some() && before == partner {
            rows.pinch_last();
        }
        partner = Some(index);
        contact.node_contacts.push(NodeContact { manifold: index, place, axes: [at.normal, at.tangents[0]], frame });
        output.report.penetration = output.report.penetration.max(-at.gap);
    }
    contact.contact_rows = rows;
    contact.parts = parts;
    contact.row_contacts = row_contacts;
}

/// After the correcting sweeps: the slip of each contact, and whether it sticks.
pub(crate) fn settle(
    ctx: &SubstepContext,
    model: &Model,
    rules: &PairRules,
    bodies: &BodyWork,
    contact: &mut ContactWork,
) {
    let ContactWork { node_contacts, contact_rows, contacts, .. } = contact;
    let velocity = &bodies.velocity;
    let mut last = LastPair::default();
    for c in &*node_contacts {
        let m = &mut contacts[c.manifold as usize];
        let [t1, t2, n] = contact_rows.impulses(c.place);
        let [slide, across, _] = contact_rows.relative_velocities(c.place, velocity);
        let slip = [slide, across];
        let answer = contact_rows.answer(c.place);
        let material = last.material(model, rules, m);
        let point = &mut m.points[0];
        let mu = if point.slipping != 0 { material.kinetic_friction } else { material.static_friction };
        let reach = contact_rows.radius(c.place).unwrap_or(mu * n);
        let limit = law::displacement_limit((), reach, answer, &ctx.contact);
        let old = c.frame.way(point.tangential_displacement);
        let (mut displacement, creep) = law::settle((), old, slip, limit, ctx.h);
        let at_cone = if n > 0.0 { law::at_cone((), t1 * t1 + t2 * t2, reach) } else { 0.0 };
        let slid = if point.slipping != 0 { 1.0 } else { 0.0 };
        let mut slips = law::slips((), at_cone, slid, creep, limit) > 0.0;
        if material.law.decides_slip() {
            let memory = Memory { stretch: old, slipping: point.slipping != 0 };
            let seen = material.law.follow(ctx.h, n, point::coefficients(&material), memory, slip);
            slips = seen.slipping && n > 0.0;
            displacement = if material.law.has_bristle() { seen.stretch } else { displacement };
        }
        point.tangential_displacement = c.frame.way_back(displacement);
        point.slipping = u32::from(slips);
    }
}

/// Reads the impulses of a substep back from the rows, into memory and readout.
pub(crate) fn store_impulses(contact: &mut ContactWork, output: &mut OutputWork) {
    let ContactWork { node_contacts, contact_rows, contacts, .. } = contact;
    let readout = &mut output.readout;
    for c in node_contacts.iter() {
        let [slide, across, normal] = contact_rows.impulses(c.place);
        let [slide, across] = c.frame.push_back([slide, across]);
        contacts[c.manifold as usize].points[0].impulse = [normal, slide, across];
        let [n, t] = c.axes;
        let impulse = point::along(n, t, [normal, slide, across]);
        readout.add(c.manifold, 0, PointImpulse { impulse, normal });
    }
}

/// Positions of the contact points at the end of the step, and which contacts transmitted a normal impulse in it.
pub(crate) fn read(
    model: &Model,
    bodies: &BodyWork,
    contact: &mut ContactWork,
    output: &mut OutputWork,
    settings: &Settings,
) {
    let ContactWork { node_contacts, contacts, .. } = contact;
    let readout = &mut output.readout;
    let pose = &bodies.pose;
    for c in node_contacts.iter() {
        let m = &mut contacts[c.manifold as usize];
        if let Some(at) = settings.point_forces.then(|| point::place(model, pose, m, 0)).flatten() {
            readout.locate(c.manifold, 0, at.at, at.normal, at.gap);
        }
        readout.mark_touching(c.manifold, m);
    }
}
