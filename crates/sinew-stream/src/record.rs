//! Records: the scene and topology events as payloads, repeated until acknowledged.
//!
//! Event n leads from revision n - 1 to n. Small events go together into one packet: `length u16 | event`, repeated.
//! A scene or a large event goes in pieces of 960 bytes; `tick` of the payload's header is then the length of the whole.

use crate::DecodeError;
use crate::bytes::Reader;
use crate::payload::{Header, Kind, LARGEST};

/// Bytes of a piece.
pub const PIECE: usize = 960;

/// Pieces in one list of received pieces.
pub const MAP: usize = 1024;

/// Number of pieces of a record; `None` if there are too many to count.
#[must_use]
pub fn pieces(length: usize) -> Option<u16> {
    u16::try_from(length.div_ceil(PIECE).max(1)).ok()
}

/// Appends the payload of one piece of a record.
pub fn write_piece(kind: Kind, revision: u32, record: &[u8], number: u16, out: &mut Vec<u8>) {
    let stride = pieces(record.len()).unwrap_or(u16::MAX);
    let start = (usize::from(number) * PIECE).min(record.len());
    let end = (start + PIECE).min(record.len());
    Header { kind, body: 0, revision, tick: record.len() as u32, first: number, stride }.write(out);
    out.extend(&record[start..end]);
}

/// True if an event is sent in pieces.
#[must_use]
pub fn is_large(event: &[u8]) -> bool {
    Header::SIZE + 2 + event.len() > LARGEST
}

/// Appends one payload with as many events as fit, beginning with revision `first`; returns their number.
pub fn write_events<'a>(first: u32, events: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) -> u16 {
    let start = out.len();
    let mut header = Header { kind: Kind::Events, body: 0, revision: first, tick: 0, first: 0, stride: 1 };
    header.write(out);
    for event in events {
        if is_large(event) || out.len() - start + 2 + event.len() > LARGEST {
            break;
        }
        out.extend((event.len() as u16).to_be_bytes());
        out.extend(event);
        header.body += 1;
    }
    if header.body == 0 {
        out.truncate(start);
    } else {
        out[start + 2..start + 4].copy_from_slice(&header.body.to_be_bytes());
    }
    header.body
}

/// Calls `take` with revision and bytes of every event of a payload.
///
/// # Errors
/// Lengths that do not add up: then `take` is not called.
pub fn read_events(header: &Header, contents: &[u8], mut take: impl FnMut(u32, &[u8])) -> Result<(), DecodeError> {
    let walk = |take: &mut dyn FnMut(u32, &[u8])| {
        let mut reader = Reader::new(contents);
        for number in 0..u32::from(header.body) {
            let length = reader.u16()?;
            take(header.revision.wrapping_add(number), reader.take(usize::from(length))?);
        }
        reader.end()
    };
    walk(&mut |_, _| {})?;
    walk(&mut take)
}

/// A record that arrives in pieces.
///
/// ```
/// use sinew_stream::payload::{Header, Kind};
/// use sinew_stream::record::{Assembly, write_piece};
/// let record = vec![7u8; 2000];
/// let mut assembly = None;
/// for number in [2, 0, 1] {
///     let mut payload = Vec::new();
///     write_piece(Kind::ScenePiece, 5, &record, number, &mut payload);
///     let (header, contents) = Header::read(&payload)?;
///     let assembly = assembly.get_or_insert(Assembly::new(&header, 10_000)?);
///     assembly.put(&header, contents)?;
/// }
/// assert_eq!(assembly.unwrap().whole(), Some(&record[..]));
/// # Ok::<(), sinew_stream::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Assembly {
    kind: Kind,
    revision: u32,
    length: usize,
    missing: usize,
    /// First piece that is missing.
    base: usize,
    have: Vec<bool>,
    bytes: Vec<u8>,
}

impl Assembly {
    /// An assembly for the record that a piece belongs to.
    ///
    /// # Errors
    /// A record above `limit` bytes, or a length that does not fit the number of pieces.
    pub fn new(header: &Header, limit: usize) -> Result<Self, DecodeError> {
        let length = header.tick as usize;
        if length > limit {
            return Err(DecodeError::Value("record is larger than the limit"));
        }
        if pieces(length) != Some(header.stride) {
            return Err(DecodeError::Length);
        }
        let count = usize::from(header.stride);
        Ok(Self {
            kind: header.kind,
            revision: header.revision,
            length,
            missing: count,
            base: 0,
            have: vec![false; count],
            bytes: vec![0; length],
        })
    }

    /// True if a piece is of this record.
    #[must_use]
    pub fn matches(&self, header: &Header) -> bool {
        let same = (self.kind, self.revision, self.length) == (header.kind, header.revision, header.tick as usize);
        same && self.have.len() == usize::from(header.stride)
    }

