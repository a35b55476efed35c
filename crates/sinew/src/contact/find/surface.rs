//! Contacts of soft surfaces: with each other, with themselves, and of their triangles with rigid bodies. Contacts of
//! surfels with rigid bodies are in `contact/find/surfel.rs`; all of them become the same three rows.

use crate::collision::TriangleMeet;
use crate::collision::surface::{CellTree, Ends, Finder, Held, NearPairs, Touching, feature, reach_at_rest, thin_out};
use crate::contact::find::rim::Looker;
use crate::contact::find::surfel::{near_colliders, remember, renew};
use crate::math::{Pose, Real, Vec3};
use crate::solver::pool::Pool;
use crate::tuning::surface::{CORNER, DEEPER, DOUBTFUL, FLAT, HELD_SAG, RISE, SAG, SAME_WAY};

use crate::model::{Body, BuiltCollider, Model, Nodes};
use crate::settings::Settings;
use crate::state::{ContactKey, ContactMemory, State, contact_flag};
use crate::work::{BodyWork, ColliderRef, ContactWork, DetectWork, SkinWork, SoftWork, Window};
use std::ops::Range;

/// Updates all surfaces: positions, normals, and boxes that cover the motion of the step.
pub(crate) fn follow(model: &Model, state: &State, pool: &Pool, detect: &mut DetectWork, settings: &Settings) {
    detect.skins.resize_with(model.bodies.slot_count(), || None);
    let margin = window(settings).depth;
    pool.chunks(&mut detect.skins, 1, &|slot, held| {
        let (slot, held) = (slot as u32, &mut held[0]);
        let Some(Body::Nodes(nodes)) = model.bodies.at(slot) else {
            *held = None;
            return;
        };
        let stamp = model.surface_stamp(slot);
        if held.as_ref().is_none_or(|h| !h.is_of(stamp)) {
            *held = Some(SkinWork::new(stamp, nodes));
        }
        held.as_mut().expect("made above").follow(nodes, state, settings.dt, margin);
    });
}

/// Finds contacts of surfaces; appends them to the step's contacts.
pub(crate) fn find(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    soft: &SoftWork,
    settings: &Settings,
) {
    for a in 0..detect.skins.len() as u32 {
        if !touches(model, detect, a) {
            continue;
        }
        let awake = bodies.moves[a as usize];
        // a cloth in SoA finds its self-contacts itself
        if !soft.models[a as usize].as_ref().is_some_and(|held| held.cloth.eligible) {
            find_own(model, state, bodies, detect, contact, settings, a);
        }
        for b in a + 1..detect.skins.len() as u32 {
            let pair_moves = awake || bodies.moves[b as usize];
            if pair_moves && touches(model, detect, b) && may_meet(model, detect, a, b) {
                find_pair(model, state, detect, contact, settings, a, b);
            }
        }
    }
}

/// Self-contacts of a surface.
pub(crate) fn find_own(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    settings: &Settings,
    slot: u32,
) {
    let self_contact = model.nodes_at(slot).is_some_and(|n| n.traits.self_contact && n.radii.is_empty());
    if bodies.moves[slot as usize] && (settings.intersection_free || self_contact) && touches(model, detect, slot) {
        find_pair(model, state, detect, contact, settings, slot, slot);
    }
}

/// True for a body with cells that takes part in collision.
fn touches(model: &Model, detect: &DetectWork, slot: u32) -> bool {
    let has_cells = detect.skins[slot as usize].as_ref().is_some_and(|s| s.tree.is_some());
    has_cells && model.nodes_at(slot).is_some_and(Nodes::touches)
}

fn may_meet(model: &Model, detect: &DetectWork, a: u32, b: u32) -> bool {
    let bounds = |slot: u32| detect.skins[slot as usize].as_ref()?.bounds;
    let near = bounds(a).zip(bounds(b)).is_some_and(|(a, b)| a.meets(&b));
    let (Some(nodes_a), Some(nodes_b)) = (model.nodes_at(a), model.nodes_at(b)) else { return false };
    // ellipsoidal nodes collide with each other as ellipsoids
    let ellipsoids = !nodes_a.radii.is_empty() && !nodes_b.radii.is_empty();
    near && nodes_a.meets(nodes_b) && !model.collision_excluded(a, b) && !ellipsoids
}

