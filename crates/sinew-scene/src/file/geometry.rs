//! Meshes: by primitive, by file, or number by number.

use super::form::{ANY, FINITE, Form, POSITIVE, Reader, Rule, choice, from_to, words};
use super::include::io_reason;
use super::schema::Schemas;
use super::tree::{Node, Value};
use crate::validate::tools::num;
use sinew::{Diagonals, Geometry, Polyline, Real, TetMesh, TriMesh, Vec3};
use sinew_mesh::tetrahedralize::{Options, Size, tetrahedralize};
use std::path::{Path, PathBuf};

/// Most nodes of a scene: a slip of the hand must not fill the memory.
pub(crate) const MAX_NODES: u64 = 500_000;
/// Largest mesh file that is read [bytes].
const MAX_MESH_BYTES: u64 = 256 << 20;
/// Most tetrahedra that a surface is filled with.
const MAX_TETS: f64 = 1e6;

const CELLS: Rule = from_to(1.0, 1000.0);
/// Cells of the shapes that are cut out of a grid: they cost the cube of it.
const GRID_CELLS: Rule = from_to(8.0, 200.0);
const TETS: Rule = from_to(1.0, MAX_TETS);

words!(Diagonals, {
    "parallel" => Parallel, "All in the same direction.";
    "alternating" => Alternating, "Every second one turned: no direction is preferred.";
});

/// A surface of triangles.
#[derive(Clone, Debug)]
pub(crate) enum SurfaceSpec {
    File { file: String, scale: Real },
    Sheet { cells: [u32; 2], size: [Real; 2], diagonals: Diagonals },
    Disc { radius: Real, cells: u32 },
    Strip { length: Real, width: Real, pairs: u32 },
    Ball { radius: Real, cells: u32 },
    Cylinder { radius: Real, height: Real, cells: u32 },
    Torus { ring_radius: Real, tube_radius: Real, cells: u32 },
    Tube { radii: [Real; 2], height: Real, cells: u32 },
    Organ { length: Real, cells: u32 },
    Teapot { length: Real, cells: u32 },
    Triangles { vertices: Vec<Vec3>, triangles: Vec<[u32; 3]> },
}

choice!(SurfaceSpec, "surface mesh", "A surface of triangles.", {
    "file" => File, "A mesh file (OBJ, STL, PLY, glTF, MSH, VTK, ..), relative to the scene file.", {
        file file: String, ANY, "Path of the file.";
        scale scale: Real, POSITIVE => 1.0, "Factor on its lengths.";
    };
    "sheet" => Sheet, "A rectangle in the xz plane about the origin.", {
        cells cells: [u32; 2], CELLS, "Cells along x and z.";
        size size: [Real; 2], POSITIVE, "Size along x and z [m].";
        diagonals diagonals: Diagonals, ANY => Diagonals::Alternating, "How cells are cut into triangles.";
    };
    "disc" => Disc, "A disc in the xz plane about the origin.", {
        radius radius: Real, POSITIVE, "Radius [m].";
        cells cells: u32, CELLS, "Cells along a radius.";
    };
    "strip" => Strip, "A narrow strip of pairs of triangles.", {
        length length: Real, POSITIVE, "Length [m].";
        width width: Real, POSITIVE, "Width [m].";
        pairs pairs: u32, CELLS, "Pairs of triangles.";
    };
    "ball" => Ball, "The surface of a ball.", {
        radius radius: Real, POSITIVE, "Radius [m].";
        cells cells: u32, CELLS, "Cells along a radius.";
    };
    "cylinder" => Cylinder, "The surface of a cylinder along y.", {
        radius radius: Real, POSITIVE, "Radius [m].";
        height height: Real, POSITIVE, "Height [m].";
        cells cells: u32, CELLS, "Cells along a radius.";
    };
    "torus" => Torus, "The surface of a ring about y.", {
        ring_radius ring_radius: Real, POSITIVE, "Radius of the ring [m].";
        tube_radius tube_radius: Real, POSITIVE, "Radius of the tube [m].";
        cells cells: u32, CELLS, "Cells along a radius of the tube.";
    };
    "tube" => Tube, "The surface of a pipe along y.", {
        radii radii: [Real; 2], POSITIVE, "Inner and outer radius [m].";
        height height: Real, POSITIVE, "Height [m].";
        cells cells: u32, CELLS, "Cells through the wall.";
    };
    "organ" => Organ, "A lobed body like a liver.", {
        length length: Real, POSITIVE, "Its length [m].";
        cells cells: u32, GRID_CELLS, "Cells along its length.";
    };
    "teapot" => Teapot, "A teapot.", {
        length length: Real, POSITIVE, "Its length [m].";
        cells cells: u32, GRID_CELLS, "Cells along its length.";
    };
    "triangles" => Triangles, "Number by number.", {
        vertices vertices: Vec<Vec3>, FINITE, "Vertices [m].";
        triangles triangles: Vec<[u32; 3]>, ANY, "Three vertices each, counter-clockwise seen from outside.";
    };
});

