//! A single deformable body: no contacts, no constraints except pinned nodes. The conformance tests, the benchmarks of
//! single models and reference solves use it; a world performs the same steps with constraint rows.

use super::rotation;
use super::{BodyMut, BodyRef, Deformable, StepContext};
use crate::constraint::RowBuffer;
use crate::math::{Block, Quat, Real, Vec3, add, vec};
use crate::solver::implicit::{Outcome, Placed, Scratch, Settings, System, regularize, solve};

/// A body with its state.
///
/// ```
/// use sinew::deformable::{Alone, BodyMut, BodyRef, Deformable, StepContext};
/// use sinew::{Real, Vec3};
///
/// /// One mass on a spring to the origin.
/// #[derive(Debug)]
/// struct Tethered {
///     mass: [Real; 1],
///     stiffness: Real,
/// }
///
/// impl Deformable for Tethered {
///     fn masses(&self) -> &[Real] {
///         &self.mass
///     }
///     fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
///         body.kick(ctx.h);
///         let [x, v] = [body.x[0], body.v[0]];
///         body.v[0] = [0, 1, 2, 3].map(|k| if k < 3 { v[k] - ctx.h * self.stiffness * x[k] * v[3] } else { v[k] });
///     }
///     fn energy(&self, body: BodyRef<'_>) -> Real {
///         0.5 * self.stiffness * body.x[0][..3].iter().map(|x| x * x).sum::<Real>()
///     }
///     fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
///         out[0] -= Vec3::from_slice(&body.x[0][..3]) * self.stiffness;
///         true
///     }
/// }
///
/// // half a period of 2π √(m/k) = 1 s later it is on the other side
/// let model = Tethered { mass: [1.0], stiffness: 39.4784 };
/// let mut body = Alone::new(model, &[Vec3::X]);
/// for _ in 0..500 {
///     body.step(1e-3);
/// }
/// assert!((body.position(0) + Vec3::X).length() < 0.01);
/// ```
#[derive(Debug)]
pub struct Alone {
    /// The model.
    pub model: Box<dyn Deformable>,
    /// Positions [m].
    pub x: Vec<Block>,
    /// Velocities [m/s] and inverse masses [1/kg].
    pub v: Vec<Block>,
    /// External forces, excluding gravity [N].
    pub force: Vec<Vec3>,
    /// Gravitational acceleration [m/s²].
    pub gravity: Vec3,
    /// Internal state of the model.
    pub internal_state: Vec<Real>,
    /// Iteration limits and tolerances when the model is implicit.
    pub settings: Settings,
    /// Result of the last implicit solve.
    pub outcome: Outcome,
    total: Vec<Vec3>,
    scratch: Scratch,
    rows: RowBuffer,
}

impl Alone {
    /// A model at rest at these positions [m]; no gravity.
    pub fn new(model: impl Deformable + 'static, positions: &[Vec3]) -> Self {
        let v = model.masses().iter().map(|m| [0.0, 0.0, 0.0, 1.0 / m]).collect();
        let mut internal_state = vec![0.0; model.traits().internal_state_count];
        model.start(Quat::IDENTITY, Vec3::ZERO, &mut internal_state);
        Self {
            model: Box::new(model),
            x: positions.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect(),
            v,
            force: vec![Vec3::ZERO; positions.len()],
            gravity: Vec3::ZERO,
            internal_state,
            settings: Settings::default(),
            outcome: Outcome::default(),
            total: vec![Vec3::ZERO; positions.len()],
            scratch: Scratch::default(),
            rows: RowBuffer::default(),
        }
    }

    /// Pins a node: it keeps its velocity, which is zero unless one is assigned.
    pub fn pin(&mut self, node: usize) {
        self.v[node] = [0.0; 4];
        let body = BodyRef { x: &self.x, v: &self.v, internal_state: &self.internal_state };
        self.model.refresh(body);
    }

    /// Position of a node [m].
    pub fn position(&self, node: usize) -> Vec3 {
        vec(self.x[node])
    }

