//! Work: everything that can be rebuilt from Model and State. Never saved; its memory is reused from step to step.

mod classic;
mod guard;
mod implicit;
mod skin;

pub(crate) use crate::island::Islands;
pub(crate) use classic::{ClassicWork, Encounter, Mover};
pub(crate) use guard::{GuardBody, GuardHit, GuardWork, Meeting, Near};
pub(crate) use implicit::{ClothWork, EnergyBudget, ImplicitIsland, ImplicitSpan, ImplicitWork, SoftWork, Touch};
pub(crate) use skin::{EdgeGroup, SkinWork, Window};

use crate::collision::surface::{Held, NearPairs, Touching};
use crate::collision::{Bounds3, BroadPhase, Candidate, NarrowScratch};

use crate::constraint::{RowBuffer, Term};
use crate::contact::find::ellipsoid::Around;
use crate::contact::kernel::node::NodeTouches;
use crate::contact::kernel::rigid_set::ContactSet;
use crate::contact::kernel::surface::{Part, Place, TouchRows};
use crate::contact::readout::Readout;
use crate::contact::route::{BodyRoute, Route};
use crate::friction::AnisotropyFrame;
use crate::island::momentum::Loose;
use crate::math::{Block, Pose, Real, Vec3};
use crate::model::{Groups, Motion, SurfaceMaterial};
use crate::report::Report;
use crate::solver::colour::Colouring;
use crate::solver::pool::{Pool, Span};
use crate::solver::row_lanes::RowLanes;
use crate::state::{ClothContactMemory, ContactKey, ContactMemory};

/// One collider of the world, by the slot of its body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColliderRef {
    pub body: u32,
    pub collider: u32,
    /// Its index in `Work::surfaces`.
    pub surface: u32,
    pub groups: Groups,
    pub sensor: bool,
    /// Kind of motion of the body.
    pub motion: Motion,
}

/// The rows of a constraint: their range in the buffer, and which buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSpan {
    pub constraint: u32,
    pub start: u32,
    pub end: u32,
    /// In `node_rows`: rows on nodes, short enough for lanes.
    pub nodes: bool,
    /// Index of its first row impulse in State.
    pub first: u32,
    pub count: u32,
}

impl RowSpan {
    /// Range of its row impulses in State.
    pub fn kept(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

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

/// Forces between the nodes of a cloth and a body in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GripPair {
    pub body: u32,
    pub sheet: u32,
    /// Mean force on the cloth, and the sum of its normal parts [N].
    pub force: Vec3,
    pub normal: Real,
    pub touching: bool,
    /// Its force was above the threshold before.
    pub loud: bool,
}

/// Force at a contact point, for the report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointForce {
    pub point: Vec3,
    pub direction: Vec3,
    pub gap: Real,
    /// Along the normal [N].
    pub normal: Real,
    /// On b [N].
    pub force: Vec3,
}

