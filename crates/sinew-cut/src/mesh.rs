//! The rest mesh of a body: constant from its creation on.

use crate::error::{CutError, finite};
use crate::{NONE, Point};

/// Tetrahedra, their neighbours over faces, the elements around each node, and elements by cells of a grid.
pub(crate) struct Mesh {
    /// Rest positions [m]. (nodes)
    pub rest: Vec<Point>,
    pub tets: Vec<[u32; 4]>,
    /// Element beyond the face opposite to each corner, or `NONE`. (tets)
    pub neighbours: Vec<[u32; 4]>,
    star_start: Vec<u32>,
    star: Vec<u32>,
    /// Centre of the corners and the largest distance of one from it [m]. (tets)
    pub balls: Vec<(Point, f64)>,
    /// Six times the volume [m³]. (tets)
    pub six_volumes: Vec<f64>,
    /// Shortest edge at each node [m]. (nodes)
    pub sizes: Vec<f64>,
    /// Mean edge length [m].
    pub edge: f64,
    /// Longest edge [m].
    pub longest: f64,
    /// Corner of the bounding box [m].
    pub low: Point,
    /// The other corner [m].
    pub high: Point,
    cell: f64,
    cells: [usize; 3],
    cell_start: Vec<u32>,
    cell_tets: Vec<u32>,
}

impl Mesh {
    pub fn new(rest: &[Point], tets: &[[u32; 4]]) -> Result<Self, CutError> {
        finite("node", rest)?;
        if tets.is_empty() {
            return Err(CutError::NoElements);
        }
        let mut six_volumes = Vec::with_capacity(tets.len());
        for (element, tet) in tets.iter().enumerate() {
            if let Some(&node) = tet.iter().find(|&&node| node as usize >= rest.len()) {
                return Err(CutError::NoSuchNode { element, node, nodes: rest.len() });
            }
            let [a, b, c, d] = tet.map(|node| rest[node as usize]);
            let volume = (b - a).cross(c - a).dot(d - a);
            if !(volume > 0.0) {
                return Err(CutError::FlatElement { element });
            }
            six_volumes.push(volume);
        }
        let (star_start, star) = stars(rest.len(), tets);
        let balls: Vec<_> = tets.iter().map(|tet| ball(tet.map(|node| rest[node as usize]))).collect();
        let mut mesh = Self {
            neighbours: neighbours(tets)?,
            star_start,
            star,
            balls,
            six_volumes,
            sizes: vec![f64::INFINITY; rest.len()],
            edge: 0.0,
            longest: 0.0,
            low: Point::INFINITY,
            high: Point::NEG_INFINITY,
            cell: 1.0,
            cells: [1; 3],
            cell_start: Vec::new(),
            cell_tets: Vec::new(),
            rest: rest.to_vec(),
            tets: tets.to_vec(),
        };
        mesh.measure();
        mesh.fill_grid();
        Ok(mesh)
    }

    /// Elements around a node.
    pub fn star(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.star[self.star_start[node] as usize..self.star_start[node + 1] as usize]
    }

    /// Number of the corner of an element that is this node.
    pub fn corner(&self, tet: u32, node: u32) -> Option<usize> {
        self.tets[tet as usize].iter().position(|&n| n == node)
    }

    /// Elements whose box meets a box, with repetitions.
    pub fn near(&self, low: Point, high: Point, mut visit: impl FnMut(u32)) {
        if low.cmpgt(self.high).any() || high.cmplt(self.low).any() {
            return;
        }
        let (a, b) = (self.cell_of(low), self.cell_of(high));
        for z in a[2]..=b[2] {
            for y in a[1]..=b[1] {
                for x in a[0]..=b[0] {
                    let cell = (z * self.cells[1] + y) * self.cells[0] + x;
                    let range = self.cell_start[cell] as usize..self.cell_start[cell + 1] as usize;
                    self.cell_tets[range].iter().for_each(|&tet| visit(tet));
                }
            }
        }
    }

    /// Corners of the face opposite to `corner`, by ascending node: both elements at a face see the same order.
    pub fn face_order(&self, tet: u32, corner: usize) -> [usize; 3] {
        let nodes = self.tets[tet as usize];
        let mut order = match corner {
            0 => [1, 2, 3],
            1 => [0, 2, 3],
            2 => [0, 1, 3],
            _ => [0, 1, 2],
        };
        order.sort_unstable_by_key(|&k| nodes[k]);
        order
    }

    /// The corner of a neighbour opposite to the common face.
    pub fn back(&self, neighbour: u32, tet: u32) -> usize {
        self.neighbours[neighbour as usize].iter().position(|&t| t == tet).unwrap_or(0)
    }

