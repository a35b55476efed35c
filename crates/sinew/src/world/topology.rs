//! Edits of the topology of a soft body while the world runs.

use super::follow::Names;
use super::{World, edit};
use crate::collision::surface::feature;
use crate::constraint::Site;
use crate::deformable::spring::MassSpring;
use crate::error::Error;
use crate::math::Vec3;
use crate::model::load::{Load, LoadTarget};
use crate::model::topology::{Edited, LostConstraints, Origin, edited, remap};
use crate::model::{
    Body, BodyId, Geometry, NewNode, NodeSource, Nodes, Remap, SoftBody, SoftModel, Start, TopologyEdit,
};
use crate::report::Event;
use crate::state::{ClothContactMemory, contact_flag};

/// What an edit of the topology changed.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let block = TetMesh::block([2, 1, 1], Vec3::ONE)?;
/// let body = world.add_soft(SoftBody::corotational(block, ElasticMaterial::jelly()))?;
/// let anchor = world.add_attachment(Attachment::anchor(Site::Node { body, node: 11 }, None))?;
/// // the second cell is removed, and the anchor of one of its nodes with it
/// let change: TopologyChange = world.edit_topology(body, &TopologyEdit::new().remove(6..12))?;
/// assert_eq!(change.remap.nodes[11], None);
/// assert_eq!(change.constraints.removed, [anchor]);
/// // viewers get the new numbers with the next report
/// let told = world.step(&Input::none()).events.iter().any(|e| matches!(e, Event::TopologyChanged { topology: 1, .. }));
/// assert!(told);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyChange {
    /// New numbers by old ones.
    pub remap: Remap,
    /// Constraints that were removed or reduced.
    pub constraints: LostConstraints,
    /// Loads of which no triangle and no node remains, by their index before the edit: removed.
    pub loads: Vec<u32>,
}

impl World {
    /// Appends, removes and renumbers nodes and elements of a soft body of tetrahedra or triangles, or of a rope, see
    /// [`TopologyEdit`]. Nodes that remain keep position, velocity and pin; masses and surface follow from the elements.
    /// Nodes without elements are removed. Constraints, loads, contact memory, plastic strain and stretch of dashpots
    /// follow the new numbers, and rows that remain keep their impulses. A load acts on what remains of its triangles,
    /// not on new ones. The body and its neighbours wake up; its id is the same, its topology number is incremented, and
    /// the next report has [`Event::TopologyChanged`]. On an error the world is unchanged. An edit that changes nothing
    /// keeps every bit, the topology number too.
    ///
    /// A snapshot taken before the edit is refused by [`World::restore`]: its numbers are others. A save contains the
    /// edited body. Edits are made between steps; they are not commands, so that a recording does not contain them.
    pub fn edit_topology(&mut self, id: BodyId, edit: &TopologyEdit) -> Result<TopologyChange, Error> {
        let old = self.soft_nodes(id)?;
        let NodeSource::Soft(source) = &old.source else {
            return Err(Error::WrongKind(id, "set of particles", "soft body"));
        };
        let who = if source.name.is_empty() { format!("{id:?}") } else { format!("soft body '{}'", source.name) };
        if self.state.is_frozen(id.index as usize) {
            let (model, reason) = (source.model.name().to_owned(), "it is frozen after a fault".to_owned());
            return Err(Error::BadTopology { body: who, model, reason });
        }
        let pinned: Vec<bool> = old.inv_mass.iter().map(|&m| m == 0.0).collect();
        let mut done = edited(&who, source, &pinned, edit)?;
        if done.same {
            let remap = remap(&done, (source, &old.surface), &old.surface);
            return Ok(TopologyChange { remap, constraints: LostConstraints::default(), loads: Vec::new() });
        }
        // loads name triangles of the new surface, which is built first
        done.source.loads.clear();
        let (mut new, mut start) = Nodes::of_soft(done.source.clone(), old.start, old.internal_state_start)?;
        new.topology = old.topology.wrapping_add(1);
        new.surface_topology = new.topology;
        let remap = remap(&done, (source, &old.surface), &new.surface);
        let loads = follow_loads(LoadTarget::of(source, old), &source.loads, &remap, &mut new);
        self.fill(old, &done, edit, &mut start);
        let memory = &self.state.internal_state[old.internal_state_span()];
        // springs have one number each
        let per_element = (old.internal_state_count as usize).div_ceil(done.elements.len().max(1));
        for (to, from) in start.internal_state.iter_mut().zip(memory_origin(source, &done, edit, per_element)) {
            if let Some(&value) = from.and_then(|from| memory.get(from)) {
                *to = value;
            }
        }
        let constraints = self.replace_nodes(id, id, (new, start), &remap, None);
        self.state.set_topology(id.index, self.model.stamp(id.index).topology);
        self.tell_topology(id, done.element_origin.len());
        Ok(TopologyChange { remap, constraints, loads })
    }

