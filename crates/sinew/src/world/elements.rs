//! Edits of elements in place, within the reserve of a body.
//!
//! The description of the body, its model, masses and State are changed where they are, in the numbering of
//! `model/topology.rs`: appended items last, gaps filled from the end. Each is the same function of the new mesh that
//! building the body computes, so that an edit in place and a rebuild have the same bits, and a save continues with them.
//! The surface costs time proportional to its size and is updated by a call of its own; until then it is held.

use super::World;
use super::topology::{TopologyChange, follow_loads};
use crate::deformable::Deformable;
use crate::deformable::reserved::{ElementPatch, Reserved};
use crate::error::{Error, weighable};
use crate::math::{Real, Vec3};
use crate::model::load::LoadTarget;
use crate::model::surface::Surface;
use crate::model::topology::{LostConstraints, check_element, check_fill};
use crate::model::{
    Body, BodyId, Geometry, HeldFace, Model, NewNode, NodeSource, Nodes, Remap, SoftBody, TopologyEdit,
};
use crate::state::{State, flag};

/// What an edit of elements in place renumbered. It is made once and used for every edit, because it keeps its memory.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let block = TetMesh::block([2, 1, 1], Vec3::new(0.2, 0.1, 0.1))?;
/// let body = world.add(SoftBody::corotational(block, ElasticMaterial::jelly()).with_reserve(8, 8))?;
/// let mut delta = TopologyDelta::default();
/// world.edit_elements(body, &TopologyEdit::new().fill(0, 0.5), &mut delta)?;
/// assert_eq!(delta.topology, 1);
/// assert_eq!(delta.before, delta.after);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct TopologyDelta {
    /// Topology number of the body.
    pub topology: u32,
    /// Numbers of nodes and elements before the edit.
    pub before: [u32; 2],
    /// Numbers of nodes and elements after it.
    pub after: [u32; 2],
    /// Old nodes with another number, or none, ascending.
    pub nodes: Vec<(u32, Option<u32>)>,
    /// Old elements with another number, or none, ascending.
    pub elements: Vec<(u32, Option<u32>)>,
    /// What became of points and triangles of the surface, constraints and loads, when nodes were removed or the body was
    /// built again: the surface was updated then. None: it is held, see [`World::update_surface`].
    pub surface: Option<TopologyChange>,
    scratch: Scratch,
}

/// Lists of an edit.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Elements with other corners, by their number before removals.
    writes: Vec<(u32, [u32; 4])>,
    written: Vec<(u32, [u32; 4])>,
    order: Vec<(u32, u32)>,
    removed: Vec<u32>,
    /// Nodes that lost an element.
    losers: Vec<u32>,
    /// Elements and nodes of the patch.
    dirty: Vec<u32>,
    dirty_nodes: Vec<u32>,
    /// (from, to) of items that fill gaps.
    moves: Vec<(u32, u32)>,
    used: Vec<bool>,
}

impl TopologyDelta {
    /// The full map of nodes and elements, for [`Rows::follow`](crate::Rows::follow) and others that want it; of an
    /// updated surface too.
    pub fn remap(&self) -> Remap {
        let full = |count: u32, changed: &[(u32, Option<u32>)]| {
            let mut map: Vec<Option<u32>> = (0..count).map(Some).collect();
            changed.iter().for_each(|&(from, to)| map[from as usize] = to);
            map
        };
        let surface = self.surface.as_ref().map(|s| s.remap.clone()).unwrap_or_default();
        let (nodes, elements) = (full(self.before[0], &self.nodes), full(self.before[1], &self.elements));
        Remap { nodes, elements, ..surface }
    }

    /// True when every old number of a node and element remains valid.
    pub fn is_identity(&self) -> bool {
        self.nodes.is_empty() && self.elements.is_empty()
    }
}

/// The moves that fill the gaps of a list of `count` items, ascending `removed`, from its end.
fn fill_gaps(count: usize, removed: &[u32], moves: &mut Vec<(u32, u32)>) {
    moves.clear();
    let kept = count - removed.len();
    let inside = removed.partition_point(|&r| (r as usize) < kept);
    let mut behind = removed[inside..].iter().rev().peekable();
    let mut last = count as u32;
    for &gap in &removed[..inside] {
        last -= 1;
        while behind.next_if(|&&r| r == last).is_some() {
            last -= 1;
        }
        moves.push((last, gap));
    }
}

