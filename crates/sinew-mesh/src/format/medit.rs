//! MEDIT `.mesh`, text. Keywords followed by a count; vertex indices start at 1.

use super::{indices, xyz};
use crate::draft::{Draft, Shape};
use crate::mesh::Mesh;
use crate::scan::{Parsed, Scan, short};

/// Keyword, shape, nodes of an element. All other keywords are skipped.
const ELEMENTS: [(&str, Shape, usize); 10] = [
    ("Triangles", Shape::Triangle, 3),
    ("Tetrahedra", Shape::Tet, 4),
    ("Quadrilaterals", Shape::Quad, 4),
    ("TrianglesP2", Shape::Triangle, 6),
    ("TetrahedraP2", Shape::Tet, 10),
    ("Edges", Shape::Other("line"), 2),
    ("Hexahedra", Shape::Other("hexahedron"), 8),
    ("Hexaedra", Shape::Other("hexahedron"), 8),
    ("Prisms", Shape::Other("prism"), 6),
    ("Pyramids", Shape::Other("pyramid"), 5),
];

pub fn read(bytes: &[u8]) -> Parsed<Mesh> {
    let mut scan = Scan::new(bytes).with_remarks(b'#');
    let mut draft = Draft::default();
    if scan.expect("'MeshVersionFormatted'")? != "MeshVersionFormatted" {
        return Err(
            scan.fault("expected 'MeshVersionFormatted': a MEDIT text begins with it (binary .meshb is not read)")
        );
    }
    scan.int("the version")?;
    while let Some(word) = scan.word() {
        match word {
            "End" => break,
            "Dimension" => {
                let dimension = scan.int("the dimension")?;
                if dimension != 3 {
                    return Err(scan.fault(format!("dimension {dimension}: only 3 is read")));
                }
            }
            "Vertices" => vertices(&mut scan, &mut draft)?,
            _ => match ELEMENTS.iter().find(|(keyword, ..)| *keyword == word) {
                Some(&(_, shape, nodes)) => elements(&mut scan, &mut draft, shape, nodes)?,
                None if word.starts_with(|c: char| c.is_ascii_alphabetic()) => skip_numbers(&mut scan),
                None => return Err(scan.fault(format!("expected a keyword, found '{}'", short(word)))),
            },
        }
    }
    draft.finish()
}

fn vertices(scan: &mut Scan<'_>, draft: &mut Draft) -> Parsed<()> {
    for _ in 0..scan.count("the number of vertices", 8)? {
        let at = [scan.real("x of a vertex")?, scan.real("y of a vertex")?, scan.real("z of a vertex")?];
        draft.vertex(at).map_err(|what| scan.fault(what))?;
        reference(scan)?;
    }
    Ok(())
}

/// The label after a vertex or element. Some programs write it as a real number.
fn reference(scan: &mut Scan<'_>) -> Parsed<()> {
    scan.real("a reference").map(|_| ())
}

fn elements(scan: &mut Scan<'_>, draft: &mut Draft, shape: Shape, nodes: usize) -> Parsed<()> {
    let mut cell = Vec::with_capacity(nodes);
    for _ in 0..scan.count("the number of elements", 2 * nodes + 2)? {
        cell.clear();
        for _ in 0..nodes {
            let node = scan.int("a vertex of an element")?;
            // vertices may follow later: `finish` checks the index
            match u32::try_from(node) {
                Ok(n) if n > 0 => cell.push(n - 1),
                _ => return Err(scan.fault(format!("vertex {node}: vertices count from 1"))),
            }
        }
        draft.cell(shape, &cell).map_err(|what| scan.fault(what))?;
        reference(scan)?;
    }
    Ok(())
}

/// Sections that are not used consist of numbers up to the next keyword.
fn skip_numbers(scan: &mut Scan<'_>) {
    while scan.peek().is_some_and(|word| word.parse::<f64>().is_ok()) {
        scan.word();
    }
}

pub fn write(mesh: &Mesh) -> String {
    let mut text = format!("MeshVersionFormatted 2\nDimension 3\nVertices\n{}\n", mesh.vertices.len());
    for v in &mesh.vertices {
        text.push_str(&format!("{} 0\n", xyz(v)));
    }
    list(&mut text, "Triangles", &mesh.triangles);
    list(&mut text, "Tetrahedra", &mesh.tets);
    text.push_str("End\n");
    text
}

fn list<const N: usize>(text: &mut String, keyword: &str, elements: &[[u32; N]]) {
    if elements.is_empty() {
        return;
    }
    text.push_str(&format!("{keyword}\n{}\n", elements.len()));
    for nodes in elements {
        text.push_str(&format!("{} 0\n", indices(nodes, 1)));
    }
}
