//! Vertex optimization after stuffing: snapping to sharp edges of the surface, and smoothing for better angles.
//!
//! The quality of a vertex is the minimum sine of a dihedral angle among its tetrahedra. Smoothing accepts a move only
//! if it increases, so the worst angle of the mesh never gets worse. Snapping to a sharp edge may lower it, but not
//! below `FLOOR`, which is above the bound of the stuffing. Vertices of the boundary stay on the surface.

use super::quality::worst_sine;
use super::stuff::Tets;
use super::tree::{Surface, Tree};
use super::vector::Vector;
use std::collections::BTreeMap;

/// Rounds of smoothing before and after snapping.
const ROUNDS: usize = 3;
/// Vertices with a quality above this are not moved: sin 40°.
const GOOD: f64 = 0.64;
/// Minimum quality after snapping: sin 20°. Lower: more of the sharp edges is reproduced, with worse elements.
const FLOOR: f64 = 0.342;
/// Rounds of snapping, with smoothing between.
const SNAPS: usize = 2;
/// Cosine of the threshold of sharp edges: the normals of the adjacent triangles differ by more than 50 degrees.
const SHARP: f64 = 0.643;
/// Maximum distance from which vertices are snapped to a sharp edge, in units of the edge length `size`.
const REACH: f64 = 0.5;
/// Trial displacements along the axes, in units of `size`.
const STEPS: [f64; 2] = [0.12, 0.04];

struct Mover<'a> {
    mesh: &'a mut Tets,
    tree: &'a Tree,
    size: f64,
    /// Tetrahedra of each vertex.
    stars: Vec<Vec<u32>>,
    /// Neighbours on the boundary; empty for inner vertices.
    rim: Vec<Vec<u32>>,
    /// Vertices that are fixed.
    held: Vec<bool>,
}

/// The requested operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub smooth: bool,
    pub snap: bool,
}

/// Moves vertices as requested.
pub(super) fn improve(mesh: &mut Tets, tree: &Tree, size: f64, wanted: Wanted) {
    let count = mesh.vertices.len();
    let mut stars = vec![Vec::new(); count];
    for (t, tet) in mesh.tets.iter().enumerate() {
        tet.iter().for_each(|&i| stars[i as usize].push(t as u32));
    }
    let mut rim = vec![Vec::new(); count];
    for [a, b, c] in mesh.boundary() {
        // each edge of a closed boundary occurs once in either direction
        for (from, to) in [(a, b), (b, c), (c, a)] {
            rim[from as usize].push(to);
        }
    }
    let mut mover = Mover { mesh, tree, size, stars, rim, held: vec![false; count] };
    let rounds = if wanted.smooth { ROUNDS } else { 0 };
    (0..rounds).for_each(|_| mover.smooth());
    for _ in 0..if wanted.snap { SNAPS } else { 0 } {
        mover.snap();
        (0..rounds).for_each(|_| mover.smooth());
    }
}

