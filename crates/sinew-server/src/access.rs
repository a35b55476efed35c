//! Access control of the server.
//!
//! On loopback any program of this machine may connect, but no page of another site: a browser sends the site on whose
//! behalf it acts (Origin) and the host name it resolved (Host), and both must be names of this server. Host is checked
//! because a foreign name can be made to resolve to 127.0.0.1 (DNS rebinding). On any other address a token is
//! required.

use hyper::{HeaderMap, Uri, header};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::IpAddr;

/// The access rules of one server.
#[derive(Clone, Debug)]
pub struct Access {
    /// Required when the server can be reached from other machines.
    pub token: Option<String>,
}

impl Access {
    /// Rules for a server on this address: a new token unless the address is loopback.
    pub fn new(address: IpAddr) -> Self {
        Self { token: (!address.is_loopback()).then(new_token) }
    }

    /// Refuses host names that do not belong to this server. A request has one Host, and a target with a host of its own
    /// (RFC 9112, section 3.2.2) has the same: which of two a proxy or a browser meant is not known here.
    ///
    /// # Errors
    /// The reason, for the client.
    pub fn host(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), &'static str> {
        let host = text(headers, header::HOST).ok_or("Host: exactly one is required")?;
        if uri.authority().is_some_and(|target| !target.as_str().eq_ignore_ascii_case(host)) {
            return Err("Host: not the host of the request's target");
        }
        if self.token.is_some() || is_loopback(host) { Ok(()) } else { Err("Host: this server is for loopback only") }
    }

    /// Refuses WebSockets of other sites and, where a token is required, those without it.
    ///
    /// # Errors
    /// The reason, for the client.
    pub fn socket(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), &'static str> {
        self.host(headers, uri)?;
        if headers.contains_key(header::ORIGIN) {
            let origin = text(headers, header::ORIGIN).ok_or("Origin: exactly one, as text")?;
            let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if site.is_none() || site != text(headers, header::HOST) {
                return Err("Origin: only the viewer's own page may connect");
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

/// The value of a header that occurs once.
fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

/// Whether a Host header, with or without a port, is a loopback name.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Comparison whose run time does not depend on the position of the difference.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

/// 128 bits in hexadecimal. The keys of hash maps come from the random source of the system, and a keyed hash does not
/// disclose them.
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
    fn loopback_accepts_only_loopback_host_names_and_the_page_of_this_server() {
        let access = Access::new("127.0.0.1".parse().expect("an address"));
        let uri = Uri::from_static("/socket");
        let ask = |host: &str, origin: Option<&str>| {
            let mut list = vec![(header::HOST, host)];
            list.extend(origin.map(|o| (header::ORIGIN, o)));
            access.socket(&headers(&list), &uri)
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
    fn other_addresses_require_a_token_that_is_different_for_every_server() {
        let any = "0.0.0.0".parse().expect("an address");
        let access = Access::new(any);
        let token = access.token.clone().expect("a token");
        assert_eq!(token.len(), 32);
        assert_ne!(Access::new(any).token, access.token);
        let from = headers(&[(header::HOST, "bench:7878")]);
        let ask = |path: String| access.socket(&from, &path.parse().expect("a path"));
        assert!(ask(format!("/socket?token={token}")).is_ok());
        assert!(ask("/socket".into()).is_err());
        assert!(ask("/socket?token=".into()).is_err());
        assert!(ask(format!("/socket?token={}", &token[1..])).is_err());
    }
}
