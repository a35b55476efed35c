//! Shapes and signed distance functions. Trees lie flat, parents before children: decoding needs no recursion, and the
//! depth is known before the stack is used.

use super::{PoseForm, V3, pose, pose_form, vectors, vectors_form};
use serde::{Deserialize, Serialize};
use sinew::{Real, Sdf, Shape, Vec3};
use std::vec::IntoIter;

/// How deep shapes and distance functions may be nested in a file. The core allows less.
const DEPTH: usize = 16;

/// A [`Shape`]: itself, and the parts of compounds in order.
#[derive(Serialize, Deserialize)]
pub(crate) struct ShapeForm(Vec<ShapeNode>);

/// One shape; a compound only has the places of its parts.
#[derive(Serialize, Deserialize)]
enum ShapeNode {
    Ball { radius: Real },
    Box { half_extents: V3 },
    Capsule { half_height: Real, radius: Real },
    Cylinder { half_height: Real, radius: Real },
    Cone { half_height: Real, radius: Real },
    HalfSpace { normal: V3 },
    ConvexHull { points: Vec<V3> },
    Compound { places: Vec<PoseForm> },
    TriMesh { vertices: Vec<V3>, triangles: Vec<[u32; 3]> },
    HeightField { heights: Vec<Real>, rows: u64, scale: V3 },
    Voxels { size: V3, cells: Vec<[i32; 3]> },
    Sdf { nodes: Vec<SdfNode> },
}

/// One distance function; lists only have the number of their parts.
#[derive(Serialize, Deserialize)]
enum SdfNode {
    Plane { point: V3, normal: V3 },
    Sphere { center: V3, radius: Real },
    Cylinder { point: V3, axis: V3, radius: Real },
    Box { half_extents: V3 },
    Intersection { parts: u32 },
    Union { parts: u32 },
    Complement,
    Placed { pose: PoseForm },
}

/// Voxels farther from the origin of their grid than this are no shape but damage: differences of cells run over.
const CELLS: i32 = 1 << 20;

fn too_deep() -> String {
    format!("shapes nested deeper than {DEPTH}")
}

impl ShapeForm {
    pub fn of(shape: &Shape) -> Result<Self, String> {
        let mut nodes = Vec::with_capacity(1);
        flatten(shape, 0, &mut nodes)?;
        Ok(Self(nodes))
    }

    pub fn build(self) -> Result<Shape, String> {
        let mut nodes = self.0.into_iter();
        let shape = unfold(&mut nodes, 0)?;
        match nodes.len() {
            0 => Ok(shape),
            n => Err(format!("{n} shapes belong to no compound")),
        }
    }
}

fn flatten(shape: &Shape, depth: usize, out: &mut Vec<ShapeNode>) -> Result<(), String> {
    if depth >= DEPTH {
        return Err(too_deep());
    }
    out.push(match shape {
        &Shape::Ball { radius } => ShapeNode::Ball { radius },
        Shape::Box { half_extents } => ShapeNode::Box { half_extents: half_extents.to_array() },
        &Shape::Capsule { half_height, radius } => ShapeNode::Capsule { half_height, radius },
        &Shape::Cylinder { half_height, radius } => ShapeNode::Cylinder { half_height, radius },
        &Shape::Cone { half_height, radius } => ShapeNode::Cone { half_height, radius },
        Shape::HalfSpace { normal } => ShapeNode::HalfSpace { normal: normal.to_array() },
        Shape::ConvexHull { points } => ShapeNode::ConvexHull { points: vectors_form(points) },
        Shape::Compound { parts } => {
            out.push(ShapeNode::Compound { places: parts.iter().map(|(place, _)| pose_form(place)).collect() });
            return parts.iter().try_for_each(|(_, part)| flatten(part, depth + 1, out));
        }
        Shape::TriMesh { vertices, triangles } => {
            ShapeNode::TriMesh { vertices: vectors_form(vertices), triangles: triangles.to_vec() }
        }
        Shape::HeightField { heights, rows, scale } => {
            ShapeNode::HeightField { heights: heights.to_vec(), rows: *rows as u64, scale: scale.to_array() }
        }
        Shape::Voxels { size, cells } => ShapeNode::Voxels { size: size.to_array(), cells: cells.to_vec() },
        Shape::Sdf(sdf) => {
            let mut nodes = Vec::new();
            flatten_sdf(sdf, 0, &mut nodes)?;
            ShapeNode::Sdf { nodes }
        }
        other => return Err(format!("a {} has no form in this format", other.name())),
    });
    Ok(())
}

