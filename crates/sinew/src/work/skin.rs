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
    /// Boxes around all places the cells may be in this step; none without cells.
    pub tree: Option<SurfaceTree>,
}

impl SkinWork {
    /// For a body as it is in the model.
    pub fn new(generation: u32, nodes: &Nodes) -> Self {
        let boxes: Vec<_> = nodes.cells.corners.iter().map(|c| around(c.map(|i| nodes.rest[i as usize]))).collect();
        let tree = (!boxes.is_empty()).then(|| SurfaceTree::new(boxes));
        Self { generation, x: Vec::new(), v: Vec::new(), normals: Vec::new(), tree }
    }

    pub fn is_of(&self, generation: u32) -> bool {
        self.generation == generation
    }

    /// Follows the state. Boxes hold a cell now and where its velocity takes it in `dt`, grown by `margin` [m].
    pub fn follow(&mut self, nodes: &Nodes, state: &State, dt: Real, margin: Real) {
        let (x, v) = (&state.node_x[nodes.span()], &state.node_v[nodes.span()]);
        nodes.surface.positions(x, &mut self.x);
        self.v.clear();
        self.v.extend((0..nodes.surface.len() as u32).map(|s| nodes.surface.velocity(s, x, v)));
        nodes.surface.normals(&self.x, &mut self.normals);
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