impl Mover<'_> {
    /// The quality of a vertex if it were at `place`.
    fn measure(&self, vertex: usize, place: Vector) -> f64 {
        let of = |&t: &u32| {
            let corners = self.mesh.tets[t as usize];
            worst_sine(corners.map(|i| if i as usize == vertex { place } else { self.mesh.vertices[i as usize] }))
        };
        self.stars[vertex].iter().map(of).fold(f64::INFINITY, f64::min)
    }

    /// One pass over all vertices, each moved to the best position tried.
    fn smooth(&mut self) {
        for vertex in 0..self.mesh.vertices.len() {
            let here = self.mesh.vertices[vertex];
            let now = self.measure(vertex, here);
            if now >= GOOD || self.held[vertex] {
                continue;
            }
            let mut best = (now, here);
            for place in self.candidates(vertex) {
                let measure = self.measure(vertex, place);
                if measure > best.0 {
                    best = (measure, place);
                }
            }
            self.mesh.vertices[vertex] = best.1;
        }
    }

    /// Trial positions: towards the mean of the neighbours, and small displacements along the axes; projected onto the
    /// surface for boundary vertices.
    fn candidates(&self, vertex: usize) -> Vec<Vector> {
        let here = self.mesh.vertices[vertex];
        let on_boundary = !self.rim[vertex].is_empty();
        let mean = |around: &mut dyn Iterator<Item = u32>| {
            let (sum, count) =
                around.fold((Vector::ZERO, 0.0), |(s, n), i| (s + self.mesh.vertices[i as usize], n + 1.0));
            sum * (1.0 / count)
        };
        let middle = if on_boundary {
            mean(&mut self.rim[vertex].iter().copied())
        } else {
            let star = self.stars[vertex].iter().flat_map(|&t| self.mesh.tets[t as usize]);
            mean(&mut star.filter(|&i| i as usize != vertex))
        };
        let mut places: Vec<Vector> = [1.0, 0.5, 0.25].map(|part| here.lerp(middle, part)).into();
        for step in STEPS {
            for axis in 0..3 {
                let mut way = Vector::ZERO;
                way[axis] = step * self.size;
                places.extend([here + way, here - way]);
            }
        }
        if on_boundary {
            places.iter_mut().for_each(|p| *p = self.tree.nearest(*p).point);
        }
        places
    }

    /// Snaps boundary vertices to corners and sharp edges of the surface, the nearest first.
    fn snap(&mut self) {
        let (edges, corners) = sharp(&self.tree.surface);
        if edges.triangles.is_empty() {
            return;
        }
        let edges = Tree::build(edges);
        let boundary: Vec<usize> = (0..self.rim.len()).filter(|&v| !self.rim[v].is_empty()).collect();

        // one vertex for each corner
        for corner in corners {
            let apart = |v: usize| (self.mesh.vertices[v] - corner).length();
            let near = boundary.iter().copied().min_by(|&a, &b| apart(a).total_cmp(&apart(b)));
            if let Some(vertex) = near.filter(|&v| !self.held[v] && apart(v) < 2.0 * REACH * self.size) {
                self.try_hold(vertex, corner);
            }
        }
        // the others are snapped to edges
        let mut near: Vec<(f64, usize, Vector)> = Vec::new();
        for &vertex in &boundary {
            let nearest = edges.nearest(self.mesh.vertices[vertex]);
            if nearest.distance < REACH * self.size && !self.held[vertex] {
                near.push((nearest.distance, vertex, nearest.point));
            }
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, vertex, place) in near {
            self.try_hold(vertex, place);
        }
    }

    /// Moves a vertex and fixes it, if the quality of its tetrahedra stays sufficient.
    fn try_hold(&mut self, vertex: usize, place: Vector) {
        let now = self.measure(vertex, self.mesh.vertices[vertex]);
        if self.measure(vertex, place) >= FLOOR.min(now) {
            self.mesh.vertices[vertex] = place;
            self.held[vertex] = true;
        }
    }
}

/// Sharp edges of a surface, as triangles without area, and the corners: vertices where other than two of them meet or
/// where their line has a kink.
fn sharp(surface: &Surface) -> (Surface, Vec<Vector>) {
    let mut edges: BTreeMap<[u32; 2], Vec<Vector>> = BTreeMap::new();
    for (t, corners) in surface.triangles.iter().enumerate() {
        let [a, b, c] = surface.corners(t);
        let normal = (b - a).cross(c - a);
        let normal = normal * (1.0 / normal.length().max(f64::MIN_POSITIVE));
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            edges.entry([a.min(b), a.max(b)]).or_default().push(normal);
        }
    }
    let is_sharp = |normals: &Vec<Vector>| matches!(normals[..], [m, n] if m.dot(n) < SHARP);
    let sharp: Vec<[u32; 2]> = edges.iter().filter(|(_, n)| is_sharp(n)).map(|(&e, _)| e).collect();
    let mut ends: BTreeMap<u32, Vec<Vector>> = BTreeMap::new();
    for &[a, b] in &sharp {
        let way = surface.vertices[b as usize] - surface.vertices[a as usize];
        let way = way * (1.0 / way.length().max(f64::MIN_POSITIVE));
        ends.entry(a).or_default().push(way);
        ends.entry(b).or_default().push(-way);
    }
    let turns = |ways: &Vec<Vector>| !matches!(ways[..], [m, n] if m.dot(n) < -SHARP);
    let corners = ends.iter().filter(|(_, w)| turns(w)).map(|(&v, _)| surface.vertices[v as usize]).collect();
    let triangles = sharp.into_iter().map(|[a, b]| [a, b, b]).collect();
    (Surface { vertices: surface.vertices.clone(), triangles }, corners)
}
