//! One contact point for rows: normal, tangents, gap and the common point, and the terms of an impulse there.

use crate::collision::Ellipsoid;
use crate::collision::surface::feature;
use crate::constraint::Term;
use crate::constraint::response::{ActsOn, BodyModels, Models, merge};
use crate::contact::kernel::surface::Part;
use crate::deformable::Coordinates;
use crate::friction::{AnisotropyFrame, Coefficients};
use crate::math::{Block, Quat, Real, Sym3, Vec3, any_orthonormal, rigid_pose};
use crate::model::surface::Share;
use crate::model::{Grain, Model, Nodes, PairRules, SurfaceMaterial};
use crate::report::Spread;
use crate::settings::Settings;
use crate::state::{ContactMemory, State, contact_flag};
use crate::work::BodyWork;

/// A contact point at the present poses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// From a to b.
    pub normal: Vec3,
    pub tangents: [Vec3; 2],
    /// The point at which the impulse acts on both sides [m]. With two points the couple would add angular momentum.
    pub at: Vec3,
    /// Negative in penetration [m].
    pub gap: Real,
}

/// A contact point at the present poses; the normal rotates with a.
pub(crate) fn place(model: &Model, pose: &[Block], m: &ContactMemory, k: usize) -> Option<Place> {
    let (x_a, q_a) = rigid_pose(pose, m.key.a);
    let normal = q_a * m.normal;
    let tangent = q_a * m.tangent;
    let on_a = x_a + q_a * m.points[k].local_a;
    if m.has(contact_flag::NODE) {
        let b = Feature::of_b(model, m)?;
        // the point of the surface is the common one: nodes have no rotation
        let at = b.position(model, pose);
        if let Some(shape) = b.ellipsoid(model, pose) {
            let on_a = match m.has(contact_flag::SURFACE) {
                true => Feature::of_a(model, m)?.outermost(model, pose, normal),
                false => on_a,
            };
            let at = at + shape.farthest(-normal);
            let gap = normal.dot(at - on_a) - m.radius[1];
            return Some(Place { normal, tangents: [tangent, normal.cross(tangent)], at, gap });
        }
        if m.radius[0] > 0.0 {
            // a round shape: the normal follows the node around its core
            let away = at - on_a;
            let distance = away.length();
            let normal = if distance > 0.0 { away / distance } else { normal };
            let tangent = level(tangent, normal);
            let gap = distance - m.radius[0] - m.radius[1];
            return Some(Place { normal, tangents: [tangent, normal.cross(tangent)], at, gap });
        }
        let on_a = if m.has(contact_flag::SURFACE) { Feature::of_a(model, m)?.position(model, pose) } else { on_a };
        let gap = normal.dot(at - on_a) - m.radius[1];
        return Some(Place { normal, tangents: [tangent, normal.cross(tangent)], at, gap });
    }
    let (x_b, q_b) = rigid_pose(pose, m.key.b);
    let on_a = on_a + normal * m.radius[0];
    let on_b = x_b + q_b * m.points[k].local_b - normal * m.radius[1];
    let apart = on_b - on_a;
    let gap = normal.dot(apart);
    // on the surface of the round side: a rolling ball leaves the other point behind
    let lean = match (m.radius[0] > 0.0, m.radius[1] > 0.0) {
        (true, false) => 0.0,
        (false, true) => 1.0,
        _ => 0.5,
    };
    let at = on_a + apart * lean;
    Some(Place { normal, tangents: [tangent, normal.cross(tangent)], at, gap })
}

/// The tangent projected into the plane of a normal.
pub(crate) fn level(tangent: Vec3, normal: Vec3) -> Vec3 {
    (tangent - normal * normal.dot(tangent)).try_normalize().unwrap_or_else(|| any_orthonormal(normal))
}

/// Nodes of a point that are passed to a model at once.
const SHARES: usize = 16;

/// A vertex, edge or triangle of a surface and the weights of its surfels.
struct Feature<'a> {
    nodes: &'a Nodes,
    /// Kind and number.
    kind: u32,
    number: u32,
    surfels: [u32; 3],
    weights: [Real; 3],
}

impl<'a> Feature<'a> {
    fn of_a(model: &'a Model, m: &ContactMemory) -> Option<Self> {
        Self::new(model.nodes_at(m.key.a)?, m.key.collider_a, m.key.sub_a, m.points[0].local_a)
    }

