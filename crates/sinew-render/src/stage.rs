//! A world prepared for ray tracing: a tree of all bounded primitives, planes and signed distance functions beside it,
//! and colours.

use crate::figure::{Figure, Look, Solid, Triangles};
use crate::image::linear;
use crate::primitive::{Meeting, Primitive, Ray};
use crate::tree::Tree;
use sinew::{Pose, Real, Sdf, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Colours of non-fixed bodies, assigned in turn (sRGB).
const PALETTE: [u32; 8] = [0xe4593a, 0x1f9e9a, 0xf2b632, 0x3d7dc4, 0x7fae45, 0xb0507f, 0xf08a3c, 0x6a6fb5];
const FIXED: u32 = 0xa9a49c;
const FLOOR: u32 = 0xb4babe;
const RODS: u32 = 0x4a5058;

/// Cosine of the crease angle: triangles that meet at a smaller angle are shaded as one smooth surface.
const CREASE: Real = 0.75;

/// Maximum number of sphere tracing steps along a ray.
const MARCH: usize = 128;

/// Appearance of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    /// Albedo, linear RGB.
    pub colour: Vec3,
    pub soft: bool,
    /// True for the floor: drawn with grid lines, fading with distance.
    pub floor: bool,
}

/// Intersection of a ray with a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub distance: Real,
    pub normal: Vec3,
    pub paint: Paint,
}

pub(crate) struct Stage {
    tree: Tree,
    planes: Vec<(Vec3, Vec3, u32)>,
    fields: Vec<(Pose, Arc<Sdf>, u32)>,
    paints: Vec<Paint>,
}

impl Stage {
    pub fn new(figures: &[Figure]) -> Self {
        let mut items = Vec::new();
        let (mut planes, mut fields, mut paints) = (Vec::new(), Vec::new(), Vec::new());
        let mut moving = 0;
        for figure in figures {
            let number = paints.len() as u32;
            let endless = figure.solids.iter().any(|s| matches!(s, Solid::Plane { .. } | Solid::Field { .. }));
            paints.push(paint(figure.look, endless, &mut moving));
            for solid in &figure.solids {
                match solid {
                    Solid::Plane { point, normal } => {
                        planes.push((figure.pose.point(*point), figure.pose.rotation * *normal, number));
                    }
                    Solid::Field { pose, sdf } => fields.push((figure.pose.then_inner(pose), sdf.clone(), number)),
                    bounded => add(bounded, &figure.pose, |p| items.push((p, number))),
                }
            }
        }
        Self { tree: Tree::new(items), planes, fields, paints }
    }

    /// The first intersection along a ray.
    pub fn first(&self, ray: &Ray, limit: Real) -> Option<Hit> {
        let mut best: Option<(Meeting, u32)> = self.tree.first(ray, limit);
        let bar = |best: &Option<(Meeting, u32)>| best.map_or(limit, |(m, _)| m.distance);
        for &(point, normal, number) in &self.planes {
            // one-sided: a wall between the eye and the bodies is not drawn
            let fall = -ray.direction.dot(normal);
            let distance = (ray.origin - point).dot(normal) / fall.max(Real::MIN_POSITIVE);
            if fall > 0.0 && distance > 0.0 && distance < bar(&best) {
                best = Some((Meeting { distance, normal }, number));
            }
        }
        for (pose, sdf, number) in &self.fields {
            if let Some(meeting) = march(ray, pose, sdf, bar(&best)) {
                best = Some((meeting, *number));
            }
        }
        best.map(|(m, number)| Hit { distance: m.distance, normal: m.normal, paint: self.paints[number as usize] })
    }

    /// Whether the line of sight from an eye to its target is occluded by the ground.
    pub fn hides(&self, eye: Vec3, target: Vec3) -> bool {
        let inside = |(pose, sdf, _): &(Pose, Arc<Sdf>, u32)| sdf.contains(pose.unpoint(eye));
        let way = target - eye;
        let ray = Ray { origin: eye, direction: way.normalize_or_zero() };
        self.fields.iter().any(inside) || self.blocked(&ray, 0.97 * way.length())
    }

