//! The closed surface of the parts: outer faces as far as they have matter, and inner faces of cuts.
//!
//! Faces between elements never show: the parts on either side of them both cover them. A point is known by the node
//! copies that carry it and its exact weights, so that the tip of a cut closes by itself and the two sides of an open
//! cut differ. Where a neighbour has a corner on an edge, the edge gets the point too; with this each directed edge of
//! the surface occurs as often as its reverse.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::NONE;
use crate::edit::{Edit, Skin, SurfacePoint, Triangle};
use crate::exact;
use crate::matter::Matter;
use crate::mesh::Mesh;
use crate::parts::{Parts, Patch};

/// Keys are hashes already.
#[derive(Default)]
pub(crate) struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }
    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

#[derive(Clone, Copy)]
struct Point {
    key: u128,
    users: u32,
    nodes: [u32; 4],
    weights: [f64; 4],
}

#[derive(Clone, Copy)]
struct Slot {
    triangle: Triangle,
    next: u32,
}

/// A corner of a polygon that a copy shows.
#[derive(Clone, Copy)]
struct Corner {
    key: u128,
    nodes: [u32; 4],
    weights: [f64; 4],
}

struct Polygon {
    skin: Skin,
    start: usize,
    end: usize,
    /// A point in the middle, if corners of neighbours lie on its edges: a fan could have triangles without area.
    middle: bool,
}

/// Points and triangles of the surface.
#[derive(Default)]
pub(crate) struct Surface {
    points: Vec<Point>,
    free_points: Vec<u32>,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    /// Look-ups only: its order is never used.
    by_key: HashMap<u128, u32, BuildHasherDefault<Plain>>,
    /// First triangle and signature of each copy. (elements)
    skins: Vec<(u32, u64)>,
    boundary_tets: Vec<bool>,
    boundary_nodes: Vec<bool>,
    // buffers
    corners: Vec<Corner>,
    polygons: Vec<Polygon>,
    pending: Vec<(u32, u64, usize, usize)>,
    touched_points: Vec<u32>,
    face_points: Vec<[i64; 3]>,
    dirty: Vec<u32>,
}

impl Surface {
    pub fn new(mesh: &Mesh, elements: usize, triangles: usize) -> Self {
        let mut surface = Self {
            points: Vec::with_capacity(triangles),
            free_points: Vec::with_capacity(triangles),
            slots: Vec::with_capacity(triangles),
            free_slots: Vec::with_capacity(triangles),
            by_key: HashMap::with_capacity_and_hasher(2 * triangles, BuildHasherDefault::default()),
            skins: Vec::with_capacity(elements),
            boundary_tets: mesh.neighbours.iter().map(|n| n.contains(&NONE)).collect(),
            boundary_nodes: vec![false; mesh.rest.len()],
            ..Self::default()
        };
        for (tet, neighbours) in mesh.neighbours.iter().enumerate() {
            for corner in (0..4).filter(|&corner| neighbours[corner] == NONE) {
                mesh.face_order(tet as u32, corner)
                    .iter()
                    .for_each(|&k| surface.boundary_nodes[mesh.tets[tet][k] as usize] = true);
            }
        }
        surface
    }

    pub fn reserve(&mut self, items: usize) {
        self.corners.reserve(16 * items);
        self.polygons.reserve(4 * items);
        self.pending.reserve(4 * items);
        self.touched_points.reserve(16 * items);
        self.face_points.reserve(256);
        self.dirty.reserve(8 * items);
    }

    /// Elements that may be split in this tick without a pool that grows.
    pub fn room(&self) -> usize {
        (self.slots.capacity() - self.slots.len() + self.free_slots.len()) / 64
    }

    pub fn triangles(&self) -> impl Iterator<Item = &Triangle> {
        self.slots.iter().map(|slot| &slot.triangle).filter(|t| t.element != NONE)
    }

