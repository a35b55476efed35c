//! Bodies made of nodes, as used by the step: a range of nodes, a surface, and for soft bodies a model.

use super::load::{Air, BuiltLoad, Load, LoadTarget};
use super::particle_skin::ParticleSkin;
use super::soft::{Built, SoftBody, SoftModel};
use super::surface::{Cells, Surface};
use super::{Groups, Particles, SurfaceMaterial};
use crate::deformable::{Coordinates, Deformable, rotation};
use crate::error::{Error, check, finite_vec, gravity_factor, not_negative, weighable};
use crate::math::{Real, Vec3};
use std::ops::Range;

/// Source description of a body of nodes.
#[derive(Clone, Debug)]
pub(crate) enum NodeSource {
    Particles(Particles),
    Soft(Box<SoftBody>),
}

/// Interaction of nodes with the world.
#[derive(Clone, Debug)]
pub(crate) struct NodeTraits {
    /// Radius or half thickness at which surfels are in contact [m]; negative: no contact.
    pub radius: Real,
    pub material: SurfaceMaterial,
    pub groups: Groups,
    pub gravity_scale: Real,
    /// Rate at which velocity decays [1/s].
    pub damping: Real,
    /// Self-contact of its surface is enabled.
    pub self_contact: bool,
    /// The air around its surface.
    pub air: Option<Air>,
    pub name: String,
}

/// A contiguous range of nodes.
#[derive(Debug)]
pub(crate) struct Nodes {
    /// First node of the range.
    pub start: u32,
    /// Incremented when nodes, elements or surface cells are appended, removed or renumbered.
    pub topology: u32,
    /// The topology number that the surface was made for: older than `topology` after edits that hold it.
    pub surface_topology: u32,
    /// Length of the range in State with the reserve, whose columns are zero.
    pub room: u32,
    /// Of each triangle of the surface of a body with a reserve, the side that it is; see [`TetMesh::side`].
    ///
    /// [`TetMesh::side`]: crate::TetMesh
    pub sides: Vec<u32>,
    /// First state variable of the model in State.
    pub internal_state_start: u32,
    pub internal_state_count: u32,
    /// Masses, pinned nodes too [kg].
    pub mass: Vec<Real>,
    /// 1/mass of each, 0 when pinned [1/kg].
    pub inv_mass: Vec<Real>,
    /// Sum of all masses [kg].
    pub total_mass: Real,
    /// At least one node is pinned.
    pub pinned: bool,
    /// What impulses on the body act on.
    pub coordinates: Coordinates,
    /// Semi-axes of nodes that are ellipsoids; empty when nodes are points. (node_count) [m]
    pub radii: Box<[Vec3]>,
    /// Rest positions of nodes that are ellipsoids; empty when nodes are points. (node_count) [m]
    pub particle_rest: Box<[Vec3]>,
    /// A surface on ellipsoidal nodes, for rendering only.
    pub skin: Option<Box<ParticleSkin>>,
    pub surface: Surface,
    /// Triangles and segments of the surface with the features they own.
    pub cells: Box<Cells>,
    /// Surfels at rest, in the coordinates of the rest shape. (surfel_count) [m]
    pub rest: Vec<Vec3>,
    /// Shortest edge of the surface at rest; 0 without edges [m].
    pub shortest: Real,
    pub traits: NodeTraits,
    /// Loads on its surface and nodes.
    pub loads: Vec<BuiltLoad>,
    pub source: NodeSource,
    /// The model built when the body was added, until the step takes it over; after that it is rebuilt from the source.
    pub fresh: Option<Box<dyn Deformable>>,
}

/// Initial state of a body that was just added.
pub(crate) struct Start {
    pub positions: Vec<Vec3>,
    pub velocities: Vec<Vec3>,
    pub internal_state: Vec<Real>,
    /// Nodes that are held in some directions, each with a bit for x, y and z of the rest shape.
    pub axis_pins: Vec<(u32, u8)>,
}