    /// A soft body, or the reason why it is none.
    pub(super) fn soft_nodes(&self, id: BodyId) -> Result<&Nodes, Error> {
        match self.model.body(id)? {
            Body::Rigid(_) => Err(Error::WrongKind(id, "rigid body", "soft body")),
            Body::Nodes(nodes) if nodes.is_soft() => Ok(nodes),
            Body::Nodes(_) => Err(Error::WrongKind(id, "set of particles", "soft body")),
        }
    }

    /// Puts other nodes in the place of those of a body, under the same slot, with all that names them. `new_site`: the
    /// new site of a site that the map does not have.
    pub(super) fn replace_nodes(
        &mut self,
        old_id: BodyId,
        id: BodyId,
        (new, start): (Nodes, Start),
        remap: &Remap,
        new_site: Option<&dyn Fn(Site) -> Option<Site>>,
    ) -> LostConstraints {
        let Some(Body::Nodes(old)) = self.model.bodies.at_mut(id.index) else { return LostConstraints::default() };
        let old_surface = old.surface.clone();
        let old_edges = std::mem::take(&mut old.cells.edges);
        self.swap_nodes(id, new, start);
        self.follow_contacts(id, remap, &old_edges);
        self.follow_constraints((old_id, id), remap, &old_surface, new_site)
    }

    /// Announces the present topology of a body in the next report.
    pub(super) fn tell_topology(&mut self, body: BodyId, elements: usize) {
        let Some(nodes) = self.model.nodes_at(body.index) else { return };
        let (topology, count) = (nodes.topology, nodes.inv_mass.len() as u32);
        let (elements, cells) = (elements as u32, nodes.cells.corners.len() as u32);
        let event = Event::TopologyChanged { body, topology, nodes: count, elements, cells };
        self.work.output.announced.push(event);
    }

    /// Positions and velocities of what remains.
    fn fill(&self, old: &Nodes, done: &Edited, edit: &TopologyEdit, start: &mut Start) {
        let (x, v) = (&self.state.node_x[old.span()], &self.state.node_v[old.span()]);
        for (k, origin) in done.origin.iter().enumerate() {
            (start.positions[k], start.velocities[k]) = match *origin {
                Origin::Old(n) => (x[n as usize], v[n as usize]),
                Origin::New(n) => match edit.nodes[n as usize] {
                    NewNode::Copy(n) => (x[n as usize], v[n as usize]),
                    NewNode::At { position, velocity, .. } => (position, velocity),
                },
            };
        }
    }

