//! Rods, ropes and springs of a world, their stretch, and the elastic energy of a world.

use crate::validate::tools::num;
use sinew::{ConstraintId, ConstraintSpec, Real, Site, Vec3, World};

/// A rod, rope or spring between two sites.
#[derive(Clone, Debug)]
pub struct Link {
    /// The constraint.
    pub id: ConstraintId,
    a: Site,
    b: Site,
    /// Largest length, or rest length of a spring [m].
    length: Real,
    /// [N/m]
    stiffness: Option<Real>,
    /// True when an end is a node.
    pub on_nodes: bool,
}

impl Link {
    /// How much longer it is than it should be [m]; nothing when an end is gone or it broke.
    fn excess(&self, world: &World) -> Option<f64> {
        if world.is_broken(self.id).ok()? {
            return None;
        }
        Some(num((site_point(world, &self.a)? - site_point(world, &self.b)?).length() - self.length))
    }

    /// True for a spring.
    pub fn is_spring(&self) -> bool {
        self.stiffness.is_some()
    }

    /// Stretch as a share of its largest length; 0 for springs.
    pub fn stretch(&self, world: &World) -> f64 {
        match (self.stiffness, self.excess(world)) {
            (None, Some(excess)) if self.length > 0.0 => (excess / num(self.length)).max(0.0),
            _ => 0.0,
        }
    }

    /// Elastic energy of a spring [J]; 0 for the others.
    pub fn energy(&self, world: &World) -> f64 {
        match (self.stiffness, self.excess(world)) {
            (Some(k), Some(excess)) => 0.5 * num(k) * excess * excess,
            _ => 0.0,
        }
    }
}

/// Rods, ropes and springs of a world; none when its model cannot be read.
pub fn links(world: &World) -> Vec<Link> {
    let Ok(blueprint) = world.blueprint() else { return Vec::new() };
    let mut found = Vec::new();
    for (index, slot) in blueprint.constraints.iter().enumerate() {
        if let Some(ConstraintSpec::Distance(d)) = &slot.item {
            let on_nodes = [d.a, d.b].iter().any(|s| matches!(s, Site::Node { .. }));
            let id = ConstraintId::from_parts(index as u32, slot.generation);
            let stiffness = d.spring.map(|(k, _)| k);
            found.push(Link { id, a: d.a, b: d.b, length: d.max, stiffness, on_nodes });
        }
    }
    found
}

fn site_point(world: &World, site: &Site) -> Option<Vec3> {
    if let Site::World(at) = *site {
        return Some(at);
    }
    let body = world.body(site.body()?).ok()?;
    if let Site::Node { node, .. } = *site {
        return body.node_positions().get(node as usize).copied();
    }
    if let Site::Rigid { local, .. } = *site {
        return Some(body.pose().ok()?.point(local));
    }
    None
}

/// Elastic energy of springs and soft bodies as they are now [J].
pub fn elastic_energy(world: &World) -> f64 {
    links(world).iter().fold(soft_energy(world), |sum, l| sum + l.energy(world))
}

/// Elastic energy of all soft bodies as they are now [J].
pub fn soft_energy(world: &World) -> f64 {
    // rigid bodies and bare particles have none
    world.bodies().filter_map(|b| world.elastic(b.id()).ok()).fold(0.0, |sum, view| sum + num(view.energy()))
}
