//! RTCP of RFC 3550, section 6: sender and receiver reports, source description, goodbye, application packets.
//!
//! Packets lie one after another in a datagram (compound). The first is a report; an empty receiver report opens
//! messages of the application (RFC 5506 would allow to leave it out, decoders of other makers expect it).

use crate::DecodeError;
use crate::bytes::Reader;

const SENDER_REPORT: u8 = 200;
const RECEIVER_REPORT: u8 = 201;
const DESCRIPTION: u8 = 202;
const GOODBYE: u8 = 203;
const APPLICATION: u8 = 204;
/// Item of a source description: canonical name.
const CNAME: u8 = 1;

/// Report block about one source.
///
/// An example is at [`Packet`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The source that is reported.
    pub ssrc: u32,
    /// Part of the packets lost since the last report [1/256].
    pub fraction_lost: u8,
    /// Packets lost since the start: expected less received; 24 bits, negative if duplicates arrived.
    pub lost: i32,
    /// Highest sequence number, with the number of wraps in the upper half.
    pub highest: u32,
    /// Interarrival jitter [1/90000 s].
    pub jitter: u32,
    /// Middle 32 bits of the NTP time of the last sender report; 0 for none.
    pub last_sr: u32,
    /// Time since that report arrived [1/65536 s].
    pub delay: u32,
}

impl Block {
    const SIZE: usize = 24;

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.ssrc.to_be_bytes());
        out.extend((u32::from(self.fraction_lost) << 24 | (self.lost as u32 & 0xFF_FFFF)).to_be_bytes());
        for word in [self.highest, self.jitter, self.last_sr, self.delay] {
            out.extend(word.to_be_bytes());
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let ssrc = reader.u32()?;
        let loss = reader.u32()?;
        Ok(Self {
            ssrc,
            fraction_lost: (loss >> 24) as u8,
            // sign of 24 bits
            lost: (loss << 8) as i32 >> 8,
            highest: reader.u32()?,
            jitter: reader.u32()?,
            last_sr: reader.u32()?,
            delay: reader.u32()?,
        })
    }
}

/// What a sender reports about its stream.
///
/// An example is at [`Packet`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderInfo {
    /// NTP time of the report: seconds since 1900 in the upper half, fractions in the lower.
    pub ntp: u64,
    /// RTP time of the report [1/90000 s].
    pub timestamp: u32,
    /// Packets sent.
    pub packets: u32,
    /// Payload sent, without headers [byte].
    pub octets: u32,
}

/// One packet of a compound.
///
/// ```
/// use sinew_stream::rtcp::{Block, Packet, read, write_app, write_receiver_report};
/// let block = Block { ssrc: 2, fraction_lost: 77, lost: -3, highest: 65_540, jitter: 90, last_sr: 0, delay: 0 };
/// let mut bytes = Vec::new();
/// write_receiver_report(&mut bytes, 1, Some(&block));
/// write_app(&mut bytes, 1, 3, *b"SINW", |data| data.extend([1, 2, 3]));
/// let packets = read(&bytes)?;
/// assert_eq!(packets[0], Packet::ReceiverReport { ssrc: 1, blocks: vec![block] });
/// // application data are padded to a word
/// assert_eq!(packets[1], Packet::Application { ssrc: 1, subtype: 3, name: *b"SINW", data: &[1, 2, 3, 0] });
/// # Ok::<(), sinew_stream::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// SR, type 200.
    SenderReport {
        /// The sender.
        ssrc: u32,
        /// Times and counters.
        info: SenderInfo,
        /// Reports about other sources.
        blocks: Vec<Block>,
    },
    /// RR, type 201.
    ReceiverReport {
        /// The receiver.
        ssrc: u32,
        /// Reports about sources.
        blocks: Vec<Block>,
    },
    /// SDES, type 202, or another type: skipped.
    Other(u8),
    /// BYE, type 203: the first source that leaves.
    Goodbye {
        /// The source.
        ssrc: u32,
    },
    /// APP, type 204.
    Application {
        /// Who sends it.
        ssrc: u32,
        /// Kind within the application, 0 to 31.
        subtype: u8,
        /// Name of the application in ASCII.
        name: [u8; 4],
        /// Data; a multiple of four bytes.
        data: &'a [u8],
    },
}

