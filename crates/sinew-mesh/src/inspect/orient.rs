//! Consistent outward orientation of triangles.
//!
//! Neighbours across an edge are consistent when they traverse it in opposite directions. The orientation of the first
//! triangle of a patch is propagated to the others. A closed patch is then oriented outward by the sign of its volume,
//! or inward when it lies inside an odd number of other patches: it is then the boundary of a cavity. An open patch has
//! no outside: the orientation of the majority of its triangles is kept. Triangles on the boundary of tetrahedra take
//! the orientation of their tetrahedron.

use super::topology::{Side, sides};
use crate::geometry::{Point, bounds, solid_angle, volume};
use crate::mesh::Mesh;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Above this product of patches and triangles, nesting is not determined: all patches are oriented outward.
const MAX_NESTING: usize = 200_000_000;

/// The result of [`orient`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oriented {
    /// Triangles that were flipped.
    pub turned: usize,
    /// One-sided patches, such as a Möbius strip: they cannot be oriented.
    pub one_sided: usize,
    /// Patches with a boundary: they have no outside.
    pub open: usize,
}

/// Flips triangles so that they are consistent and face outward.
pub fn orient(mesh: &mut Mesh) -> Oriented {
    if mesh.tets.is_empty() {
        let patches = Patches::new(&mesh.triangles);
        patches.apply(mesh)
    } else {
        along_tets(mesh)
    }
}

/// Triangles on the boundary of the tetrahedra take the orientation of the boundary face.
fn along_tets(mesh: &mut Mesh) -> Oriented {
    let key = |t: [u32; 3]| {
        let mut key = t;
        key.sort_unstable();
        key
    };
    let outside: BTreeMap<[u32; 3], [u32; 3]> = mesh.tet_boundary().into_iter().map(|t| (key(t), t)).collect();
    let mut done = Oriented::default();
    for triangle in &mut mesh.triangles {
        let [a, b, c] = *triangle;
        if let Some(&face) = outside.get(&key(*triangle))
            && ![[a, b, c], [b, c, a], [c, a, b]].contains(&face)
        {
            *triangle = [a, c, b];
            done.turned += 1;
        }
    }
    done
}

/// Patches: triangles connected by edges of exactly two triangles.
struct Patches {
    /// Patch of each triangle.
    of: Vec<u32>,
    /// Whether a triangle must be flipped to be consistent with the first of its patch.
    turn: Vec<bool>,
    one_sided: Vec<bool>,
    closed: Vec<bool>,
}

impl Patches {
    fn new(triangles: &[[u32; 3]]) -> Self {
        let sides = sides(triangles);
        let mut found = Patches {
            of: vec![u32::MAX; triangles.len()],
            turn: vec![false; triangles.len()],
            one_sided: Vec::new(),
            closed: Vec::new(),
        };
        let neighbours = neighbours(&sides);
        for start in 0..triangles.len() {
            if found.of[start] == u32::MAX {
                found.spread(start as u32, &neighbours);
            }
        }
        found.closed = vec![true; found.one_sided.len()];
        for edge in sides.chunk_by(|a, b| a.0 == b.0) {
            // per patch: an even number of triangles closes it at this edge
            let mut owners: Vec<u32> = edge.iter().map(|side| found.of[side.1 as usize]).collect();
            owners.sort_unstable();
            for same in owners.chunk_by(|a, b| a == b) {
                found.closed[same[0] as usize] &= same.len() % 2 == 0;
            }
        }
        found
    }

    /// Assigns a new patch to all triangles connected with a triangle.
    fn spread(&mut self, start: u32, neighbours: &[(u32, u32, bool)]) {
        let patch = self.one_sided.len() as u32;
        self.one_sided.push(false);
        self.of[start as usize] = patch;
        let mut stack = vec![start];
        while let Some(t) = stack.pop() {
            let first = neighbours.partition_point(|n| n.0 < t);
            for &(_, other, agree) in neighbours[first..].iter().take_while(|n| n.0 == t) {
                // beside a flipped triangle, a consistent neighbour must be flipped too
                let turn = self.turn[t as usize] == agree;
                if self.of[other as usize] == u32::MAX {
                    self.of[other as usize] = patch;
                    self.turn[other as usize] = turn;
                    stack.push(other);
                } else if self.turn[other as usize] != turn {
                    self.one_sided[patch as usize] = true;
                }
            }
        }
    }

    fn apply(mut self, mesh: &mut Mesh) -> Oriented {
        let count = self.one_sided.len();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (t, &patch) in self.of.iter().enumerate() {
            members[patch as usize].push(t as u32);
        }
        let mut done = Oriented::default();
        let walls: Vec<Wall> = (0..count)
            .filter(|&p| self.closed[p] && !self.one_sided[p])
            .map(|p| Wall::new(mesh, &members[p], &self.turn, p))
            .collect();
        let deep = walls.len().saturating_mul(mesh.triangles.len()) > MAX_NESTING;
        let mut over = vec![false; count];
        for wall in &walls {
            let inside = |other: &&Wall| other.patch != wall.patch && other.contains(wall.point);
            let cavity = !deep && walls.iter().filter(inside).count() % 2 == 1;
            over[wall.patch] = (wall.volume < 0.0) != cavity;
        }
        for patch in 0..count {
            let turns = members[patch].iter().filter(|&&t| self.turn[t as usize]).count();
            if self.one_sided[patch] {
                done.one_sided += 1;
            } else if !self.closed[patch] {
                done.open += 1;
                over[patch] = 2 * turns > members[patch].len();
            }
        }
        for (t, triangle) in mesh.triangles.iter_mut().enumerate() {
            let patch = self.of[t] as usize;
            self.turn[t] = self.turn[t] != over[patch] && !self.one_sided[patch];
            if self.turn[t] {
                triangle.swap(1, 2);
                done.turned += 1;
            }
        }
        done
    }
}