    /// Takes a piece; pieces of other records and pieces that are there already change nothing.
    ///
    /// # Errors
    /// A piece of the wrong length.
    pub fn put(&mut self, header: &Header, contents: &[u8]) -> Result<(), DecodeError> {
        let number = usize::from(header.first);
        if !self.matches(header) || self.have[number] {
            return Ok(());
        }
        let start = number * PIECE;
        let place = &mut self.bytes[start..(start + PIECE).min(self.length)];
        if place.len() != contents.len() {
            return Err(DecodeError::Length);
        }
        place.copy_from_slice(contents);
        self.have[number] = true;
        self.missing -= 1;
        while self.have.get(self.base) == Some(&true) {
            self.base += 1;
        }
        Ok(())
    }

    /// The record, once it is complete.
    #[must_use]
    pub fn whole(&self) -> Option<&[u8]> {
        (self.missing == 0).then_some(&self.bytes[..])
    }

    /// Revision of the record.
    #[must_use]
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// What has arrived, for a report.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let mut map = [0; MAP / 8];
        for (at, _) in self.have.iter().skip(self.base).take(MAP).enumerate().filter(|(_, have)| **have) {
            map[at / 8] |= 1 << (at % 8);
        }
        Progress { kind: self.kind, revision: self.revision, base: self.base.min(usize::from(u16::MAX)) as u16, map }
    }
}

/// Which pieces of a record have arrived: all below `base`, and those with a bit in `map`.
///
/// ```
/// # use sinew_stream::payload::Kind;
/// use sinew_stream::record::{MAP, Progress};
/// let progress = Progress { kind: Kind::ScenePiece, revision: 1, base: 2, map: [0b10; MAP / 8] };
/// assert!(progress.has(1) && !progress.has(2) && progress.has(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Scene or event.
    pub kind: Kind,
    /// Revision of the record.
    pub revision: u32,
    /// First piece that is missing.
    pub base: u16,
    /// A bit for each piece from `base` on.
    pub map: [u8; MAP / 8],
}

impl Progress {
    /// True if a piece has arrived.
    #[must_use]
    pub fn has(&self, piece: u16) -> bool {
        let Some(at) = piece.checked_sub(self.base).map(usize::from) else { return true };
        self.map.get(at / 8).is_some_and(|byte| byte & (1 << (at % 8)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_share_packets_until_they_are_full() {
        let events: Vec<Vec<u8>> = (0..40).map(|n| vec![n as u8; 100]).collect();
        let mut at = 0;
        while at < events.len() {
            let mut payload = Vec::new();
            let count = write_events(at as u32 + 1, events[at..].iter().map(Vec::as_slice), &mut payload);
            assert!(count > 0 && payload.len() <= LARGEST);
            let (header, contents) = Header::read(&payload).unwrap();
            let mut found = Vec::new();
            read_events(&header, contents, |revision, event| found.push((revision, event.to_vec()))).unwrap();
            let expected = (0..usize::from(count)).map(|n| ((at + n + 1) as u32, events[at + n].clone()));
            assert_eq!(found, expected.collect::<Vec<_>>());
            assert!(read_events(&header, &contents[..contents.len() - 1], |_, _| panic!("taken")).is_err());
            at += usize::from(count);
        }
        let mut none = Vec::new();
        assert_eq!(write_events(1, [&[0u8; 2000][..]].into_iter(), &mut none), 0);
        assert!(none.is_empty());
    }

    #[test]
    fn pieces_in_any_order_twice_or_foreign() {
        let record: Vec<u8> = (0..PIECE * 3 + 5).map(|n| n as u8).collect();
        let piece = |revision, number| {
            let mut payload = Vec::new();
            write_piece(Kind::ScenePiece, revision, &record, number, &mut payload);
            payload
        };
        let first = piece(9, 3);
        let (header, contents) = Header::read(&first).unwrap();
        let mut assembly = Assembly::new(&header, 1 << 20).unwrap();
        assert!(assembly.put(&header, &contents[1..]).is_err());
        for payload in [&first, &piece(9, 1), &piece(9, 1), &piece(8, 0)] {
            let (header, contents) = Header::read(payload).unwrap();
            assembly.put(&header, contents).unwrap();
        }
        let progress = assembly.progress();
        assert_eq!([0, 1, 2, 3].map(|n| progress.has(n)), [false, true, false, true]);
        assert_eq!(assembly.whole(), None);
        for number in [0, 2] {
            let payload = piece(9, number);
            let (header, contents) = Header::read(&payload).unwrap();
            assembly.put(&header, contents).unwrap();
        }
        assert_eq!(assembly.whole(), Some(&record[..]));
        assert!(Assembly::new(&header, 100).is_err());
        assert!(Assembly::new(&Header { stride: 3, ..header }, 1 << 20).is_err());
    }
}