    fn of_b(model: &'a Model, m: &ContactMemory) -> Option<Self> {
        Self::new(model.nodes_at(m.key.b)?, m.key.collider_b, m.key.sub_b, m.points[0].local_b)
    }

    fn new(nodes: &'a Nodes, kind: u32, number: u32, weights: Vec3) -> Option<Self> {
        let at = number as usize;
        let (surfels, weights) = match kind {
            feature::VERTEX => ([number; 3], [1.0, 0.0, 0.0]),
            feature::EDGE => (nodes.cells.edges.get(at).map(|&[a, b]| [a, b, b])?, [weights.x, weights.y, 0.0]),
            _ => (*nodes.cells.corners.get(at)?, weights.to_array()),
        };
        (surfels[0] < nodes.surface.len() as u32).then_some(Self { nodes, kind, number, surfels, weights })
    }

    fn position(&self, model: &Model, pose: &[Block]) -> Vec3 {
        let first = model.node_block(self.nodes.start) as usize;
        let x = &pose[first..first + self.nodes.inv_mass.len()];
        let used = self.surfels.iter().zip(self.weights).filter(|(_, w)| *w != 0.0);
        used.fold(Vec3::ZERO, |sum, (&s, w)| sum + self.nodes.surface.position(s, x) * w)
    }

    /// The ellipsoidal node that a vertex coincides with.
    fn particle(&self) -> Option<u32> {
        let [surfel, ..] = self.surfels;
        match self.nodes.surface.shares(surfel) {
            [share] if self.weights[0] == 1.0 && !self.nodes.radii.is_empty() => Some(share.node),
            _ => None,
        }
    }

    fn ellipsoid(&self, model: &Model, pose: &[Block]) -> Option<Ellipsoid> {
        let node = self.particle()?;
        let rotation = Quat::from_array(pose[model.spin_block(self.nodes.start + node) as usize]);
        Some(Ellipsoid { radii: self.nodes.radii[node as usize], rotation })
    }

    /// Its position, for an ellipsoid that of the farthest point along the normal.
    fn outermost(&self, model: &Model, pose: &[Block], normal: Vec3) -> Vec3 {
        let at = self.position(model, pose);
        self.ellipsoid(model, pose).map_or(at, |e| at + e.farthest(normal))
    }

    /// This triangle, or the first of those adjacent to an edge.
    fn triangle(&self) -> Option<[u32; 3]> {
        let cells = &self.nodes.cells;
        let cell = match self.kind {
            feature::VERTEX => return None,
            feature::EDGE => cells.beside.get(self.number as usize)?[0],
            _ => self.number,
        };
        cells.corners.get(cell as usize).copied().filter(|_| cells.is_triangle(cell))
    }

    /// Adds the terms of an impulse along `axis` at a point off the triangle: with the weights w of its foot point, its
    /// height d and the unit normal n
    ///
    /// ```text
    ///   v_at = Σ w v + d ṅ,   ṅ = −Σ ∇w (n·v),   J_i = w_i axis − d (axis·∇w_i) n
    /// ```
    ///
    /// Σ J_i = axis and Σ x_i × J_i = at × axis: the opposite impulse on a vertex at this point has the same angular
    /// momentum. False without a triangle, or for one too narrow for the height.
    fn terms_beside(&self, model: &Model, bodies: &BodyWork, axis: Vec3, at: Vec3, out: &mut Vec<Term>) -> bool {
        let Some(corners) = self.triangle() else { return false };
        let first = model.node_block(self.nodes.start) as usize;
        let x = &bodies.pose[first..first + self.nodes.inv_mass.len()];
        let [a, b, c] = corners.map(|s| self.nodes.surface.position(s, x));
        let (e, f, from) = (b - a, c - a, at - a);
        let n = e.cross(f);
        let (square, Some(unit)) = (n.length_squared(), n.try_normalize()) else { return false };
        let (second, third) = (f.cross(n) / square, n.cross(e) / square);
        let slopes = [-second - third, second, third];
        let height = unit.dot(from);
        let widest = slopes.iter().fold(0.0, |most: Real, s| most.max(s.length()));
        let feet = [1.0 - second.dot(from) - third.dot(from), second.dot(from), third.dot(from)];
        if !(height.abs() * widest <= 1.0 && feet.iter().all(|w| w.abs() <= 2.0)) {
            return false;
        }
        for ((&surfel, slope), weight) in corners.iter().zip(slopes).zip(feet) {
            let jacobian = axis * weight - unit * (height * axis.dot(slope));
            self.push_on(model, &bodies.velocity, surfel, jacobian, out);
        }
        true
    }

