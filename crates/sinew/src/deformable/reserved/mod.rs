//! Bodies of tetrahedra with a reserve: nodes and elements are appended, changed and removed in place, at a cost
//! proportional to the edit.
//!
//! Element e is lane e mod 8 of batch e/8. Forces are computed element by element and stored at its four corners; every
//! node then sums its own corners in ascending order. So no two lanes write the same number, whatever nodes they share:
//! there are no colours, no order of nodes, and an element is replaced by writing its lane. Lanes behind the last element
//! have zero volume. All that a step reads is a function of the elements and nodes in their numbering: a body that was
//! edited in place has the bits of one that is built from the same mesh.
//!
//! `spring/reserved.rs` has springs, `fem/reserved.rs` corotational elements.

pub(in crate::deformable) mod lists;
#[cfg(test)]
mod tests;

use crate::math::{Block, LANES, Real, Vec3};
use lists::Lists;

/// Corner forces of a batch: four corners of eight lanes.
pub(in crate::deformable) const BATCH: usize = 4 * LANES;
/// Numbers that are summed, or searched for the largest, as one group.
const GROUP: usize = 64;

/// A change of the elements of a body, in the numbering after it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ElementPatch<'a> {
    /// Rest positions of all nodes [m].
    pub rest: &'a [Vec3],
    /// Corners of all elements.
    pub tets: &'a [[u32; 4]],
    /// Fill fraction of all elements.
    pub fill: &'a [Real],
    /// Elements that are new, have other corners, another fill fraction or another number; ascending or not.
    pub elements: &'a [u32],
    /// Nodes that are new or have another number.
    pub nodes: &'a [u32],
}

impl ElementPatch<'_> {
    /// Rest positions of the corners of an element [m].
    pub(in crate::deformable) fn at(&self, element: u32) -> [Vec3; 4] {
        self.tets[element as usize].map(|i| self.rest[i as usize])
    }

    /// Volume of an element when it is full [m³].
    pub(in crate::deformable) fn volume(&self, element: u32) -> Real {
        let [a, b, c, d] = self.at(element);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    /// Lanes behind the last element.
    pub(in crate::deformable) fn empty_lanes(&self) -> std::ops::Range<usize> {
        self.tets.len()..self.tets.len().next_multiple_of(LANES)
    }
}

/// A body whose elements are edited in place.
#[doc(hidden)]
pub trait Reserved {
    /// Writes what changed.
    fn patch(&mut self, patch: &ElementPatch<'_>);
    /// Elements at a node, each with its corner in the two lowest bits, in no particular order.
    fn around(&self, node: u32, found: &mut dyn FnMut(u32));
    /// Lumped masses [kg].
    fn node_masses(&self) -> &[Real];
    /// Sum of all masses [kg].
    fn total_mass(&self) -> Real;
    /// Nodes whose mass the last change wrote, some of them twice.
    fn weighed(&self) -> &[u32];
}

/// Nodes, elements and the corners at each node.
#[derive(Clone, Debug)]
pub(in crate::deformable) struct Tets {
    pub corners: Vec<[u32; 4]>,
    /// Volume times fill fraction of each element [m³].
    pub volume: Vec<Real>,
    /// Lumped masses [kg].
    pub mass: Vec<Real>,
    /// Sums of the masses in groups [kg].
    mass_sums: Vec<Real>,
    density: Real,
    /// Corner forces of each node.
    entries: Lists,
    weighed: Vec<u32>,
}

/// Index of the corner force of a corner of an element.
fn entry(element: u32, corner: usize) -> u32 {
    let lanes = LANES as u32;
    (element / lanes * 4 + corner as u32) * lanes + element % lanes
}

/// Element and corner of a corner force.
fn corner_of(entry: u32) -> (u32, u32) {
    let lanes = LANES as u32;
    (entry / BATCH as u32 * lanes + entry % lanes, entry / lanes % 4)
}

impl Tets {
    /// No elements yet, with room for as many.
    pub fn new(nodes: usize, elements: usize, density: Real) -> Self {
        Self {
            corners: Vec::with_capacity(elements),
            volume: Vec::with_capacity(elements),
            mass: Vec::with_capacity(nodes),
            mass_sums: Vec::with_capacity(nodes.div_ceil(GROUP)),
            density,
            entries: Lists::with_capacity(nodes, 4 * elements),
            weighed: Vec::with_capacity(nodes),
        }
    }

    /// Applies a patch to corners, volumes, masses and lists.
    pub fn patch(&mut self, patch: &ElementPatch<'_>) {
        let (before, after) = (self.corners.len(), patch.tets.len());
        self.weighed.clear();
        // out of the lists of their old corners
        let gone = (after as u32)..(before as u32);
        for element in patch.elements.iter().copied().chain(gone).filter(|&e| (e as usize) < before) {
            for (corner, node) in self.corners[element as usize].into_iter().enumerate() {
                self.entries.remove(node as usize, entry(element, corner));
                self.weighed.push(node);
            }
        }
        self.corners.resize(after, [0; 4]);
        self.volume.resize(after, 0.0);
        let nodes = patch.rest.len();
        self.entries.truncate(nodes);
        while self.mass.len() < nodes {
            self.entries.push();
            self.mass.push(0.0);
        }
        self.mass.truncate(nodes);
        self.mass_sums.resize(nodes.div_ceil(GROUP), 0.0);
        self.weighed.retain(|&n| (n as usize) < nodes);
        // into those of their new ones
        for &element in patch.elements {
            let e = element as usize;
            self.corners[e] = patch.tets[e];
            self.volume[e] = patch.volume(element) * patch.fill[e];
            for (corner, node) in self.corners[e].into_iter().enumerate() {
                self.entries.insert(node as usize, entry(element, corner));
                self.weighed.push(node);
            }
        }
        self.weigh();
        // the last group lost nodes
        if let Some(last) = self.mass_sums.len().checked_sub(1) {
            self.sum_group(last);
        }
    }

