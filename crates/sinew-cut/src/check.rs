//! What must hold after every tick.

use crate::NONE;
use crate::body::Body;
use crate::edit::Skin;
use crate::join::{find, union};

/// A law that does not hold: a fault of this crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

impl Body {
    /// Checks all invariants: fills of each element sum to 1 and are positive, overlap on a face means three shared
    /// nodes, copies at a node hang together, the surface is closed and oriented and has the volume of the fills.
    /// A body from which matter was taken away has no elements whose fills must sum to 1.
    ///
    /// # Errors
    ///
    /// The first law that does not hold.
    pub fn check(&self) -> Result<(), Broken> {
        self.check_fills()?;
        self.check_nodes()?;
        self.check_faces()?;
        self.check_surface()
    }

    fn check_fills(&self) -> Result<(), Broken> {
        let whole = self.parts.elements.iter().all(|element| element.fill > 0.0);
        for tet in 0..self.mesh.tets.len() as u32 {
            let mut sum = 0.0;
            for copy in self.parts.copies(tet) {
                let element = &self.parts.elements[copy as usize];
                let parents = element.nodes.map(|node| self.parts.node_parents[node as usize]);
                if element.parent != tet || parents != self.mesh.tets[tet as usize] {
                    return Err(Broken(format!("element copy {copy} has corners of another element than {tet}")));
                }
                if !(element.fill > 0.0) {
                    return Err(Broken(format!("element copy {copy} has the fill {:e}", element.fill)));
                }
                sum += element.fill;
            }
            let right = if whole { (sum - 1.0).abs() <= 1e-12 } else { sum <= 1.0 + 1e-12 };
            if !right {
                return Err(Broken(format!("fills of element {tet} sum to 1 {:+e}", sum - 1.0)));
            }
        }
        Ok(())
    }

    /// Each node copy: its elements are one component.
    fn check_nodes(&self) -> Result<(), Broken> {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.parts.node_parents.len()];
        for (copy, element) in self.parts.elements.iter().enumerate().filter(|(_, e)| e.fill > 0.0) {
            element.nodes.iter().for_each(|&node| members[node as usize].push(copy as u32));
        }
        let mut place = vec![NONE; self.parts.elements.len()];
        for (node, list) in members.iter().enumerate() {
            let parent = self.parts.node_parents[node];
            let mut roots: Vec<u32> = (0..list.len() as u32).collect();
            list.iter().enumerate().for_each(|(k, &copy)| place[copy as usize] = k as u32);
            let mut owner = None;
            for (k, &copy) in list.iter().enumerate() {
                let tet = self.parts.elements[copy as usize].parent;
                let Some(corner) = self.mesh.corner(tet, parent) else { continue };
                if self.parts.planes(copy).iter().all(|plane| plane.levels[corner] > 0) {
                    union(&mut roots, *owner.get_or_insert(k as u32), k as u32);
                }
                for side in (0..4).filter(|&side| side != corner) {
                    let neighbour = self.mesh.neighbours[tet as usize][side];
                    if neighbour == NONE {
                        continue;
                    }
                    let here = self.mesh.face_order(tet, side);
                    let there = self.mesh.face_order(neighbour, self.mesh.back(neighbour, tet));
                    for other in self.parts.copies(neighbour).filter(|&other| place[other as usize] != NONE) {
                        if self.parts.overlap((copy, here), (other, there)) {
                            union(&mut roots, k as u32, place[other as usize]);
                        }
                    }
                }
            }
            list.iter().for_each(|&copy| place[copy as usize] = NONE);
            if (0..list.len() as u32).any(|k| find(&mut roots, k) != 0) {
                return Err(Broken(format!(
                    "node copy {node} holds {} elements that do not hang together",
                    list.len()
                )));
            }
        }
        Ok(())
    }

    /// Overlap on a face: three shared nodes.
    fn check_faces(&self) -> Result<(), Broken> {
        for tet in 0..self.mesh.tets.len() as u32 {
            for side in 0..4 {
                let neighbour = self.mesh.neighbours[tet as usize][side];
                if neighbour == NONE || neighbour < tet {
                    continue;
                }
                let here = self.mesh.face_order(tet, side);
                let there = self.mesh.face_order(neighbour, self.mesh.back(neighbour, tet));
                for a in self.parts.copies(tet) {
                    for b in self.parts.copies(neighbour) {
                        let nodes =
                            |copy: u32, order: [usize; 3]| order.map(|k| self.parts.elements[copy as usize].nodes[k]);
                        if self.parts.overlap((a, here), (b, there)) && nodes(a, here) != nodes(b, there) {
                            return Err(Broken(format!(
                                "copies {a} and {b} overlap on a face but do not share its nodes"
                            )));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn check_surface(&self) -> Result<(), Broken> {
        let mut edges: Vec<(u32, u32, i32)> = Vec::new();
        for triangle in self.triangles() {
            let [a, b, c] = triangle.points;
            for (from, to) in [(a, b), (b, c), (c, a)] {
                edges.push((from.min(to), from.max(to), if from < to { 1 } else { -1 }));
            }
        }
        edges.sort_unstable();
        for group in edges.chunk_by(|e, f| (e.0, e.1) == (f.0, f.1)) {
            let sum: i32 = group.iter().map(|e| e.2).sum();
            if sum != 0 {
                let (a, b, _) = group[0];
                return Err(Broken(format!("the edge from surface point {a} to {b} is open ({sum:+})")));
            }
        }
        let volume: f64 = (0..self.parts.elements.len() as u32).map(|copy| self.volume(copy)).sum();
        let enclosed = self.enclosed_volume();
        if (volume - enclosed).abs() > 1e-9 * volume {
            return Err(Broken(format!("the surface encloses {enclosed} m³ of {volume} m³")));
        }
        Ok(())
    }

    /// Rest positions of the surface points, by number.
    fn point_places(&self) -> Vec<crate::Point> {
        let mut places = Vec::new();
        for point in self.points() {
            places.resize(places.len().max(point.point as usize + 1), crate::Point::ZERO);
            let rest = |node: u32| self.mesh.rest[self.parts.node_parents[node as usize] as usize];
            places[point.point as usize] =
                point.nodes.iter().zip(point.weights).map(|(&node, weight)| rest(node) * weight).sum();
        }
        places
    }

    /// Volume that the surface encloses at rest [m³].
    pub fn enclosed_volume(&self) -> f64 {
        let places = self.point_places();
        let six = self.triangles().map(|triangle| {
            let [a, b, c] = triangle.points.map(|p| places[p as usize] - self.mesh.low);
            a.dot(b.cross(c))
        });
        six.sum::<f64>() / 6.0
    }

    /// Area of the inner faces at rest: twice the area of the cuts [m²].
    pub fn inner_area(&self) -> f64 {
        let places = self.point_places();
        let inner = self.triangles().filter(|triangle| matches!(triangle.skin, Skin::Inner(_)));
        inner
            .map(|triangle| {
                let [a, b, c] = triangle.points.map(|p| places[p as usize]);
                (b - a).cross(c - a).length() / 2.0
            })
            .sum()
    }
}
