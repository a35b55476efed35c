//! Corotational elements that are edited in place: the physics of `corotational.rs` without its matrix.
//!
//! A v is summed over the elements when it is needed. With the rotated gradients g_i = √V R G_i of an element and
//! D = Σ v_j g_jᵀ the forces on its corners are
//!
//! ```text
//!   Σ_j K_ij v_j = (λ tr D I + μ (D + Dᵀ)) g_i
//! ```
//!
//! so that no pattern of a matrix depends on which nodes are neighbours. There are no coarse spaces: the CG is
//! preconditioned by the 3x3 blocks of the nodes alone. Fill fractions multiply V, in mass and stiffness.

use super::corotational::{Params, ParamsError};
use super::law::symmetric;
use super::tet_kernel::{RestTet, TetBatch, corner_forces, element, energy, spread, strained};
use crate::deformable::limit::{is_held, shear_share, soften};
use crate::deformable::reserved::{BATCH, ElementPatch, Largest, Reserved, Tets};
use crate::deformable::{
    Approximation, BodyMut, BodyRef, Conditioning, Deformable, ElementStress, Modes, Operator, RigidSums, StepContext,
    Traits,
};
use crate::math::lane3::dot;
use crate::math::{Block, Blocks, Kernel, LANES, Lane, Mat3, Real, Sym3, Vec3, outer, run, vec};
use crate::model::tet_mesh::TetMesh;
use std::sync::Mutex;

const EMPTY: TetBatch = TetBatch {
    node: [[0; LANES]; 4],
    gradient: [[[0.0; LANES]; 3]; 3],
    volume: [0.0; LANES],
    tet: [0; LANES],
    used: LANES,
};

/// A body of corotational elements that are edited in place.
#[derive(Debug)]
pub(crate) struct ReservedCorotational {
    tets: Tets,
    batches: Vec<TetBatch>,
    /// First and second Lamé parameter of the step, possibly softened [Pa]. Written by `predict`.
    lame: [Real; 2],
    /// The same from the parameters [Pa].
    given: [Real; 2],
    damping: Real,
    /// Bound of ω² of each element at rest [1/s²].
    highest: Largest,
    density: Real,
    /// √V R G_i of all corners. Written by `predict` in the first substep. [m^½]
    turned: Vec<Block>,
    /// λ and μ times h (h + β). Written by `predict` in the first substep. [kg/m]
    scaled: [Real; 2],
    /// Forces on the corners of elements. Scratch of `predict` and `apply`; the solver shares the operator.
    forces: Mutex<Vec<Block>>,
    /// b. Written by `predict`. [N·s]
    load: Vec<Block>,
    /// Masses, infinite where pinned. Written by `predict`. [kg]
    mass: Vec<Real>,
    /// Sums over the body. Written by `predict`.
    sums: RigidSums,
    lanes: bool,
    /// True when pinned nodes suppress its rigid motions. Written by `refresh`.
    held: bool,
}

impl ReservedCorotational {
    /// Room for this many nodes and elements.
    pub fn new(mesh: &TetMesh, fill: &[Real], room: [usize; 2], params: Params) -> Result<Self, ParamsError> {
        params.check()?;
        mesh.check()?;
        let [nodes, elements] = room;
        let batches = elements.div_ceil(LANES);
        let mut body = Self {
            tets: Tets::new(nodes, elements, params.density),
            batches: Vec::with_capacity(batches),
            lame: params.lame(),
            given: params.lame(),
            damping: params.damping,
            highest: Largest::with_capacity(elements),
            density: params.density,
            turned: Vec::with_capacity(batches * BATCH),
            scaled: [0.0; 2],
            forces: Mutex::new(Vec::with_capacity(batches * BATCH)),
            load: Vec::with_capacity(nodes),
            mass: Vec::with_capacity(nodes),
            sums: RigidSums::with_capacity(nodes),
            lanes: true,
            held: false,
        };
        let all: Vec<u32> = (0..mesh.tets.len() as u32).collect();
        body.patch(&ElementPatch { rest: &mesh.vertices, tets: &mesh.tets, fill, elements: &all, nodes: &[] });
        Ok(body)
    }

    /// 2μ and λ of the parameters.
    fn stiffnesses(&self) -> [Real; 2] {
        let [lambda, mu] = self.given;
        [2.0 * mu, lambda]
    }

    fn lane(&self, element: usize) -> (&TetBatch, usize) {
        (&self.batches[element / LANES], element % LANES)
    }

    /// Impulses h f of the elements on their corners, and their rotated gradients in the first substep.
    fn push(&mut self, ctx: &StepContext<'_>, x: &[Block]) {
        let Self { batches, turned, forces, lame, lanes, .. } = self;
        let lame = lame.map(|modulus| modulus * ctx.h);
        let forces = forces.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let turned = if ctx.substep == 0 { &mut turned[..] } else { &mut [] };
        run(Forces { batches, x, lame, turned, out: Blocks::new(forces) }, *lanes);
    }
}