fn unfold(nodes: &mut IntoIter<ShapeNode>, depth: usize) -> Result<Shape, String> {
    if depth >= DEPTH {
        return Err(too_deep());
    }
    let node = nodes.next().ok_or("a shape is missing")?;
    Ok(match node {
        ShapeNode::Ball { radius } => Shape::Ball { radius },
        ShapeNode::Box { half_extents } => Shape::Box { half_extents: Vec3::from_array(half_extents) },
        ShapeNode::Capsule { half_height, radius } => Shape::Capsule { half_height, radius },
        ShapeNode::Cylinder { half_height, radius } => Shape::Cylinder { half_height, radius },
        ShapeNode::Cone { half_height, radius } => Shape::Cone { half_height, radius },
        ShapeNode::HalfSpace { normal } => Shape::HalfSpace { normal: Vec3::from_array(normal) },
        ShapeNode::ConvexHull { points } => Shape::ConvexHull { points: vectors(points) },
        ShapeNode::Compound { places } => {
            let parts: Result<_, String> =
                places.into_iter().map(|place| Ok((pose(place), unfold(nodes, depth + 1)?))).collect();
            Shape::Compound { parts: parts? }
        }
        ShapeNode::TriMesh { vertices, triangles } => {
            Shape::TriMesh { vertices: vectors(vertices), triangles: triangles.into() }
        }
        ShapeNode::HeightField { heights, rows, scale } => Shape::HeightField {
            heights: heights.into(),
            rows: usize::try_from(rows).map_err(|_| format!("a height field of {rows} rows"))?,
            scale: Vec3::from_array(scale),
        },
        ShapeNode::Voxels { size, cells } => {
            if let Some(far) = cells.iter().find(|c| c.iter().any(|i| !(-CELLS..=CELLS).contains(i))) {
                return Err(format!("voxel {far:?} is farther than {CELLS} cells from the origin"));
            }
            Shape::Voxels { size: Vec3::from_array(size), cells: cells.into() }
        }
        ShapeNode::Sdf { nodes } => {
            let mut nodes = nodes.into_iter();
            let sdf = unfold_sdf(&mut nodes, 0)?;
            if nodes.len() > 0 {
                return Err(format!("{} distance functions belong to no list", nodes.len()));
            }
            Shape::sdf(sdf)
        }
    })
}

fn flatten_sdf(sdf: &Sdf, depth: usize, out: &mut Vec<SdfNode>) -> Result<(), String> {
    if depth >= DEPTH {
        return Err(too_deep());
    }
    let (node, children): (_, &[Sdf]) = match sdf {
        Sdf::Plane { point, normal } => (SdfNode::Plane { point: point.to_array(), normal: normal.to_array() }, &[]),
        &Sdf::Sphere { center, radius } => (SdfNode::Sphere { center: center.to_array(), radius }, &[]),
        &Sdf::Cylinder { point, axis, radius } => {
            (SdfNode::Cylinder { point: point.to_array(), axis: axis.to_array(), radius }, &[])
        }
        Sdf::Box { half_extents } => (SdfNode::Box { half_extents: half_extents.to_array() }, &[]),
        Sdf::Intersection(parts) => (SdfNode::Intersection { parts: parts.len() as u32 }, parts),
        Sdf::Union(parts) => (SdfNode::Union { parts: parts.len() as u32 }, parts),
        Sdf::Complement(inner) => (SdfNode::Complement, std::slice::from_ref(inner)),
        Sdf::Placed { pose, inner } => (SdfNode::Placed { pose: pose_form(pose) }, std::slice::from_ref(inner)),
    };
    out.push(node);
    children.iter().try_for_each(|child| flatten_sdf(child, depth + 1, out))
}

