//! Data of continuous collision detection within a step: every surface at the start and at the end of the step.

use crate::collision::Bounds3;
use crate::collision::continuous::cover::Cover;
use crate::collision::continuous::{Pivot, Track};
use crate::collision::surface::SurfaceTree;
use crate::constraint::{RowBuffer, Term};
use crate::math::{Real, Vec3, Wide3, narrow, widen};
use crate::model::surface::Cells;
use crate::model::{Body, Nodes, Rigid, Shape, Stamp};

/// The plane of a half-space, relative to its body's centre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuardPlane {
    pub collider: u32,
    /// Outward unit normal, body axes.
    pub normal: Wide3,
    /// A point of it, body axes [m].
    pub point: Wide3,
}

/// One body's surface and its motion in the step.
#[derive(Debug)]
pub(crate) struct GuardBody {
    stamp: Stamp,
    pub cells: Cells,
    pub planes: Vec<GuardPlane>,
    /// Collider of each cell of a rigid body; empty for nodes.
    pub collider: Vec<u32>,
    /// Vertices of a rigid body in its axes, from its centre [m]; empty for nodes.
    pub local: Vec<Wide3>,
    /// Radius around each vertex that is part of the surface [m].
    pub radii: Vec<f64>,
    /// Vertices at the start and at the end of the step [m].
    pub start: Vec<Wide3>,
    pub end: Vec<Wide3>,
    /// Upper bound of the displacement of each vertex [m].
    pub travel: Vec<f64>,
    /// A rigid body that never moves: its position has no rounding error.
    pub fixed: bool,
    /// Vertices whose end position has changed since they were last tested.
    pub fresh: Vec<bool>,
    /// Motion of a rigid body.
    pub pivot: Pivot,
    /// Boxes around the paths of the cells.
    pub tree: Option<SurfaceTree>,
}

impl GuardBody {
    pub fn new(stamp: Stamp, body: &Body) -> Self {
        let mut collider = Vec::new();
        let mut planes = Vec::new();
        let (cells, local, radii) = match body {
            Body::Nodes(nodes) => (cells_of(nodes), Vec::new(), solid_radii(nodes)),
            Body::Rigid(rigid) => {
                let cover = cover(rigid, &mut planes, &mut collider);
                let radii = cover.radii.iter().map(|&r| f64::from(r)).collect();
                let cells = Cells::new(cover.vertices.len(), &cover.triangles, &cover.segments);
                (cells, cover.vertices.iter().map(|&v| widen(v)).collect(), radii)
            }
        };
        let count = if local.is_empty() { radii.len() } else { local.len() };
        let boxes = vec![Bounds3 { min: Vec3::ZERO, max: Vec3::ZERO }; cells.corners.len()];
        let tree = (!boxes.is_empty()).then(|| {
            let at = |k: u32| if local.is_empty() { rest(body, k) } else { narrow(local[k as usize]) };
            SurfaceTree::new(cells.corners.iter().map(|c| around(c.map(at))).collect())
        });
        Self {
            stamp,
            cells,
            planes,
            collider,
            local,
            radii,
            start: vec![Wide3::ZERO; count],
            end: vec![Wide3::ZERO; count],
            travel: vec![0.0; count],
            fixed: false,
            fresh: vec![false; count],
            pivot: Pivot::still(),
            tree,
        }
    }

    /// True when it was made for this body and its present topology.
    pub fn is_of(&self, stamp: Stamp) -> bool {
        self.stamp == stamp
    }

    /// True for a body of nodes.
    pub fn is_nodes(&self) -> bool {
        self.local.is_empty() && self.planes.is_empty()
    }

    /// The path of a vertex.
    pub fn track(&self, vertex: u32) -> Track<'_> {
        let k = vertex as usize;
        match self.local.get(k) {
            Some(local) => Track::Arc(&self.pivot, *local),
            None => Track::Line(self.start[k], self.end[k] - self.start[k]),
        }
    }

    /// True when no vertex moves.
    pub fn is_still(&self) -> bool {
        if self.is_nodes() { self.travel.iter().all(|t| *t == 0.0) } else { self.pivot.is_still() }
    }

    /// Boxes around all positions of each cell, grown by `margin` [m].
    pub fn refit(&mut self, margin: Real) {
        let Self { cells, start, end, radii, local, pivot, tree, .. } = self;
        let Some(tree) = tree else { return };
        tree.refit(cells.corners.iter().map(|corners| {
            let mut bounds = around(corners.map(|k| narrow(start[k as usize])));
            let then = around(corners.map(|k| narrow(end[k as usize])));
            bounds = Bounds3 { min: bounds.min.min(then.min), max: bounds.max.max(then.max) };
            let extra = corners.iter().fold(0.0, |most: f64, &k| {
                let bulge = local.get(k as usize).map_or(0.0, |l| pivot.bulge(l.length()));
                most.max(radii[k as usize] + bulge)
            });
            // rounding of the boxes themselves
            let far = bounds.min.abs().max(bounds.max.abs()).max_element();
            bounds.grown(margin + extra as Real + 4.0 * Real::EPSILON * far)
        }));
    }
}