/// Nodes that a primitive will have, about, and from above.
fn check_count(what: &str, nodes: f64) -> Result<(), String> {
    if nodes <= MAX_NODES as f64 {
        return Ok(());
    }
    Err(format!("this {what} would have about {nodes:.1e} nodes, at most {MAX_NODES} are allowed: fewer cells"))
}

/// Nodes of a swept section: `around` nodes in each of so many steps of the section's cell size.
fn swept(around: f64, length: f64, cell: f64) -> f64 {
    around * (length / cell + 2.0)
}

fn with_text<T, E: std::fmt::Display>(made: Result<T, E>) -> Result<T, String> {
    made.map_err(|e| e.to_string())
}

impl SurfaceSpec {
    /// The mesh, or why not.
    pub fn build(&self, folder: &Path) -> Result<TriMesh, String> {
        let cubed = |cells: u32| f64::from(cells).powi(2) * 30.0;
        match self {
            Self::File { file, scale } => {
                let mesh = read_mesh(folder, file)?;
                let mut mesh = with_text(mesh.tri_mesh())?;
                mesh.vertices.iter_mut().for_each(|v| *v *= *scale);
                check_count("mesh", mesh.vertices.len() as f64)?;
                Ok(mesh)
            }
            Self::Sheet { cells, size, diagonals } => {
                check_count("sheet", f64::from(cells[0] + 1) * f64::from(cells[1] + 1))?;
                with_text(TriMesh::sheet(*cells, *size, *diagonals))
            }
            Self::Disc { radius, cells } => {
                check_count("disc", cubed(*cells))?;
                with_text(TriMesh::disc(*radius, *cells))
            }
            Self::Strip { length, width, pairs } => with_text(TriMesh::strip(*length, *width, *pairs)),
            Self::Ball { radius, cells } => {
                check_count("ball", cubed(*cells))?;
                with_text(TriMesh::ball(*radius, *cells))
            }
            Self::Cylinder { radius, height, cells } => {
                check_count("cylinder", cylinder_nodes(*radius, *height, *cells))?;
                with_text(TriMesh::cylinder(*radius, *height, *cells))
            }
            Self::Torus { ring_radius, tube_radius, cells } => {
                check_count("torus", cylinder_nodes(*tube_radius, 6.3 * *ring_radius, *cells))?;
                with_text(TriMesh::torus(*ring_radius, *tube_radius, *cells))
            }
            Self::Tube { radii, height, cells } => {
                check_count("tube", tube_nodes(*radii, *height, *cells))?;
                with_text(TriMesh::tube(*radii, *height, *cells))
            }
            Self::Organ { length, cells } => with_text(TriMesh::organ(*length, *cells)),
            Self::Teapot { length, cells } => with_text(TriMesh::teapot(*length, *cells)),
            Self::Triangles { vertices, triangles } => {
                let mesh = TriMesh { vertices: vertices.clone(), triangles: triangles.clone() };
                with_text(mesh.check())?;
                Ok(mesh)
            }
        }
    }
}

fn cylinder_nodes(radius: Real, length: Real, cells: u32) -> f64 {
    swept(4.0 * f64::from(cells).powi(2) + 4.0, num(length), num(radius) / f64::from(cells))
}

