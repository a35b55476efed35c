//! Compliance of bodies: what additional forces on some sites move in a step. A function of Model, State and Settings
//! alone; it has bodies, rows and a solve of its own and reads nothing that a step has left in Work.
//!
//! The bodies of the sites and all bodies linked to them by active rows are one system, as in an implicit island:
//! deformable bodies by their operator at the present state, rigid bodies and nodes without an operator by their
//! masses. Its rows are those of a step, those that act now, as equations (`solver/implicit/compliance.rs`).

use crate::constraint::response::BodyModels;
use crate::constraint::{Bounds, Place, RowBuffer, RowId, Term};
use crate::contact::point::slop;
use crate::contact::{law, point};
use crate::deformable::{BodyMut, BodyRef, Deformable, StepContext};
use crate::island::{Islands, soft_body};
use crate::math::{Block, Real, Vec3, add, hold, quat, vec};
use crate::model::{Body, Model, Nodes, Stamp};
use crate::settings::Settings;
use crate::solver::implicit::{
    Effort, Placed, RigidUnknown, Scratch, System, linearise_active, product, residual, respond,
};
use crate::solver::soft::Softness;
use crate::state::{ContactMemory, MAX_POINTS, State, contact_flag};
use crate::work::BodyWork;

/// Largest number of surfels on one side of a contact of surfaces: two edges with two each, a vertex and a face.
const CORNERS: usize = 3;

/// What a query reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Present<'a> {
    pub model: &'a Model,
    pub state: &'a State,
    pub settings: &'a Settings,
    /// Number of the world in this process.
    pub world: u64,
}

/// What a query includes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// Time for which the forces act [s].
    pub time: Real,
    pub constraints: bool,
    pub contacts: bool,
    pub effort: Effort,
}

/// Work of one or several solves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effect {
    pub iterations: u32,
    pub residual: Real,
    pub bodies: u32,
    pub rows: u32,
    pub asymmetry: Real,
}

/// A deformable model of the query's own, and the state that its operator was built for.
#[derive(Debug)]
struct Prepared {
    stamp: Stamp,
    model: Box<dyn Deformable>,
    /// Step [s], lanes and softening of the operator; none before the first.
    built_for: Option<(Real, bool, bool)>,
    /// Positions, velocities and inverse masses, internal state.
    x: Vec<Block>,
    v: Vec<Block>,
    internal_state: Vec<Real>,
    /// Copies that the model may write, and no forces. (node_count)
    moved: [Vec<Block>; 2],
    inner: Vec<Real>,
    force: Vec<Vec3>,
}

/// The query's own models. (slots)
#[derive(Debug, Default)]
struct PreparedModels(Vec<Option<Prepared>>);

impl BodyModels for PreparedModels {
    fn at(&self, slot: u32) -> Option<&dyn Deformable> {
        self.0.get(slot as usize)?.as_ref().map(|held| &*held.model)
    }
}

/// Memory of queries. Nothing is allocated once it has grown.
#[derive(Debug, Default)]
pub(crate) struct ComplianceWork {
    /// The world that the models belong to.
    world: Option<u64>,
    /// Poses, velocities, inverse masses and inertia at the present state; its other fields stay empty.
    blocks: BodyWork,
    soft: PreparedModels,
    islands: Islands,
    /// Bodies of the system. (slots)
    members: Vec<bool>,
    /// Local number of each block, or MAX; and the reverse. (block_count)
    local: Vec<u32>,
    global: Vec<u32>,
    rows: RowBuffer,
    /// Which rows act. (row_count)
    active: Vec<bool>,
    terms: Vec<Term>,
    /// Constraints and contacts that may act, by slot and by index.
    constraints: Vec<u32>,
    contacts: Vec<u32>,
    rigid_unknowns: Vec<RigidUnknown>,
    /// Kept for its allocation only: always empty between queries.
    placed: Vec<Placed<'static>>,
    scratch: Scratch,
    /// Impulses and velocity changes of a solve. (local block_count)
    b: Vec<Block>,
    v: Vec<Block>,
    /// Velocity changes and residuals of all solves of a matrix, one after the other.
    columns: Vec<Block>,
    leftovers: Vec<Block>,
}

