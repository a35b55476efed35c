//! Which copies share a node after elements were split.
//!
//! Two copies on both sides of a face share its three nodes if and only if their matter overlaps on the face; copies
//! around a node are joined over such faces, and each component gets a node copy of its own. The component that has
//! the matter at the node itself keeps the number. Cuts only refine: what is apart is never joined again.

use crate::NONE;
use crate::edit::{Edit, NewNode};
use crate::knife::Work;
use crate::mesh::Mesh;
use crate::parts::Parts;

/// Buffers.
#[derive(Default)]
pub(crate) struct Joiner {
    nodes: Vec<u32>,
    members: Vec<Member>,
    roots: Vec<u32>,
    /// New corners: copy, corner, node.
    renames: Vec<(u32, u8, u32)>,
}

struct Member {
    copy: u32,
    tet: u32,
    corner: u8,
    /// Has the matter at the node itself.
    owner: bool,
}

impl Joiner {
    pub fn reserve(&mut self, items: usize) {
        self.nodes.reserve(items);
        self.members.reserve(items);
        self.roots.reserve(items);
        self.renames.reserve(items);
    }

    /// Gives node copies to the parts of the copies split in this tick; lists those with new corners as touched.
    pub fn join(&mut self, mesh: &Mesh, parts: &mut Parts, work: &mut Work, edit: &mut Edit) {
        let stamp = work.next_stamp();
        self.nodes.clear();
        self.renames.clear();
        for &copy in &work.touched {
            for node in parts.elements[copy as usize].nodes {
                if work.node_stamps[node as usize] != stamp {
                    work.node_stamps[node as usize] = stamp;
                    self.nodes.push(node);
                }
            }
        }
        for k in 0..self.nodes.len() {
            self.divide(self.nodes[k], mesh, parts, work, edit);
        }
        for &(copy, corner, node) in &self.renames {
            parts.elements[copy as usize].nodes[corner as usize] = node;
            work.touched.push(copy);
        }
    }

    fn divide(&mut self, node: u32, mesh: &Mesh, parts: &mut Parts, work: &mut Work, edit: &mut Edit) {
        self.gather(node, mesh, parts, work);
        self.connect(mesh, parts, work);
        // the stamps of elements were used for places in the list
        mesh.star(parts.node_parents[node as usize]).iter().for_each(|&tet| work.tet_stamps[tet as usize] = 0);
        let members = &self.members;
        let owner = members.iter().position(|m| m.owner).unwrap_or_else(|| {
            let least = members.iter().enumerate().min_by_key(|(_, m)| m.copy);
            least.map_or(0, |(k, _)| k)
        });
        let count = members.len();
        if count == 0 {
            edit.removed_nodes.push(node);
            return;
        }
        let keeper = find(&mut self.roots, owner as u32);
        for k in 0..count as u32 {
            // a root is the least of its component, so that it comes first
            let root = find(&mut self.roots, k);
            if root == keeper || root != k {
                continue;
            }
            let made = parts.node_parents.len() as u32;
            parts.node_parents.push(parts.node_parents[node as usize]);
            work.node_stamps.push(0);
            edit.new_nodes.push(NewNode { node: made, from: node });
            for j in k..count as u32 {
                if find(&mut self.roots, j) == root {
                    let member = &self.members[j as usize];
                    self.renames.push((member.copy, member.corner, made));
                }
            }
        }
    }

    /// All copies with this corner.
    fn gather(&mut self, node: u32, mesh: &Mesh, parts: &Parts, work: &mut Work) {
        let parent = parts.node_parents[node as usize];
        self.members.clear();
        self.roots.clear();
        for &tet in mesh.star(parent) {
            let Some(corner) = mesh.corner(tet, parent) else { continue };
            // where the members of this element begin
            work.tet_stamps[tet as usize] = self.members.len() as u32;
            for copy in parts.copies(tet) {
                if parts.elements[copy as usize].nodes[corner] == node {
                    let owner = parts.planes(copy).iter().all(|plane| plane.levels[corner] > 0);
                    self.roots.push(self.members.len() as u32);
                    self.members.push(Member { copy, tet, corner: corner as u8, owner });
                }
            }
        }
    }

    fn connect(&mut self, mesh: &Mesh, parts: &Parts, work: &mut Work) {
        let mut first_owner = None;
        for a in 0..self.members.len() {
            let Member { copy, tet, corner, owner } = self.members[a];
            if owner {
                let first = *first_owner.get_or_insert(a as u32);
                union(&mut self.roots, first, a as u32);
            }
            for side in (0..4).filter(|&side| side != corner as usize) {
                let neighbour = mesh.neighbours[tet as usize][side];
                if neighbour == NONE || neighbour < tet {
                    continue;
                }
                let start = work.tet_stamps[neighbour as usize] as usize;
                let mut orders = None;
                for b in start..self.members.len() {
                    if self.members[b].tet != neighbour {
                        break;
                    }
                    if find(&mut self.roots, a as u32) == find(&mut self.roots, b as u32) {
                        continue;
                    }
                    let (here, there) = *orders.get_or_insert_with(|| {
                        (mesh.face_order(tet, side), mesh.face_order(neighbour, mesh.back(neighbour, tet)))
                    });
                    if parts.overlap((copy, here), (self.members[b].copy, there)) {
                        union(&mut self.roots, a as u32, b as u32);
                    }
                }
            }
        }
    }
}

pub(crate) fn find(roots: &mut [u32], mut k: u32) -> u32 {
    while roots[k as usize] != k {
        roots[k as usize] = roots[roots[k as usize] as usize];
        k = roots[k as usize];
    }
    k
}

/// The lower number becomes the root.
pub(crate) fn union(roots: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(roots, a), find(roots, b));
    roots[a.max(b) as usize] = a.min(b);
}
