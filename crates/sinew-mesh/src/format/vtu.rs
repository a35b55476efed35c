//! VTK XML unstructured grids (`.vtu`): arrays as text, inline base64, or appended as base64 or raw bytes. Several
//! pieces are merged. Compressed arrays are refused: ParaView has an option to save without compression.

use super::vtk::add_cells;
use super::xml::{Tag, next_tag};
use super::{indices, xyz};
use crate::cells;
use crate::draft::Draft;
use crate::mesh::Mesh;
use crate::scan::{Endian, Fault, Parsed, Scan, short};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::cell::Cell;

/// An array of a piece, not yet decoded.
struct Array<'a> {
    /// The enclosing tag: `Points` or `Cells`.
    group: &'a str,
    name: &'a str,
    kind: &'a str,
    format: &'a str,
    /// Offset in the appended data [bytes].
    offset: usize,
    /// Inline text, and its byte offset.
    text: &'a [u8],
    at: usize,
}

/// Properties of the whole file.
struct File<'a> {
    bytes: &'a [u8],
    endian: Endian,
    /// Size of the length before each array [bytes].
    head: usize,
    /// Offset of the first appended byte, and whether the data is base64.
    appended: Option<(usize, bool)>,
    /// Total bytes of the arrays so far. A regular file never exceeds its own length; one with many arrays at the same
    /// offset would.
    spent: Cell<usize>,
}

pub fn read(bytes: &[u8]) -> Parsed<Mesh> {
    let mut scan = Scan::new(bytes);
    let mut file = File { bytes, endian: Endian::Little, head: 4, appended: None, spent: Cell::new(0) };
    let mut arrays: Vec<Array<'_>> = Vec::new();
    // arrays belong to the preceding piece: index of the first array of each piece
    let mut pieces = Vec::new();
    let mut group = "";
    let mut known = false;
    while let Some(tag) = next_tag(&mut scan)? {
        match tag.name {
            _ if tag.closes => {}
            "VTKFile" => {
                file.begin(&tag, &scan)?;
                known = true;
            }
            "Piece" => pieces.push(arrays.len()),
            "PointData" | "CellData" | "FieldData" | "Points" | "Cells" => group = tag.name,
            "DataArray" if group == "Points" || group == "Cells" => arrays.push(array(&tag, group, bytes, &scan)?),
            "AppendedData" => {
                if !scan.skip_past(b"_") {
                    return Err(scan.fault("AppendedData has no '_' before its bytes"));
                }
                file.appended = Some((scan.at(), tag.get("encoding") == Some("base64")));
                break;
            }
            _ => {}
        }
    }
    if !known {
        return Err(Fault::whole("no tag VTKFile: this is not a VTK XML file"));
    }
    let mut draft = Draft::default();
    for (i, &from) in pieces.iter().enumerate() {
        let to = pieces.get(i + 1).copied().unwrap_or(arrays.len());
        file.piece(&arrays[from..to], &mut draft)?;
    }
    draft.finish()
}

fn array<'a>(tag: &Tag<'a>, group: &'a str, bytes: &'a [u8], scan: &Scan<'a>) -> Parsed<Array<'a>> {
    let offset = tag.get("offset").unwrap_or("0");
    let offset = offset.parse().map_err(|_| scan.fault(format!("offset '{}' is not a whole number", short(offset))))?;
    let rest = &bytes[tag.end..];
    let length = rest.iter().position(|&b| b == b'<').unwrap_or(rest.len());
    Ok(Array {
        group,
        name: tag.get("Name").unwrap_or(""),
        kind: tag.get("type").unwrap_or(""),
        format: tag.get("format").unwrap_or("ascii"),
        offset,
        text: &rest[..length],
        at: tag.end,
    })
}

impl<'a> File<'a> {
    fn begin(&mut self, tag: &Tag<'a>, scan: &Scan<'a>) -> Parsed<()> {
        match tag.get("type") {
            Some("UnstructuredGrid") => {}
            other => return Err(scan.fault(format!("type {}: UnstructuredGrid is read", short(other.unwrap_or("?"))))),
        }
        if tag.get("compressor").is_some_and(|c| !c.is_empty()) {
            return Err(scan.fault("compressed arrays are not read; save the file without compression"));
        }
        if tag.get("byte_order") == Some("BigEndian") {
            self.endian = Endian::Big;
        }
        if tag.get("header_type") == Some("UInt64") {
            self.head = 8;
        }
        Ok(())
    }

