//! Cloth: triangles that are cut along a path in material space.
//!
//! Where the path crosses an edge, a node near the crossing moves onto it, or a node is inserted there; if either would
//! make a triangle with less than half of the sheet's least angle, the path goes through the nearer node instead. Then
//! the nodes along the path are doubled by the sides of their fans. The tip of a cut is the last edge that it crosses.

use std::collections::BTreeSet;

use crate::edit::NewNode;
use crate::error::CutError;
use crate::join::{find, union};

/// A place in material space [m].
pub type Place = [f64; 2];

/// Nearer to an end than this fraction of an edge, the end moves.
const SNAP: f64 = 0.25;
/// On the path, as a fraction of the shortest edge.
const ON_PATH: f64 = 1e-6;

/// A sheet of triangles in material space.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    rest: Vec<Place>,
    triangles: Vec<[u32; 3]>,
    least_angle: f64,
    shortest: f64,
}

/// A node that lies between two others: material coordinates, position and velocity are interpolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// The node.
    pub node: u32,
    /// From here; for a node that moves, where it was.
    pub from: u32,
    /// To here.
    pub to: u32,
    /// 0 at `from`, 1 at `to`.
    pub place: f64,
}

/// What a cut has changed, in the order in which it must be applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetEdit {
    /// Nodes that moved or were inserted, in order: a later one may lie between earlier ones.
    pub placed: Vec<Between>,
    /// Copies of nodes, numbered after the inserted ones.
    pub copies: Vec<NewNode>,
    /// Triangles of before with other corners.
    pub changed: Vec<(u32, [u32; 3])>,
    /// New triangles, numbered on, and the triangle of before that each is a part of.
    pub added: Vec<(u32, [u32; 3])>,
    /// Edges that are open now, by the nodes of before the doubling: folds there are gone.
    pub opened: Vec<[u32; 2]>,
    /// Length of the cut [m].
    pub length: f64,
}

impl Sheet {
    /// A sheet by its nodes in material space and its triangles, counter-clockwise.
    ///
    /// # Errors
    ///
    /// Coordinates that are not finite, corners that do not exist, triangles without positive area.
    pub fn new(rest: &[Place], triangles: &[[u32; 3]]) -> Result<Self, CutError> {
        check_places("node", rest)?;
        if triangles.is_empty() {
            return Err(CutError::NoElements);
        }
        let mut sheet = Self {
            rest: rest.to_vec(),
            triangles: triangles.to_vec(),
            least_angle: f64::INFINITY,
            shortest: f64::INFINITY,
        };
        for (element, triangle) in triangles.iter().enumerate() {
            if let Some(&node) = triangle.iter().find(|&&node| node as usize >= rest.len()) {
                return Err(CutError::NoSuchNode { element, node, nodes: rest.len() });
            }
            if !(sheet.area(triangle) > 0.0) {
                return Err(CutError::FlatElement { element });
            }
            sheet.least_angle = sheet.least_angle.min(sheet.angle(triangle));
            for k in 0..3 {
                let [a, b] = [triangle[k], triangle[(k + 1) % 3]].map(|node| rest[node as usize]);
                sheet.shortest = sheet.shortest.min(length(sub(b, a)));
            }
        }
        Ok(sheet)
    }

    /// Nodes in material space [m].
    pub fn rest(&self) -> &[Place] {
        &self.rest
    }

    /// Triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Area of a triangle [m²].
    pub fn area(&self, triangle: &[u32; 3]) -> f64 {
        let [a, b, c] = triangle.map(|node| self.rest[node as usize]);
        cross(sub(b, a), sub(c, a)) / 2.0
    }

    /// Least angle of a triangle [rad].
    pub fn angle(&self, triangle: &[u32; 3]) -> f64 {
        let x = triangle.map(|node| self.rest[node as usize]);
        let at = |k: usize| {
            let (u, v) = (sub(x[(k + 1) % 3], x[k]), sub(x[(k + 2) % 3], x[k]));
            cross(u, v).atan2(u[0] * v[0] + u[1] * v[1])
        };
        at(0).min(at(1)).min(at(2))
    }

