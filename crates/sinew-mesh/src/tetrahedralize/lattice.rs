//! The body-centred cubic lattice around a surface: which points are inside, where edges are cut, which points are
//! moved onto the surface (Labelle and Shewchuk 2007, sections 3.1 and 3.2).
//!
//! Points have integer coordinates, all even (corners of the cells) or all odd (centres of the cells), in units of half
//! the long edge. Each point has 6 long edges (2 units, along an axis) and 8 short ones (√3 units).
//!
//! Deviation: the paper cuts an edge where a function interpolated between its ends is zero. Here it is cut where it
//! intersects the triangles, so every vertex of the boundary lies on the surface.

use super::tree::{Bounds, Tree};
use super::vector::Vector;

/// Minimum distance of a cut from an end of a long and of a short edge, as a fraction of its length. These two values
/// give the paper's bounds on dihedral angles, 10.78 and 164.74 degrees.
const NEAR_LONG: f64 = 0.24999;
const NEAR_SHORT: f64 = 0.41189;

/// Half of the edges of a point: long, then short. The other half has the opposite directions.
const WAYS: [[i32; 3]; 7] = [[2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]];

/// Bisection steps for an edge whose intersection is missed by rounding.
const BISECTIONS: usize = 40;

/// Side of a lattice point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Outside,
    On,
    Inside,
}

/// Origin and resolution of the lattice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    origin: Vector,
    /// Half a long edge [m].
    half: f64,
    /// Cells along each axis.
    cells: [usize; 3],
}

/// Points with their sides, and cuts of edges.
pub(super) struct Lattice {
    pub frame: Frame,
    sides: Vec<Side>,
    /// Points that were moved onto the surface, by index.
    moved: Vec<(u32, Vector)>,
    /// Index into `cuts` of the points that have a cut edge, else `NONE`.
    row: Vec<u32>,
    /// Positions of the cuts of the seven forward edges, as fractions of their length; NaN if not cut.
    cuts: Vec<[f64; 7]>,
}

const NONE: u32 = u32::MAX;

impl Frame {
    /// Size of a lattice with long edges of `size` around a box, with one cell of margin on every side. Cells along the
    /// axes as reals, to be checked before they are cast.
    pub fn cells_around(bounds: &Bounds, size: f64) -> [f64; 3] {
        (bounds.high - bounds.low).0.map(|length| (length / size).ceil() + 3.0)
    }

    pub fn around(bounds: &Bounds, size: f64) -> Self {
        // irregular fractions of a cell, so that planar faces of the surface seldom lie in planes of the lattice
        let shift = Vector([1.371, 1.413, 1.437]) * size;
        let cells = Self::cells_around(bounds, size).map(|n| n as usize);
        Self { origin: bounds.low - shift, half: 0.5 * size, cells }
    }

    fn corner_count(&self) -> usize {
        self.cells.iter().map(|n| n + 1).product()
    }

    fn point_count(&self) -> usize {
        self.corner_count() + self.cells.iter().product::<usize>()
    }

    /// Index of the point with these coordinates, if it exists.
    pub fn number(&self, at: [i32; 3]) -> Option<u32> {
        let odd = (at[0] & 1) as usize;
        let mut index = 0;
        for i in (0..3).rev() {
            let n = self.cells[i] + 1 - odd;
            let k = at[i] >> 1;
            if k < 0 || k as usize >= n {
                return None;
            }
            index = index * n + k as usize;
        }
        Some((index + odd * self.corner_count()) as u32)
    }

    fn coordinates(&self, number: u32) -> [i32; 3] {
        let corners = self.corner_count();
        let odd = usize::from(number as usize >= corners);
        let mut rest = number as usize - odd * corners;
        std::array::from_fn(|i| {
            let n = self.cells[i] + 1 - odd;
            let k = rest % n;
            rest /= n;
            (2 * k + odd) as i32
        })
    }

    pub fn place(&self, at: [i32; 3]) -> Vector {
        self.origin + Vector(at.map(f64::from)) * self.half
    }

