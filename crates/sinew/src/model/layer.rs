//! A layer of tissue around a bone: attached points on its surface, points above them, and hexahedra between the two,
//! split into tetrahedra (OP 6.1).
//!
//! OP lays a grid over the faces of a box and extrudes it from the centre of mass, which makes the layer thicker where
//! the bone is longer. Here the grid lies on the box around any shape and is projected onto the shape along rays to the
//! centre, so that a box keeps its corners and edges and a ball gets a cube sphere; then it is extruded along the
//! normals by the same thickness everywhere: the normal of a point is the angle-weighted mean of the normals of its
//! faces, longer by 1/cos where faces meet (a mitre).

use super::primitives::split;
use super::tet_mesh::TetMesh;
use super::{Collider, RigidBody};
use crate::collision::{Bounds3, Geometry};
use crate::error::{Error, check, positive};
use crate::math::{Pose, Real, Vec3};

/// Maximum number of points of one sheet of a layer, so that an input error does not exhaust the memory.
const MOST_POINTS: Real = 1e5;
/// Maximum mitre length, in thicknesses: a corner of a box needs √3.
const LONGEST_MITRE: Real = 2.0;
/// Smallest cosine between the normal of a face and the facing direction of a pad: 60 degrees.
const FACING: Real = 0.5;

/// Parameters of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Distance of neighbours on the bone [m].
    pub spacing: Real,
    /// From the bone to the outermost sheet of points [m].
    pub height: Real,
    /// Cells across the thickness.
    pub cells: u32,
    /// Only faces towards this direction, in body axes; none: all around.
    pub facing: Option<Vec3>,
}

/// A layer in the coordinates of the bone: sheets with equal numbers of points, the attached one first.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub mesh: TetMesh,
    /// Number of points of one sheet.
    pub sheet: usize,
}

/// Points on a closed grid of squares with outward orientation.
struct Grid {
    points: Vec<Vec3>,
    squares: Vec<[u32; 4]>,
}

/// The shapes of a bone, in its coordinates.
pub(crate) struct Solid(Vec<(Geometry, Pose)>);

impl Solid {
    /// Sensors are ignored; unbounded shapes are rejected.
    pub fn new(bone: &RigidBody, who: &str) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for (i, Collider { shape, place, .. }) in bone.colliders.iter().enumerate().filter(|(_, c)| !c.sensor) {
            let geometry = Geometry::build(shape, &format!("{who}.colliders[{i}]"))?;
            if geometry.is_unbounded() {
                let reason = format!("a {} has no end: no tissue goes around it", shape.name());
                return Err(Error::BadShape { shape: format!("{who}.colliders[{i}]"), reason });
            }
            parts.push((geometry, Pose::new(place.position, place.rotation.normalize())));
        }
        if parts.is_empty() {
            let reason = "it has no shape: tissue needs a bone to lie on".to_owned();
            return Err(Error::BadShape { shape: who.to_owned(), reason });
        }
        Ok(Self(parts))
    }

    fn bounds(&self) -> Bounds3 {
        let mut all = self.0[0].0.bounds(&self.0[0].1);
        for (geometry, place) in &self.0[1..] {
            let b = geometry.bounds(place);
            all = Bounds3 { min: all.min.min(b.min), max: all.max.max(b.max) };
        }
        all
    }

    /// Distance to the surface, negative inside [m].
    pub fn distance(&self, point: Vec3) -> Real {
        let of = |(geometry, place): &(Geometry, Pose)| {
            let (on, inside) = geometry.project(place, point);
            if inside { -on.distance(point) } else { on.distance(point) }
        };
        self.0.iter().map(of).fold(Real::INFINITY, Real::min)
    }

    /// The outermost point of the surface on the segment from `from` to the centre; the nearest point where the ray has
    /// no hit.
    fn draw_in(&self, from: Vec3, middle: Vec3) -> Vec3 {
        let way = middle - from;
        let reach = way.length();
        let nearest = |(geometry, place): &(Geometry, Pose)| geometry.project(place, from).0;
        let near = self.0.iter().map(nearest).reduce(|a, b| if a.distance(from) <= b.distance(from) { a } else { b });
        // the result of rays along faces and through corners depends on rounding: points already on the surface are
        // kept
        if let Some(on) = near.filter(|on| on.distance(from) < 1e-4 * reach) {
            return on;
        }
        let Some(direction) = way.try_normalize() else { return from };
        let hits = self.0.iter().filter_map(|(geometry, place)| geometry.cast_ray(place, from, direction, reach));
        match hits.map(|h| h.at).reduce(Real::min) {
            Some(at) => from + direction * at,
            None => near.unwrap_or(from),
        }
    }
}

