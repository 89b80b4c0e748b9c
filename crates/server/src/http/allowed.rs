//! Which `Host` and `Origin` headers are ours.
//!
//! A web page that a person happens to visit must not command this server. It cannot forge `Origin`; and if its
//! name is made to resolve to our address (DNS rebinding), `Host` still holds that name.

use std::net::{IpAddr, SocketAddr};

use axum::http::Uri;
use axum::http::uri::Authority;

use super::error::Error;

/// The hosts and origins that may be named in a request.
#[derive(Debug)]
pub(super) struct Allowed {
    bound: SocketAddr,
    hosts: Vec<HostPort>,
    origins: Vec<Origin>,
}

impl Allowed {
    /// Reads the configured lists; the bound address needs no entry, nor do loopback names.
    pub(super) fn new(bound: SocketAddr, hosts: &[String], origins: &[String]) -> Result<Self, Error> {
        let hosts =
            hosts.iter().map(|text| HostPort::parse(text).ok_or_else(|| Error::AllowedHost(text.clone())));
        let origins =
            origins.iter().map(|text| Origin::entry(text).ok_or_else(|| Error::AllowedOrigin(text.clone())));
        Ok(Allowed {
            bound,
            hosts: hosts.collect::<Result<_, _>>()?,
            origins: origins.collect::<Result<_, _>>()?,
        })
    }

    /// Whether a request that names this host was meant for us.
    pub(super) fn host(&self, host: &HostPort) -> bool {
        self.is_own(host) || self.is_listed(host)
    }

    /// Whether a page of this origin may call us. `host` has passed [`Allowed::host`]: a page is our own if it was
    /// served under that very name and port. Another port of this machine is somebody else's.
    pub(super) fn origin(&self, text: &str, host: &HostPort) -> bool {
        let Some(origin) = Origin::parse(text) else { return false };
        let is_ours = match &origin {
            Origin::Web { scheme, place, .. } if place.name == host.name => {
                let port = place.port.or_else(|| usual_port(scheme));
                // A listed name may stand for a proxy before us, which has a scheme and a port of its own.
                (self.is_listed(host) && port.is_some() && port == host.port.or_else(|| usual_port(scheme)))
                    || (self.is_own(host) && scheme == "http" && port == Some(self.page_port(host)))
            }
            Origin::Null | Origin::Web { .. } => false,
        };
        is_ours || self.origins.iter().any(|entry| entry.covers(&origin))
    }

    fn is_listed(&self, host: &HostPort) -> bool {
        self.hosts.iter().any(|entry| entry.covers(host))
    }

    /// On any port: one that is forwarded to us is named by clients, and rebinding needs a name.
    fn is_own(&self, host: &HostPort) -> bool {
        host.is_loopback() || self.is_bound_address(host)
    }

    /// Rebinding needs a name, so where every address is bound any address literal is as good as the bound one.
    fn is_bound_address(&self, host: &HostPort) -> bool {
        let bound = self.bound.ip();
        host.address().is_some_and(|address| address == bound || bound.is_unspecified())
    }

    /// The port that a page of ours has. Beyond loopback a token is demanded, and a container's port is often published
    /// as another one.
    fn page_port(&self, host: &HostPort) -> u16 {
        let own = self.bound.port();
        if self.bound.ip().to_canonical().is_loopback() { own } else { host.port.unwrap_or(own) }
    }
}

/// The port of a scheme that is not written.
fn usual_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

/// A host with the port that was written, if one was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPort {
    name: String,
    port: Option<u16>,
}

impl HostPort {
    /// Reads `example.com`, `example.com:8000` or `[::1]:8000`; anything more than a host and a port is refused.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.trim().parse().ok()?;
        HostPort::of(&authority)
    }

    pub(super) fn of(authority: &Authority) -> Option<Self> {
        let written = authority.as_str();
        let rest = written.strip_prefix(authority.host())?;
        let port = match rest.strip_prefix(':') {
            Some(digits) => Some(digits.parse().ok()?),
            None if rest.is_empty() => None,
            None => return None,
        };
        let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        (!name.is_empty()).then_some(HostPort { name, port })
    }

    fn address(&self) -> Option<IpAddr> {
        self.name.parse().ok()
    }

    fn is_loopback(&self) -> bool {
        self.name == "localhost" || self.address().is_some_and(|address| address.is_loopback())
    }

    fn covers(&self, other: &HostPort) -> bool {
        self.name == other.name && (self.port.is_none() || self.port == other.port)
    }
}

/// Where a page came from.
#[derive(Debug, PartialEq, Eq)]
enum Origin {
    /// A page that hides it: a local file, a sandboxed frame.
    Null,
    /// A page of a web server.
    Web { scheme: String, place: HostPort, port: Port },
}