impl Nodes {
    /// False for a body without contact: its radius is below 0.
    pub fn touches(&self) -> bool {
        self.traits.radius >= 0.0
    }

    /// True for particles without a deformable model.
    pub fn is_bare(&self) -> bool {
        matches!(self.source, NodeSource::Particles(_))
    }

    /// True when groups and kind allow contact between the surfaces of two bodies: bare particles collide with rigid
    /// bodies only.
    pub fn meets(&self, other: &Nodes) -> bool {
        let bare = self.cells.corners.is_empty() || other.cells.corners.is_empty();
        !bare && self.traits.groups.meets(other.traits.groups)
    }

    pub fn of_particles(source: Particles, start: u32, internal_state_start: u32) -> Result<(Self, Start), Error> {
        let who = naming("particles", &source.name);
        let count = source.positions.len();
        if count == 0 {
            return Err(Error::BadShape { shape: who, reason: "there are none: give at least one position".into() });
        }
        for (i, &p) in source.positions.iter().enumerate() {
            finite_vec(&format!("{who}.positions[{i}]"), p)?;
        }
        finite_vec(&format!("{who}.velocity"), source.velocity)?;
        not_negative(&format!("{who}.radius"), source.radius)?;
        if !source.masses.is_empty() && source.masses.len() != count {
            let reason = format!("{} masses for {count} particles", source.masses.len());
            return Err(Error::BadMass { body: who, reason });
        }
        let mut mass = Vec::with_capacity(count);
        for i in 0..count {
            let m = source.masses.get(i).copied().unwrap_or(source.mass);
            mass.push(m);
        }
        let inv_mass = pin(&who, &mass, &source.pinned)?;
        let traits = NodeTraits {
            // a particle without size has no contacts
            radius: if source.radius > 0.0 { source.radius } else { -1.0 },
            material: source.material,
            groups: source.groups,
            gravity_scale: source.gravity_scale,
            damping: source.damping,
            self_contact: false,
            air: None,
            name: source.name.clone(),
        };
        traits.check(&who)?;
        let velocities = inv_mass.iter().map(|&m| if m > 0.0 { source.velocity } else { Vec3::ZERO }).collect();
        let start_state = Start {
            positions: source.positions.clone(),
            velocities,
            internal_state: Vec::new(),
            axis_pins: Vec::new(),
        };
        let surface = Surface::of_nodes(0..count as u32, Vec::new());
        let nodes = Self {
            start,
            topology: 0,
            surface_topology: 0,
            room: count as u32,
            sides: Vec::new(),
            internal_state_start,
            internal_state_count: 0,
            total_mass: mass.iter().sum(),
            pinned: inv_mass.contains(&0.0),
            mass,
            inv_mass,
            coordinates: Coordinates::Nodes,
            radii: Box::default(),
            particle_rest: Box::default(),
            skin: None,
            cells: Box::new(surface.cells()),
            rest: source.positions.clone(),
            shortest: 0.0,
            surface,
            traits,
            loads: Vec::new(),
            source: NodeSource::Particles(source),
            fresh: None,
        };
        Ok((nodes, start_state))
    }