    /// Whether a shadow ray is blocked; planes cast no shadow.
    pub fn blocked(&self, ray: &Ray, limit: Real) -> bool {
        self.tree.any(ray, limit) || self.fields.iter().any(|(pose, sdf, _)| march(ray, pose, sdf, limit).is_some())
    }
}

fn paint(look: Look, endless: bool, moving: &mut usize) -> Paint {
    let colour = match look {
        Look::Stage if endless => FLOOR,
        Look::Stage => FIXED,
        Look::Rods => RODS,
        Look::Rigid | Look::Soft | Look::Particles => {
            *moving += 1;
            PALETTE[(*moving - 1) % PALETTE.len()]
        }
    };
    Paint { colour: linear(colour), soft: look == Look::Soft, floor: look == Look::Stage && endless }
}

/// The primitives of a bounded solid in world coordinates.
fn add(solid: &Solid, pose: &Pose, mut out: impl FnMut(Primitive)) {
    match solid {
        Solid::Ball { center, radius } => out(Primitive::Ball { center: pose.point(*center), radius: *radius }),
        Solid::Capsule { a, b, radius } => {
            out(Primitive::Capsule { a: pose.point(*a), b: pose.point(*b), radius: *radius });
        }
        Solid::Mesh(mesh) => add_triangles(&mesh.clone().moved(pose), out),
        Solid::Plane { .. } | Solid::Field { .. } => {}
    }
}

/// Triangles with vertex normals: the mean over adjacent triangles that are not separated by a crease.
fn add_triangles(mesh: &Triangles, mut out: impl FnMut(Primitive)) {
    // vertices at the same position count as one, whatever their indices
    let mut places: BTreeMap<[u64; 3], usize> = BTreeMap::new();
    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
    let key = |v: Vec3| v.to_array().map(|x| (x as f64 + 0.0).to_bits());
    let mut merged = Vec::with_capacity(mesh.vertices.len());
    for v in &mesh.vertices {
        let next = places.len();
        merged.push(*places.entry(key(*v)).or_insert(next));
    }
    let corners = |t: &[u32; 3]| t.map(|k| mesh.vertices[k as usize]);
    let areas: Vec<Vec3> = mesh
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = corners(t);
            (b - a).cross(c - a)
        })
        .collect();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); places.len()];
    for (k, t) in mesh.triangles.iter().enumerate() {
        t.iter().for_each(|&v| around[merged[v as usize]].push(k as u32));
    }
    for (k, t) in mesh.triangles.iter().enumerate() {
        let Some(own) = areas[k].try_normalize() else { continue };
        let normal = |v: u32| {
            let near = around[merged[v as usize]].iter().map(|&j| areas[j as usize]);
            near.filter(|n| n.dot(own) >= CREASE * n.length()).sum::<Vec3>().normalize_or_zero()
        };
        let [a, b, c] = corners(t);
        out(Primitive::Triangle { corner: a, edges: [b - a, c - a], normals: t.map(normal) });
    }
}

/// Sphere tracing: the distance at a point is a safe step length from there.
fn march(ray: &Ray, pose: &Pose, sdf: &Sdf, limit: Real) -> Option<Meeting> {
    let mut along = 0.0;
    for _ in 0..MARCH {
        let sample = sdf.sample(pose.unpoint(ray.at(along)));
        // tolerance: as small as the precision of the reals allows at this distance
        let near = 2e-6 * (1.0 + ray.origin.length() + along);
        if sample.distance < near {
            // a ray that starts on the surface and leaves it has no intersection
            let normal = pose.rotation * sample.normal;
            if normal.dot(ray.direction) < 0.0 {
                return Some(Meeting { distance: along, normal });
            }
        }
        along += sample.distance.abs().max(10.0 * near);
        if along >= limit {
            return None;
        }
    }
    None
}
