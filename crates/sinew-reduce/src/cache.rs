//! Bases in files, so that a body is reduced once.
//!
//! ```text
//!   "SNWREDUC", version u32, kind u32, key u64, payload, XXH3 of all before it          (little-endian)
//! ```
//!
//! The key is the hash of mesh and material (`TetMesh::key`, `Surface::key`). A file that is damaged, of another version,
//! kind or key is not an error: the basis is built again and the reason is returned as a message. Bases depend in their
//! last bits on the vector instructions of the machine that built them; a run that must repeat elsewhere takes the file
//! along.

use crate::compliance::{Compliance, Frame};
use crate::error::ReduceError;
use crate::linalg::Dense;
use crate::modes::Modes;
use std::io::Write;
use std::path::Path;
use twox_hash::XxHash3_64;

const MAGIC: &[u8; 8] = b"SNWREDUC";
const VERSION: u32 = 1;
/// Magic, version, kind, key.
const HEAD: usize = 24;

/// What can be kept in a file.
pub trait Cached: Sized {
    /// Number of the kind in the file.
    const KIND: u32;
    /// Appends the payload.
    fn encode(&self, out: &mut Vec<u8>);
    /// From a payload; none when it does not fit.
    fn decode(payload: &[u8]) -> Option<Self>;
}

/// A basis, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// The basis.
    pub value: T,
    /// True when it was read from the file.
    pub from_file: bool,
    /// Why the file was not used or not written; none for a file that was read, or that was not there and is now.
    pub message: Option<String>,
}

/// A file as bytes.
pub fn to_bytes<T: Cached>(value: &T, key: u64) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(VERSION.to_le_bytes());
    out.extend(T::KIND.to_le_bytes());
    out.extend(key.to_le_bytes());
    value.encode(&mut out);
    let sum = XxHash3_64::oneshot(&out);
    out.extend(sum.to_le_bytes());
    out
}

/// The basis in a file, or the reason why it cannot be used.
pub fn from_bytes<T: Cached>(bytes: &[u8], key: u64) -> Result<T, &'static str> {
    let (body, sum) = bytes.split_last_chunk::<8>().ok_or("it is too short")?;
    if body.len() < HEAD || !body.starts_with(MAGIC) {
        return Err("it is not a file of reduced bodies");
    }
    let word = |at: usize| u32::from_le_bytes([body[at], body[at + 1], body[at + 2], body[at + 3]]);
    if word(8) != VERSION {
        return Err("it has another version of the format");
    }
    if XxHash3_64::oneshot(body) != u64::from_le_bytes(*sum) {
        return Err("it is damaged: the checksum does not fit");
    }
    if word(12) != T::KIND {
        return Err("it holds another kind of basis");
    }
    if u64::from(word(16)) | u64::from(word(20)) << 32 != key {
        return Err("it belongs to another mesh or material");
    }
    T::decode(&body[HEAD..]).ok_or("it is damaged: the sizes do not fit")
}

/// Reads the basis of a key from a file, or builds it and writes the file. A file that cannot be used is replaced; one
/// that cannot be written is a message, not an error.
pub fn load_or_build<T: Cached>(
    path: &Path,
    key: u64,
    build: impl FnOnce() -> Result<T, ReduceError>,
) -> Result<Loaded<T>, ReduceError> {
    let name = path.display();
    let mut message = match std::fs::read(path) {
        Ok(bytes) => match from_bytes(&bytes, key) {
            Ok(value) => return Ok(Loaded { value, from_file: true, message: None }),
            Err(reason) => Some(format!("{name} is not used: {reason}; it is built again")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => Some(format!("{name} cannot be read: {error}; the basis is built again")),
    };
    let value = build()?;
    if let Err(error) = write(path, &to_bytes(&value, key)) {
        message = Some(format!("{name} cannot be written: {error}; the next start builds the basis again"));
    }
    Ok(Loaded { value, from_file: false, message })
}

/// Under another name first, so that a reader never sees half a file.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let written = std::fs::File::create(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    });
    if written.is_err() {
        // the file may not be there at all
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// Reads numbers one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn word(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.word()?).ok()
    }

    fn numbers(&mut self, count: usize) -> Option<Vec<f64>> {
        // before anything is reserved: the count must fit what is there
        if count > self.0.len() / 8 {
            return None;
        }
        (0..count).map(|_| self.word().map(f64::from_bits)).collect()
    }

    fn dense(&mut self) -> Option<Dense> {
        let (rows, columns) = (self.count()?, self.count()?);
        let data = self.numbers(rows.checked_mul(columns)?)?;
        Dense::from_data(rows, columns, data)
    }
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[f64]) {
    numbers.iter().for_each(|x| out.extend(x.to_le_bytes()));
}

fn put_dense(out: &mut Vec<u8>, dense: &Dense) {
    out.extend((dense.rows() as u64).to_le_bytes());
    out.extend((dense.columns() as u64).to_le_bytes());
    put_numbers(out, dense.data());
}

impl Cached for Modes {
    const KIND: u32 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend((self.lambda.len() as u64).to_le_bytes());
        put_numbers(out, &self.lambda);
        put_dense(out, &self.shapes);
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        let mut reader = Reader(payload);
        let count = reader.count()?;
        let lambda = reader.numbers(count)?;
        let shapes = reader.dense()?;
        (shapes.columns() == count && reader.0.is_empty()).then_some(Self { lambda, shapes })
    }
}

impl Cached for Compliance {
    const KIND: u32 = 2;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(u64::from(self.frame() == Frame::Floating).to_le_bytes());
        out.extend((self.nodes().len() as u64).to_le_bytes());
        self.nodes().iter().for_each(|&i| out.extend(u64::from(i).to_le_bytes()));
        self.points().iter().for_each(|x| put_numbers(out, x));
        put_dense(out, self.matrix());
    }

    fn decode(payload: &[u8]) -> Option<Self> {
        let mut reader = Reader(payload);
        let floats = reader.word()? == 1;
        let count = reader.count()?;
        if count > reader.0.len() / 8 {
            return None;
        }
        let nodes = (0..count).map(|_| u32::try_from(reader.word()?).ok()).collect::<Option<Vec<_>>>()?;
        let flat = reader.numbers(count.checked_mul(3)?)?;
        let points = flat.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect();
        let matrix = reader.dense()?;
        let fits = matrix.rows() == 3 * count && matrix.columns() == 3 * count && reader.0.is_empty();
        fits.then(|| Self::from_parts(nodes, points, matrix, floats))
    }
}
