//! Mesh files of other programs: every mesh file below the given folders is loaded or refused with a reason; the result
//! is a table.
//!
//! `cargo run --release -p sinew-mesh --example foreign -- DIR..`; `cargo xtask foreign` installs Debian's test models
//! for it. With `--list` every file is printed. Exit 1 when a reader panicked, took too long or accepted a number that
//! is not finite.

use sinew_mesh::{Format, MeshError, inspect, read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Maximum time of a reader per megabyte, and for any smaller file [s].
const SECONDS_PER_MEGABYTE: f64 = 1.0;

/// Result of reading a file.
#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    Loaded { vertices: usize, cells: usize },
    Refused(String),
    Broken(String),
}

struct Row {
    format: Format,
    path: PathBuf,
    seconds: f64,
    verdict: Verdict,
}

fn main() -> ExitCode {
    let (options, folders): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let mut files = Vec::new();
    for folder in &folders {
        collect(Path::new(folder), &mut files);
    }
    files.sort();
    let rows: Vec<Row> = files.into_iter().filter_map(|path| Some(judge(Format::of(&path).ok()?, path))).collect();
    for row in rows.iter().filter(|r| options.contains(&"--list".to_owned()) || matches!(r.verdict, Verdict::Broken(_)))
    {
        println!("{:8.4} s  {}  {:?}", row.seconds, row.path.display(), row.verdict);
    }
    print(&rows);
    let fine = !rows.is_empty() && rows.iter().all(|r| !matches!(r.verdict, Verdict::Broken(_)));
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        // symbolic links are not followed: they may form a cycle
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, files),
            Ok(kind) if kind.is_file() => files.push(path),
            _ => {}
        }
    }
}

fn judge(format: Format, path: PathBuf) -> Row {
    let mut seconds = 0.0;
    let read = catch_unwind(AssertUnwindSafe(|| read_and_inspect(&path, &mut seconds)));
    let megabytes = std::fs::metadata(&path).map_or(0.0, |m| m.len() as f64 / 1e6);
    let verdict = match read {
        Err(_) => Verdict::Broken("panicked".to_owned()),
        Ok(_) if seconds > SECONDS_PER_MEGABYTE * megabytes.max(1.0) => Verdict::Broken(format!("took {seconds:.1} s")),
        Ok(Ok(verdict)) => verdict,
        Ok(Err(error)) => Verdict::Refused(error.to_string()),
    };
    Row { format, path, seconds, verdict }
}

fn read_and_inspect(path: &Path, seconds: &mut f64) -> Result<Verdict, MeshError> {
    let begin = Instant::now();
    let mesh = read(path);
    *seconds = begin.elapsed().as_secs_f64();
    let mesh = mesh?;
    let count = mesh.vertices.len() as u32;
    let known = mesh.triangles.iter().flatten().chain(mesh.tets.iter().flatten()).all(|&i| i < count);
    if !known || !mesh.vertices.iter().flatten().all(|x| x.is_finite()) {
        return Ok(Verdict::Broken("a bad number came through".to_owned()));
    }
    inspect(&mesh);
    Ok(Verdict::Loaded { vertices: mesh.vertices.len(), cells: mesh.triangles.len() + mesh.tets.len() })
}

fn print(rows: &[Row]) {
    println!("{:<8} {:>6} {:>7} {:>8} {:>7} {:>12}", "format", "files", "loaded", "refused", "broken", "slowest [s]");
    let mut all = [0; 4];
    for (format, _) in Format::ALL {
        let own: Vec<&Row> = rows.iter().filter(|row| row.format == format).collect();
        let count = |is: fn(&Verdict) -> bool| own.iter().filter(|row| is(&row.verdict)).count();
        let counts = [
            own.len(),
            count(|v| matches!(v, Verdict::Loaded { .. })),
            count(|v| matches!(v, Verdict::Refused(_))),
            count(|v| matches!(v, Verdict::Broken(_))),
        ];
        let slowest = own.iter().map(|row| row.seconds).fold(0.0, f64::max);
        if counts[0] > 0 {
            let [files, loaded, refused, broken] = counts;
            println!("{:<8} {files:>6} {loaded:>7} {refused:>8} {broken:>7} {slowest:>12.3}", format!("{format:?}"));
        }
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [files, loaded, refused, broken] = all;
    println!("{:<8} {files:>6} {loaded:>7} {refused:>8} {broken:>7}", "all");
}
