//! Contacts of the step and what their solvers need.

use super::{ClassicWork, SubstepHook};
use crate::constraint::{RowBuffer, Term};
use crate::contact::kernel::node::NodeTouches;
use crate::contact::kernel::rigid_set::ContactSet;
use crate::contact::kernel::surface::{Part, Place, TouchRows};
use crate::contact::route::Route;
use crate::friction::{AnisotropyFrame, Coefficients, Law, Memory};
use crate::math::{Real, Vec3};
use crate::solver::colour::Colouring;
use crate::solver::pool::Span;
use crate::state::{ClothContactMemory, ContactMemory};

/// Contact of a node with a collider: its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeContact {
    pub manifold: u32,
    pub place: Place,
    /// Normal and first tangent of its rows.
    pub axes: [Vec3; 2],
}

/// A contact point with a friction law other than Coulomb's: its rows (two tangents, then the normal), the memory of
/// the law at the start of the substep, and the radius of its disc in the last sweep [N·s].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LawContact {
    pub manifold: u32,
    pub point: u32,
    pub row: u32,
    pub law: Law,
    pub pair: Coefficients,
    pub memory: Memory,
    /// The axes of its rows.
    pub anisotropy: AnisotropyFrame,
    pub reach: Real,
    /// Coefficient of restitution between rigid bodies; soft surfaces have none.
    pub restitution: Real,
}

/// Sums of a point with a friction law over this step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LawSum {
    /// Normal velocity before any impulse acts [m/s]; negative: approaching.
    pub approach: Real,
    /// Largest normal impulse of a substep [N·s].
    pub peak: Real,
    /// Impulses along the normal and the axes of the friction rows [N·s].
    pub normal: Real,
    pub slide: [Real; 2],
}

impl LawSum {
    pub(crate) fn add(&mut self, normal: Real, slide: [Real; 2]) {
        self.normal += normal;
        self.slide = [self.slide[0] + slide[0], self.slide[1] + slide[1]];
    }
}

/// Points of a manifold with a friction law that resist rolling and spinning together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LawPatch {
    pub manifold: u32,
    /// First of its three rows.
    pub row: u32,
    /// Range of its points among the law contacts.
    pub points: [u32; 2],
    /// Lever arms of rolling and spinning resistance [m].
    pub levers: [Real; 2],
}

/// Contacts of the step, their routes, and the data of each route.
#[derive(Debug, Default)]
pub(crate) struct ContactWork {
    /// Contacts of this step, sorted by key. Written by `detect`, impulses by `remember`.
    pub contacts: Vec<ContactMemory>,
    /// Union of their flags: saves passes over all of them. Written by `detect`.
    pub any_flags: u32,
    /// Contacts sorted by key: scratch of `put_in_order`.
    pub order: Vec<u32>,
    /// Which kernel solves each of them. Written by `plan`. (contacts)
    pub routes: Vec<Route>,
    /// Contacts that take the route of surfaces. Written by `plan`.
    pub row_contacts: Vec<u32>,
    pub colouring: Colouring,
    /// Colour and number of points of each contact that is solved in lanes. Written by `plan`.
    pub colours: Vec<Option<(u8, u8)>>,
    /// Sum of the effective masses of a body's contacts, in units of its own mass. Written by `plan`. (slots)
    pub effective_mass_sums: Vec<Real>,
    /// Number of contact points of each body. Written by `plan`. (slots)
    pub point_counts: Vec<u32>,
    pub set: ContactSet,
    /// Rows of node contacts: last in a sweep.
    pub contact_rows: TouchRows,
    pub node_contacts: Vec<NodeContact>,
    /// Contacts of light nodes, in lanes. Written by `plan`.
    pub node_touches: NodeTouches,
    /// Contacts with a friction law other than Coulomb's, and their rows. Written by `assemble`.
    pub law_contacts: Vec<LawContact>,
    pub law_rows: RowBuffer,
    /// Four for each manifold.
    pub law_sums: Vec<LawSum>,
    pub law_patches: Vec<LawPatch>,
    /// Whether any contact may have such a law: by its bodies, or in the table of pairs. Written by `plan`.
    pub any_laws: bool,
    /// Terms of the row that is being assembled.
    pub terms: Vec<Term>,
    /// Nodes of the contact whose rows are being written.
    pub parts: Vec<Part>,
    /// Contact memory of nodes of cloths in SoA at the end of the step, sorted. Written by `remember`.
    pub cloth_contacts: Vec<ClothContactMemory>,
    /// Body, cloth, collider and contact index of each collider of a cloth in SoA. Written by `remember`.
    pub cloth_pairs: Vec<(u32, u32, u32, u32)>,
    /// Their range for each of `cloth_pairs`. Written by `remember`.
    pub cloth_pair_spans: Vec<Span>,
    /// Contact method that acts beside the rows in every substep; none when all contacts are rows. Written by `plan`.
    pub substep_hook: Option<SubstepHook>,
    /// Contacts that a classic method solves.
    pub classic: ClassicWork,
}
