//! The bodies of a world as solids for drawing. Rigid bodies are given in body coordinates, which are constant, and
//! bodies with nodes in world coordinates.

use crate::shape;
use sinew::{BodyId, BodyView, ConstraintSpec, Motion, Pose, Real, Sdf, Site, Vec3, World};
use std::sync::Arc;

/// Radius of a particle without collision radius, and of a rod without one, as a fraction of the size of the scene.
const THIN: Real = 0.004;

/// A piece of a body. Lengths in metres.
///
/// An example is at [`Figure`](crate::Figure).
#[derive(Clone, Debug)]
pub enum Solid {
    /// A sphere.
    Ball {
        /// Its centre [m].
        center: Vec3,
        /// Its radius [m].
        radius: Real,
    },
    /// A segment with a radius around it.
    Capsule {
        /// One end of the segment [m].
        a: Vec3,
        /// The other end [m].
        b: Vec3,
        /// Its radius [m].
        radius: Real,
    },
    /// Triangles, counter-clockwise seen from outside.
    Mesh(Triangles),
    /// A half-space: everything below a plane.
    Plane {
        /// A point on the plane [m].
        point: Vec3,
        /// Outward normal.
        normal: Vec3,
    },
    /// The inside of a signed distance function.
    Field {
        /// Its pose.
        pose: Pose,
        /// The function.
        sdf: Arc<Sdf>,
    },
}

/// Vertices and triangles.
///
/// An example is at [`Figure`](crate::Figure).
#[derive(Clone, Debug, Default)]
pub struct Triangles {
    /// Vertices [m].
    pub vertices: Vec<Vec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// How a body is drawn.
///
/// An example is at [`Figure`](crate::Figure).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Fixed bodies, the background.
    Stage,
    /// Rigid and moving.
    Rigid,
    /// Deformable.
    Soft,
    /// Bare particles.
    Particles,
    /// Rods, ropes and springs between bodies.
    Rods,
}

/// One body as solids.
///
/// ```
/// use sinew::{RigidBody, Shape, World};
/// use sinew_render::figures;
/// # fn main() -> Result<(), sinew::Error> {
/// let mut world = World::default();
/// let brick = world.add_rigid(RigidBody::fixed().shape(Shape::cuboid(0.1, 0.1, 0.2)).named("brick"))?;
/// let figures = figures(&world);
/// assert_eq!((figures[0].body, figures[0].name.as_str()), (Some(brick), "brick"));
/// assert_eq!(figures[0].solids.len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Figure {
    /// The body; `None` for rods between bodies.
    pub body: Option<BodyId>,
    /// Its name, or empty.
    pub name: String,
    /// How it is drawn.
    pub look: Look,
    /// Pose of a rigid body; identity for all others.
    pub pose: Pose,
    /// Its solids: of rigid bodies in body coordinates, of others in world coordinates.
    pub solids: Vec<Solid>,
}

/// All bodies of a world by slot, then the rods between bodies.
pub fn figures(world: &World) -> Vec<Figure> {
    let size = size_of_world(world);
    let mut all: Vec<Figure> = world.bodies().map(|body| of_body(&body, size)).collect();
    let rods = rods(world, THIN * size);
    if !rods.is_empty() {
        let pose = Pose::IDENTITY;
        all.push(Figure { body: None, name: "rods".to_owned(), look: Look::Rods, pose, solids: rods });
    }
    all
}

/// One body as solids. `size` is the size of the scene [m]; it scales bodies without a thickness of their own.
fn of_body(body: &BodyView<'_>, size: Real) -> Figure {
    let (look, pose) = match body.pose() {
        Ok(pose) if body.motion() == Motion::Fixed => (Look::Stage, pose),
        Ok(pose) => (Look::Rigid, pose),
        Err(_) if body.is_soft() => (Look::Soft, Pose::IDENTITY),
        Err(_) => (Look::Particles, Pose::IDENTITY),
    };
    let mut solids = Vec::new();
    for (place, shape) in body.shapes() {
        shape::add(shape, &place, &mut solids);
    }
    if let Some(surface) = body.surface() {
        add_nodes(body, surface, size, &mut solids);
    }
    Figure { body: Some(body.id()), name: body.name().to_owned(), look, pose, solids }
}

