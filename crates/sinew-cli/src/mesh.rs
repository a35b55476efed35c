//! `sinew mesh`: what a mesh file is like, the same mesh in another format, and repair.

use crate::failure::{Failure, named};
use crate::inputs;
use crate::output::{Json, Table};
use crate::place::{Place, apart};
use crate::play;
use crate::screen::screen;
use serde::Serialize;
use sinew_mesh::tetrahedralize::{Options, Size, tetrahedralize};
use sinew_mesh::{Encoding, Mesh, Report, files, inspect, repair};
use sinew_scene::validate::tools::num;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What to do with which file.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Describe a mesh: counts, sizes, topology, quality, and what is wrong with it
    Info(Info),
    /// Write a mesh in another format; the formats follow from the extensions
    Convert(Convert),
    /// Join, drop and turn what is wrong, and write the result
    Repair(Repair),
    /// Fill a closed surface with tetrahedra
    Tetrahedralize(Fill),
}

#[derive(clap::Args)]
struct Info {
    /// Mesh file: .obj .stl .ply .gltf .glb .msh .node .ele .vtk .vtu .mesh
    file: PathBuf,
    /// Write the report as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Exit with 1 and the reasons when the physics refuses the mesh
    #[arg(long)]
    strict: bool,
}

#[derive(clap::Args)]
struct Convert {
    /// Mesh file to read
    from: PathBuf,
    /// Mesh file to write; a format for surfaces gets the outside of tetrahedra
    to: PathBuf,
    /// Write text where the format has it
    #[arg(long, conflicts_with = "binary")]
    text: bool,
    /// Write binary where the format has it
    #[arg(long)]
    binary: bool,
    /// Write the surface only
    #[arg(long)]
    surface: bool,
}