/// Contacts between features of two surfaces, or of one.
fn find_pair(
    model: &Model,
    state: &State,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    settings: &Settings,
    a: u32,
    b: u32,
) {
    let DetectWork { skins, near_pairs, known_keys, touching_features, held_vertices, .. } = detect;
    let contacts = &mut contact.contacts;
    for slot in [a, b] {
        fit(model, skins, slot, settings);
    }
    let (Some(nodes_a), Some(nodes_b)) = (model.nodes_at(a), model.nodes_at(b)) else { return };
    let still = settings.soft_margin() + fall(settings);
    look_for_pairs(skins, [(a, nodes_a), (b, nodes_b)], still, near_pairs, settings.lanes);
    let (Some(skin_a), Some(skin_b)) = (&skins[a as usize], &skins[b as usize]) else { return };
    let own = a == b;
    let key = |fa: (u32, u32), fb: (u32, u32)| ContactKey {
        a,
        b,
        collider_a: fa.0,
        collider_b: fb.0,
        sub_a: fa.1,
        sub_b: fb.1,
    };
    // keys in an array of their own: they are found by binary search, one for most edges
    let known = of_bodies(&state.contacts, (a, b));
    known_keys.clear();
    known_keys.extend(known.iter().map(|m| m.key));
    let before = |fa: (u32, u32), fb: (u32, u32)| {
        let at = known_keys.binary_search(&key(fa, fb)).ok();
        at.map(|i| &known[i]).filter(|m| m.is_valid()).map(|m| m.normal)
    };
    let near = |ends: Ends<'_>| {
        let mean = |skin: &SkinWork, of: &[u32]| {
            of.iter().fold(Vec3::ZERO, |sum, &i| sum + skin.v[i as usize]) / of.len() as Real
        };
        let speed = (mean(skin_a, ends.a) - mean(skin_b, ends.b)).length();
        settings.soft_margin() + 2.0 * settings.dt * speed + fall(settings)
    };
    let fastest = skin_a.fastest + skin_b.fastest;
    let nearest = settings.soft_margin() + 2.0 * settings.dt * fastest + fall(settings);
    let (a_now, b_now) = (skin_a.skin(nodes_a), skin_b.skin(nodes_b));
    let beyond = window(settings).depth + a_now.radius.max(b_now.radius).max(0.0) + 2.0 * settings.dt * fastest;
    // under the guarantee no feature has crossed; a fast sheet below a soft body was taken for one that had penetrated
    // from above
    let crossed = !settings.intersection_free;
    let finder = Finder {
        a: a_now,
        b: b_now,
        own,
        before: &before,
        near: &near,
        nearest,
        beyond,
        crossed,
        sag: HELD_SAG * settings.contact_margin,
    };
    let (Some(tree_a), Some(tree_b)) = (&skin_a.tree, &skin_b.tree) else { return };
    let trees = [tree_a, tree_b];
    // under the guarantee rows prevent what the guard would otherwise have to stop
    let held = (!settings.intersection_free).then_some(held_vertices);
    // a point beside a body is behind some of its faces too
    let ghost = |t: &Touching| {
        let depth = -(t.gap + t.reach);
        let (skin, nodes, p) = match (t.a, t.b) {
            ((feature::VERTEX, vertex), _) => (skin_b, nodes_b, skin_a.x[vertex as usize]),
            (_, (_, vertex)) => (skin_a, nodes_a, skin_b.x[vertex as usize]),
        };
        let doubtful = depth > DOUBTFUL * settings.contact_margin;
        doubtful && !own && nodes.surface.is_solid() && !skin.encloses(&nodes.cells, p, depth)
    };
    features(&finder, near_pairs, trees, (held, &ghost), touching_features);
    // both lists are sorted by key: merge with the stored contacts
    let mut known = known;
    for t in touching_features.iter() {
        let key = key(t.a, t.b);
        while known.first().is_some_and(|m| m.key < key) {
            known = &known[1..];
        }
        // a body's own features may lie nearer than the standoff at rest
        let standoff = if own { 0.0 } else { settings.standoff() };
        let old = known.first().filter(|m| m.key == key);
        let mut m = renew(old, key, t.normal, t.reach + standoff);
        m.flags |= contact_flag::SURFACE;
        m.points[0].local_a = Vec3::from_array(t.weights_a);
        m.points[0].local_b = Vec3::from_array(t.weights_b);
        contacts.push(m);
    }
}