fn unfold_sdf(nodes: &mut IntoIter<SdfNode>, depth: usize) -> Result<Sdf, String> {
    if depth >= DEPTH {
        return Err(too_deep());
    }
    let node = nodes.next().ok_or("a distance function is missing")?;
    // a count beyond what is left ends the collection at once: nothing is reserved for it
    let mut list =
        |parts: u32| -> Result<Vec<Sdf>, String> { (0..parts).map(|_| unfold_sdf(nodes, depth + 1)).collect() };
    Ok(match node {
        SdfNode::Plane { point, normal } => Sdf::plane(Vec3::from_array(point), Vec3::from_array(normal)),
        SdfNode::Sphere { center, radius } => Sdf::sphere(Vec3::from_array(center), radius),
        SdfNode::Cylinder { point, axis, radius } => {
            Sdf::cylinder(Vec3::from_array(point), Vec3::from_array(axis), radius)
        }
        SdfNode::Box { half_extents } => Sdf::cuboid(Vec3::from_array(half_extents)),
        SdfNode::Intersection { parts } => Sdf::Intersection(list(parts)?),
        SdfNode::Union { parts } => Sdf::Union(list(parts)?),
        SdfNode::Complement => unfold_sdf(nodes, depth + 1)?.complement(),
        SdfNode::Placed { pose: place } => unfold_sdf(nodes, depth + 1)?.placed(pose(place)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::{Pose, Quat};

    fn there_and_back(shape: &Shape) -> Result<Shape, String> {
        let bytes = postcard::to_stdvec(&ShapeForm::of(shape)?).map_err(|e| e.to_string())?;
        postcard::from_bytes::<ShapeForm>(&bytes).map_err(|e| e.to_string())?.build()
    }

    #[test]
    fn every_shape_comes_back() {
        let place = Pose::new(Vec3::new(0.1, 0.2, 0.3), Quat::from_rotation_y(0.4));
        let corners: Vec<Vec3> = (0..8).map(|i| Vec3::new((i & 1) as _, (i >> 1 & 1) as _, (i >> 2) as _)).collect();
        let field = Sdf::union([
            Sdf::intersection([Sdf::cuboid(Vec3::ONE).placed(place), Sdf::plane(Vec3::ZERO, Vec3::Y)]),
            Sdf::cylinder(Vec3::X, Vec3::Z, 0.25),
            Sdf::bowl(Vec3::Y, 2.0),
        ]);
        let shapes = [
            Shape::ball(0.5),
            Shape::cuboid(1.0, 2.0, 3.0),
            Shape::capsule(0.5, 0.25),
            Shape::cylinder(0.5, 0.25),
            Shape::cone(0.5, 0.25),
            Shape::half_space(Vec3::new(0.0, 1.0, 1.0)),
            Shape::convex_hull(corners.clone()),
            Shape::compound(vec![
                (place, Shape::ball(0.1)),
                (Pose::IDENTITY, Shape::compound(vec![(place, Shape::cone(0.2, 0.3))])),
                (Pose::IDENTITY, Shape::cuboid(0.1, 0.1, 0.1)),
            ]),
            Shape::tri_mesh(corners, vec![[0, 1, 2], [1, 3, 2]]),
            Shape::HeightField { heights: vec![0.0, 0.5, -0.5, 1.0].into(), rows: 2, scale: Vec3::ONE },
            Shape::Voxels { size: Vec3::splat(0.1), cells: vec![[0, 0, 0], [-1, 2, CELLS]].into() },
            Shape::sdf(field),
        ];
        for shape in shapes {
            assert_eq!(there_and_back(&shape), Ok(shape.clone()), "{}", shape.name());
        }
    }

    #[test]
    fn depth_is_limited_both_ways() {
        let deep = |n: usize| (0..n).fold(Sdf::sphere(Vec3::ZERO, 1.0), |inner, _| inner.complement());
        assert!(there_and_back(&Shape::sdf(deep(DEPTH - 1))).is_ok());
        assert!(ShapeForm::of(&Shape::sdf(deep(DEPTH))).is_err());
        let endless = ShapeForm(vec![ShapeNode::Sdf { nodes: (0..1_000_000).map(|_| SdfNode::Complement).collect() }]);
        assert!(endless.build().unwrap_err().contains("deeper"));
        let places = || vec![pose_form(&Pose::IDENTITY)];
        let endless = ShapeForm((0..1_000_000).map(|_| ShapeNode::Compound { places: places() }).collect());
        assert!(endless.build().unwrap_err().contains("deeper"));
    }

    #[test]
    fn counts_that_do_not_add_up_are_refused() {
        let sphere = || SdfNode::Sphere { center: [0.0; 3], radius: 1.0 };
        let short = ShapeForm(vec![ShapeNode::Sdf { nodes: vec![SdfNode::Union { parts: u32::MAX }, sphere()] }]);
        assert!(short.build().is_err());
        let long = ShapeForm(vec![ShapeNode::Sdf { nodes: vec![sphere(), sphere()] }]);
        assert!(long.build().is_err());
        let long = ShapeForm(vec![ShapeNode::Ball { radius: 1.0 }, ShapeNode::Ball { radius: 1.0 }]);
        assert!(long.build().is_err());
        assert!(ShapeForm(vec![]).build().is_err());
        let far = ShapeForm(vec![ShapeNode::Voxels { size: [1.0; 3], cells: vec![[i32::MIN; 3], [i32::MAX; 3]] }]);
        assert!(far.build().is_err());
    }
}
