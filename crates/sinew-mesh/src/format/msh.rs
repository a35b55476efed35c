//! Gmsh MSH 1, 2, 4.0 and 4.1, text and binary (version 1 is text only). Layout: Gmsh manual, "File formats".
//!
//! Versions 2 to 4 differ in the order of numbers, text and binary in their encoding: [`Numbers`] abstracts from the
//! latter. Sections without nodes or elements are skipped.

use super::{indices, xyz};
use crate::cells;
use crate::draft::{Draft, Ids, Shape};
use crate::mesh::Mesh;
use crate::scan::{Endian, Fault, Parsed, Scan, short};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
    Four,
    FourOne,
}

/// Numbers of a file, in text or binary encoding.
struct Numbers<'a> {
    scan: Scan<'a>,
    /// `None` for text.
    binary: Option<Endian>,
    version: Version,
}

impl Numbers<'_> {
    /// Four bytes.
    fn int(&mut self, what: &str) -> Parsed<i64> {
        match self.binary {
            None => self.scan.int(what),
            Some(endian) => Ok(i32::from_le_bytes(self.scan.bytes(endian, what)?).into()),
        }
    }

    /// Eight bytes.
    fn long(&mut self, what: &str) -> Parsed<i64> {
        match self.binary {
            None => self.scan.int(what),
            Some(endian) => Ok(i64::from_le_bytes(self.scan.bytes(endian, what)?)),
        }
    }

    /// An id: four bytes before version 4.1, eight since.
    fn id(&mut self, what: &str) -> Parsed<i64> {
        if self.version == Version::FourOne { self.long(what) } else { self.int(what) }
    }

    fn real(&mut self, what: &str) -> Parsed<f64> {
        match self.binary {
            None => self.scan.real(what),
            Some(endian) => Ok(f64::from_le_bytes(self.scan.bytes(endian, what)?)),
        }
    }

    /// A count of items with a minimum size in text or in binary [bytes].
    fn many(&mut self, what: &str, text: usize, binary: usize) -> Parsed<usize> {
        let count = self.long(what)?;
        let count = u64::try_from(count).map_err(|_| self.scan.fault(format!("{what} is negative: {count}")))?;
        self.scan.claim(count, what, if self.binary.is_some() { binary } else { text })
    }

    fn xyz(&mut self) -> Parsed<[f64; 3]> {
        Ok([self.real("x of a node")?, self.real("y of a node")?, self.real("z of a node")?])
    }
}

struct Reading<'a> {
    from: Numbers<'a>,
    draft: Draft,
    nodes: Ids,
    element_ids: Vec<i64>,
    /// Nodes of the current element.
    cell: Vec<u32>,
}

pub fn read(bytes: &[u8]) -> Parsed<Mesh> {
    let from = Numbers { scan: Scan::new(bytes), binary: None, version: Version::One };
    let mut r =
        Reading { from, draft: Draft::default(), nodes: Ids::default(), element_ids: Vec::new(), cell: Vec::new() };
    while let Some(word) = r.from.scan.word() {
        match word {
            "$MeshFormat" => r.format()?,
            "$NOD" | "$Nodes" => match r.from.version {
                Version::One | Version::Two => r.nodes_flat()?,
                Version::Four | Version::FourOne => r.nodes_by_block()?,
            },
            "$ELM" | "$Elements" => match (r.from.version, r.from.binary) {
                (Version::One, _) | (Version::Two, None) => r.elements_flat()?,
                (Version::Two, Some(_)) => r.elements_binary_two()?,
                _ => r.elements_by_block()?,
            },
            // the end of a section that was read; remaining content before it is ignored
            _ if word.starts_with("$End") || word.starts_with("$END") => {}
            _ if word.starts_with('$') => r.skip(word)?,
            _ => {
                let found = short(word);
                return Err(r.from.scan.fault(format!("expected a section such as $Nodes or $NOD, found '{found}'")));
            }
        }
    }
    r.draft.element_ids(r.element_ids);
    r.draft.finish()
}

