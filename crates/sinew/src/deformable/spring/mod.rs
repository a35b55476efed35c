//! Mass-spring bodies: tetrahedral, sheets, ropes, and explicit lists of springs (FC 2.2, 7.2).
//!
//! ```text
//!   m ẍ = f_ext + Σ T û + volume forces,   û from the node to the other end of each spring
//! ```
//!
//! `element` has the tension T, `volume` the volume forces, `network` builds springs from meshes, `kernel` is the fast
//! explicit path, `implicit` the slower unconditionally stable one, `spectrum` the largest explicit step. Mass is
//! lumped.
//!
//! A spring network is not a continuum: stiffness from Young's modulus is exact for springs in all directions, and then
//! with ν = 1/4; a regular mesh has an error of some per cent along its axes, and refinement does not reduce it.
//!
//! In Gauss-Seidel sweeps the response of a node is its inverse mass: exact for the explicit integrators.

mod element;
mod implicit;
mod kernel;
mod network;
mod params;
mod reserved;
mod spectrum;
#[cfg(test)]
mod tests;
mod volume;

pub use network::Spring;
pub use params::{Dashpot, Element, Integrator, Mass, Params, SpringError, Stiffness, VolumeForce};
pub(crate) use reserved::ReservedSprings;

use super::limit::{is_held, shear_share, soften};
use super::system::EulerSystem;
use super::{Approximation, BodyMut, BodyRef, Conditioning, Deformable, Operator, StepContext, Traits};
use crate::math::{Block, Real, Vec3, run};
use crate::model::tet_mesh::TetMesh;
use crate::model::tri_mesh::TriMesh;
use element::Link;
use implicit::Pulls;
use kernel::{Drift, Flow, Kick, Layout, Motion, gather};
use network::Network;
use volume::Volume;

/// Nodes per task of a thread: a multiple of eight.
const GRAIN: usize = 1024;

/// A body of masses and springs.
#[derive(Clone, Debug)]
pub struct MassSpring {
    masses: Vec<Real>,
    springs: Vec<Spring>,
    links: Vec<Link>,
    layout: Layout,
    volume: Option<Volume>,
    integrator: Integrator,
    /// Size of `internal_state`: one number per spring when there are arms.
    dashpots: usize,
    steps: Steps,
    /// Positions and velocities in the internal order. Written by `kick`. (padded)
    x: Vec<Block>,
    v: Vec<Block>,
    /// Forces in the internal order. Written by `kick`. (padded) [N]
    forces: Vec<Block>,
    /// Forces on the corners of tetrahedra. Written by `kick`. (4 · tet_count) [N]
    corner_forces: Vec<Block>,
    /// The matrix, when the body is implicit or has been before.
    implicit: Option<EulerSystem>,
    /// Rest positions and tetrahedra, for its coarse spaces. (node_count) [m]
    rest: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
    /// Integrator of the parameters; `integrator` differs from it after `set_implicit`.
    chosen: Integrator,
    /// Fractions of the stiffness that springs and volume forces keep. Written by `predict`.
    kept: [Real; 2],
    /// True when pinned nodes suppress its rigid motions. Written by `refresh`.
    held: bool,
}

/// Largest steps [s].
#[derive(Clone, Copy, Debug)]
struct Steps {
    rest: Real,
    /// Largest eigenvalues at rest, of stiffness [1/s²] and of dashpots [1/s].
    spectrum: [Real; 2],
    /// Row sums of springs with their arms, and of volume forces [1/s²].
    parts: [Real; 2],
    any_shape: Real,
    sound: Real,
}

impl MassSpring {
    /// Springs along all edges of tetrahedra, at rest in the mesh's shape.
    pub fn from_tets(mesh: &TetMesh, params: &Params) -> Result<Self, SpringError> {
        Self::from_filled_tets(mesh, &[], params)
    }

    /// The same of tetrahedra that fill a fraction of their volume each; none: all are full.
    pub(crate) fn from_filled_tets(mesh: &TetMesh, fill: &[Real], params: &Params) -> Result<Self, SpringError> {
        params.check()?;
        Ok(Self::new(Network::from_tets(mesh, fill, params)?, params))
    }

    /// A sheet: springs along all edges and, against bending, across the interior ones.
    pub fn from_triangles(mesh: &TriMesh, params: &Params) -> Result<Self, SpringError> {
        params.check()?;
        Self::without_volume(params)?;
        Ok(Self::new(Network::from_triangles(mesh, params)?, params))
    }

    /// A rope along these points [m]: springs between neighbours and, against bending, between second neighbours.
    pub fn from_rope(points: &[Vec3], params: &Params) -> Result<Self, SpringError> {
        params.check()?;
        Self::without_volume(params)?;
        Ok(Self::new(Network::from_rope(points, params)?, params))
    }