/// A force or direction at a place.
pub(crate) type Load = (Place, Vec3);

impl ComplianceWork {
    /// Velocity change of each place when all forces act together [m/s], into `out`.
    pub fn velocities(&mut self, now: Present<'_>, scope: Scope, loads: &[Load], out: &mut Vec<Vec3>) -> Effect {
        out.clear();
        self.with_system(now, scope, loads, |work, system| {
            work.begin_load();
            for load in loads {
                work.add_load(now.model, load, scope.time);
            }
            let (iterations, residual) = respond(system, &work.b, &mut work.v, scope.effort, &mut work.scratch);
            out.extend(loads.iter().map(|(place, _)| work.velocity_of(now.model, place, &work.v)));
            Effect { iterations, residual, ..Effect::default() }
        })
    }

    /// Displacement of each place along its direction per unit force at each other, row by row [m/N], into `out`.
    ///
    /// With columns v_j of solves that ended with residuals r_j the entry is b_iᵀv_j + v_iᵀr_j = v_iᵀb_j + b_iᵀv_j −
    /// v_iᵀA v_j: symmetric for any v, and its error is that of the energy, e_iᵀA e_j with e = A⁻¹b − v.
    pub fn matrix(&mut self, now: Present<'_>, scope: Scope, loads: &[Load], out: &mut Vec<Real>) -> Effect {
        out.clear();
        self.with_system(now, scope, loads, |work, system| {
            let mut effect = Effect::default();
            work.columns.clear();
            work.leftovers.clear();
            for load in loads {
                work.begin_load();
                work.add_load(now.model, load, scope.time);
                let (iterations, left) = respond(system, &work.b, &mut work.v, scope.effort, &mut work.scratch);
                work.columns.extend_from_slice(&work.v);
                work.leftovers.extend_from_slice(residual(&work.scratch));
                effect.iterations += iterations;
                effect.residual = effect.residual.max(left);
            }
            effect.asymmetry = work.fill_matrix(now.model, scope.time, loads, out);
            effect
        })
    }

    /// Entries of the matrix; returns the largest difference of opposite entries of b_iᵀv_j, relative to the geometric
    /// mean of their diagonal entries.
    fn fill_matrix(&self, model: &Model, time: Real, loads: &[Load], out: &mut Vec<Real>) -> Real {
        let (n, blocks) = (loads.len(), self.global.len());
        let column = |k: usize| k * blocks..(k + 1) * blocks;
        out.resize(n * n, 0.0);
        for (i, (place, direction)) in loads.iter().enumerate() {
            for j in 0..n {
                let v = &self.columns[column(j)];
                out[i * n + j] = time * direction.dot(self.velocity_of(model, place, v));
            }
        }
        let mut asymmetry: Real = 0.0;
        for i in 0..n {
            for j in 0..=i {
                let (plain, opposite) = (out[i * n + j], out[j * n + i]);
                let size = (out[i * n + i] * out[j * n + j]).sqrt();
                if size > 0.0 && i != j {
                    asymmetry = asymmetry.max((plain - opposite).abs() / size);
                }
                let left = |a: usize, b: usize| product(&self.columns[column(a)], &self.leftovers[column(b)]);
                let entry = 0.5 * ((plain + left(i, j)) + (opposite + left(j, i)));
                (out[i * n + j], out[j * n + i]) = (entry, entry);
            }
        }
        asymmetry
    }

