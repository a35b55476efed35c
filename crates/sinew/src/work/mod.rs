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
use crate::friction::{AnisotropyFrame, Coefficients, Law, Memory};
use crate::island::momentum::Loose;
use crate::math::{Block, Pose, Real, Vec3};
use crate::model::{Groups, Material, Motion};
use crate::report::Report;
use crate::solver::colour::Colouring;
use crate::solver::pool::{Pool, Span};
use crate::solver::row_lanes::RowLanes;
use crate::state::{ContactKey, ContactMemory, GripMemory};

/// One collider of the world, by its slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColliderRef {
    pub body: u32,
    pub collider: u32,
    /// Its number among `Work::surfaces`.
    pub surface: u32,
    pub groups: Groups,
    pub sensor: bool,
    /// Who moves the body.
    pub motion: Motion,
}

/// What a constraint's rows are: their range in the buffer, and which buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSpan {
    pub constraint: u32,
    pub start: u32,
    pub end: u32,
    /// In `node_rows`: rows on nodes, short enough for lanes.
    pub nodes: bool,
    /// First of its numbers in State's column.
    pub first: u32,
    pub count: u32,
}

impl RowSpan {
    /// Its numbers in State's column.
    pub fn kept(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Contact of a node with a collider: the rows it got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeContact {
    pub manifold: u32,
    pub place: Place,
    /// Normal and first tangent of its rows.
    pub axes: [Vec3; 2],
}

/// A contact point with a friction law of its own: its rows (two tangents, then the normal), what the law knows of it when the
/// substep begins, and the radius of its disc in the last sweep [N·s].
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
    /// Between rigid bodies; soft surfaces do not bounce by a number.
    pub restitution: Real,
}

/// What a point with a friction law has done in this step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LawSum {
    /// Normal speed before anything pushed back [m/s]; negative: it came in.
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

/// What nodes of a sheet do to a body in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GripPair {
    pub body: u32,
    pub sheet: u32,
    /// Mean force on the sheet, and the sum of its normal parts [N].
    pub force: Vec3,
    pub normal: Real,
    pub touching: bool,
    /// It was above the threshold before.
    pub loud: bool,
}

