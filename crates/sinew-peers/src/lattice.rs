//! S4: a lattice of 28³ nodes and 144,423 springs, forces and integration of one step.
//!
//! The nodes are shuffled: a mesh may come in any order, and the model must find an efficient one itself.

use crate::{Reading, Record, Scene, Times};
use sinew::kernels::Pool;
use sinew::trial::spring::{Element, Integrator, Mass, MassSpring, Params, Spring};
use sinew::trial::{BodyMut, Deformable, StepContext};
use sinew::{Block, Real, Vec3};
use std::time::Instant;

/// Nodes along an edge of the lattice.
const SIDE: usize = 28;
/// Distance between neighbours [m].
const SPACING: Real = 0.05;
/// Stiffness of every spring [N/m].
const STIFFNESS: Real = 1000.0;
/// Mass of every node [kg].
const NODE_MASS: Real = 0.01;
/// Step [s].
const STEP: Real = 1e-4;
/// Initial lengths as a fraction of the rest lengths, as in the peers' scene.
const STRETCH: Real = 1.01;
/// Damping ratio of the damped variant.
pub const RATIO: Real = 0.05;
/// The lattice with its state.
pub struct Body<'a> {
    model: MassSpring,
    /// Number of springs.
    pub springs: usize,
    x: Vec<Block>,
    v: Vec<Block>,
    force: Vec<Vec3>,
    pool: &'a Pool,
}

impl<'a> Body<'a> {
    /// The lattice in the peers' initial state, with dashpots of this damping ratio.
    pub fn new(ratio: Real, pool: &'a Pool) -> Self {
        let (points, edges) = lattice();
        let spring = |&[a, b]: &[u32; 2]| {
            let rest = (points[b as usize] - points[a as usize]).length();
            // c = 2 ζ √(k μ) with the reduced mass μ = m/2
            let damping = 2.0 * ratio * (STIFFNESS * 0.5 * NODE_MASS).sqrt();
            Spring { nodes: [a, b], rest, stiffness: STIFFNESS, damping }
        };
        let springs: Vec<Spring> = edges.iter().map(spring).collect();
        let params = Params {
            mass: Mass::Total(NODE_MASS * points.len() as Real),
            element: Element::Voigt,
            integrator: Integrator::SymplecticEuler,
            ..Params::default()
        };
        let model = MassSpring::from_springs(&points, &springs, &params).expect("a sane lattice");
        assert!(model.traits().stable_step > STEP, "{} s", model.traits().stable_step);
        Self {
            springs: springs.len(),
            x: points.iter().map(|p| [p.x * STRETCH, p.y * STRETCH, p.z * STRETCH, 0.0]).collect(),
            v: model.masses().iter().map(|m| [0.0, 0.0, 0.0, 1.0 / m]).collect(),
            force: vec![Vec3::ZERO; points.len()],
            model,
            pool,
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.x.len()
    }

    /// Wall time of each of `steps` steps [ms].
    pub fn time(&mut self, steps: usize) -> Vec<f64> {
        (0..steps).map(|_| self.step()).collect()
    }

    fn step(&mut self) -> f64 {
        let ctx = StepContext::new(STEP, 0);
        let ctx = if self.pool.threads() > 1 { ctx.shared(self.pool) } else { ctx };
        let Self { model, x, v, force, .. } = self;
        let clock = Instant::now();
        model.predict(&ctx, BodyMut { x, v, force, internal_state: &mut [] });
        model.advance(&ctx, BodyMut { x, v, force, internal_state: &mut [] });
        clock.elapsed().as_secs_f64() * 1e3
    }

    /// Largest absolute coordinate [m].
    pub fn reach(&self) -> Real {
        self.x.iter().map(|x| x[0].abs().max(x[1].abs()).max(x[2].abs())).fold(0.0, Real::max)
    }
}

/// Springs alone, as in the peers' loops.
pub fn records(give: &mut dyn FnMut(Record)) {
    const STEPS: usize = 600;
    let pool = Pool::new(1);
    let mut body = Body::new(0.0, &pool);
    let ms = body.time(STEPS);
    give(Record {
        scene: Scene::S4,
        variant: "springs".to_owned(),
        sizes: [body.nodes(), 0, 0, body.springs],
        h_ms: 1e3 * f64::from(STEP),
        effort: "explicit".to_owned(),
        ms: Times::of(&ms),
        steps: STEPS,
        readings: vec![Reading::new("reach", body.reach(), "m")],
    });
}

/// Positions and springs: the seven neighbours of each node towards higher coordinates, with nodes in a shuffled order.
fn lattice() -> (Vec<Vec3>, Vec<[u32; 2]>) {
    let count = SIDE * SIDE * SIDE;
    let mut number: Vec<u32> = (0..count as u32).collect();
    let mut state = 1u32;
    for i in (1..count).rev() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        number.swap(i, (state >> 8) as usize % (i + 1));
    }
    let at = |a: usize, b: usize, c: usize| number[(a * SIDE + b) * SIDE + c];
    let (mut points, mut edges) = (vec![Vec3::ZERO; count], Vec::new());
    for cell in 0..count {
        let [a, b, c] = [cell / (SIDE * SIDE), cell / SIDE % SIDE, cell % SIDE];
        points[at(a, b, c) as usize] = Vec3::new(a as Real, b as Real, c as Real) * SPACING;
        for way in 1..8 {
            let [x, y, z] = [a + (way >> 2), b + (way >> 1 & 1), c + (way & 1)];
            if x.max(y).max(z) < SIDE {
                edges.push([at(a, b, c), at(x, y, z)]);
            }
        }
    }
    (points, edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lattice_has_the_peers_size() {
        let (points, edges) = lattice();
        assert_eq!([points.len(), edges.len()], [21_952, 144_423]);
    }
}