    fn piece(&self, arrays: &[Array<'a>], draft: &mut Draft) -> Parsed<()> {
        let find = |group: &str, name: &str| {
            let found = arrays.iter().find(|a| a.group == group && (name.is_empty() || a.name == name));
            found.ok_or_else(|| Fault::whole(format!("a piece has no array {group} {name}")))
        };
        let points = self.reals(find("Points", "")?)?;
        if points.len() % 3 != 0 {
            return Err(Fault::whole(format!("{} coordinates of points are not a multiple of 3", points.len())));
        }
        let [connectivity, ends, kinds] =
            [find("Cells", "connectivity")?, find("Cells", "offsets")?, find("Cells", "types")?];
        let [connectivity, ends, kinds] = [self.wholes(connectivity)?, self.wholes(ends)?, self.wholes(kinds)?];
        if ends.len() != kinds.len() {
            return Err(Fault::whole(format!("{} offsets of cells, but {} types", ends.len(), kinds.len())));
        }
        add_cells(draft, &connectivity, &ends, &kinds)?;
        for p in points.chunks_exact(3) {
            draft.vertex([p[0], p[1], p[2]]).map_err(Fault::whole)?;
        }
        Ok(())
    }

    fn reals(&self, array: &Array<'a>) -> Parsed<Vec<f64>> {
        if array.format == "ascii" {
            return self.words(array, |scan| scan.real("a number of an array"));
        }
        let bytes = self.data(array)?;
        match array.kind {
            "Float32" => Ok(self.numbers(&bytes).map(|b| f64::from(f32::from_le_bytes(b))).collect()),
            "Float64" => Ok(self.numbers(&bytes).map(f64::from_le_bytes).collect()),
            other => Err(self.fault(array, format!("points of type '{}': Float32 and Float64 are read", short(other)))),
        }
    }

    fn wholes(&self, array: &Array<'a>) -> Parsed<Vec<i64>> {
        if array.format == "ascii" {
            return self.words(array, |scan| scan.int("a whole number of an array"));
        }
        let bytes = self.data(array)?;
        Ok(match array.kind {
            "Int8" | "UInt8" => bytes.iter().map(|&b| b.into()).collect(),
            "Int16" | "UInt16" => self.numbers(&bytes).map(|b| i16::from_le_bytes(b).into()).collect(),
            "Int32" => self.numbers(&bytes).map(|b| i32::from_le_bytes(b).into()).collect(),
            "UInt32" => self.numbers(&bytes).map(|b| u32::from_le_bytes(b).into()).collect(),
            "Int64" | "UInt64" => self.numbers(&bytes).map(i64::from_le_bytes).collect(),
            other => return Err(self.fault(array, format!("cells of type '{}' are not read", short(other)))),
        })
    }

    /// All words of an inline array.
    fn words<T>(&self, array: &Array<'a>, mut next: impl FnMut(&mut Scan<'a>) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut scan = Scan::new(&self.bytes[..array.at + array.text.len()]);
        scan.go(array.at);
        let mut numbers = Vec::new();
        while scan.peek().is_some() {
            numbers.push(next(&mut scan)?);
        }
        Ok(numbers)
    }

