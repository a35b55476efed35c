//! Stanford PLY through ply-rs-bw, with a check of the header: the crate reads as many elements as the header claims,
//! and an element without properties takes no bytes, so `element vertex 1000000000000` would never end.
//!
//! Elements are read directly into a point or a polygon, not into the crate's map of properties (40 times the size of
//! the file).

use super::{indices, xyz};
use crate::draft::{Draft, Shape};
use crate::error::Place;
use crate::mesh::Mesh;
use crate::scan::{Fault, Parsed, Scan};
use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{
    ElementDef, Encoding, Header, Property, PropertyAccess, PropertyAccessResult, PropertyType, ScalarType,
};

/// An element `vertex`.
struct Corner([f64; 3]);

impl PropertyAccess for Corner {
    fn new() -> Self {
        Corner([0.0; 3])
    }

    fn set_property(&mut self, name: &str, value: Property) -> PropertyAccessResult {
        let axis = match name {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return PropertyAccessResult::Ignored,
        };
        self.0[axis] = match value {
            Property::Char(x) => x.into(),
            Property::UChar(x) => x.into(),
            Property::Short(x) => x.into(),
            Property::UShort(x) => x.into(),
            Property::Int(x) => x.into(),
            Property::UInt(x) => x.into(),
            Property::Float(x) => x.into(),
            Property::Double(x) => x,
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// An element `face`, with indices as the file has them.
struct Face(Vec<i64>);

impl PropertyAccess for Face {
    fn new() -> Self {
        Face(Vec::new())
    }

    fn set_property(&mut self, name: &str, value: Property) -> PropertyAccessResult {
        if !is_corners(name) {
            return PropertyAccessResult::Ignored;
        }
        self.0 = match value {
            Property::ListChar(l) => l.into_iter().map(i64::from).collect(),
            Property::ListUChar(l) => l.into_iter().map(i64::from).collect(),
            Property::ListShort(l) => l.into_iter().map(i64::from).collect(),
            Property::ListUShort(l) => l.into_iter().map(i64::from).collect(),
            Property::ListInt(l) => l.into_iter().map(i64::from).collect(),
            Property::ListUInt(l) => l.into_iter().map(i64::from).collect(),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// Any other element: uses no memory.
struct Skipped;

impl PropertyAccess for Skipped {
    fn new() -> Self {
        Skipped
    }
}

fn is_corners(name: &str) -> bool {
    matches!(name, "vertex_indices" | "vertex_index")
}

pub fn read(bytes: &[u8]) -> Parsed<Mesh> {
    let mut file = File { bytes, reader: Reader::new(bytes), text: true };
    let header = Parser::<Skipped>::new().read_header(&mut file.reader).map_err(|e| file.fault(&e))?;
    file.text = header.encoding == Encoding::Ascii;
    let mut draft = Draft::default();
    for (name, element) in &header.elements {
        file.check_room(element)?;
        match name.as_str() {
            "vertex" => {
                if let Some(axis) = ["x", "y", "z"].iter().find(|axis| !element.properties.contains_key(**axis)) {
                    return Err(Fault::whole(format!("element vertex has no property {axis}")));
                }
                for Corner(at) in file.elements(element, &header)? {
                    draft.vertex(at).map_err(Fault::whole)?;
                }
            }
            "face" => faces(file.elements(element, &header)?, element, &mut draft)?,
            _ => {
                let skipped: Vec<Skipped> = file.elements(element, &header)?;
                draft.leave_out(name, skipped.len() as u64);
            }
        }
    }
    draft.finish()
}

fn faces(faces: Vec<Face>, element: &ElementDef, draft: &mut Draft) -> Parsed<()> {
    if !element.properties.keys().any(|name| is_corners(name)) {
        return Err(Fault::whole("element face has no list property vertex_indices"));
    }
    let mut corners = Vec::new();
    for (i, Face(list)) in faces.into_iter().enumerate() {
        corners.clear();
        for corner in list {
            let index = u32::try_from(corner).map_err(|_| Fault::whole(format!("face {i} names vertex {corner}")))?;
            corners.push(index);
        }
        draft.cell(Shape::Polygon, &corners).map_err(|what| Fault::whole(format!("face {i}: {what}")))?;
    }
    Ok(())
}

struct File<'a> {
    bytes: &'a [u8],
    reader: Reader<&'a [u8]>,
    text: bool,
}

impl File<'_> {
    fn elements<E: PropertyAccess>(&mut self, element: &ElementDef, header: &Header) -> Parsed<Vec<E>> {
        Parser::new().read_payload_for_element(&mut self.reader, element, header).map_err(|e| self.fault(&e))
    }

    /// The crate's message with the line, or with the byte that was reached.
    fn fault(&self, error: &ParseError) -> Fault {
        let byte = Place::Byte(self.bytes.len() - self.reader.get_ref().len());
        let place = if self.text { error.line().map_or(byte, Place::Line) } else { byte };
        // "Line 3: ..
        // \tString: ..": the position is reported already, and the first line is sufficient
        let words = error.to_string();
        let words = if error.line().is_some() { words.split_once(": ").map_or("", |(_, rest)| rest) } else { &words };
        let what = words.lines().take(2).map(str::trim).collect::<Vec<_>>().join(" ");
        Fault { place, what: what.chars().take(300).collect() }
    }

    /// Refuses more elements than the remainder of the file can contain.
    fn check_room(&self, element: &ElementDef) -> Parsed<()> {
        let least: usize = element.properties.values().map(|p| self.least_bytes(&p.data_type)).sum();
        let mut scan = Scan::new(self.bytes);
        scan.go(self.bytes.len() - self.reader.get_ref().len());
        // an element without properties still takes a line of text
        let least = if self.text { least.max(1) } else { least };
        if least == 0 && element.count > 0 {
            return Err(Fault::whole(format!("element {} has no properties", element.name)));
        }
        scan.claim(element.count as u64, &format!("the number of {} elements", element.name), least)
            .map_err(|fault| Fault { place: Place::File, ..fault })?;
        Ok(())
    }

    fn least_bytes(&self, kind: &PropertyType) -> usize {
        let scalar = match kind {
            PropertyType::Scalar(scalar) => scalar,
            PropertyType::List(count, _) => count,
        };
        match scalar {
            _ if self.text => 2,
            ScalarType::Char | ScalarType::UChar => 1,
            ScalarType::Short | ScalarType::UShort => 2,
            ScalarType::Int | ScalarType::UInt | ScalarType::Float => 4,
            ScalarType::Double => 8,
        }
    }
}

fn header(mesh: &Mesh, encoding: &str) -> String {
    format!(
        "ply\nformat {encoding} 1.0\ncomment written by sinew\nelement vertex {}\nproperty double x\nproperty double y\n\
         property double z\nelement face {}\nproperty list uchar uint vertex_indices\nend_header\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    )
}

pub fn write(mesh: &Mesh) -> Vec<u8> {
    let mut out = header(mesh, "binary_little_endian").into_bytes();
    for x in mesh.vertices.iter().flatten() {
        out.extend(x.to_le_bytes());
    }
    for t in &mesh.triangles {
        out.push(3);
        out.extend(t.iter().flat_map(|i| i.to_le_bytes()));
    }
    out
}

pub fn write_text(mesh: &Mesh) -> String {
    let mut text = header(mesh, "ascii");
    for v in &mesh.vertices {
        text.push_str(&format!("{}\n", xyz(v)));
    }
    for t in &mesh.triangles {
        text.push_str(&format!("3 {}\n", indices(t, 0)));
    }
    text
}
