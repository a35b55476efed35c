//! Changes of the topology of a soft body at run time: nodes and elements that are appended, removed or renumbered, and
//! the map from the old numbers to the new ones.
//!
//! The description of the body is edited and its model is built from it again, so that masses, stiffness and surface are
//! those of a body made of the new mesh: removing an element removes its mass, and copies of a node share the mass of
//! the elements around it. A node that no element uses is removed.
//!
//! Numbers are stable: what remains keeps its number, what is appended comes after it, and a gap left by a removal is
//! filled with the item of the highest number. Nodes and segments of a rope are renumbered along its chain instead,
//! because its description is the sequence of its points.

use super::{ConstraintId, Geometry, SoftBody};
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

/// A change of the topology of a soft body of tetrahedra or triangles, or of a rope, whose elements are its segments:
/// segment k joins points k and k + 1. Numbers are those before the edit; appended nodes and elements are numbered from
/// the counts before the edit on.
///
/// What remains keeps its number, what is appended comes after it, and a gap left by a removal is filled with the item
/// of the highest number; `node_order` and `element_order` choose other orders. Points of a rope are numbered along it.
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
    /// Elements whose corners change: number and corners, four of a tetrahedron, three of a triangle, two of a segment.
    pub corners: Vec<(u32, Corners)>,
    /// Appended elements, by their corners.
    pub appended: Vec<Corners>,
    /// Fractions of their volume that elements fill from now on, in (0, 1]; of appended ones too. An element that is not
    /// named keeps its fraction, an appended one is full.
    pub fill: Vec<(u32, Real)>,
    /// Removed elements.
    pub removed: Vec<u32>,
    /// Order of all nodes after the edit, those that are removed included; empty: numbers are kept, see above.
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
        self.corners.push((element, corners.into()));
        self
    }

    /// Changes the fraction of its volume that an element fills.
    pub fn fill(mut self, element: u32, fraction: Real) -> Self {
        self.fill.push((element, fraction));
        self
    }

    /// Forgets all changes and keeps the memory, for an edit that is made every step.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.corners.clear();
        self.appended.clear();
        self.fill.clear();
        self.removed.clear();
        self.node_order.clear();
        self.element_order.clear();
    }

    /// Appends an element.
    pub fn append(mut self, corners: &[u32]) -> Self {
        self.appended.push(corners.into());
        self
    }

    /// Removes elements.
    pub fn remove(mut self, elements: impl IntoIterator<Item = u32>) -> Self {
        self.removed.extend(elements);
        self
    }
}

/// Corners of an element: two, three or four nodes, without memory of their own.
///
/// ```
/// use sinew::Corners;
/// let corners = Corners::from(&[4, 7, 2, 9]);
/// assert_eq!(corners[..], [4, 7, 2, 9]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Corners {
    nodes: [u32; 5],
    count: u8,
}

impl From<&[u32]> for Corners {
    /// Of more than four nodes five are kept, so that the edit refuses them.
    fn from(corners: &[u32]) -> Self {
        let mut nodes = [0; 5];
        nodes.iter_mut().zip(corners).for_each(|(to, &from)| *to = from);
        Self { nodes, count: corners.len().min(5) as u8 }
    }
}

impl<const N: usize> From<&[u32; N]> for Corners {
    fn from(corners: &[u32; N]) -> Self {
        corners[..].into()
    }
}

impl std::ops::Deref for Corners {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.nodes[..self.count as usize]
    }
}

impl std::fmt::Debug for Corners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

/// New numbers of the nodes, elements, surface points and surface triangles of a body, by their old numbers; none for
/// those removed. Data of users that contain such numbers (bindings, selections, meshes of a viewer) follow by it.
///
/// An example is at [`TopologyEdit`](crate::TopologyEdit).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remap {
    /// Nodes.
    pub nodes: Vec<Option<u32>>,
    /// Tetrahedra, triangles or segments of a rope.
    pub elements: Vec<Option<u32>>,
    /// Points of the surface.
    pub surfels: Vec<Option<u32>>,
    /// Triangles of the surface.
    pub cells: Vec<Option<u32>>,
    /// New corner of each old corner of a cell that remains. (cells)
    pub(crate) cell_corners: Vec<[u8; 3]>,
}

