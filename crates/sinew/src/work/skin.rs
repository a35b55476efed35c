//! The surface of a body of nodes as detection sees it at the start of a step.

use crate::collision::Bounds3;
use crate::collision::surface::{Skin, SurfaceTree, blend, point_triangle};
use crate::math::{Eight, LANES, Real, Vec3};
use crate::model::surface::Cells;
use crate::model::{Nodes, mean_edge};
use crate::state::State;

/// Distances up to this times the least are alike: rounding of a point on an edge that two faces share.
const ALIKE: Real = 1.001;

/// Positions, velocities and normals of surfels, and boxes over the cells.
#[derive(Debug)]
pub(crate) struct SkinWork {
    generation: u32,
    /// Positions of the surfels [m].
    pub x: Vec<Vec3>,
    /// Velocities of the surfels [m/s].
    pub v: Vec<Vec3>,
    /// No surfel is faster [m/s].
    pub fastest: Real,
    /// Outward unit normals; zero where there are no triangles.
    pub normals: Vec<Vec3>,
    /// Around all places the surfels may be in this step.
    pub bounds: Option<Bounds3>,
    /// The step [s].
    dt: Real,
    /// Around the way of each surfel in this step. Written by `fit`.
    ways: Vec<Bounds3>,
    /// Around all places where each cell may be in this step, and what the window adds. Written by `fit`.
    pub boxes: Vec<Bounds3>,
    /// A tree over fat boxes, which those of the cells have not left since it was fitted; none without cells.
    pub tree: Option<SurfaceTree>,
    /// How often the fat boxes were made anew: who knows this number knows which pairs of cells may meet.
    fattened: u64,
    /// What the boxes were fitted for, since the surface was last followed.
    fitted: Option<Window>,
    /// The nodes of a body at rest, as they were when it was followed, and the margin then [m]; no nodes for one that moved.
    rested: (Vec<Vec3>, Real),
    /// Every node is a surfel, in the same order, and nothing else is.
    pub all_nodes: bool,
    /// Largest radius of a circle around a triangle at rest [m].
    pub face_radius: Real,
    /// Mean length of edges at rest; 0 without [m].
    pub mean_edge: Real,
    /// Edges in lanes, once they were asked for.
    edge_groups: Vec<EdgeGroup>,
    /// Substeps that it asks for (`step/caught.rs`). Written by `detect`.
    pub asked: Option<u32>,
}

/// Eight edges; the last group repeats its last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeGroup {
    /// Surfels.
    pub ends: [[u32; LANES]; 2],
    /// 1/l² at rest; 0 without length [1/m²].
    pub per_square: Eight,
}

