//! Collision shapes.

use super::form::{ANY, FINITE, Form, POSITIVE, Reader, Rule, choice, from_to, record};
use super::geometry::refuse;
use super::schema::Schemas;
use super::tree::{Node, Value};
use sinew::{Pose, Real, Sdf, Shape, TriMesh, Vec3};

record!(Pose, "pose", "A place and a turn.", base |_| Pose::IDENTITY, {
    position: FINITE, "Position [m].";
    rotation: ANY, "Its orientation.";
});

/// A part of a compound.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    shape: Shape,
    position: Vec3,
    rotation: sinew::Quat,
}

record!(Part, "part", "A shape at its place in a compound.",
    base |_| Part { shape: Shape::ball(1.0), position: Vec3::ZERO, rotation: sinew::Quat::IDENTITY },
    needs { shape: ANY, "Its shape."; },
    {
        position: FINITE, "Its position in the body [m].";
        rotation: ANY, "Its turn in the body.";
    }
);

/// A shape in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum ShapeSpec {
    Ball { radius: Real },
    Box { half_extents: Vec3 },
    Capsule { half_height: Real, radius: Real },
    Cylinder { half_height: Real, radius: Real },
    Cone { half_height: Real, radius: Real },
    HalfSpace { normal: Vec3 },
    Hull { points: Vec<Vec3> },
    MeshHull { surface: TriMesh },
    Compound { parts: Vec<Part> },
    Mesh { surface: TriMesh },
    HeightField { heights: Vec<Real>, rows: u32, scale: Vec3 },
    Voxels { size: Vec3, cells: Vec<[i32; 3]> },
    MeshVoxels { surface: TriMesh, cell: Real },
    Sdf { function: Sdf },
}

choice!(ShapeSpec, "shape", "A collision shape. Capsule, cylinder and cone stand along y.", {
    "ball" => Ball, "A ball.", { radius radius: Real, POSITIVE, "Radius [m]."; };
    "box" => Box, "A box.", { half_extents half_extents: Vec3, POSITIVE, "Half the size along each axis [m]."; };
    "capsule" => Capsule, "A segment with a radius around it.", {
        half_height half_height: Real, POSITIVE, "Half the length of the inner segment [m].";
        radius radius: Real, POSITIVE, "Radius [m].";
    };
    "cylinder" => Cylinder, "A cylinder.", {
        half_height half_height: Real, POSITIVE, "Half the height [m].";
        radius radius: Real, POSITIVE, "Radius [m].";
    };
    "cone" => Cone, "A cone, its tip up.", {
        half_height half_height: Real, POSITIVE, "Half the height [m].";
        radius radius: Real, POSITIVE, "Radius of the base [m].";
    };
    "half_space" => HalfSpace, "Everything below a plane through the origin; for fixed bodies.", {
        normal normal: Vec3, FINITE => Vec3::Y, "Outward normal.";
    };
    "hull" => Hull, "The convex hull of points.", { points points: Vec<Vec3>, FINITE, "The points [m]."; };
    "mesh_hull" => MeshHull, "The convex hull of a surface.", { surface surface: TriMesh, ANY, "The surface."; };
    "compound" => Compound, "Several shapes as one.", { parts parts: Vec<Part>, ANY, "The parts."; };
    "mesh" => Mesh, "A triangle mesh; a closed one has a mass.", { surface surface: TriMesh, ANY, "The surface."; };
    "height_field" => HeightField, "Heights over the xz plane, centred at the origin; for fixed bodies.", {
        heights heights: Vec<Real>, FINITE, "Heights, row after row along z.";
        rows rows: u32, from_to(2.0, 1e5), "Number of rows (along z).";
        scale scale: Vec3, POSITIVE, "Size in x [m], factor on heights, size in z [m].";
    };
    "voxels" => Voxels, "Filled cells of a regular grid.", {
        size size: Vec3, POSITIVE, "Size of one cell [m].";
        cells cells: Vec<[i32; 3]>, ANY, "Filled cells.";
    };
    "mesh_voxels" => MeshVoxels, "The cells of a grid that a surface takes up: fixed scenery with many triangles.", {
        surface surface: TriMesh, ANY, "The surface.";
        cell cell: Real, POSITIVE, "Edge of a cell [m].";
    };
    "sdf" => Sdf, "A signed distance function; for fixed and kinematic bodies.", {
        function function: Sdf, ANY, "The function.";
    };
});

