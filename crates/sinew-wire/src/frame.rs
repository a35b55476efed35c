//! The container: a header, then sections, each sealed with a checksum that is seeded with the one before it.

use crate::error::{Kind, Section, WireError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sinew::Real;
use twox_hash::XxHash3_64;

const MAGIC: &[u8; 5] = b"SINEW";

/// Version of everything behind the magic. Raised whenever a byte changes its meaning.
pub(crate) const FORMAT: u16 = 9;

/// Bytes of a real in this build.
const REAL: u8 = size_of::<Real>() as u8;

/// Tag, length and head check.
const HEAD: usize = 1 + 8 + 4;

/// Checksum behind header and sections.
const SEAL: usize = 8;

/// Header with the longest name of a writer.
pub(crate) const LONGEST_HEADER: usize = 10 + u8::MAX as usize + SEAL;

/// Seed of the first checksum: the digits of π, so that a block of zeros does not seal itself.
const START: u64 = 0x243f_6a88_85a3_08d3;

/// Hash of bytes, for fingerprints.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

fn seal(chain: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(chain, bytes)
}

/// Appends sections; what was appended can be taken away at any time, the chain goes on.
#[derive(Debug)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    chain: u64,
}

impl Writer {
    pub fn new(kind: Kind) -> Self {
        let writer = env!("CARGO_PKG_VERSION");
        let mut bytes = MAGIC.to_vec();
        bytes.push(kind.code());
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.push(REAL);
        bytes.push(writer.len() as u8);
        bytes.extend_from_slice(writer.as_bytes());
        let chain = seal(START, &bytes);
        bytes.extend_from_slice(&chain.to_le_bytes());
        Self { bytes, chain }
    }

    /// Appends a section.
    pub fn put(&mut self, section: Section, body: &[u8]) {
        let start = self.bytes.len();
        self.bytes.reserve(HEAD + body.len() + SEAL);
        self.bytes.push(section.tag());
        self.bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        let check = seal(self.chain, &self.bytes[start..]) as u32;
        self.bytes.extend_from_slice(&check.to_le_bytes());
        self.bytes.extend_from_slice(body);
        self.chain = seal(self.chain, &self.bytes[start..]);
        self.bytes.extend_from_slice(&self.chain.to_le_bytes());
    }

    /// The bytes since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Marks the end and gives the bytes that were not taken yet.
    pub fn finish(mut self) -> Vec<u8> {
        self.put(Section::End, &[]);
        self.bytes
    }
}

/// One section as it lies in the file; its checksum fitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub section: Section,
    pub body: &'a [u8],
}

/// The sections of a file, the end mark left out.
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    pub records: Vec<Record<'a>>,
    /// Where the bytes broke off, if they did.
    pub cut: Option<Section>,
}

/// Checks header and all checksums. A truncated file is not an error here: `cut` is set.
pub(crate) fn read(bytes: &[u8], wanted: Kind) -> Result<Contents<'_>, WireError> {
    let (mut rest, mut chain) = read_header(bytes, wanted)?;
    let mut records = Vec::new();
    loop {
        // an incomplete head or body is a cut; a head that does not fit its check is damage
        if rest.len() < HEAD {
            return Ok(Contents { records, cut: Some(Section::SectionHead) });
        }
        let length = u64_at(rest, 1);
        let check = u32::from_le_bytes([rest[9], rest[10], rest[11], rest[12]]);
        if check != seal(chain, &rest[..9]) as u32 {
            return Err(WireError::Damaged { section: Section::SectionHead });
        }
        let Some(section) = Section::from_tag(rest[0]) else {
            let reason = format!("tag {} is not of this format", rest[0]);
            return Err(WireError::malformed(Section::SectionHead, reason));
        };
        let left = rest.len() - HEAD;
        let body = match usize::try_from(length) {
            Ok(body) if body <= left && left - body >= SEAL => body,
            _ => return Ok(Contents { records, cut: Some(section) }),
        };
        let (sealed, after) = rest.split_at(HEAD + body);
        chain = seal(chain, sealed);
        if chain != u64_at(after, 0) {
            return Err(WireError::Damaged { section });
        }
        rest = &after[SEAL..];
        if section == Section::End {
            return if rest.is_empty() && body == 0 {
                Ok(Contents { records, cut: None })
            } else {
                Err(WireError::malformed(Section::End, "there are bytes behind it"))
            };
        }
        records.push(Record { section, body: &sealed[HEAD..] });
    }
}