impl Layer {
    /// Builds a layer around a bone.
    pub fn around(bone: &Solid, plan: &Plan, who: &str) -> Result<Self, Error> {
        positive(&format!("{who}.spacing"), plan.spacing)?;
        positive(&format!("{who}.thickness"), plan.height)?;
        check(&format!("{who}.cells"), plan.cells as Real, (1..=64).contains(&plan.cells), "1 to 64")?;
        let bounds = bone.bounds();
        let size = bounds.max - bounds.min;
        let counts = (size / plan.spacing).round().max(Vec3::ONE);
        let points = 2.0 * (counts.x * counts.y + counts.y * counts.z + counts.z * counts.x);
        check(
            &format!("{who}.spacing"),
            plan.spacing,
            points < MOST_POINTS,
            "coarser: above 100,000 points on the bone",
        )?;
        let mut grid = Grid::on_box(counts.to_array().map(|c| c as u32));
        let middle = 0.5 * (bounds.min + bounds.max);
        for p in &mut grid.points {
            *p = bone.draw_in(middle + *p * size * 0.5, middle);
        }
        if let Some(facing) = plan.facing {
            let Some(facing) = facing.try_normalize() else {
                let reason = format!("{facing}: it has no direction");
                return Err(Error::BadShape { shape: format!("{who}.facing"), reason });
            };
            grid.keep_facing(facing);
            if grid.squares.is_empty() {
                let reason = format!("no face of the bone faces {facing}");
                return Err(Error::BadShape { shape: format!("{who}.facing"), reason });
            }
        }
        let mesh = grid.thicken(plan.height, plan.cells);
        mesh.check().map_err(|e| {
            let reason = format!("{e}; a coarser spacing, a thinner layer or a rounder bone will do");
            Error::BadShape { shape: who.to_owned(), reason }
        })?;
        Ok(Self { mesh, sheet: grid.points.len() })
    }
}