/// Lists the pairs of features of two surfaces, or of one, that may touch, and finds their normals.
fn look_for_pairs(
    skins: &mut [Option<SkinWork>],
    sides: [(u32, &Nodes); 2],
    still: Real,
    pairs: &mut NearPairs,
    lanes: bool,
) {
    let [boxed_a, boxed_b] = sides.map(|(slot, nodes)| skins[slot as usize].as_ref().and_then(|s| s.boxed(nodes)));
    let (Some(boxed_a), Some(boxed_b)) = (boxed_a, boxed_b) else { return };
    let reach = reach_at_rest(still, sides.map(|(_, nodes)| nodes.traits.radius));
    pairs.find([boxed_a, boxed_b], reach, lanes);
    for (side, (slot, nodes)) in sides.into_iter().enumerate() {
        if let Some(skin) = &mut skins[slot as usize] {
            skin.find_normals(nodes, pairs.surfels(side, &nodes.cells));
        }
    }
}

/// The contacts of two bodies, from a list sorted by key.
fn of_bodies(contacts: &[ContactMemory], bodies: (u32, u32)) -> &[ContactMemory] {
    let first = contacts.partition_point(|m| (m.key.a, m.key.b) < bodies);
    let count = contacts[first..].partition_point(|m| (m.key.a, m.key.b) == bodies);
    &contacts[first..first + count]
}

/// True for a vertex that is behind a face but outside the body.
type Ghost<'a> = &'a dyn Fn(&Touching) -> bool;