impl Reserved for ReservedCorotational {
    fn patch(&mut self, patch: &ElementPatch<'_>) {
        self.tets.patch(patch);
        let (count, nodes) = (patch.tets.len().div_ceil(LANES), patch.rest.len());
        let [lambda, mu] = self.given;
        self.batches.resize(count, EMPTY);
        self.highest.resize(patch.tets.len());
        for &e in patch.elements {
            let (tet, lane) = (RestTet::new(patch.rest, patch.tets[e as usize]), e as usize % LANES);
            self.highest.set(e as usize, 4.0 * tet.squares() * (lambda + 2.0 * mu) / self.density);
            let batch = &mut self.batches[e as usize / LANES];
            for (corner, node) in tet.corners.into_iter().enumerate() {
                batch.node[corner][lane] = node;
            }
            for (corner, gradient) in tet.gradient.into_iter().enumerate() {
                (0..3).for_each(|axis| batch.gradient[corner][axis][lane] = gradient[axis]);
            }
            batch.volume[lane] = self.tets.volume[e as usize];
            batch.tet[lane] = e;
        }
        // empty lanes repeat the first element without volume: their rotation exists
        for e in patch.empty_lanes() {
            let (first, lane) = (self.batches[0].clone(), e % LANES);
            let batch = &mut self.batches[e / LANES];
            for corner in 0..4 {
                batch.node[corner][lane] = first.node[corner][0];
            }
            for corner in 0..3 {
                (0..3).for_each(|axis| batch.gradient[corner][axis][lane] = first.gradient[corner][axis][0]);
            }
            batch.volume[lane] = 0.0;
        }
        self.turned.resize(count * BATCH, [0.0; 4]);
        self.forces.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner).resize(count * BATCH, [0.0; 4]);
        self.load.resize(nodes, [0.0; 4]);
        self.mass.resize(nodes, 0.0);
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

impl Deformable for ReservedCorotational {
    fn masses(&self) -> &[Real] {
        &self.tets.mass
    }

    fn traits(&self) -> Traits {
        let (stiffness, damping) = (self.highest.get(), self.damping);
        let shear = || shear_share(self.stiffnesses());
        Traits {
            response: Approximation::Lumped { stiffness, damping, decay: 0.0 },
            implicit_form: true,
            conditioning: (!self.held).then(|| Conditioning { stiffness, damping, shear: shear() }),
            ..Traits::default()
        }
    }

    fn predict(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        self.lanes = ctx.lanes;
        let share = if ctx.resolve { self.traits().softening(ctx.h) } else { 1.0 };
        self.lame = self.given;
        if share < 1.0 {
            let [twice, lambda] = soften(self.stiffnesses(), share);
            self.lame = [lambda, 0.5 * twice];
        }
        if ctx.substep == 0 {
            let factor = ctx.h * (ctx.h + self.damping);
            self.scaled = self.lame.map(|modulus| modulus * factor);
        }
        self.push(ctx, body.x);
        let forces = self.forces.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (node, load) in self.load.iter_mut().enumerate() {
            let mass = self.tets.mass[node];
            let push = vec(body.v[node]) * mass + body.force[node] * ctx.h + self.tets.sum(node, forces);
            *load = [push.x, push.y, push.z, 0.0];
            self.mass[node] = if body.v[node][3] == 0.0 { Real::INFINITY } else { mass };
        }
        self.sums.sum_up(&self.tets.mass, ctx.h, &body);
    }

    fn operator(&self) -> Option<&dyn Operator> {
        Some(self)
    }

    fn refresh(&mut self, body: BodyRef<'_>) {
        self.held = is_held(body);
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let of = |e| {
            let (batch, lane) = self.lane(e);
            energy(batch, lane, body.x, self.lame)
        };
        (0..self.tets.corners.len()).map(of).sum()
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        let mut forces = vec![[0.0; 4]; self.batches.len() * BATCH];
        let pass = Forces {
            batches: &self.batches,
            x: body.x,
            lame: self.lame,
            turned: &mut [],
            out: Blocks::new(&mut forces),
        };
        run(pass, self.lanes);
        out.iter_mut().enumerate().for_each(|(node, out)| *out += self.tets.sum(node, &forces));
        true
    }

    fn element_stress(&self, body: BodyRef<'_>, out: &mut Vec<ElementStress>) {
        let [lambda, mu] = self.lame;
        for e in 0..self.tets.corners.len() {
            let (batch, lane) = self.lane(e);
            let (f, r) = strained(batch, lane, body.x);
            let strain = symmetric(&(r.transpose() * f)) - Mat3::IDENTITY;
            let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
            let inner = strain * (2.0 * mu) + Mat3::from_diagonal(Vec3::splat(lambda * trace));
            let stress = r * inner * r.transpose();
            let at = batch.corners(lane).iter().fold(Vec3::ZERO, |sum, &n| sum + vec(body.x[n as usize])) * 0.25;
            out.push(ElementStress { at, strain: Sym3::from_mat(&strain), stress: Sym3::from_mat(&stress) });
        }
    }