    /// Builds the system of the bodies at these places and calls `solve` with it.
    fn with_system(
        &mut self,
        now: Present<'_>,
        scope: Scope,
        loads: &[Load],
        solve: impl FnOnce(&mut Self, &System<'_>) -> Effect,
    ) -> Effect {
        if self.world != Some(now.world) {
            self.soft.0.clear();
            self.world = Some(now.world);
        }
        self.load_state(now);
        self.find_members(now, scope, loads);
        let mut soft = std::mem::take(&mut self.soft);
        soft.0.resize_with(now.model.bodies.slot_count(), || None);
        for (slot, held) in soft.0.iter_mut().enumerate() {
            self.prepare_model(now, scope.time, slot as u32, held);
        }
        // reuses the same allocation for every query: an empty list may change its lifetime
        let mut placed: Vec<Placed<'_>> =
            std::mem::take(&mut self.placed).into_iter().map(|_| unreachable!("empty")).collect();
        self.list_bodies(now.model, scope.time, &soft.0, &mut placed);
        self.write_rows(now, scope, &soft);
        let rigid_unknowns = std::mem::take(&mut self.rigid_unknowns);
        let system = System { operators: &placed, rigid_unknowns: &rigid_unknowns };
        self.reserve(now, &system, loads.len());
        let blocks = self.global.len();
        let implicit = &now.settings.implicit;
        linearise_active(&system, &mut self.rows, &self.active, blocks, implicit, &mut self.scratch);
        let mut effect = solve(self, &system);
        effect.bodies = self.members.iter().filter(|m| **m).count() as u32;
        effect.rows = self.active.iter().filter(|a| **a).count() as u32;
        placed.clear();
        self.placed = placed.into_iter().map(|_| unreachable!("empty")).collect();
        self.rigid_unknowns = rigid_unknowns;
        self.soft = soft;
        effect
    }

    /// Poses, velocities and inverse masses of all bodies. A frozen body is fixed; one that sleeps would be woken by a
    /// force.
    fn load_state(&mut self, now: Present<'_>) {
        let Present { model, state, .. } = now;
        let work = &mut self.blocks;
        let slots = model.bodies.slot_count();
        let spins = model.bodies.iter().any(|(slot, _)| model.nodes_at(slot).is_some_and(|n| !n.radii.is_empty()));
        let blocks = 2 * slots + model.node_count * if spins { 2 } else { 1 };
        for array in [&mut work.velocity, &mut work.pose] {
            array.clear();
            array.resize(blocks, [0.0; 4]);
        }
        work.inertia.clear();
        work.inertia.resize(2 * slots, [0.0; 4]);
        work.internal_state.clear();
        work.internal_state.extend_from_slice(&state.internal_state);
        work.load_tools(state);
        for (slot, body) in model.bodies.iter() {
            let (i, frozen) = (slot as usize, state.is_frozen(slot as usize));
            work.pose[2 * i] = state.x[i].extend(0.0).to_array();
            work.pose[2 * i + 1] = state.q[i].to_array();
            match body {
                Body::Rigid(_) if frozen => {}
                Body::Rigid(rigid) => {
                    work.velocity[2 * i] = state.v[i].extend(rigid.inv_mass).to_array();
                    work.velocity[2 * i + 1] = state.w[i].extend(0.0).to_array();
                    if rigid.is_dynamic() {
                        work.turn_inertia(model, &[slot]);
                    }
                }
                Body::Nodes(nodes) => {
                    for (k, n) in nodes.span().enumerate() {
                        let (block, inv_mass) = (2 * slots + n, if frozen { 0.0 } else { nodes.inv_mass[k] });
                        let v = if frozen { Vec3::ZERO } else { state.node_v[n] };
                        work.pose[block] = state.node_x[n].extend(inv_mass).to_array();
                        work.velocity[block] = v.extend(inv_mass).to_array();
                    }
                    soft_body::show_spins(model, nodes, work);
                }
            }
        }
    }

    /// The bodies of the places and all that active rows link to them.
    fn find_members(&mut self, now: Present<'_>, scope: Scope, loads: &[Load]) {
        let Present { model, state, .. } = now;
        let slots = model.bodies.slot_count();
        self.islands.reset(slots);
        self.constraints.clear();
        self.contacts.clear();
        if scope.constraints {
            for (slot, constraint) in model.constraints.iter().filter(|(slot, _)| state.broken[*slot as usize] == 0) {
                let mut first = None;
                constraint.slots(|s| {
                    if moves(now, s) {
                        self.islands.link(*first.get_or_insert(s), s);
                    }
                });
                if first.is_some() {
                    self.constraints.push(slot);
                }
            }
            for anchor in &state.tool_anchors {
                if moves(now, anchor.tool) && moves(now, anchor.body) {
                    self.islands.link(anchor.tool, anchor.body);
                }
            }
        }
        if scope.contacts {
            for (k, m) in state.contacts.iter().enumerate().filter(|(_, m)| pushed(m)) {
                let (a, b) = (m.key.a, m.key.b);
                if moves(now, a) && moves(now, b) {
                    self.islands.link(a, b);
                }
                self.contacts.push(k as u32);
            }
        }
        self.members.clear();
        self.members.resize(slots, false);
        for slot in loads.iter().filter_map(|(place, _)| place.slot()).filter(|&slot| moves(now, slot)) {
            self.members[self.islands.root(slot) as usize] = true;
        }
        // a root is the smallest slot of its island: it is read before any body behind it is written
        for slot in 0..slots as u32 {
            let root = self.islands.root(slot) as usize;
            self.members[slot as usize] = self.members[root] && moves(now, slot);
        }
        let Self { constraints, contacts, members, .. } = self;
        constraints.retain(|&slot| {
            let mut any = false;
            model.constraints.at(slot).iter().for_each(|c| c.slots(|s| any |= members[s as usize]));
            any
        });
        contacts.retain(|&k| state.contacts[k as usize].key.anyone(members));
    }

    /// Builds the model of a member if there is none, and its operator if the state is another.
    fn prepare_model(&self, now: Present<'_>, time: Real, slot: u32, held: &mut Option<Prepared>) {
        let Some(nodes) = now.model.nodes_at(slot).filter(|n| n.is_soft()) else {
            *held = None;
            return;
        };
        let stamp = now.model.stamp(slot);
        if held.as_ref().is_some_and(|h| h.stamp != stamp) {
            *held = None;
        }
        if !self.members[slot as usize] {
            return;
        }
        if held.is_none() {
            *held = nodes.rebuild().map(|model| Prepared::new(stamp, model));
        }
        let Some(held) = held else { return };
        let blocks = now.model.blocks_of(nodes);
        let body = BodyRef {
            x: &self.blocks.pose[blocks.clone()],
            v: &self.blocks.velocity[blocks],
            internal_state: &self.blocks.internal_state[nodes.internal_state_span()],
        };
        held.build(body, (time, now.settings.lanes, now.settings.max_substeps > 1));
    }

    /// Numbers the blocks of all members; lists operators and masses, damping over `time` [s] included.
    fn list_bodies<'a>(
        &mut self,
        model: &Model,
        time: Real,
        soft: &'a [Option<Prepared>],
        placed: &mut Vec<Placed<'a>>,
    ) {
        self.local.clear();
        self.local.resize(self.blocks.velocity.len(), u32::MAX);
        self.global.clear();
        self.rigid_unknowns.clear();
        for slot in 0..self.members.len() as u32 {
            if !self.members[slot as usize] {
                continue;
            }
            match model.bodies.at(slot) {
                Some(Body::Rigid(rigid)) => {
                    let block = local_index(&mut self.local, &mut self.global, 2 * slot);
                    local_index(&mut self.local, &mut self.global, 2 * slot + 1);
                    let inertia = rigid.inertia.rotated(quat(self.blocks.pose[2 * slot as usize + 1]));
                    let (slowed, turned) = (1.0 + rigid.linear_damping * time, 1.0 + rigid.angular_damping * time);
                    let (mass, inertia) = (rigid.mass * slowed, Some(inertia.scaled(turned)));
                    self.rigid_unknowns.push(RigidUnknown { block, mass, inertia, free: [Vec3::ZERO; 2] });
                }
                Some(Body::Nodes(nodes)) => {
                    let first = self.number_nodes(model, nodes);
                    let operator = soft[slot as usize].as_ref().and_then(|held| held.model.operator());
                    match operator {
                        Some(operator) => placed.push(Placed { first, operator }),
                        None => self.lump(nodes, time, first),
                    }
                }
                None => {}
            }
        }
    }