fn tube_nodes([inner, outer]: [Real; 2], height: Real, cells: u32) -> f64 {
    let wall = (num(outer) - num(inner)).abs().max(1e-30) / f64::from(cells);
    swept((f64::from(cells) + 1.0) * (6.3 * num(outer) / wall + 8.0), num(height), wall)
}

/// A surface: one of the kinds; written number by number.
impl Form for TriMesh {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let spec = SurfaceSpec::read(node, rule, reader)?;
        let folder = folder(node, reader);
        if let SurfaceSpec::File { file, .. } = &spec {
            reader.files.push(folder.join(file));
        }
        let built = spec.build(&folder);
        refuse(node, reader, built)
    }

    fn write(&self) -> Value {
        SurfaceSpec::Triangles { vertices: self.vertices.clone(), triangles: self.triangles.clone() }.write()
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        SurfaceSpec::schema(rule, schemas)
    }

    fn wants(rule: &Rule) -> String {
        SurfaceSpec::wants(rule)
    }
}

/// The folder in which the file of a value looks for other files.
fn folder(node: &Node, reader: &Reader<'_>) -> PathBuf {
    reader.sources.get(node.span.file()).map(|s| s.folder.clone()).unwrap_or_default()
}

/// What was built, or its reason at the place of the value.
pub(crate) fn refuse<T>(node: &Node, reader: &mut Reader<'_>, made: Result<T, String>) -> Option<T> {
    made.map_err(|reason| reader.problem(node.span, reason)).ok()
}

/// A mesh file: a plain file of a sane size.
fn read_mesh(folder: &Path, file: &str) -> Result<sinew_mesh::Mesh, String> {
    let path = folder.join(file);
    let facts = std::fs::metadata(&path).map_err(|e| format!("'{}' {}", path.display(), io_reason(&e)))?;
    if !facts.is_file() {
        return Err(format!("'{}' is not a plain file", path.display()));
    }
    if facts.len() > MAX_MESH_BYTES {
        return Err(format!("'{}' is larger than {} MiB", path.display(), MAX_MESH_BYTES >> 20));
    }
    with_text(sinew_mesh::read(&path))
}

/// The rest shape of a soft body.
#[derive(Clone, Debug)]
pub(crate) enum GeometrySpec {
    Block { cells: [u32; 3], size: Vec3 },
    Ball { radius: Real, cells: u32 },
    Cylinder { radius: Real, height: Real, cells: u32 },
    Torus { ring_radius: Real, tube_radius: Real, cells: u32 },
    Tube { radii: [Real; 2], height: Real, cells: u32 },
    Tets { vertices: Vec<Vec3>, tets: Vec<[u32; 4]> },
    Fill { surface: TriMesh, edge: Option<Real>, tets: Option<u32> },
    File { file: String, scale: Real, edge: Option<Real>, tets: Option<u32> },
    Sheet { cells: [u32; 2], size: [Real; 2], diagonals: Diagonals },
    Disc { radius: Real, cells: u32 },
    Strip { length: Real, width: Real, pairs: u32 },
    Surface { surface: TriMesh },
    Rope { from: Vec3, to: Vec3, segments: u32 },
    Line { points: Vec<Vec3> },
    Points { points: Vec<Vec3> },
}

