//! TetGen's text files: `.node` (points), `.ele` (tetrahedra), `.face` (triangles), with a common base name. Layout:
//! TetGen manual, "File formats". Point indices may start at 0 or at 1, as defined by the ids in the file.

use super::{Sibling, in_sibling, indices, xyz};
use crate::draft::{Draft, Ids, Shape};
use crate::mesh::Mesh;
use crate::scan::{Fault, Parsed, Scan};

/// `bytes` is one of the files, and `name` determines which; the others are read through `sibling`.
pub fn read(bytes: &[u8], name: &str, sibling: Sibling<'_>) -> Parsed<Mesh> {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "node"));
    let ending = ending.to_ascii_lowercase();
    let mut draft = Draft::default();
    let mut ids = Ids::default();

    // the points are required
    if ending == "node" {
        points(bytes, &mut draft, &mut ids)?;
    } else {
        let other = format!("{stem}.node");
        let bytes = sibling(&other).map_err(Fault::whole)?;
        points(&bytes, &mut draft, &mut ids).map_err(|fault| in_sibling(&other, fault))?;
    }

    // element files are read if they exist; one of the two kinds is sufficient
    for (kind, shape) in [("ele", Shape::Tet), ("face", Shape::Triangle)] {
        if ending == kind {
            elements(bytes, shape, &mut draft, &ids)?;
        } else if let Ok(bytes) = sibling(&format!("{stem}.{kind}")) {
            elements(&bytes, shape, &mut draft, &ids).map_err(|f| in_sibling(&format!("{stem}.{kind}"), f))?;
        }
    }
    draft.finish()
}

/// `count dimension attributes markers`, then `id x y z ..`.
fn points(bytes: &[u8], draft: &mut Draft, ids: &mut Ids) -> Parsed<()> {
    let mut scan = Scan::new(bytes).with_remarks(b'#');
    let count = scan.count("the number of points", 8)?;
    let dimension = scan.int("the dimension")?;
    if dimension != 3 {
        return Err(scan.fault(format!("dimension {dimension}: only 3 is read")));
    }
    scan.line();
    for _ in 0..count {
        let id = scan.int("the id of a point")?;
        if !ids.push(id) {
            return Err(scan.fault(format!("point id {id} is used twice")));
        }
        let at = [scan.real("x of a point")?, scan.real("y of a point")?, scan.real("z of a point")?];
        draft.vertex(at).map_err(|what| scan.fault(what))?;
        // attributes and marker
        scan.line();
    }
    Ok(())
}

/// `count [nodes] ..`, then `id nodes.. ..`.
fn elements(bytes: &[u8], shape: Shape, draft: &mut Draft, ids: &Ids) -> Parsed<()> {
    let mut scan = Scan::new(bytes).with_remarks(b'#');
    let corners = if shape == Shape::Tet { 4 } else { 3 };
    let count = scan.count("the number of elements", 2 + 2 * corners)?;
    let mut nodes = corners;
    if shape == Shape::Tet {
        nodes = match scan.int("the number of nodes of a tetrahedron")? {
            4 => 4,
            10 => 10,
            other => return Err(scan.fault(format!("tetrahedra of {other} nodes: 4 and 10 are read"))),
        };
    }
    scan.line();
    let mut cell = Vec::new();
    let mut seen = Vec::new();
    for _ in 0..count {
        let id = scan.int("the id of an element")?;
        seen.push(id);
        cell.clear();
        for _ in 0..nodes {
            let node = scan.int("a point of an element")?;
            let index = ids
                .find(node)
                .ok_or_else(|| scan.fault(format!("element {id} names point {node}, which is not there")))?;
            cell.push(index);
        }
        draft.cell(shape, &cell).map_err(|what| scan.fault(what))?;
        scan.line();
    }
    // faces have separate ids: only those of tetrahedra are checked
    if shape == Shape::Tet {
        draft.element_ids(seen);
    }
    Ok(())
}

/// File name extensions and texts, points counted from 1.
pub fn write(mesh: &Mesh) -> Vec<(&'static str, String)> {
    let mut node = format!("{} 3 0 0\n", mesh.vertices.len());
    for (i, v) in mesh.vertices.iter().enumerate() {
        node.push_str(&format!("{} {}\n", i + 1, xyz(v)));
    }
    let mut files = vec![("node", node)];
    if !mesh.tets.is_empty() {
        files.push(("ele", list(format!("{} 4 0\n", mesh.tets.len()), &mesh.tets)));
    }
    if !mesh.triangles.is_empty() {
        files.push(("face", list(format!("{} 0\n", mesh.triangles.len()), &mesh.triangles)));
    }
    files
}

fn list<const N: usize>(mut text: String, elements: &[[u32; N]]) -> String {
    for (i, nodes) in elements.iter().enumerate() {
        text.push_str(&format!("{} {}\n", i + 1, indices(nodes, 1)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 3] = [
        ("node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"),
        ("ele", "1 4 0\n1 1 2 3 4\n"),
        ("face", "1 0\n1 1 3 2\n"),
    ];

    /// Reads the three files, one of them replaced.
    fn with(ending: &str, bytes: &[u8]) -> Parsed<Mesh> {
        let sibling = |name: &str| {
            let found = FILES.iter().find(|(e, _)| name == format!("a.{e}"));
            found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "not there".to_owned())
        };
        read(bytes, &format!("a.{ending}"), &sibling)
    }

    #[test]
    fn a_damaged_file_of_the_three_is_read_or_refused() {
        for (ending, text) in FILES {
            assert!(with(ending, text.as_bytes()).is_ok_and(|m| m.tets.len() == 1 && m.triangles.len() == 1));
            for at in 0..text.len() {
                _ = with(ending, &text.as_bytes()[..at]);
                for value in 0..=255 {
                    let mut damaged = text.as_bytes().to_vec();
                    damaged[at] = value;
                    if let Ok(mesh) = with(ending, &damaged) {
                        let mut named = mesh.triangles.iter().flatten().chain(mesh.tets.iter().flatten());
                        assert!(named.all(|&i| (i as usize) < mesh.vertices.len()));
                    }
                }
            }
        }
    }
}