/// The contacts among pairs of features, whose cells have boxes in these trees, sorted by key; without ghost vertices
/// and, with `held`, without the edges whose vertices have contacts.
fn features(
    finder: &Finder<'_>,
    pairs: &mut NearPairs,
    [tree_a, tree_b]: [&CellTree; 2],
    (held, ghost): (Option<&mut Held>, Ghost<'_>),
    out: &mut Vec<Touching>,
) {
    out.clear();
    let [of_a, of_b] = &pairs.vertices;
    for (pairs, swapped, tree) in [(of_a, false, tree_b), (of_b, true, tree_a)] {
        out.extend(pairs.iter().filter_map(|&pair| finder.vertex(pair, swapped, &tree.bounds(pair[1]))));
    }
    thin_out(out, &mut pairs.sorter);
    out.retain(|t| !ghost(t));
    let held = held.map(|h| h.list(out, [finder.a.x.len(), finder.b.x.len()]));
    out.extend(pairs.edges.iter().filter_map(|&pair| finder.edges(pair, held)));
    pairs.sorter.by_key(out);
}

/// Boxes and normals of a surface for this step.
fn fit(model: &Model, skins: &mut [Option<SkinWork>], slot: u32, settings: &Settings) {
    if let (Some(nodes), Some(skin)) = (model.nodes_at(slot), skins[slot as usize].as_mut()) {
        skin.fit(nodes, window(settings));
    }
}

/// Search distances of the cells.
pub(crate) fn window(settings: &Settings) -> Window {
    let more = fall(settings);
    Window { near: settings.soft_margin() + more, depth: settings.contact_margin + more, lanes: settings.lanes }
}

/// True when the triangles of a surface of this half thickness cannot penetrate a ball by more than a fraction of the
/// contact margin while their corners are outside: the centre of a circle of radius r on a ball is r²/2R below its
/// surface.
pub(crate) fn corners_hold(built: &BuiltCollider, skin: &SkinWork, thickness: Real, settings: &Settings) -> bool {
    let deep = |radius: Real| skin.face_radius * skin.face_radius / (2.0 * radius) - thickness;
    built.geometry.ball().is_some_and(|radius| deep(radius) < SAG * settings.contact_margin)
}

/// Contacts of the triangles of a surface with rigid bodies, where the body is nearer to the interior of the triangle
/// than to its corners: small bodies, edges and corners of large ones. The contacts of the body's surfels are those
/// from `start` on.
pub(crate) fn find_rigid(
    model: &Model,
    state: &State,
    bodies: &BodyWork,
    detect: &mut DetectWork,
    contact: &mut ContactWork,
    settings: &Settings,
    (slot, start): (u32, usize),
) {
    let Some(nodes) = model.nodes_at(slot) else { return };
    let skin = detect.skins[slot as usize].as_ref().filter(|s| s.tree.is_some());
    let Some(around) = skin.and_then(|s| s.bounds) else { return };
    near_colliders(model, bodies, detect, (slot, nodes), &around);
    let DetectWork { skins, bounds, colliders, motion, near_colliders, near_cells, .. } = detect;
    let contacts = &mut contact.contacts;
    let Some(skin) = skins[slot as usize].as_mut() else { return };
    near_colliders.retain(|&c| {
        let ColliderRef { body, collider, .. } = colliders[c as usize];
        let built = model.rigid_at(body).map(|r| &r.colliders[collider as usize]);
        // an unbounded plane meets corners first
        built.is_some_and(|b| !b.geometry.is_unbounded() && !corners_hold(b, skin, nodes.traits.radius, settings))
    });
    if near_colliders.is_empty() {
        return;
    }
    skin.fit(nodes, window(settings));
    let skin = &*skin;
    contacts[start..].sort_unstable_by_key(|m| m.key);
    let end = contacts.len();
    for &c in near_colliders.iter() {
        let ColliderRef { body, collider, .. } = colliders[c as usize];
        let Some(rigid) = model.rigid_at(body) else { continue };
        let built = &rigid.colliders[collider as usize];
        let reach = settings.contact_margin + motion[body as usize];
        near_cells.clear();
        skin.overlapping(&bounds[c as usize], |cell| near_cells.push(cell));
        near_cells.retain(|&cell| nodes.cells.is_triangle(cell));
        near_cells.sort_unstable();
        let pose = Pose::new(state.x[body as usize], state.q[body as usize]);
        let side = RigidSide { body, collider, built, pose };
        let known = of_collider(contacts, start..end, &side, slot);
        let most = SAG * settings.contact_margin + nodes.traits.radius;
        let sag = Sag { radius: skin.face_radius, most };
        let first = contacts.len();
        for &cell in near_cells.iter() {
            let known = &contacts[known.clone()];
            let corners = nodes.cells.corners[cell as usize];
            let convex = built.geometry.is_convex();
            if convex && (over_one_face(known, corners, [1.0; 3]) || over_one_side(known, corners, sag)) {
                continue;
            }
            let mut rims = [None; 3];
            if convex {
                let looker = Looker { slot, nodes, x: &skin.x, known, reach: settings.contact_margin };
                let [p, q, r] = corners;
                rims = [[p, q], [q, r], [r, p]].map(|edge| looker.crossing(state, &side, edge));
            }
            let corner_first = convex && side.meets_corner_first(settings, (nodes, skin), cell, known);
            let meet = if corner_first && side.pushed_at(state, slot, cell).is_none() {
                None
            } else {
                face_meet(state, settings, &side, (slot, nodes, skin), cell, reach)
                    .map(|meet| side.stay(state, settings, (slot, nodes, skin), cell, meet))
            };
            let meet = meet.filter(|meet| !meet.weights.iter().any(|w| *w > CORNER));
            let meet = meet.filter(|meet| {
                let round = || sag.holds(side.roundness(meet)) && all_touch(known, corners, meet.weights);
                !(convex && (over_one_face(known, corners, meet.weights) || round()))
            });
            let found = meet.map(|meet| face_contact(state, &side, (slot, nodes), cell, &meet));
            for mut m in rims.into_iter().flatten().chain(found) {
                m.radius[1] += settings.standoff();
                add_new(contacts, first, m);
            }
        }
    }
}

/// Adds a contact to those from `first` on, which are sorted, unless its key is present: both triangles at an edge find
/// a point on it, and a rim crossing, which is added first, belongs to the edge too.
fn add_new(contacts: &mut Vec<ContactMemory>, first: usize, m: ContactMemory) {
    if let Err(at) = contacts[first..].binary_search_by_key(&m.key, |m| m.key) {
        contacts.insert(first + at, m);
    }
}

/// The feature that a point of a triangle lies on, and the weights of its corners. A point on a side belongs to the
/// edge: which of the two adjacent triangles finds it changes from step to step, and with another key its impulse and
/// stick point would be lost. (The end of a cloth under the edge of a tray vibrated by 1 mm for that reason,
/// `scenes/mixed.toml`.)
fn feature_at(nodes: &Nodes, cell: u32, weights: [Real; 3]) -> (u32, u32, Vec3) {
    let corners = nodes.cells.corners[cell as usize];
    let side = (0..3).find(|&k| weights[k] < 1.0 - CORNER).and_then(|k| {
        let (a, b) = ((k + 1) % 3, (k + 2) % 3);
        let (a, b) = if corners[a] < corners[b] { (a, b) } else { (b, a) };
        let edge = nodes.cells.edges.binary_search(&[corners[a], corners[b]]).ok()?;
        let sum = weights[a] + weights[b];
        Some((feature::EDGE, edge as u32, Vec3::new(weights[a] / sum, weights[b] / sum, 0.0)))
    });
    side.unwrap_or((feature::FACE, cell, Vec3::from_array(weights)))
}

/// A collider at the pose of its body.
pub(crate) struct RigidSide<'a> {
    pub(crate) body: u32,
    pub(crate) collider: u32,
    pub(crate) built: &'a BuiltCollider,
    pub(crate) pose: Pose,
}