#[derive(clap::Args)]
struct Repair {
    /// Mesh file to read
    from: PathBuf,
    /// Mesh file to write; without one only report the changes
    to: Option<PathBuf>,
    /// Join vertices nearer than this, in metres; default: a millionth of the mesh's diagonal
    #[arg(long, value_name = "M", value_parser = tolerance, allow_negative_numbers = true)]
    weld: Option<f64>,
    /// Write what was done and the report on the result as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Fill {
    /// Mesh file with a closed surface
    from: PathBuf,
    /// Mesh file to write, in a format for tetrahedra
    to: PathBuf,
    /// Length of an edge in metres
    #[arg(long, value_name = "M", value_parser = play::above_zero, conflicts_with = "count")]
    size: Option<f64>,
    /// About this many tetrahedra (default 20000)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Write the quality as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

/// What `mesh tetrahedralize --json` writes.
#[derive(Serialize)]
struct Filled {
    vertices: usize,
    tets: usize,
    min_dihedral_deg: f64,
    max_dihedral_deg: f64,
    volume_error: f64,
    boundary_to_surface: f64,
}

/// A length that is not negative.
fn tolerance(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a length in metres".to_owned())?;
    if value >= 0.0 && value.is_finite() { Ok(value) } else { Err("expected a length that is not negative".to_owned()) }
}

/// Does it.
pub fn mesh(args: &Args) -> Result<(), Failure> {
    match &args.verb {
        Verb::Info(args) => info(args),
        Verb::Convert(args) => convert(args),
        Verb::Repair(args) => mend(args),
        Verb::Tetrahedralize(args) => fill(args),
    }
}

fn info(args: &Info) -> Result<(), Failure> {
    let mesh = read(&args.file)?;
    let json = Json::open(&args.json)?;
    let report = inspect(&mesh);
    let quiet = json.takes_stdout();
    let written = json.write(&report);
    if !quiet {
        tell(&args.file, &report.rows())?;
    }
    written?;
    if args.strict {
        check(&args.file, &mesh)?;
    }
    Ok(())
}

/// The validation that applies to the mesh: of tetrahedra, or of triangles.
fn check(file: &Path, mesh: &Mesh) -> Result<(), Failure> {
    let passed = if mesh.tets.is_empty() { mesh.tri_mesh().map(|_| ()) } else { mesh.tet_mesh().map(|_| ()) };
    passed.map_err(|e| Failure::Check(format!("{}: {e}", named(file))))
}

fn tell(file: &Path, rows: &[(&str, String)]) -> Result<(), Failure> {
    let name = file.display().to_string();
    let mut table = Table::new(2, ["mesh", &name]);
    for (name, value) in rows {
        table.row(vec![(*name).to_owned(), value.clone()]);
    }
    let mut out = screen();
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// Reads a mesh that no output of the command may replace.
fn read(path: &Path) -> Result<Mesh, Failure> {
    let mesh = sinew_mesh::read(path)?;
    inputs::note_mesh(path);
    Ok(mesh)
}

/// Writes a mesh, one file or several, none of them at the place of the JSON.
fn put(to: &Path, mesh: &Mesh, encoding: Encoding, json: &Json) -> Result<(), Failure> {
    if to == Path::new("-") || to == Path::new("/dev/stdout") {
        let reason = "the ending of the name chooses the format of a mesh; stdout has none";
        return Err(Failure::input(format!("{}: {reason}", named(to))));
    }
    let files = files(to, mesh, encoding)?;
    let places = files.iter().map(|(path, _)| Place::open(path)).collect::<Result<Vec<_>, _>>()?;
    apart(&places.iter().chain(json.place()).collect::<Vec<_>>())?;
    places.into_iter().zip(&files).try_for_each(|(place, (_, bytes))| place.save(bytes))
}

fn convert(args: &Convert) -> Result<(), Failure> {
    let mut mesh = read(&args.from)?;
    if args.surface {
        mesh = mesh.to_surface();
    }
    let encoding = match (args.text, args.binary) {
        (true, _) => Encoding::Text,
        (_, true) => Encoding::Binary,
        _ => Encoding::Usual,
    };
    put(&args.to, &mesh, encoding, &Json::default())?;
    let done = format!("{} triangles, {} tetrahedra", mesh.triangles.len(), mesh.tets.len());
    let mut rows = vec![("from", format!("{}: {done}", args.from.display()))];
    rows.extend(mesh.notes.lines().into_iter().map(|line| ("note", line)));
    tell(&args.to, &rows)
}

/// What `mesh repair --json` writes.
#[derive(Serialize)]
struct Mended<'a> {
    did: &'a [String],
    left: &'a [String],
    report: &'a Report,
}

fn mend(args: &Repair) -> Result<(), Failure> {
    let mesh = read(&args.from)?;
    let json = Json::open(&args.json)?;
    let fixed = repair(&mesh, args.weld);
    let report = inspect(&fixed.mesh);
    let saved = args.to.as_ref().map_or(Ok(()), |to| put(to, &fixed.mesh, Encoding::Usual, &json));
    let quiet = json.takes_stdout();
    let written = json.write(&Mended { did: &fixed.did, left: &fixed.left, report: &report }).and(saved);
    if quiet {
        return written;
    }
    let mut rows: Vec<(&str, String)> = fixed.did.into_iter().map(|line| ("did", line)).collect();
    if rows.is_empty() {
        rows.push(("did", "nothing was wrong that can be mended here".to_owned()));
    }
    rows.extend(fixed.left.into_iter().map(|line| ("left", line)));
    rows.extend(report.rows());
    tell(args.to.as_ref().unwrap_or(&args.from), &rows)?;
    written
}

fn fill(args: &Fill) -> Result<(), Failure> {
    let message = |e: &dyn std::fmt::Display| Failure::input(format!("{}: {e}", named(&args.from)));
    let surface = read(&args.from)?.to_surface().tri_mesh().map_err(|e| message(&e))?;
    let json = Json::open(&args.json)?;
    let mut options = Options::default();
    if let Some(size) = args.size {
        options.size = Size::Edge(size);
    } else if let Some(count) = args.count {
        options.size = Size::Count(count as usize);
    }
    let done = tetrahedralize(&surface, &options).map_err(|e| message(&e))?;
    let vertices = done.mesh.vertices.iter().map(|v| v.to_array().map(num)).collect();
    let saved = put(&args.to, &Mesh::from_tets(vertices, done.mesh.tets), Encoding::Usual, &json);
    let q = &done.quality;
    let filled = Filled {
        vertices: q.vertices,
        tets: q.tets,
        min_dihedral_deg: q.min_dihedral_deg,
        max_dihedral_deg: q.max_dihedral_deg,
        volume_error: q.volume_error,
        boundary_to_surface: q.boundary_to_surface,
    };
    let quiet = json.takes_stdout();
    let written = json.write(&filled).and(saved);
    if quiet {
        return written;
    }
    let rows = [
        ("tets", format!("{} on {} vertices", filled.tets, filled.vertices)),
        ("angles", format!("dihedral {:.1} to {:.1} degrees", filled.min_dihedral_deg, filled.max_dihedral_deg)),
        ("volume", format!("{:+.2} %", 100.0 * filled.volume_error)),
        ("surface", format!("at most {:.3e} m from the input", filled.boundary_to_surface)),
    ];
    tell(&args.to, &rows)?;
    written
}
