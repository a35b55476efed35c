//! Collision shapes: those that the engine describes, and those that are made of a surface mesh.

use super::described::{self, Worded};
use super::form::{ANY, FieldInfo, Form, POSITIVE, Reader, Rule, article, tell};
use super::geometry::refuse;
use super::schema::Schemas;
use super::tree::{Node, Value};
use sinew::spec::{Kind, Spec};
use sinew::{Pose, Real, Shape, TriMesh};

described::described!(Pose);

/// Shapes of a surface: the mesh, which the engine describes by its vertices, its hull and its cells.
const MESH: &str = "mesh";
const HULL: (&str, &str) = ("mesh_hull", "The convex hull of a surface.");
const VOXELS: (&str, &str) =
    ("mesh_voxels", "The cells of a grid that a surface takes up: fixed scenery with many triangles.");

const SURFACE: (&str, &str) = ("surface", "The surface.");
const CELL: (&str, &str) = ("cell", "Edge of a cell [m].");

/// All words of a file in order, with their sentences; those of surfaces have no description.
fn words() -> Vec<(String, String, Option<Worded>)> {
    let mut all = Vec::new();
    let Kind::Choice(choice) = Shape::kind(&ANY) else { return all };
    for described in Worded::all(&choice) {
        let (word, about) = (described.word.clone(), described.about.clone());
        let derived = match word.as_str() {
            "hull" => Some(HULL),
            "voxels" => Some(VOXELS),
            _ => None,
        };
        all.push((word, about, Some(described).filter(|d| d.word != MESH)));
        all.extend(derived.map(|(word, about)| (word.to_owned(), about.to_owned(), None)));
    }
    all
}

fn of_surface(word: &str, surface: TriMesh, cell: Option<Real>) -> Result<Shape, String> {
    match (word, cell) {
        (word, _) if word == HULL.0 => Ok(Shape::convex_hull(surface.vertices)),
        (word, Some(cell)) if word == VOXELS.0 => {
            Shape::voxelized(&surface.vertices, &surface.triangles, cell).map_err(|e| e.to_string())
        }
        _ => Ok(Shape::tri_mesh(surface.vertices, surface.triangles)),
    }
}

/// What the engine would refuse later, when the place in the file is not known any more.
fn check(shape: Shape) -> Result<Shape, String> {
    match &shape {
        Shape::HeightField { heights, rows, .. } if !heights.len().is_multiple_of(*rows) => {
            Err(format!("{} heights do not make {rows} rows", heights.len()))
        }
        Shape::Sdf(function) => function.check().map_err(|e| e.to_string()).map(|()| shape),
        _ => Ok(shape),
    }
}

impl Form for Shape {
    fn read(node: &Node, _: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let words = words();
        let all: Vec<&str> = words.iter().map(|(word, ..)| word.as_str()).collect();
        let made = reader.choice(node, "shape", &all, |word, fields| {
            match words.iter().find(|(known, ..)| known == word).and_then(|(.., described)| described.as_ref()) {
                Some(described) => described.read(&[], fields).and_then(Shape::from_item).map(check),
                None => {
                    let surface = fields.given(SURFACE.0, &ANY, None);
                    let cell = if word == VOXELS.0 { fields.given(CELL.0, &POSITIVE, None) } else { None };
                    Some(of_surface(word, surface?, cell))
                }
            }
        })?;
        refuse(node, reader, made)
    }

    fn write(&self) -> Value {
        let Shape::TriMesh { vertices, triangles } = self else { return described::write(self) };
        let surface = TriMesh { vertices: vertices.to_vec(), triangles: triangles.to_vec() };
        Value::table([("kind", Value::text(MESH)), (SURFACE.0, surface.write())])
    }

    fn schema(_: &Rule, schemas: &mut Schemas) -> Value {
        let about = "A collision shape. Capsule, cylinder and cone stand along y.";
        schemas.choice(("shape", about), |schemas| {
            let each = |(word, about, described): (String, String, Option<Worded>)| {
                let mut fields: Vec<FieldInfo> = Vec::new();
                match described {
                    Some(described) => fields = described.describe(schemas),
                    None => {
                        tell(&mut fields, schemas, SURFACE, &ANY, Err(&TriMesh::default()));
                        if word == VOXELS.0 {
                            tell(&mut fields, schemas, CELL, &POSITIVE, Err(&Real::default()));
                        }
                    }
                }
                (word, about, fields)
            };
            words().into_iter().map(each).collect()
        })
    }

    fn wants(_: &Rule) -> String {
        article("shape")
    }
}