impl RigidSide<'_> {
    /// Radius of curvature of the side that a triangle meets [m]; 0 where it is flat.
    fn roundness(&self, meet: &TriangleMeet) -> Real {
        let placed = self.pose.then_inner(&self.built.place);
        let outward = placed.rotation.inverse() * meet.normal;
        self.built.geometry.core(placed.unpoint(meet.on_shape), outward).1
    }
}

impl RigidSide<'_> {
    /// The contact of a triangle: its previous position if it transmitted an impulse there and is nearly as deep as
    /// anywhere else, otherwise `found`.
    ///
    /// Over an edge or a flat face many points of a triangle are equally deep, and which of them is found is arbitrary.
    /// A point that jumps in each step moves its load, and friction near its limit slips at every jump: a cylinder held
    /// between pads with a margin of 5% sank by 0.3 mm/s.
    fn stay(
        &self,
        state: &State,
        settings: &Settings,
        (slot, nodes, skin): (u32, &Nodes, &SkinWork),
        cell: u32,
        found: TriangleMeet,
    ) -> TriangleMeet {
        let Some(old) = self.pushed_at(state, slot, cell) else { return found };
        let at = nodes.cells.corners[cell as usize].map(|s| skin.x[s as usize]);
        let point = |w: [Real; 3]| at[0] * w[0] + at[1] * w[1] + at[2] * w[2];
        let weights = old.points[0].local_b.to_array();
        let (_, inward) = plane_of(settings, nodes, at);
        let Some((on_shape, normal)) = self.nearest(point(weights), inward) else { return found };
        let gap = normal.dot(point(weights) - on_shape);
        let least = found.normal.dot(point(found.weights) - found.on_shape);
        let stays = normal.dot(found.normal) > SAME_WAY && gap - least < DEEPER * settings.contact_margin;
        if stays { TriangleMeet { weights, on_shape, normal } } else { found }
    }

    /// The contact of a triangle's interior that transmitted an impulse in the previous step.
    fn pushed_at<'s>(&self, state: &'s State, slot: u32, cell: u32) -> Option<&'s ContactMemory> {
        let key = self.face_key(slot, cell);
        let known = state.contacts.binary_search_by_key(&key, |m| m.key).ok().map(|i| &state.contacts[i]);
        known.filter(|m| m.is_valid() && m.points[0].impulse[0] > 0.0)
    }

    /// True when a feature of a triangle transmitted an impulse in the previous step: then a shape behind the triangle
    /// has come through it.
    fn entered(&self, state: &State, slot: u32, nodes: &Nodes, cell: u32) -> bool {
        let corners = nodes.cells.corners[cell as usize];
        let key = self.face_key(slot, cell);
        let pushed = |kind: u32, number: u32| {
            let key = ContactKey { collider_b: kind, sub_b: number, ..key };
            let known = state.contacts.binary_search_by_key(&key, |m| m.key).ok().map(|i| &state.contacts[i]);
            known.is_some_and(|m| m.is_valid() && m.points[0].impulse[0] > 0.0)
        };
        let edge = |a: u32, b: u32| nodes.cells.edges.binary_search(&[a.min(b), a.max(b)]).ok();
        let [a, b, c] = corners;
        pushed(feature::FACE, cell)
            || corners.into_iter().any(|k| pushed(feature::VERTEX, k))
            || [(a, b), (b, c), (c, a)]
                .into_iter()
                .any(|(a, b)| edge(a, b).is_some_and(|e| pushed(feature::EDGE, e as u32)))
    }

    /// The point of the shape nearest to a given point, and the outward normal there. Except for balls and capsules the
    /// point is displaced by `inward`, as triangles are.
    fn nearest(&self, point: Vec3, inward: Vec3) -> Option<(Vec3, Vec3)> {
        let placed = self.pose.then_inner(&self.built.place);
        if let Some(found) = self.built.geometry.nearest_round(&placed, point) {
            return Some(found);
        }
        let from = point + inward;
        let (on_shape, inside) = self.built.geometry.project(&placed, from);
        let away = if inside { on_shape - from } else { from - on_shape };
        Some((on_shape, away.try_normalize()?))
    }

    /// True when no point of a triangle is nearer to a convex shape than one of its corners which has a contact: the
    /// shape lies behind the plane through its nearest point, and the other corners are higher above that plane.
    /// Cheaper than the search for the nearest point of the triangle, which would be that corner: sides that stand on a
    /// face are most of the triangles that are tested.
    fn meets_corner_first(
        &self,
        settings: &Settings,
        (nodes, skin): (&Nodes, &SkinWork),
        cell: u32,
        known: &[ContactMemory],
    ) -> bool {
        let corners = nodes.cells.corners[cell as usize];
        let touching = |surfel: u32| known.binary_search_by_key(&surfel, |m| m.key.sub_b).ok().map(|i| known[i].normal);
        let normals = corners.map(touching);
        let Some(normal) = normals.into_iter().flatten().next() else { return false };
        if normals.into_iter().flatten().any(|n| n.dot(normal) <= 1.0 - FLAT) {
            return false;
        }
        let up = self.pose.rotation * normal;
        let at = corners.map(|s| skin.x[s as usize]);
        let lowest = (0..3).filter(|&k| normals[k].is_some()).min_by(|&j, &k| up.dot(at[j]).total_cmp(&up.dot(at[k])));
        let Some(lowest) = lowest.map(|k| at[k]) else { return false };
        let rises = |x: Vec3| up.dot(x - lowest) > RISE * (x - lowest).length();
        if !at.into_iter().zip(normals).all(|(x, n)| n.is_some() || rises(x)) {
            return false;
        }
        let (_, inward) = plane_of(settings, nodes, at);
        self.nearest(lowest, inward).is_some_and(|(_, n)| n.dot(up) > 1.0 - FLAT)
    }

    fn face_key(&self, slot: u32, cell: u32) -> ContactKey {
        let (a, collider_a) = (self.body, self.collider);
        ContactKey { a, b: slot, collider_a, collider_b: feature::FACE, sub_a: 0, sub_b: cell }
    }
}