choice!(Sdf, "signed distance function", "How far a point is from a surface, negative inside the solid.", {
    "plane" => Plane, "The half-space behind a plane.", {
        point point: Vec3, FINITE => Vec3::ZERO, "A point on the plane [m].";
        normal normal: Vec3, FINITE => Vec3::Y, "Out of the solid.";
    };
    "sphere" => Sphere, "A solid ball.", {
        center center: Vec3, FINITE => Vec3::ZERO, "Centre [m].";
        radius radius: Real, POSITIVE, "Radius [m].";
    };
    "cylinder" => Cylinder, "A solid cylinder without ends.", {
        point point: Vec3, FINITE => Vec3::ZERO, "A point on the axis [m].";
        axis axis: Vec3, FINITE => Vec3::Y, "Along the axis.";
        radius radius: Real, POSITIVE, "Radius [m].";
    };
    "box" => Box, "A solid box about the origin.", {
        half_extents half_extents: Vec3, POSITIVE, "Half the edge lengths [m].";
    };
    "intersection" => Intersection, "Intersection.", { 0 parts: Vec<Sdf>, ANY, "The parts."; };
    "union" => Union, "Union.", { 0 parts: Vec<Sdf>, ANY, "The parts."; };
    "complement" => Complement, "All that is not the inner one.", { 0 inner: std::boxed::Box<Sdf>, ANY, "The inner one."; };
    "placed" => Placed, "The inner one, turned and moved.", {
        pose pose: Pose, ANY, "From the inner frame to ours.";
        inner inner: std::boxed::Box<Sdf>, ANY, "The transformed function.";
    };
});

impl ShapeSpec {
    fn build(self) -> Result<Shape, String> {
        Ok(match self {
            Self::Ball { radius } => Shape::Ball { radius },
            Self::Box { half_extents } => Shape::Box { half_extents },
            Self::Capsule { half_height, radius } => Shape::Capsule { half_height, radius },
            Self::Cylinder { half_height, radius } => Shape::Cylinder { half_height, radius },
            Self::Cone { half_height, radius } => Shape::Cone { half_height, radius },
            Self::HalfSpace { normal } => Shape::HalfSpace { normal },
            Self::Hull { points } => Shape::convex_hull(points),
            Self::MeshHull { surface } => Shape::convex_hull(surface.vertices),
            Self::Compound { parts } => {
                let part = |p: Part| (Pose::new(p.position, p.rotation), p.shape);
                Shape::compound(parts.into_iter().map(part).collect::<Vec<_>>())
            }
            Self::Mesh { surface } => Shape::tri_mesh(surface.vertices, surface.triangles),
            Self::HeightField { heights, rows, scale } => {
                if !heights.len().is_multiple_of(rows as usize) {
                    return Err(format!("{} heights do not make {rows} rows", heights.len()));
                }
                Shape::HeightField { heights: heights.into(), rows: rows as usize, scale }
            }
            Self::Voxels { size, cells } => Shape::Voxels { size, cells: cells.into() },
            Self::MeshVoxels { surface, cell } => {
                Shape::voxelized(&surface.vertices, &surface.triangles, cell).map_err(|e| e.to_string())?
            }
            Self::Sdf { function } => {
                function.check().map_err(|e| e.to_string())?;
                Shape::sdf(function)
            }
        })
    }

    /// The form of a shape; `None` for kinds that this version does not have.
    fn of(shape: &Shape) -> Option<Self> {
        Some(match shape {
            Shape::Ball { radius } => Self::Ball { radius: *radius },
            Shape::Box { half_extents } => Self::Box { half_extents: *half_extents },
            Shape::Capsule { half_height, radius } => Self::Capsule { half_height: *half_height, radius: *radius },
            Shape::Cylinder { half_height, radius } => Self::Cylinder { half_height: *half_height, radius: *radius },
            Shape::Cone { half_height, radius } => Self::Cone { half_height: *half_height, radius: *radius },
            Shape::HalfSpace { normal } => Self::HalfSpace { normal: *normal },
            Shape::ConvexHull { points } => Self::Hull { points: points.to_vec() },
            Shape::Compound { parts } => {
                let part = |(pose, shape): &(Pose, Shape)| Part {
                    shape: shape.clone(),
                    position: pose.position,
                    rotation: pose.rotation,
                };
                Self::Compound { parts: parts.iter().map(part).collect() }
            }
            Shape::TriMesh { vertices, triangles } => {
                Self::Mesh { surface: TriMesh { vertices: vertices.to_vec(), triangles: triangles.to_vec() } }
            }
            Shape::HeightField { heights, rows, scale } => {
                Self::HeightField { heights: heights.to_vec(), rows: *rows as u32, scale: *scale }
            }
            Shape::Voxels { size, cells } => Self::Voxels { size: *size, cells: cells.to_vec() },
            Shape::Sdf(function) => Self::Sdf { function: (**function).clone() },
            _ => return None,
        })
    }
}

impl Form for Shape {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let made = ShapeSpec::read(node, rule, reader)?.build();
        refuse(node, reader, made)
    }

    fn write(&self) -> Value {
        ShapeSpec::of(self).map_or(Value::Nothing, |spec| spec.write())
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        ShapeSpec::schema(rule, schemas)
    }

    fn wants(rule: &Rule) -> String {
        ShapeSpec::wants(rule)
    }
}