    /// Blocks of nodes, then of their angular velocities; returns the first.
    fn number_nodes(&mut self, model: &Model, nodes: &Nodes) -> u32 {
        let first = self.global.len() as u32;
        for n in nodes.span() {
            local_index(&mut self.local, &mut self.global, model.node_block(n as u32));
        }
        for k in 0..nodes.radii.len() as u32 {
            local_index(&mut self.local, &mut self.global, model.spin_block(nodes.start + k));
        }
        first
    }

    /// A body without an operator: each of its nodes moves by itself.
    fn lump(&mut self, nodes: &Nodes, time: Real, first: u32) {
        let slowed = if nodes.is_bare() { 1.0 + nodes.traits.damping * time } else { 1.0 };
        for (k, (&mass, _)) in nodes.mass.iter().zip(&nodes.inv_mass).enumerate().filter(|(_, (_, w))| **w > 0.0) {
            let block = first + k as u32;
            self.rigid_unknowns.push(RigidUnknown { block, mass: mass * slowed, inertia: None, free: [Vec3::ZERO; 2] });
        }
    }

    /// Rows of the members, and which of them act.
    fn write_rows(&mut self, now: Present<'_>, scope: Scope, soft: &PreparedModels) {
        self.rows.clear();
        self.active.clear();
        self.constraint_rows(now, scope.time, soft);
        self.contact_rows(now, scope.time, soft);
        let Self { rows, local, global, .. } = self;
        rows.renumber(|block| local_index(local, global, block));
        for row in rows.rows_mut() {
            row.impulse = 0.0;
        }
        let blocks = self.global.len();
        for list in [&mut self.b, &mut self.v] {
            list.clear();
            list.resize(blocks, [0.0; 4]);
        }
    }