/// The contacts of a body's surfels with one collider, from a list sorted by key.
fn of_collider(contacts: &[ContactMemory], among: Range<usize>, side: &RigidSide<'_>, slot: u32) -> Range<usize> {
    let wanted = (side.body, slot, side.collider);
    let of = |m: &ContactMemory| (m.key.a, m.key.b, m.key.collider_a);
    let list = &contacts[among.clone()];
    let first = list.partition_point(|m| of(m) < wanted);
    let count = list[first..].iter().take_while(|m| of(m) == wanted).count();
    among.start + first..among.start + first + count
}

/// True when all corners with non-zero weight at a point have a contact with the same normal: over one flat face of a
/// convex shape no point between them is nearer than they are, and one more row only makes the system singular.
fn over_one_face(known: &[ContactMemory], corners: [u32; 3], weights: [Real; 3]) -> bool {
    let normal = |surfel: u32| known.binary_search_by_key(&surfel, |m| m.key.sub_b).ok().map(|i| known[i].normal);
    let mut first: Option<Vec3> = None;
    corners
        .into_iter()
        .zip(weights)
        .filter(|(_, w)| *w > 1.0 - CORNER)
        .all(|(corner, _)| normal(corner).is_some_and(|n| n.dot(*first.get_or_insert(n)) > 1.0 - FLAT))
}

