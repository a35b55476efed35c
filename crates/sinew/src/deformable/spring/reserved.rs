//! Springs along the edges of tetrahedra, evaluated element by element: for bodies whose elements are edited in place.
//!
//! Each element has a share of the springs along its edges, k = φ E V/L² with its fill fraction φ, so that the sum over
//! the elements around an edge is the spring of `network.rs`. An edge is evaluated once for each element around it,
//! about five times, in lanes that have the four corners for the volume force anyway; a network of springs evaluates it
//! twice, with as many loads.
//!
//! Stable step: no frequency of the body is higher than the highest of an element with its own mass, which does not
//! depend on φ. So cuts do not shorten the step, at the price of a shorter one from the start: 1.5 times in a regular
//! lattice, up to 3 times in an irregular mesh.

use super::element::TINY;
use super::params::{Dashpot, Element, Integrator, Mass, Params, SpringError, Stiffness, VolumeForce};
use super::spectrum::largest_step;
use super::volume::{gradient, radial, reach, volume};
use super::{GRAIN, share};
use crate::deformable::reserved::{BATCH, ElementPatch, Largest, Reserved, Tets, highest};
use crate::deformable::{Approximation, BodyMut, BodyRef, Deformable, StepContext, Traits};
use crate::math::lane3::{dot, sub};
use crate::math::{Block, Blocks, Eight, Kernel, LANES, Lane, Real, Vec3, add, run, vec};
use crate::model::tet_mesh::TetMesh;

/// Number of elements of an edit that are compared with an element for its shape.
const FEW: usize = 256;

/// The six edges of a tetrahedron.
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Eight elements; an empty lane has zero stiffness and its corners at node 0.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Batch {
    node: [[u32; LANES]; 4],
    /// 1/L of each edge [1/m].
    inverse: [Eight; 6],
    /// φ E V: k L² of each edge [N·m].
    young: Eight,
    /// Measure at rest, φ k_V, and Σ |∂measure/∂x|² at rest.
    rest: Eight,
    k: Eight,
    square: Eight,
}

const EMPTY: Batch = Batch {
    node: [[0; LANES]; 4],
    inverse: [[0.0; LANES]; 6],
    young: [0.0; LANES],
    rest: [0.0; LANES],
    k: [0.0; LANES],
    square: [0.0; LANES],
};

impl Batch {
    fn corners(&self, lane: usize) -> [u32; 4] {
        [0, 1, 2, 3].map(|corner| self.node[corner][lane])
    }
}

/// A body of springs whose elements are edited in place.
#[derive(Clone, Debug)]
pub(crate) struct ReservedSprings {
    tets: Tets,
    batches: Vec<Batch>,
    law: ElementLaw,
    verlet: bool,
    /// Highest ω² of each element at rest [1/s²].
    highest: Largest,
    /// Corners of each element at rest [m].
    shapes: Vec<[Vec3; 4]>,
    /// Forces on the corners of elements. Written by `kick`. [N]
    forces: Vec<Block>,
}

/// Constants of the material.
#[derive(Clone, Copy, Debug)]
struct ElementLaw {
    /// Young's modulus [Pa].
    young: Real,
    /// c/k of all springs [s].
    time: Real,
    volume: VolumeForce,
    density: Real,
}

impl ElementLaw {
    fn of(params: &Params) -> Result<Self, SpringError> {
        let unfit = |name, reason| Err(SpringError::Unfit { name, reason });
        let Stiffness::Young(young) = params.stiffness else {
            return unfit(
                "stiffness",
                "a body with a reserve needs Young's modulus: only that has a share in an element",
            );
        };
        if params.element != Element::Voigt {
            return unfit("element", "a body with a reserve has no memory of single springs: take Voigt elements");
        }
        let time = match params.dashpot {
            Dashpot::None => 0.0,
            Dashpot::Time(time) => time,
            _ => return unfit("dashpot", "a body with a reserve takes the time constant of its dashpots, or none"),
        };
        let Mass::Density(density) = params.mass else {
            return unfit("mass", "a body with a reserve needs a density");
        };
        if params.integrator == Integrator::Implicit {
            return unfit(
                "integrator",
                "springs with a reserve are explicit: take corotational elements for implicit ones",
            );
        }
        Ok(Self { young, time, volume: params.volume, density })
    }

    fn radial(&self) -> bool {
        matches!(self.volume, VolumeForce::Radial { .. })
    }

