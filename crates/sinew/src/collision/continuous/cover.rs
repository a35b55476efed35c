//! Representation of a rigid shape in continuous detection: points, segments and triangles in the shape's frame, with a
//! radius.
//!
//! Balls are a point and capsules a segment with a radius: exact. Boxes, hulls, meshes, height fields and voxels are
//! their triangles: exact. Cylinders and cones are inscribed prisms and pyramids of `SIDES` sides: the true surface
//! protrudes by up to r (1 − cos(π/SIDES)), half a percent of the radius. Half-spaces are planes. Signed distance
//! functions have no such representation.

use crate::collision::Geometry;
use crate::math::{Pose, Real, Vec3};
use crate::model::Shape;

/// Number of sides of the prism for a cylinder or cone.
const SIDES: u32 = 32;

/// Points, segments and triangles of one shape.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cover {
    /// Vertices [m].
    pub vertices: Vec<Vec3>,
    /// Radius around each vertex [m].
    pub radii: Vec<Real>,
    pub triangles: Vec<[u32; 3]>,
    /// Also points: a segment whose two ends are the same vertex.
    pub segments: Vec<[u32; 2]>,
}

impl Cover {
    /// Adds a shape at a given pose. Planes and distance fields have no cells.
    pub fn add(&mut self, shape: &Shape, geometry: Option<&Geometry>, place: &Pose) {
        match shape {
            Shape::Ball { radius } => {
                let at = self.vertex(place.position, *radius);
                self.segments.push([at, at]);
            }
            Shape::Capsule { half_height, radius } => {
                let ends = [-1.0, 1.0].map(|s| self.vertex(place.point(Vec3::Y * (s * half_height)), *radius));
                self.segments.push(ends);
            }
            Shape::Box { half_extents } => self.cuboid(Vec3::ZERO, *half_extents, [true; 6], place),
            Shape::Cylinder { half_height, radius } => self.prism(*half_height, [*radius, *radius], place),
            Shape::Cone { half_height, radius } => self.prism(*half_height, [*radius, 0.0], place),
            Shape::TriMesh { vertices, triangles } => self.mesh(vertices, triangles, place),
            Shape::HeightField { heights, rows, scale } => self.field(heights, *rows, *scale, place),
            Shape::Voxels { size, cells } => {
                let mut sorted = cells.to_vec();
                sorted.sort_unstable();
                for cell in cells.iter() {
                    let open = std::array::from_fn(|k| {
                        let mut beside = *cell;
                        beside[k / 2] += if k % 2 == 0 { -1 } else { 1 };
                        sorted.binary_search(&beside).is_err()
                    });
                    let centre = Vec3::from_array(cell.map(|c| c as Real + 0.5)) * *size;
                    self.cuboid(centre, *size * 0.5, open, place);
                }
            }
            Shape::ConvexHull { points } => {
                let built = Geometry::build(shape, "hull").ok();
                if let Some((vertices, triangles)) = geometry.or(built.as_ref()).and_then(Geometry::hull) {
                    self.mesh(&vertices, &triangles, place);
                } else {
                    debug_assert!(points.is_empty(), "a hull that was accepted has faces");
                }
            }
            Shape::Compound { parts } => {
                for (inner, part) in parts.iter() {
                    self.add(part, None, &place.then_inner(&Pose::new(inner.position, inner.rotation.normalize())));
                }
            }
            Shape::HalfSpace { .. } | Shape::Sdf(_) => {}
        }
    }

    fn vertex(&mut self, at: Vec3, radius: Real) -> u32 {
        self.vertices.push(at);
        self.radii.push(radius);
        self.vertices.len() as u32 - 1
    }

    fn mesh(&mut self, vertices: &[Vec3], triangles: &[[u32; 3]], place: &Pose) {
        let first = self.vertices.len() as u32;
        for &v in vertices {
            self.vertex(place.point(v), 0.0);
        }
        self.triangles.extend(triangles.iter().map(|t| t.map(|i| first + i)));
    }

    /// A box with only its exposed faces, in the order −x, x, −y, y, −z, z.
    fn cuboid(&mut self, centre: Vec3, half: Vec3, open: [bool; 6], place: &Pose) {
        let corner = |k: u32| {
            let sign = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            centre + half * Vec3::new(sign(0), sign(1), sign(2))
        };
        let corners: Vec<Vec3> = (0..8).map(corner).collect();
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles: Vec<[u32; 3]> = faces
            .iter()
            .zip(open)
            .filter(|(_, open)| *open)
            .flat_map(|(&[a, b, c, d], _)| [[a, b, c], [a, c, d]])
            .collect();
        self.mesh(&corners, &triangles, place);
    }

