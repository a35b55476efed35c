//! Closed surfaces of triangles, and the checks that boundary elements need.

use crate::error::ReduceError;
use crate::material::Material;
use crate::mesh::{Vec3, check_places, cross, dot3, key_of_material, key_of_nodes, length, scale, sub};
use robust::{Coord3D, orient3d};
use std::collections::BTreeMap;
use twox_hash::XxHash3_64;

/// A surface of triangles.
///
/// ```
/// use sinew_reduce::{ReduceError, Surface};
/// let nodes = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let open = Surface { nodes, triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2]] };
/// assert_eq!(open.check(), Err(ReduceError::Open { edge: [1, 2] }));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Positions [m].
    pub nodes: Vec<Vec3>,
    /// Nodes of the triangles; normals point out of the matter.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Corners of a triangle [m].
    pub(crate) fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|i| self.nodes[i as usize])
    }

    /// Twice the area times the unit normal [m²].
    pub(crate) fn double_area(&self, triangle: usize) -> Vec3 {
        let [a, b, c] = self.corners(triangle);
        cross(sub(b, a), sub(c, a))
    }

    /// A third of the triangles at each node [m²].
    pub fn areas(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.nodes.len()];
        for (t, triangle) in self.triangles.iter().enumerate() {
            let share = length(self.double_area(t)) / 6.0;
            triangle.iter().for_each(|&i| areas[i as usize] += share);
        }
        areas
    }

    /// Forces on nodes by a unit pressure on the surface, towards the matter [m²].
    pub fn pressure_loads(&self) -> Vec<Vec3> {
        let mut loads = vec![[0.0; 3]; self.nodes.len()];
        for (t, triangle) in self.triangles.iter().enumerate() {
            let push = scale(self.double_area(t), -1.0 / 6.0);
            for &i in triangle {
                (0..3).for_each(|a| loads[i as usize][a] += push[a]);
            }
        }
        loads
    }

    /// Enclosed volume; negative when the normals point inwards [m³].
    pub fn volume(&self) -> f64 {
        (0..self.triangles.len()).map(|t| dot3(self.double_area(t), self.corners(t)[0])).sum::<f64>() / 6.0
    }

    /// Returns an error for a surface that is open, not oriented, flat in places, or crosses itself.
    pub fn check(&self) -> Result<(), ReduceError> {
        let count = self.nodes.len();
        check_places(&self.nodes)?;
        let mut used = vec![false; count];
        for (index, triangle) in self.triangles.iter().enumerate() {
            if let Some(&node) = triangle.iter().find(|&&i| i as usize >= count) {
                return Err(ReduceError::NoNode { element: "triangle", index, node, count });
            }
            triangle.iter().for_each(|&i| used[i as usize] = true);
            if !(length(self.double_area(index)) > 0.0) {
                return Err(ReduceError::Flat { triangle: index });
            }
        }
        if let Some(node) = used.iter().position(|u| !u) {
            return Err(ReduceError::Loose { node });
        }
        self.check_edges()?;
        match self.crossing() {
            Some([a, b]) => Err(ReduceError::Crossing { a, b }),
            None => Ok(()),
        }
    }

    fn check_edges(&self) -> Result<(), ReduceError> {
        // counts of both directions of each edge
        let mut edges: BTreeMap<[u32; 2], [u32; 2]> = BTreeMap::new();
        for [a, b, c] in &self.triangles {
            for (a, b) in [(a, b), (b, c), (c, a)] {
                edges.entry([*a.min(b), *a.max(b)]).or_default()[usize::from(a > b)] += 1;
            }
        }
        for (edge, counts) in edges {
            match counts {
                [1, 1] => {}
                [0, 1] | [1, 0] => return Err(ReduceError::Open { edge }),
                _ => return Err(ReduceError::EdgeOrientation { edge }),
            }
        }
        Ok(())
    }

    /// Two triangles that cross, in the order of their lower ends along x.
    fn crossing(&self) -> Option<[usize; 2]> {
        let boxes: Vec<[Vec3; 2]> = (0..self.triangles.len())
            .map(|t| {
                let c = self.corners(t);
                let fold = |with: fn(f64, f64) -> f64| [0, 1, 2].map(|a| with(with(c[0][a], c[1][a]), c[2][a]));
                [fold(f64::min), fold(f64::max)]
            })
            .collect();
        let mut order: Vec<usize> = (0..boxes.len()).collect();
        order.sort_by(|&a, &b| boxes[a][0][0].total_cmp(&boxes[b][0][0]));
        for (at, &a) in order.iter().enumerate() {
            for &b in order[at + 1..].iter().take_while(|&&b| boxes[b][0][0] <= boxes[a][1][0]) {
                let apart = (1..3).any(|k| boxes[a][1][k] < boxes[b][0][k] || boxes[b][1][k] < boxes[a][0][k]);
                if !apart && (self.pierces(a, b) || self.pierces(b, a)) {
                    return Some([a.min(b), a.max(b)]);
                }
            }
        }
        None
    }

    /// True when an edge of `a` that shares no node with `b` goes through `b`, its rim included. Corners that
    /// touch a plane are not crossings.
    fn pierces(&self, a: usize, b: usize) -> bool {
        let place = |i: u32| {
            let [x, y, z] = self.nodes[i as usize];
            Coord3D { x, y, z }
        };
        let [p, q, r] = self.triangles[b].map(place);
        let edges = [[0, 1], [1, 2], [2, 0]].map(|e| e.map(|k: usize| self.triangles[a][k]));
        edges.into_iter().any(|[s, e]| {
            if self.triangles[b].contains(&s) || self.triangles[b].contains(&e) {
                return false;
            }
            let (s, e) = (place(s), place(e));
            if !(orient3d(p, q, r, s) * orient3d(p, q, r, e) < 0.0) {
                return false;
            }
            let sides = [orient3d(s, e, p, q), orient3d(s, e, q, r), orient3d(s, e, r, p)];
            sides.iter().all(|v| *v >= 0.0) || sides.iter().all(|v| *v <= 0.0)
        })
    }

    /// Hash of everything that a compliance of this surface depends on.
    pub fn key(&self, material: &Material) -> u64 {
        let mut bytes = key_of_nodes(&self.nodes);
        self.triangles.iter().flatten().for_each(|i| bytes.extend(i.to_le_bytes()));
        key_of_material(&mut bytes, material);
        XxHash3_64::oneshot(&bytes)
    }
}
