//! Changes of the topology of a soft body at run time: nodes and elements that are appended, removed or renumbered, and
//! the map from the old numbers to the new ones.
//!
//! The description of the body is edited and its model is built from it again, so that masses, stiffness and surface are
//! those of a body made of the new mesh: removing an element removes its mass, and copies of a node share the mass of
//! the elements around it. A node that no element uses is removed.

use super::{Geometry, SoftBody, SoftModel};
use crate::deformable::spring;
use crate::error::Error;
use crate::math::{Real, Vec3};
use crate::model::surface::Surface;

/// A node that is appended to a body.
///
/// An example is at [`TopologyEdit`](crate::TopologyEdit).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewNode {
    /// A copy of a node: rest position, position, velocity and pin.
    Copy(u32),
    /// A new node.
    At {
        /// In the coordinates of the rest shape [m].
        rest: Vec3,
        /// Position in the world [m].
        position: Vec3,
        /// Velocity [m/s].
        velocity: Vec3,
    },
}

/// A change of the topology of a soft body of tetrahedra or triangles. Numbers are those before the edit; appended nodes
/// and elements are numbered from the counts before the edit on.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let mesh = TriMesh { vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X + Vec3::Y], triangles: vec![[0, 1, 2], [1, 3, 2]] };
/// let model = SoftModel::Membrane(fem::MembraneParams::default());
/// let sheet = world.add_soft(SoftBody::new(Geometry::Sheet(mesh), model))?;
/// let mass = world.body(sheet)?.mass();
/// // the second triangle gets copies of the two nodes on the common edge: the sheet is cut in two
/// let edit = TopologyEdit::new().node(NewNode::Copy(1)).node(NewNode::Copy(2)).corners(1, &[4, 3, 5]);
/// let change = world.edit_topology(sheet, &edit)?;
/// assert_eq!(change.remap.nodes, [Some(0), Some(1), Some(2), Some(3)]);
/// assert_eq!((world.body(sheet)?.topology(), world.body(sheet)?.node_positions().len()), (1, 6));
/// assert!((world.body(sheet)?.mass() - mass).abs() < 1e-6 * mass);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyEdit {
    /// Appended nodes.
    pub nodes: Vec<NewNode>,
    /// Elements whose corners change: number and corners, four of a tetrahedron, three of a triangle.
    pub corners: Vec<(u32, Vec<u32>)>,
    /// Appended elements, by their corners.
    pub appended: Vec<Vec<u32>>,
    /// Removed elements.
    pub removed: Vec<u32>,
    /// Order of all nodes after the edit, those that are removed included; empty: the order of numbers.
    pub node_order: Vec<u32>,
    /// Order of all elements, likewise.
    pub element_order: Vec<u32>,
}

impl TopologyEdit {
    /// An edit that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a node.
    pub fn node(mut self, node: NewNode) -> Self {
        self.nodes.push(node);
        self
    }

    /// Changes the corners of an element.
    pub fn corners(mut self, element: u32, corners: &[u32]) -> Self {
        self.corners.push((element, corners.to_vec()));
        self
    }

    /// Appends an element.
    pub fn append(mut self, corners: &[u32]) -> Self {
        self.appended.push(corners.to_vec());
        self
    }

    /// Removes elements.
    pub fn remove(mut self, elements: impl IntoIterator<Item = u32>) -> Self {
        self.removed.extend(elements);
        self
    }
}

/// New numbers of the nodes, elements and surface cells of a body, by their old numbers; none for those removed.
///
/// An example is at [`TopologyEdit`](crate::TopologyEdit).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remap {
    /// Nodes.
    pub nodes: Vec<Option<u32>>,
    /// Tetrahedra or triangles.
    pub elements: Vec<Option<u32>>,
    /// Points of the surface.
    pub surfels: Vec<Option<u32>>,
    /// Triangles of the surface.
    pub cells: Vec<Option<u32>>,
    /// New corner of each old corner of a cell that remains. (cells)
    pub(crate) cell_corners: Vec<[u8; 3]>,
}

