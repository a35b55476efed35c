//! The surface of a body of nodes for collision detection, at the start of a step.

use crate::collision::Bounds3;
use crate::collision::surface::{Boxed, CellTree, Fit, Skin, blend, point_triangle};
use crate::math::{Block, Eight, LANES, Real, Vec3};
use crate::model::surface::Cells;
use crate::model::{Nodes, Stamp, mean_edge};
use crate::state::State;

/// Ratio up to which distances count as equal to the smallest one: rounding of a point on an edge that two faces share.
const ALIKE: Real = 1.001;

/// Number of steps that surfels look ahead, with a rounding allowance.
const LOOK_AHEAD: Real = 2.002;

/// Positions, velocities and normals of surfels, and boxes over the cells.
#[derive(Debug)]
pub(crate) struct SkinWork {
    /// Positions and velocities of surfels that are not nodes, as blocks. Scratch of `plan`.
    pub blocks: [Vec<Block>; 2],
    stamp: Stamp,
    /// Positions of the surfels [m].
    pub x: Vec<Vec3>,
    /// Velocities of the surfels [m/s].
    pub v: Vec<Vec3>,
    /// Largest speed of a surfel [m/s].
    pub fastest: Real,
    /// Outward unit normals, for a solid body only the requested ones; zero where there are no triangles.
    normals: Vec<Vec3>,
    /// Which of them are valid since the surface was last updated.
    known: Vec<bool>,
    /// The triangles adjacent to each surfel.
    around: Around,
    /// Box around all positions that the surfels may have in this step.
    pub bounds: Option<Bounds3>,
    /// The step [s].
    dt: Real,
    /// Positions of the surfels now, with twice their displacement of this step as fourth component, and at the end of
    /// the step at constant velocity, in lanes. Written by `fit` [m].
    now: Vec<Block>,
    then: Vec<Block>,
    /// Boxes around all positions that each cell may have in this step, grown by the window; none without cells.
    /// Written by `fit`.
    pub tree: Option<CellTree>,
    /// The window of the boxes, since the surface was last updated.
    fitted: Option<Window>,
    /// Node positions of a body at rest at its last update, and the margin then [m]; empty for a body that moved.
    rested: (Vec<Vec3>, Real),
    /// Every node is a surfel, in the same order, and there are no others.
    pub all_nodes: bool,
    /// Largest radius of the enclosing circle of a triangle at rest [m].
    pub face_radius: Real,
    /// Mean length of edges at rest; 0 without edges [m].
    pub mean_edge: Real,
    /// Edges in lanes, once they were requested.
    edge_groups: Vec<EdgeGroup>,
    /// Substeps that it needs (`island/cloth_substeps.rs`). Written by `plan`.
    pub asked: Option<u32>,
}

/// Eight edges; the last group repeats its last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeGroup {
    /// Surfels.
    pub ends: [[u32; LANES]; 2],
    /// 1/l² at rest; 0 for zero length [1/m²].
    pub per_square: Eight,
}

impl SkinWork {
    /// For a body as it is in the model.
    pub fn new(stamp: Stamp, nodes: &Nodes) -> Self {
        let radius = |c: &[u32; 3]| circle(c.map(|i| nodes.rest[i as usize]));
        let face_radius = nodes.cells.corners.iter().map(radius).fold(0.0, Real::max);
        Self {
            blocks: [Vec::new(), Vec::new()],
            stamp,
            x: Vec::new(),
            v: Vec::new(),
            fastest: 0.0,
            normals: Vec::new(),
            known: Vec::new(),
            around: Around::new(nodes.surface.len(), nodes.surface.triangles()),
            bounds: None,
            dt: 0.0,
            now: Vec::new(),
            then: Vec::new(),
            tree: CellTree::new(&nodes.cells, &nodes.rest),
            fitted: None,
            rested: (Vec::new(), 0.0),
            all_nodes: nodes.surface.is_all_nodes(nodes.inv_mass.len()),
            face_radius,
            mean_edge: mean_edge(&nodes.cells, &nodes.rest),
            edge_groups: Vec::new(),
            asked: None,
        }
    }

    /// The edges of its body in lanes.
    pub fn edge_groups(&mut self, nodes: &Nodes) -> &[EdgeGroup] {
        if self.edge_groups.is_empty() {
            let per_square = |[a, b]: [u32; 2]| {
                let square = (nodes.rest[b as usize] - nodes.rest[a as usize]).length_squared();
                if square > 0.0 { 1.0 / square } else { 0.0 }
            };
            let groups = nodes.cells.edges.chunks(LANES).map(|edges| {
                let edge = |lane: usize| edges[lane.min(edges.len() - 1)];
                let ends = [0, 1].map(|end| std::array::from_fn(|lane| edge(lane)[end]));
                EdgeGroup { ends, per_square: std::array::from_fn(|lane| per_square(edge(lane))) }
            });
            self.edge_groups = groups.collect();
        }
        &self.edge_groups
    }