/// Old items with another number: those removed, and those that moved.
fn changed(before: u32, removed: &[u32], moves: &[(u32, u32)], out: &mut Vec<(u32, Option<u32>)>) {
    out.clear();
    out.extend(removed.iter().filter(|&&r| r < before).map(|&r| (r, None)));
    out.extend(moves.iter().filter(|m| m.0 < before).map(|&(from, to)| (from, Some(to))));
    out.sort_unstable();
}

impl World {
    /// Changes nodes and elements of a soft body with a reserve ([`SoftBody::with_reserve`]) in place: the cost is
    /// proportional to the edit, and nothing is allocated once `delta` and the lists of the edit have their size. Masses,
    /// stiffness and numbers are those of [`World::edit_topology`], bit by bit.
    ///
    /// The surface is *held*: contacts, loads on triangles and views keep the triangles that it had, over nodes that
    /// remain, until [`World::update_surface`]. When an edit removes nodes it is updated at once, with all that follows it.
    /// An edit beyond the reserve is an error, or builds the body again if [`Reserve::grows`](crate::Reserve::grows);
    /// so does an edit with an order of its own.
    ///
    /// On an error the world is unchanged.
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Error> {
    /// let mut world = World::default();
    /// let block = TetMesh::block([2, 1, 1], Vec3::new(0.2, 0.1, 0.1))?;
    /// let body = SoftBody::corotational(block, ElasticMaterial::jelly()).with_reserve(8, 8);
    /// let body = world.add_soft(body)?;
    /// let mass = world.body(body)?.mass();
    /// let corners = match &world.blueprint()?.bodies[0].item {
    ///     Some(BodySpec::Soft(soft)) => match &soft.geometry {
    ///         Geometry::Tets(mesh) => mesh.tets[0],
    ///         _ => unreachable!(),
    ///     },
    ///     _ => unreachable!(),
    /// };
    /// // a blade cuts off the first corner of element 0: a copy of the element, with a copy of that node, has 40 % of it
    /// let copy = [12, corners[1], corners[2], corners[3]];
    /// let edit = TopologyEdit::new().node(NewNode::Copy(corners[0])).append(&copy).fill(0, 0.6).fill(12, 0.4);
    /// let mut delta = TopologyDelta::default();
    /// world.edit_elements(body, &edit, &mut delta)?;
    /// assert_eq!((delta.after, delta.is_identity()), ([13, 13], true));
    /// assert!((world.body(body)?.mass() - mass).abs() < 1e-6 * mass);
    /// world.step(&Input::none());
    /// # Ok(()) }
    /// ```
    pub fn edit_elements(&mut self, id: BodyId, edit: &TopologyEdit, delta: &mut TopologyDelta) -> Result<(), Error> {
        let nodes = self.soft_nodes(id)?;
        let NodeSource::Soft(source) = &nodes.source else {
            return Err(Error::WrongKind(id, "set of particles", "soft body"));
        };
        let refuse = |reason: String| {
            let name = &source.name;
            let body = if name.is_empty() { format!("{id:?}") } else { format!("soft body '{name}'") };
            Err(Error::BadTopology { body, model: source.model.name().to_owned(), reason })
        };
        if self.state.is_frozen(id.index as usize) {
            return refuse("it is frozen after a fault".to_owned());
        }
        let before = [source.geometry.nodes().len() as u32, source.geometry.element_count() as u32];
        (delta.before, delta.after, delta.topology, delta.surface) = (before, before, nodes.topology, None);
        delta.nodes.clear();
        delta.elements.clear();
        let peak = [before[0] as usize + edit.nodes.len(), before[1] as usize + edit.appended.len()];
        let Some(reserve) = &source.reserve else {
            return refuse("it has no reserve: take World::edit_topology, or SoftBody::with_reserve".to_owned());
        };
        let room = [reserve.nodes as usize, reserve.elements as usize];
        let beyond = (0..2).any(|k| peak[k] > room[k]);
        if beyond && !reserve.grows {
            return refuse(format!(
                "the edit needs {} nodes and {} elements, its reserve has {} and {}: make it larger \
                 (SoftBody::with_reserve), or let it grow (Reserve::grows)",
                peak[0], peak[1], room[0], room[1]
            ));
        }
        if beyond || !(edit.node_order.is_empty() && edit.element_order.is_empty()) {
            return self.rebuild_elements(id, edit, delta, if beyond { peak } else { [0; 2] });
        }
        if let Err(reason) = check(source, edit, &mut delta.scratch) {
            return refuse(reason);
        }
        if edit.nodes.is_empty() && delta.scratch.is_empty(edit, source) {
            return Ok(());
        }
        self.apply_elements(id, edit, delta);
        Ok(())
    }

    /// By building the body again, with this reserve if it is larger.
    fn rebuild_elements(
        &mut self,
        id: BodyId,
        edit: &TopologyEdit,
        delta: &mut TopologyDelta,
        peak: [usize; 2],
    ) -> Result<(), Error> {
        let slot = id.index;
        let set = |world: &mut Self, room: [u32; 2]| -> [u32; 2] {
            let Some(Body::Nodes(nodes)) = world.model.bodies.at_mut(slot) else { return room };
            let NodeSource::Soft(source) = &mut nodes.source else { return room };
            let Some(reserve) = &mut source.reserve else { return room };
            [std::mem::replace(&mut reserve.nodes, room[0]), std::mem::replace(&mut reserve.elements, room[1])]
        };
        let old = match self.model.nodes_at(slot).map(|n| &n.source) {
            Some(NodeSource::Soft(source)) => source.reserve.as_ref().map_or([0; 2], |r| [r.nodes, r.elements]),
            _ => [0; 2],
        };
        let larger = [0, 1].map(|k| if peak[k] > old[k] as usize { (2 * peak[k]) as u32 } else { old[k] });
        set(self, larger);
        let done = self.edit_topology(id, edit);
        let change = match done {
            Ok(change) => change,
            Err(error) => {
                set(self, old);
                return Err(error);
            }
        };
        let moved = |map: &[Option<u32>], out: &mut Vec<(u32, Option<u32>)>| {
            let changed = map.iter().enumerate().filter(|(k, to)| **to != Some(*k as u32));
            out.extend(changed.map(|(k, to)| (k as u32, *to)));
        };
        moved(&change.remap.nodes, &mut delta.nodes);
        moved(&change.remap.elements, &mut delta.elements);
        delta.surface = Some(change);
        self.count_elements(id, delta);
        Ok(())
    }

    fn count_elements(&self, id: BodyId, delta: &mut TopologyDelta) {
        let Some(nodes) = self.model.nodes_at(id.index) else { return };
        let elements = match &nodes.source {
            NodeSource::Soft(source) => source.geometry.element_count(),
            NodeSource::Particles(_) => 0,
        };
        (delta.topology, delta.after) = (nodes.topology, [nodes.inv_mass.len() as u32, elements as u32]);
    }

    /// Makes an edit that was checked.
    fn apply_elements(&mut self, id: BodyId, edit: &TopologyEdit, delta: &mut TopologyDelta) {
        let slot = id.index;
        let stamp = self.model.stamp(slot);
        let Some(Body::Nodes(nodes)) = self.model.bodies.at_mut(slot) else { return };
        let mut held = self.work.soft.models.get_mut(slot as usize).and_then(Option::as_mut);
        let running = held.as_ref().is_some_and(|h| h.stamp == stamp) && nodes.fresh.is_none();
        let mut fresh = if running { None } else { nodes.fresh.take().or_else(|| nodes.rebuild()) };
        let model = match (&mut fresh, &mut held) {
            (Some(fresh), _) => Some(fresh.as_mut()),
            (None, Some(held)) => Some(held.model.as_mut()),
            _ => None,
        };
        let Some(model) = model else { return };
        let pins = nodes.pinned_count();
        hold_surface(nodes);
        edit_body(nodes, model, &mut self.state, edit, delta);
        nodes.topology = nodes.topology.wrapping_add(1);
        let (topology, loaded, repinned) = (nodes.topology, nodes.has_node_loads(), pins != nodes.pinned_count());
        match (running, held) {
            (true, Some(held)) => held.stamp.topology = topology,
            _ => nodes.fresh = fresh,
        }
        if loaded {
            nodes.follow_node_loads();
        }
        // whether enough nodes are pinned for the system to be regular
        self.work.soft.stale |= repinned;
        self.state.set_topology(slot, topology);
        self.model.element_revision += 1;
        self.work.detect.revision = None;
        self.work.output.ledger.mark = None;
        wake_around(&mut self.state, &self.model, slot);
        self.count_elements(id, delta);
        if !delta.nodes.is_empty() {
            delta.surface = Some(self.renew_surface(id, &delta.remap()));
            delta.topology = self.model.stamp(slot).topology;
        }
    }

    /// Makes the surface of a body the boundary of its elements again, after edits in place that held it: its points and
    /// triangles get new numbers, and contacts, loads and constraints follow them as in [`World::edit_topology`]. The cost
    /// is proportional to the body. A surface that is not held is unchanged.
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Error> {
    /// let mut world = World::default();
    /// let block = TetMesh::block([2, 1, 1], Vec3::new(0.2, 0.1, 0.1))?;
    /// let body = world.add_soft(SoftBody::corotational(block, ElasticMaterial::jelly()).with_reserve(8, 8))?;
    /// let triangles = |world: &World| world.body(body).map(|b| b.surface().map_or(0, |s| s.triangles().len()));
    /// assert_eq!(triangles(&world)?, 20);
    /// // one element loses its connection with its neighbours: three inner faces open on both sides
    /// let mut edit = TopologyEdit::new().corners(0, &[12, 14, 13, 15]);
    /// # let Some(BodySpec::Soft(soft)) = world.blueprint()?.bodies[0].item.clone() else { unreachable!() };
    /// # let Geometry::Tets(mesh) = &soft.geometry else { unreachable!() };
    /// # edit.corners[0] = (0, Corners::from(&[12, 13, 14, 15]));
    /// edit.nodes.extend(mesh.tets[0].map(NewNode::Copy));
    /// world.edit_elements(body, &edit, &mut TopologyDelta::default())?;
    /// assert_eq!(triangles(&world)?, 20);
    /// world.update_surface(body)?;
    /// assert_eq!(triangles(&world)?, 26);
    /// # Ok(()) }
    /// ```
    pub fn update_surface(&mut self, id: BodyId) -> Result<TopologyChange, Error> {
        let nodes = self.soft_nodes(id)?;
        let counts = match &nodes.source {
            NodeSource::Soft(source) => [source.geometry.nodes().len(), source.geometry.element_count()],
            NodeSource::Particles(_) => [0; 2],
        };
        let same = |count: usize| (0..count as u32).map(Some).collect();
        let map = Remap { nodes: same(counts[0]), elements: same(counts[1]), ..Remap::default() };
        if nodes.is_surface_held() {
            return Ok(self.renew_surface(id, &map));
        }
        let (surfels, cells) = (same(nodes.surface.len()), same(nodes.surface.triangles().len()));
        let remap = Remap { surfels, cells, ..map };
        Ok(TopologyChange { remap, constraints: LostConstraints::default(), loads: Vec::new() })
    }

    /// The boundary of the elements as the surface of a body, and what follows it. `map`: nodes and elements since the
    /// surface was last in step with them.
    fn renew_surface(&mut self, id: BodyId, map: &Remap) -> TopologyChange {
        let slot = id.index;
        let stamp = self.model.stamp(slot);
        let Some(Body::Nodes(nodes)) = self.model.bodies.at_mut(slot) else { return TopologyChange::default() };
        let NodeSource::Soft(source) = &mut nodes.source else { return TopologyChange::default() };
        let (Geometry::Tets(mesh), Some(reserve)) = (&source.geometry, &mut source.reserve) else {
            return TopologyChange::default();
        };
        reserve.faces.clear();
        let sides = mesh.boundary_sides();
        let faces = sides.iter().map(|&side| mesh.side(side)).collect();
        let surface = Surface::enclosing(mesh.vertices.len(), faces);
        let elements = mesh.tets.len();
        // points by their node, triangles by the side of their element
        let mut surfel_of = vec![None; mesh.vertices.len()];
        (0..surface.len() as u32).for_each(|s| surfel_of[surface.shares(s)[0].node as usize] = Some(s));
        let point = |s: u32| map.nodes[nodes.surface.shares(s)[0].node as usize].and_then(|n| surfel_of[n as usize]);
        let cell = |side: &u32| sides.binary_search(side).ok().map(|to| (to as u32, [0, 1, 2]));
        let remap = Remap { surfels: (0..nodes.surface.len() as u32).map(point).collect(), ..map.clone() };
        let remap = remap.with_cells(nodes.sides.iter().map(cell));

        let (source, loads) = (source.clone(), source.loads.clone());
        let old_surface = std::mem::replace(&mut nodes.surface, surface);
        let mut rest = Vec::new();
        nodes.surface.positions(source.geometry.nodes(), &mut rest);
        let old_rest = std::mem::replace(&mut nodes.rest, rest);
        let old_cells = std::mem::replace(&mut *nodes.cells, nodes.surface.cells());
        nodes.measure_edges();
        nodes.sides = sides;
        nodes.topology = nodes.topology.wrapping_add(1);
        nodes.surface_topology = nodes.topology;
        let topology = nodes.topology;
        let mass = nodes.mass.clone();
        let before = LoadTarget {
            surface: &old_surface,
            rest: source.geometry.nodes(),
            surfels: &old_rest,
            mass: &mass,
            quadratic: &[],
        };
        let loads = follow_loads(before, &loads, &remap, nodes);
        // the elements are the same
        if let Some(held) = self.work.soft.models.get_mut(slot as usize).and_then(Option::as_mut)
            && held.stamp == stamp
        {
            held.stamp.topology = topology;
        }
        self.state.set_topology(slot, topology);
        self.model.revision += 1;
        self.follow_contacts(id, &remap, &old_cells.edges);
        let constraints = self.follow_constraints((id, id), &remap, &old_surface, None);
        self.tell_topology(id, elements);
        TopologyChange { remap, constraints, loads }
    }
}

impl Scratch {
    /// Nothing changes. Elements whose corners and fill are as before are not written.
    fn is_empty(&mut self, edit: &TopologyEdit, source: &SoftBody) -> bool {
        let Geometry::Tets(mesh) = &source.geometry else { return true };
        let new_fill = |e: u32| edit.fill.iter().rev().find(|f| f.0 == e).map(|f| f.1);
        let same = |&(e, corners): &(u32, [u32; 4])| {
            let fill = source.fill.get(e as usize).copied();
            mesh.tets.get(e as usize) == Some(&corners) && new_fill(e).is_none_or(|new| fill == Some(new))
        };
        self.removed.is_empty() && self.writes.iter().all(same)
    }
}

/// Checks an edit and lists what it writes. Nothing is changed.
fn check(source: &SoftBody, edit: &TopologyEdit, scratch: &mut Scratch) -> Result<(), String> {
    let Geometry::Tets(mesh) = &source.geometry else { return Err("it has no tetrahedra".to_owned()) };
    let (old_nodes, old_elements) = (mesh.vertices.len(), mesh.tets.len());
    for (k, node) in edit.nodes.iter().enumerate() {
        match *node {
            NewNode::Copy(of) if of as usize >= old_nodes => {
                return Err(format!("nodes[{k}]: node {of} does not exist, the body has {old_nodes}"));
            }
            NewNode::At { rest, position, velocity }
                if !(rest.is_finite() && position.is_finite() && velocity.is_finite()) =>
            {
                return Err(format!("nodes[{k}] has a number that is not finite"));
            }
            _ => {}
        }
    }
    let (count, elements) = (old_nodes + edit.nodes.len(), old_elements + edit.appended.len());
    let rest = |n: u32| match (n as usize).checked_sub(old_nodes) {
        None => mesh.vertices[n as usize],
        Some(new) => match edit.nodes[new] {
            NewNode::Copy(of) => mesh.vertices[of as usize],
            NewNode::At { rest, .. } => rest,
        },
    };
    let Scratch { writes, written, order, removed, used, .. } = scratch;
    writes.clear();
    for (element, corners) in &edit.corners {
        if *element as usize >= old_elements {
            return Err(format!("element {element} does not exist, the body has {old_elements}"));
        }
        check_element(corners, 4, count, rest).map_err(|reason| format!("element {element}: {reason}"))?;
        writes.push((*element, std::array::from_fn(|k| corners[k])));
    }
    for (k, corners) in edit.appended.iter().enumerate() {
        check_element(corners, 4, count, rest).map_err(|reason| format!("appended element {corners:?}: {reason}"))?;
        writes.push(((old_elements + k) as u32, std::array::from_fn(|k| corners[k])));
    }
    for &(element, fraction) in &edit.fill {
        check_fill(element, fraction, elements)?;
        if (element as usize) < old_elements && !edit.corners.iter().any(|c| c.0 == element) {
            writes.push((element, mesh.tets[element as usize]));
        }
    }
    // of several changes of one element the last one counts
    order.clear();
    order.extend(writes.iter().zip(0..).map(|(w, k)| (w.0, u32::MAX - k)));
    order.sort_unstable();
    order.dedup_by_key(|o| o.0);
    written.clear();
    written.extend(order.iter().map(|o| writes[(u32::MAX - o.1) as usize]));
    std::mem::swap(writes, written);
    removed.clear();
    removed.extend_from_slice(&edit.removed);
    removed.sort_unstable();
    removed.dedup();
    if let Some(e) = removed.last().filter(|&&e| e as usize >= elements) {
        return Err(format!("element {e} does not exist, there are {elements}"));
    }
    if removed.len() == elements {
        return Err("no element would remain: remove the body instead".to_owned());
    }
    used.clear();
    used.resize(edit.nodes.len(), false);
    let density = source.reserve_density();
    for (element, corners) in writes.iter().filter(|w| removed.binary_search(&w.0).is_err()) {
        for new in corners.iter().filter_map(|&n| (n as usize).checked_sub(old_nodes)) {
            used[new] = true;
        }
        let fill = edit.fill.iter().rev().find(|f| f.0 == *element).map(|f| f.1);
        let fill = fill.or(source.fill.get(*element as usize).copied()).unwrap_or(1.0);
        let [a, b, c, d] = corners.map(rest);
        let mass = 0.25 * density * fill * (b - a).cross(c - a).dot(d - a) / 6.0;
        weighable("mass", mass).map_err(|e| format!("a quarter of element {element}: {e}"))?;
    }
    match used.iter().position(|u| !u) {
        Some(k) => Err(format!("nodes[{k}] is in no element, so that it has no mass")),
        None => Ok(()),
    }
}

/// Writes down the triangles of the surface, unless that is done: they stay while the elements change.
fn hold_surface(nodes: &mut Nodes) {
    let (surface, sides) = (&nodes.surface, &nodes.sides);
    let NodeSource::Soft(source) = &mut nodes.source else { return };
    let Some(reserve) = &mut source.reserve else { return };
    if reserve.faces.is_empty() {
        let node = |s: u32| surface.shares(s)[0].node;
        let held = |(corners, &side): (&[u32; 3], &u32)| HeldFace { nodes: corners.map(node), side };
        reserve.faces.extend(surface.triangles().iter().zip(sides).map(held));
    }
}

/// The nodes and elements of a body, its model and its part of State.
fn edit_body(
    nodes: &mut Nodes,
    model: &mut dyn Deformable,
    state: &mut State,
    edit: &TopologyEdit,
    delta: &mut TopologyDelta,
) {
    let first = nodes.start as usize;
    let NodeSource::Soft(source) = &mut nodes.source else { return };
    let SoftBody { geometry, fill, pinned, reserve, .. } = &mut **source;
    let (Geometry::Tets(mesh), Some(reserve)) = (geometry, reserve) else { return };
    let Scratch { writes, removed, losers, dirty, dirty_nodes, moves, .. } = &mut delta.scratch;

    // appended nodes
    for node in &edit.nodes {
        let to = mesh.vertices.len();
        let (rest, position, velocity, inverse) = match *node {
            NewNode::Copy(of) => {
                let of = of as usize;
                let (x, v) = (state.node_x[first + of], state.node_v[first + of]);
                (mesh.vertices[of], x, v, if nodes.inv_mass[of] == 0.0 { 0.0 } else { 1.0 })
            }
            NewNode::At { rest, position, velocity } => (rest, position, velocity, 1.0),
        };
        mesh.vertices.push(rest);
        (state.node_x[first + to], state.node_v[first + to]) = (position, velocity);
        nodes.mass.push(0.0);
        nodes.inv_mass.push(inverse);
        if inverse == 0.0 {
            pinned.push(to as u32);
        }
    }
    // changed and appended elements
    let elements = mesh.tets.len();
    losers.clear();
    dirty.clear();
    for &(element, corners) in writes.iter() {
        match mesh.tets.get_mut(element as usize) {
            Some(tet) => losers.extend(std::mem::replace(tet, corners)),
            None => {
                mesh.tets.push(corners);
                fill.push(1.0);
            }
        }
        dirty.push(element);
    }
    for &(element, fraction) in &edit.fill {
        fill[element as usize] = fraction;
    }
    // removed ones; the last ones fill the gaps
    let count = mesh.tets.len();
    fill_gaps(count, removed, moves);
    removed.iter().for_each(|&e| losers.extend(mesh.tets[e as usize]));
    for &(from, to) in moves.iter() {
        (mesh.tets[to as usize], fill[to as usize]) = (mesh.tets[from as usize], fill[from as usize]);
        dirty.push(to);
    }
    let kept = count - removed.len();
    mesh.tets.truncate(kept);
    fill.truncate(kept);
    dirty.retain(|&e| (e as usize) < kept);
    dirty.sort_unstable();
    dirty.dedup();
    changed(elements as u32, removed, moves, &mut delta.elements);
    for side in nodes.sides.iter_mut().filter(|_| !delta.elements.is_empty()) {
        if let Ok(at) = delta.elements.binary_search_by_key(&(*side / 4), |e| e.0) {
            *side = delta.elements[at].1.map_or(u32::MAX, |to| 4 * to + *side % 4);
        }
    }
    reserve.faces.iter_mut().zip(&nodes.sides).for_each(|(face, &side)| face.side = side);

    let Some(body) = model.reserved() else { return };
    dirty_nodes.clear();
    let patch = ElementPatch { rest: &mesh.vertices, tets: &mesh.tets, fill, elements: dirty, nodes: dirty_nodes };
    body.patch(&patch);
    weigh(&mut nodes.mass, &mut nodes.inv_mass, body);

    // nodes that no element has
    losers.sort_unstable();
    losers.dedup();
    losers.retain(|&n| {
        let mut free = true;
        body.around(n, &mut |_| free = false);
        free
    });
    if losers.is_empty() {
        nodes.total_mass = body.total_mass();
        return;
    }
    let count = mesh.vertices.len();
    fill_gaps(count, losers, moves);
    let old = count - edit.nodes.len();
    changed(old as u32, losers, moves, &mut delta.nodes);
    pinned.retain(|n| losers.binary_search(n).is_err());
    dirty.clear();
    for &(from, to) in moves.iter() {
        let (from_at, to_at) = (first + from as usize, first + to as usize);
        (state.node_x[to_at], state.node_v[to_at]) = (state.node_x[from_at], state.node_v[from_at]);
        let (from_k, to_k) = (from as usize, to as usize);
        mesh.vertices[to_k] = mesh.vertices[from_k];
        (nodes.mass[to_k], nodes.inv_mass[to_k]) = (nodes.mass[from_k], nodes.inv_mass[from_k]);
        pinned.iter_mut().filter(|n| **n == from).for_each(|n| *n = to);
        let tets = &mut mesh.tets;
        body.around(from, &mut |at| {
            tets[at as usize / 4][at as usize % 4] = to;
            dirty.push(at / 4);
        });
        dirty_nodes.push(to);
    }
    dirty.sort_unstable();
    dirty.dedup();
    let kept = count - losers.len();
    mesh.vertices.truncate(kept);
    nodes.mass.truncate(kept);
    nodes.inv_mass.truncate(kept);
    state.node_x[first + kept..first + count].fill(Vec3::ZERO);
    state.node_v[first + kept..first + count].fill(Vec3::ZERO);
    let patch = ElementPatch { rest: &mesh.vertices, tets: &mesh.tets, fill, elements: dirty, nodes: dirty_nodes };
    body.patch(&patch);
    weigh(&mut nodes.mass, &mut nodes.inv_mass, body);
    nodes.total_mass = body.total_mass();
    nodes.pinned = nodes.inv_mass.contains(&0.0);
}

/// Masses of the nodes that a patch weighed.
fn weigh(mass: &mut [Real], inverse: &mut [Real], body: &dyn Reserved) {
    let now = body.node_masses();
    for &node in body.weighed() {
        let n = node as usize;
        mass[n] = now[n];
        if inverse[n] != 0.0 {
            inverse[n] = 1.0 / now[n];
        }
    }
}

/// Wakes a body and all that touches it or is attached to it.
fn wake_around(state: &mut State, model: &Model, slot: u32) {
    let wake = |flags: &mut [u32], timer: &mut [Real], slot: u32| {
        flags[slot as usize] &= !flag::ASLEEP;
        timer[slot as usize] = 0.0;
    };
    let State { contacts, flags, sleep_timer, .. } = state;
    wake(flags, sleep_timer, slot);
    for key in contacts.iter().map(|m| m.key).filter(|k| k.a == slot || k.b == slot) {
        wake(flags, sleep_timer, key.a);
        wake(flags, sleep_timer, key.b);
    }
    for (_, constraint) in model.constraints.iter() {
        let mut named = false;
        constraint.slots(|s| named |= s == slot);
        if named {
            constraint.slots(|s| wake(flags, sleep_timer, s));
        }
    }
}