impl Reading<'_> {
    /// `version file-type data-size`, and in binary the number 1, which determines the byte order.
    fn format(&mut self) -> Parsed<()> {
        let scan = &mut self.from.scan;
        let version = scan.real("the version of the format")?;
        self.from.version = match version {
            2.0..3.0 => Version::Two,
            4.0 => Version::Four,
            4.1 => Version::FourOne,
            _ => {
                return Err(
                    scan.fault(format!("MSH version {version}: 1, 2, 4.0 and 4.1 are read; save as 2.2 or 4.1"))
                );
            }
        };
        let binary = scan.int("the file type, 0 for text or 1 for binary")?;
        let size = scan.int("the size of a real number")?;
        if binary != 0 {
            if size != 8 {
                return Err(scan.fault(format!("numbers of {size} bytes: only 8 are read")));
            }
            scan.line();
            let one: [u8; 4] = scan.bytes(Endian::Little, "the number 1")?;
            self.from.binary = Some(match one {
                [1, 0, 0, 0] => Endian::Little,
                [0, 0, 0, 1] => Endian::Big,
                _ => return Err(scan.fault("expected the number 1, which tells the order of bytes")),
            });
        }
        Ok(())
    }

    /// Moves past the end of a section.
    fn skip(&mut self, name: &str) -> Parsed<()> {
        let end = format!("$End{}", &name[1..]);
        if self.from.scan.skip_past(end.as_bytes()) {
            return Ok(());
        }
        Err(self.from.scan.fault(format!("section {name} has no {end}")))
    }

    fn node(&mut self, id: i64, at: [f64; 3]) -> Parsed<()> {
        if !self.nodes.push(id) {
            return Err(self.fault(format!("node id {id} is used twice: elements cannot tell which is meant")));
        }
        self.draft.vertex(at).map_err(|what| self.fault(what))
    }

    fn fault(&self, what: String) -> Fault {
        self.from.scan.fault(what)
    }

    /// Versions 1 and 2: `count`, then `id x y z`.
    fn nodes_flat(&mut self) -> Parsed<()> {
        let count = self.from.scan.count("the number of nodes", 8)?;
        if self.from.binary.is_some() {
            self.from.scan.line();
        }
        for _ in 0..count {
            let id = self.from.int("the id of a node")?;
            let at = self.from.xyz()?;
            self.node(id, at)?;
        }
        Ok(())
    }

    /// Version 4: blocks, one per entity of the geometry.
    fn nodes_by_block(&mut self) -> Parsed<()> {
        let newest = self.from.version == Version::FourOne;
        let blocks = self.begin_blocks("the number of node blocks")?;
        for _ in 0..blocks {
            let [first, second] = [self.from.int("an entity")?, self.from.int("an entity")?];
            let parametric = self.from.int("0 or 1 for parametric nodes")?;
            let count = self.from.many("the number of nodes in a block", 6, 24)?;
            let dimension = if newest { first } else { second };
            // parameters of the entity follow the coordinates
            let extra = if parametric != 0 { dimension.clamp(0, 3) } else { 0 };
            let mut ids = Vec::new();
            if newest {
                for _ in 0..count {
                    ids.push(self.from.id("the id of a node")?);
                }
            }
            for i in 0..count {
                let id = if newest { ids[i] } else { self.from.id("the id of a node")? };
                let at = self.from.xyz()?;
                self.node(id, at)?;
                for _ in 0..extra {
                    self.from.real("a parameter of a node")?;
                }
            }
        }
        Ok(())
    }

    /// The header of a section of version 4: number of blocks and items, and since 4.1 minimum and maximum id.
    fn begin_blocks(&mut self, what: &str) -> Parsed<usize> {
        if self.from.binary.is_some() {
            self.from.scan.line();
        }
        let blocks = self.from.many(what, 8, 20)?;
        self.from.long("the number of things")?;
        if self.from.version == Version::FourOne {
            self.from.long("the lowest id")?;
            self.from.long("the highest id")?;
        }
        Ok(blocks)
    }

    /// Reads `count` nodes and adds the element.
    fn element(&mut self, id: i64, shape: Shape, count: usize) -> Parsed<()> {
        self.element_ids.push(id);
        self.cell.clear();
        for _ in 0..count {
            let node = self.from.id("a node of an element")?;
            let Some(index) = self.nodes.find(node) else {
                return Err(
                    self.fault(format!("element {id} names node {node}, which is not among the nodes before it"))
                );
            };
            self.cell.push(index);
        }
        self.draft.cell(shape, &self.cell).map_err(|what| self.fault(format!("element {id}: {what}")))
    }

    /// An element of an unknown type: only the end of its line shows where it ends.
    fn unknown(&mut self, id: i64, kind: i64) -> Parsed<()> {
        if self.from.binary.is_some() {
            return Err(self.fault(format!("element type {kind} is not known, and binary elements cannot be skipped")));
        }
        self.element_ids.push(id);
        self.draft.leave_out(&format!("Gmsh type {kind}"), 1);
        self.from.scan.line();
        Ok(())
    }

    /// Version 1: `id type physical entity count nodes..`; version 2: `id type tag-count tags.. nodes..`.
    fn elements_flat(&mut self) -> Parsed<()> {
        let count = self.from.scan.count("the number of elements", 6)?;
        for _ in 0..count {
            let id = self.from.int("the id of an element")?;
            let kind = self.from.int("the type of an element")?;
            let Some((shape, nodes)) = cells::gmsh(kind) else {
                self.unknown(id, kind)?;
                continue;
            };
            if self.from.version == Version::One {
                self.from.int("the physical entity of an element")?;
                self.from.int("the geometric entity of an element")?;
                let given = self.from.int("the number of nodes of an element")?;
                if given != nodes as i64 {
                    return Err(self.fault(format!("element {id} of type {kind} has {given} nodes instead of {nodes}")));
                }
            } else {
                self.tags()?;
            }
            self.element(id, shape, nodes)?;
        }
        Ok(())
    }

    fn tags(&mut self) -> Parsed<()> {
        let tags = self.from.int("the number of tags of an element")?;
        for _ in 0..tags {
            self.from.int("a tag of an element")?;
        }
        Ok(())
    }

    /// Version 2 in binary: groups with a header `type count tag-count`, then `id tags.. nodes..`.
    fn elements_binary_two(&mut self) -> Parsed<()> {
        let count = self.from.scan.count("the number of elements", 8)?;
        self.from.scan.line();
        let mut done = 0;
        while done < count {
            let kind = self.from.int("the type of elements")?;
            let group = self.from.int("the number of elements of a group")?;
            let tags = self.from.int("the number of tags of elements")?;
            let Some((shape, nodes)) = cells::gmsh(kind) else { return self.unknown(0, kind) };
            if group < 1 || group as usize > count - done || tags < 0 {
                return Err(
                    self.fault(format!("a group of {group} elements with {tags} tags; {} are left", count - done))
                );
            }
            for _ in 0..group {
                let id = self.from.int("the id of an element")?;
                for _ in 0..tags {
                    self.from.int("a tag of an element")?;
                }
                self.element(id, shape, nodes)?;
            }
            done += group as usize;
        }
        Ok(())
    }

    /// Version 4: blocks of elements of one type.
    fn elements_by_block(&mut self) -> Parsed<()> {
        let blocks = self.begin_blocks("the number of element blocks")?;
        for _ in 0..blocks {
            self.from.int("an entity")?;
            self.from.int("an entity")?;
            let kind = self.from.int("the type of elements")?;
            let count = self.from.many("the number of elements in a block", 4, 8)?;
            for _ in 0..count {
                let id = self.from.id("the id of an element")?;
                match cells::gmsh(kind) {
                    Some((shape, nodes)) => self.element(id, shape, nodes)?,
                    None => self.unknown(id, kind)?,
                }
            }
        }
        Ok(())
    }
}