    pub fn of_soft(mut source: SoftBody, start: u32, internal_state_start: u32) -> Result<(Self, Start), Error> {
        let who = naming("soft body", &source.name);
        let Built { mut model, rest, surface, skin, faces } = source.build(&who)?;
        let mut mass = model.masses().to_vec();
        let (room, sides) = source.prepare_reserve(&rest);
        mass.reserve_exact(room - mass.len());
        let mut inv_mass = pin(&who, &mass, &source.pinned_nodes(&rest))?;
        let traits = NodeTraits {
            radius: source.thickness,
            material: source.material,
            groups: source.groups,
            gravity_scale: source.gravity_scale,
            damping: source.damping,
            self_contact: source.self_contact,
            air: source.air,
            name: source.name.clone(),
        };
        traits.check(&who)?;
        not_negative(&format!("{who}.thickness"), source.thickness)?;
        let positions: Vec<Vec3> = rest.iter().map(|&p| source.pose.point(p)).collect();
        inv_mass.reserve_exact(room - inv_mass.len());
        let total: Real = model.reserved().map_or_else(|| mass.iter().sum(), |body| body.total_mass());
        let centre = positions.iter().zip(&mass).fold(Vec3::ZERO, |s, (&x, &m)| s + x * m) / total;
        let moving = positions.iter().zip(&inv_mass);
        let velocities = moving
            .map(|(&x, &m)| if m > 0.0 { source.velocity + source.spin.cross(x - centre) } else { Vec3::ZERO })
            .collect();
        let mut surfels = Vec::new();
        surface.positions(&rest, &mut surfels);
        let axis_pins = source.axis_pins(&who, &rest, &inv_mass)?;
        let on = LoadTarget { surface: &surface, rest: &rest, surfels: &surfels, mass: &mass, quadratic: &faces };
        let loads = on.build(&who, &source.loads)?;
        let mut internal_state = vec![0.0; model.traits().internal_state_count];
        model.start(source.pose.rotation, source.spin, &mut internal_state);
        if !model.ellipsoids().is_empty() {
            // pinned particles do not rotate
            for n in (0..mass.len()).filter(|&n| inv_mass[n] == 0.0) {
                let turned = rotation::orientation(&internal_state, n);
                rotation::put(&mut internal_state, n, turned, Vec3::ZERO);
            }
        }
        let cells = surface.cells();
        let triangles = (0..cells.corners.len() as u32).any(|cell| cells.is_triangle(cell));
        // each triangle is paired with all triangles within its contact distance; for a sheet thicker than its edge
        // length that is the entire sheet
        let thin = !triangles || source.thickness <= THICKEST * mean_edge(&cells, &surfels);
        let must = "at most twice the mean edge of its triangles: take longer edges for a thicker body";
        check(&format!("{who}.thickness"), source.thickness, thin, must)?;
        let nodes = Self {
            start,
            topology: 0,
            surface_topology: 0,
            room: room as u32,
            sides,
            internal_state_start,
            internal_state_count: internal_state.len() as u32,
            total_mass: total,
            pinned: inv_mass.contains(&0.0),
            mass,
            inv_mass,
            coordinates: model.traits().coordinates,
            radii: model.ellipsoids().into(),
            particle_rest: if model.ellipsoids().is_empty() { Box::default() } else { rest.into() },
            skin: skin.map(Box::new),
            shortest: shortest(&cells, &surfels),
            cells: Box::new(cells),
            rest: surfels,
            surface,
            traits,
            loads,
            source: NodeSource::Soft(Box::new(source)),
            fresh: Some(model),
        };
        Ok((nodes, Start { positions, velocities, internal_state, axis_pins }))
    }

    pub fn span(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.inv_mass.len()
    }

    /// Its range in the columns of State, with the reserve.
    pub fn room_span(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.room as usize
    }

    pub fn internal_state_span(&self) -> Range<usize> {
        self.internal_state_start as usize..self.internal_state_start as usize + self.internal_state_count as usize
    }

    pub fn is_soft(&self) -> bool {
        matches!(self.source, NodeSource::Soft(_))
    }

    /// Replaces the loads of a soft body.
    pub fn set_loads(&mut self, loads: Vec<Load>) -> Result<(), Error> {
        let NodeSource::Soft(source) = &mut self.source else { return Ok(()) };
        let who = naming("soft body", &source.name);
        // only elements of ten nodes have nodes besides those of the geometry
        let built = match &source.model {
            SoftModel::Solid(p) if p.elements.quadratic() => Some(source.build(&who)?),
            _ => None,
        };
        let (rest, quadratic) = match &built {
            Some(built) => (&built.rest[..], &built.faces[..]),
            None => (source.geometry.nodes(), &[][..]),
        };
        let on = LoadTarget { surface: &self.surface, rest, surfels: &self.rest, mass: &self.mass, quadratic };
        self.loads = on.build(&who, &loads)?;
        source.loads = loads;
        Ok(())
    }

