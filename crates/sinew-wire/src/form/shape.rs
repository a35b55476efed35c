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

/// One shape; a compound only has the places of its parts. What is large is boxed: a file may hold a million empty
/// compounds in two bytes each, and they shall not take 56 in memory.
#[derive(Serialize, Deserialize)]
enum ShapeNode {
    /// Radius.
    Ball(Real),
    /// Half extents.
    Box(Box<V3>),
    /// Half height, radius.
    Capsule(Real, Real),
    /// Half height, radius.
    Cylinder(Real, Real),
    /// Half height, radius.
    Cone(Real, Real),
    /// Normal.
    HalfSpace(Box<V3>),
    /// Points.
    ConvexHull(Box<[V3]>),
    /// Places of the parts.
    Compound(Box<[PoseForm]>),
    /// Vertices, triangles.
    TriMesh(Box<(Vec<V3>, Vec<[u32; 3]>)>),
    /// Heights, rows, scale.
    HeightField(Box<(Vec<Real>, u64, V3)>),
    /// Size, cells.
    Voxels(Box<(V3, Vec<[i32; 3]>)>),
    /// A tree of its own.
    Sdf(Box<[SdfNode]>),
}

/// One distance function; lists only have the number of their parts.
#[derive(Serialize, Deserialize)]
enum SdfNode {
    /// Point, normal.
    Plane(Box<(V3, V3)>),
    /// Centre, radius.
    Sphere(Box<(V3, Real)>),
    /// Point, axis, radius.
    Cylinder(Box<(V3, V3, Real)>),
    /// Half extents.
    Box(Box<V3>),
    /// Number of parts.
    Intersection(u32),
    /// Number of parts.
    Union(u32),
    Complement,
    /// From the inner frame to the outer one.
    Placed(Box<PoseForm>),
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
        Shape::Ball { radius } => ShapeNode::Ball(*radius),
        Shape::Box { half_extents } => ShapeNode::Box(Box::new(half_extents.to_array())),
        Shape::Capsule { half_height, radius } => ShapeNode::Capsule(*half_height, *radius),
        Shape::Cylinder { half_height, radius } => ShapeNode::Cylinder(*half_height, *radius),
        Shape::Cone { half_height, radius } => ShapeNode::Cone(*half_height, *radius),
        Shape::HalfSpace { normal } => ShapeNode::HalfSpace(Box::new(normal.to_array())),
        Shape::ConvexHull { points } => ShapeNode::ConvexHull(vectors_form(points).into()),
        Shape::Compound { parts } => {
            out.push(ShapeNode::Compound(parts.iter().map(|(place, _)| pose_form(place)).collect()));
            return parts.iter().try_for_each(|(_, part)| flatten(part, depth + 1, out));
        }
        Shape::TriMesh { vertices, triangles } => {
            ShapeNode::TriMesh(Box::new((vectors_form(vertices), triangles.to_vec())))
        }
        Shape::HeightField { heights, rows, scale } => {
            ShapeNode::HeightField(Box::new((heights.to_vec(), *rows as u64, scale.to_array())))
        }
        Shape::Voxels { size, cells } => ShapeNode::Voxels(Box::new((size.to_array(), cells.to_vec()))),
        Shape::Sdf(sdf) => {
            let mut nodes = Vec::new();
            flatten_sdf(sdf, 0, &mut nodes)?;
            ShapeNode::Sdf(nodes.into())
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
        ShapeNode::Ball(radius) => Shape::Ball { radius },
        ShapeNode::Box(half_extents) => Shape::Box { half_extents: Vec3::from_array(*half_extents) },
        ShapeNode::Capsule(half_height, radius) => Shape::Capsule { half_height, radius },
        ShapeNode::Cylinder(half_height, radius) => Shape::Cylinder { half_height, radius },
        ShapeNode::Cone(half_height, radius) => Shape::Cone { half_height, radius },
        ShapeNode::HalfSpace(normal) => Shape::HalfSpace { normal: Vec3::from_array(*normal) },
        ShapeNode::ConvexHull(points) => Shape::ConvexHull { points: vectors(points.into_vec()) },
        ShapeNode::Compound(places) => {
            let parts: Result<_, String> =
                places.into_iter().map(|place| Ok((pose(place), unfold(nodes, depth + 1)?))).collect();
            Shape::Compound { parts: parts? }
        }
        ShapeNode::TriMesh(mesh) => Shape::TriMesh { vertices: vectors(mesh.0), triangles: mesh.1.into() },
        ShapeNode::HeightField(field) => {
            let (heights, rows, scale) = *field;
            let rows = usize::try_from(rows).map_err(|_| format!("a height field of {rows} rows"))?;
            Shape::HeightField { heights: heights.into(), rows, scale: Vec3::from_array(scale) }
        }
        ShapeNode::Voxels(voxels) => {
            let (size, cells) = *voxels;
            if let Some(far) = cells.iter().find(|c| c.iter().any(|i| !(-CELLS..=CELLS).contains(i))) {
                return Err(format!("voxel {far:?} is farther than {CELLS} cells from the origin"));
            }
            Shape::Voxels { size: Vec3::from_array(size), cells: cells.into() }
        }
        ShapeNode::Sdf(nodes) => {
            let mut nodes = nodes.into_vec().into_iter();
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
        Sdf::Plane { point, normal } => (SdfNode::Plane(Box::new((point.to_array(), normal.to_array()))), &[]),
        Sdf::Sphere { center, radius } => (SdfNode::Sphere(Box::new((center.to_array(), *radius))), &[]),
        Sdf::Cylinder { point, axis, radius } => {
            (SdfNode::Cylinder(Box::new((point.to_array(), axis.to_array(), *radius))), &[])
        }
        Sdf::Box { half_extents } => (SdfNode::Box(Box::new(half_extents.to_array())), &[]),
        Sdf::Intersection(parts) => (SdfNode::Intersection(parts.len() as u32), parts),
        Sdf::Union(parts) => (SdfNode::Union(parts.len() as u32), parts),
        Sdf::Complement(inner) => (SdfNode::Complement, std::slice::from_ref(inner)),
        Sdf::Placed { pose, inner } => (SdfNode::Placed(Box::new(pose_form(pose))), std::slice::from_ref(inner)),
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
        SdfNode::Plane(plane) => Sdf::plane(Vec3::from_array(plane.0), Vec3::from_array(plane.1)),
        SdfNode::Sphere(sphere) => Sdf::sphere(Vec3::from_array(sphere.0), sphere.1),
        SdfNode::Cylinder(c) => Sdf::cylinder(Vec3::from_array(c.0), Vec3::from_array(c.1), c.2),
        SdfNode::Box(half_extents) => Sdf::cuboid(Vec3::from_array(*half_extents)),
        SdfNode::Intersection(parts) => Sdf::Intersection(list(parts)?),
        SdfNode::Union(parts) => Sdf::Union(list(parts)?),
        SdfNode::Complement => unfold_sdf(nodes, depth + 1)?.complement(),
        SdfNode::Placed(place) => unfold_sdf(nodes, depth + 1)?.placed(pose(*place)),
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
        let complements = (0..1_000_000).map(|_| SdfNode::Complement).collect();
        assert!(ShapeForm(vec![ShapeNode::Sdf(complements)]).build().unwrap_err().contains("deeper"));
        let compound = |_| ShapeNode::Compound([pose_form(&Pose::IDENTITY)].into());
        assert!(ShapeForm((0..1_000_000).map(compound).collect()).build().unwrap_err().contains("deeper"));
    }

    #[test]
    fn counts_that_do_not_add_up_are_refused() {
        let sphere = || SdfNode::Sphere(Box::new(([0.0; 3], 1.0)));
        let ball = || ShapeNode::Ball(1.0);
        let field = |nodes: Vec<SdfNode>| vec![ShapeNode::Sdf(nodes.into())];
        let bad = [
            field(vec![SdfNode::Union(u32::MAX), sphere()]),
            field(vec![sphere(), sphere()]),
            field(vec![]),
            vec![ball(), ball()],
            vec![ShapeNode::Compound([pose_form(&Pose::IDENTITY); 2].into()), ball()],
            vec![ShapeNode::Voxels(Box::new(([1.0; 3], vec![[i32::MIN; 3], [i32::MAX; 3]])))],
            vec![],
        ];
        for nodes in bad {
            assert!(ShapeForm(nodes).build().is_err());
        }
        // what the notes on memory count on
        assert!(size_of::<SdfNode>() <= 16 && size_of::<ShapeNode>() <= 24);
    }
}