    /// Springs of an explicit list between these points [m]. Stiffness and dashpots are those of the list; `params`
    /// gives element, mass and integrator.
    pub fn from_springs(points: &[Vec3], springs: &[Spring], params: &Params) -> Result<Self, SpringError> {
        params.check()?;
        Self::without_volume(params)?;
        Ok(Self::new(Network::from_springs(points, springs, params)?, params))
    }

    fn without_volume(params: &Params) -> Result<(), SpringError> {
        if params.volume == VolumeForce::None {
            return Ok(());
        }
        Err(SpringError::Unfit { name: "volume", reason: "only bodies of tetrahedra have a volume to keep" })
    }

    fn new(network: Network, params: &Params) -> Self {
        let Network { positions, masses, springs, tets, fill } = network;
        let links: Vec<Link> = springs.iter().map(|s| Link::new(s, params.element)).collect();
        let layout = Layout::new(&positions, &links);
        let volume = Volume::new((&tets, &fill), &positions, params.volume, &layout.place);
        let x: Vec<Block> = positions.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect();
        let rest = spectrum::Rest { links: &links, volume: volume.as_ref(), masses: &masses, x: &x };
        let [[stiff, damp], [stiff_bound, damp_bound]] = [rest.spectrum(), rest.row_sums()];
        let [along, _] = spectrum::Rest { volume: None, ..rest }.row_sums();
        let steps = Steps {
            rest: spectrum::largest_step(stiff, damp),
            spectrum: [stiff, damp],
            parts: [along, stiff_bound - along],
            any_shape: spectrum::largest_step(stiff_bound, damp_bound),
            sound: spectrum::sound_step(&links, &masses),
        };
        let mut model = Self {
            implicit: None,
            rest: positions,
            tets,
            corner_forces: vec![[0.0; 4]; volume.as_ref().map_or(0, Volume::entry_count)],
            forces: vec![[0.0; 4]; layout.padded()],
            x: vec![[0.0; 4]; layout.padded()],
            v: vec![[0.0; 4]; layout.padded()],
            dashpots: if params.element == Element::Voigt { 0 } else { links.len() },
            integrator: params.integrator,
            chosen: params.integrator,
            kept: [1.0; 2],
            held: false,
            masses,
            springs,
            links,
            layout,
            volume,
            steps,
        };
        if params.integrator == Integrator::Implicit {
            model.set_implicit(true);
        }
        model
    }

    /// The force elements, for the implicit system.
    fn pulls(&self) -> Pulls<'_> {
        Pulls { masses: &self.masses, links: &self.links, volume: self.volume.as_ref(), parts: self.kept }
    }

    /// The springs, in the order of their indices: edges sorted by their nodes, then bending springs.
    pub fn springs(&self) -> &[Spring] {
        &self.springs
    }

    /// The largest step of the explicit integrators near the rest shape: 2/ω_max, less with dashpots [s].
    pub fn explicit_step(&self) -> Real {
        self.steps.rest
    }

    /// As `explicit_step`, for any shape, even one with all springs of a node collinear [s].
    pub fn any_shape_step(&self) -> Real {
        self.steps.any_shape
    }

    /// Travel time of sound along the shortest spring (FC 2.3) [s].
    pub fn sound_step(&self) -> Real {
        self.steps.sound
    }

    /// v += h (f(x, v) + f_ext)/m by all forces of the body.
    fn kick(&mut self, ctx: &StepContext<'_>, body: &mut BodyMut<'_>, h: Real) {
        let Self { layout, volume, x, v, forces, corner_forces, steps, .. } = self;
        let BodyMut { x: from, v: velocity, force: external, internal_state } = body;
        let count = from.len();

        // positions, and velocities if there are dashpots, into the internal order
        let node = &layout.node;
        share(ctx, &mut x[..count], GRAIN, &|first, to| gather(&node[first..], from, to));
        if layout.is_damped() {
            share(ctx, &mut v[..count], GRAIN, &|first, to| gather(&node[first..], velocity, to));
        }
        // springs
        let on = Motion { x, v, dashpots: internal_state };
        share(ctx, forces, GRAIN, &|first, out| layout.sum(first, out, &on, ctx.lanes));
        // volumes: forces on corners, then their sums
        if let Some(volume) = volume {
            // h² λ_K + 2 h λ_C ≤ 4
            let [stiff, damp] = steps.spectrum;
            let growth = ((4.0 - 2.0 * ctx.h * damp) / (ctx.h * ctx.h * stiff)).max(1.0);
            volume.push(ctx, on.x, growth, corner_forces);
            share(ctx, forces, GRAIN, &|first, out| volume.add(first, corner_forces, out));
        }
        // back to the node order of the body
        share(ctx, velocity, GRAIN, &|first, v| {
            run(Kick { place: &layout.place[first..], forces, external: &external[first..], v, h }, ctx.lanes);
        });
    }
}

