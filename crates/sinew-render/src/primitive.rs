//! Primitives of the ray tracer: triangles, spheres, capsules.

use sinew::{Real, Vec3};

/// A ray with a unit direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub origin: Vec3,
    pub direction: Vec3,
}

impl Ray {
    pub fn at(&self, distance: Real) -> Vec3 {
        self.origin + self.direction * distance
    }
}

/// A bounded primitive in world coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Primitive {
    /// A corner, two edges from it and the vertex normals.
    Triangle {
        corner: Vec3,
        edges: [Vec3; 2],
        normals: [Vec3; 3],
    },
    Ball {
        center: Vec3,
        radius: Real,
    },
    Capsule {
        a: Vec3,
        b: Vec3,
        radius: Real,
    },
}

/// Intersection of a ray with a primitive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub distance: Real,
    /// Shading normal: interpolated over a triangle, on the side of the ray origin.
    pub normal: Vec3,
}

impl Primitive {
    /// Minimum and maximum corner of its bounding box.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        match *self {
            Primitive::Triangle { corner, edges: [e, g], .. } => {
                let (b, c) = (corner + e, corner + g);
                (corner.min(b).min(c), corner.max(b).max(c))
            }
            Primitive::Ball { center, radius } => (center - Vec3::splat(radius), center + Vec3::splat(radius)),
            Primitive::Capsule { a, b, radius } => (a.min(b) - Vec3::splat(radius), a.max(b) + Vec3::splat(radius)),
        }
    }

    /// The first intersection at a distance between 0 and `limit`.
    pub fn meet(&self, ray: &Ray, limit: Real) -> Option<Meeting> {
        match *self {
            Primitive::Triangle { corner, edges, normals } => triangle(ray, corner, edges, normals, limit),
            Primitive::Ball { center, radius } => ball(ray, center, radius, limit),
            Primitive::Capsule { a, b, radius } => capsule(ray, [a, b], radius, limit),
        }
    }
}

/// o + t d = corner + u e + v g, by Cramer's rule.
fn triangle(ray: &Ray, corner: Vec3, [e, g]: [Vec3; 2], normals: [Vec3; 3], limit: Real) -> Option<Meeting> {
    let p = ray.direction.cross(g);
    let det = e.dot(p);
    if det == 0.0 {
        return None;
    }
    let s = ray.origin - corner;
    let u = s.dot(p) / det;
    let q = s.cross(e);
    let v = ray.direction.dot(q) / det;
    let distance = g.dot(q) / det;
    if u < 0.0 || v < 0.0 || u + v > 1.0 || !(distance > 0.0 && distance < limit) {
        return None;
    }
    let flat = e.cross(g);
    let side = if flat.dot(ray.direction) > 0.0 { -1.0 } else { 1.0 };
    let blend = normals[0] * (1.0 - u - v) + normals[1] * u + normals[2] * v;
    let normal = blend.try_normalize().unwrap_or_else(|| flat.normalize_or_zero()) * side;
    // an interpolated normal may point away from the eye near a silhouette: it is then rotated until it is
    // perpendicular to the ray
    let away = normal.dot(ray.direction).max(0.0);
    Some(Meeting { distance, normal: (normal - ray.direction * away).normalize_or_zero() })
}

fn ball(ray: &Ray, center: Vec3, radius: Real, limit: Real) -> Option<Meeting> {
    let s = ray.origin - center;
    let b = s.dot(ray.direction);
    // the component of s perpendicular to the ray: avoids the difference of large squares
    let across = s - ray.direction * b;
    let root = radius * radius - across.length_squared();
    if root < 0.0 {
        return None;
    }
    let distance = -b - root.sqrt();
    (distance > 0.0 && distance < limit)
        .then(|| Meeting { distance, normal: (ray.at(distance) - center).normalize_or_zero() })
}

/// The lateral surface of the infinite cylinder between the ends, else the sphere at an end.
fn capsule(ray: &Ray, [a, b]: [Vec3; 2], radius: Real, limit: Real) -> Option<Meeting> {
    let length = (b - a).length();
    if length > 0.0 {
        let axis = (b - a) / length;
        let (s, d) = (ray.origin - a, ray.direction);
        let (s, d) = (s - axis * s.dot(axis), d - axis * d.dot(axis));
        let speed = d.length_squared();
        let nearest = -s.dot(d) / speed.max(Real::MIN_POSITIVE);
        let root = radius * radius - (s + d * nearest).length_squared();
        if root < 0.0 {
            return None;
        }
        if speed > 0.0 {
            let distance = nearest - (root / speed).sqrt();
            let height = (ray.at(distance) - a).dot(axis);
            if (0.0..=length).contains(&height) {
                return (distance > 0.0 && distance < limit)
                    .then(|| Meeting { distance, normal: (ray.at(distance) - a - axis * height).normalize_or_zero() });
            }
        }
    }
    let ends = [a, b].map(|end| ball(ray, end, radius, limit));
    ends.into_iter().flatten().min_by(|x, y| x.distance.total_cmp(&y.distance))
}
