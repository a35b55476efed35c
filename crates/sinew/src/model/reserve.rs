//! Soft bodies with a reserve: room for edits of the topology in place, and fill fractions of elements.

use super::soft::Built;
use super::surface::Surface;
use super::{Geometry, SoftBody, SoftModel};
use crate::deformable::{Deformable, fem, spring};
use crate::math::{Real, Vec3};
use sinew_spec::{ANY, record};

/// Room for edits of the topology in place, of a body of tetrahedra: corotational elements and springs.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let block = TetMesh::block([4, 4, 4], Vec3::splat(0.1))?;
/// // 500 nodes and 1000 elements may be appended while the world runs
/// let body = SoftBody::corotational(block, ElasticMaterial::jelly()).with_reserve(500, 1000);
/// assert_eq!(body.reserve.as_ref().map(|r| [r.nodes, r.elements]), Some([625, 1384]));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reserve {
    /// Largest number of nodes, those of the geometry included.
    pub nodes: u32,
    /// Largest number of elements, those of the geometry included.
    pub elements: u32,
    /// An edit beyond it builds the model again with a reserve twice as large; otherwise it is an error.
    pub grows: bool,
    /// The surface that the body had when it was last updated; empty: the boundary of its elements.
    pub faces: Vec<HeldFace>,
}

/// A triangle of the surface of a body whose elements were edited since the surface was updated.
///
/// An example is at [`Reserve`]; [`World::update_surface`](crate::World::update_surface) says when faces are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldFace {
    /// Its nodes.
    pub nodes: [u32; 3],
    /// Four times its element, plus the corner opposite to it; `u32::MAX`: its element was removed.
    pub side: u32,
}

impl SoftBody {
    /// Room for this many further nodes and elements: within it, edits of the topology go in place
    /// ([`World::edit_elements`](crate::World::edit_elements)).
    pub fn with_reserve(mut self, nodes: u32, elements: u32) -> Self {
        let (has_nodes, has_elements) = (self.geometry.nodes().len() as u32, self.geometry.element_count() as u32);
        self.reserve = Some(Reserve {
            nodes: has_nodes.saturating_add(nodes),
            elements: has_elements.saturating_add(elements),
            ..Reserve::default()
        });
        self
    }

    /// Rejects fill fractions that do not fit.
    pub(super) fn check_fill(&self) -> Result<(), String> {
        if self.fill.is_empty() {
            return Ok(());
        }
        if !self.takes_fill() {
            return Err(format!(
                "the model '{}' has no fill fractions: they are for corotational elements and springs of tetrahedra",
                self.model.name()
            ));
        }
        let count = self.geometry.element_count();
        if self.fill.len() != count {
            return Err(format!("{} fill fractions for {count} elements", self.fill.len()));
        }
        match self.fill.iter().position(|f| !(*f > 0.0 && *f <= 1.0)) {
            Some(e) => Err(format!("fill[{e}] = {}: must be above 0, at most 1", self.fill[e])),
            None => Ok(()),
        }
    }

    /// True for models whose elements may fill a part of their volume.
    pub(crate) fn takes_fill(&self) -> bool {
        matches!((&self.model, &self.geometry), (SoftModel::Corotational(_) | SoftModel::Springs(_), Geometry::Tets(_)))
    }