/// Fractions of their row sums that springs and volume forces keep.
fn soften_parts(parts: [Real; 2], share: Real) -> [Real; 2] {
    if share >= 1.0 {
        return [1.0; 2];
    }
    let kept = soften(parts, share);
    [0, 1].map(|k| if parts[k] > 0.0 { kept[k] / parts[k] } else { 1.0 })
}

/// Calls `task` with the first index and the items of pieces that cover all items, on the available threads.
fn share<T: Send>(ctx: &StepContext<'_>, items: &mut [T], grain: usize, task: &(dyn Fn(usize, &mut [T]) + Sync)) {
    match ctx.pool {
        Some(pool) => pool.chunks(items, grain, task),
        None => task(0, items),
    }
}

impl Deformable for MassSpring {
    fn masses(&self) -> &[Real] {
        &self.masses
    }

    fn traits(&self) -> Traits {
        let implicit = self.integrator == Integrator::Implicit;
        let parts = self.steps.parts;
        let stiffness = parts.iter().sum();
        Traits {
            internal_state_count: self.dashpots,
            response: match self.integrator {
                Integrator::SymplecticEuler => Approximation::Exact,
                Integrator::Verlet | Integrator::Implicit => {
                    Approximation::Lumped { stiffness, damping: 0.0, decay: 0.0 }
                }
            },
            stable_step: if implicit { Real::INFINITY } else { self.steps.rest },
            kicks_in_advance: self.integrator == Integrator::Verlet,
            implicit_form: true,
            conditioning: (implicit && !self.held).then(|| Conditioning {
                stiffness,
                damping: 0.0,
                shear: if parts[0] > 0.0 { shear_share(parts) } else { 0.0 },
            }),
            ..Traits::default()
        }
    }

    fn stable_step_at(&mut self, body: BodyRef<'_>) -> Real {
        // springs alone are never stiffer than along their axis
        let (Some(volume), true) = (&self.volume, self.integrator != Integrator::Implicit) else {
            return self.traits().stable_step;
        };
        let [stiff, damp] = self.steps.spectrum;
        spectrum::largest_step(stiff * volume.growth(body.x), damp)
    }

    fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        match self.integrator {
            Integrator::SymplecticEuler => self.kick(ctx, &mut body, ctx.h),
            Integrator::Verlet => self.kick(ctx, &mut body, 0.5 * ctx.h),
            Integrator::Implicit => {
                let share = if ctx.resolve { self.traits().softening(ctx.h) } else { 1.0 };
                self.kept = soften_parts(self.steps.parts, share);
                if let Some(mut system) = self.implicit.take() {
                    self.pulls().assemble(ctx, &body, &mut system);
                    self.implicit = Some(system);
                }
            }
        }
    }

    fn operator(&self) -> Option<&dyn Operator> {
        let implicit = self.implicit.as_ref().filter(|_| self.integrator == Integrator::Implicit);
        implicit.map(|i| i as &dyn Operator)
    }

    fn set_implicit(&mut self, on: bool) -> bool {
        self.integrator = if on { Integrator::Implicit } else { self.chosen };
        self.kept = [1.0; 2];
        if on && self.implicit.is_none() {
            self.implicit = Some(self.pulls().system(&self.rest, &self.tets));
        }
        self.integrator == Integrator::Implicit
    }

    fn advance(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
        let (h, links) = (ctx.h, &self.links);
        let v: &[Block] = body.v;
        share(ctx, body.x, GRAIN, &|first, x| run(Drift { x, v: &v[first..], h }, ctx.lanes));
        // dashpots in series with arms
        let x: &[Block] = body.x;
        share(ctx, &mut body.internal_state[..self.dashpots], GRAIN, &|first, dashpots| {
            Flow { links: &links[first..], dashpots, x, h }.run();
        });
        if self.integrator == Integrator::Verlet {
            self.kick(ctx, &mut body, 0.5 * h);
        }
    }

    fn refresh(&mut self, body: BodyRef<'_>) {
        self.held = is_held(body);
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        let of = |(index, link): (usize, &Link)| {
            let (_, length) = link.span(body.x);
            link.energy(length, body.internal_state.get(index).copied().unwrap_or(0.0))
        };
        let springs: Real = self.links.iter().enumerate().map(of).sum();
        let [kept, volume] = self.kept;
        springs * kept + self.volume.as_ref().map_or(0.0, |v| v.energy(body.x) * volume)
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        for (index, link) in self.links.iter().enumerate() {
            let (d, length) = link.span(body.x);
            let tension = link.tension(length, body.internal_state.get(index).copied().unwrap_or(0.0), 1.0);
            let pull = d * (tension * self.kept[0] / length);
            out[link.nodes[0] as usize] += pull;
            out[link.nodes[1] as usize] -= pull;
        }
        if let Some(volume) = &self.volume {
            volume.forces(body.x, self.kept[1], out);
        }
        true
    }
}
