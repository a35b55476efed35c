//! Builds solids of the library from shapes of this crate, after checking every number.

use super::{lib, lib_pose};
use crate::error::{Error, positive};
use crate::math::{Pose, Real, Vec3};
use crate::model::Shape;
use lib::shape::{SharedShape, TriMeshFlags};

/// Points that represent a shape against a distance field: ball centres, corners, rim points.
pub(super) fn probe_points(shape: &Shape, place: &Pose, out: &mut Vec<(Vec3, Real)>) {
    const RIM: usize = 16;
    let mut rim = |y: Real, radius: Real| {
        for k in 0..RIM {
            let angle = k as Real * (std::f64::consts::TAU as Real / RIM as Real);
            out.push((place.point(Vec3::new(radius * angle.cos(), y, radius * angle.sin())), 0.0));
        }
    };
    match shape {
        Shape::Ball { radius } => out.push((place.position, *radius)),
        Shape::Box { half_extents: e } => {
            for k in 0..8 {
                let sign = |bit: usize| if k & bit == 0 { -1.0 } else { 1.0 };
                out.push((place.point(Vec3::new(sign(1) * e.x, sign(2) * e.y, sign(4) * e.z)), 0.0));
            }
        }
        Shape::Capsule { half_height, radius } => {
            for y in [-half_height, *half_height] {
                out.push((place.point(Vec3::Y * y), *radius));
            }
        }
        Shape::Cylinder { half_height, radius } => {
            rim(-half_height, *radius);
            rim(*half_height, *radius);
        }
        Shape::Cone { half_height, radius } => {
            rim(-half_height, *radius);
            out.push((place.point(Vec3::Y * *half_height), 0.0));
        }
        Shape::ConvexHull { points } => out.extend(points.iter().map(|&p| (place.point(p), 0.0))),
        Shape::TriMesh { vertices, .. } => out.extend(vertices.iter().map(|&p| (place.point(p), 0.0))),
        Shape::Voxels { size, cells } => {
            // corners of the cells, each once
            let mut corners: Vec<[i32; 3]> = cells
                .iter()
                .flat_map(|c| (0..8).map(move |k| [c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2)]))
                .collect();
            corners.sort_unstable();
            corners.dedup();
            let at = |c: &[i32; 3]| Vec3::new(c[0] as Real, c[1] as Real, c[2] as Real) * *size;
            out.extend(corners.iter().map(|c| (place.point(at(c)), 0.0)));
        }
        Shape::Compound { parts } => {
            for (inner, part) in parts.iter() {
                probe_points(part, &place.then_inner(inner), out);
            }
        }
        _ => {}
    }
}

pub(super) fn bad(who: &str, shape: &Shape, reason: impl Into<String>) -> Error {
    Error::BadShape { shape: format!("{who} ({})", shape.name()), reason: reason.into() }
}