    /// Highest ω² of a full element with these corners at rest [1/s²].
    fn highest(&self, at: [Vec3; 4], full: Real) -> Real {
        let points = at.map(|p| p.to_array());
        let (rest, g) = if self.radial() { radial::<Real>((), points) } else { gradient::<Real>((), points) };
        let (g, k) = (g.map(Vec3::from_array), self.volume.stiffness(rest));
        highest(0.25 * full * self.density, |u| {
            let rate: Real = g.iter().zip(&u).map(|(g, u)| g.dot(*u)).sum();
            let mut image = g.map(|g| g * (k * rate));
            for [i, j] in EDGES {
                let d = at[j] - at[i];
                let square = d.length_squared();
                let pull = d * (self.young * full * d.dot(u[j] - u[i]) / (square * square));
                image[i] -= pull;
                image[j] += pull;
            }
            image
        })
    }
}

impl ReservedSprings {
    /// Room for this many nodes and elements.
    pub fn new(mesh: &TetMesh, fill: &[Real], room: [usize; 2], params: &Params) -> Result<Self, SpringError> {
        params.check()?;
        mesh.check()?;
        let law = ElementLaw::of(params)?;
        let [nodes, elements] = room;
        let batches = elements.div_ceil(LANES);
        let mut body = Self {
            tets: Tets::new(nodes, elements, law.density),
            batches: Vec::with_capacity(batches),
            law,
            verlet: params.integrator == Integrator::Verlet,
            highest: Largest::with_capacity(elements),
            shapes: Vec::with_capacity(elements),
            forces: Vec::with_capacity(batches * BATCH),
        };
        let all: Vec<u32> = (0..mesh.tets.len() as u32).collect();
        let patch = ElementPatch { rest: &mesh.vertices, tets: &mesh.tets, fill, elements: &all, nodes: &[] };
        body.patch(&patch);
        Ok(body)
    }

    /// Largest ω² of an element at rest, and of the dashpots [1/s].
    fn spectrum(&self) -> [Real; 2] {
        let stiff = self.highest.get();
        [stiff, self.law.time * stiff]
    }

    /// Forces on the corners of all elements.
    fn push(&mut self, ctx: &StepContext<'_>, x: &[Block], v: &[Block]) {
        let [stiff, damp] = self.spectrum();
        let growth = ((4.0 - 2.0 * ctx.h * damp) / (ctx.h * ctx.h * stiff)).max(1.0);
        let Self { batches, law, forces, .. } = self;
        share(ctx, forces, 64 * BATCH, &|first, out| {
            let batches = &batches[first / BATCH..][..out.len() / BATCH];
            let on = On { batches, x, v, growth, time: law.time, out: Blocks::new(out) };
            match (law.time > 0.0, law.volume, law.radial()) {
                (false, VolumeForce::None, _) => run(Push::<false, 0> { on }, ctx.lanes),
                (false, _, true) => run(Push::<false, 1> { on }, ctx.lanes),
                (false, _, false) => run(Push::<false, 2> { on }, ctx.lanes),
                (true, VolumeForce::None, _) => run(Push::<true, 0> { on }, ctx.lanes),
                (true, _, true) => run(Push::<true, 1> { on }, ctx.lanes),
                (true, _, false) => run(Push::<true, 2> { on }, ctx.lanes),
            }
        });
    }

    /// v += h (f(x, v) + f_ext)/m.
    fn kick(&mut self, ctx: &StepContext<'_>, body: &mut BodyMut<'_>, h: Real) {
        self.push(ctx, body.x, body.v);
        let (tets, forces, external) = (&self.tets, &self.forces, body.force);
        share(ctx, body.v, GRAIN, &|first, v| {
            for (k, v) in v.iter_mut().enumerate() {
                let force = tets.sum(first + k, forces) + external[first + k];
                add(v, force * (v[3] * h));
            }
        });
    }

    /// Measure of the volume of an element minus that at rest, and its gradient.
    fn gradients(&self, batch: &Batch, lane: usize, x: &[Block]) -> (Real, [Vec3; 4]) {
        let at = batch.corners(lane).map(|i| vec(x[i as usize]).to_array());
        let (measure, g) = if self.law.radial() { radial::<Real>((), at) } else { gradient::<Real>((), at) };
        (measure - batch.rest[lane], g.map(Vec3::from_array))
    }

    fn lanes(&self) -> impl Iterator<Item = (&Batch, usize)> {
        (0..self.tets.corners.len()).map(|e| (&self.batches[e / LANES], e % LANES))
    }
}