    /// Cuts along a path in material space. A path that crosses no edge changes nothing.
    ///
    /// # Errors
    ///
    /// A path of no length or with coordinates that are not finite.
    pub fn cut(&mut self, path: &[Place]) -> Result<SheetEdit, CutError> {
        check_places("point of the path", path)?;
        if path.len() < 2 || path.windows(2).all(|pair| pair[0] == pair[1]) {
            return Err(CutError::NoLength);
        }
        let before = self.triangles.clone();
        let mut parents: Vec<u32> = (0..before.len() as u32).collect();
        let mut edit = SheetEdit::default();
        let mut way: Vec<u32> = Vec::new();
        for pair in path.windows(2).filter(|pair| pair[0] != pair[1]) {
            self.walk((pair[0], pair[1]), &mut way, &mut parents, &mut edit);
        }
        self.open(&way, &mut edit);
        for (number, triangle) in self.triangles.iter().enumerate() {
            match before.get(number) {
                Some(old) if old == triangle => {}
                Some(_) => edit.changed.push((number as u32, *triangle)),
                None => edit.added.push((parents[number], *triangle)),
            }
        }
        Ok(edit)
    }

    /// Goes along one straight piece of the path, from crossing to crossing.
    fn walk(&mut self, (from, to): (Place, Place), way: &mut Vec<u32>, parents: &mut Vec<u32>, edit: &mut SheetEdit) {
        let along = sub(to, from);
        let size = length(along);
        let near = ON_PATH * self.shortest;
        let step = near / size;
        let mut at = -step;
        // each crossing makes progress; the bound is for paths that graze
        for _ in 0..8 * self.triangles.len() + 64 {
            let last = way.last().copied();
            let mut next: Option<(f64, u32, u32)> = None;
            let mut offer = |place: f64, a: u32, b: u32| {
                if place > at + step && place <= 1.0 + step && next.is_none_or(|found| place < found.0) {
                    next = Some((place, a, b));
                }
            };
            for triangle in &self.triangles {
                for k in 0..3 {
                    let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                    let (da, db) = (sub(self.rest[a as usize], from), sub(self.rest[b as usize], from));
                    let (sa, sb) = (cross(along, da) / size, cross(along, db) / size);
                    if sa.abs() <= near && last != Some(a) {
                        offer(dot(along, da) / (size * size), a, a);
                    }
                    let apart = sa.abs() > near && sb.abs() > near && (sa > 0.0) != (sb > 0.0);
                    if apart && last != Some(a) && last != Some(b) {
                        let t = sa / (sa - sb);
                        let x = [da[0] + t * (db[0] - da[0]), da[1] + t * (db[1] - da[1])];
                        offer(dot(along, x) / (size * size), a.min(b), a.max(b));
                    }
                }
            }
            let Some((place, a, b)) = next else { return };
            at = place;
            let node = if a == b {
                a
            } else {
                let x = [from[0] + place * along[0], from[1] + place * along[1]];
                self.node_at(x, [a, b], way, parents, edit)
            };
            if way.last() != Some(&node) {
                way.push(node);
            }
        }
    }

    /// The node for a crossing of an edge: moved, inserted, or the nearer end as it is.
    fn node_at(
        &mut self,
        x: Place,
        [a, b]: [u32; 2],
        way: &[u32],
        parents: &mut Vec<u32>,
        edit: &mut SheetEdit,
    ) -> u32 {
        let (xa, xb) = (self.rest[a as usize], self.rest[b as usize]);
        let t = length(sub(x, xa)) / length(sub(xb, xa));
        let (near, far, place) = if t < 0.5 { (a, b, t) } else { (b, a, 1.0 - t) };
        let limit = 0.5 * self.least_angle;
        if place < SNAP && !way.contains(&near) && !self.on_boundary(near) {
            let old = std::mem::replace(&mut self.rest[near as usize], x);
            let around = self.triangles.iter().filter(|triangle| triangle.contains(&near));
            if around.map(|triangle| self.angle(triangle)).fold(f64::INFINITY, f64::min) >= limit {
                edit.placed.push(Between { node: near, from: near, to: far, place });
                return near;
            }
            self.rest[near as usize] = old;
        }
        let node = self.rest.len() as u32;
        self.rest.push(x);
        let split: Vec<usize> = (0..self.triangles.len())
            .filter(|&k| self.triangles[k].contains(&a) && self.triangles[k].contains(&b))
            .collect();
        let halves = |k: usize| {
            let of = |gone: u32| self.triangles[k].map(|n| if n == gone { node } else { n });
            [of(b), of(a)]
        };
        if split.iter().flat_map(|&k| halves(k)).any(|triangle| !(self.angle(&triangle) >= limit)) {
            self.rest.pop();
            return near;
        }
        for k in split {
            let [first, second] = [b, a].map(|gone| self.triangles[k].map(|n| if n == gone { node } else { n }));
            self.triangles[k] = first;
            self.triangles.push(second);
            parents.push(parents[k]);
        }
        edit.placed.push(Between { node, from: a, to: b, place: t });
        node
    }