    /// Calls `visit` with every tetrahedron of the lattice: a long edge between corners, a long edge between centres,
    /// each in ascending order, so that the tetrahedron is positive.
    pub fn tets(&self, mut visit: impl FnMut([[i32; 3]; 4])) {
        // centres around an edge along z, x, y: counter-clockwise
        const RING: [[i32; 2]; 4] = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
        for number in 0..self.corner_count() as u32 {
            let low = self.coordinates(number);
            for axis in 0..3 {
                let mut high = low;
                high[axis] += 2;
                if self.number(high).is_none() {
                    continue;
                }
                let middle = |ring: [i32; 2]| {
                    let mut at = low;
                    at[axis] += 1;
                    at[(axis + 1) % 3] += ring[0];
                    at[(axis + 2) % 3] += ring[1];
                    at
                };
                for k in 0..4 {
                    let (from, to) = (middle(RING[k]), middle(RING[(k + 1) % 4]));
                    if self.number(from).is_some() && self.number(to).is_some() {
                        visit([low, high, from, to]);
                    }
                }
            }
        }
    }
}

fn offset(at: [i32; 3], way: [i32; 3], sign: i32) -> [i32; 3] {
    std::array::from_fn(|i| at[i] + sign * way[i])
}

impl Lattice {
    /// Determines sides, cuts edges and moves points.
    pub fn build(tree: &Tree, frame: Frame) -> Self {
        let sides = find_sides(tree, &frame);
        let count = frame.point_count();
        let mut lattice = Self { frame, sides, moved: Vec::new(), row: vec![NONE; count], cuts: Vec::new() };
        lattice.cut_edges(tree);
        lattice.warp();
        lattice
    }

    pub fn side(&self, number: u32) -> Side {
        self.sides[number as usize]
    }

    /// Position of a point after warping [m].
    pub fn place(&self, number: u32) -> Vector {
        match self.moved.binary_search_by_key(&number, |m| m.0) {
            Ok(i) => self.moved[i].1,
            Err(_) => self.frame.place(self.frame.coordinates(number)),
        }
    }

    /// The cut of the edge between two points: its key (point and direction) and position [m].
    pub fn cut(&self, a: [i32; 3], b: [i32; 3]) -> Option<([u32; 2], Vector)> {
        let step: [i32; 3] = std::array::from_fn(|i| b[i] - a[i]);
        let forward = WAYS.iter().position(|&w| w == step);
        let (from, to, way) = match forward {
            Some(way) => (a, b, way),
            None => (b, a, WAYS.iter().position(|&w| w == step.map(|s| -s))?),
        };
        let number = self.frame.number(from)?;
        let row = self.row[number as usize];
        let part = self.cuts.get(row as usize)?[way];
        let place = self.frame.place(from).lerp(self.frame.place(to), part);
        (!part.is_nan()).then_some(([number, way as u32], place))
    }

    fn cut_edges(&mut self, tree: &Tree) {
        let mut hits = Vec::new();
        for number in 0..self.sides.len() as u32 {
            let at = self.frame.coordinates(number);
            let side = self.side(number);
            for (way, &step) in WAYS.iter().enumerate() {
                let to = offset(at, step, 1);
                let Some(other) = self.frame.number(to) else { continue };
                if self.side(other) == side {
                    continue;
                }
                let part = find_cut(tree, [self.frame.place(at), self.frame.place(to)], side, &mut hits);
                if self.row[number as usize] == NONE {
                    self.row[number as usize] = self.cuts.len() as u32;
                    self.cuts.push([f64::NAN; 7]);
                }
                self.cuts[self.row[number as usize] as usize][way] = part;
            }
        }
    }

    /// Row and column of a forward (`sign` 1) or backward edge of a point, and the point at its other end.
    fn edge(&self, at: [i32; 3], way: usize, sign: i32) -> Option<(usize, usize, [i32; 3])> {
        let other = offset(at, WAYS[way], sign);
        let from = self.frame.number(if sign > 0 { at } else { other })?;
        let row = self.row[from as usize];
        (row != NONE).then_some((row as usize, way, other))
    }