impl Remap {
    /// Weights of the corners of an old cell in the order of the corners of the new one.
    pub(crate) fn turned(&self, cell: u32, weights: [Real; 3]) -> [Real; 3] {
        let mut turned = [0.0; 3];
        let to = self.cell_corners.get(cell as usize).copied().unwrap_or([0, 1, 2]);
        to.iter().zip(weights).for_each(|(&k, w)| turned[k as usize] = w);
        turned
    }

    /// True when every old number remains valid.
    pub fn is_identity(&self) -> bool {
        let same = |map: &[Option<u32>]| map.iter().enumerate().all(|(k, to)| *to == Some(k as u32));
        same(&self.nodes) && same(&self.elements) && same(&self.surfels) && same(&self.cells)
    }
}

/// What became of the constraints of a body whose topology or model changed.
///
/// An example is at [`TopologyChange`](crate::TopologyChange).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LostConstraints {
    /// Removed: nothing that they act on remains.
    pub removed: Vec<ConstraintId>,
    /// Some of their pairs, folds or points were removed.
    pub reduced: Vec<ConstraintId>,
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
    /// Nothing changes: same nodes and elements under the same numbers.
    pub same: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Origin {
    Old(u32),
    New(u32),
}

/// Elements of a geometry with `size` corners each.
struct Elements {
    size: usize,
    corners: Vec<u32>,
}

impl Elements {
    fn of(geometry: &Geometry) -> Self {
        let (size, corners) = match geometry {
            Geometry::Tets(mesh) => (4, mesh.tets.as_flattened().to_vec()),
            Geometry::Sheet(mesh) => (3, mesh.triangles.as_flattened().to_vec()),
            Geometry::Rope(points) => (2, (1..points.len() as u32).flat_map(|k| [k - 1, k]).collect()),
            Geometry::Points(_) => (1, Vec::new()),
        };
        Self { size, corners }
    }

    fn count(&self) -> usize {
        self.corners.len() / self.size
    }

    fn at(&self, element: u32) -> &[u32] {
        &self.corners[element as usize * self.size..][..self.size]
    }

    fn put(&mut self, element: u32, corners: &[u32]) {
        self.corners[element as usize * self.size..][..self.size].copy_from_slice(corners);
    }

    /// Rejects corners that are not an element over nodes at `rest`.
    fn check(&self, corners: &[u32], rest: &[Vec3]) -> Result<(), String> {
        check_element(corners, self.size, rest.len(), |n| rest[n as usize])
    }
}

/// Rejects corners that are not an element of `size` nodes, `count` of which exist, `rest` [m].
pub(crate) fn check_element(
    corners: &[u32],
    size: usize,
    count: usize,
    rest: impl Fn(u32) -> Vec3,
) -> Result<(), String> {
    if corners.len() != size {
        return Err(format!("{} corners, but this body has elements of {size}", corners.len()));
    }
    if let Some(n) = corners.iter().find(|&&n| n as usize >= count) {
        return Err(format!("node {n} does not exist, there are {count}"));
    }
    let to = |k: usize| rest(corners[k]) - rest(corners[0]);
    let (measure, unit): (Real, _) = match size {
        2 => (to(1).length(), "length in m"),
        3 => (to(1).cross(to(2)).length() / 2.0, "area in m²"),
        _ => (to(1).cross(to(2)).dot(to(3)) / 6.0, "volume in m³"),
    };
    if measure > 0.0 && measure.is_finite() {
        Ok(())
    } else {
        Err(format!("its {unit} is {measure:e}, but must be above 0"))
    }
}

/// Rejects a fill fraction of an element, `count` of which exist.
pub(crate) fn check_fill(element: u32, fraction: Real, count: usize) -> Result<(), String> {
    if element as usize >= count {
        return Err(format!("fill of element {element}: it does not exist, there are {count}"));
    }
    if fraction > 0.0 && fraction <= 1.0 {
        return Ok(());
    }
    Err(format!("fill of element {element} is {fraction}: must be above 0, at most 1"))
}

/// Nodes after an edit, before they are renumbered.
struct EditedNodes {
    rest: Vec<Vec3>,
    pinned: Vec<bool>,
}

