//! `sinew run --export`: frames for other programs. VTK: one .vtu a frame and a .pvd over them (ParaView). OBJ: one file a
//! frame. glTF: one .glb with an animation (`export_gltf.rs`).
//!
//! Bodies are exported as triangles, balls and ropes too. Half-spaces and distance functions are unbounded and are left out.

use crate::export_gltf::Film;
use crate::failure::Failure;
use crate::place::{self, Place};
use sinew::{BodyId, Pose, World};
use sinew_render::{Figure, Solid, Triangles, figures};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Kind of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One .vtu a frame and a .pvd over them, for ParaView
    Vtk,
    /// One .obj a frame
    Obj,
    /// One .glb with an animation
    Gltf,
}

/// A body as triangles: rigid ones in body coordinates, others in the world.
pub struct Piece {
    /// Whose; nothing for rods between bodies.
    pub body: Option<BodyId>,
    pub name: String,
    /// Moves as a whole.
    pub rigid: bool,
    pub pose: Pose,
    pub mesh: Triangles,
}

/// All that is to be seen, without what has no end.
pub fn pieces(world: &World) -> Vec<Piece> {
    figures(world).into_iter().map(piece).filter(|p| !p.mesh.triangles.is_empty()).collect()
}

fn piece(figure: Figure) -> Piece {
    let mut mesh = Triangles::default();
    let rigid = figure.body.is_some() && matches!(figure.look, sinew_render::Look::Stage | sinew_render::Look::Rigid);
    for solid in figure.solids {
        match solid {
            Solid::Ball { center, radius } => append(&mut mesh, Triangles::ball(center, radius)),
            Solid::Capsule { a, b, radius } => append(&mut mesh, Triangles::capsule(a, b, radius)),
            Solid::Mesh(part) => append(&mut mesh, part),
            Solid::Plane { .. } | Solid::Field { .. } => {}
        }
    }
    let slot = figure.body.map_or(0, |b| b.to_parts().0);
    let name = if figure.name.is_empty() { format!("body {slot}") } else { figure.name };
    Piece { body: figure.body, name, rigid, pose: figure.pose, mesh }
}

fn append(to: &mut Triangles, part: Triangles) {
    let first = to.vertices.len() as u32;
    to.vertices.extend(part.vertices);
    to.triangles.extend(part.triangles.into_iter().map(|t| t.map(|k| k + first)));
}

/// An export while the world runs.
pub struct Export {
    folder: PathBuf,
    name: String,
    format: Format,
    every: u64,
    /// Files of a series with their times [s].
    series: Vec<(String, f64)>,
    film: Film,
}

impl Export {
    /// Begins in a folder, which is made if need be. The first frame is the next call of `step`.
    pub fn create(folder: &Path, name: &str, format: Format, every: u64, world: &World) -> Result<Self, Failure> {
        place::folder(folder)?;
        let film = Film::new(pieces(world));
        let name: String = name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
        Ok(Self { folder: folder.to_owned(), name, format, every, series: Vec::new(), film })
    }

    /// Refuses other outputs at the place of a frame, or of the file over the frames.
    pub fn apart(&self, others: &[&Place]) -> Result<(), Failure> {
        let whole = self.folder.canonicalize().map_err(Failure::file(&self.folder))?;
        // links that lead out of the folder are followed by the frames
        let there = std::fs::read_dir(&whole).map_err(Failure::file(&self.folder))?.flatten().map(|entry| entry.path());
        let taken: Vec<PathBuf> =
            there.filter(|path| self.names(path)).filter_map(|path| path.canonicalize().ok()).collect();
        for other in others {
            let Some(target) = other.target() else { continue };
            if taken.contains(&target) || (target.parent() == Some(&whole) && self.names(&target)) {
                return Err(place::shared(other));
            }
        }
        Ok(())
    }

