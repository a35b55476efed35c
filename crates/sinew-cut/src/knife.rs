//! Which elements a swept surface cuts.
//!
//! A copy is split when the blade has passed the middle of the polygon that the cut makes in its matter. The polygon
//! follows from the level values at the corners, those of the nodes around where they were taken before, else those of
//! the piece of surface at hand. Whenever a node gets its level, the copies around it are looked at again with all of
//! the surface that is remembered, because their polygons have moved. A neighbour that is not split has the whole
//! common face and joins both halves: the tip of the cut closes by itself (`join.rs`).

use crate::edit::Edit;
use crate::exact;
use crate::levels::Levels;
use crate::matter::Matter;
use crate::mesh::Mesh;
use crate::parts::{Parts, Plane};
use crate::quad::Quad;
use crate::stroke::{MEMORY, Stroke};
use crate::{NONE, Point};

/// Swept surface is widened by this, in mean edges: bent paths leave gaps between their pieces.
const MARGIN: f64 = 0.05;
/// A cut is at most this far from the swept surface, in mean edges.
const REACH: f64 = 0.6;
/// A level that differs by more from the surface, in mean edges, shows a path that is too tight.
const TIGHT: f64 = 0.35;
/// The same for levels from before the memory: the path has come back.
const RETURN: f64 = 0.5;
/// An element whose corners all have levels waits for the blade over this path, in mean edges; then it is cut if the
/// swept surface comes within `LATE_MARGIN` and `LATE_REACH` of the middle. Bent and trembling paths miss some.
const LATE: f64 = 1.2;
const LATE_MARGIN: f64 = 0.3;
const LATE_REACH: f64 = 1.0;

/// Buffers of a tick, kept for the next.
#[derive(Default)]
pub(crate) struct Work {
    pub matter: Box<Matter>,
    pub stamp: u32,
    /// Last stamp of each element of the rest mesh. (tets)
    pub tet_stamps: Vec<u32>,
    /// Last stamp of each element copy. (elements, at most)
    pub copy_stamps: Vec<u32>,
    /// Last stamp of each node copy. (nodes, at most)
    pub node_stamps: Vec<u32>,
    near: Vec<u32>,
    flood: Vec<u32>,
    /// Elements to look at again, and the node copy that they must have.
    queue: Vec<(u32, u32)>,
    /// Elements in the queue. (tets)
    queued: Vec<bool>,
    /// Elements split in this tick, for the other strokes.
    pub split_tets: Vec<u32>,
    /// Copies split or made in this tick.
    pub touched: Vec<u32>,
    /// Copies of before the tick have lower numbers.
    pub first_new: u32,
    /// The copy of before the tick that each new one is a part of.
    pub origins: Vec<u32>,
}

impl Work {
    pub fn reserve(&mut self, mesh: &Mesh, elements: usize, nodes: usize) {
        self.tet_stamps.resize(mesh.tets.len(), 0);
        self.queued.resize(mesh.tets.len(), false);
        self.copy_stamps.reserve(elements);
        self.copy_stamps.resize(mesh.tets.len(), 0);
        self.node_stamps.reserve(nodes);
        self.node_stamps.resize(mesh.rest.len(), 0);
        for list in [&mut self.near, &mut self.flood, &mut self.split_tets, &mut self.touched, &mut self.origins] {
            list.reserve(4096);
        }
        self.queue.reserve(4096);
    }

    pub fn next_stamp(&mut self) -> u32 {
        self.stamp += 1;
        if self.stamp == u32::MAX {
            self.tet_stamps.fill(0);
            self.copy_stamps.fill(0);
            self.node_stamps.fill(0);
            self.stamp = 1;
        }
        self.stamp
    }
}

/// What cutting needs of a body.
pub(crate) struct Knife<'a> {
    pub mesh: &'a Mesh,
    pub parts: &'a mut Parts,
    pub levels: &'a mut Levels,
    pub edit: &'a mut Edit,
    pub work: &'a mut Work,
    /// Splits that the surface has room for.
    pub room: usize,
}

/// Level values at the corners, and which of them are final.
struct Corners {
    values: [i32; 4],
    fixed: [bool; 4],
    /// The path has come back to levels of long ago.
    returned: bool,
    tight: bool,
}

impl Corners {
    /// All levels are final, and the cut passes between the corners.
    fn settled(&self) -> bool {
        let mixed = self.values.iter().any(|&s| s > 0) && self.values.iter().any(|&s| s < 0);
        mixed && self.fixed == [true; 4]
    }
}

