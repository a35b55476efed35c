//! The RTP header of RFC 3550, section 5.1, the 90 kHz clock and serial arithmetic.
//!
//! ```text
//!  0                   1                   2                   3
//!  V=2|P|X| CC  |M|     PT      |       sequence number         |
//!  timestamp                                                    |
//!  SSRC                                                         |
//! ```
//!
//! The sequence number counts packets, the time stamp is the instant of encoding, the marker is set on the last packet
//! of a frame. The place of a packet within its frame is in the payload header ([`crate::payload`]).

use std::time::Duration;

use crate::DecodeError;
use crate::bytes::Reader;

/// Ticks of the RTP clock in a second [Hz].
pub const CLOCK: u64 = 90_000;

/// Payload type of all streams of this crate: the first dynamic one (RFC 3551, section 3).
pub const PAYLOAD_TYPE: u8 = 96;

/// Fixed part of the RTP header.
///
/// ```
/// use sinew_stream::rtp::Header;
/// let header = Header { marker: true, payload_type: 96, sequence: 7, timestamp: 90_000, ssrc: 0x1234 };
/// let mut packet = Vec::new();
/// header.write(&mut packet);
/// packet.extend(b"body");
/// assert_eq!(packet[..4], [0x80, 0x80 | 96, 0, 7]);
/// assert_eq!(Header::read(&packet), Ok((header, &b"body"[..])));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Last packet of a frame.
    pub marker: bool,
    /// Format of the payload, 0 to 127.
    pub payload_type: u8,
    /// Number of the packet modulo 2^16.
    pub sequence: u16,
    /// Instant of encoding modulo 2^32 [1/90000 s].
    pub timestamp: u32,
    /// Synchronisation source: identifies the stream.
    pub ssrc: u32,
}

impl Header {
    /// Size of the header that `write` appends [byte].
    pub const SIZE: usize = 12;

    /// Appends the header.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend([0x80, u8::from(self.marker) << 7 | (self.payload_type & 0x7F)]);
        out.extend(self.sequence.to_be_bytes());
        out.extend(self.timestamp.to_be_bytes());
        out.extend(self.ssrc.to_be_bytes());
    }

    /// Decodes a packet into header and payload. Contributing sources, header extension and padding are skipped.
    ///
    /// # Errors
    /// Version other than 2, or lengths beyond the packet.
    pub fn read(packet: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let mut reader = Reader::new(packet);
        let (first, second) = (reader.u8()?, reader.u8()?);
        if first >> 6 != 2 {
            return Err(DecodeError::Version(first >> 6));
        }
        let header = Self {
            marker: second & 0x80 != 0,
            payload_type: second & 0x7F,
            sequence: reader.u16()?,
            timestamp: reader.u32()?,
            ssrc: reader.u32()?,
        };
        reader.take(4 * usize::from(first & 0x0F))?;
        if first & 0x10 != 0 {
            reader.u16()?;
            let words = reader.u16()?;
            reader.take(4 * usize::from(words))?;
        }
        let body = reader.rest();
        if first & 0x20 == 0 {
            return Ok((header, body));
        }
        // the last byte counts the padding, itself included
        let padding = usize::from(*body.last().ok_or(DecodeError::Short)?);
        let kept = body.len().checked_sub(padding).ok_or(DecodeError::Length)?;
        if padding == 0 { Err(DecodeError::Length) } else { Ok((header, &body[..kept])) }
    }
}

/// True for RTCP where RTP and RTCP share a port (RFC 5761, section 4): the second byte is 192 to 223.
#[must_use]
pub fn is_rtcp(packet: &[u8]) -> bool {
    packet.get(1).is_some_and(|kind| (192..=223).contains(kind))
}

/// Ticks of the 90 kHz clock in a time.
#[must_use]
pub fn ticks(time: Duration) -> u64 {
    (time.as_nanos() * u128::from(CLOCK) / 1_000_000_000) as u64
}

/// Time of a number of ticks of the 90 kHz clock.
#[must_use]
pub fn duration(ticks: u64) -> Duration {
    Duration::from_nanos((u128::from(ticks) * 1_000_000_000 / u128::from(CLOCK)) as u64)
}

/// The number that is congruent to `low` modulo 2^`bits` and nearest to `near` (serial arithmetic of RFC 1982).
///
/// ```
/// use sinew_stream::rtp::extend;
/// assert_eq!(extend(65_534, 1, 16), 65_537);
/// assert_eq!(extend(65_537, 65_534, 16), 65_534);
/// assert_eq!(extend((1 << 32) - 5, 3, 32), (1 << 32) + 3);
/// ```
#[must_use]
pub fn extend(near: u64, low: u32, bits: u32) -> u64 {
    let period = 1u64 << bits;
    let ahead = u64::from(low).wrapping_sub(near) & (period - 1);
    let behind = period - ahead;
    // below zero there is no number: the next above is taken
    if ahead < period / 2 || near < behind { near.saturating_add(ahead) } else { near - behind }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header =
        Header { marker: false, payload_type: 127, sequence: 65_535, timestamp: u32::MAX, ssrc: 0xDEAD_BEEF };

    #[test]
    fn optional_parts_are_skipped() {
        let mut packet = Vec::new();
        HEADER.write(&mut packet);
        packet[0] |= 0x20 | 0x10 | 2;
        packet.extend([9; 8]);
        packet.extend([0xBE, 0xDE, 0, 1, 1, 2, 3, 4]);
        packet.extend(b"payload");
        packet.extend([0, 0, 3]);
        assert_eq!(Header::read(&packet), Ok((HEADER, &b"payload"[..])));
        for length in 0..28 {
            assert!(Header::read(&packet[..length]).is_err(), "{length}");
        }
        *packet.last_mut().unwrap() = 0;
        assert_eq!(Header::read(&packet), Err(DecodeError::Length));
        *packet.last_mut().unwrap() = 200;
        assert_eq!(Header::read(&packet), Err(DecodeError::Length));
    }

    #[test]
    fn the_clock_is_exact_over_years() {
        assert_eq!(ticks(Duration::from_secs(1)), CLOCK);
        assert_eq!(ticks(Duration::from_secs(100 * 365 * 86_400)), 100 * 365 * 86_400 * CLOCK);
        assert_eq!(duration(CLOCK / 30), Duration::from_nanos(33_333_333));
    }

    #[test]
    fn extension_returns_the_nearest_number() {
        for near in [0u64, 1, 32_767, 32_768, 65_535, 65_536, 1 << 40] {
            for low in [0u32, 1, 32_767, 32_768, 65_535] {
                let found = extend(near, low, 16);
                assert_eq!(found as u16, low as u16);
                let distance = found.abs_diff(near);
                assert!(distance <= 1 << 15 || found < 1 << 16, "{near} {low} {found}");
            }
        }
    }

    #[test]
    fn rtp_and_rtcp_are_told_apart_on_one_port() {
        let mut packet = Vec::new();
        HEADER.write(&mut packet);
        assert!(!is_rtcp(&packet));
        Header { marker: true, payload_type: PAYLOAD_TYPE, ..HEADER }.write(&mut packet);
        assert!(!is_rtcp(&packet[12..]));
        assert!(is_rtcp(&[0x80, 200]) && is_rtcp(&[0x80, 204]) && !is_rtcp(&[0x80]));
    }
}