    /// True when the export may write a file of this name.
    fn names(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(rest) = name.and_then(|name| name.strip_prefix(&self.name)) else { return false };
        let (over, frame) = match self.format {
            Format::Vtk => (Some(".pvd"), Some(".vtu")),
            Format::Obj => (None, Some(".obj")),
            Format::Gltf => (Some(".glb"), None),
        };
        let tick = frame.and_then(|ending| rest.strip_prefix('-')?.strip_suffix(ending));
        Some(rest) == over || tick.is_some_and(|tick| tick.bytes().all(|b| b.is_ascii_digit()))
    }

    /// Takes a frame when it is time.
    pub fn step(&mut self, world: &World) -> Result<(), Failure> {
        let tick = world.state().tick;
        if !tick.is_multiple_of(self.every) {
            return Ok(());
        }
        let (extension, text) = match self.format {
            Format::Gltf => {
                self.film.take(world.time(), &pieces(world));
                return Ok(());
            }
            Format::Vtk => ("vtu", vtu(&pieces(world))),
            Format::Obj => ("obj", obj(&pieces(world))),
        };
        let file = format!("{}-{tick:06}.{extension}", self.name);
        place::save(&self.folder.join(&file), text.as_bytes())?;
        self.series.push((file, world.time()));
        Ok(())
    }

    /// Writes what stands over the frames; also after a run that was stopped.
    pub fn finish(self) -> Result<(), Failure> {
        let path = |extension: &str| self.folder.join(format!("{}.{extension}", self.name));
        match self.format {
            Format::Vtk => place::save(&path("pvd"), pvd(&self.series).as_bytes()),
            Format::Obj => Ok(()),
            Format::Gltf => place::save(&path("glb"), &self.film.glb()?),
        }
    }
}

/// All frames with their times.
fn pvd(series: &[(String, f64)]) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n".to_owned();
    for (file, time) in series {
        let _ = writeln!(text, "<DataSet timestep=\"{time}\" file=\"{file}\"/>");
    }
    text + "</Collection>\n</VTKFile>\n"
}

/// One frame: all triangles in the world, each with the slot of its body (-1: rods).
fn vtu(pieces: &[Piece]) -> String {
    let (mut points, mut corners, mut offsets, mut kinds, mut bodies) =
        (String::new(), String::new(), String::new(), String::new(), String::new());
    let (mut vertex_count, mut triangle_count) = (0, 0);
    for piece in pieces {
        for v in &piece.mesh.vertices {
            let p = piece.pose.point(*v);
            let _ = writeln!(points, "{} {} {}", p.x, p.y, p.z);
        }
        let slot = piece.body.map_or(-1, |b| i64::from(b.to_parts().0));
        for [a, b, c] in piece.mesh.triangles.iter().map(|t| t.map(|k| k as usize + vertex_count)) {
            triangle_count += 1;
            let _ = writeln!(corners, "{a} {b} {c}");
            let _ = writeln!(offsets, "{}", 3 * triangle_count);
            kinds.push_str("5\n");
            let _ = writeln!(bodies, "{slot}");
        }
        vertex_count += piece.mesh.vertices.len();
    }
    let array = |name: &str, kind: &str, more: &str, text: &str| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\"{more} format=\"ascii\">\n{text}</DataArray>\n")
    };
    let points = array("points", "Float64", " NumberOfComponents=\"3\"", &points);
    let cells = array("connectivity", "Int64", "", &corners)
        + &array("offsets", "Int64", "", &offsets)
        + &array("types", "UInt8", "", &kinds);
    let bodies = array("body", "Int64", "", &bodies);
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n\
         <UnstructuredGrid>\n<Piece NumberOfPoints=\"{vertex_count}\" NumberOfCells=\"{triangle_count}\">\n\
         <Points>\n{points}</Points>\n<Cells>\n{cells}</Cells>\n<CellData>\n{bodies}</CellData>\n\
         </Piece>\n</UnstructuredGrid>\n</VTKFile>\n"
    )
}

