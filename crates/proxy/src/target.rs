//! What a command wants to reach.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::address::plain;

/// Names are not longer than this.
const LONGEST_NAME: usize = 253;

/// A host, by name or by address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Host {
    /// A name in lower case, without a dot at its end.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// What a command wants to reach: a host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

impl Target {
    pub(crate) fn new(host: Host, port: u16) -> Self {
        Target { host, port }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is wanted by its address.
    pub(crate) fn is_address(&self) -> bool {
        matches!(self.host, Host::Address(_))
    }

    /// Whether it is on this very host, by what it is called.
    pub(crate) fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Name(name) => name == "localhost",
            Host::Address(address) => address.is_loopback(),
        }
    }

    /// Reads `host:port`, or `host` where there is a usual port.
    pub(crate) fn parse(authority: &str, usual: Option<u16>) -> Option<Self> {
        let (host, port) = split_port(authority);
        let port = match port {
            Some(digits) => read_port(digits)?,
            None => usual?,
        };
        Some(Target { host: Host::parse(host)?, port })
    }
}

impl Host {
    /// An address, in its plainest form.
    pub(crate) fn address(address: impl Into<IpAddr>) -> Self {
        Host::Address(plain(address.into()))
    }

    /// A name or an address, in brackets or without.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(inside) = text.strip_prefix('[') {
            let address: Ipv6Addr = inside.strip_suffix(']')?.parse().ok()?;
            return Some(Host::address(address));
        }
        match text.parse::<IpAddr>() {
            Ok(address) => Some(Host::address(address)),
            Err(_) => name(text).map(Host::Name),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(four)) => four.fmt(f),
            Host::Address(IpAddr::V6(six)) => write!(f, "[{six}]"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A name as it is compared. What is no name at all, or could be taken for more than one, is none.
pub(crate) fn name(text: &str) -> Option<String> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let fits = |label: &str| {
        let letters = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        (1..=63).contains(&label.len()) && letters && !label.starts_with('-')
    };
    let whole = text.len() <= LONGEST_NAME && text.split('.').all(fits);
    whole.then(|| text.to_ascii_lowercase())
}

/// What stands behind the last colon, unless that is part of an address.
pub(crate) fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => (host, Some(port)),
        _ => (text, None),
    }
}

pub(crate) fn read_port(digits: &str) -> Option<u16> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten().filter(|port| *port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(authority: &str) -> Option<String> {
        Target::parse(authority, Some(80)).map(|target| target.to_string())
    }

    #[test]
    fn hosts_are_read_in_one_form() {
        for (written, read) in [
            ("Example.COM", "example.com:80"),
            ("example.com.:443", "example.com:443"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::1]:8080", "[::1]:8080"),
            ("[::ffff:10.0.0.1]", "10.0.0.1:80"),
            ("::1", "[::1]:80"),
        ] {
            assert_eq!(shown(written).as_deref(), Some(read), "{written}");
        }
        assert_eq!(Target::parse("example.com", None), None);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for written in [
            "",
            ":80",
            "a b",
            "a/b",
            "a@b:80",
            "exämple.com",
            "a..b",
            "-a",
            "example.com:0",
            "example.com:x",
            "example.com:65536",
            "example.com:+80",
            "[::1",
            "[fe80::1%25eth0]",
            "a\0b",
            "*.example.com",
        ] {
            assert_eq!(shown(written), None, "{written:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_is_read_again_from_how_it_is_shown(text in "\\PC{0,40}") {
            if let Some(target) = Target::parse(&text, Some(80)) {
                proptest::prop_assert_eq!(Target::parse(&target.to_string(), None), Some(target));
            }
        }
    }
}