/// Decodes a compound by the checks of RFC 3550, A.2: version 2, a report first, lengths that add up.
///
/// # Errors
/// The first packet that is not well formed.
pub fn read(compound: &[u8]) -> Result<Vec<Packet<'_>>, DecodeError> {
    let mut reader = Reader::new(compound);
    let mut packets = Vec::new();
    while !reader.rest().is_empty() {
        let (first, kind) = (reader.u8()?, reader.u8()?);
        let length = 4 * usize::from(reader.u16()?);
        let mut body = reader.take(length)?;
        if first >> 6 != 2 {
            return Err(DecodeError::Version(first >> 6));
        }
        if packets.is_empty() && (!matches!(kind, SENDER_REPORT | RECEIVER_REPORT) || first & 0x20 != 0) {
            return Err(DecodeError::Kind(kind));
        }
        if first & 0x20 != 0 {
            // only the last packet may be padded
            let padding = usize::from(*body.last().ok_or(DecodeError::Short)?);
            let kept = body.len().checked_sub(padding).ok_or(DecodeError::Length)?;
            if padding == 0 || !padding.is_multiple_of(4) || !reader.rest().is_empty() {
                return Err(DecodeError::Length);
            }
            body = &body[..kept];
        }
        packets.push(read_body(kind, first & 0x1F, body)?);
    }
    if packets.is_empty() { Err(DecodeError::Short) } else { Ok(packets) }
}

fn read_body(kind: u8, count: u8, body: &[u8]) -> Result<Packet<'_>, DecodeError> {
    let mut reader = Reader::new(body);
    Ok(match kind {
        SENDER_REPORT => {
            let ssrc = reader.u32()?;
            let info = SenderInfo {
                ntp: reader.u64()?,
                timestamp: reader.u32()?,
                packets: reader.u32()?,
                octets: reader.u32()?,
            };
            Packet::SenderReport { ssrc, info, blocks: read_blocks(&mut reader, count)? }
        }
        RECEIVER_REPORT => Packet::ReceiverReport { ssrc: reader.u32()?, blocks: read_blocks(&mut reader, count)? },
        GOODBYE if count > 0 => Packet::Goodbye { ssrc: reader.u32()? },
        APPLICATION => {
            Packet::Application { ssrc: reader.u32()?, subtype: count, name: reader.array()?, data: reader.rest() }
        }
        other => Packet::Other(other),
    })
}

fn read_blocks(reader: &mut Reader<'_>, count: u8) -> Result<Vec<Block>, DecodeError> {
    if reader.rest().len() < usize::from(count) * Block::SIZE {
        return Err(DecodeError::Short);
    }
    (0..count).map(|_| Block::read(reader)).collect()
}

/// Appends a packet: header, what `fill` appends, zeros up to a word, and the length in the header.
fn write_packet(out: &mut Vec<u8>, kind: u8, count: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0x80 | (count & 0x1F), kind, 0, 0]);
    fill(out);
    while !(out.len() - start).is_multiple_of(4) {
        out.push(0);
    }
    let words = ((out.len() - start) / 4 - 1) as u16;
    out[start + 2..start + 4].copy_from_slice(&words.to_be_bytes());
}

/// Appends a sender report without blocks.
pub fn write_sender_report(out: &mut Vec<u8>, ssrc: u32, info: &SenderInfo) {
    write_packet(out, SENDER_REPORT, 0, |out| {
        out.extend(ssrc.to_be_bytes());
        out.extend(info.ntp.to_be_bytes());
        for word in [info.timestamp, info.packets, info.octets] {
            out.extend(word.to_be_bytes());
        }
    });
}

/// Appends a receiver report with at most one block.
pub fn write_receiver_report(out: &mut Vec<u8>, ssrc: u32, block: Option<&Block>) {
    write_packet(out, RECEIVER_REPORT, u8::from(block.is_some()), |out| {
        out.extend(ssrc.to_be_bytes());
        if let Some(block) = block {
            block.write(out);
        }
    });
}