/// Builds a solid of the library after checking every number.
pub(super) fn solid(shape: &Shape, who: &str, depth: usize) -> Result<SharedShape, Error> {
    let at_least = |what: &str, v: Real| positive(&format!("{who}.{what}"), v);
    Ok(match shape {
        Shape::Ball { radius } => {
            at_least("radius", *radius)?;
            SharedShape::ball(*radius)
        }
        Shape::Box { half_extents: e } => {
            for (name, v) in ["x", "y", "z"].iter().zip(e.to_array()) {
                at_least(&format!("half_extents.{name}"), v)?;
            }
            SharedShape::cuboid(e.x, e.y, e.z)
        }
        Shape::Capsule { half_height, radius } => {
            at_least("half_height", *half_height)?;
            at_least("radius", *radius)?;
            SharedShape::capsule_y(*half_height, *radius)
        }
        Shape::Cylinder { half_height, radius } => {
            at_least("half_height", *half_height)?;
            at_least("radius", *radius)?;
            SharedShape::cylinder(*half_height, *radius)
        }
        Shape::Cone { half_height, radius } => {
            at_least("half_height", *half_height)?;
            at_least("radius", *radius)?;
            SharedShape::cone(*half_height, *radius)
        }
        Shape::HalfSpace { normal } => {
            let n = normal.try_normalize().ok_or_else(|| bad(who, shape, "its normal has no direction"))?;
            SharedShape::halfspace(n)
        }
        Shape::ConvexHull { points } => {
            check_points(points, who, shape)?;
            SharedShape::convex_hull(points).ok_or_else(|| bad(who, shape, "the points do not span a volume"))?
        }
        Shape::Compound { parts } => {
            if parts.is_empty() || depth >= 4 {
                return Err(bad(who, shape, "it needs 1 or more parts, nested at most 4 deep"));
            }
            let mut built = Vec::new();
            for (i, (place, part)) in parts.iter().enumerate() {
                if !place.is_finite() {
                    return Err(bad(who, shape, format!("the pose of part {i} is not finite")));
                }
                if matches!(part, Shape::Compound { .. } | Shape::TriMesh { .. } | Shape::HeightField { .. })
                    || matches!(part, Shape::Voxels { .. } | Shape::HalfSpace { .. } | Shape::Sdf(_))
                {
                    let reason = format!("part {i} is a {}, a compound holds convex parts only", part.name());
                    return Err(bad(who, shape, reason));
                }
                let inner = solid(part, &format!("{who}.parts[{i}]"), depth + 1)?;
                built.push((lib_pose(&Pose::new(place.position, place.rotation.normalize())), inner));
            }
            SharedShape::compound(built)
        }
        Shape::TriMesh { vertices, triangles } => {
            check_points(vertices, who, shape)?;
            check_triangles(vertices.len(), triangles, who, shape)?;
            let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
            SharedShape::trimesh_with_flags(vertices.to_vec(), triangles.to_vec(), flags)
                .map_err(|e| bad(who, shape, format!("{e}")))?
        }
        Shape::HeightField { heights, rows, scale } => {
            let rows = *rows;
            if rows < 2 || heights.len() < 2 * rows || !heights.len().is_multiple_of(rows) {
                let reason = format!("{} heights do not fill {rows} rows of at least 2", heights.len());
                return Err(bad(who, shape, reason));
            }
            if let Some(i) = heights.iter().position(|h| !h.is_finite()) {
                return Err(bad(who, shape, format!("height {i} is not finite")));
            }
            if !(scale.min_element() > 0.0) || !scale.is_finite() {
                return Err(bad(who, shape, "its scale must be above 0"));
            }
            let columns = heights.len() / rows;
            // here the data are row by row along z; the library expects column-major order with z down the columns
            let mut data = Vec::with_capacity(heights.len());
            for x in 0..columns {
                for z in 0..rows {
                    data.push(heights[z * columns + x]);
                }
            }
            SharedShape::heightfield(lib::utils::Array2::new(rows, columns, data), *scale)
        }
        Shape::Voxels { size, cells } => {
            if !(size.min_element() > 0.0) || !size.is_finite() || cells.is_empty() {
                return Err(bad(who, shape, "it needs a cell size above 0 and at least one cell"));
            }
            if cells.iter().flatten().any(|c| c.unsigned_abs() > 1 << 20) {
                return Err(bad(who, shape, "a cell is farther than 2^20 from the origin"));
            }
            #[allow(clippy::useless_conversion, reason = "cells are i64 in the f64 build")]
            let cells: Vec<_> =
                cells.iter().map(|c| lib::math::IVector::new(c[0].into(), c[1].into(), c[2].into())).collect();
            SharedShape::voxels(*size, &cells)
        }
        Shape::Sdf(_) => return Err(bad(who, shape, "cannot be part of another shape")),
    })
}

fn check_points(points: &[Vec3], who: &str, shape: &Shape) -> Result<(), Error> {
    if points.len() < 3 {
        return Err(bad(who, shape, format!("{} points are too few", points.len())));
    }
    match points.iter().position(|p| !p.is_finite()) {
        Some(i) => Err(bad(who, shape, format!("point {i} is not finite"))),
        None => Ok(()),
    }
}

fn check_triangles(count: usize, triangles: &[[u32; 3]], who: &str, shape: &Shape) -> Result<(), Error> {
    if triangles.is_empty() {
        return Err(bad(who, shape, "it has no triangles"));
    }
    for (i, t) in triangles.iter().enumerate() {
        if let Some(v) = t.iter().find(|&&v| v as usize >= count) {
            return Err(bad(who, shape, format!("triangle {i} names vertex {v}, but there are {count}")));
        }
        if t[0] == t[1] || t[1] == t[2] || t[0] == t[2] {
            return Err(bad(who, shape, format!("triangle {i} uses a vertex twice")));
        }
    }
    Ok(())
}