/// Triangles and segments of a surface; bare particles are points.
fn cells_of(nodes: &Nodes) -> Cells {
    if !nodes.cells.corners.is_empty() {
        return (*nodes.cells).clone();
    }
    let points: Vec<[u32; 2]> = (0..nodes.surface.len() as u32).map(|k| [k, k]).collect();
    Cells::new(nodes.surface.len(), &[], &points)
}

/// Bare particles are balls; of cloths and ropes the middle surface must not be crossed.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn solid_radii(nodes: &Nodes) -> Vec<f64> {
    let radius = if nodes.cells.corners.is_empty() { nodes.traits.radius.max(0.0) as f64 } else { 0.0 };
    vec![radius; nodes.surface.len()]
}

fn rest(body: &Body, k: u32) -> Vec3 {
    match body {
        Body::Nodes(nodes) => nodes.rest[k as usize],
        Body::Rigid(_) => Vec3::ZERO,
    }
}

/// The cells of all colliders that are not sensors, in the body's axes from its centre.
fn cover(rigid: &Rigid, planes: &mut Vec<GuardPlane>, collider: &mut Vec<u32>) -> Cover {
    // triangles come before segments among the cells
    let (mut whole, mut of_segments) = (Cover::default(), Vec::new());
    for (k, (built, spec)) in rigid.colliders.iter().zip(&rigid.source.colliders).enumerate() {
        if built.sensor {
            continue;
        }
        if let Shape::HalfSpace { normal } = &spec.shape {
            let normal = widen(built.place.rotation * normal.normalize_or_zero());
            planes.push(GuardPlane { collider: k as u32, normal, point: widen(built.place.position) });
        }
        whole.add(&spec.shape, Some(&built.geometry), &built.place);
        collider.resize(whole.triangles.len(), k as u32);
        of_segments.resize(whole.segments.len(), k as u32);
    }
    collider.extend(of_segments);
    whole
}

fn around([a, b, c]: [Vec3; 3]) -> Bounds3 {
    Bounds3 { min: a.min(b).min(c), max: a.max(b).max(c) }
}

/// The kinds of two features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// A vertex of a and a triangle of b.
    VertexFace,
    /// Two edges.
    EdgeEdge,
    /// A vertex of a and a plane of b, by its index.
    VertexPlane,
}

/// Two features that may collide within the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub a: u32,
    pub b: u32,
    pub kind: Meeting,
    /// Vertices: those of a, then those of b.
    pub corners: [u32; 4],
}

impl Near {
    /// How many of the corners belong to a.
    pub fn split(&self) -> usize {
        if self.kind == Meeting::EdgeEdge { 2 } else { 1 }
    }

    /// How many corners there are.
    pub fn count(&self) -> usize {
        if self.kind == Meeting::VertexPlane { 1 } else { 4 }
    }
}

/// A contact that stopped a node or body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuardHit {
    pub near: Near,
    /// From a to b.
    pub normal: Vec3,
    pub weights: [Real; 4],
    /// The point at which the impulse acts on both sides [m].
    pub at: Vec3,
}

/// Scratch of continuous collision detection.
#[derive(Debug, Default)]
pub(crate) struct GuardWork {
    /// Surfaces by slot; none for bodies that take part in no collision.
    pub bodies: Vec<Option<GuardBody>>,
    pub cell_pairs: Vec<(u32, u32)>,
    pub near: Vec<Near>,
    pub hits: Vec<GuardHit>,
    /// Time until which each block may move, in this round. (blocks)
    pub cut: Vec<f64>,
    /// Bodies with a shortened motion in this round. (slots)
    pub cut_bodies: Vec<bool>,
    /// Rows of the pairs that were stopped, and the terms of the one that is being written.
    pub rows: RowBuffer,
    pub terms: Vec<Term>,
    /// Number of distance evaluations in this step.
    pub looks: usize,
    /// Bodies that keep their initial positions because the limit of evaluations was exceeded. (slots)
    pub unseen: Vec<bool>,
}
