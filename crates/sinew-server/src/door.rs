//! Who may come in.
//!
//! On loopback any program of this machine may, but no page of another site: a browser names the site it acts for (Origin)
//! and the name it was led to us by (Host), and both must be ours. Host is checked because a foreign name may be made to
//! point to 127.0.0.1. On any other address a token is asked for.

use hyper::{HeaderMap, Uri, header};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::IpAddr;

/// The rules of one server.
#[derive(Clone, Debug)]
pub struct Door {
    /// Asked for when the server can be reached from other machines.
    pub token: Option<String>,
}

impl Door {
    /// For a server on this address: a new token unless it is loopback.
    pub fn new(address: IpAddr) -> Self {
        Self { token: (!address.is_loopback()).then(new_token) }
    }

    /// Refuses names that are not ours.
    ///
    /// # Errors
    /// Why, for the one who asked.
    pub fn host(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let host = text(headers, header::HOST).ok_or("no Host")?;
        if self.token.is_some() || is_loopback(host) { Ok(()) } else { Err("Host: this server is for loopback only") }
    }

    /// Refuses sockets of other sites and, where one is needed, without the token.
    ///
    /// # Errors
    /// Why, for the one who asked.
    pub fn socket(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), &'static str> {
        self.host(headers)?;
        if headers.contains_key(header::ORIGIN) {
            let origin = text(headers, header::ORIGIN).ok_or("Origin: not text")?;
            let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if site.is_none() || site != text(headers, header::HOST) {
                return Err("Origin: only the viewer's own page may talk to it");
            }
        }
        let given = uri.query().unwrap_or("").split('&').find_map(|pair| pair.strip_prefix("token="));
        match &self.token {
            Some(token) if !given.is_some_and(|g| same(g, token)) => {
                Err("token: open the address that the server printed, with its token")
            }
            _ => Ok(()),
        }
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a Host, with or without a port, is a name of this machine for itself.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Compares in a time that does not tell where the difference is.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

/// 128 bits in hexadecimal. Keys of hash maps come from the system's randomness, and a keyed hash does not give them away.
fn new_token() -> String {
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(header::HeaderName, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.clone(), value.parse().expect("a header"))).collect()
    }

    #[test]
    fn on_loopback_only_our_own_names_and_page_come_in() {
        let door = Door::new("127.0.0.1".parse().expect("an address"));
        let uri = Uri::from_static("/socket");
        let ask = |host: &str, origin: Option<&str>| {
            let mut list = vec![(header::HOST, host)];
            list.extend(origin.map(|o| (header::ORIGIN, o)));
            door.socket(&headers(&list), &uri)
        };
        for host in ["localhost:7878", "127.0.0.1:7878", "127.0.0.1", "[::1]:7878"] {
            assert!(ask(host, None).is_ok(), "{host}");
            assert!(ask(host, Some(&format!("http://{host}"))).is_ok(), "{host}");
        }
        for (host, origin) in [
            ("evil.example:7878", None),
            ("evil.example:7878", Some("http://evil.example:7878")),
            ("127.0.0.1.evil.example", None),
            ("localhost:7878", Some("http://evil.example")),
            ("localhost:7878", Some("http://localhost:9999")),
            ("localhost:7878", Some("null")),
            ("localhost:7878", Some("file://localhost:7878")),
        ] {
            assert!(ask(host, origin).is_err(), "{host} {origin:?}");
        }
    }

    #[test]
    fn elsewhere_a_token_is_asked_for_and_no_two_are_the_same() {
        let any = "0.0.0.0".parse().expect("an address");
        let door = Door::new(any);
        let token = door.token.clone().expect("a token");
        assert_eq!(token.len(), 32);
        assert_ne!(Door::new(any).token, door.token);
        let from = headers(&[(header::HOST, "bench:7878")]);
        let ask = |path: String| door.socket(&from, &path.parse().expect("a path"));
        assert!(ask(format!("/socket?token={token}")).is_ok());
        assert!(ask("/socket".into()).is_err());
        assert!(ask("/socket?token=".into()).is_err());
        assert!(ask(format!("/socket?token={}", &token[1..])).is_err());
    }
}