/// One frame: an object a body.
fn obj(pieces: &[Piece]) -> String {
    let mut text = "# metres, y up\n".to_owned();
    let mut first = 1;
    for piece in pieces {
        // a name ends at the end of its line
        let _ = writeln!(text, "o {}", piece.name.replace(char::is_whitespace, "_"));
        for v in &piece.mesh.vertices {
            let p = piece.pose.point(*v);
            let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
        }
        for [a, b, c] in piece.mesh.triangles.iter().map(|t| t.map(|k| k + first)) {
            let _ = writeln!(text, "f {a} {b} {c}");
        }
        first += piece.mesh.vertices.len() as u32;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::{ElasticMaterial, Input, RigidBody, Shape, SoftBody, TetMesh, Vec3};
    use sinew_scene::validate::tools::num;

    /// A turned box, a ball and a jelly that fell for a while, as pieces.
    fn fallen() -> Vec<Piece> {
        let mut world = World::default();
        let cube = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.2, 0.3)).spin([1.0, 2.0, 3.0]).named("a cube");
        world.add_rigid(cube).unwrap();
        world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([1.0, 0.5, 0.0])).unwrap();
        let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1)).unwrap();
        world
            .add_soft(SoftBody::corotational(block, ElasticMaterial::new(1e4, 0.3, 1000.0)).at([0.0, 2.0, 0.0]))
            .unwrap();
        for _ in 0..20 {
            world.step(&Input::none());
        }
        pieces(&world)
    }

    /// Vertices in the world, and triangles over all of them.
    fn together(pieces: &[Piece]) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for piece in pieces {
            let first = vertices.len() as u32;
            vertices.extend(piece.mesh.vertices.iter().map(|v| piece.pose.point(*v).to_array().map(num)));
            triangles.extend(piece.mesh.triangles.iter().map(|t| t.map(|k| k + first)));
        }
        (vertices, triangles)
    }

    #[test]
    fn an_obj_is_read_back_with_every_number() {
        let pieces = fallen();
        let mesh = sinew_mesh::read_bytes(obj(&pieces).as_bytes(), sinew_mesh::Format::Obj, "frame.obj").unwrap();
        let (vertices, triangles) = together(&pieces);
        assert_eq!((mesh.vertices.len(), &mesh.triangles), (vertices.len(), &triangles));
        for (found, right) in mesh.vertices.iter().zip(&vertices) {
            // the shortest decimals of a number in this precision give it back
            assert!((0..3).all(|k| (found[k] - right[k]).abs() <= 1e-7 * right[k].abs()), "{found:?} {right:?}");
        }
    }

    #[test]
    fn a_vtu_has_every_number_and_the_body_of_each_triangle() {
        let pieces = fallen();
        let text = vtu(&pieces);
        let array = |name: &str| -> Vec<f64> {
            let start = text.find(&format!("Name=\"{name}\"")).expect(name);
            let inside = text[start..].split_once('>').expect(name).1.split_once('<').expect(name).0;
            inside.split_whitespace().map(|word| word.parse().expect(name)).collect()
        };
        let (vertices, triangles) = together(&pieces);
        let points = array("points");
        assert_eq!(points.len(), 3 * vertices.len());
        for (found, right) in points.iter().zip(vertices.as_flattened()) {
            assert!((found - right).abs() <= 1e-7 * right.abs(), "{found} {right}");
        }
        let corners: Vec<f64> = triangles.as_flattened().iter().map(|&k| f64::from(k)).collect();
        assert_eq!(array("connectivity"), corners);
        assert_eq!(array("offsets").last(), Some(&(3.0 * triangles.len() as f64)));
        // 5: a triangle
        assert!(array("types").iter().all(|kind| *kind == 5.0));
        let bodies = array("body");
        assert_eq!((bodies.len(), bodies.first(), bodies.last()), (triangles.len(), Some(&0.0), Some(&2.0)));
        for count in
            [format!("NumberOfPoints=\"{}\"", vertices.len()), format!("NumberOfCells=\"{}\"", triangles.len())]
        {
            assert!(text.contains(&count), "{count}");
        }
    }
}