    /// Number of pinned nodes.
    pub fn pinned_count(&self) -> usize {
        match &self.source {
            NodeSource::Soft(source) => source.pinned.len(),
            NodeSource::Particles(_) => 0,
        }
    }

    /// True when elements were edited in place since the surface was made.
    pub fn is_surface_held(&self) -> bool {
        let NodeSource::Soft(source) = &self.source else { return false };
        source.reserve.as_ref().is_some_and(|r| !r.faces.is_empty())
    }

    /// True when a load acts on nodes and not on triangles.
    pub fn has_node_loads(&self) -> bool {
        self.loads.iter().any(|load| load.faces.is_empty() && load.skin.is_empty())
    }

    /// Finds the nodes of all loads again. A region that has no node any more keeps the load as it is.
    pub fn follow_node_loads(&mut self) {
        let loads = match &self.source {
            NodeSource::Soft(source) => source.loads.clone(),
            NodeSource::Particles(_) => return,
        };
        let _ = self.set_loads(loads);
    }

    /// Edge lengths of a surface that is new.
    pub fn measure_edges(&mut self) {
        self.shortest = shortest(&self.cells, &self.rest);
    }

    /// Rebuilds the model, for a step that has none yet. A source that was accepted once is accepted again.
    pub fn rebuild(&self) -> Option<Box<dyn Deformable>> {
        match &self.source {
            NodeSource::Particles(_) => None,
            NodeSource::Soft(source) => source.build("soft body").ok().map(|built| built.model),
        }
    }
}

impl NodeTraits {
    fn check(&self, who: &str) -> Result<(), Error> {
        not_negative(&format!("{who}.damping"), self.damping)?;
        gravity_factor(&format!("{who}.gravity_scale"), self.gravity_scale)?;
        if let Some(air) = &self.air {
            air.check(&format!("{who}.air"))?;
        }
        self.material.check_nodes(&format!("{who}.material"))
    }
}

/// Maximum half thickness of a surface of triangles, in mean edge lengths.
const THICKEST: Real = 2.0;

/// The mean length of the edges between surfels at these positions; 0 without edges [m].
pub(crate) fn mean_edge(cells: &Cells, places: &[Vec3]) -> Real {
    let sum: Real = cells.edges.iter().map(|&[a, b]| (places[b as usize] - places[a as usize]).length()).sum();
    sum / cells.edges.len().max(1) as Real
}

/// The shortest edge between surfels at these positions [m].
fn shortest(cells: &Cells, places: &[Vec3]) -> Real {
    let length = |&[a, b]: &[u32; 2]| (places[b as usize] - places[a as usize]).length();
    let least = cells.edges.iter().map(length).fold(Real::INFINITY, Real::min);
    if least.is_finite() { least } else { 0.0 }
}

fn naming(kind: &str, name: &str) -> String {
    if name.is_empty() { kind.to_owned() } else { format!("{kind} '{name}'") }
}

/// Inverse masses with zeros where pinned.
fn pin(who: &str, mass: &[Real], pinned: &[u32]) -> Result<Vec<Real>, Error> {
    for (i, &m) in mass.iter().enumerate() {
        weighable(&format!("{who}.mass[{i}]"), m)?;
    }
    let mut inv_mass: Vec<Real> = mass.iter().map(|m| 1.0 / m).collect();
    for &i in pinned {
        let slot = inv_mass.get_mut(i as usize).ok_or_else(|| Error::BadMass {
            body: who.to_owned(),
            reason: format!("pinned node {i} does not exist, there are {}", mass.len()),
        })?;
        *slot = 0.0;
    }
    Ok(inv_mass)
}