/// Applies an edit to the description of a body. `pinned`: which nodes are.
pub(crate) fn edited(who: &str, source: &SoftBody, pinned: &[bool], edit: &TopologyEdit) -> Result<Edited, Error> {
    let refuse =
        |reason: String| Error::BadTopology { body: who.to_owned(), model: source.model.name().to_owned(), reason };
    source.check_editable().map_err(|reason| refuse(reason.to_owned()))?;
    let old_nodes = source.geometry.nodes().len();
    let nodes = appended_nodes(source, pinned, &edit.nodes).map_err(refuse)?;
    let mut elements = Elements::of(&source.geometry);
    let old_elements = elements.count();
    change_elements(&mut elements, edit, &nodes.rest).map_err(refuse)?;
    let fill = filled_elements(source, elements.count(), edit).map_err(refuse)?;
    let mut kept = vec![true; elements.count()];
    for &e in &edit.removed {
        match kept.get_mut(e as usize) {
            Some(k) => *k = false,
            None => return Err(refuse(format!("element {e} does not exist, there are {}", elements.count()))),
        }
    }
    if !kept.contains(&true) {
        return Err(refuse("no element would remain: remove the body instead".to_owned()));
    }
    let mut used = vec![false; nodes.rest.len()];
    for element in (0..elements.count() as u32).filter(|&e| kept[e as usize]) {
        elements.at(element).iter().for_each(|&n| used[n as usize] = true);
    }
    if let Some(k) = (old_nodes..used.len()).find(|&n| !used[n]) {
        return Err(refuse(format!("nodes[{}] is in no element, so that it has no mass", k - old_nodes)));
    }
    let (node_order, element_order) = if elements.size == 2 {
        chain(&elements, &kept, nodes.rest.len(), edit).map_err(refuse)?
    } else {
        let nodes = order("node_order", &edit.node_order, &used).map_err(refuse)?;
        (nodes, order("element_order", &edit.element_order, &kept).map_err(refuse)?)
    };
    let node_map = inverse(&node_order, nodes.rest.len());
    let element_map = inverse(&element_order, elements.count());
    let mut new = renumbered(source, &nodes, &elements, (&node_order, &node_map), &element_order);
    if !fill.is_empty() {
        new.fill = element_order.iter().map(|&e| fill[e as usize]).collect();
    }
    let origin = |&n: &u32| if (n as usize) < old_nodes { Origin::Old(n) } else { Origin::New(n - old_nodes as u32) };
    let same = node_order.iter().copied().eq(0..old_nodes as u32)
        && Elements::of(&new.geometry).corners == Elements::of(&source.geometry).corners
        && new.fill == source.fill;
    Ok(Edited {
        source: new,
        origin: node_order.iter().map(origin).collect(),
        element_origin: element_order.iter().map(|&e| ((e as usize) < old_elements).then_some(e)).collect(),
        nodes: node_map[..old_nodes].to_vec(),
        elements: element_map[..old_elements].to_vec(),
        same,
    })
}

/// Fill fractions of all elements, removed and appended ones included; none when all are full.
fn filled_elements(source: &SoftBody, count: usize, edit: &TopologyEdit) -> Result<Vec<Real>, String> {
    let mut fill = source.fill.clone();
    if edit.fill.is_empty() && fill.is_empty() {
        return Ok(fill);
    }
    if !source.takes_fill() {
        return Err("fill fractions are for corotational elements and springs of tetrahedra".to_owned());
    }
    fill.resize(source.geometry.element_count(), 1.0);
    fill.resize(count, 1.0);
    for &(element, fraction) in &edit.fill {
        check_fill(element, fraction, count)?;
        fill[element as usize] = fraction;
    }
    Ok(fill)
}

fn appended_nodes(source: &SoftBody, pinned: &[bool], new: &[NewNode]) -> Result<EditedNodes, String> {
    let mut nodes = EditedNodes { rest: source.geometry.nodes().to_vec(), pinned: pinned.to_vec() };
    let count = nodes.rest.len();
    for (k, node) in new.iter().enumerate() {
        match *node {
            NewNode::Copy(of) if (of as usize) < count => {
                nodes.rest.push(nodes.rest[of as usize]);
                nodes.pinned.push(pinned[of as usize]);
            }
            NewNode::Copy(of) => return Err(format!("nodes[{k}]: node {of} does not exist, the body has {count}")),
            NewNode::At { rest, position, velocity } => {
                if !(rest.is_finite() && position.is_finite() && velocity.is_finite()) {
                    return Err(format!("nodes[{k}] has a number that is not finite"));
                }
                nodes.rest.push(rest);
                nodes.pinned.push(false);
            }
        }
    }
    Ok(nodes)
}