/// Triangles of a surface, capsules along its segments, balls for the remaining nodes.
fn add_nodes(body: &BodyView<'_>, surface: &sinew::Surface, size: Real, out: &mut Vec<Solid>) {
    let mut points = Vec::new();
    if let Some(skin) = body.particle_skin(&mut points) {
        return out.push(Solid::Mesh(Triangles { vertices: points, triangles: skin.triangles().to_vec() }));
    }
    if surface.triangles().is_empty() && !body.particle_radii().is_empty() {
        return out.push(Solid::Mesh(ellipsoids(body)));
    }
    surface.positions(body.node_positions(), &mut points);
    let radius = body.node_radius().filter(|r| *r > 0.0).unwrap_or(THIN * size);
    for &[a, b] in surface.segments() {
        out.push(Solid::Capsule { a: points[a as usize], b: points[b as usize], radius });
    }
    let triangles = surface.triangles().to_vec();
    if !triangles.is_empty() {
        out.push(Solid::Mesh(Triangles { vertices: points, triangles }));
    } else if surface.segments().is_empty() {
        out.extend(points.into_iter().map(|center| Solid::Ball { center, radius }));
    }
}

/// Oriented particles as ellipsoids with their present orientation.
fn ellipsoids(body: &BodyView<'_>) -> Triangles {
    let mut all = Triangles::default();
    let ball = Triangles::ball(Vec3::ZERO, 1.0);
    for (k, (&center, &radii)) in body.node_positions().iter().zip(body.particle_radii()).enumerate() {
        let Some(turn) = body.particle_rotation(k as u32) else { continue };
        let first = all.vertices.len() as u32;
        all.vertices.extend(ball.vertices.iter().map(|p| center + turn * (*p * radii)));
        all.triangles.extend(ball.triangles.iter().map(|t| t.map(|i| first + i)));
    }
    all
}

/// Rods, ropes and springs as capsules.
fn rods(world: &World, radius: Real) -> Vec<Solid> {
    // a world with custom rows has no blueprint: it is drawn without rods
    let Ok(plan) = world.blueprint() else { return Vec::new() };
    let mut out = Vec::new();
    for (slot, broken) in plan.constraints.into_iter().zip(&world.state().broken) {
        let Some(ConstraintSpec::Distance(d)) = slot.item.filter(|_| *broken == 0) else { continue };
        if let (Some(a), Some(b)) = (place(world, &d.a), place(world, &d.b)) {
            out.push(Solid::Capsule { a, b, radius });
        }
    }
    out
}

/// Position of an attachment site [m].
fn place(world: &World, site: &Site) -> Option<Vec3> {
    let body = |id| world.body(id).ok();
    match *site {
        Site::World(at) => Some(at),
        Site::Rigid { body: id, local } => Some(body(id)?.pose().ok()?.point(local)),
        Site::Node { body: id, node } => body(id)?.node_positions().get(node as usize).copied(),
        Site::Surfel { body: id, surfel } => surfel_at(&body(id)?, surfel),
        Site::Face { body: id, triangle, weights } => {
            let body = body(id)?;
            let corners = body.surface()?.triangles().get(triangle as usize)?;
            let mut at = Vec3::ZERO;
            for (&corner, weight) in corners.iter().zip(weights) {
                at += surfel_at(&body, corner)? * weight;
            }
            Some(at)
        }
    }
}

fn surfel_at(body: &BodyView<'_>, surfel: u32) -> Option<Vec3> {
    let surface = body.surface()?;
    ((surfel as usize) < surface.len()).then(|| surface.position(surfel, body.node_positions()))
}

/// Diagonal of the bounding box of all non-fixed bodies [m]; 1 when there are none.
fn size_of_world(world: &World) -> Real {
    let mut bounds: Option<(Vec3, Vec3)> = None;
    for body in world.bodies().filter(|b| b.motion() != Motion::Fixed) {
        let own = [body.position()];
        let points = if body.is_rigid() { &own[..] } else { body.node_positions() };
        for &p in points.iter().filter(|p| p.is_finite()) {
            let (low, high) = bounds.unwrap_or((p, p));
            bounds = Some((low.min(p), high.max(p)));
        }
    }
    bounds.map_or(1.0, |(low, high)| (high - low).length()).max(0.1)
}