    /// Memory for the rows of any state of this world, not for those of this one: the number of contacts that push varies
    /// from step to step, and a list would grow whenever it exceeds all numbers before. The bound is the memory of State's
    /// own list of contacts, which a steady step does not enlarge.
    fn reserve(&mut self, now: Present<'_>, system: &System<'_>, loads: usize) {
        let Present { model, state, .. } = now;
        let most = state.contacts.capacity();
        let member = |(slot, _): &(u32, &Body)| self.members[*slot as usize];
        let is_rigid = model.bodies.iter().filter(member).any(|(_, body)| matches!(body, Body::Rigid(_)));
        // surfaces of deformable bodies touch in one point of each pair of features
        let points = most * if is_rigid { MAX_POINTS } else { 1 };
        let rows = state.row_impulses.len() + 3 * points;
        let side = |(_, body): (u32, &Body)| match body {
            Body::Rigid(_) => 2,
            Body::Nodes(nodes) => CORNERS * nodes.surface.most_shares(),
        };
        let sides = 2 * model.bodies.iter().map(side).max().unwrap_or(0);
        let longest = (0..self.rows.len()).map(|id| self.rows.terms(id as RowId).len()).max().unwrap_or(0);
        let blocks = self.local.len();
        let Self { rows: buffer, active, terms: row, contacts, global, b, v, columns, leftovers, scratch, .. } = self;
        let terms = rows * sides.max(longest);
        buffer.reserve(rows, terms);
        scratch.reserve(system, [blocks, rows, terms]);
        hold(active, rows);
        hold(row, sides.max(longest));
        hold(contacts, most);
        hold(global, blocks);
        [b, v].into_iter().for_each(|list| hold(list, blocks));
        [columns, leftovers].into_iter().for_each(|list| hold(list, loads * blocks));
    }

