//! Collision shapes of the engine as solids: spheres and capsules analytically, the others as triangles.

use crate::figure::{Solid, Triangles};
use crate::hull;
use sinew::{Pose, Real, Shape, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Vertices of a full circle.
const AROUND: u32 = 48;

/// Adds the solids of a shape at its pose in the body.
pub(crate) fn add(shape: &Shape, place: &Pose, out: &mut Vec<Solid>) {
    let mesh = match shape {
        Shape::Ball { radius } => {
            out.push(Solid::Ball { center: place.position, radius: *radius });
            return;
        }
        Shape::Capsule { half_height, radius } => {
            let [a, b] = [-1.0, 1.0].map(|side: Real| place.point(Vec3::Y * (side * half_height)));
            out.push(Solid::Capsule { a, b, radius: *radius });
            return;
        }
        Shape::HalfSpace { normal } => {
            let normal = (place.rotation * *normal).normalize_or_zero();
            out.push(Solid::Plane { point: place.position, normal });
            return;
        }
        Shape::Sdf(sdf) => {
            out.push(Solid::Field { pose: *place, sdf: sdf.clone() });
            return;
        }
        Shape::Compound { parts } => {
            parts.iter().for_each(|(inner, part)| add(part, &place.then_inner(inner), out));
            return;
        }
        Shape::Box { half_extents } => cuboid(*half_extents),
        Shape::Cylinder { half_height, radius } => cylinder(*half_height, *radius),
        Shape::Cone { half_height, radius } => cone(*half_height, *radius),
        Shape::ConvexHull { points } => hull::hull(points),
        Shape::TriMesh { vertices, triangles } => {
            Triangles { vertices: vertices.to_vec(), triangles: triangles.to_vec() }
        }
        Shape::HeightField { heights, rows, scale } => height_field(heights, *rows, *scale),
        Shape::Voxels { size, cells } => voxels(*size, cells),
        // a shape that is added to the engine later is not drawn until it is handled here
        _ => return,
    };
    out.push(Solid::Mesh(mesh.moved(place)));
}

impl Triangles {
    /// The same triangles in another pose.
    pub(crate) fn moved(mut self, pose: &Pose) -> Self {
        self.vertices.iter_mut().for_each(|v| *v = pose.point(*v));
        self
    }

    /// A sphere as triangles [m]: closed, without degenerate triangles.
    pub fn ball(center: Vec3, radius: Real) -> Self {
        Self::capsule(center, center, radius)
    }

    /// A capsule as triangles [m]: a vertex at each pole and rings between them. Closed, without degenerate triangles;
    /// a sphere when the end points coincide.
    pub fn capsule(a: Vec3, b: Vec3, radius: Real) -> Self {
        const RINGS: u32 = 6;
        const SIDES: u32 = 24;
        let axis = (b - a).try_normalize().unwrap_or(Vec3::Y);
        let (u, w) = axis.any_orthonormal_pair();
        // End points that coincide to the resolution of an image share one equator; otherwise the triangles between the
        // two rings would have no area.
        let is_ball = (b - a).length() <= 1e-3 * radius;
        let steps = (1 - RINGS as i32..=0).map(|step| (a, step));
        let steps = steps.chain((i32::from(is_ball)..RINGS as i32).map(|step| (b, step)));
        let (mut mesh, mut rings) = (Triangles::default(), 0);
        for (end, step) in steps {
            let (sin, cos) = (step as Real / RINGS as Real * std::f64::consts::FRAC_PI_2 as Real).sin_cos();
            for side in 0..SIDES {
                let (s, c) = (side as Real / SIDES as Real * std::f64::consts::TAU as Real).sin_cos();
                mesh.vertices.push(end + (axis * sin + (u * c + w * s) * cos) * radius);
            }
            rings += 1;
        }
        mesh.join_rings(rings, SIDES);
        mesh.close_above(a - axis * radius, 0, SIDES, false);
        mesh.close_above(b + axis * radius, (rings - 1) * SIDES, SIDES, true);
        mesh
    }

    /// Triangles from a ring to a pole, outward; `up`: the pole lies along the axis, else at the lower end.
    fn close_above(&mut self, point: Vec3, first: u32, sides: u32, up: bool) {
        let top = self.vertices.len() as u32;
        self.vertices.push(point);
        for side in 0..sides {
            let [a, b] = [side, (side + 1) % sides].map(|k| first + k);
            self.triangles.push(if up { [top, a, b] } else { [top, b, a] });
        }
    }

    /// Closes a ring with a flat cap, outward.
    fn close_flat(&mut self, first: u32, sides: u32, up: bool) {
        for side in 1..sides - 1 {
            let [a, b, c] = [first, first + side, first + side + 1];
            self.triangles.push(if up { [a, b, c] } else { [a, c, b] });
        }
    }

    /// Triangles between rings of `sides` vertices each, outward when the rings ascend along the axis.
    fn join_rings(&mut self, rings: u32, sides: u32) {
        for ring in 1..rings {
            for side in 0..sides {
                let next = (side + 1) % sides;
                let [a, b] = [side, next].map(|k| (ring - 1) * sides + k);
                let [d, c] = [side, next].map(|k| ring * sides + k);
                self.triangles.push([a, b, c]);
                self.triangles.push([a, c, d]);
            }
        }
    }
}

fn cuboid(h: Vec3) -> Triangles {
    let corner = |i: u32| h * Vec3::new(sign(i & 1), sign(i >> 1 & 1), sign(i >> 2 & 1));
    let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Triangles { vertices: (0..8).map(corner).collect(), triangles }
}

fn sign(bit: u32) -> Real {
    if bit == 0 { -1.0 } else { 1.0 }
}

/// A ring of [`AROUND`] vertices around the y axis.
fn ring(radius: Real, y: Real) -> impl Iterator<Item = Vec3> {
    (0..AROUND).map(move |side| {
        let (s, c) = (side as Real / AROUND as Real * std::f64::consts::TAU as Real).sin_cos();
        Vec3::new(radius * s, y, radius * c)
    })
}

fn cylinder(half_height: Real, radius: Real) -> Triangles {
    let mut mesh = Triangles::default();
    mesh.vertices.extend(ring(radius, -half_height).chain(ring(radius, half_height)));
    mesh.join_rings(2, AROUND);
    mesh.close_flat(0, AROUND, false);
    mesh.close_flat(AROUND, AROUND, true);
    mesh
}

fn cone(half_height: Real, radius: Real) -> Triangles {
    let mut mesh = Triangles::default();
    mesh.vertices.extend(ring(radius, -half_height));
    mesh.close_flat(0, AROUND, false);
    mesh.close_above(Vec3::Y * half_height, 0, AROUND, true);
    mesh
}

fn height_field(heights: &[Real], rows: usize, scale: Vec3) -> Triangles {
    let mut mesh = Triangles::default();
    let columns = heights.len() / rows.max(1);
    if rows < 2 || columns < 2 {
        return mesh;
    }
    let share = |k: usize, count: usize| k as Real / (count - 1) as Real - 0.5;
    for row in 0..rows {
        for column in 0..columns {
            let height = heights[row * columns + column];
            mesh.vertices.push(Vec3::new(share(column, columns), height, share(row, rows)) * scale);
            if row > 0 && column > 0 {
                let [c, d] = [row * columns + column, row * columns + column - 1].map(|k| k as u32);
                let [a, b] = [d - columns as u32, c - columns as u32];
                mesh.triangles.push([a, d, b]);
                mesh.triangles.push([d, c, b]);
            }
        }
    }
    mesh
}

/// Faces of filled cells without a filled neighbour. Cell (0, 0, 0) starts at the origin.
fn voxels(size: Vec3, cells: &[[i32; 3]]) -> Triangles {
    let filled: BTreeSet<[i32; 3]> = cells.iter().copied().collect();
    let unit = cuboid(Vec3::splat(0.5));
    let mut mesh = Triangles::default();
    // neighbours share their vertices; otherwise the surface would have a crack along every edge
    let mut known: BTreeMap<[i64; 3], u32> = BTreeMap::new();
    for cell in &filled {
        // two triangles per face, in the order of `cuboid`: -x, +x, -y, +y, -z, +z
        for (side, pair) in unit.triangles.chunks(2).enumerate() {
            let mut beside = *cell;
            beside[side / 2] = beside[side / 2].saturating_add(if side % 2 == 0 { -1 } else { 1 });
            if filled.contains(&beside) {
                continue;
            }
            for triangle in pair {
                let corner = |k: u32| [0, 1, 2].map(|axis| i64::from(cell[axis]) + i64::from(k >> axis & 1));
                let vertices = &mut mesh.vertices;
                let corners = triangle.map(|k| {
                    let at = corner(k);
                    *known.entry(at).or_insert_with(|| {
                        vertices.push(Vec3::from_array(at.map(|i| i as Real)) * size);
                        vertices.len() as u32 - 1
                    })
                });
                mesh.triangles.push(corners);
            }
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Volume by the divergence theorem: positive only for outward triangles.
    fn volume(mesh: &Triangles) -> Real {
        let corner = |t: &[u32; 3], k: usize| mesh.vertices[t[k] as usize];
        mesh.triangles.iter().map(|t| corner(t, 0).dot(corner(t, 1).cross(corner(t, 2))) / 6.0).sum()
    }

    fn mesh_of(shape: &Shape) -> Triangles {
        let mut out = Vec::new();
        add(shape, &Pose::IDENTITY, &mut out);
        match out.pop() {
            Some(Solid::Mesh(mesh)) => mesh,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn triangles_enclose_the_volume_of_their_shape() {
        let pi = std::f64::consts::PI as Real;
        // 48 vertices enclose sin(2π/48)/(2π/48) = 0.9971 of a disc
        let close = |mesh: &Triangles, right: Real| {
            let found = volume(mesh);
            assert!((0.98..1.0001).contains(&(found / right)), "{found} {right}");
        };
        close(&mesh_of(&Shape::cuboid(1.0, 0.5, 0.25)), 1.0);
        close(&mesh_of(&Shape::cylinder(0.5, 1.0)), pi);
        close(&mesh_of(&Shape::cone(0.5, 1.0)), pi / 3.0);
        close(&mesh_of(&Shape::convex_hull(cuboid(Vec3::ONE).vertices)), 8.0);
        close(&Triangles::ball(Vec3::new(1.0, 2.0, 3.0), 1.0), 4.0 / 3.0 * pi * 0.99);
        let cells: Arc<[[i32; 3]]> = vec![[0, 0, 0], [1, 0, 0], [1, 1, 0]].into();
        close(&mesh_of(&Shape::Voxels { size: Vec3::ONE, cells }), 3.0);
    }

    /// Every edge has as many triangles in one direction as in the other, and no triangle is degenerate.
    fn assert_sound(mesh: &Triangles, what: &str) {
        let mut edges: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        let flat = |v: u32| mesh.vertices[v as usize];
        for &[a, b, c] in &mesh.triangles {
            let [p, q, r] = [a, b, c].map(flat);
            let longest = (q - p).length_squared().max((r - p).length_squared()).max((r - q).length_squared());
            assert!((q - p).cross(r - p).length() > 1e-4 * longest, "{what}: {p} {q} {r} is degenerate");
            for (from, to) in [(a, b), (b, c), (c, a)] {
                *edges.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { -1 };
            }
        }
        assert!(!edges.is_empty() && edges.values().all(|sum| *sum == 0), "{what} is open");
        let used: BTreeSet<u32> = mesh.triangles.iter().flatten().copied().collect();
        assert_eq!(used.len(), mesh.vertices.len(), "{what} has unused vertices");
    }

    /// The poles of spheres were rings of 24 coincident vertices with degenerate triangles between them, and the
    /// equator was duplicated; programs that read OBJ files report both as errors.
    #[test]
    fn every_shape_is_closed_and_no_triangle_is_degenerate() {
        let (a, b) = (Vec3::new(0.1, 2.0, 0.3), Vec3::new(0.4, 2.5, 0.2));
        let balls = [
            ("a ball", Triangles::ball(a, 0.1)),
            ("a large ball far away", Triangles::ball(a * 100.0, 7.0)),
            ("a capsule", Triangles::capsule(a, b, 0.1)),
            ("a capsule of one point", Triangles::capsule(a, a, 0.1)),
            ("a short capsule", Triangles::capsule(a, a + Vec3::X * 1e-6, 0.1)),
            ("a thin capsule", Triangles::capsule(a, b, 0.01)),
        ];
        for (what, mesh) in &balls {
            assert_sound(mesh, what);
            assert!(volume(mesh) > 0.0, "{what}");
        }
        let cells: Arc<[[i32; 3]]> = vec![[0, 0, 0], [1, 0, 0], [2, 1, 0], [2, 1, 1], [5, 5, 5]].into();
        let shapes = [
            ("a box", Shape::cuboid(1.0, 0.5, 0.25)),
            ("a cylinder", Shape::cylinder(0.5, 1.0)),
            ("a flat cylinder", Shape::cylinder(0.01, 1.0)),
            ("a cone", Shape::cone(0.5, 1.0)),
            ("a hull of a box", Shape::convex_hull(cuboid(Vec3::ONE).vertices)),
            ("a hull of a ball", Shape::convex_hull(Triangles::ball(a, 0.1).vertices)),
            ("voxels", Shape::Voxels { size: Vec3::new(0.1, 0.2, 0.3), cells }),
        ];
        for (what, shape) in &shapes {
            assert_sound(&mesh_of(shape), what);
        }
    }

    #[test]
    fn triangles_of_a_height_field_face_upward() {
        let shape = Shape::HeightField { heights: vec![0.0; 6].into(), rows: 2, scale: Vec3::new(2.0, 1.0, 3.0) };
        let mesh = mesh_of(&shape);
        assert_eq!(mesh.triangles.len(), 4);
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|k| mesh.vertices[k as usize]);
            assert!((b - a).cross(c - a).y > 0.0);
        }
    }
}