/// Points of a manifold with a friction law that resist rolling and spinning together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LawPatch {
    pub manifold: u32,
    /// First of its three rows.
    pub row: u32,
    /// Its points among the law contacts, from and to.
    pub points: [u32; 2],
    /// Levers of rolling and spinning resistance [m].
    pub levers: [Real; 2],
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
    /// What rounding left out of the positions [m]. Written by `advance`. (slots)
    pub rest: Vec<Vec3>,
    /// What rounding left out of the velocities [m/s]. Written by `predict`. (slots)
    pub v_remainder: Vec<Vec3>,
    /// Forces of this step's input on rigid bodies, force then torque [N, N·m]. Written by `intake`. (slots)
    pub force: Vec<[Vec3; 2]>,
    /// Forces of this step's input on nodes [N]. Written by `intake`. (nodes)
    pub node_force: Vec<Vec3>,
    /// Whether there is such a force. Written by `intake`.
    pub nodes_pushed: bool,
    /// All external forces on nodes of soft bodies, gravity among them [N]. Written by `predict`. (nodes)
    pub node_total: Vec<Vec3>,
    /// Where the nodes of the explicit body at hand would be at the end of the step [m]. Written by `detect`.
    pub heading: Vec<Block>,
    /// Forces of a body on its nodes [N]. Scratch of `guard/energy_limiter.rs`.
    pub kick: Vec<Vec3>,
    /// Velocities of explicit bodies after their own forces had moved them on last [m/s]. (block_count)
    pub kicked: Vec<Block>,
    /// Memory of the models. Loaded by `detect`, written by `advance`. (as State)
    pub inner: Vec<Real>,
    /// Models of soft bodies. Taken over by `intake`. (slots)
    pub soft: Vec<Option<SoftWork>>,
    /// True when the models must be told of a state that changed outside the step.
    pub soft_stale: bool,
    /// Islands that are solved by CG. Written by `detect`.
    pub implicit: ImplicitWork,
    /// Substeps of the sweep islands in this step. Written by `detect`.
    pub substeps: u32,
    /// True for bodies that may be elsewhere at the end of the step, or are being driven. Written by `detect`, first of all:
    /// who is still can yet be woken. (slots)
    pub moves: Vec<bool>,
    /// True for bodies that forces move and that are not frozen, asleep or not. Written by `detect`. (slots)
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
    /// Materials of the colliders; neighbours that are alike share one. Rebuilt when the model changes.
    pub surfaces: Vec<Material>,
    pub revision: u64,
    /// Tight boxes with room for the step's motion. Written by `detect`. (colliders)
    pub bounds: Vec<Bounds3>,
    /// How far each body may come within the step [m]. Written by `detect`. (slots)
    pub motion: Vec<Real>,
    pub broad: BroadPhase,
    pub candidates: Vec<Candidate>,
    pub narrow: Vec<NarrowScratch>,
    /// Contacts of this step, sorted by key. Written by `detect`, impulses by `remember`.
    pub contacts: Vec<ContactMemory>,
    /// Flags that any of them has: saves walks over all of them. Written by `detect`.
    pub any_flags: u32,
    /// Which kernel solves each of them. Written by `plan`. (contacts)
    pub routes: Vec<Route>,
    /// How each body is solved. Written by `plan`. (slots)
    pub body_routes: Vec<BodyRoute>,
    pub colouring: Colouring,
    /// Colour and number of points of each contact that is solved in lanes. Written by `assemble`.
    pub colours: Vec<Option<(u8, u8)>>,
    pub set: ContactSet,
    /// Rows of constraints and node contacts. Written by `assemble`. Rigid ones first.
    pub rows: RowBuffer,
    pub node_rows: RowBuffer,
    /// `node_rows` in lanes, when they are many; `laid` tells.
    pub node_lanes: RowLanes,
    pub laid: bool,
    /// Rows of node contacts: last in a sweep.
    pub contact_rows: TouchRows,
    pub spans: Vec<RowSpan>,
    /// Impulses of constraint rows carried from substep to substep [N·s]. (as State)
    pub warm: Vec<Real>,
    /// Air drag on nodes and the rate at which it brakes them. Written by `predict`. (nodes of one body) [N, kg/s]
    pub drag: Vec<(Vec3, Real)>,
    pub node_contacts: Vec<NodeContact>,
    /// Contacts of light nodes, in lanes. Written by `plan`.
    pub node_touches: NodeTouches,
    /// Contacts that take the route of surfaces. Written by `plan`.
    pub row_contacts: Vec<u32>,
    /// Body, sheet, collider and number of the touch of each wall of a sheet in columns. Written by `remember`.
    pub sheet_pairs: Vec<(u32, u32, u32, u32)>,
    /// Where the nodes of bodies lie among all, rising, and whose they are. Rebuilt when the model changes.
    pub node_spans: Vec<Span>,
    pub node_owners: Vec<u32>,
    /// Kinetic energy and that of gravity of each body [J]. Written by `observe`. (slots)
    pub body_energies: Vec<[Real; 2]>,
    /// Contacts in the order of their keys: scratch of `put_in_order`.
    pub order: Vec<u32>,
    /// How far each surfel of the body at hand may come [m]. Written by `detect`.
    pub reaches: Vec<Real>,
    /// Balls around oriented particles, by their least x. Written by `detect`.
    pub particles_around: Vec<Around>,
    /// Contacts with a friction law of their own, and their rows. Written by `assemble`.
    pub law_contacts: Vec<LawContact>,
    pub law_rows: RowBuffer,
    /// Four for each manifold.
    pub law_sums: Vec<LawSum>,
    pub law_patches: Vec<LawPatch>,
    /// Whether any body has a friction law of its own. Rebuilt when the model changes.
    pub body_laws: bool,
    /// Whether any contact may have one: that, or a law in the table of pairs. Written by `plan`.
    pub any_laws: bool,
    /// Surfaces of bodies of nodes. Written by `detect`. (slots)
    pub skins: Vec<Option<SkinWork>>,
    /// Pairs of features that may touch, and what touches among them, of the two bodies that are being looked at. Written by `detect`.
    pub near_pairs: NearPairs,
    /// Keys of what State remembers of them. Written by `detect`.
    pub known_keys: Vec<ContactKey>,
    pub touching_features: Vec<Touching>,
    /// Vertices with a contact, while edges are thinned out.
    pub held_vertices: Held,
    /// Colliders and cells near the surface that is being looked at. Written by `detect`.
    pub near_colliders: Vec<u32>,
    pub near_cells: Vec<u32>,
    /// `position_velocity` of the soft body that is being moved on, from before.
    pub before_advance: Vec<Block>,
    /// Terms of the row that is being put together.
    pub terms: Vec<Term>,
    /// Nodes of the contact whose rows are being written.
    pub parts: Vec<Part>,
    /// Contacts that a classic method answers.
    pub classic: ClassicWork,
    /// Surfaces on their way through the step, for continuous detection.
    pub guard: GuardWork,
    pub islands: Islands,
    /// Islands of sweeps that lean on nothing. Written by `detect`.
    pub loose: Loose,
    /// What the contacts of a body hold it with together, in its own masses. Written by `assemble`. (slots)
    pub held: Vec<Real>,
    /// Contact points by body, or marks by island. (slots)
    pub touches: Vec<u32>,
    /// True for roots of islands that lean on something that does not move. Written by `detect`. (slots)
    pub anchored: Vec<bool>,
    /// Poses of the origins at the start of the step, for drawing between steps. (slots)
    pub previous: Vec<Pose>,
    /// Last good state of each body: position, rotation, for the roll-back of corrupted ones. (slots)
    pub good: Vec<Pose>,
    /// Who keeps what State has, because the step came out insane. Written by `remember`. (slots)
    pub rolled_back: Vec<bool>,
    /// Pairs that were touching before this step, sorted; and those that touch now.
    pub touching: Vec<(u32, u32)>,
    pub touched: Vec<(u32, u32)>,
    /// Impulses of the step, then mean forces. Begun by `plan`, written by all routes, closed by `remember`.
    pub readout: Readout,
    /// What nodes of sheets in columns hold on to at the end of the step, sorted. Written by `remember`.
    pub grips: Vec<GripMemory>,
    /// Those of each of `sheet_pairs` among them. Written by `remember`.
    pub grip_spans: Vec<Span>,
    /// Mean force of each grip, when asked for. Written by `remember`. (grips, or empty)
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
            inner: Vec::new(),
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
            law_contacts: Vec::new(),
            law_rows: RowBuffer::default(),
            law_sums: Vec::new(),
            law_patches: Vec::new(),
            body_laws: false,
            any_laws: false,
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
            grips: Vec::new(),
            grip_spans: Vec::new(),
            grip_forces: Vec::new(),
            grip_pairs: Vec::new(),
            report: Report::default(),
        }
    }
}
