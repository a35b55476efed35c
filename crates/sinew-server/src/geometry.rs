//! Data of a scene that stay constant until it is rebuilt: surfaces, elements, attachment points of constraints. With
//! them the encoder makes frames without access to the world.

use crate::strain::Elements;
use sinew::{
    AttachTarget, Blueprint, BodyId, BodySpec, BodyView, ConstraintId, ConstraintSpec, Geometry, ParticleSkin, Pose,
    Real, Site, Surface, Vec3, World,
};

/// The constant data of a scene, for the encoder.
#[derive(Debug, Default)]
pub struct SceneGeometry {
    /// Revision number; a frame contains the revision it belongs to.
    pub revision: u32,
    /// Slots of the rigid bodies, in the order of the snapshots.
    pub rigid: Vec<u32>,
    /// Bodies with nodes, in the order of the snapshots.
    pub soft: Vec<SoftGeometry>,
    /// Attachment points of the constraints.
    pub constraints: Vec<(ConstraintId, ConstraintPlace)>,
    /// The scene description for the page, as JSON.
    pub text: String,
}

/// A body with nodes.
#[derive(Debug)]
pub struct SoftGeometry {
    /// Its slot.
    pub slot: u32,
    /// Its id and topology number: the numbering that the surface and the elements have.
    pub version: (BodyId, u32),
    /// Range of its nodes in the node list of a snapshot.
    pub nodes: std::ops::Range<usize>,
    /// Its surface.
    pub surface: Surface,
    /// The elements in which the strain is measured.
    pub elements: Elements,
    /// Range of its oriented particles in a snapshot; empty for other bodies.
    pub particles: std::ops::Range<usize>,
    /// The embedded surface that the particles carry.
    pub skin: Option<ParticleSkin>,
}

/// Where a constraint is drawn.
#[derive(Clone, Debug)]
pub enum ConstraintPlace {
    /// At one point.
    Point(Site),
    /// Between two points, as a line.
    Line(Site, Site),
}

impl SceneGeometry {
    /// The constant data of a world, without the JSON text.
    pub fn new(world: &World, blueprint: Option<&Blueprint>, revision: u32) -> Self {
        let (mut nodes, mut particles, mut skin) = (0, 0, Vec::new());
        let mut soft = Vec::new();
        for body in world.bodies() {
            let Some(surface) = body.surface() else { continue };
            let slot = body.id().to_parts().0;
            let count = body.node_positions().len();
            let elements = blueprint.and_then(|b| source_geometry(b, slot)).map(Elements::new).unwrap_or_default();
            let turned = body.particle_radii().len();
            soft.push(SoftGeometry {
                slot,
                version: (body.id(), body.topology()),
                nodes: nodes..nodes + count,
                surface: surface.clone(),
                elements,
                particles: particles..particles + turned,
                skin: body.particle_skin(&mut skin).cloned(),
            });
            (nodes, particles) = (nodes + count, particles + turned);
        }
        let rigid = world.bodies().filter(BodyView::is_rigid).map(|b| b.id().to_parts().0).collect();
        let constraints = blueprint.map(places).unwrap_or_default();
        Self { revision, rigid, soft, constraints, text: String::new() }
    }
}

impl SceneGeometry {
    /// False when the topology of a body was edited, or its model exchanged, since this was made.
    pub fn is_of(&self, world: &World) -> bool {
        let now = world.bodies().filter(|body| body.surface().is_some()).map(|body| (body.id(), body.topology()));
        self.soft.iter().map(|body| body.version).eq(now)
    }
}

/// The rest shape of the soft body in a slot.
pub fn source_geometry(blueprint: &Blueprint, slot: u32) -> Option<&Geometry> {
    match blueprint.bodies.get(slot as usize)?.item.as_ref()? {
        BodySpec::Soft(body) => Some(&body.geometry),
        _ => None,
    }
}

fn places(blueprint: &Blueprint) -> Vec<(ConstraintId, ConstraintPlace)> {
    let mut out = Vec::new();
    for (index, slot) in blueprint.constraints.iter().enumerate() {
        let Some(place) = slot.item.as_ref().and_then(place) else { continue };
        out.push((ConstraintId::from_parts(index as u32, slot.generation), place));
    }
    out
}

fn place(spec: &ConstraintSpec) -> Option<ConstraintPlace> {
    let on = |body: Option<BodyId>, frame: Pose| match body {
        Some(body) => Site::Rigid { body, local: frame.position },
        None => Site::World(frame.position),
    };
    match spec {
        ConstraintSpec::Joint(joint) => {
            let (on_a, on_b) = joint.frames?;
            // the reported force is that on body b
            Some(ConstraintPlace::Point(if joint.b.is_some() { on(joint.b, on_b) } else { on(joint.a, on_a) }))
        }
        ConstraintSpec::Distance(distance) => Some(ConstraintPlace::Line(distance.a, distance.b)),
        ConstraintSpec::Attachment(attach) => attach.pairs.first().map(|(site, hold)| match hold {
            AttachTarget::At(other) => ConstraintPlace::Line(*site, *other),
            _ => ConstraintPlace::Point(*site),
        }),
        ConstraintSpec::PatchJoint(patch) => {
            let surfel = *patch.surfels.first()?;
            Some(ConstraintPlace::Point(Site::Surfel { body: patch.body, surfel }))
        }
        ConstraintSpec::Tool(tool) => Some(ConstraintPlace::Point(Site::Rigid { body: tool.body, local: Vec3::ZERO })),
        // many rows without a common point
        _ => None,
    }
}

impl SoftGeometry {
    /// True for oriented particles without triangles: they are drawn as ellipsoids.
    pub fn is_ellipsoids(&self) -> bool {
        !self.particles.is_empty() && self.skin.is_none() && self.surface.triangles().is_empty()
    }

    /// Position of a surface point when the nodes of the snapshot are at `x` [m].
    pub fn surfel(&self, x: &[Vec3], k: u32) -> Option<Vec3> {
        let x = x.get(self.nodes.clone())?;
        ((k as usize) < self.surface.len()).then(|| self.surface.position(k, x))
    }

    /// Point of a surface triangle by its barycentric weights [m].
    pub fn face(&self, x: &[Vec3], triangle: u32, weights: [Real; 3]) -> Option<Vec3> {
        let corners = self.surface.triangles().get(triangle as usize)?;
        corners.iter().zip(weights).try_fold(Vec3::ZERO, |sum, (&k, w)| Some(sum + self.surfel(x, k)? * w))
    }
}