    /// A prism with the radii of its lower and upper rim; a radius of zero is an apex.
    fn prism(&mut self, half_height: Real, radii: [Real; 2], place: &Pose) {
        let mut vertices = vec![Vec3::Y * -half_height, Vec3::Y * half_height];
        let mut triangles = Vec::new();
        let rim = |k: u32, side: usize| 2 + 2 * (k % SIDES) + side as u32;
        for k in 0..SIDES {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(SIDES);
            let out = Vec3::new(angle.cos() as Real, 0.0, angle.sin() as Real);
            for (radius, y) in radii.iter().zip([-half_height, half_height]) {
                vertices.push(out * *radius + Vec3::Y * y);
            }
            triangles.push([0, rim(k, 0), rim(k + 1, 0)]);
            if radii[1] > 0.0 {
                triangles.push([1, rim(k + 1, 1), rim(k, 1)]);
                triangles.push([rim(k, 0), rim(k, 1), rim(k + 1, 1)]);
                triangles.push([rim(k, 0), rim(k + 1, 1), rim(k + 1, 0)]);
            } else {
                triangles.push([rim(k, 0), 1, rim(k + 1, 0)]);
            }
        }
        self.mesh(&vertices, &triangles, place);
    }

    /// A height field, its squares split along the same diagonals as in the contact geometry.
    fn field(&mut self, heights: &[Real], rows: usize, scale: Vec3, place: &Pose) {
        let columns = heights.len() / rows;
        let at = |z: usize, x: usize| {
            let share = |i: usize, count: usize| i as Real / (count - 1) as Real - 0.5;
            Vec3::new(share(x, columns), heights[z * columns + x], share(z, rows)) * scale
        };
        let vertices: Vec<Vec3> =
            (0..rows).flat_map(|z| (0..columns).map(move |x| (z, x))).map(|(z, x)| at(z, x)).collect();
        let index = |z: usize, x: usize| (z * columns + x) as u32;
        let mut triangles = Vec::new();
        for z in 0..rows - 1 {
            for x in 0..columns - 1 {
                let [a, b, c, d] = [index(z, x), index(z + 1, x), index(z, x + 1), index(z + 1, x + 1)];
                triangles.extend([[a, b, c], [b, d, c]]);
            }
        }
        self.mesh(&vertices, &triangles, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tri_mesh::TriMesh;

    /// Covers of solids are closed, are oriented outward, and enclose the volume of the shape (an inscribed one
    /// slightly less).
    #[test]
    fn covers_enclose_the_volume_of_their_shapes() {
        let hull: Vec<Vec3> =
            (0..8).map(|k| Vec3::new((k & 1) as Real, (k >> 1 & 1) as Real, (k >> 2) as Real)).collect();
        let cases = [
            (Shape::cuboid(0.5, 1.0, 1.5), 6.0, 1e-5),
            (Shape::cylinder(0.5, 1.0), std::f64::consts::PI as Real, 0.01),
            (Shape::cone(1.5, 1.0), std::f64::consts::PI as Real, 0.01),
            (Shape::convex_hull(hull), 1.0, 1e-5),
            (Shape::Voxels { size: Vec3::ONE, cells: vec![[0, 0, 0], [1, 0, 0]].into() }, 2.0, 1e-5),
        ];
        for (shape, volume, tolerance) in cases {
            let mut cover = Cover::default();
            let geometry = Geometry::build(&shape, "shape").unwrap();
            cover.add(&shape, Some(&geometry), &Pose::at(Vec3::new(3.0, -2.0, 1.0)));
            let mesh = TriMesh { vertices: cover.vertices, triangles: cover.triangles };
            assert!((mesh.volume() / volume - 1.0).abs() < tolerance, "{}: {}", shape.name(), mesh.volume());
            let reach = mesh.vertices.iter().map(|v| (*v - Vec3::new(3.0, -2.0, 1.0)).length()).fold(0.0, Real::max);
            assert!(reach < geometry.reach() + 1e-5, "inscribed");
        }
    }
}