    /// Adds the terms of an impulse along `axis`. One term a node: a sweep assumes that the terms of a row are
    /// independent.
    fn terms(&self, model: &Model, velocity: &[Block], axis: Vec3, out: &mut Vec<Term>) {
        for (&surfel, weight) in self.surfels.iter().zip(self.weights).filter(|(_, w)| *w != 0.0) {
            self.push_on(model, velocity, surfel, axis * weight, out);
        }
    }

    /// Adds the terms of an impulse along `axis` at a point. The model is called unless the response of the body is one
    /// inverse mass per node.
    fn all_terms(&self, model: &Model, models: Models<'_>, slot: u32, axis: Vec3, at: Vec3, out: &mut Vec<Term>) {
        if self.nodes.coordinates == Coordinates::Nodes {
            self.terms(model, models.velocity, axis, out);
            return;
        }
        let mut buffer = [Share { node: 0, weight: 0.0 }; SHARES];
        let mut len = 0;
        let mut lower = |shares: &[Share]| {
            models.terms(model, ActsOn { slot, nodes: self.nodes, shares, at }, axis, |term| merge(out, term));
        };
        for (&surfel, weight) in self.surfels.iter().zip(self.weights).filter(|(_, w)| *w != 0.0) {
            for share in self.nodes.surface.shares(surfel) {
                if len == SHARES {
                    lower(&buffer);
                    len = 0;
                }
                buffer[len] = Share { node: share.node, weight: share.weight * weight };
                len += 1;
            }
        }
        lower(&buffer[..len]);
    }

    /// Adds the terms of an impulse on a surfel.
    fn push_on(&self, model: &Model, velocity: &[Block], surfel: u32, push: Vec3, out: &mut Vec<Term>) {
        for share in self.nodes.surface.shares(surfel) {
            let block = model.node_block(self.nodes.start + share.node);
            let jacobian = push * share.weight;
            merge(out, Term { block, jacobian, response: jacobian * velocity[block as usize][3] });
        }
    }
}

/// The contributions of all nodes to a contact of two soft surfaces, into `out`. False where these do not describe the
/// contact: one side is a rigid body, a particle rotates, or a node contributes to several corners.
pub(crate) fn parts(model: &Model, velocity: &[Block], m: &ContactMemory, out: &mut Vec<Part>) -> bool {
    out.clear();
    if !(m.has(contact_flag::NODE) && m.has(contact_flag::SURFACE)) {
        return false;
    }
    let (Some(b), Some(a)) = (Feature::of_b(model, m), Feature::of_a(model, m)) else { return false };
    for (feature, sign) in [(b, 1.0), (a, -1.0)] {
        if feature.nodes.coordinates != Coordinates::Nodes {
            return false;
        }
        let first = model.node_block(feature.nodes.start);
        let surface = &feature.nodes.surface;
        for (&surfel, weight) in feature.surfels.iter().zip(feature.weights).filter(|(_, w)| *w != 0.0) {
            let shares =
                surface.nodes().map_or_else(|| surface.shares(surfel), |s| std::slice::from_ref(&s[surfel as usize]));
            for share in shares {
                let block = first + share.node;
                if out.iter().any(|part| part.0 == block) {
                    return false;
                }
                out.push((block, sign * (share.weight * weight), velocity[block as usize][3]));
            }
        }
    }
    true
}

/// Calls `see` with the soft bodies and nodes that a contact acts on.
pub(crate) fn each_node(model: &Model, m: &ContactMemory, mut see: impl FnMut(&Nodes, u32)) {
    let a = if m.has(contact_flag::SURFACE) { Feature::of_a(model, m) } else { None };
    for feature in [a, Feature::of_b(model, m)].into_iter().flatten() {
        for (&surfel, _) in feature.surfels.iter().zip(feature.weights).filter(|(_, w)| *w != 0.0) {
            let shares = feature.nodes.surface.shares(surfel);
            shares.iter().for_each(|share| see(feature.nodes, feature.nodes.start + share.node));
        }
    }
}