    pub fn points(&self) -> impl Iterator<Item = SurfacePoint> + '_ {
        let used = self.points.iter().enumerate().filter(|(_, p)| p.users > 0);
        used.map(|(k, p)| SurfacePoint { point: k as u32, element: NONE, nodes: p.nodes, weights: p.weights })
    }

    /// Draws the touched copies anew, and those around them whose edges may have got or lost points.
    pub fn update(
        &mut self,
        mesh: &Mesh,
        parts: &Parts,
        touched: &[u32],
        work: &mut crate::knife::Work,
        edit: &mut Edit,
    ) {
        self.skins.resize(parts.elements.len(), (NONE, 0));
        let stamp = work.next_stamp();
        self.find_dirty(mesh, parts, touched, &mut work.tet_stamps, stamp);
        self.corners.clear();
        self.polygons.clear();
        self.pending.clear();
        self.touched_points.clear();
        for k in 0..self.dirty.len() {
            let copy = self.dirty[k];
            let first = self.polygons.len();
            let corner = self.corners.len();
            if !parts.removed(copy) {
                self.draw(mesh, parts, copy, &mut work.matter);
            }
            let signature = self.signature(first);
            if self.skins[copy as usize].1 == signature {
                self.polygons.truncate(first);
                self.corners.truncate(corner);
                continue;
            }
            self.pending.push((copy, signature, first, self.polygons.len()));
            self.take_off(copy, edit);
        }
        for k in 0..self.pending.len() {
            let (copy, signature, start, end) = self.pending[k];
            self.skins[copy as usize].1 = signature;
            for polygon in start..end {
                self.put_on(copy, polygon, edit);
            }
        }
        self.settle_points(edit);
        // numbers that are taken off are not used again before the next tick
        self.free_slots.extend(&edit.removed_triangles);
    }

    fn find_dirty(&mut self, mesh: &Mesh, parts: &Parts, touched: &[u32], stamps: &mut [u32], stamp: u32) {
        self.dirty.clear();
        let mut add = |tet: u32, dirty: &mut Vec<u32>| {
            if std::mem::replace(&mut stamps[tet as usize], stamp) != stamp {
                dirty.extend(parts.copies(tet));
            }
        };
        for &copy in touched {
            let element = &parts.elements[copy as usize];
            let tet = element.parent;
            if parts.removed(copy) {
                self.dirty.push(copy);
            }
            add(tet, &mut self.dirty);
            mesh.neighbours[tet as usize].iter().filter(|&&n| n != NONE).for_each(|&n| add(n, &mut self.dirty));
            let nodes = mesh.tets[tet as usize];
            for a in 0..4 {
                for b in 0..a {
                    if !self.boundary_nodes[nodes[a] as usize] || !self.boundary_nodes[nodes[b] as usize] {
                        continue;
                    }
                    for &other in mesh.star(nodes[a]) {
                        if self.boundary_tets[other as usize] && mesh.corner(other, nodes[b]).is_some() {
                            add(other, &mut self.dirty);
                        }
                    }
                }
            }
        }
        let boundary = &self.boundary_tets;
        let shows = |copy: &u32| {
            let element = &parts.elements[*copy as usize];
            element.block != NONE || boundary[element.parent as usize] || parts.removed(*copy)
        };
        self.dirty.retain(shows);
        self.dirty.sort_unstable();
        self.dirty.dedup();
    }

    /// The polygons that a copy shows, into the buffers.
    fn draw(&mut self, mesh: &Mesh, parts: &Parts, copy: u32, matter: &mut Matter) {
        let element = parts.elements[copy as usize];
        let tet = element.parent;
        let neighbours = mesh.neighbours[tet as usize];
        parts.matter(copy, matter);
        for face in matter.faces() {
            let skin = match face.plane {
                side @ 0..4 if neighbours[side as usize] == NONE => Skin::Outer(side),
                0..4 => continue,
                plane => Skin::Inner(parts.planes(copy)[plane as usize - 4].cut),
            };
            let start = self.corners.len();
            let corners = face.corners();
            let mut middle = false;
            for k in 0..corners.len() {
                let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
                let from = exact::reduced(&matter.points[a as usize]);
                self.corners.push(corner(&element.nodes, &from));
                let mate = mate(matter, face.plane, a, b);
                let before = self.corners.len();
                match (skin, mate) {
                    (Skin::Outer(side), Some(mate @ 0..4)) => {
                        let to = exact::reduced(&matter.points[b as usize]);
                        self.points_on_edge(mesh, parts, copy, (side, mate), (&from, &to));
                    }
                    (Skin::Inner(_), Some(mate @ 0..4)) if neighbours[mate as usize] != NONE => {
                        let to = exact::reduced(&matter.points[b as usize]);
                        let line = parts.planes(copy)[face.plane as usize - 4].levels;
                        self.points_on_face(mesh, parts, copy, mate, (&from, &to, &line));
                    }
                    _ => {}
                }
                middle |= self.corners.len() > before;
            }
            self.polygons.push(Polygon { skin, start, end: self.corners.len(), middle });
        }
    }

    /// Corners of overlapping matter that lie on an edge of a cut, where it meets the face to a neighbour.
    fn points_on_face(
        &mut self,
        mesh: &Mesh,
        parts: &Parts,
        copy: u32,
        side: u8,
        (from, to, plane): (&[i128; 4], &[i128; 4], &[i32; 4]),
    ) {
        let element = &parts.elements[copy as usize];
        let tet = element.parent;
        let neighbour = mesh.neighbours[tet as usize][side as usize];
        let here = mesh.face_order(tet, side as usize);
        let there = mesh.face_order(neighbour, mesh.back(neighbour, tet));
        let nodes = here.map(|k| element.nodes[k]);
        let line = here.map(|k| plane[k]);
        let ends = [from, to].map(|point| here.map(|k| point[k] as i64));
        self.face_points.clear();
        for a in parts.copies(tet) {
            if here.map(|k| parts.elements[a as usize].nodes[k]) != nodes {
                continue;
            }
            for b in parts.copies(neighbour) {
                if there.map(|k| parts.elements[b as usize].nodes[k]) != nodes {
                    continue;
                }
                if parts.planes(a).len() + parts.planes(b).len() < 2 {
                    continue;
                }
                let mut patch = Patch::whole();
                let lines = parts.planes(a).iter().map(|plane| here.map(|k| plane.levels[k]));
                let mut lines = lines.chain(parts.planes(b).iter().map(|plane| there.map(|k| plane.levels[k])));
                if !lines.all(|line| patch.clip(&line)) {
                    continue;
                }
                for point in patch.corners() {
                    if exact::line_side(point, &line) == 0 {
                        self.face_points.push(lowest_terms(point));
                    }
                }
            }
        }
        let points = &mut self.face_points;
        points.retain(|point| between(point, &ends));
        order_along(points, &ends);
        points.dedup();
        for k in 0..self.face_points.len() {
            let mut point = [0; 4];
            for (&at, &h) in here.iter().zip(&self.face_points[k]) {
                point[at] = i128::from(h);
            }
            self.corners.push(corner(&element.nodes, &point));
        }
    }

    /// Crossings of cuts with an edge of the rest mesh, of all copies around it with the same two nodes.
    fn points_on_edge(
        &mut self,
        mesh: &Mesh,
        parts: &Parts,
        copy: u32,
        (side, mate): (u8, u8),
        (from, to): (&[i128; 4], &[i128; 4]),
    ) {
        let element = &parts.elements[copy as usize];
        let parents = mesh.tets[element.parent as usize];
        let mut on = (0..4_usize).filter(|&k| k != side as usize && k != mate as usize);
        let (Some(i), Some(j)) = (on.next(), on.next()) else { return };
        let nodes = [element.nodes[i], element.nodes[j]];
        let ends = [from, to].map(|point| [point[i] as i64, point[j] as i64, 0]);
        self.face_points.clear();
        for &tet in mesh.star(parents[i]) {
            let Some(b) = mesh.corner(tet, parents[j]) else { continue };
            let Some(a) = mesh.corner(tet, parents[i]) else { continue };
            for other in parts.copies(tet) {
                let corners = parts.elements[other as usize].nodes;
                if [corners[a], corners[b]] != nodes {
                    continue;
                }
                for plane in parts.planes(other) {
                    let (s, t) = (i64::from(plane.levels[a]), i64::from(plane.levels[b]));
                    if s.signum() * t.signum() >= 0 {
                        continue;
                    }
                    let point = [t.abs(), s.abs(), 0];
                    let kept = |p: &crate::parts::Plane| exact::line_side(&point, &[p.levels[a], p.levels[b], 0]) >= 0;
                    if parts.planes(other).iter().all(kept) {
                        self.face_points.push(lowest_terms(&point));
                    }
                }
            }
        }
        let points = &mut self.face_points;
        points.retain(|point| between(point, &ends));
        order_along(points, &ends);
        points.dedup();
        for k in 0..self.face_points.len() {
            let mut point = [0; 4];
            point[i] = i128::from(self.face_points[k][0]);
            point[j] = i128::from(self.face_points[k][1]);
            self.corners.push(corner(&element.nodes, &point));
        }
    }

    fn signature(&self, first: usize) -> u64 {
        let mut hash = 0_u64;
        for polygon in &self.polygons[first..] {
            hash = mix(
                hash,
                match polygon.skin {
                    Skin::Outer(side) => u64::from(side),
                    Skin::Inner(cut) => 4 + u64::from(cut),
                },
            );
            for corner in &self.corners[polygon.start..polygon.end] {
                hash = mix(mix(hash, corner.key as u64), (corner.key >> 64) as u64);
            }
        }
        hash
    }

    fn take_off(&mut self, copy: u32, edit: &mut Edit) {
        let mut at = std::mem::replace(&mut self.skins[copy as usize].0, NONE);
        while at != NONE {
            let slot = &mut self.slots[at as usize];
            for point in slot.triangle.points {
                self.points[point as usize].users -= 1;
                self.touched_points.push(point);
            }
            slot.triangle.element = NONE;
            edit.removed_triangles.push(at);
            at = slot.next;
        }
    }

    fn put_on(&mut self, copy: u32, polygon: usize, edit: &mut Edit) {
        let Polygon { skin, start, end, middle } = self.polygons[polygon];
        if !middle {
            for k in start + 1..end - 1 {
                self.triangle(copy, skin, [start, k, k + 1], edit);
            }
            return;
        }
        let count = (end - start) as f64;
        let mut centre = Corner { key: 0, nodes: self.corners[start].nodes, weights: [0.0; 4] };
        // all corners are corners of one copy, so that four nodes are enough
        let mut nodes = [NONE; 4];
        for corner in &self.corners[start..end] {
            for (node, weight) in corner.nodes.iter().zip(corner.weights) {
                if weight == 0.0 {
                    continue;
                }
                let place = nodes.iter().position(|n| n == node || *n == NONE).unwrap_or(0);
                nodes[place] = *node;
                centre.weights[place] += weight / count;
            }
        }
        let filler = nodes[0];
        centre.nodes = nodes.map(|n| if n == NONE { filler } else { n });
        // of this polygon only
        let (mut low, mut high) = (u64::from(copy), 0x5EED);
        for corner in &self.corners[start..end] {
            low = mix(low, corner.key as u64);
            high = mix(high, (corner.key >> 64) as u64);
        }
        centre.key = u128::from(high) << 64 | u128::from(low);
        self.corners.push(centre);
        let centre = self.corners.len() - 1;
        for k in start..end {
            let next = if k + 1 == end { start } else { k + 1 };
            self.triangle(copy, skin, [centre, k, next], edit);
        }
    }

    fn triangle(&mut self, copy: u32, skin: Skin, corners: [usize; 3], edit: &mut Edit) {
        let points = corners.map(|k| self.point(copy, k, edit));
        let next = std::mem::replace(&mut self.skins[copy as usize].0, NONE);
        let number = self.free_slots.pop().unwrap_or(self.slots.len() as u32);
        let triangle = Triangle { triangle: number, points, element: copy, skin };
        let slot = Slot { triangle, next };
        if number as usize == self.slots.len() {
            self.slots.push(slot);
        } else {
            self.slots[number as usize] = slot;
        }
        self.skins[copy as usize].0 = number;
        edit.new_triangles.push(triangle);
    }

    fn point(&mut self, copy: u32, corner: usize, edit: &mut Edit) -> u32 {
        let Corner { key, nodes, weights } = self.corners[corner];
        if let Some(&point) = self.by_key.get(&key) {
            self.points[point as usize].users += 1;
            return point;
        }
        let number = self.free_points.pop().unwrap_or(self.points.len() as u32);
        let point = Point { key, users: 1, nodes, weights };
        if number as usize == self.points.len() {
            self.points.push(point);
        } else {
            self.points[number as usize] = point;
        }
        self.by_key.insert(key, number);
        edit.new_points.push(SurfacePoint { point: number, element: copy, nodes, weights });
        number
    }

    /// Points that nothing uses any more.
    fn settle_points(&mut self, edit: &mut Edit) {
        self.touched_points.sort_unstable();
        self.touched_points.dedup();
        for k in 0..self.touched_points.len() {
            let number = self.touched_points[k];
            let point = self.points[number as usize];
            if point.users == 0 {
                self.by_key.remove(&point.key);
                self.free_points.push(number);
                edit.removed_points.push(number);
            }
        }
    }
}