/// From each triangle to its neighbours, and whether they are consistent.
fn neighbours(sides: &[Side]) -> Vec<(u32, u32, bool)> {
    let mut list = Vec::with_capacity(sides.len());
    for edge in sides.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, a, a_rises), (_, b, b_rises)] = *edge {
            list.push((a, b, a_rises != b_rises));
            list.push((b, a, a_rises != b_rises));
        }
    }
    list.sort_unstable();
    list
}

/// A closed patch with all its triangles consistent with its first.
struct Wall {
    patch: usize,
    triangles: Vec<[Point; 3]>,
    bounds: [Point; 2],
    volume: f64,
    /// A point on it.
    point: Point,
}

impl Wall {
    fn new(mesh: &Mesh, members: &[u32], turn: &[bool], patch: usize) -> Self {
        let corners = |t: u32| {
            let [a, b, c] = mesh.triangle(mesh.triangles[t as usize]);
            if turn[t as usize] { [a, c, b] } else { [a, b, c] }
        };
        let triangles: Vec<[Point; 3]> = members.iter().map(|&t| corners(t)).collect();
        // relative to a point of the patch, to avoid cancellation far from the origin
        let [a, b, c] = triangles[0];
        let volume = triangles.iter().map(|&[p, q, r]| volume([a, p, q, r])).sum();
        let bounds = bounds(triangles.iter().flatten()).unwrap_or_default();
        let point = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
        Wall { patch, triangles, bounds, volume, point }
    }

    /// True when the total solid angle of the patch around the point is that of a full sphere.
    fn contains(&self, point: Point) -> bool {
        let [low, high] = self.bounds;
        (0..3).all(|i| low[i] < point[i] && point[i] < high[i])
            && self.triangles.iter().map(|&t| solid_angle(point, t)).sum::<f64>().abs() > 2.0 * PI
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::topology;

    /// A tetrahedron of this size around a point, with outward triangles.
    fn shell(mesh: &mut Mesh, size: f64) {
        let first = mesh.vertices.len() as u32;
        let corners = [[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]];
        mesh.vertices.extend(corners.map(|c| c.map(|x| x * size)));
        mesh.triangles.extend([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]].map(|t| t.map(|i| i + first)));
    }

    fn enclosed(mesh: &Mesh) -> f64 {
        mesh.triangles.iter().map(|&t| mesh.triangle(t)).map(|[a, b, c]| volume([[0.0; 3], a, b, c])).sum()
    }

    #[test]
    fn flipped_triangles_are_restored_and_the_volume_is_positive() {
        let mut mesh = Mesh::default();
        shell(&mut mesh, 1.0);
        let sound = enclosed(&mesh);
        assert!(sound > 0.0);
        for mask in 0..16 {
            let mut turned = mesh.clone();
            (0..4).filter(|i| mask >> i & 1 == 1).for_each(|i| turned.triangles[i].swap(1, 2));
            let done = orient(&mut turned);
            assert!((enclosed(&turned) - sound).abs() < 1e-12, "{mask}");
            assert_eq!(done.turned, (mask as u32).count_ones() as usize);
        }
    }

    #[test]
    fn the_boundary_of_a_cavity_faces_into_it() {
        let mut mesh = Mesh::default();
        for size in [3.0, 1.0, 0.2] {
            shell(&mut mesh, size);
        }
        orient(&mut mesh);
        // solid, cavity, solid inside the cavity
        let one = 8.0 / 3.0;
        assert!((enclosed(&mesh) - one * (27.0 - 1.0 + 0.008)).abs() < 1e-9);
    }

    #[test]
    fn an_open_patch_keeps_the_majority_orientation_and_a_moebius_strip_is_reported() {
        let mut mesh = Mesh::default();
        shell(&mut mesh, 1.0);
        mesh.triangles.pop();
        mesh.triangles[0].swap(1, 2);
        assert_eq!(orient(&mut mesh), Oriented { turned: 1, one_sided: 0, open: 1 });
        assert_eq!(topology(&mesh.triangles).turned_edges, 0);
        // five vertices in a ring, each triangle with three consecutive ones
        let strip = (0..5u32).map(|i| [i, (i + 1) % 5, (i + 2) % 5]).collect();
        let mut moebius = Mesh::from_triangles((0..5).map(|i| [f64::from(i), 0.0, 0.0]).collect(), strip);
        assert_eq!(orient(&mut moebius), Oriented { turned: 0, one_sided: 1, open: 0 });
    }
}