impl Remap {
    /// True when every old number remains valid.
    pub fn is_identity(&self) -> bool {
        let same = |map: &[Option<u32>]| map.iter().enumerate().all(|(k, to)| *to == Some(k as u32));
        same(&self.nodes) && same(&self.elements) && same(&self.surfels) && same(&self.cells)
    }
}

/// The description of the edited body, and where its nodes and elements come from.
pub(crate) struct Edited {
    pub source: SoftBody,
    /// Of each new node: the old one, or the index among the appended ones.
    pub origin: Vec<Origin>,
    /// Of each new element: the old one. None: appended.
    pub element_origin: Vec<Option<u32>>,
    pub nodes: Vec<Option<u32>>,
    pub elements: Vec<Option<u32>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Origin {
    Old(u32),
    New(u32),
}

/// Applies an edit to the description of a body. `pinned`: which nodes are.
pub(crate) fn edited(who: &str, source: &SoftBody, pinned: &[bool], edit: &TopologyEdit) -> Result<Edited, Error> {
    let refuse =
        |reason: String| Error::BadTopology { body: who.to_owned(), model: source.model.name().to_owned(), reason };
    supported(source).map_err(|reason| refuse(reason.to_owned()))?;
    let mut rest = source.geometry.nodes().to_vec();
    let mut pinned = pinned.to_vec();
    let old_nodes = rest.len();
    for (k, node) in edit.nodes.iter().enumerate() {
        match *node {
            NewNode::Copy(of) if (of as usize) < old_nodes => {
                rest.push(rest[of as usize]);
                pinned.push(pinned[of as usize]);
            }
            NewNode::Copy(of) => {
                return Err(refuse(format!("nodes[{k}]: node {of} does not exist, the body has {old_nodes}")));
            }
            NewNode::At { rest: at, position, velocity } => {
                if !(at.is_finite() && position.is_finite() && velocity.is_finite()) {
                    return Err(refuse(format!("nodes[{k}] has a number that is not finite")));
                }
                rest.push(at);
                pinned.push(false);
            }
        }
    }
    let mut elements = elements_of(&source.geometry);
    let old_elements = elements.len();
    let corner_count = if matches!(source.geometry, Geometry::Tets(_)) { 4 } else { 3 };
    let listed = edit.corners.iter().map(|(e, c)| (Some(*e), c)).chain(edit.appended.iter().map(|c| (None, c)));
    for (element, corners) in listed {
        let name = element.map_or_else(|| format!("appended element {corners:?}"), |e| format!("element {e}"));
        if element.is_some_and(|e| e as usize >= old_elements) {
            return Err(refuse(format!("{name} does not exist, the body has {old_elements}")));
        }
        check_element(corners, corner_count, &rest).map_err(|reason| refuse(format!("{name}: {reason}")))?;
        match element {
            Some(e) => elements[e as usize].clone_from(corners),
            None => elements.push(corners.clone()),
        }
    }
    let mut kept = vec![true; elements.len()];
    for &e in &edit.removed {
        match kept.get_mut(e as usize) {
            Some(k) => *k = false,
            None => return Err(refuse(format!("element {e} does not exist, there are {}", elements.len()))),
        }
    }
    if !kept.contains(&true) {
        return Err(refuse("no element would remain: remove the body instead".to_owned()));
    }
    let mut used = vec![false; rest.len()];
    for (corners, _) in elements.iter().zip(&kept).filter(|(_, k)| **k) {
        corners.iter().for_each(|&n| used[n as usize] = true);
    }
    let node_order = order("node_order", &edit.node_order, &used).map_err(refuse)?;
    let element_order = order("element_order", &edit.element_order, &kept).map_err(refuse)?;
    let node_map = inverse(&node_order, rest.len());
    let element_map = inverse(&element_order, elements.len());
    let mut new = source.clone();
    new.pinned_regions.clear();
    new.pinned = (0..node_order.len() as u32).filter(|&k| pinned[node_order[k as usize] as usize]).collect();
    let new_rest: Vec<Vec3> = node_order.iter().map(|&n| rest[n as usize]).collect();
    let number = |n: u32| node_map[n as usize].unwrap_or(0);
    let corners = |e: u32, k: usize| number(elements[e as usize][k]);
    match &mut new.geometry {
        Geometry::Tets(mesh) => {
            mesh.vertices = new_rest;
            mesh.tets = element_order.iter().map(|&e| std::array::from_fn(|k| corners(e, k))).collect();
        }
        Geometry::Sheet(mesh) => {
            mesh.vertices = new_rest;
            mesh.triangles = element_order.iter().map(|&e| std::array::from_fn(|k| corners(e, k))).collect();
        }
        Geometry::Rope(_) | Geometry::Points(_) => {}
    }
    let origin = |&n: &u32| if (n as usize) < old_nodes { Origin::Old(n) } else { Origin::New(n - old_nodes as u32) };
    Ok(Edited {
        source: new,
        origin: node_order.iter().map(origin).collect(),
        element_origin: element_order.iter().map(|&e| ((e as usize) < old_elements).then_some(e)).collect(),
        nodes: node_map[..old_nodes].to_vec(),
        elements: element_map[..old_elements].to_vec(),
    })
}

/// The reason why the topology of a body cannot be edited.
fn supported(source: &SoftBody) -> Result<(), &'static str> {
    if source.skin.is_some() {
        return Err("its skin is bound to the whole mesh: remove the skin to edit its topology");
    }
    if !matches!(source.geometry, Geometry::Tets(_) | Geometry::Sheet(_)) {
        return Err("only tetrahedra and sheets can be edited, not ropes and points");
    }
    match &source.model {
        SoftModel::Corotational(_) | SoftModel::Membrane(_) | SoftModel::Pbd(..) => Ok(()),
        SoftModel::Solid(p) if p.elements.quadratic() => Err("elements of ten nodes cannot be edited: use four nodes"),
        SoftModel::Solid(_) => Ok(()),
        SoftModel::Springs(p) => {
            let listed =
                matches!(p.stiffness, spring::Stiffness::PerSpring(_)) || matches!(p.mass, spring::Mass::PerNode(_));
            if listed { Err("its springs or masses are listed one by one: give one value") } else { Ok(()) }
        }
        SoftModel::ShapeMatching(..) => Err("clusters cannot be edited"),
        SoftModel::Meshless(..) => Err("it has no elements"),
        SoftModel::Oriented(..) => Err("groups of particles cannot be edited"),
        SoftModel::Custom(_) => Err("a model defined by the user cannot be edited"),
    }
}