    /// Masses of the nodes whose elements changed.
    fn weigh(&mut self) {
        let Self { weighed, entries, volume, mass, .. } = self;
        weighed.sort_unstable();
        weighed.dedup();
        for &node in weighed.iter() {
            let share = |&at: &u32| 0.25 * volume[corner_of(at).0 as usize] * self.density;
            mass[node as usize] = entries.of(node as usize).iter().map(share).sum();
        }
        let mut last = usize::MAX;
        for k in 0..self.weighed.len() {
            let group = self.weighed[k] as usize / GROUP;
            if group != last {
                self.sum_group(group);
                last = group;
            }
        }
    }

    fn sum_group(&mut self, group: usize) {
        let end = (GROUP * (group + 1)).min(self.mass.len());
        self.mass_sums[group] = self.mass[GROUP * group..end].iter().sum();
    }

    /// Sum of all masses [kg].
    pub fn total_mass(&self) -> Real {
        self.mass_sums.iter().sum()
    }

    pub fn weighed(&self) -> &[u32] {
        &self.weighed
    }

    /// Calls `found` for the elements at a node, with the corner in the two lowest bits.
    pub fn around(&self, node: u32, found: &mut dyn FnMut(u32)) {
        for &at in self.entries.of(node as usize) {
            let (element, corner) = corner_of(at);
            found(4 * element + corner);
        }
    }

    /// Sum of the forces on the corners at a node.
    #[inline]
    pub fn sum(&self, node: usize, forces: &[Block]) -> Vec3 {
        let mut sum = [0.0; 3];
        for &at in self.entries.of(node) {
            let [x, y, z, _] = forces[at as usize];
            sum = [sum[0] + x, sum[1] + y, sum[2] + z];
        }
        Vec3::from_array(sum)
    }

    /// The corner forces at a node.
    pub fn entries_at(&self, node: usize) -> &[u32] {
        self.entries.of(node)
    }
}

/// The largest of a list of numbers, kept while single ones change.
#[derive(Clone, Debug, Default)]
pub(in crate::deformable) struct Largest {
    numbers: Vec<Real>,
    groups: Vec<Real>,
}

impl Largest {
    pub fn with_capacity(numbers: usize) -> Self {
        Self { numbers: Vec::with_capacity(numbers), groups: Vec::with_capacity(numbers.div_ceil(GROUP)) }
    }

    /// Changes the length; new numbers are 0.
    pub fn resize(&mut self, len: usize) {
        self.numbers.resize(len, 0.0);
        self.groups.resize(len.div_ceil(GROUP), 0.0);
        if let Some(last) = self.groups.len().checked_sub(1) {
            self.search(last);
        }
    }

    pub fn set(&mut self, at: usize, number: Real) {
        let old = std::mem::replace(&mut self.numbers[at], number);
        let group = at / GROUP;
        if number >= self.groups[group] {
            self.groups[group] = number;
        } else if old >= self.groups[group] {
            self.search(group);
        }
    }

    /// A number of the list.
    pub fn at(&self, at: usize) -> Real {
        self.numbers[at]
    }

    pub fn get(&self) -> Real {
        self.groups.iter().copied().fold(0.0, Real::max)
    }

    fn search(&mut self, group: usize) {
        let end = (GROUP * (group + 1)).min(self.numbers.len());
        self.groups[group] = self.numbers[GROUP * group..end].iter().copied().fold(0.0, Real::max);
    }
}

/// The largest eigenvalue ω² of M⁻¹K of one tetrahedron with a quarter of its mass at each corner [1/s²]: no frequency
/// of a body of such elements is higher (Irons 1971). `apply` is K u of the element. By power iteration, with a margin
/// for its error.
pub(in crate::deformable) fn highest(quarter: Real, apply: impl Fn([Vec3; 4]) -> [Vec3; 4]) -> Real {
    const ROUNDS: usize = 24;
    const MARGIN: Real = 1.02;
    let mut u =
        [Vec3::new(1.0, -0.4, 0.7), Vec3::new(-0.8, 0.9, 0.3), Vec3::new(0.2, -0.7, -1.0), Vec3::new(-0.5, 0.3, 0.6)];
    let mut value = 0.0;
    for _ in 0..ROUNDS {
        let image = apply(u);
        let above: Real = u.iter().zip(&image).map(|(u, f)| u.dot(*f)).sum();
        let below: Real = u.iter().map(|u| u.length_squared()).sum();
        let size = image.iter().map(|f| f.length_squared()).sum::<Real>().sqrt();
        if !(above > 0.0 && size > 0.0) {
            return 0.0;
        }
        value = above / below;
        u = image.map(|f| f / size);
    }
    MARGIN * value / quarter
}