    /// The model of a body with a reserve.
    pub(super) fn make_reserved(&self, reserve: &Reserve) -> Result<Built, String> {
        let Geometry::Tets(mesh) = &self.geometry else {
            return Err(format!("a reserve is for bodies of tetrahedra, not of {}", self.geometry.name()));
        };
        mesh.check().map_err(|e| e.to_string())?;
        if self.skin.is_some() {
            return Err("a body with a skin has no reserve: its skin is bound to the whole mesh".to_owned());
        }
        let (nodes, elements) = (mesh.vertices.len(), mesh.tets.len());
        let room = [reserve.nodes as usize, reserve.elements as usize];
        let most = [nodes, elements].map(|count| LARGEST_RESERVE + 16 * count);
        if room[0] < nodes || room[1] < elements || room[0] > most[0] || room[1] > most[1] {
            return Err(format!(
                "reserve of {} nodes and {} elements: must be from {nodes} and {elements}, those of the body, to {} and {}",
                room[0], room[1], most[0], most[1]
            ));
        }
        let full;
        let fill = match self.fill.is_empty() {
            true => {
                full = vec![1.0; elements];
                &full
            }
            false => &self.fill,
        };
        let model: Box<dyn Deformable> = match &self.model {
            SoftModel::Corotational(p) => {
                Box::new(fem::ReservedCorotational::new(mesh, fill, room, *p).map_err(|e| e.to_string())?)
            }
            SoftModel::Springs(p) => {
                Box::new(spring::ReservedSprings::new(mesh, fill, room, p).map_err(|e| e.to_string())?)
            }
            other => {
                let name = other.name();
                return Err(format!("the model '{name}' has no reserve: take corotational elements or springs"));
            }
        };
        if let Some(face) = reserve.faces.iter().find(|f| f.nodes.iter().any(|&n| n as usize >= nodes)) {
            return Err(format!("reserve.faces: a node of {:?} does not exist, the body has {nodes}", face.nodes));
        }
        let surface = match reserve.faces.is_empty() {
            true => Surface::boundary(mesh),
            false => Surface::enclosing(nodes, reserve.faces.iter().map(|f| f.nodes).collect()),
        };
        Ok(Built { model, rest: mesh.vertices.clone(), surface, skin: None, faces: Vec::new() })
    }

    /// Density of a body with a reserve [kg/m³].
    pub(crate) fn reserve_density(&self) -> Real {
        match &self.model {
            SoftModel::Corotational(p) => p.density,
            SoftModel::Springs(spring::Params { mass: spring::Mass::Density(density), .. }) => *density,
            _ => 0.0,
        }
    }

    /// Takes the memory of the reserve and lists pinned nodes by number. Returns the number of nodes with the reserve and
    /// the sides of elements that the triangles of the surface are.
    pub(crate) fn prepare_reserve(&mut self, rest: &[Vec3]) -> (usize, Vec<u32>) {
        let count = rest.len();
        if self.reserve.is_some() {
            // regions would pin nodes that are appended in them
            self.pinned = self.pinned_nodes(rest);
            self.pinned.sort_unstable();
            self.pinned.dedup();
            self.pinned_regions.clear();
        }
        let (Some(reserve), Geometry::Tets(mesh)) = (&mut self.reserve, &mut self.geometry) else {
            return (count, Vec::new());
        };
        let (nodes, elements) = (reserve.nodes as usize, reserve.elements as usize);
        mesh.vertices.reserve_exact(nodes - count);
        mesh.tets.reserve_exact(elements - mesh.tets.len());
        self.fill.resize(mesh.tets.len(), 1.0);
        self.fill.reserve_exact(elements - mesh.tets.len());
        self.pinned.reserve(nodes - count);
        let sides = match reserve.faces.is_empty() {
            true => mesh.boundary_sides(),
            false => reserve.faces.iter().map(|f| f.side).collect(),
        };
        reserve.faces.reserve(sides.len());
        (nodes, sides)
    }
}

/// Largest reserve of a small body, in nodes and in elements: a save that was tampered with takes no more memory.
const LARGEST_RESERVE: usize = 1_000_000;

record!(Reserve, "reserve", "Room for edits of the topology in place.", Reserve::default(), {
    nodes [required]: ANY, "Largest number of nodes, those of the geometry included.";
    elements [required]: ANY, "Largest number of elements, those of the geometry included.";
    grows: ANY, "An edit beyond it builds the model again with a reserve twice as large; otherwise it is an error.";
    faces: ANY, "The surface when it was last updated, written by Sinew; without: the boundary of the elements.";
});

record!(HeldFace, "held face", "A triangle of the surface of a body whose elements were edited since the surface was updated.",
    HeldFace { nodes: [0; 3], side: 0 }, {
    nodes [required]: ANY, "Its nodes.";
    side [required]: ANY, "Four times its element, plus the corner opposite to it; 4294967295: its element was removed.";
});