/// The other face at an edge of a face.
fn mate(matter: &Matter, plane: u8, a: u8, b: u8) -> Option<u8> {
    matter.faces().iter().filter(|face| face.plane != plane).find_map(|face| {
        let corners = face.corners();
        let reverse = |k: usize| (corners[k], corners[(k + 1) % corners.len()]) == (b, a);
        (0..corners.len()).any(reverse).then_some(face.plane)
    })
}

/// A corner by the nodes that carry it and its exact weights.
fn corner(nodes: &[u32; 4], point: &[i128; 4]) -> Corner {
    let mut carriers = [(NONE, 0_i128); 4];
    let mut count = 0;
    for (&node, &h) in nodes.iter().zip(point) {
        if h != 0 {
            carriers[count] = (node, h);
            count += 1;
        }
    }
    carriers[..count].sort_unstable_by_key(|c| c.0);
    let (mut low, mut high) = (0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344);
    for (node, h) in &carriers[..count] {
        for word in [u64::from(*node), *h as u64, (*h >> 64) as u64] {
            low = mix(low, word);
            high = mix(high ^ 0xA409_3822_299F_31D0, word);
        }
    }
    let sum = carriers[..count].iter().map(|c| c.1).sum::<i128>() as f64;
    let filler = carriers[0].0;
    Corner {
        key: u128::from(high) << 64 | u128::from(low),
        nodes: carriers.map(|(node, _)| if node == NONE { filler } else { node }),
        weights: carriers.map(|(_, h)| h as f64 / sum),
    }
}

