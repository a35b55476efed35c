//! Edits of the topology of a soft body while the world runs.

use super::follow::{LostConstraints, Names};
use super::{World, edit};
use crate::collision::surface::feature;
use crate::constraint::Site;
use crate::error::Error;
use crate::math::Vec3;
use crate::model::topology::{Edited, Origin, edited, remap};
use crate::model::{Body, BodyId, NewNode, NodeSource, Nodes, Remap, Start, TopologyEdit};
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
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TopologyChange {
    /// New numbers by old ones.
    pub remap: Remap,
    /// Constraints that were removed or reduced.
    pub constraints: LostConstraints,
}

impl World {
    /// Appends, removes and renumbers nodes and elements of a soft body of tetrahedra or triangles, see
    /// [`TopologyEdit`]. Nodes that remain keep position, velocity and pin; masses and surface follow from the elements.
    /// Nodes without elements are removed. Constraints, contact memory and plastic strain follow the new numbers, and
    /// rows that remain keep their impulses. The body and its neighbours wake up; its id is the same, its topology
    /// number is incremented. On an error the world is unchanged.
    ///
    /// The columns of the state are compacted: a snapshot taken before an edit that changes counts is refused by
    /// `restore`. Edits are made between steps; they are not commands, so that a recording does not contain them.
    pub fn edit_topology(&mut self, id: BodyId, edit: &TopologyEdit) -> Result<TopologyChange, Error> {
        let old = match self.model.body(id)? {
            Body::Rigid(_) => return Err(Error::WrongKind(id, "rigid body", "soft body")),
            Body::Nodes(nodes) => nodes,
        };
        let NodeSource::Soft(source) = &old.source else {
            return Err(Error::WrongKind(id, "set of particles", "soft body"));
        };
        let who = if source.name.is_empty() { format!("{id:?}") } else { format!("soft body '{}'", source.name) };
        let refuse = |reason: &str| Error::BadTopology {
            body: who.clone(),
            model: source.model.name().to_owned(),
            reason: reason.to_owned(),
        };
        if self.state.is_frozen(id.index as usize) {
            return Err(refuse("it is frozen after a fault"));
        }
        let pinned: Vec<bool> = old.inv_mass.iter().map(|&m| m == 0.0).collect();
        let done = edited(&who, source, &pinned, edit)?;
        let (mut new, mut start) = Nodes::of_soft(done.source.clone(), old.start, old.internal_state_start)?;
        new.topology = old.topology.wrapping_add(1);
        let old_elements = done.elements.len();
        let per_element = old.internal_state_count as usize / old_elements;
        let by_element = matches!(source.model, crate::model::SoftModel::Solid(_));
        if old.internal_state_count > 0 && !by_element {
            return Err(refuse("its dashpots have memory that cannot follow"));
        }
        let remap = remap(&done, (source, &old.surface), &new.surface);
        self.fill(old, &done, edit, per_element, &mut start);
        let old_surface = old.surface.clone();
        let old_edges = old.cells.edges.clone();
        self.swap_nodes(id, new, start);
        self.follow_contacts(id, &remap, &old_edges);
        let constraints = self.follow_constraints(id, &remap, &old_surface);
        Ok(TopologyChange { remap, constraints })
    }

    /// Positions, velocities and internal state of what remains.
    fn fill(&self, old: &Nodes, done: &Edited, edit: &TopologyEdit, per_element: usize, start: &mut Start) {
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
        let memory = &self.state.internal_state[old.internal_state_span()];
        for (e, from) in done.element_origin.iter().enumerate() {
            if let Some(from) = from.map(|f| f as usize * per_element) {
                let to = &mut start.internal_state[e * per_element..(e + 1) * per_element];
                to.copy_from_slice(&memory[from..from + per_element]);
            }
        }
    }

    /// Puts the nodes in the place of the old ones. Ranges of other bodies move.
    fn swap_nodes(&mut self, id: BodyId, new: Nodes, start: Start) {
        let (model, state) = (&mut self.model, &mut self.state);
        let Some(Body::Nodes(old)) = model.bodies.at_mut(id.index) else { return };
        let (span, inner, first) = (old.span(), old.internal_state_span(), old.start);
        let (count, inner_count) = (new.inv_mass.len(), new.internal_state_count as usize);
        **old = new;
        state.node_x.splice(span.clone(), start.positions);
        state.node_v.splice(span.clone(), start.velocities);
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
    fn follow_contacts(&mut self, id: BodyId, remap: &Remap, old_edges: &[[u32; 2]]) {
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
                    let mut turned = [0.0; 3];
                    for (k, &to) in remap.cell_corners[number as usize].iter().enumerate() {
                        turned[to as usize] = w[k];
                    }
                    Some((cell, Vec3::from_array(turned)))
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

    fn follow_constraints(&mut self, id: BodyId, remap: &Remap, old: &crate::Surface) -> LostConstraints {
        let Some(nodes) = self.model.nodes_at(id.index) else { return LostConstraints::default() };
        let after = nodes.surface.triangles().to_vec();
        let site = |site: Site| -> Option<Site> {
            Some(match site {
                Site::Node { body, node } => Site::Node { body, node: (*remap.nodes.get(node as usize)?)? },
                Site::Surfel { body, surfel } => Site::Surfel { body, surfel: (*remap.surfels.get(surfel as usize)?)? },
                Site::Face { body, triangle, weights } => {
                    let cell = (*remap.cells.get(triangle as usize)?)?;
                    let mut turned = [0.0; 3];
                    for (k, &to) in remap.cell_corners[triangle as usize].iter().enumerate() {
                        turned[to as usize] = weights[k];
                    }
                    Site::Face { body, triangle: cell, weights: turned }
                }
                other => other,
            })
        };
        let single: Vec<Option<u32>> = (0..old.len() as u32).map(|s| Some(old.shares(s)[0].node)).collect();
        let names = Names {
            old: id,
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
        self.follow(&names, Some(remap))
    }
}
