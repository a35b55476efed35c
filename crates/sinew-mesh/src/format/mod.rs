//! File formats: the list of formats, their file name extensions, and the functions for reading and writing.
//!
//! Readers get bytes only. They return a mesh or an error with its position; this file adds the file name. A count in a
//! header is checked against the length of the file before anything is allocated.

mod gltf;
mod medit;
mod msh;
mod obj;
mod ply;
mod stl;
mod tetgen;
mod vtk;
mod vtu;
mod xml;

use crate::error::{MeshError, Place};
use crate::mesh::Mesh;
use crate::scan::{Fault, Parsed};
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Files longer than this are refused [bytes].
const MAX_BYTES: u64 = 1 << 31;

/// Kinds of mesh files.
///
/// An example is at [`Mesh`](crate::Mesh).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Wavefront: surfaces.
    Obj,
    /// Stereolithography, text or binary: surfaces.
    Stl,
    /// Stanford, text or binary: surfaces.
    Ply,
    /// glTF 2 as JSON: surfaces.
    Gltf,
    /// glTF 2 in one binary file: surfaces.
    Glb,
    /// Gmsh 1, 2, 4 and 4.1: surfaces and volumes.
    Msh,
    /// TetGen's `.node`, `.ele` and `.face` side by side.
    TetGen,
    /// VTK's legacy format, text or binary: surfaces and volumes.
    Vtk,
    /// VTK's XML format for unstructured grids.
    Vtu,
    /// MEDIT, text: surfaces and volumes.
    Medit,
}

/// How numbers are written.
///
/// An example is at [`Mesh`](crate::Mesh).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// What is usual for the format: binary for STL, PLY and VTU, else text.
    #[default]
    Usual,
    /// Text where the format has it.
    Text,
    /// Binary where the format has it.
    Binary,
}

impl Format {
    /// All formats with their file name extensions.
    pub const ALL: [(Format, &'static [&'static str]); 10] = [
        (Format::Obj, &["obj"]),
        (Format::Stl, &["stl"]),
        (Format::Ply, &["ply"]),
        (Format::Gltf, &["gltf"]),
        (Format::Glb, &["glb"]),
        (Format::Msh, &["msh"]),
        (Format::TetGen, &["node", "ele", "face"]),
        (Format::Vtk, &["vtk"]),
        (Format::Vtu, &["vtu"]),
        (Format::Medit, &["mesh"]),
    ];

    /// The format by the extension of a file name.
    pub fn of(path: &Path) -> Result<Format, MeshError> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let found = Format::ALL.iter().find(|(_, endings)| endings.contains(&ending.as_str()));
        found.map(|(format, _)| *format).ok_or_else(|| {
            let known: Vec<String> = Format::ALL.iter().flat_map(|(_, e)| e.iter()).map(|e| format!(".{e}")).collect();
            MeshError::UnknownFormat { file: path.display().to_string(), known: known.join(" ") }
        })
    }

    /// True when the format stores surfaces only.
    fn is_surface_only(self) -> bool {
        matches!(self, Format::Obj | Format::Stl | Format::Ply | Format::Gltf | Format::Glb)
    }
}

/// Reads another file of the same folder that belongs to this one; a message when it cannot.
type Sibling<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Reads a mesh file; the extension of its name determines the format.
pub fn read(path: impl AsRef<Path>) -> Result<Mesh, MeshError> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    let bytes = load(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let sibling = |name: &str| {
        // a file may refer to files in its folder, not to the rest of the disk
        if !Path::new(name).components().all(|c| matches!(c, Component::Normal(_))) {
            return Err(format!("'{name}' is not a plain name of a file beside this one"));
        }
        load(&folder.join(name)).map_err(|e| e.to_string())
    };
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&bytes, format, &name, &sibling).map_err(|fault| at(&path.display().to_string(), fault))
}

/// Reads a mesh from memory. `name` is used in messages; for TetGen its extension determines which of the files it is.
/// Formats spread over several files need [`read`].
pub fn read_bytes(bytes: &[u8], format: Format, name: &str) -> Result<Mesh, MeshError> {
    let sibling = |other: &str| Err(format!("it needs '{other}' beside it; read it by its path"));
    parse(bytes, format, name, &sibling).map_err(|fault| at(name, fault))
}

fn parse(bytes: &[u8], format: Format, name: &str, sibling: Sibling<'_>) -> Parsed<Mesh> {
    match format {
        Format::Obj => obj::read(bytes),
        Format::Stl => stl::read(bytes),
        Format::Ply => ply::read(bytes),
        Format::Gltf | Format::Glb => gltf::read(bytes, sibling),
        Format::Msh => msh::read(bytes),
        Format::TetGen => tetgen::read(bytes, name, sibling),
        Format::Vtk => vtk::read(bytes),
        Format::Vtu => vtu::read(bytes),
        Format::Medit => medit::read(bytes),
    }
}