/// Terms of an impulse along `axis` at a point: + on b, − on a.
pub(crate) fn terms(
    model: &Model,
    bodies: &BodyWork,
    soft: &dyn BodyModels,
    m: &ContactMemory,
    axis: Vec3,
    at: Vec3,
    out: &mut Vec<Term>,
) {
    out.clear();
    let models = bodies.models(soft);
    if m.has(contact_flag::NODE) {
        let Some(feature) = Feature::of_b(model, m) else { return };
        feature.all_terms(model, models, m.key.b, axis, at, out);
    } else {
        rigid_terms(bodies, m.key.b, axis, at, out);
    }
    if m.has(contact_flag::SURFACE) {
        let Some(feature) = Feature::of_a(model, m) else { return };
        feature.all_terms(model, models, m.key.a, -axis, at, out);
    } else {
        rigid_terms(bodies, m.key.a, -axis, at, out);
    }
}

/// Terms of an impulse along `axis` as in `terms`, but between two soft surfaces at one point: the vertex, or the point
/// of b's edge. The surfaces are a gap apart before contact, and their nearest points move within the step: equal and
/// opposite impulses at the two points would add angular momentum (two soft bodies that collided off centre had 2 %
/// more). Sweeps do not use this, and restore angular momentum afterwards (`island/momentum.rs`).
pub(crate) fn terms_at_one_point(
    model: &Model,
    bodies: &BodyWork,
    soft: &dyn BodyModels,
    m: &ContactMemory,
    axis: Vec3,
    at: Vec3,
    out: &mut Vec<Term>,
) {
    let surfaces = m.has(contact_flag::NODE) && m.has(contact_flag::SURFACE);
    if let (Some(a), Some(b), true) = (Feature::of_a(model, m), Feature::of_b(model, m), surfaces)
        && a.nodes.coordinates == Coordinates::Nodes
        && b.nodes.coordinates == Coordinates::Nodes
    {
        let swapped = a.kind == feature::VERTEX;
        let (point, other, sign) = if swapped { (&a, &b, -1.0) } else { (&b, &a, 1.0) };
        out.clear();
        // an impulse may be shifted along its line of action: at the nearest point of that line, a normal row keeps the
        // weights that its gap was found with
        let [p, q] = [point, other].map(|side| side.position(model, &bodies.pose));
        if other.terms_beside(model, bodies, axis * -sign, p + axis * axis.dot(q - p), out) {
            point.terms(model, &bodies.velocity, axis * sign, out);
            return;
        }
    }
    terms(model, bodies, soft, m, axis, at, out);
}

pub(crate) fn rigid_terms(bodies: &BodyWork, slot: u32, axis: Vec3, at: Vec3, out: &mut Vec<Term>) {
    let block = 2 * slot;
    let (x, _) = rigid_pose(&bodies.pose, slot);
    let (a, b) = (bodies.inertia[block as usize], bodies.inertia[block as usize + 1]);
    let inverse = Sym3 { xx: a[0], yy: a[1], zz: a[2], xy: a[3], xz: b[0], yz: b[1] };
    let torque = (at - x).cross(axis);
    out.push(Term { block, jacobian: axis, response: axis * bodies.velocity[block as usize][3] });
    out.push(Term { block: block + 1, jacobian: torque, response: inverse.mul(torque) });
}

/// The term of an angular impulse on a rigid body about an axis.
pub(crate) fn turn_term(work: &BodyWork, slot: u32, axis: Vec3) -> Term {
    let block = 2 * slot;
    let (a, b) = (work.inertia[block as usize], work.inertia[block as usize + 1]);
    let inverse = Sym3 { xx: a[0], yy: a[1], zz: a[2], xy: a[3], xz: b[0], yz: b[1] };
    Term { block: block + 1, jacobian: axis, response: inverse.mul(axis) }
}

/// Weights of a contact on the corners of side a and b; none where that is a rigid body.
pub(crate) fn spread(model: &Model, m: &ContactMemory) -> [Option<Spread>; 2] {
    let told = |f: Feature<'_>| Spread { surfels: f.surfels, weights: f.weights };
    let a = if m.has(contact_flag::SURFACE) { Feature::of_a(model, m) } else { None };
    let b = if m.has(contact_flag::NODE) { Feature::of_b(model, m) } else { None };
    [a.map(told), b.map(told)]
}

/// Velocity of side a or b at a point, from State [m/s].
pub(crate) fn velocity(model: &Model, state: &State, slot: u32, spread: Option<&Spread>, at: Vec3) -> Vec3 {
    let (Some(spread), Some(nodes)) = (spread, model.nodes_at(slot)) else {
        let i = slot as usize;
        return state.v[i] + state.w[i].cross(at - state.x[i]);
    };
    let span = nodes.span();
    let (x, v) = (&state.node_x[span.clone()], &state.node_v[span]);
    let used = spread.surfels.iter().zip(spread.weights).filter(|(_, w)| *w != 0.0);
    used.fold(Vec3::ZERO, |sum, (&s, w)| sum + nodes.surface.velocity(s, x, v) * w)
}