    fn measure(&mut self) {
        let (mut sum, mut count) = (0.0, 0);
        for tet in &self.tets {
            for i in 0..4 {
                let a = self.rest[tet[i] as usize];
                self.low = self.low.min(a);
                self.high = self.high.max(a);
                for j in 0..i {
                    let length = a.distance(self.rest[tet[j] as usize]);
                    sum += length;
                    count += 1;
                    self.longest = self.longest.max(length);
                    for node in [tet[i], tet[j]] {
                        let size = &mut self.sizes[node as usize];
                        *size = size.min(length);
                    }
                }
            }
        }
        self.edge = sum / f64::from(count);
    }

    fn cell_of(&self, at: Point) -> [usize; 3] {
        let scaled = (at - self.low) / self.cell;
        let clamp = |x: f64, n: usize| (x.max(0.0) as usize).min(n - 1);
        [clamp(scaled.x, self.cells[0]), clamp(scaled.y, self.cells[1]), clamp(scaled.z, self.cells[2])]
    }

    fn fill_grid(&mut self) {
        let size = self.high - self.low;
        // cells of a mean edge, but no more of them than four an element
        self.cell = self.edge;
        loop {
            self.cells = [size.x, size.y, size.z].map(|s| (s / self.cell) as usize + 1);
            if self.cells.iter().map(|&n| n as f64).product::<f64>() <= 4.0 * self.tets.len() as f64 + 64.0 {
                break;
            }
            self.cell *= 1.5;
        }
        let cells = self.cells.iter().product();
        let boxes: Vec<_> = self
            .tets
            .iter()
            .map(|tet| {
                let corners = tet.map(|node| self.rest[node as usize]);
                let low = corners.iter().fold(Point::INFINITY, |low, c| low.min(*c));
                let high = corners.iter().fold(Point::NEG_INFINITY, |high, c| high.max(*c));
                (self.cell_of(low), self.cell_of(high))
            })
            .collect();
        let visit = |f: &mut dyn FnMut(usize, u32)| {
            for (tet, (a, b)) in boxes.iter().enumerate() {
                for z in a[2]..=b[2] {
                    for y in a[1]..=b[1] {
                        for x in a[0]..=b[0] {
                            f((z * self.cells[1] + y) * self.cells[0] + x, tet as u32);
                        }
                    }
                }
            }
        };
        let (start, items) = buckets(cells, visit);
        (self.cell_start, self.cell_tets) = (start, items);
    }
}

/// Items by bucket: first item of each bucket, and the items.
pub(crate) fn buckets(count: usize, visit: impl Fn(&mut dyn FnMut(usize, u32))) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0_u32; count + 1];
    visit(&mut |bucket, _| start[bucket + 1] += 1);
    for k in 0..count {
        start[k + 1] += start[k];
    }
    let mut at = start.clone();
    let mut items = vec![0; start[count] as usize];
    visit(&mut |bucket, item| {
        items[at[bucket] as usize] = item;
        at[bucket] += 1;
    });
    (start, items)
}

fn stars(nodes: usize, tets: &[[u32; 4]]) -> (Vec<u32>, Vec<u32>) {
    buckets(nodes, |f| {
        for (t, tet) in tets.iter().enumerate() {
            tet.iter().for_each(|&node| f(node as usize, t as u32));
        }
    })
}

fn neighbours(tets: &[[u32; 4]]) -> Result<Vec<[u32; 4]>, CutError> {
    let mut faces: Vec<([u32; 3], u32, usize)> = Vec::with_capacity(4 * tets.len());
    for (t, tet) in tets.iter().enumerate() {
        for corner in 0..4 {
            let mut face = [tet[(corner + 1) % 4], tet[(corner + 2) % 4], tet[(corner + 3) % 4]];
            face.sort_unstable();
            faces.push((face, t as u32, corner));
        }
    }
    faces.sort_unstable();
    let mut found = vec![[NONE; 4]; tets.len()];
    for k in 1..faces.len() {
        let (a, b) = (faces[k - 1], faces[k]);
        if a.0 == b.0 {
            if found[a.1 as usize][a.2] != NONE {
                return Err(CutError::SharedByThree { nodes: a.0.to_vec() });
            }
            found[a.1 as usize][a.2] = b.1;
            found[b.1 as usize][b.2] = a.1;
        }
    }
    Ok(found)
}

fn ball(corners: [Point; 4]) -> (Point, f64) {
    let centre = corners.iter().sum::<Point>() / 4.0;
    (centre, corners.iter().map(|c| c.distance(centre)).fold(0.0, f64::max))
}