fn mix(hash: u64, word: u64) -> u64 {
    let mut x = hash.rotate_left(23) ^ word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 30;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn lowest_terms(point: &[i64; 3]) -> [i64; 3] {
    let p = exact::reduced(&[i128::from(point[0]), i128::from(point[1]), i128::from(point[2]), 0]);
    [p[0] as i64, p[1] as i64, p[2] as i64]
}

/// Compares weight `k` of two points.
fn compare(p: &[i64; 3], q: &[i64; 3], k: usize) -> std::cmp::Ordering {
    let sum = |p: &[i64; 3]| p.iter().map(|&h| i128::from(h)).sum::<i128>();
    (i128::from(p[k]) * sum(q)).cmp(&(i128::from(q[k]) * sum(p)))
}

/// The weight that differs most between the ends: a line is not parallel to it.
fn axis(ends: &[[i64; 3]; 2]) -> usize {
    let weight = |p: &[i64; 3], k: usize| p[k] as f64 / p.iter().map(|&h| h as f64).sum::<f64>();
    let spread = |k: usize| (weight(&ends[0], k) - weight(&ends[1], k)).abs();
    (0..3).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
}

/// Strictly between the ends, for a point on their line.
fn between(point: &[i64; 3], ends: &[[i64; 3]; 2]) -> bool {
    let k = axis(ends);
    let (a, b) = (compare(&ends[0], point, k), compare(point, &ends[1], k));
    a == b && a != std::cmp::Ordering::Equal
}

fn order_along(points: &mut [[i64; 3]], ends: &[[i64; 3]; 2]) {
    let k = axis(ends);
    let up = compare(&ends[0], &ends[1], k).is_lt();
    points.sort_unstable_by(|p, q| if up { compare(p, q, k) } else { compare(q, p, k) });
}
