//! Stereolithography; a reader of our own. stl_io 0.11 stops at the first `endsolid` (further solids are lost
//! silently), refuses `solid` without a name and `nan` normals, and its errors have no position.
//!
//! The format has no shared vertices: those at the same position are merged. Normals are ignored: the order of corners
//! determines the orientation.

use crate::draft::{Draft, Shape};
use crate::geometry::{Point, cross, length, sub};
use crate::inspect::weld;
use crate::mesh::Mesh;
use crate::scan::{Endian, Fault, Parsed, Scan};

/// Bytes before the triangles, and bytes of one triangle.
const HEAD: usize = 84;
const TRIANGLE: usize = 50;

pub fn read(bytes: &[u8]) -> Parsed<Mesh> {
    let claimed = bytes.get(80..HEAD).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let fits = claimed.is_some_and(|n| n.checked_mul(TRIANGLE).and_then(|b| b.checked_add(HEAD)) == Some(bytes.len()));
    // binary files may begin with "solid" too: the length of the file decides
    let mut draft =
        if !fits && bytes.trim_ascii_start().starts_with(b"solid") { read_text(bytes)? } else { read_binary(bytes)? };
    weld(&mut draft.mesh, 0.0);
    draft.finish()
}

fn read_binary(bytes: &[u8]) -> Parsed<Draft> {
    let mut scan = Scan::new(bytes);
    if bytes.len() < HEAD {
        return Err(Fault::whole(format!("{} bytes: neither text (begins with 'solid') nor binary STL", bytes.len())));
    }
    scan.take(80, "the header")?;
    let count = u32::from_le_bytes(scan.bytes(Endian::Little, "the number of triangles")?);
    let count = scan.claim(u64::from(count), "the number of triangles", TRIANGLE)?;
    let mut draft = Draft::default();
    for _ in 0..count {
        scan.take(12, "a normal")?;
        triangle(&mut draft, |draft| {
            let mut at = [0.0; 3];
            for x in &mut at {
                *x = f64::from(f32::from_le_bytes(scan.bytes(Endian::Little, "a coordinate")?));
            }
            draft.vertex(at).map_err(|what| scan.fault(what))
        })?;
        scan.take(2, "attributes")?;
    }
    Ok(draft)
}

fn triangle(draft: &mut Draft, mut vertex: impl FnMut(&mut Draft) -> Parsed<()>) -> Parsed<()> {
    let first = draft.mesh.vertices.len() as u32;
    for _ in 0..3 {
        vertex(draft)?;
    }
    draft.mesh.triangles.push([first, first + 1, first + 2]);
    Ok(())
}

fn read_text(bytes: &[u8]) -> Parsed<Draft> {
    let mut scan = Scan::new(bytes);
    let mut draft = Draft::default();
    while let Some(word) = scan.word() {
        match word.to_ascii_lowercase().as_str() {
            // the rest of the line is a name
            "solid" | "endsolid" => _ = scan.line(),
            "facet" => facet(&mut scan, &mut draft)?,
            _ => {
                return Err(scan.fault(format!("expected 'facet' or 'endsolid', found '{}'", crate::scan::short(word))));
            }
        }
    }
    Ok(draft)
}

/// From `facet` to `endfacet`.
fn facet(scan: &mut Scan<'_>, draft: &mut Draft) -> Parsed<()> {
    let first = draft.mesh.vertices.len() as u32;
    loop {
        let word = scan.expect("'vertex' or 'endfacet'")?.to_ascii_lowercase();
        match word.as_str() {
            "vertex" => {
                let at = [scan.real("x of a vertex")?, scan.real("y of a vertex")?, scan.real("z of a vertex")?];
                draft.vertex(at).map_err(|what| scan.fault(what))?;
            }
            "endfacet" => break,
            "facet" | "endsolid" | "solid" => return Err(scan.fault(format!("expected 'endfacet' before '{word}'"))),
            // normal, outer, loop, endloop and the numbers of the normal
            _ => {}
        }
    }
    let corners: Vec<u32> = (first..draft.mesh.vertices.len() as u32).collect();
    draft.cell(Shape::Polygon, &corners).map_err(|what| scan.fault(what))
}

fn normal([a, b, c]: [Point; 3]) -> Point {
    let n = cross(sub(b, a), sub(c, a));
    let l = length(n);
    if l > 0.0 { n.map(|x| x / l) } else { [0.0; 3] }
}

pub fn write(mesh: &Mesh) -> Vec<u8> {
    let mut out = b"binary STL written by sinew".to_vec();
    out.resize(80, b' ');
    out.extend((mesh.triangles.len() as u32).to_le_bytes());
    for &t in &mesh.triangles {
        let corners = mesh.triangle(t);
        for x in [normal(corners)].iter().chain(&corners).flatten() {
            out.extend((*x as f32).to_le_bytes());
        }
        out.extend([0, 0]);
    }
    out
}

pub fn write_text(mesh: &Mesh) -> String {
    let mut text = String::from("solid sinew\n");
    for &t in &mesh.triangles {
        let corners = mesh.triangle(t);
        text.push_str(&format!("facet normal {}\n outer loop\n", super::xyz(&normal(corners))));
        for v in corners {
            text.push_str(&format!("  vertex {}\n", super::xyz(&v)));
        }
        text.push_str(" endloop\nendfacet\n");
    }
    text.push_str("endsolid sinew\n");
    text
}
