//! Where a server is.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use thiserror::Error;

/// Where a server is: a full URL, usually one that ends in `/raw`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) scheme: Scheme,
    /// As it was written, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Begins with a slash and does not end with one.
    path: String,
}

/// How it is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// Why a text is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unusable {
    /// It does not begin with a scheme.
    #[error("it must be a full URL that begins with http:// or https://")]
    Scheme,
    /// Something stands before the host.
    #[error("it must not hold a user name or password; the token belongs into a variable of its own")]
    User,
    /// There is no host in it.
    #[error("it names no host")]
    Host,
    /// The port is none.
    #[error("its port must be a number from 1 to 65535")]
    Port,
    /// Something stands behind the path.
    #[error("it must end with its path, without ? or #")]
    Query,
    /// A character that no URL holds.
    #[error("it holds a blank or a character that must be escaped")]
    Character,
}

impl Address {
    /// Whether it is on this very machine, by what it is called.
    pub fn is_loopback(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        self.host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }

    /// The path of something that belongs to this address, such as a session.
    pub(crate) fn below(&self, rest: &str) -> String {
        format!("{}/{rest}", self.path)
    }

    /// The path of something beside the last part of this one.
    pub(crate) fn beside(&self, name: &str) -> String {
        let parent = self.path.rsplit_once('/').map_or("", |(parent, _)| parent);
        format!("{parent}/{name}")
    }

    /// The path itself.
    pub(crate) fn path(&self) -> &str {
        if self.path.is_empty() { "/" } else { &self.path }
    }

    /// What the `Host` header says.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == self.scheme.port() { host } else { format!("{host}:{}", self.port) }
    }
}

impl Scheme {
    const fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl FromStr for Address {
    type Err = Unusable;

    fn from_str(text: &str) -> Result<Self, Unusable> {
        let (scheme, rest) = scheme(text).ok_or(Unusable::Scheme)?;
        if rest.contains(['?', '#']) {
            return Err(Unusable::Query);
        }
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Unusable::Character);
        }
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err(Unusable::User);
        }
        let (host, port) = host_and_port(authority)?;
        let port = port.unwrap_or(scheme.port());
        Ok(Address { scheme, host: host.to_owned(), port, path: path.trim_end_matches('/').to_owned() })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.scheme == Scheme::Https { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.path())
    }
}

fn scheme(text: &str) -> Option<(Scheme, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Some((Scheme::Http, rest)),
        "https" => Some((Scheme::Https, rest)),
        _ => None,
    }
}

fn host_and_port(authority: &str) -> Result<(&str, Option<u16>), Unusable> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or(Unusable::Host)?;
            let port =
                if port.is_empty() { None } else { Some(port.strip_prefix(':').ok_or(Unusable::Port)?) };
            (host, port)
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    if host.is_empty() {
        return Err(Unusable::Host);
    }
    let port =
        port.map(|port| port.parse().ok().filter(|port| *port > 0).ok_or(Unusable::Port)).transpose()?;
    Ok((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_url_is_read_into_its_parts() {
        let cases = [
            ("http://127.0.0.1:8000/raw", "127.0.0.1:8000", "/raw"),
            ("HTTPS://box.example/a/raw/", "box.example", "/a/raw"),
            ("http://[::1]:80/raw", "[::1]", "/raw"),
            ("https://[::1]:8443", "[::1]:8443", "/"),
        ];
        for (text, authority, path) in cases {
            let address: Address = text.parse().expect(text);
            assert_eq!((address.authority().as_str(), address.path()), (authority, path), "{text}");
        }
    }

    #[test]
    fn a_shorthand_and_a_broken_url_are_refused_by_their_fault() {
        let cases = [
            ("", Unusable::Scheme),
            ("box:8000", Unusable::Scheme),
            ("//box/raw", Unusable::Scheme),
            ("ftp://box/raw", Unusable::Scheme),
            ("http://", Unusable::Host),
            ("http:///raw", Unusable::Host),
            ("http://[::1/raw", Unusable::Host),
            ("http://box:0/raw", Unusable::Port),
            ("http://box:port/raw", Unusable::Port),
            ("http://box:/raw", Unusable::Port),
            ("http://me:secret@box/raw", Unusable::User),
            ("http://box/raw?x=1", Unusable::Query),
            ("http://box/a b", Unusable::Character),
            ("http://box/raw\r\nX: y", Unusable::Character),
        ];
        for (text, fault) in cases {
            assert_eq!(text.parse::<Address>(), Err(fault), "{text:?}");
        }
    }

    #[test]
    fn what_belongs_to_an_address_lies_below_or_beside_it() {
        let address: Address = "http://box/tools/raw".parse().expect("an address");
        assert_eq!(address.below("ab12/stdin"), "/tools/raw/ab12/stdin");
        assert_eq!(address.beside("check"), "/tools/check");
        let bare: Address = "http://box".parse().expect("an address");
        assert_eq!((bare.below("x").as_str(), bare.beside("check").as_str()), ("/x", "/check"));
    }
}
