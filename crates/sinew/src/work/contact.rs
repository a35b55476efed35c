//! Contacts of the step and what their solvers need.

use super::{ClassicWork, SubstepHook};
use crate::constraint::Term;
use crate::contact::kernel::node::NodeTouches;
use crate::contact::kernel::rigid_set::ContactSet;
use crate::contact::kernel::surface::{Part, Place, TouchRows};
use crate::contact::route::Route;
use crate::friction::AnisotropyFrame;
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
    /// From the tangents of the contact to the axes of its rows.
    pub frame: AnisotropyFrame,
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
    /// Number of contacts of each node (`contact/route.rs`). Written by `plan`. (nodes)
    pub shared_nodes: Vec<u8>,
    /// Contacts that take the route of surfaces, each with the one before it when they pinch a feature. Written by `plan`.
    pub row_contacts: Vec<(u32, Option<u32>)>,
    /// Contacts of features with rigid bodies by feature: scratch of `plan`.
    pub by_feature: Vec<([u32; 3], u32)>,
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