/// Largest additional penetration of a curved side between the corners of a triangle.
#[derive(Clone, Copy)]
struct Sag {
    /// Radius of the largest circumscribed circle of a triangle [m].
    radius: Real,
    /// [m]
    most: Real,
}

impl Sag {
    /// True on a side of this radius [m] when its sag r²/2R can be tolerated. A contact point that moves over triangles
    /// and corners loses its stick point with each new feature, and a body held by a soft pad creeps: a cylinder
    /// between two pads sank by 1 mm/s.
    fn holds(self, round: Real) -> bool {
        round > 0.0 && self.radius * self.radius < 2.0 * round * self.most
    }
}

/// True when all corners have a contact with the curved side of a convex shape: then that side is nearest between them.
fn over_one_side(known: &[ContactMemory], corners: [u32; 3], sag: Sag) -> bool {
    let round = |surfel: u32| known.binary_search_by_key(&surfel, |m| m.key.sub_b).map_or(0.0, |i| known[i].radius[0]);
    corners.into_iter().all(|corner| sag.holds(round(corner)))
}

/// True when all corners with non-zero weight at a point have contacts.
fn all_touch(known: &[ContactMemory], corners: [u32; 3], weights: [Real; 3]) -> bool {
    let touches = |surfel: u32| known.binary_search_by_key(&surfel, |m| m.key.sub_b).is_ok();
    corners.into_iter().zip(weights).filter(|(_, w)| *w > 1.0 - CORNER).all(|(corner, _)| touches(corner))
}

/// Where the interior of a triangle meets a collider.
fn face_meet(
    state: &State,
    settings: &Settings,
    side: &RigidSide<'_>,
    (slot, nodes, skin): (u32, &Nodes, &SkinWork),
    cell: u32,
    reach: Real,
) -> Option<TriangleMeet> {
    let corners = nodes.cells.corners[cell as usize];
    let at = corners.map(|s| skin.x[s as usize]);
    let v = corners.iter().fold(Vec3::ZERO, |sum, &s| sum + skin.v[s as usize]) / 3.0;
    let reach = nodes.traits.radius + reach + 2.0 * settings.dt * v.length() + fall(settings);
    let placed = side.pose.then_inner(&side.built.place);
    let (plane, inward) = plane_of(settings, nodes, at);
    let geometry = &side.built.geometry;
    let meet = geometry.meet_triangle(&placed, at, inward, reach);
    if !nodes.surface.is_solid() {
        return meet;
    }
    // a body that has penetrated is in contact with the face through which it entered
    meet.filter(|meet| meet.normal.dot(plane) < 0.0).or_else(|| {
        let behind = geometry.is_convex().then(|| geometry.meet_behind(&placed, at, plane)).flatten()?;
        side.entered(state, slot, nodes, cell).then_some(behind)
    })
}

/// Normal of a triangle, and the displacement into its own body [m] from which it is tested against a shape: on an edge
/// of the shape the normal would be undefined.
fn plane_of(settings: &Settings, nodes: &Nodes, at: [Vec3; 3]) -> (Vec3, Vec3) {
    let plane = (at[1] - at[0]).cross(at[2] - at[0]).normalize_or_zero();
    (plane, if nodes.surface.is_solid() { plane * -settings.contact_margin } else { Vec3::ZERO })
}

fn face_contact(
    state: &State,
    side: &RigidSide<'_>,
    (slot, nodes): (u32, &Nodes),
    cell: u32,
    meet: &TriangleMeet,
) -> ContactMemory {
    let (kind, number, weights) = feature_at(nodes, cell, meet.weights);
    let key = ContactKey { collider_b: kind, sub_b: number, ..side.face_key(slot, cell) };
    let mut m = remember(state, key, side.pose.rotation.inverse() * meet.normal, nodes.traits.radius);
    m.points[0].local_a = side.pose.unpoint(meet.on_shape);
    m.points[0].local_b = weights;
    m
}

/// Displacement by gravity alone in a step, times two [m].
fn fall(settings: &Settings) -> Real {
    settings.gravity.length() * settings.dt * settings.dt
}