fn change_elements(elements: &mut Elements, edit: &TopologyEdit, rest: &[Vec3]) -> Result<(), String> {
    let count = elements.count();
    for (element, corners) in &edit.corners {
        if *element as usize >= count {
            return Err(format!("element {element} does not exist, the body has {count}"));
        }
        elements.check(corners, rest).map_err(|reason| format!("element {element}: {reason}"))?;
        elements.put(*element, corners);
    }
    for corners in &edit.appended {
        elements.check(corners, rest).map_err(|reason| format!("appended element {corners:?}: {reason}"))?;
        elements.corners.extend_from_slice(corners);
    }
    Ok(())
}

/// The description with nodes and elements in their new order. Pins are listed node by node.
fn renumbered(
    source: &SoftBody,
    nodes: &EditedNodes,
    elements: &Elements,
    (node_order, node_map): (&[u32], &[Option<u32>]),
    element_order: &[u32],
) -> SoftBody {
    let mut new = source.clone();
    new.pinned_regions.clear();
    if let Some(reserve) = &mut new.reserve {
        reserve.faces.clear();
    }
    new.pinned = (0..node_order.len() as u32).filter(|&k| nodes.pinned[node_order[k as usize] as usize]).collect();
    let rest: Vec<Vec3> = node_order.iter().map(|&n| nodes.rest[n as usize]).collect();
    let corner = |e: u32, k: usize| node_map[elements.at(e)[k] as usize].unwrap_or(0);
    match &mut new.geometry {
        Geometry::Tets(mesh) => {
            mesh.vertices = rest;
            mesh.tets = element_order.iter().map(|&e| std::array::from_fn(|k| corner(e, k))).collect();
        }
        Geometry::Sheet(mesh) => {
            mesh.vertices = rest;
            mesh.triangles = element_order.iter().map(|&e| std::array::from_fn(|k| corner(e, k))).collect();
        }
        Geometry::Rope(points) | Geometry::Points(points) => *points = rest,
    }
    new.fix_density(source);
    new
}

/// Order of nodes and segments of a rope: along the one chain that they must form.
fn chain(
    segments: &Elements,
    kept: &[bool],
    nodes: usize,
    edit: &TopologyEdit,
) -> Result<(Vec<u32>, Vec<u32>), String> {
    const ONE: &str = "the segments of a rope must form one chain: add the other part as a body of its own";
    const NONE: u32 = u32::MAX;
    if !(edit.node_order.is_empty() && edit.element_order.is_empty()) {
        return Err("node_order and element_order: points of a rope are numbered along it, leave both empty".to_owned());
    }
    // the segments at each node
    let mut beside = vec![[NONE; 2]; nodes];
    let mut count = 0;
    for e in (0..segments.count() as u32).filter(|&e| kept[e as usize]) {
        count += 1;
        for &n in segments.at(e) {
            *beside[n as usize].iter_mut().find(|s| **s == NONE).ok_or(ONE)? = e;
        }
    }
    let is_end = |n: &u32| matches!(beside[*n as usize], [e, NONE] if e != NONE);
    // the direction of the rope is that of its segments
    let listed_first = |n: u32| segments.at(beside[n as usize][0])[0] == n;
    let start = (0..nodes as u32).filter(is_end).min_by_key(|&n| (!listed_first(n), n)).ok_or(ONE)?;
    let (mut at, mut order, mut elements) = (start, vec![start], Vec::new());
    let mut last = NONE;
    while let Some(&e) = beside[at as usize].iter().find(|&&e| e != NONE && e != last) {
        let [a, b] = [segments.at(e)[0], segments.at(e)[1]];
        at = if a == at { b } else { a };
        last = e;
        order.push(at);
        elements.push(e);
    }
    if elements.len() == count { Ok((order, elements)) } else { Err(ONE.to_owned()) }
}

