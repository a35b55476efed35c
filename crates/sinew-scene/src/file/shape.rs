//! Collision shapes: those that the engine describes, and those that are made of a surface mesh.

use super::described::{self, Worded};
use super::form::{ANY, FieldInfo, Form, POSITIVE, Reader, Rule, article, tell};
use super::geometry::refuse;
use super::schema::Schemas;
use super::tree::{Node, Value};
use sinew::spec::{Choice, Kind, Spec};
use sinew::{Pose, Real, Shape, TriMesh};

described::described!(Pose);

/// Shapes of a surface. The first is a mesh, which the engine describes by its vertices.
const MESH: &str = "mesh";
const HULL: &str = "mesh_hull";
const VOXELS: &str = "mesh_voxels";
const OF_SURFACE: [(&str, &str); 3] = [
    (MESH, "A triangle mesh; a closed one has a mass."),
    (HULL, "The convex hull of a surface."),
    (VOXELS, "The cells of a grid that a surface takes up: fixed scenery with many triangles."),
];

const SURFACE: (&str, &str) = ("surface", "The surface.");
const CELL: (&str, &str) = ("cell", "Edge of a cell [m].");

fn description() -> Option<Choice> {
    if let Kind::Choice(choice) = Shape::kind(&ANY) { Some(choice) } else { None }
}

/// The words of the engine except that of the mesh.
fn words(choice: &Choice) -> Vec<Worded> {
    Worded::all(choice).into_iter().filter(|w| w.word != MESH).collect()
}

fn of_surface(word: &str, surface: TriMesh, cell: Option<Real>) -> Result<Shape, String> {
    match (word, cell) {
        (HULL, _) => Ok(Shape::convex_hull(surface.vertices)),
        (VOXELS, Some(cell)) => {
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
        let words = words(&description()?);
        let all: Vec<&str> = words.iter().map(|w| w.word.as_str()).chain(OF_SURFACE.map(|(word, _)| word)).collect();
        let made = reader.choice(node, "shape", &all, |word, fields| match words.iter().find(|w| w.word == word) {
            Some(described) => described.read(&[], fields).and_then(Shape::from_item).map(check),
            None => {
                let surface = fields.given(SURFACE.0, &ANY, None);
                let cell = if word == VOXELS { fields.given(CELL.0, &POSITIVE, None) } else { None };
                Some(of_surface(word, surface?, cell))
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
        let Some(choice) = description() else { return Value::Nothing };
        schemas.choice((choice.name, choice.about), |schemas| {
            let mut all: Vec<(String, String, Vec<FieldInfo>)> = Vec::new();
            for described in words(&choice) {
                let fields = described.describe(schemas);
                all.push((described.word, described.about, fields));
            }
            for (word, about) in OF_SURFACE {
                let mut fields = Vec::new();
                tell(&mut fields, schemas, SURFACE, &ANY, Err(&TriMesh::default()));
                if word == VOXELS {
                    tell(&mut fields, schemas, CELL, &POSITIVE, Err(&Real::default()));
                }
                all.push((word.to_owned(), about.to_owned(), fields));
            }
            all
        })
    }

    fn wants(_: &Rule) -> String {
        article("shape")
    }
}