    /// True when it was made for this body and its present topology.
    pub fn is_of(&self, stamp: Stamp) -> bool {
        self.stamp == stamp
    }

    /// Updates the surface from the state. The box contains all surfels now and at the end of `dt` at constant
    /// velocity, grown by `margin` [m].
    pub fn follow(&mut self, nodes: &Nodes, state: &State, dt: Real, margin: Real) {
        let (x, v) = (&state.node_x[nodes.span()], &state.node_v[nodes.span()]);
        // asleep: nothing has changed
        let rests = v.iter().all(|v| *v == Vec3::ZERO);
        if rests && !x.is_empty() && self.rested.0 == x && self.rested.1 == margin {
            return;
        }
        self.rested.0.clear();
        self.rested.1 = margin;
        if rests {
            self.rested.0.extend_from_slice(x);
        }
        // a body whose surface is held may have more nodes now
        if self.all_nodes && x.len() == nodes.surface.len() {
            self.x.clear();
            self.x.extend_from_slice(x);
            self.v.clear();
            self.v.extend_from_slice(v);
        } else {
            nodes.surface.positions(x, &mut self.x);
            nodes.surface.velocities(x, v, &mut self.v);
        }
        let square = self.v.iter().fold(0.0, |most: Real, v| most.max(v.length_squared()));
        self.fastest = square.sqrt();
        self.known.clear();
        self.known.resize(self.x.len(), false);
        self.normals.resize(self.x.len(), Vec3::ZERO);
        self.fitted = None;
        self.dt = dt;
        let far = Real::INFINITY;
        let (mut min, mut max) = (Vec3::splat(far), Vec3::splat(-far));
        for (&x, &v) in self.x.iter().zip(&self.v) {
            let way = way(x, v, dt);
            (min, max) = (min.min(way.min), max.max(way.max));
        }
        let grow = nodes.traits.radius.max(0.0) + margin;
        self.bounds = (!self.x.is_empty()).then(|| Bounds3 { min, max }.grown(grow));
    }

    /// Fits the boxes of the cells to this step, unless that is done, and computes the normals of an open surface.
    pub fn fit(&mut self, nodes: &Nodes, window: Window) {
        if self.fitted.replace(window) == Some(window) {
            return;
        }
        if !nodes.surface.is_solid() {
            nodes.surface.normals(&self.x, &mut self.normals);
        }
        let Self { x, v, dt, now, then, tree, .. } = self;
        let Some(tree) = tree else { return };
        let block = |p: Vec3, more: Real| [p.x, p.y, p.z, more];
        now.clear();
        now.extend(x.iter().zip(v.iter()).map(|(&x, &v)| block(x, LOOK_AHEAD * *dt * v.length())));
        then.clear();
        then.extend(x.iter().zip(v.iter()).map(|(&x, &v)| block(x + v * *dt, 0.0)));
        let (radius, deeper) = (nodes.traits.radius.max(0.0), window.depth - window.near);
        let reaches = deeper > 0.0;
        let fit = Fit {
            now,
            then,
            face: radius + if reaches { window.near } else { window.depth },
            segment: radius + window.depth,
            deeper: if reaches { deeper } else { 0.0 },
            one_sided: nodes.surface.is_solid(),
        };
        tree.fit(fit, window.lanes);
    }

    /// The outward unit normal at a surfel.
    pub fn normal(&self, nodes: &Nodes, surfel: u32) -> Vec3 {
        nodes.surface.normal_from(&self.x, self.around.of(surfel))
    }

    /// Computes the normals at these surfels, where they are not valid; an open surface has all of them.
    pub fn find_normals(&mut self, nodes: &Nodes, surfels: impl Iterator<Item = u32>) {
        if !nodes.surface.is_solid() {
            return;
        }
        for surfel in surfels {
            if !std::mem::replace(&mut self.known[surfel as usize], true) {
                self.normals[surfel as usize] = self.normal(nodes, surfel);
            }
        }
    }

    /// Calls `found` for every cell whose box of this step overlaps `bounds`, in no particular order.
    pub fn overlapping(&self, bounds: &Bounds3, found: impl FnMut(u32)) {
        if let Some(tree) = &self.tree {
            tree.overlapping(bounds, found);
        }
    }

