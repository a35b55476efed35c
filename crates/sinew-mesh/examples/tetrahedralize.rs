//! Fills surfaces with tetrahedra and prints the quality of the meshes: `cargo run --release -p sinew-mesh --example
//! tetrahedralize -- COUNT FILE.obj FILE.ply ..`.
//!
//! Reads the subset of OBJ and binary PLY that this needs.

use sinew::{Real, TriMesh, Vec3};
use sinew_mesh::tetrahedralize::{Options, Size, tetrahedralize};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    for path in arguments {
        let bytes = std::fs::read(&path)?;
        let surface =
            if path.ends_with(".ply") { read_ply(&bytes) } else { read_obj(&String::from_utf8_lossy(&bytes)) };
        let surface = surface.ok_or("the file is not understood")?;
        for (smooth, snap) in [(false, false), (true, false), (true, true)] {
            let clock = Instant::now();
            let options = Options { size: Size::Count(count), smooth, snap, ..Options::default() };
            let made = tetrahedralize(&surface, &options);
            let seconds = clock.elapsed().as_secs_f64();
            match made {
                Err(error) => println!("{path}: {seconds:.2} s, refused: {error}"),
                Ok(made) => println!("{path}: {seconds:.2} s, smooth {smooth}, snap {snap}\n  {:?}", made.quality),
            }
        }
    }
    Ok(())
}

fn read_obj(text: &str) -> Option<TriMesh> {
    let mut mesh = TriMesh::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let p: Vec<Real> = words.take(3).map_while(|w| w.parse().ok()).collect();
                mesh.vertices.push(Vec3::new(*p.first()?, *p.get(1)?, *p.get(2)?));
            }
            Some("f") => {
                let number = |w: &str| w.split('/').next()?.parse::<u32>().ok()?.checked_sub(1);
                let f: Vec<u32> = words.map_while(number).collect();
                mesh.triangles.extend((2..f.len()).map(|k| [f[0], f[k - 1], f[k]]));
            }
            _ => {}
        }
    }
    Some(mesh)
}

/// Vertices that start with three floats, triangles with a byte for the count and four-byte indices.
fn read_ply(bytes: &[u8]) -> Option<TriMesh> {
    let end = bytes.windows(11).position(|w| w == b"end_header\n")? + 11;
    let header = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut counts = [0; 2];
    let mut stride = 0;
    for line in header.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["element", "vertex", n] => counts[0] = n.parse().ok()?,
            ["element", "face", n] => counts[1] = n.parse().ok()?,
            ["property", "float" | "int" | "uint", _] => stride += 4,
            ["property", "uchar", _] => stride += 1,
            _ => {}
        }
    }
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok();
    let mut mesh = TriMesh::default();
    for i in 0..counts[0] {
        let real = |k: usize| Some(f32::from_le_bytes(word(end + i * stride + 4 * k)?) as Real);
        mesh.vertices.push(Vec3::new(real(0)?, real(1)?, real(2)?));
    }
    for i in 0..counts[1] {
        let corner = |k: usize| Some(u32::from_le_bytes(word(end + counts[0] * stride + 13 * i + 1 + 4 * k)?));
        mesh.triangles.push([corner(0)?, corner(1)?, corner(2)?]);
    }
    Some(mesh)
}