/// Which ports an entry of the list means.
#[derive(Debug, PartialEq, Eq)]
enum Port {
    Written,
    Any,
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        if text == "null" {
            return Some(Origin::Null);
        }
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        // An origin has no path; `Uri` reads a missing one as the root.
        if uri.path() != "/" || uri.query().is_some() {
            return None;
        }
        Some(Origin::Web { place: HostPort::of(uri.authority()?)?, scheme, port: Port::Written })
    }

    fn entry(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.strip_suffix(":*").map(Origin::parse) {
            Some(Some(Origin::Web { scheme, place: place @ HostPort { port: None, .. }, .. })) => {
                Some(Origin::Web { scheme, place, port: Port::Any })
            }
            Some(_) => None,
            None => Origin::parse(text),
        }
    }

    fn covers(&self, other: &Origin) -> bool {
        match (self, other) {
            (Origin::Web { scheme, place, port }, Origin::Web { scheme: other_scheme, place: other, .. }) => {
                let ports = *port == Port::Any || place.port == other.port;
                scheme == other_scheme && place.name == other.name && ports
            }
            (one, other) => one == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(bound: &str, hosts: &[&str], origins: &[&str]) -> Allowed {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        Allowed::new(bound.parse().expect("an address"), &owned(hosts), &owned(origins)).expect("good lists")
    }

    fn host(allowed: &Allowed, text: &str) -> bool {
        HostPort::parse(text).is_some_and(|place| allowed.host(&place))
    }

    fn origin(allowed: &Allowed, text: &str, host: &str) -> bool {
        allowed.origin(text, &HostPort::parse(host).expect("a host"))
    }

    #[test]
    fn loopback_hosts_are_ours_on_any_port() {
        let allowed = allowed("127.0.0.1:8000", &[], &[]);
        for text in ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "127.0.0.1", "[::1]:9", "[::1]"] {
            assert!(host(&allowed, text), "{text}");
        }
    }

    #[test]
    fn foreign_hosts_are_refused() {
        let allowed = allowed("127.0.0.1:8000", &[], &[]);
        for text in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "user@localhost",
            "192.0.2.1:8000",
            "0.0.0.0",
            "",
            ":80",
            "localhost:notaport",
            "localhost:",
        ] {
            assert!(!host(&allowed, text), "{text}");
        }
    }

    #[test]
    fn the_bound_address_is_ours() {
        assert!(host(&allowed("192.0.2.1:8000", &[], &[]), "192.0.2.1:8000"));
        assert!(!host(&allowed("192.0.2.1:8000", &[], &[]), "192.0.2.2:8000"));
    }

    #[test]
    fn where_every_address_is_bound_a_literal_address_is_ours_and_a_name_is_not() {
        let everywhere = allowed("0.0.0.0:8000", &[], &[]);
        assert!(host(&everywhere, "192.0.2.7:8000"));
        assert!(!host(&everywhere, "evil.example:8000"));
    }

    #[test]
    fn a_listed_host_is_ours_and_its_port_counts_where_one_is_written() {
        let listed = allowed("0.0.0.0:1", &["Runward.Example", "other.example:8443"], &[]);
        for text in ["runward.example", "runward.example:9", "other.example:8443"] {
            assert!(host(&listed, text), "{text}");
        }
        assert!(!host(&listed, "other.example"));
        assert!(!host(&listed, "x.runward.example"));
    }

    #[test]
    fn only_a_page_of_the_very_host_and_port_is_our_own() {
        let ours = allowed("127.0.0.1:8000", &["runward.example"], &[]);
        for (text, host) in [
            ("http://localhost:8000", "localhost:8000"),
            ("http://localhost:8000", "localhost"),
            ("http://[::1]:8000", "[::1]:8000"),
            ("https://runward.example", "runward.example"),
            ("https://runward.example:443", "runward.example"),
            ("http://runward.example:9", "runward.example:9"),
        ] {
            assert!(origin(&ours, text, host), "{text} {host}");
        }
        for (text, host) in [
            ("http://localhost:1", "localhost:8000"),
            ("http://localhost:3000", "localhost"),
            ("http://localhost:3000", "localhost:3000"),
            ("http://localhost", "localhost:8000"),
            ("https://localhost:8000", "localhost:8000"),
            ("https://127.0.0.1", "127.0.0.1:8000"),
            ("http://localhost:8000", "127.0.0.1:8000"),
            ("http://[::1]:8000", "127.0.0.1:8000"),
            ("https://runward.example:444", "runward.example"),
            ("ftp://runward.example", "runward.example"),
        ] {
            assert!(!origin(&ours, text, host), "{text} {host}");
        }
    }

    #[test]
    fn foreign_origins_may_not_call() {
        let allowed = allowed("127.0.0.1:8000", &[], &["https://listed.example"]);
        for text in [
            "http://evil.example",
            "null",
            "",
            "localhost",
            "http://localhost.evil.example",
            "https://runward.example:444",
            "http://listed.example",
            "https://listed.example:8443",
            "https://listed.example/path",
            "file://",
        ] {
            assert!(!origin(&allowed, text, "localhost:8000"), "{text}");
        }
    }

    #[test]
    fn listed_origins_may_call() {
        let allowed = allowed("127.0.0.1:1", &[], &["https://a.example", "http://b.example:*", "null"]);
        for text in
            ["https://a.example", "https://A.example", "http://b.example", "http://b.example:3", "null"]
        {
            assert!(origin(&allowed, text, "localhost"), "{text}");
        }
        assert!(!origin(&allowed, "https://b.example:3", "localhost"));
    }

    #[test]
    fn an_entry_that_can_never_match_is_an_error() {
        let bound = "127.0.0.1:1".parse().expect("an address");
        for text in ["", "http://example.com", "example.com/path", "a b"] {
            let error = Allowed::new(bound, &[text.to_owned()], &[]).expect_err(text);
            assert!(matches!(error, Error::AllowedHost(named) if named == text));
        }
        for text in ["", "example.com", "*", "https://example.com/path", "https://a.example:1:*", "null:*"] {
            let error = Allowed::new(bound, &[], &[text.to_owned()]).expect_err(text);
            assert!(matches!(error, Error::AllowedOrigin(named) if named == text));
        }
    }
}
