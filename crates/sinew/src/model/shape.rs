//! Shapes as plain data: the geometry of a collider, independent of the geometry library.

use crate::collision::Sdf;
use crate::math::{Pose, Real, Vec3};
use sinew_spec::{ANY, FINITE, POSITIVE, Via, choice, from_to, record};
use std::sync::Arc;

/// A collision shape. Lengths in metres; capsule, cylinder and cone are along y.
///
/// ```
/// use sinew::*;
/// assert_eq!(Shape::cuboid(0.1, 0.2, 0.3).name(), "box");
/// // a shape with an exact distance function provides it
/// let ball = Shape::ball(0.5).signed_distance().expect("a ball has one");
/// assert!((ball.sample(Vec3::X).distance - 0.5).abs() < 1e-6);
/// assert!(Shape::convex_hull([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]).signed_distance().is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// A ball of a radius [m].
    Ball {
        /// Radius [m].
        radius: Real,
    },
    /// A box by its half extents [m].
    Box {
        /// Half the size along each axis [m].
        half_extents: Vec3,
    },
    /// A capsule along y: a segment of 2·half_height with a radius around it.
    Capsule {
        /// Half the length of the inner segment [m].
        half_height: Real,
        /// Radius [m].
        radius: Real,
    },
    /// A cylinder along y.
    Cylinder {
        /// Half the height [m].
        half_height: Real,
        /// Radius [m].
        radius: Real,
    },
    /// A cone along y, its apex up.
    Cone {
        /// Half the height [m].
        half_height: Real,
        /// Radius of the base [m].
        radius: Real,
    },
    /// All points below a plane through the origin. For fixed bodies.
    HalfSpace {
        /// Outward normal.
        normal: Vec3,
    },
    /// The convex hull of points.
    ConvexHull {
        /// The points [m].
        points: Arc<[Vec3]>,
    },
    /// Several shapes as one.
    Compound {
        /// Each part with its pose in the body.
        parts: Arc<[(Pose, Shape)]>,
    },
    /// A triangle mesh (its surface; closed meshes have a mass).
    TriMesh {
        /// Vertices [m].
        vertices: Arc<[Vec3]>,
        /// Triangles, counter-clockwise seen from outside.
        triangles: Arc<[[u32; 3]]>,
    },
    /// A height field over the xz plane, centred at the origin. For fixed bodies.
    HeightField {
        /// Heights, row after row along z.
        heights: Arc<[Real]>,
        /// Number of rows (along z), at least 2.
        rows: usize,
        /// Size in x, factor on heights, size in z [m].
        scale: Vec3,
    },
    /// Filled cells of a regular grid.
    Voxels {
        /// Size of one cell [m].
        size: Vec3,
        /// Filled cells.
        cells: Arc<[[i32; 3]]>,
    },
    /// A signed distance function, in exact contact with balls and particles, and with other shapes through their
    /// vertices. For fixed and kinematic bodies.
    Sdf(Arc<Sdf>),
}

impl Shape {
    /// A ball [m].
    pub fn ball(radius: Real) -> Self {
        Self::Ball { radius }
    }

    /// A box by its half extents [m].
    pub fn cuboid(x: Real, y: Real, z: Real) -> Self {
        Self::Box { half_extents: Vec3::new(x, y, z) }
    }

    /// A capsule along y [m].
    pub fn capsule(half_height: Real, radius: Real) -> Self {
        Self::Capsule { half_height, radius }
    }

    /// A cylinder along y [m].
    pub fn cylinder(half_height: Real, radius: Real) -> Self {
        Self::Cylinder { half_height, radius }
    }

    /// A cone along y [m].
    pub fn cone(half_height: Real, radius: Real) -> Self {
        Self::Cone { half_height, radius }
    }

    /// All points below the plane through the body's origin with this outward normal.
    pub fn half_space(normal: Vec3) -> Self {
        Self::HalfSpace { normal }
    }

    /// The convex hull of points [m].
    pub fn convex_hull(points: impl Into<Arc<[Vec3]>>) -> Self {
        Self::ConvexHull { points: points.into() }
    }