    /// Puts the nodes in the place of the old ones. Ranges of other bodies move.
    fn swap_nodes(&mut self, id: BodyId, new: Nodes, start: Start) {
        let (model, state) = (&mut self.model, &mut self.state);
        let Some(Body::Nodes(old)) = model.bodies.at_mut(id.index) else { return };
        let (span, inner, first) = (old.room_span(), old.internal_state_span(), old.start);
        let (count, inner_count) = (new.room as usize, new.internal_state_count as usize);
        let spare = std::iter::repeat_n(Vec3::ZERO, count - new.inv_mass.len());
        **old = new;
        state.node_x.splice(span.clone(), start.positions.into_iter().chain(spare.clone()));
        state.node_v.splice(span.clone(), start.velocities.into_iter().chain(spare));
        state.internal_state.splice(inner.clone(), start.internal_state);
        model.node_count = model.node_count - span.len() + count;
        model.internal_state_count = model.internal_state_count - inner.len() + inner_count;
        for slot in 0..model.bodies.slot_count() as u32 {
            if let Some(Body::Nodes(n)) = model.bodies.at_mut(slot)
                && n.start > first
            {
                n.start = n.start - span.len() as u32 + count as u32;
                n.internal_state_start = n.internal_state_start - inner.len() as u32 + inner_count as u32;
            }
        }
        model.revision += 1;
    }

    /// Contact memory under the new numbers; that of features which are gone is dropped. Bodies in contact wake up.
    pub(super) fn follow_contacts(&mut self, id: BodyId, remap: &Remap, old_edges: &[[u32; 2]]) {
        let Some(nodes) = self.model.nodes_at(id.index) else { return };
        let slot = id.index;
        let mut touched = vec![slot];
        let moved = |kind: u32, number: u32, w: Vec3| -> Option<(u32, Vec3)> {
            match kind {
                feature::VERTEX => Some(((*remap.surfels.get(number as usize)?)?, w)),
                feature::EDGE => {
                    let [a, b] = *old_edges.get(number as usize)?;
                    let [a, b] = [(*remap.surfels.get(a as usize)?)?, (*remap.surfels.get(b as usize)?)?];
                    let edge = nodes.cells.edges.binary_search(&[a.min(b), a.max(b)]).ok()? as u32;
                    Some((edge, if a < b { w } else { Vec3::new(w.y, w.x, w.z) }))
                }
                _ => {
                    let cell = (*remap.cells.get(number as usize)?)?;
                    Some((cell, Vec3::from_array(remap.turned(number, w.to_array()))))
                }
            }
        };
        self.state.contacts.retain_mut(|m| {
            if m.key.a != slot && m.key.b != slot {
                return true;
            }
            touched.extend([m.key.a, m.key.b]);
            if m.key.b == slot && m.has(contact_flag::NODE) {
                let Some(to) = moved(m.key.collider_b, m.key.sub_b, m.points[0].local_b) else { return false };
                (m.key.sub_b, m.points[0].local_b) = to;
            }
            if m.key.a == slot && m.has(contact_flag::SURFACE) {
                let Some(to) = moved(m.key.collider_a, m.key.sub_a, m.points[0].local_a) else { return false };
                (m.key.sub_a, m.points[0].local_a) = to;
            }
            true
        });
        self.state.contacts.sort_by_key(|m| m.key);
        self.state.cloth_contacts.retain_mut(|g| {
            if g.sheet != slot {
                return true;
            }
            touched.push(g.body);
            let to = remap.nodes.get(g.node as usize).copied().flatten();
            g.node = to.unwrap_or(g.node);
            to.is_some()
        });
        self.state.cloth_contacts.sort_by_key(ClothContactMemory::key);
        edit::wake(&mut self.state, &touched);
    }