    fn on_boundary(&self, node: u32) -> bool {
        // an inner node has each neighbour in two triangles
        let mut ends: Vec<u32> = Vec::new();
        for triangle in self.triangles.iter().filter(|triangle| triangle.contains(&node)) {
            ends.extend(triangle.iter().filter(|&&n| n != node));
        }
        ends.sort_unstable();
        ends.chunk_by(|a, b| a == b).any(|group| group.len() != 2)
    }

    /// Doubles the nodes along the way by the sides of their fans.
    fn open(&mut self, way: &[u32], edit: &mut SheetEdit) {
        let has_edge = |a: u32, b: u32| self.triangles.iter().any(|t| t.contains(&a) && t.contains(&b));
        let mut cut: BTreeSet<[u32; 2]> = BTreeSet::new();
        for pair in way.windows(2).filter(|pair| has_edge(pair[0], pair[1])) {
            cut.insert([pair[0].min(pair[1]), pair[0].max(pair[1])]);
        }
        for edge in &cut {
            let inner = self.triangles.iter().filter(|t| t.contains(&edge[0]) && t.contains(&edge[1])).count() > 1;
            if inner {
                edit.opened.push(*edge);
                edit.length += length(sub(self.rest[edge[1] as usize], self.rest[edge[0] as usize]));
            }
        }
        let nodes: BTreeSet<u32> = way.iter().copied().collect();
        let mut renames: Vec<(usize, u32, u32)> = Vec::new();
        for &node in &nodes {
            let fan: Vec<usize> = (0..self.triangles.len()).filter(|&k| self.triangles[k].contains(&node)).collect();
            let mut roots: Vec<u32> = (0..fan.len() as u32).collect();
            for i in 1..fan.len() {
                for j in 0..i {
                    let (s, t) = (self.triangles[fan[i]], self.triangles[fan[j]]);
                    let mut shared = s.iter().filter(|&&n| n != node && t.contains(&n));
                    if shared.any(|&n| !cut.contains(&[n.min(node), n.max(node)])) {
                        union(&mut roots, i as u32, j as u32);
                    }
                }
            }
            for root in 1..fan.len() as u32 {
                if find(&mut roots, root) != root {
                    continue;
                }
                let copy = self.rest.len() as u32;
                self.rest.push(self.rest[node as usize]);
                edit.copies.push(NewNode { node: copy, from: node });
                for k in root..fan.len() as u32 {
                    if find(&mut roots, k) == root {
                        renames.push((fan[k as usize], node, copy));
                    }
                }
            }
        }
        for (triangle, node, copy) in renames {
            let corners = &mut self.triangles[triangle];
            *corners = corners.map(|n| if n == node { copy } else { n });
        }
    }
}

fn sub(a: Place, b: Place) -> Place {
    [a[0] - b[0], a[1] - b[1]]
}

fn cross(a: Place, b: Place) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot(a: Place, b: Place) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn length(a: Place) -> f64 {
    dot(a, a).sqrt()
}

fn check_places(what: &'static str, places: &[Place]) -> Result<(), CutError> {
    match places.iter().position(|p| !p[0].is_finite() || !p[1].is_finite()) {
        Some(index) => Err(CutError::NotFinite { what, index }),
        None => Ok(()),
    }
}
