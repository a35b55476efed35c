//! The surface of a body of nodes as detection sees it at the start of a step.

use crate::collision::Bounds3;
use crate::collision::surface::{Skin, SurfaceTree};
use crate::math::{Real, Vec3};
use crate::model::Nodes;
use crate::state::State;

/// Positions, velocities and normals of surfels, and boxes over the cells.
#[derive(Debug)]
pub(crate) struct SkinWork {
    generation: u32,
    /// Positions of the surfels [m].
    pub x: Vec<Vec3>,
    /// Velocities of the surfels [m/s].
    pub v: Vec<Vec3>,
    /// Outward unit normals; zero where there are no triangles.
    pub normals: Vec<Vec3>,
    /// Around all places the surfels may be in this step.
    pub bounds: Option<Bounds3>,
    /// Boxes around all places the cells may be in this step, once `fit` was called in it; none without cells.
    pub tree: Option<SurfaceTree>,
    fitted: bool,
    /// Every node is a surfel, in the same order, and nothing else is.
    pub all_nodes: bool,
    /// Largest radius of a circle around a triangle at rest [m].
    pub face_radius: Real,
}

impl SkinWork {
    /// For a body as it is in the model.
    pub fn new(generation: u32, nodes: &Nodes) -> Self {
        let boxes: Vec<_> = nodes.cells.corners.iter().map(|c| around(c.map(|i| nodes.rest[i as usize]))).collect();
        let tree = (!boxes.is_empty()).then(|| SurfaceTree::new(boxes));
        let radius = |c: &[u32; 3]| circle(c.map(|i| nodes.rest[i as usize]));
        let face_radius = nodes.cells.corners.iter().map(radius).fold(0.0, Real::max);
        let (x, v, normals) = (Vec::new(), Vec::new(), Vec::new());
        let all_nodes = nodes.surface.is_all_nodes(nodes.inv_mass.len());
        Self { generation, x, v, normals, bounds: None, tree, fitted: false, all_nodes, face_radius }
    }

    pub fn is_of(&self, generation: u32) -> bool {
        self.generation == generation
    }

    /// Follows the state. The box holds all surfels now and where their velocities take them in `dt`, grown by `margin` [m].
    pub fn follow(&mut self, nodes: &Nodes, state: &State, dt: Real, margin: Real) {
        let (x, v) = (&state.node_x[nodes.span()], &state.node_v[nodes.span()]);
        self.v.clear();
        if self.all_nodes {
            self.x.clear();
            self.x.extend_from_slice(x);
            self.v.extend_from_slice(v);
        } else {
            nodes.surface.positions(x, &mut self.x);
            self.v.extend((0..nodes.surface.len() as u32).map(|s| nodes.surface.velocity(s, x, v)));
        }
        // only a body with an inside, or one that meets surfaces, asks for them
        if nodes.surface.is_solid() {
            nodes.surface.normals(&self.x, &mut self.normals);
        } else {
            self.normals.clear();
        }
        self.fitted = false;
        let far = Real::INFINITY;
        let (mut min, mut max) = (Vec3::splat(far), Vec3::splat(-far));
        for (&x, &v) in self.x.iter().zip(&self.v) {
            let then = x + v * dt;
            min = min.min(x.min(then));
            max = max.max(x.max(then));
        }
        let grow = nodes.traits.radius.max(0.0) + margin;
        self.bounds = (!self.x.is_empty()).then(|| Bounds3 { min, max }.grown(grow));
    }

    /// Fits the boxes of the cells to this step, unless they are, and finds the normals of a sheet. Boxes hold a cell now
    /// and where its velocity takes it in `dt`, grown by `margin` [m].
    pub fn fit(&mut self, nodes: &Nodes, dt: Real, margin: Real) {
        if std::mem::replace(&mut self.fitted, true) {
            return;
        }
        if !nodes.surface.is_solid() {
            nodes.surface.normals(&self.x, &mut self.normals);
        }
        let grow = nodes.traits.radius.max(0.0) + margin;
        let Self { x, v, tree, .. } = self;
        let Some(tree) = tree else { return };
        tree.refit(nodes.cells.corners.iter().map(|corners| {
            let now = around(corners.map(|i| x[i as usize]));
            let then = around(corners.map(|i| x[i as usize] + v[i as usize] * dt));
            Bounds3 { min: now.min.min(then.min), max: now.max.max(then.max) }.grown(grow)
        }));
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