/// Appends a source description with a canonical name; RFC 3550 requires one beside each report.
pub fn write_description(out: &mut Vec<u8>, ssrc: u32, name: &str) {
    let name = &name.as_bytes()[..name.len().min(255)];
    write_packet(out, DESCRIPTION, 1, |out| {
        out.extend(ssrc.to_be_bytes());
        out.extend([CNAME, name.len() as u8]);
        out.extend(name);
        // the list of items ends with at least one zero
        out.push(0);
    });
}

/// Appends a goodbye of one source.
pub fn write_goodbye(out: &mut Vec<u8>, ssrc: u32) {
    write_packet(out, GOODBYE, 1, |out| out.extend(ssrc.to_be_bytes()));
}

/// Appends an application packet with the data that `fill` appends.
pub fn write_app(out: &mut Vec<u8>, ssrc: u32, subtype: u8, name: [u8; 4], fill: impl FnOnce(&mut Vec<u8>)) {
    write_packet(out, APPLICATION, subtype, |out| {
        out.extend(ssrc.to_be_bytes());
        out.extend(name);
        fill(out);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compound_of_all_kinds_is_read_back() {
        let info = SenderInfo { ntp: 0x0102_0304_0506_0708, timestamp: 9, packets: 10, octets: 11 };
        let mut bytes = Vec::new();
        write_sender_report(&mut bytes, 5, &info);
        assert_eq!(bytes.len(), 28);
        write_description(&mut bytes, 5, "sinew@5");
        write_app(&mut bytes, 5, 31, *b"SINW", |out| out.extend([7; 8]));
        write_goodbye(&mut bytes, 5);
        let packets = read(&bytes).unwrap();
        assert_eq!(packets[0], Packet::SenderReport { ssrc: 5, info, blocks: vec![] });
        assert_eq!(packets[1], Packet::Other(DESCRIPTION));
        assert_eq!(packets[2], Packet::Application { ssrc: 5, subtype: 31, name: *b"SINW", data: &[7; 8] });
        assert_eq!(packets[3], Packet::Goodbye { ssrc: 5 });
        for length in 0..bytes.len() {
            let whole = read(&bytes[..length]).is_ok();
            assert_eq!(whole, [28, 48, 68].contains(&length), "{length}");
        }
    }

    #[test]
    fn a_description_has_the_layout_of_the_rfc() {
        let mut bytes = Vec::new();
        write_description(&mut bytes, 0x0A0B_0C0D, "ab");
        assert_eq!(bytes, [0x81, 202, 0, 3, 0x0A, 0x0B, 0x0C, 0x0D, 1, 2, b'a', b'b', 0, 0, 0, 0]);
    }

    #[test]
    fn the_loss_has_a_sign_of_24_bits() {
        for lost in [-(1 << 23), -1, 0, 1, (1 << 23) - 1] {
            let block = Block { lost, fraction_lost: 255, ..Block::default() };
            let mut bytes = Vec::new();
            write_receiver_report(&mut bytes, 1, Some(&block));
            assert_eq!(read(&bytes).unwrap(), [Packet::ReceiverReport { ssrc: 1, blocks: vec![block] }]);
        }
    }

    #[test]
    fn a_compound_begins_with_a_report_and_only_its_end_is_padded() {
        let mut app = Vec::new();
        write_app(&mut app, 1, 0, *b"SINW", |_| {});
        assert_eq!(read(&app), Err(DecodeError::Kind(APPLICATION)));
        let mut padded = Vec::new();
        write_receiver_report(&mut padded, 1, None);
        write_app(&mut padded, 1, 0, *b"SINW", |out| out.extend([1, 1, 1, 1, 0, 0, 0, 4]));
        padded[8] |= 0x20;
        let expected = Packet::Application { ssrc: 1, subtype: 0, name: *b"SINW", data: &[1; 4] };
        assert_eq!(read(&padded).unwrap()[1], expected);
        let mut twice = padded.clone();
        write_goodbye(&mut twice, 1);
        assert_eq!(read(&twice), Err(DecodeError::Length));
        assert_eq!(read(&[]), Err(DecodeError::Short));
        // a count of blocks beyond the body
        assert_eq!(read(&[0x9F, 201, 0, 1, 0, 0, 0, 1]), Err(DecodeError::Short));
    }
}
