//! Messages of both sides: application packets of RTCP with the name `SINW`.
//!
//! | subtype | message | from | data |
//! | --- | --- | --- | --- |
//! | 0 | hello | receiver | version u8, flags u8 (1 group), 0 u16, nonce u64, cookie 16, zeros to 56 |
//! | 1 | challenge | sender | nonce u64, cookie 16 |
//! | 2 | welcome | sender | nonce u64, session u64, ticket u64, stream u32, revision u32, port u16, 0 u16 |
//! | 3 | report | receiver | ticket u64, number u32, flags u8 (1 scene, 2 fetching, 4 pieces), kind u8, base u16, applied u32, record u32, map 128 |
//! | 4 | command | receiver | ticket u64, number u32, length u16, bytes |
//! | 5 | commands acknowledged | sender | ticket u64, next u32 |
//! | 6 | leave | receiver | ticket u64 |
//!
//! No answer is longer than the message it answers: a hello is padded, so that a challenge and a welcome are shorter.

use crate::DecodeError;
use crate::bytes::Reader;
use crate::payload::Kind;
use crate::record::{MAP, Progress};
use crate::rtcp::{write_app, write_receiver_report};

/// Name of the application packets.
pub const NAME: [u8; 4] = *b"SINW";
/// Version of the handshake.
pub const VERSION: u8 = 1;
/// Most bytes of a command.
pub const LARGEST_COMMAND: usize = 900;
const HELLO: usize = 56;

/// Proof that a receiver reads what is sent to its address.
pub type Cookie = [u8; 16];

/// A message.
///
/// ```
/// use sinew_stream::control::{Message, NAME};
/// use sinew_stream::rtcp::{Packet, read};
/// let mut bytes = Vec::new();
/// Message::Leave { ticket: 7 }.write(1, &mut bytes);
/// let Packet::Application { subtype, name, data, .. } = &read(&bytes)?[1] else { panic!() };
/// assert_eq!(*name, NAME);
/// assert_eq!(Message::read(*subtype, data)?, Message::Leave { ticket: 7 });
/// # Ok::<(), sinew_stream::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A receiver wants the stream.
    Hello {
        /// The stream comes by the multicast group.
        group: bool,
        /// Random number of the receiver.
        nonce: u64,
        /// Zeros, or what the challenge had.
        cookie: Cookie,
    },
    /// Answer to a hello without a valid cookie.
    Challenge {
        /// Of the hello.
        nonce: u64,
        /// For the next hello.
        cookie: Cookie,
    },
    /// The receiver is in.
    Welcome(Welcome),
    /// What a receiver has.
    Report(Report),
    /// A command.
    Command {
        /// Of the welcome.
        ticket: u64,
        /// Commands of a receiver are numbered from 0.
        number: u32,
        /// The command.
        body: &'a [u8],
    },
    /// Commands below `next` have been taken.
    CommandAck {
        /// Of the welcome.
        ticket: u64,
        /// Number of the next command.
        next: u32,
    },
    /// The receiver leaves.
    Leave {
        /// Of the welcome.
        ticket: u64,
    },
}

/// The sender's part of a session.
///
/// An example is at [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Of the hello.
    pub nonce: u64,
    /// Random number of this run of the sender.
    pub session: u64,
    /// Random number of this receiver; it is in all its messages.
    pub ticket: u64,
    /// Synchronisation source of the stream.
    pub ssrc: u32,
    /// Current revision of the topology.
    pub revision: u32,
    /// TCP port for whole scenes; 0 for none.
    pub scene_port: u16,
}

/// What a receiver has of scene and topology.
///
/// An example is at [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Of the welcome.
    pub ticket: u64,
    /// Reports are numbered: an older one that arrives late is dropped.
    pub number: u32,
    /// Revision that is complete; `None` without a scene.
    pub applied: Option<u32>,
    /// The scene comes over TCP: it is not sent in pieces.
    pub fetching: bool,
    /// Record of which pieces have arrived.
    pub progress: Option<Progress>,
}

impl<'a> Message<'a> {
    fn subtype(&self) -> u8 {
        match self {
            Self::Hello { .. } => 0,
            Self::Challenge { .. } => 1,
            Self::Welcome(_) => 2,
            Self::Report(_) => 3,
            Self::Command { .. } => 4,
            Self::CommandAck { .. } => 5,
            Self::Leave { .. } => 6,
        }
    }

    /// Appends a compound: an empty receiver report and the message.
    pub fn write(&self, ssrc: u32, out: &mut Vec<u8>) {
        write_receiver_report(out, ssrc, None);
        self.write_alone(ssrc, out);
    }

    /// Appends the message to a compound that has a report already.
    pub fn write_alone(&self, ssrc: u32, out: &mut Vec<u8>) {
        write_app(out, ssrc, self.subtype(), NAME, |out| self.write_data(out));
    }

