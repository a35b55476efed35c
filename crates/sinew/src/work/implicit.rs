//! Memory of implicit islands: their members, and the arrays of the one that is being solved.

use crate::constraint::RowBuffer;
use crate::contact::kernel::cloth::{ClothContacts, CoupledBody};
use crate::contact::route::Residence;
use crate::deformable::Deformable;
use crate::deformable::cloth::SelfContact;
use crate::friction::{AnisotropyFrame, Coefficients, Law};
use crate::math::{Block, Real, Vec3};
use crate::model::Stamp;
use crate::solver::implicit::{Outcome, Placed, RigidUnknown, Scratch};

/// A soft body's model while the world runs.
#[derive(Debug)]
pub(crate) struct SoftBodyWork {
    /// The body and the topology that it was built for.
    pub stamp: Stamp,
    pub model: Box<dyn Deformable>,
    /// Largest stable step of the integrator that the model was made with. Written by `plan` [s].
    pub stable_step: Real,
    /// It has goal positions, and its nodes would move apart too fast in this step. Written by `plan`.
    pub diverges: bool,
    /// Energy budget of an explicit body in this step (`guard/energy_limiter.rs`). Written by `predict`.
    pub energy_budget: EnergyBudget,
    pub cloth: ClothWork,
}

/// Energy that a body may have [J].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EnergyBudget {
    /// Kinetic energy relative to its centre of mass, plus the work done on it.
    pub motion: Real,
    /// Strain energy, once it was evaluated.
    pub strain: Option<Real>,
    /// Velocity of its centre of mass after its own forces acted last [m/s].
    pub centre: Vec3,
}

/// A bare cloth while a step has it in SoA (`contact/cloth/mod.rs`).
#[derive(Debug, Default)]
pub(crate) struct ClothWork {
    /// Nothing found so far keeps it out of SoA; its contacts with balls and planes were not searched for one by one.
    /// Written by `detect`.
    pub eligible: bool,
    /// Written by `plan`.
    pub residence: Residence,
    /// Inverse mass of the heaviest node that moves [1/kg].
    pub heaviest: Real,
    /// Colliders within the search distance of this step. Written by `detect`.
    pub colliders: Vec<u32>,
    /// A node that was near each collider, where the search begins. Written by `detect`.
    pub nearest: Vec<usize>,
    /// One for each collider, the first `count`.
    pub touches: Vec<ClothContacts>,
    pub count: usize,
    /// The bodies of the colliders.
    pub coupled: Vec<CoupledBody>,
    /// The contacts of this substep are solved.
    pub contacts_done: bool,
    /// Lane slot of each node. Empty until the first use.
    pub slots: Vec<u32>,
    /// Whether self-contact is solved in SoA.
    pub has_self_contact: bool,
    /// None until the first use.
    pub self_contact: Option<Box<SelfContact>>,
}

/// Members of an implicit island. All lists ascend.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImplicitIsland {
    pub rigid: Vec<u32>,
    pub nodes: Vec<u32>,
    pub constraints: Vec<u32>,
    /// Indices of contacts.
    pub contacts: Vec<u32>,
}

impl ImplicitIsland {
    pub fn clear(&mut self) {
        self.rigid.clear();
        self.nodes.clear();
        self.constraints.clear();
        self.contacts.clear();
    }
}

/// A contact point in an implicit island: its rows in this substep and its geometry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touch {
    pub manifold: u32,
    pub point: u32,
    /// First of its three rows: normal, then two of friction.
    pub row: u32,
    pub friction: Real,
    pub law: Law,
    pub pair: Coefficients,
    /// Fraction of the slip that its bristle takes: below 1 when its row had to be softer than the bristle.
    pub seen: Real,
    /// From the tangents of the contact to the axes of the rows.
    pub anisotropy: AnisotropyFrame,
    pub normal: Vec3,
    /// Axes of the rows of friction.
    pub tangents: [Vec3; 2],
    /// Common point of both bodies [m].
    pub at: Vec3,
    pub gap: Real,
    /// Impulse that the normal row started from [N·s].
    pub start: Real,
}

/// Rows of a constraint in an implicit island, and their range in State.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImplicitSpan {
    pub constraint: u32,
    pub start: u32,
    pub end: u32,
    /// Index of its first row impulse in State.
    pub first: u32,
    pub count: u32,
}

/// Implicit islands of a step and the arrays of the one that is being solved. Block numbers in these arrays are local.
#[derive(Debug, Default)]
pub(crate) struct ImplicitWork {
    /// Manifolds that resist rolling and spinning, and the first of their three rows.
    pub patches: Vec<(u32, u32)>,
    /// The first `count` are in use.
    pub islands: Vec<ImplicitIsland>,
    pub count: usize,
    /// Number of the island with this root, or MAX. (slots) Scratch of `plan`.
    pub of_root: Vec<u32>,
    /// Local number of each global block, or MAX. (blocks)
    pub local: Vec<u32>,
    /// Global number of each local block.
    pub global: Vec<u32>,
    /// First local block of each body of nodes in the island that is being solved. (slots)
    pub first_of: Vec<u32>,
    pub v: Vec<Block>,
    pub rows: RowBuffer,
    /// Constraints of all islands in this step.
    pub spans: Vec<ImplicitSpan>,
    /// Contact points of all islands in this step.
    pub touches: Vec<Touch>,
    pub rigid_unknowns: Vec<RigidUnknown>,
    pub scratch: Scratch,
    /// Kept for its allocation only: always empty between solves.
    pub placed: Vec<Placed<'static>>,
    pub outcome: Outcome,
}

impl ImplicitWork {
    /// The local number of a global block; a block of no body of the island gets its velocity and keeps it.
    pub fn local_index(&mut self, block: u32, velocity: &[Block]) -> u32 {
        let at = &mut self.local[block as usize];
        if *at == u32::MAX {
            *at = self.global.len() as u32;
            self.global.push(block);
            self.v.push(velocity[block as usize]);
        }
        *at
    }
}
