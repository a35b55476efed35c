//! Wavefront OBJ; a reader of our own. tobj 4.0.5 panics on `f 1/-99 1/-99 1/-99` when overflow is checked, gives no
//! line in its errors, and renumbers vertices by texture coordinate and normal.
//!
//! Read: `v` (a fourth number and colours are ignored), `f` with any number of corners, negative indices, lines
//! continued by a backslash. Counted in the notes: `l`, `p`. All else is skipped: textures, normals, groups, materials.

use super::{indices, xyz};
use crate::draft::{Draft, Shape};
use crate::mesh::Mesh;
use crate::scan::{Parsed, Scan, short};
use std::borrow::Cow;

pub fn read(bytes: &[u8]) -> Parsed<Mesh> {
    let mut scan = Scan::new(bytes);
    let mut draft = Draft::default();
    let mut corners = Vec::new();
    // a face may refer to vertices that come later: the highest index is checked at the end
    let mut highest = None;
    while let Some(line) = scan.line() {
        let at = scan.clone();
        let line = joined(line, &mut scan);
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let point = vertex(&mut words).map_err(|what| at.fault(what))?;
                draft.vertex(point).map_err(|what| at.fault(what))?;
            }
            Some("f") => {
                corners.clear();
                for word in words {
                    corners.push(corner(word, draft.mesh.vertices.len()).map_err(|what| at.fault(what))?);
                }
                draft.cell(Shape::Polygon, &corners).map_err(|what| at.fault(what))?;
                let most = corners.iter().copied().max();
                if most > highest.as_ref().map(|(i, _)| *i) {
                    highest = most.map(|i| (i, at));
                }
            }
            Some("l") => draft.leave_out("line", 1),
            Some("p") => draft.leave_out("point", 1),
            _ => {}
        }
    }
    let count = draft.mesh.vertices.len();
    match highest {
        Some((index, at)) if index as usize >= count => {
            Err(at.fault(format!("the face names vertex {}, but the file has {count}", u64::from(index) + 1)))
        }
        _ => draft.finish(),
    }
}

/// The line with its continuation lines.
fn joined<'a>(line: &'a str, scan: &mut Scan<'a>) -> Cow<'a, str> {
    let mut line = Cow::Borrowed(line);
    while line.ends_with('\\') {
        let mut long = line.into_owned();
        long.pop();
        long.push(' ');
        long.push_str(scan.line().unwrap_or(""));
        line = Cow::Owned(long);
    }
    line
}

fn vertex<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<[f64; 3], String> {
    let mut at = [0.0; 3];
    for (x, axis) in at.iter_mut().zip(["x", "y", "z"]) {
        let word = words.next().ok_or_else(|| format!("a vertex needs three numbers, {axis} is missing"))?;
        *x = word.parse().map_err(|_| format!("expected {axis} of a vertex (a number), found '{}'", short(word)))?;
    }
    Ok(at)
}

/// The vertex index of `3`, `3/1`, `3//2`, `3/1/2` or `-1`.
fn corner(word: &str, count: usize) -> Result<u32, String> {
    let digits = word.split('/').next().unwrap_or(word);
    let number: i64 = digits.parse().map_err(|_| {
        format!("expected a corner such as 3, 3/1 or 3//2 (a whole number first), found '{}'", short(word))
    })?;
    let index = if number > 0 { Some(number - 1) } else { number.checked_add(count as i64) };
    let index = index.filter(|_| number != 0).and_then(|i| u32::try_from(i).ok());
    index.ok_or_else(|| {
        format!("corner {number}: vertices count from 1, or backwards from -1, and there are {count} so far")
    })
}

pub fn write(mesh: &Mesh) -> String {
    let mut text = String::from("# vertices and triangles, written by sinew\n");
    for v in &mesh.vertices {
        text.push_str(&format!("v {}\n", xyz(v)));
    }
    for t in &mesh.triangles {
        text.push_str(&format!("f {}\n", indices(t, 1)));
    }
    text
}