impl Reserved for ReservedSprings {
    fn patch(&mut self, patch: &ElementPatch<'_>) {
        let Self { tets, batches, law, highest, shapes, forces, .. } = self;
        let count = patch.tets.len().div_ceil(LANES);
        tets.patch(patch);
        batches.resize(count, EMPTY);
        highest.resize(patch.tets.len());
        // an element that has no shape yet has that of no other
        shapes.resize(patch.tets.len(), [Vec3::NAN; 4]);
        for &element in patch.elements {
            let (e, at) = (element as usize, patch.at(element));
            if shapes[e] != at {
                // a copy of an element has its frequency: it is most of the cost of an edit
                let same = |&&o: &&u32| shapes[o as usize] == at;
                let like = patch.elements[..patch.elements.len().min(FEW)].iter().find(same);
                let value = match like {
                    Some(&other) => highest.at(other as usize),
                    None => law.highest(at, patch.volume(element)),
                };
                highest.set(e, value);
                shapes[e] = at;
            }
            write(&mut batches[e / LANES], e % LANES, law, (patch, element));
        }
        patch.empty_lanes().for_each(|e| clear(&mut batches[e / LANES], e % LANES));
        forces.resize(count * BATCH, [0.0; 4]);
    }

    fn around(&self, node: u32, found: &mut dyn FnMut(u32)) {
        self.tets.around(node, found);
    }

    fn node_masses(&self) -> &[Real] {
        &self.tets.mass
    }

    fn total_mass(&self) -> Real {
        self.tets.total_mass()
    }

    fn weighed(&self) -> &[u32] {
        self.tets.weighed()
    }
}

/// Puts an element into a lane.
fn write(batch: &mut Batch, lane: usize, law: &ElementLaw, (patch, element): (&ElementPatch<'_>, u32)) {
    let (at, fill) = (patch.at(element), patch.fill[element as usize]);
    for (corner, node) in patch.tets[element as usize].into_iter().enumerate() {
        batch.node[corner][lane] = node;
    }
    for (edge, [i, j]) in EDGES.into_iter().enumerate() {
        batch.inverse[edge][lane] = 1.0 / (at[j] - at[i]).length();
    }
    let (rest, square) = if law.radial() { reach(at) } else { volume(at) };
    batch.young[lane] = law.young * patch.volume(element) * fill;
    (batch.rest[lane], batch.square[lane]) = (rest, square);
    batch.k[lane] = law.volume.stiffness(rest) * fill;
}

fn clear(batch: &mut Batch, lane: usize) {
    batch.node.iter_mut().for_each(|nodes| nodes[lane] = 0);
    batch.inverse.iter_mut().for_each(|edge| edge[lane] = 0.0);
    (batch.young[lane], batch.rest[lane], batch.k[lane], batch.square[lane]) = (0.0, 0.0, 0.0, 0.0);
}

/// Input and output of the forces.
#[derive(Clone, Copy)]
struct On<'a> {
    batches: &'a [Batch],
    x: &'a [Block],
    v: &'a [Block],
    /// Stiffness of a volume force in units of that at rest, beyond which its force is limited.
    growth: Real,
    time: Real,
    out: Blocks<'a>,
}

/// Forces of some batches on their corners, in the order corner, lane. `VOLUME`: none, radial, gradient.
struct Push<'a, const DAMPED: bool, const VOLUME: u8> {
    on: On<'a>,
}

impl<const DAMPED: bool, const VOLUME: u8> Kernel for Push<'_, DAMPED, VOLUME> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let On { batches, x, v, growth, time, out } = self.on;
        let one = L::splat(t, 1.0);
        for (index, batch) in batches.iter().enumerate() {
            let mut at = 0;
            while at < LANES {
                let mut p = [[L::splat(t, 0.0); 3]; 4];
                let mut w = p;
                let mut f = p;
                for corner in 0..4 {
                    p[corner] = L::gather_xyz(t, x, &batch.node[corner][at..]);
                    if DAMPED {
                        w[corner] = L::gather_xyz(t, v, &batch.node[corner][at..]);
                    }
                }
                let young = L::load(t, &batch.young[at..]);
                for edge in 0..6 {
                    let [i, j] = EDGES[edge];
                    let d = sub(p[j], p[i]);
                    let square = dot(d, d) + L::splat(t, TINY);
                    let inverse = L::load(t, &batch.inverse[edge][at..]);
                    let k = young * inverse;
                    let mut scale = k * (inverse - one.div(square.sqrt()));
                    if DAMPED {
                        // c ė/l with ė = (v_b − v_a)·d/l
                        let closing = dot(d, sub(w[j], w[i]));
                        scale = scale + k * inverse * L::splat(t, time) * closing.div(square);
                    }
                    for axis in 0..3 {
                        let pull = scale * d[axis];
                        f[i][axis] = f[i][axis] + pull;
                        f[j][axis] = f[j][axis] - pull;
                    }
                }
                if VOLUME > 0 {
                    let (measure, g) = if VOLUME == 1 { radial::<L>(t, p) } else { gradient::<L>(t, p) };
                    let pull = L::load(t, &batch.k[at..]) * (L::load(t, &batch.rest[at..]) - measure);
                    // stiffness is k_V Σ |∂measure/∂x|²: the force is limited to what the step can integrate
                    let mut square = L::splat(t, Real::MIN_POSITIVE);
                    for corner in 0..4 {
                        square = square + dot(g[corner], g[corner]);
                    }
                    let most = L::load(t, &batch.square[at..]) * L::splat(t, growth);
                    let pull = pull * most.div(square).min(one);
                    for corner in 0..4 {
                        for axis in 0..3 {
                            f[corner][axis] = f[corner][axis] + g[corner][axis] * pull;
                        }
                    }
                }
                for corner in 0..4 {
                    let [x, y, z] = f[corner];
                    let own = super::kernel::own_places(4 * index + corner);
                    L::store_rows4([x, y, z, L::splat(t, 0.0)], out, &own[at..]);
                }
                at += L::COUNT;
            }
        }
    }
}