choice!(GeometrySpec, "geometry", "The rest shape of a soft body, about its origin.", {
    "block" => Block, "A block of tetrahedra.", {
        cells cells: [u32; 3], CELLS, "Cells along x, y and z.";
        size size: Vec3, POSITIVE, "Size along x, y and z [m].";
    };
    "ball" => Ball, "A ball of tetrahedra.", {
        radius radius: Real, POSITIVE, "Radius [m].";
        cells cells: u32, CELLS, "Cells along a radius.";
    };
    "cylinder" => Cylinder, "A cylinder of tetrahedra along y.", {
        radius radius: Real, POSITIVE, "Radius [m].";
        height height: Real, POSITIVE, "Height [m].";
        cells cells: u32, CELLS, "Cells along a radius.";
    };
    "torus" => Torus, "A ring of tetrahedra about y.", {
        ring_radius ring_radius: Real, POSITIVE, "Radius of the ring [m].";
        tube_radius tube_radius: Real, POSITIVE, "Radius of the tube [m].";
        cells cells: u32, CELLS, "Cells along a radius of the tube.";
    };
    "tube" => Tube, "A pipe of tetrahedra along y.", {
        radii radii: [Real; 2], POSITIVE, "Inner and outer radius [m].";
        height height: Real, POSITIVE, "Height [m].";
        cells cells: u32, CELLS, "Cells through the wall.";
    };
    "tets" => Tets, "Tetrahedra, number by number.", {
        vertices vertices: Vec<Vec3>, FINITE, "Vertices [m].";
        tets tets: Vec<[u32; 4]>, ANY, "Four vertices each, of positive volume.";
    };
    "fill" => Fill, "A closed surface filled with tetrahedra.", {
        surface surface: TriMesh, ANY, "The surface.";
        edge edge: Option<Real>, POSITIVE => None, "Length of the edges [m].";
        tets tets: Option<u32>, TETS => None, "About how many tetrahedra.";
    };
    "file" => File, "A mesh file, relative to the scene file: its tetrahedra, or its surface.", {
        file file: String, ANY, "Path of the file.";
        scale scale: Real, POSITIVE => 1.0, "Factor on its lengths.";
        edge edge: Option<Real>, POSITIVE => None, "Fill its surface with tetrahedra of this edge [m], after scaling.";
        tets tets: Option<u32>, TETS => None, "Fill its surface with about this many tetrahedra.";
    };
    "sheet" => Sheet, "A rectangle of triangles in the xz plane.", {
        cells cells: [u32; 2], CELLS, "Cells along x and z.";
        size size: [Real; 2], POSITIVE, "Size along x and z [m].";
        diagonals diagonals: Diagonals, ANY => Diagonals::Alternating, "How cells are cut into triangles.";
    };
    "disc" => Disc, "A disc of triangles in the xz plane.", {
        radius radius: Real, POSITIVE, "Radius [m].";
        cells cells: u32, CELLS, "Cells along a radius.";
    };
    "strip" => Strip, "A narrow strip of pairs of triangles.", {
        length length: Real, POSITIVE, "Length [m].";
        width width: Real, POSITIVE, "Width [m].";
        pairs pairs: u32, CELLS, "Pairs of triangles.";
    };
    "surface" => Surface, "Any surface as a sheet.", {
        surface surface: TriMesh, ANY, "The surface.";
    };
    "rope" => Rope, "A straight rope.", {
        from from: Vec3, FINITE, "One end [m].";
        to to: Vec3, FINITE, "The other end [m].";
        segments segments: u32, CELLS, "Segments.";
    };
    "line" => Line, "A rope through points.", {
        points points: Vec<Vec3>, FINITE, "Points in order [m].";
    };
    "points" => Points, "Points without connections.", {
        points points: Vec<Vec3>, FINITE, "Points [m].";
    };
});

