//! Random numbers that others cannot guess, and cookies; all from one seed, so that runs can be repeated.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::Key;
use crate::control::Cookie;

/// Time for which a cookie is made; it is taken during the next one too [s].
const EPOCH: u64 = 8;

/// Source of nonces, tickets and cookies.
#[derive(Clone, Debug)]
pub(crate) struct Secret {
    key: Key,
    count: u64,
}

impl Secret {
    pub fn new(seed: &[u8; 32]) -> Self {
        Self { key: Key::new(seed), count: 0 }
    }

    pub fn number(&mut self) -> u64 {
        self.count += 1;
        let hash = self.key.hash(&[b"number", &self.count.to_be_bytes()]);
        hash.iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// The cookie of an address at a time. Nothing is stored for those that only say hello.
    pub fn cookie(&self, from: SocketAddr, nonce: u64, now: Duration) -> Cookie {
        self.cookie_of(from, nonce, now.as_secs() / EPOCH)
    }

    pub fn is_cookie(&self, cookie: &Cookie, from: SocketAddr, nonce: u64, now: Duration) -> bool {
        let epoch = now.as_secs() / EPOCH;
        let fits = |epoch| {
            let right = self.cookie_of(from, nonce, epoch);
            right.iter().zip(cookie).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
        };
        fits(epoch) || (epoch > 0 && fits(epoch - 1))
    }

    fn cookie_of(&self, from: SocketAddr, nonce: u64, epoch: u64) -> Cookie {
        let address = match from.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        let parts = [&address[..], &from.port().to_be_bytes(), &nonce.to_be_bytes(), &epoch.to_be_bytes()];
        let hash = self.key.hash(&[b"cookie", parts[0], parts[1], parts[2], parts[3]]);
        hash.first_chunk().copied().unwrap_or_default()
    }
}

/// Keys of a session, derived from the shared one.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    shared: Key,
    pub handshake: Key,
}

/// Counter of sealed packets of the handshake; others count from zero.
pub(crate) const HANDSHAKE: u64 = u64::MAX;

impl Keys {
    pub fn new(shared: &Key) -> Self {
        Self { shared: shared.clone(), handshake: shared.derive(b"hand", [0, 0]) }
    }

    /// From the sender to all receivers of its session.
    pub fn down(&self, session: u64) -> Key {
        self.shared.derive(b"down", [session, 0])
    }

    /// From one receiver to the sender.
    pub fn up(&self, session: u64, ticket: u64) -> Key {
        self.shared.derive(b"up  ", [session, ticket])
    }

    /// Whole scenes over TCP.
    pub fn scene(&self, session: u64, ticket: u64) -> Key {
        self.shared.derive(b"scen", [session, ticket])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_bound_to_address_nonce_and_time() {
        let secret = Secret::new(&[1; 32]);
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (a, b, c) = (at("10.0.0.1:5000"), at("10.0.0.1:5001"), at("10.0.0.2:5000"));
        let cookie = secret.cookie(a, 7, Duration::from_secs(100));
        let valid = |from, nonce, s| secret.is_cookie(&cookie, from, nonce, Duration::from_secs(s));
        assert!(valid(a, 7, 100) && valid(a, 7, 108));
        assert!(!valid(a, 7, 116) && !valid(b, 7, 100) && !valid(c, 7, 100) && !valid(a, 8, 100));
        assert!(!Secret::new(&[2; 32]).is_cookie(&cookie, a, 7, Duration::from_secs(100)));
    }
}