    /// Moves each point that has cuts too near to it to the nearest of them; its edges are then no longer cut.
    fn warp(&mut self) {
        for number in 0..self.sides.len() as u32 {
            let at = self.frame.coordinates(number);
            // the nearest cut among those that are too near
            let mut best: Option<(f64, Vector)> = None;
            for (way, sign) in (0..7).flat_map(|w| [(w, 1), (w, -1)]) {
                let Some((row, column, other)) = self.edge(at, way, sign) else { continue };
                let part = self.cuts[row][column];
                let part = if sign > 0 { part } else { 1.0 - part };
                let (near, length) = if way < 3 { (NEAR_LONG, 2.0) } else { (NEAR_SHORT, 3.0_f64.sqrt()) };
                // NaN means no cut
                if part < near && best.is_none_or(|b| part * length < b.0) {
                    best = Some((part * length, self.frame.place(at).lerp(self.frame.place(other), part)));
                }
            }
            let Some((_, place)) = best else { continue };
            self.moved.push((number, place));
            self.sides[number as usize] = Side::On;
            for (way, sign) in (0..7).flat_map(|w| [(w, 1), (w, -1)]) {
                if let Some((row, column, _)) = self.edge(at, way, sign) {
                    self.cuts[row][column] = f64::NAN;
                }
            }
        }
    }
}

/// Inside or outside for every point. The winding number is evaluated only at points of cells near a triangle; between
/// two other points there is no triangle, so the side is propagated.
fn find_sides(tree: &Tree, frame: &Frame) -> Vec<Side> {
    let touched = touch_cells(tree, frame);
    let mut sides = vec![Side::Outside; frame.point_count()];
    let ask = |at: [i32; 3]| if tree.winding(frame.place(at)) > 0.5 { Side::Inside } else { Side::Outside };
    let cell = |c: [i32; 3]| {
        let inside = (0..3).all(|i| c[i] >= 0 && (c[i] as usize) < frame.cells[i]);
        inside && touched[c[0] as usize + frame.cells[0] * (c[1] as usize + frame.cells[1] * c[2] as usize)]
    };
    for number in 0..sides.len() as u32 {
        let at = frame.coordinates(number);
        let base = at.map(|x| x >> 1);
        let odd = at[0] & 1 == 1;
        let near = if odd {
            cell(base)
        } else {
            (0..8).any(|k| cell([base[0] - (k & 1), base[1] - (k >> 1 & 1), base[2] - (k >> 2)]))
        };
        // corners propagate from the previous corner, centres from a corner of their cell
        let before = if odd { offset(at, [1; 3], -1) } else { offset(at, WAYS[0], -1) };
        sides[number as usize] = match frame.number(before) {
            _ if near => ask(at),
            Some(known) => sides[known as usize],
            None => Side::Outside,
        };
    }
    sides
}

/// Cells near a triangle: the bounding box of the triangle overlaps the cell, and its plane intersects the
/// circumscribed sphere of the cell.
fn touch_cells(tree: &Tree, frame: &Frame) -> Vec<bool> {
    let mut touched = vec![false; frame.cells.iter().product()];
    let size = 2.0 * frame.half;
    // Tolerance for rounding: a cell that is touched in a corner may count or not, as long as no intersecting triangle
    // is missed.
    let reach = 0.9 * size;
    for t in 0..tree.surface.triangles.len() {
        let corners = tree.surface.corners(t);
        let bounds = Bounds::of(&corners);
        let index = |p: Vector, i: usize, by: f64| {
            (((p[i] - frame.origin[i]) / size + by).floor().max(0.0) as usize).min(frame.cells[i] - 1)
        };
        let low: [usize; 3] = std::array::from_fn(|i| index(bounds.low, i, -0.01));
        let high: [usize; 3] = std::array::from_fn(|i| index(bounds.high, i, 0.01));
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let limit = reach * normal.length();
        for k in low[2]..=high[2] {
            for j in low[1]..=high[1] {
                for i in low[0]..=high[0] {
                    let middle = frame.place([i, j, k].map(|n| 2 * n as i32 + 1));
                    if normal.dot(middle - corners[0]).abs() <= limit {
                        touched[i + frame.cells[0] * (j + frame.cells[1] * k)] = true;
                    }
                }
            }
        }
    }
    touched
}

/// Where an edge intersects the surface, as a fraction of its length from the first end, which lies on `side`.
fn find_cut(tree: &Tree, [a, b]: [Vector; 2], side: Side, hits: &mut Vec<f64>) -> f64 {
    tree.hits(a, b, hits);
    if !hits.is_empty() {
        return hits[hits.len() / 2];
    }
    // an end lies on the surface within rounding, or the edge passes between two triangles by rounding
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        let inside = tree.winding(a.lerp(b, middle)) > 0.5;
        if inside == (side == Side::Inside) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
