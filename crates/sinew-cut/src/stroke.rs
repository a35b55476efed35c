//! A stroke: one blade on its way through the matter, in rest space.

use std::collections::VecDeque;

use crate::error::{CutError, finite};
use crate::quad::Quad;
use crate::{NONE, Point};

/// A segment sweeps this far between two pieces of surface, in mean edges.
const STEP: f64 = 0.12;
/// Longest piece of surface along the path, in mean edges.
const LONGEST_STEP: f64 = 0.35;
/// Swept surface is kept over this path, in mean edges: elements that are passed only in part may be cut later.
pub(crate) const MEMORY: f64 = 3.0;
/// Longest path in one tick, in mean edges.
const TICK: f64 = 64.0;

/// Names a stroke of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrokeId {
    pub(crate) index: usize,
    pub(crate) cut: u32,
}

/// Where the edge of a blade is now: a polyline in rest space, with what belongs to each segment.
///
/// A blade on pieces that have moved apart has a polyline of its own in each of them, and a stroke for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Front<'a> {
    /// Points of the edge, in rest space [m].
    pub points: &'a [Point],
    /// Normal of the blade's side, for each segment; in rest space ~ Fᵀn.
    pub normals: &'a [Point],
    /// Direction in which each segment cuts; motion against it is a retreat and cuts nothing. Empty: both ways.
    pub forwards: &'a [Point],
    /// Element copy that each point lies in: only matter that hangs together with it near the blade is cut. Empty: all
    /// matter at this place of rest space is.
    pub elements: &'a [u32],
}

impl Front<'_> {
    pub(crate) fn check(&self) -> Result<(), CutError> {
        finite("point of the blade", self.points)?;
        finite("normal", self.normals)?;
        finite("direction", self.forwards)?;
        if self.points.len() < 2 || self.points.windows(2).all(|pair| pair[0] == pair[1]) {
            return Err(CutError::NoLength);
        }
        let segments = self.points.len() - 1;
        let count = |what, given, wanted| {
            if given == wanted { Ok(()) } else { Err(CutError::WrongCount { what, given, wanted }) }
        };
        count("normals", self.normals.len(), segments)?;
        if !self.forwards.is_empty() {
            count("directions", self.forwards.len(), segments)?;
        }
        if !self.elements.is_empty() {
            count("elements", self.elements.len(), self.points.len())?;
        }
        for (what, list) in [("normal", self.normals), ("direction", self.forwards)] {
            if let Some(index) = list.iter().position(|n| n.try_normalize().is_none()) {
                return Err(CutError::NoDirection { what, index });
            }
        }
        Ok(())
    }
}

/// A part of the blade, at most a mean edge long at the start.
#[derive(Clone, Copy, Debug)]
struct Sample {
    segment: u32,
    place: f64,
}

/// The state of one stroke.
#[derive(Debug, Default)]
pub(crate) struct Stroke {
    pub live: bool,
    /// Number that the caller knows it by.
    pub name: u32,
    pub cut: u32,
    pub slot: usize,
    /// Path length so far [m].
    pub path: f64,
    pub history: VecDeque<Quad>,
    /// Pieces of surface of this tick, not yet worked on: the last ones of the history.
    pub fresh: usize,
    pub touched: bool,
    /// Copies that the blade should have passed, and the path at which that is overdue [m].
    pub waiting: VecDeque<(u32, f64)>,
    pub given: usize,
    edge: f64,
    samples: Vec<Sample>,
    points: Vec<Point>,
    /// Ends of each part where it last left a piece of surface, and the path until the next.
    left: Vec<([Point; 2], f64)>,
}

impl Stroke {
    /// Room for blades of `parts` parts, so that a steady tick allocates nothing.
    pub fn reserve(&mut self, parts: usize) {
        self.samples.reserve(parts + 1);
        self.points.reserve(parts + 1);
        self.waiting.reserve(16384);
        self.left.reserve(parts);
        self.history.reserve((parts as f64 * (MEMORY / STEP + TICK)).min(65536.0) as usize);
    }

    pub fn begin(&mut self, front: &Front, edge: f64) {
        self.samples.clear();
        self.history.clear();
        self.waiting.clear();
        self.left.clear();
        (self.path, self.fresh, self.touched, self.live, self.edge) = (0.0, 0, false, true, edge);
        self.given = front.points.len();
        for (segment, pair) in front.points.windows(2).enumerate() {
            let parts = ((pair[0].distance(pair[1]) / edge).ceil() as usize).clamp(1, 4096);
            self.samples.extend((0..parts).map(|k| Sample { segment: segment as u32, place: k as f64 / parts as f64 }));
        }
        self.samples.push(Sample { segment: front.points.len() as u32 - 2, place: 1.0 });
        self.place(front);
        let parts = self.points.len() - 1;
        for k in 0..parts {
            // parts in turn: not all of them leave their pieces in the same tick
            let phase = (k as f64 * 0.618).fract();
            self.left.push(([self.points[k], self.points[k + 1]], phase * STEP * edge));
        }
    }

    /// Longest path of a point from where it was to `front`, refused if it is too long [m].
    pub fn check_path(&self, front: &Front) -> Result<f64, CutError> {
        if front.points.len() != self.given {
            return Err(CutError::WrongCount { what: "points", given: front.points.len(), wanted: self.given });
        }
        let paths = self.samples.iter().zip(&self.points);
        let given = paths.map(|(sample, p)| at(front, sample).distance(*p)).fold(0.0, f64::max);
        let limit = TICK * self.edge;
        if given <= limit { Ok(given) } else { Err(CutError::TooFast { given, limit }) }
    }

    fn place(&mut self, front: &Front) {
        self.points.clear();
        self.points.extend(self.samples.iter().map(|sample| at(front, sample)));
    }

    /// Moves the blade; adds what it has swept to the history. `last`: whatever is left of it, too.
    pub fn advance(&mut self, front: &Front, path: f64, last: bool) {
        self.path += path;
        self.place(front);
        let oldest = self.path - MEMORY * self.edge;
        while self.history.front().is_some_and(|quad| quad.path < oldest) {
            self.history.pop_front();
        }
        self.fresh = 0;
        for k in 0..self.left.len() {
            let (old, wait) = self.left[k];
            let new = [self.points[k], self.points[k + 1]];
            let moved = old[0].distance(new[0]).max(old[1].distance(new[1]));
            if moved == 0.0 || (moved < wait && !last) {
                continue;
            }
            self.left[k] = (new, STEP * self.edge);
            let segment = self.samples[k].segment as usize;
            let sweep = (new[0] - old[0]) + (new[1] - old[1]);
            if front.forwards.get(segment).is_some_and(|forward| sweep.dot(*forward) <= 0.0) {
                continue;
            }
            let normal = front.normals[segment].normalize();
            let seeds = [segment, segment + 1].map(|k| front.elements.get(k).copied().unwrap_or(NONE));
            let pieces = (moved / (LONGEST_STEP * self.edge)).ceil().max(1.0) as usize;
            for piece in 0..pieces {
                let between = |t: f64| [old[0].lerp(new[0], t), old[1].lerp(new[1], t)];
                let (from, to) = (piece as f64 / pieces as f64, (piece + 1) as f64 / pieces as f64);
                let mut quad = Quad::new(between(from), between(to), normal, self.path);
                (quad.seeds, quad.local) = (seeds, !front.elements.is_empty());
                self.history.push_back(quad);
                self.fresh += 1;
            }
        }
    }
}

fn at(front: &Front, sample: &Sample) -> Point {
    let k = sample.segment as usize;
    front.points[k].lerp(front.points[k + 1], sample.place)
}
