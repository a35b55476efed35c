//! The route of a contact and of a body through a step. `step/plan.rs` chooses each once; later phases only read it.

use crate::collision::surface::feature;
use crate::contact::kernel::node::{LIGHT, largest};
use crate::contact::point;
use crate::deformable::Coordinates;
use crate::math::Real;
use crate::model::{Model, Nodes, PairRules};
use crate::state::{ContactMemory, contact_flag};

/// Which kernel solves a contact in this step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Route {
    /// None: a sensor, or a manifold without points.
    #[default]
    Unsolved,
    /// None: no body of the pair is active. The contact keeps the impulses of the step in which its bodies fell asleep.
    Asleep,
    /// A method of the lecture *Rigid Contacts* (`classic/in_world.rs`).
    Classic,
    /// Rows of an implicit island (`island/implicit.rs`).
    Implicit,
    /// Manifolds of rigid bodies in lanes (`contact/kernel/rigid.rs`).
    Rigid,
    /// Single light nodes on a rigid body, in lanes (`contact/kernel/node.rs`).
    Node,
    /// Surfels and soft surfaces as rows (`contact/kernel/surface.rs`).
    Surface,
}

impl Route {
    /// True for a contact that sweeps solve.
    pub fn is_swept(self) -> bool {
        matches!(self, Self::Rigid | Self::Node | Self::Surface)
    }
}

/// Where the nodes of a cloth are stored during a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Residence {
    /// In the blocks of all bodies; its contacts are rows or lanes of nodes.
    #[default]
    Rows,
    /// In its own SoA, in the substeps that it shares with the rigid bodies it touches.
    Shared,
    /// In its own SoA with all substeps at once: it touches only bodies at rest.
    Alone,
}

impl Residence {
    /// True when the nodes are in the SoA of the cloth.
    pub fn is_resident(self) -> bool {
        self != Self::Rows
    }
}

/// How a body is solved in this step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BodyRoute {
    /// Fixed, kinematic, asleep or frozen.
    #[default]
    Inactive,
    /// Sweeps over all rows.
    Swept,
    /// One conjugate gradient solve of the implicit island with this number.
    Implicit(u32),
}

impl BodyRoute {
    /// The number of its implicit island.
    pub fn island(self) -> Option<u32> {
        match self {
            Self::Implicit(island) => Some(island),
            Self::Inactive | Self::Swept => None,
        }
    }
}

/// The input of the choice of a route.
pub(crate) struct Router<'a> {
    pub model: &'a Model,
    pub rules: &'a PairRules,
    pub bodies: &'a [BodyRoute],
    /// Number of contacts of each node ([`mark_shared`]).
    pub shared: &'a [u8],
}

impl Router<'_> {
    /// The route of a contact.
    pub fn choose(&self, m: &ContactMemory) -> Route {
        let [a, b] = [m.key.a, m.key.b].map(|slot| self.bodies[slot as usize]);
        if m.has(contact_flag::SENSOR) || m.count == 0 {
            Route::Unsolved
        } else if m.has(contact_flag::CLASSIC) {
            Route::Classic
        } else if [a, b] == [BodyRoute::Inactive; 2] {
            Route::Asleep
        } else if a.island().or(b.island()).is_some() {
            Route::Implicit
        } else if !m.has(contact_flag::NODE) {
            Route::Rigid
        } else if self.light_node(m).is_some() {
            Route::Node
        } else {
            Route::Surface
        }
    }

    /// The node of a contact of a single light node with a rigid body. None for a contact that the lanes cannot solve.
    fn light_node(&self, m: &ContactMemory) -> Option<u32> {
        let (a, b) = (m.key.a, m.key.b);
        if m.has(contact_flag::SURFACE) || m.key.collider_b != feature::VERTEX {
            return None;
        }
        let active = |slot: u32| self.bodies[slot as usize] != BodyRoute::Inactive;
        // the lanes have one inverse mass per contact
        let nodes = self.model.nodes_at(b).filter(|n| active(b) && n.coordinates == Coordinates::Nodes)?;
        let node = single_node(nodes, m.key.sub_b)?;
        // it needs the impulses of the last substep as a start
        if self.shared[(nodes.start + node) as usize] >= SHARED {
            return None;
        }
        let light = is_light(self.model, active(a), a, nodes.inv_mass[node as usize]);
        // the lanes have no restitution and no anisotropy
        let material = point::pair_material(self.model, self.rules, m);
        (light && material.restitution <= 0.0 && material.grain.is_none()).then_some(node)
    }
}

/// Marks the nodes of sheets and cords with more than one swept contact: with another soft surface, or with two rigid
/// colliders. The lanes of
/// light nodes take a node to be coupled to its one contact: they start from no impulse, and each contact is solved once.
/// A layer that fell with the one above it until the ground stopped it left their contact without a load in every
/// correcting sweep: two layers on a slope of 15 degrees with friction 0.5 crept by 22 mm/s. As rows all contacts of the
/// node start from the impulses that hold it.
pub(crate) fn mark_shared(model: &Model, bodies: &[BodyRoute], contacts: &[ContactMemory], shared: &mut Vec<u8>) {
    shared.clear();
    shared.resize(model.node_count, 0);
    for m in contacts.iter().filter(|m| m.has(contact_flag::NODE)) {
        if [m.key.a, m.key.b].iter().all(|&slot| bodies[slot as usize] != BodyRoute::Swept) {
            continue;
        }
        let more = if m.has(contact_flag::SURFACE) { SHARED } else { 1 };
        point::each_node(model, m, |nodes, node| {
            // material between opposite sides of a solid body carries the load
            if !nodes.surface.is_solid() {
                let of = &mut shared[node as usize];
                *of = of.saturating_add(more);
            }
        });
    }
}

/// Number of contacts from which a node is shared by them; one with another soft surface counts as many.
const SHARED: u8 = 2;

/// The node that a surfel coincides with.
pub(crate) fn single_node(nodes: &Nodes, surfel: u32) -> Option<u32> {
    if surfel as usize >= nodes.surface.len() || nodes.surface.offset(surfel) != 0.0 {
        return None;
    }
    match nodes.surface.shares(surfel) {
        [share] if share.weight == 1.0 => Some(share.node),
        _ => None,
    }
}

/// True when eight such nodes hardly move the body.
pub(crate) fn is_light(model: &Model, active: bool, slot: u32, inv_mass: Real) -> bool {
    inv_mass > 0.0 && model.rigid_at(slot).is_some() && (!active || light_ratio(model, slot, inv_mass) > 1.0)
}

/// Groups of eight such nodes that together hardly move the body.
pub(crate) fn light_ratio(model: &Model, slot: u32, inv_mass: Real) -> Real {
    let Some(rigid) = model.rigid_at(slot) else { return 0.0 };
    let response = rigid.inv_mass + largest(&rigid.inv_inertia) * rigid.radius * rigid.radius;
    LIGHT * inv_mass / (8.0 * response)
}