impl GeometrySpec {
    /// The rest shape, or why not.
    fn build(self, folder: &Path) -> Result<Geometry, String> {
        let sheet = |spec: SurfaceSpec| spec.build(folder).map(Geometry::Sheet);
        Ok(match self {
            Self::Block { cells, size } => {
                check_count("block", cells.iter().map(|&n| f64::from(n) + 1.0).product())?;
                Geometry::Tets(with_text(TetMesh::block(cells, size))?)
            }
            Self::Ball { radius, cells } => {
                check_count("ball", (2.0 * f64::from(cells) + 1.0).powi(3))?;
                Geometry::Tets(with_text(TetMesh::ball(radius, cells))?)
            }
            Self::Cylinder { radius, height, cells } => {
                check_count("cylinder", cylinder_nodes(radius, height, cells))?;
                Geometry::Tets(with_text(TetMesh::cylinder(radius, height, cells))?)
            }
            Self::Torus { ring_radius, tube_radius, cells } => {
                check_count("torus", cylinder_nodes(tube_radius, 6.3 * ring_radius, cells))?;
                Geometry::Tets(with_text(TetMesh::torus(ring_radius, tube_radius, cells))?)
            }
            Self::Tube { radii, height, cells } => {
                check_count("tube", tube_nodes(radii, height, cells))?;
                Geometry::Tets(with_text(TetMesh::tube(radii, height, cells))?)
            }
            Self::Tets { vertices, tets } => {
                let mesh = TetMesh { vertices, tets };
                with_text(mesh.check())?;
                Geometry::Tets(mesh)
            }
            Self::Fill { surface, edge, tets } => {
                let options = filling(edge, tets)?.ok_or("a filling needs 'edge' or 'tets'")?;
                Geometry::Tets(with_text(tetrahedralize(&surface, &options))?.mesh)
            }
            Self::File { file, scale, edge, tets } => from_file(folder, &file, scale, filling(edge, tets)?)?,
            Self::Sheet { cells, size, diagonals } => sheet(SurfaceSpec::Sheet { cells, size, diagonals })?,
            Self::Disc { radius, cells } => sheet(SurfaceSpec::Disc { radius, cells })?,
            Self::Strip { length, width, pairs } => sheet(SurfaceSpec::Strip { length, width, pairs })?,
            Self::Surface { surface } => Geometry::Sheet(surface),
            Self::Rope { from, to, segments } => Geometry::Rope(with_text(Polyline::rope(from, to, segments))?.points),
            Self::Line { points } => Geometry::Rope(points),
            Self::Points { points } => Geometry::Points(points),
        })
    }
}

fn filling(edge: Option<Real>, tets: Option<u32>) -> Result<Option<Options>, String> {
    let size = match (edge, tets) {
        (Some(_), Some(_)) => return Err("a filling takes either 'edge' or 'tets'".to_owned()),
        (Some(edge), None) => Size::Edge(num(edge)),
        (None, Some(count)) => Size::Count(count as usize),
        (None, None) => return Ok(None),
    };
    Ok(Some(Options { size, max_tets: MAX_TETS as usize, ..Options::default() }))
}

fn from_file(folder: &Path, file: &str, scale: Real, fill: Option<Options>) -> Result<Geometry, String> {
    let mesh = read_mesh(folder, file)?;
    let larger = |vertices: &mut Vec<Vec3>| vertices.iter_mut().for_each(|v| *v *= scale);
    if mesh.tets.is_empty() || fill.is_some() {
        let mut surface = with_text(mesh.tri_mesh())?;
        larger(&mut surface.vertices);
        return match fill {
            None => Ok(Geometry::Sheet(surface)),
            Some(options) => Ok(Geometry::Tets(with_text(tetrahedralize(&surface, &options))?.mesh)),
        };
    }
    let mut tets = with_text(mesh.tet_mesh())?;
    larger(&mut tets.vertices);
    Ok(Geometry::Tets(tets))
}

/// Nodes of a rest shape.
pub(crate) fn node_count(geometry: &Geometry) -> u64 {
    (match geometry {
        Geometry::Tets(mesh) => mesh.vertices.len(),
        Geometry::Sheet(mesh) => mesh.vertices.len(),
        Geometry::Rope(points) | Geometry::Points(points) => points.len(),
    }) as u64
}

/// A rest shape: one of the kinds; written number by number.
impl Form for Geometry {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let spec = GeometrySpec::read(node, rule, reader)?;
        let folder = folder(node, reader);
        if let GeometrySpec::File { file, .. } = &spec {
            reader.files.push(folder.join(file));
        }
        let made = spec.build(&folder);
        refuse(node, reader, made)
    }

    fn write(&self) -> Value {
        match self.clone() {
            Geometry::Tets(TetMesh { vertices, tets }) => GeometrySpec::Tets { vertices, tets },
            Geometry::Sheet(surface) => GeometrySpec::Surface { surface },
            Geometry::Rope(points) => GeometrySpec::Line { points },
            Geometry::Points(points) => GeometrySpec::Points { points },
        }
        .write()
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        GeometrySpec::schema(rule, schemas)
    }

    fn wants(rule: &Rule) -> String {
        GeometrySpec::wants(rule)
    }
}