fn elements_of(geometry: &Geometry) -> Vec<Vec<u32>> {
    match geometry {
        Geometry::Tets(mesh) => mesh.tets.iter().map(|t| t.to_vec()).collect(),
        Geometry::Sheet(mesh) => mesh.triangles.iter().map(|t| t.to_vec()).collect(),
        Geometry::Rope(_) | Geometry::Points(_) => Vec::new(),
    }
}

fn check_element(corners: &[u32], count: usize, rest: &[Vec3]) -> Result<(), String> {
    if corners.len() != count {
        return Err(format!("{} corners, but this body has elements of {count}", corners.len()));
    }
    if let Some(n) = corners.iter().find(|&&n| n as usize >= rest.len()) {
        return Err(format!("node {n} does not exist, there are {}", rest.len()));
    }
    let at = |k: usize| rest[corners[k] as usize];
    let area = (at(1) - at(0)).cross(at(2) - at(0));
    let (size, unit): (Real, _) = if count == 4 {
        (area.dot(at(3) - at(0)) / 6.0, "volume in m³")
    } else {
        (area.length() / 2.0, "area in m²")
    };
    if size > 0.0 && size.is_finite() { Ok(()) } else { Err(format!("its {unit} is {size:e}, but must be above 0")) }
}

/// Numbers that remain, in their new order.
fn order(name: &str, order: &[u32], kept: &[bool]) -> Result<Vec<u32>, String> {
    if order.is_empty() {
        return Ok((0..kept.len() as u32).filter(|&k| kept[k as usize]).collect());
    }
    let mut seen = vec![false; kept.len()];
    for &k in order {
        match seen.get_mut(k as usize) {
            Some(s) if !*s => *s = true,
            _ => return Err(format!("{name}: {k} is named twice, or is not below {}", kept.len())),
        }
    }
    if let Some(missing) = seen.iter().position(|s| !s) {
        return Err(format!("{name}: {missing} is missing"));
    }
    Ok(order.iter().copied().filter(|&k| kept[k as usize]).collect())
}