    fn write_data(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello { group, nonce, cookie } => {
                let start = out.len();
                out.extend([VERSION, u8::from(*group), 0, 0]);
                out.extend(nonce.to_be_bytes());
                out.extend(cookie);
                out.resize(start + HELLO, 0);
            }
            Self::Challenge { nonce, cookie } => {
                out.extend(nonce.to_be_bytes());
                out.extend(cookie);
            }
            Self::Welcome(welcome) => {
                for number in [welcome.nonce, welcome.session, welcome.ticket] {
                    out.extend(number.to_be_bytes());
                }
                out.extend(welcome.ssrc.to_be_bytes());
                out.extend(welcome.revision.to_be_bytes());
                out.extend(welcome.scene_port.to_be_bytes());
            }
            Self::Report(report) => report.write(out),
            Self::Command { ticket, number, body } => {
                out.extend(ticket.to_be_bytes());
                out.extend(number.to_be_bytes());
                out.extend((body.len() as u16).to_be_bytes());
                out.extend(*body);
            }
            Self::CommandAck { ticket, next } => {
                out.extend(ticket.to_be_bytes());
                out.extend(next.to_be_bytes());
            }
            Self::Leave { ticket } => out.extend(ticket.to_be_bytes()),
        }
    }

    /// Decodes the data of an application packet.
    ///
    /// # Errors
    /// An unknown message, or a length or value that is not of this message.
    pub fn read(subtype: u8, data: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(data);
        let message = match subtype {
            0 => {
                let [version, flags, _, _] = reader.array()?;
                if version != VERSION {
                    return Err(DecodeError::Version(version));
                }
                if data.len() != HELLO {
                    return Err(DecodeError::Length);
                }
                return Ok(Self::Hello { group: flags & 1 != 0, nonce: reader.u64()?, cookie: reader.array()? });
            }
            1 => Self::Challenge { nonce: reader.u64()?, cookie: reader.array()? },
            2 => {
                let welcome = Welcome {
                    nonce: reader.u64()?,
                    session: reader.u64()?,
                    ticket: reader.u64()?,
                    ssrc: reader.u32()?,
                    revision: reader.u32()?,
                    scene_port: reader.u16()?,
                };
                reader.u16()?;
                Self::Welcome(welcome)
            }
            3 => Self::Report(Report::read(&mut reader)?),
            4 => {
                let (ticket, number, length) = (reader.u64()?, reader.u32()?, usize::from(reader.u16()?));
                let body = reader.take(length)?;
                if length > LARGEST_COMMAND || reader.rest().len() > 3 {
                    return Err(DecodeError::Length);
                }
                return Ok(Self::Command { ticket, number, body });
            }
            5 => Self::CommandAck { ticket: reader.u64()?, next: reader.u32()? },
            6 => Self::Leave { ticket: reader.u64()? },
            other => return Err(DecodeError::Kind(other)),
        };
        reader.end()?;
        Ok(message)
    }
}

impl Report {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.ticket.to_be_bytes());
        out.extend(self.number.to_be_bytes());
        let flags = [self.applied.is_some(), self.fetching, self.progress.is_some()];
        out.push(flags.iter().enumerate().map(|(bit, &on)| u8::from(on) << bit).sum());
        let is_scene = self.progress.is_some_and(|progress| progress.kind == Kind::ScenePiece);
        out.push(u8::from(is_scene));
        out.extend(self.progress.map_or(0, |progress| progress.base).to_be_bytes());
        out.extend(self.applied.unwrap_or(0).to_be_bytes());
        out.extend(self.progress.map_or(0, |progress| progress.revision).to_be_bytes());
        if let Some(progress) = self.progress {
            out.extend(progress.map);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (ticket, number) = (reader.u64()?, reader.u32()?);
        let (flags, scene, base) = (reader.u8()?, reader.u8()?, reader.u16()?);
        let (applied, revision) = (reader.u32()?, reader.u32()?);
        let kind = if scene == 1 { Kind::ScenePiece } else { Kind::EventPiece };
        let mut report = Self {
            ticket,
            number,
            applied: (flags & 1 != 0).then_some(applied),
            fetching: flags & 2 != 0,
            progress: None,
        };
        if flags & 4 != 0 {
            report.progress = Some(Progress { kind, revision, base, map: reader.array::<{ MAP / 8 }>()? });
        }
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp;

    fn sizes(message: Message<'_>) -> usize {
        let mut bytes = Vec::new();
        message.write(9, &mut bytes);
        let packets = rtcp::read(&bytes).unwrap();
        let rtcp::Packet::Application { ssrc: 9, subtype, name: NAME, data } = packets[1] else { panic!() };
        assert_eq!(Message::read(subtype, data), Ok(message));
        // one word more or less is another message or none
        assert!(Message::read(subtype, &data[..data.len() - 4]).is_err());
        assert!(Message::read(subtype, &[data, &[0; 4]].concat()).is_err());
        bytes.len()
    }

    #[test]
    fn every_message_comes_back_and_no_answer_is_longer() {
        let hello = sizes(Message::Hello { group: true, nonce: 3, cookie: [7; 16] });
        let challenge = sizes(Message::Challenge { nonce: 3, cookie: [8; 16] });
        let welcome = Welcome { nonce: 1, session: 2, ticket: 3, ssrc: 4, revision: 5, scene_port: 6 };
        let welcome = sizes(Message::Welcome(welcome));
        assert!(challenge <= hello && welcome <= hello, "{challenge} {welcome} {hello}");
        let command = sizes(Message::Command { ticket: 1, number: 2, body: b"grab" });
        assert!(sizes(Message::CommandAck { ticket: 1, next: 3 }) <= command);
        sizes(Message::Leave { ticket: 1 });
        let report = Report { ticket: 1, number: 2, applied: None, fetching: true, progress: None };
        sizes(Message::Report(report));
        let progress = Progress { kind: Kind::EventPiece, revision: 9, base: 3, map: [5; 128] };
        sizes(Message::Report(Report { applied: Some(8), progress: Some(progress), ..report }));
    }

    #[test]
    fn a_command_has_a_largest_size() {
        let body = [1; LARGEST_COMMAND + 1];
        let mut bytes = Vec::new();
        Message::Command { ticket: 1, number: 0, body: &body }.write(1, &mut bytes);
        let packets = rtcp::read(&bytes).unwrap();
        let rtcp::Packet::Application { subtype, data, .. } = packets[1] else { panic!() };
        assert_eq!(Message::read(subtype, data), Err(DecodeError::Length));
    }
}
