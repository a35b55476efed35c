//! VTK legacy files, text and binary (big-endian): unstructured grids and polygonal data, in the layout of versions 1
//! to 4 and of 5 (offsets and connectivity). Data on points and cells is not read.

use super::{indices, xyz};
use crate::cells;
use crate::draft::{Draft, Shape};
use crate::mesh::Mesh;
use crate::scan::{Endian, Fault, Parsed, Scan, short};

struct File<'a> {
    scan: Scan<'a>,
    binary: bool,
}

/// A list of cells before their types are known.
type Cells = Vec<Vec<u32>>;

pub fn read(bytes: &[u8]) -> Parsed<Mesh> {
    let mut scan = Scan::new(bytes);
    if !scan.line().is_some_and(|line| line.starts_with("# vtk DataFile")) {
        return Err(scan.fault("expected '# vtk DataFile Version ..' in the first line"));
    }
    scan.line();
    let binary = match scan.expect("'ASCII' or 'BINARY'")? {
        "ASCII" => false,
        "BINARY" => true,
        other => return Err(scan.fault(format!("expected 'ASCII' or 'BINARY', found '{}'", short(other)))),
    };
    let mut file = File { scan, binary };
    file.dataset()
}

impl File<'_> {
    fn dataset(&mut self) -> Parsed<Mesh> {
        let mut draft = Draft::default();
        let mut grid: Cells = Vec::new();
        while let Some(word) = self.scan.word() {
            match word.to_ascii_uppercase().as_str() {
                "DATASET" => {
                    let kind = self.scan.expect("a kind of data set")?.to_ascii_uppercase();
                    if kind != "UNSTRUCTURED_GRID" && kind != "POLYDATA" {
                        let found = short(&kind);
                        return Err(self.scan.fault(format!("{found}: UNSTRUCTURED_GRID and POLYDATA are read")));
                    }
                }
                "POINTS" => self.points(&mut draft)?,
                "CELLS" => grid = self.cells()?,
                // moved out: repeated types must not create the cells again
                "CELL_TYPES" => self.types(&mut draft, &std::mem::take(&mut grid))?,
                "POLYGONS" => self.faces(&mut draft, Shape::Polygon)?,
                "TRIANGLE_STRIPS" => self.faces(&mut draft, Shape::Strip)?,
                "VERTICES" => self.faces(&mut draft, Shape::Other("point"))?,
                "LINES" => self.faces(&mut draft, Shape::Other("line"))?,
                "FIELD" => self.skip_field()?,
                "METADATA" => self.skip_metadata(),
                // data follows the geometry
                "POINT_DATA" | "CELL_DATA" => break,
                _ => {
                    return Err(self.scan.fault(format!("expected a keyword such as POINTS, found '{}'", short(word))));
                }
            }
        }
        draft.finish()
    }

    /// Ends a text line before binary numbers.
    fn begin_data(&mut self) {
        if self.binary {
            self.scan.line();
        }
    }

    fn number(&mut self, kind: &str, what: &str) -> Parsed<f64> {
        if !self.binary {
            return self.scan.real(what);
        }
        let scan = &mut self.scan;
        Ok(match kind {
            "float" => f32::from_le_bytes(scan.bytes(Endian::Big, what)?).into(),
            "double" => f64::from_le_bytes(scan.bytes(Endian::Big, what)?),
            _ => self.whole(kind, what)? as f64,
        })
    }

    fn whole(&mut self, kind: &str, what: &str) -> Parsed<i64> {
        if !self.binary {
            return self.scan.int(what);
        }
        let scan = &mut self.scan;
        Ok(match size_of_type(kind) {
            Some(1) => scan.bytes::<1>(Endian::Big, what)?[0].into(),
            Some(2) => i16::from_le_bytes(scan.bytes(Endian::Big, what)?).into(),
            Some(4) => i32::from_le_bytes(scan.bytes(Endian::Big, what)?).into(),
            Some(8) => i64::from_le_bytes(scan.bytes(Endian::Big, what)?),
            _ => return Err(scan.fault(format!("numbers of type '{}' are not read", short(kind)))),
        })
    }

    fn points(&mut self, draft: &mut Draft) -> Parsed<()> {
        let count = self.scan.count("the number of points", 6)?;
        let kind = self.scan.expect("the type of the points")?.to_ascii_lowercase();
        self.begin_data();
        for _ in 0..count {
            let mut at = [0.0; 3];
            for x in &mut at {
                *x = self.number(&kind, "a coordinate")?;
            }
            draft.vertex(at).map_err(|what| self.scan.fault(what))?;
        }
        Ok(())
    }

    fn index(&mut self, kind: &str) -> Parsed<u32> {
        let index = self.whole(kind, "a point of a cell")?;
        u32::try_from(index).map_err(|_| self.scan.fault(format!("point {index}: points count from 0")))
    }

    /// `count size`, then `n points..` each; since version 5 `offset-count size`, offsets, connectivity.
    fn cells(&mut self) -> Parsed<Cells> {
        let count = self.scan.count("the number of cells", 2)?;
        let size = self.scan.count("the number of numbers of the cells", 2)?;
        if self.scan.peek() == Some("OFFSETS") {
            return self.cells_by_offset(count, size);
        }
        self.begin_data();
        let (mut cells, mut left) = (Vec::new(), size);
        for _ in 0..count {
            let nodes = self.whole("int", "the number of points of a cell")?;
            let fits = usize::try_from(nodes).ok().filter(|&n| n < left);
            let nodes =
                fits.ok_or_else(|| self.scan.fault(format!("a cell of {nodes} points; {left} numbers are left")))?;
            left -= nodes + 1;
            let cell: Parsed<Vec<u32>> = (0..nodes).map(|_| self.index("int")).collect();
            cells.push(cell?);
        }
        Ok(cells)
    }

    fn cells_by_offset(&mut self, count: usize, size: usize) -> Parsed<Cells> {
        self.scan.word();
        let kind = self.scan.expect("the type of the offsets")?.to_ascii_lowercase();
        self.begin_data();
        let offsets: Parsed<Vec<i64>> = (0..count).map(|_| self.whole(&kind, "an offset")).collect();
        if self.scan.expect("'CONNECTIVITY'")? != "CONNECTIVITY" {
            return Err(self.scan.fault("expected 'CONNECTIVITY' behind the offsets"));
        }
        let kind = self.scan.expect("the type of the connectivity")?.to_ascii_lowercase();
        self.begin_data();
        let nodes: Parsed<Vec<u32>> = (0..size).map(|_| self.index(&kind)).collect();
        let nodes = nodes?;
        let piece = |pair: &[i64]| {
            let [from, to] = [usize::try_from(pair[0]).ok()?, usize::try_from(pair[1]).ok()?];
            nodes.get(from..to).map(<[u32]>::to_vec)
        };
        let cells: Option<Cells> = offsets?.windows(2).map(piece).collect();
        cells.ok_or_else(|| self.scan.fault(format!("offsets of cells must rise and end at {size}")))
    }

    fn types(&mut self, draft: &mut Draft, grid: &Cells) -> Parsed<()> {
        let count = self.scan.count("the number of cell types", 1)?;
        self.begin_data();
        if count != grid.len() {
            return Err(self.scan.fault(format!("{count} cell types for {} cells; CELLS must come first", grid.len())));
        }
        for (i, cell) in grid.iter().enumerate() {
            let kind = self.whole("int", "a cell type")?;
            draft.cell(cells::vtk(kind), cell).map_err(|what| self.scan.fault(format!("cell {i}: {what}")))?;
        }
        Ok(())
    }

    fn faces(&mut self, draft: &mut Draft, shape: Shape) -> Parsed<()> {
        for (i, cell) in self.cells()?.iter().enumerate() {
            draft.cell(shape, cell).map_err(|what| self.scan.fault(format!("cell {i}: {what}")))?;
        }
        Ok(())
    }

    /// Skips up to an empty line.
    fn skip_metadata(&mut self) {
        self.scan.line();
        while self.scan.line().is_some_and(|line| !line.trim().is_empty()) {}
    }

    /// `name count`, then `name components tuples type` and the numbers, each.
    fn skip_field(&mut self) -> Parsed<()> {
        self.scan.expect("the name of a field")?;
        for _ in 0..self.scan.count("the number of arrays", 4)? {
            self.scan.expect("the name of an array")?;
            let components = self.scan.count("the number of components", 1)?;
            let tuples = self.scan.count("the number of tuples", 1)?;
            let kind = self.scan.expect("the type of an array")?.to_ascii_lowercase();
            self.begin_data();
            let numbers = components as u64 * tuples as u64;
            let size = if self.binary { size_of_type(&kind) } else { Some(1) };
            let size =
                size.ok_or_else(|| self.scan.fault(format!("an array of type '{}' cannot be skipped", short(&kind))))?;
            let numbers = self.scan.claim(numbers, "the number of numbers of an array", size)?;
            if self.binary {
                self.scan.take(numbers * size, "an array")?;
            } else {
                for _ in 0..numbers {
                    self.scan.expect("a number of an array")?;
                }
            }
        }
        Ok(())
    }
}