    /// Several shapes as one.
    pub fn compound(parts: impl Into<Arc<[(Pose, Shape)]>>) -> Self {
        Self::Compound { parts: parts.into() }
    }

    /// A triangle mesh [m].
    pub fn tri_mesh(vertices: impl Into<Arc<[Vec3]>>, triangles: impl Into<Arc<[[u32; 3]]>>) -> Self {
        Self::TriMesh { vertices: vertices.into(), triangles: triangles.into() }
    }

    /// A signed distance function.
    pub fn sdf(sdf: Sdf) -> Self {
        Self::Sdf(Arc::new(sdf))
    }

    /// The signed distance of a shape that has one in closed form: ball, box, cylinder, half-space and distance
    /// functions.
    ///
    /// That of the cylinder is an intersection (side and two ends): exact inside, outside beyond its rims a lower
    /// bound.
    pub fn signed_distance(&self) -> Option<Arc<Sdf>> {
        let sdf = match self {
            Self::Ball { radius } => Sdf::sphere(Vec3::ZERO, *radius),
            Self::Box { half_extents } => Sdf::cuboid(*half_extents),
            Self::Cylinder { half_height, radius } => {
                let end = |sign: Real| Sdf::plane(Vec3::Y * (sign * half_height), Vec3::Y * sign);
                Sdf::intersection([Sdf::cylinder(Vec3::ZERO, Vec3::Y, *radius), end(1.0), end(-1.0)])
            }
            Self::HalfSpace { normal } => Sdf::plane(Vec3::ZERO, *normal),
            Self::Sdf(sdf) => return Some(sdf.clone()),
            _ => return None,
        };
        Some(Arc::new(sdf))
    }

    /// Name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ball { .. } => "ball",
            Self::Box { .. } => "box",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::HalfSpace { .. } => "half-space",
            Self::ConvexHull { .. } => "convex hull",
            Self::Compound { .. } => "compound",
            Self::TriMesh { .. } => "triangle mesh",
            Self::HeightField { .. } => "height field",
            Self::Voxels { .. } => "voxels",
            Self::Sdf(_) => "signed distance function",
        }
    }
}

/// A part of a compound, as it is described.
struct Part {
    shape: Shape,
    place: Pose,
}

impl Via<(Pose, Shape)> for Part {
    fn of((place, shape): &(Pose, Shape)) -> Self {
        Self { shape: shape.clone(), place: *place }
    }

    fn back(self) -> (Pose, Shape) {
        (self.place, self.shape)
    }
}

record!(Part, "part", "A shape at its place in a compound.", Part { shape: Shape::ball(1.0), place: Pose::IDENTITY }, {
    shape [required]: ANY, "Its shape.";
    place [flat]: ANY, "Its pose in the body.";
});

choice!(Shape, "shape", "A collision shape. Capsule, cylinder and cone stand along y.", {
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
    "hull" => ConvexHull, "The convex hull of points.", { points points: Arc<[Vec3]>, FINITE, "The points [m]."; };
    "compound" => Compound, "Several shapes as one.", { parts parts: Arc<[(Pose, Shape)]> as Vec<Part>, ANY, "The parts."; };
    "mesh" => TriMesh, "A triangle mesh; a closed one has a mass.", {
        vertices vertices: Arc<[Vec3]>, FINITE, "Vertices [m].";
        triangles triangles: Arc<[[u32; 3]]>, ANY, "Triangles, counter-clockwise seen from outside.";
    };
    "height_field" => HeightField, "Heights over the xz plane, centred at the origin; for fixed bodies.", {
        heights heights: Arc<[Real]>, FINITE, "Heights, row after row along z.";
        rows rows: usize, from_to(2.0, 1e5), "Number of rows (along z).";
        scale scale: Vec3, POSITIVE, "Size in x [m], factor on heights, size in z [m].";
    };
    "voxels" => Voxels, "Filled cells of a regular grid.", {
        size size: Vec3, POSITIVE, "Size of one cell [m].";
        cells cells: Arc<[[i32; 3]]>, ANY, "Filled cells.";
    };
    "sdf" => Sdf, "A signed distance function; for fixed and kinematic bodies.", {
        0 function: Arc<Sdf>, ANY, "The function.";
    };
});