impl Grid {
    /// The surface of the box from −1 to 1, with `cells` cells along each axis.
    fn on_box(cells: [u32; 3]) -> Self {
        const UNUSED: u32 = u32::MAX;
        let [nx, ny, nz] = cells.map(|c| c + 1);
        let mut number = vec![UNUSED; (nx * ny * nz) as usize];
        let mut grid = Self { points: Vec::new(), squares: Vec::new() };
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (level, outward) in [(0, false), (cells[axis], true)] {
                for (i, j) in (0..cells[u]).flat_map(|i| (0..cells[v]).map(move |j| (i, j))) {
                    let mut corner = |i: u32, j: u32| {
                        let mut c = [level; 3];
                        (c[u], c[v]) = (i, j);
                        let at = &mut number[(c[0] + nx * (c[1] + ny * c[2])) as usize];
                        if *at == UNUSED {
                            *at = grid.points.len() as u32;
                            let part = |k: usize| 2.0 * c[k] as Real / cells[k] as Real - 1.0;
                            grid.points.push(Vec3::new(part(0), part(1), part(2)));
                        }
                        *at
                    };
                    let mut square = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
                    if !outward {
                        square.reverse();
                    }
                    grid.squares.push(square);
                }
            }
        }
        grid
    }

    /// Unit normal of a square: half the cross product of its diagonals is its area vector.
    fn normal(&self, square: &[u32; 4]) -> Vec3 {
        let [a, b, c, d] = square.map(|i| self.points[i as usize]);
        (c - a).cross(d - b).normalize_or_zero()
    }

    /// Keeps the squares that face a direction, and their points.
    fn keep_facing(&mut self, facing: Vec3) {
        let squares: Vec<[u32; 4]> =
            self.squares.iter().copied().filter(|s| self.normal(s).dot(facing) > FACING).collect();
        let mut number = vec![u32::MAX; self.points.len()];
        let mut points = Vec::new();
        self.squares = squares;
        for corner in self.squares.iter_mut().flatten() {
            let new = &mut number[*corner as usize];
            if *new == u32::MAX {
                *new = points.len() as u32;
                points.push(self.points[*corner as usize]);
            }
            *corner = *new;
        }
        self.points = points;
    }

    /// Displacement of each point per unit of thickness.
    fn ways_out(&self) -> Vec<Vec3> {
        let normals: Vec<Vec3> = self.squares.iter().map(|s| self.normal(s)).collect();
        let mut ways = vec![Vec3::ZERO; self.points.len()];
        for (square, &normal) in self.squares.iter().zip(&normals) {
            for k in 0..4 {
                let at = |i: usize| self.points[square[(k + i) % 4] as usize];
                let (ahead, behind) = ((at(1) - at(0)).normalize_or_zero(), (at(3) - at(0)).normalize_or_zero());
                ways[square[k] as usize] += normal * ahead.dot(behind).clamp(-1.0, 1.0).acos();
            }
        }
        let mut least = vec![1.0 as Real; ways.len()];
        ways.iter_mut().for_each(|w| *w = w.normalize_or_zero());
        for (square, &normal) in self.squares.iter().zip(&normals) {
            for &corner in square {
                let cosine = &mut least[corner as usize];
                *cosine = cosine.min(ways[corner as usize].dot(normal));
            }
        }
        ways.iter().zip(least).map(|(&way, cosine)| way / cosine.max(1.0 / LONGEST_MITRE)).collect()
    }

    fn thicken(&self, height: Real, cells: u32) -> TetMesh {
        let ways = self.ways_out();
        let count = self.points.len() as u32;
        let mut vertices = Vec::with_capacity((count * (cells + 1)) as usize);
        for sheet in 0..=cells {
            let up = height * sheet as Real / cells as Real;
            vertices.extend(self.points.iter().zip(&ways).map(|(&p, &way)| p + way * up));
        }
        let mut tets = Vec::with_capacity(6 * self.squares.len() * cells as usize);
        for sheet in 0..cells {
            for square in &self.squares {
                let [a, b, c, d] = square.map(|p| p + count * sheet);
                let [e, f, g, h] = square.map(|p| p + count * (sheet + 1));
                tets.extend(split([a, b, c, d, e, f, g, h]));
            }
        }
        TetMesh { vertices, tets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Shape;

    fn layer(shape: Shape, plan: Plan) -> Result<Layer, Error> {
        let bone = RigidBody::dynamic().shape(shape);
        Layer::around(&Solid::new(&bone, "bone")?, &plan, "tissue")
    }

    const PLAN: Plan = Plan { spacing: 0.01, height: 0.01, cells: 2, facing: None };

    #[test]
    fn the_layer_of_a_box_has_uniform_thickness() {
        let layer = layer(Shape::cuboid(0.02, 0.03, 0.01), PLAN).unwrap();
        let outer = (2.0 * 0.03) * (2.0 * 0.04) * (2.0 * 0.02);
        let volume = outer - 8.0 * 0.02 * 0.03 * 0.01;
        assert!((layer.mesh.volume() / volume - 1.0).abs() < 1e-4, "{} {volume}", layer.mesh.volume());
        // 5 x 7 x 3 points of the grid less the 3 x 5 x 1 inside
        assert_eq!((layer.sheet, layer.mesh.vertices.len()), (90, 270));
    }

    #[test]
    fn layer_points_lie_on_the_bone_and_one_thickness_above_it() {
        let shapes =
            [Shape::ball(0.03), Shape::capsule(0.03, 0.012), Shape::cylinder(0.03, 0.015), Shape::cone(0.03, 0.03)];
        for shape in shapes {
            let name = shape.name();
            let bone = Solid::new(&RigidBody::dynamic().shape(shape.clone()), "bone").unwrap();
            let layer = layer(shape, PLAN).unwrap_or_else(|e| panic!("{name}: {e}"));
            for (k, &p) in layer.mesh.vertices.iter().enumerate() {
                let away = bone.distance(p);
                if k < layer.sheet {
                    assert!(away.abs() < 1e-6, "{name} {k}: {away}");
                } else if k >= 2 * layer.sheet {
                    // squares are chords of the curve: the height is at least that at their centre, at most a mitre
                    assert!(away > 0.0085 && away < 0.0201, "{name} {k}: {away}");
                }
            }
        }
    }

    #[test]
    fn a_layer_that_inverts_at_sharp_corners_is_rejected_with_its_name() {
        let hull = vec![Vec3::ZERO, Vec3::X * 0.05, Vec3::Y * 0.05, Vec3::Z * 0.05, Vec3::splat(0.03)];
        let text = layer(Shape::convex_hull(hull), PLAN).unwrap_err().to_string();
        assert!(text.starts_with("tissue: ") && text.contains("a thinner layer or a rounder bone"), "{text}");
    }

    #[test]
    fn a_pad_covers_only_the_side_that_it_faces() {
        let layer = layer(Shape::cuboid(0.02, 0.03, 0.01), Plan { facing: Some(Vec3::Z), ..PLAN }).unwrap();
        assert!((layer.mesh.volume() / (0.04 * 0.06 * 0.01) - 1.0).abs() < 1e-4);
        assert!(layer.mesh.vertices.iter().all(|p| p.z > 0.0099));
    }

    #[test]
    fn invalid_layers_are_rejected_with_a_named_cause() {
        let ball = || Shape::ball(0.03);
        let text = |plan: Plan, shape: Shape| layer(shape, plan).unwrap_err().to_string();
        assert!(text(Plan { spacing: 0.0, ..PLAN }, ball()).starts_with("tissue.spacing is 0"));
        assert!(text(Plan { spacing: 1e-5, ..PLAN }, ball()).contains("coarser"));
        assert!(text(Plan { cells: 0, ..PLAN }, ball()).starts_with("tissue.cells is 0"));
        assert!(text(Plan { facing: Some(Vec3::ZERO), ..PLAN }, ball()).starts_with("tissue.facing"));
        assert!(text(PLAN, Shape::half_space(Vec3::Y)).contains("half-space has no end"));
    }
}
