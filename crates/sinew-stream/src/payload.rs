//! The header of a payload: what a packet holds and where it belongs in its frame.
//!
//! ```text
//! version u8 | kind u8 | body u16 | revision u32 | tick u32 | first u16 | stride u16      16 bytes, big-endian
//! ```
//!
//! Packet `first` of `stride` holds the points `first`, `first + stride`, `first + 2 stride`, ...: a lost packet thins
//! the surface everywhere and tears it nowhere. Every packet is absolute and decodable alone.

use crate::DecodeError;
use crate::bytes::Reader;

/// Version of the payload.
pub const VERSION: u8 = 1;

/// Most bytes of payload in a packet, header of the payload included: with IP, UDP, RTP and a key's trailer 1080
/// bytes, below the least MTU of IPv6 (1280).
pub const LARGEST: usize = 1012;

/// What a packet holds.
///
/// An example is at [`Header`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Points, 16 bits an axis ([`crate::points`]).
    Quantised,
    /// Points as f32.
    Float,
    /// Rigid bodies, tools and readings ([`crate::state`]).
    State,
    /// Topology events, whole, one or more ([`crate::record`]).
    Events,
    /// A piece of one large topology event.
    EventPiece,
    /// A piece of the scene.
    ScenePiece,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Quantised, Self::Float, Self::State, Self::Events, Self::EventPiece, Self::ScenePiece];

    fn code(self) -> u8 {
        match self {
            Self::Quantised => 1,
            Self::Float => 2,
            Self::State => 3,
            Self::Events => 4,
            Self::EventPiece => 5,
            Self::ScenePiece => 6,
        }
    }
}

/// Header of a payload.
///
/// ```
/// use sinew_stream::payload::{Header, Kind};
/// let header = Header { kind: Kind::Quantised, body: 3, revision: 1, tick: 600, first: 4, stride: 16 };
/// let mut bytes = Vec::new();
/// header.write(&mut bytes);
/// assert_eq!(bytes.len(), Header::SIZE);
/// assert_eq!(Header::read(&bytes), Ok((header, &[][..])));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Kind of the contents.
    pub kind: Kind,
    /// Number of the body; number of events in a packet of events.
    pub body: u16,
    /// Topology revision of the contents.
    pub revision: u32,
    /// Step of the simulation.
    pub tick: u32,
    /// Number of this packet among those that share the points, or of the piece.
    pub first: u16,
    /// Number of such packets or pieces, at least one.
    pub stride: u16,
}

impl Header {
    /// Size [byte].
    pub const SIZE: usize = 16;

    /// Appends the header.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend([VERSION, self.kind.code()]);
        out.extend(self.body.to_be_bytes());
        out.extend(self.revision.to_be_bytes());
        out.extend(self.tick.to_be_bytes());
        out.extend(self.first.to_be_bytes());
        out.extend(self.stride.to_be_bytes());
    }

    /// Header and contents.
    ///
    /// # Errors
    /// An unknown version or kind, or `first` that is not below `stride`.
    pub fn read(payload: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(payload);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(DecodeError::Version(version));
        }
        let code = reader.u8()?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.code() == code).ok_or(DecodeError::Kind(code))?;
        let header = Self {
            kind,
            body: reader.u16()?,
            revision: reader.u32()?,
            tick: reader.u32()?,
            first: reader.u16()?,
            stride: reader.u16()?,
        };
        if header.first >= header.stride {
            return Err(DecodeError::Value("packet number is not below the number of packets"));
        }
        Ok((header, reader.rest()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_contents_are_refused() {
        let header = Header { kind: Kind::State, body: 1, revision: 2, tick: 3, first: 0, stride: 1 };
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        for (at, value, error) in [
            (0, 2, DecodeError::Version(2)),
            (1, 0, DecodeError::Kind(0)),
            (1, 7, DecodeError::Kind(7)),
            (15, 0, DecodeError::Value("packet number is not below the number of packets")),
        ] {
            let mut changed = bytes.clone();
            changed[at] = value;
            assert_eq!(Header::read(&changed), Err(error));
        }
        assert_eq!(Header::read(&bytes[..15]), Err(DecodeError::Short));
    }
}
