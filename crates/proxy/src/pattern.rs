//! One entry of a list of hosts.

use std::fmt;
use std::net::IpAddr;

use thiserror::Error;

use crate::address::plain;
use crate::target::{self, Host, Target};

/// One entry of a list: which hosts, and at which port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    hosts: Meant,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Meant {
    /// Every one.
    All,
    /// One name.
    Name(String),
    /// Every name below one: it begins with a dot.
    Below(String),
    /// Addresses whose first bits are these.
    Addresses(IpAddr, u8),
}

/// An entry that is none, and how to write one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0:?} is no host; write a name, *.NAME for all names below it, or an address, each with :PORT where only one port is meant, such as \"example.com\", \"*.example.org:443\" or \"10.0.0.0/8\""
)]
pub struct Unreadable(pub(crate) String);

impl Pattern {
    pub(crate) fn parse(text: &str) -> Result<Self, Unreadable> {
        let unreadable = || Unreadable(text.to_owned());
        let (hosts, port) = target::split_port(text);
        let port = match port {
            None | Some("*") => None,
            Some(digits) => Some(target::read_port(digits).ok_or_else(unreadable)?),
        };
        let hosts = Meant::parse(hosts).ok_or_else(unreadable)?;
        Ok(Pattern { hosts, port })
    }

    /// Whether what is wanted is meant, by the name or address that it is wanted by.
    pub(crate) fn means(&self, target: &Target) -> bool {
        self.at(target.port)
            && match (&self.hosts, &target.host) {
                (Meant::All, _) => true,
                (Meant::Name(meant), Host::Name(name)) => meant == name,
                // The dot that it begins with keeps it from meaning the name itself.
                (Meant::Below(end), Host::Name(name)) => name.ends_with(end),
                (Meant::Addresses(..), Host::Address(address)) => self.names(*address, target.port),
                _ => false,
            }
    }

    /// Whether an address is named as such.
    pub(crate) fn names(&self, address: IpAddr, port: u16) -> bool {
        self.at(port) && self.names_at_some_port(address)
    }

    pub(crate) fn names_at_some_port(&self, address: IpAddr) -> bool {
        match &self.hosts {
            Meant::Addresses(first, bits) => same_network(*first, plain(address), *bits),
            Meant::Name(name) => name == "localhost" && plain(address).is_loopback(),
            Meant::All | Meant::Below(_) => false,
        }
    }

    /// Whether it is `*`.
    pub(crate) fn is_all(&self) -> bool {
        self.hosts == Meant::All
    }

    fn at(&self, port: u16) -> bool {
        self.port.is_none_or(|only| only == port)
    }
}

impl Meant {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Meant::All);
        }
        if let Some(below) = text.strip_prefix("*.") {
            let is_address = below.parse::<IpAddr>().is_ok();
            return target::name(below).filter(|_| !is_address).map(|name| Meant::Below(format!(".{name}")));
        }
        let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        if let Some((first, bits)) = inside.split_once('/') {
            let Host::Address(first) = Host::parse(first)? else { return None };
            let bits = bits.parse().ok().filter(|bits| *bits <= width(first))?;
            return Some(Meant::Addresses(first, bits));
        }
        Some(match Host::parse(text)? {
            Host::Name(name) => Meant::Name(name),
            Host::Address(address) => Meant::Addresses(address, width(address)),
        })
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn same_network(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let differ = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => u128::from(one.to_bits() ^ other.to_bits()) << 96,
        (IpAddr::V6(one), IpAddr::V6(other)) => one.to_bits() ^ other.to_bits(),
        _ => return false,
    };
    differ.leading_zeros() >= u32::from(bits)
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            Meant::All => f.write_str("*")?,
            Meant::Name(name) => f.write_str(name)?,
            Meant::Below(end) => write!(f, "*{end}")?,
            Meant::Addresses(first, bits) if *bits == width(*first) => Host::Address(*first).fmt(f)?,
            Meant::Addresses(first @ IpAddr::V6(_), bits) => write!(f, "[{first}/{bits}]")?,
            Meant::Addresses(first, bits) => write!(f, "{first}/{bits}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(pattern: &str, target: &str) -> bool {
        Pattern::parse(pattern).unwrap().means(&Target::parse(target, Some(443)).unwrap())
    }

    #[test]
    fn a_name_means_itself_and_a_star_all_below() {
        assert!(means("Example.com", "example.com.") && means("example.com", "example.com:22"));
        assert!(means("*.example.org:443", "a.b.example.org"));
        assert!(means("*", "anything.example") && means("*:443", "1.2.3.4"));
        for (pattern, target) in [
            ("example.com", "www.example.com"),
            ("*.example.org", "example.org"),
            ("*.example.org", "evil-example.org"),
            ("*.example.org:443", "a.example.org:80"),
            ("example.com", "example.com.evil.net"),
        ] {
            assert!(!means(pattern, target), "{pattern} {target}");
        }
    }

    #[test]
    fn addresses_are_named_one_by_one_or_by_network() {
        assert!(means("10.0.0.0/8", "10.9.8.7") && !means("10.0.0.0/8", "11.0.0.1"));
        assert!(means("[fd00::/8]:443", "[fdaa::1]") && means("::1", "[::1]:8080"));
        assert!(means("0.0.0.0/0", "1.2.3.4") && !means("0.0.0.0/0", "[::1]"));
        let local = Pattern::parse("localhost:8080").unwrap();
        assert!(local.names("127.0.0.1".parse().unwrap(), 8080));
        assert!(!local.names("127.0.0.1".parse().unwrap(), 22));
        assert!(!Pattern::parse("*").unwrap().names("127.0.0.1".parse().unwrap(), 22));
    }

    #[test]
    fn what_is_no_entry_is_said_to_be_none() {
        for text in [
            "",
            "http://example.com",
            "example.com/path",
            "*.",
            "*example.com",
            "a.*.com",
            "10.0.0.0/33",
            "example.com/8",
            "fd00::/129",
            "*.127.0.0.1",
            "example.com:99999",
            "a b",
            "user@example.com",
        ] {
            let told = Pattern::parse(text).unwrap_err().to_string();
            assert!(told.contains("is no host; write a name"), "{told}");
        }
    }

    #[test]
    fn an_entry_is_shown_as_it_is_written() {
        for text in
            ["example.com", "*.example.org:443", "10.0.0.0/8", "[fd00::/8]:80", "[::1]:80", "*", "*:443"]
        {
            assert_eq!(Pattern::parse(text).unwrap().to_string(), text);
        }
    }
}