    /// Numbers of N bytes, little-endian; an incomplete number at the end is ignored.
    fn numbers<'b, const N: usize>(&self, bytes: &'b [u8]) -> impl Iterator<Item = [u8; N]> + use<'b, N> {
        let big = self.endian == Endian::Big;
        bytes.chunks_exact(N).map(move |chunk| {
            let mut number = [0; N];
            number.copy_from_slice(chunk);
            if big {
                number.reverse();
            }
            number
        })
    }

    fn fault(&self, array: &Array<'a>, what: String) -> Fault {
        let mut scan = Scan::new(self.bytes);
        scan.go(array.at);
        scan.word();
        scan.fault(format!("array {} {}: {what}", array.group, array.name))
    }

    /// The bytes of a binary array after their length.
    fn data(&self, array: &Array<'a>) -> Parsed<Cow<'a, [u8]>> {
        let wrong = |what: String| self.fault(array, what);
        let (text, base64) = match (array.format, self.appended) {
            ("binary", _) => (array.text, true),
            ("appended", Some((start, base64))) => {
                (self.bytes.get(start.saturating_add(array.offset)..).unwrap_or(&[]), base64)
            }
            ("appended", None) => return Err(wrong("there is no AppendedData".into())),
            (other, _) => return Err(wrong(format!("format '{}' is not known", short(other)))),
        };
        let head = if base64 {
            decode(text, self.head.div_ceil(3) * 4).map_err(wrong)?
        } else {
            text.iter().copied().take(self.head).collect()
        };
        let length = self.length(&head).ok_or_else(|| wrong("it has no length before its bytes".into()))?;
        let end = self.head.saturating_add(length);
        self.spent.set(self.spent.get().saturating_add(end));
        if self.spent.get() > self.bytes.len() {
            return Err(wrong(format!(
                "its head claims {length} bytes: with the arrays before it, more than the file has"
            )));
        }
        let all = if base64 {
            // a length that was encoded separately ends in the padding of its own size
            let signs = self.head.div_ceil(3) * 4;
            let clean = text.iter().filter(|b| !b.is_ascii_whitespace()).take(signs);
            let alone = clean.filter(|&&b| b == b'=').count() == signs / 4 * 3 - self.head;
            let signs = if alone { signs + length.div_ceil(3) * 4 } else { end.div_ceil(3) * 4 };
            Cow::Owned(decode(text, signs).map_err(wrong)?)
        } else {
            Cow::Borrowed(text)
        };
        if all.len() < end {
            return Err(wrong(format!(
                "its head claims {length} bytes, {} are there",
                all.len().saturating_sub(self.head)
            )));
        }
        Ok(match all {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[self.head..end]),
            Cow::Owned(bytes) => Cow::Owned(bytes[self.head..end].to_vec()),
        })
    }

    fn length(&self, bytes: &[u8]) -> Option<usize> {
        let head = bytes.get(..self.head)?;
        let wide = if self.head == 8 {
            self.numbers(head).map(u64::from_le_bytes).next()
        } else {
            self.numbers(head).map(|b| u64::from(u32::from_le_bytes(b))).next()
        };
        wide.and_then(|length| usize::try_from(length).ok())
    }
}

/// Decodes up to `limit` characters. Length and data may be encoded separately, so padding may occur in the middle.
fn decode(text: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let clean: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).take(limit).collect();
    let mut out = Vec::with_capacity(clean.len() / 4 * 3);
    for part in clean.split_inclusive(|&b| b == b'=') {
        // only the second of two padding characters
        if part == b"=" {
            continue;
        }
        let bare = part.strip_suffix(b"=").unwrap_or(part);
        let mut padded = bare.to_vec();
        padded.resize(bare.len().next_multiple_of(4), b'=');
        STANDARD.decode_vec(&padded, &mut out).map_err(|e| format!("bad base64: {e}"))?;
    }
    Ok(out)
}

/// Inline base64, or text.
pub fn write(mesh: &Mesh, text: bool) -> String {
    let count = mesh.triangles.len() + mesh.tets.len();
    let lists: Vec<&[u32]> =
        mesh.triangles.iter().map(|t| t.as_slice()).chain(mesh.tets.iter().map(|t| t.as_slice())).collect();
    let ends: Vec<u32> = lists
        .iter()
        .scan(0, |end, cell| {
            *end += cell.len() as u32;
            Some(*end)
        })
        .collect();
    let kinds: Vec<u8> =
        lists.iter().map(|cell| if cell.len() == 3 { cells::VTK_TRIANGLE } else { cells::VTK_TET }).collect();
    let connectivity: Vec<u32> = lists.concat();
    let [points, connectivity, ends, kinds] = if text {
        let points: Vec<String> = mesh.vertices.iter().map(xyz).collect();
        let kinds: Vec<u32> = kinds.iter().map(|&k| k.into()).collect();
        [points.join("\n"), indices(&connectivity, 0), indices(&ends, 0), indices(&kinds, 0)]
    } else {
        let points: Vec<u8> = mesh.vertices.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let bytes = |list: &[u32]| block(&list.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>());
        [block(&points), bytes(&connectivity), bytes(&ends), block(&kinds)]
    };
    let format = if text { "ascii" } else { "binary" };
    let array = |kind: &str, name: &str, more: &str, data: &str| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\"{more} format=\"{format}\">\n{data}\n</DataArray>\n")
    };
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{count}\">\n<Points>\n\
         {}</Points>\n<Cells>\n{}{}{}</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
        mesh.vertices.len(),
        array("Float64", "Points", " NumberOfComponents=\"3\"", &points),
        array("UInt32", "connectivity", "", &connectivity),
        array("UInt32", "offsets", "", &ends),
        array("UInt8", "types", "", &kinds),
    )
}

/// Length and bytes in base64.
fn block(bytes: &[u8]) -> String {
    let mut all = (bytes.len() as u64).to_le_bytes().to_vec();
    all.extend(bytes);
    STANDARD.encode(all)
}