/// Bytes of a number by the name of its type.
fn size_of_type(kind: &str) -> Option<usize> {
    Some(match kind {
        "char" | "unsigned_char" | "vtktypeuint8" | "vtktypeint8" => 1,
        "short" | "unsigned_short" => 2,
        "int" | "unsigned_int" | "float" | "vtktypeint32" | "vtktypeuint32" => 4,
        "long" | "unsigned_long" | "double" | "vtktypeint64" | "vtktypeuint64" | "vtkidtype" => 8,
        _ => return None,
    })
}

/// Cells and their type codes, in the order of writing.
fn listed(mesh: &Mesh) -> impl Iterator<Item = (u8, &[u32])> {
    let triangles = mesh.triangles.iter().map(|t| (cells::VTK_TRIANGLE, t.as_slice()));
    triangles.chain(mesh.tets.iter().map(|t| (cells::VTK_TET, t.as_slice())))
}

fn counts(mesh: &Mesh) -> (usize, usize) {
    (mesh.triangles.len() + mesh.tets.len(), 4 * mesh.triangles.len() + 5 * mesh.tets.len())
}

fn head(mesh: &Mesh, encoding: &str) -> String {
    let points = mesh.vertices.len();
    format!(
        "# vtk DataFile Version 3.0\nwritten by sinew\n{encoding}\nDATASET UNSTRUCTURED_GRID\nPOINTS {points} double\n"
    )
}

