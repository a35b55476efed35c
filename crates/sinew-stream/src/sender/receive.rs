//! What a sender does with packets of receivers. Before a receiver has shown by a cookie that it reads what is sent to
//! its address, it gets at most one answer for a message, and that is shorter than the message.

use std::net::SocketAddr;
use std::time::Duration;

use super::ledger::STALE_AT_ONCE;
use super::{Member, Sender, Stream};
use crate::control::{Cookie, Message, NAME, Welcome};
use crate::key::peek_counter;
use crate::rtcp::{self, Block, Packet};
use crate::secret::HANDSHAKE;
use crate::window::Seen;
use crate::{DecodeError, Outbox};

impl Sender {
    /// Takes a packet. What is not valid is dropped and counted.
    pub fn receive(&mut self, now: Duration, from: SocketAddr, packet: &[u8], out: &mut Outbox) {
        self.stats.received += 1;
        let known = self.members.contains_key(&from);
        if !known && !self.hellos.take(1, now) {
            self.stats.limited += 1;
            return;
        }
        let Some((body, counter)) = self.open(from, packet) else {
            *(if known { &mut self.stats.forged } else { &mut self.stats.strangers }) += 1;
            return;
        };
        let Ok((message, block)) = content(body) else {
            self.stats.malformed += 1;
            return;
        };
        if let Message::Hello { group, nonce, cookie } = message {
            if known && !self.hellos.take(1, now) {
                self.stats.limited += 1;
            } else if counter.is_none_or(|counter| counter == HANDSHAKE) {
                self.hello(now, from, (group, nonce, cookie), out);
            } else {
                self.stats.forged += 1;
            }
            return;
        }
        let Some(member) = self.members.get_mut(&from) else {
            self.stats.strangers += 1;
            return;
        };
        if ticket(&message) != Some(member.ticket) || counter == Some(HANDSHAKE) {
            self.stats.forged += 1;
            return;
        }
        if counter.is_some_and(|counter| member.window.insert(counter) != Seen::New) {
            self.stats.duplicates += 1;
            return;
        }
        // only what is the receiver's own counts: others cannot use up its rate in its name
        if !member.bucket.take(1, now) {
            self.stats.limited += 1;
            return;
        }
        member.heard = now;
        if let Some(block) = block {
            member.block(block, &self.clock, now);
        }
        self.message(now, from, message, out);
    }

    /// The packet without its trailer, and its counter; `None` if the hash is wrong.
    fn open<'a>(&self, from: SocketAddr, packet: &'a [u8]) -> Option<(&'a [u8], Option<u64>)> {
        let Some(keys) = &self.keys else { return Some((packet, None)) };
        let handshake = peek_counter(packet)? == HANDSHAKE;
        let key = if handshake { &keys.handshake } else { self.members.get(&from)?.key.as_ref()? };
        key.open(packet).map(|(body, counter)| (body, Some(counter)))
    }

    fn hello(&mut self, now: Duration, from: SocketAddr, hello: (bool, u64, Cookie), out: &mut Outbox) {
        let (group, nonce, cookie) = hello;
        if !self.secret.is_cookie(&cookie, from, nonce, now) {
            let cookie = self.secret.cookie(from, nonce, now);
            return self.answer(from, &Message::Challenge { nonce, cookie }, out);
        }
        if self.members.get(&from).is_none_or(|member| member.nonce != nonce) {
            if self.members.len() >= self.config.receivers && !self.members.contains_key(&from) {
                self.stats.refused += 1;
                return;
            }
            let ticket = self.secret.number();
            let key = self.keys.as_ref().map(|keys| keys.up(self.session, ticket));
            let by_group = group && self.group.is_some();
            let random = self.secret.number();
            let stream = (!by_group).then(|| Stream::new(from, random, self.config.bit_rate, now));
            self.members.insert(from, Member::new(ticket, nonce, key, stream, now));
        }
        let Some(member) = self.members.get(&from) else { return };
        let stream = member.stream.as_ref().or(self.group.as_ref());
        let welcome = Welcome {
            nonce,
            session: self.session,
            ticket: member.ticket,
            ssrc: stream.map_or(0, |stream| stream.ssrc),
            revision: self.ledger.scene().revision,
            scene_port: self.config.scene_port,
        };
        self.answer(from, &Message::Welcome(welcome), out);
    }

    fn answer(&self, to: SocketAddr, message: &Message<'_>, out: &mut Outbox) {
        out.push(to, |bytes| {
            let start = bytes.len();
            message.write(0, bytes);
            if let Some(keys) = &self.keys {
                keys.handshake.seal(bytes, start, HANDSHAKE);
            }
        });
    }

    fn message(&mut self, now: Duration, from: SocketAddr, message: Message<'_>, out: &mut Outbox) {
        let Some(member) = self.members.get_mut(&from) else { return };
        match message {
            Message::Report(report) => member.report(&report),
            Message::Command { number, body, ticket } => {
                let next = member.commands.receive(number, body, now);
                let ack = Message::CommandAck { ticket, next };
                let Some(stream) = member.stream.as_mut().or(self.group.as_mut()) else { return };
                // acknowledgements of a member of the group go to the member, with the counter of the group's stream
                let target = std::mem::replace(&mut stream.target, from);
                let ssrc = stream.ssrc;
                stream.sealed(self.down.as_ref(), out, |bytes| ack.write(ssrc, bytes));
                stream.target = target;
            }
            Message::Leave { .. } => _ = self.members.remove(&from),
            _ => self.stats.malformed += 1,
        }
    }

    /// Answers a request for the whole scene that came over TCP ([`crate::receiver::Receiver::scene_request`]): a
    /// length u32 and the scene, signed if there is a key. `None` if the request is not that of a receiver.
    pub fn scene_reply(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        let ticket = u64::from_be_bytes(*request.get(4..)?.first_chunk()?);
        if request[..4] != *crate::receiver::REQUEST || !self.members.values().any(|member| member.ticket == ticket) {
            return None;
        }
        let key = self.keys.as_ref().map(|keys| keys.scene(self.session, ticket));
        if let Some(key) = &key {
            key.open(request).filter(|(body, counter)| (body.len(), *counter) == (12, 0))?;
        } else if request.len() != 12 {
            return None;
        }
        let (_, scene) = self.ledger.snapshot(STALE_AT_ONCE);
        let mut reply = vec![0; 4];
        reply.extend(&scene[..]);
        if let Some(key) = &key {
            key.seal(&mut reply, 4, 1);
        }
        let length = (reply.len() - 4) as u32;
        reply[..4].copy_from_slice(&length.to_be_bytes());
        Some(reply)
    }
}

/// The message of a compound and the report block before it.
fn content(body: &[u8]) -> Result<(Message<'_>, Option<Block>), DecodeError> {
    let (mut message, mut block) = (None, None);
    for packet in rtcp::read(body)? {
        match packet {
            Packet::ReceiverReport { blocks, .. } => block = blocks.first().copied(),
            Packet::Application { subtype, name: NAME, data, .. } if message.is_none() => {
                message = Some(Message::read(subtype, data)?);
            }
            _ => {}
        }
    }
    Ok((message.ok_or(DecodeError::Value("no message"))?, block))
}

fn ticket(message: &Message<'_>) -> Option<u64> {
    match message {
        Message::Report(report) => Some(report.ticket),
        Message::Command { ticket, .. } | Message::Leave { ticket } => Some(*ticket),
        _ => None,
    }
}