fn load(path: &Path) -> Result<Vec<u8>, MeshError> {
    let file = path.display().to_string();
    let io = |e: std::io::Error| MeshError::Io { file: file.clone(), reason: e.to_string() };
    let facts = fs::metadata(path).map_err(io)?;
    // a device or a FIFO may deliver bytes without end, or none at all
    if !facts.is_file() {
        return Err(MeshError::Io { file, reason: "not a plain file".to_owned() });
    }
    let too_long = |bytes: u64| MeshError::TooLong { file: file.clone(), bytes, limit: MAX_BYTES };
    if facts.len() > MAX_BYTES {
        return Err(too_long(facts.len()));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(facts.len() as usize).map_err(|e| io(e.into()))?;
    // the size is that of a moment: a file may grow while it is read
    let read = fs::File::open(path).and_then(|f| f.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(io)?;
    if read as u64 > MAX_BYTES { Err(too_long(read as u64)) } else { Ok(bytes) }
}

fn at(file: &str, Fault { place, what }: Fault) -> MeshError {
    MeshError::Bad { file: file.to_owned(), place, what }
}

/// Writes a mesh; the extension of the name determines the format. For surface formats the boundary of the tetrahedra
/// is written.
pub fn write(path: impl AsRef<Path>, mesh: &Mesh) -> Result<(), MeshError> {
    write_as(path, mesh, Encoding::Usual)
}

/// As [`write()`], with a choice between text and binary.
pub fn write_as(path: impl AsRef<Path>, mesh: &Mesh, encoding: Encoding) -> Result<(), MeshError> {
    for (path, bytes) in files(path, mesh, encoding)? {
        let with_path = |e: std::io::Error| MeshError::Io { file: path.display().to_string(), reason: e.to_string() };
        fs::write(&path, bytes).map_err(with_path)?;
    }
    Ok(())
}

/// The files that [`write_as`] writes, with their bytes: one, or two for TetGen. For callers that write files their own way.
pub fn files(path: impl AsRef<Path>, mesh: &Mesh, encoding: Encoding) -> Result<Vec<(PathBuf, Vec<u8>)>, MeshError> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    if format == Format::TetGen {
        let of = |(ending, text): (&str, String)| (path.with_extension(ending), text.into_bytes());
        return Ok(tetgen::write(mesh).into_iter().map(of).collect());
    }
    let file = path.display().to_string();
    let bytes = encode(mesh, format, encoding).map_err(|what| MeshError::CannotWrite { file, what })?;
    Ok(vec![(path.to_owned(), bytes)])
}

/// A mesh as the bytes of a file. TetGen's format is several files: use [`write()`] for it.
pub fn write_bytes(mesh: &Mesh, format: Format, encoding: Encoding) -> Result<Vec<u8>, MeshError> {
    encode(mesh, format, encoding).map_err(|what| MeshError::CannotWrite { file: format!("{format:?}"), what })
}

fn encode(mesh: &Mesh, format: Format, encoding: Encoding) -> Result<Vec<u8>, String> {
    let surface;
    let mesh = if format.is_surface_only() && !mesh.tets.is_empty() {
        surface = mesh.to_surface();
        &surface
    } else {
        mesh
    };
    let text = encoding == Encoding::Text;
    Ok(match format {
        Format::Obj => obj::write(mesh).into_bytes(),
        Format::Stl if text => stl::write_text(mesh).into_bytes(),
        Format::Stl => stl::write(mesh),
        Format::Ply if text => ply::write_text(mesh).into_bytes(),
        Format::Ply => ply::write(mesh),
        Format::Gltf => gltf::write_json(mesh)?,
        Format::Glb => gltf::write_glb(mesh)?,
        Format::Msh if encoding == Encoding::Binary => msh::write_binary(mesh),
        Format::Msh => msh::write(mesh).into_bytes(),
        Format::TetGen => return Err("a TetGen mesh is several files: write it by its path".to_owned()),
        Format::Vtk if encoding == Encoding::Binary => vtk::write_binary(mesh),
        Format::Vtk => vtk::write(mesh).into_bytes(),
        Format::Vtu => vtu::write(mesh, text).into_bytes(),
        Format::Medit => medit::write(mesh).into_bytes(),
    })
}

/// Three numbers with all significant digits.
fn xyz(v: &[f64; 3]) -> String {
    format!("{:?} {:?} {:?}", v[0], v[1], v[2])
}

/// Indices separated by spaces, counted from `base`.
fn indices(corners: &[u32], base: u64) -> String {
    let words: Vec<String> = corners.iter().map(|&i| (u64::from(i) + base).to_string()).collect();
    words.join(" ")
}

/// An error position in another file of the same folder.
fn in_sibling(name: &str, Fault { place, what }: Fault) -> Fault {
    Fault { place: Place::File, what: format!("in {name}{place}: {what}") }
}