fn inverse(order: &[u32], count: usize) -> Vec<Option<u32>> {
    let mut map = vec![None; count];
    order.iter().zip(0..).for_each(|(&from, to)| map[from as usize] = Some(to));
    map
}

/// The map of an edit, with the points and cells of the surfaces before and after it.
pub(crate) fn remap(edited: &Edited, before: (&SoftBody, &Surface), after: &Surface) -> Remap {
    let (old, new) = (elements_of(&before.0.geometry), elements_of(&edited.source.geometry));
    let node = |surface: &Surface, surfel: u32| surface.shares(surfel)[0].node;
    let mut surfel_of = vec![None; edited.origin.len()];
    (0..after.len() as u32).for_each(|s| surfel_of[node(after, s) as usize] = Some(s));
    let surfels = (0..before.1.len() as u32)
        .map(|s| edited.nodes[node(before.1, s) as usize].and_then(|n| surfel_of[n as usize]))
        .collect();
    // the faces of old elements, and the new triangles, by their nodes
    let sorted = |mut f: [u32; 3]| {
        f.sort_unstable();
        f
    };
    let skips = |corners: &[u32]| if corners.len() == 4 { 4 } else { 1 };
    let mut faces: Vec<([u32; 3], u32)> = Vec::new();
    for (e, corners) in old.iter().enumerate() {
        for skip in 0..skips(corners) {
            let face: Vec<u32> =
                (0..corners.len()).filter(|&k| corners.len() == 3 || k != skip).map(|k| corners[k]).collect();
            faces.push((sorted([face[0], face[1], face[2]]), e as u32));
        }
    }
    faces.sort_unstable();
    let nodes_of = |surface: &Surface, cell: usize| surface.triangles()[cell].map(|s| node(surface, s));
    let mut cells_after: Vec<([u32; 3], u32)> =
        (0..after.triangles().len()).map(|c| (sorted(nodes_of(after, c)), c as u32)).collect();
    cells_after.sort_unstable();
    let (mut cells, mut cell_corners) = (Vec::new(), Vec::new());
    for cell in 0..before.1.triangles().len() {
        let corners = nodes_of(before.1, cell);
        let found = (|| {
            let owner = faces[faces.binary_search_by_key(&sorted(corners), |f| f.0).ok()?].1 as usize;
            let to = &new[edited.elements[owner]? as usize];
            // the nodes that the element has now at these corners
            let mut now = [0; 3];
            for (k, n) in corners.iter().enumerate() {
                now[k] = to[old[owner].iter().position(|o| o == n)?];
            }
            let cell = cells_after[cells_after.binary_search_by_key(&sorted(now), |f| f.0).ok()?].1;
            let there = nodes_of(after, cell as usize);
            let mut order = [0; 3];
            for k in 0..3 {
                order[k] = there.iter().position(|n| *n == now[k])? as u8;
            }
            Some((cell, order))
        })();
        cells.push(found.map(|f| f.0));
        cell_corners.push(found.map_or([0, 1, 2], |f| f.1));
    }
    Remap { nodes: edited.nodes.clone(), elements: edited.elements.clone(), surfels, cells, cell_corners }
}
