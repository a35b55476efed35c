//! A mesh under construction while its file is read: the rules common to all formats.

use crate::mesh::{Mesh, Notes};
use crate::scan::{Fault, Parsed};
use std::collections::BTreeMap;

/// Shape of an element, by its corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Triangle,
    Quad,
    /// Four corners in row order: the last two are swapped compared with a quad.
    Pixel,
    Polygon,
    Strip,
    Tet,
    /// Unsupported: counted in the notes.
    Other(&'static str),
}

/// Collects the elements that a reader finds.
#[derive(Default)]
pub struct Draft {
    pub mesh: Mesh,
}

impl Draft {
    /// Adds a vertex; the error is a message.
    pub fn vertex(&mut self, at: [f64; 3]) -> Result<(), String> {
        if !at.iter().all(|x| x.is_finite()) {
            return Err(format!("vertex {} is not finite: {at:?}", self.mesh.vertices.len()));
        }
        self.mesh.vertices.push(at);
        Ok(())
    }

    /// Adds an element by the indices of its nodes, corners first.
    pub fn cell(&mut self, shape: Shape, nodes: &[u32]) -> Result<(), String> {
        let needed = match shape {
            Shape::Triangle | Shape::Polygon | Shape::Strip => 3,
            Shape::Quad | Shape::Pixel | Shape::Tet => 4,
            Shape::Other(kind) => {
                self.leave_out(kind, 1);
                return Ok(());
            }
        };
        if nodes.len() < needed {
            return Err(format!("{} corners, a {} needs {needed}", nodes.len(), name(shape)));
        }
        match shape {
            Shape::Polygon => self.fan(nodes),
            Shape::Strip => self.strip(nodes),
            Shape::Quad => self.fan(&nodes[..4]),
            Shape::Pixel => self.fan(&[nodes[0], nodes[1], nodes[3], nodes[2]]),
            Shape::Triangle => self.mesh.triangles.push([nodes[0], nodes[1], nodes[2]]),
            Shape::Tet => self.mesh.tets.push([nodes[0], nodes[1], nodes[2], nodes[3]]),
            Shape::Other(_) => {}
        }
        let flexible = matches!(shape, Shape::Polygon | Shape::Strip);
        self.mesh.notes.quadratic += u64::from(!flexible && nodes.len() > needed);
        Ok(())
    }

    fn fan(&mut self, corners: &[u32]) {
        for pair in corners[1..].windows(2) {
            self.mesh.triangles.push([corners[0], pair[0], pair[1]]);
        }
        self.mesh.notes.polygons += u64::from(corners.len() > 3);
    }

    /// Every second triangle of a strip has the opposite orientation.
    fn strip(&mut self, corners: &[u32]) {
        for (i, three) in corners.windows(3).enumerate() {
            let [a, b, c] = [three[0], three[1], three[2]];
            self.mesh.triangles.push(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
        }
    }

    /// Counts elements that Sinew does not use.
    pub fn leave_out(&mut self, kind: &str, count: u64) {
        if count > 0 {
            *self.mesh.notes.left_out.entry(kind.to_owned()).or_default() += count;
        }
    }

    /// Counts element ids that are used more than once.
    pub fn element_ids(&mut self, mut ids: Vec<i64>) {
        ids.sort_unstable();
        let mut repeated = ids.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let Notes { repeated_ids, repeated_id, .. } = &mut self.mesh.notes;
        *repeated_id = repeated.next();
        *repeated_ids = u64::from(repeated_id.is_some()) + repeated.count() as u64;
    }

    /// The mesh, when all indices are in range and it is not empty.
    pub fn finish(mut self) -> Parsed<Mesh> {
        let mesh = &mut self.mesh;
        let count = mesh.vertices.len();
        let worst = mesh.triangles.iter().flatten().chain(mesh.tets.iter().flatten()).max();
        if let Some(&worst) = worst.filter(|&&w| w as usize >= count) {
            return Err(Fault::whole(format!("an element names vertex {worst}, but there are {count} (from 0)")));
        }
        if mesh.triangles.is_empty() && mesh.tets.is_empty() {
            let others = mesh.notes.lines().join("; ");
            let tail = if others.is_empty() { others } else { format!(" ({others})") };
            return Err(Fault::whole(format!("no triangles and no tetrahedra, only {count} vertices{tail}")));
        }
        // mid-edge nodes would remain as unused vertices
        if mesh.notes.quadratic > 0 {
            mesh.drop_unused();
        }
        Ok(self.mesh)
    }
}

fn name(shape: Shape) -> &'static str {
    match shape {
        Shape::Triangle => "triangle",
        Shape::Quad | Shape::Pixel => "quadrilateral",
        Shape::Polygon => "polygon",
        Shape::Strip => "triangle strip",
        Shape::Tet => "tetrahedron",
        Shape::Other(kind) => kind,
    }
}

/// Node ids of a file, and their vertices.
#[derive(Default)]
pub struct Ids {
    index: BTreeMap<i64, u32>,
    /// Consecutive ids, the usual case, need no map: the first id and their number.
    row: (i64, u32),
}

impl Ids {
    /// Assigns an id to the next vertex. False when another vertex has it: element references would then be ambiguous.
    pub fn push(&mut self, id: i64) -> bool {
        let next = self.index.len() as u32 + self.row.1;
        if next == 0 {
            self.row = (id, 1);
            return true;
        }
        if self.index.is_empty() && self.row.0.checked_add(i64::from(self.row.1)) == Some(id) {
            self.row.1 += 1;
            return true;
        }
        self.find(id).is_none() && self.index.insert(id, next).is_none()
    }

    /// The vertex of an id.
    pub fn find(&self, id: i64) -> Option<u32> {
        let place = id.checked_sub(self.row.0).and_then(|p| u32::try_from(p).ok()).filter(|&p| p < self.row.1);
        place.or_else(|| self.index.get(&id).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_may_start_anywhere_and_have_gaps_but_not_repeat() {
        let mut ids = Ids::default();
        for id in [5, 6, 7, 20, 3, 8] {
            assert!(ids.push(id));
        }
        assert_eq!([5, 7, 20, 3, 8].map(|id| ids.find(id)), [Some(0), Some(2), Some(3), Some(4), Some(5)]);
        assert_eq!((ids.find(4), ids.find(9)), (None, None));
        assert!(!ids.push(6) && !ids.push(20));
    }

    #[test]
    fn triangles_of_a_strip_have_one_orientation() {
        let mut draft = Draft::default();
        draft.cell(Shape::Strip, &[0, 1, 2, 3]).unwrap();
        assert_eq!(draft.mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
    }

    #[test]
    fn repeated_ids_are_counted() {
        let mut draft = Draft::default();
        draft.element_ids(vec![44, 1, 44, 44]);
        assert_eq!((draft.mesh.notes.repeated_ids, draft.mesh.notes.repeated_id), (2, Some(44)));
    }
}