    fn constraint_rows(&mut self, now: Present<'_>, time: Real, soft: &PreparedModels) {
        let Present { model, state, .. } = now;
        let velocity = &self.blocks.velocity;
        let view = self.blocks.view(model, soft, time);
        let joint = Softness { rate: 1.0 / time, relative: 0.0 };
        let scale = step_scale(state, time);
        for &slot in &self.constraints {
            let Some(constraint) = model.constraints.at(slot) else { continue };
            let start = self.rows.len();
            constraint.rows(&view, joint, &mut self.rows);
            let kept = &state.row_impulses[model.rows_of(slot)];
            for id in start..self.rows.len() {
                let impulse = kept.get(id - start).map_or(0.0, |impulse| impulse * scale);
                self.rows.rows_mut()[id].impulse = impulse;
                let active = match self.rows.rows()[id].bounds {
                    Bounds::Mate => self.active[id - 1],
                    Bounds::Disc { normal, friction, radius } => {
                        let other = kept.get(id + 1 - start).map_or(0.0, |impulse| impulse * scale);
                        let limit = friction * self.rows.rows()[normal as usize].impulse + radius;
                        impulse * impulse + other * other < limit * limit
                    }
                    _ => acts(&self.rows, id as RowId, velocity),
                };
                self.active.push(active);
            }
        }
    }

    /// Normal rows of contacts that pushed in the last step, and friction of those that stick.
    fn contact_rows(&mut self, now: Present<'_>, time: Real, soft: &PreparedModels) {
        let Present { model, state, settings, .. } = now;
        let Self { blocks: work, rows, active, terms, contacts, .. } = self;
        let scale = step_scale(state, time);
        for m in contacts.iter().map(|&k| &state.contacts[k as usize]) {
            let friction = point::pair_material(model, &settings.pairs, m).static_friction;
            for (k, memory) in m.used().iter().enumerate() {
                let Some(place) = point::place(model, &work.pose, m, k) else { continue };
                point::terms_at_one_point(model, work, soft, m, place.normal, place.at, terms);
                let bias = law::hard_bias(place.gap, slop(model, m, settings), time, settings.push_speed);
                let normal = rows.push(terms, bias, 0.0, 0.0, Bounds::AtLeast(0.0));
                rows.rows_mut()[normal as usize].impulse = memory.impulse[0] * scale;
                let pushes = acts(rows, normal, &work.velocity);
                active.push(pushes);
                let disc = Bounds::Disc { normal, friction, radius: 0.0 };
                for (tangent, bounds) in place.tangents.into_iter().zip([disc, Bounds::Mate]) {
                    point::terms_at_one_point(model, work, soft, m, tangent, place.at, terms);
                    rows.push(terms, 0.0, 0.0, 0.0, bounds);
                    active.push(pushes && memory.slipping == 0 && friction > 0.0);
                }
            }
        }
    }

    fn begin_load(&mut self) {
        self.b.fill([0.0; 4]);
    }

    /// Adds the impulse of a force at a place.
    fn add_load(&mut self, model: &Model, (place, force): &Load, time: Real) {
        let push = *force * time;
        let mut put = |block: u32, push: Vec3| {
            let local = self.local[block as usize];
            if local != u32::MAX {
                add(&mut self.b[local as usize], push);
            }
        };
        match *place {
            Place::World(_) => {}
            Place::Rigid { slot, local } => {
                put(2 * slot, push);
                put(2 * slot + 1, arm(&self.blocks, slot, local).cross(push));
            }
            Place::Node { body, .. } | Place::Surface { body, .. } => {
                let start = model.nodes_at(body).map_or(0, |n| n.start);
                place.shares(model, |node, weight| put(model.node_block(start + node), push * weight));
            }
        }
    }

    /// Velocity change of a place [m/s], from those of all blocks.
    fn velocity_of(&self, model: &Model, place: &Place, v: &[Block]) -> Vec3 {
        let of = |block: u32| v.get(self.local[block as usize] as usize).map_or(Vec3::ZERO, |v| vec(*v));
        match *place {
            Place::World(_) => Vec3::ZERO,
            Place::Rigid { slot, local } => of(2 * slot) + of(2 * slot + 1).cross(arm(&self.blocks, slot, local)),
            Place::Node { body, .. } | Place::Surface { body, .. } => {
                let start = model.nodes_at(body).map_or(0, |n| n.start);
                let mut sum = Vec3::ZERO;
                place.shares(model, |node, weight| sum += of(model.node_block(start + node)) * weight);
                sum
            }
        }
    }
}