impl SkinWork {
    /// For a body as it is in the model.
    pub fn new(generation: u32, nodes: &Nodes) -> Self {
        let boxes: Vec<_> = nodes.cells.corners.iter().map(|c| around(c.map(|i| nodes.rest[i as usize]))).collect();
        let tree = (!boxes.is_empty()).then(|| SurfaceTree::new(boxes));
        let radius = |c: &[u32; 3]| circle(c.map(|i| nodes.rest[i as usize]));
        let face_radius = nodes.cells.corners.iter().map(radius).fold(0.0, Real::max);
        Self {
            generation,
            x: Vec::new(),
            v: Vec::new(),
            fastest: 0.0,
            normals: Vec::new(),
            bounds: None,
            dt: 0.0,
            ways: Vec::new(),
            boxes: Vec::new(),
            tree,
            fattened: 0,
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

    pub fn is_of(&self, generation: u32) -> bool {
        self.generation == generation
    }

    /// Tells these fat boxes from those of other bodies and times.
    pub fn stamp(&self) -> (u32, u64) {
        (self.generation, self.fattened)
    }

    /// Follows the state. The box holds all surfels now and where their velocities take them in `dt`, grown by `margin` [m].
    pub fn follow(&mut self, nodes: &Nodes, state: &State, dt: Real, margin: Real) {
        let (x, v) = (&state.node_x[nodes.span()], &state.node_v[nodes.span()]);
        // asleep: all is as it was
        let rests = v.iter().all(|v| *v == Vec3::ZERO);
        if rests && !x.is_empty() && self.rested.0 == x && self.rested.1 == margin {
            return;
        }
        self.rested.0.clear();
        self.rested.1 = margin;
        if rests {
            self.rested.0.extend_from_slice(x);
        }
        self.v.clear();
        if self.all_nodes {
            self.x.clear();
            self.x.extend_from_slice(x);
            self.v.extend_from_slice(v);
        } else {
            nodes.surface.positions(x, &mut self.x);
            self.v.extend((0..nodes.surface.len() as u32).map(|s| nodes.surface.velocity(s, x, v)));
        }
        let square = self.v.iter().fold(0.0, |most: Real, v| most.max(v.length_squared()));
        self.fastest = square.sqrt();
        // only a body with an inside, or one that meets surfaces, asks for them
        if nodes.surface.is_solid() {
            nodes.surface.normals(&self.x, &mut self.normals);
        } else {
            self.normals.clear();
        }
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

    /// Fits the boxes of the cells to this step, unless they are, and finds the normals of a sheet. The fat boxes are made anew
    /// when a cell may leave its own.
    pub fn fit(&mut self, nodes: &Nodes, window: Window) {
        if self.fitted.replace(window) == Some(window) {
            return;
        }
        if !nodes.surface.is_solid() {
            nodes.surface.normals(&self.x, &mut self.normals);
        }
        let Self { x, v, dt, ways, boxes, tree, fattened, fastest, .. } = self;
        let Some(tree) = tree else { return };
        ways.clear();
        ways.extend(x.iter().zip(v.iter()).map(|(&x, &v)| way(x, v, *dt)));
        let (radius, solid) = (nodes.traits.radius.max(0.0), nodes.surface.is_solid());
        let deeper = window.depth - window.near;
        boxes.clear();
        boxes.extend(nodes.cells.corners.iter().map(|corners| {
            let all = hull(corners, ways);
            let &[i, j, k] = corners;
            if j == k || !(deeper > 0.0) {
                return all.grown(radius + window.depth);
            }
            let (a, b, c) = (x[i as usize], x[j as usize], x[k as usize]);
            let inward = -(b - a).cross(c - a).normalize_or_zero();
            all.grown(radius + window.near).reaching(inward * deeper, solid)
        }));
        if *fattened > 0 && boxes.iter().zip(tree.boxes()).all(|(now, fat)| fat.contains(now)) {
            return;
        }
        *fattened += 1;
        let slack = (window.slack + window.ahead * *fastest).min(0.5 * window.depth);
        tree.refit(boxes.iter().map(|b| b.grown(slack)));
    }

    /// Calls `found` for every cell whose box of this step meets `bounds`, in no particular order.
    pub fn overlapping(&self, bounds: &Bounds3, mut found: impl FnMut(u32)) {
        let Some(tree) = &self.tree else { return };
        tree.overlapping(bounds, |cell| {
            if self.boxes[cell as usize].meets(bounds) {
                found(cell);
            }
        });
    }

    /// True when a point is inside this body with an inside, as the nearest of its faces within `reach` tells [m].
    pub fn encloses(&self, cells: &Cells, p: Vec3, reach: Real) -> bool {
        let around = Bounds3 { min: p, max: p }.grown(reach);
        let apart = |cell: u32| {
            let at = cells.corners[cell as usize].map(|k| self.x[k as usize]);
            let w = point_triangle(p, at);
            let plane = (at[1] - at[0]).cross(at[2] - at[0]).normalize_or_zero();
            (p - blend(at, w), plane)
        };
        let mut nearest = Real::INFINITY;
        self.overlapping(&around, |cell| nearest = nearest.min(apart(cell).0.length()));
        // faces at one edge are equally near: the one that the point is most above or below tells, of two the first
        let mut teller = (0.0, 0);
        self.overlapping(&around, |cell| {
            let (away, plane) = apart(cell);
            let height = plane.dot(away);
            let more = height.abs().total_cmp(&Real::abs(teller.0)).then(teller.1.cmp(&cell));
            if away.length() <= ALIKE * nearest && more.is_gt() {
                teller = (height, cell);
            }
        });
        teller.0 < 0.0
    }

    /// As the finder of touching features wants it.
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

/// How far the boxes of cells look.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Window {
    /// To all sides [m].
    pub near: Real,
    /// Behind a face, where what sank in is still found [m].
    pub depth: Real,
    /// How far surfels may go before the trees are walked again: this [m], and their fastest way in this time [s].
    pub slack: Real,
    pub ahead: Real,
}

/// Around three boxes.
#[inline]
fn hull(&[i, j, k]: &[u32; 3], boxes: &[Bounds3]) -> Bounds3 {
    let (a, b, c) = (&boxes[i as usize], &boxes[j as usize], &boxes[k as usize]);
    Bounds3 { min: a.min.min(b.min).min(c.min), max: a.max.max(b.max).max(c.max) }
}

fn around([a, b, c]: [Vec3; 3]) -> Bounds3 {
    Bounds3 { min: a.min(b).min(c), max: a.max(b).max(c) }
}

/// Radius of the smallest circle around a triangle [m].
fn circle([a, b, c]: [Vec3; 3]) -> Real {
    let mut sides = [a.distance(b), b.distance(c), c.distance(a)];
    sides.sort_by(Real::total_cmp);
    let [short, middle, long] = sides;
    // an obtuse triangle lies in the circle over its longest side
    if short * short + middle * middle <= long * long {
        return 0.5 * long;
    }
    let doubled = (b - a).cross(c - a).length();
    0.5 * short * middle * long / doubled
}

/// Around the way of a surfel in a step.
fn way(x: Vec3, v: Vec3, dt: Real) -> Bounds3 {
    let then = x + v * dt;
    Bounds3 { min: x.min(then), max: x.max(then) }
}