/// As [`read`], for files that are of use only as a whole.
pub(crate) fn read_whole(bytes: &[u8], wanted: Kind) -> Result<Contents<'_>, WireError> {
    let contents = read(bytes, wanted)?;
    match contents.cut {
        Some(section) => Err(WireError::Truncated { section }),
        None => Ok(contents),
    }
}

/// What lies behind the header, and its checksum. Version and precision come first: they explain what a checksum cannot.
pub(crate) fn read_header(bytes: &[u8], wanted: Kind) -> Result<(&[u8], u64), WireError> {
    let shared = bytes.len().min(MAGIC.len());
    if bytes[..shared] != MAGIC[..shared] {
        return Err(WireError::Foreign);
    }
    let cut = WireError::Truncated { section: Section::Header };
    let [code, format_low, format_high, real, writer] = match bytes.get(5..10) {
        Some(&[a, b, c, d, e]) => [a, b, c, d, e],
        _ => return Err(cut),
    };
    let found = u16::from_le_bytes([format_low, format_high]);
    if found != FORMAT {
        return Err(WireError::Version { found, known: FORMAT });
    }
    let Some(kind) = Kind::ALL.into_iter().find(|k| k.code() == code) else {
        return Err(WireError::malformed(Section::Header, format!("kind {code} is not of this format")));
    };
    if kind != wanted {
        return Err(WireError::WrongKind { found: kind, wanted });
    }
    if real != REAL {
        return Err(match real {
            4 | 8 => WireError::Precision { found: real, known: REAL },
            _ => WireError::malformed(Section::Header, format!("reals of {real} bytes do not exist")),
        });
    }
    let end = 10 + usize::from(writer);
    if bytes.len() < end + SEAL {
        return Err(cut);
    }
    let chain = seal(START, &bytes[..end]);
    if chain != u64_at(bytes, end) {
        return Err(WireError::Damaged { section: Section::Header });
    }
    Ok((&bytes[end + SEAL..], chain))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Structured content as bytes.
pub(crate) fn encode<T: Serialize>(section: Section, value: &T) -> Result<Vec<u8>, WireError> {
    postcard::to_stdvec(value).map_err(|e| WireError::Unsupported { section, reason: e.to_string() })
}

/// Structured content of a whole section: bytes that are left over are an error too.
pub(crate) fn decode<T: DeserializeOwned>(section: Section, body: &[u8]) -> Result<T, WireError> {
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        Ok((_, left)) => Err(WireError::malformed(section, format!("{} bytes too many", left.len()))),
        Err(e) => Err(WireError::malformed(section, format!("does not decode: {e}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut writer = Writer::new(Kind::Recording);
        writer.put(Section::Model, b"model");
        writer.put(Section::Step, &[7; 300]);
        writer.put(Section::Step, &[]);
        writer.finish()
    }

    #[test]
    fn sections_come_back() {
        let bytes = sample();
        let contents = read(&bytes, Kind::Recording).unwrap();
        assert_eq!(contents.cut, None);
        let sizes: Vec<_> = contents.records.iter().map(|r| (r.section, r.body.len())).collect();
        assert_eq!(sizes, [(Section::Model, 5), (Section::Step, 300), (Section::Step, 0)]);
    }

    #[test]
    fn a_cut_is_told_from_damage() {
        let bytes = sample();
        let header = 10 + usize::from(bytes[9]) + SEAL;
        for length in 0..bytes.len() {
            match read(&bytes[..length], Kind::Recording) {
                Ok(contents) => assert!(contents.cut.is_some() && length >= header),
                Err(e) => assert!(e == WireError::Truncated { section: Section::Header } && length < header, "{e}"),
            }
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << bit;
                assert!(read(&bad, Kind::Recording).is_err(), "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn sections_cannot_change_places() {
        let mut writer = Writer::new(Kind::Save);
        writer.take();
        writer.put(Section::Step, &[1; 20]);
        let first = writer.take();
        writer.put(Section::Step, &[2; 20]);
        let second = writer.take();
        let header = Writer::new(Kind::Save).take();
        let whole = [&header[..], &first, &second, &writer.finish()].concat();
        assert!(read(&whole, Kind::Save).is_ok());
        assert!(read(&[&header[..], &second, &first].concat(), Kind::Save).is_err());
        assert!(read(&[&header[..], &first, &first].concat(), Kind::Save).is_err());
        assert!(read(&[&header[..], &second].concat(), Kind::Save).is_err());
    }
}