    /// Boxes and positions of this step, once they were fitted; none without cells.
    pub fn boxed<'a>(&'a self, nodes: &'a Nodes) -> Option<Boxed<'a>> {
        let (cells, solid) = (&*nodes.cells, nodes.surface.is_solid());
        Some(Boxed { cells, tree: self.tree.as_ref()?, x: &self.now, solid })
    }

    /// True when a point is inside this solid body, according to the nearest of its faces within `reach` [m].
    pub fn encloses(&self, cells: &Cells, p: Vec3, reach: Real) -> bool {
        let around = Bounds3 { min: p, max: p }.grown(reach);
        let apart = |cell: u32| {
            let at = cells.corners[cell as usize].map(|k| self.x[k as usize]);
            let w = point_triangle(p, at);
            let plane = (at[1] - at[0]).cross(at[2] - at[0]).normalize_or_zero();
            (p - blend(at, w), plane)
        };
        // the box of a cell is much larger than the cell; a face directly above may be slightly farther than its height
        let near = Bounds3 { min: p, max: p }.grown(2.0 * reach);
        let is_near = |cell: u32| {
            let [a, b, c] = cells.corners[cell as usize].map(|k| self.x[k as usize]);
            Bounds3 { min: a.min(b).min(c), max: a.max(b).max(c) }.meets(&near)
        };
        let mut nearest = Real::INFINITY;
        self.overlapping(&around, |cell| {
            if is_near(cell) {
                nearest = nearest.min(apart(cell).0.length());
            }
        });
        // faces at one edge are equally near: the one with the largest height of the point above or below its plane
        // decides, of two the first
        let mut teller = (0.0, 0);
        self.overlapping(&around, |cell| {
            if !is_near(cell) {
                return;
            }
            let (away, plane) = apart(cell);
            let height = plane.dot(away);
            let more = height.abs().total_cmp(&Real::abs(teller.0)).then(teller.1.cmp(&cell));
            if away.length() <= ALIKE * nearest && more.is_gt() {
                teller = (height, cell);
            }
        });
        teller.0 < 0.0
    }

    /// The input of the search for features in contact.
    pub fn skin<'a>(&'a self, nodes: &'a Nodes) -> Skin<'a> {
        Skin {
            cells: &nodes.cells,
            x: &self.x,
            rest: &nodes.rest,
            normals: &self.normals,
            radius: nodes.traits.radius,
            solid: nodes.surface.is_solid(),
        }
    }
}

/// Triangles at each surfel, ascending.
#[derive(Debug)]
struct Around {
    /// Start index of the triangles of each surfel, and the end.
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl Around {
    fn new(surfels: usize, triangles: &[[u32; 3]]) -> Self {
        let corners = || triangles.iter().zip(0..).flat_map(|(t, k)| t.map(|corner| (corner, k)));
        let mut starts = vec![0; surfels + 1];
        corners().for_each(|(corner, _)| starts[corner as usize + 1] += 1);
        for k in 0..surfels {
            starts[k + 1] += starts[k];
        }
        let (mut next, mut of) = (starts.clone(), vec![0; 3 * triangles.len()]);
        for (corner, triangle) in corners() {
            of[next[corner as usize] as usize] = triangle;
            next[corner as usize] += 1;
        }
        Self { starts, triangles: of }
    }

    fn of(&self, surfel: u32) -> &[u32] {
        let k = surfel as usize;
        &self.triangles[self.starts[k] as usize..self.starts[k + 1] as usize]
    }
}

/// Search distances that the boxes of cells are grown by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Window {
    /// In all directions [m].
    pub near: Real,
    /// Behind a face, where penetrating features are still found [m].
    pub depth: Real,
    /// In lanes or one by one.
    pub lanes: bool,
}

/// Radius of the smallest circle around a triangle [m].
fn circle([a, b, c]: [Vec3; 3]) -> Real {
    let mut sides = [a.distance(b), b.distance(c), c.distance(a)];
    sides.sort_by(Real::total_cmp);
    let [short, middle, long] = sides;
    // an obtuse triangle lies in the circle over its longest side as diameter
    if short * short + middle * middle <= long * long {
        return 0.5 * long;
    }
    let doubled = (b - a).cross(c - a).length();
    0.5 * short * middle * long / doubled
}

/// Box around the path of a surfel in a step.
fn way(x: Vec3, v: Vec3, dt: Real) -> Bounds3 {
    let then = x + v * dt;
    Bounds3 { min: x.min(then), max: x.max(then) }
}