pub fn write(mesh: &Mesh) -> String {
    let mut text = head(mesh, "ASCII");
    for v in &mesh.vertices {
        text.push_str(&format!("{}\n", xyz(v)));
    }
    let (count, size) = counts(mesh);
    text.push_str(&format!("CELLS {count} {size}\n"));
    for (_, cell) in listed(mesh) {
        text.push_str(&format!("{} {}\n", cell.len(), indices(cell, 0)));
    }
    text.push_str(&format!("CELL_TYPES {count}\n"));
    for (kind, _) in listed(mesh) {
        text.push_str(&format!("{kind}\n"));
    }
    text
}

pub fn write_binary(mesh: &Mesh) -> Vec<u8> {
    let mut out = head(mesh, "BINARY").into_bytes();
    out.extend(mesh.vertices.iter().flatten().flat_map(|x| x.to_be_bytes()));
    let (count, size) = counts(mesh);
    out.extend(format!("\nCELLS {count} {size}\n").bytes());
    for (_, cell) in listed(mesh) {
        out.extend((cell.len() as u32).to_be_bytes());
        out.extend(cell.iter().flat_map(|i| i.to_be_bytes()));
    }
    out.extend(format!("\nCELL_TYPES {count}\n").bytes());
    out.extend(listed(mesh).flat_map(|(kind, _)| u32::from(kind).to_be_bytes()));
    out.push(b'\n');
    out
}

/// Adds cells given by end offsets into a connectivity list, as in VTU, with their shapes.
pub fn add_cells(draft: &mut Draft, connectivity: &[i64], ends: &[i64], kinds: &[i64]) -> Parsed<()> {
    let base = draft.mesh.vertices.len() as i64;
    let mut from = 0;
    let mut cell = Vec::new();
    for (i, (&end, &kind)) in ends.iter().zip(kinds).enumerate() {
        let nodes = usize::try_from(end).ok().and_then(|to| connectivity.get(from..to));
        let nodes =
            nodes.ok_or_else(|| Fault::whole(format!("cell {i}: offsets must rise and stay within connectivity")))?;
        from += nodes.len();
        cell.clear();
        for &node in nodes {
            let index = if node < 0 { None } else { node.checked_add(base).and_then(|n| u32::try_from(n).ok()) };
            cell.push(index.ok_or_else(|| Fault::whole(format!("cell {i} names point {node}")))?);
        }
        draft.cell(cells::vtk(kind), &cell).map_err(|what| Fault::whole(format!("cell {i}: {what}")))?;
    }
    Ok(())
}