/// Scratch of the step.
#[derive(Debug)]
pub(crate) struct Work {
    pub pool: Pool,
    /// Velocities of all blocks: rigid (v, 1/m | ω, –) by slot, then nodes (v, 1/m). Written by `predict`, `solve`.
    pub velocity: Vec<Block>,
    /// Velocities that move the positions: with correction. Written by `solve`. (as velocity)
    pub position_velocity: Vec<Block>,
    /// Poses: rigid (x, – | q) by slot, then node positions. Written by `advance`. (as velocity)
    pub pose: Vec<Block>,
    /// Inverse inertia in world axes (xx yy zz xy | xz yz – –). Written by `predict`. (two a slot)
    pub inertia: Vec<Block>,
    /// Rounding remainders of the positions [m]. Written by `advance`. (slots)
    pub rest: Vec<Vec3>,
    /// Rounding remainders of the velocities [m/s]. Written by `predict`. (slots)
    pub v_remainder: Vec<Vec3>,
    /// Forces of this step's input on rigid bodies, force then torque [N, N·m]. Written by `intake`. (slots)
    pub force: Vec<[Vec3; 2]>,
    /// Forces of this step's input on nodes [N]. Written by `intake`. (nodes)
    pub node_force: Vec<Vec3>,
    /// Whether there is such a force. Written by `intake`.
    pub nodes_pushed: bool,
    /// All external forces on nodes of soft bodies, gravity among them [N]. Written by `predict`. (nodes)
    pub node_total: Vec<Vec3>,
    /// Predicted positions of the nodes of the current explicit body at the end of the step [m]. Written by `plan`.
    pub heading: Vec<Block>,
    /// Forces of a body on its nodes [N]. Scratch of `guard/energy_limiter.rs`.
    pub kick: Vec<Vec3>,
    /// Velocities of explicit bodies after their own forces acted last [m/s]. (block_count)
    pub kicked: Vec<Block>,
    /// Internal state of the models. Loaded by `detect`, written by `advance`. (as State)
    pub internal_state: Vec<Real>,
    /// Models of soft bodies. Taken over by `intake`. (slots)
    pub soft: Vec<Option<SoftWork>>,
    /// True when the models must be refreshed because the state changed outside the step.
    pub soft_stale: bool,
    /// Islands that are solved by CG. Written by `plan`.
    pub implicit: ImplicitWork,
    /// Substeps of the sweep islands in this step. Written by `plan`.
    pub substeps: u32,
    /// True for bodies that may move in the step, or are driven. Written by `detect`, before contacts are found: a body
    /// at rest can still be woken. (slots)
    pub moves: Vec<bool>,
    /// True for dynamic bodies that are not frozen, awake or asleep. Written by `detect`. (slots)
    pub movable: Vec<bool>,
    /// True for bodies that are solved in this step: dynamic, awake, not frozen. Written by `detect`. (slots)
    pub active: Vec<bool>,
    /// Slots of active rigid bodies in sweep islands, ascending. Written by `detect`.
    pub active_rigid: Vec<u32>,
    /// Slots of active node bodies in sweep islands, ascending. Written by `detect`.
    pub active_nodes: Vec<u32>,
    /// All colliders. Rebuilt when the model changes.
    pub colliders: Vec<ColliderRef>,
    /// First collider of each body (slots + 1).
    pub collider_start: Vec<u32>,
    pub endless: Vec<bool>,
    /// Materials of the colliders; consecutive equal ones share one entry. Rebuilt when the model changes.
    pub surfaces: Vec<SurfaceMaterial>,
    pub revision: u64,
    /// Tight boxes, grown by the motion of the step. Written by `detect`. (colliders)
    pub bounds: Vec<Bounds3>,
    /// Largest displacement of each body within the step [m]. Written by `detect`. (slots)
    pub motion: Vec<Real>,
    pub broad: BroadPhase,
    pub candidates: Vec<Candidate>,
    pub narrow: Vec<NarrowScratch>,
    /// Contacts of this step, sorted by key. Written by `detect`, impulses by `remember`.
    pub contacts: Vec<ContactMemory>,
    /// Union of their flags: saves passes over all of them. Written by `detect`.
    pub any_flags: u32,
    /// Which kernel solves each of them. Written by `plan`. (contacts)
    pub routes: Vec<Route>,
    /// How each body is solved. Written by `plan`. (slots)
    pub body_routes: Vec<BodyRoute>,
    pub colouring: Colouring,
    /// Colour and number of points of each contact that is solved in lanes. Written by `plan`.
    pub colours: Vec<Option<(u8, u8)>>,
    pub set: ContactSet,
    /// Rows of constraints and node contacts. Written by `assemble`. Rigid ones first.
    pub rows: RowBuffer,
    pub node_rows: RowBuffer,
    /// `node_rows` in lanes, if there are many; `laid`: whether they are.
    pub node_lanes: RowLanes,
    pub laid: bool,
    /// Rows of node contacts: last in a sweep.
    pub contact_rows: TouchRows,
    pub spans: Vec<RowSpan>,
    /// Impulses of constraint rows carried from substep to substep [N·s]. (as State)
    pub warm: Vec<Real>,
    /// Air drag on nodes and its damping rate. Written by `predict`. (nodes of one body) [N, kg/s]
    pub drag: Vec<(Vec3, Real)>,
    pub node_contacts: Vec<NodeContact>,
    /// Contacts of light nodes, in lanes. Written by `plan`.
    pub node_touches: NodeTouches,
    /// Contacts that take the route of surfaces. Written by `plan`.
    pub row_contacts: Vec<u32>,
    /// Body, cloth, collider and contact index of each collider of a cloth in SoA. Written by `remember`.
    pub sheet_pairs: Vec<(u32, u32, u32, u32)>,
    /// Ranges of the nodes of bodies among all nodes, ascending, and the slots of their bodies. Rebuilt when the model
    /// changes.
    pub node_spans: Vec<Span>,
    pub node_owners: Vec<u32>,
    /// Kinetic and gravitational energy of each body [J]. Written by `observe`. (slots)
    pub body_energies: Vec<[Real; 2]>,
    /// Contacts sorted by key: scratch of `put_in_order`.
    pub order: Vec<u32>,
    /// Largest displacement of each surfel of the current body, with margin [m]. Written by `detect`.
    pub reaches: Vec<Real>,
    /// Bounding spheres of oriented particles, sorted by their smallest x. Written by `detect`.
    pub particles_around: Vec<Around>,
    /// Surfaces of bodies of nodes. Written by `detect`. (slots)
    pub skins: Vec<Option<SkinWork>>,
    /// Pairs of features that may be in contact, and those that are, of the current two bodies. Written by `detect`.
    pub near_pairs: NearPairs,
    /// Keys of the contacts of these bodies in State. Written by `detect`.
    pub known_keys: Vec<ContactKey>,
    pub touching_features: Vec<Touching>,
    /// Vertices with a contact, while edge contacts are reduced.
    pub held_vertices: Held,
    /// Colliders and cells near the current surface. Written by `detect`.
    pub near_colliders: Vec<u32>,
    pub near_cells: Vec<u32>,
    /// `position_velocity` of the current soft body before its position update.
    pub before_advance: Vec<Block>,
    /// Terms of the row that is being assembled.
    pub terms: Vec<Term>,
    /// Nodes of the contact whose rows are being written.
    pub parts: Vec<Part>,
    /// Contacts that a classic method solves.
    pub classic: ClassicWork,
    /// Surfaces and their motion in the step, for continuous collision detection.
    pub guard: GuardWork,
    pub islands: Islands,
    /// Sweep islands without contact or constraint to a fixed body. Written by `plan`.
    pub loose: Loose,
    /// Sum of the effective masses of a body's contacts, in units of its own mass. Written by `plan`. (slots)
    pub held: Vec<Real>,
    /// Number of contact points of each body, or marks of islands. (slots)
    pub touches: Vec<u32>,
    /// True for bodies with a contact or joint to a body that cannot move; after `fall_asleep` for roots of islands
    /// too. Written by `detect`. (slots)
    pub anchored: Vec<bool>,
    /// Poses of the origins at the start of the step, for drawing between steps. (slots)
    pub previous: Vec<Pose>,
    /// Last valid pose of each body, for the rollback of corrupted ones. (slots)
    pub good: Vec<Pose>,
    /// True for bodies that keep their values in State, because the step gave invalid numbers. Written by `remember`.
    /// (slots)
    pub rolled_back: Vec<bool>,
    /// Pairs in contact before this step, sorted; and those in contact now.
    pub touching: Vec<(u32, u32)>,
    pub touched: Vec<(u32, u32)>,
    /// Impulses of the step, then mean forces. Begun by `plan`, written by all routes, closed by `remember`.
    pub readout: Readout,
    /// Contact memory of nodes of cloths in SoA at the end of the step, sorted. Written by `remember`.
    pub cloth_contacts: Vec<ClothContactMemory>,
    /// Their range for each of `sheet_pairs`. Written by `remember`.
    pub grip_spans: Vec<Span>,
    /// Mean force of each node contact, if requested. Written by `remember`. (cloth_contacts, or empty)
    pub grip_forces: Vec<PointForce>,
    /// Their sums by pair of bodies. Written by `remember`.
    pub grip_pairs: Vec<GripPair>,
    pub report: Report,
}