    pub(super) fn follow_constraints(
        &mut self,
        (old_id, id): (BodyId, BodyId),
        remap: &Remap,
        old: &crate::Surface,
        new_site: Option<&dyn Fn(Site) -> Option<Site>>,
    ) -> LostConstraints {
        let Some(nodes) = self.model.nodes_at(id.index) else { return LostConstraints::default() };
        let after = nodes.surface.triangles().to_vec();
        let known = |site: Site| -> Option<Site> {
            Some(match site {
                Site::Node { node, .. } => Site::Node { body: id, node: (*remap.nodes.get(node as usize)?)? },
                Site::Surfel { surfel, .. } => {
                    Site::Surfel { body: id, surfel: (*remap.surfels.get(surfel as usize)?)? }
                }
                Site::Face { triangle, weights, .. } => {
                    let cell = (*remap.cells.get(triangle as usize)?)?;
                    Site::Face { body: id, triangle: cell, weights: remap.turned(triangle, weights) }
                }
                other => other,
            })
        };
        let site = |site: Site| known(site).or_else(|| new_site.and_then(|find| find(site)));
        let alone = |s: u32| match old.shares(s) {
            [share] => Some(share.node),
            _ => None,
        };
        let single: Vec<Option<u32>> = (0..old.len() as u32).map(alone).collect();
        let names = Names {
            old: old_id,
            new: id,
            nodes: &remap.nodes,
            surfels: &remap.surfels,
            site: &site,
            surface: [old.triangles(), &after],
            single: &single,
        };
        let mut touched = Vec::new();
        for (_, constraint) in self.model.constraints.iter() {
            let mut slots = Vec::new();
            constraint.slots(|s| slots.push(s));
            if slots.contains(&id.index) {
                touched.extend(slots);
            }
        }
        edit::wake(&mut self.state, &touched);
        self.follow(&names, remap)
    }
}

/// Puts loads on what remains of their triangles. Returns those of which nothing remains. `before`: the surface that they
/// were on.
pub(super) fn follow_loads(before: LoadTarget<'_>, loads: &[Load], remap: &Remap, new: &mut Nodes) -> Vec<u32> {
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    for (k, load) in loads.iter().enumerate() {
        let triangles = before.triangles(load).unwrap_or_default();
        let moved = match triangles.is_empty() {
            true => load.clone(),
            false => {
                let faces = triangles.iter().filter_map(|&t| remap.cells.get(t as usize).copied().flatten()).collect();
                Load { region: None, faces, ..load.clone() }
            }
        };
        // a load without a triangle is on the nodes in its region
        match new.set_loads(vec![moved.clone()]) {
            Ok(()) => kept.push(moved),
            Err(_) => lost.push(k as u32),
        }
    }
    // each of them was accepted alone
    let _ = new.set_loads(kept);
    lost
}

/// The old place of each number of the internal state, none for that of appended elements.
fn memory_origin(source: &SoftBody, done: &Edited, edit: &TopologyEdit, each: usize) -> Vec<Option<usize>> {
    match &source.model {
        SoftModel::Solid(_) => {
            let of = |from: &Option<u32>| {
                let from = from.map(|e| e as usize);
                (0..each).map(move |k| from.map(|e| e * each + k))
            };
            done.element_origin.iter().flat_map(of).collect()
        }
        SoftModel::Springs(_) if each > 0 => {
            let before = spring_ends(source);
            let mut places: Vec<([u32; 2], usize)> = before.iter().copied().zip(0..).collect();
            places.sort_unstable();
            let old = |n: u32| match done.origin[n as usize] {
                Origin::Old(n) => Some(n),
                Origin::New(n) => match edit.nodes[n as usize] {
                    NewNode::Copy(n) => Some(n),
                    NewNode::At { .. } => None,
                },
            };
            let of = |ends: &[u32; 2]| {
                let [a, b] = [old(ends[0])?, old(ends[1])?];
                let key = [a.min(b), a.max(b)];
                let at = places.partition_point(|p| p.0 < key);
                places.get(at).filter(|p| p.0 == key).map(|p| p.1)
            };
            spring_ends(&done.source).iter().map(of).collect()
        }
        _ => Vec::new(),
    }
}

/// Ends of the springs of a body, the smaller number first, in the order of their memory.
fn spring_ends(source: &SoftBody) -> Vec<[u32; 2]> {
    let SoftModel::Springs(p) = &source.model else { return Vec::new() };
    let built = match &source.geometry {
        Geometry::Tets(mesh) => MassSpring::from_tets(mesh, p),
        Geometry::Sheet(mesh) => MassSpring::from_triangles(mesh, p),
        Geometry::Rope(points) => MassSpring::from_rope(points, p),
        Geometry::Points(_) => return Vec::new(),
    };
    built.map(|m| m.springs().iter().map(|s| s.nodes).collect()).unwrap_or_default()
}