impl Knife<'_> {
    /// Works on the pieces of surface that a stroke has left in this tick. True if the path has come back to where it
    /// cut before.
    pub fn sweep(&mut self, stroke: &mut Stroke) -> bool {
        let mut returned = false;
        self.edit.report.tight += std::mem::take(&mut stroke.tight);
        for k in stroke.history.len() - stroke.fresh..stroke.history.len() {
            let quad = stroke.history[k];
            self.gather(&quad, self.mesh.edge);
            if self.work.near.is_empty() {
                self.edit.report.missed += 1;
            }
            stroke.touched |= !self.work.near.is_empty();
            for n in 0..self.work.near.len() {
                let copy = self.work.near[n];
                returned |= self.consider(copy, stroke, &quad).1;
            }
            self.look_back(stroke);
        }
        returned
    }

    /// Element copies near a piece of surface; if the place of the blade is known, those that hang together with it.
    fn gather(&mut self, quad: &Quad, edge: f64) {
        let stamp = self.work.next_stamp();
        let local = quad.local;
        // the flood needs some way around the tips of other cuts
        let reach = Point::splat(quad.radius + if local { edge } else { MARGIN * edge });
        let Work { near, flood, tet_stamps, copy_stamps, .. } = &mut *self.work;
        let (mesh, parts) = (self.mesh, &*self.parts);
        near.clear();
        flood.clear();
        mesh.near(quad.centre - reach, quad.centre + reach, |tet| {
            if tet_stamps[tet as usize] == stamp {
                return;
            }
            tet_stamps[tet as usize] = stamp;
            if !local && touches(mesh, tet, quad) {
                near.extend(parts.copies(tet));
            }
        });
        if !local {
            return;
        }
        for &seed in &quad.seeds {
            if (seed as usize) < parts.elements.len() && !parts.removed(seed) && copy_stamps[seed as usize] != stamp {
                copy_stamps[seed as usize] = stamp;
                flood.push(seed);
            }
        }
        while let Some(copy) = flood.pop() {
            let tet = parts.elements[copy as usize].parent;
            if touches(mesh, tet, quad) {
                near.push(copy);
            }
            for corner in 0..4 {
                let neighbour = mesh.neighbours[tet as usize][corner];
                if neighbour == NONE || tet_stamps[neighbour as usize] != stamp {
                    continue;
                }
                let here = mesh.face_order(tet, corner);
                let there = mesh.face_order(neighbour, mesh.back(neighbour, tet));
                for other in parts.copies(neighbour) {
                    if copy_stamps[other as usize] != stamp && parts.overlap((copy, here), (other, there)) {
                        copy_stamps[other as usize] = stamp;
                        flood.push(other);
                    }
                }
            }
        }
        near.sort_unstable();
    }

    /// Elements around nodes that got a level: with all of the surface that is remembered.
    pub fn look_back(&mut self, stroke: &mut Stroke) -> bool {
        let mut returned = false;
        while let Some((tet, node)) = self.work.queue.pop() {
            self.work.queued[tet as usize] = false;
            let mut at = self.parts.heads[tet as usize];
            while at != NONE {
                let copy = at;
                at = self.parts.elements[copy as usize].next;
                if node != NONE && !self.parts.elements[copy as usize].nodes.contains(&node) {
                    continue;
                }
                if self.parts.has_cut(copy, stroke.cut) {
                    continue;
                }
                returned |= self.recall(copy, tet, stroke);
            }
        }
        returned
    }

    /// One copy, with all of the surface that is remembered, the latest first.
    fn recall(&mut self, copy: u32, tet: u32, stroke: &mut Stroke) -> bool {
        let edge = self.mesh.edge;
        let recent = stroke.path - MEMORY * edge;
        let mut values = [0; 4];
        let mut known = 0;
        for (value, &node) in values.iter_mut().zip(&self.mesh.tets[tet as usize]) {
            if let Some(level) = self.levels.get(node, stroke.slot, stroke.cut)
                && level.path >= recent
            {
                *value = level.value;
                known += 1;
            }
        }
        // with all levels known the polygon is the same for every piece of surface
        let middle = if known == 4 { self.middle(copy, &values) } else { None };
        if known == 4 && middle.is_none() {
            return false;
        }
        let mut returned = false;
        for k in (0..stroke.history.len()).rev() {
            let quad = stroke.history[k];
            if !touches(self.mesh, tet, &quad) || middle.is_some_and(|at| !quad.covers(at, MARGIN * edge, REACH * edge))
            {
                continue;
            }
            let (split, back) = self.consider(copy, stroke, &quad);
            returned |= back;
            if split {
                return returned;
            }
        }
        if middle.is_some() {
            stroke.waiting.push_back((copy, stroke.path + LATE * edge));
        }
        returned
    }

    /// Elements that were to be passed long ago, or all that wait when the blade leaves.
    pub fn catch_up(&mut self, stroke: &mut Stroke, last: bool) {
        let edge = self.mesh.edge;
        while let Some(&(copy, due)) = stroke.waiting.front() {
            if due > stroke.path && !last {
                break;
            }
            stroke.waiting.pop_front();
            if self.parts.removed(copy) || self.parts.has_cut(copy, stroke.cut) {
                continue;
            }
            let tet = self.parts.elements[copy as usize].parent;
            for k in (0..stroke.history.len()).rev() {
                let quad = stroke.history[k];
                if !touches(self.mesh, tet, &quad) {
                    continue;
                }
                let corners = self.corners(tet, stroke, &quad);
                if !corners.settled() {
                    break;
                }
                let middle = self.middle(copy, &corners.values);
                if middle.is_some_and(|middle| quad.covers(middle, LATE_MARGIN * edge, LATE_REACH * edge)) {
                    self.split(copy, stroke, &quad, &corners);
                    break;
                }
            }
        }
    }

    /// Elements that other strokes have split: their parts may have been passed already.
    pub fn look_at(&mut self, tet: u32, stroke: &mut Stroke) {
        self.work.queue.push((tet, NONE));
        self.look_back(stroke);
    }

    /// Splits a copy if a piece of surface covers the middle of the cut in it. Also tells whether the path has come
    /// back here.
    fn consider(&mut self, copy: u32, stroke: &mut Stroke, quad: &Quad) -> (bool, bool) {
        if self.parts.has_cut(copy, stroke.cut) {
            return (false, false);
        }
        let tet = self.parts.elements[copy as usize].parent;
        let corners = self.corners(tet, stroke, quad);
        let Some(middle) = self.middle(copy, &corners.values) else { return (false, false) };
        let edge = self.mesh.edge;
        if !quad.covers(middle, MARGIN * edge, REACH * edge) {
            return (false, false);
        }
        if corners.returned {
            return (false, true);
        }
        (self.split(copy, stroke, quad, &corners), false)
    }

    fn corners(&self, tet: u32, stroke: &Stroke, quad: &Quad) -> Corners {
        let edge = self.mesh.edge;
        let mut corners = Corners { values: [0; 4], fixed: [false; 4], returned: false, tight: false };
        let mut plain = [0; 4];
        for (k, &node) in self.mesh.tets[tet as usize].iter().enumerate() {
            let raw = quad.height(self.mesh.rest[node as usize]);
            plain[k] = self.levels.value(self.mesh, node, raw);
            corners.values[k] = plain[k];
            if let Some(level) = self.levels.get(node, stroke.slot, stroke.cut) {
                let apart = (raw - level.raw).abs();
                if stroke.path - level.path > MEMORY * edge && apart > RETURN * edge {
                    corners.returned = true;
                } else {
                    corners.tight |= apart > TIGHT * edge;
                    corners.values[k] = level.value;
                    corners.fixed[k] = true;
                }
            }
        }
        if corners.returned {
            corners.values = plain;
        }
        corners
    }

    /// Middle of the polygon that a plane makes in the matter of a copy.
    fn middle(&mut self, copy: u32, levels: &[i32; 4]) -> Option<Point> {
        if levels.iter().all(|&s| s > 0) || levels.iter().all(|&s| s < 0) {
            return None;
        }
        let tet = self.parts.elements[copy as usize].parent;
        let x = self.mesh.tets[tet as usize].map(|node| self.mesh.rest[node as usize]);
        let s = levels.map(f64::from);
        let (mut sum, mut count) = (Point::ZERO, 0.0);
        let mut cross = |(xa, sa): (Point, f64), (xb, sb): (Point, f64)| {
            if (sa < 0.0) != (sb < 0.0) && sa != sb {
                sum += xa.lerp(xb, sa / (sa - sb));
                count += 1.0;
            }
        };
        if self.parts.planes(copy).is_empty() {
            for a in 0..4 {
                for b in 0..a {
                    cross((x[a], s[a]), (x[b], s[b]));
                }
            }
        } else {
            let matter = &mut *self.work.matter;
            self.parts.matter(copy, matter);
            let mut places = [(Point::ZERO, 0.0); 64];
            for k in matter.corners() {
                let w = exact::weights(&matter.points[k]);
                let place = x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3];
                places[k] = (place, s[0] * w[0] + s[1] * w[1] + s[2] * w[2] + s[3] * w[3]);
            }
            for face in matter.faces() {
                let corners = face.corners();
                for k in 0..corners.len() {
                    let (a, b) = (corners[k] as usize, corners[(k + 1) % corners.len()] as usize);
                    cross(places[a], places[b]);
                }
            }
        }
        (count > 0.0).then(|| sum / count)
    }

    fn split(&mut self, copy: u32, stroke: &mut Stroke, quad: &Quad, corners: &Corners) -> bool {
        let report = &mut self.edit.report;
        if let Some(pool) = self.parts.used_up(report.splits + 1) {
            report.refused = Some(pool);
            return false;
        }
        if report.splits >= self.room {
            report.refused = Some(("surface", self.room));
            return false;
        }
        if self.parts.full(copy) {
            report.kept_whole += 1;
            return false;
        }
        report.tight += usize::from(corners.tight);
        let element = self.parts.elements[copy as usize];
        let local = quad.local;
        let mut values = corners.values;
        for (k, &node) in self.mesh.tets[element.parent as usize].iter().enumerate() {
            if corners.fixed[k] {
                continue;
            }
            values[k] = self.levels.take(self.mesh, node, (stroke.slot, stroke.cut), quad, stroke.path);
            let keep = if local { element.nodes[k] } else { NONE };
            for &tet in self.mesh.star(node) {
                // once is enough, unless only the copies at one node copy are meant
                if local || !std::mem::replace(&mut self.work.queued[tet as usize], true) {
                    self.work.queue.push((tet, keep));
                }
            }
        }
        self.cut(copy, Plane { cut: stroke.cut, levels: values })
    }

    /// Splits a copy along a plane, if it has matter on both sides.
    pub fn cut(&mut self, copy: u32, plane: Plane) -> bool {
        self.parts.matter(copy, &mut self.work.matter);
        if self.work.matter.sides(&plane.levels) != (true, true) {
            return false;
        }
        let tet = self.parts.elements[copy as usize].parent;
        let halves = self.parts.split(copy, plane, &mut self.work.matter);
        self.work.copy_stamps.push(0);
        let first = self.work.first_new;
        let origin = if copy < first { copy } else { self.work.origins[(copy - first) as usize] };
        self.work.origins.push(origin);
        self.edit.report.splits += 1;
        self.edit.report.area += self.area_of(copy, plane.cut);
        self.work.split_tets.push(tet);
        self.work.touched.extend([copy, halves.below]);
        true
    }

    /// Area of the face of a cut on the matter at hand, which is that of the copy.
    fn area_of(&self, copy: u32, cut: u32) -> f64 {
        let x = self.mesh.tets[self.parts.elements[copy as usize].parent as usize].map(|n| self.mesh.rest[n as usize]);
        let matter = &self.work.matter;
        let place = |k: u8| {
            let w = exact::weights(&matter.points[k as usize]);
            x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]
        };
        let planes = self.parts.planes(copy);
        let mine = matter.faces().iter().filter(|face| face.plane >= 4 && planes[face.plane as usize - 4].cut == cut);
        mine.map(|face| {
            let corners = face.corners();
            let origin = place(corners[0]);
            let fan = corners[1..].windows(2);
            fan.map(|pair| (place(pair[0]) - origin).cross(place(pair[1]) - origin)).sum::<Point>().length() / 2.0
        })
        .sum()
    }
}

/// Whether an element may be cut by a piece of surface: by its ball.
fn touches(mesh: &Mesh, tet: u32, quad: &Quad) -> bool {
    let (centre, radius) = mesh.balls[tet as usize];
    let reach = radius + quad.radius + 2.0 * MARGIN * mesh.edge;
    quad.height(centre).abs() <= radius + REACH * mesh.edge && centre.distance_squared(quad.centre) <= reach * reach
}