impl Work {
    pub fn new(threads: usize) -> Self {
        Self {
            pool: Pool::new(threads),
            velocity: Vec::new(),
            position_velocity: Vec::new(),
            pose: Vec::new(),
            inertia: Vec::new(),
            rest: Vec::new(),
            v_remainder: Vec::new(),
            force: Vec::new(),
            node_force: Vec::new(),
            nodes_pushed: false,
            node_total: Vec::new(),
            heading: Vec::new(),
            kick: Vec::new(),
            kicked: Vec::new(),
            internal_state: Vec::new(),
            soft: Vec::new(),
            soft_stale: false,
            implicit: ImplicitWork::default(),
            substeps: 1,
            movable: Vec::new(),
            active: Vec::new(),
            active_rigid: Vec::new(),
            active_nodes: Vec::new(),
            colliders: Vec::new(),
            collider_start: Vec::new(),
            endless: Vec::new(),
            surfaces: Vec::new(),
            revision: u64::MAX,
            bounds: Vec::new(),
            motion: Vec::new(),
            broad: BroadPhase::default(),
            candidates: Vec::new(),
            narrow: Vec::new(),
            contacts: Vec::new(),
            any_flags: 0,
            routes: Vec::new(),
            body_routes: Vec::new(),
            colouring: Colouring::default(),
            colours: Vec::new(),
            set: ContactSet::default(),
            rows: RowBuffer::default(),
            node_rows: RowBuffer::default(),
            node_lanes: RowLanes::default(),
            laid: false,
            contact_rows: TouchRows::default(),
            spans: Vec::new(),
            warm: Vec::new(),
            drag: Vec::new(),
            node_contacts: Vec::new(),
            node_touches: NodeTouches::default(),
            moves: Vec::new(),
            row_contacts: Vec::new(),
            sheet_pairs: Vec::new(),
            node_spans: Vec::new(),
            node_owners: Vec::new(),
            body_energies: Vec::new(),
            order: Vec::new(),
            reaches: Vec::new(),
            particles_around: Vec::new(),
            skins: Vec::new(),
            near_pairs: NearPairs::default(),
            known_keys: Vec::new(),
            touching_features: Vec::new(),
            held_vertices: Held::default(),
            near_colliders: Vec::new(),
            near_cells: Vec::new(),
            before_advance: Vec::new(),
            terms: Vec::new(),
            parts: Vec::new(),
            classic: ClassicWork::default(),
            guard: GuardWork::default(),
            islands: Islands::default(),
            loose: Loose::default(),
            held: Vec::new(),
            touches: Vec::new(),
            anchored: Vec::new(),
            previous: Vec::new(),
            good: Vec::new(),
            rolled_back: Vec::new(),
            touching: Vec::new(),
            touched: Vec::new(),
            readout: Readout::default(),
            cloth_contacts: Vec::new(),
            grip_spans: Vec::new(),
            grip_forces: Vec::new(),
            grip_pairs: Vec::new(),
            report: Report::default(),
        }
    }
}