impl Prepared {
    fn new(stamp: Stamp, model: Box<dyn Deformable>) -> Self {
        Self {
            stamp,
            model,
            built_for: None,
            x: Vec::new(),
            v: Vec::new(),
            internal_state: Vec::new(),
            moved: [Vec::new(), Vec::new()],
            inner: Vec::new(),
            force: Vec::new(),
        }
    }

    /// Builds the operator at this state, unless it is the one of before.
    fn build(&mut self, body: BodyRef<'_>, built_for: (Real, bool, bool)) {
        let same = self.x == body.x && self.v == body.v && self.internal_state == body.internal_state;
        if same && self.built_for == Some(built_for) {
            return;
        }
        self.built_for = Some(built_for);
        let [moved_x, moved_v] = &mut self.moved;
        for (to, from) in [(&mut self.x, body.x), (&mut self.v, body.v), (moved_x, body.x), (moved_v, body.v)] {
            to.clear();
            to.extend_from_slice(from);
        }
        for to in [&mut self.internal_state, &mut self.inner] {
            to.clear();
            to.extend_from_slice(body.internal_state);
        }
        self.force.clear();
        self.force.resize(body.x.len(), Vec3::ZERO);
        let (h, lanes, resolve) = built_for;
        self.model.refresh(body);
        self.model.set_implicit(true);
        let context = StepContext { h, substep: 0, last: true, lanes, resolve, pool: None };
        let [x, v] = &mut self.moved;
        self.model.predict(&context, BodyMut { x, v, force: &self.force, internal_state: &mut self.inner });
    }
}

/// True for a body that a force can move.
fn moves(now: Present<'_>, slot: u32) -> bool {
    if now.state.is_frozen(slot as usize) {
        return false;
    }
    match now.model.bodies.at(slot) {
        Some(Body::Rigid(rigid)) => rigid.is_dynamic(),
        Some(Body::Nodes(_)) => true,
        None => false,
    }
}

/// True for a contact of rows that transmitted a force in the last step.
fn pushed(m: &ContactMemory) -> bool {
    m.has(contact_flag::TOUCHING) && !m.has(contact_flag::SENSOR) && !m.has(contact_flag::CLASSIC)
}

/// From impulses in State, which are those of a substep, to those of the time of a query.
fn step_scale(state: &State, time: Real) -> Real {
    if state.h > 0.0 { time / state.h } else { 1.0 }
}

/// True for a row that holds now, with its last impulse and its bias at the present velocities: one without bounds, or
/// one inside its bounds. A row that acts to one side only must also be as good as closed: it is open when its last
/// impulse could not close it within the time, against the masses of its blocks alone.
fn acts(rows: &RowBuffer, id: RowId, velocity: &[Block]) -> bool {
    let row = &rows.rows()[id as usize];
    let (low, high) = match row.bounds {
        Bounds::AtLeast(low) => (low, Real::INFINITY),
        Bounds::Between { low, high } => (low, high),
        Bounds::Free | Bounds::Disc { .. } | Bounds::Mate => return true,
    };
    if !(row.impulse > low && row.impulse < high) {
        return false;
    }
    if low < 0.0 && high > 0.0 {
        return true;
    }
    let opening = rows.relative_velocity(id, velocity) + row.bias;
    let closing = (row.diagonal - row.softness) * row.impulse;
    if low >= 0.0 { opening <= closing } else { opening >= closing }
}

/// From the centre of mass to a point of a rigid body, world axes [m].
fn arm(blocks: &BodyWork, slot: u32, local: Vec3) -> Vec3 {
    quat(blocks.pose[2 * slot as usize + 1]) * local
}

/// The local number of a block; a block of no member gets one behind theirs.
fn local_index(local: &mut [u32], global: &mut Vec<u32>, block: u32) -> u32 {
    let at = &mut local[block as usize];
    if *at == u32::MAX {
        *at = global.len() as u32;
        global.push(block);
    }
    *at
}
