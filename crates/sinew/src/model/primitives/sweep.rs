//! Bodies swept from a flat section: cylinder, tube, torus.
//!
//! A section of squares is swept along a path; between two stations every square forms a hexahedron, which is split by
//! the lowest vertex (J. Dompierre et al. 1999): tetrahedra from its lowest vertex to the halves of the three squares
//! that do not contain it. Squares are split at their own lowest vertex, so neighbours match by construction.

use super::super::tet_mesh::TetMesh;
use super::super::tri_mesh::TriMesh;
use super::{compact, halve};
use crate::math::{Real, Vec3};

/// A flat section: points and squares, counter-clockwise seen against the direction of the path.
pub(super) struct Section {
    pub points: Vec<[Real; 2]>,
    pub squares: Vec<[u32; 4]>,
}

impl Section {
    /// A disc of radius 1: a square of `cells` x `cells` at the centre, bulged, and four blocks of `cells` / 2 layers
    /// out to the circle.
    pub fn disc(cells: u32) -> Self {
        let n = cells;
        let mut section = Self { points: Vec::new(), squares: Vec::new() };
        let index = |i: u32, j: u32| i + (n + 1) * j;
        for j in 0..=n {
            for i in 0..=n {
                let p = [i, j].map(|k| 2.0 * k as Real / n as Real - 1.0);
                section.points.push(bulge(p));
            }
        }
        for j in 0..n {
            for i in 0..n {
                section.squares.push([index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)]);
            }
        }
        // the boundary of the square, counter-clockwise
        let mut rim: Vec<u32> = (0..n).map(|i| index(i, 0)).collect();
        rim.extend((0..n).map(|j| index(n, j)));
        rim.extend((1..=n).rev().map(|i| index(i, n)));
        rim.extend((1..=n).rev().map(|j| index(0, j)));
        section.grow(&rim, n.div_ceil(2));
        section
    }

    /// Adds `layers` rings of squares between a boundary and the circle.
    fn grow(&mut self, rim: &[u32], layers: u32) {
        let count = rim.len() as u32;
        let mut inner = rim.to_vec();
        for layer in 1..=layers {
            let first = self.points.len() as u32;
            let part = layer as Real / layers as Real;
            for (k, &start) in rim.iter().enumerate() {
                // corners of the square lie at odd eighths of the circle
                let angle = std::f64::consts::TAU * (k as f64 / f64::from(count) - 0.375);
                let circle = [angle.cos() as Real, angle.sin() as Real];
                let from = self.points[start as usize];
                self.points.push([0, 1].map(|i: usize| from[i] + (circle[i] - from[i]) * part));
            }
            let outer: Vec<u32> = (first..first + count).collect();
            for k in 0..count as usize {
                let next = (k + 1) % count as usize;
                self.squares.push([inner[k], outer[k], outer[next], inner[next]]);
            }
            inner = outer;
        }
    }

    /// A ring between radius `hole` and 1: `around` x `layers` squares.
    pub fn ring(hole: Real, around: u32, layers: u32) -> Self {
        let mut section = Self { points: Vec::new(), squares: Vec::new() };
        for layer in 0..=layers {
            let radius = hole + (1.0 - hole) * layer as Real / layers as Real;
            for k in 0..around {
                let angle = std::f64::consts::TAU * f64::from(k) / f64::from(around);
                section.points.push([radius * angle.cos() as Real, radius * angle.sin() as Real]);
            }
        }
        for layer in 0..layers {
            for k in 0..around {
                let next = (k + 1) % around;
                let at = |k: u32, layer: u32| k + around * layer;
                section.squares.push([at(k, layer), at(k, layer + 1), at(next, layer + 1), at(next, layer)]);
            }
        }
        section
    }

    /// Boundary edges (of one square only), in the direction of that square.
    fn rim(&self) -> Vec<[u32; 2]> {
        let of = |s: &[u32; 4]| (0..4).map(|k| [s[k], s[(k + 1) % 4]]).collect::<Vec<_>>();
        let mut edges: Vec<[u32; 2]> = self.squares.iter().flat_map(of).collect();
        edges.sort_unstable();
        edges.iter().copied().filter(|&[a, b]| edges.binary_search(&[b, a]).is_err()).collect()
    }
}

/// Maps the square from -1 to 1 to the inner part of the disc, sides bulged towards the circle, so that the three
/// squares at its corners have angles of about 120 degrees. The two constants gave the best angles of those tried: the
/// smallest angles of a torus and a cylinder of 1 cell are 15.8 and 17.4 degrees, of finer ones 20.9 and 22.7.
fn bulge([x, y]: [Real; 2]) -> [Real; 2] {
    const HALF: Real = 0.36;
    const ROUND: Real = 0.16;
    [HALF * x * (1.0 + ROUND * (1.0 - y * y)), HALF * y * (1.0 + ROUND * (1.0 - x * x))]
}

/// A section swept along a path.
pub(super) struct Sweep<F: Fn([Real; 2], u32) -> Vec3> {
    pub section: Section,
    /// Number of steps between stations.
    pub steps: u32,
    /// Whether the last station coincides with the first.
    pub closed: bool,
    /// Position of a point of the section at a station.
    pub place: F,
}

impl<F: Fn([Real; 2], u32) -> Vec3> Sweep<F> {
    fn vertices(&self) -> Vec<Vec3> {
        let stations = if self.closed { self.steps } else { self.steps + 1 };
        (0..stations).flat_map(|s| self.section.points.iter().map(move |&p| (self.place)(p, s))).collect()
    }

    /// Index of a section's point at a station.
    fn at(&self, point: u32, station: u32) -> u32 {
        let station = if self.closed { station % self.steps } else { station };
        point + self.section.points.len() as u32 * station
    }

    /// The tetrahedra of the body.
    pub fn tets(&self) -> TetMesh {
        let mut tets = Vec::with_capacity(6 * self.section.squares.len() * self.steps as usize);
        for station in 0..self.steps {
            for square in &self.section.squares {
                let [a, b, c, d] = square.map(|p| self.at(p, station));
                let [e, f, g, h] = square.map(|p| self.at(p, station + 1));
                tets.extend(split([a, b, c, d, e, f, g, h]));
            }
        }
        TetMesh { vertices: self.vertices(), tets }
    }

    /// The surface of the body.
    pub fn surface(&self) -> TriMesh {
        let mut squares = Vec::new();
        if !self.closed {
            squares.extend(self.section.squares.iter().map(|&[a, b, c, d]| [d, c, b, a].map(|p| self.at(p, 0))));
            squares.extend(self.section.squares.iter().map(|s| s.map(|p| self.at(p, self.steps))));
        }
        let rim = self.section.rim();
        for station in 0..self.steps {
            for &[a, b] in &rim {
                let (here, there) = (station, station + 1);
                squares.push([self.at(a, here), self.at(b, here), self.at(b, there), self.at(a, there)]);
            }
        }
        compact(&self.vertices(), squares.into_iter().flat_map(halve).collect())
    }
}

/// Splits a hexahedron into six tetrahedra by its lowest vertex. Corners: the lower square counter-clockwise seen from
/// above, then the upper one.
pub(crate) fn split(corners: [u32; 8]) -> impl Iterator<Item = [u32; 4]> {
    // outward
    const SQUARES: [[usize; 4]; 6] =
        [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
    let lowest = corners.into_iter().fold(u32::MAX, u32::min);
    SQUARES
        .into_iter()
        .map(move |s| s.map(|i| corners[i]))
        .filter(move |s| !s.contains(&lowest))
        .flat_map(halve)
        .map(move |[a, b, c]| [lowest, a, b, c])
}