/// Numbers that remain, in their new order.
fn order(name: &str, order: &[u32], kept: &[bool]) -> Result<Vec<u32>, String> {
    if order.is_empty() {
        return Ok(filled(kept));
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

/// What is kept, under its own number where possible; gaps are filled from the end.
fn filled(kept: &[bool]) -> Vec<u32> {
    let count = kept.iter().filter(|k| **k).count();
    let mut last = (count..kept.len()).rev().filter(|&k| kept[k]);
    (0..count).map(|k| if kept[k] { k as u32 } else { last.next().map_or(k as u32, |k| k as u32) }).collect()
}

fn inverse(order: &[u32], count: usize) -> Vec<Option<u32>> {
    let mut map = vec![None; count];
    order.iter().zip(0..).for_each(|(&from, to)| map[from as usize] = Some(to));
    map
}

/// The map of an edit, with the points and cells of the surfaces before and after it.
pub(crate) fn remap(edited: &Edited, before: (&SoftBody, &Surface), after: &Surface) -> Remap {
    let node = |surface: &Surface, surfel: u32| surface.shares(surfel)[0].node;
    let mut surfel_of = vec![None; edited.origin.len()];
    (0..after.len() as u32).for_each(|s| surfel_of[node(after, s) as usize] = Some(s));
    let surfels = (0..before.1.len() as u32)
        .map(|s| edited.nodes[node(before.1, s) as usize].and_then(|n| surfel_of[n as usize]))
        .collect();
    let remap = Remap { nodes: edited.nodes.clone(), elements: edited.elements.clone(), surfels, ..Remap::default() };
    remap_cells(remap, edited, before, after)
}

fn sorted(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}

/// Triangles by their corners, whatever their order.
pub(crate) struct TriangleIndex(Vec<([u32; 3], [u32; 3], u32)>);

impl TriangleIndex {
    /// Triangles with their numbers.
    pub fn new(triangles: impl Iterator<Item = ([u32; 3], u32)>) -> Self {
        let mut list: Vec<_> = triangles.map(|(t, number)| (sorted(t), t, number)).collect();
        list.sort_unstable();
        Self(list)
    }

    /// The lowest number of a triangle with these corners, and the place of each among its corners.
    pub fn find(&self, corners: [u32; 3]) -> Option<(u32, [u8; 3])> {
        let key = sorted(corners);
        let first = self.0.partition_point(|t| t.0 < key);
        let alike = self.0[first..].iter().take_while(|t| t.0 == key);
        let &(_, there, number) = alike.min_by_key(|t| t.2)?;
        let mut order = [0; 3];
        for (order, corner) in order.iter_mut().zip(corners) {
            *order = there.iter().position(|c| *c == corner)? as u8;
        }
        Some((number, order))
    }
}

impl Remap {
    /// Puts in the cells: where each old one is now, and its corners there.
    pub(crate) fn with_cells(mut self, found: impl Iterator<Item = Option<(u32, [u8; 3])>>) -> Self {
        (self.cells, self.cell_corners) = found.map(|f| (f.map(|f| f.0), f.map_or([0, 1, 2], |f| f.1))).unzip();
        self
    }
}

/// A cell remains where the same side of its element is on the surface.
fn remap_cells(remap: Remap, edited: &Edited, before: (&SoftBody, &Surface), after: &Surface) -> Remap {
    let (old, new) = (Elements::of(&before.0.geometry), Elements::of(&edited.source.geometry));
    let nodes_of = |surface: &Surface, cell: usize| surface.triangles()[cell].map(|s| surface.shares(s)[0].node);
    let sides: &[[usize; 3]] = match old.size {
        4 => &[[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]],
        3 => &[[0, 1, 2]],
        _ => &[],
    };
    let elements = 0..old.count() as u32;
    let faces = elements.flat_map(|e| sides.iter().map(move |side| (e, side)));
    let faces = TriangleIndex::new(faces.map(|(e, side)| (side.map(|k| old.at(e)[k]), e)));
    let cells_after = TriangleIndex::new((0..after.triangles().len()).map(|c| (nodes_of(after, c), c as u32)));
    let follow = |cell: usize| -> Option<(u32, [u8; 3])> {
        let corners = nodes_of(before.1, cell);
        let (owner, _) = faces.find(corners)?;
        let to = new.at(edited.elements[owner as usize]?);
        // the nodes that the element has now at these corners
        let mut now = [0; 3];
        for (now, n) in now.iter_mut().zip(corners) {
            *now = to[old.at(owner).iter().position(|o| *o == n)?];
        }
        cells_after.find(now)
    };
    remap.with_cells((0..before.1.triangles().len()).map(follow))
}
