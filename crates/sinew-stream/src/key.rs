//! A shared key: packets carry a counter and a keyed hash (HMAC-SHA-256, cut to 128 bits).
//!
//! ```text
//! packet | counter u64 | first 16 bytes of HMAC(key, packet | counter)
//! ```
//!
//! It proves origin and integrity; it does not hide contents. HMAC-SHA-256 is the one keyed hash that every platform
//! has (a client in another language needs no library of ours), is specified in RFC 2104 and FIPS 180-4, and its crates
//! share all but three with the web sockets of the viewer. Keys of a session are derived from the shared one and random
//! numbers of both sides, so that a captured packet is of no use in another session.

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Bytes that a key adds to a packet.
pub const TRAILER: usize = 24;
const TAG: usize = 16;

/// A key of 256 bits.
///
/// ```
/// use sinew_stream::Key;
/// let key = Key::new(b"a secret of both sides");
/// let mut packet = b"data".to_vec();
/// key.seal(&mut packet, 0, 7);
/// assert_eq!(key.open(&packet), Some((&b"data"[..], 7)));
/// packet[0] ^= 1;
/// assert_eq!(key.open(&packet), None);
/// assert_eq!(Key::new(b"another").open(&packet), None);
/// ```
#[derive(Clone)]
pub struct Key {
    /// The hash with the key already in it.
    start: Hmac<Sha256>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// A key from a secret of any length. A secret that people chose can be guessed from one captured packet: use at
    /// least 128 random bits.
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        let start = <Hmac<Sha256> as Mac>::new_from_slice(secret);
        // HMAC takes keys of every length; the error type belongs to other constructions
        Self { start: start.unwrap_or_else(|_| <Hmac<Sha256> as Mac>::new(&[0; 64].into())) }
    }

    /// Keyed hash of parts, one after the other. Callers use parts of fixed length or one variable part at the end.
    #[must_use]
    pub fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.start.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }

    /// A key for one purpose.
    #[must_use]
    pub fn derive(&self, purpose: &[u8; 4], numbers: [u64; 2]) -> Self {
        Self::new(&self.hash(&[purpose, &numbers[0].to_be_bytes(), &numbers[1].to_be_bytes()]))
    }

    /// Appends counter and hash to the packet that begins at `start`.
    pub fn seal(&self, out: &mut Vec<u8>, start: usize, counter: u64) {
        out.extend(counter.to_be_bytes());
        let tag = self.hash(&[&out[start..]]);
        out.extend(&tag[..TAG]);
    }

    /// The packet without its trailer and its counter; `None` if the hash is wrong. The time does not depend on where.
    #[must_use]
    pub fn open<'a>(&self, packet: &'a [u8]) -> Option<(&'a [u8], u64)> {
        let (signed, tag) = packet.split_last_chunk::<TAG>()?;
        let (body, counter) = signed.split_last_chunk::<8>()?;
        let mut mac = self.start.clone();
        mac.update(signed);
        mac.verify_truncated_left(tag).ok()?;
        Some((body, u64::from_be_bytes(*counter)))
    }
}

/// The counter of a sealed packet, before its hash is checked.
pub(crate) fn peek_counter(packet: &[u8]) -> Option<u64> {
    let (signed, _) = packet.split_last_chunk::<TAG>()?;
    Some(u64::from_be_bytes(*signed.last_chunk::<8>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_hash_is_that_of_rfc_4231() {
        // test cases 2 and 6: a short key, and one longer than a block
        let short = Key::new(b"Jefe").hash(&[b"what do ya want ", b"for nothing?"]);
        assert_eq!(hex(&short), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let long = Key::new(&[0xAA; 131]).hash(&[b"Test Using Larger Than Block-Size Key - Hash Key First"]);
        assert_eq!(hex(&long), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }

    #[test]
    fn every_changed_bit_is_found() {
        let key = Key::new(b"secret");
        let mut packet = b"xhead".to_vec();
        key.seal(&mut packet, 1, 3);
        let sealed = packet[1..].to_vec();
        assert_eq!(sealed.len(), 4 + TRAILER);
        for bit in 0..8 * sealed.len() {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.open(&changed), None);
        }
        for length in 0..sealed.len() {
            assert_eq!(key.open(&sealed[..length]), None);
        }
    }

    #[test]
    fn derived_keys_differ_by_purpose_and_number() {
        let key = Key::new(b"secret");
        let keys = [key.derive(b"down", [1, 2]), key.derive(b"down", [2, 1]), key.derive(b"up..", [1, 2])];
        let hashes = keys.map(|key| key.hash(&[b"x"]));
        assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2] && hashes[1] != hashes[2]);
    }
}