/// Largest growth of the stiffness of a volume force, lane by lane.
struct Growth<'a> {
    batches: &'a [Batch],
    radial: bool,
    x: &'a [Block],
    most: &'a mut Eight,
}

impl Kernel for Growth<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        for batch in self.batches {
            let mut at = 0;
            while at < LANES {
                let mut p = [[L::splat(t, 0.0); 3]; 4];
                for corner in 0..4 {
                    p[corner] = L::gather_xyz(t, self.x, &batch.node[corner][at..]);
                }
                let (_, g) = if self.radial { radial::<L>(t, p) } else { gradient::<L>(t, p) };
                let mut square = L::splat(t, 0.0);
                for corner in 0..4 {
                    square = square + dot(g[corner], g[corner]);
                }
                // an empty lane has no stiffness
                let rest = L::load(t, &batch.square[at..]);
                let growth = rest.select_gt(L::splat(t, 0.0), square.div(rest), L::splat(t, 0.0));
                L::load(t, &self.most[at..]).max(growth).store(&mut self.most[at..]);
                at += L::COUNT;
            }
        }
    }
}

impl Deformable for ReservedSprings {
    fn masses(&self) -> &[Real] {
        &self.tets.mass
    }

    fn traits(&self) -> Traits {
        let [stiff, damp] = self.spectrum();
        Traits {
            response: if self.verlet {
                Approximation::Lumped { stiffness: stiff, damping: 0.0, decay: 0.0 }
            } else {
                Approximation::Exact
            },
            stable_step: largest_step(stiff, damp),
            kicks_in_advance: self.verlet,
            ..Traits::default()
        }
    }

    fn stable_step_at(&mut self, body: BodyRef<'_>) -> Real {
        let [stiff, damp] = self.spectrum();
        if self.law.volume == VolumeForce::None {
            return largest_step(stiff, damp);
        }
        let mut most = [1.0; LANES];
        let radial = self.law.radial();
        run(Growth { batches: &self.batches, radial, x: body.x, most: &mut most }, true);
        largest_step(stiff * most.into_iter().fold(1.0, Real::max), damp)
    }

    fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        let h = if self.verlet { 0.5 * ctx.h } else { ctx.h };
        self.kick(ctx, &mut body, h);
    }

    fn advance(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        let (h, v): (_, &[Block]) = (ctx.h, body.v);
        share(ctx, body.x, GRAIN, &|first, x| run(super::kernel::Drift { x, v: &v[first..], h }, ctx.lanes));
        if self.verlet {
            self.kick(ctx, &mut body, 0.5 * h);
        }
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let mut sum = 0.0;
        for (batch, lane) in self.lanes() {
            let nodes = batch.corners(lane);
            for (edge, [i, j]) in EDGES.into_iter().enumerate() {
                let d = vec(body.x[nodes[j] as usize]) - vec(body.x[nodes[i] as usize]);
                // L² k (l/L − 1)²/2
                let strain = d.length() * batch.inverse[edge][lane] - 1.0;
                sum += 0.5 * batch.young[lane] * strain * strain;
            }
            let (over, _) = self.gradients(batch, lane, body.x);
            sum += 0.5 * batch.k[lane] * over * over;
        }
        sum
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        for (batch, lane) in self.lanes() {
            let nodes = batch.corners(lane);
            for (edge, [i, j]) in EDGES.into_iter().enumerate() {
                let d = vec(body.x[nodes[j] as usize]) - vec(body.x[nodes[i] as usize]);
                let (inverse, length) = (batch.inverse[edge][lane], (d.length_squared() + TINY).sqrt());
                let pull = d * (batch.young[lane] * inverse * (inverse - 1.0 / length));
                out[nodes[i] as usize] += pull;
                out[nodes[j] as usize] -= pull;
            }
            let (over, g) = self.gradients(batch, lane, body.x);
            for (node, g) in nodes.into_iter().zip(g) {
                out[node as usize] -= g * (batch.k[lane] * over);
            }
        }
        true
    }

    fn reserved(&mut self) -> Option<&mut dyn Reserved> {
        Some(self)
    }
}