/// Version 2.2 as text: the version with the widest support.
pub fn write(mesh: &Mesh) -> String {
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", mesh.vertices.len());
    for (i, v) in mesh.vertices.iter().enumerate() {
        text.push_str(&format!("{} {}\n", i + 1, xyz(v)));
    }
    text.push_str(&format!("$EndNodes\n$Elements\n{}\n", mesh.triangles.len() + mesh.tets.len()));
    let triangles = mesh.triangles.iter().map(|t| (2, indices(t, 1)));
    let tets = mesh.tets.iter().map(|t| (4, indices(t, 1)));
    for (i, (kind, nodes)) in triangles.chain(tets).enumerate() {
        text.push_str(&format!("{} {kind} 2 0 1 {nodes}\n", i + 1));
    }
    text.push_str("$EndElements\n");
    text
}

/// Version 2.2, binary, little-endian.
pub fn write_binary(mesh: &Mesh) -> Vec<u8> {
    let mut out = b"$MeshFormat\n2.2 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n".to_vec();
    out.extend(format!("{}\n", mesh.vertices.len()).bytes());
    for (i, v) in mesh.vertices.iter().enumerate() {
        out.extend((i as u32 + 1).to_le_bytes());
        out.extend(v.iter().flat_map(|x| x.to_le_bytes()));
    }
    out.extend(format!("\n$EndNodes\n$Elements\n{}\n", mesh.triangles.len() + mesh.tets.len()).bytes());
    let mut id = 0u32;
    let mut group = |kind: u32, count: usize, elements: &mut dyn Iterator<Item = &[u32]>| {
        if count > 0 {
            out.extend([kind, count as u32, 2].iter().flat_map(|n| n.to_le_bytes()));
        }
        for nodes in elements {
            id += 1;
            let nodes = nodes.iter().map(|n| n + 1);
            out.extend([id, 0, 1].into_iter().chain(nodes).flat_map(u32::to_le_bytes));
        }
    };
    group(2, mesh.triangles.len(), &mut mesh.triangles.iter().map(|t| t.as_slice()));
    group(4, mesh.tets.len(), &mut mesh.tets.iter().map(|t| t.as_slice()));
    out.extend(b"\n$EndElements\n");
    out
}