    /// The body, read-only.
    pub fn body(&self) -> BodyRef<'_> {
        BodyRef { x: &self.x, v: &self.v, internal_state: &self.internal_state }
    }

    /// Elastic energy [J].
    pub fn energy(&self) -> Real {
        self.model.energy(self.body())
    }

    /// Elastic forces [N].
    pub fn forces(&self) -> Vec<Vec3> {
        let mut out = vec![Vec3::ZERO; self.x.len()];
        self.model.forces(self.body(), &mut out);
        out
    }

    /// One step of h [s] in one substep.
    pub fn step(&mut self, h: Real) {
        self.step_in(&StepContext::new(h, 0));
    }

    /// One step as one substep of this context.
    pub fn step_in(&mut self, ctx: &StepContext<'_>) {
        let masses = self.model.masses();
        for ((total, force), m) in self.total.iter_mut().zip(&self.force).zip(masses) {
            *total = *force + self.gravity * *m;
        }
        let Self { model, x, v, total, internal_state, .. } = self;
        model.predict(ctx, BodyMut { x, v, force: total, internal_state });
        if let Some(operator) = model.operator() {
            // the angular velocities of ellipsoidal nodes follow the nodes
            let nodes = v.len();
            let spins = operator.block_count() - nodes;
            for k in 0..spins {
                let w = rotation::spin(internal_state, k);
                v.push([w.x, w.y, w.z, 0.0]);
            }
            let placed = [Placed { first: 0, operator }];
            let system = System { operators: &placed, rigid_unknowns: &[] };
            regularize(&system, &mut self.rows, v.len(), &self.settings, &mut self.scratch);
            self.outcome = solve(&system, &mut self.rows, v, &self.settings, &mut self.scratch);
            for k in 0..spins {
                let turned = rotation::orientation(internal_state, k);
                rotation::put(internal_state, k, turned, vec(v[nodes + k]));
            }
            v.truncate(nodes);
        }
        model.advance(ctx, BodyMut { x, v, force: total, internal_state });
    }

    /// Steps with all velocities set to zero after each: an implicit body converges to equilibrium as by Newton's
    /// method, an explicit one slowly. Returns the largest unbalanced force on a free node [N].
    pub fn settle(&mut self, h: Real, steps: u32) -> Real {
        for _ in 0..steps {
            self.step(h);
            for v in self.v.iter_mut().filter(|v| v[3] > 0.0) {
                *v = [0.0, 0.0, 0.0, v[3]];
            }
        }
        let forces = self.forces();
        let free = self.v.iter().zip(forces).zip(&self.force).filter(|((v, _), _)| v[3] > 0.0);
        free.map(|((v, f), e)| (f + *e + self.gravity / v[3]).length()).fold(0.0, Real::max)
    }

    /// Linear momentum [kg·m/s] and angular momentum about the origin [kg·m²/s].
    pub fn momentum(&self) -> (Vec3, Vec3) {
        let (mut p, mut l) = (Vec3::ZERO, self.own_rotation().1);
        for ((x, v), m) in self.x.iter().zip(&self.v).zip(self.model.masses()) {
            p += vec(*v) * *m;
            l += vec(*x).cross(vec(*v) * *m);
        }
        (p, l)
    }

    /// Kinetic energy [J].
    pub fn kinetic(&self) -> Real {
        let along: Real = self.v.iter().zip(self.model.masses()).map(|(v, m)| 0.5 * m * vec(*v).length_squared()).sum();
        along + self.own_rotation().0
    }

    /// Kinetic energy [J] and angular momentum [kg·m²/s] of the rotation of ellipsoidal nodes about their own centres.
    pub fn own_rotation(&self) -> (Real, Vec3) {
        let nodes = self.model.ellipsoids().iter().zip(self.model.masses()).enumerate();
        let each = nodes.map(|(node, (&radii, &mass))| rotation::rotation_of(&self.internal_state, node, mass, radii));
        each.fold((0.0, Vec3::ZERO), |(energy, spin), (e, l)| (energy + e, spin + l))
    }

    /// Adds a rigid motion to the velocities of the free nodes.
    pub fn push(&mut self, velocity: Vec3, spin: Vec3, about: Vec3) {
        for (x, v) in self.x.iter().zip(&mut self.v) {
            if v[3] > 0.0 {
                add(v, velocity + spin.cross(vec(*x) - about));
            }
        }
        for node in 0..self.model.ellipsoids().len() {
            let (q, w) =
                (rotation::orientation(&self.internal_state, node), rotation::spin(&self.internal_state, node));
            rotation::put(&mut self.internal_state, node, q, w + spin);
        }
    }
}