    fn reserved(&mut self) -> Option<&mut dyn Reserved> {
        Some(self)
    }
}

impl Operator for ReservedCorotational {
    fn block_count(&self) -> usize {
        self.tets.mass.len()
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        let mut forces = self.forces.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Self { batches, turned, scaled, .. } = self;
        run(Product { batches, turned, v, lame: *scaled, out: Blocks::new(&mut forces) }, self.lanes);
        for (node, out) in out.iter_mut().enumerate() {
            let push = vec(v[node]) * self.tets.mass[node] + self.tets.sum(node, &forces);
            *out = [push.x, push.y, push.z, 0.0];
        }
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        let [lambda, mu] = self.scaled;
        for (node, out) in out.iter_mut().enumerate() {
            *out = Mat3::from_diagonal(Vec3::splat(self.tets.mass[node]));
            for &at in self.tets.entries_at(node) {
                let g = vec(self.turned[at as usize]);
                *out += outer(g, g) * (lambda + mu) + Mat3::from_diagonal(Vec3::splat(mu * g.length_squared()));
            }
        }
    }

    fn load(&self) -> &[Block] {
        &self.load
    }

    fn mass(&self) -> &[Real] {
        &self.mass
    }

    fn modes(&self) -> Option<Modes<'_>> {
        self.sums.modes()
    }
}

/// Blocks of the corner forces of one corner of a batch.
#[inline(always)]
fn own(batch: usize, corner: usize) -> [u32; LANES] {
    std::array::from_fn(|lane| (batch * BATCH + corner * LANES + lane) as u32)
}

/// h f on the corners, and √V R G_i unless `turned` is empty.
struct Forces<'a> {
    batches: &'a [TetBatch],
    x: &'a [Block],
    lame: [Real; 2],
    turned: &'a mut [Block],
    out: Blocks<'a>,
}

impl Kernel for Forces<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let zero = L::splat(t, 0.0);
        for (k, batch) in self.batches.iter().enumerate() {
            let mut at = 0;
            while at < LANES {
                let e = element::<L>(t, batch, at, self.x);
                let forces = corner_forces(t, batch, at, &e, self.lame);
                for corner in 0..4 {
                    let [x, y, z] = forces[corner];
                    L::store_rows4([x, y, z, zero], self.out, &own(k, corner)[at..]);
                }
                if !self.turned.is_empty() {
                    let corners = spread(t, &e.r, &e.gradient, L::load(t, &batch.volume[at..]).sqrt());
                    for corner in 0..4 {
                        let [x, y, z] = corners[corner];
                        L::store_blocks([x, y, z, zero], &mut self.turned[(k * 4 + corner) * LANES + at..]);
                    }
                }
                at += L::COUNT;
            }
        }
    }
}

/// K v on the corners, without the mass.
struct Product<'a> {
    batches: &'a [TetBatch],
    turned: &'a [Block],
    v: &'a [Block],
    /// λ and μ times h (h + β).
    lame: [Real; 2],
    out: Blocks<'a>,
}

impl Kernel for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let zero = L::splat(t, 0.0);
        let (lambda, mu) = (L::splat(t, self.lame[0]), L::splat(t, self.lame[1]));
        for (k, batch) in self.batches.iter().enumerate() {
            let mut at = 0;
            while at < LANES {
                let mut g = [[zero; 3]; 4];
                let mut d = [[zero; 3]; 3];
                for corner in 0..4 {
                    let [x, y, z, _] = L::load_blocks(t, &self.turned[(k * 4 + corner) * LANES + at..]);
                    g[corner] = [x, y, z];
                    let v = L::gather_xyz(t, self.v, &batch.node[corner][at..]);
                    for row in 0..3 {
                        for column in 0..3 {
                            d[row][column] = d[row][column] + v[row] * g[corner][column];
                        }
                    }
                }
                let bulk = (d[0][0] + d[1][1] + d[2][2]) * lambda;
                let mut s = d;
                for row in 0..3 {
                    for column in 0..3 {
                        s[row][column] = (d[row][column] + d[column][row]) * mu;
                    }
                    s[row][row] = s[row][row] + bulk;
                }
                for corner in 0..4 {
                    let f = [dot(s[0], g[corner]), dot(s[1], g[corner]), dot(s[2], g[corner])];
                    L::store_rows4([f[0], f[1], f[2], zero], self.out, &own(k, corner)[at..]);
                }
                at += L::COUNT;
            }
        }
    }
}