/// The materials of both sides of a contact.
fn sides(model: &Model, m: &ContactMemory) -> [SurfaceMaterial; 2] {
    let rigid = |slot: u32, collider: u32| {
        model.rigid_at(slot).and_then(|r| Some(r.colliders.get(collider as usize)?.material))
    };
    let soft = |slot: u32| model.nodes_at(slot).map(|n| n.traits.material);
    let a = if m.has(contact_flag::SURFACE) { soft(m.key.a) } else { rigid(m.key.a, m.key.collider_a) };
    let b = if m.has(contact_flag::NODE) { soft(m.key.b) } else { rigid(m.key.b, m.key.collider_b) };
    [a.unwrap_or_default(), b.unwrap_or_default()]
}

/// Friction and restitution of the pair.
pub(crate) fn pair_material(model: &Model, rules: &PairRules, m: &ContactMemory) -> SurfaceMaterial {
    let [a, b] = sides(model, m);
    rules.combine(&a, &b)
}

/// Coefficients of a pair.
pub(crate) fn coefficients(material: &SurfaceMaterial) -> Coefficients {
    Coefficients { holding: material.static_friction, slipping: material.kinetic_friction }
}

/// Bias of the normal row of a contact with restitution within h [m/s]; none when it does not apply. Newton's law of
/// impact as in the time stepping of Moreau: a contact that approaches faster than `least` and closes before the
/// substep ends separates at e times that velocity, J·v ≥ −e·approach; a soft body responds as a whole. Slower contacts
/// come to rest (`restitution_speed`).
pub(crate) fn rebound(restitution: Real, approach: Real, gap: Real, h: Real, least: Real) -> Option<Real> {
    (restitution > 0.0 && approach < -least && gap + h * approach < 0.0).then_some(restitution * approach)
}

/// The axes that a contact with anisotropic friction is solved in, in which its friction ellipse is a disc; those of
/// the contact without anisotropy.
pub(crate) fn anisotropy(model: &Model, pose: &[Block], m: &ContactMemory, tangents: [Vec3; 2]) -> AnisotropyFrame {
    let Some((side, grain)) = grain(model, m) else { return AnisotropyFrame::NONE };
    let (_, q) = rigid_pose(pose, if side == 0 { m.key.a } else { m.key.b });
    let direction = q * grain.direction;
    let [x, y] = tangents.map(|t| t.dot(direction));
    let length = (x * x + y * y).sqrt();
    // perpendicular to the surface it has no direction in it
    if !(length > 1e-3 * direction.length()) {
        return AnisotropyFrame::NONE;
    }
    AnisotropyFrame::new([x / length, y / length], grain.across)
}

/// The same for all points of a manifold, in the axes that State stores.
pub(crate) fn anisotropy_at(model: &Model, pose: &[Block], m: &ContactMemory) -> AnisotropyFrame {
    let (_, q) = rigid_pose(pose, m.key.a);
    let (n, t) = (q * m.normal, q * m.tangent);
    anisotropy(model, pose, m, [t, n.cross(t)])
}

/// The grain of a pair, and 0 or 1 for its body.
pub(crate) fn grain(model: &Model, m: &ContactMemory) -> Option<(usize, Grain)> {
    let [a, b] = sides(model, m);
    SurfaceMaterial::stronger_grain(&a, &b)
}

/// An impulse along normal and tangents as a vector.
pub(crate) fn along(n: Vec3, t: Vec3, impulse: [Real; 3]) -> Vec3 {
    n * impulse[0] + t * impulse[1] + n.cross(t) * impulse[2]
}

/// Penetration of rigid pairs that is not corrected [m]; zero for soft surfaces.
pub(crate) fn slop(model: &Model, m: &ContactMemory, settings: &Settings) -> Real {
    if m.has(contact_flag::NODE) { 0.0 } else { settings.contact_slop * half_width(m, model) }
}

/// Half width of the smaller side [m].
fn half_width(m: &ContactMemory, model: &Model) -> Real {
    let of = |slot: u32| model.rigid_at(slot).map_or(0.0, |r| r.thickness);
    // unbounded shapes have none
    match (of(m.key.a), of(m.key.b)) {
        (a, b) if a > 0.0 && b > 0.0 => a.min(b),
        (a, b) => a.max(b),
    }
}
